#include "network_fixture.h"

#include "base/random.h"

#define S PS_PER_S

static Fixture f;
static uint32_t left[8], right[8], middle;

/* n pairs of hosts over one link; jobs "a" (0), "b" (1), "c" (2). */
static void
dumbbell_in_buckets(SimTime bucket_ps, uint32_t n, double edge_Bps, double middle_Bps)
{
    fixture_begin(&f);
    uint32_t a = fixture_node(&f, NODE_LEAF, "a"), b = fixture_node(&f, NODE_LEAF, "b");
    middle = fixture_cable(&f, a, b, middle_Bps, 0);
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *l = g_strdup_printf("l%u", i), *r = g_strdup_printf("r%u", i);
        left[i] = fixture_node(&f, NODE_HOST, l);
        right[i] = fixture_node(&f, NODE_HOST, r);
        fixture_cable(&f, left[i], a, edge_Bps, 0);
        fixture_cable(&f, right[i], b, edge_Bps, 0);
    }
    f.config.bucket_ps = bucket_ps;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    network_add_job(f.network, "c");
}

static void
dumbbell(uint32_t n, double edge_Bps, double middle_Bps)
{
    dumbbell_in_buckets(7 * S, n, edge_Bps, middle_Bps);
}

static void
send(uint32_t pair, uint32_t job, uint64_t bytes, double cap_Bps, uint32_t coflow, uint32_t cookie)
{
    Transfer t = fixture_transfer(&f, left[pair], right[pair], bytes);
    t.job = job;
    t.rate_cap_Bps = cap_Bps;
    t.coflow = coflow;
    fixture_send(&f, &t, cookie);
}

static void
expect(uint32_t victim, uint32_t culprit, double seconds)
{
    double lost = fixture_lost(&f, victim, culprit, middle, LOSS_CONTENTION);
    ck_assert_msg(fabs(lost - seconds) <= 1e-9 * seconds, "job %u lost %.15g s to job %u, expected %.15g", victim, lost,
                  culprit, seconds);
}

/* DEFINITIONS 6 (a): two transfers of two jobs, S each, link C, together from 0: each ends at 2S/C and books S/C. */
START_TEST(case_a_two_equal_transfers)
{
    dumbbell(2, 1000, 10);
    send(0, 0, 200, INFINITY, INDEX_NONE, 0);
    send(1, 1, 200, INFINITY, INDEX_NONE, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 40 * S);
    ck_assert_int_eq(f.sent[1], 40 * S);
    expect(0, 1, 20);
    expect(1, 0, 20);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 40, 1e-7);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f.losses->len; i++) {
        const Loss *loss = &g_array_index(f.losses, Loss, i);
        ck_assert_int_eq(loss->bucket_start_ps % (7 * S), 0);
        ck_assert(loss->lost_ps <= 3.5e12 * (1 + 1e-9)); /* half of a bucket */
        bytes += loss->victim_job == 0 ? loss->bytes : 0;
    }
    ck_assert_uint_eq(f.losses->len, 12); /* two victims, six buckets */
    ck_assert_uint_eq(bytes, 200);        /* what b moved meanwhile */
    fixture_end(&f);
}
END_TEST

/* The bytes of many buckets, each far less than one, sum to what the culprit moved in them: 200 in 40,000 buckets. */
START_TEST(bytes_of_short_buckets_sum_up)
{
    dumbbell_in_buckets(S / 1000, 2, 1000, 10);
    send(0, 0, 200, INFINITY, INDEX_NONE, 0);
    send(1, 1, 200, INFINITY, INDEX_NONE, 1);
    fixture_run(&f);
    uint64_t bytes[2] = {0, 0};
    for (uint32_t i = 0; i < f.losses->len; i++) {
        const Loss *loss = &g_array_index(f.losses, Loss, i);
        ck_assert_uint_lt(loss->victim_job, 2);
        ck_assert_uint_le(loss->bytes, 1);
        bytes[loss->victim_job] += loss->bytes;
    }
    ck_assert_uint_eq(bytes[0], 200);
    ck_assert_uint_eq(bytes[1], 200);
    fixture_end(&f);
}
END_TEST

