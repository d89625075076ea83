/* ib_names.h - what the descriptions of InfiniBand devices tell: names of switches, chassis, hosts and devices
 *
 * A switch is described as "MF0;NAME:MODEL/U1" (the module of a director: "/S01/U1"), a CA as "HOST DEVICE", by some
 * drivers as "DEVICE HOST", and where nobody set it by its model's name. Every char * is the caller's to free. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* "NAME", of a director's module "NAME/S01"; else the description. */
char *ib_switch_name(const char *description);
/* "NAME"; "" where there is none. */
char *ib_chassis_name(const char *description);
/* "mlx5_5", "HCA-6", "ibp11s0f0"; "" where there is none. */
char *ib_device_word(const char *description);
/* 5 of "mlx5_5" and of "HCA-6", which count from 0 and from 1; -1 of others. */
int32_t ib_device_rail(const char *word);

typedef struct {
    GPtrArray *names;                   /* of char *: of the hosts, by number */
    uint32_t n_aggregation, n_nameless; /* CAs */
    /* private */
    GHashTable *seen, *shared, *numbers;
} IbHosts;

/* Of CAs: first each is seen, then each is asked for. */
IbHosts *ib_hosts_new(void);
void ib_hosts_free(IbHosts *hosts); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IbHosts, ib_hosts_free)
void ib_hosts_see(IbHosts *hosts, const char *description);
/* The host's number, INDEX_NONE for an aggregation node. system: "" = not known. */
uint32_t ib_hosts_of(IbHosts *hosts, const char *id, const char *description, const char *system);
