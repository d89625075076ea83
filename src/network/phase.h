/* phase.h - transfers that start together, sent again and again
 *
 * A pattern is a set of transfers of one job, prepared once; a phase is one sending of it: all members start now. It
 * means what network_send of each member would, but where the model can, and nobody else is on the members' links, it
 * is told by class: members that end in one instant and arrive in one instant, whatever their number. Fluid finds the
 * classes (flow_classes.h) at the first sending and keeps them while routes and capacities stand; a foreign event on
 * one of the links splits what is under way into members, told one by one. Other models send one by one always. */
#pragma once

#include "network/network.h"

typedef struct NetworkPattern NetworkPattern;

/* Whose moment has come. */
typedef struct {
    uint32_t class;          /* of the pattern as of this sending, whole; INDEX_NONE: members by themselves */
    const uint32_t *members; /* numbers in the pattern, ascending; valid during the call */
    uint32_t n_members;
} PhasePart;

/* cookie: as given with the sending. Of each member first SENT, then DELIVERED is told, once. May send phases. */
typedef void (*NetworkPhaseDone)(void *owner, uint32_t cookie, const PhasePart *part, NetworkMoment moment);

/* Its number is given to network_pattern_new; it is of another row than those of network_add_client. */
uint32_t network_add_phase_client(Network *network, NetworkPhaseDone done, void *owner);

/* The n > 0 transfers, all of one job, are copied. */
NetworkPattern *network_pattern_new(Network *network, uint32_t phase_client, const Transfer *transfers, uint32_t n);
/* NULL is fine. At any time before the network is freed: phases under way go on, and are told. */
void network_pattern_free(NetworkPattern *pattern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NetworkPattern, network_pattern_free)

uint32_t network_pattern_size(const NetworkPattern *pattern);
const Transfer *network_pattern_transfer(const NetworkPattern *pattern, uint32_t member);
/* Of the last sending; 0: it went one by one. Classes count from 0. */
uint32_t network_pattern_n_classes(const NetworkPattern *pattern);

/* Starts all members now, as of this iteration and coflow (those of the transfers given are not looked at). Costs
 * what its classes are where the last sending has left its links, and nobody has been there since. No route for a
 * member: FALSE with an INPUT error; members before it may be under way, and the run cannot go on. */
gboolean network_send_phase(NetworkPattern *pattern, uint32_t iteration, uint32_t coflow, uint32_t cookie,
                            GError **error);
