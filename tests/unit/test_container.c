/* Credentials of a container: which endpoint is asked, with which token, and what it says. */
#include "core/aws/credentials_providers.h"

#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define RELATIVE "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
#define FULL "AWS_CONTAINER_CREDENTIALS_FULL_URI"
#define TOKEN "AWS_CONTAINER_AUTHORIZATION_TOKEN"
#define TOKEN_FILE "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
#define KEYS "\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"S1\",\"Token\":\"T1\""

static const char config[] = "[profile p]\nregion = us-east-1\n";
static const char answer[] = "{" KEYS ",\"Expiration\":\"2026-10-14T18:46:40Z\","
                             "\"AccountId\":\"123456789012\",\"RoleArn\":\"arn\"}";

static void open_container(struct scene *scene, const char *name, const char *value)
{
    unsetenv(RELATIVE);
    unsetenv(FULL);
    unsetenv(TOKEN);
    unsetenv(TOKEN_FILE);
    open_scene(scene, credentials_container_new, config);
    if (name)
        setenv(name, value, 1);
}

static void without_a_container(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, NULL, NULL);
    setenv(TOKEN, "T", 1);
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
    check_sent(&scene, 0);
}

static void what_the_endpoint_gives(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, RELATIVE, "/v2/credentials?id=12-34");
    setenv(FULL, "http://127.0.0.1/not-asked", 1);
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.secret, "S1");
    CHECK_TEXT(scene.token, "T1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_TEXT(scene.method, "container-role");
    CHECK_TEXT(scene.origin, RELATIVE);
    CHECK_INT(scene.expires_ms, WALL_MS + 60 * MINUTE_MS);
    check_sent(&scene, 1);
    const struct script_sent *sent = script_sent(scene.script, 0);
    CHECK_TEXT(sent->method, "GET");
    CHECK_TEXT(sent->url, "http://169.254.170.2/v2/credentials?id=12-34");
    CHECK_TEXT(sent->headers, "Accept: application/json\n");
    CHECK_INT(sent->timeout_ms, 2000);
    CHECK(sent->no_proxy);
}

static void tokens(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    open_container(&scene, FULL, "https://pods.example:443/v1/credentials");
    setenv(TOKEN, "Basic of-the-variable", 1);
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    CHECK_HAS(script_sent(scene.script, 0)->headers, "Authorization: Basic of-the-variable\n");
    buf_printf(&path, "%s/.aws/token", scene.folder);
    setenv(TOKEN_FILE, buf_text(&path), 1);
    check_failed(&scene, ERROR_DENIED, "there is no such file");
    write_file(&scene, "token", "of-the-file");
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    CHECK_HAS(script_sent(scene.script, 1)->headers, "Authorization: of-the-file\n");
    write_file(&scene, "token", "of-the-new-file"); /* it is read each time */
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    CHECK_HAS(script_sent(scene.script, 2)->headers, "Authorization: of-the-new-file\n");
    write_file(&scene, "token", "of-the-file\n");
    check_failed(&scene, ERROR_DENIED, "contains a line end");
    CHECK(!strstr(scene.err.text, "of-the-file"));
    unsetenv(TOKEN_FILE);
    setenv(TOKEN, "a\r\nX-Evil: b", 1);
    check_failed(&scene, ERROR_DENIED, "the token of " TOKEN " contains");
    CHECK(!strstr(buf_text(&scene.lines), "of-the-"));
    check_sent(&scene, 3);
}

static void check_address(const char *url, bool good)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, FULL, url);
    script_answer(scene.script, 200, "", answer);
    if (good) {
        check_found(&scene, "ASIA1");
        CHECK_TEXT(script_sent(scene.script, 0)->url, url);
    } else {
        check_failed(&scene, ERROR_DENIED, FULL " results in");
        check_sent(&scene, 0);
    }
}

static void addresses(void)
{
    const char *const good[] = {
        "http://127.0.0.1:8080/x", "http://127.9.8.7",        "http://localhost/x",
        "http://LocalHost/x",      "http://[::1]:81/x?y=/z",  "http://169.254.170.2/x",
        "http://169.254.170.23/x", "http://[fd00:ec2::23]/x", "https://anywhere.example/x",
        "HTTP://127.0.0.1/x",
    };
    const char *const bad[] = {
        "",
        "x",
        "/v2/credentials",
        "ftp://127.0.0.1/",
        "http://",
        "http://example.com/",
        "http://169.254.170.3/x",
        "http://169.254.169.254/x",
        "http://[fd00:ec2::24]/x",
        "http://128.0.0.1/x",
        "http://127.0.0.1.example/x",
        "http://127.1/x",
        "http://localhost.example/x",
        "http://127.0.0.1@example.com/x",
        "http://example.com#@127.0.0.1/x",
        "http://example.com\\@127.0.0.1/x",
        "http://127.0.0.1:99999/x",
        "http://127.0.0.1/x y",
        "http://127.0.0.1/x?y\r\nX-Evil: z",
        "http://[::2]/x",
        "http://[127.0.0.1]/x",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        check_address(good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_address(bad[i], false);
}

static void paths_that_leave_the_host(void)
{
    const char *const paths[] = {"x", ".example.com/x", "@example.com/x", ":80@example.com/",
                                 "3/x"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_container(&scene, RELATIVE, paths[i]);
        if (strcmp(paths[i], "3/x") == 0)
            script_answer(scene.script, 200, "", answer); /* 169.254.170.23, which is one, too */
        ask(&scene);
        CHECK_INT(scene.found, i == 4 ? CREDENTIALS_FOUND : CREDENTIALS_FAILED);
        check_sent(&scene, i == 4);
    }
}

static void check_tried(int status, const char *body, enum error_kind kind, const char *why,
                        size_t times)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, FULL, "http://localhost/x");
    setenv(TOKEN, "Bearer of-the-variable", 1);
    for (size_t i = 0; i < 9; i++)
        script_answer(scene.script, status, "", body);
    check_failed(&scene, kind, why);
    CHECK(!strstr(scene.err.text, "of-the-variable"));
    check_sent(&scene, times);
    for (size_t i = 1; i < times; i++)
        CHECK_INT(script_sent(scene.script, i)->at_ms - script_sent(scene.script, i - 1)->at_ms,
                  1000);
}

