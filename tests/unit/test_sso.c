/* Credentials of SSO: profiles, tokens, their refresh, the portal, and the AWS CLI's cache. */
#include "core/aws/credentials_providers.h"

#include "core/aws/sso_token.h"
#include "core/base/crypto.h"
#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define START "https://corp.awsapps.com/start"
#define PORTAL                                                                                     \
    "https://portal.sso.eu-west-1.amazonaws.com/federation/"                                       \
    "credentials?role_name=Read%2BOnly&account_id=123456789012"
#define OIDC "https://oidc.eu-west-1.amazonaws.com/token"

static const char with_session[] =
    "[profile p]\nregion = us-east-1\nsso_session = corp\nsso_account_id = 123456789012\n"
    "sso_role_name = Read+Only\n[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = " START
    "\nsso_registration_scopes = sso:account:access\n";
static const char without_session[] =
    "[profile p]\nregion = us-east-1\nsso_account_id = 123456789012\nsso_role_name = Read+Only\n"
    "sso_region = eu-west-1\nsso_start_url = " START "\n";

/* Credentials for another four hours. */
static const char portal_answer[] =
    "{\"roleCredentials\":{\"accessKeyId\":\"ASIA1\",\"secretAccessKey\":\"SECRET1\","
    "\"sessionToken\":\"SESSION1\",\"expiration\":1792014400000}}";
static const char oidc_answer[] =
    "{\"accessToken\":\"NEW-TOKEN\",\"tokenType\":\"Bearer\",\"expiresIn\":3600,"
    "\"refreshToken\":\"NEW-REFRESH\"}";

/* sso/cache/<SHA-1 of NAME>.json */
static const char *token_file(const char *name)
{
    static char path[128];
    CLEAN_UP(buf_clean_up) struct buf hex = {0};
    uint8_t digest[DIGEST_SHA1_SIZE];
    CHECK(digest_sha1(span_text(name), digest));
    digest_hex(&hex, digest, sizeof digest);
    snprintf(path, sizeof path, "sso/cache/%s.json", buf_text(&hex));
    return path;
}

/* A token that can be refreshed, and expires at TIME of that day. */
static const char *token_until(const char *time)
{
    static char text[600];
    snprintf(text, sizeof text,
             "{\"accessToken\":\"OLD-TOKEN\",\"expiresAt\":\"2026-10-14T%s\","
             "\"refreshToken\":\"OLD-REFRESH\",\"clientId\":\"ID\",\"clientSecret\":\"SECRET-ID\","
             "\"registrationExpiresAt\":\"2026-12-14T00:00:00Z\",\"mine\":9007199254740993}",
             time);
    return text;
}

/* With a token that is good for hours. */
static void open_signed_in(struct scene *scene, const char *config, const char *name)
{
    open_scene(scene, credentials_sso_new, config);
    write_file(scene, token_file(name), token_until("23:00:00Z"));
}

#define ROLE_FILE "cli/cache/" ROLE_DIGEST ".json"
#define ROLE_DIGEST "52b203fa7078ba793bff5688eb944f59d8c2eb77"
#define LEGACY_FILE "cli/cache/3f92d27f3bf2d567fd702edd2c7f629b62995731.json"

static void the_portal_gives_credentials(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, with_session, "corp");
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.method, "sso");
    CHECK_TEXT(scene.secret, "SECRET1");
    CHECK_TEXT(scene.token, "SESSION1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_INT(scene.expires_ms, 1792014400000);
    CHECK_HAS(scene.origin, "config [profile p]");
    check_sent(&scene, 1);
    CHECK_TEXT(script_sent(scene.script, 0)->url, PORTAL);
    CHECK_HAS(script_sent(scene.script, 0)->headers, "x-amz-sso_bearer_token: OLD-TOKEN\n");
    CHECK(!strstr(script_sent(scene.script, 0)->headers, "Authorization"));
    check_file(&scene, ROLE_FILE,
               "{\"ProviderType\":\"sso\",\"Credentials\":{\"AccessKeyId\":\"ASIA1\","
               "\"SecretAccessKey\":\"SECRET1\",\"SessionToken\":\"SESSION1\","
               "\"Expiration\":\"2026-10-14T21:46:40Z\",\"AccountId\":\"123456789012\"}}");
    CHECK(!strstr(buf_text(&scene.lines), "OLD-TOKEN") &&
          !strstr(buf_text(&scene.lines), "SECRET"));
}

