/* support.h - what every unit test program shares: TAP output with skips, and the shared data */
#pragma once

#include <check.h>
#include <glib.h>

/* Runs the suite (forking), prints TAP with "# SKIP reason" for tests that skipped, frees it; the exit status. */
int support_main(Suite *suite);

/* Is this a run of make truth? Then tests that are short in make check take the time they need. */
gboolean support_at_length(void);

/* Marks the running test as skipped; the test then returns. */
void support_skip(const char *function, const char *reason);

/* The path of a file under $SHARED (default ../shared beside the source tree), or NULL where it is absent. Borrowed,
 * kept until exit. */
const char *support_shared(const char *relative);

/* The path of a file under the source tree's top ($SRCDIR). Borrowed, kept until exit. */
const char *support_source(const char *relative);

/* Declares `variable` as the path of a shared file; where absent the test is skipped. */
#define NEED_SHARED(variable, relative)                                                                                \
    const char *variable = support_shared(relative);                                                                   \
    if (variable == NULL) {                                                                                            \
        support_skip(__func__, "../shared is absent");                                                                 \
        return;                                                                                                        \
    }

/* A file of its own in /tmp that holds this text; the test unlinks it and frees the path. */
char *support_save(const char *text);

/* Asserts that call returned false/NULL with an error of this code whose message contains text; frees it. */
void support_expect_error(GError **error, int code, const char *text);
