/* test-differential-phases.c - patterns sent by class, and holds, on random fabrics among random transfers and faults:
 * the same as every transfer sent by itself; `make differential` runs more seeds */
#include "random_world.h"
#include "support.h"

#include "network/hold.h"
#include "network/phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PATTERNS = 3,
    MOST_MEMBERS = 40,
    MOST_REPEATS = 4,
    MOST_SINGLES = 12,
    MOST_FAULTS = 4,
    N_JOBS = 2,
    SEED = 5
};

static const char *const job_names[N_JOBS] = {"ada", "ben"};

typedef struct {
    Transfer members[MOST_MEMBERS];
    uint32_t n, repeats;
    SimTime start_ps;
} Row;

typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    Row rows[MOST_PATTERNS]; /* each is sent again when all of it has arrived */
    uint32_t n_rows;
    Transfer singles[MOST_SINGLES];
    SimTime single_starts[MOST_SINGLES];
    uint32_t n_singles;
    WorldFault faults[MOST_FAULTS];
    uint32_t n_faults;
    SimTime bucket_ps;
    uint64_t window_B;
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

/* A step of a ring, an all-to-all of a few, or anything, of one size or two. */
static void
random_row(Row *row, const Fabric *fabric, Random *dice)
{
    uint32_t n_gpus, job = below(dice, N_JOBS), sort = below(dice, 4), skip = 1 + below(dice, 3);
    fabric_gpus(fabric, &n_gpus);
    uint64_t bytes = random_below(dice, UINT64_C(1) << (10 + below(dice, 14)));
    gboolean two = below(dice, 3) == 0;
    row->n = 0;
    if (sort == 0) {
        uint32_t few = 2 + below(dice, 5);
        few = MIN(few, n_gpus);
        for (uint32_t a = 0; a < few; a++)
            for (uint32_t b = 0; b < few; b++)
                if (a != b)
                    row->members[row->n++] = transfer_of(fabric, a, b, bytes);
    } else {
        for (uint32_t a = 0; a < MIN(n_gpus, MOST_MEMBERS); a++) {
            uint32_t b = sort == 3 ? below(dice, n_gpus) : (a + skip) % n_gpus;
            row->members[row->n++] = transfer_of(fabric, a, b, bytes);
        }
    }
    double cap = below(dice, 4) == 0 ? 1e8 * (1 + below(dice, 30)) : INFINITY;
    for (uint32_t m = 0; m < row->n; m++) {
        row->members[m].job = job;
        row->members[m].rate_cap_Bps = cap;
        if (two && m % 3 == 0)
            row->members[m].bytes = bytes / 2;
        if (two && m % 4 == 1)
            row->members[m].weight = 2;
    }
    row->repeats = 1 + below(dice, MOST_REPEATS);
    row->start_ps = below(dice, 2) ? 0 : (SimTime)random_below(dice, PS_PER_MS);
}

static void
begin_case(Case *given, int seed, gboolean faults)
{
    Random dice = random_named((uint64_t)seed, "phases");
    *given = (Case){.fabric = random_fabric(&dice, FALSE),
                    .routing = random_routing(&dice),
                    .n_rows = 1 + below(&dice, MOST_PATTERNS),
                    .bucket_ps = below(&dice, 2) ? 50 * PS_PER_US : PS_PER_MS,
                    .books = below(&dice, 4) > 0,
                    .collisions = below(&dice, 2)};
    for (uint32_t r = 0; r < given->n_rows; r++)
        random_row(&given->rows[r], given->fabric, &dice);
    uint32_t n_gpus;
    fabric_gpus(given->fabric, &n_gpus);
    given->n_singles = below(&dice, 3) == 0 ? 0 : below(&dice, MOST_SINGLES);
    for (uint32_t s = 0; s < given->n_singles; s++) {
        uint64_t bytes = random_below(&dice, UINT64_C(1) << (8 + below(&dice, 16)));
        given->singles[s] = transfer_of(given->fabric, below(&dice, n_gpus), below(&dice, n_gpus), bytes);
        given->singles[s].job = below(&dice, N_JOBS);
        given->single_starts[s] = (SimTime)random_below(&dice, 4 * PS_PER_MS);
    }
    if (below(&dice, 3) == 0)
        given->window_B = UINT64_C(256) << below(&dice, 8);
    SimTime at = 0;
    while (faults && given->n_faults < MOST_FAULTS) {
        uint32_t link = below(&dice, fabric_n_links(given->fabric));
        double capacity = fabric_link(given->fabric, link)->capacity_Bps;
        at += 1 + (SimTime)random_below(&dice, PS_PER_MS);
        given->faults[given->n_faults++] =
            (WorldFault){at, link, below(&dice, 2) ? 0 : capacity / (1 + below(&dice, 4))};
        at += 1 + (SimTime)random_below(&dice, PS_PER_MS);
        given->faults[given->n_faults++] = (WorldFault){at, link, capacity};
    }
}

