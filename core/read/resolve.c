#include "core/read/resolve.h"

#include <stdlib.h>

#include "core/read/fetch.h"
#include "core/read/links.h"
#include "core/read/model_provider.h"

/* WALKING ends in one of the others. From WAITING and READING the walk goes on when the model or
 * the record is there. */
enum state {
    WALKING,
    WAITING, /* for a model */
    READING, /* a record, whose link is to be followed */
    ARRIVED,
    FAILED,
};

/* The way along a path: where it is, and what is left. */
struct resolve_walk {
    const struct tree *tree;
    struct place *place; /* owned; NULL once FAILED */
    struct buf again;    /* owned: the way that led to where the walk set out, if it is gone anew */
    struct span behind;  /* what is left of it */
    struct span left;    /* of the path; borrowed */
    bool slash;          /* a directory is wanted */
    bool through;        /* what a link at the end leads to is wanted */
    unsigned links;      /* followed so far */
    enum state state;
    struct error why; /* of FAILED */
};

struct tree_resolution {
    struct resolve_walk walk;
    char *path;               /* owned: what the walk's spans are of */
    struct models_call *call; /* while WAITING */
    struct fetch *fetch;      /* while READING */
    struct loop_timer *timer; /* once the walk has ended without waiting: to tell it later */
    tree_resolve_fn *done;
    void *arg;
};

/* Moves on to CHILD (taken); NULL ends the walk, whose reason is filled in. */
static void resolve_go_to(struct resolve_walk *walk, struct place *child)
{
    place_destroy(walk->place);
    walk->place = child;
    walk->state = child ? WALKING : FAILED;
}

/* Takes in what the service says of the table that the walk has come to, if that is known. */
static void resolve_describe(struct resolve_walk *walk)
{
    struct model_provider *models = walk->tree->models;
    const struct model *model =
        models->ops->known(models, walk->place, span_text(walk->place->table_name), NULL);
    if (!model) {
        walk->state = WAITING;
        return;
    }
    error_no_memory(&walk->why); /* unless there is a place */
    resolve_go_to(walk, place_table(walk->place, model));
}

/* From a link on to what it leads to, as ITEM, which is absent where the path tells, has it. */
static void resolve_follow(struct resolve_walk *walk, struct json item)
{
    struct place *from = walk->place;
    struct place *to = links_follow(from, from->link, item, &walk->tree->names, NULL, &walk->why);
    if (to)
        to->way = from->way;
    if (to && json_present(item))
        place_add_way(to, from);
    resolve_go_to(walk, to);
}

static bool resolve_has_more(const struct resolve_walk *walk)
{
    struct span behind = walk->behind, left = walk->left, name;
    return place_next_segment(&behind, &name) || place_next_segment(&left, &name);
}

/* Whether the link at which the walk is, is not where it ends. */
static bool resolve_leads_on(const struct resolve_walk *walk)
{
    return walk->place->kind == PLACE_LINK &&
           (walk->through || walk->slash || resolve_has_more(walk));
}

static void resolve_pass_link(struct resolve_walk *walk)
{
    struct json no_item = {0};
    if (++walk->links > RESOLVE_MAX_LINKS) {
        error_set(&walk->why, ERROR_LOOP, "more than %d links on the way", RESOLVE_MAX_LINKS);
        resolve_go_to(walk, NULL);
    } else if (!fetch_is_needed(walk->place)) {
        resolve_follow(walk, no_item);
    } else {
        walk->state = READING;
    }
}

/* Goes as far as it is known. */
static void resolve_continue(struct resolve_walk *walk)
{
    const struct tree *tree = walk->tree;
    struct span name;
    while (walk->state == WALKING) {
        if (tree->models && walk->place->kind == PLACE_TABLE)
            resolve_describe(walk);
        else if (resolve_leads_on(walk))
            resolve_pass_link(walk);
        else if (place_next_segment(&walk->behind, &name) || place_next_segment(&walk->left, &name))
            resolve_go_to(walk, place_child(walk->place, name, &tree->names, &walk->why));
        else
            walk->state = ARRIVED;
    }
    if (walk->state == ARRIVED && walk->slash && !place_suits_slash(walk->place, &walk->why))
        resolve_go_to(walk, NULL);
}

