#include "base/xml_head.h"

#include "base/input.h"

#include <string.h>

/* The text after an XML declaration, comment or document type, or NULL where at begins with none. */
static const char *
after_prolog(const char *at)
{
    gboolean comment = g_str_has_prefix(at, "<!--");
    if (!comment && !g_str_has_prefix(at, "<?") && !g_str_has_prefix(at, "<!"))
        return NULL;
    const char *end = strstr(at, comment ? "-->" : ">");
    return end != NULL ? end + (comment ? 3 : 1) : NULL;
}

gboolean
xml_head_is(const char *head, size_t length, const char *element)
{
    const char *at = head + input_bom(head, length);
    at += strspn(at, " \t\r\n");
    for (const char *next; (next = after_prolog(at)) != NULL;)
        at = next + strspn(next, " \t\r\n");
    if (*at != '<')
        return FALSE;
    at++;
    size_t n = strcspn(at, " \t\r\n/>");
    const char *colon = memchr(at, ':', n);
    if (colon != NULL) {
        n -= (size_t)(colon + 1 - at);
        at = colon + 1;
    }
    return n == strlen(element) && strncmp(at, element, n) == 0;
}
