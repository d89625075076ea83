/* The recorded DLRM step of 8 ranks as a workload, replayed by a plain longest-path evaluation; and what is refused. */
#include "base/error.h"
#include "support.h"
#include "workload/execution_trace.h"
#include "workload/kineto_file.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 8, COLLECTIVES = 8 };

/* README: the largest spread of the recorded ends of one collective. */
#define END_SPREAD_PS (7 * PS_PER_US)

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

/* start: of each rank; transfer: times the recorded one. */
static Replay *
replay_new(const Workload *workload, double transfer, const SimTime *start)
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
            Arrival first = {r, i, start[r]};
            if (op_of(workload, r, i)->n_deps == 0)
                g_array_append_val(replay->ready, first);
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

static gint
by_value(gconstpointer a, gconstpointer b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The replayed ends of a rank's device work, in nanoseconds after its start, sorted. */
static GArray *
device_ends(const Replay *replay, uint32_t rank)
{
    const Workload *workload = replay->workload;
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (uint32_t i = 0; i < program_of(workload, rank)->ops->len; i++) {
        int64_t end = (replay->end[rank][i] - workload->start_ps[rank]) / PS_PER_NS;
        if (op_of(workload, rank, i)->stream != INDEX_NONE)
            g_array_append_val(ends, end);
    }
    g_array_sort(ends, by_value);
    return ends;
}

/* The same from the record. */
static GArray *
recorded_ends(const char *path)
{
    g_autoptr(KinetoFile) file = kineto_file_read(path, FALSE, NULL, NULL);
    ck_assert_ptr_nonnull(file);
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int kind = KINETO_KERNEL; kind <= KINETO_MEMSET; kind++) {
        for (guint i = 0; i < file->events[kind]->len; i++) {
            int64_t end = kineto_event(file, kind, i)->end_ns - file->first_ns;
            g_array_append_val(ends, end);
        }
    }
    g_array_sort(ends, by_value);
    return ends;
}

static int64_t
worst_device_end(const Replay *replay, uint32_t rank, const char *path)
{
    g_autoptr(GArray) replayed = device_ends(replay, rank), recorded = recorded_ends(path);
    int64_t worst = 0;
    ck_assert_uint_eq(replayed->len, recorded->len);
    for (guint i = 0; i < replayed->len; i++) {
        int64_t off = g_array_index(replayed, int64_t, i) - g_array_index(recorded, int64_t, i);
        worst = MAX(worst, ABS(off));
    }
    return worst;
}

/* A file of this text, to be removed by the caller. */
static char *
temporary(const char *text)
{
    char *path = NULL;
    int fd = g_file_open_tmp("trainshed-kineto-XXXXXX", &path, NULL);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* Recorded ends of the 64 NCCL kernels against the replay's. */
START_TEST(replay_ends_every_nccl_kernel_as_recorded)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    KinetoFile *file[RANKS];
    int64_t origin = INT64_MAX, worst = 0;
    for (int r = 0; r < RANKS; r++) {
        file[r] = kineto_file_read(kineto[r], FALSE, NULL, &error);
        ck_assert_ptr_nonnull(file[r]);
        origin = MIN(origin, file[r]->first_ns);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t k = 0;
        for (guint i = 0; i < file[r]->events[KINETO_KERNEL]->len; i++) {
            const KinetoEvent *kernel = kineto_event(file[r], KINETO_KERNEL, i);
            if (!kineto_is_nccl(kernel))
                continue;
            SimTime off = replay->end[r][collective_op(workload, r, k++)] - (kernel->end_ns - origin) * PS_PER_NS;
            worst = MAX(worst, ABS(off));
        }
        ck_assert_uint_eq(k, COLLECTIVES);
        kineto_file_free(file[r]);
    }
    ck_assert_int_le(worst, END_SPREAD_PS); /* the issue asks for 20 us */
}
END_TEST

/* Taken from the file by hand, in microseconds: rank 1 starts at 1694128201421205, rank 0's kernels end at ...: */
START_TEST(replay_ends_rank_0_at_its_recorded_instants)
{
    static const int64_t ends_us[COLLECTIVES] = {431941, 434718, 435119, 435251, 436550, 438303, 438906, 440336};
    NEED_DLRM(workload);
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    for (uint32_t k = 0; k < COLLECTIVES; k++) {
        SimTime off = replay->end[0][collective_op(workload, 0, k)] - (ends_us[k] - 421205) * PS_PER_US;
        ck_assert_int_le(ABS(off), END_SPREAD_PS);
    }
    ck_assert_int_eq(workload->start_ps[1], 0);
    ck_assert_int_eq(workload->start_ps[0], (426674 - 421205) * PS_PER_US);
    ck_assert_int_eq(workload->start_ps[7], (428718 - 421205) * PS_PER_US);
}
END_TEST

