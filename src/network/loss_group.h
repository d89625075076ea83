/* loss_group.h - groups of equal-cost links: has a group as a whole room while one of it is full?
 *
 * Each set of links that some flow's hash could choose from is one group. */
#pragma once

#include "network/maxmin.h"

typedef struct LossGroups LossGroups;

/* solver: whose loads count; borrowed. */
LossGroups *loss_groups_new(const MaxMin *solver, uint32_t n_links);
void loss_groups_free(LossGroups *groups); /* NULL is fine */

/* The group of these links, n > 1, in link order. */
uint32_t loss_groups_find(LossGroups *groups, const uint32_t *links, uint32_t n);
gboolean loss_groups_has_room(const LossGroups *groups, uint32_t group);
/* Its links, owned by groups until the next loss_groups_find. */
const uint32_t *loss_groups_links(const LossGroups *groups, uint32_t group, uint32_t *n);

/* The loads of these links may have changed. The groups whose room came or went, owned by groups until the next call.
 */
const uint32_t *loss_groups_refresh(LossGroups *groups, const uint32_t *links, uint32_t n, uint32_t *n_flipped);
