#include "fs/cli/tail_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/describe/change_line.h"
#include "core/describe/follow_words.h"
#include "core/plan/item_match.h"
#include "core/read/change_scope.h"
#include "core/read/file.h"
#include "core/read/near_miss.h"
#include "core/sources.h"
#include "fs/cli/tail_items.h"

/* A failure that lasts is reported once in this time. */
enum { TAIL_TROUBLE_EACH_MS = 60 * 1000 };

/* The directories of a table: in the map, and in tables/. */
enum { HOME_OF_MAP, HOME_OF_NAME, TAIL_HOMES };

/* A path that was named, of one table. */
struct tail_path {
    struct tail_path *next;
    const char *text;      /* as named */
    struct place *place;   /* owned */
    const char *attribute; /* one that decides beside the key; NULL: the key decides */
    bool is_checked;       /* a key of the table fits the map */
    bool is_noted;         /* what leaves it is not reported, which was said */
};

struct tail_table {
    struct tail *tail;
    struct list_node node;
    struct tail_path *paths;   /* owned, in the order of the command line */
    struct source *source;     /* a reference is held */
    char *name;                /* owned: the service's name */
    struct follower *follower; /* owned; NULL: not begun, or ended */
    struct tail_items *items;  /* likewise; NULL without --fetch, too */
    uint64_t requests;         /* of both, until they ended */
    int64_t resume_ms;         /* likewise: all changes from before it were printed */
    /* Where the item of a change is found that no named path shows (any more): */
    struct tail_home {
        struct place *place; /* owned; NULL: none */
        struct buf text;     /* owned: its path */
    } homes[TAIL_HOMES];
    bool is_described; /* the images of the stream were compared with the options */
    bool has_ended;
    bool is_covered; /* every change from here on will be printed */
    bool is_in_trouble;
    bool began_in_trouble;           /* no change before the recovery is printed */
    bool has_untested;               /* a removal that --where could not test was reported */
    bool has_unread;                 /* likewise, an item that was removed before it was read */
    int64_t trouble_ms, reported_ms; /* the last failure, and the last report of one */
};

/* A change in its turn, and its item. */
struct tail_change {
    const struct change *change;
    bool was_read;
    struct json item; /* if WAS_READ; absent: it did not exist any more */
};

static void tail_table_destroy(struct tail_table *table)
{
    follower_destroy(table->follower);
    tail_items_destroy(table->items);
    source_unref(table->source);
    for (struct tail_path *path = table->paths, *next; path; path = next) {
        next = path->next;
        place_destroy(path->place);
        free(path);
    }
    for (size_t i = 0; i < TAIL_HOMES; i++) {
        place_destroy(table->homes[i].place);
        buf_clean_up(&table->homes[i].text);
    }
    list_remove(&table->node);
    free(table->name);
    free(table);
}

void tail_tables_destroy(struct tail *tail)
{
    LIST_EACH_SAFE (struct tail_table, each, &tail->tables, node)
        tail_table_destroy(each);
}

/* Paths of a table's directory. */

/* Resolves PATH, a directory of the table, as its home number I. Without such a directory the home
 * stays empty. */
static void tail_table_add_home(struct tail_table *table, size_t i, struct buf *path)
{
    struct error ignored;
    struct place *place =
        path->failed ? NULL : app_resolve(table->tail->app, buf_text(path), &ignored);
    if (!place)
        return;
    table->homes[i].place = place;
    buf_move(&table->homes[i].text, path);
}

/* The directories of the table that PLACE is of. */
static void tail_table_find_homes(struct tail_table *table, const struct place *place)
{
    CLEAN_UP(buf_clean_up) struct buf own = {0}, any = {0};
    struct error ignored;
    if (place->environment_name.size > 0) {
        buf_add_char(&own, '/');
        buf_add_span(&own, place->environment_name);
        buf_add_span(&any, buf_span(&own));
    }
    buf_add_text(&any, "/" MAP_TABLES_NAME "/");
    if (names_write_table(span_text(table->name), &any, &ignored))
        tail_table_add_home(table, HOME_OF_NAME, &any);
    buf_printf(&own, "/%s", place->table->path_name);
    if (!place->table_name)
        tail_table_add_home(table, HOME_OF_MAP, &own);
}

