#include "core/draft/infer.h"

#include <stdlib.h>

#include "core/draft/attribute_traits.h"
#include "core/draft/inferred_indexes.h"
#include "core/draft/inferred_kinds.h"
#include "core/draft/inferred_params.h"
#include "core/draft/inferred_records.h"

struct inference {
    const struct declared_table *described;
    struct arena arena; /* owns the specimens, which may hold secrets */
    struct sampled_item *specimens, **last;
    size_t looked_at, count;
    size_t bytes;
};

struct inference *inference_new(const struct declared_table *described)
{
    struct inference *inference = calloc(1, sizeof *inference);
    if (!inference)
        return NULL;
    inference->described = described;
    inference->last = &inference->specimens;
    return inference;
}

void inference_destroy(struct inference *inference)
{
    if (!inference)
        return;
    arena_clean_up(&inference->arena);
    free(inference);
}

size_t inference_count(const struct inference *inference)
{
    return inference->count;
}

bool inference_add(struct inference *inference, struct json item)
{
    size_t size = json_raw(item).size;
    inference->count++;
    if (inference->looked_at == INFER_MOST_RECORDS || inference->bytes + size > INFER_MOST_BYTES)
        return true;
    struct sampled_item *specimen = sampled_item_new(item, &inference->arena);
    if (!specimen)
        return !inference->arena.failed;
    *inference->last = specimen;
    inference->last = &specimen->next;
    inference->looked_at++;
    inference->bytes += size;
    return true;
}

static void infer_note_table(struct inferring *inferring)
{
    struct declared_table *table = inferring->table;
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note, "%s%s%s of ", table->note ? table->note : "", table->note ? " " : "",
               inferring->kinds ? "Key formats are those" : "No words were found in the keys");
    inference_add_sample(inferring, &note);
    if (inferring->all > inferring->count)
        buf_printf(&note, " (of %zu that were read)", inferring->all);
    buf_add_text(&note, inferring->kinds
                            ? "; look through them before others rely on them."
                            : ", such as USER in \"USER#1\": keys stay whole until their formats "
                              "are written here by hand.");
    attribute_traits_find(inferring->specimens, inferring->count, inferring->arena, table, &note);
    table->note = inference_text(inferring, &note);
}

static bool infer(struct inferring *inferring)
{
    if (!inferred_kinds_find(inferring) || !inferred_records_make(inferring) ||
        !inferred_indexes_make(inferring) || !inferred_params_find(inferring))
        return false;
    if (inferring->kinds) {
        inferring->table->separator = inferring->separator;
        inferring->table->paths = NULL;
    }
    infer_note_table(inferring);
    return !inferring->arena->failed;
}

struct declared_table *inference_end(struct inference *inference, struct arena *arena)
{
    struct inferring inferring = {
        .described = inference->described,
        .table = arena_alloc(arena, sizeof *inferring.table),
        .arena = arena,
        .count = inference->looked_at,
        .all = inference->count,
    };
    const struct sampled_item **specimens =
        arena_array(&inferring.work, inference->looked_at, sizeof(struct sampled_item *));
    size_t count = 0;
    bool ok = inferring.table && specimens;
    for (const struct sampled_item *each = inference->specimens; ok && each; each = each->next)
        specimens[count++] = each;
    inferring.specimens = specimens;
    if (ok)
        *inferring.table = *inference->described;
    ok = ok && (inference->looked_at == 0 || infer(&inferring));
    arena_clean_up(&inferring.work);
    return ok && !arena->failed ? inferring.table : NULL;
}
