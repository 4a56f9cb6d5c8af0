/* Sessions of `aws login`: their file, its refresh, and what the sign-in service says. */
#include "core/aws/credentials_providers.h"

#include "core/base/crypto.h"
#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define SESSION "arn:aws:sts::123456789012:assumed-role/Admin/me"
#define URL "https://us-east-1.signin.aws.amazon.com/v1/token"
#define KEY                                                                                        \
    "-----BEGIN EC PRIVATE KEY-----\\n"                                                            \
    "MHcCAQEEILn+2skVZOz5V50LkplHuTlEecIQTgdCijGVsU/6pOmXoAoGCCqGSM49\\n"                          \
    "AwEHoUQDQgAE9VedVjZFkgGIUetCTaGadHBsI1GGXYOm1Rt3U2GouKnKUayELRA3\\n"                          \
    "QQWdz75AeJV7CBS4DzvwrGp3v79pCtGglA==\\n"                                                      \
    "-----END EC PRIVATE KEY-----\\n"
#define REST                                                                                       \
    "\"tokenType\":\"aws_sigv4\",\"clientId\":\"arn:aws:signin:::devtools/same-device\","          \
    "\"dpopKey\":\"" KEY "\",\"mine\":9007199254740993"

static const char config[] = "[profile p]\nregion = us-east-1\nlogin_session = " SESSION "\n";

static const char answer[] =
    "{\"accessToken\":{\"accessKeyId\":\"ASIA2\",\"secretAccessKey\":\"S2\","
    "\"sessionToken\":\"T2\"},\"tokenType\":\"aws_sigv4\",\"expiresIn\":900,"
    "\"refreshToken\":\"NEW-REFRESH\"}";

/* login/cache/<SHA-256 of the session>.json */
static const char *session_file(void)
{
    static char path[128];
    CLEAN_UP(buf_clean_up) struct buf hex = {0};
    uint8_t digest[DIGEST_SIZE];
    CHECK(digest_sha256(SPAN_LITERAL(SESSION), digest));
    digest_hex(&hex, digest, sizeof digest);
    snprintf(path, sizeof path, "login/cache/%s.json", buf_text(&hex));
    return path;
}

static const char *session_until(const char *time)
{
    static char text[1200];
    snprintf(text, sizeof text,
             "{\"accessToken\":{\"accessKeyId\":\"ASIA1\",\"secretAccessKey\":\"S1\","
             "\"sessionToken\":\"T1\",\"accountId\":\"123456789012\","
             "\"expiresAt\":\"2026-10-14T%s\",\"more\":1.50},"
             "\"refreshToken\":\"OLD-REFRESH\"," REST "}",
             time);
    return text;
}

static void open_signed_in(struct scene *scene, const char *until)
{
    unsetenv("AWS_LOGIN_CACHE_DIRECTORY");
    open_scene(scene, credentials_login_new, config);
    write_file(scene, session_file(), session_until(until));
}

static void what_the_file_has(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:51:41Z"); /* a second more than five minutes */
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.secret, "S1");
    CHECK_TEXT(scene.token, "T1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_TEXT(scene.method, "login");
    CHECK_HAS(scene.origin, "config [profile p]");
    CHECK_INT(scene.expires_ms, WALL_MS + 5 * MINUTE_MS + 1000);
    check_sent(&scene, 0);
}

static void refreshed_with_five_minutes_left(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:51:40Z");
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA2");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_INT(scene.expires_ms, WALL_MS + 15 * MINUTE_MS);
    check_sent(&scene, 1);
    const struct script_sent *sent = script_sent(scene.script, 0);
    CHECK_TEXT(sent->url, URL);
    CHECK_HAS(sent->headers, "Content-Type: application/json\n");
    CHECK_HAS(sent->headers, "DPoP: eyJ0eXAiOiJkcG9wK2p3dCIs");
    CHECK(!strstr(sent->headers, "Authorization"));
    CHECK_TEXT(sent->body, "{\"clientId\":\"arn:aws:signin:::devtools/same-device\","
                           "\"grantType\":\"refresh_token\",\"refreshToken\":\"OLD-REFRESH\"}");
    check_file(&scene, session_file(),
               "{\"accessToken\":{\"accountId\":\"123456789012\",\"more\":1.50,"
               "\"accessKeyId\":\"ASIA2\",\"secretAccessKey\":\"S2\",\"sessionToken\":\"T2\","
               "\"expiresAt\":\"2026-10-14T18:01:40Z\"}," REST
               ",\"refreshToken\":\"NEW-REFRESH\"}");
    CHECK(!strstr(buf_text(&scene.lines), "REFRESH"));
    another_process(&scene);
    check_found(&scene, "ASIA2");
    check_sent(&scene, 1);
}

