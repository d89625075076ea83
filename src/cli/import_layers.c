/* import_layers.c - 'trainshed import astra-sim' and 'import simai': workload, network and system become a scenario
 *
 * The files stay where they are: the scenario names them. Of system.json its algorithms (where there is one dimension),
 * the cost of a reduction, three passes over the chunk at local-mem-bw, and its roofline are taken.
 * The workload is read and checked before anything is written. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/import.h"
#include "collective/astra_time.h"
#include "fabric/topology_format.h"
#include "workload/trace_format.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    gboolean simai;
    char *output, *network, *system, *groups, *model, *format, *peak, *memory_bandwidth;
    int iterations, replicate; /* replicate: 0 = not given */
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_free(options->network);
    g_free(options->system);
    g_free(options->groups);
    g_free(options->model);
    g_free(options->format);
    g_free(options->peak);
    g_free(options->memory_bandwidth);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static const char *
own_name(const Options *options)
{
    return options->simai ? "simai" : "astra-sim";
}

/* Ranks of the network, and those of its innermost dimension (0 = not known); where it has several, sizes gets "8x4".
 * FALSE with an error. */
static gboolean
look_at_network(const Options *options, uint32_t *ranks, uint32_t *inner, uint32_t *dimensions, GString *sizes,
                GError **error)
{
    *inner = *dimensions = 0;
    g_autoptr(Fabric) fabric = topology_read(options->network, options->simai ? "ns3" : "astra-sim", NULL, NULL, error);
    if (fabric == NULL)
        return FALSE;
    fabric_gpus(fabric, ranks);
    if (options->simai)
        return TRUE;
    g_autoptr(AstraNetwork) network = astra_network_read(options->network, NULL, error);
    if (network == NULL)
        return FALSE;
    *inner = astra_network_dimension(network, 0)->npus;
    *dimensions = network->dimensions->len;
    for (uint32_t d = 0; *dimensions > 1 && d < *dimensions; d++)
        g_string_append_printf(sizes, "%s%u", d > 0 ? "x" : "", astra_network_dimension(network, d)->npus);
    return TRUE;
}

/* "collectives: {...}" of system.json; "" where it says nothing of them. */
static char *
collectives_text(const AstraSystem *system, uint32_t dimensions)
{
    static const char *const ours[] = {
        [ASTRA_IMPL_RING] = "ring", [ASTRA_IMPL_DIRECT] = "direct", [ASTRA_IMPL_HALVING] = "halving_doubling"};
    g_autoptr(GString) text = g_string_new(NULL);
    for (int kind = 0; system != NULL && kind < COLLECTIVE_KINDS; kind++) {
        AstraImpl impl = system->impl[kind];
        if (dimensions != 1 || impl == ASTRA_NOT_GIVEN || impl == ASTRA_IMPL_OTHER)
            continue;
        if (kind == COLLECTIVE_ALL_TO_ALL && impl != ASTRA_IMPL_DIRECT)
            continue;
        g_string_append_printf(text, "%s%s: %s", text->len > 0 ? ", " : "", collective_kind_name((CollectiveKind)kind),
                               ours[impl]);
    }
    if (system != NULL && system->local_mem_GBps > 0) {
        char cost[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(cost, sizeof cost, "%.9g", 3000 / system->local_mem_GBps);
        g_string_append_printf(text, "%sreduce_cost: %s ps/B", text->len > 0 ? ", " : "", cost);
    }
    return text->len > 0 ? g_strdup_printf("collectives: {%s}\n", text->str) : g_strdup("");
}

/* Is there work that has operations or bytes, and no time? Its name; NULL. */
static const char *
untimed_op(const Workload *workload)
{
    for (guint p = 0; p < workload->programs->len; p++) {
        const Program *program = workload_program(workload, p);
        for (guint i = 0; i < program->ops->len; i++) {
            const Op *op = &g_array_index(program->ops, Op, i);
            if (op->kind == OP_COMPUTE && op->duration_ps < 0 && (op->flops > 0 || op->bytes_moved > 0))
                return program_op_name(program, i);
        }
    }
    return NULL;
}

/* ", peak: ..., memory_bandwidth: ...": as given, else of system.json; "" where nothing needs it. NULL with an error.
 */
static char *
roofline_text(const Options *options, const AstraSystem *system, const Workload *workload, GError **error)
{
    const char *untimed = untimed_op(workload);
    char peak[G_ASCII_DTOSTR_BUF_SIZE] = "", bandwidth[G_ASCII_DTOSTR_BUF_SIZE] = "";
    gboolean given = options->peak != NULL && options->memory_bandwidth != NULL;
    if (untimed == NULL)
        return g_strdup("");
    if (!given &&
        (system == NULL || system->roofline == 0 || system->peak_TFLOPps == 0 || system->local_mem_GBps == 0)) {
        error_input(
            error,
            "op \"%s\" has operations but no time, and there is no system.json with roofline-enabled 1, peak-perf "
            "and local-mem-bw; give for example --peak '989 TFLOP/s' --memory-bandwidth '3350 GB/s'",
            untimed);
        return NULL;
    }
    if (given)
        return g_strdup_printf(", peak: %s, memory_bandwidth: %s", options->peak, options->memory_bandwidth);
    g_ascii_formatd(peak, sizeof peak, "%.9g", system->peak_TFLOPps);
    g_ascii_formatd(bandwidth, sizeof bandwidth, "%.9g", system->local_mem_GBps);
    return g_strdup_printf(", peak: %s TFLOP/s, memory_bandwidth: %s GB/s", peak, bandwidth);
}

/* The list of trace files, quoted. */
static char *
files_text(char *const *files, const char *output, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; files[i] != NULL; i++) {
        g_autofree char *path = import_path(files[i], output, TRUE, error);
        if (path == NULL)
            return NULL;
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", path);
    }
    return g_strdup(text->str);
}

