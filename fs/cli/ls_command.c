/* ddbfs ls [-1ahlrt] [--columns A,B] [--count] [--json] PATH…: names, as pages come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/size.h"
#include "core/read/unlisted.h"
#include "fs/cli/columns.h"
#include "fs/cli/path_queue.h"
#include "fs/cli/sorted_lines.h"

/* Each of them holds a page, of 1 MB at the most. */
enum { SIDE_BY_SIDE = 8 };

/* A directory while it is listed. */
struct ls_shown {
    struct tree_listing *listing; /* owned */
    struct sorted_lines sorted;   /* that wait for the last one, where an order is asked for */
    struct columns *columns;      /* owned; NULL where none are asked for */
};

static const char *ls_mode_of(const struct tree_entry *entry)
{
    if (entry->directory)
        return "dr-xr-xr-x";
    if (entry->link)
        return "lrwxrwxrwx";
    return entry->secret ? "-r--------" : "-r--r--r--";
}

static void ls_write_long(const struct tree_entry *entry, bool human, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf size = {0};
    char date[32] = "-";
    if (entry->size < 0)
        buf_add_char(&size, '-');
    else if (human)
        size_write_short((uint64_t)entry->size, &size);
    else
        buf_printf(&size, "%lld", (long long)entry->size);
    if (entry->mtime.known) {
        time_t seconds = instant_timespec(entry->mtime.ms).tv_sec;
        struct tm local;
        localtime_r(&seconds, &local);
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    }
    buf_printf(out, "%s %10s %-19s ", ls_mode_of(entry), buf_text(&size), date);
}

/* PATH opens the entry: below the directory that is listed, or the file itself. COLUMNS may be
 * NULL. */
static void ls_write_json(const struct tree_entry *entry, struct span path,
                          const struct columns *columns, struct buf *out)
{
    buf_add_text(out, "{\"name\":");
    json_write_string(out, entry->name);
    buf_add_text(out, ",\"path\":");
    json_write_string(out, path);
    buf_printf(out, ",\"type\":\"%s\"",
               entry->directory ? "directory"
               : entry->link    ? "link"
                                : "file");
    if (entry->placeholder)
        buf_add_text(out, ",\"placeholder\":true");
    if (entry->link) {
        buf_add_text(out, ",\"target\":");
        json_write_string(out, entry->content);
    }
    if (entry->size >= 0)
        buf_printf(out, ",\"size\":%lld", (long long)entry->size);
    if (entry->mtime.known) {
        buf_add_text(out, ",\"mtime\":\"");
        instant_write(out, entry->mtime.ms);
        buf_add_char(out, '"');
    }
    if (columns) {
        buf_add_text(out, ",\"columns\":");
        columns_write_json(columns, entry->item, out);
    }
    buf_add_text(out, "}\n");
}

/* A line for a program. */
static void ls_add_json(const struct path_turn *turn, const struct tree_entry *entry,
                        const struct columns *columns, struct buf *line)
{
    CLEAN_UP(buf_clean_up_secret) struct buf path = {0}, json = {0};
    struct span folder = span_text(turn->path);
    buf_add_span(&path, folder);
    if (place_is_directory(turn->place)) {
        buf_add_text(&path, span_ends(folder, SPAN_LITERAL("/")) ? "" : "/");
        buf_add_span(&path, entry->name);
    }
    ls_write_json(entry, buf_span(&path), columns, &json);
    json_add_printable(line, buf_span(&json));
}

/* A line for eyes: of unlike lengths are names, so they stand at its end. */
static void ls_add_line(const struct path_turn *turn, const struct tree_entry *entry,
                        struct columns *columns, struct buf *line)
{
    bool list_long = turn->app->options->list_long;
    if (list_long)
        ls_write_long(entry, turn->app->options->human, line);
    if (columns)
        columns_write_next(columns, line);
    printable_add(line, entry->name, ""); /* listed ones are; typed ones perhaps not */
    if (entry->link && list_long) {
        buf_add_text(line, " -> ");
        printable_add(line, entry->content, "");
    }
    buf_add_text(line, entry->directory ? "/\n" : "\n");
}

