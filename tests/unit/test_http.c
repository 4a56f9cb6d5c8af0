/* HTTP against a small scripted server in a thread of its own. */
#include "core/net/http.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/net/transport.h"
#include "tests/unit/check.h"

enum { MAX_CONNECTIONS = 64, PATIENCE_MS = 20000 };

/* What the server does with each request. */
struct script {
    struct span answer; /* sent as it is */
    int batch;          /* answers when so many requests wait; 0: never */
    bool close;         /* after the answer, without a word about it */
    int deaf_behind;    /* a connection is heard so often, and then no more; 0: always */
};

struct connection {
    int fd;
    bool waits; /* a whole request is there, not answered yet */
    int heard;  /* requests that were answered */
    struct buf in;
};

struct server {
    struct script script;
    int listener;
    int stop[2]; /* a pipe: closing its end ends the thread */
    int closed;  /* connections, after an answer; atomic */
    unsigned port;
    pthread_t thread;
    struct connection connections[MAX_CONNECTIONS];
    int requests; /* atomic */
    /* To be read after the thread has ended. */
    int accepted;
    struct buf last; /* the last request */
};

static void close_connection(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    buf_clean_up(&connection->in);
    *connection = (struct connection){.fd = -1};
}

static void accept_one(struct server *server)
{
    int fd = accept(server->listener, NULL, NULL);
    for (int i = 0; i < MAX_CONNECTIONS && fd >= 0; i++) {
        if (server->connections[i].fd < 0) {
            server->connections[i].fd = fd;
            server->accepted++;
            return;
        }
    }
}

static bool is_whole(const struct buf *in)
{
    const char *end = strstr(buf_text(in), "\r\n\r\n");
    const char *length = strstr(buf_text(in), "Content-Length: ");
    size_t body = length ? (size_t)strtoul(length + strlen("Content-Length: "), NULL, 10) : 0;
    return end && in->size >= (size_t)(end + 4 - in->data) + body;
}

