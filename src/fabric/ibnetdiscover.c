/* ibnetdiscover.c - dumps of ibnetdiscover, and the net files of ibsim, which are alike
 *
 * A record is lines of key=value (vendid, devid, sysimgguid, and switchguid, caguid or rtguid), a header
 *     Switch 65 "S-2c5eab0300b87b40" # "MF0;A09-LEAF-04:MQM9701/U1" enhanced port 0 lid 73 lmc 0
 *     Ca 1 "H-e09d7303007a4bd8" # "a08-dgx-c01 mlx5_5"
 * and a line for each port with a cable,
 *     [1] "H-e09d7303007a4bd8"[1](e09d7303007a4bd8) # "a08-dgx-c01 mlx5_5" lid 647 4xNDR
 * (of a CA "[1](guid) ... # lid 647 lmc 0 "peer" lid 73 4xNDR"). ibsim writes Hca, any ids, and nothing behind a port
 * but w= and s=, which are not read. Blanks are spaces or tabs, or none beside "["; records need no blank line between.
 * Lids, GUIDs of ports and the fields s= w= v= e= are not needed. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/ib_network.h"

#include <string.h>

#define FILE_LIMIT ((size_t)1 << 30)

enum { MOST_PORTS = 65535 };

typedef struct {
    const char *path;
    const TopologyOptions *options;
    IbNetwork *network;
    char *system;    /* sysimgguid of the record; owned */
    gboolean begun;  /* a header stood before */
    uint32_t device; /* of the record; INDEX_NONE = its header was a problem */
    size_t line;
} Reader;

static void
skip_blanks(char **at)
{
    *at += strspn(*at, " \t");
}

/* "[12]", or FALSE and *at untouched. */
static gboolean
take_port(char **at, uint32_t *port)
{
    char *end;
    if (**at != '[' || !g_ascii_isdigit((*at)[1]))
        return FALSE;
    guint64 value = g_ascii_strtoull(*at + 1, &end, 10);
    if (*end != ']' || value > MOST_PORTS)
        return FALSE;
    *port = (uint32_t)value;
    *at = end + 1;
    return TRUE;
}

/* Blanks, "(guid)" and "[ext 3]", in any number. */
static void
skip_extras(char **at)
{
    for (skip_blanks(at); **at == '(' || **at == '['; skip_blanks(at)) {
        size_t length = strcspn(*at, **at == '(' ? ")" : "]");
        *at += length + ((*at)[length] != '\0');
    }
}

/* A text in quotes; its end is made a zero. NULL where there is none. */
static char *
take_quoted(char **at)
{
    if (**at != '"')
        return NULL;
    char *text = *at + 1, *end = strchr(text, '"');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return text;
}

/* The text in quotes of a comment, which may have quotes and # within; *rest = what follows it. "" where none. */
static char *
take_description(char *comment, char **rest)
{
    char *first = strchr(comment, '"'), *last = strrchr(comment, '"');
    *rest = comment;
    if (first == NULL || first == last)
        return comment + strlen(comment);
    *last = '\0';
    *rest = last + 1;
    return first + 1;
}

static gboolean
read_header(Reader *reader, const char *word, char *at, GError **error)
{
    char *end, *rest;
    skip_blanks(&at);
    guint64 n_ports = g_ascii_isdigit(*at) ? g_ascii_strtoull(at, &end, 10) : MOST_PORTS + 1;
    reader->begun = TRUE;
    reader->device = INDEX_NONE;
    if (n_ports > MOST_PORTS)
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "%s: found \"%.20s\", expected the number of ports", word, at);
    at = end;
    skip_blanks(&at);
    const char *id = take_quoted(&at);
    if (id == NULL || id[0] == '\0')
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "%s: found \"%.20s\", expected the id in quotes", word, at);
    char *comment = strchr(at, '#');
    IbDevice device = {.id = id,
                       .description = comment != NULL ? take_description(comment, &rest) : "",
                       .system = reader->system,
                       .kind = word[0] == 'C' || word[0] == 'H' ? IB_CA : IB_SWITCH,
                       .n_ports = (uint32_t)n_ports,
                       .line = reader->line};
    gboolean on = ib_network_add_device(reader->network, &device, &reader->device, error);
    reader->system[0] = '\0';
    return on;
}

