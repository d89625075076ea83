#include "base/error.h"
#include "engine/engine.h"
#include "support.h"

/* What happened, one letter each: handlers and settlers append to it. */
typedef struct {
    Engine *engine;
    GString *log;
    uint32_t kind;
    int left; /* how often the settler schedules for its own instant */
} World;

static World world;

static void
setup(void)
{
    world = (World){engine_new(1), g_string_new(NULL)};
}

static void
teardown(void)
{
    engine_free(world.engine);
    g_string_free(world.log, TRUE);
}

static void
note(void *owner, const Event *event)
{
    ck_assert_ptr_eq(owner, &world);
    ck_assert_int_eq(engine_now(world.engine), event->when);
    g_string_append_printf(world.log, "%u@%d ", event->target, (int)event->when);
}

/* Like note; event 1 makes event 2 for its own instant and 3 for 5 ps later. */
static void
breed(void *owner, const Event *event)
{
    note(owner, event);
    if (event->target != 1)
        return;
    engine_schedule(world.engine, (Event){.when = event->when, .kind = event->kind, .target = 2});
    engine_schedule_in(world.engine, 5, (Event){.kind = event->kind, .target = 3});
}

static void
settle(void *owner)
{
    g_string_append(world.log, "s ");
    if (world.left-- > 0)
        engine_schedule_in(world.engine, 0, (Event){.kind = world.kind, .target = 9});
}

static void
settle_too(void *owner)
{
    g_string_append(world.log, "t ");
}

START_TEST(all_rounds_of_an_instant_come_before_the_settlers)
{
    world.kind = engine_add_kind(world.engine, breed, &world);
    engine_add_settler(world.engine, settle, NULL);
    engine_add_settler(world.engine, settle_too, NULL);
    for (uint32_t i = 0; i < 2; i++)
        engine_schedule(world.engine, (Event){.when = 10, .kind = world.kind, .target = 1, .sender = 4});
    ck_assert(engine_run(world.engine, NULL));
    ck_assert_str_eq(world.log->str, "1@10 1@10 2@10 2@10 s t 3@15 3@15 s t ");
    ck_assert_uint_eq(engine_events(world.engine), 6);
    ck_assert_int_eq(engine_now(world.engine), 15);
}
END_TEST

START_TEST(what_a_settler_makes_for_now_is_a_further_round)
{
    world.kind = engine_add_kind(world.engine, note, &world);
    world.left = 2;
    engine_add_settler(world.engine, settle, NULL);
    engine_schedule(world.engine, (Event){.when = 3, .kind = world.kind, .target = 1});
    engine_schedule(world.engine, (Event){.when = 4, .kind = world.kind, .target = 2});
    ck_assert(engine_run(world.engine, NULL));
    ck_assert_str_eq(world.log->str, "1@3 s 9@3 s 9@3 s 2@4 s ");
}
END_TEST

static void
fail_at(void *owner, const Event *event)
{
    note(owner, event);
    if (event->target == 1) {
        engine_fail(world.engine, g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "first"));
        engine_fail(world.engine, g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "second"));
    }
}

