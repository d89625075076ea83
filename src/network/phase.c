#include "network/phase_state.h"

#include "base/error.h"
#include "base/index.h"
#include "network/model.h"

#include <assert.h>

typedef struct {
    NetworkPhaseDone done;
    void *owner;
} PhaseClient;

/* What the cookie of a member by itself means. */
typedef struct {
    uint32_t phase; /* next free slot where it is free */
    uint32_t member;
} Slot;

struct Phases {
    Network *network;
    uint32_t client; /* of the activities of members */
    GArray *clients; /* of PhaseClient */
    GPtrArray *rows; /* of Phase, by number; each used again */
    GArray *free_rows;
    GArray *slots;
    uint32_t free_slot;
    uint32_t stamps;
    uint32_t in_flight;
};

static uint32_t
take_slot(Phases *phases, Slot slot)
{
    uint32_t index = phases->free_slot;
    if (index == INDEX_NONE) {
        g_array_append_val(phases->slots, slot);
        return phases->slots->len - 1;
    }
    Slot *free = &g_array_index(phases->slots, Slot, index);
    phases->free_slot = free->phase;
    *free = slot;
    return index;
}

static void
drop_slot(Phases *phases, uint32_t index)
{
    g_array_index(phases->slots, Slot, index).phase = phases->free_slot;
    phases->free_slot = index;
}

static Phases *
phases_of(const NetworkPattern *pattern)
{
    return pattern->network->phases;
}

static void
drop_pattern(NetworkPattern *pattern)
{
    if (pattern->prepared != NULL)
        pattern->network->model->forget_pattern(pattern);
    g_free(pattern->transfers);
    g_free(pattern);
}

static Phase *
open_phase(NetworkPattern *pattern, uint32_t iteration, uint32_t coflow, uint32_t cookie)
{
    Phases *phases = phases_of(pattern);
    Phase *phase;
    if (phases->free_rows->len > 0) {
        uint32_t number = g_array_index(phases->free_rows, uint32_t, phases->free_rows->len - 1);
        g_array_set_size(phases->free_rows, phases->free_rows->len - 1);
        phase = phases->rows->pdata[number];
    } else {
        phase = g_new0(Phase, 1);
        phase->number = phases->rows->len;
        g_ptr_array_add(phases->rows, phase);
    }
    *phase = (Phase){.pattern = pattern,
                     .number = phase->number,
                     .stamp = phases->stamps++,
                     .iteration = iteration,
                     .coflow = coflow,
                     .cookie = cookie,
                     .n_left = pattern->n,
                     .start_ps = engine_now(pattern->network->engine)};
    pattern->n_phases++;
    return phase;
}

/* Nothing is left of it, or nothing began. */
static void
close_phase(Phase *phase)
{
    NetworkPattern *pattern = phase->pattern;
    g_array_append_val(phases_of(pattern)->free_rows, phase->number);
    phase->pattern = NULL;
    if (--pattern->n_phases == 0 && pattern->freed)
        drop_pattern(pattern);
}

static void
tell(const Phase *phase, const PhasePart *part, NetworkMoment moment)
{
    PhaseClient client = g_array_index(phases_of(phase->pattern)->clients, PhaseClient, phase->pattern->client);
    client.done(client.owner, phase->cookie, part, moment);
}

/* A member by itself; its records are written by the table of activities. */
static void
on_member(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Phases *phases = owner;
    Slot slot = g_array_index(phases->slots, Slot, cookie);
    Phase *phase = phases->rows->pdata[slot.phase];
    if (moment == NETWORK_DELIVERED)
        drop_slot(phases, cookie);
    PhasePart part = {INDEX_NONE, &slot.member, 1};
    tell(phase, &part, moment);
    if (moment == NETWORK_DELIVERED && --phase->n_left == 0)
        close_phase(phase);
}

Phases *
phases_new(Network *network)
{
    Phases *phases = g_new0(Phases, 1);
    phases->network = network;
    phases->client = activities_add_client(network->activities, on_member, phases);
    phases->clients = g_array_new(FALSE, FALSE, sizeof(PhaseClient));
    phases->rows = g_ptr_array_new_with_free_func(g_free);
    phases->free_rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    phases->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
    phases->free_slot = INDEX_NONE;
    return phases;
}

void
phases_free(Phases *phases)
{
    if (phases == NULL)
        return;
    for (guint i = 0; i < phases->rows->len; i++) {
        Phase *phase = phases->rows->pdata[i];
        if (phase->pattern != NULL && --phase->pattern->n_phases == 0 && phase->pattern->freed)
            drop_pattern(phase->pattern);
    }
    g_array_unref(phases->clients);
    g_ptr_array_unref(phases->rows);
    g_array_unref(phases->free_rows);
    g_array_unref(phases->slots);
    g_free(phases);
}

Phase *
phases_get(Phases *phases, uint32_t number)
{
    Phase *phase = phases->rows->pdata[number];
    return phase->pattern != NULL ? phase : NULL;
}

uint32_t
phases_in_flight(const Phases *phases)
{
    return phases->in_flight;
}

uint32_t
network_add_phase_client(Network *network, NetworkPhaseDone done, void *owner)
{
    PhaseClient client = {done, owner};
    g_array_append_val(network->phases->clients, client);
    return network->phases->clients->len - 1;
}

