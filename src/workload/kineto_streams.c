/* kineto_streams.c - edges of the device: streams in order, events between streams, calls that wait for streams */
#include "workload/kineto_graph.h"

#include <string.h>

static gint
by_at(gconstpointer a, gconstpointer b)
{
    int64_t x = ((const Mark *)a)->at_ns, y = ((const Mark *)b)->at_ns;
    return (x > y) - (x < y);
}

void
graph_list_streams(Graph *graph)
{
    const KinetoRank *rank = graph->rank;
    guint n = rank->file->lanes->len;
    graph->streams = g_new(GArray *, n + 1);
    graph->launches = g_new(GArray *, n + 1);
    for (guint lane = 0; lane < n; lane++) {
        graph->streams[lane] = g_array_new(FALSE, FALSE, sizeof(Mark));
        graph->launches[lane] = g_array_new(FALSE, FALSE, sizeof(Mark));
    }
    for (guint i = 0; i < rank->devices->len; i++) {
        const KinetoDevice *device = kineto_device(rank, i);
        Mark work = {.at_ns = device->launch_ns, .index = i};
        g_array_append_val(graph->streams[device->event->lane], work);
        if (device->call == INDEX_NONE || device->comm != INDEX_NONE)
            continue;
        Mark launch = {.at_ns = device->launch_ns, .index = device->event->lane};
        uint32_t thread = kineto_event(rank->file, KINETO_CALL, device->call)->lane;
        g_array_append_val(graph->launches[thread], launch);
    }
    for (guint lane = 0; lane < n; lane++)
        g_array_sort(graph->launches[lane], by_at);
}

/* How many marks lie before an instant. Streams are first in, first out, so launches grow with starts. */
static guint
count_before(const GArray *marks, int64_t at_ns)
{
    guint low = 0, high = marks->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(marks, Mark, middle).at_ns < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t
graph_last_before(const Graph *graph, uint32_t lane, int64_t at_ns)
{
    guint n = count_before(graph->streams[lane], at_ns);
    return n > 0 ? g_array_index(graph->streams[lane], Mark, n - 1).index : INDEX_NONE;
}

uint32_t
graph_first_from(const Graph *graph, uint32_t lane, int64_t at_ns)
{
    guint n = count_before(graph->streams[lane], at_ns);
    return n < graph->streams[lane]->len ? g_array_index(graph->streams[lane], Mark, n).index : INDEX_NONE;
}

uint32_t
graph_stream_of(const Graph *graph, uint32_t thread, int64_t at_ns, gboolean ahead)
{
    const GArray *launches = graph->launches[thread];
    guint n = count_before(launches, at_ns);
    if (ahead && n < launches->len)
        return g_array_index(launches, Mark, n).index;
    return n > 0 ? g_array_index(launches, Mark, n - 1).index : INDEX_NONE;
}

static void
add_work_edge(Graph *graph, uint32_t from, uint32_t to)
{
    if (from != INDEX_NONE && to != INDEX_NONE && from != to)
        graph_add_edge(graph, graph_device_node(graph, from), graph_device_node(graph, to));
}

static void
add_stream_order(Graph *graph)
{
    for (guint lane = 0; lane < graph->rank->file->lanes->len; lane++) {
        const GArray *work = graph->streams[lane];
        for (guint i = 1; i < work->len; i++)
            add_work_edge(graph, g_array_index(work, Mark, i - 1).index, g_array_index(work, Mark, i).index);
    }
}

/* An NCCL kernel starts after the work its thread launched before it, on the stream the thread works on. */
static void
add_comm_inputs(Graph *graph)
{
    KinetoRank *rank = graph->rank;
    for (guint i = 0; i < rank->comms->len; i++) {
        const KinetoDevice *device = kineto_device(rank, kineto_comm(rank, i)->device);
        if (device->call == INDEX_NONE)
            continue;
        uint32_t thread = kineto_event(rank->file, KINETO_CALL, device->call)->lane;
        uint32_t stream = graph_stream_of(graph, thread, device->launch_ns, FALSE);
        if (stream == INDEX_NONE)
            continue;
        add_work_edge(graph, graph_last_before(graph, stream, device->launch_ns), kineto_comm(rank, i)->device);
        rank->n_inferred++;
    }
}

/* What a wait stops: the next work on the stream the thread works on. */
static uint32_t
wait_target(const Graph *graph, const KinetoWait *wait)
{
    uint32_t stream = graph_stream_of(graph, wait->lane, wait->at_ns, TRUE);
    return stream != INDEX_NONE ? graph_first_from(graph, stream, wait->at_ns) : INDEX_NONE;
}

static void
add_comm_outputs(Graph *graph)
{
    KinetoRank *rank = graph->rank;
    for (guint i = 0; i < rank->waits->len; i++) {
        const KinetoWait *wait = &g_array_index(rank->waits, KinetoWait, i);
        uint32_t target = wait_target(graph, wait);
        add_work_edge(graph, kineto_comm(rank, wait->comm)->device, target);
        rank->n_inferred += target != INDEX_NONE;
    }
}

/* The cuda_sync event of each call, by correlation. */
static GHashTable *
list_syncs(const KinetoFile *file)
{
    GHashTable *syncs = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < file->events[KINETO_SYNC]->len; i++) {
        KinetoEvent *sync = &g_array_index(file->events[KINETO_SYNC], KinetoEvent, i);
        g_hash_table_insert(syncs, &sync->correlation, sync);
    }
    return syncs;
}

