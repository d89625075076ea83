/* graphml_keys.h - inside GraphML: the <key> elements of a file and the attributes they stand for */
#pragma once

#include "fabric/graphml_columns.h"

/* A column in each scope the key is declared for, or none, and then what it gives is ignored. */
typedef struct {
    char *id, *name;
    const Column *columns[SCOPES];
    gboolean serves[SCOPES];
    char *standard;            /* <default>; NULL = none */
    uint64_t given_by[SCOPES]; /* for the reader: the last graph, node, edge that gave it, counted from 1 */
    uint64_t ignored;          /* for the reader: times it was given and had no column */
} GraphmlKey;

typedef struct GraphmlKeys GraphmlKeys;

GraphmlKeys *graphml_keys_new(void);
void graphml_keys_free(GraphmlKeys *keys); /* NULL is fine */

/* Declares a key from the XML attributes of its element, NULL where it has none. NULL with what is wrong in *fault (the
 * caller frees it). Keys stay where they are until the end. */
GraphmlKey *graphml_keys_declare(GraphmlKeys *keys, const char *id, const char *purpose, const char *name,
                                 const char *type, char **fault);
/* NULL where none is declared. */
GraphmlKey *graphml_keys_find(const GraphmlKeys *keys, const char *id);
/* In the order of declaration. */
uint32_t graphml_keys_n(const GraphmlKeys *keys);
const GraphmlKey *graphml_keys_at(const GraphmlKeys *keys, uint32_t i);
