/* ddbfs check FILE.ddb checks a snapshot.
 * ddbfs check [--offline] [--sample[=N]] [MAP [PATH…]]: checks the map alone, then against the
 * tables of every environment, then against items. */
#include "core/check/table_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/printable.h"
#include "core/check/sample_check.h"
#include "core/json/writer.h"
#include "core/read/entries.h"
#include "core/read/fetch.h"
#include "core/sources.h"
#include "fs/cli/check_snapshot.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/sample_reader.h"

/* Each path takes at most two requests, and a map with many known values has many paths. */
enum { CHECK_PATHS = 100 };

struct check_command {
    struct app app;
    const char *file;

    struct buf environments; /* owned: names, each ended by a NUL */
    struct tree_listing *listing;
    unsigned tables;           /* described so far */
    char *table_name;          /* of the description under way */
    const struct model *table; /* likewise */

    /* The last failure, held to be reported once with the number of equal ones. */
    struct error failure;
    char *failed; /* owned: the table, or "/"; NULL: none */
    unsigned failed_alike;

    /* With a path or --sample. */
    struct sample_reader reader;
    char *paths[CHECK_PATHS]; /* owned */
    size_t path_count;
    bool left_out;                 /* there are more */
    bool named;                    /* by the user */
    struct sample_check **samples; /* owned: by model of the map; NULL without an item */
};

static void check_report_memory(struct check_command *check)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(&check->app, NULL, &why);
}

static void check_print_line(struct buf *line, bool json)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    if (json)
        json_add_printable(&safe, buf_span(line));
    else
        printable_add(&safe, buf_span(line), "");
    buf_add_char(&safe, '\n');
    fwrite(safe.data, 1, safe.size, stdout);
}

/* With --json MEMBER has the text; otherwise LABEL is before it. */
static void check_print_row(const struct check_command *check, struct finding_at at,
                            const char *member, const char *label, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json_writer json = json_writer_to(&out);
    if (!check->app.options->json) {
        finding_at_write(at, check->file, &out);
        buf_printf(&out, ": %s%s", label, text);
        check_print_line(&out, false);
        return;
    }
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_text(&json, "file", check->file);
    json_writer_add_integer(&json, "line", at.line);
    if (at.column > 0)
        json_writer_add_integer(&json, "column", at.column);
    json_writer_add_text(&json, member, text);
    json_writer_end(&json);
    check_print_line(&out, true);
}

static void check_print_finding_at(struct check_command *check, struct finding_at at,
                                   const char *text)
{
    check->app.status = EXIT_FAILURE;
    check_print_row(check, at, "text", "", text);
}

static void check_print_finding(void *arg, unsigned line, const char *text)
{
    check_print_finding_at(arg, (struct finding_at){.line = line}, text);
}

/* An expired session or an outage fails all tables with the same sentence. */
static void check_report_failure(struct check_command *check)
{
    if (!check->failed)
        return;
    const char *more = strcmp(check->failed, "/") == 0 ? "" : "more ";
    if (check->failed_alike > 0)
        error_add(&check->failure, "; the same error for %u %stable%s", check->failed_alike, more,
                  check->failed_alike == 1 ? "" : "s");
    app_report_error(&check->app, check->failed, &check->failure);
    free(check->failed);
    check->failed = NULL;
    check->failed_alike = 0;
}

static void check_hold_failure(struct check_command *check, const char *of, const struct error *err)
{
    if (check->failed && check->failure.kind == err->kind &&
        strcmp(check->failure.text, err->text) == 0) {
        check->failed_alike++;
        return;
    }
    check_report_failure(check);
    check->failure = *err;
    check->failed = strdup(of);
    if (!check->failed)
        app_report_error(&check->app, of, err);
}

static void check_take_table(void *arg, const struct page *page, const struct error *err)
{
    struct check_command *check = arg;
    if (err && err->kind == ERROR_NO_TABLE)
        check_print_finding(check, check->table->line, err->text);
    else if (err)
        check_hold_failure(check, check->table_name, err);
    else
        table_check_run(check->table, check->table_name, page->table, check_print_finding, check);
    loop_stop(check->app.loop);
}

static void check_describe(struct check_command *check, struct source *source)
{
    struct read *read = read_new(READ_TABLE, check->table_name, NULL);
    struct source_call *call =
        read ? source_start(source, read, NULL, check_take_table, check) : NULL;
    struct error why;
    if (call) {
        check->tables++;
        loop_run(check->app.loop);
        source_end(call);
    } else {
        error_no_memory(&why);
        app_report_error(&check->app, check->table_name, &why);
    }
    read_destroy(read);
}

