/* ddbfs cat PATH…: the content of files, in the order they are named. */
#include <stdio.h>
#include <stdlib.h>

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

static void start(struct turn *turn)
{
    struct error why;
    if (place_is_directory(turn->place)) {
        error_set(&why, ERROR_IS_DIRECTORY, "is a directory; list it with: ddbfs ls %s",
                  turn->path);
        turn_end(turn, &why);
        return;
    }
    turn->work = tree_read(&turn->app->tree, turn->place, take_file, turn);
    if (!turn->work) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

static void stop(struct turn *turn)
{
    tree_cancel(turn->work);
}

static bool goes_through(const struct options *options)
{
    (void)options;
    return true;
}

int cat_command(const struct options *options, int argc, char **argv)
{
    static const struct turn_ops ops = {.goes_through = goes_through, .start = start, .stop = stop};
    if (argc == 0)
        return app_usage("cat needs a path", "cat");
    return turns_command(options, argv, argc, SIDE_BY_SIDE, &ops);
}
