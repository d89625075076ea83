/* recorder_jobs.c - what jobs did: placements, iterations, collectives, ends
 *
 * Training repeats. Equal iterations that follow each other end to end are one row, open until a different one comes;
 * at each commit it is written as far as it has got, so that a killed run loses none that was committed. */
#include "results/recorder_state.h"

#include "base/error.h"

#include <assert.h>

static void
observe_job_started(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks)
{
    Recorder *recorder = owner;
    assert(job < recorder->n_jobs);
    JobState *state = &recorder->jobs[job];
    if (!state->started)
        state->start_ps = start_ps;
    state->started = TRUE;
    state->waited_ps += start_ps - state->waits_from_ps;
    g_free(state->status);
    state->status = g_strdup("running");
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        Bulk *row = recorder_row(recorder, TABLE_PLACEMENT);
        if (row == NULL)
            return;
        bulk_int(row, job);
        bulk_int(row, rank);
        bulk_int(row, nodes[rank]);
        recorder_row_done(recorder, TABLE_PLACEMENT);
    }
}

/* Iteration counts, by DEFINITIONS 5: the mean is from the end of the last uncounted one before the first counted, or
 * from the job's start, to the end of the last counted. */
static void
count(JobState *state, const IterationRecord *iteration)
{
    if (state->paused && state->counted > 0)
        state->paused_ps += iteration->start_ps - state->waits_from_ps;
    state->paused = FALSE;
    if (iteration->counted) {
        if (state->counted == 0)
            state->counted_from_ps = state->iterations > 0 ? state->last_end_ps : state->start_ps;
        state->counted++;
        state->counted_to_ps = iteration->end_ps;
        state->compute_ps += (uint64_t)iteration->compute_ps;
        state->exposed_wait_ps += (uint64_t)iteration->exposed_wait_ps;
        state->exposed_transfer_ps += (uint64_t)iteration->exposed_transfer_ps;
        state->idle_ps += (uint64_t)iteration->idle_ps;
    }
    state->iterations++;
    state->last_end_ps = iteration->end_ps;
}

/* Is next what the expansion of the open row would give as its next one? A second one may start at any distance, which
 * is then that of all (iterations of ranks that run ahead overlap). */
static gboolean
continues(const JobState *state, const IterationRecord *next)
{
    const IterationRecord *first = &state->first;
    SimTime apart = next->start_ps - first->start_ps;
    return state->merged > 0 && next->index == first->index + state->merged &&
           (state->merged == 1 || apart == state->period_ps * state->merged) &&
           next->end_ps - next->start_ps == first->end_ps - first->start_ps && next->compute_ps == first->compute_ps &&
           next->exposed_wait_ps == first->exposed_wait_ps && next->exposed_transfer_ps == first->exposed_transfer_ps &&
           next->idle_ps == first->idle_ps && !next->counted == !first->counted;
}

/* The open row as it stands; it stays open. */
static void
write_iteration(Recorder *recorder, JobState *state)
{
    if (!state->unwritten)
        return;
    state->unwritten = FALSE; /* first: the end of the row may commit, which writes open rows */
    Bulk *row = recorder_row(recorder, TABLE_ITERATION);
    if (row == NULL)
        return;
    bulk_int(row, state->first.job);
    bulk_int(row, state->first.index);
    bulk_int(row, state->merged);
    bulk_int(row, state->first.start_ps);
    bulk_int(row, state->first.end_ps);
    bulk_int(row, state->first.compute_ps);
    bulk_int(row, state->first.exposed_wait_ps);
    bulk_int(row, state->first.exposed_transfer_ps);
    bulk_int(row, state->first.idle_ps);
    bulk_int(row, state->period_ps);
    bulk_int(row, state->first.counted ? 1 : 0);
    recorder_row_done(recorder, TABLE_ITERATION);
}

static void
observe_iteration(void *owner, const IterationRecord *iteration)
{
    Recorder *recorder = owner;
    assert(iteration->job < recorder->n_jobs);
    JobState *state = &recorder->jobs[iteration->job];
    count(state, iteration);
    if (recorder->level < RESULTS_ITERATIONS)
        return;
    if (continues(state, iteration)) {
        if (state->merged == 1)
            state->period_ps = iteration->start_ps - state->first.start_ps;
        state->merged++;
    } else {
        write_iteration(recorder, state);
        state->first = *iteration;
        state->merged = 1;
        state->period_ps = iteration->end_ps - iteration->start_ps;
    }
    state->unwritten = TRUE;
    recorder_tick(recorder);
}

void
recorder_write_open_iterations(Recorder *recorder)
{
    for (uint32_t job = 0; job < recorder->n_jobs; job++)
        write_iteration(recorder, &recorder->jobs[job]);
}

