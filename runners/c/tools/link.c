/* The emulated link: passes bytes between clients and a server on 127.0.0.1, each chunk once its delay has passed.

   link --to PORT --delay-ns N [--rate-bytes-per-s N]

   It listens on any free port of 127.0.0.1, prints one line, `ready tcp=PORT`, and ends with its parent or its stdin.
   Bytes keep their order and are handed on N ns after they arrived, in both directions, so a round trip takes 2·N
   longer. Opening a connection takes a round trip of its own on a real link; the kernel has answered the client by the
   time we hear of it, so the server learns of it 3·N later (SYN, its answer, the acknowledgement), which the client
   then waits for with its first bytes.

   With a rate each direction is one wire for all connections: a token bucket, and bytes leave as its tokens come. It
   keeps no spare tokens, so that also the first bytes after a pause take their time. Bytes queue ahead of it for at
   most QUEUE_NS: what is beyond waits in the sender's socket, whose writes then block. */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tool.h"

enum { MOST_LINKS = 1024, MOST_CHUNKS = 1 << 14, MOST_BYTES = 16 << 20, ONE_READ = 256 << 10 };
enum { PACKET = 1448, LEAST_HELD = 64 << 10 };
#define NEVER UINT64_MAX
#define S UINT64_C(1000000000)
#define QUEUE_NS (S / 100)
#define MOST_LATE_NS (S / 10000)
#define PIECE_NS (S / 10000) /* a wake-up for each packet would take the core; network cards deliver several, too */

struct chunk {
    uint64_t due_ns; /* when it may be handed on */
    size_t bytes;    /* 0: the sender has ended */
};

/* One direction of a connection: a ring of bytes and a ring of the chunks that they arrived in. */
struct way {
    int from, to;
    uint64_t *free_ns; /* when the wire of its direction is free */
    uint8_t *bytes;
    size_t first_byte, held_bytes;
    struct chunk chunks[MOST_CHUNKS];
    size_t first_chunk, held_chunks;
    bool ended, full; /* the sender has ended; the receiver takes no more for now */
};

struct link {
    uint64_t opens_ns; /* when the server learns of it; 0: it has */
    struct way up, down;
    bool broken;
};

static struct link *links[MOST_LINKS];
static size_t link_count;
static uint64_t delay_ns, rate /* bytes a second; 0: no limit */, up_free_ns, down_free_ns;
static size_t piece_bytes = ONE_READ, most_held = MOST_BYTES;
static struct sockaddr_in server;

static void settle(int socket) {
    int one = 1, few = (int)(piece_bytes < LEAST_HELD ? LEAST_HELD : piece_bytes);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    /* A wire ends at its receiver: what that does not take is to hold up the sender, not to fill 4 MiB of ours. */
    if (rate > 0) setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    fcntl(socket, F_SETFL, O_NONBLOCK);
}

static uint8_t *ring(void) {
    void *found = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) die("memory");
    return found;
}

static void accept_one(int listener) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) {
        if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED) return;
        die("accept");
    }
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL) die("memory");
    settle(client);
    link->up = (struct way){.from = client, .to = -1, .free_ns = &up_free_ns, .bytes = ring()};
    link->down = (struct way){.from = -1, .to = client, .free_ns = &down_free_ns, .bytes = ring()};
    link->opens_ns = now_ns() + 3 * delay_ns;
    links[link_count++] = link;
}

/* Tells the server of a client whose opening has crossed the link; false when there is no server. */
static bool open_link(struct link *link) {
    int socket_to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_to < 0) die("socket");
    link->up.to = link->down.from = socket_to;
    link->opens_ns = 0;
    if (connect(socket_to, (struct sockaddr *)&server, sizeof server) != 0) return false;
    settle(socket_to);
    return true;
}

static void close_link(size_t which) {
    struct link *link = links[which];
    close(link->up.from);
    if (link->down.from >= 0) close(link->down.from);
    munmap(link->up.bytes, MOST_BYTES);
    munmap(link->down.bytes, MOST_BYTES);
    free(link);
    links[which] = links[--link_count];
}

static bool could_take(const struct way *way) {
    return way->from >= 0 && !way->ended && way->held_bytes < most_held && way->held_chunks < MOST_CHUNKS;
}

static bool has_room(const struct way *way) {
    return could_take(way) && *way->free_ns <= now_ns() + QUEUE_NS;
}

/* When the last of these bytes has left, after all that came before them on any connection. */
static uint64_t leaves_ns(uint64_t *free_ns, uint64_t arrived, size_t bytes) {
    if (rate == 0) return arrived;
    if (*free_ns < arrived) *free_ns = arrived;
    *free_ns += (bytes * S + rate - 1) / rate;
    return *free_ns;
}

