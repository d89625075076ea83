/* job_open.c - what a job has while it runs: ranks, communicators, mailbox; made at its start, freed after its end
 *
 * A job closes when its last rank has ended, or in mid-flight. What it has in the network then goes on and ends
 * unheard, and what that needs is kept as a ghost until it has drained. A job that starts again has other numbers for
 * its ranks, so that events of the earlier start find nobody. */
#include "cluster/run.h"

#include "cluster/check.h"

#include <assert.h>

typedef struct {
    RankRun *ranks;
    uint32_t n_ranks;
    GPtrArray *scripts;
    Meetings *meetings;
    Mailbox *mailbox;
} Ghost;

static void
ghost_free(Ghost *ghost)
{
    meetings_free(ghost->meetings);
    mailbox_free(ghost->mailbox);
    for (uint32_t r = 0; r < ghost->n_ranks; r++) {
        progress_free(ghost->ranks[r].progress);
        g_free(ghost->ranks[r].let_go_ps);
    }
    g_free(ghost->ranks);
    g_ptr_array_unref(ghost->scripts);
    g_free(ghost);
}

static gboolean
has_drained(const Ghost *ghost)
{
    return meetings_open(ghost->meetings) == 0 && mailbox_in_flight(ghost->mailbox) == 0;
}

void
ghosts_sweep(Simulation *simulation, gboolean all)
{
    GPtrArray *ghosts = simulation->ghosts;
    guint kept = 0;
    for (guint i = 0; i < ghosts->len; i++) {
        Ghost *ghost = ghosts->pdata[i];
        if (all || has_drained(ghost))
            ghost_free(ghost);
        else
            ghosts->pdata[kept++] = ghost;
    }
    g_ptr_array_set_size(ghosts, (gint)kept);
}

/* Its place among the open ones, in job order. */
static guint
place_among(const GArray *open, uint32_t job)
{
    guint at = open->len;
    while (at > 0 && g_array_index(open, uint32_t, at - 1) >= job)
        at--;
    return at;
}

/* Other numbers than at an earlier start. */
static uint32_t
first_number(JobRun *job)
{
    Simulation *simulation = job->simulation;
    if (job->starts == 0)
        return job->first_number;
    uint32_t first = simulation->n_numbers;
    simulation->n_numbers += job->setup->workload->n_ranks;
    simulation->ranks = g_renew(RankRun *, simulation->ranks, simulation->n_numbers + 1);
    for (uint32_t i = first; i < simulation->n_numbers; i++)
        simulation->ranks[i] = NULL;
    return first;
}

gboolean
job_open(JobRun *job, GError **error)
{
    Simulation *simulation = job->simulation;
    const Workload *workload = job->setup->workload;
    uint32_t first = first_number(job);
    assert(job->ranks == NULL && job->setup->nodes != NULL);
    job->starts++;
    job->ranks_ended = 0;
    job->ranks = g_new0(RankRun, MAX(workload->n_ranks, 1));
    job->scripts = g_ptr_array_new_with_free_func((GDestroyNotify)script_free);
    for (uint32_t p = 0; p < workload->programs->len; p++)
        g_ptr_array_add(job->scripts, script_new(workload_program(workload, p), simulation->hosts != NULL));
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Script *script = g_ptr_array_index(job->scripts, workload->program_of_rank[r]);
        job->ranks[r] = (RankRun){.job = job,
                                  .rank = r,
                                  .number = first + r,
                                  .script = script,
                                  .progress = progress_new(script),
                                  .iteration = job->asked};
        if (simulation->hosts != NULL)
            job->ranks[r].let_go_ps = g_new0(SimTime, script_n_ops(script) + 1);
        simulation->ranks[first + r] = &job->ranks[r];
    }
    job->meetings = meetings_new(job);
    job->mailbox = mailbox_new(job);
    g_array_insert_val(simulation->open, place_among(simulation->open, job->index), job->index);
    return job_check(job->setup, simulation->setup->jobs, simulation->setup->fabric, simulation->setup->model, error);
}

void
job_close(JobRun *job)
{
    Simulation *simulation = job->simulation;
    if (job->ranks == NULL)
        return;
    Ghost *ghost = g_new0(Ghost, 1);
    *ghost = (Ghost){.ranks = job->ranks,
                     .n_ranks = job->setup->workload->n_ranks,
                     .scripts = job->scripts,
                     .meetings = job->meetings,
                     .mailbox = job->mailbox};
    meetings_haunt(ghost->meetings);
    mailbox_haunt(ghost->mailbox);
    for (uint32_t r = 0; r < ghost->n_ranks; r++)
        simulation->ranks[ghost->ranks[r].number] = NULL;
    g_array_remove_index(simulation->open, place_among(simulation->open, job->index));
    job->ranks = NULL;
    job->scripts = NULL;
    job->meetings = NULL;
    job->mailbox = NULL;
    g_array_set_size(job->open, 0);
    g_ptr_array_add(simulation->ghosts, ghost);
}

void
job_free(JobRun *job)
{
    if (job->simulation == NULL)
        return;
    job_close(job);
    g_free(job->nodes);
    g_free(job->first_nodes);
    g_array_unref(job->open);
}
