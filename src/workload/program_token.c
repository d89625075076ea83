/* program_token.c - words of the program text */
#include "workload/program_token.h"

#include "base/error.h"
#include "base/suggest.h"

#include <string.h>

static void
word_clear(void *data)
{
    Word *word = data;
    g_free(word->text);
}

TokenLine *
token_line_new(const char *path, const char *text, size_t length)
{
    TokenLine *line = g_new0(TokenLine, 1);
    line->path = path;
    line->next = text;
    line->end = text + length;
    line->words = g_array_new(FALSE, FALSE, sizeof(Word));
    g_array_set_clear_func(line->words, word_clear);
    return line;
}

void
token_line_free(TokenLine *line)
{
    if (line == NULL)
        return;
    g_array_unref(line->words);
    g_free(line);
}

gboolean
token_fail(const TokenLine *line, const Word *word, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(error, "%s:%u:%u: %s", line->path, line->number, word != NULL ? word->column : line->length + 1,
                       message);
}

gboolean
token_expected(const TokenLine *line, const Word *word, const char *what, const char *const *known, size_t n_known,
               GError **error)
{
    if (word == NULL)
        return token_fail(line, NULL, error, "expected %s, found the end of the line", what);
    const char *near = word->quoted ? NULL : suggest_nearest(word->text, known, n_known);
    return token_fail(line, word, error, "found \"%s\"; expected %s%s%s%s", word->text, what,
                      near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

static gboolean
is_bare(char c)
{
    return c != '\0' && c != ' ' && c != '\t' && c != '"' && c != ',' && c != '\\';
}

/* One escape after its backslash, appended to text. FALSE where it is none. */
static gboolean
take_escape(const char **at, const char *end, GString *text)
{
    static const char letters[] = "nrt\"\\", values[] = "\n\r\t\"\\";
    if (*at == end)
        return FALSE;
    const char *letter = strchr(letters, **at);
    if (**at != '\0' && letter != NULL) {
        g_string_append_c(text, values[letter - letters]);
        *at += 1;
        return TRUE;
    }
    if (**at != 'x' || end - *at < 3 || !g_ascii_isxdigit((*at)[1]) || !g_ascii_isxdigit((*at)[2]))
        return FALSE;
    int value = g_ascii_xdigit_value((*at)[1]) * 16 + g_ascii_xdigit_value((*at)[2]);
    if (value == 0)
        return FALSE;
    g_string_append_c(text, (char)value);
    *at += 3;
    return TRUE;
}

/* A quoted word; *at is behind its first quote, and behind its last afterwards. */
static gboolean
take_quoted(TokenLine *line, const char **at, const char *end, Word *word, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    while (*at < end && **at != '"') {
        if (**at != '\\') {
            g_string_append_c(text, **at);
            *at += 1;
            continue;
        }
        *at += 1;
        if (!take_escape(at, end, text))
            return token_fail(line, word, error,
                              "a quoted word holds an escape that is none of \\n \\r \\t \\\" \\\\ \\xHH");
    }
    if (*at == end)
        return token_fail(line, word, error, "a quoted word has no closing \"");
    *at += 1;
    word->text = g_strndup(text->str, text->len);
    return TRUE;
}

/* The words of one line, [at, end). */
static gboolean
take_words(TokenLine *line, const char *at, const char *end, GError **error)
{
    const char *counted = at; /* columns up to here were counted */
    uint32_t column = 1;
    while (at < end) {
        if (*at == ' ' || *at == '\t') {
            at++;
            continue;
        }
        if (*at == '#')
            break;
        column += (uint32_t)g_utf8_pointer_to_offset(counted, at);
        counted = at;
        Word word = {.column = column};
        if (*at == '"') {
            word.quoted = TRUE;
            at++;
            if (!take_quoted(line, &at, end, &word, error))
                return FALSE;
        } else if (*at == ',') {
            word.text = g_strdup(",");
            at++;
        } else {
            const char *from = at;
            while (at < end && is_bare(*at))
                at++;
            if (at == from)
                return token_fail(line, &word, error, "a backslash or a zero byte stands outside of a quoted word");
            word.text = g_strndup(from, (gsize)(at - from));
        }
        g_array_append_val(line->words, word);
    }
    return TRUE;
}

gboolean
token_line_next(TokenLine *line, gboolean *more, GError **error)
{
    g_array_set_size(line->words, 0);
    line->at = 0;
    while (line->next < line->end && line->words->len == 0) {
        const char *start = line->next;
        const char *feed = memchr(start, '\n', (size_t)(line->end - start));
        const char *end = feed != NULL ? feed : line->end;
        line->next = feed != NULL ? feed + 1 : line->end;
        line->number++;
        if (end > start && end[-1] == '\r')
            end--;
        const char *wrong;
        if (!g_utf8_validate(start, end - start, &wrong)) {
            Word place = {.column = (uint32_t)g_utf8_pointer_to_offset(start, wrong) + 1};
            return token_fail(line, &place, error, "byte 0x%02x is not UTF-8 text", (unsigned char)*wrong);
        }
        line->length = (uint32_t)g_utf8_pointer_to_offset(start, end);
        if (!take_words(line, start, end, error))
            return FALSE;
    }
    *more = line->words->len > 0;
    return TRUE;
}

const Word *
token_peek(const TokenLine *line)
{
    return line->at < line->words->len ? &g_array_index(line->words, Word, line->at) : NULL;
}

const Word *
token_take(TokenLine *line, const char *what, GError **error)
{
    const Word *word = token_peek(line);
    if (word == NULL) {
        token_expected(line, NULL, what, NULL, 0, error);
        return NULL;
    }
    line->at++;
    return word;
}

gboolean
token_is(const Word *word, const char *text)
{
    return word != NULL && !word->quoted && strcmp(word->text, text) == 0;
}

gboolean
token_accept(TokenLine *line, const char *text)
{
    if (!token_is(token_peek(line), text))
        return FALSE;
    line->at++;
    return TRUE;
}

static gboolean
writes_bare(const char *text, const char *const *reserved)
{
    static const char also[] = "_.:/-+=<>()[]*~@";
    if (text[0] == '\0' || text[0] == '@')
        return FALSE;
    for (const char *c = text; *c != '\0'; c++) {
        if (!g_ascii_isalnum(*c) && strchr(also, *c) == NULL)
            return FALSE;
    }
    for (; *reserved != NULL; reserved++) {
        if (strcmp(text, *reserved) == 0)
            return FALSE;
    }
    return TRUE;
}

void
token_write(GString *out, const char *text, const char *const *reserved)
{
    if (writes_bare(text, reserved)) {
        g_string_append(out, text);
        return;
    }
    gboolean utf8 = g_utf8_validate(text, -1, NULL);
    g_string_append_c(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            g_string_append_printf(out, "\\%c", byte);
        else if (byte == '\n')
            g_string_append(out, "\\n");
        else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !utf8))
            g_string_append_printf(out, "\\x%02x", byte);
        else
            g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
}
