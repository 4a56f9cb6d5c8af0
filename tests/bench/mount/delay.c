/* delay UPSTREAM_PORT MS: forwards connections to 127.0.0.1:UPSTREAM_PORT, and holds back what the
 * server says until MS after it came, for each connection by itself. Prints its own port. It
 * changes no byte and knows no HTTP, so what it costs is a copy and two wake-ups a direction. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, MOST = 4096 };

/* One direction's descriptor, and the other end. TIMER is of the direction from the server. */
struct end {
    int fd, timer;
    struct end *other;
    char *held; /* owned; what waits for the timer */
    size_t size;
    int is_timer;
    struct end *owner; /* of a timer */
};

static int poll_fd;
static int64_t delay_ns;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

static struct sockaddr_in local(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to(unsigned port)
{
    int on = 1;
    struct sockaddr_in address = local(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static struct end *new_end(int fd)
{
    struct end *end = calloc(1, sizeof *end);
    if (!end)
        die("calloc");
    end->fd = fd;
    end->timer = -1;
    return end;
}

static void take_connection(int listener, unsigned port)
{
    int on = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct end *client = new_end(fd), *server = new_end(connect_to(port));
    struct end *timer = new_end(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    client->other = server;
    server->other = client;
    server->timer = timer->fd;
    timer->is_timer = 1;
    timer->owner = server;
    watch(client->fd, client);
    watch(server->fd, server);
    watch(timer->fd, timer);
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        size -= (size_t)sent;
    }
}

/* What came first starts the clock; the rest of the answer goes with it. */
static void hold(struct end *server, const char *data, size_t size)
{
    struct itimerspec when = {.it_value = {delay_ns / 1000000000, delay_ns % 1000000000}};
    char *grown = realloc(server->held, server->size + size);
    if (!grown)
        die("realloc");
    memcpy(grown + server->size, data, size);
    if (server->size == 0)
        timerfd_settime(server->timer, 0, &when, NULL);
    server->held = grown;
    server->size += size;
}

static void on_timer(const struct end *timer)
{
    uint64_t ticks;
    struct end *server = timer->owner;
    if (read(timer->fd, &ticks, sizeof ticks) != sizeof ticks)
        return;
    send_all(server->other->fd, server->held, server->size);
    server->size = 0;
}

static void on_bytes(struct end *end)
{
    static char bytes[CHUNK];
    ssize_t size = recv(end->fd, bytes, sizeof bytes, 0);
    if (size <= 0) {
        epoll_ctl(poll_fd, EPOLL_CTL_DEL, end->fd, NULL);
        shutdown(end->other->fd, SHUT_WR);
    } else if (end->timer >= 0) {
        hold(end, bytes, (size_t)size);
    } else {
        send_all(end->other->fd, bytes, (size_t)size);
    }
}

static int listen_here(void)
{
    struct sockaddr_in address = local(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, MOST) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: delay UPSTREAM_PORT MS\n");
        return 2;
    }
    unsigned port = (unsigned)strtoul(argv[1], NULL, 10);
    delay_ns = (int64_t)strtoul(argv[2], NULL, 10) * 1000000;
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_here();
    watch(listener, NULL);
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(poll_fd, events, 64, -1);
        for (int i = 0; i < count; i++) {
            struct end *end = events[i].data.ptr;
            if (!end)
                take_connection(listener, port);
            else if (end->is_timer)
                on_timer(end);
            else
                on_bytes(end);
        }
    }
}