static struct tail_table *tail_table_find(struct tail *tail, const struct source *source,
                                          const char *name)
{
    LIST_EACH (struct tail_table, each, &tail->tables, node)
        if (each->source == source && strcmp(each->name, name) == 0)
            return each;
    return NULL;
}

/* Takes NAME. NULL when memory ran out. */
static struct tail_table *tail_table_new(struct tail *tail, struct source *source, char *name,
                                         const struct place *place)
{
    struct tail_table *table = calloc(1, sizeof *table);
    if (!table) {
        free(name);
        return NULL;
    }
    table->tail = tail;
    table->source = source_ref(source);
    table->name = name;
    list_append(&tail->tables, &table->node);
    tail_table_find_homes(table, place);
    return table;
}

/* A filter on a secret would reveal it, step by step. */
static bool tail_check_filter(const struct tail *tail, const struct place *place, struct error *err)
{
    const struct selection selection = {.filter = tail->filter};
    return !tail->filter || tail->app->tree.show_secrets ||
           selection_hides_secrets(&selection, place->table, err);
}

static bool tail_table_add_path(struct tail_table *table, const char *text, struct place *place)
{
    struct tail_path *path = calloc(1, sizeof *path), **last = &table->paths;
    if (!path)
        return false;
    while (*last)
        last = &(*last)->next;
    *last = path;
    *path = (struct tail_path){.text = text, .place = place};
    change_scope_is_by_key(place, &path->attribute);
    return true;
}

/* A misspelt path may be followed for ever. */
static void tail_note_near_miss(struct app *app, const char *path, const struct place *place)
{
    CLEAN_UP(buf_clean_up) struct buf hint = {0};
    near_miss_write(place, &hint);
    if (hint.size > 0)
        app_note(app, LOG_LEVEL_WARNING, path, buf_text(&hint));
}

bool tail_table_add(struct tail *tail, const char *path, struct place *place, struct error *err)
{
    struct app *app = tail->app;
    bool ok = change_scope_check(place, err) && tail_check_filter(tail, place, err);
    struct source *source = ok ? sources_for(app->sources, place, err) : NULL;
    char *name = source ? place_table_name(place) : NULL;
    struct tail_table *table = name ? tail_table_find(tail, source, name) : NULL;
    if (table)
        free(name);
    else if (name)
        table = tail_table_new(tail, source, name, place);
    if (table && tail_table_add_path(table, path, place)) {
        tail_note_near_miss(tail->app, path, place);
        return true;
    }
    place_destroy(place);
    return !source ? false : error_no_memory(err);
}

/* Ends and messages. */

static struct span tail_table_path(const struct tail_table *table)
{
    return span_text(table->paths->text);
}

static void tail_print(struct tail *tail, const struct buf *line)
{
    fwrite(line->data, 1, line->size, stdout);
    if (fflush(stdout) == 0)
        return;
    tail->is_over = true;
    loop_stop(tail->app->loop);
}

static uint64_t tail_table_requests(const struct tail_table *table)
{
    return table->requests + (table->follower ? follower_stats(table->follower).requests : 0) +
           (table->items ? tail_items_requests(table->items) : 0);
}

/* All changes of the table from before this were printed. */
static int64_t tail_table_resume_ms(const struct tail_table *table)
{
    if (!table->follower)
        return table->resume_ms;
    int64_t resume_ms = follower_resume_ms(table->follower);
    return table->items ? tail_items_resume_ms(table->items, resume_ms) : resume_ms;
}

/* The table is followed no longer. The error WHY may belong to the queue, which is destroyed. */
static void tail_table_end(struct tail_table *table, const struct error *why)
{
    struct app *app = table->tail->app;
    if (table->has_ended)
        return;
    app_report_error(app, table->paths->text, why);
    table->requests = tail_table_requests(table);
    table->resume_ms = tail_table_resume_ms(table);
    follower_destroy(table->follower);
    tail_items_destroy(table->items);
    table->follower = NULL;
    table->items = NULL;
    table->has_ended = true;
    table->tail->open--;
    loop_stop(app->loop);
}

