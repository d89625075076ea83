/* trace_format.h - the table of trace readers: files become a workload
 *
 * A format is one file and one line in trace_format.c. Recognised by content; a name overrides. */
#pragma once

#include "workload/program.h"

/* What a rank of a GOAL schedule is: a GPU, or a node with a GPU a NIC. Guessed: a node where a NIC above 0 is named.
 */
typedef enum { RANK_IS_GUESSED, RANK_IS_GPU, RANK_IS_NODE } TraceRankIs;

typedef struct {
    char **files; /* rank 0, 1, ...; paired by the number in the name, see trace_pair */
    uint32_t n_files;
    char **execution_files; /* Kineto: the execution traces, same order; NULL = none */
    uint32_t n_execution_files;
    const char *groups_file; /* Chakra: communicator groups; NULL = none */
    const char *sizes_file;  /* Chakra, Nsight Systems: bytes of calls, message_sizes.h; NULL = none */
    const char *dimensions; /* Chakra: sizes of the network's dimensions that involved_dim counts, "8x4"; NULL = none */
    uint32_t ranks;         /* layer tables: how many ranks; 0 = not given */
    uint32_t model_parallel; /* layer tables: ranks of a model-parallel group; 0 = not given */
    uint32_t replicate;      /* this many ranks do what the one file says; 0 = not asked for */
    TraceRankIs rank_is;
    gboolean break_cycles; /* deps that close a circle are dropped, and noted, instead of refused */
    GPtrArray
        *problems; /* of char *: a reader that can goes on after a problem and puts all of them here; NULL = stop */
} TraceSource;

typedef struct {
    const char *name, *help;
    /* How sure from the first bytes of a file (unpacked): 0 = not this, 100 = surely. */
    int (*recognise)(const char *head, size_t length);
    /* A checked workload, or NULL with an INPUT error. */
    Workload *(*read)(const TraceSource *source, GError **error);
    /* The same, and what single files hold goes to surveys (of KinetoSurvey *), of files too that cannot be replayed;
     * none where a file cannot be read at all. NULL = the format has no such thing. */
    Workload *(*survey)(const TraceSource *source, GPtrArray *surveys, GError **error);
    /* What the files say of a trace that is never replayed, as lines of text appended to told; FALSE with an INPUT
     * error. NULL = the workload tells. */
    gboolean (*tell)(const TraceSource *source, GString *told, GError **error);
    /* What files that cannot be replayed hold by themselves, appended to told. FALSE with an INPUT error where a file
     * cannot be read at all. NULL = the workload tells. */
    gboolean (*outline)(const TraceSource *source, GString *told, GError **error);
    gboolean replicates; /* knows TraceSource.replicate */
} TraceFormat;

extern const TraceFormat trace_chakra, trace_chakra_json, trace_dumpi, trace_goal, trace_htsim, trace_kineto,
    trace_nsys, trace_program;

extern const TraceFormat trace_astra, trace_layers, trace_simai;

extern const TraceFormat trace_liballprof, trace_otf2, trace_simgrid_ti;

/* "guessed", "gpu", "node", NULL: in the order of TraceRankIs. */
extern const char *const trace_rank_is_names[];
/* FALSE with an INPUT error where text is none of these. */
gboolean trace_rank_is_parse(const char *text, TraceRankIs *rank_is, GError **error);

/* NULL-terminated. */
const TraceFormat *const *trace_formats(void);
/* By name, or NULL with an INPUT error naming the nearest. */
const TraceFormat *trace_format_find(const char *name, GError **error);
/* By the content of its first file; NULL with an INPUT error that says what was seen. */
const TraceFormat *trace_format_recognise(const char *path, GError **error);
/* FALSE with an INPUT error where the source asks for what this format cannot do. */
gboolean trace_format_accepts(const TraceFormat *format, const TraceSource *source, GError **error);
/* format may be NULL: recognised. */
Workload *trace_read(const char *format, const TraceSource *source, GError **error);

/* Expands patterns (glob) relative to folder into files sorted by the last whole number in their base name that differs
 * (rank); a missing number, two files of one rank or a pattern without files is an INPUT error. NULL-terminated; the
 * caller frees with g_strfreev. */
char **trace_pair(const char *folder, const char *const *patterns, GError **error);
