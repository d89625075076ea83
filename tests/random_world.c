#include "random_world.h"

#include "fabric/generate.h"
#include "support.h"

#include <math.h>
#include <string.h>

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static void
random_zone(GenerateSpec *spec, gboolean nvlink, Random *dice)
{
    static const ZoneNetwork networks[] = {ZONE_RAIL, ZONE_CLOS2, ZONE_CLOS2, ZONE_CLOS3, ZONE_SWITCH};
    static const double oversubscriptions[] = {1, 1, 2, 4};
    uint32_t gpus = 1u << below(dice, 3);
    spec->server.gpus = gpus;
    spec->server.nics = gpus;
    spec->server.nvlink_rate_Bps = below(dice, 4) > 0 || nvlink ? 200e9 : 0;
    spec->server.nvlink_latency_ps = 300 * PS_PER_NS;
    spec->server.nic_rate_Bps = 50e9;
    spec->zone.servers = 2 + below(dice, 3);
    spec->zone.network = networks[below(dice, G_N_ELEMENTS(networks))];
    spec->zone.link_latency_ps = below(dice, 2) * 600 * PS_PER_NS;
    spec->zone.oversubscription = oversubscriptions[below(dice, G_N_ELEMENTS(oversubscriptions))];
    spec->zone.radix = 8;
    if (spec->zone.network == ZONE_SWITCH)
        spec->zone.radix = 0, spec->zone.oversubscription = 1;
}

static void
random_buildings(GenerateSpec *spec, Random *dice)
{
    static const char *const names[] = {"A", "B"};
    spec->n_buildings = 1 + below(dice, 2);
    spec->buildings = g_new0(BuildingSpec, spec->n_buildings);
    for (uint32_t b = 0; b < spec->n_buildings; b++)
        spec->buildings[b] = (BuildingSpec){g_strdup(names[b]), 1};
    if (spec->n_buildings == 1)
        return;
    spec->n_cuts = 1;
    spec->cuts = g_new0(CutSpec, 1);
    spec->cuts[0] = (CutSpec){.between = CUT_BUILDINGS,
                              .links = 1 + below(dice, 3),
                              .rate_Bps = 25e9,
                              .length_km = NAN,
                              .latency_ps = 10 * PS_PER_US,
                              .mesh = below(dice, 2) == 0};
}

/* NULL where the dice ask for what cannot be built. */
static Fabric *
generated(gboolean nvlink, Random *dice)
{
    g_autoptr(GenerateSpec) spec = generate_spec_new();
    random_zone(spec, nvlink, dice);
    random_buildings(spec, dice);
    return generate_fabric(spec, NULL);
}

