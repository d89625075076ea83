/* msccl_execute.c - an MSCCL algorithm executed on symbols: what each chunk holds, and whether it is what it should be
 *
 * A cell of a buffer holds a chunk of the collective's S (its id) summed over a set of ranks. Thread blocks go on in
 * turn as far as they can; the order in which steps were done is kept, as each comes after all it waits for. */
#include "base/error.h"
#include "collective/msccl.h"

#include <string.h>

enum { WORDS = 4 }; /* of 64 ranks */

typedef struct {
    uint32_t id; /* INDEX_NONE: nothing is here */
    uint64_t ranks[WORDS];
} Cell;

typedef struct {
    GArray *cells; /* of Cell: messages one after another */
    GArray *steps; /* of uint32_t: who sent each */
    guint taken, taken_cells;
} Wire;

typedef struct {
    Msccl *msccl;
    const char *path;
    const MscclBuffers *buffers;
    const MscclPlace *places;
    gboolean in_place;
    Cell **cells[3];   /* of each GPU: input, output, scratch; input and output may be one */
    uint32_t shift[3]; /* of the smaller buffer in the bigger one, in place: chunks a GPU number */
    GHashTable *wires; /* "src dst channel" -> Wire */
    guint8 *done;      /* by step */
    GError **error;
} Execution;

