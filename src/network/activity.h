/* activity.h - transfers and bundles in flight, and the telling of their ends
 *
 * An activity is one network_send or network_send_bundle. The table keeps what its records need, tells its
 * client of SENT and DELIVERED, and the observer of each member; both through the engine. Numbers are used again
 * once an activity is delivered. */
#pragma once

#include "engine/engine.h"
#include "network/network.h"

typedef struct {
    uint32_t client, cookie;
    uint64_t order; /* of creation, over the run */
    gboolean single;
    uint32_t n_members;
    Transfer first;     /* member 0: job, iteration and coflow are those of all */
    Transfer *others;   /* of a bundle: all members, owned; else NULL */
    AllPairs *pairs;    /* of one of all pairs: instead of members, owned; first has its job, iteration and coflow */
    SimTime latency_ps; /* from SENT to DELIVERED */
    SimTime start_ps, sent_ps;
} Activity;

typedef struct Activities Activities;

/* All borrowed. */
Activities *activities_new(Engine *engine, const NetworkObserver *observer);
void activities_free(Activities *activities);

uint32_t activities_add_client(Activities *activities, NetworkDone done, void *owner);

/* Its number; it starts now. The members are copied. */
uint32_t activities_open(Activities *activities, uint32_t client, const Bundle *bundle, uint32_t cookie,
                         gboolean single);
/* It could not start: nobody is told. */
void activities_withdraw(Activities *activities, uint32_t activity);

/* Valid until the next activities_open. */
Activity *activities_get(Activities *activities, uint32_t activity);
const Transfer *activity_members(const Activity *activity); /* not of all pairs */
Transfer activity_member(const Activity *activity, uint32_t member);
/* Members of a bundle, listed or not. */
uint32_t bundle_size(const Bundle *bundle);

/* Its last byte has left, now: tells the client at once and schedules the rest. */
void activities_sent(Activities *activities, uint32_t activity);
/* The same in a further round of this instant, or later. */
void activities_sent_in(Activities *activities, uint32_t activity, SimTime delay);
/* Its last byte has arrived, delay after now; for models that schedule this on their own: set own_delivery. */
void activities_delivered_in(Activities *activities, uint32_t activity, SimTime delay);
/* Whom activities_sent asks instead of scheduling the delivery a latency later; NULL = nobody. */
typedef void (*ActivitySent)(void *owner, uint32_t activity);
void activities_on_sent(Activities *activities, ActivitySent sent, void *owner);

/* Adds those in flight to a fingerprint, each by how many were made after it and by its age; *oldest becomes the
 * earliest start among them where that is earlier. */
void activities_fingerprint(const Activities *activities, Fingerprint *print, SimTime *oldest);
/* Its name in the history: how many were made since. */
uint64_t activities_age(const Activities *activities, uint32_t activity);

/* Not delivered yet. */
uint32_t activities_in_flight(const Activities *activities);

/* The sender of all events of a network; in push order among themselves. */
#define NETWORK_SENDER (UINT32_MAX - 1)
