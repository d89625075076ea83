/* batfish_layer1.c - Batfish's layer-1 topology: {"edges": [{"node1": {"hostname", "interfaceName"}, "node2": ...}]} */
#include "base/error.h"
#include "base/json.h"
#include "fabric/cabling.h"

#include <string.h>

typedef struct {
    char *host, *port;
} End;

typedef struct {
    const TopologyOptions *options;
    JsonReader *json;
    End ends[2]; /* of the present edge */
    Cabling *cabling;
} Reader;

static void
end_clear(End *end)
{
    g_clear_pointer(&end->host, g_free);
    g_clear_pointer(&end->port, g_free);
}

/* At the token just read. */
static gboolean
problem(const Reader *reader, GError **error, const char *text)
{
    return topology_problem(reader->options, json_path(reader->json), json_line(reader->json), error, "%s", text);
}

/* {"hostname": ..., "interfaceName": ...}, whose "{" was read. */
static gboolean
read_end(Reader *reader, End *end, GError **error)
{
    JsonToken token;
    end_clear(end);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return (end->host != NULL && end->port != NULL) ||
                   problem(reader, error, "an end needs hostname and interfaceName");
        gboolean host = strcmp(token.text, "hostname") == 0, port = strcmp(token.text, "interfaceName") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        gboolean named = token.kind == JSON_STRING && token.length > 0;
        if ((host || port) && named) {
            char **text = host ? &end->host : &end->port;
            g_free(*text);
            *text = g_strdup(token.text);
        } else if (((host || port) &&
                    !problem(reader, error, host ? "expected the name of a host" : "expected the name of a port")) ||
                   !json_skip(reader->json, &token, error)) {
            return FALSE;
        }
    }
    return FALSE;
}

static gboolean
finish_edge(Reader *reader, guint before, GError **error)
{
    const End *a = &reader->ends[0], *b = &reader->ends[1];
    if (topology_n_problems(reader->options) > before)
        return TRUE;
    if (a->host == NULL || b->host == NULL)
        return problem(reader, error, "an edge needs node1 and node2");
    cabling_cable(reader->cabling, a->host, a->port, b->host, b->port, 0);
    return TRUE;
}

/* {"node1": ..., "node2": ...}, whose "{" was read. */
static gboolean
read_edge(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    JsonToken token;
    end_clear(&reader->ends[0]);
    end_clear(&reader->ends[1]);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return finish_edge(reader, before, error);
        End *end = strcmp(token.text, "node1") == 0   ? &reader->ends[0]
                   : strcmp(token.text, "node2") == 0 ? &reader->ends[1]
                                                      : NULL;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        gboolean whole = end != NULL && token.kind == JSON_OBJECT_BEGIN;
        if (end != NULL && !whole && !problem(reader, error, "expected an end of an edge"))
            return FALSE;
        if (whole ? !read_end(reader, end, error) : !json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_edges(Reader *reader, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(reader->json, error, "edges: expected a list");
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        gboolean whole = token.kind == JSON_OBJECT_BEGIN;
        if (!whole && !problem(reader, error, "edges: expected an edge"))
            return FALSE;
        if (whole ? !read_edge(reader, error) : !json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_file(Reader *reader, GError **error)
{
    JsonReader *json = reader->json;
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(json, error, "expected an object with edges");
    gboolean found = FALSE;
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return (found || json_fail(json, error, "there is no key edges")) && json_next(json, &token, error);
        if (strcmp(token.text, "edges") == 0) {
            found = TRUE;
            if (!read_edges(reader, error))
                return FALSE;
        } else if (!json_next(json, &token, error) || !json_skip(json, &token, error)) {
            return FALSE;
        }
    }
    return FALSE;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    if (json == NULL)
        return NULL;
    guint before = topology_n_problems(options);
    g_autoptr(Cabling) cabling = cabling_new();
    Reader reader = {.options = options, .json = json, .cabling = cabling};
    gboolean good = read_file(&reader, error) && topology_sound(options, before, path, error);
    end_clear(&reader.ends[0]);
    end_clear(&reader.ends[1]);
    return good ? cabling_build(cabling, path, options, notes, error) : NULL;
}

static gboolean
recognise(const char *head, size_t length)
{
    return head[strspn(head, " \t\r\n\xef\xbb\xbf")] == '{' && strstr(head, "\"edges\"") != NULL &&
           strstr(head, "\"interfaceName\"") != NULL;
}

const TopologyFormat topology_batfish = {"batfish", "Batfish layer-1 topologies (JSON)", recognise, read};
