/* Requests to replies: runners/PROTOCOL.md. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session.h"

#define RP_PROTOCOL_MAJOR 3
#define RP_PROTOCOL_MINOR 0
#define RP_CODEC 2

typedef bool handler(rp_session *session, const rp_json *request, rp_writer *reply);

/* The least of several rounds: in one of them another program may take the core. */
static double clock_read_ns(void) {
    enum { rounds = 10, reads = 200 };
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        uint64_t start = rp_now_ns(), last = start;
        for (int i = 0; i < reads; i++)
            last = rp_now_ns();
        if (last - start < least) least = last - start;
    }
    return (double)least / reads;
}

static bool is_served(const rp_session *session, const char *requirement) {
    static const char *const served[] = {"touch", "digest", "clients", "interrupt", "client-groups"};
    if (strcmp(requirement, "describe") == 0) return session->adapter->describe != NULL;
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (strcmp(served[i], requirement) == 0) return true;
    return false;
}

static bool hello(rp_session *session, const rp_json *request, rp_writer *reply) {
    const rp_json *protocol = rp_json_member(request, "protocol"), *requires = rp_json_member(request, "requires");
    const rp_json *major = protocol != NULL && protocol->type == RP_JSON_LIST ? protocol->first : NULL;
    if (major == NULL || major->type != RP_JSON_NUMBER || strtol(major->text, NULL, 10) != RP_PROTOCOL_MAJOR)
        return rp_fail(RP_UNSUPPORTED, "", "this runner speaks protocol %d.%d", RP_PROTOCOL_MAJOR, RP_PROTOCOL_MINOR);
    if (rp_json_integer(request, "codec", 0) != RP_CODEC)
        return rp_fail(RP_UNSUPPORTED, "", "this runner knows codec %d", RP_CODEC);
    for (const rp_json *each = requires != NULL ? requires->first : NULL; each != NULL; each = each->next)
        if (each->type != RP_JSON_STRING || !is_served(session, each->text))
            return rp_fail(RP_UNSUPPORTED, "", "this runner does not know the requirement '%s'",
                           each->text != NULL ? each->text : "");
    const char *adapter = rp_json_text(request, "adapter", "");
    if (strcmp(adapter, session->adapter->driver) != 0)
        return rp_fail(RP_UNSUPPORTED, "", "this runner hosts '%s', not '%s'", session->adapter->driver, adapter);
    rp_write_open(reply, "protocol", '[');
    rp_write_integer(reply, NULL, RP_PROTOCOL_MAJOR);
    rp_write_integer(reply, NULL, RP_PROTOCOL_MINOR);
    rp_write_close(reply, ']');
    rp_write_integer(reply, "codec", RP_CODEC);
    rp_write_text(reply, "language", "c");
    rp_write_text(reply, "runner", "rowpath-c 0.1.0");
    rp_write_text(reply, "adapter", adapter);
    rp_write_integer(reply, "pid", getpid());
    rp_write_integer(reply, "loop_tid", syscall(SYS_gettid));
    rp_write_number(reply, "clock_read_ns", clock_read_ns());
    return true;
}

static void forget_phase(rp_session *session, rp_phase **place) {
    rp_phase *phase = *place;
    *place = phase->next;
    for (int i = 0; i < session->client_count; i++)
        if (phase->clients[i]->statement != NULL && !(i == 0 && session->abandoned))
            session->adapter->release(phase->clients[i]->statement);
    rp_arena_free(phase->arena);
}

static void disconnect(rp_session *session) {
    rp_groups_stop(session);
    while (session->phases != NULL)
        forget_phase(session, &session->phases);
    rp_clients_close(session);
    rp_arena_free(session->options.arena);
    session->options = (rp_options){0};
}

/* The request's own memory goes with the request; the options stay, for kind `connect` opens again. */
static const rp_json *keep(rp_arena *arena, const rp_json *value) {
    rp_json *copy = rp_arena_take(arena, sizeof *copy), **last = &copy->first;
    *copy = (rp_json){.type = value->type};
    if (value->key != NULL) copy->key = rp_arena_copy(arena, value->key, strlen(value->key));
    if (value->text != NULL) copy->text = rp_arena_copy(arena, value->text, strlen(value->text));
    for (const rp_json *member = value->first; member != NULL; member = member->next) {
        *last = (rp_json *)keep(arena, member);
        last = &(*last)->next;
    }
    return copy;
}

