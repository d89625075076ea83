#include "base/yaml_build.h"

#include "base/error.h"

#include <string.h>
#include <yaml.h>

enum { DEPTH_LIMIT = 64 };

typedef struct {
    const char *file;
    yaml_parser_t parser;
} Builder;

YamlNode *
yaml_node_new(YamlKind kind, size_t line, size_t column)
{
    YamlNode *node = g_new0(YamlNode, 1);
    node->kind = kind;
    node->line = line;
    node->column = column;
    if (kind == YAML_MAP)
        node->keys = g_ptr_array_new_with_free_func(g_free);
    if (kind != YAML_SCALAR)
        node->values = g_ptr_array_new(); /* freed by hand: yaml_tree_set puts others into their place */
    return node;
}

void
yaml_node_free(YamlNode *node)
{
    if (node == NULL)
        return;
    for (guint i = 0; node->values != NULL && i < node->values->len; i++)
        yaml_node_free(node->values->pdata[i]);
    g_clear_pointer(&node->keys, g_ptr_array_unref);
    g_clear_pointer(&node->values, g_ptr_array_unref);
    g_free(node->path);
    g_free(node->text);
    g_free(node);
}

void
yaml_node_unplace(YamlNode *node)
{
    node->line = node->column = node->key_line = node->key_column = 0;
    for (guint i = 0; node->values != NULL && i < node->values->len; i++)
        yaml_node_unplace(node->values->pdata[i]);
}

static gboolean
fail(const Builder *builder, yaml_mark_t mark, GError **error, const char *message)
{
    return error_input(error, "%s:%zu:%zu: %s", builder->file, mark.line + 1, mark.column + 1, message);
}

/* The next event, to be deleted by the caller. libyaml's complaints become ours. */
static gboolean
next_event(Builder *builder, yaml_event_t *event, GError **error)
{
    yaml_parser_t *parser = &builder->parser;
    if (yaml_parser_parse(parser, event))
        return TRUE;
    const char *problem = parser->problem ? parser->problem : "cannot be read";
    g_autofree char *message = NULL;
    if (parser->error == YAML_READER_ERROR) {
        message = g_strdup_printf("not YAML in UTF-8: %s at byte %zu", problem, parser->problem_offset);
        return error_input(error, "%s: %s", builder->file, message);
    }
    message = g_strdup_printf("broken YAML: %s%s%s", parser->context ? parser->context : "",
                              parser->context ? ": " : "", problem);
    return fail(builder, parser->problem_mark, error, message);
}

static YamlNode *build_node(Builder *builder, yaml_event_t *event, const char *path, int depth, GError **error);

/* The place of key in map, where it must not be yet. */
static gboolean
new_key(Builder *builder, const YamlNode *map, const yaml_event_t *event, GError **error)
{
    if (event->type != YAML_SCALAR_EVENT)
        return fail(builder, event->start_mark, error,
                    event->type == YAML_ALIAS_EVENT ? "anchors and aliases are not used here" : "a key must be a text");
    const char *key = (const char *)event->data.scalar.value;
    if (strlen(key) != event->data.scalar.length)
        return fail(builder, event->start_mark, error, "a zero byte in a text");
    const YamlNode *first = yaml_get(map, key);
    if (first == NULL)
        return TRUE;
    g_autofree char *message =
        g_strdup_printf("%s: duplicate key; it stands in line %zu already", first->path, first->key_line);
    return fail(builder, event->start_mark, error, message);
}

static gboolean
build_map(Builder *builder, YamlNode *map, int depth, GError **error)
{
    for (;;) {
        yaml_event_t event;
        if (!next_event(builder, &event, error))
            return FALSE;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return TRUE;
        }
        if (!new_key(builder, map, &event, error)) {
            yaml_event_delete(&event);
            return FALSE;
        }
        char *key = g_strdup((const char *)event.data.scalar.value);
        yaml_mark_t mark = event.start_mark;
        yaml_event_delete(&event);
        g_autofree char *path = g_strconcat(map->path, map->path[0] ? "." : "", key, NULL);
        YamlNode *value = next_event(builder, &event, error) ? build_node(builder, &event, path, depth, error) : NULL;
        if (value == NULL) {
            g_free(key);
            return FALSE;
        }
        value->key_line = mark.line + 1;
        value->key_column = mark.column + 1;
        g_ptr_array_add(map->keys, key);
        g_ptr_array_add(map->values, value);
    }
}

static gboolean
build_list(Builder *builder, YamlNode *list, int depth, GError **error)
{
    for (;;) {
        yaml_event_t event;
        if (!next_event(builder, &event, error))
            return FALSE;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return TRUE;
        }
        g_autofree char *path = g_strdup_printf("%s[%u]", list->path, list->values->len);
        YamlNode *value = build_node(builder, &event, path, depth, error);
        if (value == NULL)
            return FALSE;
        g_ptr_array_add(list->values, value);
    }
}

