/* Packets of MySQL's protocol, as far as a query is sent and the end of its result is found without a library.
   Source: MariaDB's documentation, "Client/Server Protocol", 0-packet and Result Set Packets; compressed packets. */
#ifndef RP_MYSQL_PACKETS_H
#define RP_MYSQL_PACKETS_H

#include "adapter.h"

#define MY_HEAD_BYTES 7 /* of a packet: length, number, and what shows its kind */
#define MY_COMPRESSED_HEAD_BYTES 7

/* The way through the packets of a result. */
typedef struct my_packets {
    enum { MY_COUNT, MY_DEFINITIONS, MY_FIRST, MY_ROWS, MY_DONE } at;
    uint64_t definitions; /* left */
    bool goes_on;         /* the packet before was a whole one */
    bool failed;
    uint8_t head[MY_HEAD_BYTES];
    size_t have;
    uint32_t length; /* of the packet's body */
    uint64_t skip;   /* of that body */
} my_packets;

/* Goes on through the bytes [at, end); `at` MY_DONE and nothing to skip: the result has ended. */
void my_step(my_packets *packets, const char *at, const char *end);

/* The way through the packets of the protocol with compression, which hold those of a result. */
typedef struct my_compressed {
    uint8_t head[MY_COMPRESSED_HEAD_BYTES]; /* length, number, and the length of what was compressed (0: it was not) */
    size_t have;                            /* of the head */
    size_t left;                            /* of the body */
    size_t plain_bytes;                     /* what the last packet holds */
    char *packed, *plain;                   /* its body, where that is unpacked; to be freed by the caller */
} my_compressed;

/* Goes on through the bytes [at, end) without unpacking; `have` and `left` 0: at the end of a packet. */
void my_skip_compressed(my_compressed *compressed, const char *at, const char *end);

/* As my_step, through compressed packets; `usual` becomes the most that any packet but the last one holds. False after
   rp_fail: they do not follow the protocol. */
bool my_step_compressed(my_compressed *compressed, my_packets *packets, const char *at, const char *end, size_t *usual);

/* A query as text, `compressed`: for a connection with compression; to be freed by the caller. NULL after rp_fail: it
   is too long. */
char *my_query_packet(const char *sql, bool compressed, size_t *length);

/* The error whose packet is the last that came: a mark, two bytes of number, # and five of state, the text. `readable`
   bytes before `end` can be read. Always false. */
bool my_refused(const my_packets *packets, const char *end, size_t readable);

#endif
