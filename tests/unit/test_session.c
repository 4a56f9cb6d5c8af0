/* Profile, region, endpoint and credentials, from options, environment and files. */
#include "core/aws/session.h"

#include "core/aws/credentials_cache.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "tests/unit/check.h"

/* A private folder with both files, and an environment without any AWS variable. */
struct place {
    char path[64];
    struct buf config;
    struct buf credentials;
    struct loop *loop;
    struct aws_settings settings;
    struct aws_session *session;
    struct error err;
    int answers;
    char key[64];
    char secret[64];
    char token[64];
    char account[64];
    char origin[256];
    const char *method;
};

static const char *const variables[] = {
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",     "AWS_SESSION_TOKEN",
    "AWS_PROFILE",       "AWS_DEFAULT_PROFILE",       "AWS_REGION",
    "AWS_CONFIG_FILE",   "AWS_DEFAULT_REGION",        "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_ENDPOINT_URL",  "AWS_ENDPOINT_URL_DYNAMODB", "AWS_SECURITY_TOKEN",
    "AWS_ACCOUNT_ID",    "AWS_CREDENTIAL_EXPIRATION", "HOME",
};

static void clear_environment(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1); /* which is another test's affair */
}

static void write_file(const struct buf *path, const char *text)
{
    FILE *file = fopen(buf_text(path), "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static void open_place(struct place *place, const char *config, const char *credentials)
{
    *place = (struct place){.path = "/tmp/ddbfs-session-XXXXXX"};
    CHECK(mkdtemp(place->path));
    clear_environment();
    buf_printf(&place->config, "%s/config", place->path);
    buf_printf(&place->credentials, "%s/credentials", place->path);
    write_file(&place->config, config);
    write_file(&place->credentials, credentials);
    setenv("AWS_CONFIG_FILE", buf_text(&place->config), 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", buf_text(&place->credentials), 1);
    place->loop = loop_new(clock_system());
    CHECK(place->loop);
}

static void place_clean_up(struct place *place)
{
    aws_session_destroy(place->session);
    aws_settings_clean_up(&place->settings);
    loop_destroy(place->loop);
    unlink(buf_text(&place->config));
    unlink(buf_text(&place->credentials));
    rmdir(place->path);
    buf_clean_up(&place->config);
    buf_clean_up(&place->credentials);
    clear_environment();
}

static bool settle(struct aws_settings *settings, struct aws_options options, struct error *err)
{
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    *settings = (struct aws_settings){0};
    return profiles_refresh(&profiles, err) &&
           aws_settings_init(settings, &options, &profiles, err);
}

static void start(struct place *place, struct aws_options options)
{
    struct aws_session_parts parts = {.loop = place->loop};
    aws_session_destroy(place->session);
    place->session = NULL;
    aws_settings_clean_up(&place->settings);
    if (!settle(&place->settings, options, &place->err))
        CHECK_FAIL("%s", place->err.text);
    place->session = aws_session_new(&place->settings, &parts);
    CHECK(place->session);
}

static void check_no_start_of(struct place *place, struct aws_options options, enum error_kind kind,
                              const char *why)
{
    CLEAN_UP(aws_settings_clean_up) struct aws_settings settings = {0};
    place->err = (struct error){0};
    CHECK(!settle(&settings, options, &place->err));
    CHECK_INT(place->err.kind, kind);
    CHECK_HAS(place->err.text, why);
}

static void check_no_start(struct place *place, struct aws_options options, const char *why)
{
    check_no_start_of(place, options, ERROR_INVALID, why);
}

static void on_credentials(void *arg, const struct credentials_result *answer)
{
    struct place *place = arg;
    const struct credentials *credentials = &answer->credentials;
    place->answers++;
    if (answer->found != CREDENTIALS_FOUND) {
        place->err = answer->err;
        return;
    }
    snprintf(place->key, sizeof place->key, "%s", credentials->access_key_id);
    snprintf(place->secret, sizeof place->secret, "%s", credentials->secret_access_key);
    snprintf(place->token, sizeof place->token, "%s",
             credentials->session_token ? credentials->session_token : "-");
    snprintf(place->account, sizeof place->account, "%s",
             credentials->account_id ? credentials->account_id : "-");
    snprintf(place->origin, sizeof place->origin, "%s", credentials->origin);
    place->method = credentials->method;
}

static void resolve(struct place *place)
{
    struct credentials_provider *provider = aws_session_credentials(place->session);
    place->err = (struct error){0};
    place->key[0] = place->secret[0] = place->token[0] = '\0';
    place->answers = 0;
    CHECK(credentials_request_start(provider, on_credentials, place));
    CHECK_INT(place->answers, 0);
    CHECK(loop_run(place->loop));
    CHECK_INT(place->answers, 1);
}

/* As after a refusal by the service. */
static void refuse(struct place *place)
{
    unsigned age;
    credentials_cache_held(aws_session_credentials(place->session), &age);
    credentials_cache_refuse(aws_session_credentials(place->session), age);
}

static void check_keys(struct place *place, const char *key, const char *secret, const char *token)
{
    resolve(place);
    CHECK_TEXT(place->err.text, "");
    CHECK_TEXT(place->key, key);
    CHECK_TEXT(place->secret, secret);
    CHECK_TEXT(place->token, token);
}

static void check_denied(struct place *place, const char *why)
{
    resolve(place);
    CHECK_INT(place->err.kind, ERROR_DENIED);
    CHECK_HAS(place->err.text, why);
    CHECK_TEXT(place->key, "");
}

static const struct aws_options no_options = {0};
static const struct aws_options in_x = {.profile = "x"};

/* Region. */

static void region_by_rank(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r-profile\n[profile x]\nregion = r-x\n", "");
    start(&place, no_options);
    CHECK_TEXT(place.settings.region, "r-profile");
    start(&place, in_x);
    CHECK_TEXT(place.settings.region, "r-x");
    setenv("AWS_DEFAULT_REGION", "r-default", 1);
    start(&place, in_x);
    CHECK_TEXT(place.settings.region, "r-default");
    setenv("AWS_REGION", "r-env", 1);
    start(&place, no_options);
    CHECK_TEXT(place.settings.region, "r-env");
    start(&place, (struct aws_options){.region = "r-option"});
    CHECK_TEXT(place.settings.region, "r-option");
}

static void no_region_says_how_to_give_one(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\n", "");
    setenv("AWS_REGION", "", 1);
    start(&place, no_options);
    resolve(&place);
    CHECK_INT(place.err.kind, ERROR_INVALID);
    CHECK_HAS(place.err.text, "no region: pass --region, set AWS_REGION");
}

static void regions_are_labels(void)
{
    static const char *const bad[] = {"eu.central", "a/b", "-a", "a-", "x@evil", "a b", "a\n"};
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "", "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_no_start(&place, (struct aws_options){.region = bad[i]}, "is no region");
    char longest[65];
    memset(longest, 'a', 64);
    longest[64] = '\0';
    check_no_start(&place, (struct aws_options){.region = longest}, "is no region");
    start(&place, (struct aws_options){.region = longest + 1});
}

/* Endpoint. */

static void check_endpoint(struct place *place, const char *given, const char *url,
                           const char *host)
{
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    start(place, (struct aws_options){.region = "eu-central-1", .endpoint_url = given});
    CHECK(aws_endpoint_init(&endpoint, &place->settings, AWS_DYNAMODB, NULL, NULL, NULL));
    CHECK_TEXT(endpoint.root_url, url);
    CHECK_TEXT(endpoint.host, host);
}

static void the_service_s_own_endpoint(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "", "");
    check_endpoint(&place, NULL, "https://dynamodb.eu-central-1.amazonaws.com/",
                   "dynamodb.eu-central-1.amazonaws.com");
    CHECK(!aws_settings_endpoint_url(&place.settings));
    start(&place, (struct aws_options){.region = "cn-north-1"});
    CHECK_TEXT(place.settings.region, "cn-north-1");
}

static void endpoints_are_made_regular(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "", "");
    check_endpoint(&place, "http://localhost:8000", "http://localhost:8000/", "localhost:8000");
    check_endpoint(&place, "http://localhost:8000/", "http://localhost:8000/", "localhost:8000");
    check_endpoint(&place, "HTTPS://h.example", "https://h.example/", "h.example");
    check_endpoint(&place, "https://h:443/", "https://h/", "h");
    check_endpoint(&place, "http://h:80", "http://h/", "h");
    check_endpoint(&place, "http://h:443", "http://h:443/", "h:443");
    check_endpoint(&place, "https://h:65535", "https://h:65535/", "h:65535");
    check_endpoint(&place, "http://H/Path", "http://h/Path", "h");
    check_endpoint(&place, "http://[::1]:8000", "http://[::1]:8000/", "[::1]:8000");
    check_endpoint(&place, "http://[fd00:ec2::23]", "http://[fd00:ec2::23]/", "[fd00:ec2::23]");
    CHECK_TEXT(aws_settings_endpoint_url(&place.settings), "http://[fd00:ec2::23]/");
}

static void bad_endpoints_are_refused(void)
{
    static const char *const bad[] = {
        "",
        "localhost",
        "ftp://h",
        "http://",
        "http:///",
        "http://h:",
        "http://h:0",
        "http://h:65536",
        "http://h:1x",
        "http://h?q",
        "http://u@h",
        "http://u:p@h",
        "http://h h",
        "http://h#f",
        "http://[::1",
        "http://[]",
        "http://[h]:1",
        "http://[::1]x",
        "http://h/a b",
        "http://h/%2",
        "http://h\n",
        "http://h:8000:1",
        "http://h:99999999999999999999",
    };
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "", "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_no_start(&place, (struct aws_options){.region = "r", .endpoint_url = bad[i]},
                       "is no endpoint");
}

