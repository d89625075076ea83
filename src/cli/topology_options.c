/* topology_options.c - the options that say what a fabric's file leaves open */
#include "base/error.h"
#include "base/units.h"
#include "cli/topology.h"

void
topology_texts_add(TopologyTexts *texts, GOptionContext *context)
{
    *texts = (TopologyTexts){.detour = topology_options_default.detour};
    const GOptionEntry entries[] = {
        {"default-rate", 0, 0, G_OPTION_ARG_STRING, &texts->rate,
         "Of links whose rate FILE does not say, such as '400 Gb/s'", "RATE"},
        {"default-latency", 0, 0, G_OPTION_ARG_STRING, &texts->latency,
         "Of links whose latency or length FILE does not say, such as '600 ns'", "TIME"},
        {"nvlink-rate", 0, 0, G_OPTION_ARG_STRING, &texts->nvlink,
         "Of one NVLink in one direction where FILE only counts them, such as '20 GB/s'", "RATE"},
        {"detour", 0, 0, G_OPTION_ARG_DOUBLE, &texts->detour,
         "Length of a fibre / distance of its ends, for places on a map; default: 1", "FACTOR"},
        {"hosts", 0, 0, G_OPTION_ARG_INT, &texts->hosts,
         "Hosts at each place of a wide-area file, so that ranks can be put there; default: 0", "N"},
        {"with", 'w', 0, G_OPTION_ARG_FILENAME_ARRAY, &texts->with, "A further file that belongs to FILE", "FILE"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &texts->format,
         "Read FILE as this format; default: as its content shows", "NAME"},
        {NULL},
    };
    g_option_context_add_main_entries(context, entries, NULL);
}

void
topology_texts_clear(TopologyTexts *texts)
{
    g_free(texts->rate);
    g_free(texts->latency);
    g_free(texts->nvlink);
    g_free(texts->format);
    g_strfreev(texts->with);
}

gboolean
topology_texts_read(const TopologyTexts *texts, TopologyOptions *options, GError **error)
{
    *options = topology_options_default;
    options->detour = texts->detour;
    if (texts->hosts < 0 || texts->hosts > 65536)
        return error_input(error, "--hosts: found %d, expected 0 to 65536", texts->hosts);
    options->hosts = (uint32_t)texts->hosts;
    options->companions = (const char *const *)texts->with;
    if (texts->rate != NULL && !units_parse_rate(texts->rate, &options->default_rate_Bps, error)) {
        g_prefix_error(error, "--default-rate: ");
        return FALSE;
    }
    if (texts->rate != NULL && options->default_rate_Bps <= 0)
        return error_input(error, "--default-rate: found \"%s\", expected a rate above 0", texts->rate);
    if (texts->latency != NULL && !units_parse_time(texts->latency, &options->default_latency_ps, error)) {
        g_prefix_error(error, "--default-latency: ");
        return FALSE;
    }
    if (texts->latency != NULL && options->default_latency_ps < 0)
        return error_input(error, "--default-latency: found \"%s\", expected no time below 0", texts->latency);
    if (texts->nvlink != NULL && !units_parse_rate(texts->nvlink, &options->nvlink_rate_Bps, error)) {
        g_prefix_error(error, "--nvlink-rate: ");
        return FALSE;
    }
    if (texts->nvlink != NULL && options->nvlink_rate_Bps <= 0)
        return error_input(error, "--nvlink-rate: found \"%s\", expected a rate above 0", texts->nvlink);
    if (!(options->detour >= 1 && options->detour <= 100))
        return error_input(error, "--detour: found %g, expected a factor from 1 to 100", options->detour);
    return TRUE;
}
