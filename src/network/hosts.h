/* hosts.h - the CPUs and NICs of hosts under LogGOPS: who uses which, one after another
 *
 * A host is a node; it has the CPUs and NICs that its work names, each with the time from which it is free (a NIC has
 * two, out and in). Work begins when what it needs is free, in the order that LogGOPSim has (doc/model.md): by time,
 * then as it was queued; what finds its CPU busy lines up behind its like. Whoever gave the work is then told, and says
 * how long it holds what it needs. */
#pragma once

#include "engine/engine.h"

#include <glib.h>

typedef enum {
    HOST_COMPUTE, /* needs a CPU */
    HOST_SEND,    /* a CPU and a NIC */
    HOST_ARRIVE,  /* the same, the NIC inwards */
    HOST_RECV     /* is queued when its CPU is free, and then needs nothing */
} HostWorkKind;

typedef struct {
    HostWorkKind kind;
    uint32_t node;
    uint8_t cpu, nic;
    uint32_t client;
    uint64_t cookie; /* the client's own */
} HostWork;

typedef struct Hosts Hosts;

/* The work begins now. Is told inside an event of the engine; may queue more. */
typedef void (*HostBegun)(void *owner, const HostWork *work);

Hosts *hosts_new(Engine *engine, uint32_t n_nodes); /* engine is borrowed */
void hosts_free(Hosts *hosts);                      /* NULL is fine */
uint32_t hosts_add_client(Hosts *hosts, HostBegun begun, void *owner);

/* The work can begin at this time, not before now; it is copied. */
void hosts_queue(Hosts *hosts, const HostWork *work, SimTime earliest);
/* The same, as soon as its CPU and NIC are free by what is known now. */
void hosts_queue_free(Hosts *hosts, const HostWork *work, SimTime earliest);
/* From now, when work begins, for so long; an arrival's NIC is held inwards. */
void hosts_hold(Hosts *hosts, const HostWork *work, SimTime cpu_ps, SimTime nic_ps);
/* When the CPU is free. */
SimTime hosts_cpu_free(const Hosts *hosts, uint32_t node, uint8_t cpu);

/* Adds what is held and who lines up to a fingerprint. */
void hosts_fingerprint(const Hosts *hosts, Fingerprint *print);
