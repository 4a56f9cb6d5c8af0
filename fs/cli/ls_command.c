/* ddbfs ls [-1ahlrt] [--columns A,B] [--count] [--json] PATH…: names, printed page by page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/json/writer.h"
#include "core/output/aligned.h"
#include "core/output/cell.h"
#include "core/output/form.h"
#include "core/read/file.h"
#include "fs/cli/path_queue.h"

/* Each path holds a page of at most 1 MB. */
enum { LS_SIDE_BY_SIDE = 8 };

/* A line that is printed after the last page. */
struct ls_line {
    struct span text; /* in the arena */
    struct instant date;
    size_t number; /* of the entry */
};

/* A directory that is being listed. */
struct ls_listing {
    struct tree_listing *listing; /* owned */
    struct arena arena;           /* owns the texts below */

    /* With -t or -r. */
    struct ls_line *lines; /* owned */
    size_t line_count, line_capacity;
    bool failed; /* out of memory */

    /* With --columns. */
    bool has_columns;
    bool is_filled; /* an item has arrived */
    struct span *names;
    size_t name_count;
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    struct aligned aligned;
};

static bool ls_sorts(const struct options *options)
{
    return options->by_date || options->reversed;
}

static void ls_listing_destroy(struct ls_listing *list)
{
    if (!list)
        return;
    tree_list_end(list->listing);
    aligned_end(&list->aligned);
    arena_clean_up(&list->arena);
    free(list->lines);
    free(list);
}

static bool ls_listing_start_columns(struct ls_listing *list, const struct path_turn *turn)
{
    struct span typed = span_text(turn->app->options->columns);
    list->has_columns = true;
    file_view(&turn->app->tree, turn->place->table, list->first, &list->view);
    bool ok = names_find_columns(typed, &list->arena, &list->names, &list->name_count, NULL) &&
              aligned_start(&list->aligned, &list->view, false);
    for (size_t i = 0; ok && i < list->name_count; i++)
        ok = grid_add_column(&list->aligned.grid, list->names[i]);
    return ok && grid_sort(&list->aligned.grid);
}

/* Copies TEXT. */
static void ls_listing_add_line(struct ls_listing *list, struct span text, struct instant date)
{
    if (!list->failed && list->line_count == list->line_capacity) {
        size_t capacity = list->line_capacity ? list->line_capacity * 2 : 64;
        struct ls_line *grown = realloc(list->lines, capacity * sizeof *grown);
        list->failed = !grown;
        list->lines = grown ? grown : list->lines;
        list->line_capacity = grown ? capacity : list->line_capacity;
    }
    if (list->failed)
        return;
    struct span copy = arena_copy(&list->arena, text);
    list->lines[list->line_count] = (struct ls_line){copy, date, list->line_count};
    list->line_count++;
    list->failed = list->arena.failed;
}