static void endpoint_by_rank(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n", "");
    setenv("AWS_ENDPOINT_URL", "http://all:1", 1);
    start(&place, no_options);
    CHECK_TEXT(aws_settings_endpoint_url(&place.settings), "http://all:1/");
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://dynamodb:2", 1);
    start(&place, no_options);
    CHECK_TEXT(aws_settings_endpoint_url(&place.settings), "http://dynamodb:2/");
    start(&place, (struct aws_options){.endpoint_url = "http://option:3"});
    CHECK_TEXT(aws_settings_endpoint_url(&place.settings), "http://option:3/");
}

/* Profile. */

static void profile_by_rank(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion=r\n[profile a]\nregion=r\n[profile b]\nregion=r\n",
               "[x]\n");
    start(&place, no_options);
    CHECK(!aws_settings_profile(&place.settings));
    setenv("AWS_DEFAULT_PROFILE", "b", 1);
    start(&place, no_options);
    CHECK_TEXT(aws_settings_profile(&place.settings), "b");
    setenv("AWS_PROFILE", "a", 1);
    start(&place, no_options);
    CHECK_TEXT(aws_settings_profile(&place.settings), "a");
    start(&place, (struct aws_options){.profile = "x", .region = "r"});
    CHECK_TEXT(aws_settings_profile(&place.settings), "x");
}

