/* topology_join.c - 'trainshed topology join': the inside of every host, and links between sites */
#include "fabric/join.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/topology.h"
#include "fabric/graphml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SITES = 64, MOST_LINKS = 1000000 };

typedef struct {
    char *output, *wan, *names, *inside_latency, *level;
    char **and, **inside, **inside_with;
    TopologyTexts texts;
} Words;

static void
words_clear(Words *words)
{
    g_free(words->output);
    g_free(words->wan);
    g_free(words->names);
    g_free(words->inside_latency);
    g_free(words->level);
    g_strfreev(words->and);
    g_strfreev(words->inside);
    g_strfreev(words->inside_with);
    topology_texts_clear(&words->texts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

static gboolean
read_words(Words *words, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"inside", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &words->inside,
         "The server that each host is, such as an NCCL topology XML; once, or once a fabric", "FILE"},
        {"inside-latency", 0, 0, G_OPTION_ARG_STRING, &words->inside_latency,
         "Of links of the inside whose latency FILE does not say; default: --default-latency", "TIME"},
        {"inside-with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words->inside_with,
         "A further file that belongs to that of --inside, such as the matrix of nvidia-smi topo -m", "FILE"},
        {"and", 'a', 0, G_OPTION_ARG_FILENAME_ARRAY, &words->and, "Another fabric, a site of its own", "FABRIC"},
        {"wan", 0, 0, G_OPTION_ARG_STRING, &words->wan,
         "The links between each two fabrics: 'rate=400 Gb/s,length=80 km,links=16'", "WORDS"},
        {"names", 0, 0, G_OPTION_ARG_STRING, &words->names, "Of the fabrics, joined by commas; default: A,B,...",
         "NAMES"},
        {"level", 0, 0, G_OPTION_ARG_STRING, &words->level, "What each is: building (the default) or region", "LEVEL"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &words->output, "Write GraphML to FILE", "FILE"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC");
    g_option_context_add_main_entries(context, entries, NULL);
    topology_texts_add(&words->texts, context);
    if (!topology_arguments(context, argc, argv, 1, 1, error))
        return FALSE;
    if (words->output == NULL)
        return error_input(error, "topology join: where to? Give -o FILE");
    if (words->inside == NULL && words->and == NULL)
        return error_input(error, "topology join: with what? Give --inside FILE, --and FABRIC, or both");
    if (words->and != NULL && words->wan == NULL)
        return error_input(error, "topology join: what joins the fabrics? Give --wan 'rate=400 Gb/s,length=80 km'");
    if (words->and == NULL && words->wan != NULL)
        return error_input(error, "topology join: --wan is between two fabrics; give the other with --and");
    return TRUE;
}

/* One KEY=VALUE of --wan. */
static gboolean
read_wan_word(char *word, JoinWan *wan, GError **error)
{
    char *equal = strchr(word, '=');
    const char *key = word;
    if (equal != NULL)
        *equal = '\0';
    const char *value = equal != NULL ? g_strstrip(equal + 1) : "";
    g_strstrip(word);
    if (strcmp(key, "rate") == 0)
        return units_parse_rate(value, &wan->rate_Bps, error);
    if (strcmp(key, "latency") == 0)
        return units_parse_time(value, &wan->latency_ps, error);
    if (strcmp(key, "length") == 0)
        return units_parse_length(value, &wan->length_km, error);
    guint64 links;
    if (strcmp(key, "links") != 0)
        return error_input(error, "found \"%s\", expected rate=, length=, latency= or links=", key);
    if (!g_ascii_string_to_unsigned(value, 10, 1, MOST_LINKS, &links, NULL))
        return error_input(error, "links: found \"%s\", expected a number from 1 to %d", value, MOST_LINKS);
    wan->links = (uint32_t)links;
    return TRUE;
}

static gboolean
read_wan(const char *text, JoinWan *wan, GError **error)
{
    *wan = (JoinWan){.links = 1, .length_km = NAN, .latency_ps = -1};
    g_auto(GStrv) words = g_strsplit(text != NULL ? text : "", ",", -1);
    for (size_t i = 0; words[i] != NULL; i++)
        if (!read_wan_word(words[i], wan, error)) {
            g_prefix_error(error, "--wan: ");
            return FALSE;
        }
    if (text != NULL && wan->rate_Bps <= 0)
        return error_input(error, "--wan: the rate of a link is not given; add rate=400 Gb/s");
    if (text != NULL && wan->latency_ps < 0 && isnan(wan->length_km))
        return error_input(error, "--wan: how long is a link? Add length=80 km, or latency=400 us");
    if (wan->latency_ps < 0 && wan->length_km * 5e6 > (double)LINK_MAX_LATENCY_PS)
        return error_input(error, "--wan: length: %g km is longer than a day's way", wan->length_km);
    if (wan->latency_ps < 0 && !isnan(wan->length_km))
        wan->latency_ps = (SimTime)ceil(wan->length_km * 5e6);
    return TRUE;
}

/* Names of n sites; for one without --names: "". The caller frees them. */
static char **
site_names(const Words *words, uint32_t n, GError **error)
{
    g_auto(GStrv) names = NULL;
    if (words->names != NULL) {
        names = g_strsplit(words->names, ",", -1);
        for (uint32_t i = 0; i < g_strv_length(names); i++)
            if (names[i][0] == '\0' || strchr(names[i], '/') != NULL ||
                g_strv_contains((const char *const *)names + i + 1, names[i])) {
                error_input(error, "--names: \"%s\": each name is there once, not empty and without /", words->names);
                return NULL;
            }
        if (g_strv_length(names) != n) {
            error_input(error, "--names: %u names for %u fabrics", g_strv_length(names), n);
            return NULL;
        }
        return g_steal_pointer(&names);
    }
    names = g_new0(char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        names[i] = n == 1 ? g_strdup("") : n < 26 ? g_strdup_printf("%c", 'A' + (int)i) : g_strdup_printf("site%u", i);
    return g_steal_pointer(&names);
}

/* Reads a file into fabrics, which owns it, and prints what its reader says. Several times the same file: once. */
static const Fabric *
load(GPtrArray *fabrics, const char *path, const char *format, const TopologyOptions *options, GError **error)
{
    g_autofree char *notes = NULL;
    Fabric *fabric = topology_load(path, format, options, NULL, &notes, error);
    if (fabric == NULL)
        return NULL;
    g_ptr_array_add(fabrics, fabric);
    g_auto(GStrv) lines = g_strsplit(notes != NULL ? notes : "", "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++)
        if (lines[i][0] != '\0')
            printf("%s: %s\n", path, lines[i]);
    return fabric;
}

static gboolean
load_sites(const Words *words, const char *first, uint32_t n, JoinSite *sites, GPtrArray *fabrics, GError **error)
{
    TopologyOptions options, inner;
    uint32_t n_inside = words->inside != NULL ? g_strv_length(words->inside) : 0;
    if (!topology_texts_read(&words->texts, &options, error))
        return FALSE;
    if (n_inside > 1 && n_inside != n)
        return error_input(error, "--inside: given %u times for %u fabrics; give it once, or once a fabric", n_inside,
                           n);
    inner = options;
    inner.companions = (const char *const *)words->inside_with;
    if (words->inside_latency != NULL && !units_parse_time(words->inside_latency, &inner.default_latency_ps, error)) {
        g_prefix_error(error, "--inside-latency: ");
        return FALSE;
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *path = i == 0 ? first : words->and [i - 1];
        sites[i].fabric = load(fabrics, path, words->texts.format, &options, error);
        if (sites[i].fabric == NULL)
            return FALSE;
        if (i < n_inside && (sites[i].inside = load(fabrics, words->inside[i], NULL, &inner, error)) == NULL)
            return FALSE;
        if (n_inside == 1)
            sites[i].inside = sites[0].inside;
    }
    return TRUE;
}

gboolean
topology_join(int argc, char **argv, GError **error)
{
    g_auto(Words) words = {0};
    JoinWan wan;
    if (!read_words(&words, &argc, &argv, error) || !read_wan(words.wan, &wan, error))
        return FALSE;
    if (words.level != NULL && strcmp(words.level, "building") != 0 && strcmp(words.level, "region") != 0)
        return error_input(error, "--level: found \"%s\", expected building or region", words.level);
    wan.is_region = g_strcmp0(words.level, "region") == 0;
    uint32_t n = 1 + (words.and != NULL ? g_strv_length(words.and) : 0);
    if (n > MOST_SITES)
        return error_input(error, "--and: %u fabrics; expected at most %d", n, MOST_SITES);
    g_auto(GStrv) names = site_names(&words, n, error);
    g_autoptr(GPtrArray) fabrics = g_ptr_array_new_with_free_func((GDestroyNotify)fabric_free);
    JoinSite sites[MOST_SITES] = {{0}};
    if (names == NULL || !load_sites(&words, argv[1], n, sites, fabrics, error))
        return FALSE;
    for (uint32_t i = 0; i < n; i++)
        sites[i].name = names[i];
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = fabric_join(sites, n, &wan, &notes, error);
    if (fabric == NULL || !graphml_write(fabric, words.output, error))
        return FALSE;
    g_autofree char *summary = topology_summary(fabric);
    printf("%s%s: %s\n", notes, words.output, summary);
    return TRUE;
}