/* The job's keys; NULL with an error. */
static char *
job_text(const Options *options, const TraceSource *source, const char *format, const Workload *workload,
         const char *roofline, GError **error)
{
    g_autofree char *trace = files_text(source->files, options->output, error);
    if (trace == NULL)
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "  - {name: training, trace: [%s], format: %s, gpus: %u, iterations: %d, warmup: 0",
                           trace, format, workload->n_ranks, options->iterations);
    if (strcmp(format, "astra-sim") == 0 && source->model_parallel > 0)
        g_string_append_printf(text, ", model_parallel: %u", source->model_parallel);
    if (source->replicate > 0)
        g_string_append_printf(text, ", replicate: %u", source->replicate);
    g_string_append(text, roofline);
    if (source->dimensions != NULL)
        g_string_append_printf(text, ", dimensions: %s", source->dimensions);
    if (options->groups != NULL) {
        g_autofree char *groups = import_path(options->groups, options->output, FALSE, error);
        if (groups == NULL)
            return NULL;
        g_string_append_printf(text, ", groups: %s", groups);
    }
    g_string_append(text, "}\n");
    return g_strdup(text->str);
}

/* What one rank's trace is to be on a network of many has to be said. */
static gboolean
check_ranks(const Options *options, const TraceSource *source, const Workload *workload, uint32_t ranks, GError **error)
{
    if (workload->n_ranks > ranks)
        return error_input(error, "%s has %u ranks, but %s needs %u", options->network, ranks, source->files[0],
                           workload->n_ranks);
    if (workload->n_ranks == 1 && ranks > 1 && source->replicate == 0)
        return error_input(error, "%s is the trace of one rank, and %s has %u; --replicate %u lets all do what it says",
                           source->files[0], options->network, ranks, ranks);
    return TRUE;
}