static void unknown_profile_names_the_known(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n[profile a]\n", "[b]\n");
    check_no_start_of(&place, in_x, ERROR_DENIED, "profile x (named by --profile) is in neither");
    CHECK_HAS(place.err.text, buf_text(&place.config));
    CHECK_HAS(place.err.text, buf_text(&place.credentials));
    CHECK_HAS(place.err.text, "profiles there: default, a, b");
    setenv("AWS_DEFAULT_PROFILE", "z z", 1);
    check_no_start_of(&place, no_options, ERROR_DENIED,
                      "profile z z (named by AWS_DEFAULT_PROFILE) is in neither");
    CHECK_HAS(place.err.text, "aws configure --profile 'z z'");
    setenv("AWS_PROFILE", "y", 1);
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    check_no_start_of(&place, no_options, ERROR_DENIED,
                      "profile y (named by AWS_PROFILE) is in neither");
    struct aws_options by_map = {.profile = "x", .profile_named_by = "the map's environment e"};
    check_no_start_of(&place, by_map, ERROR_DENIED, "profile x (named by the map's environment e)");
    CHECK_HAS(place.err.text, "AWS_ACCESS_KEY_ID is ignored");
}

static void malformed_file_is_an_error(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\nwhat\n", "");
    check_no_start_of(&place, no_options, ERROR_DENIED, "config, line 3:");
}

/* Credentials. */

static void keys_of_the_environment(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "", "");
    setenv("AWS_REGION", "r", 1);
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    start(&place, no_options);
    check_keys(&place, "K", "S", "-");
    setenv("AWS_SESSION_TOKEN", "T", 1);
    check_keys(&place, "K", "S", "-");
    refuse(&place);
    check_keys(&place, "K", "S", "T");
}