/* The work an event stands for: what its stream was given before cudaEventRecord. INDEX_NONE where unknown. */
static uint32_t
work_of_event(const Graph *graph, const KinetoEvent *sync, GHashTable *calls)
{
    const KinetoEvent *record =
        sync->wait_correlation != 0 ? g_hash_table_lookup(calls, &sync->wait_correlation) : NULL;
    if (record == NULL || sync->wait_lane == INDEX_NONE)
        return INDEX_NONE;
    return graph_last_before(graph, sync->wait_lane, record->start_ns);
}

static void
add_stream_waits(Graph *graph, GHashTable *calls)
{
    const KinetoFile *file = graph->rank->file;
    for (guint i = 0; i < file->events[KINETO_SYNC]->len; i++) {
        const KinetoEvent *sync = kineto_event(file, KINETO_SYNC, i);
        if (strcmp(sync->name, "Stream Wait Event") != 0 || sync->lane == INDEX_NONE)
            continue;
        const KinetoEvent *call = g_hash_table_lookup(calls, &sync->correlation);
        int64_t at = call != NULL ? call->start_ns : sync->start_ns;
        add_work_edge(graph, work_of_event(graph, sync, calls), graph_first_from(graph, sync->lane, at));
    }
}

/* A call returns after a stream's work so far, and after the collectives the stream was told to wait for since. */
static void
add_stream_return(Graph *graph, uint32_t lane, int64_t at_ns, uint32_t node)
{
    const KinetoRank *rank = graph->rank;
    uint32_t last = graph_last_before(graph, lane, at_ns);
    if (last != INDEX_NONE)
        graph_add_edge(graph, graph_device_node(graph, last), node);
    for (guint i = 0; i < rank->waits->len; i++) {
        const KinetoWait *wait = &g_array_index(rank->waits, KinetoWait, i);
        if (wait->at_ns >= at_ns || graph_stream_of(graph, wait->lane, wait->at_ns, TRUE) != lane)
            continue;
        uint32_t target = graph_first_from(graph, lane, wait->at_ns);
        if (target == INDEX_NONE || kineto_device(rank, target)->launch_ns >= at_ns)
            graph_add_edge(graph, graph_device_node(graph, kineto_comm(rank, wait->comm)->device), node);
    }
}

/* The return of one blocking call. */
static void
add_return(Graph *graph, uint32_t i, GHashTable *syncs, GHashTable *calls)
{
    KinetoRank *rank = graph->rank;
    const KinetoEvent *call = kineto_event(rank->file, KINETO_CALL, i);
    const KinetoEvent *sync = g_hash_table_lookup(syncs, &call->correlation);
    uint32_t node = graph->return_of_call[i], lane;
    switch (graph_sync_form(call->name)) {
    case SYNC_DEVICE:
        for (lane = 0; lane < rank->file->lanes->len; lane++)
            add_stream_return(graph, lane, call->start_ns, node);
        return;
    case SYNC_STREAM:
        lane = sync != NULL ? sync->lane : INDEX_NONE;
        if (lane == INDEX_NONE)
            lane = graph_stream_of(graph, call->lane, call->start_ns, FALSE);
        if (lane != INDEX_NONE)
            add_stream_return(graph, lane, call->start_ns, node);
        else
            rank->n_unknown_syncs++;
        return;
    case SYNC_EVENT:
        lane = sync != NULL ? work_of_event(graph, sync, calls) : INDEX_NONE;
        if (lane != INDEX_NONE)
            graph_add_edge(graph, graph_device_node(graph, lane), node);
        else
            rank->n_unknown_syncs++;
        return;
    case SYNC_NONE:
    case SYNC_COPY:
        return; /* a copy's own edge stands already */
    }
}

void
graph_add_stream_edges(Graph *graph)
{
    const KinetoFile *file = graph->rank->file;
    g_autoptr(GHashTable) syncs = list_syncs(file), calls = kineto_calls(file);
    add_stream_order(graph);
    add_comm_inputs(graph);
    add_comm_outputs(graph);
    add_stream_waits(graph, calls);
    for (guint i = 0; i < file->events[KINETO_CALL]->len; i++) {
        if (graph->return_of_call[i] != INDEX_NONE)
            add_return(graph, i, syncs, calls);
    }
}
