/* program_words.h - the words of the program text that reader and writer share; part of program_text */
#pragma once

#include "workload/program.h"
#include "workload/program_token.h"

/* What may follow an op's name. */
typedef enum {
    CLAUSE_TIME,
    CLAUSE_FLOPS,
    CLAUSE_BYTES,
    CLAUSE_GROUP,
    CLAUSE_ROOT,
    CLAUSE_SPLITS,
    CLAUSE_TO,
    CLAUSE_FROM,
    CLAUSE_TAG,
    CLAUSE_SIGNAL,
    CLAUSE_CPU,
    CLAUSE_NIC,
    CLAUSE_BEGUN,
    CLAUSE_ON,
    CLAUSE_AFTER,
    CLAUSES
} Clause;

/* Their words, NULL-terminated; also the words that a bare name may not be. */
extern const char *const program_clauses[CLAUSES + 1];
/* The clauses an op of this kind takes, as bits 1 << Clause. */
uint32_t program_clauses_of(OpKind kind);

/* The words that begin an op: NULL-terminated; the collectives' are their names. */
const char *const *program_op_words(void);
/* FALSE where text begins no op. */
gboolean program_op_word(const char *text, OpKind *kind, CollectiveKind *collective);

/* What the reader of the header and of roles shares with that of ops. */
typedef struct {
    TokenLine *line;
    Workload *workload;
    uint32_t role;   /* the program being read; INDEX_NONE before the first */
    uint32_t stream; /* ops stand on it; INDEX_NONE = on none */
    gboolean stream_given;
    GHashTable *groups;  /* name (the group's own) -> index + 1; filled when the first role begins */
    GHashTable *streams; /* name -> index + 1, of the role */
    GHashTable *ops;     /* name -> index + 1, 0 where several have it; of the role */
    GArray *references;  /* of Reference: deps to be filled in at the end of the role */
    uint32_t rank;       /* the first rank of the role; INDEX_NONE = none */
    GPtrArray *problems; /* base/problems.h: where they are collected, what is bad is passed over */
    gboolean unsure;     /* a mesh or group was bad: which groups there are is not known */
} ProgramReader;

/* An op named after `after` or `begun`. */
typedef struct {
    uint32_t dep; /* place in the program's deps */
    Word word;    /* text is a copy */
    uint32_t line;
    gboolean number; /* @12 */
} Reference;

/* Reads the rest of a line that begins with an op word, already taken. */
gboolean program_read_op(ProgramReader *reader, const Word *first, GError **error);
/* A bad op, whose name is the next word, counts as a marker: others may be named after it, or by their number. */
void program_pass_over_op(ProgramReader *reader);
/* The stream of this name, added where it is new; "-" is none, in the DAG form alone. The word was taken. */
gboolean program_find_stream(ProgramReader *reader, const Word *word, gboolean exclusive, uint32_t *stream,
                             GError **error);
/* A line before the first role that is neither `program` nor `ranks`; its first word was taken. */
gboolean program_read_header(ProgramReader *reader, const Word *first, GError **error);
/* Ranks like "0-3 5" up to the end of the line or a bare "|", appended. */
gboolean program_read_ranks(ProgramReader *reader, GArray *ranks, GError **error);
/* Nothing more stands on the line. */
gboolean program_end_of_line(TokenLine *line, GError **error);
/* A whole number of at most most. */
gboolean program_read_uint(TokenLine *line, const char *what, uint64_t most, uint64_t *value, GError **error);
/* A time with its unit, perhaps in a word of its own. */
gboolean program_read_time(TokenLine *line, SimTime *time, GError **error);
