/* goal_text.c - GOAL in text: a statement a line, labels that hold within their rank's block */
#include "workload/goal.h"

#include "base/error.h"
#include "base/input.h"

#include <string.h>

enum { MOST_WORDS = 12, RANKS_MOST = 1 << 24, PROBLEMS = 1000 };

typedef struct {
    const char *path;
    char *next; /* the text that is left; lines are cut off it */
    size_t length;
    size_t line;
    char *words[MOST_WORDS + 1];
    uint32_t n_words;
    gboolean comment; /* inside one of several lines */
    GoalSchedule *schedule;
    int64_t rank; /* whose block is open; -1 */
    uint32_t ranks_seen;
    GHashTable *labels; /* of the open block: name (in the text) to op + 1 */
    GError **error;
} Reader;

GoalSchedule *
goal_new(uint32_t n_ranks)
{
    GoalSchedule *schedule = g_new0(GoalSchedule, 1);
    schedule->n_ranks = n_ranks;
    schedule->ops = g_new0(GArray *, (gsize)n_ranks + 1);
    schedule->edges = g_new0(GArray *, (gsize)n_ranks + 1);
    for (uint32_t r = 0; r < n_ranks; r++) {
        schedule->ops[r] = g_array_new(FALSE, FALSE, sizeof(GoalOp));
        schedule->edges[r] = g_array_new(FALSE, FALSE, sizeof(GoalEdge));
    }
    return schedule;
}

void
goal_free(GoalSchedule *schedule)
{
    if (schedule == NULL)
        return;
    for (uint32_t r = 0; r < schedule->n_ranks; r++) {
        g_array_unref(schedule->ops[r]);
        g_array_unref(schedule->edges[r]);
    }
    g_free(schedule->ops);
    g_free(schedule->edges);
    g_free(schedule);
}

static gboolean G_GNUC_PRINTF(2, 3) fail(const Reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(reader->error, "%s:%zu: %s", reader->path, reader->line, message);
}

/* Blanks out comments; one that stays open goes on in the next line. */
static void
strip_comments(Reader *reader, char *line)
{
    if (!reader->comment && strchr(line, '/') == NULL)
        return;
    for (char *at = line; *at != '\0';) {
        if (reader->comment) {
            gboolean ends = at[0] == '*' && at[1] == '/';
            reader->comment = !ends;
            *at++ = ' ';
            if (ends)
                *at++ = ' ';
        } else if (at[0] == '/' && at[1] == '/') {
            *at = '\0';
        } else if (at[0] == '/' && at[1] == '*') {
            reader->comment = TRUE;
            *at++ = ' ';
            *at++ = ' ';
        } else {
            at++;
        }
    }
}

static gboolean
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static char *
skip_blanks(char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* The next line as words. A brace is a word of its own; the colon stays with its label. FALSE at the end. */
static gboolean
next_line(Reader *reader)
{
    if (*reader->next == '\0')
        return FALSE;
    char *line = reader->next, *feed = strchr(line, '\n');
    reader->next = feed != NULL ? feed + 1 : line + strlen(line);
    if (feed != NULL)
        *feed = '\0';
    reader->line++;
    reader->n_words = 0;
    strip_comments(reader, line);
    for (char *at = skip_blanks(line); *at != '\0'; at = skip_blanks(at)) {
        if (reader->n_words > MOST_WORDS - 1)
            break; /* more than any statement has: refused there */
        char *word = at;
        while (*at != '\0' && !is_blank(*at))
            at++;
        if (*at != '\0')
            *at++ = '\0';
        reader->words[reader->n_words++] = word;
    }
    reader->words[reader->n_words] = NULL;
    return TRUE;
}

static const char *
word(const Reader *reader, uint32_t at)
{
    return at < reader->n_words ? reader->words[at] : "the end of the line";
}

static gboolean
parse_uint(const Reader *reader, const char *text, const char *what, uint64_t most, uint64_t *value)
{
    uint64_t sum = 0;
    const char *at = text;
    for (; g_ascii_isdigit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > most || sum > (most - digit) / 10)
            return fail(reader, "%s \"%s\" is more than %" G_GUINT64_FORMAT, what, text, most);
        sum = 10 * sum + digit;
    }
    if (at == text || *at != '\0')
        return fail(reader, "%s is \"%s\"; a whole number is expected", what, text);
    *value = sum;
    return TRUE;
}

static gboolean
parse_or_any(const Reader *reader, const char *text, const char *what, uint64_t most, uint64_t *value)
{
    if (strcmp(text, "-1") != 0)
        return parse_uint(reader, text, what, most, value);
    *value = GOAL_ANY;
    return TRUE;
}