START_TEST(a_failure_ends_the_run_after_its_event)
{
    world.kind = engine_add_kind(world.engine, fail_at, &world);
    engine_add_settler(world.engine, settle, NULL);
    for (uint32_t i = 0; i < 3; i++)
        engine_schedule(world.engine, (Event){.when = 1, .kind = world.kind, .target = i, .sender = 2});
    g_autoptr(GError) error = NULL;
    ck_assert(!engine_run(world.engine, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN, "first");
    ck_assert_str_eq(world.log->str, "0@1 1@1 ");
}
END_TEST

static void
stop_at_one(void *owner, const Event *event)
{
    note(owner, event);
    if (event->target == 1)
        engine_stop(world.engine);
}

START_TEST(a_stop_lets_the_instant_end)
{
    world.kind = engine_add_kind(world.engine, stop_at_one, &world);
    engine_add_settler(world.engine, settle, NULL);
    for (uint32_t i = 1; i < 4; i++)
        engine_schedule(world.engine, (Event){.when = i < 3 ? 6 : 7, .kind = world.kind, .target = i, .sender = 2});
    ck_assert(engine_run(world.engine, NULL));
    ck_assert_str_eq(world.log->str, "1@6 2@6 s ");
    ck_assert(engine_run(world.engine, NULL)); /* what was left goes on */
    ck_assert_str_eq(world.log->str, "1@6 2@6 s 3@7 s ");
}
END_TEST

/* Events 1 and 3 at 10 and 30 ps; 3 is abandoned: the run ends at 10. Taken back, it comes after all. */
START_TEST(abandoned_events_keep_no_run_going)
{
    uint32_t kind = engine_add_kind(world.engine, note, &world);
    engine_schedule(world.engine, (Event){.when = 30, .kind = kind, .target = 3});
    engine_schedule(world.engine, (Event){.when = 10, .kind = kind, .target = 1});
    engine_abandon(world.engine, 1);
    ck_assert(engine_run(world.engine, NULL));
    ck_assert_str_eq(world.log->str, "1@10 ");
    ck_assert_int_eq(engine_now(world.engine), 10);
    engine_abandon(world.engine, -1);
    ck_assert(engine_run(world.engine, NULL));
    ck_assert_str_eq(world.log->str, "1@10 3@30 ");
}
END_TEST

START_TEST(leaving_the_range_of_time_fails_the_run)
{
    world.kind = engine_add_kind(world.engine, breed, &world);
    engine_schedule(world.engine, (Event){.when = SIM_TIME_MAX - 4, .kind = world.kind, .target = 1});
    g_autoptr(GError) error = NULL;
    ck_assert(!engine_run(world.engine, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN,
                         "simulated time leaves its range of 106 days: 5 ps after 106.8 d");
}
END_TEST

static void
forever(void *owner, const Event *event)
{
    engine_schedule_in(world.engine, 1, *event);
}

static gboolean
give_up(void *owner)
{
    int *calls = owner;
    return ++*calls < 3;
}

START_TEST(a_watcher_ends_an_endless_run)
{
    int calls = 0;
    world.kind = engine_add_kind(world.engine, forever, NULL);
    engine_set_watcher(world.engine, give_up, &calls);
    engine_schedule(world.engine, (Event){.kind = world.kind});
    gint64 start = g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    ck_assert(!engine_run(world.engine, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INTERRUPTED, "interrupted at simulated time ");
    ck_assert_int_eq(calls, 3);
    ck_assert_int_ge(g_get_monotonic_time() - start, 3 * G_USEC_PER_SEC / 10);
}
END_TEST

static void
stuck(void *owner, const Event *event)
{
    engine_schedule(world.engine, *event);
}

START_TEST(a_watcher_ends_an_instant_that_never_does)
{
    int calls = 0;
    world.kind = engine_add_kind(world.engine, stuck, NULL);
    engine_set_watcher(world.engine, give_up, &calls);
    engine_schedule(world.engine, (Event){.when = 8, .kind = world.kind});
    g_autoptr(GError) error = NULL;
    ck_assert(!engine_run(world.engine, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INTERRUPTED, "interrupted at simulated time 8 ps");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("engine");
    TCase *tc = tcase_create("engine");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, all_rounds_of_an_instant_come_before_the_settlers);
    tcase_add_test(tc, what_a_settler_makes_for_now_is_a_further_round);
    tcase_add_test(tc, a_failure_ends_the_run_after_its_event);
    tcase_add_test(tc, a_stop_lets_the_instant_end);
    tcase_add_test(tc, abandoned_events_keep_no_run_going);
    tcase_add_test(tc, leaving_the_range_of_time_fails_the_run);
    tcase_add_test(tc, a_watcher_ends_an_endless_run);
    tcase_add_test(tc, a_watcher_ends_an_instant_that_never_does);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
