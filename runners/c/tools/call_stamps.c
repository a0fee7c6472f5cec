/* Stamps the calls by which a process sends, receives and waits; preloaded with LD_PRELOAD, inherited by its children.

   The file named by ROWPATH_CALL_STAMPS is mapped and shared by all of them. Its layout, little endian:
     64 bytes: four unsigned 64-bit words: 1 while calls are stamped, else 0; the number of stamps so far; how many fit;
       1 where readings of CLOCK_MONOTONIC are stamped too
     then the stamps, 32 bytes each: enter and exit in ns of CLOCK_MONOTONIC, thread and process (32 bits each),
       descriptor (16 bits), kind (16 bits), the call's result (32 bits, signed)
   Kinds: 1 sent, 2 received, 3 waited (descriptor 0), 4 read the clock (descriptor 0), 5 a connection, before its first
   stamp in a process: enter is the own port and exit the peer's, or 0 and the process that made it on a unix socket;
   6 cores, after something was received by IP: result is 1 where the kernel took it in on the receiver's own core, else
   0. On loopback it does so on the sender's core.
   What does not fit is only counted. Only sockets of IP and unix sockets are stamped.

   The calls go straight to the kernel: no symbol look-up, so it is safe before main and in a child after fork. Programs
   that do so themselves (Go) are not seen: the Go runner keeps its own in runners/go/core/call_stamps.go. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SENT = 1, RECEIVED, WAITED, CLOCK, CONNECTION, CORES };
enum { UNKNOWN, SOCKET, OTHER };
enum { DESCRIPTORS = 65536, SIGNAL_SET_BYTES = 8 };

typedef struct stamp {
    uint64_t enter_ns, exit_ns;
    uint32_t thread, process;
    uint16_t descriptor, kind;
    int32_t result;
} stamp;

typedef struct stamps {
    _Atomic uint64_t on, count;
    uint64_t room, clocks, unused[4];
    stamp kept[];
} stamps;

typedef int clock_reader(clockid_t, struct timespec *);

static stamps *ring;
static clock_reader *read_clock;
static _Atomic uint8_t known[DESCRIPTORS];
static uint32_t process;
static _Thread_local uint32_t thread __attribute__((tls_model("initial-exec")));

static void forget_process(void) {
    process = 0;
    thread = 0;
    for (int file = 0; file < DESCRIPTORS; file++)
        atomic_store_explicit(&known[file], UNKNOWN, memory_order_relaxed); /* the child names its connections itself */
}

__attribute__((constructor)) static void map_ring(void) {
    int before = errno;
    const char *name = getenv("ROWPATH_CALL_STAMPS");
    int file = name != NULL ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0) : -1;
    read_clock = (clock_reader *)dlsym(RTLD_NEXT, "clock_gettime");
    if (file >= 0) {
        off_t length = lseek(file, 0, SEEK_END);
        void *mapped = length < (off_t)sizeof(stamps)
                           ? MAP_FAILED
                           : mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        syscall(SYS_close, file);
        if (mapped != MAP_FAILED) {
            ring = mapped;
            pthread_atfork(NULL, NULL, forget_process);
        }
    }
    errno = before;
}

static bool on(void) {
    return ring != NULL && atomic_load_explicit(&ring->on, memory_order_relaxed) != 0;
}

