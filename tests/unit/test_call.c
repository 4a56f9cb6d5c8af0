/* Calls to services that are not DynamoDB, with credentials that take their time. */
#include "core/aws/call.h"

#include <stdlib.h>

#include "core/aws/credentials_cache.h"
#include "core/aws/sigv4.h"
#include "tests/unit/check.h"
#include "tests/unit/script_transport.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000

/* A provider that takes its time, as one does that uses the network. */
struct slow_provider {
    struct credentials_provider base;
    struct scene *scene;
};

struct slow_request {
    struct credentials_request base;
    struct loop_timer *timer;
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct script *script;
    struct credentials_context context;
    struct credentials_provider *provider;
    struct aws_client client;
    struct log log;
    struct aws_call *call;
    bool fails; /* the provider has none */
    int64_t slow_ms;
    int questions;
    int64_t done_ms; /* when the last call ended */
    int sent, attempted, done, bugs;
    unsigned tries;
    char answer[64];
    struct error err;
};

static void slow_end(void *arg)
{
    struct slow_request *request = arg;
    const struct scene *scene = ((struct slow_provider *)request->base.provider)->scene;
    char id[] = "AKID", secret[] = "SECRET", token[] = "TOKEN";
    struct credentials_result result = {.found = CREDENTIALS_FOUND};
    request->timer = NULL;
    if (scene->fails) {
        error_set(&result.err, ERROR_EXPIRED, "sign in");
        credentials_request_fail(&request->base, &result.err);
        return;
    }
    result.credentials = (struct credentials){
        .access_key_id = id, .secret_access_key = secret, .session_token = token};
    credentials_request_report(&request->base, &result);
}

static void slow_begin(struct credentials_request *base)
{
    struct scene *scene = ((struct slow_provider *)base->provider)->scene;
    struct slow_request *request = (struct slow_request *)base;
    request->timer = loop_add_timer(scene->loop, scene->slow_ms, slow_end, request);
    scene->questions++;
}

static void slow_clean_up_request(struct credentials_request *base)
{
    loop_remove_timer(((struct slow_request *)base)->timer);
}

/* Errors in the log are moves between states that must not be. */
static void take_line(void *arg, enum log_level level, const char *line)
{
    struct scene *scene = arg;
    (void)line;
    scene->bugs += level == LOG_LEVEL_ERROR;
}

static void open_scene(struct scene *scene)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct slow_request),
        .begin = slow_begin,
        .clean_up_request = slow_clean_up_request,
    };
    *scene = (struct scene){0};
    scene->log = (struct log){LOG_LEVEL_DEBUG, take_line, scene};
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->script = script_new(scene->loop);
    scene->context.loop = scene->loop;
    scene->provider = credentials_provider_new(sizeof(struct slow_provider), &ops, &scene->context);
    ((struct slow_provider *)scene->provider)->scene = scene;
    scene->client = (struct aws_client){
        .loop = scene->loop,
        .transport = script_transport(scene->script),
        .credentials = credentials_cache_new(scene->provider),
        .log = &scene->log,
        .retry = {.tokens = RETRY_TOKENS, .seed = 1},
    };
}

static void scene_clean_up(struct scene *scene)
{
    aws_call_end(scene->call);
    credentials_provider_destroy(scene->client.credentials);
    script_destroy(scene->script);
    loop_destroy(scene->loop);
}

/* The user's side. An answer of 200 is good as it is; of others the body is the code. */

static void *decode(void *arg, const struct http_response *response, struct error *err)
{
    struct scene *scene = arg;
    if (response->status == 200) {
        snprintf(scene->answer, sizeof scene->answer, "%.*s", (int)response->body.size,
                 response->body.data);
        return scene->answer;
    }
    error_set(err, ERROR_SERVICE, "refused");
    err->http_status = response->status;
    snprintf(err->code, sizeof err->code, "%.*s", (int)response->body.size, response->body.data);
    return NULL;
}

static void sent(void *arg)
{
    ((struct scene *)arg)->sent++;
}

static void attempted(void *arg, const struct aws_attempt *attempt)
{
    struct scene *scene = arg;
    CHECK(!attempt->result == (attempt->err != NULL));
    scene->attempted++;
}

static void done(void *arg, void *result, const struct error *err, unsigned tries)
{
    struct scene *scene = arg;
    CHECK(!result == (err != NULL));
    scene->call = NULL;
    scene->done++;
    scene->done_ms = scene->clock.now_ms;
    scene->tries = tries;
    if (err)
        scene->err = *err;
}

static const struct aws_call_ops ops = {decode, sent, attempted, done};

