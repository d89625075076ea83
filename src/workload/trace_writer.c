/* trace_writer.c - the table of formats a workload is written in */
#include "workload/trace_writer.h"

#include "base/error.h"
#include "base/suggest.h"
#include "workload/program_text.h"

#include <string.h>

static gboolean
write_program(const Workload *workload, const char *path, GPtrArray *notes, GError **error)
{
    return program_text_write(workload, path, error);
}

const TraceWriter writer_program = {"program", "program text, trainshed-program(5)", write_program, FALSE};

/* The table: one line a format. */
/* clang-format off */
static const TraceWriter *const writers[] = {
    &writer_chakra,
    &writer_goal,
    &writer_program,
    NULL,
};
/* clang-format on */

const TraceWriter *const *
trace_writers(void)
{
    return writers;
}

const TraceWriter *
trace_writer_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(writers)] = {NULL};
    size_t n = 0;
    for (; writers[n] != NULL; n++) {
        names[n] = writers[n]->name;
        if (strcmp(name, names[n]) == 0)
            return writers[n];
    }
    g_autofree char *hint = suggest_hint(name, names, n);
    error_input(error, "traces are not written as \"%s\"%s; 'trainshed trace formats' lists what is", name, hint);
    return NULL;
}