static void three_tries(void)
{
    check_tried(500, "", ERROR_DENIED, "refuses (HTTP 500)", 3);
    check_tried(400, "{\"code\":\"X\",\"message\":\"no such role\"}", ERROR_DENIED,
                "refuses (HTTP 400): no such role; " FULL " is http://localhost/x", 3);
    check_tried(403, "{\"message\":\"the token Bearer of-the-variable is bad\"}", ERROR_DENIED,
                "refuses (HTTP 403); ", 3);
    check_tried(302, answer, ERROR_DENIED, "refuses (HTTP 302)", 3);
    check_tried(200, "", ERROR_BAD_ANSWER, "is no JSON object", 3);
    check_tried(200, "{\"AccessKeyId\":", ERROR_BAD_ANSWER, "is no JSON object", 3);
    check_tried(200, "[]", ERROR_BAD_ANSWER, "is no JSON object", 3);
}

static void answers_that_are_none(void)
{
    check_tried(200, "{}", ERROR_BAD_ANSWER, "has no AccessKeyId", 1);
    check_tried(200, "{\"AccessKeyId\":\"A\"}", ERROR_BAD_ANSWER, "has no SecretAccessKey", 1);
    check_tried(200, "{" KEYS "}", ERROR_BAD_ANSWER, "has no Expiration", 1);
    check_tried(200, "{" KEYS ",\"Expiration\":\"soon\"}", ERROR_BAD_ANSWER, "no point in time", 1);
    check_tried(200, "{" KEYS ",\"Expiration\":1792000000}", ERROR_BAD_ANSWER, "no Expiration", 1);
    check_tried(200, "{" KEYS ",\"Expiration\":\"2026-10-14T17:46:40Z\"}", ERROR_EXPIRED,
                "expired already (2026-10-14T17:46:40Z)", 1);
    check_tried(200, "{\"AccessKeyId\":\"A\\nB\",\"SecretAccessKey\":\"S\",\"Token\":\"T\"}",
                ERROR_BAD_ANSWER, "has no AccessKeyId", 1);
}

static void one_that_failed_is_not_asked_again_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, FULL, "http://localhost/x");
    for (size_t i = 0; i < 3; i++)
        script_answer(scene.script, 500, "", "");
    check_failed(&scene, ERROR_DENIED, "refuses (HTTP 500)");
    check_failed(&scene, ERROR_DENIED, "refuses (HTTP 500)");
    check_sent(&scene, 3);
    run_for(&scene, CREDENTIALS_FAILURE_MS);
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
}

static void the_third_try_counts(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, FULL, "http://localhost/x");
    script_fail(scene.script, ERROR_REFUSED);
    script_answer(scene.script, 503, "", "");
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 3);
}

static void nobody_answers(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_container(&scene, FULL, "http://localhost/x");
    for (size_t i = 0; i < 3; i++) {
        script_answer(scene.script, 200, "", answer);
        script_delay(scene.script, 2001);
    }
    check_failed(&scene, ERROR_TIMED_OUT, "and " FULL " names it");
    check_sent(&scene, 3);
    CHECK_INT(script_sent(scene.script, 2)->at_ms - script_sent(scene.script, 0)->at_ms, 6000);
}

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 6000; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_container(&scene, FULL, "http://localhost/x");
        script_answer(scene.script, 500, "", "");
        script_delay(scene.script, 1700);
        script_answer(scene.script, 200, "", answer);
        script_delay(scene.script, 1700);
        start(&scene);
        run_for(&scene, after_ms);
        call_off(&scene);
        CHECK_INT(scene.answers, after_ms >= 4500);
        CHECK_INT(script_pending(scene.script), 0);
    }
}

static const struct check_test tests[] = {
    {"without a container", without_a_container},
    {"what the endpoint gives", what_the_endpoint_gives},
    {"tokens", tokens},
    {"addresses", addresses},
    {"paths that leave the host", paths_that_leave_the_host},
    {"three tries", three_tries},
    {"answers that are none", answers_that_are_none},
    {"one that failed is not asked again at once", one_that_failed_is_not_asked_again_at_once},
    {"the third try counts", the_third_try_counts},
    {"nobody answers", nobody_answers},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
