/* Credentials of assumed roles: profiles and their sources, STS, tokens, and the AWS CLI's cache.
 */
#include "core/aws/credentials_providers.h"

#include <stdlib.h>

#include "core/aws/role_plan.h"
#include "core/base/crypto.h"
#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define ARN(name) "arn:aws:iam::123456789012:role/" name
#define P "[profile p]\nregion = eu-west-1\n"
#define KEYS(id) "aws_access_key_id = " id "\naws_secret_access_key = SECRET-" id "\n"

/* Credentials for another four hours. */
#define GIVEN(action, id)                                                                          \
    "{\"" action "Response\":{\"" action "Result\":{\"Credentials\":{\"AccessKeyId\":\"" id "\","  \
    "\"SecretAccessKey\":\"SECRET-" id "\",\"SessionToken\":\"TOKEN-" id "\","                     \
    "\"Expiration\":1.7920144E9}}}}"
#define ROLE(id) GIVEN("AssumeRole", id)
#define REFUSED(code, message)                                                                     \
    "{\"Error\":{\"Code\":\"" code "\",\"Message\":\"" message "\",\"Type\":\"Sender\"},"          \
    "\"RequestId\":\"R\"}"

static const char with_source[] =
    P "role_arn = " ARN("reader") "\nsource_profile = base\n[profile base]\n" KEYS("BASE");

/* cli/cache/<SHA-1 of ARGUMENTS>.json, as the AWS CLI names it. */
static const char *role_file(const char *arguments)
{
    static char path[128];
    CLEAN_UP(buf_clean_up) struct buf hex = {0};
    uint8_t digest[DIGEST_SHA1_SIZE];
    CHECK(digest_sha1(span_text(arguments), digest));
    digest_hex(&hex, digest, sizeof digest);
    snprintf(path, sizeof path, "cli/cache/%s.json", buf_text(&hex));
    return path;
}

#define READER "{\"RoleArn\": \"" ARN("reader") "\"}"

/* What the AWS CLI writes, of an id, and until when: "T21:46:40". */
static const char *kept(const char *id, const char *until)
{
    static char text[400];
    snprintf(text, sizeof text,
             "{\"Credentials\": {\"AccessKeyId\": \"%s\", \"SecretAccessKey\": \"SECRET-%s\", "
             "\"SessionToken\": \"TOKEN-%s\", \"Expiration\": \"2026-10-14%s+00:00\"}, "
             "\"AssumedRoleUser\": {\"AssumedRoleId\": \"AROA:x\", \"Arn\": \"arn\"}}",
             id, id, id, until);
    return text;
}

static void check_sent_by(const struct scene *scene, size_t request, const char *id,
                          const char *part)
{
    const struct script_sent *sent = script_sent(scene->script, request);
    char credential[64];
    snprintf(credential, sizeof credential, "Credential=%s/", id);
    CHECK_HAS(sent->headers, credential);
    CHECK_HAS(sent->body, part);
}

static void check_no_secrets(const struct scene *scene)
{
    CHECK(!strstr(buf_text(&scene->lines), "SECRET") && !strstr(scene->err.text, "SECRET"));
    CHECK(!strstr(buf_text(&scene->lines), "TOKEN-") && !strstr(scene->err.text, "TOKEN-"));
}

/* Sources. */

static void a_role_signed_for_by_a_profile(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.secret, "SECRET-ASIA1");
    CHECK_TEXT(scene.token, "TOKEN-ASIA1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_TEXT(scene.method, "assume-role");
    CHECK_HAS(scene.origin, "config [profile p]");
    CHECK_INT(scene.expires_ms, 1792014400000);
    check_sent(&scene, 1);
    CHECK_TEXT(script_sent(scene.script, 0)->url, "https://sts.eu-west-1.amazonaws.com/");
    check_sent_by(&scene, 0, "BASE",
                  "Action=AssumeRole&Version=2011-06-15"
                  "&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Freader"
                  "&RoleSessionName=ddbfs-session-1792000000");
    check_file(&scene, role_file(READER),
               "{\"Credentials\":{\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"SECRET-ASIA1\","
               "\"SessionToken\":\"TOKEN-ASIA1\",\"Expiration\":\"2026-10-14T21:46:40Z\","
               "\"AccountId\":\"123456789012\"}}");
    check_no_secrets(&scene);
}

