/* layout.h - how the members of a collective lie on servers, and the channels over them (DEFINITIONS 4)
 *
 * Members are grouped by server, servers in the order of their first member. Channel k carries bytes [cut[k], cut[k +
 * 1]), uses NIC k of each server, enters there at the member nearest to that NIC and visits the others in member order.
 */
#pragma once

#include "collective/collective.h"

typedef struct {
    uint32_t n, n_servers, n_channels;
    uint32_t *first;     /* n_servers + 1: where a server's members begin in `members` */
    uint32_t *members;   /* n, grouped by server, rising within one */
    uint32_t *server_of; /* n: member to server (0 .. n_servers - 1, not the fabric's number) */
    uint32_t *nic;       /* [channel * n_servers + server]: node, INDEX_NONE = leave it to the routes */
    uint32_t *entry;     /* [channel * n_servers + server]: offset of the entering member within its server */
} Layout;

/* channels: 0 = NICs per server of the members: those joined to a member over PCIe, the least of all servers; 1 where
 * there are none or all members sit in one server. */
Layout *layout_new(const Fabric *fabric, const uint32_t *nodes, uint32_t n, uint32_t channels);
void layout_free(Layout *layout); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Layout, layout_free)

/* All n members in the order in which channel k visits them, into order. */
void layout_order(const Layout *layout, uint32_t channel, uint32_t *order);
/* The same, beginning at root: its server first, rotated to it. */
void layout_order_from(const Layout *layout, uint32_t channel, uint32_t root, uint32_t *order);
/* The NIC that member uses towards (or from) another one in this channel; INDEX_NONE within a server. */
uint32_t layout_nic(const Layout *layout, uint32_t channel, uint32_t member, uint32_t other);

/* Bytes [cut[k], cut[k + 1]) of channel k into cut (n_channels + 1): equal parts, or in proportion to weight. */
void layout_cut(const Layout *layout, uint64_t bytes, const double *weight, uint64_t *cut);
