/* Models of tables that the service describes: asked for once, believed for a while. */
#include "core/read/catalog.h"

#include <stdio.h>

#include "core/read/fetch.h"
#include "core/read/resolve.h"
#include "tests/unit/check.h"
#include "tests/unit/scene.h"

static struct scene scene;
static struct catalog *catalog;
static struct place *tables;
static size_t models_before;

static struct table_info keyed = {
    .keys = {.partition = {{{"PK", 2}, VALUE_S}},
             .sort = {{{"SK", 2}, VALUE_N}},
             .partition_count = 1,
             .sort_count = 1},
};

static const struct index_info index_by_status = {
    .name = {"by-status", 9},
    .keys = {.partition = {{{"status", 6}, VALUE_S}}, .partition_count = 1},
};

/* What came of questions; of the last one, its model with a reference. */
static struct answered {
    unsigned calls, models;
    const struct model *model;
    struct error err;
} got;

static void take(void *arg, const struct model *model, const struct error *err)
{
    (void)arg;
    CHECK((model != NULL) != (err != NULL));
    got.calls++;
    got.models += model != NULL;
    model_unref(got.model);
    got.model = model_ref(model);
    if (err)
        got.err = *err;
}

static void open_catalog(int64_t stale_ms)
{
    struct error err;
    got = (struct answered){0};
    models_before = model_count();
    CHECK(scene_open(&scene, map_none(), NULL));
    scene.fake.info = &keyed;
    struct catalog_options options = {
        .loop = scene.loop,
        .source = scene.tree.source,
        .source_arg = scene.tree.source_arg,
        .stale_ms = stale_ms,
    };
    catalog = catalog_new(&options);
    CHECK(catalog);
    scene.tree.models = catalog_models(catalog);
    CHECK(tree_resolve_now(&scene.tree, NULL, span_text("/tables"), &tables, &err) && tables);
}

static void close_catalog(void)
{
    model_unref(got.model);
    place_destroy(tables);
    catalog_destroy(catalog);
    CHECK_INT(scene.fake.started, scene.fake.ended);
    scene_close(&scene);
    CHECK_INT(model_count(), models_before);
}

static struct models_call *ask(const char *name)
{
    struct model_provider *models = catalog_models(catalog);
    struct models_call *call = models->ops->find(models, tables, span_text(name), NULL, take, NULL);
    CHECK(call);
    return call;
}

static const struct model *known(const char *name, int64_t *left_ms)
{
    struct model_provider *models = catalog_models(catalog);
    return models->ops->known(models, tables, span_text(name), left_ms);
}

/* Asks, and runs until there is an answer. */
static const struct model *learn(const char *name)
{
    ask(name);
    loop_run(scene.loop);
    return got.model;
}

static void test_a_table_is_asked_for_once_in_a_minute(void)
{
    int64_t left_ms = 0;
    open_catalog(0);
    CHECK(!known("Users", NULL));
    const struct model *first = learn("Users");
    CHECK(first);
    CHECK_TEXT(first->base_name, "Users");
    CHECK_INT(first->key_count, 2);
    CHECK_INT(first->keys[1].type, VALUE_N);
    CHECK(known("Users", &left_ms) == first);
    CHECK_INT(left_ms, MAP_STRUCTURE_TTL_MS);
    CHECK(learn("Users") == first);
    CHECK_INT(scene.fake.started, 1);
    CHECK_INT(got.calls, 2);
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS - 1;
    CHECK(known("Users", &left_ms) == first);
    CHECK_INT(left_ms, 1);
    scene.clock.now_ms++;
    CHECK(!known("Users", NULL));
    CHECK(learn("Users") == first); /* which says the same as before */
    CHECK_INT(scene.fake.started, 2);
    close_catalog();
}

static void test_tables_are_told_apart(void)
{
    open_catalog(0);
    const struct model *first = model_ref(learn("Users"));
    CHECK(learn("Orders") != first);
    CHECK(known("Users", NULL) == first && known("Orders", NULL) == got.model);
    CHECK_INT(scene.fake.started, 2);
    model_unref(first);
    close_catalog();
}

