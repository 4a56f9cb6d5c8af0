/* The transport over libcurl: its sockets and its timer are the loop's, its handles are ours, and
 * whose request goes next is decided by shares. */
#include "core/net/http.h"

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
#include "core/base/wiped.h"
#include "core/net/failure.h"
#include "core/net/head.h"
#include "core/net/inflow.h"
#include "core/net/proxy.h"
#include "core/net/shares.h"
#include "core/net/transport.h"
#include "core/net/uses.h"

enum {
    MAX_IDLE = 16,         /* handles kept for reuse */
    MAX_HEAD = 64 * 1024,  /* bytes of an answer's headers */
    MAX_CONNECT_MS = 5000, /* so that a retry still fits the asker's deadline */
    WHOLE = 4,             /* the bound of all connections, in shares */
    MAX_INFLOW = 32 << 20, /* bytes of all answers that are not whole yet */
    MAX_IDLE_S = 86400, /* of a connection; the service ends most long before, which is noticed */
    KEEP_ALIVE_S = 60, /* so often an idle connection is tried; routers forget them after minutes */
    KEEP_ALIVE_AGAIN_S = 15,
    TRUSTED_IDLE_MS = 10000, /* a connection that was used so lately is taken to be alive */
    PATIENCE_MS = 2000,      /* for the first byte of an answer over any other */
};

struct http {
    struct transport base;      /* first: a transport is cast to it */
    struct loop *loop;          /* borrowed */
    CURLM *multi;               /* owned */
    struct loop_timer *timer;   /* libcurl has one timer; NULL when it asks for none */
    struct transfer *transfers; /* under way, and those that wait for their turn */
    struct shares shares;       /* of the connections */
    struct inflow inflow;       /* of the answers */
    CURL *idle[MAX_IDLE];       /* owned */
    size_t idle_count;
    CURLSH *sessions;    /* of TLS, to be resumed by whichever handle comes next; owned */
    struct uses uses;    /* of all connections */
    int64_t suspect_ms;  /* connections not used since then may be dead; 0: none is suspected */
    char *user_agent;    /* owned; may be NULL */
    const char *ca_over; /* AWS_CA_BUNDLE, before any request's; NULL when not set */
    const char *ca_else; /* REQUESTS_CA_BUNDLE, behind all; NULL for libcurl's default */
    bool starved;        /* the loop refused a timer or a descriptor: memory ran out */
    bool delivering;     /* http_deliver_finished is running */
    bool destroyed; /* nothing is begun any more, and http_deliver_finished frees it when it is done
                     */
};

struct transfer {
    struct turn turn; /* first: a turn is a transfer. Granted: libcurl has the transfer */
    struct http *http;
    struct transfer *next;
    struct transfer **link; /* what points to it in the list of transfers */
    CURL *easy;             /* owned until detached */
    struct loop_timer *deadline;
    transport_done_fn *done;
    void *arg;
    char *url;                       /* owned */
    struct curl_slist *request_head; /* owned */
    int64_t timeout_ms;
    int64_t connect_timeout_ms;
    int socket_error;            /* why no socket could be had; 0 when none was refused */
    int64_t sent_ms;             /* when the request left, on the loop's clock */
    bool sent;                   /* it has left */
    bool lost;                   /* and libcurl was about to send it again */
    int local_port;              /* of its connection, once there is one */
    struct loop_timer *patience; /* until the first byte comes over a connection that may be dead */
    bool proxied;
    size_t max_body;
    struct head head;
    bool too_large;
    struct buf body;
    struct incoming incoming;     /* what BODY has, as long as libcurl has the transfer */
    char reason[CURL_ERROR_SIZE]; /* libcurl's words */
};

/* One of libcurl's sockets on the loop. */
struct watch {
    struct http *http;
    struct loop_io *io;
    curl_socket_t fd;
};

static int64_t http_now_ms(const struct http *http)
{
    return loop_now_ms(http->loop);
}

/* The answer as it comes in. */

