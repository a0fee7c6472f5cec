/* When operations are due, and waiting for it. */
#ifndef RP_PACING_H
#define RP_PACING_H

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
