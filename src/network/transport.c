#include "network/transport.h"

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One line a transport. */
static const Transport *const transports[] = {
    &transport_window, &transport_dcqcn, &transport_swift, &transport_timely, &transport_hpcc, &transport_ndp,
};

/* What every transport has; offsets in RecoveryConfig. The kind itself is read apart. */
static const TransportParam recovery_params[] = {
    {"reorder", PARAM_COUNT, "3", offsetof(RecoveryConfig, reorder), 1, 1 << 20, "packets that may overtake one"},
    {"timeout", PARAM_TIME, "0 s", offsetof(RecoveryConfig, timeout_ps), 0, 0, "without progress; 0 = by itself"},
    {NULL},
};

const char *const *
recovery_names(void)
{
    static const char *const names[] = {"go_back_n", "selective_repeat", "reorder_tolerant", NULL};
    return names;
}

const char *const *
transport_names(void)
{
    static const char *names[G_N_ELEMENTS(transports) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(transports); i++)
        names[i] = transports[i]->name;
    return names;
}

const Transport *
transport_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(transports); i++)
        if (strcmp(transports[i]->name, name) == 0)
            return transports[i];
    return NULL;
}

/* A whole number, or any. */
static gboolean
parse_number(const char *text, const TransportParam *param, double *value, GError **error)
{
    char *end;
    double number = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || (param->kind == PARAM_COUNT && number != floor(number)))
        return error_input(error, "found \"%s\", expected a %snumber", text,
                           param->kind == PARAM_COUNT ? "whole " : "");
    if (number < param->low || number > param->high)
        return error_input(error, "found %s, expected %g to %g", text, param->low, param->high);
    *value = number;
    return TRUE;
}

static gboolean
parse_flag(const char *text, gboolean *flag, GError **error)
{
    *flag = strcmp(text, "true") == 0;
    if (!*flag && strcmp(text, "false") != 0)
        return error_input(error, "found \"%s\", expected true or false", text);
    return TRUE;
}

/* A time, rate or size; 0 is refused where low is 1. */
static gboolean
parse_quantity(const TransportParam *param, const char *text, void *member, GError **error)
{
    double rate_Bps = 1;
    SimTime time_ps = 1;
    uint64_t bytes = 1;
    if (param->kind == PARAM_TIME   ? !units_parse_time(text, &time_ps, error)
        : param->kind == PARAM_RATE ? !units_parse_rate(text, &rate_Bps, error)
                                    : !units_parse_size(text, &bytes, error))
        return FALSE;
    if (param->low > 0 && (rate_Bps <= 0 || time_ps <= 0 || bytes == 0))
        return error_input(error, "found %s, expected more than 0", text);
    if (param->kind == PARAM_TIME)
        *(SimTime *)member = time_ps;
    else if (param->kind == PARAM_RATE)
        *(double *)member = rate_Bps;
    else
        *(uint64_t *)member = bytes;
    return TRUE;
}

static gboolean
parse_param(const TransportParam *param, const char *text, void *block, GError **error)
{
    void *member = (char *)block + param->offset;
    double number;
    switch (param->kind) {
    case PARAM_TIME:
    case PARAM_RATE:
    case PARAM_SIZE:
        return parse_quantity(param, text, member, error);
    case PARAM_FLAG:
        return parse_flag(text, member, error);
    case PARAM_COUNT:
        if (!parse_number(text, param, &number, error))
            return FALSE;
        *(uint32_t *)member = (uint32_t)number;
        return TRUE;
    case PARAM_NUMBER:
        return parse_number(text, param, member, error);
    }
    return FALSE;
}

static const TransportParam *
find_param(const TransportParam *params, const char *name)
{
    for (; params->name != NULL; params++)
        if (strcmp(params->name, name) == 0)
            return params;
    return NULL;
}

static gboolean
parse_recovery(const char *text, RecoveryConfig *recovery, GError **error)
{
    const char *const *names = recovery_names();
    for (uint32_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0) {
            recovery->kind = (RecoveryKind)i;
            return TRUE;
        }
    return error_input(error, "found \"%s\", expected go_back_n, selective_repeat or reorder_tolerant", text);
}