static void resolve_set_out(struct resolve_walk *walk, const struct tree *tree,
                            const struct place *from, struct span path, bool through)
{
    *walk = (struct resolve_walk){.tree = tree,
                                  .left = path,
                                  .slash = span_ends(path, SPAN_LITERAL("/")),
                                  .through = through};
    error_no_memory(&walk->why); /* unless there is a place */
    if (!from) {
        resolve_go_to(walk, place_root(tree->map));
    } else if (tree_is_current(tree, from)) {
        resolve_go_to(walk, place_copy(from));
    } else {
        buf_add_span(&walk->again, from->below);
        walk->behind = buf_span(&walk->again);
        resolve_go_to(walk, walk->again.failed ? NULL : place_undescribed(from));
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

bool tree_resolve_now(const struct tree *tree, const struct place *from, struct span path,
                      struct place **place, struct error *err)
{
    struct resolve_walk walk;
    resolve_set_out(&walk, tree, from, path, false);
    buf_clean_up(&walk.again);
    if (walk.state == WAITING || walk.state == READING) {
        place_destroy(walk.place);
        return false;
    }
    *place = walk.place;
    if (walk.state == FAILED)
        *err = walk.why;
    return true;
}

/* The result, and the end. */
static void resolve_report(void *arg)
{
    struct tree_resolution resolution = *(struct tree_resolution *)arg;
    buf_clean_up(&resolution.walk.again);
    free(resolution.path);
    free(arg);
    resolution.done(resolution.arg, resolution.walk.place,
                    resolution.walk.state == FAILED ? &resolution.walk.why : NULL);
}

static void resolve_take_model(void *arg, const struct model *model, const struct error *err);
static void resolve_take_record(void *arg, struct record *record, double found_units,
                                int64_t ttl_left_ms, const struct error *err);

/* Asks for what the walk waits for. False when it ended without. */
static bool resolve_request(struct tree_resolution *resolution)
{
    struct resolve_walk *walk = &resolution->walk;
    struct model_provider *models = walk->tree->models;
    if (walk->state == WAITING)
        resolution->call =
            models->ops->find(models, walk->place, span_text(walk->place->table_name),
                              walk->tree->payer, resolve_take_model, resolution);
    else if (walk->state == READING)
        resolution->fetch = fetch_start(walk->tree, walk->place, resolve_take_record, resolution);
    else
        return false;
    if (resolution->call || resolution->fetch)
        return true;
    error_no_memory(&walk->why);
    resolve_go_to(walk, NULL);
    return false;
}

static void resolve_take_model(void *arg, const struct model *model, const struct error *err)
{
    struct tree_resolution *resolution = arg;
    struct resolve_walk *walk = &resolution->walk;
    resolution->call = NULL;
    if (err)
        walk->why = *err;
    else
        error_no_memory(&walk->why); /* unless there is a place */
    resolve_go_to(walk, err ? NULL : place_table(walk->place, model));
    resolve_continue(walk);
    if (!resolve_request(resolution))
        resolve_report(resolution);
}

/* A record that is too old is none by which to go on. */
static void resolve_take_record(void *arg, struct record *record, double found_units,
                                int64_t ttl_left_ms, const struct error *err)
{
    struct tree_resolution *resolution = arg;
    struct resolve_walk *walk = &resolution->walk;
    (void)found_units, (void)ttl_left_ms;
    resolution->fetch = NULL;
    if (err) {
        walk->why = *err;
        resolve_go_to(walk, NULL);
    } else {
        resolve_follow(walk, record_item(record));
    }
    resolve_continue(walk);
    if (!resolve_request(resolution))
        resolve_report(resolution);
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
        resolve_set_out(&resolution->walk, tree, from, span_of(resolution->path, path.size),
                        through);
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
