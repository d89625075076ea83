#include "base/suggest.h"

#include <glib.h>
#include <string.h>

/* Edit distance (Levenshtein 1966), one row of the table at a time. */
static size_t
distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    g_autofree size_t *row = g_new(size_t, n + 1);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = MIN(replaced, MIN(row[j], row[j + 1]) + 1);
        }
    }
    return row[n];
}

const char *
suggest_nearest(const char *text, const char *const *words, size_t n_words)
{
    size_t length = strlen(text), limit = length / 3 + 1;
    const char *nearest = NULL;
    size_t least = limit + 1;
    for (size_t i = 0; i < n_words; i++) {
        size_t other = strlen(words[i]);
        if (other > length + limit || length > other + limit)
            continue; /* the lengths alone are too far apart */
        size_t d = distance(text, words[i]);
        if (d < least) {
            least = d;
            nearest = words[i];
        }
    }
    return nearest;
}

char *
suggest_hint(const char *text, const char *const *words, size_t n_words)
{
    const char *near = suggest_nearest(text, words, n_words);
    return near != NULL ? g_strdup_printf("; did you mean \"%s\"", near) : g_strdup("");
}
