/* nccl_rates.c - what a topology file of NCCL leaves to NCCL: rates by generation */
#include "fabric/nccl_rates.h"

#include <glib.h>
#include <string.h>

double
nccl_pcie_Bps(const char *link_speed, unsigned lanes)
{
    static const struct {
        double speed_GTps, lane_Bps;
    } generations[] = {{2.5, 187.5e6}, {5, 375e6}, {8, 750e6}, {16, 1.5e9}, {32, 3e9}, {64, 6e9}};
    char *end;
    double speed = g_ascii_strtod(link_speed, &end);
    if (end == link_speed || !g_str_has_prefix(end, " GT/s"))
        return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(generations); i++)
        if (speed == generations[i].speed_GTps)
            return generations[i].lane_Bps * lanes;
    return 0;
}

double
nccl_nvlink_Bps(unsigned sm)
{
    if (sm == 86)
        return 12e9;
    return sm >= 100 ? 40.1e9 : sm >= 90 ? 20.6e9 : sm >= 70 ? 20e9 : sm >= 60 ? 18e9 : 0;
}

double
nccl_xgmi_Bps(const char *gcn)
{
    const char *number = g_str_has_prefix(gcn, "gfx") ? gcn + 3 : gcn;
    if (g_str_has_prefix(number, "94") || g_str_has_prefix(number, "95"))
        return 48e9;
    if (strcmp(number, "90a") == 0 || strcmp(number, "910") == 0)
        return 36e9;
    return g_str_has_prefix(number, "90") ? 24e9 : 0;
}

double
nccl_cpu_Bps(const char *arch, const char *vendor, const char *family, const char *model)
{
    if (g_strcmp0(arch, "ppc64") == 0)
        return 32e9;
    if (g_strcmp0(arch, "arm64") == 0)
        return 6e9;
    if (g_strcmp0(arch, "x86_64") != 0)
        return 0;
    if (g_strcmp0(vendor, "AuthenticAMD") == 0)
        return 16e9;
    guint64 number;
    if (g_strcmp0(vendor, "GenuineIntel") != 0 || g_strcmp0(family, "6") != 0 || model == NULL ||
        !g_ascii_string_to_unsigned(model, 10, 0, 0xffff, &number, NULL))
        return 0;
    /* Emerald Rapids, Sapphire Rapids, Skylake, Broadwell and older. */
    return number >= 0xcf ? 40e9 : number >= 0x8f ? 22e9 : number >= 0x55 ? 10e9 : 6e9;
}
