/* jobs.c - trainshed jobs: formats, info, convert of job logs */
#include "base/error.h"
#include "cli/command.h"
#include "cli/subcommand.h"
#include "cli/table.h"
#include "workload/job_log.h"

#include <math.h>
#include <string.h>

typedef struct {
    char *format, *from, *to, *output; /* of the options */
    JobLog *log;
} Request;

static void
request_clear(Request *request)
{
    g_free(request->format);
    g_free(request->from);
    g_free(request->to);
    g_free(request->output);
    job_log_free(request->log);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Request, request_clear)

/* "12 h", "3.5 d": so long after the log's zero; or a date, where the log has dates. */
static gboolean
parse_bound(const JobLog *log, const char *option, const char *text, int64_t *ms, GError **error)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1e3}, {"min", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}};
    *ms = JOB_LOG_ABSENT;
    if (text == NULL)
        return TRUE;
    char *end;
    double value = g_ascii_strtod(text, &end);
    const char *unit = end + strspn(end, " ");
    for (size_t i = 0; end != text && i < G_N_ELEMENTS(units); i++)
        if (strcmp(unit, units[i].name) == 0 && value >= 0 && value * units[i].ms < 1e15) {
            *ms = (int64_t)round(value * units[i].ms);
            return TRUE;
        }
    gboolean absolute;
    if (log->zero_ms != JOB_LOG_ABSENT && job_log_time(text, ms, &absolute) && absolute) {
        *ms -= log->zero_ms;
        return TRUE;
    }
    return error_input(error, "%s: found \"%s\", expected a time with its unit, such as \"36 h\" or \"10 d\"%s", option,
                       text, log->zero_ms != JOB_LOG_ABSENT ? ", or a date, such as \"2023-03-01 00:00:00\"" : "");
}

