/* ddbfs map [--sample PATH|N] [--map FILE] TABLE…: a first map of tables, from their descriptions
 * and from sampled items; or, with --from FILE, from a model of another tool. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/check/table_check.h"
#include "core/draft/drafted_environments.h"
#include "core/draft/drafted_paths.h"
#include "core/draft/generic_view.h"
#include "core/draft/import.h"
#include "core/draft/infer.h"
#include "core/draft/map_writer.h"
#include "core/map/compile.h"
#include "core/name/names.h"
#include "core/read/fetch.h"
#include "core/sources.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/prompt.h"
#include "fs/cli/sample_reader.h"

/* The build defines where the schema of maps is installed. */
#ifndef DDBFS_DATA
#define DDBFS_DATA "/usr/local/share/ddbfs"
#endif

enum {
    DRAFTING_TABLES = 200,
    DRAFTING_PATH_ITEMS = 100, /* of each --sample PATH */

    /* A table is scanned in segments. Four show several kinds of items. A request costs at least
     * 0.5 RCU, so more segments have at least 25 items each. */
    DRAFTING_SEGMENTS_LEAST = 4,
    DRAFTING_SEGMENTS_MOST = 16,
    DRAFTING_SEGMENT_ITEMS = 25,

    /* RCU of a page of 1 MB and an item, and of an item of 400 KB. */
    DRAFTING_PAGE_RCU = 179,
    DRAFTING_ITEM_RCU = 50,
};

struct drafting_table {
    char *name;          /* owned: as in DynamoDB */
    struct place *place; /* owned: has its source */
    const struct declared_table *described;
    struct inference *inference; /* owned; NULL before the sample */
};

struct drafting {
    struct app app;
    struct arena arena; /* owns declarations */
    struct drafting_table tables[DRAFTING_TABLES];
    size_t count;
    struct drafting_table *current; /* is being described or scanned */

    /* ListTables, for a pattern or for the environments. */
    struct source_call *names_call;
    struct table_names names; /* of all tables, for the environments */
    size_t names_room;
    const char *pattern;

    /* The sample. */
    struct sample_reader reader;
    size_t scanned_items; /* of the current table */

    /* --from. */
    const char *file;
    struct imported imported;
    const char *live;                      /* the live table that is compared, */
    const struct declared_table *declared; /* with this one of the model */
    struct buf differences;                /* owned: a line each */
    struct span prefix;                    /* of live names, before those of the model */
    bool many_prefixes;
    bool failed; /* a live table cannot be compared */

    bool hopeless;              /* other tables would fail alike */
    bool matched, failed_match; /* the pattern */
    bool left_out;              /* a name that cannot be a path */
    bool is_at_end;             /* of the segment of the last page */
    bool scan_failed;
};

/* The exit status is EXIT_NOT_FOUND if all failures are proven to be "not found". A model is always
 * compared with existing tables. */
static bool drafting_fail(struct drafting *drafting, const char *of, const struct error *err)
{
    bool not_found = err->kind == ERROR_NOT_FOUND || err->kind == ERROR_NO_TABLE;
    bool worse = drafting->app.status == EXIT_FAILURE || !not_found || drafting->file;
    app_report_error(&drafting->app, of, err);
    drafting->app.status = worse ? EXIT_FAILURE : EXIT_NOT_FOUND;
    drafting->failed = true;
    return false;
}

static bool drafting_fail_memory(struct drafting *drafting)
{
    struct error why;
    error_no_memory(&why);
    return drafting_fail(drafting, NULL, &why);
}

static struct drafting_table *drafting_find(struct drafting *drafting, const char *name)
{
    for (size_t i = 0; i < drafting->count; i++)
        if (strcmp(drafting->tables[i].name, name) == 0)
            return &drafting->tables[i];
    return NULL;
}

