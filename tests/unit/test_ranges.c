/* Queries that are read in ranges, over a source made of texts and a virtual clock. */
#include "core/source/ranges.h"

#include <stdlib.h>

#include "core/source/key_scale.h"
#include "core/source/range_bounds.h"
#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/virtual_clock.h"

enum { ITEMS = 300, KEY = 64, TEXT = 160, DELAY_MS = 50, PAGE = 10 };

/* A reader of one query, and the items that it got. */
struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_source fake;
    struct source *source;
    struct counting_payer payer;
    int item_count;
    char keys[ITEMS][KEY];
    char texts[ITEMS][TEXT];
    struct fake_item items[ITEMS + 1];
    bool gone[ITEMS];
    struct read *read;
    struct source_call *call;
    int got[ITEMS]; /* how many times each item came */
    int last;       /* the number of the item before */
    int count, pages;
    int stop_at; /* ends after that page; 0: never */
    int changes; /* after each page as many items come or go, by SEED */
    unsigned seed;
    unsigned requests;
    uint64_t throttled;
    double capacity;
    int64_t began_ms, oldest_ms;
    size_t scanned;
    bool over;
    struct error err;
};

static unsigned draw(struct scene *scene, unsigned below)
{
    scene->seed = scene->seed * 1103515245u + 12345u;
    return (scene->seed >> 16) % below;
}

