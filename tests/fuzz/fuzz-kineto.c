/* fuzz-kineto.c - any bytes as the files of a recorded job: a checked workload, or an error
 *
 * A line "%%" separates files. Those with "schema" are execution traces, the others Kineto files. */
#include "config.h"

#include "fuzz.h"
#include "workload/kineto.h"
#include "workload/trace_format.h"

#include <string.h>

enum { FILES = 4 };

typedef struct {
    char paths[FILES][64];
    char *list[FILES + 1];
    int fds[FILES];
    uint32_t n;
} Files;

static void
add_file(Files *files, const char *text, size_t length)
{
    if (files->n == FILES)
        return;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        abort();
    files->fds[files->n] = fd;
    snprintf(files->paths[files->n], sizeof files->paths[0], "/proc/self/fd/%d", fd);
    files->list[files->n] = files->paths[files->n];
    files->n++;
}

static void
close_files(Files *files)
{
    for (uint32_t i = 0; i < files->n; i++)
        close(files->fds[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char separator[] = "\n%%\n";
    const char *at = (const char *)data, *end = at + size;
    Files kineto = {.n = 0}, execution = {.n = 0};
    while (at != NULL) {
        const char *next = memmem(at, (size_t)(end - at), separator, 4);
        size_t length = (size_t)((next != NULL ? next : end) - at);
        add_file(memmem(at, length, "\"schema\"", 8) != NULL ? &execution : &kineto, at, length);
        at = next != NULL ? next + 4 : NULL;
    }
    if (kineto.n > 0) {
        GError *error = NULL;
        g_autoptr(KinetoSurvey) survey = kineto_survey(kineto.list[0], &error);
        fuzz_check(survey != NULL, error);

        error = NULL;
        TraceSource source = {.files = kineto.list,
                              .n_files = kineto.n,
                              .execution_files = execution.n > 0 ? execution.list : NULL,
                              .n_execution_files = execution.n};
        g_autoptr(Workload) workload = trace_kineto.read(&source, &error);
        fuzz_check(workload != NULL, error);
    }
    close_files(&kineto);
    close_files(&execution);
    return 0;
}
