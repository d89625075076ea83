#include "support.h"

#include "base/index.h"
#include "base/random.h"
#include "network/link_clock.h"

#include <string.h>

/* The slow and obvious account: each member's own count, brought up at every step. */
enum { LINKS = 150, MEMBERS = 600, ROUNDS = 2000 };

typedef struct {
    uint32_t link; /* INDEX_NONE = not there */
    Count left;
} Member;

typedef struct {
    Member members[MEMBERS];
    double rate_Bps[LINKS];
    SimTime now;
} Account;

static void
advance(Account *account, SimTime to)
{
    for (uint32_t m = 0; m < MEMBERS; m++)
        if (account->members[m].link != INDEX_NONE)
            account->members[m].left -= count_speed(account->rate_Bps[account->members[m].link]) * (to - account->now);
    account->now = to;
}

static SimTime
first_end(const Account *account)
{
    SimTime first = SIM_TIME_MAX, time;
    for (uint32_t m = 0; m < MEMBERS; m++) {
        const Member *member = &account->members[m];
        if (member->link != INDEX_NONE && count_time(member->left, account->rate_Bps[member->link], &time))
            first = MIN(first, account->now + time);
    }
    return first;
}

static void
change(Account *account, LinkClocks *clocks, Random *dice)
{
    uint32_t m = (uint32_t)random_below(dice, MEMBERS), link = (uint32_t)random_below(dice, LINKS);
    Member *member = &account->members[m];
    ck_assert_uint_eq(link_clocks_link(clocks, m), member->link);
    if (random_below(dice, 3) == 0) {
        account->rate_Bps[link] = random_below(dice, 5) == 0 ? 0 : 1e9 / (double)(1 + random_below(dice, 40));
        link_clocks_set_rate(clocks, link, account->rate_Bps[link], account->now);
        ck_assert_double_eq(link_clocks_rate(clocks, link), account->rate_Bps[link]);
    } else if (member->link == INDEX_NONE) {
        *member = (Member){link, (Count)(1 + random_below(dice, 3000)) * BYTE};
        link_clocks_join(clocks, link, m, member->left, account->now);
    } else {
        ck_assert(link_clocks_left(clocks, m, account->now) == member->left);
        ck_assert(link_clocks_leave(clocks, m, account->now) == member->left);
        member->link = INDEX_NONE;
    }
}

static void
take(Account *account, LinkClocks *clocks)
{
    uint32_t n, n_due = 0;
    for (uint32_t m = 0; m < MEMBERS; m++)
        n_due += account->members[m].link != INDEX_NONE && account->members[m].left <= 0;
    const uint32_t *taken = link_clocks_take(clocks, account->now, &n);
    ck_assert_uint_eq(n, n_due);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert(account->members[taken[i]].left <= 0 && account->members[taken[i]].link != INDEX_NONE);
        account->members[taken[i]].link = INDEX_NONE;
    }
}

START_TEST(clocks_by_link_equal_an_account_by_member)
{
    Random dice = random_named((uint64_t)_i, "link-clock");
    g_autofree Account *account = g_new0(Account, 1);
    for (uint32_t m = 0; m < MEMBERS; m++)
        account->members[m].link = INDEX_NONE;
    LinkClocks *clocks = link_clocks_new(LINKS);
    uint32_t n_ends = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t n = random_below(&dice, 4); n > 0; n--)
            change(account, clocks, &dice);
        SimTime expected = first_end(account), end;
        ck_assert_int_eq(link_clocks_first(clocks, &end), expected < SIM_TIME_MAX);
        ck_assert_int_eq(end, expected);
        SimTime next = account->now + 1 + (SimTime)random_below(&dice, 400000);
        if (expected > next) {
            advance(account, next);
            continue;
        }
        advance(account, expected);
        take(account, clocks);
        n_ends++;
    }
    ck_assert_uint_gt(n_ends, 300);
    link_clocks_free(clocks);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("link-clock");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, clocks_by_link_equal_an_account_by_member, 0, 10);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
