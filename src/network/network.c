#include "network/all_pairs.h"
#include "network/model.h"

#include "base/error.h"
#include "base/index.h"
#include "base/random.h"
#include "base/suggest.h"

#include <assert.h>
#include <math.h>

static const NetworkModel *const models[] = {&network_fluid, &network_packet, &network_analytic, &network_recorded};
static const char *const model_names[] = {"fluid", "packet", "analytic", "recorded", NULL};

/* A link change to come; events name it by its number here. */
struct NetworkLater {
    uint32_t link;
    double rate_Bps;
};

static const NetworkModel *
find_model(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(models); i++)
        if (g_str_equal(models[i]->name, name))
            return models[i];
    return NULL;
}

NetworkConfig
network_config_default(void)
{
    NetworkConfig config = {.bucket_ps = PS_PER_MS,
                            .books = TRUE,
                            .collisions = TRUE,
                            .payload_fraction = 1,
                            .packet = packet_config_default()};
    for (PathLevel level = 0; level < PATH_LEVELS; level++)
        config.limits[level] = path_limit_default();
    return config;
}

static void
handle_later(void *owner, const Event *event)
{
    Network *network = owner;
    struct NetworkLater change = network->later[event->target];
    history_break(engine_history(network->engine));
    network_set_link(network, change.link, change.rate_Bps);
}

Network *
network_new(const char *model, const NetworkConfig *config, Routes *routes, Engine *engine,
            const NetworkObserver *observer, GError **error)
{
    assert(config->bucket_ps > 0 && config->payload_fraction > 0 && config->payload_fraction <= 1);
    const NetworkModel *found = find_model(model);
    if (found == NULL) {
        const char *nearest = suggest_nearest(model, model_names, G_N_ELEMENTS(models));
        if (nearest != NULL)
            error_input(error, "network model \"%s\" is not known; do you mean \"%s\"?", model, nearest);
        else
            error_input(error, "network model \"%s\" is not known; known are fluid, packet, analytic and recorded",
                        model);
        return NULL;
    }
    if (found->check != NULL && !found->check(config, error))
        return NULL;
    Network *network = g_malloc0(found->size);
    network->model = found;
    network->config = *config;
    network->routes = routes;
    network->engine = engine;
    if (observer != NULL)
        network->observer = *observer;
    network->activities = activities_new(engine, &network->observer);
    network->phases = phases_new(network);
    network->kind_later = engine_add_kind(engine, handle_later, network);
    found->init(network);
    return network;
}

void
network_free(Network *network)
{
    if (network == NULL)
        return;
    phases_free(network->phases);
    network->model->destroy(network);
    activities_free(network->activities);
    g_free(network->job_keys);
    g_free(network->later);
    g_free(network->listeners);
    g_free(network);
}

uint32_t
network_add_client(Network *network, NetworkDone done, void *owner)
{
    return activities_add_client(network->activities, done, owner);
}

uint32_t
network_add_job(Network *network, const char *name)
{
    network->job_keys = g_renew(uint64_t, network->job_keys, network->n_jobs + 1);
    network->job_keys[network->n_jobs] = hash_combine(network->config.seed, hash_text(name));
    if (network->model->add_job != NULL)
        network->model->add_job(network, network->n_jobs, name);
    return network->n_jobs++;
}

RouteRequest
network_request(const Network *network, const Transfer *transfer)
{
    assert(transfer->job < network->n_jobs);
    uint64_t key = hash_combine(network->job_keys[transfer->job], transfer->src_rank);
    key = hash_combine(hash_combine(key, transfer->dst_rank), transfer->channel);
    return (RouteRequest){.src = transfer->src,
                          .dst = transfer->dst,
                          .src_nic = transfer->src_nic,
                          .dst_nic = transfer->dst_nic,
                          .key = key};
}

const PathLimit *
network_limits(const Network *network, const Transfer *transfer)
{
    assert(transfer->settings <= network->config.n_settings);
    return transfer->settings == 0 ? network->config.limits : network->config.settings[transfer->settings - 1];
}

/* Its number, not yet started; INDEX_NONE with an INPUT error. */
static uint32_t
open_activity(Network *network, uint32_t client, const Bundle *bundle, uint32_t cookie, gboolean single, GError **error)
{
    for (uint32_t i = 0; bundle->pairs != NULL && i < bundle->pairs->n; i++) {
        uint64_t bytes = bundle->pairs->bytes[i];
        if (bytes >= UINT64_C(1) << 55)
            return error_input(error, "a transfer of %" G_GUINT64_FORMAT " bytes; the most is 2^55 - 1", bytes);
    }
    for (uint32_t i = 0; i < bundle->n_members; i++) {
        const Transfer *member = &bundle->members[i];
        assert(member->job == bundle->members[0].job && member->job < network->n_jobs);
        assert(member->weight > 0 && member->rate_cap_Bps > 0);
        if (member->bytes >= TRANSFER_BYTES_END) {
            error_input(error, "a transfer of %" G_GUINT64_FORMAT " bytes; the most is 2^55 - 1", member->bytes);
            return INDEX_NONE;
        }
    }
    return activities_open(network->activities, client, bundle, cookie, single);
}

