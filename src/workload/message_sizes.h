/* message_sizes.h - bytes of communication calls from a file beside a trace that does not hold them
 *
 * A CSV file with the line "call,bytes" first, then a call a line: "all_to_all" for all calls of that name,
 * "all_to_all#3" for the third of a rank alone, counted from 1; bytes are S of DEFINITIONS 4, "16777216" or "16 MiB".
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct MessageSizes MessageSizes;

/* NULL with an INPUT error that names file and line. */
MessageSizes *message_sizes_read(const char *path, GError **error);
void message_sizes_free(MessageSizes *sizes); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MessageSizes, message_sizes_free)

/* Of the number-th call (from 1) of this name: its own line, or that of all. FALSE where there is neither. */
gboolean message_sizes_find(MessageSizes *sizes, const char *call, uint32_t number, uint64_t *bytes);
/* How many lines no call has asked for yet. */
guint message_sizes_unused(const MessageSizes *sizes);
