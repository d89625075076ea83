#include "network_fixture.h"

#include "base/random.h"
#include "network/loss_spread.h"

enum { LEAVES = 4, SPINES = 4, HOSTS = 8, CORES = 2, FLOWS = 60 };

static Fixture f;
static uint32_t host[HOSTS];

/* Hosts on leaves, two pods of spines, cores above: equal links but for what `uneven` makes thinner. */
static void
clos(Random *dice, gboolean uneven)
{
    fixture_begin(&f);
    uint32_t leaf[LEAVES], spine[SPINES], core[CORES];
    for (uint32_t i = 0; i < LEAVES; i++) {
        g_autofree char *l = g_strdup_printf("leaf%u", i), *s = g_strdup_printf("spine%u", i);
        leaf[i] = fixture_node(&f, NODE_LEAF, l);
        spine[i] = fixture_node(&f, NODE_SPINE, s);
    }
    for (uint32_t i = 0; i < CORES; i++) {
        g_autofree char *name = g_strdup_printf("core%u", i);
        core[i] = fixture_node(&f, NODE_CORE, name);
        for (uint32_t s = 0; s < SPINES; s++)
            fixture_cable(&f, spine[s], core[i], uneven && random_below(dice, 4) == 0 ? 3e9 : 5e9, 0);
    }
    for (uint32_t l = 0; l < LEAVES; l++)
        for (uint32_t s = 0; s < 2; s++)
            fixture_cable(&f, leaf[l], spine[l / 2 * 2 + s], uneven && random_below(dice, 4) == 0 ? 3e9 : 5e9, 0);
    for (uint32_t i = 0; i < HOSTS; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        host[i] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, host[i], leaf[i % LEAVES], 10e9, 0);
        if (uneven && i % 3 == 0) /* on two leaves: its ways are not those of its neighbours */
            fixture_cable(&f, host[i], leaf[(i + 1) % LEAVES], 10e9, 0);
    }
    f.config.books = FALSE;
    fixture_network(&f, "fluid", ROUTING_ECMP);
}

/* The same flows in a solver of single links, split as routes_find_sprayed says. */
static void
check(const LossSpread *spread, const Transfer *transfers, const gboolean *there, const double *capacity, int seed)
{
    g_autoptr(MaxMin) plain = maxmin_new(fabric_n_links(f.fabric));
    for (uint32_t l = 0; l < fabric_n_links(f.fabric); l++)
        maxmin_set_capacity(plain, l, capacity[l]);
    uint32_t flows[FLOWS], n;
    for (uint32_t i = 0; i < FLOWS; i++) {
        RouteRequest request = {transfers[i].src, transfers[i].dst, INDEX_NONE, INDEX_NONE, 0};
        Route route;
        flows[i] = INDEX_NONE;
        if (!there[i] || !routes_find_sprayed(f.routes, &request, &route, NULL))
            continue;
        MaxMinUse uses[64];
        for (uint32_t h = 0; h < route.n_hops; h++)
            uses[h] = (MaxMinUse){route.hops[h].link, route.hops[h].share};
        flows[i] = maxmin_add(plain, uses, route.n_hops, transfers[i].weight, transfers[i].rate_cap_Bps);
    }
    maxmin_solve(plain, &n);
    for (uint32_t i = 0; i < FLOWS; i++) {
        double right = flows[i] == INDEX_NONE ? 0 : maxmin_exact_rate(plain, flows[i]);
        double rate = there[i] ? loss_spread_rate(spread, i) : 0;
        ck_assert_msg(fabs(rate - right) <= 1e-9 * right, "seed %d flow %u: %.12g, link by link %.12g", seed, i, rate,
                      right);
    }
}

/* Trunks change nothing: also where some hosts see other paths, links are uneven, one dies and comes back. */
START_TEST(trunks_equal_single_links)
{
    Random dice = random_named((uint64_t)_i, "spread");
    clos(&dice, _i % 2);
    uint32_t n_links = fabric_n_links(f.fabric), n;
    g_autofree double *capacity = g_new(double, n_links);
    for (uint32_t l = 0; l < n_links; l++)
        capacity[l] = fabric_link(f.fabric, l)->capacity_Bps;
    DemandMaker *maker = demand_maker_new(f.network);
    LossSpread *spread = loss_spread_new(f.network, maker, capacity);
    Transfer transfers[FLOWS];
    gboolean there[FLOWS] = {FALSE};
    for (uint32_t i = 0; i < FLOWS; i++) { /* activities 0 to FLOWS - 1 */
        uint32_t src = (uint32_t)random_below(&dice, HOSTS),
                 dst = (src + 1 + (uint32_t)random_below(&dice, HOSTS - 1)) % HOSTS;
        transfers[i] = fixture_transfer(&f, host[src], host[dst], 1000000);
        transfers[i].weight = 1 + (double)random_below(&dice, 2);
        transfers[i].rate_cap_Bps = random_below(&dice, 4) == 0 ? 1e9 : INFINITY;
        fixture_send(&f, &transfers[i], i);
    }
    uint32_t dead = 2 * (uint32_t)random_below(&dice, n_links / 2);
    for (int round = 0; round < 30; round++) {
        for (int change = 0; change < 6; change++) {
            uint32_t i = (uint32_t)random_below(&dice, FLOWS);
            if (there[i])
                loss_spread_leave(spread, i);
            else
                loss_spread_enter(spread, i);
            there[i] = !there[i];
        }
        if (round == 10 || round == 20) {
            capacity[dead] = round == 10 ? 0 : fabric_link(f.fabric, dead)->capacity_Bps;
            routes_set_alive(f.routes, dead, round == 20);
            loss_spread_restart(spread);
        }
        loss_spread_solve(spread, &n);
        check(spread, transfers, there, capacity, _i);
    }
    loss_spread_free(spread);
    demand_maker_free(maker);
    fixture_end(&f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("loss-spread");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, trunks_equal_single_links, 0, 40);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
