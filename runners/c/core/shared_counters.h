/* Memory shared with the controller (runners/PROTOCOL.md, `client-groups`): each client writes down every operation
   before the next. Another process sees the stores in program order, also after this one has died. */
#ifndef RP_SHARED_COUNTERS_H
#define RP_SHARED_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_HISTOGRAM_COUNTS 7296
#define RP_SLOT_BYTES (8 * (16 + 3 * RP_HISTOGRAM_COUNTS))

typedef struct rp_shared_counters {
    uint8_t *memory;
    size_t size;
} rp_shared_counters;

typedef enum rp_client_state { RP_WAITS = 1, RP_WORKS, RP_DONE, RP_GAVE_UP } rp_client_state;

typedef struct rp_control {
    uint64_t begin_ns, end_ns;
} rp_control;

typedef struct rp_slot {
    uint64_t state, operations, failed, row, begun_ns, due_ns, service_ns, latency_ns, failed_ns, rows, arrivals,
        ended_ns, nothing[4];
    uint64_t service[RP_HISTOGRAM_COUNTS], latency[RP_HISTOGRAM_COUNTS], lateness[RP_HISTOGRAM_COUNTS];
} rp_slot;

_Static_assert(sizeof(rp_slot) == RP_SLOT_BYTES, "a slot is its words, without gaps");

/* Maps the file; false after rp_fail. */
bool rp_shared_counters_map(rp_shared_counters *counters, const char *file);
void rp_shared_counters_unmap(rp_shared_counters *counters);

/* `bytes` bytes at that offset; NULL after rp_fail: the memory ends before, or the offset is no word's. */
void *rp_shared_counters_at(const rp_shared_counters *counters, int64_t offset, int64_t bytes);

static inline void rp_put(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint64_t rp_seen(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* One more of a value below 2⁶³ ns. */
static inline void rp_count(uint64_t *histogram, uint64_t value_ns) {
    int bucket = value_ns < 256 ? 0 : 56 - __builtin_clzll(value_ns);
    uint64_t *count = &histogram[(unsigned)bucket * 128u + (value_ns >> bucket)];
    rp_put(count, *count + 1);
}

#endif
