#include "workload/goal_time.h"

#include "base/error.h"
#include "base/random.h"

#define TIME_MOST (SIM_TIME_MAX / 4)

typedef struct {
    SimTime when;
    uint64_t order;   /* of pushing */
    uint32_t op;      /* number over all ranks */
    uint16_t arrives, /* the message of op, a send, comes in */
        line;         /* the line in which op waits is to be looked at */
} Entry;

/* Lists by hash, oldest first; each op is in at most one of each kind. */
typedef struct {
    uint32_t *head, *tail, *next;
    uint64_t mask;
} Lists;

/* Those that found the same CPU and NIC busy, as op + 1, 0 = none: one entry of the queue stands for them, at when.
 * fresh: those that found it busy at when before that entry came; they go first. */
typedef struct {
    uint32_t head, tail, fresh_head, fresh_tail;
    SimTime when;
} Line;

enum { LINE_CALC, LINE_SEND, LINE_ARRIVE, LINES };

typedef struct {
    const GoalSchedule *schedule;
    const GoalCosts *costs;
    uint32_t n_ops, n_cpus, n_nics;
    const GoalOp **ops;
    uint32_t *rank_of;
    uint32_t *missing;
    uint32_t *first[2], *waiters[2]; /* [begun] an op: who waits */
    gboolean *wild;                  /* a rank: some receive or message of it has any source or tag */
    SimTime *cpu, *nic_out, *nic_in;
    SimTime *earliest;   /* an op: what it waits for has let go of its CPU */
    SimTime *taken;      /* a send: its message has been taken in */
    Line *lines;         /* a rank, CPU, NIC and kind of waiting */
    uint32_t *wait_next; /* an op: the next of its line, + 1 */
    Lists posted, unexpected;
    GArray *heap;  /* of Entry */
    GArray *freed; /* of uint32_t: ops that nothing holds any longer */
    uint64_t pushed, messages;
    uint32_t left;
} Clock;

GoalCosts
goal_costs_default(void)
{
    return (GoalCosts){.L_ps = 2500 * PS_PER_NS,
                       .costs = {.o_ps = 1500 * PS_PER_NS, .g_ps = 1000 * PS_PER_NS, .G_s_per_B = 6e-9, .S_B = 65535}};
}

