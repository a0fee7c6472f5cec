/* Counts how often a process asks for its writes to be on disk; preloaded with LD_PRELOAD, inherited by its children.

   The file named by ROWPATH_SYNC_COUNT_FILE (at least 64 bytes, made by the reader) is mapped and shared. Its layout:
   8 unsigned 64-bit counters, little endian:
     0 fsync   1 fdatasync   2 sync_file_range   3 msync with MS_SYNC   4 writes to descriptors opened O_SYNC or O_DSYNC
     5, 6, 7 zero
   Calls are counted when they return success. Without the variable, or when the file cannot be mapped, nothing changes.

   The calls go straight to the kernel: no symbol look-up, so it is safe before main and in a child after fork. Writes
   that libc makes for itself (stdio) are not seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FSYNC, FDATASYNC, SYNC_FILE_RANGE, MSYNC, SYNC_WRITE, COUNTERS = 8 };
enum { DESCRIPTORS = 65536 };

static _Atomic uint64_t nowhere[COUNTERS];
static _Atomic(_Atomic uint64_t *) counters;
static atomic_bool synchronous[DESCRIPTORS]; /* descriptors opened O_SYNC or O_DSYNC */

__attribute__((constructor)) static void map_counters(void) {
    int before = errno;
    const char *name = getenv("ROWPATH_SYNC_COUNT_FILE");
    _Atomic uint64_t *found = nowhere;
    int file = name != NULL ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0) : -1;
    if (file >= 0) {
        void *mapped = lseek(file, 0, SEEK_END) < (off_t)sizeof nowhere
                           ? MAP_FAILED
                           : mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) found = mapped;
        syscall(SYS_close, file);
    }
    atomic_store(&counters, found);
    errno = before;
}

static long counted(int counter, long result) {
    if (result < 0) return result;
    if (atomic_load_explicit(&counters, memory_order_relaxed) == NULL) map_counters();
    atomic_fetch_add_explicit(&atomic_load(&counters)[counter], 1, memory_order_relaxed);
    return result;
}

static ssize_t written(int file, ssize_t result) {
    if (file >= 0 && file < DESCRIPTORS && atomic_load_explicit(&synchronous[file], memory_order_relaxed))
        counted(SYNC_WRITE, result);
    return result;
}

static int opened(int file, int flags) {
    if (file >= 0 && file < DESCRIPTORS) atomic_store(&synchronous[file], (flags & O_DSYNC) != 0); /* part of O_SYNC */
    return file;
}

int fsync(int file) {
    return (int)counted(FSYNC, syscall(SYS_fsync, file));
}

int fdatasync(int file) {
    return (int)counted(FDATASYNC, syscall(SYS_fdatasync, file));
}

int sync_file_range(int file, off64_t from, off64_t length, unsigned flags) {
    return (int)counted(SYNC_FILE_RANGE, syscall(SYS_sync_file_range, file, from, length, flags));
}

int msync(void *from, size_t length, int flags) {
    long result = syscall(SYS_msync, from, length, flags);
    return (int)(flags & MS_SYNC ? counted(MSYNC, result) : result);
}

ssize_t write(int file, const void *data, size_t length) {
    return written(file, syscall(SYS_write, file, data, length));
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t at) {
    return written(file, syscall(SYS_pwrite64, file, data, length, at));
}

ssize_t pwrite(int file, const void *data, size_t length, off_t at) {
    return pwrite64(file, data, length, at);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return written(file, syscall(SYS_writev, file, parts, count));
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) {
    return written(file, syscall(SYS_pwritev, file, parts, count, at, 0L));
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    return pwritev64(file, parts, count, at);
}

ssize_t pwritev64v2(int file, const struct iovec *parts, int count, off64_t at, int flags) {
    return written(file, syscall(SYS_pwritev2, file, parts, count, at, 0L, flags));
}

ssize_t pwritev2(int file, const struct iovec *parts, int count, off_t at, int flags) {
    return pwritev64v2(file, parts, count, at, flags);
}

static mode_t mode_of(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name, parameters, directory)                                                                              \
    int name parameters {                                                                                              \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = mode_of(flags, arguments);                                                                       \
        va_end(arguments);                                                                                             \
        return opened((int)syscall(SYS_openat, directory, path, flags, mode), flags);                                  \
    }

OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int directory, const char *path, int flags, ...), directory)
OPEN(openat64, (int directory, const char *path, int flags, ...), directory)

int close(int file) {
    opened(file, 0);
    return (int)syscall(SYS_close, file);
}
