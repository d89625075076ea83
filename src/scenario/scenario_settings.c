/* scenario_settings.c - network.limits and network.settings: what is set for transfers on long ways
 *
 * Limits are by level; an entry of settings adds the axis of the group and the job. Entries are read onto the limits
 * from the widest to the narrowest, so that of each key the narrowest that gives it counts. */
#include "base/suggest.h"
#include "scenario/scenario_parts.h"
#include "scenario/setup.h"

#include <stddef.h>
#include <string.h>

enum { TRAFFIC_CLASSES = PACKET_CLASSES - 1 };

/* The class, from 0, as PathLimit has it. */
static gboolean
read_class(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    uint32_t class;
    Field into = {.key = field->key, .low = 0, .high = TRAFFIC_CLASSES - 1};
    if (!field_count(reading, node, &into, &class, error))
        return FALSE;
    *((uint8_t *)base + field->offset) = (uint8_t)(class + 1);
    return TRUE;
}

/* Of PathLimit at this offset. */
#define LIMIT_FIELDS(at)                                                                                               \
    {"window", field_size, (at) + offsetof(PathLimit, window_B), 1},                                                   \
        {"in_flight", field_size, (at) + offsetof(PathLimit, in_flight_B), 1},                                         \
        {"queue_pairs", field_count, (at) + offsetof(PathLimit, queue_pairs), 1, 65536},                               \
        {"message", field_size, (at) + offsetof(PathLimit, message_B), 1},                                             \
        {"recovery", field_choice, (at) + offsetof(PathLimit, recovery), .names = loss_recovery_names},                \
        {"packet", field_size, (at) + offsetof(PathLimit, packet_B), 1},                                               \
        {"ramp_up", field_size, (at) + offsetof(PathLimit, ramp_up_B), 1},                                             \
        {"routing", field_choice, (at) + offsetof(PathLimit, spread), .names = path_spread_names},                     \
    {                                                                                                                  \
        "traffic_class", read_class, (at) + offsetof(PathLimit, traffic_class)                                         \
    }

static const Field limit_fields[] = {LIMIT_FIELDS(0), {NULL}};

static gboolean
read_limit(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return fields_read(reading, node, limit_fields, (PathLimit *)base + field->offset, error);
}

/* Their offsets are levels. */
static const Field level_fields[] = {
    {"network", read_limit, PATH_NETWORK},
    {"buildings", read_limit, PATH_BUILDINGS},
    {"regions", read_limit, PATH_REGIONS},
    {NULL},
};

gboolean
scenario_read_limits(const Reading *reading, const YamlNode *node, PathLimit *limits, GError **error)
{
    if (!fields_read(reading, node, level_fields, limits, error))
        return FALSE;
    for (PathLevel level = PATH_BUILDINGS; level < PATH_LEVELS; level++)
        if (yaml_get(node, level_fields[level].key) == NULL)
            limits[level] = limits[level - 1];
    return TRUE;
}

/* One entry; its texts are borrowed from the tree. */
typedef struct {
    PathLimit limit;
    PathLevel level;        /* PATH_LEVELS = any */
    const char *axis, *job; /* NULL = any */
} Entry;

static gboolean
read_selector(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = field_scalar(reading, node, "a name", error);
    if (text == NULL)
        return FALSE;
    *(const char **)(void *)((char *)base + field->offset) = text;
    return TRUE;
}

static const Field entry_fields[] = {
    {"level", field_choice, offsetof(Entry, level), .names = path_level_names},
    {"axis", read_selector, offsetof(Entry, axis)},
    {"job", read_selector, offsetof(Entry, job)},
    LIMIT_FIELDS(offsetof(Entry, limit)),
    {NULL},
};

/* What the entry sets, on top of onto; its selectors. */
static gboolean
read_entry(const Reading *reading, const YamlNode *node, const PathLimit *onto, Entry *entry, GError **error)
{
    *entry = (Entry){.limit = *onto, .level = PATH_LEVELS};
    return fields_read(reading, node, entry_fields, entry, error);
}

static gboolean
same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

gboolean
scenario_read_settings(const Reading *reading, const YamlNode *list, GError **error)
{
    PathLimit unset = path_limit_default();
    if (!field_is_list(reading, list, error))
        return FALSE;
    for (guint i = 0; i < list->values->len; i++) {
        Entry entry, other;
        const YamlNode *node = list->values->pdata[i];
        if (!read_entry(reading, node, &unset, &entry, error))
            return FALSE;
        for (guint k = 0; k < i; k++) {
            if (!read_entry(reading, list->values->pdata[k], &unset, &other, error))
                return FALSE;
            if (entry.level == other.level && same_text(entry.axis, other.axis) && same_text(entry.job, other.job))
                return yaml_fail(reading->tree, node, error, "selects the same transfers as network.settings[%u]", k);
        }
    }
    return TRUE;
}

/* A job before an axis before a level. */
static unsigned
narrowness(const Entry *entry)
{
    return (entry->job != NULL ? 4u : 0) + (entry->axis != NULL ? 2u : 0) + (entry->level != PATH_LEVELS ? 1u : 0);
}

