/* test-all-data.c - every file of ../shared/data is read by a named format, or refused for the reason that stands here
 *
 * The first row of the table that fits a file says what becomes of it; a file that fits none fails, and so does a row
 * without a file. */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "base/input.h"
#include "collective/astra_time.h"
#include "collective/msccl.h"
#include "fabric/topology_format.h"
#include "workload/execution_trace.h"
#include "workload/job_log.h"
#include "workload/kineto.h"
#include "workload/measured.h"
#include "workload/trace_format.h"

#include <string.h>

typedef enum {
    TOPOLOGY,  /* read; the format's name */
    TRACE,     /* read by itself */
    RANKS,     /* a file of a trace of several; the detail is its pattern in the same folder */
    ALONE,     /* a Kineto file, or an export, that `trace info` tells of; why it is not replayed by itself */
    EXECUTION, /* the execution trace beside a Kineto file */
    JOBS,
    MEASURED,
    MSCCL,
    SYSTEM,       /* ASTRA-sim's system.json */
    BESIDE,       /* no input by itself: given beside another file */
    NOT_TOPOLOGY, /* refused by the format its content shows: why */
    NOT_TRACE,
    UNKNOWN, /* no reader takes it: why there is none */
    TEXT     /* about the data */
} Fate;

static const struct {
    const char *pattern; /* of the path below ../shared/data */
    Fate fate;
    const char *detail;
} fates[] = {
    {"*README.md", TEXT, "what the files are"},
    {"*/LICEN*", TEXT, "licence"},
    {"*.py", TEXT, "made the files beside it"},
    /* chakra/ */
    {"chakra/astra-sim/custom_ring_allreduce_8npus_1MB/*.et", RANKS, "custom_allreduce.*.et"},
    {"chakra/astra-sim/microbenchmarks/all_gather*.et", RANKS, "all_gather.*.et"},
    {"chakra/astra-sim/microbenchmarks/all_reduce*.et", RANKS, "all_reduce.*.et"},
    {"chakra/astra-sim/microbenchmarks/all_to_all*.et", RANKS, "all_to_all.*.et"},
    {"chakra/astra-sim/microbenchmarks/reduce_scatter*.et", RANKS, "reduce_scatter.*.et"},
    {"chakra/astra-sim/text-workloads/*.txt", TRACE, "astra-sim"},
    {"*.tar.gz", UNKNOWN, "archive: its files are read, test-chakra.c unpacks it"},
    {"chakra/chakra/1.0.2-chakra.0.0.4.json", EXECUTION, NULL},
    {"chakra/chakra/chakra.0.et.gz", NOT_TRACE, ": nodes wait for each other in a circle: "},
    {"chakra/chakra/*chakra.0.json*", NOT_TRACE, ": COMM_COLL_NODE has no attribute comm_type"},
    {"chakra/hta/benchmark_simple_add_et.json.gz", EXECUTION, NULL},
    {"chakra/hta/control.json.gz", ALONE, " is of a job of 8 ranks, but only 1 of their files are given; missing: 0, "},
    {"chakra/hta/nccl_data.json.gz", ALONE,
     " is of a job of 2 ranks, but only 1 of their files are given; missing: 1. "},
    {"chakra/hta/sampled_rank-*.json.gz", ALONE, " is of a job of 128 ranks, but only 1 of their files are given"},
    {"chakra/hta/*.json.gz", TRACE, "kineto"},
    {"chakra/param/*_et.json.gz", EXECUTION, NULL},
    {"chakra/param/*_kineto.json.gz", TRACE, "kineto"},
    /* fabric/ */
    {"fabric/batfish-*.json", TOPOLOGY, "batfish"},
    {"fabric/containerlab-*.yml", TOPOLOGY, "containerlab"},
    {"fabric/ibnetdiscover-*.txt", TOPOLOGY, "ibnetdiscover"},
    {"fabric/ibsim-net*.txt", TOPOLOGY, "ibnetdiscover"},
    {"fabric/ibstat-*.txt", UNKNOWN, "ports of hosts, no links: ibnetdiscover-cs8500-faked.txt has the same hosts"},
    {"fabric/lldp-*.txt", TOPOLOGY, "lldp"},
    {"fabric/nccl-aws-g5-48xl-topo.xml", NOT_TOPOLOGY, ":14: pci: needs the attribute class, a gpu or a nic: "},
    {"*nc*azure?ncv4-graph.xml", NOT_TOPOLOGY, ":1: graphs: these are rings and trees that NCCL chose, no topology; "},
    {"fabric/*ccl-*.xml", TOPOLOGY, "nccl"},
    {"fabric/netq-computeNodes.json", UNKNOWN, "GPUs of NetQ's trays: their links are in netq-topologyGraph.json"},
    {"fabric/netq-topologyGraph.json", TOPOLOGY, "netq"},
    {"fabric/nvidia-smi-topo-*.txt", TOPOLOGY, "nvidia-smi"},
    {"fabric/slurm-topology-*.conf", TOPOLOGY, "slurm"},
    {"fabric/sonic-lab-devices.csv", BESIDE, "sonic-lab-links.csv"},
    {"fabric/sonic-lab-links.csv", TOPOLOGY, "sonic-links"},
    {"fabric/sonic-minigraph-dpu.xml", TOPOLOGY, "sonic-minigraph"},
    {"fabric/topograph-nvl72.yaml", UNKNOWN, "a model of topograph's own tests: what it makes of it is Slurm's format"},
    /* goal/, mpi/, peers/ */
    {"goal/*.bin", TRACE, "goal"},
    {"*.goal", TRACE, "goal"},
    {"*.goal.gz", TRACE, "goal"},
    {"mpi/dumpi-*.bin", NOT_TRACE, ": DUMPI's binary is not read; turn it into text"},
    {"mpi/dumpi-*.meta", NOT_TRACE, ": 4 ranks, in files dumpi-2019.05.22.11.54.43-0000.bin to "},
    {"mpi/liballprof-*", RANKS, "rank*.txt.gz"},
#ifdef HAVE_OTF2
    {"mpi/otf2-*/traces.otf2", TRACE, "otf2"},
#else
    {"mpi/otf2-*/traces.otf2", NOT_TRACE, ": is an OTF2 archive, and this build is without libotf2"},
#endif
    {"mpi/otf2-*", UNKNOWN, "of an archive, which is given by its anchor"},
    {"mpi/smpi-ti-32/*", RANKS, "ti_trace*.txt"},
    {"mpi/smpi-ti-actions/*.txt", TRACE, "simgrid-ti"},
    {"peers/astra-sim/memory/none.json", UNKNOWN, "ASTRA-sim's remote memory: switched off in it"},
    {"peers/astra-sim/network/*.yml", TOPOLOGY, "astra-sim"},
    {"peers/astra-sim/system/*.json", SYSTEM, NULL},
    {"peers/astra-sim/workload/*.et", TRACE, "chakra"},
    {"peers/simai/microAllReduce.txt", TRACE, "simai"},
    /* htsim/ */
    {"htsim/uet_a2a.cm", NOT_TRACE, ": 3600 connections and 3360 triggers are announced, 240 and 0 found"},
    {"*htsim/*.cm", TRACE, "htsim"},
    {"*htsim/*.cm.gz", TRACE, "htsim"},
    {"htsim/*.tm", TRACE, "htsim"},
    {"htsim/*.topo", TOPOLOGY, "htsim"},
    /* jobs/ */
    {"jobs/acme-cluster-summary.csv", UNKNOWN, "sums of whole clusters, no jobs"},
    {"jobs/acme-readme-*.csv", JOBS, "acme"},
    {"jobs/alibaba-gpu-v2025-dlrm.csv.gz", JOBS, "dlrm-2025"},
    {"jobs/alibaba-spot2026-node-info.csv", UNKNOWN, "nodes, no jobs"},
    {"jobs/gavel-*.trace", JOBS, "gavel"},
    {"jobs/gcm-sacct-*.txt", JOBS, "sacct"},
    {"jobs/helios-readme-sample.csv", JOBS, "helios"},
    {"jobs/openb-node-list-all.csv", UNKNOWN, "nodes, no jobs"},
    {"jobs/openb-pod-list-default.csv.gz", JOBS, "openb"},
    {"jobs/pai-headers.txt", UNKNOWN, "names of columns, no jobs"},
    {"jobs/pai-minibatch-job1.csv", UNKNOWN, "times of iterations of one job"},
    {"jobs/pai-philly-runtime.csv.gz", JOBS, "runtimes"},
    {"jobs/philly-readme-sample.json", JOBS, "philly"},
    {"jobs/swf-*", JOBS, "swf"},
    {"jobs/tiresias-60-job.csv", JOBS, "tiresias"},
    /* kineto/ */
    {"kineto/chakra-feeder-rank0.et.gz", NOT_TRACE, ": nodes wait for each other in a circle: "},
    {"kineto/chakra-json-*", NOT_TRACE, ": COMM_COLL_NODE has no attribute comm_type"},
    {"kineto/dlrm-w8-et-*", EXECUTION, NULL},
    {"kineto/dlrm-w8-kineto-*", ALONE, " is of a job of 8 ranks, but only 1 of their files are given"},
    {"kineto/hta-cpuonly-*", ALONE, ": no kernels, copies or fills: no device work was recorded"},
    {"kineto/hta-legacy-cats-rank1.json.gz", ALONE, " is of a job of 2 ranks, but only 1 of their files are given"},
    {"kineto/hta-nccl-ddp-w2-*", ALONE, " is of a job of 2 ranks, but only 1 of their files are given"},
    {"kineto/hta-no-rank.json.gz", ALONE, ": distributedInfo names no rank, so it is not known whose trace this is"},
    {"kineto/hta-sampled-w128-*", ALONE, " is of a job of 128 ranks, but only 1 of their files are given"},
    {"kineto/tracelens-*-w8-*", ALONE, " is of a job of 8 ranks, but only 1 of their files are given"},
    {"kineto/*-et.json*", EXECUTION, NULL},
    {"kineto/*.json.gz", TRACE, "kineto"},
    /* measured/ */
    {"measured/*.log", MEASURED, NULL},
    {"measured/published/*.csv", UNKNOWN, "figures out of papers: what tests compare with, no log of a tool"},
    /* msccl/, nccl-topo/, nsys/ */
    {"msccl/*.xml", MSCCL, NULL},
    {"nccl-topo/aws_g5.48xl-topo.xml", NOT_TOPOLOGY, ":14: pci: needs the attribute class, a gpu or a nic: "},
    {"nccl-topo/*.xml", TOPOLOGY, "nccl"},
    {"nsys/h100_2gpu_1s.sqlite.gz", TRACE, "nsys"},
    {"nsys/mfu_2gpu_*.sqlite.gz", ALONE, ": the export holds no payloads of NVTX ranges, so the bytes of all_to_all ("},
    /* simai/ */
    {"simai/aicb_G13B-M1-C0?_*.txt", NOT_TRACE, ":3: found the collective \"BROADCAST\", expected NONE, ALLREDUCE, "},
    {"simai/aicb_L7B-M1-C04_*.txt", NOT_TRACE, ":3: found the collective \"BROADCAST\", expected NONE, ALLREDUCE, "},
    {"simai/aicb_L65B-M1-C05_*.txt", NOT_TRACE, ":2: announces 839 layers, but the file has 33"},
    {"simai/aicb_aiob_Example.txt", UNKNOWN, "times of kernels, from which AICB makes a workload"},
    {"simai/aicb_*.csv", UNKNOWN, "what a GPU of AICB's own runs: its simulator reads the texts beside it"},
    {"simai/aicb_*.txt", TRACE, "astra-sim"},
    {"simai/simai_microAllReduce.txt", TRACE, "simai"},
    {"simai/simai_workload_analytical.txt", TRACE, "simai"},
    {"simai/simai_*", UNKNOWN, "settings and bus bandwidths of SimAI's own models"},
    {"simai/topo/gen_*.txt", TOPOLOGY, "ns3"},
    /* wan/ */
    {"wan/azure-region-coordinates.json", UNKNOWN, "places without links: rtt-azure-regions.csv has their distances"},
    {"wan/b4-teavar.json", TOPOLOGY, "node-link"},
    {"wan/rtt-azure-regions.csv", TOPOLOGY, "rtt"},
    {"wan/rtt-ibmcloud-network-latency.md", TOPOLOGY, "latency-tables"},
    {"wan/sndlib-*.txt", TOPOLOGY, "sndlib"},
    {"wan/zoo-*.gml", TOPOLOGY, "gml"},
    {"wan/zoo-*.graphml*", TOPOLOGY, "zoo"},
};

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Paths below root, of files. */
static void
collect(const char *root, const char *below, GPtrArray *files)
{
    g_autofree char *folder = g_build_filename(root, below, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    ck_assert_ptr_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = *below != '\0' ? g_build_filename(below, name, NULL) : g_strdup(name);
        g_autofree char *full = g_build_filename(root, path, NULL);
        if (g_file_test(full, G_FILE_TEST_IS_DIR))
            collect(root, path, files);
        else
            g_ptr_array_add(files, g_steal_pointer(&path));
    }
}

