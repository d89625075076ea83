/* test-pastime.c - what a rank does with its time by what is recorded, worked out by hand and by a slow second way */
#include "base/random.h"
#include "cluster/pastime.h"
#include "support.h"

#include <string.h>

static uint32_t
add(Program *program, OpKind kind, uint32_t stream, SimTime time, uint32_t n_deps, const uint32_t *deps)
{
    Op op = op_default(kind);
    op.stream = stream;
    op.duration_ps = time;
    op.group = 0;
    op.seq = program->ops->len;
    return program_add_op(program, op, "op", deps, n_deps);
}

/* Compute 0-10, communication 4-16 behind a host op of 4, compute 16-20, copy 20-23, host to 25. */
START_TEST(streams_by_hand)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    uint32_t gpu = program_add_stream(program, "gpu", TRUE), net = program_add_stream(program, "net", TRUE);
    add(program, OP_COMPUTE, gpu, 10, 0, NULL);
    add(program, OP_HOST, net, 4, 0, NULL);
    uint32_t sent = add(program, OP_COLLECTIVE, net, 12, 0, NULL);
    add(program, OP_COMPUTE, gpu, 4, 1, &sent);
    add(program, OP_COPY, gpu, 3, 0, NULL);
    add(program, OP_SEND, gpu, -1, 0, NULL); /* not recorded: at once */
    add(program, OP_HOST, gpu, 2, 0, NULL);
    g_autoptr(Script) script = script_new(program, FALSE);
    Pastime time = pastime_of(script);
    ck_assert_int_eq(time.span, 25);
    ck_assert_int_eq(time.computing, 14);
    ck_assert_int_eq(time.communicating, 12);
    ck_assert_int_eq(time.both, 6);
    ck_assert_int_eq(time.copying, 3);
}
END_TEST

START_TEST(what_lacks_a_time)
{
    static const struct {
        OpKind kind;
        SimTime time;
        gboolean signal, lacks;
    } ops[] = {
        {OP_COMPUTE, -1, FALSE, TRUE}, {OP_COMPUTE, 0, FALSE, FALSE}, {OP_COLLECTIVE, -1, FALSE, TRUE},
        {OP_SEND, -1, FALSE, TRUE},    {OP_SEND, -1, TRUE, FALSE},    {OP_RECV, -1, FALSE, TRUE},
        {OP_COPY, -1, FALSE, TRUE},    {OP_MARKER, -1, FALSE, FALSE}, {OP_ALLOC, -1, FALSE, FALSE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        Op op = op_default(ops[i].kind);
        op.duration_ps = ops[i].time;
        op.signal = ops[i].signal;
        ck_assert_msg(pastime_lacks_time(&op) == ops[i].lacks, "%zu", i);
    }
}
END_TEST

/* Two ops beyond the range of time: clipped, not wrapped. */
START_TEST(times_beyond_the_range_are_clipped)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    uint32_t gpu = program_add_stream(program, "gpu", TRUE);
    add(program, OP_COMPUTE, gpu, SIM_TIME_MAX - 5, 0, NULL);
    add(program, OP_COMPUTE, gpu, 10, 0, NULL);
    g_autoptr(Script) script = script_new(program, FALSE);
    Pastime time = pastime_of(script);
    ck_assert_int_eq(time.span, SIM_TIME_MAX);
    ck_assert_int_eq(time.computing, SIM_TIME_MAX);
}
END_TEST

enum { OPS = 40, STREAMS = 3 };

/* Random programs of the stream form: starts and ends by relaxation, then every picosecond looked at. */
START_TEST(random_streams_agree_with_a_slow_count)
{
    static const OpKind kinds[] = {OP_COMPUTE, OP_COLLECTIVE, OP_COPY, OP_HOST, OP_SEND, OP_MARKER};
    Random random = random_named((uint64_t)_i, "pastime");
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    for (uint32_t s = 0; s < STREAMS; s++)
        program_add_stream(program, "s", TRUE);
    OpKind kind[OPS];
    SimTime end[OPS], time[OPS], last[STREAMS] = {0}, span = 0;
    for (uint32_t i = 0; i < OPS; i++) {
        uint32_t stream = (uint32_t)random_below(&random, STREAMS),
                 dep = i > 0 ? (uint32_t)random_below(&random, i) : 0;
        gboolean waits = i > 0 && random_below(&random, 2) == 0;
        kind[i] = kinds[random_below(&random, G_N_ELEMENTS(kinds))];
        time[i] = (SimTime)random_below(&random, 8) - 1;
        add(program, kind[i], stream, kind[i] == OP_MARKER ? -1 : time[i], waits ? 1 : 0, &dep);
        SimTime begin = waits ? MAX(last[stream], end[dep]) : last[stream];
        time[i] = kind[i] == OP_MARKER ? 0 : MAX(0, time[i]);
        last[stream] = end[i] = begin + time[i];
        span = MAX(span, end[i]);
    }
    Pastime slow = {.span = span};
    for (SimTime t = 0; t < span; t++) {
        gboolean computing = FALSE, communicating = FALSE, copying = FALSE;
        for (uint32_t i = 0; i < OPS; i++) {
            gboolean runs = t >= end[i] - time[i] && t < end[i];
            computing = computing || (runs && kind[i] == OP_COMPUTE);
            communicating = communicating || (runs && (kind[i] == OP_COLLECTIVE || kind[i] == OP_SEND));
            copying = copying || (runs && kind[i] == OP_COPY);
        }
        slow.computing += computing;
        slow.communicating += communicating;
        slow.both += computing && communicating;
        slow.copying += copying && !computing && !communicating;
    }
    g_autoptr(Script) script = script_new(program, FALSE);
    Pastime fast = pastime_of(script);
    ck_assert_int_eq(fast.span, slow.span);
    ck_assert_int_eq(fast.computing, slow.computing);
    ck_assert_int_eq(fast.communicating, slow.communicating);
    ck_assert_int_eq(fast.both, slow.both);
    ck_assert_int_eq(fast.copying, slow.copying);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("pastime");
    TCase *tcase = tcase_create("pastime");
    tcase_add_test(tcase, streams_by_hand);
    tcase_add_test(tcase, what_lacks_a_time);
    tcase_add_test(tcase, times_beyond_the_range_are_clipped);
    tcase_add_loop_test(tcase, random_streams_agree_with_a_slow_count, 0, 50);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
