/* test-topology-problems.c - of every topology format: a file with three mistakes, all three told with their lines */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const struct {
    const char *format, *text;
    const char *problems[3]; /* behind the path; the lines are those of the text, counted by hand */
} files[] = {
    {"graphml",
     "<graphml>\n"
     "<key id='k' for='node' attr.name='kind' attr.type='string'/>\n"
     "<key id='e' for='edge' attr.name='kind' attr.type='string'/>\n"
     "<key id='c' for='edge' attr.name='capacity_Bps' attr.type='double'/>\n"
     "<graph edgedefault='directed'>\n"
     "<node id='a'><data key='k'>toaster</data></node>\n"
     "<node id='b'><data key='k'>host</data></node>\n"
     "<node id='b'><data key='k'>host</data></node>\n"
     "<edge source='a' target='b'><data key='e'>ethernet</data><data key='c'>1e9</data></edge>\n"
     "<edge source='b' target='c'><data key='e'>ethernet</data><data key='c'>1e9</data></edge>\n"
     "</graph>\n</graphml>\n",
     {":6: node \"a\": kind is \"toaster\", expected gpu, nvswitch, ",
      ":8: node \"b\" is declared twice, first in line 7", ":10: edge \"b\" to \"c\": there is no node \"c\""}},
    {"astra-sim",
     "topology: [ Ring, Bus ]\nnpus_count: [ 4, 1 ]\nbandwidth: [ 50.0, 0 ]\nlatency: [ 500.0, 1.0 ]\n",
     {":1:19: topology[1]: found \"Bus\", expected Ring, Switch or FullyConnected",
      ":2:18: npus_count[1]: found \"1\", expected a whole number from 2 to ",
      ":3:20: bandwidth[1]: found \"0\", expected GB/s (of 2^30 bytes) above 0"}},
    {"batfish",
     "{\"edges\": [\n"
     "{\"node1\": {\"hostname\": \"a\"}, \"node2\": {\"hostname\": \"b\", \"interfaceName\": \"e1\"}},\n"
     "7,\n"
     "{\"node1\": {\"hostname\": \"a\", \"interfaceName\": \"e2\"}, \"node2\": {\"hostname\": 4, \"interfaceName\": "
     "\"e2\", \"hostname\": \"b\"}},\n"
     "{\"node1\": {\"hostname\": \"a\", \"interfaceName\": \"e3\"}, \"node2\": {\"hostname\": \"b\", "
     "\"interfaceName\": \"e3\"}}\n"
     "]}\n",
     {":2: an end needs hostname and interfaceName", ":3: edges: expected an edge", ":4: expected the name of a host"}},
    {"containerlab",
     "name: lab\ntopology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: srl}\n  links:\n"
     "    - endpoints: [\"a:e1\"]\n"
     "    - endpoints: [\"a:e1\", \"b:e1\"]\n"
     "    - endpoints: [\"a:e2\", \"b\"]\n"
     "    - endpoints: [\"a:e3\", \"c:e1\"]\n",
     {":7:7: topology.links[0]: a link needs two endpoints",
      ":9:27: topology.links[2].endpoints[1]: found \"b\", expected NODE:INTERFACE",
      ":10:27: topology.links[3].endpoints[1]: there is no node \"c\""}},
    {"gml",
     "graph [\n  directed 0\n  node [ id 0 label \"a\" Latitude 91 Longitude 2 ]\n  node [\n    id 1 label \"b\"id2 3 "
     "]\n"
     "  node [ label \"c\" ]\n  edge [ source 0 target 1 ]\n  edge [ source 1\n target 7 ]\n]\n",
     {":3: Latitude: found \"91\", expected a number from -90 to 90", ":6: node: needs an id",
      ":9: edge: there is no node 7 before it"}},
    {"htsim",
     "Nodes 16\nTiers 2\nPodsize sixteen\nTier 0\nDownlink_speed_Gbps 0\nRadix_Down 4\nRadix_Upp 4\nTier 1\n",
     {":3: Podsize is \"sixteen\", expected a whole number from 1 to ",
      ":5: Downlink_speed_Gbps is \"0\", expected a whole number from 1 to ",
      ":7: there is no key \"Radix_Upp\"; did you mean \"Radix_Up\"?"}},
    {"iblinkinfo",
     "Switch: 0x1 MF0;sw:MSB7700/U1:\n"
     "  2 18[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 1 1[  ] \"n01 HCA-1\" ( )\n"
     "  2 18[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 7 2[  ] \"n01 HCA-1\" ( )\n"
     "  2 19[  ] ==( 4X 10.0 Gbps\n"
     "  2 20[  ] == nothing\n",
     {":3: port 18 of \"S-0000000000000001\" is there already, at line 2",
      ":4: found \"2 19[  ] ==( 4X 10.0 Gbps\", expected CA:, Switch: or a port",
      ":5: found \"2 20[  ] == nothing\", expected CA:, Switch: or a port"}},
    {"ibnetdiscover",
     "Switch 8 \"S-1\"\n[1] \"H-1\"[1]\n[9] \"H-2\"[1]\n[2] nonsense\n\nCa 1 \"H-1\"\n[1] \"S-1\"[1]\n\n"
     "Ca 1 \"H-1\"\n[1] \"S-1\"[1]\n",
     {":3: port 9 of \"S-1\", which has 8", ":4: port 2: found \"nonsense\", expected the other end",
      ":9: \"H-1\" is there already, at line 6"}},
    {"latency-tables",
     "## June\n| Average latency (ms) | A | B |\n| --- | :-: | :-: |\n| **A** | | slow |\n| **C** | 1 | |\n"
     "| B | 1 |\n\n## May\n| Average latency (ms) | A | A |\n| X | y |\n",
     {":4: B: found \"slow\", expected milliseconds", ":5: row \"C\" is no column of its table",
      ":6: 2 cells, the table has 3"}},
    {"lldp",
     "Device ID            Local Intf      Hold-time  Capability  Port ID\n"
     "spine1               Eth1/1          120        BR          Ethernet1\n"
     "spine2               Eth1/2\n"
     "spine3               Eth1/3\n"
     "Total entries displayed: 4\n",
     {":3: 2 words, expected device, interface, hold time and port",
      ":4: 2 words, expected device, interface, hold time and port", ":5: 4 entries announced, 3 found"}},
    {"lldp",
     "Interface Ethernet1 detected 2 LLDP neighbors:\n\n  Neighbor 0011.2233.4455/\"Ethernet9\", age 3 seconds\n"
     "  - System Name: \"spine1\"\n\nInterface Ethernet2 detected 0 LLDP neighbors:\n\n"
     "  Neighbor 0011.2233.4456/\"Ethernet9\", age 3 seconds\n"
     "Interface Ethernet3 detected 0 LLDP neighbors:\n"
     "Interface Ethernet4 detected 1 LLDP neighbors:\n",
     {":1: Ethernet1: 2 neighbours announced, 1 found", ":6: Ethernet2: 0 neighbours announced, 1 found",
      ":10: Ethernet4: 1 neighbours announced, 0 found"}},
    {"nccl",
     "<system version='1'>\n<cpu numaid='0'>\n"
     "<pci busid='1' class='0x030200' link_speed='8 GT/s' link_width='many'><gpu dev='0'/></pci>\n"
     "<pci busid='2' link_speed='8 GT/s' link_width='16'/>\n"
     "<pci busid='3' class='0x030200' link_speed='8 GT/s' link_width='16'><gpu dev='2' sm='90'>\n"
     "<nvlink target='9' count='none' tclass='0x030200'/></gpu></pci>\n"
     "</cpu>\n</system>\n",
     {":3: pci: link_width is no number of lanes",
      ":4: pci: needs the attribute class, a gpu or a nic: ", ":6: nvlink: needs a count of 1 to 1024"}},
    {"netq",
     "[{\"links\": [{\"compounded_links\": [\n{\"interfaces\": [{\"node\": \"n1\", \"interface\": \"e1\"}]},\n"
     "{\"interfaces\": [{\"node\": \"n1\", \"interface\": \"e1\"}, {\"node\": \"n9\", \"interface\": \"e1\"}]}]}],\n"
     "\"nodes\": [{\"compounded_nodes\": [{\"id\": \"n1\", \"name\": \"leaf\", \"tier\": 1},\n"
     "{\"id\": \"n2\"}]}]}]\n",
     {":2: a compounded link needs two interfaces with their nodes", ":3: there is no node \"n9\"",
      ":5: a compounded node needs an id and a name"}},
    {"node-link",
     "{\"directed\": true, \"multigraph\": false,\n\"nodes\": [{\"id\": 1}, {\"id\": 2},\n{\"id\": 1},\n{\"name\": "
     "3}],\n"
     "\"links\": [{\"source\": 1, \"target\": 2},\n{\"source\": 2, \"target\": 5}]}\n",
     {":3: node is there already: \"1\"", ":4: a node has no id",
      ":6: a link leads to a node that is not there: \"5\""}},
    {"nvidia-smi",
     "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tNV4\tfar\t0-23\nGPU1\tNV4\t X \n"
     "GPU2\tPIX\tPIX\tPIX\t0-23\n",
     {":2: GPU0 to GPU2: found \"far\", expected ", ":3: GPU1 has 2 cells, expected 3",
      ":4: GPU2 to GPU2: found \"PIX\", expected X"}},
    {"rtt",
     "Source,A,B,A\nA,,1,2\n\nB,slow,,3\nC,1\n",
     {":1: a column's name is empty or there twice: \"A\"", ":4: A: found \"slow\", expected milliseconds",
      ":5: 2 fields, the first line has 4"}},
    {"simgrid",
     "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n<host id=\"a\"/>\n<link id=\"l\" "
     "bandwidth=\"1Gf\"/>\n"
     "<host id=\"b\" speed=\"1Gf\"/>\n<peer id=\"p\"/>\n</zone></platform>\n",
     {":2: host: speed is not given", ":3: link: l: \"1Gf\" is no bandwidth above 0",
      ":5: peer: is not read in a platform"}},
    {"slurm",
     "SwitchName=s0 Nodes=n[0-3\nSwitchName=s1\nSwitchName=s2 Nodes=n4 Switches=s9\n",
     {":1: s0: ", ":2: s1: needs Switches or Nodes", ":3: s2: there is no switch \"s9\""}},
    {"ns3",
     "4 2 4\n2 7\n0 2 100Gbps 1000ns 0\n1 3 fast 1000ns 0\n2 2 400Gbps 2us 0\n2 3 400Gbps 2us 0.5\n",
     {":2: the number of a switch is \"7\", expected a whole number from 0 to 3", ":4: rate \"fast\"",
      ":5: node 2 is linked to itself"}},
    {"sndlib",
     "?SNDlib native format; type: network\nNODES (\n A ( 1 2 )\n B ( 1 )\n C ( 1 2 )\n)\nLINKS (\n"
     " L1 ( A B ) 10.00 0 0 0 ( 1 2 )\n L2 ( A D ) 10.00 0 0 0 ( 1 2 )\n L3 ( A C ) much 0 0 0 ( 1 2 )\n)\n",
     {":4: node B: expected ( longitude latitude )", ":9: link L2: there is no node \"D\"",
      ":10: link L3: expected ( source target ) capacity"}},
    {"sonic-links",
     "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID\na,e1,b,e1,fast,1\n\n,e2,b,e2,100,1\na,e3,,e3,100,1\n",
     {":2: BandWidth: found \"fast\", expected Mb/s", ":4: a link without StartDevice",
      ":5: a link without EndDevice"}},
    {"sonic-minigraph",
     "<DeviceMiniGraph>\n<DeviceLinkBase><StartDevice>a</StartDevice></DeviceLinkBase>\n"
     "<DeviceLinkBase><EndDevice>a</EndDevice></DeviceLinkBase>\n"
     "<DeviceLinkBase><StartDevice>a</StartDevice><EndDevice>b</EndDevice><Bandwidth>-1</Bandwidth></DeviceLinkBase>\n"
     "</DeviceMiniGraph>\n",
     {":2: DeviceLinkBase: needs StartDevice and EndDevice", ":3: DeviceLinkBase: needs StartDevice and EndDevice",
      ":4: DeviceLinkBase: Bandwidth: found \"-1\", expected Mb/s"}},
    {"zoo",
     "<graphml>\n<key attr.name='Latitude' for='node' id='a'/>\n<graph>\n<node id='0'><data key='a'>91</data></node>\n"
     "<node/>\n<edge source='0' target='8'/>\n</graph>\n</graphml>\n",
     {":4: node: Latitude: expected a number from -90 to 90, found \"91\"", ":5: node: needs the attribute \"id\"",
      ":6: edge: there is no node \"8\""}},
};

