#include "fs/cli/map_from.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/check/table_check.h"
#include "core/draft/drafted_environments.h"
#include "core/draft/import.h"
#include "core/draft/map_writer.h"
#include "core/map/compile.h"
#include "core/sources.h"
#include "fs/cli/app.h"

struct map_import {
    struct app app;
    struct arena arena; /* of what is declared */
    const char *file;
    struct imported imported;
    const char *live;                   /* the live table that is asked about, */
    const struct declared_table *asked; /* and what the model says of it */
    struct buf differences;             /* from the live tables, a line each */
    bool failed;                        /* a live table could not be asked for */
    struct span prefix;                 /* what live tables have before the model's names */
    bool many_prefixes;
};

static bool map_from_fail(struct map_import *drafting, const char *of, const struct error *err)
{
    app_report_error(&drafting->app, of, err);
    drafting->app.status = EXIT_FAILURE;
    drafting->failed = true;
    return false;
}

static bool map_from_fail_of_memory(struct map_import *drafting)
{
    struct error why;
    error_no_memory(&why);
    return map_from_fail(drafting, NULL, &why);
}

static bool map_from_read_stream(FILE *stream, struct buf *text)
{
    char bytes[1 << 16];
    size_t count;
    while (text->size <= IMPORT_MAX_BYTES && !text->failed &&
           (count = fread(bytes, 1, sizeof bytes, stream)) > 0)
        buf_add(text, bytes, count);
    return !ferror(stream) && !text->failed;
}

static bool map_from_import_file(struct map_import *drafting)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error why;
    FILE *stream = fopen(drafting->file, "re");
    bool read = stream && map_from_read_stream(stream, &text);
    int reason = errno;
    if (stream)
        fclose(stream);
    if (text.failed)
        return map_from_fail_of_memory(drafting);
    if (!read) {
        error_set(&why, ERROR_INVALID, "the model %s can't be read: %s", drafting->file,
                  strerror(reason));
        return map_from_fail(drafting, NULL, &why);
    }
    return import_model(&drafting->arena, drafting->file, buf_span(&text), &drafting->imported,
                        &why) ||
           map_from_fail(drafting, NULL, &why);
}

/* A line on standard error that no terminal acts on. */
static void map_from_report(struct map_import *drafting, const char *what, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    buf_printf(&line, "%s: %s", what, text);
    printable_add(&safe, buf_span(&line), "");
    fprintf(stderr, "ddbfs: %s: %s\n", drafting->file, buf_text(&safe));
    drafting->app.status = EXIT_FAILURE;
}

static void map_from_report_left_out(struct map_import *drafting)
{
    for (const struct left_out *each = drafting->imported.left_out; each; each = each->next)
        map_from_report(drafting, each->where, each->why);
}

static bool map_from_is_boundary(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* Whether the live table LIVE may be what the model calls BASE: perhaps with an environment's
 * beginning. */
static bool map_from_is_called(const char *live, const char *base)
{
    struct span name = span_text(live), end = span_text(base);
    return span_equal(name, end) || (name.size > end.size && end.size > 0 && span_ends(name, end) &&
                                     map_from_is_boundary(name.data[name.size - end.size - 1]));
}

/* The model's table that is the live one; a table without a name takes any. */
static struct declared_table *map_from_table_called(struct map_import *drafting, const char *live)
{
    struct declared_table *table;
    for (table = drafting->imported.tables; table; table = table->next)
        if (map_from_is_called(live, table->base_name))
            return table;
    for (table = drafting->imported.tables; table; table = table->next)
        if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
            return table;
    return NULL;
}

static void map_from_add_difference(void *arg, unsigned line, const char *text)
{
    struct map_import *drafting = arg;
    (void)line; /* the sentence names what it is about */
    buf_printf(&drafting->differences, "- %s: %s\n", drafting->live, text);
    map_from_report(drafting, drafting->live, text);
}

static void map_from_take_description(void *arg, const struct page *page, const struct error *err)
{
    struct map_import *drafting = arg;
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct declared_table bare = *drafting->asked;
    bare.has_paths = true;
    const struct model *model = err ? NULL : compile_table(&bare, &findings);
    if (err)
        map_from_fail(drafting, drafting->live, err);
    else if (model)
        table_check_run(model, drafting->live, page->table, map_from_add_difference, drafting);
    for (size_t i = 0; i < findings.count; i++)
        map_from_add_difference(drafting, findings.items[i].at.line, findings.items[i].text);
    model_unref(model);
    loop_stop(drafting->app.loop);
}

/* Once, of the source that all below /tables is read from. */
static bool map_from_describe(struct map_import *drafting)
{
    struct error why;
    struct place *place = app_resolve(&drafting->app, "/tables", &why);
    struct source *source = place ? sources_for(drafting->app.sources, place, &why) : NULL;
    bool ok = source || map_from_fail(drafting, drafting->live, &why);
    struct read *read = ok ? read_new(READ_TABLE, drafting->live, NULL) : NULL;
    struct source_call *call =
        read ? source_start(source, read, NULL, map_from_take_description, drafting) : NULL;
    if (call) {
        loop_run(drafting->app.loop);
        source_end(call);
    } else if (ok) {
        ok = map_from_fail_of_memory(drafting);
    }
    read_destroy(read);
    place_destroy(place);
    return ok && !drafting->failed;
}

/* What LIVE has before what the model calls it. */
static void map_from_note_prefix(struct map_import *drafting, const char *live, const char *base)
{
    struct span prefix = span_of(live, strlen(live) - strlen(base));
    if (drafting->asked && !span_equal(drafting->prefix, prefix))
        drafting->many_prefixes = true;
    drafting->prefix = prefix;
}

static bool map_from_compare(struct map_import *drafting, const char *live)
{
    struct declared_table *table = map_from_table_called(drafting, live);
    struct error why;
    if (!table) {
        error_set(&why, ERROR_INVALID, "the model %s describes no table of that name",
                  drafting->file);
        return map_from_fail(drafting, live, &why);
    }
    if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
        table->path_name = live;
    else
        map_from_note_prefix(drafting, live, table->base_name);
    table->base_name = live;
    drafting->live = live;
    drafting->asked = table;
    return map_from_describe(drafting);
}

static bool map_from_is_requested(const struct declared_table *table, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], table->base_name) == 0)
            return true;
    return false;
}

