/* test-differential-holds.c - rows of transfers reckoned under a hold, released by random transfers and faults: the
 * same as every transfer sent; `make differential` runs more seeds */
#include "random_world.h"
#include "support.h"

#include "network/hold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 12, MOST_LENGTH = 6, MOST_SINGLES = 4, MOST_FAULTS = 2, N_JOBS = 2, SEED = 5, SINGLE = 1 << 20 };

static const char *const job_names[N_JOBS] = {"ada", "ben"};

/* Messages over one way, each begun a pause after the one before it was sent. */
typedef struct {
    Transfer way;
    uint32_t n;
    uint64_t bytes[MOST_LENGTH];
    SimTime pause_ps[MOST_LENGTH];
} Row;

typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    Row rows[MOST_ROWS];
    uint32_t n_rows;
    SimTime start_ps; /* of all rows */
    Transfer singles[MOST_SINGLES];
    SimTime single_starts[MOST_SINGLES];
    uint32_t n_singles;
    WorldFault faults[MOST_FAULTS];
    uint32_t n_faults;
    SimTime bucket_ps;
    gboolean books, collisions;
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static Transfer
transfer_of(const Fabric *fabric, uint32_t a, uint32_t b, uint64_t bytes)
{
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    return (Transfer){.coflow = INDEX_NONE,
                      .src_rank = a,
                      .dst_rank = b,
                      .src = gpus[a],
                      .dst = gpus[b],
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = bytes,
                      .weight = 1,
                      .rate_cap_Bps = INFINITY};
}

static void
random_rows(Case *given, Random *dice)
{
    uint32_t n_gpus, job = below(dice, N_JOBS), skip = 1 + below(dice, 3), shift = below(dice, 2);
    fabric_gpus(given->fabric, &n_gpus);
    double cap = below(dice, 3) == 0 ? 1e8 * (1 + below(dice, 9)) : INFINITY;
    uint32_t most = MIN((uint32_t)MOST_ROWS, n_gpus);
    given->n_rows = 1 + below(dice, most);
    for (uint32_t r = 0; r < given->n_rows; r++) {
        Row *row = &given->rows[r];
        uint32_t b = shift ? (r + skip) % n_gpus : below(dice, n_gpus);
        row->way = transfer_of(given->fabric, r, b, 1);
        row->way.job = job;
        row->way.rate_cap_Bps = cap;
        row->n = 1 + below(dice, MOST_LENGTH);
        for (uint32_t k = 0; k < row->n; k++) {
            row->bytes[k] = random_below(dice, UINT64_C(1) << (8 + below(dice, 16)));
            row->pause_ps[k] = below(dice, 2) * (SimTime)random_below(dice, 100 * PS_PER_US);
        }
    }
}

static void
begin_case(Case *given, int seed, gboolean faults)
{
    Random dice = random_named((uint64_t)seed, "holds");
    *given = (Case){.fabric = random_fabric(&dice, FALSE),
                    .routing = random_routing(&dice),
                    .start_ps = (SimTime)random_below(&dice, PS_PER_MS),
                    .n_singles = below(&dice, MOST_SINGLES),
                    .bucket_ps = below(&dice, 2) ? 50 * PS_PER_US : PS_PER_MS,
                    .books = below(&dice, 4) > 0,
                    .collisions = below(&dice, 2)};
    random_rows(given, &dice);
    uint32_t n_gpus;
    fabric_gpus(given->fabric, &n_gpus);
    for (uint32_t s = 0; s < given->n_singles; s++) {
        uint32_t a = below(&dice, n_gpus), b = below(&dice, n_gpus);
        given->singles[s] = transfer_of(given->fabric, a, b, random_below(&dice, 1 << 22));
        given->singles[s].job = below(&dice, N_JOBS);
        given->single_starts[s] = given->start_ps + (SimTime)random_below(&dice, 2 * PS_PER_MS);
    }
    if (!faults)
        return;
    uint32_t link = below(&dice, fabric_n_links(given->fabric));
    double capacity = fabric_link(given->fabric, link)->capacity_Bps;
    SimTime at = given->start_ps + (SimTime)random_below(&dice, PS_PER_MS);
    given->faults[0] = (WorldFault){at, link, below(&dice, 2) ? 0 : capacity / (1 + below(&dice, 4))};
    given->faults[1] = (WorldFault){at + 1 + (SimTime)random_below(&dice, PS_PER_MS), link, capacity};
    given->n_faults = 2;
}