/* Adds the table at or above PLACE, unless it was added before. Takes both. */
static bool drafting_add_table(struct drafting *drafting, char *name, struct place *place)
{
    struct error why;
    bool known = name && drafting_find(drafting, name);
    if (name && place && !known && drafting->count < DRAFTING_TABLES) {
        drafting->tables[drafting->count++] = (struct drafting_table){.name = name, .place = place};
        return true;
    }
    free(name);
    place_destroy(place);
    error_set(&why, ERROR_INVALID, "more than %d tables; name fewer of them", DRAFTING_TABLES);
    return known || drafting_fail(drafting, NULL, &why);
}

/* WORD is "Orders", or "/prod/tables/Orders" in an environment of a map. */
static bool drafting_add_word(struct drafting *drafting, const char *word)
{
    struct error why;
    bool is_path = word[0] == '/';
    struct place *place = app_resolve(&drafting->app, is_path ? word : "/tables", &why);
    if (place && is_path && !place->table_name) {
        error_set(&why, ERROR_INVALID, "is no table; name a table, or its directory below tables/");
        place_destroy(place);
        place = NULL;
    }
    if (!place)
        return drafting_fail(drafting, word, &why);
    return drafting_add_table(drafting, strdup(is_path ? place->table_name : word), place);
}

/* "prod-*". No table has these characters in its name. */
static bool drafting_is_pattern(const char *word)
{
    return word[0] != '/' && strpbrk(word, "*?[") != NULL;
}

static void drafting_match_names(void *arg, const struct page *page, const struct error *err)
{
    struct drafting *drafting = arg;
    for (size_t i = 0; page && i < page->name_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        buf_add_span(&name, page->names[i]);
        if (!names_check_table(page->names[i], &why)) {
            int status = drafting->app.status; /* the other tables are drafted */
            app_report_error(&drafting->app, drafting->pattern, &why);
            drafting->app.status = status;
            drafting->left_out = true;
            continue;
        }
        if (fnmatch(drafting->pattern, buf_text(&name), 0) != 0)
            continue;
        drafting->matched = true;
        if (!drafting_add_word(drafting, buf_text(&name)))
            drafting->failed_match = true;
    }
    if (err)
        drafting->failed_match = !drafting_fail(drafting, drafting->pattern, err);
    if (page && page->more)
        source_more(drafting->names_call);
    else
        loop_stop(drafting->app.loop);
}

/* FN stops the loop at the last page. */
static bool drafting_list_tables(struct drafting *drafting, struct source *source,
                                 source_page_fn *fn)
{
    struct read *read = read_new(READ_TABLES, "", NULL);
    drafting->names_call = read ? source_start(source, read, NULL, fn, drafting) : NULL;
    if (drafting->names_call) {
        loop_run(drafting->app.loop);
        source_end(drafting->names_call);
    }
    read_destroy(read);
    return drafting->names_call || drafting_fail_memory(drafting);
}

/* The source of /tables. NULL with ERR. */
static struct source *drafting_default_source(struct drafting *drafting, struct error *err)
{
    struct place *place = app_resolve(&drafting->app, "/tables", err);
    struct source *source = place ? sources_for(drafting->app.sources, place, err) : NULL;
    place_destroy(place);
    return source;
}

static bool drafting_add_matching(struct drafting *drafting, const char *pattern)
{
    struct error why;
    struct source *source = drafting_default_source(drafting, &why);
    drafting->pattern = pattern;
    drafting->matched = drafting->failed_match = false;
    if (!source)
        return drafting_fail(drafting, pattern, &why);
    if (!drafting_list_tables(drafting, source, drafting_match_names))
        return false;
    error_set(&why, ERROR_NOT_FOUND, "no table matches");
    return !drafting->failed_match && (drafting->matched || drafting_fail(drafting, pattern, &why));
}

/* Adds the table of the items at PATH. */
static bool drafting_add_sampled(struct drafting *drafting, const char *path)
{
    struct error why;
    struct place *place = app_resolve(&drafting->app, path, &why);
    if (place && !fetch_is_needed(place)) {
        error_set(&why, ERROR_NOT_LISTABLE,
                  "has no item to read; name an item or a listing: /tables/TABLE/items/KEY/");
        place_destroy(place);
        place = NULL;
    }
    if (place)
        return drafting_add_table(drafting, place_table_name(place), place);
    app_report_error(&drafting->app, path, &why);
    drafting->app.status = EXIT_FAILURE;
    return false;
}

