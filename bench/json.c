/* json.c - how fast the JSON reader pulls tokens: one JSON line for the files given */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        gint64 start = g_get_monotonic_time();
        g_autoptr(GError) error = NULL;
        g_autoptr(JsonReader) json = json_open(argv[i], &error);
        uint64_t tokens = 0;
        JsonToken token = {JSON_NULL};
        while (json != NULL && token.kind != JSON_END && json_next(json, &token, &error))
            tokens++;
        if (error != NULL) {
            fprintf(stderr, "%s\n", error->message);
            return EXIT_FAILURE;
        }
        double wall_s = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("{\"bench\": \"json\", \"file\": \"%s\", \"tokens\": %" G_GUINT64_FORMAT
               ", \"MB_per_s\": %.4g, \"wall_s\": %.3f, \"peak_rss_MiB\": %.1f}\n",
               argv[i], tokens, (double)json_byte(json) / 1e6 / wall_s, wall_s, (double)usage.ru_maxrss / 1024);
    }
    return EXIT_SUCCESS;
}
