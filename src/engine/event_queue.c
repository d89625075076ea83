#include "engine/event_queue.h"

#include "base/random.h"
#include "engine/event_sort.h"

#include <assert.h>
#include <string.h>

/* A radix heap with digits of several bits: an event lies at the level of the highest digit in which its
 * time differs from the last time popped, in the slot of that digit. Since that time only grows, the
 * lowest slot of the lowest level holds the next event; emptying it moves each of its events to a lower
 * level, so an event moves at most LEVELS times. All events of one time share a slot and stay in the order
 * they were pushed, which is each sender's own count.
 * (Ahuja, Mehlhorn, Orlin, Tarjan 1990) */
enum {
    DIGIT = 6,
    SLOTS = 1 << DIGIT,
    LEVELS = (63 + DIGIT - 1) / DIGIT, /* times are not negative: 63 bits */
    BLOCK = 42,                        /* events: a block is 1 KiB */
    SLAB = 64                          /* blocks allocated at once */
};

typedef struct Block Block;
struct Block {
    Block *next;
    uint32_t n;
    Event events[BLOCK];
};

/* Blocks in push order; all but the last are full. */
typedef struct {
    Block *first, *last;
    SimTime least;
} Slot;

struct EventQueue {
    SimTime now; /* time of the last event popped */
    size_t length;
    uint64_t salt; /* of the senders' keys */
    EventSort *sort;
    Event *ready; /* the round being popped, in order */
    size_t next_ready, n_ready, cap_ready;
    Event *later; /* pushed for now itself: the next round */
    size_t n_later, cap_later;
    uint32_t levels; /* bit k: slots of level k hold something */
    uint64_t filled[LEVELS];
    Block *spare;
    GPtrArray *slabs;
    Slot slots[LEVELS][SLOTS];
};

EventQueue *
event_queue_new(uint64_t seed)
{
    EventQueue *queue = g_new0(EventQueue, 1);
    queue->salt = hash_combine(seed, hash_text("event queue"));
    queue->sort = event_sort_new();
    queue->slabs = g_ptr_array_new_with_free_func(g_free);
    return queue;
}

void
event_queue_free(EventQueue *queue)
{
    if (queue == NULL)
        return;
    event_sort_free(queue->sort);
    g_ptr_array_unref(queue->slabs);
    g_free(queue->ready);
    g_free(queue->later);
    g_free(queue);
}

static Block *
block_new(EventQueue *queue)
{
    if (queue->spare == NULL) {
        Block *slab = g_new(Block, SLAB);
        g_ptr_array_add(queue->slabs, slab);
        for (int i = 0; i < SLAB; i++) {
            slab[i].next = queue->spare;
            queue->spare = &slab[i];
        }
    }
    Block *block = queue->spare;
    queue->spare = block->next;
    block->next = NULL;
    block->n = 0;
    return block;
}

static void
block_free(EventQueue *queue, Block *block)
{
    block->next = queue->spare;
    queue->spare = block;
}

static void
append(Event **events, size_t *n, size_t *cap, const Event *event)
{
    if (*n == *cap) {
        *cap = MAX(2 * *cap, 64);
        *events = g_renew(Event, *events, *cap);
    }
    (*events)[(*n)++] = *event;
}

/* Into the slot of its first digit that differs from now; event->when > now. */
static inline void
store(EventQueue *queue, const Event *event)
{
    uint64_t when = (uint64_t)event->when;
    unsigned level = (63 - (unsigned)__builtin_clzll(when ^ (uint64_t)queue->now)) / DIGIT;
    unsigned digit = when >> level * DIGIT & (SLOTS - 1);
    Slot *slot = &queue->slots[level][digit];
    Block *block = slot->last;
    if (block == NULL) {
        block = slot->first = slot->last = block_new(queue);
        slot->least = event->when;
        queue->filled[level] |= UINT64_C(1) << digit;
        queue->levels |= UINT32_C(1) << level;
    } else if (block->n == BLOCK) {
        block = slot->last = block->next = block_new(queue);
    }
    if (event->when < slot->least)
        slot->least = event->when;
    block->events[block->n++] = *event;
}

