/* field_lines.h - plain text whose lines are fields split by blanks, as many tools write it
 *
 * Blanks are spaces and tabs, any number; "#" where a field begins starts a comment up to the end of the line; CR
 * before LF and a byte order mark are accepted. A file that is no UTF-8 text, or has other control characters, is
 * refused, so that fields may stand in messages. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    char **fields; /* of the present line, owned here until the next */
    uint32_t n_fields;
    size_t line;  /* number of the present line, from 1 */
    size_t lines; /* in the whole file */
    /* private */
    char *path, *text, *next;
    uint32_t room;
} FieldLines;

/* Reads the file, gzipped or not. NULL with an INPUT error. */
FieldLines *field_lines_read(const char *path, GError **error);
void field_lines_free(FieldLines *lines); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FieldLines, field_lines_free)

/* Moves to the next line that has a field; FALSE at the end. */
gboolean field_lines_next(FieldLines *lines);

/* "PATH:LINE: " and the message, of the present line (after the last: of the last). Returns FALSE. */
gboolean field_lines_fail(const FieldLines *lines, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The field as a whole number from least to most. A missing field, or anything else, is an error that says what it
 * stands for. */
gboolean field_lines_uint(const FieldLines *lines, uint32_t field, const char *what, uint64_t least, uint64_t most,
                          uint64_t *value, GError **error);