static void drafting_take_description(void *arg, const struct page *page, const struct error *err)
{
    struct drafting *drafting = arg;
    struct drafting_table *table = drafting->current;
    bool refused = err && (err->kind == ERROR_DENIED || err->kind == ERROR_EXPIRED);
    drafting->hopeless = err && (error_is_outage(err) || (refused && !err->authenticated));
    if (err)
        drafting_fail(drafting, table->name, err);
    else
        table->described = generic_view_declare_table(&drafting->arena, table->name, page->table);
    if (!err && !table->described)
        drafting_fail_memory(drafting);
    loop_stop(drafting->app.loop);
}

/* Sends DescribeTable for NAME. FN stops the loop. */
static bool drafting_describe(struct drafting *drafting, struct source *source, const char *name,
                              source_page_fn *fn)
{
    struct read *read = read_new(READ_TABLE, name, NULL);
    struct source_call *call = read ? source_start(source, read, NULL, fn, drafting) : NULL;
    if (call) {
        loop_run(drafting->app.loop);
        source_end(call);
    }
    read_destroy(read);
    return call || drafting_fail_memory(drafting);
}

static bool drafting_describe_table(struct drafting *drafting, struct drafting_table *table)
{
    struct error why;
    struct source *source = sources_for(drafting->app.sources, table->place, &why);
    drafting->current = table;
    if (!source)
        return drafting_fail(drafting, table->name, &why);
    return drafting_describe(drafting, source, table->name, drafting_take_description) &&
           table->described;
}

static bool drafting_take_item(void *arg, const struct plan *plan, struct json item)
{
    struct drafting_table *table = drafting_find(arg, plan->table_name);
    return !table || inference_add(table->inference, item);
}

static uint32_t drafting_segments(uint32_t count)
{
    uint32_t segments = count / DRAFTING_SEGMENT_ITEMS;
    if (segments > DRAFTING_SEGMENTS_MOST)
        return DRAFTING_SEGMENTS_MOST;
    if (segments >= DRAFTING_SEGMENTS_LEAST)
        return segments;
    return count < DRAFTING_SEGMENTS_LEAST ? count : DRAFTING_SEGMENTS_LEAST;
}

static void drafting_take_scanned(void *arg, const struct page *page, const struct error *err)
{
    struct drafting *drafting = arg;
    loop_stop(drafting->app.loop);
    drafting->scan_failed = err != NULL;
    if (err) {
        app_report_error(&drafting->app, drafting->current->name, err);
        return;
    }
    drafting->is_at_end = !page->more;
    drafting->scanned_items += page->item_count;
    drafting->reader.requests += page->requests;
    drafting->reader.items += (unsigned)page->item_count;
    source_add_page(&drafting->reader.spent, page);
    for (size_t i = 0; i < page->item_count; i++)
        if (!inference_add(drafting->current->inference, page->items[i]))
            drafting_fail_memory(drafting);
}

struct drafting_segment {
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before the first page */
    bool is_at_end;
};

static bool drafting_scan_page(struct drafting *drafting, struct source *source,
                               struct drafting_segment *segment)
{
    if (segment->call)
        source_more(segment->call);
    else if (segment->read && !read_failed(segment->read))
        segment->call = source_start(source, segment->read, NULL, drafting_take_scanned, drafting);
    if (!segment->call)
        return drafting_fail_memory(drafting);
    loop_run(drafting->app.loop);
    segment->is_at_end = drafting->is_at_end;
    return !drafting->scan_failed;
}

/* Reads about COUNT items of the current table, a page of each segment in turn: a kind with most
 * of the items must not hide the others. Large items must not take a request each, so there are at
 * most two requests per segment. The pages of a segment that ends are left to the others. */
