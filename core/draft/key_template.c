#include "core/draft/key_template.h"

static const char *key_template_add_piece(struct arena *arena, struct format *format,
                                          struct format_piece piece)
{
    if (!format->pieces)
        format->pieces = arena_array(arena, FORMAT_MAX_PIECES, sizeof *format->pieces);
    if (!format->pieces)
        return "out of memory";
    if (format->count == FORMAT_MAX_PIECES)
        return "a format has at most 24 pieces";
    format->pieces[format->count++] = piece;
    return NULL;
}

const char *key_template_add_literal(struct arena *arena, struct format *format, struct span text)
{
    if (text.size == 0)
        return NULL;
    if (memchr(text.data, '{', text.size) || memchr(text.data, '}', text.size))
        return "a format's text can't hold { or }";
    struct format_piece *last = format->count ? &format->pieces[format->count - 1] : NULL;
    if (!last || last->param)
        return key_template_add_piece(arena, format,
                                      (struct format_piece){.literal = arena_copy(arena, text)});
    char *joined = arena_alloc(arena, last->literal.size + text.size + 1);
    if (!joined)
        return "out of memory";
    memcpy(joined, last->literal.data, last->literal.size);
    memcpy(joined + last->literal.size, text.data, text.size);
    last->literal = span_of(joined, last->literal.size + text.size);
    return NULL;
}

const char *key_template_add_spelled(struct attribute_parts *names, struct format *format,
                                     struct span attribute, enum format_case letters, unsigned pad)
{
    const char *name = attribute_parts_spelled(names, attribute, letters, pad);
    if (!name)
        return "out of memory";
    if (format->count > 0 && format->pieces[format->count - 1].param)
        return "two parts have no text between them, so that no key could be taken apart";
    if (format_has(format, name))
        return "a part stands twice in it";
    return key_template_add_piece(
        names->arena, format, (struct format_piece){.param = name, .letters = letters, .pad = pad});
}

const char *key_template_add_part(struct attribute_parts *names, struct format *format,
                                  struct span attribute)
{
    return key_template_add_spelled(names, format, attribute, FORMAT_ANY_CASE, 0);
}

/* "5" or "5:0": with how many zeros the number before it is filled up. */
static const char *key_template_read_padding(struct span text, unsigned *pad)
{
    const char *colon = memchr(text.data, ':', text.size);
    size_t digits = colon ? (size_t)(colon - text.data) : text.size;
    *pad = 0;
    if (colon && !span_is(span_from(text, digits + 1), "0"))
        return "a part is padded with something else than 0";
    for (size_t i = 0; i < digits; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || *pad > KEY_TEMPLATE_MAX_PAD)
            return "a part is padded to a size that is no number";
        *pad = *pad * 10 + (unsigned)(text.data[i] - '0');
    }
    return *pad > 0 && *pad <= KEY_TEMPLATE_MAX_PAD
               ? NULL
               : "a part is padded to a size that no number has";
}

/* What stands between the braces: a name, perhaps with a size and a character to pad with. */
static const char *key_template_add_reference(const struct key_template_parts *parts,
                                              struct format *format, struct span reference)
{
    const char *colon = memchr(reference.data, ':', reference.size), *wrong = NULL;
    struct span name =
        span_of(reference.data, colon ? (size_t)(colon - reference.data) : reference.size);
    unsigned pad = 0;
    if (name.size == 0)
        return "a part has no name";
    if (memchr(name.data, '.', name.size) || memchr(name.data, '[', name.size))
        return "a part comes from within another attribute";
    if (colon)
        wrong = key_template_read_padding(span_from(reference, name.size + 1), &pad);
    if (!wrong && pad > 0 && (!parts->is_number || !parts->is_number(parts->context, name)))
        wrong = "a part is padded and no number, so that its zeros could be its own";
    if (wrong)
        return wrong;
    return parts->part ? parts->part(parts->context, name, pad, format)
                       : key_template_add_spelled(parts->names, format, name, FORMAT_ANY_CASE, pad);
}

const char *key_template_parse(const struct key_template_parts *parts, struct span text,
                               struct format *out)
{
    struct span opening =
        parts->notation == KEY_TEMPLATE_DOLLAR ? SPAN_LITERAL("${") : SPAN_LITERAL("{");
    const char *wrong = text.size ? NULL : "it is empty";
    *out = (struct format){0};
    while (text.size > 0 && !wrong) {
        const char *open = memmem(text.data, text.size, opening.data, opening.size);
        const char *close = open ? memchr(open, '}', (size_t)(text.data + text.size - open)) : NULL;
        size_t before = open ? (size_t)(open - text.data) : text.size;
        wrong = key_template_add_literal(parts->names->arena, out, span_of(text.data, before));
        text = span_from(text, before);
        if (wrong || !open)
            continue;
        if (!close) {
            wrong = "a { without its }";
            continue;
        }
        size_t end = (size_t)(close - text.data);
        wrong = key_template_add_reference(parts, out,
                                           span_of(text.data + opening.size, end - opening.size));
        text = span_from(text, end + 1);
    }
    if (wrong)
        *out = (struct format){0};
    return wrong;
}