static void tail_table_note(const struct tail_table *table, const char *text)
{
    app_note(table->tail->app, LOG_LEVEL_WARNING, table->paths->text, text);
}

/* Calls FN with TABLE and WHY, behind the changes whose items are being read. */
static void tail_table_call_in_turn(struct tail_table *table, tail_items_event_fn *fn,
                                    const struct error *why)
{
    if (table->items)
        tail_items_add_event(table->items, fn, why);
    else
        fn(table, why);
}

static void tail_table_print_gap(void *arg, const struct error *why)
{
    struct tail_table *table = arg;
    struct tail *tail = table->tail;
    struct clock *clock = loop_clock(tail->app->loop);
    CLEAN_UP(buf_clean_up) struct buf line = {0}, text = {0};
    if (tail->is_over || table->has_ended)
        return;
    buf_printf(&text, "changes are missing here: %s", why->text);
    tail_table_note(table, buf_text(&text));
    if (!tail->app->options->json)
        return;
    change_line_write_event("gap", clock->wall_ms(clock), tail_table_path(table), why->text, &line);
    tail_print(tail, &line);
}

static void tail_table_take_gap(void *arg, const struct error *why)
{
    tail_table_call_in_turn(arg, tail_table_print_gap, why);
}

static void tail_table_take_trouble(void *arg, const struct error *why)
{
    struct tail_table *table = arg;
    int64_t now_ms = loop_now_ms(table->tail->app->loop);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    table->trouble_ms = now_ms;
    if (table->is_in_trouble && now_ms - table->reported_ms < TAIL_TROUBLE_EACH_MS)
        return;
    table->is_in_trouble = true;
    table->began_in_trouble = !table->is_covered && table->tail->from == FOLLOW_NOW;
    table->reported_ms = now_ms;
    buf_printf(&text, "%s; it is tried again, and %s", why->text,
               table->began_in_trouble ? "changes before it works are not printed"
                                       : "no change is lost for 24 hours");
    tail_table_note(table, buf_text(&text));
}

void tail_tables_check(struct tail *tail)
{
    int64_t now_ms = loop_now_ms(tail->app->loop);
    LIST_EACH (struct tail_table, each, &tail->tables, node) {
        if (!each->is_in_trouble || each->has_ended ||
            (each->began_in_trouble && !each->is_covered) ||
            (each->items && !tail_items_are_empty(each->items)) ||
            follower_stats(each->follower).lag_ms >= now_ms - each->trouble_ms)
            continue;
        each->is_in_trouble = false;
        tail_table_note(each, each->began_in_trouble
                                  ? "it works, and changes from now on are printed"
                                  : "it works again, and all changes since are printed");
    }
}

static void tail_table_print_end(void *arg, const struct error *why)
{
    tail_table_end(arg, why);
}

/* The command for people has the options of the environment. */
static void tail_table_take_end(void *arg, const struct error *why)
{
    struct tail_table *table = arg;
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    struct error err = *why;
    sources_describe(table->tail->app->sources, table->paths->place, &options);
    follow_add_options(&err, buf_text(&options));
    tail_table_call_in_turn(table, tail_table_print_end, &err);
}

/* Changes. */

/* Whether the stream has images of items after their change, and before. */
static bool tail_view_has(enum follow_view view, bool after)
{
    return view == VIEW_BOTH || view == (after ? VIEW_NEW : VIEW_OLD);
}

static bool tail_refuse_view(const char *path, const char *attribute, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "the stream has no new images, and which items are in %s depends on %s; add "
                     "--fetch, which reads each changed item, or follow a directory that the keys "
                     "of items lead to",
                     path, attribute ? attribute : "more than the key");
}

