/* import_htsim.c - 'trainshed import htsim': a connection matrix and a fat tree become a scenario
 *
 * Flow h of the matrix starts at host h of the tree. Without a .topo file a three-level fat tree is generated: the
 * smallest even radix k of which k^3 / 4 hosts are enough and all cables come out whole, as htsim's own default. */
#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/import.h"
#include "fabric/generate.h"
#include "fabric/topology_format.h"
#include "workload/htsim_cm.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    char *output, *topology, *rate, *latency, *model;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_free(options->topology);
    g_free(options->rate);
    g_free(options->latency);
    g_free(options->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
check_options(const Options *options, GError **error)
{
    if (options->output == NULL)
        return error_input(error, "import htsim: where to? Give -o FILE.yaml");
    gboolean tree = options->rate != NULL || options->latency != NULL;
    if (options->topology != NULL && tree)
        return error_input(error, "import htsim: --topology says the rates and latencies; leave out --%s",
                           options->rate != NULL ? "rate" : "latency");
    if (options->topology == NULL && options->rate == NULL)
        return error_input(error, "import htsim: a connection matrix does not say how fast links are; give --topology "
                                  "FILE.topo, or --rate such as --rate '100 Gb/s'");
    if (options->topology == NULL && options->latency == NULL)
        return error_input(error, "import htsim: a connection matrix does not say how long links are; give --topology "
                                  "FILE.topo, or --latency of each link such as --latency '1 us'");
    return TRUE;
}

/* The tree on which so many hosts stand, described; NULL with an error. */
static GenerateSpec *
fitting_tree(const Options *options, uint32_t hosts, GError **error)
{
    g_autoptr(GenerateSpec) spec = generate_spec_new();
    spec->server.gpus = spec->server.nics = 1;
    spec->zone.servers = hosts;
    spec->zone.network = ZONE_CLOS3;
    if (!units_parse_rate(options->rate, &spec->server.nic_rate_Bps, error)) {
        g_prefix_error(error, "--rate: ");
        return NULL;
    }
    if (!units_parse_time(options->latency, &spec->zone.link_latency_ps, error)) {
        g_prefix_error(error, "--latency: ");
        return NULL;
    }
    uint64_t radix = 2;
    while (radix * radix * radix / 4 < hosts)
        radix += 2;
    GError *wrong = NULL;
    for (uint64_t last = 2 * radix + 2; radix <= last; radix += 2) {
        g_clear_error(&wrong);
        spec->zone.radix = (uint32_t)radix;
        g_autoptr(Fabric) fabric = generate_fabric(spec, &wrong);
        if (fabric != NULL)
            return g_steal_pointer(&spec);
    }
    g_propagate_prefixed_error(error, wrong, "import htsim: no fat tree of three levels fits %u hosts: ", hosts);
    return NULL;
}

/* The fabric key of the scenario; NULL with an error. */
static char *
fabric_text(const Options *options, const HtsimMatrix *matrix, GError **error)
{
    if (options->topology != NULL) {
        g_autoptr(Fabric) fabric = topology_read(options->topology, NULL, NULL, NULL, error);
        if (fabric == NULL)
            return NULL;
        uint32_t n;
        fabric_gpus(fabric, &n);
        if (n < matrix->n_hosts) {
            error_input(error, "%s has %u hosts, but %s needs %u", options->topology, n, matrix->path, matrix->n_hosts);
            return NULL;
        }
        g_autofree char *path = import_path(options->topology, options->output, FALSE, error);
        return path != NULL ? g_strdup_printf("fabric: {file: %s}\n", path) : NULL;
    }
    g_autoptr(GenerateSpec) spec = fitting_tree(options, matrix->n_hosts, error);
    if (spec == NULL)
        return NULL;
    g_autofree char *rate = import_quote(options->rate), *latency = import_quote(options->latency);
    return g_strdup_printf("fabric:\n  generate:\n    server: {gpus: 1, nics: 1, nic: {rate: %s}, forward: none}\n"
                           "    zone: {servers: %u, network: clos3, radix: %u, link: {rate: %s, latency: %s}}\n",
                           rate, spec->zone.servers, spec->zone.radix, rate, latency);
}

static gboolean
write_scenario(const Options *options, const HtsimMatrix *matrix, GError **error)
{
    g_autofree char *fabric = fabric_text(options, matrix, error);
    if (fabric == NULL)
        return FALSE;
    g_autofree char *trace = import_path(matrix->path, options->output, TRUE, error);
    if (trace == NULL)
        return FALSE;
    g_autofree char *base = g_path_get_basename(matrix->path), *name = import_quote(base);
    g_autofree char *text = g_strdup_printf(
        "# Written by 'trainshed import htsim': %u flows between %u hosts. Packets of htsim are sprayed, "
        "so routes are too.\n"
        "name: %s\nseed: 1\n%snetwork: {model: %s, routing: spray}\njobs:\n"
        "  - {name: flows, trace: [%s], format: htsim, iterations: 1, warmup: 0}\n"
        "baseline: false\nrecord: {level: flows}\n",
        matrix->flows->len, matrix->n_hosts, name, fabric, options->model != NULL ? options->model : "fluid", trace);
    GError *wrong = NULL;
    if (g_file_set_contents(options->output, text, -1, &wrong))
        return TRUE;
    error_input(error, "%s: cannot be written: %s", options->output, wrong->message);
    g_error_free(wrong);
    return FALSE;
}

gboolean
import_htsim(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the scenario to FILE", "FILE"},
        {"topology", 't', 0, G_OPTION_ARG_FILENAME, &options.topology, "Run on the tree of this .topo file", "FILE"},
        {"rate", 'r', 0, G_OPTION_ARG_STRING, &options.rate, "Without --topology: the rate of every link", "RATE"},
        {"latency", 'l', 0, G_OPTION_ARG_STRING, &options.latency, "Without --topology: the latency of every link",
         "TIME"},
        {"model", 'm', 0, G_OPTION_ARG_STRING, &options.model, "The network model of the scenario (fluid)", "NAME"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE.cm - a connection matrix becomes a scenario");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc != 2)
        return error_input(error, "import htsim: %d files given, 1 expected; see 'trainshed import htsim --help'",
                           argc - 1);
    if (!check_options(&options, error))
        return FALSE;
    g_autoptr(HtsimMatrix) matrix = htsim_matrix_read(argv[1], error);
    if (matrix == NULL || !write_scenario(&options, matrix, error))
        return FALSE;
    printf("%s: %u flows between %u hosts; 'trainshed run %s' runs them\n", options.output, matrix->flows->len,
           matrix->n_hosts, options.output);
    return TRUE;
}
