/* Names and the way back, through the functions that the product uses: whatever key an entry of a
 * listing has, its name is looked up as that entry and nothing else, and so are its companions; on
 * every directory of the maps that the tests have, with several suffixes.
 *
 * DDBFS_TEST_NAMES=all takes all strings of two bytes, and of three bytes of the nasty alphabet, to
 * every map (minutes instead of seconds); DDBFS_TEST_SEED repeats a run's random strings. */
#include "core/name/names.h"

#include <dirent.h>
#include <inttypes.h>
#include <time.h>

#include "core/base/printable.h"
#include "core/read/place.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"

/* What escapes, companions, noise, siblings and UTF-8 are made of. */
static const char nasty[] = "%/.~@#\0\n\x1b\x7f"
                            "\x80\xc2\xe2\xa8\xc3\xa9"
                            "2Fdx-_ y";
enum { NASTY = sizeof nasty - 1, MAX_STRING = 700 };

static const struct map *map;
static struct place_options options;
static const struct place *directory;
static const struct route *child;
static size_t checked, skipped;
static uint64_t entry_rank = 1; /* of the next entry that is named, for names that begin with one */

static void show(const char *what, struct span bytes)
{
    printf("# %s: ", what);
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        printf(c > ' ' && c < 0x7f ? "%c" : "<%02x>", c);
    }
    printf("\n");
}

static void show_child(struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&child->segment, &segment);
    printf("# line %u of the map, \"%s\", suffix \"%s\"\n", child->line, buf_text(&segment),
           options.suffix);
    show("name", name);
}

#define REQUIRE(condition, name)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            show_child(name);                                                                      \
            CHECK_FAIL("%s", #condition);                                                          \
        }                                                                                          \
    } while (0)

static bool is_legal(struct span name)
{
    if (name.size == 0 || name.size > NAME_LIMIT || name.data[0] == '.')
        return false;
    while (name.size > 0) {
        bool safe;
        struct span character = printable_first(name, &safe);
        if (!safe || character.data[0] == '/')
            return false;
        name = span_from(name, character.size);
    }
    return true;
}

static bool says(const struct bindings *bindings, const struct bindings *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct span *value = bindings_find(bindings, parts->items[i].param);
        if (!value || !span_equal(*value, parts->items[i].value))
            return false;
    }
    return true;
}

static void check_means(struct span name, const char *ending, enum place_kind kind,
                        const struct bindings *parts)
{
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    buf_add_span(&whole, name);
    buf_add_text(&whole, ending);
    struct place *place = place_child(directory, buf_span(&whole), &options, &err);
    if (!place) {
        show_child(buf_span(&whole));
        CHECK_FAIL("%s", err.text);
    }
    enum escape_mark mark;
    struct span prefix, bare = name;
    if (child->file && !child->file->attribute)
        bare.size -= strlen(options.suffix);
    REQUIRE(names_skip_rank(child, &bare), name);
    bool shortened = escape_is_shortened(bare, &mark, &prefix);
    bool right =
        place->kind == kind && (shortened ? span_equal(place->shortened, bare)
                                          : place->route == child && says(&place->bindings, parts));
    place_destroy(place);
    REQUIRE(right, buf_span(&whole));
}

/* A record keeps its name but for the rank when others come before it, so the old name opens it. */
static void check_another_rank(const struct bindings *parts, struct span name)
{
    struct error err = {0};
    struct span rest = name;
    CLEAN_UP(buf_clean_up) struct buf old = {0};
    CHECK(names_skip_rank(child, &rest));
    buf_add_text(&old, entry_rank % 2 ? "0" : "7654321");
    buf_add_span(&old, child->entry->rank.behind);
    buf_add_span(&old, rest);
    struct place *place = place_child(directory, buf_span(&old), &options, &err);
    if (!place) {
        show_child(buf_span(&old));
        CHECK_FAIL("%s", err.text);
    }
    bool same = place->route == child && (place->shortened.size || says(&place->bindings, parts));
    place_destroy(place);
    REQUIRE(same, buf_span(&old));
}

