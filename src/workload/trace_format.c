/* trace_format.c - the table of trace readers; which file is which rank's */
#include "workload/trace_format.h"

#include "base/error.h"
#include "base/input.h"
#include "base/suggest.h"

#include <glob.h>
#include <string.h>

/* The table: one line a format. */
/* clang-format off */
static const TraceFormat *const formats[] = {
    &trace_astra,
    &trace_chakra,
    &trace_chakra_json,
    &trace_dumpi,
    &trace_goal,
    &trace_htsim,
    &trace_kineto,
    &trace_layers,
    &trace_liballprof,
    &trace_nsys,
    &trace_otf2,
    &trace_program,
    &trace_simai,
    &trace_simgrid_ti,
    NULL,
};
/* clang-format on */

const char *const trace_rank_is_names[] = {"guessed", "gpu", "node", NULL};

gboolean
trace_rank_is_parse(const char *text, TraceRankIs *rank_is, GError **error)
{
    for (unsigned i = 0; trace_rank_is_names[i] != NULL; i++)
        if (strcmp(text, trace_rank_is_names[i]) == 0) {
            *rank_is = (TraceRankIs)i;
            return TRUE;
        }
    return error_input(error, "a rank is \"%s\"; expected gpu, node or guessed", text);
}

const TraceFormat *const *
trace_formats(void)
{
    return formats;
}

const TraceFormat *
trace_format_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(formats)] = {NULL};
    size_t n = 0;
    for (; formats[n] != NULL; n++) {
        names[n] = formats[n]->name;
        if (strcmp(name, names[n]) == 0)
            return formats[n];
    }
    g_autofree char *hint = suggest_hint(name, names, n);
    error_input(error, "there is no trace format \"%s\"%s; 'trainshed trace formats' lists them", name, hint);
    return NULL;
}

/* The first bytes of content as people can read them. */
static char *
printable(const char *head, size_t length)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < MIN(length, 16); i++) {
        if (head[i] >= ' ' && head[i] <= '~')
            g_string_append_c(text, head[i]);
        else
            g_string_append_printf(text, "\\x%02x", (unsigned char)head[i]);
    }
    return g_strdup(text->str);
}