static void drafting_scan(struct drafting *drafting, struct source *source, uint32_t count)
{
    struct drafting_segment segments[DRAFTING_SEGMENTS_MOST] = {0};
    uint32_t segment_count = drafting_segments(count), requests = 0, open = segment_count;
    for (uint32_t i = 0; i < segment_count; i++) {
        struct read *read = read_new(READ_SCAN, drafting->current->name, NULL);
        segments[i].read = read;
        if (!read)
            continue;
        read->segment = i;
        read->segments = segment_count > 1 ? segment_count : 0;
        read->limit = count / segment_count + (i < count % segment_count ? 1 : 0);
    }
    for (uint32_t i = 0; open > 0 && drafting->scanned_items < count; i = (i + 1) % segment_count) {
        if (segments[i].is_at_end)
            continue;
        if (requests++ == 2 * segment_count || !drafting_scan_page(drafting, source, &segments[i]))
            break;
        open -= segments[i].is_at_end;
    }
    if (open == 0)
        inference_note_end(drafting->current->inference);
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].call)
            source_end(segments[i].call);
        read_destroy(segments[i].read);
    }
}

static void drafting_scan_table(struct drafting *drafting, struct drafting_table *table)
{
    struct error why;
    struct source *source = source_ref(sources_for(drafting->app.sources, table->place, &why));
    drafting->current = table;
    drafting->scanned_items = 0;
    drafting->scan_failed = false;
    if (source)
        drafting_scan(drafting, source, drafting->app.options->sample_records);
    else
        app_report_error(&drafting->app, table->name, &why);
    source_unref(source);
    if (drafting->scanned_items == 0 && drafting->app.status == EXIT_SUCCESS)
        app_note(&drafting->app, LOG_LEVEL_WARNING, table->name,
                 "no item was found for the sample; the table may be empty");
}

/* The whole name of the one snapshot, file or folder, that is read instead of DynamoDB; NULL for
 * none, or for several. */
static const char *drafting_snapshot(struct drafting *drafting)
{
    const struct options *options = drafting->app.options;
    const char *name =
        options->snapshot_count == 1 ? options->snapshots[0] : drafting->app.snapshot;
    char *whole = name ? realpath(name, NULL) : NULL;
    const char *copy = whole ? arena_text(&drafting->arena, span_text(whole)) : NULL;
    free(whole);
    return copy;
}

/* Prints the highest cost of the Scans. More than a page needs a confirmation. Each item is read
 * once; the last page of a segment may have more items than needed. */
static bool drafting_confirm_scan(struct drafting *drafting)
{
    const struct options *options = drafting->app.options;
    size_t tables = drafting->count, count = options->sample_records;
    if (drafting_snapshot(drafting)) /* which costs nothing */
        return true;
    size_t segments = drafting_segments(options->sample_records);
    size_t most = count - 1 + (count + segments - 1) / segments;
    size_t requests = tables * 2 * segments;
    size_t pages_rcu = requests * DRAFTING_PAGE_RCU;
    size_t items_rcu = tables * most * DRAFTING_ITEM_RCU + requests;
    fprintf(stderr, "ddbfs: up to %zu item%s of %zu table%s: at most %zu requests and %zu RCU\n",
            most, most == 1 ? "" : "s", tables, tables == 1 ? "" : "s", requests,
            pages_rcu < items_rcu ? pages_rcu : items_rcu);
    if (options->yes || (tables == 1 && options->sample_records <= READ_MAX_KEYS))
        return true;
    enum prompt_consent consent = prompt_for_consent("Go on");
    if (consent == PROMPT_NO_TERMINAL)
        fputs("ddbfs: that is more than a page; pass --yes to continue\n", stderr);
    return consent == PROMPT_AGREED;
}

