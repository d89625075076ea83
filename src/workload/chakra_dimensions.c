/* chakra_dimensions.c - groups by involved_dim: the ranks that differ in these dimensions of the network alone
 *
 * As in ASTRA-sim, dimension 0 is innermost: rank = a0 + n0 (a1 + n1 (a2 ...)). */
#include "workload/chakra_maker.h"

#include "base/error.h"

void
chakra_truths_add(ChakraTruths *truths, gboolean truth)
{
    if (truths->n < CHAKRA_TRUTHS_MOST && truth)
        truths->bits |= 1u << truths->n;
    truths->n = MIN(truths->n + 1, CHAKRA_TRUTHS_MOST);
}

gboolean
chakra_truths_all(const ChakraTruths *truths)
{
    return truths->bits == (uint32_t)((UINT64_C(1) << truths->n) - 1);
}

gboolean
chakra_dimensions_parse(const char *text, uint32_t n_ranks, GArray *sizes, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, "x", -1);
    guint64 product = 1;
    for (char **part = parts; *part != NULL; part++) {
        guint64 size;
        if (!g_ascii_string_to_unsigned(*part, 10, 1, UINT32_MAX, &size, NULL) || sizes->len == CHAKRA_TRUTHS_MOST)
            return error_input(error, "dimensions \"%s\": expected up to %d sizes such as \"8x4\"", text,
                               CHAKRA_TRUTHS_MOST);
        uint32_t one = (uint32_t)size;
        product = MIN(product * size, (guint64)UINT32_MAX);
        g_array_append_val(sizes, one);
    }
    return product == n_ranks ||
           error_input(error, "dimensions \"%s\" are of %" G_GUINT64_FORMAT " ranks; there are %u", text, product,
                       n_ranks);
}

/* Do two ranks differ in the dimensions of mask alone? */
static gboolean
together(const GArray *sizes, uint32_t mask, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < sizes->len; d++) {
        uint32_t size = g_array_index(sizes, uint32_t, d);
        if (!(mask >> d & 1) && a % size != b % size)
            return FALSE;
        a /= size;
        b /= size;
    }
    return TRUE;
}

uint32_t
chakra_dimensions_group(Maker *maker, uint32_t mask)
{
    Workload *workload = maker->workload;
    uint32_t lowest = 0;
    while (!together(maker->dimensions, mask, lowest, maker->rank))
        lowest++;
    g_autoptr(GString) name = g_string_new("dimensions");
    for (uint32_t d = 0; d < maker->dimensions->len; d++) {
        if (mask >> d & 1)
            g_string_append_printf(name, " %u", d);
    }
    g_string_append_printf(name, " of rank %u", lowest);
    void *found = g_hash_table_lookup(maker->group_index, name->str);
    if (found != NULL)
        return GPOINTER_TO_UINT(found) - 1;

    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t rank = lowest; rank < workload->n_ranks; rank++) {
        if (together(maker->dimensions, mask, rank, maker->rank))
            g_array_append_val(ranks, rank);
    }
    uint32_t group = workload_add_group(workload, name->str, (const uint32_t *)(const void *)ranks->data, ranks->len);
    const Group *added = g_ptr_array_index(workload->groups, group);
    g_hash_table_insert(maker->group_index, added->name, GUINT_TO_POINTER(group + 1));
    return group;
}
