/* A switch between network namespaces: holds every frame for a stated time and sends at a stated rate.

   switch NAME/DEVICE/PID...

   Each port is a TAP device of that name in the network of that process; without offloads, so the kernel hands over
   whole frames with their checksums. A port has two links, `from` its host and `to` it. A frame takes the link from
   its sender, then those to its receivers: it is sent at the link's rate, and arrives there after the link's delay.
   Links keep the order of frames. A frame is lost only where a link holds as many as it can.

   It prints `dropped 0` once the devices are there, and so after each line of stdin, with the frames lost so far:

   delay NAME from|to NS             of frames that are held, too
   rate NAME from|to BYTES_PER_S     of whole frames; 0: as fast as it can

   It ends with its parent or its stdin. */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tool.h"

enum { MOST_PORTS = 16, MOST_HELD = 1 << 15, MOST_BYTES = 1 << 16, AT_ONCE = 64, ADDRESS = 6 };
#define NEVER UINT64_MAX
#define S UINT64_C(1000000000)

struct frame {
    uint64_t sent_ns; /* when its last byte was on the link */
    size_t bytes;
    uint8_t data[];
};

struct link {
    uint64_t delay_ns, rate, free_ns; /* free: when it can begin with the next frame */
    struct frame *held[MOST_HELD];
    size_t first, count;
};

struct port {
    const char *name;
    int device;
    bool known;
    uint8_t address[ADDRESS]; /* that was last seen as a sender's */
    struct link from, to;
};

static struct port ports[MOST_PORTS];
static size_t port_count;
static uint64_t dropped;

static void hold(struct link *link, const uint8_t *data, size_t bytes, uint64_t at_ns) {
    if (link->count == MOST_HELD) {
        dropped++;
        return;
    }
    struct frame *frame = malloc(sizeof *frame + bytes);
    if (frame == NULL) die("memory");
    if (link->free_ns < at_ns) link->free_ns = at_ns;
    if (link->rate > 0) link->free_ns += bytes * S / link->rate;
    frame->sent_ns = link->free_ns;
    frame->bytes = bytes;
    memcpy(frame->data, data, bytes);
    link->held[(link->first + link->count++) % MOST_HELD] = frame;
}

static uint64_t due_ns(const struct link *link) {
    return link->count > 0 ? link->held[link->first]->sent_ns + link->delay_ns : NEVER;
}

static struct frame *taken(struct link *link) {
    struct frame *frame = link->held[link->first];
    link->first = (link->first + 1) % MOST_HELD;
    link->count--;
    return frame;
}

static void receive(struct port *port) {
    static uint8_t data[MOST_BYTES];
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t bytes = read(port->device, data, sizeof data);
        if (bytes <= 0) return;
        if (bytes > 2 * ADDRESS) hold(&port->from, data, (size_t)bytes, now_ns());
    }
}

/* From that instant on, whenever this is called: what is late here does not add to the delay. */
static void pass_on(struct port *sender, const struct frame *frame, uint64_t at_ns) {
    memcpy(sender->address, frame->data + ADDRESS, ADDRESS);
    sender->known = true;
    struct port *receiver = NULL;
    for (struct port *port = ports; port < ports + port_count; port++)
        if (port->known && memcmp(port->address, frame->data, ADDRESS) == 0) receiver = port;
    for (struct port *port = ports; port < ports + port_count; port++)
        if (port != sender && (receiver == NULL || port == receiver)) hold(&port->to, frame->data, frame->bytes, at_ns);
}

static void send_on(struct port *port, const struct frame *frame) {
    if (write(port->device, frame->data, frame->bytes) != (ssize_t)frame->bytes) dropped++;
}

/* Hand on what is due; when the next frame will be. */
static uint64_t move(void) {
    uint64_t at_ns, now = now_ns(), next_ns = NEVER;
    for (struct port *port = ports; port < ports + port_count; port++) {
        for (; (at_ns = due_ns(&port->from)) <= now;) {
            struct frame *frame = taken(&port->from);
            pass_on(port, frame, at_ns);
            free(frame);
        }
        if (at_ns < next_ns) next_ns = at_ns;
    }
    for (struct port *port = ports; port < ports + port_count; port++) {
        for (; (at_ns = due_ns(&port->to)) <= now;) {
            struct frame *frame = taken(&port->to);
            send_on(port, frame);
            free(frame);
        }
        if (at_ns < next_ns) next_ns = at_ns;
    }
    return next_ns;
}

static void obey(void) {
    char line[128], what[16], name[32], direction[16];
    uint64_t value;
    if (fgets(line, sizeof line, stdin) == NULL) exit(0);
    errno = EINVAL;
    if (sscanf(line, "%15s %31s %15s %" SCNu64, what, name, direction, &value) != 4) die(line);
    struct port *port = ports;
    while (port < ports + port_count && strcmp(port->name, name) != 0)
        port++;
    if (port == ports + port_count) die(name);
    struct link *link = strcmp(direction, "from") == 0 ? &port->from : &port->to;
    *(strcmp(what, "delay") == 0 ? &link->delay_ns : &link->rate) = value;
    printf("dropped %" PRIu64 "\n", dropped);
}

/* NAME/DEVICE/PID; we stay in that network. */
static void add_port(char *text) {
    struct port *port = &ports[port_count++];
    struct ifreq device = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    char path[64], *name = strtok(text, "/"), *device_name = strtok(NULL, "/"), *pid = strtok(NULL, "/");
    errno = EINVAL;
    if (port_count > MOST_PORTS || pid == NULL) die("NAME/DEVICE/PID");
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int network = open(path, O_RDONLY | O_CLOEXEC);
    if (network < 0 || setns(network, CLONE_NEWNET) != 0) die(path);
    close(network);
    snprintf(device.ifr_name, sizeof device.ifr_name, "%s", device_name);
    port->name = name;
    port->device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (port->device < 0 || ioctl(port->device, TUNSETIFF, &device) != 0) die(device_name);
}

int main(int count, char **arguments) {
    struct sched_param first = {.sched_priority = 1};
    struct pollfd watching[MOST_PORTS + 1];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setscheduler(0, SCHED_FIFO, &first); /* a wire waits for no one, where that may be */
    setvbuf(stdin, NULL, _IONBF, 0);           /* else poll would not see a line */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < count; i++)
        add_port(arguments[i]);
    for (size_t i = 0; i < port_count; i++)
        watching[i] = (struct pollfd){ports[i].device, POLLIN, 0};
    watching[port_count] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
    puts("dropped 0");
    for (;;) {
        uint64_t next_ns = move(), now = now_ns();
        uint64_t left_ns = next_ns > now ? next_ns - now : 0;
        struct timespec left = {(time_t)(left_ns / S), (long)(left_ns % S)};
        if (ppoll(watching, port_count + 1, next_ns == NEVER ? NULL : &left, NULL) < 0 && errno != EINTR) die("poll");
        for (size_t i = 0; i < port_count; i++)
            if (watching[i].revents != 0) receive(&ports[i]);
        if (watching[port_count].revents != 0) obey();
    }
}
