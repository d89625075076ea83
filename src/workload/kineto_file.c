/* kineto_file.c - the top of a Kineto file: who wrote it, its process groups, its clock; its events by kineto_event.c
 */
#include "workload/kineto_file.h"

#include <string.h>

static void
group_free(gpointer data)
{
    KinetoGroup *group = data;
    g_free(group->name);
    g_array_unref(group->ranks);
    g_free(group);
}

static void
lane_clear(gpointer data)
{
    g_free(((KinetoLane *)data)->name);
}

KinetoFile *
kineto_file_new(const char *path)
{
    KinetoFile *file = g_new0(KinetoFile, 1);
    file->path = g_strdup(path);
    file->place_unit = "byte";
    file->rank = file->world_size = -1;
    file->first_ns = INT64_MAX;
    file->last_ns = INT64_MIN;
    file->groups = g_ptr_array_new_with_free_func(group_free);
    for (int i = 0; i < KINETO_KINDS; i++)
        file->events[i] = g_array_new(FALSE, FALSE, sizeof(KinetoEvent));
    file->collectives = g_array_new(FALSE, FALSE, sizeof(KinetoCollective));
    file->lanes = g_array_new(FALSE, FALSE, sizeof(KinetoLane));
    g_array_set_clear_func(file->lanes, lane_clear);
    file->lane_of_name = g_hash_table_new(g_str_hash, g_str_equal);
    file->texts = g_string_chunk_new(4096);
    file->steps = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < 2; i++)
        file->flow_ids[i] = g_array_new(FALSE, FALSE, sizeof(guint64));
    return file;
}

void
kineto_file_free(KinetoFile *file)
{
    if (file == NULL)
        return;
    g_free(file->path);
    g_ptr_array_unref(file->groups);
    for (int i = 0; i < KINETO_KINDS; i++)
        g_array_unref(file->events[i]);
    g_array_unref(file->collectives);
    g_hash_table_unref(file->lane_of_name);
    g_array_unref(file->lanes);
    g_string_chunk_free(file->texts);
    g_ptr_array_unref(file->steps);
    for (int i = 0; i < 2; i++)
        g_array_unref(file->flow_ids[i]);
    g_free(file);
}

uint32_t
kineto_file_lane(KinetoFile *file, const char *name)
{
    uint32_t index = GPOINTER_TO_UINT(g_hash_table_lookup(file->lane_of_name, name));
    if (index != 0)
        return index - 1;
    KinetoLane lane = {.name = g_strdup(name), .last_ns = INT64_MIN};
    const char *stroke = strrchr(lane.name, '/');
    lane.label = stroke != NULL ? stroke + 1 : lane.name;
    g_array_append_val(file->lanes, lane);
    g_hash_table_insert(file->lane_of_name, lane.name, GUINT_TO_POINTER(file->lanes->len));
    return file->lanes->len - 1;
}

void
kineto_add_problem(GPtrArray *problems, const char *message)
{
    enum { MOST = 1000 };
    if (problems != NULL && problems->len < MOST)
        g_ptr_array_add(problems, g_strdup(message));
}

gboolean
kineto_is_nccl(const KinetoEvent *event)
{
    return event->kind == KINETO_KERNEL && g_str_has_prefix(event->name, "nccl");
}

/* A whole number from 0 that fits 32 bits, or null. */
static gboolean
read_small(JsonReader *json, const char *key, int64_t *value, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind == JSON_NULL)
        return TRUE;
    int64_t number;
    if (token.kind != JSON_NUMBER || !json_int64(token.text, &number) || number < 0 || number >= UINT32_MAX)
        return json_fail(json, error, "distributedInfo.%s is %.40s, expected a whole number from 0 to 4294967294", key,
                         token.text != NULL ? token.text : "no number");
    *value = number;
    return TRUE;
}

static gboolean
read_ranks(JsonReader *json, GArray *ranks, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_skip(json, &token, error);
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        uint64_t rank;
        if (token.kind != JSON_NUMBER || !json_uint64(token.text, &rank) || rank >= INDEX_NONE)
            return json_fail(json, error, "pg_config: %.40s among ranks, expected whole numbers",
                             token.text != NULL ? token.text : "no number");
        uint32_t narrow = (uint32_t)rank;
        g_array_append_val(ranks, narrow);
    }
    return FALSE;
}