START_TEST(replay_ends_all_device_work_as_recorded)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    for (uint32_t r = 0; r < RANKS; r++)
        ck_assert_int_le(worst_device_end(replay, r, kineto[r]), END_SPREAD_PS / PS_PER_NS);
}
END_TEST

/* First start 1694128201421205 us (rank 1), last end ...442071 (rank 4): 20.866 ms, 0.22 % from the 20.82 of the issue.
 * On an infinitely fast network 8 us are gained of the 217 the eight transfers last: the last end is that of rank 4's
 * host, which last waits for a collective at the copy to the host after all-to-all 1 (8 us, ended by rank 7's arrival);
 * rank 7's own host waits for no collective before that. */
START_TEST(the_span_is_the_recorded_one_and_a_fast_network_shortens_it_by_one_transfer)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) recorded = replay_new(workload, 1, workload->start_ps);
    g_autoptr(Replay) fast = replay_new(workload, 0, workload->start_ps);
    SimTime span = replay_end(recorded), gained = span - replay_end(fast), transfers = 0;
    ck_assert_int_eq(span, 20866 * PS_PER_US);
    ck_assert_int_le(ABS(span - 20820 * PS_PER_US), 20820 * PS_PER_US / 200);
    for (uint32_t k = 0; k < COLLECTIVES; k++)
        transfers += op_of(workload, 0, collective_op(workload, 0, k))->duration_ps;
    ck_assert_int_eq(transfers, 217 * PS_PER_US);
    ck_assert_int_eq(gained, 8 * PS_PER_US);
}
END_TEST

/* The NCCL stream is in order, so 100-fold transfers take at least 21.7 ms in a row; the optimizer waits for the last.
 */
START_TEST(slow_collectives_hold_up_what_waits_for_them)
{
    NEED_DLRM(workload);
    g_autoptr(Replay) slow = replay_new(workload, 100, workload->start_ps);
    for (uint32_t r = 0; r < RANKS; r++) {
        const Program *program = program_of(workload, r);
        SimTime first = slow->end[r][collective_op(workload, r, 0)] -
                        100 * op_of(workload, r, collective_op(workload, r, 0))->duration_ps;
        SimTime last = slow->end[r][collective_op(workload, r, COLLECTIVES - 1)];
        ck_assert_int_ge(last - first, 21700 * PS_PER_US);
        /* Adagrad's kernels, in the record up to 21015 us on rank 0, 679 us after the last all-reduce. */
        uint32_t after = 0;
        for (uint32_t i = 0; i < program->ops->len; i++)
            after += op_of(workload, r, i)->kind == OP_COMPUTE && slow->end[r][i] > last;
        ck_assert_uint_ge(after, 50);
        for (uint32_t k = 0; k < COLLECTIVES; k++) {
            uint32_t op = collective_op(workload, r, k);
            ck_assert_int_eq(slow->end[r][op], slow->end[0][collective_op(workload, 0, k)]);
        }
    }
}
END_TEST

/* README: kinds and bytes in issue order, with the shortest duration over the ranks. */
START_TEST(collectives_are_those_of_the_readme)
{
    static const struct {
        CollectiveKind kind;
        uint64_t bytes;
        int64_t transfer_us;
        gboolean uneven;
    } expected[COLLECTIVES] = {
        {COLLECTIVE_ALL_TO_ALL, 24576, 10, TRUE},    {COLLECTIVE_ALL_TO_ALL, 192, 8, FALSE},
        {COLLECTIVE_ALL_TO_ALL, 1536, 7, TRUE},      {COLLECTIVE_ALL_TO_ALL, 13568, 7, TRUE},
        {COLLECTIVE_ALL_REDUCE, 1576964, 86, FALSE}, {COLLECTIVE_ALL_TO_ALL, 24576, 10, TRUE},
        {COLLECTIVE_ALL_REDUCE, 448, 20, FALSE},     {COLLECTIVE_ALL_REDUCE, 907840, 69, FALSE},
    };
    NEED_DLRM(workload);
    ck_assert_uint_eq(workload->n_ranks, RANKS);
    ck_assert(workload->recorded_collectives);
    ck_assert_uint_eq(workload->groups->len, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t n;
        workload_members(workload, 0, r, &n);
        ck_assert_uint_eq(n, RANKS);
        for (uint32_t k = 0; k < COLLECTIVES; k++) {
            const Op *op = op_of(workload, r, collective_op(workload, r, k));
            ck_assert_int_eq(op->collective, expected[k].kind);
            ck_assert_uint_eq(op->bytes, expected[k].bytes);
            ck_assert_int_eq(op->duration_ps, expected[k].transfer_us * PS_PER_US);
            ck_assert_int_eq(op->splits != INDEX_NONE, expected[k].uneven);
        }
    }
}
END_TEST