static gboolean
expect(const Reader *reader, uint32_t at, const char *expected)
{
    if (at < reader->n_words && strcmp(reader->words[at], expected) == 0)
        return TRUE;
    return fail(reader, "\"%s\" found; \"%s\" expected", word(reader, at), expected);
}

/* "tag T", "cpu C", "nic N", in this order; calc takes only cpu. */
static gboolean
parse_suffixes(const Reader *reader, uint32_t at, GoalOp *op)
{
    static const char *const names[] = {"tag", "cpu", "nic"};
    uint32_t from = op->kind == GOAL_CALC ? 1 : 0, to = op->kind == GOAL_CALC ? 2 : 3;
    for (; at < reader->n_words; at += 2) {
        uint32_t k = from;
        while (k < to && strcmp(reader->words[at], names[k]) != 0)
            k++;
        if (k == to)
            return fail(reader, "\"%s\" found; %s expected", reader->words[at],
                        op->kind == GOAL_CALC ? "cpu or the end of the line"
                                              : "tag, cpu, nic (in this order) or the end of the line");
        uint64_t value;
        if (k == 0 ? !parse_or_any(reader, word(reader, at + 1), "tag", GOAL_ANY - 1, &op->tag)
                   : !parse_uint(reader, word(reader, at + 1), names[k], 255, &value))
            return FALSE;
        if (k == 1)
            op->cpu = (uint32_t)value;
        if (k == 2)
            op->nic = (uint32_t)value;
        from = k + 1;
    }
    return TRUE;
}

/* "8b to 1" or "8 b to 1". */
static gboolean
parse_message(const Reader *reader, uint32_t at, GoalOp *op)
{
    if (at >= reader->n_words)
        return fail(reader, "a size such as 8b is expected after %s", op->kind == GOAL_SEND ? "send" : "recv");
    char *size = reader->words[at++];
    size_t n = strlen(size);
    if (n > 1 && size[n - 1] == 'b')
        size[n - 1] = '\0';
    else if (!expect(reader, at++, "b"))
        return FALSE;
    if (!parse_uint(reader, size, "size", (UINT64_C(1) << 55) - 1, &op->size) ||
        !expect(reader, at++, op->kind == GOAL_SEND ? "to" : "from"))
        return FALSE;
    uint64_t most = reader->schedule->n_ranks - 1;
    const char *peer = word(reader, at);
    if (op->kind == GOAL_RECV ? !parse_or_any(reader, peer, "rank", most, &op->peer)
                              : !parse_uint(reader, peer, "rank", most, &op->peer))
        return FALSE;
    return parse_suffixes(reader, at + 1, op);
}

static gboolean
parse_verb(const Reader *reader, uint32_t at, GoalOp *op)
{
    const char *verb = word(reader, at++);
    if (strcmp(verb, "calc") == 0) {
        op->kind = GOAL_CALC;
        return parse_uint(reader, word(reader, at), "time", INT64_MAX / 1000, &op->size) &&
               parse_suffixes(reader, at + 1, op);
    }
    if (strcmp(verb, "send") == 0 || strcmp(verb, "recv") == 0) {
        op->kind = verb[0] == 's' ? GOAL_SEND : GOAL_RECV;
        return parse_message(reader, at, op);
    }
    return fail(reader, "\"%s\" found; send, recv, calc, \"LABEL requires LABEL\" or } expected", verb);
}

/* The label of an op that is wrong is known all the same: what names it is not wrong too. */
static gboolean
parse_op(Reader *reader, uint32_t at, const char *label)
{
    GoalOp op = {0};
    gboolean sound = parse_verb(reader, at, &op);
    GArray *ops = reader->schedule->ops[reader->rank];
    g_array_append_val(ops, op);
    if (label != NULL && !sound) {
        g_hash_table_insert(reader->labels, (char *)label, GUINT_TO_POINTER(ops->len));
        return FALSE;
    }
    if (!sound)
        return FALSE;
    if (label != NULL && !g_hash_table_insert(reader->labels, (char *)label, GUINT_TO_POINTER(ops->len)))
        return fail(reader, "label \"%s\" is defined twice in this rank", label);
    return TRUE;
}

static gboolean
parse_edge(Reader *reader)
{
    uint32_t ends[2];
    if (reader->n_words != 3)
        return fail(reader, "%s has one label after it; \"%s\" found", reader->words[1],
                    word(reader, reader->n_words < 3 ? 2 : 3));
    for (uint32_t i = 0; i < 2; i++) {
        void *op = g_hash_table_lookup(reader->labels, reader->words[2 * i]);
        if (op == NULL)
            return fail(reader, "label \"%s\" is not defined above in this rank", reader->words[2 * i]);
        ends[i] = GPOINTER_TO_UINT(op) - 1;
    }
    GoalEdge edge = {ends[0], ends[1], reader->words[1][0] == 'i'};
    g_array_append_val(reader->schedule->edges[reader->rank], edge);
    return TRUE;
}

