/* graphml_write.c - a fabric as GraphML
 *
 * Where every link is followed by its equal way back the graph is undirected and each cable is one edge; else
 * every link is an edge of a directed graph. Either way the links have the numbers they had when the file is read
 * back, and no edge goes against the graph's default, which other readers would refuse. */
#include "fabric/graphml.h"

#include "base/error.h"
#include "fabric/graphml_columns.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <libxml/xmlwriter.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const Fabric *fabric;
    xmlTextWriterPtr xml;
    GString *text;
    uint32_t first_key[SCOPES];
    gboolean failed; /* a write did not succeed */
} Writer;

/* XML 1.0 has no way to write most control characters. */
static gboolean
can_be_written(const char *text)
{
    if (!g_utf8_validate(text, -1, NULL))
        return FALSE;
    for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xfffe || c == 0xffff)
            return FALSE;
    }
    return TRUE;
}

static gboolean
check_texts(Scope scope, const void *row, const char *what, GError **error)
{
    uint32_t n;
    const Column *columns = graphml_columns(scope, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (columns[i].type != COLUMN_TEXT)
            continue;
        const char *text = G_STRUCT_MEMBER(const char *, row, columns[i].offset);
        if (can_be_written(text))
            continue;
        g_autofree char *escaped = g_strescape(text, NULL);
        return error_input(error, "%s: %s \"%s\" holds what XML can't: a control character or no UTF-8", what,
                           columns[i].name, escaped);
    }
    return TRUE;
}

static gboolean
check_fabric(const Fabric *fabric, GError **error)
{
    GraphAttributes graph = {.name = fabric_name(fabric)};
    if (!check_texts(SCOPE_GRAPH, &graph, "graph", error))
        return FALSE;
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++) {
        g_autofree char *what = g_strdup_printf("node %u", i);
        if (!check_texts(SCOPE_NODE, fabric_node(fabric, i), what, error))
            return FALSE;
    }
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        g_autofree char *what = g_strdup_printf("link %u", i);
        if (!check_texts(SCOPE_EDGE, fabric_link(fabric, i), what, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
is_way_back(const Link *forth, const Link *back)
{
    if (forth->src != back->dst || forth->dst != back->src)
        return FALSE;
    uint32_t n;
    const Column *columns = graphml_columns(SCOPE_EDGE, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!column_equal(&columns[i], forth, back))
            return FALSE;
    return TRUE;
}

static gboolean
is_all_cables(const Fabric *fabric)
{
    uint32_t n = fabric_n_links(fabric);
    for (uint32_t i = 0; i + 1 < n; i += 2)
        if (!is_way_back(fabric_link(fabric, i), fabric_link(fabric, i + 1)))
            return FALSE;
    return n % 2 == 0;
}

static void
need(Writer *writer, int result)
{
    writer->failed |= result < 0;
}

static void
open_element(Writer *writer, const char *name)
{
    need(writer, xmlTextWriterStartElement(writer->xml, BAD_CAST name));
}

static void
close_element(Writer *writer)
{
    need(writer, xmlTextWriterEndElement(writer->xml));
}

static void
attribute(Writer *writer, const char *name, const char *value)
{
    need(writer, xmlTextWriterWriteAttribute(writer->xml, BAD_CAST name, BAD_CAST value));
}

static void G_GNUC_PRINTF(3, 4) attribute_printf(Writer *writer, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_string_vprintf(writer->text, format, arguments);
    va_end(arguments);
    attribute(writer, name, writer->text->str);
}

static void
write_keys(Writer *writer)
{
    uint32_t number = 0, n;
    for (Scope scope = 0; scope < SCOPES; scope++) {
        const Column *columns = graphml_columns(scope, &n);
        writer->first_key[scope] = number;
        for (uint32_t i = 0; i < n; i++) {
            open_element(writer, "key");
            attribute_printf(writer, "id", "d%u", number++);
            attribute(writer, "for", graphml_scope_name(scope));
            attribute(writer, "attr.name", columns[i].name);
            attribute(writer, "attr.type", column_type_name(&columns[i]));
            close_element(writer);
        }
    }
}

/* The members of row that differ from those of its default. */
static void
write_data(Writer *writer, Scope scope, const void *row, const void *standard)
{
    uint32_t n;
    const Column *columns = graphml_columns(scope, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!columns[i].written && column_equal(&columns[i], row, standard))
            continue;
        open_element(writer, "data");
        attribute_printf(writer, "key", "d%u", writer->first_key[scope] + i);
        if (column_format(&columns[i], row, writer->text))
            need(writer, xmlTextWriterWriteString(writer->xml, BAD_CAST writer->text->str));
        close_element(writer);
    }
}

static void
write_edges(Writer *writer, gboolean cables)
{
    const Link standard = link_default();
    for (uint32_t i = 0; i < fabric_n_links(writer->fabric); i += cables ? 2 : 1) {
        const Link *link = fabric_link(writer->fabric, i);
        open_element(writer, "edge");
        attribute_printf(writer, "source", "n%u", link->src);
        attribute_printf(writer, "target", "n%u", link->dst);
        write_data(writer, SCOPE_EDGE, link, &standard);
        close_element(writer);
    }
}

static void
write_document(Writer *writer)
{
    const Fabric *fabric = writer->fabric;
    const Node standard = node_default();
    const GraphAttributes graph = {fabric_name(fabric), fabric_forward(fabric)}, no_graph = {"", FORWARD_NONE};
    gboolean cables = is_all_cables(fabric);
    need(writer, xmlTextWriterSetIndent(writer->xml, 1));
    need(writer, xmlTextWriterStartDocument(writer->xml, NULL, "UTF-8", NULL));
    open_element(writer, "graphml");
    attribute(writer, "xmlns", "http://graphml.graphdrawing.org/xmlns");
    write_keys(writer);
    open_element(writer, "graph");
    attribute(writer, "edgedefault", cables ? "undirected" : "directed");
    write_data(writer, SCOPE_GRAPH, &graph, &no_graph);
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++) {
        open_element(writer, "node");
        attribute_printf(writer, "id", "n%u", i);
        write_data(writer, SCOPE_NODE, fabric_node(fabric, i), &standard);
        close_element(writer);
    }
    write_edges(writer, cables);
    close_element(writer);
    close_element(writer);
    need(writer, xmlTextWriterEndDocument(writer->xml));
}

/* Writes into fd, which is left open. */
static gboolean
write_to(const Fabric *fabric, int fd)
{
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateFd(fd, NULL);
    xmlTextWriterPtr xml = buffer != NULL ? xmlNewTextWriter(buffer) : NULL;
    if (xml == NULL) {
        xmlOutputBufferClose(buffer);
        return FALSE;
    }
    Writer writer = {.fabric = fabric, .xml = xml, .text = g_string_new(NULL)};
    write_document(&writer);
    need(&writer, xmlTextWriterFlush(xml));
    xmlFreeTextWriter(xml);
    g_string_free(writer.text, TRUE);
    return !writer.failed;
}

gboolean
graphml_write(const Fabric *fabric, const char *path, GError **error)
{
    if (!check_fabric(fabric, error)) {
        g_prefix_error(error, "%s: ", path);
        return FALSE;
    }
    g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_input(error, "%s: cannot be made: %s", path, g_strerror(errno));

    errno = 0;
    gboolean written = write_to(fabric, fd);
    written = close(fd) == 0 && written;
    written = written && g_rename(temporary, path) == 0;
    if (written)
        return TRUE;
    int code = errno;
    g_unlink(temporary);
    return error_input(error, "%s: cannot be written: %s", path, code != 0 ? g_strerror(code) : "unknown reason");
}
