/* The transport over libcurl: its sockets and its timer are on the loop, a request has a handle of
 * its own, and the order of requests is decided by their shares. */
#include "core/net/http.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/list.h"
#include "core/base/wiped.h"
#include "core/net/admission.h"
#include "core/net/failure.h"
#include "core/net/proxy.h"
#include "core/net/transport.h"

enum {
    MAX_HEAD = 64 * 1024,  /* bytes of a response's headers */
    MAX_CONNECT_MS = 5000, /* a retry must be possible before the caller's deadline */
    WHOLE = 4,             /* the limit of all connections, in shares */
    MAX_INFLOW = 32 << 20, /* bytes of all unfinished responses */
    MAX_IDLE_S = 86400,    /* of a connection; the service closes most of them earlier */
    KEEP_ALIVE_S = 60,     /* of an idle connection; routers drop connections after minutes */
    KEEP_ALIVE_AGAIN_S = 15,
    TRUSTED_IDLE_MS = 10000, /* a connection that was used later is taken to be alive */
    PATIENCE_MS = 2000,      /* for the first byte of a response over any other connection */
};

/* The last use of an open connection, which its local port identifies. */
struct connection_use {
    int local_port; /* 0: none */
    int64_t at_ms;
};

struct http {
    struct transport base;       /* first: a transport is cast to it */
    struct loop *loop;           /* borrowed */
    CURLM *multi;                /* owned */
    struct loop_timer *timer;    /* libcurl's only one; NULL if it needs none */
    struct loop_timer *ended;    /* reports transfers that have ended; NULL: none is known */
    int begun;                   /* transfers that libcurl has */
    struct list transfers;       /* under way, or waiting for their turn */
    struct list connections;     /* of struct watch, owned: of all open sockets */
    struct shares shares;        /* of the connections */
    struct inflow inflow;        /* of the responses */
    CURLSH *sessions;            /* of TLS, shared by all transfers; owned */
    struct connection_use *uses; /* owned; of all connections */
    size_t use_count;
    int64_t suspect_ms;  /* connections that were not used since may be dead; 0: none is suspect */
    char *user_agent;    /* owned; may be NULL */
    const char *ca_over; /* AWS_CA_BUNDLE, before any request's; NULL if not set */
    const char *ca_else; /* REQUESTS_CA_BUNDLE, behind all; NULL: libcurl's default */
    bool starved;        /* the loop refused a timer or a descriptor: memory ran out */
    bool delivering;     /* http_drive calls back */
    bool destroyed;      /* no request begins any more; http_drive frees it at its end */
};

/* The head of a response, received line by line. */
struct head {
    struct buf text; /* "Name", NUL, "value", NUL for each header */
    size_t count;
    size_t received; /* bytes, also of interim responses and trailers: libcurl stores them all */
    bool complete;   /* the empty line was received */
};

struct transfer {
    struct turn turn; /* first: a turn is a transfer. Granted: libcurl has the transfer */
    struct http *http;
    struct list_node node; /* of the transport's transfers */
    CURL *easy;            /* owned until detached */
    struct loop_timer *deadline;
    transport_done_fn *done;
    void *arg;
    char *url;                       /* owned */
    struct curl_slist *request_head; /* owned */
    int64_t timeout_ms;
    int64_t connect_timeout_ms;
    int socket_error;            /* of the last socket; 0: none failed */
    int64_t sent_ms;             /* on the loop's clock */
    bool sent;                   /* the request was sent */
    bool lost;                   /* libcurl was about to send it again */
    int local_port;              /* of its connection, once there is one */
    struct loop_timer *patience; /* for the first byte over a connection that may be dead */
    bool proxied;
    unsigned failed_allocs; /* of libcurl, when the transfer began */
    size_t max_body;
    struct head head;
    bool too_large;
    struct buf body;
    struct incoming incoming;     /* the bytes of BODY, as long as libcurl has the transfer */
    char reason[CURL_ERROR_SIZE]; /* libcurl's words */
};

