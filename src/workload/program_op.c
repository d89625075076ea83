/* program_op.c - the program text: one line, one op */
#include "base/decimal.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "workload/program_words.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *const program_clauses[CLAUSES + 1] = {"time",  "flops", "bytes", "group",  "root", "splits",
                                                  "to",    "from",  "tag",   "signal", "cpu",  "nic",
                                                  "begun", "on",    "after", NULL};

uint32_t
program_clauses_of(OpKind kind)
{
    static const uint32_t own[] = {
        [OP_COMPUTE] = 1 << CLAUSE_TIME | 1 << CLAUSE_FLOPS | 1 << CLAUSE_BYTES | 1 << CLAUSE_CPU,
        [OP_HOST] = 1 << CLAUSE_TIME,
        [OP_COLLECTIVE] =
            1 << CLAUSE_TIME | 1 << CLAUSE_BYTES | 1 << CLAUSE_GROUP | 1 << CLAUSE_ROOT | 1 << CLAUSE_SPLITS,
        [OP_SEND] = 1 << CLAUSE_TIME | 1 << CLAUSE_BYTES | 1 << CLAUSE_TO | 1 << CLAUSE_TAG | 1 << CLAUSE_SIGNAL |
                    1 << CLAUSE_CPU | 1 << CLAUSE_NIC,
        [OP_RECV] = 1 << CLAUSE_TIME | 1 << CLAUSE_BYTES | 1 << CLAUSE_FROM | 1 << CLAUSE_TAG | 1 << CLAUSE_SIGNAL |
                    1 << CLAUSE_CPU | 1 << CLAUSE_NIC,
        [OP_COPY] = 1 << CLAUSE_TIME | 1 << CLAUSE_BYTES,
        [OP_ALLOC] = 1 << CLAUSE_BYTES,
        [OP_FREE] = 1 << CLAUSE_BYTES,
        [OP_MARKER] = 0,
    };
    return own[kind] | 1 << CLAUSE_BEGUN | 1 << CLAUSE_ON | 1 << CLAUSE_AFTER;
}

static const OpKind plain_kinds[] = {OP_COMPUTE, OP_HOST, OP_SEND, OP_RECV, OP_COPY, OP_ALLOC, OP_FREE, OP_MARKER};

const char *const *
program_op_words(void)
{
    static const char *words[G_N_ELEMENTS(plain_kinds) + COLLECTIVE_KINDS + 1];
    if (words[0] == NULL) {
        for (uint32_t i = 0; i < COLLECTIVE_KINDS; i++)
            words[G_N_ELEMENTS(plain_kinds) + i] = collective_kind_name(i);
        for (uint32_t i = G_N_ELEMENTS(plain_kinds); i > 0; i--)
            words[i - 1] = op_kind_name(plain_kinds[i - 1]);
    }
    return words;
}

gboolean
program_op_word(const char *text, OpKind *kind, CollectiveKind *collective)
{
    for (uint32_t i = 0; i < G_N_ELEMENTS(plain_kinds); i++) {
        if (strcmp(text, op_kind_name(plain_kinds[i])) == 0) {
            *kind = plain_kinds[i];
            return TRUE;
        }
    }
    if (!collective_kind_parse(text, collective))
        return FALSE;
    *kind = OP_COLLECTIVE;
    return TRUE;
}

