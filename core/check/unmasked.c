#include "core/check/unmasked.h"

#include "core/item/secret_clues.h"
#include "core/item/typed.h"

static bool unmasked_is_index_key(const struct model *table, const char *name)
{
    for (const struct map_index *index = table->indexes; index; index = index->next) {
        for (size_t i = 0; i < index->partition_count; i++)
            if (strcmp(index->partition[i].attribute, name) == 0)
                return true;
        for (size_t i = 0; i < index->sort_count; i++)
            if (strcmp(index->sort[i].attribute, name) == 0)
                return true;
    }
    return false;
}

/* Whether the name or the value looks like a secret. A number, a truth and a null are none. */
static const char *unmasked_secret_clue(struct span name, struct json value, struct arena *arena)
{
    struct typed typed = typed_open(value);
    struct span text;
    if (typed.tag == TYPED_N || typed.tag == TYPED_NS || typed.tag == TYPED_BOOL ||
        typed.tag == TYPED_NULL)
        return NULL;
    if (secret_clue_in_name(name))
        return "name";
    return typed.tag == TYPED_S && typed_text(typed.content, arena, &text) &&
                   secret_clue_in_value(text)
               ? "value"
               : NULL;
}

/* Paths spell keys, so that masking them would hide nothing. */
bool unmasked_find(const struct model *table, const char *whose, struct json item,
                   struct mistakes *warnings)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct typed_members members;
    if (!typed_members(item, &arena, &members))
        return !arena.failed;
    for (size_t i = 0; i < members.count; i++) {
        const char *name = arena_text(&arena, members.list[i].name);
        if (!name || model_is_secret(table, members.list[i].name) || model_is_key(table, name) ||
            unmasked_is_index_key(table, name))
            continue;
        const char *clue =
            unmasked_secret_clue(members.list[i].name, members.list[i].value, &arena);
        if (clue)
            mistakes_add(warnings, table->line, name,
                         "%s of %s looks like a secret by its %s and is not masked; add it to "
                         "\"secret\" if it is one",
                         name, whose, clue);
    }
    return !arena.failed;
}
