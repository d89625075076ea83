#include "network/loss_meter.h"
#include "network/loss_tape.h"

#include "base/index.h"

#include <assert.h>
#include <string.h>

typedef struct {
    LossPlace place;
    LossRate rate; /* lost seconds a second */
    uint32_t uses; /* additions not yet taken away; 0 = free */
    uint32_t next; /* cell of the link, or free cell */
} Cell;

struct LossMeter {
    SimTime bucket_ps;
    const Usage *usage;
    LossBook *book;
    uint32_t n_links;
    uint32_t *first; /* cell by link; the last entry is for no link */
    SimTime *since;  /* by link: counted up to here */
    Cell *cells;
    uint32_t n_cells, room, free_cell;
    History *history;       /* NULL: nobody asks */
    Fingerprint print;      /* of what is being booked at one link */
    const Skipped *skipped; /* never NULL */
    LossTape *tape;         /* NULL: nothing is recorded */
};

static const Skipped nothing_skipped;

LossRate
loss_rate_of(double share)
{
    return (LossRate)(share * 0x1p60);
}

LossMeter *
loss_meter_new(uint32_t n_links, SimTime bucket_ps, const Usage *usage)
{
    LossMeter *meter = g_new0(LossMeter, 1);
    meter->bucket_ps = bucket_ps;
    meter->usage = usage;
    meter->book = loss_book_new();
    meter->n_links = n_links;
    meter->first = g_new(uint32_t, n_links + 1);
    memset(meter->first, 0xff, (n_links + 1) * sizeof *meter->first);
    meter->since = g_new0(SimTime, n_links + 1);
    meter->free_cell = INDEX_NONE;
    meter->skipped = &nothing_skipped;
    return meter;
}

void
loss_meter_free(LossMeter *meter)
{
    if (meter == NULL)
        return;
    loss_book_free(meter->book);
    loss_tape_free(meter->tape);
    g_free(meter->first);
    g_free(meter->since);
    g_free(meter->cells);
    g_free(meter);
}

UsageCount
loss_others_rate(const Usage *usage, uint32_t link, uint32_t job)
{
    UsageCount sum = 0;
    for (uint32_t p = usage_first_pair(usage, link); p != INDEX_NONE; p = usage_next_pair(usage, p))
        if (usage_pair_job(usage, p) != job)
            sum += usage_pair_rate(usage, p);
    return sum;
}

/* Books time passed from `from` on. bytes_Bps: what the culprit moves meanwhile. */
static void
book_span(LossMeter *meter, const Cell *cell, uint32_t culprit, LossKind kind, double lost, double bytes_Bps,
          SimTime from, SimTime to)
{
    LossSpan span = {.key = {.victim_job = cell->place.job,
                             .culprit_job = culprit,
                             .link = cell->place.link,
                             .iteration = cell->place.iteration,
                             .kind = kind},
                     .lost = lost,
                     .bytes_Bps = bytes_Bps,
                     .from = from,
                     .to = to};
    if (meter->history != NULL) {
        fingerprint_add(&meter->print, (uint64_t)span.key.victim_job << 32 | culprit);
        fingerprint_add(&meter->print, history_time(meter->history, from) ^ (uint64_t)kind << 60);
        fingerprint_add(&meter->print, fingerprint_double(lost));
        fingerprint_add(&meter->print, fingerprint_double(bytes_Bps));
    }
    if (meter->tape != NULL)
        loss_tape_add(meter->tape, &span);
    const uint32_t *skipped = meter->skipped->iterations;
    span.key.iteration += skipped != NULL ? skipped[span.key.victim_job] : 0;
    span.from += meter->skipped->time_ps;
    span.to += meter->skipped->time_ps;
    loss_span_book(&span, meter->book, meter->bucket_ps);
}

/* Is an earlier cell of this link a collision of the same job and iteration? Its culprits' bytes are counted there. */
static gboolean
counted_before(const LossMeter *meter, const Cell *cell, uint32_t first)
{
    for (uint32_t c = first; &meter->cells[c] != cell; c = meter->cells[c].next) {
        const LossPlace *place = &meter->cells[c].place;
        if (place->kind == cell->place.kind && place->job == cell->place.job &&
            place->iteration == cell->place.iteration)
            return TRUE;
    }
    return FALSE;
}