NetworkPattern *
network_pattern_new(Network *network, uint32_t phase_client, const Transfer *transfers, uint32_t n)
{
    assert(phase_client < network->phases->clients->len && n > 0);
    NetworkPattern *pattern = g_new0(NetworkPattern, 1);
    pattern->network = network;
    pattern->client = phase_client;
    pattern->transfers = g_memdup2(transfers, n * sizeof *transfers);
    pattern->n = n;
    for (uint32_t i = 0; i < n; i++) {
        assert(transfers[i].job == transfers[0].job);
        pattern->bytes += transfers[i].bytes;
    }
    return pattern;
}

void
network_pattern_free(NetworkPattern *pattern)
{
    if (pattern == NULL)
        return;
    pattern->freed = TRUE;
    if (pattern->n_phases == 0)
        drop_pattern(pattern);
}

uint32_t
network_pattern_size(const NetworkPattern *pattern)
{
    return pattern->n;
}

const Transfer *
network_pattern_transfer(const NetworkPattern *pattern, uint32_t member)
{
    assert(member < pattern->n);
    return &pattern->transfers[member];
}

uint32_t
network_pattern_n_classes(const NetworkPattern *pattern)
{
    return pattern->n_classes;
}

Transfer
phase_transfer(const Phase *phase, uint32_t member)
{
    Transfer transfer = phase->pattern->transfers[member];
    transfer.iteration = phase->iteration;
    transfer.coflow = phase->coflow;
    return transfer;
}

static gboolean
send_one_by_one(Phase *phase, GError **error)
{
    NetworkPattern *pattern = phase->pattern;
    Phases *phases = phases_of(pattern);
    pattern->n_classes = 0;
    for (uint32_t i = 0; i < pattern->n; i++) {
        Transfer transfer = phase_transfer(phase, i);
        uint32_t slot = take_slot(phases, (Slot){phase->number, i});
        if (network_send(pattern->network, phases->client, &transfer, slot, error))
            continue;
        drop_slot(phases, slot);
        phase->n_left = i;
        if (i == 0)
            close_phase(phase);
        return FALSE;
    }
    return TRUE;
}

gboolean
network_send_phase(NetworkPattern *pattern, uint32_t iteration, uint32_t coflow, uint32_t cookie, GError **error)
{
    assert(!pattern->freed);
    Network *network = pattern->network;
    Phase *phase = open_phase(pattern, iteration, coflow, cookie);
    History *history = engine_history(network->engine);
    history_add(history, pattern->bytes);
    history_add(history, (uint64_t)pattern->n << 32 | pattern->transfers[0].src_rank);
    history_add(history, (uint64_t)pattern->transfers[0].dst_rank << 32 | pattern->transfers[0].job);
    if (network->model->send_phase == NULL || network->config.reroute_delay_ps > 0 ||
        !network->model->send_phase(network, phase))
        return send_one_by_one(phase, error);
    network->totals.transfers += pattern->n;
    network->totals.bytes += pattern->bytes;
    network->phases->in_flight += pattern->n;
    return TRUE;
}

static void
tell_observer(const Phase *phase, const uint32_t *members, uint32_t n, SimTime sent_ps)
{
    const Network *network = phase->pattern->network;
    if (network->observer.transfer == NULL)
        return;
    for (uint32_t i = 0; i < n; i++) {
        const Transfer *member = &phase->pattern->transfers[members[i]];
        TransferRecord record = {.job = member->job,
                                 .iteration = phase->iteration,
                                 .src_rank = member->src_rank,
                                 .dst_rank = member->dst_rank,
                                 .channel = member->channel,
                                 .src = member->src,
                                 .dst = member->dst,
                                 .bytes = member->bytes,
                                 .start_ps = phase->start_ps,
                                 .sent_ps = sent_ps,
                                 .end_ps = engine_now(network->engine)};
        network->observer.transfer(network->observer.owner, &record);
    }
}

void
phase_tell_class(Phase *phase, uint32_t class, const uint32_t *members, uint32_t n_members, SimTime sent_ps,
                 NetworkMoment moment)
{
    PhasePart part = {class, members, n_members};
    if (moment == NETWORK_DELIVERED) {
        phases_of(phase->pattern)->in_flight -= n_members;
        tell_observer(phase, members, n_members, sent_ps);
    }
    tell(phase, &part, moment);
    if (moment == NETWORK_DELIVERED && (phase->n_left -= n_members) == 0)
        close_phase(phase);
}

uint32_t
phase_open_member(Phase *phase, uint32_t member)
{
    Network *network = phase->pattern->network;
    Phases *phases = network->phases;
    Transfer transfer = phase_transfer(phase, member);
    Bundle bundle = {.members = &transfer, .n_members = 1};
    uint32_t slot = take_slot(phases, (Slot){phase->number, member});
    uint32_t activity = activities_open(network->activities, phases->client, &bundle, slot, TRUE);
    activities_get(network->activities, activity)->start_ps = phase->start_ps;
    phases->in_flight--;
    return activity;
}

void
phases_fingerprint(const Phases *phases, Fingerprint *print, SimTime *oldest)
{
    Fingerprint all = {0};
    SimTime now = engine_now(phases->network->engine);
    for (guint i = 0; i < phases->rows->len; i++) {
        const Phase *phase = phases->rows->pdata[i];
        if (phase->pattern == NULL)
            continue;
        Fingerprint one = {phase->n_left, phase->pattern->bytes};
        fingerprint_add(&one, (uint64_t)(now - phase->start_ps));
        fingerprint_add(&one, (uint64_t)phase->pattern->transfers[0].job << 32 | phase->pattern->n);
        all.a += one.a;
        all.b += one.b;
        *oldest = MIN(*oldest, phase->start_ps);
    }
    fingerprint_add(print, all.a);
    fingerprint_add(print, all.b);
}