static void credentials_outlive_the_token(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, with_session, "corp");
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    remove_file(&scene, token_file("corp"));
    another_process(&scene);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.account, "123456789012");
    check_sent(&scene, 1);
    virtual_clock_pass(&scene.clock, (4 * 60 - 15) * MINUTE_MS + 1);
    another_process(&scene);
    check_failed(&scene, ERROR_EXPIRED, "you are not signed in to SSO session corp");
}

static void profiles_without_a_session(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, without_session);
    write_file(&scene, token_file(START), token_until("17:51:40UTC"));
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 1); /* it is never refreshed, whatever is left */
    CHECK_TEXT(script_sent(scene.script, 0)->url, PORTAL);
    remove_file(&scene, LEGACY_FILE);
    virtual_clock_pass(&scene.clock, 5 * MINUTE_MS);
    check_failed(&scene, ERROR_EXPIRED,
                 "the sign-in to SSO at " START " has expired; sign in: aws sso login --profile p");
    check_sent(&scene, 1);
}

static void tokens_are_refreshed_early(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("18:01:39Z"));
    script_answer(scene.script, 200, "", oidc_answer);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
    CHECK_TEXT(script_sent(scene.script, 0)->url, OIDC);
    CHECK_HAS(script_sent(scene.script, 0)->headers, "Content-Type: application/json\n");
    CHECK(!strstr(script_sent(scene.script, 0)->headers, "Authorization"));
    CHECK_TEXT(
        script_sent(scene.script, 0)->body,
        "{\"grantType\":\"refresh_token\",\"refreshToken\":\"OLD-REFRESH\",\"clientId\":\"ID\","
        "\"clientSecret\":\"SECRET-ID\"}");
    CHECK_HAS(script_sent(scene.script, 1)->headers, "x-amz-sso_bearer_token: NEW-TOKEN\n");
    check_file(&scene, token_file("corp"),
               "{\"clientId\":\"ID\",\"clientSecret\":\"SECRET-ID\","
               "\"registrationExpiresAt\":\"2026-12-14T00:00:00Z\",\"mine\":9007199254740993,"
               "\"accessToken\":\"NEW-TOKEN\",\"expiresAt\":\"2026-10-14T18:46:40Z\","
               "\"startUrl\":\"" START
               "\",\"region\":\"eu-west-1\",\"refreshToken\":\"NEW-REFRESH\"}");
    CHECK(!strstr(buf_text(&scene.lines), "TOKEN") && !strstr(buf_text(&scene.lines), "REFRESH"));
}

static void tokens_with_fifteen_minutes_left_are_used(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("18:01:40Z"));
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 1);
}

/* What has to be there for a refresh. */
static void tokens_that_cannot_be_refreshed_are_used_to_their_end(void)
{
    static const char *const tokens[] = {
        "{\"accessToken\":\"T\",\"expiresAt\":\"2026-10-14T17:50:00Z\"}",
        "{\"accessToken\":\"T\",\"expiresAt\":\"2026-10-14T17:50:00Z\",\"refreshToken\":\"R\","
        "\"clientId\":\"I\",\"clientSecret\":\"S\"}",
        "{\"accessToken\":\"T\",\"expiresAt\":\"2026-10-14T17:50:00Z\",\"refreshToken\":\"R\","
        "\"clientId\":\"I\",\"clientSecret\":\"S\","
        "\"registrationExpiresAt\":\"2026-10-14T17:46:40Z\"}",
        "{\"accessToken\":\"T\",\"expiresAt\":\"2026-10-14T17:50:00Z\",\"refreshToken\":1,"
        "\"clientId\":\"I\",\"clientSecret\":\"S\","
        "\"registrationExpiresAt\":\"2026-12-14T17:46:40Z\"}",
    };
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_sso_new, with_session);
        write_file(&scene, token_file("corp"), tokens[i]);
        script_answer(scene.script, 200, "", portal_answer);
        check_found(&scene, "ASIA1");
        check_sent(&scene, 1);
        CHECK_HAS(script_sent(scene.script, 0)->headers, "x-amz-sso_bearer_token: T\n");
    }
}

