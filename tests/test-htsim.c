/* test-htsim.c - htsim's trees and connection matrices: counts by hand, wiring, programs, and what is refused */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"
#include "workload/htsim_cm.h"

#include <glib/gstdio.h>
#include <string.h>

/* hosts; switches of tier 0, 1 and 2; cables. With R ports down and U up of a leaf, S down and V up of a spine: leaves
 * = hosts / R, spines = leaves U / S, cores = spines V / ports of a core; cables = hosts + leaves U + spines V. */
static const struct {
    const char *file;
    uint32_t hosts, leaves, spines, cores, cables;
    double edge_Gbps, top_Gbps;
} trees[] = {
    {"csg_fat_tree_1024.topo", 1024, 128, 128, 64, 1024 + 1024 + 1024, 100, 100},
    {"csg_leaf_spine_tiny.topo", 32, 4, 2, 0, 32 + 8, 100, 100},
    {"csg_test.topo", 8, 4, 4, 4, 8 + 8 + 16, 200, 100},
    {"uet_fat_tree_1024_1os.topo", 1024, 128, 128, 64, 1024 + 1024 + 1024, 200, 200},
    {"uet_fat_tree_1024_4os.topo", 1024, 128, 32, 16, 1024 + 256 + 256, 200, 200},
    {"uet_fat_tree_128_1os.topo", 128, 32, 32, 16, 128 + 128 + 128, 100, 100},
    {"uet_fat_tree_128_4os.topo", 128, 32, 32, 4, 128 + 128 + 32, 100, 100},
    {"uet_fat_tree_128_8os.topo", 128, 32, 8, 2, 128 + 32 + 16, 100, 100},
    {"uet_fat_tree_8192_1os.topo", 8192, 512, 512, 256, 8192 * 3, 100, 100},
    {"uet_leaf_spine_1024.topo", 1024, 32, 32, 0, 1024 + 1024, 100, 100},
    {"uet_leaf_spine_1024_oversub.topo", 1024, 32, 8, 0, 1024 + 256, 100, 100},
    {"uet_leaf_spine_8192_400g_4_to_1.topo", 8192, 128, 16, 0, 8192 + 2048, 400, 400},
    {"uet_leaf_spine_8192_800g.topo", 8192, 128, 64, 0, 8192 + 8192, 800, 800},
};

START_TEST(real_trees_have_the_counts_worked_out_by_hand)
{
    g_autofree char *relative = g_strconcat("data/htsim/", trees[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    uint32_t of_kind[NODE_KINDS] = {0}, n_hosts;
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++)
        of_kind[fabric_node(fabric, i)->kind]++;
    fabric_gpus(fabric, &n_hosts);
    ck_assert_uint_eq(n_hosts, trees[_i].hosts);
    ck_assert_uint_eq(of_kind[NODE_HOST], trees[_i].hosts);
    ck_assert_uint_eq(of_kind[NODE_LEAF], trees[_i].leaves);
    ck_assert_uint_eq(of_kind[NODE_SPINE], trees[_i].spines);
    ck_assert_uint_eq(of_kind[NODE_CORE], trees[_i].cores);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * trees[_i].cables);
    const Link *first = fabric_link(fabric, 0), *last = fabric_link(fabric, fabric_n_links(fabric) - 1);
    ck_assert_double_eq(first->capacity_Bps, trees[_i].edge_Gbps * 125e6);
    ck_assert_double_eq(last->capacity_Bps, trees[_i].top_Gbps * 125e6);
    ck_assert_int_eq(first->latency_ps, PS_PER_US);
    ck_assert_str_eq(first->source, "file");
}
END_TEST

/* Two pods of two leaves of two hosts, two spines a pod, bundles of two to four cores; every number another. */
static const char tree[] = "# a comment\nNODES 8\nTiers 3\r\nPodsize\t4 # hosts\n\nTier 0\nDownlink_speed_Gbps 200\n"
                           "Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 11\nSwitch_Latency_ns 100\nQueue_Up 5000\n"
                           "Queue_Down 6000\nTier 1\ndownlink_speed_gbps 200\nRadix_Down 2\nRadix_Up 4\n"
                           "Downlink_Latency_ns 12\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
                           "Downlink_Latency_ns 13\nBundle 2\nSwitch_Latency_ns 300";

