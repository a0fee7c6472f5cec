/* PostgreSQL's frontend messages: what of them a reply depends on (protocol 3, "Message Formats" of its manual). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "replay.h"

static const struct key NAMED = {2, 2};

/* The text that begins there and ends with a zero inside the body; false where it does not. */
static bool text_in(struct span *body, struct span *text) {
    const uint8_t *end = memchr(body->at, 0, body->length);
    if (end == NULL) return false;
    *text = (struct span){body->at, (size_t)(end - body->at)};
    *body = (struct span){end + 1, body->length - text->length - 1};
    return true;
}

static struct key name_key(struct span name) {
    return key_add(NAMED, name.at, name.length);
}

static void say(struct question *question, const void *reply, size_t length) {
    question->meaning = DONE;
    memcpy(question->reply, reply, length);
    question->reply_bytes = length;
}

/* DEALLOCATE of a statement of this connection: like every other name it is the driver's own affair. */
static bool deallocates(const struct session *session, struct span sql, struct question *question) {
    char name[TEXT_BYTES], rest;
    const char *text = (const char *)sql.at;
    if (strncasecmp(text, "DEALLOCATE ", 11) != 0) return false;
    text += strncasecmp(text + 11, "PREPARE ", 8) == 0 ? 19 : 11;
    if (sscanf(text, "\"%90[^\"]\"%c", name, &rest) != 1 && sscanf(text, "%90[A-Za-z0-9_]%c", name, &rest) != 1)
        return false;
    question->name = name_key((struct span){(const uint8_t *)name, strlen(name)});
    return map_get(&session->statements, question->name) != NULL;
}

static void query(struct session *session, struct span body, struct question *question) {
    struct span sql;
    if (!text_in(&body, &sql) || body.length > 0) {
        unforeseen(question, "a malformed Query message");
        return;
    }
    question->ends = deallocates(session, sql, question);
    question->key = key_add(question->key, sql.at, question->ends ? 10 : sql.length);
    question->made.sets = sets((const char *)sql.at, sql.length);
    question->made.identity = question->key;
    show(question, "Query", (const char *)sql.at, sql.length);
}

static void parse(struct span body, struct question *question) {
    struct span name, sql;
    struct statement *made = &question->made;
    if (!text_in(&body, &name) || !text_in(&body, &sql)) {
        unforeseen(question, "a malformed Parse message");
        return;
    }
    question->name = name_key(name);
    made->identity = key_add(key_add(NAMED, sql.at, sql.length), body.at, body.length);
    made->sets = sets((const char *)sql.at, sql.length);
    snprintf(made->text, sizeof made->text, "%.*s", (int)(sql.length < TEXT_BYTES ? sql.length : TEXT_BYTES - 1),
             (const char *)sql.at);
    question->key = key_join(question->key, made->identity);
    show(question, "Parse", made->text, strlen(made->text));
}

/* What SQL itself prepared or declared: PREPARE, DECLARE. What it is follows from the statements before. */
static void by_name(struct statement *made, struct span name) {
    *made = (struct statement){.identity = key_add((struct key){8, 8}, name.at, name.length)};
    snprintf(made->text, sizeof made->text, "of \"%.60s\"", (const char *)name.at);
}

static void bind(struct session *session, struct span body, struct question *question) {
    struct span portal, name;
    const struct statement *statement;
    if (!text_in(&body, &portal) || !text_in(&body, &name)) {
        unforeseen(question, "a malformed Bind message");
        return;
    }
    statement = map_get(&session->statements, name_key(name));
    question->name = name_key(portal);
    if (statement != NULL)
        question->made = *statement;
    else
        by_name(&question->made, name);
    question->made.executions = 0;
    question->made.identity = key_add(question->made.identity, body.at, body.length);
    question->key = key_join(question->key, question->made.identity);
    show(question, "Bind", question->made.text, strlen(question->made.text));
}

