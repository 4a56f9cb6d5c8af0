/* ddbfs sql [STATEMENT]: SELECT over tables. Without a statement, reads them from standard input,
 * or from a prompt at the terminal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cli/sql_prompt.h"

/* False with errno. */
static bool sql_command_read_input(struct buf *out)
{
    char chunk[8192];
    ssize_t size;
    while ((size = read(STDIN_FILENO, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)size);
    if (out->failed)
        errno = ENOMEM;
    return size == 0 && !out->failed;
}

static int sql_command_run(struct app *app, struct span text, bool is_numbered)
{
    struct sql_runner runner;
    bool ready = sql_runner_init(&runner, app, NULL, NULL);
    runner.is_numbered = is_numbered;
    app_show_progress(app);
    bool ok = ready && sql_runner_run(&runner, text, app->options->explain);
    if (ok && runner.count == 0)
        app->status = app_usage("sql needs a statement", "sql");
    sql_runner_clean_up(&runner);
    app_clean_up(app);
    return app->status;
}

int sql_command(const struct options *options, int argc, char **argv)
{
    struct app app;
    CLEAN_UP(buf_clean_up) struct buf input = {0};
    bool reads = argc == 0 || strcmp(argv[0], "-") == 0;
    bool is_interactive = argc == 0 && isatty(STDIN_FILENO);
    if (argc > 1)
        return app_usage("sql takes one statement; put it in quotes", "sql");
    if (reads && !is_interactive && !sql_command_read_input(&input))
        return app_fail("standard input", strerror(errno));
    if (!app_init_any(&app, options, COMMAND_CACHE_BYTES) || !app_open_snapshots(&app)) {
        app_clean_up(&app);
        return EXIT_FAILURE;
    }
    if (is_interactive)
        return sql_prompt_run(&app);
    return sql_command_run(&app, reads ? buf_span(&input) : span_text(argv[0]), reads);
}
