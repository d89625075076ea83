/* simgrid_ti.c - SimGrid's time-independent traces (SMPI replay): a file a rank, one of all ranks, or a list of files
 *
 * In a file of all ranks each rank takes its own lines; in a rank's own file lines of others are passed over. A list
 * names a file a line, rank 0 first; names are relative to the list, else to the working directory. */
#include "workload/simgrid_ti.h"

#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
#include "workload/trace_format.h"

#include <string.h>

enum { RANKS_MOST = 1 << 20 };

static gboolean
line_rank(const FieldLines *lines, uint32_t n_ranks, uint64_t *rank, GError **error)
{
    return field_lines_uint(lines, 0, "the rank", 0, (uint64_t)n_ranks - 1, rank, error);
}

/* The lines of one file: of rank `own`, or of all where that is INDEX_NONE. */
static gboolean
read_file(Ti *ti, const char *path, uint32_t own, GPtrArray *problems, GError **error)
{
    GError *wrong = NULL;
    g_autoptr(FieldLines) lines = field_lines_read(path, &wrong);
    if (lines == NULL)
        return problems_go_on(problems, wrong, error);
    while (field_lines_next(lines)) {
        uint64_t rank;
        if (!line_rank(lines, own == INDEX_NONE ? ti->n_ranks : RANKS_MOST, &rank, &wrong)) {
            if (!problems_go_on(problems, g_steal_pointer(&wrong), error))
                return FALSE;
            continue;
        }
        if (own != INDEX_NONE && rank != own) {
            ti->seen.foreign++;
            continue;
        }
        if (!ti_line(ti, (uint32_t)rank, lines, &wrong) && !problems_go_on(problems, g_steal_pointer(&wrong), error))
            return FALSE;
    }
    return TRUE;
}

/* How many ranks a file of all has: the largest number and one more. */
static gboolean
count_ranks(const char *path, uint32_t *n_ranks, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return FALSE;
    *n_ranks = 0;
    while (field_lines_next(lines)) {
        uint64_t rank;
        if (!line_rank(lines, RANKS_MOST, &rank, NULL))
            continue; /* told when it is read */
        if (rank >= lines->lines)
            return field_lines_fail(lines, error, "rank %" G_GUINT64_FORMAT ", in a file of %zu lines", rank,
                                    lines->lines);
        *n_ranks = MAX(*n_ranks, (uint32_t)rank + 1);
    }
    return *n_ranks > 0 || error_input(error, "%s: there is no line that begins with a rank", path);
}

static void
add_notes(const Ti *ti)
{
    Workload *workload = mpi_world_workload(ti->world);
    const TiSeen *seen = &ti->seen;
    uint64_t pending = 0;
    for (uint32_t r = 0; r < ti->n_ranks; r++)
        pending += ti->ranks[r].requests->len;
    if (seen->flops > 0)
        workload_note(workload, "computes %.15g operations in all: the job's or the node's peak says how fast",
                      seen->flops);
    if (seen->communicators > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " comm_split or comm_dup: the trace does not say who is in a communicator, "
                      "all collectives are on all ranks",
                      seen->communicators);
    if (seen->spread > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " calls of gather, scatter or their uneven forms are uneven all-to-alls of "
                      "the same bytes",
                      seen->spread);
    if (seen->uneven > 0)
        workload_note(workload, "%" G_GUINT64_FORMAT " reducescatter of uneven parts are reckoned as even",
                      seen->uneven);
    if (seen->scans > 0)
        workload_note(workload, "%" G_GUINT64_FORMAT " scan or exscan are chains of messages from rank to rank",
                      seen->scans);
    if (seen->foreign > 0)
        workload_note(workload, "%" G_GUINT64_FORMAT " lines of other ranks in files of one rank are passed over",
                      seen->foreign);
    if (pending > 0)
        workload_note(workload, "%" G_GUINT64_FORMAT " requests are never waited for", pending);
}

static gboolean
read_files(Ti *ti, char *const *files, uint32_t n_files, GPtrArray *problems, GError **error)
{
    guint before = problems_count(problems);
    for (uint32_t f = 0; f < n_files; f++)
        if (!read_file(ti, files[f], n_files > 1 ? f : INDEX_NONE, problems, error))
            return FALSE;
    for (uint32_t r = 0; r < ti->n_ranks; r++) {
        GError *wrong = NULL;
        if (ti->ranks[r].lines > 0)
            continue;
        error_input(&wrong, "%s: has no line of rank %u", files[n_files > 1 ? r : 0], r);
        if (!problems_go_on(problems, wrong, error))
            return FALSE;
    }
    return problems_none_since(problems, before, files[0], error);
}

