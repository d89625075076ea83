/* chakra_groups.c - communicator groups beside a Chakra trace, {"1": [0, 1], "2": [2, 3]}, and within it
 *
 * Keys are ids from 1 up; 0 is all ranks and may not be defined. Within a trace a METADATA node's inputs are a Python
 * list of one text, which is a JSON array [{"pg_name": "1", "ranks": [0, 1]}, ...]; an empty list is all ranks, and the
 * group goes before one of the file's. */
#include "base/error.h"
#include "base/json.h"
#include "workload/chakra_trace.h"

#include <string.h>

/* Reads the ranks of one group into ranks. seen has a cell for each rank: the last group (from 1) that named it. */
static gboolean
take_ranks(JsonReader *json, const char *name, const Workload *workload, GArray *ranks, uint32_t *seen, GError **error)
{
    JsonToken token;
    uint32_t mark = workload->groups->len + 1;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "group \"%s\" is no array of ranks", name);
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        uint64_t rank;
        if (token.kind != JSON_NUMBER || !json_uint64(token.text, &rank))
            return json_fail(json, error, "group \"%s\" holds %s; expected ranks", name,
                             token.text != NULL ? token.text : "what is no number");
        if (rank >= workload->n_ranks)
            return json_fail(json, error, "group \"%s\" names rank %" G_GUINT64_FORMAT "; there are ranks 0 to %u",
                             name, rank, workload->n_ranks - 1);
        if (seen[rank] == mark)
            return json_fail(json, error, "group \"%s\" names rank %" G_GUINT64_FORMAT " twice", name, rank);
        seen[rank] = mark;
        uint32_t index = (uint32_t)rank;
        g_array_append_val(ranks, index);
    }
}

static gboolean
take_group(JsonReader *json, const char *key, Workload *workload, GHashTable *names, uint32_t *seen, GError **error)
{
    uint64_t id;
    if (!json_uint64(key, &id) || id == 0)
        return json_fail(json, error, "group id \"%s\"; expected a whole number above 0 (0 is all ranks)", key);
    if (!g_hash_table_add(names, g_strdup(key)))
        return json_fail(json, error, "group \"%s\" is given twice", key);

    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (!take_ranks(json, key, workload, ranks, seen, error))
        return FALSE;
    for (uint32_t rank = 0, empty = ranks->len == 0; empty && rank < workload->n_ranks; rank++)
        g_array_append_val(ranks, rank);
    workload_add_group(workload, key, (const uint32_t *)(const void *)ranks->data, ranks->len);
    return TRUE;
}

gboolean
chakra_groups_read(Workload *workload, const char *path, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    JsonToken token;
    if (json == NULL || !json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(json, error, "not an object; expected groups like {\"1\": [0, 1]}");

    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree uint32_t *seen = g_new0(uint32_t, workload->n_ranks);
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            break;
        g_autofree char *key = g_strdup(token.text);
        if (!take_group(json, key, workload, names, seen, error))
            return FALSE;
    }
    if (!json_next(json, &token, error))
        return FALSE;
    return token.kind == JSON_END || json_fail(json, error, "more follows after the end of the object");
}

static gboolean
take_own_ranks(JsonReader *json, ChakraTrace *trace, ChakraGroup *group, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "ranks is no array of ranks");
    group->first_rank = trace->group_ranks->len;
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        uint64_t rank;
        if (token.kind != JSON_NUMBER || !json_uint64(token.text, &rank) || rank >= INDEX_NONE)
            return json_fail(json, error, "ranks holds %s; expected ranks",
                             token.text != NULL ? token.text : "what is no number");
        uint32_t index = (uint32_t)rank;
        g_array_append_val(trace->group_ranks, index);
        group->n_ranks++;
    }
}

