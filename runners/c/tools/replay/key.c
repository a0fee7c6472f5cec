/* Keys of requests: two lanes of multiply and fold, in the manner of wyhash. */
#include <string.h>

#include "replay.h"

static const uint64_t ODD[6] = {0x9e3779b97f4a7c15u, 0xd1b54a32d192ed03u, 0x8cb92ba72f3d8dd7u,
                                0xabc98388fb8fac03u, 0xe7037ed1a0b428dbu, 0x589965cc75374cc3u};

static uint64_t fold(uint64_t x, uint64_t y) {
    __uint128_t product = (__uint128_t)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t turned(uint64_t x) {
    return x << 29 | x >> 35;
}

static struct key words(struct key key, uint64_t x, uint64_t y) {
    uint64_t a = turned(key.a) * ODD[1] + fold(x ^ ODD[0], y ^ key.a ^ ODD[2]);
    uint64_t b = turned(key.b) * ODD[4] + fold(y ^ ODD[3], x ^ key.b ^ ODD[5]);
    return (struct key){a, b};
}

struct key key_add(struct key key, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t pair[2];
    key = words(key, length, ODD[2]);
    for (; length >= sizeof pair; at += sizeof pair, length -= sizeof pair) {
        memcpy(pair, at, sizeof pair);
        key = words(key, pair[0], pair[1]);
    }
    pair[0] = pair[1] = 0;
    if (length > 0) memcpy(pair, at, length);
    return words(key, pair[0], pair[1]);
}

struct key key_join(struct key key, struct key other) {
    return words(words(key, other.a, other.b), ODD[0], ODD[1]);
}

struct key key_number(struct key key, uint64_t number) {
    return words(words(key, number, ODD[4]), ODD[3], ODD[5]);
}

bool key_equal(struct key one, struct key other) {
    return one.a == other.a && one.b == other.b;
}