/* How many links lead from one node to another; the first of them into *link. */
static uint32_t
links_between(const Fabric *fabric, const char *from, const char *to, const Link **link)
{
    uint32_t n, found = 0, a = fabric_find(fabric, from), b = fabric_find(fabric, to);
    ck_assert_msg(a != INDEX_NONE && b != INDEX_NONE, "%s %s", from, to);
    const uint32_t *links = fabric_out(fabric, a, &n);
    for (uint32_t i = n; i > 0; i--)
        if (fabric_link(fabric, links[i - 1])->dst == b) {
            *link = fabric_link(fabric, links[i - 1]);
            found++;
        }
    return found;
}

static const struct {
    const char *from, *to;
    uint32_t n;
    double Gbps;
    SimTime ns; /* propagation, and the latency of the switch it leaves */
    uint64_t buffer_B;
    const char *source; /* "default" where the latency of that switch is not given */
} cables[] = {
    {"host3", "leaf1", 1, 200, 11, 0, "file"},      {"leaf1", "host3", 1, 200, 111, 6000, "file"},
    {"leaf1", "spine0", 1, 200, 112, 5000, "file"}, {"leaf1", "spine1", 1, 200, 112, 5000, "file"},
    {"spine1", "leaf1", 1, 200, 12, 0, "default"},  {"spine1", "core1", 2, 100, 13, 0, "default"},
    {"spine1", "core3", 2, 100, 13, 0, "default"},  {"core3", "spine1", 2, 100, 313, 0, "file"},
    {"core3", "spine3", 2, 100, 313, 0, "file"},    {"leaf1", "spine2", 0, 0, 0, 0, NULL},
    {"spine1", "core0", 0, 0, 0, 0, NULL},          {"spine1", "core2", 0, 0, 0, 0, NULL},
    {"host4", "leaf1", 0, 0, 0, 0, NULL},           {"host4", "leaf2", 1, 200, 11, 0, "file"},
};

START_TEST(wires_speeds_and_latencies_are_those_of_the_file)
{
    g_autofree char *path = support_save(tree), *notes = NULL;
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, &notes, &error);
    g_unlink(path);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(notes, "tier 1: Switch_Latency_ns is not given; 0 is taken\n");
    for (uint32_t i = 0; i < G_N_ELEMENTS(cables); i++) {
        const Link *link = NULL;
        ck_assert_msg(links_between(fabric, cables[i].from, cables[i].to, &link) == cables[i].n, "%s - %s",
                      cables[i].from, cables[i].to);
        if (link == NULL)
            continue;
        ck_assert_double_eq(link->capacity_Bps, cables[i].Gbps * 125e6);
        ck_assert_int_eq(link->latency_ps, cables[i].ns * PS_PER_NS);
        ck_assert_uint_eq(link->buffer_B, cables[i].buffer_B);
        ck_assert_str_eq(link->source, cables[i].source);
    }
    ck_assert_str_eq(fabric_node(fabric, fabric_find(fabric, "host5"))->zone, "pod1");
    ck_assert_str_eq(fabric_node(fabric, fabric_find(fabric, "host5"))->rack, "rack2");
}
END_TEST

