/* truth_long_link.c - 100 km of fibre at 400 Gb/s into a switch that pauses, drained at a lower rate: what headroom
 * loses nothing, and what resume level keeps the drain busy. A pause or resume is heeded T = 2 L / v + t_resp later as
 * the switch sees it: 1 ms + 3.84 us. Packets of 9216 B on the wire. Lossless at full rate needs both. */
#include "network_fixture.h"
#include "truth.h"

#include <stdio.h>

#define GBPS 1.25e8

static Fixture f;

enum { WIRE_B = 9216, HEADER_B = 64 };
static const double fast_Bps = 400 * GBPS;
static const SimTime fibre_ps = 500 * PS_PER_US, response_ps = 3840 * PS_PER_NS, short_ps = 1 * PS_PER_US;
static const double round_s = 1003.84e-6;

typedef struct {
    double fast_Bps;  /* 0 = 400 Gb/s */
    SimTime fibre_ps; /* 0 = 100 km */
    double drain_Bps;
    uint64_t xoff_B, xon_B, headroom_B, bytes;
    const char *recovery;
} Case;

typedef struct {
    double goodput_Bps; /* of payload, from the first bit at the switch to the last byte delivered */
    PacketTotals totals;
} Result;

static Result
play(const Case *c)
{
    TransportSetting settings[] = {{"window", "100 GB"}, {"recovery", c->recovery}};
    fixture_begin(&f);
    uint32_t source = fixture_node(&f, NODE_HOST, "source"), sink = fixture_node(&f, NODE_HOST, "sink");
    uint32_t far = fixture_node(&f, NODE_DCI, "switch");
    fixture_cable(&f, source, far, c->fast_Bps > 0 ? c->fast_Bps : fast_Bps, c->fibre_ps > 0 ? c->fibre_ps : fibre_ps);
    fixture_cable(&f, far, sink, c->drain_Bps, short_ps);
    PacketConfig *config = &f.config.packet;
    config->mtu_B = WIRE_B - HEADER_B;
    config->pfc = TRUE;
    config->pfc_xoff_B = c->xoff_B;
    config->pfc_xon_B = c->xon_B;
    config->pfc_headroom_B = c->headroom_B;
    config->pfc_response_ps = response_ps;
    config->settings = settings;
    config->n_settings = G_N_ELEMENTS(settings);
    f.config.books = FALSE;
    fixture_network(&f, "packet", ROUTING_ECMP);
    Transfer transfer = fixture_transfer(&f, source, sink, c->bytes);
    fixture_send(&f, &transfer, 0);
    fixture_run(&f);
    ck_assert_int_gt(f.delivered[0], 0);
    Result result = {.totals = network_totals(f.network).packet};
    result.goodput_Bps = (double)c->bytes / sim_time_seconds(f.delivered[0] - fibre_ps);
    fixture_end(&f);
    return result;
}

static const double payload = (WIRE_B - HEADER_B) / (double)WIRE_B;

static void
expect(const char *what, const char *source, const char *unit, double least, double most, double measured)
{
    truth_between(&(TruthRow){what, source, unit, 0, measured}, least, most);
}

/* C T + 2 MTU = 50e9 x 1003.84 us + 2 x 9216 = 50,210,432 B (closed_forms.csv, F314), whatever the drain. With 40 MB
 * and a drain of 40 Gb/s, (C - D) T = 45.2 MB come after xoff: some are lost, and go-back-N sends what was already on
 * its way again. */
START_TEST(headroom_of_the_formula_loses_nothing_and_less_does)
{
    truth_part("Lossless link of 100 km (`packet`): 400 Gb/s, packets of 9216 B, response 3.84 us");
    Case c = {.drain_Bps = 40 * GBPS,
              .xoff_B = 10000000,
              .xon_B = 9990784,
              .headroom_B = 50210432,
              .bytes = 400000000,
              .recovery = "go_back_n"};
    ck_assert_uint_eq(c.headroom_B, (uint64_t)(fast_Bps * round_s) + 2 * WIRE_B);
    Result enough = play(&c);
    const char *source = "F314: C (2L/v + t) + 2 MTU = 50,210,432 B";
    expect("headroom of 50.2 MB, drain 40 Gb/s: dropped", source, "packets", 0, 0, (double)enough.totals.dropped);
    expect("the same: sent again", source, "packets", 0, 0, (double)enough.totals.resent);
    expect("the same: pauses", "it does fill", "", 2, INFINITY, (double)enough.totals.pauses);
    truth_within(
        &(TruthRow){"the same: goodput", "D x payload / wire", "Gb/s", 40 * payload, enough.goodput_Bps / GBPS}, 0.01);
    c.headroom_B = 40000000;
    Result less = play(&c);
    expect("headroom of 40 MB: dropped", "(C - D)(2L/v + t) = 45.2 MB come after xoff", "packets", 1, INFINITY,
           (double)less.totals.dropped);
    expect("the same: sent again beside one dropped", "go-back-N: more than was lost", "", 1 + 1e-9, INFINITY,
           (double)less.totals.resent / (double)less.totals.dropped);
    expect("the same: goodput", "falls below that without drops by more than 5 %", "Gb/s", 0,
           0.95 * enough.goodput_Bps / GBPS, less.goodput_Bps / GBPS);
}
END_TEST

