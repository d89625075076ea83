/* The recorded DLRM step of 8 ranks as a workload, replayed by a plain longest-path evaluation; and what is refused. */
#include "base/error.h"
#include "support.h"
#include "workload/kineto.h"
#include "workload/kineto_file.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 8, COLLECTIVES = 8 };

/* The files of the set; NULL where there are none. Freed with g_strfreev. */
static char **
dlrm_files(const char *kind)
{
    char **files = g_new0(char *, RANKS + 1);
    for (int r = 0; r < RANKS; r++) {
        g_autofree char *name = g_strdup_printf("dlrm-w8-%s-rank%d.json.gz", kind, r);
        g_autofree char *in_tree = g_build_filename("traces/dlrm-w8", name, NULL);
        g_autofree char *shared = g_build_filename("data/kineto", name, NULL);
        const char *path = support_source(in_tree);
        if (access(path, R_OK) != 0)
            path = support_shared(shared);
        if (path == NULL) {
            g_strfreev(files);
            return NULL;
        }
        files[r] = g_strdup(path);
    }
    return files;
}

static Workload *
read_files(char **files, uint32_t n, char **execution, GError **error)
{
    TraceSource source = {.files = files, .n_files = n, .execution_files = execution, .n_execution_files = n};
    return trace_kineto.read(&source, error);
}

/* The set as a workload; the test is skipped where it is absent. */
#define NEED_DLRM(workload)                                                                                            \
    g_auto(GStrv) kineto = dlrm_files("kineto"), execution = dlrm_files("et");                                         \
    if (kineto == NULL || execution == NULL) {                                                                         \
        support_skip(__func__, "the DLRM set is absent");                                                              \
        return;                                                                                                        \
    }                                                                                                                  \
    g_autoptr(GError) error = NULL;                                                                                    \
    g_autoptr(Workload) workload = read_files(kineto, RANKS, execution, &error);                                       \
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "")

/* The replay: an op starts when those it names have ended; a collective when its last member has come. */
typedef struct {
    const Workload *workload;
    double transfer; /* times the recorded transfer */
    SimTime **end;   /* a rank, an op: -1 = not ended */
    uint32_t **waits;
    GHashTable *arrived; /* group << 32 | seq -> GArray of Arrival */
    GArray *ready;       /* of Arrival: ops that may start */
} Replay;

typedef struct {
    uint32_t rank, op;
    SimTime at;
} Arrival;

static Program *
program_of(const Workload *workload, uint32_t rank)
{
    return workload_program(workload, workload->program_of_rank[rank]);
}

static const Op *
op_of(const Workload *workload, uint32_t rank, uint32_t op)
{
    return &g_array_index(program_of(workload, rank)->ops, Op, op);
}

/* An op ends: those that wait for it may start. (Slow: looks at all.) */
static void
end_op(Replay *replay, uint32_t rank, uint32_t op, SimTime at)
{
    const Program *program = program_of(replay->workload, rank);
    replay->end[rank][op] = at;
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *next = op_of(replay->workload, rank, i);
        SimTime latest = 0;
        gboolean waited = FALSE, whole = TRUE;
        for (uint32_t d = 0; d < next->n_deps; d++) {
            uint32_t dep = g_array_index(program->deps, uint32_t, next->first_dep + d);
            waited = waited || dep == op;
            whole = whole && replay->end[rank][dep] >= 0;
            latest = MAX(latest, replay->end[rank][dep]);
        }
        if (waited && whole) {
            Arrival arrival = {rank, i, latest};
            g_array_append_val(replay->ready, arrival);
        }
    }
}

static void
arrive(Replay *replay, Arrival arrival)
{
    const Op *op = op_of(replay->workload, arrival.rank, arrival.op);
    gint64 key = (gint64)op->group << 32 | op->seq;
    GArray *members = g_hash_table_lookup(replay->arrived, &key);
    if (members == NULL) {
        members = g_array_new(FALSE, FALSE, sizeof(Arrival));
        g_hash_table_insert(replay->arrived, g_memdup2(&key, sizeof key), members);
    }
    g_array_append_val(members, arrival);
    uint32_t n;
    workload_members(replay->workload, op->group, arrival.rank, &n);
    if (members->len < n)
        return;
    SimTime last = 0;
    for (uint32_t m = 0; m < n; m++)
        last = MAX(last, g_array_index(members, Arrival, m).at);
    for (uint32_t m = 0; m < n; m++) {
        Arrival *a = &g_array_index(members, Arrival, m);
        SimTime lasts = op_of(replay->workload, a->rank, a->op)->duration_ps;
        end_op(replay, a->rank, a->op, last + (SimTime)((double)lasts * replay->transfer));
    }
}

