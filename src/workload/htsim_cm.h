/* htsim_cm.h - htsim's connection matrices, the files *.cm and *.tm
 *
 * The format is that of connection_matrix.cpp in Broadcom/csg-htsim and ultraethernet/uet-htsim: flows between hosts,
 * each started at a time or by a trigger that other flows activate when they end. htsim_cm.c reads the text and checks
 * it; htsim_workload.c makes programs of it. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"
#include "workload/trace_format.h"

typedef enum { HTSIM_ONESHOT, HTSIM_MULTISHOT, HTSIM_BARRIER } HtsimTriggerKind;

typedef struct {
    uint64_t id; /* 0 = none */
    uint32_t src, dst;
    SimTime start_ps;              /* -1 = by its trigger */
    uint32_t trigger;              /* that starts it; all triggers here are indexes, INDEX_NONE = none */
    uint32_t send_done, recv_done; /* activated once the sender has had everything acknowledged, the receiver has it */
    uint64_t bytes;
    uint32_t before;  /* the message before this one on its connection: sent first; INDEX_NONE = none */
    uint64_t message; /* its number among the messages of the connection; 0 = a flow of its own */
    size_t line;
} HtsimFlow;

typedef struct {
    uint64_t id;
    HtsimTriggerKind kind;
    uint32_t count; /* activations at which a barrier fires; else 1 */
    size_t line;
} HtsimTrigger;

typedef struct {
    char *path;
    uint32_t n_hosts;
    GArray *flows;    /* of HtsimFlow, in file order */
    GArray *triggers; /* of HtsimTrigger, in file order */
    uint32_t n_prio;  /* flows with a priority, which is read and not used */
} HtsimMatrix;

/* Checked: as many flows and triggers as announced, hosts and triggers exist, every flow is started once. NULL with an
 * INPUT error "PATH:LINE: ...". */
HtsimMatrix *htsim_matrix_read(const char *path, GError **error);
void htsim_matrix_free(HtsimMatrix *matrix); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HtsimMatrix, htsim_matrix_free)
/* Finds what names cannot show: triggers that get too many activations, flows that never start. Part of reading. */
gboolean htsim_matrix_check_starts(const HtsimMatrix *matrix, GError **error);

/* "flow 12", "flow 0->13 of line 3", "flow 1 message 2". The caller frees it. */
char *htsim_flow_name(const HtsimFlow *flow);

/* The DAG form, a program a rank (host); ranks without a flow share an empty one. A flow is a send and a recv; what
 * its acknowledgement triggers waits for an empty message back. Triggers cost no time, as in htsim. */
Workload *htsim_workload(const HtsimMatrix *matrix, GError **error);
