/* usage_tape.c - a period of each pair's rates, counted and told again without its events
 *
 * Over a period a pair's count is a line bent at its marks: so much more at each of them, a rate from there on. Where a
 * bucket ends within any of the repetitions, the count there is that of whole periods and of a part of one, in the same
 * integers as if it had been counted step by step. The work is in proportion to the buckets told, and where one is
 * longer than the period, to those. */
#include "network/usage_state.h"

#include "base/index.h"

#include <assert.h>
#include <string.h>

/* A pair's own period goes from its last change before the recording to its last change in it: bytes may be booked
 * late, when what moved them is over (hold.h), but in order. */

/* From `at` on, counted from the pair's begin; both sums are up to there. */
typedef struct {
    SimTime at, busy;
    UsageCount rate, count;
    uint32_t pair, before; /* the pair's mark before; INDEX_NONE */
} Mark;

/* Of one pair; all but marks as of its begin. */
typedef struct {
    SimTime begin;
    uint64_t whole;
    UsageCount count, rate, share;
    uint32_t last; /* mark; INDEX_NONE: none yet */
    uint32_t first, n;
} Track;

struct UsageTape {
    SimTime begin, period;
    Track *tracks;
    uint32_t n_tracks; /* pairs at the begin */
    GArray *marks;     /* of Mark; after the end by pair, in the order of time */
    gboolean full;
};

void
usage_tape_drop(Usage *usage)
{
    if (usage->tape == NULL)
        return;
    g_free(usage->tape->tracks);
    g_array_unref(usage->tape->marks);
    g_free(usage->tape);
    usage->tape = NULL;
}

void
usage_tape_begin(Usage *usage, SimTime now)
{
    usage_tape_drop(usage);
    UsageTape *tape = g_new0(UsageTape, 1);
    tape->begin = now;
    tape->n_tracks = usage->n_pairs;
    tape->tracks = g_new0(Track, MAX(1, usage->n_pairs));
    tape->marks = g_array_new(FALSE, FALSE, sizeof(Mark));
    for (uint32_t p = 0; p < usage->n_pairs; p++) {
        const Pair *pair = &usage->pairs[p];
        tape->tracks[p] = (Track){.begin = pair->last,
                                  .whole = pair->whole,
                                  .count = pair->count,
                                  .rate = pair->rate,
                                  .share = pair->share,
                                  .last = INDEX_NONE};
    }
    usage->tape = tape;
}

static Mark *
mark_at(const UsageTape *tape, uint32_t number)
{
    return &g_array_index(tape->marks, Mark, number);
}

void
usage_tape_mark(Usage *usage, uint32_t p, SimTime now)
{
    UsageTape *tape = usage->tape;
    if (p >= tape->n_tracks || tape->marks->len >= REPEAT_MOST)
        tape->full = TRUE;
    if (tape->full)
        return;
    const Pair *pair = &usage->pairs[p];
    Track *track = &tape->tracks[p];
    UsageCount count = (UsageCount)(int64_t)(pair->whole - track->whole) * BYTE + (pair->count - track->count);
    SimTime at = now - track->begin;
    if (track->last != INDEX_NONE && mark_at(tape, track->last)->at == at) {
        mark_at(tape, track->last)->rate = pair->rate;
        mark_at(tape, track->last)->count = count;
        return;
    }
    const Mark *before = track->last != INDEX_NONE ? mark_at(tape, track->last) : NULL;
    SimTime busy = before != NULL ? before->busy : 0;
    if ((before != NULL ? before->rate : track->rate) > 0)
        busy += at - (before != NULL ? before->at : 0);
    Mark mark = {.at = at, .busy = busy, .rate = pair->rate, .count = count, .pair = p, .before = track->last};
    track->last = tape->marks->len;
    g_array_append_val(tape->marks, mark);
}

/* Lays the marks of each pair together. */
static void
sort_marks(UsageTape *tape)
{
    uint32_t first = 0;
    for (guint m = 0; m < tape->marks->len; m++)
        tape->tracks[mark_at(tape, m)->pair].n++;
    for (uint32_t p = 0; p < tape->n_tracks; first += tape->tracks[p++].n)
        tape->tracks[p].first = first;
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(Mark), tape->marks->len);
    g_array_set_size(sorted, tape->marks->len);
    for (uint32_t p = 0; p < tape->n_tracks; p++) {
        uint32_t place = tape->tracks[p].first + tape->tracks[p].n;
        for (uint32_t m = tape->tracks[p].last; m != INDEX_NONE; m = mark_at(tape, m)->before)
            g_array_index(sorted, Mark, --place) = *mark_at(tape, m);
    }
    g_array_unref(tape->marks);
    tape->marks = sorted;
}

