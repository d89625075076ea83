/* astra_system.c - ASTRA-sim's system.json: an object of values and of arrays with a word a dimension */
#include "collective/astra_time.h"

#include "base/error.h"
#include "base/json.h"

#include <string.h>

static const struct {
    const char *key;
    CollectiveKind kind;
} impl_keys[] = {
    {"all-reduce-implementation", COLLECTIVE_ALL_REDUCE},
    {"all-gather-implementation", COLLECTIVE_ALL_GATHER},
    {"reduce-scatter-implementation", COLLECTIVE_REDUCE_SCATTER},
    {"all-to-all-implementation", COLLECTIVE_ALL_TO_ALL},
};

/* Keys that change nothing where there is one dimension, one chunk and one collective. */
static const char *const harmless[] = {
    "scheduling-policy",          "collective-optimization", "boost-mode",      "intra-dimension-scheduling",
    "inter-dimension-scheduling", "trace-enabled",           "track-local-mem", "local-mem-trace-filename",
    "local-reduction-delay"};

static AstraImpl
parse_impl(const char *name)
{
    static const char *const names[] = {"", "ring", "direct", "halvingDoubling"};
    for (int i = 1; i < (int)G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (AstraImpl)i;
    return ASTRA_IMPL_OTHER;
}

static gboolean
read_impl(JsonReader *json, const char *key, CollectiveKind kind, AstraSystem *system, GError **error)
{
    JsonToken token;
    if (system->n_impl[kind] > 0)
        return json_fail(json, error, "%s is given twice", key);
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "%s: expected an array with one name a dimension", key);
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            break;
        if (token.kind != JSON_STRING)
            return json_fail(json, error, "%s: expected names such as \"ring\"", key);
        if (system->n_impl[kind]++ == 0)
            system->impl[kind] = parse_impl(token.text);
    }
    return system->n_impl[kind] > 0 || json_fail(json, error, "%s names no implementation", key);
}

/* A whole number of ns or chunks. */
static gboolean
read_whole(JsonReader *json, const char *key, uint64_t least, uint64_t *value, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_NUMBER || !json_uint64(token.text, value) || *value < least || *value > 1000000000)
        return json_fail(json, error, "%s: expected a whole number from %" G_GUINT64_FORMAT " to 1000000000", key,
                         least);
    return TRUE;
}

static gboolean
read_rate(JsonReader *json, const char *key, const char *unit, gboolean or_zero, double *value, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    *value = token.kind == JSON_NUMBER ? g_ascii_strtod(token.text, NULL) : -1;
    if (!(*value > 0 && *value <= 1e9) && !(or_zero && *value == 0))
        return json_fail(json, error, "%s: expected %s above 0, at most 1e9", key, unit);
    return TRUE;
}

static gboolean
read_member(JsonReader *json, const char *key, AstraSystem *system, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(impl_keys); i++)
        if (strcmp(key, impl_keys[i].key) == 0)
            return read_impl(json, key, impl_keys[i].kind, system, error);
    if (strcmp(key, "endpoint-delay") == 0)
        return read_whole(json, key, 0, &system->endpoint_delay_ns, error);
    if (strcmp(key, "preferred-dataset-splits") == 0)
        return read_whole(json, key, 1, &system->splits, error);
    if (strcmp(key, "active-chunks-per-dimension") == 0)
        return read_whole(json, key, 1, &system->active_chunks, error);
    if (strcmp(key, "local-mem-bw") == 0)
        return read_rate(json, key, "GB/s", FALSE, &system->local_mem_GBps, error);
    if (strcmp(key, "peak-perf") == 0)
        return read_rate(json, key, "TFLOP/s", TRUE, &system->peak_TFLOPps, error);
    if (strcmp(key, "roofline-enabled") == 0)
        return read_whole(json, key, 0, &system->roofline, error);
    gboolean known = FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS(harmless) && !known; i++)
        known = strcmp(key, harmless[i]) == 0;
    if (!known)
        g_ptr_array_add(system->ignored, g_strdup(key));
    JsonToken token;
    return json_next(json, &token, error) && json_skip(json, &token, error);
}

AstraSystem *
astra_system_read(const char *path, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    JsonToken token;
    if (json == NULL || !json_next(json, &token, error))
        return NULL;
    if (token.kind != JSON_OBJECT_BEGIN) {
        json_fail(json, error, "not an object; expected keys such as \"all-reduce-implementation\"");
        return NULL;
    }
    g_autoptr(AstraSystem) system = g_new0(AstraSystem, 1);
    system->path = g_strdup(path);
    system->endpoint_delay_ns = 10;
    system->active_chunks = 1;
    system->ignored = g_ptr_array_new_with_free_func(g_free);
    for (;;) {
        if (!json_next(json, &token, error))
            return NULL;
        if (token.kind == JSON_OBJECT_END)
            break;
        g_autofree char *key = g_strdup(token.text);
        if (!read_member(json, key, system, error))
            return NULL;
    }
    if (!json_next(json, &token, error))
        return NULL;
    if (system->splits == 0) {
        error_input(error, "%s: preferred-dataset-splits is missing; ASTRA-sim divides by it", path);
        return NULL;
    }
    return g_steal_pointer(&system);
}

void
astra_system_free(AstraSystem *system)
{
    if (system == NULL)
        return;
    g_free(system->path);
    g_ptr_array_unref(system->ignored);
    g_free(system);
}
