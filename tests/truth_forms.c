/* truth_forms.c - rows of closed_forms.csv that are about rates and long links: max-min fair shares, fluid sharing,
 * one-way delay, bandwidth-delay product, window over round trip, oversubscription. */
#include "network_fixture.h"
#include "reference.h"
#include "truth.h"

#include "fabric/generate.h"
#include "network/maxmin.h"

#include <stdio.h>

static Fixture f;

static void
tell(const TruthForm *form, double expected, double measured, double share)
{
    gboolean group = strcmp(form->inputs, "-") == 0; /* the group then says them */
    g_autofree char *what = g_strdup_printf("%s: %s", group ? form->group : form->inputs, form->quantity);
    gboolean unit = g_ascii_isalpha(form->unit[0]) && !g_str_has_prefix(form->unit, "same");
    truth_within(&(TruthRow){what, truth_source(form), unit ? form->unit : "", expected, measured}, share);
}

/* The cases of the file: capacities, and for each flow the links it crosses (a bit each), its weight and its cap. */
enum { FLOWS = 8, LINKS = 6 };
static const struct {
    const char *inputs;
    uint32_t n_links, n_flows;
    double capacity[LINKS];
    uint32_t crosses[FLOWS];
    double weight[FLOWS], cap[FLOWS]; /* 0: 1, and none */
} shares[] = {
    {"one link C=10, demands 2,2.6,4,5", 1, 4, {10}, {1, 1, 1, 1}, {0}, {2, 2.6, 4, 5}},
    {"parking lot: 3 links C=1, one long flow + one per link", 3, 4, {1, 1, 1}, {7, 1, 2, 4}, {0}, {0}},
    {"L1=1 carries A,B,C; L2=2 carries A,D", 2, 4, {1, 2}, {3, 1, 1, 2}, {0}, {0}},
    {"L1=10: f1,f2,f3; L2=4: f2,f4; L3=6: f3,f5", 3, 5, {10, 4, 6}, {1, 3, 5, 2, 4}, {0}, {0}},
    {"incast 7 to 1, C=400", 1, 7, {400}, {1, 1, 1, 1, 1, 1, 1}, {0}, {0}},
    {"weighted 1:2:3 on C=12", 1, 3, {12}, {1, 1, 1}, {1, 2, 3}, {0}},
    {"leaf-spine 2x2 uplinks 400, four 400G flows hashed 3:1",
     6,
     4,
     {400, 400, 400, 400, 400, 400}, /* two uplinks, four hosts */
     {1 | 4, 1 | 8, 1 | 16, 2 | 32},
     {0},
     {0}},
};

static void
check_share(const TruthForm *row)
{
    size_t which = 0;
    while (which < G_N_ELEMENTS(shares) && strcmp(shares[which].inputs, row->inputs) != 0)
        which++;
    ck_assert_msg(which < G_N_ELEMENTS(shares), "\"%s\"", row->inputs);
    unsigned wanted;
    ck_assert_int_eq(sscanf(row->quantity, "rate of flow %u", &wanted), 1);
    g_autoptr(MaxMin) solver = maxmin_new(shares[which].n_links);
    ReferenceTransfer transfers[FLOWS] = {0};
    ReferenceHop hops[FLOWS][LINKS];
    uint32_t ids[FLOWS], all[FLOWS], n;
    double capacity[LINKS];
    for (uint32_t l = 0; l < shares[which].n_links; l++)
        maxmin_set_capacity(solver, l, capacity[l] = shares[which].capacity[l]);
    for (uint32_t i = 0; i < shares[which].n_flows; i++) {
        MaxMinUse uses[LINKS];
        uint32_t n_uses = 0;
        for (uint32_t l = 0; l < LINKS; l++)
            if (shares[which].crosses[i] >> l & 1) {
                hops[i][n_uses] = (ReferenceHop){l, 1};
                uses[n_uses++] = (MaxMinUse){l, 1};
            }
        double weight = shares[which].weight[i] > 0 ? shares[which].weight[i] : 1;
        double cap = shares[which].cap[i] > 0 ? shares[which].cap[i] : INFINITY;
        ids[i] = maxmin_add(solver, uses, n_uses, weight, cap);
        transfers[i] = (ReferenceTransfer){.weight = weight, .cap_Bps = cap, .route = {hops[i], n_uses, 0}};
        all[i] = i;
    }
    maxmin_solve(solver, &n);
    long double rates[FLOWS];
    reference_solve(&(Reference){.capacity_Bps = capacity,
                                 .n_links = shares[which].n_links,
                                 .transfers = transfers,
                                 .n_transfers = shares[which].n_flows},
                    all, shares[which].n_flows, rates);
    tell(row, row->value, maxmin_rate(solver, ids[wanted - 1]), 1e-8); /* 9 decimals in the file */
    ck_assert_double_eq_tol((double)rates[wanted - 1], row->value, 1e-8);
}

