/* DRDA's commands: what of them a reply depends on, and how replies are framed ("Distributed Data Management
   Architecture", volume 3 of The Open Group's DRDA: DSS and terms). */
#include <stdio.h>
#include <string.h>

#include "replay.h"

enum {
    EXCSAT = 0x1041,
    ACCSEC = 0x106d,
    SECCHK = 0x106e,
    ACCRDB = 0x2001,
    CLSQRY = 0x2005,
    CNTQRY = 0x2006,
    DSCSQLSTT = 0x2008,
    EXCSQLIMM = 0x200a,
    EXCSQLSTT = 0x200b,
    OPNQRY = 0x200c,
    PRPSQLSTT = 0x200d,
    RDBCMM = 0x200e,
    RDBRLLBCK = 0x200f,
    EXCSQLSET = 0x2014
};
static const struct {
    size_t code;
    const char *name;
} COMMANDS[] = {{EXCSAT, "EXCSAT"},       {ACCSEC, "ACCSEC"},      {SECCHK, "SECCHK"},       {ACCRDB, "ACCRDB"},
                {CLSQRY, "CLSQRY"},       {CNTQRY, "CNTQRY"},      {DSCSQLSTT, "DSCSQLSTT"}, {EXCSQLIMM, "EXCSQLIMM"},
                {EXCSQLSTT, "EXCSQLSTT"}, {OPNQRY, "OPNQRY"},      {PRPSQLSTT, "PRPSQLSTT"}, {RDBCMM, "RDBCMM"},
                {RDBRLLBCK, "RDBRLLBCK"}, {EXCSQLSET, "EXCSQLSET"}};
enum {
    TYPDEFNAM = 0x002f,
    TYPDEFOVR = 0x0035,
    PRDID = 0x112e,
    SECMEC = 0x11a2,
    MGRLVLLS = 0x1404,
    RDBNAM = 0x2110,
    PKGNAMCSN = 0x2113,
    QRYINSID = 0x215b,
    SQLSTT = 0x2414
};
#define HEAD_BYTES 6 /* of a DSS: length, 0xd0, flags, correlation */
#define TERM_BYTES 4 /* of a term: length, code point */
#define LONGEST 0x7fffu
#define CHAINED 0x40        /* another DSS follows */
#define CHAINED_SAME 0x50   /* of the same correlation */
#define NO_FORM SIZE_MAX    /* for a length: this is no DSS */
#define PRODUCT_BYTES 3     /* of PRDID: the product without its release */
#define SHORT_PKGNAMCSN 64u /* its names have 18 bytes, and no lengths */
#define SHORT_NAME_BYTES 18u
static const struct key NAMED = {10, 10};

static size_t number_at(const uint8_t *at) {
    return (size_t)at[0] << 8 | at[1];
}

/* NULL: no tape holds it. */
static const char *name_of(size_t command) {
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++)
        if (COMMANDS[i].code == command) return COMMANDS[i].name;
    return NULL;
}

/* The bytes of a DSS with its continuations, 0: more are needed. */
static size_t dss_bytes(const uint8_t *at, size_t left) {
    size_t total = 0, least = HEAD_BYTES, length;
    if (left < HEAD_BYTES) return 0;
    if (at[2] != 0xd0) return NO_FORM;
    do {
        if (left - total < 2) return 0;
        length = number_at(at + total);
        if ((length & LONGEST) < least) return NO_FORM;
        if ((length & LONGEST) > left - total) return 0;
        total += length & LONGEST;
        least = 2;
    } while (length > LONGEST);
    return total;
}

size_t drda_bytes(const uint8_t *at, size_t left) {
    size_t total = 0, size;
    bool more;
    do {
        size = dss_bytes(at + total, left - total);
        if (size == 0 || size == NO_FORM) return size;
        more = (at[total + 3] & CHAINED_SAME) == CHAINED_SAME;
        total += size;
    } while (more);
    return total;
}

