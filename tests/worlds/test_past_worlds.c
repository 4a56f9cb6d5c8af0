/* Items, listings, their companions and their history, at random times of random worlds, each
 * compared with what docs/semantics.md promises of the documents. The worlds are snapshot files.
 *
 * DDBFS_WORLDS_SEED: the first world (else a fresh one, which is printed); DDBFS_WORLDS: how many
 * (15); DDBFS_WORLDS_SECONDS: for how long instead (120 with DDBFS_LONG=1). */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/describe/explain.h"
#include "core/read/catalog.h"
#include "core/read/resolve.h"
#include "core/read/walk.h"
#include "core/sources.h"
#include "tests/unit/check.h"
#include "tests/unit/snapshot_scene.h"
#include "tests/worlds/world.h"

enum { MOMENTS = 4, PROBES = 60, DAY_MS = 24 * 3600 * 1000 };

/* 2026-11-01T06:00:00Z; the moments are at this hour of days that follow. */
#define FIRST_MS INT64_C(1793512800000)

/* The product on the snapshots of one world. */
struct past {
    struct world states[MOMENTS]; /* the world at each moment */
    unsigned count;
    struct world_dice dice;
    char folder[32];
    char *files[WORLD_TABLES]; /* owned */
    struct loop *loop;
    struct cache *cache;
    struct walks *walks;
    struct sources *sources;
    struct catalog *catalog;
    const struct map *map;
    struct tree tree;
};

static struct {
    unsigned worlds, unloadable, probes, failed;
    unsigned items, absent, lists, versions;
} sums;

static int64_t moment_ms(unsigned at)
{
    return FIRST_MS + (int64_t)at * DAY_MS;
}

/* Snapshot files. */

static bool same_item(const struct world_table *table, const struct world_item *a,
                      const struct world_item *b)
{
    struct world_text x = {0}, y = {0};
    if (a)
        world_write_typed(table, a, NULL, &x);
    if (b)
        world_write_typed(table, b, NULL, &y);
    bool same = !a == !b && (!a || strcmp(x.bytes, y.bytes) == 0);
    world_text_free(&x);
    world_text_free(&y);
    return same;
}

static const struct world_item *item_at(const struct past *past, unsigned moment, unsigned table,
                                        const struct world_item *like)
{
    return world_find_item(&past->states[moment].tables[table], like);
}

/* Each version of an item, from the moment that brings it to the one that ends it. */
static void write_versions(const struct past *past, unsigned number, unsigned moment,
                           const struct world_item *item, struct snapshot_draft *draft)
{
    const struct world_table *table = &past->states[moment].tables[number];
    struct world_text typed = {0};
    unsigned end = moment + 1;
    if (moment > 0 && same_item(table, item_at(past, moment - 1, number, item), item))
        return;
    while (end < past->count && same_item(table, item_at(past, end, number, item), item))
        end++;
    world_write_typed(table, item, NULL, &typed);
    snapshot_draft_add(draft, typed.bytes, moment_ms(moment),
                       end < past->count ? moment_ms(end) : 0);
    world_text_free(&typed);
}

static void write_file(struct past *past, unsigned number)
{
    struct snapshot_draft draft;
    struct world_text description = {0}, name = {0};
    world_add(&name, "%s/%u.ddb", past->folder, number);
    past->files[number] = name.bytes;
    world_write_description(&past->states[0].tables[number], &description);
    snapshot_draft_begin(&draft, past->files[number], description.bytes);
    for (unsigned i = 0; i < past->count; i++)
        for (unsigned k = 0; k < past->states[i].tables[number].item_count; k++)
            write_versions(past, number, i, &past->states[i].tables[number].items[k], &draft);
    for (unsigned i = 0; i < past->count; i++)
        snapshot_draft_add_moment(&draft, moment_ms(i));
    snapshot_draft_end(&draft);
    world_text_free(&description);
}

