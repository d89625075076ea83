/* usage_rows.c - a list of rows for each pair of link and job; the pairs of a link by job */
#include "results/usage_rows.h"

#include "base/index.h"

/* A link and a job that have met. */
typedef struct {
    uint32_t job;
    uint32_t next;        /* pair of the link, of a higher job; INDEX_NONE */
    uint32_t first, last; /* rows; INDEX_NONE */
    SimTime end_ps;       /* of the last bucket */
} Pair;

struct UsageRows {
    GArray *heads; /* by link: its first pair; INDEX_NONE */
    GArray *pairs; /* of Pair */
    GArray *rows;  /* of UsageRow */
    /* Where a reader stands. */
    uint32_t link, pair, row;
};

UsageRows *
usage_rows_new(void)
{
    UsageRows *rows = g_new0(UsageRows, 1);
    rows->heads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    rows->pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    rows->rows = g_array_new(FALSE, FALSE, sizeof(UsageRow));
    return rows;
}

void
usage_rows_free(UsageRows *rows)
{
    if (rows == NULL)
        return;
    g_array_unref(rows->heads);
    g_array_unref(rows->pairs);
    g_array_unref(rows->rows);
    g_free(rows);
}

static Pair *
pair_at(const UsageRows *rows, uint32_t number)
{
    return &g_array_index(rows->pairs, Pair, number);
}

static UsageRow *
row_at(const UsageRows *rows, uint32_t number)
{
    return &g_array_index(rows->rows, UsageRow, number);
}

static uint32_t *
head_at(const UsageRows *rows, uint32_t link)
{
    return &g_array_index(rows->heads, uint32_t, link);
}

static Pair *
find_pair(UsageRows *rows, uint32_t link, uint32_t job)
{
    const uint32_t none = INDEX_NONE;
    while (rows->heads->len <= link)
        g_array_append_val(rows->heads, none);
    uint32_t before = INDEX_NONE, pair = *head_at(rows, link);
    while (pair != INDEX_NONE && pair_at(rows, pair)->job < job) {
        before = pair;
        pair = pair_at(rows, pair)->next;
    }
    if (pair != INDEX_NONE && pair_at(rows, pair)->job == job)
        return pair_at(rows, pair);
    Pair fresh = {.job = job, .next = pair, .first = INDEX_NONE, .last = INDEX_NONE};
    uint32_t number = rows->pairs->len;
    g_array_append_val(rows->pairs, fresh);
    *(before != INDEX_NONE ? &pair_at(rows, before)->next : head_at(rows, link)) = number;
    return pair_at(rows, number);
}

gboolean
usage_rows_add(UsageRows *rows, uint32_t link, uint32_t job, const UsageRow *row, SimTime *last_end_ps)
{
    Pair *pair = find_pair(rows, link, job);
    *last_end_ps = pair->end_ps;
    if (row->length_ps <= 0 || row->start_ps < pair->end_ps)
        return FALSE;
    pair->end_ps = row->start_ps + row->length_ps;
    uint32_t number = rows->rows->len;
    g_array_append_vals(rows->rows, row, 1);
    row_at(rows, number)->next = INDEX_NONE;
    if (pair->first == INDEX_NONE)
        pair->first = number;
    else
        row_at(rows, pair->last)->next = number;
    pair->last = number;
    return TRUE;
}

/* The row where the reader stands, or the first one of the pairs after it. */
static const UsageRow *
read_on(UsageRows *rows, uint32_t *link, uint32_t *job)
{
    while (rows->row == INDEX_NONE) {
        if (rows->pair != INDEX_NONE)
            rows->pair = pair_at(rows, rows->pair)->next;
        else if (rows->link < rows->heads->len)
            rows->pair = *head_at(rows, rows->link++);
        else
            return NULL;
        rows->row = rows->pair != INDEX_NONE ? pair_at(rows, rows->pair)->first : INDEX_NONE;
    }
    *link = rows->link - 1;
    *job = pair_at(rows, rows->pair)->job;
    return row_at(rows, rows->row);
}

const UsageRow *
usage_rows_first(UsageRows *rows, uint32_t *link, uint32_t *job)
{
    rows->link = 0;
    rows->pair = rows->row = INDEX_NONE;
    return read_on(rows, link, job);
}

const UsageRow *
usage_rows_next(UsageRows *rows, uint32_t *link, uint32_t *job)
{
    rows->row = row_at(rows, rows->row)->next;
    return read_on(rows, link, job);
}

void
usage_rows_clear(UsageRows *rows)
{
    for (guint pair = 0; pair < rows->pairs->len; pair++)
        pair_at(rows, pair)->first = pair_at(rows, pair)->last = INDEX_NONE;
    g_array_set_size(rows->rows, 0);
}