static bool open_connection(rp_session *session, const rp_json *request, rp_writer *reply) {
    const rp_json *options = rp_json_member(request, "options");
    if (options == NULL || options->type != RP_JSON_OBJECT) return rp_fail(RP_INTERNAL, "", "open without options");
    if (session->clients != NULL) return rp_fail(RP_INTERNAL, "", "a connection is open already");
    disconnect(session); /* the options of an `open` that failed */
    session->options.arena = rp_arena_new();
    session->options.object = keep(session->options.arena, options);
    int64_t server_pid = 0;
    uint64_t connect_ns = 0;
    if (!rp_clients_open(session, &server_pid, &connect_ns)) return false;
    rp_write_integer(reply, "connect_ns", (int64_t)connect_ns);
    if (server_pid > 0)
        rp_write_integer(reply, "server_pid", server_pid);
    else
        rp_write_null(reply, "server_pid");
    rp_write_open(reply, "delivers", '{');
    rp_write_close(reply, '}');
    return true;
}

static rp_phase **find_phase(rp_session *session, const char *name) {
    rp_phase **place = &session->phases;
    while (*place != NULL && strcmp((*place)->name, name) != 0)
        place = &(*place)->next;
    return place;
}

rp_phase *rp_find_phase(const rp_session *session, const char *name) {
    for (rp_phase *phase = session->phases; phase != NULL; phase = phase->next)
        if (strcmp(phase->name, name) == 0) return phase;
    rp_fail(RP_INTERNAL, "", "phase '%s' was not prepared", name);
    return NULL;
}

static bool connected(const rp_session *session) {
    if (session->abandoned) return rp_fail(RP_CONNECT_ERROR, "", "a statement that did not stop has the connection");
    return session->clients != NULL || rp_fail(RP_INTERNAL, "", "no connection is open");
}

/* The reason against it when several clients, or this adapter, cannot do such a phase. */
static bool can_serve(const rp_session *session, const rp_phase *phase) {
    if (session->client_count > 1 && phase->kind >= RP_CONNECT)
        return rp_fail(RP_UNSUPPORTED, "", "only queries and single writes are done by several clients at once");
    if (phase->bulk && (session->adapter->bulk == NULL || rp_option_is(&session->options, "bulk", "none")))
        return rp_fail(RP_UNSUPPORTED, "", "%s has no bulk way", session->adapter->driver);
    if (phase->kind == RP_LOAD && !phase->bulk && session->adapter->run == NULL)
        return rp_fail(RP_UNSUPPORTED, "", "%s has no transactions", session->adapter->driver);
    return true;
}

/* Every client's statement; the reply has the first one's time. */
static bool prepare_statements(rp_session *session, rp_phase *phase, uint64_t *first_ns) {
    if (phase->kind == RP_CONNECT) return true;
    for (int i = 0; i < session->client_count; i++) {
        rp_phase *each = phase->clients[i];
        uint64_t start = rp_now_ns();
        each->statement = session->adapter->prepare(session->clients[i].connection, each);
        if (i == 0) *first_ns = rp_now_ns() - start;
        if (each->statement == NULL) return false;
    }
    return true;
}

static bool prepare(rp_session *session, const rp_json *request, rp_writer *reply) {
    if (!connected(session)) return false;
    rp_statement_mode mode = rp_option_statement(&session->options);
    const rp_json *described = rp_json_member(request, "phase");
    rp_phase *phase =
        rp_phase_new(described, rp_json_member(request, "parameters"), session->adapter, mode == RP_LITERAL);
    if (phase == NULL) return false;
    rp_phase **place = find_phase(session, phase->name);
    if (*place != NULL) forget_phase(session, place);
    uint64_t took_ns = 0;
    bool pipelined = rp_phase_pipelined(phase, session->adapter, &session->options);
    rp_phase_divide(phase, session->client_count);
    phase->next = session->phases;
    session->phases = phase;
    if (!pipelined || !can_serve(session, phase) || !prepare_statements(session, phase, &took_ns)) {
        forget_phase(session, &session->phases);
        return false;
    }
    rp_write_integer(reply, "prepare_ns", mode == RP_PREPARED ? (int64_t)took_ns : 0);
    rp_write_integer(reply, "parameters", (int64_t)phase->parameter_count);
    return true;
}

static bool with_phase(rp_session *session, const rp_json *request, rp_writer *reply,
                       bool (*serve)(rp_session *, rp_phase *, const rp_json *, rp_writer *)) {
    if (!connected(session)) return false;
    rp_phase *phase = rp_find_phase(session, rp_json_text(request, "phase", ""));
    return phase != NULL && serve(session, phase, request, reply);
}

static bool sample(rp_session *session, const rp_json *request, rp_writer *reply) {
    return with_phase(session, request, reply, rp_sample);
}

static bool verify(rp_session *session, const rp_json *request, rp_writer *reply) {
    return with_phase(session, request, reply, rp_verify);
}

static bool client_groups(rp_session *session, const rp_json *request, rp_writer *reply) {
    return connected(session) && rp_groups_begin(session, request, reply);
}

