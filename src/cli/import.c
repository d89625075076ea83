/* import.c - 'trainshed import': its table of importers, and what they share */
#include "cli/import.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/subcommand.h"

#include <stdio.h>
#include <string.h>

/* The table: one line an importer. */
static const Subcommand importers[] = {
    {"astra-sim", "WORKLOAD ... --network FILE.yml -o OUT.yaml",
     "text workload or Chakra traces on ASTRA-sim's network", import_astra},
    {"goal", "FILE ... -o OUT.yaml", "GOAL schedules, each a job, with LogGOPS costs", import_goal},
    {"htsim", "FILE.cm -o OUT.yaml", "a connection matrix, on a .topo file or on a fat tree that fits", import_htsim},
    {"simai", "WORKLOAD.txt --topology FILE -o OUT.yaml", "SimAI's text workload on its topology file", import_simai},
    {NULL},
};

char *
import_quote(const char *text)
{
    GString *quoted = g_string_new("\"");
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            g_string_append_printf(quoted, "\\%c", *at);
        else if ((unsigned char)*at < ' ' || *at == 0x7f)
            g_string_append_printf(quoted, "\\x%02x", (unsigned char)*at);
        else
            g_string_append_c(quoted, *at);
    }
    g_string_append_c(quoted, '"');
    return g_string_free(quoted, FALSE);
}

char *
import_path(const char *path, const char *output, gboolean glob, GError **error)
{
    g_autofree char *whole = g_canonicalize_filename(path, NULL), *out = g_canonicalize_filename(output, NULL);
    g_autofree char *folder = g_path_get_dirname(whole), *out_folder = g_path_get_dirname(out);
    g_autofree char *base = g_path_get_basename(whole);
    const char *name = strcmp(folder, out_folder) == 0 ? base : whole;
    if (!g_utf8_validate(name, -1, NULL)) {
        g_autofree char *shown = g_strescape(name, NULL);
        error_input(error, "%s: the name is no UTF-8 text, which a scenario must be", shown);
        return NULL;
    }
    g_autoptr(GString) escaped = g_string_new(NULL);
    for (const char *at = name; *at != '\0'; at++) {
        if (glob && strchr("*?[\\", *at) != NULL)
            g_string_append_c(escaped, '\\');
        g_string_append_c(escaped, *at);
    }
    return import_quote(escaped->str);
}

static gboolean
run(int argc, char **argv, GError **error)
{
    return subcommand_run(&(SubcommandTable){"import", importers, NULL}, argc, argv, error);
}

const Command command_import = {"import", "a set-up of another simulator becomes a scenario", run};
