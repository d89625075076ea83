/* suggest.h - the nearest known word to a mistyped one */
#pragma once

#include <stddef.h>

/* The word of words[0..n) with the least edit distance to text (ties: the first), or NULL where the
 * least is more than a third of the length of text plus one. Borrowed from words. */
const char *suggest_nearest(const char *text, const char *const *words, size_t n_words);

/* "; did you mean \"WORD\"" of the nearest, or "". The caller frees it. */
char *suggest_hint(const char *text, const char *const *words, size_t n_words);
