#include "base/error.h"

#include <stdarg.h>

/* clang-format off */
G_DEFINE_QUARK(trainshed-error, trainshed_error)
/* clang-format on */

gboolean
error_input(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT, message);
    return FALSE;
}