/* (b): 100 and 200 bytes on 10 B/s: together for 20 s at half: each books 10 s. */
START_TEST(case_b_unequal_sizes)
{
    dumbbell(2, 1000, 10);
    send(0, 0, 100, INFINITY, INDEX_NONE, 0);
    send(1, 1, 200, INFINITY, INDEX_NONE, 1);
    fixture_run(&f);
    expect(0, 1, 10);
    expect(1, 0, 10);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 20, 1e-7);
    fixture_end(&f);
}
END_TEST

/* (c): capped at 6 with a greedy one on 10: for 60 s (300 bytes at 5) 1/6 and 1/2 a second. */
START_TEST(case_c_a_cap)
{
    dumbbell(2, 1000, 10);
    send(0, 0, 300, 6, INDEX_NONE, 0);
    send(1, 1, 300, INFINITY, INDEX_NONE, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 60 * S);
    expect(0, 1, 10);
    expect(1, 0, 30);
    fixture_end(&f);
}
END_TEST

/* (d): A, B (cap 1), C greedy on 10, for 100 s: A gets 4.5, loses 0.55 a second: 0.10 to B, 0.45 to C; B loses nothing.
 */
START_TEST(case_d_parts_by_rate)
{
    dumbbell(3, 1000, 10);
    send(0, 0, 450, INFINITY, INDEX_NONE, 0);
    send(1, 1, 100, 1, INDEX_NONE, 1);
    send(2, 2, 450, INFINITY, INDEX_NONE, 2);
    fixture_run(&f);
    expect(0, 1, 10);
    expect(0, 2, 45);
    expect(2, 0, 45);
    expect(2, 1, 10);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 110, 1e-6);
    fixture_end(&f);
}
END_TEST

/* (e): two transfers of A, not of one collective, and one of B on 9, for 100 s: A's lose 1/3 each, B 2/3. */
START_TEST(case_e_own_sharing_is_not_lost)
{
    dumbbell(3, 1000, 9);
    send(0, 0, 300, INFINITY, INDEX_NONE, 0);
    send(1, 0, 300, INFINITY, INDEX_NONE, 1);
    send(2, 1, 300, INFINITY, INDEX_NONE, 2);
    fixture_run(&f);
    expect(0, 1, 200.0 / 3);
    expect(1, 0, 200.0 / 3);
    fixture_end(&f);
}
END_TEST

/* (e) again, A's two in one coflow: they count once. */
START_TEST(a_coflow_counts_once)
{
    dumbbell(3, 1000, 9);
    send(0, 0, 300, INFINITY, 5, 0);
    send(1, 0, 300, INFINITY, 5, 1);
    send(2, 1, 300, INFINITY, INDEX_NONE, 2);
    fixture_run(&f);
    expect(0, 1, 100.0 / 3);
    expect(1, 0, 200.0 / 3);
    fixture_end(&f);
}
END_TEST

/* One coflow over two links: its members keep 1/2 and 1/3 of their rates; only the second, which loses 2/3, is booked,
 * and once it has ended the first. Link 0 of 10 with one foreign transfer, link 1 of 12 with two. */
START_TEST(the_worst_of_a_coflow_is_booked)
{
    fixture_begin(&f);
    uint32_t s[4], h[12], link[2];
    static const char *names[] = {"s0", "s1", "s2", "s3"};
    for (uint32_t i = 0; i < 4; i++)
        s[i] = fixture_node(&f, NODE_LEAF, names[i]);
    for (uint32_t i = 0; i < 2; i++)
        link[i] = fixture_cable(&f, s[2 * i], s[2 * i + 1], i == 0 ? 10 : 12, 0);
    for (uint32_t i = 0; i < 10; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        h[i] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, h[i], s[i < 4 ? i % 2 : 2 + i % 2], 1000, 0); /* even sends to odd */
    }
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    static const struct {
        uint32_t src, job, coflow;
        uint64_t bytes;
    } rows[] = {
        {0, 0, 3, 200}, {2, 1, INDEX_NONE, 1000}, {4, 0, 3, 40}, {6, 1, INDEX_NONE, 500}, {8, 1, INDEX_NONE, 500}};
    for (uint32_t i = 0; i < 5; i++) {
        Transfer t = fixture_transfer(&f, h[rows[i].src], h[rows[i].src + 1], rows[i].bytes);
        t.job = rows[i].job;
        t.coflow = rows[i].coflow;
        fixture_send(&f, &t, i);
    }
    fixture_run(&f);
    ck_assert_int_eq(f.sent[2], 10 * S); /* 40 at 4 */
    ck_assert_int_eq(f.sent[0], 40 * S); /* 200 at 5 */
    ck_assert_double_eq_tol(fixture_lost(&f, 0, 1, link[1], LOSS_CONTENTION), 10 * 2.0 / 3, 1e-8);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, 1, link[0], LOSS_CONTENTION), 30 * 0.5, 1e-8);
    fixture_end(&f);
}
END_TEST

