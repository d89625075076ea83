/* Every row of the table in ../shared/data/kineto/README.md, and the files of ../shared/data/chakra that are not among
 * them; counts by independent scripts. */
#include "base/error.h"
#include "base/input.h"
#include "support.h"
#include "workload/execution_trace.h"
#include "workload/kineto.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Times in microseconds as the README prints them, six significant digits; -1 = the file does not say. */
static const struct {
    const char *file;
    int rank, world;
    unsigned n_events, n_complete, n_kernels, n_nccl;
    const char *kernel_us, *nccl_us;
    unsigned n_launched, n_unlaunched, n_flows_whole, n_flows, n_comms;
    int64_t base_ns, first_ns, last_ns;
    const char *nccl_names;  /* "NAME COUNT;..." */
    const char *collectives; /* "NAME CALLS IN OUT;..." */
    const char *streams, *syncs, *steps;
} rows[] = {
    {"../chakra/hta/control.json.gz",
     3,
     8,
     109123,
     74937,
     8568,
     60,
     "446813",
     "163535",
     8568,
     0,
     9450,
     24692,
     102,
     0,
     1661203462598738000,
     1661203463064013000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 18;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 42",
     "(none) 60 0 0",
     "21",
     "",
     "ProfilerStep#1009, ProfilerStep#1010, ProfilerStep#1011, ProfilerStep#1012, ProfilerStep#1013, "
     "ProfilerStep#1014"},
    {"../chakra/hta/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
     0,
     1,
     68692,
     45420,
     4350,
     0,
     "468154",
     "0",
     4350,
     0,
     7000,
     16234,
     45,
     0,
     1712195495502094565,
     1712195495997096942,
     "",
     "",
     "",
     "",
     "ProfilerStep#101, ProfilerStep#102, ProfilerStep#103, ProfilerStep#104, ProfilerStep#105"},
    {"../chakra/param/linear_kineto.json.gz",
     -1,
     -1,
     86859,
     61950,
     8716,
     0,
     "369343",
     "0",
     8716,
     0,
     10356,
     14515,
     0,
     0,
     1689180447559714000,
     1689180449563415000,
     "",
     "",
     "",
     "",
     ""},
    {"../chakra/param/resnet_kineto.json.gz",
     -1,
     -1,
     111631,
     75548,
     9628,
     0,
     "4.10314e+06",
     "0",
     9628,
     0,
     10113,
     25928,
     0,
     0,
     1689179597340751000,
     1689179613512803000,
     "",
     "",
     "",
     "",
     ""},
    {"dlrm-w8-kineto-rank0.json.gz",
     0,
     8,
     3290,
     2460,
     245,
     8,
     "6832",
     "5798",
     245,
     0,
     261,
     525,
     13,
     0,
     1694128201426674000,
     1694128201441178000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank1.json.gz",
     1,
     8,
     3424,
     2527,
     310,
     8,
     "12582",
     "11336",
     246,
     64,
     262,
     591,
     13,
     0,
     1694128201421205000,
     1694128201441156000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank2.json.gz",
     2,
     8,
     3268,
     2449,
     246,
     8,
     "4560",
     "3492",
     246,
     0,
     262,
     513,
     13,
     0,
     1694128201428092000,
     1694128201441158000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank3.json.gz",
     3,
     8,
     3474,
     2552,
     315,
     8,
     "11014",
     "9774",
     251,
     64,
     273,
     605,
     13,
     0,
     1694128201421900000,
     1694128201441262000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank4.json.gz",
     4,
     8,
     3310,
     2470,
     251,
     8,
     "7713",
     "6587",
     251,
     0,
     273,
     523,
     13,
     0,
     1694128201424049000,
     1694128201442071000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank5.json.gz",
     5,
     8,
     3250,
     2440,
     245,
     8,
     "7292",
     "6251",
     245,
     0,
     261,
     505,
     13,
     0,
     1694128201424195000,
     1694128201442036000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank6.json.gz",
     6,
     8,
     3272,
     2451,
     246,
     8,
     "4609",
     "3558",
     246,
     0,
     262,
     515,
     13,
     0,
     1694128201428080000,
     1694128201441218000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"dlrm-w8-kineto-rank7.json.gz",
     7,
     8,
     3250,
     2440,
     246,
     8,
     "2805",
     "1746",
     246,
     0,
     262,
     504,
     13,
     0,
     1694128201428718000,
     1694128201441276000,
     "ncclKernel_AllReduce_RING_LL_Sum_float 3;ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 5",
     "(none) 8 0 0",
     "84",
     "",
     "ProfilerStep#10"},
    {"hta-nccl-ddp-w2-rank0.json.gz",
     0,
     2,
     40573,
     26933,
     2700,
     21,
     "162532",
     "46876.5",
     2700,
     0,
     4317,
     9283,
     27,
     1711964646000000000,
     4458676416788066,
     4458677101161005,
     "ncclKernel_AllReduce_RING_LL_Sum_float 15;ncclKernel_Broadcast_RING_LL_Sum_int8_t 6",
     "allreduce 15 306684384 306684384;broadcast 6 638712 638712",
     "40",
     "",
     "ProfilerStep#4, ProfilerStep#5, ProfilerStep#6"},
    {"tracelens-mi300x-resnet-w8-rank0.json.gz",
     0,
     8,
     56451,
     49208,
     2995,
     17,
     "97255.8",
     "71516.5",
     2238,
     757,
     2817,
     4281,
     18,
     1767189312000000000,
     3743411222578748,
     3743411309479541,
     "ncclDevKernel_Generic 17",
     "(none) 5 0 0;allreduce 6 70137072 70137072;broadcast 6 58080 58080",
     "4",
     "",
     "ProfilerStep#15, ProfilerStep#16, ProfilerStep#17"},
    {"tracelens-b200-eager-w8-rank0.json.gz",
     0,
     8,
     24656,
     22355,
     768,
     1,
     "10862.9",
     "21.953",
     768,
     0,
     929,
     1372,
     1,
     1767189312000000000,
     1365627862757064,
     1365627950169927,
     "ncclDevKernel_AllGather_RING_LL 1",
     "_allgather_base 1 50272 402176",
     "7",
     "",
     ""},
    {"hta-sampled-w128-rank0.json.gz",
     0,
     128,
     4855,
     4811,
     1154,
     10,
     "606519",
     "396199",
     1154,
     0,
     0,
     0,
     8,
     0,
     1682725898079292000,
     1682725899309581000,
     "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 10",
     "(none) 10 0 0",
     "203;84",
     "",
     "ProfilerStep#551, ProfilerStep#552"},
    {"hta-sampled-w128-rank1.json.gz",
     1,
     128,
     4720,
     4676,
     1104,
     10,
     "651026",
     "379053",
     1104,
     0,
     0,
     0,
     8,
     0,
     1682725898079484000,
     1682725899318077000,
     "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t 10",
     "(none) 10 0 0",
     "203;84",
     "",
     "ProfilerStep#551, ProfilerStep#552"},
    {"hta-cpuonly-w300-rank34.json.gz",
     34,
     300,
     30,
     16,
     0,
     0,
     "0",
     "0",
     0,
     0,
     0,
     0,
     0,
     1719853884000000000,
     1212075529876817,
     1212076812903897,
     "",
     "",
     "",
     "",
     "ProfilerStep#551"},
    {"hta-alexnet-cudasync.json.gz",
     0,
     -1,
     1408,
     868,
     79,
     0,
     "10692",
     "0",
     79,
     0,
     139,
     361,
     0,
     0,
     1695835542514261000,
     1695835585939626000,
     "",
     "",
     "",
     "Context Sync 5;Stream Sync 16;Stream Wait Event 20",
     ""},
    {"hta-event-sync-multistream.json.gz",
     0,
     -1,
     149,
     57,
     3,
     0,
     "369",
     "0",
     3,
     0,
     8,
     39,
     0,
     0,
     1712867402348256000,
     1712867402368186000,
     "",
     "",
     "",
     "Context Sync 1;Event Sync 3;Stream Wait Event 1",
     ""},
    {"hta-event-sync.json.gz",
     0,
     -1,
     92,
     33,
     4,
     0,
     "49",
     "0",
     4,
     0,
     7,
     12,
     0,
     0,
     1707417525509335000,
     1707417525512489000,
     "",
     "",
     "",
     "Context Sync 1;Event Sync 2;Stream Sync 1",
     "ProfilerStep#100"},
    {"hta-mi250-minitoy.json.gz",
     -1,
     -1,
     220,
     113,
     14,
     0,
     "110.881",
     "0",
     14,
     0,
     20,
     25,
     0,
     1735632360000000000,
     4203669603187439,
     4203669612770525,
     "",
     "",
     "",
     "",
     "ProfilerStep#1, ProfilerStep#2"},
    {"hta-legacy-cats-rank1.json.gz",
     1,
     -1,
     54,
     13,
     4,
     0,
     "30",
     "0",
     4,
     0,
     4,
     4,
     0,
     0,
     1665536373729065000,
     1665536373730706000,
     "",
     "",
     "",
     "",
     ""},
    {"hta-no-rank.json.gz",
     -1,
     -1,
     2467,
     2467,
     0,
     0,
     "0",
     "0",
     0,
     0,
     0,
     0,
     12,
     0,
     1661203462598738000,
     1661203462674280000,
     "",
     "",
     "",
     "",
     "ProfilerStep#1009"},
    {"hta-simple-add-kineto.json.gz",
     0,
     -1,
     111,
     56,
     4,
     0,
     "16",
     "0",
     4,
     0,
     4,
     15,
     0,
     0,
     1689360788493697000,
     1689360808307984000,
     "",
     "",
     "",
     "",
     ""},
};

