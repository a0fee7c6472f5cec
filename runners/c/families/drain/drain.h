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

void drain_open(drain *drain, int socket, const rp_options *options);

/* A floor takes whole tables; the reason against anything else. */
bool drain_can(const rp_phase *phase);

/* A library's socket may never block, or always. */
void drain_begin(drain *drain);
void drain_end(const drain *drain);
bool drain_send(const drain *drain, const char *data, size_t length);

/* The next bytes. */
bool drain_receive(drain *drain);

/* Whether nothing more comes. */
bool drain_quiet(const drain *drain);

#endif
