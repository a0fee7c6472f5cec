/* How a connection begins: whoever asks is let in, on loopback, to nothing but the tape. And how requests are refused.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "replay.h"

#define SSL_REQUEST 80877103u
#define GSS_REQUEST 80877104u
#define CANCEL_REQUEST 80877102u
#define LONGEST_LOGIN_BYTES 65536u
#define SALT_BYTES 8
#define SHOWN_REFUSALS 20

size_t refusals;

static uint32_t big_endian(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

static size_t put_big_endian(uint8_t *at, uint32_t number) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
    return 4;
}

static void postgresql_error(struct connection *connection, const char *text) {
    uint8_t message[512];
    size_t at = 5;
    const char *severity = connection->logged_in ? "ERROR" : "FATAL";
    at += (size_t)sprintf((char *)message + at, "S%s", severity) + 1;
    at += (size_t)sprintf((char *)message + at, "V%s", severity) + 1;
    at += (size_t)sprintf((char *)message + at, "CXXTAP") + 1;
    at += (size_t)snprintf((char *)message + at, 400, "M%.390s", text) + 1;
    message[at++] = 0;
    message[0] = 'E';
    put_big_endian(message + 1, (uint32_t)at - 1);
    output_copy(&connection->output, message, at);
}

static void mysql_error(struct connection *connection, const char *text, uint8_t sequence) {
    uint8_t packet[512];
    size_t length = (size_t)snprintf((char *)packet + 13, 400, "%.390s", text) + 9;
    packet[0] = (uint8_t)length;
    packet[1] = (uint8_t)(length >> 8);
    packet[2] = 0;
    packet[3] = sequence;
    packet[4] = 0xff;
    packet[5] = 1105 & 255;
    packet[6] = 1105 >> 8;
    memcpy(packet + 7, "#HY000", 6);
    output_copy(&connection->output, packet, length + 4);
}

void refuse(const struct answers *answers, struct connection *connection, const char *why, const char *what) {
    char text[400];
    if (answers->tape->protocol == DRDA && drda_explains(connection, what)) return;
    snprintf(text, sizeof text, "the tape has no answer: %s%s%s", why, *what ? ": " : "", what);
    if (refusals++ < SHOWN_REFUSALS) fprintf(stderr, "%s\n", text);
    if (answers->tape->protocol == MYSQL)
        mysql_error(connection, text, connection->logged_in ? 1 : 2);
    else if (answers->tape->protocol == DRDA)
        drda_refuse(connection, text);
    else
        postgresql_error(connection, text);
}

static void let_in(struct connection *connection, struct key startup) {
    session_begin(&connection->session, startup);
    connection->logged_in = true;
}

/* The greeting of the tape's first connection, with this one's number and a salt of its own. */
void greet(const struct answers *answers, struct connection *connection) {
    const struct span *recorded = &answers->tape->records[0].reply;
    uint8_t packet[300], salt[20];
    size_t length = recorded->length > 0 ? recorded->at[0] : 0, version, second;
    if (answers->tape->protocol == DRDA) { /* the login is a request like others */
        struct key startup;
        drda_startup((struct span){NULL, 0}, &startup);
        let_in(connection, startup);
    }
    if (answers->tape->protocol != MYSQL) return;
    if (length + 1 > recorded->length) length = recorded->length - (recorded->length > 0);
    memcpy(packet + 4, recorded->at + 1, length);
    packet[0] = (uint8_t)length;
    packet[1] = packet[2] = packet[3] = 0;
    if (getrandom(salt, sizeof salt, 0) != (ssize_t)sizeof salt) memset(salt, 'x', sizeof salt);
    for (size_t i = 0; i < sizeof salt; i++)
        salt[i] = (uint8_t)(33 + salt[i] % 90);                             /* no zero, for that would end it */
    version = strnlen((char *)packet + 5, length > 1 ? length - 1 : 0) + 6; /* after the version's zero */
    second = version + 4 + SALT_BYTES + 1 + 18;
    if (second + 13 <= length + 4) {
        for (int i = 0; i < 4; i++)
            packet[version + (size_t)i] = (uint8_t)(connection->number >> 8 * i);
        memcpy(packet + version + 4, salt, SALT_BYTES);
        memcpy(packet + second, salt + SALT_BYTES, sizeof salt - SALT_BYTES);
    }
    output_copy(&connection->output, packet, length + 4);
}

static size_t postgresql_log_in(const struct answers *answers, struct connection *connection, const uint8_t *at,
                                size_t length) {
    uint8_t tail[32] = "K";
    size_t size, used;
    uint32_t code;
    struct key startup;
    const struct record *record;
    if (length < 8) return 0;
    size = big_endian(at);
    code = big_endian(at + 4);
    if (size < 8 || size > LONGEST_LOGIN_BYTES || code == CANCEL_REQUEST) {
        connection->closing = true;
        return 0;
    }
    if (length < size) return 0;
    if (code == SSL_REQUEST || code == GSS_REQUEST) {
        output_copy(&connection->output, "N", 1);
        return size;
    }
    record = postgresql_startup((struct span){at + 4, size - 4}, &startup) ? answers_connect(answers, startup) : NULL;
    if (record == NULL) {
        refuse(answers, connection, "it was recorded with other settings of the connection (such as client_encoding)",
               "");
        connection->closing = true;
        return size;
    }
    output_copy(&connection->output, "R\0\0\0\10\0\0\0\0", 9);
    output_tape(&connection->output, record->reply);
    used = 1 + put_big_endian(tail + 1, 12);
    used += put_big_endian(tail + used, (uint32_t)getpid()); /* the process whose CPU this session takes */
    if (getrandom(tail + used, 4, 0) != 4) memset(tail + used, 0, 4);
    memcpy(tail + used + 4, "Z\0\0\0\5I", 6);
    output_copy(&connection->output, tail, used + 10);
    let_in(connection, startup);
    return size;
}

static size_t mysql_log_in(const struct answers *answers, struct connection *connection, const uint8_t *at,
                           size_t length) {
    size_t size;
    struct key startup;
    const struct record *record;
    uint8_t head[4];
    if (length < 4) return 0;
    size = (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16;
    if (size > LONGEST_LOGIN_BYTES || at[3] != 1) {
        connection->closing = true;
        return 0;
    }
    if (length < size + 4) return 0;
    record = mysql_startup((struct span){at + 4, size}, &startup) ? answers_connect(answers, startup) : NULL;
    /* The reply: a byte with the greeting's length, the greeting, then what the server said to the login. */
    if (record == NULL || record->reply.length < 1 || record->reply.length < (size_t)record->reply.at[0] + 2 ||
        record->reply.length - record->reply.at[0] > 256) {
        refuse(answers, connection, "it was recorded with other capabilities or another character set of the client",
               "");
        connection->closing = true;
        return size + 4;
    }
    head[0] = (uint8_t)(record->reply.length - record->reply.at[0] - 1);
    head[1] = head[2] = 0;
    head[3] = 2;
    output_copy(&connection->output, head, 4);
    output_copy(&connection->output, record->reply.at + 1 + record->reply.at[0], head[0]);
    let_in(connection, startup);
    return size + 4;
}

size_t log_in(const struct answers *answers, struct connection *connection, const uint8_t *at, size_t length) {
    connection->flushing = true;
    return (answers->tape->protocol == MYSQL ? mysql_log_in : postgresql_log_in)(answers, connection, at, length);
}
