/* train.c - how long programs of described training jobs take to make: one JSON line a case
 *
 * Programs are one a stage: ops, and with them time and memory, should not grow with the ranks but for their groups. */
#include "workload/train_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static const struct {
    const char *model;
    uint32_t tp, pp, dp, ep, micro_batches;
    double skew;
} cases[] = {
    {"llama-3-405b", 8, 14, 64, 1, 16, 0},   {"llama-3-405b", 8, 14, 1024, 1, 16, 0},
    {"llama-3-405b", 8, 14, 8192, 1, 16, 0}, {"sc21-1t", 8, 64, 6, 1, 512, 0},
    {"mixtral-8x7b", 2, 4, 1024, 8, 16, 1},
};

int
main(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 start = g_get_monotonic_time();
        g_autoptr(GError) error = NULL;
        g_autoptr(ModelDescription) model = model_preset(cases[i].model, &error);
        Layout layout = layout_default();
        layout.tp = cases[i].tp;
        layout.pp = cases[i].pp;
        layout.dp = cases[i].dp;
        layout.ep = cases[i].ep;
        layout.zero = 1;
        layout.sequence_parallel = TRUE;
        model->transformer.skew = cases[i].skew;
        TrainSpec spec = train_spec_default(model, &layout);
        spec.global_batch = cases[i].micro_batches * layout.dp;
        spec.fused_attention = TRUE;
        g_autoptr(Workload) workload = train_program(&spec, &error);
        if (workload == NULL) {
            fprintf(stderr, "%s\n", error->message);
            return EXIT_FAILURE;
        }
        uint64_t ops = 0;
        for (guint p = 0; p < workload->programs->len; p++)
            ops += workload_program(workload, p)->ops->len;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("{\"bench\": \"train\", \"model\": \"%s\", \"ranks\": %u, \"programs\": %u, \"ops\": %" G_GUINT64_FORMAT
               ", \"wall_s\": %.3f, \"peak_rss_MiB\": %.1f}\n",
               cases[i].model, workload->n_ranks, workload->programs->len, ops,
               (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC, (double)usage.ru_maxrss / 1024);
    }
    return EXIT_SUCCESS;
}
