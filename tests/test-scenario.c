#include "base/error.h"
#include "network/network.h"
#include "scenario/scenario.h"
#include "support.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *folder, *path;

static void
setup(void)
{
    folder = g_dir_make_tmp("trainshed-scenario-XXXXXX", NULL);
    path = g_build_filename(folder, "s.yaml", NULL);
}

static void
teardown(void)
{
    g_remove(path);
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
    g_clear_pointer(&path, g_free);
}

/* The example of DEFINITIONS 8, a line a key. */
static const char whole[] =
    "name: two-buildings-two-tenants\n"
    "seed: 7\n"
    "fabric:\n"
    "  generate:\n"
    "    server: {gpus: 8, gpu: {name: h100, peak: 989 TFLOP/s, memory: 80 GiB, memory_bandwidth: 3350 GB/s}, "
    "nvlink: {rate: 450 GB/s, latency: 300 ns}, nics: 8, nic: {rate: 400 Gb/s}, forward: none}\n"
    "    zone: {servers: 2, network: switch, link: {rate: 400 Gb/s, latency: 600 ns}, oversubscription: 1}\n"
    "    buildings: [{name: A, zones: 2}, {name: B, zones: 1}]\n"
    "    regions: [{name: north, buildings: [A, B]}]\n"
    "    cuts: [{between: zones, links: 2, rate: 400 Gb/s, latency: 1 us}, {between: buildings, links: 4, "
    "oversubscription: 4, length: 2 km}]\n"
    "network: {model: fluid, routing: ecmp, slice: 512 KiB}\n"
    "collectives: {grain: steps, channels: 8, channel_weights: equal, reduce_cost: 0 s/B, all_reduce: ring}\n"
    "measure: common\n"
    "jobs:\n"
    "  - {name: alpha, trace: [traces/dlrm*.json.gz], execution_trace: [traces/et*.json.gz], format: kineto, gpus: 8, "
    "placement: {policy: spread, over: building}, iterations: 10, warmup: 1, arrival: 0 s, start: recorded}\n"
    "  - {name: beta, trace: [traces/llama/llama.*.et], groups: traces/llama/llama.json, format: chakra, gpus: 2, "
    "placement: {policy: given, gpus: [north/A/0/0/gpu0, north/B/0/0/gpu0]}, until: alpha, scale_bytes: 64, "
    "compute_scale: 1}\n"
    "baseline: true\n"
    "record: {level: collectives, bucket: 1 ms}\n"
    "faults: []\n";

static Scenario *
read_text(const char *text, const char *const *sets, GError **error)
{
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    return scenario_read(path, sets, error);
}

/* A path below the scenario's folder. */
static void
check_below(const char *got, const char *name)
{
    g_autofree char *expected = g_build_filename(folder, name, NULL);
    ck_assert_pstr_eq(got, expected);
}

START_TEST(the_example_of_the_definitions_is_read)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Scenario) s = read_text(whole, NULL, &error);
    ck_assert_msg(s != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(s->name, "two-buildings-two-tenants");
    ck_assert_uint_eq(s->seed, 7);
    ck_assert_str_eq(s->model, "fluid");
    ck_assert_int_eq(s->routing, ROUTING_ECMP);
    ck_assert_int_eq(s->measure, MEASURE_COMMON);
    ck_assert_int_eq(s->record, RECORD_COLLECTIVES);
    ck_assert_int_eq(s->bucket_ps, PS_PER_MS);
    ck_assert(s->baseline && s->collisions && s->n_faults == 0);
    ck_assert_uint_eq(s->collectives.slice_B, 512 * 1024);
    ck_assert_uint_eq(s->collectives.channels, 8);
    ck_assert_str_eq(s->collectives.algorithm[COLLECTIVE_ALL_REDUCE], "ring");
    ck_assert_ptr_null(s->collectives.algorithm[COLLECTIVE_BROADCAST]);
    ck_assert_uint_eq(s->n_jobs, 2);
    const JobSpec *a = &s->jobs[0], *b = &s->jobs[1];
    check_below(a->trace[0], "traces/dlrm*.json.gz");
    check_below(a->execution_trace[0], "traces/et*.json.gz");
    check_below(b->groups, "traces/llama/llama.json");
    ck_assert_str_eq(a->format, "kineto");
    ck_assert_int_eq(a->placement.policy, PLACEMENT_SPREAD);
    ck_assert_str_eq(a->placement.over, "building");
    ck_assert(a->iterations == 10 && a->warmup == 1 && a->until == INDEX_NONE && !a->start_together);
    ck_assert_double_eq(a->scale_bytes, 1);
    ck_assert(b->iterations == 0 && b->until == 0 && b->gpus == 2);
    ck_assert_str_eq(b->placement.gpus[1], "north/B/0/0/gpu0");
    ck_assert_double_eq(b->scale_bytes, 64);
    ck_assert_uint_eq(b->collectives.channels, 8);
    ck_assert(a->line == 14 && a->column == 5);
}
END_TEST

