#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

void
fault_spec_clear(FaultSpec *fault)
{
    g_free(fault->from);
    g_free(fault->to);
}

static const Field fault_fields[] = {
    {"at", field_time, offsetof(FaultSpec, at_ps)},
    {"from", field_text, offsetof(FaultSpec, from)},
    {"to", field_text, offsetof(FaultSpec, to)},
    {"cable", field_count, offsetof(FaultSpec, cable), 0, UINT32_MAX - 1},
    {"both", field_flag, offsetof(FaultSpec, both)},
    {"rate", field_rate, offsetof(FaultSpec, rate_Bps)},
    {NULL},
};

static gboolean
read_fault(const Reading *reading, const YamlNode *map, FaultSpec *fault, GError **error)
{
    static const char *const needed[] = {"at", "from", "to", "rate"};
    *fault = (FaultSpec){.both = TRUE, .line = map->line, .column = map->column};
    if (!fields_read(reading, map, fault_fields, fault, error))
        return FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
        if (yaml_get(map, needed[i]) == NULL)
            return yaml_fail(reading->tree, map, error, "needs %s", needed[i]);
    if (strcmp(fault->from, fault->to) == 0)
        return yaml_fail(reading->tree, yaml_get(map, "to"), error, "from and to are the same node");
    return TRUE;
}

gboolean
scenario_read_faults(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error)
{
    if (!field_is_list(reading, node, error))
        return FALSE;
    scenario->faults = g_new0(FaultSpec, node->values->len + 1);
    for (guint i = 0; i < node->values->len; i++) {
        scenario->n_faults++;
        if (!read_fault(reading, node->values->pdata[i], &scenario->faults[i], error))
            return FALSE;
    }
    return TRUE;
}
