/* A map's text, written. */
#include "core/draft/map_writer.h"

#include "core/draft/generic_view.h"
#include "core/draft/json_layout.h"
#include "core/map/compile.h"
#include "core/map/map.h"
#include "tests/unit/check.h"
#include "tests/unit/declared.h"
#include "tests/unit/random_tables.h"
#include "tests/unit/sample.h"

/* Each member that the format has, each condition in each of its forms. */
static const char everything[] =
    "{ '$schema': '../map.schema.json',\n"
    "  'environments': {\n"
    "    'prod': { 'prefix': 'prod-', 'profile': 'p', 'region': 'r', 'endpoint': 'http://h:1' },\n"
    "    'dev-{branch}': { 'prefix': 'dev-{branch}-', 'snapshots': 'past', 'live': true },"
    " 'bare': {}, 'past': { 'snapshot': '/s.ddb' } },\n"
    "  'tables': { 'plain': { 'table': 'Plain', 'records': { 'r': { 'id': '{id}' } },"
    " 'paths': {} }, 't': {\n"
    "    'table': 'Table', 'separator': '|', 'secret': ['token', 'a.b'], 'mtime': 'at', 'ttl': 5,\n"
    "    'records': { 'a': { 'pk': 'A|{a}', 'sk': '{b}|{c}|{d*}' },"
    " 'z': { 'pk': 'A|{a}', 'sk': 'Z' } },\n"
    "    'indexes': {\n"
    "      'All': { 'partition': 'x', 'sort': 'y', 'projects': 'all' },\n"
    "      'Keys': { 'partition': { 'x': 'X|{x}' }, 'sort': 'n', 'projects': 'keys' },\n"
    "      'Some': { 'partition': ['x', 'y'], 'sort': { 'n': '{n}', 'u v': '{u}' } },\n"
    "      'Listed': { 'partition': 'x', 'projects': ['total', 'state'] },\n"
    "      'Kinds': { 'partition': { 'k': { 'a': 'K|{x}', 'z': 'Z|{x}' } }, 'projects': 'all',"
    " 'holds': ['a', 'z'] },\n"
    "      'Local': { 'partition': { 'pk': 'A|{a}' }, 'sort': 'y', 'local': true,"
    " 'projects': 'all' } },\n"
    "    'attributes': { 'b': ['z'], 'c': [] },\n"
    "    'types': { 'n': 'N', 'total': 'N', 'open': 'BOOL' },\n"
    "    'params': { 'b': { 'values': ['v', 'w'], 'only': true, 'hint': 'say v' },\n"
    "                'c': { 'owner': 'a', 'match': '^[^.]+$', 'type': 'S' } },\n"
    "    'links': {\n"
    "      'all': '/{env}/t/all/{other}/',\n"
    "      'both': { 'record': ['a', 'z'], 'to': '/prod/t/both/{a}/' },\n"
    "      'z': { 'record': 'a', 'from': { 'ref': 'Z-{x}' }, 'to': '/{env}/t/z/{x}' } },\n"
    "    'paths': {\n"
    "      'r/{a}/{b}/{c}/{d}': { 'record': 'a', 'attribute': 'token', 'consistent': true,"
    " 'ttl': 0, 'mtime': 'then' },\n"
    "      'z/{a}': { 'record': 'z', 'hidden': true },\n"
    "      'w8/{x}/{f}/': { 'list': 'a', 'index': 'All', 'where': { \"'y'\": { '>': '{f}' } } },\n"
    "      'all/{a}/': { 'list': '*' },\n"
    "      'both/{a}/': { 'list': ['a', 'z'], 'oldest': 'all' },\n"
    "      'new/{a}/': { 'list': 'a', 'newest': 5, 'ties': true, 'name': '{b}-{c}-{d}' },\n"
    "      'groups/{a}/': { 'list': 'a', 'groups': true },\n"
    "      'groups/{a}/{b}/': { 'list': 'a' },\n"
    "      'i/{x}/': { 'list': 'a', 'index': 'All', 'hydrate': true, 'where': { 'y': 'q*' } },\n"
    "      'j/{x}/{y}/': { 'list': 'a', 'index': 'Some', 'hydrate': false,"
    " 'where': { 'n': { 'between': [5, 7] } } },\n"
    "      'p/{a}': { 'record': 'a', 'pick': { 'greatest': 'total' } },\n"
    "      'q/{a}': { 'record': 'a', 'pick': { 'least': 'total' }, 'where': { 'b': 'v' } },\n"
    "      'o/{a}': { 'record': 'a', 'newest': 1 },\n"
    "      'w1/{a}/{f}..{t}/': { 'list': 'a', 'where': { 'b': '{f}..{t}' } },\n"
    "      'w2/{a}/{f}/': { 'list': 'a', 'where': { 'sk': { '<': '{f}' } } },\n"
    "      'w3/{a}/{f}/': { 'list': 'a', 'where': { 'sk': { '=': 'a..{f}*' } } },\n"
    "      'w4/{a}/{f}/': { 'list': 'a', 'where': { 'sk': { 'begins_with': 'a..{f}' } } },\n"
    "      'w5/{a}/{f}/': { 'list': 'a', 'where': { 'sk': { 'between': ['a.', '{f}'] } } },\n"
    "      'w6/{x}/': { 'list': 'a', 'index': 'Keys', 'where': { 'n': 5 } },\n"
    "      'w7/{a}/{f}/': { 'list': 'a', 'where': { 'sk': { '>=': '{f}' } } },\n"
    "      'f1/{a}/{f}/': { 'list': 'a', 'filter': { 'total': { '>': 1, '!=': 5, '<=': 1e3 },"
    " 's': '{f}', 'bool': true, 'none': null, 'u': 'x*', \"'e.f'\": 'q' } },\n"
    "      'f2/{a}/{f}/': { 'list': 'a', 'filter': { 'm': { 'in': ['{f}', 5, null, false] },"
    " 'tags': { 'contains': 'urgent' }, 'l[0].m': { 'exists': true }, 'k': { 'exists': false }, "
    "'open': '{f}',"
    " 'w': { 'between': [1, '{f}'] }, 'g': 'x..y' } },\n"
    "      'f3/{a}/': { 'list': 'a', 'filter': { 'or': [{ 'g': 1, 'not': { 'h': 'PAID*' } },"
    " { 'and': [{ 'g': { '<': 3 } }, { 'h': { '=': '*' } }] }] } } } } } }\n";

