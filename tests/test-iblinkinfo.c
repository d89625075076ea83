/* test-iblinkinfo.c - listings of iblinkinfo, made here from real dumps and from its description; refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions options = {.default_rate_Bps = 12.5e9, .default_latency_ps = 600000, .detour = 1};

static Fabric *
read_text(const char *text, char **notes)
{
    g_autofree char *path = support_save(text);
    GError *error = NULL;
    Fabric *fabric = topology_read(path, NULL, &options, notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    g_unlink(path);
    return fabric;
}

static uint32_t
count(const Fabric *fabric, NodeKind kind)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++)
        n += fabric_node(fabric, v)->kind == kind;
    return n;
}

/* What iblinkinfo would print of the dump of ibnetdiscover at path: a header for each record and a line for each port,
 * with the lids of both ends (those of a switch from its header, those of a CA from its port). */
static char *
listing_of(const char *path)
{
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);
    char id[64], peer[64], description[128], lid[16] = "";
    unsigned ports, port, peer_port, at;
    for (size_t i = 0; lines[i] != NULL; i++) {
        char *line = lines[i], *quote = strrchr(line, '"');
        if (sscanf(line, "Switch %u \"%63[^\"]\" # \"%127[^\"]\"", &ports, id, description) == 3) {
            ck_assert(sscanf(strstr(quote, " lid "), " lid %15s", lid) == 1);
            g_string_append_printf(out, "Switch: 0x%s %s:\n", id + 2, description);
        } else if (sscanf(line, "Ca %u \"%63[^\"]\" # \"%127[^\"]\"", &ports, id, description) == 3) {
            g_string_append_printf(out, "CA: %s:\n", description);
        } else if (sscanf(line, "[%u]%n", &port, (int *)&at) == 1) {
            char *name = strchr(line, '"'), *comment = strchr(line, '#'), peer_lid[16];
            ck_assert(sscanf(name, "\"%63[^\"]\"[%u]", peer, &peer_port) == 2);
            ck_assert(sscanf(strchr(comment, '"'), "\"%127[^\"]\" lid %15s", description, peer_lid) == 2);
            if (id[0] == 'H')
                ck_assert(sscanf(comment, "# lid %15s", lid) == 1);
            g_string_append_printf(
                out, "   %s%s   %s %u[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>  %s %u[  ] \"%s\" ( )\n",
                id[0] == 'H' ? "0x" : "", id[0] == 'H' ? id + 2 : "", lid, port, peer_lid, peer_port, description);
        }
    }
    return g_string_free(out, FALSE);
}

/* The counts of the dump that it is made from (../shared/data/fabric/README.md), and the same hosts. */
START_TEST(a_real_fabric_in_this_form)
{
    NEED_SHARED(path, "data/fabric/ibnetdiscover-dgx-ndr.txt");
    g_autofree char *text = listing_of(path), *notes = NULL;
    g_autoptr(Fabric) fabric = read_text(text, &notes);
    g_autoptr(Fabric) other = topology_read(path, NULL, &options, NULL, NULL);
    ck_assert_str_eq(notes, "40 switches, 582 CAs, 1114 cables, 532 of them between switches\n"
                            "40 aggregation nodes (SHARP) are NICs without a host\n"
                            "69 CAs have no host name of their own: each, or each system GUID, is a host\n"
                            "PCIe of the hosts is not in the file: as fast as the ports of its NIC, no latency\n");
    ck_assert_uint_eq(fabric_n_nodes(fabric), fabric_n_nodes(other));
    ck_assert_uint_eq(fabric_n_links(fabric), fabric_n_links(other));
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *a = fabric_link(fabric, l), *b = fabric_link(other, l);
        ck_assert_str_eq(fabric_node(fabric, a->src)->name, fabric_node(other, b->src)->name);
        ck_assert_str_eq(fabric_node(fabric, a->dst)->name, fabric_node(other, b->dst)->name);
        ck_assert_double_eq(a->capacity_Bps, b->capacity_Bps);
        ck_assert_str_eq(a->source, b->source);
    }
}
END_TEST