/* The first word that is a width and speed. */
static double
find_rate(char *text)
{
    char *save = NULL;
    for (const char *word = strtok_r(text, " \t", &save); word != NULL; word = strtok_r(NULL, " \t", &save))
        if (ib_rate_Bps(word) > 0)
            return ib_rate_Bps(word);
    return 0;
}

static gboolean
read_port(Reader *reader, char *at, GError **error)
{
    char *rest, nothing[] = "";
    IbPort port = {.device = reader->device, .line = reader->line};
    if (!take_port(&at, &port.port))
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "found \"%.20s\", expected a port like [1]", at);
    skip_extras(&at);
    port.peer = take_quoted(&at);
    skip_blanks(&at);
    if (port.peer == NULL || port.peer[0] == '\0' || !take_port(&at, &port.peer_port))
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "port %u: found \"%.20s\", expected the other end like \"S-0002c9\"[1]", port.port, at);
    if (!reader->begun)
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "port %u stands before the first Switch or Ca", port.port);
    if (reader->device == INDEX_NONE)
        return TRUE;
    char *comment = strchr(at, '#');
    rest = comment != NULL ? comment + 1 : nothing;
    port.peer_description = comment != NULL ? take_description(comment + 1, &rest) : "";
    port.rate_Bps = find_rate(rest);
    return ib_network_add_port(reader->network, &port, error);
}

/* Is this the word text begins with, and a blank behind it? */
static gboolean
begins(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && (text[length] == ' ' || text[length] == '\t');
}

/* Lines that tell what is not needed: of grouped output (-g), and of the discovery. */
static gboolean
is_remark(const char *text)
{
    static const char *const words[] = {"Chassis", "Non-Chassis", "Hostname:", "DR", "Spine", "Line", "Leaf"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (begins(text, words[i]))
            return TRUE;
    return FALSE;
}

static gboolean
read_line(Reader *reader, char *text, GError **error)
{
    static const char *const headers[] = {"Switch", "Ca", "Hca", "Rt", "??"};
    static const char *const keys[] = {
        "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "module ", "rem "};
    g_strchomp(text);
    skip_blanks(&text);
    if (text[0] == '\0' || text[0] == '#')
        return TRUE;
    if (text[0] == '[')
        return read_port(reader, text, error);
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        if (begins(text, headers[i]))
            return read_header(reader, headers[i], text + strlen(headers[i]), error);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (g_str_has_prefix(text, keys[i])) {
            if (strcmp(keys[i], "sysimgguid=") != 0)
                return TRUE;
            g_free(reader->system);
            reader->system = g_strndup(text + strlen(keys[i]), strcspn(text + strlen(keys[i]), " \t"));
            return TRUE;
        }
    return is_remark(text) ||
           topology_problem(reader->options, reader->path, reader->line, error,
                            "found \"%.40s\", expected Switch, Ca, a port like [1], or key=value", text);
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
    Reader reader = {.path = path, .options = options, .network = network, .system = g_strdup("")};
    gboolean good = TRUE;
    for (char *at = text + input_bom(text, length), *next; at != NULL && good; at = next) {
        char *feed = strchr(at, '\n');
        next = feed != NULL ? feed + 1 : NULL;
        if (feed != NULL)
            *feed = '\0';
        reader.line++;
        good = read_line(&reader, at, error);
    }
    g_free(reader.system);
    return good ? ib_network_finish(network, notes, error) : NULL;
}

/* A line is a header: a kind, a number and a text in quotes. */
static gboolean
recognise(const char *head, size_t length)
{
    static const char *const kinds[] = {"Switch", "Ca", "Hca", "Rt"};
    for (const char *at = head + input_bom(head, length); at != NULL; at = strchr(at, '\n')) {
        at += strspn(at, " \t\r\n");
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
            if (!begins(at, kinds[i]))
                continue;
            const char *number = at + strlen(kinds[i]);
            number += strspn(number, " \t");
            const char *end = number + strspn(number, "0123456789");
            if (end > number && end[strspn(end, " \t")] == '"')
                return TRUE;
        }
    }
    return FALSE;
}

const TopologyFormat topology_ibnetdiscover = {
    "ibnetdiscover", "InfiniBand as ibnetdiscover lists it; net files of ibsim", recognise, read};