static void test_what_is_said_anew_is_another_model(void)
{
    struct table_info more = keyed;
    open_catalog(0);
    const struct model *first = model_ref(learn("Users"));
    more.indexes = &index_by_status;
    more.index_count = 1;
    scene.fake.info = &more;
    CHECK(learn("Users") == first);
    catalog_forget(catalog);
    CHECK(!known("Users", NULL));
    CHECK(learn("Users") != first);
    CHECK_INT(model_count(), models_before + 2); /* the old one is held here */
    model_unref(first);
    CHECK_INT(model_count(), models_before + 1);
    close_catalog();
}

static void test_those_who_ask_at_once_share_a_request(void)
{
    open_catalog(0);
    scene.fake.delay_ms = 100;
    ask("Users");
    struct models_call *second = ask("Users");
    ask("Users");
    struct model_provider *models = catalog_models(catalog);
    models->ops->cancel(second);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 1);
    CHECK_INT(got.calls, 2);
    CHECK_INT(got.models, 2);
    close_catalog();
}

static void test_the_last_to_leave_breaks_the_question_off(void)
{
    open_catalog(0);
    scene.fake.delay_ms = 100;
    struct model_provider *models = catalog_models(catalog);
    struct models_call *first = ask("Users"), *second = ask("Users");
    models->ops->cancel(first);
    CHECK_INT(scene.fake.ended, 0);
    models->ops->cancel(second);
    CHECK_INT(scene.fake.ended, 1);
    loop_run(scene.loop);
    CHECK_INT(got.calls, 0);
    CHECK(learn("Users"));
    models->ops->cancel(ask("Users")); /* which is known already */
    loop_run(scene.loop);
    CHECK_INT(got.calls, 1);
    close_catalog();
}

static void test_errors_are_told_and_not_kept(void)
{
    open_catalog(0);
    scene.fake.down = true;
    error_set(&scene.fake.error, ERROR_DENIED, "not allowed");
    CHECK(!learn("Users"));
    CHECK_INT(got.err.kind, ERROR_DENIED);
    scene.fake.down = false;
    CHECK(learn("Users"));
    CHECK_INT(scene.fake.started, 2);
    close_catalog();
}

static void test_a_table_that_is_not_there_is_not_found(void)
{
    open_catalog(0);
    CHECK(learn("Users"));
    scene.fake.info = NULL;
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    CHECK(!learn("Users"));
    CHECK_INT(got.err.kind, ERROR_NOT_FOUND);
    CHECK_HAS(got.err.text, "there is no table Users");
    CHECK_INT(got.err.ttl_left_ms, MAP_MISSING_TTL_MS);
    CHECK_INT(model_count(), models_before);
    close_catalog();
}

static void test_there_may_be_nobody_to_ask(void)
{
    open_catalog(0);
    error_set(&scene.refusal, ERROR_INVALID, "no such profile");
    CHECK(!known("Users", NULL));
    CHECK(!learn("Users"));
    CHECK_TEXT(got.err.text, "no such profile");
    close_catalog();
}

static void test_an_outage_is_bridged_by_what_was_known(void)
{
    open_catalog(3600 * 1000);
    const struct model *first = learn("Users");
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS + 1000;
    scene.fake.down = true;
    error_set(&scene.fake.error, ERROR_UNREACHABLE, "no route");
    CHECK(learn("Users") == first);
    CHECK(known("Users", NULL) == first); /* for a moment: not everybody asks in vain */
    unsigned asked = scene.fake.started;
    learn("Users");
    CHECK_INT(scene.fake.started, asked);
    scene.clock.now_ms += 3600 * 1000;
    CHECK(!learn("Users"));
    CHECK_INT(got.err.kind, ERROR_UNREACHABLE);
    close_catalog();
}

static void test_an_outage_is_told_where_nothing_may_be_too_old(void)
{
    open_catalog(0);
    CHECK(learn("Users"));
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    scene.fake.down = true;
    error_set(&scene.fake.error, ERROR_UNREACHABLE, "no route");
    CHECK(!learn("Users"));
    CHECK_INT(got.err.kind, ERROR_UNREACHABLE);
    close_catalog();
}

