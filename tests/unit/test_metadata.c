/* Credentials of a machine's role: version 2 and version 1 of its metadata service, the settings,
 * and what is taken for nobody. */
#include "core/aws/credentials_providers.h"

#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define ROOT "http://169.254.169.254/latest/"
#define ROLES "meta-data/iam/security-credentials/"
#define KEYS "\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"S1\",\"Token\":\"T1\""

static const char config[] = "[profile p]\nregion = us-east-1\n";
static const char answer[] =
    "{\"Code\":\"Success\"," KEYS ",\"Expiration\":\"2026-10-14T23:46:40Z\",\"AccountId\":\"1\"}";

static const char *const variables[] = {
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_V1_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
    "AWS_IMDS_USE_IPV6",
    "AWS_METADATA_SERVICE_TIMEOUT",
    "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
};

static void open_machine(struct scene *scene, const char *file)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    open_scene(scene, credentials_machine_new, file);
}

static void play(struct scene *scene, const char *credentials)
{
    script_answer(scene->script, 200, "", "TOKEN==");
    script_answer(scene->script, 200, "", "the-role");
    script_answer(scene->script, 200, "", credentials);
}

static void check_absent(struct scene *scene, const char *why)
{
    ask(scene);
    if (scene->found != CREDENTIALS_ABSENT)
        CHECK_FAIL("%s", scene->err.text);
    CHECK_HAS(scene->err.text, why);
    if (!*why)
        CHECK_TEXT(scene->err.text, "");
}

static void version_2(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    play(&scene, answer);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.secret, "S1");
    CHECK_TEXT(scene.token, "T1");
    CHECK_TEXT(scene.account, "-");
    CHECK_TEXT(scene.method, "iam-role");
    CHECK_TEXT(scene.origin, "instance metadata, role the-role");
    CHECK_INT(scene.expires_ms, WALL_MS + 360 * MINUTE_MS);
    check_sent(&scene, 3);
    const struct script_sent *token = script_sent(scene.script, 0);
    CHECK_TEXT(token->method, "PUT");
    CHECK_TEXT(token->url, ROOT "api/token");
    CHECK_TEXT(token->headers, "X-aws-ec2-metadata-token-ttl-seconds: 21600\n");
    CHECK_INT(token->timeout_ms, 1000);
    const char *const urls[] = {"", ROOT ROLES, ROOT ROLES "the-role"};
    for (size_t i = 1; i < 3; i++) {
        const struct script_sent *sent = script_sent(scene.script, i);
        CHECK_TEXT(sent->method, "GET");
        CHECK_TEXT(sent->url, urls[i]);
        CHECK_TEXT(sent->headers, "X-aws-ec2-metadata-token: TOKEN==\n");
        CHECK(sent->no_proxy && token->no_proxy);
    }
    CHECK(!strstr(buf_text(&scene.lines), "TOKEN"));
}

static void version_1(void)
{
    const int statuses[] = {403, 404, 405};
    for (size_t i = 0; i < 3; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, config);
        script_answer(scene.script, statuses[i], "", "");
        script_answer(scene.script, 200, "", "the-role\n");
        script_answer(scene.script, 200, "", answer);
        check_found(&scene, "ASIA1");
        CHECK_TEXT(script_sent(scene.script, 1)->headers, "");
        CHECK_TEXT(script_sent(scene.script, 2)->url, ROOT ROLES "the-role");
    }
}

static void version_1_turned_off(void)
{
    for (int in_profile = 0; in_profile < 2; in_profile++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, in_profile
                                 ? "[profile p]\nregion = r\nec2_metadata_v1_disabled = TRUE\n"
                                 : config);
        if (!in_profile)
            setenv("AWS_EC2_METADATA_V1_DISABLED", "true", 1);
        script_answer(scene.script, 403, "", "");
        check_failed(&scene, ERROR_DENIED, "sends no token (HTTP 403)");
        check_sent(&scene, 1);
        play(&scene, answer);
        check_found(&scene, "ASIA1"); /* version 2 is not meant */
    }
}