static gboolean
is_clause(const Word *word, uint32_t *clause)
{
    for (uint32_t i = 0; i < CLAUSES; i++) {
        if (token_is(word, program_clauses[i])) {
            *clause = i;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
program_read_uint(TokenLine *line, const char *what, uint64_t most, uint64_t *value, GError **error)
{
    const Word *word = token_take(line, what, error);
    if (word == NULL)
        return FALSE;
    gboolean digits = !word->quoted && word->text[0] != '\0' && strspn(word->text, "0123456789") == strlen(word->text);
    Decimal decimal;
    const char *end;
    gboolean rest = FALSE;
    uint64_t number = 0;
    if (!digits)
        return token_expected(line, word, what, NULL, 0, error);
    if (!decimal_parse(word->text, &decimal, &end) || !decimal_scale(&decimal, 1, &number, &rest) || number > most)
        return token_fail(line, word, error, "%s is too large; expected %s of at most %" G_GUINT64_FORMAT, word->text,
                          what, most);
    *value = number;
    return TRUE;
}

/* A number and its unit, in one word or two, as one text. */
static char *
take_quantity(TokenLine *line, const char *what, const Word **word, GError **error)
{
    *word = token_take(line, what, error);
    if (*word == NULL)
        return NULL;
    const Word *next = token_peek(line);
    uint32_t clause;
    const char *last = (*word)->text + strlen((*word)->text) - 1;
    gboolean number_alone = (*word)->text[0] != '\0' && g_ascii_isdigit(*last);
    if (!number_alone || next == NULL || next->quoted || strcmp(next->text, ",") == 0 || is_clause(next, &clause))
        return g_strdup((*word)->text);
    line->at++;
    return g_strconcat((*word)->text, " ", next->text, NULL);
}

gboolean
program_read_time(TokenLine *line, SimTime *time, GError **error)
{
    const Word *word;
    g_autofree char *text = take_quantity(line, "a time with its unit", &word, error);
    g_autoptr(GError) wrong = NULL;
    if (text == NULL)
        return FALSE;
    return units_parse_time(text, time, &wrong) || token_fail(line, word, error, "%s", wrong->message);
}

/* A whole number of bytes, or a size with its unit. */
static gboolean
read_bytes(TokenLine *line, uint64_t *bytes, GError **error)
{
    const Word *word;
    g_autofree char *text = take_quantity(line, "a number of bytes", &word, error);
    if (text == NULL)
        return FALSE;
    Decimal decimal;
    const char *end;
    if (!decimal_parse(text, &decimal, &end) || *end != '\0') {
        g_autoptr(GError) wrong = NULL;
        return units_parse_size(text, bytes, &wrong) || token_fail(line, word, error, "%s", wrong->message);
    }
    gboolean rest = FALSE;
    uint64_t value = 0;
    if (decimal.negative || !decimal_scale(&decimal, 1, &value, &rest) || rest)
        return token_fail(line, word, error, "%s is not a whole number of bytes from 0 to 2^64 - 1", text);
    *bytes = value;
    return TRUE;
}

/* A number of floating-point operations, or of bytes moved. */
static gboolean
read_real(TokenLine *line, const char *what, double *value, GError **error)
{
    const Word *word = token_take(line, what, error);
    if (word == NULL)
        return FALSE;
    Decimal decimal;
    const char *rest;
    if (decimal_parse(word->text, &decimal, &rest) && *rest == '\0' && !decimal.negative) {
        double number = g_ascii_strtod(word->text, NULL);
        if (isfinite(number)) {
            *value = number;
            return TRUE;
        }
    }
    return token_expected(line, word, what, NULL, 0, error);
}

/* What a roofline moves: like bytes, but it may be larger and broken. */
static gboolean
read_moved(TokenLine *line, double *bytes, GError **error)
{
    const Word *word = token_peek(line);
    Decimal decimal;
    const char *rest;
    guint at = line->at;
    if (word != NULL && decimal_parse(word->text, &decimal, &rest) && *rest == '\0') {
        line->at++;
        const Word *next = token_peek(line);
        uint32_t clause;
        if (next == NULL || is_clause(next, &clause)) {
            line->at = at;
            return read_real(line, "a number of bytes", bytes, error);
        }
        line->at = at;
    }
    uint64_t whole;
    if (!read_bytes(line, &whole, error))
        return FALSE;
    *bytes = (double)whole;
    return TRUE;
}

static gboolean
find_group(ProgramReader *reader, const Word *word, const char *name, uint32_t *group, GError **error)
{
    void *found = g_hash_table_lookup(reader->groups, name);
    if (found != NULL) {
        *group = GPOINTER_TO_UINT(found) - 1;
        return TRUE;
    }
    *group = INDEX_NONE;
    if (reader->unsure)
        return TRUE;
    const GPtrArray *groups = reader->workload->groups;
    g_autofree const char **names = g_new0(const char *, groups->len + 1);
    for (uint32_t i = 0; i < groups->len; i++)
        names[i] = ((const Group *)g_ptr_array_index(groups, i))->name;
    const char *near = suggest_nearest(name, names, groups->len);
    return token_fail(reader->line, word, error, "there is no group \"%s\"%s%s%s", name,
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static gboolean
read_offset(ProgramReader *reader, const Word *word, const char *text, int32_t *offset, GError **error)
{
    gint64 value;
    if ((text[0] == '+' || text[0] == '-') && g_ascii_isdigit(text[1]) &&
        g_ascii_string_to_signed(text[0] == '+' ? text + 1 : text, 10, INT32_MIN, INT32_MAX, &value, NULL)) {
        *offset = (int32_t)value;
        return TRUE;
    }
    return token_expected(reader->line, word, "an offset in the group like +1 or -1", NULL, 0, error);
}

/* `3`, `any`, `pp+1`, or `"a group" +1`. */
static gboolean
read_peer(ProgramReader *reader, Op *op, GError **error)
{
    static const char what[] = "a rank, \"any\", or a group and an offset like pp+1";
    TokenLine *line = reader->line;
    const Word *word = token_take(line, what, error);
    if (word == NULL)
        return FALSE;
    if (token_is(word, "any")) {
        op->peer_form = PEER_ANY;
        return op->kind == OP_RECV || token_fail(line, word, error, "a send needs one peer, not \"any\"");
    }
    if (!word->quoted && g_ascii_isdigit(word->text[0])) {
        uint64_t rank;
        line->at--;
        op->peer_form = PEER_RANK;
        if (!program_read_uint(line, "a rank", reader->workload->n_ranks - 1, &rank, error))
            return FALSE;
        op->peer = (int32_t)rank;
        return TRUE;
    }
    op->peer_form = PEER_OFFSET;
    if (word->quoted) {
        if (!find_group(reader, word, word->text, &op->group, error))
            return FALSE;
        word = token_take(line, "an offset in the group like +1 or -1", error);
        return word != NULL && read_offset(reader, word, word->text, &op->peer, error);
    }
    size_t length = strlen(word->text);
    while (length > 0 && g_ascii_isdigit(word->text[length - 1]))
        length--;
    if (length < 2 || word->text[length] == '\0' || strchr("+-", word->text[length - 1]) == NULL)
        return token_expected(line, word, what, NULL, 0, error);
    g_autofree char *name = g_strndup(word->text, length - 1);
    return find_group(reader, word, name, &op->group, error) &&
           read_offset(reader, word, word->text + length - 1, &op->peer, error);
}

static gboolean
read_splits(ProgramReader *reader, Op *op, GError **error)
{
    g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    do {
        uint64_t bytes;
        if (!read_bytes(reader->line, &bytes, error))
            return FALSE;
        g_array_append_val(splits, bytes);
    } while (token_accept(reader->line, ","));
    op->splits = workload_add_splits(reader->workload, (const uint64_t *)(const void *)splits->data, splits->len);
    return TRUE;
}

/* Deps are filled in when the role ends: an op may wait for one further down. Until then they say which clause names
 * them. */
static gboolean
read_after(ProgramReader *reader, uint32_t clause_given, GArray *deps, GError **error)
{
    do {
        const Word *word = token_take(reader->line, "the name of an op, or its number like @12", error);
        uint32_t clause;
        if (word == NULL)
            return FALSE;
        if (is_clause(word, &clause) || token_is(word, ","))
            return token_expected(reader->line, word, "the name of an op", NULL, 0, error);
        Reference reference = {
            .word = *word, .line = reader->line->number, .number = !word->quoted && word->text[0] == '@'};
        reference.word.text = g_strdup(word->text);
        g_array_append_val(reader->references, reference);
        g_array_append_val(deps, clause_given);
    } while (token_accept(reader->line, ","));
    return TRUE;
}

/* A number, or of a recv "any". */
static gboolean
read_tag(ProgramReader *reader, Op *op, GError **error)
{
    const Word *word = token_peek(reader->line);
    if (op->kind != OP_RECV || word == NULL || !token_is(word, "any"))
        return program_read_uint(reader->line, "a tag", TAG_ANY - 1, &op->tag, error);
    reader->line->at++;
    op->tag = TAG_ANY;
    return TRUE;
}

static gboolean
read_host_part(TokenLine *line, uint32_t clause, Op *op, GError **error)
{
    uint64_t value = 0;
    if (!program_read_uint(line, clause == CLAUSE_CPU ? "a CPU of the host" : "a NIC of the host", 255, &value, error))
        return FALSE;
    if (clause == CLAUSE_CPU)
        op->cpu = (uint16_t)value;
    else
        op->nic = (uint8_t)value;
    return TRUE;
}

static gboolean
read_clause(ProgramReader *reader, uint32_t clause, Op *op, GArray *deps, GError **error)
{
    uint64_t value = 0;
    const Word *word;
    TokenLine *line = reader->line;
    switch ((Clause)clause) {
    case CLAUSE_TIME:
        return program_read_time(line, &op->duration_ps, error);
    case CLAUSE_FLOPS:
        return read_real(line, "a number of floating-point operations", &op->flops, error);
    case CLAUSE_BYTES:
        return op->kind == OP_COMPUTE ? read_moved(line, &op->bytes_moved, error) : read_bytes(line, &op->bytes, error);
    case CLAUSE_GROUP:
        word = token_take(line, "the name of a group", error);
        return word != NULL && find_group(reader, word, word->text, &op->group, error);
    case CLAUSE_ROOT:
        if (!program_read_uint(line, "a member of the group", UINT32_MAX - 1, &value, error))
            return FALSE;
        op->root = (uint32_t)value;
        return TRUE;
    case CLAUSE_SPLITS:
        return read_splits(reader, op, error);
    case CLAUSE_TO:
    case CLAUSE_FROM:
        return read_peer(reader, op, error);
    case CLAUSE_TAG:
        return read_tag(reader, op, error);
    case CLAUSE_SIGNAL:
        op->signal = TRUE;
        return TRUE;
    case CLAUSE_CPU:
    case CLAUSE_NIC:
        return read_host_part(line, clause, op, error);
    case CLAUSE_ON:
        word = token_take(line, "the name of a stream", error);
        return word != NULL && program_find_stream(reader, word, FALSE, &op->stream, error);
    default:
        assert(clause == CLAUSE_AFTER || clause == CLAUSE_BEGUN);
        return read_after(reader, clause, deps, error);
    }
}

/* The clauses of kind, for a message: "time, flops, bytes, on or after". */
static char *
list_clauses(OpKind kind)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t i = 0; i < CLAUSES; i++) {
        if (program_clauses_of(kind) & 1u << i)
            g_string_append_printf(text, "%s%s",
                                   text->len == 0      ? ""
                                   : i == CLAUSE_AFTER ? " or "
                                                       : ", ",
                                   program_clauses[i]);
    }
    return g_strdup(text->str);
}

/* The word is no clause, or none of this kind of op. */
static gboolean
fail_clause(ProgramReader *reader, const char *first, OpKind kind, const Word *word, gboolean clause, GError **error)
{
    g_autofree char *known = list_clauses(kind);
    if (!clause)
        return token_expected(reader->line, word, known, program_clauses, CLAUSES, error);
    return token_fail(reader->line, word, error, "%s takes no \"%s\"; expected %s", first, word->text, known);
}

static gboolean
read_clauses(ProgramReader *reader, const char *first, Op *op, GArray *deps, uint32_t *given, GError **error)
{
    const Word *word;
    while ((word = token_peek(reader->line)) != NULL) {
        uint32_t clause;
        gboolean known = is_clause(word, &clause);
        if (!known || !(program_clauses_of(op->kind) & 1u << clause))
            return fail_clause(reader, first, op->kind, word, known, error);
        if (*given & 1u << clause)
            return token_fail(reader->line, word, error, "\"%s\" is given twice", word->text);
        *given |= 1u << clause;
        reader->line->at++;
        if (!read_clause(reader, clause, op, deps, error))
            return FALSE;
    }
    return TRUE;
}

/* Every split has a member, and bytes is their sum. */
static gboolean
check_splits(ProgramReader *reader, Op *op, gboolean bytes_given, GError **error)
{
    uint32_t n = reader->workload->splits->len - op->splits, members = 0;
    if (op->collective != COLLECTIVE_ALL_TO_ALL)
        return token_fail(reader->line, NULL, error, "only all_to_all takes splits");
    if (reader->rank != INDEX_NONE && op->group != INDEX_NONE)
        workload_members(reader->workload, op->group, reader->rank, &members);
    if (members != 0 && n != members)
        return token_fail(reader->line, NULL, error, "%u splits are given; the group has %u members", n, members);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t part = g_array_index(reader->workload->splits, uint64_t, op->splits + i);
        if (part > UINT64_MAX - sum)
            return token_fail(reader->line, NULL, error, "the splits sum to more than 2^64 - 1 bytes");
        sum += part;
    }
    if (!bytes_given)
        op->bytes = sum;
    return op->bytes == sum ||
           token_fail(reader->line, NULL, error,
                      "bytes is %" G_GUINT64_FORMAT ", but the splits sum to %" G_GUINT64_FORMAT, op->bytes, sum);
}

/* What an op of this kind cannot be without. */
static gboolean
check_complete(ProgramReader *reader, const char *first, Op *op, uint32_t given, GError **error)
{
    const Program *program = workload_program(reader->workload, reader->role);
    const char *missing = NULL;
    if (op->kind == OP_COMPUTE && !(given & (1u << CLAUSE_TIME | 1u << CLAUSE_FLOPS | 1u << CLAUSE_BYTES)))
        missing = "time, flops or bytes";
    else if (op->kind == OP_COLLECTIVE && !(given & 1u << CLAUSE_GROUP))
        missing = "group";
    else if (op->kind == OP_COLLECTIVE && op->collective != COLLECTIVE_BARRIER &&
             !(given & (1u << CLAUSE_BYTES | 1u << CLAUSE_SPLITS)))
        missing = "bytes";
    else if (op->kind == OP_SEND && !(given & 1u << CLAUSE_TO))
        missing = "to";
    else if (op->kind == OP_RECV && !(given & 1u << CLAUSE_FROM))
        missing = "from";
    else if (((op->kind == OP_SEND && !op->signal) || op->kind == OP_ALLOC || op->kind == OP_FREE) &&
             !(given & 1u << CLAUSE_BYTES))
        missing = "bytes";
    else if (op->kind == OP_COPY && !(given & (1u << CLAUSE_TIME | 1u << CLAUSE_BYTES)))
        missing = "time or bytes";
    if (missing != NULL)
        return token_fail(reader->line, NULL, error, "%s needs %s", first, missing);
    if (op->signal && given & (1u << CLAUSE_BYTES | 1u << CLAUSE_TIME))
        return token_fail(reader->line, NULL, error, "a signal has neither bytes nor a time");
    if (given & 1u << CLAUSE_BEGUN && !program->dag)
        return token_fail(reader->line, NULL, error, "only ops of the DAG form wait for others to have begun");
    if (op->stream == INDEX_NONE && !program->dag)
        return token_fail(reader->line, NULL, error,
                          "the op stands on no stream; write \"on STREAM\" or a line \"stream NAME\" before it");
    return op->splits == INDEX_NONE || check_splits(reader, op, given & 1u << CLAUSE_BYTES, error);
}

/* deps are to be filled in: references, those from `from` on. name is kept by the reader. */
static void
add_op(ProgramReader *reader, Op op, char *name, const GArray *deps, uint32_t from)
{
    Program *program = workload_program(reader->workload, reader->role);
    for (uint32_t i = 0; i < deps->len; i++)
        op.n_begun += g_array_index(deps, uint32_t, i) == CLAUSE_BEGUN;
    uint32_t next_after = program->deps->len, next_begun = next_after + deps->len - op.n_begun;
    for (uint32_t i = 0; i < deps->len; i++)
        g_array_index(reader->references, Reference, from + i).dep =
            g_array_index(deps, uint32_t, i) == CLAUSE_BEGUN ? next_begun++ : next_after++;
    uint32_t index = program_add_op(program, op, name, (const uint32_t *)(const void *)deps->data, deps->len);
    gboolean repeated = g_hash_table_contains(reader->ops, name);
    g_hash_table_insert(reader->ops, name, GUINT_TO_POINTER(repeated ? 0 : index + 1));
}

void
program_pass_over_op(ProgramReader *reader)
{
    const Word *word = token_peek(reader->line);
    g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    add_op(reader, op_default(OP_MARKER), g_strdup(word != NULL ? word->text : ""), none, reader->references->len);
}

gboolean
program_read_op(ProgramReader *reader, const Word *first, GError **error)
{
    Op op = op_default(OP_MARKER);
    gboolean known = program_op_word(first->text, &op.kind, &op.collective);
    assert(known);
    (void)known;
    op.stream = reader->stream;

    uint32_t clause, given = 0, from = reader->references->len;
    const Word *word = token_peek(reader->line);
    g_autofree char *kind = g_strdup(first->text), *name = g_strdup(kind);
    if (word != NULL && !is_clause(word, &clause)) {
        g_free(name);
        name = g_strdup(word->text);
        reader->line->at++;
    }
    g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    gboolean good =
        read_clauses(reader, kind, &op, deps, &given, error) && check_complete(reader, kind, &op, given, error);
    if (!good) { /* counts as a marker */
        op = op_default(OP_MARKER);
        g_array_set_size(deps, 0);
        g_array_set_size(reader->references, from);
    }
    add_op(reader, op, g_steal_pointer(&name), deps, from);
    return good;
}
