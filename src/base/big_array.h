/* big_array.h - arrays of values that grow to hundreds of megabytes and are read in no order
 *
 * From 16 MiB on they lie in huge pages where the system offers them: a first touch each 2 MiB instead of each
 * 4 KiB, and few misses when addresses are looked up. Otherwise they are as g_renew makes them; g_free frees them. */
#pragma once

#include <glib.h>

/* Moves items (NULL is fine), of which old_bytes count, into so many bytes. */
void *big_resize(void *items, size_t old_bytes, size_t bytes);

#define big_renew(type, items, old_n, n)                                                                               \
    ((type *)big_resize((items), sizeof(type) * (size_t)(old_n), sizeof(type) * (size_t)(n)))