static bool drafting_sample(struct drafting *drafting)
{
    const struct options *options = drafting->app.options;
    CLEAN_UP(buf_clean_up) struct buf cost = {0};
    for (size_t i = 0; i < drafting->count; i++) {
        struct drafting_table *table = &drafting->tables[i];
        table->inference = inference_new(table->described);
        if (!table->inference)
            return drafting_fail_memory(drafting);
    }
    drafting->reader = (struct sample_reader){.app = &drafting->app,
                                              .most = DRAFTING_PATH_ITEMS,
                                              .take = drafting_take_item,
                                              .arg = drafting};
    for (unsigned i = 0; i < options->sample_path_count; i++) {
        unsigned before = drafting->reader.items;
        sample_reader_read(&drafting->reader, options->sample_paths[i], true);
        if (drafting->reader.items == before && drafting->app.status == EXIT_SUCCESS)
            app_note(&drafting->app, LOG_LEVEL_WARNING, options->sample_paths[i],
                     "no item was found for the sample; check the key");
    }
    if (options->sample_records > 0 && !drafting_confirm_scan(drafting))
        return false;
    for (size_t i = 0; options->sample_records > 0 && i < drafting->count; i++)
        drafting_scan_table(drafting, &drafting->tables[i]);
    if (options->sample_path_count > 0 || options->sample_records > 0) {
        sample_reader_write_cost(&drafting->reader, &cost);
        fprintf(stderr, "ddbfs: %s\n", buf_text(&cost));
    }
    return drafting->app.status == EXIT_SUCCESS;
}

static void drafting_take_names(void *arg, const struct page *page, const struct error *err)
{
    struct drafting *drafting = arg;
    struct table_names *names = &drafting->names;
    size_t most = names->count + (page ? page->name_count : 0);
    if (most > drafting->names_room) {
        const char **more = arena_array(&drafting->arena, 2 * most, sizeof *more);
        for (size_t i = 0; more && i < names->count; i++)
            more[i] = names->names[i];
        names->names = more;
        drafting->names_room = 2 * most;
    }
    for (size_t i = 0; names->names && page && i < page->name_count; i++)
        names->names[names->count++] = arena_text(&drafting->arena, page->names[i]);
    if (err)
        names->names = NULL;
    if (page && page->more && names->names)
        source_more(drafting->names_call);
    else
        loop_stop(drafting->app.loop);
}

/* Lists the tables beside the first one, for branches. They need a permission that may be absent.
 */
static bool drafting_list_for_branches(void *arg, struct table_names *out)
{
    struct drafting *drafting = arg;
    struct error why;
    struct source *source = sources_for(drafting->app.sources, drafting->tables[0].place, &why);
    drafting->names = (struct table_names){0};
    drafting->names_room = 0;
    if (!source || !drafting_list_tables(drafting, source, drafting_take_names))
        return false;
    *out = drafting->names;
    return out->names && !drafting->arena.failed;
}

/* The table as its items show it; without a sample, as described. */
static struct declared_table *drafting_infer(struct drafting *drafting,
                                             const struct drafting_table *table)
{
    struct declared_table *inferred = inference_end(table->inference, &drafting->arena);
    if (inferred && inference_count(table->inference) > 0 &&
        inferred->records == table->described->records)
        app_note(&drafting->app, LOG_LEVEL_WARNING, table->name,
                 "the sampled keys contain no words, such as USER in \"USER#1\", so the map has "
                 "whole keys; docs/map.md describes key formats");
    return inferred;
}

/* Fills MAP with the drafted tables and their environments. */
static bool drafting_fill_map(struct drafting *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    const struct environment_origin where = {
        .profile = options->profile,
        .region = options->region,
        .endpoint = options->endpoint_url,
        .snapshot = drafting_snapshot(drafting),
        .list = drafting_list_for_branches,
        .arg = drafting,
    };
    const struct declared_table *described[DRAFTING_TABLES];
    struct table_names left_out;
    struct declared_table **last = &map->tables;
    for (size_t i = 0; i < drafting->count; i++) {
        *last = drafting_infer(drafting, &drafting->tables[i]);
        if (!*last || (!(*last)->paths && !drafted_paths_add(&drafting->arena, *last)))
            return drafting_fail_memory(drafting);
        last = &(*last)->next;
        described[i] = drafting->tables[i].described;
    }
    *last = NULL;
    map->schema = DDBFS_DATA "/map.schema.json";
    if (!drafted_environments_add(&drafting->arena, map, described, &where, &left_out))
        return drafting_fail_memory(drafting);
    for (size_t i = 0; i < left_out.count; i++)
        app_fail(left_out.names[i],
                 "is left out: the tables of a map are in all its environments, and this one is "
                 "not; read it below tables/, or make a map of it alone");
    map_writer_add_comments(map);
    return true;
}