static void a_folder_of_ones_own(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    char name[256];
    open_signed_in(&scene, "19:00:00Z");
    remove_file(&scene, session_file());
    setenv("CACHES", "elsewhere", 1);
    setenv("AWS_LOGIN_CACHE_DIRECTORY", "~/.aws/$CACHES", 1);
    snprintf(name, sizeof name, "elsewhere%s", strrchr(session_file(), '/'));
    write_file(&scene, name, session_until("19:00:00Z"));
    check_found(&scene, "ASIA1");
    setenv("AWS_LOGIN_CACHE_DIRECTORY", "", 1);
    check_failed(&scene, ERROR_EXPIRED, "you are not signed in");
    unsetenv("AWS_LOGIN_CACHE_DIRECTORY");
}

static void nobody_signed_in(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "19:00:00Z");
    remove_file(&scene, session_file());
    check_failed(
        &scene, ERROR_EXPIRED,
        "you are not signed in to this profile's login_session; sign in: aws login --profile p");
    write_file(&scene, session_file(), session_until("19:00:00Z")); /* in another terminal */
    check_found(&scene, "ASIA1");
    check_sent(&scene, 0);
}

static void other_profiles(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_login_new, "[profile p]\nregion = us-east-1\n");
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
    CLEAN_UP(scene_clean_up) struct scene empty;
    open_scene(&empty, credentials_login_new, "[profile p]\nregion = us-east-1\nlogin_session =\n");
    check_failed(&empty, ERROR_DENIED, "profile p has an empty login_session");
}

static void check_file_refused(const char *text, const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "19:00:00Z");
    write_file(&scene, session_file(), text);
    check_failed(&scene, ERROR_DENIED, why);
    CHECK_HAS(scene.err.text, "login/cache/");
    CHECK_HAS(scene.err.text, "; sign in: aws login --profile p");
    check_sent(&scene, 0);
}

#define TOKEN(rest)                                                                                \
    "{\"accessToken\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"S\",\"sessionToken\":\"T\""     \
    ",\"expiresAt\":\"2026-10-14T17:00:00Z\"}" rest "}"

static void files_that_are_no_sessions(void)
{
    check_file_refused("", "is no JSON object");
    check_file_refused("{\"accessToken\":{\"acc", "is no JSON object");
    check_file_refused("\x01\x02\x03", "is no JSON object");
    check_file_refused("{}", "has no accessToken.accessKeyId");
    check_file_refused("{\"accessToken\":\"text\"}", "has no accessToken.accessKeyId");
    check_file_refused("{\"accessToken\":{\"accessKeyId\":7}}", "has no accessToken.accessKeyId");
    check_file_refused(TOKEN(""), "has no refreshToken");
    check_file_refused(TOKEN(",\"refreshToken\":\"R\""), "has no dpopKey");
    check_file_refused(TOKEN(",\"refreshToken\":\"R\",\"dpopKey\":\"K\""), "has no clientId");
    check_file_refused(TOKEN(",\"refreshToken\":\"R\",\"dpopKey\":\"K\",\"clientId\":\"C\""),
                       "is no key of P-256");
}

static void check_refusal(int status, const char *headers, const char *body, enum error_kind kind,
                          const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:50:00Z");
    for (int i = 0; i < 4; i++)
        script_answer(scene.script, status, headers, body);
    check_failed(&scene, kind, why);
    check_file(&scene, session_file(), session_until("17:50:00Z"));
}

static void what_the_service_refuses(void)
{
    check_refusal(401, "x-amzn-ErrorType: AccessDeniedException\n",
                  "{\"error\":\"TOKEN_EXPIRED\",\"message\":\"The refresh token has expired.\"}",
                  ERROR_EXPIRED,
                  "the session of aws login is over: AWS Sign-In says: The refresh token has "
                  "expired (TOKEN_EXPIRED, HTTP 401); sign in: aws login --profile p");
    check_refusal(403, "", "{\"error\":\"USER_CREDENTIALS_CHANGED\",\"message\":\"m\"}",
                  ERROR_EXPIRED, "; sign in: aws login --profile p");
    check_refusal(403, "", "{\"error\":\"INSUFFICIENT_PERMISSIONS\",\"message\":\"m\"}",
                  ERROR_DENIED, "needs signin:CreateOAuth2Token");
    check_refusal(400, "", "{\"error\":\"INVALID_REQUEST\",\"message\":\"revoked\"}", ERROR_EXPIRED,
                  "revoked (INVALID_REQUEST, HTTP 400)");
    check_refusal(429, "", "{\"error\":\"INVALID_REQUEST\",\"message\":\"slowly\"}",
                  ERROR_THROTTLED, "(tried 4 times)");
    check_refusal(500, "", "{\"error\":\"server_error\"}", ERROR_SERVICE, "AWS Sign-In failed");
    check_refusal(403, "", "<html>", ERROR_BAD_ANSWER, "no proxy responds in its place");
    check_refusal(400, "", "{\"error\":\"X\",\"message\":\"token OLD-REFRESH\"}", ERROR_EXPIRED,
                  "(X, HTTP 400)");
}