/* The entries, narrowest last, those alike as listed. */
static GArray *
sorted_entries(const Reading *reading, const YamlNode *list, GArray *nodes)
{
    PathLimit unset = path_limit_default();
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    for (unsigned narrow = 0; narrow < 8; narrow++)
        for (guint i = 0; i < list->values->len; i++) {
            const YamlNode *node = list->values->pdata[i];
            Entry entry;
            if (!read_entry(reading, node, &unset, &entry, NULL) || narrowness(&entry) != narrow)
                continue;
            g_array_append_val(entries, entry);
            g_array_append_val(nodes, node);
        }
    return entries;
}

static gboolean
no_such_name(const Setup *setup, const YamlNode *node, const char *what, const GPtrArray *known, GError **error)
{
    const char *near = suggest_nearest(node->text, (const char *const *)known->pdata, known->len);
    return yaml_fail(setup->scenario->tree, node, error, "%s \"%s\"%s%s%s", what, node->text,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Is there such a job, and does it, or any, have such a group? */
static gboolean
check_entry(const Setup *setup, const YamlNode *node, const Entry *entry, GError **error)
{
    const Scenario *scenario = setup->scenario;
    g_autoptr(GPtrArray) jobs = g_ptr_array_new(), groups = g_ptr_array_new();
    gboolean job_found = FALSE, axis_found = FALSE;
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        g_ptr_array_add(jobs, scenario->jobs[j].name);
        if (entry->job != NULL && strcmp(entry->job, scenario->jobs[j].name) != 0)
            continue;
        job_found = TRUE;
        const GPtrArray *of_job = setup->workloads[j]->groups;
        for (guint g = 0; g < of_job->len; g++) {
            const Group *group = of_job->pdata[g];
            g_ptr_array_add(groups, group->name);
            axis_found |= entry->axis != NULL && strcmp(entry->axis, group->name) == 0;
        }
    }
    if (!job_found)
        return no_such_name(setup, yaml_get(node, "job"), "there is no job", jobs, error);
    if (entry->axis != NULL && !axis_found)
        return no_such_name(setup, yaml_get(node, "axis"),
                            entry->job != NULL ? "the job has no axis or group" : "no job has an axis or group", groups,
                            error);
    return TRUE;
}

/* The row of transfers of a job and an axis (NULL = none): the limits, and all entries that select them on top. */
static void
fill_row(const Reading *reading, const GArray *entries, const GArray *nodes, const char *job, const char *axis,
         PathLimit *row)
{
    for (guint i = 0; i < entries->len; i++) {
        const Entry *entry = &g_array_index(entries, Entry, i);
        if ((entry->job != NULL && strcmp(entry->job, job) != 0) ||
            (entry->axis != NULL && !same_text(entry->axis, axis)))
            continue;
        for (PathLevel level = 0; level < PATH_LEVELS; level++) {
            Entry onto;
            if ((entry->level == PATH_LEVELS || entry->level == level) &&
                read_entry(reading, g_array_index(nodes, const YamlNode *, i), &row[level], &onto, NULL))
                row[level] = onto.limit;
        }
    }
}

/* Is the axis one that some entry names? */
static gboolean
is_named(const GArray *entries, const char *axis)
{
    for (guint i = 0; i < entries->len; i++)
        if (same_text(g_array_index(entries, Entry, i).axis, axis))
            return TRUE;
    return FALSE;
}

/* One row for the job's transfers of no group, one for each group whose axis an entry names. */
static void
add_rows(Setup *setup, const Reading *reading, const GArray *entries, const GArray *nodes, uint32_t job, GArray *rows)
{
    typedef PathLimit Row[PATH_LEVELS];
    const char *name = setup->scenario->jobs[job].name;
    const GPtrArray *groups = setup->workloads[job]->groups;
    uint32_t *of_group = setup->settings_of_group[job] = g_new0(uint32_t, groups->len + 1);
    for (guint g = 0; g <= groups->len; g++) {
        const Group *group = g > 0 ? groups->pdata[g - 1] : NULL;
        uint32_t *place = group == NULL ? &setup->settings_of_job[job] : &of_group[g - 1];
        *place = setup->settings_of_job[job];
        if (group != NULL && !is_named(entries, group->name))
            continue;
        Row row;
        memcpy(row, setup->scenario->limits, sizeof row);
        fill_row(reading, entries, nodes, name, group != NULL ? group->name : NULL, row);
        g_array_append_vals(rows, &row, 1);
        *place = rows->len;
    }
}

gboolean
setup_settings(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    const YamlNode *network = yaml_get(scenario->tree->root, "network");
    const YamlNode *list = network != NULL ? yaml_get(network, "settings") : NULL;
    setup->settings_of_job = g_new0(uint32_t, scenario->n_jobs + 1);
    setup->settings_of_group = g_new0(uint32_t *, scenario->n_jobs + 1);
    if (list == NULL || list->values->len == 0)
        return TRUE;
    Reading reading = {scenario->tree, "."};
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(YamlNode *));
    g_autoptr(GArray) entries = sorted_entries(&reading, list, nodes);
    for (guint i = 0; i < entries->len; i++)
        if (!check_entry(setup, g_array_index(nodes, YamlNode *, i), &g_array_index(entries, Entry, i), error))
            return FALSE;
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(PathLimit[PATH_LEVELS]));
    for (uint32_t j = 0; j < scenario->n_jobs; j++)
        add_rows(setup, &reading, entries, nodes, j, rows);
    setup->n_settings = rows->len;
    setup->settings = (void *)g_array_free(rows, FALSE);
    return TRUE;
}