/* Of the profile that is wanted, not of those on the way to it. */
static void all_that_a_profile_says_of_its_role(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P "role_arn = " ARN(
                   "reader") "\nsource_profile = base\nexternal_id = a/\"b\n"
                             "role_session_name = me@home\nduration_seconds = 0900\n"
                             "[profile base]\nregion = us-west-2\nexternal_id = no\n" KEYS("BASE"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent_by(&scene, 0, "BASE",
                  "&RoleSessionName=me%40home&ExternalId=a%2F%22b&DurationSeconds=900");
    CHECK_HAS(script_sent(scene.script, 0)->url, "eu-west-1");
    remove_file(&scene,
                role_file("{\"DurationSeconds\": 900, \"ExternalId\": \"a/\\\"b\", "
                          "\"RoleArn\": \"" ARN("reader") "\", "
                                                          "\"RoleSessionName\": \"me@home\"}"));
}

static void durations_that_are_none(void)
{
    static const char *const durations[] = {"", "soon", "1h", "9e2", "-", "1 2"};
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        CLEAN_UP(buf_clean_up) struct buf config = {0};
        buf_printf(&config,
                   P "role_arn = " ARN("reader") "\nsource_profile = base\nduration_seconds = %s\n"
                                                 "[profile base]\n" KEYS("BASE"),
                   durations[i]);
        open_scene(&scene, credentials_role_new, buf_text(&config));
        script_answer(scene.script, 200, "", ROLE("ASIA1"));
        check_found(&scene, "ASIA1");
        CHECK(!strstr(script_sent(scene.script, 0)->body, "Duration"));
        remove_file(&scene, role_file(READER));
    }
}

static void a_chain_of_roles(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(
        &scene, credentials_role_new,
        P "role_arn = " ARN("reader") "\nsource_profile = b\n"
                                      "[profile b]\nrole_arn = " ARN(
                                          "b") "\nsource_profile = c\nregion = us-west-2\n"
                                               "[profile c]\nrole_arn = " ARN(
                                                   "c") "\nsource_profile = base\n"
                                                        "[profile base]\nrole_arn = "
                                                        "never\nsource_profile = p\n" KEYS("BASE"));
    script_answer(scene.script, 200, "", ROLE("ASIAC"));
    script_answer(scene.script, 200, "", ROLE("ASIAB"));
    script_answer(scene.script, 200, "", ROLE("ASIAP"));
    check_found(&scene, "ASIAP");
    check_sent(&scene, 3);
    check_sent_by(&scene, 0, "BASE", "role%2Fc&");
    check_sent_by(&scene, 1, "ASIAC", "role%2Fb&");
    check_sent_by(&scene, 2, "ASIAB", "role%2Freader&");
    CHECK_HAS(script_sent(scene.script, 1)->headers, "X-Amz-Security-Token: TOKEN-ASIAC\n");
    CHECK_HAS(script_sent(scene.script, 1)->url, "eu-west-1");
    /* One on the way that is kept needs nothing before it. */
    remove_file(&scene, role_file(READER));
    remove_file(&scene, role_file("{\"RoleArn\": \"" ARN("c") "\"}"));
    another_process(&scene);
    script_answer(scene.script, 200, "", ROLE("ASIAQ"));
    check_found(&scene, "ASIAQ");
    check_sent(&scene, 4);
    check_sent_by(&scene, 3, "ASIAB", "role%2Freader&");
}

/* Keys and a role in one profile. */
static void a_profile_that_is_its_own_source(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P "role_arn = " ARN("reader") "\nsource_profile = p\n" KEYS("OWN"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent_by(&scene, 0, "OWN", "role%2Freader");
}

static void keys_of_the_environment(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P "role_arn = " ARN("reader") "\ncredential_source = Environment\n");
    scene.context.by_option = true; /* which turns them off otherwise */
    check_failed(&scene, ERROR_DENIED,
                 "(credential_source = Environment): set AWS_ACCESS_KEY_ID and");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "SECRET", 1);
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    check_sent_by(&scene, 0, "ENV", "role%2Freader");
}

static void a_source_never_falls_back_to_the_environment(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P
               "role_arn = " ARN("reader") "\nsource_profile = base\n[profile base]\nregion = r\n");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "SECRET", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/etc/hostname", 1);
    check_failed(&scene, ERROR_DENIED, "profile base, which is the source_profile of a role");
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
    check_sent(&scene, 0);
}

