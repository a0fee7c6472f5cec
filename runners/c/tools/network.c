/* The way between two hosts: the offset of their clocks, the time of a round trip at several sizes, the rate each way.

   network serve --listen ADDRESS --peer ADDRESS [--cpu N]
   network measure --to ADDRESS --port PORT --from ADDRESS [--cpu N]
   network clocks --to ADDRESS --port PORT --from ADDRESS [--cpu N]

   `serve` takes any free port of ADDRESS, the same for TCP and UDP, answers only its peer, prints one line,
   `ready tcp=PORT`, and ends with its parent or its stdin. `measure` prints one line of JSON, `clocks` the clocks
   only. Clocks are read by exchanges over UDP: of the quickest one, the offset is the middle of its way and the bound
   half of its way, because nothing shows how the way is split. Offset: the server's CLOCK_MONOTONIC less ours.

   The rate is that at which the later half of a send arrives, by the receiver's clock. Sends grow until that half
   takes long enough, in round trips too: a connection begins slowly, the more so the longer its way. */
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tool.h"

enum { EXCHANGES = 400, MOST_LOST = 4, TRIPS = 1000, LEAST = 5, MOST_NS = 300000000, CHUNK = 256 << 10 };
enum { LEAST_BYTES = 64 << 10, MOST_BYTES = 1 << 30, RATE_NS = 100000000, RATE_TRIPS = 10, TIMEOUT_S = 5 };
#define MOST_RATE_NS UINT64_C(5000000000)
static const uint32_t sizes[] = {1, 1 << 10, 16 << 10, 64 << 10};

struct request { /* over TCP: bytes that follow, bytes of the answer; in network order */
    uint32_t follow, answer;
};

struct stamps { /* over UDP: the request has only the number */
    uint64_t number, received_ns, sent_ns;
};

struct later { /* over TCP, the begin of an answer: what the receiver saw of the later half of what followed */
    uint64_t bytes, ns;
};

static char chunk[CHUNK];

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) die("pinning");
}

static struct sockaddr_in address_of(const char *text, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    errno = EINVAL;
    if (text == NULL || inet_pton(AF_INET, text, &address.sin_addr) != 1) die(text == NULL ? "no address" : text);
    return address;
}

