#include "core/author/infer.h"

#include <stdlib.h>

#include "core/author/clues.h"
#include "core/author/declare.h"
#include "core/author/part_names.h"
#include "core/author/traits.h"

/* A table with more kinds than these has keys that are taken for words. */
enum { MOST_KINDS = 64, MOST_VALUES = 10, LEAST_FOR_VALUES = 10 };

struct inference {
    const struct declared_table *described;
    struct arena arena; /* owns the specimens, which may hold secrets */
    struct specimen *specimens, **last;
    size_t looked_at, count;
    size_t bytes;
};

/* A part of the keys of a kind, and what it is in each of its records (empty data: not there). */
struct part {
    const char *name;
    const struct span *values;
    struct part *next;
};

/* A kind of record while it is found. */
struct kind {
    struct shape shapes[2];
    struct part_name names[2][SHAPE_MAX_TOKENS];
    size_t *rows; /* its records */
    size_t count;
    struct part *parts;
    struct declared_record *record;
    struct kind *next;
};

/* The whole of what is inferred. */
struct inferring {
    const struct declared_table *described;
    struct declared_table *table;
    struct arena *arena; /* of the result */
    struct arena work;   /* of what goes afterwards; holds values of records */
    const struct specimen *const *specimens;
    size_t count;
    size_t all; /* records, with those that were not looked at */
    struct column columns[2];
    size_t key_count;
    struct kind *kinds;
    size_t kind_count;
    char separator;
};

struct inference *inference_new(const struct declared_table *described)
{
    struct inference *inference = calloc(1, sizeof *inference);
    if (!inference)
        return NULL;
    inference->described = described;
    inference->last = &inference->specimens;
    return inference;
}

void inference_destroy(struct inference *inference)
{
    if (!inference)
        return;
    arena_clean_up(&inference->arena);
    free(inference);
}

size_t inference_count(const struct inference *inference)
{
    return inference->count;
}

bool inference_add(struct inference *inference, struct json item)
{
    size_t size = json_raw(item).size;
    inference->count++;
    if (inference->looked_at == INFER_MOST_RECORDS || inference->bytes + size > INFER_MOST_BYTES)
        return true;
    struct specimen *specimen = specimen_new(item, &inference->arena);
    if (!specimen)
        return !inference->arena.failed;
    *inference->last = specimen;
    inference->last = &specimen->next;
    inference->looked_at++;
    inference->bytes += size;
    return true;
}

static const char *text_of(struct inferring *inferring, struct buf *buf)
{
    inferring->arena->failed = inferring->arena->failed || buf->failed;
    return arena_text(inferring->arena, buf_span(buf));
}

/* Kinds. */

static bool make_columns(struct inferring *inferring)
{
    const struct declared_record *record = inferring->described->records;
    inferring->key_count = record->key_count;
    for (size_t i = 0; i < record->key_count; i++) {
        inferring->columns[i] = (struct column){
            .table = inferring->described,
            .attribute = span_text(record->keys[i].attribute),
            .sorts = i == 1,
            .specimens = inferring->specimens,
            .shapes = arena_array(&inferring->work, inferring->count, sizeof(struct shape)),
            .count = inferring->count,
        };
    }
    return !inferring->work.failed;
}

static bool read_columns(struct inferring *inferring)
{
    inferring->separator = shape_separator(inferring->columns, inferring->key_count);
    for (size_t i = 0; i < inferring->key_count; i++) {
        struct column *column = &inferring->columns[i];
        column->separator = inferring->separator;
        column_take_apart(column);
        if (!column_find_words(column, &inferring->work))
            return false;
    }
    return true;
}

static struct kind *add_kind(struct inferring *inferring, const struct shape shapes[2])
{
    struct kind **last = &inferring->kinds;
    struct kind *kind = arena_alloc(&inferring->work, sizeof *kind);
    if (!kind)
        return NULL;
    kind->rows = arena_array(&inferring->work, inferring->count, sizeof *kind->rows);
    for (size_t i = 0; i < inferring->key_count; i++)
        kind->shapes[i] = shapes[i];
    while (*last)
        last = &(*last)->next;
    *last = kind;
    inferring->kind_count++;
    return kind->rows ? kind : NULL;
}