/* B slows A's first transfer, so A's second gets more than it has alone and leaves less to A's third, on a link where
 * only A is. Alone: link 1 (9) gives a1 and a2 4.5 each, link 2 (12) a3 7.5. With two of b on link 0 (10): a1 10/3, a2
 * 9 - 10/3 = 17/3, a3 12 - 17/3 = 19/3: it loses 1 - 19/3 / 7.5 = 7/45 a second. All end at 90 s. */
START_TEST(a_loss_without_another_job_there_is_indirect)
{
    fixture_begin(&f);
    uint32_t s[4], h[10], chain[3];
    static const char *names[] = {"s0", "s1", "s2", "s3"};
    static const double capacity[] = {10, 9, 12};
    for (uint32_t i = 0; i < 4; i++)
        s[i] = fixture_node(&f, NODE_LEAF, names[i]);
    for (uint32_t i = 0; i < 3; i++)
        chain[i] = fixture_cable(&f, s[i], s[i + 1], capacity[i], 0);
    /* a1: s0 to s2 (links 0 1); a2: s1 to s3 (links 1 2); a3: s2 to s3 (link 2); b, b, b: s0 to s1 */
    static const uint32_t ends[][2] = {{0, 2}, {1, 3}, {2, 3}, {0, 1}, {0, 1}};
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t e = 0; e < 2; e++) {
            g_autofree char *name = g_strdup_printf("h%u%u", i, e);
            h[2 * i + e] = fixture_node(&f, NODE_HOST, name);
            fixture_cable(&f, h[2 * i + e], s[ends[i][e]], 1000, 0);
        }
    }
    f.config.bucket_ps = 7 * S;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    static const uint64_t bytes[] = {300, 510, 570, 300, 300};
    for (uint32_t i = 0; i < 5; i++) {
        Transfer t = fixture_transfer(&f, h[2 * i], h[2 * i + 1], bytes[i]);
        t.job = i > 2;
        fixture_send(&f, &t, i);
    }
    fixture_run(&f);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, INDEX_NONE, chain[2], LOSS_INDIRECT), 90 * 7.0 / 45, 1e-6);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, 1, chain[0], LOSS_CONTENTION), 90 * (1 - 10 / 3.0 / 4.5), 1e-6);
    fixture_end(&f);
}
END_TEST

/* Two spines; both transfers hash onto one of them: each loses half, on each other: a collision. With `same` of one
 * job: the culprit is the victim. Without collisions told apart, of two jobs it is contention. */
static void
collide(gboolean same, gboolean told_apart)
{
    fixture_begin(&f);
    uint32_t leaf[2] = {fixture_node(&f, NODE_LEAF, "l0"), fixture_node(&f, NODE_LEAF, "l1")}, h[4], up[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t spine = fixture_node(&f, NODE_SPINE, i == 0 ? "s0" : "s1");
        up[i] = fixture_cable(&f, leaf[0], spine, 10, 0);
        fixture_cable(&f, spine, leaf[1], 1000, 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        h[i] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, h[i], leaf[i / 2], 10, 0);
    }
    f.config.collisions = told_apart;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    uint32_t taken = INDEX_NONE, n_sent = 0;
    for (uint32_t channel = 0; n_sent < 2; channel++) { /* the first channel's spine, and another channel of the same */
        Transfer t = fixture_transfer(&f, h[n_sent], h[2 + n_sent], 100);
        t.job = same ? 0 : n_sent;
        t.channel = channel;
        uint64_t key = hash_combine(f.config.seed, hash_text(t.job == 0 ? "a" : "b"));
        key = hash_combine(hash_combine(hash_combine(key, t.src_rank), t.dst_rank), channel);
        RouteRequest request = {t.src, t.dst, INDEX_NONE, INDEX_NONE, key};
        Route route;
        ck_assert(routes_find(f.routes, &request, &route, NULL));
        if (taken != INDEX_NONE && route.hops[1].link != taken)
            continue;
        taken = route.hops[1].link;
        fixture_send(&f, &t, n_sent++);
    }
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 20 * S);
    LossKind kind = told_apart ? LOSS_COLLISION : LOSS_CONTENTION;
    double each = same && !told_apart ? 0 : 10;
    if (same) {
        ck_assert_double_eq_tol(fixture_lost(&f, 0, 0, taken, kind), 2 * each, 1e-8);
    } else {
        ck_assert_double_eq_tol(fixture_lost(&f, 0, 1, taken, kind), each, 1e-8);
        ck_assert_double_eq_tol(fixture_lost(&f, 1, 0, taken, kind), each, 1e-8);
    }
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 2 * each, 1e-7);
    ck_assert(taken == up[0] || taken == up[1]);
    fixture_end(&f);
}

