/* Samples: what all clients are to do, and what came of it; and verify, the same operations with the digest. */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

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
        const rp_span *block = &each->block;
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

/* Where each client begins and, when the sample has so many operations, how many are its. */
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

/* Closes the file; false after rp_fail: not everything is in it. */
static bool kept_all(FILE *kept) {
    if (kept == NULL) return true;
    bool failed = ferror(kept) != 0;
    if (fclose(kept) == 0 && !failed) return true;
    return rp_fail(RP_INTERNAL, "", "the rows could not be kept: the disk may be full");
}

bool rp_verify(rp_session *session, rp_phase *phase, const rp_json *request, rp_writer *reply) {
    rp_digest digest = {.most_rows = (uint64_t)rp_json_integer(request, "max_rows", 100000)};
    rp_sink sink = {.digest = &digest, .watched = true};
    rp_span span = {0};
    const rp_client *client = session->clients;
    uint64_t first = (uint64_t)rp_json_integer(request, "first", 0);
    uint64_t count = (uint64_t)rp_json_integer(request, "count", 1);
    const char *keep = rp_json_text(request, "keep", "");
    if (*keep != '\0' && (digest.kept = fopen(keep, "wbe")) == NULL)
        return rp_fail_errno(RP_INTERNAL, "the file for the rows");
    bool good = true;
    for (uint64_t i = 0; good && i < count; i++) {
        digest.row.length = 0;
        good = rp_operate(client, phase, (first + i) % phase->wrap, &sink, &span);
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
