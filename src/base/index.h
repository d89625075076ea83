/* index.h - 32-bit indexes: how rooms name things to each other
 *
 * Nodes, links, jobs, ranks, ops are rows of arrays; an index costs half a pointer. */
#pragma once

#include <stdint.h>

/* No such row. */
#define INDEX_NONE UINT32_MAX
