/* The loop: operations one by one with chained stamps. */
#include "session.h"

uint64_t rp_thread_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Kind `connect`: a second, fresh connection, its first query, and closing it. */
static bool connect_once(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    const rp_adapter *adapter = client->adapter;
    int64_t server_pid = 0;
    uint64_t start = rp_now_ns();
    void *connection = adapter->open(client->options, &server_pid);
    span->connect_ns += rp_now_ns() - start;
    if (connection == NULL) return false;
    void *statement = adapter->prepare(connection, phase);
    bool good = statement != NULL && adapter->execute(statement, phase, row, sink);
    if (statement != NULL) adapter->release(statement);
    adapter->close(connection);
    return good;
}

/* Kind `load` the way of every driver: one row after the other. */
static bool store_rows(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink) {
    for (uint64_t last = row + phase->rows_per_operation; row < last; row++)
        if (!client->adapter->execute(phase->statement, phase, row, sink) || sink->broken) return false;
    return true;
}

static bool in_transaction(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink) {
    const rp_adapter *adapter = client->adapter;
    if (!adapter->run(client->connection, "BEGIN")) return false;
    bool good = phase->kind == RP_LOAD ? store_rows(client, phase, row, sink)
                                       : adapter->execute(phase->statement, phase, row, sink) && !sink->broken;
    if (good && adapter->run(client->connection, "COMMIT")) return true;
    rp_error first = rp_last_error;
    adapter->run(client->connection, "ROLLBACK");
    rp_last_error = first;
    return false;
}

static bool connect_or_load(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    if (phase->kind == RP_CONNECT) return connect_once(client, phase, row, sink, span);
    row *= phase->rows_per_operation;
    if (phase->bulk) return client->adapter->bulk(phase->statement, phase, row, phase->rows_per_operation);
    return in_transaction(client, phase, row, sink);
}

static inline bool operate(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    bool good;
    if (RP_UNLIKELY(phase->kind >= RP_CONNECT))
        good = connect_or_load(client, phase, row, sink, span);
    else if (RP_UNLIKELY(phase->transaction && client->adapter->run != NULL))
        good = in_transaction(client, phase, row, sink);
    else
        good = client->adapter->execute(phase->statement, phase, row, sink);
    return good && !sink->broken;
}

bool rp_operate(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    return operate(client, phase, row, sink, span);
}

static void note_failure(rp_span *span, rp_sink *sink, const rp_sink *before) {
    if (span->failed++ == 0) span->failure = rp_last_error;
    sink->rows = before->rows; /* what a failed operation delivered counts nowhere */
    sink->touch = before->touch;
    sink->bytes = before->bytes;
    sink->broken = false;
}

static void note_stamps(rp_span *span, const rp_sink *sink, uint64_t start) {
    if (sink->executed_at_ns != 0) span->execute_ns += sink->executed_at_ns - start;
    if (sink->first_row_at_ns != 0) span->first_row_ns += sink->first_row_at_ns - start;
}

void rp_run_span(const rp_client *client, rp_phase *phase, rp_sink *sink, rp_span *span, uint64_t duration_ns,
                 uint64_t operations, rp_failures *failures) {
    *span = (rp_span){.min_ns = UINT64_MAX};
    uint64_t wrap = phase->wrap, row = phase->position % wrap, done = 0;
    uint64_t start = rp_now_ns(), previous = start;
    do {
        const rp_sink before = {.rows = sink->rows, .touch = sink->touch, .bytes = sink->bytes};
        if (RP_UNLIKELY(phase->stamps)) {
            sink->stamped = sink->watched = true;
            sink->executed_at_ns = sink->first_row_at_ns = 0;
        }
        bool good = operate(client, phase, row, sink, span);
        uint64_t now = rp_now_ns(), took = now - previous;
        if (RP_UNLIKELY(!good)) {
            note_failure(span, sink, &before);
            if (atomic_fetch_add(failures, 1) + 1 >= RP_MOST_FAILURES) operations = done + 1;
        } else {
            span->operations++;
            if (took < span->min_ns) span->min_ns = took;
            if (took > span->max_ns) span->max_ns = took;
            if (RP_UNLIKELY(phase->stamps)) note_stamps(span, sink, previous);
        }
        previous = now;
        done++;
        if (++row == wrap) row = 0;
    } while (operations != 0 ? done < operations : previous - start < duration_ns);
    span->start_ns = start;
    span->ns = previous - start;
    if (span->operations == 0) span->min_ns = 0;
    phase->position += done;
}

void rp_take_turn(const rp_client *client, rp_turn *turn, pthread_barrier_t *meet) {
    rp_sink sink = {0};
    rp_phase *phase = turn->phase;
    uint64_t begins = phase->position, window_cpu = rp_thread_cpu_ns();
    if (turn->lead_in_ns > 0 && !turn->idle)
        rp_run_span(client, phase, &sink, &turn->lead_in, turn->lead_in_ns, 0, turn->failures);
    if (turn->back) phase->position = begins;
    sink.rows = sink.touch = sink.bytes = 0;
    turn->first = phase->position;
    if (meet != NULL) pthread_barrier_wait(meet);
    uint64_t cpu = rp_thread_cpu_ns();
    if (!turn->idle)
        rp_run_span(client, phase, &sink, &turn->block, turn->duration_ns, turn->operations, turn->failures);
    uint64_t cpu_end = rp_thread_cpu_ns();
    turn->rows = sink.rows;
    turn->touch = sink.touch;
    turn->bytes = sink.bytes;
    turn->cpu_ns = cpu_end - cpu;
    turn->window_cpu_ns = cpu_end - window_cpu;
}