static void profiles_that_make_no_sense(void)
{
    static const struct {
        const char *rest, *why;
    } cases[] = {
        {"role_arn = r\n", "profile p has role_arn, but no keys to sign with"},
        {"role_arn = r\nsource_profile = b\ncredential_source = Environment\n",
         "profile p has both source_profile and credential_source"},
        {"role_arn =\nsource_profile = base\n[profile base]\n" KEYS("B"),
         "profile p does not name the role"},
        {"role_arn = r\nsource_profile = none\n[profile x]\n",
         "profile p names source_profile none, which is in neither"},
        {"role_arn = r\nsource_profile = none\n[profile x]\n", "profiles there: p, x"},
        {"role_arn = r\nsource_profile = p\n",
         "the source_profile of profile p goes in a circle: p -> p; one of them needs"},
        {"role_arn = r\nsource_profile = b\n[profile b]\nrole_arn = s\nsource_profile = c\n"
         "[profile c]\nrole_arn = t\nsource_profile = b\n",
         "goes in a circle: p -> b -> c -> b; one of them needs a source with credentials"},
        {"role_arn = r\nsource_profile = b\naws_access_key_id = P\n[profile b]\nrole_arn = s\n"
         "source_profile = p\n",
         "goes in a circle: p -> b -> p"},
        {"role_arn = r\ncredential_source = environment\n",
         "credential_source = environment, which is not one of Environment, Ec2InstanceMetadata"},
        {"role_arn = r\nsource_profile = b\n[profile b]\nrole_arn = s\n",
         "profile b has role_arn, but no keys to sign with"},
        {"role_arn = r\nsource_profile = b\n[profile b]\naws_secret_access_key = s\n",
         "profile b, which is the source_profile of a role, has no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        CLEAN_UP(buf_clean_up) struct buf config = {0};
        buf_printf(&config, P "%s", cases[i].rest);
        open_scene(&scene, credentials_role_new, buf_text(&config));
        check_failed(&scene, ERROR_DENIED, cases[i].why);
        check_sent(&scene, 0);
    }
}

static void check_absent(provider_new_fn *make, const char *config)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, make, config);
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
}

static void profiles_of_another_kind(void)
{
    check_absent(credentials_role_new, P KEYS("K"));
    check_absent(credentials_role_new, P "source_profile = q\n");
    check_absent(credentials_role_new, P "role_arn = r\nweb_identity_token_file = f\n");
    check_absent(credentials_web_identity_new, P "role_arn = r\nsource_profile = q\n");
    check_absent(credentials_web_identity_new, P "role_arn = r\nweb_identity_token_file =\n");
}

/* The AWS CLI's cache. */

static void a_role_that_the_aws_cli_has_kept(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    write_file(&scene, role_file(READER), kept("ASIAKEPT", "T21:46:40"));
    check_found(&scene, "ASIAKEPT");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_INT(scene.expires_ms, 1792014400000);
    check_sent(&scene, 0);
}

static void what_is_kept_and_of_no_use(void)
{
    static const char *const files[] = {"", "{", "[]", "{\"Credentials\":7}", "\xff\xfe", NULL};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_role_new, with_source);
        write_file(&scene, role_file(READER), files[i] ? files[i] : kept("ASIAKEPT", "T18:01:39"));
        script_answer(scene.script, 200, "", ROLE("ASIA1"));
        check_found(&scene, "ASIA1");
        check_sent(&scene, 1);
    }
}