static void test_an_answer_from_before_it_was_forgotten_is_not_kept(void)
{
    open_catalog(0);
    scene.fake.delay_ms = 100;
    ask("Users");
    catalog_forget(catalog);
    ask("Users");
    loop_run(scene.loop);
    CHECK_INT(scene.fake.started, 2);
    CHECK_INT(got.models, 2);
    CHECK(known("Users", NULL) == got.model);
    close_catalog();
}

static void test_so_many_tables_are_remembered(void)
{
    char name[32];
    open_catalog(0);
    for (int i = 0; i < CATALOG_MOST_TABLES + 10; i++) {
        snprintf(name, sizeof name, "Table%d", i);
        CHECK(learn(name));
        CHECK(known("Table0", NULL)); /* which is in use */
    }
    CHECK_INT(model_count() - models_before, CATALOG_MOST_TABLES);
    CHECK(!known("Table1", NULL));
    CHECK(known("Table100", NULL));
    close_catalog();
}

/* Whoever is told may ask again at once. */
static void ask_again(void *arg, const struct model *model, const struct error *err)
{
    (void)model, (void)err;
    ask(arg);
}

static void test_asking_from_within(void)
{
    char name[] = "Users";
    open_catalog(0);
    struct model_provider *models = catalog_models(catalog);
    scene.fake.info = NULL;
    CHECK(models->ops->find(models, tables, span_text(name), NULL, ask_again, name));
    CHECK(models->ops->find(models, tables, span_text(name), NULL, ask_again, name));
    loop_run(scene.loop);
    CHECK_INT(got.calls, 2);
    CHECK_INT(scene.fake.started, 2);
    close_catalog();
}

/* Paths below a table. */

static struct place *resolved;

static void take_place(void *arg, struct place *place, const struct error *err)
{
    (void)arg;
    place_destroy(resolved);
    resolved = place;
    if (err)
        got.err = *err;
}

static struct place *resolve(const struct place *from, const char *path)
{
    CHECK(tree_resolve(&scene.tree, from, span_text(path), take_place, NULL));
    loop_run(scene.loop);
    return resolved;
}

static void close_resolved(void)
{
    place_destroy(resolved);
    resolved = NULL;
    close_catalog();
}

static void test_a_record_of_a_table_without_a_map(void)
{
    open_catalog(0);
    struct place *place = resolve(NULL, "/tables/Users/items/USER%2F1/7");
    CHECK(place);
    CHECK_INT(place->kind, PLACE_RECORD);
    CHECK_TEXT(place->table_prefix, "");
    CHECK_TEXT(place->table->base_name, "Users");
    CHECK_SPAN(place->below, SPAN_LITERAL("/items/USER%2F1/7"));
    CHECK(tree_is_current(&scene.tree, place));
    close_resolved();
}

static void test_a_name_that_is_typed_is_verified(void)
{
    open_catalog(0);
    struct place *place = resolve(NULL, "/tables/Users");
    CHECK(place);
    CHECK_INT(place->kind, PLACE_DIRECTORY);
    CHECK_INT(scene.fake.started, 1);
    scene.fake.info = NULL;
    CHECK(!resolve(NULL, "/tables/Nobody"));
    CHECK_INT(got.err.kind, ERROR_NOT_FOUND);
    CHECK_INT(scene.fake.started, 2);
    CHECK(!resolve(NULL, "/tables/.git"));
    CHECK(!resolve(NULL, "/tables/arn%3Aaws"));
    CHECK(!resolve(NULL, "/tables/ab"));
    CHECK(!resolve(NULL, "/other"));
    CHECK_HAS(got.err.text, "without a map there is tables/ alone");
    CHECK_HAS(got.err.text, "; if it is a table: /tables/other");
    CHECK(!resolve(NULL, "/no table"));
    CHECK(!strstr(got.err.text, "did you mean"));
    CHECK_INT(scene.fake.started, 2);
    close_resolved();
}