static void add_row(struct kind *kind, const struct shape shapes[2], size_t row)
{
    kind->rows[kind->count++] = row;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < kind->shapes[side].count; i++)
            kind->shapes[side].tokens[i].open =
                kind->shapes[side].tokens[i].open || shapes[side].tokens[i].open;
}

/* Records whose keys say the same words at the same places are of one kind. */
static bool group(struct inferring *inferring)
{
    for (size_t row = 0; row < inferring->count; row++) {
        struct shape shapes[2] = {0};
        bool form = false;
        struct kind *kind = inferring->kinds;
        for (size_t i = 0; i < inferring->key_count; i++) {
            shapes[i] = inferring->columns[i].shapes[row];
            form = form || shape_has_form(&shapes[i]);
        }
        while (kind && !(shape_alike(&kind->shapes[0], &shapes[0]) &&
                         shape_alike(&kind->shapes[1], &shapes[1])))
            kind = kind->next;
        if (!kind && (!form || inferring->kind_count == MOST_KINDS))
            continue; /* whole keys: "other" */
        if (!kind)
            kind = add_kind(inferring, shapes);
        if (!kind)
            return false;
        add_row(kind, shapes, row);
    }
    return true;
}

/* The partition key's parts have one name in all kinds that write it alike, so that one listing can
 * have them all. */
static bool name_partition(struct inferring *inferring, struct kind *kind)
{
    size_t count = 0;
    size_t *rows = arena_array(&inferring->work, inferring->count, sizeof *rows);
    for (size_t row = 0; rows && row < inferring->count; row++)
        if (shape_alike(&inferring->columns[0].shapes[row], &kind->shapes[0]))
            rows[count++] = row;
    return rows &&
           (kind->shapes[0].count == 0 ||
            part_names_find(&inferring->columns[0], rows, count, inferring->arena, kind->names[0]));
}

static bool name_kind(struct inferring *inferring, struct kind *kind)
{
    if (!name_partition(inferring, kind))
        return false;
    return kind->shapes[1].count == 0 ||
           part_names_find(&inferring->columns[1], kind->rows, kind->count, inferring->arena,
                           kind->names[1]);
}

/* Whether the record at ROW has a tag in the place of a part that is named after an attribute,
 * which it lacks. LAST is the part of SIDE's key. */
static bool has_tag(const struct inferring *inferring, const struct kind *kind, size_t row,
                    size_t side, size_t last)
{
    const struct token *token = &inferring->columns[side].shapes[row].tokens[last];
    return !token->open && clue_is_tag(token->text) &&
           !specimen_find(inferring->specimens[row], kind->names[side][last].attribute);
}

/* The kind of those of FIRST on that the record at ROW is of, when its token LAST is a literal: one
 * more where there is none yet. NULL when memory ran out. */
static struct kind *move_apart(struct inferring *inferring, struct kind *first, size_t row,
                               size_t side, size_t last)
{
    struct shape shapes[2] = {0};
    for (size_t k = 0; k < inferring->key_count; k++)
        shapes[k] = inferring->columns[k].shapes[row];
    shapes[side].tokens[last].literal = true;
    struct kind *apart = first;
    while (apart && !shape_alike(&apart->shapes[side], &shapes[side]))
        apart = apart->next;
    if (!apart)
        apart = add_kind(inferring, shapes);
    if (apart)
        add_row(apart, shapes, row);
    return apart;
}

/* "INDEX#DEFAULT_CONFIGS" beside "INDEX#{index_name}": a tag where others have an attribute's
 * value, in a record that lacks the attribute. */
static bool split_kind(struct inferring *inferring, struct kind *kind)
{
    size_t side = inferring->key_count - 1, kept = 0;
    const struct shape *shape = &kind->shapes[side];
    size_t last = shape->count - 1;
    if (shape->count < 2 || shape->tokens[last].literal ||
        kind->names[side][last].attribute.size == 0)
        return true;
    struct kind *first = NULL;
    for (size_t i = 0; i < kind->count; i++) {
        size_t row = kind->rows[i];
        if (!has_tag(inferring, kind, row, side, last) || inferring->kind_count == MOST_KINDS) {
            kind->rows[kept++] = row;
            continue;
        }
        struct kind *apart = move_apart(inferring, first, row, side, last);
        if (!apart)
            return false;
        first = first ? first : apart;
    }
    kind->count = kept;
    for (; first; first = first->next)
        if (!name_kind(inferring, first))
            return false;
    return true;
}