static bool ls_sorts(const struct options *options)
{
    return options->by_date || options->reversed;
}

/* COLUMNS is NULL, or the entry is the next of the page that it has taken. */
static void ls_print_entry(struct path_turn *turn, const struct tree_entry *entry,
                           struct columns *columns)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    if (turn->app->options->json)
        ls_add_json(turn, entry, columns, &line);
    else
        ls_add_line(turn, entry, columns, &line);
    if (ls_sorts(turn->app->options) && place_is_directory(turn->place))
        sorted_lines_add(&((struct ls_shown *)turn->work)->sorted, buf_span(&line), entry->mtime);
    else
        turn_print(turn, buf_span(&line));
}

/* The last entry has come, or none comes any more: prints what waited for it. False when memory ran
 * out before. */
static bool ls_print_sorted(struct path_turn *turn)
{
    const struct options *options = turn->app->options;
    struct sorted_lines *sorted = &((struct ls_shown *)turn->work)->sorted;
    if (!sorted_lines_sort(sorted, options->by_date, options->reversed))
        return false;
    for (size_t i = 0; i < sorted->count; i++)
        turn_print(turn, sorted->lines[i].text);
    return true;
}

/* Ends a listing of records alone, which has no entry for what the directory does not list. WHAT is
 * done with the records. */
static void ls_end_records(struct path_turn *turn, const char *what)
{
    struct error why, partly;
    if (turn->place->selection || unlisted_is_none(&turn->tree, turn->place, &why)) {
        turn_end(turn, NULL);
        return;
    }
    error_set(&partly, why.kind, "is not %s as a whole: %s", what, why.text);
    turn_end(turn, &partly);
}

/* Pages are printed as they come; the next one is asked for when its turn has come. */
static void ls_take_entries(void *arg, const struct tree_entry *entries, size_t count, bool more,
                            const struct error *err)
{
    struct path_turn *turn = arg;
    struct columns *columns = ((struct ls_shown *)turn->work)->columns;
    struct error why;
    if (columns && !err && !columns_take(columns, entries, count, &why)) {
        turn_end(turn, &why);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ls_print_entry(turn, &entries[i], columns);
    if (more && !err) {
        turn_pause(turn);
        return;
    }
    if (columns && !err)
        columns_print_empty(columns, turn->path);
    if (!ls_print_sorted(turn)) {
        error_no_memory(&why);
        err = &why;
    }
    if (columns && !err)
        ls_end_records(turn, "shown");
    else
        turn_end(turn, err);
}

static void ls_print_file(struct path_turn *turn, const struct tree_file *file, int64_t size)
{
    const char *slash = strrchr(turn->path, '/');
    struct tree_entry entry = {
        .name = span_text(slash ? slash + 1 : turn->path),
        .link = turn->place->kind == PLACE_LINK,
        .secret = file->secret,
        .content = file->bytes,
        .size = size,
        .mtime = file->mtime,
    };
    ls_print_entry(turn, &entry, NULL);
}

static void ls_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct path_turn *turn = arg;
    turn->work = NULL;
    if (file)
        ls_print_file(turn, file, (int64_t)file->bytes.size);
    turn_end(turn, err);
}

/* How large a file is that is made of a listing, only its making tells; nothing of it is held. */
static void ls_take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct path_turn *turn = arg;
    if (piece)
        turn->size += (int64_t)piece->bytes.size;
    if (piece && piece->more) {
        turn_pause(turn);
        return;
    }
    if (piece) {
        struct tree_file file = {.mtime = piece->mtime};
        ls_print_file(turn, &file, turn->size);
    }
    turn_end(turn, err);
}