static void test_what_has_changed_is_found_anew(void)
{
    struct table_info other = keyed;
    struct place *now = NULL;
    open_catalog(0);
    struct place *box = place_copy(resolve(NULL, "/tables/Users/items/box"));
    CHECK(box && tree_resolve_now(&scene.tree, box, span_text("7"), &now, &got.err) && now);
    CHECK(now->table == box->table);
    place_destroy(now);
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    CHECK(!tree_is_current(&scene.tree, box));
    CHECK(!tree_resolve_now(&scene.tree, box, span_text("7"), &now, &got.err));
    other.keys.sort[0].type = VALUE_S;
    scene.fake.info = &other;
    struct place *record = resolve(box, "seven");
    CHECK(record);
    CHECK_INT(record->kind, PLACE_RECORD);
    CHECK(record->table != box->table);
    CHECK_SPAN(record->below, SPAN_LITERAL("/items/box/seven"));
    CHECK_INT(tree_structure_ttl_ms(&scene.tree, record), MAP_STRUCTURE_TTL_MS);
    CHECK_INT(tree_structure_ttl_ms(&scene.tree, box), MAP_STRUCTURE_TTL_MS);
    place_destroy(box);
    close_resolved();
}

/* They have a description of their own beside their table's. */
static void test_similar_items_are_found_anew(void)
{
    static const struct vector_info vector = {.name = {"by-look", 7},
                                              .attribute = {"look", 4},
                                              .dimensions = 2,
                                              .distance = {"COSINE", 6},
                                              .status = {"ACTIVE", 6}};
    struct table_info searched = keyed;
    searched.vectors = &vector;
    searched.vector_count = 1;
    open_catalog(0);
    scene.fake.info = &searched;
    struct place *similar = place_copy(resolve(NULL, "/tables/Users/items/box/7@similar"));
    CHECK(similar);
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    resolve(similar, "01_box,8");
    CHECK_INT(scene.fake.started, 2);
    place_destroy(similar);
    close_resolved();
}

static void test_listing_all_tables_describes_none(void)
{
    static const char *const names[] = {"Users", "HEAD", ".hidden", "Orders", NULL};
    struct told told = {0};
    open_catalog(0);
    scene.fake.tables = names;
    scene.fake.page_size = 2;
    CHECK(scene_list(&scene, "/tables", &told));
    CHECK_TEXT(buf_text(&told.bytes), "Users/\n%48EAD/\n%2Ehidden/\nOrders/\n");
    CHECK_INT(scene.fake.started, 1);
    CHECK_HAS(scene.fake.last, "tables ");
    struct place *place = resolve(NULL, "/tables/%2Ehidden");
    CHECK(place);
    CHECK_TEXT(place->table->base_name, ".hidden");
    told_clean_up(&told);
    close_resolved();
}

static void test_a_listing_of_tables_is_whole_or_fails(void)
{
    static const char *const names[] = {"Users", "Orders", NULL};
    struct told told = {0};
    open_catalog(0);
    scene.fake.tables = names;
    scene.fake.page_size = 1;
    scene.fake.fail_at = 2;
    error_set(&scene.fake.error, ERROR_DENIED, "not allowed to list tables");
    CHECK(scene_list(&scene, "/tables", &told));
    CHECK_TEXT(buf_text(&told.bytes), "Users/\n");
    CHECK_INT(told.err.kind, ERROR_DENIED);
    told_clean_up(&told);
    close_resolved();
}

/* What a listing told of is described when somebody looks inside. */
static void test_a_table_known_by_its_name_is_listed(void)
{
    struct told told = {0};
    struct error err;
    open_catalog(0);
    struct place *users = place_child(tables, SPAN_LITERAL("Users"), &scene.tree.names, &err);
    CHECK(users);
    CHECK_INT(users->kind, PLACE_TABLE);
    CHECK(place_is_directory(users) && !fetch_is_needed(users));
    struct tree_listing *listing = tree_list(&scene.tree, users, false, scene_take_page, &told);
    CHECK(listing);
    loop_run(scene.loop);
    CHECK_TEXT(buf_text(&told.bytes), "README\nschema.json\nitems/\n");
    CHECK_TEXT(tree_list_place(listing)->table->base_name, "Users");
    CHECK_INT(scene.fake.started, 1);
    tree_list_end(listing);
    place_destroy(users);
    told_clean_up(&told);
    close_catalog();
}

