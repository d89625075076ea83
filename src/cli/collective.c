/* collective.c - trainshed collective: one collective at several sizes, as nccl-tests prints it */
#include "collective/collective.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/collective_as.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/topology.h"
#include "collective/msccl.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char *fabric, *ranks, *bytes, *model, *algorithm, *grain, *slice, *routing, *reduce_cost, *weights;
    char *as, *system, *back_end, *busbw, *check;
    int channels, root;
    char **sets;
} Options;

static const Options options_default = {.channels = 0};

static void
options_clear(Options *options)
{
    char *texts[] = {options->fabric, options->ranks,  options->bytes,    options->model,       options->algorithm,
                     options->grain,  options->slice,  options->routing,  options->reduce_cost, options->weights,
                     options->as,     options->system, options->back_end, options->busbw,       options->check};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_strfreev(options->sets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
unknown(const char *what, const char *text, const char *const *words, size_t n, GError **error)
{
    const char *near = suggest_nearest(text, words, n);
    g_autoptr(GString) all = g_string_new(NULL);
    for (size_t i = 0; i < n; i++)
        g_string_append_printf(all, "%s%s", i > 0 ? ", " : "", words[i]);
    return error_input(error, "there is no %s \"%s\"%s%s%s; known are: %s", what, text, near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "", all->str);
}

static gboolean
parse_kind(const char *text, CollectiveKind *kind, GError **error)
{
    if (collective_kind_parse(text, kind))
        return TRUE;
    const char *names[COLLECTIVE_KINDS];
    for (int i = 0; i < COLLECTIVE_KINDS; i++)
        names[i] = collective_kind_name((CollectiveKind)i);
    return unknown("collective", text, names, COLLECTIVE_KINDS, error);
}

/* One of two words: FALSE in *second for the first one, also where text is NULL. */
static gboolean
parse_choice(const char *what, const char *text, const char *const words[2], gboolean *second, GError **error)
{
    *second = text != NULL && strcmp(text, words[1]) == 0;
    if (text == NULL || *second || strcmp(text, words[0]) == 0)
        return TRUE;
    return unknown(what, text, words, 2, error);
}

/* A whole number at *text, moved past it. */
static gboolean
parse_number(const char **text, uint32_t *number)
{
    char *end;
    if (!g_ascii_isdigit(**text))
        return FALSE;
    guint64 value = g_ascii_strtoull(*text, &end, 10);
    if (value >= INDEX_NONE)
        return FALSE;
    *number = (uint32_t)value;
    *text = end;
    return TRUE;
}

static gboolean
add_range(const char *ranks, uint32_t from, uint32_t to, uint32_t n_gpus, GArray *places, GError **error)
{
    if (to < from)
        return error_input(error, "--ranks \"%s\": %u-%u runs backwards", ranks, from, to);
    if (to >= n_gpus)
        return error_input(error, "--ranks \"%s\": GPU %u is not there, the fabric has %u (from 0)", ranks, to, n_gpus);
    for (uint32_t i = from; i <= to; i++)
        g_array_append_val(places, i);
    return TRUE;
}

/* Places of GPUs in the fabric's order: "all", a number of them, or a list such as "0-3,8,12-15". */
static GArray *
parse_ranks(const char *ranks, uint32_t n_gpus, GError **error)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const char *rest = ranks;
    uint32_t from, to;
    if (ranks == NULL || strcmp(ranks, "all") == 0)
        return add_range("all", 0, n_gpus - 1, n_gpus, places, error) ? g_steal_pointer(&places) : NULL;
    if (parse_number(&rest, &from) && *rest == '\0') {
        if (from == 0 || from > n_gpus) {
            error_input(error, "--ranks %s: the fabric has %u GPUs", ranks, n_gpus);
            return NULL;
        }
        return add_range(ranks, 0, from - 1, n_gpus, places, error) ? g_steal_pointer(&places) : NULL;
    }
    rest = ranks;
    do {
        gboolean sound = parse_number(&rest, &from);
        to = from;
        if (sound && *rest == '-') {
            rest++;
            sound = parse_number(&rest, &to);
        }
        if (!sound || (*rest != '\0' && *rest != ',')) {
            error_input(
                error,
                "--ranks \"%s\" is no list of GPUs; write for example \"all\", \"8\" (the first 8) or \"0-3,8-11\"",
                ranks);
            return NULL;
        }
        if (!add_range(ranks, from, to, n_gpus, places, error))
            return NULL;
    } while (*rest++ == ',');
    return g_steal_pointer(&places);
}

static gboolean
distinct(const char *ranks, const GArray *places, uint32_t n_gpus, GError **error)
{
    g_autofree gboolean *seen = g_new0(gboolean, n_gpus);
    for (guint i = 0; i < places->len; i++) {
        uint32_t place = g_array_index(places, uint32_t, i);
        if (seen[place])
            return error_input(error, "--ranks \"%s\": GPU %u is named twice", ranks, place);
        seen[place] = TRUE;
    }
    return TRUE;
}

/* "1KiB:8GiB:x2": sizes from the first to the last, each so many times the one before; or one size. */
static GArray *
parse_sizes(const char *text, GError **error)
{
    static const char form[] = "write for example \"1GiB\" or \"1KiB:8GiB:x2\"";
    g_auto(GStrv) part = g_strsplit(text, ":", -1);
    guint n = g_strv_length(part);
    uint64_t first, last, factor = 2;
    if ((n != 1 && n != 3) ||
        (n == 3 && (part[2][0] != 'x' || !g_ascii_string_to_unsigned(part[2] + 1, 10, 2, 1u << 30, &factor, NULL)))) {
        error_input(error, "--bytes \"%s\" is no size and no series of sizes; %s", text, form);
        return NULL;
    }
    if (!units_parse_size(part[0], &first, error) || !units_parse_size(part[n == 3 ? 1 : 0], &last, error)) {
        g_prefix_error(error, "--bytes: ");
        return NULL;
    }
    if (n == 3 && (first == 0 || last < first)) {
        error_input(error, "--bytes \"%s\": a series rises from above 0; %s", text, form);
        return NULL;
    }
    GArray *sizes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (uint64_t size = first;; size *= factor) {
        g_array_append_val(sizes, size);
        if (size == 0 || size > last / factor)
            return sizes;
    }
}

static gboolean
parse_config(const Options *options, CollectiveKind kind, CollectiveConfig *config, GError **error)
{
    static const char *const grains[2] = {"steps", "bundle"}, *const weights[2] = {"equal", "nic"};
    gboolean bundle, nic;
    *config = collective_config_default();
    if (!parse_choice("grain", options->grain, grains, &bundle, error) ||
        !parse_choice("channel weighting", options->weights, weights, &nic, error))
        return FALSE;
    config->grain = bundle ? GRAIN_BUNDLE : GRAIN_STEPS;
    config->channel_weights = nic ? CHANNELS_NIC : CHANNELS_EQUAL;
    config->algorithm[kind] = options->algorithm;
    if (options->algorithm != NULL && collective_algorithm_is_file(options->algorithm) &&
        collective_algorithm_load(options->algorithm, kind, error) == NULL)
        return FALSE;
    if (options->channels < 0 || options->channels > 1024)
        return error_input(error, "--channels %d: 0 (as many as NICs) to 1024", options->channels);
    config->channels = (uint32_t)options->channels;
    if (options->slice != NULL && strcmp(options->slice, "none") == 0) {
        config->slice_B = 0;
    } else if (options->slice != NULL && !units_parse_size(options->slice, &config->slice_B, error)) {
        g_prefix_error(error, "--slice: ");
        return FALSE;
    }
    if (options->reduce_cost != NULL &&
        !units_parse_byte_cost(options->reduce_cost, &config->reduce_cost_s_per_B, error)) {
        g_prefix_error(error, "--reduce-cost: ");
        return FALSE;
    }
    return TRUE;
}

static gboolean
print_sizes(const Options *options, CollectiveSpec *spec, const CollectiveConfig *config, Routes *routes,
            const GArray *sizes, GError **error)
{
    const char *model = options->model ? options->model : "fluid";
    NetworkConfig network = network_config_default();
    g_autoptr(Table) table = table_new(">size(B)|>time(us)|>algbw(GB/s)|>busbw(GB/s)|algorithm");
    double factor = collective_bus_factor(spec->kind, spec->n);
    for (guint i = 0; i < sizes->len; i++) {
        spec->bytes = g_array_index(sizes, uint64_t, i);
        SimTime time = collective_alone(model, &network, routes, "collective", spec, config, error);
        if (time < 0)
            return FALSE;
        double rate = time > 0 ? (double)spec->bytes / sim_time_seconds(time) / 1e9 : 0;
        table_add(table, "%" G_GUINT64_FORMAT, spec->bytes);
        table_add(table, "%.3f", (double)time / (double)PS_PER_US);
        table_add(table, "%.3f", rate);
        table_add(table, "%.3f", rate * factor);
        table_add(table, "%s", spec->n > 1 ? collective_algorithm(spec, config) : "none");
    }
    printf("# %s of %u ranks, %s, %s, %s; GB is 1e9 bytes\n", collective_kind_name(spec->kind), spec->n, model,
           config->grain == GRAIN_STEPS ? "steps" : "bundle", routing_policy_name(routes_policy(routes)));
    table_print(table, stdout);
    return TRUE;
}

/* Everything but the fabric is checked before that is read. */
static gboolean
run_options(const Options *options, const char *kind_text, GError **error)
{
    CollectiveKind kind;
    CollectiveConfig config;
    RoutingPolicy routing = ROUTING_ECMP;
    if (options->fabric == NULL && options->as == NULL)
        return error_input(error, "collective: on which fabric? Give --fabric FILE");
    if (!parse_kind(kind_text, &kind, error) || !parse_config(options, kind, &config, error))
        return FALSE;
    if (options->routing != NULL && (!routing_policy_parse(options->routing, &routing) || routing == ROUTING_PINNED))
        return error_input(error, "--routing \"%s\" is not known; one of ecmp, spray, adaptive, dmodk",
                           options->routing);
    g_autoptr(GArray) sizes = parse_sizes(kind == COLLECTIVE_BARRIER ? "0B"
                                          : options->bytes           ? options->bytes
                                                                     : "1KiB:8GiB:x2",
                                          error);
    if (sizes == NULL)
        return FALSE;
    if (options->as != NULL) {
        const CollectiveAs as = {options->as,    options->fabric, options->ranks,
                                 options->busbw, options->system, options->back_end};
        return collective_as(&as, kind, sizes, error);
    }
    if (options->system != NULL || options->back_end != NULL || options->busbw != NULL)
        return error_input(error, "--%s is for --as",
                           options->system     ? "system"
                           : options->back_end ? "back-end"
                                               : "busbw");
    g_autoptr(Fabric) fabric =
        topology_load(options->fabric, NULL, NULL, (const char *const *)options->sets, NULL, error);
    if (fabric == NULL)
        return FALSE;
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    if (n_gpus == 0)
        return error_input(error, "%s: there is neither GPU nor host in it", options->fabric);
    g_autoptr(GArray) places = parse_ranks(options->ranks, n_gpus, error);
    if (places == NULL || !distinct(options->ranks, places, n_gpus, error))
        return FALSE;
    if (options->root < 0 || (guint)options->root >= places->len)
        return error_input(error, "--root %d: ranks are 0 to %u", options->root, places->len - 1);
    g_autofree uint32_t *nodes = g_new(uint32_t, places->len), *ranks = g_new(uint32_t, places->len);
    for (guint i = 0; i < places->len; i++) {
        nodes[i] = gpus[g_array_index(places, uint32_t, i)];
        ranks[i] = i;
    }
    CollectiveSpec spec = {
        .kind = kind, .n = places->len, .nodes = nodes, .ranks = ranks, .root = (uint32_t)options->root};
    g_autoptr(Routes) routes = routes_new(fabric, routing);
    return print_sizes(options, &spec, &config, routes, sizes, error);
}

static char *
describe(void)
{
    g_autoptr(GString) text = g_string_new("Collectives:");
    for (int i = 0; i < COLLECTIVE_KINDS; i++)
        g_string_append_printf(text, " %s", collective_kind_name((CollectiveKind)i));
    g_string_append(text, "\n\nAlgorithms:\n");
    for (const char *const *name = collective_algorithms(); *name != NULL; name++)
        g_string_append_printf(text, "  %-16s  %s\n", *name, collective_algorithm_help(*name));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Prints each problem; the error counts them. */
static gboolean
check_algorithm(const char *path, GError **error)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    gboolean good = msccl_check(path, problems, error);
    for (guint i = 0; i < problems->len; i++)
        printf("problem: %s\n", (const char *)problems->pdata[i]);
    if (good)
        printf("ok: %s: every chunk reaches where the collective says\n", path);
    fflush(stdout);
    return good;
}

static gboolean
run(int argc, char **argv, GError **error)
{
    g_auto(Options) o = options_default;
    const GOptionEntry entries[] = {
        {"fabric", 'f', 0, G_OPTION_ARG_FILENAME, &o.fabric, "GraphML, another known format, or YAML with a fabric key",
         "FILE"},
        {"ranks", 'r', 0, G_OPTION_ARG_STRING, &o.ranks,
         "GPUs by their place: all (default), N = the first N, 0-3,8-11", "LIST"},
        {"bytes", 'b', 0, G_OPTION_ARG_STRING, &o.bytes, "Size, or first:last:xFACTOR (default 1KiB:8GiB:x2)", "SIZES"},
        {"model", 'm', 0, G_OPTION_ARG_STRING, &o.model, "Network model: fluid (default), analytic", "NAME"},
        {"algorithm", 'a', 0, G_OPTION_ARG_STRING, &o.algorithm,
         "One of these, or msccl:FILE; default: that of the collective", "NAME"},
        {"grain", 'g', 0, G_OPTION_ARG_STRING, &o.grain, "steps (default) or bundle", "GRAIN"},
        {"channels", 'c', 0, G_OPTION_ARG_INT, &o.channels, "Default 0: NICs per server", "N"},
        {"channel-weights", 0, 0, G_OPTION_ARG_STRING, &o.weights, "equal (default) or nic", "HOW"},
        {"slice", 0, 0, G_OPTION_ARG_STRING, &o.slice, "Default 512 KiB; none: whole chunks are passed on", "SIZE"},
        {"reduce-cost", 0, 0, G_OPTION_ARG_STRING, &o.reduce_cost, "Time to reduce, such as 1 s/TB; default none",
         "COST"},
        {"root", 0, 0, G_OPTION_ARG_INT, &o.root, "Of broadcast and reduce; default rank 0", "RANK"},
        {"routing", 0, 0, G_OPTION_ARG_STRING, &o.routing, "ecmp (default), spray, adaptive, dmodk", "POLICY"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Change a value of a YAML fabric", "KEY=VALUE"},
        {"as", 0, 0, G_OPTION_ARG_STRING, &o.as, "By the arithmetic of astra-sim (--fabric: its network.yml) or simai",
         "PEER"},
        {"system", 0, 0, G_OPTION_ARG_FILENAME, &o.system, "With --as: its system.json", "FILE"},
        {"busbw", 0, 0, G_OPTION_ARG_STRING, &o.busbw, "With --as simai: the bus bandwidth", "RATE"},
        {"back-end", 0, 0, G_OPTION_ARG_STRING, &o.back_end, "With --as: unaware (default) or aware of congestion",
         "NAME"},
        {"check", 0, 0, G_OPTION_ARG_FILENAME, &o.check, "Only tell all that is wrong with an MSCCL XML file", "FILE"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("COLLECTIVE");
    g_option_context_add_main_entries(context, entries, NULL);
    g_autofree char *more = describe();
    g_option_context_set_description(context, more);
    if (!topology_arguments(context, &argc, &argv, 0, 1, error))
        return FALSE;
    if (o.check != NULL)
        return check_algorithm(o.check, error);
    if (argc < 2)
        return error_input(error, "which collective? one of those that --help lists");
    return run_options(&o, argv[1], error);
}

const Command command_collective = {
    .name = "collective",
    .help = "time one collective at several sizes on an empty fabric",
    .run = run,
};