START_TEST(max_min_fair_shares)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Max-min fair shares (the solver of `fluid`)");
    ck_assert_uint_eq(truth_each_form(path, "max-min fair share", check_share), 31);
}
END_TEST

/* Two transfers on one link of 10 B/s: of 100 and 200 bytes together, or of 100 each, the second 5 s later. */
static void
check_sharing(const TruthForm *row)
{
    gboolean together = strstr(row->group, "start together") != NULL;
    fixture_begin(&f);
    uint32_t x = fixture_node(&f, NODE_HOST, "x"), y = fixture_node(&f, NODE_HOST, "y");
    fixture_cable(&f, x, y, 10, 0);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer one = fixture_transfer(&f, x, y, 100), two = fixture_transfer(&f, x, y, together ? 200 : 100);
    fixture_send(&f, &one, 1);
    fixture_send_at(&f, together ? 0 : 5 * PS_PER_S, &two, 2);
    fixture_run(&f);
    unsigned wanted;
    ck_assert_int_eq(sscanf(row->quantity, "finish of flow %u", &wanted), 1);
    tell(row, row->value, sim_time_seconds(f.delivered[wanted]), 0);
    fixture_end(&f);
}

START_TEST(sharing_over_time)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Sharing over time (`fluid`)");
    ck_assert_uint_eq(truth_each_form(path, "fluid sharing", check_sharing), 4);
}
END_TEST

/* Two buildings joined by one cable; the latency of the cut comes from its length. */
static Fabric *
two_buildings(double km, double rate_Bps, const Link **cut)
{
    g_autoptr(GenerateSpec) spec = generate_spec_new();
    spec->server.gpus = spec->server.nics = 1;
    spec->server.nic_rate_Bps = 800e9 / 8;
    spec->n_buildings = 2;
    spec->buildings = g_new0(BuildingSpec, 2);
    spec->buildings[0] = (BuildingSpec){g_strdup("A"), 1};
    spec->buildings[1] = (BuildingSpec){g_strdup("B"), 1};
    spec->n_cuts = 1;
    spec->cuts = g_new0(CutSpec, 1);
    spec->cuts[0] = (CutSpec){
        .between = CUT_BUILDINGS, .links = 1, .rate_Bps = rate_Bps, .length_km = km, .latency_ps = -1, .mesh = TRUE};
    GError *error = NULL;
    Fabric *fabric = generate_fabric(spec, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        if (fabric_link(fabric, l)->kind == LINK_INTERBUILDING)
            *cut = fabric_link(fabric, l);
    return fabric;
}

static void
check_delay(const TruthForm *row)
{
    double km;
    ck_assert_int_eq(sscanf(row->inputs, "%lf km", &km), 1);
    const Link *cut = NULL;
    g_autoptr(Fabric) fabric = two_buildings(km, 1e9, &cut);
    tell(row, row->value, (double)cut->latency_ps / PS_PER_US, 1e-12);
}

START_TEST(delays_of_fibre)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Delay of fibre (cuts of generated fabrics)");
    ck_assert_uint_eq(truth_each_form(path, "long link: one-way delay", check_delay), 7);
}
END_TEST