/* Fails if the stream has not what the command line requires. */
static bool tail_table_check_view(const struct tail_table *table, bool has_after, struct error *err)
{
    const struct tail *tail = table->tail;
    if (has_after || table->items)
        return true;
    if (tail->filter)
        return error_set(err, ERROR_INVALID,
                         "the stream has no new images, which --where tests; add --fetch, which "
                         "reads each changed item, or give the table a stream of "
                         "NEW_AND_OLD_IMAGES");
    for (const struct tail_path *path = table->paths; path; path = path->next)
        if (path->attribute)
            return tail_refuse_view(path->text, path->attribute, err);
    return true;
}

static void tail_table_note_leaving(const struct tail_table *table, struct tail_path *path)
{
    if (!path->is_noted)
        app_note(table->tail->app, LOG_LEVEL_WARNING, path->text,
                 "items that leave it are not reported, because the stream has no old images");
    path->is_noted = true;
}

/* Says once what the stream does not have. */
static void tail_table_note_view(const struct tail_table *table, enum follow_view view)
{
    bool has_before = tail_view_has(view, false);
    if (view == VIEW_KEYS)
        tail_table_note(table, table->items
                                   ? "the stream has keys only: each item is read after its "
                                     "change, and what changed in it is not known"
                                   : "the stream has keys only; --fetch reads each changed item, "
                                     "and a stream of NEW_AND_OLD_IMAGES shows what changed");
    else if (!has_before)
        tail_table_note(table, "the stream has no old images: lines show items after their "
                               "change, and not what changed");
    else if (view == VIEW_OLD && !table->items)
        tail_table_note(table, "the stream has no new images: lines show items before their "
                               "change; --fetch reads each changed item");
    for (struct tail_path *path = table->paths; path && !has_before; path = path->next)
        if (path->attribute)
            tail_table_note_leaving(table, path);
}

/* Whether the table is still followed. */
static bool tail_table_describe(struct tail_table *table)
{
    struct error why;
    enum follow_view view = follower_view(table->follower);
    if (table->is_described || table->has_ended)
        return !table->has_ended;
    table->is_described = true;
    if (!tail_table_check_view(table, tail_view_has(view, true), &why)) {
        tail_table_end(table, &why);
        return false;
    }
    tail_table_note_view(table, view);
    return true;
}

/* The item before or after the change; without an image, its key. Absent: it did not exist. */
static struct change_image tail_image(const struct tail_change *turn, bool after)
{
    const struct change *change = turn->change;
    bool is_read = after && turn->was_read;
    struct json image = is_read ? turn->item : after ? change->after : change->before;
    if (change->kind == (after ? CHANGE_REMOVE : CHANGE_INSERT))
        return (struct change_image){0};
    if (json_present(image))
        return (struct change_image){image, true};
    return (struct change_image){change->keys, false};
}

/* Whether PATH shows the item of IMAGE; not one that does not exist. */
static bool tail_is_shown(const struct tail_table *table, const struct tail_path *path,
                          const struct change_image *image, bool *failed)
{
    const struct place_options *names = &table->tail->app->tree.names;
    if (!json_present(image->item))
        return false;
    enum change_verdict verdict = change_scope_test(path->place, names, image);
    *failed = *failed || verdict == CHANGE_NO_MEMORY;
    return verdict == CHANGE_SHOWN;
}

/* The first path that may show the item of IMAGE: attributes decide that are not known. NULL for no
 * path. */
static struct tail_path *tail_find_undecided(const struct tail_table *table,
                                             const struct change_image *image)
{
    const struct place_options *names = &table->tail->app->tree.names;
    for (struct tail_path *path = table->paths; path && json_present(image->item);
         path = path->next)
        if (change_scope_test(path->place, names, image) == CHANGE_UNDECIDED)
            return path;
    return NULL;
}

/* The first path that shows the item now; else (HAS_LEFT, if the item exists) the first one that
 * showed it before. NULL: no path does. */