static uint32_t
add_node(Fabric *fabric, NodeKind kind, uint32_t number)
{
    g_autofree char *name = g_strdup_printf("%s%u", node_kind_name(kind), number);
    Node node = node_default();
    node.kind = kind;
    node.name = name;
    uint32_t index = fabric_add_node(fabric, &node, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

/* Both ways, each with its own dice where even is FALSE. */
static void
join(Fabric *fabric, uint32_t a, uint32_t b, gboolean even, Random *dice)
{
    for (int way = 0; way < 2; way++) {
        Link link = link_default();
        link.src = way == 0 ? a : b;
        link.dst = way == 0 ? b : a;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = even ? 1e9 : 1e8 * (1 + below(dice, 97)) / (1 + below(dice, 3));
        link.latency_ps = even ? PS_PER_US : (SimTime)random_below(dice, 5 * PS_PER_US);
        ck_assert_uint_ne(fabric_add_link(fabric, &link, NULL), INDEX_NONE);
    }
}

/* A tree of switches with further cables, some of them parallel; hosts with one or two ports. */
static Fabric *
graph(Random *dice)
{
    Fabric *fabric = fabric_new();
    gboolean even = below(dice, 3) == 0;
    uint32_t n_switches = 1 + below(dice, 7), n_hosts = 3 + below(dice, 10);
    for (uint32_t s = 0; s < n_switches; s++) {
        add_node(fabric, s % 2 ? NODE_SPINE : NODE_LEAF, s);
        if (s > 0)
            join(fabric, below(dice, s), s, even, dice);
    }
    for (uint32_t i = 0; n_switches > 1 && i < 2 * n_switches; i++) {
        uint32_t a = below(dice, n_switches), b = below(dice, n_switches);
        if (a != b)
            join(fabric, a, b, even, dice);
    }
    for (uint32_t h = 0; h < n_hosts; h++) {
        uint32_t host = add_node(fabric, NODE_HOST, h);
        join(fabric, host, below(dice, n_switches), even, dice);
        if (below(dice, 3) == 0)
            join(fabric, host, below(dice, n_switches), even, dice);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

Fabric *
random_fabric(Random *dice, gboolean nvlink)
{
    if (below(dice, 2) == 0)
        return graph(dice);
    Fabric *fabric = NULL;
    while (fabric == NULL)
        fabric = generated(nvlink, dice);
    return fabric;
}

RoutingPolicy
random_routing(Random *dice)
{
    static const RoutingPolicy policies[] = {ROUTING_ECMP, ROUTING_SPRAY, ROUTING_DMODK};
    return policies[below(dice, G_N_ELEMENTS(policies))];
}

uint64_t
world_key(uint64_t seed, const char *job, uint32_t src_rank, uint32_t dst_rank, uint32_t channel)
{
    uint64_t key = hash_combine(seed, hash_text(job));
    return hash_combine(hash_combine(hash_combine(key, src_rank), dst_rank), channel);
}

static void
saw_usage(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
          SimTime busy_ps)
{
    WorldLog *log = owner;
    WorldUsage row = {link, job, start_ps, length_ps, busy_ps, bytes};
    g_array_append_val(log->usage, row);
    world_log_note(log, link * UINT64_C(8) + job);
    world_log_note(log, (uint64_t)start_ps + bytes);
    world_log_note(log, (uint64_t)length_ps ^ (uint64_t)busy_ps << 32);
}

static void
saw_loss(void *owner, const Loss *loss)
{
    WorldLog *log = owner;
    g_array_append_val(log->losses, *loss);
    uint64_t bits;
    memcpy(&bits, &loss->lost_ps, sizeof bits);
    world_log_note(log, bits);
    world_log_note(log, loss->victim_job * UINT64_C(64) + loss->kind * UINT64_C(8) + loss->culprit_job);
    world_log_note(log, loss->bytes + loss->link);
}

static void
saw_transfer(void *owner, const TransferRecord *transfer)
{
    WorldLog *log = owner;
    g_array_append_val(log->transfers, *transfer);
    world_log_note(log, (uint64_t)transfer->end_ps);
    world_log_note(log, (uint64_t)transfer->sent_ps + transfer->bytes);
    world_log_note(log, (uint64_t)transfer->src << 32 | transfer->dst);
}

void
world_log_begin(WorldLog *log)
{
    log->usage = g_array_new(FALSE, FALSE, sizeof(WorldUsage));
    log->losses = g_array_new(FALSE, FALSE, sizeof(Loss));
    log->transfers = g_array_new(FALSE, FALSE, sizeof(TransferRecord));
    log->digest = 0;
}

void
world_log_end(WorldLog *log)
{
    g_array_unref(log->usage);
    g_array_unref(log->losses);
    g_array_unref(log->transfers);
}

void
world_log_note(WorldLog *log, uint64_t value)
{
    log->digest = hash_combine(log->digest, value);
}

NetworkObserver
world_log_observer(WorldLog *log)
{
    return (NetworkObserver){.owner = log, .link_usage = saw_usage, .loss = saw_loss, .transfer = saw_transfer};
}

void
world_check_conservation(const WorldLog *log, const Fabric *fabric, uint32_t n_jobs)
{
    uint32_t n_nodes = fabric_n_nodes(fabric);
    g_autofree int64_t *kept = g_new0(int64_t, (size_t)n_nodes * n_jobs); /* by job and node: came less went */
    for (uint32_t i = 0; i < log->usage->len; i++) {
        const WorldUsage *row = &g_array_index(log->usage, WorldUsage, i);
        const Link *link = fabric_link(fabric, row->link);
        kept[(size_t)row->job * n_nodes + link->dst] += (int64_t)row->bytes;
        kept[(size_t)row->job * n_nodes + link->src] -= (int64_t)row->bytes;
    }
    for (uint32_t i = 0; i < log->transfers->len; i++) {
        const TransferRecord *transfer = &g_array_index(log->transfers, TransferRecord, i);
        kept[(size_t)transfer->job * n_nodes + transfer->dst] -= (int64_t)transfer->bytes;
        kept[(size_t)transfer->job * n_nodes + transfer->src] += (int64_t)transfer->bytes;
    }
    for (uint32_t i = 0; i < n_nodes * n_jobs; i++)
        ck_assert_msg(kept[i] == 0, "job %u: node %s keeps %" G_GINT64_FORMAT " bytes", i / n_nodes,
                      fabric_node(fabric, i % n_nodes)->name, kept[i]);
}

/* Bytes the link can pass from one time to another. */
static double
room_of(const Fabric *fabric, const WorldFault *faults, uint32_t n_faults, uint32_t link, SimTime from, SimTime to)
{
    double room = 0, capacity = fabric_link(fabric, link)->capacity_Bps;
    for (uint32_t f = 0; f < n_faults; f++) {
        if (faults[f].link != link)
            continue;
        SimTime until = CLAMP(faults[f].at_ps, from, to);
        room += capacity * (double)(until - from) / PS_PER_S;
        from = until;
        capacity = faults[f].rate_Bps;
    }
    return room + capacity * (double)(to - from) / PS_PER_S;
}

static int
by_link_and_time(gconstpointer a, gconstpointer b)
{
    const WorldUsage *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

void
world_check_capacity(const WorldLog *log, const Fabric *fabric, const WorldFault *faults, uint32_t n_faults,
                     uint64_t slack_B)
{
    g_autofree WorldUsage *rows = g_memdup2(log->usage->data, log->usage->len * sizeof *rows);
    uint32_t n = log->usage->len;
    if (n > 0)
        qsort(rows, n, sizeof *rows, by_link_and_time);
    for (uint32_t i = 0, end; i < n; i = end) {
        uint64_t bytes = 0;
        SimTime length = 0;
        for (end = i; end < n && by_link_and_time(&rows[i], &rows[end]) == 0; end++) {
            bytes += rows[end].bytes;
            length = MAX(length, rows[end].length_ps);
            ck_assert_int_ge(rows[end].busy_ps, 0);
            ck_assert_int_le(rows[end].busy_ps, rows[end].length_ps);
        }
        double room = room_of(fabric, faults, n_faults, rows[i].link, rows[i].start_ps, rows[i].start_ps + length);
        /* floor(end) - floor(start) is less than the exact number + 1, of each job */
        uint64_t most = (uint64_t)floor(room) + (end - i) + slack_B;
        ck_assert_msg(bytes <= most, "link %u, bucket at %" G_GINT64_FORMAT ": %" G_GUINT64_FORMAT " bytes of %.3f",
                      rows[i].link, rows[i].start_ps, bytes, room);
    }
}

void
world_check_order(const WorldLog *log, gboolean in_time)
{
    SimTime last = 0;
    for (uint32_t i = 0; i < log->transfers->len; i++) {
        const TransferRecord *transfer = &g_array_index(log->transfers, TransferRecord, i);
        if (in_time)
            ck_assert_int_ge(transfer->end_ps, last);
        ck_assert_int_ge(transfer->end_ps, transfer->sent_ps);
        ck_assert_int_ge(transfer->sent_ps, transfer->start_ps);
        ck_assert_int_ge(transfer->start_ps, 0);
        last = transfer->end_ps;
    }
    for (uint32_t i = 0; i < log->losses->len; i++) {
        const Loss *loss = &g_array_index(log->losses, Loss, i);
        ck_assert_msg(loss->lost_ps >= 0 && isfinite(loss->lost_ps), "a loss of %g ps", loss->lost_ps);
        ck_assert_uint_ne(loss->victim_job, INDEX_NONE);
        ck_assert_int_ge(loss->bucket_start_ps, 0);
        ck_assert(loss->culprit_job != INDEX_NONE || loss->kind == LOSS_INDIRECT || loss->kind == LOSS_FAULT);
    }
}
