/* Record-level access: files opened, read by key and one after the other, by requests of DDM. The tables' own bytes are
   the records. */
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

enum {
    FILES = 64,
    NAME_LENGTH = 10,
    DECLARED_LENGTH = 8,
    HEAD_BYTES = 6,
    FIRST_BYTES = 0x7FFF, /* of a reply, then come packets with a length only */
    PACKET_BYTES = 0x7FFD,
    LONGEST_RECORD = 32766, /* of a file on an i */
    FEEDBACK_BYTES = 59,
    OPEN_FEEDBACK_BYTES = 98,
    READ_ONLY = 0x20,
    SEQUENTIAL = 0x80,
};

enum type { REPLY = 2, OBJECT = 3, CHAINED = 0x50 };

enum point { /* of DDM's terms */
             ACCSEC = 0x106D,
             ACCSECRD = 0x14AC,
             DCLNAM = 0x1136,
             EXCSAT = 0x1041,
             EXCSATRD = 0x1443,
             EXTNAM = 0x115E,
             PASSWORD = 0x11A1,
             SECCHK = 0x106E,
             SECCHKCD = 0x11A4,
             SECCHKRD = 0x1219,
             SECMEC = 0x11A2,
             SECTKN = 0x11DC,
             SVRCOD = 0x1149,
             S38BUF = 0xD405,
             S38CLOSE = 0xD004,
             S38CTLL = 0xD105,
             S38GET = 0xD00C,
             S38GETK = 0xD00E,
             S38GETM = 0xD00F,
             S38IOFB = 0xD402,
             S38MID = 0xD112,
             S38MSGRM = 0xD201,
             S38MTEXT = 0xD116,
             S38OPEN = 0xD011,
             S38OPNFB = 0xD404,
             S38OPTL = 0xD119,
             S38UFCB = 0xD11F,
};

static const struct {
    uint16_t point;
    const char *name;
} refused[] = {
    {0xD006, "S38CMD"}, {0xD007, "S38DEL"},  {0xD00B, "S38FEOD"},  {0xD00D, "S38GETD"},
    {0xD012, "S38PUT"}, {0xD013, "S38PUTM"}, {0xD019, "S38UPDAT"}, {0xD01C, "SXXPUTDR"},
};

enum ways { FIRST = 1, NEXT = 3, KEY_EQUAL = 0x0B }; /* to read */

struct file {
    bool open, keyed;
    uint8_t declared[DECLARED_LENGTH];
    const struct table *table;
    struct index *index;
    size_t next; /* row */
};

struct records {
    struct database *database;
    struct file files[FILES];
    struct login login;
    struct reply reply;
};

struct records *records_new(struct database *database) {
    struct records *records = calloc(1, sizeof *records);
    if (records == NULL) abort();
    records->database = database;
    return records;
}

void records_free(struct records *records) {
    if (records == NULL) return;
    free(records->reply.at);
    free(records);
}

/* A term's content, NULL unless the request has it with that many bytes at least. */
static const uint8_t *find(const uint8_t *request, size_t length, uint16_t point, size_t least, size_t *bytes) {
    for (size_t at = HEAD_BYTES + 4; at + 4 <= length; at += get16(request + at)) {
        size_t own = get16(request + at);
        if (own < 4 || own > length - at) return NULL;
        *bytes = own - 4;
        if (get16(request + at + 2) == point) return *bytes >= least ? request + at + 4 : NULL;
    }
    return NULL;
}

/* A part of a control list: one byte that says which, two of length. */
static const uint8_t *find_control(const uint8_t *list, size_t length, uint8_t which, size_t *bytes) {
    for (size_t at = 0; at + 3 <= length && list[at] != 0xFF; at += 3u + get16(list + at + 1)) {
        *bytes = get16(list + at + 1);
        if (*bytes > length - at - 3) return NULL;
        if (list[at] == which) return list + at + 3;
    }
    return NULL;
}

static size_t begin(struct reply *reply, const uint8_t *request, enum type type) {
    size_t begin = reply->length;
    uint8_t *at = reply_room(reply, HEAD_BYTES);
    at[2] = 0xD0;
    at[3] = (uint8_t)type;
    memcpy(at + 4, request + 4, 2);
    return begin;
}

static uint8_t *term(struct reply *reply, uint16_t point, size_t bytes) {
    uint8_t *at = reply_room(reply, bytes + 4);
    put16(at, (uint32_t)bytes + 4);
    put16(at + 2, point);
    return at + 4;
}

static void end(struct reply *reply, size_t begin) {
    put16(reply->at + begin, (uint32_t)(reply->length - begin));
}