START_TEST(collisions_are_told_from_contention)
{
    collide(FALSE, TRUE);
    collide(TRUE, TRUE);
    collide(FALSE, FALSE);
    collide(TRUE, FALSE);
}
END_TEST

/* 100 B over 10 B/s that falls to 4 after 5 s: 50 left take 12.5 s, of which 6/10 are lost to the fault. Dead for 20 s
 * more before: all of them. */
START_TEST(a_fault_is_booked)
{
    dumbbell(1, 1000, 10);
    send(0, 0, 100, INFINITY, INDEX_NONE, 0);
    network_set_link_at(f.network, middle, 0, 5 * S);
    network_set_link_at(f.network, middle, 4, 25 * S);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 25 * S + 25 * S / 2);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, INDEX_NONE, middle, LOSS_FAULT), 20 + 12.5 * 0.6, 1e-8);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 27.5, 1e-7);
    fixture_end(&f);
}
END_TEST

/* The slow and obvious answer, in doubles: at every change all rates anew, all jobs' rates alone anew, all losses anew.
 */
enum { JOBS = 3, SWITCHES = 5, SENDS = 40, LINKS = 32 };

typedef struct {
    uint32_t job, coflow, n_links, links[SWITCHES + 2];
    double start, left, cap, weight, rate, alone;
    gboolean done;
} Flow;

typedef struct {
    Flow flows[SENDS];
    double capacity[LINKS];
    double lost[JOBS][JOBS + 1]; /* by culprit, the last: indirect */
    double now;
} World;

static void
solve(World *world, uint32_t job, gboolean alone)
{
    gboolean held[SENDS];
    double rates[SENDS] = {0};
    for (uint32_t i = 0; i < SENDS; i++)
        held[i] = world->flows[i].done || world->flows[i].start > world->now || (alone && world->flows[i].job != job);
    for (;;) {
        double load[LINKS] = {0}, weight[LINKS] = {0}, level = INFINITY;
        for (uint32_t i = 0; i < SENDS; i++)
            for (uint32_t k = 0; k < world->flows[i].n_links; k++)
                *(held[i] ? &load[world->flows[i].links[k]] : &weight[world->flows[i].links[k]]) +=
                    held[i] ? rates[i] : world->flows[i].weight;
        for (uint32_t l = 0; l < LINKS; l++)
            if (weight[l] > 0)
                level = fmin(level, (world->capacity[l] - load[l]) / weight[l]);
        for (uint32_t i = 0; i < SENDS; i++)
            if (!held[i])
                level = fmin(level, world->flows[i].cap / world->flows[i].weight);
        if (isinf(level))
            break;
        for (uint32_t i = 0; i < SENDS; i++) {
            Flow *flow = &world->flows[i];
            gboolean stops = !held[i] && flow->cap / flow->weight <= level * (1 + 1e-12);
            for (uint32_t k = 0; !held[i] && k < flow->n_links; k++)
                stops |= world->capacity[flow->links[k]] - load[flow->links[k]] <=
                         weight[flow->links[k]] * level * (1 + 1e-12);
            if (stops) {
                rates[i] = flow->weight * level;
                held[i] = TRUE;
            }
        }
    }
    for (uint32_t i = 0; i < SENDS; i++) {
        if (!alone)
            world->flows[i].rate = rates[i];
        else if (world->flows[i].job == job)
            world->flows[i].alone = rates[i];
    }
}

