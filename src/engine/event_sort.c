#include "engine/event_sort.h"

#include "base/random.h"

#include <assert.h>
#include <string.h>

enum {
    FEW = 24,       /* insertion sort up to here */
    MANY = 1024,    /* radix sort from here on */
    RADIX = 11,     /* bits a pass */
    TOP_PASSES = 4, /* the upper 44 bits part nearly all keys */
    ALL_PASSES = 6
};

typedef struct {
    uint64_t key;
    uint32_t index;
} Item;

struct EventSort {
    Item *items, *other;
    Event *events;
    size_t cap, cap_events;
};

EventSort *
event_sort_new(void)
{
    return g_new0(EventSort, 1);
}

void
event_sort_free(EventSort *sort)
{
    if (sort == NULL)
        return;
    g_free(sort->items);
    g_free(sort->other);
    g_free(sort->events);
    g_free(sort);
}

static gboolean
in_order(const Item *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (items[i - 1].key > items[i].key)
            return FALSE;
    return TRUE;
}

static void
sort_few(Event *events, size_t n, uint64_t salt)
{
    uint64_t keys[FEW];
    for (size_t i = 0; i < n; i++) {
        Event event = events[i];
        uint64_t key = hash_combine(salt, event.sender);
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            events[j] = events[j - 1];
        }
        keys[j] = key;
        events[j] = event;
    }
}

/* Bottom-up merges between items and other; the result is in items. */
static void
merge_sort(EventSort *sort, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        const Item *from = sort->items;
        Item *to = sort->other;
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = MIN(low + width, n), high = MIN(low + 2 * width, n), a = low, b = middle;
            for (size_t k = low; k < high; k++)
                to[k] = b == high || (a < middle && from[a].key <= from[b].key) ? from[a++] : from[b++];
        }
        sort->other = sort->items;
        sort->items = to;
    }
}

/* One stable pass by RADIX bits of the key from shift on. */
static void
radix_pass(EventSort *sort, size_t n, unsigned shift)
{
    uint32_t starts[1 << RADIX] = {0}, sum = 0, mask = (1 << RADIX) - 1;
    for (size_t i = 0; i < n; i++)
        starts[sort->items[i].key >> shift & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        uint32_t count = starts[d];
        starts[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        sort->other[starts[sort->items[i].key >> shift & mask]++] = sort->items[i];
    Item *items = sort->items;
    sort->items = sort->other;
    sort->other = items;
}

static void
radix_sort(EventSort *sort, size_t n)
{
    for (unsigned pass = 0; pass < TOP_PASSES; pass++)
        radix_pass(sort, n, 64 - RADIX * (TOP_PASSES - pass));
    if (in_order(sort->items, n))
        return;
    for (unsigned pass = 0; pass < ALL_PASSES; pass++)
        radix_pass(sort, n, RADIX * pass);
}

void
event_sort(EventSort *sort, Event *events, size_t n, uint64_t salt)
{
    if (n <= FEW) {
        sort_few(events, n, salt);
        return;
    }
    assert(n <= UINT32_MAX);
    if (n > sort->cap) {
        sort->cap = MAX(n, 2 * sort->cap);
        sort->items = g_renew(Item, sort->items, sort->cap);
        sort->other = g_renew(Item, sort->other, sort->cap);
    }
    for (size_t i = 0; i < n; i++)
        sort->items[i] = (Item){hash_combine(salt, events[i].sender), (uint32_t)i};
    if (in_order(sort->items, n))
        return;
    if (n < MANY)
        merge_sort(sort, n);
    else
        radix_sort(sort, n);
    if (n > sort->cap_events) {
        sort->cap_events = sort->cap;
        sort->events = g_renew(Event, sort->events, sort->cap_events);
    }
    memcpy(sort->events, events, n * sizeof *events);
    for (size_t i = 0; i < n; i++)
        events[i] = sort->events[sort->items[i].index];
}
