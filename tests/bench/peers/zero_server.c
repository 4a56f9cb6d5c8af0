/* zero_server [OPTION]... SHOP=COUNT[:BYTES]...
 *
 * A server of DynamoDB's protocol whose own work costs next to nothing: all items are prepared, a
 * response is a list of slices of memory. SHOP has COUNT jobs of about 1 KB, or with a message of
 * BYTES. Each response is sent a fixed time after its request; any number of requests wait at the
 * same time.
 *
 *     --delay-ms N    that time; fractions are allowed; 0 by default
 *     --serial        one request at a time waits, the others queue: a server that is the
 * bottleneck
 *     --port N        a free port by default; it is printed, with a newline, when the server is
 * ready
 *     --print WHAT    instead of serving: "items", one {"Item":…} per line, or "table", its
 * definition
 *
 * GET /counts returns the requests since the start, by operation; "connections"; "at_once", the
 * most requests that waited at the same time; and "bytes" of bodies.
 *
 * Operations: GetItem, BatchGetItem, Query (both directions; any condition on the sort key; Limit,
 * COUNT, the index ByShop), DescribeTable, ListTables. Signatures are not checked. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/peers/zero_answer.h"

enum { REQUEST_SIZE = 1 << 16, HEAD_SIZE = 512, EVENTS = 64, BACKLOG = 1024, MESSAGE_SIZE = 145 };

enum zero_phase {
    ZERO_READING, /* a request */
    ZERO_WAITING, /* for the time of its response */
    ZERO_WRITING,
};

struct connection {
    int fd;
    enum zero_phase phase;
    bool ends; /* the client closed it while a response waited */
    char request[REQUEST_SIZE];
    size_t request_size, used; /* used: of the request that is answered */
    char head[HEAD_SIZE];
    struct iovec left[1 + ZERO_MOST_PIECES]; /* of the response */
    size_t left_count;
    struct zero_answer answer;
    int64_t due_ns;
    struct connection *next; /* which waits behind it */
};

struct zero_server {
    struct zero_tables tables;
    int poll, listener, timer;
    int64_t delay_ns;
    bool serial;
    struct connection *first, *last; /* those that wait, in the order of their time */
    uint64_t counts[ZERO_OPS], backwards, connections, bytes, waiting, at_once;
};

static void zero_die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static int64_t zero_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void zero_watch(const struct zero_server *server, int operation, int fd, uint32_t events,
                       void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};
    if (epoll_ctl(server->poll, operation, fd, &event) != 0)
        zero_die("epoll_ctl");
}

static void zero_set_timer(const struct zero_server *server)
{
    struct itimerspec when = {0};
    if (server->first)
        when.it_value = (struct timespec){server->first->due_ns / 1000000000,
                                          server->first->due_ns % 1000000000};
    if (timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0)
        zero_die("timerfd_settime");
}

static void zero_close(struct connection *connection)
{
    close(connection->fd);
    if (connection->phase == ZERO_WAITING)
        connection->ends = true; /* it is freed at its time */
    else
        free(connection);
}

static bool zero_read_next(struct zero_server *server, struct connection *connection);

/* Sends as much as the socket takes. False when the connection was closed and freed. */
static bool zero_send(struct zero_server *server, struct connection *connection)
{
    struct iovec *at = connection->left;
    size_t count = connection->left_count;
    while (count > 0) {
        ssize_t sent = writev(connection->fd, at, (int)count);
        if (sent < 0 &&
            errno != EAGAIN) { /* the client is gone: the next event closes the connection */
            shutdown(connection->fd, SHUT_RDWR);
            count = 0;
        }
        if (sent < 0)
            break;
        for (; count > 0 && (size_t)sent >= at->iov_len; at++, count--)
            sent -= (ssize_t)at->iov_len;
        if (count > 0)
            *at = (struct iovec){(char *)at->iov_base + sent, at->iov_len - (size_t)sent};
    }
    memmove(connection->left, at, count * sizeof *at);
    connection->left_count = count;
    if (count > 0 && connection->phase != ZERO_WRITING)
        zero_watch(server, EPOLL_CTL_MOD, connection->fd, EPOLLIN | EPOLLOUT, connection);
    if (count == 0 && connection->phase == ZERO_WRITING)
        zero_watch(server, EPOLL_CTL_MOD, connection->fd, EPOLLIN, connection);
    connection->phase = count > 0 ? ZERO_WRITING : ZERO_READING;
    if (count > 0)
        return true;
    connection->request_size -= connection->used;
    memmove(connection->request, connection->request + connection->used, connection->request_size);
    return zero_read_next(server, connection);
}