static void key_without_secret(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\naws_access_key_id = P\naws_secret_access_key = Q\n",
               "");
    start(&place, no_options);
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    check_denied(&place, "AWS_SECRET_ACCESS_KEY is not");
    unsetenv("AWS_ACCESS_KEY_ID");
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    check_keys(&place, "P", "Q", "-");
}

static const char keys_of_x[] = "[x]\naws_access_key_id = XK\naws_secret_access_key = XS\n"
                                "aws_session_token = XT\n";

static void option_turns_the_environment_off(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\n", keys_of_x);
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    start(&place, in_x);
    check_keys(&place, "XK", "XS", "XT");
    CHECK_TEXT(aws_settings_profile(&place.settings), "x");
}

static void aws_profile_leaves_the_environment_on(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\n", keys_of_x);
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    setenv("AWS_PROFILE", "x", 1);
    start(&place, no_options);
    check_keys(&place, "K", "S", "-");
    CHECK(!aws_settings_profile(&place.settings));
}

static void aws_profile_without_keys_in_the_environment(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\n", keys_of_x);
    setenv("AWS_PROFILE", "x", 1);
    start(&place, no_options);
    check_keys(&place, "XK", "XS", "XT");
}

/* As in the AWS CLI: a key of one file never signs with the secret, or the token, of the other. */
static void keys_come_from_one_file(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place,
               "[profile x]\nregion = r\naws_access_key_id = C\naws_secret_access_key = CS\n"
               "aws_session_token = CT\n",
               "[x]\naws_access_key_id = D\naws_secret_access_key = DS\n");
    start(&place, in_x);
    check_keys(&place, "D", "DS", "-");
    write_file(&place.credentials, "[x]\naws_access_key_id = D\n");
    refuse(&place);
    check_denied(&place, "no aws_secret_access_key");
    write_file(&place.credentials, "[x]\naws_secret_access_key = DS\n");
    check_keys(&place, "C", "CS", "CT");
}

static void profile_with_half_a_key(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\naws_access_key_id = C\n", "");
    start(&place, in_x);
    check_denied(&place, "no aws_secret_access_key");
}

static void no_credentials_at_all(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n[profile x]\nregion = r\n", "");
    start(&place, no_options);
    check_denied(&place, "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    start(&place, in_x);
    check_denied(&place, "profile x has no credentials");
}

static void files_are_read_again(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\n", "");
    start(&place, in_x);
    check_denied(&place, "profile x has no credentials");
    write_file(&place.credentials, keys_of_x);
    check_keys(&place, "XK", "XS", "XT");
    write_file(&place.credentials, "[x]\naws_access_key_id = 2\naws_secret_access_key = 3\n");
    check_keys(&place, "XK", "XS", "XT");
    refuse(&place);
    check_keys(&place, "2", "3", "-");
}

static void check_keys_win(const char *line)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(buf_clean_up) struct buf config = {0};
    buf_printf(&config, "[profile x]\nregion = r\n%s = something\n", line);
    open_place(&place, buf_text(&config), keys_of_x);
    start(&place, in_x);
    check_keys(&place, "XK", "XS", "XT");
}

static void roles_win_over_keys(void)
{
    static const struct {
        const char *line, *why;
    } ways[] = {
        {"role_arn", "profile x has role_arn, but no keys to sign with"},
        {"web_identity_token_file", "profile x does not name the role"},
    };
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(place_clean_up) struct place place;
        CLEAN_UP(buf_clean_up) struct buf config = {0};
        buf_printf(&config, "[profile x]\nregion = r\n%s = something\n", ways[i].line);
        open_place(&place, buf_text(&config), keys_of_x);
        start(&place, in_x);
        check_denied(&place, ways[i].why);
    }
}

static void sso_wins_over_keys(void)
{
    static const char *const keys[] = {"sso_account_id", "sso_role_name"};
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(place_clean_up) struct place place;
        CLEAN_UP(buf_clean_up) struct buf config = {0};
        buf_printf(&config, "[profile x]\nregion = r\n%s = something\n", keys[i]);
        open_place(&place, buf_text(&config), keys_of_x);
        start(&place, in_x);
        check_denied(&place, "profile x, which has SSO credentials, has no");
    }
}

static void ways_that_yield_to_keys(void)
{
    check_keys_win("sso_start_url");
    check_keys_win("sso_session");
    check_keys_win("login_session");
    check_keys_win("credential_process");
}

