#include "core/name/name_parts.h"

#include "core/base/escape.h"

void refusal_note(struct refusal *refusal, enum refusal_kind kind, const char *param)
{
    if (refusal->kind == REFUSED_NOT)
        *refusal = (struct refusal){.kind = kind, .param = param};
}

/* Whether VALUE is what the map expects of PARAM. */
static bool name_parts_suits(const struct model *table, const char *name, struct span value,
                             struct arena *arena)
{
    const struct map_param *param = model_find_param(table, name);
    if (!param || !param->match)
        return true;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, value);
    arena->failed = arena->failed || text.failed;
    if (text.failed || memchr(buf_text(&text), '\0', text.size))
        return false;
    int unlike = regexec(&param->regex, buf_text(&text), 0, NULL, 0);
    arena->failed = arena->failed || unlike == REG_ESPACE;
    return unlike == 0;
}

/* What a piece of a name stands for; false when it holds a % that is no escape. */
static bool name_parts_decode_piece(struct span *value, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf decoded = {0};
    if (!escape_decode(*value, &decoded))
        return false;
    arena->failed = arena->failed || decoded.failed;
    *value = arena_copy(arena, buf_span(&decoded));
    return true;
}

/* What is typed after "base64:" for bytes. None of it needs an escape, but a / does. */
static bool name_parts_decode_base64(struct span *value, struct arena *arena, const char **why)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, bytes = {0};
    if (!escape_decode(span_from(*value, sizeof NAME_BASE64 - 1), &text))
        return false;
    *why = base64_read_typed(buf_span(&text), &bytes);
    arena->failed = arena->failed || text.failed || bytes.failed;
    *value = arena_copy(arena, buf_span(&bytes));
    return !*why;
}

/* The part's own value, of which people may type another spelling: "00042" for 42, "Ann" for ann.
 */
static bool name_parts_read_spelling(const struct model *table, const char *param,
                                     struct span *value, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    if (!table || !model_spelling(table, param))
        return true;
    bool fits = model_read_part(table, param, *value, &plain);
    arena->failed = arena->failed || plain.failed;
    if (fits)
        *value = arena_copy(arena, buf_span(&plain));
    return fits;
}

/* VALUE, a piece of a name, becomes what it stands for. False with the refusal noted. */
static bool name_parts_read_piece(const struct model *table, const struct binding *piece,
                                  struct span *value, struct arena *arena, struct refusal *refusal)
{
    const char *why = NULL;
    bool escaped = memchr(value->data, '%', value->size);
    bool base64 = piece->type == VALUE_B && span_starts(*value, SPAN_LITERAL(NAME_BASE64));
    bool decoded = base64    ? name_parts_decode_base64(value, arena, &why)
                   : escaped ? name_parts_decode_piece(value, arena)
                             : true;
    if (!decoded) {
        refusal_note(refusal, why ? BAD_BASE64 : BAD_ESCAPE, piece->param);
        refusal->why = refusal->why ? refusal->why : why;
        return false;
    }
    if (name_parts_read_spelling(table, piece->param, value, arena))
        return true;
    refusal_note(refusal, NOT_PADDED, piece->param);
    return false;
}

enum taken name_take_apart(const struct format *format, struct span name,
                           const struct bindings *path, const struct model *table,
                           struct arena *arena, struct bindings *values, struct refusal *refusal)
{
    enum taken taken = TAKEN;
    struct bindings captures;
    captures.count = values->count = 0;
    if (!format_match(format, name, &captures))
        return NOT_ITS_FORM;
    for (size_t i = 0; i < captures.count; i++) {
        const struct binding *piece = &captures.items[i];
        const char *param = piece->param;
        struct span value = piece->value;
        if (!name_parts_read_piece(table, piece, &value, arena, refusal))
            return REFUSED;
        const struct span *said = bindings_find(path, param);
        if (!said)
            said = bindings_find(values, param);
        if (said && span_equal(*said, value))
            continue;
        if (said) {
            refusal_note(refusal, SAID_TWICE, param);
            return REFUSED;
        }
        if (path->count + values->count >= BINDINGS_MAX || !bindings_add(values, param, value)) {
            refusal_note(refusal, TOO_MANY, param);
            return REFUSED;
        }
        if (table && !name_parts_suits(table, param, value, arena)) {
            refusal_note(refusal, NO_MATCH, param);
            if (!memchr(piece->value.data, '%', piece->value.size))
                return REFUSED;
            taken = UNSUITED;
        }
    }
    return taken;
}
