#include "packet_fixture.h"

#include "network/transport.h"

/* Enough for all that a test sends. */
static const TransportSetting wide[] = {{"window", "1 GB"}};

/* n packets, the last of `rest` payload bytes, over k links: store and forward: the first is handed on k times, the
 * others follow it at the distance of one packet, the last of its own size. */
static const struct {
    uint32_t k, n, rest;
} forwards[] = {{2, 1, 1000}, {2, 2, 1000}, {3, 1, 1000}, {3, 2, 500}, {3, 10, 1000}, {5, 7, 1}, {4, 100, 1000}};

START_TEST(packets_are_stored_and_forwarded)
{
    uint32_t a, b, k = forwards[_i].k, n = forwards[_i].n, last_ns = forwards[_i].rest + HEADER_NS;
    packets_chain(k, NULL, &a, &b);
    packets_transport("window", wide, 1);
    fixture_network(&f, "packet", ROUTING_ECMP);
    uint64_t bytes = (n - 1) * 1000 + forwards[_i].rest;
    packets_send(a, b, bytes, 0);
    fixture_run(&f);
    /* One packet alone is handed on in its own size each time. */
    SimTime first = (n == 1 ? last_ns : PACKET_NS) * NS + US;
    SimTime others = n == 1 ? 0 : ((n - 2) * PACKET_NS + last_ns) * NS;
    ck_assert_int_eq(f.sent[0], ((n - 1) * PACKET_NS + last_ns) * NS);
    ck_assert_int_eq(f.delivered[0], k * first + others);
    ck_assert_uint_eq(packets_totals().data_hops, k * n);
    ck_assert_uint_eq(packets_totals().control_hops, k * n);
    for (uint32_t i = 0; i < k; i++) {
        ck_assert_uint_eq(fixture_bytes(&f, 2 * i, 0), bytes);
        ck_assert_int_eq(fixture_busy(&f, 2 * i, 0), f.sent[0]);
        ck_assert_uint_eq(fixture_packets(&f, 2 * i).header_B, n * 100);
        ck_assert_uint_eq(fixture_packets(&f, 2 * i + 1).control_B, n * 50);
    }
    const TransferRecord *record = &g_array_index(f.transfers, TransferRecord, 0);
    ck_assert(record->start_ps == 0 && record->sent_ps == f.sent[0] && record->end_ps == f.delivered[0]);
    fixture_end(&f);
}
END_TEST

/* Cut through: a switch hands on when it has the header, the last link brings all. Into a faster link it may not: there
 * it stores. */
static const struct {
    double rates[3];
    SimTime one_ns, step_ns; /* of one packet; of each further one */
} cuts[] = {
    {{RATE, RATE, RATE}, 3000 + 2 * HEADER_NS + PACKET_NS, PACKET_NS},
    {{RATE, 2 * RATE, RATE}, 3000 + PACKET_NS + HEADER_NS / 2 + PACKET_NS, PACKET_NS},
    {{2 * RATE, RATE, RATE / 2}, 3000 + HEADER_NS / 2 + HEADER_NS + 2 * PACKET_NS, 2 * PACKET_NS},
};

START_TEST(packets_cut_through)
{
    for (uint32_t n = 1; n <= 5; n++) {
        uint32_t a, b;
        packets_chain(3, cuts[_i].rates, &a, &b);
        f.config.packet.cut_through = TRUE;
        packets_transport("window", wide, 1);
        fixture_network(&f, "packet", ROUTING_ECMP);
        packets_send(a, b, n * 1000, 0);
        fixture_run(&f);
        ck_assert_int_eq(f.delivered[0], (cuts[_i].one_ns + (n - 1) * cuts[_i].step_ns) * NS);
        fixture_end(&f);
    }
}
END_TEST

/* One packet in flight: each waits for the ACK of the one before, a round trip of 3 x (1100 + 1000 + 50 + 1000) ns. */
START_TEST(a_window_of_one_packet_sends_one_a_round_trip)
{
    static const TransportSetting one[] = {{"window", "1 B"}};
    uint32_t a, b;
    packets_chain(3, NULL, &a, &b);
    packets_transport("window", one, 1);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 10000, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.delivered[0], (9 * 9450 + 6300) * NS);
    fixture_end(&f);
}
END_TEST

