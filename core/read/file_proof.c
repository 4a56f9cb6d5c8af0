#include "core/read/file_proof.h"
#include "core/read/fetch.h"

#include <stdlib.h>

static void file_proof_clean_up(struct file_proof *proof)
{
    pick_clean_up(&proof->pick);
    place_destroy(proof->place);
}

void proofs_clean_up(struct proofs *proofs)
{
    for (size_t i = 0; i < proofs->count; i++)
        file_proof_clean_up(&proofs->items[i]);
    free(proofs->items);
    arena_clean_up(&proofs->arena);
    *proofs = (struct proofs){0};
}

/* False with ERR filled when memory ran out; PROOF may stay empty for a file that can't be there.
 */
static bool file_proof_init(struct file_proof *proof, const struct place *place, struct span name,
                            const struct place_options *names, const struct plan *list,
                            struct error *err)
{
    *proof = (struct file_proof){.name = name};
    proof->place = place_child(place, name, names, err);
    if (proof->place && fetch_is_needed(proof->place) && !place_is_directory(proof->place))
        proof->plan = place_plan(proof->place, err);
    if (!proof->plan) {
        place_destroy(proof->place);
        proof->place = NULL;
        return err->kind != ERROR_NO_MEMORY;
    }
    proof->covered = list && plan_covers(list, proof->plan);
    proof->pick.plan = proof->plan;
    proof->pick.backwards = proof->covered && proof->plan->query &&
                            proof->plan->query->descending != list->query->descending;
    return true;
}

bool proofs_init(struct proofs *proofs, const struct place *place,
                 const struct place_options *names, const struct plan *list, struct error *err)
{
    CLEAN_UP(entries_clean_up) struct entries files = {0};
    struct place directory = *place; /* borrows all that PLACE owns */
    *proofs = (struct proofs){0};
    if (place->kind == PLACE_LIST_INFO)
        directory.kind = PLACE_DIRECTORY;
    place = &directory;
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
        struct file_proof *proof = &proofs->items[proofs->count];
        struct span name = arena_copy(&proofs->arena, files.items[i].name);
        if (proofs->arena.failed || !file_proof_init(proof, place, name, names, list, &why))
            return error_no_memory(err);
        proofs->count += proof->plan != NULL;
    }
    return true;
}

void proofs_consider(struct proofs *proofs, const struct key *key, struct json item,
                     const struct record_origin *origin)
{
    for (size_t i = 0; i < proofs->count; i++) {
        struct file_proof *proof = &proofs->items[i];
        bool failed = false;
        if (!proof->covered || proof->failed.kind != ERROR_NONE || pick_is_done(&proof->pick))
            continue;
        bool admitted = plan_admits(proof->plan, key, item, &failed);
        if (failed)
            error_no_memory(&proof->failed);
        else if (admitted)
            pick_consider(&proof->pick, item, origin, &proof->failed);
    }
}

bool file_proof_is_record(const struct file_proof *proof)
{
    const struct plan *plan = proof->plan;
    return plan->kind == PLAN_KEY && !plan->pattern->attribute &&
           (plan->pattern->filter_count == 0 || proof->covered);
}

void proofs_add_cost(const struct proofs *proofs, struct cost *cost)
{
    for (size_t i = 0; i < proofs->count; i++)
        if (!proofs->items[i].covered)
            cost_add(cost, &proofs->items[i].plan->cost);
}