/* The only term of a reply and, in it, what was put behind it. */
static void end_nested(struct reply *reply, size_t begin) {
    put16(reply->at + begin + HEAD_BYTES, (uint32_t)(reply->length - begin - HEAD_BYTES));
    end(reply, begin);
}

/* One that is longer than two bytes can say goes in packets, each behind its own length. */
static void end_in_packets(struct reply *reply) {
    size_t total = reply->length, packets;
    if (total <= FIRST_BYTES) {
        end(reply, 0);
        return;
    }
    packets = (total - FIRST_BYTES + PACKET_BYTES - 1) / PACKET_BYTES;
    reply_room(reply, 2 * packets);
    put16(reply->at, 0xFFFF);
    for (size_t i = packets; i-- > 0;) {
        size_t from = FIRST_BYTES + i * PACKET_BYTES, left = total - from;
        size_t bytes = left < PACKET_BYTES ? left : PACKET_BYTES;
        uint8_t *to = reply->at + from + 2 * (i + 1);
        memmove(to, reply->at + from, bytes);
        put16(to - 2, i + 1 == packets ? (uint32_t)bytes + 2 : 0xFFFF);
    }
}

/* `id`: NULL: nothing went wrong. */
static void message(struct reply *reply, const uint8_t *request, const char *id, const char *text) {
    size_t from = begin(reply, request, REPLY), length = strlen(text);
    uint8_t *at;
    term(reply, S38MSGRM, 0);
    put16(term(reply, SVRCOD, 2), id != NULL ? 40 : 0);
    if (id != NULL) {
        to_latin(id, 7, term(reply, S38MID, 7), 7);
        at = term(reply, S38MTEXT, length + 2);
        put16(at, (uint32_t)length);
        to_latin(text, length, at + 2, length);
    }
    end_nested(reply, from);
}

static void refuse_request(struct reply *reply, const uint8_t *request, const char *what, const char *name) {
    struct problem problem;
    refuse(&problem, "%s %s.", what, name);
    message(reply, request, "CPF4999", problem.text);
}

static void feedback(struct reply *reply, const struct table *table, size_t records) {
    uint8_t *at = term(reply, S38IOFB, FEEDBACK_BYTES);
    to_latin(table->name, strlen(table->name), at, NAME_LENGTH);
    put32(at + 10, table->data_bytes + (uint32_t)table->count);
    put16(at + 14, (uint32_t)records);
}

/* No record: at the end of the file, or for that key. */
static void none(struct reply *reply, const uint8_t *request, const struct table *table, const char *id) {
    size_t from = begin(reply, request, (enum type)(OBJECT | CHAINED));
    feedback(reply, table, 0);
    end(reply, from);
    message(reply, request, id, "No record.");
}

/* What a record takes in a block: its data, a byte a column that says whether it is NULL, its number. */
static size_t increment(const struct table *table) {
    return table->data_bytes + (size_t)table->count + 16 + (table->primary != NULL ? (size_t)table->primary->count : 0);
}

static void put_record(const struct table *table, size_t row, uint8_t *to) {
    const uint8_t *from = table_row(table, row);
    uint8_t *nulls = to + table->data_bytes;
    memcpy(to, from + 2 * table->count, table->data_bytes);
    for (int i = 0; i < table->count; i++)
        nulls[i] = is_null(from, i) ? 0xF1 : 0xF0;
    put32(nulls + table->count + 2, (uint32_t)row + 1);
}

static void reply_records(struct reply *reply, const uint8_t *request, const struct table *table, size_t row,
                          size_t records) {
    size_t bytes = records * increment(table);
    bool large = bytes + 4 > FIRST_BYTES;
    uint8_t *at;
    begin(reply, request, OBJECT);
    at = reply_room(reply, 4 + (large ? 4 : 0) + bytes);
    put16(at, large ? 0x8008 : (uint32_t)bytes + 4);
    put16(at + 2, S38BUF);
    if (large) put32(at + 4, (uint32_t)bytes);
    for (size_t i = 0; i < records; i++)
        put_record(table, row + i, at + (large ? 8 : 4) + i * increment(table));
    feedback(reply, table, records);
    end_in_packets(reply);
}

static void read_next(struct reply *reply, const uint8_t *request, struct file *file, enum ways way, size_t most) {
    size_t left;
    if (way == FIRST) file->next = 0;
    left = file->next < file->table->rows ? file->table->rows - file->next : 0;
    if (most > left) most = left;
    if (most == 0) {
        none(reply, request, file->table, "CPF5001");
        return;
    }
    reply_records(reply, request, file->table, file->next, most);
    file->next += most;
}

