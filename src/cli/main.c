/* main.c - picks the command, prints the error, gives the exit status */
#include "config.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* The table: one line a command. */
static const Command *const commands[] = {
    &command_collective, &command_import, &command_jobs, &command_measured, &command_run, &command_topology,
    &command_trace,      &command_query,  NULL,
};

static void
usage(FILE *out)
{
    fprintf(out,
            "usage: trainshed COMMAND ...\n\nA simulator of the networks and clusters that train large models.\n\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->help);
    fprintf(out, "\n'trainshed COMMAND --help' tells more; 'trainshed --version' the version.\n");
}

static gboolean
dispatch(int argc, char **argv, GError **error)
{
    const char *names[G_N_ELEMENTS(commands)];
    size_t n = 0;
    for (; commands[n] != NULL; n++) {
        names[n] = commands[n]->name;
        if (strcmp(argv[1], names[n]) == 0)
            return commands[n]->run(argc - 1, argv + 1, error);
    }
    g_autofree char *hint = suggest_hint(argv[1], names, n);
    return error_input(error, "there is no command \"%s\"%s; see 'trainshed --help'", argv[1], hint);
}

int
main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        usage(stderr);
        return TRAINSHED_ERROR_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("trainshed %s\n", PACKAGE_VERSION);
        return 0;
    }
    g_autoptr(GError) error = NULL;
    if (dispatch(argc, argv, &error))
        return 0;
    if (error == NULL)
        return TRAINSHED_ERROR_RUN;
    fprintf(stderr, "trainshed: %s\n", error->message);
    return error->domain == TRAINSHED_ERROR ? error->code : TRAINSHED_ERROR_INPUT;
}
