#include "fs/cli/path_queue.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/read/resolve.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/read_budget.h"
#include "fs/cli/screen.h"

/* No further path is started while this much is held. */
enum { PATH_QUEUE_HELD_BYTES = 8 << 20 };

/* The memory of a page is used for the next one, instead of being returned to the system and
 * cleared by it again: that takes as long as the parsing. */
enum { LARGE_BLOCK = 8 << 20, FREE_MEMORY = 8 << 20 };

/* Pays for the requests of one path, from the budget of all. */
struct path_payer {
    struct payer payer; /* first: a struct payer * is cast to this */
    struct read_budget *budget;
    const struct tree *tree;
    const char *path; /* as typed */
};

struct path_queue {
    struct app *app;
    const struct path_queue_ops *ops;
    char **paths;
    int count;
    int side_by_side;
    int started;                       /* paths so far */
    int printed;                       /* of these; the next one is the front */
    size_t held_bytes;                 /* of all turns */
    bool failed;                       /* out of memory */
    struct path_turn *window;          /* owned: path I is at I % SIDE_BY_SIDE */
    const struct selection *selection; /* of every path, which is a listing then; or NULL */
    struct read_budget budget;
    struct path_payer *payers; /* owned: of each path */
    struct loop_timer *timer;  /* will advance the queue; or NULL */
};

static void path_payer_charge(struct payer *payer, const struct expense *expense)
{
    read_budget_charge(((struct path_payer *)payer)->budget, expense);
}

static void path_payer_release(struct payer *payer)
{
    (void)payer;
}

static struct span path_payer_path(const struct payer *payer)
{
    const struct path_payer *of = (const struct path_payer *)payer;
    struct span path = span_text(of->path);
    return of->tree->show_secrets || !map_may_reveal(of->tree->map, path) ? path : span_text("");
}

/* False when memory ran out. */
static bool path_queue_add_payers(struct path_queue *queue)
{
    static const struct payer_ops ops = {
        .charge = path_payer_charge, .release = path_payer_release, .path = path_payer_path};
    queue->payers = calloc((size_t)queue->count, sizeof *queue->payers);
    for (int i = 0; queue->payers && i < queue->count; i++)
        queue->payers[i] =
            (struct path_payer){{&ops, 1}, &queue->budget, &queue->app->tree, queue->paths[i]};
    return queue->payers;
}

/* Whether reading PLACE may require a confirmation. */
static bool path_queue_confirms(const struct read_budget *budget, const struct options *options,
                                const struct place *place)
{
    bool counts = options->count ||
                  (place->kind == PLACE_LIST_FILE &&
                   (place->companion == COMPANION_COUNT || place->companion == COMPANION_SUMMARY));
    return budget->allowed > 0 && place_is_listing(place) && !place->is_snapshot &&
           (options->where || options->confirm_given || counts);
}

/* Whether TURN may read its next page. False with ERR. */
static bool path_queue_allows(struct read_budget *budget, const struct path_turn *turn,
                              struct error *err)
{
    const struct plan *plan = place_plan(turn->place, err);
    const struct map_environment *environment = turn->place->environment;
    if (!plan)
        return false;
    const struct cost_rcu *rcu = &plan->cost.rcu;
    const struct read_demand demand = {
        .of = turn->path,
        .unit = "page",
        .rcu = plan->cost.pages || budget->rcu > 0 ? rcu->page : rcu->most,
        .price = environment ? environment->price : 0,
    };
    return read_budget_allows(budget, &demand, err);
}

static struct path_turn *path_queue_turn(const struct path_queue *queue, int number)
{
    return &queue->window[number % queue->side_by_side];
}

bool turn_is_alone(const struct path_turn *turn)
{
    return turn->queue->count == 1;
}

bool turn_is_front(const struct path_turn *turn)
{
    return turn == path_queue_turn(turn->queue, turn->queue->printed);
}

static void path_queue_finish(struct path_turn *turn)
{
    const struct path_queue *queue = turn->queue;
    tree_resolve_cancel(turn->resolution);
    if (queue->ops->stop && turn->work)
        queue->ops->stop(turn);
    place_destroy(turn->place);
    buf_clean_up_secret(&turn->held);
    *turn = (struct path_turn){0};
}

static void path_queue_begin(struct path_turn *turn)
{
    turn->begun = true;
    turn->queue->ops->start(turn);
}

/* An error is reported in the order of the paths, as results are. */
static void path_queue_take_place(void *arg, struct place *place, const struct error *err)
{
    struct path_turn *turn = arg;
    const struct path_queue *queue = turn->queue;
    const struct selection *selection = queue->selection;
    struct error why;
    turn->resolution = NULL;
    turn->place = place;
    if (!place) {
        why = *err;
        app_hint(turn->app, turn->path, &why);
        turn_end(turn, &why);
        return;
    }
    if (selection && !place_select(place, selection, turn->app->tree.show_secrets, &why)) {
        turn_end(turn, &why);
        return;
    }
    turn->confirms =
        queue->ops->go_on && path_queue_confirms(&queue->budget, turn->app->options, place);
    if (turn->confirms)
        turn_pause(turn);
    else
        path_queue_begin(turn);
}

static void path_queue_write_log(void *arg, enum log_level level, const char *line)
{
    const struct path_turn *turn = arg;
    app_note(turn->app, level, turn->path, line);
}

