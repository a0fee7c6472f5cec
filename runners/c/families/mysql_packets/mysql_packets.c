#include "mysql_packets.h"

#include <stdio.h>
#include <stdlib.h>

#define COM_QUERY_BYTE 3
#define MY_WHOLE_PACKET 0xffffff /* a packet so long is gone on with in the next */

static void judge(my_packets *packets) {
    uint8_t kind = packets->length > 0 ? packets->head[4] : 1;
    bool continued = packets->goes_on;
    packets->goes_on = packets->length == MY_WHOLE_PACKET;
    if (continued) return;
    if (kind == 0xff) { /* an error: no row and no definition begins so */
        packets->failed = true;
        packets->at = MY_DONE;
    } else if (packets->at == MY_COUNT) {
        packets->definitions = kind == 0xfc ? packets->head[5] | (uint64_t)packets->head[6] << 8 : kind;
        packets->at = kind == 0 ? MY_DONE : MY_DEFINITIONS;
    } else if (packets->at == MY_DEFINITIONS) {
        if (--packets->definitions == 0) packets->at = MY_FIRST;
    } else {
        /* Five bytes end the definitions where the two sides have not agreed to leave that out. */
        bool definitions_end = packets->at == MY_FIRST && kind == 0xfe && packets->length == 5;
        packets->at = kind == 0xfe && !definitions_end && packets->length < MY_WHOLE_PACKET ? MY_DONE : MY_ROWS;
    }
}

void my_step(my_packets *packets, const char *at, const char *end) {
    while (at < end) {
        if (packets->skip > 0) {
            uint64_t room = (uint64_t)(end - at), skipped = packets->skip < room ? packets->skip : room;
            packets->skip -= skipped;
            at += skipped;
            continue;
        }
        packets->head[packets->have++] = (uint8_t)*at++;
        if (packets->have < 4) continue;
        packets->length = packets->head[0] | (uint32_t)packets->head[1] << 8 | (uint32_t)packets->head[2] << 16;
        size_t in_head = packets->length < MY_HEAD_BYTES - 4 ? packets->length : MY_HEAD_BYTES - 4;
        if (packets->have < 4 + in_head) continue;
        judge(packets);
        packets->skip = packets->length - in_head;
        packets->have = 0;
    }
}

/* Of zlib, which the client library brings along: its header is in another package. */
int uncompress(unsigned char *plain, unsigned long *plain_bytes, const unsigned char *packed, unsigned long bytes);

static size_t three_bytes(const uint8_t *at) {
    return at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16;
}

/* The next bytes of the head or of the body; how many. */
static size_t go_on(my_compressed *compressed, const char *at, size_t room) {
    if (compressed->left == 0) {
        compressed->head[compressed->have++] = (uint8_t)*at;
        if (compressed->have == MY_COMPRESSED_HEAD_BYTES) {
            size_t body = three_bytes(compressed->head), plain = three_bytes(compressed->head + 4);
            compressed->left = body;
            compressed->plain_bytes = plain > 0 ? plain : body;
            compressed->have = 0;
        }
        return 1;
    }
    size_t taken = compressed->left < room ? compressed->left : room;
    compressed->left -= taken;
    return taken;
}

void my_skip_compressed(my_compressed *compressed, const char *at, const char *end) {
    while (at < end)
        at += go_on(compressed, at, (size_t)(end - at));
}

static bool unpack(my_compressed *compressed, size_t body) {
    size_t plain = three_bytes(compressed->head + 4);
    unsigned long unpacked = plain;
    if (plain == 0) memcpy(compressed->plain, compressed->packed, body);
    return plain == 0 ||
           (uncompress((unsigned char *)compressed->plain, &unpacked, (unsigned char *)compressed->packed, body) == 0 &&
            unpacked == plain) ||
           rp_fail(RP_VERIFY, "", "a compressed packet of %zu bytes does not hold %zu bytes", body, plain);
}

bool my_step_compressed(my_compressed *compressed, my_packets *packets, const char *at, const char *end,
                        size_t *usual) {
    while (at < end) {
        size_t before = compressed->left, last = compressed->plain_bytes;
        size_t taken = go_on(compressed, at, (size_t)(end - at)), body = three_bytes(compressed->head);
        if (before > 0) memcpy(compressed->packed + body - before, at, taken);
        if (before == 0 && compressed->left > 0) { /* a body begins */
            if (last > *usual) *usual = last;
            compressed->packed = realloc(compressed->packed, body);
            compressed->plain = realloc(compressed->plain, compressed->plain_bytes);
            if (compressed->packed == NULL || compressed->plain == NULL) abort();
        }
        at += taken;
        if (before == 0 || compressed->left > 0) continue;
        if (!unpack(compressed, body)) return false;
        my_step(packets, compressed->plain, compressed->plain + compressed->plain_bytes);
    }
    return true;
}

char *my_query_packet(const char *sql, bool compressed, size_t *length) {
    size_t body = strlen(sql) + 1, before = compressed ? MY_COMPRESSED_HEAD_BYTES : 0;
    if (4 + body >= MY_WHOLE_PACKET) {
        rp_fail(RP_UNSUPPORTED, "", "a query of %zu bytes does not go into one packet", body);
        return NULL;
    }
    *length = before + 4 + body;
    char *data = calloc(1, *length), *packet = data + before;
    if (data == NULL) abort();
    size_t inside = 4 + body; /* of a compressed packet whose body is not compressed */
    if (compressed) memcpy(data, (char[]){(char)inside, (char)(inside >> 8), (char)(inside >> 16)}, 3);
    memcpy(packet, (char[]){(char)body, (char)(body >> 8), (char)(body >> 16), 0, COM_QUERY_BYTE}, 5);
    memcpy(packet + 5, sql, body - 1);
    return data;
}

bool my_refused(const my_packets *packets, const char *end, size_t readable) {
    const uint8_t *packet = (const uint8_t *)end - packets->length;
    char code[32];
    if (packets->length < 9 || packets->length > readable) return rp_fail(RP_SQL_ERROR, "", "the server refused");
    snprintf(code, sizeof code, "%u (%.5s)", packet[1] | (unsigned)packet[2] << 8, (const char *)packet + 4);
    return rp_fail(RP_SQL_ERROR, code, "%.*s", (int)packets->length - 9, (const char *)packet + 9);
}
