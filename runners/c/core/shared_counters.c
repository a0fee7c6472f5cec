/* The shared counters' memory: mapped once for all groups of a request. */
#include "shared_counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter.h"

bool rp_shared_counters_map(rp_shared_counters *counters, const char *file) {
    struct stat facts;
    int descriptor = open(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return rp_fail_errno(RP_INTERNAL, "the shared counters");
    bool good = fstat(descriptor, &facts) == 0;
    void *memory =
        good ? mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) rp_fail_errno(RP_INTERNAL, "the shared counters");
    close(descriptor);
    if (memory == MAP_FAILED) return false;
    *counters = (rp_shared_counters){memory, (size_t)facts.st_size};
    return true;
}

void rp_shared_counters_unmap(rp_shared_counters *counters) {
    if (counters->memory != NULL) munmap(counters->memory, counters->size);
    *counters = (rp_shared_counters){0};
}

void *rp_shared_counters_at(const rp_shared_counters *counters, int64_t offset, int64_t bytes) {
    if (offset >= 0 && offset % 8 == 0 && bytes >= 0 && (uint64_t)offset <= counters->size &&
        (uint64_t)bytes <= counters->size - (uint64_t)offset)
        return counters->memory + offset;
    rp_fail(RP_INTERNAL, "", "%lld bytes at %lld of shared counters of %zu bytes", (long long)bytes, (long long)offset,
            counters->size);
    return NULL;
}