/* With double quotes where C has single ones; those in double quotes stay. */
static void unquote(const char *text, struct buf *out)
{
    bool inside = false;
    for (; *text; text++) {
        inside = inside != (*text == '"');
        buf_add_char(out, *text == '\'' && !inside ? '"' : *text);
    }
}

/* What TEXT says, written; and that once more. */
static void rewrite(struct span text, struct buf *once, struct buf *twice)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    struct declared_map map;
    CHECK(declared_read(&arena, text, &map));
    map_writer_write(&map, once);
    CHECK(!once->failed);
    CHECK(declared_read(&arena, buf_span(once), &map));
    map_writer_write(&map, twice);
    CHECK_TEXT(buf_text(twice), buf_text(once));
}

static void dump_model(const struct model *model, struct buf *out)
{
    buf_printf(out, "%s %s %c %lld\n", model->path_name, model->base_name, model->separator,
               (long long)model->ttl_ms);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        buf_printf(out, "%s %zu+%zu %d %d %zu\n", index->name, index->partition_count,
                   index->sort_count, (int)index->projects, index->local, index->include_count);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; i < index->hold_count; i++)
            buf_printf(out, "%s holds %s\n", index->name, index->holds[i]->name);
    for (const struct map_attribute *each = model->attributes; each; each = each->next)
        for (size_t i = 0; i <= each->kind_count; i++)
            buf_printf(out, "%s %s\n", each->name,
                       i < each->kind_count ? each->kinds[i]->name : "none further");
    for (const struct map_link *link = model->links; link; link = link->next)
        buf_printf(out, "%s %s %zu %zu %zu\n", link->name, link->to, link->kind_count,
                   link->source_count, link->step_count);
    for (const struct map_pattern *each = model->patterns; each; each = each->next) {
        buf_printf(out, "%s %zu %d %u %d %s %s %d %d %lld: ", each->path, each->kind_count,
                   each->descending, each->limit, (int)each->pick,
                   each->attribute ? each->attribute : "-", each->mtime ? each->mtime : "-",
                   each->hydrates, each->consistent, (long long)each->ttl_ms);
        for (size_t i = 0; i < each->entry_count; i++)
            format_write(&each->entries[i].name, out);
        buf_add_char(out, ' ');
        sample_write_conds(each, out);
        buf_add_char(out, '\n');
    }
}

