/* Verify: the operations of a sample, outside the clock, with the digest of their rows. */
#include <stdio.h>
#include <stdlib.h>

#include "codec.h"
#include "session.h"

/* Closes the file; false after rp_fail: not everything is in it. */
static bool kept_all(FILE *kept) {
    if (kept == NULL) return true;
    bool failed = ferror(kept) != 0;
    if (fclose(kept) == 0 && !failed) return true;
    return rp_fail(RP_INTERNAL, "", "the rows could not be kept: the disk may be full");
}

static void write_digests(rp_writer *reply, const rp_digest *digest, int columns) {
    char text[48];
    snprintf(text, sizeof text, "%llu:%016llx", (unsigned long long)digest->rows, (unsigned long long)digest->sum);
    rp_write_text(reply, "digest", text);
    rp_write_hexadecimal(reply, "order", digest->order);
    rp_write_open(reply, "columns", '[');
    for (int i = 0; i < columns; i++) {
        const rp_column_digest *of = &digest->columns[i];
        rp_write_open(reply, NULL, '{');
        rp_write_hexadecimal(reply, "digest", of->sum);
        rp_write_hexadecimal(reply, "order", of->order);
        if (of->finest_ns > 0) rp_write_integer(reply, "finest_ns", of->finest_ns);
        if (of->bounds) rp_write_boolean(reply, "bounds", true);
        if (of->foreign > 0) rp_write_integer(reply, "foreign", (int64_t)of->foreign);
        if (of->foreign > 0) rp_write_text(reply, "reason", of->reason);
        rp_write_close(reply, '}');
    }
    rp_write_close(reply, ']');
}

static bool execute(rp_session *session, rp_phase *phase, const rp_json *request, rp_sink *sink, uint64_t count) {
    rp_sample_counters counters = {0};
    const rp_client *client = session->clients;
    uint64_t first = (uint64_t)rp_json_integer(request, "first", 0);
    bool good = true;
    for (uint64_t i = 0, step = 1; good && i < count; i += step) {
        uint64_t row = (first + i) % phase->wrap;
        sink->digest->row.length = sink->digest->ended = 0;
        if (phase->pipeline == 0) {
            good = rp_operate(client, phase, row, sink, &counters);
        } else {
            step = count - i < phase->pipeline ? count - i : phase->pipeline;
            rp_pipeline(client, phase, row, step, sink, &counters);
            good = counters.failed == 0;
            if (!good) rp_last_error = counters.failure;
        }
    }
    return good;
}

static void write_reply(rp_writer *reply, const rp_phase *phase, const rp_sink *sink, uint64_t count) {
    write_digests(reply, sink->digest, phase->column_count);
    rp_write_integer(reply, "rows", (int64_t)sink->rows);
    rp_write_hexadecimal(reply, "touch", sink->touch);
    rp_write_integer(reply, "operations", (int64_t)count);
    rp_write_open(reply, "delivered", '[');
    for (int i = 0; i < phase->column_count; i++)
        rp_write_text(reply, NULL, phase->columns[i].delivered ? phase->columns[i].delivered : "");
    rp_write_close(reply, ']');
    rp_write_open(reply, "converted", '[');
    for (int i = 0; i < phase->column_count; i++)
        if (phase->columns[i].converted) rp_write_text(reply, NULL, phase->columns[i].name);
    rp_write_close(reply, ']');
}

bool rp_verify(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    rp_digest digest = rp_digest_of(phase->column_count, (uint64_t)rp_json_integer(request, "max_rows", 200000));
    rp_sink sink = {.digest = &digest, .watched = true};
    uint64_t count = (uint64_t)rp_json_integer(request, "count", 1);
    const char *keep = rp_json_text(request, "keep", "");
    bool good = *keep == '\0' || (digest.kept = fopen(keep, "wbe")) != NULL ||
                rp_fail_errno(RP_INTERNAL, "the file for the rows");
    good = good && execute(session, phase, request, &sink, count);
    good = kept_all(digest.kept) && good;
    if (good && sink.bytes > 0) good = rp_fail(RP_UNSUPPORTED, "", "a floor delivers no rows that could be verified");
    if (good) write_reply(reply, phase, &sink, count);
    rp_digest_free(&digest);
    return good;
}
