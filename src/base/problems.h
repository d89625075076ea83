/* problems.h - for readers: the first thing wrong with an input stops, or all of them are collected
 *
 * A list of problems holds char *, each with its place; NULL as a list = stop at the first. */
#pragma once

#include <glib.h>

enum { PROBLEMS_MOST = 1000 };

/* Takes wrong: onto the list, TRUE, reading goes on; FALSE with it in *error where there is no list, or with another
 * error where the list is full. */
gboolean problems_go_on(GPtrArray *problems, GError *wrong, GError **error);
/* So many are on the list; 0 where there is none. */
guint problems_count(const GPtrArray *problems);
/* Does the error with which a reader ended say nothing that is not on the list, or only how many are on it? */
gboolean problems_say_all(const GPtrArray *problems, const GError *error);
/* FALSE, with an INPUT error that counts them, where there are more than before. */
gboolean problems_none_since(const GPtrArray *problems, guint before, const char *path, GError **error);