/* Is text, behind the path, one of the file's three problems? */
static gboolean
is_expected(const char *path, const char *text, int file)
{
    for (guint i = 0; i < 3; i++)
        if (g_str_has_prefix(text, path) && g_str_has_prefix(text + strlen(path), files[file].problems[i]))
            return TRUE;
    return FALSE;
}

/* All three and no more, each once; none gets a fabric. */
START_TEST(three_mistakes_are_three_problems)
{
    g_autofree char *path = support_save(files[_i].text);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions options = {.default_rate_Bps = 1e9,
                               .nvlink_rate_Bps = 25e9,
                               .default_latency_ps = 1000,
                               .detour = 1,
                               .problems = problems};
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, files[_i].format, &options, NULL, &error));
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint i = 0; i < problems->len; i++)
        g_string_append_printf(all, "%s\n", (const char *)problems->pdata[i]);
    ck_assert_msg(problems->len == 3, "%s: %s%s", files[_i].format, all->str, error->message);
    for (guint i = 0; i < 3; i++) {
        ck_assert_msg(is_expected(path, problems->pdata[i], _i), "%s: %s", files[_i].format, all->str);
        for (guint k = 0; k < i; k++)
            ck_assert_str_ne(problems->pdata[i], problems->pdata[k]);
    }
    g_autofree char *count = g_strconcat(path, ": 3 problems", NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, count);
    g_unlink(path);
}
END_TEST

