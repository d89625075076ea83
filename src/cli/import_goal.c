/* import_goal.c - 'trainshed import goal': GOAL schedules become a scenario, each a job of its own
 *
 * Without --topology every rank gets a host on one switch whose links are as fast as LogGOPS says, a byte in G, so that
 * the models that know contention can run the scenario too. */
#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/import.h"
#include "fabric/topology_format.h"
#include "workload/goal.h"
#include "workload/trace_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *output, *topology, *model, *placement, *rank_is;
    double L, o, g, G, O; /* ns */
    gint64 S;
    int iterations;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_free(options->topology);
    g_free(options->model);
    g_free(options->placement);
    g_free(options->rank_is);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
check_options(const Options *options, GError **error)
{
    const struct {
        const char *name;
        double value, most;
    } costs[] = {{"L", options->L, 1e12},
                 {"o", options->o, 1e12},
                 {"g", options->g, 1e12},
                 {"G", options->G, 1e6},
                 {"O", options->O, 1e6}};
    if (options->output == NULL)
        return error_input(error, "import goal: where to? Give -o FILE.yaml");
    for (size_t i = 0; i < G_N_ELEMENTS(costs); i++)
        if (!(costs[i].value >= 0 && costs[i].value <= costs[i].most))
            return error_input(error, "--%s is %g; 0 to %g ns expected", costs[i].name, costs[i].value, costs[i].most);
    if (options->S < 0)
        return error_input(error, "--S is %" G_GINT64_FORMAT "; 0 or more expected", options->S);
    if (options->iterations < 1)
        return error_input(error, "import goal: --iterations %d is below 1", options->iterations);
    if (options->topology == NULL && !(options->G > 0))
        return error_input(error, "import goal: with --G 0 nothing says how fast links are; give --topology FILE");
    return TRUE;
}

/* A number in YAML, no digit of it lost. */
static char *
number_text(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    return g_strdup(g_ascii_formatd(text, sizeof text, "%.15g", value));
}

/* The fabric key for so many ranks; NULL with an error. */
static char *
fabric_text(const Options *options, uint32_t ranks, GError **error)
{
    if (options->topology == NULL) {
        g_autofree char *latency = number_text(options->L / 2);
        return g_strdup_printf("fabric:\n  generate:\n"
                               "    server: {gpus: 1, nics: 1, nic: {rate: %.0f b/s}, forward: none}\n"
                               "    zone: {servers: %u, network: switch, link: {rate: %.0f b/s, latency: %s ns}}\n",
                               ceil(8e9 / options->G) + 1, ranks, ceil(8e9 / options->G) + 1, latency);
    }
    g_autoptr(Fabric) fabric = topology_read(options->topology, NULL, NULL, NULL, error);
    if (fabric == NULL)
        return NULL;
    uint32_t n;
    fabric_gpus(fabric, &n);
    if (n < ranks) {
        error_input(error, "%s has %u hosts, but the schedules need %u", options->topology, n, ranks);
        return NULL;
    }
    g_autofree char *path = import_path(options->topology, options->output, FALSE, error);
    return path != NULL ? g_strdup_printf("fabric: {file: %s}\n", path) : NULL;
}

/* The base name without its endings, told apart from those before by a number. */
static char *
job_name(const char *file, GHashTable *names)
{
    g_autofree char *base = g_path_get_basename(file);
    for (const char *const *ending = (const char *const[]){".gz", ".goal", ".bin", NULL}; *ending != NULL; ending++)
        if (g_str_has_suffix(base, *ending) && strlen(base) > strlen(*ending))
            base[strlen(base) - strlen(*ending)] = '\0';
    char *name = g_strdup(base);
    for (unsigned again = 2; g_hash_table_contains(names, name); again++) {
        g_free(name);
        name = g_strdup_printf("%s-%u", base, again);
    }
    g_hash_table_add(names, name);
    return name;
}

