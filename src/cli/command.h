/* command.h - the table of commands: one file a command
 *
 * run() gets argc and argv from the command's own name on; TRUE = done; FALSE with an error whose code is the
 * exit status. Only main prints errors. */
#pragma once

#include <glib.h>

typedef struct {
    const char *name, *help;
    gboolean (*run)(int argc, char **argv, GError **error);
} Command;

extern const Command command_run, command_topology, command_trace, command_collective, command_query, command_import,
    command_jobs, command_measured;

/* Parses options; GOption's errors become INPUT errors. --help prints and exits 0. */
gboolean command_parse(GOptionContext *context, int *argc, char ***argv, GError **error);
