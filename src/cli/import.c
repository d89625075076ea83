/* import.c - 'trainshed import': its table of importers, and what they share */
#include "cli/import.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

/* The table: one line an importer. */
static const struct {
    const char *name, *arguments, *help;
    gboolean (*run)(int argc, char **argv, GError **error);
} importers[] = {
    {"astra-sim", "WORKLOAD ... --network FILE.yml -o OUT.yaml",
     "text workload or Chakra traces on ASTRA-sim's network", import_astra},
    {"htsim", "FILE.cm -o OUT.yaml", "a connection matrix, on a .topo file or on a fat tree that fits", import_htsim},
    {"simai", "WORKLOAD.txt --topology FILE -o OUT.yaml", "SimAI's text workload on its topology file", import_simai},
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

static void
usage(FILE *out)
{
    fprintf(out, "usage: trainshed import FORMAT ...\n\n");
    g_autoptr(Table) table = table_new("|");
    for (size_t i = 0; i < G_N_ELEMENTS(importers); i++) {
        table_add(table, "  %s %s", importers[i].name, importers[i].arguments);
        table_add(table, "%s", importers[i].help);
    }
    table_print(table, out);
    fprintf(out, "\n'trainshed import FORMAT --help' tells more.\n");
}

static gboolean
run(int argc, char **argv, GError **error)
{
    if (argc < 2) {
        usage(stderr);
        return error_input(error, "import: no format given");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return TRUE;
    }
    const char *names[G_N_ELEMENTS(importers)];
    for (size_t i = 0; i < G_N_ELEMENTS(importers); i++) {
        names[i] = importers[i].name;
        if (strcmp(argv[1], names[i]) == 0) {
            g_autofree char *program = g_strconcat("trainshed import ", names[i], NULL);
            g_set_prgname(program); /* for --help */
            return importers[i].run(argc - 1, argv + 1, error);
        }
    }
    const char *near = suggest_nearest(argv[1], names, G_N_ELEMENTS(names));
    return error_input(error, "import: there is no format \"%s\"%s%s%s; see 'trainshed import --help'", argv[1],
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

const Command command_import = {"import", "a set-up of another simulator becomes a scenario", run};
