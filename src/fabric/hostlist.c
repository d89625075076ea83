#include "fabric/hostlist.h"

#include "base/error.h"

#include <string.h>

enum { MOST_DIGITS = 18 };

/* A range of a bracket: first to last, written with so many digits. */
typedef struct {
    guint64 first, last;
    int width;
} Range;

/* "01-04" or "7" at *at; moves *at behind it. */
static gboolean
read_range(const char **at, Range *range)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS)
        return FALSE;
    range->first = range->last = g_ascii_strtoull(*at, NULL, 10);
    range->width = (int)digits;
    *at += digits;
    if (**at != '-')
        return TRUE;
    *at += 1;
    digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS)
        return FALSE;
    range->last = g_ascii_strtoull(*at, NULL, 10);
    *at += digits;
    return range->last >= range->first;
}

/* The ranges of "[01-04,07]"; *at is behind the bracket on return. */
static GArray *
read_bracket(const char **at)
{
    g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(Range));
    do {
        *at += 1; /* the bracket, or a comma */
        Range range;
        if (!read_range(at, &range))
            return NULL;
        g_array_append_val(ranges, range);
    } while (**at == ',');
    if (**at != ']')
        return NULL;
    *at += 1;
    return g_steal_pointer(&ranges);
}

/* Every name in stems with every number of ranges behind it; NULL where that is more than most. */
static GPtrArray *
multiply(const GPtrArray *stems, const GArray *ranges, guint most)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint s = 0; s < stems->len; s++)
        for (guint r = 0; r < ranges->len; r++) {
            const Range *range = &g_array_index(ranges, Range, r);
            for (guint64 i = range->first; i <= range->last; i++) {
                if (names->len == most)
                    return NULL;
                g_ptr_array_add(
                    names, g_strdup_printf("%s%0*" G_GUINT64_FORMAT, (const char *)stems->pdata[s], range->width, i));
            }
        }
    return g_steal_pointer(&names);
}

/* One entry, up to the next comma outside brackets. */
static gboolean
expand_entry(const char **at, const char *text, guint most, GPtrArray *names, GError **error)
{
    g_autoptr(GPtrArray) stems = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(stems, g_strdup(""));
    while (**at != '\0' && **at != ',') {
        g_autoptr(GPtrArray) longer = NULL;
        if (**at == '[') {
            g_autoptr(GArray) ranges = read_bracket(at);
            if (ranges == NULL)
                return error_input(error, "found \"%s\", expected numbers and ranges like [1-4,7] in brackets", text);
            longer = multiply(stems, ranges, most);
            if (longer == NULL)
                return error_input(error, "\"%s\" stands for more than %u names", text, most);
        } else {
            size_t length = strcspn(*at, "[,");
            longer = g_ptr_array_new_with_free_func(g_free);
            for (guint s = 0; s < stems->len; s++)
                g_ptr_array_add(longer, g_strdup_printf("%s%.*s", (const char *)stems->pdata[s], (int)length, *at));
            *at += length;
        }
        g_ptr_array_unref(stems);
        stems = g_steal_pointer(&longer);
    }
    if (names->len + stems->len > most)
        return error_input(error, "\"%s\" stands for more than %u names", text, most);
    for (guint s = 0; s < stems->len; s++) {
        if (*(const char *)stems->pdata[s] == '\0')
            return error_input(error, "found \"%s\", which has an empty name", text);
        g_ptr_array_add(names, g_strdup(stems->pdata[s]));
    }
    return TRUE;
}

gboolean
hostlist_expand(const char *text, guint most, GPtrArray *names, GError **error)
{
    const char *at = text;
    for (;;) {
        if (!expand_entry(&at, text, most, names, error))
            return FALSE;
        if (*at == '\0')
            return TRUE;
        at++;
    }
}

/* The length of a name without the digits at its end (at most 18 of them). */
static size_t
stem_of(const char *name)
{
    size_t length = strlen(name), digits = 0;
    while (digits < length && digits < MOST_DIGITS && g_ascii_isdigit(name[length - digits - 1]))
        digits++;
    return length - digits;
}

/* May b stand one after a in a range: the same stem, one number higher, digits that print alike? */
static gboolean
follows(const char *a, const char *b)
{
    size_t stem = stem_of(a);
    if (stem != stem_of(b) || strncmp(a, b, stem) != 0 || a[stem] == '\0' || b[stem] == '\0')
        return FALSE;
    size_t width = strlen(a) - stem, other = strlen(b) - stem;
    gboolean padded = a[stem] == '0' && width > 1;
    return g_ascii_strtoull(b + stem, NULL, 10) == g_ascii_strtoull(a + stem, NULL, 10) + 1 &&
           (width == other || (!padded && b[stem] != '0'));
}

char *
hostlist_compress(const GPtrArray *names)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len;) {
        guint last = i;
        while (last + 1 < names->len && follows(names->pdata[last], names->pdata[last + 1]))
            last++;
        const char *from = names->pdata[i], *to = names->pdata[last];
        size_t stem = stem_of(from);
        if (text->len > 0)
            g_string_append_c(text, ',');
        if (last == i)
            g_string_append(text, from);
        else
            g_string_append_printf(text, "%.*s[%s-%s]", (int)stem, from, from + stem, to + stem);
        i = last + 1;
    }
    return g_string_free(text, FALSE);
}
