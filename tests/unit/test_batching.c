/* Questions that leave together, over a source made of texts and a virtual clock. */
#include "core/source/batching.h"

#include <stdlib.h>

#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/virtual_clock.h"

enum { MOST = 128, FEW = 4, MANY = 16 };

static const struct fake_item items[] = {
    {"T", NULL, "{\"pk\":{\"S\":\"k0\"},\"n\":{\"N\":\"0\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"k1\"},\"n\":{\"N\":\"1\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"k2\"},\"n\":{\"N\":\"2\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"k3\"},\"n\":{\"N\":\"3\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"k4\"},\"n\":{\"N\":\"4\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"k5\"},\"n\":{\"N\":\"5\"}}"},
    {NULL, NULL, NULL},
};

struct scene;

struct asker {
    struct scene *scene;
    struct read *read;
    struct source_call *call;
    int told;
    size_t items;
    char item[80];
    double capacity;
    unsigned requests;
    uint64_t throttled;
    struct error err;
    struct asker *ends; /* whose call this one ends when it is told */
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_source fake;
    struct source *source;
    struct log log;
    char logged[2048];
    struct asker askers[MOST];
    struct counting_payer payers[2]; /* of even and of odd askers */
};

static void take_line(void *arg, enum log_level level, const char *line)
{
    struct scene *scene = arg;
    size_t used = strlen(scene->logged);
    snprintf(scene->logged + used, sizeof scene->logged - used, "%d %s\n", (int)level, line);
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.log = {LOG_LEVEL_INFO, take_line, scene}};
    virtual_clock_init(&scene->clock, 1792000000000);
    scene->loop = loop_new(&scene->clock.clock);
    fake_source_init(&scene->fake, scene->loop, items);
    scene->fake.delay_ms = 5;
    counting_payer_init(&scene->payers[0]);
    counting_payer_init(&scene->payers[1]);
    struct batching_options options = {.source = &scene->fake.source,
                                       .loop = scene->loop,
                                       .log = &scene->log,
                                       .deadline_ms = 1000};
    scene->source = batching_new(&options);
    CHECK(scene->source);
}

static void end(struct asker *asker)
{
    if (asker->call)
        source_end(asker->call);
    asker->call = NULL;
    read_destroy(asker->read);
    asker->read = NULL;
}

static void close_scene(struct scene *scene)
{
    for (int i = 0; i < MOST; i++)
        end(&scene->askers[i]);
    source_destroy(scene->source);
    CHECK_INT(scene->fake.ended, scene->fake.started);
    loop_destroy(scene->loop);
    counting_payer_clean_up(&scene->payers[0]);
    counting_payer_clean_up(&scene->payers[1]);
}

static void take(void *arg, const struct page *page, const struct error *err)
{
    struct asker *asker = arg;
    asker->told++;
    if (err) {
        asker->err = *err;
    } else {
        asker->items = page->item_count;
        asker->capacity = page->capacity;
        asker->requests = page->requests;
        if (asker->ends)
            end(asker->ends); /* it may be its own call, whose page stays */
        asker->ends = NULL;
        throttles_at(page->throttled, 0, &asker->throttled);
        CHECK(!page->more);
        if (page->item_count) {
            struct span raw = json_raw(page->items[0]);
            snprintf(asker->item, sizeof asker->item, "%.*s", (int)raw.size, raw.data);
        }
    }
    if (asker->ends)
        end(asker->ends);
}

/* Asks for the record of PK; WANTED is the one attribute of it that is wanted, NULL for all. */
static struct asker *ask(struct scene *scene, int number, const char *pk, const char *wanted,
                         bool consistent)
{
    struct asker *asker = &scene->askers[number];
    struct key key = {.count = 1};
    key.attributes[0].name = SPAN_LITERAL("pk");
    key.attributes[0].value = (struct value){.type = VALUE_S, .bytes = span_text(pk)};
    asker->scene = scene;
    asker->read = read_new(READ_ITEMS, "T", NULL);
    read_add_key(asker->read, &key);
    if (wanted) {
        read_add_attribute(asker->read, span_text(wanted));
        read_add_attribute(asker->read, SPAN_LITERAL("pk"));
    }
    asker->read->consistent = consistent;
    read_set_pattern(asker->read, "jobs", pk);
    asker->call =
        source_start(scene->source, asker->read, &scene->payers[number % 2].payer, take, asker);
    CHECK(asker->call);
    return asker;
}

