/* iblinkinfo.c - listings of iblinkinfo: the links of an InfiniBand fabric, port by port
 *
 *     CA: n01 HCA-1:
 *           0xec0d9a03003d677a      1    1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>  2   18[  ] "MF0;sw:MSB7700/U1"
 * ( ) Switch: 0x248a070300928186 MF0;sw:MSB7700/U1: 2   18[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>       1    1[
 * ] "n01 HCA-1" ( ) 2   19[  ] ==(                Down/ Polling)==>             [  ] "" ( )
 *
 * Lid and port of this end, width and signalling rate of a lane, state, lid, port and description of the other end.
 * With -l there are no headers: GUID and description stand before the lid, a GUID before the lid of the other end. A
 * port is found by its lid. Devices that have no lines of their own (--switches-only) are what their description says.
 * The nominal rate of a lane is taken: 25 Gb/s of 25.78125. Written from descriptions and quoted lines: there is no
 * sample. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/ib_names.h"
#include "fabric/ib_network.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 30)

enum { MOST_NUMBER = 0xffffff };

/* An end of a line. */
typedef struct {
    const char *guid; /* "" = none */
    const char *description;
    uint32_t lid; /* 0 = none */
    uint32_t port;
    gboolean has_port;
} End;

typedef struct {
    uint32_t device;
    End peer;
    uint32_t port;
    double rate_Bps;
    size_t line;
} Row;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    IbNetwork *network;
    GPtrArray *ids;           /* of char *: of the devices, by number */
    GHashTable *device_of;    /* lid -> device + 1 */
    GHashTable *line_devices; /* of -l: GUID or lid -> device + 1; texts owned */
    GArray *rows;             /* of Row, of ports that are up; texts borrowed from the file's */
    const char *header;       /* description of the block; NULL = none */
    const char *guid;         /* of the header; "" = none */
    IbKind kind;
    uint32_t device; /* of the block; INDEX_NONE = not made yet */
    size_t line;
} Reader;

/* By description: what iblinkinfo does not say of devices without a header. */
static IbKind
guess_kind(const char *description)
{
    g_autofree char *word = ib_device_word(description);
    gboolean is_ca =
        word[0] != '\0' || strstr(description, "ConnectX") != NULL || strstr(description, "Aggregation Node") != NULL;
    return is_ca ? IB_CA : IB_SWITCH;
}

static gboolean
add_device(Reader *reader, IbKind kind, const char *guid, const char *description, uint32_t *device, GError **error)
{
    const char *hex = g_str_has_prefix(guid, "0x") ? guid + 2 : guid;
    g_autofree char *padded =
        g_strdup_printf("%c-%s%s", kind == IB_CA ? 'H' : 'S', &"0000000000000000"[MIN(strlen(hex), 16)], hex);
    IbDevice about = {.id = padded, .description = description, .system = "", .kind = kind, .line = reader->line};
    if (!ib_network_add_device(reader->network, &about, device, error))
        return FALSE;
    if (*device != INDEX_NONE)
        g_ptr_array_add(reader->ids, g_steal_pointer(&padded));
    return TRUE;
}

/* "2 18[  ]", with a GUID and a description in quotes before or behind; cuts the text up. FALSE where it is none. */
static gboolean
read_end(char *text, End *end)
{
    *end = (End){.guid = "", .description = ""};
    text += strspn(text, " \t");
    if (g_str_has_prefix(text, "0x")) {
        size_t length = strcspn(text, " \t");
        end->guid = text;
        text += length;
        if (*text != '\0')
            *text++ = '\0';
    }
    char *first = strchr(text, '"'), *last = strrchr(text, '"');
    if (first != NULL && last != first) {
        *last = '\0';
        end->description = g_strstrip(first + 1);
        /* Numbers stand on one side of it. */
        *first = '\0';
        if (strchr(text, '[') == NULL)
            text = last + 1;
    }
    char *bracket = strchr(text, '[');
    if (bracket == NULL)
        return FALSE;
    *bracket = '\0';
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(text), " \t", -1);
    guint64 numbers[2];
    guint n = 0;
    for (size_t i = 0; words[i] != NULL; i++)
        if (words[i][0] != '\0' &&
            (n == 2 || !g_ascii_string_to_unsigned(words[i], 10, 0, MOST_NUMBER, &numbers[n++], NULL)))
            return FALSE;
    end->has_port = n > 0;
    end->port = n > 0 ? (uint32_t)numbers[n - 1] : 0;
    end->lid = n == 2 ? (uint32_t)numbers[0] : 0;
    return TRUE;
}