/* The two files are two places of the order, with the other ways of a profile between them. */
static void keys_of_the_config_file_come_last(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place,
               "[profile x]\nregion = r\naws_access_key_id = C\naws_secret_access_key = CS\n", "");
    start(&place, in_x);
    check_keys(&place, "C", "CS", "-");
    write_file(&place.config, "[profile x]\nregion = r\naws_access_key_id = C\n"
                              "aws_secret_access_key = CS\ncredential_process = something\n");
    refuse(&place);
    check_denied(&place, "credential_process");
    write_file(&place.credentials, keys_of_x);
    check_keys(&place, "XK", "XS", "XT");
}

static void check_source(struct place *place, const char *method, const char *origin,
                         const char *account)
{
    CHECK_TEXT(place->method, method);
    CHECK_HAS(place->origin, origin);
    CHECK_TEXT(place->account, account);
}

static void credentials_tell_where_they_are_from(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place,
               "[profile x]\nregion = r\naws_access_key_id = C\naws_secret_access_key = CS\n"
               "aws_account_id = 111111111111\n",
               "[x]\naws_access_key_id = D\naws_secret_access_key = DS\n");
    setenv("HOME", place.path, 1);
    start(&place, in_x);
    check_keys(&place, "D", "DS", "-");
    check_source(&place, "shared-credentials-file", "~/credentials [x]", "-");
    write_file(&place.credentials, "");
    refuse(&place);
    check_keys(&place, "C", "CS", "-");
    check_source(&place, "config-file", "~/config [profile x]", "111111111111");
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    setenv("AWS_ACCOUNT_ID", "222222222222", 1);
    setenv("AWS_PROFILE", "x", 1);
    start(&place, no_options);
    check_keys(&place, "K", "S", "-");
    check_source(&place, "env", "AWS_ACCESS_KEY_ID", "222222222222");
}

static void the_older_name_of_a_token_wins(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[profile x]\nregion = r\n",
               "[x]\naws_access_key_id = D\naws_secret_access_key = DS\n"
               "aws_session_token = new\naws_security_token = old\n");
    start(&place, in_x);
    check_keys(&place, "D", "DS", "old");
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    setenv("AWS_SESSION_TOKEN", "new", 1);
    setenv("AWS_SECURITY_TOKEN", "old", 1);
    setenv("AWS_PROFILE", "x", 1);
    start(&place, no_options);
    check_keys(&place, "K", "S", "old");
}

static void an_expiry_in_the_environment(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n", "");
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    setenv("AWS_CREDENTIAL_EXPIRATION", "2020-01-01T00:00:00Z", 1);
    start(&place, no_options);
    resolve(&place);
    CHECK_INT(place.err.kind, ERROR_EXPIRED);
    CHECK_HAS(place.err.text, "AWS_CREDENTIAL_EXPIRATION=2020-01-01T00:00:00Z");
    setenv("AWS_CREDENTIAL_EXPIRATION", "tomorrow", 1);
    check_denied(&place, "AWS_CREDENTIAL_EXPIRATION is no point in time");
    setenv("AWS_CREDENTIAL_EXPIRATION", "2999-01-01T00:00:00+00:00", 1);
    check_keys(&place, "K", "S", "-");
}

static void an_empty_id_is_a_mistake(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place,
               "[profile x]\nregion = r\naws_access_key_id = C\naws_secret_access_key = CS\n",
               "[x]\naws_access_key_id =\naws_secret_access_key = DS\n");
    start(&place, in_x);
    check_denied(&place, "an empty aws_access_key_id");
}

static void keys_with_line_ends_are_refused(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n", "");
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S\r", 1);
    start(&place, no_options);
    check_denied(&place, "the secret access key contains");
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    setenv("AWS_SESSION_TOKEN", "T\nX-Evil: 1", 1);
    check_denied(&place, "the session token contains");
    CHECK(!strstr(place.err.text, "X-Evil"));
}

/* Equal settings. */

static bool come_to_the_same(struct aws_options a, struct aws_options b)
{
    CLEAN_UP(aws_settings_clean_up) struct aws_settings one = {0}, other = {0};
    CHECK(settle(&one, a, NULL) && settle(&other, b, NULL));
    return aws_settings_equal(&one, &other) && aws_settings_equal(&other, &one);
}

