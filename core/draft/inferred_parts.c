#include "core/draft/inferred_parts.h"

#include "core/base/ascii.h"
#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"

void inferred_parts_add_word(struct span word, struct buf *out)
{
    bool tag = clue_is_tag(word);
    for (size_t i = 0; i < word.size; i++) {
        bool upper = ascii_is_upper(word.data[i]);
        buf_add_char(out, tag && upper ? (char)(word.data[i] - 'A' + 'a') : word.data[i]);
    }
}

/* The names of one key. */

/* The part at AT of those keys of COLUMN that are at ROWS. */
struct unnamed_part {
    const struct column *column;
    const size_t *rows;
    size_t count;
    size_t at;
};

static const struct token *inferred_parts_token(const struct unnamed_part *part, size_t i)
{
    return &part->column->shapes[part->rows[i]].tokens[part->at];
}

/* The word before the part; empty if absent. */
static struct span inferred_parts_word_before(const struct unnamed_part *part)
{
    const struct key_shape *shape = &part->column->shapes[part->rows[0]];
    if (part->at == 0 || !shape->tokens[part->at - 1].literal)
        return span_of("", 0);
    return shape->tokens[part->at - 1].text;
}

/* How well the attribute NAME suits: mostly in how many items its value is the part, then by its
 * name. 0: its value is something else in one item, or is equal perhaps by chance. */
static size_t inferred_parts_rate_attribute(const struct unnamed_part *part, struct span name)
{
    size_t equal = 0;
    bool differs = false;
    struct span first = inferred_parts_token(part, 0)->text;
    for (size_t i = 0; i < part->count; i++) {
        const struct sampled_attribute *attribute =
            sampled_item_find(part->column->items[part->rows[i]], name);
        struct span text = inferred_parts_token(part, i)->text;
        if (!attribute)
            continue;
        if (!span_equal(attribute->value, text) || text.size == 0)
            return 0;
        differs = differs || !span_equal(text, first);
        equal++;
    }
    bool of_tag = clue_is_of_tag(name, inferred_parts_word_before(part));
    if (equal == 0 || (!differs && !of_tag && first.size < 6))
        return 0;
    enum clue_dating dating = clue_dating(name);
    size_t points = 8 * equal;
    points += of_tag ? 4 : 0;
    points += declare_is_index_key(part->column->table, name) ? 2 : 0;
    return points + (dating == DATES_CREATION || dating == DATES_NOTHING);
}

static struct span inferred_parts_find_attribute(const struct unnamed_part *part)
{
    struct span best = {0};
    size_t most = 0;
    for (size_t i = 0; i < part->count; i++) {
        const struct sampled_item *item = part->column->items[part->rows[i]];
        for (size_t a = 0; a < item->count; a++) {
            const struct sampled_attribute *attribute = &item->attributes[a];
            if (!span_equal(attribute->value, inferred_parts_token(part, i)->text) ||
                span_equal(attribute->name, best) ||
                span_equal(attribute->name, part->column->attribute) ||
                !key_shape_may_name(part->column->table, attribute->name))
                continue;
            size_t points = inferred_parts_rate_attribute(part, attribute->name);
            if (points > most) {
                most = points;
                best = attribute->name;
            }
        }
        if (most > 0)
            break; /* an attribute that suits all items is in this one, too */
    }
    return best;
}

static bool inferred_parts_has_no_digit(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (ascii_is_digit(text.data[i]))
            return false;
    return text.size > 0;
}

/* Whether IS holds for the part in all keys. */
static bool inferred_parts_all_are(const struct unnamed_part *part, bool (*is)(struct span))
{
    for (size_t i = 0; i < part->count; i++)
        if (!is(inferred_parts_token(part, i)->text))
            return false;
    return true;
}

/* The first name of a part. Without an attribute, "USER#123" has a user_id, "STATUS#open" a status,
 * and "APPT#2026-04-16" an appt_date. */
