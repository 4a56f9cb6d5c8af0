/* Signatures, stage by stage, against vectors made with the service's own tools. */
#include "core/aws/sigv4.h"

#include <stdlib.h>

#include "core/json/json.h"
#include "tests/unit/check.h"

enum { VECTOR_COUNT = 24 };

/* The fields of a vector, in the order of `names`. */
enum field {
    ACCESS_KEY_ID,
    SECRET_ACCESS_KEY,
    SESSION_TOKEN,
    REGION,
    SERVICE,
    HOST,
    AMZ_DATE,
    TARGET,
    BODY,
    CANONICAL_REQUEST,
    STRING_TO_SIGN,
    AUTHORIZATION,
    FIELDS,
};

static const char *const names[FIELDS] = {
    "access_key_id",  "secret_access_key", "session_token", "region", "service",
    "host",           "amz_date",          "target",        "body",   "canonical_request",
    "string_to_sign", "authorization",
};

struct vector {
    struct buf fields[FIELDS];
    struct sigv4_header headers[5];
    struct sigv4_request request;
    struct sigv4_scope scope;
};

static void vector_clean_up(struct vector *vector)
{
    for (size_t i = 0; i < FIELDS; i++)
        buf_clean_up(&vector->fields[i]);
}

static const char *field(const struct vector *vector, enum field which)
{
    return buf_text(&vector->fields[which]);
}

static void add_header(struct vector *vector, const char *name, const char *value)
{
    vector->headers[vector->request.header_count++] = (struct sigv4_header){name, span_text(value)};
}

static void build_request(struct vector *vector)
{
    vector->request = (struct sigv4_request){
        .method = "POST",
        .path = "/",
        .query = "",
        .headers = vector->headers,
        .body = buf_span(&vector->fields[BODY]),
    };
    add_header(vector, "content-type", "application/x-amz-json-1.0");
    add_header(vector, "host", field(vector, HOST));
    add_header(vector, "x-amz-date", field(vector, AMZ_DATE));
    if (*field(vector, SESSION_TOKEN))
        add_header(vector, "x-amz-security-token", field(vector, SESSION_TOKEN));
    add_header(vector, "x-amz-target", field(vector, TARGET));
}

static void read_vector(struct vector *vector, struct json object)
{
    for (size_t i = 0; i < FIELDS; i++) {
        struct json value = json_member(object, names[i]);
        CHECK(json_present(value));
        if (!json_is(value, JSON_NULL))
            CHECK(json_read_string(value, &vector->fields[i]));
    }
    build_request(vector);
    vector->scope = (struct sigv4_scope){
        .amz_date = field(vector, AMZ_DATE),
        .region = field(vector, REGION),
        .service = field(vector, SERVICE),
    };
}

static void read_whole(const char *name, struct buf *out)
{
    const char *data = getenv("DDBFS_TEST_DATA");
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/%s", data ? data : "tests", name);
    FILE *file = fopen(buf_text(&path), "r");
    if (!file)
        CHECK_FAIL("cannot open %s", buf_text(&path));
    char chunk[4096];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_add(out, chunk, got);
    fclose(file);
}

static void each_vector(void (*check)(struct vector *vector))
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    read_whole("vectors/sigv4-dynamodb.json", &text);
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    struct json array = json_root(&doc);
    CHECK_INT(json_count(array), VECTOR_COUNT);
    for (struct json one = json_first(array); json_present(one); one = json_next(one)) {
        CLEAN_UP(vector_clean_up) struct vector vector = {0};
        read_vector(&vector, one);
        check(&vector);
    }
}

static void check_canonical_request(struct vector *vector)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    sigv4_canonical_request(&out, &vector->request);
    CHECK_TEXT(buf_text(&out), field(vector, CANONICAL_REQUEST));
}

static void check_string_to_sign(struct vector *vector)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    sigv4_string_to_sign(&out, &vector->scope, buf_span(&vector->fields[CANONICAL_REQUEST]));
    CHECK_TEXT(buf_text(&out), field(vector, STRING_TO_SIGN));
}

static void check_authorization(struct vector *vector)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(sigv4_authorization(&out, &vector->request, &vector->scope, field(vector, ACCESS_KEY_ID),
                              field(vector, SECRET_ACCESS_KEY)));
    CHECK_TEXT(buf_text(&out), field(vector, AUTHORIZATION));
}

static void canonical_requests(void)
{
    each_vector(check_canonical_request);
}

static void strings_to_sign(void)
{
    each_vector(check_string_to_sign);
}

static void authorizations(void)
{
    each_vector(check_authorization);
}

static void header_values_are_trimmed_and_squeezed(void)
{
    const struct sigv4_header headers[] = {
        {"a", SPAN_LITERAL("  one \t two  ")},
        {"b", SPAN_LITERAL("   ")},
    };
    struct sigv4_request request = {"GET", "/p", "q=1", headers, 2, span_text("")};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    sigv4_canonical_request(&out, &request);
    CHECK(span_starts(buf_span(&out), SPAN_LITERAL("GET\n/p\nq=1\na:one two\nb:\n\na;b\n")));
}

static void check_date(int64_t wall_ms, const char *want)
{
    char date[SIGV4_DATE_SIZE];
    sigv4_date(date, wall_ms);
    CHECK_TEXT(date, want);
}

static void dates(void)
{
    check_date(0, "19700101T000000Z");
    check_date(1709210096999, "20240229T123456Z");
    check_date(INT64_MAX, "");
}

static const struct check_test tests[] = {
    {"canonical requests", canonical_requests},
    {"strings to sign", strings_to_sign},
    {"authorizations", authorizations},
    {"header values are trimmed and squeezed", header_values_are_trimmed_and_squeezed},
    {"dates", dates},
};
CHECK_MAIN(tests)