static void check_name(const struct bindings *parts)
{
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (!place_write_name(directory, child, parts, entry_rank, &options, &name, &err)) {
        show_child(span_text(""));
        for (size_t i = 0; i < parts->count; i++)
            show(parts->items[i].param, parts->items[i].value);
        CHECK_FAIL("%s", err.text);
    }
    REQUIRE(is_legal(buf_span(&name)), buf_span(&name));
    checked++;
    enum escape_mark mark;
    struct span prefix;
    if (!child->file && escape_is_shortened(buf_span(&name), &mark, &prefix))
        return; /* only what lists it knows */
    bool record = child->file && !child->file->attribute;
    enum place_kind kind = record ? PLACE_RECORD : child->file ? PLACE_VALUE : PLACE_DIRECTORY;
    check_means(buf_span(&name), "", kind, parts);
    if (!record)
        return;
    check_means(buf_span(&name), "@typed", PLACE_TYPED, parts);
    check_means(buf_span(&name), "@info", PLACE_INFO, parts);
    check_means(buf_span(&name), "@", PLACE_ATTRS, parts);
    if (child->entry && child->entry->rank.digits)
        check_another_rank(parts, buf_span(&name));
    entry_rank = entry_rank % 99 + 1;
}

/* Whether a record with these parts is an entry of this kind: its keys can be taken apart again,
 * and no kind that is tried before takes them. */
static bool is_entry(const struct bindings *parts)
{
    struct buf keys[2] = {{0}, {0}};
    struct bindings all = directory->bindings;
    for (size_t i = 0; i < parts->count; i++)
        CHECK(bindings_add(&all, parts->items[i].param, parts->items[i].value));
    size_t count = directory->table->key_count;
    for (size_t i = 0; i < count; i++)
        CHECK(format_expand(&child->kind->keys[i], &all, &keys[i]));
    const struct route *entry = directory->route->children;
    struct bindings found = {0};
    for (; entry; entry = entry->next) {
        bool fits = entry->entry;
        found.count = 0;
        for (size_t i = 0; fits && i < count; i++)
            fits = format_match_key(&entry->kind->keys[i], buf_span(&keys[i]),
                                    directory->table->separator, &found);
        for (size_t i = 0; fits && i < found.count; i++) {
            const struct span *said = bindings_find(&directory->bindings, found.items[i].param);
            fits = !said || span_equal(*said, found.items[i].value);
        }
        if (fits)
            break;
    }
    bool same = entry == child && says(&found, parts);
    buf_clean_up(&keys[0]);
    buf_clean_up(&keys[1]);
    return same;
}

/* The strings. */

static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static void add_random_piece(struct buf *out)
{
    static const char *const pieces[] = {
        "%",        "%25", "%2F", "@typed", "@info",  "@",      "..",     ".d",
        "~",        "#",   "x-",  "-yy",    "README", "HEAD",   "\u202e", "é",
        "\xe2\x82", "%~",  "%=",  "all",    ".git",   "\u2028", "/",      "\xf0\x9f\x98\x80"};
    if (random_below(3) == 0)
        buf_add_text(out, pieces[random_below(sizeof pieces / sizeof pieces[0])]);
    else
        buf_add_char(out, (char)(random_below(2) ? random_below(256) : 'a' + random_below(26)));
}

typedef void use_fn(struct span text);

static void use_random(use_fn *use, int count)
{
    for (int i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        uint32_t size = random_below(4) ? random_below(12) : random_below(MAX_STRING);
        while (text.size < size)
            add_random_piece(&text);
        use(buf_span(&text));
        buf_clean_up(&text);
    }
}