/* False if the map does not compile. */
static bool past_open(struct past *past, uint64_t seed)
{
    struct error err = {0};
    struct world_text map = {0};
    past->dice = (struct world_dice){seed ^ 0xbead};
    past->count = 1 + world_draw(&past->dice, MOMENTS);
    world_make(&past->states[0], seed, true);
    for (unsigned i = 1; i < past->count; i++) {
        past->states[i] = past->states[i - 1];
        world_age(&past->states[i]);
    }
    world_write_map(&past->states[0], true, &map);
    if (getenv("DDBFS_WORLDS_SHOW"))
        printf("# %s\n", map.bytes);
    past->map = map_parse("map.json", span_of(map.bytes, map.size), NULL, &err);
    world_text_free(&map);
    if (!past->map) {
        if (getenv("DDBFS_WORLDS_SHOW"))
            printf("# %s\n", err.text);
        return false;
    }
    strcpy(past->folder, "/tmp/past-worlds.XXXXXX");
    CHECK(mkdtemp(past->folder) != NULL);
    for (unsigned i = 0; i < past->states[0].table_count; i++)
        write_file(past, i);
    past->loop = loop_new(clock_system());
    past->cache = cache_new(past->loop, 1 << 24);
    past->walks = walks_new(past->cache, past->loop, 1 << 20);
    past->sources = sources_new(&(struct sources_options){
        .loop = past->loop,
        .deadline_ms = 10000,
        .most_items = 1000000,
        .snapshots = (const char *const *)past->files,
        .snapshot_count = past->states[0].table_count,
        .snapshots_named_by = "--snapshot",
        .user_agent = "worlds",
        .slow_page_ms = -1,
    });
    CHECK(past->loop && past->cache && past->walks && past->sources);
    past->catalog = catalog_new(&(struct catalog_options){
        .loop = past->loop, .source = sources_for, .source_arg = past->sources});
    if (!snapshots_open_given(sources_snapshots(past->sources), &err))
        CHECK_FAIL("%s", err.text);
    past->tree = (struct tree){
        .map = past->map,
        .loop = past->loop,
        .cache = past->cache,
        .source = sources_for,
        .source_arg = past->sources,
        .texts = &describe_texts,
        .describe = sources_describe,
        .models = catalog_models(past->catalog),
        .walks = past->walks,
        .names = {.suffix = "",
                  .opens_probed = true,
                  .moments = snapshots_moments(sources_snapshots(past->sources))},
        .snapshot_bytes = 1 << 24,
    };
    return true;
}

static void past_close(struct past *past)
{
    map_unref(past->map);
    if (!past->loop)
        return;
    catalog_destroy(past->catalog);
    sources_destroy(past->sources);
    walks_destroy(past->walks);
    cache_destroy(past->cache);
    loop_destroy(past->loop);
    for (unsigned i = 0; i < past->states[0].table_count; i++) {
        unlink(past->files[i]);
        free(past->files[i]);
    }
    rmdir(past->folder);
}

/* Reading. */

struct answer_of_past {
    struct loop *loop;
    struct place *place;
    struct world_text text;
    struct error err;
    bool is_over;
};

static void take_place(void *arg, struct place *place, const struct error *err)
{
    struct answer_of_past *answer = arg;
    answer->place = place;
    if (err)
        answer->err = *err;
    answer->is_over = true;
    loop_stop(answer->loop);
}

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct answer_of_past *answer = arg;
    if (err)
        answer->err = *err;
    else if (file->bytes.size > 0) {
        answer->text.bytes = malloc(file->bytes.size + 1);
        CHECK(answer->text.bytes);
        memcpy(answer->text.bytes, file->bytes.data, file->bytes.size);
        answer->text.bytes[file->bytes.size] = '\0';
        answer->text.size = file->bytes.size;
    }
    answer->is_over = true;
    loop_stop(answer->loop);
}

static void await(struct answer_of_past *answer)
{
    while (!answer->is_over && loop_run(answer->loop))
        continue;
    answer->is_over = false;
}

