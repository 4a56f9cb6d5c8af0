/* Parts of objects of S3: the requests, and what is made of each response. */
#include "core/aws/s3_object.h"

#include "core/aws/credentials_providers.h"
#include "tests/unit/check.h"
#include "tests/unit/provider_scene.h"

#define KEYS "aws_access_key_id = AKID\naws_secret_access_key = SECRET\n"

struct bucket_scene {
    struct scene scene;
    struct aws_session *session;
    struct s3_client *client;
    int calls;
    char bytes[64], version[64];
    uint64_t size;
    struct error err;
};

static void open_bucket(struct bucket_scene *in, const char *config)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    *in = (struct bucket_scene){0};
    buf_printf(&text, "[profile p]\n%s%s", KEYS, config);
    open_scene(&in->scene, credentials_config_file_new, buf_text(&text));
    struct aws_session_parts parts = {.loop = in->scene.loop,
                                      .transport = script_transport(in->scene.script),
                                      .log = &in->scene.log};
    in->session = aws_session_new(&in->scene.settings, &parts);
    in->client = s3_client_new(in->session, 60 * 1000);
}

static void bucket_scene_clean_up(struct bucket_scene *in)
{
    s3_client_destroy(in->client);
    aws_session_destroy(in->session);
    scene_clean_up(&in->scene);
}

static void hear_part(void *arg, const struct s3_part *part, const struct error *err)
{
    struct bucket_scene *in = arg;
    in->calls++;
    CHECK((part == NULL) != (err == NULL));
    in->err = err ? *err : (struct error){0};
    in->size = part ? part->size : 0;
    snprintf(in->bytes, sizeof in->bytes, "%.*s", part ? (int)part->bytes.size : 0,
             part ? part->bytes.data : "");
    snprintf(in->version, sizeof in->version, "%s", part ? part->version : "");
    loop_stop(in->scene.loop);
}

static void read_part(struct bucket_scene *in, const char *bucket, const char *key, uint64_t from,
                      const char *version)
{
    in->calls = 0;
    CHECK(s3_part_read(in->client, bucket, key, from, version, hear_part, in));
    CHECK_INT(in->calls, 0);
    CHECK(loop_run(in->scene.loop));
    CHECK_INT(in->calls, 1);
    CHECK(!strstr(buf_text(&in->scene.lines), "SECRET"));
}

static void parts_are_requested_by_range_and_version(void)
{
    CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
    open_bucket(&in, "region = eu-west-1\n");
    script_answer(in.scene.script, 206, "Content-Range: bytes 0-4/5\nETag: \"e1\"", "hello");
    read_part(&in, "my-bucket", "a b/c+d/x.json.gz", 0, NULL);
    CHECK_TEXT(in.bytes, "hello");
    CHECK_TEXT(in.version, "\"e1\"");
    CHECK_INT(in.size, 5);
    const struct script_sent *sent = script_sent(in.scene.script, 0);
    CHECK_TEXT(sent->method, "GET");
    CHECK_TEXT(sent->url, "https://my-bucket.s3.eu-west-1.amazonaws.com/a%20b/c%2Bd/x.json.gz");
    CHECK_HAS(sent->headers, "Range: bytes=0-4194303\n");
    CHECK_HAS(sent->headers,
              "X-Amz-Content-Sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c"
              "a495991b7852b855\n");
    CHECK_HAS(sent->headers, "/eu-west-1/s3/aws4_request, SignedHeaders=host;range;"
                             "x-amz-content-sha256;x-amz-date, Signature=");
    CHECK(!strstr(sent->headers, "If-Match"));
    script_answer(in.scene.script, 206, "Content-Range: bytes 5-6/7\nETag: \"e1\"", "!!");
    read_part(&in, "my-bucket", "k", 5, "\"e1\"");
    CHECK_TEXT(in.bytes, "!!");
    CHECK_HAS(script_sent(in.scene.script, 1)->headers, "If-Match: \"e1\"\n");
    CHECK_HAS(script_sent(in.scene.script, 1)->headers, "Range: bytes=5-4194308\n");
}

