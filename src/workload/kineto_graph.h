/* kineto_graph.h - the dependency graph of one rank: who waited for whom in the record
 *
 * Nodes are instants of the record: a call begins, a blocking call returns, device work starts. Each is preceded by
 * what it waits for; what those do not explain is kept as a delay. Private to kineto_graph.c, kineto_streams.c and
 * kineto_emit.c. */
#pragma once

#include "workload/kineto_rank.h"

typedef enum { NODE_CALL, NODE_RETURN, NODE_TAIL, NODE_DEVICE } NodeForm;

typedef struct {
    NodeForm form;
    uint32_t index;   /* of the file's calls, of the rank's devices; of the lane for a tail */
    int64_t ready_ns; /* when all it waits for must have ended, as recorded */
    int64_t end_ns;   /* recorded; later than ready for device work */
} Moment;

typedef struct {
    uint32_t from, to; /* nodes */
} Precedence;

/* Device work of one stream, or one host thread's launches: an instant and what it leads to. */
typedef struct {
    int64_t at_ns;
    uint32_t index;
} Mark;

typedef struct {
    KinetoRank *rank;
    GArray *nodes;                           /* of Moment; host nodes first, in the order of their threads */
    GArray *edges;                           /* of Precedence */
    uint32_t *node_of_call, *return_of_call; /* INDEX_NONE */
    uint32_t first_device_node;              /* device i is node first_device_node + i */
    GArray **streams;                        /* a lane: of Mark, devices by start; at = launch */
    GArray **launches; /* a lane: of Mark, streams launched to (lanes) by time; NCCL's not counted */
} Graph;

static inline Moment *
graph_node(const Graph *graph, uint32_t i)
{
    return &g_array_index(graph->nodes, Moment, i);
}

static inline uint32_t
graph_device_node(const Graph *graph, uint32_t device)
{
    return graph->first_device_node + device;
}

/* from may be INDEX_NONE: then nothing. */
void graph_add_edge(Graph *graph, uint32_t from, uint32_t to);

/* Fills streams and launches. */
void graph_list_streams(Graph *graph);
/* The last device work on a stream launched before an instant, the first launched at or after it; INDEX_NONE. */
uint32_t graph_last_before(const Graph *graph, uint32_t lane, int64_t at_ns);
uint32_t graph_first_from(const Graph *graph, uint32_t lane, int64_t at_ns);
/* The stream a host thread works on at an instant: of its last launch, or with `ahead` of its next; INDEX_NONE. */
uint32_t graph_stream_of(const Graph *graph, uint32_t thread, int64_t at_ns, gboolean ahead);

/* Edges between device work, and from device work to returns of blocking calls. */
void graph_add_stream_edges(Graph *graph);
/* The nodes as a program of the workload. */
void graph_emit(Graph *graph, Workload *workload, int64_t begin_ns);

/* How a call waits for the device. */
typedef enum { SYNC_NONE, SYNC_STREAM, SYNC_DEVICE, SYNC_EVENT, SYNC_COPY } SyncForm;
/* By its name; SYNC_COPY also needs the copy, which a device event tells. */
SyncForm graph_sync_form(const char *call);