/* Tables that nobody asked for begin as those do that somebody asked for. */
static void map_from_name_others(struct map_import *drafting, char **names, int count)
{
    struct declared_table *table = drafting->many_prefixes ? NULL : drafting->imported.tables;
    for (; table && drafting->prefix.size > 0; table = table->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (map_from_is_requested(table, names, count) ||
            strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
            continue;
        buf_add_span(&name, drafting->prefix);
        buf_add_text(&name, table->base_name);
        table->base_name = arena_text(&drafting->arena, buf_span(&name));
        drafting->arena.failed = drafting->arena.failed || name.failed;
    }
}

/* As `ddbfs map` lays them out; the tables of a model have no other description. */
static bool map_from_add_environments(struct map_import *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    const struct environment_origin where = {
        .profile = options->profile, .region = options->region, .endpoint = options->endpoint_url};
    const struct declared_table **described;
    struct table_names left_out = {0};
    size_t count = 0;
    for (struct declared_table *table = map->tables; table; table = table->next)
        count++;
    described = arena_array(&drafting->arena, count, sizeof *described);
    count = 0;
    for (struct declared_table *table = map->tables; described && table; table = table->next)
        described[count++] = table;
    if (!described ||
        !drafted_environments_add(&drafting->arena, map, described, &where, &left_out))
        return map_from_fail_of_memory(drafting);
    for (size_t i = 0; i < left_out.count; i++)
        map_from_report(drafting, left_out.names[i],
                        "is left out, as a map's tables are in each environment");
    return true;
}

/* Nobody said where the tables are. */
static bool map_from_add_placeholder(struct map_import *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    struct declared_environment *environment = arena_alloc(&drafting->arena, sizeof *environment);
    if (!environment)
        return map_from_fail_of_memory(drafting);
    *environment = (struct declared_environment){
        .name = "all",
        .profile = options->profile,
        .region = options->region,
        .endpoint = options->endpoint_url,
        .note = "A placeholder, as no model says where its tables are: call it as your team "
                "does, and say what the tables' names begin with (\"prefix\": \"prod-\"), a "
                "\"profile\" and a \"region\"."};
    map->environments = environment;
    return true;
}

static bool map_from_print(struct map_import *drafting, const struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    struct error why;
    map_writer_write(map, &text);
    json_add_printable(&safe, buf_span(&text));
    if (text.failed || safe.failed)
        return map_from_fail_of_memory(drafting);
    fwrite(safe.data, 1, safe.size, stdout);
    const struct map *read = map_parse("the map", buf_span(&text), NULL, &why);
    if (!read)
        return map_from_fail(drafting, NULL, &why);
    map_unref(read);
    return true;
}

static bool map_from_run(struct map_import *drafting, char **names, int count)
{
    struct declared_map map;
    bool ok = map_from_import_file(drafting);
    for (int i = 0; ok && i < count; i++)
        ok = map_from_compare(drafting, names[i]);
    if (!ok)
        return false;
    map_from_name_others(drafting, names, count);
    map_from_report_left_out(drafting);
    ok = import_draft_map(&drafting->arena, drafting->file, &drafting->imported,
                          buf_text(&drafting->differences), &map) ||
         map_from_fail_of_memory(drafting);
    return ok &&
           (count > 0 ? map_from_add_environments(drafting, &map)
                      : map_from_add_placeholder(drafting, &map)) &&
           map_from_print(drafting, &map);
}

int map_from(const struct options *options, int argc, char **argv)
{
    struct map_import drafting = {.file = options->from};
    if (!app_start(&drafting.app, options, map_none(), COMMAND_CACHE_BYTES) ||
        !map_from_run(&drafting, argv, argc))
        drafting.app.status = EXIT_FAILURE;
    int status = drafting.app.status;
    buf_clean_up(&drafting.differences);
    arena_clean_up(&drafting.arena);
    app_clean_up(&drafting.app);
    return status;
}
