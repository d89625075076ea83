/* random.h - streams of chance, each seeded by the run's seed and a name
 *
 * A stream depends on nothing but those two, so that adding one moves no other.
 * Integer methods only: the same dice on every machine. */
#pragma once

#include <stdint.h>

typedef struct {
    uint64_t state[4]; /* xoshiro256** (Blackman, Vigna 2018) */
} Random;

/* A value; seeded through splitmix64 from seed and name. */
Random random_named(uint64_t seed, const char *name);

uint64_t random_next(Random *random);

/* Uniform in [0, bound), without bias (Lemire 2019). bound > 0. */
uint64_t random_below(Random *random, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double random_unit(Random *random);

/* 64-bit finaliser: every input bit moves every output bit. */
uint64_t hash_mix(uint64_t value);

/* Of two words, order matters. */
uint64_t hash_combine(uint64_t a, uint64_t b);

/* Of a text. */
uint64_t hash_text(const char *text);
