/* Secrets that are no longer needed are no longer in memory: whatever is freed, by us or by
 * libcurl, is looked through first. */
#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/aws/document.h"
#include "core/aws/session.h"
#include "core/base/arena.h"
#include "core/base/wiped.h"
#include "core/dynamo/dynamo.h"
#include "core/item/record.h"
#include "core/net/http.h"
#include "tests/unit/check.h"

void __real_free(void *memory);
void __wrap_free(void *memory);

/* What no freed memory may hold. The record's is spelled with escapes, so that it is decoded. */
static const char *const secrets[] = {"NOBODY-SEES-THIS", "TOKEN-OF-THE-SESSION", "KEY-OF-THE-USER",
                                      "Signature="};

/* Volatile, since a compiler knows that free changes nothing but what it frees. */
static volatile struct {
    bool armed;
    const char *found; /* in freed memory; NULL when none was */
} watch;

void __wrap_free(void *memory)
{
    size_t size = watch.armed && memory ? malloc_usable_size(memory) : 0;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0] && size > 0; i++)
        if (memmem(memory, size, secrets[i], strlen(secrets[i])))
            watch.found = secrets[i];
    __real_free(memory);
}

static void arm(void)
{
    watch.armed = true;
    watch.found = NULL;
}

static void check_nothing_was_left(void)
{
    watch.armed = false;
    if (watch.found)
        CHECK_FAIL("freed memory holds <%s>", watch.found);
}

static void the_watch_sees(void)
{
    char *volatile text = strdup("before NOBODY-SEES-THIS after");
    arm();
    free(text);
    watch.armed = false;
    CHECK(watch.found);
}

/* A server of one connection: one answer to each request, whatever it is. */

static const char item[] =
    "{\"Items\":[{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"s\"},\"a\":{\"S\":\"NOBODY-SEES-THIS "
    "\\u0041\"},"
    "\"m\":{\"M\":{\"NOBODY-SEES-THIS\":{\"SS\":[\"NOBODY-SEES-THIS \\u0042\"]}}},"
    "\"l\":{\"L\":[{\"S\":\"\\u0043 NOBODY-SEES-THIS\"},{\"N\":\"1\"}]}}]}";

struct server {
    int listener;
    bool chunked;
    unsigned port;
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct server *server = arg;
    char in[16384], out[1024];
    int fd = accept(server->listener, NULL, NULL);
    for (ssize_t got; (got = recv(fd, in, sizeof in, 0)) > 0;) {
        int size = server->chunked
                       ? snprintf(out, sizeof out,
                                  "HTTP/1.1 200 OK\r\nContent-Type: "
                                  "application/x-amz-json-1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "10\r\n%.16s\r\n%zx\r\n%s\r\n0\r\n\r\n",
                                  item, sizeof item - 17, item + 16)
                       : snprintf(out, sizeof out,
                                  "HTTP/1.1 200 OK\r\nContent-Type: "
                                  "application/x-amz-json-1.0\r\nContent-Length: %zu\r\n\r\n%s",
                                  sizeof item - 1, item);
        send(fd, out, (size_t)size, MSG_NOSIGNAL);
        explicit_bzero(in, sizeof in);
        explicit_bzero(out, sizeof out);
    }
    close(fd);
    return NULL;
}

static void start_server(struct server *server, bool chunked)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    *server = (struct server){.chunked = chunked};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(listen(server->listener, 4), 0);
    CHECK_INT(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* A whole request, from credentials to a printed record. */

struct scene {
    struct loop *loop;
    struct transport *transport;
    struct aws_settings settings;
    struct aws_session *session;
    struct source *source;
    bool printed;
    struct error why;
};

static void set_environment(const struct server *server)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", server->port);
    signal(SIGPIPE, SIG_IGN);
    setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "KEY-OF-THE-USER", 1);
    setenv("AWS_SESSION_TOKEN", "TOKEN-OF-THE-SESSION", 1);
    setenv("AWS_ENDPOINT_URL_DYNAMODB", url, 1);
    setenv("AWS_REGION", "eu-west-1", 1);
    unsetenv("http_proxy");
    unsetenv("AWS_PROFILE");
    unsetenv("AWS_DEFAULT_PROFILE");
}

static void open_scene(struct scene *scene)
{
    struct http_options http = {4, "tester/1"};
    struct aws_options none = {0};
    struct profiles profiles = {0};
    *scene = (struct scene){.loop = loop_new(clock_system())};
    scene->transport = http_new(scene->loop, &http, NULL);
    CHECK(scene->transport && aws_settings_init(&scene->settings, &none, &profiles, NULL));
    struct aws_session_parts parts = {.loop = scene->loop, .transport = scene->transport};
    scene->session = aws_session_new(&scene->settings, &parts);
    struct dynamo_options options = {.loop = scene->loop,
                                     .transport = scene->transport,
                                     .session = scene->session,
                                     .deadline_ms = 10000};
    scene->source = dynamo_new(&options);
    CHECK(scene->session && scene->source);
}

