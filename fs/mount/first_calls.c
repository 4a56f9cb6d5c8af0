/* Asking each environment once. DescribeTable of the map's first table costs no capacity and proves
 * credentials, region and the table's name; an environment that stands for any name lists the
 * tables, as the map's root does, and so does who has no map. */
#include "fs/mount/first_calls.h"

#include <stdlib.h>

#include "core/sources.h"

/* For how long the others are waited for when one has answered: they are asked anew when somebody
 * looks into them. */
enum { GRACE_MS = 3 * 1000 };

enum probe_state { PROBE_UNDER_WAY, PROBE_ANSWERED, PROBE_FAILED };

struct probe_call {
    struct probe *probe;
    const struct map_environment *environment; /* NULL without a map */
    struct source *source;
    struct read *read;        /* owned; what is asked */
    struct source_call *call; /* owned; ended when all is told */
    enum probe_state state;
    struct error err; /* of a failure, or one that is no reason not to mount */
};

struct probe {
    struct app *app;
    struct payer *payer;      /* borrowed; may be NULL */
    struct probe_call *calls; /* owned */
    size_t count;
    size_t under_way;
    size_t answered;
    struct loop_timer *grace; /* runs from the first answer on */
};

/* Who is known, and may not do this or finds no such table, may do other things: that is told, and
 * is no reason not to mount. */
static bool first_calls_is_answer(const struct error *err)
{
    return !err || err->authenticated || err->kind == ERROR_NO_TABLE;
}

static void first_calls_stop_waiting(void *arg)
{
    struct probe *probe = arg;
    probe->grace = NULL;
    loop_stop(probe->app->loop);
}

static void first_calls_take_answer(void *arg, const struct page *page, const struct error *err)
{
    struct probe_call *call = arg;
    struct probe *probe = call->probe;
    (void)page;
    call->state = first_calls_is_answer(err) ? PROBE_ANSWERED : PROBE_FAILED;
    if (err)
        call->err = *err;
    probe->under_way--;
    probe->answered += call->state == PROBE_ANSWERED;
    if (probe->answered > 0 && !probe->grace)
        probe->grace = loop_add_timer(probe->app->loop, GRACE_MS, first_calls_stop_waiting, probe);
    if (probe->under_way == 0)
        loop_stop(probe->app->loop);
}

/* The first table of ENVIRONMENT; NULL when the environment stands for any name. */
static struct place *first_calls_first_table(const struct app *app,
                                             const struct map_environment *environment)
{
    struct error ignored;
    if (!environment || !format_is_literal(&environment->name) || app->map->model_count == 0)
        return NULL;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_add_char(&path, '/');
    buf_add_span(&path, format_literal(&environment->name));
    struct place *root = place_resolve(app->map, buf_span(&path), &app->tree.names, &ignored);
    struct place *table = root ? place_table(root, app->map->models[0]) : NULL;
    place_destroy(root);
    return table;
}

static bool first_calls_is_requested_already(const struct probe *probe, const struct source *source)
{
    for (size_t i = 0; i < probe->count; i++)
        if (probe->calls[i].source == source)
            return true;
    return false;
}

static bool first_calls_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Settings that came to nothing, for the reason ERR: those of another environment were the same, or
 * what is wrong with them was. */
static bool first_calls_failed_already(const struct probe *probe,
                                       const struct map_environment *environment,
                                       const struct error *err)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct probe_call *call = &probe->calls[i];
        const struct map_environment *other = call->environment;
        if (!call->source &&
            (strcmp(call->err.text, err->text) == 0 ||
             (first_calls_same_text(other->profile, environment->profile) &&
              first_calls_same_text(other->region, environment->region) &&
              first_calls_same_text(other->endpoint_url, environment->endpoint_url))))
            return true;
    }
    return false;
}