static size_t http_on_header(char *data, size_t unit, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t size = unit * count;
    loop_remove_timer(transfer->patience);
    transfer->patience = NULL;
    head_add(&transfer->head, span_of(data, size));
    transfer->too_large = transfer->head.text.size > MAX_HEAD;
    return transfer->too_large || transfer->head.text.failed ? 0 : size;
}

/* Where the head told the length, all room is taken at once; it is a peer's word, so no more than
 * the bound, of course. */
static bool http_make_room(struct transfer *transfer, size_t size)
{
    curl_off_t told = -1;
    if (!transfer->body.data)
        curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &told);
    if (told > (curl_off_t)size && (size_t)told <= transfer->max_body)
        size = (size_t)told;
    return buf_reserve_within(&transfer->body, size, transfer->max_body);
}

static size_t http_on_body(char *data, size_t unit, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    size_t size = unit * count;
    transfer->too_large = size > transfer->max_body - transfer->body.size;
    if (!transfer->too_large && !inflow_take(&transfer->http->inflow, &transfer->incoming, size))
        return CURL_WRITEFUNC_PAUSE; /* libcurl keeps these bytes, and asks for no more */
    if (transfer->too_large || !http_make_room(transfer, size))
        return 0;
    buf_add(&transfer->body, data, size);
    return size;
}

/* libcurl's own, but for the close at exec, for the reason of a failure, and for what is sent and
 * never acknowledged, as when a network has gone: that is noticed in time for a retry. */
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

static void http_on_impatience(void *arg);

/* The request leaves, once: where a connection of before has died over it, libcurl by itself would
 * send it again, over a new one or over another of before, and nobody would count it. Over a
 * connection that was not used for a while it may be lost: a laptop has slept, or a router has
 * forgotten the connection, and nobody tells. */
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
    int64_t used_ms = uses_note(&http->uses, local_port, http_now_ms(http));
    if (made == 0 && http_now_ms(http) - used_ms > TRUSTED_IDLE_MS)
        transfer->patience = loop_add_timer(http->loop, PATIENCE_MS, http_on_impatience, transfer);
    transfer->local_port = local_port;
    transfer->sent_ms = http_now_ms(http);
    return CURL_PREREQFUNC_OK;
}

/* How it ended. */

/* Whether the process, or the system, can open no more files. What failed may have given back the
 * one descriptor it got, so two are tried. */
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

/* Tells how libcurl ended the transfer with CODE. */
static bool http_fail(const struct transfer *transfer, CURLcode code, struct error *err)
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
    return failure_report(&failure, err);
}

static bool http_fail_too_large(const struct transfer *transfer, struct error *err)
{
    size_t limit = transfer->head.text.size > MAX_HEAD ? (size_t)MAX_HEAD : transfer->max_body;
    return failure_report_too_large(transfer->url, limit, err);
}

static int64_t http_connect_timeout_ms(const struct transfer *transfer)
{
    int64_t most = transfer->connect_timeout_ms > 0 ? transfer->connect_timeout_ms : MAX_CONNECT_MS;
    return transfer->timeout_ms < most ? transfer->timeout_ms : most;
}

/* Whether the transfer that libcurl ended with CODE brought an answer. */
static bool http_judge(const struct transfer *transfer, CURLcode code, struct error *err)
{
    if (transfer->head.text.failed || transfer->body.failed)
        return error_no_memory(err);
    if (transfer->too_large)
        return http_fail_too_large(transfer, err);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return failure_report_late(transfer->url, "connection to",
                                   http_connect_timeout_ms(transfer), err);
    if (code != CURLE_OK && http_out_of_descriptors(transfer))
        return failure_report_no_descriptors(transfer->url, err);
    /* libcurl is content with an answer that ends among its headers. */
    return (code == CURLE_OK && transfer->head.complete) || http_fail(transfer, code, err);
}

/* The life of a transfer. */

static void http_put_idle(struct http *http, CURL *easy)
{
    if (http->idle_count == MAX_IDLE) {
        curl_easy_cleanup(easy);
        return;
    }
    curl_easy_reset(easy);
    http->idle[http->idle_count++] = easy;
}

static CURL *http_take_idle(struct http *http)
{
    return http->idle_count > 0 ? http->idle[--http->idle_count] : curl_easy_init();
}