/* What of the tree above is replaced, by what, and the message after the file's name. */
static const struct {
    const char *old, *new, *message;
} wrong_trees[] = {
    {"Radix_Up 2\n", "Radix_Up 4\n", ":6: tier 0: Radix_Up is 4, but the other figures give 2"},
    {"Radix_Up 4\n", "Radix_Up 2\n", ":14: tier 1: Radix_Up is 2, but the other figures give 4"},
    {"Podsize\t4", "Podsize 3", ": Podsize 3 does not divide Nodes 8"},
    {"Podsize\t4", "Podsize 8", ":6: tier 0: Radix_Up is 2, but the other figures give 4"},
    {"NODES 8", "Nodes 12", ":14: tier 1: Radix_Up is 4, but the other figures give 6"},
    {"NODES 8", "Nodes 0", ":2: Nodes is \"0\", expected a whole number from 1 to 4194304"},
    {"NODES 8", "Nodes 9007199254740993",
     ":2: Nodes is \"9007199254740993\", expected a whole number from 1 to 4194304"},
    {"NODES 8", "Nodes -8", ":2: Nodes is \"-8\", expected a whole number from 1 to 4194304"},
    {"NODES 8", "Nodes", ":2: the line ends where Nodes is expected"},
    {"NODES 8", "Nodes 8 8", ":2: \"Nodes\" is followed by 2 words, expected one number"},
    {"Tiers 3", "Tiers 4", ":3: Tiers is \"4\", expected a whole number from 2 to 3"},
    {"Tiers 3", "Tiers 2", ":19: tier 2: Tiers is 2, so that the top tier is 1"},
    {"Tiers 3\r\n", "", ": Tiers is not given"},
    {"Tier 2", "Tier 1", ":19: tier 1 was given in line 14 already"},
    {"Tier 0", "Tier 3", ":6: Tier is \"3\", expected a whole number from 0 to 2"},
    {"Tier 0\n", "", ":6: Downlink_speed_Gbps stands before the first line \"Tier 0\""},
    {"downlink_speed_gbps 200\n", "",
     ":14: tier 1: Downlink_speed_Gbps is not given; add the speed of the links below the tier, like "
     "\"Downlink_speed_Gbps 100\""},
    {"Downlink_Latency_ns 13\n", "",
     ":19: tier 2: Downlink_Latency_ns is not given; add the propagation of the links below the tier, like "
     "\"Downlink_Latency_ns 1000\""},
    {"Radix_Up 4\n", "", ":14: tier 1: Radix_Up is not given; add the ports up of a switch, like \"Radix_Up 8\""},
    {"Radix_Down 4", "Radix_Down 8", ":14: tier 1: Radix_Up is 4, but the other figures give 2"},
    {"Bundle 2", "Radix_Up 2", ":19: tier 2: Radix_Up is given, but nothing stands above the top tier"},
    {"Bundle 2", "Bundle 3", ":14: tier 1: Radix_Up is 4, but the other figures give 6"},
    {"Bundle 2", "Bundles 2", ":23: there is no key \"Bundles\"; did you mean \"Bundle\"?"},
    {"Queue_Up 5000", "Bundle 2", ":6: tier 0: Bundle is 2; a host has one link, so it must be 1"},
    {"Queue_Up 5000", "Queue_Down 1", ":13: Queue_Down of tier 0 is given twice"},
    {"Queue_Up 5000", "Oversubscribed 3",
     ":6: tier 0: uplinks = Nodes x speed / (speed above x Oversubscribed) = 1600 / 600, which is no whole number"},
    {"# a comment", "Tier \x01", ":1: holds the byte 0x01, so this is no text file"},
    {"# a comment", "\xff", ":1: holds the byte 0xff, so this is no text file"},
};

/* text with its first old replaced. */
static char *
replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    ck_assert_msg(at != NULL, "%s", old);
    return g_strdup_printf("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

START_TEST(a_wrong_tree_is_refused_with_its_place)
{
    g_autofree char *text = replaced(tree, wrong_trees[_i].old, wrong_trees[_i].new);
    g_autofree char *path = support_save(text), *expected = g_strconcat(path, wrong_trees[_i].message, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(Fabric) fabric = topology_htsim.read(path, &topology_options_default, NULL, &error);
    g_unlink(path);
    ck_assert_ptr_null(fabric);
    ck_assert_str_eq(error->message, expected);
    ck_assert_int_eq(error->code, TRAINSHED_ERROR_INPUT);
}
END_TEST

/* A tree of 4 M hosts with 65,536 uplinks a leaf is refused before it is made. */
START_TEST(a_tree_beyond_all_measure_is_refused)
{
    g_autofree char *path =
        support_save("Nodes 4194304\nTiers 2\nPodsize 4194304\nTier 0\nDownlink_speed_Gbps 1024\n"
                     "Radix_Down 1\nRadix_Up 1024\nDownlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 1\n"
                     "Radix_Down 4194304\nDownlink_Latency_ns 1\n");
    GError *error = NULL;
    ck_assert_ptr_null(topology_htsim.read(path, &topology_options_default, NULL, &error));
    g_unlink(path);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "Radix_Down is \"4194304\", expected a whole number from 1 to 65536");
    g_free(path);
    path = support_save(
        "Nodes 65536\nTiers 2\nPodsize 65536\nTier 0\nDownlink_speed_Gbps 1024\nRadix_Down 1\nRadix_Up 1024\n"
        "Downlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 1\nRadix_Down 65536\nDownlink_Latency_ns 1\n");
    ck_assert_ptr_null(topology_htsim.read(path, &topology_options_default, NULL, &error));
    g_unlink(path);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         ": the tree has 67174400 cables, over the 50000000 this program takes on");
}
END_TEST