/* Whether the keys begin alike, up to the token at AT, which is a part of both. */
static bool begin_alike(const struct shape *a, const struct shape *b, size_t at)
{
    if (at >= a->count || at >= b->count || a->tokens[at].literal || b->tokens[at].literal)
        return false;
    for (size_t i = 0; i < at; i++)
        if (a->tokens[i].literal != b->tokens[i].literal ||
            (a->tokens[i].literal && !span_equal(a->tokens[i].text, b->tokens[i].text)))
            return false;
    return true;
}

/* What stands at the same place of another kind's key has that kind's name, at best one that an
 * attribute gave: "INDEX#{index_name}" makes "INDEX#{index_name}#CONFIG". */
static void name_likewise(struct inferring *inferring, size_t side)
{
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        for (size_t at = 0; at < kind->shapes[side].count; at++) {
            const struct part_name *best = NULL;
            for (const struct kind *other = inferring->kinds; other; other = other->next) {
                const struct part_name *name = &other->names[side][at];
                if (!begin_alike(&kind->shapes[side], &other->shapes[side], at))
                    continue;
                if (!best || (best->attribute.size == 0 && name->attribute.size > 0))
                    best = name;
            }
            if (best && kind->names[side][at].attribute.size == 0)
                kind->names[side][at].name = best->name;
        }
    }
}

static bool name_and_split(struct inferring *inferring)
{
    size_t before = inferring->kind_count;
    struct kind *kind = inferring->kinds;
    for (size_t i = 0; i < before; i++, kind = kind->next)
        if (!name_kind(inferring, kind) || !split_kind(inferring, kind))
            return false;
    name_likewise(inferring, inferring->key_count - 1);
    return true;
}

/* Parts. */

/* Whether A and B say the same in all records that have both; DIFFER when they do not say one thing
 * alone. */
static bool same_values(const struct kind *kind, const struct span *a, const struct span *b,
                        bool *differ)
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

static const struct part *find_part(const struct kind *kind, const char *name)
{
    for (const struct part *part = kind->parts; part; part = part->next)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}

/* What a part that was to be called WANTED is called: as another part of the kind that says the
 * same; else WANTED, with a number behind it where another part has that name. */
static const char *settle_name(struct inferring *inferring, struct kind *kind, const char *wanted,
                               const struct span *values)
{
    struct part **last = &kind->parts;
    bool differ;
    for (; *last; last = &(*last)->next)
        if (same_values(kind, (*last)->values, values, &differ) &&
            (differ || strcmp((*last)->name, wanted) == 0))
            return (*last)->name;
    const char *name = wanted;
    for (unsigned n = 2; name && find_part(kind, name); n++) {
        CLEAN_UP(buf_clean_up) struct buf numbered = {0};
        buf_printf(&numbered, "%s_%u", wanted, n);
        name = text_of(inferring, &numbered);
    }
    struct part *part = arena_alloc(&inferring->work, sizeof *part);
    if (!part || !name)
        return NULL;
    *part = (struct part){name, values, NULL};
    *last = part;
    return name;
}

/* What stands at AT of a key; all from there on where the part is OPEN. */
static struct span piece_of(struct span key, char separator, size_t at, bool open)
{
    const char *end;
    for (; at > 0 && (end = memchr(key.data, separator, key.size)); at--)
        key = span_from(key, (size_t)(end - key.data) + 1);
    end = open ? NULL : memchr(key.data, separator, key.size);
    return end ? span_of(key.data, (size_t)(end - key.data)) : key;
}

/* What the part at AT of COLUMN's keys is in each record of KIND; ROW_OF says which of the column's
 * keys a record has, SIZE_MAX for none. */
static const struct span *values_of(struct inferring *inferring, const struct kind *kind,
                                    const struct column *column, const size_t *row_of, size_t at,
                                    bool open)
{
    struct span *values = arena_array(&inferring->work, kind->count, sizeof *values);
    for (size_t i = 0; values && i < kind->count; i++) {
        const struct specimen_attribute *key =
            row_of[i] == SIZE_MAX ? NULL
                                  : specimen_find(column->specimens[row_of[i]], column->attribute);
        if (key && key->value.data)
            values[i] = piece_of(key->value, column->separator, at, open);
    }
    return values;
}