static Replay *
replay_new(const Workload *workload, double transfer, gboolean offsets)
{
    Replay *replay = g_new0(Replay, 1);
    replay->workload = workload;
    replay->transfer = transfer;
    replay->end = g_new0(SimTime *, workload->n_ranks);
    replay->arrived = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    replay->ready = g_array_new(FALSE, FALSE, sizeof(Arrival));
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        uint32_t n = program_of(workload, r)->ops->len;
        replay->end[r] = g_new(SimTime, n);
        for (uint32_t i = 0; i < n; i++) {
            replay->end[r][i] = -1;
            Arrival start = {r, i, offsets ? workload->start_ps[r] : 0};
            if (op_of(workload, r, i)->n_deps == 0)
                g_array_append_val(replay->ready, start);
        }
    }
    for (guint k = 0; k < replay->ready->len; k++) {
        Arrival a = g_array_index(replay->ready, Arrival, k);
        const Op *op = op_of(workload, a.rank, a.op);
        if (op->kind == OP_COLLECTIVE)
            arrive(replay, a);
        else
            end_op(replay, a.rank, a.op, a.at + op->duration_ps);
    }
    return replay;
}

static void
replay_free(Replay *replay)
{
    for (uint32_t r = 0; r < replay->workload->n_ranks; r++)
        g_free(replay->end[r]);
    g_free(replay->end);
    g_hash_table_unref(replay->arrived);
    g_array_unref(replay->ready);
    g_free(replay);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)

/* The last end; every op has one. */
static SimTime
replay_end(const Replay *replay)
{
    SimTime last = 0;
    for (uint32_t r = 0; r < replay->workload->n_ranks; r++) {
        for (uint32_t i = 0; i < program_of(replay->workload, r)->ops->len; i++) {
            ck_assert_int_ge(replay->end[r][i], 0);
            last = MAX(last, replay->end[r][i]);
        }
    }
    return last;
}

/* The op of a rank's k-th collective. */
static uint32_t
collective_op(const Workload *workload, uint32_t rank, uint32_t k)
{
    for (uint32_t i = 0; i < program_of(workload, rank)->ops->len; i++) {
        if (op_of(workload, rank, i)->kind == OP_COLLECTIVE && op_of(workload, rank, i)->seq == k)
            return i;
    }
    ck_abort_msg("rank %u has no collective %u", rank, k);
    return INDEX_NONE;
}

START_TEST(replay_ends_every_nccl_kernel_within_20_us_of_its_record)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) replay = replay_new(workload, 1, TRUE);
    int64_t origin = INT64_MAX, last = 0, worst = 0;
    KinetoFile *file[RANKS];
    for (int r = 0; r < RANKS; r++) {
        file[r] = kineto_file_read(kineto[r], FALSE, &error);
        ck_assert_ptr_nonnull(file[r]);
        origin = MIN(origin, file[r]->first_ns);
        last = MAX(last, file[r]->last_ns);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t k = 0;
        for (guint i = 0; i < file[r]->events[KINETO_KERNEL]->len; i++) {
            const KinetoEvent *kernel = kineto_event(file[r], KINETO_KERNEL, i);
            if (!kineto_is_nccl(kernel))
                continue;
            SimTime recorded = (kernel->end_ns - origin) * PS_PER_NS;
            SimTime replayed = replay->end[r][collective_op(workload, r, k++)];
            worst = MAX(worst, ABS(replayed - recorded));
        }
        ck_assert_uint_eq(k, COLLECTIVES);
    }
    printf("# worst %g us, span %g us of %g\n", (double)worst / 1e6, (double)replay_end(replay)/1e6, (double)(last-origin)/1e3);
    ck_assert_int_le(worst, 20 * PS_PER_US);
}
END_TEST

START_TEST(the_span_is_the_recorded_one_and_shorter_by_transfers_on_a_fast_network)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) recorded = replay_new(workload, 1, TRUE), fast = replay_new(workload, 0, TRUE);
    SimTime span = replay_end(recorded), fast_span = replay_end(fast);
    printf("# span %g fast %g diff %g us\n", (double)span/1e6, (double)fast_span/1e6, (double)(span-fast_span)/1e6);
    ck_assert_int_ge(span, 20820 * PS_PER_US - 20820 * PS_PER_US / 200);
    ck_assert_int_le(span, 20820 * PS_PER_US + 20820 * PS_PER_US / 200);
    ck_assert_int_lt(fast_span, span);
    ck_assert_int_le(span - fast_span, 217 * PS_PER_US);
    for (guint i = 0; i < workload->notes->len; i++) printf("# %s\n", (char *)g_ptr_array_index(workload->notes, i));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("kineto");
    TCase *tc = tcase_create("dlrm");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, replay_ends_every_nccl_kernel_within_20_us_of_its_record);
    tcase_add_test(tc, the_span_is_the_recorded_one_and_shorter_by_transfers_on_a_fast_network);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
