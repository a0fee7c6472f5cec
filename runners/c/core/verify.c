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

bool rp_verify(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    rp_digest digest = {.most_rows = (uint64_t)rp_json_integer(request, "max_rows", 200000)};
    rp_sink sink = {.digest = &digest, .watched = true};
    rp_sample_counters counters = {0};
    const rp_client *client = session->clients;
    uint64_t first = (uint64_t)rp_json_integer(request, "first", 0);
    uint64_t count = (uint64_t)rp_json_integer(request, "count", 1);
    const char *keep = rp_json_text(request, "keep", "");
    if (*keep != '\0' && (digest.kept = fopen(keep, "wbe")) == NULL)
        return rp_fail_errno(RP_INTERNAL, "the file for the rows");
    bool good = true;
    for (uint64_t i = 0, step = 1; good && i < count; i += step) {
        uint64_t row = (first + i) % phase->wrap;
        digest.row.length = 0;
        if (phase->pipeline == 0) {
            good = rp_operate(client, phase, row, &sink, &counters);
        } else {
            step = count - i < phase->pipeline ? count - i : phase->pipeline;
            rp_pipeline(client, phase, row, step, &sink, &counters);
            good = counters.failed == 0;
            if (!good) rp_last_error = counters.failure;
        }
    }
    free(digest.row.data);
    if (!kept_all(digest.kept) || !good) return false;
    if (sink.bytes > 0) return rp_fail(RP_UNSUPPORTED, "", "a floor delivers no rows that could be verified");
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
