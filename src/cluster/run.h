/* run.h - the state of one run, shared by the modules of this room alone
 *
 * simulation.c owns it all and runs the engine; rank.c moves ranks through their programs; meeting.c brings the
 * members of a collective together; mailbox.c the ends of a message. Ranks are numbered over all jobs in
 * scenario order, absent jobs included, so that a baseline has the same senders. */
#pragma once

#include "cluster/account.h"
#include "cluster/script.h"
#include "cluster/simulation.h"
#include "network/hosts.h"

typedef struct Simulation Simulation;
typedef struct JobRun JobRun;
typedef struct Meetings Meetings;
typedef struct Mailbox Mailbox;
typedef struct Memo Memo;
typedef struct Tape Tape;
typedef struct Scheduler Scheduler;

typedef struct {
    JobRun *job;
    uint32_t rank;   /* in the job */
    uint32_t number; /* in the simulation: target and sender of its events */
    const Script *script;
    Progress *progress;
    SimTime *let_go_ps; /* an op with a clock: when it let go of its CPU; NULL without clocks (clock.c) */
    Account account;
    uint32_t iteration;
    gboolean running;  /* inside an iteration */
    SimTime began_ps;  /* this iteration */
    uint32_t timeless; /* iterations in a row that took no time */
} RankRun;

/* Sums over the ranks of one iteration that is not over yet. */
typedef struct {
    SimTime start_ps, end_ps;
    SimTime sum[ACCOUNT_CLASSES];
    uint32_t ranks_ended;
} OpenIteration;

typedef enum {
    JOB_COMING,  /* has not arrived */
    JOB_WAITING, /* for GPUs */
    JOB_PLACED,  /* has its GPUs */
    JOB_OVER
} JobStage;

/* Ranks, communicators and messages are there from its start to its end: ranks is NULL outside. */
struct JobRun {
    Simulation *simulation; /* NULL: absent from this run */
    const JobSetup *setup;  /* own, with the nodes it has */
    JobSetup own;
    uint32_t index;
    JobStage stage;
    uint32_t *nodes;        /* given by the queue; NULL */
    uint32_t *first_nodes;  /* those of its first start, where the queue gave them */
    uint32_t starts;        /* so often it has begun */
    gboolean leaving;       /* it stops after the iteration it is in, and waits again */
    SimTime waits_since_ps; /* in the queue */
    SimTime placed_ps;      /* when it got the GPUs it has */
    double served_s;        /* GPU seconds before that */
    SimTime ran_ps;         /* with GPUs, before that */
    uint32_t first_number;  /* of its ranks */
    RankRun *ranks;
    GPtrArray *scripts;  /* of Script *, a program */
    GArray *open;        /* of OpenIteration; the first is iteration first_open */
    uint32_t first_open; /* iterations ended */
    uint32_t asked;      /* iterations any rank has begun */
    uint32_t counted;    /* iterations that count for the mean */
    uint32_t ranks_ended;
    SimTime start_ps, end_ps; /* -1 = not yet */
    Meetings *meetings;
    Mailbox *mailbox;
};

struct Simulation {
    const SimulationSetup *setup;
    Engine *engine;
    Routes *routes;
    Network *network;
    CollectiveRunner *runner;
    Hosts *hosts; /* of the network; NULL: hosts cost nothing */
    uint32_t host_client;
    JobRun *jobs;
    RankRun **ranks;    /* by number; NULL where its job is not open */
    uint32_t n_ranks;   /* of all jobs */
    uint32_t n_numbers; /* of ranks: those begin at n_ranks + jobs where a job starts again */
    uint32_t jobs_left;
    GArray *open;         /* of uint32_t: jobs with ranks, in order */
    GPtrArray *ghosts;    /* of Ghost *: what is left of jobs that have closed, until it has drained */
    GPtrArray *mailboxes; /* by number; NULL = freed */
    gboolean changed;     /* a job has arrived or ended in this instant */
    Scheduler *scheduler; /* NULL: every job has its nodes */
    uint32_t kind_job_arrive, kind_review;
    uint32_t kind_job_start, kind_rank_begin, kind_op_start, kind_op_end, kind_message_end, kind_meeting_end;
    uint32_t next_coflow;
    GPtrArray *meetings; /* of Meeting *: slots, NULL = free */
    GArray *free_meetings;
    Skipped skipped; /* what is told is that much later; iterations: never NULL */
    Tape *tape;      /* all that is told goes through it; NULL without a memo */
    Memo *memo;
};

/* rank.c */
void rank_begin(RankRun *rank); /* an iteration */
void rank_op_start(RankRun *rank, uint32_t op);
void rank_op_ended(RankRun *rank, uint32_t op); /* what may start now starts */
void rank_account(RankRun *rank, AccountClass class, int change);
void rank_end_op_now(RankRun *rank, uint32_t op); /* as an event of this instant */
void rank_end_op_in(RankRun *rank, uint32_t op, SimTime delay);
void rank_go_on(RankRun *rank); /* what may start now starts */
/* Recorded or by the roofline, scaled; fails the run and is 0 where it lasts too long. */
SimTime rank_op_duration(RankRun *rank, uint32_t op);

