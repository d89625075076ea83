/* hold.c - the hold model: pop one event, push one a random or fixed increment later
 *
 * One JSON line a case: events popped a second of one core (median of 5), its wall time, the peak memory
 * of the process so far. Events come from 1024 senders, as many senders as a large job has ranks. */
#include "base/random.h"
#include "engine/event_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 5, SENDERS = 1024, EVENTS = 5000000 };

static double
cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Increments up to 2 us, drawn beforehand so that the dice are not measured; all 1 us where equal. */
static double
hold(size_t pending, gboolean equal)
{
    enum { DICE = 1 << 16 };
    static SimTime increments[DICE];
    Random random = random_named(1, "hold");
    for (size_t i = 0; i < DICE; i++)
        increments[i] = equal ? PS_PER_US : 1 + (SimTime)random_below(&random, 2 * PS_PER_US);
    g_autoptr(EventQueue) queue = event_queue_new(1);
    for (size_t i = 0; i < pending; i++)
        event_queue_push(queue, (Event){.when = increments[i % DICE], .sender = (uint32_t)(i % SENDERS)});
    size_t n = MAX(EVENTS, 2 * pending);
    double start = cpu_s();
    for (size_t i = 0; i < n; i++) {
        Event event;
        event_queue_pop(queue, &event);
        event.when += increments[i % DICE];
        event_queue_push(queue, event);
    }
    return (double)n / (cpu_s() - start);
}

int
main(void)
{
    static const size_t pending[] = {1000, 10000, 100000, 1000000};
    for (size_t p = 0; p < G_N_ELEMENTS(pending); p++)
        for (int equal = 0; equal < 2; equal++) {
            double rates[RUNS], start = (double)g_get_monotonic_time();
            for (int i = 0; i < RUNS; i++)
                rates[i] = hold(pending[p], equal);
            qsort(rates, RUNS, sizeof *rates, ascending);
            struct rusage usage;
            getrusage(RUSAGE_SELF, &usage);
            printf("{\"bench\": \"hold\", \"pending\": %zu, \"increments\": \"%s\", \"events_per_s\": %.4g, "
                   "\"wall_s\": %.3f, \"peak_rss_MiB\": %.1f}\n",
                   pending[p], equal ? "equal" : "random", rates[RUNS / 2],
                   ((double)g_get_monotonic_time() - start) / G_USEC_PER_SEC, (double)usage.ru_maxrss / 1024);
            fflush(stdout);
        }
    return EXIT_SUCCESS;
}
