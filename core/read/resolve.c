#include "core/read/resolve.h"

#include <stdlib.h>

#include "core/read/fetch.h"
#include "core/read/links.h"
#include "core/read/model_provider.h"

/* RESOLVE_WALKING ends in one of the others. From RESOLVE_WAITING and RESOLVE_READING the walk
 * continues when the model or the item has come. */
enum resolve_state {
    RESOLVE_WALKING,
    RESOLVE_WAITING, /* for a model */
    RESOLVE_READING, /* an item, whose link is followed then */
    RESOLVE_ARRIVED,
    RESOLVE_FAILED,
};

/* The way along a path. */
struct resolve_walk {
    const struct tree *tree;
    struct place *place; /* owned: how far it has come; NULL once RESOLVE_FAILED */
    struct buf again;    /* owned: the path to its beginning, if that is resolved anew */
    struct span behind;  /* the rest of AGAIN */
    struct span left;    /* the rest of the path; borrowed */
    bool slash;          /* the path ends in one */
    bool through;        /* a link at the end is followed */
    unsigned links;      /* followed so far */
    enum resolve_state state;
    struct error why; /* of RESOLVE_FAILED */
};

struct tree_resolution {
    struct resolve_walk walk;
    char *path;               /* owned: of the walk's spans */
    struct models_call *call; /* while RESOLVE_WAITING */
    struct fetch *fetch;      /* while RESOLVE_READING */
    struct loop_timer *timer; /* reports a walk that ended at once */
    tree_resolve_fn *done;
    void *arg;
};

/* Moves on to CHILD (taken); NULL ends the walk with WHY. */
static void resolve_enter(struct resolve_walk *walk, struct place *child)
{
    place_destroy(walk->place);
    walk->place = child;
    walk->state = child ? RESOLVE_WALKING : RESOLVE_FAILED;
}

/* The same where CHILD is absent only because memory ran out. */
static void resolve_enter_new(struct resolve_walk *walk, struct place *child)
{
    if (!child)
        error_no_memory(&walk->why);
    resolve_enter(walk, child);
}

/* Moves on from a link to its target. ITEM is absent if the path is enough for it. */
static void resolve_follow(struct resolve_walk *walk, struct json item)
{
    struct place *from = walk->place;
    struct place *to = links_follow(from, from->link, item, &walk->tree->names, NULL, &walk->why);
    if (to)
        to->way = from->way;
    if (to && json_present(item))
        place_add_way(to, from);
    resolve_enter(walk, to);
}

/* The name of the table whose description PLACE needs; NULL if it needs none, or memory ran out
 * (FAILED). The caller frees. */
static char *resolve_awaited(const struct place *place, bool *failed)
{
    char *name =
        place->kind == PLACE_TABLE ? strdup(place->table_name) : place_undescribed_table(place);
    *failed = !name &&
              (place->kind == PLACE_TABLE || (place->kind >= PLACE_SIMILAR && !place->described));
    return name;
}

/* Moves on from a place that needed the description MODEL. */
static void resolve_enter_described(struct resolve_walk *walk, const struct model *model)
{
    if (walk->place->kind == PLACE_TABLE)
        resolve_enter_new(walk, place_table(walk->place, model));
    else
        resolve_enter(walk, place_describe(walk->place, model, &walk->why));
}

/* Enters the description that PLACE needs, if it is fresh; else waits for it. */
static void resolve_describe(struct resolve_walk *walk, const char *table)
{
    struct model_provider *models = walk->tree->models;
    const struct model *model = models->ops->known(models, walk->place, span_text(table), NULL);
    if (model)
        resolve_enter_described(walk, model);
    else
        walk->state = RESOLVE_WAITING;
}

/* Whether the next name of the path is one that programs probe. An index with such a name is found
 * when its table has been described for another name: a probe sends no request. */
static bool resolve_is_probe(struct resolve_walk *walk)
{
    struct span left = walk->left, name;
    return walk->place->kind == PLACE_TABLE && place_next_segment(&left, &name) &&
           names_refuse_probed(&walk->tree->names, name, &walk->why);
}