static struct place *find_place(struct past *past, const char *path, struct answer_of_past *answer)
{
    *answer = (struct answer_of_past){.loop = past->loop};
    CHECK(tree_resolve(&past->tree, NULL, span_text(path), take_place, answer));
    await(answer);
    return answer->place;
}

/* The file at PATH, or the error. */
static void read_path(struct past *past, const char *path, struct answer_of_past *out)
{
    struct place *place = find_place(past, path, out);
    if (!place)
        return;
    if (place_is_directory(place)) {
        error_set(&out->err, ERROR_INVALID, "it is a directory");
    } else {
        CHECK(tree_read(&past->tree, place, take_file, out));
        await(out);
    }
    place_destroy(place);
    out->place = NULL;
}

struct names_of_past {
    struct answer_of_past *answer;
    struct tree_listing *listing;
};

static void take_names(void *arg, const struct tree_entry *entries, size_t count, bool more,
                       const struct error *err)
{
    struct names_of_past *names = arg;
    for (size_t i = 0; i < count; i++)
        world_add(&names->answer->text, "%.*s%s\n", (int)entries[i].name.size, entries[i].name.data,
                  entries[i].directory ? "/" : "");
    if (err)
        names->answer->err = *err;
    if (more) {
        tree_list_more(names->listing);
        return;
    }
    names->answer->is_over = true;
    loop_stop(names->answer->loop);
}

/* The names of the directory at PATH, each with a line end. */
static void list_path(struct past *past, const char *path, struct answer_of_past *out)
{
    struct place *place = find_place(past, path, out);
    struct names_of_past names = {.answer = out};
    if (!place)
        return;
    names.listing = tree_list(&past->tree, place, true, take_names, &names);
    CHECK(names.listing);
    await(out);
    tree_list_end(names.listing);
    place_destroy(place);
    out->place = NULL;
}

/* What is promised. */

/* JSON with two spaces for each level. */
static void write_pretty(const char *compact, struct world_text *out)
{
    unsigned depth = 0;
    bool quoted = false;
    for (const char *at = compact; *at; at++) {
        if (quoted) {
            world_add(out, "%c", *at);
            if (*at == '\\')
                world_add(out, "%c", *++at);
            quoted = *at != '"' || at[-1] == '\\';
            continue;
        }
        quoted = *at == '"';
        if (*at == '{' || *at == '[')
            world_add(out, "%c\n%*s", *at, (int)(2 * ++depth), "");
        else if (*at == '}' || *at == ']')
            world_add(out, "\n%*s%c", (int)(2 * --depth), "", *at);
        else if (*at == ',')
            world_add(out, ",\n%*s", (int)(2 * depth), "");
        else
            world_add(out, *at == ':' ? "%c " : "%c", *at);
    }
    world_add(out, "\n");
}

static void write_file_of(const struct world_table *table, const struct world_item *item,
                          struct world_text *out)
{
    struct world_text plain = {0};
    world_write_plain(table, item, &plain);
    write_pretty(plain.bytes, out);
    world_text_free(&plain);
}

/* TIME and its end: the moment that the tree shows, or -1. */
static int draw_time(struct past *past, struct world_text *out)
{
    struct world_dice *dice = &past->dice;
    unsigned day = world_draw(dice, past->count + 2); /* of October 31st, November 1st, … */
    int shown = (int)day - 1;
    char date[16];
    snprintf(date, sizeof date, day ? "2026-11-%02u" : "2026-10-31", day);
    switch (world_draw(dice, 6)) {
    case 0:
        world_add(out, "%sT06:00:00Z", date);
        break;
    case 1:
        world_add(out, "%sT05:59", date);
        shown--;
        break;
    case 2:
        world_add(out, "%sT08:00+02:00", date);
        break;
    case 3:
        world_add(out, "%sT05:59:59.999Z", date);
        shown--;
        break;
    default:
        world_add(out, "%s", date);
    }
    return shown < (int)past->count ? shown : (int)past->count - 1;
}

/* Failures. */