/* What one transfer from building to building gets under this window. */
static double
rate_under(const Fabric *fabric, uint64_t window_B)
{
    g_autoptr(Engine) engine = engine_new(1);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    NetworkConfig config = network_config_default();
    config.limits[PATH_BUILDINGS].window_B = window_B;
    g_autoptr(Network) network = network_new("fluid", &config, routes, engine, NULL, NULL);
    network_add_job(network, "a");
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    Transfer transfer = {.src = gpus[0],
                         .dst = gpus[1],
                         .src_nic = INDEX_NONE,
                         .dst_nic = INDEX_NONE,
                         .bytes = 1,
                         .weight = 1,
                         .rate_cap_Bps = INFINITY};
    NetworkProbe probe;
    ck_assert(network_probe(network, &transfer, &probe, NULL));
    return probe.rate_Bps;
}

/* The same in packets: ten windows of whole packets of about so many wire bytes over a link. An ACK is back a round
 * trip after its packet has left whole, and takes its own time: what passes is within two packets of the window. */
static void
packets_under(double delay_s, double rate_Bps, double window_B, const TruthRow *row)
{
    enum { WIRE_B = 9216, HEADER_B = 64, WINDOWS = 10, FEWEST = 100 };
    uint64_t n = (uint64_t)llround(window_B / WIRE_B);
    if (n < FEWEST) /* nothing that packets of this size can show */
        return;
    g_autofree char *window = g_strdup_printf("%" G_GUINT64_FORMAT " B", n * WIRE_B);
    TransportSetting settings[] = {{"window", window}};
    fixture_begin(&f);
    uint32_t x = fixture_node(&f, NODE_HOST, "x"), y = fixture_node(&f, NODE_HOST, "y");
    fixture_cable(&f, x, y, rate_Bps, (SimTime)llround(delay_s * PS_PER_S));
    f.config.packet.mtu_B = WIRE_B - HEADER_B;
    f.config.packet.settings = settings;
    f.config.packet.n_settings = 1;
    f.config.books = FALSE;
    fixture_network(&f, "packet", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, x, y, WINDOWS * n * (WIRE_B - HEADER_B));
    fixture_send(&f, &t, 0);
    fixture_run(&f);
    /* Nine round trips until the last window begins, and its time on the wire. */
    double one_s = (double)n * WIRE_B / rate_Bps, round_s = (sim_time_seconds(f.sent[0]) - one_s) / (WINDOWS - 1);
    g_autofree char *what = g_strdup_printf("%s, in packets of %d B", row->what, WIRE_B);
    truth_within(&(TruthRow){what, row->source, row->unit, row->expected, (double)n * WIRE_B / round_s * 8e-9},
                 2 * WIRE_B / window_B);
    fixture_end(&f);
}

/* That many bytes in flight fill the link, half of them half of it. */
static void
check_product(const TruthForm *row)
{
    double km, Gbps;
    ck_assert_int_eq(sscanf(row->inputs, "%lf km %lf Gb/s", &km, &Gbps), 2);
    const Link *cut = NULL;
    g_autoptr(Fabric) fabric = two_buildings(km, Gbps * 1e9 / 8, &cut);
    uint64_t product = (uint64_t)llround(row->value);
    double full_Bps = Gbps * 1e9 / 8;
    ck_assert_double_eq_tol(rate_under(fabric, 2 * product), full_Bps, 1);
    const char *source = truth_source(row);
    const struct {
        const char *more;
        double share;
    } windows[] = {{"that in flight", 1}, {"half of it", 0.5}};
    for (uint32_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        g_autofree char *text = g_strdup_printf("%s, %s: rate", row->inputs, windows[i].more);
        double rate_Bps = rate_under(fabric, (uint64_t)((double)product * windows[i].share));
        TruthRow told = {text, source, "Gb/s", Gbps * windows[i].share, rate_Bps * 8e-9};
        truth_within(&told, 1e-9);
        if (km < 1000 || support_at_length())
            packets_under(km * 5e-6, full_Bps, (double)product * windows[i].share, &told);
    }
}