static void ask_some(struct scene *scene, int from, int count)
{
    char pk[16];
    for (int i = from; i < from + count; i++) {
        snprintf(pk, sizeof pk, "k%d", i);
        ask(scene, i, pk, NULL, false);
    }
}

static void check_told(struct scene *scene, int from, int count)
{
    char want[80];
    for (int i = from; i < from + count; i++) {
        struct asker *asker = &scene->askers[i];
        CHECK_INT(asker->told, 1);
        CHECK_INT(asker->err.kind, ERROR_NONE);
        CHECK_INT(asker->items, i < 6);
        snprintf(want, sizeof want, "{\"pk\":{\"S\":\"k%d\"},\"n\":{\"N\":\"%d\"}}", i, i);
        CHECK_TEXT(asker->item, i < 6 ? want : "");
    }
}

/* Lets the loop run for so long. */
static void stop(void *arg)
{
    loop_stop(arg);
}

static void pass(struct scene *scene, int64_t ms)
{
    CHECK(loop_add_timer(scene->loop, ms, stop, scene->loop));
    loop_run(scene->loop);
}

/* Asks so many one round after the other, so that none comes along with another. */
static void ask_in_turn(struct scene *scene, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        ask_some(scene, i, 1);
        pass(scene, 0);
        pass(scene, 0);
    }
}

static void a_lone_question_is_passed_on(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_some(&scene, 0, 1);
    pass(&scene, 0);
    CHECK_INT(scene.fake.started, 1);
    loop_run(scene.loop);
    check_told(&scene, 0, 1);
    CHECK_INT(scene.fake.keys, 1);
    CHECK(scene.askers[0].capacity == 0.5);
    close_scene(&scene);
}

static void what_is_asked_in_one_round_leaves_together(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_some(&scene, 0, 8); /* two of them are not there */
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 1);
    CHECK_INT(scene.fake.keys, 8);
    check_told(&scene, 0, 8);
    close_scene(&scene);
}

static void capacity_is_shared_alike_and_requests_are_told_once(void)
{
    struct scene scene;
    open_scene(&scene);
    double units = 0;
    unsigned requests = 0;
    ask_some(&scene, 0, 8);
    loop_run(scene.loop);
    for (int i = 0; i < 8; i++) {
        units += scene.askers[i].capacity;
        requests += scene.askers[i].requests;
        CHECK(scene.askers[i].capacity == 0.5 / 8);
    }
    CHECK(units == 0.5);
    CHECK_INT(requests, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(scene.payers[i].units == 0.25);
        CHECK_INT(scene.payers[i].requests, i == 0);
        CHECK_INT(scene.payers[i].answered, 4);
    }
    CHECK_HAS(buf_text(&scene.payers[0].lines), "T/ jobs/k0 answered\n");
    CHECK_HAS(buf_text(&scene.payers[0].lines), "T/ jobs/k6 answered\n");
    close_scene(&scene);
}

/* All bear a part of what is expected. Who can't is refused alone, and the others have theirs. */
static void who_can_not_pay_his_part_is_refused_alone(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.payers[1].most = 0.2;
    ask_some(&scene, 0, 6);
    loop_run(scene.loop);
    for (int i = 0; i < 6; i++)
        CHECK_INT(scene.askers[i].err.kind, i % 2 ? ERROR_SPENT : ERROR_NONE);
    check_told(&scene, 0, 1);
    check_told(&scene, 2, 1);
    check_told(&scene, 4, 1);
    CHECK(scene.payers[0].units == 1.5 && scene.payers[1].units == 0);
    CHECK_INT(scene.payers[1].requests, 0);
    close_scene(&scene);
}

/* Its request is under way still, and may read all that was set aside for it. */
static void who_leaves_a_batch_has_his_part_back_with_the_response(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_some(&scene, 0, 4);
    pass(&scene, 0);
    pass(&scene, 0);
    CHECK(scene.payers[1].set_aside == 0.25);
    end(&scene.askers[1]);
    end(&scene.askers[3]);
    CHECK(scene.payers[1].set_aside == 0.25 && scene.payers[0].set_aside == 0.25);
    loop_run(scene.loop);
    CHECK(scene.payers[0].units == 0.5);
    CHECK(scene.payers[0].set_aside == 0 && scene.payers[1].set_aside == 0);
    close_scene(&scene);
}

static void a_hundred_and_one_take_two_requests(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_some(&scene, 0, 101);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 2);
    CHECK_INT(scene.fake.keys, 101);
    check_told(&scene, 0, 101);
    close_scene(&scene);
}

