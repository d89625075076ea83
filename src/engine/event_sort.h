/* event_sort.h - puts the events of one instant and round into their canonical order
 *
 * By the sender's seeded key, hash_combine(salt, sender); events of one sender keep the order they have.
 * Stable, and fast on what is already in order, as the events of a machine in lockstep are. The key is a
 * bijection of the sender: two senders never share one. */
#pragma once

#include "engine/event_queue.h"

typedef struct EventSort EventSort; /* scratch memory, kept between calls */

EventSort *event_sort_new(void);
void event_sort_free(EventSort *sort); /* NULL is fine */

void event_sort(EventSort *sort, Event *events, size_t n, uint64_t salt);