static void close_scene(struct scene *scene)
{
    source_destroy(scene->source);
    aws_session_destroy(scene->session);
    aws_settings_clean_up(&scene->settings);
    scene->transport->ops->destroy(scene->transport);
    loop_destroy(scene->loop);
}

static void print_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    struct record_origin origin = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct record_view view = {0};
    if (err)
        scene->why = *err;
    if (err || page->item_count != 1)
        return;
    struct record *record = record_new(page->items[0], &origin, NULL);
    scene->printed = record && item_write(record_item(record), &view, &text) &&
                     strstr(buf_text(&text), "\"NOBODY-SEES-THIS A\"");
    record_unref(record);
}

static void check_request(bool chunked)
{
    struct server server;
    struct scene scene;
    start_server(&server, chunked);
    set_environment(&server);
    arm();
    open_scene(&scene);
    struct read *read = read_new(READ_QUERY, "jobs", NULL);
    struct cond where = {
        .attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = {VALUE_S, SPAN_LITERAL("p")}};
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    struct source_call *call = source_start(scene.source, read, NULL, print_page, &scene);
    CHECK(call && loop_run(scene.loop));
    source_end(call);
    read_destroy(read);
    close_scene(&scene);
    watch.armed = false;
    pthread_join(server.thread, NULL);
    close(server.listener);
    CHECK_TEXT(scene.why.text, "");
    CHECK(scene.printed);
    check_nothing_was_left();
}

static void a_request_leaves_nothing(void)
{
    check_request(false);
}

static void a_body_that_grew_leaves_nothing(void)
{
    check_request(true);
}

static void a_buffer_that_moves_leaves_nothing(void)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    arm();
    buf_add_text(&text, "NOBODY-SEES-THIS");
    buf_add_repeated(&text, 'x', 10000);
    CHECK(text.capacity > 10000);
    check_nothing_was_left();
}

static void an_arena_leaves_nothing(void)
{
    struct arena arena = {0};
    arm();
    for (int i = 0; i < 1000; i++)
        arena_text(&arena, SPAN_LITERAL("NOBODY-SEES-THIS"));
    arena_clean_up(&arena);
    check_nothing_was_left();
}

static void files_of_profiles_leave_nothing(void)
{
    char path[] = "/tmp/ddbfs-wipe-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    for (int i = 0; i < 2000; i++) /* larger than the first room, so that it moves */
        dprintf(fd, "[p%d]\naws_secret_access_key = KEY-OF-THE-USER\n", i);
    close(fd);
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    arm();
    struct profiles loaded = {0}, kept = {0};
    bool ok = profiles_load(&loaded, NULL) && profiles_refresh(&kept, NULL);
    profiles_clean_up(&loaded);
    profiles_clean_up(&kept);
    unlink(path);
    CHECK(ok);
    check_nothing_was_left();
}

/* Read, refused in its middle, changed and written. */
static void documents_leave_nothing(void)
{
    static const char *const texts[] = {"{\"a\":\"NOBODY-SEES-THIS\",\"b\":{\"c\":1}}",
                                        "{\"a\":\"NOBODY-SEES-THIS\",\"b\":{\"c\":}}"};
    bool parsed[2];
    arm();
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf out = {0};
        CLEAN_UP(document_clean_up)
        struct document *document = document_parse(span_text(texts[i]), "it", NULL);
        parsed[i] = document && document_set_text(document, "b.c", "KEY-OF-THE-USER") &&
                    document_set_text(document, "a", "other");
        for (int n = 0; document && n < 100; n++) /* so that what is printed grows */
            document_write(&out, document);
    }
    CHECK(parsed[0] && !parsed[1]);
    check_nothing_was_left();
}

static void wiped_memory_is_as_large_as_asked(void)
{
    arm();
    char *text = wiped_strdup("NOBODY-SEES-THIS");
    CHECK(text);
    char *longer = wiped_realloc(text, 1000), *shorter = wiped_realloc(longer, 10);
    char *zeroed = wiped_zeroed(10, 10);
    CHECK(shorter && zeroed && memcmp(shorter, "NOBODY-SEE", 10) == 0 && zeroed[99] == 0);
    CHECK(!wiped_zeroed(SIZE_MAX / 2, 3) && !wiped_alloc(SIZE_MAX));
    wiped_free(shorter);
    wiped_free(zeroed);
    wiped_free(NULL);
    check_nothing_was_left();
}

static const struct check_test tests[] = {
    {"the watch sees", the_watch_sees},
    {"a request leaves nothing", a_request_leaves_nothing},
    {"a body that grew leaves nothing", a_body_that_grew_leaves_nothing},
    {"a buffer that moves leaves nothing", a_buffer_that_moves_leaves_nothing},
    {"an arena leaves nothing", an_arena_leaves_nothing},
    {"wiped memory is as large as asked", wiped_memory_is_as_large_as_asked},
    {"documents leave nothing", documents_leave_nothing},
    {"files of profiles leave nothing", files_of_profiles_leave_nothing},
};
CHECK_MAIN(tests)
