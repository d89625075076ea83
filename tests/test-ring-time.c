/* The ring recursion against an independent slow one, the published closed forms and the measured cases of
 * DEFINITIONS 4. */
#include "support.h"

#include "base/random.h"
#include "collective/ring_time.h"

#include <math.h>

static Ring
ring_of(RingKind kind, uint32_t n, uint64_t bytes)
{
    return (Ring){.kind = kind, .n = n, .bytes = bytes};
}

static SimTime
even_time(uint32_t n, uint64_t bytes, double rate_Bps, SimTime latency_ps, uint64_t slice_B)
{
    Ring ring = ring_of(RING_ALL_REDUCE, n, bytes);
    g_autofree RingHop *hop = g_new0(RingHop, n);
    for (uint32_t p = 0; p < n; p++)
        hop[p] = (RingHop){latency_ps, rate_Bps, 0};
    return ring_time(&ring, hop, slice_B, 0);
}

START_TEST(the_checks_of_the_definitions)
{
    /* n = 4, chunk 8 s, a 20 s, slice 1 s: 5 max(8, 21) + 8 + 20. */
    ck_assert_int_eq(even_time(4, 32, 1, 20 * PS_PER_S, 1), 133 * PS_PER_S);
    /* slice none: 6 (20 + 8); slice = chunk the same. */
    ck_assert_int_eq(even_time(4, 32, 1, 20 * PS_PER_S, 0), 168 * PS_PER_S);
    ck_assert_int_eq(even_time(4, 32, 1, 20 * PS_PER_S, 8), 168 * PS_PER_S);
    /* 128,000,000 B, 1 Gb/s, 10 ms, 512 KiB: n = 4, 8, 32. */
    static const struct {
        uint32_t n;
        double seconds;
    } measured[] = {{4, 1.546}, {8, 1.802}, {32, 1.994}};
    for (size_t i = 0; i < G_N_ELEMENTS(measured); i++) {
        double got = sim_time_seconds(even_time(measured[i].n, 128000000, 125e6, 10 * PS_PER_MS, 512 * 1024));
        ck_assert_msg(fabs(got - measured[i].seconds) < 0.0005, "n = %u: %.6f, expected %.3f", measured[i].n, got,
                      measured[i].seconds);
    }
}
END_TEST

START_TEST(two_long_hops_count_twice_each)
{
    /* 8 positions over two buildings: hops 3 and 7 are long; 14 consecutive hops hold at most 4 long ones. */
    Ring ring = ring_of(RING_ALL_REDUCE, 8, 8000);
    RingHop hop[8];
    for (int p = 0; p < 8; p++)
        hop[p] = (RingHop){p % 4 == 3 ? 200 * PS_PER_US : PS_PER_US, 1e9, 0};
    ck_assert_int_eq(ring_time(&ring, hop, 0, 0), 14 * PS_PER_US + 4 * 200 * PS_PER_US + 10 * PS_PER_US);
}
END_TEST

START_TEST(reduction_counts_for_n_minus_1_steps)
{
    /* F001 to F003 at n = 4: chunk 1000 B, 1 us a chunk, 5 us latency, 2^-34 s a byte to reduce one. */
    RingHop hop[4];
    for (int p = 0; p < 4; p++)
        hop[p] = (RingHop){5 * PS_PER_US, 1e9, 0};
    Ring all = ring_of(RING_ALL_REDUCE, 4, 4000), scatter = ring_of(RING_REDUCE_SCATTER, 4, 4000),
         gather = ring_of(RING_ALL_GATHER, 4, 4000);
    /* 0x1p-34 s/B is exact, and so are its products; rounded up to ps once a step: 58,207.66 ps a chunk. */
    ck_assert_int_eq(ring_time(&all, hop, 0, 0x1p-34), 6 * 6 * PS_PER_US + 3 * 58208);
    ck_assert_int_eq(ring_time(&scatter, hop, 0, 0x1p-34), 3 * 6 * PS_PER_US + 3 * 58208);
    ck_assert_int_eq(ring_time(&gather, hop, 0, 0x1p-34), 3 * 6 * PS_PER_US);
}
END_TEST