START_TEST(the_fabric_of_the_example_is_read)
{
    g_autoptr(Scenario) s = read_text(whole, NULL, NULL);
    const GenerateSpec *g = s->generate;
    ck_assert(g->server.gpus == 8 && g->server.nics == 8 && g->server.nic_ports == 1);
    ck_assert_str_eq(g->server.gpu, "h100");
    ck_assert_double_eq(g->server.peak_FLOPps, 989e12);
    ck_assert_uint_eq(g->server.memory_B, UINT64_C(80) << 30);
    ck_assert_double_eq(g->server.memory_bandwidth_Bps, 3350e9);
    ck_assert_double_eq(g->server.nvlink_rate_Bps, 450e9);
    ck_assert_int_eq(g->server.nvlink_latency_ps, 300000);
    ck_assert_double_eq(g->server.nic_rate_Bps, 50e9);
    ck_assert_int_eq(g->server.forward, FORWARD_NONE);
    ck_assert(g->zone.servers == 2 && g->zone.network == ZONE_SWITCH);
    ck_assert_int_eq(g->zone.link_latency_ps, 600000);
    ck_assert(g->n_buildings == 2 && g->buildings[0].zones == 2);
    ck_assert_str_eq(g->buildings[1].name, "B");
    ck_assert(g->n_regions == 1 && g->regions[0].n_buildings == 2 && g->regions[0].buildings[1] == 1);
    ck_assert(g->n_cuts == 2 && g->cuts[0].between == CUT_ZONES && g->cuts[0].latency_ps == PS_PER_US);
    ck_assert(isnan(g->cuts[0].length_km) && g->cuts[0].oversubscription == 0 && g->cuts[0].rate_Bps == 50e9);
    ck_assert(g->cuts[1].latency_ps == -1 && g->cuts[1].length_km == 2 && g->cuts[1].oversubscription == 4);
    ck_assert(g->cuts[1].links == 4 && g->cuts[1].rate_Bps == 0 && !g->cuts[1].mesh);
}
END_TEST

/* 2 x 2 + 1 x 2 servers of 8 GPUs in all. */
START_TEST(the_fabric_of_the_example_is_made)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Scenario) s = read_text(whole, NULL, NULL);
    g_autoptr(Fabric) fabric = scenario_fabric(s, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    uint32_t n;
    fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, 48);
    ck_assert_uint_ne(fabric_find(fabric, "north/B/0/0/gpu0"), INDEX_NONE);
    static const char *const sets[] = {"fabric.generate.zone.servers=1", NULL};
    g_autoptr(Fabric) alone = scenario_fabric_file(path, sets, &error);
    ck_assert_msg(alone != NULL, "%s", error ? error->message : "");
    fabric_gpus(alone, &n);
    ck_assert_uint_eq(n, 24);
}
END_TEST

static const char small[] = "fabric: {file: f.graphml}\n"
                            "jobs:\n"
                            "  - {name: a, program: p, iterations: 2}\n";

START_TEST(what_is_left_out_has_its_default)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Scenario) s = read_text(small, NULL, &error);
    ck_assert_msg(s != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(s->name, "s");
    ck_assert(s->seed == 1 && s->generate == NULL && s->fabric_format == NULL && s->baseline);
    check_below(s->fabric_file, "f.graphml");
    check_below(s->jobs[0].program, "p");
    ck_assert_str_eq(s->model, "fluid");
    ck_assert_double_eq(s->payload_fraction, 1);
    ck_assert_uint_eq(s->collectives.slice_B, 512 * 1024);
    ck_assert_uint_eq(s->collectives.channels, 0);
    ck_assert_int_eq(s->measure, MEASURE_COMMON);
    ck_assert_int_eq(s->record, RECORD_COLLECTIVES);
    const JobSpec *job = &s->jobs[0];
    ck_assert(job->placement.policy == PLACEMENT_PACKED && job->gpus == 0 && job->warmup == 1 && job->trace == NULL);
    ck_assert(job->arrival_ps == 0 && job->compute_scale == 1 && job->peak_FLOPps == 0);
}
END_TEST

