/* ddbfs cat PATH…: the content of files, in the order they are named. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/cli/app.h"

struct cat {
    struct app app;
    const char *path;
};

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct cat *cat = arg;
    if (err)
        app_complain(&cat->app, cat->path, err);
    else
        fwrite(file->bytes.data, 1, file->bytes.size, stdout);
    loop_stop(cat->app.loop);
}

static void cat_path(struct cat *cat)
{
    struct error why;
    struct place *place = app_resolve(&cat->app, cat->path);
    if (!place)
        return;
    if (place_is_directory(place)) {
        error_set(&why, ERROR_IS_DIRECTORY, "is a directory; list it with: ddbfs ls %s", cat->path);
        app_complain(&cat->app, cat->path, &why);
    } else if (tree_read(&cat->app.tree, place, take_file, cat)) {
        loop_run(cat->app.loop);
    } else {
        error_no_memory(&why);
        app_complain(&cat->app, cat->path, &why);
    }
    place_destroy(place);
}

int cat_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct cat cat;
    if (argc == 0) {
        fprintf(stderr, "ddbfs: cat needs a path; see ddbfs --help\n");
        return EXIT_USAGE;
    }
    if (!app_find_map(options, &map))
        return EXIT_FAILURE;
    if (app_init(&cat.app, options, buf_text(&map), COMMAND_CACHE_BYTES)) {
        for (int i = 0; i < argc; i++) {
            cat.path = argv[i];
            cat_path(&cat);
        }
    } else {
        cat.app.status = EXIT_FAILURE;
    }
    app_clean_up(&cat.app);
    return cat.app.status;
}
