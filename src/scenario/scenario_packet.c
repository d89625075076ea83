/* scenario_packet.c - network.packet and network.transport: switches, NICs and transports of the packet model
 *
 * Texts are borrowed from the scenario's tree. */
#include "network/packet_config.h"
#include "network/transport.h"
#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

/* In the order of cut_through: FALSE, TRUE. */
static const char *const switchings[] = {"store_and_forward", "cut_through", NULL};

/* A size of at most 64 KiB - 1. */
static gboolean
read_small(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    uint64_t bytes;
    Field into = {.key = field->key, .low = 1};
    if (!field_size(reading, node, &into, &bytes, error))
        return FALSE;
    if (bytes > UINT16_MAX)
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected at most 65535 B", node->text);
    *(uint32_t *)(void *)((char *)base + field->offset) = (uint32_t)bytes;
    return TRUE;
}

/* A size, or none: no limit. */
static gboolean
read_limit(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    if (node->kind == YAML_SCALAR && strcmp(node->text, "none") == 0) {
        *(uint64_t *)(void *)((char *)base + field->offset) = PACKET_NO_LIMIT;
        return TRUE;
    }
    return field_size(reading, node, field, base, error);
}

static const Field ecn_fields[] = {
    {"kmin", field_size, offsetof(PacketConfig, ecn_kmin_B)},
    {"kmax", field_size, offsetof(PacketConfig, ecn_kmax_B), 1},
    {"pmax", field_number, offsetof(PacketConfig, ecn_pmax), 0, 1},
    {NULL},
};

static gboolean
read_ecn(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return fields_read(reading, node, ecn_fields, base, error);
}

static const Field pfc_fields[] = {
    {"xoff", field_size, offsetof(PacketConfig, pfc_xoff_B), 1},
    {"xon", field_size, offsetof(PacketConfig, pfc_xon_B)},
    {"headroom", read_limit, offsetof(PacketConfig, pfc_headroom_B)},
    {"response", field_time, offsetof(PacketConfig, pfc_response_ps)},
    {NULL},
};

/* true, false, or a map of its thresholds, which means true. xon alone follows xoff: 15/16 of it. */
static gboolean
read_pfc(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    PacketConfig *config = base;
    if (node->kind != YAML_MAP)
        return field_flag(reading, node, &(Field){.offset = offsetof(PacketConfig, pfc)}, base, error);
    config->pfc = TRUE;
    if (!fields_read(reading, node, pfc_fields, base, error))
        return FALSE;
    if (yaml_get(node, "xoff") != NULL && yaml_get(node, "xon") == NULL)
        config->pfc_xon_B = config->pfc_xoff_B / 16 * 15;
    return TRUE;
}

/* A map of job names and their classes; that there are such jobs is checked when jobs have been read. */
static gboolean
read_classes(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    PacketConfig *config = base;
    if (node->kind != YAML_MAP) {
        g_autofree char *found = yaml_describe(node);
        return yaml_fail(reading->tree, node, error, "found %s, expected a map of jobs and their classes", found);
    }
    g_free((void *)(uintptr_t)config->classes);
    PacketClass *classes = g_new0(PacketClass, node->keys->len + 1);
    config->classes = classes;
    config->n_classes = node->keys->len;
    for (guint i = 0; i < node->keys->len; i++) {
        Field into = {.key = "", .low = 0, .high = PACKET_CONTROL_CLASS - 1};
        classes[i].job = node->keys->pdata[i];
        if (!field_count(reading, node->values->pdata[i], &into, &classes[i].class, error))
            return FALSE;
    }
    return TRUE;
}

static const Field packet_fields[] = {
    {"mtu", read_small, offsetof(PacketConfig, mtu_B)},
    {"header", read_small, offsetof(PacketConfig, header_B)},
    {"ack", read_small, offsetof(PacketConfig, ack_B)},
    {"switching", field_choice, offsetof(PacketConfig, cut_through), .names = switchings},
    {"buffer", read_limit, offsetof(PacketConfig, buffer_B), 1},
    {"shared_buffer", field_size, offsetof(PacketConfig, shared_buffer_B), 1},
    {"alpha", field_number, offsetof(PacketConfig, alpha), ABOVE_0, 1e6},
    {"ecn", read_ecn},
    {"pfc", read_pfc},
    {"trim", field_flag, offsetof(PacketConfig, trim)},
    {"control_first", field_flag, offsetof(PacketConfig, control_first)},
    {"classes", read_classes},
    {"reroute_delay", field_time, offsetof(PacketConfig, reroute_delay_ps)},
    {NULL},
};

gboolean
scenario_read_packet(const Reading *reading, const YamlNode *node, PacketConfig *config, GError **error)
{
    GError *wrong = NULL;
    if (!fields_read(reading, node, packet_fields, config, error))
        return FALSE;
    if (packet_config_check(config, &wrong))
        return TRUE;
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

gboolean
scenario_check_packet(const Scenario *scenario, GError **error)
{
    const YamlNode *network = yaml_get(scenario->tree->root, "network");
    const YamlNode *packet = network != NULL ? yaml_get(network, "packet") : NULL;
    const YamlNode *classes = packet != NULL ? yaml_get(packet, "classes") : NULL;
    for (uint32_t i = 0; i < scenario->packet.n_classes; i++) {
        uint32_t j = 0;
        while (j < scenario->n_jobs && strcmp(scenario->jobs[j].name, scenario->packet.classes[i].job) != 0)
            j++;
        if (j == scenario->n_jobs)
            return yaml_fail(scenario->tree, classes->values->pdata[i], error, "there is no job \"%s\"",
                             scenario->packet.classes[i].job);
    }
    return TRUE;
}

/* One parameter: refused where the transport does. */
static gboolean
read_setting(const Reading *reading, const YamlNode *node, const char *transport, TransportSetting *setting,
             GError **error)
{
    GError *wrong = NULL;
    setting->text = field_scalar(reading, node, "a quantity, a number or a word", error);
    if (setting->text == NULL)
        return FALSE;
    if (transport_setting_check(transport, setting, &wrong))
        return TRUE;
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

gboolean
scenario_read_transport(const Reading *reading, const YamlNode *node, PacketConfig *config, GError **error)
{
    unsigned index;
    if (node->kind == YAML_SCALAR) {
        if (!field_name(reading, node, transport_names(), &index, error))
            return FALSE;
        config->transport = transport_names()[index];
        return TRUE;
    }
    if (node->kind != YAML_MAP) {
        g_autofree char *found = yaml_describe(node);
        return yaml_fail(reading->tree, node, error, "found %s, expected a name, or a map of name and parameters",
                         found);
    }
    const YamlNode *name = yaml_get(node, "name");
    if (name != NULL && !field_name(reading, name, transport_names(), &index, error))
        return FALSE;
    if (name != NULL)
        config->transport = transport_names()[index];
    g_free((void *)(uintptr_t)config->settings);
    TransportSetting *settings = g_new0(TransportSetting, node->keys->len + 1);
    config->settings = settings;
    config->n_settings = 0;
    for (guint i = 0; i < node->keys->len; i++) {
        const YamlNode *value = node->values->pdata[i];
        if (value == name)
            continue;
        TransportSetting *setting = &settings[config->n_settings++];
        setting->key = node->keys->pdata[i];
        if (!read_setting(reading, value, config->transport, setting, error))
            return FALSE;
    }
    return TRUE;
}

void
packet_config_clear(PacketConfig *config)
{
    g_free((void *)(uintptr_t)config->classes);
    g_free((void *)(uintptr_t)config->settings);
}
