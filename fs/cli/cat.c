/* ddbfs cat PATH…: the content of files, in the order they are named. */
#include <stdio.h>
#include <stdlib.h>

#include "core/tree/unlisted.h"
#include "fs/cli/turns.h"

/* So many records leave as one request; and so many, of 400 KB each at the most, may wait in
 * memory. */
enum { SIDE_BY_SIDE = 100 };

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct turn *turn = arg;
    turn->work = NULL;
    if (file)
        turn_print(turn, file->bytes);
    turn_end(turn, err);
}

/* A file made of a listing has the records of the listing. Other names of the directory may be
 * missing in the listing, and so here. */
static void cat_warn_of_placeholders(const struct turn *turn)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    if (turn->place->asked || unlisted_is_none(&turn->tree, turn->place, &why))
        return;
    buf_printf(&words, "the records are not all that the directory has: %s", why.text);
    app_note(turn->app, LOG_LEVEL_WARNING, turn->path, buf_text(&words));
}

/* Pieces are printed as they come; the next one is made when its turn has come. */
static void take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct turn *turn = arg;
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

static bool is_streamed(const struct turn *turn)
{
    return turn->place->kind == PLACE_LIST_FILE;
}

static void start(struct turn *turn)
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
    if (is_streamed(turn))
        turn->work = tree_stream(tree, turn->place, take_piece, turn);
    else
        turn->work = tree_read(tree, turn->place, take_file, turn);
    if (turn->work && is_streamed(turn) && turn_is_front(turn))
        tree_stream_hold_on(turn->work); /* other forms of the listing wait for what it reads */
    if (!turn->work) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

static void go_on(struct turn *turn)
{
    tree_stream_more(turn->work);
}

static void stop(struct turn *turn)
{
    if (is_streamed(turn))
        tree_stream_end(turn->work);
    else
        tree_cancel(turn->work);
}

static bool goes_through(const struct options *options)
{
    (void)options;
    return true;
}

int cat_command(const struct options *options, int argc, char **argv)
{
    static const struct turn_ops ops = {
        .goes_through = goes_through, .start = start, .go_on = go_on, .stop = stop};
    if (argc == 0)
        return app_usage("cat needs a path", "cat");
    return turns_command(options, argv, argc, SIDE_BY_SIDE, &ops);
}