/* "4X 25.78125 Gbps ..." in B/s, the nominal rate; 0 where it says none that is known. */
static double
read_rate(const char *text)
{
    static const struct {
        double signal_Gbps;
        const char *name;
    } speeds[] = {{2.5, "SDR"},      {5, "DDR"},      {10, "QDR"},     {10.3125, "FDR10"}, {14.0625, "FDR"},
                  {25.78125, "EDR"}, {53.125, "HDR"}, {106.25, "NDR"}, {212.5, "XDR"}};
    char *end;
    text += strspn(text, " \t");
    guint64 lanes = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;
    if (lanes == 0 || lanes > 12 || (*end != 'X' && *end != 'x'))
        return 0;
    double signal = g_ascii_strtod(end + 1, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++)
        if (fabs(signal - speeds[i].signal_Gbps) < speeds[i].signal_Gbps * 0.01) {
            g_autofree char *word = g_strdup_printf("%ux%s", (unsigned)lanes, speeds[i].name);
            return ib_rate_Bps(word);
        }
    return 0;
}

/* The device of a line: that of the block, or, without one, that of the GUID and lid. */
static gboolean
find_device(Reader *reader, const End *here, uint32_t *device, GError **error)
{
    if (reader->header != NULL) {
        if (reader->device == INDEX_NONE &&
            !add_device(reader, reader->kind, reader->guid[0] != '\0' ? reader->guid : here->guid, reader->header,
                        &reader->device, error))
            return FALSE;
        *device = reader->device;
        return TRUE;
    }
    *device = INDEX_NONE;
    if (here->guid[0] == '\0')
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "a port stands before the first CA: or Switch:");
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->line_devices, here->guid));
    if (known == 0 && !add_device(reader, guess_kind(here->description), here->guid, here->description, device, error))
        return FALSE;
    if (known == 0 && *device != INDEX_NONE)
        g_hash_table_insert(reader->line_devices, g_strdup(here->guid), GUINT_TO_POINTER(*device + 1));
    else if (known != 0)
        *device = known - 1;
    return TRUE;
}

static gboolean
read_port(Reader *reader, char *text, GError **error)
{
    char *state = strstr(text, "==("), *after = strstr(text, ")==>");
    End here, there;
    *state = *after = '\0';
    if (!read_end(text, &here) || !read_end(after + 4, &there) || !here.has_port)
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "expected lid and port on both sides of ==( )==>, like \"2 18[  ]\"");
    uint32_t device;
    if (!find_device(reader, &here, &device, error))
        return FALSE;
    if (strstr(state + 3, "Down") != NULL || !there.has_port || there.lid == 0 || device == INDEX_NONE)
        return TRUE;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->device_of, GUINT_TO_POINTER(here.lid)));
    if (here.lid == 0 || (known != 0 && known - 1 != device))
        return topology_problem(reader->options, reader->path, reader->line, error, "lid %u is %s", here.lid,
                                here.lid == 0 ? "none" : "that of another device");
    g_hash_table_insert(reader->device_of, GUINT_TO_POINTER(here.lid), GUINT_TO_POINTER(device + 1));
    Row row = {device, there, here.port, read_rate(state + 3), reader->line};
    g_array_append_val(reader->rows, row);
    return TRUE;
}

/* "CA: host dev:", "Switch: 0x... description:". */
static void
read_header(Reader *reader, char *text, IbKind kind)
{
    text = g_strstrip(text);
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ':')
        text[length - 1] = '\0';
    reader->guid = "";
    if (g_str_has_prefix(text, "0x")) {
        reader->guid = text;
        text += strcspn(text, " \t");
        if (*text != '\0')
            *text++ = '\0';
    }
    reader->header = g_strstrip(text);
    reader->kind = kind;
    reader->device = INDEX_NONE;
}