typedef enum { ONE_BY_ONE, AS_PATTERNS } Way;

typedef struct {
    const Case *given;
    Way way;
    Engine *engine;
    Network *network;
    uint32_t client, phase_client, kind_row, kind_single;
    NetworkPattern *patterns[MOST_PATTERNS];
    uint32_t round[MOST_PATTERNS], left[MOST_PATTERNS];
    SimTime sent[MOST_PATTERNS][MOST_REPEATS][MOST_MEMBERS], ended[MOST_PATTERNS][MOST_REPEATS][MOST_MEMBERS];
    SimTime single_ended[MOST_SINGLES];
    uint32_t n_by_class;
    WorldLog log;
} Run;

static void
send_row(Run *run, uint32_t r)
{
    const Row *row = &run->given->rows[r];
    run->left[r] = row->n;
    uint32_t cookie = (run->round[r] * MOST_PATTERNS + r) * MOST_MEMBERS;
    if (run->way == AS_PATTERNS) {
        gboolean sent = network_send_phase(run->patterns[r], run->round[r], INDEX_NONE, cookie, NULL);
        (void)sent; /* no way for one: the row never ends; nor does it one by one */
        run->n_by_class += network_pattern_n_classes(run->patterns[r]) > 0;
        return;
    }
    for (uint32_t m = 0; m < row->n; m++) {
        Transfer transfer = row->members[m];
        transfer.iteration = run->round[r];
        if (!network_send(run->network, run->client, &transfer, cookie + m, NULL))
            return;
    }
}

static void
note(Run *run, uint32_t cookie, NetworkMoment moment)
{
    uint32_t m = cookie % MOST_MEMBERS, r = cookie / MOST_MEMBERS % MOST_PATTERNS,
             round = cookie / MOST_MEMBERS / MOST_PATTERNS;
    SimTime *told = moment == NETWORK_SENT ? &run->sent[r][round][m] : &run->ended[r][round][m];
    ck_assert_int_eq(*told, -1);
    *told = engine_now(run->engine);
    if (moment == NETWORK_DELIVERED && --run->left[r] == 0 && ++run->round[r] < run->given->rows[r].repeats)
        send_row(run, r);
}

static void
on_moment(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    if (cookie < UINT32_MAX / 2)
        note(run, cookie, moment);
    else if (moment == NETWORK_DELIVERED)
        run->single_ended[cookie - UINT32_MAX / 2] = engine_now(run->engine);
}

static void
on_phase(void *owner, uint32_t cookie, const PhasePart *part, NetworkMoment moment)
{
    for (uint32_t i = 0; i < part->n_members; i++)
        note(owner, cookie + part->members[i], moment);
}

static void
on_row(void *owner, const Event *event)
{
    send_row(owner, event->target);
}

static void
on_single(void *owner, const Event *event)
{
    Run *run = owner;
    gboolean sent = network_send(run->network, run->client, &run->given->singles[event->target],
                                 UINT32_MAX / 2 + event->target, NULL);
    (void)sent;
}

