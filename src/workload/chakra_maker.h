/* chakra_maker.h - what the parts of chakra_workload.c share while programs are made of nodes */
#pragma once

#include "workload/chakra_trace.h"
#include "workload/message_sizes.h"

typedef struct {
    Workload *workload;
    const TraceSource *source;
    Problems problems;
    const ChakraTrace *trace; /* of the rank being made */
    Program *program;
    uint32_t rank;
    uint32_t gpu, cpu;        /* streams, INDEX_NONE until used */
    GHashTable *group_stream; /* group + 1 -> stream + 1, of the program */
    GHashTable *group_index;  /* name -> group + 1, of the groups' file */
    GHashTable *own_groups;   /* the same, of the trace's METADATA nodes: these come first */
    MessageSizes *sizes;      /* bytes that the traces lack; NULL = none */
    GHashTable *calls_of;     /* name -> how many collectives of that name or kind the rank has had without bytes */
    GArray *dimensions;       /* of uint32_t: sizes of the network's dimensions; none = not known */
    uint32_t all;             /* the group of all ranks, INDEX_NONE until used */
    /* Counted for the notes: */
    uint64_t sized; /* collectives whose bytes came from the file of sizes */
    uint64_t partial, free_of_cost, timed, communications, broken, contracted;
    uint64_t calls;       /* collectives that a host only calls */
    uint64_t storage;     /* nodes of proposed types */
    uint64_t dangling;    /* dependencies on nodes that no file has, */
    char *first_dangling; /* and where the first of them stands; owned */
} Maker;

/* "PLACE: node 12 \"name\": " and the message. Returns FALSE. */
gboolean chakra_fail(const Maker *maker, const ChakraNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* What the node is as an op of maker->program, streams and groups included. FALSE with an error that says where. */
gboolean chakra_make_op(Maker *maker, const ChakraNode *node, Op *op, GError **error);

/* Appends the sizes of a text such as "8x4". FALSE with an error that begins with "dimensions". */
gboolean chakra_dimensions_parse(const char *text, uint32_t n_ranks, GArray *sizes, GError **error);
/* The group of the ranks that differ from the present one in the dimensions of mask (bits) alone. */
uint32_t chakra_dimensions_group(Maker *maker, uint32_t mask);

/* The nodes in ascending order of id, of type const ChakraNode *, and those with an id that another has. */
GPtrArray *chakra_sort_nodes(const ChakraTrace *trace);
/* The ops a node waits for, ascending, each once, into deps; those that are not there are counted. */
void chakra_resolve_deps(Maker *maker, const GPtrArray *sorted, const ChakraNode *node, GArray *deps);
/* Tells each knot of nodes that wait for each other, with one circle of it. Op i of the program is node i of sorted.
 * FALSE where there was one. */
gboolean chakra_check_circles(Maker *maker, const GPtrArray *sorted);

/* Takes ops that take no time out: what waits for them waits for what they waited for. Where the program would come to
 * hold more deps than it had, they stay, as markers. There is no circle. How many went. */
uint32_t chakra_contract(Program *program);