static void what_the_service_gives_wrongly(void)
{
    check_refusal(200, "", "", ERROR_BAD_ANSWER, "is no JSON object");
    check_refusal(200, "", "{\"expiresIn\":900}", ERROR_BAD_ANSWER,
                  "has no accessToken.accessKeyId");
    check_refusal(200, "", "{\"accessToken\":{\"accessKeyId\":\"A\"},\"expiresIn\":0}",
                  ERROR_BAD_ANSWER, "has no usable expiresIn");
    check_refusal(200, "",
                  "{\"accessToken\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"S\","
                  "\"sessionToken\":\"T\"},\"expiresIn\":900}",
                  ERROR_BAD_ANSWER, "has no refreshToken");
}

static void a_refused_session_is_not_shown_again(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:00:00Z");
    script_answer(scene.script, 401, "", "{\"error\":\"TOKEN_EXPIRED\"}");
    check_failed(&scene, ERROR_EXPIRED, "TOKEN_EXPIRED");
    check_failed(&scene, ERROR_EXPIRED, "TOKEN_EXPIRED");
    check_sent(&scene, 1);
    write_file(&scene, session_file(), session_until("19:00:00Z"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 1);
}

/* Once there is a network, it is asked at once. */
static void without_a_network(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:00:00Z");
    for (int i = 0; i < 4; i++)
        script_fail(scene.script, ERROR_UNREACHABLE);
    check_failed(&scene, ERROR_UNREACHABLE, "no answer");
    script_answer(scene.script, 200, "", answer);
    check_found(&scene, "ASIA2");
    check_sent(&scene, 5);
}

static void somebody_signs_in_or_out_meanwhile(void)
{
    const char *const changes[] = {NULL, "{\"another\":1}"};
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_signed_in(&scene, "17:00:00Z");
        script_answer(scene.script, 200, "", answer);
        script_delay(scene.script, 1000);
        change_file_after(&scene, 500, session_file(), changes[i]);
        check_found(&scene, "ASIA2");
        check_file(&scene, session_file(), changes[i]);
    }
}

/* Refresh tokens are good once, and another process showed this one first. */
static void somebody_refreshes_meanwhile(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:00:00Z");
    script_answer(scene.script, 401, "", "{\"error\":\"TOKEN_EXPIRED\"}");
    script_delay(scene.script, 1000);
    change_file_after(&scene, 500, session_file(), session_until("19:00:00Z"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 1);
}

/* Whoever refreshed it left one that is over as well: that is looked at once, and not for ever. */
static void somebody_refreshes_in_vain(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:00:00Z");
    for (int i = 0; i < 2; i++) {
        script_answer(scene.script, 401, "", "{\"error\":\"TOKEN_EXPIRED\"}");
        script_delay(scene.script, 1000);
    }
    change_file_after(&scene, 500, session_file(), session_until("17:30:00Z"));
    check_failed(&scene, ERROR_EXPIRED, "TOKEN_EXPIRED");
    check_sent(&scene, 2);
}

static void a_session_that_cannot_be_kept(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_signed_in(&scene, "17:00:00Z");
    script_answer(scene.script, 200, "", answer);
    fill_disk(true);
    ask(&scene);
    ask(&scene);
    fill_disk(false);
    CHECK_TEXT(scene.key, "ASIA2");
    check_sent(&scene, 1);
    check_file(&scene, session_file(), session_until("17:00:00Z"));
    CHECK_HAS(buf_text(&scene.lines), "used, but not stored: cannot write ");
}

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 3000; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_signed_in(&scene, "17:00:00Z");
        script_answer(scene.script, 200, "", answer);
        script_delay(scene.script, 1700);
        start(&scene);
        run_for(&scene, after_ms);
        call_off(&scene);
        CHECK_INT(scene.answers, after_ms >= 2000);
        CHECK_INT(script_pending(scene.script), 0);
    }
}

static const struct check_test tests[] = {
    {"what the file has", what_the_file_has},
    {"refreshed with five minutes left", refreshed_with_five_minutes_left},
    {"a folder of one's own", a_folder_of_ones_own},
    {"nobody signed in", nobody_signed_in},
    {"other profiles", other_profiles},
    {"files that are no sessions", files_that_are_no_sessions},
    {"what the service refuses", what_the_service_refuses},
    {"what the service gives wrongly", what_the_service_gives_wrongly},
    {"a refused session is not shown again", a_refused_session_is_not_shown_again},
    {"without a network", without_a_network},
    {"somebody signs in or out meanwhile", somebody_signs_in_or_out_meanwhile},
    {"somebody refreshes meanwhile", somebody_refreshes_meanwhile},
    {"somebody refreshes in vain", somebody_refreshes_in_vain},
    {"a session that cannot be kept", a_session_that_cannot_be_kept},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