/* Goes as far as possible without waiting. */
static void resolve_continue(struct resolve_walk *walk)
{
    const struct tree *tree = walk->tree;
    struct span name;
    while (walk->state == RESOLVE_WALKING) {
        struct span behind = walk->behind, left = walk->left;
        bool follows = walk->place->kind == PLACE_LINK &&
                       (walk->through || walk->slash || place_next_segment(&behind, &name) ||
                        place_next_segment(&left, &name));
        bool failed;
        char *awaited = tree->models ? resolve_awaited(walk->place, &failed) : NULL;
        if (tree->models && failed) {
            resolve_enter_new(walk, NULL);
        } else if (awaited) {
            if (resolve_is_probe(walk))
                resolve_enter(walk, NULL);
            else
                resolve_describe(walk, awaited);
            free(awaited);
        } else if (follows && ++walk->links > RESOLVE_MAX_LINKS) {
            error_set(&walk->why, ERROR_LOOP, "more than %d links on the way", RESOLVE_MAX_LINKS);
            resolve_enter(walk, NULL);
        } else if (follows && !fetch_is_needed(walk->place)) {
            resolve_follow(walk, (struct json){0});
        } else if (follows) {
            walk->state = RESOLVE_READING;
        } else if (place_next_segment(&walk->behind, &name) ||
                   place_next_segment(&walk->left, &name)) {
            resolve_enter(walk, place_child(walk->place, name, &tree->names, &walk->why));
        } else {
            walk->state = RESOLVE_ARRIVED;
        }
    }
    if (walk->state == RESOLVE_ARRIVED && walk->slash &&
        !place_suits_slash(walk->place, &walk->why))
        resolve_enter(walk, NULL);
}

static void resolve_begin(struct resolve_walk *walk, const struct tree *tree,
                          const struct place *from, struct span path, bool through)
{
    *walk = (struct resolve_walk){.tree = tree,
                                  .left = path,
                                  .slash = span_ends(path, SPAN_LITERAL("/")),
                                  .through = through};
    if (!from) {
        resolve_enter_new(walk, place_root(tree->map));
    } else if (tree_is_current(tree, from)) {
        resolve_enter_new(walk, place_copy(from));
    } else {
        buf_add_span(&walk->again, from->below);
        walk->behind = buf_span(&walk->again);
        resolve_enter_new(walk, walk->again.failed ? NULL : place_undescribed(from));
    }
    resolve_continue(walk);
}

bool tree_is_current(const struct tree *tree, const struct place *place)
{
    struct model_provider *models = tree->models;
    if (!models || !place->table_name)
        return true;
    return place->table &&
           models->ops->known(models, place, span_text(place->table_name), NULL) == place->table;
}

int64_t tree_structure_ttl_ms(const struct tree *tree, const struct place *place)
{
    struct model_provider *models = tree->models;
    int64_t left_ms = 0;
    if (!models || !place->table)
        return MAP_STRUCTURE_TTL_MS;
    if (place->table_name)
        models->ops->known(models, place, span_text(place->table_name), &left_ms);
    return place->table_name ? left_ms : MAP_STRUCTURE_TTL_MS;
}

int64_t tree_items_ttl_ms(const struct tree *tree, const struct place *place,
                          const struct map_pattern *pattern)
{
    struct error ignored;
    struct source *source = tree->source(tree->source_arg, place, &ignored);
    char *table = source && !pattern->consistent ? place_table_name(place) : NULL;
    int64_t ttl_ms = table ? source_ttl_ms(source, table, pattern->ttl_ms) : pattern->ttl_ms;
    free(table);
    return ttl_ms;
}

bool tree_follows(const struct tree *tree, const struct place *place)
{
    struct error ignored;
    return place->table && source_follows(tree->source(tree->source_arg, place, &ignored));
}

int64_t tree_hold_ms(const struct tree *tree, const struct place *place, int64_t left_ms)
{
    struct error ignored;
    if (!tree_follows(tree, place))
        return left_ms;
    char *table = place_table_name(place);
    int64_t hold_ms = SOURCE_REUSE_MS < left_ms ? SOURCE_REUSE_MS : left_ms;
    if (table)
        hold_ms = source_hold_ms(tree->source(tree->source_arg, place, &ignored), table, left_ms);
    free(table);
    return hold_ms;
}

bool tree_resolve_now(const struct tree *tree, const struct place *from, struct span path,
                      struct place **place, struct error *err)
{
    struct resolve_walk walk;
    resolve_begin(&walk, tree, from, path, false);
    buf_clean_up(&walk.again);
    if (walk.state == RESOLVE_WAITING || walk.state == RESOLVE_READING) {
        place_destroy(walk.place);
        return false;
    }
    *place = walk.place;
    if (walk.state == RESOLVE_FAILED)
        *err = walk.why;
    return true;
}