/* Two cables of a switch to one CA of two ports, which has two lids; ports that are down. */
START_TEST(blocks_of_devices)
{
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = read_text(
        "CA: n01 HCA-1:\r\n"
        "      0xec0d9a03003d677a      1    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       2   18[  ] "
        "\"MF0;sw:MSB7700/U1\" ( )\r\n"
        "      0xec0d9a03003d677b      7    2[  ] ==( 2X 53.125 Gbps Active/  LinkUp)==>       2   19[  ] "
        "\"MF0;sw:MSB7700/U1\" ( Could be 4X)\r\n"
        "Switch: 0x248a070300928186 MF0;sw:MSB7700/U1:\n"
        "           2   18[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       1    1[  ] \"n01 HCA-1\" ( )\n"
        "           2   19[  ] ==( 2X 53.125 Gbps Active/  LinkUp)==>       7    2[  ] \"n01 HCA-1\" ( )\n"
        "           2   20[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n",
        &notes);
    ck_assert_uint_eq(count(fabric, NODE_LEAF), 1);
    ck_assert_uint_eq(count(fabric, NODE_NIC), 1);
    ck_assert_uint_eq(count(fabric, NODE_HOST), 1);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * 3);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        ck_assert_double_eq(fabric_link(fabric, l)->capacity_Bps,
                            fabric_link(fabric, l)->kind == LINK_PCIE ? 25e9 : 12.5e9);
    ck_assert_int_eq(fabric_node(fabric, fabric_find(fabric, "n01/HCA-1"))->rail, 0);
}
END_TEST

/* --switches-only: CAs are known from the other end; -l: GUIDs and descriptions in the line. */
START_TEST(devices_without_a_block)
{
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = read_text(
        "Switch: 0x1 MF0;sw:MSB7700/U1:\n"
        "  2 18[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 1 1[  ] \"n01 HCA-1\" ( )\n"
        "  2 19[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 7 2[  ] \"n01 HCA-1\" ( )\n"
        "  2 20[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 9 1[  ] \"MT4129 ConnectX7   Mellanox Technologies\" ( )\n"
        "  2 21[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 8 1[  ] \"MF0;other:MSB7700/U1\" ( )\n",
        &notes);
    ck_assert_uint_eq(count(fabric, NODE_NIC), 2);
    ck_assert_uint_eq(count(fabric, NODE_HOST), 2);
    ck_assert_uint_eq(count(fabric, NODE_LEAF) + count(fabric, NODE_SPINE), 2);
    ck_assert_ptr_nonnull(strstr(notes, "2 switches, 2 CAs, 4 cables, 1 of them between switches\n"
                                        "1 CAs have no host name"));

    g_autoptr(Fabric) lines = read_text(
        "0x0002c90200404ad8 \"SwitchX -  Mellanox Technologies\"  4 17[  ] ==( 4X 14.0625 Gbps Active/  LinkUp)==>  "
        "0x0011220300334455 5 1[  ] \"exe0001 HCA-1\" ( )\n"
        "0x0002c90200404ad8 \"SwitchX -  Mellanox Technologies\"  4 18[  ] ==( Down/ Polling)==> [  ] \"\" ( )\n"
        "0x0011220300334455 \"exe0001 HCA-1\" 5 1[  ] ==( 4X 14.0625 Gbps Active/  LinkUp)==>  "
        "0x0002c90200404ad8 4 17[  ] \"SwitchX -  Mellanox Technologies\" ( )\n",
        NULL);
    ck_assert_uint_eq(fabric_n_nodes(lines), 3);
    ck_assert_uint_eq(fabric_n_links(lines), 2 * 2);
    ck_assert_double_eq(fabric_link(lines, 2)->capacity_Bps, 7e9);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"hello\nCA: a:\n 0x1 1 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\n",
     ":1: found \"hello\", expected CA:, Switch: or a port"},
    {" 1 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\n", ":1: a port stands before the first CA:"},
    {"CA: a:\n 0x1 1 1 ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\n",
     ":2: expected lid and port on both sides of ==( )==>"},
    {"CA: a:\n 0x1 1 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\nCA: b:\n"
     " 0x2 1 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\n",
     ":4: lid 1 is that of another device"},
    {"CA: a:\n 0x1 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 1[ ] \"b\" ( )\n", ":2: lid 0 is none"},
};

START_TEST(what_is_wrong_is_named)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &options, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("iblinkinfo");
    TCase *tcase = tcase_create("iblinkinfo");
    tcase_add_test(tcase, a_real_fabric_in_this_form);
    tcase_add_test(tcase, blocks_of_devices);
    tcase_add_test(tcase, devices_without_a_block);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