/* Who has the credentials of the cache and asks again was refused with them. */
static void asked_again_the_cache_is_passed_over(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    write_file(&scene, role_file(READER), kept("ASIAKEPT", "T21:46:40"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    script_answer(scene.script, 403, "", REFUSED("AccessDenied", "no more"));
    check_found(&scene, "ASIAKEPT");
    check_found(&scene, "ASIA1");
    check_found(&scene, "ASIA1"); /* it is better than nothing */
    check_sent(&scene, 2);
}

/* What the AWS CLI has kept of a role on the way was revoked meanwhile. */
static void a_kept_role_that_may_not_sign_any_more(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P "role_arn = " ARN("reader") "\nsource_profile = b\n[profile b]\nrole_arn = " ARN(
                   "b") "\nsource_profile = base\n[profile base]\n" KEYS("BASE"));
    write_file(&scene, role_file("{\"RoleArn\": \"" ARN("b") "\"}"), kept("ASIAB", "T21:46:40"));
    script_answer(scene.script, 403, "", REFUSED("ExpiredToken", "revoked"));
    script_answer(scene.script, 403, "", REFUSED("ExpiredToken", "revoked"));
    script_answer(scene.script, 200, "", ROLE("ASIAC"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 4);
    check_sent_by(&scene, 1, "ASIAB", "role%2Freader");
    check_sent_by(&scene, 2, "BASE", "role%2Fb");
    check_sent_by(&scene, 3, "ASIAC", "role%2Freader");
}

static void a_cache_that_cannot_be_written(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    start(&scene);
    fill_disk(true);
    CHECK(loop_run(scene.loop));
    fill_disk(false);
    CHECK_TEXT(scene.key, "ASIA1");
    CHECK_HAS(buf_text(&scene.lines), "credentials of a role are not stored for later");
}

/* STS. */

static void check_refused(const char *config, int status, const char *body, enum error_kind kind,
                          const char *why)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, config);
    for (int i = 0; i < 4; i++)
        script_answer(scene.script, status, "", body);
    check_failed(&scene, kind, why);
    check_no_secrets(&scene);
}

static void what_sts_refuses(void)
{
    static const char denied[] =
        REFUSED("AccessDenied", "User: arn:aws:iam::123456789012:user/me is not authorized to "
                                "perform: sts:AssumeRole on resource: " ARN("reader"));
    check_refused(with_source, 403, denied, ERROR_DENIED,
                  "role " ARN("reader") " of profile p could not be assumed by profile base: STS "
                                        "says: User: arn:aws:iam::123456789012:user/me is not "
                                        "authorized");
    check_refused(
        with_source, 403, denied, ERROR_DENIED,
        "the signer needs a policy with {\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\","
        "\"Resource\":\"" ARN(
            "reader") "\"}, and the role's "
                      "trust policy a statement that names the signer (with sts:ExternalId");
    check_refused(P "role_arn = r\nsource_profile = p\nexternal_id = x\n" KEYS("K"), 403, denied,
                  ERROR_DENIED, "names the signer and this external_id");
    check_refused(
        with_source, 403, REFUSED("ExpiredToken", "The security token is expired"), ERROR_EXPIRED,
        "the session has expired: STS says: The security token is expired (ExpiredToken)");
    check_refused(with_source, 403, REFUSED("ExpiredToken", "The security token is expired"),
                  ERROR_EXPIRED, "(profile base signs for the role)");
    check_refused(with_source, 403, REFUSED("InvalidClientTokenId", "no such key"), ERROR_DENIED,
                  "the access key or its session token is not valid here");
    check_refused(with_source, 403, REFUSED("SignatureDoesNotMatch", "no"), ERROR_DENIED,
                  "check the secret access key");
    check_refused(with_source, 400, REFUSED("ValidationError", "DurationSeconds exceeds"),
                  ERROR_DENIED,
                  "could not be assumed: STS says: DurationSeconds exceeds (ValidationError, HTTP "
                  "400); check the role in the profile");
    check_refused(with_source, 503, "<html>", ERROR_SERVICE, "STS failed");
    check_refused(with_source, 200, "<xml/>", ERROR_BAD_ANSWER, "is no JSON object");
}

static void trouble_that_passes(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    script_answer(scene.script, 503, "", "<html>");
    script_fail(scene.script, ERROR_RESET);
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 3);
}

/* One file that cannot be read may be followed by thousands. */
static void a_refusal_is_remembered_for_a_while(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_source);
    script_answer(scene.script, 403, "", REFUSED("AccessDenied", "no"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_failed(&scene, ERROR_DENIED, "(AccessDenied, HTTP 403)");
    check_failed(&scene, ERROR_DENIED, "(AccessDenied, HTTP 403)");
    check_sent(&scene, 1);
    virtual_clock_pass(&scene.clock, 5000);
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
}

static void mended_keys_are_used_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P "role_arn = " ARN("reader") "\nsource_profile = base\n");
    CHECK_INT(scene.answers, 0);
    check_failed(&scene, ERROR_DENIED, "source_profile base, which is in neither");
    write_file(&scene, "config", with_source);
    profiles_clean_up(&scene.profiles);
    CHECK(profiles_load(&scene.profiles, &scene.err));
    script_answer(scene.script, 403, "", REFUSED("InvalidClientTokenId", "no such key"));
    script_answer(scene.script, 403, "", REFUSED("InvalidClientTokenId", "no such key"));
    check_failed(&scene, ERROR_DENIED, "no such key");
    write_file(&scene, "config",
               P "role_arn = " ARN(
                   "reader") "\nsource_profile = base\n[profile base]\n"
                             "aws_access_key_id = BASE\naws_secret_access_key = ANOTHER\n");
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 3);
}

