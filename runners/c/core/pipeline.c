/* Pipelines: many operations are sent before the answer to the first one is taken. */
#include "session.h"

bool rp_phase_pipelined(rp_phase *phase, const rp_adapter *adapter, const rp_options *options) {
    int64_t size = rp_option_integer(options, "pipeline", 0);
    bool single = (phase->kind == RP_QUERY || phase->kind == RP_EXECUTE) && !phase->transaction && !phase->stamps;
    if (size <= 0) return true;
    if (adapter->send == NULL) return rp_fail(RP_UNSUPPORTED, "", "%s has no pipeline", adapter->driver);
    if (phase->parameter_count == 0 && single) return true; /* one statement: there is nothing to send beside it */
    if (!single) return rp_fail(RP_UNSUPPORTED, "", "a pipeline has single statements in autocommit, without stamps");
    phase->pipeline = (uint64_t)size;
    return true;
}

void rp_pipeline(const rp_client *client, const rp_phase *phase, uint64_t row, uint64_t count, rp_sink *sink,
                 rp_sample_counters *counters) {
    const rp_adapter *adapter = client->adapter;
    uint64_t sent = 0;
    while (sent < count && adapter->send(phase->statement, phase, row, sent + 1 == count)) {
        sent++;
        if (++row == phase->wrap) row = 0;
    }
    const rp_error refused = rp_last_error;
    for (uint64_t i = 0; i < count; i++) {
        const rp_sink before = {.rows = sink->rows, .touch = sink->touch, .bytes = sink->bytes};
        bool good = i < sent && adapter->receive(phase->statement, phase, i + 1 == sent, sink) && !sink->broken;
        if (i >= sent) rp_last_error = refused;
        if (good)
            counters->operations++;
        else
            rp_note_failure(counters, sink, &before);
    }
}

void rp_run_pipelines(const rp_client *client, rp_phase *phase, rp_sink *sink, rp_sample_counters *counters,
                      uint64_t duration_ns, uint64_t operations, rp_failures *failures) {
    *counters = (rp_sample_counters){.min_ns = UINT64_MAX};
    uint64_t done = 0, start = rp_now_ns(), previous = start;
    do {
        uint64_t left = operations != 0 ? operations - done : phase->pipeline, failed = counters->failed;
        uint64_t count = left < phase->pipeline ? left : phase->pipeline;
        rp_pipeline(client, phase, (phase->position + done) % phase->wrap, count, sink, counters);
        uint64_t now = rp_now_ns(), each = (now - previous) / count;
        failed = counters->failed - failed;
        if (each < counters->min_ns) counters->min_ns = each;
        if (each > counters->max_ns) counters->max_ns = each;
        previous = now;
        done += count;
        if (atomic_fetch_add(failures, failed) + failed >= RP_MOST_FAILURES) operations = done;
    } while (operations != 0 ? done < operations : previous - start < duration_ns);
    counters->start_ns = start;
    counters->ns = previous - start;
    phase->position += done;
}
