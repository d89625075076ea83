/* job_log.h - logs of the jobs a cluster ran, as sites and papers publish them, and the table of their readers
 *
 * Every reader gives the same plain rows. What a log does not say stays absent: JOB_LOG_ABSENT in times, -1 in counts,
 * NULL in texts. Times are milliseconds after the log's zero: the earliest submission (start, where no job says when
 * it was submitted). A format is one file and one line in job_log.c; it is known by content, a name overrides. */
#pragma once

#include <glib.h>
#include <stdint.h>

#define JOB_LOG_ABSENT INT64_MIN

typedef enum {
    JOB_STATE_UNKNOWN,
    JOB_STATE_COMPLETED,
    JOB_STATE_FAILED,
    JOB_STATE_CANCELLED,
    JOB_STATE_TIMEOUT,
    JOB_STATE_RUNNING,
    JOB_STATE_PENDING,
    JOB_STATES
} JobState;

typedef struct {
    const char *id, *user, *queue, *model; /* owned by the log; queue: also a partition or virtual cluster */
    JobState state;
    int64_t submit_ms, start_ms, end_ms;
    int64_t duration_ms; /* of running; never below 0 */
    double gpus;         /* number of GPUs held, or asked for */
    double gpu_share;    /* of each of them; 1 = whole ones */
    int64_t processors, nodes;
    double network_Bps; /* asked for */
} JobEntry;

typedef struct {
    GArray *entries; /* of JobEntry, in the order of the log */
    GStringChunk *texts;
    int64_t zero_ms;    /* the zero in milliseconds since 1970 (UTC where the log names no zone); JOB_LOG_ABSENT */
    GPtrArray *notes;   /* of char *: worth saying */
    const char *format; /* its name in the table */
} JobLog;

typedef struct {
    const char *name, *help;
    /* Sure from the first bytes of a file (unpacked; length of them, then a zero)? */
    gboolean (*recognise)(const char *head, size_t length);
    /* Adds the rows with their times as the log counts them. FALSE with an INPUT error that says file and line. */
    gboolean (*read)(JobLog *log, const char *path, GError **error);
} JobLogFormat;

extern const JobLogFormat job_log_acme, job_log_dlrm, job_log_gavel, job_log_helios, job_log_openb, job_log_own,
    job_log_pai, job_log_philly, job_log_runtimes, job_log_sacct, job_log_swf, job_log_tiresias;

/* NULL-terminated. */
const JobLogFormat *const *job_log_formats(void);

/* format may be NULL: as the content shows. NULL with an INPUT error. */
JobLog *job_log_read(const char *path, const char *format, GError **error);
void job_log_free(JobLog *log); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobLog, job_log_free)

/* When a job came: its submission, else its start. */
int64_t job_entry_arrival(const JobEntry *entry);

/* Keeps the jobs that arrive in [from_ms, to_ms) after the log's zero and counts their times from from_ms; jobs without
 * an arrival are dropped, and noted. JOB_LOG_ABSENT = no bound; without from_ms times stay as they are. */
void job_log_cut(JobLog *log, int64_t from_ms, int64_t to_ms);

/* A CSV file that job_log_read reads back equal. Temporary and rename. */
gboolean job_log_write(const JobLog *log, const char *path, GError **error);

/* For readers: nothing known; a text of a log (NULL for an empty one); a note (printf form). */
JobEntry job_entry_default(void);
const char *job_log_text(JobLog *log, const char *text);
void job_log_note(JobLog *log, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Durations from starts and ends where both are known; notes how often the log's own figure differs. */
void job_log_derive_durations(JobLog *log);
/* "2023-05-17 11:00:58+00:00", with T or a space, UTC without a zone; or seconds, with decimals. Empty, None, null,
 * Unknown and N/A are JOB_LOG_ABSENT. *absolute tells which of both it was. FALSE: neither. */
gboolean job_log_time(const char *text, int64_t *ms, gboolean *absolute);
/* Takes the words of any of the formats ("COMPLETED", "Pass", "CANCELLED by 1185300516"). */
JobState job_log_state(const char *text);
extern const char *const job_state_names[]; /* of JOB_STATES, then NULL */
