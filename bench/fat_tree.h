/* fat_tree.h - the three-level trees that benchmarks run on
 *
 * Each of `pods` pods has `half` leaves with `half` hosts each and `half` spines; spine s of every pod is joined to
 * the cores s * half .. s * half + half - 1. With pods = 2 half it is the k-ary fat tree of Al-Fares, Loukissas,
 * Vahdat 2008 with k = pods. Full bisection. */
#pragma once

#include "fabric/fabric.h"

typedef struct {
    uint32_t half, pods;
    double rate_Bps;    /* of every link, each way */
    SimTime latency_ps; /* of every link */
} FatTree;

static inline uint32_t
fat_tree_hosts(const FatTree *tree)
{
    return tree->pods * tree->half * tree->half;
}

/* A sealed fabric; its first nodes are the hosts, in order. */
Fabric *fat_tree_new(const FatTree *tree);
