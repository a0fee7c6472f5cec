/* The one login: the client proves that it knows the token, in which user and password are, without sending it. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ibmi.h"

enum { BLOCK = 64, LENGTH_AT = 56 };

static uint8_t token[PROOF_BYTES];
static const char user[] = "ROWPATH   "; /* ten characters */

static uint32_t rotated(uint32_t value, int by) {
    return value << by | value >> (32 - by);
}

static void sha1_block(uint32_t state[5], const uint8_t *block) {
    static const uint32_t constants[] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
    uint32_t words[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 16; i++)
        words[i] = get32(block + 4 * i);
    for (int i = 16; i < 80; i++)
        words[i] = rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t mixed = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        uint32_t next = rotated(a, 5) + mixed + e + constants[i / 20] + words[i];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* SHA-1 of a text of 56 to 119 bytes: two blocks. */
static void sha1(const uint8_t *text, size_t length, uint8_t digest[PROOF_BYTES]) {
    uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t padded[2 * BLOCK] = {0};
    memcpy(padded, text, length);
    padded[length] = 0x80;
    put32(padded + BLOCK + LENGTH_AT + 4, (uint32_t)length * 8);
    sha1_block(state, padded);
    sha1_block(state, padded + BLOCK);
    for (int i = 0; i < 5; i++)
        put32(digest + 4 * i, state[i]);
}

bool login_expect(FILE *from) {
    for (int i = 0; i < PROOF_BYTES; i++) {
        unsigned byte;
        if (fscanf(from, "%2x", &byte) != 1) return false;
        token[i] = (uint8_t)byte;
    }
    return true;
}

void login_challenge(uint8_t seed[SEED_BYTES]) {
    if (getrandom(seed, SEED_BYTES, 0) != SEED_BYTES) abort();
}

bool login_proven(const uint8_t *proof, const uint8_t *own_seed, const uint8_t *their_seed) {
    uint8_t text[PROOF_BYTES + 2 * SEED_BYTES + LOGIN_NAME_BYTES + SEED_BYTES] = {0}, expected[PROOF_BYTES];
    uint8_t *at = text;
    memcpy(at, token, PROOF_BYTES);
    memcpy(at += PROOF_BYTES, own_seed, SEED_BYTES);
    memcpy(at += SEED_BYTES, their_seed, SEED_BYTES);
    at += SEED_BYTES;
    for (size_t i = 0; i < sizeof user - 1; i++)
        at[2 * i + 1] = (uint8_t)user[i];
    text[sizeof text - 1] = 1; /* the first use of these seeds */
    sha1(text, sizeof text, expected);
    return memcmp(proof, expected, PROOF_BYTES) == 0;
}