/* Describe or Close. */
static void of_either(struct session *session, struct span body, struct question *question) {
    struct span name, rest = {body.at + 1, body.length - (body.length > 0)};
    bool portal = body.length > 0 && body.at[0] == 'P';
    const struct statement *known;
    if (body.length < 2 || (!portal && body.at[0] != 'S') || !text_in(&rest, &name) || rest.length > 0) {
        unforeseen(question, question->type == 'C' ? "a malformed Close message" : "a malformed Describe message");
        return;
    }
    known = map_get(portal ? &session->portals : &session->statements, name_key(name));
    if (question->type == 'C') { /* a Close of what is not there is no error */
        map_remove(portal ? &session->portals : &session->statements, name_key(name));
        say(question, "3\0\0\0\4", 5);
    } else {
        if (known == NULL) by_name(&question->made, name);
        question->made = known != NULL ? *known : question->made;
        question->key = key_join(key_number(question->key, portal), question->made.identity);
        show(question, "Describe", question->made.text, strlen(question->made.text));
    }
}

static void execute(struct session *session, struct span body, struct question *question) {
    struct span portal;
    const struct statement *known;
    if (!text_in(&body, &portal) || body.length != 4) {
        unforeseen(question, "a malformed Execute message");
        return;
    }
    known = map_get(&session->portals, name_key(portal));
    if (known == NULL) by_name(&question->made, portal);
    question->made = known != NULL ? *known : question->made;
    question->key = key_join(key_add(question->key, body.at, 4), question->made.identity);
    question->key = key_number(question->key, question->made.executions);
    question->name = name_key(portal);
    show(question, "Execute", question->made.text, strlen(question->made.text));
}

void postgresql_ask(struct session *session, uint8_t type, struct span body, struct question *question) {
    question->meaning = LOOK_UP;
    question->type = type;
    question->key = (struct key){type, 3};
    question->made.sets = question->ends = false;
    question->text[0] = 0;
    switch (type) {
    case 'Q': query(session, body, question); break;
    case 'P': parse(body, question); break;
    case 'B': bind(session, body, question); break;
    case 'D':
    case 'C': of_either(session, body, question); break;
    case 'E': execute(session, body, question); break;
    case 'H': question->meaning = NO_REPLY; break;
    case 'S':
        say(question, "Z\0\0\0\5I", 6);
        question->reply[5] = session->state;
        break;
    case 'X': question->meaning = FAREWELL; break;
    case 'd':
    case 'c':
    case 'f': unforeseen(question, "a COPY from the client"); break;
    case 'F': unforeseen(question, "a FunctionCall message"); break;
    default: unforeseen(question, "a message of an unknown type");
    }
}

void postgresql_learn(struct session *session, const struct question *question, const struct record *reply) {
    struct statement *portal;
    if (reply->failed) return;
    if (question->ends) map_remove(&session->statements, question->name);
    if (question->type == 'P')
        *(struct statement *)map_put(&session->statements, question->name) = question->made;
    else if (question->type == 'B')
        *(struct statement *)map_put(&session->portals, question->name) = question->made;
    else if (question->type == 'E' && (portal = map_get(&session->portals, question->name)) != NULL)
        portal->executions++;
    if ((question->type == 'E' || question->type == 'Q') && question->made.sets)
        session_setting(session, question->made.identity);
}

/* Everything but who logs in where, and what the program calls itself; in any order. */
bool postgresql_startup(struct span body, struct key *startup) {
    static const char *const LEFT_OUT[] = {"user", "database", "application_name"};
    if (body.length < 5) return false;
    *startup = key_add((struct key){4, 4}, body.at, 4); /* the protocol's version */
    body = (struct span){body.at + 4, body.length - 4};
    while (body.length > 1) {
        struct span name, value;
        struct key pair;
        bool left_out = false;
        if (!text_in(&body, &name) || !text_in(&body, &value)) return false;
        for (size_t i = 0; i < sizeof LEFT_OUT / sizeof *LEFT_OUT; i++)
            left_out = left_out || strcmp((const char *)name.at, LEFT_OUT[i]) == 0;
        if (left_out) continue;
        pair = key_add(key_add(NAMED, name.at, name.length), value.at, value.length);
        startup->a += pair.a;
        startup->b += pair.b;
    }
    return body.length == 1 && body.at[0] == 0;
}