/* The files of the past, if the map has any for the environment. */
static void check_past(struct check_command *check, const char *name)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "/%s", name);
    struct place *present = app_resolve(&check->app, buf_text(&path), &why);
    bool has_past = present && present->environment->snapshots;
    place_destroy(present);
    if (!has_past)
        return;
    buf_add_text(&path, PLACE_TIMES_ENDING);
    struct place *past = app_resolve(&check->app, buf_text(&path), &why);
    if (!past)
        app_report_error(&check->app, buf_text(&path), &why);
    place_destroy(past);
}

static void check_environment(struct check_command *check, const char *name)
{
    check_past(check, name);
    const struct map *map = check->app.map;
    for (size_t i = 0; i < map->model_count; i++) {
        struct error why;
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        buf_printf(&path, "/%s/%s", name, map->models[i]->path_name);
        struct place *place = app_resolve(&check->app, buf_text(&path), &why);
        struct source *source =
            place ? source_ref(sources_for(check->app.sources, place, &why)) : NULL;
        if (!source)
            app_report_error(&check->app, buf_text(&path), &why);
        check->table = place ? place->table : NULL;
        check->table_name = source ? place_table_name(place) : NULL;
        if (check->table_name)
            check_describe(check, source);
        source_unref(source);
        free(check->table_name);
        place_destroy(place);
        if (!source)
            return;
    }
}

static void check_take_environments(void *arg, const struct tree_entry *entries, size_t count,
                                    bool more, const struct error *err)
{
    struct check_command *check = arg;
    for (size_t i = 0; i < count; i++) {
        if (span_is(entries[i].name, MAP_TABLES_NAME))
            continue;
        buf_add_span(&check->environments, entries[i].name);
        buf_add_char(&check->environments, '\0');
    }
    if (err)
        check_hold_failure(check, "/", err);
    if (more)
        tree_list_more(check->listing);
    else
        loop_stop(check->app.loop);
}

/* Finds the environments that the map names, and the branches that have tables. */
static void check_find_environments(struct check_command *check)
{
    struct error why;
    struct place *root = app_resolve(&check->app, "/", &why);
    if (!root) {
        app_report_error(&check->app, "/", &why);
        return;
    }
    check->listing = tree_list(&check->app.tree, root, false, check_take_environments, check);
    if (check->listing)
        loop_run(check->app.loop);
    if (!check->listing || check->environments.failed) {
        error_no_memory(&why);
        app_report_error(&check->app, "/", &why);
    }
    tree_list_end(check->listing);
    place_destroy(root);
}

static void check_tables(struct check_command *check)
{
    app_show_progress(&check->app);
    check_find_environments(check);
    for (size_t at = 0; at < check->environments.size;) {
        const char *name = check->environments.data + at;
        check_environment(check, name);
        at += strlen(name) + 1;
    }
    check_report_failure(check);
}

/* The sample of TABLE, which is made by the first call. NULL if memory ran out, or the map does not
 * declare TABLE: then DECLARED is false. */
static struct sample_check *check_sample_of(struct check_command *check, const struct model *table,
                                            bool *declared)
{
    const struct map *map = check->app.map;
    size_t i = 0;
    while (i < map->model_count && map->models[i] != table)
        i++;
    *declared = i < map->model_count;
    if (*declared && !check->samples[i])
        check->samples[i] = sample_check_new(table);
    return *declared ? check->samples[i] : NULL;
}

static bool check_begin_plan(void *arg, const char *path, const struct plan *plan)
{
    struct check_command *check = arg;
    bool declared;
    struct sample_check *sample = check_sample_of(check, plan->table, &declared);
    struct error why;
    if (sample && check->named)
        sample_check_expect(sample, plan);
    if (sample)
        return true;
    if (declared)
        error_no_memory(&why);
    else
        error_set(&why, ERROR_INVALID,
                  "the map does not declare this table, so nothing can be compared; name a path "
                  "of a table in the map");
    app_report_error(&check->app, path, &why);
    return false;
}

static bool check_take_item(void *arg, const struct plan *plan, struct json item)
{
    bool declared;
    struct sample_check *sample = check_sample_of(arg, plan->table, &declared);
    return sample && sample_check_add_item(sample, plan, item);
}

static void check_add_path(struct check_command *check, const char *path)
{
    if (check->path_count == CHECK_PATHS) {
        check->left_out = true;
        return;
    }
    char *copy = strdup(path);
    if (copy)
        check->paths[check->path_count++] = copy;
    else
        check_report_memory(check);
}

