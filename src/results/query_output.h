/* query_output.h - the rows of a statement as an aligned table, CSV (RFC 4180, LF) or a JSON list of objects */
#pragma once

#include "results/database.h"
#include "results/query.h"

/* Steps through the statement. Null is empty in a table and in CSV. A table of one column shows its texts as they are.
 */
gboolean query_output(ResultsDb *db, sqlite3_stmt *statement, QueryForm form, FILE *out, GError **error);