/* One of libcurl's descriptors on the loop. The socket of a connection stays there as long as it is
 * open: a system call for each request is saved. It rests while libcurl does not want its events.
 * libcurl closes the socket of an attempt to connect by itself: no watch of one may outlive that.
 */
struct watch {
    struct http *http;
    struct loop_io *io; /* owned; NULL: not on the loop */
    uint32_t events;    /* that libcurl wants; 0: none, it rests */
    uint32_t last_events;
    curl_socket_t fd;
    bool was_read;         /* it has connected: http_on_close_socket will close it */
    struct list_node node; /* of the transport's connections; of another descriptor in no list */
};

static int64_t http_now_ms(const struct http *http)
{
    return loop_now_ms(http->loop);
}

/* Returns the time of the connection's last use, 0 if it is not known, and sets it to NOW_MS. A new
 * connection replaces a free entry, else the one with the oldest use. */
static int64_t http_note_use(struct http *http, int local_port)
{
    struct connection_use *use = &http->uses[0];
    for (size_t i = 0; i < http->use_count; i++) {
        struct connection_use *each = &http->uses[i];
        if (each->local_port == local_port) {
            use = each;
            break;
        }
        if (each->at_ms < use->at_ms)
            use = each;
    }
    int64_t before_ms = use->local_port == local_port ? use->at_ms : 0;
    *use = (struct connection_use){local_port, http_now_ms(http)};
    return before_ms;
}

/* A response is received. */

static struct span http_trim(struct span text)
{
    while (text.size > 0 && strchr(" \t\r\n", text.data[text.size - 1]))
        text.size--;
    while (text.size > 0 && strchr(" \t", text.data[0]))
        text = span_from(text, 1);
    return text;
}

/* A status line begins a new head, because interim responses may come before. */
static void http_add_head_line(struct head *head, struct span line)
{
    line = http_trim(line);
    const char *colon = line.size > 0 ? memchr(line.data, ':', line.size) : NULL;
    if (span_starts(line, SPAN_LITERAL("HTTP/"))) {
        buf_truncate(&head->text, 0);
        head->count = 0;
        head->complete = false;
    } else if (line.size == 0) {
        head->complete = true;
    } else if (colon) {
        size_t name = (size_t)(colon - line.data);
        buf_add_span(&head->text, http_trim(span_of(line.data, name)));
        buf_add_char(&head->text, '\0');
        buf_add_span(&head->text, http_trim(span_from(line, name + 1)));
        buf_add_char(&head->text, '\0');
        head->count++;
    }
}

/* The headers as an array of texts in HEAD; NULL when memory ran out. The caller frees it. */
static struct http_header *http_list_headers(const struct head *head)
{
    struct http_header *headers = calloc(head->count + 1, sizeof *headers);
    const char *at = buf_text(&head->text);
    for (size_t i = 0; headers && i < head->count; i++) {
        headers[i].name = at;
        at += strlen(at) + 1;
        headers[i].value = at;
        at += strlen(at) + 1;
    }
    return headers;
}

static size_t http_on_header(char *data, size_t unit, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t size = unit * count;
    loop_remove_timer(transfer->patience);
    transfer->patience = NULL;
    transfer->head.received += size;
    http_add_head_line(&transfer->head, span_of(data, size));
    return transfer->head.received > MAX_HEAD || transfer->head.text.failed ? 0 : size;
}

static size_t http_on_body(char *data, size_t unit, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t size = unit * count;
    transfer->too_large = size > transfer->max_body - transfer->body.size;
    if (!transfer->too_large && !inflow_take(&transfer->http->inflow, &transfer->incoming, size))
        return CURL_WRITEFUNC_PAUSE; /* libcurl buffers these bytes, and reads no more */
    /* If the head has a length, all room is reserved at once. The peer may lie, so the limit
     * applies.
     */
    curl_off_t reported = -1;
    if (!transfer->body.data)
        curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &reported);
    bool is_usable = reported > (curl_off_t)size && (size_t)reported <= transfer->max_body;
    if (transfer->too_large ||
        !buf_reserve_within(&transfer->body, is_usable ? (size_t)reported : size,
                            transfer->max_body))
        return 0;
    buf_add(&transfer->body, data, size);
    return size;
}

