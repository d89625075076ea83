/* fields.h - the keys of a map in a scenario as tables: name, how it is read, where it goes
 *
 * Each table is the one list of the keys of its map: unknown keys are refused from it, and
 * trainshed-scenario(5) documents what stands in it. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"
#include "base/yaml_tree.h"

/* What reading needs to know: the tree, for messages, and the folder that file names are relative to. */
typedef struct {
    const YamlTree *tree;
    const char *folder;
} Reading;

typedef struct Field Field;

/* Reads node into the struct at base (of the field's table). FALSE with an error that names the place. */
typedef gboolean (*FieldReader)(const Reading *reading, const YamlNode *node, const Field *field, void *base,
                                GError **error);

struct Field {
    const char *key;
    FieldReader read;
    size_t offset;            /* of the member in the struct */
    double low, high;         /* of numbers and quantities: the range, both ends included */
    const char *const *names; /* of a choice: NULL-terminated, in the order of the enum */
};

/* Reads every key of map by the table (ended by a NULL key); keys that are absent leave their members alone. */
gboolean fields_read(const Reading *reading, const YamlNode *map, const Field *fields, void *base, GError **error);

/* Readers. Members: */
gboolean field_text(const Reading *, const YamlNode *, const Field *, void *, GError **); /* char *, not empty */
gboolean field_file(const Reading *, const YamlNode *, const Field *, void *, GError **); /* char *, resolved */
gboolean field_texts(const Reading *, const YamlNode *, const Field *, void *,
                     GError **); /* char **; a list, not empty */
gboolean field_files(const Reading *, const YamlNode *, const Field *, void *,
                     GError **); /* char **; a list or one text */
gboolean field_count(const Reading *, const YamlNode *, const Field *, void *, GError **); /* uint32_t in [low, high] */
gboolean field_seed(const Reading *, const YamlNode *, const Field *, void *, GError **);  /* uint64_t */
gboolean field_flag(const Reading *, const YamlNode *, const Field *, void *, GError **);  /* gboolean */
gboolean field_number(const Reading *, const YamlNode *, const Field *, void *, GError **); /* double in [low, high] */
gboolean field_choice(const Reading *, const YamlNode *, const Field *, void *, GError **); /* an enum: names */
gboolean field_rate(const Reading *, const YamlNode *, const Field *, void *,
                    GError **); /* double, B/s, at least low */
gboolean field_length(const Reading *, const YamlNode *, const Field *, void *, GError **); /* double, km */
gboolean field_compute(const Reading *, const YamlNode *, const Field *, void *,
                       GError **); /* double, FLOP/s, at least low */
gboolean field_cost(const Reading *, const YamlNode *, const Field *, void *, GError **); /* double, s/B */
gboolean field_size(const Reading *, const YamlNode *, const Field *, void *, GError **); /* uint64_t, at least low */
gboolean field_time(const Reading *, const YamlNode *, const Field *, void *, GError **); /* SimTime, at least low */

/* The text of a scalar; NULL with an error for a map, a list and nothing at all. Borrowed from node. */
const char *field_scalar(const Reading *reading, const YamlNode *node, const char *expected, GError **error);

/* node must be a list. */
gboolean field_is_list(const Reading *reading, const YamlNode *node, GError **error);

/* The place of node's text in names (NULL-terminated), or an error with what is known and the nearest. */
gboolean field_name(const Reading *reading, const YamlNode *node, const char *const *names, unsigned *index,
                    GError **error);

/* path below the reading's folder where it is relative. The caller frees it. */
char *field_resolve(const Reading *reading, const char *path);
