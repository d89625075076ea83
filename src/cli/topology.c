/* topology.c - 'trainshed topology': its verbs, and the two that write a file */
#include "cli/topology.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/subcommand.h"
#include "cli/table.h"
#include "fabric/generate.h"
#include "fabric/graphml.h"
#include "fabric/topology_writer.h"

#include <stdio.h>
#include <string.h>

/* A fabric is written, and what it is said on standard output. */
static gboolean
write_out(const Fabric *fabric, const char *path, GError **error)
{
    if (!graphml_write(fabric, path, error))
        return FALSE;
    g_autofree char *summary = topology_summary(fabric);
    printf("%s: %s\n", path, summary);
    return TRUE;
}

static gboolean
need_output(const char *verb, const char *output, GError **error)
{
    if (output != NULL)
        return TRUE;
    return error_input(error, "topology %s: where to? Give -o FILE", verb);
}

gboolean
topology_generate(int argc, char **argv, GError **error)
{
    g_autofree char *output = NULL;
    g_auto(GStrv) sets = NULL;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write GraphML to FILE", "FILE"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &sets, "Change a value, such as fabric.generate.zone.servers=64",
         "KEY=VALUE"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE.yaml");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!topology_arguments(context, &argc, &argv, 1, 1, error) || !need_output("generate", output, error))
        return FALSE;
    if (!g_str_has_suffix(argv[1], ".yaml") && !g_str_has_suffix(argv[1], ".yml"))
        return error_input(error,
                           "%s: a fabric is generated from a YAML file (.yaml); to read another format use "
                           "'trainshed topology import'",
                           argv[1]);
    g_autoptr(Fabric) fabric = topology_load(argv[1], NULL, NULL, (const char *const *)sets, NULL, error);
    return fabric != NULL && write_out(fabric, output, error);
}

gboolean
topology_import(int argc, char **argv, GError **error)
{
    g_autofree char *output = NULL, *notes = NULL;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write GraphML to FILE", "FILE"},
        {NULL},
    };
    g_auto(TopologyTexts) texts;
    g_autoptr(GOptionContext) context = g_option_context_new("FILE");
    g_option_context_add_main_entries(context, entries, NULL);
    topology_texts_add(&texts, context);
    TopologyOptions options;
    if (!topology_arguments(context, &argc, &argv, 1, 1, error) || !need_output("import", output, error) ||
        !topology_texts_read(&texts, &options, error))
        return FALSE;
    g_autoptr(Fabric) fabric = topology_read(argv[1], texts.format, &options, &notes, error);
    if (fabric == NULL || !write_out(fabric, output, error))
        return FALSE;
    if (notes != NULL && notes[0] != '\0')
        printf("%s%s", notes, g_str_has_suffix(notes, "\n") ? "" : "\n");
    return TRUE;
}

gboolean
topology_export(int argc, char **argv, GError **error)
{
    g_autofree char *output = NULL, *format = NULL, *to = NULL;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write to FILE", "FILE"},
        {"to", 't', 0, G_OPTION_ARG_STRING, &to, "The format to write; default: graphml", "NAME"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &format, "Read FABRIC as this format; default: as its content shows",
         "NAME"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!topology_arguments(context, &argc, &argv, 1, 1, error) || !need_output("export", output, error))
        return FALSE;
    const TopologyWriter *writer = topology_writer_find(to != NULL ? to : "graphml", error);
    if (writer == NULL)
        return FALSE;
    g_autoptr(Fabric) fabric = topology_load(argv[1], format, NULL, NULL, NULL, error);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    if (fabric == NULL || !writer->write(fabric, output, notes, error))
        return FALSE;
    for (guint i = 0; i < notes->len; i++)
        printf("%s: %s\n", writer->name, (const char *)g_ptr_array_index(notes, i));
    return TRUE;
}

static void
print_formats(FILE *out)
{
    size_t n;
    const TopologyFormat *const *formats = topology_formats(&n);
    fprintf(out, "Formats that are read:\n");
    g_autoptr(Table) known = table_new("|");
    for (size_t i = 0; i < n; i++) {
        table_add(known, "  %s", formats[i]->name);
        table_add(known, "%s", formats[i]->help);
    }
    table_print(known, out);

    fprintf(out, "\nFormats that are written:\n");
    g_autoptr(Table) written = table_new("|");
    for (const TopologyWriter *const *writer = topology_writers(); *writer != NULL; writer++) {
        table_add(written, "  %s", (*writer)->name);
        table_add(written, "%s", (*writer)->help);
    }
    table_print(written, out);
}

static gboolean
run_formats(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    if (!topology_arguments(context, &argc, &argv, 0, 0, error))
        return FALSE;
    print_formats(stdout);
    return TRUE;
}

/* The table: one line a verb. */
static const Subcommand verbs[] = {
    {"generate", "FILE.yaml -o OUT", "make a fabric from the generate keys of a scenario or settings file",
     topology_generate},
    {"import", "FILE -o OUT", "read a fabric in a known format, write it as GraphML", topology_import},
    {"export", "FABRIC --to NAME -o OUT", "write a fabric in another format, and what that cannot hold",
     topology_export},
    {"join", "FABRIC [--inside FILE] [--and FABRIC --wan WORDS] -o OUT",
     "put a server into every host, and links between fabrics", topology_join},
    {"check", "FABRIC", "all problems of a file; whether every GPU reaches every other, and what would part them",
     topology_check},
    {"show", "FABRIC [NODE [NODE]]", "what is in it, capacities and oversubscription; a node; links of two nodes",
     topology_show},
    {"paths", "FABRIC A B", "the routes from A to B", topology_paths},
    {"cut", "FABRIC [A B]", "what buildings, regions or zones can send each other", topology_cut},
    {"formats", "", "the formats that are read and written", run_formats},
    {NULL},
};

static void
print_more(FILE *out)
{
    fputc('\n', out);
    print_formats(out);
    fprintf(out, "\nA FABRIC is a file in one of them, or a YAML file with a fabric key: a scenario, or settings.\n");
}

static gboolean
run(int argc, char **argv, GError **error)
{
    return subcommand_run(&(SubcommandTable){"topology", verbs, print_more}, argc, argv, error);
}

const Command command_topology = {"topology", "make, read, check and question fabrics", run};
