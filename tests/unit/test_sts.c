/* Questions to STS: what is sent, and what is made of each answer. */
#include "core/aws/sts.h"

#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_providers.h"
#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define ROLE_ARN "arn:aws:iam::123456789012:role/Reader"
static const char with_keys[] =
    "[profile p]\nregion = eu-west-1\naws_access_key_id = AKID\naws_secret_access_key = SECRET\n"
    "aws_session_token = TOKEN\n";

#define CREDENTIALS(expiration)                                                                    \
    "\"Credentials\":{\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"SECRET1\","                  \
    "\"SessionToken\":\"SESSION1\"" expiration "}"
#define ANSWER(action, result)                                                                     \
    "{\"" action "Response\":{\"" action "Result\":{" result "},"                                  \
    "\"ResponseMetadata\":{\"RequestId\":\"R\"}}}"

/* The end of a request. */
struct heard {
    const struct sts_role *role;
    int calls;
    char key[32], secret[32], token[32], account[32], arn[64], user_id[32];
    int64_t expires_ms;
    struct error err;
};

static void put(char *out, const char *text)
{
    snprintf(out, 32, "%s", text ? text : "-");
}

static void hear_role(void *arg, struct document *response, const struct error *err)
{
    struct heard *heard = arg;
    CLEAN_UP(document_clean_up) struct document *owned = response;
    (void)owned;
    CLEAN_UP(credentials_clean_up) struct credentials found = {0};
    heard->calls++;
    CHECK((response == NULL) != (err == NULL));
    heard->err = err ? *err : (struct error){0};
    bool ok = response && sts_read_role(response, heard->role->arn, heard->role->web_identity,
                                        WALL_MS, &found, &heard->err);
    put(heard->key, found.access_key_id);
    put(heard->secret, found.secret_access_key);
    put(heard->token, found.session_token);
    put(heard->account, found.account_id);
    heard->expires_ms = ok ? found.expires_wall_ms : -1;
}

static void hear_identity(void *arg, struct document *response, const struct error *err)
{
    struct heard *heard = arg;
    CLEAN_UP(document_clean_up) struct document *owned = response;
    (void)owned;
    struct sts_identity found = {0};
    heard->calls++;
    CHECK((response == NULL) != (err == NULL));
    heard->err = err ? *err : (struct error){0};
    if (response)
        sts_read_identity(response, &found, &heard->err);
    put(heard->account, found.account);
    put(heard->user_id, found.user_id);
    snprintf(heard->arn, sizeof heard->arn, "%s", found.arn ? found.arn : "-");
}

/* Who signs: the profile's keys. */
struct signed_scene {
    struct scene scene;
    struct credentials_provider *signers;
    struct aws_client client;
};

static void open_signed(struct signed_scene *in)
{
    open_scene(&in->scene, credentials_config_file_new, with_keys);
    const struct credentials_context *context = &in->scene.context;
    in->signers = credentials_cache_new(credentials_config_file_new(context));
    in->client = sts_client(context, in->signers);
}

static void signed_scene_clean_up(struct signed_scene *in)
{
    credentials_provider_destroy(in->signers);
    scene_clean_up(&in->scene);
}

static void assume(struct signed_scene *in, const struct sts_role *role, struct heard *heard)
{
    struct error err = {0};
    *heard = (struct heard){.role = role};
    CHECK(sts_assume_role(&in->client, &in->scene.settings, role, hear_role, heard, &err));
    CHECK_INT(heard->calls, 0);
    CHECK(loop_run(in->scene.loop));
    CHECK_INT(heard->calls, 1);
    CHECK(!strstr(buf_text(&in->scene.lines), "SECRET"));
}

static void a_role_is_asked_for(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct heard heard;
    open_signed(&in);
    script_answer(in.scene.script, 200, "",
                  ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":1.7920144E9")));
    struct sts_role role = {.arn = ROLE_ARN,
                            .session_name = "a b+c",
                            .external_id = "x&y=z",
                            .duration_seconds = "900",
                            .mfa_serial = "arn:aws:iam::1:mfa/me",
                            .mfa_code = "123456"};
    assume(&in, &role, &heard);
    CHECK_TEXT(heard.key, "ASIA1");
    CHECK_TEXT(heard.secret, "SECRET1");
    CHECK_TEXT(heard.token, "SESSION1");
    CHECK_TEXT(heard.account, "123456789012");
    CHECK_INT(heard.expires_ms, 1792014400000);
    const struct script_sent *sent = script_sent(in.scene.script, 0);
    CHECK_TEXT(sent->url, "https://sts.eu-west-1.amazonaws.com/");
    CHECK_TEXT(sent->body, "Action=AssumeRole&Version=2011-06-15"
                           "&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2FReader"
                           "&RoleSessionName=a%20b%2Bc&ExternalId=x%26y%3Dz&DurationSeconds=900"
                           "&SerialNumber=arn%3Aaws%3Aiam%3A%3A1%3Amfa%2Fme&TokenCode=123456");
    CHECK_HAS(sent->headers, "Accept: application/json\n");
    CHECK_HAS(sent->headers, "Content-Type: application/x-www-form-urlencoded; charset=utf-8\n");
    CHECK_HAS(sent->headers, "Credential=AKID/20261014/eu-west-1/sts/aws4_request");
    CHECK_HAS(sent->headers, "X-Amz-Security-Token: TOKEN\n");
}

