#include "network/link_clock.h"

#include "base/big_array.h"
#include "base/index.h"

#include <assert.h>
#include <string.h>

/* The ends of links stand at the bottom of a tree: a node of a level has BLOCK of the level below. */
enum { BLOCK = 16, MOST_LEVELS = 8 };

/* A clock is set back before it can run over. */
#define LATE ((Count)1 << 120)

typedef struct {
    Count count; /* as of since */
    Count speed; /* counts per ps */
    Count first; /* no member is done before this */
    SimTime since;
    double rate_Bps;
    Count *done; /* by place: at which count */
    uint32_t *members;
    uint32_t n, room;
    gboolean loose; /* first may be before all members */
} Clock;

typedef struct {
    uint32_t link; /* INDEX_NONE = not there */
    uint32_t place;
} Member;

typedef struct {
    SimTime *least; /* by node: the least below it */
    uint8_t *stale; /* by node: that is not known; then so are all nodes above */
    uint32_t n;
} Level;

struct LinkClocks {
    Clock *clocks;
    SimTime *ends;             /* by link: no member is done before this; SIM_TIME_MAX = none ever is */
    uint8_t *exact;            /* by link: is that when the first is done? */
    Level levels[MOST_LEVELS]; /* the last has one node */
    uint32_t n_links, n_levels;
    Member *where; /* by number */
    uint32_t where_room;
    uint32_t *taken;
    uint32_t n_taken, taken_room;
};

LinkClocks *
link_clocks_new(uint32_t n_links)
{
    LinkClocks *clocks = g_new0(LinkClocks, 1);
    clocks->n_links = n_links;
    clocks->clocks = g_new0(Clock, MAX(1, n_links));
    clocks->ends = g_new(SimTime, MAX(1, n_links));
    clocks->exact = g_new(uint8_t, MAX(1, n_links));
    for (uint32_t l = 0; l < n_links; l++) {
        clocks->ends[l] = SIM_TIME_MAX;
        clocks->exact[l] = TRUE;
    }
    for (uint32_t n = MAX(1, n_links); clocks->n_levels == 0 || n > 1;) {
        n = (n + BLOCK - 1) / BLOCK;
        Level *level = &clocks->levels[clocks->n_levels++];
        *level = (Level){g_new(SimTime, n), g_new0(uint8_t, n), n};
        for (uint32_t i = 0; i < n; i++)
            level->least[i] = SIM_TIME_MAX;
    }
    return clocks;
}

void
link_clocks_free(LinkClocks *clocks)
{
    if (clocks == NULL)
        return;
    for (uint32_t l = 0; l < clocks->n_links; l++) {
        g_free(clocks->clocks[l].done);
        g_free(clocks->clocks[l].members);
    }
    g_free(clocks->clocks);
    g_free(clocks->ends);
    g_free(clocks->exact);
    for (uint32_t k = 0; k < clocks->n_levels; k++) {
        g_free(clocks->levels[k].least);
        g_free(clocks->levels[k].stale);
    }
    g_free(clocks->where);
    g_free(clocks->taken);
    g_free(clocks);
}

static Count
count_at(const Clock *clock, SimTime now)
{
    return clock->count + clock->speed * (now - clock->since);
}

static void
bring_up(Clock *clock, SimTime now)
{
    clock->count = count_at(clock, now);
    clock->since = now;
    if (clock->count < LATE)
        return;
    for (uint32_t i = 0; i < clock->n; i++)
        clock->done[i] -= clock->count;
    clock->first -= clock->count;
    clock->count = 0;
}

static void
set_end(LinkClocks *clocks, uint32_t link, SimTime end, gboolean exact)
{
    clocks->ends[link] = end;
    clocks->exact[link] = (uint8_t)exact;
    uint32_t node = link / BLOCK;
    for (uint32_t k = 0; k < clocks->n_levels && !clocks->levels[k].stale[node]; k++, node /= BLOCK)
        clocks->levels[k].stale[node] = TRUE;
}

/* Rounded up. */
static SimTime
whole_time(double time)
{
    SimTime below = (SimTime)time;
    return below + ((double)below < time);
}

/* When the first member is done, as floating point knows it: exact where its rounding makes no difference, else no
 * later than that. */
