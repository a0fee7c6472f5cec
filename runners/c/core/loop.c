/* The loop: operations one by one with chained stamps, timed (sample) or with the digest (verify). */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

static uint64_t thread_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Kind `connect`: a second, fresh connection, its first query, and closing it. */
static bool connect_once(rp_session *session, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    const rp_adapter *adapter = session->adapter;
    int64_t server_pid = 0;
    uint64_t start = rp_now_ns();
    void *connection = adapter->open(&session->options, &server_pid);
    span->connect_ns += rp_now_ns() - start;
    if (connection == NULL) return false;
    void *statement = adapter->prepare(connection, phase);
    bool good = statement != NULL && adapter->execute(statement, phase, row, sink);
    if (statement != NULL) adapter->release(statement);
    adapter->close(connection);
    return good;
}

static bool in_transaction(rp_session *session, rp_phase *phase, uint64_t row, rp_sink *sink) {
    const rp_adapter *adapter = session->adapter;
    if (!adapter->run(session->connection, "BEGIN")) return false;
    if (adapter->execute(phase->statement, phase, row, sink) && !sink->broken)
        return adapter->run(session->connection, "COMMIT");
    rp_error first = rp_last_error;
    adapter->run(session->connection, "ROLLBACK");
    rp_last_error = first;
    return false;
}

static inline bool operate(rp_session *session, rp_phase *phase, uint64_t row, rp_sink *sink, rp_span *span) {
    bool good;
    if (RP_UNLIKELY(phase->kind == RP_CONNECT))
        good = connect_once(session, phase, row, sink, span);
    else if (RP_UNLIKELY(phase->transaction && session->adapter->run != NULL))
        good = in_transaction(session, phase, row, sink);
    else
        good = session->adapter->execute(phase->statement, phase, row, sink);
    return good && !sink->broken;
}

static void note_failure(rp_span *span, rp_sink *sink, uint64_t rows_before, uint64_t touch_before) {
    if (span->failed++ == 0) span->failure = rp_last_error;
    sink->rows = rows_before; /* what a failed operation delivered counts nowhere */
    sink->touch = touch_before;
    sink->broken = false;
}

static void note_stamps(rp_span *span, const rp_sink *sink, uint64_t start) {
    if (sink->executed_at_ns != 0) span->execute_ns += sink->executed_at_ns - start;
    if (sink->first_row_at_ns != 0) span->first_row_ns += sink->first_row_at_ns - start;
}

