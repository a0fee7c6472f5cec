#include "codec.h"

static const uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                      prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

static uint64_t read_u64(const uint8_t *at) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static uint64_t read_u32(const uint8_t *at) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t stir(uint64_t accumulator, uint64_t lane) {
    return rotate(accumulator + lane * prime2, 31) * prime1;
}

uint64_t rp_xxh64(const void *data, size_t length) {
    const uint8_t *at = data, *end = at + length;
    uint64_t hash = prime5;
    if (length >= 32) {
        uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
        for (; end - at >= 32; at += 32)
            for (int i = 0; i < 4; i++)
                lanes[i] = stir(lanes[i], read_u64(at + 8 * i));
        hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (int i = 0; i < 4; i++)
            hash = (hash ^ stir(0, lanes[i])) * prime1 + prime4;
    }
    hash += length;
    for (; end - at >= 8; at += 8)
        hash = rotate(hash ^ stir(0, read_u64(at)), 27) * prime1 + prime4;
    if (end - at >= 4) {
        hash = rotate(hash ^ read_u32(at) * prime1, 23) * prime2 + prime3;
        at += 4;
    }
    for (; at < end; at++)
        hash = rotate(hash ^ *at * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}
