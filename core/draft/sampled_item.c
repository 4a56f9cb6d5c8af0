#include "core/draft/sampled_item.h"
#include "core/draft/attribute_clues.h"
#include "core/item/secret_clues.h"

static bool sampled_item_read_value(struct json value, struct arena *arena,
                                    struct sampled_item_attribute *out)
{
    struct typed typed = typed_open(value);
    struct span text;
    out->tag = typed.tag;
    if (typed.tag != TYPED_S && typed.tag != TYPED_N)
        return typed.tag != TYPED_NONE;
    if (json_raw(typed.content).size > 6 * (size_t)SAMPLED_ITEM_LONGEST) {
        out->secret =
            secret_clue_in_value(span_from(span_of(json_raw(typed.content).data, 100), 1));
        return true;
    }
    if (!typed_text(typed.content, arena, &text))
        return false;
    out->secret = typed.tag == TYPED_S && secret_clue_in_value(text);
    if (text.size <= SAMPLED_ITEM_LONGEST)
        out->value = arena_copy(arena, text);
    return true;
}

struct sampled_item *sampled_item_new(struct json item, struct arena *arena)
{
    struct sampled_item *specimen = arena_alloc(arena, sizeof *specimen);
    struct typed_members members;
    if (!specimen || !typed_members(item, arena, &members))
        return NULL;
    specimen->attributes = arena_array(arena, members.count, sizeof *specimen->attributes);
    for (size_t i = 0; specimen->attributes && i < members.count; i++) {
        struct sampled_item_attribute *attribute = &specimen->attributes[specimen->count++];
        attribute->name = arena_copy(arena, members.list[i].name);
        if (!sampled_item_read_value(members.list[i].value, arena, attribute))
            return NULL;
    }
    return arena->failed ? NULL : specimen;
}

const struct sampled_item_attribute *sampled_item_find(const struct sampled_item *specimen,
                                                       struct span name)
{
    for (size_t i = 0; i < specimen->count; i++)
        if (span_equal(specimen->attributes[i].name, name))
            return &specimen->attributes[i];
    return NULL;
}

/* Attributes come by name. */
bool sampled_item_alike(const struct sampled_item *a, const struct sampled_item *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!span_equal(a->attributes[i].name, b->attributes[i].name) ||
            (clue_of_kind(a->attributes[i].name) == KIND_IS_NAMED &&
             !span_equal(a->attributes[i].value, b->attributes[i].value)))
            return false;
    return true;
}