bool drda_well_formed(struct span reply) {
    return reply.length > 0 && drda_bytes(reply.at, reply.length) == reply.length;
}

bool drda_chained(struct span message) {
    size_t last = 0, at = 0;
    for (; at < message.length; at += dss_bytes(message.at + at, message.length - at))
        last = at;
    return message.at[last + 3] & CHAINED;
}

uint32_t drda_command(struct span message) {
    return message.length < HEAD_BYTES + TERM_BYTES ? 0 : (uint32_t)number_at(message.at + HEAD_BYTES + 2);
}

/* The next term of a body, which is taken off it; false where there is none. */
static bool next_term(struct span *body, size_t *code, struct span *value) {
    size_t size = body->length < TERM_BYTES ? 0 : number_at(body->at);
    if (size < TERM_BYTES || size > body->length) return false;
    *code = number_at(body->at + 2);
    *value = (struct span){body->at + TERM_BYTES, size - TERM_BYTES};
    *body = (struct span){body->at + size, body->length - size};
    return true;
}

/* The package and the section, without the database's name. */
static struct span section_of(struct span name) {
    size_t skipped = name.length == SHORT_PKGNAMCSN ? SHORT_NAME_BYTES : name.length < 2 ? 0 : number_at(name.at) + 2;
    if (skipped > name.length) skipped = name.length;
    return (struct span){name.at + skipped, name.length - skipped};
}

static void add_term(struct question *question, size_t code, struct span value) {
    question->key = key_add(key_number(question->key, code), value.at, value.length);
}

/* What of a login the server's replies can depend on; the rest says who logs in where. */
static void of_login(struct question *question, size_t command, size_t code, struct span value) {
    if (command == EXCSAT ? code != MGRLVLLS : code != PRDID && code != TYPDEFNAM && code != TYPDEFOVR) return;
    if (code == PRDID && value.length > PRODUCT_BYTES) value.length = PRODUCT_BYTES;
    add_term(question, code, value);
}

/* The SQL of a SQLSTT: in its first form or its second, of which the other is absent (0xff). */
static struct span sql_of(struct span value) {
    size_t skipped = value.length > 0 && value.at[0] == 0xff ? 6 : 5;
    if (value.length <= skipped) return (struct span){value.at, 0};
    value = (struct span){value.at + skipped, value.length - skipped};
    if (value.at[value.length - 1] == 0xff) value.length--;
    return value;
}

/* The objects of a command into its key; the SQL among them. */
static struct span add_objects(struct span message, size_t at, struct question *question) {
    struct span sql = {message.at, 0};
    while (at < message.length) {
        size_t size = dss_bytes(message.at + at, message.length - at), code;
        struct span body = {message.at + at + HEAD_BYTES, size - HEAD_BYTES}, value;
        question->key = key_add(question->key, body.at, body.length);
        if (next_term(&body, &code, &value) && code == SQLSTT) sql = sql_of(value);
        at += size;
    }
    return sql;
}

/* The two replies that every server gives: the mechanism that was asked for, and that the login is right. */
static void let_in(struct question *question, size_t command, struct span terms) {
    struct span value = {NULL, 0};
    size_t code = 0;
    question->meaning = DONE;
    if (command == SECCHK) {
        memcpy(question->reply, "\0\25\320\2\0\0\0\17\22\31\0\6\21\111\0\0\0\5\21\244\0", question->reply_bytes = 21);
        return;
    }
    while (code != SECMEC && next_term(&terms, &code, &value))
        ;
    if (code != SECMEC || value.length != 2 || (value.at[1] != 3 && value.at[1] != 4)) {
        unforeseen(question, "a login that encrypts; user and password are security mechanism 3");
        return;
    }
    memcpy(question->reply, "\0\20\320\2\0\0\0\12\24\254\0\6\21\242\0", 15);
    question->reply[15] = value.at[1];
    question->reply_bytes = 16;
}