/* By default a window fills the way: no gap in 1000 packets. */
START_TEST(the_window_by_itself_fills_the_way)
{
    uint32_t a, b;
    packets_chain(4, NULL, &a, &b);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 1000000, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 1000 * PACKET_NS * NS);
    fixture_end(&f);
}
END_TEST

/* A pacing rate of a quarter: a packet every 4400 ns. A cap of the transfer likewise. */
START_TEST(paced_packets_leave_at_their_rate)
{
    static const TransportSetting paced[] = {{"rate", "250 MB/s"}, {"window", "1 GB"}};
    for (int by_cap = 0; by_cap < 2; by_cap++) {
        uint32_t a, b;
        packets_chain(2, NULL, &a, &b);
        packets_transport("window", by_cap ? &paced[1] : paced, by_cap ? 1 : 2);
        fixture_network(&f, "packet", ROUTING_ECMP);
        Transfer transfer = fixture_transfer(&f, a, b, 50000);
        transfer.rate_cap_Bps = by_cap ? RATE / 4 : INFINITY;
        fixture_send(&f, &transfer, 0);
        fixture_run(&f);
        ck_assert_int_eq(f.sent[0], (49 * 4400 + PACKET_NS) * NS);
        fixture_end(&f);
    }
}
END_TEST

/* Three flows of one host take turns, a packet each. The first has begun when the others come, and is a packet ahead:
 * its tenth is the 26th in all; then the other two have one each left. */
START_TEST(a_nic_serves_its_flows_in_turn)
{
    uint32_t a, b;
    packets_chain(2, NULL, &a, &b);
    packets_transport("window", wide, 1);
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 3; i++)
        packets_send(a, b, 10000, i);
    fixture_run(&f);
    static const SimTime last[] = {26, 29, 30};
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(f.sent[i], last[i] * PACKET_NS * NS);
    fixture_end(&f);
}
END_TEST

/* Two windows of equal round trip share a link: each of 2000 packets ends within 2 % of twice its time alone. */
START_TEST(two_windows_share_a_link_fairly)
{
    uint32_t l[2], r;
    packets_incast(2, RATE, RATE, US, l, &r);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(l[0], r, 2000000, 0);
    packets_send(l[1], r, 2000000, 1);
    fixture_run(&f);
    double both = 4000.0 * PACKET_NS * NS;
    ck_assert_double_ge((double)MIN(f.delivered[0], f.delivered[1]), 0.98 * both);
    ck_assert_double_le((double)MAX(f.delivered[0], f.delivered[1]), 1.02 * both);
    fixture_end(&f);
}
END_TEST

/* A message of no byte is a header; one to itself takes no time; a bundle ends with its last member and its own
 * latency. */
START_TEST(small_things_have_their_times)
{
    uint32_t a, b;
    packets_chain(2, NULL, &a, &b);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 0, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.delivered[0], 2 * (HEADER_NS + 1000) * NS);
    fixture_end(&f);

    packets_chain(2, NULL, &a, &b);
    packets_transport("window", wide, 1);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, a, 1 << 20, 0);
    Transfer members[] = {fixture_transfer(&f, a, b, 3000), fixture_transfer(&f, b, a, 1000),
                          fixture_transfer(&f, b, b, 5000)};
    Bundle bundle = {members, 3, 7 * US};
    ck_assert(network_send_bundle(f.network, f.client, &bundle, 1, NULL));
    ck_assert_uint_eq(network_in_flight(f.network), 2);
    fixture_run(&f);
    ck_assert(f.sent[0] == 0 && f.delivered[0] == 0);
    ck_assert_int_eq(f.sent[1], 3 * PACKET_NS * NS);
    ck_assert_int_ge(f.delivered[1], (3 * PACKET_NS + PACKET_NS + 2000) * NS + 7 * US);
    ck_assert_int_le(f.delivered[1], (3 * PACKET_NS + PACKET_NS + 2000 + CONTROL_NS) * NS + 7 * US);
    ck_assert_uint_eq(f.transfers->len, 4);
    fixture_end(&f);
}
END_TEST

/* 4 senders with 100 packets each into room for 10: packets are lost, each recovery brings all; each link is
 * told with the payload that was to cross it, once (DEFINITIONS 3), however often it was sent. */
