/* Strings are compared by what is kept of them: of two that begin alike as far as that goes, what
 * is told of either is the same. */
#include "core/output/attribute_tally.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/utf8.h"

/* As jq sorts them: truth values come before numbers, and these before strings. */
static int tally_rank(enum value_type type)
{
    return type == VALUE_S ? 2 : type == VALUE_N ? 1 : 0;
}

static int tally_compare(struct value a, struct value b)
{
    return a.type == b.type ? value_compare(a, b) : tally_rank(a.type) - tally_rank(b.type);
}

static struct value tally_value_of(const struct attribute_tally_end *end)
{
    return (struct value){end->type, span_of(end->text, end->size)};
}

/* Keeps VALUE as END when it is less, or with SIGN -1 greater. */
static void tally_extend(struct attribute_tally_end *end, struct value value, int sign)
{
    bool cut = value.bytes.size > ATTRIBUTE_TALLY_TEXT;
    if (cut)
        value.bytes.size = ATTRIBUTE_TALLY_TEXT;
    int order = end->known ? tally_compare(value, tally_value_of(end)) * sign : -1;
    bool beyond = sign > 0 ? end->cut && !cut : !end->cut && cut; /* of two that begin alike */
    if (order > 0 || (order == 0 && !beyond))
        return;
    *end = (struct attribute_tally_end){.known = true, .type = value.type, .cut = cut};
    end->size = value.bytes.size;
    memcpy(end->text, value.bytes.data, value.bytes.size);
}

static struct attribute_tally_value *tally_find(struct attribute_tally *tally, struct value value)
{
    for (size_t i = 0; i < tally->value_count; i++)
        if (value_compare(tally->values[i].value, value) == 0)
            return &tally->values[i];
    return NULL;
}

/* Once there are too many different values, or too long ones, none is counted any more. */
static void tally_count_value(struct attribute_tally *tally, struct value value,
                              struct arena *arena)
{
    tally->long_values |= value.bytes.size > ATTRIBUTE_TALLY_TEXT;
    if (tally->more_values || tally->long_values)
        return;
    struct attribute_tally_value *known = tally_find(tally, value);
    if (known) {
        known->count++;
    } else if (tally->value_count == ATTRIBUTE_TALLY_VALUES) {
        tally->more_values = true;
    } else {
        value.bytes = arena_copy(arena, value.bytes);
        tally->values[tally->value_count++] = (struct attribute_tally_value){value, 1};
    }
}

/* A number that is too long to be kept is none of DynamoDB's. */
static void tally_take(struct attribute_tally *tally, struct value value, struct arena *arena)
{
    bool number = value.type == VALUE_N;
    tally_count_value(tally, value, arena);
    if (value.type == VALUE_S || (number && value.bytes.size <= ATTRIBUTE_TALLY_TEXT)) {
        tally_extend(&tally->least, value, 1);
        tally_extend(&tally->greatest, value, -1);
    }
}

bool attribute_tally_add(struct attribute_tally *tally, struct json value, struct arena *arena)
{
    CLEAN_UP(arena_clean_up) struct arena scratch = {0};
    struct value scalar;
    enum typed_tag tag = typed_open(value).tag;
    if (tag == TYPED_NONE)
        return false;
    tally->types[tag]++;
    if (tally->masked || (tag != TYPED_S && tag != TYPED_N && tag != TYPED_BOOL))
        return true;
    bool ok = typed_scalar(value, &scratch, &scalar);
    if (ok)
        tally_take(tally, scalar, arena);
    arena->failed |= scratch.failed;
    return ok && !arena->failed;
}

/* Begins the next member of an object. */
static void tally_name_member(struct buf *out, bool first, bool compact, const char *name)
{
    buf_add_text(out, first ? "" : compact ? "," : ", ");
    json_write_string(out, span_text(name));
    buf_add_text(out, compact ? ":" : ": ");
}

static void tally_write_scalar(struct value value, struct buf *out)
{
    if (value.type == VALUE_S)
        json_write_string(out, value.bytes);
    else
        buf_add_span(out, value.bytes);
}