/* The same with hardly a drain (10 Mb/s): all of C T comes after xoff. For each length and rate of
 * closed_forms.csv; with 4 packets less, and what drains in T, some are lost. */
static void
check_headroom(const TruthForm *form)
{
    double km, Gbps;
    ck_assert_int_eq(sscanf(form->inputs, "%lf km %lf Gb/s MTU=9216 t_resp=3.84 us", &km, &Gbps), 2);
    if (km > 1000 && !support_at_length())
        return;
    Case c = {.fast_Bps = Gbps * GBPS,
              .fibre_ps = (SimTime)(km * 5 * PS_PER_US),
              .drain_Bps = 0.01 * GBPS,
              .xoff_B = 100000,
              .xon_B = 90784,
              .headroom_B = (uint64_t)llround(form->value),
              .bytes = (uint64_t)form->value + 1000000,
              .recovery = "selective_repeat"};
    g_autofree char *what =
        g_strdup_printf("%s: dropped with a headroom of %" G_GUINT64_FORMAT " B", form->inputs, c.headroom_B);
    expect(what, truth_source(form), "packets", 0, 0, (double)play(&c).totals.dropped);
    double drained_B = c.drain_Bps * sim_time_seconds(2 * c.fibre_ps + response_ps);
    uint32_t fewer = 4 + (uint32_t)ceil(drained_B / WIRE_B);
    c.headroom_B -= fewer * WIRE_B;
    g_autofree char *less = g_strdup_printf("%u packets less: dropped", fewer);
    expect(less, "the formula is tight: 2 MTU, 2 more, and what drains", "packets", 1, INFINITY,
           (double)play(&c).totals.dropped);
}

START_TEST(the_formula_is_tight)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv");
    truth_part("Headroom by length and rate (`packet`): a drain of 10 Mb/s, all of C (2L/v + t) comes after xoff");
    ck_assert_uint_eq(truth_each_form(path, "long link: PFC headroom", check_headroom), 21);
}
END_TEST

/* Resumed at D T = 12,548,000 B the drain of 100 Gb/s is never idle: the last byte arrives when all of it has been
 * drained without a gap. */
START_TEST(a_resume_level_of_a_round_trip_keeps_the_drain_busy)
{
    Case c = {.drain_Bps = 100 * GBPS,
              .xoff_B = 12548000 + 2 * WIRE_B,
              .xon_B = 12548000 + 2 * WIRE_B,
              .headroom_B = 50210432,
              .bytes = 1000000000,
              .recovery = "go_back_n"};
    Result result = play(&c);
    const char *source = "XON = D (2L/v + t) = 12,548,000 B and a packet or two";
    ck_assert_uint_gt(result.totals.pauses, 10);
    expect("XON at D (2L/v + t), drain 100 Gb/s: dropped", source, "packets", 0, 0, (double)result.totals.dropped);
    double full = c.drain_Bps / GBPS * payload;
    expect("the same: goodput, the drain never idle", "D x payload / wire, less the last packet's way", "Gb/s",
           0.9999 * full, full, result.goodput_Bps / GBPS);
}
END_TEST

/* At a tenth of it the switch runs dry. A cycle: it fills from empty to xoff at C - D (33.5 us); takes (C - D) T more
 * while the pause travels; drains down to xon; and while the resume and the first packets travel it drains xon, a tenth
 * of T, and idles nine tenths. */
START_TEST(a_tenth_of_it_idles_the_drain)
{
    const double xon_B = 1254800;
    Case c = {.drain_Bps = 100 * GBPS,
              .xoff_B = 1254800,
              .xon_B = 1254800,
              .headroom_B = 50210432,
              .bytes = 2000000000,
              .recovery = "go_back_n"};
    Result result = play(&c);
    expect("XON at a tenth of it: dropped", "headroom as above", "packets", 0, 0, (double)result.totals.dropped);
    double rise_s = xon_B / (fast_Bps - c.drain_Bps), fall_s = (fast_Bps - c.drain_Bps) * round_s / c.drain_Bps;
    double idle_s = round_s - xon_B / c.drain_Bps, cycle_s = rise_s + round_s + fall_s + round_s;
    double by_hand_Bps = c.drain_Bps * payload * (1 - idle_s / cycle_s);
    ck_assert_double_eq_tol(by_hand_Bps, 0.8212 * c.drain_Bps * payload, 1e-4 * c.drain_Bps);
    expect("the same: share of the time in which the drain idles", "above 0", "%", 1, 100,
           100 * (1 - result.goodput_Bps / (c.drain_Bps * payload)));
    truth_within(&(TruthRow){"the same: goodput",
                             "by hand: D (1 - idle / cycle), idle = T - xon/D, cycle = xon/(C - D) + "
                             "T + (C - D) T/D + T, T = 2L/v + t",
                             "Gb/s", by_hand_Bps / GBPS, result.goodput_Bps / GBPS},
                 0.05);
}
END_TEST

TCase *
truth_long_link(void)
{
    TCase *tcase = tcase_create("long-link");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, headroom_of_the_formula_loses_nothing_and_less_does);
    tcase_add_test(tcase, a_resume_level_of_a_round_trip_keeps_the_drain_busy);
    tcase_add_test(tcase, a_tenth_of_it_idles_the_drain);
    tcase_add_test(tcase, the_formula_is_tight);
    return tcase;
}