static const struct aws_header form[] = {
    {"x-amz-user-agent", {"zed", 3}},
    {"Content-Type", {"application/x-www-form-urlencoded", 33}},
};

static struct aws_request request_to_sts(void)
{
    return (struct aws_request){
        .service = "sts",
        .region = "eu-west-1",
        .url = "https://sts.eu-west-1.amazonaws.com/path?a=1&b=2",
        .host = "sts.eu-west-1.amazonaws.com",
        .path = "/path",
        .query = "a=1&b=2",
        .method = "PUT",
        .headers = form,
        .header_count = 2,
        .body = SPAN_LITERAL("Action=AssumeRole"),
        .max_answer = 1000,
    };
}

static void start(struct scene *scene, const struct aws_request *request)
{
    scene->call = aws_call_start(&scene->client, request, scene->clock.now_ms + 10000, &ops, scene);
    CHECK(scene->call && scene->done == 0);
}

static void run(struct scene *scene, const struct aws_request *request)
{
    start(scene, request);
    CHECK(loop_run(scene->loop));
    CHECK_INT(scene->done, 1);
    CHECK_INT(scene->bugs, 0);
}

static void the_first_attempt_leaves_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    script_answer(scene.script, 200, "", "good");
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    CHECK_INT(script_sent_count(scene.script), 1);
    scene.done = 0;
    start(&scene, &request); /* there are credentials now */
    CHECK_INT(script_sent_count(scene.script), 2);
    CHECK_INT(scene.sent, 2);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.done, 1);
    CHECK_INT(scene.bugs, 0);
}

/* The signature, made here once more. */
static void any_service_is_signed_for(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.slow_ms = 500;
    struct aws_request request = request_to_sts();
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    CHECK_TEXT(scene.answer, "good");
    CHECK(scene.sent == 1 && scene.attempted == 1 && scene.tries == 1);
    char date[SIGV4_DATE_SIZE], want[1024];
    sigv4_date(date, WALL_MS + 500);
    struct sigv4_header headers[] = {
        {"content-type", SPAN_LITERAL("application/x-www-form-urlencoded")},
        {"host", SPAN_LITERAL("sts.eu-west-1.amazonaws.com")},
        {"x-amz-date", span_text(date)},
        {"x-amz-security-token", SPAN_LITERAL("TOKEN")},
        {"x-amz-user-agent", SPAN_LITERAL("zed")},
    };
    struct sigv4_request signed_request = {"PUT",   "/path", "a=1&b=2",
                                           headers, 5,       SPAN_LITERAL("Action=AssumeRole")};
    struct sigv4_scope scope = {date, "eu-west-1", "sts"};
    CLEAN_UP(buf_clean_up) struct buf authorization = {0};
    CHECK(sigv4_authorization(&authorization, &signed_request, &scope, "AKID", "SECRET"));
    snprintf(want, sizeof want, "Authorization: %s\n", buf_text(&authorization));
    CHECK_HAS(script_sent(scene.script, 0)->headers, want);
    CHECK_TEXT(script_sent(scene.script, 0)->url, request.url);
}

static void what_needs_no_signature_asks_for_no_credentials(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    request.service = NULL;
    request.method = "GET";
    request.body = span_text("");
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    const char *headers = script_sent(scene.script, 0)->headers;
    CHECK_INT(scene.questions, 0);
    CHECK(!strstr(headers, "Authorization") && !strstr(headers, "X-Amz-Date"));
    CHECK_HAS(headers, "Host: sts.eu-west-1.amazonaws.com\n");
}

static void credentials_that_fail_end_the_call(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.fails = true;
    struct aws_request request = request_to_sts();
    run(&scene, &request);
    CHECK_INT(scene.err.kind, ERROR_EXPIRED);
    CHECK(scene.sent == 0 && scene.tries == 0);
}