static void hosts_follow_the_settings(void)
{
    static const struct {
        const char *config, *bucket, *url;
    } rows[] = {
        {"region = eu-west-1\n", "with.dots", "https://s3.eu-west-1.amazonaws.com/with.dots/k"},
        {"region = eu-west-1\n", "Old_Name", "https://s3.eu-west-1.amazonaws.com/Old_Name/k"},
        {"region = cn-north-1\n", "bucket", "https://bucket.s3.cn-north-1.amazonaws.com.cn/k"},
        {"region = us-east-1\nuse_fips_endpoint = true\n", "bucket",
         "https://bucket.s3-fips.us-east-1.amazonaws.com/k"},
        {"region = us-east-1\nuse_dualstack_endpoint = true\n", "bucket",
         "https://bucket.s3.dualstack.us-east-1.amazonaws.com/k"},
        {"region = us-east-1\nendpoint_url = http://127.0.0.1:9000/s3\n", "bucket",
         "http://127.0.0.1:9000/s3/bucket/k"},
        {"region = us-east-1\nservices = s\n[services s]\ns3 =\n  endpoint_url = http://h:1\n",
         "bucket", "http://h:1/bucket/k"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
        open_bucket(&in, rows[i].config);
        script_answer(in.scene.script, 206, "Content-Range: bytes 0-0/1", "x");
        read_part(&in, rows[i].bucket, "k", 0, NULL);
        CHECK_TEXT(script_sent(in.scene.script, 0)->url, rows[i].url);
        CHECK_TEXT(in.bytes, "x");
    }
}

static void a_bucket_of_another_region_is_followed_once(void)
{
    CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
    open_bucket(&in, "region = eu-west-1\n");
    script_answer(in.scene.script, 301, "x-amz-bucket-region: us-west-2",
                  "<Error><Code>PermanentRedirect</Code></Error>");
    script_answer(in.scene.script, 206, "Content-Range: bytes 0-0/1", "x");
    read_part(&in, "bucket", "k", 0, NULL);
    CHECK_TEXT(in.bytes, "x");
    CHECK_TEXT(script_sent(in.scene.script, 1)->url, "https://bucket.s3.us-west-2.amazonaws.com/k");
    CHECK_HAS(script_sent(in.scene.script, 1)->headers, "/us-west-2/s3/aws4_request");
    script_answer(in.scene.script, 206, "Content-Range: bytes 1-1/2", "y");
    read_part(&in, "bucket", "k", 1, NULL);
    CHECK_HAS(script_sent(in.scene.script, 2)->url, "us-west-2");
    for (int i = 0; i < 2; i++)
        script_answer(in.scene.script, 301,
                      i ? "x-amz-bucket-region: us-east-2" : "x-amz-bucket-region: us-east-1", "");
    read_part(&in, "bucket", "k", 0, NULL);
    CHECK_INT(in.err.kind, ERROR_BAD_ANSWER);
    CHECK_INT(script_sent_count(in.scene.script), 5);
}

static void an_empty_object_has_no_part(void)
{
    CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
    open_bucket(&in, "region = eu-west-1\n");
    script_answer(in.scene.script, 416, "Content-Range: bytes */0",
                  "<Error><Code>InvalidRange</Code></Error>");
    read_part(&in, "bucket", "k", 0, NULL);
    CHECK_INT(in.err.kind, ERROR_NONE);
    CHECK_INT(in.size, 0);
    CHECK_TEXT(in.bytes, "");
}

static void refusals_have_their_reasons(void)
{
    static const struct {
        int status;
        const char *headers, *body;
        enum error_kind kind;
        const char *text;
    } rows[] = {
        {404, "x-amz-request-id: R1",
         "<Error><Code>NoSuchKey</Code><Message>The specified key does not "
         "exist.</Message></Error>",
         ERROR_NOT_FOUND, "s3://bucket/k was not found: The specified key does not exist"},
        {403, "", "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
         ERROR_DENIED, "s3:GetObject on arn:aws:s3:::bucket/k"},
        {412, "", "<Error><Code>PreconditionFailed</Code></Error>", ERROR_BAD_ANSWER,
         "changed while it was read"},
        {200, "", "x", ERROR_BAD_ANSWER, "is not the requested part"},
        {206, "Content-Range: bytes 1-1/2", "x", ERROR_BAD_ANSWER, "is not the requested part"},
        {206, "Content-Range: bytes 0-0/2", "x", ERROR_BAD_ANSWER, "is not the requested part"},
        {206, "Content-Range: bytes 0-1/2", "x", ERROR_BAD_ANSWER, "is not the requested part"},
        {400, "", "<html>", ERROR_BAD_ANSWER, "check the bucket and the endpoint"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
        open_bucket(&in, "region = eu-west-1\n");
        script_answer(in.scene.script, rows[i].status, rows[i].headers, rows[i].body);
        script_answer(in.scene.script, rows[i].status, rows[i].headers, rows[i].body);
        read_part(&in, "bucket", "k", 0, NULL);
        CHECK_INT(in.err.kind, rows[i].kind);
        CHECK_HAS(in.err.text, rows[i].text);
        CHECK_INT(in.err.http_status, rows[i].status);
    }
}

static void a_failing_service_is_requested_again(void)
{
    CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
    open_bucket(&in, "region = eu-west-1\n");
    script_answer(in.scene.script, 503, "", "<Error><Code>SlowDown</Code></Error>");
    script_fail(in.scene.script, ERROR_RESET);
    script_answer(in.scene.script, 206, "Content-Range: bytes 0-0/1", "x");
    read_part(&in, "bucket", "k", 0, NULL);
    CHECK_TEXT(in.bytes, "x");
    CHECK_INT(script_sent_count(in.scene.script), 3);
}

static void a_call_can_be_ended(void)
{
    CLEAN_UP(bucket_scene_clean_up) struct bucket_scene in;
    open_bucket(&in, "region = eu-west-1\n");
    script_answer(in.scene.script, 206, "Content-Range: bytes 0-0/1", "x");
    s3_call_end(s3_part_read(in.client, "bucket", "k", 0, NULL, hear_part, &in));
    s3_call_end(NULL);
    run_for(&in.scene, 1000);
    CHECK_INT(in.calls, 0);
}

static const struct check_test tests[] = {
    {"parts are requested by range and version", parts_are_requested_by_range_and_version},
    {"hosts follow the settings", hosts_follow_the_settings},
    {"a bucket of another region is followed once", a_bucket_of_another_region_is_followed_once},
    {"an empty object has no part", an_empty_object_has_no_part},
    {"refusals have their reasons", refusals_have_their_reasons},
    {"a failing service is requested again", a_failing_service_is_requested_again},
    {"a call can be ended", a_call_can_be_ended},
};
CHECK_MAIN(tests)
