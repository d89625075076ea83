/* end_heap.h - when activities end: the earliest first, at one time the one made first
 *
 * An indexed heap: an entry's time can be moved and an entry taken out. */
#pragma once

#include "base/sim_time.h"

typedef struct EndHeap EndHeap;

EndHeap *end_heap_new(void);
void end_heap_free(EndHeap *heap); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EndHeap, end_heap_free)

/* Enters number, or moves it to another time. order: unique among those in the heap. */
void end_heap_set(EndHeap *heap, uint32_t number, SimTime end_ps, uint64_t order);
/* Takes number out; fine where it is not there. */
void end_heap_remove(EndHeap *heap, uint32_t number);
/* The first; FALSE when there is none. */
gboolean end_heap_first(const EndHeap *heap, uint32_t *number, SimTime *end_ps);