static void the_deadline_holds_while_credentials_are_waited_for(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.slow_ms = 60000;
    struct aws_request request = request_to_sts();
    int64_t began_ms = scene.clock.now_ms;
    run(&scene, &request);
    CHECK_INT(scene.err.kind, ERROR_TIMED_OUT);
    CHECK_HAS(scene.err.text, "before the request could be sent");
    CHECK_HAS(scene.err.text, "there were no credentials in time");
    CHECK(!error_is_outage(&scene.err)); /* the service might have said no */
    CHECK_INT(scene.done_ms, began_ms + 10000);
    /* They come all the same, for whoever is next. */
    scene.done = 0;
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    CHECK_TEXT(scene.answer, "good");
    CHECK_INT(scene.questions, 1);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

/* Ended after so long, whatever it waits for then. */
static void check_ended_after(struct scene *scene, int64_t ms)
{
    struct aws_request request = request_to_sts();
    start(scene, &request);
    CHECK(loop_add_timer(scene->loop, ms, stop, scene->loop));
    CHECK(loop_run(scene->loop));
    CHECK_INT(scene->done, 0);
    aws_call_end(scene->call);
    scene->call = NULL;
    CHECK(loop_run(scene->loop));
    CHECK(scene->done == 0 && scene->bugs == 0 && script_pending(scene->script) == 0);
}

static void ended_in_each_of_its_states(void)
{
    CLEAN_UP(scene_clean_up) struct scene identifying, sent_off, due;
    open_scene(&identifying);
    identifying.slow_ms = 1000;
    check_ended_after(&identifying, 500);
    CHECK_INT(identifying.sent, 0);
    open_scene(&sent_off);
    script_answer(sent_off.script, 200, "", "good");
    script_delay(sent_off.script, 1000);
    check_ended_after(&sent_off, 500);
    CHECK_INT(script_cancelled(sent_off.script), 1);
    open_scene(&due);
    script_answer(due.script, 500, "x-amz-retry-after: 1000", "Oops");
    check_ended_after(&due, 500);
    CHECK_INT(due.sent, 1);
}

/* Two calls that were signed with credentials that have expired ask for fresh ones once. */
static void the_refused_are_asked_for_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    struct aws_call *other;
    for (int i = 0; i < 2; i++) {
        script_answer(scene.script, 400, "", "ExpiredToken");
        script_delay(scene.script, 100 + 100 * i);
    }
    script_answer(scene.script, 200, "", "good");
    script_answer(scene.script, 200, "", "good");
    start(&scene, &request);
    other = aws_call_start(&scene.client, &request, scene.clock.now_ms + 10000, &ops, &scene);
    CHECK(other && loop_run(scene.loop));
    CHECK(scene.done == 2 && scene.err.kind == ERROR_NONE && scene.sent == 4);
    CHECK_INT(scene.questions, 2);
    CHECK_INT(scene.bugs, 0);
}

/* Thousands of reads with a session that is no good do not ask for another one each. */
static void fresh_ones_that_are_refused_too_are_not_asked_for_anew_at_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    for (int i = 0; i < 5; i++)
        script_answer(scene.script, 400, "", "ExpiredToken");
    for (int i = 0; i < 4; i++) {
        scene.done = 0;
        run(&scene, &request);
        CHECK_TEXT(scene.err.code, "ExpiredToken");
    }
    CHECK(scene.questions == 2 && scene.sent == 5);
    virtual_clock_pass(&scene.clock, CREDENTIALS_REFUSED_MS);
    script_answer(scene.script, 400, "", "ExpiredToken");
    script_answer(scene.script, 200, "", "good");
    scene.done = 0;
    run(&scene, &request);
    CHECK_TEXT(scene.answer, "good");
    CHECK_INT(scene.questions, 3);
}

/* A Date header of a service whose clock is AHEAD_S ahead. Borrowed until the next call. */
static const char *date_ahead(int64_t ahead_s)
{
    static char header[64];
    time_t seconds = WALL_MS / 1000 + ahead_s;
    struct tm tm;
    strftime(header, sizeof header, "Date: %a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &tm));
    return header;
}

/* The signature of the second request has the time of the service only if the clock is corrected.
 */
static void check_clock(const char *code, int64_t ahead_s, bool doubted, bool corrected)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    char date[SIGV4_DATE_SIZE];
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    script_answer(scene.script, 400, date_ahead(ahead_s), code);
    if (doubted)
        script_doubt(scene.script);
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    CHECK_INT(scene.client.skew_ms, corrected ? ahead_s * 1000 : 0);
    if (!corrected)
        return;
    CHECK(scene.sent == 2 && scene.questions == 1);
    sigv4_date(date, WALL_MS + ahead_s * 1000);
    CHECK_HAS(script_sent(scene.script, 1)->headers, date);
}

static void codes_that_mean_a_wrong_clock(void)
{
    static const char *const codes[] = {
        "InvalidSignatureException", "RequestTimeTooSkewed", "SignatureDoesNotMatch",
        "RequestInTheFuture",        "RequestExpired",       "AuthFailure"};
    static const char *const others[] = {"AccessDenied",        "AccessDeniedException",
                                         "ExpiredToken",        "UnrecognizedClientException",
                                         "IncompleteSignature", "ThrottlingException"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        check_clock(codes[i], 3600, false, true);
        check_clock(codes[i], -3600, false, true);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        check_clock(others[i], 3600, false, false);
}

static void a_date_of_a_party_on_the_way_corrects_no_clock(void)
{
    check_clock("RequestTimeTooSkewed", 3600, true, false);
}

static void check_hopeless(int64_t ahead_s, const char *text)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    script_answer(scene.script, 400, date_ahead(ahead_s), "InvalidSignatureException");
    run(&scene, &request);
    CHECK(scene.sent == 1 && scene.client.skew_ms == 0);
    CHECK_INT(scene.err.kind, ERROR_DENIED);
    CHECK_TEXT(scene.err.code, "InvalidSignatureException");
    CHECK_HAS(scene.err.text, text);
    CHECK_HAS(scene.err.text, "; set this machine's clock");
}

