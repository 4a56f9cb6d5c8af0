#include "fs/cli/path_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/condition/where.h"
#include "core/read/resolve.h"
#include "fs/cli/mounted_paths.h"
#include "fs/cli/screen.h"
#include "fs/cli/spending.h"

/* No further path is asked while so much waits for its turn. */
enum { MOST_HELD_BYTES = 8 << 20 };

struct turns {
    struct app *app;
    const struct path_queue_ops *ops;
    char **paths;
    int count;
    int side_by_side;
    int asked;                /* how many paths have been asked so far */
    int printed;              /* how many of those are through: the next one is whose turn it is */
    size_t held_bytes;        /* by all that wait */
    bool failed;              /* memory ran out */
    struct path_turn *window; /* owned: path I stands in I % SIDE_BY_SIDE */
    const struct selection *narrowed; /* what is asked of each path, a listing then; or NULL */
    struct spending *spending;        /* borrowed */
    struct loop_timer *timer;         /* advances; NULL when nothing has changed */
};

static struct path_turn *path_queue_of(const struct turns *turns, int number)
{
    return &turns->window[number % turns->side_by_side];
}

static bool path_queue_is_front(const struct path_turn *turn)
{
    return turn == path_queue_of(turn->turns, turn->turns->printed);
}

static void path_queue_finish(struct path_turn *turn)
{
    const struct turns *turns = turn->turns;
    tree_resolve_cancel(turn->resolution);
    if (turns->ops->stop && turn->work)
        turns->ops->stop(turn);
    place_destroy(turn->place);
    buf_clean_up_secret(&turn->held);
    *turn = (struct path_turn){0};
}

static void path_queue_begin(struct path_turn *turn)
{
    turn->begun = true;
    turn->turns->ops->start(turn);
}

/* Its turn has come for what comes next, its beginning or another page; or somebody says no. */
static void path_queue_resume(struct path_turn *turn)
{
    const struct turns *turns = turn->turns;
    turn->state = TURN_ASKED;
    if (turn->watched && !spending_agrees(turns->spending, turn->place, turn->path, &turn->why))
        turn->state = TURN_ENDED;
    else if (turn->begun)
        turns->ops->go_on(turn);
    else
        path_queue_begin(turn);
}

/* What a path means is known. What the map alone refuses has its turn like the rest. */
static void path_queue_take_place(void *arg, struct place *place, const struct error *err)
{
    struct path_turn *turn = arg;
    turn->resolution = NULL;
    turn->place = place;
    struct error why;
    const struct selection *selection = turn->turns->narrowed;
    if (place &&
        (!selection || place_select(place, selection, turn->app->tree.show_secrets, &why))) {
        turn->watched = turn->turns->ops->go_on && spending_watches(turn->turns->spending, place);
        if (turn->watched)
            turn_pause(turn); /* before it begins */
        else
            path_queue_begin(turn);
        return;
    }
    if (!place) {
        why = *err;
        app_hint(turn->app, turn->path, &why);
    }
    turn_end(turn, &why);
}

static void path_queue_write_log(void *arg, enum log_level level, const char *line)
{
    const struct path_turn *turn = arg;
    app_note(turn->app, level, turn->path, line);
}