static void use_words(use_fn *use)
{
    static const char *const words[] = {"",
                                        "README",
                                        "HEAD",
                                        "CVS",
                                        "lost+found",
                                        "a~",
                                        "/a~",
                                        "%~",
                                        "é~",
                                        ".git",
                                        "..",
                                        "a@typed",
                                        "@info",
                                        "@",
                                        "a@info@",
                                        "x.d",
                                        "/x.d",
                                        ".d",
                                        "x-1-yy",
                                        "x@typed",
                                        "1..2",
                                        "access-token",
                                        "DEFAULT_CONFIGS",
                                        "access-token@info",
                                        "all",
                                        "x.json",
                                        ".json",
                                        "\u202eé~",
                                        "a%~0123456789abcdef0123456789abcdef",
                                        ".HEAD~",
                                        "~",
                                        "x-~",
                                        "a@b@typed",
                                        "base64:",
                                        "base64:AAEC",
                                        "base64:A",
                                        "base64:%20/",
                                        "BASE64:AA",
                                        "ab",
                                        "AB",
                                        "7",
                                        "42",
                                        "042",
                                        "999",
                                        "1000"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        use(span_text(words[i]));
}

static void use_strings(use_fn *use, bool all)
{
    use_words(use);
    for (unsigned a = 0; a < 256; a += all ? 1 : 3) {
        char text[2] = {(char)a};
        use(span_of(text, 1));
        for (unsigned b = 0; all && b < 256; b++) {
            text[1] = (char)b;
            use(span_of(text, 2));
        }
    }
    for (size_t a = 0; a < NASTY; a++)
        for (size_t b = 0; b < NASTY; b++) {
            char text[3] = {nasty[a], nasty[b]};
            use(span_of(text, 2));
            for (size_t c = 0; all && c < NASTY; c++) {
                text[2] = nasty[c];
                use(span_of(text, 3));
            }
        }
    use_random(use, all ? 5000 : (int)check_cases(400));
}

static bool is_all(void)
{
    const char *size = getenv("DDBFS_TEST_NAMES");
    return size && strcmp(size, "all") == 0;
}

/* Parameters of the child that the path has not said; TARGET gets each string, the others a plain
 * value, or in turn the empty one. */
static const char *params[BINDINGS_MAX];
static size_t param_count, target;

static void add_params(const struct format *format)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        bool known = !param || bindings_find(&directory->bindings, param);
        for (size_t p = 0; !known && p < param_count; p++)
            known = strcmp(params[p], param) == 0;
        if (!known)
            params[param_count++] = param;
    }
}

/* Whether keys can hold the part so. */
static bool is_value(const char *param, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0};
    return model_read_part(directory->table, param, text, &value) &&
           span_equal(buf_span(&value), text);
}

static void use_string(struct span text)
{
    static const char *const others[] = {"k", "", "x-1"};
    static size_t turn;
    for (size_t i = 0; i < (is_all() && param_count > 1 ? 3 : 1); i++) {
        size_t other = turn++ % 3;
        struct bindings parts = {0};
        bool fit = true;
        for (size_t p = 0; p < param_count; p++) {
            struct span value = p == target ? text
                                : is_value(params[p], span_text(others[other]))
                                    ? span_text(others[other])
                                    : span_text("7");
            fit = fit && is_value(params[p], value);
            CHECK(bindings_add(&parts, params[p], value));
        }
        if (fit && (child->entry ? is_entry(&parts) : text.size > 0))
            check_name(&parts);
        else
            skipped++;
    }
}

/* Texts that begin or end as the name of a placeholder does. */
static void use_placeholders(use_fn *use)
{
    static const char *const endings[] = {"", "@info", "@", ".d", "~", "@count"};
    for (const struct route *step = directory->route->children; step; step = step->next) {
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            CLEAN_UP(buf_clean_up) struct buf text = {0};
            format_write(&step->segment, &text);
            buf_add_text(&text, endings[i]);
            use(buf_span(&text));
        }
        for (size_t i = 0; i < step->segment.count; i++) {
            CLEAN_UP(buf_clean_up) struct buf text = {0};
            if (step->segment.pieces[i].param)
                buf_printf(&text, "{%s}", step->segment.pieces[i].param);
            use(buf_span(&text));
        }
    }
}

static void check_child(bool all)
{
    param_count = 0;
    add_params(&child->segment);
    for (size_t i = 0; child->entry && i < directory->table->key_count; i++)
        add_params(&child->kind->keys[i]);
    for (target = 0; target < param_count; target++) {
        use_strings(use_string, all);
        use_placeholders(use_string);
    }
    if (param_count == 0) {
        struct bindings nothing = {0};
        check_name(&nothing);
    }
}

