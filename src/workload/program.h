/* program.h - what a rank does in one iteration
 *
 * A program is a list of ops. In the stream form each op stands on a named stream: it starts when the op
 * before it on that stream has ended and every op it names has ended, so a rank's state is one cursor a stream.
 * In the DAG form (recorded traces) an op starts when all ops it names have ended; ops of one exclusive stream
 * run one at a time, of those ready the lowest index first. Ranks with the same role share one program; groups and
 * peers are resolved by rank. A Workload is what a job runs: programs, which rank runs which, and the groups. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"
#include "collective/collective.h"

typedef enum {
    OP_COMPUTE, /* on the GPU */
    OP_HOST,    /* host work or a recorded gap: counts as idle of the GPU */
    OP_COLLECTIVE,
    OP_SEND,
    OP_RECV,
    OP_COPY,  /* device or host memory, storage: recorded time, or bytes / memory bandwidth */
    OP_ALLOC, /* memory accounting; no time */
    OP_FREE,
    OP_MARKER /* no time */
} OpKind;

/* A peer of send and recv. */
typedef enum {
    PEER_RANK,   /* peer is a rank of the job */
    PEER_OFFSET, /* peer members further in the group (cyclic): "pp+1" */
    PEER_ANY     /* recv from whoever sends with this tag */
} PeerForm;

typedef struct {
    OpKind kind;
    uint32_t stream;            /* of the program; INDEX_NONE in the DAG form where it occupies nothing */
    uint32_t name;              /* offset into the program's texts */
    uint32_t first_dep, n_deps; /* ops that must have ended, in deps */
    uint32_t n_begun;           /* DAG form: of these, the last so many need only have begun */
    SimTime duration_ps; /* recorded time; -1 = none. Of a collective, send or recv: transfer time, waiting taken off */
    double flops, bytes_moved; /* compute on the roofline where duration_ps is -1 */
    uint64_t bytes;            /* S of a collective; of a message; of alloc, free, copy */
    CollectiveKind collective;
    uint32_t group; /* of the workload: collective, or the group of a PEER_OFFSET */
    uint32_t seq;   /* number of this op among the collectives of its group in this program, from 0 */
    uint32_t
        splits; /* all-to-allv: offset into the workload's splits of this member's n bytes-to-each; INDEX_NONE = even */
    uint32_t root; /* member, of broadcast and reduce */
    PeerForm peer_form;
    int32_t peer;
    uint64_t tag; /* TAG_ANY: a recv takes any */
    gboolean
        signal; /* of send and recv: it tells that something has ended, at once; no bytes, no time, its own rank too */
    /* Under LogGOPS: which CPU and NIC of its host it keeps busy. CPU_NONE: none (a GPU computes); a message always
     * does, and has CPU 0 then. */
    uint16_t cpu;
    uint8_t nic;
} Op;

#define TAG_ANY UINT64_MAX
#define CPU_NONE UINT16_MAX

typedef struct {
    char *name; /* its role, for messages and the program text; NULL = "program N" */
    gboolean dag;
    GArray *ops;        /* of Op */
    GArray *deps;       /* of uint32_t: op indexes */
    GPtrArray *streams; /* of char *: names */
    GArray *exclusive;  /* of gboolean, a stream: DAG form only; the stream form is always in order */
    GString *texts;     /* names, zero-terminated one after another */
} Program;

/* A group of ranks under one name. Named by a mesh axis it has an instance for each row of the mesh; a recorded
 * communicator has one instance, and ranks outside it have INDEX_NONE. */
typedef struct {
    char *name;
    GArray *instance_of_rank; /* of uint32_t, a rank */
    GArray *member_of_rank;   /* of uint32_t, a rank: its place in its instance */
    GPtrArray *instances;     /* of GArray * of uint32_t: ranks in member order */
} Group;

typedef struct {
    uint32_t n_ranks;
    GPtrArray *programs; /* of Program *; owned */
    uint32_t *program_of_rank;
    GPtrArray *groups;             /* of Group *; owned */
    GArray *splits;                /* of uint64_t */
    SimTime *start_ps;             /* recorded offset of each rank's start, smallest 0; NULL = none recorded */
    char *description;             /* format and source, one line */
    GPtrArray *notes;              /* of char *: worth saying, stops nothing */
    gboolean recorded_collectives; /* collectives and messages carry their recorded time */
} Workload;

Workload *workload_new(uint32_t n_ranks);
void workload_free(Workload *workload); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Workload, workload_free)

/* A new empty program, owned by the workload; its index. */
uint32_t workload_add_program(Workload *workload, gboolean dag);
Program *workload_program(const Workload *workload, uint32_t index);
/* A group with one instance; its index. ranks is copied. */
uint32_t workload_add_group(Workload *workload, const char *name, const uint32_t *ranks, uint32_t n);
/* One more instance of a group; its ranks are in no other. ranks is copied. */
void workload_add_instance(Workload *workload, uint32_t group, const uint32_t *ranks, uint32_t n);
/* The axes of a mesh, first axis innermost (rank = c0 + n0 (c1 + n1 ...)): one group an axis, instances by the other
 * coordinates. sizes must multiply to n_ranks. Index of the first. */
uint32_t workload_add_mesh(Workload *workload, const char *const *axes, const uint32_t *sizes, uint32_t n_axes);
uint32_t workload_find_group(const Workload *workload, const char *name); /* INDEX_NONE */
/* The members of the group that rank belongs to; NULL where it belongs to none. */
const uint32_t *workload_members(const Workload *workload, uint32_t group, uint32_t rank, uint32_t *n_members);

uint32_t program_add_stream(Program *program, const char *name, gboolean exclusive);
/* Copies op with this name and these deps (op indexes below or above its own); its index. */
uint32_t program_add_op(Program *program, Op op, const char *name, const uint32_t *deps, uint32_t n_deps);
Op op_default(OpKind kind); /* nothing set: INDEX_NONE, -1, 0 */
const char *program_op_name(const Program *program, uint32_t op);
const char *op_kind_name(OpKind kind);

/* Appends this member's n bytes-to-each; the offset for Op.splits. */
uint32_t workload_add_splits(Workload *workload, const uint64_t *bytes, uint32_t n);
/* Adds a note (printf form). */
void workload_note(Workload *workload, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The rank an op's peer is for this rank; INDEX_NONE for PEER_ANY and where the rank is not in the op's group. */
uint32_t workload_peer(const Workload *workload, const Op *op, uint32_t rank);

/* Numbers the collectives (seq) and checks the whole: deps and groups exist, no cycle (named), peers are ranks, every
 * member of a group issues the same collectives (kind and bytes, in order of their index), every send has its recv (as
 * many of each source, destination and tag), all-to-allv splits have the group's size and sum to the op's bytes.
 * FALSE with an INPUT error that names program or rank, op and what differs. Readers call it last. Works per role, not
 * per rank: time grows with ops + ranks x (groups + peers of a role). */
gboolean workload_check(Workload *workload, GError **error);
/* The same, but goes on: appends every problem found (at most 100,000), as char * the array owns. */
void workload_check_all(Workload *workload, GPtrArray *problems);