void
event_queue_push(EventQueue *queue, Event event)
{
    assert(event.when >= queue->now);
    queue->length++;
    if (event.when == queue->now)
        append(&queue->later, &queue->n_later, &queue->cap_later, &event);
    else
        store(queue, &event);
}

/* The slot of the next event: some level is filled. */
static Slot *
lowest(EventQueue *queue, unsigned *level, unsigned *digit)
{
    *level = (unsigned)__builtin_ctz(queue->levels);
    *digit = (unsigned)__builtin_ctzll(queue->filled[*level]);
    return &queue->slots[*level][*digit];
}

/* Moves time on to the next event: its instant becomes ready, the rest of its slot goes to lower levels. */
static void
advance(EventQueue *queue)
{
    unsigned level, digit;
    Slot *slot = lowest(queue, &level, &digit);
    Block *block = slot->first;
    queue->now = slot->least;
    slot->first = slot->last = NULL;
    queue->filled[level] &= ~(UINT64_C(1) << digit);
    if (queue->filled[level] == 0)
        queue->levels &= ~(UINT32_C(1) << level);
    while (block != NULL) {
        for (uint32_t i = 0; i < block->n; i++) {
            const Event *event = &block->events[i];
            if (event->when == queue->now)
                append(&queue->ready, &queue->n_ready, &queue->cap_ready, event);
            else
                store(queue, event);
        }
        Block *next = block->next;
        block_free(queue, block);
        block = next;
    }
}

/* Makes the next round ready; FALSE when nothing is left. */
static gboolean
refill(EventQueue *queue)
{
    queue->next_ready = queue->n_ready = 0;
    if (queue->n_later > 0) {
        Event *events = queue->ready;
        size_t cap = queue->cap_ready;
        queue->ready = queue->later;
        queue->n_ready = queue->n_later;
        queue->cap_ready = queue->cap_later;
        queue->later = events;
        queue->n_later = 0;
        queue->cap_later = cap;
    } else if (queue->levels != 0) {
        advance(queue);
    } else {
        return FALSE;
    }
    if (queue->n_ready > 1)
        event_sort(queue->sort, queue->ready, queue->n_ready, queue->salt);
    return TRUE;
}

gboolean
event_queue_pop(EventQueue *queue, Event *event)
{
    if (queue->next_ready == queue->n_ready && !refill(queue))
        return FALSE;
    *event = queue->ready[queue->next_ready++];
    queue->length--;
    return TRUE;
}

gboolean
event_queue_peek(EventQueue *queue, SimTime *when)
{
    if (queue->next_ready < queue->n_ready || queue->n_later > 0) {
        *when = queue->now;
        return TRUE;
    }
    if (queue->levels == 0)
        return FALSE;
    unsigned level, digit;
    *when = lowest(queue, &level, &digit)->least;
    return TRUE;
}

size_t
event_queue_length(const EventQueue *queue)
{
    return queue->length;
}

void
event_queue_each(const EventQueue *queue, gboolean (*look)(void *owner, const Event *event), void *owner)
{
    for (size_t i = queue->next_ready; i < queue->n_ready; i++)
        look(owner, &queue->ready[i]);
    for (size_t i = 0; i < queue->n_later; i++)
        look(owner, &queue->later[i]);
    for (unsigned level = 0; level < LEVELS; level++)
        for (unsigned digit = 0; digit < SLOTS; digit++)
            for (const Block *block = queue->slots[level][digit].first; block != NULL; block = block->next)
                for (uint32_t i = 0; i < block->n; i++)
                    look(owner, &block->events[i]);
}

void
event_queue_restart(EventQueue *queue, SimTime now)
{
    assert(queue->length == 0);
    queue->next_ready = queue->n_ready = 0;
    queue->now = now;
}
