/* test-otf2.c - OTF2 archives: the two real ones with their counts, and damaged ones; without libotf2, that it is said
 */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>

#ifdef HAVE_OTF2
#include <otf2/otf2.h>
#endif

static Workload *
read_anchor(const char *path, GError **error)
{
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    return trace_read(NULL, &source, error);
}

#ifdef HAVE_OTF2

static const Op *
op_at(const Workload *workload, uint32_t rank, uint32_t i)
{
    return &g_array_index(workload_program(workload, workload->program_of_rank[rank])->ops, Op, i);
}

typedef struct {
    uint32_t sends, recvs, own; /* own: sends to oneself */
    uint64_t sent, received;
    uint32_t collectives[COLLECTIVE_KINDS];
} Count;

static Count
count(const Workload *workload)
{
    Count all = {0};
    for (uint32_t r = 0; r < workload->n_ranks; r++)
        for (uint32_t i = 0; i < workload_program(workload, r)->ops->len; i++) {
            const Op *op = op_at(workload, r, i);
            all.sends += op->kind == OP_SEND;
            all.recvs += op->kind == OP_RECV;
            all.own += op->kind == OP_SEND && op->signal;
            all.sent += op->kind == OP_SEND ? op->bytes : 0;
            all.received += op->kind == OP_RECV ? op->bytes : 0;
            if (op->kind == OP_COLLECTIVE)
                all.collectives[op->collective]++;
        }
    return all;
}

/* README of mpi/: 1440 MPI_ISEND and MPI_IRECV, 1200 collectives. A script over otf2-print finds 952 messages of a rank
 * to itself, 7864232 B of the others, and 480 collectives on communicators of one rank. */
START_TEST(ten_ranks)
{
    NEED_SHARED(path, "data/mpi/otf2-sstmacro-10/traces.otf2");
    GError *error = NULL;
    ck_assert(trace_format_recognise(path, NULL) == &trace_otf2);
    g_autoptr(Workload) workload = read_anchor(path, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 10);
    Count all = count(workload);
    ck_assert_uint_eq(all.sends, 1440);
    ck_assert_uint_eq(all.recvs, 1440);
    ck_assert_uint_eq(all.own, 952);
    ck_assert_uint_eq(all.sent, 7864232);
    ck_assert_uint_eq(all.received, 7864232);
    uint32_t collectives = 0;
    for (int k = 0; k < COLLECTIVE_KINDS; k++)
        collectives += all.collectives[k];
    ck_assert_uint_eq(collectives, 1200 - 480);
    /* 12 sizes, from 4 B: of all 10 ranks, and of 4 pairs; one broadcast and reduce, one gather and scatter of each */
    ck_assert_uint_eq(all.collectives[COLLECTIVE_ALL_REDUCE], 12 * (10 + 8));
    ck_assert_uint_eq(all.collectives[COLLECTIVE_ALL_GATHER], 12 * (10 + 8));
    ck_assert_uint_eq(all.collectives[COLLECTIVE_ALL_TO_ALL], (12 + 2) * (10 + 8));
    ck_assert_uint_eq(all.collectives[COLLECTIVE_BROADCAST], 10 + 8);
    ck_assert_uint_eq(all.collectives[COLLECTIVE_REDUCE], 10 + 8);
    ck_assert_str_eq(workload->notes->pdata[0], "36 gathers or scatters are uneven all-to-alls of the same bytes");
    ck_assert_str_eq(workload->notes->pdata[1], "480 collectives of one rank alone are left out");
}
END_TEST