/* MFA. */

static const char with_mfa[] =
    P "role_arn = " ARN("reader") "\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me\n"
                                  "[profile base]\n" KEYS("BASE");

static void a_code_that_nobody_can_type(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new, with_mfa);
    check_failed(&scene, ERROR_DENIED,
                 "role " ARN("reader") " of profile p needs a code of the MFA device "
                                       "arn:aws:iam::1:mfa/me, and there is no terminal");
    CHECK_HAS(scene.err.text, "run aws sts get-caller-identity --profile p");
    check_sent(&scene, 0);
    /* That command leaves this behind. */
    write_file(&scene,
               role_file("{\"RoleArn\": \"" ARN("reader") "\", \"SerialNumber\": "
                                                          "\"arn:aws:iam::1:mfa/me\"}"),
               kept("ASIAKEPT", "T21:46:40"));
    check_found(&scene, "ASIAKEPT");
    check_found(&scene, "ASIAKEPT"); /* others would need another code */
    virtual_clock_pass(&scene.clock, (4 * 60 - 15) * MINUTE_MS + 1);
    check_failed(&scene, ERROR_EXPIRED, "needs a code of the MFA device");
    check_sent(&scene, 0);
}

/* Somebody at a terminal, or nobody. */
struct typist {
    enum mfa_input asked;
    int times;
};

static enum mfa_input type(void *arg, const char *serial, struct buf *code, struct error *err)
{
    struct typist *typist = arg;
    CHECK_TEXT(serial, "arn:aws:iam::1:mfa/me");
    buf_printf(code, "%06d", ++typist->times);
    if (typist->asked == MFA_FAILED)
        error_set(err, ERROR_DENIED, "nothing was typed");
    return typist->asked;
}

static void a_code_that_was_typed(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    CLEAN_UP(mfa_codes_clean_up) struct mfa_codes codes = {0};
    struct typist typist = {MFA_TYPED, 0};
    open_scene(&scene, credentials_role_new, with_mfa);
    scene.context.mfa_codes = &codes;
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    script_answer(scene.script, 503, "", "<html>");
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent_by(&scene, 1, "BASE",
                  "&SerialNumber=arn%3Aaws%3Aiam%3A%3A1%3Amfa%2Fme"
                  "&TokenCode=000001");
    /* It is good once; what it gave is kept. */
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    CHECK_INT(typist.times, 1);
    virtual_clock_pass(&scene.clock, 4 * 60 * MINUTE_MS);
    check_failed(&scene, ERROR_EXPIRED, "needs a code of the MFA device");
    check_sent(&scene, 2);
}

/* What is wrong with it is told by who asks for credentials. */
static void nobody_is_asked_for_a_role_that_makes_no_sense(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    CLEAN_UP(mfa_codes_clean_up) struct mfa_codes codes = {0};
    struct typist typist = {MFA_TYPED, 0};
    open_scene(&scene, credentials_role_new,
               P "role_arn = r\nsource_profile = p\nmfa_serial = arn:aws:iam::1:mfa/me\n");
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    CHECK_INT(typist.times, 0);
    check_failed(&scene, ERROR_DENIED, "goes in a circle");
}