START_TEST(lost_packets_are_sent_again)
{
    TransportSetting settings[] = {{"window", "20 kB"}, {"recovery", recovery_names()[_i]}};
    uint32_t l[4], r, last = packets_incast(4, RATE, RATE, US, l, &r);
    packets_transport("window", settings, 2);
    f.config.packet.buffer_B = 11000;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 4; i++)
        packets_send(l[i], r, 100000, i);
    fixture_run(&f);
    PacketLinkCounts counts = fixture_packets(&f, last);
    ck_assert_uint_gt(counts.dropped, 0);
    ck_assert_uint_eq(counts.dropped, packets_totals().dropped);
    ck_assert_uint_ge(packets_totals().resent, counts.dropped);
    ck_assert_uint_le(counts.max_queue_B, 11000);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(fixture_bytes(&f, last + 2 + 2 * i, 0), 100000);
    ck_assert_uint_eq(fixture_bytes(&f, last, 0), 400000);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_gt(f.delivered[i], 0);
    if (_i == RECOVERY_REORDER_TOLERANT)
        ck_assert_uint_gt(packets_totals().timeouts, 0);
    fixture_end(&f);
}
END_TEST

/* A link that loses 2 % of the packets that come over it: 5000 and what was sent again; 5 standard deviations. ACKs
 * over the way back are lost as well. */
START_TEST(a_lossy_link_loses_its_share_and_all_arrives)
{
    TransportSetting settings[] = {{"window", "100 kB"}, {"recovery", recovery_names()[_i]}, {"timeout", "100 us"}};
    packets_begin();
    uint32_t a = packets_host("a", 0), s = packets_leaf("s"), b = packets_host("b", 0);
    fixture_cable(&f, a, s, RATE, US);
    Link link = link_default();
    link.src = s;
    link.dst = b;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = RATE;
    link.latency_ps = US;
    link.loss = 0.02;
    uint32_t lossy = fabric_add_cable(f.fabric, &link, NULL);
    packets_transport("window", settings, 3);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 5000000, 0);
    fixture_run(&f);
    ck_assert_int_gt(f.delivered[0], 0);
    for (int way = 0; way < 2; way++) {
        PacketLinkCounts counts = fixture_packets(&f, lossy + way);
        double n = (double)(counts.data_packets + counts.control_packets);
        ck_assert_double_ge(n, 4000);
        ck_assert_double_le(fabs((double)counts.dropped - 0.02 * n), 5 * sqrt(n * 0.02 * 0.98));
    }
    fixture_end(&f);
}
END_TEST

/* 8 to 1, 200 packets each. With PFC nothing is lost, the last arrives when the last link has brought all: 1600 packets
 * after the first has come to the switch. */
START_TEST(paused_incast_loses_nothing_and_keeps_the_link_busy)
{
    uint32_t l[8], r, last = packets_incast(8, RATE, RATE, US, l, &r);
    packets_transport("window", wide, 1);
    f.config.packet.pfc = TRUE;
    f.config.packet.pfc_xoff_B = 20000;
    f.config.packet.pfc_xon_B = 18000;
    f.config.packet.control_first = TRUE;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 8; i++)
        packets_send(l[i], r, 200000, i);
    fixture_run(&f);
    SimTime end = 0;
    for (uint32_t i = 0; i < 8; i++)
        end = MAX(end, f.delivered[i]);
    ck_assert_int_eq(end, (1600 * PACKET_NS + PACKET_NS + 2000) * NS);
    ck_assert(packets_totals().dropped == 0 && packets_totals().pauses >= 8 && packets_totals().resent == 0);
    ck_assert_uint_eq(fixture_packets(&f, 2).pauses > 0, 1);
    ck_assert_int_gt(fixture_packets(&f, 2).paused_ps, 0);
    /* xoff of each of 8 links, and what comes until they heed it: 2 us and two packets. */
    ck_assert_uint_le(fixture_packets(&f, last).max_queue_B, 8 * (20000 + 2000 + 2 * 1100));
    fixture_end(&f);
}
END_TEST

/* 4 GPUs, each with a NIC, into one link, and the switch pauses: a NIC takes of its GPU what the link between (1 GB/s,
 * 1 us) holds in a round trip and two packets, what comes before the GPU heeds it (1 us each way), and a packet that
 * had begun; the last link stays busy. */