static const char *inferred_parts_name_part(const struct unnamed_part *part, struct arena *arena,
                                            struct part_name *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct span word = inferred_parts_word_before(part);
    name->attribute = inferred_parts_token(part, 0)->attribute;
    if (name->attribute.size == 0)
        name->attribute = inferred_parts_find_attribute(part);
    if (name->attribute.size > 0)
        return declare_param_name(arena, name->attribute);
    if (word.size == 0 && part->at > 1) { /* the word of the part before it */
        struct unnamed_part before = *part;
        before.at--;
        word = inferred_parts_word_before(&before);
    }
    bool dates = inferred_parts_all_are(part, clue_is_date);
    inferred_parts_add_word(word, &text);
    if (word.size == 0 && dates)
        buf_add_text(&text, "date");
    else if (word.size == 0)
        buf_add_span(&text, part->column->attribute);
    else if (dates)
        buf_add_text(&text, clue_is_of_tag(SPAN_LITERAL("date"), word) ? "" : "_date");
    else if (!inferred_parts_all_are(part, inferred_parts_has_no_digit) &&
             !span_ends(buf_span(&text), SPAN_LITERAL("id")))
        buf_add_text(&text, "_id");
    arena->failed = arena->failed || text.failed;
    return declare_param_name(arena, buf_span(&text));
}

/* The NUMBER-th name, from 2 on, to try for the part of SHAPE at AT when WANTED is taken: with
 * another word before it, then "second_WANTED" and so on. NULL when memory ran out. */
static const char *inferred_parts_other_name(struct arena *arena, const struct key_shape *shape,
                                             size_t at, const char *wanted, unsigned number)
{
    static const char *const ordinals[] = {"second",  "third",  "fourth", "fifth", "sixth",
                                           "seventh", "eighth", "ninth",  "tenth"};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span word = span_of("", 0);
    for (size_t i = at; word.size == 0 && i-- > 0;)
        if (shape->tokens[i].literal && clue_is_word(shape->tokens[i].text) &&
            !clue_is_of_tag(span_text(wanted), shape->tokens[i].text))
            word = shape->tokens[i].text;
    if (word.size > 0 && number == 2)
        inferred_parts_add_word(word, &name);
    else if (number - 2 < sizeof ordinals / sizeof ordinals[0])
        buf_add_text(&name, ordinals[number - 2]);
    else
        buf_printf(&name, "part_%u", number);
    buf_printf(&name, "_%s", wanted);
    arena->failed = arena->failed || name.failed;
    return declare_param_name(arena, buf_span(&name));
}

bool inferred_parts_name_column(const struct column *column, const size_t *rows, size_t count,
                                struct arena *arena, struct part_name names[KEY_SHAPE_MAX_TOKENS])
{
    const struct key_shape *shape = &column->shapes[rows[0]];
    for (size_t i = 0; i < shape->count; i++) {
        struct unnamed_part part = {column, rows, count, i};
        names[i] = (struct part_name){0};
        if (shape->tokens[i].literal)
            continue;
        const char *wanted = inferred_parts_name_part(&part, arena, &names[i]), *name = wanted;
        for (unsigned n = 2; name; n++) {
            bool taken = false;
            for (size_t k = 0; k < i; k++)
                taken = taken || (names[k].name && strcmp(names[k].name, name) == 0);
            if (!taken)
                break;
            name = inferred_parts_other_name(arena, shape, i, wanted, n);
        }
        names[i].name = name;
    }
    return !arena->failed;
}

/* The names of several keys. */

/* The parts of the partition key have one name in all kinds with the same format of it, so that one
 * listing can hold all these kinds. */