static gboolean fail(const Execution *run, uint32_t step, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
fail(const Execution *run, uint32_t step, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return error_input(run->error, "%s:%zu: step: %s", run->path,
                       g_array_index(run->msccl->steps, MscclStep, step).line, text);
}

static void
wire_free(gpointer data)
{
    Wire *wire = data;
    g_array_unref(wire->cells);
    g_array_unref(wire->steps);
    g_free(wire);
}

static Wire *
wire_of(Execution *run, uint32_t src, uint32_t dst, uint32_t channel)
{
    g_autofree char *key = g_strdup_printf("%u %u %u", src, dst, channel);
    Wire *wire = g_hash_table_lookup(run->wires, key);
    if (wire == NULL) {
        wire = g_new0(Wire, 1);
        wire->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
        wire->steps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_hash_table_insert(run->wires, g_steal_pointer(&key), wire);
    }
    return wire;
}

static Cell *
place(Execution *run, uint32_t step, int dst)
{
    const MscclStep *at = &g_array_index(run->msccl->steps, MscclStep, step);
    const MscclPlace *where = &run->places[step];
    uint8_t buffer = where->buffer[dst];
    return run->cells[buffer][at->gpu] + run->shift[buffer] * at->gpu + where->offset[dst];
}

static Cell
own_cell(uint32_t id, uint32_t rank)
{
    Cell cell = {.id = id};
    cell.ranks[rank / 64] |= UINT64_C(1) << rank % 64;
    return cell;
}

/* What GPU g's input holds at first: the chunk, of whom. */
static Cell
input_cell(const Msccl *msccl, uint32_t gpu, uint32_t chunk)
{
    if (msccl->kind == COLLECTIVE_ALL_GATHER)
        return own_cell(gpu * (msccl->n_chunks / msccl->n_gpus) + chunk, gpu);
    return own_cell(chunk, gpu);
}

/* sum += part: the same chunk, of ranks that are not in it yet. */
static gboolean
add(Execution *run, uint32_t step, Cell *sum, const Cell *part)
{
    if (sum->id == INDEX_NONE || part->id == INDEX_NONE)
        return fail(run, step, "reduces a chunk that is not there");
    if (sum->id != part->id)
        return fail(run, step, "reduces chunk %u with chunk %u", sum->id, part->id);
    for (int w = 0; w < WORDS; w++) {
        if ((sum->ranks[w] & part->ranks[w]) != 0)
            return fail(run, step, "counts a rank's part of chunk %u twice", sum->id);
        sum->ranks[w] |= part->ranks[w];
    }
    return TRUE;
}

/* The chunks a step works on: received ones, or those of its source. FALSE where it failed; *ready: may it go? */
static gboolean
gather(Execution *run, uint32_t step, Cell *cells, gboolean *ready)
{
    MscclStep *at = &g_array_index(run->msccl->steps, MscclStep, step);
    *ready = TRUE;
    if ((at->does & MSCCL_RECEIVE) == 0) {
        if (at->does != 0)
            memcpy(cells, place(run, step, 0), at->count * sizeof *cells);
        return TRUE;
    }
    Wire *wire = wire_of(run, at->sender, at->gpu, at->channel);
    *ready = wire->taken < wire->steps->len;
    if (!*ready)
        return TRUE;
    at->from = g_array_index(wire->steps, uint32_t, wire->taken++);
    uint32_t sent = g_array_index(run->msccl->steps, MscclStep, at->from).count;
    if (sent != at->count)
        return fail(run, step, "receives %u chunks where %u are sent", at->count, sent);
    memcpy(cells, &g_array_index(wire->cells, Cell, wire->taken_cells), at->count * sizeof *cells);
    wire->taken_cells += at->count;
    return TRUE;
}

/* Reduces, stores and sends what was gathered. */
static gboolean
act(Execution *run, uint32_t step, Cell *cells)
{
    MscclStep *at = &g_array_index(run->msccl->steps, MscclStep, step);
    for (uint32_t i = 0; i < at->count && at->does != 0; i++)
        if (cells[i].id == INDEX_NONE)
            return fail(run, step, "uses a chunk that is not there yet");
    if ((at->does & MSCCL_REDUCE) != 0) {
        const Cell *with = place(run, step, (at->does & MSCCL_COPY) != 0);
        for (uint32_t i = 0; i < at->count; i++)
            if (!add(run, step, &cells[i], &with[i]))
                return FALSE;
    }
    if ((at->does & MSCCL_STORE) != 0)
        memcpy(place(run, step, 1), cells, at->count * sizeof *cells);
    if ((at->does & MSCCL_SEND) == 0)
        return TRUE;
    Wire *wire = wire_of(run, at->gpu, at->peer, at->channel);
    g_array_append_val(wire->steps, step);
    g_array_append_vals(wire->cells, cells, at->count);
    return TRUE;
}

/* Goes on with one thread block, whose steps are [*next, end). */
static gboolean
go_on(Execution *run, uint32_t *next, uint32_t end, Cell *cells, gboolean *moved)
{
    while (*next < end) {
        MscclStep *at = &g_array_index(run->msccl->steps, MscclStep, *next);
        gboolean ready;
        if (at->dep != INDEX_NONE && !run->done[at->dep])
            return TRUE;
        if (!gather(run, *next, cells, &ready))
            return FALSE;
        if (!ready)
            return TRUE;
        if (!act(run, *next, cells))
            return FALSE;
        at->first_id = run->msccl->ids->len;
        for (uint32_t i = 0; i < at->count && (at->does & MSCCL_SEND) != 0; i++)
            g_array_append_val(run->msccl->ids, cells[i].id);
        g_array_append_val(run->msccl->order, *next);
        run->done[(*next)++] = TRUE;
        *moved = TRUE;
    }
    return TRUE;
}

static gboolean
run_all(Execution *run)
{
    GArray *steps = run->msccl->steps;
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t)), ends = g_array_new(FALSE, FALSE, 4);
    uint32_t most = 1;
    for (uint32_t i = 0; i < steps->len; i++) {
        const MscclStep *step = &g_array_index(steps, MscclStep, i);
        most = MAX(most, step->count);
        if (step->previous != INDEX_NONE)
            continue;
        if (next->len > 0)
            g_array_append_val(ends, i);
        g_array_append_val(next, i);
    }
    if (next->len == 0)
        return error_input(run->error, "%s: has no step", run->path);
    uint32_t end = steps->len;
    g_array_append_val(ends, end);
    g_autofree Cell *cells = g_new(Cell, most);
    for (gboolean moved = TRUE; moved;) {
        moved = FALSE;
        for (uint32_t b = 0; b < next->len; b++)
            if (!go_on(run, &g_array_index(next, uint32_t, b), g_array_index(ends, uint32_t, b), cells, &moved))
                return FALSE;
    }
    for (uint32_t b = 0; b < next->len; b++)
        if (g_array_index(next, uint32_t, b) < g_array_index(ends, uint32_t, b))
            return fail(run, g_array_index(next, uint32_t, b),
                        "waits for ever: for a message that nobody sends, or in a circle");
    return TRUE;
}

/* Messages that nobody takes. */
static gboolean
check_wires(Execution *run)
{
    uint32_t first = INDEX_NONE;
    GHashTableIter at;
    gpointer value;
    g_hash_table_iter_init(&at, run->wires);
    while (g_hash_table_iter_next(&at, NULL, &value)) { /* the least, whatever the order */
        const Wire *wire = value;
        if (wire->taken < wire->steps->len)
            first = MIN(first, g_array_index(wire->steps, uint32_t, wire->taken));
    }
    return first == INDEX_NONE || fail(run, first, "sends what nobody receives");
}

static gboolean
same(const Cell *a, const Cell *b)
{
    return a->id == b->id && memcmp(a->ranks, b->ranks, sizeof a->ranks) == 0;
}

