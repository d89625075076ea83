/* account.h - what a rank does at every instant of its iteration: exactly one of four things
 *
 * compute (a compute op runs); exposed transfer (no compute, a communication op whose last participant has
 * arrived is in flight); exposed wait (neither, one is issued and waits for a participant); idle. DEFINITIONS 5.
 * Kept as three counters and four sums. */
#pragma once

#include "base/sim_time.h"

#include <assert.h>

typedef enum { ACCOUNT_COMPUTE, ACCOUNT_TRANSFER, ACCOUNT_WAIT, ACCOUNT_IDLE, ACCOUNT_CLASSES } AccountClass;

typedef struct {
    SimTime start_ps, since_ps;
    SimTime sum[ACCOUNT_CLASSES];
    uint32_t running[ACCOUNT_IDLE]; /* ops of each class that are going on */
} Account;

static inline void
account_open(Account *account, SimTime now)
{
    *account = (Account){.start_ps = now, .since_ps = now};
}

/* Books the time since the last change; call it before the counters change, and at the end. */
static inline void
account_book(Account *account, SimTime now)
{
    AccountClass class = ACCOUNT_COMPUTE;
    while (class < ACCOUNT_IDLE && account->running[class] == 0)
        class ++;
    account->sum[class] += now - account->since_ps;
    account->since_ps = now;
}

static inline void
account_change(Account *account, SimTime now, AccountClass class, int change)
{
    account_book(account, now);
    assert(change > 0 || account->running[class] > 0);
    account->running[class] += (uint32_t)change;
}
