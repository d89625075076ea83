#include "base/error.h"
#include "network/transport.h"
#include "support.h"

#include <string.h>

/* What a scenario may say of a transport, refused with these words or taken. */
static const struct {
    const char *transport, *key, *text, *message;
} settings[] = {
    {"dcqcn", "cnp_interval", "50 us", NULL},
    {"dcqcn", "cnp_interval", "0 s", NULL},
    {"dcqcn", "additive", "0 b/s", NULL},
    {"dcqcn", "additive", "5 Mb/s", NULL},
    {"dcqcn", "recovery", "selective_repeat", NULL},
    {"dcqcn", "recovery", "go-back",
     "recovery: found \"go-back\", expected go_back_n, selective_repeat or reorder_tolerant"},
    {"dcqcn", "timer", "55", "timer: time \"55\" has no unit; write for example \"55 ms\""},
    {"dcqcn", "timer", "0 us", "timer: found 0 us, expected more than 0"},
    {"dcqcn", "alpha_interval", "0 s", "alpha_interval: found 0 s, expected more than 0"},
    {"dcqcn", "byte_counter", "0 B", "byte_counter: found 0 B, expected more than 0"},
    {"dcqcn", "byte_counter", "10", "byte_counter: size \"10\" has no unit; write for example \"10 MiB\""},
    {"dcqcn", "least_rate", "0 b/s", "least_rate: found 0 b/s, expected more than 0"},
    {"dcqcn", "additive", "40", "additive: rate \"40\" has no unit; write for example \"40 Gb/s\""},
    {"dcqcn", "g", "0", "g: found 0, expected 1e-06 to 1"},
    {"dcqcn", "g", "a", "g: found \"a\", expected a number"},
    {"dcqcn", "g", "nan", "g: found \"nan\", expected a number"},
    {"dcqcn", "fast_recovery", "2.5", "fast_recovery: found \"2.5\", expected a whole number"},
    {"dcqcn", "fast_recovery", "0", "fast_recovery: found 0, expected 1 to 1000"},
    {"dcqcn", "cnp_intervall", "1 us", "transport dcqcn has no \"cnp_intervall\"; do you mean \"cnp_interval\"?"},
    {"swift", "target", "20 us", NULL},
    {"swift", "target", "0 us", "target: found 0 us, expected more than 0"},
    {"swift", "max_mdf", "1", "max_mdf: found 1, expected 0 to 0.99"},
    {"swift", "min_cwnd", "2", "min_cwnd: found 2, expected 1e-06 to 1"},
    {"timely", "patched", "true", NULL},
    {"timely", "patched", "yes", "patched: found \"yes\", expected true or false"},
    {"timely", "t_low", "0 s", "t_low: found 0 s, expected more than 0"},
    {"timely", "segment", "0 B", "segment: found 0 B, expected more than 0"},
    {"hpcc", "eta", "0.9", NULL},
    {"hpcc", "eta", "1.1", "eta: found 1.1, expected 0.1 to 1"},
    {"hpcc", "max_stage", "-1", "max_stage: found -1, expected 0 to 1000"},
    {"hpcc", "w_ai", "80 B", NULL},
    {"ndp", "window", "100 kB", NULL},
    {"ndp", "qqqqqqqq", "1", "transport ndp has no \"qqqqqqqq\"; it has recovery, reorder, timeout, window, ask"},
    {"window", "rate", "0 b/s", NULL},
    {"window", "reorder", "0", "reorder: found 0, expected 1 to 1.04858e+06"},
    {"dcqnc", "g", "1", "transport \"dcqnc\" is not known; do you mean \"dcqcn\"?"},
    {"zzzzzzzz", "g", "1", "transport \"zzzzzzzz\" is not known; known are window, dcqcn, swift, timely, hpcc, ndp"},
};

START_TEST(a_setting_is_taken_or_refused_with_its_words)
{
    TransportSetting setting = {settings[_i].key, settings[_i].text};
    TransportSetup setup;
    GError *error = NULL;
    gboolean made = transport_setup(settings[_i].transport, &setting, 1, &setup, &error);
    if (settings[_i].message == NULL) {
        ck_assert_msg(made, "%d: %s", _i, error != NULL ? error->message : "");
        transport_setup_clear(&setup);
        return;
    }
    ck_assert_msg(!made, "%d: %s is taken", _i, setting.text);
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    ck_assert_str_eq(error->message, settings[_i].message);
    g_clear_error(&error);
}
END_TEST