static void walk(const struct place *place, bool all);

/* Goes into the directory, by a value that the map may ask for. */
static void enter(const struct place *place, const struct route *step, bool all)
{
    static const char *const plain[] = {"v", "12", "2026-04-16", "a..b", "shopify", "FAILED"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error err = {0};
        struct bindings values = {0};
        for (size_t p = 0; p < step->segment.count; p++)
            if (step->segment.pieces[p].param)
                bindings_add(&values, step->segment.pieces[p].param, span_text(plain[i]));
        struct place *below = place_write_name(place, step, &values, 1, &options, &name, &err)
                                  ? place_child(place, buf_span(&name), &options, &err)
                                  : NULL;
        if (!below)
            continue;
        walk(below, all);
        place_destroy(below);
        buf_clean_up(&name);
        return;
    }
    CHECK_FAIL("no way into line %u", step->line);
}

static void walk(const struct place *place, bool all)
{
    for (const struct route *step = place->route->children; step; step = step->next) {
        bool follows = false;
        for (const struct route *entry = place->route->children; entry; entry = entry->next)
            follows = follows || (entry->entry && !step->file && step->segment.count > 1);
        directory = place;
        child = step;
        if (step->entry || format_is_literal(&step->segment) || follows)
            check_child(all);
        if (!step->file)
            enter(place, step, all);
    }
}

static void walk_map(const struct map *loaded, const char *suffix, bool all)
{
    struct error err = {0};
    map = loaded;
    options = (struct place_options){.suffix = suffix};
    for (size_t i = 0; i < map->model_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        format_write(&map->environments->name, &path);
        buf_printf(&path, "/%s", map->models[i]->path_name);
        struct place *place = place_resolve(map, buf_span(&path), &options, &err);
        if (!place)
            CHECK_FAIL("%s", err.text);
        walk(place, all);
        place_destroy(place);
        buf_clean_up(&path);
    }
}

static void walk_table(const char *table, bool all)
{
    static const char *const suffixes[] = {"", ".json", ".d"};
    struct error err = {0};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const struct map *loaded = sample_table(table, &err);
        if (!loaded)
            CHECK_FAIL("%s", err.text);
        walk_map(loaded, suffixes[i], all && i == 0);
        map_unref(loaded);
    }
}

static void test_every_string_in_one_directory(void)
{
    walk_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},"
               "\"paths\":{\"{a}/\":{}}",
               true);
}

static void test_beside_siblings(void)
{
    walk_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},"
               "\"paths\":{\"{a}/\":{},\"{a}/x-{b}\":{\"where\":{\"b\":\"{b}\"}},\"{a}/all/\":{},"
               "\"{a}/{b}-yy/\":{},\"{a}/x-{b}-y/\":{},\"{a}/{b}.dir/\":{},\"{a}/{x}@{y}/"
               "z\":{\"where\":{\"b\":\"{x}|{y}\"}}}",
               is_all());
}

static void test_entries_of_several_kinds(void)
{
    walk_table("\"table\":\"T\",\"records\":{"
               "\"one\":{\"pk\":\"{a}\",\"sk\":\"INDEX#{i}\"},"
               "\"two\":{\"pk\":\"{a}\",\"sk\":\"INDEX#{i}#P/{p}\"},"
               "\"three\":{\"pk\":\"{a}\",\"sk\":\"INDEX#{i}#Q#{q*}\"},"
               "\"four\":{\"pk\":\"{a}\",\"sk\":\".hidden\"},"
               "\"five\":{\"pk\":\"{a}\",\"sk\":\"README\"},"
               "\"six\":{\"pk\":\"{a}\",\"sk\":\"X@info\"},"
               "\"seven\":{\"pk\":\"{a}\",\"sk\":\"S/{s}~\"}},"
               "\"paths\":{\"{a}/"
               "\":{\"list\":[\"one\",\"two\",\"three\",\"four\",\"five\",\"six\",\"seven\"]}}",
               is_all());
}

