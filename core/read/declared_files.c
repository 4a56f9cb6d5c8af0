#include "core/read/declared_files.h"

#include <stdlib.h>

#include "core/read/file.h"

/* One file that is read to see whether it is there. */
struct opening {
    struct declared_files *all;
    const struct file_proof *proof;
    struct tree_call *call;
};

static void declared_files_take_opened(void *arg, const struct tree_file *file,
                                       const struct error *err)
{
    struct opening *opening = arg;
    struct declared_files *all = opening->all;
    opening->call = NULL;
    all->fn(all->arg, opening->proof->name, file, err);
    if (--all->under_way == 0)
        all->done(all->arg);
}

/* For how long an item that the listing brought on an earlier page is still good. */
static int64_t declared_files_ttl_left_ms(const struct tree *tree, const struct file_proof *proof)
{
    int64_t age_ms = loop_now_ms(tree->loop) - record_origin(proof->pick.best)->fetched_ms;
    int64_t ttl_ms = proof->plan->pattern->ttl_ms;
    return age_ms < ttl_ms ? ttl_ms - age_ms : 0;
}

/* What the listing's items have told of a covered file. */
static void declared_files_judge_covered(struct declared_files *openings, const struct tree *tree,
                                         struct file_proof *proof)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct tree_file file;
    struct error why = proof->failed;
    const struct plan *plan = proof->plan;
    bool there = why.kind == ERROR_NONE && proof->pick.best &&
                 (plan->kind != PLAN_KEY ||
                  plan_holds(plan, &plan->key, record_item(proof->pick.best), &why)) &&
                 file_make(tree, proof->place, proof->pick.best, 0, NULL, &bytes, &file, &why);
    if (there)
        file.ttl_left_ms = declared_files_ttl_left_ms(tree, proof);
    if (there || why.kind != ERROR_NONE)
        openings->fn(openings->arg, proof->name, there ? &file : NULL, &why);
}

bool declared_files_start(struct declared_files *openings, struct proofs *proofs,
                          const struct tree *tree, declared_files_file_fn *fn,
                          declared_files_done_fn *done, void *arg, struct error *err)
{
    *openings = (struct declared_files){.count = proofs->count, .fn = fn, .done = done, .arg = arg};
    openings->items = calloc(proofs->count, sizeof *openings->items);
    if (!openings->items)
        return error_no_memory(err);
    for (size_t i = 0; i < proofs->count; i++) {
        struct file_proof *proof = &proofs->items[i];
        struct opening *opening = &openings->items[i];
        *opening = (struct opening){openings, proof, NULL};
        if (proof->covered) {
            declared_files_judge_covered(openings, tree, proof);
            continue;
        }
        opening->call = tree_read(tree, proof->place, declared_files_take_opened, opening);
        if (!opening->call)
            return error_no_memory(err);
        openings->under_way++;
    }
    if (openings->under_way == 0)
        done(arg);
    return true;
}

void declared_files_clean_up(struct declared_files *openings)
{
    for (size_t i = 0; openings->items && i < openings->count; i++)
        tree_cancel(openings->items[i].call);
    free(openings->items);
    *openings = (struct declared_files){0};
}
