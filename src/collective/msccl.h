/* msccl.h - a collective algorithm as an MSCCL XML file: thread blocks of steps on each GPU, checked
 *
 * Read with the old form of steps (<step s= type= ...>), as microsoft/msccl's runtime does. Every file is executed once
 * on symbols: each chunk must reach where the collective says, reduced from each rank once, sends and receives of a
 * connection must match and nothing may wait for ever. */
#pragma once

#include "collective/collective.h"

typedef enum {
    MSCCL_SEND = 1,
    MSCCL_RECEIVE = 2,
    MSCCL_REDUCE = 4, /* with src, or with what is in dst */
    MSCCL_STORE = 8,  /* into dst */
    MSCCL_COPY = 16,  /* local: src to dst */
} MscclDoes;

typedef struct {
    uint32_t gpu, block;    /* where */
    uint32_t does;          /* of MscclDoes */
    uint32_t count;         /* chunks */
    uint32_t previous, dep; /* steps that must be done before; INDEX_NONE */
    uint32_t channel;
    uint32_t peer;         /* of a send: to which GPU */
    uint32_t sender, from; /* of a receive: from which GPU, and the step there */
    uint32_t first_id;     /* of a send: ids of the chunks it carries, count of them in ids */
    size_t line;
} MscclStep;

typedef struct {
    char *name;
    CollectiveKind kind;
    uint32_t n_gpus, n_chunks; /* n_chunks: the collective's S is cut into so many */
    uint64_t least_B, most_B;  /* sizes it is for; most_B UINT64_MAX = any */
    GArray *steps;             /* of MscclStep */
    GArray *ids;               /* of uint32_t: chunks of S */
    GArray *order;             /* of uint32_t: steps, each after all it waits for */
} Msccl;

/* NULL with an INPUT error "PATH:LINE: ...". */
Msccl *msccl_read(const char *path, GError **error);
/* The same, only to tell all that is wrong: bad elements go to problems (base/problems.h) and are passed over. FALSE
 * with an error where there is any; what the algorithm does is looked at where every element is good. */
gboolean msccl_check(const char *path, GPtrArray *problems, GError **error);
void msccl_free(Msccl *msccl); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Msccl, msccl_free)

/* Executes it on symbols: fills from, ids and order. FALSE with an INPUT error naming the step, or the chunk that does
 * not arrive. in_place: input and output are the same buffer. A part of msccl_read. */
typedef struct {
    uint32_t input, output, scratch; /* chunks */
} MscclBuffers;
typedef struct {
    uint8_t buffer[2]; /* of src, dst: 0 input, 1 output, 2 scratch */
    int32_t offset[2]; /* -1 = none */
} MscclPlace;
gboolean msccl_execute(Msccl *msccl, const char *path, const MscclBuffers *buffers, const MscclPlace *places,
                       gboolean in_place, GError **error);