static gboolean
read_line(Reader *reader, char *text, GError **error)
{
    static const struct {
        const char *word;
        IbKind kind;
    } headers[] = {{"CA:", IB_CA}, {"Switch:", IB_SWITCH}, {"Router:", IB_SWITCH}, {"Rt:", IB_SWITCH}};
    g_strchomp(text);
    text += strspn(text, " \t");
    char *state = strstr(text, "==(");
    if (text[0] == '\0' || text[0] == '#')
        return TRUE;
    if (state != NULL && strstr(state, ")==>") != NULL)
        return read_port(reader, text, error);
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        if (g_str_has_prefix(text, headers[i].word)) {
            read_header(reader, text + strlen(headers[i].word), headers[i].kind);
            return TRUE;
        }
    return topology_problem(reader->options, reader->path, reader->line, error,
                            "found \"%.40s\", expected CA:, Switch: or a port with ==( )==>", text);
}

/* The id of a device that has no line of its own. Ports of one description are one device, unless two are the same
 * port. The caller frees it. */
static char *
stranger(GHashTable *ports, const End *end)
{
    char kind = guess_kind(end->description) == IB_CA ? 'H' : 'S';
    g_autofree char *word = ib_device_word(end->description);
    g_autofree char *key = g_strdup_printf("%u %s", end->port, end->description);
    guint lid = GPOINTER_TO_UINT(g_hash_table_lookup(ports, key));
    if (word[0] == '\0' || (lid != 0 && lid != end->lid))
        return g_strdup_printf("%c-lid%u", kind, end->lid);
    g_hash_table_insert(ports, g_steal_pointer(&key), GUINT_TO_POINTER(end->lid));
    return g_strdup_printf("%c-%s", kind, end->description);
}

/* Now that all lids are known. */
static gboolean
add_ports(Reader *reader, GError **error)
{
    g_autoptr(GHashTable) ports = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint r = 0; r < reader->rows->len; r++) {
        const Row *row = &g_array_index(reader->rows, Row, r);
        guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->device_of, GUINT_TO_POINTER(row->peer.lid)));
        g_autofree char *id = known != 0 ? g_strdup(reader->ids->pdata[known - 1]) : stranger(ports, &row->peer);
        IbPort port = {.device = row->device,
                       .port = row->port,
                       .peer = id,
                       .peer_port = row->peer.port,
                       .peer_description = row->peer.description,
                       .rate_Bps = row->rate_Bps,
                       .line = row->line};
        if (!ib_network_add_port(reader->network, &port, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_lines(Reader *reader, char *text, GError **error)
{
    for (char *at = text, *next; at != NULL; at = next) {
        char *feed = strchr(at, '\n');
        next = feed != NULL ? feed + 1 : NULL;
        if (feed != NULL)
            *feed = '\0';
        reader->line++;
        if (!read_line(reader, at, error))
            return FALSE;
    }
    return add_ports(reader, error);
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
    g_autoptr(IbNetwork) network = ib_network_new(path, options);
    Reader reader = {.path = path,
                     .options = options,
                     .network = network,
                     .ids = g_ptr_array_new_with_free_func(g_free),
                     .device_of = g_hash_table_new(NULL, NULL),
                     .line_devices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .rows = g_array_new(FALSE, FALSE, sizeof(Row)),
                     .guid = ""};
    gboolean good = read_lines(&reader, text + input_bom(text, length), error);
    g_ptr_array_unref(reader.ids);
    g_hash_table_unref(reader.device_of);
    g_hash_table_unref(reader.line_devices);
    g_array_unref(reader.rows);
    return good ? ib_network_finish(network, notes, error) : NULL;
}

static gboolean
recognise(const char *head, size_t length)
{
    const char *at = strstr(head + input_bom(head, length), "==(");
    return at != NULL && strstr(at, ")==>") != NULL;
}

const TopologyFormat topology_iblinkinfo = {
    "iblinkinfo", "InfiniBand as iblinkinfo lists it (written from its description)", recognise, read};
