#include "core/draft/kind_marks.h"

#include "core/draft/attribute_clues.h"

enum { LONGEST_KIND = 40 };

static bool kind_marks_is_kind_name(struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool other = (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!letter && !(other && i > 0))
            return false;
    }
    return text.size > 0 && text.size <= LONGEST_KIND;
}

/* The one value of the attribute NAME in all items of KIND; empty when there is none. */
static struct span kind_marks_value_in(const struct inferring *inferring,
                                       const struct inferred_kind *kind, struct span name)
{
    struct span value = span_of("", 0);
    for (size_t i = 0; i < kind->count; i++) {
        const struct sampled_item_attribute *attribute =
            sampled_item_find(inferring->specimens[kind->rows[i]], name);
        if (!attribute || attribute->tag != TYPED_S || !kind_marks_is_kind_name(attribute->value) ||
            (i > 0 && !span_equal(attribute->value, value)))
            return span_of("", 0);
        value = attribute->value;
    }
    return value;
}

/* Whether each kind has a value of its own: a "type" may be a property, of which kinds have some in
 * common and one kind has several. SEVERAL: there are two kinds at least. */
static bool kind_marks_reports_kinds(const struct inferring *inferring, struct span name,
                                     bool *several)
{
    size_t kinds = 0;
    for (const struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next, kinds++) {
        struct span value = kind_marks_value_in(inferring, kind, name);
        if (value.size == 0)
            return false;
        for (const struct inferred_kind *other = inferring->kinds; other != kind;
             other = other->next)
            if (span_equal(kind_marks_value_in(inferring, other, name), value))
                return false;
    }
    *several = kinds > 1;
    return true;
}

static bool kind_marks_is_taken(const struct inferring *inferring, const struct inferred_kind *kind,
                                struct span name, struct span value)
{
    for (const struct inferred_kind *other = inferring->kinds; other; other = other->next)
        if (other != kind && span_equal(kind_marks_value_in(inferring, other, name), value))
            return true;
    return false;
}

struct span kind_marks_name(const struct inferring *inferring, const struct inferred_kind *kind)
{
    const struct sampled_item *first = inferring->specimens[kind->rows[0]];
    for (size_t i = 0; i < first->count; i++) {
        struct span name = first->attributes[i].name;
        bool several = false;
        enum clue_kind clue = clue_of_kind(name);
        if (clue == KIND_NOT_NAMED ||
            (clue == KIND_MAY_BE_NAMED &&
             !(kind_marks_reports_kinds(inferring, name, &several) && several)))
            continue;
        struct span value = kind_marks_value_in(inferring, kind, name);
        if (value.size > 0 && !kind_marks_is_taken(inferring, kind, name, value))
            return value;
    }
    return span_of("", 0);
}
