#include "config.h"

#include "support.h"

#include "base/error.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int skip_fd = -1; /* tests run in children; they tell the parent through this file */

void
support_skip(const char *function, const char *reason)
{
    char line[512];
    int length = snprintf(line, sizeof line, "%s\t%s\n", function, reason);
    assert(length > 0 && (size_t)length < sizeof line && skip_fd >= 0);
    ssize_t written = write(skip_fd, line, (size_t)length);
    assert(written == length);
    (void)written;
}

static const char *
below(const char *variable, const char *fallback, const char *relative)
{
    const char *top = g_getenv(variable);
    g_autofree char *path = g_build_filename(top ? top : fallback, relative, NULL);
    return g_intern_string(path);
}

gboolean
support_at_length(void)
{
    return g_strcmp0(g_getenv("TRAINSHED_AT_LENGTH"), "yes") == 0;
}

const char *
support_shared(const char *relative)
{
    const char *path = below("SHARED", "../shared", relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *
support_source(const char *relative)
{
    return below("SRCDIR", ".", relative);
}

char *
support_save(const char *text)
{
    char *path = g_strdup("/tmp/trainshed-test-XXXXXX");
    close(mkstemp(path));
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    return path;
}

void
support_expect_error(GError **error, int code, const char *text)
{
    ck_assert_msg(*error != NULL, "no error, expected \"%s\"", text);
    ck_assert_msg((*error)->domain == TRAINSHED_ERROR, "foreign error domain: %s", (*error)->message);
    ck_assert_msg((*error)->code == code, "code %d, expected %d: %s", (*error)->code, code, (*error)->message);
    ck_assert_msg(strstr((*error)->message, text) != NULL, "\"%s\" is not in \"%s\"", text, (*error)->message);
    g_clear_error(error);
}

/* The reason a test of this TAP line was skipped, or NULL. Check's names of functions end in "_fn". */
static const char *
skip_reason(char **skips, const char *line)
{
    for (size_t i = 0; skips[i] != NULL; i++) {
        char *tab = strchr(skips[i], '\t');
        if (tab == NULL)
            continue;
        g_autofree char *name = g_strndup(skips[i], (size_t)(tab - skips[i]));
        if (g_str_has_suffix(name, "_fn"))
            name[strlen(name) - 3] = '\0';
        g_autofree char *needle = g_strdup_printf(":%s: ", name);
        if (strstr(line, needle) != NULL)
            return tab + 1;
    }
    return NULL;
}

int
support_main(Suite *suite)
{
    char tap_path[] = "/tmp/trainshed-tap-XXXXXX", skip_path[] = "/tmp/trainshed-skip-XXXXXX";
    int tap_fd = mkstemp(tap_path);
    skip_fd = mkostemp(skip_path, O_APPEND);
    assert(tap_fd >= 0 && skip_fd >= 0);
    g_unsetenv("CK_TAP_LOG_FILE_NAME");

    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, tap_path);
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);

    g_autofree char *tap = NULL, *skip = NULL;
    if (!g_file_get_contents(tap_path, &tap, NULL, NULL) || !g_file_get_contents(skip_path, &skip, NULL, NULL))
        abort();
    unlink(tap_path);
    unlink(skip_path);
    close(tap_fd);
    close(skip_fd);
    g_auto(GStrv) lines = g_strsplit(tap, "\n", -1), skips = g_strsplit(skip, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] == '\0')
            continue;
        const char *reason = g_str_has_prefix(lines[i], "ok ") ? skip_reason(skips, lines[i]) : NULL;
        if (reason != NULL)
            printf("%s # SKIP %s\n", lines[i], reason);
        else
            printf("%s\n", lines[i]);
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