static void no_version_1_for_another_reason(void)
{
    const int statuses[] = {400, 500, 503, 301};
    for (size_t i = 0; i < 4; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, config);
        script_answer(scene.script, statuses[i], "", "");
        check_absent(&scene, "does not return");
        check_sent(&scene, 1);
    }
    const enum error_kind kinds[] = {ERROR_TIMED_OUT, ERROR_REFUSED, ERROR_UNREACHABLE,
                                     ERROR_RESET};
    for (size_t i = 0; i < 4; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, config);
        script_fail(scene.script, kinds[i]);
        check_absent(&scene, "");
        check_sent(&scene, 1);
    }
}

static void turned_off(void)
{
    const char *const words[] = {"true", "TRUE", "True", "1", "yes", "false", ""};
    for (size_t i = 0; i < 7; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, config);
        setenv("AWS_EC2_METADATA_DISABLED", words[i], 1);
        script_fail(scene.script, ERROR_UNREACHABLE);
        check_absent(&scene, "");
        check_sent(&scene, i >= 3);
    }
}

static void who_is_not_there_is_not_asked_again_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    script_fail(scene.script, ERROR_TIMED_OUT);
    check_absent(&scene, "");
    check_absent(&scene, "");
    check_sent(&scene, 1);
    run_for(&scene, MACHINE_ABSENT_MS);
    play(&scene, answer);
    check_found(&scene, "ASIA1");
}

static void check_url(const char *file, const char *name, const char *value, const char *url)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, file);
    if (name)
        setenv(name, value, 1);
    play(&scene, answer);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(script_sent(scene.script, 0)->url, url);
}

static void where_it_is(void)
{
    const char ipv6[] = "[profile p]\nregion = r\nec2_metadata_service_endpoint_mode = ipv6\n";
    const char own[] = "[profile p]\nregion = r\nec2_metadata_service_endpoint = http://h:81/x\n"
                       "ec2_metadata_service_endpoint_mode = IPv6\n";
    const char mode[] = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";
    check_url(config, NULL, NULL, ROOT "api/token");
    check_url(config, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:9",
              "http://127.0.0.1:9/latest/api/token");
    check_url(config, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "", ROOT "api/token");
    check_url(own, NULL, NULL, "http://h:81/x/latest/api/token");
    check_url(own, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://[::1]/",
              "http://[::1]/latest/api/token");
    check_url(config, mode, "IPv6", "http://[fd00:ec2::254]/latest/api/token");
    check_url(config, "AWS_IMDS_USE_IPV6", "true", "http://[fd00:ec2::254]/latest/api/token");
    check_url(ipv6, NULL, NULL, "http://[fd00:ec2::254]/latest/api/token");
    check_url(ipv6, mode, "IPV4", ROOT "api/token");
}

static void check_wrong(const char *name, const char *value, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    setenv(name, value, 1);
    check_failed(&scene, ERROR_INVALID, why);
    CHECK_HAS(scene.err.text, name);
    check_sent(&scene, 0);
}

static void settings_that_are_none(void)
{
    check_wrong("AWS_EC2_METADATA_SERVICE_ENDPOINT", "x", "is no address");
    check_wrong("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ftp://x/", "is no address");
    check_wrong("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ipv5", "takes IPv4 or IPv6");
    check_wrong("AWS_METADATA_SERVICE_TIMEOUT", "0", "a whole number from 1 on");
    check_wrong("AWS_METADATA_SERVICE_TIMEOUT", "-1", "a whole number from 1 on");
    check_wrong("AWS_METADATA_SERVICE_TIMEOUT", "0.5", "a whole number from 1 on");
    check_wrong("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "many", "a whole number from 0 on");
}

static void time_and_tries(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, "[profile p]\nregion = r\nmetadata_service_timeout = 7\n"
                         "metadata_service_num_attempts = 9\n");
    setenv("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "3", 1);
    script_fail(scene.script, ERROR_TIMED_OUT);
    script_answer(scene.script, 500, "", "");
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 500, "", "");
    script_answer(scene.script, 200, "", "");
    script_answer(scene.script, 200, "", "the-role");
    script_answer(scene.script, 401, "", "");
    script_answer(scene.script, 200, "", "{");
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 9);
    CHECK_INT(script_sent(scene.script, 8)->timeout_ms, 7000);
    CLEAN_UP(scene_clean_up) struct scene never;
    open_machine(&never, "[profile p]\nregion = r\nmetadata_service_num_attempts = 0\n");
    check_absent(&never, "");
    check_sent(&never, 0);
}