START_TEST(a_paused_nic_holds_back_its_gpu)
{
    packets_begin();
    uint32_t s = packets_leaf("s"), r = packets_host("r", 0), gpus[4], wires[4];
    fixture_cable(&f, s, r, RATE, US);
    for (uint32_t i = 0; i < 4; i++) {
        g_autofree char *gpu = g_strdup_printf("gpu%u", i), *nic = g_strdup_printf("nic%u", i);
        gpus[i] = fixture_node(&f, NODE_GPU, gpu);
        uint32_t between = fixture_node(&f, NODE_NIC, nic);
        Link link = link_default();
        link.src = gpus[i];
        link.dst = between;
        link.kind = LINK_PCIE;
        link.capacity_Bps = RATE;
        link.latency_ps = US;
        ck_assert_uint_ne(fabric_add_cable(f.fabric, &link, NULL), INDEX_NONE);
        wires[i] = fixture_cable(&f, between, s, RATE, US);
    }
    packets_transport("window", wide, 1);
    f.config.packet.pfc = TRUE;
    f.config.packet.pfc_xoff_B = 20000;
    f.config.packet.pfc_xon_B = 18000;
    f.config.packet.control_first = TRUE;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 4; i++)
        packets_send(gpus[i], r, 200000, i);
    fixture_run(&f);
    SimTime end = 0;
    for (uint32_t i = 0; i < 4; i++) {
        end = MAX(end, f.delivered[i]);
        ck_assert_uint_gt(fixture_packets(&f, wires[i]).pauses, 0);
        ck_assert_uint_gt(fixture_packets(&f, wires[i]).max_queue_B, 2 * 1100);
        ck_assert_uint_le(fixture_packets(&f, wires[i]).max_queue_B, 2000 + 2 * 1100 + 2000 + 2 * 1100);
    }
    ck_assert_int_eq(end, (800 * PACKET_NS + 2 * PACKET_NS + 3000) * NS);
    ck_assert(packets_totals().dropped == 0 && packets_totals().resent == 0);
    fixture_end(&f);
}
END_TEST

/* Long links: 10 us each way, drained at a tenth of the rate. Beyond xoff come at most C (2 L + response) and two
 * packets: with so much headroom nothing is lost, with half of it something is. */
START_TEST(headroom_of_a_round_trip_and_two_packets_loses_nothing)
{
    uint64_t enough = 20000 + 3840 + 2 * 1100;
    for (int half = 0; half < 2; half++) {
        uint32_t a, b;
        packets_begin();
        a = packets_host("a", 0);
        uint32_t s = packets_leaf("s");
        b = packets_host("b", 0);
        uint32_t in = fixture_cable(&f, a, s, RATE, 10 * US);
        fixture_cable(&f, s, b, RATE / 10, US);
        packets_transport("window", wide, 1);
        f.config.packet.pfc = TRUE;
        f.config.packet.control_first = TRUE;
        f.config.packet.pfc_xoff_B = 30000;
        f.config.packet.pfc_xon_B = 28000;
        f.config.packet.pfc_response_ps = 3840 * NS;
        f.config.packet.pfc_headroom_B = half ? enough / 2 : enough;
        fixture_network(&f, "packet", ROUTING_ECMP);
        packets_send(a, b, 1000000, 0);
        fixture_run(&f);
        ck_assert_int_gt(f.delivered[0], 0);
        ck_assert(half ? packets_totals().dropped > 0 : packets_totals().dropped == 0);
        ck_assert_uint_gt(fixture_packets(&f, in).pauses, 0);
        fixture_end(&f);
    }
}
END_TEST

/* A standing queue: 10 packets in flight, one of them on its short way to the slow link, so that each meets 9 of 1100
 * bytes but for what left in the meantime (under 6 bytes). */
static const struct {
    uint64_t kmin, kmax;
    double pmax, marked;
} marks[] = {{10000, 20000, 1, 0}, {100, 9800, 1, 1}, {0, 19800, 0.5, 0.25}, {4950, 14850, 1, 0.5}, {0, 9900, 0, 0}};

START_TEST(packets_are_marked_as_the_queue_says)
{
    static const TransportSetting ten[] = {{"window", "11 kB"}};
    uint32_t a[1], b, last = packets_incast(1, 1000 * RATE, RATE, 0, a, &b);
    packets_transport("window", ten, 1);
    f.config.packet.ecn_kmin_B = marks[_i].kmin;
    f.config.packet.ecn_kmax_B = marks[_i].kmax;
    f.config.packet.ecn_pmax = marks[_i].pmax;
    f.config.packet.shared_buffer_B = _i % 2 ? UINT64_C(1) << 40 : 0; /* both kinds of port */
    fixture_network(&f, "packet", ROUTING_ECMP);
    enum { N = 20000 };
    packets_send(a[0], b, N * 1000, 0);
    fixture_run(&f);
    double share = (double)fixture_packets(&f, last).marked / N, p = marks[_i].marked;
    ck_assert_msg(fabs(share - p) <= 0.001 + 4 * sqrt(p * (1 - p) / N), "%d: %g of %g", _i, share, p);
    ck_assert_uint_eq(packets_totals().marked, fixture_packets(&f, last).marked);
    fixture_end(&f);
}
END_TEST

