/* ddbfs explain [--json] PATH…: what a path reads, asking nobody. */
#include "core/tree/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/cli/app.h"

static void explain_path(struct app *app, const char *path)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct place *place = app_resolve(app, path);
    if (!place)
        return;
    if (explain_write(&app->tree, place, span_text(path), app->options->json, &text, &why))
        fwrite(text.data, 1, text.size, stdout);
    else
        app_complain(app, path, &why);
    place_destroy(place);
}

int explain_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct app app;
    if (argc == 0) {
        fprintf(stderr, "ddbfs: explain needs a path; see ddbfs --help\n");
        return EXIT_USAGE;
    }
    if (!app_find_map(options, &map))
        return EXIT_FAILURE;
    if (app_init(&app, options, buf_text(&map), COMMAND_CACHE_BYTES))
        for (int i = 0; i < argc; i++)
            explain_path(&app, argv[i]);
    else
        app.status = EXIT_FAILURE;
    app_clean_up(&app);
    return app.status;
}
