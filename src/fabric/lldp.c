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

/* One interface's neighbours: "Neighbor CHASSIS/"PORT", ...", then "- System Name: "NAME"" up to the next. */
static void
read_arista(GStrv lines, const char *device, Cabling *cabling)
{
    g_autofree char *interface = NULL, *chassis = NULL, *port = NULL, *name = NULL;
    for (size_t i = 0;; i++) {
        const char *line = lines[i] != NULL ? lines[i] + strspn(lines[i], " \t") : NULL;
        gboolean begins = line != NULL && g_str_has_prefix(line, "Neighbor ");
        if ((line == NULL || begins || is_arista_interface(line)) && chassis != NULL) {
            cabling_cable(cabling, device, interface, name != NULL && *name != '\0' ? name : chassis, port, 0);
            g_clear_pointer(&chassis, g_free);
        }
        if (line == NULL)
            return;
        if (is_arista_interface(line)) {
            g_free(interface);
            line += strlen("Interface ");
            interface = g_strndup(line, strcspn(line, " "));
        } else if (begins && interface != NULL) {
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
read_nexus(GStrv lines, size_t from, const char *path, const char *device, Cabling *cabling, GError **error)
{
    g_autofree char *wrapped = NULL;
    guint entries = 0;
    for (size_t i = from; lines[i] != NULL; i++) {
        if (g_str_has_prefix(lines[i], "Total entries")) {
            guint64 total = g_ascii_strtoull(strrchr(lines[i], ' ') + 1, NULL, 10);
            return total == entries || error_input(error, "%s:%zu: %" G_GUINT64_FORMAT " entries announced, %u found",
                                                   path, i + 1, total, entries);
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
        if (n < first + 3)
            return error_input(error, "%s:%zu: %u words, expected device, interface, hold time and port", path, i + 1,
                               n);
        cabling_cable(cabling, device, fields[first], wrapped != NULL ? wrapped : fields[0], fields[n - 1], 0);
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
read_device(const char *path, Cabling *cabling, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    if (!g_utf8_validate(text, (gssize)length, NULL))
        return error_input(error, "%s: is no UTF-8 text", path);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *device = own_name(path, lines[0] != NULL ? lines[0] : "");
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (is_nexus_head(lines[i])) {
            return read_nexus(lines, i + 1, path, device, cabling, error);
        }
        if (is_arista_interface(lines[i])) {
            read_arista(lines + i, device, cabling);
            return TRUE;
        }
    }
    return error_input(error, "%s: has no list of LLDP neighbours of Arista or Nexus", path);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(Cabling) cabling = cabling_new();
    if (!read_device(path, cabling, error))
        return NULL;
    for (size_t i = 0; options->companions != NULL && options->companions[i] != NULL; i++)
        if (!read_device(options->companions[i], cabling, error))
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