static int order_keys(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int order_numbers(const void *a, const void *b)
{
    return number_compare(span_text(a), span_text(b));
}

enum { KINDS = 14 };

/* The key of item I of a kind of distribution. */
static void write_key(struct scene *scene, int kind, int i, char out[KEY])
{
    static const char base32[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    unsigned at = (unsigned)i, r = draw(scene, 32768), q = draw(scene, 32768);
    switch (kind) {
    case 0: /* one after the other */
        snprintf(out, KEY, "%05d", i);
        break;
    case 1: /* times, days apart */
        snprintf(out, KEY, "JOB#2026-%02u-%02uT%02u:%02u:00.000Z#%04d", 1 + at / 60,
                 1 + at / 2 % 28, r % 24, q % 60, i);
        break;
    case 2: /* random UUIDs */
        snprintf(out, KEY, "%04x%04x-%04x-%04d", r * 2 + (q & 1), q, at, i);
        break;
    case 3: /* a burst, then a hole, then a burst */
        snprintf(out, KEY, "k%09u", at < ITEMS / 2 ? at : 900000000 + at);
        break;
    case 4: /* ever denser */
        snprintf(out, KEY, "%010u", 4000000000u - 4000000000u / (at + 1));
        break;
    case 5: /* ever thinner */
        snprintf(out, KEY, "%010u", at * at * at * 100);
        break;
    case 6: /* of several lengths */
        snprintf(out, KEY, "%.*s#%d", (int)(r % 20), "abcdefghijklmnopqrst", i);
        break;
    case 7: /* beyond ASCII */
        snprintf(out, KEY, "\xC3%c%04d", (char)(0x80 + r % 64), i);
        break;
    case 8: /* base 32 */
        snprintf(out, KEY, "01J%c%c%c%04d", base32[at / 10 % 32], base32[r % 32], base32[q % 32],
                 i);
        break;
    case 9: /* names */
        snprintf(out, KEY, "%c%c%c-%d", 'a' + (int)(r % 26), 'a' + (int)(q % 26), 'A' + i % 26, i);
        break;
    case 10: /* one far away from all */
        snprintf(out, KEY, i < ITEMS - 1 ? "a%06d" : "zzzz%d", i);
        break;
    case 11: /* numbers */
        snprintf(out, KEY, "%d", i - 100);
        break;
    case 12: /* large ones, and uneven */
        snprintf(out, KEY, "%u%015u.%u", r, q, at);
        break;
    default: /* bytes: base64 of equal length, in the order of its bytes */
        snprintf(out, KEY, "AA%c%c", (char)('A' + i / 26), (char)('a' + i % 26));
        break;
    }
}

static const char *type_of(int kind)
{
    return kind == 11 || kind == 12 ? "N" : kind == 13 ? "B" : "S";
}

/* COUNT items of one partition, of the table or of an index that turns its key round. */
static void open_kind(struct scene *scene, int kind, int count, bool in_index, bool descending,
                      unsigned seed, int64_t slow_ms)
{
    *scene = (struct scene){.seed = seed, .last = descending ? ITEMS : -1, .item_count = count};
    virtual_clock_init(&scene->clock, 1792000000000);
    scene->loop = loop_new(&scene->clock.clock);
    counting_payer_init(&scene->payer);
    const char *index = in_index ? "by-name" : NULL;
    for (int i = 0; i < count; i++)
        write_key(scene, kind, i, scene->keys[i]);
    qsort(scene->keys, (size_t)count, KEY, *type_of(kind) == 'N' ? order_numbers : order_keys);
    for (int i = 0; i < count; i++) {
        char key[KEY];
        memcpy(key, scene->keys[i], KEY);
        snprintf(scene->texts[i], TEXT,
                 "{\"p\":{\"S\":\"x\"},\"sk\":{\"%s\":\"%s\"},\"pk\":{\"S\":\"%d\"}}",
                 type_of(kind), key, i);
        scene->items[i] = (struct fake_item){"T", index, scene->texts[i]};
    }
    fake_source_init(&scene->fake, scene->loop, scene->items);
    scene->fake.gone = scene->gone;
    scene->fake.parts_with_pages = true;
    scene->fake.delay_ms = DELAY_MS;
    scene->fake.page_size = PAGE;
    struct ranges_options options = {
        .source = &scene->fake.source, .loop = scene->loop, .slow_ms = slow_ms};
    scene->source = ranges_new(&options);
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

static void open_scene(struct scene *scene, int count)
{
    open_kind(scene, 0, count, false, false, 1, 3);
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

/* Items come in the order of the query. */
static void note_item(struct scene *scene, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(json_member(item, "pk"), "S"), &text);
    int number = atoi(buf_text(&text));
    scene->got[number]++;
    scene->count++;
    if (scene->read->descending ? number >= scene->last : number <= scene->last)
        CHECK_FAIL("seed %u: item %d comes behind %d", scene->seed, number, scene->last);
    scene->last = number;
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
    uint64_t throttled;
    if (throttles_at(page->throttled, 0, &throttled))
        scene->throttled += throttled;
    scene->requests += page->requests;
    scene->scanned += page->scanned ? page->scanned : page->item_count;
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

static void read_query(struct scene *scene, bool all_wanted)
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
    return stats.parallel;
}

/* Each item that was there all the time came once, and each request was counted. */
static void check_all_came(const struct scene *scene)
{
    CHECK(scene->over && scene->err.kind == ERROR_NONE);
    for (int i = 0; i < scene->item_count; i++) {
        bool stayed = !scene->changes || i % 3 == 0;
        if (stayed ? scene->got[i] != 1 : scene->got[i] > 1)
            CHECK_FAIL("item %d (%s) came %d times", i, scene->keys[i], scene->got[i]);
    }
    CHECK_INT(scene->requests, scene->payer.requests);
    CHECK(scene->capacity == scene->payer.units);
    CHECK_INT(scene->payer.abandoned, 0);
}

/* 3 pages of 30 alone, then three at a time. */
static void a_long_slow_query_is_read_in_ranges(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    read_query(&scene, true);
    check_all_came(&scene);
    CHECK_INT(begun(&scene), 1);
    int64_t took_ms = scene.clock.now_ms - scene.began_ms;
    if (took_ms > 16 * DELAY_MS)
        CHECK_FAIL("%lld ms", (long long)took_ms);
    CHECK_INT(scene.fake.most_open, 3);
    CHECK(scene.fake.most_held <= 3); /* pages in memory */
    CHECK_INT(scene.scanned, 300);
    close_scene(&scene);
}

/* Also of pages that were read for another part, and of the request for the last key. */
static void each_throttled_request_is_counted_once(void)
{
    struct scene scene;
    struct throttle hot;
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = NULL;
    throttle_init(&hot, span_text("Hot"), span_text(""));
    throttles_add(&throttled, &hot, 1);
    open_scene(&scene, 300);
    scene.fake.throttled = throttled;
    read_query(&scene, true);
    check_all_came(&scene);
    CHECK_INT(begun(&scene), 1);
    CHECK_INT(scene.throttled, scene.requests);
    close_scene(&scene);
}

/* A failed request that is not repeated is counted, too. */
static void a_throttled_optional_request_is_counted(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    error_set(&scene.fake.error, ERROR_THROTTLED, "throttled");
    throttle_init(&scene.fake.error.throttles[0], span_text("Hot"), span_text(""));
    scene.fake.error.throttle_count = 1;
    scene.fake.fail_optional_at = 3;
    read_query(&scene, true);
    CHECK(scene.over && scene.err.kind == ERROR_NONE);
    CHECK_INT(scene.throttled, 1);
    close_scene(&scene);
}

static void a_fast_query_is_read_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.fake.delay_ms = 2;
    read_query(&scene, true);
    CHECK_INT(begun(&scene), 0);
    CHECK_INT(scene.fake.pages, 30);
    check_all_came(&scene);
    close_scene(&scene);
}

/* The query is expected to have six pages more; a shorter one costs the request for the last key.
 */
static void a_short_query_is_read_page_by_page(void)
{
    for (int pages = 1; pages <= 8; pages++) {
        struct scene scene;
        open_scene(&scene, pages * PAGE - 1);
        read_query(&scene, true);
        check_all_came(&scene);
        CHECK_INT(begun(&scene), 0);
        CHECK_INT(scene.fake.pages, pages + (pages > 2));
        close_scene(&scene);
    }
}

static void a_reader_that_may_stop_gets_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    read_query(&scene, false);
    CHECK_INT(begun(&scene), 0);
    CHECK_INT(scene.fake.pages, 30);
    close_scene(&scene);
}

static void a_reader_that_stops_ends_all_requests(void)
{
    for (int pages = 1; pages < 12; pages++) {
        struct scene scene;
        open_scene(&scene, 300);
        scene.stop_at = pages;
        read_query(&scene, true);
        CHECK(scene.payer.requests <= (unsigned)pages + 4);
        CHECK_INT(scene.payer.requests, scene.payer.answered + scene.payer.abandoned);
        close_scene(&scene);
    }
}

/* One request at a time: the second is not faster, so the query is not divided, and none is for a
 * minute. */
static void a_server_that_queues_requests_is_read_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.fake.is_serial = true;
    read_query(&scene, true);
    CHECK_INT(begun(&scene), 0);
    CHECK_INT(scene.fake.pages, 31);
    CHECK(scene.clock.now_ms - scene.began_ms <= 31 * DELAY_MS);
    check_all_came(&scene);
    end_call(&scene);
    memset(scene.got, 0, sizeof scene.got);
    scene.last = -1;
    scene.requests = 0;
    read_query(&scene, true);
    CHECK_INT(scene.fake.pages, 31 + 30);
    close_scene(&scene);
}