static const struct {
    const char *file, *schema;
    uint64_t n_nodes, first_id, last_id;
    unsigned n_comms;
    const char *comms; /* "NAME CALLS IN OUT;..." */
} et_rows[] = {
    {"../chakra/param/linear_et.json.gz", "1.0.1", 931, 1, 1187, 0, ""},
    {"../chakra/param/resnet_et.json.gz", "1.1.0-chakra.0.0.4", 14392, 1, 16860, 27,
     "allreduce 15 306684384 306684384;broadcast 6 638712 638712;wait 6 0 0"},
    {"../chakra/chakra/1.0.2-chakra.0.0.4.json", "1.0.2-chakra.0.0.4", 263, 1, 296, 20,
     "all_gather 10 40 80;wait 10 0 0"},
    {"dlrm-w8-et-rank0.json.gz", "1.0.1", 1675, 1, 2238, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 53760;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank1.json.gz", "1.0.1", 1675, 1, 2242, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 57856;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank2.json.gz", "1.0.1", 1675, 1, 2244, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 59904;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank3.json.gz", "1.0.1", 1675, 1, 2248, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 103936;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank4.json.gz", "1.0.1", 1675, 1, 2261, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 69632;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank5.json.gz", "1.0.1", 1675, 1, 2244, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 53760;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank6.json.gz", "1.0.1", 1675, 1, 2250, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 56832;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"dlrm-w8-et-rank7.json.gz", "1.0.1", 1675, 1, 2251, 13,
     "all_to_all 1 192 192;all_to_allv 4 64256 58368;allreduce 3 2485252 2485252;wait 5 0 0"},
    {"param-resnet-2gpu-et.json.gz", "1.1.0-chakra.0.0.4", 14392, 1, 16866, 27,
     "allreduce 15 306684384 306684384;broadcast 6 638712 638712;wait 6 0 0"},
    {"hta-simple-add-et.json.gz", "1.0.1", 38, 1, 58, 0, ""},
    {"param-pt2-et.json", "1.1.1-chakra.0.0.4", 20, 1, 29, 0, ""},
};