static void
set_bound(LinkClocks *clocks, uint32_t link)
{
    const Clock *clock = &clocks->clocks[link];
    if (clock->n == 0 || clock->speed == 0) {
        set_end(clocks, link, SIM_TIME_MAX, TRUE);
        return;
    }
    Count left = clock->first - clock->count;
    double time = left <= 0 ? 0 : (double)left / (double)clock->speed;
    if (time >= (double)(SIM_TIME_MAX - clock->since) * (1 - 0x1p-40)) {
        set_end(clocks, link, SIM_TIME_MAX - 1, FALSE);
        return;
    }
    SimTime early = whole_time(time * (1 - 0x1p-49)), late = whole_time(time * (1 + 0x1p-49));
    set_end(clocks, link, clock->since + early, early == late && !clock->loose);
}

/* The first member, by looking at all. */
static void
find_first(Clock *clock)
{
    if (!clock->loose || clock->n == 0)
        return;
    clock->first = clock->done[0];
    for (uint32_t i = 1; i < clock->n; i++)
        clock->first = MIN(clock->first, clock->done[i]);
    clock->loose = FALSE;
}

static void
set_exact(LinkClocks *clocks, uint32_t link)
{
    Clock *clock = &clocks->clocks[link];
    SimTime time, end;
    find_first(clock);
    if (clock->n > 0 && count_time(clock->first - clock->count, clock->rate_Bps, &time) &&
        sim_time_add(clock->since, time, &end))
        set_end(clocks, link, end, TRUE);
    else
        set_end(clocks, link, SIM_TIME_MAX, TRUE);
}

void
link_clocks_set_rate(LinkClocks *clocks, uint32_t link, double rate_Bps, SimTime now)
{
    Clock *clock = &clocks->clocks[link];
    bring_up(clock, now);
    clock->rate_Bps = rate_Bps;
    clock->speed = count_speed(rate_Bps);
    set_bound(clocks, link);
}

double
link_clocks_rate(const LinkClocks *clocks, uint32_t link)
{
    return clocks->clocks[link].rate_Bps;
}

static void
make_room(LinkClocks *clocks, Clock *clock, uint32_t number)
{
    if (clock->n == clock->room) {
        clock->room = MAX(4, 2 * clock->room);
        clock->done = g_renew(Count, clock->done, clock->room);
        clock->members = g_renew(uint32_t, clock->members, clock->room);
    }
    if (number < clocks->where_room)
        return;
    uint32_t room = MAX(number + 1, MAX(256, 2 * clocks->where_room));
    clocks->where = big_renew(Member, clocks->where, clocks->where_room, room);
    for (uint32_t i = clocks->where_room; i < room; i++)
        clocks->where[i].link = INDEX_NONE;
    clocks->where_room = room;
}

void
link_clocks_join(LinkClocks *clocks, uint32_t link, uint32_t number, Count left, SimTime now)
{
    Clock *clock = &clocks->clocks[link];
    make_room(clocks, clock, number);
    assert(clocks->where[number].link == INDEX_NONE);
    bring_up(clock, now);
    if (clock->n == 0) {
        clock->count = 0;
        clock->loose = FALSE;
    }
    Count done = clock->count + left;
    gboolean first = clock->n == 0 || done < clock->first;
    clocks->where[number] = (Member){link, clock->n};
    clock->members[clock->n] = number;
    clock->done[clock->n++] = done;
    if (!first)
        return;
    clock->first = done;
    clock->loose = FALSE;
    set_bound(clocks, link);
}

uint32_t
link_clocks_link(const LinkClocks *clocks, uint32_t number)
{
    return number < clocks->where_room ? clocks->where[number].link : INDEX_NONE;
}

Count
link_clocks_left(const LinkClocks *clocks, uint32_t number, SimTime now)
{
    const Clock *clock = &clocks->clocks[clocks->where[number].link];
    return clock->done[clocks->where[number].place] - count_at(clock, now);
}

/* The last comes to its place. */
static void
take_out(LinkClocks *clocks, Clock *clock, uint32_t place)
{
    clocks->where[clock->members[place]].link = INDEX_NONE;
    uint32_t last = --clock->n;
    if (place == last)
        return;
    clock->members[place] = clock->members[last];
    clock->done[place] = clock->done[last];
    clocks->where[clock->members[place]].place = place;
}

