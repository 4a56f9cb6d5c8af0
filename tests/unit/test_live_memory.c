/* The memory of a table that is followed: whatever changes, each stored result is the one that the
 * table itself would return, or it is not known any more. */
#include "core/live/live_memory.h"

#include "core/item/item.h"
#include "tests/unit/check.h"

enum { ITEMS = 40, STEPS = 300 };

/* A row of the table: its key is pk, sk; the index "I" is by g, s; "K" by g and holds keys alone.
 */
struct thing {
    bool exists;
    unsigned g, s, v; /* G 0: the item is in no index */
    char text[256];
};

struct scene {
    struct live_schema *schema;
    struct live_budget budget;
    struct live_memory *memory;
    struct thing things[ITEMS];
    uint64_t seed;
};

static unsigned draw(struct scene *scene, unsigned below)
{
    scene->seed = scene->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(scene->seed >> 33) % below;
}

static void open_scene(struct scene *scene, uint64_t seed)
{
    const struct index_info indexes[] = {
        {.name = SPAN_LITERAL("I"),
         .keys = {.partition = {{SPAN_LITERAL("g"), VALUE_S}},
                  .sort = {{SPAN_LITERAL("s"), VALUE_N}},
                  .partition_count = 1,
                  .sort_count = 1},
         .projection = PROJECTS_ALL},
        {.name = SPAN_LITERAL("K"),
         .keys = {.partition = {{SPAN_LITERAL("g"), VALUE_S}}, .partition_count = 1},
         .projection = PROJECTS_KEYS},
    };
    const struct table_info info = {
        .keys = {.partition = {{SPAN_LITERAL("pk"), VALUE_S}},
                 .sort = {{SPAN_LITERAL("sk"), VALUE_S}},
                 .partition_count = 1,
                 .sort_count = 1},
        .indexes = indexes,
        .index_count = 2,
    };
    *scene = (struct scene){.seed = seed, .budget.most = 1 << 20};
    scene->schema = live_schema_new(&info);
    CHECK(scene->schema);
    scene->memory = live_memory_new(scene->schema, &scene->budget);
    CHECK(scene->memory);
}

static void close_scene(struct scene *scene)
{
    live_memory_destroy(scene->memory);
    live_schema_unref(scene->schema);
    CHECK_INT(scene->budget.used, 0);
    CHECK(list_is_empty(&scene->budget.entries));
}

static struct value text_value(const char *text)
{
    return (struct value){VALUE_S, span_text(text)};
}

/* Items. */

static unsigned partition_of(size_t i)
{
    return (unsigned)i % 3;
}

static void write_thing(struct thing *thing, size_t i)
{
    char index[64] = "";
    if (thing->g)
        snprintf(index, sizeof index, ",\"g\":{\"S\":\"g%u\"},\"s\":{\"N\":\"%u\"}", thing->g,
                 thing->s);
    snprintf(thing->text, sizeof thing->text,
             "{\"pk\":{\"S\":\"p%u\"},\"sk\":{\"S\":\"s%02zu\"},\"v\":{\"N\":\"%u\"}%s}",
             partition_of(i), i, thing->v, index);
}

static void write_key(size_t i, struct buf *out)
{
    buf_printf(out, "{\"pk\":{\"S\":\"p%u\"},\"sk\":{\"S\":\"s%02zu\"}}", partition_of(i), i);
}

/* Queries. */

enum shape {
    OF_TABLE,       /* a partition */
    OF_RANGE,       /* sk between two values, descending */
    OF_FILTER,      /* v > 5 */
    OF_FIRST,       /* the first three */
    OF_LAST,        /* the last three */
    OF_INDEX,       /* g */
    OF_INDEX_RANGE, /* s >= 3, descending */
    OF_KEYS,        /* g, by the index of keys */
    OF_KEYS_FILTER, /* the same, where v > 5: the index does not have v */
    OF_COUNT,
    OF_COLUMNS, /* the attribute v alone */
    SHAPES,
};

static struct value number_value(const char *text)
{
    return (struct value){VALUE_N, span_text(text)};
}

static void add_where(struct read *read, const char *name, enum cond_op op, struct value value,
                      struct value upper)
{
    read_add_where(
        read,
        &(struct cond){.attribute = span_text(name), .op = op, .value = value, .upper = upper});
}

