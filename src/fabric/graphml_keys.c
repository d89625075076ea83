/* graphml_keys.c - declaring keys and finding them */
#include "fabric/graphml_keys.h"

#include <string.h>

struct GraphmlKeys {
    GPtrArray *keys;   /* of GraphmlKey */
    GHashTable *by_id; /* id -> GraphmlKey */
};

static void
key_free(gpointer data)
{
    GraphmlKey *key = data;
    g_free(key->id);
    g_free(key->name);
    g_free(key->standard);
    g_free(key);
}

GraphmlKeys *
graphml_keys_new(void)
{
    GraphmlKeys *keys = g_new(GraphmlKeys, 1);
    keys->keys = g_ptr_array_new_with_free_func(key_free);
    keys->by_id = g_hash_table_new(g_str_hash, g_str_equal);
    return keys;
}

void
graphml_keys_free(GraphmlKeys *keys)
{
    if (keys == NULL)
        return;
    g_hash_table_unref(keys->by_id);
    g_ptr_array_unref(keys->keys);
    g_free(keys);
}

static gboolean
is_attr_type(const char *type)
{
    static const char *const types[] = {"boolean", "int", "long", "float", "double", "string", NULL};
    return g_strv_contains(types, type);
}

/* Which scopes `for` names; FALSE where it is no such word. */
static gboolean
set_scopes(GraphmlKey *key, const char *purpose)
{
    static const char *const words[] = {"all",  "graph",     "node",     "edge", "graphml",
                                        "port", "hyperedge", "endpoint", NULL};
    for (Scope scope = 0; scope < SCOPES; scope++)
        key->serves[scope] = strcmp(purpose, "all") == 0 || strcmp(purpose, graphml_scope_name(scope)) == 0;
    return g_strv_contains(words, purpose);
}

/* The id of an earlier key for the same column, or NULL. */
static const char *
key_of(const GraphmlKeys *keys, Scope scope, const Column *column)
{
    for (uint32_t i = 0; i < keys->keys->len; i++)
        if (graphml_keys_at(keys, i)->columns[scope] == column)
            return graphml_keys_at(keys, i)->id;
    return NULL;
}

/* Finds the key's columns; what is wrong with them, or NULL. */
static char *
set_columns(const GraphmlKeys *keys, GraphmlKey *key, const char *type)
{
    for (Scope scope = 0; scope < SCOPES; scope++) {
        const Column *column = key->serves[scope] ? graphml_column(scope, key->name) : NULL;
        if (column == NULL)
            continue;
        const char *other = key_of(keys, scope, column);
        if (other != NULL)
            return g_strdup_printf("key \"%s\": %s of a %s has the key \"%s\" already", key->id, key->name,
                                   graphml_scope_name(scope), other);
        if (!column_takes(column, type))
            return g_strdup_printf("key \"%s\": attr.type of %s is \"%s\", expected %s", key->id, key->name, type,
                                   column_type_name(column));
        key->columns[scope] = column;
    }
    return NULL;
}

GraphmlKey *
graphml_keys_declare(GraphmlKeys *keys, const char *id, const char *purpose, const char *name, const char *type,
                     char **fault)
{
    *fault = NULL;
    if (id == NULL)
        *fault = g_strdup("a key has no id");
    else if (graphml_keys_find(keys, id) != NULL)
        *fault = g_strdup_printf("key \"%s\" is declared twice", id);
    if (*fault != NULL)
        return NULL;

    GraphmlKey *key = g_new0(GraphmlKey, 1);
    key->id = g_strdup(id);
    key->name = g_strdup(name != NULL ? name : id);
    if (!set_scopes(key, purpose != NULL ? purpose : "all"))
        *fault = g_strdup_printf("key \"%s\": for is \"%s\", expected all, graph, node or edge", id, purpose);
    else if (type != NULL && !is_attr_type(type))
        *fault = g_strdup_printf(
            "key \"%s\": attr.type is \"%s\", expected boolean, int, long, float, double or string", id, type);
    else if (name != NULL)
        *fault = set_columns(keys, key, type != NULL ? type : "string");
    if (*fault != NULL) {
        key_free(key);
        return NULL;
    }
    g_ptr_array_add(keys->keys, key);
    g_hash_table_insert(keys->by_id, key->id, key);
    return key;
}

GraphmlKey *
graphml_keys_find(const GraphmlKeys *keys, const char *id)
{
    return g_hash_table_lookup(keys->by_id, id);
}

uint32_t
graphml_keys_n(const GraphmlKeys *keys)
{
    return keys->keys->len;
}

const GraphmlKey *
graphml_keys_at(const GraphmlKeys *keys, uint32_t i)
{
    return g_ptr_array_index(keys->keys, i);
}