/* Gives the parts of one key of KIND their final names. FIXED: they have them. */
static bool settle_names(struct inferring *inferring, struct kind *kind,
                         const struct column *column, const size_t *row_of,
                         const struct shape *shape, struct part_name *names, bool fixed)
{
    for (size_t at = 0; at < shape->count; at++) {
        if (shape->tokens[at].literal)
            continue;
        const struct span *values =
            values_of(inferring, kind, column, row_of, at, shape->tokens[at].open);
        struct part *part = arena_alloc(&inferring->work, sizeof *part);
        if (!values || !part)
            return false;
        if (fixed) {
            *part = (struct part){names[at].name, values, kind->parts};
            kind->parts = part;
        } else {
            names[at].name = settle_name(inferring, kind, names[at].name, values);
        }
        if (!names[at].name)
            return false;
    }
    return true;
}

static bool make_format(struct inferring *inferring, const struct shape *shape,
                        const struct part_name *names, struct format *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    part_names_write(shape, names, inferring->separator, &text);
    inferring->arena->failed = inferring->arena->failed || text.failed;
    return !inferring->arena->failed && !format_parse(inferring->arena, buf_span(&text), out);
}

/* The kind's formats, by the names that its parts have now. */
static bool make_formats(struct inferring *inferring, struct kind *kind)
{
    for (size_t i = 0; i < inferring->key_count; i++)
        if (kind->shapes[i].count > 0 && !make_format(inferring, &kind->shapes[i], kind->names[i],
                                                      &kind->record->keys[i].format))
            return false;
    return true;
}

static bool make_record(struct inferring *inferring, struct kind *kind)
{
    const struct declared_record *whole = inferring->described->records;
    kind->record = arena_alloc(inferring->arena, sizeof *kind->record);
    for (size_t i = 0; kind->record && i < inferring->key_count; i++)
        kind->record->keys[kind->record->key_count++] = whole->keys[i];
    return kind->record && make_formats(inferring, kind);
}

static bool settle_record(struct inferring *inferring, struct kind *kind)
{
    for (size_t i = 0; i < inferring->key_count; i++)
        if (!settle_names(inferring, kind, &inferring->columns[i], kind->rows, &kind->shapes[i],
                          kind->names[i], i == 0))
            return false;
    return make_formats(inferring, kind);
}

/* Which kind a record is of. */

static size_t literal_bytes(const struct declared_record *record)
{
    size_t bytes = 0;
    for (size_t i = 0; i < record->key_count; i++)
        bytes += format_literal_bytes(&record->keys[i].format);
    return bytes;
}

/* By its form alone: that a part says the same where it stands twice is seen to afterwards. */
static bool fits(const struct inferring *inferring, const struct declared_record *record,
                 size_t row)
{
    for (size_t i = 0; i < record->key_count; i++) {
        struct bindings parts = {0};
        const struct specimen_attribute *key =
            specimen_find(inferring->specimens[row], span_text(record->keys[i].attribute));
        if (!key || (key->tag == TYPED_S && !format_match_key(&record->keys[i].format, key->value,
                                                              inferring->separator, &parts)))
            return false;
    }
    return true;
}

/* The kind that says most of what fits, as when records are read; NULL: none does. TIE: another one
 * says as much. */
static struct kind *kind_of(const struct inferring *inferring, size_t row, bool *tie)
{
    struct kind *best = NULL;
    size_t most = 0;
    *tie = false;
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        size_t bytes = literal_bytes(kind->record);
        if ((best && bytes < most) || !fits(inferring, kind->record, row))
            continue;
        *tie = best && bytes == most;
        best = kind;
        most = bytes;
    }
    return best;
}

static void drop_kind(struct inferring *inferring, const struct kind *kind)
{
    struct kind **link = &inferring->kinds;
    while (*link != kind)
        link = &(*link)->next;
    *link = kind->next;
    inferring->kind_count--;
}

/* Drops one of two kinds that are as good for a record, or one that has none. False when there is
 * neither: then each kind has the records that are of it. */
static bool drop_unsure(struct inferring *inferring)
{
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next)
        kind->count = 0;
    for (size_t row = 0; row < inferring->count; row++) {
        bool tie;
        struct kind *kind = kind_of(inferring, row, &tie);
        if (tie) {
            drop_kind(inferring, kind);
            return true;
        }
        if (kind)
            kind->rows[kind->count++] = row;
    }
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        if (kind->count == 0) {
            drop_kind(inferring, kind);
            return true;
        }
    }
    return false;
}

