#include "network_fixture.h"

#include "base/random.h"

typedef struct {
    SimTime at;
    Transfer transfer;
    uint32_t cookie;
} Planned;

static GArray *planned; /* sends to come; one fixture at a time uses it */
static uint32_t kind_planned;

static void
digest(Fixture *fixture, uint64_t value)
{
    fixture->digest = hash_combine(fixture->digest, value);
}

static void
told(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Fixture *fixture = owner;
    SimTime *times = moment == NETWORK_SENT ? fixture->sent : fixture->delivered;
    ck_assert_uint_lt(cookie, FIXTURE_TOLD);
    ck_assert_msg(times[cookie] == -1, "cookie %u is told twice", cookie);
    ck_assert(moment == NETWORK_SENT || fixture->sent[cookie] >= 0);
    times[cookie] = engine_now(fixture->engine);
    digest(fixture, (uint64_t)times[cookie]);
    digest(fixture, cookie * 2 + (moment == NETWORK_SENT));
}

static void
link_usage(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
           SimTime busy_ps)
{
    Fixture *fixture = owner;
    FixtureUsage row = {link, job, start_ps, length_ps, busy_ps, bytes};
    g_array_append_val(fixture->usage, row);
    digest(fixture, link);
    digest(fixture, (uint64_t)start_ps + bytes);
}

static void
loss(void *owner, const Loss *row)
{
    Fixture *fixture = owner;
    g_array_append_val(fixture->losses, *row);
    uint64_t bits;
    memcpy(&bits, &row->lost_ps, sizeof bits);
    digest(fixture, bits);
}

static void
transfer(void *owner, const TransferRecord *row)
{
    Fixture *fixture = owner;
    g_array_append_val(fixture->transfers, *row);
}

static void
packet_link(void *owner, uint32_t link, const PacketLinkCounts *counts)
{
    Fixture *fixture = owner;
    if (link >= fixture->packet_links->len)
        g_array_set_size(fixture->packet_links, link + 1);
    g_array_index(fixture->packet_links, PacketLinkCounts, link) = *counts;
    digest(fixture, counts->data_packets + counts->marked);
}

static void
handle_planned(void *owner, const Event *event)
{
    Fixture *fixture = owner;
    Planned plan = g_array_index(planned, Planned, event->target);
    fixture_send(fixture, &plan.transfer, plan.cookie);
}

void
fixture_begin(Fixture *fixture)
{
    *fixture = (Fixture){.config = network_config_default(), .fabric = fabric_new()};
    memset(fixture->sent, 0xff, sizeof fixture->sent);
    memset(fixture->delivered, 0xff, sizeof fixture->delivered);
    fixture->usage = g_array_new(FALSE, FALSE, sizeof(FixtureUsage));
    fixture->losses = g_array_new(FALSE, FALSE, sizeof(Loss));
    fixture->transfers = g_array_new(FALSE, FALSE, sizeof(TransferRecord));
    fixture->packet_links = g_array_new(FALSE, TRUE, sizeof(PacketLinkCounts));
    fixture->engine = engine_new(1);
    kind_planned = engine_add_kind(fixture->engine, handle_planned, fixture);
    planned = g_array_new(FALSE, FALSE, sizeof(Planned));
}

uint32_t
fixture_node(Fixture *fixture, NodeKind kind, const char *name)
{
    Node node = node_default();
    node.kind = kind;
    node.name = name;
    GError *error = NULL;
    uint32_t index = fabric_add_node(fixture->fabric, &node, &error);
    ck_assert_msg(error == NULL, "%s", error != NULL ? error->message : "");
    return index;
}

uint32_t
fixture_cable(Fixture *fixture, uint32_t a, uint32_t b, double capacity_Bps, SimTime latency_ps)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = capacity_Bps;
    link.latency_ps = latency_ps;
    GError *error = NULL;
    uint32_t index = fabric_add_cable(fixture->fabric, &link, &error);
    ck_assert_msg(error == NULL, "%s", error != NULL ? error->message : "");
    return index;
}