/* While the token is valid, nobody hears of it, and nobody asks at once again. */
static void a_failed_refresh_is_tolerated(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("18:00:00Z"));
    script_answer(scene.script, 400, "", "{\"error\":\"invalid_grant\"}");
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
    CHECK_HAS(script_sent(scene.script, 1)->headers, "x-amz-sso_bearer_token: OLD-TOKEN\n");
    CHECK_HAS(buf_text(&scene.lines), "invalid_grant");
    check_file(&scene, token_file("corp"), token_until("18:00:00Z"));
    remove_file(&scene, ROLE_FILE);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 3);
    CHECK_TEXT(script_sent(scene.script, 2)->url, PORTAL);
    remove_file(&scene, ROLE_FILE);
    virtual_clock_pass(&scene.clock, MINUTE_MS);
    script_answer(scene.script, 200, "", oidc_answer);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 5);
}

static void check_tolerated(int status, const char *body)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("18:00:00Z"));
    for (int i = 0; i < (status >= 500 || !status ? 4 : 1); i++) {
        if (status)
            script_answer(scene.script, status, "", body);
        else
            script_fail(scene.script, ERROR_REFUSED);
    }
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_file(&scene, token_file("corp"), token_until("18:00:00Z"));
}

static void whatever_it_fails_by(void)
{
    check_tolerated(0, NULL);
    check_tolerated(500, "{}");
    check_tolerated(403, "<html>");
    check_tolerated(200, "");
    check_tolerated(200, "{\"accessToken\":\"N\"}");
    check_tolerated(200, "{\"accessToken\":\"N\",\"expiresIn\":\"3600\"}");
    check_tolerated(200, "{\"accessToken\":\"N\",\"expiresIn\":-1}");
    check_tolerated(200, "{\"accessToken\":\"N\",\"expiresIn\":1e300}");
    check_tolerated(200, "{\"accessToken\":\"a\\nb\",\"expiresIn\":3600}");
    check_tolerated(200, "{\"accessToken\":7,\"expiresIn\":3600}");
}

static void a_slow_refresh_of_a_valid_token_is_not_waited_for(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("18:00:00Z"));
    script_answer(scene.script, 200, "", oidc_answer);
    script_delay(scene.script, 20000);
    script_answer(scene.script, 200, "", portal_answer);
    int64_t began_ms = scene.clock.now_ms;
    check_found(&scene, "ASIA1");
    CHECK(scene.clock.now_ms - began_ms <= 5000);
}

static void an_expired_token_that_is_refused(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("17:46:40Z"));
    script_answer(scene.script, 400, "x-amzn-ErrorType: InvalidGrantException:http://x\n",
                  "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid refresh token\"}");
    check_failed(&scene, ERROR_EXPIRED, "Invalid refresh token (invalid_grant, HTTP 400)");
    CHECK_HAS(scene.err.text, "the sign-in to SSO session corp has expired, and is not renewed");
    CHECK_HAS(scene.err.text, "; sign in: aws sso login --profile p");
    check_failed(&scene, ERROR_EXPIRED, "aws sso login --profile p");
    check_sent(&scene, 1);
    /* In another terminal somebody signs in. */
    write_file(&scene, token_file("corp"), token_until("23:00:00Z"));
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
}

/* An expired token waits for the network only, so it is asked for again as soon as there is one. */
static void an_expired_token_without_a_network(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    for (int i = 0; i < 4; i++)
        script_fail(scene.script, ERROR_UNREACHABLE);
    check_failed(&scene, ERROR_UNREACHABLE, "the sign-in to SSO session corp has expired");
    script_answer(scene.script, 200, "", oidc_answer);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 6);
}

