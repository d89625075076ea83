#include "network/hold.h"

#include "network/model.h"

#include <assert.h>

/* No model gives one yet. */
struct NetworkHold {
    Network *network;
};

void
network_hold_end(NetworkHold *hold)
{
    assert(hold == NULL);
    (void)hold;
}

NetworkProbe
network_hold_probe(const NetworkHold *hold, uint32_t member)
{
    (void)member;
    assert(hold != NULL);
    return (NetworkProbe){0};
}

SimTime
network_hold_time(const NetworkHold *hold, uint32_t member, uint64_t bytes)
{
    (void)member, (void)bytes;
    assert(hold != NULL);
    return 0;
}

void
network_hold_book(NetworkHold *hold, uint32_t member, uint64_t bytes, SimTime start_ps, SimTime sent_ps)
{
    (void)member, (void)bytes, (void)start_ps, (void)sent_ps;
    assert(hold != NULL);
}

gboolean
network_hold_listens(const NetworkHold *hold)
{
    assert(hold != NULL);
    return hold->network->config.books || hold->network->observer.transfer != NULL;
}

void
network_hold_count(NetworkHold *hold, uint64_t n_transfers, uint64_t bytes)
{
    hold->network->totals.transfers += n_transfers;
    hold->network->totals.bytes += bytes;
}