/* Undated lines are last; lines of one date stay in their order. */
static int ls_order_lines(const void *one, const void *other)
{
    const struct ls_line *a = one, *b = other;
    if (a->date.known != b->date.known)
        return a->date.known ? -1 : 1;
    if (a->date.ms != b->date.ms)
        return a->date.ms > b->date.ms ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The column of the name is the last one: only names differ much in length. */
static void ls_write_long(const struct tree_entry *entry, bool human, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf size = {0};
    char date[32] = "-";
    const char *mode = entry->directory ? "dr-xr-xr-x"
                       : entry->link    ? "lrwxrwxrwx"
                       : entry->secret  ? "-r--------"
                                        : "-r--r--r--";
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
    buf_printf(out, "%s %10s %-19s ", mode, buf_text(&size), date);
}

/* The member "columns" has the attributes that the item has, in full. */
static void ls_write_json_columns(const struct ls_listing *list, struct json item,
                                  struct json_writer *json)
{
    json_writer_begin_object(json, "columns", JSON_TIGHT);
    for (size_t i = 0; i < list->aligned.grid.count; i++) {
        struct span name = list->aligned.grid.columns[i]->node.key;
        struct json value = item_attribute(item, name);
        if (!json_present(value))
            continue;
        json_writer_add_name(json, name);
        cell_write_json(value, cell_is_masked(&list->view, name),
                        json_writer_add_value(json, NULL));
    }
    json_writer_end(json);
}

/* The member "path" opens the entry: it is below the listed directory, or is the file itself. LIST
 * is NULL for a file. */
static void ls_write_json(const struct path_turn *turn, const struct tree_entry *entry,
                          const struct ls_listing *list, struct buf *line)
{
    CLEAN_UP(buf_clean_up_secret) struct buf path = {0}, text = {0};
    CLEAN_UP(buf_clean_up) struct buf date = {0};
    struct json_writer json = json_writer_to(&text);
    struct span folder = span_text(turn->path);
    buf_add_span(&path, folder);
    if (list) {
        buf_add_text(&path, span_ends(folder, SPAN_LITERAL("/")) ? "" : "/");
        buf_add_span(&path, entry->name);
    }
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_string(&json, "name", entry->name);
    json_writer_add_string(&json, "path", buf_span(&path));
    json_writer_add_text(&json, "type",
                         entry->directory ? "directory"
                         : entry->link    ? "link"
                                          : "file");
    if (entry->placeholder)
        json_writer_add_bool(&json, "placeholder", true);
    if (entry->link)
        json_writer_add_string(&json, "target", entry->content);
    if (entry->size >= 0)
        json_writer_add_integer(&json, "size", entry->size);
    if (entry->mtime.known) {
        instant_write(&date, entry->mtime.ms);
        json_writer_add_string(&json, "mtime", buf_span(&date));
    }
    if (list && list->has_columns)
        ls_write_json_columns(list, entry->item, &json);
    json_writer_end(&json);
    buf_add_char(&text, '\n');
    json_add_printable(line, buf_span(&text));
}

/* LIST is NULL for a file. With columns, the entry is the next one of the page in LIST. */
static void ls_print_entry(struct path_turn *turn, const struct tree_entry *entry,
                           struct ls_listing *list)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    const struct options *options = turn->app->options;
    if (options->json) {
        ls_write_json(turn, entry, list, &line);
    } else {
        if (options->list_long)
            ls_write_long(entry, options->human, &line);
        if (list && list->has_columns)
            aligned_write_next(&list->aligned, false, &line);
        printable_add(&line, entry->name, ""); /* the user may have typed any bytes */
        if (entry->link && options->list_long) {
            buf_add_text(&line, " -> ");
            printable_add(&line, entry->content, "");
        }
        buf_add_text(&line, entry->directory ? "/\n" : "\n");
    }
    if (list && ls_sorts(options))
        ls_listing_add_line(list, buf_span(&line), entry->mtime);
    else
        turn_print(turn, buf_span(&line));
}

/* False if memory ran out. */
static bool ls_print_sorted(struct path_turn *turn, struct ls_listing *list)
{
    const struct options *options = turn->app->options;
    size_t count = list->line_count;
    if (list->failed)
        return false;
    if (options->by_date && count > 0)
        qsort(list->lines, count, sizeof *list->lines, ls_order_lines);
    for (size_t i = 0; i < count; i++)
        turn_print(turn, list->lines[options->reversed ? count - 1 - i : i].text);
    return true;
}

/* Ends a listing of items, which has no entry for names that the directory cannot list. WHAT is
 * "listing" or "count". */
static void ls_end_items(struct path_turn *turn, const char *what)
{
    struct error why, partly;
    if (turn->place->selection || tree_lists_all(&turn->tree, turn->place, &why)) {
        turn_end(turn, NULL);
        return;
    }
    error_set(&partly, why.kind, "the %s is incomplete: %s", what, why.text);
    turn_end(turn, &partly);
}

/* Takes a page of items. The rows of the previous page are dropped; columns stay as wide. */
static bool ls_take_columns(struct ls_listing *list, const struct tree_entry *entries, size_t count,
                            struct error *err)
{
    aligned_forget(&list->aligned);
    list->is_filled = list->is_filled || count > 0;
    for (size_t i = 0; i < count; i++)
        if (!grid_add(&list->aligned.grid, entries[i].item, err))
            return false;
    return true;
}

/* Warns of each column that no item has: its name may be misspelt. */
static void ls_warn_of_empty_columns(const struct path_turn *turn, const struct ls_listing *list)
{
    for (size_t i = 0; list->is_filled && i < list->aligned.grid.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        const struct grid_column *column = list->aligned.grid.columns[i];
        if (column->filled)
            continue;
        form_write_unfilled(column->node.key, &words);
        app_note(turn->app, LOG_LEVEL_WARNING, turn->path, buf_text(&words));
    }
}

