/* fluid_claim.c - may links be kept for one phase or hold: is nobody else there, and would books miss nothing? */
#include "network/fluid_state.h"

gboolean
fluid_is_free(const Fluid *self, const uint32_t *links, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < maxmin_n_on_link(self->solver, links[i]); k++) {
            uint32_t flow = maxmin_on_link(self->solver, links[i], k);
            if (self->flows[self->activity_of[flow]].flow == flow)
                return FALSE;
        }
    return TRUE;
}

gboolean
fluid_is_apart(const Fluid *self, const uint32_t *links, uint32_t n)
{
    for (uint32_t i = 0; i < n && self->losses != NULL; i++)
        if (!losses_is_fixed(self->losses, links[i]))
            return FALSE;
    return TRUE;
}

gboolean
fluid_may_claim(const Fluid *self, const uint32_t *links, uint32_t n, const uint8_t *crowded)
{
    if (self->load != NULL || link_claims_releasing(self->claims)) /* adaptive: ways depend on who is on them */
        return FALSE;
    if (self->losses == NULL)
        return TRUE;
    if (losses_n_candidates(self->losses) > 0 && !fluid_is_apart(self, links, n))
        return FALSE;
    for (uint32_t i = 0; i < n; i++)
        if (!losses_is_plain(self->losses, links[i], crowded[i]))
            return FALSE;
    return TRUE;
}
