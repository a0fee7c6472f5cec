/* What programs of the wheel call and an old C library lacks, or has only in a part that is linked statically; and what
   the compiler's library has, which would bring a slower memcpy along. */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* On x86-64 the kernel fills the program's own `struct stat`, which is `struct stat64` too. */
int stat(const char *path, struct stat *found) {
    return (int)syscall(SYS_stat, path, found);
}

int lstat(const char *path, struct stat *found) {
    return (int)syscall(SYS_lstat, path, found);
}

int fstat(int file, struct stat *found) {
    return (int)syscall(SYS_fstat, file, found);
}

int stat64(const char *path, struct stat64 *found) {
    return (int)syscall(SYS_stat, path, found);
}

int lstat64(const char *path, struct stat64 *found) {
    return (int)syscall(SYS_lstat, path, found);
}

int fstat64(int file, struct stat64 *found) {
    return (int)syscall(SYS_fstat, file, found);
}

static unsigned __int128 divided(unsigned __int128 value, unsigned __int128 by) {
    unsigned __int128 quotient = 0, rest = 0;
    for (int bit = 127; bit >= 0; bit--) {
        rest = rest << 1 | (value >> bit & 1);
        if (rest < by) continue;
        rest -= by;
        quotient |= (unsigned __int128)1 << bit;
    }
    return quotient;
}

__int128 __divti3(__int128 value, __int128 by) {
    unsigned __int128 size = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    unsigned __int128 by_size = by < 0 ? -(unsigned __int128)by : (unsigned __int128)by;
    __int128 quotient = (__int128)divided(size, by_size);
    return (value < 0) != (by < 0) ? -quotient : quotient;
}

#pragma GCC visibility pop
