/* query.c - trainshed query: rows of a results file, by name or by SQL */
#include "results/query.h"
#include "base/error.h"
#include "cli/command.h"

static gboolean
run(int argc, char **argv, GError **error)
{
    gint64 run_id = -1;
    gboolean csv = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        {"run", 0, 0, G_OPTION_ARG_INT64, &run_id,
         "the run that canned queries and :run speak of (default: the latest shared one)", "ID"},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &csv, "comma-separated values with a line of names", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "a list of objects", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new("DB [NAME|SQL]");
    g_autoptr(GString) names = g_string_new("Without NAME or SQL the runs are listed. Names:\n");
    size_t n;
    const CannedQuery *canned = query_canned(&n);
    for (size_t i = 0; i < n; i++)
        g_string_append_printf(names, "  %-20s %s\n", canned[i].name, canned[i].help);
    g_option_context_set_description(context, names->str);
    g_option_context_add_main_entries(context, entries, NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc < 2)
        return error_input(error,
                           "query: the results file is missing; write for example trainshed query results.db jobs");
    if (argc > 3)
        return error_input(error, "query: \"%s\" is one word too many; write SQL in quotes", argv[3]);
    if (csv && json)
        return error_input(error, "query: --csv and --json exclude each other");
    QueryForm form = csv ? QUERY_CSV : json ? QUERY_JSON : QUERY_TABLE;
    return results_query(argv[1], argc > 2 ? argv[2] : NULL, run_id, form, stdout, error);
}

const Command command_query = {"query", "ask a results file: by name or in SQL", run};
