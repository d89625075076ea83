#include "network/loss_state.h"

/* Losses below this share are rounding. */
#define NOTHING 1e-10

void
losses_drop_parts(Losses *losses, Victim *victim)
{
    while (victim->parts != INDEX_NONE) {
        uint32_t p = victim->parts;
        victim->parts = losses->parts[p].next;
        losses->parts[p].next = losses->free_part;
        losses->free_part = p;
    }
    losses->n_candidates -= (victim->flags & CANDIDATE) != 0;
    victim->flags &= ~(uint32_t)CANDIDATE;
}

static void
add_part(Losses *losses, Victim *victim, Part part)
{
    uint32_t p = losses->free_part;
    if (p != INDEX_NONE) {
        losses->free_part = losses->parts[p].next;
    } else {
        if (losses->n_parts == losses->parts_room) {
            losses->parts_room = MAX(256, 2 * losses->parts_room);
            losses->parts = g_renew(Part, losses->parts, losses->parts_room);
        }
        p = losses->n_parts++;
    }
    part.next = victim->parts;
    losses->parts[p] = part;
    victim->parts = p;
}

/* What a flow of this rate loses because `use` has less capacity than at first: against the rate that link alone would
 * allow it with all it had, its other limits being as they are. */
static double
fault_at(const Losses *losses, uint32_t flow, uint32_t use, double rate)
{
    uint32_t link = maxmin_use(losses->solver, flow, use).link;
    double before = MIN(rate * (losses->original[link] / losses->capacity[link]), maxmin_cap(losses->solver, flow));
    for (uint32_t i = 0; i < maxmin_n_uses(losses->solver, flow); i++) {
        MaxMinUse other = maxmin_use(losses->solver, flow, i);
        if (i != use)
            before = MIN(before, losses->capacity[other.link] / other.coefficient);
    }
    return before > rate ? 1 - rate / before : 0;
}

/* Is the link one of several that the flow's hash could have taken, which have room, while others are on it? */
static gboolean
collides_at(Losses *losses, uint32_t activity, uint32_t use, uint32_t link)
{
    if (losses->groups == NULL || !losses->choice[link])
        return FALSE;
    const Activity *row = activities_get(losses->network->activities, activity);
    const Victim *victim = &losses->victims[activity];
    UsageCount others =
        loss_others_rate(losses->usage, link, INDEX_NONE) - usage_book_rate(losses->usage, victim->book, use);
    gboolean split = maxmin_use(losses->solver, victim->flow, use).coefficient < 1; /* it took all of them */
    if (row->n_members > 1 || split || others <= 0)
        return FALSE;
    RouteRequest request = network_request(losses->network, &row->first);
    uint32_t n;
    const uint32_t *siblings = routes_siblings(losses->network->routes, &request, link, &n);
    return n > 1 && loss_groups_has_room(losses->groups, loss_groups_find(losses->groups, siblings, n));
}

void
losses_look(Losses *losses, uint32_t activity)
{
    Victim *victim = &losses->victims[activity];
    losses_drop_parts(losses, victim);
    if (victim->flow == INDEX_NONE) {
        add_part(losses, victim, (Part){.link = victim->dead_link, .fault = 1});
        claims_set(losses->claims, activity, LOST_FAULT, 1);
        return;
    }
    double rate = maxmin_exact_rate(losses->solver, victim->flow), fault = 0;
    uint32_t n_parts = 0;
    for (uint32_t i = 0; i < maxmin_n_uses(losses->solver, victim->flow); i++) {
        uint32_t link = maxmin_use(losses->solver, victim->flow, i).link;
        if (!maxmin_is_bottleneck(losses->solver, victim->flow, link))
            continue;
        Part part = {.link = link, .use = i, .collides = collides_at(losses, activity, i, link)};
        if (losses->reduced[link])
            part.fault = fault_at(losses, victim->flow, i, rate);
        fault += part.fault;
        n_parts++;
        if (part.collides && !(victim->flags & CANDIDATE)) {
            victim->flags |= CANDIDATE;
            losses->n_candidates++;
        }
        add_part(losses, victim, part);
    }
    double alone =
        victim->alone != INDEX_NONE && losses->n_shared > 0 ? maxmin_exact_rate(losses->alone, victim->alone) : 0;
    double lost = alone > rate ? 1 - rate / alone : 0;
    claims_set(losses->claims, activity, LOST_CONTENTION, lost > NOTHING ? lost : 0);
    claims_set(losses->claims, activity, LOST_FAULT, n_parts > 0 && fault > NOTHING ? fault / n_parts : 0);
}