/* When the kernel got the last of what was read. We hear of it later by a wake-up, at most MOST_LATE_NS: what is older
   waited for us, as at the end of a wire, or the clock was set. */
static uint64_t arrived_ns(struct msghdr *message) {
    uint64_t now = now_ns(), age = 0;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(message); each != NULL; each = CMSG_NXTHDR(message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec then;
        memcpy(&then, CMSG_DATA(each), sizeof then);
        age = clock_ns(CLOCK_REALTIME) - ns_of(then);
    }
    return age < MOST_LATE_NS ? now - age : now;
}

/* Takes what has arrived; false when the connection is broken. */
static bool take(struct way *way) {
    if (way->held_bytes == 0) way->first_byte = 0; /* little traffic stays in the cache */
    if (way->held_chunks == 0) way->first_chunk = 0;
    size_t at = (way->first_byte + way->held_bytes) % MOST_BYTES;
    size_t most = at < way->first_byte ? way->first_byte - at : MOST_BYTES - at;
    char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec room = {way->bytes + at, most < piece_bytes ? most : piece_bytes};
    struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1};
    message.msg_control = control, message.msg_controllen = sizeof control;
    ssize_t count = recvmsg(way->from, &message, 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    way->ended = count == 0;
    way->chunks[(way->first_chunk + way->held_chunks++) % MOST_CHUNKS] =
        (struct chunk){leaves_ns(way->free_ns, arrived_ns(&message), (size_t)count) + delay_ns, (size_t)count};
    way->held_bytes += (size_t)count;
    return true;
}

static struct chunk *chunk_at(struct way *way, size_t position) {
    return &way->chunks[(way->first_chunk + position) % MOST_CHUNKS];
}

static bool is_due(struct way *way, size_t position, uint64_t now) {
    return position < way->held_chunks && chunk_at(way, position)->due_ns <= now;
}

/* Forgets what was handed on, chunk by chunk. */
static void forget(struct way *way, size_t bytes) {
    way->first_byte = (way->first_byte + bytes) % MOST_BYTES;
    way->held_bytes -= bytes;
    while (bytes > 0) {
        struct chunk *chunk = chunk_at(way, 0);
        size_t taken = bytes < chunk->bytes ? bytes : chunk->bytes;
        chunk->bytes -= taken;
        bytes -= taken;
        if (chunk->bytes > 0) return;
        way->first_chunk = (way->first_chunk + 1) % MOST_CHUNKS;
        way->held_chunks--;
    }
}

/* Hands on every chunk whose time has come, all in one where they lie together; false when the connection is broken. */
static bool hand_on(struct way *way, uint64_t now) {
    way->full = false;
    while (way->to >= 0 && is_due(way, 0, now)) {
        size_t due = 0, rest = MOST_BYTES - way->first_byte;
        for (size_t i = 0; is_due(way, i, now); i++)
            due += chunk_at(way, i)->bytes;
        if (due == 0) { /* only the end */
            shutdown(way->to, SHUT_WR);
            way->held_chunks = 0;
            return true;
        }
        ssize_t count = send(way->to, way->bytes + way->first_byte, due < rest ? due : rest, MSG_NOSIGNAL);
        if (count < 0) {
            way->full = errno == EAGAIN;
            return way->full || errno == EINTR;
        }
        forget(way, (size_t)count);
    }
    return true;
}

static uint64_t next_ns(const struct link *link) {
    uint64_t next = link->opens_ns > 0 ? link->opens_ns : NEVER;
    const struct way *ways[] = {&link->up, &link->down};
    for (int i = 0; i < 2; i++) {
        if (ways[i]->to >= 0 && ways[i]->held_chunks > 0 && !ways[i]->full &&
            ways[i]->chunks[ways[i]->first_chunk].due_ns < next)
            next = ways[i]->chunks[ways[i]->first_chunk].due_ns;
        /* Too much waits for the wire: what comes is read when less does. */
        if (could_take(ways[i]) && !has_room(ways[i]) && *ways[i]->free_ns - QUEUE_NS < next)
            next = *ways[i]->free_ns - QUEUE_NS;
    }
    return next;
}

/* Does what is due; false when the connection is over. */
static bool serve(struct link *link, uint64_t now) {
    if (link->opens_ns > 0 && link->opens_ns <= now && !open_link(link)) return false;
    if (!hand_on(&link->up, now) || !hand_on(&link->down, now)) return false;
    return !(link->up.ended && link->down.ended && link->up.held_chunks == 0 && link->down.held_chunks == 0);
}