START_TEST(sets_are_read_like_the_file)
{
    static const char *const sets[] = {"network.slice=none",
                                       "network.model=analytic",
                                       "network.loggops={o: 1 us, g: 2 us, G: 1 ns/kB, O: 0 s/B, S: 64 kB}",
                                       "network.payload_fraction=0.5",
                                       "network.limits={network: {window: 1 MiB}, regions: {window: 64 MiB, "
                                       "queue_pairs: 4, recovery: go_back_n, packet: 1 kB}}",
                                       "network.pinned=[[x, y, z]]",
                                       "jobs[0].arrival=5 ms",
                                       "jobs[0].peak=312 TFLOP/s",
                                       "jobs[0].memory_bandwidth=2 TB/s",
                                       "jobs[0].collectives={grain: bundle, all_to_all: pairwise}",
                                       "jobs[1]={name: b, trace: /t/x.json, until: a, start: together, warmup: 7, "
                                       "placement: {policy: axis, axis: dp, over: building}}",
                                       "faults=[{at: 1 ms, from: x, to: y, rate: 0 B/s, cable: 2, both: false}]",
                                       "record={level: flows, bucket: 10 us, collisions: false}",
                                       "baseline=false",
                                       NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Scenario) s = read_text(small, sets, &error);
    ck_assert_msg(s != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(s->model, "analytic");
    ck_assert_uint_eq(s->collectives.slice_B, 0);
    ck_assert(s->loggops.o_ps == PS_PER_US && s->loggops.g_ps == 2 * PS_PER_US && s->loggops.S_B == 64000);
    ck_assert_double_eq(s->loggops.G_s_per_B, 1e-12);
    ck_assert_double_eq(s->payload_fraction, 0.5);
    ck_assert(s->limits[PATH_NETWORK].window_B == 1048576 && s->limits[PATH_BUILDINGS].window_B == 1048576);
    ck_assert(s->limits[PATH_BUILDINGS].queue_pairs == 1 && s->limits[PATH_BUILDINGS].recovery == LOSSES_IGNORED);
    ck_assert(s->limits[PATH_REGIONS].window_B == 67108864 && s->limits[PATH_REGIONS].queue_pairs == 4);
    ck_assert(s->limits[PATH_REGIONS].recovery == LOSSES_GO_BACK_N && s->limits[PATH_REGIONS].packet_B == 1000);
    ck_assert_uint_eq(s->pinned->len, 1);
    ck_assert_str_eq(((char **)s->pinned->pdata[0])[2], "z");
    ck_assert_int_eq(s->measure, MEASURE_OWN); /* one arrives later */
    ck_assert_double_eq(s->jobs[0].peak_FLOPps, 312e12);
    ck_assert_double_eq(s->jobs[0].memory_bandwidth_Bps, 2e12);
    ck_assert_int_eq(s->jobs[0].collectives.grain, GRAIN_BUNDLE);
    ck_assert_uint_eq(s->jobs[0].collectives.slice_B, 0); /* from the scenario's */
    ck_assert_str_eq(s->jobs[0].collectives.algorithm[COLLECTIVE_ALL_TO_ALL], "pairwise");
    ck_assert_int_eq(s->jobs[1].collectives.grain, GRAIN_STEPS);
    ck_assert_str_eq(s->jobs[1].trace[0], "/t/x.json");
    ck_assert(s->jobs[1].until == 0 && s->jobs[1].start_together && s->jobs[1].warmup == 7);
    ck_assert_str_eq(s->jobs[1].placement.axis, "dp");
    ck_assert(s->n_faults == 1 && s->faults[0].cable == 2 && !s->faults[0].both && s->faults[0].at_ps == PS_PER_MS);
    ck_assert(s->record == RECORD_FLOWS && s->bucket_ps == 10 * PS_PER_US && !s->collisions && !s->baseline);
}
END_TEST

/* One slip each: what of the example is replaced, by what, and the whole message behind the file's name. */
static const struct {
    const char *old, *new, *error;
} slips[] = {
    {"seed: 7", "seed: -7", ":2:7: seed: found \"-7\", expected a whole number"},
    {"seed: 7", "seed: \"7\"", ":2:7: seed: found \"7\", expected a whole number without quotes"},
    {"seed: 7", "seed: 18446744073709551616",
     ":2:7: seed: found 18446744073709551616, expected 0 to 18446744073709551615"},
    {"seed: 7", "seed:", ":2:6: seed: found nothing, expected a whole number"},
    {"seed: 7", "sed: 7",
     ":2:1: sed: unknown key; did you mean \"seed\"? (known: name, seed, fabric, network, collectives, measure, queue, "
     "jobs, "
     "baseline, memo, record, faults)"},
    {"seed: 7", "name: x", ":2:1: name: duplicate key; it stands in line 1 already"},
    {"name: two-buildings-two-tenants", "name: [x]", ":1:7: name: found a list, expected a text"},
    {"name: two-buildings-two-tenants", "name: ''", ":1:7: name: found an empty text"},
    {"measure: common", "measure: commn",
     ":12:10: measure: found \"commn\", expected one of common, own; did you mean \"common\"?"},
    {"baseline: true", "baseline: yes", ":16:11: baseline: found \"yes\", expected true or false"},
    {"baseline: true", "baseline: 'true'", ":16:11: baseline: found \"true\", expected true or false without quotes"},
    {"bucket: 1 ms", "bucket: 1", ":17:38: record.bucket: time \"1\" has no unit; write for example \"1 ms\""},
    {"bucket: 1 ms", "bucket: 0 s", ":17:38: record.bucket: found \"0 s\", expected a time above 0"},
    {"level: collectives", "level: all",
     ":17:17: record.level: found \"all\", expected one of summary, iterations, collectives, flows, packets"},
    {"model: fluid", "model: fluids",
     ":10:18: network.model: found \"fluids\", expected one of fluid, packet, analytic, recorded; did you mean "
     "\"fluid\"?"},
    {"routing: ecmp", "routing: ecnp",
     ":10:34: network.routing: found \"ecnp\", expected one of ecmp, spray, adaptive, dmodk, pinned; did you mean "
     "\"ecmp\"?"},
    {"slice: 512 KiB", "slice: 512", ":10:47: network.slice: size \"512\" has no unit; write for example \"512 MiB\""},
    {"slice: 512 KiB", "slice: 0 B", ":10:47: network.slice: found \"0 B\", expected a size above 0"},
    {"slice: 512 KiB", "limits: {regions: {recovery: go_back}}",
     ":10:69: network.limits.regions.recovery: found \"go_back\", expected one of none, go_back_n, selective_repeat; "
     "did you mean \"go_back_n\"?"},
    {"slice: 512 KiB", "limits: {building: {window: 1 MiB}}",
     ":10:49: network.limits.building: unknown key; did you mean \"buildings\"? (known: network, buildings, regions)"},
    {"slice: 512 KiB", "payload_fraction: 1.5",
     ":10:58: network.payload_fraction: found 1.5, expected a number above 0 and at most 1"},
    {"slice: 512 KiB", "pinned: [[a]]", ":10:49: network.pinned[0]: found one node, expected the nodes along a path"},
    {"slice: 512 KiB", "loggops: {o: 1}",
     ":10:53: network.loggops.o: time \"1\" has no unit; write for example \"1 ms\""},
    {"slice: 512 KiB", "packet: {mtu: 64 KiB}",
     ":10:54: network.packet.mtu: found \"64 KiB\", expected at most 65535 B"},
    {"slice: 512 KiB", "packet: {mtu: 65500 B}",
     ":10:48: network.packet: packet: mtu 65500 B and header 64 B; expected an mtu above 0, both at most 65535 B"},
    {"slice: 512 KiB", "packet: {ecn: {kmin: 2 kB, kmax: 1 kB}}",
     ":10:48: network.packet: packet: ecn kmin 2000 B is above kmax 1000 B"},
    {"slice: 512 KiB", "packet: {bufer: 2 kB}",
     ":10:49: network.packet.bufer: unknown key; did you mean \"buffer\"? (known: mtu, header, ack, switching, buffer, "
     "shared_buffer, alpha, ecn, pfc, trim, control_first, classes, reroute_delay)"},
    {"slice: 512 KiB", "packet: {pfc: {xoff: 1 kB, xon: 2 kB}}",
     ":10:48: network.packet: packet: pfc xon 2000 B is above xoff 1000 B"},
    {"slice: 512 KiB", "packet: {classes: {gamma: 1}}",
     ":10:66: network.packet.classes.gamma: there is no job \"gamma\""},
    {"slice: 512 KiB", "packet: {classes: {alpha: 7}}",
     ":10:66: network.packet.classes.alpha: found 7, expected 0 to 6"},
    {"slice: 512 KiB", "transport: {name: windows}",
     ":10:58: network.transport.name: found \"windows\", expected one of window, dcqcn, swift, timely, hpcc, ndp; did "
     "you "
     "mean \"window\"?"},
    {"slice: 512 KiB", "transport: {windo: 1 MB}",
     ":10:59: network.transport.windo: transport window has no \"windo\"; do you mean \"window\"?"},
    {"slice: 512 KiB", "transport: {window: 1}",
     ":10:60: network.transport.window: size \"1\" has no unit; write for example \"1 MiB\""},
    {"slice: 512 KiB", "transport: {recovery: none}",
     ":10:62: network.transport.recovery: found \"none\", expected go_back_n, selective_repeat or "
     "reorder_tolerant"},
    {"all_reduce: ring", "all_reduce: rng",
     ":11:98: collectives.all_reduce: found \"rng\", expected one of auto, binomial, direct, double_tree, "
     "halving_doubling, hierarchical, recursive_doubling, ring, tree; did you mean \"ring\"?"},
    {"reduce_cost: 0 s/B", "reduce_cost: 0",
     ":11:79: collectives.reduce_cost: cost per byte \"0\" has no unit; write for example \"0 ps/B\""},
    {"grain: steps", "grain: step",
     ":11:22: collectives.grain: found \"step\", expected one of steps, bundle; did you mean \"steps\"?"},
    {"server: {gpus: 8", "server: {gpus: 0", ":5:20: fabric.generate.server.gpus: found 0, expected 1 to 65536"},
    {"server: {gpus: 8", "server: {gpus: 8.5",
     ":5:20: fabric.generate.server.gpus: found \"8.5\", expected a whole number"},
    {"peak: 989 TFLOP/s", "peak: 989",
     ":5:47: fabric.generate.server.gpu.peak: compute rate \"989\" has no unit; write for example \"989 TFLOP/s\""},
    {"nic: {rate: 400 Gb/s}", "nic: {rate: 0 Gb/s}",
     ":5:170: fabric.generate.server.nic.rate: found \"0 Gb/s\", expected a rate above 0"},
    {"forward: none", "forward: nvlink",
     ":5:190: fabric.generate.server.forward: found \"nvlink\", expected one of none, pxn, mesh"},
    {"network: switch", "network: swich",
     ":6:33: fabric.generate.zone.network: found \"swich\", expected one of rail, rail_only, clos2, clos3, dragonfly, "
     "torus, switch; did you mean \"switch\"?"},
    {"link: {rate: 400 Gb/s", "link: {rate: 400",
     ":6:54: fabric.generate.zone.link.rate: rate \"400\" has no unit; write for example \"400 Gb/s\""},
    {"oversubscription: 1}", "oversubscription: 0}",
     ":6:100: fabric.generate.zone.oversubscription: found 0, expected a number above 0"},
    {"oversubscription: 1}", "oversubscription: nan}",
     ":6:100: fabric.generate.zone.oversubscription: found \"nan\", expected a number"},
    {"{name: B, zones: 1}", "{name: A, zones: 1}",
     ":7:45: fabric.generate.buildings[1].name: a building is called \"A\" already"},
    {"{name: B, zones: 1}", "{zones: 1}", ":7:38: fabric.generate.buildings[1]: needs a name"},
    {"buildings: [A, B]}]", "buildings: [A, C]}]",
     ":8:44: fabric.generate.regions[0].buildings[1]: there is no building \"C\""},
    {"buildings: [A, B]}]", "buildings: [A, A]}]",
     ":8:44: fabric.generate.regions[0].buildings[1]: building \"A\" is in a region already"},
    {"buildings: [A, B]}]", "buildings: [A]}]", ":8:14: fabric.generate.regions: building \"B\" is in no region"},
    {"buildings: [A, B]}]", "buildings: []}]", ":8:15: fabric.generate.regions[0]: needs buildings, at least one"},
    {"oversubscription: 4", "oversubscription: 4, rate: 1 Gb/s",
     ":9:129: fabric.generate.cuts[1].rate: oversubscription is given too; a cut has one of them"},
    {"oversubscription: 4, ", "", ":9:71: fabric.generate.cuts[1]: needs oversubscription or rate"},
    {"length: 2 km", "length: 2 km, latency: 1 us",
     ":9:146: fabric.generate.cuts[1].latency: length is given too; a cut has one of them"},
    {"length: 2 km", "mesh: true", ":9:71: fabric.generate.cuts[1]: needs length or latency"},
    {"length: 2 km", "length: 2",
     ":9:131: fabric.generate.cuts[1].length: length \"2\" has no unit; write for example \"2 km\""},
    {"links: 4, ", "", ":9:71: fabric.generate.cuts[1]: needs links: how many"},
    {"between: buildings", "between: zones",
     ":9:81: fabric.generate.cuts[1].between: a cut between zones is given already"},
    {"faults: []", "faults: [{at: 1 ms, from: a, to: a, rate: 0 B/s}]",
     ":18:34: faults[0].to: from and to are the same node"},
    {"faults: []", "faults: [{at: 1 ms, from: a, to: b}]", ":18:10: faults[0]: needs rate"},
    {"faults: []", "faults: {}", ":18:9: faults: found a map, expected a list"},
    {"gpus: 8, placement", "gpu: 8, placement",
     ":14:105: jobs[0].gpu: unknown key; did you mean \"gpus\"? (known: name, trace, execution_trace, groups, sizes, "
     "dimensions, program, "
     "format, model, layout, schedule, micro_batch, global_batch, sequence, recompute, overlap, fused_attention, "
     "unfused_norms, gathered_logits, check_memory, optimiser_bytes, gpus, model_parallel, rank_is, replicate, "
     "placement, iterations, warmup, until, arrival, estimate, priority, shift, start, "
     "scale_bytes, "
     "compute_scale, "
     "peak, "
     "memory_bandwidth, collectives, weights)"},
    {"policy: spread", "policy: spred",
     ":14:134: jobs[0].placement.policy: found \"spred\", expected one of packed, spread, random, building, rail, "
     "axis, map, "
     "reserved, given; did you mean \"spread\"?"},
    {"policy: spread, over: building", "over: building", ":14:125: jobs[0].placement: needs a policy"},
    {"policy: spread, over: building", "policy: packed, over: building",
     ":14:148: jobs[0].placement.over: means nothing to policy packed"},
    {"policy: spread, over: building", "policy: spread, over: rack",
     ":14:148: jobs[0].placement.over: found \"rack\", expected one of building, zone, server"},
    {"policy: spread, over: building", "policy: axis, over: building",
     ":14:125: jobs[0].placement: policy axis needs axis and over"},
    {"policy: spread, over: building", "policy: given",
     ":14:125: jobs[0].placement: policy given needs gpus: a list of node names, one a rank"},
    {"iterations: 10", "iterations: 1",
     ":14:182: jobs[0].warmup: warmup 1 is not less than the 1 iterations, so that none counts"},
    {"iterations: 10, warmup: 1", "iterations: 1",
     ":14:5: jobs[0]: warmup 1 (the default) is not less than the 1 iterations, so that none counts"},
    {"iterations: 10", "iterations: 0", ":14:171: jobs[0].iterations: found 0, expected 1 to 1000000000"},
    {"iterations: 10, warmup: 1, ", "", ":14:5: jobs[0]: needs iterations or until"},
    {"iterations: 10", "iterations: 10, until: beta",
     ":14:182: jobs[0].until: iterations is given too; a job has one of them"},
    {"arrival: 0 s", "arrival: -1 s", ":14:195: jobs[0].arrival: time \"-1 s\" is negative"},
    {"start: recorded", "start: now", ":14:207: jobs[0].start: found \"now\", expected one of recorded, together"},
    {"name: beta", "name: alpha", ":15:12: jobs[1].name: jobs[0] is called \"alpha\" already"},
    {"name: beta, ", "", ":15:5: jobs[1]: needs a name"},
    {"until: alpha", "until: beta", ":15:189: jobs[1].until: the job waits for itself"},
    {"until: alpha", "until: alfa", ":15:189: jobs[1].until: there is no job \"alfa\"; did you mean \"alpha\"?"},
    {"until: alpha", "until: gamma", ":15:189: jobs[1].until: there is no job \"gamma\""},
    {"iterations: 10, warmup: 1", "until: beta",
     ":14:166: jobs[0].until: jobs wait for each other in a circle: none of them would end"},
    {"scale_bytes: 64", "scale_bytes: 64 B", ":15:209: jobs[1].scale_bytes: found \"64 B\", expected a number"},
    {"groups: traces/llama/llama.json", "program: p",
     ":15:61: jobs[1].program: trace is given too; a job has one of them"},
    {"trace: [traces/llama/llama.*.et], groups: traces/llama/llama.json, format: chakra, ", "",
     ":15:5: jobs[1]: needs trace, program or model"},
    {"trace: [traces/llama/llama.*.et]", "trace: []", ":15:25: jobs[1].trace: found an empty list"},
    {"gpus: 2, placement", "gpus: 3, placement", ":15:143: jobs[1].placement.gpus: found 2 GPUs, expected the job's 3"},
    {"north/B/0/0/gpu0", "north/A/0/0/gpu0",
     ":15:162: jobs[1].placement.gpus[1]: \"north/A/0/0/gpu0\" is in the list already"},
};

/* text with its first `old` replaced by `new`. */
static char *
replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    ck_assert_msg(at != NULL, "\"%s\" is not in the example", old);
    return g_strdup_printf("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

START_TEST(a_slip_is_refused_with_its_place_and_what_was_expected)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = replaced(whole, slips[_i].old, slips[_i].new);
    g_autoptr(Scenario) s = read_text(text, NULL, &error);
    ck_assert_msg(s == NULL, "\"%s\" was taken", slips[_i].new);
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    ck_assert(g_str_has_prefix(error->message, path));
    ck_assert_str_eq(error->message + strlen(path), slips[_i].error);
}
END_TEST

static const struct {
    const char *text, *error;
} wholes[] = {
    {"seed: 7\n", ":1:1: needs fabric"},
    {"fabric: {file: x}\n", ":1:1: needs jobs"},
    {"fabric: {file: x}\njobs: []\n", ":2:7: jobs: found an empty list, expected at least one job"},
    {"- a\n", ":1:1: found a list, expected a map"},
    {"fabric: {}\n", ":1:9: fabric: needs file or generate"},
    {"fabric: {file: x, generate: {}}\n", ":1:29: fabric.generate: file is given too; a fabric has one of them"},
    {"fabric: {generate: {}, format: graphml}\n", ":1:32: fabric.format: means nothing without file"},
    {"fabric: {file: x, format: graphm}\n", ":1:27: fabric.format: there is no topology format \"graphm\"; did you "
                                            "mean \"graphml\"; 'trainshed topology --help' lists them"},
};

START_TEST(what_is_missing_as_a_whole_is_named)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(read_text(wholes[_i].text, NULL, &error));
    ck_assert_str_eq(error->message + strlen(path), wholes[_i].error);
}
END_TEST