/* n switches in a ring, each with a host whose flow goes hops links around: every link of the ring carries several
 * flows that turn into the next. */
static void
pause_ring(uint32_t n, uint32_t hops)
{
    uint32_t switches[8], hosts[8], up[8], ring[8];
    packets_begin();
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("s%u", i);
        switches[i] = packets_leaf(name);
        hosts[i] = packets_host("h", i);
        up[i] = fixture_cable(&f, hosts[i], switches[i], RATE, 0);
    }
    for (uint32_t i = 0; i < n; i++)
        ring[i] = fixture_cable(&f, switches[i], switches[(i + 1) % n], RATE, 0);
    packets_transport("window", wide, 1);
    f.config.packet.pfc = TRUE;
    f.config.packet.control_first = TRUE;
    f.config.packet.pfc_xoff_B = 5000;
    f.config.packet.pfc_xon_B = 4000;
    fixture_network(&f, "packet", ROUTING_PINNED);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t links[8] = {up[i]};
        for (uint32_t k = 0; k < hops; k++)
            links[1 + k] = ring[(i + k) % n];
        links[1 + hops] = up[(i + hops) % n] + 1;
        ck_assert(routes_pin(f.routes, hosts[i], hosts[(i + hops) % n], links, hops + 2, NULL));
    }
    for (uint32_t i = 0; i < n; i++)
        packets_send(hosts[i], hosts[(i + hops) % n], 1000000, i);
}

START_TEST(a_cycle_of_paused_ports_is_named)
{
    pause_ring(4, 3);
    GError *error = NULL;
    ck_assert(!engine_run(f.engine, &error));
    support_expect_error(&error, 1,
                         "PFC deadlock in class 0: s0 -> s1 waits for s1 -> s2 waits for s2 -> s3 waits for s3 -> s0 "
                         "waits for s0 -> s1");
    ck_assert_uint_eq(network_in_flight(f.network), 4);
    network_finish(f.network);
    fixture_end(&f);
    /* One link each around the ring: no packet turns from one into another. */
    pause_ring(4, 1);
    fixture_run(&f);
    ck_assert_uint_eq(network_in_flight(f.network), 0);
    fixture_end(&f);
}
END_TEST

/* A shared buffer of 100 kB with alpha a: one hot port holds a (B - q), so q = a B / (1 + a). */
static const struct {
    double alpha;
    uint64_t most_B;
} shares[] = {{1, 50000}, {0.25, 20000}, {4, 80000}};

START_TEST(a_hot_port_takes_its_part_of_a_shared_buffer)
{
    uint32_t l[4], r, last = packets_incast(4, RATE, RATE, US, l, &r);
    static const TransportSetting settings[] = {{"window", "1 GB"}, {"timeout", "10 ms"}};
    packets_transport("window", settings, 2);
    f.config.packet.shared_buffer_B = 100000;
    f.config.packet.alpha = shares[_i].alpha;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 4; i++)
        packets_send(l[i], r, 200000, i);
    fixture_run(&f);
    uint64_t most = fixture_packets(&f, last).max_queue_B;
    ck_assert_msg(most <= shares[_i].most_B + 1100 && most + 2200 >= shares[_i].most_B, "%d: %" G_GUINT64_FORMAT, _i,
                  most);
    ck_assert_uint_gt(packets_totals().dropped, 0);
    fixture_end(&f);
}
END_TEST

