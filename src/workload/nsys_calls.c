#include "workload/nsys_calls.h"

#include "workload/kineto.h"

#include <stdio.h>
#include <string.h>

/* What lies open on one host thread, whose ranges come in order. */
struct NsysCalls {
    GArray *functions, *ranges;
    int64_t thread;               /* globalTid; -1 = none yet */
    int64_t torch_end;            /* of the last "nccl:" range */
    char *torch;                  /* what it is, as in trainshed-program(5), "" where that is not known; NULL = none */
    int64_t src, dst;             /* of "nccl:send 0->1"; -1 */
    int depth;                    /* of ncclGroupStart */
    int64_t start;                /* of the outermost */
    const char *call;             /* the first call in it that is neither send nor recv; NULL */
    uint32_t sends, recvs, kinds; /* calls in it; kinds: different ones */
};

static const struct {
    const char *name, *call;
} names[] = {
    {"all_gather", "all_gather"},
    {"all_gather_into_tensor_coalesced", "all_gather"},
    {"_all_gather_base", "all_gather"},
    {"_all_gather_base_coalesced", "all_gather"},
    {"all_reduce", "all_reduce"},
    {"all_reduce_barrier", "barrier"},
    {"all_reduce_coalesced", "all_reduce"},
    {"all_to_all", "all_to_all"},
    {"barrier", "barrier"},
    {"broadcast", "broadcast"},
    {"_broadcast_oop", "broadcast"},
    {"ncclAllGather", "all_gather"},
    {"ncclAllReduce", "all_reduce"},
    {"ncclAllToAll", "all_to_all"},
    {"ncclAlltoAll", "all_to_all"},
    {"ncclBcast", "broadcast"},
    {"ncclBroadcast", "broadcast"},
    {"ncclRecv", "recv"},
    {"ncclReduce", "reduce"},
    {"ncclReduceScatter", "reduce_scatter"},
    {"ncclSend", "send"},
    {"recv", "recv"},
    {"reduce", "reduce"},
    {"_reduce_oop", "reduce"},
    {"reduce_scatter", "reduce_scatter"},
    {"_reduce_scatter_base", "reduce_scatter"},
    {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
    {"send", "send"},
};

const char *
nsys_call_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].call;
    }
    return NULL;
}

NsysCalls *
nsys_calls_new(GArray *functions, GArray *ranges)
{
    NsysCalls *calls = g_new0(NsysCalls, 1);
    calls->functions = functions;
    calls->ranges = ranges;
    calls->thread = -1;
    return calls;
}

void
nsys_calls_free(NsysCalls *calls)
{
    if (calls == NULL)
        return;
    g_free(calls->torch);
    g_free(calls);
}

static void
count(GArray *counts, const char *name)
{
    kineto_count_of(counts, name, strlen(name))->count++;
}

/* A communication; what torch says of it counts more than NCCL's functions. */
static gboolean
tell(const NsysCalls *thread, int64_t start_ns, int64_t end_ns, const char *name, NsysCall *told)
{
    gboolean torch = thread->torch != NULL && thread->torch_end >= end_ns;
    *told = (NsysCall){.start_ns = start_ns,
                       .end_ns = end_ns,
                       .name = torch && thread->torch[0] != '\0' ? thread->torch : name,
                       .src = torch ? thread->src : -1,
                       .dst = torch ? thread->dst : -1};
    return TRUE;
}

/* As many sends as receives, more than one of each: an all-to-all, as torch makes it. */
static const char *
name_of_group(const NsysCalls *thread)
{
    if (thread->kinds > 1)
        return NULL;
    if (thread->call != NULL)
        return thread->sends + thread->recvs == 0 ? thread->call : NULL;
    if (thread->sends == thread->recvs)
        return thread->sends > 1 ? "all_to_all" : NULL;
    return thread->sends + thread->recvs > 1 ? NULL : thread->sends == 1 ? "send" : "recv";
}

static gboolean
take_nccl(NsysCalls *thread, int64_t start_ns, int64_t end_ns, const char *text, NsysCall *told)
{
    const char *call = nsys_call_name(text);
    count(thread->functions, text);
    if (strcmp(text, "ncclGroupStart") == 0) {
        if (thread->depth++ > 0)
            return FALSE;
        thread->start = start_ns;
        thread->call = NULL;
        thread->sends = thread->recvs = thread->kinds = 0;
    } else if (strcmp(text, "ncclGroupEnd") == 0) {
        if (thread->depth == 0) /* its start lies before the window */
            return tell(thread, start_ns, end_ns, NULL, told);
        if (--thread->depth == 0 && (thread->call != NULL || thread->sends + thread->recvs > 0))
            return tell(thread, thread->start, end_ns, name_of_group(thread), told);
    } else if (call != NULL && thread->depth == 0)
        return tell(thread, start_ns, end_ns, call, told);
    else if (call != NULL && strcmp(call, "send") == 0)
        thread->sends++;
    else if (call != NULL && strcmp(call, "recv") == 0)
        thread->recvs++;
    else if (call != NULL && (thread->call == NULL || strcmp(thread->call, call) != 0)) {
        thread->call = call;
        thread->kinds++;
    }
    return FALSE;
}

/* "nccl:all_to_all, op_id = 990772", "nccl:send 0->1": torch's range around what NCCL is called for. */
static void
take_torch(NsysCalls *thread, int64_t end_ns, const char *text)
{
    g_autofree char *name = g_strndup(text, strcspn(text, ", "));
    const char *call = nsys_call_name(name);
    int from, to;
    count(thread->ranges, name);
    g_free(thread->torch);
    thread->torch = g_strdup(call != NULL ? call : "");
    thread->torch_end = end_ns;
    thread->src = thread->dst = -1;
    if (sscanf(text, "send %9d->%9d", &from, &to) == 2 && from >= 0 && to >= 0) {
        thread->src = from;
        thread->dst = to;
    } else if (sscanf(text, "recv %9d<-%9d", &to, &from) == 2 && from >= 0 && to >= 0) {
        thread->src = from;
        thread->dst = to;
    }
}

gboolean
nsys_calls_take(NsysCalls *calls, int64_t thread, int64_t start_ns, int64_t end_ns, const char *text, NsysCall *call)
{
    if (thread != calls->thread) {
        g_clear_pointer(&calls->torch, g_free);
        calls->thread = thread;
        calls->depth = 0;
    }
    if (g_str_has_prefix(text, "nccl:"))
        take_torch(calls, end_ns, text + 5);
    else if (g_str_has_prefix(text, "nccl") && g_ascii_isupper(text[4]))
        return take_nccl(calls, start_ns, end_ns, text, call);
    return FALSE;
}
