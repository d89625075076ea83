/* subcommand.h - a command that is a table of subcommands: its usage, and the choice of one */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct {
    const char *name, *arguments, *help;
    /* As of a Command, from the subcommand's own name on. */
    gboolean (*run)(int argc, char **argv, GError **error);
} Subcommand;

typedef struct {
    const char *command;     /* "topology" */
    const Subcommand *table; /* ended by a NULL name */
    void (*more)(FILE *out); /* what usage says further; NULL = nothing */
} SubcommandTable;

/* Runs the one that argv[1] names; --help prints the table. None, or an unknown one, is an INPUT error. */
gboolean subcommand_run(const SubcommandTable *table, int argc, char **argv, GError **error);
