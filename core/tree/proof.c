#include "core/tree/proof.h"

#include <stdlib.h>

#include "core/tree/file.h"

/* One file that is read to see whether it is there. */
struct opening {
    struct proofs *proofs;
    struct proof *proof;
    struct tree_call *call;
};

static void proof_clean_up(struct proof *proof)
{
    finder_clean_up(&proof->finder);
    plan_unref(proof->plan);
    place_destroy(proof->place);
}

void proofs_clean_up(struct proofs *proofs)
{
    for (size_t i = 0; proofs->opening && i < proofs->count; i++)
        tree_cancel(proofs->opening[i].call);
    free(proofs->opening);
    for (size_t i = 0; i < proofs->count; i++)
        proof_clean_up(&proofs->items[i]);
    free(proofs->items);
    arena_clean_up(&proofs->arena);
    *proofs = (struct proofs){0};
}

/* False with ERR filled when memory ran out; PROOF may stay empty for a file that can't be there.
 */
static bool proof_init(struct proof *proof, const struct place *place, struct span name,
                       const struct place_options *names, const struct plan *list,
                       struct error *err)
{
    *proof = (struct proof){.name = name};
    proof->place = place_child(place, name, names, err);
    if (proof->place && place_is_read(proof->place) && !place_is_directory(proof->place))
        proof->plan = place_plan(proof->place, err);
    if (!proof->plan) {
        place_destroy(proof->place);
        proof->place = NULL;
        return err->kind != ERROR_NO_MEMORY;
    }
    proof->covered = list && plan_covers(list, proof->plan);
    proof->finder.plan = proof->plan;
    proof->finder.backwards = proof->covered && proof->plan->query &&
                              proof->plan->query->descending != list->query->descending;
    return true;
}

bool proofs_init(struct proofs *proofs, const struct place *place,
                 const struct place_options *names, const struct plan *list, struct error *err)
{
    CLEAN_UP(entries_clean_up) struct entries files = {0};
    *proofs = (struct proofs){0};
    entries_add_files(&files, place, names);
    if (files.why.kind != ERROR_NONE) {
        *err = files.why;
        return false;
    }
    proofs->items = calloc(files.count + 1, sizeof *proofs->items);
    if (files.failed || !proofs->items)
        return error_no_memory(err);
    for (size_t i = 0; i < files.count; i++) {
        struct error why = {0};
        struct proof *proof = &proofs->items[proofs->count];
        struct span name = arena_copy(&proofs->arena, files.items[i].name);
        if (proofs->arena.failed || !proof_init(proof, place, name, names, list, &why))
            return error_no_memory(err);
        proofs->count += proof->plan != NULL;
    }
    return true;
}

void proofs_consider(struct proofs *proofs, const struct key *key, struct json item,
                     const struct record_origin *origin)
{
    for (size_t i = 0; i < proofs->count; i++) {
        struct proof *proof = &proofs->items[i];
        bool failed = false;
        if (!proof->covered || proof->failed.kind != ERROR_NONE || finder_is_done(&proof->finder))
            continue;
        bool admitted = plan_admits(proof->plan, key, item, &failed);
        if (failed)
            error_no_memory(&proof->failed);
        else if (admitted)
            finder_consider(&proof->finder, item, origin, &proof->failed);
    }
}

static void take_opened(void *arg, const struct tree_file *file, const struct error *err)
{
    struct opening *opening = arg;
    struct proofs *proofs = opening->proofs;
    opening->call = NULL;
    proofs->fn(proofs->arg, opening->proof->name, file, err);
    if (--proofs->under_way == 0)
        proofs->done(proofs->arg);
}

/* What the listing's items have told of a covered file. */
static void judge_covered(struct proofs *proofs, const struct tree *tree, struct proof *proof)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct tree_file file;
    struct error why = proof->failed;
    const struct plan *plan = proof->plan;
    bool there = why.kind == ERROR_NONE && proof->finder.best &&
                 (plan->kind != PLAN_KEY ||
                  plan_holds(plan, &plan->key, record_item(proof->finder.best), &why)) &&
                 file_make(tree, proof->place, proof->finder.best, 0, &bytes, &file, &why);
    if (there || why.kind != ERROR_NONE)
        proofs->fn(proofs->arg, proof->name, there ? &file : NULL, &why);
}

bool proofs_open(struct proofs *proofs, const struct tree *tree, proofs_file_fn *fn,
                 proofs_done_fn *done, void *arg, struct error *err)
{
    proofs->fn = fn;
    proofs->done = done;
    proofs->arg = arg;
    proofs->opening = calloc(proofs->count, sizeof *proofs->opening);
    if (!proofs->opening)
        return error_no_memory(err);
    for (size_t i = 0; i < proofs->count; i++) {
        struct opening *opening = &proofs->opening[i];
        *opening = (struct opening){proofs, &proofs->items[i], NULL};
        if (proofs->items[i].covered) {
            judge_covered(proofs, tree, &proofs->items[i]);
            continue;
        }
        opening->call = tree_read(tree, proofs->items[i].place, take_opened, opening);
        if (!opening->call)
            return error_no_memory(err);
        proofs->under_way++;
    }
    if (proofs->under_way == 0)
        done(arg);
    return true;
}

void proofs_add_cost(const struct proofs *proofs, struct cost *cost)
{
    for (size_t i = 0; i < proofs->count; i++)
        if (!proofs->items[i].covered)
            cost_add(cost, &proofs->items[i].plan->cost);
}
