/* What the core's own parts share: the session with one adapter, its phases, and what a sample counts. */
#ifndef RP_SESSION_H
#define RP_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "adapter.h"
#include "arena.h"
#include "codec.h"
#include "json.h"

typedef struct rp_error {
    rp_error_kind kind;
    char code[64], text[2048];
} rp_error;

extern _Thread_local rp_error rp_last_error;
const char *rp_error_kind_name(rp_error_kind kind);
void rp_write_error(rp_writer *reply, const rp_error *error); /* its fields, into the open object */

struct rp_options {
    const rp_json *object;
    rp_arena *arena;
};

struct rp_facts {
    const char *driver_version, *engine_version, *build;
    rp_arena *arena;
    rp_writer libraries, settings;
};

/* The file of the client library, where a program of the wheel has loaded it. */
void rp_loaded_library(rp_facts *facts);

/* One connection and who uses it. */
typedef struct rp_client {
    const rp_adapter *adapter;
    const rp_options *options;
    void *connection;
} rp_client;

typedef struct rp_crew rp_crew;

typedef struct rp_groups rp_groups;

typedef struct rp_session {
    const rp_adapter *adapter;
    rp_options options;
    rp_client *clients; /* NULL: not connected */
    int client_count;
    rp_crew *crew;         /* several clients' threads; one client is the loop thread itself */
    struct rp_turn *turns; /* one for each client */
    bool abandoned;        /* a statement that could not be stopped still runs on the first connection */
    rp_phase *phases;
    rp_groups *groups; /* NULL: none are at work */
} rp_session;

/* The prepared phase of that name; NULL after rp_fail. */
rp_phase *rp_find_phase(const rp_session *session, const char *name);

/* A phase of a `prepare` request with its parameters and texts, not yet known to the adapter; NULL after rp_fail. */
rp_phase *rp_phase_new(const rp_json *phase, const rp_json *parameters, const rp_adapter *adapter, bool literal);

/* The phase's state for each of `count` clients, every one beginning at its own share of the positions. */
void rp_phase_divide(rp_phase *phase, int count);

/* Reads rows [first, first + count) of a parameter file into the phase. */
bool rp_read_parameters(rp_phase *phase, const char *file, uint64_t first, uint64_t count);

/* The byte after the placeholder, literal, quoted name or comment that begins at `at`; `at` + 1 elsewhere. */
const char *rp_sql_token_end(const char *at);

/* What a lead-in or a block of operations came to. */
typedef struct rp_sample_counters {
    uint64_t start_ns, operations, failed, ns, min_ns, max_ns, execute_ns, first_row_ns, connect_ns;
    rp_error failure; /* the first one; an empty text when there is none */
} rp_sample_counters;

#define RP_MOST_FAILURES 100
typedef _Atomic uint64_t rp_failures; /* of all clients in one sample */

/* One operation on parameter row (kind `load`: group of rows) `row`; false after rp_fail. */
bool rp_operate(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_sample_counters *counters);

/* Runs operations from the phase's position on until `duration_ns` have passed (at least one) or, when `operations` is
   not 0, exactly that many; stops early when `failures` reaches RP_MOST_FAILURES. */
void rp_run_operations(const rp_client *client, rp_phase *phase, rp_sink *sink, rp_sample_counters *counters,
                       uint64_t duration_ns, uint64_t operations, rp_failures *failures);

/* The same in pipelines of the phase's size, the last one shorter where `operations` ends in it. */
void rp_run_pipelines(const rp_client *client, rp_phase *phase, rp_sink *sink, rp_sample_counters *counters,
                      uint64_t duration_ns, uint64_t operations, rp_failures *failures);

/* One pipeline of `count` operations from parameter row `row` on: into operations and failures of the counters. */
void rp_pipeline(const rp_client *client, const rp_phase *phase, uint64_t row, uint64_t count, rp_sink *sink,
                 rp_sample_counters *counters);

/* Sets how the phase is pipelined, by the option `pipeline`; false after rp_fail: it cannot be. */
bool rp_phase_pipelined(rp_phase *phase, const rp_adapter *adapter, const rp_options *options);

/* Counts a failed operation; what it delivered since `before` counts nowhere. */
void rp_note_failure(rp_sample_counters *counters, rp_sink *sink, const rp_sink *before);

/* What one client is to do in a sample, and what came of it. */
typedef struct rp_turn {
    rp_phase *phase;
    uint64_t lead_in_ns, duration_ns, operations;
    bool idle; /* fewer operations than clients: nothing is left for this one */
    bool back; /* the block begins where the lead-in began */
    rp_failures *failures;
    rp_sample_counters lead_in, block;
    uint64_t first, rows, touch, bytes, cpu_ns, window_cpu_ns;
} rp_turn;

uint64_t rp_thread_cpu_ns(void);

/* Lead-in, `start_barrier` (NULL: no other client to wait for), block. */
void rp_take_turn(const rp_client *client, rp_turn *turn, pthread_barrier_t *start_barrier);

/* As many connections as the option `clients` has, and the threads of several clients; false after rp_fail. */
bool rp_clients_open(rp_session *session, int64_t *server_pid, uint64_t *connect_ns);
void rp_clients_close(rp_session *session);

/* All clients' turns at once, one for each; returns when the last has ended. */
void rp_clients_take_turns(rp_session *session, rp_turn *turns);

/* Replies; each handler writes its fields into the open object and returns true, or returns false after rp_fail. */
bool rp_sample(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply);
bool rp_verify(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply);
bool rp_interrupt(rp_session *session, const rp_json *request, rp_writer *reply);
bool rp_groups_begin(rp_session *session, const rp_json *request, rp_writer *reply);
bool rp_groups_end(rp_session *session, const rp_json *request, rp_writer *reply);
bool rp_describe_query(rp_session *session, const rp_json *request, rp_writer *reply);

/* Groups at work begin no further operation and are forgotten; harmless when there are none. */
void rp_groups_stop(rp_session *session);

/* The reply line to one request line; `goodbye` is set by `bye`. The session lives as long as the process. */
void rp_answer(rp_session *session, const char *line, size_t length, rp_writer *reply, bool *goodbye);

#endif
