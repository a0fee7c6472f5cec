/* Groups of clients at work at once: what a group is to do, and each client's part of it. */
#ifndef RP_CLIENT_GROUPS_H
#define RP_CLIENT_GROUPS_H

#include <semaphore.h>

#include "pacing.h"
#include "session.h"

typedef struct rp_group {
    const char *name;
    const rp_phase *phase;
    rp_pacing pacing;
    double rate_per_s;
    uint64_t seed, operations, pause_ns, spin_ns, first_client, clients;
    rp_end end;
    rp_queue *queue; /* shared dispatch; NULL: each client has a schedule of its own */
    sem_t *begun;    /* posted for each client but the first, who looks for the begin: a thousand would leave no core */
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

/* Whether operations are due, so that their latency counts from then. */
static inline bool rp_has_dues(const rp_group *group) {
    return group->pacing != RP_CLOSED || group->queue != NULL;
}

/* A client's thread: waits for the group's begin, works until its end. */
void *rp_member_work(void *member);

/* Adds to the failures of this kind and code; those beyond RP_MOST_FAILURE_KINDS kinds are left out. */
void rp_note_failures(rp_failure_kind **failures, int *kinds, const rp_error *error, uint64_t count);

#endif