/* Another environment's question at the same time. */
struct other {
    struct credentials_provider *provider;
    struct credentials_request *get;
    enum credentials_found found;
};

static void on_other(void *arg, const struct credentials_result *answer)
{
    struct other *other = arg;
    other->get = NULL;
    other->found = answer->found;
}

static void check_shared(int gives_up, int portal_calls)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct other other = {.found = CREDENTIALS_ABSENT};
    open_scene(&scene, credentials_sso_new, with_session);
    scene.context.sso_tokens = sso_tokens_new();
    another_process(&scene);
    other.provider = credentials_sso_new(&scene.context);
    CHECK(scene.context.sso_tokens && other.provider);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    script_answer(scene.script, 200, "", oidc_answer);
    script_delay(scene.script, 2000);
    script_answer(scene.script, 200, "", portal_answer);
    script_answer(scene.script, 200, "", portal_answer);
    other.get = credentials_request_start(other.provider, on_other, &other);
    start(&scene);
    run_for(&scene, 1000);
    if (gives_up == 1)
        credentials_request_cancel(other.get);
    else if (gives_up == 2)
        call_off(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.answers, gives_up != 2);
    CHECK_INT(other.found, gives_up == 1 ? CREDENTIALS_ABSENT : CREDENTIALS_FOUND);
    CHECK_TEXT(script_sent(scene.script, 0)->url, OIDC);
    for (int i = 1; i <= portal_calls; i++)
        CHECK_HAS(script_sent(scene.script, (size_t)i)->headers, "bearer_token: NEW-TOKEN\n");
    check_sent(&scene, 1 + (size_t)portal_calls);
    credentials_provider_destroy(other.provider);
    sso_tokens_destroy(scene.context.sso_tokens);
}

/* A refresh token is good once: two that show it at the same time would sign each other out. */
static void profiles_of_one_session_refresh_once(void)
{
    check_shared(0, 2);
    check_shared(1, 1);
    check_shared(2, 1);
}

static void check_trusted(const struct scene *scene, size_t i, const char *ca_bundle)
{
    const char *sent = script_sent(scene->script, i)->ca_bundle;
    CHECK_TEXT(sent ? sent : "the system's", ca_bundle ? ca_bundle : "the system's");
}

/* Who asks first of the profiles of a session decides for nobody else whom to trust. */
static void check_authorities(bool at_once)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct other other = {.found = CREDENTIALS_ABSENT};
    open_scene(&scene, credentials_sso_new, with_session);
    scene.settings.max_attempts = 1;
    char own[] = "/own.pem";
    struct aws_settings settings = scene.settings;
    struct credentials_context context = scene.context;
    scene.context.sso_tokens = context.sso_tokens = sso_tokens_new();
    settings.ca_bundle = own;
    context.settings = &settings;
    another_process(&scene);
    other.provider = credentials_sso_new(&context);
    CHECK(scene.context.sso_tokens && other.provider);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    script_fail(scene.script, ERROR_TLS);
    script_delay(scene.script, 1000);
    script_answer(scene.script, 200, "", oidc_answer);
    script_answer(scene.script, 200, "", portal_answer);
    script_answer(scene.script, 200, "", portal_answer);
    if (at_once)
        start(&scene);
    else
        check_failed(&scene, ERROR_TLS, "has expired, and is not renewed");
    run_for(&scene, 500);
    other.get = credentials_request_start(other.provider, on_other, &other);
    CHECK(loop_run(scene.loop));
    CHECK_INT(other.found, CREDENTIALS_FOUND);
    check_trusted(&scene, 0, scene.settings.ca_bundle);
    check_trusted(&scene, 1, own);
    CHECK_TEXT(script_sent(scene.script, 1)->url, OIDC);
    CHECK(scene.answers == 1);
    credentials_provider_destroy(other.provider);
    sso_tokens_destroy(scene.context.sso_tokens);
}

static void each_trusts_its_own_authorities(void)
{
    check_authorities(false);
    check_authorities(true);
}