static void fail(const struct past *past, const char *path, const char *what, const char *is,
                 const char *should)
{
    printf("# world %llu: %s: %s\n#   is     %.1200s\n#   should %.1200s\n",
           (unsigned long long)past->states[0].seed, path, what, is, should);
    sums.failed++;
}

static void expect_text(const struct past *past, const char *path,
                        const struct answer_of_past *answer, const char *should)
{
    const char *is = answer->text.bytes ? answer->text.bytes : "";
    if (answer->err.kind != ERROR_NONE)
        fail(past, path, "an error", answer->err.text, should);
    else if (strcmp(is, should) != 0)
        fail(past, path, "other bytes", is, should);
}

static void expect_absent(const struct past *past, const char *path,
                          const struct answer_of_past *answer)
{
    if (answer->err.kind != ERROR_NOT_FOUND)
        fail(past, path, "it should not be found",
             answer->err.kind     ? answer->err.text
             : answer->text.bytes ? answer->text.bytes
                                  : "",
             "");
    sums.absent++;
}

/* Probes. */

static void check_item(struct past *past, const char *path, const struct world_table *table,
                       const struct world_item *item)
{
    struct answer_of_past answer;
    struct world_text should = {0}, full = {0};
    unsigned way = world_draw(&past->dice, 3);
    const struct world_attribute *attribute =
        item ? &item->attributes[world_draw(&past->dice, item->count)] : NULL;
    bool is_bare = way == 1 && attribute && attribute->value.type != 'J';
    world_add(&full, "%s", path);
    if (is_bare)
        world_add(&full, "@/%s", attribute->name);
    else if (way == 2)
        world_add(&full, "@typed");
    read_path(past, full.bytes, &answer);
    sums.items++;
    if (!item) {
        expect_absent(past, full.bytes, &answer);
    } else {
        if (is_bare && attribute->value.type != 'B')
            world_add(&should, "%s\n", attribute->value.text);
        else if (!is_bare && way != 2)
            write_file_of(table, item, &should);
        if (way == 2) {
            world_write_typed(table, item, NULL, &should);
            world_add(&should, "\n");
        }
        if (should.size > 0)
            expect_text(past, full.bytes, &answer, should.bytes);
    }
    world_text_free(&answer.text);
    world_text_free(&should);
    world_text_free(&full);
}

/* Whether items share all sort attributes, so that their order is not known. */
static bool has_ties(const struct world_index *index, const struct world_item *const *items,
                     unsigned count)
{
    for (unsigned i = 1; index && i < count; i++) {
        bool same = true;
        for (unsigned k = index->partition_count; k < index->key_count; k++)
            same = same && strcmp(world_find(items[i - 1], index->keys[k].attribute)->text,
                                  world_find(items[i], index->keys[k].attribute)->text) == 0;
        if (same)
            return true;
    }
    return false;
}

static void sort_lines(char *text)
{
    char *lines[4 * WORLD_ITEMS], *copy = strdup(text), *rest = copy;
    unsigned count = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line && count < 4 * WORLD_ITEMS;)
        lines[count++] = line;
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k > 0 && strcmp(lines[k - 1], lines[k]) > 0; k--) {
            char *line = lines[k];
            lines[k] = lines[k - 1];
            lines[k - 1] = line;
        }
    for (unsigned i = 0; i < count; i++)
        text += sprintf(text, "%s\n", lines[i]);
    free(copy);
}

/* The parts of the table's key, then those of the index that is listed. */
static void take_all_apart(const struct world_table *table, const struct world_index *index,
                           const struct world_item *item, struct world_parts *out)
{
    world_take_apart(table, item, out);
    for (unsigned i = 0; index && i < index->key_count; i++) {
        struct world_parts own = {0};
        const struct world_key *key = &index->keys[i];
        if (!key->of_table &&
            world_match(&key->formats[item->kind], world_find(item, key->attribute), &own))
            for (unsigned k = 0; k < own.count; k++)
                if (!world_find_part(out, own.list[k].name))
                    out->list[out->count++] = own.list[k];
    }
}

