#include "network/activity.h"

#include "base/big_array.h"
#include "base/index.h"
#include "network/all_pairs.h"

#include <assert.h>

typedef struct {
    NetworkDone done;
    void *owner;
} Client;

struct Activities {
    Engine *engine;
    const NetworkObserver *observer;
    Client *clients;
    uint32_t n_clients;
    Activity *rows;
    uint32_t n_rows, room;
    uint32_t *free_rows;
    uint32_t n_free;
    uint32_t in_flight;
    uint64_t opened;
    uint32_t kind_sent, kind_delivered;
    ActivitySent on_sent;
    void *on_sent_owner;
};

static void
tell(Activities *activities, uint32_t number, uint32_t cookie, NetworkMoment moment)
{
    Client client = activities->clients[number];
    client.done(client.owner, cookie, moment);
}

Transfer
activity_member(const Activity *activity, uint32_t member)
{
    if (activity->pairs == NULL)
        return activity->others != NULL ? activity->others[member] : activity->first;
    uint32_t others = activity->pairs->n - 1, from = member / others, to = member % others;
    return all_pairs_transfer(activity->pairs, from, to + (to >= from));
}

static void
tell_observer(Activities *activities, const Activity *activity)
{
    const NetworkObserver *observer = activities->observer;
    if (observer->transfer == NULL)
        return;
    for (uint32_t i = 0; i < activity->n_members; i++) {
        Transfer member = activity_member(activity, i);
        TransferRecord record = {.job = member.job,
                                 .iteration = member.iteration,
                                 .src_rank = member.src_rank,
                                 .dst_rank = member.dst_rank,
                                 .channel = member.channel,
                                 .src = member.src,
                                 .dst = member.dst,
                                 .bytes = member.bytes,
                                 .start_ps = activity->start_ps,
                                 .sent_ps = activity->sent_ps,
                                 .end_ps = engine_now(activities->engine)};
        observer->transfer(observer->owner, &record);
    }
}

static void
release(Activities *activities, uint32_t number)
{
    g_clear_pointer(&activities->rows[number].others, g_free);
    g_clear_pointer(&activities->rows[number].pairs, all_pairs_free);
    activities->rows[number].n_members = 0; /* not in flight */
    activities->free_rows[activities->n_free++] = number;
    activities->in_flight--;
}

static void
handle_sent(void *owner, const Event *event)
{
    activities_sent(owner, event->target);
}

static void
handle_delivered(void *owner, const Event *event)
{
    Activities *activities = owner;
    const Activity *row = &activities->rows[event->target];
    uint32_t client = row->client, cookie = row->cookie; /* who is told may open more */
    history_add(engine_history(activities->engine), activities_age(activities, event->target));
    tell_observer(activities, row);
    release(activities, event->target);
    tell(activities, client, cookie, NETWORK_DELIVERED);
}

Activities *
activities_new(Engine *engine, const NetworkObserver *observer)
{
    Activities *activities = g_new0(Activities, 1);
    activities->engine = engine;
    activities->observer = observer;
    activities->kind_sent = engine_add_kind(engine, handle_sent, activities);
    activities->kind_delivered = engine_add_kind(engine, handle_delivered, activities);
    return activities;
}

void
activities_free(Activities *activities)
{
    if (activities == NULL)
        return;
    for (uint32_t i = 0; i < activities->n_rows; i++) {
        g_free(activities->rows[i].others);
        all_pairs_free(activities->rows[i].pairs);
    }
    g_free(activities->rows);
    g_free(activities->free_rows);
    g_free(activities->clients);
    g_free(activities);
}

uint32_t
activities_add_client(Activities *activities, NetworkDone done, void *owner)
{
    activities->clients = g_renew(Client, activities->clients, activities->n_clients + 1);
    activities->clients[activities->n_clients] = (Client){done, owner};
    return activities->n_clients++;
}

static uint32_t
take_row(Activities *activities)
{
    if (activities->n_free > 0)
        return activities->free_rows[--activities->n_free];
    if (activities->n_rows == activities->room) {
        activities->room = MAX(256, 2 * activities->room);
        activities->rows = big_renew(Activity, activities->rows, activities->n_rows, activities->room);
        activities->free_rows = big_renew(uint32_t, activities->free_rows, activities->n_free, activities->room);
    }
    return activities->n_rows++;
}

uint64_t
activities_age(const Activities *activities, uint32_t activity)
{
    return activities->opened - activities->rows[activity].order;
}