static void test_an_environment_of_a_map_has_all_tables_too(void)
{
    struct error err;
    struct place *users = NULL, *again = NULL;
    static const char text[] =
        "{\"environments\":{\"prod\":{\"prefix\":\"p-\"}},\"tables\":{\"t\":{\"table\":\"T\","
        "\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{\"{a}\":{}}}}}";
    const struct map *map = map_parse("m", span_text(text), NULL, &err);
    CHECK(map);
    users = place_resolve(map, span_text("/prod/tables/p-T"), &scene.tree.names, &err);
    CHECK(users);
    CHECK_INT(users->kind, PLACE_TABLE);
    CHECK_TEXT(users->table_name, "p-T");
    CHECK_TEXT(users->table_prefix, "");
    CHECK(users->environment == map->environments);
    again = place_undescribed(users);
    CHECK(again);
    place_destroy(again);
    place_destroy(users);
    map_unref(map);
}

/* What stands in the table's directory: facts of it, and the keys that a Scan finds. */

static const struct fake_item users[] = {
    {"Users", NULL, "{\"PK\":{\"S\":\"b\"},\"SK\":{\"N\":\"1\"}}"},
    {"Users", NULL, "{\"PK\":{\"S\":\"a/b\"},\"SK\":{\"N\":\"1\"}}"},
    {"Users", NULL, "{\"PK\":{\"S\":\"b\"},\"SK\":{\"N\":\"2\"}}"},
    {"Users", NULL, "{\"PK\":{\"S\":\"c\"},\"SK\":{\"N\":\"1\"}}"},
    {"Users", NULL, "{\"PK\":{\"S\":\"b\"},\"SK\":{\"N\":\"3\"}}"},
    {"Orders", NULL, "{\"PK\":{\"S\":\"z\"},\"SK\":{\"N\":\"1\"}}"},
    {0},
};

static struct scan_limits limits;

/* The place at PATH, of a table that has been described; nothing has been asked then. */
static struct place *open_place(const char *path)
{
    struct place *place = NULL;
    struct error err = {0};
    open_catalog(0);
    scene.fake.items = users;
    limits = (struct scan_limits){10, 1 << 20};
    scene.tree.names.scan = &limits;
    learn("Users");
    scene.fake.started = scene.fake.ended = scene.fake.pages = 0;
    if (!tree_resolve_now(&scene.tree, NULL, span_text(path), &place, &err) || !place)
        CHECK_FAIL("%s", err.text);
    return place;
}

static void close_place(struct place *place, struct told *told)
{
    place_destroy(place);
    told_clean_up(told);
    close_catalog();
}

static void list(struct place *place, struct told *told)
{
    told_clean_up(told);
    *told = (struct told){0};
    struct tree_listing *listing = tree_list(&scene.tree, place, true, scene_take_page, told);
    CHECK(listing);
    loop_run(scene.loop);
    while (told->more) {
        unsigned calls = told->calls;
        tree_list_more(listing);
        CHECK_INT(told->calls, calls); /* the next page comes later */
        loop_run(scene.loop);
    }
    tree_list_end(listing);
}

static void test_keys_of_all_segments_are_listed_once(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    scene.fake.page_size = 1;
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\na%2Fb/\nb/\nc/\n");
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_INT(scene.fake.started, 4);
    CHECK_INT(scene.fake.most_open, 4);
    close_place(items, &told);
}

static void test_keys_are_good_for_a_minute(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    list(items, &told);
    list(items, &told);
    CHECK_INT(scene.fake.started, 4);
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\na%2Fb/\nb/\nc/\n");
    CHECK_INT(scene.fake.started, 4 + 1 + 4); /* the description, too */
    close_place(items, &told);
}

static void test_keys_of_a_table_made_anew_are_not_those_of_the_old_one(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    static struct table_info numbered = {
        .keys = {.partition = {{{"SK", 2}, VALUE_N}}, .partition_count = 1},
    };
    list(items, &told);
    CHECK_INT(scene.fake.started, 4);
    scene.fake.info = &numbered;
    catalog_forget(catalog); /* as when the description's minute is over, and not the keys' */
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\n1\n2\n3\n");
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_INT(scene.fake.started, 4 + 1 + 4);
    close_place(items, &told);
}