static void
run_case(Run *run, const Case *given, Way way)
{
    *run = (Run){.given = given, .way = way, .engine = engine_new(SEED)};
    memset(run->sent, 0xff, sizeof run->sent);
    memset(run->ended, 0xff, sizeof run->ended);
    memset(run->single_ended, 0xff, sizeof run->single_ended);
    world_log_begin(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    NetworkConfig config = network_config_default();
    config.seed = SEED;
    config.bucket_ps = given->bucket_ps;
    config.books = given->books;
    config.collisions = given->collisions;
    for (PathLevel level = 0; level < PATH_LEVELS; level++)
        config.limits[level].window_B = given->window_B;
    NetworkObserver observer = world_log_observer(&run->log);
    run->network = network_new("fluid", &config, routes, run->engine, &observer, NULL);
    run->client = network_add_client(run->network, on_moment, run);
    run->phase_client = network_add_phase_client(run->network, on_phase, run);
    run->kind_row = engine_add_kind(run->engine, on_row, run);
    run->kind_single = engine_add_kind(run->engine, on_single, run);
    for (uint32_t j = 0; j < N_JOBS; j++)
        network_add_job(run->network, job_names[j]);
    for (uint32_t f = 0; f < given->n_faults; f++)
        network_set_link_at(run->network, given->faults[f].link, given->faults[f].rate_Bps, given->faults[f].at_ps);
    for (uint32_t r = 0; r < given->n_rows; r++) {
        run->patterns[r] =
            network_pattern_new(run->network, run->phase_client, given->rows[r].members, given->rows[r].n);
        engine_schedule(run->engine, (Event){.when = given->rows[r].start_ps, .kind = run->kind_row, .target = r});
    }
    for (uint32_t s = 0; s < given->n_singles; s++)
        engine_schedule(run->engine, (Event){.when = given->single_starts[s], .kind = run->kind_single, .target = s});
    GError *error = NULL;
    ck_assert_msg(engine_run(run->engine, &error), "%s", error ? error->message : "");
    network_finish(run->network);
    for (uint32_t r = 0; r < given->n_rows; r++)
        network_pattern_free(run->patterns[r]);
    network_free(run->network);
    engine_free(run->engine);
}

/* Within 1e-9 or 10 ps for each sending: each end is rounded up. */
static gboolean
same_time(SimTime a, SimTime b)
{
    return (a < 0) == (b < 0) && fabs((double)(a - b)) <= fmax(10 * MOST_REPEATS, 1e-9 * (double)MAX(a, b));
}

static void
compare_times(const Run *run, const Run *right, int seed)
{
    for (uint32_t r = 0; r < run->given->n_rows; r++)
        for (uint32_t k = 0; k < run->given->rows[r].repeats; k++)
            for (uint32_t m = 0; m < run->given->rows[r].n; m++)
                ck_assert_msg(same_time(run->sent[r][k][m], right->sent[r][k][m]) &&
                                  same_time(run->ended[r][k][m], right->ended[r][k][m]),
                              "seed %d: member %u of sending %u of row %u: %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                              ", by itself %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                              seed, m, k, r, run->sent[r][k][m], run->ended[r][k][m], right->sent[r][k][m],
                              right->ended[r][k][m]);
    for (uint32_t s = 0; s < run->given->n_singles; s++)
        ck_assert_msg(same_time(run->single_ended[s], right->single_ended[s]),
                      "seed %d: single %u: %" G_GINT64_FORMAT ", among members by themselves %" G_GINT64_FORMAT, seed,
                      s, run->single_ended[s], right->single_ended[s]);
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

/* Every row of bytes: the same where every time is; else within what the differing picoseconds move. */
static void
compare_usage(const Run *run, const Run *right, int seed)
{
    GArray *a = run->log.usage, *b = right->log.usage;
    gboolean equal = memcmp(run->sent, right->sent, sizeof run->sent) == 0 &&
                     memcmp(run->single_ended, right->single_ended, sizeof run->single_ended) == 0;
    g_array_sort(a, by_place);
    g_array_sort(b, by_place);
    if (!equal)
        return;
    ck_assert_msg(a->len == b->len, "seed %d: %u rows of bytes, by themselves %u", seed, a->len, b->len);
    for (guint i = 0; i < a->len; i++) {
        const WorldUsage *x = &g_array_index(a, WorldUsage, i), *y = &g_array_index(b, WorldUsage, i);
        ck_assert_msg(
            by_place(x, y) == 0 && x->bytes == y->bytes && x->busy_ps == y->busy_ps && x->length_ps == y->length_ps,
            "seed %d: link %u job %u at %" G_GINT64_FORMAT ": %" G_GUINT64_FORMAT " bytes, busy %" G_GINT64_FORMAT
            "; by themselves link %u at %" G_GINT64_FORMAT ": %" G_GUINT64_FORMAT ", %" G_GINT64_FORMAT,
            seed, x->link, x->job, x->start_ps, x->bytes, x->busy_ps, y->link, y->start_ps, y->bytes, y->busy_ps);
    }
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
                              "seed %d: job %u lost %.17g ps to %u (kind %u), by themselves %.17g", seed, v,
                              lost[0][v][c][k], c, k, lost[1][v][c][k]);
}

static uint32_t by_class, sent_rows; /* over all seeds of this process */

static void
compare(int seed, gboolean faults)
{
    g_autofree Case *given = g_new(Case, 1);
    g_autofree Run *run = g_new(Run, 1), *right = g_new(Run, 1);
    begin_case(given, seed, faults);
    run_case(right, given, ONE_BY_ONE);
    run_case(run, given, AS_PATTERNS);
    uint64_t digest = run->log.digest;
    compare_times(run, right, seed);
    compare_usage(run, right, seed);
    compare_losses(run, right, seed);
    ck_assert_uint_eq(run->log.transfers->len, right->log.transfers->len);
    world_check_order(&run->log, TRUE);
    if (given->books)
        world_check_conservation(&run->log, given->fabric, N_JOBS);
    by_class += run->n_by_class;
    sent_rows += run->round[0];
    world_log_end(&run->log);
    run_case(run, given, AS_PATTERNS);
    ck_assert_msg(run->log.digest == digest, "seed %d: the same run tells other things", seed);
    world_log_end(&run->log);
    world_log_end(&right->log);
    fabric_free(given->fabric);
}

START_TEST(phases_are_as_their_members)
{
    compare(_i, FALSE);
}
END_TEST

START_TEST(phases_are_as_their_members_under_faults)
{
    compare(_i, TRUE);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("differential");
    TCase *cases = tcase_create("phases");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, phases_are_as_their_members, from, from + n);
    tcase_add_loop_test(cases, phases_are_as_their_members_under_faults, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