/* As libcurl's own function, with three differences: the socket is closed at exec, the reason of a
 * failure is stored, and data that is never acknowledged fails in time for a retry. */
static curl_socket_t http_on_open_socket(void *arg, curlsocktype purpose,
                                         struct curl_sockaddr *address)
{
    struct transfer *transfer = arg;
    const unsigned unacknowledged_ms = MAX_CONNECT_MS;
    (void)purpose;
    transfer->lost = transfer->sent;
    if (transfer->lost)
        return CURL_SOCKET_BAD;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        transfer->socket_error = errno;
    else
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* Whether http_on_open_socket has opened FD. libcurl has other descriptors, too, for its resolver.
 */
static bool http_is_own_socket(curl_socket_t fd)
{
    unsigned ms = 0;
    socklen_t size = sizeof ms;
    return getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &size) == 0 && ms == MAX_CONNECT_MS;
}

static struct watch *http_find_connection(const struct http *http, curl_socket_t fd)
{
    LIST_EACH (struct watch, each, &http->connections, node)
        if (each->fd == fd)
            return each;
    return NULL;
}

static void http_free_watch(struct watch *watch)
{
    list_remove(&watch->node);
    loop_remove_io(watch->io);
    free(watch);
}

/* Sockets leave the loop before they are closed: their numbers are used again. */
static int http_on_close_socket(void *arg, curl_socket_t fd)
{
    struct watch *watch = http_find_connection(arg, fd);
    if (watch)
        http_free_watch(watch);
    return close(fd);
}

static void http_on_impatience(void *arg);

/* The request is sent, once. If an old connection dies after that, libcurl would send it again over
 * another connection, and that request would not be counted. A request over an idle connection may
 * get lost without an error, after a laptop has slept or a router has dropped the connection. */
static int http_on_send(void *arg, char *peer_ip, char *local_ip, int peer_port, int local_port)
{
    (void)peer_ip, (void)local_ip, (void)peer_port;
    struct transfer *transfer = arg;
    struct http *http = transfer->http;
    long made = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &made);
    transfer->lost = transfer->sent;
    if (transfer->lost)
        return CURL_PREREQFUNC_ABORT;
    transfer->sent = true;
    int64_t used_ms = http_note_use(http, local_port);
    if (made == 0 && http_now_ms(http) - used_ms > TRUSTED_IDLE_MS)
        transfer->patience = loop_add_timer(http->loop, PATIENCE_MS, http_on_impatience, transfer);
    transfer->local_port = local_port;
    transfer->sent_ms = http_now_ms(http);
    return CURL_PREREQFUNC_OK;
}

/* The end of a transfer. */

/* Whether the process, or the system, has reached its limit of open files. The failed operation may
 * have closed one descriptor, so two are tried. */
static bool http_out_of_descriptors(const struct transfer *transfer)
{
    int reason = transfer->socket_error;
    int fds[2] = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        else
            reason = errno;
    }
    return reason == EMFILE || reason == ENFILE;
}

/* Whether a header exceeds a limit of libcurl, which reports that as missing memory. */
static bool http_exceeds_libcurl(const struct transfer *transfer, CURLcode code)
{
    return code == CURLE_OUT_OF_MEMORY && wiped_failed_allocs() == transfer->failed_allocs &&
           transfer->sent;
}

/* Fills ERR for a transfer that libcurl ended with CODE. */
static void http_fail(const struct transfer *transfer, CURLcode code, struct error *err)
{
    long port = 0;
    struct failure failure = {
        .url = transfer->url,
        .code = (int)code,
        .reason = transfer->reason,
        .proxied = transfer->proxied,
        .lost = transfer->lost,
        .answered = transfer->head.text.size > 0,
    };
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &failure.os_error);
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &failure.proxy_status);
    curl_easy_getinfo(transfer->easy, CURLINFO_PRIMARY_PORT, &port);
    failure.connected = port != 0;
    failure_report(&failure, err);
}

