/* ddbfs check [--offline] [--sample[=N]] [MAP [PATH…]]: the map alone, then against the tables of
 * every environment, then against records. */
#include "core/check/table_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/printable.h"
#include "core/sources.h"
#include "fs/cli/check_sample.h"
#include "fs/cli/mounted_paths.h"

struct check_command {
    struct app app;
    const char *file;
    char *table_name;
    const struct model *table;
    unsigned tables;
    struct buf environments; /* names, each ended by a NUL */
    struct tree_listing *listing;
    struct error failure;  /* that is still to be told: of FAILED, a table or "/", */
    char *failed;          /* owned; NULL: there is none; */
    unsigned failed_alike; /* and of so many tables behind it */
};

/* One line. With --json MEMBER has the text; otherwise BEFORE stands before it. */
static void check_command_print_row(const struct check_command *check, struct finding_at at,
                                    const char *member, const char *before, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0}, safe = {0};
    if (!check->app.options->json) {
        finding_at_write(at, check->file, &out);
        buf_printf(&out, ": %s%s", before, text);
        printable_add(&safe, buf_span(&out), "");
        printf("%s\n", buf_text(&safe));
        return;
    }
    buf_add_text(&out, "{\"file\":");
    json_write_string(&out, span_text(check->file));
    buf_printf(&out, ",\"line\":%u", at.line);
    if (at.column > 0)
        buf_printf(&out, ",\"column\":%u", at.column);
    buf_printf(&out, ",\"%s\":", member);
    json_write_string(&out, span_text(text));
    buf_add_text(&out, "}\n");
    json_add_printable(&safe, buf_span(&out));
    fwrite(safe.data, 1, safe.size, stdout);
}

static void check_command_print_finding_at(struct check_command *check, struct finding_at at,
                                           const char *text)
{
    check->app.status = EXIT_FAILURE;
    check_command_print_row(check, at, "text", "", text);
}

static void check_command_print_finding(void *arg, unsigned line, const char *text)
{
    check_command_print_finding_at(arg, (struct finding_at){.line = line}, text);
}

static void check_command_print_result(void *arg, enum sample_verdict verdict, unsigned line,
                                       const char *text)
{
    struct check_command *check = arg;
    struct finding_at at = {.line = line};
    switch (verdict) {
    case SAMPLE_MISTAKE:
        check_command_print_finding(check, line, text);
        break;
    case SAMPLE_WARNING:
        check_command_print_row(check, at, "warning", "warning: ", text);
        break;
    case SAMPLE_UNPROVEN:
        if (check->app.status == EXIT_SUCCESS)
            check->app.status = EXIT_FAILURE;
        check_command_print_row(check, at, "unproven", "not proven: ", text);
        break;
    }
}

static void check_command_print_kind(void *arg, const struct model *table,
                                     const struct map_kind *kind, size_t items)
{
    const struct check_command *check = arg;
    CLEAN_UP(buf_clean_up) struct buf out = {0}, safe = {0};
    if (check->app.options->json) {
        buf_add_text(&out, "{\"table\":");
        json_write_string(&out, span_text(table->path_name));
        buf_add_text(&out, ",\"kind\":");
        json_write_string(&out, span_text(kind->name));
        buf_printf(&out, ",\"items\":%zu}", items);
        json_add_printable(&safe, buf_span(&out));
    } else {
        buf_printf(&out, "%s: %s: ", table->path_name, kind->name);
        if (items > 0)
            buf_printf(&out, "%zu item%s seen", items, items == 1 ? "" : "s");
        else
            buf_add_text(&out, "not seen");
        printable_add(&safe, buf_span(&out), "");
    }
    printf("%s\n", buf_text(&safe));
}

/* A service that is away, or a session that has expired, fails all tables with one sentence. */
static void check_command_report_failure(struct check_command *check)
{
    if (!check->failed)
        return;
    const char *more = strcmp(check->failed, "/") == 0 ? "" : "more ";
    if (check->failed_alike > 0)
        error_add(&check->failure, "; so it is with %u %stable%s", check->failed_alike, more,
                  check->failed_alike == 1 ? "" : "s");
    app_report_error(&check->app, check->failed, &check->failure);
    free(check->failed);
    check->failed = NULL;
    check->failed_alike = 0;
}

static void check_command_hold_failure(struct check_command *check, const char *of,
                                       const struct error *err)
{
    if (check->failed && check->failure.kind == err->kind &&
        strcmp(check->failure.text, err->text) == 0) {
        check->failed_alike++;
        return;
    }
    check_command_report_failure(check);
    check->failure = *err;
    check->failed = strdup(of);
    if (!check->failed)
        app_report_error(&check->app, of, err);
}

static void check_command_take_table(void *arg, const struct page *page, const struct error *err)
{
    struct check_command *check = arg;
    if (err && err->kind == ERROR_NO_TABLE)
        check_command_print_finding(check, check->table->line, err->text);
    else if (err)
        check_command_hold_failure(check, check->table_name, err);
    else
        table_check_run(check->table, check->table_name, page->table, check_command_print_finding,
                        check);
    loop_stop(check->app.loop);
}

