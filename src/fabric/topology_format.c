/* topology_format.c - the table of formats a fabric is read from */
#include "fabric/topology_format.h"

#include "base/error.h"
#include "base/input.h"
#include "base/suggest.h"
#include "fabric/graphml.h"
#include "fabric/htsim_topo.h"

#include <string.h>

enum { HEAD_SIZE = 65536 };

/* The text after an XML declaration, comment or document type, or NULL where at begins with none. */
static const char *
after_prolog(const char *at)
{
    gboolean comment = g_str_has_prefix(at, "<!--");
    if (!comment && !g_str_has_prefix(at, "<?") && !g_str_has_prefix(at, "<!"))
        return NULL;
    const char *end = strstr(at, comment ? "-->" : ">");
    return end != NULL ? end + (comment ? 3 : 1) : NULL;
}

/* XML whose first element is graphml, with or without a namespace prefix. */
static gboolean
is_graphml(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length);
    at += strspn(at, " \t\r\n");
    for (const char *next; (next = after_prolog(at)) != NULL;)
        at = next + strspn(next, " \t\r\n");
    if (*at != '<')
        return FALSE;
    g_autofree char *element = g_strndup(at + 1, strcspn(at + 1, " \t\r\n/>"));
    return strcmp(element, "graphml") == 0 || g_str_has_suffix(element, ":graphml");
}

/* The table: one line a format. */
static const TopologyFormat formats[] = {
    {"graphml", "GraphML with the attributes of trainshed-topology(1)", is_graphml, graphml_read},
    {"htsim", "htsim fat trees of two or three tiers (.topo)", htsim_topo_recognise, htsim_topo_read},
};

const TopologyFormat *
topology_formats(size_t *n_formats)
{
    *n_formats = G_N_ELEMENTS(formats);
    return formats;
}

/* "graphml, simai" */
static char *
known_formats(void)
{
    const char *names[G_N_ELEMENTS(formats) + 1] = {NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        names[i] = formats[i].name;
    return g_strjoinv(", ", (char **)names);
}

static const TopologyFormat *
find_format(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(formats)];
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        names[i] = formats[i].name;
        if (strcmp(name, names[i]) == 0)
            return &formats[i];
    }
    g_autofree char *known = known_formats();
    const char *near = suggest_nearest(name, names, G_N_ELEMENTS(names));
    error_input(error, "there is no topology format \"%s\"%s%s%s; known are: %s", name, near ? "; did you mean \"" : "",
                near ? near : "", near ? "\"" : "", known);
    return NULL;
}

static const TopologyFormat *
recognise(const char *path, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    char head[HEAD_SIZE + 1];
    size_t length = 0;
    while (length < HEAD_SIZE) {
        gssize n = input_read(input, head + length, HEAD_SIZE - length, error);
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    head[length] = '\0';
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].recognise(head, length))
            return &formats[i];
    g_autofree char *known = known_formats();
    error_input(error, "%s: this is no fabric in a format that is known (%s)", path, known);
    return NULL;
}

Fabric *
topology_read(const char *path, const char *format, char **notes, GError **error)
{
    const TopologyFormat *reader = format != NULL ? find_format(format, error) : recognise(path, error);
    return reader != NULL ? reader->read(path, notes, error) : NULL;
}