/* Adds all paths below PATH that the map declares in full: literal segments and known values. */
static void check_add_declared(struct check_command *check, const char *path)
{
    struct error why;
    struct entries entries = {0};
    struct place *place = app_resolve(&check->app, path, &why);
    if (!place) {
        app_report_error(&check->app, path, &why);
        return;
    }
    if (place->kind == PLACE_DIRECTORY && fetch_is_needed(place))
        check_add_path(check, path);
    entries_add_declared(&entries, place, &check->app.tree.names);
    entries_add_files(&entries, place, &check->app.tree.names);
    for (size_t i = 0; i < entries.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf below = {0};
        const struct tree_entry *entry = &entries.items[i];
        buf_printf(&below, "%s/%.*s", path, (int)entry->name.size, entry->name.data);
        if (entry->placeholder)
            continue;
        if (entry->directory)
            check_add_declared(check, buf_text(&below));
        else if (!span_is(entry->name, "README"))
            check_add_path(check, buf_text(&below));
    }
    if (entries.failed)
        check_report_memory(check);
    entries_clean_up(&entries);
    place_destroy(place);
}

/* Prints the highest number of requests, before any is sent. */
static void check_print_plan(const struct check_command *check)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    size_t paths = check->path_count;
    struct json_writer json = json_writer_to(&line);
    if (check->app.options->json) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_integer(&json, "paths", (int64_t)paths);
        json_writer_add_integer(&json, "records_a_path", check->reader.most);
        json_writer_add_integer(&json, "requests_at_most", (int64_t)(2 * paths));
        json_writer_end(&json);
        check_print_line(&line, true);
    } else {
        printf("reading up to %u item%s of each of %zu path%s: at most %zu requests\n",
               check->reader.most, check->reader.most == 1 ? "" : "s", paths, paths == 1 ? "" : "s",
               2 * paths);
        if (check->left_out)
            puts("the map has more paths; to read those, name them");
        if (paths == 0)
            puts("the map has no path that can be listed without a value; name paths: ddbfs check "
                 "--sample MAP /ENVIRONMENT/TABLE/…");
    }
    fflush(stdout);
}

static void check_print_cost(const struct check_command *check)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct json_writer json = json_writer_to(&line);
    if (check->app.options->json) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_integer(&json, "records", check->reader.items);
        json_writer_add_integer(&json, "requests", check->reader.requests);
        spent_write_members(&check->reader.spent, "capacity", &json);
        json_writer_end(&json);
    } else {
        sample_reader_write_cost(&check->reader, &line);
    }
    check_print_line(&line, check->app.options->json);
}

struct check_kinds {
    const struct check_command *check;
    const struct model *table;
};

static void check_print_kind(void *arg, const struct map_kind *kind, size_t items)
{
    const struct check_kinds *kinds = arg;
    bool is_json = kinds->check->app.options->json;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json_writer json = json_writer_to(&out);
    if (is_json) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_text(&json, "table", kinds->table->path_name);
        json_writer_add_text(&json, "kind", kind->name);
        json_writer_add_integer(&json, "items", (int64_t)items);
        json_writer_end(&json);
    } else {
        buf_printf(&out, "%s: %s: ", kinds->table->path_name, kind->name);
        if (items > 0)
            buf_printf(&out, "%zu item%s seen", items, items == 1 ? "" : "s");
        else
            buf_add_text(&out, "not seen");
    }
    check_print_line(&out, is_json);
}

static void check_print_result(void *arg, enum sample_verdict verdict, unsigned line,
                               const char *text)
{
    struct check_command *check = arg;
    struct finding_at at = {.line = line};
    switch (verdict) {
    case SAMPLE_MISTAKE:
        check_print_finding(check, line, text);
        break;
    case SAMPLE_WARNING:
        check_print_row(check, at, "warning", "warning: ", text);
        break;
    case SAMPLE_UNPROVEN:
        if (check->app.status == EXIT_SUCCESS)
            check->app.status = EXIT_FAILURE;
        check_print_row(check, at, "unproven", "not proven: ", text);
        break;
    }
}

/* With named paths, items of the kinds that these paths show are expected; without, items of all
 * kinds of the map. */