/* One line a file; *ranks becomes their sum. FALSE with an error. */
static gboolean
put_jobs(const Options *options, char **files, int n_files, GString *text, uint32_t *ranks, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    TraceRankIs rank_is = RANK_IS_GUESSED;
    if (options->rank_is != NULL && !trace_rank_is_parse(options->rank_is, &rank_is, error)) {
        g_prefix_error(error, "import goal: --rank-is: ");
        return FALSE;
    }
    *ranks = 0;
    for (int i = 0; i < n_files; i++) {
        TraceSource source = {.files = (char *[]){files[i], NULL}, .n_files = 1, .rank_is = rank_is};
        g_autoptr(Workload) workload = trace_read("goal", &source, error);
        g_autofree char *trace = workload != NULL ? import_path(files[i], options->output, TRUE, error) : NULL;
        if (trace == NULL)
            return FALSE;
        g_autofree char *name = import_quote(job_name(files[i], names));
        g_string_append_printf(text, "  - {name: %s, trace: [%s], format: goal, gpus: %u, iterations: %d, warmup: 0",
                               name, trace, workload->n_ranks, options->iterations);
        if (options->rank_is != NULL)
            g_string_append_printf(text, ", rank_is: %s", options->rank_is);
        if (options->placement != NULL)
            g_string_append_printf(text, ", placement: {policy: %s}", options->placement);
        g_string_append(text, "}\n");
        *ranks += workload->n_ranks;
    }
    return TRUE;
}

static gboolean
write_scenario(const Options *options, char **files, int n_files, GError **error)
{
    g_autoptr(GString) jobs = g_string_new(NULL);
    uint32_t ranks;
    if (!put_jobs(options, files, n_files, jobs, &ranks, error))
        return FALSE;
    g_autofree char *fabric = fabric_text(options, ranks, error);
    if (fabric == NULL)
        return FALSE;
    g_autofree char *base = g_path_get_basename(files[0]), *name = import_quote(base);
    g_autofree char *L = number_text(options->L), *o = number_text(options->o), *g = number_text(options->g);
    g_autofree char *G = number_text(options->G), *O = number_text(options->O);
    g_autofree char *text =
        g_strdup_printf("# Written by 'trainshed import goal': %d %s, %u ranks.\nname: %s\nseed: 1\n%s"
                        "network:\n  model: %s\n"
                        "  loggops: {L: %s ns, o: %s ns, g: %s ns, G: %s ns/B, O: %s ns/B, S: %" G_GINT64_FORMAT " B}\n"
                        "jobs:\n%sbaseline: false\n",
                        n_files, n_files == 1 ? "schedule" : "schedules", ranks, name, fabric,
                        options->model != NULL ? options->model : "analytic", L, o, g, G, O, options->S, jobs->str);
    GError *wrong = NULL;
    if (g_file_set_contents(options->output, text, -1, &wrong)) {
        printf("%s: %d %s, %u ranks; 'trainshed run %s' runs them\n", options->output, n_files,
               n_files == 1 ? "job" : "jobs", ranks, options->output);
        return TRUE;
    }
    error_input(error, "%s: cannot be written: %s", options->output, wrong->message);
    g_error_free(wrong);
    return FALSE;
}

gboolean
import_goal(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {.L = 2500, .o = 1500, .g = 1000, .G = 6, .S = 65535, .iterations = 1};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the scenario to FILE", "FILE"},
        {"topology", 't', 0, G_OPTION_ARG_FILENAME, &options.topology, "Run on this fabric (default: one switch)",
         "FILE"},
        {"rank-is", 'r', 0, G_OPTION_ARG_STRING, &options.rank_is,
         "What a rank is: gpu, or node with a GPU a NIC (default: node where a NIC above 0 is named)", "gpu|node"},
        {"placement", 'p', 0, G_OPTION_ARG_STRING, &options.placement,
         "Where jobs run: packed, spread or random (packed)", "POLICY"},
        {"iterations", 'i', 0, G_OPTION_ARG_INT, &options.iterations, "How often each schedule runs (1)", "N"},
        {"model", 'm', 0, G_OPTION_ARG_STRING, &options.model, "The network model of the scenario (analytic)", "NAME"},
        {"L", 0, 0, G_OPTION_ARG_DOUBLE, &options.L, "Latency, ns (2500)", "NS"},
        {"o", 0, 0, G_OPTION_ARG_DOUBLE, &options.o, "Overhead of a message, ns (1500)", "NS"},
        {"g", 0, 0, G_OPTION_ARG_DOUBLE, &options.g, "Gap between messages, ns (1000)", "NS"},
        {"G", 0, 0, G_OPTION_ARG_DOUBLE, &options.G, "Gap a byte, ns (6)", "NS"},
        {"O", 0, 0, G_OPTION_ARG_DOUBLE, &options.O, "Overhead a byte, ns (0)", "NS"},
        {"S", 0, 0, G_OPTION_ARG_INT64, &options.S,
         "Above so many bytes a send waits for its receive; 0 = never (65535)", "BYTES"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE ... - GOAL schedules become a scenario, a job each");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc < 2)
        return error_input(error, "import goal: no schedule given; see 'trainshed import goal --help'");
    return check_options(&options, error) && write_scenario(&options, argv + 1, argc - 1, error);
}