Count
link_clocks_leave(LinkClocks *clocks, uint32_t number, SimTime now)
{
    Member at = clocks->where[number];
    Clock *clock = &clocks->clocks[at.link];
    Count left = link_clocks_left(clocks, number, now);
    clock->loose |= clock->done[at.place] == clock->first;
    take_out(clocks, clock, at.place);
    if (clock->n == 0) /* else its bound still stands */
        set_bound(clocks, at.link);
    else if (clock->loose)
        clocks->exact[at.link] = FALSE;
    return left;
}

const uint32_t *
link_clocks_members(const LinkClocks *clocks, uint32_t link, uint32_t *n)
{
    *n = clocks->clocks[link].n;
    return clocks->clocks[link].members;
}

/* How many things, nodes or links, lie below a level. */
static uint32_t
n_below(const LinkClocks *clocks, uint32_t level)
{
    return level == 0 ? clocks->n_links : clocks->levels[level - 1].n;
}

static SimTime
least_of(LinkClocks *clocks, uint32_t level, uint32_t node)
{
    Level *it = &clocks->levels[level];
    if (!it->stale[node])
        return it->least[node];
    uint32_t end = MIN((node + 1) * BLOCK, n_below(clocks, level));
    for (uint32_t i = node * BLOCK; level > 0 && i < end; i++)
        least_of(clocks, level - 1, i);
    const SimTime *below = level == 0 ? clocks->ends : clocks->levels[level - 1].least;
    SimTime least = SIM_TIME_MAX;
    for (uint32_t i = node * BLOCK; i < end; i++)
        least = MIN(least, below[i]);
    it->least[node] = least;
    it->stale[node] = FALSE;
    return least;
}

/* The exact end of a link below the node, if it is before `first`. */
static SimTime
find_end(LinkClocks *clocks, uint32_t level, uint32_t node, SimTime first)
{
    uint32_t end = MIN((node + 1) * BLOCK, n_below(clocks, level));
    for (uint32_t i = node * BLOCK; i < end; i++) {
        if (level > 0) {
            if (least_of(clocks, level - 1, i) < first)
                first = find_end(clocks, level - 1, i, first);
        } else if (clocks->ends[i] < first) {
            if (!clocks->exact[i])
                set_exact(clocks, i);
            first = MIN(first, clocks->ends[i]);
        }
    }
    return first;
}

gboolean
link_clocks_first(LinkClocks *clocks, SimTime *end_ps)
{
    *end_ps = find_end(clocks, clocks->n_levels - 1, 0, SIM_TIME_MAX);
    return *end_ps < SIM_TIME_MAX;
}

/* Takes out those on a link that are done. */
static void
take_done(LinkClocks *clocks, uint32_t link, SimTime now)
{
    Clock *clock = &clocks->clocks[link];
    if (clocks->n_taken + clock->n > clocks->taken_room) {
        clocks->taken_room = MAX(clocks->n_taken + clock->n, 2 * clocks->taken_room);
        clocks->taken = g_renew(uint32_t, clocks->taken, clocks->taken_room);
    }
    bring_up(clock, now);
    Count first = 0;
    for (uint32_t i = 0; i < clock->n;) {
        Count done = clock->done[i];
        if (done <= clock->count) {
            clocks->taken[clocks->n_taken++] = clock->members[i];
            take_out(clocks, clock, i);
            continue;
        }
        first = i == 0 ? done : MIN(first, done);
        i++;
    }
    clock->first = first;
    clock->loose = FALSE;
    set_bound(clocks, link);
}

static void
take_below(LinkClocks *clocks, uint32_t level, uint32_t node, SimTime now)
{
    uint32_t end = MIN((node + 1) * BLOCK, n_below(clocks, level));
    for (uint32_t i = node * BLOCK; i < end; i++) {
        if (level == 0 && clocks->ends[i] <= now)
            take_done(clocks, i, now);
        else if (level > 0 && least_of(clocks, level - 1, i) <= now)
            take_below(clocks, level - 1, i, now);
    }
}

const uint32_t *
link_clocks_take(LinkClocks *clocks, SimTime now, uint32_t *n)
{
    clocks->n_taken = 0;
    if (least_of(clocks, clocks->n_levels - 1, 0) <= now)
        take_below(clocks, clocks->n_levels - 1, 0, now);
    *n = clocks->n_taken;
    return clocks->taken;
}