static void hurry(int connection) {
    int one = 1;
    struct timeval patience = {TIMEOUT_S, 0};
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static int push(int connection, uint64_t bytes) {
    while (bytes > 0) {
        ssize_t count = send(connection, chunk, bytes < CHUNK ? bytes : CHUNK, MSG_NOSIGNAL);
        if (count <= 0) return 0;
        bytes -= (uint64_t)count;
    }
    return 1;
}

static int pull(int connection, uint64_t bytes, struct later *later) {
    uint64_t half_ns = 0;
    *later = (struct later){0, 0};
    for (uint64_t left = bytes; left > 0;) {
        ssize_t count = recv(connection, chunk, left < CHUNK ? left : CHUNK, 0);
        if (count <= 0) return 0;
        left -= (uint64_t)count;
        if (half_ns == 0 && left <= bytes / 2) {
            half_ns = now_ns();
            later->bytes = left;
        }
        if (left == 0) later->ns = now_ns() - half_ns;
    }
    return 1;
}

static void answer_all(int connection) {
    struct request request;
    struct later later;
    hurry(connection);
    while (recv(connection, &request, sizeof request, MSG_WAITALL) == (ssize_t)sizeof request) {
        if (!pull(connection, ntohl(request.follow), &later)) break;
        memcpy(chunk, &later, sizeof later);
        if (!push(connection, ntohl(request.answer))) break;
    }
    close(connection);
}

/* A UDP socket on the port that the listener has; false when that is taken. */
static int bind_udp(const char *where, int port) {
    struct sockaddr_in address = address_of(where, port);
    int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (udp < 0) die("socket");
    if (bind(udp, (struct sockaddr *)&address, sizeof address) == 0) return udp;
    close(udp);
    return -1;
}

static void answer_stamps(int udp, const struct sockaddr_in *peer) {
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    struct stamps stamps;
    ssize_t count = recvfrom(udp, &stamps, sizeof stamps, 0, (struct sockaddr *)&from, &length);
    uint64_t received_ns = now_ns();
    if (count != (ssize_t)sizeof stamps || from.sin_addr.s_addr != peer->sin_addr.s_addr) return;
    stamps.received_ns = received_ns;
    stamps.sent_ns = now_ns();
    sendto(udp, &stamps, sizeof stamps, 0, (struct sockaddr *)&from, length);
}

static _Noreturn void serve(const char *where, const char *peer_text) {
    struct sockaddr_in peer = address_of(peer_text, 0), from;
    int port = 0, listener = listen_on(where, &port), udp;
    while ((udp = bind_udp(where, port)) < 0) {
        close(listener);
        port = 0;
        listener = listen_on(where, &port);
    }
    printf("ready tcp=%d\n", port);
    fflush(stdout);
    for (;;) {
        struct pollfd watching[] = {{STDIN_FILENO, POLLIN, 0}, {udp, POLLIN, 0}, {listener, POLLIN, 0}};
        if (poll(watching, 3, -1) < 0 && errno != EINTR) die("poll");
        if (watching[0].revents != 0) exit(0);
        if (watching[1].revents != 0) answer_stamps(udp, &peer);
        if (watching[2].revents != 0) {
            socklen_t length = sizeof from;
            int connection = accept(listener, (struct sockaddr *)&from, &length);
            if (connection < 0) continue;
            if (from.sin_addr.s_addr == peer.sin_addr.s_addr)
                answer_all(connection);
            else
                close(connection);
        }
    }
}

static void measure_clocks(const char *to, int port, const char *from) {
    struct sockaddr_in server = address_of(to, port), ours = address_of(from, 0);
    struct timeval patience = {1, 0};
    int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), lost = 0;
    int64_t offset_ns = 0;
    uint64_t best_ns = UINT64_MAX;
    if (udp < 0 || bind(udp, (struct sockaddr *)&ours, sizeof ours) != 0 ||
        connect(udp, (struct sockaddr *)&server, sizeof server) != 0)
        die(to);
    setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (uint64_t number = 0, begin_ns = now_ns(); number < EXCHANGES && lost < MOST_LOST; number++) {
        struct stamps stamps = {.number = number};
        uint64_t sent_ns = now_ns();
        if (number >= LEAST && sent_ns - begin_ns > MOST_NS) break;
        if (send(udp, &stamps, sizeof stamps, 0) < 0 && errno != ECONNREFUSED) die(to);
        do {
            stamps.number = UINT64_MAX;
        } while (recv(udp, &stamps, sizeof stamps, 0) >= 0 && stamps.number != number);
        uint64_t received_ns = now_ns();
        if (stamps.number != number) {
            lost++;
            continue;
        }
        uint64_t way_ns = (received_ns - sent_ns) - (stamps.sent_ns - stamps.received_ns);
        if (way_ns < best_ns) {
            best_ns = way_ns;
            offset_ns = ((int64_t)(stamps.received_ns - sent_ns) + (int64_t)(stamps.sent_ns - received_ns)) / 2;
        }
    }
    close(udp);
    errno = ETIMEDOUT;
    if (best_ns == UINT64_MAX) die("no answer over UDP");
    printf("{\"offset_ns\":%lld,\"bound_ns\":%llu,\"lost\":%d", (long long)offset_ns,
           (unsigned long long)(best_ns + 1) / 2, lost);
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Asks for so many bytes; what is seen of their arrival. */
static struct later fetched(int connection, uint64_t bytes) {
    struct request request = {0, htonl((uint32_t)bytes)};
    struct later later;
    if (send(connection, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request ||
        !pull(connection, bytes, &later))
        die("the connection broke");
    return later;
}

/* Sends so many bytes; what the server saw of their arrival. */
static struct later sent(int connection, uint64_t bytes) {
    struct request request = {htonl((uint32_t)bytes), htonl(sizeof(struct later))};
    struct later later;
    if (send(connection, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request ||
        !push(connection, bytes) || recv(connection, &later, sizeof later, MSG_WAITALL) != (ssize_t)sizeof later)
        die("the connection broke");
    return later;
}

static uint64_t trip_ns(int connection, uint64_t answer) {
    uint64_t begin_ns = now_ns();
    fetched(connection, answer);
    return now_ns() - begin_ns;
}

static void measure_trips(int connection) {
    static uint64_t found[TRIPS];
    printf(",\"round_trips\":[");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t count = 0;
        for (uint64_t begin_ns = now_ns(); count < TRIPS && (count < LEAST || now_ns() - begin_ns < MOST_NS);)
            found[count++] = trip_ns(connection, sizes[i]);
        qsort(found, count, sizeof *found, ascending);
        printf("%s{\"bytes\":%u,\"trips\":%zu,\"low_ns\":%llu,\"median_ns\":%llu,\"high_ns\":%llu}", i > 0 ? "," : "",
               sizes[i], count, (unsigned long long)found[count / 10], (unsigned long long)found[count / 2],
               (unsigned long long)found[count * 9 / 10]);
    }
    printf("],");
}

/* Bytes a second one way. */
static double rate(int connection, int up) {
    uint64_t begin_ns = now_ns(), least_ns = RATE_TRIPS * trip_ns(connection, 1);
    if (least_ns < RATE_NS) least_ns = RATE_NS;
    for (uint64_t bytes = LEAST_BYTES;; bytes *= 2) {
        struct later later = up ? sent(connection, bytes) : fetched(connection, bytes);
        if (later.ns >= least_ns || bytes * 2 > MOST_BYTES || now_ns() - begin_ns > MOST_RATE_NS)
            return (double)later.bytes * 1e9 / (double)(later.ns > 0 ? later.ns : 1);
    }
}

static void measure(const char *to, int port, const char *from) {
    struct sockaddr_in server = address_of(to, port), ours = address_of(from, 0);
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    measure_clocks(to, port, from);
    if (connection < 0 || bind(connection, (struct sockaddr *)&ours, sizeof ours) != 0 ||
        connect(connection, (struct sockaddr *)&server, sizeof server) != 0)
        die(to);
    hurry(connection);
    measure_trips(connection);
    printf("\"to_bytes_per_s\":%.0f,", rate(connection, 1));
    printf("\"from_bytes_per_s\":%.0f}\n", rate(connection, 0));
}

int main(int count, char **arguments) {
    const char *to = NULL, *from = NULL, *where = NULL, *peer = NULL;
    int port = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 2; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (strcmp(name, "--to") == 0)
            to = value;
        else if (strcmp(name, "--from") == 0)
            from = value;
        else if (strcmp(name, "--listen") == 0)
            where = value;
        else if (strcmp(name, "--peer") == 0)
            peer = value;
        else if (strcmp(name, "--port") == 0)
            port = atoi(value);
        else if (strcmp(name, "--cpu") == 0)
            pin(atoi(value));
        else
            count = 0;
    }
    if (count > 1 && count % 2 == 0 && strcmp(arguments[1], "serve") == 0) serve(where, peer);
    if (count > 1 && count % 2 == 0 && strcmp(arguments[1], "clocks") == 0) {
        measure_clocks(to, port, from);
        puts("}");
        return 0;
    }
    if (count < 2 || count % 2 == 1 || strcmp(arguments[1], "measure") != 0) {
        fprintf(stderr, "usage: network serve --listen ADDRESS --peer ADDRESS [--cpu N]\n"
                        "       network measure|clocks --to ADDRESS --port PORT --from ADDRESS [--cpu N]\n");
        return 2;
    }
    measure(to, port, from);
    return 0;
}