static uint64_t now_ns(void) {
    struct timespec now;
    read_clock(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void keep(int kind, int file, uint64_t enter_ns, uint64_t exit_ns, long result) {
    uint64_t at = atomic_fetch_add_explicit(&ring->count, 1, memory_order_relaxed);
    if (at >= ring->room) return;
    if (process == 0) process = (uint32_t)syscall(SYS_getpid);
    if (thread == 0) thread = (uint32_t)syscall(SYS_gettid);
    ring->kept[at] = (stamp){enter_ns,
                             exit_ns,
                             thread,
                             process,
                             (uint16_t)file,
                             (uint16_t)kind,
                             result > INT32_MAX ? INT32_MAX : (int32_t)result};
}

static unsigned port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
}

/* Whether a descriptor is a socket to be stamped; names its connection when it is met first. */
static bool met(int file) {
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t here_length = sizeof here, there_length = sizeof there;
    struct ucred maker = {0};
    socklen_t maker_length = sizeof maker;
    int before = errno;
    bool is = syscall(SYS_getsockname, file, &here, &here_length) == 0 &&
              syscall(SYS_getpeername, file, &there, &there_length) == 0;
    if (is && here.ss_family == AF_UNIX) {
        syscall(SYS_getsockopt, file, SOL_SOCKET, SO_PEERCRED, &maker, &maker_length);
        keep(CONNECTION, file, 0, (uint64_t)maker.pid, 0);
    } else if (is && (here.ss_family == AF_INET || here.ss_family == AF_INET6)) {
        keep(CONNECTION, file, port_of(&here), port_of(&there), 0);
    } else {
        is = false;
    }
    errno = before;
    atomic_store_explicit(&known[file], is ? SOCKET : OTHER, memory_order_relaxed);
    return is;
}

/* Whether this call is stamped. */
static bool stamped(int file) {
    if (!on() || file < 0 || file >= DESCRIPTORS) return false;
    uint8_t state = atomic_load_explicit(&known[file], memory_order_relaxed);
    return state == UNKNOWN ? met(file) : state == SOCKET;
}

/* Whether what was just received came from the core that this thread is on. */
static void keep_cores(int file, uint64_t at_ns) {
    int from = -1, before = errno;
    socklen_t length = sizeof from;
    if (syscall(SYS_getsockopt, file, SOL_SOCKET, SO_INCOMING_CPU, &from, &length) == 0 && from >= 0)
        keep(CORES, file, at_ns, at_ns, from == sched_getcpu());
    errno = before;
}

#define CALLED(kind, file, call)                                                                                       \
    do {                                                                                                               \
        if (!stamped(file)) return call;                                                                               \
        uint64_t enter_ns = now_ns();                                                                                  \
        long result = call;                                                                                            \
        uint64_t exit_ns = now_ns();                                                                                   \
        keep(kind, file, enter_ns, exit_ns, result);                                                                   \
        if (kind == RECEIVED && result > 0 && ring->clocks != 0) keep_cores(file, exit_ns);                            \
        return result;                                                                                                 \
    } while (0)

ssize_t send(int file, const void *data, size_t length, int flags) {
    CALLED(SENT, file, syscall(SYS_sendto, file, data, length, flags, NULL, 0));
}

ssize_t sendto(int file, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t to_length) {
    CALLED(SENT, file, syscall(SYS_sendto, file, data, length, flags, to, to_length));
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    CALLED(SENT, file, syscall(SYS_sendmsg, file, message, flags));
}

ssize_t write(int file, const void *data, size_t length) {
    CALLED(SENT, file, syscall(SYS_write, file, data, length));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    CALLED(SENT, file, syscall(SYS_writev, file, parts, count));
}

ssize_t recv(int file, void *data, size_t length, int flags) {
    CALLED(RECEIVED, file, syscall(SYS_recvfrom, file, data, length, flags, NULL, NULL));
}

ssize_t recvfrom(int file, void *restrict data, size_t length, int flags, struct sockaddr *restrict from,
                 socklen_t *restrict size) {
    CALLED(RECEIVED, file, syscall(SYS_recvfrom, file, data, length, flags, from, size));
}

ssize_t recvmsg(int file, struct msghdr *message, int flags) {
    CALLED(RECEIVED, file, syscall(SYS_recvmsg, file, message, flags));
}

ssize_t read(int file, void *data, size_t length) {
    CALLED(RECEIVED, file, syscall(SYS_read, file, data, length));
}

ssize_t readv(int file, const struct iovec *parts, int count) {
    CALLED(RECEIVED, file, syscall(SYS_readv, file, parts, count));
}

/* What programs with checked buffers call instead. */
ssize_t __recv_chk(int file, void *data, size_t length, size_t room, int flags) {
    (void)room;
    return recv(file, data, length, flags);
}

ssize_t __recvfrom_chk(int file, void *data, size_t length, size_t room, int flags, struct sockaddr *from,
                       socklen_t *size) {
    (void)room;
    return recvfrom(file, data, length, flags, from, size);
}

ssize_t __read_chk(int file, void *data, size_t length, size_t room) {
    (void)room;
    return read(file, data, length);
}

static int waited(uint64_t enter_ns, long result) {
    if (enter_ns != 0 && on()) keep(WAITED, 0, enter_ns, now_ns(), result);
    return (int)result;
}

static uint64_t waiting(void) {
    return on() ? now_ns() : 0;
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *most, const sigset_t *signals) {
    struct timespec left = most != NULL ? *most : (struct timespec){0}; /* the kernel writes there */
    uint64_t enter_ns = waiting();
    return waited(enter_ns, syscall(SYS_ppoll, files, count, most ? &left : NULL, signals, SIGNAL_SET_BYTES));
}

int poll(struct pollfd *files, nfds_t count, int most_ms) {
    struct timespec most = {most_ms / 1000, most_ms % 1000 * 1000000L};
    return ppoll(files, count, most_ms < 0 ? NULL : &most, NULL);
}

int __poll_chk(struct pollfd *files, nfds_t count, int most_ms, size_t room) {
    (void)room;
    return poll(files, count, most_ms);
}

int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *most, const sigset_t *signals, size_t room) {
    (void)room;
    return ppoll(files, count, most, signals);
}

