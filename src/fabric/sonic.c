/* sonic.c - SONiC's two descriptions of cabling: the lab's table of links, and the minigraph of a device
 *
 * Table: StartDevice,StartPort,EndDevice,EndPort,BandWidth (Mb/s),...; the table of devices (Hostname, ..., Type) may
 * be given beside it (--with): devices of type Server are hosts. Minigraph: DeviceLinkBase elements with StartDevice,
 * StartPort, EndDevice, EndPort and perhaps Bandwidth (Mb/s), and Devices with i:type; Server is a host. */
#include "base/csv_rows.h"
#include "base/xml_head.h"
#include "base/xml_tree.h"
#include "fabric/cabling.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20) /* of a minigraph */

enum { START_DEVICE, START_PORT, END_DEVICE, END_PORT, BANDWIDTH, LINK_COLUMNS };

static const char *const link_columns[LINK_COLUMNS] = {"StartDevice", "StartPort", "EndDevice", "EndPort", "BandWidth"};
static const char *const device_columns[] = {"Hostname", "Type"};

typedef struct {
    const char *path;
    const TopologyOptions *options;
    Cabling *cabling;
    const char *const *columns;        /* wanted */
    guint n_columns, at[LINK_COLUMNS]; /* number + 1 in the line */
    gboolean links, named;
    GPtrArray *fields; /* of the present line */
    size_t line;
} Table;

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

static gboolean
read_names(Table *table, GError **error)
{
    guint before = topology_n_problems(table->options);
    table->named = TRUE;
    for (guint c = 0; c < table->n_columns; c++) {
        for (guint f = 0; f < table->fields->len && table->at[c] == 0; f++)
            if (strcmp(table->fields->pdata[f], table->columns[c]) == 0)
                table->at[c] = f + 1;
        if (table->at[c] == 0 && !topology_problem(table->options, table->path, table->line, error,
                                                   "there is no column %s", table->columns[c]))
            return FALSE;
    }
    return topology_sound(table->options, before, table->path, error);
}

static const char *
field(const Table *table, guint column)
{
    return table->at[column] <= table->fields->len ? table->fields->pdata[table->at[column] - 1] : "";
}

static gboolean
read_row(const Table *table, GError **error)
{
    if (!table->links) {
        cabling_device(table->cabling, field(table, 0), strcmp(field(table, 1), "Server") == 0 ? NODE_HOST : NODE_LEAF);
        return TRUE;
    }
    double rate_Bps;
    if (*field(table, START_DEVICE) == '\0' || *field(table, END_DEVICE) == '\0')
        return topology_problem(table->options, table->path, table->line, error, "a link without %s",
                                *field(table, START_DEVICE) == '\0' ? "StartDevice" : "EndDevice");
    if (!parse_Mbps(field(table, BANDWIDTH), &rate_Bps))
        return topology_problem(table->options, table->path, table->line, error,
                                "BandWidth: found \"%s\", expected Mb/s", field(table, BANDWIDTH));
    cabling_cable(table->cabling, field(table, START_DEVICE), field(table, START_PORT), field(table, END_DEVICE),
                  field(table, END_PORT), rate_Bps);
    return TRUE;
}

static gboolean
take_row(GPtrArray *fields, size_t line, void *owner, GError **error)
{
    Table *table = owner;
    table->line = line;
    table->fields = fields;
    for (guint i = 0; i < fields->len; i++)
        g_strstrip(fields->pdata[i]);
    return table->named ? read_row(table, error) : read_names(table, error);
}

static gboolean
read_table(const char *path, gboolean links, const TopologyOptions *options, Cabling *cabling, GError **error)
{
    Table table = {.path = path,
                   .options = options,
                   .cabling = cabling,
                   .columns = links ? link_columns : device_columns,
                   .n_columns = links ? G_N_ELEMENTS(link_columns) : G_N_ELEMENTS(device_columns),
                   .links = links};
    return csv_rows_read(path, take_row, &table, error);
}

static Fabric *
read_links(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    guint before = topology_n_problems(options);
    g_autoptr(Cabling) cabling = cabling_new();
    for (size_t i = 0; options->companions != NULL && options->companions[i] != NULL; i++)
        if (!read_table(options->companions[i], FALSE, options, cabling, error))
            return NULL;
    if (!read_table(path, TRUE, options, cabling, error) || !topology_sound(options, before, path, error))
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
walk(const XmlTree *tree, const TopologyOptions *options, Cabling *cabling, GError **error)
{
    g_autoptr(GPtrArray) open = g_ptr_array_new();
    for (const XmlElement *at = xml_tree_root(tree); at != NULL;) {
        const char *name = strcmp(at->name, "Device") == 0 ? child_text(at, "Hostname") : "";
        GError *wrong = NULL;
        if (strcmp(at->name, "DeviceLinkBase") == 0 && !read_device_link(tree, at, cabling, &wrong) &&
            !topology_go_on(options, wrong, error))
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
    guint before = topology_n_problems(options);
    if (tree == NULL || !walk(tree, options, cabling, error) || !topology_sound(options, before, path, error))
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
