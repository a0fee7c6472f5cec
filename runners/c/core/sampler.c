/* Samples: operations one by one with chained stamps, what all clients are to do, and what came of it. */
#include "session.h"

uint64_t rp_thread_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Kind `connect`: a second, fresh connection, its first query, and closing it. */
static bool connect_once(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink,
                         rp_sample_counters *counters) {
    const rp_adapter *adapter = client->adapter;
    int64_t server_pid = 0;
    uint64_t start = rp_now_ns();
    void *connection = adapter->open(client->options, &server_pid);
    counters->connect_ns += rp_now_ns() - start;
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

static bool connect_or_load(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink,
                            rp_sample_counters *counters) {
    if (phase->kind == RP_CONNECT) return connect_once(client, phase, row, sink, counters);
    row *= phase->rows_per_operation;
    if (phase->bulk) return client->adapter->bulk(phase->statement, phase, row, phase->rows_per_operation);
    return in_transaction(client, phase, row, sink);
}

static inline bool operate(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink,
                           rp_sample_counters *counters) {
    bool good;
    if (RP_UNLIKELY(phase->kind >= RP_CONNECT))
        good = connect_or_load(client, phase, row, sink, counters);
    else if (RP_UNLIKELY(phase->transaction && client->adapter->run != NULL))
        good = in_transaction(client, phase, row, sink);
    else
        good = client->adapter->execute(phase->statement, phase, row, sink);
    return good && !sink->broken;
}

bool rp_operate(const rp_client *client, rp_phase *phase, uint64_t row, rp_sink *sink, rp_sample_counters *counters) {
    return operate(client, phase, row, sink, counters);
}

void rp_note_failure(rp_sample_counters *counters, rp_sink *sink, const rp_sink *before) {
    if (counters->failed++ == 0) counters->failure = rp_last_error;
    sink->rows = before->rows;
    sink->touch = before->touch;
    sink->bytes = before->bytes;
    sink->broken = false;
}

static void note_stamps(rp_sample_counters *counters, const rp_sink *sink, uint64_t start) {
    if (sink->executed_at_ns != 0) counters->execute_ns += sink->executed_at_ns - start;
    if (sink->first_row_at_ns != 0) counters->first_row_ns += sink->first_row_at_ns - start;
}

void rp_run_operations(const rp_client *client, rp_phase *phase, rp_sink *sink, rp_sample_counters *counters,
                       uint64_t duration_ns, uint64_t operations, rp_failures *failures) {
    if (RP_UNLIKELY(phase->pipeline > 0)) {
        rp_run_pipelines(client, phase, sink, counters, duration_ns, operations, failures);
        return;
    }
    *counters = (rp_sample_counters){.min_ns = UINT64_MAX};
    uint64_t wrap = phase->wrap, row = phase->position % wrap, done = 0;
    uint64_t start = rp_now_ns(), previous = start;
    do {
        const rp_sink before = {.rows = sink->rows, .touch = sink->touch, .bytes = sink->bytes};
        if (RP_UNLIKELY(phase->stamps)) {
            sink->stamped = sink->watched = true;
            sink->executed_at_ns = sink->first_row_at_ns = 0;
        }
        bool good = operate(client, phase, row, sink, counters);
        uint64_t now = rp_now_ns(), took = now - previous;
        if (RP_UNLIKELY(!good)) {
            rp_note_failure(counters, sink, &before);
            if (atomic_fetch_add(failures, 1) + 1 >= RP_MOST_FAILURES) operations = done + 1;
        } else {
            counters->operations++;
            if (took < counters->min_ns) counters->min_ns = took;
            if (took > counters->max_ns) counters->max_ns = took;
            if (RP_UNLIKELY(phase->stamps)) note_stamps(counters, sink, previous);
        }
        previous = now;
        done++;
        if (++row == wrap) row = 0;
    } while (operations != 0 ? done < operations : previous - start < duration_ns);
    counters->start_ns = start;
    counters->ns = previous - start;
    if (counters->operations == 0) counters->min_ns = 0;
    phase->position += done;
}

void rp_take_turn(const rp_client *client, rp_turn *turn, pthread_barrier_t *start_barrier) {
    rp_sink sink = {0};
    rp_phase *phase = turn->phase;
    uint64_t begins = phase->position, window_cpu = rp_thread_cpu_ns();
    if (turn->lead_in_ns > 0 && !turn->idle)
        rp_run_operations(client, phase, &sink, &turn->lead_in, turn->lead_in_ns, 0, turn->failures);
    if (turn->back) phase->position = begins;
    sink.rows = sink.touch = sink.bytes = 0;
    turn->first = phase->position;
    if (start_barrier != NULL) pthread_barrier_wait(start_barrier);
    uint64_t cpu = rp_thread_cpu_ns();
    if (!turn->idle)
        rp_run_operations(client, phase, &sink, &turn->block, turn->duration_ns, turn->operations, turn->failures);
    uint64_t cpu_end = rp_thread_cpu_ns();
    turn->rows = sink.rows;
    turn->touch = sink.touch;
    turn->bytes = sink.bytes;
    turn->cpu_ns = cpu_end - cpu;
    turn->window_cpu_ns = cpu_end - window_cpu;
}

static void write_failure(rp_writer *reply, const rp_error *failure) {
    if (failure == NULL) {
        rp_write_null(reply, "failure");
        return;
    }
    rp_write_open(reply, "failure", '{');
    rp_write_error(reply, failure);
    rp_write_close(reply, '}');
}

/* The first that is known; the lead-in is checked too, though not counted. */
static const rp_error *first_failure(const rp_turn *turns, int count) {
    for (int i = 0; i < count; i++) {
        if (turns[i].lead_in.failed > 0) return &turns[i].lead_in.failure;
        if (turns[i].block.failed > 0) return &turns[i].block.failure;
    }
    return NULL;
}

static uint64_t lead_in_operations(const rp_turn *turn) {
    return turn->lead_in.operations + turn->lead_in.failed;
}

/* All clients' turns as if one had taken them; `ns` from the first start to the last end. */
static rp_turn together(const rp_turn *turns, int count) {
    rp_turn all = turns[0];
    uint64_t end = all.block.start_ns + all.block.ns;
    for (int i = 1; i < count; i++) {
        const rp_turn *each = &turns[i];
        const rp_sample_counters *block = &each->block;
        if (each->idle) continue;
        if (all.idle || block->start_ns < all.block.start_ns) all.block.start_ns = block->start_ns;
        if (block->start_ns + block->ns > end) end = block->start_ns + block->ns;
        if (block->operations > 0 && (all.block.operations == 0 || block->min_ns < all.block.min_ns))
            all.block.min_ns = block->min_ns;
        if (block->max_ns > all.block.max_ns) all.block.max_ns = block->max_ns;
        all.idle = false;
        all.block.operations += block->operations;
        all.block.failed += block->failed;
        all.block.execute_ns += block->execute_ns;
        all.block.first_row_ns += block->first_row_ns;
        all.lead_in.operations += lead_in_operations(each);
        all.rows += each->rows;
        all.touch += each->touch;
        all.bytes += each->bytes;
        all.cpu_ns += each->cpu_ns;
        all.window_cpu_ns += each->window_cpu_ns;
    }
    all.block.ns = end - all.block.start_ns;
    return all;
}

static void write_clients(rp_writer *reply, const rp_turn *turns, int count) {
    rp_write_open(reply, "clients", '[');
    for (int i = 0; i < count; i++) {
        const rp_turn *each = &turns[i];
        rp_write_open(reply, NULL, '{');
        rp_write_integer(reply, "first", (int64_t)each->first);
        rp_write_integer(reply, "operations", (int64_t)each->block.operations);
        rp_write_integer(reply, "failed", (int64_t)each->block.failed);
        rp_write_integer(reply, "lead_in_operations", (int64_t)lead_in_operations(each));
        rp_write_integer(reply, "rows", (int64_t)each->rows);
        rp_write_integer(reply, "ns", (int64_t)each->block.ns);
        rp_write_integer(reply, "cpu_ns", (int64_t)each->cpu_ns);
        rp_write_integer(reply, "min_ns", (int64_t)each->block.min_ns);
        rp_write_integer(reply, "max_ns", (int64_t)each->block.max_ns);
        rp_write_close(reply, '}');
    }
    rp_write_close(reply, ']');
}

/* Where each client begins and, when the sample has a number of operations, its share. */
static void divide(rp_turn *turns, int count, rp_phase *phase, int64_t first, uint64_t operations) {
    uint64_t base = first >= 0 ? (uint64_t)first : phase->counted;
    for (uint64_t i = 0, n = (uint64_t)count; i < n; i++) {
        rp_turn *turn = &turns[i];
        turn->phase = phase->clients[i];
        if (operations > 0) {
            uint64_t from = i * operations / n;
            turn->phase->position = base + from;
            turn->operations = (i + 1) * operations / n - from;
            turn->idle = turn->operations == 0;
            turn->back = true;
        } else if (first >= 0) {
            turn->phase->position = base + i * phase->wrap / n;
        }
    }
    if (operations > 0) phase->counted = base + operations;
}

bool rp_sample(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    int64_t first = rp_json_integer(request, "first", -1), lead_in_ns = rp_json_integer(request, "lead_in_ns", 0);
    int64_t duration_ns = rp_json_integer(request, "duration_ns", 0);
    int64_t operations = rp_json_integer(request, "operations", 0);
    if (lead_in_ns < 0 || duration_ns < 0 || operations < 0)
        return rp_fail(RP_INTERNAL, "", "a sample's times and operations cannot be negative");
    int count = session->client_count;
    rp_failures failures = 0;
    rp_turn *turns = session->turns;
    for (int i = 0; i < count; i++)
        turns[i] =
            (rp_turn){.lead_in_ns = (uint64_t)lead_in_ns, .duration_ns = (uint64_t)duration_ns, .failures = &failures};
    if (count > 1) {
        divide(turns, count, phase, first, (uint64_t)operations);
    } else {
        turns[0].phase = phase;
        turns[0].operations = (uint64_t)operations;
        if (first >= 0) phase->position = (uint64_t)first;
    }

    uint64_t window = rp_now_ns();
    if (count > 1)
        rp_clients_take_turns(session, turns);
    else
        rp_take_turn(session->clients, turns, NULL);
    uint64_t window_end = rp_now_ns();

    rp_turn all = together(turns, count);
    rp_write_integer(reply, "ns", (int64_t)all.block.ns);
    rp_write_integer(reply, "operations", (int64_t)all.block.operations);
    rp_write_integer(reply, "failed", (int64_t)all.block.failed);
    write_failure(reply, first_failure(turns, count));
    rp_write_integer(reply, "rows", (int64_t)all.rows);
    rp_write_integer(reply, "values", (int64_t)all.rows * phase->column_count);
    rp_write_hexadecimal(reply, "touch", all.touch);
    rp_write_integer(reply, "bytes", (int64_t)all.bytes);
    rp_write_integer(reply, "first", (int64_t)all.first);
    rp_write_integer(reply, "lead_in_operations", (int64_t)lead_in_operations(&all));
    rp_write_integer(reply, "window_ns", (int64_t)(window_end - window));
    rp_write_integer(reply, "window_cpu_ns", (int64_t)all.window_cpu_ns);
    rp_write_integer(reply, "cpu_ns", (int64_t)all.cpu_ns);
    rp_write_integer(reply, "min_ns", (int64_t)all.block.min_ns);
    rp_write_integer(reply, "max_ns", (int64_t)all.block.max_ns);
    rp_write_integer(reply, "execute_ns", (int64_t)all.block.execute_ns);
    rp_write_integer(reply, "first_row_ns", (int64_t)all.block.first_row_ns);
    rp_write_integer(reply, "connect_ns", (int64_t)all.block.connect_ns);
    if (count > 1) write_clients(reply, turns, count);
    return true;
}