static void zero_prepare(struct connection *connection)
{
    const struct zero_answer *answer = &connection->answer;
    time_t now = time(NULL);
    struct tm utc;
    char date[64];
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
    int size =
        snprintf(connection->head, sizeof connection->head,
                 "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/x-amz-json-1.0\r\n"
                 "Content-Length: %zu\r\nConnection: keep-alive\r\n"
                 "x-amzn-RequestId: ZEROSERVER0000000000000000000000000000000000000000000\r\n"
                 "x-amz-crc32: %" PRIu32 "\r\n\r\n",
                 answer->status, answer->status == 200 ? "OK" : "Bad Request", date, answer->size,
                 answer->crc);
    connection->left[0] = (struct iovec){connection->head, (size_t)size};
    memcpy(connection->left + 1, answer->pieces, answer->piece_count * sizeof *answer->pieces);
    connection->left_count = 1 + answer->piece_count;
}

static void zero_wait(struct zero_server *server, struct connection *connection)
{
    int64_t from = zero_now_ns();
    if (server->serial && server->last && server->last->due_ns > from)
        from = server->last->due_ns;
    connection->due_ns = from + server->delay_ns;
    connection->phase = ZERO_WAITING;
    connection->next = NULL;
    if (server->last)
        server->last->next = connection;
    else
        server->first = connection;
    server->last = connection;
    server->waiting++;
    if (server->waiting > server->at_once)
        server->at_once = server->waiting;
    if (server->first == connection)
        zero_set_timer(server);
}

static void zero_print_counts(struct zero_server *server, struct zero_answer *answer)
{
    *answer = (struct zero_answer){.status = 200};
    zero_answer_print(answer, "{");
    for (enum zero_op op = 0; op < ZERO_OPS; op++)
        zero_answer_print(answer, "\"%s\":%" PRIu64 ",", zero_op_name(op), server->counts[op]);
    zero_answer_print(answer,
                      "\"backwards\":%" PRIu64 ",\"connections\":%" PRIu64 ",\"bytes\":%" PRIu64,
                      server->backwards, server->connections, server->bytes);
    zero_answer_print(answer, ",\"at_once\":%" PRIu64 "}\n", server->at_once);
}

/* The value of a header line; empty if it is missing. */
static struct span zero_header(const char *head, const char *name)
{
    const char *line = strcasestr(head, name);
    if (!line)
        return span_of("", 0);
    line += strlen(name);
    line += strspn(line, " ");
    return span_of(line, strcspn(line, "\r"));
}

/* False when the connection was closed and freed. */
static bool zero_answer_request(struct zero_server *server, struct connection *connection,
                                struct span body)
{
    struct zero_answer *answer = &connection->answer;
    if (connection->request[0] == 'G') {
        zero_print_counts(server, answer);
        zero_prepare(connection);
        return zero_send(server, connection);
    }
    enum zero_op op = zero_op_of(zero_header(connection->request, "\r\nx-amz-target:"));
    zero_answer_make(answer, &server->tables, op, body);
    zero_prepare(connection);
    server->counts[op]++;
    server->backwards += answer->backwards;
    server->bytes += answer->size;
    if (server->delay_ns == 0)
        return zero_send(server, connection);
    zero_wait(server, connection);
    return true;
}

/* Answers the request that is in memory, if it is whole. False when the connection was closed and
 * freed. */
static bool zero_read_next(struct zero_server *server, struct connection *connection)
{
    connection->request[connection->request_size] = '\0';
    char *end = strstr(connection->request, "\r\n\r\n");
    if (!end)
        return true;
    *end = '\0';
    struct span length = zero_header(connection->request, "\r\ncontent-length:");
    size_t size = length.size ? strtoul(length.data, NULL, 10) : 0;
    size_t head_size = (size_t)(end - connection->request) + 4;
    if (head_size + size >= REQUEST_SIZE) {
        fprintf(stderr, "zero_server: a request of %zu bytes is too large\n", size);
        zero_close(connection);
        return false;
    }
    connection->used = head_size + size;
    if (connection->request_size < connection->used) {
        *end = '\r';
        return true;
    }
    return zero_answer_request(server, connection, span_of(end + 4, size));
}

static void zero_on_bytes(struct zero_server *server, struct connection *connection)
{
    size_t room = REQUEST_SIZE - 1 - connection->request_size;
    ssize_t size = recv(connection->fd, connection->request + connection->request_size, room, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        zero_close(connection);
        return;
    }
    connection->request_size += (size_t)size;
    if (connection->phase == ZERO_READING)
        zero_read_next(server, connection);
}