/* What this tree has no room for, or NULL. */
static const char *
refused(const yaml_event_t *event, int depth)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return "anchors and aliases are not used here";
    if (depth > DEPTH_LIMIT)
        return "nested more than 64 levels deep";
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
            return "a zero byte in a text";
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    }
    if (anchor != NULL)
        return "anchors and aliases are not used here";
    return tag != NULL ? "tags are not used here" : NULL;
}

/* The value that starts with event, which is deleted. */
static YamlNode *
build_node(Builder *builder, yaml_event_t *event, const char *path, int depth, GError **error)
{
    const char *why = refused(event, depth);
    if (why != NULL) {
        fail(builder, event->start_mark, error, why);
        yaml_event_delete(event);
        return NULL;
    }
    YamlKind kind = event->type == YAML_SCALAR_EVENT          ? YAML_SCALAR
                    : event->type == YAML_MAPPING_START_EVENT ? YAML_MAP
                                                              : YAML_LIST;
    YamlNode *node = yaml_node_new(kind, event->start_mark.line + 1, event->start_mark.column + 1);
    node->path = g_strdup(path);
    if (kind == YAML_SCALAR) {
        node->text = g_strdup((const char *)event->data.scalar.value);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    }
    yaml_event_delete(event);
    gboolean good = kind == YAML_SCALAR || (kind == YAML_MAP ? build_map(builder, node, depth + 1, error)
                                                             : build_list(builder, node, depth + 1, error));
    if (good)
        return node;
    yaml_node_free(node);
    return NULL;
}

/* Passes over an event of this type; another is kept in *event and refused with message. */
static gboolean
expect(Builder *builder, yaml_event_type_t type, const char *message, GError **error)
{
    yaml_event_t event;
    if (!next_event(builder, &event, error))
        return FALSE;
    gboolean good = event.type == type;
    if (!good)
        fail(builder, event.start_mark, error, message);
    yaml_event_delete(&event);
    return good;
}

static YamlNode *
build_document(Builder *builder, const char *path, GError **error)
{
    yaml_event_t event;
    if (!expect(builder, YAML_STREAM_START_EVENT, "no YAML stream", error) ||
        !expect(builder, YAML_DOCUMENT_START_EVENT, "holds no value", error) || !next_event(builder, &event, error))
        return NULL;
    YamlNode *root = build_node(builder, &event, path, 0, error);
    if (root == NULL)
        return NULL;
    if (expect(builder, YAML_DOCUMENT_END_EVENT, "a second value", error) &&
        expect(builder, YAML_STREAM_END_EVENT, "a second document begins; only one is read", error))
        return root;
    yaml_node_free(root);
    return NULL;
}

YamlNode *
yaml_build(const char *file, const char *text, size_t length, const char *path, GError **error)
{
    Builder builder = {.file = file};
    if (!yaml_parser_initialize(&builder.parser))
        g_error("libyaml: out of memory");
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, length);
    YamlNode *root = build_document(&builder, path, error);
    yaml_parser_delete(&builder.parser);
    return root;
}

static int
append(void *out, unsigned char *buffer, size_t size)
{
    g_string_append_len(out, (const char *)buffer, (gssize)size);
    return 1;
}

/* Events fail for want of memory alone. */
static void
emit(yaml_emitter_t *emitter, yaml_event_t *event, int made)
{
    if (!made || !yaml_emitter_emit(emitter, event))
        g_error("libyaml: %s", emitter->problem ? emitter->problem : "out of memory");
}

static void
emit_scalar(yaml_emitter_t *emitter, const char *text, gboolean quoted)
{
    yaml_event_t event;
    int made = yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, -1, 1, 1,
                                            quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE);
    emit(emitter, &event, made);
}

static void
emit_node(yaml_emitter_t *emitter, const YamlNode *node)
{
    yaml_event_t event;
    if (node->kind == YAML_SCALAR) {
        emit_scalar(emitter, node->text, node->quoted);
        return;
    }
    gboolean map = node->kind == YAML_MAP;
    int made = map ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
                   : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    emit(emitter, &event, made);
    for (guint i = 0; i < node->values->len; i++) {
        if (map)
            emit_scalar(emitter, node->keys->pdata[i], FALSE);
        emit_node(emitter, node->values->pdata[i]);
    }
    made = map ? yaml_mapping_end_event_initialize(&event) : yaml_sequence_end_event_initialize(&event);
    emit(emitter, &event, made);
}

char *
yaml_write(const YamlNode *root)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    GString *out = g_string_new(NULL);
    if (!yaml_emitter_initialize(&emitter))
        g_error("libyaml: out of memory");
    yaml_emitter_set_output(&emitter, append, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    emit(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_node(&emitter, root);
    emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&emitter);
    return g_string_free(out, FALSE);
}
