/* test-differential.c - random transfers on random fabrics: the fluid network, its solver and its books of losses
 * against the slow reference; `make differential` runs more seeds */
#include "random_world.h"
#include "reference.h"
#include "support.h"

#include "network/maxmin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRANSFERS = 60, MOST_JOBS = 3, MOST_FAULTS = 6, SEED = 11 };

static const char *const job_names[MOST_JOBS] = {"ada", "ben", "cyd"};

/* What both sides are given. */
typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    uint32_t n_jobs, n_transfers, n_faults;
    Transfer transfers[MOST_TRANSFERS];
    struct {
        uint32_t after;
        SimTime start_ps;
    } begins[MOST_TRANSFERS];
    WorldFault faults[MOST_FAULTS];
    SimTime bucket_ps;
    uint64_t window_B;  /* of every way through the network; 0 = none */
    uint32_t n_coflows; /* 0: every transfer for itself */
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static void
random_transfers(Case *given, Random *dice)
{
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(given->fabric, &n_gpus);
    gboolean even = below(dice, 3) == 0, together = below(dice, 3) == 0, plain = below(dice, 2) == 0;
    for (uint32_t t = 0; t < given->n_transfers; t++) {
        uint32_t a = below(dice, n_gpus), b = below(dice, n_gpus);
        Transfer *transfer = &given->transfers[t];
        *transfer = (Transfer){.job = below(dice, given->n_jobs),
                               .coflow = INDEX_NONE,
                               .src_rank = a,
                               .dst_rank = b,
                               .channel = below(dice, 4),
                               .src = gpus[a],
                               .dst = gpus[b],
                               .src_nic = INDEX_NONE,
                               .dst_nic = INDEX_NONE,
                               .bytes = even ? 1000000 : random_below(dice, UINT64_C(1) << (1 + below(dice, 24))),
                               .weight = 1,
                               .rate_cap_Bps = INFINITY};
        if (!plain && below(dice, 4) == 0)
            transfer->weight = (1 + below(dice, 8)) / 2.0;
        if (!plain && below(dice, 5) == 0)
            transfer->rate_cap_Bps = 1e8 * (1 + below(dice, 50)) / 3;
        given->begins[t].after = t > 0 && below(dice, 5) < 2 ? below(dice, t) : INDEX_NONE;
        given->begins[t].start_ps = together ? 0 : (SimTime)random_below(dice, 3 * PS_PER_MS);
    }
}

/* Links die and come back, or change their speed; all that died is back at the end. */
static void
random_faults(Case *given, Random *dice)
{
    SimTime at = 0;
    for (given->n_faults = 0; given->n_faults + 2 <= MOST_FAULTS && below(dice, 4) > 0;) {
        uint32_t link = below(dice, fabric_n_links(given->fabric));
        double capacity = fabric_link(given->fabric, link)->capacity_Bps;
        at += 1 + (SimTime)random_below(dice, PS_PER_MS);
        given->faults[given->n_faults++] = (WorldFault){at, link, below(dice, 2) ? 0 : capacity / (1 + below(dice, 4))};
        at += 1 + (SimTime)random_below(dice, PS_PER_MS);
        given->faults[given->n_faults++] = (WorldFault){at, link, capacity};
    }
}

static void
begin_case(Case *given, int seed, gboolean faults)
{
    Random dice = random_named((uint64_t)seed, "differential");
    *given = (Case){.fabric = random_fabric(&dice, FALSE),
                    .routing = random_routing(&dice),
                    .n_jobs = 1 + below(&dice, MOST_JOBS),
                    .n_transfers = 2 + below(&dice, MOST_TRANSFERS - 2),
                    .bucket_ps = below(&dice, 2) ? 50 * PS_PER_US : PS_PER_MS};
    random_transfers(given, &dice);
    if (below(&dice, 3) == 0)
        given->window_B = UINT64_C(256) << below(&dice, 8);
    if (faults)
        random_faults(given, &dice);
    else if (below(&dice, 2)) {
        given->n_coflows = 1 + below(&dice, 6);
        for (uint32_t t = 0; t < given->n_transfers; t++) /* a coflow is of one job */
            given->transfers[t].coflow = given->transfers[t].job * given->n_coflows + below(&dice, given->n_coflows);
    }
}