static void resolve_report(void *arg)
{
    struct tree_resolution resolution = *(struct tree_resolution *)arg;
    buf_clean_up(&resolution.walk.again);
    free(resolution.path);
    free(arg);
    resolution.done(resolution.arg, resolution.walk.place,
                    resolution.walk.state == RESOLVE_FAILED ? &resolution.walk.why : NULL);
}

static void resolve_take_model(void *arg, const struct model *model, const struct error *err);
static void resolve_take_record(void *arg, struct record *record, const struct tree_found *found,
                                int64_t ttl_left_ms, const struct error *err);

/* Starts the request that the walk waits for. False when the walk has ended. */
static bool resolve_request(struct tree_resolution *resolution)
{
    struct resolve_walk *walk = &resolution->walk;
    struct model_provider *models = walk->tree->models;
    if (walk->state == RESOLVE_WAITING) {
        bool failed;
        char *table = resolve_awaited(walk->place, &failed);
        if (table)
            resolution->call = models->ops->find(models, walk->place, span_text(table),
                                                 walk->tree->payer, resolve_take_model, resolution);
        free(table);
    } else if (walk->state == RESOLVE_READING)
        resolution->fetch = fetch_start(walk->tree, walk->place, resolve_take_record, resolution);
    else
        return false;
    if (resolution->call || resolution->fetch)
        return true;
    error_no_memory(&walk->why);
    resolve_enter(walk, NULL);
    return false;
}

static void resolve_proceed(struct tree_resolution *resolution)
{
    resolve_continue(&resolution->walk);
    if (!resolve_request(resolution))
        resolve_report(resolution);
}

static void resolve_take_model(void *arg, const struct model *model, const struct error *err)
{
    struct tree_resolution *resolution = arg;
    struct resolve_walk *walk = &resolution->walk;
    resolution->call = NULL;
    if (err) {
        walk->why = *err;
        resolve_enter(walk, NULL);
    } else {
        resolve_enter_described(walk, model);
    }
    resolve_proceed(resolution);
}

/* An item that is older than its ttl is not followed. */
static void resolve_take_record(void *arg, struct record *record, const struct tree_found *found,
                                int64_t ttl_left_ms, const struct error *err)
{
    struct tree_resolution *resolution = arg;
    struct resolve_walk *walk = &resolution->walk;
    (void)found, (void)ttl_left_ms;
    resolution->fetch = NULL;
    if (err) {
        walk->why = *err;
        resolve_enter(walk, NULL);
    } else {
        resolve_follow(walk, record_item(record));
    }
    resolve_proceed(resolution);
}

static struct tree_resolution *resolve_start(const struct tree *tree, const struct place *from,
                                             struct span path, bool through, tree_resolve_fn *done,
                                             void *arg)
{
    struct tree_resolution *resolution = calloc(1, sizeof *resolution);
    if (!resolution)
        return NULL;
    resolution->done = done;
    resolution->arg = arg;
    resolution->path = malloc(path.size + 1);
    if (resolution->path) {
        memcpy(resolution->path, path.size ? path.data : "", path.size);
        resolve_begin(&resolution->walk, tree, from, span_of(resolution->path, path.size), through);
        if (!resolve_request(resolution))
            resolution->timer = loop_add_timer(tree->loop, 0, resolve_report, resolution);
    }
    if (resolution->call || resolution->fetch || resolution->timer)
        return resolution;
    tree_resolve_cancel(resolution);
    return NULL;
}

struct tree_resolution *tree_resolve(const struct tree *tree, const struct place *from,
                                     struct span path, tree_resolve_fn *done, void *arg)
{
    return resolve_start(tree, from, path, false, done, arg);
}

struct tree_resolution *tree_resolve_through(const struct tree *tree, const struct place *from,
                                             struct span path, tree_resolve_fn *done, void *arg)
{
    return resolve_start(tree, from, path, true, done, arg);
}

void tree_resolve_cancel(struct tree_resolution *resolution)
{
    if (!resolution)
        return;
    if (resolution->call)
        resolution->walk.tree->models->ops->cancel(resolution->call);
    fetch_cancel(resolution->fetch);
    loop_remove_timer(resolution->timer);
    place_destroy(resolution->walk.place);
    buf_clean_up(&resolution->walk.again);
    free(resolution->path);
    free(resolution);
}
