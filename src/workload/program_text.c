/* program_text.c - reads the program text: roles and streams, and the whole; trainshed-program(5) */
#include "workload/program_text.h"

#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
#include "base/suggest.h"
#include "workload/program_words.h"
#include "workload/trace_format.h"

#include <string.h>

#define FILE_LIMIT ((size_t)4 << 30)

enum { RANKS_MOST = 1 << 24 };

static void
reference_clear(void *data)
{
    Reference *reference = data;
    g_free(reference->word.text);
}

gboolean
program_find_stream(ProgramReader *reader, const Word *word, gboolean exclusive, uint32_t *stream, GError **error)
{
    Program *program = workload_program(reader->workload, reader->role);
    if (token_is(word, "-")) {
        if (!program->dag)
            return token_fail(reader->line, word, error, "only an op of a dag role may stand on no stream");
        *stream = INDEX_NONE;
        return TRUE;
    }
    void *found = g_hash_table_lookup(reader->streams, word->text);
    if (found != NULL) {
        *stream = GPOINTER_TO_UINT(found) - 1;
        return TRUE;
    }
    *stream = program_add_stream(program, word->text, exclusive);
    g_hash_table_insert(reader->streams, g_strdup(word->text), GUINT_TO_POINTER(*stream + 1));
    return TRUE;
}

/* The ranks of a group of this role that pp=1 names are kept; the others go. */
static gboolean
keep_where(ProgramReader *reader, const Word *word, GArray *ranks, GError **error)
{
    static const char what[] = "an axis and a coordinate like pp=1";
    const char *equals = strchr(word->text, '=');
    guint64 member;
    if (word->quoted || equals == NULL || !g_ascii_string_to_unsigned(equals + 1, 10, 0, UINT32_MAX - 1, &member, NULL))
        return token_expected(reader->line, word, what, NULL, 0, error);
    g_autofree char *name = g_strndup(word->text, (gsize)(equals - word->text));
    uint32_t index = workload_find_group(reader->workload, name);
    if (index == INDEX_NONE)
        return reader->unsure || token_fail(reader->line, word, error, "there is no group or axis \"%s\"", name);
    const Group *group = g_ptr_array_index(reader->workload->groups, index);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ranks->len; i++) {
        uint32_t rank = g_array_index(ranks, uint32_t, i);
        if (g_array_index(group->member_of_rank, uint32_t, rank) == member)
            g_array_index(ranks, uint32_t, kept++) = rank;
    }
    g_array_set_size(ranks, kept);
    return kept > 0 || token_fail(reader->line, word, error, "no rank has \"%s\"", word->text);
}

/* ranks 0-3 5 | ranks all | ranks none | where pp=0 tp=1 */
static gboolean
read_role_ranks(ProgramReader *reader, GArray *ranks, GError **error)
{
    static const char *const known[] = {"dag", "ranks", "where"};
    TokenLine *line = reader->line;
    const Word *word = token_take(line, "\"ranks\" or \"where\"", error);
    if (word == NULL)
        return FALSE;
    if (token_is(word, "ranks") && token_accept(line, "none"))
        return program_end_of_line(line, error);
    gboolean where = token_is(word, "where");
    if (!where && !token_is(word, "ranks"))
        return token_expected(line, word, "\"dag\", \"ranks\" or \"where\"", known, G_N_ELEMENTS(known), error);
    if (!where && !token_accept(line, "all"))
        return program_read_ranks(reader, ranks, error) && program_end_of_line(line, error);
    for (uint32_t rank = 0; rank < reader->workload->n_ranks; rank++)
        g_array_append_val(ranks, rank);
    if (!where)
        return program_end_of_line(line, error);
    do {
        word = token_take(line, "an axis and a coordinate like pp=1", error);
        if (word == NULL || (!token_is(word, ",") && !keep_where(reader, word, ranks, error)))
            return FALSE;
    } while (token_peek(line) != NULL);
    return TRUE;
}