bool inferred_parts_name_kind(struct inferred_table *inferred, struct inferred_kind *kind)
{
    size_t count = 0;
    size_t *rows = arena_array(&inferred->work, inferred->count, sizeof *rows);
    if (!rows)
        return false;
    for (size_t row = 0; row < inferred->count; row++)
        if (key_shape_alike(&inferred->columns[0].shapes[row], &kind->shapes[0]))
            rows[count++] = row;
    if (kind->shapes[0].count > 0 && !inferred_parts_name_column(&inferred->columns[0], rows, count,
                                                                 inferred->arena, kind->names[0]))
        return false;
    return kind->shapes[1].count == 0 ||
           inferred_parts_name_column(&inferred->columns[1], kind->rows, kind->count,
                                      inferred->arena, kind->names[1]);
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

void inferred_parts_share_names(struct inferred_table *inferred, size_t side)
{
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        for (size_t at = 0; at < kind->shapes[side].count; at++) {
            const struct part_name *best = NULL;
            for (const struct inferred_kind *other = inferred->kinds; other; other = other->next) {
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

/* Final names. */

const struct inferred_part *inferred_parts_find(const struct inferred_kind *kind, const char *name)
{
    for (const struct inferred_part *part = kind->parts; part; part = part->next)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}

/* Whether A and B are equal in all items that have both. DIFFER: the values are not all the same.
 */
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

/* The final name of a part with VALUES: that of another part of the kind with the same values; else
 * WANTED, or another name if WANTED is taken. */
static const char *inferred_parts_resolve_name(struct inferred_table *inferred,
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
        name = inferred_parts_other_name(inferred->arena, shape, at, wanted, n);
    struct inferred_part *part = arena_alloc(&inferred->work, sizeof *part);
    if (!part || !name)
        return NULL;
    *part = (struct inferred_part){name, values, NULL};
    *last = part;
    return name;
}

/* The value of the part at AT in each item of KIND: a token, or the rest of the key if it is open.
 */
static const struct span *inferred_parts_find_values(struct inferred_table *inferred,
                                                     const struct inferred_kind *kind,
                                                     const struct column *column,
                                                     const size_t *row_of, size_t at,
                                                     const struct token *token)
{
    struct span *values = arena_array(&inferred->work, kind->count, sizeof *values);
    for (size_t i = 0; values && i < kind->count; i++) {
        const struct sampled_attribute *attribute =
            row_of[i] == SIZE_MAX ? NULL
                                  : sampled_item_find(column->items[row_of[i]], column->attribute);
        if (!attribute || !attribute->value.data)
            continue;
        struct span key = attribute->value;
        const char *end;
        for (size_t k = at; k > 0 && (end = memchr(key.data, column->separator, key.size)); k--)
            key = span_from(key, (size_t)(end - key.data) + 1);
        end = token->open ? NULL : memchr(key.data, column->separator, key.size);
        values[i] = end ? span_of(key.data, (size_t)(end - key.data)) : key;
        if (values[i].size >= token->label.size)
            values[i] = span_from(values[i], token->label.size);
    }
    return values;
}

bool inferred_parts_resolve(struct inferred_table *inferred, struct inferred_kind *kind,
                            const struct column *column, const size_t *row_of,
                            const struct key_shape *shape, struct part_name *names, bool fixed)
{
    for (size_t at = 0; at < shape->count; at++) {
        if (shape->tokens[at].literal)
            continue;
        const struct span *values =
            inferred_parts_find_values(inferred, kind, column, row_of, at, &shape->tokens[at]);
        struct inferred_part *part = arena_alloc(&inferred->work, sizeof *part);
        if (!values || !part)
            return false;
        if (fixed) {
            *part = (struct inferred_part){names[at].name, values, kind->parts};
            kind->parts = part;
        } else {
            names[at].name =
                inferred_parts_resolve_name(inferred, kind, shape, at, names[at].name, values);
        }
        if (!names[at].name)
            return false;
    }
    return true;
}

bool inferred_parts_format(struct inferred_table *inferred, const struct column *column,
                           const struct key_shape *shape, const struct part_name *names,
                           struct format *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < shape->count; i++) {
        const struct token *token = &shape->tokens[i];
        if (i > 0)
            buf_add_char(&text, column->separator);
        buf_add_span(&text, token->literal ? token->text : token->label);
        if (!token->literal)
            buf_printf(&text, "{%s%s%s}", names[i].name, token->open ? "*" : "",
                       column->is_lower ? ":lower" : "");
    }
    inferred->arena->failed = inferred->arena->failed || text.failed;
    return !inferred->arena->failed && !format_parse_key(inferred->arena, buf_span(&text), out);
}
