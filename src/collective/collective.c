#include "collective/collective.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

static const char *const kind_names[COLLECTIVE_KINDS] = {
    [COLLECTIVE_ALL_REDUCE] = "all_reduce",
    [COLLECTIVE_ALL_GATHER] = "all_gather",
    [COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
    [COLLECTIVE_ALL_TO_ALL] = "all_to_all",
    [COLLECTIVE_BROADCAST] = "broadcast",
    [COLLECTIVE_REDUCE] = "reduce",
    [COLLECTIVE_BARRIER] = "barrier",
};

const char *
collective_kind_name(CollectiveKind kind)
{
    assert(kind < COLLECTIVE_KINDS);
    return kind_names[kind];
}

gboolean
collective_kind_parse(const char *text, CollectiveKind *kind)
{
    for (int i = 0; i < COLLECTIVE_KINDS; i++) {
        if (strcmp(kind_names[i], text) == 0) {
            *kind = (CollectiveKind)i;
            return TRUE;
        }
    }
    return FALSE;
}

CollectiveConfig
collective_config_default(void)
{
    return (CollectiveConfig){.grain = GRAIN_STEPS, .channel_weights = CHANNELS_EQUAL, .slice_B = 512 * 1024};
}

/* nccl-tests, doc/PERFORMANCE.md: the part of S that crosses each rank's link. */
double
collective_bus_factor(CollectiveKind kind, uint32_t n)
{
    double ranks = n;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (ranks - 1) / ranks;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        return (ranks - 1) / ranks;
    default:
        return 1;
    }
}

typedef struct {
    Engine *engine;
    CollectiveRunner *runner;
    uint32_t handle, n;
    SimTime end_ps; /* -1 = not over */
} Alone;

/* All members at once. */
static void
alone_begin(void *owner, const Event *event)
{
    Alone *alone = owner;
    for (uint32_t i = 0; i < alone->n; i++)
        collective_arrive(alone->runner, alone->handle, i);
}

static void
alone_done(void *owner, uint32_t cookie)
{
    Alone *alone = owner;
    alone->end_ps = engine_now(alone->engine);
}

static SimTime
run_alone(Network *net, Engine *engine, const CollectiveSpec *spec, const CollectiveConfig *config, GError **error)
{
    Alone alone = {.engine = engine, .n = spec->n, .end_ps = -1};
    g_autoptr(CollectiveRunner) runner = alone.runner = collective_runner_new(net, engine, alone_done, &alone);
    alone.handle = collective_open(runner, spec, config, 0, error);
    if (alone.handle == INDEX_NONE)
        return -1;
    uint32_t kind = engine_add_kind(engine, alone_begin, &alone);
    engine_schedule(engine, (Event){.when = engine_now(engine), .kind = kind});
    if (!engine_run(engine, error))
        return -1;
    if (alone.end_ps < 0)
        g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s of %u ranks alone did not end: %u transfers stand still", collective_kind_name(spec->kind),
                    spec->n, network_in_flight(net));
    return alone.end_ps;
}

SimTime
collective_alone(const char *model, const NetworkConfig *network, Routes *routes, const char *job_name,
                 const CollectiveSpec *spec, const CollectiveConfig *config, GError **error)
{
    NetworkConfig quiet = *network;
    quiet.books = FALSE;
    quiet.collisions = FALSE;
    g_autoptr(Engine) engine = engine_new(network->seed);
    g_autoptr(Network) net = network_new(model, &quiet, routes, engine, NULL, error);
    if (net == NULL)
        return -1;
    if (!network_moves_bytes(net)) {
        error_input(error, "model \"%s\" moves no bytes; a collective's time alone needs one that does", model);
        return -1;
    }
    CollectiveSpec own = *spec;
    own.job = network_add_job(net, job_name);
    return run_alone(net, engine, &own, config, error);
}