static void a_role_for_a_web_identity(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct heard heard;
    open_signed(&in);
    script_answer(
        in.scene.script, 200, "",
        ANSWER("AssumeRoleWithWebIdentity",
               CREDENTIALS(
                   ",\"Expiration\":\"2026-10-14T21:46:40Z\"") ","
                                                               "\"AssumedRoleUser\":{\"Arn\":\"arn:"
                                                               "aws:sts::210987654321:assumed-role/"
                                                               "Reader/s\"}"));
    struct sts_role role = {.arn = ROLE_ARN, .session_name = "s", .web_identity = "a.token/of+it="};
    assume(&in, &role, &heard);
    CHECK_TEXT(heard.key, "ASIA1");
    CHECK_TEXT(heard.account, "210987654321");
    CHECK_INT(heard.expires_ms, 1792014400000);
    const struct script_sent *sent = script_sent(in.scene.script, 0);
    CHECK_HAS(sent->body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    CHECK_HAS(sent->body, "&WebIdentityToken=a.token%2Fof%2Bit%3D");
    CHECK(!strstr(sent->headers, "Authorization") && !strstr(sent->headers, "X-Amz-"));
}

static void who_one_is(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct error err = {0};
    struct heard heard = {0};
    open_signed(&in);
    script_answer(
        in.scene.script, 200, "",
        ANSWER("GetCallerIdentity",
               "\"Account\":\"123456789012\",\"Arn\":\"arn:aws:iam::123456789012:user/me\""
               ",\"UserId\":\"AIDA\""));
    CHECK(sts_get_caller_identity(&in.client, &in.scene.settings, hear_identity, &heard, &err));
    CHECK(loop_run(in.scene.loop));
    CHECK_TEXT(heard.account, "123456789012");
    CHECK_TEXT(heard.arn, "arn:aws:iam::123456789012:user/me");
    CHECK_TEXT(heard.user_id, "AIDA");
    CHECK_TEXT(script_sent(in.scene.script, 0)->body,
               "Action=GetCallerIdentity&Version=2011-06-15");
    script_answer(in.scene.script, 200, "", ANSWER("GetCallerIdentity", "\"Account\":\"1\""));
    CHECK(sts_get_caller_identity(&in.client, &in.scene.settings, hear_identity, &heard, &err));
    CHECK(loop_run(in.scene.loop));
    CHECK_INT(heard.err.kind, ERROR_BAD_ANSWER);
    CHECK_INT(heard.calls, 2);
}

static void answers_of_no_use(void)
{
    static const struct {
        int status;
        const char *body;
        enum error_kind kind;
        const char *why;
    } cases[] = {
        {200, "", ERROR_BAD_ANSWER, "is no JSON object"},
        {200, " \n<AssumeRoleResponse/>", ERROR_BAD_ANSWER,
         "the response of STS is no JSON object, but XML or HTML, although the request accepts "
         "JSON only; check that "
         "https://sts.eu-west-1.amazonaws.com/ is its endpoint"},
        {200, "{}", ERROR_BAD_ANSWER, "lacks a usable AccessKeyId"},
        {200, ANSWER("AssumeRole", ""), ERROR_BAD_ANSWER, "lacks a usable"},
        {200, ANSWER("AssumeRole", CREDENTIALS("")), ERROR_BAD_ANSWER, "Expiration"},
        {200, ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":\"soon\"")), ERROR_BAD_ANSWER,
         "Expiration"},
        {200, ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":-1")), ERROR_BAD_ANSWER,
         "Expiration"},
        {200, ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":9e15")), ERROR_NONE, ""},
        {200, ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":1792000000")), ERROR_EXPIRED,
         "check this machine's clock"},
        {200, ANSWER("AssumeRoleWithWebIdentity", CREDENTIALS(",\"Expiration\":1792014400")),
         ERROR_BAD_ANSWER, "lacks a usable"},
        {403,
         "{\"Error\":{\"Code\":\"AccessDenied\",\"Message\":\"not authorized to perform: "
         "sts:AssumeRole on resource: " ROLE_ARN "\",\"Type\":\"Sender\"},\"RequestId\":\"R\"}",
         ERROR_DENIED,
         "STS says: not authorized to perform: sts:AssumeRole on resource: " ROLE_ARN
         " (AccessDenied, HTTP 403)"},
        {403, "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
         ERROR_BAD_ANSWER, "no proxy responds in its place"},
        {400, "{\"Error\":{\"Code\":\"Throttling\",\"Message\":\"Rate exceeded\"}}",
         ERROR_THROTTLED, "STS is throttled: Rate exceeded"},
        {503, "<html>", ERROR_SERVICE, "STS failed"},
        {302, "", ERROR_BAD_ANSWER, "HTTP 302"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
        struct sts_role role = {.arn = ROLE_ARN, .session_name = "s"};
        struct heard heard;
        open_signed(&in);
        for (int tries = 0; tries < 4; tries++)
            script_answer(in.scene.script, cases[i].status, "", cases[i].body);
        assume(&in, &role, &heard);
        if (heard.err.kind != cases[i].kind)
            CHECK_FAIL("%zu: %s (%s)", i, heard.err.text, error_word(heard.err.kind));
        CHECK_HAS(heard.err.text, cases[i].why);
    }
}