static Cell
sum_cell(uint32_t id, uint32_t n)
{
    Cell cell = {.id = id};
    for (uint32_t rank = 0; rank < n; rank++)
        cell.ranks[rank / 64] |= UINT64_C(1) << rank % 64;
    return cell;
}

/* What GPU g's output is to hold at that chunk. */
static Cell
output_cell(const Msccl *msccl, uint32_t gpu, uint32_t chunk)
{
    uint32_t part = msccl->n_chunks / msccl->n_gpus;
    switch (msccl->kind) {
    case COLLECTIVE_ALL_GATHER:
        return own_cell(chunk, chunk / part);
    case COLLECTIVE_REDUCE_SCATTER:
        return sum_cell(gpu * part + chunk, msccl->n_gpus);
    case COLLECTIVE_ALL_TO_ALL:
        return own_cell(gpu * part + chunk % part, chunk / part);
    case COLLECTIVE_BROADCAST:
        return own_cell(chunk, 0);
    default: /* all-reduce, reduce */
        return sum_cell(chunk, msccl->n_gpus);
    }
}

static gboolean
check_outputs(Execution *run)
{
    const Msccl *msccl = run->msccl;
    uint32_t n_out = msccl->kind == COLLECTIVE_REDUCE_SCATTER ? msccl->n_chunks / msccl->n_gpus : msccl->n_chunks;
    uint32_t n_gpus = msccl->kind == COLLECTIVE_REDUCE ? 1 : msccl->n_gpus;
    for (uint32_t g = 0; g < n_gpus; g++)
        for (uint32_t c = 0; c < n_out; c++) {
            const Cell *got = run->cells[1][g] + run->shift[1] * g + c;
            Cell want = output_cell(msccl, g, c);
            if (!same(got, &want))
                return error_input(run->error, "%s: %s: chunk %u of GPU %u's output is not what the collective says%s",
                                   run->path, msccl->name, c, g, got->id == INDEX_NONE ? ": nothing has arrived" : "");
        }
    return TRUE;
}

static Cell *
new_cells(uint32_t n)
{
    Cell *cells = g_new0(Cell, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++)
        cells[i].id = INDEX_NONE;
    return cells;
}

/* In place an all-gather's input is its part of the output, a reduce-scatter's output its part of the input. */
static void
fill_buffers(Execution *run)
{
    const Msccl *msccl = run->msccl;
    uint32_t n = msccl->n_gpus, part = msccl->n_chunks / n;
    uint32_t n_in = msccl->kind == COLLECTIVE_ALL_GATHER ? part : msccl->n_chunks;
    for (int b = 0; b < 3; b++)
        run->cells[b] = g_new0(Cell *, n);
    if (run->in_place && msccl->kind == COLLECTIVE_ALL_GATHER)
        run->shift[0] = part;
    if (run->in_place && msccl->kind == COLLECTIVE_REDUCE_SCATTER)
        run->shift[1] = part;
    for (uint32_t g = 0; g < n; g++) {
        run->cells[0][g] = new_cells(msccl->n_chunks);
        run->cells[1][g] = run->in_place ? run->cells[0][g] : new_cells(msccl->n_chunks);
        run->cells[2][g] = new_cells(run->buffers[g].scratch);
        for (uint32_t c = 0; c < n_in; c++)
            run->cells[0][g][run->shift[0] * g + c] = input_cell(msccl, g, c);
    }
}

static void
free_buffers(Execution *run)
{
    for (uint32_t g = 0; g < run->msccl->n_gpus; g++) {
        g_free(run->cells[0][g]);
        if (!run->in_place)
            g_free(run->cells[1][g]);
        g_free(run->cells[2][g]);
    }
    for (int b = 0; b < 3; b++)
        g_free(run->cells[b]);
}

gboolean
msccl_execute(Msccl *msccl, const char *path, const MscclBuffers *buffers, const MscclPlace *places, gboolean in_place,
              GError **error)
{
    Execution run = {.msccl = msccl,
                     .path = path,
                     .buffers = buffers,
                     .places = places,
                     .in_place = in_place,
                     .wires = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, wire_free),
                     .done = g_new0(guint8, MAX(1, msccl->steps->len)),
                     .error = error};
    g_array_set_size(msccl->order, 0);
    g_array_set_size(msccl->ids, 0);
    fill_buffers(&run);
    gboolean good = run_all(&run) && check_wires(&run) && check_outputs(&run);
    free_buffers(&run);
    g_hash_table_unref(run.wires);
    g_free(run.done);
    return good;
}