START_TEST(bandwidth_delay_products)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Bandwidth-delay product (`fluid` and `packet`)");
    ck_assert_uint_eq(truth_each_form(path, "long link: BDP", check_product), 21);
}
END_TEST

/* Ten windows, sent: the time is ten round trips. */
static void
check_window(const TruthForm *row)
{
    uint64_t window;
    double round_trip_s;
    ck_assert_int_eq(sscanf(row->inputs, "W=%" G_GUINT64_FORMAT "B RTT=%lfs", &window, &round_trip_s), 2);
    fixture_begin(&f);
    uint32_t x = fixture_node(&f, NODE_HOST, "x"), y = fixture_node(&f, NODE_HOST, "y");
    fixture_cable(&f, x, y, 100e9, (SimTime)llround(round_trip_s / 2 * PS_PER_S));
    f.config.limits[PATH_NETWORK].window_B = window;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, x, y, 10 * window);
    fixture_send(&f, &t, 0);
    fixture_run(&f);
    double Gbps = 10.0 * (double)window * 8 / ((double)f.sent[0] / PS_PER_S) / 1e9;
    tell(row, row->value, Gbps, 1e-9);
    fixture_end(&f);
    packets_under(round_trip_s / 2, 100e9, (double)window,
                  &(TruthRow){row->inputs, truth_source(row), row->unit, row->value});
}

START_TEST(window_over_round_trip)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Window over round trip (`fluid` and `packet`)");
    ck_assert_uint_eq(truth_each_form(path, "window limit", check_window), 2);
}
END_TEST

/* r hosts a side, each with the line rate, and one uplink of it: the taper is r, and everybody sends across. */
static void
check_taper(const TruthForm *row)
{
    unsigned r;
    ck_assert_int_eq(sscanf(row->inputs, "r=%u", &r), 1);
    fixture_begin(&f);
    uint32_t left = fixture_node(&f, NODE_LEAF, "left"), right = fixture_node(&f, NODE_LEAF, "right"), hosts[2][64];
    fixture_cable(&f, left, right, 1e9, 0);
    for (uint32_t i = 0; i < 2 * r; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        hosts[i % 2][i / 2] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, hosts[i % 2][i / 2], i % 2 ? right : left, 1e9, 0);
    }
    fixture_network(&f, "fluid", ROUTING_ECMP);
    for (uint32_t i = 0; i < r * r; i++) { /* everyone to everyone on the other side, 1e9 / r bytes */
        Transfer there = fixture_transfer(&f, hosts[0][i / r], hosts[1][i % r], 1000000000);
        Transfer back = fixture_transfer(&f, hosts[1][i / r], hosts[0][i % r], 1000000000);
        fixture_send(&f, &there, 2 * i);
        fixture_send(&f, &back, 2 * i + 1);
    }
    fixture_run(&f);
    SimTime first = SIM_TIME_MAX, last = 0; /* a host's r GB at its line rate take r seconds */
    for (uint32_t i = 0; i < 2 * r * r; i++) {
        first = MIN(first, f.sent[i]);
        last = MAX(last, f.sent[i]);
    }
    ck_assert_int_eq(first, last);
    tell(row, row->value, r / sim_time_seconds(last), 1e-9);
    fixture_end(&f);
}

START_TEST(tapered_tier)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Oversubscription (`fluid`)");
    ck_assert_uint_eq(truth_each_form(path, "oversubscription", check_taper), 1);
}
END_TEST

TCase *
truth_forms(void)
{
    TCase *cases = tcase_create("forms");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, max_min_fair_shares);
    tcase_add_test(cases, sharing_over_time);
    tcase_add_test(cases, delays_of_fibre);
    tcase_add_test(cases, bandwidth_delay_products);
    tcase_add_test(cases, window_over_round_trip);
    tcase_add_test(cases, tapered_tier);
    return cases;
}