/* The link is the limit: three pages take three times as long as one. */
static void requests_that_do_not_pay_end(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.stop_at = 4;
    read_query(&scene, true);
    CHECK_INT(begun(&scene), 1);
    close_scene(&scene);
    open_scene(&scene, 300);
    scene.fake.serial_from = 5; /* of 300 items, behind the probe */
    read_query(&scene, true);
    check_all_came(&scene);
    CHECK_INT(begun(&scene), 1);
    CHECK(scene.fake.pages <= 36);
    close_scene(&scene);
}

static void a_limited_payer_gets_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.payer.most = 1000;
    read_query(&scene, true);
    CHECK_INT(begun(&scene), 0);
    check_all_came(&scene);
    close_scene(&scene);
}

static void some_queries_cannot_be_divided(void)
{
    for (int kind = 0; kind < 6; kind++) {
        struct scene scene;
        open_kind(&scene, 0, 200, true, false, 1, 3);
        struct cond equal = {.attribute = SPAN_LITERAL("sk"),
                             .value = {VALUE_S, SPAN_LITERAL("00007")}};
        if (kind == 0)
            scene.read->limit = 180;
        if (kind == 1)
            scene.read->counts = true;
        if (kind == 2)
            scene.read->sort_count = 0;
        if (kind == 3) /* in the order of an attribute that an item may change */
            scene.read->sort[0] = SPAN_LITERAL("pk");
        if (kind == 4) /* several may share a place */
            scene.read->own_key[1] = SPAN_LITERAL("pk");
        if (kind == 5)
            read_add_where(scene.read, &equal);
        CHECK(!read_is_divisible(scene.read));
        read_query(&scene, true);
        CHECK_INT(begun(&scene), 0);
        close_scene(&scene);
    }
}