static gboolean
before(const Entry *a, const Entry *b)
{
    return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void
push_entry(Clock *clock, SimTime when, uint32_t op, gboolean arrives, gboolean line)
{
    Entry entry = {when, clock->pushed++, op, (uint16_t)arrives, (uint16_t)line};
    g_array_append_val(clock->heap, entry);
    Entry *heap = (Entry *)clock->heap->data;
    guint i = clock->heap->len - 1;
    for (; i > 0 && before(&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = entry;
}

static void
push(Clock *clock, SimTime when, uint32_t op, gboolean arrives)
{
    push_entry(clock, when, op, arrives, FALSE);
}

static Entry
pop(Clock *clock)
{
    Entry *heap = (Entry *)clock->heap->data, least = heap[0], last = heap[clock->heap->len - 1];
    guint n = clock->heap->len - 1, i = 0;
    g_array_set_size(clock->heap, n);
    while (2 * i + 1 < n) {
        guint child = 2 * i + 1;
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (n > 0)
        heap[i] = last;
    return least;
}

/* base + (bytes - 1) x per byte, to the nearest picosecond; no byte costs base. */
static SimTime
cost(SimTime base_ps, double s_per_B, uint64_t bytes)
{
    double more_ps = bytes > 1 ? (double)(bytes - 1) * s_per_B * 1e12 + 0.5 : 0;
    return base_ps + (more_ps < (double)TIME_MOST ? (SimTime)more_ps : TIME_MOST);
}

static SimTime *
cpu_of(Clock *clock, uint32_t rank, const GoalOp *op)
{
    return &clock->cpu[(gsize)rank * clock->n_cpus + op->cpu];
}

static SimTime *
nic_of(Clock *clock, SimTime *nics, uint32_t rank, const GoalOp *op)
{
    return &nics[(gsize)rank * clock->n_nics + op->nic];
}

static SimTime
ready_at(Clock *clock, uint32_t number)
{
    const GoalOp *op = clock->ops[number];
    uint32_t rank = clock->rank_of[number];
    SimTime cpu = *cpu_of(clock, rank, op);
    return op->kind == GOAL_SEND ? MAX(cpu, *nic_of(clock, clock->nic_out, rank, op)) : cpu;
}

/* The op has begun, or ended, and lets go of its CPU at when. */
static void
release(Clock *clock, uint32_t op, gboolean begun, SimTime when)
{
    clock->left -= begun ? 0 : 1;
    for (uint32_t i = clock->first[begun][op]; i < clock->first[begun][op + 1]; i++) {
        uint32_t waiter = clock->waiters[begun][i];
        clock->earliest[waiter] = MAX(clock->earliest[waiter], when);
        if (--clock->missing[waiter] == 0)
            g_array_append_val(clock->freed, waiter);
    }
}

static uint64_t
bucket(const Clock *clock, uint32_t rank, uint64_t source, uint64_t tag)
{
    if (clock->wild[rank])
        return hash_mix(rank + UINT64_C(1)) & clock->posted.mask;
    return hash_mix(hash_mix(hash_mix(rank + UINT64_C(1)) + source) + tag) & clock->posted.mask;
}

static void
list_append(Lists *lists, uint64_t at, uint32_t op)
{
    lists->next[op] = INDEX_NONE;
    if (lists->head[at] == INDEX_NONE)
        lists->head[at] = op;
    else
        lists->next[lists->tail[at]] = op;
    lists->tail[at] = op;
}

/* Do this receive and this send find each other? */
static gboolean
matches(const Clock *clock, uint32_t recv, uint32_t send)
{
    const GoalOp *r = clock->ops[recv], *s = clock->ops[send];
    return clock->rank_of[recv] == s->peer && (r->peer == GOAL_ANY || r->peer == clock->rank_of[send]) &&
           (r->tag == GOAL_ANY || s->tag == GOAL_ANY || r->tag == s->tag);
}

/* The oldest that fits, taken off; INDEX_NONE. */
static uint32_t
list_take(const Clock *clock, Lists *lists, uint64_t at, uint32_t op, gboolean sends)
{
    uint32_t last = INDEX_NONE;
    for (uint32_t i = lists->head[at]; i != INDEX_NONE; last = i, i = lists->next[i]) {
        if (!(sends ? matches(clock, op, i) : matches(clock, i, op)))
            continue;
        if (last == INDEX_NONE)
            lists->head[at] = lists->next[i];
        else
            lists->next[last] = lists->next[i];
        if (lists->tail[at] == i)
            lists->tail[at] = last;
        return i;
    }
    return INDEX_NONE;
}

/* A receive and its message have met: the receive ends, and a send that waited for that. */
static void
meet(Clock *clock, uint32_t recv, uint32_t send, SimTime now)
{
    const GoalOp *s = clock->ops[send];
    uint64_t least = clock->costs->costs.S_B;
    if (least > 0 && s->size > least) {
        SimTime *cpu = cpu_of(clock, clock->rank_of[send], s);
        SimTime *nic = nic_of(clock, clock->nic_out, clock->rank_of[send], s);
        *cpu = MAX(*cpu, now);
        *nic = MAX(*nic, now);
        release(clock, send, FALSE, *cpu);
    }
    release(clock, recv, FALSE, MAX(now, clock->taken[send]));
}

static void
do_send(Clock *clock, uint32_t number, SimTime now)
{
    const GoalOp *op = clock->ops[number];
    const LogGops *costs = &clock->costs->costs;
    uint32_t rank = clock->rank_of[number];
    *cpu_of(clock, rank, op) = now + cost(costs->o_ps, costs->O_s_per_B, op->size);
    *nic_of(clock, clock->nic_out, rank, op) = now + cost(costs->g_ps, costs->G_s_per_B, op->size);
    clock->messages++;
    push(clock, now + costs->o_ps + clock->costs->L_ps, number, TRUE);
    release(clock, number, TRUE, now);
    if (costs->S_B == 0 || op->size <= costs->S_B)
        release(clock, number, FALSE, *cpu_of(clock, rank, op));
}

static void
do_receive(Clock *clock, uint32_t number, SimTime now)
{
    const GoalOp *op = clock->ops[number];
    uint64_t at = bucket(clock, clock->rank_of[number], op->peer, op->tag);
    release(clock, number, TRUE, now);
    uint32_t send = list_take(clock, &clock->unexpected, at, number, TRUE);
    if (send != INDEX_NONE)
        meet(clock, number, send, now);
    else
        list_append(&clock->posted, at, number);
}

/* The first byte is there; the last is when G has been paid for all. */
static void
do_arrive(Clock *clock, uint32_t number, SimTime now)
{
    const GoalOp *op = clock->ops[number];
    const LogGops *costs = &clock->costs->costs;
    uint32_t rank = (uint32_t)op->peer;
    SimTime *cpu = cpu_of(clock, rank, op), *nic = nic_of(clock, clock->nic_in, rank, op);
    *cpu = now + cost(costs->o_ps, MAX(costs->O_s_per_B, costs->G_s_per_B), op->size);
    *nic = now + cost(costs->g_ps, costs->G_s_per_B, op->size);
    clock->taken[number] = *cpu;
    uint64_t at = bucket(clock, rank, clock->rank_of[number], op->tag);
    uint32_t recv = list_take(clock, &clock->posted, at, number, FALSE);
    if (recv != INDEX_NONE)
        meet(clock, recv, number, now);
    else
        list_append(&clock->unexpected, at, number);
}

/* When what the entry is about could go on. */
static SimTime
could_go(Clock *clock, uint32_t number, gboolean arrives)
{
    const GoalOp *op = clock->ops[number];
    if (!arrives)
        return op->kind == GOAL_RECV ? 0 : ready_at(clock, number);
    return MAX(*cpu_of(clock, (uint32_t)op->peer, op), *nic_of(clock, clock->nic_in, (uint32_t)op->peer, op));
}

static Line *
line_of(Clock *clock, uint32_t number, gboolean arrives)
{
    const GoalOp *op = clock->ops[number];
    gsize rank = arrives ? (gsize)op->peer : clock->rank_of[number];
    unsigned kind = arrives ? LINE_ARRIVE : op->kind == GOAL_SEND ? LINE_SEND : LINE_CALC;
    return &clock->lines[((rank * clock->n_cpus + op->cpu) * clock->n_nics + op->nic) * LINES + kind];
}

/* It waits for its CPU and NIC. */
static void
wait_in_line(Clock *clock, const Entry *entry)
{
    Line *line = line_of(clock, entry->op, entry->arrives);
    uint32_t op = entry->op + 1;
    clock->wait_next[entry->op] = 0;
    if (line->head == 0) {
        line->head = line->tail = op;
        line->when = could_go(clock, entry->op, entry->arrives);
        push_entry(clock, line->when, entry->op, entry->arrives, TRUE);
    } else if (line->when > entry->when) {
        clock->wait_next[line->tail - 1] = op;
        line->tail = op;
    } else {
        if (line->fresh_head == 0)
            line->fresh_head = op;
        else
            clock->wait_next[line->fresh_tail - 1] = op;
        line->fresh_tail = op;
    }
}

static void
start(Clock *clock, const Entry *entry)
{
    const GoalOp *op = clock->ops[entry->op];
    if (entry->arrives) {
        do_arrive(clock, entry->op, entry->when);
    } else if (op->kind == GOAL_SEND) {
        do_send(clock, entry->op, entry->when);
    } else if (op->kind == GOAL_RECV) {
        do_receive(clock, entry->op, entry->when);
    } else {
        SimTime *cpu = cpu_of(clock, clock->rank_of[entry->op], op);
        *cpu = entry->when + (SimTime)op->size * PS_PER_NS;
        release(clock, entry->op, TRUE, entry->when);
        release(clock, entry->op, FALSE, *cpu);
    }
}

static int
by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Those that became free wait for their CPU, in file order. */
static void
queue_freed(Clock *clock)
{
    if (clock->freed->len > 1)
        g_array_sort(clock->freed, by_number);
    for (guint i = 0; i < clock->freed->len; i++) {
        uint32_t op = g_array_index(clock->freed, uint32_t, i);
        SimTime ready = ready_at(clock, op);
        push(clock, MAX(ready, clock->earliest[op]), op, FALSE);
    }
    g_array_set_size(clock->freed, 0);
}

static void
step(Clock *clock, const Entry *entry)
{
    if (could_go(clock, entry->op, entry->arrives) > entry->when)
        wait_in_line(clock, entry);
    else
        start(clock, entry);
    queue_freed(clock);
}

/* The first of the line goes on, and those after it while nothing is busy. */
static void
step_line(Clock *clock, const Entry *entry)
{
    Line *line = line_of(clock, entry->op, entry->arrives);
    if (line->fresh_head != 0) {
        clock->wait_next[line->fresh_tail - 1] = line->head;
        line->head = line->fresh_head;
        line->fresh_head = line->fresh_tail = 0;
    }
    while (line->head != 0) {
        Entry first = {.when = entry->when, .op = line->head - 1, .arrives = entry->arrives};
        SimTime ready = could_go(clock, first.op, first.arrives);
        if (ready > entry->when) {
            line->when = ready;
            push_entry(clock, ready, first.op, first.arrives, TRUE);
            return;
        }
        line->head = clock->wait_next[first.op];
        start(clock, &first);
        queue_freed(clock);
    }
}

static gboolean
play(Clock *clock, GError **error)
{
    for (uint32_t o = 0; o < clock->n_ops; o++)
        if (clock->missing[o] == 0)
            push(clock, 0, o, FALSE);
    while (clock->heap->len > 0) {
        Entry entry = pop(clock);
        if (entry.when > TIME_MOST)
            return error_input(error, "the schedule lasts longer than 26 days");
        if (entry.line)
            step_line(clock, &entry);
        else
            step(clock, &entry);
    }
    for (uint64_t b = 0; b <= clock->unexpected.mask; b++)
        if (clock->unexpected.head[b] != INDEX_NONE)
            return error_input(error, "a message of rank %u to rank %u is never received",
                               clock->rank_of[clock->unexpected.head[b]],
                               (uint32_t)clock->ops[clock->unexpected.head[b]]->peer);
    if (clock->left > 0)
        return error_input(error, "%u operations never end: they wait for a message or in a circle", clock->left);
    return TRUE;
}

static void
lists_init(Lists *lists, uint64_t size, uint32_t n_ops)
{
    lists->mask = size - 1;
    lists->head = g_new(uint32_t, size);
    lists->tail = g_new(uint32_t, size);
    lists->next = g_new(uint32_t, (gsize)n_ops + 1);
    for (uint64_t i = 0; i < size; i++)
        lists->head[i] = lists->tail[i] = INDEX_NONE;
}

static void
lists_clear(Lists *lists)
{
    g_free(lists->head);
    g_free(lists->tail);
    g_free(lists->next);
}

/* Who waits for each op, those of one kind of edge. */
static void
index_edges(Clock *clock, const uint32_t *first_op, gboolean begun)
{
    const GoalSchedule *schedule = clock->schedule;
    uint32_t *first = clock->first[begun] = g_new0(uint32_t, (gsize)clock->n_ops + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < schedule->n_ranks; r++) {
            for (uint32_t e = 0; e < schedule->edges[r]->len; e++) {
                const GoalEdge *edge = &g_array_index(schedule->edges[r], GoalEdge, e);
                uint32_t from = first_op[r] + edge->before;
                if (edge->begun != begun)
                    continue;
                if (pass == 0) {
                    first[from + 2]++;
                    clock->missing[first_op[r] + edge->op]++;
                } else {
                    clock->waiters[begun][first[from + 1]++] = first_op[r] + edge->op;
                }
            }
        }
        for (uint32_t o = 0; pass == 0 && o < clock->n_ops; o++)
            first[o + 2] += first[o + 1];
        if (pass == 0)
            clock->waiters[begun] = g_new(uint32_t, (gsize)first[clock->n_ops + 1] + 1);
    }
}

static void
init(Clock *clock)
{
    const GoalSchedule *schedule = clock->schedule;
    g_autofree uint32_t *first_op = g_new0(uint32_t, (gsize)schedule->n_ranks + 1);
    for (uint32_t r = 0; r < schedule->n_ranks; r++)
        first_op[r + 1] = first_op[r] + schedule->ops[r]->len;
    clock->n_ops = clock->left = first_op[schedule->n_ranks];
    clock->ops = g_new(const GoalOp *, (gsize)clock->n_ops + 1);
    clock->rank_of = g_new(uint32_t, (gsize)clock->n_ops + 1);
    clock->missing = g_new0(uint32_t, (gsize)clock->n_ops + 1);
    clock->wild = g_new0(gboolean, schedule->n_ranks);
    for (uint32_t o = 0, r = 0; o < clock->n_ops; o++) {
        while (o >= first_op[r + 1])
            r++;
        const GoalOp *op = clock->ops[o] = &g_array_index(schedule->ops[r], GoalOp, o - first_op[r]);
        clock->rank_of[o] = r;
        clock->n_cpus = MAX(clock->n_cpus, op->cpu + 1);
        clock->n_nics = MAX(clock->n_nics, op->nic + 1);
        if (op->kind != GOAL_CALC && (op->peer == GOAL_ANY || op->tag == GOAL_ANY))
            clock->wild[op->kind == GOAL_RECV ? r : (uint32_t)op->peer] = TRUE;
    }
    index_edges(clock, first_op, FALSE);
    index_edges(clock, first_op, TRUE);
    clock->cpu = g_new0(SimTime, (gsize)schedule->n_ranks * clock->n_cpus + 1);
    clock->nic_out = g_new0(SimTime, (gsize)schedule->n_ranks * clock->n_nics + 1);
    clock->nic_in = g_new0(SimTime, (gsize)schedule->n_ranks * clock->n_nics + 1);
    clock->earliest = g_new0(SimTime, (gsize)clock->n_ops + 1);
    clock->taken = g_new0(SimTime, (gsize)clock->n_ops + 1);
    clock->lines = g_new0(Line, (gsize)schedule->n_ranks * clock->n_cpus * clock->n_nics * LINES);
    clock->wait_next = g_new0(uint32_t, (gsize)clock->n_ops + 1);
    uint64_t size = 16;
    while (size < clock->n_ops)
        size *= 2;
    lists_init(&clock->posted, size, clock->n_ops);
    lists_init(&clock->unexpected, size, clock->n_ops);
    clock->heap = g_array_new(FALSE, FALSE, sizeof(Entry));
    clock->freed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void
clear(Clock *clock)
{
    lists_clear(&clock->posted);
    lists_clear(&clock->unexpected);
    for (int begun = 0; begun < 2; begun++) {
        g_free(clock->first[begun]);
        g_free(clock->waiters[begun]);
    }
    g_free(clock->ops);
    g_free(clock->rank_of);
    g_free(clock->missing);
    g_free(clock->wild);
    g_free(clock->cpu);
    g_free(clock->nic_out);
    g_free(clock->nic_in);
    g_free(clock->earliest);
    g_free(clock->taken);
    g_free(clock->lines);
    g_free(clock->wait_next);
    g_array_unref(clock->heap);
    g_array_unref(clock->freed);
}

gboolean
goal_time(const GoalSchedule *schedule, const GoalCosts *costs, GoalTime *result, GError **error)
{
    Clock clock = {.schedule = schedule, .costs = costs, .n_cpus = 1, .n_nics = 1};
    init(&clock);
    gboolean played = play(&clock, error);
    GoalTime time = {.messages = clock.messages};
    for (uint32_t r = 0; r < schedule->n_ranks; r++)
        for (uint32_t c = 0; c < clock.n_cpus; c++)
            if (clock.cpu[(gsize)r * clock.n_cpus + c] > time.end_ps)
                time = (GoalTime){clock.cpu[(gsize)r * clock.n_cpus + c], r, clock.messages};
    clear(&clock);
    if (played)
        *result = time;
    return played;
}
