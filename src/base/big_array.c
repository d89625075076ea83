#include "base/big_array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, BIG = HUGE_PAGE };

void *
big_resize(void *items, size_t old_bytes, size_t bytes)
{
    if (bytes < BIG || bytes <= old_bytes)
        return g_realloc(items, bytes);
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *moved = aligned_alloc(HUGE_PAGE, whole);
    if (moved == NULL)
        g_error("out of memory: %zu bytes", whole);
#ifdef MADV_HUGEPAGE
    (void)madvise(moved, whole, MADV_HUGEPAGE); /* only advice: without it everything works */
#endif
    if (old_bytes > 0)
        memcpy(moved, items, old_bytes);
    g_free(items);
    return moved;
}
