/* sonic.c - SONiC's two descriptions of cabling: the lab's table of links, and the minigraph of a device
 *
 * Table: StartDevice,StartPort,EndDevice,EndPort,BandWidth (Mb/s),...; the table of devices (Hostname, ..., Type) may
 * be given beside it (--with): devices of type Server are hosts. Minigraph: DeviceLinkBase elements with StartDevice,
 * StartPort, EndDevice, EndPort and perhaps Bandwidth (Mb/s), and Devices with i:type; Server is a host. */
#include "base/error.h"
#include "base/input.h"
#include "base/xml_head.h"
#include "base/xml_tree.h"
#include "fabric/cabling.h"

#include <csv.h>
#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

enum { START_DEVICE, START_PORT, END_DEVICE, END_PORT, BANDWIDTH, LINK_COLUMNS };

static const char *const link_columns[LINK_COLUMNS] = {"StartDevice", "StartPort", "EndDevice", "EndPort", "BandWidth"};
static const char *const device_columns[] = {"Hostname", "Type"};

typedef struct {
    const char *path;
    Cabling *cabling;
    const char *const *columns;        /* wanted */
    guint n_columns, at[LINK_COLUMNS]; /* number + 1 in the line */
    gboolean links, named;
    GPtrArray *fields;
    size_t line;
    GError *error;
} Table;