static void settings_that_come_to_the_same(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place, "[default]\nregion = r\n[profile x]\nregion = r\n[profile y]\nregion = q\n",
               keys_of_x);
    struct aws_options in_default = {.profile = "default"}, in_y = {.profile = "y"};
    struct aws_options in_x_and_r = {.profile = "x", .region = "r"};
    struct aws_options elsewhere = {.profile = "x", .endpoint_url = "http://h:1"};
    CHECK(come_to_the_same(no_options, no_options));
    CHECK(come_to_the_same(in_x, in_x_and_r));
    /* Who names a profile turns off what the environment may give: keys, or a token's file. */
    CHECK(!come_to_the_same(no_options, in_default));
    CHECK(!come_to_the_same(in_x, no_options));
    CHECK(!come_to_the_same(in_x, in_y));
    CHECK(!come_to_the_same(in_x, elsewhere));
    /* Keys in the environment are another origin than the same profile's. */
    setenv("AWS_ACCESS_KEY_ID", "K", 1);
    CHECK(!come_to_the_same(no_options, in_default));
    setenv("AWS_PROFILE", "x", 1);
    struct aws_options region_only = {.region = "r"};
    CHECK(come_to_the_same(no_options, region_only));
}

/* Files that are kept. */

static void kept_files_are_read_again_when_they_change(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    struct span value;
    open_place(&place, "[profile x]\nregion = r\n", "");
    CHECK(profiles_refresh(&profiles, &place.err));
    CHECK(profiles.config_stamp.is_fresh && profiles.credentials_stamp.is_fresh);
    profiles.config_stamp.is_fresh = profiles.credentials_stamp.is_fresh = false;
    const char *text = profiles.config.ini.text.data;
    CHECK(profiles_refresh(&profiles, &place.err));
    CHECK(profiles.config.ini.text.data == text); /* not read again */
    write_file(&place.config, "[profile x]\nregion = elsewhere\n");
    CHECK(profiles_refresh(&profiles, &place.err));
    CHECK(profiles_get(&profiles, "x", "region", &value));
    CHECK_SPAN(value, SPAN_LITERAL("elsewhere"));
    write_file(&place.credentials, "what\n");
    for (int i = 0; i < 2; i++) {
        place.err = (struct error){0};
        CHECK(!profiles_refresh(&profiles, &place.err));
        CHECK_HAS(place.err.text, "line 1");
    }
    unlink(buf_text(&place.credentials));
    CHECK(profiles_refresh(&profiles, &place.err));
}

static void kept_files_hold_no_secret(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    struct span value = span_text("none");
    open_place(&place, "[profile x]\nregion = r\nAWS_SECRET_ACCESS_KEY = in-config\n",
               "[x]\naws_access_key_id = K\naws_secret_access_key = very-secret\n"
               "aws_session_token = a-token\n  of two lines\n");
    CHECK(profiles_refresh(&profiles, &place.err));
    CHECK(profiles_get(&profiles, "x", "aws_access_key_id", &value));
    CHECK_SPAN(value, SPAN_LITERAL("K"));
    CHECK(profiles_get(&profiles, "x", "aws_secret_access_key", &value));
    CHECK_SPAN(value, SPAN_LITERAL(""));
    struct span kept = buf_span(&profiles.credentials.ini.text);
    CHECK(!memmem(kept.data, kept.size, "very-secret", 11));
    CHECK(!memmem(kept.data, kept.size, "a-token", 7));
    CHECK(!memmem(kept.data, kept.size, "two lines", 9));
    kept = buf_span(&profiles.config.ini.text);
    CHECK(!memmem(kept.data, kept.size, "in-config", 9));
}

/* Within one tick of the file system's clock nothing of a file but its bytes tells two states of it
 * apart. */
static void a_file_that_was_just_written_is_read_again(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    struct span value;
    open_place(&place, "[profile x]\nregion = r1\n", "");
    CHECK(profiles_refresh(&profiles, &place.err));
    write_file(&place.config, "[profile x]\nregion = r2\n");
    struct stat stat_now;
    CHECK(stat(buf_text(&place.config), &stat_now) == 0);
    profiles.config_stamp.modified = stat_now.st_mtim;
    profiles.config_stamp.changed = stat_now.st_ctim;
    CHECK(profiles_refresh(&profiles, &place.err));
    CHECK(profiles_get(&profiles, "x", "region", &value));
    CHECK_SPAN(value, SPAN_LITERAL("r2"));
}

