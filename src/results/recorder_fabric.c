/* recorder_fabric.c - the fabric as rows: written once, before anything happens */
#include "results/recorder_state.h"

#include <math.h>

static const char *
text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void
real_or_null(Bulk *bulk, double value, gboolean known)
{
    if (known)
        bulk_real(bulk, value);
    else
        bulk_null(bulk);
}

static void
size_or_null(Bulk *bulk, uint64_t value, gboolean known)
{
    if (known)
        bulk_size(bulk, value);
    else
        bulk_null(bulk);
}

static void
write_node(Recorder *recorder, uint32_t id, const Node *node)
{
    Bulk *row = recorder_row(recorder, TABLE_NODE);
    if (row == NULL)
        return;
    bulk_int(row, id);
    bulk_text(row, node->name);
    bulk_text(row, node_kind_name(node->kind));
    bulk_text(row, text_or_null(node->building));
    bulk_text(row, text_or_null(node->region));
    bulk_text(row, text_or_null(node->zone));
    bulk_text(row, text_or_null(node->rack));
    bulk_text(row, text_or_null(node->server));
    if (node->rail >= 0)
        bulk_int(row, node->rail);
    else
        bulk_null(row);
    bulk_text(row, text_or_null(node->gpu));
    real_or_null(row, node->peak_FLOPps, node->peak_FLOPps > 0);
    real_or_null(row, node->memory_bandwidth_Bps, node->memory_bandwidth_Bps > 0);
    size_or_null(row, node->memory_B, node->memory_B > 0);
    recorder_row_done(recorder, TABLE_NODE);
}

static void
write_link(Recorder *recorder, uint32_t id, const Fabric *fabric)
{
    Bulk *row = recorder_row(recorder, TABLE_LINK);
    if (row == NULL)
        return;
    const Link *link = fabric_link(fabric, id);
    gboolean marks = link->ecn_kmax_B > 0;
    bulk_int(row, id);
    bulk_int(row, link->src);
    bulk_int(row, link->dst);
    bulk_text(row, link_kind_name(link->kind));
    bulk_real(row, link->capacity_Bps);
    bulk_int(row, link->latency_ps);
    bulk_text(row, text_or_null(fabric_node(fabric, link->src)->building));
    bulk_text(row, text_or_null(fabric_node(fabric, link->dst)->building));
    bulk_text(row, link->source != NULL ? link->source : "");
    real_or_null(row, link->length_km, !isnan(link->length_km));
    size_or_null(row, link->buffer_B, link->buffer_B > 0);
    bulk_real(row, link->loss);
    size_or_null(row, link->ecn_kmin_B, marks);
    size_or_null(row, link->ecn_kmax_B, marks);
    real_or_null(row, link->ecn_pmax, marks);
    recorder_row_done(recorder, TABLE_LINK);
}

void
recorder_write_fabric(Recorder *recorder, const Fabric *fabric)
{
    for (uint32_t node = 0; node < fabric_n_nodes(fabric); node++)
        write_node(recorder, node, fabric_node(fabric, node));
    for (uint32_t link = 0; link < fabric_n_links(fabric); link++)
        write_link(recorder, link, fabric);
}
