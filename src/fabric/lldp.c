/* lldp.c - what a device says of its neighbours: "show lldp neighbors detail" of Arista, "show lldp neighbors" of Nexus
 *
 * Files of further devices are given beside the first (--with). The device's own name is before the prompt's "#", else
 * it is the file's name without its ending. Nexus breaks the line behind a long name. A neighbour without a name is
 * called by its chassis. Management ports are cables too. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/cabling.h"

#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

typedef struct {
    const char *path;
    const TopologyOptions *options;
    char **lines;
} File;

static gboolean
is_arista_interface(const char *line)
{
    return g_str_has_prefix(line, "Interface ") && strstr(line, " detected ") != NULL;
}

static gboolean
is_nexus_head(const char *line)
{
    return g_str_has_prefix(line, "Device ID") && strstr(line, "Local Intf") != NULL;
}

/* What stands between quotes; "" where nothing does. The caller frees it. */
static char *
quoted(const char *line)
{
    const char *first = strchr(line, '"'), *last = strrchr(line, '"');
    return first != NULL && last > first ? g_strndup(first + 1, (size_t)(last - first - 1)) : g_strdup("");
}

/* The interface's announced neighbours were all found. */
static gboolean
check_announced(const File *file, const char *interface, size_t line, uint64_t announced, uint64_t found,
                GError **error)
{
    return interface == NULL || announced == found ||
           topology_problem(file->options, file->path, line, error,
                            "%s: %" G_GUINT64_FORMAT " neighbours announced, %" G_GUINT64_FORMAT " found", interface,
                            announced, found);
}

/* One interface's neighbours: "Interface Ethernet1 detected 1 LLDP neighbors:", then for each "Neighbor
 * CHASSIS/"PORT", ..." and "- System Name: "NAME"". */
static gboolean
read_arista(const File *file, size_t from, const char *device, Cabling *cabling, GError **error)
{
    g_autofree char *interface = NULL, *chassis = NULL, *port = NULL, *name = NULL;
    uint64_t announced = 0, found = 0;
    size_t interface_line = 0;
    for (size_t i = from;; i++) {
        const char *line = file->lines[i] != NULL ? file->lines[i] + strspn(file->lines[i], " \t") : NULL;
        gboolean begins = line != NULL && g_str_has_prefix(line, "Neighbor ");
        if ((line == NULL || begins || is_arista_interface(line)) && chassis != NULL) {
            cabling_cable(cabling, device, interface, name != NULL && *name != '\0' ? name : chassis, port, 0);
            g_clear_pointer(&chassis, g_free);
        }
        if ((line == NULL || is_arista_interface(line)) &&
            !check_announced(file, interface, interface_line, announced, found, error))
            return FALSE;
        if (line == NULL)
            return TRUE;
        if (is_arista_interface(line)) {
            g_free(interface);
            announced = g_ascii_strtoull(strstr(line, " detected ") + strlen(" detected "), NULL, 10);
            found = 0;
            interface_line = i + 1;
            line += strlen("Interface ");
            interface = g_strndup(line, strcspn(line, " "));
        } else if (begins && interface != NULL) {
            found++;
            line += strlen("Neighbor ");
            chassis = g_strndup(line, strcspn(line, "/, "));
            g_free(port);
            port = quoted(line);
            g_clear_pointer(&name, g_free);
        } else if (g_str_has_prefix(line, "- System Name:") && name == NULL) {
            name = quoted(line);
        }
    }
}

/* Columns: device, local interface, hold time, capability (may be empty), port. */
static gboolean
read_nexus(const File *file, size_t from, const char *device, Cabling *cabling, GError **error)
{
    GStrv lines = file->lines;
    g_autofree char *wrapped = NULL;
    guint entries = 0;
    for (size_t i = from; lines[i] != NULL; i++) {
        if (g_str_has_prefix(lines[i], "Total entries")) {
            guint64 total = g_ascii_strtoull(strrchr(lines[i], ' ') + 1, NULL, 10);
            return total == entries ||
                   topology_problem(file->options, file->path, i + 1, error,
                                    "%" G_GUINT64_FORMAT " entries announced, %u found", total, entries);
        }
        g_auto(GStrv) words = g_strsplit_set(lines[i], " \t\r", -1);
        const char *fields[6];
        guint n = 0;
        for (size_t w = 0; words[w] != NULL; w++)
            if (*words[w] != '\0' && n < G_N_ELEMENTS(fields))
                fields[n++] = words[w];
        if (n == 0)
            continue;
        if (n == 1) {
            g_free(wrapped);
            wrapped = g_strdup(fields[0]);
            continue;
        }
        guint first = wrapped != NULL ? 0 : 1;
        if (n >= first + 3)
            cabling_cable(cabling, device, fields[first], wrapped != NULL ? wrapped : fields[0], fields[n - 1], 0);
        else if (!topology_problem(file->options, file->path, i + 1, error,
                                   "%u words, expected device, interface, hold time and port", n))
            return FALSE;
        g_clear_pointer(&wrapped, g_free);
        entries++;
    }
    return TRUE;
}

/* "r1-services# show lldp neighbor", else the file's name. */
static char *
own_name(const char *path, const char *first_line)
{
    const char *hash = strchr(first_line, '#');
    if (hash != NULL && hash > first_line && strstr(hash, "show lldp") != NULL)
        return g_strndup(first_line, (size_t)(hash - first_line));
    char *name = g_path_get_basename(path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot > name)
        *dot = '\0';
    return name;
}

static gboolean
read_device(const char *path, const TopologyOptions *options, Cabling *cabling, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    if (!g_utf8_validate(text, (gssize)length, NULL))
        return error_input(error, "%s: is no UTF-8 text", path);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *device = own_name(path, lines[0] != NULL ? lines[0] : "");
    const File file = {path, options, lines};
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (is_nexus_head(lines[i]))
            return read_nexus(&file, i + 1, device, cabling, error);
        if (is_arista_interface(lines[i]))
            return read_arista(&file, i, device, cabling, error);
    }
    return error_input(error, "%s: has no list of LLDP neighbours of Arista or Nexus", path);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(Cabling) cabling = cabling_new();
    guint before = topology_n_problems(options);
    if (!read_device(path, options, cabling, error))
        return NULL;
    for (size_t i = 0; options->companions != NULL && options->companions[i] != NULL; i++)
        if (!read_device(options->companions[i], options, cabling, error))
            return NULL;
    if (!topology_sound(options, before, path, error))
        return NULL;
    return cabling_build(cabling, path, options, notes, error);
}

static gboolean
recognise(const char *head, size_t length)
{
    g_auto(GStrv) lines = g_strsplit(head, "\n", 200);
    for (size_t i = 0; lines[i] != NULL; i++)
        if (is_arista_interface(lines[i]) || is_nexus_head(lines[i]))
            return TRUE;
    return FALSE;
}

const TopologyFormat topology_lldp = {
    "lldp", "LLDP neighbours of a device (Arista detail, Nexus); more of them by --with", recognise, read};
