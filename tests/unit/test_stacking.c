/* Sources stacked in any order give the same items; only one order is used. */
#include <stdlib.h>

#include "core/source/batching.h"
#include "core/source/ranges.h"
#include "tests/unit/check.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/virtual_clock.h"

enum { ITEMS = 120, TEXT = 96, SLOW_MS = 3 };

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_source fake;
    struct source *source;
    char texts[ITEMS][TEXT];
    struct fake_item items[ITEMS + 1];
    struct source_call *query;
    bool is_over;
    int order[2 * ITEMS];
    int count; /* of these */
    int single_items;
    int single_results;
};

/* LAYERS from the service outwards: b for batching, r for ranges. */
static void open_scene(struct scene *scene, const char *layers)
{
    *scene = (struct scene){0};
    virtual_clock_init(&scene->clock, 1792000000000);
    scene->loop = loop_new(&scene->clock.clock);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(scene->texts[i], TEXT, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"%04d\"}}", i);
        scene->items[i] = (struct fake_item){"T", NULL, scene->texts[i]};
    }
    fake_source_init(&scene->fake, scene->loop, scene->items);
    scene->fake.parts_with_pages = true;
    scene->fake.delay_ms = SLOW_MS;
    scene->fake.page_size = 5;
    scene->source = &scene->fake.source;
    for (; *layers; layers++) {
        struct batching_options batching = {
            .source = scene->source, .loop = scene->loop, .deadline_ms = 10000};
        struct ranges_options ranges = {
            .source = scene->source, .loop = scene->loop, .slow_ms = SLOW_MS};
        scene->source = *layers == 'b' ? batching_new(&batching) : ranges_new(&ranges);
        CHECK(scene->source);
    }
}

static void close_scene(struct scene *scene)
{
    source_destroy(scene->source);
    CHECK_INT(scene->fake.ended, scene->fake.started);
    CHECK_INT(scene->fake.held, 0);
    loop_destroy(scene->loop);
}

static int number_of(struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(json_member(item, "sk"), "S"), &text);
    return atoi(buf_text(&text));
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    CHECK(!err);
    for (size_t i = 0; i < page->item_count; i++)
        scene->order[scene->count++] = number_of(page->items[i]);
    scene->is_over = !page->more;
    if (page->more)
        source_more(scene->query);
}

static void take_single(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    CHECK(!err);
    scene->single_results++;
    scene->single_items += (int)page->item_count;
}

static struct read *read_one(int number)
{
    char sort[8];
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    snprintf(sort, sizeof sort, "%04d", number);
    struct key key = {.count = 2};
    key.attributes[0].name = SPAN_LITERAL("pk");
    key.attributes[0].value = (struct value){VALUE_S, SPAN_LITERAL("x")};
    key.attributes[1].name = SPAN_LITERAL("sk");
    key.attributes[1].value = (struct value){VALUE_S, span_text(sort)};
    read_add_key(read, &key);
    return read;
}

/* Returns the number of queries that were read in ranges. */
static uint64_t read_all_through(const char *layers)
{
    struct scene scene;
    struct read *reads[8];
    struct source_call *calls[8];
    struct source_stats stats = {0};
    open_scene(&scene, layers);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, SPAN_LITERAL("x")}};
    struct read *query = read_new(READ_QUERY, "T", NULL);
    read_add_where(query, &where);
    read_add_sort(query, SPAN_LITERAL("sk"));
    scene.query = source_start(scene.source, query, NULL, take_page, &scene);
    source_read_all(scene.query);
    for (int i = 0; i < 8; i++) {
        reads[i] = read_one(i < 6 ? i * 7 : 5000 + i);
        calls[i] = source_start(scene.source, reads[i], NULL, take_single, &scene);
    }
    CHECK(loop_run(scene.loop));
    source_add_stats(scene.source, &stats);
    CHECK(scene.is_over);
    CHECK_INT(scene.count, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        CHECK_INT(scene.order[i], i);
    CHECK_INT(scene.single_results, 8);
    CHECK_INT(scene.single_items, 6);
    source_end(scene.query);
    read_destroy(query);
    for (int i = 0; i < 8; i++) {
        source_end(calls[i]);
        read_destroy(reads[i]);
    }
    close_scene(&scene);
    return stats.parallel;
}

static void test_every_order_gives_the_same_items(void)
{
    CHECK_INT(read_all_through(""), 0);
    CHECK_INT(read_all_through("b"), 0);
    CHECK_INT(read_all_through("br"), 1);
    CHECK_INT(read_all_through("rb"), 1);
    CHECK_INT(read_all_through("bb"), 0);
    CHECK(read_all_through("rbr") >= 1);
    CHECK(read_all_through("brb") == 1);
}

static void test_one_order_is_the_right_one(void)
{
    static const struct {
        const char *layers;
        bool right;
    } cases[] = {{"", true}, {"b", true}, {"r", true}, {"br", true}, {"rb", false}, {"bb", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        open_scene(&scene, cases[i].layers);
        CHECK_INT(source_is_stacked(scene.source), cases[i].right);
        close_scene(&scene);
    }
}

static const struct check_test tests[] = {
    {"every_order_gives_the_same_items", test_every_order_gives_the_same_items},
    {"one_order_is_the_right_one", test_one_order_is_the_right_one},
};

CHECK_MAIN(tests)