int epoll_pwait(int file, struct epoll_event *events, int most, int most_ms, const sigset_t *signals) {
    uint64_t enter_ns = waiting();
    return waited(enter_ns, syscall(SYS_epoll_pwait, file, events, most, most_ms, signals, SIGNAL_SET_BYTES));
}

int epoll_wait(int file, struct epoll_event *events, int most, int most_ms) {
    return epoll_pwait(file, events, most, most_ms, NULL);
}

int pselect(int count, fd_set *readable, fd_set *writable, fd_set *other, const struct timespec *most,
            const sigset_t *signals) {
    struct timespec left = most != NULL ? *most : (struct timespec){0};
    struct {
        const sigset_t *signals;
        size_t length;
    } masked = {signals, SIGNAL_SET_BYTES};
    uint64_t enter_ns = waiting();
    return waited(enter_ns, syscall(SYS_pselect6, count, readable, writable, other, most ? &left : NULL, &masked));
}

int select(int count, fd_set *readable, fd_set *writable, fd_set *other, struct timeval *most) {
    struct timespec left = most != NULL ? (struct timespec){most->tv_sec, most->tv_usec * 1000} : (struct timespec){0};
    uint64_t enter_ns = waiting();
    long result = syscall(SYS_pselect6, count, readable, writable, other, most ? &left : NULL, NULL);
    if (most != NULL) *most = (struct timeval){left.tv_sec, left.tv_nsec / 1000}; /* as Linux does */
    return waited(enter_ns, result);
}

int clock_gettime(clockid_t clock, struct timespec *into) {
    int result = read_clock != NULL ? read_clock(clock, into) : (int)syscall(SYS_clock_gettime, clock, into);
    if (clock == CLOCK_MONOTONIC && result == 0 && on() && ring->clocks != 0) {
        uint64_t at_ns = (uint64_t)into->tv_sec * 1000000000u + (uint64_t)into->tv_nsec;
        keep(CLOCK, 0, at_ns, at_ns, 0);
    }
    return result;
}

int close(int file) {
    if (file >= 0 && file < DESCRIPTORS) atomic_store_explicit(&known[file], UNKNOWN, memory_order_relaxed);
    return (int)syscall(SYS_close, file);
}
