/* nvidia_smi.c - `nvidia-smi topo -m`: the matrix of a server's GPUs and NICs
 *
 * A header names the columns (GPU0 ... NIC0 or mlx5_0 ..., then CPU Affinity and more, which are not read); each device
 * has a row of cells: X itself, NV# that many NVLinks, else the PCIe between the two, from near to far PIX, PXB, PHB,
 * NODE, SYS. A legend may say which device NIC0 is. Blanks are tabs, or spaces where it was pasted; the header may be
 * underlined by escape sequences.
 *
 * PCIe becomes a tree: what is joined by PIX hangs on one switch, what is joined by PXB as well on one above, and so
 * on; cells NV# say nothing of it. NVLinks are direct, unless every two GPUs have the same number of them and all
 * together would be more than any GPU has (18): then the cell counts all links of a GPU, and they lead to an NVSwitch.
 * The file has no rates: one NVLink is --nvlink-rate, PCIe --default-rate. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/topology_format.h"

#include <string.h>

#define FILE_LIMIT ((size_t)16 << 20)

enum { MOST_DEVICES = 1024, MOST_NVLINKS = 18 };

/* Cells: NV# is its number; the others lie below. SYS is the furthest. */
enum { PIX = -5, PXB, PHB, NODE, SYS, ITSELF };

static const char *const words[] = {"PIX", "PXB", "PHB", "NODE", "SYS", "X"};

typedef struct {
    const char *path;
    const TopologyOptions *options;
    char **lines;
    GPtrArray *labels; /* of the columns; borrowed from words_of */
    GPtrArray *names;  /* of the devices in the fabric; of char * */
    int *cells;        /* row by row; ITSELF in the diagonal */
    size_t *line_of;   /* of each row; 0 = has none */
    char **columns;    /* the header's words, owned */
    Fabric *fabric;
    guint before; /* problems */
} Reader;

static uint32_t
n_devices(const Reader *reader)
{
    return reader->labels->len;
}

static gboolean
is_gpu(const Reader *reader, uint32_t device)
{
    return g_str_has_prefix(reader->labels->pdata[device], "GPU");
}

static int
cell(const Reader *reader, uint32_t a, uint32_t b)
{
    return reader->cells[a * n_devices(reader) + b];
}

/* Takes escape sequences out of a line, in place. */
static void
plain(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        if (*at == '\033') {
            at += 1 + (at[1] == '[');
            at += strspn(at, "0123456789;");
            at += *at != '\0';
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* The words of a line, without empty ones. The caller frees them. */
static char **
split(const char *line)
{
    g_auto(GStrv) all = g_strsplit_set(line, " \t\r", -1);
    g_autoptr(GPtrArray) some = g_ptr_array_new();
    for (size_t i = 0; all[i] != NULL; i++)
        if (all[i][0] != '\0')
            g_ptr_array_add(some, g_strdup(all[i]));
    g_ptr_array_add(some, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&some), FALSE);
}

/* The header: the first line that begins with GPU0 and has no X. FALSE where there is none. */
static gboolean
find_header(Reader *reader, size_t *at, GError **error)
{
    for (size_t i = 0; reader->lines[i] != NULL; i++) {
        g_auto(GStrv) row = split(reader->lines[i]);
        if (g_strcmp0(row[0], "GPU0") != 0 || g_strcmp0(row[1], "X") == 0)
            continue;
        reader->columns = g_steal_pointer(&row);
        for (size_t c = 0; reader->columns[c] != NULL && strcmp(reader->columns[c], "CPU") != 0; c++)
            g_ptr_array_add(reader->labels, reader->columns[c]);
        *at = i;
        if (n_devices(reader) <= MOST_DEVICES)
            return TRUE;
        return error_input(error, "%s:%zu: %u devices, expected at most %d", reader->path, i + 1, n_devices(reader),
                           MOST_DEVICES);
    }
    return error_input(error, "%s: there is no line that names the columns, GPU0 first", reader->path);
}

/* The row of this label; n where there is none. */
static uint32_t
find_label(const Reader *reader, const char *label)
{
    uint32_t device = 0;
    while (device < n_devices(reader) && strcmp(reader->labels->pdata[device], label) != 0)
        device++;
    return device;
}

static gboolean
read_cell(const char *text, int *value)
{
    guint64 number;
    if (g_str_has_prefix(text, "NV") && g_ascii_string_to_unsigned(text + 2, 10, 1, 1000, &number, NULL)) {
        *value = (int)number;
        return TRUE;
    }
    for (int i = 0; i < (int)G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i]) == 0) {
            *value = PIX + i;
            return TRUE;
        }
    return FALSE;
}

