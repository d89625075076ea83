#include "base/random.h"

#include <assert.h>

/* splitmix64 (Steele, Lea, Flood 2014): the finaliser is Stafford's variant 13. */
static uint64_t
splitmix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(*state);
}

static uint64_t
rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

Random
random_named(uint64_t seed, const char *name)
{
    uint64_t state = hash_combine(seed, hash_text(name));
    Random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = splitmix(&state);
    return random;
}

uint64_t
random_next(Random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t
random_below(Random *random, uint64_t bound)
{
    assert(bound > 0);
    unsigned __int128 product = (unsigned __int128)random_next(random) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound; /* 2^64 mod bound: draws below it would come too often */
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)random_next(random) * bound;
    }
    return (uint64_t)(product >> 64);
}

double
random_unit(Random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

uint64_t
hash_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t
hash_combine(uint64_t a, uint64_t b)
{
    return hash_mix(hash_mix(a + UINT64_C(0x9e3779b97f4a7c15)) + b);
}

/* FNV-1a, finished so that short texts differ in every bit. */
uint64_t
hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash_mix(hash);
}