static void
expect_refusal(const char *file, const GError *error, const char *why)
{
    ck_assert_msg(error != NULL, "%s is read, but the table says: %s", file, why);
    ck_assert_msg(strstr(error->message, why) != NULL, "%s: refused with \"%s\", not with \"%s\"", file, error->message,
                  why);
}

static void
check_topology(const char *file, const char *path, const char *name, const char *refused)
{
    static const TopologyOptions options = {
        .default_rate_Bps = 1e9, .nvlink_rate_Bps = 25e9, .default_latency_ps = 1000, .detour = 1};
    g_autoptr(GError) error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, NULL, &error);
    if (refused != NULL) {
        expect_refusal(file, error, refused);
        return;
    }
    ck_assert_msg(fabric != NULL, "%s: %s", file, error != NULL ? error->message : "");
    char head[65536 + 1];
    g_autoptr(Input) input = input_open(path, NULL);
    size_t length = 0;
    for (gssize n; (n = input_read(input, head + length, 65536 - length, NULL)) > 0;)
        length += (size_t)n;
    head[length] = '\0';
    size_t n_formats, first = 0;
    const TopologyFormat *const *formats = topology_formats(&n_formats);
    while (first < n_formats && !formats[first]->recognise(head, length))
        first++;
    ck_assert_msg(first < n_formats && strcmp(formats[first]->name, name) == 0, "%s: known as %s, not %s", file,
                  first < n_formats ? formats[first]->name : "nothing", name);
}