/* The slow answer: the end of each part by memory and recursion, told apart from the code under test by going
 * backwards. */
typedef struct {
    const Ring *ring;
    const RingHop *hop;
    uint64_t slice;
    double cost;
    SimTime *memo; /* [(step * n + p) * 3 + part] */
} Slow;

static SimTime
ceil_time(double bytes, double rate)
{
    SimTime t;
    ck_assert(sim_time_from_bytes(bytes, rate, &t));
    return t;
}

static SimTime
reduced(const Slow *s, uint32_t step, uint64_t bytes)
{
    SimTime t = 0;
    gboolean reduces = s->ring->kind != RING_ALL_GATHER && step <= s->ring->n - 1;
    if (reduces)
        ck_assert(sim_time_from_seconds(s->cost * (double)bytes, &t));
    return t;
}

static SimTime
sent(Slow *s, uint32_t step, uint32_t p, uint32_t part)
{
    uint32_t n = s->ring->n;
    SimTime *memo = &s->memo[((size_t)step * n + p) * 3 + part];
    if (*memo >= 0)
        return *memo;
    uint64_t size[3];
    uint32_t parts = ring_parts(ring_chunk(s->ring, p, step), s->slice, size), up = (p + n - 1) % n;
    SimTime free_at = s->hop[p].ready_ps, here = 0;
    if (part > 0) {
        free_at = sent(s, step, p, part - 1);
    } else if (step > 1) {
        uint64_t unused[3];
        uint32_t last = ring_parts(ring_chunk(s->ring, p, step - 1), s->slice, unused) - 1;
        free_at = sent(s, step - 1, p, last);
    }
    if (step > 1 && (part == 0 || part == parts - 1))
        here = sent(s, step - 1, up, part) + s->hop[up].latency_ps + reduced(s, step - 1, size[part]);
    return *memo = MAX(free_at, here) + (size[part] > 0 ? ceil_time((double)size[part], s->hop[p].rate_Bps) : 0);
}

static SimTime
slow_time(const Ring *ring, const RingHop *hop, uint64_t slice, double cost)
{
    uint32_t n = ring->n, steps = ring_steps(ring);
    Slow s = {ring, hop, slice, cost, NULL};
    size_t cells = (size_t)(steps + 1) * n * 3;
    g_autofree SimTime *memo = s.memo = g_new(SimTime, cells);
    for (size_t i = 0; i < cells; i++)
        memo[i] = -1;
    SimTime end = 0;
    for (uint32_t step = 1; step <= steps; step++) {
        for (uint32_t p = 0; p < n; p++) {
            uint64_t size[3];
            uint32_t parts = ring_parts(ring_chunk(ring, p, step), slice, size);
            for (uint32_t part = 0; part < parts; part++)
                end = MAX(end, sent(&s, step, p, part) + hop[p].latency_ps + reduced(&s, step, size[part]));
        }
    }
    return end;
}

START_TEST(random_rings_equal_the_slow_recursion)
{
    Random dice = random_named((uint64_t)_i, "rings");
    uint32_t n = 2 + (uint32_t)random_below(&dice, 20);
    uint64_t bytes = random_below(&dice, 3) == 0 ? n * random_below(&dice, 100000) : random_below(&dice, 2000000);
    uint64_t slice = random_below(&dice, 2) == 0 ? 0 : 1 + random_below(&dice, bytes / n + 2);
    double cost = random_below(&dice, 2) == 0 ? 0 : 1e-12 * (double)random_below(&dice, 3000);
    gboolean alike = random_below(&dice, 2) == 0, together = random_below(&dice, 2) == 0;
    g_autofree RingHop *hop = g_new(RingHop, n);
    for (uint32_t p = 0; p < n; p++) {
        hop[p].latency_ps = (SimTime)random_below(&dice, 30) * PS_PER_US;
        hop[p].rate_Bps = alike ? 1e9 : 1e8 * (double)(1 + random_below(&dice, 40));
        hop[p].ready_ps = together ? 0 : (SimTime)random_below(&dice, 100) * PS_PER_US;
    }
    Ring ring = ring_of((RingKind)random_below(&dice, 3), n, bytes);
    SimTime fast = ring_time(&ring, hop, slice, cost), slow = slow_time(&ring, hop, slice, cost);
    ck_assert_msg(fast == slow, "seed %d: n %u, %" G_GUINT64_FORMAT " bytes, kind %d slice %d cost %g: %ld not %ld", _i,
                  n, bytes, ring.kind, (int)slice, cost, fast, slow);
}
END_TEST

