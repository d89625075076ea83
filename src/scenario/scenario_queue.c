#include "scenario/scenario_parts.h"

#include "base/error.h"

#include <stddef.h>

/* The names are those of the table of policies. */
static gboolean
read_policy(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    unsigned index;
    if (!field_name(reading, node, queue_policies(), &index, error))
        return FALSE;
    ((QueueSpec *)base)->policy = queue_policy_find(queue_policies()[index]);
    return TRUE;
}

static const Field queue_fields[] = {
    {"policy", read_policy},
    {"launch", field_time, offsetof(QueueSpec, launch_ps)},
    {"restart", field_time, offsetof(QueueSpec, restart_ps)},
    {"quantum", field_time, offsetof(QueueSpec, quantum_ps), 1},
    {NULL},
};

gboolean
scenario_read_queue(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error)
{
    scenario->queue = (QueueSpec){.policy = &queue_fifo};
    if (!fields_read(reading, node, queue_fields, &scenario->queue, error))
        return FALSE;
    const YamlNode *quantum = yaml_get(node, "quantum");
    gboolean falls = scenario->queue.policy->falls_at != NULL;
    if (quantum != NULL && !falls)
        return yaml_fail(reading->tree, quantum, error, "means nothing to policy %s", scenario->queue.policy->name);
    if (quantum == NULL && falls)
        return yaml_fail(reading->tree, node, error, "policy %s needs quantum, in time of one GPU",
                         scenario->queue.policy->name);
    return TRUE;
}

gboolean
scenario_check_queue(const Scenario *scenario, GError **error)
{
    const QueuePolicy *policy = scenario->queue.policy;
    for (uint32_t j = 0; policy != NULL && policy->needs_estimate && j < scenario->n_jobs; j++)
        if (scenario->jobs[j].estimate_ps == 0)
            return error_input(error, "%s:%zu:%zu: jobs[%u]: needs estimate, how long it runs: queue.policy is %s",
                               scenario->tree->file, scenario->jobs[j].line, scenario->jobs[j].column, j, policy->name);
    return TRUE;
}