static void test_two_who_list_share_a_scan(void)
{
    struct told told[2] = {{0}, {0}};
    struct tree_listing *listings[2];
    struct place *items = open_place("/tables/Users/items");
    for (int i = 0; i < 2; i++)
        listings[i] = tree_list(&scene.tree, items, false, scene_take_page, &told[i]);
    loop_run(scene.loop);
    for (int i = 0; i < 2; i++)
        tree_list_more(listings[i]);
    loop_run(scene.loop);
    for (int i = 0; i < 2; i++) {
        CHECK_TEXT(buf_text(&told[i].bytes), "README\na%2Fb/\nb/\nc/\n");
        tree_list_end(listings[i]);
    }
    CHECK_INT(scene.fake.started, 4);
    told_clean_up(&told[1]);
    close_place(items, &told[0]);
}

/* close_catalog looks whether every call was ended. */
static void test_who_goes_away_ends_the_scan(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    struct tree_listing *listing = tree_list(&scene.tree, items, false, scene_take_page, &told);
    loop_run(scene.loop);
    tree_list_more(listing);
    scene_run_rounds(&scene, 1);
    CHECK_INT(scene.fake.started - scene.fake.ended, 4);
    tree_list_end(listing);
    CHECK_INT(scene.fake.started, scene.fake.ended);
    close_place(items, &told);
}

static void test_a_segment_that_fails_ends_all(void)
{
    for (unsigned at = 1; at <= 4; at++) {
        struct told told = {0};
        struct place *items = open_place("/tables/Users/items");
        error_set(&scene.fake.error, ERROR_DENIED, "no");
        scene.fake.fail_at = at;
        list(items, &told);
        CHECK_TEXT(buf_text(&told.bytes), "README\n");
        CHECK_INT(told.err.kind, ERROR_DENIED);
        CHECK_INT(scene.fake.started, scene.fake.ended);
        list(items, &told); /* failures are not remembered */
        CHECK_INT(told.err.kind, ERROR_NONE);
        close_place(items, &told);
    }
}

static void test_a_scan_ends_at_its_limit(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    limits.items = 4;
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\n");
    CHECK_INT(told.err.kind, ERROR_TOO_LARGE);
    CHECK_HAS(told.err.text,
              "stopped the Scan of Users after 5 items (limit 4 items, --scan-limit)");
    limits.items = 5;
    list(items, &told);
    CHECK_INT(told.err.kind, ERROR_NONE);
    close_place(items, &told);
}

static void test_a_table_beyond_the_limit_is_not_scanned(void)
{
    struct told told = {0};
    keyed.item_count = 11;
    keyed.size_bytes = 10;
    struct place *items = open_place("/tables/Users/items");
    list(items, &told);
    CHECK_INT(told.err.kind, ERROR_TOO_LARGE);
    CHECK_HAS(told.err.text, "the table has 11 items of 1 KB");
    CHECK_INT(scene.fake.started, 0);
    limits.items = 11;
    limits.bytes = 9;
    list(items, &told);
    CHECK_INT(told.err.kind, ERROR_TOO_LARGE);
    CHECK_INT(scene.fake.started, 0);
    keyed.item_count = keyed.size_bytes = 0;
    close_place(items, &told);
}

/* Where nobody was told how large the table is, the Scan itself keeps to the limit. */
static void test_a_size_that_is_not_told_is_asked_for(void)
{
    struct told told = {0};
    keyed.item_count = keyed.size_bytes = -1;
    struct place *items = open_place("/tables/Users/items");
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\na%2Fb/\nb/\nc/\n");
    CHECK_INT(scene.fake.started, 1 + 4);
    keyed.item_count = keyed.size_bytes = 0;
    close_place(items, &told);
}

static void test_nothing_is_scanned_without_the_option(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    scene.tree.names.scan = NULL;
    list(items, &told);
    CHECK_TEXT(buf_text(&told.bytes), "README\n{PK}/\n");
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_INT(scene.fake.started, 0);
    close_place(items, &told);
}

