/* ddbfs ls [-l] [--json] PATH…: names, as pages come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/item/when.h"
#include "fs/cli/app.h"

struct ls {
    struct app app;
    const char *path;
    struct tree_listing *listing;
};

static const char *mode_of(const struct tree_entry *entry)
{
    if (entry->directory)
        return "dr-xr-xr-x";
    return entry->secret ? "-r--------" : "-r--r--r--";
}

static void print_long(const struct tree_entry *entry)
{
    char size[24] = "-", date[32] = "-";
    if (entry->size >= 0)
        snprintf(size, sizeof size, "%lld", (long long)entry->size);
    if (entry->mtime_ms) {
        time_t seconds = (time_t)(entry->mtime_ms / 1000);
        struct tm local;
        localtime_r(&seconds, &local);
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    }
    printf("%s %10s %-19s ", mode_of(entry), size, date);
}

static void print_json(const struct tree_entry *entry, struct span path)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    buf_add_text(&line, "{\"name\":");
    json_write_string(&line, entry->name);
    buf_add_text(&line, ",\"path\":");
    json_write_string(&line, path);
    buf_printf(&line, ",\"type\":\"%s\"", entry->directory ? "directory" : "file");
    if (entry->size >= 0)
        buf_printf(&line, ",\"size\":%lld", (long long)entry->size);
    if (entry->mtime_ms) {
        buf_add_text(&line, ",\"mtime\":\"");
        when_write(&line, entry->mtime_ms);
        buf_add_char(&line, '"');
    }
    buf_add_text(&line, "}\n");
    fwrite(line.data, 1, line.size, stdout);
}

/* The path that opens the entry: below the directory that is listed, or the file itself. */
static void print_path(const struct ls *ls, const struct tree_entry *entry)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct span folder = span_text(ls->path);
    buf_add_span(&path, folder);
    if (ls->listing) {
        buf_add_text(&path, span_ends(folder, SPAN_LITERAL("/")) ? "" : "/");
        buf_add_span(&path, entry->name);
    }
    print_json(entry, buf_span(&path));
}

static void print_entry(const struct ls *ls, const struct tree_entry *entry)
{
    if (ls->app.options->json) {
        print_path(ls, entry);
        return;
    }
    if (ls->app.options->list_long)
        print_long(entry);
    fwrite(entry->name.data, 1, entry->name.size, stdout);
    fputs(entry->directory ? "/\n" : "\n", stdout);
}

/* Pages are printed as they come; a reader that has gone away (`| head`) ends the listing. */
static void take_entries(void *arg, const struct tree_entry *entries, size_t count, bool more,
                         const struct error *err)
{
    struct ls *ls = arg;
    for (size_t i = 0; i < count; i++)
        print_entry(ls, &entries[i]);
    bool gone = fflush(stdout) != 0;
    if (err)
        app_complain(&ls->app, ls->path, err);
    if (more && !gone)
        tree_list_more(ls->listing);
    else
        loop_stop(ls->app.loop);
}

static void list_directory(struct ls *ls, const struct place *place)
{
    struct error why;
    bool full = ls->app.options->list_long;
    ls->listing = tree_list(&ls->app.tree, place, full, take_entries, ls);
    if (ls->listing) {
        loop_run(ls->app.loop);
        tree_list_end(ls->listing);
        ls->listing = NULL;
        return;
    }
    error_no_memory(&why);
    app_complain(&ls->app, ls->path, &why);
}

static const char *last_segment(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct ls *ls = arg;
    if (err) {
        app_complain(&ls->app, ls->path, err);
    } else {
        struct tree_entry entry = {
            .name = span_text(last_segment(ls->path)),
            .secret = file->secret,
            .size = (int64_t)file->bytes.size,
            .mtime_ms = file->mtime_ms,
        };
        print_entry(ls, &entry);
    }
    loop_stop(ls->app.loop);
}

static void ls_path(struct ls *ls)
{
    struct error why;
    struct place *place = app_resolve(&ls->app, ls->path);
    if (!place)
        return;
    if (place_is_directory(place)) {
        list_directory(ls, place);
    } else if (tree_read(&ls->app.tree, place, take_file, ls)) {
        loop_run(ls->app.loop);
    } else {
        error_no_memory(&why);
        app_complain(&ls->app, ls->path, &why);
    }
    place_destroy(place);
}

int ls_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    char root[] = "/", *only_root[] = {root};
    struct ls ls = {0};
    if (!app_find_map(options, &map))
        return EXIT_FAILURE;
    if (argc == 0) {
        argc = 1;
        argv = only_root;
    }
    if (app_init(&ls.app, options, buf_text(&map), COMMAND_CACHE_BYTES)) {
        for (int i = 0; i < argc; i++) {
            ls.path = argv[i];
            ls_path(&ls);
        }
    } else {
        ls.app.status = EXIT_FAILURE;
    }
    app_clean_up(&ls.app);
    return ls.app.status;
}
