#include "base/yaml_tree.h"

#include "base/error.h"
#include "base/input.h"
#include "base/suggest.h"
#include "base/yaml_build.h"

#include <stdarg.h>
#include <string.h>

enum { FILE_LIMIT = 16 * 1024 * 1024 };

YamlTree *
yaml_tree_read(const char *path, GError **error)
{
    size_t length;
    char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    g_autoptr(YamlTree) tree = g_new0(YamlTree, 1);
    tree->file = g_strdup(path);
    tree->text = text;
    size_t skip = input_bom(text, length);
    tree->root = yaml_build(path, text + skip, length - skip, "", error);
    return tree->root == NULL ? NULL : g_steal_pointer(&tree);
}

void
yaml_tree_free(YamlTree *tree)
{
    if (tree == NULL)
        return;
    yaml_node_free(tree->root);
    g_free(tree->file);
    g_free(tree->text);
    g_free(tree);
}

YamlNode *
yaml_get(const YamlNode *map, const char *key)
{
    if (map->kind != YAML_MAP)
        return NULL;
    for (guint i = 0; i < map->keys->len; i++)
        if (strcmp(map->keys->pdata[i], key) == 0)
            return map->values->pdata[i];
    return NULL;
}

gboolean
yaml_is_null(const YamlNode *node)
{
    return node->kind == YAML_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

char *
yaml_describe(const YamlNode *node)
{
    if (node->kind != YAML_SCALAR)
        return g_strdup(node->kind == YAML_MAP ? "a map" : "a list");
    return yaml_is_null(node) ? g_strdup("nothing") : g_strdup_printf("\"%s\"", node->text);
}

static gboolean
fail_at(const YamlTree *tree, size_t line, size_t column, const char *path, const char *message, GError **error)
{
    const char *colon = path[0] == '\0' ? "" : ": ";
    if (line == 0)
        return error_input(error, "%s: --set: %s%s%s", tree->file, path, colon, message);
    return error_input(error, "%s:%zu:%zu: %s%s%s", tree->file, line, column, path, colon, message);
}

gboolean
yaml_fail(const YamlTree *tree, const YamlNode *node, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return fail_at(tree, node->line, node->column, node->path, message, error);
}

gboolean
yaml_only(const YamlTree *tree, const YamlNode *map, const char *const *known, GError **error)
{
    if (map->kind != YAML_MAP) {
        g_autofree char *found = yaml_describe(map);
        return yaml_fail(tree, map, error, "found %s, expected a map", found);
    }
    for (guint i = 0; i < map->keys->len; i++) {
        const char *key = map->keys->pdata[i];
        if (g_strv_contains(known, key))
            continue;
        const YamlNode *value = map->values->pdata[i];
        const char *near = suggest_nearest(key, known, g_strv_length((char **)(uintptr_t)known));
        g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)known);
        g_autofree char *hint = near ? g_strdup_printf("; did you mean \"%s\"?", near) : g_strdup("");
        g_autofree char *message = g_strdup_printf("unknown key%s (known: %s)", hint, all);
        return fail_at(tree, value->key_line, value->key_column, value->path, message, error);
    }
    return TRUE;
}

/* One step of a path: a key, or an index where key is NULL. */
typedef struct {
    char *key;
    guint index;
} Step;

static void
step_clear(void *step)
{
    g_free(((Step *)step)->key);
}

/* Takes "jobs[0].gpus" apart; NULL where it is no path. */
static GArray *
parse_path(const char *path)
{
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));
    g_array_set_clear_func(steps, step_clear);
    const char *p = path;
    while (*p != '\0' || steps->len == 0) {
        Step step = {NULL, 0};
        if (*p == '[') {
            char *end;
            guint64 index = g_ascii_strtoull(p + 1, &end, 10);
            if (!g_ascii_isdigit(p[1]) || *end != ']' || index > G_MAXINT32)
                return NULL;
            step.index = (guint)index;
            p = end + 1;
        } else {
            if (steps->len > 0 && *p++ != '.')
                return NULL;
            size_t length = strcspn(p, ".[");
            if (length == 0)
                return NULL;
            step.key = g_strndup(p, length);
            p += length;
        }
        g_array_append_val(steps, step);
    }
    return g_steal_pointer(&steps);
}

