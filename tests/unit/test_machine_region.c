/* The region of the machine, where nobody names one. */
#include "core/aws/credentials_providers.h"

#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define ROOT "http://169.254.169.254/latest/"

static void open_machine(struct scene *scene, const char *config)
{
    unsetenv("AWS_EC2_METADATA_DISABLED");
    unsetenv("AWS_REGION");
    unsetenv("AWS_DEFAULT_REGION");
    open_scene(scene, credentials_region_new, config);
}

static const char nothing[] = "[profile p]\noutput = json\n";

static void one_that_is_named(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, "[profile p]\nregion = us-east-1\n");
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
    CHECK_TEXT(scene.settings.region, "us-east-1");
    check_sent(&scene, 0);
}

static void that_of_the_zone(void)
{
    const char *const zones[][2] = {{"eu-north-1b", "eu-north-1"},
                                    {"us-west-2-lax-1a", "us-west-2-lax-1"}};
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, nothing);
        CHECK(!scene.settings.region);
        script_answer(scene.script, 200, "", "TOKEN");
        script_answer(scene.script, 200, "", zones[i][0]);
        ask(&scene);
        CHECK_INT(scene.found, CREDENTIALS_ABSENT);
        CHECK_TEXT(scene.settings.region, zones[i][1]);
        CHECK_TEXT(aws_settings_origin(&scene.settings, AWS_SETTING_REGION), "instance metadata");
        CHECK_TEXT(script_sent(scene.script, 1)->url,
                   ROOT "meta-data/placement/availability-zone/");
        ask(&scene); /* it is known now */
        check_sent(&scene, 2);
    }
}

static void check_none(struct scene *scene, const char *why)
{
    check_failed(scene, ERROR_INVALID,
                 "no region: pass --region, set AWS_REGION, or set the region of profile p");
    CHECK_HAS(scene->err.text, why);
    if (!*why)
        CHECK(!strstr(scene->err.text, "metadata"));
    CHECK(!scene->settings.region);
}

static void none(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_machine(&scene, nothing);
    script_fail(scene.script, ERROR_UNREACHABLE);
    check_none(&scene, "");
    check_none(&scene, ""); /* nobody was there just now */
    check_sent(&scene, 1);
    run_for(&scene, MACHINE_ABSENT_MS);
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 404, "", "");
    check_none(&scene, "(HTTP 404)");
    const char *const zones[] = {"x/y:1", "a", "-b-", "evil.example/?"};
    for (size_t i = 0; i < 4; i++) {
        script_answer(scene.script, 200, "", "TOKEN");
        script_answer(scene.script, 200, "", zones[i]);
        check_none(&scene, "is no region: letters");
    }
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    check_none(&scene, "");
    check_sent(&scene, 11);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    setenv("AWS_METADATA_SERVICE_TIMEOUT", "x", 1);
    run_for(&scene, MACHINE_ABSENT_MS);
    check_none(&scene, "AWS_METADATA_SERVICE_TIMEOUT");
    unsetenv("AWS_METADATA_SERVICE_TIMEOUT");
}

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 3000; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_machine(&scene, nothing);
        script_answer(scene.script, 200, "", "TOKEN");
        script_delay(scene.script, 900);
        script_answer(scene.script, 200, "", "eu-north-1b");
        script_delay(scene.script, 900);
        start(&scene);
        run_for(&scene, after_ms);
        call_off(&scene);
        CHECK_INT(scene.answers, after_ms >= 2000);
        CHECK_INT(script_pending(scene.script), 0);
    }
}

static const struct check_test tests[] = {
    {"one that is named", one_that_is_named},
    {"that of the zone", that_of_the_zone},
    {"none", none},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
