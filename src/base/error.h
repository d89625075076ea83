/* error.h - the program's one error domain; main turns a code into the exit status
 *
 * A user's mistake is a GError of this domain. Programming errors assert(). */
#pragma once

#include <glib.h>

#define TRAINSHED_ERROR (trainshed_error_quark())
GQuark trainshed_error_quark(void);

/* The values are the exit statuses of DEFINITIONS 7. */
typedef enum {
    TRAINSHED_ERROR_RUN = 1,        /* the run failed: unfinished ranks, deadlock, lost bytes */
    TRAINSHED_ERROR_INPUT = 2,      /* wrong usage or input */
    TRAINSHED_ERROR_INTERRUPTED = 3 /* interrupted or out of time */
} TrainshedError;

/* g_set_error with the domain and code INPUT; a plain FALSE to return. */
gboolean error_input(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