/* The defaults that the papers state, as text and as what is read from it. */
static const struct {
    const char *transport, *key, *value;
} published[] = {
    {"dcqcn", "cnp_interval", "50 us"}, {"dcqcn", "g", "0.00390625"},
    {"dcqcn", "fast_recovery", "5"},    {"dcqcn", "timer", "55 us"},
    {"dcqcn", "byte_counter", "10 MB"}, {"swift", "beta", "0.8"},
    {"swift", "max_mdf", "0.5"},        {"timely", "beta", "0.8"},
    {"timely", "hyper_after", "5"},     {"hpcc", "eta", "0.95"},
    {"hpcc", "max_stage", "5"},
};

START_TEST(defaults_are_those_published)
{
    const Transport *transport = transport_find(published[_i].transport);
    ck_assert_ptr_nonnull(transport);
    const TransportParam *param = transport->params;
    while (param->name != NULL && g_strcmp0(param->name, published[_i].key) != 0)
        param++;
    ck_assert_ptr_nonnull(param->name);
    ck_assert_str_eq(param->value, published[_i].value);
}
END_TEST

/* Every transport: found by its name, every default is a legal setting, and the block holds it where it says. */
START_TEST(each_default_is_a_legal_setting)
{
    const char *const *names = transport_names();
    ck_assert_uint_eq(g_strv_length((char **)(uintptr_t)names), 6);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        const Transport *transport = transport_find(names[i]);
        ck_assert_str_eq(transport->name, names[i]);
        TransportSetup plain;
        ck_assert(transport_setup(names[i], NULL, 0, &plain, NULL));
        for (const TransportParam *param = transport->params; param->name != NULL; param++) {
            TransportSetting same = {param->name, param->value};
            TransportSetup setup;
            ck_assert_msg(transport_setup(names[i], &same, 1, &setup, NULL), "%s.%s", names[i], param->name);
            ck_assert_mem_eq(setup.params, plain.params, transport->params_size);
            ck_assert_ptr_nonnull(param->help);
            transport_setup_clear(&setup);
        }
        transport_setup_clear(&plain);
    }
    ck_assert_ptr_null(transport_find("none"));
}
END_TEST

/* trainshed-scenario(5) lists every parameter of every transport, after the transport's name, with its default. */
START_TEST(the_manual_lists_each_parameter)
{
    g_autofree char *page = NULL;
    ck_assert(g_file_get_contents(support_source("doc/trainshed-scenario.5"), &page, NULL, NULL));
    const char *const *names = transport_names();
    for (uint32_t i = 0; names[i] != NULL; i++) {
        const Transport *transport = transport_find(names[i]);
        g_autofree char *head = g_strdup_printf(".Pp\n.Ql %s\n", names[i]);
        const char *from = strstr(page, head);
        ck_assert_msg(from != NULL, "%s is not in the manual", names[i]);
        g_autofree char *list = g_strndup(from, (gsize)(strstr(from, ".El") - from));
        for (const TransportParam *param = transport->params; param->name != NULL; param++) {
            g_autofree char *item = g_strdup_printf(".It Cm %s\n", param->name);
            const char *entry = strstr(list, item);
            ck_assert_msg(entry != NULL, "%s.%s is not in the manual", names[i], param->name);
            const char *next = strstr(entry + 1, ".It ");
            g_autofree char *text = next != NULL ? g_strndup(entry, (gsize)(next - entry)) : g_strdup(entry);
            g_strdelimit(text, "\n", ' ');
            ck_assert_msg(strstr(text, param->value) != NULL, "%s.%s: the manual does not say %s", names[i],
                          param->name, param->value);
        }
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("transport-params");
    TCase *tcase = tcase_create("settings");
    tcase_add_loop_test(tcase, a_setting_is_taken_or_refused_with_its_words, 0, G_N_ELEMENTS(settings));
    tcase_add_loop_test(tcase, defaults_are_those_published, 0, G_N_ELEMENTS(published));
    tcase_add_test(tcase, each_default_is_a_legal_setting);
    tcase_add_test(tcase, the_manual_lists_each_parameter);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
