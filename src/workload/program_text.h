/* program_text.h - the program text format, trainshed-program(5) */
#pragma once

#include "workload/program.h"

/* A checked workload, or NULL with an INPUT error "PATH:LINE: ...". */
Workload *program_text_read(const char *path, GError **error);
/* Writes any workload; reading it back gives an equal one. Temporary and rename. */
gboolean program_text_write(const Workload *workload, const char *path, GError **error);