/* Prints MAP, which must be a valid map. */
static bool drafting_print(struct drafting *drafting, const struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error why;
    map_writer_write(map, &text);
    json_add_printable(&safe, buf_span(&text));
    if (text.failed || safe.failed)
        return drafting_fail_memory(drafting);
    fwrite(safe.data, 1, safe.size, stdout);
    const struct map *read = map_parse("the map", buf_span(&text), &findings, &why);
    map_unref(read);
    return read || drafting_fail(drafting, NULL, &why);
}

static void drafting_run(struct drafting *drafting, char **words, int count)
{
    app_show_progress(&drafting->app);
    const struct options *options = drafting->app.options;
    struct declared_map map = {0};
    bool ok = true;
    for (int i = 0; i < count; i++)
        ok = (drafting_is_pattern(words[i]) ? drafting_add_matching(drafting, words[i])
                                            : drafting_add_word(drafting, words[i])) &&
             ok;
    for (unsigned i = 0; i < options->sample_path_count; i++)
        ok = drafting_add_sampled(drafting, options->sample_paths[i]) && ok;
    for (size_t i = 0; !drafting->hopeless && i < drafting->count; i++)
        ok = drafting_describe_table(drafting, &drafting->tables[i]) && ok;
    ok = ok && drafting_sample(drafting) && drafting_fill_map(drafting, &map) &&
         drafting_print(drafting, &map);
    if ((!ok || drafting->left_out) && drafting->app.status == EXIT_SUCCESS)
        drafting->app.status = EXIT_FAILURE;
}

/* --from FILE: a model of another tool. */

static bool drafting_import_file(struct drafting *drafting)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error why;
    char bytes[1 << 14];
    size_t count;
    FILE *stream = fopen(drafting->file, "re");
    while (stream && text.size <= IMPORT_MAX_BYTES && !text.failed &&
           (count = fread(bytes, 1, sizeof bytes, stream)) > 0)
        buf_add(&text, bytes, count);
    bool read = stream && !ferror(stream);
    int reason = errno;
    if (stream)
        fclose(stream);
    if (text.failed)
        return drafting_fail_memory(drafting);
    if (!read) {
        error_set(&why, ERROR_INVALID, "the model %s can't be read: %s", drafting->file,
                  strerror(reason));
        return drafting_fail(drafting, NULL, &why);
    }
    return import_model(&drafting->arena, drafting->file, buf_span(&text), &drafting->imported,
                        &why) ||
           drafting_fail(drafting, NULL, &why);
}

/* "ddbfs: FILE: PART: TEXT". The map is incomplete then. */
static void drafting_report_import(struct drafting *drafting, const char *part, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, safe = {0};
    buf_printf(&line, "%s: %s", part, text);
    printable_add(&safe, buf_span(&line), "");
    fprintf(stderr, "ddbfs: %s: %s\n", drafting->file, buf_text(&safe));
    drafting->app.status = EXIT_FAILURE;
}

/* The model's table for the live table LIVE: it has the same name, perhaps without a prefix such as
 * "prod-", or no name. */
static struct declared_table *drafting_find_declared(struct drafting *drafting, const char *live)
{
    struct declared_table *table;
    struct span name = span_text(live);
    for (table = drafting->imported.tables; table; table = table->next) {
        struct span end = span_text(table->base_name);
        if (span_equal(name, end) ||
            (name.size > end.size && end.size > 0 && span_ends(name, end) &&
             strchr("-_.", name.data[name.size - end.size - 1])))
            return table;
    }
    for (table = drafting->imported.tables; table; table = table->next)
        if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
            return table;
    return NULL;
}