static void zero_on_timer(struct zero_server *server)
{
    uint64_t ticks;
    int64_t now = zero_now_ns();
    if (read(server->timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
        zero_die("timerfd");
    while (server->first && server->first->due_ns <= now) {
        struct connection *connection = server->first;
        server->first = connection->next;
        if (!server->first)
            server->last = NULL;
        server->waiting--;
        connection->phase = ZERO_READING;
        if (connection->ends)
            free(connection);
        else
            zero_send(server, connection);
    }
    zero_set_timer(server);
}

static void zero_accept(struct zero_server *server)
{
    int on = 1;
    int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct connection *connection = fd >= 0 ? calloc(1, sizeof *connection) : NULL;
    if (!connection)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->fd = fd;
    server->connections++;
    zero_watch(server, EPOLL_CTL_ADD, fd, EPOLLIN, connection);
}

static void zero_listen(struct zero_server *server, unsigned port)
{
    int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(server->listener, BACKLOG) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
        zero_die("listen");
    server->poll = epoll_create1(EPOLL_CLOEXEC);
    server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    zero_watch(server, EPOLL_CTL_ADD, server->listener, EPOLLIN, &server->listener);
    zero_watch(server, EPOLL_CTL_ADD, server->timer, EPOLLIN, &server->timer);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
}

/* One event per descriptor and turn: a connection that is freed by its own event has no other one.
 * A connection that the timer would free, because its socket is gone, has no event. */
static void zero_serve(struct zero_server *server)
{
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(server->poll, events, EVENTS, -1);
        bool timer = false;
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (events[i].data.ptr == &server->listener)
                zero_accept(server);
            else if (events[i].data.ptr == &server->timer)
                timer = true;
            else if (connection->phase == ZERO_WRITING && (events[i].events & EPOLLOUT))
                zero_send(server, connection);
            else
                zero_on_bytes(server, connection);
        }
        if (timer) /* last, since it may free connections */
            zero_on_timer(server);
    }
}

/* "many=100000" or "large=50:100000". */
static bool zero_read_shop(struct zero_shop *shop, const char *word)
{
    const char *equals = strchr(word, '=');
    char *end = NULL;
    if (!equals || equals == word)
        return false;
    size_t count = strtoul(equals + 1, &end, 10);
    size_t message = *end == ':' ? strtoul(end + 1, &end, 10) : MESSAGE_SIZE;
    return *end == '\0' && count > 0 &&
           zero_shop_init(shop, span_of(word, (size_t)(equals - word)), count, message);
}

static void zero_print(const struct zero_tables *tables, bool items)
{
    if (!items)
        printf("{%s,\"BillingMode\":\"PAY_PER_REQUEST\"}\n", zero_table_definition);
    for (size_t i = 0; items && i < tables->count; i++) {
        const struct zero_shop *shop = &tables->shops[i];
        for (size_t number = 0; number < shop->count; number++) {
            struct zero_slice item =
                zero_shop_slice(shop, ZERO_WHOLE, ZERO_FORWARDS, number, number + 1);
            printf("{\"Item\":%.*s}\n", (int)item.text.size, item.text.data);
        }
    }
}

static void zero_usage(void)
{
    fputs("usage: zero_server [--delay-ms N] [--serial] [--port N] [--print items|table] "
          "SHOP=COUNT[:BYTES]...\n",
          stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"delay-ms", required_argument, NULL, 'd'},
                                            {"serial", no_argument, NULL, 's'},
                                            {"port", required_argument, NULL, 'p'},
                                            {"print", required_argument, NULL, 'o'},
                                            {0}};
    struct zero_server server = {0};
    const char *printed = NULL;
    unsigned port = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            server.delay_ns = (int64_t)(strtod(optarg, NULL) * 1e6);
        else if (c == 's')
            server.serial = true;
        else if (c == 'p')
            port = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 'o')
            printed = optarg;
        else
            zero_usage();
    }
    server.tables.shops = calloc((size_t)(argc - optind) + 1, sizeof *server.tables.shops);
    for (; server.tables.shops && optind < argc; optind++)
        if (!zero_read_shop(&server.tables.shops[server.tables.count++], argv[optind]))
            zero_usage();
    if (printed) {
        zero_print(&server.tables, strcmp(printed, "items") == 0);
        for (size_t i = 0; i < server.tables.count; i++)
            zero_shop_clean_up(&server.tables.shops[i]);
        free(server.tables.shops);
        return EXIT_SUCCESS;
    }
    signal(SIGPIPE, SIG_IGN);
    zero_listen(&server, port);
    zero_serve(&server);
}
