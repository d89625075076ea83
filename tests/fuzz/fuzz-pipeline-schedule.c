/* fuzz-pipeline-schedule.c - any bytes as a schedule of one's own: a checked schedule, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/pipeline_schedule.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t shapes[][3] = {{1, 1, 1}, {2, 1, 2}, {2, 2, 4}};
    const char *file = fuzz_file(data, size);
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
        GError *error = NULL;
        g_autoptr(PipelineSchedule) schedule =
            pipeline_schedule_read(file, shapes[i][0], shapes[i][1], shapes[i][2], &error);
        fuzz_check(schedule != NULL, error);
        for (uint32_t s = 0; schedule != NULL && s < schedule->stages; s++)
            pipeline_schedule_peak(schedule, s);
        if (schedule != NULL)
            pipeline_schedule_time(schedule, 1, 2, 3, NULL, NULL);
    }
    return 0;
}
