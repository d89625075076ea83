/* job_log_table.h - job logs that are tables with a line of column names: which column is which
 *
 * Read through libcsv: fields may be quoted. */
#pragma once

#include "workload/job_log.h"

/* Names of columns; NULL = this log has no such column. */
typedef struct {
    const char *id, *user, *queue, *model, *state;
    const char *submit, *start, *end, *duration; /* instants, or seconds */
    const char *gpus, *processors, *nodes;
    const char *gpu_milli;    /* thousandths of each GPU */
    const char *gpu_percent;  /* of a GPU for each instance; gpus counts the instances */
    const char *zero_unix;    /* the zero in seconds since 1970; all times are counted from it */
    const char *network_Gbps; /* Gb/s */
    const char *also[4];      /* further columns this log is known by */
} JobColumns;

/* Has the first line of this text all these columns? */
gboolean job_table_recognise(const JobColumns *columns, const char *head, size_t length);
/* names: of the columns, parted by commas, of a file that has no such line; NULL = its first line. */
gboolean job_table_read(JobLog *log, const char *path, const JobColumns *columns, const char *names, GError **error);