START_TEST(servers_of_eight_settle_and_are_jumped_over)
{
    /* 7 NVLink hops and one of a NIC in each of 32 servers: 510 steps, the first few followed. */
    enum { N = 256 };
    static RingHop hop[N];
    for (int p = 0; p < N; p++)
        hop[p] = p % 8 == 7 ? (RingHop){3 * PS_PER_US, 50e9, 0} : (RingHop){600 * PS_PER_NS, 450e9, 0};
    Ring ring = ring_of(RING_ALL_REDUCE, N, (uint64_t)N << 20);
    ck_assert_int_eq(ring_time(&ring, hop, 512 * 1024, 1e-12), slow_time(&ring, hop, 512 * 1024, 1e-12));
}
END_TEST

START_TEST(what_a_ring_carries)
{
    static const RingKind kinds[] = {RING_ALL_REDUCE, RING_REDUCE_SCATTER, RING_ALL_GATHER};
    for (uint32_t n = 2; n < 9; n++) {
        for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
            Ring ring = ring_of(kinds[k], n, 1000003);
            uint64_t all = 0;
            for (uint32_t p = 0; p < n; p++) {
                uint64_t sum = 0;
                for (uint32_t step = 1; step <= ring_steps(&ring); step++) {
                    sum += ring_chunk(&ring, p, step);
                    if (step > 1) /* what is passed on is what came */
                        ck_assert_uint_eq(ring_chunk(&ring, p, step), ring_chunk(&ring, (p + n - 1) % n, step - 1));
                }
                ck_assert_uint_eq(ring_total(&ring, p), sum);
                all += sum;
            }
            ck_assert_uint_eq(all, (kinds[k] == RING_ALL_REDUCE ? 2 : 1) * (uint64_t)(n - 1) * 1000003);
        }
    }
}
END_TEST

START_TEST(a_chunk_is_cut_into_first_middle_and_last)
{
    uint64_t part[3];
    static const struct {
        uint64_t chunk, slice;
        uint32_t parts;
        uint64_t part[3];
    } cases[] = {{100, 0, 1, {100}},    {100, 100, 1, {100}},   {100, 200, 1, {100}},      {0, 10, 1, {0}},
                 {100, 99, 2, {99, 1}}, {100, 50, 2, {50, 50}}, {100, 49, 3, {49, 2, 49}}, {100, 1, 3, {1, 98, 1}}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        ck_assert_uint_eq(ring_parts(cases[i].chunk, cases[i].slice, part), cases[i].parts);
        for (uint32_t p = 0; p < cases[i].parts; p++)
            ck_assert_uint_eq(part[p], cases[i].part[p]);
    }
}
END_TEST

START_TEST(times_out_of_range_are_told)
{
    ck_assert_int_eq(even_time(1000, UINT64_C(1) << 50, 1, PS_PER_S, 0), SIM_TIME_MAX);
    ck_assert_int_eq(even_time(1000, UINT64_C(1) << 50, 1, PS_PER_S, 1 << 20), SIM_TIME_MAX);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("ring-time");
    TCase *tc = tcase_create("ring-time");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, the_checks_of_the_definitions);
    tcase_add_test(tc, two_long_hops_count_twice_each);
    tcase_add_test(tc, reduction_counts_for_n_minus_1_steps);
    tcase_add_loop_test(tc, random_rings_equal_the_slow_recursion, 0, 300);
    tcase_add_test(tc, servers_of_eight_settle_and_are_jumped_over);
    tcase_add_test(tc, what_a_ring_carries);
    tcase_add_test(tc, a_chunk_is_cut_into_first_middle_and_last);
    tcase_add_test(tc, times_out_of_range_are_told);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
