/* generate_zone.h - one zone: its servers, and the switches of its network
 *
 * Private to generate*.c. A network kind is one entry of a table: how many switches it needs (plan, may
 * refuse the spec) and how to make them. */
#pragma once

#include "fabric/generate_build.h"
#include "fabric/generate_plan.h"

/* The plan of every zone, or FALSE with an INPUT error that names the key. */
gboolean zone_plan(const GenerateSpec *spec, ZonePlan *plan, GError **error);

/* Adds a zone to the fabric: unit->prefix and its places are given; its tops and rate are filled in. */
void zone_build(Build *build, Unit *unit, const ZonePlan *plan);
