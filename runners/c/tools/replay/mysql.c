/* Commands of MySQL and MariaDB: what of them a reply depends on ("Command Phase" of MySQL's protocol documentation,
   "Client/Server Protocol" of MariaDB's). */
#include <stdio.h>
#include <string.h>

#include "replay.h"

enum {
    QUIT = 0x01,
    INIT_DB = 0x02,
    QUERY = 0x03,
    PING = 0x0e,
    PREPARE = 0x16,
    EXECUTE = 0x17,
    LONG_DATA = 0x18,
    CLOSE = 0x19,
    RESET = 0x1a,
    SET_OPTION = 0x1b,
    FETCH = 0x1c,
    RESET_CONNECTION = 0x1f,
    BULK_EXECUTE = 0xfa
};
#define LAST_PREPARED 0xffffffffu /* MariaDB's name for it */
#define HEAD_BYTES 10             /* of EXECUTE: command, statement, flags, iterations */
#define COUNT_IS_SENT 8           /* flag: the number of parameters follows (query attributes) */
/* The capabilities that shape replies: FOUND_ROWS, LONG_FLAG, NO_SCHEMA, IGNORE_SPACE, PROTOCOL_41, TRANSACTIONS,
   MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS, SESSION_TRACK, DEPRECATE_EOF, OPTIONAL_METADATA,
   QUERY_ATTRIBUTES. */
#define SHAPING 0x0b872316u
#define LONG_PASSWORD 1u /* not set: a client that knows MariaDB's own capabilities */
#define PROTOCOL_41 0x200u
static const struct key NAMED = {5, 5};