/* clock.c: ops that keep a CPU of their host busy, under LogGOPS */
void clock_connect(Simulation *simulation);
void clock_queue(RankRun *rank, uint32_t op, HostWorkKind kind);
/* No earlier than what it waits for has let go of its CPU. */
SimTime clock_earliest(const RankRun *rank, uint32_t op);
/* It has begun; what waits for its end need not wait beyond when. Nothing where it has no clock. rank_go_on follows. */
void clock_begun(RankRun *rank, uint32_t op);
void clock_let_go(RankRun *rank, uint32_t op, SimTime when);

/* The time, and a number of the job's iterations, as they are told. */
SimTime simulation_now(const Simulation *simulation);
uint32_t job_told(const JobRun *job, uint32_t iteration);

/* job_open.c: makes ranks, communicators and mailbox of a job that starts; FALSE with an INPUT error (job_check). */
gboolean job_open(JobRun *job, GError **error);
/* Frees them. What is in flight drains first, unheard. */
void job_close(JobRun *job);
void job_free(JobRun *job); /* at the end of the run */
/* Frees what has drained; all of it at the end of the run. */
void ghosts_sweep(Simulation *simulation, gboolean all);

/* scheduler.c */
Scheduler *scheduler_new(Simulation *simulation);
void scheduler_free(Scheduler *scheduler); /* NULL is fine */
void scheduler_arrived(Scheduler *scheduler, JobRun *job);
/* It has ended, or given way: its GPUs are free. */
void scheduler_left(Scheduler *scheduler, JobRun *job);
/* Starts what can start; once an instant in which something changed. */
void scheduler_settle(Scheduler *scheduler);
/* One line for each job that waits, into text. */
void scheduler_describe(const Scheduler *scheduler, GString *text, uint32_t *lines_left);

/* tape.c: tells, with what was skipped added; records. */
void tape_iteration(Tape *tape, const IterationRecord *raw);
void tape_collective(Tape *tape, const CollectiveRecord *raw);

/* meeting.c */
Meetings *meetings_new(JobRun *job);
void meetings_free(Meetings *meetings);
void meetings_arrive(Meetings *meetings, RankRun *rank, uint32_t op);
void meetings_done(Simulation *simulation, uint32_t slot);
/* Frees those still open when a run ends early. */
void meetings_drop_open(Simulation *simulation);
/* Its job has closed: what is in flight ends unheard. Its ranks are told no more. */
void meetings_haunt(Meetings *meetings);
uint32_t meetings_open(const Meetings *meetings); /* so many are not over */
/* One line for each collective that waits, into text. */
void meetings_describe(const Meetings *meetings, GString *text, uint32_t *lines_left);

/* Adds what is open to a fingerprint; *oldest becomes the earliest start of it where that is earlier. */
void meetings_fingerprint(const Meetings *meetings, Fingerprint *print, SimTime *oldest);

/* mailbox.c */
Mailbox *mailbox_new(JobRun *job);
void mailbox_free(Mailbox *mailbox);
void mailbox_send(Mailbox *mailbox, RankRun *rank, uint32_t op);
void mailbox_receive(Mailbox *mailbox, RankRun *rank, uint32_t op);
/* Under LogGOPS: the send, or the receive, begins. */
void mailbox_leave(Mailbox *mailbox, RankRun *rank, uint32_t op);
void mailbox_post(Mailbox *mailbox, RankRun *rank, uint32_t op);
void mailbox_message_ended(Mailbox *mailbox, uint32_t slot); /* under a model that moves no bytes */
/* As of meetings. */
void mailbox_haunt(Mailbox *mailbox);
uint32_t mailbox_in_flight(const Mailbox *mailbox);
/* One line for each receive without a message and each message that has not come, into text. */
void mailbox_describe(const Mailbox *mailbox, GString *text, uint32_t *lines_left);

void mailbox_fingerprint(const Mailbox *mailbox, Fingerprint *print); /* of all that waits there */

/* S scaled by the job's scale_bytes, rounded down. */
uint64_t job_scaled(const JobRun *job, uint64_t bytes);
/* Of transfers of this group; INDEX_NONE = of none. */
uint32_t job_settings(const JobRun *job, uint32_t group);
/* The weight of transfers of a group, or of none (INDEX_NONE). */
double job_weight(const JobRun *job, uint32_t group);
/* A rank of the job has no further iteration. */
void job_rank_ended(JobRun *job);
/* Does it go on until another one ends? (Not when it runs alone.) */
gboolean job_runs_until(const JobRun *job);
/* May a rank begin this iteration? Decided once for all ranks of the job. */
gboolean job_may_begin(JobRun *job, uint32_t iteration);
void job_iteration_ended(JobRun *job, const RankRun *rank);
/* Tells an iteration that has ended; its times and index are as told, whether it counts is found here. */
void job_tell_iteration(JobRun *job, const IterationRecord *told);
/* Iterations that any rank may still begin. */
uint32_t job_iterations_left(const JobRun *job);
/* Adds where its ranks are to a fingerprint, as seen from now, with meetings and mailbox. */
void job_fingerprint(const JobRun *job, Fingerprint *print, SimTime *oldest);