static void fail(Table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The first counts. */
static void
fail(Table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (table->error == NULL)
        error_input(&table->error, "%s:%zu: %s", table->path, table->line, text);
}

/* Mb/s; 0 where the text is empty. FALSE where it is no rate. */
static gboolean
parse_Mbps(const char *text, double *rate_Bps)
{
    char *end;
    double Mbps = g_ascii_strtod(text, &end);
    *rate_Bps = 0;
    if (*text == '\0')
        return TRUE;
    if (*end != '\0' || !(Mbps > 0 && Mbps < 1e9))
        return FALSE;
    *rate_Bps = Mbps * 1e6 / 8;
    return TRUE;
}

static void
on_field(void *text, size_t length, void *owner)
{
    g_ptr_array_add(((Table *)owner)->fields, g_strstrip(g_strndup(text, length)));
}

static void
read_names(Table *table)
{
    table->named = TRUE;
    for (guint c = 0; c < table->n_columns; c++) {
        for (guint f = 0; f < table->fields->len && table->at[c] == 0; f++)
            if (strcmp(table->fields->pdata[f], table->columns[c]) == 0)
                table->at[c] = f + 1;
        if (table->at[c] == 0)
            fail(table, "there is no column %s", table->columns[c]);
    }
}

static const char *
field(const Table *table, guint column)
{
    return table->at[column] <= table->fields->len ? table->fields->pdata[table->at[column] - 1] : "";
}

static void
read_row(Table *table)
{
    if (!table->links) {
        cabling_device(table->cabling, field(table, 0), strcmp(field(table, 1), "Server") == 0 ? NODE_HOST : NODE_LEAF);
        return;
    }
    double rate_Bps;
    if (*field(table, START_DEVICE) == '\0' || *field(table, END_DEVICE) == '\0')
        fail(table, "a link without %s", *field(table, START_DEVICE) == '\0' ? "StartDevice" : "EndDevice");
    else if (!parse_Mbps(field(table, BANDWIDTH), &rate_Bps))
        fail(table, "BandWidth: found \"%s\", expected Mb/s", field(table, BANDWIDTH));
    else
        cabling_cable(table->cabling, field(table, START_DEVICE), field(table, START_PORT), field(table, END_DEVICE),
                      field(table, END_PORT), rate_Bps);
}

static void
on_row(int separator, void *owner)
{
    Table *table = owner;
    table->line++;
    if (table->error == NULL && table->fields->len > 0) {
        if (!table->named)
            read_names(table);
        else
            read_row(table);
    }
    g_ptr_array_set_size(table->fields, 0);
}

static gboolean
read_table(const char *path, gboolean links, Cabling *cabling, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    Table table = {.path = path,
                   .cabling = cabling,
                   .columns = links ? link_columns : device_columns,
                   .n_columns = links ? G_N_ELEMENTS(link_columns) : G_N_ELEMENTS(device_columns),
                   .links = links,
                   .fields = fields};
    size_t bom = input_bom(text, length);
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        g_error("csv_init: out of memory");
    if (csv_parse(&parser, text + bom, length - bom, on_field, on_row, &table) != length - bom ||
        csv_fini(&parser, on_field, on_row, &table) != 0)
        fail(&table, "%s", csv_strerror(csv_error(&parser)));
    csv_free(&parser);
    if (table.error == NULL)
        return TRUE;
    g_propagate_error(error, table.error);
    return FALSE;
}

static Fabric *
read_links(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(Cabling) cabling = cabling_new();
    for (size_t i = 0; options->companions != NULL && options->companions[i] != NULL; i++)
        if (!read_table(options->companions[i], FALSE, cabling, error))
            return NULL;
    if (!read_table(path, TRUE, cabling, error))
        return NULL;
    return cabling_build(cabling, path, options, notes, error);
}

static gboolean
recognise_links(const char *head, size_t length)
{
    return g_str_has_prefix(head, "StartDevice,StartPort,EndDevice,EndPort,");
}

const TopologyFormat topology_sonic_links = {
    "sonic-links", "SONiC lab cabling (CSV of links; the CSV of devices by --with)", recognise_links, read_links};

static const char *
child_text(const XmlElement *element, const char *name)
{
    const XmlElement *child = xml_child(element, name);
    return child != NULL ? child->text : "";
}

static gboolean
read_device_link(const XmlTree *tree, const XmlElement *element, Cabling *cabling, GError **error)
{
    const char *start = child_text(element, "StartDevice"), *end = child_text(element, "EndDevice");
    double rate_Bps;
    if (*start == '\0' || *end == '\0')
        return xml_fail(tree, element, error, "needs StartDevice and EndDevice");
    if (!parse_Mbps(child_text(element, "Bandwidth"), &rate_Bps))
        return xml_fail(tree, element, error, "Bandwidth: found \"%s\", expected Mb/s",
                        child_text(element, "Bandwidth"));
    cabling_cable(cabling, start, child_text(element, "StartPort"), end, child_text(element, "EndPort"), rate_Bps);
    return TRUE;
}

/* Links and devices stand in sections at different depths: all elements are looked at. */
static gboolean
walk(const XmlTree *tree, Cabling *cabling, GError **error)
{
    g_autoptr(GPtrArray) open = g_ptr_array_new();
    for (const XmlElement *at = xml_tree_root(tree); at != NULL;) {
        const char *name = strcmp(at->name, "Device") == 0 ? child_text(at, "Hostname") : "";
        if (strcmp(at->name, "DeviceLinkBase") == 0 && !read_device_link(tree, at, cabling, error))
            return FALSE;
        if (*name != '\0') {
            const char *type = xml_attribute(at, "type");
            cabling_device(cabling, name, g_strcmp0(type, "Server") == 0 ? NODE_HOST : NODE_LEAF);
        }
        if (at->first != NULL) {
            g_ptr_array_add(open, (gpointer)at);
            at = at->first;
            continue;
        }
        while (at != NULL && at->next == NULL)
            at = open->len > 0 ? g_ptr_array_steal_index(open, open->len - 1) : NULL;
        at = at != NULL ? at->next : NULL;
    }
    return TRUE;
}

static Fabric *
read_minigraph(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(XmlTree) tree = xml_tree_read(path, FILE_LIMIT, error);
    g_autoptr(Cabling) cabling = cabling_new();
    if (tree == NULL || !walk(tree, cabling, error))
        return NULL;
    return cabling_build(cabling, path, options, notes, error);
}

static gboolean
recognise_minigraph(const char *head, size_t length)
{
    return xml_head_is(head, length, "DeviceMiniGraph");
}

const TopologyFormat topology_sonic_minigraph = {"sonic-minigraph", "the SONiC minigraph of a device (XML)",
                                                 recognise_minigraph, read_minigraph};