typedef struct {
    const Case *given;
    gboolean may_hold;
    Engine *engine;
    Network *network;
    NetworkHold *hold;
    gboolean held, released;
    uint32_t client, kind_rows, kind_next, kind_single, kind_landed;
    SimTime begun[MOST_ROWS][MOST_LENGTH], sent[MOST_ROWS][MOST_LENGTH];
    SimTime single_ended[MOST_SINGLES];
    WorldLog log;
} Run;

static Transfer
message(const Run *run, uint32_t r, uint32_t k)
{
    Transfer transfer = run->given->rows[r].way;
    transfer.bytes = run->given->rows[r].bytes[k];
    return transfer;
}

static void
send_message(Run *run, uint32_t r, uint32_t k)
{
    Transfer transfer = message(run, r, k);
    run->begun[r][k] = engine_now(run->engine);
    gboolean sent = network_send(run->network, run->client, &transfer, r * MOST_LENGTH + k, NULL);
    (void)sent; /* no way: the row ends here, on both sides */
}

static void
on_moment(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    SimTime now = engine_now(run->engine);
    if (cookie >= SINGLE) {
        if (moment == NETWORK_DELIVERED)
            run->single_ended[cookie - SINGLE] = now;
        return;
    }
    uint32_t r = cookie / MOST_LENGTH, k = cookie % MOST_LENGTH;
    if (moment == NETWORK_DELIVERED)
        return;
    ck_assert_int_eq(run->sent[r][k], -1);
    run->sent[r][k] = now;
    if (k + 1 < run->given->rows[r].n)
        engine_schedule_in(run->engine, run->given->rows[r].pause_ps[k + 1],
                           (Event){.kind = run->kind_next, .target = cookie + 1});
}

static void
on_next(void *owner, const Event *event)
{
    send_message(owner, event->target / MOST_LENGTH, event->target % MOST_LENGTH);
}

/* When each message of a row begins and is sent while the hold lasts. */
static void
reckon(const Run *run, uint32_t r, SimTime *begun, SimTime *sent)
{
    const Row *row = &run->given->rows[r];
    for (uint32_t k = 0; k < row->n; k++) {
        begun[k] = k > 0 ? sent[k - 1] + row->pause_ps[k] : run->given->start_ps;
        sent[k] = begun[k] + network_hold_time(run->hold, r, row->bytes[k]);
    }
}

/* Books what is past; what is under way is handed over, in another loop, and the rest waits for its time. */
static void
land(Run *run, gboolean goes_on)
{
    SimTime now = engine_now(run->engine), begun[MOST_LENGTH], sent[MOST_LENGTH];
    uint32_t next[MOST_ROWS];
    for (uint32_t r = run->given->n_rows; r-- > 0;) {
        const Row *row = &run->given->rows[r];
        reckon(run, r, begun, sent);
        for (next[r] = 0; next[r] < row->n && sent[next[r]] <= now; next[r]++) {
            network_hold_book(run->hold, r, row->bytes[next[r]], begun[next[r]], sent[next[r]]);
            run->begun[r][next[r]] = begun[next[r]];
            run->sent[r][next[r]] = sent[next[r]];
        }
    }
    for (uint32_t r = 0; r < run->given->n_rows; r++) {
        uint32_t k = next[r];
        ck_assert(goes_on || k == run->given->rows[r].n);
        if (k == run->given->rows[r].n)
            continue;
        reckon(run, r, begun, sent);
        if (begun[k] > now) {
            engine_schedule(run->engine,
                            (Event){.when = begun[k], .kind = run->kind_next, .target = r * MOST_LENGTH + k});
            continue;
        }
        Transfer transfer = message(run, r, k);
        run->begun[r][k] = begun[k];
        ck_assert(network_send_begun(run->network, run->client, &transfer, begun[k], r * MOST_LENGTH + k, NULL));
    }
}

static void
on_release(void *owner, uint32_t cookie)
{
    Run *run = owner;
    ck_assert_uint_eq(cookie, 17);
    land(run, TRUE);
    run->hold = NULL;
    run->released = TRUE;
}

static void
on_landed(void *owner, const Event *event)
{
    Run *run = owner;
    if (run->hold == NULL)
        return;
    land(run, FALSE);
    network_hold_end(run->hold);
    run->hold = NULL;
}

static void
on_rows(void *owner, const Event *event)
{
    Run *run = owner;
    const Case *given = run->given;
    Transfer ways[MOST_ROWS];
    for (uint32_t r = 0; r < given->n_rows; r++)
        ways[r] = given->rows[r].way;
    if (run->may_hold)
        run->hold = network_hold(run->network, ways, given->n_rows, on_release, run, 17);
    run->held = run->hold != NULL;
    SimTime last = 0, begun[MOST_LENGTH], sent[MOST_LENGTH];
    for (uint32_t r = 0; r < given->n_rows; r++) {
        if (!run->held) {
            send_message(run, r, 0);
            continue;
        }
        reckon(run, r, begun, sent);
        last = MAX(last, sent[given->rows[r].n - 1] + network_hold_probe(run->hold, r).latency_ps);
    }
    if (run->held)
        engine_schedule(run->engine, (Event){.when = last, .kind = run->kind_landed});
}