static void dump(struct span text, struct buf *out)
{
    struct error err;
    const struct map *map = map_parse("map.json", text, NULL, &err);
    if (!map)
        CHECK_FAIL("%s in\n%.*s", err.text, (int)text.size, text.data);
    for (size_t i = 0; i < map->model_count; i++)
        dump_model(map->models[i], out);
    map_unref(map);
}

static void check_rewritten(struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf once = {0}, twice = {0}, before = {0}, after = {0};
    rewrite(text, &once, &twice);
    dump(text, &before);
    dump(buf_span(&once), &after);
    CHECK_TEXT(buf_text(&after), buf_text(&before));
}

static void test_every_member(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    unquote(everything, &text);
    check_rewritten(buf_span(&text));
}

static void read_file(const char *name, struct buf *out)
{
    char file[512], chunk[4096];
    size_t size;
    const char *folder = getenv("DDBFS_TEST_DATA");
    snprintf(file, sizeof file, "%s/../%s", folder ? folder : "tests", name);
    FILE *stream = fopen(file, "re");
    CHECK(stream);
    while ((size = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_add(out, chunk, size);
    fclose(stream);
}

/* Whoever adds a member to the format adds it to the writer, and to EVERYTHING above. */
static void test_no_member_of_the_format_is_forgotten(void)
{
    CLEAN_UP(buf_clean_up) struct buf schema = {0}, text = {0}, once = {0}, twice = {0};
    struct json_doc doc;
    unsigned seen = 0;
    read_file("docs/map.schema.json", &schema);
    unquote(everything, &text);
    rewrite(buf_span(&text), &once, &twice);
    CHECK(json_parse(&doc, buf_span(&schema), JSON_STRICT, NULL));
    struct json defs = json_member(json_root(&doc), "$defs");
    for (struct json name = json_first(defs), def; json_present(name); name = json_next(def)) {
        def = json_next(name);
        struct json properties = json_member(def, "properties");
        for (struct json member = json_first(properties); json_present(member);
             member = json_next(json_next(member))) {
            CLEAN_UP(buf_clean_up) struct buf wanted = {0};
            buf_add_span(&wanted, json_raw(member));
            buf_add_char(&wanted, ':');
            CHECK_HAS(buf_text(&once), buf_text(&wanted));
            seen++;
        }
    }
    CHECK(seen > 50);
    json_clean_up(&doc);
}

static void test_the_example(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CHECK(sample_example_text(&text));
    check_rewritten(buf_span(&text));
}

static void test_the_map_of_the_reference(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    read_file("docs/map.md", &text);
    const char *begin = strstr(buf_text(&text), "```jsonc\n{\n  \"environments\"");
    CHECK(begin);
    const char *end = strstr(begin, "\n```\n");
    CHECK(end);
    check_rewritten(span_of(begin + 9, (size_t)(end - begin) - 9));
}

static void test_whatever_a_table_is(void)
{
    for (uint64_t seed = 0; seed < check_cases(1000); seed++) {
        CLEAN_UP(arena_discard) struct arena arena = {0};
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        struct declared_environment environment = {.name = "prod"};
        struct declared_map map = {.environments = &environment};
        map.tables = generic_view_declare_table(&arena, "Orders", random_table(&arena, seed));
        CHECK(map.tables);
        map_writer_write(&map, &text);
        check_rewritten(buf_span(&text));
    }
}

/* How it looks. */

static void check_text(const struct declared_map *map, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    map_writer_write(map, &text);
    CHECK_TEXT(buf_text(&text), want);
}

/* Leaves windows out. */
static void keep_listings(struct declared_table *table)
{
    for (struct declared_path **at = &table->paths; *at;)
        if ((*at)->hidden)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

static void test_it_looks_as_a_person_writes(void)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    struct declared_environment environment = {.name = "prod", .prefix = "prod-"};
    struct declared_map map = {.note = "Two lines.\nOf a note.",
                               .schema = "/usr/share/ddbfs/map.schema.json",
                               .environments = &environment};
    struct table_info info = {.keys = {.partition_count = 1, .sort_count = 1}};
    struct index_info index = {.name = SPAN_LITERAL("by-date"), .keys = info.keys};
    info.keys.partition[0].name = SPAN_LITERAL("PK");
    info.keys.sort[0].name = SPAN_LITERAL("SK");
    index.keys = info.keys;
    index.keys.sort[0].name = SPAN_LITERAL("date");
    info.indexes = &index;
    info.index_count = 1;
    map.tables = generic_view_declare_table(&arena, "Orders", &info);
    CHECK(map.tables);
    map.tables->note = NULL;
    map.tables->records->note = "Of one kind.";
    keep_listings(map.tables);
    check_text(
        &map,
        "// Two lines.\n"
        "// Of a note.\n"
        "{\n"
        "  \"$schema\": \"/usr/share/ddbfs/map.schema.json\",\n"
        "\n"
        "  \"environments\": {\n"
        "    \"prod\": { \"prefix\": \"prod-\" }\n"
        "  },\n"
        "\n"
        "  \"tables\": {\n"
        "    \"Orders\": {\n"
        "      \"table\": \"Orders\",\n"
        "      \"records\": {\n"
        "        // Of one kind.\n"
        "        \"item\": { \"PK\": \"{PK*}\", \"SK\": \"{SK*}\" }\n"
        "      },\n"
        "      \"indexes\": {\n"
        "        \"by-date\": { \"partition\": { \"PK\": \"{PK*}\" }, \"sort\": { \"date\": "
        "\"{date*}\" }, \"projects\": \"all\" }\n"
        "      },\n"
        "      \"paths\": {\n"
        "        \"items/{PK}/\":      {},\n"
        "        \"by/by-date/{PK}/\": { \"index\": \"by-date\", \"name\": \"{date},{SK}\" }\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n");
}

/* No note ends its comment, and no line is too long where there is a blank. */
static void test_notes(void)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct json_layout *root = json_layout_add(&arena, NULL, NULL, JSON_LAYOUT_OBJECT);
    json_layout_add_raw(&arena, root, "a", "1");
    root->children->note =
        "A key with \x1b[31m and \xe2\x80\xa8 in it.\n\n  an example\nWords that go on and on "
        "until "
        "there is no room left for them on the line, so that another one begins where they end.";
    json_layout_write(root, &text);
    CHECK_TEXT(buf_text(&text),
               "{\n"
               "  // A key with %1B[31m and %E2%80%A8 in it.\n"
               "  //\n"
               "  //   an example\n"
               "  // Words that go on and on until there is no room left for them on the line, so "
               "that another one begins\n"
               "  // where they end.\n"
               "  \"a\": 1\n"
               "}\n");
}

static const struct check_test tests[] = {
    {"every_member", test_every_member},
    {"no_member_of_the_format_is_forgotten", test_no_member_of_the_format_is_forgotten},
    {"the_example", test_the_example},
    {"the_map_of_the_reference", test_the_map_of_the_reference},
    {"whatever_a_table_is", test_whatever_a_table_is},
    {"it_looks_as_a_person_writes", test_it_looks_as_a_person_writes},
    {"notes", test_notes},
};

CHECK_MAIN(tests)