static void who_finds_few_under_way_does_not_wait(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.delay_ms = 500;
    ask_in_turn(&scene, 0, FEW);
    CHECK_INT(scene.fake.started, FEW);
    ask_in_turn(&scene, FEW, 1);
    CHECK_INT(scene.fake.started, FEW);
    loop_run(scene.loop);
    check_told(&scene, 0, FEW + 1);
    close_scene(&scene);
}

static void who_waits_leaves_together_when_one_returns(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_in_turn(&scene, 0, 20);
    CHECK_INT(scene.fake.started, FEW);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, FEW + 1);
    CHECK_INT(scene.fake.keys, 20);
    check_told(&scene, 0, 20);
    close_scene(&scene);
}

static void nobody_waits_long_before_there_are_many(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.delay_ms = 500;
    for (int i = 0; i < 18; i++) {
        ask_in_turn(&scene, i, 1);
        pass(&scene, 11);
        CHECK_INT(scene.fake.started, i < MANY ? i + 1 : MANY);
    }
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, MANY + 1);
    check_told(&scene, 0, 18);
    close_scene(&scene);
}

static void other_questions_do_not_come_along(void)
{
    struct scene scene;
    open_scene(&scene);
    ask(&scene, 0, "k0", NULL, false);
    ask(&scene, 1, "k1", NULL, true);
    ask(&scene, 2, "k2", "n", false);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(scene.askers[i].items, 1);
    close_scene(&scene);
}

static void two_may_ask_for_the_same(void)
{
    struct scene scene;
    open_scene(&scene);
    ask(&scene, 0, "k1", NULL, false);
    ask(&scene, 1, "k1", NULL, false);
    ask(&scene, 2, "k9", NULL, false);
    ask(&scene, 3, "k9", NULL, false);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 1);
    CHECK_INT(scene.fake.keys, 2);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(scene.askers[i].told, 1);
        CHECK_INT(scene.askers[i].items, i < 2);
    }
    close_scene(&scene);
}

/* Of eight two have no record. A page brings two records: who is answered by it is told, and of the
 * others the first goes on alone before the rest. */
static void what_is_served_in_part_is_told_at_once(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 2;
    double units = 0;
    ask_some(&scene, 0, 8);
    pass(&scene, 7);
    for (int i = 0; i < 8; i++)
        CHECK_INT(scene.askers[i].told, i < 2 || i >= 6);
    CHECK_INT(scene.fake.keys, 8 + 1);
    pass(&scene, 5);
    CHECK_INT(scene.askers[2].told, 1);
    CHECK_INT(scene.fake.keys, 8 + 1 + 3);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 4);
    check_told(&scene, 0, 8);
    for (int i = 0; i < 8; i++)
        units += scene.askers[i].capacity;
    CHECK(units > 0.5 * scene.fake.pages - 1e-9 && units < 0.5 * scene.fake.pages + 1e-9);
    close_scene(&scene);
}

/* Keys that a page has left over were throttled in the earlier round, too. */
static void each_item_has_the_throttled_requests_before_it(void)
{
    struct scene scene;
    struct throttle hot;
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = NULL;
    throttle_init(&hot, span_text("Hot"), span_text(""));
    throttles_add(&throttled, &hot, 1);
    open_scene(&scene);
    scene.fake.page_size = 2;
    scene.fake.throttled = throttled;
    ask_some(&scene, 0, 8);
    scene.askers[3].ends = &scene.askers[3];
    loop_run(scene.loop);
    CHECK_INT(scene.askers[0].throttled, 1);
    CHECK_INT(scene.askers[1].throttled, 1);
    CHECK_INT(scene.askers[2].throttled, 2); /* it was left over, and sent apart */
    CHECK_INT(scene.askers[3].throttled, 2);
    CHECK_INT(scene.askers[7].throttled, 1);
    close_scene(&scene);
}

static void what_is_left_has_a_deadline(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 2;
    ask_some(&scene, 0, 6);
    pass(&scene, 7);
    scene.fake.delay_ms = 5000;
    ask_in_turn(&scene, 6, 1);
    pass(&scene, 5);
    pass(&scene, 1010);
    for (int i = 3; i < 7; i++)
        CHECK_INT(scene.askers[i].err.kind, ERROR_TIMED_OUT);
    close_scene(&scene);
}

