/* fluid_ramp.c - flows that ramp up enter the solver anew with twice the cap every round trip */
#include "network/fluid_state.h"

static void
double_later(Fluid *self, uint32_t number)
{
    FluidFlow *flow = &self->flows[number];
    flow->ramp_stamp = ++self->ramps;
    engine_schedule_in(
        self->base.engine, self->ramping[number].round_trip_ps,
        (Event){.kind = self->kind_ramp, .target = number, .sender = NETWORK_SENDER, .stamp = flow->ramp_stamp});
}

/* The cap it begins with. */
double
fluid_begin_ramp(Fluid *self, uint32_t number, const Demand *demand)
{
    FluidFlow *flow = &self->flows[number];
    flow->ramp_stamp = 0;
    if (demand->ramp.round_trip_ps == 0)
        return demand->cap_Bps;
    double alone_Bps = demand_rate_alone(demand, self->capacity);
    if (demand->ramp.first_Bps >= alone_Bps)
        return demand->cap_Bps;
    if (number >= self->ramping_room) {
        self->ramping_room = MAX(number + 1, 2 * self->ramping_room);
        self->ramping = g_renew(Ramp, self->ramping, self->ramping_room);
    }
    self->ramping[number] = (Ramp){demand->ramp.round_trip_ps, alone_Bps, demand->cap_Bps};
    double_later(self, number);
    return demand->ramp.first_Bps;
}

/* A round trip has passed: the same flow with twice the cap. */
void
fluid_handle_ramp(void *owner, const Event *event)
{
    Fluid *self = owner;
    uint32_t number = event->target, n;
    FluidFlow *flow = &self->flows[number];
    if (flow->ramp_stamp != event->stamp) {
        engine_abandon(self->base.engine, -1);
        return;
    }
    double cap_Bps = 2 * maxmin_cap(self->solver, flow->flow), weight = maxmin_weight(self->solver, flow->flow);
    flow->ramp_stamp = 0;
    if (cap_Bps >= self->ramping[number].through_Bps)
        cap_Bps = self->ramping[number].cap_Bps;
    else
        double_later(self, number);
    g_autofree MaxMinUse *uses = fluid_uses(self, flow->flow, &n);
    if (self->losses != NULL)
        losses_leave(self->losses, number);
    maxmin_remove(self->solver, flow->flow);
    fluid_leave_clock(self, number);
    flow->told = 0;
    fluid_add(self, number, uses, n, weight, cap_Bps);
    if (self->losses != NULL)
        losses_enter(self->losses, number, flow->flow, flow->book);
    fluid_unsettle(self);
}
