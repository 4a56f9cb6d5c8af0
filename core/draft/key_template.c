#include "core/draft/key_template.h"

#include "core/base/ascii.h"
#include "core/base/buf.h"

struct attribute_part {
    struct dict_node by_attribute; /* first: a node from dict_find is cast to the part */
    struct dict_node taken;
    const char *name;
};

bool attribute_parts_init(struct attribute_parts *names, struct arena *arena)
{
    *names = (struct attribute_parts){.arena = arena};
    if (!dict_init(&names->by_attribute) || !dict_init(&names->taken))
        arena->failed = true;
    return !arena->failed;
}

void attribute_parts_clean_up(struct attribute_parts *names)
{
    dict_clean_up(&names->by_attribute);
    dict_clean_up(&names->taken);
}

/* Adds the part KEY, named after ATTRIBUTE. */
static const char *attribute_parts_add_name(struct attribute_parts *names, struct span key,
                                            struct span attribute)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    for (size_t i = 0; i < attribute.size; i++) {
        char c = attribute.data[i];
        bool begins = ascii_is_letter(c) || c == '_';
        bool follows = begins || ascii_is_digit(c) || c == '-';
        buf_add_text(&name, i == 0 && follows && !begins ? "_" : "");
        buf_add_char(&name, follows ? c : '_');
    }
    size_t stem = name.size;
    for (unsigned number = 2; !name.failed && dict_find(&names->taken, buf_span(&name)); number++) {
        buf_truncate(&name, stem);
        buf_printf(&name, "_%u", number);
    }
    struct attribute_part *part = arena_alloc(names->arena, sizeof *part);
    struct span source = arena_copy(names->arena, key);
    if (part)
        part->name = arena_text(names->arena, buf_span(&name));
    if (!part || names->arena->failed || name.failed) {
        names->arena->failed = true;
        return NULL;
    }
    part->by_attribute.key = source;
    part->taken.key = span_text(part->name);
    dict_add(&names->by_attribute, &part->by_attribute);
    dict_add(&names->taken, &part->taken);
    return part->name;
}

/* The part's name of an attribute that keys hold in LETTERS, or with PAD digits. Each spelling has
 * a name of its own, since a map takes parts of one name for the same text. The spelling of the
 * first call has the plain name. */
static const char *attribute_parts_find_spelled(struct attribute_parts *names,
                                                struct span attribute, enum format_case letters,
                                                unsigned pad)
{
    /* No attribute's name holds a NUL: import_reader_text does not return such a text. */
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    buf_add_span(&key, attribute);
    buf_add_char(&key, '\0');
    buf_printf(&key, "%d:%u", letters, pad);
    if (key.failed) {
        names->arena->failed = true;
        return NULL;
    }
    struct dict_node *known = dict_find(&names->by_attribute, buf_span(&key));
    return known ? ((struct attribute_part *)known)->name
                 : attribute_parts_add_name(names, buf_span(&key), attribute);
}

const char *attribute_parts_find(struct attribute_parts *names, struct span attribute)
{
    return attribute_parts_find_spelled(names, attribute, FORMAT_ANY_CASE, 0);
}

/* Formats. */

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
        return "a format's text can't contain { or }";
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
    const char *name = attribute_parts_find_spelled(names, attribute, letters, pad);
    if (!name)
        return "out of memory";
    if (format->count > 0 && format->pieces[format->count - 1].param)
        return "two parts have no text between them, so that keys can't be split";
    if (format_has(format, name))
        return "a part is in it twice";
    return key_template_add_piece(
        names->arena, format, (struct format_piece){.param = name, .letters = letters, .pad = pad});
}

const char *key_template_add_part(struct attribute_parts *names, struct format *format,
                                  struct span attribute)
{
    return key_template_add_spelled(names, format, attribute, FORMAT_ANY_CASE, 0);
}

/* Adds the text between braces: a name, perhaps with a number of digits and the character before
 * shorter numbers ("name:5", "name:5:0"). */
static const char *key_template_add_reference(const struct key_template_parts *parts,
                                              struct format *format, struct span reference)
{
    const char *colon = memchr(reference.data, ':', reference.size);
    size_t size = colon ? (size_t)(colon - reference.data) : reference.size;
    struct span name = span_of(reference.data, size);
    unsigned pad = 0;
    if (name.size == 0)
        return "a part has no name";
    if (memchr(name.data, '.', name.size) || memchr(name.data, '[', name.size))
        return "a part comes from within another attribute";
    if (colon) {
        struct span digits = span_from(reference, size + 1);
        const char *second = memchr(digits.data, ':', digits.size);
        if (second && !span_is(span_from(digits, (size_t)(second - digits.data) + 1), "0"))
            return "a part is padded with another character than 0";
        digits.size = second ? (size_t)(second - digits.data) : digits.size;
        for (size_t i = 0; i < digits.size; i++) {
            if (!ascii_is_digit(digits.data[i]) || pad > KEY_TEMPLATE_MAX_PAD)
                return "the size of a padded part is no number";
            pad = pad * 10 + (unsigned)(digits.data[i] - '0');
        }
        if (pad == 0 || pad > KEY_TEMPLATE_MAX_PAD)
            return "a part is padded to more digits than a number has";
        if (!parts->is_number || !parts->is_number(parts->context, name))
            return "a padded part is no number, so that its value may begin with zeros";
    }
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
