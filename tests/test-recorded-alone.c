/* test-recorded-alone.c - the recorded DLRM step, replayed by the executor, keeps the record's time
 *
 * The record is read a second time here, with nothing but the JSON reader: begin and end of each rank's NCCL kernels,
 * and the first and last event. Source: facebookresearch/param @ 1e115ffc62 (MIT), copied under traces/dlrm-w8. */
#include "base/json.h"
#include "cluster/simulation.h"
#include "support.h"
#include "workload/trace_format.h"

#include <stdio.h>
#include <string.h>

enum { RANKS = 8, KERNELS = 8 };

typedef struct {
    int64_t ts_ns, end_ns;
} Span;

typedef struct {
    Span kernel[KERNELS];
    uint32_t n_kernels;
    Span all; /* first start, last end of complete events that are not the profiler's own spans */
} Record;

/* One event: a flat object but for args. TRUE where it is a complete one with a time. */
static gboolean
read_event(JsonReader *json, char name[64], char cat[32], Span *span)
{
    JsonToken key, value;
    gboolean complete = FALSE;
    int64_t duration = -1;
    name[0] = cat[0] = '\0';
    while (json_next(json, &key, NULL) && key.kind == JSON_KEY) {
        g_autofree char *k = g_strdup(key.text);
        ck_assert(json_next(json, &value, NULL));
        if (strcmp(k, "ph") == 0)
            complete = strcmp(value.text, "X") == 0;
        else if (strcmp(k, "name") == 0)
            g_strlcpy(name, value.text, 64);
        else if (strcmp(k, "cat") == 0)
            g_strlcpy(cat, value.text, 32);
        else if (strcmp(k, "ts") == 0)
            ck_assert(json_decimal(value.text, 3, &span->ts_ns));
        else if (strcmp(k, "dur") == 0)
            ck_assert(json_decimal(value.text, 3, &duration));
        else
            ck_assert(json_skip(json, &value, NULL));
    }
    span->end_ns = span->ts_ns + duration;
    return complete && duration >= 0;
}

static void
note(Record *record, const char *name, const char *cat, Span span)
{
    if (strcmp(cat, "Trace") == 0)
        return;
    if (record->all.ts_ns == 0 || span.ts_ns < record->all.ts_ns)
        record->all.ts_ns = span.ts_ns;
    record->all.end_ns = MAX(record->all.end_ns, span.end_ns);
    if (strcmp(cat, "kernel") != 0 || !g_str_has_prefix(name, "ncclKernel"))
        return;
    ck_assert_uint_lt(record->n_kernels, KERNELS);
    uint32_t at = record->n_kernels++;
    for (; at > 0 && record->kernel[at - 1].ts_ns > span.ts_ns; at--)
        record->kernel[at] = record->kernel[at - 1];
    record->kernel[at] = span;
}

static void
read_record(const char *path, Record *record)
{
    g_autoptr(JsonReader) json = json_open(path, NULL);
    ck_assert_ptr_nonnull(json);
    JsonToken token;
    do
        ck_assert(json_next(json, &token, NULL));
    while (token.kind != JSON_KEY || strcmp(token.text, "traceEvents") != 0);
    ck_assert(json_next(json, &token, NULL) && token.kind == JSON_ARRAY_BEGIN);
    while (json_next(json, &token, NULL) && token.kind == JSON_OBJECT_BEGIN) {
        char name[64], cat[32];
        Span span = {0};
        if (read_event(json, name, cat, &span))
            note(record, name, cat, span);
    }
}

typedef struct {
    SimTime end_ps[KERNELS * 16];
    uint32_t n;
    SimTime iteration_end_ps[16], iteration_start_ps[16];
    uint32_t n_iterations;
} Replay;

static void
saw_collective(void *owner, const CollectiveRecord *collective)
{
    Replay *replay = owner;
    replay->end_ps[replay->n++] = collective->end_ps;
}

static void
saw_iteration(void *owner, const IterationRecord *iteration)
{
    Replay *replay = owner;
    replay->iteration_start_ps[replay->n_iterations] = iteration->start_ps;
    replay->iteration_end_ps[replay->n_iterations++] = iteration->end_ps;
}

