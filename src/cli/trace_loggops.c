#include "cli/trace_loggops.h"

#include "base/error.h"
#include "cli/command.h"
#include "workload/goal_time.h"

#include <stdio.h>

/* Per byte in ns as LogGOPSim takes it; negative or endless: an error. */
static gboolean
check(double value, const char *name, double most, GError **error)
{
    if (value >= 0 && value <= most)
        return TRUE;
    return error_input(error, "--%s is %g; 0 to %g ns expected", name, value, most);
}

gboolean
trace_loggops(int argc, char **argv, GError **error)
{
    double L = 2500, o = 1500, g = 1000, G = 6, O = 0;
    gint64 S = 65535;
    const GOptionEntry entries[] = {
        {"L", 'L', 0, G_OPTION_ARG_DOUBLE, &L, "Latency, ns (2500)", "NS"},
        {"o", 'o', 0, G_OPTION_ARG_DOUBLE, &o, "Overhead of a message, ns (1500)", "NS"},
        {"g", 'g', 0, G_OPTION_ARG_DOUBLE, &g, "Gap between messages, ns (1000)", "NS"},
        {"G", 'G', 0, G_OPTION_ARG_DOUBLE, &G, "Gap a byte, ns (6)", "NS"},
        {"O", 'O', 0, G_OPTION_ARG_DOUBLE, &O, "Overhead a byte, ns (0)", "NS"},
        {"S", 'S', 0, G_OPTION_ARG_INT64, &S, "Above so many bytes a send waits for its receive; 0 = never (65535)",
         "BYTES"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE - when a GOAL schedule ends, without a fabric");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc != 2)
        return error_input(error, "trace loggops: %d files given, 1 expected", argc - 1);
    if (!check(L, "L", 1e12, error) || !check(o, "o", 1e12, error) || !check(g, "g", 1e12, error) ||
        !check(G, "G", 1e6, error) || !check(O, "O", 1e6, error))
        return FALSE;
    if (S < 0)
        return error_input(error, "--S is %" G_GINT64_FORMAT "; 0 or more expected", S);
    g_autoptr(GoalSchedule) schedule = goal_read(argv[1], NULL, error);
    if (schedule == NULL)
        return FALSE;
    GoalCosts costs = {.L_ps = (SimTime)(L * 1e3 + 0.5),
                       .costs = {.o_ps = (SimTime)(o * 1e3 + 0.5),
                                 .g_ps = (SimTime)(g * 1e3 + 0.5),
                                 .G_s_per_B = G * 1e-9,
                                 .O_s_per_B = O * 1e-9,
                                 .S_B = (uint64_t)S}};
    GoalTime time;
    if (!goal_time(schedule, &costs, &time, error)) {
        g_prefix_error(error, "%s: ", argv[1]);
        return FALSE;
    }
    printf("%u ranks, %" G_GUINT64_FORMAT " messages: end at %" G_GINT64_FORMAT ".%03d ns, rank %u last\n",
           schedule->n_ranks, time.messages, (gint64)(time.end_ps / PS_PER_NS), (int)(time.end_ps % PS_PER_NS),
           time.rank);
    return TRUE;
}
