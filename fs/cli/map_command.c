/* ddbfs map [--sample PATH|N] [--map FILE] TABLE…: a first map of tables, from what the service and
 * some of their records say of them. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/draft/drafted_environments.h"
#include "core/draft/drafted_paths.h"
#include "core/draft/generic_view.h"
#include "core/draft/map_writer.h"
#include "core/name/names.h"
#include "core/sources.h"
#include "fs/cli/consent.h"
#include "fs/cli/map_from.h"
#include "fs/cli/map_sample.h"
#include "fs/cli/mounted_paths.h"

/* Where the schema of maps is installed: the build says it. */
#ifndef DDBFS_DATA
#define DDBFS_DATA "/usr/local/share/ddbfs"
#endif

/* A page is 1 MB, and 8 KB are a unit. */
enum { MOST_TABLES = 200, UNITS_OF_A_PAGE = 179, UNITS_OF_AN_ITEM = 50 };

/* A table that is drafted. */
struct drafted {
    char *name;          /* as the service calls it; owned */
    struct place *place; /* owned: who can be asked for it */
    const struct declared_table *described;
};

struct map_drafting {
    struct app app;
    struct arena arena; /* of what is declared */
    struct map_sample *learner;
    struct drafted tables[MOST_TABLES];
    size_t count;
    struct drafted *asked; /* whose description is awaited */
    bool hopeless;         /* what failed of one table would fail of the others, too */

    /* Of a pattern, while tables are listed for it. */
    const char *pattern;
    bool matched, matched_wrongly;
    bool left_out; /* a name of the list of tables; the rest is drafted */

    /* While tables are listed, for a pattern or for the environments. */
    struct source *names_source; /* borrowed */
    struct source_call *names_call;
    struct table_names names; /* all that there are, for the environments */
    size_t room;              /* for names */
};

static bool map_command_is_missing(const struct error *err)
{
    return err->kind == ERROR_NOT_FOUND || err->kind == ERROR_NO_TABLE;
}

/* The exit status says whether all that failed is known not to be there. */
static bool map_command_fail(struct map_drafting *drafting, const char *path,
                             const struct error *err)
{
    bool worse = drafting->app.status == EXIT_FAILURE || !map_command_is_missing(err);
    app_report_error(&drafting->app, path, err);
    drafting->app.status = worse ? EXIT_FAILURE : EXIT_MISSING;
    return false;
}

static bool map_command_fail_of_memory(struct map_drafting *drafting)
{
    struct error why;
    error_no_memory(&why);
    return map_command_fail(drafting, NULL, &why);
}

static bool map_command_is_drafted(const struct map_drafting *drafting, const char *name)
{
    for (size_t i = 0; i < drafting->count; i++)
        if (strcmp(drafting->tables[i].name, name) == 0)
            return true;
    return false;
}

/* The table that PLACE is or is below. Takes both. */
static bool map_command_add_table(struct map_drafting *drafting, char *name, struct place *place)
{
    struct error why;
    bool known = name && map_command_is_drafted(drafting, name);
    if (name && place && !known && drafting->count < MOST_TABLES) {
        drafting->tables[drafting->count++] = (struct drafted){.name = name, .place = place};
        return true;
    }
    free(name);
    place_destroy(place);
    error_set(&why, ERROR_INVALID, "more than %d tables; draft them in several runs", MOST_TABLES);
    return known || map_command_fail(drafting, NULL, &why);
}

/* "Orders", whom whoever reads tables/ can be asked for; or "/prod/tables/Orders" where a map says
 * which environment that is. */
static bool map_command_add_word(struct map_drafting *drafting, const char *word)
{
    struct error why;
    bool is_path = word[0] == '/';
    struct place *place = app_resolve(&drafting->app, is_path ? word : "/tables", &why);
    if (place && is_path && !place->table_name) {
        error_set(&why, ERROR_INVALID, "name a table, or its directory below tables/");
        place_destroy(place);
        place = NULL;
    }
    if (!place)
        return map_command_fail(drafting, word, &why);
    return map_command_add_table(drafting, strdup(is_path ? place->table_name : word), place);
}

/* "prod-*", which a name of a table may not hold. */
static bool map_command_is_pattern(const char *word)
{
    return word[0] != '/' && strpbrk(word, "*?[") != NULL;
}

