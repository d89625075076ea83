#include "base/random.h"
#include "engine/event_queue.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* The slow second answer: all events in one list, searched for the first in canonical order. Rounds and
 * counts are written down as the words of DEFINITIONS 1 say. */
typedef struct {
    Event event;
    uint64_t round, count;
} Entry;

typedef struct {
    GArray *entries; /* of Entry */
    uint64_t salt, pushed, round;
    SimTime now;
    gboolean begun; /* an event of now has been popped */
} Slow;

static void
slow_push(Slow *slow, Event event)
{
    Entry entry = {event, 0, slow->pushed++};
    if (slow->begun && event.when == slow->now)
        entry.round = slow->round + 1;
    g_array_append_val(slow->entries, entry);
}

static gboolean
slow_before(const Slow *slow, const Entry *a, const Entry *b)
{
    if (a->event.when != b->event.when)
        return a->event.when < b->event.when;
    if (a->round != b->round)
        return a->round < b->round;
    uint64_t key_a = hash_combine(slow->salt, a->event.sender), key_b = hash_combine(slow->salt, b->event.sender);
    if (key_a != key_b)
        return key_a < key_b;
    if (a->event.sender != b->event.sender)
        return a->event.sender < b->event.sender;
    return a->count < b->count;
}

static gboolean
slow_pop(Slow *slow, Event *event)
{
    guint first = 0;
    if (slow->entries->len == 0)
        return FALSE;
    for (guint i = 1; i < slow->entries->len; i++)
        if (slow_before(slow, &g_array_index(slow->entries, Entry, i), &g_array_index(slow->entries, Entry, first)))
            first = i;
    Entry entry = g_array_index(slow->entries, Entry, first);
    g_array_remove_index_fast(slow->entries, first);
    slow->round = entry.round;
    slow->now = entry.event.when;
    slow->begun = TRUE;
    *event = entry.event;
    return TRUE;
}

/* Increments: none, a few, a few thousand, any up to 2^40. */
static SimTime
increment(Random *dice)
{
    static const unsigned widths[] = {0, 3, 12, 40};
    return (SimTime)random_below(dice, UINT64_C(1) << widths[random_below(dice, 4)]);
}

START_TEST(random_pushes_leave_in_canonical_order)
{
    uint64_t seed = (uint64_t)_i;
    Random dice = random_named(seed, "pushes");
    g_autoptr(EventQueue) queue = event_queue_new(seed);
    Slow slow = {g_array_new(FALSE, FALSE, sizeof(Entry)), hash_combine(seed, hash_text("event queue"))};
    uint32_t target = 0;
    for (int step = 0; step < 3000; step++) {
        size_t n = random_below(&dice, 4);
        for (size_t i = 0; i < n; i++) {
            Event event = {slow.now + increment(&dice), 1, target++, (uint32_t)random_below(&dice, 5), 9};
            event_queue_push(queue, event);
            slow_push(&slow, event);
        }
        for (size_t i = random_below(&dice, 4); i > 0; i--) {
            Event got = {.target = 7}, expected = {.target = 7};
            SimTime when = -1;
            gboolean peeked = event_queue_peek(queue, &when), popped = event_queue_pop(queue, &got);
            ck_assert_int_eq(popped, slow_pop(&slow, &expected));
            ck_assert_int_eq(peeked, popped);
            ck_assert(!peeked || when == got.when);
            ck_assert_msg(got.when == expected.when && got.target == expected.target,
                          "seed %d, step %d: event %u at %" G_GINT64_FORMAT ", expected %u at %" G_GINT64_FORMAT, _i,
                          step, got.target, got.when, expected.target, expected.when);
            ck_assert_uint_eq(got.stamp, expected.stamp);
        }
        ck_assert_uint_eq(event_queue_length(queue), slow.entries->len);
    }
    g_array_unref(slow.entries);
}
END_TEST