/* Without a new refresh token, the old one is used up. */
static void a_token_without_another_refresh(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    script_answer(scene.script, 200, "", "{\"accessToken\":\"NEW-TOKEN\",\"expiresIn\":60}");
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_file(&scene, token_file("corp"),
               "{\"clientId\":\"ID\",\"clientSecret\":\"SECRET-ID\","
               "\"registrationExpiresAt\":\"2026-12-14T00:00:00Z\",\"mine\":9007199254740993,"
               "\"accessToken\":\"NEW-TOKEN\",\"expiresAt\":\"2026-10-14T17:47:40Z\","
               "\"startUrl\":\"" START "\",\"region\":\"eu-west-1\"}");
}

/* A service whose tokens hardly last is not asked all the time. */
static void tokens_that_hardly_last(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    script_answer(scene.script, 200, "",
                  "{\"accessToken\":\"N1\",\"expiresIn\":90,\"refreshToken\":\"R1\"}");
    script_answer(scene.script, 200, "", portal_answer);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    remove_file(&scene, ROLE_FILE);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 3);
}

/* Other processes. */

static void refresh_meanwhile(struct scene *scene, const char *meanwhile)
{
    open_scene(scene, credentials_sso_new, with_session);
    write_file(scene, token_file("corp"), token_until("17:00:00Z"));
    script_answer(scene->script, 200, "", oidc_answer);
    script_delay(scene->script, 1000);
    change_file_after(scene, 500, token_file("corp"), meanwhile);
}

static void somebody_signs_in_while_a_token_is_refreshed(void)
{
    static const char token[] =
        "{\"accessToken\":\"THEIRS\",\"expiresAt\":\"2026-10-14T23:00:00Z\"}";
    CLEAN_UP(scene_clean_up) struct scene scene;
    refresh_meanwhile(&scene, token);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    CHECK_HAS(script_sent(scene.script, 1)->headers, "x-amz-sso_bearer_token: THEIRS\n");
    check_file(&scene, token_file("corp"), token);
}

static void somebody_signs_out_while_a_token_is_refreshed(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    refresh_meanwhile(&scene, NULL);
    check_failed(&scene, ERROR_EXPIRED, "you are not signed in");
    check_file(&scene, token_file("corp"), NULL);
}

/* The service has given away the old refresh token's successor: it must not be lost. */
static void a_refresh_goes_on_when_nobody_waits(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    refresh_meanwhile(&scene, token_until("17:00:00Z"));
    start(&scene);
    run_for(&scene, 100);
    call_off(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.answers, 0);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
    CHECK_HAS(script_sent(scene.script, 1)->headers, "x-amz-sso_bearer_token: NEW-TOKEN\n");
}

/* The next one who asks joins it. */
static void a_refresh_under_way_is_joined(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    refresh_meanwhile(&scene, token_until("17:00:00Z"));
    start(&scene);
    run_for(&scene, 100);
    call_off(&scene);
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
}

static void destroyed_while_a_token_is_refreshed(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    refresh_meanwhile(&scene, token_until("17:00:00Z"));
    start(&scene);
    run_for(&scene, 100);
    call_off(&scene);
    another_process(&scene);
    CHECK_INT(script_cancelled(scene.script), 1);
    CHECK(loop_run(scene.loop));
}

/* A disk that is full: the new token is used, and still known when it is asked for again. */
static void a_token_that_cannot_be_kept(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, with_session);
    write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    script_answer(scene.script, 200, "", oidc_answer);
    script_answer(scene.script, 200, "", portal_answer);
    script_answer(scene.script, 200, "", portal_answer);
    fill_disk(true);
    ask(&scene);
    ask(&scene);
    fill_disk(false);
    CHECK_TEXT(scene.key, "ASIA1");
    check_sent(&scene, 3);
    CHECK_HAS(script_sent(scene.script, 2)->headers, "x-amz-sso_bearer_token: NEW-TOKEN\n");
    check_file(&scene, token_file("corp"), token_until("17:00:00Z"));
    CHECK_HAS(buf_text(&scene.lines),
              "a refreshed SSO token is used, but not stored: cannot write ");
}

/* Hostile files. */