/* Bytes that rank `to` gets of all-to-all-v k, by the senders' splits; README: 3072, 7168 ... of the fourth. */
START_TEST(splits_sum_to_what_each_rank_receives)
{
    static const uint64_t received[RANKS] = {3072, 7168, 9216, 53248, 18944, 3072, 6144, 7680};
    NEED_DLRM(workload);
    for (uint32_t to = 0; to < RANKS; to++) {
        uint64_t fourth = 0, first = 0;
        for (uint32_t from = 0; from < RANKS; from++) {
            const Op *op = op_of(workload, from, collective_op(workload, from, 3));
            fourth += g_array_index(workload->splits, uint64_t, op->splits + to);
            op = op_of(workload, from, collective_op(workload, from, 0));
            first += g_array_index(workload->splits, uint64_t, op->splits + to);
        }
        ck_assert_uint_eq(fourth, received[to]);
        ck_assert_uint_eq(first, 24576);
    }
}
END_TEST

/* in_split[i][j] == out_split[j][i] in the execution traces themselves, for every all-to-all-v. */
START_TEST(what_is_sent_is_what_is_expected)
{
    g_auto(GStrv) execution = dlrm_files("et");
    if (execution == NULL) {
        support_skip(__func__, "the DLRM set is absent");
        return;
    }
    g_autoptr(GError) error = NULL;
    ExecutionTrace *trace[RANKS];
    uint32_t checked = 0;
    for (int r = 0; r < RANKS; r++) {
        trace[r] = execution_trace_read(execution[r], NULL, &error);
        ck_assert_msg(trace[r] != NULL, "%s", error ? error->message : "");
    }
    for (guint c = 0; c < trace[0]->comms->len; c++) {
        for (uint32_t i = 0; i < RANKS; i++) {
            for (uint32_t j = 0; j < RANKS; j++) {
                const ExecutionComm *a = &g_array_index(trace[i]->comms, ExecutionComm, c);
                const ExecutionComm *b = &g_array_index(trace[j]->comms, ExecutionComm, c);
                ck_assert_int_eq(a->seq, b->seq);
                if (strcmp(a->name, "all_to_allv") != 0)
                    continue;
                ck_assert_uint_eq(a->n_in_split, RANKS);
                ck_assert_uint_eq(g_array_index(trace[i]->splits, uint64_t, a->in_split + j),
                                  g_array_index(trace[j]->splits, uint64_t, b->out_split + i));
                checked++;
            }
        }
    }
    ck_assert_uint_eq(checked, 4 * RANKS * RANKS);
    for (int r = 0; r < RANKS; r++)
        execution_trace_free(trace[r]);
}
END_TEST

/* The end of a rank's last op. */
static SimTime
rank_end(const Replay *replay, uint32_t rank)
{
    SimTime last = 0;
    for (uint32_t i = 0; i < program_of(replay->workload, rank)->ops->len; i++)
        last = MAX(last, replay->end[rank][i]);
    return last;
}

/* A rank's next iteration begins when its last has ended: offsets apply to the first only, and the wait of the early
 * ranks for the late ones (rank 1 starts 7.5 ms before rank 7) does not come back. What is left is the time of the
 * slowest host, rank 3's, on any network fast enough to stay behind it. */