/* What the model says of the start of an activity. */
static gboolean
started(Network *network, uint32_t activity, const Bundle *bundle, gboolean begun)
{
    if (!begun) {
        activities_withdraw(network->activities, activity);
        return FALSE;
    }
    network->totals.transfers += bundle_size(bundle);
    network->totals.bytes += bundle->pairs != NULL ? all_pairs_bytes(bundle->pairs) : 0;
    for (uint32_t i = 0; i < bundle->n_members; i++)
        network->totals.bytes += bundle->members[i].bytes;
    return TRUE;
}

gboolean
network_send(Network *network, uint32_t client, const Transfer *transfer, uint32_t cookie, GError **error)
{
    Bundle bundle = {.members = transfer, .n_members = 1};
    uint32_t activity = open_activity(network, client, &bundle, cookie, TRUE, error);
    return activity != INDEX_NONE &&
           started(network, activity, &bundle, network->model->start(network, activity, error));
}

gboolean
network_send_bundle(Network *network, uint32_t client, const Bundle *bundle, uint32_t cookie, GError **error)
{
    assert(bundle->latency_ps >= 0);
    uint32_t activity = open_activity(network, client, bundle, cookie, FALSE, error);
    return activity != INDEX_NONE &&
           started(network, activity, bundle, network->model->start(network, activity, error));
}

gboolean
network_send_begun(Network *network, uint32_t client, const Transfer *transfer, SimTime begun_ps, uint32_t cookie,
                   GError **error)
{
    assert(network->model->start_begun != NULL && begun_ps <= engine_now(network->engine));
    Bundle bundle = {.members = transfer, .n_members = 1};
    uint32_t activity = open_activity(network, client, &bundle, cookie, TRUE, error);
    if (activity == INDEX_NONE)
        return FALSE;
    activities_get(network->activities, activity)->start_ps = begun_ps;
    network->model->start_begun(network, activity);
    return started(network, activity, &bundle, TRUE);
}

gboolean
network_offers_holds(const Network *network)
{
    return network->model->hold != NULL;
}

NetworkHold *
network_hold(Network *network, const Transfer *transfers, uint32_t n, NetworkRelease release, void *owner,
             uint32_t cookie)
{
    if (network->model->hold == NULL || network->config.reroute_delay_ps > 0) /* ways may be dead without being told */
        return NULL;
    return network->model->hold(network, transfers, n, release, owner, cookie);
}

void
network_set_link(Network *network, uint32_t link, double rate_Bps)
{
    assert(link < fabric_n_links(routes_fabric(network->routes)) && rate_Bps >= 0 && isfinite(rate_Bps));
    network->changes++;
    network->model->set_link(network, link, rate_Bps);
}

uint64_t
network_changes(Network *network)
{
    if (routes_policy(network->routes) == ROUTING_ADAPTIVE)
        network->changes++;
    return network->changes;
}

void
network_set_link_at(Network *network, uint32_t link, double rate_Bps, SimTime at)
{
    network->later = g_renew(struct NetworkLater, network->later, network->n_later + 1);
    network->later[network->n_later] = (struct NetworkLater){link, rate_Bps};
    engine_schedule(
        network->engine,
        (Event){.when = at, .kind = network->kind_later, .target = network->n_later++, .sender = NETWORK_SENDER});
}

void
network_listen(Network *network, uint32_t client, NetworkHostMoment told, void *owner)
{
    if (client >= network->n_listeners) {
        network->listeners = g_renew(struct NetworkListener, network->listeners, client + 1);
        for (; network->n_listeners <= client; network->n_listeners++)
            network->listeners[network->n_listeners] = (struct NetworkListener){0};
    }
    network->listeners[client] = (struct NetworkListener){told, owner};
}

struct Hosts *
network_hosts(const Network *network)
{
    return network->model->hosts != NULL ? network->model->hosts(network) : NULL;
}

gboolean
network_probe(Network *network, const Transfer *transfer, NetworkProbe *probe, GError **error)
{
    return network->model->probe(network, transfer, probe, error);
}

const Fabric *
network_fabric(const Network *network)
{
    return routes_fabric(network->routes);
}

gboolean
network_moves_bytes(const Network *network)
{
    return network->model->moves_bytes;
}

void
network_finish(Network *network)
{
    assert(!network->finished);
    network->finished = TRUE;
    if (network->model->finish != NULL)
        network->model->finish(network);
}

uint32_t
network_in_flight(const Network *network)
{
    return activities_in_flight(network->activities) + phases_in_flight(network->phases);
}

NetworkTotals
network_totals(const Network *network)
{
    return network->totals;
}

const char *const *
network_models(void)
{
    return model_names;
}

const char *
network_model_help(const char *model)
{
    const NetworkModel *found = find_model(model);
    return found != NULL ? found->help : NULL;
}

gboolean
network_model_moves_bytes(const char *model)
{
    const NetworkModel *found = find_model(model);
    return found == NULL || found->moves_bytes;
}
