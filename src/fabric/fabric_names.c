/* fabric_names.c - the words for kinds of nodes and links */
#include "fabric/fabric.h"

#include <string.h>

static const char *const node_kinds[NODE_KINDS] = {
    [NODE_GPU] = "gpu",         [NODE_NVSWITCH] = "nvswitch", [NODE_PCIE] = "pcie", [NODE_NIC] = "nic",
    [NODE_LEAF] = "leaf",       [NODE_SPINE] = "spine",       [NODE_CORE] = "core", [NODE_DCI] = "dci",
    [NODE_STORAGE] = "storage", [NODE_HOST] = "host",
};

static const char *const link_kinds[LINK_KINDS] = {
    [LINK_NVLINK] = "nvlink",
    [LINK_PCIE] = "pcie",
    [LINK_ETHERNET] = "ethernet",
    [LINK_INFINIBAND] = "infiniband",
    [LINK_INTERBUILDING] = "interbuilding",
    [LINK_INTERREGION] = "interregion",
};

static const char *const forwards[] = {
    [FORWARD_NONE] = "none",
    [FORWARD_PXN] = "pxn",
    [FORWARD_MESH] = "mesh",
};

/* The place of text among words, or -1. */
static int
place_of(const char *text, const char *const *words, int n_words)
{
    for (int i = 0; i < n_words; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

const char *
node_kind_name(NodeKind kind)
{
    return node_kinds[kind];
}

const char *
link_kind_name(LinkKind kind)
{
    return link_kinds[kind];
}

const char *
forward_name(ForwardMode forward)
{
    return forwards[forward];
}

gboolean
node_kind_parse(const char *text, NodeKind *kind)
{
    int place = place_of(text, node_kinds, NODE_KINDS);
    if (place < 0)
        return FALSE;
    *kind = (NodeKind)place;
    return TRUE;
}

gboolean
link_kind_parse(const char *text, LinkKind *kind)
{
    int place = place_of(text, link_kinds, LINK_KINDS);
    if (place < 0)
        return FALSE;
    *kind = (LinkKind)place;
    return TRUE;
}

gboolean
forward_parse(const char *text, ForwardMode *forward)
{
    int place = place_of(text, forwards, G_N_ELEMENTS(forwards));
    if (place < 0)
        return FALSE;
    *forward = (ForwardMode)place;
    return TRUE;
}