static void tokens_that_are_none(void)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "is no JSON object"},
        {"{\"accessToken\":\"OLD-TOKEN\",\"expi", "is no JSON object"},
        {"[]", "is no JSON object"},
        {"\x7f\x45\x4c\x46", "is no JSON object"},
        {"{}", "has no usable accessToken"},
        {"{\"accessToken\":7,\"expiresAt\":\"2026-10-14T23:00:00Z\"}", "has no usable accessToken"},
        {"{\"accessToken\":\"\",\"expiresAt\":\"2026-10-14T23:00:00Z\"}",
         "has no usable accessToken"},
        {"{\"accessToken\":\"a\\r\\nX: b\",\"expiresAt\":\"2026-10-14T23:00:00Z\"}",
         "has no usable accessToken"},
        {"{\"accesstoken\":\"T\",\"expiresAt\":\"2026-10-14T23:00:00Z\"}",
         "has no usable accessToken"},
        {"{\"accessToken\":\"T\"}", "has no usable expiresAt"},
        {"{\"accessToken\":\"T\",\"expiresAt\":1792014400}", "has no usable expiresAt"},
        {"{\"accessToken\":\"T\",\"expiresAt\":\"tomorrow\"}", "has no usable expiresAt"},
        {"{\"accessToken\":\"T\",\"expiresAt\":null}", "has no usable expiresAt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_sso_new, with_session);
        write_file(&scene, token_file("corp"), cases[i].text);
        check_failed(&scene, ERROR_DENIED, cases[i].why);
        CHECK_HAS(scene.err.text, "sso/cache/");
        CHECK_HAS(scene.err.text, "aws sso login --profile p");
        check_sent(&scene, 0);
    }
}

static void times_as_tools_write_them(void)
{
    static const char *const times[] = {"23:00:00Z",      "23:00:00UTC",    "23:00:00.123456Z",
                                        "23:00:00+00:00", "20:00:00-03:00", "23:00:00"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_sso_new, with_session);
        write_file(&scene, token_file("corp"), token_until(times[i]));
        script_answer(scene.script, 200, "", portal_answer);
        check_found(&scene, "ASIA1");
        check_sent(&scene, 1);
    }
}

/* Profiles. */

static void check_profile(const char *config, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new, config);
    if (why) {
        check_failed(&scene, ERROR_DENIED, why);
        CHECK_HAS(scene.err.text, "profile p");
    } else {
        ask(&scene);
        CHECK_INT(scene.found, CREDENTIALS_ABSENT);
    }
    check_sent(&scene, 0);
}

#define P "[profile p]\nregion = us-east-1\n"
#define S "[sso-session s]\nsso_region = eu-west-1\nsso_start_url = u\n"

static void profiles_that_lack_something(void)
{
    check_profile(P "sso_account_id = 1\n",
                  "has no sso_role_name, sso_start_url, sso_region; set it");
    check_profile(P "sso_role_name = r\nsso_region = eu-west-1\nsso_start_url =\n",
                  "has no sso_account_id, sso_start_url; set it");
    check_profile(P "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n",
                  "there is no [sso-session s]");
    check_profile(P "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n[sso-session s]\n",
                  "has no sso_start_url, sso_region; set it");
    check_profile(P "sso_account_id = 1\nsso_role_name = r\nsso_session = s\nsso_region = x\n" S,
                  "has another sso_region than its [sso-session s]");
    check_profile(P "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n" S "region = r\n",
                  "has another region than its [sso-session s]");
    check_profile(P "sso_account_id = 1\nsso_role_name = r\nsso_start_url = u\n"
                    "sso_region = evil.example/\n",
                  "has an invalid sso_region");
}

/* As for the AWS CLI, these are not profiles of roles. */
static void profiles_of_another_kind(void)
{
    check_profile(P, NULL);
    check_profile(P "sso_session = s\n" S, NULL);
    check_profile(P "sso_start_url = u\nsso_region = eu-west-1\n", NULL);
}