/* "NAME COUNT" of each, with bytes "NAME COUNT IN OUT"; of names with a stroke what follows it, without the count. */
static char *
spelled(const GArray *counts, gboolean bytes, gboolean bare)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < counts->len; i++) {
        const KinetoCount *row = &g_array_index(counts, KinetoCount, i);
        if (i > 0)
            g_string_append_c(text, ';');
        if (bare)
            g_string_append(text, strchr(row->name, '/') + 1);
        else
            g_string_append_printf(text, "%s %u", row->name, row->count);
        if (bytes)
            g_string_append_printf(text, " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, row->in_bytes, row->out_bytes);
    }
    return g_string_free(text, FALSE);
}

static void
expect_counts(const GArray *counts, gboolean bytes, gboolean bare, const char *expected)
{
    g_autofree char *text = spelled(counts, bytes, bare);
    ck_assert_str_eq(text, expected);
}

static void
expect_us(int64_t ns, const char *expected)
{
    g_autofree char *text = g_strdup_printf("%.6g", (double)ns / 1000);
    ck_assert_str_eq(text, expected);
}

START_TEST(a_file_has_the_counts_of_the_readme)
{
    g_autofree char *relative = g_strconcat("data/kineto/", rows[_i].file, NULL);
    NEED_SHARED(path, relative);
    g_autoptr(GError) error = NULL;
    g_autoptr(KinetoSurvey) s = kineto_survey(path, &error);
    ck_assert_msg(s != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(s->rank, rows[_i].rank);
    ck_assert_int_eq(s->world_size, rows[_i].world);
    ck_assert_uint_eq(s->n_events, rows[_i].n_events);
    ck_assert_uint_eq(s->n_complete, rows[_i].n_complete);
    ck_assert_uint_eq(s->n_kernels, rows[_i].n_kernels);
    ck_assert_uint_eq(s->n_nccl, rows[_i].n_nccl);
    expect_us(s->kernel_ns, rows[_i].kernel_us);
    expect_us(s->nccl_ns, rows[_i].nccl_us);
    ck_assert_uint_eq(s->n_launched, rows[_i].n_launched);
    ck_assert_uint_eq(s->n_unlaunched, rows[_i].n_unlaunched);
    ck_assert_uint_eq(s->n_flows_whole, rows[_i].n_flows_whole);
    ck_assert_uint_eq(s->n_flows, rows[_i].n_flows);
    ck_assert_uint_eq(s->n_comms, rows[_i].n_comms);
    ck_assert_int_eq(s->base_ns, rows[_i].base_ns);
    ck_assert_int_eq(s->first_ns, rows[_i].first_ns);
    ck_assert_int_eq(s->last_ns, rows[_i].last_ns);
    expect_counts(s->nccl_names, FALSE, FALSE, rows[_i].nccl_names);
    expect_counts(s->collectives, TRUE, FALSE, rows[_i].collectives);
    expect_counts(s->nccl_streams, FALSE, TRUE, rows[_i].streams);
    expect_counts(s->syncs, FALSE, FALSE, rows[_i].syncs);
    g_ptr_array_add(s->steps, NULL);
    g_autofree char *steps = g_strjoinv(", ", (char **)s->steps->pdata);
    ck_assert_str_eq(steps, rows[_i].steps);
}
END_TEST

START_TEST(an_execution_trace_has_the_counts_of_the_readme)
{
    g_autofree char *relative = g_strconcat("data/kineto/", et_rows[_i].file, NULL);
    NEED_SHARED(path, relative);
    g_autoptr(GError) error = NULL;
    uint64_t n_nodes = 0;
    g_autofree char *schema = NULL;
    g_autoptr(GArray) counts = execution_trace_survey(path, &n_nodes, &schema, &error);
    ck_assert_msg(counts != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(schema, et_rows[_i].schema);
    ck_assert_uint_eq(n_nodes, et_rows[_i].n_nodes);
    expect_counts(counts, TRUE, FALSE, et_rows[_i].comms);

    g_autoptr(ExecutionTrace) trace = execution_trace_read(path, NULL, &error);
    ck_assert_msg(trace != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(trace->comms->len, et_rows[_i].n_comms);
    ck_assert_uint_eq(trace->first_id, et_rows[_i].first_id);
    ck_assert_uint_eq(trace->last_id, et_rows[_i].last_id);
    ck_assert(trace->ids_unique);
}
END_TEST

/* Two runs of one model, one told by its kernels' arguments, the other by its tensors. */
START_TEST(kernel_arguments_and_tensors_give_the_same_bytes)
{
    NEED_SHARED(kineto, "data/kineto/hta-nccl-ddp-w2-rank0.json.gz");
    NEED_SHARED(et, "data/kineto/param-resnet-2gpu-et.json.gz");
    g_autoptr(GError) error = NULL;
    g_autoptr(KinetoSurvey) survey = kineto_survey(kineto, &error);
    g_autoptr(GArray) tensors = execution_trace_survey(et, NULL, NULL, &error);
    ck_assert_msg(survey != NULL && tensors != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(survey->collectives->len, 2);
    for (guint i = 0; i < 2; i++) {
        const KinetoCount *a = &g_array_index(survey->collectives, KinetoCount, i),
                          *b = &g_array_index(tensors, KinetoCount, i);
        ck_assert_str_eq(a->name, b->name);
        ck_assert_uint_eq(a->count, b->count);
        ck_assert_uint_eq(a->in_bytes, b->in_bytes);
        ck_assert_uint_eq(a->out_bytes, b->out_bytes);
    }
}
END_TEST

/* Counted with an independent script. */
START_TEST(copies_and_fills_are_counted_with_their_bytes)
{
    NEED_SHARED(path, "data/kineto/hta-nccl-ddp-w2-rank0.json.gz");
    g_autoptr(GError) error = NULL;
    g_autoptr(KinetoSurvey) survey = kineto_survey(path, &error);
    ck_assert_msg(survey != NULL, "%s", error ? error->message : "");
    expect_counts(survey->copies, TRUE, FALSE, "Memcpy DtoD 960 307323096 0;Memset 114 409141005 0");
}
END_TEST

START_TEST(element_sizes_are_torchs)
{
    static const struct {
        const char *dtype;
        unsigned size;
    } sizes[] = {{"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Double", 8},        {"Int", 4},        {"Long", 8},
                 {"Char", 1},  {"Byte", 1}, {"Bool", 1},     {"Float8_e4m3fn", 1}, {"Quaternion", 0}, {NULL, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        ck_assert_uint_eq(kineto_dtype_size(sizes[i].dtype), sizes[i].size);
}
END_TEST

/* The events of a file that has its last ']' after them, three times over. The path of a new file; the caller removes
 * it. */
static char *
three_times(const char *path)
{
    g_autoptr(GError) error = NULL;
    size_t length;
    g_autofree char *text = input_read_all(path, 1 << 26, &length, &error), *made = NULL;
    ck_assert_msg(text != NULL, "%s", error ? error->message : "");
    const char *first = strchr(strstr(text, "\"traceEvents\""), '[') + 1, *last = strrchr(text, ']');
    int fd = g_file_open_tmp("trainshed-kineto-XXXXXX", &made, NULL);
    FILE *out = fdopen(fd, "w");
    ck_assert_ptr_nonnull(out);
    fwrite(text, 1, (size_t)(first - text), out);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%s%.*s", i > 0 ? "," : "", (int)(last - first), first);
    fputs(last, out);
    ck_assert_int_eq(fclose(out), 0);
    return g_steal_pointer(&made);
}

/* About 100 MB. Counts of the single file by an independent script; all but the flow ids, which repeat, are thrice
 * that. In a process of its own, whose peak memory is told when it ends. */
START_TEST(a_file_of_100_MB_is_read_in_50_MB)
{
    NEED_SHARED(path, "data/chakra/hta/control.json.gz");
    g_autofree char *made = three_times(path);
    pid_t child = fork();
    if (child == 0) {
        g_autoptr(KinetoSurvey) s = kineto_survey(made, NULL);
        _exit(!(s != NULL && s->rank == 3 && s->world_size == 8 && s->n_events == 3 * 109123 &&
                s->n_complete == 3 * 74937 && s->n_kernels == 3 * 8568 && s->kernel_ns == INT64_C(3) * 446813000 &&
                s->n_nccl == 3 * 60 && s->nccl_ns == INT64_C(3) * 163535000 && s->n_unlaunched == 0 &&
                s->n_comms == 3 * 102 && s->n_flows_whole == 9450 && s->n_flows == 24692 &&
                s->first_ns == INT64_C(1661203462598738000) && s->last_ns == INT64_C(1661203463064013000)));
    }
    struct rusage usage;
    int status = -1;
    ck_assert_int_eq(wait4(child, &status, 0, &usage), child);
    g_remove(made);
    ck_assert_int_eq(status, 0);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow counts too */
    ck_assert_int_le(usage.ru_maxrss, 50 * 1000);
#endif
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("kineto-survey");
    TCase *tc = tcase_create("counts");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, a_file_has_the_counts_of_the_readme, 0, G_N_ELEMENTS(rows));
    tcase_add_loop_test(tc, an_execution_trace_has_the_counts_of_the_readme, 0, G_N_ELEMENTS(et_rows));
    tcase_add_test(tc, kernel_arguments_and_tensors_give_the_same_bytes);
    tcase_add_test(tc, copies_and_fills_are_counted_with_their_bytes);
    tcase_add_test(tc, element_sizes_are_torchs);
    tcase_add_test(tc, a_file_of_100_MB_is_read_in_50_MB);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