void rp_run_span(rp_session *session, rp_phase *phase, rp_sink *sink, rp_span *span, uint64_t duration_ns,
                 uint64_t operations, uint64_t *failures) {
    *span = (rp_span){.min_ns = UINT64_MAX};
    uint64_t wrap = phase->parameter_count > 0 ? phase->parameter_count : 1;
    uint64_t row = phase->position % wrap, done = 0;
    uint64_t start = rp_now_ns(), previous = start;
    do {
        uint64_t rows_before = sink->rows, touch_before = sink->touch;
        if (RP_UNLIKELY(phase->stamps)) {
            sink->stamped = sink->watched = true;
            sink->executed_at_ns = sink->first_row_at_ns = 0;
        }
        bool good = operate(session, phase, row, sink, span);
        uint64_t now = rp_now_ns(), took = now - previous;
        if (RP_UNLIKELY(!good)) {
            note_failure(span, sink, rows_before, touch_before);
            if (++*failures >= RP_MOST_FAILURES) operations = done + 1;
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
    span->ns = previous - start;
    if (span->operations == 0) span->min_ns = 0;
    phase->position += done;
}

static void write_failure(rp_writer *reply, const rp_span *span) {
    if (span->failure.text[0] == '\0') {
        rp_write_null(reply, "failure");
        return;
    }
    rp_write_open(reply, "failure", '{');
    rp_write_text(reply, "kind", rp_error_kind_name(span->failure.kind));
    rp_write_text(reply, "code", span->failure.code);
    rp_write_text(reply, "text", span->failure.text);
    rp_write_close(reply, '}');
}

bool rp_sample(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    rp_sink sink = {0};
    rp_span lead_in = {0}, block;
    uint64_t failures = 0;
    int64_t first = rp_json_integer(request, "first", -1), lead_in_ns = rp_json_integer(request, "lead_in_ns", 0);
    int64_t duration_ns = rp_json_integer(request, "duration_ns", 0);
    int64_t operations = rp_json_integer(request, "operations", 0);
    if (lead_in_ns < 0 || duration_ns < 0 || operations < 0)
        return rp_fail(RP_INTERNAL, "", "a sample's times and operations cannot be negative");
    if (first >= 0) phase->position = (uint64_t)first;

    uint64_t window_cpu = thread_cpu_ns(), window = rp_now_ns();
    if (lead_in_ns > 0) rp_run_span(session, phase, &sink, &lead_in, (uint64_t)lead_in_ns, 0, &failures);
    sink.rows = sink.touch = 0;
    uint64_t block_first = phase->position, cpu = thread_cpu_ns();
    rp_run_span(session, phase, &sink, &block, (uint64_t)duration_ns, (uint64_t)operations, &failures);
    uint64_t window_end = rp_now_ns(), cpu_end = thread_cpu_ns();

    if (lead_in.failed > 0) block.failure = lead_in.failure; /* the lead-in is checked too, though not counted */
    rp_write_integer(reply, "ns", (int64_t)block.ns);
    rp_write_integer(reply, "operations", (int64_t)block.operations);
    rp_write_integer(reply, "failed", (int64_t)block.failed);
    write_failure(reply, &block);
    rp_write_integer(reply, "rows", (int64_t)sink.rows);
    rp_write_integer(reply, "values", (int64_t)sink.rows * phase->column_count);
    rp_write_hexadecimal(reply, "touch", sink.touch);
    rp_write_integer(reply, "first", (int64_t)block_first);
    rp_write_integer(reply, "lead_in_operations", (int64_t)(lead_in.operations + lead_in.failed));
    rp_write_integer(reply, "window_ns", (int64_t)(window_end - window));
    rp_write_integer(reply, "window_cpu_ns", (int64_t)(cpu_end - window_cpu));
    rp_write_integer(reply, "cpu_ns", (int64_t)(cpu_end - cpu));
    rp_write_integer(reply, "min_ns", (int64_t)block.min_ns);
    rp_write_integer(reply, "max_ns", (int64_t)block.max_ns);
    rp_write_integer(reply, "execute_ns", (int64_t)block.execute_ns);
    rp_write_integer(reply, "first_row_ns", (int64_t)block.first_row_ns);
    rp_write_integer(reply, "connect_ns", (int64_t)block.connect_ns);
    return true;
}

bool rp_verify(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    rp_digest digest = {.most_rows = (uint64_t)rp_json_integer(request, "max_rows", 100000)};
    rp_sink sink = {.digest = &digest, .watched = true};
    rp_span span = {0};
    uint64_t wrap = phase->parameter_count > 0 ? phase->parameter_count : 1;
    uint64_t first = (uint64_t)rp_json_integer(request, "first", 0);
    uint64_t count = (uint64_t)rp_json_integer(request, "count", 1);
    bool good = true;
    for (uint64_t i = 0; good && i < count; i++) {
        digest.row.length = 0;
        good = operate(session, phase, (first + i) % wrap, &sink, &span);
    }
    free(digest.row.data);
    if (!good) return false;
    char text[48];
    snprintf(text, sizeof text, "%llu:%016llx", (unsigned long long)digest.rows, (unsigned long long)digest.sum);
    rp_write_text(reply, "digest", text);
    rp_write_integer(reply, "rows", (int64_t)sink.rows);
    rp_write_hexadecimal(reply, "touch", sink.touch);
    rp_write_integer(reply, "operations", (int64_t)count);
    rp_write_open(reply, "delivered", '[');
    for (int i = 0; i < phase->column_count; i++)
        rp_write_text(reply, NULL, phase->columns[i].delivered ? phase->columns[i].delivered : "");
    rp_write_close(reply, ']');
    rp_write_open(reply, "converted", '[');
    for (int i = 0; i < phase->column_count; i++)
        if (phase->columns[i].converted) rp_write_text(reply, NULL, phase->columns[i].name);
    rp_write_close(reply, ']');
    return true;
}
