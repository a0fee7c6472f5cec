/* Every answer of a tape: the recorded sessions are gone through as live ones are, so that both make the same keys.

   A request is known by itself as long as all its recorded replies are equal. Where they differ it is known together
   with the transaction's requests before it; where they differ still, by how often the connection has asked it. */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

enum { BY_REQUEST, BY_TRANSACTION, BY_OCCURRENCE, LEVELS };
struct answer {
    const struct record *record;
    uint64_t differs; /* two recorded replies of that key differ */
};
static const struct key CONNECTED = {1, 1};

/* DRDA's drivers end a transaction when they like to: whether one is open changes no reply. */
static struct key in_session(const struct answers *answers, const struct session *session, struct key key) {
    key = key_join(key_join(key, session->startup), session->settings);
    return answers->tape->protocol == DRDA ? key : key_number(key, session->state);
}

static bool same(const struct record *one, const struct record *other) {
    return one->reply.length == other->reply.length && one->state == other->state && one->failed == other->failed &&
           (one->reply.at == other->reply.at || memcmp(one->reply.at, other->reply.at, one->reply.length) == 0);
}

static struct key occurrence(struct session *session, struct key key) {
    uint64_t *count = map_put(&session->occurrences, key);
    return key_number(key, ++*count);
}

/* The key of a level; false where a level before it decides. */
static bool deciding(const struct map *found, struct session *session, struct key *key, int level) {
    for (int i = 0; i < level; i++) {
        const struct answer *answer = map_get(found, *key);
        if (answer == NULL || !answer->differs) return false;
        *key = i == BY_REQUEST ? key_join(*key, session->chain) : occurrence(session, *key);
    }
    return true;
}

static bool put(struct map *found, struct key key, const struct record *record, bool prepares) {
    struct answer *answer = map_put(found, key);
    if (answer->record == NULL)
        answer->record = record;
    else if (!prepares && !same(answer->record, record)) /* the number of a prepared statement is ours to choose */
        answer->differs = 1;
    return answer->differs != 0;
}

static const char *question_of(const struct tape *tape, struct session *session, const struct record *record,
                               struct question *question) {
    struct span request = record->request;
    if (tape->protocol == MYSQL) {
        mysql_ask(session, request, question);
    } else if (tape->protocol == DRDA) {
        if (drda_bytes(request.at, request.length) != request.length) return "a recorded message is malformed";
        if (!drda_well_formed(record->reply)) return "a recorded reply is malformed";
        drda_ask(session, request, question);
    } else {
        if (request.length < 5) return "a recorded message is too short";
        postgresql_ask(session, request.at[0], (struct span){request.at + 5, request.length - 5}, question);
    }
    if (question->meaning == UNFORESEEN) return question->why;
    return question->meaning == FAREWELL ? "a recorded message ends the connection" : NULL;
}

static bool startup_of(const struct tape *tape, struct span login, struct key *startup) {
    switch (tape->protocol) {
    case MYSQL: return mysql_startup(login, startup);
    case DRDA: return drda_startup(login, startup);
    default: return postgresql_startup(login, startup);
    }
}

static const char *pass(struct answers *answers, struct session *sessions, int level) {
    const struct tape *tape = answers->tape;
    struct question question = {0};
    for (size_t i = 0; i < tape->count; i++) {
        const struct record *record = &tape->records[i];
        struct session *session = &sessions[record->connection];
        const char *why;
        struct key key, moved;
        if (record->kind == TAPE_CONNECT) {
            struct key startup;
            if (!startup_of(tape, record->request, &startup)) return "a recorded login is not one of this protocol";
            if (level == BY_REQUEST) put(&answers->found, key_join(CONNECTED, startup), record, true);
            session_begin(session, startup);
            continue;
        }
        if ((why = question_of(tape, session, record, &question)) != NULL) return why;
        if (question.meaning != LOOK_UP) continue;
        answers->requests += level == BY_REQUEST;
        key = moved = in_session(answers, session, question.key);
        if (deciding(&answers->found, session, &key, level)) {
            bool prepares = tape->protocol == MYSQL && question.type == 0x16 && !record->failed;
            answers->ambiguous += put(&answers->found, key, record, prepares) && level == LEVELS - 1;
        }
        session_move(session, moved, record->state);
        if (tape->protocol == MYSQL)
            mysql_learn(session, &question, record);
        else if (tape->protocol == POSTGRESQL)
            postgresql_learn(session, &question, record);
    }
    return NULL;
}

const char *answers_make(struct answers *answers, const struct tape *tape) {
    struct session *sessions = calloc(tape->connections, sizeof *sessions);
    const char *why = NULL;
    if (sessions == NULL) abort();
    *answers = (struct answers){.tape = tape, .found.value_bytes = sizeof(struct answer)};
    for (int level = BY_REQUEST; level < LEVELS && why == NULL; level++) {
        why = pass(answers, sessions, level);
        for (size_t i = 0; i < tape->connections; i++)
            session_end(&sessions[i]);
    }
    free(sessions);
    return why;
}

const struct record *answers_connect(const struct answers *answers, struct key startup) {
    const struct answer *answer = map_get(&answers->found, key_join(CONNECTED, startup));
    return answer != NULL ? answer->record : NULL;
}

const struct record *answers_find(const struct answers *answers, struct session *session, struct key key) {
    const struct answer *answer;
    struct key known = key = in_session(answers, session, key);
    for (int level = BY_REQUEST;; level++) {
        answer = map_get(&answers->found, known);
        if (answer == NULL || (answer->differs && level == BY_OCCURRENCE)) return NULL;
        if (!answer->differs) break;
        known = level == BY_REQUEST ? key_join(known, session->chain) : occurrence(session, known);
    }
    session_move(session, key, answer->record->state);
    return answer->record;
}
