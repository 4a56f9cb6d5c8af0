/* ddbfs tail [--json] [--since TIME|--oldest] [--where FILTER] [--fetch] [--limit N] PATH…: the
 * changes of items, from the streams of their tables, until the user ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/describe/follow_words.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/progress.h"
#include "fs/cli/screen.h"
#include "fs/cli/tail_table.h"

enum { TAIL_TICK_MS = 1000, TAIL_STATUS_EACH_MS = 10 * 1000 };

/* A command while it runs. */
struct tail_run {
    struct tail tail;
    struct loop_timer *timer;  /* each second */
    struct loop_io *output;    /* watches standard output; NULL: it is a file */
    struct progress *progress; /* NULL: not shown */
    int64_t began_ms, told_ms; /* when it began, and when the status was printed */
};

/* The beginning that the options name. False after a report. */
static bool tail_take_beginning(struct tail *tail)
{
    struct error why;
    const struct options *options = tail->app->options;
    struct clock *clock = loop_clock(tail->app->loop);
    int64_t now_ms = clock->wall_ms(clock);
    bool has_since = options->since.known || options->ago_ms > 0;
    tail->from = options->oldest ? FOLLOW_OLDEST : has_since ? FOLLOW_SINCE : FOLLOW_NOW;
    tail->since_ms = options->since.known ? options->since.ms : now_ms - options->ago_ms;
    if (has_since && options->oldest)
        error_set(&why, ERROR_INVALID, "--since and --oldest exclude each other");
    else if (has_since && tail->since_ms > now_ms)
        error_set(&why, ERROR_INVALID,
                  "--since: this time is in the future (times are in UTC); without it, "
                  "tail begins now");
    else
        return true;
    app_report_error(tail->app, NULL, &why);
    tail->app->status = EXIT_USAGE;
    return false;
}

/* False after a report. */
static bool tail_resolve(struct tail *tail, char **paths, int count)
{
    struct error why;
    bool ok = true;
    for (int i = 0; i < count; i++) {
        struct place *place = app_resolve_through(tail->app, paths[i], &why);
        if (place && tail_table_add(tail, paths[i], place, &why))
            continue;
        app_report_error(tail->app, paths[i], &why);
        ok = false;
    }
    return ok;
}

/* The reader of standard output is gone. */
static void tail_on_output(void *arg, uint32_t events)
{
    struct tail_run *run = arg;
    if (!(events & (EPOLLERR | EPOLLHUP)))
        return;
    run->tail.is_over = true;
    loop_stop(run->tail.app->loop);
}

static void tail_write_status(const struct tail_run *run, struct buf *out)
{
    int64_t ms = loop_now_ms(run->tail.app->loop) - run->began_ms;
    tail_tables_write(&run->tail, out);
    buf_printf(out, ", %.0f requests/hour",
               (double)tail_tables_requests(&run->tail) * 3600e3 / (double)(ms > 1000 ? ms : 1000));
}

static void tail_write_progress(void *arg, double seconds, struct buf *out)
{
    (void)seconds;
    buf_add_text(out, "ddbfs: ");
    tail_write_status(arg, out);
}

/* Without memory for the timer the command goes on without its messages. */
static void tail_on_second(void *arg)
{
    struct tail_run *run = arg;
    struct app *app = run->tail.app;
    int64_t now_ms = loop_now_ms(app->loop);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    run->timer = loop_add_timer(app->loop, TAIL_TICK_MS, tail_on_second, run);
    tail_tables_check(&run->tail);
    if (app->options->verbose == 0 || run->progress || now_ms - run->told_ms < TAIL_STATUS_EACH_MS)
        return;
    run->told_ms = now_ms;
    tail_write_status(run, &text);
    app_note(app, LOG_LEVEL_INFO, NULL, buf_text(&text));
}

static void tail_follow(struct tail_run *run)
{
    struct tail *tail = &run->tail;
    struct app *app = tail->app;
    run->began_ms = run->told_ms = loop_now_ms(app->loop);
    run->timer = loop_add_timer(app->loop, TAIL_TICK_MS, tail_on_second, run);
    run->output = loop_add_io(app->loop, STDOUT_FILENO, 0, tail_on_output, run);
    if (app->options->verbose > 0)
        run->progress = progress_start_with(app->loop, tail_write_progress, run);
    bool started = tail_tables_start(tail);
    while (started && tail->open > 0 && !tail->is_over && loop_run(app->loop)) {
    }
    progress_end(run->progress);
    loop_remove_timer(run->timer);
    loop_remove_io(run->output);
}

int tail_command(const struct options *options, int argc, char **argv)
{
    struct app app;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct cond filter;
    struct tail_run run = {.tail = {.app = &app, .path_count = (size_t)argc}};
    struct mounted_paths mounted;
    if (argc == 0)
        return app_usage("tail needs a path", "tail");
    mounted_paths_init(&mounted, options);
    if (!mounted_paths_take(&mounted, argv, argc)) {
        mounted_paths_clean_up(&mounted);
        return EXIT_FAILURE;
    }
    bool ready =
        app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES) && app_open_snapshots(&app);
    /* With one -v only the status is printed; a line for each poll would hide the changes. */
    app.log.level = options->verbose > 1 ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING;
    run.tail.columns = isatty(STDOUT_FILENO) && !options->json ? screen_columns() : 0;
    run.tail.filter = options->where ? &filter : NULL;
    if (!ready)
        app.status = EXIT_FAILURE;
    else if ((!options->where || app_parse_filter(&app, &arena, &filter)) &&
             tail_take_beginning(&run.tail) && tail_resolve(&run.tail, argv, argc))
        tail_follow(&run);
    tail_tables_destroy(&run.tail);
    app_clean_up(&app);
    mounted_paths_clean_up(&mounted);
    return app.status;
}
