/* The one login: the client proves that it knows the token, in which user and password are, without sending it. The
   sign-on server, where the driver logs in before it reads records. */
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

void login_challenge(struct login *login, const uint8_t *their_seed) {
    if (getrandom(login->own_seed, SEED_BYTES, 0) != SEED_BYTES) abort();
    memcpy(login->their_seed, their_seed, SEED_BYTES);
}

bool login_proven(struct login *login, const uint8_t *proof) {
    static const uint8_t none[SEED_BYTES];
    uint8_t text[PROOF_BYTES + 2 * SEED_BYTES + LOGIN_NAME_BYTES + SEED_BYTES] = {0}, expected[PROOF_BYTES];
    uint8_t *at = text;
    bool exchanged = memcmp(login->own_seed, none, SEED_BYTES) != 0;
    memcpy(at, token, PROOF_BYTES);
    memcpy(at += PROOF_BYTES, login->own_seed, SEED_BYTES);
    memcpy(at += SEED_BYTES, login->their_seed, SEED_BYTES);
    at += SEED_BYTES;
    for (size_t i = 0; i < sizeof user - 1; i++)
        at[2 * i + 1] = (uint8_t)user[i];
    text[sizeof text - 1] = 1; /* the first use of these seeds */
    sha1(text, sizeof text, expected);
    memset(login->own_seed, 0, SEED_BYTES);
    return exchanged && memcmp(proof, expected, PROOF_BYTES) == 0;
}

enum { HEAD = 20, PASSWORD_INCORRECT = 0x0003000B, VERSION = 0x00070500, LEVEL = 10 };

/* A parameter behind a template, NULL unless it is there and has that many bytes. */
static const uint8_t *find(const uint8_t *request, size_t length, size_t at, uint16_t code_point, size_t bytes) {
    for (; at + 6 <= length; at += get32(request + at)) {
        uint32_t own = get32(request + at);
        if (own < 6 || own > length - at) return NULL;
        if (get16(request + at + 4) == code_point) return own == bytes + 6 ? request + at + 6 : NULL;
    }
    return NULL;
}

static uint8_t *begin(struct reply *reply, const uint8_t *request, size_t bytes) {
    uint8_t *at;
    reply->length = 0;
    at = reply_room(reply, bytes);
    memcpy(at + 6, request + 6, 10); /* server, instance, correlation */
    put16(at + 16, 4);
    put16(at + 18, 0x8000u | get16(request + 18));
    return at;
}

uint8_t *put_job(struct reply *reply) {
    static const char job[] = "000001/ROWPATH/QZDASOINIT";
    uint8_t *at = reply_room(reply, sizeof job - 1);
    to_latin(job, sizeof job - 1, at, sizeof job - 1);
    return at;
}

static void exchange_seeds(struct login *login, struct reply *reply, const uint8_t *request, size_t length) {
    uint8_t *at = begin(reply, request, 32);
    if (length < HEAD + SEED_BYTES) return;
    login_challenge(login, request + HEAD);
    at[5] = 2; /* passwords travel as for level 2 */
    memcpy(at + 24, login->own_seed, SEED_BYTES);
}

static void start_server(struct login *login, struct reply *reply, const uint8_t *request, size_t length) {
    const uint8_t *proof = find(request, length, HEAD + 2, 0x1105, PROOF_BYTES);
    uint8_t *at = begin(reply, request, 34);
    login->done = proof != NULL && login_proven(login, proof);
    if (!login->done) put32(at + 20, PASSWORD_INCORRECT);
    put16(at + 28, 0x111F);
    put32(at + 30, CCSID_LATIN);
    put_job(reply);
    put32(reply->at + 24, (uint32_t)reply->length - 24);
}

static void exchange_attributes(struct login *login, struct reply *reply, const uint8_t *request, size_t length) {
    const uint8_t *seed = find(request, length, HEAD, 0x1103, SEED_BYTES);
    uint8_t *at = begin(reply, request, 42);
    put32(at + 24, 10);
    put16(at + 28, 0x1101);
    put32(at + 30, VERSION);
    put32(at + 34, 8);
    put16(at + 38, 0x1102);
    put16(at + 40, LEVEL);
    if (seed == NULL) return;
    login_challenge(login, seed);
    memcpy(reply_parameter(reply, 0x1103, SEED_BYTES), login->own_seed, SEED_BYTES);
    *reply_parameter(reply, 0x1119, 1) = 2;
}

/* Whoever signs on gets a CCSID; what it then connects to asks for the password again. */
static void sign_on(struct login *login, struct reply *reply, const uint8_t *request, size_t length) {
    const uint8_t *proof = find(request, length, HEAD + 1, 0x1105, PROOF_BYTES);
    uint8_t *at = begin(reply, request, 24);
    if (proof == NULL || !login_proven(login, proof)) put32(at + 20, PASSWORD_INCORRECT);
    put32(reply_parameter(reply, 0x1114, 4), CCSID_LATIN);
}

bool login_answer(struct login *login, struct reply *reply, const uint8_t *request, size_t length) {
    switch (get16(request + 18)) {
    case 0x7001: exchange_seeds(login, reply, request, length); break;
    case 0x7002: start_server(login, reply, request, length); break;
    case 0x7003: exchange_attributes(login, reply, request, length); break;
    case 0x7004: sign_on(login, reply, request, length); break;
    default: return false;
    }
    put32(reply->at, (uint32_t)reply->length);
    return true;
}