/* The lines of a matrix of four hosts, and the message after the file's name. */
static const struct {
    const char *text, *message;
} wrong_matrices[] = {
    {"Connections 1\n0->1 start 0 size 1\n", ":2: Nodes is not given before the first connection or trigger"},
    {"Nodes 4\n0->1 start 0 size 1\n", ":2: Connections is not given before the first connection or trigger"},
    {"Nodes 4\n", ": Connections is not given"},
    {"Nodes 4\nConnections 2\n0->1 start 0 size 1\n", ": 2 connections and 0 triggers are announced, 1 and 0 found"},
    {"Nodes 4\nConnections 1\nTriggers 0\n0->1 trigger 1 size 1\ntrigger id 1 oneshot\n",
     ": 1 connections and 0 triggers are announced, 1 and 1 found"},
    {"Nodes 4\nConnections 0\nFailures 1\n", ": 1 failures are announced, 0 found"},
    {"Nodes 4\nNodes 4\n", ":2: Nodes was given in line 1 already"},
    {"Nodes 4 4\n", ":1: \"Nodes\" is followed by 2 words, expected one number"},
    {"Nodes four\n", ":1: Nodes is \"four\", expected a whole number from 1 to 4194304"},
    {"Nodes 4\nConnections 1\n0->1 start 0 size 1\nTriggers 0\n",
     ":4: Triggers stands after the first connection or trigger"},
    {"Nodes 4\nConnections 1\nfailure switch_type TOR switch_id 0 link_id 0\n",
     ":3: a failure is of the fabric and not of its work: say it under faults in a scenario"},
    {"Nodes 4\nConnections 1\n0 -> 1 start 0 size 1\n", ":3: found \"0\", expected Nodes, Connections, Triggers, "
                                                        "Failures, a connection like \"0->1\", trigger or failure"},
    {"Nodes 4\nConnections 1\n0->4 start 0 size 1\n",
     ":3: \"0->4\" names no two hosts; expected numbers from 0 to 3 like \"0->1\""},
    {"Nodes 4\nConnections 1\n-1->3 start 0 size 1\n",
     ":3: \"-1->3\" names no two hosts; expected numbers from 0 to 3 like \"0->1\""},
    {"Nodes 4\nConnections 1\n2->2 start 0 size 1\n", ":3: host 2 sends to itself"},
    {"Nodes 4\nConnections 1\n0->1 size 1\n", ":3: the connection has neither start nor trigger; expected one of them"},
    {"Nodes 4\nConnections 1\n0->1 start 0 trigger 1 size 1\n",
     ":3: the connection has both start and trigger; expected one of them"},
    {"Nodes 4\nConnections 1\n0->1 start 0\n",
     ":3: the connection has no size; flows without an end are not simulated"},
    {"Nodes 4\nConnections 1\n0->1 start 0 size 0\n",
     ":3: size is \"0\", expected a whole number from 1 to 1125899906842624"},
    {"Nodes 4\nConnections 1\n0->1 start 0 size 1 size 1\n", ":3: size is given twice"},
    {"Nodes 4\nConnections 1\n0->1 start 0 size\n", ":3: the line ends where size is expected"},
    {"Nodes 4\nConnections 1\n0->1 start 0 sise 1\n",
     ":3: a connection has no attribute \"sise\"; did you mean \"size\"?"},
    {"Nodes 4\nConnections 1\n0->1 start 0.5 size 1\n",
     ":3: start is \"0.5\", expected a whole number of picoseconds from 0 to 2^63 - 1"},
    {"Nodes 4\nConnections 1\n0->1 start nan size 1\n",
     ":3: start is \"nan\", expected a whole number of picoseconds from 0 to 2^63 - 1"},
    {"Nodes 4\nConnections 1\n0->1 start 1e19 size 1\n",
     ":3: start is \"1e19\", expected a whole number of picoseconds from 0 to 2^63 - 1"},
    {"Nodes 4\nConnections 1\n0->1 id 0 start 0 size 1\n",
     ":3: id is \"0\", expected a whole number from 1 to 9007199254740992"},
    {"Nodes 4\nConnections 1\n0->1 id 9007199254740993 start 0 size 1\n",
     ":3: id is \"9007199254740993\", expected a whole number from 1 to 9007199254740992"},
    {"Nodes 4\nConnections 1\n0->1 start 0 size 1 addon\n",
     ":3: the attribute addon, which arms a barrier again, is not simulated"},
    {"Nodes 4\nConnections 1\n0->1 msg start 0 size 1\n", ":3: a msg needs the id of its connection"},
    {"Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1\n0->2 id 1 start 0 size 1\n",
     ":4: id 1 was given in line 3 already; only lines with msg share one"},
    {"Nodes 4\nConnections 2\n0->1 id 1 msg start 0 size 1\n0->2 id 1 msg start 0 size 1\n",
     ":4: id 1 is the connection 0->1 of line 3, and not 0->2"},
    {"Nodes 4\nConnections 2\n0->1 id 1 msg 5 start 0 size 1\n0->1 id 1 msg 4 start 0 size 1\n",
     ":4: msg is 4, expected more than 5 of line 3: messages stand in their order"},
    {"Nodes 4\nConnections 1\nTriggers 0\n0->1 start 0 size 1 recv_done_trigger 7\n",
     ":4: recv_done_trigger is 7, but there is no such trigger"},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger oneshot\n",
     ":4: the trigger has no id; expected a line like \"trigger id 1 oneshot\""},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1\n",
     ":4: the trigger has no kind; expected a line like \"trigger id 1 oneshot\""},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 oneshot barrier\n",
     ":4: barrier is given, but the trigger has oneshot already"},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 barrier\n",
     ":4: the trigger is barrier and has no count; a barrier alone has one"},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 oneshot count 2\n",
     ":4: the trigger is oneshot and has a count; a barrier alone has one"},
    {"Nodes 4\nConnections 0\nTriggers 2\ntrigger id 1 oneshot\ntrigger id 1 oneshot\n",
     ":5: trigger 1 is given twice"},
    {"Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 onceshot\n",
     ":4: a trigger has no attribute \"onceshot\"; did you mean \"oneshot\"?"},
    {"Nodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1\n"
     "0->1 start 0 size 1 send_done_trigger 1\ntrigger id 1 oneshot\n",
     ":6: trigger 1 is a oneshot for 1 activation, and gets 2"},
    {"Nodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1 send_done_trigger 1\n"
     "0->1 id 4 trigger 1 size 1\ntrigger id 1 multishot\n",
     ":6: trigger 1 is a multishot for 1 activation, and gets 2"},
    {"Nodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1\n0->1 id 4 trigger 1 size 1\n"
     "trigger id 1 barrier count 2\n",
     ":5: flow 4 never starts: its trigger 1 is activated 1 times by flows that do start, its count is needed"},
    {"Nodes 4\nConnections 2\nTriggers 2\n0->1 id 1 trigger 2 size 1 send_done_trigger 1\n"
     "1->2 id 2 trigger 1 size 1 send_done_trigger 2\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n",
     ":4: flow 1 never starts: its trigger 2 is activated 0 times by flows that do start, once is needed"},
    {"Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 msg trigger 1 size 1\n"
     "0->1 id 1 msg start 0 size 1 send_done_trigger 1\ntrigger id 1 oneshot\n",
     ":4: flow 1 message 1 never starts: its trigger 1 is activated 0 times by flows that do start, once is needed"},
};