/* Where none are collected the first that is found is the error. */
START_TEST(the_first_mistake_stops)
{
    g_autofree char *path = support_save(files[_i].text);
    const TopologyOptions options = {
        .default_rate_Bps = 1e9, .nvlink_rate_Bps = 25e9, .default_latency_ps = 1000, .detour = 1};
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, files[_i].format, &options, NULL, &error));
    ck_assert_msg(is_expected(path, error->message, _i), "%s: %s", files[_i].format, error->message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, path);
    g_unlink(path);
}
END_TEST

START_TEST(every_format_has_a_file_here)
{
    size_t n;
    const TopologyFormat *const *formats = topology_formats(&n);
    for (size_t f = 0; f < n; f++) {
        gboolean found = FALSE;
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
            found = found || strcmp(files[i].format, formats[f]->name) == 0;
        ck_assert_msg(found, "format %s has no file with three mistakes", formats[f]->name);
    }
}
END_TEST

/* A file of nothing but mistakes is given up after 1000 of them. */
START_TEST(a_thousand_problems_are_enough)
{
    g_autoptr(GString) text = g_string_new("Source,A,B\n");
    for (int i = 0; i < 5000; i++)
        g_string_append(text, "A,x,y\n");
    g_autofree char *path = support_save(text->str);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions options = {.default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1, .problems = problems};
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, "rtt", &options, NULL, &error));
    ck_assert_uint_eq(problems->len, 1000);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "these are 1000 problems: no more are looked for");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("topology problems");
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, three_mistakes_are_three_problems, 0, G_N_ELEMENTS(files));
    tcase_add_loop_test(tcase, the_first_mistake_stops, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, every_format_has_a_file_here);
    tcase_add_test(tcase, a_thousand_problems_are_enough);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
