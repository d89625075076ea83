/* sndlib.c - SNDlib's native network format: nodes on a map, links with pre-installed capacity
 *
 * Sections NODES ( id ( longitude latitude ) ) and LINKS ( id ( source target ) capacity ... ( modules ) ); META has
 * the unit of capacities. Module capacities are what could be bought, not what is there: they are passed over, as are
 * demands. Where one
 * coordinate is no degree all are positions on a drawing and are not used. */
#include "base/error.h"
#include "base/field_lines.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

typedef enum { SECTION_NONE, SECTION_META, SECTION_NODES, SECTION_LINKS, SECTION_OTHER } Section;

typedef struct {
    const TopologyOptions *options;
    FieldLines *lines;
    WanMap *map;
    GHashTable *place_of; /* id -> number + 1 */
    double unit_Bps;      /* 0 = not known */
    guint modules, drawn;
} Reader;

static gboolean
number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* "unit = MBITPERSEC" */
static void
read_meta(Reader *reader)
{
    const FieldLines *lines = reader->lines;
    static const struct {
        const char *name;
        double Bps;
    } units[] = {{"KBITPERSEC", 1e3 / 8}, {"MBITPERSEC", 1e6 / 8}, {"GBITPERSEC", 1e9 / 8}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (lines->n_fields == 3 && strcmp(lines->fields[0], "unit") == 0 &&
            strcmp(lines->fields[2], units[i].name) == 0)
            reader->unit_Bps = units[i].Bps;
}

/* "ATLAng ( -85.50 34.50 )", or the id alone. */
static gboolean
read_node(Reader *reader, GError **error)
{
    const FieldLines *lines = reader->lines;
    WanPlace place = {.name = lines->fields[0], .latitude = NAN, .longitude = NAN};
    gboolean good = lines->n_fields == 1 ||
                    (lines->n_fields == 5 && strcmp(lines->fields[1], "(") == 0 && strcmp(lines->fields[4], ")") == 0 &&
                     number(lines->fields[2], &place.longitude) && number(lines->fields[3], &place.latitude));
    reader->drawn += fabs(place.latitude) > 90 || fabs(place.longitude) > 180;
    if (g_hash_table_contains(reader->place_of, place.name))
        return field_lines_fail(lines, error, "node %s is there already", place.name);
    g_hash_table_insert(reader->place_of, g_strdup(place.name),
                        GUINT_TO_POINTER(wan_map_add_place(reader->map, &place) + 1));
    return good || field_lines_fail(lines, error, "node %s: expected ( longitude latitude )", place.name);
}

/* "L1 ( Berlin Hamburg ) 0.00 0.00 0.00 0.00 ( 20.00 3580.00 ... )" */
static gboolean
read_link(Reader *reader, GError **error)
{
    const FieldLines *lines = reader->lines;
    double capacity;
    if (lines->n_fields < 6 || strcmp(lines->fields[1], "(") != 0 || strcmp(lines->fields[4], ")") != 0 ||
        !number(lines->fields[5], &capacity) || capacity < 0)
        return field_lines_fail(lines, error, "link %s: expected ( source target ) capacity", lines->fields[0]);
    guint ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, lines->fields[2 + i]));
        if (ends[i] == 0)
            return field_lines_fail(lines, error, "link %s: there is no node \"%s\"", lines->fields[0],
                                    lines->fields[2 + i]);
    }
    if (capacity * reader->unit_Bps > LINK_MAX_Bps)
        return field_lines_fail(lines, error, "link %s: found a capacity of %g, which no link has", lines->fields[0],
                                capacity);
    reader->modules += lines->n_fields > 11 ? (lines->n_fields - 11) / 2 : 0;
    WanSpan span = {.a = ends[0] - 1, .b = ends[1] - 1, .rate_Bps = capacity * reader->unit_Bps, .latency_ps = -1};
    wan_map_add_span(reader->map, &span);
    return TRUE;
}

static gboolean
read_lines(Reader *reader, GError **error)
{
    FieldLines *lines = reader->lines;
    Section section = SECTION_NONE;
    while (field_lines_next(lines)) {
        if (section == SECTION_NONE && lines->n_fields == 2 && strcmp(lines->fields[1], "(") == 0) {
            section = strcmp(lines->fields[0], "META") == 0    ? SECTION_META
                      : strcmp(lines->fields[0], "NODES") == 0 ? SECTION_NODES
                      : strcmp(lines->fields[0], "LINKS") == 0 ? SECTION_LINKS
                                                               : SECTION_OTHER;
        } else if (lines->n_fields == 1 && strcmp(lines->fields[0], ")") == 0) {
            section = SECTION_NONE;
        } else if (section == SECTION_META) {
            read_meta(reader);
        } else if (section == SECTION_NODES || section == SECTION_LINKS) {
            GError *wrong = NULL;
            if (!(section == SECTION_NODES ? read_node : read_link)(reader, &wrong) &&
                !topology_go_on(reader->options, wrong, error))
                return FALSE;
        }
    }
    return section == SECTION_NONE || field_lines_fail(lines, error, "ends inside a section");
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return NULL;
    g_autoptr(WanMap) map = wan_map_new();
    g_autoptr(GHashTable) place_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Reader reader = {.options = options, .lines = lines, .map = map, .place_of = place_of};
    guint before = topology_n_problems(options);
    if (!read_lines(&reader, error) || !topology_sound(options, before, path, error))
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    if (reader.modules > 0)
        g_string_append_printf(text, "%u module capacities are passed over: they are not installed\n", reader.modules);
    if (reader.drawn > 0) {
        wan_map_forget_coordinates(map);
        g_string_append(text, "coordinates are positions on a drawing, not on the earth: they are not used\n");
    }
    Fabric *fabric = wan_map_build(map, path, options, text, error);
    if (fabric != NULL && notes != NULL)
        *notes = g_strdup(text->str);
    return fabric;
}

static gboolean
recognise(const char *head, size_t length)
{
    return g_str_has_prefix(head, "?SNDlib native format") && strstr(head, "type: network") != NULL;
}

const TopologyFormat topology_sndlib = {"sndlib", "SNDlib networks in their native format", recognise, read};
