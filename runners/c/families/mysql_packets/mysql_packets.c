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

char *my_query_packet(const char *sql, size_t *length) {
    size_t body = strlen(sql) + 1;
    if (body >= MY_WHOLE_PACKET) {
        rp_fail(RP_UNSUPPORTED, "", "a query of %zu bytes does not go into one packet", body);
        return NULL;
    }
    *length = 4 + body;
    char *data = malloc(*length);
    if (data == NULL) abort();
    memcpy(data, (char[]){(char)body, (char)(body >> 8), (char)(body >> 16), 0, COM_QUERY_BYTE}, 5);
    memcpy(data + 5, sql, body - 1);
    return data;
}

bool my_refused(const my_packets *packets, const char *end, size_t readable) {
    const uint8_t *packet = (const uint8_t *)end - packets->length;
    char code[32];
    if (packets->length < 9 || packets->length > readable) return rp_fail(RP_SQL_ERROR, "", "the server refused");
    snprintf(code, sizeof code, "%u (%.5s)", packet[1] | (unsigned)packet[2] << 8, (const char *)packet + 4);
    return rp_fail(RP_SQL_ERROR, code, "%.*s", (int)packets->length - 9, (const char *)packet + 9);
}
