#include "core/name/name_candidates.h"

#include <stdint.h>

#include "core/base/printable.h"

static const struct span *candidates_value_of(const struct name_candidates *draft,
                                              const char *param)
{
    const struct span *value = bindings_find(draft->parts, param);
    return value || !draft->path ? value : bindings_find(draft->path, param);
}

/* The first character of the text after piece I, which a value before it may not show. The last
 * value ends where the final text begins, whatever it holds. */
static struct span candidates_stop_after(const struct format *format, size_t i)
{
    bool safe;
    if (i + 2 >= format->count)
        return span_of("", 0);
    return printable_first(format->pieces[i + 1].literal, &safe);
}

/* Writes the whole of it to OUT, which is emptied before. False when a value is missing, or memory
 * ran out. */
static bool candidates_write_whole(const struct name_candidates *draft,
                                   struct escape_extra *escapes, struct buf *out)
{
    buf_truncate(out, 0);
    buf_add_span(out, draft->prefix);
    escapes->seen = 0;
    for (size_t i = 0; i < draft->format->count; i++) {
        const struct format_piece *piece = &draft->format->pieces[i];
        const struct span *value =
            piece->param ? candidates_value_of(draft, piece->param) : &piece->literal;
        if (!value)
            return false;
        if (piece->param)
            escape_add_value(out, *value, candidates_stop_after(draft->format, i), escapes);
        else
            buf_add_span(out, *value);
    }
    return !out->failed;
}

/* Without memory to find out the answer is yes, so that nobody looks for another name: the draft is
 * given up. */
static bool candidates_leads_back(struct name_candidates *draft, struct buf *name)
{
    size_t size = name->size;
    buf_add_text(name, draft->suffix);
    bool same = !name->failed && draft->leads_back(draft, buf_span(name));
    buf_truncate(name, size);
    return same || name->failed || draft->no_memory;
}

enum { MAX_CANDIDATES = 32 };

/* The characters of values that are worth an escape: the first, those that siblings' texts and
 * companions' endings are made of, and the last. Returns how many. */
static size_t candidates_find_candidates(const struct name_candidates *draft,
                                         size_t candidates[MAX_CANDIDATES + 1])
{
    size_t count = 0, seen = 0;
    for (size_t i = 0; i < draft->format->count; i++) {
        const char *param = draft->format->pieces[i].param;
        const struct span *value = param ? candidates_value_of(draft, param) : NULL;
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

/* Something else has the name, or nobody takes it. One escape mostly helps, or the first
 * character's and one more; else all characters of all values are escaped. What ESCAPES says then
 * is what NAME was written by. */
static bool candidates_escape_until_it_leads_back(struct name_candidates *draft, struct buf *name)
{
    size_t candidates[MAX_CANDIDATES + 1];
    size_t count = candidates_find_candidates(draft, candidates);
    for (int with_first = 0; with_first < 2; with_first++) {
        for (size_t i = 0; i < count; i++) {
            struct escape_extra escapes = {.one = candidates[i],
                                           .other = with_first ? 0 : SIZE_MAX};
            if (!candidates_write_whole(draft, &escapes, name) ||
                candidates_leads_back(draft, name))
                return true;
        }
    }
    struct escape_extra escapes = {.all = true};
    return candidates_write_whole(draft, &escapes, name) && candidates_leads_back(draft, name);
}

/* Cuts what stands behind the prefix. */
static bool candidates_shorten(const struct name_candidates *draft, struct buf *name)
{
    CLEAN_UP(buf_clean_up) struct buf rest = {0};
    buf_add_span(&rest, span_from(buf_span(name), draft->prefix.size));
    if (rest.failed || !escape_shorten(&rest, draft->limit - draft->prefix.size, draft->mark))
        return false;
    buf_truncate(name, draft->prefix.size);
    buf_add_span(name, buf_span(&rest));
    return !name->failed;
}

bool name_candidates_write(struct name_candidates *draft, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct escape_extra none = {.one = SIZE_MAX, .other = SIZE_MAX};
    if (!candidates_write_whole(draft, &none, &name))
        return name.failed ? error_no_memory(err)
                           : error_set(err, ERROR_INVALID, "a name lacks one of its parts");
    bool opens = name.size > draft->limit || candidates_leads_back(draft, &name) ||
                 candidates_escape_until_it_leads_back(draft, &name);
    if (name.failed || draft->no_memory)
        return error_no_memory(err);
    if (!opens) {
        candidates_write_whole(draft, &none, &name);
        return error_set(err, ERROR_INVALID,
                         "no name here opens \"%s%s\", which another path of the map, or the "
                         "suffix, takes for something else",
                         buf_text(&name), draft->suffix);
    }
    if (name.size > draft->limit &&
        !(candidates_write_whole(draft, &none, &name) && candidates_shorten(draft, &name)))
        return error_no_memory(err);
    buf_add_span(out, buf_span(&name));
    buf_add_text(out, draft->suffix);
    return !out->failed || error_no_memory(err);
}

bool name_candidates_state(const struct name_candidates *draft, const struct bindings *values)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct span *given = candidates_value_of(draft, values->items[i].param);
        if (!given || !span_equal(*given, values->items[i].value))
            return false;
    }
    return true;
}