static void path_queue_start_next(struct path_queue *queue)
{
    struct path_turn *turn = path_queue_turn(queue, queue->started);
    struct error why;
    *turn =
        (struct path_turn){.app = queue->app, .path = queue->paths[queue->started], .queue = queue};
    turn->log = (struct log){queue->app->log.level, path_queue_write_log, turn};
    turn->tree = queue->app->tree;
    turn->tree.log = &turn->log;
    turn->tree.payer = &queue->payers[queue->started].payer;
    queue->started++;
    bool through = queue->ops->follows_links && queue->ops->follows_links(queue->app->options);
    turn->resolution = (through ? tree_resolve_through : tree_resolve)(
        &turn->tree, NULL, span_text(turn->path), path_queue_take_place, turn);
    if (!turn->resolution) {
        error_no_memory(&why);
        turn_end(turn, &why);
    }
}

/* Prints what the front holds, and continues it if it is paused. True when it has ended. */
static bool path_queue_print_front(struct path_queue *queue)
{
    struct path_turn *turn = path_queue_turn(queue, queue->printed);
    if (turn->held.size > 0)
        fwrite(turn->held.data, 1, turn->held.size, stdout);
    queue->held_bytes -= turn->held.size;
    buf_truncate(&turn->held, 0);
    if (turn->held.failed) {
        error_no_memory(&turn->why);
        turn->state = TURN_ENDED;
    }
    if (turn->state == TURN_PAUSED && fflush(stdout) == 0) {
        turn->state = TURN_WORKING;
        if (turn->confirms && !path_queue_allows(&queue->budget, turn, &turn->why))
            turn->state = TURN_ENDED;
        else if (turn->begun)
            queue->ops->go_on(turn);
        else
            path_queue_begin(turn);
    }
    if (turn->state != TURN_ENDED)
        return false;
    if (turn->why.kind != ERROR_NONE)
        app_report_error(turn->app, turn->path, &turn->why);
    path_queue_finish(turn);
    queue->printed++;
    return true;
}

/* Starts and prints as far as possible without waiting. */
static void path_queue_advance(void *arg)
{
    struct path_queue *queue = arg;
    queue->timer = NULL;
    do {
        while (queue->started < queue->count &&
               queue->started - queue->printed < queue->side_by_side &&
               queue->held_bytes < PATH_QUEUE_HELD_BYTES)
            path_queue_start_next(queue);
    } while (!ferror(stdout) && queue->printed < queue->started && path_queue_print_front(queue));
    if (queue->printed == queue->count || ferror(stdout))
        loop_stop(queue->app->loop);
}

/* In a later round of the loop: the caller still uses results that advancing may free. */
static void path_queue_advance_soon(struct path_queue *queue)
{
    if (!queue->timer)
        queue->timer = loop_add_timer(queue->app->loop, 0, path_queue_advance, queue);
    if (queue->timer)
        return;
    queue->failed = true;
    loop_stop(queue->app->loop);
}

void turn_print(struct path_turn *turn, struct span text)
{
    if (turn_is_front(turn) && turn->held.size == 0) {
        fwrite(text.data, 1, text.size, stdout);
        return;
    }
    buf_add_span(&turn->held, text);
    turn->queue->held_bytes += turn->held.failed ? 0 : text.size;
}

void turn_pause(struct path_turn *turn)
{
    turn->state = TURN_PAUSED;
    path_queue_advance_soon(turn->queue);
}

void turn_end(struct path_turn *turn, const struct error *err)
{
    turn->state = TURN_ENDED;
    if (err)
        turn->why = *err;
    path_queue_advance_soon(turn->queue);
}

static void path_queue_run(struct path_queue *queue)
{
    struct app *app = queue->app;
    app_show_progress(app);
    queue->window = calloc((size_t)queue->side_by_side, sizeof *queue->window);
    queue->failed = !queue->window;
    if (queue->window)
        path_queue_advance_soon(queue);
    if (!queue->failed)
        loop_run(app->loop);
    loop_remove_timer(queue->timer);
    for (; queue->printed < queue->started; queue->printed++)
        path_queue_finish(path_queue_turn(queue, queue->printed));
    free(queue->window);
    if (queue->failed) {
        struct error why;
        error_no_memory(&why);
        app_report_error(app, "/", &why);
    }
}

int path_queue_command(const struct options *options, char **paths, int count, int side_by_side,
                       const struct path_queue_ops *ops)
{
    struct app app;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct cond filter;
    struct selection selection = {.filter = options->where ? &filter : NULL,
                                  .limit = options->limit};
    struct path_queue queue = {
        .app = &app, .ops = ops, .paths = paths, .count = count, .side_by_side = side_by_side};
    if (selection.filter || selection.limit > 0)
        queue.selection = &selection;
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    if (!mounted_paths_take(&mounted, paths, count)) {
        mounted_paths_clean_up(&mounted);
        return EXIT_FAILURE;
    }
    read_budget_init(&queue.budget, options);
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, FREE_MEMORY);
    bool ready =
        app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES) && app_open_snapshots(&app);
    if (ready && !path_queue_add_payers(&queue)) {
        struct error why;
        error_no_memory(&why);
        app_report_error(&app, NULL, &why);
        ready = false;
    }
    /* No page may be under way when the user is prompted. */
    app.tree.page_by_page =
        queue.budget.allowed > 0 && (options->where || options->count || options->confirm_given);
    app.tree.names.table_is_file = true;
    if (count == 1)
        app.tree.walks = NULL; /* no other path reads the same pages */
    app.tree.table_width = screen_columns();
    if (!ready)
        app.status = EXIT_FAILURE;
    else if (!selection.filter || app_parse_filter(&app, &arena, &filter))
        path_queue_run(&queue);
    app_clean_up(&app);
    free(queue.payers);
    mounted_paths_clean_up(&mounted);
    return app.status;
}