static gboolean
runs(const World *world, const Flow *flow)
{
    return !flow->done && flow->start <= world->now;
}

/* Is flow held at this link? */
static gboolean
held_at(const World *world, const Flow *flow, uint32_t link, double *by_job)
{
    double load = 0, highest = 0;
    memset(by_job, 0, JOBS * sizeof *by_job);
    for (uint32_t i = 0; i < SENDS; i++) {
        const Flow *other = &world->flows[i];
        for (uint32_t k = 0; runs(world, other) && k < other->n_links; k++) {
            if (other->links[k] != link)
                continue;
            load += other->rate;
            by_job[other->job] += other->rate;
            highest = fmax(highest, other->rate / other->weight);
        }
    }
    return load >= world->capacity[link] * (1 - 1e-9) && flow->rate / flow->weight >= highest * (1 - 1e-9);
}

static void
lose(World *world, const Flow *flow, double dt)
{
    double lost = 1 - flow->rate / flow->alone, by_job[JOBS];
    uint32_t n = 0;
    for (uint32_t k = 0; k < flow->n_links; k++)
        n += held_at(world, flow, flow->links[k], by_job);
    for (uint32_t k = 0; k < flow->n_links && lost > 1e-9; k++) {
        if (!held_at(world, flow, flow->links[k], by_job))
            continue;
        double others = 0;
        for (uint32_t j = 0; j < JOBS; j++)
            others += j == flow->job ? 0 : by_job[j];
        for (uint32_t j = 0; j < JOBS; j++)
            if (others > 0 && j != flow->job)
                world->lost[flow->job][j] += lost * dt / n * by_job[j] / others;
        if (others <= 0)
            world->lost[flow->job][JOBS] += lost * dt / n;
    }
}

static double
loss_share(const Flow *flow)
{
    return floor((1 - flow->rate / flow->alone) * 1e9 + 0.5);
}

/* Only the worst of a coflow, the first of equals. */
static gboolean
counts(const World *world, uint32_t i)
{
    const Flow *flow = &world->flows[i];
    for (uint32_t k = 0; k < SENDS; k++) {
        const Flow *other = &world->flows[k];
        if (k == i || !runs(world, other) || flow->coflow == INDEX_NONE || other->coflow != flow->coflow)
            continue;
        if (loss_share(other) > loss_share(flow) || (loss_share(other) == loss_share(flow) && k < i))
            return FALSE;
    }
    return TRUE;
}

static void
reference_run(World *world)
{
    for (;;) {
        solve(world, 0, FALSE);
        for (uint32_t j = 0; j < JOBS; j++)
            solve(world, j, TRUE);
        double next = INFINITY;
        for (uint32_t i = 0; i < SENDS; i++) {
            const Flow *flow = &world->flows[i];
            if (runs(world, flow))
                next = fmin(next, world->now + flow->left / flow->rate);
            else if (!flow->done)
                next = fmin(next, flow->start);
        }
        if (isinf(next))
            return;
        double dt = next - world->now;
        for (uint32_t i = 0; i < SENDS; i++)
            if (runs(world, &world->flows[i]) && counts(world, i))
                lose(world, &world->flows[i], dt);
        for (uint32_t i = 0; i < SENDS; i++) {
            Flow *flow = &world->flows[i];
            if (!runs(world, flow))
                continue;
            flow->left -= flow->rate * dt;
            flow->done = flow->left <= 1e-4;
        }
        world->now = next;
    }
}