static void
on_single(void *owner, const Event *event)
{
    Run *run = owner;
    gboolean sent =
        network_send(run->network, run->client, &run->given->singles[event->target], SINGLE + event->target, NULL);
    (void)sent;
}

static void
run_case(Run *run, const Case *given, gboolean may_hold)
{
    *run = (Run){.given = given, .may_hold = may_hold, .engine = engine_new(SEED)};
    memset(run->begun, 0xff, sizeof run->begun);
    memset(run->sent, 0xff, sizeof run->sent);
    memset(run->single_ended, 0xff, sizeof run->single_ended);
    world_log_begin(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    NetworkConfig config = network_config_default();
    config.seed = SEED;
    config.bucket_ps = given->bucket_ps;
    config.books = given->books;
    config.collisions = given->collisions;
    NetworkObserver observer = world_log_observer(&run->log);
    run->network = network_new("fluid", &config, routes, run->engine, &observer, NULL);
    run->client = network_add_client(run->network, on_moment, run);
    run->kind_rows = engine_add_kind(run->engine, on_rows, run);
    run->kind_next = engine_add_kind(run->engine, on_next, run);
    run->kind_single = engine_add_kind(run->engine, on_single, run);
    run->kind_landed = engine_add_kind(run->engine, on_landed, run);
    for (uint32_t j = 0; j < N_JOBS; j++)
        network_add_job(run->network, job_names[j]);
    for (uint32_t f = 0; f < given->n_faults; f++)
        network_set_link_at(run->network, given->faults[f].link, given->faults[f].rate_Bps, given->faults[f].at_ps);
    engine_schedule(run->engine, (Event){.when = given->start_ps, .kind = run->kind_rows});
    for (uint32_t s = 0; s < given->n_singles; s++)
        engine_schedule(run->engine, (Event){.when = given->single_starts[s], .kind = run->kind_single, .target = s});
    GError *error = NULL;
    ck_assert_msg(engine_run(run->engine, &error), "%s", error ? error->message : "");
    network_finish(run->network);
    network_free(run->network);
    engine_free(run->engine);
}

/* Within 1e-9 or 10 ps for each message of the row: each end is rounded up. */
static gboolean
same_time(SimTime a, SimTime b)
{
    return (a < 0) == (b < 0) && fabs((double)(a - b)) <= fmax(10 * MOST_LENGTH, 1e-9 * (double)MAX(a, b));
}

static void
compare_times(const Run *run, const Run *right, int seed)
{
    for (uint32_t r = 0; r < run->given->n_rows; r++)
        for (uint32_t k = 0; k < run->given->rows[r].n; k++)
            ck_assert_msg(same_time(run->begun[r][k], right->begun[r][k]) &&
                              same_time(run->sent[r][k], right->sent[r][k]),
                          "seed %d: message %u of row %u: %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                          ", sent by itself %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                          seed, k, r, run->begun[r][k], run->sent[r][k], right->begun[r][k], right->sent[r][k]);
    for (uint32_t s = 0; s < run->given->n_singles; s++)
        ck_assert_msg(same_time(run->single_ended[s], right->single_ended[s]),
                      "seed %d: single %u: %" G_GINT64_FORMAT ", with all sent %" G_GINT64_FORMAT, seed, s,
                      run->single_ended[s], right->single_ended[s]);
}

static int
by_place(gconstpointer a, gconstpointer b)
{
    const WorldUsage *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Where all times are the same, so is each row of bytes. */
static void
compare_usage(const Run *run, const Run *right, int seed)
{
    GArray *a = run->log.usage, *b = right->log.usage;
    if (memcmp(run->sent, right->sent, sizeof run->sent) != 0 ||
        memcmp(run->single_ended, right->single_ended, sizeof run->single_ended) != 0)
        return;
    g_array_sort(a, by_place);
    g_array_sort(b, by_place);
    ck_assert_msg(a->len == b->len, "seed %d: %u rows of bytes, with all sent %u", seed, a->len, b->len);
    for (guint i = 0; i < a->len; i++) {
        const WorldUsage *x = &g_array_index(a, WorldUsage, i), *y = &g_array_index(b, WorldUsage, i);
        ck_assert_msg(
            by_place(x, y) == 0 && x->bytes == y->bytes && x->busy_ps == y->busy_ps && x->length_ps == y->length_ps,
            "seed %d: link %u job %u at %" G_GINT64_FORMAT ": %" G_GUINT64_FORMAT " bytes, busy %" G_GINT64_FORMAT
            "; with all sent link %u at %" G_GINT64_FORMAT ": %" G_GUINT64_FORMAT ", %" G_GINT64_FORMAT,
            seed, x->link, x->job, x->start_ps, x->bytes, x->busy_ps, y->link, y->start_ps, y->bytes, y->busy_ps);
    }
}

static int
by_end(gconstpointer a, gconstpointer b)
{
    const TransferRecord *x = a, *y = b;
    if (x->end_ps != y->end_ps)
        return x->end_ps < y->end_ps ? -1 : 1;
    if (x->src_rank != y->src_rank)
        return x->src_rank < y->src_rank ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* The records of transfers are the same, but for their order. */
static void
compare_records(const Run *run, const Run *right, int seed)
{
    GArray *a = run->log.transfers, *b = right->log.transfers;
    g_array_sort(a, by_end);
    g_array_sort(b, by_end);
    ck_assert_uint_eq(a->len, b->len);
    uint64_t bytes = 0, right_bytes = 0;
    for (guint i = 0; i < a->len; i++) {
        const TransferRecord *x = &g_array_index(a, TransferRecord, i), *y = &g_array_index(b, TransferRecord, i);
        ck_assert_msg(same_time(x->end_ps, y->end_ps), "seed %d: record %u", seed, i);
        bytes += x->bytes;
        right_bytes += y->bytes;
    }
    ck_assert_uint_eq(bytes, right_bytes);
}

static void
compare_losses(const Run *run, const Run *right, int seed)
{
    double lost[2][N_JOBS][N_JOBS + 1][LOSS_INDIRECT + 1] = {0};
    for (uint32_t side = 0; side < 2; side++) {
        const GArray *losses = side == 0 ? run->log.losses : right->log.losses;
        for (guint i = 0; i < losses->len; i++) {
            const Loss *loss = &g_array_index(losses, Loss, i);
            lost[side][loss->victim_job][MIN(loss->culprit_job, N_JOBS)][loss->kind] += loss->lost_ps;
        }
    }
    for (uint32_t v = 0; v < N_JOBS; v++)
        for (uint32_t c = 0; c <= N_JOBS; c++)
            for (uint32_t k = 0; k <= LOSS_INDIRECT; k++)
                ck_assert_msg(fabs(lost[0][v][c][k] - lost[1][v][c][k]) <= 1000 + 1e-7 * lost[1][v][c][k],
                              "seed %d: job %u lost %.17g ps to %u (kind %u), with all sent %.17g", seed, v,
                              lost[0][v][c][k], c, k, lost[1][v][c][k]);
}

/* TRUE: the run has held. */
static gboolean
compare(int seed, gboolean faults, gboolean *released)
{
    g_autofree Case *given = g_new(Case, 1);
    g_autofree Run *run = g_new(Run, 1), *right = g_new(Run, 1);
    begin_case(given, seed, faults);
    run_case(right, given, FALSE);
    run_case(run, given, TRUE);
    compare_times(run, right, seed);
    compare_usage(run, right, seed);
    compare_losses(run, right, seed);
    compare_records(run, right, seed);
    world_check_order(&run->log, FALSE);
    if (given->books)
        world_check_conservation(&run->log, given->fabric, N_JOBS);
    world_log_end(&run->log);
    world_log_end(&right->log);
    fabric_free(given->fabric);
    *released = run->released;
    return run->held;
}

START_TEST(holds_are_as_what_is_sent)
{
    gboolean released;
    compare(_i, FALSE, &released);
}
END_TEST

START_TEST(holds_are_as_what_is_sent_under_faults)
{
    gboolean released;
    compare(_i, TRUE, &released);
}
END_TEST

/* Of the first hundred seeds a good part are granted a hold, and a good part of these are released. */
START_TEST(the_seeds_hold_and_release)
{
    uint32_t held = 0, released = 0;
    for (int seed = 0; seed < 100; seed++) {
        gboolean was_released;
        held += compare(seed, TRUE, &was_released);
        released += was_released;
    }
    ck_assert_uint_ge(held, 30);
    ck_assert_uint_ge(released, 15);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("differential");
    TCase *cases = tcase_create("holds");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, holds_are_as_what_is_sent, from, from + n);
    tcase_add_loop_test(cases, holds_are_as_what_is_sent_under_faults, from, from + n);
    tcase_add_test(cases, the_seeds_hold_and_release);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
