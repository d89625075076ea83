#include "network/usage_state.h"

#include "base/index.h"

#include <assert.h>
#include <string.h>

static const Skipped nothing_skipped;

Usage *
usage_new(uint32_t n_links, SimTime bucket_ps, const NetworkObserver *observer)
{
    Usage *usage = g_new0(Usage, 1);
    usage->bucket_ps = bucket_ps;
    usage->observer = observer;
    usage->first_pair = g_new(uint32_t, MAX(1, n_links));
    usage->last_pair = g_new(uint32_t, MAX(1, n_links));
    usage->jobs_on = g_new0(uint32_t, MAX(1, n_links));
    memset(usage->first_pair, 0xff, n_links * sizeof *usage->first_pair);
    memset(usage->last_pair, 0xff, n_links * sizeof *usage->last_pair);
    memset(usage->free_hops, 0xff, sizeof usage->free_hops);
    usage->free_book = INDEX_NONE;
    usage->skipped = &nothing_skipped;
    return usage;
}

void
usage_free(Usage *usage)
{
    if (usage == NULL)
        return;
    g_free(usage->first_pair);
    g_free(usage->last_pair);
    g_free(usage->jobs_on);
    g_free(usage->pairs);
    g_free(usage->books);
    g_free(usage->hops);
    usage_tape_drop(usage);
    g_free(usage);
}

void
usage_set_memo(Usage *usage, History *history, const Skipped *skipped)
{
    usage->history = history;
    usage->skipped = skipped;
}

void
usage_set_hook(Usage *usage, UsageHook hook, void *owner)
{
    usage->hook = hook;
    usage->hook_owner = owner;
}

/* The end of the bucket that time lies in; a boundary belongs to the bucket it ends, so that what an ending flow
 * settles there is in that bucket. */
SimTime
usage_bucket_end(const Usage *usage, SimTime time)
{
    SimTime n = MAX(1, time / usage->bucket_ps + (time % usage->bucket_ps > 0));
    return n <= SIM_TIME_MAX / usage->bucket_ps ? n * usage->bucket_ps : SIM_TIME_MAX;
}

static uint32_t
find_pair(Usage *usage, uint32_t link, uint32_t job, SimTime now)
{
    for (uint32_t p = usage->first_pair[link]; p != INDEX_NONE; p = usage->pairs[p].next)
        if (usage->pairs[p].job == job)
            return p;
    if (usage->n_pairs == usage->pairs_room) {
        usage->pairs_room = MAX(256, 2 * usage->pairs_room);
        usage->pairs = g_renew(Pair, usage->pairs, usage->pairs_room);
    }
    uint32_t pair = usage->n_pairs++;
    usage->pairs[pair] = (Pair){.link = link,
                                .job = job,
                                .next = INDEX_NONE,
                                .last = now,
                                .bucket_end = usage_bucket_end(usage, now + usage->skipped->time_ps)};
    if (usage->last_pair[link] == INDEX_NONE)
        usage->first_pair[link] = pair;
    else
        usage->pairs[usage->last_pair[link]].next = pair;
    usage->last_pair[link] = pair;
    return pair;
}

static void
tell_bucket(Usage *usage, Pair *pair, SimTime end)
{
    uint64_t whole = pair->whole + (uint64_t)(pair->count / BYTE);
    SimTime start = pair->bucket_end - usage->bucket_ps;
    if ((whole > pair->told || pair->busy > 0) && usage->observer->link_usage != NULL)
        usage->observer->link_usage(usage->observer->owner, pair->link, pair->job, start, end - start,
                                    whole > pair->told ? whole - pair->told : 0, pair->busy);
    pair->told = MAX(pair->told, whole);
    pair->busy = 0;
}

static void
run_on(Pair *pair, SimTime until)
{
    if (pair->rate > 0) {
        pair->count += pair->rate * (until - pair->last);
        pair->busy += until - pair->last;
    }
    pair->last = until;
}

void
usage_fold(Pair *pair)
{
    if (pair->count <= FOLD)
        return;
    uint64_t folded = (uint64_t)(pair->count / BYTE) - KEPT;
    pair->whole += folded;
    pair->count -= folded * BYTE;
}

void
usage_advance(Usage *usage, uint32_t p, SimTime now)
{
    Pair *pair = &usage->pairs[p];
    SimTime ahead = usage->skipped->time_ps, told = now + ahead;
    while (pair->bucket_end < told) {
        run_on(pair, pair->bucket_end - ahead);
        tell_bucket(usage, pair, pair->bucket_end);
        pair->bucket_end =
            pair->rate > 0 ? usage_bucket_end(usage, pair->bucket_end + 1) : usage_bucket_end(usage, told);
    }
    run_on(pair, now);
    usage_fold(pair);
}