/* A row of switches, three jobs' transfers in both directions, at random times, some of one coflow, some capped. */
static void
random_losses(int seed)
{
    Random dice = random_named((uint64_t)seed, "loss");
    g_autofree World *world = g_new0(World, 1);
    fixture_begin(&f);
    uint32_t s[SWITCHES], h[2 * SWITCHES];
    for (uint32_t i = 0; i < SWITCHES; i++) {
        g_autofree char *name = g_strdup_printf("s%u", i);
        s[i] = fixture_node(&f, NODE_LEAF, name);
    }
    for (uint32_t i = 0; i + 1 < SWITCHES; i++)
        fixture_cable(&f, s[i], s[i + 1], 1e6 * (1 + (double)random_below(&dice, 9)), 0);
    for (uint32_t i = 0; i < 2 * SWITCHES; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        h[i] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, h[i], s[i / 2], 1e6 * (5 + (double)random_below(&dice, 9)), 0);
    }
    f.config.collisions = seed % 2;
    f.config.bucket_ps = S;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    network_add_job(f.network, "c");
    for (uint32_t l = 0; l < LINKS; l++)
        world->capacity[l] = l < fabric_n_links(f.fabric) ? fabric_link(f.fabric, l)->capacity_Bps : 1;
    SimTime start = 0;
    for (uint32_t i = 0; i < SENDS; i++) {
        uint32_t src = (uint32_t)random_below(&dice, 2 * SWITCHES);
        uint32_t dst = (src + 1 + (uint32_t)random_below(&dice, 2 * SWITCHES - 1)) % (2 * SWITCHES);
        Transfer t = fixture_transfer(&f, h[src], h[dst], 1000000 + random_below(&dice, 20000000));
        t.job = (uint32_t)random_below(&dice, JOBS);
        t.coflow = random_below(&dice, 2) == 0 ? 10 + t.job : INDEX_NONE;
        t.weight = random_below(&dice, 5) == 0 ? 2 : 1;
        t.rate_cap_Bps = random_below(&dice, 4) == 0 ? 1e6 : INFINITY;
        if (random_below(&dice, 3) > 0)
            start += (SimTime)random_below(&dice, 3 * S);
        fixture_send_at(&f, start, &t, i);
        RouteRequest request = {t.src, t.dst, INDEX_NONE, INDEX_NONE, 0};
        Route route;
        ck_assert(routes_find(f.routes, &request, &route, NULL));
        world->flows[i] = (Flow){.job = t.job,
                                 .coflow = t.coflow,
                                 .n_links = route.n_hops,
                                 .start = sim_time_seconds(start),
                                 .left = (double)t.bytes,
                                 .cap = t.rate_cap_Bps,
                                 .weight = t.weight};
        for (uint32_t k = 0; k < route.n_hops; k++)
            world->flows[i].links[k] = route.hops[k].link;
    }
    reference_run(world);
    fixture_run(&f);
    for (uint32_t v = 0; v < JOBS; v++) {
        for (uint32_t c = 0; c < JOBS; c++) {
            double lost = fixture_lost(&f, v, c, INDEX_NONE, LOSS_CONTENTION);
            ck_assert_msg(fabs(lost - world->lost[v][c]) < 1e-6, "seed %d: %u lost %.12g to %u, reference %.12g", seed,
                          v, lost, c, world->lost[v][c]);
        }
        double indirect = fixture_lost(&f, v, INDEX_NONE, INDEX_NONE, LOSS_INDIRECT);
        ck_assert_msg(fabs(indirect - world->lost[v][JOBS]) < 1e-6,
                      "seed %d: %u lost %.12g indirectly, reference %.12g", seed, v, indirect, world->lost[v][JOBS]);
    }
    fixture_end(&f);
}

/* Ten seeds a test: forking costs more than they do. */
START_TEST(random_losses_equal_the_reference)
{
    for (int seed = 10 * _i; seed < 10 * _i + 10; seed++)
        random_losses(seed);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("loss");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, case_a_two_equal_transfers);
    tcase_add_test(cases, bytes_of_short_buckets_sum_up);
    tcase_add_test(cases, case_b_unequal_sizes);
    tcase_add_test(cases, case_c_a_cap);
    tcase_add_test(cases, case_d_parts_by_rate);
    tcase_add_test(cases, case_e_own_sharing_is_not_lost);
    tcase_add_test(cases, a_coflow_counts_once);
    tcase_add_test(cases, the_worst_of_a_coflow_is_booked);
    tcase_add_test(cases, a_loss_without_another_job_there_is_indirect);
    tcase_add_test(cases, collisions_are_told_from_contention);
    tcase_add_test(cases, a_fault_is_booked);
    tcase_add_loop_test(cases, random_losses_equal_the_reference, 0, 60);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
