/* model.h - what a network model is made of: one file and one line in network.c's table
 *
 * A model embeds NetworkBase as its first member. */
#pragma once

#include "network/network.h"

typedef struct {
    const char *name, *help;
    gboolean moves_bytes;
    Network *(*create)(const NetworkConfig *config, Routes *routes, Engine *engine, const NetworkObserver *observer);
    void (*destroy)(Network *network);
    gboolean (*send_bundle)(Network *network, uint32_t client, const Bundle *bundle, uint32_t cookie, gboolean single, GError **error);
    void (*set_link)(Network *network, uint32_t link, double rate_Bps);
    gboolean (*probe)(Network *network, const Transfer *transfer, NetworkProbe *probe, GError **error);
    void (*finish)(Network *network);
} NetworkModel;

extern const NetworkModel network_fluid, network_analytic, network_recorded;
