#include "network/end_heap.h"

#include "base/index.h"

#include <string.h>

enum { ARITY = 4 };

typedef struct {
    SimTime end_ps;
    uint64_t order;
    uint32_t number;
} Entry;

struct EndHeap {
    Entry *entries;
    uint32_t n, room;
    uint32_t *slot; /* by number; INDEX_NONE */
    uint32_t slot_room;
};

EndHeap *
end_heap_new(void)
{
    return g_new0(EndHeap, 1);
}

void
end_heap_free(EndHeap *heap)
{
    if (heap == NULL)
        return;
    g_free(heap->entries);
    g_free(heap->slot);
    g_free(heap);
}

static gboolean
before(const Entry *a, const Entry *b)
{
    return a->end_ps != b->end_ps ? a->end_ps < b->end_ps : a->order < b->order;
}

static void
put(EndHeap *heap, uint32_t i, Entry entry)
{
    heap->entries[i] = entry;
    heap->slot[entry.number] = i;
}

/* Sinks or lifts entry from hole i to its place. */
static void
settle(EndHeap *heap, uint32_t i, Entry entry)
{
    while (i > 0 && before(&entry, &heap->entries[(i - 1) / ARITY])) {
        put(heap, i, heap->entries[(i - 1) / ARITY]);
        i = (i - 1) / ARITY;
    }
    for (;;) {
        uint64_t first = (uint64_t)i * ARITY + 1;
        if (first >= heap->n)
            break;
        uint32_t least = (uint32_t)first, last = (uint32_t)MIN(first + ARITY, heap->n);
        for (uint32_t child = least + 1; child < last; child++)
            if (before(&heap->entries[child], &heap->entries[least]))
                least = child;
        if (!before(&heap->entries[least], &entry))
            break;
        put(heap, i, heap->entries[least]);
        i = least;
    }
    put(heap, i, entry);
}

static void
make_slots(EndHeap *heap, uint32_t number)
{
    uint32_t room = MAX(number + 1, MAX(256, 2 * heap->slot_room));
    heap->slot = g_renew(uint32_t, heap->slot, room);
    memset(heap->slot + heap->slot_room, 0xff, (room - heap->slot_room) * sizeof *heap->slot);
    heap->slot_room = room;
}

void
end_heap_set(EndHeap *heap, uint32_t number, SimTime end_ps, uint64_t order)
{
    if (number >= heap->slot_room)
        make_slots(heap, number);
    uint32_t i = heap->slot[number];
    if (i == INDEX_NONE) {
        if (heap->n == heap->room) {
            heap->room = MAX(256, 2 * heap->room);
            heap->entries = g_renew(Entry, heap->entries, heap->room);
        }
        i = heap->n++;
    }
    settle(heap, i, (Entry){end_ps, order, number});
}

void
end_heap_remove(EndHeap *heap, uint32_t number)
{
    if (number >= heap->slot_room || heap->slot[number] == INDEX_NONE)
        return;
    uint32_t i = heap->slot[number];
    heap->slot[number] = INDEX_NONE;
    Entry last = heap->entries[--heap->n];
    if (i < heap->n)
        settle(heap, i, last);
}

gboolean
end_heap_first(const EndHeap *heap, uint32_t *number, SimTime *end_ps)
{
    if (heap->n == 0)
        return FALSE;
    *number = heap->entries[0].number;
    *end_ps = heap->entries[0].end_ps;
    return TRUE;
}