/* TEXT names what differs; LINE is of no file. */
static void drafting_add_difference(void *arg, unsigned line, const char *text)
{
    struct drafting *drafting = arg;
    (void)line;
    buf_printf(&drafting->differences, "- %s: %s\n", drafting->live, text);
    drafting_report_import(drafting, drafting->live, text);
}

static void drafting_compare_description(void *arg, const struct page *page,
                                         const struct error *err)
{
    struct drafting *drafting = arg;
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct declared_table bare = *drafting->declared;
    bare.has_paths = true;
    const struct model *model = err ? NULL : compile_table(&bare, &findings);
    if (err)
        drafting_fail(drafting, drafting->live, err);
    else if (model)
        table_check_run(model, drafting->live, page->table, drafting_add_difference, drafting);
    for (size_t i = 0; i < findings.count; i++)
        drafting_add_difference(drafting, findings.items[i].at.line, findings.items[i].text);
    model_unref(model);
    loop_stop(drafting->app.loop);
}

/* Compares the live table LIVE with the model, whose table gets its name. */
static bool drafting_compare(struct drafting *drafting, const char *live)
{
    struct declared_table *table = drafting_find_declared(drafting, live);
    struct error why;
    if (!table) {
        error_set(&why, ERROR_INVALID, "the model %s describes no table of that name",
                  drafting->file);
        return drafting_fail(drafting, live, &why);
    }
    if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0) {
        table->path_name = live;
    } else {
        struct span prefix = span_of(live, strlen(live) - strlen(table->base_name));
        if (drafting->declared && !span_equal(drafting->prefix, prefix))
            drafting->many_prefixes = true;
        drafting->prefix = prefix;
    }
    table->base_name = live;
    drafting->live = live;
    drafting->declared = table;
    struct source *source = drafting_default_source(drafting, &why);
    if (!source)
        return drafting_fail(drafting, live, &why);
    return drafting_describe(drafting, source, live, drafting_compare_description) &&
           !drafting->failed;
}

/* Tables of the model that were not named get the prefix of those that were. */
static void drafting_add_prefix(struct drafting *drafting, char **names, int count)
{
    struct declared_table *table = drafting->many_prefixes ? NULL : drafting->imported.tables;
    for (; table && drafting->prefix.size > 0; table = table->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        bool named = strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0;
        for (int i = 0; i < count; i++)
            named = named || strcmp(names[i], table->base_name) == 0;
        if (named)
            continue;
        buf_add_span(&name, drafting->prefix);
        buf_add_text(&name, table->base_name);
        table->base_name = arena_text(&drafting->arena, buf_span(&name));
        drafting->arena.failed = drafting->arena.failed || name.failed;
    }
}

/* Adds the environments as drafting_fill_map does; a model has no other description. */
static bool drafting_add_environments(struct drafting *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    const struct environment_origin where = {.profile = options->profile,
                                             .region = options->region,
                                             .endpoint = options->endpoint_url,
                                             .snapshot = drafting_snapshot(drafting)};
    struct table_names left_out = {0};
    size_t count = 0;
    for (struct declared_table *table = map->tables; table; table = table->next)
        count++;
    const struct declared_table **described =
        arena_array(&drafting->arena, count, sizeof *described);
    count = 0;
    for (struct declared_table *table = map->tables; described && table; table = table->next)
        described[count++] = table;
    if (!described ||
        !drafted_environments_add(&drafting->arena, map, described, &where, &left_out))
        return drafting_fail_memory(drafting);
    for (size_t i = 0; i < left_out.count; i++)
        drafting_report_import(drafting, left_out.names[i],
                               "is left out: the tables of a map are in all its environments, and "
                               "this one is not");
    return true;
}

/* Adds one environment for the user to edit. */
static bool drafting_add_placeholder(struct drafting *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    struct declared_environment *environment = arena_alloc(&drafting->arena, sizeof *environment);
    if (!environment)
        return drafting_fail_memory(drafting);
    *environment = (struct declared_environment){
        .name = "all",
        .profile = options->profile,
        .region = options->region,
        .endpoint = options->endpoint_url,
        .snapshot = drafting_snapshot(drafting),
        .note = "A placeholder, because a model has no environments. Rename it, and add the "
                "beginning of its tables' names (\"prefix\": \"prod-\"), a \"profile\" and a "
                "\"region\"."};
    map->environments = environment;
    return true;
}