/* With the objects in the key: what it does to its section, and what its section adds to the key. */
static void of_section(struct session *session, size_t command, struct span section, struct span sql,
                       struct question *question) {
    struct statement *known;
    struct key by_name = key_add(NAMED, section.at, section.length);
    if (command == EXCSQLIMM || command == EXCSQLSET || command == PRPSQLSTT)
        question->key =
            key_add(question->key, section.at, section.length < 2 ? 0 : section.length - 2); /* its number */
    if (command == EXCSQLIMM || command == EXCSQLSET) {
        if (command == EXCSQLSET || sets((const char *)sql.at, sql.length)) session_setting(session, question->key);
    } else if (command == PRPSQLSTT) {
        known = map_put(&session->statements, by_name);
        *known = (struct statement){.identity = question->key};
        snprintf(known->text, sizeof known->text, "%.*s", (int)(sql.length < TEXT_BYTES ? sql.length : TEXT_BYTES - 1),
                 (const char *)sql.at);
    } else {
        known = map_get(&session->statements, by_name);
        if (known == NULL) { /* a section that was bound with its package */
            known = map_put(&session->statements, by_name);
            known->identity = by_name;
        }
        show(question, name_of(command), known->text, strlen(known->text));
        if (command == CNTQRY) {
            question->key = key_number(key_join(question->key, known->executed), known->executions++);
            return;
        }
        question->key = key_join(question->key, known->identity);
        if (command == OPNQRY || command == EXCSQLSTT) {
            known->executed = question->key;
            known->executions = 0;
        }
    }
}

void drda_ask(struct session *session, struct span message, struct question *question) {
    size_t command = drda_command(message), code, first = dss_bytes(message.at, message.length);
    const char *name = name_of(command);
    struct span body = {message.at + HEAD_BYTES, first - HEAD_BYTES}, terms, value, section = {NULL, 0}, sql;
    question->meaning = LOOK_UP;
    question->type = 0;
    question->key = key_number((struct key){9, 9}, command);
    question->text[0] = 0;
    if (name == NULL || !next_term(&body, &code, &terms) || body.length > 0) {
        snprintf(question->text, sizeof question->text, "0x%04zx", command);
        unforeseen(question, "a command that no tape holds");
        return;
    }
    show(question, name, "", 0);
    if (command == ACCSEC || command == SECCHK) {
        let_in(question, command, terms);
        return;
    }
    while (next_term(&terms, &code, &value)) {
        if (command == EXCSAT || command == ACCRDB)
            of_login(question, command, code, value);
        else if (code == PKGNAMCSN)
            section = section_of(value);
        else if (code != QRYINSID && code != RDBNAM) /* a section has one cursor at a time */
            add_term(question, code, value);
    }
    sql = add_objects(message, first, question);
    if (sql.length > 0) show(question, name, (const char *)sql.at, sql.length);
    if (command == EXCSAT || command == ACCRDB)
        session_setting(session, question->key);
    else if (section.at != NULL)
        of_section(session, command, section, sql, question);
}

void drda_answer(struct connection *connection, struct span reply) {
    for (size_t at = 0, size; at < reply.length; at += size) {
        uint8_t head[HEAD_BYTES];
        size = dss_bytes(reply.at + at, reply.length - at);
        memcpy(head, reply.at + at, sizeof head);
        if (at + size == reply.length && connection->chained && !connection->skipping) head[3] |= CHAINED;
        memcpy(head + 4, connection->correlation, 2);
        output_copy(&connection->output, head, sizeof head);
        output_tape(&connection->output, (struct span){reply.at + at + HEAD_BYTES, size - HEAD_BYTES});
    }
}

static size_t put_term(uint8_t *at, size_t code, const void *value, size_t length) {
    at[0] = (uint8_t)((length + TERM_BYTES) >> 8);
    at[1] = (uint8_t)(length + TERM_BYTES);
    at[2] = (uint8_t)(code >> 8);
    at[3] = (uint8_t)code;
    memcpy(at + TERM_BYTES, value, length);
    return length + TERM_BYTES;
}