static gboolean
write_scenario(const Options *options, char **files, GError **error)
{
    uint32_t ranks, inner, dimensions;
    g_autoptr(GString) sizes = g_string_new(NULL);
    if (!look_at_network(options, &ranks, &inner, &dimensions, sizes, error))
        return FALSE;
    const TraceFormat *format =
        options->format != NULL ? trace_format_find(options->format, error) : trace_format_recognise(files[0], error);
    if (format == NULL)
        return FALSE;
    gboolean text_form = format == &trace_astra || format == &trace_simai;
    gboolean chakra = format == &trace_chakra || format == &trace_chakra_json;
    TraceSource source = {.files = files,
                          .n_files = g_strv_length(files),
                          .groups_file = options->groups,
                          .ranks = text_form ? ranks : 0,
                          .replicate = (uint32_t)options->replicate,
                          .model_parallel = inner};
    if (chakra && sizes->len > 0 && (source.n_files == ranks || source.replicate == ranks))
        source.dimensions = sizes->str;
    g_autoptr(Workload) workload = trace_read(format->name, &source, error);
    if (workload == NULL)
        return FALSE;
    if (!check_ranks(options, &source, workload, ranks, error))
        return FALSE;
    g_autoptr(AstraSystem) system = options->system != NULL ? astra_system_read(options->system, error) : NULL;
    if (options->system != NULL && system == NULL)
        return FALSE;
    g_autofree char *collectives = collectives_text(system, dimensions);
    g_autofree char *roofline = roofline_text(options, system, workload, error);
    g_autofree char *network = roofline != NULL ? import_path(options->network, options->output, FALSE, error) : NULL;
    g_autofree char *job = network != NULL ? job_text(options, &source, format->name, workload, roofline, error) : NULL;
    if (job == NULL)
        return FALSE;
    g_autofree char *base = g_path_get_basename(files[0]), *name = import_quote(base);
    g_autofree char *text =
        g_strdup_printf("# Written by 'trainshed import %s': %u ranks.\nname: %s\nseed: 1\n"
                        "fabric: {file: %s, format: %s}\nnetwork: {model: %s}\n%sjobs:\n%sbaseline: false\n",
                        own_name(options), workload->n_ranks, name, network, options->simai ? "ns3" : "astra-sim",
                        options->model != NULL ? options->model : "fluid", collectives, job);
    GError *wrong = NULL;
    if (g_file_set_contents(options->output, text, -1, &wrong)) {
        printf("%s: %u ranks on %s; 'trainshed run %s' runs them\n", options->output, workload->n_ranks,
               options->network, options->output);
        return TRUE;
    }
    error_input(error, "%s: cannot be written: %s", options->output, wrong->message);
    g_error_free(wrong);
    return FALSE;
}

static gboolean
import_layers(int argc, char **argv, Options *options, GError **error)
{
    const char *own = own_name(options);
    options->iterations = 1;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Write the scenario to FILE", "FILE"},
        {options->simai ? "topology" : "network", options->simai ? 't' : 'n', 0, G_OPTION_ARG_FILENAME,
         &options->network, options->simai ? "The topology file" : "The network.yml", "FILE"},
        {"iterations", 'i', 0, G_OPTION_ARG_INT, &options->iterations, "How many iterations run (1)", "N"},
        {"model", 'm', 0, G_OPTION_ARG_STRING, &options->model, "The network model of the scenario (fluid)", "NAME"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &options->format, "The workload's format (default: by content)",
         "NAME"},
        {options->simai ? NULL : "system", 's', 0, G_OPTION_ARG_FILENAME, &options->system, "The system.json", "FILE"},
        {"groups", 'g', 0, G_OPTION_ARG_FILENAME, &options->groups, "The communicator groups, of Chakra traces",
         "FILE"},
        {"replicate", 0, 0, G_OPTION_ARG_INT, &options->replicate, "This many ranks do what the one trace says", "N"},
        {"peak", 0, 0, G_OPTION_ARG_STRING, &options->peak, "Of a GPU, where work has operations and no time",
         "FLOP/S"},
        {"memory-bandwidth", 0, 0, G_OPTION_ARG_STRING, &options->memory_bandwidth, "Of a GPU, likewise", "RATE"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("WORKLOAD ... - a set-up becomes a scenario");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc < 2)
        return error_input(error, "import %s: no workload given; see 'trainshed import %s --help'", own, own);
    if (options->output == NULL)
        return error_input(error, "import %s: where to? Give -o FILE.yaml", own);
    if (options->network == NULL)
        return error_input(error, "import %s: on what? Give --%s FILE", own, options->simai ? "topology" : "network");
    if (options->replicate < 0)
        return error_input(error, "import %s: --replicate %d is below 1", own, options->replicate);
    if (options->iterations < 1)
        return error_input(error, "import %s: --iterations %d is below 1", own, options->iterations);
    g_auto(GStrv) files = trace_pair(NULL, (const char *const *)argv + 1, error);
    return files != NULL && write_scenario(options, files, error);
}

gboolean
import_astra(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {.simai = FALSE};
    return import_layers(argc, argv, &options, error);
}

gboolean
import_simai(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {.simai = TRUE};
    return import_layers(argc, argv, &options, error);
}
