/* ddbfs explain [--json] PATH…: the requests of a path, without reading an item. */
#include "core/describe/explain.h"

#include "core/base/printable.h"
#include "core/describe/explain_together.h"
#include "core/json/json.h"
#include "fs/cli/path_queue.h"
#include "fs/cli/together_paths.h"

static void explain_command_add_safely(const struct app *app, const struct buf *text,
                                       struct buf *safe)
{
    if (app->options->json)
        json_add_printable(safe, buf_span(text));
    else
        printable_add_lines(safe, buf_span(text));
}

static void explain_command_start(struct path_turn *turn)
{
    struct app *app = turn->app;
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    bool ok = explain_write(&app->tree, turn->place, span_text(turn->path), app->options->json,
                            &text, &why);
    explain_command_add_safely(app, &text, &safe);
    if (ok)
        turn_print(turn, buf_span(&safe));
    turn_end(turn, ok ? NULL : &why);
}

static void explain_command_write_together(struct together_paths *found)
{
    struct app *app = found->app;
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    bool ok = explain_together_write(&app->tree, found->items, found->count, app->options->json,
                                     &text, &why);
    explain_command_add_safely(app, &text, &safe);
    if (ok)
        fwrite(safe.data, 1, safe.size, stdout);
    else
        together_paths_report(found, &why);
}

int explain_command(const struct options *options, int argc, char **argv)
{
    static const struct path_queue_ops ops = {.start = explain_command_start};
    if (argc == 0)
        return app_usage("explain needs a path", "explain");
    if (options->together) {
        int usage = together_paths_check(options, argc, "explain");
        return usage ? usage
                     : together_paths_command(options, argv, argc, false,
                                              explain_command_write_together);
    }
    return path_queue_command(options, argv, argc, 1, &ops);
}