static struct read *make_read(enum shape shape, unsigned of)
{
    static const struct value none = {VALUE_S, {"", 0}};
    char partition[8];
    bool of_index = shape == OF_INDEX || shape == OF_INDEX_RANGE;
    bool of_keys = shape == OF_KEYS || shape == OF_KEYS_FILTER;
    struct read *read = read_new(READ_QUERY, "T", of_index ? "I" : of_keys ? "K" : NULL);
    CHECK(read);
    snprintf(partition, sizeof partition, "%c%u", read->index ? 'g' : 'p', of);
    add_where(read, read->index ? "g" : "pk", COND_EQ, text_value(partition), none);
    if (!read->index)
        read_add_sort(read, SPAN_LITERAL("sk"));
    else if (of_index)
        read_add_sort(read, SPAN_LITERAL("s"));
    if (shape == OF_RANGE)
        add_where(read, "sk", COND_BETWEEN, text_value("s05"), text_value("s25"));
    if (shape == OF_INDEX_RANGE)
        add_where(read, "s", COND_GE, number_value("3"), none);
    if (shape == OF_FILTER || shape == OF_KEYS_FILTER)
        read_add_filter(read, &(struct cond){.attribute = SPAN_LITERAL("v"),
                                             .op = COND_GT,
                                             .value = number_value("5")});
    if (shape == OF_FIRST || shape == OF_LAST)
        read->limit = 3;
    read->descending = shape == OF_RANGE || shape == OF_LAST || shape == OF_INDEX_RANGE;
    read->counts = shape == OF_COUNT;
    if (shape == OF_COLUMNS)
        read_add_attribute(read, SPAN_LITERAL("v"));
    CHECK(!read_failed(read));
    return read;
}

static bool admits(const struct read *read, struct json item)
{
    bool failed = false;
    for (size_t i = 0; i < read->where_count; i++)
        if (!cond_holds(&read->where[i], item, &failed))
            return false;
    for (size_t i = 0; i < read->filter_count; i++)
        if (!cond_holds(&read->filter[i], item, &failed))
            return false;
    return true;
}

/* A place in the order of READ: sk, or s and an order among equal ones that no service promises. */
static int compare(const struct scene *scene, const struct read *read, size_t a, size_t b)
{
    int order = (a > b) - (a < b);
    if (read->index && read->sort_count)
        order =
            (scene->things[a].s > scene->things[b].s) - (scene->things[a].s < scene->things[b].s);
    return read->descending ? -order : order;
}