/* Parts of the model that are not imported are listed in the map's first comment and on standard
 * error. Without NAMES no request is sent. */
static bool drafting_import(struct drafting *drafting, char **names, int count)
{
    struct declared_map map;
    bool ok = drafting_import_file(drafting);
    for (int i = 0; ok && i < count; i++)
        ok = drafting_compare(drafting, names[i]);
    if (!ok)
        return false;
    drafting_add_prefix(drafting, names, count);
    for (const struct left_out *each = drafting->imported.left_out; each; each = each->next)
        drafting_report_import(drafting, each->where, each->why);
    if (!import_draft_map(&drafting->arena, drafting->file, &drafting->imported,
                          buf_text(&drafting->differences), &map))
        return drafting_fail_memory(drafting);
    return (count > 0 ? drafting_add_environments(drafting, &map)
                      : drafting_add_placeholder(drafting, &map)) &&
           drafting_print(drafting, &map);
}

/* Only --map is read: without a map yet, a map that is found by chance would be misleading. */
static int drafting_command(const struct options *options, int argc, char **argv)
{
    struct drafting drafting = {.file = options->from};
    bool ok = options->map && !options->from
                  ? app_init(&drafting.app, options, options->map, COMMAND_CACHE_BYTES)
                  : app_start(&drafting.app, options, map_none(), COMMAND_CACHE_BYTES);
    drafting.app.is_drafting = !options->map && !options->from;
    if (ok && !options->from)
        drafting_run(&drafting, argv, argc);
    else if (!ok || !drafting_import(&drafting, argv, argc))
        drafting.app.status = EXIT_FAILURE;
    int status = drafting.app.status;
    for (size_t i = 0; i < drafting.count; i++) {
        free(drafting.tables[i].name);
        place_destroy(drafting.tables[i].place);
        inference_destroy(drafting.tables[i].inference);
    }
    buf_clean_up(&drafting.differences);
    arena_clean_up(&drafting.arena);
    app_clean_up(&drafting.app);
    return status;
}

/* The reason of wrong usage, or NULL. */
static const char *drafting_check_usage(const struct options *options, int argc, char **argv)
{
    bool samples = options->sample_path_count > 0 || options->sample_records > 0;
    if (options->from && samples)
        return "a model has its key formats: --from and --sample don't go together";
    for (int i = 0; options->from && i < argc; i++)
        if (drafting_is_pattern(argv[i]))
            return "with --from, a table cannot be a pattern; use its full name";
    if (argc == 0 && options->sample_path_count == 0 && !options->from)
        return "name tables, paths of items (--sample), or a model (--from)";
    bool is_free = options->snapshot_count > 0 || options_snapshot_variable(options);
    if (options->sample_records > 0 && !options->allow_scan && !is_free)
        return "--sample N reads items without a key, which is a Scan; add --allow-scan, or name "
               "a path: --sample /tables/TABLE/items/KEY/";
    return NULL;
}

int map_draft(const struct options *options, int argc, char **argv, const char *command)
{
    const char *misuse = drafting_check_usage(options, argc, argv);
    if (misuse)
        return app_usage(misuse, command);
    if (options->from)
        return drafting_command(options, argc, argv);
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    bool ok = mounted_paths_take(&mounted, argv, argc);
    for (unsigned i = 0; ok && i < options->sample_path_count; i++)
        ok = (mounted.options.sample_paths[i] =
                  mounted_paths_translate(&mounted, mounted.options.sample_paths[i])) != NULL;
    int status = ok ? drafting_command(&mounted.options, argc, argv) : EXIT_FAILURE;
    mounted_paths_clean_up(&mounted);
    return status;
}

int map_command(const struct options *options, int argc, char **argv)
{
    return map_draft(options, argc, argv, "map");
}