/* Is where the pair stands a period after where it stood? */
static gboolean
is_period(const Track *track, const Pair *pair, SimTime period)
{
    if (pair->rate != track->rate || pair->share != track->share)
        return FALSE;
    if (track->last == INDEX_NONE)
        return pair->rate == 0 && pair->share == 0;
    return pair->last - track->begin == period;
}

gboolean
usage_tape_end(Usage *usage, SimTime now)
{
    UsageTape *tape = usage->tape;
    tape->period = now - tape->begin;
    gboolean sound = !tape->full && tape->n_tracks == usage->n_pairs;
    for (uint32_t p = 0; sound && p < usage->n_pairs; p++)
        sound = is_period(&tape->tracks[p], &usage->pairs[p], tape->period);
    if (sound)
        sort_marks(tape);
    else
        usage_tape_drop(usage);
    return sound;
}

/* What was counted from the period's begin up to a phase of it, what happens at that very time included. */
typedef struct {
    UsageCount count, rate;
    SimTime busy;
    SimTime next; /* phase of the mark after it, which may be the first of the period after */
} Reading;

static Reading
read_track(const UsageTape *tape, const Track *track, SimTime phase)
{
    uint32_t low = 0, high = track->n; /* marks before low lie at or before phase, those from high on after it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mark_at(tape, track->first + middle)->at <= phase)
            low = middle + 1;
        else
            high = middle;
    }
    Mark mark = {.rate = track->rate};
    SimTime next =
        low < track->n ? mark_at(tape, track->first + low)->at : tape->period + mark_at(tape, track->first)->at;
    if (low > 0)
        mark = *mark_at(tape, track->first + low - 1);
    SimTime passed = phase - mark.at;
    return (Reading){.count = mark.count + mark.rate * passed,
                     .rate = mark.rate,
                     .busy = mark.busy + (mark.rate > 0 ? passed : 0),
                     .next = next};
}

/* A pair's count after so many periods and a part of one, in whole bytes. */
static uint64_t
whole_bytes(const Pair *pair, UsageCount period, uint64_t periods, UsageCount part)
{
    UsageCount more = period / BYTE, rest = pair->count + (period % BYTE) * periods + part, whole = rest / BYTE;
    whole += (UsageCount)pair->whole + more * periods - (rest % BYTE < 0);
    return whole > 0 ? (uint64_t)whole : 0;
}

static void
repeat_pair(Usage *usage, uint32_t p, uint64_t times)
{
    const UsageTape *tape = usage->tape;
    const Track *track = &tape->tracks[p];
    const NetworkObserver *observer = usage->observer;
    Pair *pair = &usage->pairs[p];
    Reading all = read_track(tape, track, tape->period);
    SimTime from = pair->last + usage->skipped->time_ps, end = from + (SimTime)times * tape->period;
    SimTime told_busy = -pair->busy;
    while (pair->bucket_end < end) {
        uint64_t periods = (uint64_t)((pair->bucket_end - from) / tape->period);
        Reading part = read_track(tape, track, (pair->bucket_end - from) % tape->period);
        uint64_t whole = whole_bytes(pair, all.count, periods, part.count);
        SimTime busy = (SimTime)periods * all.busy + part.busy;
        if ((whole > pair->told || busy > told_busy) && observer->link_usage != NULL)
            observer->link_usage(observer->owner, pair->link, pair->job, pair->bucket_end - usage->bucket_ps,
                                 usage->bucket_ps, whole > pair->told ? whole - pair->told : 0, busy - told_busy);
        pair->told = MAX(pair->told, whole);
        told_busy = busy;
        SimTime next = pair->bucket_end + 1, begin = from + (SimTime)periods * tape->period;
        if (part.rate == 0) /* nothing till something changes */
            next = begin + part.next;
        pair->bucket_end = usage_bucket_end(usage, MIN(next, end));
    }
    pair->busy = (SimTime)times * all.busy - told_busy;
    pair->whole += (uint64_t)(all.count / BYTE) * times;
    pair->count += all.count % BYTE * times;
    usage_fold(pair);
}

void
usage_tape_repeat(Usage *usage, uint64_t times)
{
    for (uint32_t p = 0; p < usage->n_pairs; p++)
        if (usage->tape->tracks[p].n > 0)
            repeat_pair(usage, p, times);
}
