/* test-script.c - what may start, and when a program is over */
#include "base/random.h"
#include "cluster/script.h"
#include "support.h"

#include <string.h>

static uint32_t
add(Program *program, uint32_t stream, uint32_t n_deps, const uint32_t *deps)
{
    Op op = op_default(OP_MARKER);
    op.stream = stream;
    return program_add_op(program, op, "op", deps, n_deps);
}

START_TEST(streams_run_in_order_and_wait_for_each_other)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    uint32_t a = program_add_stream(program, "a", TRUE), b = program_add_stream(program, "b", TRUE);
    uint32_t a0 = add(program, a, 0, NULL), a1 = add(program, a, 0, NULL);
    uint32_t b0 = add(program, b, 1, &a0), b1 = add(program, b, 1, &a1);
    g_autoptr(Script) script = script_new(program, FALSE);
    Progress *progress = progress_new(script);
    for (int round = 0; round < 2; round++) {
        ck_assert_uint_eq(progress_next(progress), a0);
        ck_assert_uint_eq(progress_next(progress), INDEX_NONE);
        progress_end(progress, a0);
        ck_assert_uint_eq(progress_next(progress), a1);
        ck_assert_uint_eq(progress_next(progress), b0);
        progress_end(progress, b0);
        ck_assert_uint_eq(progress_next(progress), INDEX_NONE); /* b1 waits for a1 */
        progress_end(progress, a1);
        ck_assert(!progress_done(progress));
        ck_assert_uint_eq(progress_next(progress), b1);
        progress_end(progress, b1);
        ck_assert(progress_done(progress));
        progress_begin(progress);
    }
    progress_free(progress);
}
END_TEST

START_TEST(an_exclusive_stream_of_a_dag_takes_the_lowest_ready_op)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, TRUE));
    uint32_t gpu = program_add_stream(program, "gpu", TRUE);
    uint32_t free_op = add(program, INDEX_NONE, 0, NULL);
    uint32_t late = add(program, gpu, 1, &free_op);
    uint32_t first = add(program, gpu, 0, NULL), second = add(program, gpu, 0, NULL);
    g_autoptr(Script) script = script_new(program, FALSE);
    Progress *progress = progress_new(script);
    ck_assert_uint_eq(progress_next(progress), free_op);
    progress_begin(progress); /* forgets what has started */
    ck_assert_uint_eq(progress_next(progress), free_op);
    ck_assert_uint_eq(progress_next(progress), first);
    ck_assert_uint_eq(progress_next(progress), INDEX_NONE);
    progress_end(progress, free_op);
    ck_assert_uint_eq(progress_next(progress), INDEX_NONE); /* ready, but the stream is busy */
    progress_end(progress, first);
    ck_assert_uint_eq(progress_next(progress), late); /* lower than second, which was ready before it */
    progress_end(progress, late);
    ck_assert_uint_eq(progress_next(progress), second);
    progress_end(progress, second);
    ck_assert(progress_done(progress));
    progress_free(progress);
}
END_TEST

/* Any DAG is gone through once, each op after all it names; checked against the deps themselves. */
START_TEST(random_dags_run_each_op_once_after_its_deps)
{
    Random random = random_named((uint64_t)_i, "dag");
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, TRUE));
    uint32_t stream = program_add_stream(program, "x", TRUE);
    enum { N = 200 };
    gboolean named[N][N] = {{FALSE}};
    for (uint32_t o = 0; o < N; o++) {
        uint32_t deps[4], n = 0;
        for (uint32_t d = 0; o > 0 && d < random_below(&random, 5); d++) {
            deps[n] = (uint32_t)random_below(&random, o);
            named[o][deps[n++]] = TRUE;
        }
        add(program, random_below(&random, 3) == 0 ? stream : INDEX_NONE, n, deps);
    }
    g_autoptr(Script) script = script_new(program, FALSE);
    Progress *progress = progress_new(script);
    gboolean ended[N] = {FALSE}, started[N] = {FALSE};
    uint32_t running[N], n_running = 0, on_stream = 0;
    while (!progress_done(progress)) {
        uint32_t op;
        while ((op = progress_next(progress)) != INDEX_NONE) {
            ck_assert(!started[op]);
            started[op] = TRUE;
            for (uint32_t d = 0; d < N; d++)
                ck_assert_msg(!named[op][d] || ended[d], "seed %d: op %u before %u", _i, op, d);
            on_stream += script_op(script, op)->stream == stream;
            ck_assert_uint_le(on_stream, 1);
            running[n_running++] = op;
        }
        ck_assert_uint_gt(n_running, 0);
        uint32_t pick = (uint32_t)random_below(&random, n_running);
        op = running[pick];
        running[pick] = running[--n_running];
        ended[op] = TRUE;
        on_stream -= script_op(script, op)->stream == stream;
        progress_end(progress, op);
    }
    for (uint32_t o = 0; o < N; o++)
        ck_assert(ended[o]);
    progress_free(progress);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("script");
    TCase *tc = tcase_create("script");
    tcase_add_test(tc, streams_run_in_order_and_wait_for_each_other);
    tcase_add_test(tc, an_exclusive_stream_of_a_dag_takes_the_lowest_ready_op);
    tcase_add_loop_test(tc, random_dags_run_each_op_once_after_its_deps, 0, 20);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