START_TEST(ten_iterations_settle)
{
    static const struct {
        double transfer;
        int64_t step_us[3]; /* the first, the second, each of the others */
    } cases[] = {{1, {20866, 13586, 13746}}, {0, {20858, 13578, 13746}}, {64, {28299, 21617, 21617}}};
    NEED_DLRM(workload);
    SimTime start[RANKS], end_before = 0;
    memcpy(start, workload->start_ps, sizeof start);
    for (int k = 0; k < 10; k++) {
        g_autoptr(Replay) replay = replay_new(workload, cases[_i].transfer, start);
        for (uint32_t r = 0; r < RANKS; r++)
            start[r] = rank_end(replay, r);
        ck_assert_int_eq(replay_end(replay) - end_before, cases[_i].step_us[MIN(k, 2)] * PS_PER_US);
        end_before = replay_end(replay);
    }
}
END_TEST

/* A rank that comes a second after all others never waits for one: what it takes is its own work. */
START_TEST(rank_3_has_the_slowest_host)
{
    NEED_DLRM(workload);
    SimTime own[RANKS], most = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        SimTime start[RANKS] = {0};
        start[r] = PS_PER_S;
        g_autoptr(Replay) replay = replay_new(workload, 0, start);
        own[r] = rank_end(replay, r) - PS_PER_S;
        most = MAX(most, own[r]);
    }
    ck_assert_int_eq(most, own[3]);
    ck_assert_int_eq(own[3], 13746 * PS_PER_US);
    ck_assert_int_eq(own[7], 12558 * PS_PER_US); /* as recorded, 428718 to 441276: it came last and never waited */
}
END_TEST

/* Two ranks by hand, times in microseconds. Rank 0 launches a kernel on stream 7 (call 10, runs 15 to 25) and an
 * all-reduce (call 20, kernel 30 to 80); waits for it on stream 7 (32), launches the next kernel there (call 35, runs
 * 82 to 90), and blocks for the stream (call 40, returns 95). Rank 1's all-reduce starts at 60 and ends at 80:
 * transfer 20. Stream 9's kernel (call 97 after the return, 103 to 104) is only launched later. */
#define CALL(name, corr, ts, dur)                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"dur\":" #dur    \
    ",\"args\":{\"correlation\":" #corr "}},"
#define WORK(name, corr, stream, ts, dur, more)                                                                        \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts                 \
    ",\"dur\":" #dur ",\"args\":{\"correlation\":" #corr more "}},"
#define REDUCE                                                                                                         \
    ",\"Collective name\":\"allreduce\",\"In msg nelems\":100,\"Out msg nelems\":100,\"dtype\":\"Float\","             \
    "\"Group size\":2,\"Process Group Name\":\"dp\",\"Process Group Ranks\":\"[0, 1]\""
#define OPENED "{\"traceEvents\":["
#define CLOSED(rank) "{\"ph\":\"i\"}],\"distributedInfo\":{\"rank\":" #rank ",\"world_size\":2}}"

static const char hand_0[] = OPENED CALL("cudaLaunchKernel", 1, 10, 5) WORK("a", 1, 7, 15, 10, "")
    CALL("cudaLaunchKernel", 2, 20, 5) WORK("ncclDevKernel_AllReduce(x)", 2, 20, 30, 50, REDUCE)
        CALL("cudaStreamWaitEvent", 3, 32, 1) CALL("cudaLaunchKernel", 4, 35, 3) WORK("void b<int>(x)", 4, 7, 82, 8, "")
            CALL("cudaStreamSynchronize", 5, 40, 55) CALL("cudaLaunchKernel", 6, 97, 2) WORK("c", 6, 9, 103, 1, "")
                CLOSED(0);
static const char hand_1[] = OPENED CALL("cudaLaunchKernel", 2, 10, 5) WORK("early", 9, 7, 12, 8, "")
    WORK("ncclDevKernel_AllReduce(x)", 2, 20, 60, 20, REDUCE) CLOSED(1);

static SimTime
end_of(const Replay *replay, uint32_t rank, const char *name)
{
    const Program *program = program_of(replay->workload, rank);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        if (strcmp(program_op_name(program, i), name) == 0 && op_of(replay->workload, rank, i)->stream != INDEX_NONE)
            return replay->end[rank][i] / PS_PER_US;
    }
    ck_abort_msg("no op %s", name);
    return -1;
}

