/* measured.h - logs of bandwidth measurements as tables to compare with: nccl-tests, rccl-tests, perftest
 *
 * Lines that are no rows (headers, NCCL's own messages, what a shell added) are passed over. Of a collective every
 * row's own figures are checked: algbw = bytes / time, busbw = algbw x factor, each as exactly as it was printed. The
 * factor tells the kind: 2 (n - 1) / n all-reduce; (n - 1) / n all-gather, all-to-all or reduce-scatter; 1 broadcast or
 * reduce (nccl-tests, doc/PERFORMANCE.md). */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    double time_us, algbw_GBps, busbw_GBps; /* NAN where the row has none */
    gboolean fits;                          /* its figures agree with each other */
} MeasuredTime;

typedef struct {
    uint64_t bytes, iterations; /* iterations: of perftest */
    size_t line;
    MeasuredTime out_of_place, in_place; /* collectives */
    double peak_Bps, average_Bps;        /* perftest */
} MeasuredRow;

typedef enum { MEASURED_COLLECTIVE, MEASURED_LINK } MeasuredForm;

typedef struct {
    MeasuredForm form;
    GArray *rows; /* of MeasuredRow, in the order of the log */
    uint32_t ranks, hosts;
    char *device;  /* of rank 0; what perftest tested; NULL = not said */
    char *kind;    /* "all_reduce", "all_gather or all_to_all", "RDMA_Write BW" */
    double factor; /* busbw / algbw; NAN where no row tells */
    double average_printed_GBps, average_GBps, best_busbw_GBps; /* best: out of place */
    uint32_t unfit;                                             /* rows whose figures do not agree */
    uint32_t empty;                                             /* rows of size 0 */
} Measured;

/* NULL with an INPUT error: no row of a known kind, or a row that is broken. */
Measured *measured_read(const char *path, GError **error);
void measured_free(Measured *measured); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Measured, measured_free)
