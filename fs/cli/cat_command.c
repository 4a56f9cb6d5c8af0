/* ddbfs cat PATH…: the contents of files, in the order of the paths. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/read/file.h"
#include "fs/cli/path_queue.h"
#include "fs/cli/together_paths.h"

/* As many items share one BatchGetItem; each has at most 400 KB and may wait in memory. */
enum { CAT_SIDE_BY_SIDE = 100 };

static void cat_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct path_turn *turn = arg;
    turn->work = NULL;
    if (file)
        turn_print(turn, file->bytes);
    turn_end(turn, err);
}

/* The next piece is made when this one is printed. The whole file lacks the items of names that the
 * directory cannot list. */
static void cat_take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct path_turn *turn = arg;
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    if (piece)
        turn_print(turn, piece->bytes);
    if (piece && piece->more) {
        turn_pause(turn);
        return;
    }
    if (piece && !turn->place->selection && !tree_lists_all(&turn->tree, turn->place, &why)) {
        buf_printf(&words, "the items are incomplete: %s", why.text);
        app_note(turn->app, LOG_LEVEL_WARNING, turn->path, buf_text(&words));
    }
    turn_end(turn, err);
}

static void cat_start(struct path_turn *turn)
{
    struct error why;
    if (turn->place->kind == PLACE_PLACEHOLDER) {
        tree_refuse_placeholder(&turn->tree, turn->place, &why);
        turn_end(turn, &why);
        return;
    }
    if (place_is_directory(turn->place)) {
        error_set(&why, ERROR_IS_DIRECTORY, "is a directory; list it with: ddbfs ls %s",
                  turn->path);
        turn_end(turn, &why);
        return;
    }
    if (turn->place->companion == COMPANION_SQLITE && isatty(STDOUT_FILENO)) {
        error_set(
            &why, ERROR_INVALID,
            "is an SQLite database, which a terminal can't show; write it to a file: ddbfs cat "
            "%s >items.db",
            turn->path);
        turn_end(turn, &why);
        return;
    }
    bool streamed = turn->place->kind == PLACE_LIST_FILE;
    if (streamed)
        turn->work = tree_stream(&turn->tree, turn->place, cat_take_piece, turn);
    else
        turn->work = tree_read(&turn->tree, turn->place, cat_take_file, turn);
    if (turn->work && streamed && turn_is_front(turn))
        tree_stream_set_steady(turn->work); /* other forms of the listing wait for its pages */
    if (!turn->work) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

static void cat_continue(struct path_turn *turn)
{
    tree_stream_more(turn->work);
}

static void cat_stop(struct path_turn *turn)
{
    if (turn->place->kind == PLACE_LIST_FILE)
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

static bool cat_follows_links(const struct options *options)
{
    (void)options;
    return true;
}

/* Nothing is printed unless all items were read. An item that is not there is an error of its own,
 * as without --together. */
static void cat_print_together(struct together_paths *found)
{
    const struct tree *tree = &found->app->tree;
    if (!together_paths_read(found))
        return;
    for (size_t i = 0; i < found->count; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
        struct together_item *item = &found->items[i];
        struct tree_file file;
        if (item->record &&
            file_make(tree, item->place, item->record, &(struct tree_found){.units = -1}, NULL,
                      &bytes, &file, &item->why))
            fwrite(file.bytes.data, 1, file.bytes.size, stdout);
        else
            app_report_error(found->app, item->path, &item->why);
    }
}

int cat_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {.follows_links = cat_follows_links,
                                              .start = cat_start,
                                              .go_on = cat_continue,
                                              .stop = cat_stop};
    if (argc == 0)
        return app_usage("cat needs a path", "cat");
    if (options->together) {
        int usage = together_paths_check(options, argc, "cat");
        return usage ? usage
                     : together_paths_command(options, argv, argc, true, cat_print_together);
    }
    return path_queue_command(options, argv, argc, CAT_SIDE_BY_SIDE, &ops);
}
