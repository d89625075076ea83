/* clock.c - ops that keep a CPU of their host busy, under LogGOPS
 *
 * Such an op waits for the clocks of its host (network/hosts.h), not for its stream. As soon as it has taken its CPU,
 * what waits for its end may queue for the same CPU behind it, in the order that LogGOPSim has; on another CPU not
 * before the op has let go of its own. The op itself ends, and is counted, when it lets go. */
#include "cluster/run.h"

static void
on_begun(void *owner, const HostWork *work)
{
    Simulation *simulation = owner;
    RankRun *rank = simulation->ranks[work->cookie >> 32];
    uint32_t op = (uint32_t)work->cookie;
    if (work->kind != HOST_COMPUTE) {
        (work->kind == HOST_SEND ? mailbox_leave : mailbox_post)(rank->job->mailbox, rank, op);
        return;
    }
    SimTime duration = rank_op_duration(rank, op);
    hosts_hold(simulation->hosts, work, duration, 0);
    rank_account(rank, ACCOUNT_COMPUTE, 1);
    rank_end_op_in(rank, op, duration);
    clock_begun(rank, op);
    clock_let_go(rank, op, hosts_cpu_free(simulation->hosts, work->node, work->cpu));
    rank_go_on(rank);
}

void
clock_connect(Simulation *simulation)
{
    simulation->hosts = network_hosts(simulation->network);
    if (simulation->hosts != NULL)
        simulation->host_client = hosts_add_client(simulation->hosts, on_begun, simulation);
}

SimTime
clock_earliest(const RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    const uint32_t *deps = script_deps(rank->script, index);
    SimTime earliest = 0;
    for (uint32_t d = 0; d < op->n_deps - op->n_begun; d++)
        earliest = MAX(earliest, rank->let_go_ps[deps[d]]);
    return earliest;
}

void
clock_queue(RankRun *rank, uint32_t index, HostWorkKind kind)
{
    const Op *op = script_op(rank->script, index);
    const Simulation *simulation = rank->job->simulation;
    HostWork work = {.kind = kind,
                     .node = rank->job->setup->nodes[rank->rank],
                     .cpu = op->cpu == CPU_NONE ? 0 : (uint8_t)op->cpu,
                     .nic = op->nic,
                     .client = simulation->host_client,
                     .cookie = (uint64_t)rank->number << 32 | index};
    hosts_queue_free(simulation->hosts, &work, clock_earliest(rank, index));
}

void
clock_begun(RankRun *rank, uint32_t op)
{
    if (script_has_clock(rank->script, op))
        progress_begun(rank->progress, op);
}

void
clock_let_go(RankRun *rank, uint32_t op, SimTime when)
{
    if (!script_has_clock(rank->script, op))
        return;
    rank->let_go_ps[op] = when;
    progress_let_go(rank->progress, op);
}