static struct pollfd watched(const struct way *reading, const struct way *writing, int socket) {
    short events = (short)((has_room(reading) ? POLLIN : 0) | (writing->full ? POLLOUT : 0));
    return (struct pollfd){events != 0 ? socket : -1, events, 0};
}

/* Takes what has arrived on a connection; false when it is broken. */
static bool take_both(struct link *link, const struct pollfd *watched) {
    bool up = (watched[0].revents & ~POLLOUT) != 0 && has_room(&link->up);
    if (up && !take(&link->up)) return false;
    bool down = (watched[1].revents & ~POLLOUT) != 0 && has_room(&link->down);
    return !down || take(&link->down);
}

/* Sleeps until something arrives or `next`. A sleep ends late: a long one is begun to end so much earlier, and the rest
   is spun; short ones come after one another, and spinning would take the core. */
static void wait_until(struct pollfd *watching, nfds_t count, uint64_t next) {
    static uint64_t late_ns;
    uint64_t now = now_ns(), left = next > now ? next - now : 0, early = left < 4 * MOST_LATE_NS ? 0 : late_ns;
    struct timespec timeout = {(time_t)((left - early) / S), (long)((left - early) % S)};
    int ready = ppoll(watching, count, next == NEVER ? NULL : &timeout, NULL);
    if (ready < 0 && errno != EINTR) die("poll");
    if (ready != 0 || left < 4 * MOST_LATE_NS) return;
    uint64_t late = now_ns() - now - (left - early);
    if (late > MOST_LATE_NS) late = MOST_LATE_NS;
    late_ns = late > late_ns ? late : (15 * late_ns + late) / 16; /* the mean would be too late every other time */
    while (now_ns() < next)
        continue;
}

static _Noreturn void pass_on(int listener) {
    static struct pollfd watching[2 + 2 * MOST_LINKS];
    char ignored[256];
    size_t first = 0;
    for (;;) {
        uint64_t now = now_ns(), next = NEVER;
        for (size_t i = link_count; i-- > 0;)
            if (!serve(links[i], now)) close_link(i);
        watching[0] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
        watching[1] = (struct pollfd){link_count < MOST_LINKS ? listener : -1, POLLIN, 0};
        for (size_t i = 0; i < link_count; i++) {
            struct link *link = links[i];
            uint64_t due = next_ns(link);
            if (due < next) next = due;
            watching[2 + 2 * i] = watched(&link->up, &link->down, link->up.from);
            watching[3 + 2 * i] = watched(&link->down, &link->up, link->down.from);
        }
        wait_until(watching, 2 + 2 * link_count, next);
        if (watching[0].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) exit(0);
        first++; /* each in turn: the wire is full after a few of those that have more than it takes */
        for (size_t n = 0; n < link_count; n++) {
            size_t i = (first + n) % link_count;
            links[i]->broken = !take_both(links[i], &watching[2 + 2 * i]);
        }
        for (size_t i = link_count; i-- > 0;)
            if (links[i]->broken) close_link(i);
        if (watching[1].revents != 0) accept_one(listener);
    }
}

/* Sizes what is read at once and what is held for a receiver that is slow; false when the wire holds more than we. */
static bool fit_rate(void) {
    double per_ns = (double)rate / (double)S, on_its_way = per_ns * (double)(delay_ns + QUEUE_NS);
    double piece = per_ns * (double)PIECE_NS, held = on_its_way + per_ns * (double)QUEUE_NS;
    if (on_its_way > MOST_BYTES) return false;
    piece_bytes = piece < PACKET ? PACKET : piece < ONE_READ ? (size_t)piece / PACKET * PACKET : ONE_READ;
    most_held = held < LEAST_HELD ? LEAST_HELD : held < MOST_BYTES ? (size_t)held : MOST_BYTES;
    return true;
}

int main(int count, char **arguments) {
    int to_port = 0, port = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    /* A wire waits for no program; without that right it is scheduled like any other. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--to") == 0)
            to_port = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--delay-ns") == 0)
            delay_ns = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--rate-bytes-per-s") == 0)
            rate = strtoull(arguments[i + 1], NULL, 10);
        else
            count = 0;
    }
    if (count % 2 == 0 || to_port <= 0) {
        fprintf(stderr, "usage: link --to PORT --delay-ns N [--rate-bytes-per-s N]\n");
        return 2;
    }
    if (rate > 0 && !fit_rate()) {
        fprintf(stderr, "link: delay x rate is beyond its buffers\n");
        return 2;
    }
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)to_port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = listen_on_loopback(&port);
    fcntl(listener, F_SETFL, O_NONBLOCK);
    printf("ready tcp=%d\n", port);
    fflush(stdout);
    pass_on(listener);
}