static const struct tail_path *tail_find_path(const struct tail_table *table,
                                              const struct tail_change *turn, bool *has_left,
                                              bool *failed)
{
    struct change_image before = tail_image(turn, false), after = tail_image(turn, true);
    bool tells_before = before.is_whole || !after.is_whole; /* keys prove less than the image */
    *has_left = false;
    for (const struct tail_path *path = table->paths; path; path = path->next)
        if (tail_is_shown(table, path, &after, failed))
            return path;
    *has_left = json_present(after.item);
    for (const struct tail_path *path = table->paths; path && tells_before; path = path->next)
        if (tail_is_shown(table, path, &before, failed))
            return path;
    return NULL;
}

/* Appends the path of IMAGE's item in one of the table's own directories, if it has one. */
static void tail_write_home_path(const struct tail_table *table, const struct change_image *image,
                                 struct buf *out)
{
    const struct place_options *names = &table->tail->app->tree.names;
    for (size_t i = 0; i < TAIL_HOMES; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        const struct tail_home *home = &table->homes[i];
        if (!home->place || !change_scope_write_path(home->place, names, image, &name))
            continue;
        buf_printf(out, "%s/%s", buf_text(&home->text), buf_text(&name));
        return;
    }
}

/* Appends the item's path: relative to PATH if that is the only one; else whole. Programs get whole
 * paths. */
static void tail_write_path(const struct tail_table *table, const struct tail_path *path,
                            const struct tail_change *turn, bool has_left, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct tail *tail = table->tail;
    const struct place_options *names = &tail->app->tree.names;
    struct change_image after = tail_image(turn, true), before = tail_image(turn, false);
    const struct change_image *image = json_present(after.item) ? &after : &before;
    bool is_short = tail->path_count == 1 && !tail->app->options->json;
    if (!has_left && change_scope_is_one_item(path->place)) {
        const char *slash = is_short ? strrchr(path->text, '/') : NULL;
        buf_add_text(out, slash && slash[1] ? slash + 1 : path->text);
    } else if (!has_left && path->place->kind == PLACE_DIRECTORY &&
               change_scope_write_path(path->place, names, image, &name)) {
        bool slash = span_ends(span_text(path->text), SPAN_LITERAL("/"));
        buf_printf(out, "%s%s%s", is_short ? "" : path->text, is_short || slash ? "" : "/",
                   buf_text(&name));
    } else {
        tail_write_home_path(table, image, out);
    }
    out->failed = out->failed || name.failed;
}

static void tail_table_note_unread(struct tail_table *table)
{
    if (!table->has_unread)
        tail_table_note(table, "changes of items that were removed before they could be read "
                               "cannot be tested: all of them are printed");
    table->has_unread = true;
}

/* Whether --where selects the change; one that it cannot test is selected. Without an image the
 * item has been removed by now. */
static bool tail_selects(struct tail_table *table, const struct tail_change *turn, bool *failed)
{
    struct change_image after = tail_image(turn, true), before = tail_image(turn, false);
    const struct change_image *image = json_present(after.item) ? &after : &before;
    if (!table->tail->filter)
        return true;
    if (image->is_whole)
        return cond_holds(table->tail->filter, image->item, failed);
    if (turn->change->kind != CHANGE_REMOVE) {
        tail_table_note_unread(table);
        return true;
    }
    if (!table->has_untested)
        tail_table_note(table, "--where cannot test items that were removed, because the stream "
                               "has no old images: all of them are printed");
    table->has_untested = true;
    return true;
}

/* False with ERR filled. */
static bool tail_table_write(const struct tail_table *table, const struct tail_path *path,
                             const struct tail_change *turn, struct span name, bool has_left,
                             struct buf *out, struct error *err)
{
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    const struct tail *tail = table->tail;
    struct change change = *turn->change;
    LIST_EACH (const struct tail_table, each, &tail->tables, node)
        if (each != table && tail_table_resume_ms(each) < change.resume_ms)
            change.resume_ms = tail_table_resume_ms(each);
    struct change_line line = {.change = &change,
                               .path = name,
                               .has_left = has_left,
                               .is_fetched = turn->was_read,
                               .fetched = turn->item};
    file_view(&tail->app->tree, path->place->table, first, &line.view);
    line.view.compact = true;
    bool ok = tail->app->options->json ? change_line_write_json(&line, out)
                                       : change_line_write_text(&line, tail->columns, out);
    if (ok)
        return true;
    return out->failed ? error_no_memory(err)
                       : error_set(err, ERROR_BAD_ANSWER,
                                   "a change of table %s has no typed item; look for a proxy that "
                                   "changes responses",
                                   table->name);
}