/* A DSS with one term; flags as at its place in the reply. */
static size_t put_dss(uint8_t *at, uint8_t flags, size_t code, const void *value, size_t length) {
    size_t size = HEAD_BYTES + put_term(at + HEAD_BYTES, code, value, length);
    memcpy(at, (uint8_t[]){(uint8_t)(size >> 8), (uint8_t)size, 0xd0, flags, 0, 0}, HEAD_BYTES);
    return size;
}

/* A SQLCARD: SQLCODE −1 and a text, or neither. */
static size_t put_sqlcard(uint8_t *at, const char *text) {
    uint8_t card[512] = {0};
    size_t length = strnlen(text, 400), used = 1;
    if (length > 0) memset(card + used, 0xff, 4);
    memcpy(card + used + 4, length > 0 ? "XXTAPROWPATH " : "     ROWPATH ", 13);
    used += 4 + 13 + 1 + 24; /* the group that follows is there; six numbers of it are 0 */
    memset(card + used, ' ', 11);
    used += 11 + 2; /* warnings, the database's name */
    card[used++] = (uint8_t)(length >> 8);
    card[used++] = (uint8_t)length;
    memcpy(card + used, text, length);
    used += length + 2;
    card[used++] = 0xff;
    return put_dss(at, 3, 0x2408, card, used);
}

bool drda_explains(struct connection *connection, const char *what) {
    if (connection->refusal[0] == 0 || strstr(what, "SYSIBM.SQLCAMESSAGE") == NULL) return false;
    drda_refuse(connection, connection->refusal);
    return true;
}

void drda_refuse(struct connection *connection, const char *text) {
    static const uint8_t DATABASE[] = "\0\6\21\111\0\10\0\26\41\20rowpath           "; /* SVRCOD 8, RDBNAM */
    uint8_t reply[1024];
    size_t used = 0;
    if (text != connection->refusal) snprintf(connection->refusal, sizeof connection->refusal, "%s", text);
    switch (connection->command) {
    case OPNQRY: used = put_dss(reply, 0x52, 0x2212, DATABASE, sizeof DATABASE - 1); break; /* OPNQFLRM */
    case CNTQRY: used = put_dss(reply, 0x52, 0x220b, DATABASE, 6); break;                   /* ENDQRYRM */
    case RDBRLLBCK: /* there is nothing that it could undo */
        used = put_dss(reply, 0x52, 0x220c, "\0\6\21\111\0\4\0\5\41\25\2", 11); /* ENDUOWRM */
        text = "";
        break;
    default: break;
    }
    if (name_of(connection->command) == NULL || connection->command <= SECCHK) {
        used = put_dss(reply, 2, 0x1254, DATABASE, 6); /* CMDCHKRM */
        connection->closing = true;
    } else
        used += put_sqlcard(reply + used, text);
    drda_answer(connection, (struct span){reply, used});
}

bool drda_let_in(struct connection *connection, const struct tape *tape) {
    uint8_t reply[512];
    if (connection->command != EXCSAT && connection->command != ACCRDB) return false;
    for (size_t i = 0; i < tape->count; i++) {
        const struct record *record = &tape->records[i];
        size_t size = record->kind == TAPE_ASK ? dss_bytes(record->reply.at, record->reply.length) : 0;
        if (size == 0 || size > sizeof reply || drda_command(record->request) != connection->command) continue;
        memcpy(reply, record->reply.at, size);
        reply[3] = 2; /* what else follows is for the recorded driver only */
        connection->stranger = true;
        drda_answer(connection, (struct span){reply, size});
        return true;
    }
    return false;
}

bool drda_startup(struct span login, struct key *startup) {
    *startup = (struct key){11, 11}; /* its settings follow as requests */
    return login.length == 0;
}