START_TEST(two_ranks_by_hand)
{
    /* Transfer times 1, 3, 0: the all-reduce ends at 80, 120, 60; b starts 2 later, returns 5 after b's end; c 8 after.
     */
    static const struct {
        double transfer;
        int64_t reduce, b, c;
    } cases[] = {{1, 80, 90, 104}, {3, 120, 130, 144}, {0, 60, 70, 84}};
    g_autofree char *path_0 = temporary(hand_0), *path_1 = temporary(hand_1);
    char *list[] = {path_1, path_0, NULL}; /* ranks are the files' own */
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_files(list, 2, NULL, &error);
    g_remove(path_0);
    g_remove(path_1);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(((Group *)g_ptr_array_index(workload->groups, 0))->name, "dp");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        SimTime start[2] = {10 * PS_PER_US, 10 * PS_PER_US}; /* the first event of each */
        ck_assert_int_eq(workload->start_ps[0], 0);
        ck_assert_int_eq(workload->start_ps[1], 0);
        g_autoptr(Replay) replay = replay_new(workload, cases[i].transfer, start);
        ck_assert_int_eq(end_of(replay, 0, "a"), 25);
        ck_assert_int_eq(end_of(replay, 0, "allreduce"), cases[i].reduce);
        ck_assert_int_eq(end_of(replay, 1, "allreduce"), cases[i].reduce);
        ck_assert_int_eq(end_of(replay, 0, "b"), cases[i].b);
        ck_assert_int_eq(end_of(replay, 0, "c"), cases[i].c);
        ck_assert_int_eq(end_of(replay, 1, "early"), 20);
    }
}
END_TEST

/* Rank 1's machine has a clock 5 s ahead: its all-reduce seems to end 5 s later, so its clock is set by that. */
START_TEST(clocks_of_two_machines_are_aligned)
{
    g_auto(GStrv) pieces = g_strsplit(hand_1, "{\"traceEvents\"", 2);
    g_autofree char *ahead = g_strconcat("{\"baseTimeNanoseconds\":5000000000,\"traceEvents\"", pieces[1], NULL);
    g_autofree char *path_0 = temporary(hand_0), *path_1 = temporary(ahead);
    char *list[] = {path_0, path_1, NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_files(list, 2, NULL, &error);
    g_remove(path_0);
    g_remove(path_1);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(workload->start_ps[0], 0);
    ck_assert_int_eq(workload->start_ps[1], 0);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, workload->notes->len - 1),
                     "the clocks of 1 ranks are up to 5000000 us from rank 0's: aligned by the ends of collectives");
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    ck_assert_int_eq(end_of(replay, 1, "allreduce"), 70); /* 80, from the first event at 10 */
    ck_assert_int_eq(end_of(replay, 0, "c"), 94);
}
END_TEST

START_TEST(notes_count_what_was_inferred)
{
    NEED_DLRM(workload);
    ck_assert_uint_eq(workload->notes->len, 2);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0),
                     "112 edges between streams and collectives are inferred from the order of calls");
    ck_assert_str_eq(
        g_ptr_array_index(workload->notes, 1),
        "128 of 2244 kernels, copies and fills were launched before the recorded window: they start at their "
        "recorded offset");
}
END_TEST