/* No path is known to show the change, and PATH may. False if the table ended. */
static bool tail_table_admit_undecided(struct tail_table *table, const struct tail_path *path)
{
    struct error why;
    const char *attribute = NULL;
    if (table->items) {
        tail_table_note_unread(table);
        return true;
    }
    change_scope_is_by_key(path->place, &attribute);
    tail_refuse_view(path->text, attribute, &why);
    tail_table_end(table, &why);
    return false;
}

/* Prints the change, if a path shows it and --where selects it. */
static void tail_table_print(struct tail_table *table, const struct tail_change *turn)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct tail *tail = table->tail;
    struct error why;
    bool has_left, failed = false;
    if (tail->is_over || table->has_ended)
        return;
    const struct tail_path *path = tail_find_path(table, turn, &has_left, &failed);
    struct change_image before = tail_image(turn, false), after = tail_image(turn, true);
    const struct tail_path *maybe = path && !has_left ? NULL : tail_find_undecided(table, &after);
    struct tail_path *left = path || maybe ? NULL : tail_find_undecided(table, &before);
    if (left)
        tail_table_note_leaving(table, left);
    if (maybe && !tail_table_admit_undecided(table, maybe))
        return;
    if (maybe) {
        path = maybe;
        has_left = false;
    }
    bool is_wanted = path && tail_selects(table, turn, &failed);
    if (is_wanted)
        tail_write_path(table, path, turn, has_left, &name);
    if (failed || name.failed) {
        error_no_memory(&why);
        tail_table_end(table, &why);
    }
    if (!is_wanted || table->has_ended)
        return;
    if (!tail_table_write(table, path, turn, buf_span(&name), has_left, &line, &why)) {
        tail_table_end(table, &why);
        return;
    }
    tail->printed++;
    tail_print(tail, &line);
    if (tail->app->options->limit == 0 || tail->printed < tail->app->options->limit)
        return;
    tail->is_over = true;
    loop_stop(tail->app->loop);
}

/* --kind. */
static bool tail_is_of_kind(const struct tail *tail, const struct change *change)
{
    unsigned kinds = tail->app->options->kinds;
    unsigned own = 1u << change->kind | (change->is_expired ? TAIL_KIND_EXPIRED : 0);
    return kinds == 0 || (kinds & own) != 0;
}

/* Whether the item has to be read: its new image is wanted, and some path may show it. */
static bool tail_table_wants(const struct tail_table *table, const struct change *change)
{
    const struct tail_change turn = {.change = change};
    const struct place_options *names = &table->tail->app->tree.names;
    struct change_image after = tail_image(&turn, true), before = tail_image(&turn, false);
    if (!table->items || !json_present(after.item) || after.is_whole)
        return false;
    for (const struct tail_path *path = table->paths; path; path = path->next)
        if (change_scope_test(path->place, names, &after) != CHANGE_OTHER ||
            (before.is_whole && change_scope_test(path->place, names, &before) != CHANGE_OTHER))
            return true;
    return false;
}

/* A key that the map does not describe would lead to no path. False if that ended the table. */
static bool tail_table_check_key(struct tail_table *table, const struct change *change)
{
    for (struct tail_path *path = table->paths; path; path = path->next) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct error why;
        struct key key;
        const struct model *model = path->place->table;
        if (path->is_checked || item_match_key(model, change->keys, &arena, &key)) {
            path->is_checked = true;
            continue;
        }
        if (arena.failed)
            error_no_memory(&why);
        else
            item_match_report(model, table->name, change->keys, &why);
        tail_table_end(table, &why);
        return false;
    }
    return true;
}