static int64_t http_connect_timeout_ms(const struct transfer *transfer)
{
    int64_t most = transfer->connect_timeout_ms > 0 ? transfer->connect_timeout_ms : MAX_CONNECT_MS;
    return transfer->timeout_ms < most ? transfer->timeout_ms : most;
}

/* The life of a transfer. */

static void http_start_waiting(struct http *http);

static void http_remove(struct transfer *transfer)
{
    curl_multi_remove_handle(transfer->http->multi, transfer->easy);
    transfer->http->begun--;
}

/* Removes the transfer from libcurl, the loop and the list, so that no callback gets it any more.
 * Its turn goes to another transfer, its memory to responses that wait. */
static void http_detach(struct transfer *transfer)
{
    struct http *http = transfer->http;
    bool had_turn = transfer->turn.granted;
    struct incoming *next;
    list_remove(&transfer->node);
    loop_remove_timer(transfer->deadline);
    loop_remove_timer(transfer->patience);
    if (transfer->local_port)
        http_note_use(http, transfer->local_port);
    if (had_turn)
        http_remove(transfer);
    curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
    shares_leave(&http->shares, &transfer->turn);
    inflow_leave(&http->inflow, &transfer->incoming);
    while ((next = inflow_next(&http->inflow))) {
        struct transfer *waiting =
            (struct transfer *)((char *)next - offsetof(struct transfer, incoming));
        curl_easy_pause(waiting->easy, CURLPAUSE_CONT);
    }
    if (had_turn)
        http_start_waiting(http);
}

static void http_free_transfer(struct transfer *transfer)
{
    shares_leave(&transfer->http->shares, &transfer->turn);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->request_head);
    buf_clean_up(&transfer->head.text);
    buf_clean_up_secret(&transfer->body);
    free(transfer->url);
    free(transfer);
}

static void http_cancel(struct transfer *transfer)
{
    http_detach(transfer);
    http_free_transfer(transfer);
}

/* The callback may destroy the transport. */
static void http_end_with_error(struct transfer *transfer, const struct error *err)
{
    http_detach(transfer);
    transfer->done(transfer->arg, NULL, err);
    http_free_transfer(transfer);
}

/* libcurl ignores its own time-out while a request waits for a connection, so the total deadline is
 * a timer of the loop. */
static void http_on_deadline(void *arg)
{
    struct transfer *transfer = arg;
    struct error err = {0};
    transfer->deadline = NULL;
    if (transfer->http->starved)
        error_no_memory(&err);
    else
        failure_report_late(transfer->url, "response from", transfer->timeout_ms, &err);
    transfer->http->starved = false;
    http_end_with_error(transfer, &err);
}

/* No byte over a connection that had been idle: the transfer fails (libcurl then closes the
 * connection), and connections that were idle with it are not used any more. The caller can retry
 * over another one, with most of its time left. */
static void http_on_impatience(void *arg)
{
    struct transfer *transfer = arg;
    struct error err = {0};
    transfer->patience = NULL;
    transfer->http->suspect_ms = transfer->sent_ms;
    transfer->local_port = 0;
    failure_report_dead(transfer->url, &err);
    http_end_with_error(transfer, &err);
}

/* Whether the peer itself wrote the response: over TLS, or on this machine without a proxy. Any
 * other response may be of a party on its way. */
