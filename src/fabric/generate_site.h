/* generate_site.h - zones into buildings, buildings into regions, regions into one fabric
 *
 * Private to generate*.c. Units of one parent meet in one router (a star), or are joined pairwise (mesh);
 * where there is only one unit its own top switches carry the parent's uplinks. */
#pragma once

#include "fabric/generate_build.h"
#include "fabric/generate_plan.h"

/* The cuts, against the units there are: FALSE with an INPUT error that names the key. */
gboolean site_check(const GenerateSpec *spec, GError **error);

/* Adds everything. */
void site_build(Build *build, const ZonePlan *plan);
