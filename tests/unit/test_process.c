/* Credentials that a program prints. The programs are real ones; their time is not. */
#include "core/aws/credentials_providers.h"

#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define PROFILE "[profile p]\nregion = us-east-1\n"
#define KEYS "\"Version\":1,\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"S1\""

static void open_process(struct scene *scene, const char *command)
{
    char config[512];
    snprintf(config, sizeof config, PROFILE "credential_process = %s\n", command);
    open_scene(scene, credentials_process_new, config);
    scene->clock.clock.skip_ms =
        NULL; /* programs are waited for, and no deadline comes meanwhile */
}

/* The program prints TEXT. */
static void open_printing(struct scene *scene, const char *text)
{
    open_process(scene, "sh -c 'cat \"$HOME/.aws/printed\"'");
    write_file(scene, "printed", text);
}

static void what_it_prints(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_printing(&scene, "{" KEYS ",\"SessionToken\":\"T1\",\"Expiration\":"
                          "\"2026-10-14T18:46:40Z\",\"AccountId\":\"123456789012\"}\n");
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.secret, "S1");
    CHECK_TEXT(scene.token, "T1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_TEXT(scene.method, "custom-process");
    CHECK_HAS(scene.origin, "config [profile p]");
    CHECK_INT(scene.expires_ms, WALL_MS + 60 * MINUTE_MS);
    check_sent(&scene, 0);
}

static void what_need_not_be_there(void)
{
    const char *const texts[] = {
        "{" KEYS "}",
        "{" KEYS ",\"SessionToken\":null,\"Expiration\":null,\"AccountId\":null}",
        "\n {" KEYS ",\"More\":[1]} \n",
    };
    for (size_t i = 0; i < 3; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_printing(&scene, texts[i]);
        check_found(&scene, "ASIA1");
        CHECK_TEXT(scene.token, "-");
        CHECK_TEXT(scene.account, "-");
        CHECK_INT(scene.expires_ms, 0);
    }
}

static void the_profiles_account(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_process(&scene, "sh -c 'cat \"$HOME/.aws/printed\"'\naws_account_id = 222222222222");
    write_file(&scene, "printed", "{" KEYS "}");
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.account, "222222222222");
    write_file(&scene, "printed", "{" KEYS ",\"AccountId\":\"123456789012\"}");
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.account, "123456789012");
}

static void other_profiles(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_process_new, PROFILE);
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
}

static void check_printed(const char *text, enum error_kind kind, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_printing(&scene, text);
    check_failed(&scene, kind, why);
    CHECK_HAS(scene.err.text, "the credential_process of profile p (sh) printed ");
    CHECK(!strstr(scene.err.text, "S1") && !strstr(buf_text(&scene.lines), "S1"));
}

static void what_are_no_credentials(void)
{
    check_printed("", ERROR_DENIED, "no JSON object with credentials");
    check_printed("S1", ERROR_DENIED, "no JSON object with credentials");
    check_printed("[1]", ERROR_DENIED, "no JSON object with credentials");
    check_printed("{" KEYS, ERROR_DENIED, "no JSON object with credentials");
    check_printed("{" KEYS "} S1", ERROR_DENIED, "no JSON object with credentials");
    check_printed("{}", ERROR_DENIED, "whose Version is not the number 1");
    check_printed("{" KEYS ",\"Version\":2}", ERROR_DENIED, "whose Version is not the number 1");
    check_printed("{" KEYS ",\"Version\":\"1\"}", ERROR_DENIED, "whose Version is not");
    check_printed("{\"Version\":1}", ERROR_DENIED, "without a valid AccessKeyId");
    check_printed("{\"Version\":1,\"AccessKeyId\":\"\"}", ERROR_DENIED,
                  "without a valid AccessKeyId");
    check_printed("{\"Version\":1,\"AccessKeyId\":\"A\"}", ERROR_DENIED,
                  "without a valid SecretAccessKey");
    check_printed("{" KEYS ",\"SecretAccessKey\":\"S1\\n\"}", ERROR_DENIED,
                  "without a valid SecretAccessKey");
    check_printed("{" KEYS ",\"SessionToken\":7}", ERROR_DENIED, "an invalid SessionToken");
    check_printed("{" KEYS ",\"Expiration\":\"soon\"}", ERROR_DENIED, "no point in time");
    check_printed("{" KEYS ",\"Expiration\":1}", ERROR_DENIED, "no point in time");
    check_printed("{" KEYS ",\"Expiration\":\"2026-10-14T17:46:40Z\"}", ERROR_EXPIRED,
                  "expired already (2026-10-14T17:46:40Z)");
}

static void check_command(const char *command, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_process(&scene, command);
    check_failed(&scene, ERROR_DENIED, why);
}

static void commands_that_are_none(void)
{
    check_command("", "the credential_process of profile p () is empty");
    check_command("sh -c 'exit", "has a quote without its end");
    check_command("sh \\", "or a backslash at the end");
    check_command("no-such-program x",
                  "(no-such-program) cannot be run: No such file or directory");
    check_command("~/bin/x", "(~ is not expanded)");
    check_command("/", "cannot be run: Permission denied");
    check_command("''", "cannot be run: No such file or directory");
}

static void how_it_fails(void)
{
    check_command("sh -c 'exit 7'", "(sh) failed with exit status 7, and printed no error");
    check_command(
        "sh -c 'echo {} S1; echo one >&2; printf \"\\\\n\\\\033[1mtwo\\\\n\" >&2; exit 1'",
        "failed with exit status 1: one %1B[1mtwo");
    check_command("sh -c 'kill -9 $$'", "was ended by signal 9 (Killed), and printed no error");
    check_command("sh -c 'seq 100000 >&2; exit 1'", "…");
    check_command("yes", "printed more than 1 MB");
}

/* As the AWS CLI takes its words: nothing of them is a shell's. */
static void words(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_process(&scene, "printf '%s' \"{\\\"Version\\\":1,\\\"AccessKeyId\\\":\\\"$HOME;*\\\","
                         "\\\"SecretAccessKey\\\":\\\"S1\\\"}\"");
    check_found(&scene, "$HOME;*");
}

static void one_that_failed_is_not_run_again_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_process(&scene, "sh -c 'echo x >>\"$HOME/.aws/runs\"; exit 1'");
    check_failed(&scene, ERROR_DENIED, "exit status 1");
    check_failed(&scene, ERROR_DENIED, "exit status 1");
    check_file(&scene, "runs", "x\n");
    scene.clock.now_ms += CREDENTIALS_FAILURE_MS;
    check_failed(&scene, ERROR_DENIED, "exit status 1");
    check_file(&scene, "runs", "x\nx\n");
}

static void called_off(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_process(&scene, "sleep 1000");
    for (int i = 0; i < 3; i++) {
        start(&scene);
        run_for(&scene, 0);
        call_off(&scene);
        CHECK_INT(scene.answers, 0);
    }
}

static const struct check_test tests[] = {
    {"what it prints", what_it_prints},
    {"what need not be there", what_need_not_be_there},
    {"the profile's account", the_profiles_account},
    {"other profiles", other_profiles},
    {"what are no credentials", what_are_no_credentials},
    {"commands that are none", commands_that_are_none},
    {"how it fails", how_it_fails},
    {"words", words},
    {"one that failed is not run again at once", one_that_failed_is_not_run_again_at_once},
    {"called off", called_off},
};
CHECK_MAIN(tests)