/* Communicator 1 is ranks 0 and 6; what the ranks of it send, from otf2-print. */
START_TEST(sizes_and_groups)
{
    NEED_SHARED(path, "data/mpi/otf2-sstmacro-10/traces.otf2");
    g_autoptr(Workload) workload = read_anchor(path, NULL);
    uint32_t group = workload_find_group(workload, "comm 1"), n, reduces = 0, gathers = 0;
    const uint32_t *members = workload_members(workload, group, 6, &n);
    ck_assert(n == 2 && members[0] == 0 && members[1] == 6);
    ck_assert(workload_members(workload, group, 1, &n) == NULL);
    for (uint32_t i = 0; i < workload_program(workload, 6)->ops->len; i++) {
        const Op *op = op_at(workload, 6, i);
        if (op->kind != OP_COLLECTIVE || op->group != group)
            continue;
        /* 8, 16, ... are sent and received: vectors of 4, 8, ... to two members; results of 8, 16, ... */
        if (op->collective == COLLECTIVE_ALL_REDUCE)
            ck_assert_uint_eq(op->bytes, 4u << reduces++);
        if (op->collective == COLLECTIVE_ALL_GATHER)
            ck_assert_uint_eq(op->bytes, 8u << gathers++);
    }
    ck_assert_uint_eq(reduces, 12);
    ck_assert_uint_eq(gathers, 12);
}
END_TEST

/* 8 sizes there and back, 8355840 B in all. Rank 0 leaves MPI_Init at 7397467382698364, rank 1 at ...699825;
 * a second has 2095197216 ticks: rank 1 starts 1461 ticks later. */
START_TEST(ping_pong)
{
    NEED_SHARED(path, "data/mpi/otf2-pingpong-2/traces.otf2");
    GError *error = NULL;
    g_autoptr(Workload) workload = read_anchor(path, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    Count all = count(workload);
    ck_assert(all.sends == 16 && all.recvs == 16 && all.own == 0);
    ck_assert_uint_eq(all.sent, 8355840);
    ck_assert_uint_eq(all.received, 8355840);
    ck_assert_int_eq(workload->start_ps[0], 0);
    ck_assert_int_eq(workload->start_ps[1], 697309);
    /* computing and calls take turns: each op waits for the one before it */
    for (uint32_t r = 0; r < 2; r++) {
        const Program *program = workload_program(workload, r);
        for (uint32_t i = 1; i < program->ops->len; i++) {
            const Op *op = op_at(workload, r, i);
            ck_assert_uint_eq(op->n_deps, 1);
            ck_assert_uint_eq(g_array_index(program->deps, uint32_t, op->first_dep), i - 1);
        }
    }
}
END_TEST

/* A copy of the ping-pong with one file cut to length, or left out where that is 0. Cut files are not here:
 * libotf2 3.0.2 reads beyond what it has of .def and .evt, and leaks a cut anchor. */
static const struct {
    const char *file;
    gssize length;
} damaged[] = {{"traces.def", 0}, {"traces/0.evt", 0}};

START_TEST(damaged_archives)
{
    static const char *const files[] = {"traces.otf2",  "traces.def",   "traces/0.def",
                                        "traces/1.def", "traces/0.evt", "traces/1.evt"};
    NEED_SHARED(source, "data/mpi/otf2-pingpong-2");
    g_autofree char *folder = g_dir_make_tmp("trainshed-otf2-XXXXXX", NULL),
                    *inner = g_build_filename(folder, "traces", NULL);
    g_mkdir(inner, 0700);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *from = g_build_filename(source, files[i], NULL),
                        *to = g_build_filename(folder, files[i], NULL);
        g_autofree char *bytes = NULL;
        gsize length;
        ck_assert(g_file_get_contents(from, &bytes, &length, NULL));
        gboolean cut = strcmp(files[i], damaged[_i].file) == 0;
        if (!cut || damaged[_i].length > 0)
            ck_assert(g_file_set_contents(to, bytes, cut ? damaged[_i].length : (gssize)length, NULL));
    }
    g_autofree char *anchor = g_build_filename(folder, "traces.otf2", NULL);
    GError *error = NULL;
    ck_assert_msg(read_anchor(anchor, &error) == NULL, "%s", damaged[_i].file);
    ck_assert_msg(g_str_has_prefix(error->message, anchor), "%s", error->message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "libotf2");
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(folder, files[i], NULL);
        g_unlink(path);
    }
    g_rmdir(inner);
    g_rmdir(folder);
}
END_TEST

static OTF2_FlushType
before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    return OTF2_FLUSH;
}

static OTF2_TimeStamp
after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    return 0;
}

