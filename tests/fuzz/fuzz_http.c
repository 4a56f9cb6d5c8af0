/* Fuzzing of HTTP responses through libcurl and the transport, over real connections that are used
 * again. The input is a sequence of responses with 0x1E between them; the first byte of each says
 * how it is sent: + 1, the server closes the connection behind it; + 2, the connections were idle
 * for an hour before; + 4, the request is cancelled when the response is under way. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/list.h"
#include "core/base/loop.h"
#include "core/net/http.h"
#include "tests/unit/virtual_clock.h"

enum { MAX_RESPONSES = 8, MAX_BODY = 4096, SILENCE_MS = 5, IDLE_MS = 3600 * 1000 };
enum { CLOSES = 1, WAS_IDLE = 2, IS_CANCELLED = 4 };

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct transport *transport;
    int listener;
    struct loop_io *listening;
    struct list connections; /* of struct served */
    char url[64];
    struct span response; /* that is sent next */
    int flags;
    bool is_sent;
    struct transfer *transfer;
    int done;
};

struct served {
    struct scene *scene;
    int fd;
    struct loop_io *io;
    struct loop_timer *silence;
    struct list_node node;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* The server. */

static void served_close(struct served *served)
{
    list_remove(&served->node);
    loop_remove_io(served->io);
    loop_remove_timer(served->silence);
    close(served->fd);
    free(served);
}

/* The client waits for more than the response has. */
static void served_on_silence(void *arg)
{
    struct served *served = arg;
    served->silence = NULL;
    served_close(served);
}

static void served_respond(struct served *served)
{
    struct scene *scene = served->scene;
    struct span rest = scene->is_sent ? span_text("") : scene->response;
    scene->is_sent = true;
    while (rest.size > 0) {
        ssize_t sent = send(served->fd, rest.data, rest.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            break;
        rest = span_from(rest, (size_t)sent);
    }
    if (scene->flags & CLOSES)
        shutdown(served->fd, SHUT_WR);
    if (scene->flags & IS_CANCELLED && scene->transfer) {
        scene->transport->ops->cancel(scene->transfer);
        scene->transfer = NULL;
    }
    loop_remove_timer(served->silence);
    served->silence = loop_add_timer(scene->loop, SILENCE_MS, served_on_silence, served);
    require(served->silence);
}

static void served_on_ready(void *arg, uint32_t events)
{
    struct served *served = arg;
    char request[4096];
    ssize_t got = recv(served->fd, request, sizeof request, MSG_DONTWAIT);
    (void)events;
    if (got <= 0)
        served_close(served);
    else
        served_respond(served);
}

static void scene_on_connection(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    struct served *served = calloc(1, sizeof *served);
    (void)events;
    require(served);
    served->scene = scene;
    served->fd = accept4(scene->listener, NULL, NULL, SOCK_CLOEXEC);
    require(served->fd >= 0);
    served->io = loop_add_io(scene->loop, served->fd, EPOLLIN, served_on_ready, served);
    require(served->io);
    loop_rest_io(served->io, true);
    list_append(&scene->connections, &served->node);
}

/* The client. */

/* The text is of the response under way, and of no earlier one. */
static void require_part(const struct scene *scene, const char *text)
{
    size_t size = strlen(text);
    require(size == 0 || memmem(scene->response.data, scene->response.size, text, size));
}

static void scene_on_done(void *arg, const struct http_response *response, const struct error *err)
{
    struct scene *scene = arg;
    scene->done++;
    scene->transfer = NULL;
    require(!response == (err != NULL));
    if (err) {
        require(err->kind != ERROR_NONE && err->text[0]);
        return;
    }
    require(response->status >= 100 && response->status < 1000);
    require(response->body.size <= MAX_BODY && response->authentic);
    for (size_t i = 0; i < response->header_count; i++) {
        require_part(scene, response->headers[i].name);
        require_part(scene, response->headers[i].value);
    }
}

static void scene_request(struct scene *scene, struct span response, int flags)
{
    struct http_request request = {
        .method = "GET", .url = scene->url, .timeout_ms = 60000, .max_body = MAX_BODY};
    bool is_cancelled;
    if (flags & WAS_IDLE)
        virtual_clock_pass(&scene->clock, IDLE_MS);
    scene->response = response;
    scene->flags = flags;
    scene->is_sent = false;
    scene->done = 0;
    scene->transfer = scene->transport->ops->send(scene->transport, &request, scene_on_done, scene);
    require(scene->transfer && loop_run(scene->loop));
    is_cancelled = flags & IS_CANCELLED && scene->done == 0;
    require(!scene->transfer && (scene->done == 1 || is_cancelled));
}

static void scene_open(struct scene *scene)
{
    struct http_options options = {2, "fuzz/1"};
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *scene = (struct scene){0};
    scene->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(bind(scene->listener, (struct sockaddr *)&address, sizeof address) == 0);
    require(listen(scene->listener, 16) == 0);
    require(getsockname(scene->listener, (struct sockaddr *)&address, &size) == 0);
    snprintf(scene->url, sizeof scene->url, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    virtual_clock_init(&scene->clock, 1792000000000);
    scene->loop = loop_new(&scene->clock.clock);
    scene->listening =
        loop_add_io(scene->loop, scene->listener, EPOLLIN, scene_on_connection, scene);
    require(scene->listening);
    loop_rest_io(scene->listening, true);
    scene->transport = http_new(scene->loop, &options, NULL);
    require(scene->transport);
}

static void scene_close(struct scene *scene)
{
    scene->transport->ops->destroy(scene->transport);
    while (!list_is_empty(&scene->connections))
        served_close(LIST_FIRST(&scene->connections, struct served, node));
    loop_remove_io(scene->listening);
    close(scene->listener);
    loop_destroy(scene->loop);
}

/* libcurl starts once; each transport would start it again. */
static void start_libcurl(void)
{
    static struct scene keeper;
    static const char *const proxies[] = {"http_proxy", "HTTP_PROXY"};
    if (keeper.loop)
        return;
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++)
        unsetenv(proxies[i]);
    scene_open(&keeper);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene;
    struct span rest = span_of((const char *)data, size);
    start_libcurl();
    scene_open(&scene);
    for (int i = 0; i < MAX_RESPONSES && rest.size > 0; i++) {
        const char *mark = memchr(rest.data, 0x1e, rest.size);
        size_t used = mark ? (size_t)(mark - rest.data) : rest.size;
        if (used > 0)
            scene_request(&scene, span_of(rest.data + 1, used - 1), rest.data[0]);
        rest = span_from(rest, mark ? used + 1 : used);
    }
    scene_close(&scene);
    return 0;
}
