/* measured.c - trainshed measured show: a log of bandwidth measurements as a table to compare with */
#include "workload/measured.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/subcommand.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
add_figure(Table *table, double value)
{
    if (isnan(value))
        table_add(table, "-");
    else
        table_take(table, g_strdup_printf(value >= 1000 ? "%.1f" : "%.2f", value));
}

static void
print_collective(const Measured *measured)
{
    printf("%s of %u ranks on %u host%s%s%s, busbw = algbw x %.6g\n", measured->kind ? measured->kind : "collective",
           measured->ranks, measured->hosts, measured->hosts == 1 ? "" : "s", measured->device ? ", " : "",
           measured->device ? measured->device : "", measured->factor);
    g_autoptr(Table) table =
        table_new(">bytes|>time us|>algbw GB/s|>busbw GB/s|>in place us|>algbw GB/s|>busbw GB/s|figures agree");
    for (guint i = 0; i < measured->rows->len; i++) {
        const MeasuredRow *row = &g_array_index(measured->rows, MeasuredRow, i);
        const MeasuredTime *times[] = {&row->out_of_place, &row->in_place};
        table_add(table, "%" G_GUINT64_FORMAT, row->bytes);
        for (guint k = 0; k < G_N_ELEMENTS(times); k++) {
            add_figure(table, times[k]->time_us);
            add_figure(table, times[k]->algbw_GBps);
            add_figure(table, times[k]->busbw_GBps);
        }
        table_add(table, "%s", row->out_of_place.fits && row->in_place.fits ? "yes" : "NO");
    }
    table_print(table, stdout);
    printf("best busbw out of place %.2f GB/s; mean over all rows %.4f", measured->best_busbw_GBps,
           measured->average_GBps);
    if (!isnan(measured->average_printed_GBps))
        printf(" (printed %g)", measured->average_printed_GBps);
    printf("; %u row%s of size 0; %u of %u rows whose figures do not agree\n", measured->empty,
           measured->empty == 1 ? "" : "s", measured->unfit, measured->rows->len);
}

static void
print_link(const Measured *measured)
{
    printf("%s%s%s\n", measured->kind ? measured->kind : "link", measured->device ? ", " : "",
           measured->device ? measured->device : "");
    g_autoptr(Table) table = table_new(">bytes|>iterations|>peak GB/s|>average GB/s|>average Gb/s");
    for (guint i = 0; i < measured->rows->len; i++) {
        const MeasuredRow *row = &g_array_index(measured->rows, MeasuredRow, i);
        table_add(table, "%" G_GUINT64_FORMAT, row->bytes);
        table_add(table, "%" G_GUINT64_FORMAT, row->iterations);
        table_add(table, "%.4f", row->peak_Bps / 1e9);
        table_add(table, "%.4f", row->average_Bps / 1e9);
        table_add(table, "%.4f", row->average_Bps * 8 / 1e9);
    }
    table_print(table, stdout);
}

static gboolean
run_show(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new("LOG - measurements as a table to compare with");
    g_option_context_set_description(context,
                                     "LOG is the output of nccl-tests, rccl-tests or perftest (ib_write_bw and "
                                     "its sisters).\n");
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc != 2)
        return error_input(error, "measured show: %d files given, 1 expected", argc - 1);
    g_autoptr(Measured) measured = measured_read(argv[1], error);
    if (measured == NULL)
        return FALSE;
    if (measured->form == MEASURED_COLLECTIVE)
        print_collective(measured);
    else
        print_link(measured);
    return TRUE;
}

static const Subcommand subcommands[] = {
    {"show", "LOG", "a log as a table to compare with", run_show},
    {NULL},
};

static gboolean
run(int argc, char **argv, GError **error)
{
    return subcommand_run(&(SubcommandTable){"measured", subcommands, NULL}, argc, argv, error);
}

const Command command_measured = {"measured", "measurements of others as tables: show", run};