/* Names of kinds. */

static void add_words(const struct shape *shape, struct buf *out)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (!shape->tokens[i].literal)
            continue;
        if (out->size > 0)
            buf_add_char(out, '_');
        for (size_t c = 0; c < shape->tokens[i].text.size; c++) {
            char each = shape->tokens[i].text.data[c];
            bool upper = each >= 'A' && each <= 'Z';
            buf_add_char(out, upper                        ? (char)(each - 'A' + 'a')
                              : each == '-' || each == ' ' ? '_'
                                                           : each);
        }
    }
}

static bool has_record(const struct inferring *inferring, const char *name)
{
    for (const struct kind *kind = inferring->kinds; kind; kind = kind->next)
        if (kind->record->name && strcmp(kind->record->name, name) == 0)
            return true;
    return false;
}

/* By the words of its sort key; where two kinds share these, by those of both. */
static void name_record(struct inferring *inferring, struct kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    add_words(&kind->shapes[1], &name);
    if (name.size == 0 || has_record(inferring, buf_text(&name))) {
        buf_truncate(&name, 0);
        add_words(&kind->shapes[0], &name);
        add_words(&kind->shapes[1], &name);
    }
    if (name.size == 0)
        buf_add_text(&name, inferring->described->records->name);
    size_t size = name.size;
    for (unsigned n = 2; has_record(inferring, buf_text(&name)) && !name.failed; n++) {
        buf_truncate(&name, size);
        buf_printf(&name, "_%u", n);
    }
    kind->record->name = text_of(inferring, &name);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void note_record(struct inferring *inferring, struct kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    bool said = false;
    buf_printf(&note, "%zu of %zu sampled record%s.", kind->count, inferring->count,
               plural(inferring->count));
    for (size_t side = 0; side < inferring->key_count; side++) {
        for (size_t i = 0; i < kind->shapes[side].count; i++) {
            const struct part_name *name = &kind->names[side][i];
            if (!name->name || name->attribute.size == 0)
                continue;
            buf_printf(&note, "%s{%s}", said ? ", " : " Attributes of the records say ",
                       name->name);
            said = true;
        }
    }
    buf_add_text(&note, said ? "." : "");
    kind->record->note = text_of(inferring, &note);
}

/* All that no kind fits. */
static bool add_other(struct inferring *inferring, struct declared_record **last)
{
    struct declared_record *other = arena_alloc(inferring->arena, sizeof *other);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t others = 0;
    if (!other)
        return false;
    for (const struct kind *kind = inferring->kinds; kind; kind = kind->next)
        others += kind->count;
    others = inferring->count - others;
    *other = *inferring->described->records;
    other->name = has_record(inferring, "other") ? "other_record" : "other";
    other->next = NULL;
    buf_printf(&note,
               "What none of the kinds above fits, by its whole keys: %zu of %zu sampled "
               "record%s.",
               others, inferring->count, plural(inferring->count));
    other->note = text_of(inferring, &note);
    *last = other;
    return other->note;
}

static bool make_records(struct inferring *inferring)
{
    struct declared_record **last = &inferring->table->records;
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next)
        if (!make_record(inferring, kind))
            return false;
    while (drop_unsure(inferring))
        continue;
    if (!inferring->kinds)
        return true;
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        if (!settle_record(inferring, kind))
            return false;
        name_record(inferring, kind);
        note_record(inferring, kind);
        *last = kind->record;
        last = &kind->record->next;
    }
    return add_other(inferring, last);
}

/* Indexes. */

