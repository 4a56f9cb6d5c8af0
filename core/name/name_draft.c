#include "core/name/name_draft.h"

#include <stdint.h>

#include "core/base/printable.h"

static const struct span *name_draft_value_of(const struct name_draft *draft, const char *param)
{
    const struct span *value = bindings_find(draft->parts, param);
    return value || !draft->path ? value : bindings_find(draft->path, param);
}

/* The first character of the text after piece I, which the value before it must escape. The last
 * value needs no such escape: it ends where the final text begins. */
static struct span name_draft_stop_after(const struct format *format, size_t i)
{
    bool safe;
    if (i + 2 >= format->count)
        return span_of("", 0);
    return printable_first(format->pieces[i + 1].literal, &safe);
}

/* Replaces OUT by the whole name. False if a value is missing or memory ran out. */
static bool name_draft_write_whole(const struct name_draft *draft, struct escape_extra *escapes,
                                   struct buf *out)
{
    buf_truncate(out, 0);
    buf_add_span(out, draft->prefix);
    escapes->seen = 0;
    for (size_t i = 0; i < draft->format->count; i++) {
        const struct format_piece *piece = &draft->format->pieces[i];
        const struct span *value =
            piece->param ? name_draft_value_of(draft, piece->param) : &piece->literal;
        if (!value)
            return false;
        if (piece->param)
            escape_add_value(out, *value, name_draft_stop_after(draft->format, i), escapes);
        else
            buf_add_span(out, *value);
    }
    return !out->failed;
}

/* True if memory ran out, too, so that the caller tries no other name and reports that. */
static bool name_draft_leads_back(struct name_draft *draft, struct buf *name)
{
    size_t size = name->size;
    buf_add_text(name, draft->suffix);
    bool same = !name->failed && draft->leads_back(draft, buf_span(name));
    buf_truncate(name, size);
    return same || name->failed || draft->no_memory;
}

enum { MAX_CANDIDATES = 32 };

/* The characters of values worth an escape: the first, those that occur in siblings' texts and
 * companions' endings, and the last. Returns their number. */
static size_t name_draft_find_candidates(const struct name_draft *draft,
                                         size_t candidates[MAX_CANDIDATES + 1])
{
    size_t count = 0, seen = 0;
    for (size_t i = 0; i < draft->format->count; i++) {
        const char *param = draft->format->pieces[i].param;
        const struct span *value = param ? name_draft_value_of(draft, param) : NULL;
        for (struct span rest = value ? *value : span_of("", 0); rest.size > 0; seen++) {
            bool safe;
            struct span character = printable_first(rest, &safe);
            unsigned char c = (unsigned char)character.data[0];
            bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
            bool digit = c >= '0' && c <= '9';
            if (count < MAX_CANDIDATES && (seen == 0 || (c < 0x80 && !letter && !digit)))
                candidates[count++] = seen;
            rest = span_from(rest, character.size);
        }
    }
    if (count > 0 && candidates[count - 1] != seen - 1)
        candidates[count++] = seen - 1;
    return count;
}

/* Escapes more of a name that opens something else or nothing: one character, then the first and
 * another, at last all. */
static bool name_draft_escape_until_it_leads_back(struct name_draft *draft, struct buf *name)
{
    size_t candidates[MAX_CANDIDATES + 1];
    size_t count = name_draft_find_candidates(draft, candidates);
    for (int with_first = 0; with_first < 2; with_first++) {
        for (size_t i = 0; i < count; i++) {
            struct escape_extra escapes = {.one = candidates[i],
                                           .other = with_first ? 0 : SIZE_MAX};
            if (!name_draft_write_whole(draft, &escapes, name) ||
                name_draft_leads_back(draft, name))
                return true;
        }
    }
    struct escape_extra escapes = {.all = true};
    return name_draft_write_whole(draft, &escapes, name) && name_draft_leads_back(draft, name);
}

/* Shortens the part of NAME behind the prefix. */
static bool name_draft_shorten(const struct name_draft *draft, struct buf *name)
{
    CLEAN_UP(buf_clean_up) struct buf rest = {0};
    buf_add_span(&rest, span_from(buf_span(name), draft->prefix.size));
    if (rest.failed || !escape_shorten(&rest, draft->limit - draft->prefix.size, draft->mark))
        return false;
    buf_truncate(name, draft->prefix.size);
    buf_add_span(name, buf_span(&rest));
    return !name->failed;
}

bool name_draft_write(struct name_draft *draft, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct escape_extra none = {.one = SIZE_MAX, .other = SIZE_MAX};
    if (!name_draft_write_whole(draft, &none, &name))
        return name.failed ? error_no_memory(err)
                           : error_set(err, ERROR_INVALID, "a name lacks one of its parts");
    bool opens = name.size > draft->limit || name_draft_leads_back(draft, &name) ||
                 name_draft_escape_until_it_leads_back(draft, &name);
    if (name.failed || draft->no_memory)
        return error_no_memory(err);
    if (!opens) {
        name_draft_write_whole(draft, &none, &name);
        return error_set(err, ERROR_INVALID,
                         "\"%s%s\" can't be opened here: another path of the map, or the suffix, "
                         "takes each name of it; change the map, or --suffix",
                         buf_text(&name), draft->suffix);
    }
    if (name.size > draft->limit &&
        !(name_draft_write_whole(draft, &none, &name) && name_draft_shorten(draft, &name)))
        return error_no_memory(err);
    buf_add_span(out, buf_span(&name));
    buf_add_text(out, draft->suffix);
    return !out->failed || error_no_memory(err);
}

bool name_draft_has(const struct name_draft *draft, const struct bindings *values)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct span *given = name_draft_value_of(draft, values->items[i].param);
        if (!given || !span_equal(*given, values->items[i].value))
            return false;
    }
    return true;
}