START_TEST(a_bad_set_names_itself)
{
    static const char *const sets[] = {"jobs[0].iterations=x", NULL}, *const broken[] = {"jobs[7].iterations=1", NULL};
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(read_text(small, sets, &error));
    ck_assert_str_eq(error->message + strlen(path),
                     ": --set: jobs[0].iterations: found \"x\", expected a whole number");
    g_clear_error(&error);
    ck_assert_ptr_null(read_text(small, broken, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "--set \"jobs[7].iterations=1\": jobs has 1 entries");
}
END_TEST

/* The generator's own checks come with the place of the value they speak of. */
START_TEST(the_generators_errors_have_a_place)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = replaced(whole, "nics: 8", "nics: 3");
    g_autoptr(Scenario) s = read_text(text, NULL, &error);
    ck_assert_ptr_nonnull(s);
    ck_assert_ptr_null(scenario_fabric(s, &error));
    ck_assert_str_eq(error->message + strlen(path), ":5:155: fabric.generate.server.nics: 3 NICs cannot be shared "
                                                    "evenly by 8 GPUs; 2 or 4 can");
}
END_TEST

START_TEST(the_names_are_those_of_the_rooms)
{
    for (int i = 0; i <= ZONE_SWITCH; i++) {
        g_autofree char *set = g_strdup_printf("fabric.generate.zone.network=%s", zone_network_name((ZoneNetwork)i));
        const char *const sets[] = {set, NULL};
        g_autoptr(Scenario) s = read_text(whole, sets, NULL);
        ck_assert_int_eq((int)s->generate->zone.network, i);
    }
    for (int i = 0; i <= ROUTING_PINNED; i++) {
        g_autofree char *set = g_strdup_printf("network.routing=%s", routing_policy_name((RoutingPolicy)i));
        const char *const sets[] = {set, NULL};
        g_autoptr(Scenario) s = read_text(whole, sets, NULL);
        ck_assert_int_eq((int)s->routing, i);
    }
    for (int i = 0; i <= FORWARD_MESH; i++) {
        g_autofree char *set = g_strdup_printf("fabric.generate.server.forward=%s", forward_name((ForwardMode)i));
        const char *const sets[] = {set, NULL};
        g_autoptr(Scenario) s = read_text(whole, sets, NULL);
        ck_assert_int_eq((int)s->generate->server.forward, i);
    }
    for (int i = 0; i < COLLECTIVE_KINDS; i++) {
        g_autofree char *set = g_strdup_printf("collectives.%s=auto", collective_kind_name((CollectiveKind)i));
        const char *const sets[] = {set, NULL};
        g_autoptr(Scenario) s = read_text(whole, sets, NULL);
        ck_assert_str_eq(s->collectives.algorithm[i], "auto");
    }
    ck_assert_str_eq(placement_policy_name(PLACEMENT_AXIS), "axis");
}
END_TEST