/* The number of the op a reference names, or INDEX_NONE with an error. */
static uint32_t
resolve(ProgramReader *reader, const Reference *reference, GError **error)
{
    const Program *program = workload_program(reader->workload, reader->role);
    const char *text = reference->word.text;
    TokenLine place = *reader->line;
    place.number = reference->line;
    if (reference->number) {
        guint64 index;
        if (g_ascii_string_to_unsigned(text + 1, 10, 0, UINT32_MAX, &index, NULL) && index < program->ops->len)
            return (uint32_t)index;
        token_fail(&place, &reference->word, error, "there is no op %s; the role has ops @0 to @%u", text,
                   program->ops->len - 1);
        return INDEX_NONE;
    }
    void *found;
    if (!g_hash_table_lookup_extended(reader->ops, text, NULL, &found)) {
        g_autofree const char **names = g_new(const char *, program->ops->len);
        for (uint32_t i = 0; i < program->ops->len; i++)
            names[i] = program_op_name(program, i);
        const char *near = suggest_nearest(text, names, program->ops->len);
        token_fail(&place, &reference->word, error, "there is no op \"%s\" in role \"%s\"%s%s%s", text, program->name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        return INDEX_NONE;
    }
    if (found == NULL) {
        token_fail(&place, &reference->word, error,
                   "several ops are named \"%s\"; name it by its number in the role, like @12 (the first op is @0)",
                   text);
        return INDEX_NONE;
    }
    return GPOINTER_TO_UINT(found) - 1;
}

/* Fills in the deps of the role that ends. */
static gboolean
end_role(ProgramReader *reader, GError **error)
{
    if (reader->role == INDEX_NONE)
        return TRUE;
    Program *program = workload_program(reader->workload, reader->role);
    for (uint32_t i = 0; i < reader->references->len; i++) {
        const Reference *reference = &g_array_index(reader->references, Reference, i);
        GError *wrong = NULL;
        uint32_t op = resolve(reader, reference, &wrong);
        if (op == INDEX_NONE && !problems_go_on(reader->problems, wrong, error))
            return FALSE;
        g_array_index(program->deps, uint32_t, reference->dep) = op;
    }
    g_array_set_size(reader->references, 0);
    g_hash_table_remove_all(reader->ops);
    g_hash_table_remove_all(reader->streams);
    return TRUE;
}

/* role NAME [dag] ranks ... */
static gboolean
read_role(ProgramReader *reader, GError **error)
{
    Workload *workload = reader->workload;
    TokenLine *line = reader->line;
    const Word *word = token_take(line, "the name of a role", error);
    if (word == NULL)
        return FALSE;
    for (uint32_t i = 0; i < workload->programs->len; i++) {
        if (strcmp(workload_program(workload, i)->name, word->text) == 0)
            return token_fail(line, word, error, "role \"%s\" is given twice", word->text);
    }
    reader->role = workload_add_program(workload, token_accept(line, "dag"));
    workload_program(workload, reader->role)->name = g_strdup(word->text);
    reader->stream = INDEX_NONE;
    for (uint32_t i = g_hash_table_size(reader->groups); i < workload->groups->len; i++) {
        Group *group = g_ptr_array_index(workload->groups, i);
        g_hash_table_insert(reader->groups, group->name, GUINT_TO_POINTER(i + 1));
    }

    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (!read_role_ranks(reader, ranks, error))
        return FALSE;
    for (uint32_t i = 0; i < ranks->len; i++) {
        uint32_t rank = g_array_index(ranks, uint32_t, i), *program = &workload->program_of_rank[rank];
        if (*program != INDEX_NONE && !reader->unsure)
            return token_fail(line, word, error, "rank %u already has role \"%s\"", rank,
                              workload_program(workload, *program)->name);
        *program = reader->role;
    }
    reader->rank = ranks->len > 0 ? g_array_index(ranks, uint32_t, 0) : INDEX_NONE;
    return TRUE;
}

static gboolean
read_stream(ProgramReader *reader, GError **error)
{
    const Program *program = workload_program(reader->workload, reader->role);
    const Word *word = token_take(reader->line, "the name of a stream", error);
    if (word == NULL)
        return FALSE;
    const Word *next = token_peek(reader->line);
    gboolean exclusive = token_accept(reader->line, "exclusive");
    if (exclusive && !program->dag)
        return token_fail(reader->line, next, error, "only streams of a dag role are exclusive; others run in order");
    if (exclusive && g_hash_table_contains(reader->streams, word->text))
        return token_fail(reader->line, next, error, "stream \"%s\" is known already; say so where it is first named",
                          word->text);
    return program_find_stream(reader, word, exclusive, &reader->stream, error) &&
           program_end_of_line(reader->line, error);
}

static gboolean
read_line(ProgramReader *reader, GError **error)
{
    const Word *first = token_take(reader->line, "a line", error);
    OpKind kind;
    CollectiveKind collective;
    if (token_is(first, "role"))
        return end_role(reader, error) && read_role(reader, error);
    if (reader->role == INDEX_NONE) {
        gboolean grouping = token_is(first, "mesh") || token_is(first, "group");
        gboolean good = program_read_header(reader, first, error);
        reader->unsure = reader->unsure || (grouping && !good);
        return good;
    }
    if (token_is(first, "stream"))
        return read_stream(reader, error);
    if (!first->quoted && program_op_word(first->text, &kind, &collective))
        return program_read_op(reader, first, error);

    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (const char *const *word = program_op_words(); *word != NULL; word++)
        g_ptr_array_add(known, (char *)*word);
    g_ptr_array_add(known, (char *)"stream");
    g_ptr_array_add(known, (char *)"role");
    program_pass_over_op(reader);
    return token_expected(reader->line, first, "an op, \"stream\" or \"role\"", (const char *const *)known->pdata,
                          known->len, error);
}

/* program 1, then ranks N. */
static Workload *
read_head(TokenLine *line, GError **error)
{
    static const struct {
        const char *word, *what;
        uint64_t most;
    } heads[] = {{"program", "the version of the format", 1}, {"ranks", "a number of ranks", RANKS_MOST}};
    uint64_t value = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(heads); i++) {
        gboolean more;
        if (!token_line_next(line, &more, error))
            return NULL;
        g_autofree char *expected = g_strdup_printf("\"%s\" and %s", heads[i].word, heads[i].what);
        const Word *word = token_take(line, expected, error);
        if (word == NULL)
            return NULL;
        if (!token_is(word, heads[i].word)) {
            token_expected(line, word, expected, &heads[i].word, 1, error);
            return NULL;
        }
        const Word *number = token_peek(line);
        if (!program_read_uint(line, heads[i].what, heads[i].most, &value, error) || !program_end_of_line(line, error))
            return NULL;
        if (value == 0) {
            token_fail(line, number, error, "%s is 0; expected 1%s", heads[i].what, i > 0 ? " or more" : "");
            return NULL;
        }
    }
    return workload_new((uint32_t)value);
}