static void a_clock_is_corrected_by_a_day_at_most(void)
{
    check_clock("RequestTimeTooSkewed", 86400, false, true);
    check_clock("RequestTimeTooSkewed", -86400, false, true);
    check_hopeless(86401, "this machine's clock is 1.0 days behind the service's");
    check_hopeless(-7 * 86400, "this machine's clock is 7.0 days ahead of the service's");
}

/* The second refusal finds the time that the first one has corrected. */
static void two_calls_with_a_wrong_clock_are_both_repeated(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    for (int i = 0; i < 2; i++) {
        script_answer(scene.script, 400, date_ahead(3600), "InvalidSignatureException");
        script_delay(scene.script, 100 + 100 * i);
    }
    script_answer(scene.script, 200, "", "good");
    script_answer(scene.script, 200, "", "good");
    start(&scene, &request);
    struct aws_call *other =
        aws_call_start(&scene.client, &request, scene.clock.now_ms + 10000, &ops, &scene);
    CHECK(other && loop_run(scene.loop));
    CHECK(scene.done == 2 && scene.err.kind == ERROR_NONE && scene.sent == 4);
    CHECK_INT(scene.questions, 1); /* other credentials would not help */
    CHECK_INT(scene.bugs, 0);
}

/* Whatever it meets, in whatever order: expired credentials, a wrong clock, failures. */
static void all_that_is_sent_is_counted(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    script_answer(scene.script, 400, "", "ExpiredToken");
    script_answer(scene.script, 400, date_ahead(3600), "RequestTimeTooSkewed");
    for (int i = 0; i < 9; i++)
        script_answer(scene.script, 500, "", "Oops");
    run(&scene, &request);
    CHECK(scene.tries == RETRY_ATTEMPTS && scene.sent == RETRY_ATTEMPTS);
    CHECK_INT(scene.err.http_status, 500);
}

/* With one try there is none to spare; what it has taught holds for the next call. */
static void what_one_try_has_shown_helps_the_next(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct aws_request request = request_to_sts();
    struct retry once = {.tokens = RETRY_TOKENS, .attempts = 1};
    request.retry = &once;
    script_answer(scene.script, 400, date_ahead(3600), "RequestTimeTooSkewed");
    script_answer(scene.script, 400, "", "ExpiredToken");
    script_answer(scene.script, 200, "", "good");
    run(&scene, &request);
    CHECK(scene.sent == 1 && scene.client.skew_ms != 0);
    scene.done = 0;
    run(&scene, &request);
    CHECK(scene.sent == 2 && scene.questions == 1);
    scene.done = 0;
    run(&scene, &request);
    CHECK(scene.sent == 3 && scene.questions == 2);
    CHECK_TEXT(scene.answer, "good");
}

static void nothing_to_end(void)
{
    aws_call_end(NULL);
}

static const struct check_test tests[] = {
    {"codes that mean a wrong clock", codes_that_mean_a_wrong_clock},
    {"a date of a party on the way corrects no clock",
     a_date_of_a_party_on_the_way_corrects_no_clock},
    {"two calls with a wrong clock are both repeated",
     two_calls_with_a_wrong_clock_are_both_repeated},
    {"a clock is corrected by a day at most", a_clock_is_corrected_by_a_day_at_most},
    {"the first attempt leaves at once", the_first_attempt_leaves_at_once},
    {"any service is signed for", any_service_is_signed_for},
    {"what needs no signature asks for no credentials",
     what_needs_no_signature_asks_for_no_credentials},
    {"credentials that fail end the call", credentials_that_fail_end_the_call},
    {"the deadline holds while credentials are waited for",
     the_deadline_holds_while_credentials_are_waited_for},
    {"ended in each of its states", ended_in_each_of_its_states},
    {"the refused are asked for once", the_refused_are_asked_for_once},
    {"fresh ones that are refused too are not asked for anew at once",
     fresh_ones_that_are_refused_too_are_not_asked_for_anew_at_once},
    {"all that is sent is counted", all_that_is_sent_is_counted},
    {"what one try has shown helps the next", what_one_try_has_shown_helps_the_next},
    {"nothing to end", nothing_to_end},
};
CHECK_MAIN(tests)