/* The keys of each map, as an unknown one brings them to light, stand in trainshed-scenario(5). */
START_TEST(every_key_stands_in_the_manual)
{
    static const char *const maps[] = {"",
                                       "fabric.",
                                       "fabric.generate.",
                                       "fabric.generate.server.",
                                       "fabric.generate.server.gpu.",
                                       "fabric.generate.server.nvlink.",
                                       "fabric.generate.server.pcie.",
                                       "fabric.generate.server.nic.",
                                       "fabric.generate.zone.",
                                       "fabric.generate.zone.link.",
                                       "fabric.generate.buildings[0].",
                                       "fabric.generate.regions[0].",
                                       "fabric.generate.cuts[0].",
                                       "network.",
                                       "network.limits.",
                                       "network.limits.regions.",
                                       "network.settings[0].",
                                       "network.loggops.",
                                       "network.packet.",
                                       "network.packet.ecn.",
                                       "network.packet.pfc.",
                                       "collectives.",
                                       "queue.",
                                       "jobs[0].",
                                       "jobs[0].placement.",
                                       "jobs[0].collectives.",
                                       "record.",
                                       "faults[0]."};
    g_autofree char *manual = NULL;
    ck_assert(g_file_get_contents(support_source("doc/trainshed-scenario.5"), &manual, NULL, NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(maps); i++) {
        g_autofree char *set = g_strdup_printf("%szzzzzzzz=1", maps[i]);
        const char *const sets[] = {set, NULL};
        g_autoptr(GError) error = NULL;
        ck_assert_ptr_null(read_text(whole, sets, &error));
        char *list = strstr(error->message, "unknown key (known: ");
        ck_assert_msg(list != NULL, "%s: %s", set, error->message);
        *strrchr(list, ')') = '\0';
        g_auto(GStrv) keys = g_strsplit(list + strlen("unknown key (known: "), ", ", -1);
        for (size_t k = 0; keys[k] != NULL; k++) {
            g_autofree char *pattern = g_strdup_printf("(?m)^\\.(It Cm .*|Cm |Ss )\\b%s\\b", keys[k]);
            ck_assert_msg(g_regex_match_simple(pattern, manual, 0, 0), "%s%s is not documented", maps[i], keys[k]);
        }
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("scenario");
    TCase *tc = tcase_create("scenario");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_example_of_the_definitions_is_read);
    tcase_add_test(tc, the_fabric_of_the_example_is_read);
    tcase_add_test(tc, the_fabric_of_the_example_is_made);
    tcase_add_test(tc, what_is_left_out_has_its_default);
    tcase_add_test(tc, sets_are_read_like_the_file);
    tcase_add_loop_test(tc, a_slip_is_refused_with_its_place_and_what_was_expected, 0, (int)G_N_ELEMENTS(slips));
    tcase_add_loop_test(tc, what_is_missing_as_a_whole_is_named, 0, (int)G_N_ELEMENTS(wholes));
    tcase_add_test(tc, a_bad_set_names_itself);
    tcase_add_test(tc, the_generators_errors_have_a_place);
    tcase_add_test(tc, the_names_are_those_of_the_rooms);
    tcase_add_test(tc, every_key_stands_in_the_manual);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