/* Fills head as far as the file goes; -1 with an error. */
static gssize
read_head(const char *path, char *head, size_t size, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return -1;
    size_t length = 0;
    while (length < size) {
        gssize n = input_read(input, head + length, size - length, error);
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    return (gssize)length;
}

const TraceFormat *
trace_format_recognise(const char *path, GError **error)
{
    enum { TAR_MARK = 257 }; /* where a tar archive says so */
    char head[65536];
    gssize length = read_head(path, head, sizeof head, error);
    if (length < 0)
        return NULL;

    const TraceFormat *best = NULL;
    int surest = 0;
    for (size_t i = 0; formats[i] != NULL; i++) {
        int sure = formats[i]->recognise(head, (size_t)length);
        if (sure > surest) {
            surest = sure;
            best = formats[i];
        }
    }
    if (best == NULL && length > TAR_MARK + 5 && memcmp(head + TAR_MARK, "ustar", 5) == 0) {
        error_input(error, "%s: is a tar archive; unpack it and give the files in it", path);
    } else if (best == NULL) {
        g_autofree char *seen = printable(head, (size_t)length);
        error_input(error,
                    "%s: starts with \"%s\", which no known trace format does; 'trainshed trace formats' lists them",
                    path, seen);
    }
    return best;
}

gboolean
trace_format_accepts(const TraceFormat *format, const TraceSource *source, GError **error)
{
    enum { REPLICATE_LIMIT = 1 << 20 };
    if (source->replicate == 0)
        return TRUE;
    if (!format->replicates)
        return error_input(error, "%s: traces of format %s cannot be replicated; chakra and chakra-json can",
                           source->files[0], format->name);
    if (source->n_files > 1)
        return error_input(error, "%s: one rank's file is replicated; %u files are given", source->files[0],
                           source->n_files);
    if (source->replicate > REPLICATE_LIMIT)
        return error_input(error, "%s: replicated %u times; expected at most %d", source->files[0], source->replicate,
                           REPLICATE_LIMIT);
    return TRUE;
}

Workload *
trace_read(const char *format, const TraceSource *source, GError **error)
{
    if (source->n_files == 0) {
        error_input(error, "no trace files are given");
        return NULL;
    }
    const TraceFormat *reader =
        format != NULL ? trace_format_find(format, error) : trace_format_recognise(source->files[0], error);
    if (reader == NULL || !trace_format_accepts(reader, source, error))
        return NULL;
    return reader->read(source, error);
}

/* A file among those of one list. */
typedef struct {
    char *path;
    GArray *numbers; /* of uint64_t: the whole numbers in its base name */
    uint64_t rank;
} Candidate;

static void
candidate_free(void *data)
{
    Candidate *candidate = data;
    g_free(candidate->path);
    g_array_unref(candidate->numbers);
    g_free(candidate);
}

static GArray *
numbers_in(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (const char *at = base; *at != '\0';) {
        if (!g_ascii_isdigit(*at)) {
            at++;
            continue;
        }
        char *end;
        uint64_t number = g_ascii_strtoull(at, &end, 10);
        g_array_append_val(numbers, number);
        at = end;
    }
    return numbers;
}

static int
by_rank(const void *a, const void *b)
{
    const Candidate *x = *(Candidate *const *)a, *y = *(Candidate *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->path, y->path);
}

static gboolean
add_pattern(const char *folder, const char *pattern, GPtrArray *candidates, GError **error)
{
    g_autofree char *full =
        folder == NULL || g_path_is_absolute(pattern) ? g_strdup(pattern) : g_build_filename(folder, pattern, NULL);
    glob_t found = {0};
    int status = glob(full, 0, NULL, &found);
    if (status != 0) {
        globfree(&found);
        if (status == GLOB_NOMATCH)
            return error_input(error, "%s: there is no such file", full);
        return error_input(error, "%s: the folder cannot be read", full);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Candidate *candidate = g_new0(Candidate, 1);
        candidate->path = g_strdup(found.gl_pathv[i]);
        candidate->numbers = numbers_in(candidate->path);
        g_ptr_array_add(candidates, candidate);
    }
    globfree(&found);
    return TRUE;
}

/* Which of the numbers, counted from the end, differs between the files: the rank. FALSE where none does. */
static gboolean
differing(const GPtrArray *candidates, guint *from_end)
{
    const Candidate *first = g_ptr_array_index(candidates, 0);
    guint common = first->numbers->len;
    for (guint i = 1; i < candidates->len; i++)
        common = MIN(common, ((Candidate *)g_ptr_array_index(candidates, i))->numbers->len);
    for (guint k = 1; k <= common; k++) {
        uint64_t number = g_array_index(first->numbers, uint64_t, first->numbers->len - k);
        for (guint i = 1; i < candidates->len; i++) {
            const Candidate *other = g_ptr_array_index(candidates, i);
            if (g_array_index(other->numbers, uint64_t, other->numbers->len - k) != number) {
                *from_end = k;
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* Ranks must be 0, 1, ...; those that are not there are named. */
static gboolean
check_ranks(const GPtrArray *candidates, GError **error)
{
    enum { SHOWN = 8 };
    g_autoptr(GString) missing = g_string_new(NULL);
    guint n_missing = 0;
    uint64_t expected = 0;
    for (guint i = 0; i < candidates->len; i++) {
        const Candidate *candidate = g_ptr_array_index(candidates, i);
        const Candidate *before = i > 0 ? g_ptr_array_index(candidates, i - 1) : NULL;
        if (before != NULL && before->rank == candidate->rank)
            return error_input(error, "%s and %s are both files of rank %" G_GUINT64_FORMAT, before->path,
                               candidate->path, candidate->rank);
        for (; expected < candidate->rank && n_missing < SHOWN; expected++) {
            g_string_append_printf(missing, "%s%" G_GUINT64_FORMAT, n_missing > 0 ? ", " : "", expected);
            n_missing++;
        }
        expected = candidate->rank + 1;
    }
    if (n_missing == 0)
        return TRUE;
    const Candidate *first = g_ptr_array_index(candidates, 0),
                    *last = g_ptr_array_index(candidates, candidates->len - 1);
    return error_input(error,
                       "%s to %s: no file of rank %s%s; ranks are the numbers in the names, 0 to %" G_GUINT64_FORMAT,
                       first->path, last->path, missing->str, n_missing == SHOWN ? ", ..." : "", last->rank);
}

char **
trace_pair(const char *folder, const char *const *patterns, GError **error)
{
    g_autoptr(GPtrArray) candidates = g_ptr_array_new_with_free_func(candidate_free);
    for (size_t i = 0; patterns[i] != NULL; i++) {
        if (!add_pattern(folder, patterns[i], candidates, error))
            return NULL;
    }
    if (candidates->len == 0) {
        error_input(error, "no trace files are given");
        return NULL;
    }

    if (candidates->len > 1) {
        guint from_end;
        if (!differing(candidates, &from_end)) {
            const Candidate *first = g_ptr_array_index(candidates, 0), *second = g_ptr_array_index(candidates, 1);
            error_input(error, "%s and %s: no number in their names differs, so which rank is which is not known",
                        first->path, second->path);
            return NULL;
        }
        for (guint i = 0; i < candidates->len; i++) {
            Candidate *candidate = g_ptr_array_index(candidates, i);
            candidate->rank = g_array_index(candidate->numbers, uint64_t, candidate->numbers->len - from_end);
        }
        g_ptr_array_sort(candidates, by_rank);
        if (!check_ranks(candidates, error))
            return NULL;
    }

    char **files = g_new0(char *, candidates->len + 1);
    for (guint i = 0; i < candidates->len; i++)
        files[i] = g_strdup(((Candidate *)g_ptr_array_index(candidates, i))->path);
    return files;
}