/* Compares with all items, for each distribution, in both directions. Returns the queries that were
 * divided. */
static unsigned read_all_kinds(unsigned seeds, bool changes, bool in_index)
{
    unsigned divided = 0;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        for (int kind = 0; kind < KINDS; kind++) {
            struct scene scene;
            int count = ITEMS - (int)(seed % 7);
            open_kind(&scene, kind, count, in_index, (seed + (unsigned)kind) % 2, seed, 0);
            scene.fake.seed = seed;
            scene.fake.page_size = kind ? 1 + seed * 5 % 23 : seed;
            scene.changes = changes ? 5 : 0;
            read_query(&scene, true);
            if (!scene.over || scene.err.kind != ERROR_NONE)
                CHECK_FAIL("kind %d, seed %u: %s", kind, seed, scene.err.text);
            check_all_came(&scene);
            divided += begun(&scene) > 0;
            close_scene(&scene);
        }
    }
    return divided;
}

static void each_item_comes_once_whatever_the_keys(void)
{
    unsigned seeds = check_cases(8);
    CHECK(read_all_kinds(seeds, false, false) > 7 * seeds);
}

static void items_that_come_and_go_come_once_at_most(void)
{
    unsigned seeds = check_cases(4);
    CHECK(read_all_kinds(seeds, true, false) > 7 * seeds);
    CHECK(read_all_kinds(seeds, true, true) > 7 * seeds);
}

/* Even keys: few requests are wasted. */
static void even_keys_cost_few_requests_more(void)
{
    for (int kind = 0; kind < 3; kind++) {
        struct scene scene;
        open_kind(&scene, kind, 300, false, false, 1, 3);
        read_query(&scene, true);
        check_all_came(&scene);
        CHECK_INT(begun(&scene), 1);
        if (scene.payer.requests > (kind == 1 ? 60 : 48))
            CHECK_FAIL("kind %d: %u requests for 30 pages", kind, scene.payer.requests);
        close_scene(&scene);
    }
}

/* The parts have the bounds of the query's own condition. */
static void a_condition_on_the_sort_key_holds(void)
{
    static const struct {
        enum cond_op op;
        const char *value, *upper;
        int first, last;
    } rows[] = {
        {COND_BEGINS, "00", NULL, 0, 299},         {COND_BEGINS, "001", NULL, 100, 199},
        {COND_BETWEEN, "00020", "00250", 20, 250}, {COND_GE, "00020", NULL, 20, 299},
        {COND_GT, "00020", NULL, 21, 299},         {COND_LE, "00250", NULL, 0, 250},
        {COND_LT, "00250", NULL, 0, 249},          {COND_BETWEEN, "00020", "9", 20, 299},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct scene scene;
        open_kind(&scene, 0, 300, false, i % 2, 1, 3);
        struct cond cond = {.attribute = SPAN_LITERAL("sk"),
                            .op = rows[i / 2].op,
                            .value = {VALUE_S, span_text(rows[i / 2].value)},
                            .upper = {VALUE_S, span_text(rows[i / 2].upper)}};
        read_add_where(scene.read, &cond);
        scene.fake.page_size = 6;
        read_query(&scene, true);
        CHECK(scene.over && scene.err.kind == ERROR_NONE);
        CHECK_INT(begun(&scene), 1);
        for (int k = 0; k < 300; k++)
            CHECK_INT(scene.got[k], k >= rows[i / 2].first && k <= rows[i / 2].last);
        CHECK_INT(scene.requests, scene.payer.requests);
        close_scene(&scene);
    }
}