static void tally_write_types(const struct attribute_tally *tally, bool compact, struct buf *out)
{
    bool first = true;
    tally_name_member(out, false, compact, "types");
    buf_add_char(out, '{');
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++) {
        if (tally->types[tag] == 0)
            continue;
        tally_name_member(out, first, compact, typed_tag_name((enum typed_tag)tag));
        buf_printf(out, "%" PRIu64, tally->types[tag]);
        first = false;
    }
    buf_add_char(out, '}');
}

/* The whole characters at the start of TEXT, whose last one may be cut. */
static struct span tally_whole_characters(struct span text)
{
    size_t size = 0;
    for (size_t more; size < text.size; size += more) {
        more = utf8_length(span_from(text, size));
        if (more == 0 && text.size - size < 4)
            break;
        more = more ? more : 1;
    }
    return span_of(text.data, size);
}

/* Of a string that goes on, the name says that it begins so. */
static void tally_write_end(const struct attribute_tally_end *end, bool compact, const char *name,
                            const char *begins, struct buf *out)
{
    struct value value = tally_value_of(end);
    if (!end->known)
        return;
    if (end->cut)
        value.bytes = tally_whole_characters(value.bytes);
    tally_name_member(out, false, compact, end->cut ? begins : name);
    tally_write_scalar(value, out);
}

/* The commonest first; of those that are as common, the least. */
static int tally_by_count(const void *a, const void *b)
{
    const struct attribute_tally_value *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return tally_compare(x->value, y->value);
}

static void tally_write_values(struct attribute_tally *tally, bool compact, struct buf *out)
{
    qsort(tally->values, tally->value_count, sizeof *tally->values, tally_by_count);
    tally_name_member(out, false, compact, "values");
    buf_add_char(out, '[');
    for (size_t i = 0; i < tally->value_count; i++) {
        buf_add_text(out, i == 0 ? "{" : compact ? ",{" : ", {");
        tally_name_member(out, true, compact, "value");
        tally_write_scalar(tally->values[i].value, out);
        tally_name_member(out, false, compact, "count");
        buf_printf(out, "%" PRIu64 "}", tally->values[i].count);
    }
    buf_add_char(out, ']');
}

/* Values that are all different say nothing: the least and the greatest are told. */
static bool tally_report_much(const struct attribute_tally *tally)
{
    uint64_t counted = tally->types[TYPED_S] + tally->types[TYPED_N] + tally->types[TYPED_BOOL];
    return counted == 1 || tally->value_count < counted;
}

static void tally_write_distinct(struct attribute_tally *tally, bool compact, struct buf *out)
{
    if (tally->value_count == 0 && !tally->long_values)
        return;
    tally_name_member(out, false, compact, "distinct");
    if (tally->long_values)
        buf_printf(out, "\"not counted: some are longer than %d bytes\"", ATTRIBUTE_TALLY_TEXT);
    else if (tally->more_values)
        buf_printf(out, "\"more than %d\"", ATTRIBUTE_TALLY_VALUES);
    else
        buf_printf(out, "%zu", tally->value_count);
    if (!tally->long_values && !tally->more_values && tally_report_much(tally))
        tally_write_values(tally, compact, out);
}

void attribute_tally_write(struct attribute_tally *tally, bool compact, struct buf *out)
{
    uint64_t count = 0;
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++)
        count += tally->types[tag];
    buf_add_char(out, '{');
    tally_name_member(out, true, compact, "count");
    buf_printf(out, "%" PRIu64, count);
    tally_write_types(tally, compact, out);
    if (tally->masked) {
        tally_name_member(out, false, compact, "masked");
        buf_add_text(out, "true");
    }
    tally_write_end(&tally->least, compact, "min", "min_begins", out);
    tally_write_end(&tally->greatest, compact, "max", "max_begins", out);
    tally_write_distinct(tally, compact, out);
    buf_add_char(out, '}');
}