static void
note_open(History *history, const Activity *activity)
{
    history_add(history, activity->n_members);
    for (uint32_t i = 0; i < (activity->pairs != NULL ? 1 : activity->n_members); i++) {
        const Transfer *member = activity->others != NULL ? &activity->others[i] : &activity->first;
        uint64_t print = fingerprint_join(0, (uint64_t)member->job << 32 | member->src_rank);
        print = fingerprint_join(print, (uint64_t)member->channel << 32 | member->dst_rank);
        print = fingerprint_join(print, fingerprint_double(member->weight));
        print = fingerprint_join(print, fingerprint_double(member->rate_cap_Bps));
        history_add(history, fingerprint_join(print, member->bytes));
    }
}

uint32_t
activities_open(Activities *activities, uint32_t client, const Bundle *bundle, uint32_t cookie, gboolean single)
{
    assert(client < activities->n_clients && (bundle->n_members > 0 || bundle->pairs != NULL));
    uint32_t number = take_row(activities);
    activities->rows[number] =
        (Activity){.client = client,
                   .cookie = cookie,
                   .order = activities->opened++,
                   .single = single,
                   .n_members = bundle_size(bundle),
                   .first = bundle->pairs != NULL ? all_pairs_transfer(bundle->pairs, 0, 1) : bundle->members[0],
                   .latency_ps = bundle->latency_ps,
                   .start_ps = engine_now(activities->engine)};
    if (bundle->pairs != NULL)
        activities->rows[number].pairs = all_pairs_copy(bundle->pairs);
    else if (bundle->n_members > 1)
        activities->rows[number].others = g_memdup2(bundle->members, bundle->n_members * sizeof *bundle->members);
    activities->in_flight++;
    if (engine_history(activities->engine) != NULL)
        note_open(engine_history(activities->engine), &activities->rows[number]);
    return number;
}

void
activities_withdraw(Activities *activities, uint32_t activity)
{
    release(activities, activity);
}

Activity *
activities_get(Activities *activities, uint32_t activity)
{
    return &activities->rows[activity];
}

uint32_t
bundle_size(const Bundle *bundle)
{
    return bundle->pairs != NULL ? all_pairs_count(bundle->pairs) : bundle->n_members;
}

const Transfer *
activity_members(const Activity *activity)
{
    assert(activity->pairs == NULL);
    return activity->others != NULL ? activity->others : &activity->first;
}

void
activities_sent(Activities *activities, uint32_t number)
{
    Activity *row = &activities->rows[number];
    row->sent_ps = engine_now(activities->engine);
    uint32_t client = row->client, cookie = row->cookie;
    history_add(engine_history(activities->engine), activities_age(activities, number));
    if (activities->on_sent != NULL)
        activities->on_sent(activities->on_sent_owner, number);
    else
        activities_delivered_in(activities, number, row->latency_ps);
    tell(activities, client, cookie, NETWORK_SENT);
}

void
activities_sent_in(Activities *activities, uint32_t activity, SimTime delay)
{
    engine_schedule_in(activities->engine, delay,
                       (Event){.kind = activities->kind_sent, .target = activity, .sender = NETWORK_SENDER});
}

void
activities_delivered_in(Activities *activities, uint32_t activity, SimTime delay)
{
    engine_schedule_in(activities->engine, delay,
                       (Event){.kind = activities->kind_delivered, .target = activity, .sender = NETWORK_SENDER});
}

void
activities_on_sent(Activities *activities, ActivitySent sent, void *owner)
{
    activities->on_sent = sent;
    activities->on_sent_owner = owner;
}

uint32_t
activities_in_flight(const Activities *activities)
{
    return activities->in_flight;
}

void
activities_fingerprint(const Activities *activities, Fingerprint *print, SimTime *oldest)
{
    Fingerprint all = {0};
    SimTime now = engine_now(activities->engine);
    for (uint32_t i = 0; i < activities->n_rows; i++) {
        const Activity *row = &activities->rows[i];
        if (row->n_members == 0)
            continue;
        Fingerprint one = {row->client, row->n_members};
        fingerprint_add(&one, activities_age(activities, i));
        fingerprint_add(&one, (uint64_t)(now - row->start_ps));
        fingerprint_add(&one, (uint64_t)row->first.src_rank << 32 | row->first.dst_rank);
        all.a += one.a;
        all.b += one.b;
        *oldest = MIN(*oldest, row->start_ps);
    }
    fingerprint_add(print, all.a);
    fingerprint_add(print, all.b);
}