static void who_is_asked_for_a_code(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    CLEAN_UP(mfa_codes_clean_up) struct mfa_codes codes = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf code = {0};
    struct typist typist = {MFA_NO_TERMINAL, 0};
    open_scene(&scene, credentials_role_new, with_mfa);
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    CHECK(!codes.first);
    typist.asked = MFA_FAILED;
    CHECK(!mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    CHECK_TEXT(scene.err.text, "nothing was typed");
    CHECK(!codes.first);
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    CHECK_INT(typist.times, 2);
    scene.context.by_option = true; /* which turns the environment off */
    typist.asked = MFA_TYPED;
    CHECK(mfa_codes_prompt(&codes, &scene.context, type, &typist, &scene.err));
    unsetenv("AWS_ACCESS_KEY_ID");
    CHECK(!mfa_codes_take(&codes, "another", &code));
    CHECK(mfa_codes_take(&codes, "arn:aws:iam::1:mfa/me", &code));
    CHECK_TEXT(buf_text(&code), "000003");
    CHECK(!mfa_codes_take(&codes, "arn:aws:iam::1:mfa/me", &code));
}

/* Web identity. */

#define WEB(id) GIVEN("AssumeRoleWithWebIdentity", id)

static void open_web(struct scene *scene, const char *rest)
{
    CLEAN_UP(buf_clean_up) struct buf config = {0};
    buf_printf(&config,
               P "role_arn = " ARN("reader") "\nweb_identity_token_file = ~/.aws/token\n%s", rest);
    open_scene(scene, credentials_web_identity_new, buf_text(&config));
    write_file(scene, "token", "eyJ.the-token.1\n");
}

static void a_role_for_a_token(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_web(&scene, "");
    script_answer(scene.script, 200, "", WEB("ASIA1"));
    script_answer(scene.script, 200, "", WEB("ASIA2"));
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.account, "123456789012");
    CHECK_TEXT(scene.method, "assume-role-with-web-identity");
    CHECK_HAS(scene.origin, "config [profile p]");
    CHECK_TEXT(script_sent(scene.script, 0)->body,
               "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
               "&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Freader"
               "&RoleSessionName=ddbfs-session-1792000000&WebIdentityToken=eyJ.the-token.1");
    CHECK(!strstr(script_sent(scene.script, 0)->headers, "Authorization"));
    write_file(&scene, "token", "eyJ.the-token.2");
    check_found(&scene, "ASIA2"); /* the file is read anew */
    CHECK_HAS(script_sent(scene.script, 1)->body, "WebIdentityToken=eyJ.the-token.2");
    remove_file(&scene, "token");
    check_found(&scene, "ASIA2"); /* it is better than nothing */
    CHECK(!strstr(buf_text(&scene.lines), "eyJ"));
}

static void a_token_of_the_environment(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    char path[128];
    open_web(&scene, "role_session_name = mine\n");
    write_file(&scene, "other", "eyJ.another");
    snprintf(path, sizeof path, "%s/.aws/other", scene.folder);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", path, 1);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::210987654321:role/pod", 1);
    script_answer(scene.script, 200, "", WEB("ASIA1"));
    check_found(&scene, "ASIA1");
    CHECK_TEXT(scene.account, "210987654321");
    CHECK_TEXT(scene.origin, "AWS_WEB_IDENTITY_TOKEN_FILE");
    CHECK_HAS(script_sent(scene.script, 0)->body, "RoleSessionName=mine");
    CHECK_HAS(script_sent(scene.script, 0)->body, "WebIdentityToken=eyJ.another");
    /* --profile turns it off, and so does being another's source. */
    for (int i = 0; i < 2; i++) {
        scene.context.by_option = i == 0;
        scene.context.is_source = i == 1;
        script_answer(scene.script, 200, "", WEB("ASIA2"));
        another_process(&scene);
        check_found(&scene, "ASIA2");
        CHECK_TEXT(scene.account, "123456789012");
        remove_file(&scene,
                    role_file("{\"RoleArn\": \"" ARN("reader") "\", "
                                                               "\"RoleSessionName\": \"mine\"}"));
    }
    scene.context.is_source = false;
    unsetenv("AWS_ROLE_ARN");
    unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
}

static void an_environment_without_a_role(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_web_identity_new, P KEYS("K"));
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/etc/hostname", 1);
    check_failed(&scene, ERROR_DENIED, "but AWS_ROLE_ARN, the role for the token");
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "", 1);
    ask(&scene);
    CHECK_INT(scene.found, CREDENTIALS_ABSENT);
    unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
}

static void tokens_that_are_none(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_web(&scene, "");
    remove_file(&scene, "token");
    check_failed(&scene, ERROR_DENIED, ".aws/token does not exist; check the path");
    write_file(&scene, "token", " \n");
    check_failed(&scene, ERROR_DENIED, ".aws/token has no token");
    remove_file(&scene, "token");
    write_file(&scene, "token/in-it", "");
    check_failed(&scene, ERROR_DENIED, "it is no regular file");
    check_sent(&scene, 0);
}

