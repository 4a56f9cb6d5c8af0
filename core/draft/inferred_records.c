#include "core/draft/inferred_records.h"

#include "core/draft/attribute_clues.h"
#include "core/draft/inferred_fit.h"
#include "core/draft/inferred_parts.h"
#include "core/draft/kind_marks.h"

/* The kind's formats, by the names that its parts have now. */
static bool inferred_records_make_formats(struct inferring *inferring, struct inferred_kind *kind)
{
    for (size_t i = 0; i < inferring->key_count; i++)
        if (kind->shapes[i].count > 0 &&
            !inferred_parts_format(inferring, &inferring->columns[i], &kind->shapes[i],
                                   kind->names[i], &kind->record->keys[i].format))
            return false;
    return true;
}

static bool inferred_records_make_record(struct inferring *inferring, struct inferred_kind *kind)
{
    const struct declared_record *whole = inferring->described->records;
    kind->record = arena_alloc(inferring->arena, sizeof *kind->record);
    for (size_t i = 0; kind->record && i < inferring->key_count; i++)
        kind->record->keys[kind->record->key_count++] = whole->keys[i];
    return kind->record && inferred_records_make_formats(inferring, kind);
}

static bool inferred_records_resolve_record(struct inferring *inferring, struct inferred_kind *kind)
{
    for (size_t i = 0; i < inferring->key_count; i++)
        if (!inferred_parts_resolve(inferring, kind, &inferring->columns[i], kind->rows,
                                    &kind->shapes[i], kind->names[i], i == 0))
            return false;
    return inferred_records_make_formats(inferring, kind);
}

static void inferred_records_add_words(const struct key_shape *shape, struct buf *out)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (!shape->tokens[i].literal || shape->tokens[i].text.size == 0)
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

static bool inferred_records_has_record(const struct inferring *inferring, const char *name)
{
    for (const struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next)
        if (kind->record->name && strcmp(kind->record->name, name) == 0)
            return true;
    return false;
}

/* As its items call it, else by the words of its sort key; where two kinds share these, by those of
 * both. */
static void inferred_records_name_record(struct inferring *inferring, struct inferred_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    part_names_add_word(kind_marks_name(inferring, kind), &name);
    if (name.size == 0)
        inferred_records_add_words(&kind->shapes[1], &name);
    if (name.size == 0 || inferred_records_has_record(inferring, buf_text(&name))) {
        buf_truncate(&name, 0);
        inferred_records_add_words(&kind->shapes[0], &name);
        inferred_records_add_words(&kind->shapes[1], &name);
    }
    if (name.size == 0)
        buf_add_text(&name, inferring->described->records->name);
    size_t size = name.size;
    for (unsigned n = 2; inferred_records_has_record(inferring, buf_text(&name)) && !name.failed;
         n++) {
        buf_truncate(&name, size);
        buf_printf(&name, "_%u", n);
    }
    kind->record->name = inference_text(inferring, &name);
}

/* Whether attributes of all records of KIND say the part: one of its partition key may have its
 * name from other kinds. */
static bool inferred_records_is_stated(const struct inferring *inferring,
                                       const struct inferred_kind *kind,
                                       const struct part_name *name)
{
    if (!name->name || name->attribute.size == 0)
        return false;
    for (size_t i = 0; i < kind->count; i++)
        if (!sampled_item_find(inferring->specimens[kind->rows[i]], name->attribute))
            return false;
    return true;
}

/* Whether a part before the one at SIDE and AT has its name, and is said too. */
static bool inferred_records_is_reported(const struct inferring *inferring,
                                         const struct inferred_kind *kind, size_t side, size_t at)
{
    const char *name = kind->names[side][at].name;
    for (size_t s = 0; s <= side; s++)
        for (size_t i = 0; i < (s == side ? at : kind->shapes[s].count); i++)
            if (inferred_records_is_stated(inferring, kind, &kind->names[s][i]) &&
                strcmp(kind->names[s][i].name, name) == 0)
                return true;
    return false;
}

static void inferred_records_note_record(struct inferring *inferring, struct inferred_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    bool said = false;
    buf_printf(&note, "%zu of ", kind->count);
    inference_add_sample(inferring, &note);
    buf_add_char(&note, '.');
    for (size_t side = 0; side < inferring->key_count; side++) {
        for (size_t i = 0; i < kind->shapes[side].count; i++) {
            const struct part_name *name = &kind->names[side][i];
            if (!inferred_records_is_stated(inferring, kind, name) ||
                inferred_records_is_reported(inferring, kind, side, i))
                continue;
            buf_printf(&note, "%s{%s}", said ? ", " : " Attributes of the records say ",
                       name->name);
            said = true;
        }
    }
    buf_add_text(&note, said ? "." : "");
    kind->record->note = inference_text(inferring, &note);
}

/* All that no kind fits. */
static bool inferred_records_add_other(struct inferring *inferring, struct declared_record **last)
{
    struct declared_record *other = arena_alloc(inferring->arena, sizeof *other);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t others = 0;
    if (!other)
        return false;
    for (const struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next)
        others += kind->count;
    others = inferring->count - others;
    *other = *inferring->described->records;
    other->name = inferred_records_has_record(inferring, "other") ? "other_record" : "other";
    other->next = NULL;
    buf_printf(&note, "What none of the kinds above fits, by its whole keys: %zu of ", others);
    inference_add_sample(inferring, &note);
    buf_add_char(&note, '.');
    other->note = inference_text(inferring, &note);
    *last = other;
    return other->note;
}

bool inferred_records_make(struct inferring *inferring)
{
    struct declared_record **last = &inferring->table->records;
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next)
        if (!inferred_records_make_record(inferring, kind))
            return false;
    while (inferred_fit_drop_unsure(inferring))
        continue;
    if (!inferring->kinds)
        return true;
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        if (!inferred_records_resolve_record(inferring, kind))
            return false;
        inferred_records_name_record(inferring, kind);
        inferred_records_note_record(inferring, kind);
        *last = kind->record;
        last = &kind->record->next;
    }
    return inferred_records_add_other(inferring, last);
}