static void http_start_waiting(struct http *http);

/* Those whose answers wait for room go on, as far as there is some. */
static void http_resume_waiting(struct http *http)
{
    struct incoming *next;
    while ((next = inflow_next(&http->inflow))) {
        struct transfer *transfer =
            (struct transfer *)((char *)next - offsetof(struct transfer, incoming));
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    }
}

/* Takes it from libcurl, the loop and the list: nothing will call it any more. Its turn is
 * another's then. */
static void http_detach(struct transfer *transfer)
{
    struct http *http = transfer->http;
    bool had_turn = transfer->turn.granted;
    *transfer->link = transfer->next;
    if (transfer->next)
        transfer->next->link = transfer->link;
    loop_remove_timer(transfer->deadline);
    loop_remove_timer(transfer->patience);
    if (transfer->local_port)
        uses_note(&http->uses, transfer->local_port, http_now_ms(http));
    if (had_turn)
        curl_multi_remove_handle(http->multi, transfer->easy);
    http_put_idle(http, transfer->easy);
    transfer->easy = NULL;
    shares_leave(&http->shares, &transfer->turn);
    inflow_leave(&http->inflow, &transfer->incoming);
    http_resume_waiting(http);
    if (had_turn)
        http_start_waiting(http);
}

static void http_free_transfer(struct transfer *transfer)
{
    shares_leave(&transfer->http->shares, &transfer->turn);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->request_head);
    head_clean_up(&transfer->head);
    buf_clean_up_secret(&transfer->body);
    free(transfer->url);
    free(transfer);
}

static void http_cancel(struct transfer *transfer)
{
    http_detach(transfer);
    http_free_transfer(transfer);
}

/* Tells the asker of the error. The transport may be gone afterwards. */
static void http_end_with_error(struct transfer *transfer, const struct error *err)
{
    http_detach(transfer);
    transfer->done(transfer->arg, NULL, err);
    http_free_transfer(transfer);
}

/* libcurl's own time-out is not looked at while a request waits for a connection, so the total
 * deadline is a timer of the loop. */
static void http_on_deadline(void *arg)
{
    struct transfer *transfer = arg;
    struct error err = {0};
    transfer->deadline = NULL;
    if (transfer->http->starved)
        error_no_memory(&err);
    else
        failure_report_late(transfer->url, "answer from", transfer->timeout_ms, &err);
    transfer->http->starved = false;
    http_end_with_error(transfer, &err);
}

/* Nothing came over a connection that had long been idle: it is given up (libcurl closes what is
 * unfinished), and those that were idle with it are not trusted any more. Whoever asked tries
 * again, over another, with most of its time left. */
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