static YamlNode *
empty(YamlKind kind, const char *path)
{
    YamlNode *node = yaml_node_new(kind, 0, 0);
    node->path = g_strdup(path);
    return node;
}

/* Where the value of step hangs in parent; where it is not there yet an empty one of kind is put there. NULL
 * with an error. */
static YamlNode **
reach(YamlNode *parent, const Step *step, YamlKind kind, const char *path, GError **error)
{
    if (step->key == NULL) {
        if (parent->kind != YAML_LIST) {
            error_input(error, "%s is not a list", parent->path[0] ? parent->path : "the top");
            return NULL;
        }
        if (step->index > parent->values->len) {
            error_input(error, "%s has %u entries; the next would be [%u]", parent->path, parent->values->len,
                        parent->values->len);
            return NULL;
        }
        if (step->index == parent->values->len)
            g_ptr_array_add(parent->values, empty(kind, path));
        return (YamlNode **)&parent->values->pdata[step->index];
    }
    if (parent->kind != YAML_MAP) {
        error_input(error, "%s is not a map", parent->path[0] ? parent->path : "the top");
        return NULL;
    }
    for (guint i = 0; i < parent->keys->len; i++)
        if (strcmp(parent->keys->pdata[i], step->key) == 0)
            return (YamlNode **)&parent->values->pdata[i];
    g_ptr_array_add(parent->keys, g_strdup(step->key));
    g_ptr_array_add(parent->values, empty(kind, path));
    return (YamlNode **)&parent->values->pdata[parent->values->len - 1];
}

/* The value of an assignment, placed nowhere. */
static YamlNode *
parse_value(const char *text, const char *path, GError **error)
{
    if (*text == '\0') { /* `key=`: nothing, which libyaml would call an empty file */
        YamlNode *node = yaml_node_new(YAML_SCALAR, 0, 0);
        node->path = g_strdup(path);
        node->text = g_strdup("");
        return node;
    }
    YamlNode *node = yaml_build("value", text, strlen(text), path, error);
    if (node != NULL)
        yaml_node_unplace(node);
    return node;
}

static gboolean
assign(YamlTree *tree, const char *path, const char *value, GError **error)
{
    g_autoptr(GArray) steps = parse_path(path);
    if (steps == NULL)
        return error_input(error, "\"%s\" is no path such as jobs[0].gpus", path);
    YamlNode *node = parse_value(value, path, error);
    if (node == NULL)
        return FALSE;
    YamlNode **place = &tree->root;
    GString *so_far = g_string_new(NULL);
    for (guint i = 0; i < steps->len && place != NULL; i++) {
        const Step *step = &g_array_index(steps, Step, i);
        if (step->key == NULL)
            g_string_append_printf(so_far, "[%u]", step->index);
        else
            g_string_append_printf(so_far, "%s%s", i > 0 ? "." : "", step->key);
        gboolean list = i + 1 < steps->len && step[1].key == NULL;
        place = reach(*place, step, list ? YAML_LIST : YAML_MAP, so_far->str, error);
    }
    g_string_free(so_far, TRUE);
    if (place == NULL) {
        yaml_node_free(node);
        return FALSE;
    }
    yaml_node_free(*place);
    *place = node;
    tree->changed = TRUE;
    return TRUE;
}

gboolean
yaml_tree_set(YamlTree *tree, const char *assignment, GError **error)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL)
        return error_input(error, "--set \"%s\": write it as PATH=VALUE, for example jobs[0].gpus=64", assignment);
    g_autofree char *path = g_strstrip(g_strndup(assignment, (size_t)(equals - assignment)));
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    if (assign(tree, path, value, error))
        return TRUE;
    g_prefix_error(error, "--set \"%s\": ", assignment);
    return FALSE;
}

char *
yaml_tree_print(const YamlTree *tree)
{
    return tree->changed ? yaml_write(tree->root) : g_strdup(tree->text);
}