static void test_parts_of_both_keys(void)
{
    walk_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"P#{a}#{c}\",\"sk\":\"S#{b}#{d*}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\"}},"
               "\"paths\":{\"{x}/\":{\"index\":\"I\"},\"{x}/n/"
               "\":{\"index\":\"I\",\"name\":\"{b}--{d} é {a}..{c}.d\"}}",
               is_all());
}

static void test_parts_of_the_index(void)
{
    walk_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},\"types\":{"
        "\"n\":\"N\",\"z\":\"B\"},\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"y\"},"
        "\"J\":{\"partition\":\"x\",\"sort\":{\"s\":\"{p}#{q}\",\"n\":\"{n}\",\"z\":\"{z}\"}}},"
        "\"paths\":{\"{x}/\":{\"index\":\"J\",\"name\":\"{q},{a},{b}\"},\"{x}/{p}/"
        "\":{\"index\":\"J\",\"name\":\"{n} {z}@{b}..{a}\"},\"{x}/last/{p}/\":{\"index\":\"J\","
        "\"newest\":9,\"name\":\"{rank}_{q}_{a}_{b}\"}}",
        is_all());
}

static void test_parts_that_keys_spell(void)
{
    walk_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:lower}\",\"sk\":\"S#{n:03}#{b*:upper}\"},"
        "\"s\":{\"pk\":\"{a:lower}\",\"sk\":\"T#{n:03}\"}},"
        "\"paths\":{\"{a}/\":{\"list\":[\"r\",\"s\"]},\"{a}/r/\":{\"list\":\"r\"},"
        "\"{a}/s/\":{\"list\":\"s\"},\"{a}/s/{n}.dir/\":{\"list\":\"r\"},"
        "\"{a}/n/\":{\"list\":\"r\",\"name\":\"{b}.{n}\"}}",
        is_all());
}

/* Bytes that look like their own base64 are bytes all the same. */
static void test_binary_keys(void)
{
    walk_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"types\":{\"pk\":"
        "\"B\",\"sk\":\"B\"},\"indexes\":{\"I\":{\"partition\":\"x\"}},"
        "\"paths\":{\"{a}/\":{},\"{a}/from-{b}/\":{\"where\":{\"sk\":{\">\":\"{b}\"}}},\"by/{x}/"
        "\":{\"index\":\"I\",\"name\":\"{b}:{a}\"}}",
        is_all());
}

static void test_another_separator(void)
{
    walk_table("\"table\":\"T\",\"separator\":\"/\",\"records\":{\"r\":{\"pk\":\"{a}/"
               "{c*}\",\"sk\":\"S/{b}/{d*}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\"}},"
               "\"paths\":{\"{x}/\":{\"index\":\"I\"}}",
               is_all());
    walk_table("\"table\":\"T\",\"separator\":\"%\",\"records\":{\"r\":{\"pk\":\"{a}%{c*}\",\"sk\":"
               "\"S%{b}%{d*}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\"}},"
               "\"paths\":{\"{x}/\":{\"index\":\"I\"}}",
               is_all());
}

static void test_values_that_do_not_match(void)
{
    walk_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},"
               "\"params\":{\"b\":{\"match\":\"^[0-9]+$\"}},"
               "\"paths\":{\"{a}/\":{},\"{a}/{b}.dir/\":{}}",
               is_all());
}

static void test_names_with_a_rank(void)
{
    walk_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},"
               "\"paths\":{\"{a}/\":{\"newest\":99,\"name\":\"{rank}_{b}\"},\"{a}/all/\":{"
               "\"name\":\"{rank} - {b}.x\"},\"{a}/{b}.dir/\":{},\"{a}/9_{b}\":{\"where\":{"
               "\"b\":\"{b}\"}}}",
               is_all());
}