void
fixture_network(Fixture *fixture, const char *model, RoutingPolicy policy)
{
    GError *error = NULL;
    gboolean sealed = fabric_seal(fixture->fabric, &error);
    ck_assert_msg(sealed, "%s", error != NULL ? error->message : "");
    fixture->routes = routes_new(fixture->fabric, policy);
    NetworkObserver observer = {
        .owner = fixture, .link_usage = link_usage, .loss = loss, .transfer = transfer, .packet_link = packet_link};
    fixture->network = network_new(model, &fixture->config, fixture->routes, fixture->engine, &observer, &error);
    ck_assert_msg(fixture->network != NULL, "%s", error != NULL ? error->message : "");
    fixture->client = network_add_client(fixture->network, told, fixture);
    ck_assert_uint_eq(network_add_job(fixture->network, "a"), 0);
}

void
fixture_end(Fixture *fixture)
{
    network_free(fixture->network);
    routes_free(fixture->routes);
    engine_free(fixture->engine);
    fabric_free(fixture->fabric);
    g_array_unref(fixture->usage);
    g_array_unref(fixture->losses);
    g_array_unref(fixture->transfers);
    g_array_unref(fixture->packet_links);
    g_array_unref(planned);
}

Transfer
fixture_transfer(const Fixture *fixture, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return (Transfer){.coflow = INDEX_NONE,
                      .src_rank = src,
                      .dst_rank = dst,
                      .src = src,
                      .dst = dst,
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = bytes,
                      .weight = 1,
                      .rate_cap_Bps = INFINITY};
}

void
fixture_send(Fixture *fixture, const Transfer *row, uint32_t cookie)
{
    GError *error = NULL;
    gboolean started = network_send(fixture->network, fixture->client, row, cookie, &error);
    ck_assert_msg(started, "%s", error != NULL ? error->message : "");
}

void
fixture_send_at(Fixture *fixture, SimTime at, const Transfer *row, uint32_t cookie)
{
    Planned plan = {at, *row, cookie};
    g_array_append_val(planned, plan);
    engine_schedule(fixture->engine,
                    (Event){.when = at, .kind = kind_planned, .target = planned->len - 1, .sender = 1});
}

void
fixture_run(Fixture *fixture)
{
    GError *error = NULL;
    gboolean ran = engine_run(fixture->engine, &error);
    ck_assert_msg(ran, "%s", error != NULL ? error->message : "");
    network_finish(fixture->network);
}

uint64_t
fixture_bytes(const Fixture *fixture, uint32_t link, uint32_t job)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < fixture->usage->len; i++) {
        const FixtureUsage *row = &g_array_index(fixture->usage, FixtureUsage, i);
        if (row->link == link && (job == INDEX_NONE || row->job == job))
            sum += row->bytes;
    }
    return sum;
}

SimTime
fixture_busy(const Fixture *fixture, uint32_t link, uint32_t job)
{
    SimTime sum = 0;
    for (uint32_t i = 0; i < fixture->usage->len; i++) {
        const FixtureUsage *row = &g_array_index(fixture->usage, FixtureUsage, i);
        if (row->link == link && (job == INDEX_NONE || row->job == job))
            sum += row->busy_ps;
    }
    return sum;
}

double
fixture_lost(const Fixture *fixture, uint32_t victim, uint32_t culprit, uint32_t link, LossKind kind)
{
    double sum = 0;
    for (uint32_t i = 0; i < fixture->losses->len; i++) {
        const Loss *row = &g_array_index(fixture->losses, Loss, i);
        if (row->victim_job == victim && row->culprit_job == culprit && row->kind == kind &&
            (link == INDEX_NONE || row->link == link))
            sum += row->lost_ps / 1e12;
    }
    return sum;
}

PacketLinkCounts
fixture_packets(const Fixture *fixture, uint32_t link)
{
    if (link >= fixture->packet_links->len)
        return (PacketLinkCounts){0};
    return g_array_index(fixture->packet_links, PacketLinkCounts, link);
}

double
fixture_lost_in_all(const Fixture *fixture)
{
    double sum = 0;
    for (uint32_t i = 0; i < fixture->losses->len; i++)
        sum += g_array_index(fixture->losses, Loss, i).lost_ps / 1e12;
    return sum;
}