/* The end of a prefix is exact, so that a key behind it is neither read nor lost. */
static void a_prefix_ends_exactly(void)
{
    static const struct {
        enum value_type type;
        const char *prefix, *behind;
    } rows[] = {
        {VALUE_S, "JOB#", "JOB$"},   {VALUE_S, "a~", "a\x7F"},
        {VALUE_S, "a\x7F", NULL},    {VALUE_S, "\xC3\xA9", "\xC3\xAA"},
        {VALUE_S, "\xC3\xBF", NULL}, {VALUE_B, "a\x7F", "a\x80"},
        {VALUE_B, "\xFF", NULL},     {VALUE_S, COND_LAST_CHARACTER, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct range_bounds bounds;
        struct read *read = read_new(READ_QUERY, "T", NULL);
        struct cond cond = {.attribute = SPAN_LITERAL("sk"),
                            .op = COND_BEGINS,
                            .value = {rows[i].type, span_text(rows[i].prefix)}};
        read_add_sort(read, SPAN_LITERAL("sk"));
        read_add_where(read, &cond);
        CHECK_INT(range_bounds_of(read, &arena, &bounds), rows[i].behind != NULL);
        if (rows[i].behind)
            CHECK_SPAN(bounds.high.bytes, span_text(rows[i].behind));
        read_destroy(read);
    }
}

/* Filtered items are read all the same. */
static void a_filter_that_leaves_out_all_costs_no_second_reading(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    struct cond filter = {.attribute = SPAN_LITERAL("pk"),
                          .value = {VALUE_S, SPAN_LITERAL("none")}};
    read_add_filter(scene.read, &filter);
    read_query(&scene, true);
    CHECK(scene.over && scene.count == 0 && scene.err.kind == ERROR_NONE);
    CHECK(scene.fake.pages <= 45);
    CHECK_INT(scene.requests, scene.payer.requests);
    close_scene(&scene);
}

/* The first failed one is the request for the last key, the others are parts. */
static void a_failed_optional_request_fails_nothing(void)
{
    for (unsigned at = 1; at <= 12; at++) {
        struct scene scene;
        open_scene(&scene, 300);
        scene.fake.fail_optional_at = at;
        error_set(&scene.fake.error, ERROR_THROTTLED, "too fast");
        read_query(&scene, true);
        check_all_came(&scene);
        CHECK_INT(scene.payer.failed, 1);
        close_scene(&scene);
    }
}

static void an_error_of_a_wanted_page_is_reported(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.fake.down = true;
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    read_query(&scene, true);
    CHECK(scene.over && scene.err.kind == ERROR_DENIED && scene.pages == 1);
    close_scene(&scene);
    for (unsigned at = 2; at <= 20; at++) {
        open_scene(&scene, 300);
        scene.fake.fail_at = at;
        error_set(&scene.fake.error, ERROR_DENIED, "no");
        read_query(&scene, true);
        CHECK(scene.over);
        CHECK(scene.err.kind == ERROR_DENIED || scene.count == 300);
        close_scene(&scene);
    }
}

static void pages_that_cannot_be_stored_come_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.fake.parts_with_pages = false;
    read_query(&scene, true);
    check_all_came(&scene);
    CHECK_INT(scene.fake.pages, 30);
    close_scene(&scene);
}

