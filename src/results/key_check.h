/* key_check.h - do the references of one run's rows hold?
 *
 * As PRAGMA foreign_key_check, for one run: the pragma reads every run of the file, which would make a study of many
 * runs quadratic. */
#pragma once

#include "results/database.h"

/* FALSE with a RUN error that names table, columns and values of the first row that refers to nothing. */
gboolean key_check(ResultsDb *db, int64_t run_id, GError **error);