/* The next path. */
static void path_queue_request(struct turns *turns)
{
    struct path_turn *turn = path_queue_of(turns, turns->asked);
    struct error why;
    *turn =
        (struct path_turn){.app = turns->app, .path = turns->paths[turns->asked], .turns = turns};
    turn->log = (struct log){turns->app->log.level, path_queue_write_log, turn};
    turn->tree = turns->app->tree;
    turn->tree.log = &turn->log;
    turns->asked++;
    bool through = turns->ops->goes_through && turns->ops->goes_through(turns->app->options);
    turn->resolution = (through ? tree_resolve_through : tree_resolve)(
        &turn->app->tree, NULL, span_text(turn->path), path_queue_take_place, turn);
    if (!turn->resolution) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

/* Prints what the front has, up to where it waits for an answer. True when it is through. */
static bool path_queue_print_front(struct turns *turns)
{
    struct path_turn *turn = path_queue_of(turns, turns->printed);
    if (turn->held.size > 0)
        fwrite(turn->held.data, 1, turn->held.size, stdout);
    turns->held_bytes -= turn->held.size;
    buf_truncate(&turn->held, 0);
    if (turn->held.failed) {
        error_no_memory(&turn->why);
        turn->state = TURN_ENDED;
    }
    if (turn->state == TURN_PAUSED && fflush(stdout) == 0)
        path_queue_resume(turn); /* whoever reads has what there is while the next page comes */
    if (turn->state != TURN_ENDED)
        return false;
    if (turn->why.kind != ERROR_NONE)
        app_report_error(turn->app, turn->path, &turn->why);
    path_queue_finish(turn);
    turns->printed++;
    return true;
}

static bool path_queue_has_room(const struct turns *turns)
{
    return turns->asked < turns->count && turns->asked - turns->printed < turns->side_by_side &&
           turns->held_bytes < MOST_HELD_BYTES;
}

/* Asks and prints as far as it goes without waiting. */
static void path_queue_advance(void *arg)
{
    struct turns *turns = arg;
    turns->timer = NULL;
    do {
        while (path_queue_has_room(turns))
            path_queue_request(turns);
    } while (!ferror(stdout) && turns->printed < turns->asked && path_queue_print_front(turns));
    if (turns->printed == turns->count || ferror(stdout))
        loop_stop(turns->app->loop);
}

/* Later, since whoever has just called still works on the answer that advancing may take away. */
static void path_queue_advance_soon(struct turns *turns)
{
    if (!turns->timer)
        turns->timer = loop_add_timer(turns->app->loop, 0, path_queue_advance, turns);
    if (turns->timer)
        return;
    turns->failed = true;
    loop_stop(turns->app->loop);
}

static void path_queue_run(struct turns *turns)
{
    struct app *app = turns->app;
    app_show_progress(app);
    turns->window = calloc((size_t)turns->side_by_side, sizeof *turns->window);
    turns->failed = !turns->window;
    if (turns->window)
        path_queue_advance_soon(turns);
    if (!turns->failed)
        loop_run(app->loop);
    loop_remove_timer(turns->timer);
    for (; turns->printed < turns->asked; turns->printed++)
        path_queue_finish(path_queue_of(turns, turns->printed)); /* nobody reads on */
    free(turns->window);
    if (turns->failed) {
        struct error why;
        error_no_memory(&why);
        app_report_error(app, "/", &why);
    }
}

bool turn_is_alone(const struct path_turn *turn)
{
    return turn->turns->count == 1;
}

bool turn_is_front(const struct path_turn *turn)
{
    return path_queue_is_front(turn);
}

void turn_print(struct path_turn *turn, struct span text)
{
    if (path_queue_is_front(turn) && turn->held.size == 0) {
        fwrite(text.data, 1, text.size, stdout);
        return;
    }
    buf_add_span(&turn->held, text);
    turn->turns->held_bytes += turn->held.failed ? 0 : text.size;
}

void turn_pause(struct path_turn *turn)
{
    turn->state = TURN_PAUSED;
    path_queue_advance_soon(turn->turns);
}

void turn_end(struct path_turn *turn, const struct error *err)
{
    turn->state = TURN_ENDED;
    if (err)
        turn->why = *err;
    path_queue_advance_soon(turn->turns);
}

static bool path_queue_read_filter(struct app *app, struct arena *arena, struct cond *out)
{
    struct error err, why;
    if (where_parse(span_text(app->options->where), arena, out, &err))
        return true;
    error_set(&why, err.kind, "--where: %s", err.text);
    app_report_error(app, NULL, &why);
    app->status = err.kind == ERROR_INVALID ? EXIT_USAGE : EXIT_FAILURE;
    return false;
}

int path_queue_command(const struct options *options, char **paths, int count, int side_by_side,
                       const struct path_queue_ops *ops)
{
    struct app app;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct cond filter;
    struct spending spending;
    struct selection selection = {.filter = options->where ? &filter : NULL,
                                  .limit = options->limit};
    struct turns turns = {.app = &app,
                          .ops = ops,
                          .paths = paths,
                          .count = count,
                          .side_by_side = side_by_side,
                          .spending = &spending};
    if (selection.filter || selection.limit > 0)
        turns.narrowed = &selection;
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    if (!mounted_paths_take(&mounted, paths, count)) {
        mounted_paths_clean_up(&mounted);
        return EXIT_FAILURE;
    }
    spending_init(&spending, options);
    struct options own = mounted.options;
    if (spending.allowed > 0 && (options->where || options->count || options->confirm_given))
        own.both_ends_ms = -1; /* the other end would be read before anybody has agreed */
    bool ready = app_init_any(&app, &own, COMMAND_CACHE_BYTES);
    app.tree.payer = &spending.payer;
    app.tree.names.table_is_file = true;
    app.tree.table_width = screen_columns();
    if (!ready)
        app.status = EXIT_FAILURE;
    else if (!selection.filter || path_queue_read_filter(&app, &arena, &filter))
        path_queue_run(&turns);
    app_clean_up(&app);
    mounted_paths_clean_up(&mounted);
    return app.status;
}