static void read_key(struct reply *reply, const uint8_t *request, const struct file *file, const uint8_t *key,
                     size_t length) {
    const struct table *table = file->table;
    const uint8_t *values[KEY_COLUMNS];
    size_t at = 0;
    bool whole = true;
    for (int i = 0; whole && i < file->index->count; i++) {
        const struct column *column = &table->columns[file->index->columns[i]];
        values[i] = key + at;
        at += column->bytes;
        whole = at <= length && (!is_variable(column->kind) || get16(values[i]) + 2u <= column->bytes);
    }
    if (!whole || at != length) {
        refuse_request(reply, request, "reading by", "a part of the key");
        return;
    }
    for (uint32_t found = index_first(table, file->index, values); found != 0; found = index_next(file->index, found)) {
        const uint8_t *data = table_row(table, found - 1) + 2 * table->count;
        bool same = true;
        for (int i = 0; same && i < file->index->count; i++) {
            const struct column *column = &table->columns[file->index->columns[i]];
            same = compare(column, data + column->offset, values[i]) == 0;
        }
        if (!same) continue;
        reply_records(reply, request, table, found - 1, 1);
        return;
    }
    none(reply, request, table, "CPF5006");
}

static void get(struct records *records, const uint8_t *request, size_t length, struct file *file, uint16_t point) {
    struct reply *reply = &records->reply;
    size_t bytes, control = 0;
    const uint8_t *options = find(request, length, S38OPTL, 4, &bytes);
    const uint8_t *list = find(request, length, S38CTLL, 1, &control);
    enum ways way = options == NULL ? (enum ways)0 : (enum ways)options[0];
    const uint8_t *asked = list == NULL ? NULL : find_control(list, control, point == S38GETK ? 7 : 0x10, &bytes);
    char name[16];
    snprintf(name, sizeof name, "0x%02X", (unsigned)way);
    if (point == S38GETK && file->keyed && way == KEY_EQUAL && asked != NULL)
        read_key(reply, request, file, asked, bytes);
    else if (point != S38GETK && !file->keyed && (way == FIRST || way == NEXT))
        read_next(reply, request, file, way, point == S38GETM && asked != NULL && bytes == 2 ? get16(asked) : 1);
    else
        refuse_request(reply, request, file->keyed ? "keyed file that is read by type" : "reading by type", name);
}

static const struct table *named(const struct database *database, const uint8_t *name) {
    for (const struct table *table = database->tables; table != NULL; table = table->next) {
        uint8_t own[NAME_LENGTH];
        memset(own, 0x40, sizeof own);
        if (strlen(table->name) > NAME_LENGTH) continue;
        to_latin(table->name, strlen(table->name), own, sizeof own);
        if (memcmp(own, name, sizeof own) == 0) return table;
    }
    return NULL;
}

static void open_feedback(struct reply *reply, const uint8_t *request, const struct file *file) {
    const struct table *table = file->table;
    size_t from = begin(reply, request, OBJECT);
    uint8_t *at = term(reply, S38OPNFB, OPEN_FEEDBACK_BYTES);
    at[0] = 64; /* for reading */
    memset(at + 1, 0x40, 3 * NAME_LENGTH);
    for (int i = 0; i < 3; i++) /* file, library, member */
        to_latin(i == 1 ? "ROWPATH" : table->name, i == 1 ? 7 : strlen(table->name), at + 1 + i * NAME_LENGTH,
                 NAME_LENGTH);
    put16(at + 31, table->data_bytes);
    put32(at + 35, table->data_bytes);
    put32(at + 43, (uint32_t)table->rows);
    to_latin(file->keyed ? "KU" : "AR", 2, at + 47, 2); /* unique keys, or as the records came */
    to_latin("N", 1, at + 50, 1);                       /* no file of a program's source */
    put16(at + 61, (uint32_t)(FIRST_BYTES / increment(table)));
    put16(at + 63, (uint32_t)increment(table));
    put16(at + 72, table->data_bytes);
    at[79] = 0x40; /* its fields may be NULL */
    put16(at + 80, table->data_bytes);
    put16(at + 88, CCSID_LATIN);
    put16(at + 92, table->data_bytes);
    end(reply, from);
}