static Workload *
read_step(void)
{
    char *kineto[RANKS + 1] = {NULL}, *et[RANKS + 1] = {NULL};
    for (int r = 0; r < RANKS; r++) {
        kineto[r] = g_strdup_printf("%s/traces/dlrm-w8/dlrm-w8-kineto-rank%d.json.gz", support_source("."), r);
        et[r] = g_strdup_printf("%s/traces/dlrm-w8/dlrm-w8-et-rank%d.json.gz", support_source("."), r);
    }
    TraceSource source = {.files = kineto, .n_files = RANKS, .execution_files = et, .n_execution_files = RANKS};
    g_autoptr(GError) error = NULL;
    Workload *workload = trace_read("kineto", &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    for (int r = 0; r < RANKS; r++) {
        g_free(kineto[r]);
        g_free(et[r]);
    }
    return workload;
}

/* Eight GPUs on one switch that is as good as infinitely fast. */
static Fabric *
fast_fabric(uint32_t *nodes)
{
    Fabric *fabric = fabric_new();
    Node node = node_default();
    node.name = "switch";
    node.kind = NODE_LEAF;
    uint32_t hub = fabric_add_node(fabric, &node, NULL);
    for (uint32_t i = 0; i < RANKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "gpu%u", i);
        node.name = name;
        node.kind = NODE_GPU;
        Link link = link_default();
        link.src = nodes[i] = fabric_add_node(fabric, &node, NULL);
        link.dst = hub;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = 1e16;
        ck_assert_uint_ne(fabric_add_cable(fabric, &link, NULL), INDEX_NONE);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

static void
replay(const char *model, uint32_t iterations, Replay *seen)
{
    uint32_t nodes[RANKS];
    g_autoptr(Fabric) fabric = fast_fabric(nodes);
    g_autoptr(Workload) workload = read_step();
    JobSetup job = {.name = "dlrm",
                    .workload = workload,
                    .nodes = nodes,
                    .iterations = iterations,
                    .until = INDEX_NONE,
                    .scale_bytes = 1,
                    .compute_scale = 1,
                    .collectives = collective_config_default()};
    SimulationSetup setup = {.model = model,
                             .network = network_config_default(),
                             .fabric = fabric,
                             .jobs = &job,
                             .n_jobs = 1,
                             .only_job = INDEX_NONE,
                             .observer = {.owner = seen, .collective = saw_collective, .iteration = saw_iteration}};
    SimulationResult result;
    g_autoptr(GError) error = NULL;
    *seen = (Replay){0};
    ck_assert_msg(simulation_run(&setup, &result, &error), "%s", error ? error->message : "");
    simulation_result_clear(&result);
}

START_TEST(each_nccl_kernel_ends_within_20_us_of_its_record)
{
    static Record record[RANKS];
    int64_t origin_ns = INT64_MAX, last_ns = 0;
    for (int r = 0; r < RANKS; r++) {
        g_autofree char *path =
            g_strdup_printf("%s/traces/dlrm-w8/dlrm-w8-kineto-rank%d.json.gz", support_source("."), r);
        read_record(path, &record[r]);
        ck_assert_uint_eq(record[r].n_kernels, KERNELS);
        origin_ns = MIN(origin_ns, record[r].all.ts_ns);
        last_ns = MAX(last_ns, record[r].all.end_ns);
    }
    Replay seen;
    replay("recorded", 1, &seen);
    ck_assert_uint_eq(seen.n, KERNELS);
    double worst_us = 0;
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < KERNELS; k++) {
            double off_us = (double)(seen.end_ps[k] / 1000 - (record[r].kernel[k].end_ns - origin_ns)) / 1e3;
            worst_us = MAX(worst_us, ABS(off_us));
            ck_assert_msg(ABS(off_us) <= 20, "rank %d kernel %d ends %.3f us off", r, k, off_us);
        }
    double span_ms = (double)(seen.iteration_end_ps[0] - seen.iteration_start_ps[0]) / (double)PS_PER_MS;
    double record_ms = (double)(last_ns - origin_ns) / 1e6;
    fprintf(stderr, "# worst kernel end %.3f us off; replay %.3f ms, record %.3f ms\n", worst_us, span_ms, record_ms);
    ck_assert_double_eq_tol(span_ms, 20.82, 0.005 * 20.82);
    ck_assert_double_eq_tol(span_ms, record_ms, 0.005 * record_ms);
}
END_TEST

/* The transfers on the critical path are what an infinitely fast network takes off: at most the sum of all eight, 217
 * us. */
START_TEST(an_infinitely_fast_network_is_shorter_by_the_transfers)
{
    Replay recorded, fast;
    replay("recorded", 1, &recorded);
    replay("fluid", 1, &fast);
    double saved_us = (double)(recorded.iteration_end_ps[0] - fast.iteration_end_ps[0]) / (double)PS_PER_US;
    fprintf(stderr, "# an infinitely fast network saves %.3f us\n", saved_us);
    ck_assert_double_gt(saved_us, 0);
    ck_assert_double_le(saved_us, 217);
}
END_TEST

START_TEST(recorded_offsets_apply_to_the_first_iteration_only)
{
    Replay seen;
    replay("recorded", 10, &seen);
    ck_assert_uint_eq(seen.n_iterations, 10);
    SimTime first = seen.iteration_end_ps[0] - seen.iteration_start_ps[0];
    SimTime steady = (seen.iteration_end_ps[9] - seen.iteration_end_ps[4]) / 5;
    fprintf(stderr, "# first iteration %.3f ms, steady %.3f ms\n", (double)first / 1e9, (double)steady / 1e9);
    for (int i = 3; i < 10; i++)
        ck_assert_int_eq(seen.iteration_end_ps[i] - seen.iteration_end_ps[i - 1], steady);
    ck_assert_int_lt(steady, first);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("recorded-alone");
    TCase *tc = tcase_create("recorded-alone");
    tcase_add_test(tc, each_nccl_kernel_ends_within_20_us_of_its_record);
    tcase_add_test(tc, an_infinitely_fast_network_is_shorter_by_the_transfers);
    tcase_add_test(tc, recorded_offsets_apply_to_the_first_iteration_only);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