static void tokens_that_are_refused(void)
{
    static const struct {
        int status;
        const char *body;
        enum error_kind kind;
        const char *why;
    } cases[] = {
        {400, REFUSED("ExpiredTokenException", "Token expired"), ERROR_EXPIRED,
         ".aws/token has expired: STS says: Token expired"},
        {403, REFUSED("AccessDenied", "Not authorized"), ERROR_DENIED,
         "trust policy needs a statement that allows sts:AssumeRoleWithWebIdentity"},
        {400, REFUSED("InvalidIdentityToken", "of eyJ.the-token.1"), ERROR_DENIED,
         "(InvalidIdentityToken, HTTP 400); check the role's name"},
        {429, "{}", ERROR_THROTTLED, "STS is throttled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_web(&scene, "");
        for (int tries = 0; tries < 4; tries++)
            script_answer(scene.script, cases[i].status, "", cases[i].body);
        check_failed(&scene, cases[i].kind, cases[i].why);
        CHECK(!strstr(scene.err.text, "eyJ"));
    }
}

static void a_token_signs_for_another_role(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, credentials_role_new,
               P
               "role_arn = " ARN("reader") "\nsource_profile = pod\n[profile pod]\nrole_arn = " ARN(
                   "pod") "\nweb_identity_token_file = ~/.aws/token\n");
    write_file(&scene, "token", "eyJ.the-token.1");
    script_answer(scene.script, 200, "", WEB("ASIAPOD"));
    script_answer(scene.script, 200, "", ROLE("ASIA1"));
    check_found(&scene, "ASIA1");
    check_sent(&scene, 2);
    check_sent_by(&scene, 1, "ASIAPOD", "role%2Freader");
}

/* Ends. */

static void called_off_at_every_step(void)
{
    for (int64_t after_ms = 0; after_ms < 4000; after_ms += 500) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene, credentials_role_new,
                   P
                   "role_arn = " ARN("reader") "\nsource_profile = b\n[profile b]\nrole_arn = " ARN(
                       "b") "\nsource_profile = base\n[profile base]\n" KEYS("BASE"));
        script_answer(scene.script, 200, "", ROLE("ASIAB"));
        script_delay(scene.script, 1700);
        script_answer(scene.script, 200, "", ROLE("ASIA1"));
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
    {"a role signed for by a profile", a_role_signed_for_by_a_profile},
    {"all that a profile says of its role", all_that_a_profile_says_of_its_role},
    {"durations that are none", durations_that_are_none},
    {"a chain of roles", a_chain_of_roles},
    {"a profile that is its own source", a_profile_that_is_its_own_source},
    {"keys of the environment", keys_of_the_environment},
    {"a source never falls back to the environment", a_source_never_falls_back_to_the_environment},
    {"profiles that make no sense", profiles_that_make_no_sense},
    {"profiles of another kind", profiles_of_another_kind},
    {"a role that the AWS CLI has kept", a_role_that_the_aws_cli_has_kept},
    {"what is kept and of no use", what_is_kept_and_of_no_use},
    {"asked again the cache is passed over", asked_again_the_cache_is_passed_over},
    {"a kept role that may not sign any more", a_kept_role_that_may_not_sign_any_more},
    {"a cache that cannot be written", a_cache_that_cannot_be_written},
    {"what STS refuses", what_sts_refuses},
    {"trouble that passes", trouble_that_passes},
    {"a refusal is remembered for a while", a_refusal_is_remembered_for_a_while},
    {"mended keys are used at once", mended_keys_are_used_at_once},
    {"a code that nobody can type", a_code_that_nobody_can_type},
    {"a code that was typed", a_code_that_was_typed},
    {"who is asked for a code", who_is_asked_for_a_code},
    {"nobody is asked for a role that makes no sense",
     nobody_is_asked_for_a_role_that_makes_no_sense},
    {"a role for a token", a_role_for_a_token},
    {"a token of the environment", a_token_of_the_environment},
    {"an environment without a role", an_environment_without_a_role},
    {"tokens that are none", tokens_that_are_none},
    {"tokens that are refused", tokens_that_are_refused},
    {"a token signs for another role", a_token_signs_for_another_role},
    {"called off at every step", called_off_at_every_step},
};
CHECK_MAIN(tests)
