/* Strings are compared by what is kept of them: of two that begin alike as far as that goes, what
 * is told of either is the same. */
#include "core/form/tally.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/utf8.h"

/* As jq sorts them: truth values come before numbers, and these before strings. */
static int rank(enum value_type type)
{
    return type == VALUE_S ? 2 : type == VALUE_N ? 1 : 0;
}

static int compare(struct value a, struct value b)
{
    return a.type == b.type ? value_compare(a, b) : rank(a.type) - rank(b.type);
}

static struct value value_of(const struct tally_end *end)
{
    return (struct value){end->type, span_of(end->text, end->size)};
}

/* Keeps VALUE as END when it is less, or with SIGN -1 greater. */
static void extend(struct tally_end *end, struct value value, int sign)
{
    bool cut = value.bytes.size > TALLY_TEXT;
    if (cut)
        value.bytes.size = TALLY_TEXT;
    int order = end->known ? compare(value, value_of(end)) * sign : -1;
    bool beyond = sign > 0 ? end->cut && !cut : !end->cut && cut; /* of two that begin alike */
    if (order > 0 || (order == 0 && !beyond))
        return;
    *end = (struct tally_end){.known = true, .type = value.type, .cut = cut};
    end->size = value.bytes.size;
    memcpy(end->text, value.bytes.data, value.bytes.size);
}

static struct tally_value *find(struct tally *tally, struct value value)
{
    for (size_t i = 0; i < tally->value_count; i++)
        if (value_compare(tally->values[i].value, value) == 0)
            return &tally->values[i];
    return NULL;
}

/* Once there are too many different values, or too long ones, none is counted any more. */
static void count_value(struct tally *tally, struct value value, struct arena *arena)
{
    tally->long_values |= value.bytes.size > TALLY_TEXT;
    if (tally->more_values || tally->long_values)
        return;
    struct tally_value *known = find(tally, value);
    if (known) {
        known->count++;
    } else if (tally->value_count == TALLY_VALUES) {
        tally->more_values = true;
    } else {
        value.bytes = arena_copy(arena, value.bytes);
        tally->values[tally->value_count++] = (struct tally_value){value, 1};
    }
}

/* A number that is too long to be kept is none of DynamoDB's. */
static void take(struct tally *tally, struct value value, struct arena *arena)
{
    bool number = value.type == VALUE_N;
    count_value(tally, value, arena);
    if (value.type == VALUE_S || (number && value.bytes.size <= TALLY_TEXT)) {
        extend(&tally->least, value, 1);
        extend(&tally->greatest, value, -1);
    }
}

bool tally_add(struct tally *tally, struct json value, struct arena *arena)
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
        take(tally, scalar, arena);
    arena->failed |= scratch.failed;
    return ok && !arena->failed;
}

/* Begins the next member of an object. */
static void name_member(struct buf *out, bool first, bool compact, const char *name)
{
    buf_add_text(out, first ? "" : compact ? "," : ", ");
    json_write_string(out, span_text(name));
    buf_add_text(out, compact ? ":" : ": ");
}

static void write_scalar(struct value value, struct buf *out)
{
    if (value.type == VALUE_S)
        json_write_string(out, value.bytes);
    else
        buf_add_span(out, value.bytes);
}

static void write_types(const struct tally *tally, bool compact, struct buf *out)
{
    bool first = true;
    name_member(out, false, compact, "types");
    buf_add_char(out, '{');
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++) {
        if (tally->types[tag] == 0)
            continue;
        name_member(out, first, compact, typed_tag_name((enum typed_tag)tag));
        buf_printf(out, "%" PRIu64, tally->types[tag]);
        first = false;
    }
    buf_add_char(out, '}');
}

/* The whole characters at the start of TEXT, whose last one may be cut. */
static struct span whole_characters(struct span text)
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
static void write_end(const struct tally_end *end, bool compact, const char *name,
                      const char *begins, struct buf *out)
{
    struct value value = value_of(end);
    if (!end->known)
        return;
    if (end->cut)
        value.bytes = whole_characters(value.bytes);
    name_member(out, false, compact, end->cut ? begins : name);
    write_scalar(value, out);
}

/* The commonest first; of those that are as common, the least. */
static int by_count(const void *a, const void *b)
{
    const struct tally_value *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return compare(x->value, y->value);
}

static void write_values(struct tally *tally, bool compact, struct buf *out)
{
    qsort(tally->values, tally->value_count, sizeof *tally->values, by_count);
    name_member(out, false, compact, "values");
    buf_add_char(out, '[');
    for (size_t i = 0; i < tally->value_count; i++) {
        buf_add_text(out, i == 0 ? "{" : compact ? ",{" : ", {");
        name_member(out, true, compact, "value");
        write_scalar(tally->values[i].value, out);
        name_member(out, false, compact, "count");
        buf_printf(out, "%" PRIu64 "}", tally->values[i].count);
    }
    buf_add_char(out, ']');
}

/* Values that are all different say nothing: the least and the greatest are told. */
static bool tell_much(const struct tally *tally)
{
    uint64_t counted = tally->types[TYPED_S] + tally->types[TYPED_N] + tally->types[TYPED_BOOL];
    return counted == 1 || tally->value_count < counted;
}

static void write_distinct(struct tally *tally, bool compact, struct buf *out)
{
    if (tally->value_count == 0 && !tally->long_values)
        return;
    name_member(out, false, compact, "distinct");
    if (tally->long_values)
        buf_printf(out, "\"not counted: some are longer than %d bytes\"", TALLY_TEXT);
    else if (tally->more_values)
        buf_printf(out, "\"more than %d\"", TALLY_VALUES);
    else
        buf_printf(out, "%zu", tally->value_count);
    if (!tally->long_values && !tally->more_values && tell_much(tally))
        write_values(tally, compact, out);
}

void tally_write(struct tally *tally, bool compact, struct buf *out)
{
    uint64_t count = 0;
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++)
        count += tally->types[tag];
    buf_add_char(out, '{');
    name_member(out, true, compact, "count");
    buf_printf(out, "%" PRIu64, count);
    write_types(tally, compact, out);
    if (tally->masked) {
        name_member(out, false, compact, "masked");
        buf_add_text(out, "true");
    }
    write_end(&tally->least, compact, "min", "min_begins", out);
    write_end(&tally->greatest, compact, "max", "max_begins", out);
    write_distinct(tally, compact, out);
    buf_add_char(out, '}');
}
