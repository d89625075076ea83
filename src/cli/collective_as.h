/* collective_as.h - trainshed collective --as: a collective by the arithmetic of another simulator */
#pragma once

#include "collective/collective.h"

typedef struct {
    const char *as;       /* "astra-sim" or "simai" */
    const char *network;  /* its network.yml; of simai NULL */
    const char *ranks;    /* of simai: their number */
    const char *busbw;    /* of simai: a rate */
    const char *system;   /* its system.json; NULL = not given */
    const char *back_end; /* "aware" or "unaware"; NULL = unaware */
} CollectiveAs;

/* Prints a line a size (of uint64_t): bytes and the answer in ns. */
gboolean collective_as(const CollectiveAs *as, CollectiveKind kind, const GArray *sizes, GError **error);