static void test_no_memory_for_a_scan(void)
{
    struct told told = {0};
    struct place *items = open_place("/tables/Users/items");
    scene.fake.no_memory = true;
    list(items, &told);
    CHECK_INT(told.err.kind, ERROR_NO_MEMORY);
    scene.fake.no_memory = false;
    close_place(items, &told);
}

static void read_fact(struct place *place, struct told *told)
{
    told_clean_up(told);
    *told = (struct told){0};
    CHECK(tree_read(&scene.tree, place, scene_take_file, told));
    loop_run(scene.loop);
    CHECK_INT(told->calls, 1);
}

static void test_the_schema_was_told_with_the_keys(void)
{
    struct told told = {0};
    struct place *schema = open_place("/tables/Users/schema.json");
    read_fact(schema, &told);
    CHECK_TEXT(buf_text(&told.bytes), "{}\n");
    CHECK_INT(scene.fake.started, 0);
    CHECK_INT(told.ttl_left_ms, MAP_STRUCTURE_TTL_MS);
    catalog_forget(catalog);
    scene.fake.description = "{ \"new\": 1 }";
    read_fact(schema, &told);
    CHECK_TEXT(buf_text(&told.bytes), "{ \"new\": 1 }\n");
    CHECK_INT(scene.fake.started, 1);
    close_place(schema, &told);
}

static void test_backups_are_told_once_a_minute(void)
{
    struct told told = {0};
    struct place *backups = open_place("/tables/Users/backups.json");
    scene.fake.items = NULL;
    scene.fake.description = "{\"x\":1}";
    read_fact(backups, &told);
    read_fact(backups, &told);
    CHECK_TEXT(buf_text(&told.bytes),
               "{\"BackupSummaries\":[],\"ContinuousBackupsDescription\":{\"x\":1}}\n");
    CHECK_INT(scene.fake.started, 2);
    scene.clock.now_ms += MAP_STRUCTURE_TTL_MS;
    read_fact(backups, &told);
    CHECK_INT(scene.fake.started, 4);
    close_place(backups, &told);
}

static void test_exports_are_those_of_the_table_s_arn(void)
{
    struct told told = {0};
    keyed.arn = SPAN_LITERAL("arn:x:table/Users");
    struct place *exports = open_place("/tables/Users/exports.json");
    CHECK_TEXT(exports->table->arn, "arn:x:table/Users");
    scene.fake.items = NULL;
    read_fact(exports, &told);
    CHECK_TEXT(buf_text(&told.bytes), "{\"ExportSummaries\":[]}\n");
    CHECK_TEXT(scene.fake.last, "exports Users");
    close_place(exports, &told);
    keyed.arn = (struct span){0};
}

static void test_either_request_for_backups_may_fail(void)
{
    for (unsigned at = 1; at <= 2; at++) {
        struct told told = {0};
        struct place *backups = open_place("/tables/Users/backups.json");
        scene.fake.items = NULL;
        error_set(&scene.fake.error, ERROR_INVALID, "not known");
        scene.fake.fail_at = at;
        read_fact(backups, &told);
        CHECK_INT(told.err.kind, ERROR_INVALID);
        CHECK_INT(told.bytes.size, 0);
        read_fact(backups, &told);
        CHECK_INT(told.err.kind, ERROR_NONE);
        close_place(backups, &told);
    }
}

static void test_who_goes_away_ends_what_is_asked_of_a_fact(void)
{
    struct told told = {0};
    struct place *backups = open_place("/tables/Users/backups.json");
    struct tree_call *call = tree_read(&scene.tree, backups, scene_take_file, &told);
    CHECK_INT(scene.fake.started, 2);
    tree_cancel(call);
    CHECK_INT(scene.fake.ended, 2);
    CHECK_INT(told.calls, 0);
    close_place(backups, &told);
}

static void test_a_fact_of_whom_nobody_can_ask(void)
{
    struct told told = {0};
    struct place *expiry = open_place("/tables/Users/ttl.json");
    error_set(&scene.refusal, ERROR_INVALID, "no region");
    read_fact(expiry, &told);
    CHECK_TEXT(told.err.text, "no region");
    scene.refusal = (struct error){0};
    scene.fake.no_memory = true;
    read_fact(expiry, &told);
    CHECK_INT(told.err.kind, ERROR_NO_MEMORY);
    scene.fake.no_memory = false;
    close_place(expiry, &told);
}