static void who_leaves_does_not_disturb_the_others(void)
{
    struct scene scene;
    open_scene(&scene);
    ask_some(&scene, 0, 8);
    end(&scene.askers[2]); /* before it was asked */
    pass(&scene, 0);
    pass(&scene, 0);
    end(&scene.askers[3]); /* while it is */
    loop_run(scene.loop);
    CHECK_INT(scene.fake.keys, 7);
    CHECK_INT(scene.askers[2].told, 0);
    CHECK_INT(scene.askers[3].told, 0);
    check_told(&scene, 0, 2);
    check_told(&scene, 4, 4);
    close_scene(&scene);
}

static void what_nobody_waits_for_is_ended(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.delay_ms = 500;
    ask_some(&scene, 0, 3);
    pass(&scene, 0);
    pass(&scene, 0);
    CHECK_INT(scene.fake.started, 1);
    for (int i = 0; i < 3; i++)
        end(&scene.askers[i]);
    CHECK_INT(scene.fake.ended, 1);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.pages, 0);
    CHECK_INT(scene.payers[0].requests + scene.payers[1].requests, 1);
    CHECK_INT(scene.payers[0].abandoned, 1);
    close_scene(&scene);
}

static void calls_may_end_from_within(void)
{
    struct scene scene;
    open_scene(&scene);
    for (int i = 0; i < 4; i++)
        scene.askers[i].ends = &scene.askers[(i + 1) % 4];
    ask_some(&scene, 0, 4);
    loop_run(scene.loop);
    int told = 0;
    for (int i = 0; i < 4; i++)
        told += scene.askers[i].told;
    CHECK(told == 2);
    scene.askers[9].ends = &scene.askers[9];
    ask_some(&scene, 9, 1); /* alone, and it ends itself */
    loop_run(scene.loop);
    CHECK_INT(scene.askers[9].told, 1);
    close_scene(&scene);
}

static struct source_call *all_wanted_of;

static void note_all_wanted(struct source_call *call, bool all)
{
    all_wanted_of = all ? call : NULL;
}

static void take_any(void *arg, const struct page *page, const struct error *err)
{
    (void)arg;
    (void)page;
    (void)err;
}

/* Each source sees calls of its own only. */
static void that_all_is_wanted_reaches_the_inner_call(void)
{
    struct scene scene;
    open_scene(&scene);
    struct source_ops ops = *scene.fake.source.ops;
    ops.read_all = note_all_wanted;
    scene.fake.source.ops = &ops;
    struct read *read = read_new(READ_TABLES, "", NULL);
    struct source_call *call = source_start(scene.source, read, NULL, take_any, NULL);
    source_read_all(call);
    CHECK(call && all_wanted_of && all_wanted_of != call);
    all_wanted_of = NULL;
    source_read_all(ask(&scene, 0, "k0", NULL, false)->call);
    CHECK(!all_wanted_of);
    source_end(call);
    read_destroy(read);
    close_scene(&scene);
}

static void fail_once(struct scene *scene, enum error_kind kind, bool authenticated)
{
    error_set(&scene->fake.error, kind, "refused together");
    scene->fake.error.authenticated = authenticated;
    scene->fake.fail_at = scene->fake.pages + 1;
}

static void one_bad_key_does_not_fail_its_neighbours(void)
{
    static const enum error_kind kinds[] = {ERROR_BAD_ANSWER, ERROR_INVALID};
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene);
        fail_once(&scene, kinds[i], false);
        ask_some(&scene, 0, 5);
        loop_run(scene.loop);
        CHECK_INT(scene.fake.started, 6);
        check_told(&scene, 0, 5);
        CHECK_TEXT(scene.logged, "");
        ask_some(&scene, 10, 5); /* nothing is remembered of it */
        loop_run(scene.loop);
        CHECK_INT(scene.fake.started, 7);
        close_scene(&scene);
    }
}

static void what_is_denied_together_is_asked_one_by_one_for_a_while(void)
{
    struct scene scene;
    open_scene(&scene);
    fail_once(&scene, ERROR_DENIED, true);
    ask_some(&scene, 0, 5);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 6);
    check_told(&scene, 0, 5);
    CHECK_HAS(scene.logged, "items of T are read one by one for the next 5 minutes, because "
                            "a request for several is refused: refused together");
    ask_some(&scene, 10, 5);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 11);
    virtual_clock_pass(&scene.clock, 5 * 60000);
    ask_some(&scene, 20, 5);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 12);
    close_scene(&scene);
}