/* One entry of pg_config, whose '{' was read. */
static gboolean
read_group(JsonReader *json, KinetoGroup *group, GError **error)
{
    JsonToken token;
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        if (strcmp(token.text, "ranks") == 0) {
            if (!read_ranks(json, group->ranks, error))
                return FALSE;
            continue;
        }
        gboolean name = strcmp(token.text, "pg_name") == 0;
        if (!json_next(json, &token, error))
            return FALSE;
        if (name && token.text != NULL) {
            g_free(group->name);
            group->name = g_strdup(token.text);
        }
        if (!json_skip(json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_groups(JsonReader *json, KinetoFile *file, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_skip(json, &token, error);
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(json, error, "pg_config: expected objects");
        KinetoGroup *group = g_new0(KinetoGroup, 1);
        group->name = g_strdup("");
        group->ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_ptr_array_add(file->groups, group);
        if (!read_group(json, group, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_distributed(JsonReader *json, KinetoFile *file, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(json, error, "distributedInfo is no object");
    while (json_next(json, &token, error)) {
        gboolean ok;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        if (strcmp(token.text, "rank") == 0)
            ok = read_small(json, "rank", &file->rank, error);
        else if (strcmp(token.text, "world_size") == 0)
            ok = read_small(json, "world_size", &file->world_size, error);
        else if (strcmp(token.text, "pg_config") == 0)
            ok = read_groups(json, file, error);
        else
            ok = json_next(json, &token, error) && json_skip(json, &token, error);
        if (!ok)
            return FALSE;
    }
    return FALSE;
}

/* The elements of traceEvents, whose '[' was read. */
static gboolean
read_events(JsonReader *json, KinetoFile *file, gboolean with_flows, GPtrArray *problems, GError **error)
{
    g_autoptr(KinetoEventReader) reader = kineto_event_reader_new(json, file, with_flows, problems);
    JsonToken token;
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(json, error, "traceEvents: expected objects, one an event");
        if (!kineto_event_reader_next(reader, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_base(JsonReader *json, KinetoFile *file, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_NUMBER || !json_int64(token.text, &file->base_ns))
        return json_fail(json, error, "baseTimeNanoseconds is %.40s, expected a whole number of nanoseconds",
                         token.text != NULL ? token.text : "no number");
    return TRUE;
}

/* The members of the file's object, whose '{' was read. *seen: there were traceEvents; *nodes: those of an
 * execution trace. */
static gboolean
read_top(JsonReader *json, KinetoFile *file, gboolean with_flows, GPtrArray *problems, gboolean *seen, gboolean *nodes,
         GError **error)
{
    JsonToken token;
    while (json_next(json, &token, error)) {
        gboolean ok;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        *nodes = *nodes || strcmp(token.text, "nodes") == 0;
        if (strcmp(token.text, "distributedInfo") == 0)
            ok = read_distributed(json, file, error);
        else if (strcmp(token.text, "baseTimeNanoseconds") == 0)
            ok = read_base(json, file, error);
        else if (strcmp(token.text, "traceEvents") == 0) {
            *seen = TRUE;
            ok = json_next(json, &token, error);
            if (ok && token.kind != JSON_ARRAY_BEGIN)
                return json_fail(json, error, "traceEvents is no array");
            ok = ok && read_events(json, file, with_flows, problems, error);
        } else
            ok = json_next(json, &token, error) && json_skip(json, &token, error);
        if (!ok)
            return FALSE;
    }
    return FALSE;
}

static gint
by_start(gconstpointer a, gconstpointer b)
{
    int64_t x = ((const KinetoEvent *)a)->start_ns, y = ((const KinetoEvent *)b)->start_ns;
    return (x > y) - (x < y);
}

void
kineto_file_sort(KinetoFile *file)
{
    for (int i = 0; i < KINETO_KINDS; i++)
        g_array_sort(file->events[i], by_start);
    if (file->first_ns > file->last_ns)
        file->first_ns = file->last_ns = 0;
}

KinetoFile *
kineto_file_read(const char *path, gboolean with_flows, GPtrArray *problems, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    JsonToken token;
    if (json == NULL || !json_next(json, &token, error))
        return NULL;
    g_autoptr(KinetoFile) file = kineto_file_new(path);
    gboolean seen = token.kind == JSON_ARRAY_BEGIN, nodes = FALSE, ok;
    if (seen)
        ok = read_events(json, file, with_flows, problems, error);
    else if (token.kind == JSON_OBJECT_BEGIN)
        ok = read_top(json, file, with_flows, problems, &seen, &nodes, error);
    else
        ok = json_fail(json, error, "expected the object of a Kineto trace");
    if (!ok || !json_next(json, &token, error)) /* beyond the last value: nothing, or broken */
        return NULL;
    if (!seen) {
        error_input(error, "%s: no traceEvents: this is no Kineto trace%s", path,
                    nodes ? "; an execution trace has no times, and goes beside its Kineto file (--execution-trace, "
                            "execution_trace:)"
                          : "");
        return NULL;
    }
    kineto_file_sort(file);
    return g_steal_pointer(&file);
}
