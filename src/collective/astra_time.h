/* astra_time.h - what ASTRA-sim's analytical back ends answer for one collective on one switch
 *
 * Closed forms of its arithmetic, in whole ns, not of a network: doc/model.md says them and why they differ from ours.
 * They hold for one dimension of Switch and one chunk; all else is refused, never guessed. */
#pragma once

#include "collective/collective.h"
#include "fabric/astra_network.h"

typedef enum { ASTRA_UNAWARE, ASTRA_AWARE } AstraBackEnd; /* of congestion */
typedef enum { ASTRA_NOT_GIVEN, ASTRA_IMPL_RING, ASTRA_IMPL_DIRECT, ASTRA_IMPL_HALVING, ASTRA_IMPL_OTHER } AstraImpl;

/* What of system.json counts. */
typedef struct {
    char *path;
    AstraImpl impl[COLLECTIVE_KINDS]; /* of dimension 0 */
    uint32_t n_impl[COLLECTIVE_KINDS];
    uint64_t endpoint_delay_ns;     /* before each message step */
    double local_mem_GBps;          /* 10^9 B/s; 0 = not given */
    uint64_t roofline;              /* 1: compute without a time is on the roofline of the next, and of local_mem */
    double peak_TFLOPps;            /* 0 = not given */
    uint64_t splits, active_chunks; /* chunks of a collective; at once in a dimension */
    GPtrArray *ignored;             /* of char *: keys that ASTRA-sim reads and these forms do not */
} AstraSystem;

/* NULL with an INPUT error naming file, line and key. */
AstraSystem *astra_system_read(const char *path, GError **error);
void astra_system_free(AstraSystem *system); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstraSystem, astra_system_free)

/* The last rank's end in ns of a collective of so many bytes a rank over all ranks; FALSE with an INPUT error where no
 * form is known. */
gboolean astra_time(const AstraNetwork *network, const AstraSystem *system, AstraBackEnd back_end, CollectiveKind kind,
                    uint64_t bytes, uint64_t *time_ns, GError **error);
