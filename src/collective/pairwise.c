/* pairwise.c - all-to-all in n - 1 phases: in phase p each member sends to the one p further and hears from the one p
 * before
 *
 * A member's next phase begins when its own send was sent and that to it was delivered. Phases without a message take
 * no time. */
#include "collective/algorithm.h"

static gboolean
plan_pairwise(const PlanRequest *request, Plan *plan, GError **error)
{
    const CollectiveSpec *spec = request->spec;
    Schedule *schedule = plan->schedule;
    uint32_t n = spec->n;
    g_autofree uint32_t *rows = g_new(uint32_t, (size_t)n * 2);
    uint32_t *own = rows, *now = rows + n; /* a member's node in the phase before, in this one */
    for (uint32_t p = 1; p < n; p++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t j = (i + p) % n;
            if (plan_all_to_all_sends(spec, i, j))
                now[i] = schedule_send(
                    schedule,
                    (ScheduleNode){.src = i, .dst = j, .phase = p - 1, .bytes = plan_all_to_all_bytes(spec, i, j)});
            else
                now[i] = schedule_join(schedule, i, 0, p - 1, 0);
            if (p == 1)
                continue;
            schedule_after_sent(schedule, now[i], own[i]);
            schedule_after_delivered(schedule, now[i], own[(i + n - (p - 1)) % n]);
        }
        uint32_t *swap = own;
        own = now;
        now = swap;
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_pairwise = {
    .name = "pairwise",
    .help = "all_to_all in n-1 phases, one partner each",
    .kinds = KIND_BIT(ALL_TO_ALL),
    .plan = plan_pairwise,
};
