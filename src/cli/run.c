/* run.c - trainshed run: a scenario into a database, and its table onto the terminal */
#include "scenario/run.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "results/query.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int signal_number)
{
    interrupted = signal_number;
}

/* The progress line: only on a terminal, at most twice a second. */
typedef struct {
    gboolean shown;
    gint64 began_us, last_us, limit_us; /* limit 0 = none */
    char *phase;                        /* the one shown last, and when it began */
    gint64 phase_us;
} Progress;

static void
show(Progress *progress, const char *phase, SimTime now, uint64_t events, double done)
{
    gint64 clock = g_get_monotonic_time();
    if (g_strcmp0(progress->phase, phase) != 0) {
        g_free(progress->phase);
        progress->phase = g_strdup(phase);
        progress->phase_us = clock;
    }
    if (!isatty(STDERR_FILENO) || clock - progress->last_us < 500000)
        return;
    progress->last_us = clock;
    progress->shown = TRUE;
    double wall_s = (double)(clock - progress->phase_us) / 1e6;
    g_autofree char *time = units_format_time(now);
    fprintf(stderr, "\r\033[K%s: %s simulated, %.2f M events/s", phase, time,
            wall_s > 0 ? (double)events / 1e6 / wall_s : 0);
    if (done > 0)
        fprintf(stderr, ", %.0f %%, %.0f s remaining", 100 * done, wall_s * (1 - done) / done);
    fflush(stderr);
}

static gboolean
watch(void *owner, const char *phase, SimTime now, uint64_t events, double done)
{
    Progress *progress = owner;
    show(progress, phase, now, events, done);
    gboolean late = progress->limit_us > 0 && g_get_monotonic_time() - progress->began_us > progress->limit_us;
    return !interrupted && !late;
}

typedef struct {
    char *output, *model, *record, *time_limit;
    char **sets;
    gboolean no_baseline, no_memo, quiet;
} Options;

/* --model, --record, --no-baseline and --no-memo are short for --set. */
static char **
all_sets(const Options *options)
{
    g_autoptr(GPtrArray) sets = g_ptr_array_new();
    for (size_t i = 0; options->sets != NULL && options->sets[i] != NULL; i++)
        g_ptr_array_add(sets, g_strdup(options->sets[i]));
    if (options->model != NULL)
        g_ptr_array_add(sets, g_strdup_printf("network.model=%s", options->model));
    if (options->record != NULL)
        g_ptr_array_add(sets, g_strdup_printf("record.level=%s", options->record));
    if (options->no_baseline)
        g_ptr_array_add(sets, g_strdup("baseline=false"));
    if (options->no_memo)
        g_ptr_array_add(sets, g_strdup("memo=false"));
    g_ptr_array_add(sets, NULL);
    return (char **)g_ptr_array_steal(sets, NULL);
}

static gboolean
perform(const char *path, const Options *options, GError **error)
{
    g_auto(GStrv) sets = all_sets(options);
    Progress progress = {.began_us = g_get_monotonic_time()};
    SimTime limit;
    if (options->time_limit != NULL) {
        if (!units_parse_time(options->time_limit, &limit, error)) {
            g_prefix_error(error, "--time-limit: ");
            return FALSE;
        }
        progress.limit_us = limit / PS_PER_US;
    }
    g_autoptr(Scenario) scenario = scenario_read(path, (const char *const *)sets, error);
    if (scenario == NULL)
        return FALSE;
    RunOptions run = {
        .database = options->output ? options->output : "results.db", .watch = watch, .watch_owner = &progress};
    int64_t run_id = -1;
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    gboolean done = scenario_run(scenario, &run, &run_id, error);
    g_free(progress.phase);
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    if (!done)
        return FALSE;
    if (options->quiet)
        return TRUE;
    printf("%s: run %" G_GINT64_FORMAT " in %s\n\n", scenario->name, run_id, run.database);
    return results_print_summary(run.database, run_id, stdout, error);
}

static gboolean
command(int argc, char **argv, GError **error)
{
    Options options = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Database to write or add to (results.db)", "FILE"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.sets,
         "Change a value of the scenario, e.g. 'jobs[0].gpus=64'", "PATH=VALUE"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &options.model, "Network model, same as --set network.model=NAME", "NAME"},
        {"record", 0, 0, G_OPTION_ARG_STRING, &options.record, "summary, iterations, collectives or flows", "LEVEL"},
        {"no-baseline", 0, 0, G_OPTION_ARG_NONE, &options.no_baseline, "Do not run each job alone as well", NULL},
        {"no-memo", 0, 0, G_OPTION_ARG_NONE, &options.no_memo, "Do not skip over iterations that recur", NULL},
        {"time-limit", 0, 0, G_OPTION_ARG_STRING, &options.time_limit, "End after this much wall time, exit status 3",
         "TIME"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Print no table", NULL},
        {0},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("SCENARIO - run a scenario");
    g_option_context_add_main_entries(context, entries, NULL);
    gboolean done = command_parse(context, &argc, &argv, error);
    if (done && argc != 2)
        done = error_input(error, "one scenario is wanted, found %d; see trainshed run --help", argc - 1);
    if (done)
        done = perform(argv[1], &options, error);
    g_free(options.output);
    g_free(options.model);
    g_free(options.record);
    g_free(options.time_limit);
    g_strfreev(options.sets);
    return done;
}

const Command command_run = {"run", "run a scenario: jobs on a fabric, each also alone, into a database", command};
