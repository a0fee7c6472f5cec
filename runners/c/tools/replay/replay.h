/* The replay server's parts: keys, the tape in memory with its answers, sessions, the three protocols. */
#ifndef RP_REPLAY_H
#define RP_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BYTES 96 /* of a statement, in refusals */
#define IDLE 'I'      /* the state of a session outside a transaction; within one 'T', after an error 'E' */

/* key.c: 128 bits, so that two different requests of one tape never look alike by chance. */
struct key {
    uint64_t a, b;
};
struct key key_add(struct key key, const void *bytes, size_t length);
struct key key_join(struct key key, struct key other);
struct key key_number(struct key key, uint64_t number);
bool key_equal(struct key one, struct key other);

/* map.c: from keys to values of one size; values move when a key is put. */
struct map {
    size_t value_bytes, slots, used, filled;
    unsigned char *memory; /* of each slot: its key, whether it is empty, used or removed, its value */
};
void *map_get(const struct map *map, struct key key);
void *map_put(struct map *map, struct key key); /* a new value is all zeros */
void map_remove(struct map *map, struct key key);
void map_clear(struct map *map);

/* A span of bytes that belongs to someone else. */
struct span {
    const uint8_t *at;
    size_t length;
};

/* tape.c: the records of a tape. */
enum { TAPE_END, TAPE_CONNECT, TAPE_ASK };
struct record {
    uint8_t kind, state, failed; /* the session's state after it; whether the reply is an error */
    uint32_t connection, extra;  /* of MySQL's PREPARE: its number of parameters */
    struct span request, reply;
};
enum protocol { POSTGRESQL = 'p', MYSQL = 'm', DRDA = 'd' };
struct tape {
    enum protocol protocol;
    size_t count, connections, longest_request;
    struct record *records;
};
/* What is wrong with it, NULL: nothing. */
const char *tape_read(struct tape *tape, uint8_t *image, size_t length);

/* What was prepared or bound on a connection. */
struct statement {
    struct key identity, types, long_data, executed;
    uint64_t executions;
    uint32_t parameters;
    bool sets; /* it changes the session's settings */
    char text[TEXT_BYTES];
};

/* session.c: one connection, recorded or live. */
struct session {
    struct key startup, settings, chain; /* chain: the requests of the transaction so far */
    uint8_t state;
    uint32_t last_statement;
    struct map statements, portals, seen_settings, occurrences;
};
void session_begin(struct session *session, struct key startup);
void session_end(struct session *session);
void session_setting(struct session *session, struct key setting);
bool sets(const char *sql, size_t length);

/* What a message means. */
enum meaning {
    LOOK_UP,   /* the tape has the reply, or refuses */
    NO_REPLY,  /* there is none */
    DONE,      /* the protocol itself says the reply: `reply` */
    FAREWELL,  /* the connection ends */
    UNFORESEEN /* `why` */
};
struct question {
    enum meaning meaning;
    uint8_t type;
    struct key key;  /* of LOOK_UP */
    struct key name; /* of the statement or portal that the reply makes or ends */
    struct statement made;
    bool ends; /* SQL that ends the statement `name` */
    uint8_t reply[24];
    size_t reply_bytes;
    const char *why;
    char text[TEXT_BYTES + 64]; /* the request, for people */
};
/* question.c */
void show(struct question *question, const char *what, const char *text, size_t length);
void unforeseen(struct question *question, const char *why);
/* postgresql.c, mysql.c, drda.c: what the message asks, and what the session learns from the reply to it. */
void postgresql_ask(struct session *session, uint8_t type, struct span body, struct question *question);
void postgresql_learn(struct session *session, const struct question *question, const struct record *reply);
bool postgresql_startup(struct span body, struct key *startup);
void mysql_ask(struct session *session, struct span payload, struct question *question);
uint32_t mysql_learn(struct session *session, const struct question *question, const struct record *reply);
bool mysql_startup(struct span payload, struct key *startup);
void drda_ask(struct session *session, struct span message, struct question *question); /* it learns at once */
bool drda_startup(struct span login, struct key *startup);
/* The bytes of a command with its objects, or of a reply; 0: more are needed, SIZE_MAX: it is none. */
size_t drda_bytes(const uint8_t *at, size_t left);
bool drda_well_formed(struct span reply);
bool drda_chained(struct span message); /* another command follows at once */
uint32_t drda_command(struct span message);

/* answers.c: every answer of a tape, found by the request. */
struct answers {
    const struct tape *tape;
    struct map found; /* key → struct answer */
    size_t requests, ambiguous;
};
/* What is wrong with the tape, NULL: nothing. */
const char *answers_make(struct answers *answers, const struct tape *tape);
const struct record *answers_connect(const struct answers *answers, struct key startup);
/* NULL: the tape has none. */
const struct record *answers_find(const struct answers *answers, struct session *session, struct key key);
void session_move(struct session *session, struct key key, uint8_t state);

/* output.c: what a connection still has to send, in order: bytes of its own and bytes of the tape. */
struct output {
    struct span *spans;
    size_t count, room, first; /* those before `first` are sent */
    uint8_t *own;
    size_t own_used, own_room;
    size_t waiting; /* bytes */
};
void output_tape(struct output *output, struct span bytes); /* the bytes stay where they are */
void output_copy(struct output *output, const void *bytes, size_t length);
/* False when the connection is broken; what the socket does not take yet stays. */
bool output_send(struct output *output, int socket, size_t chunk_bytes);
void output_free(struct output *output);

/* login.c: how a connection begins, without any password. */
struct connection {
    struct connection *next;
    int socket;
    bool logged_in, skipping, closing; /* skipping: after an error, up to the next Sync, or the end of a chain */
    bool flushing;                     /* the protocol demands that what waits is sent */
    bool chained;                      /* of DRDA: the last command is not the last of its chain */
    bool stranger;                     /* of DRDA: the tape's driver, or its settings, are others */
    uint8_t correlation[2];            /* of DRDA's last command */
    char refusal[400];                 /* of DRDA: the last one */
    uint32_t number, events, command;
    uint8_t *input;
    size_t filled, room;
    struct output output;
    struct session session;
};
void greet(const struct answers *answers, struct connection *connection);
/* The bytes that it took of a first message, 0: more is needed, or the connection is closing. */
size_t log_in(const struct answers *answers, struct connection *connection, const uint8_t *at, size_t length);
void refuse(const struct answers *answers, struct connection *connection, const char *why, const char *what);
extern size_t refusals;
/* drda.c: a reply in the place that its command has in a chain; one that says no. */
void drda_answer(struct connection *connection, struct span reply);
/* Answer a login that was not recorded: drivers show only what is refused later. False: it is no login. */
bool drda_let_in(struct connection *connection, const struct tape *tape);
/* A driver calls a procedure for the words of an error: it is refused with the words of what was refused before. */
bool drda_explains(struct connection *connection, const char *what);
void drda_refuse(struct connection *connection, const char *text);

/* serve.c */
struct options {
    const char *unix_path;
    int port;
    size_t chunk_bytes; /* the most bytes that one `send` takes; 0: any number */
    uint64_t late_ns;
};
void serve(const struct answers *answers, const struct options *options);

#endif
