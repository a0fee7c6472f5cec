/* When operations are due, and waiting for it. */
#ifndef RP_PACING_H
#define RP_PACING_H

#include <pthread.h>

#include "shared_counters.h"

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

/* Arrivals of a group from which any free client takes the next one. */
typedef struct rp_queue {
    pthread_mutex_t lock;
    rp_schedule schedule; /* open loop, from begin 0 */
    uint64_t *callers;    /* closed loop: a ring of the instants at which callers stood in the queue again */
    uint64_t population, taken, joined, joined_ns, most; /* joined_ns: when the last one stood there */
} rp_queue;

/* Takes the next arrival, its number and when it is due; false: there is none any more. */
bool rp_queue_take(rp_queue *queue, uint64_t begin_ns, uint64_t *number, uint64_t *due_ns);

/* Closed loop: a caller stands at the end of the queue from that instant on, or from when the one before it does. */
void rp_queue_join(rp_queue *queue, uint64_t due_ns);

/* What ends a group: its control word, or the end of this process. */
typedef struct rp_end {
    const rp_control *control;
    const bool *stop;
} rp_end;

bool rp_has_ended(const rp_end *end, uint64_t at_ns);

/* Sleeps until `spin_ns` before the instant, spins until it has come and returns the time; 0: the end comes first. */
uint64_t rp_wait_until(uint64_t at_ns, uint64_t spin_ns, const rp_end *end);

/* The instant at which the group begins, once it is known; 0: it ended before. */
uint64_t rp_look_for_begin(const rp_end *end);

#endif
