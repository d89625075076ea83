/* topology_format.c - the table of formats a fabric is read from */
#include "fabric/topology_format.h"

#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
#include "base/suggest.h"

#include <string.h>

enum { HEAD_SIZE = 65536 };

const TopologyOptions topology_options_default = {.default_latency_ps = -1, .detour = 1};

/* The table: one line a format. */
/* clang-format off */
static const TopologyFormat *const formats[] = {
    &topology_graphml,
    &topology_astra,
    &topology_batfish,
    &topology_containerlab,
    &topology_gml,
    &topology_htsim,
    &topology_iblinkinfo,
    &topology_ibnetdiscover,
    &topology_latency_tables,
    &topology_lldp,
    &topology_nccl,
    &topology_netq,
    &topology_node_link,
    &topology_nvidia_smi,
    &topology_rtt,
    &topology_simgrid,
    &topology_slurm,
    &topology_ns3,
    &topology_sndlib,
    &topology_sonic_links,
    &topology_sonic_minigraph,
    &topology_zoo,
};
/* clang-format on */

const TopologyFormat *const *
topology_formats(size_t *n_formats)
{
    *n_formats = G_N_ELEMENTS(formats);
    return formats;
}

const TopologyFormat *
topology_format_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(formats)];
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        names[i] = formats[i]->name;
        if (strcmp(name, names[i]) == 0)
            return formats[i];
    }
    g_autofree char *hint = suggest_hint(name, names, G_N_ELEMENTS(names));
    error_input(error, "there is no topology format \"%s\"%s; 'trainshed topology --help' lists them", name, hint);
    return NULL;
}

static const TopologyFormat *
recognise(const char *path, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    char head[HEAD_SIZE + 1];
    size_t length = 0;
    while (length < HEAD_SIZE) {
        gssize n = input_read(input, head + length, HEAD_SIZE - length, error);
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    head[length] = '\0';
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i]->recognise(head, length))
            return formats[i];
    error_input(error, "%s: this is no fabric in a format that is known; 'trainshed topology --help' lists them", path);
    return NULL;
}

gboolean
topology_known(const char *path)
{
    return recognise(path, NULL) != NULL;
}

Fabric *
topology_read(const char *path, const char *format, const TopologyOptions *options, char **notes, GError **error)
{
    if (options == NULL)
        options = &topology_options_default;
    const TopologyFormat *reader = format != NULL ? topology_format_find(format, error) : recognise(path, error);
    return reader != NULL ? reader->read(path, options, notes, error) : NULL;
}

guint
topology_n_problems(const TopologyOptions *options)
{
    return problems_count(options->problems);
}

gboolean
topology_go_on(const TopologyOptions *options, GError *wrong, GError **error)
{
    return problems_go_on(options->problems, wrong, error);
}

gboolean
topology_sound(const TopologyOptions *options, guint before, const char *path, GError **error)
{
    return problems_none_since(options->problems, before, path, error);
}

gboolean
topology_problem(const TopologyOptions *options, const char *path, size_t line, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    GError *wrong = NULL;
    error_input(&wrong, "%s:%zu: %s", path, line, text);
    return topology_go_on(options, wrong, error);
}
