/* dumpi.c - traces of DUMPI: the .meta says how many ranks and which files; the binaries are not read, and that is said
 *
 * A .meta is lines of key=value; numprocs and fileprefix matter. */
#include "base/error.h"
#include "base/input.h"
#include "workload/trace_format.h"

#include <string.h>

static const char magic[] = "\xff\xaa\xdd"
                            "DUMPI";
static const char hint[] = "DUMPI's binary is not read; turn it into text (dumpi2ascii) and that into GOAL or a "
                           "program, trainshed-program(5)";

static int
recognise(const char *head, size_t length)
{
    if (length >= sizeof magic - 1 && memcmp(head, magic, sizeof magic - 1) == 0)
        return 100;
    gboolean meta = g_strstr_len(head, (gssize)length, "numprocs=") != NULL &&
                    g_strstr_len(head, (gssize)length, "fileprefix=") != NULL;
    return meta ? 80 : 0;
}

/* The value of a line "key=value"; NULL where there is none. The caller frees it. */
static char *
value_of(char **lines, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; lines[i] != NULL; i++)
        if (strncmp(lines[i], key, n) == 0 && lines[i][n] == '=')
            return g_strstrip(g_strdup(lines[i] + n + 1));
    return NULL;
}

/* What a .meta says; prefix is the caller's. FALSE with an error, for a binary too. */
static gboolean
read_meta(const char *path, guint64 *ranks, char **prefix, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, (size_t)1 << 32, &length, error);
    if (text == NULL)
        return FALSE;
    if (length >= sizeof magic - 1 && memcmp(text, magic, sizeof magic - 1) == 0)
        return error_input(error, "%s: %s", path, hint);
    if (!g_utf8_validate(text, (gssize)length, NULL))
        return error_input(error, "%s: is no UTF-8 text, nor a DUMPI binary", path);

    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *number = value_of(lines, "numprocs"), *name = value_of(lines, "fileprefix");
    if (number == NULL || name == NULL)
        return error_input(error, "%s: %s= is not given", path, number == NULL ? "numprocs" : "fileprefix");
    if (!g_ascii_string_to_unsigned(number, 10, 1, G_MAXUINT32, ranks, NULL))
        return error_input(error, "%s: numprocs is \"%s\"; a whole number of at least 1 is expected", path, number);
    *prefix = g_steal_pointer(&name);
    return TRUE;
}

static gboolean
tell_dumpi(const TraceSource *source, GString *told, GError **error)
{
    guint64 ranks;
    g_autofree char *prefix = NULL;
    if (!read_meta(source->files[0], &ranks, &prefix, error))
        return FALSE;
    g_string_append_printf(told, "format: dumpi\nranks: %" G_GUINT64_FORMAT "\n", ranks);
    g_string_append_printf(told, "files: %s-0000.bin to %s-%04" G_GUINT64_FORMAT ".bin\n", prefix, prefix, ranks - 1);
    g_string_append_printf(told, "cannot be replayed: %s\n", hint);
    return TRUE;
}

static Workload *
read_dumpi(const TraceSource *source, GError **error)
{
    const char *path = source->files[0];
    guint64 ranks;
    g_autofree char *prefix = NULL;
    if (read_meta(path, &ranks, &prefix, error))
        error_input(error,
                    "%s: %" G_GUINT64_FORMAT " ranks, in files %s-0000.bin to %s-%04" G_GUINT64_FORMAT ".bin; %s", path,
                    ranks, prefix, prefix, ranks - 1, hint);
    return NULL;
}

const TraceFormat trace_dumpi = {
    "dumpi", "DUMPI: a .meta tells ranks and files; the binaries are refused", recognise, read_dumpi, NULL, tell_dumpi};
