#include "cli/subcommand.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/table.h"

#include <string.h>

static void
usage(const SubcommandTable *table, FILE *out)
{
    fprintf(out, "usage: trainshed %s SUBCOMMAND ...\n\n", table->command);
    g_autoptr(Table) lines = table_new("|");
    for (const Subcommand *one = table->table; one->name != NULL; one++) {
        table_add(lines, "  %s %s", one->name, one->arguments);
        table_add(lines, "%s", one->help);
    }
    table_print(lines, out);
    if (table->more != NULL)
        table->more(out);
    fprintf(out, "\n'trainshed %s SUBCOMMAND --help' tells more.\n", table->command);
}

gboolean
subcommand_run(const SubcommandTable *table, int argc, char **argv, GError **error)
{
    if (argc < 2) {
        usage(table, stderr);
        return error_input(error, "%s: a subcommand is missing", table->command);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(table, stdout);
        return TRUE;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const Subcommand *one = table->table; one->name != NULL; one++) {
        g_ptr_array_add(names, (gpointer)one->name);
        if (strcmp(argv[1], one->name) != 0)
            continue;
        g_autofree char *program = g_strdup_printf("trainshed %s %s", table->command, one->name);
        g_set_prgname(program); /* for --help */
        return one->run(argc - 1, argv + 1, error);
    }
    g_autofree char *hint = suggest_hint(argv[1], (const char *const *)names->pdata, names->len);
    return error_input(error, "there is no \"%s %s\"%s; see 'trainshed %s --help'", table->command, argv[1], hint,
                       table->command);
}