static void map_command_take_names(void *arg, const struct page *page, const struct error *err)
{
    struct map_drafting *drafting = arg;
    for (size_t i = 0; page && i < page->name_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        buf_add_span(&name, page->names[i]);
        if (!names_check_table(page->names[i], &why)) {
            int status = drafting->app.status; /* of what is drafted */
            app_report_error(&drafting->app, drafting->pattern, &why);
            drafting->app.status = status;
            drafting->left_out = true;
            continue;
        }
        if (fnmatch(drafting->pattern, buf_text(&name), 0) != 0)
            continue;
        drafting->matched = true;
        if (!map_command_add_word(drafting, buf_text(&name)))
            drafting->matched_wrongly = true;
    }
    if (err)
        drafting->matched_wrongly = !map_command_fail(drafting, drafting->pattern, err);
    if (page && page->more)
        source_more(drafting->names_call);
    else
        loop_stop(drafting->app.loop);
}

/* Asks SOURCE for the names of all tables; FN stops the loop behind the last. */
static bool map_command_list_tables(struct map_drafting *drafting, struct source *source,
                                    source_page_fn *fn)
{
    struct read *read = read_new(READ_TABLES, "", NULL);
    drafting->names_source = source;
    drafting->names_call = read ? source_start(source, read, NULL, fn, drafting) : NULL;
    if (drafting->names_call) {
        loop_run(drafting->app.loop);
        source_end(drafting->names_call);
    }
    read_destroy(read);
    return drafting->names_call || map_command_fail_of_memory(drafting);
}

/* The tables that PATTERN matches, of all that there are. */
static bool map_command_add_matching(struct map_drafting *drafting, const char *pattern)
{
    struct error why;
    struct place *place = app_resolve(&drafting->app, "/tables", &why);
    struct source *source = place ? sources_for(drafting->app.sources, place, &why) : NULL;
    place_destroy(place);
    drafting->pattern = pattern;
    drafting->matched = drafting->matched_wrongly = false;
    if (!source)
        return map_command_fail(drafting, pattern, &why);
    if (!map_command_list_tables(drafting, source, map_command_take_names))
        return false;
    error_set(&why, ERROR_NOT_FOUND, "no table is called so");
    return !drafting->matched_wrongly &&
           (drafting->matched || map_command_fail(drafting, pattern, &why));
}

static bool map_command_add_sampled(struct map_drafting *drafting, const char *path)
{
    struct error why;
    char *name = map_sample_table_of(drafting->learner, path);
    struct place *place = name ? app_resolve(&drafting->app, path, &why) : NULL;
    if (name)
        return map_command_add_table(drafting, name, place);
    drafting->app.status = EXIT_FAILURE;
    return false;
}

/* What is no property of the table that was asked for. */
static bool map_command_is_hopeless(const struct error *err)
{
    bool refused = err->kind == ERROR_DENIED || err->kind == ERROR_EXPIRED;
    return error_is_outage(err) || (refused && !err->authenticated);
}

static void map_command_take_description(void *arg, const struct page *page,
                                         const struct error *err)
{
    struct map_drafting *drafting = arg;
    struct drafted *table = drafting->asked;
    drafting->hopeless = err && map_command_is_hopeless(err);
    if (err)
        map_command_fail(drafting, table->name, err);
    else
        table->described = generic_view_declare_table(&drafting->arena, table->name, page->table);
    if (!err && !table->described)
        map_command_fail_of_memory(drafting);
    loop_stop(drafting->app.loop);
}

static bool map_command_describe(struct map_drafting *drafting, struct drafted *table)
{
    struct error why;
    struct source *source = sources_for(drafting->app.sources, table->place, &why);
    if (!source)
        return map_command_fail(drafting, table->name, &why);
    struct read *read = read_new(READ_TABLE, table->name, NULL);
    struct source_call *call =
        read ? source_start(source, read, NULL, map_command_take_description, drafting) : NULL;
    drafting->asked = table;
    if (call) {
        loop_run(drafting->app.loop);
        source_end(call);
    } else {
        map_command_fail_of_memory(drafting);
    }
    read_destroy(read);
    return table->described;
}

/* Whether the user at a terminal, or --yes, agrees to what the Scans can cost: each item is read
 * once, has at most 400 KB, and a page at most 1 MB and one item. */
