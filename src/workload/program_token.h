/* program_token.h - the program text cut into lines and words, each with its place
 *
 * A word is bare, or quoted with escapes; a comma is a word of its own; a bare # begins a comment. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *text; /* unescaped; owned by the line */
    gboolean quoted;
    uint32_t column; /* from 1, in characters */
} Word;

/* The current line; its words are valid until the next one. */
typedef struct {
    const char *path;       /* borrowed */
    const char *next, *end; /* what was not read yet; borrowed */
    uint32_t number;        /* from 1 */
    GArray *words;          /* of Word */
    guint at;               /* the word to take next */
    uint32_t length;        /* in characters, for what is missing at the end */
} TokenLine;

TokenLine *token_line_new(const char *path, const char *text, size_t length);
void token_line_free(TokenLine *line); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TokenLine, token_line_free)

/* Moves to the next line that has words; *more is FALSE at the end. FALSE with an error for a quote that does not end,
 * a bad escape, or bytes that are not UTF-8. */
gboolean token_line_next(TokenLine *line, gboolean *more, GError **error);

/* The word to take next, or NULL at the end of the line. */
const Word *token_peek(const TokenLine *line);
/* Takes it; NULL with an error "expected WHAT, found the end of the line". */
const Word *token_take(TokenLine *line, const char *what, GError **error);
/* Takes it where it is the bare text. */
gboolean token_accept(TokenLine *line, const char *text);
gboolean token_is(const Word *word, const char *text); /* bare and equal; NULL is not */

/* "PATH:LINE:COLUMN: " and the message; word NULL = the end of the line. Returns FALSE. */
gboolean token_fail(const TokenLine *line, const Word *word, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* Fails with: found "word"; expected WHAT; did you mean "nearest"? */
gboolean token_expected(const TokenLine *line, const Word *word, const char *what, const char *const *known,
                        size_t n_known, GError **error);

/* Appends text as one word: bare where it can be and is none of reserved, else quoted. reserved is NULL-terminated. */
void token_write(GString *out, const char *text, const char *const *reserved);