static bool http_is_authentic(const struct transfer *transfer)
{
    const char *ip = NULL;
    struct in6_addr v6;
    struct in_addr v4;
    if (strncasecmp(transfer->url, "https:", strlen("https:")) == 0)
        return true;
    if (transfer->proxied ||
        curl_easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &ip) != CURLE_OK || !ip)
        return false;
    return (inet_pton(AF_INET, ip, &v4) == 1 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET) ||
           (inet_pton(AF_INET6, ip, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

static int http_status(const struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static void http_end_with_response(struct transfer *transfer, struct http_header *headers)
{
    struct http_response response = {
        .status = http_status(transfer),
        .headers = headers,
        .header_count = transfer->head.count,
        .body = buf_span(&transfer->body),
        .holder = &transfer->body,
        .elapsed_ms = http_now_ms(transfer->http) - transfer->sent_ms,
        .authentic = http_is_authentic(transfer),
    };
    http_detach(transfer);
    transfer->done(transfer->arg, &response, NULL);
    http_free_transfer(transfer);
    free(headers);
}

static void http_finish(struct transfer *transfer, CURLcode code)
{
    struct error err = {0};
    struct http_header *headers = NULL;
    if (transfer->lost) /* connections that were idle with this one may be dead, too */
        transfer->http->suspect_ms = transfer->sent_ms;
    if (transfer->head.text.failed || transfer->body.failed) {
        error_no_memory(&err);
    } else if (transfer->head.received > MAX_HEAD || http_exceeds_libcurl(transfer, code)) {
        failure_report_large_head(transfer->url, MAX_HEAD, &err);
    } else if (transfer->too_large) {
        failure_report_too_large(transfer->url, transfer->max_body, &err);
    } else if (code == CURLE_OPERATION_TIMEDOUT) {
        failure_report_late(transfer->url, "connection to", http_connect_timeout_ms(transfer),
                            &err);
    } else if (code != CURLE_OK && http_out_of_descriptors(transfer)) {
        failure_report_no_descriptors(transfer->url, &err);
    } else if (code != CURLE_OK || !transfer->head.complete) {
        /* libcurl accepts a response that ends among its headers. */
        http_fail(transfer, code, &err);
    } else if (http_status(transfer) < 100) { /* libcurl accepts "HTTP/20" */
        http_fail(transfer, CURLE_WEIRD_SERVER_REPLY, &err);
    } else {
        headers = http_list_headers(&transfer->head);
        error_no_memory(&err);
    }
    if (headers)
        http_end_with_response(transfer, headers);
    else
        http_end_with_error(transfer, &err);
}

/* libcurl on the loop. */

static void http_free_http(struct http *http)
{
    curl_multi_cleanup(http->multi);
    curl_share_cleanup(http->sessions);
    LIST_EACH_SAFE (struct watch, each, &http->connections, node)
        http_free_watch(each);
    loop_remove_timer(http->timer);
    loop_remove_timer(http->ended);
    shares_clean_up(&http->shares);
    free(http->user_agent);
    free(http->uses);
    free(http);
    curl_global_cleanup();
}

/* Reports the transfers that libcurl has ended. A callback may destroy the transport; no other
 * transfer is finished then. */
static void http_deliver(struct http *http)
{
    int left = 0;
    CURLMsg *message;
    http->delivering = true;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct transfer *transfer = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        http_finish(transfer, code);
    }
    http->delivering = false;
    if (http->destroyed)
        http_free_http(http);
}

static void http_drive(struct http *http, curl_socket_t fd, int ready)
{
    int running;
    curl_multi_socket_action(http->multi, fd, ready, &running);
    http_deliver(http);
}

static void http_on_ended(void *arg)
{
    struct http *http = arg;
    http->ended = NULL;
    http_deliver(http);
}

static void http_on_ready(void *arg, uint32_t events)
{
    struct watch *watch = arg;
    int ready = 0;
    if (watch->events == 0) { /* most often the peer has closed; libcurl finds that by itself */
        loop_remove_io(watch->io);
        watch->io = NULL;
        return;
    }
    /* libcurl finds an error, with its number, by reading. */
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        ready |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        ready |= CURL_CSELECT_OUT;
    http_drive(watch->http, watch->fd, ready);
}

static void http_on_timer(void *arg)
{
    struct http *http = arg;
    http->timer = NULL;
    http_drive(http, CURL_SOCKET_TIMEOUT, 0);
}

/* An error here, or for a socket, would make libcurl fail for good. Without its timer, the transfer
 * reaches its deadline, whose error has the reason. */
static int http_on_curl_timer(CURLM *multi, long timeout_ms, void *arg)
{
    (void)multi;
    struct http *http = arg;
    loop_remove_timer(http->timer);
    http->timer = NULL;
    if (timeout_ms < 0)
        return 0;
    http->timer = loop_add_timer(http->loop, timeout_ms, http_on_timer, http);
    if (!http->timer)
        http->starved = true;
    return 0;
}

/* False when memory or descriptors ran out. */
static bool http_watch(struct watch *watch, uint32_t events)
{
    if (!watch->io)
        watch->io = loop_add_io(watch->http->loop, watch->fd, events, http_on_ready, watch);
    else if (watch->last_events != events && !loop_change_io(watch->io, events))
        return false;
    if (!watch->io)
        return false;
    loop_rest_io(watch->io, false);
    watch->events = watch->last_events = events;
    watch->was_read = watch->was_read || (events & EPOLLIN);
    return true;
}

static void http_unwatch(struct watch *watch)
{
    watch->events = 0;
    if (!list_has(&watch->node) || !watch->was_read)
        http_free_watch(watch);
    else if (watch->io)
        loop_rest_io(watch->io, true);
}

static int http_on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
    (void)easy;
    struct http *http = arg;
    struct watch *watch = assigned ? assigned : http_find_connection(http, fd);
    uint32_t events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
                      (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    if (what == CURL_POLL_REMOVE) {
        curl_multi_assign(http->multi, fd, NULL);
        if (watch)
            http_unwatch(watch);
        return 0;
    }
    if (!watch) {
        watch = calloc(1, sizeof *watch);
        if (watch)
            *watch = (struct watch){.http = http, .fd = fd};
        if (watch && http_is_own_socket(fd))
            list_prepend(&http->connections, &watch->node);
    }
    bool ok = watch && http_watch(watch, events) &&
              (assigned || curl_multi_assign(http->multi, fd, watch) == CURLM_OK);
    if (!ok && watch && !assigned)
        http_unwatch(watch);
    http->starved = http->starved || !ok;
    return 0;
}

/* Sending. */

static bool http_set_long(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool http_set_text(CURL *easy, CURLoption option, const char *value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

/* Options that are the same for all requests. */
static bool http_set_common(CURL *easy, const struct http *http)
{
    /* libcurl's default is to close a connection after two idle minutes, so that each first read
     * would cost a handshake. A connection that the peer has closed is noticed before it is used.
     * Keep-alive finds lost peers, and keeps routers from dropping the others. */
    int64_t most_s = MAX_IDLE_S;
    if (http->suspect_ms) /* libcurl counts whole seconds, and ignores older connections */
        most_s = (http_now_ms(http) - http->suspect_ms) / 1000 - 1;
    if (most_s > MAX_IDLE_S)
        most_s = MAX_IDLE_S;
    return http_set_long(easy, CURLOPT_NOSIGNAL, 1) &&
           http_set_long(easy, CURLOPT_TCP_NODELAY, 1) &&
           http_set_long(easy, CURLOPT_FOLLOWLOCATION, 0) &&
           http_set_long(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED) &&
           http_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
           http_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) &&
           /* Otherwise a cancelled transfer waits for the resolution of the name. */
           http_set_long(easy, CURLOPT_QUICK_EXIT, 1) &&
           http_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           http_set_text(easy, CURLOPT_USERAGENT, http->user_agent) &&
           http_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1) &&
           http_set_long(easy, CURLOPT_TCP_KEEPIDLE, KEEP_ALIVE_S) &&
           http_set_long(easy, CURLOPT_TCP_KEEPINTVL, KEEP_ALIVE_AGAIN_S) &&
           http_set_long(easy, CURLOPT_MAXAGE_CONN, most_s > 0 ? (long)most_s : 0) &&
           curl_easy_setopt(easy, CURLOPT_SHARE, http->sessions) == CURLE_OK;
}

/* The trusted authorities and the proxy; libcurl does not read the environment itself. */
static bool http_set_peers(struct transfer *transfer, const struct http_request *request)
{
    CURL *easy = transfer->easy;
    const struct http *http = transfer->http;
    CLEAN_UP(buf_clean_up) struct buf proxy = {0};
    const char *ca = http->ca_over        ? http->ca_over
                     : request->ca_bundle ? request->ca_bundle
                                          : http->ca_else;
    if (!request->no_proxy)
        proxy_for(request->url, &proxy);
    transfer->proxied = proxy.size > 0;
    return !proxy.failed && http_set_text(easy, CURLOPT_PROXY, buf_text(&proxy)) &&
           http_set_text(easy, CURLOPT_NOPROXY, "") &&
           (!ca || (http_set_text(easy, CURLOPT_CAINFO, ca) &&
                    http_set_text(easy, CURLOPT_PROXY_CAINFO, ca)));
}

static bool http_set_callbacks(CURL *easy, struct transfer *transfer)
{
    return curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_on_header) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, http_on_open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, http_on_close_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, transfer->http) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_on_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_on_send) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer) == CURLE_OK;
}

