#include "core/tree/resolve.h"

#include <stdlib.h>

#include "core/tree/models.h"
#include "core/tree/noise.h"

/* WALKING ends in one of the other three. From WAITING the walk goes on when the model is there. */
enum state {
    WALKING,
    WAITING, /* for a model */
    ARRIVED,
    FAILED,
};

/* The way along a path: where it is, and what is left. */
struct walk {
    const struct tree *tree;
    struct place *place;   /* owned; NULL once FAILED */
    struct span left;      /* borrowed */
    struct span waits_for; /* while WAITING: the table's name */
    bool slash;            /* a directory is wanted */
    enum state state;
    struct error why; /* of FAILED */
};

struct tree_resolution {
    struct walk walk;
    char *path;               /* owned: what the walk's spans are of */
    struct models_call *call; /* while WAITING */
    struct loop_timer *timer; /* once the walk has ended without waiting: to tell it later */
    tree_resolve_fn *done;
    void *arg;
};

/* Moves on to CHILD (taken); NULL ends the walk, whose reason is filled in. */
static void go_to(struct walk *walk, struct place *child)
{
    place_destroy(walk->place);
    walk->place = child;
    walk->state = child ? WALKING : FAILED;
}

/* Goes as far as it is known. */
static void go_on(struct walk *walk)
{
    const struct tree *tree = walk->tree;
    struct span name;
    while (walk->state == WALKING && place_next_segment(&walk->left, &name)) {
        bool asks = tree->models && walk->place->kind == PLACE_ENVIRONMENT && !noise_is(name) &&
                    !map_find_model(walk->place->map, name);
        if (asks) {
            walk->waits_for = name;
            walk->state = WAITING;
        } else {
            go_to(walk, place_child(walk->place, name, &tree->names, &walk->why));
        }
    }
    if (walk->state != WALKING)
        return;
    walk->state = ARRIVED;
    if (walk->slash && !place_is_directory(walk->place)) {
        error_set(&walk->why, ERROR_NOT_DIRECTORY, "a record is a file; take the final / away");
        go_to(walk, NULL);
    }
}

static void set_out(struct walk *walk, const struct tree *tree, const struct place *from,
                    struct span path)
{
    *walk = (struct walk){.tree = tree, .left = path, .slash = span_ends(path, SPAN_LITERAL("/"))};
    go_to(walk, from ? place_copy(from) : place_root(tree->map));
    if (walk->state == FAILED)
        error_no_memory(&walk->why);
    go_on(walk);
}

bool tree_resolve_now(const struct tree *tree, const struct place *from, struct span path,
                      struct place **place, struct error *err)
{
    struct walk walk;
    set_out(&walk, tree, from, path);
    if (walk.state == WAITING) {
        place_destroy(walk.place);
        return false;
    }
    *place = walk.place;
    if (walk.state == FAILED)
        *err = walk.why;
    return true;
}

/* The result, and the end. */
static void tell(void *arg)
{
    struct tree_resolution resolution = *(struct tree_resolution *)arg;
    free(resolution.path);
    free(arg);
    resolution.done(resolution.arg, resolution.walk.place,
                    resolution.walk.state == FAILED ? &resolution.walk.why : NULL);
}

static void take_model(void *arg, const struct model *model, const struct error *err);

/* Asks for the model that the walk waits for. False when it ended without one. */
static bool ask(struct tree_resolution *resolution)
{
    struct walk *walk = &resolution->walk;
    if (walk->state != WAITING)
        return false;
    struct models *models = walk->tree->models;
    resolution->call =
        models->ops->find(models, walk->place, walk->waits_for, take_model, resolution);
    if (resolution->call)
        return true;
    error_no_memory(&walk->why);
    go_to(walk, NULL);
    return false;
}

static void take_model(void *arg, const struct model *model, const struct error *err)
{
    struct tree_resolution *resolution = arg;
    struct walk *walk = &resolution->walk;
    resolution->call = NULL;
    if (err)
        walk->why = *err;
    else
        error_no_memory(&walk->why); /* unless there is a place */
    go_to(walk, err ? NULL : place_table(walk->place, model));
    go_on(walk);
    if (!ask(resolution))
        tell(resolution);
}

struct tree_resolution *tree_resolve(const struct tree *tree, const struct place *from,
                                     struct span path, tree_resolve_fn *done, void *arg)
{
    struct tree_resolution *resolution = calloc(1, sizeof *resolution);
    if (!resolution)
        return NULL;
    resolution->done = done;
    resolution->arg = arg;
    resolution->path = malloc(path.size + 1);
    if (resolution->path) {
        memcpy(resolution->path, path.size ? path.data : "", path.size);
        set_out(&resolution->walk, tree, from, span_of(resolution->path, path.size));
        if (!ask(resolution))
            resolution->timer = loop_add_timer(tree->loop, 0, tell, resolution);
    }
    if (resolution->call || resolution->timer)
        return resolution;
    tree_resolve_cancel(resolution);
    return NULL;
}

void tree_resolve_cancel(struct tree_resolution *resolution)
{
    if (!resolution)
        return;
    if (resolution->call)
        resolution->walk.tree->models->ops->cancel(resolution->call);
    loop_remove_timer(resolution->timer);
    place_destroy(resolution->walk.place);
    free(resolution->path);
    free(resolution);
}
