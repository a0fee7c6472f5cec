/* When operations are due, and waiting for it. */
#include <errno.h>

#include "adapter.h"
#include "pacing.h"

#define NS_PER_S 1000000000u
#define MOST_SLEEP_NS 10000000u /* then a sleeper looks whether the end has come */
#define LOOKS_FOR_BEGIN_EVERY_NS 1000000u

/* SplitMix64. Source: G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators (2014). */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint64_t rp_next_due_ns(rp_schedule *schedule) {
    if (schedule->pacing == RP_FIXED)
        return schedule->begin_ns +
               (uint64_t)(schedule->elapsed_ns + (double)schedule->drawn++ * schedule->distance_ns);
    double u = (double)(draw(&schedule->state) >> 11) * 0x1p-53;
    schedule->elapsed_ns -= log(1 - u) * schedule->distance_ns;
    return schedule->begin_ns + (uint64_t)schedule->elapsed_ns;
}

bool rp_queue_take(rp_queue *queue, uint64_t begin_ns, uint64_t *number, uint64_t *due_ns) {
    pthread_mutex_lock(&queue->lock);
    bool more = queue->most == 0 || queue->taken < queue->most;
    if (more) {
        *number = queue->taken++;
        if (queue->callers == NULL)
            *due_ns = begin_ns + rp_next_due_ns(&queue->schedule);
        else
            *due_ns = *number < queue->population ? begin_ns : queue->callers[*number % queue->population];
    }
    pthread_mutex_unlock(&queue->lock);
    return more;
}

void rp_queue_join(rp_queue *queue, uint64_t due_ns) {
    pthread_mutex_lock(&queue->lock);
    if (queue->joined_ns < due_ns) queue->joined_ns = due_ns; /* clients may come in another order than they ended in */
    queue->callers[queue->joined++ % queue->population] = queue->joined_ns;
    pthread_mutex_unlock(&queue->lock);
}

bool rp_has_ended(const rp_end *end, uint64_t at_ns) {
    uint64_t end_ns = rp_seen(&end->control->end_ns);
    return (end_ns != 0 && at_ns >= end_ns) || __atomic_load_n(end->stop, __ATOMIC_RELAXED);
}

static void sleep_until(uint64_t at_ns) {
    struct timespec at = {(time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

uint64_t rp_wait_until(uint64_t at_ns, uint64_t spin_ns, const rp_end *end) {
    for (;;) {
        uint64_t now = rp_now_ns();
        if (now >= at_ns) return now;
        if (rp_has_ended(end, at_ns)) return 0;
        if (at_ns - now <= spin_ns) continue;
        uint64_t wake = at_ns - spin_ns;
        sleep_until(wake - now > MOST_SLEEP_NS ? now + MOST_SLEEP_NS : wake);
    }
}

uint64_t rp_look_for_begin(const rp_end *end) {
    for (;;) {
        uint64_t begin_ns = rp_seen(&end->control->begin_ns), now = rp_now_ns();
        if (begin_ns != 0) return begin_ns;
        if (rp_has_ended(end, now)) return 0;
        sleep_until(now + LOOKS_FOR_BEGIN_EVERY_NS);
    }
}