static void open_file(struct records *records, const uint8_t *request, size_t length, const uint8_t *declared) {
    enum { ORDER_AT = 83, ORDER = 60 };
    struct reply *reply = &records->reply;
    size_t bytes;
    const uint8_t *block = find(request, length, S38UFCB, ORDER_AT + 3, &bytes);
    struct file *file = records->files;
    const struct table *table;
    while (file < records->files + FILES && file->open)
        file++;
    if (file == records->files + FILES)
        refuse_request(reply, request, "file beside 64 open ones", "");
    else if (block == NULL || get16(block + ORDER_AT) != ORDER || (get16(block + 46) & 0x3C) != READ_ONLY)
        refuse_request(reply, request, "opening of files", "to write");
    else if ((table = named(records->database, block)) == NULL)
        message(reply, request, "CPF4101", "File not found.");
    else if (increment(table) > LONGEST_RECORD)
        refuse_request(reply, request, "records as long as those of", table->name);
    else if (block[ORDER_AT + 2] != SEQUENTIAL && table->primary == NULL)
        message(reply, request, "CPF4131", "The file has no key.");
    else {
        *file = (struct file){.open = true, .keyed = block[ORDER_AT + 2] != SEQUENTIAL, .table = table};
        file->index = table->primary;
        memcpy(file->declared, declared, DECLARED_LENGTH);
        open_feedback(reply, request, file);
    }
}

static void exchange(struct reply *reply, const uint8_t *request) {
    size_t from = begin(reply, request, REPLY), job;
    term(reply, EXCSATRD, 0);
    job = reply->length;
    term(reply, EXTNAM, 0);
    put_job(reply);
    put16(reply->at + job, (uint32_t)(reply->length - job));
    end_nested(reply, from);
}

static void challenge(struct records *records, const uint8_t *request, size_t length) {
    struct reply *reply = &records->reply;
    size_t bytes, from = begin(reply, request, REPLY);
    const uint8_t *seed = find(request, length, SECTKN, SEED_BYTES, &bytes);
    term(reply, ACCSECRD, 0);
    put16(term(reply, SECMEC, 2), 8); /* a password that is hidden as for level 2 */
    if (seed != NULL) {
        login_challenge(&records->login, seed);
        memcpy(term(reply, SECTKN, SEED_BYTES), records->login.own_seed, SEED_BYTES);
    }
    end_nested(reply, from);
}

static void check_login(struct records *records, const uint8_t *request, size_t length) {
    enum { INVALID = 0x0F };
    struct reply *reply = &records->reply;
    size_t bytes, from = begin(reply, request, REPLY);
    const uint8_t *proof = find(request, length, PASSWORD, PROOF_BYTES, &bytes);
    records->login.done = proof != NULL && bytes == PROOF_BYTES && login_proven(&records->login, proof);
    term(reply, SECCHKRD, 0);
    put16(term(reply, SVRCOD, 2), records->login.done ? 0 : 8);
    *term(reply, SECCHKCD, 1) = records->login.done ? 0 : INVALID;
    end_nested(reply, from);
}

static void answer(struct records *records, const uint8_t *request, size_t length, uint16_t point) {
    struct reply *reply = &records->reply;
    size_t bytes;
    const uint8_t *declared = find(request, length, DCLNAM, DECLARED_LENGTH, &bytes);
    struct file *file = records->files;
    char name[16];
    snprintf(name, sizeof name, "%04X", point);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].point == point) snprintf(name, sizeof name, "%s", refused[i].name);
    while (declared != NULL && file < records->files + FILES &&
           !(file->open && memcmp(file->declared, declared, DECLARED_LENGTH) == 0))
        file++;
    bool known = point == S38OPEN || point == S38CLOSE || point == S38GET || point == S38GETK || point == S38GETM;
    if (declared == NULL || !known)
        refuse_request(reply, request, "DDM request", name);
    else if (point == S38OPEN)
        open_file(records, request, length, declared);
    else if (file == records->files + FILES)
        message(reply, request, "CPF4102", "The file is not open.");
    else if (point == S38CLOSE) {
        file->open = false;
        message(reply, request, NULL, "");
    } else
        get(records, request, length, file, point);
}

const struct reply *records_answer(struct records *records, const uint8_t *request, size_t length) {
    uint16_t point = get16(request + HEAD_BYTES + 2);
    records->reply.length = 0;
    if ((request[3] & 0xF) == OBJECT) return NULL; /* of a request that was refused */
    switch (point) {
    case EXCSAT: exchange(&records->reply, request); break;
    case ACCSEC: challenge(records, request, length); break;
    case SECCHK: check_login(records, request, length); break;
    default:
        if (!records->login.done) return NULL;
        answer(records, request, length, point);
    }
    return &records->reply;
}
