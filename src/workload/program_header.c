/* program_header.c - the program text: groups, meshes, starts and texts before the first role */
#include "workload/program_words.h"

#include <string.h>

/* "found \"x\" more at the end of the line" where there is one. */
gboolean
program_end_of_line(TokenLine *line, GError **error)
{
    const Word *word = token_peek(line);
    return word == NULL || token_fail(line, word, error, "found \"%s\"; expected the end of the line", word->text);
}

/* One "3" or "0-3", appended to ranks. */
static gboolean
read_range(ProgramReader *reader, const Word *word, GArray *ranks, GError **error)
{
    uint32_t n_ranks = reader->workload->n_ranks;
    guint64 low, high;
    g_auto(GStrv) parts = g_strsplit(word->text, "-", 2);
    gboolean ok = !word->quoted && g_ascii_string_to_unsigned(parts[0], 10, 0, UINT32_MAX, &low, NULL);
    high = ok ? low : 0;
    ok = ok && (parts[1] == NULL || g_ascii_string_to_unsigned(parts[1], 10, 0, UINT32_MAX, &high, NULL));
    if (!ok || high < low)
        return token_expected(reader->line, word, "ranks like 3 or 0-3", NULL, 0, error);
    if (high >= n_ranks)
        return token_fail(reader->line, word, error,
                          "rank %" G_GUINT64_FORMAT " does not exist; there are ranks 0 to %u", high, n_ranks - 1);
    for (uint32_t rank = (uint32_t)low; rank <= high; rank++) {
        if (ranks->len >= n_ranks)
            return token_fail(reader->line, word, error, "a rank is named twice");
        g_array_append_val(ranks, rank);
    }
    return TRUE;
}

/* Ranges up to the end of the line or a bare "|". */
gboolean
program_read_ranks(ProgramReader *reader, GArray *ranks, GError **error)
{
    const Word *word = token_peek(reader->line);
    if (word == NULL || token_is(word, "|"))
        return token_expected(reader->line, word, "ranks like 3 or 0-3", NULL, 0, error);
    for (; word != NULL && !token_is(word, "|"); word = token_peek(reader->line)) {
        reader->line->at++;
        if (!token_is(word, ",") && !read_range(reader, word, ranks, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
name_group(ProgramReader *reader, const Word *word, const char *name, GError **error)
{
    if (name[0] == '\0')
        return token_fail(reader->line, word, error, "a group needs a name");
    if (workload_find_group(reader->workload, name) != INDEX_NONE)
        return token_fail(reader->line, word, error, "group \"%s\" is given twice", name);
    return TRUE;
}

/* group NAME 0 1 | 2 3 */
static gboolean
read_group(ProgramReader *reader, GError **error)
{
    Workload *workload = reader->workload;
    const Word *word = token_take(reader->line, "the name of a group", error);
    if (word == NULL || !name_group(reader, word, word->text, error))
        return FALSE;
    g_autofree char *name = g_strdup(word->text);
    g_autofree gboolean *seen = g_new0(gboolean, workload->n_ranks);
    uint32_t group = INDEX_NONE;
    do {
        const Word *start = token_peek(reader->line);
        g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        if (!program_read_ranks(reader, ranks, error))
            return FALSE;
        for (uint32_t i = 0; i < ranks->len; i++) {
            uint32_t rank = g_array_index(ranks, uint32_t, i);
            if (seen[rank])
                return token_fail(reader->line, start, error, "group \"%s\" names rank %u twice", name, rank);
            seen[rank] = TRUE;
        }
        const uint32_t *members = (const uint32_t *)(const void *)ranks->data;
        if (group == INDEX_NONE)
            group = workload_add_group(workload, name, members, ranks->len);
        else
            workload_add_instance(workload, group, members, ranks->len);
    } while (token_accept(reader->line, "|"));
    return TRUE;
}

/* mesh tp=2 pp=2 dp=2 */
static gboolean
read_mesh(ProgramReader *reader, GError **error)
{
    static const char what[] = "an axis and its size like tp=2";
    TokenLine *line = reader->line;
    g_autoptr(GPtrArray) axes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const Word *first = token_peek(line);
    uint64_t product = 1;
    do {
        const Word *word = token_take(line, what, error);
        guint64 size;
        if (word == NULL)
            return FALSE;
        const char *equals = strchr(word->text, '=');
        if (equals == NULL || !g_ascii_string_to_unsigned(equals + 1, 10, 1, UINT32_MAX, &size, NULL))
            return token_expected(line, word, what, NULL, 0, error);
        g_autofree char *name = g_strndup(word->text, (gsize)(equals - word->text));
        if (!name_group(reader, word, name, error))
            return FALSE;
        if (g_ptr_array_find_with_equal_func(axes, name, g_str_equal, NULL))
            return token_fail(line, word, error, "axis \"%s\" is given twice", name);
        g_ptr_array_add(axes, g_steal_pointer(&name));
        uint32_t size32 = (uint32_t)size;
        g_array_append_val(sizes, size32);
        product = product > UINT32_MAX ? product : product * size;
    } while (token_peek(line) != NULL);
    if (product != reader->workload->n_ranks)
        return token_fail(line, first, error, "the axes multiply to %" G_GUINT64_FORMAT " ranks; there are %u", product,
                          reader->workload->n_ranks);
    workload_add_mesh(reader->workload, (const char *const *)axes->pdata, (const uint32_t *)(const void *)sizes->data,
                      axes->len);
    return TRUE;
}

static gboolean
read_start(ProgramReader *reader, GError **error)
{
    Workload *workload = reader->workload;
    uint64_t rank;
    SimTime time;
    if (!program_read_uint(reader->line, "a rank", workload->n_ranks - 1, &rank, error) ||
        !program_read_time(reader->line, &time, error))
        return FALSE;
    if (workload->start_ps == NULL)
        workload->start_ps = g_new0(SimTime, workload->n_ranks);
    workload->start_ps[rank] = time;
    return TRUE;
}

static gboolean
read_text(ProgramReader *reader, gboolean note, GError **error)
{
    const Word *word = token_take(reader->line, "a text", error);
    if (word == NULL)
        return FALSE;
    if (note) {
        workload_note(reader->workload, "%s", word->text);
        return TRUE;
    }
    if (reader->workload->description != NULL)
        return token_fail(reader->line, word, error, "the description is given twice");
    reader->workload->description = g_strdup(word->text);
    return TRUE;
}

gboolean
program_read_header(ProgramReader *reader, const Word *first, GError **error)
{
    static const char *const known[] = {"mesh", "group", "start", "description", "note", "recorded_collectives",
                                        "role"};
    gboolean ok;
    if (token_is(first, "mesh"))
        ok = read_mesh(reader, error);
    else if (token_is(first, "group"))
        ok = read_group(reader, error);
    else if (token_is(first, "start"))
        ok = read_start(reader, error);
    else if (token_is(first, "description") || token_is(first, "note"))
        ok = read_text(reader, token_is(first, "note"), error);
    else if (token_is(first, "recorded_collectives"))
        ok = reader->workload->recorded_collectives = TRUE;
    else
        return token_expected(
            reader->line, first,
            "\"mesh\", \"group\", \"start\", \"description\", \"note\", \"recorded_collectives\" or \"role\"", known,
            G_N_ELEMENTS(known), error);
    return ok && program_end_of_line(reader->line, error);
}