/* Two keys of one listing differ in more than their rank, whatever their values are made of. */
static void test_no_two_keys_share_a_name(void)
{
    static const char *const keys[] = {"",  "1",   "1_",   "1_1", "_",   "__1",
                                       "%", "%31", "%31_", "01",  "1%5F"};
    struct error err = {0};
    const struct map *loaded =
        sample_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b*}\"}},"
                     "\"paths\":{\"{a}/\":{\"newest\":9,\"name\":\"{rank}_{b}\"}}",
                     &err);
    CHECK(loaded);
    struct place_options plain = {.suffix = ""};
    struct place *place = place_resolve(loaded, span_text("/prod/t/v"), &plain, &err);
    const struct route *entry = place->route->children;
    struct buf names[sizeof keys / sizeof keys[0]] = {{0}};
    CHECK(entry->entry);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct bindings parts = {.items = {{.param = "b", .value = span_text(keys[i])}},
                                 .count = 1};
        CHECK(place_write_name(place, entry, &parts, i % 2 + 1, &plain, &names[i], &err));
        for (size_t before = 0; before < i; before++) {
            struct span one = buf_span(&names[before]), other = buf_span(&names[i]);
            CHECK(names_skip_rank(entry, &one) && names_skip_rank(entry, &other));
            CHECK(!span_equal(one, other));
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        buf_clean_up(&names[i]);
    place_destroy(place);
    map_unref(loaded);
}

static void test_the_example(void)
{
    static const char *const suffixes[] = {"", ".json"};
    for (size_t i = 0; i < 2; i++) {
        struct error err = {0};
        const struct map *loaded = sample_example(&err);
        CHECK(loaded);
        walk_map(loaded, suffixes[i], is_all());
        map_unref(loaded);
    }
}

/* A map of another test: the text of FILE up to the last brace, as the corpus has paths behind. */
static const struct map *read_map(const char *folder, const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, text = {0};
    char chunk[4096];
    size_t size;
    struct error err = {0};
    buf_printf(&path, "%s/%s", folder, file);
    FILE *stream = fopen(buf_text(&path), "re");
    if (!stream)
        return NULL;
    while ((size = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_add(&text, chunk, size);
    fclose(stream);
    const char *end = text.size ? memrchr(text.data, '}', text.size) : NULL;
    return end ? map_parse(file, span_of(text.data, (size_t)(end - text.data) + 1), NULL, &err)
               : NULL;
}

static void test_maps_of_other_tests(void)
{
    static const char *const places[] = {"bench", "fuzz/corpus/map"};
    const char *data = getenv("DDBFS_TEST_DATA");
    size_t maps = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", data ? data : "tests", places[i]);
        DIR *dir = opendir(folder);
        CHECK(dir);
        for (struct dirent *file; (file = readdir(dir));) {
            const struct map *loaded = read_map(folder, file->d_name);
            if (!loaded)
                continue;
            maps++;
            walk_map(loaded, "", is_all());
            map_unref(loaded);
        }
        closedir(dir);
    }
    CHECK(maps >= 2);
}

static const struct check_test tests[] = {
    {"every_string_in_one_directory", test_every_string_in_one_directory},
    {"beside_siblings", test_beside_siblings},
    {"entries_of_several_kinds", test_entries_of_several_kinds},
    {"parts_of_both_keys", test_parts_of_both_keys},
    {"parts_of_the_index", test_parts_of_the_index},
    {"parts_that_keys_spell", test_parts_that_keys_spell},
    {"binary_keys", test_binary_keys},
    {"another_separator", test_another_separator},
    {"values_that_do_not_match", test_values_that_do_not_match},
    {"names_with_a_rank", test_names_with_a_rank},
    {"no_two_keys_share_a_name", test_no_two_keys_share_a_name},
    {"the_example", test_the_example},
    {"maps_of_other_tests", test_maps_of_other_tests},
};

int main(int argc, char **argv)
{
    const char *given = getenv("DDBFS_TEST_SEED");
    uint64_t start = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    state = start * 0x9E3779B97F4A7C15u + 1;
    printf("# DDBFS_TEST_SEED=%" PRIu64 "\n", start);
    int status = check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
    printf("# %zu names checked, %zu strings are no such key\n", checked, skipped);
    return status;
}
