/* Queries that are read from both ends, over a source made of texts and a virtual clock. */
#include "core/source/both_ends.h"

#include <stdlib.h>

#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/virtual_clock.h"

enum { ITEMS = 200, TEXT = 96, SLOW_MS = 3, MOST_ROUNDS = 4000 };

/* A reader of one query, and what it was told. */
struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_source fake;
    struct source *source;
    struct counting_payer payer;
    char texts[ITEMS][TEXT];
    struct fake_item items[ITEMS + 1];
    bool gone[ITEMS];
    struct read *read;
    struct source_call *call;
    int told[ITEMS]; /* how often each item was */
    int order[ITEMS * 2];
    int count;   /* of these */
    int pages;   /* that were told */
    int stop_at; /* ends after so many pages; 0: never */
    int changes; /* after each page so many items come or go, by SEED */
    unsigned seed;
    unsigned requests;
    double capacity;
    int64_t began_ms, oldest_ms;
    bool over;
    struct error err;
};

static unsigned draw(struct scene *scene, unsigned below)
{
    scene->seed = scene->seed * 1103515245u + 12345u;
    return (scene->seed >> 16) % below;
}

/* COUNT items of one partition, of the table or of an index that turns its key round. */
static void open_scene(struct scene *scene, int count, bool in_index, bool descending)
{
    *scene = (struct scene){.seed = 1};
    virtual_clock_init(&scene->clock, 1792000000000);
    scene->loop = loop_new(&scene->clock.clock);
    counting_payer_init(&scene->payer);
    const char *index = in_index ? "by-name" : NULL;
    for (int i = 0; i < count; i++) {
        snprintf(scene->texts[i], TEXT,
                 "{\"p\":{\"S\":\"x\"},\"sk\":{\"S\":\"%04d\"},\"pk\":{\"S\":\"%d\"}}", i, i);
        scene->items[i] = (struct fake_item){"T", index, scene->texts[i]};
    }
    fake_source_init(&scene->fake, scene->loop, scene->items);
    scene->fake.gone = scene->gone;
    scene->fake.parts_with_pages = true;
    scene->fake.delay_ms = SLOW_MS;
    scene->fake.page_size = 10;
    struct both_ends_options options = {
        .source = &scene->fake.source, .loop = scene->loop, .slow_ms = SLOW_MS};
    scene->source = both_ends_new(&options);
    struct cond where = {.attribute = SPAN_LITERAL("p"), .value = {VALUE_S, SPAN_LITERAL("x")}};
    scene->read = read_new(READ_QUERY, "T", index);
    CHECK(scene->source && scene->read);
    read_add_where(scene->read, &where);
    read_add_sort(scene->read, SPAN_LITERAL("sk"));
    if (in_index) {
        read_add_own_key(scene->read, SPAN_LITERAL("sk"));
        read_add_own_key(scene->read, SPAN_LITERAL("p"));
    }
    scene->read->descending = descending;
}

static void end_call(struct scene *scene)
{
    if (scene->call)
        source_end(scene->call);
    scene->call = NULL;
}

static void close_scene(struct scene *scene)
{
    end_call(scene);
    read_destroy(scene->read);
    source_destroy(scene->source);
    unsigned started = scene->fake.started, ended = scene->fake.ended;
    unsigned held = scene->fake.held;
    loop_destroy(scene->loop);
    counting_payer_clean_up(&scene->payer);
    CHECK_INT(ended, started);
    CHECK_INT(held, 0);
}

static void note_item(struct scene *scene, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(json_member(item, "pk"), "S"), &text);
    int number = atoi(buf_text(&text));
    scene->told[number]++;
    if (scene->count < ITEMS * 2)
        scene->order[scene->count++] = number;
}

/* Items come and go between pages; every third one never does. */
static void change_some(struct scene *scene)
{
    for (int i = 0; i < scene->changes; i++) {
        unsigned at = draw(scene, ITEMS);
        if (at % 3 != 0)
            scene->gone[at] = !scene->gone[at];
    }
}

