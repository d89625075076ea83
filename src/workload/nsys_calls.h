/* nsys_calls.h - communication of a host thread, told from its NVTX ranges
 *
 * NCCL marks each of its functions with a range of its name, torch what it calls them for ("nccl:all_to_all"). One call
 * alone, or all between ncclGroupStart and ncclGroupEnd, are one communication. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    int64_t start_ns, end_ns;
    const char *name; /* as in trainshed-program(5), "send" and "recv" too; NULL = not known */
    int64_t src, dst; /* ranks of a message, where torch tells them; -1 */
} NsysCall;

typedef struct NsysCalls NsysCalls;

/* Ranges of NCCL's functions are counted into functions, torch's into ranges (both of KinetoCount, borrowed). */
NsysCalls *nsys_calls_new(GArray *functions, GArray *ranges);
void nsys_calls_free(NsysCalls *calls); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsysCalls, nsys_calls_free)

/* The next range: threads come one after another, their ranges by start, the outer before the inner. TRUE where a
 * communication is whole, told in *call; its name is valid until the next range. */
gboolean nsys_calls_take(NsysCalls *calls, int64_t thread, int64_t start_ns, int64_t end_ns, const char *text,
                         NsysCall *call);

/* What torch and NCCL call a collective, as trainshed-program(5) does: "all_reduce" for "ncclAllReduce". NULL where it
 * is none. */
const char *nsys_call_name(const char *name);