static bool map_command_is_agreed(const struct map_drafting *drafting)
{
    const struct options *options = drafting->app.options;
    size_t tables = drafting->count, most = map_sample_most(options->sample_records);
    size_t requests = tables * 2 * map_sample_segments(options->sample_records);
    size_t pages = requests * (size_t)UNITS_OF_A_PAGE;
    size_t items = tables * most * (size_t)UNITS_OF_AN_ITEM + requests;
    fprintf(stderr,
            "ddbfs: up to %zu record%s of %zu table%s: at most %zu requests, and %zu capacity "
            "units\n",
            most, most == 1 ? "" : "s", tables, tables == 1 ? "" : "s", requests,
            pages < items ? pages : items);
    if (options->yes || (tables == 1 && options->sample_records <= READ_MAX_KEYS))
        return true;
    enum consent consent = consent_request("Go on");
    if (consent == CONSENT_NOBODY)
        fprintf(stderr, "ddbfs: that is more than a page; say --yes if it is meant\n");
    return consent == CONSENT_GIVEN;
}

static bool map_command_sample(struct map_drafting *drafting)
{
    const struct options *options = drafting->app.options;
    for (size_t i = 0; i < drafting->count; i++)
        if (!map_sample_add_table(drafting->learner, drafting->tables[i].name,
                                  drafting->tables[i].described))
            return map_command_fail_of_memory(drafting);
    for (unsigned i = 0; i < options->sample_path_count; i++)
        map_sample_read_path(drafting->learner, options->sample_paths[i]);
    if (options->sample_records > 0 && !map_command_is_agreed(drafting))
        return false;
    for (size_t i = 0; options->sample_records > 0 && i < drafting->count; i++)
        map_sample_scan(drafting->learner, drafting->tables[i].name, drafting->tables[i].place,
                        options->sample_records);
    if (options->sample_path_count > 0 || options->sample_records > 0)
        map_sample_report(drafting->learner);
    return drafting->app.status == EXIT_SUCCESS;
}