static int http_status_of(const struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static void http_end_with_answer(struct transfer *transfer, struct http_header *headers)
{
    struct http_response response = {
        .status = http_status_of(transfer),
        .headers = headers,
        .header_count = transfer->head.count,
        .body = buf_span(&transfer->body),
        .holder = &transfer->body,
        .elapsed_ms = http_now_ms(transfer->http) - transfer->sent_ms,
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
    if (transfer->lost) /* others that were idle with its connection may be dead, too */
        transfer->http->suspect_ms = transfer->sent_ms;
    if (http_judge(transfer, code, &err)) {
        headers = head_list(&transfer->head);
        error_no_memory(&err);
    }
    if (headers)
        http_end_with_answer(transfer, headers);
    else
        http_end_with_error(transfer, &err);
}

/* libcurl on the loop. */

static struct transfer *http_next_finished(struct http *http, CURLcode *code)
{
    int left = 0;
    CURLMsg *message = curl_multi_info_read(http->multi, &left);
    if (!message)
        return NULL;
    struct transfer *transfer = NULL;
    *code = message->data.result;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    return transfer;
}

static void http_free_http(struct http *http)
{
    while (http->idle_count > 0)
        curl_easy_cleanup(http->idle[--http->idle_count]);
    curl_multi_cleanup(http->multi);
    curl_share_cleanup(http->sessions);
    loop_remove_timer(http->timer);
    shares_clean_up(&http->shares);
    free(http->user_agent);
    uses_clean_up(&http->uses);
    free(http);
    curl_global_cleanup();
}

/* An asker may destroy the transport from within its callback; nothing is finished then. */
static void http_deliver_finished(struct http *http)
{
    CURLcode code = CURLE_OK;
    struct transfer *transfer;
    http->delivering = true;
    while ((transfer = http_next_finished(http, &code)))
        http_finish(transfer, code);
    http->delivering = false;
    if (http->destroyed)
        http_free_http(http);
}

static void http_drive(struct http *http, curl_socket_t fd, int ready)
{
    int running = 0;
    curl_multi_socket_action(http->multi, fd, ready, &running);
    http_deliver_finished(http);
}

static void http_on_ready(void *arg, uint32_t events)
{
    const struct watch *watch = arg;
    int ready = 0;
    /* An error is found by reading, which tells its number as well. */
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

/* To refuse a timer or a socket would make libcurl give up for good. Instead the transfer that
 * goes without runs into its deadline, which tells the reason. */
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

static uint32_t http_events_for(int what)
{
    return (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
           (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
}

static void http_remove_watch(struct http *http, struct watch *watch)
{
    if (!watch)
        return;
    curl_multi_assign(http->multi, watch->fd, NULL);
    loop_remove_io(watch->io);
    free(watch);
}

static void http_add_watch(struct http *http, curl_socket_t fd, int what)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch) {
        *watch = (struct watch){.http = http, .fd = fd};
        watch->io = loop_add_io(http->loop, fd, http_events_for(what), http_on_ready, watch);
    }
    if (watch && watch->io && curl_multi_assign(http->multi, fd, watch) == CURLM_OK)
        return;
    http->starved = true;
    if (watch)
        loop_remove_io(watch->io);
    free(watch);
}

static int http_on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
    (void)easy;
    struct http *http = arg;
    struct watch *watch = assigned;
    if (what == CURL_POLL_REMOVE)
        http_remove_watch(http, watch);
    else if (watch)
        loop_change_io(watch->io, http_events_for(what));
    else
        http_add_watch(http, fd, what);
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

/* What is the same for all requests. */
static bool http_set_manners(CURL *easy, const struct http *http)
{
    return http_set_long(easy, CURLOPT_NOSIGNAL, 1) &&
           http_set_long(easy, CURLOPT_TCP_NODELAY, 1) &&
           http_set_long(easy, CURLOPT_FOLLOWLOCATION, 0) &&
           http_set_long(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED) &&
           http_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
           http_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) &&
           /* Else a transfer that is cancelled waits here for the name's resolution. */
           http_set_long(easy, CURLOPT_QUICK_EXIT, 1) &&
           http_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           http_set_text(easy, CURLOPT_USERAGENT, http->user_agent) &&
           curl_easy_setopt(easy, CURLOPT_SHARE, http->sessions) == CURLE_OK;
}

/* How long connections are kept: for libcurl alone two minutes, after which each first read would
 * cost a handshake. One whose peer has ended it is noticed before it is used; keep-alive notices
 * those whose peer has gone, and keeps routers from forgetting the others. */
static bool http_set_age(CURL *easy, const struct http *http)
{
    int64_t most_s = MAX_IDLE_S;
    if (http->suspect_ms) /* libcurl counts whole seconds, and leaves what is older than so many */
        most_s = (http_now_ms(http) - http->suspect_ms) / 1000 - 1;
    if (most_s > MAX_IDLE_S)
        most_s = MAX_IDLE_S;
    return http_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1) &&
           http_set_long(easy, CURLOPT_TCP_KEEPIDLE, KEEP_ALIVE_S) &&
           http_set_long(easy, CURLOPT_TCP_KEEPINTVL, KEEP_ALIVE_AGAIN_S) &&
           http_set_long(easy, CURLOPT_MAXAGE_CONN, most_s > 0 ? (long)most_s : 0);
}

/* Whom to trust, and through whom to ask: libcurl's own reading of the environment is left out. */
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
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_on_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_on_send) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer) == CURLE_OK;
}