START_TEST(a_wrong_matrix_is_refused_with_its_place)
{
    g_autofree char *path = support_save(wrong_matrices[_i].text);
    g_autofree char *expected = g_strconcat(path, wrong_matrices[_i].message, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(HtsimMatrix) matrix = htsim_matrix_read(path, &error);
    g_unlink(path);
    ck_assert_ptr_null(matrix);
    ck_assert_str_eq(error->message, expected);
    ck_assert_int_eq(error->code, TRAINSHED_ERROR_INPUT);
}
END_TEST

static const struct {
    const char *head, *trace, *topology; /* the formats that take it, NULL = none */
} heads[] = {
    {"Nodes 4\nConnections 1\n0->1 start 0 size 1\n", "htsim", NULL},
    {"\xef\xbb\xbf# matrix\n\nConnections 1\r\nNodes 4\r\n0->1 start 0 size 1\r\n", "htsim", NULL},
    {"# tree\nnodes 4\nTiers 2\n", NULL, "htsim"},
    {"Podsize 4\nNodes 4\nTiers 2\n", NULL, "htsim"},
    {"Nodes 4\nTiers 2\n", NULL, "htsim"},
    {"Nodesense 4\n", NULL, NULL},
    {"#", NULL, NULL},
};

START_TEST(trees_and_matrices_are_told_apart)
{
    g_autofree char *path = support_save(heads[_i].head);
    GError *error = NULL;
    const TraceFormat *trace = trace_format_recognise(path, &error);
    g_unlink(path);
    g_clear_error(&error);
    ck_assert_pstr_eq(trace != NULL ? trace->name : NULL, heads[_i].trace);
    ck_assert(topology_htsim.recognise(heads[_i].head, strlen(heads[_i].head)) == (heads[_i].topology != NULL));
}
END_TEST

/* The ops of a rank, one a line: "send flow 1 to 1 tag 0 after start of flow 1". */
static char *
listing(const Workload *workload, uint32_t rank)
{
    const Program *program = workload_program(workload, workload->program_of_rank[rank]);
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        g_string_append_printf(text, "%s%s %s", i > 0 ? "; " : "", op_kind_name(op->kind), program_op_name(program, i));
        if (op->kind == OP_HOST)
            g_string_append_printf(text, " %d ps", (int)op->duration_ps);
        else
            g_string_append_printf(text, " %d B", (int)op->bytes);
        for (uint32_t d = 0; d < op->n_deps; d++)
            g_string_append_printf(text, "%s%u", d == 0 ? " after " : " ",
                                   g_array_index(program->deps, uint32_t, op->first_dep + d));
    }
    return g_string_free(text, FALSE);
}