/* As many events in one instant as each of the three ways to sort takes, and in each sender's own order. */
START_TEST(one_instant_of_any_size_is_ordered_by_key_then_push)
{
    static const size_t sizes[] = {1, 2, 24, 25, 1000, 1024, 50000};
    size_t n = sizes[_i];
    Random dice = random_named(5, "instant");
    g_autoptr(EventQueue) queue = event_queue_new(11);
    for (size_t i = 0; i < n; i++)
        event_queue_push(
            queue, (Event){.when = 77, .target = (uint32_t)i, .sender = (uint32_t)random_below(&dice, 1 + n / 3)});
    uint64_t salt = hash_combine(11, hash_text("event queue"));
    Event last, event;
    ck_assert(event_queue_pop(queue, &last));
    for (size_t i = 1; i < n; i++, last = event) {
        ck_assert(event_queue_pop(queue, &event));
        uint64_t a = hash_combine(salt, last.sender), b = hash_combine(salt, event.sender);
        ck_assert(a < b || (last.sender == event.sender && last.target < event.target));
    }
    ck_assert(!event_queue_pop(queue, &event));
}
END_TEST

START_TEST(one_sender_leaves_in_its_own_order)
{
    g_autoptr(EventQueue) queue = event_queue_new(0);
    for (uint32_t i = 0; i < 5000; i++)
        event_queue_push(queue, (Event){.when = 7, .target = i, .sender = 3});
    Event event;
    for (uint32_t i = 0; i < 5000; i++) {
        ck_assert(event_queue_pop(queue, &event));
        ck_assert_uint_eq(event.target, i);
    }
    event.target = 4242;
    ck_assert(!event_queue_pop(queue, &event));
    ck_assert_uint_eq(event.target, 4242);
}
END_TEST

START_TEST(the_seed_reorders_senders_and_nothing_else)
{
    g_autoptr(EventQueue) a = event_queue_new(1), b = event_queue_new(2);
    for (uint32_t i = 0; i < 64; i++) {
        event_queue_push(a, (Event){.when = 1, .sender = i});
        event_queue_push(b, (Event){.when = 1, .sender = i});
    }
    uint32_t different = 0, sum_a = 0, sum_b = 0;
    for (uint32_t i = 0; i < 64; i++) {
        Event x, y;
        ck_assert(event_queue_pop(a, &x) && event_queue_pop(b, &y));
        different += x.sender != y.sender;
        sum_a += x.sender;
        sum_b += y.sender;
    }
    ck_assert_uint_gt(different, 32);
    ck_assert_uint_eq(sum_a, 64 * 63 / 2);
    ck_assert_uint_eq(sum_b, 64 * 63 / 2);
}
END_TEST

/* After a peek at a later time an earlier event may still come. */
START_TEST(a_peek_does_not_move_time)
{
    g_autoptr(EventQueue) queue = event_queue_new(0);
    SimTime when = 5;
    ck_assert(!event_queue_peek(queue, &when));
    event_queue_push(queue, (Event){.when = 1000});
    ck_assert(event_queue_peek(queue, &when));
    ck_assert_int_eq(when, 1000);
    event_queue_push(queue, (Event){.when = 10});
    event_queue_push(queue, (Event){.when = SIM_TIME_MAX});
    Event event;
    static const SimTime order[] = {10, 1000, SIM_TIME_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        ck_assert(event_queue_peek(queue, &when) && event_queue_pop(queue, &event));
        ck_assert_int_eq(event.when, order[i]);
        ck_assert_int_eq(when, order[i]);
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("event_queue");
    TCase *tc = tcase_create("event_queue");
    tcase_add_loop_test(tc, random_pushes_leave_in_canonical_order, 0, 20);
    tcase_add_loop_test(tc, one_instant_of_any_size_is_ordered_by_key_then_push, 0, 7);
    tcase_add_test(tc, one_sender_leaves_in_its_own_order);
    tcase_add_test(tc, the_seed_reorders_senders_and_nothing_else);
    tcase_add_test(tc, a_peek_does_not_move_time);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
