/* fuzz-program-text.c - any bytes as program text: a workload that reads back equal after it was written, or an error
 */
#include "config.h"

#include "fuzz.h"
#include "workload/program_text.h"

#include <string.h>

/* Writes the workload to path and gives back the text. */
static char *
written(const Workload *workload, const char *path)
{
    char *text;
    if (!program_text_write(workload, path, NULL) || !g_file_get_contents(path, &text, NULL, NULL))
        abort();
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(Workload) first = program_text_read(fuzz_file(data, size), &error);
    fuzz_check(first != NULL, error);
    if (first == NULL || first->n_ranks > 4096)
        return 0;
    g_autofree char *path = g_strdup_printf("%s/fuzz-program-text-%d", g_get_tmp_dir(), (int)getpid());
    g_autofree char *one = written(first, path);
    g_autoptr(Workload) second = program_text_read(path, NULL);
    if (second == NULL)
        abort();
    g_autofree char *two = written(second, path);
    unlink(path);
    if (strcmp(one, two) != 0)
        abort();
    return 0;
}
