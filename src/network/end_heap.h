/* end_heap.h - when activities end: the earliest first
 *
 * Those that end at one time mostly share an entry of the heap, and lie in a list there: of a hundred thousand that
 * started together and are held by one link, one entry moves. An activity's time can be moved, and it can be taken
 * out. */
#pragma once

#include "base/sim_time.h"

typedef struct EndHeap EndHeap;

EndHeap *end_heap_new(void);
void end_heap_free(EndHeap *heap); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EndHeap, end_heap_free)

/* Asks for the memory that end_heap_set of this number, soon to come, will touch first. */
void end_heap_fetch(const EndHeap *heap, uint32_t number);

/* Enters number, or moves it to another time. */
void end_heap_set(EndHeap *heap, uint32_t number, SimTime end_ps);
/* Takes number out; fine where it is not there. */
void end_heap_remove(EndHeap *heap, uint32_t number);
/* The earliest time; FALSE when there is none. */
gboolean end_heap_first(const EndHeap *heap, SimTime *end_ps);
/* Takes out many of those that end by then, the earliest; all of a time within one row of calls, each of which takes
 * some, in no particular but repeatable order. Their numbers, the heap's until the next call; NULL when none is left.
 */
const uint32_t *end_heap_take(EndHeap *heap, SimTime by_ps, uint32_t *n);