/* One object of the array; groups without a name are passed over. */
static gboolean
take_own_group(JsonReader *json, ChakraTrace *trace, uint32_t node, GError **error)
{
    ChakraGroup group = {.name = INDEX_NONE, .node = node};
    JsonToken token;
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            break;
        gboolean name = strcmp(token.text, "pg_name") == 0, ranks = strcmp(token.text, "ranks") == 0;
        if (ranks) {
            if (!take_own_ranks(json, trace, &group, error))
                return FALSE;
            continue;
        }
        if (!json_next(json, &token, error))
            return FALSE;
        if (name && (token.kind == JSON_STRING || token.kind == JSON_NUMBER))
            group.name = chakra_trace_text(trace, token.text);
        if (!json_skip(json, &token, error))
            return FALSE;
    }
    if (group.name != INDEX_NONE)
        g_array_append_val(trace->groups, group);
    return TRUE;
}

static gboolean
take_own_groups(JsonReader *json, ChakraTrace *trace, uint32_t node, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "no array of groups");
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            break;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(json, error, "a group is no object");
        if (!take_own_group(json, trace, node, error))
            return FALSE;
    }
    return json_next(json, &token, error);
}

gboolean
chakra_node_set_inputs(ChakraTrace *trace, uint32_t node, const char *text, GError **error)
{
    enum { QUOTES = 2 }; /* [' at the beginning, '] at the end */
    size_t length = strlen(text);
    if (length <= 2 * QUOTES || strstr(text, "\"pg_name\"") == NULL)
        return TRUE;
    g_autoptr(JsonReader) json = json_open_text("groups in inputs", text + QUOTES, length - 2 * QUOTES);
    return take_own_groups(json, trace, node, error);
}

/* A group of the workload with these members, in this order; INDEX_NONE where there is none. */
static uint32_t
find_equal(const Workload *workload, const char *name, const GArray *ranks)
{
    for (uint32_t i = 0; i < workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(workload->groups, i);
        const GArray *members = g_ptr_array_index(group->instances, 0);
        size_t length = strlen(name);
        if (strncmp(group->name, name, length) != 0 || (group->name[length] != '\0' && group->name[length] != ' '))
            continue;
        if (members->len == ranks->len && memcmp(members->data, ranks->data, ranks->len * sizeof(uint32_t)) == 0)
            return i;
    }
    return INDEX_NONE;
}

/* The members of a group that a trace defines. FALSE with an error that begins with what is wrong. */
static gboolean
members_of(const Workload *workload, const ChakraTrace *trace, const ChakraGroup *group, GArray *ranks, GError **error)
{
    const char *name = trace->texts->str + group->name;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < group->n_ranks; i++) {
        uint32_t rank = g_array_index(trace->group_ranks, uint32_t, group->first_rank + i);
        if (rank >= workload->n_ranks)
            return error_input(error, "group \"%s\" names rank %u; there are ranks 0 to %u", name, rank,
                               workload->n_ranks - 1);
        if (!g_hash_table_add(seen, GUINT_TO_POINTER(rank)))
            return error_input(error, "group \"%s\" names rank %u twice", name, rank);
        g_array_append_val(ranks, rank);
    }
    for (uint32_t rank = 0; group->n_ranks == 0 && rank < workload->n_ranks; rank++)
        g_array_append_val(ranks, rank);
    return TRUE;
}

gboolean
chakra_groups_take(Workload *workload, const ChakraTrace *trace, uint32_t rank, GHashTable *found, Problems *problems)
{
    for (uint32_t i = 0; i < trace->groups->len; i++) {
        const ChakraGroup *group = &g_array_index(trace->groups, ChakraGroup, i);
        const char *name = trace->texts->str + group->name;
        g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        GError *wrong = NULL;
        if (!members_of(workload, trace, group, ranks, &wrong)) {
            g_autofree char *place = chakra_place(trace, &g_array_index(trace->nodes, ChakraNode, group->node));
            g_prefix_error(&wrong, "%s: ", place);
            if (!problems_add(problems, wrong))
                return FALSE;
            continue;
        }
        uint32_t index = find_equal(workload, name, ranks);
        if (index == INDEX_NONE) {
            g_autofree char *other = g_strdup_printf("%s of rank %u", name, rank);
            gboolean taken = workload_find_group(workload, name) != INDEX_NONE;
            index = workload_add_group(workload, taken ? other : name, (const uint32_t *)(const void *)ranks->data,
                                       ranks->len);
        }
        g_hash_table_insert(found, g_strdup(name), GUINT_TO_POINTER(index + 1));
    }
    return TRUE;
}