static void what_would_meet_everybody_is_told_everybody(void)
{
    struct scene scene;
    open_scene(&scene);
    fail_once(&scene, ERROR_DENIED, false); /* no credentials */
    ask_some(&scene, 0, 5);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 1);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(scene.askers[i].told, 1);
        CHECK_INT(scene.askers[i].err.kind, ERROR_DENIED);
    }
    close_scene(&scene);
}

static void a_failure_of_the_one_that_goes_alone_fails_it_alone(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 2;
    error_set(&scene.fake.error, ERROR_THROTTLED, "throttled");
    scene.fake.fail_at = 2;
    ask_some(&scene, 0, 6);
    loop_run(scene.loop);
    int found = 0;
    for (int i = 0; i < 6; i++) {
        CHECK_INT(scene.askers[i].told, 1);
        found += scene.askers[i].err.kind == ERROR_NONE;
    }
    CHECK_INT(found, 5);
    CHECK_INT(scene.askers[2].err.kind, ERROR_THROTTLED);
    close_scene(&scene);
}

static void who_waits_has_a_deadline_of_its_own(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.delay_ms = 5000;
    ask_in_turn(&scene, 0, 1);
    for (int i = 1; i < MANY; i++) {
        ask_in_turn(&scene, i, 1);
        pass(&scene, 11);
    }
    ask_in_turn(&scene, 20, 1);
    int64_t began = loop_now_ms(scene.loop);
    while (!scene.askers[20].told)
        pass(&scene, 10);
    CHECK(loop_now_ms(scene.loop) - began <= 1020);
    CHECK_INT(scene.askers[20].err.kind, ERROR_TIMED_OUT);
    CHECK_HAS(scene.askers[20].err.text, "no response from table T within 1.0 s");
    CHECK_TEXT(scene.askers[20].err.table, "T");
    CHECK_INT(scene.askers[0].told, 0);
    close_scene(&scene);
}

static void without_memory_for_it_nobody_is_asked(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.no_memory = true;
    ask_some(&scene, 0, 3);
    loop_run(scene.loop);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(scene.askers[i].told, 1);
        CHECK_INT(scene.askers[i].err.kind, ERROR_NO_MEMORY);
    }
    scene.fake.no_memory = false;
    ask_some(&scene, 4, 2);
    loop_run(scene.loop);
    check_told(&scene, 4, 2);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"a lone question is passed on", a_lone_question_is_passed_on},
    {"what is asked in one round leaves together", what_is_asked_in_one_round_leaves_together},
    {"capacity is shared alike and requests are told once",
     capacity_is_shared_alike_and_requests_are_told_once},
    {"who can not pay his part is refused alone", who_can_not_pay_his_part_is_refused_alone},
    {"who leaves a batch has his part back with the response",
     who_leaves_a_batch_has_his_part_back_with_the_response},
    {"a hundred and one take two requests", a_hundred_and_one_take_two_requests},
    {"who finds few under way does not wait", who_finds_few_under_way_does_not_wait},
    {"who waits leaves together when one returns", who_waits_leaves_together_when_one_returns},
    {"nobody waits long before there are many", nobody_waits_long_before_there_are_many},
    {"other questions do not come along", other_questions_do_not_come_along},
    {"two may ask for the same", two_may_ask_for_the_same},
    {"what is served in part is told at once", what_is_served_in_part_is_told_at_once},
    {"each item has the throttled requests before it",
     each_item_has_the_throttled_requests_before_it},
    {"what is left has a deadline", what_is_left_has_a_deadline},
    {"who leaves does not disturb the others", who_leaves_does_not_disturb_the_others},
    {"what nobody waits for is ended", what_nobody_waits_for_is_ended},
    {"calls may end from within", calls_may_end_from_within},
    {"that all is wanted reaches the inner call", that_all_is_wanted_reaches_the_inner_call},
    {"one bad key does not fail its neighbours", one_bad_key_does_not_fail_its_neighbours},
    {"what is denied together is asked one by one for a while",
     what_is_denied_together_is_asked_one_by_one_for_a_while},
    {"what would meet everybody is told everybody", what_would_meet_everybody_is_told_everybody},
    {"a failure of the one that goes alone fails it alone",
     a_failure_of_the_one_that_goes_alone_fails_it_alone},
    {"who waits has a deadline of its own", who_waits_has_a_deadline_of_its_own},
    {"without memory for it nobody is asked", without_memory_for_it_nobody_is_asked},
};
CHECK_MAIN(tests)
