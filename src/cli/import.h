/* import.h - 'trainshed import': foreign set-ups become scenarios, one importer a file
 *
 * An importer's run() gets argc and argv from its own name on, as a Command does. */
#pragma once

#include <glib.h>

gboolean import_astra(int argc, char **argv, GError **error);
gboolean import_simai(int argc, char **argv, GError **error);
gboolean import_goal(int argc, char **argv, GError **error);
gboolean import_htsim(int argc, char **argv, GError **error);

/* Path as a scenario at output names it: the base name where both lie in one folder, else the whole path; as a quoted
 * YAML text. glob: characters that a pattern would read are escaped. The caller frees it; NULL with an INPUT error
 * where the name is no UTF-8. */
char *import_path(const char *path, const char *output, gboolean glob, GError **error);
/* A text in YAML's double quotes. The caller frees it. */
char *import_quote(const char *text);