START_TEST(a_flow_is_a_send_a_recv_and_what_it_waits_for)
{
    g_autofree char *path = support_save("Nodes 4\nConnections 2\nTriggers 1\n"
                                         "0->1 id 5 start 40 size 100 send_done_trigger 9 prio 3\n"
                                         "1->2 trigger 9 size 7\ntrigger id 9 oneshot\n");
    GError *error = NULL;
    const TraceSource source = {.files = &path, .n_files = 1};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    g_unlink(path);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    static const char *const expected[] = {
        "host start of flow 5 40 ps; send flow 5 100 B after 0; recv end of flow 5 0 B; "
        "send signal of flow 1->2 of line 5 0 B after 2",
        "recv flow 5 100 B; send end of flow 5 0 B after 0; send flow 1->2 of line 5 7 B after 3; "
        "recv wait for flow 1->2 of line 5 0 B",
        "recv flow 1->2 of line 5 7 B",
        "",
    };
    for (uint32_t rank = 0; rank < 4; rank++) {
        g_autofree char *found = listing(workload, rank);
        ck_assert_str_eq(found, expected[rank]);
    }
    g_autofree char *description = g_strdup_printf("htsim, %s: 2 flows", path);
    ck_assert_str_eq(workload->description, description);
    ck_assert_uint_eq(workload->notes->len, 1);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0), "the priorities of 1 flows are not used");
}
END_TEST

START_TEST(hosts_without_a_flow_share_one_program)
{
    NEED_SHARED(path, "data/htsim/uet_gen_random_incast_8192n_64c_16us_1Ms.cm");
    GError *error = NULL;
    char *files[] = {(char *)(uintptr_t)path, NULL};
    const TraceSource source = {.files = files, .n_files = 1};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 8192);
    ck_assert_uint_eq(workload->programs->len, 64 + 1 + 1); /* 64 send, host 0 receives, the others rest */
}
END_TEST

START_TEST(a_matrix_is_one_file)
{
    char *files[] = {(char[]){"a.cm"}, (char[]){"b.cm"}, NULL};
    GError *error = NULL;
    const TraceSource source = {.files = files, .n_files = 2};
    ck_assert_ptr_null(trace_htsim.read(&source, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "a.cm and 1 more: a connection matrix is one file for all hosts");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("htsim");
    TCase *topo = tcase_create("trees");
    tcase_add_loop_test(topo, real_trees_have_the_counts_worked_out_by_hand, 0, G_N_ELEMENTS(trees));
    tcase_add_test(topo, wires_speeds_and_latencies_are_those_of_the_file);
    tcase_add_loop_test(topo, a_wrong_tree_is_refused_with_its_place, 0, G_N_ELEMENTS(wrong_trees));
    tcase_add_test(topo, a_tree_beyond_all_measure_is_refused);
    suite_add_tcase(suite, topo);
    TCase *matrix = tcase_create("matrices");
    tcase_add_loop_test(matrix, a_wrong_matrix_is_refused_with_its_place, 0, G_N_ELEMENTS(wrong_matrices));
    tcase_add_loop_test(matrix, trees_and_matrices_are_told_apart, 0, G_N_ELEMENTS(heads));
    tcase_add_test(matrix, a_flow_is_a_send_a_recv_and_what_it_waits_for);
    tcase_add_test(matrix, hosts_without_a_flow_share_one_program);
    tcase_add_test(matrix, a_matrix_is_one_file);
    suite_add_tcase(suite, matrix);
    return support_main(suite);
}