static uint32_t number_at(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static struct statement *statement_of(struct session *session, struct span payload, struct question *question) {
    uint32_t number;
    struct statement *found;
    if (payload.length < 5) {
        unforeseen(question, "a malformed command");
        return NULL;
    }
    number = number_at(payload.at + 1);
    if (number == LAST_PREPARED) number = session->last_statement;
    question->name = key_number(NAMED, number);
    found = map_get(&session->statements, question->name);
    if (found == NULL) unforeseen(question, "a command for a statement that this connection has not prepared");
    return found;
}

/* The types are sent with the first execution only; the key has them always. */
static void execute(struct session *session, struct span payload, struct question *question) {
    struct statement *known = statement_of(session, payload, question);
    size_t at = HEAD_BYTES, count, bits;
    if (known == NULL) return;
    question->made = *known;
    show(question, "EXECUTE", known->text, strlen(known->text));
    if (payload.length < HEAD_BYTES) {
        unforeseen(question, "a malformed EXECUTE");
        return;
    }
    count = known->parameters;
    if (payload.at[5] & COUNT_IS_SENT && payload.length > at) {
        count = payload.at[at++];
        if (count > 250) {
            unforeseen(question, "an EXECUTE with more than 250 parameters and attributes");
            return;
        }
    }
    bits = (count + 7) / 8;
    question->key = key_join(key_add(question->key, payload.at + 5, 5), known->identity);
    question->key = key_join(question->key, known->long_data);
    if (count > 0) {
        size_t typed = at + bits + 1;
        if (payload.length < typed) {
            unforeseen(question, "a malformed EXECUTE");
            return;
        }
        question->key = key_add(question->key, payload.at + at, bits);
        at = typed;
        if (payload.at[typed - 1] == 1) {
            if (payload.length < typed + 2 * count) {
                unforeseen(question, "a malformed EXECUTE");
                return;
            }
            question->made.types = key_add(NAMED, payload.at + typed, 2 * count);
            at = typed + 2 * count;
        }
        question->key = key_join(question->key, question->made.types);
    }
    question->key = key_add(question->key, payload.at + at, payload.length - at);
}

static void of_statement(struct session *session, struct span payload, struct question *question) {
    struct statement *known = statement_of(session, payload, question);
    if (known == NULL) return;
    question->made = *known;
    question->key = key_add(question->key, payload.at + 5, payload.length - 5);
    switch (question->type) {
    case LONG_DATA:
        known->long_data = key_add(known->long_data, payload.at + 5, payload.length - 5);
        question->meaning = NO_REPLY;
        break;
    case CLOSE:
        map_remove(&session->statements, question->name);
        question->meaning = NO_REPLY;
        break;
    case FETCH:
        question->key = key_number(key_join(question->key, known->executed), known->executions);
        show(question, "FETCH", known->text, strlen(known->text));
        break;
    default:
        question->key = key_join(question->key, known->identity);
        show(question, question->type == RESET ? "RESET" : "BULK EXECUTE", known->text, strlen(known->text));
    }
}

void mysql_ask(struct session *session, struct span payload, struct question *question) {
    struct statement *made = &question->made;
    const char *sql = (const char *)payload.at + 1;
    question->meaning = LOOK_UP;
    question->type = payload.length > 0 ? payload.at[0] : 0;
    question->key = (struct key){question->type, 6};
    made->sets = false;
    question->text[0] = 0;
    switch (question->type) {
    case QUIT: question->meaning = FAREWELL; break;
    case QUERY:
    case PREPARE:
        *made = (struct statement){.sets = sets(sql, payload.length - 1)};
        snprintf(made->text, sizeof made->text, "%.*s",
                 (int)(payload.length < TEXT_BYTES ? payload.length - 1 : TEXT_BYTES - 1), sql);
        made->identity = question->key = key_add(question->key, sql, payload.length - 1);
        show(question, question->type == QUERY ? "QUERY" : "PREPARE", made->text, strlen(made->text));
        break;
    case EXECUTE: execute(session, payload, question); break;
    case LONG_DATA:
    case CLOSE:
    case RESET:
    case FETCH:
    case BULK_EXECUTE: of_statement(session, payload, question); break;
    case INIT_DB:
        show(question, "INIT_DB", sql, payload.length - 1);
        break; /* which database is not the tape's affair */
    case PING:
    case SET_OPTION:
    case RESET_CONNECTION:
        question->key = key_add(question->key, sql, payload.length - 1);
        snprintf(question->text, sizeof question->text, "command 0x%02x", question->type);
        break;
    default: unforeseen(question, "a command that no tape holds");
    }
}

/* The number of the statement that a PREPARE made, 0: none. */
uint32_t mysql_learn(struct session *session, const struct question *question, const struct record *reply) {
    struct statement *known;
    if (question->type == PREPARE && !reply->failed) {
        uint32_t number = ++session->last_statement;
        known = map_put(&session->statements, key_number(NAMED, number));
        *known = question->made;
        known->parameters = reply->extra;
        return number;
    }
    if (question->type == RESET_CONNECTION && !reply->failed) {
        map_clear(&session->statements);
        map_clear(&session->seen_settings);
        session->settings = (struct key){0, 0};
    }
    known = map_get(&session->statements, question->name);
    if (question->type == EXECUTE && known != NULL) {
        known->types = question->made.types;
        known->long_data = (struct key){0, 0};
        known->executed = question->key;
        known->executions = 0;
    } else if (question->type == FETCH && known != NULL) {
        known->executions++;
    } else if (question->type == RESET && known != NULL) {
        known->long_data = (struct key){0, 0};
    }
    if ((question->type == EXECUTE || question->type == QUERY) && question->made.sets && !reply->failed)
        session_setting(session, question->key);
    return 0;
}

bool mysql_startup(struct span payload, struct key *startup) {
    uint32_t flags, own;
    if (payload.length < 32) return false;
    flags = number_at(payload.at);
    own = flags & LONG_PASSWORD ? 0 : number_at(payload.at + 28);
    if (!(flags & PROTOCOL_41)) return false;
    *startup = key_number((struct key){7, 7}, flags & SHAPING);
    *startup = key_number(key_number(*startup, own), payload.at[8]); /* MariaDB's own capabilities, the character set */
    return true;
}