/* The job of a higher class ends as if it were alone, but for one packet before it on the last link. */
START_TEST(a_higher_class_goes_first)
{
    static const PacketClass classes[] = {{"b", 3}};
    uint32_t l[2], r;
    packets_incast(2, RATE, RATE, US, l, &r);
    packets_transport("window", wide, 1);
    f.config.packet.classes = classes;
    f.config.packet.n_classes = 1;
    fixture_network(&f, "packet", ROUTING_ECMP);
    ck_assert_uint_eq(network_add_job(f.network, "b"), 1);
    packets_send(l[0], r, 500000, 0);
    Transfer first = fixture_transfer(&f, l[1], r, 500000);
    first.job = 1;
    fixture_send(&f, &first, 1);
    fixture_run(&f);
    SimTime alone = (500 * PACKET_NS + PACKET_NS + 2000) * NS;
    ck_assert_int_ge(f.delivered[1], alone);
    ck_assert_int_le(f.delivered[1], alone + PACKET_NS * NS);
    ck_assert_int_ge(f.delivered[0], alone + 490 * PACKET_NS * NS);
    fixture_end(&f);
}
END_TEST

/* Trimmed: headers come through, so that nothing waits for a timeout. */
START_TEST(trimmed_packets_are_asked_for_without_a_timeout)
{
    uint32_t l[8], r, last = packets_incast(8, RATE, RATE, US, l, &r);
    static const TransportSetting settings[] = {{"window", "20 kB"}, {"recovery", "reorder_tolerant"}};
    packets_transport("window", settings, 2);
    f.config.packet.trim = TRUE;
    f.config.packet.buffer_B = 11000;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 8; i++)
        packets_send(l[i], r, 100000, i);
    fixture_run(&f);
    ck_assert(packets_totals().trimmed > 0 && packets_totals().dropped == 0 && packets_totals().timeouts == 0);
    ck_assert_uint_eq(fixture_packets(&f, last).trimmed, packets_totals().trimmed);
    ck_assert_uint_ge(packets_totals().resent, packets_totals().trimmed);
    fixture_end(&f);
}
END_TEST

/* Four flows over four spines of the same rate. In turn over all ways, packets meet no more than a few others: no
 * overtaking is taken for a loss, the end is within 10 % of serialisation and latency. Go back n refuses what
 * overtakes. */
START_TEST(sprayed_packets_share_all_ways)
{
    static const TransportSetting refusing[] = {{"recovery", "go_back_n"}};
    uint32_t hosts[8], up = packets_leaf_spine(4, 4, hosts);
    RoutingPolicy policies[] = {ROUTING_SPRAY, ROUTING_ADAPTIVE, ROUTING_SPRAY};
    packets_transport("window", refusing, _i == 2 ? 1 : 0);
    fixture_network(&f, "packet", policies[_i]);
    for (uint32_t i = 0; i < 4; i++)
        packets_send(hosts[i], hosts[4 + (i + 1) % 4], 1000000, i);
    fixture_run(&f);
    double ideal = (1000 + 3) * PACKET_NS + 4000;
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_msg(_i == 2 ? f.delivered[i] > 0 : (double)f.delivered[i] <= 1.1 * ideal * NS, "%u: %g of %g", i,
                      (double)f.delivered[i], ideal * NS);
    for (uint32_t s = 0; s < 4 && _i == 0; s++)
        ck_assert_uint_eq(fixture_packets(&f, up + 4 * s).data_packets, 1000);
    if (_i < 2)
        ck_assert_uint_eq(packets_totals().resent, 0);
    fixture_end(&f);
}
END_TEST

/* Two spines; the way of the flow dies after 100 us: what is on it is lost, 50 us later the flow goes the other way. */
START_TEST(a_flow_goes_another_way_when_its_link_dies)
{
    static const TransportSetting settings[] = {{"timeout", "20 us"}};
    for (uint32_t spines = 1; spines <= 2; spines++) {
        uint32_t hosts[2], up = packets_leaf_spine(1, spines, hosts);
        packets_transport("window", settings, 1);
        f.config.packet.reroute_delay_ps = 50 * US;
        fixture_network(&f, "packet", ROUTING_ECMP);
        packets_send(hosts[0], hosts[1], 1000000, 0);
        Route route;
        Transfer transfer = fixture_transfer(&f, hosts[0], hosts[1], 1);
        (void)transfer;
        RouteRequest request = {hosts[0], hosts[1], INDEX_NONE, INDEX_NONE, 0};
        ck_assert(routes_find(f.routes, &request, &route, NULL));
        for (uint32_t s = 0; s < spines; s++)
            if (spines == 1 || s == (uint32_t)_i)
                network_set_link_at(f.network, up + 4 * s, 0, 100 * US);
        fixture_run(&f);
        uint32_t rerouted = fixture_packets(&f, up + 4 * _i).dropped > 0;
        if (spines == 1) {
            ck_assert_int_eq(f.delivered[0], -1);
            ck_assert_uint_eq(network_in_flight(f.network), 1);
        } else {
            /* 1000 packets; where its way died, at least 50 us and a round trip more. */
            SimTime undisturbed = (1000 * PACKET_NS + 3 * PACKET_NS + 4000) * NS;
            ck_assert_int_ge(f.delivered[0], undisturbed + (rerouted ? 50 * US : 0));
            ck_assert_int_le(f.delivered[0], undisturbed + (rerouted ? 150 * US : 50 * US));
        }
        fixture_end(&f);
    }
}
END_TEST