static const struct check_test tests[] = {
    {"keys_of_all_segments_are_listed_once", test_keys_of_all_segments_are_listed_once},
    {"keys_are_good_for_a_minute", test_keys_are_good_for_a_minute},
    {"keys_of_a_table_made_anew_are_not_those_of_the_old_one",
     test_keys_of_a_table_made_anew_are_not_those_of_the_old_one},
    {"two_who_list_share_a_scan", test_two_who_list_share_a_scan},
    {"who_goes_away_ends_the_scan", test_who_goes_away_ends_the_scan},
    {"a_segment_that_fails_ends_all", test_a_segment_that_fails_ends_all},
    {"a_scan_ends_at_its_limit", test_a_scan_ends_at_its_limit},
    {"a_table_beyond_the_limit_is_not_scanned", test_a_table_beyond_the_limit_is_not_scanned},
    {"a_size_that_is_not_told_is_asked_for", test_a_size_that_is_not_told_is_asked_for},
    {"nothing_is_scanned_without_the_option", test_nothing_is_scanned_without_the_option},
    {"no_memory_for_a_scan", test_no_memory_for_a_scan},
    {"the_schema_was_told_with_the_keys", test_the_schema_was_told_with_the_keys},
    {"backups_are_told_once_a_minute", test_backups_are_told_once_a_minute},
    {"exports are those of the table's ARN", test_exports_are_those_of_the_table_s_arn},
    {"either_request_for_backups_may_fail", test_either_request_for_backups_may_fail},
    {"who_goes_away_ends_what_is_asked_of_a_fact", test_who_goes_away_ends_what_is_asked_of_a_fact},
    {"a_fact_of_whom_nobody_can_ask", test_a_fact_of_whom_nobody_can_ask},
    {"a_table_is_asked_for_once_in_a_minute", test_a_table_is_asked_for_once_in_a_minute},
    {"tables_are_told_apart", test_tables_are_told_apart},
    {"what_is_said_anew_is_another_model", test_what_is_said_anew_is_another_model},
    {"those_who_ask_at_once_share_a_request", test_those_who_ask_at_once_share_a_request},
    {"the_last_to_leave_breaks_the_question_off", test_the_last_to_leave_breaks_the_question_off},
    {"errors_are_told_and_not_kept", test_errors_are_told_and_not_kept},
    {"a_table_that_is_not_there_is_not_found", test_a_table_that_is_not_there_is_not_found},
    {"there_may_be_nobody_to_ask", test_there_may_be_nobody_to_ask},
    {"an_outage_is_bridged_by_what_was_known", test_an_outage_is_bridged_by_what_was_known},
    {"an_outage_is_told_where_nothing_may_be_too_old",
     test_an_outage_is_told_where_nothing_may_be_too_old},
    {"an_answer_from_before_it_was_forgotten_is_not_kept",
     test_an_answer_from_before_it_was_forgotten_is_not_kept},
    {"so_many_tables_are_remembered", test_so_many_tables_are_remembered},
    {"asking_from_within", test_asking_from_within},
    {"a_record_of_a_table_without_a_map", test_a_record_of_a_table_without_a_map},
    {"a_name_that_is_typed_is_verified", test_a_name_that_is_typed_is_verified},
    {"what_has_changed_is_found_anew", test_what_has_changed_is_found_anew},
    {"similar_items_are_found_anew", test_similar_items_are_found_anew},
    {"listing_all_tables_describes_none", test_listing_all_tables_describes_none},
    {"a_listing_of_tables_is_whole_or_fails", test_a_listing_of_tables_is_whole_or_fails},
    {"a_table_known_by_its_name_is_listed", test_a_table_known_by_its_name_is_listed},
    {"an_environment_of_a_map_has_all_tables_too", test_an_environment_of_a_map_has_all_tables_too},
};

CHECK_MAIN(tests)