static void tail_table_take_changes(void *arg, const struct change *changes, size_t count)
{
    struct tail_table *table = arg;
    bool follows = tail_table_describe(table) && tail_table_check_key(table, &changes[0]);
    for (size_t i = 0; i < count && follows && !table->has_ended && !table->tail->is_over; i++) {
        const struct tail_change turn = {.change = &changes[i]};
        if (!tail_is_of_kind(table->tail, &changes[i]))
            continue;
        bool is_wanted = tail_table_wants(table, &changes[i]);
        if (table->items && (is_wanted || !tail_items_are_empty(table->items)))
            tail_items_add(table->items, &changes[i], is_wanted);
        else
            tail_table_print(table, &turn);
    }
}

static void tail_table_take_covered(void *arg)
{
    struct tail_table *table = arg;
    table->is_covered = true;
    if (!table->tail->has_warned)
        app_note(table->tail->app, LOG_LEVEL_WARNING, NULL, FOLLOW_TWO_READERS);
    table->tail->has_warned = true;
    tail_table_describe(table);
}

static void tail_table_take_turn(void *arg, const struct change *change, struct json item,
                                 bool was_read)
{
    const struct tail_change turn = {.change = change, .was_read = was_read, .item = item};
    tail_table_print(arg, &turn);
}

static void tail_table_pause(void *arg, bool pauses)
{
    const struct tail_table *table = arg;
    if (table->follower)
        follower_pause(table->follower, pauses);
}

static bool tail_table_start(struct tail_table *table)
{
    static const struct follower_ops ops = {.changes = tail_table_take_changes,
                                            .covered = tail_table_take_covered,
                                            .gap = tail_table_take_gap,
                                            .trouble = tail_table_take_trouble,
                                            .ended = tail_table_take_end};
    static const struct tail_items_ops items_ops = {.deliver = tail_table_take_turn,
                                                    .trouble = tail_table_take_trouble,
                                                    .fail = tail_table_print_end,
                                                    .pause = tail_table_pause};
    const struct tail *tail = table->tail;
    struct app *app = tail->app;
    const struct follower_options options = {
        .loop = app->loop,
        .source = table->source,
        .table = table->name,
        .log = &app->log,
        .from = tail->from,
        .since_ms = tail->since_ms,
        .poll_least_ms = FOLLOW_POLL_LEAST_MS,
        .poll_most_ms = FOLLOW_POLL_MOST_MS,
        .ops = &ops,
        .arg = table,
    };
    const struct tail_items_options items = {.loop = app->loop,
                                             .source = table->source,
                                             .table = table->paths->place->table,
                                             .table_name = table->name,
                                             .ops = &items_ops,
                                             .arg = table};
    table->items = app->options->fetch ? tail_items_new(&items) : NULL;
    table->follower = follower_new(&options);
    return table->follower && (table->items || !app->options->fetch);
}

bool tail_tables_start(struct tail *tail)
{
    struct error why;
    LIST_EACH (struct tail_table, each, &tail->tables, node) {
        if (!tail_table_start(each)) {
            error_no_memory(&why);
            app_report_error(tail->app, each->paths->text, &why);
            return false;
        }
        tail->open++;
    }
    return true;
}

uint64_t tail_tables_requests(const struct tail *tail)
{
    uint64_t requests = 0;
    LIST_EACH (const struct tail_table, each, &tail->tables, node)
        requests += tail_table_requests(each);
    return requests;
}

void tail_tables_write(const struct tail *tail, struct buf *out)
{
    size_t shards = 0;
    int64_t lag_ms = 0;
    LIST_EACH (const struct tail_table, each, &tail->tables, node) {
        if (!each->follower)
            continue;
        struct follower_stats stats = follower_stats(each->follower);
        shards += stats.shards;
        lag_ms = stats.lag_ms > lag_ms ? stats.lag_ms : lag_ms;
    }
    buf_printf(out, "%zu shard%s, %llu change%s printed, %llu requests, lag %.1f s", shards,
               shards == 1 ? "" : "s", (unsigned long long)tail->printed,
               tail->printed == 1 ? "" : "s", (unsigned long long)tail_tables_requests(tail),
               (double)lag_ms / 1000);
}
