#include "drain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#define DRAIN_BYTES (1024 * 1024) /* that one call may take */
#define DRAIN_QUIET_MS 500        /* what looked like an end was one when nothing more comes */

bool drain_open(drain *drain, int socket, bool encrypted, const rp_options *options) {
    drain->socket = socket;
    drain->busy = rp_option_is(options, "poll", "busy");
    drain->buffer = malloc(DRAIN_TAIL_BYTES + DRAIN_BYTES);
    if (drain->buffer == NULL) abort();
    memset(drain->buffer, 0, DRAIN_TAIL_BYTES + DRAIN_BYTES); /* no page is new when it is measured */
    return !encrypted ||
           rp_fail(RP_UNSUPPORTED, "", "a drain cannot follow the protocol in encrypted bytes: use tls=off");
}

bool drain_can(const rp_phase *phase) {
    return (phase->kind == RP_QUERY && phase->scan && phase->parameter_column_count == 0) ||
           rp_fail(RP_UNSUPPORTED, "", "a floor takes the bytes of whole tables only");
}

void drain_release(void *statement) {
    drain_request *request = statement;
    free(request->data);
    free(request);
}

void drain_begin(drain *drain) {
    drain->flags = fcntl(drain->socket, F_GETFL);
    fcntl(drain->socket, F_SETFL, drain->busy ? drain->flags | O_NONBLOCK : drain->flags & ~O_NONBLOCK);
    memset(drain->buffer, 0, DRAIN_TAIL_BYTES);
    drain->from = drain->end = drain->buffer + DRAIN_TAIL_BYTES;
    drain->bytes = 0;
}

void drain_end(const drain *drain) {
    fcntl(drain->socket, F_SETFL, drain->flags);
}

static bool drain_again(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool drain_send(const drain *drain, const char *data, size_t length) {
    while (length > 0) {
        ssize_t sent = send(drain->socket, data, length, MSG_NOSIGNAL);
        if (sent < 0 && drain_again()) continue;
        if (sent < 0) return rp_fail_errno(RP_CONNECT_ERROR, "send");
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

bool drain_receive(drain *drain) {
    memmove(drain->buffer, drain->end - DRAIN_TAIL_BYTES, DRAIN_TAIL_BYTES);
    ssize_t count;
    do
        count = recv(drain->socket, drain->buffer + DRAIN_TAIL_BYTES, DRAIN_BYTES, 0);
    while (count < 0 && drain_again());
    if (count < 0) return rp_fail_errno(RP_CONNECT_ERROR, "recv");
    if (count == 0) return rp_fail(RP_CONNECT_ERROR, "", "the server closed the connection");
    drain->from = drain->buffer + DRAIN_TAIL_BYTES;
    drain->end = drain->from + count;
    drain->bytes += (uint64_t)count;
    return true;
}

bool drain_quiet(const drain *drain) {
    struct pollfd waited = {.fd = drain->socket, .events = POLLIN};
    return poll(&waited, 1, DRAIN_QUIET_MS) == 0;
}
