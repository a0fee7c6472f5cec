/* One client of a group: its operations one after the other, each written down in the shared counters before the next.
 */
#include <stdlib.h>
#include <sys/prctl.h>

#include "client_groups.h"

#define WAIT_AFTER_FAILURE_NS 10000000u

/* What a client knows of its slot, so that it never reads it. */
typedef struct slot_totals {
    uint64_t operations, failed, service_ns, latency_ns, failed_ns, arrivals, in_a_row;
} slot_totals;

typedef struct operation {
    uint64_t row, due_ns, begin_ns, end_ns;
    bool idle; /* the client had nothing to do before */
} operation;

void rp_note_failures(rp_failure_kind **failures, int *kinds, const rp_error *error, uint64_t count) {
    for (int i = 0; i < *kinds; i++) {
        rp_failure_kind *known = &(*failures)[i];
        if (known->error.kind != error->kind || strcmp(known->error.code, error->code) != 0) continue;
        known->count += count;
        return;
    }
    if (*kinds == RP_MOST_FAILURE_KINDS) return;
    *failures = realloc(*failures, (size_t)(*kinds + 1) * sizeof **failures);
    if (*failures == NULL) abort();
    (*failures)[(*kinds)++] = (rp_failure_kind){*error, count};
}

static void acknowledge(const rp_member *member, uint64_t row, bool good) {
    if (member->acknowledged == NULL) return;
    uint32_t *count = &member->acknowledged[good ? row : member->phase->wrap + row];
    __atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

static void note_success(const rp_member *member, slot_totals *totals, const operation *done, const rp_sink *sink) {
    rp_slot *slot = member->slot;
    uint64_t service_ns = done->end_ns - done->begin_ns;
    acknowledge(member, done->row, true);
    rp_count(slot->service, service_ns);
    rp_put(&slot->service_ns, totals->service_ns += service_ns);
    if (rp_has_dues(member->group)) {
        uint64_t latency_ns = done->end_ns - done->due_ns;
        rp_count(slot->latency, latency_ns);
        if (done->idle) rp_count(slot->lateness, done->begin_ns - done->due_ns);
        rp_put(&slot->latency_ns, totals->latency_ns += latency_ns);
    }
    rp_put(&slot->rows, sink->rows);
    rp_put(&slot->ended_ns, done->end_ns);
    rp_put(&slot->operations, ++totals->operations);
    totals->in_a_row = 0;
}

static void note_failure(rp_member *member, slot_totals *totals, const operation *done) {
    rp_slot *slot = member->slot;
    acknowledge(member, done->row, false);
    rp_put(&slot->failed_ns, totals->failed_ns += done->end_ns - done->begin_ns);
    rp_put(&slot->ended_ns, done->end_ns);
    rp_put(&slot->failed, ++totals->failed);
    totals->in_a_row++;
    rp_note_failures(&member->failures, &member->failure_kinds, &rp_last_error, 1);
}

/* Waits until the next operation may begin; false: none does any more. `previous`: when the client got free. */
static bool next(const rp_member *member, rp_schedule *schedule, uint64_t previous, uint64_t first, operation *next) {
    const rp_group *group = member->group;
    if (group->pacing == RP_CLOSED) {
        next->begin_ns =
            group->pause_ns > 0 && first > 0 ? rp_wait_until(previous + group->pause_ns, 0, &group->end) : previous;
    } else {
        next->due_ns = rp_next_due_ns(schedule);
        rp_put(&member->slot->due_ns, next->due_ns);
        next->idle = next->due_ns > previous;
        next->begin_ns = next->idle ? rp_wait_until(next->due_ns, group->spin_ns, &group->end) : previous;
    }
    return next->begin_ns != 0 && !rp_has_ended(&group->end, next->begin_ns);
}

/* The same of a queue that all clients share. An arrival that was taken before the end and was due by then is done: so
   those that were done are the first ones, without a gap. */
static bool next_shared(const rp_member *member, uint64_t begin_ns, uint64_t previous, operation *next) {
    const rp_group *group = member->group;
    uint64_t number;
    if (rp_has_ended(&group->end, rp_now_ns()) || !rp_queue_take(group->queue, begin_ns, &number, &next->due_ns))
        return false;
    next->row = number % member->phase->wrap;
    rp_put(&member->slot->row, next->row);
    rp_put(&member->slot->due_ns, next->due_ns);
    next->idle = next->due_ns > previous;
    next->begin_ns = next->idle ? rp_wait_until(next->due_ns, group->spin_ns, &group->end) : previous;
    return next->begin_ns != 0 && !rp_has_ended(&group->end, next->due_ns);
}

static rp_client_state work(rp_member *member, uint64_t begin_ns) {
    const rp_group *group = member->group;
    rp_slot *slot = member->slot;
    double clients = (double)group->clients, distance_ns = clients / group->rate_per_s * 1e9;
    rp_schedule schedule = {
        .pacing = group->pacing,
        .distance_ns = distance_ns,
        .elapsed_ns = group->pacing == RP_FIXED ? (double)member->number / clients * distance_ns : 0,
        .begin_ns = begin_ns,
        .state = group->seed + member->number,
    };
    rp_sink sink = {0};
    rp_sample_counters unused = {0};
    slot_totals totals = {0};
    uint64_t previous = member->begun_ns = rp_now_ns();
    operation now = {.row = member->first};
    for (uint64_t done = 0; group->queue != NULL || group->operations == 0 || done < group->operations; done++) {
        bool more = group->queue != NULL ? next_shared(member, begin_ns, previous, &now)
                                         : next(member, &schedule, previous, done, &now);
        if (!more) break;
        const rp_sink before = sink;
        if (rp_has_dues(group)) rp_put(&slot->arrivals, ++totals.arrivals);
        rp_put(&slot->begun_ns, now.begin_ns);
        bool good = rp_operate(member->client, member->phase, now.row, &sink, &unused);
        previous = now.end_ns = rp_now_ns();
        if (good) {
            note_success(member, &totals, &now, &sink);
        } else {
            sink = before; /* what a failed operation delivered counts nowhere */
            note_failure(member, &totals, &now);
        }
        if (group->queue == NULL) {
            if (++now.row == member->first + member->own_rows) now.row = member->first;
            rp_put(&slot->row, now.row);
        } else if (group->pacing == RP_CLOSED) {
            rp_queue_join(group->queue, now.end_ns + group->pause_ns);
        }
        rp_put(&slot->begun_ns, 0);
        if (good) continue;
        if (totals.in_a_row == RP_MOST_FAILURES) break;
        previous = rp_wait_until(previous + WAIT_AFTER_FAILURE_NS, 0, &group->end);
        if (previous == 0) break;
    }
    member->touch = sink.touch;
    return totals.in_a_row == RP_MOST_FAILURES ? RP_GAVE_UP : RP_DONE;
}

/* The instant of the begin, once it has come; 0: the group ended before. */
static uint64_t wait_for_begin(const rp_member *member) {
    const rp_group *group = member->group;
    if (member->number == 0) {
        rp_look_for_begin(&group->end);
        for (uint64_t i = 1; i < group->clients; i++)
            sem_post(group->begun);
    } else {
        while (sem_wait(group->begun) != 0)
            continue;
    }
    uint64_t begin_ns = rp_seen(&group->end.control->begin_ns);
    return begin_ns != 0 && rp_wait_until(begin_ns, 0, &group->end) != 0 ? begin_ns : 0;
}

void *rp_member_work(void *passed) {
    rp_member *member = passed;
    rp_slot *slot = member->slot;
    prctl(PR_SET_TIMERSLACK, 1);
    rp_put(&slot->row, member->first);
    rp_put(&slot->state, RP_WAITS);
    sem_post(member->waits);
    rp_client_state state = RP_DONE;
    uint64_t begin_ns = wait_for_begin(member), cpu = rp_thread_cpu_ns();
    if (begin_ns != 0) {
        rp_put(&slot->state, RP_WORKS);
        state = work(member, begin_ns);
    }
    member->cpu_ns = rp_thread_cpu_ns() - cpu;
    rp_put(&slot->state, state);
    return NULL;
}
