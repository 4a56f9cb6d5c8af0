#include "core/draft/inferred_params.h"

#include <stdlib.h>

#include "core/draft/attribute_clues.h"
#include "core/draft/inferred_parts.h"
#include "core/item/secret_clues.h"

enum { MOST_VALUES = 10, LEAST_FOR_VALUES = 10 };

struct values {
    struct span known[MOST_VALUES];
    size_t count;
    size_t records;
    bool few; /* so far */
};

static void inferred_params_add_value(struct values *values, struct span value)
{
    values->records++;
    for (size_t i = 0; i < values->count; i++)
        if (span_equal(values->known[i], value))
            return;
    values->few = values->few && values->count < MOST_VALUES && clue_is_word(value);
    if (values->few)
        values->known[values->count++] = value;
}

static int inferred_params_by_text(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

/* Few words over many records are the values that are known; that there are no others no sample
 * shows. */
static bool inferred_params_infer_param(struct inferring *inferring, const char *name)
{
    struct values values = {.few = !secret_clue_in_name(span_text(name))};
    for (const struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        const struct inferred_part *part = inferred_parts_find(kind, name);
        for (size_t i = 0; part && i < kind->count; i++)
            if (part->values[i].data)
                inferred_params_add_value(&values, part->values[i]);
    }
    if (!values.few || values.count < 2 || values.records < LEAST_FOR_VALUES ||
        values.records < 3 * values.count)
        return true;
    qsort(values.known, values.count, sizeof values.known[0], inferred_params_by_text);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    struct declared_param *param = arena_alloc(inferring->arena, sizeof *param);
    if (!param)
        return false;
    *param = (struct declared_param){.name = name, .next = inferring->table->params};
    param->values = arena_array(inferring->arena, values.count, sizeof *param->values);
    for (size_t i = 0; param->values && i < values.count; i++)
        param->values[param->value_count++] = arena_text(inferring->arena, values.known[i]);
    buf_printf(&note, "Those of %zu sampled records; there may be others.", values.records);
    param->note = inference_text(inferring, &note);
    inferring->table->params = param;
    return !inferring->arena->failed;
}

static bool inferred_params_is_param(const struct declared_table *table, const char *name)
{
    for (const struct declared_param *param = table->params; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return true;
    return false;
}

bool inferred_params_find(struct inferring *inferring)
{
    for (const struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next)
        for (const struct inferred_part *part = kind->parts; part; part = part->next)
            if (!inferred_params_is_param(inferring->table, part->name) &&
                !inferred_params_infer_param(inferring, part->name))
                return false;
    return true;
}
