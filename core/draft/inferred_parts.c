#include "core/draft/inferred_parts.h"

#include "core/draft/declare.h"

/* The partition key's parts have one name in all kinds that write it alike, so that one listing can
 * have them all. */
static bool inferred_parts_name_partition(struct inferring *inferring, struct inferred_kind *kind)
{
    size_t count = 0;
    size_t *rows = arena_array(&inferring->work, inferring->count, sizeof *rows);
    for (size_t row = 0; rows && row < inferring->count; row++)
        if (key_shape_alike(&inferring->columns[0].shapes[row], &kind->shapes[0]))
            rows[count++] = row;
    return rows &&
           (kind->shapes[0].count == 0 ||
            part_names_find(&inferring->columns[0], rows, count, inferring->arena, kind->names[0]));
}

bool inferred_parts_name(struct inferring *inferring, struct inferred_kind *kind)
{
    if (!inferred_parts_name_partition(inferring, kind))
        return false;
    return kind->shapes[1].count == 0 ||
           part_names_find(&inferring->columns[1], kind->rows, kind->count, inferring->arena,
                           kind->names[1]);
}

/* Whether the keys begin alike, up to the token at AT, which is a part of both. */
static bool inferred_parts_begin_alike(const struct key_shape *a, const struct key_shape *b,
                                       size_t at)
{
    if (at >= a->count || at >= b->count || a->tokens[at].literal || b->tokens[at].literal ||
        !span_equal(a->tokens[at].label, b->tokens[at].label))
        return false;
    for (size_t i = 0; i < at; i++)
        if (a->tokens[i].literal != b->tokens[i].literal ||
            (a->tokens[i].literal && !span_equal(a->tokens[i].text, b->tokens[i].text)))
            return false;
    return true;
}

void inferred_parts_name_likewise(struct inferring *inferring, size_t side)
{
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        for (size_t at = 0; at < kind->shapes[side].count; at++) {
            const struct part_name *best = NULL;
            for (const struct inferred_kind *other = inferring->kinds; other; other = other->next) {
                const struct part_name *name = &other->names[side][at];
                if (!inferred_parts_begin_alike(&kind->shapes[side], &other->shapes[side], at))
                    continue;
                if (!best || (best->attribute.size == 0 && name->attribute.size > 0))
                    best = name;
            }
            if (best && kind->names[side][at].attribute.size == 0)
                kind->names[side][at].name = best->name;
        }
    }
}

/* Whether A and B say the same in all records that have both; DIFFER when they do not say one thing
 * alone. */
static bool inferred_parts_same_values(const struct inferred_kind *kind, const struct span *a,
                                       const struct span *b, bool *differ)
{
    const struct span *first = NULL;
    *differ = false;
    for (size_t i = 0; i < kind->count; i++) {
        if (!a[i].data || !b[i].data)
            continue;
        if (!span_equal(a[i], b[i]))
            return false;
        *differ = *differ || (first && !span_equal(*first, a[i]));
        first = first ? first : &a[i];
    }
    return first;
}

const struct inferred_part *inferred_parts_find(const struct inferred_kind *kind, const char *name)
{
    for (const struct inferred_part *part = kind->parts; part; part = part->next)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}

/* What a part that was to be called WANTED is called: as another part of the kind that says the
 * same; else WANTED, or what tells it from another part of that name. */
static const char *inferred_parts_resolve_name(struct inferring *inferring,
                                               struct inferred_kind *kind,
                                               const struct key_shape *shape, size_t at,
                                               const char *wanted, const struct span *values)
{
    struct inferred_part **last = &kind->parts;
    bool differ;
    for (; *last; last = &(*last)->next)
        if (inferred_parts_same_values(kind, (*last)->values, values, &differ) &&
            (differ || strcmp((*last)->name, wanted) == 0))
            return (*last)->name;
    const char *name = wanted;
    for (unsigned n = 2; name && inferred_parts_find(kind, name); n++)
        name = part_names_other(inferring->arena, shape, at, wanted, n);
    struct inferred_part *part = arena_alloc(&inferring->work, sizeof *part);
    if (!part || !name)
        return NULL;
    *part = (struct inferred_part){name, values, NULL};
    *last = part;
    return name;
}

/* What stands at AT of a key; all from there on where the part is OPEN. */
static struct span inferred_parts_piece_of(struct span key, char separator, size_t at, bool open)
{
    const char *end;
    for (; at > 0 && (end = memchr(key.data, separator, key.size)); at--)
        key = span_from(key, (size_t)(end - key.data) + 1);
    end = open ? NULL : memchr(key.data, separator, key.size);
    return end ? span_of(key.data, (size_t)(end - key.data)) : key;
}

/* What the part at AT of COLUMN's keys is in each record of KIND; ROW_OF says which of the column's
 * keys a record has, SIZE_MAX for none. */
static const struct span *inferred_parts_values_of(struct inferring *inferring,
                                                   const struct inferred_kind *kind,
                                                   const struct column *column,
                                                   const size_t *row_of, size_t at,
                                                   const struct token *token)
{
    struct span *values = arena_array(&inferring->work, kind->count, sizeof *values);
    for (size_t i = 0; values && i < kind->count; i++) {
        const struct sampled_item_attribute *key =
            row_of[i] == SIZE_MAX
                ? NULL
                : sampled_item_find(column->specimens[row_of[i]], column->attribute);
        if (key && key->value.data)
            values[i] = inferred_parts_piece_of(key->value, column->separator, at, token->open);
        if (values[i].size >= token->label.size)
            values[i] = span_from(values[i], token->label.size);
    }
    return values;
}

bool inferred_parts_resolve(struct inferring *inferring, struct inferred_kind *kind,
                            const struct column *column, const size_t *row_of,
                            const struct key_shape *shape, struct part_name *names, bool fixed)
{
    for (size_t at = 0; at < shape->count; at++) {
        if (shape->tokens[at].literal)
            continue;
        const struct span *values =
            inferred_parts_values_of(inferring, kind, column, row_of, at, &shape->tokens[at]);
        struct inferred_part *part = arena_alloc(&inferring->work, sizeof *part);
        if (!values || !part)
            return false;
        if (fixed) {
            *part = (struct inferred_part){names[at].name, values, kind->parts};
            kind->parts = part;
        } else {
            names[at].name =
                inferred_parts_resolve_name(inferring, kind, shape, at, names[at].name, values);
        }
        if (!names[at].name)
            return false;
    }
    return true;
}

bool inferred_parts_format(struct inferring *inferring, const struct column *column,
                           const struct key_shape *shape, const struct part_name *names,
                           struct format *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    part_names_write(column, shape, names, &text);
    inferring->arena->failed = inferring->arena->failed || text.failed;
    return !inferring->arena->failed && !format_parse_key(inferring->arena, buf_span(&text), out);
}