static bool http_add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer)
        *list = longer;
    return longer != NULL;
}

/* The request's headers, and none that libcurl would add of its own. */
static bool http_set_head(struct transfer *transfer, const struct http_request *request)
{
    static const char *const unwanted[] = {"Expect:", "Accept:", "Content-Type:"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++) {
        bool is_wanted = false;
        for (size_t k = 0; k < request->header_count; k++)
            is_wanted = is_wanted ||
                        strncasecmp(request->headers[k], unwanted[i], strlen(unwanted[i])) == 0;
        if (!is_wanted && !http_add_line(&transfer->request_head, unwanted[i]))
            return false;
    }
    for (size_t i = 0; i < request->header_count; i++)
        if (!http_add_line(&transfer->request_head, request->headers[i]))
            return false;
    return curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->request_head) == CURLE_OK;
}

static bool http_set_body(CURL *easy, const struct http_request *request)
{
    if (request->body.size == 0 && strcmp(request->method, "GET") == 0)
        return http_set_long(easy, CURLOPT_HTTPGET, 1);
    curl_off_t size = (curl_off_t)request->body.size;
    const char *bytes = request->body.size > 0 ? request->body.data : "";
    return http_set_long(easy, CURLOPT_POST, 1) &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, size) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) == CURLE_OK &&
           http_set_text(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static struct transfer *http_new_transfer(struct http *http, const struct http_request *request)
{
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return NULL;
    transfer->http = http;
    transfer->failed_allocs = wiped_failed_allocs();
    /* A handle is not reused: libcurl below 8.1.1 uses freed headers of the transfer before. */
    transfer->easy = curl_easy_init();
    transfer->url = strdup(request->url);
    transfer->timeout_ms = request->timeout_ms;
    transfer->connect_timeout_ms = request->connect_timeout_ms;
    transfer->max_body = request->max_body;
    transfer->sent_ms = http_now_ms(http);
    CURL *easy = transfer->easy;
    if (easy && transfer->url && http_set_text(easy, CURLOPT_URL, transfer->url) &&
        http_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)http_connect_timeout_ms(transfer)) &&
        http_set_common(easy, http) && http_set_peers(transfer, request) &&
        http_set_callbacks(easy, transfer) && http_set_head(transfer, request) &&
        http_set_body(easy, request))
        return transfer;
    http_free_transfer(transfer);
    return NULL;
}