static void
observe_collective(void *owner, const CollectiveRecord *collective)
{
    Recorder *recorder = owner;
    if (recorder->level < RESULTS_COLLECTIVES)
        return;
    Bulk *row = recorder_row(recorder, TABLE_COLLECTIVE);
    if (row == NULL)
        return;
    bulk_int(row, recorder->n_collectives++);
    bulk_int(row, collective->job);
    bulk_int(row, collective->iteration);
    bulk_text(row, collective->group);
    bulk_text(row, collective->stream);
    bulk_int(row, collective->seq);
    bulk_text(row, collective_kind_name(collective->kind));
    bulk_text(row, collective->algorithm);
    bulk_int(row, collective->ranks);
    bulk_size(row, collective->bytes);
    bulk_int(row, collective->first_ps);
    bulk_int(row, collective->ready_ps);
    bulk_int(row, collective->end_ps);
    if (collective->alone_ps >= 0)
        bulk_int(row, collective->alone_ps);
    else
        bulk_null(row);
    recorder_row_done(recorder, TABLE_COLLECTIVE);
}

static void
observe_job_ended(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    Recorder *recorder = owner;
    assert(job < recorder->n_jobs);
    JobState *state = &recorder->jobs[job];
    state->ended = end_ps >= 0; /* -1: the run ended before the job */
    state->end_ps = end_ps;
    state->iterations = iterations;
    g_free(state->status);
    state->status = g_strdup(status);
}

static void
observe_job_stopped(void *owner, uint32_t job, SimTime at_ps, SimTime lost_ps)
{
    Recorder *recorder = owner;
    assert(job < recorder->n_jobs);
    JobState *state = &recorder->jobs[job];
    state->stops++;
    state->lost_ps += lost_ps;
    state->waits_from_ps = at_ps;
    state->paused = TRUE;
    g_free(state->status);
    state->status = g_strdup("waiting");
}

static void
observe_event(void *owner, SimTime at_ps, const char *kind, const char *subject, const char *text)
{
    Recorder *recorder = owner;
    Bulk *row = recorder_row(recorder, TABLE_EVENT);
    if (row == NULL)
        return;
    bulk_int(row, at_ps);
    bulk_text(row, kind);
    bulk_text(row, subject != NULL ? subject : "");
    bulk_text(row, text != NULL ? text : "");
    recorder_row_done(recorder, TABLE_EVENT);
}

void
recorder_observe_jobs(Recorder *recorder)
{
    recorder->observer.owner = recorder;
    recorder->observer.job_started = observe_job_started;
    recorder->observer.iteration = observe_iteration;
    recorder->observer.collective = observe_collective;
    recorder->observer.job_ended = observe_job_ended;
    recorder->observer.job_stopped = observe_job_stopped;
    recorder->observer.event = observe_event;
}

/* A time, or null where it is not known. */
static void
bind_time(sqlite3_stmt *statement, int position, gboolean known, uint64_t time_ps)
{
    if (known)
        sqlite3_bind_int64(statement, position, (int64_t)time_ps);
    else
        sqlite3_bind_null(statement, position);
}

static void
write_job(Recorder *recorder, uint32_t job)
{
    const JobState *state = &recorder->jobs[job];
    sqlite3_stmt *update = recorder->update_job;
    gboolean counted = state->counted > 0;
    uint64_t figures[] = {state->compute_ps, state->exposed_wait_ps, state->exposed_transfer_ps, state->idle_ps};
    sqlite3_bind_int64(update, 1, state->iterations);
    bind_time(update, 2, state->started, (uint64_t)state->start_ps);
    bind_time(update, 3, state->ended, (uint64_t)state->end_ps);
    sqlite3_bind_text(update, 4, state->status, -1, SQLITE_STATIC);
    sqlite3_bind_int64(update, 5, state->counted);
    bind_time(update, 6, counted, (uint64_t)state->counted_from_ps);
    bind_time(update, 7, counted, (uint64_t)state->counted_to_ps);
    for (int i = 0; i < 4; i++) {
        if (figures[i] > INT64_MAX && recorder->error == NULL)
            g_set_error(&recorder->error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                        "%s: table job: the iterations of job %u sum to more than 106 days", recorder->db->path, job);
        bind_time(update, 8 + i, counted, figures[i] & INT64_MAX);
    }
    bind_time(update, 12, state->started, (uint64_t)state->waited_ps);
    sqlite3_bind_int64(update, 13, state->stops);
    sqlite3_bind_int64(update, 14, state->lost_ps);
    sqlite3_bind_int64(update, 15, state->paused_ps);
    sqlite3_bind_int64(update, 16, recorder->run_id);
    sqlite3_bind_int64(update, 17, job);
    if (recorder->error == NULL)
        database_step(recorder->db, update, &recorder->error);
}

void
recorder_write_jobs(Recorder *recorder)
{
    for (uint32_t job = 0; job < recorder->n_jobs && recorder->error == NULL; job++)
        if (recorder->present[job])
            write_job(recorder, job);
}
