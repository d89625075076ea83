#include "cli/command.h"

#include "base/error.h"

gboolean
command_parse(GOptionContext *context, int *argc, char ***argv, GError **error)
{
    g_autoptr(GError) wrong = NULL;
    if (g_option_context_parse(context, argc, argv, &wrong))
        return TRUE;
    return error_input(error, "%s; see --help", wrong->message);
}
