/* A provider, its surroundings, and questions to it. */
#include "tests/unit/provider_scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/stored.h"
#include "tests/unit/check.h"

static char *path_of(const struct scene *scene, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/.aws/%s", scene->folder, name);
    return buf_steal(&path, NULL);
}

void write_file(const struct scene *scene, const char *name, const char *text)
{
    char *path = path_of(scene, name);
    bool wrote = stored_write(path, span_text(text), NULL);
    free(path);
    CHECK(wrote);
}

void remove_file(const struct scene *scene, const char *name)
{
    char *path = path_of(scene, name);
    int failed = unlink(path);
    free(path);
    CHECK_INT(failed, 0);
}

void check_file(const struct scene *scene, const char *name, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    char *path = path_of(scene, name);
    enum stored_found found = stored_read(path, &text, NULL);
    free(path);
    if (!want)
        CHECK_INT(found, STORED_ABSENT);
    else
        CHECK_TEXT(buf_text(&text), want);
}

static void take_line(void *arg, enum log_level level, const char *line)
{
    struct scene *scene = arg;
    (void)level;
    buf_printf(&scene->lines, "%s\n", line);
}

void open_scene(struct scene *scene, provider_new_fn *make, const char *config)
{
    struct aws_options options = {.profile = "p"};
    *scene = (struct scene){.folder = "/tmp/ddbfs-provider-XXXXXX", .make = make};
    CHECK(mkdtemp(scene->folder));
    setenv("HOME", scene->folder, 1);
    unsetenv("AWS_CONFIG_FILE");
    unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    write_file(scene, "config", config);
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->script = script_new(scene->loop);
    scene->log = (struct log){LOG_LEVEL_DEBUG, take_line, scene};
    CHECK(profiles_load(&scene->profiles, &scene->err));
    if (!aws_settings_init(&scene->settings, &options, &scene->profiles, &scene->err))
        CHECK_FAIL("%s", scene->err.text);
    scene->context = (struct credentials_context){
        .loop = scene->loop,
        .transport = script_transport(scene->script),
        .log = &scene->log,
        .settings = &scene->settings,
        .profile = "p",
        .new_chain = credentials_chain_new,
        .profiles = &scene->profiles,
    };
    scene->provider = make(&scene->context);
    CHECK(scene->provider);
}

void scene_clean_up(struct scene *scene)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scene->folder);
    credentials_request_cancel(scene->get);
    credentials_provider_destroy(scene->provider);
    script_destroy(scene->script);
    loop_destroy(scene->loop);
    aws_settings_clean_up(&scene->settings);
    profiles_clean_up(&scene->profiles);
    buf_clean_up(&scene->lines);
    CHECK_INT(system(command), 0);
}

static void put(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "-");
}

static void on_answer(void *arg, const struct credentials_result *answer)
{
    struct scene *scene = arg;
    const struct credentials *credentials = &answer->credentials;
    scene->get = NULL;
    scene->answers++;
    scene->found = answer->found;
    scene->err = answer->err;
    put(scene->key, sizeof scene->key, credentials->access_key_id);
    put(scene->secret, sizeof scene->secret, credentials->secret_access_key);
    put(scene->token, sizeof scene->token, credentials->session_token);
    put(scene->account, sizeof scene->account, credentials->account_id);
    put(scene->origin, sizeof scene->origin, credentials->origin);
    scene->expires_ms = credentials->expires_wall_ms;
    put(scene->method, sizeof scene->method, credentials->method);
}

bool scene_begin(struct scene *scene, struct credentials_provider *provider)
{
    scene->answers = 0;
    scene->get = credentials_request_start(provider, on_answer, scene);
    CHECK_INT(scene->answers, 0);
    return scene->get != NULL;
}

void start(struct scene *scene)
{
    CHECK(scene_begin(scene, scene->provider));
}

void ask(struct scene *scene)
{
    start(scene);
    CHECK(loop_run(scene->loop));
    CHECK_INT(scene->answers, 1);
}

void check_found(struct scene *scene, const char *key)
{
    ask(scene);
    if (scene->found != CREDENTIALS_FOUND)
        CHECK_FAIL("%s", scene->err.text);
    CHECK_TEXT(scene->key, key);
}

void check_failed(struct scene *scene, enum error_kind kind, const char *why)
{
    ask(scene);
    CHECK_INT(scene->found, CREDENTIALS_FAILED);
    if (scene->err.kind != kind)
        CHECK_FAIL("%s: %s, not %s", scene->err.text, error_word(scene->err.kind),
                   error_word(kind));
    CHECK_HAS(scene->err.text, why);
}

void check_sent(const struct scene *scene, size_t count)
{
    CHECK_INT(script_sent_count(scene->script), count);
}

void another_process(struct scene *scene)
{
    credentials_provider_destroy(scene->provider);
    scene->provider = scene->make(&scene->context);
    CHECK(scene->provider);
}

static void stop(void *loop)
{
    loop_stop(loop);
}

static void change_file(void *arg)
{
    struct scene *scene = arg;
    if (scene->then)
        write_file(scene, scene->file, scene->then);
    else
        remove_file(scene, scene->file);
}

void change_file_after(struct scene *scene, int64_t after_ms, const char *file, const char *then)
{
    scene->file = file;
    scene->then = then;
    CHECK(loop_add_timer(scene->loop, after_ms, change_file, scene));
}

void run_for(struct scene *scene, int64_t ms)
{
    CHECK(loop_add_timer(scene->loop, ms, stop, scene->loop));
    CHECK(loop_run(scene->loop));
}

void call_off(struct scene *scene)
{
    credentials_request_cancel(scene->get);
    scene->get = NULL;
}

void fill_disk(bool full)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = full ? 0 : limit.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