/* Each culprit's part is in proportion to its rate on the link. */
static void
book_on_culprits(LossMeter *meter, const Cell *cell, uint32_t first, SimTime from, SimTime to)
{
    const Usage *usage = meter->usage;
    gboolean collision = cell->place.kind == LOSS_COLLISION;
    UsageCount others = loss_others_rate(usage, cell->place.link, collision ? INDEX_NONE : cell->place.job);
    double all = (double)(others - cell->place.own_rate), lost = (double)cell->rate * 0x1p-60;
    if (all <= 0) {
        book_span(meter, cell, INDEX_NONE, collision ? LOSS_COLLISION : LOSS_INDIRECT, lost, 0, from, to);
        return;
    }
    gboolean count_bytes = !collision || !counted_before(meter, cell, first);
    for (uint32_t p = usage_first_pair(usage, cell->place.link); p != INDEX_NONE; p = usage_next_pair(usage, p)) {
        uint32_t job = usage_pair_job(usage, p);
        gboolean own = job == cell->place.job;
        UsageCount rate = usage_pair_rate(usage, p) - (own ? cell->place.own_rate : 0);
        if (rate <= 0 || (own && !collision))
            continue;
        double bytes_Bps = count_bytes ? (double)rate * 0x1p-32 : 0;
        book_span(meter, cell, job, cell->place.kind, lost * ((double)rate / all), bytes_Bps, from, to);
    }
}

void
loss_meter_run_on(LossMeter *meter, uint32_t link, SimTime now)
{
    uint32_t row = MIN(link, meter->n_links), first = meter->first[row];
    SimTime from = meter->since[row];
    meter->since[row] = now;
    if (from == now || first == INDEX_NONE)
        return;
    meter->print = (Fingerprint){row, 0};
    for (uint32_t c = first; c != INDEX_NONE; c = meter->cells[c].next) {
        const Cell *cell = &meter->cells[c];
        if (cell->rate <= 0)
            continue;
        if (cell->place.kind == LOSS_FAULT || cell->place.link == INDEX_NONE)
            book_span(meter, cell, INDEX_NONE, cell->place.kind == LOSS_FAULT ? LOSS_FAULT : LOSS_INDIRECT,
                      (double)cell->rate * 0x1p-60, 0, from, now);
        else
            book_on_culprits(meter, cell, first, from, now);
    }
    if (meter->history == NULL)
        return;
    fingerprint_add(&meter->print, history_time(meter->history, now));
    history_add_set(meter->history, meter->print);
}

static uint32_t
find_cell(LossMeter *meter, const LossPlace *place, uint32_t row)
{
    for (uint32_t c = meter->first[row]; c != INDEX_NONE && place->kind != LOSS_COLLISION; c = meter->cells[c].next) {
        const LossPlace *here = &meter->cells[c].place;
        if (here->job == place->job && here->iteration == place->iteration && here->kind == place->kind)
            return c;
    }
    uint32_t c = meter->free_cell;
    if (c != INDEX_NONE) {
        meter->free_cell = meter->cells[c].next;
    } else {
        if (meter->n_cells == meter->room) {
            meter->room = MAX(64, 2 * meter->room);
            meter->cells = g_renew(Cell, meter->cells, meter->room);
        }
        c = meter->n_cells++;
    }
    meter->cells[c] = (Cell){.place = *place, .next = meter->first[row]};
    meter->first[row] = c;
    return c;
}

uint32_t
loss_meter_add(LossMeter *meter, const LossPlace *place, LossRate rate, SimTime now)
{
    loss_meter_run_on(meter, place->link, now);
    uint32_t c = find_cell(meter, place, MIN(place->link, meter->n_links));
    meter->cells[c].rate += rate;
    meter->cells[c].uses++;
    return c;
}

void
loss_meter_take(LossMeter *meter, uint32_t c, LossRate rate, SimTime now)
{
    Cell *cell = &meter->cells[c];
    loss_meter_run_on(meter, cell->place.link, now);
    cell->rate -= rate;
    if (--cell->uses > 0)
        return;
    assert(cell->rate == 0);
    uint32_t *link = &meter->first[MIN(cell->place.link, meter->n_links)];
    while (*link != c)
        link = &meter->cells[*link].next;
    *link = cell->next;
    cell->next = meter->free_cell;
    meter->free_cell = c;
}

void
loss_meter_finish(LossMeter *meter, SimTime now, const NetworkObserver *observer)
{
    for (uint32_t row = 0; row <= meter->n_links; row++)
        loss_meter_run_on(meter, row < meter->n_links ? row : INDEX_NONE, now);
    loss_book_tell(meter->book, meter->bucket_ps, observer);
}

void
loss_meter_set_memo(LossMeter *meter, History *history, const Skipped *skipped)
{
    meter->history = history;
    meter->skipped = skipped;
}

void
loss_meter_tape_begin(LossMeter *meter)
{
    loss_meter_tape_drop(meter);
    meter->tape = loss_tape_new();
}

gboolean
loss_meter_tape_end(LossMeter *meter)
{
    if (loss_tape_end(meter->tape))
        return TRUE;
    loss_meter_tape_drop(meter);
    return FALSE;
}

void
loss_meter_tape_repeat(LossMeter *meter, const Repeat *repeat)
{
    loss_tape_book(meter->tape, repeat, meter->skipped, meter->book, meter->bucket_ps);
}

void
loss_meter_tape_drop(LossMeter *meter)
{
    loss_tape_free(meter->tape);
    meter->tape = NULL;
}
