#include "base/problems.h"

#include "base/error.h"

#include <string.h>

gboolean
problems_go_on(GPtrArray *problems, GError *wrong, GError **error)
{
    if (problems == NULL) {
        g_propagate_error(error, wrong);
        return FALSE;
    }
    g_ptr_array_add(problems, g_strdup(wrong->message));
    g_error_free(wrong);
    return problems->len < PROBLEMS_MOST ||
           error_input(error, "these are %d problems: no more are looked for", PROBLEMS_MOST);
}

guint
problems_count(const GPtrArray *problems)
{
    return problems != NULL ? problems->len : 0;
}

gboolean
problems_say_all(const GPtrArray *problems, const GError *error)
{
    for (guint i = 0; i < problems->len; i++)
        if (strcmp(problems->pdata[i], error->message) == 0)
            return TRUE;
    return problems->len > 0 &&
           (g_str_has_suffix(error->message, " problems") || g_str_has_suffix(error->message, " problem"));
}

gboolean
problems_none_since(const GPtrArray *problems, guint before, const char *path, GError **error)
{
    guint n = problems_count(problems) - before;
    return n == 0 || error_input(error, "%s: %u problem%s", path, n, n == 1 ? "" : "s");
}