static bool http_has_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strncasecmp(request->headers[i], name, strlen(name)) == 0)
            return true;
    return false;
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
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        if (!http_has_header(request, unwanted[i]) &&
            !http_add_line(&transfer->request_head, unwanted[i]))
            return false;
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

static bool http_set_request(struct transfer *transfer, const struct http_request *request)
{
    CURL *easy = transfer->easy;
    return http_set_text(easy, CURLOPT_URL, transfer->url) &&
           http_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS,
                         (long)http_connect_timeout_ms(transfer)) &&
           http_set_manners(easy, transfer->http) && http_set_age(easy, transfer->http) &&
           http_set_peers(transfer, request) && http_set_callbacks(easy, transfer) &&
           http_set_head(transfer, request) && http_set_body(easy, request);
}

static struct transfer *http_new_transfer(struct http *http, const struct http_request *request)
{
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return NULL;
    transfer->http = http;
    transfer->easy = http_take_idle(http);
    transfer->url = strdup(request->url);
    transfer->timeout_ms = request->timeout_ms;
    transfer->connect_timeout_ms = request->connect_timeout_ms;
    transfer->max_body = request->max_body;
    transfer->sent_ms = http_now_ms(http);
    if (transfer->easy && transfer->url && http_set_request(transfer, request))
        return transfer;
    http_free_transfer(transfer);
    return NULL;
}

static void http_attach(struct transfer *transfer)
{
    struct http *http = transfer->http;
    transfer->next = http->transfers;
    transfer->link = &http->transfers;
    if (transfer->next)
        transfer->next->link = &transfer->next;
    http->transfers = transfer;
}

/* Hands it to libcurl, which does nothing yet but ask for its timer. */
static bool http_start(struct transfer *transfer)
{
    struct http *http = transfer->http;
    if (curl_multi_add_handle(http->multi, transfer->easy) == CURLM_OK && http->timer)
        return true;
    curl_multi_remove_handle(http->multi, transfer->easy);
    return false;
}

/* Those whose turn it is now. One that cannot be started for want of memory is told so by its
 * deadline. */
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
        http_attach(transfer);
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
    while (http->transfers)
        http_cancel(http->transfers);
    if (!http->delivering)
        http_free_http(http);
}

static const struct transport_ops http_ops = {
    .send = http_send,
    .cancel = http_cancel,
    .destroy = http_destroy,
};

/* How many connections there are at once is decided by the shares, not by libcurl, which would
 * queue all requests to a host behind one another. */
static bool http_set_multi(struct http *http, long max_connections)
{
    CURLM *multi = http->multi;
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, http_on_curl_socket) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, http) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, http_on_curl_timer) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERDATA, http) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, WHOLE * max_connections) == CURLM_OK;
}

/* A copy of TEXT, or NULL for none; false when memory ran out. */
static bool http_copy_text(char **out, const char *text)
{
    *out = text && *text ? strdup(text) : NULL;
    return *out || !text || !*text;
}

static const char *http_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool http_init(struct http *http, struct loop *loop, const struct http_options *options)
{
    http->base.ops = &http_ops;
    http->loop = loop;
    http->multi = curl_multi_init();
    http->sessions = curl_share_init();
    bool noted = uses_init(&http->uses, (size_t)WHOLE * options->max_connections);
    http->ca_over = http_variable("AWS_CA_BUNDLE");
    http->ca_else = http_variable("REQUESTS_CA_BUNDLE");
    inflow_init(&http->inflow, MAX_INFLOW);
    bool shared =
        shares_init(&http->shares, options->max_connections, WHOLE * options->max_connections);
    return http->multi && http->sessions && noted && shared &&
           http_copy_text(&http->user_agent, options->user_agent) &&
           curl_share_setopt(http->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) ==
               CURLSHE_OK &&
           http_set_multi(http, (long)options->max_connections);
}

struct transport *http_new(struct loop *loop, const struct http_options *options, struct error *err)
{
    /* libcurl's copies of the signed headers and of answers are in its memory. */
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, wiped_alloc, wiped_free, wiped_realloc,
                             wiped_strdup, wiped_zeroed) != CURLE_OK) {
        error_set(err, ERROR_NO_MEMORY, "libcurl would not start");
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
