/* chakra_trace.h - one rank's Chakra trace as its nodes say it, whatever the rendering
 *
 * Between the readers (chakra.c and chakra_old.c: protobuf, chakra_json.c) and chakra_workload.c, which makes programs
 * of it. Numbers mean what schema 0.0.4 of mlcommons/chakra says; attributes as ASTRA-sim's feeder reads them. */
#pragma once

#include "base/sim_time.h"
#include "workload/program_check.h"
#include "workload/trace_format.h"

/* Node types of the schema. */
typedef enum {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEM_LOAD,
    CHAKRA_MEM_STORE,
    CHAKRA_COMP,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLL,
    CHAKRA_TYPES
} ChakraType;

/* Whole-number attributes that a program is made of. */
typedef enum {
    CHAKRA_IS_CPU_OP,
    CHAKRA_NUM_OPS,
    CHAKRA_TENSOR_SIZE,
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_COMM_SRC,
    CHAKRA_COMM_DST,
    CHAKRA_COMM_TAG,
    CHAKRA_NUMBERS
} ChakraNumber;

/* A list of truths, its first 32. */
enum { CHAKRA_TRUTHS_MOST = 32 };
typedef struct {
    uint32_t n, bits;
} ChakraTruths;

void chakra_truths_add(ChakraTruths *truths, gboolean truth);
gboolean chakra_truths_all(const ChakraTruths *truths); /* of none: TRUE */

typedef struct {
    uint64_t id;
    uint64_t place;      /* where it begins: a byte of the unpacked file, or a line where the trace has lines */
    uint64_t start_us;   /* recorded; 0 = none */
    SimTime duration_ps; /* recorded; 0 = none */
    int64_t number[CHAKRA_NUMBERS]; /* by ChakraNumber; 0 where not in has */
    uint32_t has;                   /* bits 1 << ChakraNumber */
    uint32_t type;                  /* a ChakraType, or what the file says */
    uint32_t name;                  /* offset into texts */
    uint32_t group;                 /* pg_name: offset into texts; INDEX_NONE = all ranks */
    uint32_t first_dep, n_deps;     /* in deps */
    ChakraTruths involved;          /* involved_dim; of none: all dimensions */
    uint32_t flawed;                /* 1 where a problem of it is told already */
} ChakraNode;

/* A communicator group that a METADATA node defines. */
typedef struct {
    uint32_t name;                /* offset into texts */
    uint32_t first_rank, n_ranks; /* in group_ranks; none = all ranks */
    uint32_t node;                /* its index */
} ChakraGroup;

typedef struct {
    char *path;
    const char *schema;  /* "0.0.4", or what the rendering is called; borrowed */
    gboolean lines;      /* places are lines */
    gboolean cut;        /* the file breaks off; what came before is here */
    GArray *nodes;       /* of ChakraNode, file order */
    GArray *deps;        /* of uint64_t: ids, control and data */
    uint64_t n_control;  /* of these, how many are control */
    GArray *groups;      /* of ChakraGroup */
    GArray *group_ranks; /* of uint32_t */
    GString *texts;      /* zero-terminated one after another */
} ChakraTrace;

ChakraTrace *chakra_trace_new(const char *path);
void chakra_trace_free(ChakraTrace *trace); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChakraTrace, chakra_trace_free)

/* Appends an empty node of type CHAKRA_INVALID; valid until the next one. */
ChakraNode *chakra_trace_add(ChakraTrace *trace);
/* Appends text; its offset. Bytes that are not UTF-8 are replaced. */
uint32_t chakra_trace_text(ChakraTrace *trace, const char *text);
const char *chakra_node_name(const ChakraTrace *trace, const ChakraNode *node);
const char *chakra_type_name(uint32_t type);         /* "COMP_NODE"; "node type 9" is NULL */
const char *chakra_number_name(ChakraNumber number); /* "comm_size" */

/* The value of an attribute as the file has it. */
typedef enum {
    CHAKRA_VALUE_NONE, /* legal: the attribute counts as absent */
    CHAKRA_VALUE_INTEGER,
    CHAKRA_VALUE_BEYOND, /* an integer above 2^63 - 1 */
    CHAKRA_VALUE_REAL,
    CHAKRA_VALUE_TEXT,
    CHAKRA_VALUE_BOOLS,
    CHAKRA_VALUE_OTHER
} ChakraValueKind;

typedef struct {
    ChakraValueKind kind;
    int64_t integer;
    const char *text;
    ChakraTruths truths; /* of bools */
} ChakraValue;

/* Takes an attribute; names that no program needs are passed over. FALSE with an error that begins with the
 * attribute's name where its type or range is wrong. */
gboolean chakra_node_set(ChakraTrace *trace, ChakraNode *node, const char *name, const ChakraValue *value,
                         GError **error);

/* A recorded time of n units of unit_ps. FALSE with an error that begins with key where it is too long. */
gboolean chakra_node_set_duration(ChakraNode *node, const char *key, uint64_t n, SimTime unit_ps, GError **error);
/* Takes the text of a METADATA node's inputs; what is no list of groups is passed over. */
gboolean chakra_node_set_inputs(ChakraTrace *trace, uint32_t node, const char *text, GError **error);
/* The number of a node type or collective by its name in any rendering ("COMM_COLL_NODE", "coll_comm_node",
 * "ALL_REDUCE"); FALSE where there is none. */
gboolean chakra_type_find(const char *name, uint32_t *type);
const char *chakra_comm_type_name(int64_t type); /* "ALL_REDUCE"; NULL where there is none */
gboolean chakra_comm_type_find(const char *name, int64_t *type);
/* "PATH: byte 12" or "PATH:12". The caller frees it. */
char *chakra_place(const ChakraTrace *trace, const ChakraNode *node);

/* Reads one file; problems go to problems. NULL where it stops at the first, or where nothing can be read. */
typedef ChakraTrace *(*ChakraRead)(const char *path, Problems *problems);
/* Reads all files of the source and makes a checked workload of them. */
Workload *chakra_workload(const TraceSource *source, ChakraRead read, GError **error);
/* What the files hold by themselves, those too that cannot be replayed: TraceFormat.outline. */
gboolean chakra_outline(const TraceSource *source, ChakraRead read, GString *told, GError **error);

/* Equal programs have equal digests, whatever their roles' names. The caller frees it. */
char *chakra_program_digest(const Program *program);
/* A recorded duration of a collective includes waiting: its transfer is the smallest over the members. Notes
 * collectives whose members give them different names. The workload is checked. */
void chakra_settle_collectives(Workload *workload);

/* Adds the groups that the trace of a rank defines to found: name -> group + 1. */
gboolean chakra_groups_take(Workload *workload, const ChakraTrace *trace, uint32_t rank, GHashTable *found,
                            Problems *problems);
/* Adds the groups of a file {"1": [0, 1], ...}, named by their ids; an empty list is all ranks. */
gboolean chakra_groups_read(Workload *workload, const char *path, GError **error);