/* What it is replaced by has the same size and times: another file all the same. */
static void a_link_that_is_pointed_elsewhere_is_read_again(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    struct span value = span_text("none");
    open_place(&place, "", "");
    buf_printf(&one, "%s.1", buf_text(&place.config));
    buf_printf(&other, "%s.2", buf_text(&place.config));
    write_file(&one, "[profile x]\nregion = r1\n");
    write_file(&other, "[profile x]\nregion = r2\n");
    CHECK(unlink(buf_text(&place.config)) == 0);
    CHECK(symlink(buf_text(&one), buf_text(&place.config)) == 0);
    bool first = profiles_refresh(&profiles, &place.err);
    struct stat stat_other;
    CHECK(stat(buf_text(&other), &stat_other) == 0);
    profiles.config_stamp.is_fresh = profiles.credentials_stamp.is_fresh = false;
    profiles.config_stamp.modified = stat_other.st_mtim;
    profiles.config_stamp.changed = stat_other.st_ctim;
    CHECK(unlink(buf_text(&place.config)) == 0);
    CHECK(symlink(buf_text(&other), buf_text(&place.config)) == 0);
    bool second = profiles_refresh(&profiles, &place.err);
    unlink(buf_text(&one));
    unlink(buf_text(&other));
    CHECK(first && second && profiles_get(&profiles, "x", "region", &value));
    CHECK_SPAN(value, SPAN_LITERAL("r2"));
}

static void of_files_that_are_broken_nothing_is_kept(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    open_place(&place, "[profile x]\naws_secret_access_key = very-secret\n",
               "[x]\nbroken\naws_secret_access_key = very-secret\n");
    CHECK(!profiles_refresh(&profiles, &place.err));
    CHECK_INT(place.err.kind, ERROR_DENIED);
    CHECK_INT(profiles.config.ini.text.size + profiles.credentials.ini.text.size, 0);
}

static void nothing_to_destroy(void)
{
    aws_session_destroy(NULL);
}

static const struct check_test tests[] = {
    {"region by rank", region_by_rank},
    {"no region says how to give one", no_region_says_how_to_give_one},
    {"regions are labels", regions_are_labels},
    {"the service's own endpoint", the_service_s_own_endpoint},
    {"endpoints are made regular", endpoints_are_made_regular},
    {"bad endpoints are refused", bad_endpoints_are_refused},
    {"endpoint by rank", endpoint_by_rank},
    {"profile by rank", profile_by_rank},
    {"an unknown profile names the known", unknown_profile_names_the_known},
    {"a malformed file is an error", malformed_file_is_an_error},
    {"keys of the environment", keys_of_the_environment},
    {"a key without its secret", key_without_secret},
    {"an option turns the environment off", option_turns_the_environment_off},
    {"AWS_PROFILE leaves the environment on", aws_profile_leaves_the_environment_on},
    {"AWS_PROFILE without keys in the environment", aws_profile_without_keys_in_the_environment},
    {"keys come from one file", keys_come_from_one_file},
    {"a profile with half a key", profile_with_half_a_key},
    {"no credentials at all", no_credentials_at_all},
    {"files are read again", files_are_read_again},
    {"roles win over keys", roles_win_over_keys},
    {"sso wins over keys", sso_wins_over_keys},
    {"ways that yield to keys", ways_that_yield_to_keys},
    {"keys of the config file come last", keys_of_the_config_file_come_last},
    {"credentials tell where they are from", credentials_tell_where_they_are_from},
    {"the older name of a token wins", the_older_name_of_a_token_wins},
    {"an expiry in the environment", an_expiry_in_the_environment},
    {"an empty id is a mistake", an_empty_id_is_a_mistake},
    {"keys with line ends are refused", keys_with_line_ends_are_refused},
    {"settings that come to the same", settings_that_come_to_the_same},
    {"kept files are read again when they change", kept_files_are_read_again_when_they_change},
    {"kept files hold no secret", kept_files_hold_no_secret},
    {"a file that was just written is read again", a_file_that_was_just_written_is_read_again},
    {"a link that is pointed elsewhere is read again",
     a_link_that_is_pointed_elsewhere_is_read_again},
    {"of files that are broken nothing is kept", of_files_that_are_broken_nothing_is_kept},
    {"nothing to destroy", nothing_to_destroy},
};
CHECK_MAIN(tests)
