#include "network/end_heap.h"

#include "base/big_array.h"
#include "base/index.h"

#include <string.h>

enum { ARITY = 4, RECENT = 1024 /* a power of two */, FAR = 16 /* what is asked of the memory in advance */ };

typedef struct {
    SimTime end_ps;
    uint32_t list;
} Entry;

/* The numbers that end at one time; other lists may have the same time. */
typedef struct {
    uint32_t *items; /* INDEX_NONE: one that has gone; NULL where there is but one, below */
    uint32_t only;   /* of free lists the next free one */
    uint32_t n, n_live, room;
    uint32_t slot; /* in the heap; INDEX_NONE = free */
} List;

typedef struct {
    uint32_t list; /* INDEX_NONE = not there */
    uint32_t place;
} Member;

struct EndHeap {
    Entry *entries;
    uint32_t n, room;
    List *lists; /* as many as entries, and free ones */
    uint32_t n_lists, lists_room, free_list;
    Member *members; /* by number */
    uint32_t members_room;
    uint32_t *taken; /* by the last call */
    uint32_t only_taken;
    uint32_t recent[RECENT]; /* by hash of the time: the last list that got it, if that still stands */
};

EndHeap *
end_heap_new(void)
{
    EndHeap *heap = g_new0(EndHeap, 1);
    heap->free_list = INDEX_NONE;
    return heap;
}

void
end_heap_free(EndHeap *heap)
{
    if (heap == NULL)
        return;
    for (uint32_t i = 0; i < heap->n_lists; i++)
        g_free(heap->lists[i].items);
    g_free(heap->taken);
    g_free(heap->entries);
    g_free(heap->lists);
    g_free(heap->members);
    g_free(heap);
}

static gboolean
before(const Entry *a, const Entry *b)
{
    return a->end_ps != b->end_ps ? a->end_ps < b->end_ps : a->list < b->list;
}

static void
put(EndHeap *heap, uint32_t i, Entry entry)
{
    heap->entries[i] = entry;
    heap->lists[entry.list].slot = i;
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
make_members(EndHeap *heap, uint32_t number)
{
    uint32_t room = MAX(number + 1, MAX(256, 2 * heap->members_room));
    heap->members = big_renew(Member, heap->members, heap->members_room, room);
    for (uint32_t i = heap->members_room; i < room; i++)
        heap->members[i].list = INDEX_NONE;
    heap->members_room = room;
}

static uint32_t *
recent_of(EndHeap *heap, SimTime end_ps)
{
    return &heap->recent[(uint64_t)end_ps * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (RECENT - 1)];
}

static gboolean
has_time(const EndHeap *heap, uint32_t list, SimTime end_ps)
{
    return list < heap->n_lists && heap->lists[list].slot != INDEX_NONE &&
           heap->entries[heap->lists[list].slot].end_ps == end_ps;
}

/* A list of one, in the heap. */
static void
add_list(EndHeap *heap, uint32_t number, SimTime end_ps)
{
    uint32_t list = heap->free_list;
    if (list != INDEX_NONE)
        heap->free_list = heap->lists[list].only;
    else {
        if (heap->n_lists == heap->lists_room) {
            heap->lists_room = MAX(256, 2 * heap->lists_room);
            heap->lists = g_renew(List, heap->lists, heap->lists_room);
        }
        list = heap->n_lists++;
    }
    if (heap->n == heap->room) {
        heap->room = MAX(256, 2 * heap->room);
        heap->entries = g_renew(Entry, heap->entries, heap->room);
    }
    heap->lists[list] = (List){.only = number, .n = 1, .n_live = 1};
    heap->members[number] = (Member){list, 0};
    settle(heap, heap->n++, (Entry){end_ps, list});
    *recent_of(heap, end_ps) = list;
}

static void
append(EndHeap *heap, uint32_t number, uint32_t to)
{
    List *list = &heap->lists[to];
    if (list->n >= list->room) {
        gboolean first = list->items == NULL;
        list->room = MAX(8, 2 * list->room);
        list->items = g_renew(uint32_t, list->items, list->room);
        if (first)
            list->items[0] = list->only;
    }
    heap->members[number] = (Member){to, list->n};
    list->items[list->n++] = number;
    list->n_live++;
}

/* Its items are no longer its own. */
static void
remove_list(EndHeap *heap, uint32_t list)
{
    uint32_t slot = heap->lists[list].slot;
    Entry last = heap->entries[--heap->n];
    if (slot < heap->n)
        settle(heap, slot, last);
    heap->lists[list] = (List){.only = heap->free_list, .slot = INDEX_NONE};
    heap->free_list = list;
}

void
end_heap_fetch(const EndHeap *heap, uint32_t number)
{
    if (number < heap->members_room)
        __builtin_prefetch(&heap->members[number]);
}

void
end_heap_set(EndHeap *heap, uint32_t number, SimTime end_ps)
{
    if (number >= heap->members_room)
        make_members(heap, number);
    uint32_t list = heap->members[number].list, *recent = recent_of(heap, end_ps);
    if (list != INDEX_NONE && heap->entries[heap->lists[list].slot].end_ps == end_ps)
        return;
    gboolean joins = has_time(heap, *recent, end_ps);
    if (!joins && list != INDEX_NONE && heap->lists[list].n == 1) {
        settle(heap, heap->lists[list].slot, (Entry){end_ps, list});
        *recent = list;
        return;
    }
    end_heap_remove(heap, number);
    if (joins)
        append(heap, number, *recent);
    else
        add_list(heap, number, end_ps);
}

void
end_heap_remove(EndHeap *heap, uint32_t number)
{
    if (number >= heap->members_room || heap->members[number].list == INDEX_NONE)
        return;
    Member gone = heap->members[number];
    List *list = &heap->lists[gone.list];
    heap->members[number].list = INDEX_NONE;
    if (--list->n_live == 0) {
        g_free(list->items);
        remove_list(heap, gone.list);
    } else
        list->items[gone.place] = INDEX_NONE;
}

gboolean
end_heap_first(const EndHeap *heap, SimTime *end_ps)
{
    if (heap->n == 0)
        return FALSE;
    *end_ps = heap->entries[0].end_ps;
    return TRUE;
}

const uint32_t *
end_heap_take(EndHeap *heap, SimTime by_ps, uint32_t *n)
{
    if (heap->n == 0 || heap->entries[0].end_ps > by_ps)
        return NULL;
    uint32_t number = heap->entries[0].list, kept = 0;
    List list = heap->lists[number];
    remove_list(heap, number);
    g_free(heap->taken);
    heap->taken = list.items;
    heap->only_taken = list.only;
    uint32_t *items = list.items != NULL ? list.items : &heap->only_taken;
    for (uint32_t i = 0; i < list.n; i++) {
        if (i + FAR < list.n && items[i + FAR] != INDEX_NONE)
            __builtin_prefetch(&heap->members[items[i + FAR]], 1);
        if (items[i] == INDEX_NONE)
            continue;
        heap->members[items[i]].list = INDEX_NONE;
        items[kept++] = items[i];
    }
    *n = kept;
    return items;
}