static void first_calls_start_call(struct probe *probe, const struct map_environment *environment)
{
    struct app *app = probe->app;
    struct probe_call *call = &probe->calls[probe->count];
    struct place any = {.map = app->map, .environment = environment};
    struct place *table = first_calls_first_table(app, environment);
    char *name = table ? place_table_name(table) : NULL;
    struct error err = {0};
    struct source *source = sources_for(app->sources, table ? table : &any, &err);
    if (source ? !first_calls_is_requested_already(probe, source)
               : !first_calls_failed_already(probe, environment, &err)) {
        *call = (struct probe_call){
            .probe = probe, .environment = environment, .source = source, .err = err};
        if (source)
            call->read = name ? read_new(READ_TABLE, name, NULL) : read_new(READ_TABLES, "", NULL);
        if (call->read)
            call->call =
                source_start(source, call->read, probe->payer, first_calls_take_answer, call);
        if (source && !call->call)
            error_no_memory(&call->err);
        call->state = call->call ? PROBE_UNDER_WAY : PROBE_FAILED;
        probe->under_way += call->call != NULL;
        probe->count++;
    }
    free(name);
    place_destroy(table);
}

/* Those that stand for any name come last: the environments that were given a name of their own
 * tell more about what the user has in mind. */
static void first_calls_start_calls(struct probe *probe)
{
    const struct map_environment *first = probe->app->map->environments, *each;
    size_t count = 0;
    for (each = first; each; each = each->next)
        count++;
    probe->calls = calloc(count + 1, sizeof *probe->calls);
    if (probe->calls && !first)
        first_calls_start_call(probe, NULL);
    for (each = first; probe->calls && each; each = each->next)
        if (format_is_literal(&each->name))
            first_calls_start_call(probe, each);
    for (each = first; probe->calls && each; each = each->next)
        if (!format_is_literal(&each->name))
            first_calls_start_call(probe, each);
}

/* With others that answer, a failure is one of its environment alone. */
static void first_calls_report(const struct probe *probe, const struct probe_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const char *why = call->err.text;
    if (call->environment)
        format_write(&call->environment->name, &name);
    else
        buf_add_text(&name, MAP_TABLES_NAME);
    if (call->state == PROBE_ANSWERED && call->err.kind != ERROR_NONE)
        fprintf(stderr, "ddbfs: warning: %s; mounting all the same\n", why);
    else if (call->state == PROBE_UNDER_WAY)
        fprintf(stderr, "ddbfs: warning: /%s has not answered yet; mounting all the same\n",
                buf_text(&name));
    else if (call->state == PROBE_FAILED && probe->answered > 0)
        fprintf(stderr, "ddbfs: warning: mounting without /%s for now: %s\n", buf_text(&name), why);
    else if (call->state == PROBE_FAILED && probe->count > 1)
        fprintf(stderr, "ddbfs: /%s: %s\n", buf_text(&name), why);
    else if (call->state == PROBE_FAILED)
        fprintf(stderr, "ddbfs: %s\n", why);
}

/* Before any time runs, and the only time that somebody is asked. What fails is told by the call.
 */
static void first_calls_request_for_codes(struct app *app)
{
    struct error ignored;
    if (map_is_none(app->map))
        sources_session(app->sources, NULL, &ignored);
    for (const struct map_environment *each = app->map->environments; each; each = each->next)
        sources_session(app->sources, each, &ignored);
    sources_go_offline(app->sources);
}

bool probe(struct app *app, struct payer *payer)
{
    struct probe probe = {.app = app, .payer = payer};
    sources_prepare();
    first_calls_request_for_codes(app);
    first_calls_start_calls(&probe);
    if (!probe.calls)
        fprintf(stderr, "ddbfs: out of memory\n");
    if (probe.under_way > 0)
        loop_run(app->loop);
    for (size_t i = 0; i < probe.count; i++) {
        first_calls_report(&probe, &probe.calls[i]);
        if (probe.calls[i].call)
            probe.calls[i].source->ops->end(probe.calls[i].call);
        read_destroy(probe.calls[i].read);
    }
    loop_remove_timer(probe.grace);
    free(probe.calls);
    return probe.answered > 0;
}