static bool run(rp_session *session, const rp_json *request, rp_writer *reply) {
    const rp_json *statements = rp_json_member(request, "statements");
    bool ignore = rp_json_true(request, "ignore_errors");
    if (!connected(session)) return false;
    if (session->adapter->run == NULL)
        return rp_fail(RP_UNSUPPORTED, "", "%s executes no statements", session->adapter->driver);
    int count = rp_json_true(request, "every_client") ? session->client_count : 1;
    rp_write_open(reply, "ns", '[');
    for (const rp_json *each = statements != NULL ? statements->first : NULL; each != NULL; each = each->next) {
        if (each->type != RP_JSON_STRING) return rp_fail(RP_INTERNAL, "", "a statement that is no text");
        uint64_t start = rp_now_ns();
        for (int i = 0; i < count; i++)
            if (!session->adapter->run(session->clients[i].connection, each->text) && !ignore) return false;
        rp_write_integer(reply, NULL, (int64_t)(rp_now_ns() - start));
    }
    rp_write_close(reply, ']');
    rp_write_integer(reply, "clients", count);
    return true;
}

static bool interrupt(rp_session *session, const rp_json *request, rp_writer *reply) {
    return connected(session) && rp_interrupt(session, request, reply);
}

static bool describe(rp_session *session, const rp_json *request, rp_writer *reply) {
    return connected(session) && rp_describe_query(session, request, reply);
}

static bool facts(rp_session *session, const rp_json *request, rp_writer *reply) {
    (void)request;
    if (!connected(session)) return false;
    rp_facts found = {.driver_version = "", .engine_version = "", .build = "", .arena = rp_arena_new()};
    rp_write_open(&found.libraries, NULL, '{');
    rp_write_open(&found.settings, NULL, '{');
    session->adapter->facts(session->clients->connection, &found);
    rp_loaded_library(&found);
    rp_write_close(&found.libraries, '}');
    rp_write_close(&found.settings, '}');
    rp_write_text(reply, "driver_version", found.driver_version);
    rp_write_text(reply, "engine_version", found.engine_version);
    rp_write_text(reply, "build", found.build);
    rp_write_raw(reply, ",\"libraries\":");
    rp_write_raw(reply, found.libraries.data);
    rp_write_raw(reply, ",\"settings\":");
    rp_write_raw(reply, found.settings.data);
    rp_write_text(reply, "runtime", "compiled by " __VERSION__ " with " RP_COMPILER_FLAGS);
    free(found.libraries.data);
    free(found.settings.data);
    rp_arena_free(found.arena);
    return true;
}

static bool close_connection(rp_session *session, const rp_json *request, rp_writer *reply) {
    (void)request;
    uint64_t start = rp_now_ns();
    disconnect(session);
    rp_write_integer(reply, "close_ns", (int64_t)(rp_now_ns() - start));
    return true;
}

static bool bye(rp_session *session, const rp_json *request, rp_writer *reply) {
    (void)request;
    (void)reply;
    disconnect(session);
    if (session->adapter->end != NULL) session->adapter->end();
    return true;
}

static const struct {
    const char *type;
    handler *serve;
} handlers[] = {
    {"hello", hello},
    {"open", open_connection},
    {"prepare", prepare},
    {"sample", sample},
    {"verify", verify},
    {"client-groups", client_groups},
    {"run", run},
    {"client-groups-end", rp_groups_end},
    {"interrupt", interrupt},
    {"describe", describe},
    {"facts", facts},
    {"close", close_connection},
    {"bye", bye},
};

static void write_error(rp_writer *reply, int64_t id) {
    reply->length = 0;
    reply->started = false;
    rp_write_open(reply, NULL, '{');
    rp_write_integer(reply, "id", id);
    rp_write_open(reply, "error", '{');
    rp_write_error(reply, &rp_last_error);
    rp_write_close(reply, '}');
}

void rp_answer(rp_session *session, const char *line, size_t length, rp_writer *reply, bool *goodbye) {
    rp_arena *arena = rp_arena_new();
    const rp_json *request = rp_json_read(arena, line, length);
    const char *type = rp_json_text(request, "type", "");
    int64_t id = rp_json_integer(request, "id", 0);
    handler *serve = NULL;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (strcmp(handlers[i].type, type) == 0) serve = handlers[i].serve;
    reply->length = 0;
    reply->started = false;
    rp_write_open(reply, NULL, '{');
    rp_write_integer(reply, "id", id);
    if (request == NULL) {
        rp_fail(RP_INTERNAL, "", "the request is not JSON");
        write_error(reply, 0);
    } else if (serve == NULL) {
        rp_fail(RP_UNSUPPORTED, "", "this runner serves no request '%s'", type);
        write_error(reply, id);
    } else if (session->groups != NULL && serve != rp_groups_end && serve != bye) {
        rp_fail(RP_INTERNAL, "", "groups are at work: no '%s' before client-groups-end", type);
        write_error(reply, id);
    } else if (!serve(session, request, reply)) {
        write_error(reply, id);
    }
    rp_write_close(reply, '}');
    rp_write_raw(reply, "\n");
    *goodbye = serve == bye;
    rp_arena_free(arena);
}
