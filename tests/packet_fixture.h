/* packet_fixture.h - small fabrics with packets on them, for the tests of the packet model
 *
 * Links of 1 GB/s, so that a byte takes 1 ns; full packets of 1000 + 100 bytes; a control packet of 50. */
#pragma once

#include "network_fixture.h"

#define RATE 1e9
#define NS PS_PER_NS
#define US PS_PER_US
enum { PACKET_NS = 1100, HEADER_NS = 100, CONTROL_NS = 50 };

/* The one at work. */
extern Fixture f;

void packets_begin(void);
void packets_transport(const char *name, const TransportSetting *settings, uint32_t n);
uint32_t packets_leaf(const char *name);
uint32_t packets_host(const char *prefix, uint32_t number);
/* Hosts *a and *b with k links of 1 us between, over k - 1 switches, of the given rates (NULL = RATE). */
void packets_chain(uint32_t k, const double *rates, uint32_t *a, uint32_t *b);
/* n senders l and one receiver at one switch; the link to the receiver is returned. */
uint32_t packets_incast(uint32_t n, double rate, double last_rate, SimTime latency_ps, uint32_t *l, uint32_t *r);
void packets_send(uint32_t src, uint32_t dst, uint64_t bytes, uint32_t cookie);
PacketTotals packets_totals(void);
/* Two leaves, n_spines between; h hosts a leaf. Fills hosts (2 h) and returns the first leaf's first uplink. */
uint32_t packets_leaf_spine(uint32_t h, uint32_t n_spines, uint32_t *hosts);