static void a_machine_without_a_role(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 404, "", "<html>");
    check_absent(&scene, "has no role for it (HTTP 404)");
    play(&scene, answer); /* it gets one, which counts at once */
    check_found(&scene, "ASIA1");
}

static void check_names(const char *role)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 200, "", role);
    check_failed(&scene, ERROR_BAD_ANSWER, "names no role that could be one");
    check_sent(&scene, 2);
}

static void names_that_are_none(void)
{
    check_names("\n");
    check_names("a b");
    check_names("one\ntwo");
    check_names("../../user-data");
    check_names("a?b");
    check_names("a%2fb");
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    script_answer(scene.script, 200, "", "a\r\nX-Evil: b");
    check_failed(&scene, ERROR_BAD_ANSWER, "a token that no header can carry");
}

static void check_answer(const char *text, enum credentials_found found, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, config);
    play(&scene, text);
    ask(&scene);
    CHECK_INT(scene.found, found);
    CHECK_HAS(scene.err.text, why);
}

static void answers_that_are_none(void)
{
    check_answer("", CREDENTIALS_ABSENT, "(HTTP 200)");
    check_answer("<html>", CREDENTIALS_ABSENT, "(HTTP 200)");
    check_answer("{}", CREDENTIALS_ABSENT, "has no AccessKeyId");
    check_answer("{" KEYS "}", CREDENTIALS_ABSENT, "has no Expiration");
    check_answer("{" KEYS ",\"Expiration\":\"soon\"}", CREDENTIALS_FAILED, "no point in time");
    check_answer("{\"Code\":\"AssumeRoleUnauthorizedAccess\",\"Message\":\"EC2 cannot assume it\"}",
                 CREDENTIALS_ABSENT,
                 "sends no credentials: EC2 cannot assume it (AssumeRoleUnauthorizedAccess)");
}

/* As for the AWS CLI: the service that renews them is out of order. */
static void those_that_have_expired_are_used(void)
{
    const char *const times[] = {"2020-01-01T00:00:00Z", "2026-10-14T17:46:40Z",
                                 "2026-10-14T18:01:39Z"};
    for (size_t i = 0; i < 3; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        char text[200];
        open_machine(&scene, config);
        snprintf(text, sizeof text, "{" KEYS ",\"Expiration\":\"%s\"}", times[i]);
        play(&scene, text);
        check_found(&scene, "ASIA1");
        CHECK_INT(scene.expires_ms, WALL_MS + 15 * MINUTE_MS);
        CHECK_HAS(buf_text(&scene.lines), "they are used, and refreshed soon");
    }
}

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 3500; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        const char *const bodies[] = {"TOKEN", "the-role", answer};
        open_machine(&scene, config);
        for (size_t i = 0; i < 3; i++) {
            script_answer(scene.script, 200, "", bodies[i]);
            script_delay(scene.script, 900);
        }
        start(&scene);
        run_for(&scene, after_ms);
        call_off(&scene);
        CHECK_INT(scene.answers, after_ms >= 3000);
        CHECK_INT(script_pending(scene.script), 0);
    }
}

static const struct check_test tests[] = {
    {"version 2", version_2},
    {"version 1", version_1},
    {"version 1 turned off", version_1_turned_off},
    {"no version 1 for another reason", no_version_1_for_another_reason},
    {"turned off", turned_off},
    {"who is not there is not asked again at once", who_is_not_there_is_not_asked_again_at_once},
    {"where it is", where_it_is},
    {"settings that are none", settings_that_are_none},
    {"time and tries", time_and_tries},
    {"a machine without a role", a_machine_without_a_role},
    {"names that are none", names_that_are_none},
    {"answers that are none", answers_that_are_none},
    {"those that have expired are used", those_that_have_expired_are_used},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