/* The rows of the database have the parts and the attributes. */
static void check_database(struct past *past, const char *path, const struct answer_of_past *answer,
                           const struct world_table *table, const struct world_index *index,
                           const struct world_item *const *items, unsigned count, bool ties)
{
    sqlite3 *base = NULL;
    sqlite3_stmt *rows = NULL;
    if (answer->err.kind != ERROR_NONE) {
        fail(past, path, "an error", answer->err.text, "");
        return;
    }
    if (sqlite3_open(":memory:", &base) != SQLITE_OK ||
        sqlite3_deserialize(base, "main", (unsigned char *)answer->text.bytes,
                            (sqlite3_int64)answer->text.size, (sqlite3_int64)answer->text.size,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        abort();
    for (unsigned k = 0; k < WORLD_COLUMNS; k++) {
        struct world_parts parts;
        const char *column = NULL;
        struct world_text sql = {0};
        if (count == 0)
            break;
        take_all_apart(table, index, items[0], &parts);
        unsigned own = items[0]->count;
        if (k < own)
            column = items[0]->attributes[k].name;
        else if (k < own + parts.count)
            column = parts.list[k - own].name;
        if (!column)
            break;
        world_add(&sql, "SELECT quote(\"%s\") FROM records ORDER BY rowid", column);
        if (sqlite3_prepare_v2(base, sql.bytes, -1, &rows, NULL) != SQLITE_OK) {
            fail(past, path, "no such column", sqlite3_errmsg(base), column);
            world_text_free(&sql);
            break;
        }
        for (unsigned i = 0; i < count; i++) {
            struct world_text literal = {0};
            take_all_apart(table, index, items[i], &parts);
            const struct world_value *part = world_find_part(&parts, column);
            const struct world_value *value = part ? part : world_find(items[i], column);
            world_write_literal(value ? value : &(struct world_value){0}, &literal);
            bool is_there = sqlite3_step(rows) == SQLITE_ROW;
            const char *is = is_there ? (const char *)sqlite3_column_text(rows, 0) : "no row";
            if (!ties && strcasecmp(is, literal.bytes) != 0)
                fail(past, path, column, is, literal.bytes);
            world_text_free(&literal);
        }
        if (sqlite3_step(rows) == SQLITE_ROW)
            fail(past, path, "too many rows", "", "");
        sqlite3_finalize(rows);
        world_text_free(&sql);
    }
    sqlite3_close(base);
}

static bool looks_like_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end != text && *end == '\0';
}

static void write_cell(const struct world_value *value, struct world_text *out)
{
    struct world_text plain = {0};
    if (!value)
        return;
    if (value->type == 'N') {
        world_add(out, "%s", value->text);
        return;
    }
    if (value->type == 'J')
        world_add(&plain, "%s", value->plain);
    else
        world_add(&plain, "%s", value->text);
    bool is_text = value->type == 'S';
    bool quotes = strpbrk(plain.bytes ? plain.bytes : "", ",\"\n") ||
                  (plain.size && plain.bytes[0] == '#') || /* a comment, to some programs */
                  (is_text && (!plain.size || looks_like_number(plain.bytes)));
    world_add(out, quotes ? "\"" : "");
    for (const char *at = plain.bytes ? plain.bytes : ""; *at; at++)
        world_add(out, *at == '"' ? "\"\"" : "%c", *at);
    world_add(out, quotes ? "\"" : "");
    world_text_free(&plain);
}

/* Of columns without binaries, whose cells are base64. */
static bool write_csv(const struct world_table *table, const struct world_item *const *items,
                      unsigned count, const char *const *columns, unsigned column_count,
                      struct world_text *out)
{
    (void)table;
    for (unsigned i = 0; i < column_count; i++)
        world_add(out, "%s%s", i ? "," : "", columns[i]);
    world_add(out, "\n");
    for (unsigned k = 0; k < count; k++) {
        for (unsigned i = 0; i < column_count; i++) {
            const struct world_value *value = world_find(items[k], columns[i]);
            if (value && value->type == 'B')
                return false;
            world_add(out, i ? "," : "");
            write_cell(value, out);
        }
        world_add(out, "\n");
    }
    return true;
}

/* Each listed name opens, and together they are the items. */
static void check_names(struct past *past, const char *path, const struct world_table *table,
                        const struct world_item *const *items, unsigned count)
{
    struct answer_of_past names, answer;
    struct world_text is = {0}, should = {0};
    list_path(past, path, &names);
    char *rest = names.text.bytes;
    for (char *name; rest && (name = strsep(&rest, "\n")) && *name;) {
        struct world_text full = {0};
        if (name[strlen(name) - 1] == '/')
            continue;
        world_add(&full, "%s/%s", path, name);
        read_path(past, full.bytes, &answer);
        if (answer.err.kind != ERROR_NONE)
            fail(past, full.bytes, "a listed name does not open", answer.err.text, "");
        for (const char *at = answer.text.bytes ? answer.text.bytes : ""; *at; at++)
            world_add(&is, "%c", *at == '\n' ? ' ' : *at);
        world_add(&is, "\n");
        world_text_free(&answer.text);
        world_text_free(&full);
    }
    for (unsigned i = 0; i < count; i++) {
        struct world_text file = {0};
        write_file_of(table, items[i], &file);
        for (const char *at = file.bytes; *at; at++)
            world_add(&should, "%c", *at == '\n' ? ' ' : *at);
        world_add(&should, "\n");
        world_text_free(&file);
    }
    if (is.size > 0)
        sort_lines(is.bytes);
    if (should.size > 0)
        sort_lines(should.bytes);
    if (names.err.kind != ERROR_NONE)
        fail(past, path, "it can't be listed", names.err.text, "");
    else if (strcmp(is.bytes ? is.bytes : "", should.bytes ? should.bytes : "") != 0)
        fail(past, path, "its files are others", is.bytes ? is.bytes : "",
             should.bytes ? should.bytes : "");
    world_text_free(&names.text);
    world_text_free(&is);
    world_text_free(&should);
}

static void check_list(struct past *past, const char *path, const struct world_table *table,
                       const struct world_index *index, const struct world_item *like)
{
    const struct world_item *items[WORLD_ITEMS];
    unsigned count = world_find_listed(table, index, like, items);
    bool ties = has_ties(index, items, count);
    struct answer_of_past answer;
    struct world_text should = {0}, full = {0};
    static const char *const columns[] = {"q", "p", "status"};
    sums.lists++;
    switch (world_draw(&past->dice, 6)) {
    case 0:
        check_names(past, path, table, items, count);
        return;
    case 1:
        world_add(&full, "%s@count", path);
        read_path(past, full.bytes, &answer);
        world_add(&should, "%u\n", count);
        expect_text(past, full.bytes, &answer, should.bytes);
        break;
    case 2:
        world_add(&full, "%s@csv:q,p,status", path);
        read_path(past, full.bytes, &answer);
        if (write_csv(table, items, count, columns, 3, &should) && !ties)
            expect_text(past, full.bytes, &answer, should.bytes);
        break;
    case 3:
        world_add(&full, "%s@sqlite", path);
        read_path(past, full.bytes, &answer);
        check_database(past, full.bytes, &answer, table, index, items, count, ties);
        break;
    default:
        world_add(&full, "%s@jsonl", path);
        read_path(past, full.bytes, &answer);
        for (unsigned i = 0; i < count; i++) {
            world_write_plain(table, items[i], &should);
            world_add(&should, "\n");
        }
        if (ties && answer.text.bytes && should.bytes) {
            sort_lines(answer.text.bytes);
            sort_lines(should.bytes);
        }
        expect_text(past, full.bytes, &answer, should.bytes ? should.bytes : "");
    }
    world_text_free(&answer.text);
    world_text_free(&should);
    world_text_free(&full);
}

/* The versions, the newest first. A deletion is an empty file. */
static void check_history(struct past *past, const char *path, unsigned number,
                          const struct world_item *like)
{
    struct answer_of_past names, answer;
    struct world_text should = {0}, full = {0};
    const struct world_table *table = &past->states[0].tables[number];
    world_add(&full, "%s@history", path);
    list_path(past, full.bytes, &names);
    for (unsigned i = past->count; i-- > 0;) {
        const struct world_item *item = item_at(past, i, number, like);
        const struct world_item *before = i ? item_at(past, i - 1, number, like) : NULL;
        struct world_text one = {0}, file = {0};
        if (same_item(table, item, before))
            continue;
        world_add(&should, "2026-11-%02uT06:00:00Z\n", i + 1);
        world_add(&one, "%s@history/2026-11-%02uT06:00:00Z", path, i + 1);
        read_path(past, one.bytes, &answer);
        if (item)
            write_file_of(table, item, &file);
        expect_text(past, one.bytes, &answer, file.bytes ? file.bytes : "");
        sums.versions++;
        world_text_free(&answer.text);
        world_text_free(&one);
        world_text_free(&file);
    }
    expect_text(past, full.bytes, &names, should.bytes ? should.bytes : "");
    world_text_free(&names.text);
    world_text_free(&should);
    world_text_free(&full);
}

static void probe(struct past *past)
{
    struct world_dice *dice = &past->dice;
    unsigned from = world_draw(dice, past->count);
    unsigned number = world_draw(dice, past->states[0].table_count);
    const struct world_table *table = &past->states[from].tables[number];
    struct world_text path = {0}, rest = {0};
    if (table->item_count == 0)
        return;
    const struct world_item *like = &table->items[world_draw(dice, table->item_count)];
    unsigned way = world_draw(dice, 5);
    unsigned at = world_draw(dice, table->index_count + 1);
    const struct world_index *index = way > 2 && at > 0 ? &table->indexes[at - 1] : NULL;
    bool lists = way > 2;
    int shown = (int)past->count - 1;
    world_add(&path, "/e");
    if (way > 0 && !world_once_in(dice, 4)) {
        world_add(&path, "@at/");
        shown = draw_time(past, &path);
    }
    world_add(&path, "/%s/", table->name);
    if (!world_write_path(table, index, like, lists, &path)) {
        world_text_free(&path);
        return;
    }
    sums.probes++;
    if (shown < 0) {
        struct answer_of_past answer;
        if (lists)
            list_path(past, path.bytes, &answer);
        else
            read_path(past, path.bytes, &answer);
        expect_absent(past, path.bytes, &answer);
        world_text_free(&answer.text);
    } else if (way == 0) {
        check_history(past, path.bytes, number, like);
    } else if (!lists) {
        const struct world_table *then = &past->states[shown].tables[number];
        check_item(past, path.bytes, then, world_find_item(then, like));
    } else {
        check_list(past, path.bytes, &past->states[shown].tables[number],
                   index ? &past->states[shown].tables[number].indexes[at - 1] : NULL, like);
    }
    world_text_free(&path);
    world_text_free(&rest);
}

static void check_world(uint64_t seed)
{
    struct past *past = calloc(1, sizeof *past);
    CHECK(past);
    if (past_open(past, seed)) {
        sums.worlds++;
        for (unsigned i = 0; i < PROBES && sums.failed < 10; i++)
            probe(past);
    } else {
        sums.unloadable++;
    }
    past_close(past);
    free(past);
}

static void test_paths_of_random_worlds(void)
{
    world_check_all(check_world, &sums.failed);
    printf(
        "# %u worlds (%u maps that do not compile), %u probes: %u items, %u lists, %u versions, %u "
        "absent\n",
        sums.worlds, sums.unloadable, sums.probes, sums.items, sums.lists, sums.versions,
        sums.absent);
    CHECK_INT(sums.failed, 0);
    CHECK(sums.worlds > sums.unloadable && sums.items > 0);
}

static const struct check_test tests[] = {
    {"paths_of_random_worlds", test_paths_of_random_worlds},
};
CHECK_MAIN(tests)
