/* fuzz.h - what every fuzz target shares: the input as a file
 *
 * A target reads it with the reader under test, frees what came, and looks that a failure has an error of
 * this program's domain. */
#pragma once

#include "base/error.h"

#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path at which data can be opened, any number of times, until the next call. It lies in memory. */
static inline const char *
fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd >= 0)
        close(fd);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* A reader gives a result or an INPUT error, never both or neither. Frees the error. */
static inline void
fuzz_check(gboolean good, GError *error)
{
    if (good != (error == NULL))
        abort();
    if (error != NULL && (error->domain != TRAINSHED_ERROR || error->code != TRAINSHED_ERROR_INPUT))
        abort();
    g_clear_error(&error);
}
