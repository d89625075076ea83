/* yaml_tree.h - a YAML file as a tree in which every value knows its line and column
 *
 * Over libyaml's events; the one module that talks to it. Refused with PATH:LINE:COLUMN: duplicate keys, anchors,
 * aliases and tags, several documents, an empty file, invalid UTF-8, more than 64 levels. A byte order mark is
 * skipped. A value's path reads jobs[1].gpus. */
#pragma once

#include <glib.h>
#include <stddef.h>

typedef enum { YAML_SCALAR, YAML_MAP, YAML_LIST } YamlKind;

typedef struct YamlNode YamlNode;
struct YamlNode {
    YamlKind kind;
    size_t line, column;         /* from 1; 0 = set by --set */
    size_t key_line, key_column; /* where its key stands, of a value in a map */
    char *path;                  /* from the root: "jobs[1].gpus"; "" of the root */
    char *text;                  /* of a scalar */
    gboolean quoted;             /* a scalar in quotes: never null, true or a number */
    GPtrArray *keys;             /* of a map: char *, in file order */
    GPtrArray *values;           /* of a map or a list: YamlNode * */
};

typedef struct {
    char *file; /* path as given */
    char *text; /* the whole file */
    YamlNode *root;
    gboolean changed; /* by yaml_tree_set */
} YamlTree;

YamlTree *yaml_tree_read(const char *path, GError **error);
void yaml_tree_free(YamlTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlTree, yaml_tree_free)

/* "jobs[0].gpus=64": sets or replaces the value at the path (making maps on the way; a list index must exist or be the
 * next); the value is parsed as YAML. */
gboolean yaml_tree_set(YamlTree *tree, const char *assignment, GError **error);

/* The value under key of a map, or NULL. */
YamlNode *yaml_get(const YamlNode *map, const char *key);

/* A scalar that holds nothing: empty, ~ or null, not in quotes. */
gboolean yaml_is_null(const YamlNode *node);

/* "a map", "a list", "nothing", or "\"TEXT\"": what was found, for messages. The caller frees it. */
char *yaml_describe(const YamlNode *node);

/* "FILE:LINE:COLUMN: PATH: message" as an INPUT error; "FILE: --set: PATH: message" of what --set put there.
 * Returns FALSE. */
gboolean yaml_fail(const YamlTree *tree, const YamlNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Refuses what is no map, and keys that are not among known (NULL-terminated), naming the nearest and all. */
gboolean yaml_only(const YamlTree *tree, const YamlNode *map, const char *const *known, GError **error);

/* The tree as YAML text: the file as it stands, or, where yaml_tree_set changed something, written anew. What is
 * stored in run.scenario. The caller frees it. */
char *yaml_tree_print(const YamlTree *tree);