static gboolean
read_row(Reader *reader, uint32_t device, char **row, size_t line, GError **error)
{
    uint32_t n = n_devices(reader);
    if (reader->line_of[device] > 0)
        return topology_problem(reader->options, reader->path, line, error, "%s has a row already, at line %zu", row[0],
                                reader->line_of[device]);
    reader->line_of[device] = line;
    if (g_strv_length(row) < n + 1)
        return topology_problem(reader->options, reader->path, line, error, "%s has %u cells, expected %u", row[0],
                                g_strv_length(row) - 1, n);
    for (uint32_t c = 0; c < n; c++) {
        int *value = &reader->cells[device * n + c];
        const char *label = reader->labels->pdata[c];
        if (!read_cell(row[c + 1], value) || (*value == ITSELF) != (c == device)) {
            *value = ITSELF; /* off the diagonal: not known */
            if (!topology_problem(reader->options, reader->path, line, error, "%s to %s: found \"%.20s\", expected %s",
                                  row[0], label, row[c + 1],
                                  c == device ? "X" : "NV and a number, PIX, PXB, PHB, NODE or SYS"))
                return FALSE;
        } else if (*value > 0 && (!is_gpu(reader, device) || !is_gpu(reader, c)) &&
                   !topology_problem(reader->options, reader->path, line, error,
                                     "%s to %s: NVLinks lead to a device that is no GPU", row[0], label)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* "NIC0: mlx5_0" of the legend. */
static void
read_legend(const Reader *reader, char **row)
{
    char *colon = row[0] != NULL ? strchr(row[0], ':') : NULL;
    if (colon == NULL || colon[1] != '\0' || row[1] == NULL)
        return;
    *colon = '\0';
    uint32_t device = find_label(reader, row[0]);
    if (device == n_devices(reader) || is_gpu(reader, device))
        return;
    g_free(reader->names->pdata[device]);
    reader->names->pdata[device] = g_strdup(row[1]);
}

static gboolean
read_rows(Reader *reader, size_t header, GError **error)
{
    uint32_t n = n_devices(reader);
    reader->cells = g_new0(int, (size_t)n *n);
    reader->line_of = g_new0(size_t, n);
    for (uint32_t d = 0; d < n; d++) {
        const char *label = reader->labels->pdata[d];
        g_ptr_array_add(reader->names, is_gpu(reader, d) ? g_strconcat("gpu", label + 3, NULL) : g_strdup(label));
        if (find_label(reader, label) < d)
            return error_input(error, "%s:%zu: there are two columns \"%s\"", reader->path, header + 1, label);
    }
    for (size_t i = header + 1; reader->lines[i] != NULL; i++) {
        g_auto(GStrv) row = split(reader->lines[i]);
        uint32_t device = row[0] != NULL ? find_label(reader, row[0]) : n;
        if (device == n)
            read_legend(reader, row);
        else if (!read_row(reader, device, row, i + 1, error))
            return FALSE;
    }
    return TRUE;
}

/* Every device has a row, and says of another what that says of it. */
static gboolean
check_rows(const Reader *reader, size_t header, GError **error)
{
    for (uint32_t a = 0; a < n_devices(reader); a++) {
        const char *label = reader->labels->pdata[a];
        if (reader->line_of[a] == 0 &&
            !topology_problem(reader->options, reader->path, header + 1, error, "%s has no row", label))
            return FALSE;
        for (uint32_t b = 0; b < a; b++)
            if (cell(reader, a, b) != ITSELF && cell(reader, b, a) != ITSELF &&
                cell(reader, a, b) != cell(reader, b, a) &&
                !topology_problem(reader->options, reader->path, reader->line_of[a], error,
                                  "%s to %s is not what %s to %s is, at line %zu", label,
                                  (const char *)reader->labels->pdata[b], (const char *)reader->labels->pdata[b], label,
                                  reader->line_of[b]))
                return FALSE;
    }
    if (!topology_sound(reader->options, reader->before, reader->path, error))
        return FALSE;
    return TRUE;
}

static gboolean
check_options(const Reader *reader, GError **error)
{
    gboolean nvlink = FALSE, pcie = FALSE;
    for (uint32_t a = 0; a < n_devices(reader); a++)
        for (uint32_t b = 0; b < a; b++) {
            nvlink = nvlink || cell(reader, a, b) > 0;
            pcie = pcie || cell(reader, a, b) < 0;
        }
    if (nvlink && reader->options->nvlink_rate_Bps <= 0)
        return error_input(error, "%s: says no rate of NVLink: give that of one, in one direction, with --nvlink-rate",
                           reader->path);
    if (pcie && reader->options->default_rate_Bps <= 0)
        return error_input(error, "%s: says no rate of PCIe: give one with --default-rate", reader->path);
    if ((nvlink || pcie) && reader->options->default_latency_ps < 0)
        return error_input(error, "%s: says no latency of any link: give --default-latency", reader->path);
    return TRUE;
}

static uint32_t
add_node(const Reader *reader, const char *name, NodeKind kind, int32_t rail, GError **error)
{
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.rail = rail;
    node.server = "server";
    return fabric_add_node(reader->fabric, &node, error);
}

static gboolean
add_cable(const Reader *reader, uint32_t a, uint32_t b, LinkKind kind, double rate_Bps, GError **error)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = rate_Bps;
    link.latency_ps = reader->options->default_latency_ps;
    link.source = "default";
    return fabric_add_cable(reader->fabric, &link, error) != INDEX_NONE;
}

/* The number of links of a GPU where all lead to an NVSwitch; else 0. */
static int
switched_links(const Reader *reader, uint32_t n_gpus)
{
    int links = 0;
    for (uint32_t a = 0; a < n_devices(reader); a++)
        for (uint32_t b = 0; b < a; b++) {
            if (!is_gpu(reader, a) || !is_gpu(reader, b))
                continue;
            if (cell(reader, a, b) <= 0 || (links > 0 && cell(reader, a, b) != links))
                return 0;
            links = cell(reader, a, b);
        }
    return (uint64_t)links * (n_gpus > 0 ? n_gpus - 1 : 0) > MOST_NVLINKS ? links : 0;
}

static gboolean
add_nvlinks(const Reader *reader, uint32_t n_gpus, GError **error)
{
    double one_Bps = reader->options->nvlink_rate_Bps;
    int links = switched_links(reader, n_gpus);
    uint32_t nvswitch = links > 0 ? add_node(reader, "nvswitch", NODE_NVSWITCH, -1, error) : INDEX_NONE;
    if (links > 0 && nvswitch == INDEX_NONE)
        return FALSE;
    for (uint32_t a = 0; a < n_devices(reader); a++) {
        if (!is_gpu(reader, a))
            continue;
        if (links > 0 && !add_cable(reader, a, nvswitch, LINK_NVLINK, links * one_Bps, error))
            return FALSE;
        for (uint32_t b = a + 1; links == 0 && b < n_devices(reader); b++)
            if (cell(reader, a, b) > 0 && !add_cable(reader, a, b, LINK_NVLINK, cell(reader, a, b) * one_Bps, error))
                return FALSE;
    }
    return TRUE;
}

/* Joins what cells of this level join: each new group of several gets a switch above what its parts had on top. */
static gboolean
add_level(const Reader *reader, int level, uint32_t *group, uint32_t *top, GError **error)
{
    static const char *const names[] = {"pix", "pxb", "phb", "node", "sys"};
    uint32_t n = n_devices(reader), n_switches = 0;
    g_autofree uint32_t *old = g_memdup2(group, n * sizeof *group);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < a; b++) {
            uint32_t from = MAX(group[a], group[b]), to = MIN(group[a], group[b]);
            for (uint32_t d = 0; cell(reader, a, b) == level && from != to && d < n; d++)
                group[d] = group[d] == from ? to : group[d];
        }
    for (uint32_t g = 0; g < n; g++) {
        uint32_t above = INDEX_NONE;
        for (uint32_t part = g + 1; part < n && above == INDEX_NONE; part++)
            if (old[part] == part && group[part] == g) {
                g_autofree char *name = g_strdup_printf("%s%u", names[level - PIX], n_switches++);
                above = add_node(reader, name, NODE_PCIE, -1, error);
                if (above == INDEX_NONE)
                    return FALSE;
            }
        for (uint32_t part = g; part < n && above != INDEX_NONE; part++) {
            if (old[part] != part || group[part] != g)
                continue;
            if (!add_cable(reader, top[part], above, LINK_PCIE, reader->options->default_rate_Bps, error))
                return FALSE;
        }
        top[g] = above != INDEX_NONE ? above : top[g];
    }
    return TRUE;
}

static gboolean
build(Reader *reader, GError **error)
{
    uint32_t n = n_devices(reader), n_gpus = 0;
    for (uint32_t d = 0; d < n; d++) {
        gboolean gpu = is_gpu(reader, d);
        n_gpus += gpu;
        if (add_node(reader, reader->names->pdata[d], gpu ? NODE_GPU : NODE_NIC, gpu ? -1 : (int32_t)(d - n_gpus),
                     error) == INDEX_NONE)
            return FALSE;
    }
    if (!add_nvlinks(reader, n_gpus, error))
        return FALSE;
    /* A group is known by its first device. */
    g_autofree uint32_t *group = g_new(uint32_t, n), *top = g_new(uint32_t, n);
    for (uint32_t d = 0; d < n; d++)
        group[d] = top[d] = d;
    for (int level = PIX; level <= SYS; level++)
        if (!add_level(reader, level, group, top, error))
            return FALSE;
    return fabric_seal(reader->fabric, error);
}

static char *
make_notes(const Reader *reader)
{
    GString *notes = g_string_new(NULL);
    uint32_t n = n_devices(reader), n_gpus = 0;
    for (uint32_t d = 0; d < n; d++)
        n_gpus += is_gpu(reader, d);
    g_string_append_printf(notes, "%u GPUs, %u NICs\n", n_gpus, n - n_gpus);
    for (int value = PIX; value <= 1000; value++) {
        uint32_t found = 0;
        for (uint32_t i = 0; value != ITSELF && i < n * n; i++)
            found += reader->cells[i] == value;
        if (found > 0 && value > 0)
            g_string_append_printf(notes, "%u cells NV%d\n", found, value);
        else if (found > 0)
            g_string_append_printf(notes, "%u cells %s\n", found, words[value - PIX]);
    }
    if (switched_links(reader, n_gpus) > 0)
        g_string_append(notes, "more NVLinks than a GPU has lead to every other: they go to an NVSwitch\n");
    return g_string_free(notes, FALSE);
}

static Fabric *
make_fabric(Reader *reader, char **notes, GError **error)
{
    size_t header = 0;
    if (!find_header(reader, &header, error) || !read_rows(reader, header, error) ||
        !check_rows(reader, header, error) || !check_options(reader, error))
        return NULL;
    g_autoptr(Fabric) fabric = reader->fabric = fabric_new();
    if (!build(reader, error)) {
        g_prefix_error(error, "%s: ", reader->path);
        return NULL;
    }
    if (notes != NULL)
        *notes = make_notes(reader);
    return g_steal_pointer(&fabric);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    g_auto(GStrv) lines = g_strsplit(text + input_bom(text, length), "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++)
        plain(lines[i]);
    Reader reader = {.path = path,
                     .options = options,
                     .lines = lines,
                     .labels = g_ptr_array_new(),
                     .names = g_ptr_array_new_with_free_func(g_free),
                     .before = topology_n_problems(options)};
    Fabric *fabric = make_fabric(&reader, notes, error);
    g_ptr_array_unref(reader.labels);
    g_ptr_array_unref(reader.names);
    g_strfreev(reader.columns);
    g_free(reader.cells);
    g_free(reader.line_of);
    return fabric;
}

/* A row of GPU0 that begins with X. */
static gboolean
recognise(const char *head, size_t length)
{
    for (const char *at = head + input_bom(head, length); at != NULL; at = strchr(at, '\n')) {
        at += strspn(at, "\r\n \t");
        if (!g_str_has_prefix(at, "GPU0"))
            continue;
        const char *cell = at + 4 + strspn(at + 4, " \t");
        if (cell > at + 4 && cell[0] == 'X' && strchr(" \t\r\n", cell[1]) != NULL)
            return TRUE;
    }
    return FALSE;
}

const TopologyFormat topology_nvidia_smi = {"nvidia-smi", "the matrix of nvidia-smi topo -m", recognise, read};