/* Dead, then back: who had no way goes on. */
START_TEST(a_flow_goes_on_when_its_link_is_back)
{
    uint32_t a, b;
    packets_chain(2, NULL, &a, &b);
    f.config.packet.reroute_delay_ps = 10 * US;
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 1000000, 0);
    network_set_link_at(f.network, 2, 0, 100 * US);
    network_set_link_at(f.network, 2, RATE, 500 * US);
    fixture_run(&f);
    ck_assert_int_ge(f.delivered[0], (400 + 1100) * US);
    ck_assert_int_le(f.delivered[0], (400 + 1100 + 70000) * US);
    fixture_end(&f);
}
END_TEST

/* Ten packets come 110 ns apart, the first at 1110 ns; the fourth leaves from 4410 to 5510 ns. At 5000 ns the link has
 * another rate, by which the six that wait go, however the port keeps them. */
static const struct {
    double rate;
    SimTime packet_ns;
    gboolean queued;
} changes[] = {{RATE / 2, 2200, FALSE}, {RATE / 2, 2200, TRUE}, {2 * RATE, 550, FALSE}, {2 * RATE, 550, TRUE}};

START_TEST(what_waits_goes_at_the_new_rate)
{
    static const double rates[] = {10 * RATE, RATE};
    uint32_t a, b;
    packets_chain(2, rates, &a, &b);
    f.config.packet.control_first = changes[_i].queued;
    packets_transport("window", wide, 1);
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 10000, 0);
    network_set_link_at(f.network, 2, changes[_i].rate, 5 * US);
    fixture_run(&f);
    ck_assert_int_eq(f.delivered[0], (5510 + 6 * changes[_i].packet_ns + 1000) * NS);
    fixture_end(&f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("packet");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, packets_are_stored_and_forwarded, 0, G_N_ELEMENTS(forwards));
    tcase_add_loop_test(tcase, packets_cut_through, 0, G_N_ELEMENTS(cuts));
    tcase_add_test(tcase, a_window_of_one_packet_sends_one_a_round_trip);
    tcase_add_test(tcase, the_window_by_itself_fills_the_way);
    tcase_add_test(tcase, paced_packets_leave_at_their_rate);
    tcase_add_test(tcase, a_nic_serves_its_flows_in_turn);
    tcase_add_test(tcase, two_windows_share_a_link_fairly);
    tcase_add_test(tcase, small_things_have_their_times);
    tcase_add_loop_test(tcase, lost_packets_are_sent_again, 0, 3);
    tcase_add_loop_test(tcase, a_lossy_link_loses_its_share_and_all_arrives, 0, 3);
    tcase_add_test(tcase, paused_incast_loses_nothing_and_keeps_the_link_busy);
    tcase_add_test(tcase, a_paused_nic_holds_back_its_gpu);
    tcase_add_test(tcase, headroom_of_a_round_trip_and_two_packets_loses_nothing);
    tcase_add_loop_test(tcase, packets_are_marked_as_the_queue_says, 0, G_N_ELEMENTS(marks));
    tcase_add_test(tcase, a_cycle_of_paused_ports_is_named);
    tcase_add_loop_test(tcase, a_hot_port_takes_its_part_of_a_shared_buffer, 0, G_N_ELEMENTS(shares));
    tcase_add_test(tcase, a_higher_class_goes_first);
    tcase_add_test(tcase, trimmed_packets_are_asked_for_without_a_timeout);
    tcase_add_loop_test(tcase, sprayed_packets_share_all_ways, 0, 3);
    tcase_add_loop_test(tcase, a_flow_goes_another_way_when_its_link_dies, 0, 2);
    tcase_add_test(tcase, a_flow_goes_on_when_its_link_is_back);
    tcase_add_loop_test(tcase, what_waits_goes_at_the_new_rate, 0, G_N_ELEMENTS(changes));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