/* "rank 3 {", the brace perhaps right after the number. */
static gboolean
open_block(Reader *reader)
{
    if (strcmp(reader->words[0], "rank") != 0)
        return fail(reader, "\"%s\" found; \"rank %u {\" expected", reader->words[0], reader->ranks_seen);
    char *number = reader->n_words > 1 ? reader->words[1] : NULL;
    size_t n = number != NULL ? strlen(number) : 0;
    gboolean braced = n > 1 && number[n - 1] == '{';
    if (braced)
        number[n - 1] = '\0';
    uint64_t rank;
    if (!parse_uint(reader, word(reader, 1), "rank", UINT32_MAX, &rank) || (!braced && !expect(reader, 2, "{")))
        return FALSE;
    if (rank != reader->ranks_seen)
        return fail(reader, "the block of rank %" G_GUINT64_FORMAT " found; that of rank %u expected", rank,
                    reader->ranks_seen);
    reader->rank = reader->ranks_seen++;
    g_hash_table_remove_all(reader->labels);
    return TRUE;
}

static gboolean
parse_line(Reader *reader)
{
    if (reader->rank < 0)
        return open_block(reader);
    char *first = reader->words[0];
    if (strcmp(first, "}") == 0) {
        reader->rank = -1;
        return TRUE;
    }
    if (reader->n_words > 1 &&
        (strcmp(reader->words[1], "requires") == 0 || strcmp(reader->words[1], "irequires") == 0))
        return parse_edge(reader);
    size_t n = strlen(first);
    if (n > 1 && first[n - 1] == ':') {
        first[n - 1] = '\0';
        return parse_op(reader, 1, first);
    }
    if (reader->n_words > 1 && strcmp(reader->words[1], ":") == 0)
        return parse_op(reader, 2, first);
    return parse_op(reader, 0, NULL);
}

static gboolean
parse_head(Reader *reader)
{
    while (next_line(reader)) {
        uint64_t ranks;
        if (reader->n_words == 0)
            continue;
        if (!expect(reader, 0, "num_ranks") || !parse_uint(reader, word(reader, 1), "num_ranks", RANKS_MOST, &ranks))
            return FALSE;
        if (ranks == 0)
            return fail(reader, "num_ranks is 0; at least 1 is expected");
        if (ranks > reader->length / 8) /* "rank 0 {" is the least of a block */
            return fail(reader, "num_ranks is %" G_GUINT64_FORMAT ", which a file of %zu bytes cannot hold", ranks,
                        reader->length);
        reader->schedule = goal_new((uint32_t)ranks);
        return TRUE;
    }
    return fail(reader, "the file ends; \"num_ranks N\" expected");
}

static gboolean
parse_blocks(Reader *reader, GPtrArray *problems)
{
    GError **error = reader->error, *wrong = NULL;
    gboolean sound = TRUE;
    reader->error = &wrong;
    while ((reader->rank >= 0 || reader->ranks_seen < reader->schedule->n_ranks) && next_line(reader)) {
        if (reader->n_words == 0 || parse_line(reader))
            continue;
        if (problems != NULL && problems->len < PROBLEMS)
            g_ptr_array_add(problems, g_strdup(wrong->message));
        if (sound)
            g_propagate_error(error, g_steal_pointer(&wrong));
        g_clear_error(&wrong);
        sound = FALSE;
        if (problems == NULL || problems->len >= PROBLEMS)
            return FALSE;
    }
    reader->error = error;
    if (!sound)
        return FALSE;
    if (reader->rank >= 0)
        return fail(reader, "the file ends within the block of rank %d; } expected", (int)reader->rank);
    if (reader->ranks_seen < reader->schedule->n_ranks)
        return fail(reader, "the file ends after %u of %u ranks", reader->ranks_seen, reader->schedule->n_ranks);
    return TRUE;
}

GoalSchedule *
goal_read(const char *path, GPtrArray *problems, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, (size_t)1 << 34, &length, error);
    if (text == NULL)
        return NULL;
    if (goal_is_binary(text, length))
        return goal_parse_binary(path, text, length, problems, error);
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text, nor a GOAL binary", path);
        return NULL;
    }
    g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);
    Reader reader = {.path = path,
                     .next = text + input_bom(text, length),
                     .length = length,
                     .rank = -1,
                     .labels = labels,
                     .error = error};
    gboolean read = parse_head(&reader) && parse_blocks(&reader, problems);
    if (!read)
        g_clear_pointer(&reader.schedule, goal_free);
    return reader.schedule;
}