static Workload *
read_ranks(char *const *files, uint32_t n_files, GPtrArray *problems, GError **error)
{
    uint32_t n_ranks = n_files;
    if (n_files == 1 && !count_ranks(files[0], &n_ranks, error))
        return NULL;
    g_autoptr(MpiWorld) world = mpi_world_new(n_ranks);
    Ti ti = {.world = world, .n_ranks = n_ranks, .ranks = g_new0(TiRank, n_ranks)};
    for (uint32_t r = 0; r < n_ranks; r++)
        ti.ranks[r] = (TiRank){.unit = 1, .requests = g_array_new(FALSE, FALSE, sizeof(TiRequest))};
    gboolean read = read_files(&ti, files, n_files, problems, error);
    if (read)
        add_notes(&ti);
    for (uint32_t r = 0; r < n_ranks; r++)
        g_array_unref(ti.ranks[r].requests);
    g_free(ti.ranks);
    if (!read)
        return NULL;
    mpi_world_workload(world)->description = g_strdup_printf("SimGrid time-independent trace, %s", files[0]);
    return mpi_world_finish(world, files[0], problems, error);
}

/* Is the first line that has text a rank and an action? */
static gboolean
has_action(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length), *end = head + length;
    while (at < end && (g_ascii_isspace(*at) || *at == '#')) {
        const char *feed = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = feed != NULL ? feed + 1 : end;
    }
    const char *digit = at;
    while (at < end && g_ascii_isdigit(*at))
        at++;
    const char *blank = at;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *verb = at;
    while (at < end && (g_ascii_isalpha(*at) || *at == '_'))
        at++;
    return blank > digit && verb > blank && ti_knows(verb, (size_t)(at - verb)) && (at == end || g_ascii_isspace(*at));
}

/* Is every line of the head one word, a name that ends in .txt, as SMPI writes them? */
static gboolean
has_names(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length), *end = head + length;
    gboolean any = FALSE;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        if (feed == NULL && any && length >= 4096)
            break; /* cut off */
        while (stop > at && g_ascii_isspace(stop[-1]))
            stop--;
        for (const char *c = at; c < stop; c++)
            if (!g_ascii_isgraph(*c) && (unsigned char)*c < 0x80)
                return FALSE;
        if (stop > at && (stop - at < 5 || memcmp(stop - 4, ".txt", 4) != 0))
            return FALSE;
        any = any || stop > at;
        at = feed != NULL ? feed + 1 : end;
    }
    return any;
}

static int
recognise(const char *head, size_t length)
{
    return has_action(head, length) ? 90 : has_names(head, length) ? 20 : 0;
}

/* The files a list names; NULL with an error. */
static char **
read_list(const char *path, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return NULL;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = g_path_get_dirname(path);
    while (field_lines_next(lines)) {
        if (lines->n_fields > 1) {
            field_lines_fail(lines, error, "\"%s\" found; a list has the name of one trace file a line",
                             lines->fields[1]);
            return NULL;
        }
        const char *name = lines->fields[0];
        g_autofree char *beside = g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
        gboolean here = !g_file_test(beside, G_FILE_TEST_EXISTS) && g_file_test(name, G_FILE_TEST_EXISTS);
        if (files->len >= RANKS_MOST) {
            field_lines_fail(lines, error, "more than %d files", RANKS_MOST);
            return NULL;
        }
        g_ptr_array_add(files, here ? g_strdup(name) : g_steal_pointer(&beside));
    }
    if (files->len == 0) {
        error_input(error, "%s: names no trace file", path);
        return NULL;
    }
    g_ptr_array_add(files, NULL);
    return (char **)g_ptr_array_steal(files, NULL);
}

static gboolean
is_list(const char *path, gboolean *list, GError **error)
{
    char head[4096];
    g_autoptr(Input) input = input_open(path, error);
    gssize length = input != NULL ? input_read(input, head, sizeof head, error) : -1;
    if (length < 0)
        return FALSE;
    *list = has_names(head, (size_t)length);
    return TRUE;
}

static Workload *
read_ti(const TraceSource *source, GError **error)
{
    gboolean list = FALSE;
    if (source->n_files == 1 && !is_list(source->files[0], &list, error))
        return NULL;
    if (!list)
        return read_ranks(source->files, source->n_files, source->problems, error);
    g_auto(GStrv) files = read_list(source->files[0], error);
    return files != NULL ? read_ranks(files, g_strv_length(files), source->problems, error) : NULL;
}

const TraceFormat trace_simgrid_ti = {
    "simgrid-ti", "SimGrid's time-independent traces: a file a rank, one of all ranks, or SMPI's list of files",
    recognise, read_ti};