static void
check_trace(const char *file, const char *path, const char *name, const char *refused)
{
    char *files[] = {(char *)(uintptr_t)path, NULL};
    const TraceFormat *format = trace_format_recognise(path, NULL);
    ck_assert_msg(format != NULL, "%s: no trace format knows it", file);
    gboolean says_ranks = strcmp(format->name, "astra-sim") != 0;
    TraceSource source = {
        .files = files, .n_files = 1, .ranks = says_ranks ? 0 : 64, .model_parallel = says_ranks ? 0 : 8};
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = format->read(&source, &error);
    if (refused != NULL) {
        expect_refusal(file, error, refused);
        return;
    }
    ck_assert_msg(workload != NULL, "%s: %s", file, error != NULL ? error->message : "");
    ck_assert_msg(strcmp(format->name, name) == 0, "%s: known as %s, not %s", file, format->name, name);
}

/* Told by itself, refused as a whole. */
static void
check_alone(const char *file, const char *path, const char *refused)
{
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    const TraceFormat *format = trace_format_recognise(path, NULL);
    ck_assert_msg(format != NULL && format->survey != NULL, "%s: nothing tells of it", file);
    g_autoptr(GPtrArray) surveys = g_ptr_array_new_with_free_func((GDestroyNotify)kineto_survey_free);
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = format->survey(&source, surveys, &error);
    ck_assert_msg(surveys->len > 0, "%s: %s", file, error != NULL ? error->message : "");
    expect_refusal(file, error, refused);
}