void
losses_look_at_collision(Losses *losses, uint32_t activity)
{
    const Victim *victim = &losses->victims[activity];
    double lost = 0;
    if (victim->flags & CANDIDATE) {
        double spread = MIN(loss_spread_rate(losses->spread, activity), maxmin_cap(losses->solver, victim->flow));
        double rate = maxmin_exact_rate(losses->solver, victim->flow);
        lost = spread > rate ? 1 - rate / spread : 0;
    }
    claims_set(losses->claims, activity, LOST_COLLISION, lost > NOTHING ? lost : 0);
}

static uint32_t
count_parts(const Losses *losses, const Victim *victim, gboolean colliding)
{
    uint32_t n = 0;
    for (uint32_t p = victim->parts; p != INDEX_NONE; p = losses->parts[p].next)
        n += !colliding || losses->parts[p].collides;
    return n;
}

/* Books a collision on all that share the links; the part that falls on other jobs. */
static double
book_collision(Losses *losses, uint32_t claim, uint32_t activity, SimTime now)
{
    const Victim *victim = &losses->victims[activity];
    double lost = claims_get(losses->claims, activity, LOST_COLLISION) / count_parts(losses, victim, TRUE),
           on_others = 0;
    for (uint32_t p = victim->parts; p != INDEX_NONE; p = losses->parts[p].next) {
        const Part *part = &losses->parts[p];
        if (!part->collides)
            continue;
        LossPlace place = {part->link, victim->job, victim->iteration, LOSS_COLLISION,
                           usage_book_rate(losses->usage, victim->book, part->use)};
        claims_book(losses->claims, claim, &place, lost, now);
        double others = (double)loss_others_rate(losses->usage, part->link, victim->job);
        double all = (double)(loss_others_rate(losses->usage, part->link, INDEX_NONE) - place.own_rate);
        on_others += lost * (others / all);
    }
    return on_others;
}

/* Contention is what the collision has not already put on other jobs, in equal parts over the links that hold the flow.
 */
static void
book_contention(Losses *losses, uint32_t claim, uint32_t activity, double booked, SimTime now)
{
    const Victim *victim = &losses->victims[activity];
    double lost = claims_get(losses->claims, activity, LOST_CONTENTION) - booked;
    uint32_t n = count_parts(losses, victim, FALSE);
    LossPlace place = {INDEX_NONE, victim->job, victim->iteration, LOSS_CONTENTION, 0};
    if (lost <= 0)
        return;
    if (n == 0)
        claims_book(losses->claims, claim, &place, lost, now);
    for (uint32_t p = victim->parts; p != INDEX_NONE; p = losses->parts[p].next) {
        place.link = losses->parts[p].link;
        claims_book(losses->claims, claim, &place, lost / n, now);
    }
}

static void
book_fault(Losses *losses, uint32_t claim, uint32_t activity, SimTime now)
{
    const Victim *victim = &losses->victims[activity];
    uint32_t n = count_parts(losses, victim, FALSE);
    for (uint32_t p = victim->parts; p != INDEX_NONE; p = losses->parts[p].next) {
        LossPlace place = {losses->parts[p].link, victim->job, victim->iteration, LOSS_FAULT, 0};
        claims_book(losses->claims, claim, &place, losses->parts[p].fault / n, now);
    }
}

void
losses_book_claim(void *owner, uint32_t claim, const uint32_t *worst, SimTime now)
{
    Losses *losses = owner;
    double booked = 0;
    if (worst[LOST_COLLISION] != INDEX_NONE)
        booked = book_collision(losses, claim, worst[LOST_COLLISION], now);
    if (worst[LOST_CONTENTION] != INDEX_NONE)
        book_contention(losses, claim, worst[LOST_CONTENTION], booked, now);
    if (worst[LOST_FAULT] != INDEX_NONE)
        book_fault(losses, claim, worst[LOST_FAULT], now);
}