/* Two ranks in communicator 0; communicator 1 has a group that is not there. */
static void
write_definitions(OTF2_Archive *archive)
{
    OTF2_Archive_OpenDefFiles(archive);
    for (uint64_t l = 0; l < 2; l++)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, l));
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter *all = OTF2_Archive_GetGlobalDefWriter(archive);
    const uint64_t members[] = {0, 1};
    OTF2_GlobalDefWriter_WriteClockProperties(all, 1000, 0, 10, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(all, 0, "x");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t l = 0; l < 2; l++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(all, l, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(all, l, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 4, l);
    }
    OTF2_GlobalDefWriter_WriteGroup(all, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    2, members);
    OTF2_GlobalDefWriter_WriteGroup(all, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                    members);
    OTF2_GlobalDefWriter_WriteComm(all, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteComm(all, 1, 0, 7, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, all);
}

/* Rank 0 sends rightly, over communicator 1 and to member 2; rank 1 broadcasts from root 2. */
static void
write_archive(const char *folder)
{
    static const OTF2_FlushCallbacks flush = {before_flush, after_flush};
    OTF2_Archive *archive = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    ck_assert(archive != NULL);
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    OTF2_EvtWriter *first = OTF2_Archive_GetEvtWriter(archive, 0), *second = OTF2_Archive_GetEvtWriter(archive, 1);
    OTF2_EvtWriter_MpiSend(first, NULL, 1, 1, 0, 5, 64);
    OTF2_EvtWriter_MpiSend(first, NULL, 2, 1, 1, 5, 64);
    OTF2_EvtWriter_MpiSend(first, NULL, 3, 2, 0, 5, 64);
    OTF2_EvtWriter_MpiCollectiveEnd(second, NULL, 4, OTF2_COLLECTIVE_OP_BCAST, 0, 2, 0, 4);
    OTF2_Archive_CloseEvtWriter(archive, first);
    OTF2_Archive_CloseEvtWriter(archive, second);
    OTF2_Archive_CloseEvtFiles(archive);
    write_definitions(archive);
    OTF2_Archive_Close(archive);
}

START_TEST(all_problems_are_told)
{
    g_autofree char *folder = g_dir_make_tmp("trainshed-otf2-XXXXXX", NULL);
    write_archive(folder);
    g_autofree char *anchor = g_build_filename(folder, "traces.otf2", NULL);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    char *names[] = {anchor, NULL};
    TraceSource source = {.files = names, .n_files = 1, .problems = problems};
    GError *error = NULL;
    ck_assert(trace_read(NULL, &source, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 3 problems");
    static const char *const texts[] = {": rank 0, event 2: a send names a communicator that is not defined",
                                        ": rank 0, event 3: a send names a peer beyond its communicator",
                                        ": rank 1, event 1: a collective's root 2 is beyond its 2 members"};
    ck_assert_uint_eq(problems->len, G_N_ELEMENTS(texts));
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        ck_assert_msg(g_str_has_suffix(problems->pdata[i], texts[i]), "%s", (const char *)problems->pdata[i]);
    static const char *const files[] = {"traces/0.evt", "traces/1.evt", "traces/0.def", "traces/1.def",
                                        "traces",       "traces.def",   "traces.otf2"};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(folder, files[i], NULL);
        g_remove(path);
    }
    g_rmdir(folder);
}
END_TEST

#else

START_TEST(without_the_library)
{
    g_autofree char *path = support_save("\003BOTF2 and more");
    GError *error = NULL;
    ck_assert(read_anchor(path, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         ": is an OTF2 archive, and this build is without libotf2 (configure --with-otf2)");
    g_unlink(path);
}
END_TEST

#endif

int
main(void)
{
    Suite *suite = suite_create("otf2");
    TCase *cases = tcase_create("cases");
#ifdef HAVE_OTF2
    tcase_add_test(cases, ten_ranks);
    tcase_add_test(cases, sizes_and_groups);
    tcase_add_test(cases, ping_pong);
    tcase_add_test(cases, all_problems_are_told);
    tcase_add_loop_test(cases, damaged_archives, 0, G_N_ELEMENTS(damaged));
#else
    tcase_add_test(cases, without_the_library);
#endif
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
