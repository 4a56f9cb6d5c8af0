/* A provider of models for tests. */
#include "tests/unit/slow_models.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/map/compile.h"

struct models_call {
    struct slow_models *slow;
    struct loop_timer *timer;
    model_provider_fn *fn;
    void *arg;
};

static void arrive(void *arg)
{
    struct models_call call = *(struct models_call *)arg;
    struct error none;
    free(arg);
    call.slow->is_known = call.slow->model;
    error_set(&none, ERROR_NOT_FOUND, "no such table");
    call.fn(call.arg, call.slow->model, call.slow->model ? NULL : &none);
}

static const struct model *known(struct model_provider *models, const struct place *place,
                                 struct span name, int64_t *ttl_left_ms)
{
    struct slow_models *slow = (struct slow_models *)models;
    (void)place;
    if (!slow->is_known || !span_is(name, slow->name))
        return NULL;
    if (ttl_left_ms)
        *ttl_left_ms = 30000;
    return slow->model;
}

static struct models_call *find(struct model_provider *models, const struct place *place,
                                struct span name, struct payer *payer, model_provider_fn *fn,
                                void *arg)
{
    struct slow_models *slow = (struct slow_models *)models;
    struct models_call *call = calloc(1, sizeof *call);
    (void)payer;
    if (!call || place->kind != PLACE_TABLE)
        abort();
    slow->asked++;
    snprintf(slow->name, sizeof slow->name, "%.*s", (int)name.size, name.data);
    *call = (struct models_call){slow, loop_add_timer(slow->loop, 1000, arrive, call), fn, arg};
    return call;
}

static void cancel(struct models_call *call)
{
    call->slow->cancelled++;
    loop_remove_timer(call->timer);
    free(call);
}

static bool describe(struct model_provider *models, const struct place *place,
                     struct model_provider_description *out)
{
    (void)models, (void)place, (void)out;
    return false;
}

static const struct model_provider_ops slow_ops = {known, find, cancel, describe};

void slow_models_init(struct slow_models *slow, struct loop *loop, const struct model *model)
{
    *slow = (struct slow_models){.models = {&slow_ops}, .loop = loop, .model = model};
}

const struct model *slow_models_extra(void)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct format_piece part = {.param = "id"};
    struct declared_record record = {.name = "item", .key_count = 1};
    record.keys[0] = (struct declared_key){.attribute = "pk", .format = {&part, 1}};
    struct declared_path path = {.path = "items/{id}", .ttl_ms = -1};
    struct declared_table table = {
        .path_name = "Extra",
        .base_name = "Extra",
        .separator = '#',
        .records = &record,
        .paths = &path,
        .has_paths = true,
        .ttl_ms = MAP_TTL_MS,
    };
    return compile_table(&table, &findings);
}
