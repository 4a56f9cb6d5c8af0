#include "fs/cli/map_from.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/author/write.h"
#include "core/base/printable.h"
#include "core/import/draft.h"
#include "core/import/import.h"
#include "core/map/check.h"
#include "core/map/compile.h"
#include "core/sources.h"
#include "fs/cli/app.h"

struct drafting {
    struct app app;
    struct arena arena; /* of what is declared */
    const char *file;
    struct imported imported;
    const char *live;                   /* the live table that is asked about, */
    const struct declared_table *asked; /* and what the model says of it */
    struct buf differences;             /* from the live tables, a line each */
};

static bool fail(struct drafting *drafting, const char *of, const struct error *err)
{
    app_complain(&drafting->app, of, err);
    drafting->app.status = EXIT_FAILURE;
    return false;
}

static bool fail_of_memory(struct drafting *drafting)
{
    struct error why;
    error_no_memory(&why);
    return fail(drafting, NULL, &why);
}

static bool read_stream(FILE *stream, struct buf *text)
{
    char bytes[1 << 16];
    size_t count;
    while (text->size <= IMPORT_MAX_BYTES && !text->failed &&
           (count = fread(bytes, 1, sizeof bytes, stream)) > 0)
        buf_add(text, bytes, count);
    return !ferror(stream) && !text->failed;
}

static bool import_file(struct drafting *drafting)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error why;
    FILE *stream = fopen(drafting->file, "re");
    bool read = stream && read_stream(stream, &text);
    int reason = errno;
    if (stream)
        fclose(stream);
    if (text.failed)
        return fail_of_memory(drafting);
    if (!read) {
        error_set(&why, ERROR_INVALID, "the model %s can't be read: %s", drafting->file,
                  strerror(reason));
        return fail(drafting, NULL, &why);
    }
    return import_model(&drafting->arena, drafting->file, buf_span(&text), &drafting->imported,
                        &why) ||
           fail(drafting, NULL, &why);
}

/* A line on standard error that no terminal acts on. */
static void tell(struct drafting *drafting, const char *what, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    buf_printf(&line, "%s: %s", what, text);
    printable_add(&safe, buf_span(&line), "");
    fprintf(stderr, "ddbfs: %s: %s\n", drafting->file, buf_text(&safe));
    drafting->app.status = EXIT_FAILURE;
}

static void tell_left_out(struct drafting *drafting)
{
    for (const struct left_out *each = drafting->imported.left_out; each; each = each->next)
        tell(drafting, each->where, each->why);
}

static bool is_boundary(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* Whether the live table LIVE may be what the model calls BASE: perhaps with an environment's
 * beginning. */
static bool is_called(const char *live, const char *base)
{
    struct span name = span_text(live), end = span_text(base);
    return span_equal(name, end) || (name.size > end.size && end.size > 0 && span_ends(name, end) &&
                                     is_boundary(name.data[name.size - end.size - 1]));
}

/* The model's table that is the live one; a table without a name takes any. */
static struct declared_table *table_called(struct drafting *drafting, const char *live)
{
    struct declared_table *table;
    for (table = drafting->imported.tables; table; table = table->next)
        if (is_called(live, table->base_name))
            return table;
    for (table = drafting->imported.tables; table; table = table->next)
        if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
            return table;
    return NULL;
}

static void add_difference(void *arg, unsigned line, const char *text)
{
    struct drafting *drafting = arg;
    (void)line; /* the sentence names what it is about */
    buf_printf(&drafting->differences, "- %s: %s\n", drafting->live, text);
    tell(drafting, drafting->live, text);
}

static void take_description(void *arg, const struct page *page, const struct error *err)
{
    struct drafting *drafting = arg;
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct declared_table bare = *drafting->asked;
    bare.has_paths = true;
    const struct model *model = err ? NULL : compile_table(&bare, &findings);
    if (err)
        fail(drafting, drafting->live, err);
    else if (model)
        check_table(model, drafting->live, page->table, add_difference, drafting);
    for (size_t i = 0; i < findings.count; i++)
        add_difference(drafting, findings.items[i].line, findings.items[i].text);
    model_unref(model);
    loop_stop(drafting->app.loop);
}

/* Once, of the source that all below /tables is read from. */
static bool describe(struct drafting *drafting)
{
    struct error why;
    struct place *place = app_resolve(&drafting->app, "/tables", &why);
    struct source *source = place ? sources_for(drafting->app.sources, place, &why) : NULL;
    bool ok = source || fail(drafting, drafting->live, &why);
    struct read *read = ok ? read_new(READ_TABLE, drafting->live, NULL) : NULL;
    struct source_call *call = read ? source_start(source, read, take_description, drafting) : NULL;
    if (call) {
        loop_run(drafting->app.loop);
        source->ops->end(call);
    } else if (ok) {
        ok = fail_of_memory(drafting);
    }
    read_destroy(read);
    place_destroy(place);
    return ok;
}

static bool compare(struct drafting *drafting, const char *live)
{
    struct declared_table *table = table_called(drafting, live);
    struct error why;
    if (!table) {
        error_set(&why, ERROR_INVALID, "the model %s describes no table of that name",
                  drafting->file);
        return fail(drafting, live, &why);
    }
    if (strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
        table->path_name = live;
    table->base_name = live;
    drafting->live = live;
    drafting->asked = table;
    return describe(drafting);
}

/* Nobody said where the tables are, but who asked. */
static bool add_environment(struct drafting *drafting, bool live, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    struct declared_environment *environment = arena_alloc(&drafting->arena, sizeof *environment);
    if (!environment)
        return fail_of_memory(drafting);
    *environment = (struct declared_environment){
        .name = "all",
        .profile = options->profile,
        .region = options->region,
        .endpoint = options->endpoint_url,
        .note = live ? NULL
                     : "A placeholder, as no model says where its tables are: call it as your team "
                       "does, and say what the tables' names begin with (\"prefix\": \"prod-\"), a "
                       "\"profile\" and a \"region\"."};
    map->environments = environment;
    return true;
}

static bool print(struct drafting *drafting, const struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    struct error why;
    author_write(map, &text);
    json_add_printable(&safe, buf_span(&text));
    if (text.failed || safe.failed)
        return fail_of_memory(drafting);
    fwrite(safe.data, 1, safe.size, stdout);
    const struct map *read = map_parse("the map", buf_span(&text), NULL, &why);
    if (!read)
        return fail(drafting, NULL, &why);
    map_unref(read);
    return true;
}

static bool run(struct drafting *drafting, char **names, int count)
{
    struct declared_map map;
    bool ok = import_file(drafting);
    for (int i = 0; ok && i < count; i++)
        ok = compare(drafting, names[i]);
    if (!ok)
        return false;
    tell_left_out(drafting);
    ok = import_draft(&drafting->arena, drafting->file, &drafting->imported,
                      buf_text(&drafting->differences), &map) ||
         fail_of_memory(drafting);
    return ok && add_environment(drafting, count > 0, &map) && print(drafting, &map);
}

int map_from(const struct options *options, int argc, char **argv)
{
    struct drafting drafting = {.file = options->from};
    if (!app_start(&drafting.app, options, map_none(), COMMAND_CACHE_BYTES) ||
        !run(&drafting, argv, argc))
        drafting.app.status = EXIT_FAILURE;
    int status = drafting.app.status;
    buf_clean_up(&drafting.differences);
    arena_clean_up(&drafting.arena);
    app_clean_up(&drafting.app);
    return status;
}
