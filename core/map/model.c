#include "core/map/model.h"

#include <stdlib.h>

/* Models in this process, for tests and metrics. */
static size_t live_models;

struct model *model_new(void)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    live_models++;
    model->references = 1;
    model->self = model;
    return model;
}

size_t model_count(void)
{
    return live_models;
}

const struct model *model_ref(const struct model *model)
{
    if (model)
        model->self->references++;
    return model;
}

void model_unref(const struct model *model)
{
    struct model *mine = model ? model->self : NULL;
    if (!mine || --mine->references > 0)
        return;
    /* Only the C library's memory is outside of the arena. */
    for (struct map_param *param = mine->params; param; param = param->next)
        if (param->match)
            regfree(&param->regex);
    arena_discard(&mine->arena);
    free(mine);
    live_models--;
}

const struct map_kind *model_find_kind(const struct model *model, const char *name)
{
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const struct map_index *model_find_index(const struct model *model, const char *name)
{
    for (const struct map_index *index = model->indexes; index; index = index->next)
        if (strcmp(index->name, name) == 0)
            return index;
    return NULL;
}

const struct map_link *model_find_link(const struct model *model, struct span name)
{
    const struct map_link *link = model->links;
    while (link && !span_is(name, link->name))
        link = link->next;
    return link;
}

const struct map_vector *model_find_vector(const struct model *model, struct span name)
{
    const struct map_vector *each = model->vectors;
    while (each && !span_is(name, each->name))
        each = each->next;
    return each;
}

bool model_vector_is_ready(const struct map_vector *vector)
{
    return strcmp(vector->status, "ACTIVE") == 0 && !vector->is_backfilling;
}

const struct map_param *model_find_param(const struct model *model, const char *name)
{
    for (const struct map_param *param = model->params; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

enum map_presence model_presence(const struct model *model, const struct map_kind *kind,
                                 const char *name)
{
    const struct map_attribute *stated = kind ? model->attributes : NULL;
    while (stated && strcmp(stated->name, name) != 0)
        stated = stated->next;
    if (!kind || !stated)
        return kind ? MAP_UNSTATED : MAP_ABSENT;
    for (size_t i = 0; i < stated->kind_count; i++)
        if (stated->kinds[i] == kind)
            return MAP_PRESENT;
    return MAP_ABSENT;
}

const struct format_piece *model_spelling(const struct model *model, const char *param)
{
    for (size_t i = 0; i < model->spelled_count; i++)
        if (strcmp(model->spelled[i].param, param) == 0)
            return &model->spelled[i];
    return NULL;
}

bool model_read_part(const struct model *model, const char *param, struct span text,
                     struct buf *out)
{
    const struct format_piece *spelling = model_spelling(model, param);
    if (spelling)
        return format_read_part(spelling, text, out);
    buf_add_span(out, text);
    return true;
}

bool model_param_has(const struct map_param *param, struct span value)
{
    for (size_t i = 0; param->only && i < param->value_count; i++)
        if (span_equal(param->values[i], value))
            return true;
    return !param->only;
}

bool model_is_secret(const struct model *model, struct span attribute)
{
    for (size_t i = 0; i < model->secret_count; i++)
        if (span_is(attribute, model->secrets[i]))
            return true;
    return false;
}

bool model_is_key(const struct model *model, const char *attribute)
{
    for (size_t i = 0; i < model->key_count; i++)
        if (strcmp(model->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

const struct map_key *model_index_key(const struct map_index *index, size_t i)
{
    if (i < index->partition_count)
        return &index->partition[i];
    i -= index->partition_count;
    return i < index->sort_count ? &index->sort[i] : NULL;
}

bool model_is_index_key(const struct map_index *index, const char *attribute)
{
    const struct map_key *key;
    for (size_t i = 0; (key = model_index_key(index, i)); i++)
        if (strcmp(key->attribute, attribute) == 0)
            return true;
    return false;
}

const struct format *model_key_format(const struct model *model, const struct map_key *key,
                                      const struct map_kind *kind)
{
    for (size_t i = 0; i < model->key_count; i++)
        if (strcmp(model->keys[i].attribute, key->attribute) == 0)
            return &kind->keys[i];
    for (size_t i = 0; i < key->by_kind_count; i++)
        if (key->by_kind[i].kind == kind)
            return &key->by_kind[i].format;
    return key->by_kind_count ? NULL : &key->format;
}

bool model_index_holds(const struct model *model, const struct map_index *index,
                       const char *attribute)
{
    if (index->projects == PROJECTS_ALL || model_is_key(model, attribute) ||
        model_is_index_key(index, attribute))
        return true;
    for (size_t i = 0; i < index->include_count; i++)
        if (strcmp(index->includes[i], attribute) == 0)
            return true;
    return false;
}