static void take(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    scene->pages++;
    if (err) {
        scene->err = *err;
        scene->over = true;
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        note_item(scene, page->items[i]);
    scene->requests += page->requests;
    scene->capacity += page->capacity > 0 ? page->capacity : 0;
    if (page->age_ms > scene->oldest_ms)
        scene->oldest_ms = page->age_ms;
    change_some(scene);
    scene->over = !page->more;
    if (scene->pages == scene->stop_at)
        end_call(scene);
    else if (page->more)
        source_more(scene->call);
}

static void read_all(struct scene *scene, bool all_wanted)
{
    scene->call = source_start(scene->source, scene->read, &scene->payer.payer, take, scene);
    CHECK(scene->call);
    scene->began_ms = scene->clock.now_ms;
    if (all_wanted)
        source_read_all(scene->call);
    CHECK(loop_run(scene->loop));
}

static uint64_t begun(const struct scene *scene)
{
    struct source_stats stats = {0};
    source_add_stats(scene->source, &stats);
    return stats.both_ends;
}

/* Each of the first COUNT items that stayed where it was is told once, and in order. */
static void check_told(const struct scene *scene, int count)
{
    for (int i = 0; i < count; i++) {
        bool stayed = !scene->changes || i % 3 == 0;
        if (stayed ? scene->told[i] != 1 : scene->told[i] > 1)
            CHECK_FAIL("item %d was told %d times", i, scene->told[i]);
    }
    for (int i = 1; i < scene->count; i++) {
        int before = scene->order[i - 1], item = scene->order[i];
        if (scene->read->descending ? item > before : item < before)
            CHECK_FAIL("item %d comes behind %d", scene->order[i], scene->order[i - 1]);
    }
}

static void a_slow_query_is_read_from_both_ends(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    read_all(&scene, true);
    CHECK(scene.over && scene.err.kind == ERROR_NONE);
    check_told(&scene, 200);
    CHECK_INT(begun(&scene), 1);
    /* Six pages of twenty from the front alone, then two at a time. */
    int64_t took_ms = scene.clock.now_ms - scene.began_ms;
    CHECK(took_ms >= 13 * SLOW_MS && took_ms <= 14 * SLOW_MS);
    CHECK(scene.fake.pages >= 20 && scene.fake.pages <= 22);
    CHECK_INT(scene.requests, scene.fake.pages);
    CHECK(scene.capacity == scene.fake.pages * 0.5);
    CHECK_INT(scene.payer.answered, scene.fake.pages);
    close_scene(&scene);
}

static void a_fast_query_is_read_from_the_front(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.fake.delay_ms = SLOW_MS - 1;
    read_all(&scene, true);
    CHECK_INT(begun(&scene), 0);
    CHECK_INT(scene.fake.pages, 20);
    check_told(&scene, 200);
    close_scene(&scene);
}

/* Wherever pages end: neither end knows how far the other has come when it asks. */
static void two_pages_more_at_most(void)
{
    for (size_t page_size = 1; page_size <= 60; page_size++) {
        struct scene scene;
        open_scene(&scene, 200, page_size % 2, page_size % 3 == 0);
        scene.fake.page_size = page_size;
        read_all(&scene, true);
        check_told(&scene, 200);
        CHECK(scene.payer.requests <= (200 + page_size - 1) / page_size + 2);
        close_scene(&scene);
    }
}

static void a_listing_of_few_pages_is_read_from_the_front(void)
{
    for (int pages = 1; pages <= 6; pages++) {
        struct scene scene;
        open_scene(&scene, pages * 10 - 1, false, false);
        read_all(&scene, true);
        check_told(&scene, pages * 10 - 1);
        CHECK_INT(begun(&scene), 0);
        CHECK_INT(scene.fake.pages, pages);
        close_scene(&scene);
    }
}

static void who_does_not_want_all_gets_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    read_all(&scene, false);
    CHECK_INT(begun(&scene), 0);
    CHECK_INT(scene.fake.pages, 20);
    close_scene(&scene);
}

static void who_stops_at_the_second_page_has_had_two(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.stop_at = 2;
    read_all(&scene, true);
    CHECK_INT(scene.fake.pages, 2);
    CHECK_INT(scene.payer.requests, 2);
    close_scene(&scene);
}

/* What is under way at both ends is abandoned, and paid for as such. */
static void who_stops_later_ends_both(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.stop_at = 8;
    read_all(&scene, true);
    CHECK_INT(begun(&scene), 1);
    CHECK(scene.payer.requests <= 12);
    CHECK_INT(scene.payer.requests, scene.payer.answered + scene.payer.abandoned);
    close_scene(&scene);
}

static void some_queries_have_one_end(void)
{
    for (int kind = 0; kind < 5; kind++) {
        struct scene scene;
        open_scene(&scene, 100, true, false);
        if (kind == 0)
            scene.read->limit = 80;
        if (kind == 1)
            scene.read->counts = true;
        if (kind == 2)
            scene.read->sort_count = 0;
        if (kind == 3) /* in order by what an item may change */
            scene.read->sort[0] = SPAN_LITERAL("pk");
        if (kind == 4) /* several may share a place */
            scene.read->own_key[1] = SPAN_LITERAL("pk");
        CHECK(!read_has_two_ends(scene.read));
        read_all(&scene, true);
        CHECK_INT(begun(&scene), 0);
        close_scene(&scene);
    }
}

static void all_orders(int count, bool in_index, bool descending, bool changes)
{
    uint64_t both = 0;
    for (unsigned seed = 1; seed <= 150; seed++) {
        struct scene scene;
        open_scene(&scene, count, in_index, descending);
        scene.seed = seed;
        scene.fake.seed = seed;
        scene.fake.page_size = 1 + seed % 23;
        scene.fake.delay_ms = SLOW_MS + seed % 9;
        scene.changes = changes ? 5 : 0;
        read_all(&scene, true);
        if (!scene.over || scene.err.kind != ERROR_NONE)
            CHECK_FAIL("seed %u: %s", seed, scene.err.text);
        check_told(&scene, count);
        /* The reader is told of each request, and of all that these consumed. */
        CHECK_INT(scene.requests, scene.payer.requests);
        CHECK_INT(scene.payer.abandoned, 0);
        CHECK(scene.capacity == scene.payer.units);
        both += begun(&scene);
        close_scene(&scene);
    }
    CHECK(both > 50 || count < 10);
}

