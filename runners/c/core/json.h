/* A strict JSON reader (RFC 8259, into an arena) and a writer of one object a line. */
#ifndef RP_JSON_H
#define RP_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

typedef enum rp_json_type {
    RP_JSON_NULL,
    RP_JSON_FALSE,
    RP_JSON_TRUE,
    RP_JSON_NUMBER,
    RP_JSON_STRING,
    RP_JSON_LIST,
    RP_JSON_OBJECT
} rp_json_type;

typedef struct rp_json {
    rp_json_type type;
    const char *key;  /* in an object */
    const char *text; /* of a string, or a number as it was written */
    struct rp_json *first, *next;
} rp_json;

/* The value of a text; NULL when it is not JSON, nests deeper than 32 levels or holds the character U+0000. */
const rp_json *rp_json_read(rp_arena *arena, const char *text, size_t length);

/* Members: NULL, or `fallback`, when absent or of another type. */
const rp_json *rp_json_member(const rp_json *object, const char *key);
const char *rp_json_text(const rp_json *object, const char *key, const char *fallback);
int64_t rp_json_integer(const rp_json *object, const char *key, int64_t fallback);
double rp_json_number(const rp_json *object, const char *key, double fallback);
bool rp_json_true(const rp_json *object, const char *key);
bool rp_json_true_unless(const rp_json *object, const char *key); /* unless it is false */

typedef struct rp_writer {
    char *data;
    size_t length, capacity;
    bool started; /* a member was written: the next needs a comma */
} rp_writer;

void rp_write_raw(rp_writer *writer, const char *text);
void rp_write_open(rp_writer *writer, const char *key, char bracket); /* key NULL: in a list, or the whole */
void rp_write_close(rp_writer *writer, char bracket);
void rp_write_text(rp_writer *writer, const char *key, const char *text);
void rp_write_integer(rp_writer *writer, const char *key, int64_t value);
void rp_write_number(rp_writer *writer, const char *key, double value);
void rp_write_hexadecimal(rp_writer *writer, const char *key, uint64_t value);
void rp_write_boolean(rp_writer *writer, const char *key, bool value);
void rp_write_null(rp_writer *writer, const char *key);

#endif
