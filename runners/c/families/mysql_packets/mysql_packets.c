#include "mysql_packets.h"

#include <stdio.h>
#include <stdlib.h>

#define COM_QUERY_BYTE 3
#define MY_MOST_ERROR_BYTES 1024
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

/* `plain` has room for `plain_bytes`. */
static bool unpack(const uint8_t *packed, size_t bytes, char *plain, size_t plain_bytes) {
    unsigned long unpacked = plain_bytes;
    return uncompress((unsigned char *)plain, &unpacked, packed, bytes) == 0 && unpacked == plain_bytes;
}

bool my_step_compressed(my_compressed *compressed, my_packets *packets, const char *at, const char *end) {
    while (at < end) {
        if (compressed->have < MY_COMPRESSED_HEAD_BYTES) {
            compressed->head[compressed->have++] = (uint8_t)*at++;
            continue;
        }
        size_t body = three_bytes(compressed->head), plain = three_bytes(compressed->head + 4);
        if (compressed->have == MY_COMPRESSED_HEAD_BYTES) {
            my_free_compressed(compressed);
            compressed->packed = malloc(body + 1);
            compressed->plain = malloc(plain + 1);
            if (compressed->packed == NULL || compressed->plain == NULL) abort();
        }
        size_t in_body = compressed->have - MY_COMPRESSED_HEAD_BYTES, room = (size_t)(end - at);
        size_t taken = body - in_body < room ? body - in_body : room;
        memcpy(compressed->packed + in_body, at, taken);
        at += taken;
        compressed->have += taken;
        if (in_body + taken < body) return true;
        compressed->have = 0;
        compressed->plain_bytes = plain > 0 ? plain : body;
        if (plain == 0) {
            char *unchanged = compressed->packed;
            compressed->packed = compressed->plain;
            compressed->plain = unchanged;
        } else if (!unpack((const uint8_t *)compressed->packed, body, compressed->plain, plain)) {
            return rp_fail(RP_VERIFY, "", "a compressed packet of %zu bytes does not hold %zu bytes", body, plain);
        }
        my_step(packets, compressed->plain, compressed->plain + compressed->plain_bytes);
    }
    return true;
}

void my_free_compressed(my_compressed *compressed) {
    free(compressed->packed);
    free(compressed->plain);
    compressed->packed = compressed->plain = NULL;
}

bool my_compressed_error(const char *at, size_t length) {
    const uint8_t *head = (const uint8_t *)at;
    char plain[MY_MOST_ERROR_BYTES];
    if (length < MY_COMPRESSED_HEAD_BYTES + 5 || length != MY_COMPRESSED_HEAD_BYTES + three_bytes(head)) return false;
    size_t unpacked = three_bytes(head + 4);
    if (unpacked == 0) return head[MY_COMPRESSED_HEAD_BYTES + 4] == 0xff;
    return unpacked <= sizeof plain &&
           unpack(head + MY_COMPRESSED_HEAD_BYTES, length - MY_COMPRESSED_HEAD_BYTES, plain, unpacked) &&
           (uint8_t)plain[4] == 0xff;
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