/* The items that READ returns, in order; their number. */
static size_t answer(const struct scene *scene, const struct read *read, size_t out[ITEMS])
{
    size_t count = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        if (!scene->things[i].exists)
            continue;
        CHECK(json_parse(&doc, span_text(scene->things[i].text), JSON_STRICT, NULL));
        bool has_filtered = !read->index || strcmp(read->index, "K") != 0 || !read->filter_count;
        if (!has_filtered || !admits(read, json_root(&doc)))
            continue;
        size_t at = count++;
        for (; at > 0 && compare(scene, read, out[at - 1], i) > 0; at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    return count;
}

static void project(const struct scene *scene, const struct read *read, size_t i, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CHECK(json_parse(&doc, span_text(scene->things[i].text), JSON_STRICT, NULL));
    live_schema_project(scene->schema, live_schema_find(scene->schema, read->index), read,
                        json_root(&doc), out);
}

/* Stores what the table would return now. */
static void store(struct scene *scene, const struct read *read)
{
    size_t rows[ITEMS], count = answer(scene, read, rows);
    bool is_complete = !read->limit || count <= read->limit;
    struct live_query *query =
        live_query_new(scene->schema, live_schema_find(scene->schema, read->index), read);
    CHECK(query);
    query->is_complete = is_complete;
    query->counted = read->counts ? count : 0;
    for (size_t i = 0; !read->counts && i < (is_complete ? count : read->limit); i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        project(scene, read, rows[i], &text);
        CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
        CHECK(live_query_add(query, json_root(&doc)));
    }
    live_memory_store_query(scene->memory, query, 1);
}

/* Equal sort keys of an index may come in any order: then only the sets of rows are compared. */
static bool has_row(const struct live_query *query, struct span text)
{
    for (size_t i = 0; i < query->count; i++)
        if (span_equal(live_row_text(query->rows[i]), text))
            return true;
    return false;
}

static void check_order(const struct read *read, const struct live_query *query)
{
    unsigned before = 0;
    for (size_t i = 0; i < query->count && read->index && read->sort_count; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        int64_t s;
        struct span digits;
        CHECK(json_parse(&doc, live_row_text(query->rows[i]), JSON_STRICT, NULL));
        CHECK(json_plain_string(json_member(json_member(json_root(&doc), "s"), "N"), &digits));
        s = strtol(digits.data, NULL, 10);
        CHECK(i == 0 || (read->descending ? s <= (int64_t)before : s >= (int64_t)before));
        before = (unsigned)s;
    }
}

static unsigned long checked;

static void check_query(struct scene *scene, enum shape shape, unsigned of)
{
    struct read *read = make_read(shape, of);
    const struct live_query *query = live_memory_find_query(scene->memory, read, 0);
    size_t rows[ITEMS], count = answer(scene, read, rows);
    checked += query != NULL;
    if (!query) {
        store(scene, read);
    } else if (read->counts) {
        CHECK_INT(query->counted, count);
    } else {
        CHECK(query->is_complete ? query->count == count
                                 : query->count >= read->limit && query->count <= count);
        for (size_t i = 0; i < query->count; i++) {
            CLEAN_UP(buf_clean_up) struct buf text = {0};
            project(scene, read, rows[i], &text);
            if (read->index ? !has_row(query, buf_span(&text))
                            : !span_equal(live_row_text(query->rows[i]), buf_span(&text)))
                CHECK_FAIL("shape %d of %u: row %zu is %.*s, not %s", (int)shape, of, i,
                           (int)query->rows[i]->size, query->rows[i]->text, buf_text(&text));
        }
        check_order(read, query);
    }
    read_destroy(read);
}

/* Changes. */

struct step {
    struct json_doc docs[3];
    struct buf keys, key;
};

static void step_clean_up(struct step *step)
{
    for (size_t i = 0; i < 3; i++)
        json_clean_up(&step->docs[i]);
    buf_clean_up(&step->keys);
    buf_clean_up(&step->key);
}

/* Changes the item number I as a stream reports it, whose view has the images BEFORE and AFTER. */
static void change(struct scene *scene, size_t i, bool before, bool after)
{
    CLEAN_UP(step_clean_up) struct step step = {0};
    struct thing old = scene->things[i], *thing = &scene->things[i];
    thing->exists = draw(scene, 5) > 0;
    thing->g = draw(scene, 4);
    thing->s = draw(scene, 6);
    thing->v = draw(scene, 10);
    write_thing(thing, i);
    write_key(i, &step.keys);
    CHECK(json_parse(&step.docs[0], buf_span(&step.keys), JSON_STRICT, NULL));
    struct live_image image = {.keys = json_root(&step.docs[0]),
                               .before_known = before || !old.exists,
                               .after_known = after || !thing->exists};
    CHECK(live_schema_write_key(scene->schema, image.keys, &step.key));
    image.key = buf_span(&step.key);
    image.hash = live_schema_hash(scene->schema, image.key);
    if (before && old.exists) {
        CHECK(json_parse(&step.docs[1], span_text(old.text), JSON_STRICT, NULL));
        image.before = json_root(&step.docs[1]);
    }
    if (after && thing->exists) {
        CHECK(json_parse(&step.docs[2], span_text(thing->text), JSON_STRICT, NULL));
        image.after = json_root(&step.docs[2]);
    }
    live_memory_apply(scene->memory, &image);
}

static void check_item(struct scene *scene, size_t i)
{
    CLEAN_UP(buf_clean_up) struct buf keys = {0}, key = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct live_row *row = NULL;
    const struct thing *thing = &scene->things[i];
    write_key(i, &keys);
    CHECK(json_parse(&doc, buf_span(&keys), JSON_STRICT, NULL));
    CHECK(live_schema_write_key(scene->schema, json_root(&doc), &key));
    char pk[8], sk[8];
    snprintf(pk, sizeof pk, "p%u", partition_of(i));
    snprintf(sk, sizeof sk, "s%02zu", i);
    const struct key typed = {
        .attributes = {{SPAN_LITERAL("pk"), text_value(pk)}, {SPAN_LITERAL("sk"), text_value(sk)}},
        .count = 2};
    if (!live_memory_find_item(scene->memory, &typed, 0, &row)) {
        live_memory_store_item(scene->memory, buf_span(&key),
                               span_text(thing->exists ? thing->text : ""), 1);
        return;
    }
    checked++;
    CHECK_SPAN(row ? live_row_text(row) : span_text(""),
               span_text(thing->exists ? thing->text : ""));
    live_row_unref(row);
}

static void live(uint64_t seed, bool before, bool after)
{
    struct scene scene;
    open_scene(&scene, seed);
    for (unsigned step = 0; step < STEPS; step++) {
        change(&scene, draw(&scene, ITEMS), before, after);
        for (unsigned of = 0; of < 3; of++)
            check_query(&scene, (enum shape)draw(&scene, SHAPES), of);
        check_item(&scene, draw(&scene, ITEMS));
    }
    close_scene(&scene);
}

static void each_stored_result_is_that_of_the_table(void)
{
    const char *more = getenv("DDBFS_LIVES");
    unsigned long seeds = more ? strtoul(more, NULL, 10) : check_cases(20);
    checked = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        live(seed, true, true);
    CHECK(checked > 500 * seeds);
}

static void what_a_stream_does_not_tell_is_not_known_any_more(void)
{
    for (uint64_t seed = 1; seed <= check_cases(5); seed++)
        for (int view = 0; view < 3; view++)
            live(seed, view == 1, view == 2);
}

static void the_least_recently_used_results_go_first(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    scene.budget.most = 4000;
    for (size_t i = 0; i < ITEMS; i++)
        change(&scene, i, true, true);
    for (unsigned round = 0; round < 3; round++)
        for (size_t i = 0; i < ITEMS; i++) {
            check_item(&scene, i);
            CHECK(scene.budget.used <= 4000);
        }
    CHECK(live_memory_stats(scene.memory).items < ITEMS);
    CHECK(live_memory_stats(scene.memory).items > 5);
    close_scene(&scene);
}

static void add_row(struct live_query *query, const char *text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CHECK(json_parse(&doc, span_text(text), JSON_STRICT, NULL));
    CHECK(live_query_add(query, json_root(&doc)));
}

/* An item whose sort key in an index changes while its pages are read is on two of them. */
static void an_item_that_came_twice_is_changed_once(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    struct thing *thing = &scene.things[0];
    *thing = (struct thing){.exists = true, .g = 1, .s = 2};
    write_thing(thing, 0);
    struct read *read = make_read(OF_INDEX, 1);
    struct live_query *query =
        live_query_new(scene.schema, live_schema_find(scene.schema, "I"), read);
    CHECK(query);
    query->is_complete = true;
    add_row(query, thing->text);
    thing->s = 4;
    write_thing(thing, 0);
    add_row(query, thing->text);
    live_memory_store_query(scene.memory, query, 1);
    for (unsigned i = 0; i < 20; i++) {
        change(&scene, 0, true, true);
        check_query(&scene, OF_INDEX, 1);
    }
    read_destroy(read);
    close_scene(&scene);
}

static void old_results_are_not_used(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    struct read *read = make_read(OF_TABLE, 1);
    store(&scene, read);
    CHECK(live_memory_find_query(scene.memory, read, 1));
    CHECK(!live_memory_find_query(scene.memory, read, 2));
    CHECK(!live_memory_find_query(scene.memory, read, 0));
    read_destroy(read);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"each stored result is that of the table", each_stored_result_is_that_of_the_table},
    {"what a stream does not tell is not known any more",
     what_a_stream_does_not_tell_is_not_known_any_more},
    {"the least recently used results go first", the_least_recently_used_results_go_first},
    {"an item that came twice is changed once", an_item_that_came_twice_is_changed_once},
    {"old results are not used", old_results_are_not_used},
};
CHECK_MAIN(tests)
