/* Fuzzing of all that gives credentials: containers, the metadata service, SSO's portal, its token
 * service and its files, AWS Sign-In and its files, STS, the files of the AWS CLI,
 * and programs. Any response, file or output is credentials without a control character, or
 * an error. The first byte chooses the source, the second one the status of a response. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/stored.h"
#include "core/base/crypto.h"
#include "tests/unit/provider_scene.h"

enum { ATTEMPTS = 8, HEAD = 2, MAX_SOURCES = 13 };

#define REGION "[profile p]\nregion = us-east-1\n"
#define SESSION "arn:aws:sts::123456789012:assumed-role/Admin/me"
#define ROLE "role_arn = arn:aws:iam::123456789012:role/reader\n"
#define SSO                                                                                        \
    REGION "sso_session = corp\nsso_account_id = 123456789012\nsso_role_name = ReadOnly\n"         \
           "[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://c.example/start\n" \
           "sso_registration_scopes = sso:account:access\n"
#define TOKEN(time)                                                                                \
    "{\"accessToken\":\"T\",\"expiresAt\":\"2026-10-14T" time "\",\"refreshToken\":\"R\","         \
    "\"clientId\":\"ID\",\"clientSecret\":\"S\",\"registrationExpiresAt\":\"2026-12-14T00:00:"     \
    "00Z\"}"
#define LOGIN                                                                                      \
    "{\"accessToken\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"S\",\"sessionToken\":\"T\","    \
    "\"accountId\":\"123456789012\",\"expiresAt\":\"2026-10-14T17:47:40Z\"},"                      \
    "\"refreshToken\":\"R\",\"tokenType\":\"aws_sigv4\",\"clientId\":\"same-device\","             \
    "\"dpopKey\":\"-----BEGIN EC PRIVATE KEY-----\\n"                                              \
    "MHcCAQEEILn+2skVZOz5V50LkplHuTlEecIQTgdCijGVsU/6pOmXoAoGCCqGSM49\\n"                          \
    "AwEHoUQDQgAE9VedVjZFkgGIUetCTaGadHBsI1GGXYOm1Rt3U2GouKnKUayELRA3\\n"                          \
    "QQWdz75AeJV7CBS4DzvwrGp3v79pCtGglA==\\n-----END EC PRIVATE KEY-----\\n\"}"

/* Files below .aws; a name with a * has a digest in its place. */
static const char container_token[] = "container-token";
static const char printed[] = "printed";
static const char sso_token[] = "sso/cache/*";
static const char login_session[] = "login/cache/*";
static const char role_cache[] = "cli/cache/*";

struct source {
    provider_new_fn *make;
    const char *config;
    const char *file; /* written before each request; NULL: none */
    const char *text; /* of the file; NULL: it is fuzzed, and so is no response */
    const char *first[2];
    const char *digested; /* by SHA-1, or for Sign-In by SHA-256, for the * */
    bool waits;           /* for a program: no time is skipped */
};

