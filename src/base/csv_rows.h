/* csv_rows.h - a CSV file as rows of fields, each with the line it begins in (the one module that talks to libcsv)
 *
 * Fields in double quotes may hold commas and line ends; lines without a field are passed over; a byte order mark is
 * accepted. Memory does not grow with the file. */
#pragma once

#include <glib.h>

/* One row: fields (of char *, blanks around them as in the file) are taken away after the call. FALSE with an error
 * stops the reading. */
typedef gboolean (*CsvTake)(GPtrArray *fields, size_t line, void *owner, GError **error);

/* Hands every row of the file, gzipped or not, to take. FALSE with its error, or with an INPUT error "PATH:LINE: "
 * where the file cannot be read, has a quote out of place or ends inside one. */
gboolean csv_rows_read(const char *path, CsvTake take, void *owner, GError **error);