static bool is_table_key(const struct inferring *inferring, const char *attribute)
{
    const struct declared_record *record = inferring->described->records;
    for (size_t i = 0; i < record->key_count; i++)
        if (strcmp(record->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

static bool is_text_key(const struct inferring *inferring, const char *attribute)
{
    for (const struct declared_type *type = inferring->described->types; type; type = type->next)
        if (strcmp(type->attribute, attribute) == 0)
            return type->type == VALUE_S;
    return true;
}

/* How one kind writes an index's attribute. COUNT gets in how many records it has it. */
static bool index_format(struct inferring *inferring, struct kind *kind, const char *attribute,
                         struct format *out, size_t *count)
{
    struct part_name names[SHAPE_MAX_TOKENS] = {0};
    size_t *row_of = arena_array(&inferring->work, kind->count, sizeof *row_of);
    size_t *rows = arena_array(&inferring->work, kind->count, sizeof *rows);
    const struct specimen **have = arena_array(&inferring->work, kind->count, sizeof *have);
    struct column column = {
        .table = inferring->described,
        .attribute = span_text(attribute),
        .separator = inferring->separator,
        .specimens = have,
        .shapes = arena_array(&inferring->work, kind->count, sizeof(struct shape)),
    };
    if (inferring->work.failed)
        return false;
    for (size_t i = 0; i < kind->count; i++) {
        const struct specimen *specimen = inferring->specimens[kind->rows[i]];
        const struct specimen_attribute *key = specimen_find(specimen, column.attribute);
        row_of[i] = SIZE_MAX;
        if (!key || key->tag != TYPED_S || key->value.size == 0)
            continue;
        rows[column.count] = row_of[i] = column.count;
        have[column.count++] = specimen;
    }
    *count = column.count;
    if (column.count == 0)
        return true;
    column_take_apart(&column);
    column_find_words_of_kind(&column);
    struct shape shape = column.shapes[0];
    for (size_t i = 0; i < column.count; i++)
        for (size_t t = 0; t < shape.count; t++)
            shape.tokens[t].open = shape.tokens[t].open || column.shapes[i].tokens[t].open;
    return part_names_find(&column, rows, column.count, inferring->arena, names) &&
           settle_names(inferring, kind, &column, row_of, &shape, names, false) &&
           make_format(inferring, &shape, names, out);
}

static bool add_kind_format(struct inferring *inferring, struct declared_kind_format **last,
                            const char *kind, const struct format *format)
{
    struct declared_kind_format *made = arena_alloc(inferring->arena, sizeof *made);
    if (!made)
        return false;
    *made = (struct declared_kind_format){.kind = kind, .format = *format};
    while (*last)
        last = &(*last)->next;
    *last = made;
    return true;
}

/* One format where all records have the attribute and write it alike; else one for each kind that
 * has it, and whole keys for what else there may be. */
static bool infer_index_key(struct inferring *inferring, struct declared_key *key, struct buf *note)
{
    struct declared_kind_format *by_kind = NULL;
    size_t have = 0;
    bool alike = true;
    for (struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        struct format format;
        size_t count = 0;
        if (!index_format(inferring, kind, key->attribute, &format, &count))
            return false;
        have += count;
        alike = alike && count == kind->count;
        if (count == 0)
            continue;
        alike = alike && (!by_kind || format_equal(&by_kind->format, &format));
        if (!add_kind_format(inferring, &by_kind, kind->record->name, &format))
            return false;
    }
    buf_printf(note, "%s%zu of %zu sampled records have %s", note->size ? "; " : "", have,
               inferring->count, key->attribute);
    if (!by_kind)
        return true; /* nothing is known of it */
    if (alike && have == inferring->count) {
        key->format = by_kind->format;
        return true;
    }
    const struct declared_record *other = inferring->table->records;
    while (other->next)
        other = other->next;
    if (!add_kind_format(inferring, &by_kind, other->name, &key->format))
        return false;
    key->by_kind = by_kind;
    key->format = (struct format){0};
    return true;
}

static bool infer_side(struct inferring *inferring, struct declared_key *keys, size_t count,
                       struct buf *note)
{
    for (size_t i = 0; i < count; i++)
        if (!is_table_key(inferring, keys[i].attribute) &&
            is_text_key(inferring, keys[i].attribute) &&
            !infer_index_key(inferring, &keys[i], note))
            return false;
    return true;
}

static bool infer_indexes(struct inferring *inferring)
{
    struct declared_index **last = &inferring->table->indexes;
    const struct declared_index *from = inferring->described->indexes;
    *last = NULL;
    for (; from; from = from->next) {
        CLEAN_UP(buf_clean_up) struct buf note = {0};
        struct declared_index *index = arena_alloc(inferring->arena, sizeof *index);
        if (!index)
            return false;
        *index = *from;
        index->next = NULL;
        if (inferring->kinds &&
            (!infer_side(inferring, index->partition, index->partition_count, &note) ||
             !infer_side(inferring, index->sort, index->sort_count, &note)))
            return false;
        if (note.size > 0) {
            CLEAN_UP(buf_clean_up) struct buf whole = {0};
            buf_printf(&whole, "%s%s%s.", from->note ? from->note : "", from->note ? " " : "",
                       buf_text(&note));
            index->note = text_of(inferring, &whole);
        }
        *last = index;
        last = &index->next;
    }
    return !inferring->arena->failed;
}

/* Parameters. */

struct values {
    struct span known[MOST_VALUES];
    size_t count;
    size_t records;
    bool few; /* so far */
};

static void add_value(struct values *values, struct span value)
{
    values->records++;
    for (size_t i = 0; i < values->count; i++)
        if (span_equal(values->known[i], value))
            return;
    values->few = values->few && values->count < MOST_VALUES && clue_is_word(value);
    if (values->few)
        values->known[values->count++] = value;
}

static int by_text(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

/* Few words over many records are the values that are known; that there are no others no sample
 * shows. */
static bool infer_param(struct inferring *inferring, const char *name)
{
    struct values values = {.few = !clue_names_a_secret(span_text(name))};
    for (const struct kind *kind = inferring->kinds; kind; kind = kind->next) {
        const struct part *part = find_part(kind, name);
        for (size_t i = 0; part && i < kind->count; i++)
            if (part->values[i].data)
                add_value(&values, part->values[i]);
    }
    if (!values.few || values.count < 2 || values.records < LEAST_FOR_VALUES ||
        values.records < 3 * values.count)
        return true;
    qsort(values.known, values.count, sizeof values.known[0], by_text);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    struct declared_param *param = arena_alloc(inferring->arena, sizeof *param);
    if (!param)
        return false;
    *param = (struct declared_param){.name = name, .next = inferring->table->params};
    param->values = arena_array(inferring->arena, values.count, sizeof *param->values);
    for (size_t i = 0; param->values && i < values.count; i++)
        param->values[param->value_count++] = arena_text(inferring->arena, values.known[i]);
    buf_printf(&note, "Those of %zu sampled records; there may be others.", values.records);
    param->note = text_of(inferring, &note);
    inferring->table->params = param;
    return !inferring->arena->failed;
}

static bool is_param(const struct declared_table *table, const char *name)
{
    for (const struct declared_param *param = table->params; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return true;
    return false;
}

static bool infer_params(struct inferring *inferring)
{
    for (const struct kind *kind = inferring->kinds; kind; kind = kind->next)
        for (const struct part *part = kind->parts; part; part = part->next)
            if (!is_param(inferring->table, part->name) && !infer_param(inferring, part->name))
                return false;
    return true;
}

/* The whole. */

static void note_table(struct inferring *inferring)
{
    struct declared_table *table = inferring->table;
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note, "%s%sKey formats are those of %zu sampled record%s",
               table->note ? table->note : "", table->note ? " " : "", inferring->count,
               plural(inferring->count));
    if (inferring->all > inferring->count)
        buf_printf(&note, " (of %zu that were read)", inferring->all);
    buf_add_text(&note, "; look through them before others rely on them.");
    traits_find(inferring->specimens, inferring->count, inferring->arena, table, &note);
    table->note = text_of(inferring, &note);
}

static bool infer(struct inferring *inferring)
{
    if (!make_columns(inferring) || !read_columns(inferring) || !group(inferring) ||
        !name_and_split(inferring) || !make_records(inferring) || !infer_indexes(inferring) ||
        !infer_params(inferring))
        return false;
    if (inferring->kinds) {
        inferring->table->separator = inferring->separator;
        inferring->table->paths = NULL;
    }
    note_table(inferring);
    return !inferring->arena->failed;
}

struct declared_table *inference_end(struct inference *inference, struct arena *arena)
{
    struct inferring inferring = {
        .described = inference->described,
        .table = arena_alloc(arena, sizeof *inferring.table),
        .arena = arena,
        .count = inference->looked_at,
        .all = inference->count,
    };
    const struct specimen **specimens =
        arena_array(&inferring.work, inference->looked_at, sizeof(struct specimen *));
    size_t count = 0;
    bool ok = inferring.table && specimens;
    for (const struct specimen *each = inference->specimens; ok && each; each = each->next)
        specimens[count++] = each;
    inferring.specimens = specimens;
    if (ok)
        *inferring.table = *inference->described;
    ok = ok && (inference->looked_at == 0 || infer(&inferring));
    arena_clean_up(&inferring.work);
    return ok && !arena->failed ? inferring.table : NULL;
}
