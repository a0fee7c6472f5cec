/* A floor: the bytes of a result taken from the socket of a client library, nothing of them parsed but where they end.
   The library connects, logs in and stays idle meanwhile. poll=sleep: the kernel wakes the thread when bytes are there;
   poll=busy: the thread asks again and again. */
#ifndef RP_DRAIN_H
#define RP_DRAIN_H

#include "adapter.h"

#define DRAIN_TAIL_BYTES 1024 /* kept of what came before: an end, or an error's text, may arrive in pieces */

typedef struct drain {
    int socket, flags; /* the library's own */
    bool busy;
    char *buffer;
    const char *from, *end; /* of the last bytes; DRAIN_TAIL_BYTES before `from` can be read too */
    uint64_t bytes;         /* of the operation */
} drain;

/* A query's bytes; an adapter's own request begins with it. */
typedef struct drain_request {
    drain *drain;
    char *data;
    size_t length;
} drain_request;

/* On a connection's socket. False after rp_fail: it is encrypted. */
bool drain_open(drain *drain, int socket, bool encrypted, const rp_options *options);

/* A floor takes whole tables; the reason against anything else. */
bool drain_can(const rp_phase *phase);

/* An adapter's `release`. */
void drain_release(void *statement);

/* A library's socket may never block, or always. */
void drain_begin(drain *drain);
void drain_end(const drain *drain);
bool drain_send(const drain *drain, const char *data, size_t length);

/* The next bytes. */
bool drain_receive(drain *drain);

/* Whether nothing more comes. */
bool drain_quiet(const drain *drain);

/* An adapter's `execute`; `receive` takes the answer to its end. Inline, so that it is no call by pointer inside the
   clock. */
static inline bool drain_execute(void *statement, rp_sink *sink, bool (*receive)(void *statement, drain *drain)) {
    const drain_request *request = statement;
    drain *drain = request->drain;
    drain_begin(drain);
    bool good = drain_send(drain, request->data, request->length);
    rp_executed(sink);
    good = good && receive(statement, drain);
    drain_end(drain);
    sink->bytes += drain->bytes;
    return good;
}

#endif