static gboolean
read_lines(ProgramReader *reader, GError **error)
{
    for (;;) {
        gboolean more = TRUE;
        GError *wrong = NULL;
        gboolean good = token_line_next(reader->line, &more, &wrong) && (!more || read_line(reader, &wrong));
        if (!good && !problems_go_on(reader->problems, wrong, error))
            return FALSE;
        if (!more)
            return end_role(reader, error);
    }
}

static Workload *
read_words(TokenLine *line, GPtrArray *problems, GError **error)
{
    guint before = problems_count(problems);
    g_autoptr(Workload) workload = read_head(line, error);
    if (workload == NULL)
        return NULL;
    g_autoptr(GHashTable) groups = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) ops = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(Reference));
    g_array_set_clear_func(references, reference_clear);
    ProgramReader reader = {.line = line,
                            .workload = workload,
                            .role = INDEX_NONE,
                            .stream = INDEX_NONE,
                            .groups = groups,
                            .streams = streams,
                            .ops = ops,
                            .references = references,
                            .problems = problems};
    if (!read_lines(&reader, error) || !problems_none_since(problems, before, line->path, error))
        return NULL;
    return g_steal_pointer(&workload);
}

/* As program_text_read; all that is wrong goes into problems where that is given: of the lines, or, where each is good
 * by itself, of the whole. */
static Workload *
read_program(const char *path, GPtrArray *problems, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    size_t bom = input_bom(text, length);
    g_autoptr(TokenLine) line = token_line_new(path, text + bom, length - bom);
    g_autoptr(Workload) workload = read_words(line, problems, error);
    if (workload == NULL)
        return NULL;
    if (workload->description == NULL)
        workload->description = g_strdup_printf("program, %s", path);
    if (problems != NULL) {
        workload_check_all(workload, problems);
        if (problems->len > 0) {
            error_input(error, "%s: %s", path, (const char *)g_ptr_array_index(problems, 0));
            return NULL;
        }
        return g_steal_pointer(&workload);
    }
    if (workload_check(workload, error))
        return g_steal_pointer(&workload);
    g_prefix_error(error, "%s: ", path);
    return NULL;
}

Workload *
program_text_read(const char *path, GError **error)
{
    return read_program(path, NULL, error);
}

static Workload *
program_read(const TraceSource *source, GError **error)
{
    if (source->n_files == 1)
        return read_program(source->files[0], source->problems, error);
    error_input(error, "%s and %u more: a program is one file for all ranks", source->files[0], source->n_files - 1);
    return NULL;
}

/* The first word that is no comment is "program". */
static int
program_recognise(const char *head, size_t length)
{
    size_t at = input_bom(head, length);
    while (at < length && (g_ascii_isspace(head[at]) || head[at] == '#')) {
        const char *feed = head[at] == '#' ? memchr(head + at, '\n', length - at) : head + at;
        if (feed == NULL)
            return 0;
        at = (size_t)(feed - head) + 1;
    }
    return length - at > 8 && memcmp(head + at, "program", 7) == 0 && g_ascii_isspace(head[at + 7]) ? 100 : 0;
}

const TraceFormat trace_program = {"program", "the program text of trainshed-program(5): one file for all ranks",
                                   program_recognise, program_read};
