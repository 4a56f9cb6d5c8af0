/* ddbfs explain [--json] PATH…: the requests of a path, without reading an item. */
#include "core/describe/explain.h"

#include "core/base/printable.h"
#include "core/json/json.h"
#include "fs/cli/path_queue.h"

static void explain_command_start(struct path_turn *turn)
{
    struct app *app = turn->app;
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    bool ok = explain_write(&app->tree, turn->place, span_text(turn->path), app->options->json,
                            &text, &why);
    if (app->options->json)
        json_add_printable(&safe, buf_span(&text));
    else
        printable_add_lines(&safe, buf_span(&text));
    if (ok)
        turn_print(turn, buf_span(&safe));
    turn_end(turn, ok ? NULL : &why);
}

int explain_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {.start = explain_command_start};
    if (argc == 0)
        return app_usage("explain needs a path", "explain");
    return path_queue_command(options, argv, argc, 1, &ops);
}
