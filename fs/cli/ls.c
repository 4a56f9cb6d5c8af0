/* ddbfs ls [-l] [--json] PATH…: names, as pages come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "fs/cli/turns.h"

/* Each of them holds a page, of 1 MB at the most. */
enum { SIDE_BY_SIDE = 8 };

static const char *mode_of(const struct tree_entry *entry)
{
    if (entry->directory)
        return "dr-xr-xr-x";
    if (entry->link)
        return "lrwxrwxrwx";
    return entry->secret ? "-r--------" : "-r--r--r--";
}

static void write_long(const struct tree_entry *entry, struct buf *out)
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
    buf_printf(out, "%s %10s %-19s ", mode_of(entry), size, date);
}

/* PATH opens the entry: below the directory that is listed, or the file itself. */
static void write_json(const struct tree_entry *entry, struct span path, struct buf *out)
{
    buf_add_text(out, "{\"name\":");
    json_write_string(out, entry->name);
    buf_add_text(out, ",\"path\":");
    json_write_string(out, path);
    buf_printf(out, ",\"type\":\"%s\"",
               entry->directory ? "directory"
               : entry->link    ? "link"
                                : "file");
    if (entry->link) {
        buf_add_text(out, ",\"target\":");
        json_write_string(out, entry->content);
    }
    if (entry->size >= 0)
        buf_printf(out, ",\"size\":%lld", (long long)entry->size);
    if (entry->mtime_ms) {
        buf_add_text(out, ",\"mtime\":\"");
        instant_write(out, entry->mtime_ms);
        buf_add_char(out, '"');
    }
    buf_add_text(out, "}\n");
}

static void print_entry(struct turn *turn, const struct tree_entry *entry)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, path = {0}, json = {0};
    if (turn->app->options->json) {
        struct span folder = span_text(turn->path);
        buf_add_span(&path, folder);
        if (place_is_directory(turn->place)) {
            buf_add_text(&path, span_ends(folder, SPAN_LITERAL("/")) ? "" : "/");
            buf_add_span(&path, entry->name);
        }
        write_json(entry, buf_span(&path), &json);
        json_add_printable(&line, buf_span(&json));
    } else {
        if (turn->app->options->list_long)
            write_long(entry, &line);
        printable_add(&line, entry->name, ""); /* listed ones are; typed ones perhaps not */
        if (entry->link && turn->app->options->list_long) {
            buf_add_text(&line, " -> ");
            printable_add(&line, entry->content, "");
        }
        buf_add_text(&line, entry->directory ? "/\n" : "\n");
    }
    turn_print(turn, buf_span(&line));
}

/* Pages are printed as they come; the next one is asked for when its turn has come. */
static void take_entries(void *arg, const struct tree_entry *entries, size_t count, bool more,
                         const struct error *err)
{
    struct turn *turn = arg;
    for (size_t i = 0; i < count; i++)
        print_entry(turn, &entries[i]);
    if (more && !err)
        turn_pause(turn);
    else
        turn_end(turn, err);
}

static void print_file(struct turn *turn, const struct tree_file *file, int64_t size)
{
    const char *slash = strrchr(turn->path, '/');
    struct tree_entry entry = {
        .name = span_text(slash ? slash + 1 : turn->path),
        .link = turn->place->kind == PLACE_LINK,
        .secret = file->secret,
        .content = file->bytes,
        .size = size,
        .mtime_ms = file->mtime_ms,
    };
    print_entry(turn, &entry);
}

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct turn *turn = arg;
    turn->work = NULL;
    if (file)
        print_file(turn, file, (int64_t)file->bytes.size);
    turn_end(turn, err);
}

/* How large a file is that is made of a listing, only its making tells; nothing of it is held. */
static void take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct turn *turn = arg;
    if (piece)
        turn->size += (int64_t)piece->bytes.size;
    if (piece && piece->more) {
        tree_stream_more(turn->work);
        return;
    }
    if (piece) {
        struct tree_file file = {.mtime_ms = piece->mtime_ms};
        print_file(turn, &file, turn->size);
    }
    turn_end(turn, err);
}

static void start(struct turn *turn)
{
    struct app *app = turn->app;
    if (place_is_directory(turn->place))
        turn->work =
            tree_list(&app->tree, turn->place, app->options->list_long, take_entries, turn);
    else if (turn->place->kind == PLACE_LIST_FILE)
        turn->work = tree_stream(&app->tree, turn->place, take_piece, turn);
    else
        turn->work = tree_read(&app->tree, turn->place, take_file, turn);
    if (!turn->work) {
        struct error why;
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

static void go_on(struct turn *turn)
{
    tree_list_more(turn->work);
}

static void stop(struct turn *turn)
{
    if (place_is_directory(turn->place))
        tree_list_end(turn->work);
    else if (turn->place->kind == PLACE_LIST_FILE)
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

/* As ls does. */
static bool goes_through(const struct options *options)
{
    return !options->list_long && !options->json;
}

int ls_command(const struct options *options, int argc, char **argv)
{
    static const struct turn_ops ops = {
        .goes_through = goes_through, .start = start, .go_on = go_on, .stop = stop};
    char root[] = "/", *only_root[] = {root};
    return turns_command(options, argc ? argv : only_root, argc ? argc : 1, SIDE_BY_SIDE, &ops);
}
