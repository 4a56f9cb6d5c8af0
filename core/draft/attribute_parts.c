#include "core/draft/attribute_parts.h"

#include "core/base/buf.h"

struct attribute_part {
    struct dict_node by_attribute; /* first: what dict_find gives is cast to it */
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

static bool attribute_parts_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool attribute_parts_is_later_letter(char c)
{
    return attribute_parts_is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static void attribute_parts_add_valid(struct buf *out, struct span attribute)
{
    if (!attribute_parts_is_letter(attribute.data[0]) &&
        attribute_parts_is_later_letter(attribute.data[0]))
        buf_add_char(out, '_');
    for (size_t i = 0; i < attribute.size; i++)
        buf_add_char(out,
                     attribute_parts_is_later_letter(attribute.data[i]) ? attribute.data[i] : '_');
}

/* Adds what is called KEY, which is named after ATTRIBUTE. */
static const char *attribute_parts_add_name(struct attribute_parts *names, struct span key,
                                            struct span attribute)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    attribute_parts_add_valid(&name, attribute);
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

const char *attribute_parts_spelled(struct attribute_parts *names, struct span attribute,
                                    enum format_case letters, unsigned pad)
{
    /* No attribute's name holds a NUL: import_reader_text sees to that. */
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

const char *attribute_parts_of(struct attribute_parts *names, struct span attribute)
{
    return attribute_parts_spelled(names, attribute, FORMAT_ANY_CASE, 0);
}
