/* The null adapter: an operation with nothing in it, or (known-answer tests) with a known cost.
   Options: burn_ns of busy CPU in each operation, stall_ns of sleep in each stall_every-th, pause_ns of busy CPU in
   each pause_every-th (a collector's pause). */
#include <stdlib.h>

#include "rowpath.h"

typedef struct null_connection {
    uint64_t burn_ns, stall_ns, stall_every, pause_ns, pause_every, count;
    bool idle;
} null_connection;

static void *null_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    null_connection *connection = calloc(1, sizeof *connection);
    connection->burn_ns = (uint64_t)rp_option_integer(options, "burn_ns", 0);
    connection->stall_ns = (uint64_t)rp_option_integer(options, "stall_ns", 0);
    connection->stall_every = (uint64_t)rp_option_integer(options, "stall_every", 0);
    connection->pause_ns = (uint64_t)rp_option_integer(options, "pause_ns", 0);
    connection->pause_every = (uint64_t)rp_option_integer(options, "pause_every", 0);
    connection->idle = connection->burn_ns == 0 && connection->stall_every == 0 && connection->pause_every == 0;
    return connection;
}

static void *null_prepare(void *connection, rp_phase *phase) {
    if (phase->kind == RP_NOTHING) return connection;
    rp_fail(RP_UNSUPPORTED, "", "the null adapter serves phases of kind null only");
    return NULL;
}

static void burn(uint64_t ns) {
    for (uint64_t start = rp_now_ns(); rp_now_ns() - start < ns;)
        continue;
}

static bool null_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    null_connection *connection = statement;
    (void)phase, (void)row, (void)sink;
    if (connection->idle) return true;
    connection->count++;
    if (connection->burn_ns > 0) burn(connection->burn_ns);
    if (connection->pause_every > 0 && connection->count % connection->pause_every == 0) burn(connection->pause_ns);
    if (connection->stall_every > 0 && connection->count % connection->stall_every == 0)
        nanosleep(&(struct timespec){(time_t)(connection->stall_ns / 1000000000u),
                                     (long)(connection->stall_ns % 1000000000u)},
                  NULL);
    return true;
}

static void null_release(void *statement) {
    (void)statement;
}

static void null_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "none");
}

const rp_adapter rp_adapter_here = {
    .driver = "null",
    .open = null_open,
    .close = free,
    .prepare = null_prepare,
    .execute = null_execute,
    .release = null_release,
    .facts = null_facts,
};