static void a_role_of_the_session(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_sso_new,
               P "sso_account_id = 123456789012\nsso_session = corp\n"
                 "SSO_Region = eu-west-1\n[sso-session corp]\nsso_role_name = Read+Only\n"
                 "sso_region = eu-west-1\nsso_start_url = " START "\n");
    write_file(&scene, token_file("corp"), token_until("23:00:00Z"));
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    CHECK_TEXT(script_sent(scene.script, 0)->url, PORTAL);
}

/* The portal. */

static void check_portal(int status, const char *headers, const char *body, enum error_kind kind,
                         const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, with_session, "corp");
    for (int i = 0; i < 4; i++)
        script_answer(scene.script, status, headers, body);
    check_failed(&scene, kind, why);
    CHECK(!strstr(scene.err.text, "OLD-TOKEN"));
    check_file(&scene, ROLE_FILE, NULL);
}

static void what_the_portal_refuses(void)
{
    check_portal(401, "x-amzn-ErrorType: UnauthorizedException\n",
                 "{\"message\":\"Session token not found or invalid\"}", ERROR_EXPIRED,
                 "no longer valid: the SSO portal says: Session token not found or invalid "
                 "(UnauthorizedException, HTTP 401); sign in: aws sso login --profile p");
    check_portal(403, "x-amzn-ErrorType: ForbiddenException:http://internal.amazon.com/\n",
                 "{\"message\":\"No access\"}", ERROR_DENIED,
                 "you have no role Read+Only in account 123456789012 by SSO: the SSO portal says: "
                 "No access (ForbiddenException, HTTP 403); check sso_role_name");
    check_portal(404, "",
                 "{\"__type\":\"a.b#ResourceNotFoundException\",\"message\":\"no account\"}",
                 ERROR_DENIED, "no account (ResourceNotFoundException, HTTP 404)");
    check_portal(400, "x-amzn-ErrorType: InvalidRequestException\n", "{}", ERROR_DENIED,
                 "InvalidRequestException");
    check_portal(429, "", "{\"message\":\"slowly\"}", ERROR_THROTTLED, "(tried 4 times)");
    check_portal(500, "", "<html>", ERROR_SERVICE, "the SSO portal failed");
    check_portal(403, "Content-Type: text/html\n", "<html>proxy</html>", ERROR_BAD_ANSWER,
                 "no proxy responds in its place");
    check_portal(302, "Location: http://evil.example/\n", "", ERROR_BAD_ANSWER, "HTTP 302");
    check_portal(403, "x-amzn-ErrorType: ForbiddenException\n",
                 "{\"message\":\"the token \\\"xxx-OLD-TOKEN-xxx\\\" or OLD-TOKEN\"}", ERROR_DENIED,
                 "ForbiddenException");
}

#define ROLE(expiration)                                                                           \
    "{\"roleCredentials\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"S\",\"sessionToken\":"      \
    "\"T\","                                                                                       \
    "\"expiration\":" expiration "}}"

static void what_the_portal_gives_wrongly(void)
{
    check_portal(200, "", "", ERROR_BAD_ANSWER, "is no JSON object");
    check_portal(200, "", "<html>", ERROR_BAD_ANSWER, "is no JSON object");
    check_portal(200, "", "{}", ERROR_BAD_ANSWER, "lacks a usable accessKeyId");
    check_portal(200, "", "{\"roleCredentials\":null}", ERROR_BAD_ANSWER, "lacks a usable");
    check_portal(200, "", ROLE("\"2026-10-14T23:00:00Z\""), ERROR_BAD_ANSWER, "lacks a usable");
    check_portal(200, "", ROLE("1e300"), ERROR_BAD_ANSWER, "lacks a usable");
    check_portal(200, "", ROLE("99999999999999999999"), ERROR_BAD_ANSWER, "lacks a usable");
    check_portal(200, "", ROLE("1792000000000"), ERROR_EXPIRED, "check this machine's clock");
    check_portal(200, "", ROLE("1792014400"), ERROR_EXPIRED, "expired already"); /* seconds */
}

