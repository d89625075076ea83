/* dumpi.c - traces of DUMPI: the .meta says how many ranks and which files; the binaries are not read, and that is said
 *
 * A .meta is lines of key=value; numprocs and fileprefix matter. */
#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
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

typedef struct {
    const char *path;
    GPtrArray *problems; /* NULL = stop at the first */
    guint64 ranks;
    char *prefix; /* the reader's */
    gboolean numbered;
} Meta;

/* One line "key=value", others than these two are passed over. */
static gboolean
read_line(Meta *meta, char *line, size_t number, GError **error)
{
    char *value = strchr(line, '=');
    if (value == NULL)
        return error_input(error, "%s:%zu: found \"%.40s\", expected key=value", meta->path, number, line);
    *value++ = '\0';
    gboolean ranks = strcmp(line, "numprocs") == 0;
    if (!ranks && strcmp(line, "fileprefix") != 0)
        return TRUE;
    if (ranks ? meta->numbered : meta->prefix != NULL)
        return error_input(error, "%s:%zu: %s is given twice", meta->path, number, line);
    meta->numbered = meta->numbered || ranks;
    if (!ranks)
        meta->prefix = g_strdup(value);
    else if (!g_ascii_string_to_unsigned(value, 10, 1, G_MAXUINT32, &meta->ranks, NULL))
        return error_input(error, "%s:%zu: numprocs is \"%s\"; a whole number of at least 1 is expected", meta->path,
                           number, value);
    return TRUE;
}

static gboolean
read_lines(Meta *meta, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        GError *wrong = NULL;
        if (*g_strstrip(lines[i]) != '\0' && !read_line(meta, lines[i], i + 1, &wrong) &&
            !problems_go_on(meta->problems, wrong, error))
            return FALSE;
    }
    const char *missing[] = {meta->numbered ? NULL : "numprocs", meta->prefix != NULL ? NULL : "fileprefix"};
    for (size_t i = 0; i < G_N_ELEMENTS(missing); i++) {
        GError *wrong = NULL;
        if (missing[i] != NULL && !error_input(&wrong, "%s: %s= is not given", meta->path, missing[i]) &&
            !problems_go_on(meta->problems, wrong, error))
            return FALSE;
    }
    return TRUE;
}

/* What a .meta says; FALSE with an error, for a binary too. */
static gboolean
read_meta(Meta *meta, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(meta->path, (size_t)1 << 32, &length, error);
    if (text == NULL)
        return FALSE;
    if (length >= sizeof magic - 1 && memcmp(text, magic, sizeof magic - 1) == 0)
        return error_input(error, "%s: %s", meta->path, hint);
    if (!g_utf8_validate(text, (gssize)length, NULL))
        return error_input(error, "%s: is no UTF-8 text, nor a DUMPI binary", meta->path);
    guint before = problems_count(meta->problems);
    return read_lines(meta, text, error) && problems_none_since(meta->problems, before, meta->path, error);
}

static gboolean
tell_dumpi(const TraceSource *source, GString *told, GError **error)
{
    Meta meta = {.path = source->files[0]};
    gboolean good = read_meta(&meta, error);
    g_autofree char *prefix = meta.prefix;
    if (!good)
        return FALSE;
    g_string_append_printf(told, "format: dumpi\nranks: %" G_GUINT64_FORMAT "\n", meta.ranks);
    g_string_append_printf(told, "files: %s-0000.bin to %s-%04" G_GUINT64_FORMAT ".bin\n", prefix, prefix,
                           meta.ranks - 1);
    g_string_append_printf(told, "cannot be replayed: %s\n", hint);
    return TRUE;
}

static Workload *
read_dumpi(const TraceSource *source, GError **error)
{
    Meta meta = {.path = source->files[0], .problems = source->problems};
    gboolean good = read_meta(&meta, error);
    g_autofree char *prefix = meta.prefix;
    if (good)
        error_input(error,
                    "%s: %" G_GUINT64_FORMAT " ranks, in files %s-0000.bin to %s-%04" G_GUINT64_FORMAT ".bin; %s",
                    meta.path, meta.ranks, prefix, prefix, meta.ranks - 1, hint);
    return NULL;
}

const TraceFormat trace_dumpi = {
    "dumpi", "DUMPI: a .meta tells ranks and files; the binaries are refused", recognise, read_dumpi, NULL, tell_dumpi};
