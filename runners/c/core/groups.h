/* Groups of clients at work at once: what a group is to do, each client's part of it, and when operations are due. */
#ifndef RP_GROUPS_H
#define RP_GROUPS_H

#include <semaphore.h>

#include "board.h"
#include "session.h"

typedef enum rp_pacing { RP_CLOSED, RP_FIXED, RP_POISSON } rp_pacing;

/* When one client's operations are due. */
typedef struct rp_schedule {
    rp_pacing pacing;
    double distance_ns; /* the mean one */
    double elapsed_ns;  /* fixed: of the client's first operation; poisson: of the last one drawn */
    uint64_t begin_ns, drawn, state;
} rp_schedule;

/* The instant at which the next operation is due. */
uint64_t rp_next_due_ns(rp_schedule *schedule);

/* What ends a group: its control word, or this process being told to end. */
typedef struct rp_end {
    const rp_control *control;
    const bool *stop;
} rp_end;

bool rp_has_ended(const rp_end *end, uint64_t at_ns);

/* Sleeps until `spin_ns` before the instant, spins until it has come and returns the time; 0: the end comes first. */
uint64_t rp_wait_until(uint64_t at_ns, uint64_t spin_ns, const rp_end *end);

/* The instant at which the group begins, once it has come; 0: it ended before. */
uint64_t rp_wait_for_begin(const rp_end *end);

typedef struct rp_group {
    const char *name;
    const rp_phase *phase;
    rp_pacing pacing;
    double rate_per_s;
    uint64_t seed, operations, pause_ns, spin_ns, first_client, clients;
    rp_end end;
    struct rp_member *members; /* one for each client */
} rp_group;

typedef struct rp_failure_kind {
    rp_error error; /* the first of them */
    uint64_t count;
} rp_failure_kind;

#define RP_MOST_FAILURE_KINDS 64

/* One client of a group: who it is, and what it did. */
typedef struct rp_member {
    const rp_group *group;
    const rp_client *client;
    rp_phase *phase;
    rp_slot *slot;
    uint32_t *acknowledged; /* by parameter row, then as many of the failed ones; NULL: not kept */
    uint64_t number, first, own_rows;
    sem_t *waits; /* posted once this client waits for its group's begin */
    pthread_t thread;
    uint64_t begun_ns, cpu_ns, touch;
    rp_failure_kind *failures;
    int failure_kinds;
} rp_member;

/* A client's thread: waits for the group's begin, works until its end. */
void *rp_member_work(void *member);

/* Counts so many failures like this one; those of more than RP_MOST_FAILURE_KINDS kinds and codes are left out. */
void rp_note_failures(rp_failure_kind **failures, int *kinds, const rp_error *error, uint64_t count);

#endif