/* Hands the transfer to libcurl, which sends the request at once if it has a connection. The end of
 * a transfer is reported later. */
static bool http_start(struct transfer *transfer)
{
    struct http *http = transfer->http;
    int running = 0;
    http->begun++; /* until http_remove, also if libcurl refuses it */
    if (curl_multi_add_handle(http->multi, transfer->easy) != CURLM_OK)
        return false;
    curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    if (running < http->begun && !http->ended) {
        http->ended = loop_add_timer(http->loop, 0, http_on_ended, http);
        http->starved = http->starved || !http->ended;
    }
    return true;
}

/* Starts the transfers whose turn it is. If memory runs out, a transfer fails at its deadline. */
static void http_start_waiting(struct http *http)
{
    struct turn *turn;
    while (!http->destroyed && (turn = shares_next(&http->shares)))
        if (!http_start((struct transfer *)turn))
            http->starved = true;
}

static struct transfer *http_send(struct transport *transport, const struct http_request *request,
                                  transport_done_fn *done, void *arg)
{
    struct http *http = (struct http *)transport;
    struct transfer *transfer = http_new_transfer(http, request);
    if (!transfer)
        return NULL;
    transfer->done = done;
    transfer->arg = arg;
    transfer->deadline =
        loop_add_timer(http->loop, transfer->timeout_ms, http_on_deadline, transfer);
    if (transfer->deadline &&
        shares_enter(&http->shares, &transfer->turn, request->share ? request->share : "") &&
        (!transfer->turn.granted || http_start(transfer))) {
        list_prepend(&http->transfers, &transfer->node); /* the newest is cancelled first */
        return transfer;
    }
    loop_remove_timer(transfer->deadline);
    http_free_transfer(transfer);
    return NULL;
}

