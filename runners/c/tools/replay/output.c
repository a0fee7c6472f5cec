/* What a connection still has to send: long replies go out from the tape itself, short ones are copied together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "replay.h"

#define SHORT_BYTES 4096 /* up to here a copy costs less than a span of its own */
#define SPANS_AT_ONCE 64

static void add(struct output *output, struct span bytes) {
    if (output->count == output->room) {
        output->room = output->room * 2 + 8;
        output->spans = realloc(output->spans, output->room * sizeof *output->spans);
        if (output->spans == NULL) abort();
    }
    output->spans[output->count++] = bytes;
    output->waiting += bytes.length;
}

/* Bytes of its own have `at` NULL in their span until they are sent: their buffer may still move. */
void output_copy(struct output *output, const void *bytes, size_t length) {
    if (output->own_used + length > output->own_room) {
        output->own_room = (output->own_used + length) * 2 + 1024;
        output->own = realloc(output->own, output->own_room);
        if (output->own == NULL) abort();
    }
    memcpy(output->own + output->own_used, bytes, length);
    output->own_used += length;
    if (output->count > output->first && output->spans[output->count - 1].at == NULL) {
        output->spans[output->count - 1].length += length;
        output->waiting += length;
    } else
        add(output, (struct span){NULL, length});
}

void output_tape(struct output *output, struct span bytes) {
    if (bytes.length <= SHORT_BYTES)
        output_copy(output, bytes.at, bytes.length);
    else
        add(output, bytes);
}

static ssize_t send_some(struct output *output, int socket, size_t chunk_bytes) {
    struct iovec parts[SPANS_AT_ONCE];
    struct msghdr message = {.msg_iov = parts};
    size_t total = 0, own_left = 0, own;
    for (size_t i = output->first; i < output->count; i++)
        own_left += output->spans[i].at == NULL ? output->spans[i].length : 0;
    own = output->own_used - own_left;
    for (size_t i = output->first; i < output->count && message.msg_iovlen < SPANS_AT_ONCE; i++) {
        struct span span = output->spans[i];
        if (chunk_bytes > 0 && total + span.length > chunk_bytes) span.length = chunk_bytes - total;
        if (span.length == 0) break;
        parts[message.msg_iovlen++] =
            (struct iovec){span.at == NULL ? output->own + own : (uint8_t *)(uintptr_t)span.at, span.length};
        own += span.at == NULL ? span.length : 0;
        total += span.length;
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void sent(struct output *output, size_t length) {
    output->waiting -= length;
    while (length > 0) {
        struct span *span = &output->spans[output->first];
        size_t taken = length < span->length ? length : span->length;
        span->length -= taken;
        if (span->at != NULL) span->at += taken;
        if (span->length == 0) output->first++;
        length -= taken;
    }
    if (output->first == output->count) output->first = output->count = output->own_used = 0;
}

bool output_send(struct output *output, int socket, size_t chunk_bytes) {
    while (output->waiting > 0) {
        ssize_t count = send_some(output, socket, chunk_bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        sent(output, (size_t)count);
    }
    return true;
}

void output_free(struct output *output) {
    free(output->spans);
    free(output->own);
    *output = (struct output){0};
}