static void answer(struct server *server, struct connection *connection)
{
    struct span text = server->script.answer;
    while (text.size > 0) {
        ssize_t sent = send(connection->fd, text.data, text.size, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        text = span_from(text, (size_t)sent);
    }
    connection->waits = false;
    buf_truncate(&connection->in, 0);
    if (server->script.close) {
        close_connection(connection);
        __atomic_fetch_add(&server->closed, 1, __ATOMIC_RELAXED);
    }
}

static void answer_batch(struct server *server)
{
    int waiting = 0;
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        waiting += server->connections[i].waits;
    if (server->script.batch == 0 || waiting < server->script.batch)
        return;
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        if (server->connections[i].waits)
            answer(server, &server->connections[i]);
}

static void read_some(struct server *server, struct connection *connection)
{
    char chunk[8192];
    ssize_t got = recv(connection->fd, chunk, sizeof chunk, 0);
    if (got <= 0) {
        close_connection(connection);
        return;
    }
    buf_add(&connection->in, chunk, (size_t)got);
    if (connection->waits || !is_whole(&connection->in))
        return;
    __atomic_fetch_add(&server->requests, 1, __ATOMIC_RELAXED);
    connection->waits =
        server->script.deaf_behind == 0 || connection->heard < server->script.deaf_behind;
    connection->heard++;
    buf_truncate(&server->last, 0);
    buf_add_span(&server->last, buf_span(&connection->in));
    answer_batch(server);
}

static void *serve(void *arg)
{
    struct server *server = arg;
    struct pollfd fds[MAX_CONNECTIONS + 2];
    for (;;) {
        for (int i = 0; i < MAX_CONNECTIONS; i++)
            fds[i] = (struct pollfd){server->connections[i].fd, POLLIN, 0};
        fds[MAX_CONNECTIONS] = (struct pollfd){server->listener, POLLIN, 0};
        fds[MAX_CONNECTIONS + 1] = (struct pollfd){server->stop[0], POLLIN, 0};
        poll(fds, MAX_CONNECTIONS + 2, -1);
        if (fds[MAX_CONNECTIONS + 1].revents)
            return NULL;
        for (int i = 0; i < MAX_CONNECTIONS; i++)
            if (fds[i].revents)
                read_some(server, &server->connections[i]);
        if (fds[MAX_CONNECTIONS].revents)
            accept_one(server);
    }
}

static int listen_somewhere(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 64) == 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void start_server(struct server *server)
{
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        server->connections[i].fd = -1;
    CHECK_INT(pipe(server->stop), 0);
    server->listener = listen_somewhere(&server->port);
    CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop_server(struct server *server)
{
    close(server->stop[1]);
    pthread_join(server->thread, NULL);
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        close_connection(&server->connections[i]);
    close(server->listener);
    close(server->stop[0]);
}

/* The client, and one call of it. */

struct stage {
    struct clock clock; /* the machine's, but for the jumps */
    int64_t jumped_ms;
    struct server server;
    struct loop *loop;
    struct transport *transport;
    char url[64];
};

struct call {
    struct stage *stage;
    struct transfer *transfer;
    int done;
    int status;
    struct error err;
    struct buf body;
    bool authentic;
    char x_kind[32]; /* the value of the header X-Kind */
    void (*then)(struct call *call);
    struct call *other;
};

/* The tester's own proxies are none of the test's. */
static void leave_proxies_out(void)
{
    static const char *const names[] = {"http_proxy",  "HTTP_PROXY",    "https_proxy",
                                        "HTTPS_PROXY", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

static int64_t jumping_now_ms(struct clock *clock)
{
    struct stage *stage = (struct stage *)clock;
    return clock_system()->now_ms(clock_system()) + stage->jumped_ms;
}

static int64_t jumping_wall_ms(struct clock *clock)
{
    return clock_system()->wall_ms(clock);
}

static void open_stage(struct stage *stage, unsigned max_connections, struct script script)
{
    struct http_options options = {max_connections, "tester/1"};
    struct error err = {0};
    signal(SIGPIPE, SIG_IGN);
    leave_proxies_out();
    *stage = (struct stage){.server.script = script, .clock = {jumping_now_ms, jumping_wall_ms, 0}};
    start_server(&stage->server);
    stage->loop = loop_new(&stage->clock);
    stage->transport = http_new(stage->loop, &options, &err);
    CHECK(stage->transport);
    snprintf(stage->url, sizeof stage->url, "http://127.0.0.1:%u/", stage->server.port);
}

static void destroy_transport(struct stage *stage)
{
    if (stage->transport)
        stage->transport->ops->destroy(stage->transport);
    stage->transport = NULL;
}

static void end_client(struct stage *stage)
{
    destroy_transport(stage);
    loop_destroy(stage->loop);
    stage->loop = NULL;
}

/* Ends the server's thread too, so that its counts can be read. */
static void end_stage(struct stage *stage)
{
    end_client(stage);
    stop_server(&stage->server);
}

static void stage_clean_up(struct stage *stage)
{
    buf_clean_up(&stage->server.last);
}

static void call_clean_up(struct call *call)
{
    buf_clean_up(&call->body);
}

static void on_done(void *arg, const struct http_response *response, const struct error *err)
{
    struct call *call = arg;
    call->done++;
    if (err)
        call->err = *err;
    if (response) {
        const char *kind = http_header(response, "x-kind");
        call->status = response->status;
        call->authentic = response->authentic;
        buf_add_span(&call->body, response->body);
        snprintf(call->x_kind, sizeof call->x_kind, "%s", kind ? kind : "none");
    }
    if (call->then)
        call->then(call);
}

static struct http_request request_to(const char *url)
{
    return (struct http_request){
        .method = "POST",
        .url = url,
        .body = SPAN_LITERAL("{}"),
        .timeout_ms = PATIENCE_MS,
        .max_body = 1000 * 1000,
    };
}

static void send_request(struct stage *stage, struct call *call, const struct http_request *request)
{
    call->stage = stage;
    call->transfer = stage->transport->ops->send(stage->transport, request, on_done, call);
    CHECK(call->transfer);
    CHECK_INT(call->done, 0);
}

static void send_plain(struct stage *stage, struct call *call)
{
    struct http_request request = request_to(stage->url);
    send_request(stage, call, &request);
}

static void check_failed(const struct call *call, enum error_kind kind, const char *text)
{
    CHECK_INT(call->done, 1);
    CHECK_INT(call->status, 0);
    CHECK_TEXT(error_word(call->err.kind), error_word(kind));
    CHECK_HAS(call->err.text, text);
}

static void check_answered(const struct call *call, int status, const char *body)
{
    CHECK_INT(call->done, 1);
    CHECK_TEXT(call->err.text, "");
    CHECK_INT(call->status, status);
    CHECK_SPAN(buf_span(&call->body), span_text(body));
}

/* Sends one request to a server that plays SCRIPT, and waits for its end. */
static void play(struct script script, const struct http_request *given, struct call *call)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    open_stage(&stage, 4, script);
    struct http_request request = given ? *given : request_to(stage.url);
    if (!request.url)
        request.url = stage.url;
    send_request(&stage, call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
}

#define ANSWER(text) ((struct script){.answer = SPAN_LITERAL(text), .batch = 1})
#define ANSWER_AND_CLOSE(text)                                                                     \
    ((struct script){.answer = SPAN_LITERAL(text), .batch = 1, .close = true})

static struct script greeting(int batch)
{
    struct script script = ANSWER("HTTP/1.1 200 OK\r\nX-Kind:  greeting \r\n"
                                  "Content-Length: 5\r\n\r\nhello");
    script.batch = batch;
    return script;
}

/* Answers. */

static void an_answer(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(greeting(1), NULL, &call);
    check_answered(&call, 200, "hello");
    CHECK_TEXT(call.x_kind, "greeting");
}

static void any_status_is_an_answer(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(ANSWER("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nsad\n"), NULL, &call);
    check_answered(&call, 500, "sad\n");
    CHECK_TEXT(call.x_kind, "none");
}

static void redirects_are_not_followed(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(ANSWER("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"), NULL,
         &call);
    check_answered(&call, 302, "");
}

static void interim_answers_are_passed_over(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(ANSWER("HTTP/1.1 100 Continue\r\nX-Kind: interim\r\n\r\n"
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
         NULL, &call);
    check_answered(&call, 200, "ok");
    CHECK_TEXT(call.x_kind, "none");
}

static void bodies_come_as_transferred(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(ANSWER(
             "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\0\1z"),
         NULL, &call);
    CHECK_INT(call.status, 200);
    CHECK_SPAN(buf_span(&call.body), SPAN_LITERAL("\x1f\x8b\0\1z"));
}

static void chunks_are_joined(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(ANSWER("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
         NULL, &call);
    check_answered(&call, 200, "abcde");
}

/* Requests. */

static void requests_go_out_as_given(void)
{
    static const char *const headers[] = {"X-Amz-Target: T.Query", "Accept-Encoding: gzip"};
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    open_stage(&stage, 1, greeting(1));
    buf_add_repeated(&body, 'x', 1100 * 1000); /* libcurl would like to expect a 100 here */
    struct http_request request = request_to(stage.url);
    request.headers = headers;
    request.header_count = 2;
    request.body = buf_span(&body);
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    const char *sent = buf_text(&stage.server.last);
    check_answered(&call, 200, "hello");
    CHECK(span_starts(buf_span(&stage.server.last), SPAN_LITERAL("POST / HTTP/1.1\r\nHost: 127.")));
    CHECK_HAS(sent, "\r\nUser-Agent: tester/1\r\n");
    CHECK_HAS(sent, "\r\nX-Amz-Target: T.Query\r\nAccept-Encoding: gzip\r\n");
    CHECK_HAS(sent, "\r\nContent-Length: 1100000\r\n");
    CHECK(!strstr(sent, "Accept:") && !strstr(sent, "Expect:") && !strstr(sent, "Content-Type:"));
    CHECK(span_ends(buf_span(&stage.server.last), span_of(body.data, 1000)));
}

static void check_method(const char *method, struct span body, const char *want)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    open_stage(&stage, 1, greeting(1));
    struct http_request request = request_to(stage.url);
    request.method = method;
    request.body = body;
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_answered(&call, 200, "hello");
    CHECK(span_starts(buf_span(&stage.server.last), span_text(want)));
}

static void methods(void)
{
    check_method("GET", span_text(""), "GET / HTTP/1.1\r\n");
    check_method("PUT", span_text(""), "PUT / HTTP/1.1\r\n");
    check_method("POST", span_of("\0{}", 3), "POST / HTTP/1.1\r\n");
}

static void a_header_that_libcurl_adds_can_be_given(void)
{
    static const char *const headers[] = {"accept: text/plain", "Content-Type: a/b"};
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    open_stage(&stage, 1, greeting(1));
    struct http_request request = request_to(stage.url);
    request.headers = headers;
    request.header_count = 2;
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    CHECK_HAS(buf_text(&stage.server.last), "\r\naccept: text/plain\r\nContent-Type: a/b\r\n");
}

/* Connections. */

static void connections_are_kept_alive(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    open_stage(&stage, 4, greeting(1));
    for (int i = 0; i < 3; i++) {
        CLEAN_UP(call_clean_up) struct call call = {0};
        send_plain(&stage, &call);
        CHECK(loop_run(stage.loop));
        check_answered(&call, 200, "hello");
    }
    end_stage(&stage);
    CHECK_INT(stage.server.requests, 3);
    CHECK_INT(stage.server.accepted, 1);
}

/* Waits until the server's thread has counted to WANTED. */
static void await_count(const int *count, int wanted)
{
    for (int ms = 0; ms < PATIENCE_MS && __atomic_load_n(count, __ATOMIC_RELAXED) < wanted; ms++)
        usleep(1000);
    CHECK_INT(__atomic_load_n(count, __ATOMIC_RELAXED), wanted);
}

/* The second request has a connection. It must reach the server although the loop stands still. */
static void a_request_leaves_without_the_loop(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[2] = {0};
    open_stage(&stage, 1, greeting(1));
    send_plain(&stage, &calls[0]);
    CHECK(loop_run(stage.loop));
    send_plain(&stage, &calls[1]);
    await_count(&stage.server.requests, 2);
    CHECK_INT(calls[1].done, 0);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    for (size_t i = 0; i < 2; i++) {
        check_answered(&calls[i], 200, "hello");
        call_clean_up(&calls[i]);
    }
}

static void a_connection_closed_meanwhile_is_made_anew(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct script script = greeting(1);
    script.close = true;
    open_stage(&stage, 4, script);
    for (int i = 0; i < 3; i++) {
        CLEAN_UP(call_clean_up) struct call call = {0};
        send_plain(&stage, &call);
        CHECK(loop_run(stage.loop));
        check_answered(&call, 200, "hello");
        await_count(&stage.server.closed, i + 1); /* else the next request would be lost with it */
    }
    end_stage(&stage);
    CHECK_INT(stage.server.requests, 3);
    CHECK_INT(stage.server.accepted, 3);
}

/* libcurl below 8.1.1 remembers the last header of a handle's transfer after it has freed it, and
 * takes a first header line that begins with a space for its continuation. Some versions of it
 * refuse such a line, and close the connection. */
static void a_head_that_begins_with_a_space_continues_no_earlier_head(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    open_stage(&stage, 4, greeting(1));
    for (int i = 0; i < 4; i++) {
        CLEAN_UP(call_clean_up) struct call call = {0};
        if (i == 1)
            stage.server.script =
                ANSWER("HTTP/1.1 200 OK\r\n x: y\r\nContent-Length: 5\r\n\r\nhello");
        send_plain(&stage, &call);
        CHECK(loop_run(stage.loop));
        if (i > 0 && call.err.kind != ERROR_NONE) {
            check_failed(&call, ERROR_BAD_ANSWER, " has a malformed header");
            continue;
        }
        check_answered(&call, 200, "hello");
        CHECK_TEXT(call.x_kind, i == 0 ? "greeting" : "none");
    }
    end_stage(&stage);
    CHECK_INT(stage.server.requests, 4);
}

enum { MANY = 20 };

static void check_many(unsigned max_connections, int batch, int accepted)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[MANY] = {0};
    open_stage(&stage, max_connections, greeting(batch));
    for (int i = 0; i < MANY; i++)
        send_plain(&stage, &calls[i]);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    for (int i = 0; i < MANY; i++) {
        check_answered(&calls[i], 200, "hello");
        call_clean_up(&calls[i]);
    }
    CHECK_INT(stage.server.requests, MANY);
    CHECK_INT(stage.server.accepted, accepted);
}

/* The server answers only when all have asked. */
static void twenty_in_parallel(void)
{
    check_many(MANY, MANY, MANY);
}

/* The server answers two at a time, and never more can ask at once. */
static void no_more_connections_than_allowed(void)
{
    check_many(2, 2, 2);
}

/* Shares. */

static void send_in_share(struct stage *stage, struct call *call, const char *share)
{
    struct http_request request = request_to(stage->url);
    request.share = share;
    send_request(stage, call, &request);
}

/* Ten requests of one share wait for an answer that comes only when four wait at the server: two of
 * them may wait there at once, so the others' two are what lets all go on. */
static void a_share_that_hangs_leaves_others_their_connections(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call hanging[10] = {0}, other[10] = {0};
    open_stage(&stage, 2, greeting(4));
    for (int i = 0; i < 10; i++)
        send_in_share(&stage, &hanging[i], "eu-west-1 hanging");
    for (int i = 0; i < 10; i++)
        send_in_share(&stage, &other[i], "eu-west-1 other");
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    for (int i = 0; i < 10; i++) {
        check_answered(&hanging[i], 200, "hello");
        check_answered(&other[i], 200, "hello");
        call_clean_up(&hanging[i]);
        call_clean_up(&other[i]);
    }
    CHECK_INT(stage.server.requests, 20);
    CHECK_INT(stage.server.accepted, 4);
}

static void cancelled_in_the_queue(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[3] = {0};
    open_stage(&stage, 1, greeting(1));
    for (int i = 0; i < 3; i++)
        send_plain(&stage, &calls[i]);
    stage.transport->ops->cancel(calls[1].transfer);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_answered(&calls[0], 200, "hello");
    check_answered(&calls[2], 200, "hello");
    CHECK_INT(calls[1].done, 0);
    CHECK(stage.server.requests == 2 && stage.server.accepted == 1);
    call_clean_up(&calls[0]);
    call_clean_up(&calls[2]);
}

/* Failures. */

static const struct script silence = {.batch = 0};

static void a_deadline_passes(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    struct http_request request = request_to(NULL);
    request.timeout_ms = 100;
    play(silence, &request, &call);
    check_failed(&call, ERROR_TIMED_OUT, "no response from 127.0.0.1:");
    CHECK_HAS(call.err.text, "within 0.1 s");
}

static void cancel_the_other(struct call *call)
{
    call->stage->transport->ops->cancel(call->other->transfer);
}

static void a_deadline_passes_in_the_queue(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call first = {0}, second = {0};
    open_stage(&stage, 1, silence);
    send_plain(&stage, &first);
    struct http_request request = request_to(stage.url);
    request.timeout_ms = 100;
    second.then = cancel_the_other;
    second.other = &first;
    send_request(&stage, &second, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_failed(&second, ERROR_TIMED_OUT, "no response from 127.0.0.1:");
    CHECK_INT(first.done, 0);
    CHECK_INT(stage.server.accepted, 1);
}

static void check_reset(struct script script, const char *text)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    play(script, NULL, &call);
    check_failed(&call, ERROR_RESET, text);
}

static void answers_cut_short(void)
{
    check_reset(ANSWER_AND_CLOSE("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
                "cut short");
    check_reset(ANSWER_AND_CLOSE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"),
                "cut short");
    check_reset(ANSWER_AND_CLOSE("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), "cut short");
    check_reset(ANSWER_AND_CLOSE("HTTP/1.1 200 OK\r\n"), "cut short");
}

static void no_answer_at_all(void)
{
    check_reset(ANSWER_AND_CLOSE(""), "without a response");
}

static void check_size(size_t max_body, bool fits)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    struct http_request request = request_to(NULL);
    request.max_body = max_body;
    play(greeting(1), &request, &call);
    if (fits)
        check_answered(&call, 200, "hello");
    else
        check_failed(&call, ERROR_BAD_ANSWER, "larger than the limit of 4 bytes");
}

static void answers_too_large(void)
{
    check_size(4, false);
    check_size(5, true);
}

static void headers_too_large(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(buf_clean_up) struct buf head = {0};
    buf_add_text(&head, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000; i++)
        buf_printf(&head, "X-Header-%d: something that is not short at all\r\n", i);
    buf_add_text(&head, "Content-Length: 0\r\n\r\n");
    play((struct script){.answer = buf_span(&head), .batch = 1}, NULL, &call);
    check_failed(&call, ERROR_BAD_ANSWER, "the headers of the response of 127.0.0.1:");
    CHECK_HAS(call.err.text, "are larger than the limit of 65536 bytes");
}

/* libcurl takes headers of up to 100 KB, and reports larger ones as missing memory. */
static void a_header_too_large(void)
{
    static const struct {
        const char *before;
        size_t size;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nX-Kind: ", 66 * 1000},
        {"HTTP/1.1 200 OK\r\nX-Kind: ", 1000 * 1000},
        {"HTTP/1.1 200 ", 1000 * 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(call_clean_up) struct call call = {0};
        CLEAN_UP(buf_clean_up) struct buf head = {0};
        buf_add_text(&head, rows[i].before);
        buf_add_repeated(&head, 'x', rows[i].size);
        buf_add_text(&head, "\r\nContent-Length: 0\r\n\r\n");
        play((struct script){.answer = buf_span(&head), .batch = 1}, NULL, &call);
        check_failed(&call, ERROR_BAD_ANSWER, "the headers of the response of 127.0.0.1:");
    }
}

/* libcurl stores the headers of interim responses and the trailers, too. */
static void headers_beside_the_head_too_large(void)
{
    static const struct {
        const char *before, *each;
    } rows[] = {
        {"", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
         "X-Trailer: something that is not short at all\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(call_clean_up) struct call call = {0};
        CLEAN_UP(buf_clean_up) struct buf head = {0};
        buf_add_text(&head, rows[i].before);
        for (int k = 0; k < 2000; k++)
            buf_add_text(&head, rows[i].each);
        play((struct script){.answer = buf_span(&head), .batch = 1}, NULL, &call);
        check_failed(&call, ERROR_BAD_ANSWER, "the headers of the response of 127.0.0.1:");
    }
}

static void nobody_listens(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    unsigned port = 0;
    close(listen_somewhere(&port));
    char url[64], want[96];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    snprintf(want, sizeof want, "no server listens at 127.0.0.1:%u (connection refused)", port);
    struct http_request request = request_to(url);
    play(silence, &request, &call);
    check_failed(&call, ERROR_REFUSED, want);
}

static void nobody_listens_where_the_proxy_should(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    unsigned port = 0;
    close(listen_somewhere(&port));
    char url[64], want[64];
    open_stage(&stage, 1, silence);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    snprintf(want, sizeof want, "127.0.0.1 port %u", port);
    setenv("http_proxy", url, 1);
    struct http_request request = request_to("http://service.invalid/");
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    unsetenv("http_proxy");
    end_stage(&stage);
    check_failed(&call, ERROR_REFUSED, want);
    CHECK_HAS(call.err.text, "proxy");
}

/* A label of more than 63 bytes fails without asking any server. */
static void names_that_do_not_resolve(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    buf_add_text(&url, "http://");
    buf_add_repeated(&url, 'a', 64);
    buf_add_text(&url, ".invalid/");
    struct http_request request = request_to(buf_text(&url));
    play(silence, &request, &call);
    check_failed(&call, ERROR_UNREACHABLE, ".invalid:80 cannot be resolved");
}

static void servers_that_do_not_speak_http(void)
{
    CLEAN_UP(call_clean_up) struct call closing = {0}, weird = {0}, without_status = {0};
    play(ANSWER_AND_CLOSE("SSH-2.0-Something\r\n"), NULL, &closing);
    check_failed(&closing, ERROR_TLS, "does not speak HTTP");
    play(ANSWER_AND_CLOSE("HTTP/7.x what\r\n\r\n"), NULL, &weird);
    check_failed(&weird, ERROR_TLS, "does not speak HTTP");
    play(ANSWER_AND_CLOSE("HTTP/20 what\r\n\r\n"), NULL, &without_status);
    check_failed(&without_status, ERROR_TLS, "does not speak HTTP");
}

/* TLS, by an authority of the test's own: a system may have none. */

static const char authority[] = "-----BEGIN CERTIFICATE-----\n"
                                "MIIBejCCAR+gAwIBAgIUe1DIv9BfK6jqkPN2rNZF61JDn8MwCgYIKoZIzj0EAwIw\n"
                                "ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEyMDExMTIxMVoYDzIxMjYxMDI3MTEx\n"
                                "MjExWjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n"
                                "AARB/a+zISDxTAtPdJRzXzVf5f67otAtnm2Ji/dxZdNjy+NsC69boDdkQTI7Hv81\n"
                                "0lTo03jU9JqW/OWIe73bbC2bo1MwUTAdBgNVHQ4EFgQU+Jg7p+hOGKQzGFB/ymnw\n"
                                "+77XoygwHwYDVR0jBBgwFoAU+Jg7p+hOGKQzGFB/ymnw+77XoygwDwYDVR0TAQH/\n"
                                "BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA3mNQGpBzxscXDQhu4+bn+55ih4ya\n"
                                "j5dmn+iOwAcj8eUCIQDFNO+H4wPJ9bcV7kFuQOTHIeKpXF5nWVK6jtSWlS585g==\n"
                                "-----END CERTIFICATE-----\n";

struct tls_request {
    struct http_request request; /* first: it is sent */
    char url[64];
    char bundle[64];
};

static void tls_request_init(struct tls_request *tls, unsigned port)
{
    strcpy(tls->bundle, "/tmp/ddbfs-XXXXXX");
    int fd = mkstemp(tls->bundle);
    CHECK(fd >= 0 && write(fd, authority, strlen(authority)) == (ssize_t)strlen(authority));
    close(fd);
    snprintf(tls->url, sizeof tls->url, "https://127.0.0.1:%u/", port);
    tls->request = request_to(tls->url);
    tls->request.ca_bundle = tls->bundle;
}

static void tls_request_clean_up(struct tls_request *tls)
{
    unlink(tls->bundle);
}

static void tls_to_a_plain_server(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(tls_request_clean_up) struct tls_request tls;
    open_stage(&stage, 1, silence);
    tls_request_init(&tls, stage.server.port);
    tls.request.timeout_ms = 100;
    send_request(&stage, &call, &tls.request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_failed(&call, ERROR_TIMED_OUT, "127.0.0.1");
}

/* With a proxy in the environment, a request goes there, unless it asks for none. */
static void a_proxy_can_be_left_out(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage, proxy;
    CLEAN_UP(call_clean_up) struct call through = {0}, directly = {0};
    open_stage(&proxy, 1, ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"));
    open_stage(&stage, 1, greeting(1));
    setenv("http_proxy", proxy.url, 1);
    struct http_request request = request_to(stage.url);
    send_request(&stage, &through, &request);
    CHECK(loop_run(stage.loop));
    request.no_proxy = true;
    send_request(&stage, &directly, &request);
    CHECK(loop_run(stage.loop));
    unsetenv("http_proxy");
    end_stage(&stage);
    end_stage(&proxy);
    check_answered(&through, 200, "proxy");
    check_answered(&directly, 200, "hello");
    CHECK(!through.authentic && directly.authentic);
    CHECK(proxy.server.requests == 1 && stage.server.requests == 1);
    CHECK(span_starts(buf_span(&proxy.server.last), SPAN_LITERAL("POST http://127.0.0.1:")));
}

/* Connections that fill the queue of a listener, so that it answers no further one. */
struct crowd {
    int listener, fds[8];
    char url[64];
};

static void open_crowd(struct crowd *crowd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    unsigned port = 0;
    crowd->listener = listen_somewhere(&port);
    CHECK_INT(listen(crowd->listener, 0), 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    for (size_t i = 0; i < sizeof crowd->fds / sizeof crowd->fds[0]; i++) {
        crowd->fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(crowd->fds[i], (struct sockaddr *)&address, sizeof address);
    }
    snprintf(crowd->url, sizeof crowd->url, "http://127.0.0.1:%u/", port);
}

static void close_crowd(struct crowd *crowd)
{
    for (size_t i = 0; i < sizeof crowd->fds / sizeof crowd->fds[0]; i++)
        close(crowd->fds[i]);
    close(crowd->listener);
}

/* The request as a whole would wait for longer than this test may take. */
static void connecting_has_a_time_of_its_own(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    struct crowd crowd;
    open_crowd(&crowd);
    open_stage(&stage, 1, silence);
    struct http_request request = request_to(crowd.url);
    request.timeout_ms = 1000 * 1000;
    request.connect_timeout_ms = 100;
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    close_crowd(&crowd);
    check_failed(&call, ERROR_TIMED_OUT, "no connection to 127.0.0.1:");
    CHECK_HAS(call.err.text, "within 0.1 s");
}

/* The resolver's descriptor has the number of the socket that did not connect. The loop must take
 * it, or the next deadline would be reported as a lack of memory. */
static void a_socket_that_did_not_connect_leaves_the_loop(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    struct call calls[3] = {0};
    struct crowd crowd;
    open_crowd(&crowd);
    open_stage(&stage, 1, silence);
    buf_add_text(&url, "http://");
    buf_add_repeated(&url, 'a', 64);
    buf_add_text(&url, ".invalid/");
    const char *const urls[] = {crowd.url, buf_text(&url), stage.url};
    for (size_t i = 0; i < 3; i++) {
        struct http_request request = request_to(urls[i]);
        request.connect_timeout_ms = i == 0 ? 100 : 0;
        request.timeout_ms = i == 2 ? 100 : PATIENCE_MS;
        send_request(&stage, &calls[i], &request);
        CHECK(loop_run(stage.loop));
    }
    end_stage(&stage);
    close_crowd(&crowd);
    check_failed(&calls[0], ERROR_TIMED_OUT, "no connection to 127.0.0.1:");
    check_failed(&calls[1], ERROR_UNREACHABLE, ".invalid:80 cannot be resolved");
    check_failed(&calls[2], ERROR_TIMED_OUT, "no response from 127.0.0.1:");
    for (size_t i = 0; i < 3; i++)
        call_clean_up(&calls[i]);
}

/* The lowest descriptor that is free becomes the limit. */
static void out_of_descriptors(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0}, again = {0};
    struct rlimit before, none;
    open_stage(&stage, 1, greeting(1));
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    int free_fd = dup(0);
    CHECK(free_fd > 0);
    close(free_fd);
    none = before;
    none.rlim_cur = (rlim_t)free_fd;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    send_plain(&stage, &call);
    bool ran = loop_run(stage.loop);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(ran);
    send_plain(&stage, &again);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_failed(&call, ERROR_NO_DESCRIPTORS, "too many files are open");
    CHECK(!strstr(call.err.text, "network"));
    check_answered(&again, 200, "hello");
}

/* Bodies. */

static void take_body(void *arg, const struct http_response *response, const struct error *err)
{
    struct call *call = arg;
    call->done++;
    if (err)
        call->err = *err;
    if (response)
        buf_move(&call->body, response->holder);
}

/* The room is what the head told, and never more than the bound. */
static void check_room(const char *head, size_t size, bool chunked, size_t most)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(buf_clean_up) struct buf answer = {0};
    buf_add_text(&answer, head);
    if (chunked)
        buf_printf(&answer, "%zx\r\n", size);
    buf_add_repeated(&answer, 'x', size);
    buf_add_text(&answer, chunked ? "\r\n0\r\n\r\n" : "");
    open_stage(&stage, 1, (struct script){.answer = buf_span(&answer), .batch = 1});
    struct http_request request = request_to(stage.url);
    request.max_body = 1000 * 1000;
    call.transfer = stage.transport->ops->send(stage.transport, &request, take_body, &call);
    CHECK(call.transfer && loop_run(stage.loop));
    end_stage(&stage);
    CHECK_TEXT(call.err.text, "");
    CHECK_INT(call.body.size, size);
    CHECK(call.body.capacity <= most + 1);
}

static void bodies_are_taken_and_take_no_more_room_than_they_may(void)
{
    check_room("HTTP/1.1 200 OK\r\nContent-Length: 700000\r\n\r\n", 700000, false, 700000);
    check_room("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 900000, true, 1000000);
}

static void *answer_in_plain(void *arg)
{
    char chunk[1024];
    int fd = accept(*(int *)arg, NULL, NULL);
    if (recv(fd, chunk, sizeof chunk, 0) > 0)
        send(fd, "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

static void tls_answered_in_plain(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    pthread_t thread;
    CLEAN_UP(tls_request_clean_up) struct tls_request tls;
    unsigned port = 0;
    int listener = listen_somewhere(&port);
    CHECK_INT(pthread_create(&thread, NULL, answer_in_plain, &listener), 0);
    tls_request_init(&tls, port);
    play(silence, &tls.request, &call);
    pthread_join(thread, NULL);
    close(listener);
    check_failed(&call, ERROR_TLS, "TLS with 127.0.0.1:");
}

static void authorities_that_are_missing(void)
{
    CLEAN_UP(call_clean_up) struct call call = {0};
    CLEAN_UP(stage_clean_up) struct stage stage;
    char url[64];
    open_stage(&stage, 1, silence);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", stage.server.port);
    struct http_request request = request_to(url);
    request.ca_bundle = "/nowhere/authorities.pem";
    send_request(&stage, &call, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_failed(&call, ERROR_UNTRUSTED, "the certificate of 127.0.0.1:");
    CHECK_HAS(call.err.text, "/nowhere/authorities.pem; check AWS_CA_BUNDLE");
}

static void other_schemes_are_refused(void)
{
    CLEAN_UP(call_clean_up) struct call ftp = {0}, file = {0}, none = {0};
    struct http_request to_ftp = request_to("ftp://127.0.0.1/");
    struct http_request to_file = request_to("file:///etc/hostname");
    struct http_request to_none = request_to("http://[x/");
    play(silence, &to_ftp, &ftp);
    check_failed(&ftp, ERROR_INVALID, "http or https");
    play(silence, &to_file, &file);
    check_failed(&file, ERROR_INVALID, "http or https");
    play(silence, &to_none, &none);
    check_failed(&none, ERROR_INVALID, "check the endpoint");
}

/* Ends. */

static void cancelled_before_it_began(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0};
    open_stage(&stage, 1, greeting(1));
    send_plain(&stage, &call);
    stage.transport->ops->cancel(call.transfer);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    CHECK_INT(call.done, 0);
    CHECK_INT(stage.server.requests, 0);
}

static void cancelled_under_way(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call held = {0}, late = {0};
    open_stage(&stage, 2, silence);
    struct http_request request = request_to(stage.url);
    request.timeout_ms = 100;
    send_plain(&stage, &held);
    late.then = cancel_the_other;
    late.other = &held;
    send_request(&stage, &late, &request);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    CHECK_INT(late.done, 1);
    CHECK_INT(held.done, 0);
    CHECK_INT(stage.server.accepted, 2);
}

static void send_the_other(struct call *call)
{
    send_plain(call->stage, call->other);
}

static void sent_from_within_a_callback(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call first = {0}, second = {0};
    open_stage(&stage, 1, greeting(1));
    first.then = send_the_other;
    first.other = &second;
    send_plain(&stage, &first);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_answered(&first, 200, "hello");
    check_answered(&second, 200, "hello");
}

static void destroy_all(struct call *call)
{
    destroy_transport(call->stage);
}

static void destroyed_from_within_an_answer(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[4] = {0};
    open_stage(&stage, 4, greeting(4));
    for (int i = 0; i < 4; i++) {
        calls[i].then = destroy_all;
        send_plain(&stage, &calls[i]);
    }
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    CHECK_INT(calls[0].done + calls[1].done + calls[2].done + calls[3].done, 1);
    for (int i = 0; i < 4; i++)
        call_clean_up(&calls[i]);
}

static void destroyed_from_within_a_deadline(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call call = {0}, other = {0};
    open_stage(&stage, 4, silence);
    struct http_request request = request_to(stage.url);
    request.timeout_ms = 50;
    call.then = destroy_all;
    send_request(&stage, &call, &request);
    send_plain(&stage, &other);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    CHECK_INT(call.done, 1);
    CHECK_INT(other.done, 0);
}

static void stop_loop(void *arg)
{
    loop_stop(arg);
}

static void destroyed_with_transfers_under_way(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[3] = {0};
    open_stage(&stage, 2, silence);
    for (int i = 0; i < 3; i++)
        send_plain(&stage, &calls[i]);
    CHECK(loop_add_timer(stage.loop, 50, stop_loop, stage.loop));
    CHECK(loop_run(stage.loop));
    destroy_transport(&stage);
    CHECK(loop_run(stage.loop)); /* ends, since nothing is left on it */
    end_stage(&stage);
    for (int i = 0; i < 3; i++)
        CHECK_INT(calls[i].done, 0);
}

/* The connection looks open, but whoever was at its other end has gone. */
static void an_idle_connection_that_died_costs_no_deadline(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    CLEAN_UP(call_clean_up) struct call first = {0}, second = {0}, third = {0}, fourth = {0};
    struct script script = greeting(1);
    script.deaf_behind = 1;
    open_stage(&stage, 2, script);
    send_plain(&stage, &first);
    CHECK(loop_run(stage.loop));
    stage.jumped_ms += 3600 * 1000;
    send_plain(&stage, &second);
    CHECK(loop_run(stage.loop));
    check_failed(&second, ERROR_RESET, "an idle connection to 127.0.0.1:");
    send_plain(&stage, &third); /* over a new one */
    CHECK(loop_run(stage.loop));
    stage.server.script.deaf_behind = 0;
    send_plain(&stage, &fourth); /* and over that again */
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_answered(&third, 200, "hello");
    check_answered(&fourth, 200, "hello");
    CHECK(stage.server.accepted == 2 && stage.server.requests == 4);
}

/* Both were idle when one was found to be dead. */
static void what_was_idle_with_a_dead_connection_is_not_tried(void)
{
    CLEAN_UP(stage_clean_up) struct stage stage;
    struct call calls[4] = {0};
    struct script script = greeting(2);
    script.deaf_behind = 1;
    open_stage(&stage, 2, script);
    send_plain(&stage, &calls[0]);
    send_plain(&stage, &calls[1]);
    CHECK(loop_run(stage.loop));
    stage.server.script.batch = 1;
    stage.jumped_ms += 3600 * 1000;
    send_plain(&stage, &calls[2]);
    CHECK(loop_run(stage.loop));
    check_failed(&calls[2], ERROR_RESET, "idle connection");
    send_plain(&stage, &calls[3]);
    CHECK(loop_run(stage.loop));
    end_stage(&stage);
    check_answered(&calls[3], 200, "hello");
    CHECK(stage.server.accepted == 3 && stage.server.requests == 4);
    for (int i = 0; i < 4; i++)
        call_clean_up(&calls[i]);
}

static const struct check_test tests[] = {
    {"an idle connection that died costs no deadline",
     an_idle_connection_that_died_costs_no_deadline},
    {"what was idle with a dead connection is not tried",
     what_was_idle_with_a_dead_connection_is_not_tried},

    {"an answer", an_answer},
    {"any status is an answer", any_status_is_an_answer},
    {"redirects are not followed", redirects_are_not_followed},
    {"interim answers are passed over", interim_answers_are_passed_over},
    {"bodies come as transferred", bodies_come_as_transferred},
    {"chunks are joined", chunks_are_joined},
    {"requests go out as given", requests_go_out_as_given},
    {"methods", methods},
    {"a header that libcurl adds can be given", a_header_that_libcurl_adds_can_be_given},
    {"connections are kept alive", connections_are_kept_alive},
    {"a request leaves without the loop", a_request_leaves_without_the_loop},
    {"a connection closed meanwhile is made anew", a_connection_closed_meanwhile_is_made_anew},
    {"a head that begins with a space continues no earlier head",
     a_head_that_begins_with_a_space_continues_no_earlier_head},
    {"twenty in parallel", twenty_in_parallel},
    {"no more connections than allowed", no_more_connections_than_allowed},
    {"a share that hangs leaves others their connections",
     a_share_that_hangs_leaves_others_their_connections},
    {"cancelled in the queue", cancelled_in_the_queue},
    {"a proxy can be left out", a_proxy_can_be_left_out},
    {"connecting has a time of its own", connecting_has_a_time_of_its_own},
    {"a socket that did not connect leaves the loop",
     a_socket_that_did_not_connect_leaves_the_loop},
    {"out of descriptors", out_of_descriptors},
    {"bodies are taken and take no more room than they may",
     bodies_are_taken_and_take_no_more_room_than_they_may},
    {"a deadline passes", a_deadline_passes},
    {"a deadline passes in the queue", a_deadline_passes_in_the_queue},
    {"answers cut short", answers_cut_short},
    {"no answer at all", no_answer_at_all},
    {"answers too large", answers_too_large},
    {"headers too large", headers_too_large},
    {"a header too large", a_header_too_large},
    {"headers beside the head too large", headers_beside_the_head_too_large},
    {"nobody listens", nobody_listens},
    {"nobody listens where the proxy should", nobody_listens_where_the_proxy_should},
    {"names that do not resolve", names_that_do_not_resolve},
    {"servers that do not speak HTTP", servers_that_do_not_speak_http},
    {"TLS to a plain server", tls_to_a_plain_server},
    {"TLS answered in plain", tls_answered_in_plain},
    {"authorities that are missing", authorities_that_are_missing},
    {"other schemes are refused", other_schemes_are_refused},
    {"cancelled before it began", cancelled_before_it_began},
    {"cancelled under way", cancelled_under_way},
    {"sent from within a callback", sent_from_within_a_callback},
    {"destroyed from within an answer", destroyed_from_within_an_answer},
    {"destroyed from within a deadline", destroyed_from_within_a_deadline},
    {"destroyed with transfers under way", destroyed_with_transfers_under_way},
};
CHECK_MAIN(tests)