/* The next page is requested when this one is printed. */
static void ls_take_entries(void *arg, const struct tree_entry *entries, size_t count, bool more,
                            const struct error *err)
{
    struct path_turn *turn = arg;
    struct ls_listing *list = turn->work;
    struct error why;
    if (list->has_columns && !err && !ls_take_columns(list, entries, count, &why)) {
        turn_end(turn, &why);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ls_print_entry(turn, &entries[i], list);
    if (more && !err) {
        turn_pause(turn);
        return;
    }
    if (list->has_columns && !err)
        ls_warn_of_empty_columns(turn, list);
    if (!ls_print_sorted(turn, list)) {
        error_no_memory(&why);
        err = &why;
    }
    if (list->has_columns && !err)
        ls_end_items(turn, "listing");
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

/* The size of a file made of a listing is known when the whole listing has been read. */
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

/* A single path has its number alone, which a script can read; several have their paths, too. */
static void ls_print_count(struct path_turn *turn, struct span number)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, text = {0};
    struct span path = span_text(turn->path);
    if (turn->app->options->json) {
        struct json_writer json = json_writer_to(&text);
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, "path", path);
        json_writer_add_raw(&json, "count", number);
        json_writer_end(&json);
        json_add_printable(&line, buf_span(&text));
    } else {
        buf_add_span(&line, number);
        buf_add_text(&line, turn_is_alone(turn) ? "" : " ");
        printable_add(&line, turn_is_alone(turn) ? span_text("") : path, "");
    }
    buf_add_char(&line, '\n');
    turn_print(turn, buf_span(&line));
}

/* The last piece has the count. */
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
    ls_end_items(turn, "count");
}

/* NULL if memory ran out. */
static struct ls_listing *ls_list(struct path_turn *turn)
{
    const struct options *options = turn->app->options;
    bool whole = options->list_long || options->by_date; /* sizes and dates need whole items */
    struct ls_listing *list = calloc(1, sizeof *list);
    bool ok = list && (!options->columns || ls_listing_start_columns(list, turn));
    if (options->columns && !whole)
        place_set_columns(turn->place, span_text(options->columns));
    if (ok && options->columns)
        list->listing =
            tree_list_records(&turn->tree, turn->place, TREE_DESCRIBED, ls_take_entries, turn);
    else if (ok)
        list->listing = tree_list(&turn->tree, turn->place, whole, ls_take_entries, turn);
    if (ok && list->listing) {
        tree_list_read_all(list->listing);
        return list;
    }
    ls_listing_destroy(list);
    return NULL;
}

static void ls_start(struct path_turn *turn)
{
    const struct tree *tree = &turn->tree;
    bool counts = turn->app->options->count, columns = turn->app->options->columns;
    struct error why;
    if ((counts || columns) && !place_has_records(turn->place, &why)) {
        turn_end(turn, &why);
        return;
    }
    if (columns && !place_is_directory(turn->place)) {
        error_set(&why, ERROR_INVALID, "is a file; --columns needs a directory of items");
        turn_end(turn, &why);
        return;
    }
    if (counts)
        place_count(turn->place);
    if (place_is_directory(turn->place))
        turn->work = ls_list(turn);
    else if (turn->place->kind == PLACE_LIST_FILE)
        turn->work = tree_stream(tree, turn->place, counts ? ls_take_count : ls_take_piece, turn);
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
        tree_list_more(((struct ls_listing *)turn->work)->listing);
    else
        tree_stream_more(turn->work);
}

static void ls_stop(struct path_turn *turn)
{
    if (place_is_directory(turn->place))
        ls_listing_destroy(turn->work);
    else if (turn->place->kind == PLACE_LIST_FILE)
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

/* As ls(1) does. */
static bool ls_follows_links(const struct options *options)
{
    return !options->list_long && !options->json;
}

int ls_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {.follows_links = ls_follows_links,
                                              .start = ls_start,
                                              .go_on = ls_continue,
                                              .stop = ls_stop};
    char root[] = "/", *only_root[] = {root};
    if (options->count && (options->list_long || options->columns || ls_sorts(options)))
        return app_usage("--count prints a number, without columns or an order", "ls");
    return path_queue_command(options, argc ? argv : only_root, argc ? argc : 1, LS_SIDE_BY_SIDE,
                              &ops);
}
