#include "network/maxmin_state.h"

enum { ARITY = 4 };

static gboolean
entry_before(HeapEntry a, HeapEntry b)
{
    return (a.key < b.key) | ((a.key == b.key) & (a.id < b.id)); /* no jump: nobody could foresee it */
}

static void
heap_down(MaxMin *solver, uint32_t i, HeapEntry entry)
{
    HeapEntry *heap = solver->heap;
    for (;;) {
        uint32_t first = ARITY * i + 1, least = first, end = MIN(first + ARITY, solver->n_heap);
        if (first >= end)
            break;
        for (uint32_t child = first + 1; child < end; child++)
            least = entry_before(heap[child], heap[least]) ? child : least;
        if (!entry_before(heap[least], entry))
            break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = entry;
}

void
maxmin_heap_add(MaxMin *solver, double key, uint32_t id)
{
    if (solver->n_heap == solver->heap_room) {
        solver->heap_room = MAX(256, 2 * solver->heap_room);
        solver->heap = g_renew(HeapEntry, solver->heap, solver->heap_room);
    }
    HeapEntry entry = {key, id};
    uint32_t i = solver->n_heap++;
    while (i > 0 && entry_before(entry, solver->heap[(i - 1) / ARITY])) {
        solver->heap[i] = solver->heap[(i - 1) / ARITY];
        i = (i - 1) / ARITY;
    }
    solver->heap[i] = entry;
}

void
maxmin_heap_pop(MaxMin *solver)
{
    HeapEntry last = solver->heap[--solver->n_heap];
    if (solver->n_heap > 0)
        heap_down(solver, 0, last);
}

void
maxmin_heap_delay(MaxMin *solver, double key)
{
    heap_down(solver, 0, (HeapEntry){key, solver->heap[0].id});
}
