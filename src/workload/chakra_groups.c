/* chakra_groups.c - communicator groups beside a Chakra trace: {"1": [0, 1], "2": [2, 3]}
 *
 * Keys are ids from 1 up; 0 is all ranks and may not be defined. */
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