/* A number alone is what programs read best; of several paths, each says whose it is. */
static void ls_print_count(struct path_turn *turn, struct span number)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, json = {0};
    struct span path = span_text(turn->path);
    if (turn->app->options->json) {
        buf_add_text(&json, "{\"path\":");
        json_write_string(&json, path);
        buf_printf(&json, ",\"count\":%.*s}\n", (int)number.size, number.data);
        json_add_printable(&line, buf_span(&json));
    } else {
        buf_add_span(&line, number);
        buf_add_text(&line, turn_is_alone(turn) ? "" : " ");
        printable_add(&line, turn_is_alone(turn) ? span_text("") : path, "");
        buf_add_char(&line, '\n');
    }
    turn_print(turn, buf_span(&line));
}

/* All of the count is in its last piece. */
static void ls_take_count(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct path_turn *turn = arg;
    if (piece && piece->more) {
        turn_pause(turn);
        return;
    }
    if (!piece) {
        turn_end(turn, err);
        return;
    }
    ls_print_count(turn, span_of(piece->bytes.data, piece->bytes.size - 1));
    ls_end_records(turn, "counted");
}

static void ls_shown_destroy(struct ls_shown *shown)
{
    if (!shown)
        return;
    tree_list_end(shown->listing);
    columns_destroy(shown->columns);
    sorted_lines_clean_up(&shown->sorted);
    free(shown);
}

static struct ls_shown *ls_show(struct path_turn *turn)
{
    const struct app *app = turn->app;
    bool columns = app->options->columns;
    bool whole = app->options->list_long || app->options->by_date;
    struct ls_shown *shown = calloc(1, sizeof *shown);
    if (shown && columns)
        shown->columns = columns_new(app, turn->place);
    if (columns && !whole) /* else sizes and dates of whole records are needed, too */
        place_set_columns(turn->place, span_text(app->options->columns));
    if (shown && !columns)
        shown->listing = tree_list(&turn->tree, turn->place, whole, ls_take_entries, turn);
    else if (shown && shown->columns)
        shown->listing = tree_list_records(&turn->tree, turn->place, true, ls_take_entries, turn);
    if (shown && shown->listing) {
        tree_list_read_all(shown->listing);
        return shown;
    }
    ls_shown_destroy(shown);
    return NULL;
}

/* What is told of records can't be told of another place. */
static bool ls_has_what_is_requested(const struct path_turn *turn, struct error *err)
{
    const struct options *options = turn->app->options;
    if ((options->count || options->columns) && !place_has_records(turn->place, err))
        return false;
    return !options->columns || place_is_directory(turn->place) ||
           error_set(err, ERROR_INVALID, "is one file; columns are of its directory's records");
}

static void ls_start(struct path_turn *turn)
{
    const struct tree *tree = &turn->tree;
    struct error why;
    if (!ls_has_what_is_requested(turn, &why)) {
        turn_end(turn, &why);
        return;
    }
    if (turn->app->options->count)
        place_count(turn->place);
    if (place_is_directory(turn->place))
        turn->work = ls_show(turn);
    else if (turn->place->kind == PLACE_LIST_FILE)
        turn->work = tree_stream(tree, turn->place,
                                 turn->app->options->count ? ls_take_count : ls_take_piece, turn);
    else
        turn->work = tree_read(tree, turn->place, ls_take_file, turn);
    if (!turn->work) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

static void ls_continue(struct path_turn *turn)
{
    if (place_is_directory(turn->place))
        tree_list_more(((struct ls_shown *)turn->work)->listing);
    else
        tree_stream_more(turn->work);
}

static void ls_stop(struct path_turn *turn)
{
    if (place_is_directory(turn->place))
        ls_shown_destroy(turn->work);
    else if (turn->place->kind == PLACE_LIST_FILE)
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

/* As ls does. */
static bool ls_goes_through(const struct options *options)
{
    return !options->list_long && !options->json;
}

int ls_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {
        .goes_through = ls_goes_through, .start = ls_start, .go_on = ls_continue, .stop = ls_stop};
    char root[] = "/", *only_root[] = {root};
    if (options->count && (options->list_long || options->columns || ls_sorts(options)))
        return app_usage("--count prints a number, which has neither columns nor an order", "ls");
    return path_queue_command(options, argc ? argv : only_root, argc ? argc : 1, SIDE_BY_SIDE,
                              &ops);
}