/* A token that the portal has refused is not shown to it again and again. */
static void a_refused_token_is_remembered(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, with_session, "corp");
    script_answer(scene.script, 401, "", "{\"code\":\"UnauthorizedException\"}");
    check_failed(&scene, ERROR_EXPIRED, "UnauthorizedException");
    check_failed(&scene, ERROR_EXPIRED, "aws sso login --profile p");
    check_sent(&scene, 1);
    write_file(&scene, token_file("corp"),
               "{\"accessToken\":\"OTHER\",\"expiresAt\":\"2026-10-14T23:00:00Z\"}");
    script_answer(scene.script, 200, "", portal_answer);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
}

/* Whoever has the credentials of the cache and asks again was refused with them; but where there
 * are no others, they are better than nothing. */
static void asked_again_the_cache_is_passed_over(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, with_session, "corp");
    script_answer(scene.script, 200, "", portal_answer);
    script_answer(scene.script, 200, "",
                  "{\"roleCredentials\":{\"accessKeyId\":\"ASIA2\",\"secretAccessKey\":\"S\","
                  "\"sessionToken\":\"T\",\"expiration\":1792014400000}}");
    check_found(&scene, "ASIA1");
    check_found(&scene, "ASIA2");
    check_sent(&scene, 2);
    remove_file(&scene, token_file("corp"));
    check_found(&scene, "ASIA2");
    check_sent(&scene, 2);
}

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 4000; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_sso_new, with_session);
        write_file(&scene, token_file("corp"), token_until("17:00:00Z"));
        script_answer(scene.script, 200, "", oidc_answer);
        script_delay(scene.script, 1700);
        script_answer(scene.script, 200, "", portal_answer);
        script_delay(scene.script, 1700);
        start(&scene);
        run_for(&scene, after_ms);
        call_off(&scene);
        CHECK(loop_run(scene.loop));
        CHECK_INT(scene.answers, after_ms >= 3500);
        CHECK_INT(script_pending(scene.script), 0);
    }
}

static const struct check_test tests[] = {
    {"the portal gives credentials", the_portal_gives_credentials},
    {"credentials outlive the token", credentials_outlive_the_token},
    {"profiles without a session", profiles_without_a_session},
    {"tokens are refreshed early", tokens_are_refreshed_early},
    {"tokens with fifteen minutes left are used", tokens_with_fifteen_minutes_left_are_used},
    {"tokens that cannot be refreshed are used to their end",
     tokens_that_cannot_be_refreshed_are_used_to_their_end},
    {"a failed refresh is tolerated", a_failed_refresh_is_tolerated},
    {"whatever it fails by", whatever_it_fails_by},
    {"a slow refresh of a valid token is not waited for",
     a_slow_refresh_of_a_valid_token_is_not_waited_for},
    {"an expired token that is refused", an_expired_token_that_is_refused},
    {"an expired token without a network", an_expired_token_without_a_network},
    {"profiles of one session refresh once", profiles_of_one_session_refresh_once},
    {"each trusts its own authorities", each_trusts_its_own_authorities},
    {"a token without another refresh", a_token_without_another_refresh},
    {"tokens that hardly last", tokens_that_hardly_last},
    {"somebody signs in while a token is refreshed", somebody_signs_in_while_a_token_is_refreshed},
    {"somebody signs out while a token is refreshed",
     somebody_signs_out_while_a_token_is_refreshed},
    {"a refresh goes on when nobody waits", a_refresh_goes_on_when_nobody_waits},
    {"a refresh under way is joined", a_refresh_under_way_is_joined},
    {"destroyed while a token is refreshed", destroyed_while_a_token_is_refreshed},
    {"a token that cannot be kept", a_token_that_cannot_be_kept},
    {"tokens that are none", tokens_that_are_none},
    {"times as tools write them", times_as_tools_write_them},
    {"profiles that lack something", profiles_that_lack_something},
    {"profiles of another kind", profiles_of_another_kind},
    {"a role of the session", a_role_of_the_session},
    {"what the portal refuses", what_the_portal_refuses},
    {"what the portal gives wrongly", what_the_portal_gives_wrongly},
    {"a refused token is remembered", a_refused_token_is_remembered},
    {"asked again the cache is passed over", asked_again_the_cache_is_passed_over},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
