/* batfish_layer1.c - Batfish's layer-1 topology: {"edges": [{"node1": {"hostname", "interfaceName"}, "node2": ...}]} */
#include "base/error.h"
#include "base/json.h"
#include "fabric/cabling.h"

#include <string.h>

typedef struct {
    char *host, *port;
} End;

static void
end_clear(End *end)
{
    g_clear_pointer(&end->host, g_free);
    g_clear_pointer(&end->port, g_free);
}

/* {"hostname": ..., "interfaceName": ...}, whose "{" was read. */
static gboolean
read_end(JsonReader *json, End *end, GError **error)
{
    JsonToken token;
    end_clear(end);
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return (end->host != NULL && end->port != NULL) ||
                   json_fail(json, error, "an end needs hostname and interfaceName");
        gboolean host = strcmp(token.text, "hostname") == 0, port = strcmp(token.text, "interfaceName") == 0;
        if (!json_next(json, &token, error))
            return FALSE;
        if (!host && !port) {
            if (!json_skip(json, &token, error))
                return FALSE;
            continue;
        }
        if (token.kind != JSON_STRING || token.length == 0)
            return json_fail(json, error, "expected the name of a %s", host ? "host" : "port");
        char **text = host ? &end->host : &end->port;
        g_free(*text);
        *text = g_strdup(token.text);
    }
    return FALSE;
}

/* {"node1": ..., "node2": ...}, whose "{" was read. */
static gboolean
read_edge(JsonReader *json, End *ends, Cabling *cabling, GError **error)
{
    JsonToken token;
    end_clear(&ends[0]);
    end_clear(&ends[1]);
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_OBJECT_END) {
            if (ends[0].host == NULL || ends[1].host == NULL)
                return json_fail(json, error, "an edge needs node1 and node2");
            cabling_cable(cabling, ends[0].host, ends[0].port, ends[1].host, ends[1].port, 0);
            return TRUE;
        }
        End *end = strcmp(token.text, "node1") == 0 ? &ends[0] : strcmp(token.text, "node2") == 0 ? &ends[1] : NULL;
        if (!json_next(json, &token, error))
            return FALSE;
        if (end == NULL                       ? !json_skip(json, &token, error)
            : token.kind != JSON_OBJECT_BEGIN ? !json_fail(json, error, "expected an end of an edge")
                                              : !read_end(json, end, error))
            return FALSE;
        if (end != NULL && end->host == NULL)
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_edges(JsonReader *json, End *ends, Cabling *cabling, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "edges: expected a list");
    while (json_next(json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(json, error, "edges: expected an edge");
        if (!read_edge(json, ends, cabling, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_file(JsonReader *json, End *ends, Cabling *cabling, GError **error)
{
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
            if (!read_edges(json, ends, cabling, error))
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
    g_autoptr(Cabling) cabling = cabling_new();
    End ends[2] = {{NULL, NULL}, {NULL, NULL}};
    gboolean good = read_file(json, ends, cabling, error);
    end_clear(&ends[0]);
    end_clear(&ends[1]);
    return good ? cabling_build(cabling, path, options, notes, error) : NULL;
}

static gboolean
recognise(const char *head, size_t length)
{
    return head[strspn(head, " \t\r\n\xef\xbb\xbf")] == '{' && strstr(head, "\"edges\"") != NULL &&
           strstr(head, "\"interfaceName\"") != NULL;
}

const TopologyFormat topology_batfish = {"batfish", "Batfish layer-1 topologies (JSON)", recognise, read};
