/* graphml_columns.h - inside GraphML: which attribute of a file is which member of a Node or Link
 *
 * One row an attribute, in the order they are written; DEFINITIONS 8. */
#pragma once

#include "fabric/fabric.h"

typedef enum {
    COLUMN_TEXT,      /* const char * */
    COLUMN_DOUBLE,    /* finite, 0 or more; NAN = none */
    COLUMN_U64,       /* uint64_t */
    COLUMN_TIME,      /* SimTime, 0 or more */
    COLUMN_RAIL,      /* int32_t, 0 or more; -1 = none */
    COLUMN_NODE_KIND, /* NodeKind */
    COLUMN_LINK_KIND, /* LinkKind */
    COLUMN_FORWARD    /* ForwardMode */
} ColumnType;

typedef struct {
    const char *name;
    ColumnType type;
    size_t offset;    /* of the member in Node, Link or GraphAttributes */
    gboolean needed;  /* a file without it is refused */
    gboolean written; /* even where it has its default */
} Column;

/* Of the graph itself. */
typedef struct {
    const char *name;
    ForwardMode forward;
} GraphAttributes;

typedef enum { SCOPE_GRAPH, SCOPE_NODE, SCOPE_EDGE, SCOPES } Scope;

const Column *graphml_columns(Scope scope, uint32_t *n_columns);
const char *graphml_scope_name(Scope scope); /* "graph", "node", "edge" */
/* NULL where a scope has no attribute of that name. */
const Column *graphml_column(Scope scope, const char *name);

/* attr.type as it is written. */
const char *column_type_name(const Column *column);
/* May a key of this attr.type hold it? Whole numbers may stand in keys of type double, as igraph writes them. */
gboolean column_takes(const Column *column, const char *attr_type);

/* Sets the member in row from text; texts are copied into chunk. FALSE, and row untouched, with what was expected in
 * *expected (the caller frees it). */
gboolean column_parse(const Column *column, void *row, const char *text, GStringChunk *chunk, char **expected);
gboolean column_equal(const Column *column, const void *row, const void *other);
/* The text of the member, 17 digits; FALSE where it holds none to write. */
gboolean column_format(const Column *column, const void *row, GString *text);
