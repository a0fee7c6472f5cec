/* What programs of the wheel call and an old C library lacks, or has only in a part that is linked statically. */
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

#pragma GCC visibility pop