/* The network's side. */
typedef struct {
    const Case *given;
    Engine *engine;
    Network *network;
    uint32_t client, kind;
    SimTime begun[MOST_TRANSFERS], sent[MOST_TRANSFERS], ended[MOST_TRANSFERS];
    SimTime last;
    WorldLog log;
} Run;

static void
on_start(void *owner, const Event *event)
{
    Run *run = owner;
    GError *error = NULL;
    run->begun[event->target] = engine_now(run->engine);
    if (!network_send(run->network, run->client, &run->given->transfers[event->target], event->target, &error))
        g_clear_error(&error); /* no way: it and what waits for it never end */
}

static void
plan(Run *run, uint32_t transfer)
{
    engine_schedule_in(run->engine, run->given->begins[transfer].start_ps,
                       (Event){.kind = run->kind, .target = transfer, .sender = transfer});
}

static void
on_moment(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    SimTime now = engine_now(run->engine), *told = moment == NETWORK_SENT ? run->sent : run->ended;
    ck_assert_int_ge(now, run->last); /* time never runs back */
    ck_assert_int_eq(told[cookie], -1);
    run->last = told[cookie] = now;
    for (uint32_t t = 0; moment == NETWORK_DELIVERED && t < run->given->n_transfers; t++)
        if (run->given->begins[t].after == cookie)
            plan(run, t);
}

