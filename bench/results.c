/* bench/results - rows per second into link_usage, through the recorder's observer
 *
 * 2,000,000 rows (256 links, 2 jobs, bucket after bucket, as a network tells them) into a new file, five times; the
 * figure is the median, from the first row to the last commit. The close, which makes the indexes, is timed apart.
 * One line of JSON. */
#include "config.h"

#include "base/random.h"
#include "results/recorder.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 2000000, LINKS = 256, JOBS = 2, REPEATS = 5 };

static void
quit_on(GError *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "bench/results: %s\n", error->message);
    exit(EXIT_FAILURE);
}

static Fabric *
make_fabric(void)
{
    GError *error = NULL;
    Fabric *fabric = fabric_new();
    for (int i = 0; i < 2; i++) {
        Node node = node_default();
        node.name = i == 0 ? "a" : "b";
        fabric_add_node(fabric, &node, &error);
        quit_on(error);
    }
    for (int i = 0; i < LINKS; i++) {
        Link link = link_default();
        link.src = (uint32_t)i % 2;
        link.dst = 1 - link.src;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = 50e9;
        fabric_add_link(fabric, &link, &error);
        quit_on(error);
    }
    fabric_seal(fabric, &error);
    quit_on(error);
    return fabric;
}

static void
write_rows(const NetworkObserver *observer)
{
    Random dice = random_named(1, "bench/results");
    for (int64_t row = 0; row < ROWS; row++) {
        uint32_t link = (uint32_t)(row / JOBS % LINKS), job = (uint32_t)(row % JOBS);
        SimTime bucket = row / (JOBS * LINKS) * PS_PER_MS;
        observer->link_usage(observer->owner, link, job, bucket, PS_PER_MS, random_below(&dice, 50000000),
                             (SimTime)random_below(&dice, PS_PER_MS));
    }
}

static double
cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Seconds for the rows alone by the wall and of CPU, and of CPU for ending the run and closing the file. */
static void
once(const char *path, const Fabric *fabric, double *rows_s, double *rows_cpu_s, double *end_cpu_s)
{
    GError *error = NULL;
    ResultsDb *db = results_open(path, &error);
    quit_on(error);
    RunInfo run = {
        .name = "bench", .role = "shared", .parent_run_id = -1, .scenario = "", .version = "0", .model = "fluid"};
    JobInfo jobs[JOBS] = {{.name = "a", .gpus = 1, .iterations = 1, .present = TRUE},
                          {.name = "b", .gpus = 1, .iterations = 1, .present = TRUE}};
    Recorder *recorder = recorder_begin(db, &run, fabric, jobs, JOBS, RESULTS_COLLECTIVES, &error);
    quit_on(error);
    gint64 begin = g_get_monotonic_time();
    double begin_cpu_s = cpu_s();
    write_rows(&recorder_observer(recorder)->network);
    recorder_flush(recorder);
    *rows_s = (double)(g_get_monotonic_time() - begin) / 1e6;
    double middle_cpu_s = cpu_s();
    *rows_cpu_s = middle_cpu_s - begin_cpu_s;
    recorder_end(recorder, "done", PS_PER_S, 0, 0, &error);
    quit_on(error);
    results_close(db, &error);
    quit_on(error);
    *end_cpu_s = cpu_s() - middle_cpu_s;
}

static int
by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int
main(void)
{
    g_autofree char *folder = g_dir_make_tmp("trainshed-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "results.db", NULL);
    g_autoptr(Fabric) fabric = make_fabric();
    double rows_s[REPEATS], rows_cpu_s[REPEATS], end_cpu_s[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        once(path, fabric, &rows_s[i], &rows_cpu_s[i], &end_cpu_s[i]);
        g_unlink(path);
    }
    g_rmdir(folder);
    qsort(rows_s, REPEATS, sizeof rows_s[0], by_value);
    qsort(rows_cpu_s, REPEATS, sizeof rows_cpu_s[0], by_value);
    qsort(end_cpu_s, REPEATS, sizeof end_cpu_s[0], by_value);
    printf(
        "{\"bench\": \"results\", \"rows\": %d, \"repeats\": %d, \"rows_per_s\": %.0f, \"slowest_rows_per_s\": %.0f, "
        "\"rows_per_cpu_s\": %.0f, \"end_cpu_s\": %.3f}\n",
        ROWS, REPEATS, ROWS / rows_s[REPEATS / 2], ROWS / rows_s[REPEATS - 1], ROWS / rows_cpu_s[REPEATS / 2],
        end_cpu_s[REPEATS / 2]);
    return 0;
}