static void map_command_take_all_names(void *arg, const struct page *page, const struct error *err)
{
    struct map_drafting *drafting = arg;
    struct table_names *names = &drafting->names;
    size_t most = names->count + (page ? page->name_count : 0);
    if (most > drafting->room) {
        const char **more = arena_array(&drafting->arena, 2 * most, sizeof *more);
        for (size_t i = 0; more && i < names->count; i++)
            more[i] = names->names[i];
        names->names = more;
        drafting->room = 2 * most;
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

/* All tables beside the first one. Who may not list them has no branches, and needs no complaint.
 */
static bool map_command_list_for_branches(void *arg, struct table_names *out)
{
    struct map_drafting *drafting = arg;
    struct error why;
    struct source *source = sources_for(drafting->app.sources, drafting->tables[0].place, &why);
    drafting->names = (struct table_names){0};
    drafting->room = 0;
    if (!source || !map_command_list_tables(drafting, source, map_command_take_all_names))
        return false;
    *out = drafting->names;
    return out->names && !drafting->arena.failed;
}

static void map_command_report_left_out(const struct table_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        fputs("ddbfs: ", stderr);
        app_print_safely(names->names[i]);
        fputs(": is left out, as a map's tables are in each of its environments; it stays below "
              "their tables/, and drafted alone it gets a map of its own\n",
              stderr);
    }
}

static bool map_command_draft(struct map_drafting *drafting, struct declared_map *map)
{
    const struct options *options = drafting->app.options;
    const struct environment_origin where = {
        .profile = options->profile,
        .region = options->region,
        .endpoint = options->endpoint_url,
        .list = map_command_list_for_branches,
        .arg = drafting,
    };
    const struct declared_table *described[MOST_TABLES];
    struct table_names left_out;
    struct declared_table **last = &map->tables;
    for (size_t i = 0; i < drafting->count; i++) {
        *last = map_sample_table(drafting->learner, drafting->tables[i].name, &drafting->arena);
        if (!*last || (!(*last)->paths && !drafted_paths_add(&drafting->arena, *last)))
            return map_command_fail_of_memory(drafting);
        last = &(*last)->next;
        described[i] = drafting->tables[i].described;
    }
    *last = NULL;
    map->schema = DDBFS_DATA "/map.schema.json";
    if (!drafted_environments_add(&drafting->arena, map, described, &where, &left_out))
        return map_command_fail_of_memory(drafting);
    map_command_report_left_out(&left_out);
    map_writer_add_comments(map);
    return true;
}

static bool map_command_print(struct map_drafting *drafting, const struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error why;
    map_writer_write(map, &text);
    const struct map *read =
        text.failed ? NULL : map_parse("the draft", buf_span(&text), &findings, &why);
    json_add_printable(&safe, buf_span(&text));
    if (text.failed || safe.failed)
        return map_command_fail_of_memory(drafting);
    fwrite(safe.data, 1, safe.size, stdout);
    if (!read)
        return map_command_fail(drafting, NULL, &why);
    map_unref(read);
    return true;
}

static void map_command_run(struct map_drafting *drafting, char **words, int count)
{
    app_show_progress(&drafting->app);
    const struct options *options = drafting->app.options;
    struct declared_map map = {0};
    bool ok = true;
    for (int i = 0; i < count; i++)
        ok = (map_command_is_pattern(words[i]) ? map_command_add_matching(drafting, words[i])
                                               : map_command_add_word(drafting, words[i])) &&
             ok;
    for (unsigned i = 0; i < options->sample_path_count; i++)
        ok = map_command_add_sampled(drafting, options->sample_paths[i]) && ok;
    for (size_t i = 0; !drafting->hopeless && i < drafting->count; i++)
        ok = map_command_describe(drafting, &drafting->tables[i]) && ok;
    ok = ok && map_command_sample(drafting) && map_command_draft(drafting, &map) &&
         map_command_print(drafting, &map);
    if ((!ok || drafting->left_out) && drafting->app.status == EXIT_SUCCESS)
        drafting->app.status = EXIT_FAILURE;
}

static void map_command_clean_up(struct map_drafting *drafting)
{
    for (size_t i = 0; i < drafting->count; i++) {
        free(drafting->tables[i].name);
        place_destroy(drafting->tables[i].place);
    }
    map_sample_destroy(drafting->learner);
    arena_clean_up(&drafting->arena);
    app_clean_up(&drafting->app);
}

/* A map that happens to be there is left alone: who drafts one has none yet. */
static bool map_command_start(struct map_drafting *drafting, const struct options *options)
{
    if (options->map)
        return app_init(&drafting->app, options, options->map, COMMAND_CACHE_BYTES);
    bool ok = app_start(&drafting->app, options, map_none(), COMMAND_CACHE_BYTES);
    drafting->app.is_drafting = true;
    return ok;
}

/* How it is used wrongly; NULL: it is not. */
static const char *map_command_misuse_of(const struct options *options, int argc, char **argv)
{
    bool samples = options->sample_path_count > 0 || options->sample_records > 0;
    if (options->from && samples)
        return "a model says how keys are written: --from and --sample don't go together";
    for (int i = 0; options->from && i < argc; i++)
        if (map_command_is_pattern(argv[i]))
            return "with --from, tables that the model is compared with are named whole";
    if (argc == 0 && options->sample_path_count == 0 && !options->from)
        return "name tables, or paths of records to learn from, or a model (--from)";
    if (options->sample_records > 0 && !options->allow_scan)
        return "--sample N reads records without a key, which is a Scan: say --allow-scan as "
               "well, or --sample /tables/TABLE/items/KEY/";
    return NULL;
}

static int map_command_draft_by(const struct options *options, int argc, char **argv)
{
    struct map_drafting drafting = {0};
    bool ok = map_command_start(&drafting, options);
    drafting.learner = ok ? map_sample_new(&drafting.app) : NULL;
    if (drafting.learner)
        map_command_run(&drafting, argv, argc);
    else
        drafting.app.status = EXIT_FAILURE;
    int status = drafting.app.status;
    map_command_clean_up(&drafting);
    return status;
}

int map_draft(const struct options *options, int argc, char **argv, const char *command)
{
    const char *misuse = map_command_misuse_of(options, argc, argv);
    if (misuse)
        return app_usage(misuse, command);
    if (options->from)
        return map_from(options, argc, argv);
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    bool ok = mounted_paths_take(&mounted, argv, argc);
    for (unsigned i = 0; ok && i < options->sample_path_count; i++)
        ok = (mounted.options.sample_paths[i] =
                  mounted_paths_path(&mounted, mounted.options.sample_paths[i])) != NULL;
    int status = ok ? map_command_draft_by(&mounted.options, argc, argv) : EXIT_FAILURE;
    mounted_paths_clean_up(&mounted);
    return status;
}

int map_command(const struct options *options, int argc, char **argv)
{
    return map_draft(options, argc, argv, "map");
}