static void a_page_that_waited_has_its_age(void)
{
    struct scene scene;
    open_scene(&scene, 300);
    scene.fake.slow_first_ms = DELAY_MS;
    scene.fake.seed = 7;
    read_query(&scene, true);
    CHECK(scene.oldest_ms > 0 || begun(&scene) == 0);
    close_scene(&scene);
}

/* A cut lies near its place, between its neighbours. */
static void a_scale_has_its_cuts_in_order(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct scene scene;
        struct key_scale scale = {0};
        enum value_type type = *type_of(kind) == 'N'   ? VALUE_N
                               : *type_of(kind) == 'B' ? VALUE_B
                                                       : VALUE_S;
        open_kind(&scene, kind, 300, false, false, 3, 3);
        struct value keys[300];
        for (int i = 0; i < 300; i++)
            keys[i] = (struct value){type, span_text(scene.keys[i])};
        for (int i = 0; i < 40; i++)
            key_scale_add(&scale, keys[i]);
        bool is_set = key_scale_set(&scale, keys[0], keys[40], keys[299]);
        CHECK(is_set || kind == 7);
        for (int i = 1; is_set && i < 300; i++) {
            CLEAN_UP(arena_clean_up) struct arena arena = {0};
            struct value cut;
            double before = key_scale_place(&scale, keys[i - 1]);
            double place = key_scale_place(&scale, keys[i]);
            if (place < before || place < 0 || place > 1)
                CHECK_FAIL("kind %d: %s is at %f, behind %f", kind, scene.keys[i], place, before);
            CHECK(key_scale_cut(&scale, place, &arena, &cut));
            double off = key_scale_place(&scale, cut) - place;
            if (off > 0.01 || off < -0.01)
                CHECK_FAIL("kind %d: the cut %.*s is %f off", kind, (int)cut.bytes.size,
                           cut.bytes.data, off);
        }
        close_scene(&scene);
    }
}

static const struct check_test tests[] = {
    {"a long slow query is read in ranges", a_long_slow_query_is_read_in_ranges},
    {"each throttled request is counted once", each_throttled_request_is_counted_once},
    {"a throttled optional request is counted", a_throttled_optional_request_is_counted},
    {"a fast query is read page by page", a_fast_query_is_read_page_by_page},
    {"a short query is read page by page", a_short_query_is_read_page_by_page},
    {"a reader that may stop gets page by page", a_reader_that_may_stop_gets_page_by_page},
    {"a reader that stops ends all requests", a_reader_that_stops_ends_all_requests},
    {"a server that queues requests is read page by page",
     a_server_that_queues_requests_is_read_page_by_page},
    {"requests that do not pay end", requests_that_do_not_pay_end},
    {"a limited payer gets page by page", a_limited_payer_gets_page_by_page},
    {"some queries cannot be divided", some_queries_cannot_be_divided},
    {"each item comes once whatever the keys", each_item_comes_once_whatever_the_keys},
    {"items that come and go come once at most", items_that_come_and_go_come_once_at_most},
    {"even keys cost few requests more", even_keys_cost_few_requests_more},
    {"a condition on the sort key holds", a_condition_on_the_sort_key_holds},
    {"a prefix ends exactly", a_prefix_ends_exactly},
    {"a filter that leaves out all costs no second reading",
     a_filter_that_leaves_out_all_costs_no_second_reading},
    {"a failed optional request fails nothing", a_failed_optional_request_fails_nothing},
    {"an error of a wanted page is reported", an_error_of_a_wanted_page_is_reported},
    {"pages that cannot be stored come page by page",
     pages_that_cannot_be_stored_come_page_by_page},
    {"a page that waited has its age", a_page_that_waited_has_its_age},
    {"a scale has its cuts in order", a_scale_has_its_cuts_in_order},
};
CHECK_MAIN(tests)