static void check_read_items(struct check_command *check)
{
    const struct map *map = check->app.map;
    bool declared;
    check_print_plan(check);
    for (size_t i = 0; !check->named && i < map->model_count; i++) {
        struct sample_check *sample = check_sample_of(check, map->models[i], &declared);
        if (sample)
            sample_check_expect(sample, NULL);
        else
            check_report_memory(check);
    }
    for (size_t i = 0; i < check->path_count; i++)
        sample_reader_read(&check->reader, check->paths[i], check->named);
    check_print_cost(check);
    for (size_t i = 0; i < map->model_count; i++)
        if (check->samples[i])
            sample_check_each_kind(check->samples[i], check_print_kind,
                                   &(struct check_kinds){check, map->models[i]});
    for (size_t i = 0; i < map->model_count; i++)
        if (check->samples[i] && !sample_check_report(check->samples[i], check_print_result, check))
            check_report_memory(check);
}

/* Samples PATHS, or without any the paths that the map declares in full. */
static void check_items(struct check_command *check, char **paths, int count)
{
    const struct map *map = check->app.map;
    check->reader = (struct sample_reader){.app = &check->app,
                                           .most = check->app.options->sample,
                                           .begin = check_begin_plan,
                                           .take = check_take_item,
                                           .arg = check};
    check->samples = calloc(map->model_count + 1, sizeof(struct sample_check *));
    if (!check->samples) {
        check_report_memory(check);
        return;
    }
    check->named = count > 0;
    for (int i = 0; i < count; i++)
        check_add_path(check, paths[i]);
    for (size_t at = 0; count == 0 && at < check->environments.size;) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        const char *name = check->environments.data + at;
        buf_printf(&path, "/%s", name);
        check_add_declared(check, buf_text(&path));
        at += strlen(name) + 1;
    }
    check_read_items(check);
    for (size_t i = 0; i < map->model_count; i++)
        sample_check_destroy(check->samples[i]);
    for (size_t i = 0; i < check->path_count; i++)
        free(check->paths[i]);
    free(check->samples);
}

static void check_print_summary(const struct check_command *check, bool sampled)
{
    if (check->app.options->json || check->app.status != EXIT_SUCCESS)
        return;
    if (check->app.options->offline)
        printf("%s: the map is well formed\n", check->file);
    else
        printf("%s: keys and indexes of %u table%s fit the map%s\n", check->file, check->tables,
               check->tables == 1 ? "" : "s",
               sampled ? ", and so do the items that were read" : "");
}

/* With --json the findings of the map have the form of all others. */
static void check_report_map(struct check_command *check, const struct findings *findings,
                             const struct error *why)
{
    CLEAN_UP(buf_clean_up) struct buf more = {0};
    if (!check->app.options->json || findings->count == 0 || findings->no_memory) {
        app_report_map(&check->app, check->file, findings, why, FINDINGS_MAX);
        return;
    }
    for (size_t i = 0; i < findings->count; i++)
        check_print_finding_at(check, findings->items[i].at, findings->items[i].text);
    buf_printf(&more, "and %zu more", findings->left_out);
    if (findings->left_out > 0)
        check_print_finding(check, 0, buf_text(&more));
}

static int check_run(struct check_command *check, const struct options *options, char **paths,
                     int count)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error why;
    const struct map *map = map_load(check->file, NULL, &findings, &why);
    struct stat info;
    bool is_file = stat(check->file, &info) == 0 && !S_ISDIR(info.st_mode);
    if (!map && !is_file && check->file[0]) /* other commands take a path there */
        error_add(&why, "; if that is a path, the map comes before it: ddbfs check MAP %s",
                  check->file);
    if (!app_start(&check->app, options, map, COMMAND_CACHE_BYTES))
        check->app.status = EXIT_FAILURE;
    else if (!options->offline)
        check_tables(check);
    bool sampled = count > 0 || options->sampled;
    if (map && !options->offline && sampled)
        check_items(check, paths, count);
    if (!map)
        check_report_map(check, &findings, &why);
    check_print_summary(check, sampled);
    app_clean_up(&check->app);
    buf_clean_up(&check->environments);
    return check->app.status;
}

int check_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct check_command check = {0};
    int paths = argc > 1 ? argc - 1 : 0;
    if (argc == 1 && check_snapshot_is_meant(argv[0]))
        return check_snapshot_run(options, argv[0]);
    if (options->offline && (paths > 0 || options->sampled))
        return app_usage("--offline reads no items", "check");
    if (argc >= 1)
        buf_add_text(&map, argv[0]);
    else if (!app_find_map(options, &map))
        return EXIT_FAILURE;
    check.file = buf_text(&map);
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    int status = EXIT_FAILURE;
    if (mounted_paths_take(&mounted, argv + 1, paths))
        status = check_run(&check, &mounted.options, argv + 1, paths);
    mounted_paths_clean_up(&mounted);
    return status;
}