/* All files of its trace together; once, with the first. */
static void
check_ranks(const char *file, const char *path, const char *pattern)
{
    g_autofree char *folder = g_path_get_dirname(path);
    const char *patterns[] = {pattern, NULL};
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) files = trace_pair(folder, patterns, &error);
    ck_assert_msg(files != NULL, "%s: %s", file, error != NULL ? error->message : "");
    gboolean part = FALSE;
    for (size_t i = 0; files[i] != NULL; i++)
        part = part || strcmp(files[i], path) == 0;
    ck_assert_msg(part, "%s: is no part of %s", file, pattern);
    if (strcmp(files[0], path) != 0)
        return;
    TraceSource source = {.files = files, .n_files = g_strv_length(files)};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s: %s", file, error != NULL ? error->message : "");
}

static void
check_other(const char *file, const char *path, Fate fate, const char *detail)
{
    GError *error = NULL;
    gboolean good = FALSE;
    if (fate == EXECUTION) {
        g_autoptr(ExecutionTrace) trace = execution_trace_read(path, NULL, &error);
        good = trace != NULL;
    } else if (fate == JOBS) {
        g_autoptr(JobLog) log = job_log_read(path, NULL, &error);
        good = log != NULL && strcmp(log->format, detail) == 0;
    } else if (fate == MEASURED) {
        g_autoptr(Measured) measured = measured_read(path, &error);
        good = measured != NULL;
    } else if (fate == MSCCL) {
        g_autoptr(Msccl) msccl = msccl_read(path, &error);
        good = msccl != NULL;
    } else if (fate == SYSTEM) {
        g_autoptr(AstraSystem) system = astra_system_read(path, &error);
        good = system != NULL;
    }
    ck_assert_msg(good, "%s: %s", file, error != NULL ? error->message : "is of another format");
}

