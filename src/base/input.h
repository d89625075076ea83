/* input.h - reading a file, gzipped or not, with its faults named
 *
 * Gzip is recognised by its first two bytes, whatever the name. A gzip stream that ends early, a missing,
 * unreadable or empty file, a directory: each is an INPUT error that names the path. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Input Input;

Input *input_open(const char *path, GError **error);
/* Text in memory, which is copied, as if it were a file of this name; never gzip. */
Input *input_open_text(const char *name, const char *text, size_t length);
void input_close(Input *input); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Input, input_close)

const char *input_path(const Input *input); /* owned by input */

/* Reads up to size bytes of the unpacked content into buffer; 0 at the end; -1 with an error. */
gssize input_read(Input *input, void *buffer, size_t size, GError **error);

/* The whole unpacked content, at most limit bytes (more is an error that says so). Zero-terminated
 * beyond *length. The caller frees it. NULL with an error. */
char *input_read_all(const char *path, size_t limit, size_t *length, GError **error);

/* Skips a UTF-8 byte order mark: the number of bytes it takes, 0 or 3. */
size_t input_bom(const char *text, size_t length);