static void a_token_is_never_quoted(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct sts_role role = {
        .arn = ROLE_ARN, .session_name = "s", .web_identity = "eyJhbGciOiJ.the-SECRET-of-it"};
    struct heard heard;
    open_signed(&in);
    script_answer(in.scene.script, 400, "",
                  "{\"Error\":{\"Code\":\"InvalidIdentityToken\",\"Message\":\"no "
                  "eyJhbGciOiJ.the-SECRET-of-it here\"}}");
    assume(&in, &role, &heard);
    CHECK_HAS(heard.err.text, "(InvalidIdentityToken, HTTP 400)");
    CHECK(!strstr(heard.err.text, "eyJ"));
}

/* A refusal of a signature quotes the request, with the session token in it. */
static void the_canonical_request_is_never_quoted(void)
{
    static const char *const messages[] = {
        "It does not match.\\n\\nThe Canonical String\\nx-amz-security-token:SECRET",
        "It does not match. Canonical String for this request should have been 'POST / SECRET",
        "It does not match. X-Amz-Security-Token: SECRET",
        "It does not match. String-to-Sign SECRET",
    };
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
        CLEAN_UP(buf_clean_up) struct buf body = {0};
        struct sts_role role = {.arn = ROLE_ARN, .session_name = "s"};
        struct heard heard;
        open_signed(&in);
        buf_printf(&body, "{\"Error\":{\"Code\":\"SignatureDoesNotMatch\",\"Message\":\"%s\"}}",
                   messages[i]);
        for (int tries = 0; tries < 4; tries++)
            script_answer(in.scene.script, 403, "", buf_text(&body));
        assume(&in, &role, &heard);
        CHECK_HAS(heard.err.text, "It does not match (SignatureDoesNotMatch, HTTP 403)");
        CHECK(!strstr(heard.err.text, "SECRET"));
    }
}

static void trouble_that_passes(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct sts_role role = {.arn = ROLE_ARN, .session_name = "s"};
    struct heard heard;
    open_signed(&in);
    script_fail(in.scene.script, ERROR_RESET);
    script_answer(in.scene.script, 500, "", "<html>");
    script_answer(in.scene.script, 200, "",
                  ANSWER("AssumeRole", CREDENTIALS(",\"Expiration\":1792014400")));
    assume(&in, &role, &heard);
    CHECK_TEXT(heard.key, "ASIA1");
    check_sent(&in.scene, 3);
}

static void called_off(void)
{
    CLEAN_UP(signed_scene_clean_up) struct signed_scene in;
    struct sts_role role = {.arn = ROLE_ARN, .session_name = "s"};
    struct heard heard = {0};
    struct error err = {0};
    open_signed(&in);
    struct token_call *call =
        sts_assume_role(&in.client, &in.scene.settings, &role, hear_role, &heard, &err);
    CHECK(call);
    token_call_end(call);
    token_call_end(NULL);
    CHECK(loop_run(in.scene.loop));
    CHECK_INT(heard.calls, 0);
}

static const struct check_test tests[] = {
    {"a role is asked for", a_role_is_asked_for},
    {"a role for a web identity", a_role_for_a_web_identity},
    {"who one is", who_one_is},
    {"answers of no use", answers_of_no_use},
    {"a token is never quoted", a_token_is_never_quoted},
    {"the canonical request is never quoted", the_canonical_request_is_never_quoted},
    {"trouble that passes", trouble_that_passes},
    {"called off", called_off},
};
CHECK_MAIN(tests)