/* A file beside another: read with it. */
static void
check_beside(const char *path, const char *main_file)
{
    g_autofree char *folder = g_path_get_dirname(path), *main_path = g_build_filename(folder, main_file, NULL);
    const char *companions[] = {path, NULL};
    const TopologyOptions options = {
        .default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1, .companions = companions};
    g_autoptr(Fabric) fabric = topology_read(main_path, NULL, &options, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
}

/* No reader takes it for one of its own. */
static void
check_unknown(const char *file, const char *path)
{
    ck_assert_msg(!topology_known(path), "%s: a topology format knows it", file);
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .ranks = 8};
    g_autoptr(Workload) workload = trace_read(NULL, &source, NULL);
    ck_assert_msg(workload == NULL, "%s: read as a trace", file);
    g_autoptr(JobLog) log = job_log_read(path, NULL, NULL);
    ck_assert_msg(log == NULL, "%s: known as a job log, %s", file, log != NULL ? log->format : "");
    g_autoptr(Measured) measured = measured_read(path, NULL);
    ck_assert_msg(measured == NULL, "%s: known as measurements", file);
}

static void
check_file(const char *file, const char *path, Fate fate, const char *detail)
{
    switch (fate) {
    case TOPOLOGY:
    case NOT_TOPOLOGY:
        check_topology(file, path, detail, fate == NOT_TOPOLOGY ? detail : NULL);
        break;
    case TRACE:
    case NOT_TRACE:
        check_trace(file, path, detail, fate == NOT_TRACE ? detail : NULL);
        break;
    case RANKS:
        check_ranks(file, path, detail);
        break;
    case ALONE:
        check_alone(file, path, detail);
        break;
    case BESIDE:
        check_beside(path, detail);
        break;
    case UNKNOWN:
        check_unknown(file, path);
        break;
    case TEXT:
        break;
    default:
        check_other(file, path, fate, detail);
    }
}

START_TEST(every_file_has_its_fate)
{
    NEED_SHARED(root, "data");
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    collect(root, "", files);
    g_ptr_array_sort(files, by_text);
    ck_assert_uint_gt(files->len, 400);
    gboolean used[G_N_ELEMENTS(fates)] = {FALSE};
    for (guint f = 0; f < files->len; f++) {
        const char *file = files->pdata[f];
        size_t row = 0;
        while (row < G_N_ELEMENTS(fates) && !g_pattern_match_simple(fates[row].pattern, file))
            row++;
        ck_assert_msg(row < G_N_ELEMENTS(fates), "%s: no row says what becomes of it", file);
        used[row] = TRUE;
        g_autofree char *path = g_build_filename(root, file, NULL);
        check_file(file, path, fates[row].fate, fates[row].detail);
    }
    for (size_t row = 0; row < G_N_ELEMENTS(fates); row++)
        ck_assert_msg(used[row], "no file fits the row %s", fates[row].pattern);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("all data");
    TCase *tcase = tcase_create("all data");
    tcase_set_timeout(tcase, 60); /* every file of the data */
    tcase_add_test(tcase, every_file_has_its_fate);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