static void wherever_they_meet_each_item_is_told_once(void)
{
    all_orders(200, false, false, false);
    all_orders(197, false, true, false);
    all_orders(3, false, false, false);
}

static void an_index_that_turns_the_key_round_has_two_ends(void)
{
    all_orders(200, true, false, false);
    all_orders(199, true, true, false);
}

static void items_that_come_and_go_are_told_once_at_most(void)
{
    all_orders(200, false, false, true);
    all_orders(200, true, true, true);
}

/* What a filter leaves out is looked at all the same, and moves both ends. */
static void a_filter_that_leaves_out_all_costs_no_second_reading(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    struct cond filter = {.attribute = SPAN_LITERAL("pk"),
                          .value = {VALUE_S, SPAN_LITERAL("none")}};
    read_add_filter(scene.read, &filter);
    read_all(&scene, true);
    CHECK(scene.over && scene.count == 0);
    CHECK_INT(begun(&scene), 1);
    CHECK(scene.fake.pages <= 22);
    close_scene(&scene);
}

static void an_error_from_behind_is_nobodys(void)
{
    for (unsigned at = 4; at <= 12; at += 2) { /* from behind, every second page is */
        struct scene scene;
        open_scene(&scene, 200, false, false);
        scene.fake.fail_descending_at = at / 2 - 1;
        error_set(&scene.fake.error, ERROR_THROTTLED, "too fast");
        read_all(&scene, true);
        CHECK(scene.over && scene.err.kind == ERROR_NONE);
        check_told(&scene, 200);
        CHECK_INT(scene.payer.failed, 1);
        close_scene(&scene);
    }
}

static void an_error_from_the_front_is_told(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.fake.fail_at = 5;
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    scene.fake.fail_descending_at = 0;
    read_all(&scene, true);
    CHECK(scene.over);
    CHECK(scene.err.kind == ERROR_DENIED || scene.count == 200);
    close_scene(&scene);
}

static void what_is_kept_is_bounded(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    source_destroy(scene.source);
    struct both_ends_options options = {
        .source = &scene.fake.source, .loop = scene.loop, .slow_ms = SLOW_MS, .most_kept = 3000};
    scene.source = both_ends_new(&options);
    read_all(&scene, true);
    check_told(&scene, 200);
    CHECK(scene.fake.most_held >= 2 && scene.fake.most_held <= 3);
    close_scene(&scene);
}

static void who_can_not_part_with_pages_is_read_from_the_front(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.fake.parts_with_pages = false;
    read_all(&scene, true);
    CHECK(scene.over);
    check_told(&scene, 200);
    CHECK(scene.fake.pages <= 21);
    close_scene(&scene);
}

/* Nobody takes it for younger than it is. */
static void what_waited_tells_for_how_long(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    read_all(&scene, true);
    CHECK(scene.oldest_ms >= 6 * SLOW_MS);
    close_scene(&scene);
}

static void one_slow_page_is_not_enough(void)
{
    struct scene scene;
    open_scene(&scene, 200, false, false);
    scene.fake.slow_first_ms = 50;
    scene.fake.delay_ms = 1;
    read_all(&scene, true);
    CHECK_INT(begun(&scene), 0);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"a slow query is read from both ends", a_slow_query_is_read_from_both_ends},
    {"a fast query is read from the front", a_fast_query_is_read_from_the_front},
    {"two pages more at most", two_pages_more_at_most},
    {"a listing of few pages is read from the front",
     a_listing_of_few_pages_is_read_from_the_front},
    {"who does not want all gets page by page", who_does_not_want_all_gets_page_by_page},
    {"who stops at the second page has had two", who_stops_at_the_second_page_has_had_two},
    {"who stops later ends both", who_stops_later_ends_both},
    {"some queries have one end", some_queries_have_one_end},
    {"wherever they meet each item is told once", wherever_they_meet_each_item_is_told_once},
    {"an index that turns the key round has two ends",
     an_index_that_turns_the_key_round_has_two_ends},
    {"items that come and go are told once at most", items_that_come_and_go_are_told_once_at_most},
    {"a filter that leaves out all costs no second reading",
     a_filter_that_leaves_out_all_costs_no_second_reading},
    {"an error from behind is nobody's", an_error_from_behind_is_nobodys},
    {"an error from the front is told", an_error_from_the_front_is_told},
    {"what is kept is bounded", what_is_kept_is_bounded},
    {"who can not part with pages is read from the front",
     who_can_not_part_with_pages_is_read_from_the_front},
    {"what waited tells for how long", what_waited_tells_for_how_long},
    {"one slow page is not enough", one_slow_page_is_not_enough},
};
CHECK_MAIN(tests)
