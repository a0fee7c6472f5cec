/* A tape's content as records, every length checked (src/rowpath/tape/format.py writes it). */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define HEAD_BYTES 20 /* kind, state, failed, zero, then connection, extra, and the lengths of request and reply */
#define AGAIN 3       /* an ASK whose reply is that of the record number `extra` */

static uint32_t number_at(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static const char *one_record(struct tape *tape, const uint8_t *at, size_t left, size_t *taken) {
    struct record *record = &tape->records[tape->count];
    size_t request, reply;
    if (left < HEAD_BYTES) return "it ends inside a record";
    request = number_at(at + 12);
    reply = number_at(at + 16);
    if (request > left - HEAD_BYTES || reply > left - HEAD_BYTES - request) return "a record is longer than the tape";
    *record = (struct record){at[0],
                              at[1],
                              at[2],
                              number_at(at + 4),
                              number_at(at + 8),
                              {at + HEAD_BYTES, request},
                              {at + HEAD_BYTES + request, reply}};
    *taken = HEAD_BYTES + request + reply;
    if (record->kind == TAPE_END) return record->connection == tape->count ? NULL : "records are missing";
    if (record->kind == TAPE_CONNECT) {
        if (record->connection != tape->connections++) return "its connections are not numbered in order";
    } else if (record->kind == TAPE_ASK || record->kind == AGAIN) {
        if (record->connection >= tape->connections) return "a request belongs to no connection";
        if (record->kind == AGAIN) {
            if (record->extra >= tape->count || tape->records[record->extra].kind != TAPE_ASK)
                return "a reply refers to no earlier one";
            record->reply = tape->records[record->extra].reply;
            record->kind = TAPE_ASK;
            record->extra = tape->records[record->extra].extra;
        }
        if (record->request.length == 0) return "a request is empty";
        if (strchr("ITE", record->state) == NULL || record->state == 0) return "the state of a session is unknown";
    } else
        return "a record is of an unknown kind";
    if (request > tape->longest_request) tape->longest_request = request;
    return NULL;
}

const char *tape_read(struct tape *tape, uint8_t *image, size_t length) {
    size_t room = 0, at, taken = 0;
    if (length < 8) return "it is too short";
    tape->protocol = (enum protocol)image[0];
    if (image[0] != POSTGRESQL && image[0] != MYSQL && image[0] != DRDA) return "its protocol is unknown";
    at = 8;
    for (;;) {
        const char *why;
        if (tape->count == room) {
            room = room * 2 + 64;
            tape->records = realloc(tape->records, room * sizeof *tape->records);
            if (tape->records == NULL) abort();
        }
        why = one_record(tape, image + at, length - at, &taken);
        if (why != NULL) return why;
        at += taken;
        if (tape->records[tape->count].kind == TAPE_END) break;
        tape->count++;
    }
    if (at != length) return "something follows its end";
    return tape->connections > 0 ? NULL : "it has no connection";
}
