/* replay.c - flows of a matrix, and what their ends start */
#include "replay.h"

#include <assert.h>
#include <math.h>

static void
start(Replay *replay, uint32_t number)
{
    const HtsimFlow *flow = &g_array_index(replay->matrix->flows, HtsimFlow, number);
    Transfer transfer = {.coflow = INDEX_NONE,
                         .src_rank = flow->src,
                         .dst_rank = flow->dst,
                         .src = flow->src,
                         .dst = flow->dst,
                         .src_nic = INDEX_NONE,
                         .dst_nic = INDEX_NONE,
                         .bytes = flow->bytes,
                         .weight = 1,
                         .rate_cap_Bps = INFINITY};
    gboolean sent = network_send(replay->network, replay->client, &transfer, number, NULL);
    assert(sent);
    (void)sent;
}

static void
activate(Replay *replay, uint32_t trigger)
{
    if (trigger == INDEX_NONE || replay->left[trigger] == 0 || --replay->left[trigger] > 0)
        return;
    for (guint i = 0; i < replay->matrix->flows->len; i++)
        if (g_array_index(replay->matrix->flows, HtsimFlow, i).trigger == trigger)
            start(replay, i);
}

static void
tell(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Replay *replay = owner;
    const HtsimFlow *flow = &g_array_index(replay->matrix->flows, HtsimFlow, cookie);
    if (moment != NETWORK_DELIVERED)
        return;
    replay->delivered++;
    replay->last_ps = engine_now(replay->engine);
    activate(replay, flow->send_done);
    activate(replay, flow->recv_done);
}

void
replay_begin(Replay *replay, const HtsimMatrix *matrix, Engine *engine, Network *network)
{
    *replay = (Replay){.matrix = matrix, .engine = engine, .network = network};
    replay->client = network_add_client(network, tell, replay);
    network_add_job(network, "flows");
    replay->left = g_new(uint32_t, matrix->triggers->len + 1);
    for (guint t = 0; t < matrix->triggers->len; t++)
        replay->left[t] = g_array_index(matrix->triggers, HtsimTrigger, t).count;
    for (guint i = 0; i < matrix->flows->len; i++)
        if (g_array_index(matrix->flows, HtsimFlow, i).trigger == INDEX_NONE)
            start(replay, i);
}

void
replay_end(Replay *replay)
{
    g_free(replay->left);
}