static void
change_pair(Usage *usage, uint32_t p, UsageCount rate_change, UsageCount share_change, SimTime now)
{
    Pair *pair = &usage->pairs[p];
    if (usage->hook != NULL)
        usage->hook(usage->hook_owner, pair->link, now);
    if (pair->last < now)
        usage_advance(usage, p, now);
    usage->jobs_on[pair->link] -= pair->share > 0;
    pair->rate += rate_change;
    pair->share += share_change;
    usage->jobs_on[pair->link] += pair->share > 0;
    assert(pair->rate >= 0 && pair->share >= 0);
    if (usage->tape != NULL)
        usage_tape_mark(usage, p, now);
}

static uint32_t
size_class(uint32_t n)
{
    return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

static uint32_t
take_hops(Usage *usage, uint32_t n)
{
    uint32_t class = size_class(n), head = usage->free_hops[class], size = UINT32_C(1) << class;
    if (head != INDEX_NONE) {
        usage->free_hops[class] = usage->hops[head].pair;
        return head;
    }
    if (usage->hops_room - usage->n_hops < size) {
        usage->hops_room = MAX(2 * usage->hops_room, usage->n_hops + MAX(size, 1024));
        usage->hops = g_renew(Hop, usage->hops, usage->hops_room);
    }
    usage->n_hops += size;
    return usage->n_hops - size;
}

static uint32_t
take_book(Usage *usage)
{
    uint32_t book = usage->free_book;
    if (book != INDEX_NONE) {
        usage->free_book = usage->books[book].first;
        return book;
    }
    if (usage->n_books == usage->books_room) {
        usage->books_room = MAX(256, 2 * usage->books_room);
        usage->books = g_renew(Book, usage->books, usage->books_room);
    }
    return usage->n_books++;
}

uint64_t
usage_links_print(const MaxMinUse *uses, uint32_t n)
{
    uint64_t print = n;
    for (uint32_t i = 0; i < n; i++)
        print = fingerprint_join(print, uses[i].link);
    return print;
}

/* What begins, when and where. */
static void
note_begin(History *history, uint32_t job, const Demand *demand, SimTime now)
{
    uint64_t print = demand->links_print;
    if (print == 0) {
        print = usage_links_print(demand->uses, demand->n);
        for (uint32_t i = 0; i < demand->n; i++)
            if (demand->bytes[i] != demand->largest)
                print = fingerprint_join(print, demand->bytes[i] << 16 ^ i);
    }
    print = fingerprint_join(fingerprint_join(print, demand->largest), job);
    history_add(history, fingerprint_join(print, history_time(history, now)));
}

uint32_t
usage_begin(Usage *usage, uint32_t job, const Demand *demand, SimTime now)
{
    uint32_t number = take_book(usage), first = take_hops(usage, demand->n);
    if (usage->history != NULL)
        note_begin(usage->history, job, demand, now);
    Book book = {.first = first, .n = demand->n, .whole = TRUE, .largest = demand->largest, .since = now};
    for (uint32_t i = 0; i < demand->n; i++) {
        uint32_t pair = find_pair(usage, demand->uses[i].link, job, now);
        usage->hops[first + i] =
            (Hop){.pair = pair, .coefficient = demand->uses[i].coefficient, .bytes = demand->bytes[i]};
        book.whole = book.whole && demand->bytes[i] == demand->largest;
    }
    usage->books[number] = book;
    return number;
}

/* A rate as what it adds to a count in a picosecond, rounded down; as a conversion of rate x 2^32, without the call
 * into the compiler's library that one to 128 bits is. Links carry at most 2^54 B/s. */
static UsageCount
count_rate(double rate_Bps)
{
    int64_t whole = (int64_t)rate_Bps;
    return (UsageCount)whole << 32 | (int64_t)((rate_Bps - (double)whole) * 0x1p32);
}

static UsageCount
hop_rate(const Book *book, const Hop *hop, double rate_Bps)
{
    return count_rate(rate_Bps * ((double)hop->bytes / (double)book->largest));
}

/* What has moved up to now is counted; the rate becomes another. */
static void
change_rate(Usage *usage, Book *book, double rate_Bps, SimTime now)
{
    double before_Bps = book->rate_Bps;
    SimTime passed = now - book->since;
    book->rate_Bps = rate_Bps;
    book->since = now;
    if (book->n == 0)
        return;
    UsageCount before = count_rate(before_Bps), change = count_rate(rate_Bps) - before;
    if (book->whole)
        book->moved += before * passed;
    for (uint32_t i = 0; i < book->n; i++) {
        Hop *hop = &usage->hops[book->first + i];
        UsageCount rate_change = change, share_change = change;
        if (!book->whole) {
            UsageCount old = hop_rate(book, hop, before_Bps);
            hop->moved += old * passed;
            rate_change = hop_rate(book, hop, rate_Bps) - old;
        }
        if (hop->coefficient != 1)
            share_change = count_rate(rate_Bps * hop->coefficient) - count_rate(before_Bps * hop->coefficient);
        change_pair(usage, hop->pair, rate_change, share_change, now);
    }
}

void
usage_set_rate(Usage *usage, uint32_t book, double rate_Bps, SimTime now)
{
    change_rate(usage, &usage->books[book], rate_Bps, now);
}

static void
release_book(Usage *usage, uint32_t number)
{
    Book *book = &usage->books[number];
    uint32_t class = size_class(book->n);
    usage->hops[book->first].pair = usage->free_hops[class];
    usage->free_hops[class] = book->first;
    book->first = usage->free_book;
    usage->free_book = number;
}

/* Stops the book; each hop's count becomes `bytes` of it exactly, or parts[] where they are given. */
static void
settle(Usage *usage, uint32_t number, uint64_t bytes, const uint64_t *parts, SimTime now)
{
    Book *book = &usage->books[number];
    change_rate(usage, book, 0, now);
    for (uint32_t i = 0; i < book->n; i++) {
        Hop *hop = &usage->hops[book->first + i];
        UsageCount moved = book->whole ? book->moved : hop->moved;
        uint64_t due = hop->bytes;
        if (parts != NULL)
            due = parts[i];
        else if (bytes != book->largest)
            due = (uint64_t)(((UsageCount)hop->bytes * bytes + book->largest / 2) / book->largest);
        usage->pairs[hop->pair].count += due * BYTE - moved;
        if (usage->tape != NULL)
            usage_tape_mark(usage, hop->pair, now);
    }
    release_book(usage, number);
}

void
usage_drop(Usage *usage, uint32_t number, SimTime now)
{
    change_rate(usage, &usage->books[number], 0, now);
    release_book(usage, number);
}

void
usage_credit(Usage *usage, uint32_t number, UsageCount moved)
{
    assert(usage->books[number].whole && usage->books[number].moved == 0);
    usage->books[number].moved = moved;
}

void
usage_end(Usage *usage, uint32_t book, SimTime now)
{
    settle(usage, book, usage->books[book].largest, NULL, now);
}

void
usage_cut(Usage *usage, uint32_t book, uint64_t bytes, const uint64_t *parts, SimTime now)
{
    settle(usage, book, bytes, parts, now);
}

void
usage_finish(Usage *usage, SimTime now)
{
    for (uint32_t p = 0; p < usage->n_pairs; p++) {
        usage_advance(usage, p, now);
        tell_bucket(usage, &usage->pairs[p], MIN(now + usage->skipped->time_ps, usage->pairs[p].bucket_end));
    }
}

uint32_t
usage_first_pair(const Usage *usage, uint32_t link)
{
    return usage->first_pair[link];
}

uint32_t
usage_next_pair(const Usage *usage, uint32_t pair)
{
    return usage->pairs[pair].next;
}

uint32_t
usage_n_pairs(const Usage *usage)
{
    return usage->n_pairs;
}

uint32_t
usage_pair_link(const Usage *usage, uint32_t pair)
{
    return usage->pairs[pair].link;
}

uint32_t
usage_pair_job(const Usage *usage, uint32_t pair)
{
    return usage->pairs[pair].job;
}

UsageCount
usage_pair_rate(const Usage *usage, uint32_t pair)
{
    return usage->pairs[pair].share;
}

uint32_t
usage_jobs_on(const Usage *usage, uint32_t link)
{
    return usage->jobs_on[link];
}

uint32_t
usage_book_pair(const Usage *usage, uint32_t book, uint32_t i)
{
    return usage->hops[usage->books[book].first + i].pair;
}

UsageCount
usage_book_rate(const Usage *usage, uint32_t book, uint32_t i)
{
    return count_rate(usage->books[book].rate_Bps * usage->hops[usage->books[book].first + i].coefficient);
}