static void
run_network(Run *run, const Case *given, const char *model, gboolean collisions)
{
    *run = (Run){.given = given, .engine = engine_new(SEED)};
    memset(run->begun, 0xff, sizeof run->begun);
    memset(run->sent, 0xff, sizeof run->sent);
    memset(run->ended, 0xff, sizeof run->ended);
    world_log_begin(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    NetworkConfig config = network_config_default();
    config.seed = SEED;
    config.bucket_ps = given->bucket_ps;
    config.collisions = collisions;
    for (PathLevel level = 0; level < PATH_LEVELS; level++)
        config.limits[level].window_B = given->window_B;
    NetworkObserver observer = world_log_observer(&run->log);
    run->network = network_new(model, &config, routes, run->engine, &observer, NULL);
    run->client = network_add_client(run->network, on_moment, run);
    run->kind = engine_add_kind(run->engine, on_start, run);
    for (uint32_t j = 0; j < given->n_jobs; j++)
        network_add_job(run->network, job_names[j]);
    for (uint32_t f = 0; f < given->n_faults; f++)
        network_set_link_at(run->network, given->faults[f].link, given->faults[f].rate_Bps, given->faults[f].at_ps);
    for (uint32_t t = 0; t < given->n_transfers; t++)
        if (given->begins[t].after == INDEX_NONE)
            plan(run, t);
    GError *error = NULL;
    ck_assert_msg(engine_run(run->engine, &error), "%s", error ? error->message : "");
    network_finish(run->network);
    network_free(run->network);
    engine_free(run->engine);
}

/* The reference's side, with the incremental solver led along and the books of losses kept by their definition. */
typedef struct {
    const Case *given;
    Routes *routes;
    Reference reference;
    ReferenceTransfer transfers[MOST_TRANSFERS];
    GArray *hops; /* scratch */
    MaxMin *solver;
    uint32_t flow[MOST_TRANSFERS], n_routes[MOST_TRANSFERS]; /* in the solver */
    /* Lost ps: by victim and culprit; the last culprit is nobody. */
    double lost[MOST_JOBS][MOST_JOBS + 1];
    int seed;
} Slow;

static gboolean
find_route(void *owner, uint32_t number, ReferenceRoute *found)
{
    Slow *slow = owner;
    const Transfer *transfer = &slow->given->transfers[number];
    RouteRequest request = {
        .src = transfer->src,
        .dst = transfer->dst,
        .src_nic = INDEX_NONE,
        .dst_nic = INDEX_NONE,
        .key = world_key(SEED, job_names[transfer->job], transfer->src_rank, transfer->dst_rank, transfer->channel)};
    Route route;
    if (!routes_find(slow->routes, &request, &route, NULL))
        return FALSE;
    gboolean network = FALSE;
    g_array_set_size(slow->hops, 0);
    for (uint32_t h = 0; h < route.n_hops; h++) {
        ReferenceHop hop = {route.hops[h].link, route.hops[h].share};
        g_array_append_val(slow->hops, hop);
        LinkKind kind = fabric_link(slow->given->fabric, hop.link)->kind;
        network |= kind != LINK_NVLINK && kind != LINK_PCIE;
    }
    slow->transfers[number].cap_Bps = transfer->rate_cap_Bps;
    if (network && slow->given->window_B > 0 && route.latency_ps > 0) /* window / round trip */
        slow->transfers[number].cap_Bps =
            fmin(transfer->rate_cap_Bps, (double)slow->given->window_B * PS_PER_S / 2 / (double)route.latency_ps);
    *found = (ReferenceRoute){(ReferenceHop *)slow->hops->data, route.n_hops, route.latency_ps};
    return TRUE;
}

static void
link_changed(void *owner, uint32_t link, double capacity_Bps)
{
    Slow *slow = owner;
    routes_set_alive(slow->routes, link, capacity_Bps > 0);
    maxmin_set_capacity(slow->solver, link, capacity_Bps);
}

/* Enters into and takes out of the incremental solver what changed since the last instant. */
static void
follow(Slow *slow)
{
    for (uint32_t t = 0; t < slow->given->n_transfers; t++) {
        const ReferenceTransfer *transfer = &slow->transfers[t];
        gboolean sends = transfer->state == REFERENCE_SENDS;
        if (slow->flow[t] != INDEX_NONE && (!sends || transfer->n_routes != slow->n_routes[t])) {
            maxmin_remove(slow->solver, slow->flow[t]);
            slow->flow[t] = INDEX_NONE;
        }
    }
    for (uint32_t t = 0; t < slow->given->n_transfers; t++) {
        const ReferenceTransfer *transfer = &slow->transfers[t];
        if (transfer->state != REFERENCE_SENDS || slow->flow[t] != INDEX_NONE)
            continue;
        MaxMinUse uses[256];
        ck_assert_uint_le(transfer->route.n_hops, G_N_ELEMENTS(uses));
        for (uint32_t h = 0; h < transfer->route.n_hops; h++)
            uses[h] = (MaxMinUse){transfer->route.hops[h].link, transfer->route.hops[h].share};
        slow->flow[t] = maxmin_add(slow->solver, uses, transfer->route.n_hops, transfer->weight, transfer->cap_Bps);
        slow->n_routes[t] = transfer->n_routes;
    }
    uint32_t n;
    maxmin_solve(slow->solver, &n);
}

/* The incremental solver's rates: as the reference's; no link over capacity; each flow as fast as it may be. */
static void
check_solver(Slow *slow, SimTime now)
{
    const Reference *reference = &slow->reference;
    double rates[MOST_TRANSFERS] = {0};
    for (uint32_t t = 0; t < slow->given->n_transfers; t++)
        if (slow->transfers[t].state == REFERENCE_SENDS) {
            rates[t] = maxmin_rate(slow->solver, slow->flow[t]);
            double right = (double)slow->transfers[t].rate_Bps;
            ck_assert_msg(fabs(rates[t] - right) <= 1e-11 * right + 0x1p-32,
                          "seed %d at %" G_GINT64_FORMAT ": transfer %u has %.17g, by reference %.17g", slow->seed, now,
                          t, rates[t], right);
        }
    for (uint32_t l = 0; l < reference->n_links; l++) {
        /* Exactly, but that a share such as 1/3 is itself rounded to 53 bits. */
        long double load = reference_load(reference, l, rates), capacity = reference->capacity_Bps[l];
        ck_assert_msg(load <= (slow->given->routing == ROUTING_SPRAY ? capacity * (1 + 0x1p-53L) : capacity),
                      "seed %d: link %u carries %.20Lg of %.20g", slow->seed, l, load, reference->capacity_Bps[l]);
    }
    for (uint32_t t = 0; t < slow->given->n_transfers; t++)
        if (slow->transfers[t].state == REFERENCE_SENDS)
            ck_assert_msg(reference_is_held(reference, t, rates, 1e-11), "seed %d: nothing holds transfer %u at %.17g",
                          slow->seed, t, rates[t]);
}

/* Books what transfer t, which has `rate` and would have `alone`, loses in that time: on its bottleneck links in equal
 * parts, there on the other jobs in proportion to their rates (DEFINITIONS 6). */
static void
book_loss(Slow *slow, uint32_t t, double lost_ps, const double *rates)
{
    const ReferenceTransfer *victim = &slow->transfers[t];
    const Reference *reference = &slow->reference;
    uint32_t bottlenecks[256], n = 0;
    for (uint32_t h = 0; h < victim->route.n_hops; h++) {
        uint32_t link = victim->route.hops[h].link;
        gboolean highest = reference_load(reference, link, rates) >= reference->capacity_Bps[link] * (1 - 1e-12L);
        for (uint32_t u = 0; highest && u < slow->given->n_transfers; u++)
            for (uint32_t k = 0; slow->transfers[u].state == REFERENCE_SENDS && k < slow->transfers[u].route.n_hops;
                 k++)
                if (slow->transfers[u].route.hops[k].link == link)
                    highest &= rates[u] / slow->transfers[u].weight <= rates[t] / victim->weight * (1 + 1e-12);
        if (highest)
            bottlenecks[n++] = link;
    }
    for (uint32_t b = 0; b < n; b++) {
        double others[MOST_JOBS] = {0}, all = 0;
        for (uint32_t u = 0; u < slow->given->n_transfers; u++)
            for (uint32_t k = 0; slow->transfers[u].state == REFERENCE_SENDS && k < slow->transfers[u].route.n_hops;
                 k++)
                if (slow->transfers[u].route.hops[k].link == bottlenecks[b] && slow->transfers[u].job != victim->job) {
                    others[slow->transfers[u].job] += rates[u] * slow->transfers[u].route.hops[k].share;
                    all += rates[u] * slow->transfers[u].route.hops[k].share;
                }
        for (uint32_t j = 0; all > 0 && j < slow->given->n_jobs; j++)
            slow->lost[victim->job][j] += lost_ps / n * others[j] / all;
        if (all == 0)
            slow->lost[victim->job][MOST_JOBS] += lost_ps / n;
    }
    if (n == 0)
        slow->lost[victim->job][MOST_JOBS] += lost_ps;
}

/* Of each coflow the member that loses most, at first the one made first, is booked; members of none all are. */
static void
book_losses(Slow *slow, SimTime passed)
{
    const Case *given = slow->given;
    double rates[MOST_TRANSFERS] = {0}, lost[MOST_TRANSFERS] = {0};
    for (uint32_t j = 0; j < given->n_jobs; j++) {
        uint32_t members[MOST_TRANSFERS], n = 0;
        long double alone[MOST_TRANSFERS];
        for (uint32_t t = 0; t < given->n_transfers; t++)
            if (slow->transfers[t].job == j && slow->transfers[t].state == REFERENCE_SENDS)
                members[n++] = t;
        reference_solve(&slow->reference, members, n, alone);
        for (uint32_t i = 0; i < n; i++) {
            rates[members[i]] = (double)slow->transfers[members[i]].rate_Bps;
            lost[members[i]] = (double)(1 - slow->transfers[members[i]].rate_Bps / alone[i]);
        }
    }
    for (uint32_t t = 0; t < given->n_transfers; t++) {
        gboolean counts = lost[t] > 1e-11;
        for (uint32_t u = 0; counts && u < given->n_transfers; u++)
            if (given->transfers[t].coflow != INDEX_NONE && given->transfers[u].coflow == given->transfers[t].coflow)
                counts = lost[u] < lost[t] || (lost[u] == lost[t] && u >= t);
        if (counts)
            book_loss(slow, t, lost[t] * (double)passed, rates);
    }
}

static void
interval(void *owner, SimTime from_ps, SimTime to_ps)
{
    Slow *slow = owner;
    follow(slow);
    check_solver(slow, from_ps);
    if (slow->given->n_faults == 0)
        book_losses(slow, to_ps - from_ps);
}

static void
run_reference(Slow *slow, const Case *given, int seed)
{
    uint32_t n_links = fabric_n_links(given->fabric);
    *slow = (Slow){.given = given, .routes = routes_new(given->fabric, given->routing), .seed = seed};
    slow->hops = g_array_new(FALSE, FALSE, sizeof(ReferenceHop));
    slow->solver = maxmin_new(n_links);
    memset(slow->flow, 0xff, sizeof slow->flow);
    g_autofree double *capacity = g_new(double, n_links);
    for (uint32_t l = 0; l < n_links; l++) {
        capacity[l] = fabric_link(given->fabric, l)->capacity_Bps;
        maxmin_set_capacity(slow->solver, l, capacity[l]);
    }
    for (uint32_t t = 0; t < given->n_transfers; t++) {
        const Transfer *transfer = &given->transfers[t];
        slow->transfers[t] = (ReferenceTransfer){.after = given->begins[t].after,
                                                 .start_ps = given->begins[t].start_ps,
                                                 .job = transfer->job,
                                                 .bytes = transfer->bytes,
                                                 .weight = transfer->weight,
                                                 .cap_Bps = transfer->rate_cap_Bps};
    }
    ReferenceFault faults[MOST_FAULTS];
    for (uint32_t f = 0; f < given->n_faults; f++)
        faults[f] = (ReferenceFault){given->faults[f].at_ps, given->faults[f].link, given->faults[f].rate_Bps};
    slow->reference = (Reference){.capacity_Bps = capacity,
                                  .n_links = n_links,
                                  .transfers = slow->transfers,
                                  .n_transfers = given->n_transfers,
                                  .faults = faults,
                                  .n_faults = given->n_faults,
                                  .owner = slow,
                                  .find_route = find_route,
                                  .link_changed = link_changed,
                                  .interval = interval};
    reference_run(&slow->reference);
    reference_clear(&slow->reference);
    maxmin_free(slow->solver);
    routes_free(slow->routes);
    g_array_unref(slow->hops);
}

/* Within 1e-9, or a picosecond for each transfer of a chain: each end is rounded up. */
static gboolean
same_time(SimTime a, SimTime b)
{
    return (a < 0) == (b < 0) && fabs((double)(a - b)) <= fmax(MOST_TRANSFERS, 1e-9 * (double)MAX(a, b));
}

static void
compare_times(const Run *run, const Slow *slow, int seed)
{
    for (uint32_t t = 0; t < run->given->n_transfers; t++) {
        const ReferenceTransfer *transfer = &slow->transfers[t];
        ck_assert_msg(same_time(run->begun[t], transfer->begun_ps) && same_time(run->sent[t], transfer->sent_ps) &&
                          same_time(run->ended[t], transfer->end_ps),
                      "seed %d transfer %u (%u routes): %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                      ", by reference %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                      seed, t, transfer->n_routes, run->begun[t], run->sent[t], run->ended[t], transfer->begun_ps,
                      transfer->sent_ps, transfer->end_ps);
    }
}

/* The transfers end in the reference's order, but for those of one instant. */
static void
compare_order(const Run *run, const Slow *slow)
{
    for (uint32_t t = 0; t < run->given->n_transfers; t++)
        for (uint32_t u = 0; u < t; u++) {
            SimTime a = slow->transfers[t].end_ps, b = slow->transfers[u].end_ps;
            if (a >= 0 && b >= 0 && !same_time(a, b))
                ck_assert_int_eq(a < b, run->ended[t] < run->ended[u]);
        }
}

/* Of a sum of losses. */
static double
loss_tolerance(double lost_ps)
{
    return 100 + 1e-7 * lost_ps;
}

/* What each job lost to each other one, and to nobody in particular. */
static void
compare_losses(const Run *run, const Slow *slow, int seed)
{
    double lost[MOST_JOBS][MOST_JOBS + 1] = {0};
    for (uint32_t i = 0; i < run->log.losses->len; i++) {
        const Loss *loss = &g_array_index(run->log.losses, Loss, i);
        ck_assert(loss->kind == LOSS_CONTENTION || loss->kind == LOSS_INDIRECT);
        ck_assert_int_eq(loss->kind == LOSS_INDIRECT, loss->culprit_job == INDEX_NONE);
        lost[loss->victim_job][loss->culprit_job == INDEX_NONE ? MOST_JOBS : loss->culprit_job] += loss->lost_ps;
    }
    for (uint32_t v = 0; v < run->given->n_jobs; v++) {
        double all = 0, right = 0;
        for (uint32_t c = 0; c <= MOST_JOBS; c++) {
            all += lost[v][c];
            right += slow->lost[v][c];
            /* Members of a coflow that lose the same to the last bit may be told apart by either side. */
            gboolean same = fabs(lost[v][c] - slow->lost[v][c]) <= loss_tolerance(slow->lost[v][c]);
            ck_assert_msg(same || run->given->n_coflows > 0, "seed %d: job %u lost %.17g ps to %u, by reference %.17g",
                          seed, v, lost[v][c], c, slow->lost[v][c]);
        }
        ck_assert_msg(fabs(all - right) <= loss_tolerance(right), "seed %d: job %u lost %.17g ps, by reference %.17g",
                      seed, v, all, right);
    }
}

static uint64_t
slack_of(const Case *given)
{
    if (given->routing == ROUTING_SPRAY) /* whole bytes apportioned over paths */
        return 4 * given->n_transfers;
    return given->n_faults > 0 ? given->n_transfers : 0; /* bytes cut in two at a reroute */
}

static void
compare(int seed, gboolean faults)
{
    g_autofree Case *given = g_new(Case, 1);
    g_autofree Run *run = g_new(Run, 1), *again = g_new(Run, 1);
    g_autofree Slow *slow = g_new(Slow, 1);
    begin_case(given, seed, faults);
    run_network(run, given, "fluid", FALSE);
    run_reference(slow, given, seed);
    compare_times(run, slow, seed);
    compare_order(run, slow);
    world_check_order(&run->log, TRUE);
    world_check_conservation(&run->log, given->fabric, given->n_jobs);
    world_check_capacity(&run->log, given->fabric, given->faults, given->n_faults, slack_of(given));
    if (!faults)
        compare_losses(run, slow, seed);
    run_network(again, given, "fluid", FALSE);
    ck_assert_msg(run->log.digest == again->log.digest, "seed %d: the same run tells other things", seed);
    world_log_end(&again->log);
    run_network(again, given, "fluid", TRUE); /* telling collisions apart moves no byte */
    ck_assert_int_eq(memcmp(run->ended, again->ended, sizeof run->ended), 0);
    world_check_order(&again->log, TRUE);
    world_log_end(&run->log);
    world_log_end(&again->log);
    fabric_free(given->fabric);
}

START_TEST(random_transfers_equal_the_reference)
{
    compare(_i, FALSE);
}
END_TEST

START_TEST(random_transfers_equal_the_reference_under_faults)
{
    compare(_i, TRUE);
}
END_TEST

/* Two jobs, one transfer each, on one link; its capacity. */
static double
two_jobs(Case *given, Random *dice)
{
    *given = (Case){.fabric = fabric_new(), .n_jobs = 2, .n_transfers = 2, .bucket_ps = PS_PER_MS};
    for (uint32_t n = 0; n < 2; n++) {
        Node node = node_default();
        node.name = job_names[n];
        node.kind = NODE_HOST;
        ck_assert_uint_eq(fabric_add_node(given->fabric, &node, NULL), n);
    }
    Link link = link_default();
    link.dst = 1;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = 1e8 * (1 + below(dice, 50));
    ck_assert_uint_eq(fabric_add_link(given->fabric, &link, NULL), 0);
    ck_assert(fabric_seal(given->fabric, NULL));
    for (uint32_t t = 0; t < 2; t++) {
        given->transfers[t] = (Transfer){.job = t,
                                         .coflow = INDEX_NONE,
                                         .dst_rank = 1,
                                         .dst = 1,
                                         .src_nic = INDEX_NONE,
                                         .dst_nic = INDEX_NONE,
                                         .bytes = 1 + random_below(dice, 10000000),
                                         .weight = 1 + below(dice, 4),
                                         .rate_cap_Bps = INFINITY};
        given->begins[t].after = INDEX_NONE;
        given->begins[t].start_ps = (SimTime)random_below(dice, 10 * PS_PER_MS);
    }
    return link.capacity_Bps;
}

/* While both are there they have C w / (w + w'), and each loses w' / (w + w') of that time. */
static void
two_jobs_by_hand(const Case *given, double C, double *end_ps, double *lost_ps)
{
    uint32_t first = given->begins[0].start_ps <= given->begins[1].start_ps ? 0 : 1, second = 1 - first;
    double meet = (double)given->begins[second].start_ps, left[2], share[2], takes[2];
    for (uint32_t t = 0; t < 2; t++) {
        left[t] = (double)given->transfers[t].bytes / C * PS_PER_S; /* the time it takes alone */
        end_ps[t] = (double)given->begins[t].start_ps + left[t];
        lost_ps[t] = 0;
    }
    if (end_ps[first] <= meet)
        return;
    left[first] = end_ps[first] - meet;
    for (uint32_t t = 0; t < 2; t++) {
        share[t] = given->transfers[t].weight / (given->transfers[0].weight + given->transfers[1].weight);
        takes[t] = left[t] / share[t];
    }
    uint32_t sooner = takes[0] <= takes[1] ? 0 : 1, later = 1 - sooner;
    end_ps[sooner] = meet + takes[sooner];
    end_ps[later] = end_ps[sooner] + left[later] - takes[sooner] * share[later];
    for (uint32_t t = 0; t < 2; t++)
        lost_ps[t] = (1 - share[t]) * takes[sooner];
}

START_TEST(two_jobs_on_one_link_lose_what_the_formula_says)
{
    Random dice = random_named((uint64_t)_i, "two jobs");
    g_autofree Case *given = g_new(Case, 1);
    g_autofree Run *run = g_new(Run, 1);
    double end_ps[2], lost_ps[2], booked_ps[2] = {0};
    double C = two_jobs(given, &dice);
    two_jobs_by_hand(given, C, end_ps, lost_ps);
    run_network(run, given, "fluid", TRUE);
    for (uint32_t i = 0; i < run->log.losses->len; i++) {
        const Loss *loss = &g_array_index(run->log.losses, Loss, i);
        ck_assert(loss->kind == LOSS_CONTENTION && loss->link == 0 && loss->culprit_job == 1 - loss->victim_job);
        booked_ps[loss->victim_job] += loss->lost_ps;
    }
    for (uint32_t t = 0; t < 2; t++) {
        ck_assert_msg(same_time(run->ended[t], (SimTime)ceil(end_ps[t])), "seed %d: %" G_GINT64_FORMAT ", by hand %.0f",
                      _i, run->ended[t], end_ps[t]);
        ck_assert_double_eq_tol(booked_ps[t], lost_ps[t], 10 + 1e-9 * lost_ps[t]);
    }
    world_log_end(&run->log);
    fabric_free(given->fabric);
}
END_TEST

/* One transfer at a time: nothing is shared, so the model without contention gives the same. */
START_TEST(alone_the_analytic_model_is_the_fluid_one)
{
    g_autofree Case *given = g_new(Case, 1);
    g_autofree Run *fluid = g_new(Run, 1), *analytic = g_new(Run, 1);
    begin_case(given, _i, FALSE);
    for (uint32_t t = 0; t < given->n_transfers; t++)
        given->begins[t].after = t > 0 ? t - 1 : INDEX_NONE;
    run_network(fluid, given, "fluid", TRUE);
    run_network(analytic, given, "analytic", TRUE);
    for (uint32_t t = 0; t < given->n_transfers; t++)
        ck_assert_msg(same_time(fluid->ended[t], analytic->ended[t]) && fluid->ended[t] >= 0,
                      "seed %d transfer %u: %" G_GINT64_FORMAT ", analytic %" G_GINT64_FORMAT, _i, t, fluid->ended[t],
                      analytic->ended[t]);
    ck_assert_uint_eq(fluid->log.losses->len, 0);
    world_check_conservation(&analytic->log, given->fabric, given->n_jobs);
    world_log_end(&fluid->log);
    world_log_end(&analytic->log);
    fabric_free(given->fabric);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("differential");
    TCase *cases = tcase_create("differential");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, random_transfers_equal_the_reference, from, from + n);
    tcase_add_loop_test(cases, random_transfers_equal_the_reference_under_faults, from, from + n);
    tcase_add_loop_test(cases, alone_the_analytic_model_is_the_fluid_one, from, from + n);
    tcase_add_loop_test(cases, two_jobs_on_one_link_lose_what_the_formula_says, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