static const struct source sources[MAX_SOURCES] = {
    {.make = credentials_container_new, .config = REGION},
    {.make = credentials_container_new, .config = REGION, .file = container_token},
    {.make = credentials_machine_new, .config = REGION},
    {.make = credentials_machine_new, .config = REGION, .first = {"TOKEN=="}},
    {.make = credentials_machine_new, .config = REGION, .first = {"TOKEN==", "the-role"}},
    {.make = credentials_sso_new,
     .config = SSO,
     .file = sso_token,
     .text = TOKEN("23:00:00Z"),
     .digested = "corp"},
    {.make = credentials_sso_new,
     .config = SSO,
     .file = sso_token,
     .text = TOKEN("17:50:00Z"),
     .digested = "corp"},
    {.make = credentials_sso_new, .config = SSO, .file = sso_token, .digested = "corp"},
    {.make = credentials_login_new,
     .config = REGION "login_session = " SESSION "\n",
     .file = login_session,
     .text = LOGIN,
     .digested = SESSION},
    {.make = credentials_login_new,
     .config = REGION "login_session = " SESSION "\n",
     .file = login_session,
     .digested = SESSION},
    {.make = credentials_role_new,
     .config = REGION ROLE "source_profile = base\n[profile base]\n"
                           "aws_access_key_id = A\naws_secret_access_key = S\n"},
    {.make = credentials_role_new,
     .config = REGION ROLE "source_profile = base\n[profile base]\n"
                           "aws_access_key_id = A\naws_secret_access_key = S\n",
     .file = role_cache,
     .digested = "{\"RoleArn\": \"arn:aws:iam::123456789012:role/reader\"}"},
    {.make = credentials_process_new,
     .config = REGION "credential_process = sh -c 'cat \"$HOME/.aws/printed\"'\n",
     .file = printed,
     .waits = true},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void source_write_file(const struct scene *scene, const struct source *source,
                              struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    uint8_t digest[DIGEST_SIZE];
    bool of_login = source->file == login_session;
    const char *star = strchr(source->file, '*');
    buf_printf(&path, "%s/.aws/%.*s", scene->folder,
               star ? (int)(star - source->file) : (int)strlen(source->file), source->file);
    if (star) {
        struct span name = span_text(source->digested);
        require(of_login ? digest_sha256(name, digest) : digest_sha1(name, digest));
        digest_hex(&path, digest, of_login ? DIGEST_SIZE : DIGEST_SHA1_SIZE);
        buf_add_text(&path, ".json");
    }
    require(stored_write(buf_text(&path), text, NULL));
}

/* What an earlier input has left. */
static void scene_empty_caches(const struct scene *scene)
{
    static const char *const folders[] = {"cli/cache", "sso/cache", "login/cache"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        buf_printf(&path, "%s/.aws/%s", scene->folder, folders[i]);
        DIR *folder = opendir(buf_text(&path));
        for (struct dirent *each; folder && (each = readdir(folder));)
            if (each->d_name[0] != '.')
                require(unlinkat(dirfd(folder), each->d_name, 0) == 0);
        if (folder)
            closedir(folder);
    }
}

/* A provider and a script of its own, so that no failure of an earlier input is remembered. */
static void scene_renew(struct scene *scene, const struct source *source, int status,
                        struct span text)
{
    credentials_provider_destroy(scene->provider);
    script_destroy(scene->script);
    scene->script = script_new(scene->loop);
    scene->context.transport = script_transport(scene->script);
    scene->provider = source->make(&scene->context);
    scene->clock.wall_ms = WALL_MS;
    buf_truncate(&scene->lines, 0);
    setenv("HOME", scene->folder, 1);
    scene_empty_caches(scene);
    bool of_file = source->file && !source->text;
    if (source->file)
        source_write_file(scene, source, of_file ? text : span_text(source->text));
    for (int i = 0; i < 2; i++)
        if (source->first[i])
            script_answer(scene->script, 200, "", source->first[i]);
    for (int i = 0; i < ATTEMPTS; i++)
        script_answer_bytes(scene->script, status, "", of_file ? span_text("{}") : text);
}

static void require_word(const char *text)
{
    for (; *text; text++)
        require((unsigned char)*text > ' ' && *text != 0x7f);
}

static void source_set_environment(const struct source *source)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    static const char *const variables[] = {
        "AWS_EC2_METADATA_DISABLED",         "AWS_EC2_METADATA_SERVICE_ENDPOINT",
        "AWS_LOGIN_CACHE_DIRECTORY",         "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/x", 1);
    if (source->file != container_token)
        return;
    buf_printf(&path, "%s/.aws/%s", getenv("HOME"), container_token);
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", buf_text(&path), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 400, 401, 403, 404, 500, 302, 405};
    static struct scene scenes[MAX_SOURCES];
    if (size < HEAD)
        return 0;
    size_t number = (size_t)(unsigned char)(data[0] - 'a') % MAX_SOURCES;
    const struct source *source = &sources[number];
    struct scene *scene = &scenes[number];
    if (!scene->loop)
        open_scene(scene, source->make, source->config);
    if (source->waits)
        scene->clock.clock.skip_ms = NULL;
    scene_renew(scene, source, statuses[data[1] % 8],
                span_of((const char *)data + HEAD, size - HEAD));
    source_set_environment(source);
    require(scene_begin(scene, scene->provider) && loop_run(scene->loop) && scene->answers == 1);
    if (scene->err.kind != ERROR_NONE) {
        require(scene->err.text[0] && !strpbrk(scene->err.text, "\x1b\r\n"));
    } else if (scene->found == CREDENTIALS_FOUND) {
        require_word(scene->key);
        require_word(scene->secret);
        require_word(scene->token);
        require_word(scene->account);
    }
    return 0;
}