static void check_command_describe(struct check_command *check, struct source *source)
{
    struct read *read = read_new(READ_TABLE, check->table_name, NULL);
    struct source_call *call =
        read ? source_start(source, read, NULL, check_command_take_table, check) : NULL;
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

static void check_command_environment(struct check_command *check, const char *name)
{
    const struct map *map = check->app.map;
    for (size_t i = 0; i < map->model_count; i++) {
        struct error why;
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        buf_printf(&path, "/%s/%s", name, map->models[i]->path_name);
        struct place *place = app_resolve(&check->app, buf_text(&path), &why);
        if (!place) {
            app_report_error(&check->app, buf_text(&path), &why);
            return;
        }
        struct source *source = source_ref(sources_for(check->app.sources, place, &why));
        if (!source)
            app_report_error(&check->app, buf_text(&path), &why);
        check->table = place->table;
        check->table_name = source ? place_table_name(place) : NULL;
        if (check->table_name)
            check_command_describe(check, source);
        source_unref(source);
        free(check->table_name);
        place_destroy(place);
        if (!source)
            return;
    }
}

static void check_command_take_environments(void *arg, const struct tree_entry *entries,
                                            size_t count, bool more, const struct error *err)
{
    struct check_command *check = arg;
    for (size_t i = 0; i < count; i++) {
        if (span_is(entries[i].name, MAP_TABLES_NAME))
            continue;
        buf_add_span(&check->environments, entries[i].name);
        buf_add_char(&check->environments, '\0');
    }
    if (err)
        check_command_hold_failure(check, "/", err);
    if (more)
        tree_list_more(check->listing);
    else
        loop_stop(check->app.loop);
}

/* The environments that there are: those that the map names, and the branches that have tables. */
static void check_command_find_environments(struct check_command *check)
{
    struct error why;
    struct place *root = app_resolve(&check->app, "/", &why);
    if (!root) {
        app_report_error(&check->app, "/", &why);
        return;
    }
    check->listing =
        tree_list(&check->app.tree, root, false, check_command_take_environments, check);
    if (check->listing)
        loop_run(check->app.loop);
    if (!check->listing || check->environments.failed) {
        error_no_memory(&why);
        app_report_error(&check->app, "/", &why);
    }
    tree_list_end(check->listing);
    place_destroy(root);
}

static void check_command_all(struct check_command *check)
{
    app_show_progress(&check->app);
    check_command_find_environments(check);
    for (size_t at = 0; at < check->environments.size;) {
        const char *name = check->environments.data + at;
        check_command_environment(check, name);
        at += strlen(name) + 1;
    }
    check_command_report_failure(check);
}

/* The paths that were named, or those that the map tells in full. */
static void check_command_sample_records(struct check_command *check, char **paths, int count)
{
    struct check_sample_printer printer = {check_command_print_result, check_command_print_kind,
                                           check};
    struct check_sample *sampler =
        check_sample_new(&check->app, check->app.options->sample, &printer);
    if (!sampler) {
        struct error why;
        error_no_memory(&why);
        app_report_error(&check->app, NULL, &why);
        return;
    }
    for (int i = 0; i < count; i++)
        check_sample_add_path(sampler, paths[i]);
    for (size_t at = 0; count == 0 && at < check->environments.size;) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        const char *name = check->environments.data + at;
        buf_printf(&path, "/%s", name);
        check_sample_add_declared(sampler, buf_text(&path));
        at += strlen(name) + 1;
    }
    check_sample_run(sampler);
    check_sample_destroy(sampler);
}

/* What was proven. Without items that is what the tables' descriptions show. */
static void check_command_print_summary(const struct check_command *check, bool sampled)
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

/* All that is wrong with the map itself, in the form in which the rest is told. */
static void check_command_report_map(struct check_command *check, const struct findings *findings,
                                     const struct error *why)
{
    CLEAN_UP(buf_clean_up) struct buf more = {0};
    if (!check->app.options->json || findings->count == 0 || findings->no_memory) {
        app_report_map(&check->app, check->file, findings, why, FINDINGS_MAX);
        return;
    }
    for (size_t i = 0; i < findings->count; i++)
        check_command_print_finding_at(check, findings->items[i].at, findings->items[i].text);
    buf_printf(&more, "and %zu more", findings->left_out);
    if (findings->left_out > 0)
        check_command_print_finding(check, 0, buf_text(&more));
}

static int check_command_run(struct check_command *check, const struct options *options,
                             char **paths, int count)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error why;
    const struct map *map = map_load(check->file, &findings, &why);
    struct stat told;
    bool is_file = stat(check->file, &told) == 0 && !S_ISDIR(told.st_mode);
    struct error plain = why;
    if (!map && !is_file &&
        check->file[0]) /* the map is easily forgotten: others take none there */
        error_set(&why, plain.kind,
                  "%s; if that is a path, the map comes before it: ddbfs check MAP %s", plain.text,
                  check->file);
    if (!app_start(&check->app, options, map, COMMAND_CACHE_BYTES))
        check->app.status = EXIT_FAILURE;
    else if (!options->offline)
        check_command_all(check);
    bool sampled = count > 0 || options->sampled;
    if (map && !options->offline && sampled)
        check_command_sample_records(check, paths, count);
    if (!map)
        check_command_report_map(check, &findings, &why);
    check_command_print_summary(check, sampled);
    app_clean_up(&check->app);
    buf_clean_up(&check->environments);
    return check->app.status;
}

int check_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct check_command check = {0};
    int paths = argc > 1 ? argc - 1 : 0;
    if (options->offline && (paths > 0 || options->sampled))
        return app_usage("--offline reads no records", "check");
    if (argc >= 1)
        buf_add_text(&map, argv[0]);
    else if (!app_find_map(options, &map))
        return EXIT_FAILURE;
    check.file = buf_text(&map);
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    int status = EXIT_FAILURE;
    if (mounted_paths_take(&mounted, argv + 1, paths))
        status = check_command_run(&check, &mounted.options, argv + 1, paths);
    mounted_paths_clean_up(&mounted);
    return status;
}