/* One GPU, cuda_sync events or none: nothing stands between the record and its replay. */
START_TEST(a_single_gpu_is_replayed_exactly)
{
    static const char *const files[] = {"hta-alexnet-cudasync", "hta-event-sync-multistream", "hta-event-sync",
                                        "hta-simple-add-kineto", "hta-mi250-minitoy"};
    g_autofree char *relative = g_strdup_printf("data/kineto/%s.json.gz", files[_i]);
    NEED_SHARED(path, relative);
    g_autoptr(GError) error = NULL;
    char *list[] = {g_strdup(path), NULL};
    g_autoptr(Workload) workload = read_files(list, 1, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    ck_assert_int_eq(worst_device_end(replay, 0, path), 0);
    if (_i == 4) { /* which names no rank */
        g_autofree char *note =
            g_strdup_printf("%s names no rank and has no communication: it is taken as rank 0 of 1", path);
        ck_assert_str_eq(g_ptr_array_index(workload->notes, 0), note);
    }
    ck_assert_uint_eq(workload->notes->len, _i == 4 ? 1 : 0);
    g_free(list[0]);
}
END_TEST

/* A second rank is made of the first: the same file with another rank. Sizes come from the kernels' arguments. */
START_TEST(files_with_arguments_need_no_second_file)
{
    NEED_SHARED(path, "data/kineto/hta-nccl-ddp-w2-rank0.json.gz");
    g_autoptr(GError) error = NULL;
    size_t length;
    g_autofree char *text = input_read_all(path, 1 << 26, &length, &error);
    ck_assert_ptr_nonnull(text);
    char *place = strstr(text, "\"rank\": 0");
    ck_assert_ptr_nonnull(place);
    place[8] = '1';
    g_autofree char *copy = temporary(text);
    char *list[] = {copy, g_strdup(path), NULL};
    g_autoptr(Workload) workload = read_files(list, 2, NULL, &error);
    g_remove(copy);
    g_free(list[1]);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    uint64_t reduced = 0, sent = 0, n = 0;
    for (uint32_t i = 0; i < program_of(workload, 1)->ops->len; i++) {
        const Op *op = op_of(workload, 1, i);
        if (op->kind != OP_COLLECTIVE)
            continue;
        n++;
        *(op->collective == COLLECTIVE_ALL_REDUCE ? &reduced : &sent) += op->bytes;
    }
    ck_assert_uint_eq(n, 21);
    ck_assert_uint_eq(reduced, 306684384);
    ck_assert_uint_eq(sent, 638712);
    g_autoptr(Replay) replay = replay_new(workload, 1, workload->start_ps);
    ck_assert_int_eq(worst_device_end(replay, 0, path), 0);
    ck_assert_int_eq(worst_device_end(replay, 1, path), 0);
}
END_TEST

/* RCCL on 8 MI300X, of which one rank's file is at hand: the others are made of it. Bytes and counts of the README's
 * row: 12 kernels carry arguments; 5 that do not, and 757 kernels, were launched before the window. */
START_TEST(amd_files_are_read_with_what_was_launched_before)
{
    NEED_SHARED(path, "data/kineto/tracelens-mi300x-resnet-w8-rank0.json.gz");
    g_autoptr(GError) error = NULL;
    size_t length;
    g_autofree char *text = input_read_all(path, 1 << 26, &length, &error);
    ck_assert_ptr_nonnull(text);
    char *place = strstr(text, "\"rank\": 0"), *list[RANKS + 1] = {NULL};
    ck_assert_ptr_nonnull(place);
    for (int r = 0; r < RANKS; r++) {
        place[8] = (char)('0' + r);
        list[r] = temporary(text);
    }
    g_autoptr(Workload) workload = read_files(list, RANKS, NULL, &error);
    for (int r = 0; r < RANKS; r++) {
        g_remove(list[r]);
        g_free(list[r]);
    }
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    uint64_t reduced = 0, sent = 0, n = 0, kernels = 0;
    for (uint32_t i = 0; i < program_of(workload, 7)->ops->len; i++) {
        const Op *op = op_of(workload, 7, i);
        kernels += op->kind == OP_COMPUTE;
        if (op->kind != OP_COLLECTIVE)
            continue;
        n++;
        *(op->collective == COLLECTIVE_ALL_REDUCE ? &reduced : &sent) += op->bytes;
    }
    ck_assert_uint_eq(n, 12);
    ck_assert_uint_eq(kernels, 2995 - 17);
    ck_assert_uint_eq(reduced, 70137072);
    ck_assert_uint_eq(sent, 58080);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 2),
                     "40 NCCL kernels were launched before the recorded window and carry no sizes: they last what was "
                     "recorded, waiting included, and move nothing");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("kineto");
    TCase *tc = tcase_create("replay");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, replay_ends_every_nccl_kernel_as_recorded);
    tcase_add_test(tc, replay_ends_rank_0_at_its_recorded_instants);
    tcase_add_test(tc, replay_ends_all_device_work_as_recorded);
    tcase_add_test(tc, the_span_is_the_recorded_one_and_a_fast_network_shortens_it_by_one_transfer);
    tcase_add_test(tc, slow_collectives_hold_up_what_waits_for_them);
    tcase_add_test(tc, collectives_are_those_of_the_readme);
    tcase_add_test(tc, splits_sum_to_what_each_rank_receives);
    tcase_add_test(tc, what_is_sent_is_what_is_expected);
    tcase_add_loop_test(tc, ten_iterations_settle, 0, 3);
    tcase_add_test(tc, rank_3_has_the_slowest_host);
    tcase_add_test(tc, two_ranks_by_hand);
    tcase_add_test(tc, clocks_of_two_machines_are_aligned);
    tcase_add_test(tc, notes_count_what_was_inferred);
    tcase_add_loop_test(tc, a_single_gpu_is_replayed_exactly, 0, 5);
    tcase_add_test(tc, files_with_arguments_need_no_second_file);
    tcase_add_test(tc, amd_files_are_read_with_what_was_launched_before);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
