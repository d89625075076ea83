/* kineto_file.h - one Kineto file in memory: the events a replay needs, and nothing else
 *
 * The file is read as a stream. Kept are device events (kernels, copies, fills), the driver and runtime calls,
 * cuda_sync events and record_param_comms; operators and Python frames leave nothing but their thread's last moment.
 * Times are integer nanoseconds relative to base_ns, parsed from the decimal text. */
#pragma once

#include "base/error.h"
#include "base/index.h"
#include "base/json.h"

typedef enum {
    KINETO_KERNEL,
    KINETO_MEMCPY,
    KINETO_MEMSET,
    KINETO_CALL, /* of the CUDA or HIP runtime or driver */
    KINETO_SYNC, /* cuda_sync */
    KINETO_COMM, /* the record_param_comms operator */
    KINETO_KINDS
} KinetoKind;

/* What an event says of its collective; on kernels of newer files and on record_param_comms. */
typedef struct {
    const char *collective;           /* NULL = the event carries none */
    const char *dtype;                /* NULL = none */
    const char *group;                /* process group name; NULL = none */
    const char *ranks;                /* its members as text, "[0, 1]", perhaps cut with "..."; NULL = none */
    const char *in_split, *out_split; /* elements to and from each peer as text; NULL or "[]" = even */
    int64_t in_nelems, out_nelems;    /* -1 = none */
    int64_t group_size, rank_start, rank_stride; /* -1 = none */
    int64_t root;                                /* "Rank": of broadcast and reduce the root; -1 = none */
    int64_t src, dst;                            /* ranks of send and recv; -1 = none */
    uint64_t input_numel;                        /* elements of a bare first tensor in "Input Dims"; 0 = not told */
} KinetoCollective;

typedef struct {
    int64_t start_ns, end_ns;
    uint64_t correlation; /* 0 = none */
    uint64_t place;       /* in the file: as its place_unit says */
    uint64_t bytes;       /* of a copy or fill; 0 where it is not told */
    const char *name;
    KinetoKind kind;
    uint32_t lane;             /* of lanes: the stream of a device event or a cuda_sync, else the host thread */
    uint32_t collective;       /* into collectives; INDEX_NONE = none */
    uint32_t wait_lane;        /* cuda_sync: the stream waited for; INDEX_NONE = unknown */
    uint64_t wait_correlation; /* cuda_sync: of the cudaEventRecord call waited for; 0 = unknown */
} KinetoEvent;

/* A host thread ("pid/tid") or a stream ("device/stream"). */
typedef struct {
    char *name;
    const char *label;                /* the part after the stroke, borrowed from name */
    int64_t last_ns;                  /* end of the last event on it */
    uint32_t n_operators, n_backward; /* cpu_op events, and autograd::engine::evaluate_function among them */
} KinetoLane;

/* A process group of distributedInfo. */
typedef struct {
    char *name;
    GArray *ranks; /* of uint32_t, in member order */
} KinetoGroup;

typedef struct {
    char *path;
    const char *place_unit;       /* of KinetoEvent.place: "byte", where the event begins */
    int64_t rank, world_size;     /* -1 = the file does not say */
    gboolean rank_is_taken;       /* 0, for want of one */
    GPtrArray *groups;            /* of KinetoGroup * */
    int64_t base_ns;              /* absolute time = base_ns + relative */
    int64_t first_ns, last_ns;    /* over all complete events except the profiler's own; 0 where there is none */
    GArray *events[KINETO_KINDS]; /* of KinetoEvent, by start, then by place in the file */
    GArray *collectives;          /* of KinetoCollective */
    GArray *lanes;                /* of KinetoLane */
    GHashTable *lane_of_name;     /* name -> index + 1 */
    GStringChunk *texts;          /* names and texts of the above */
    guint64 n_events, n_complete;
    GPtrArray *steps;    /* of char *: the names of ProfilerStep spans, each once */
    GArray *flow_ids[2]; /* of guint64: starts, ends; empty unless asked for */
} KinetoFile;

/* Reads a file, gzipped or not; with_flows keeps the ids of flow events (for counts only). problems, unless NULL, gets
 * what is wrong with single events, which are then left out. NULL with an INPUT error. */
KinetoFile *kineto_file_read(const char *path, gboolean with_flows, GPtrArray *problems, GError **error);
/* Adds a copy of a message, up to 1000 of them. problems may be NULL. */
void kineto_add_problem(GPtrArray *problems, const char *message);
/* An empty one, to be filled, for readers of other formats; sorted when all events are there. */
KinetoFile *kineto_file_new(const char *path);
void kineto_file_sort(KinetoFile *file);
void kineto_file_free(KinetoFile *file); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KinetoFile, kineto_file_free)

/* What it holds, counted; the caller frees it with kineto_survey_free. Sorts the flow ids, and drops repeats. */
struct KinetoSurvey *kineto_survey_of(KinetoFile *file);

/* The index of the lane of this name, entered where it is new. */
uint32_t kineto_file_lane(KinetoFile *file, const char *name);
gboolean kineto_is_nccl(const KinetoEvent *event); /* an NCCL or RCCL kernel, by its name */

/* Reads events into a file; its scratch texts are used again from event to event. json and file are borrowed. */
typedef struct KinetoEventReader KinetoEventReader;
KinetoEventReader *kineto_event_reader_new(JsonReader *json, KinetoFile *file, gboolean with_flows,
                                           GPtrArray *problems);
void kineto_event_reader_free(KinetoEventReader *reader); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KinetoEventReader, kineto_event_reader_free)
/* Reads one event, whose '{' was the last token. */
gboolean kineto_event_reader_next(KinetoEventReader *reader, GError **error);

static inline const KinetoEvent *
kineto_event(const KinetoFile *file, KinetoKind kind, uint32_t i)
{
    return &g_array_index(file->events[kind], KinetoEvent, i);
}
