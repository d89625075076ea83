#include "packet_fixture.h"

Fixture f;

void
packets_begin(void)
{
    fixture_begin(&f);
    f.config.packet.mtu_B = 1000;
    f.config.packet.header_B = 100;
    f.config.packet.ack_B = 50;
}

void
packets_transport(const char *name, const TransportSetting *settings, uint32_t n)
{
    f.config.packet.transport = name;
    f.config.packet.settings = settings;
    f.config.packet.n_settings = n;
}

uint32_t
packets_leaf(const char *name)
{
    return fixture_node(&f, NODE_LEAF, name);
}

uint32_t
packets_host(const char *prefix, uint32_t number)
{
    g_autofree char *name = g_strdup_printf("%s%u", prefix, number);
    return fixture_node(&f, NODE_HOST, name);
}

void
packets_chain(uint32_t k, const double *rates, uint32_t *a, uint32_t *b)
{
    packets_begin();
    *a = packets_host("a", 0);
    uint32_t before = *a;
    for (uint32_t i = 0; i < k; i++) {
        g_autofree char *name = g_strdup_printf("s%u", i);
        uint32_t next = i + 1 < k ? packets_leaf(name) : packets_host("b", 0);
        fixture_cable(&f, before, next, rates != NULL ? rates[i] : RATE, US);
        before = next;
    }
    *b = before;
}

uint32_t
packets_incast(uint32_t n, double rate, double last_rate, SimTime latency_ps, uint32_t *l, uint32_t *r)
{
    packets_begin();
    uint32_t s = packets_leaf("s");
    *r = packets_host("r", 0);
    uint32_t last = fixture_cable(&f, s, *r, last_rate, latency_ps);
    for (uint32_t i = 0; i < n; i++) {
        l[i] = packets_host("l", i);
        fixture_cable(&f, l[i], s, rate, latency_ps);
    }
    return last;
}

void
packets_send(uint32_t src, uint32_t dst, uint64_t bytes, uint32_t cookie)
{
    Transfer transfer = fixture_transfer(&f, src, dst, bytes);
    fixture_send(&f, &transfer, cookie);
}

PacketTotals
packets_totals(void)
{
    return network_totals(f.network).packet;
}

uint32_t
packets_leaf_spine(uint32_t h, uint32_t n_spines, uint32_t *hosts)
{
    packets_begin();
    uint32_t leaves[] = {packets_leaf("leaf0"), packets_leaf("leaf1")}, first = INDEX_NONE;
    for (uint32_t s = 0; s < n_spines; s++) {
        g_autofree char *name = g_strdup_printf("spine%u", s);
        uint32_t spine = fixture_node(&f, NODE_SPINE, name);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t link = fixture_cable(&f, leaves[k], spine, RATE, US);
            first = MIN(first, link);
        }
    }
    for (uint32_t i = 0; i < 2 * h; i++) {
        hosts[i] = packets_host("h", i);
        fixture_cable(&f, hosts[i], leaves[i / h], RATE, US);
    }
    return first;
}
