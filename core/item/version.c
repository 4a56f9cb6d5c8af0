/* An item's digest: SHA-256, cut short, over a form that has one spelling for each content. A
 * value is its tag and its bytes behind their size; a container its tag, its count and its
 * members, sorted unless it is a list. */
#include "core/item/version.h"

#include <endian.h>

#include "core/base/arena.h"
#include "core/base/crypto.h"
#include "core/item/typed.h"

struct speller {
    struct buf *out;
    struct arena arena;
};

static bool version_spell_value(struct speller *speller, struct json value);

/* No size passes 32 bits, because no text does. */
static void version_spell_size(struct speller *speller, size_t size)
{
    uint32_t little = htole32((uint32_t)size);
    buf_add(speller->out, &little, sizeof little);
}

static void version_spell_bytes(struct speller *speller, struct span bytes)
{
    version_spell_size(speller, bytes.size);
    buf_add_span(speller->out, bytes);
}

static bool version_spell_scalar(struct speller *speller, struct typed typed)
{
    struct span bytes;
    bool ok =
        (typed.tag == TYPED_B ? typed_bytes : typed_text)(typed.content, &speller->arena, &bytes);
    if (ok)
        version_spell_bytes(speller, bytes);
    return ok;
}

static bool version_spell_bool(struct speller *speller, struct json word)
{
    buf_add_char(speller->out, json_is(word, JSON_TRUE) ? 1 : 0);
    return true;
}

static bool version_spell_list(struct speller *speller, struct json list)
{
    version_spell_size(speller, json_count(list));
    for (struct json value = json_first(list); json_present(value); value = json_next(value))
        if (!version_spell_value(speller, value))
            return false;
    return true;
}

static bool version_spell_set(struct speller *speller, struct typed typed)
{
    struct typed_set set;
    if (!typed_set(typed, &speller->arena, &set))
        return false;
    version_spell_size(speller, set.count);
    for (size_t i = 0; i < set.count; i++)
        version_spell_bytes(speller, set.list[i]);
    return true;
}

static bool version_spell_map(struct speller *speller, struct json map)
{
    struct typed_members members;
    if (!typed_members(map, &speller->arena, &members))
        return false;
    version_spell_size(speller, members.count);
    for (size_t i = 0; i < members.count; i++) {
        version_spell_bytes(speller, members.list[i].name);
        if (!version_spell_value(speller, members.list[i].value))
            return false;
    }
    return true;
}

static bool version_spell_content(struct speller *speller, struct typed typed)
{
    switch (typed.tag) {
    case TYPED_S:
    case TYPED_N:
    case TYPED_B:
        return version_spell_scalar(speller, typed);
    case TYPED_BOOL:
        return version_spell_bool(speller, typed.content);
    case TYPED_NULL:
        return true;
    case TYPED_M:
        return version_spell_map(speller, typed.content);
    case TYPED_L:
        return version_spell_list(speller, typed.content);
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        return version_spell_set(speller, typed);
    case TYPED_NONE:
        break;
    }
    return false;
}

static bool version_spell_value(struct speller *speller, struct json value)
{
    struct typed typed = typed_open(value);
    buf_add_char(speller->out, (char)typed.tag);
    return version_spell_content(speller, typed);
}

bool item_version(struct json item, struct version *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf spelled = {0};
    struct speller speller = {.out = &spelled};
    uint8_t digest[DIGEST_SIZE];
    bool ok = buf_reserve(&spelled, json_raw(item).size) && version_spell_map(&speller, item);
    arena_clean_up(&speller.arena);
    if (!ok || spelled.failed || !digest_sha256(buf_span(&spelled), digest))
        return false;
    memcpy(out->bytes, digest, sizeof out->bytes);
    return true;
}
