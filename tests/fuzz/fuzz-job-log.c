/* fuzz-job-log.c - any bytes as a job log of each format: rows with sound figures, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/job_log.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    for (const JobLogFormat *const *format = job_log_formats(); *format != NULL; format++) {
        GError *error = NULL;
        g_autoptr(JobLog) log = job_log_read(path, (*format)->name, &error);
        fuzz_check(log != NULL, error);
        for (guint i = 0; log != NULL && i < log->entries->len; i++) {
            const JobEntry *entry = &g_array_index(log->entries, JobEntry, i);
            if ((entry->duration_ms != JOB_LOG_ABSENT && entry->duration_ms < 0) || !(entry->gpus >= -1) ||
                entry->processors < -1)
                abort();
        }
    }
    return 0;
}