static gboolean
unknown_key(const Transport *transport, const char *key, GError **error)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    g_ptr_array_add(known, (char *)(uintptr_t) "recovery");
    for (const TransportParam *param = recovery_params; param->name != NULL; param++)
        g_ptr_array_add(known, (char *)(uintptr_t)param->name);
    for (const TransportParam *param = transport->params; param->name != NULL; param++)
        g_ptr_array_add(known, (char *)(uintptr_t)param->name);
    const char *nearest = suggest_nearest(key, (const char *const *)known->pdata, known->len);
    if (nearest != NULL)
        return error_input(error, "transport %s has no \"%s\"; do you mean \"%s\"?", transport->name, key, nearest);
    g_ptr_array_add(known, NULL);
    g_autofree char *list = g_strjoinv(", ", (char **)known->pdata);
    return error_input(error, "transport %s has no \"%s\"; it has %s", transport->name, key, list);
}

static gboolean
apply_setting(TransportSetup *setup, const TransportSetting *setting, GError **error)
{
    const TransportParam *own = find_param(setup->transport->params, setting->key);
    const TransportParam *shared = find_param(recovery_params, setting->key);
    setup->recovery_given |= strcmp(setting->key, "recovery") == 0;
    if (strcmp(setting->key, "recovery") == 0)
        return parse_recovery(setting->text, &setup->recovery, error);
    if (own != NULL)
        return parse_param(own, setting->text, setup->params, error);
    if (shared != NULL)
        return parse_param(shared, setting->text, &setup->recovery, error);
    return unknown_key(setup->transport, setting->key, error);
}

/* The table's own defaults parse. */
static void
apply_defaults(const TransportParam *params, void *block)
{
    for (; params->name != NULL; params++) {
        gboolean parsed = parse_param(params, params->value, block, NULL);
        assert(parsed);
        (void)parsed;
    }
}

static gboolean
is_known(const Transport *transport, const char *key)
{
    return strcmp(key, "recovery") == 0 || find_param(transport->params, key) != NULL ||
           find_param(recovery_params, key) != NULL;
}

/* Defaults. FALSE with an INPUT error where there is no such transport. */
static gboolean
begin_setup(const char *name, TransportSetup *setup, GError **error)
{
    const Transport *transport = transport_find(name);
    if (transport == NULL) {
        const char *const *names = transport_names();
        const char *nearest = suggest_nearest(name, names, G_N_ELEMENTS(transports));
        g_autofree char *list = g_strjoinv(", ", (char **)(uintptr_t)names);
        return nearest != NULL ? error_input(error, "transport \"%s\" is not known; do you mean \"%s\"?", name, nearest)
                               : error_input(error, "transport \"%s\" is not known; known are %s", name, list);
    }
    *setup = (TransportSetup){.transport = transport,
                              .params = g_malloc0(MAX(transport->params_size, 1)),
                              .recovery = {.kind = transport->recovery}};
    apply_defaults(recovery_params, &setup->recovery);
    apply_defaults(transport->params, setup->params);
    return TRUE;
}

gboolean
transport_setting_check(const char *name, const TransportSetting *setting, GError **error)
{
    TransportSetup made;
    if (!begin_setup(name, &made, error))
        return FALSE;
    gboolean taken = apply_setting(&made, setting, error);
    transport_setup_clear(&made);
    return taken;
}

gboolean
transport_setup(const char *name, const TransportSetting *settings, uint32_t n_settings, TransportSetup *setup,
                GError **error)
{
    TransportSetup made;
    if (!begin_setup(name, &made, error))
        return FALSE;
    for (uint32_t i = 0; i < n_settings; i++)
        if (!apply_setting(&made, &settings[i], error)) {
            if (is_known(made.transport, settings[i].key)) /* else the message names it */
                g_prefix_error(error, "%s: ", settings[i].key);
            transport_setup_clear(&made);
            return FALSE;
        }
    *setup = made;
    return TRUE;
}

void
transport_setup_clear(TransportSetup *setup)
{
    g_clear_pointer(&setup->params, g_free);
}

void
transport_each_parameter(const char *name, const TransportSetting *settings, uint32_t n_settings, TransportTell tell,
                         void *owner)
{
    const Transport *transport = transport_find(name);
    assert(transport != NULL);
    const TransportParam recovery[] = {{"recovery", .value = recovery_names()[transport->recovery]}, {NULL}};
    const TransportParam *const lists[] = {recovery, recovery_params, transport->params};
    for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
        for (const TransportParam *param = lists[l]; param->name != NULL; param++) {
            const char *text = param->value;
            for (uint32_t i = 0; i < n_settings; i++)
                if (strcmp(settings[i].key, param->name) == 0)
                    text = settings[i].text;
            tell(owner, param->name, text);
        }
}
