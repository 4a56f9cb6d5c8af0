/* ddbfs cat PATH…: the content of files, in the order they are named. */
#include <stdio.h>
#include <stdlib.h>

#include "core/read/unlisted.h"
#include "fs/cli/path_queue.h"

/* So many records leave as one request; and so many, of 400 KB each at the most, may wait in
 * memory. */
enum { SIDE_BY_SIDE = 100 };

static void cat_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct path_turn *turn = arg;
    turn->work = NULL;
    if (file)
        turn_print(turn, file->bytes);
    turn_end(turn, err);
}

/* A file made of a listing has the records of the listing. Other names of the directory may be
 * missing in the listing, and so here. */
static void cat_warn_of_placeholders(const struct path_turn *turn)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    if (turn->place->selection || unlisted_is_none(&turn->tree, turn->place, &why))
        return;
    buf_printf(&words, "the records are not all that the directory has: %s", why.text);
    app_note(turn->app, LOG_LEVEL_WARNING, turn->path, buf_text(&words));
}

/* Pieces are printed as they come; the next one is made when its turn has come. */
static void cat_take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct path_turn *turn = arg;
    if (piece)
        turn_print(turn, piece->bytes);
    if (piece && piece->more) {
        turn_pause(turn);
        return;
    }
    if (piece)
        cat_warn_of_placeholders(turn);
    turn_end(turn, err);
}

static bool cat_is_streamed(const struct path_turn *turn)
{
    return turn->place->kind == PLACE_LIST_FILE;
}

static void cat_start(struct path_turn *turn)
{
    struct error why;
    if (turn->place->kind == PLACE_PLACEHOLDER) {
        unlisted_refuse(&turn->tree, turn->place, &why);
        turn_end(turn, &why);
        return;
    }
    if (place_is_directory(turn->place)) {
        error_set(&why, ERROR_IS_DIRECTORY, "is a directory; list it with: ddbfs ls %s",
                  turn->path);
        turn_end(turn, &why);
        return;
    }
    const struct tree *tree = &turn->tree;
    if (cat_is_streamed(turn))
        turn->work = tree_stream(tree, turn->place, cat_take_piece, turn);
    else
        turn->work = tree_read(tree, turn->place, cat_take_file, turn);
    if (turn->work && cat_is_streamed(turn) && turn_is_front(turn))
        tree_stream_hold_on(turn->work); /* other forms of the listing wait for what it reads */
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
    if (cat_is_streamed(turn))
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

static bool cat_goes_through(const struct options *options)
{
    (void)options;
    return true;
}

int cat_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {.goes_through = cat_goes_through,
                                              .start = cat_start,
                                              .go_on = cat_continue,
                                              .stop = cat_stop};
    if (argc == 0)
        return app_usage("cat needs a path", "cat");
    return path_queue_command(options, argv, argc, SIDE_BY_SIDE, &ops);
}