static gboolean
request_parse(Request *request, int argc, char **argv, const char *summary, gboolean writes, GError **error)
{
    const GOptionEntry entries[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &request->format, "the format's name (default: by content)", "NAME"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &request->from, "only jobs that arrive at this time or later", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &request->to, "only jobs that arrive before this time", "TIME"},
        {writes ? "output" : NULL, 'o', 0, G_OPTION_ARG_FILENAME, &request->output, "the CSV file to write", "FILE"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new(summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_description(context,
                                     "Times count from the first arrival (\"36 h\", \"10 d\"), or are dates.\n");
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc != 2)
        return error_input(error, "jobs %s: %d files given, 1 expected", argv[0], argc - 1);
    if (writes && request->output == NULL)
        return error_input(error, "jobs %s: where to? write -o FILE", argv[0]);
    request->log = job_log_read(argv[1], request->format, error);
    int64_t from_ms, to_ms;
    if (request->log == NULL || !parse_bound(request->log, "--from", request->from, &from_ms, error) ||
        !parse_bound(request->log, "--to", request->to, &to_ms, error))
        return FALSE;
    if (from_ms != JOB_LOG_ABSENT && to_ms != JOB_LOG_ABSENT && to_ms <= from_ms)
        return error_input(error, "--to: found \"%s\", which is not after --from \"%s\"", request->to, request->from);
    job_log_cut(request->log, from_ms, to_ms);
    return TRUE;
}

typedef struct {
    guint states[JOB_STATES];
    guint no_submit, no_start, no_duration, no_gpus, no_processors;
    double gpus, gpu_demand, gpu_s;
    double processors, processor_s; /* whole numbers: exact below 2^53 */
    int64_t last_ms, wait_ms;
    guint waits;
    double most_gpus;
} Sums;

static void
add_job(Sums *sums, const JobEntry *entry)
{
    sums->states[entry->state]++;
    sums->no_submit += entry->submit_ms == JOB_LOG_ABSENT;
    sums->no_start += entry->start_ms == JOB_LOG_ABSENT;
    sums->no_duration += entry->duration_ms == JOB_LOG_ABSENT;
    sums->no_gpus += entry->gpus < 0;
    sums->no_processors += entry->processors < 0;
    double seconds = entry->duration_ms != JOB_LOG_ABSENT ? (double)entry->duration_ms / 1000 : 0;
    if (entry->gpus >= 0) {
        sums->gpus += entry->gpus;
        sums->gpu_demand += entry->gpus * entry->gpu_share;
        sums->gpu_s += entry->gpus * entry->gpu_share * seconds;
        sums->most_gpus = MAX(sums->most_gpus, entry->gpus);
    }
    if (entry->processors >= 0) {
        sums->processors += (double)entry->processors;
        sums->processor_s += (double)entry->processors * seconds;
    }
    int64_t arrival = job_entry_arrival(entry);
    if (arrival != JOB_LOG_ABSENT)
        sums->last_ms = MAX(sums->last_ms, arrival);
    if (entry->submit_ms != JOB_LOG_ABSENT && entry->start_ms != JOB_LOG_ABSENT) {
        sums->wait_ms += entry->start_ms - entry->submit_ms;
        sums->waits++;
    }
}

static void print_line(Table *table, const char *what, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void
print_line(Table *table, const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    table_add(table, "%s", what);
    table_take(table, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

static char *
date_of(const JobLog *log)
{
    if (log->zero_ms == JOB_LOG_ABSENT)
        return g_strdup("not said");
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(log->zero_ms / 1000);
    return time != NULL ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") : g_strdup("beyond the calendar");
}

static gboolean
run_info(int argc, char **argv, GError **error)
{
    g_auto(Request) request = {0};
    if (!request_parse(&request, argc, argv, "LOG - what a job log holds", FALSE, error))
        return FALSE;
    const JobLog *log = request.log;
    Sums sums = {0};
    guint n = log->entries->len;
    for (guint i = 0; i < n; i++)
        add_job(&sums, &g_array_index(log->entries, JobEntry, i));
    g_autoptr(Table) table = table_new("|");
    g_autofree char *date = date_of(log);
    print_line(table, "format", "%s", log->format);
    print_line(table, "jobs", "%u", n);
    for (JobState state = 0; state < JOB_STATES; state++)
        if (sums.states[state] > 0)
            print_line(table, "", "%u %s", sums.states[state], job_state_names[state]);
    print_line(table, "zero", "%s", date);
    print_line(table, "last arrival", "%.15g s", (double)sums.last_ms / 1000);
    if (sums.waits > 0)
        print_line(table, "mean wait", "%.6g s of %u jobs", (double)sums.wait_ms / 1000 / sums.waits, sums.waits);
    if (sums.no_gpus < n) {
        print_line(table, "GPUs", "%.15g, most of a job %.15g", sums.gpus, sums.most_gpus);
        if (sums.gpu_demand != sums.gpus)
            print_line(table, "GPU demand", "%.10g (shares of GPUs)", sums.gpu_demand);
        print_line(table, "GPU-seconds", "%.15g", sums.gpu_s);
    }
    if (sums.no_processors < n) {
        print_line(table, "processors", "%.15g", sums.processors);
        print_line(table, "processor-seconds", "%.15g", sums.processor_s);
    }
    print_line(table, "not said", "submission %u, start %u, duration %u, GPUs %u, processors %u", sums.no_submit,
               sums.no_start, sums.no_duration, sums.no_gpus, sums.no_processors);
    table_print(table, stdout);
    for (guint i = 0; i < log->notes->len; i++)
        printf("note: %s\n", (const char *)g_ptr_array_index(log->notes, i));
    return TRUE;
}

static gboolean
run_convert(int argc, char **argv, GError **error)
{
    g_auto(Request) request = {0};
    if (!request_parse(&request, argc, argv, "LOG -o FILE - writes the jobs as CSV, times made relative", TRUE, error))
        return FALSE;
    if (!job_log_write(request.log, request.output, error))
        return FALSE;
    printf("%s: %u jobs\n", request.output, request.log->entries->len);
    return TRUE;
}

static gboolean
run_formats(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc > 1)
        return error_input(error, "jobs formats: \"%s\" is one word too many", argv[1]);
    g_autoptr(Table) table = table_new("format|what it is");
    for (const JobLogFormat *const *format = job_log_formats(); *format != NULL; format++) {
        table_add(table, "%s", (*format)->name);
        table_add(table, "%s", (*format)->help);
    }
    table_print(table, stdout);
    return TRUE;
}

static const Subcommand subcommands[] = {
    {"formats", "", "the formats that are read", run_formats},
    {"info", "LOG", "what a job log holds", run_info},
    {"convert", "LOG -o OUT", "a job log, or a window of it, as CSV", run_convert},
    {NULL},
};

static gboolean
run(int argc, char **argv, GError **error)
{
    return subcommand_run(&(SubcommandTable){"jobs", subcommands, NULL}, argc, argv, error);
}

const Command command_jobs = {"jobs", "job logs of clusters: formats, info, convert", run};
