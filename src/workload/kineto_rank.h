/* kineto_rank.h - one rank of a recorded job while its files become a program
 *
 * Steps, in this order: kineto_join (which call launched which device work; what each NCCL kernel is), kineto_match
 * over all ranks (which kernels are one collective; how long it transfers, when it ends), kineto_graph (the program).
 */
#pragma once

#include "workload/execution_trace.h"
#include "workload/kineto_file.h"
#include "workload/program.h"

/* A kernel, copy or fill. */
typedef struct {
    const KinetoEvent *event; /* of the file */
    uint32_t call;            /* that launched it, of the file's calls; INDEX_NONE = before the recorded window */
    uint32_t comm;            /* of comms; INDEX_NONE = no NCCL kernel */
    int64_t launch_ns;        /* start of that call; of one without, its own start */
} KinetoDevice;

typedef enum {
    COMM_COLLECTIVE,
    COMM_SEND,
    COMM_RECV,
    COMM_FIXED, /* launched before the recorded window and without arguments: lasts what was recorded */
    COMM_LOCAL  /* of a group of one rank */
} KinetoCommForm;

/* An NCCL kernel and what it does. */
typedef struct {
    KinetoCommForm form;
    uint32_t device;  /* of devices */
    uint32_t record;  /* the record_param_comms it was launched in, of the file's; INDEX_NONE */
    const char *name; /* as recorded: allreduce, all_to_allv ... */
    CollectiveKind kind;
    uint64_t bytes;               /* S */
    uint32_t root, peer;          /* member; rank */
    int64_t seq;                  /* recorded sequence number; -1 = none */
    uint32_t in_split, out_split; /* into splits: bytes to and from each member; INDEX_NONE = even */
    char *group_name;
    GArray *members;     /* of uint32_t: ranks in member order */
    uint32_t group;      /* of the workload; by kineto_match */
    int64_t transfer_ns; /* by kineto_match: the least duration over the members */
    int64_t end_ns;      /* by kineto_match: last start + transfer, in this file's time */
} KinetoComm;

/* A stream is told to wait for a collective: by a wait record, or by a cudaStreamWaitEvent that nothing else explains.
 */
typedef struct {
    uint32_t lane; /* host thread */
    int64_t at_ns;
    uint32_t comm;
} KinetoWait;

typedef struct {
    KinetoFile *file;
    ExecutionTrace *execution; /* NULL = none */
    uint32_t rank;
    GArray *devices;   /* of KinetoDevice, by start */
    GArray *comms;     /* of KinetoComm, by start */
    GArray *splits;    /* of uint64_t, bytes */
    GArray *waits;     /* of KinetoWait, by time */
    int64_t offset_ns; /* this file's base in the time of the first file: absolute = base of the first + offset +
                          relative */
    int64_t shift_ns;  /* of that, what kineto_match added: this rank's clock is not the first rank's */
    /* For the notes: */
    uint32_t n_unlaunched, n_fixed, n_dropped, n_inferred, n_unknown_syncs, n_unsized;
} KinetoRank;

/* Takes over file and execution. */
KinetoRank *kineto_rank_new(KinetoFile *file, ExecutionTrace *execution);
void kineto_rank_free(KinetoRank *rank); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KinetoRank, kineto_rank_free)

/* What one file must have by itself: a rank, device work, times that fit. FALSE with an INPUT error. */
gboolean kineto_check_file(const KinetoFile *file, GError **error);
/* Ranks 0, 1, ..., all of one job, as a checked workload: the steps above. problems as in TraceSource. NULL with an
 * INPUT error. */
Workload *kineto_workload(GPtrArray *ranks, const char *description, GPtrArray *problems, GError **error);

/* The calls of a file, KinetoEvent *, by correlation id; the last where several have it. The caller frees it. */
GHashTable *kineto_calls(const KinetoFile *file);
/* The innermost record_param_comms of a thread that holds an instant; INDEX_NONE. Records nest a few deep at most, so a
 * few of the thread's last ones are looked at. */
uint32_t kineto_find_record(const KinetoFile *file, uint32_t lane, int64_t at_ns);

/* Device work to calls, NCCL kernels to what they do; n_ranks of the job. problems, unless NULL, gets all that is
 * wrong; the error is the first of it. INPUT errors name file and event. */
gboolean kineto_join(KinetoRank *rank, uint32_t n_ranks, GPtrArray *problems, GError **error);
/* What a kernel's arguments, or its record's, say. FALSE with an INPUT error. */
gboolean kineto_comm_from_arguments(KinetoRank *rank, KinetoComm *comm, const KinetoCollective *args,
                                    const KinetoCollective *record, uint32_t n_ranks, GError **error);
/* The same from a node of the execution trace. */
gboolean kineto_comm_from_execution(KinetoRank *rank, KinetoComm *comm, const ExecutionComm *node, uint32_t n_ranks,
                                    GError **error);
/* Groups of the workload, collectives and messages matched over ranks[0..n). problems as above. */
gboolean kineto_match(GPtrArray *ranks, Workload *workload, GPtrArray *problems, GError **error);
/* Adds the rank's program to the workload; begin_ns: the rank's start in its file's time. */
void kineto_graph(KinetoRank *rank, Workload *workload, int64_t begin_ns);

static inline KinetoDevice *
kineto_device(const KinetoRank *rank, uint32_t i)
{
    return &g_array_index(rank->devices, KinetoDevice, i);
}

static inline KinetoComm *
kineto_comm(const KinetoRank *rank, uint32_t i)
{
    return &g_array_index(rank->comms, KinetoComm, i);
}

/* "PATH: byte N: NCCL kernel "NAME" at ts N us": the place in messages. The caller frees it. */
char *kineto_comm_place(const KinetoRank *rank, const KinetoComm *comm);