/* The transport. */

static void http_destroy(struct transport *transport)
{
    struct http *http = (struct http *)transport;
    http->destroyed = true;
    while (!list_is_empty(&http->transfers))
        http_cancel(LIST_FIRST(&http->transfers, struct transfer, node));
    if (!http->delivering)
        http_free_http(http);
}

static const struct transport_ops http_ops = {
    .send = http_send,
    .cancel = http_cancel,
    .destroy = http_destroy,
};

static const char *http_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool http_init(struct http *http, struct loop *loop, const struct http_options *options)
{
    http->base.ops = &http_ops;
    http->loop = loop;
    CURLM *multi = http->multi = curl_multi_init();
    http->sessions = curl_share_init();
    http->use_count = (size_t)WHOLE * options->max_connections;
    http->uses = calloc(http->use_count, sizeof *http->uses);
    if (options->user_agent && *options->user_agent)
        http->user_agent = strdup(options->user_agent);
    bool copied = http->user_agent || !options->user_agent || !*options->user_agent;
    http->ca_over = http_variable("AWS_CA_BUNDLE");
    http->ca_else = http_variable("REQUESTS_CA_BUNDLE");
    inflow_init(&http->inflow, MAX_INFLOW);
    bool shared =
        shares_init(&http->shares, options->max_connections, WHOLE * options->max_connections);
    return multi && http->sessions && http->uses && shared && copied &&
           curl_share_setopt(http->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) ==
               CURLSHE_OK &&
           /* The shares limit the connections, not libcurl, which would put all requests to a host
            * into one queue. */
           curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, http_on_curl_socket) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, http) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, http_on_curl_timer) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERDATA, http) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)http->use_count) == CURLM_OK;
}

struct transport *http_new(struct loop *loop, const struct http_options *options, struct error *err)
{
    /* libcurl's memory has copies of the signed headers and of responses, so it is wiped. */
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, wiped_alloc, wiped_free, wiped_realloc,
                             wiped_strdup, wiped_zeroed) != CURLE_OK) {
        error_set(err, ERROR_NO_MEMORY, "libcurl cannot start");
        return NULL;
    }
    struct http *http = calloc(1, sizeof *http);
    if (http && http_init(http, loop, options))
        return &http->base;
    if (http)
        http_destroy(&http->base);
    else
        curl_global_cleanup();
    error_no_memory(err);
    return NULL;
}
