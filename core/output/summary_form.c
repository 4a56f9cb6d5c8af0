/* A summary: the number of items, the first and the last, the oldest and the newest, and a tally of
 * each attribute. Its memory does not grow with the number of items. A tally is exact, or states
 * that it has not counted. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/utf8.h"
#include "core/item/record.h"
#include "core/item/typed.h"
#include "core/item/value.h"
#include "core/json/writer.h"
#include "core/output/cell.h"
#include "core/output/form_ops.h"

/* A table whose attributes are data of their own can have any number of names. */
enum { MOST_ATTRIBUTES = 1000, MOST_NAME_BYTES = 1 << 18 };

enum {
    TALLY_VALUES = 32, /* this many different values are counted one by one */
    TALLY_TEXT = 256,  /* bytes of a value that is counted, and of the least and the greatest */
};

/* The least or the greatest of the numbers and strings. */
struct tally_end {
    bool known;
    enum value_type type;
    bool cut; /* the string is longer */
    size_t size;
    char text[TALLY_TEXT];
};

struct tally_value {
    struct value value; /* its bytes are in the arena */
    uint64_t count;
};

/* Of one attribute. Strings are compared by the part that is stored: of two with the same part, the
 * output is the same. */
struct tally {
    struct dict_node node; /* its key is the attribute's name */
    bool masked;           /* only the types are shown */
    uint64_t types[TYPED_BS + 1];
    struct tally_end least, greatest; /* a number is less than any string */
    struct tally_value values[TALLY_VALUES];
    size_t value_count;
    bool more_values; /* than can be counted */
    bool long_values;
};

/* The item with the least or the greatest date. */
struct summary_dated {
    int64_t ms;
    struct buf text; /* as JSON: its date and its key; or empty */
};

struct summary {
    struct form form;
    uint64_t items, undated;
    struct buf first, last; /* keys, as JSON */
    struct summary_dated oldest, newest;
    struct arena arena; /* tallies, names and values */
    struct dict by_name;
    struct tally **tallies; /* owned; as many as there may be */
    size_t count, name_bytes;
    bool more_attributes;
};

/* As jq sorts them: truth values come before numbers, and these before strings. */
static int tally_compare(struct value a, struct value b)
{
    int rank_a = a.type == VALUE_S ? 2 : a.type == VALUE_N;
    int rank_b = b.type == VALUE_S ? 2 : b.type == VALUE_N;
    return a.type == b.type ? value_compare(a, b) : rank_a - rank_b;
}

/* Makes VALUE the end if it is less, or with SIGN -1 greater. */
static void tally_extend(struct tally_end *end, struct value value, int sign)
{
    bool cut = value.bytes.size > TALLY_TEXT;
    if (cut)
        value.bytes.size = TALLY_TEXT;
    struct value known = {end->type, span_of(end->text, end->size)};
    int order = end->known ? tally_compare(value, known) * sign : -1;
    bool beyond = sign > 0 ? end->cut && !cut : !end->cut && cut; /* of two with the same part */
    if (order > 0 || (order == 0 && !beyond))
        return;
    *end = (struct tally_end){.known = true, .type = value.type, .cut = cut};
    end->size = value.bytes.size;
    memcpy(end->text, value.bytes.data, value.bytes.size);
}

/* After too many different values, or a long one, no value is counted. */
static void tally_count_value(struct tally *tally, struct value value, struct arena *arena)
{
    tally->long_values |= value.bytes.size > TALLY_TEXT;
    if (tally->more_values || tally->long_values)
        return;
    for (size_t i = 0; i < tally->value_count; i++)
        if (value_compare(tally->values[i].value, value) == 0) {
            tally->values[i].count++;
            return;
        }
    tally->more_values = tally->value_count == TALLY_VALUES;
    if (tally->more_values)
        return;
    value.bytes = arena_copy(arena, value.bytes);
    tally->values[tally->value_count++] = (struct tally_value){value, 1};
}

/* Counts an item's VALUE; texts are stored in ARENA. False when it is no typed value, or memory ran
 * out (ARENA is failed then). */
static bool tally_add(struct tally *tally, struct json typed, struct arena *arena)
{
    CLEAN_UP(arena_clean_up) struct arena scratch = {0};
    struct value value;
    enum typed_tag tag = typed_open(typed).tag;
    if (tag == TYPED_NONE)
        return false;
    tally->types[tag]++;
    if (tally->masked || (tag != TYPED_S && tag != TYPED_N && tag != TYPED_BOOL))
        return true;
    bool ok = typed_scalar(typed, &scratch, &value);
    if (ok)
        tally_count_value(tally, value, arena);
    /* DynamoDB has no number that is longer than the limit. */
    if (ok && (tag == TYPED_S || (tag == TYPED_N && value.bytes.size <= TALLY_TEXT))) {
        tally_extend(&tally->least, value, 1);
        tally_extend(&tally->greatest, value, -1);
    }
    arena->failed |= scratch.failed;
    return ok && !arena->failed;
}

static void tally_write_scalar(struct json_writer *json, const char *name, struct value value)
{
    if (value.type == VALUE_S)
        json_writer_add_string(json, name, value.bytes);
    else
        json_writer_add_raw(json, name, value.bytes);
}

/* A string that was cut, maybe within a character, has the name BEGINS. */
static void tally_write_end(struct json_writer *json, const struct tally_end *end, const char *name,
                            const char *begins)
{
    struct value value = {end->type, span_of(end->text, end->size)};
    size_t size = 0;
    if (!end->known)
        return;
    for (size_t more; size < end->size; size += more) {
        more = utf8_length(span_from(value.bytes, size));
        if (more == 0 && end->size - size < 4)
            break;
        more = more ? more : 1;
    }
    if (end->cut)
        value.bytes.size = size;
    tally_write_scalar(json, end->cut ? begins : name, value);
}

/* The commonest first; of those that are as common, the least. */
static int tally_by_count(const void *a, const void *b)
{
    const struct tally_value *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return tally_compare(x->value, y->value);
}

/* Values that are all different are not listed: the least and the greatest are enough. */
static void tally_write_distinct(struct json_writer *json, struct tally *tally,
                                 enum json_style style)
{
    uint64_t counted = tally->types[TYPED_S] + tally->types[TYPED_N] + tally->types[TYPED_BOOL];
    if (tally->value_count == 0 && !tally->long_values)
        return;
    struct buf *out = json_writer_add_value(json, "distinct");
    if (tally->long_values) {
        buf_printf(out, "\"not counted: some are longer than %d bytes\"", TALLY_TEXT);
        return;
    }
    if (tally->more_values) {
        buf_printf(out, "\"more than %d\"", TALLY_VALUES);
        return;
    }
    buf_printf(out, "%zu", tally->value_count);
    if (counted != 1 && tally->value_count >= counted)
        return;
    qsort(tally->values, tally->value_count, sizeof *tally->values, tally_by_count);
    json_writer_begin_array(json, "values", style);
    for (size_t i = 0; i < tally->value_count; i++) {
        json_writer_begin_object(json, NULL, style);
        tally_write_scalar(json, "value", tally->values[i].value);
        json_writer_add_integer(json, "count", (int64_t)tally->values[i].count);
        json_writer_end(json);
    }
    json_writer_end(json);
}

static void tally_write(struct json_writer *json, struct tally *tally, enum json_style style)
{
    uint64_t count = 0;
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++)
        count += tally->types[tag];
    json_writer_add_name(json, tally->node.key);
    json_writer_begin_object(json, NULL, style);
    json_writer_add_integer(json, "count", (int64_t)count);
    json_writer_begin_object(json, "types", style);
    for (size_t tag = TYPED_NONE + 1; tag <= TYPED_BS; tag++)
        if (tally->types[tag] > 0)
            json_writer_add_integer(json, typed_tag_name((enum typed_tag)tag),
                                    (int64_t)tally->types[tag]);
    json_writer_end(json);
    if (tally->masked)
        json_writer_add_bool(json, "masked", true);
    tally_write_end(json, &tally->least, "min", "min_begins");
    tally_write_end(json, &tally->greatest, "max", "max_begins");
    tally_write_distinct(json, tally, style);
    json_writer_end(json);
}

static bool summary_start(struct form *form)
{
    struct summary *summary = (struct summary *)form;
    summary->tallies = calloc(MOST_ATTRIBUTES, sizeof(*summary->tallies));
    return summary->tallies && dict_init(&summary->by_name);
}

static void summary_clean_up(struct form *form)
{
    struct summary *summary = (struct summary *)form;
    buf_clean_up_secret(&summary->first);
    buf_clean_up_secret(&summary->last);
    buf_clean_up_secret(&summary->oldest.text);
    buf_clean_up_secret(&summary->newest.text);
    dict_clean_up(&summary->by_name);
    arena_clean_up(&summary->arena);
    free(summary->tallies);
}

static size_t summary_memory(const struct form *form)
{
    const struct summary *summary = (const struct summary *)form;
    return arena_memory(&summary->arena) + dict_memory(&summary->by_name) +
           MOST_ATTRIBUTES * sizeof(*summary->tallies) + summary->first.capacity +
           summary->last.capacity + summary->oldest.text.capacity + summary->newest.text.capacity;
}

static enum json_style summary_style(const struct summary *summary)
{
    return summary->form.view.compact ? JSON_TIGHT : JSON_SPACED;
}

/* The tally of the attribute NAME; NULL when there are too many, or memory ran out. */
static struct tally *summary_tally_of(struct summary *summary, struct span name)
{
    struct dict_node *known = dict_find(&summary->by_name, name);
    if (known)
        return (struct tally *)known;
    if (summary->count == MOST_ATTRIBUTES || name.size > MOST_NAME_BYTES - summary->name_bytes) {
        summary->more_attributes = true;
        return NULL;
    }
    struct tally *tally = arena_alloc(&summary->arena, sizeof *tally);
    struct span copy = arena_copy(&summary->arena, name);
    if (summary->arena.failed)
        return NULL;
    tally->node.key = copy;
    tally->masked = cell_is_masked(&summary->form.view, name);
    dict_add(&summary->by_name, &tally->node);
    summary->name_bytes += name.size;
    return summary->tallies[summary->count++] = tally;
}

static bool summary_write_key(const struct summary *summary, struct json_writer *json,
                              const char *name, struct json item)
{
    const struct record_view *view = &summary->form.view;
    json_writer_begin_object(json, name, summary_style(summary));
    for (size_t i = 0; i < view->first_count; i++) {
        struct span attribute = span_text(view->first[i]);
        struct json value = item_attribute(item, attribute);
        if (json_present(value) && !cell_write_json(value, cell_is_masked(view, attribute),
                                                    json_writer_add_value(json, view->first[i])))
            return false;
    }
    json_writer_end(json);
    return !json->out->failed;
}

static bool summary_store_key(const struct summary *summary, struct json item, struct buf *key)
{
    buf_truncate(key, 0);
    struct json_writer json = json_writer_to(key);
    return summary_write_key(summary, &json, NULL, item);
}

static bool summary_store_date(const struct summary *summary, struct json item, struct json date,
                               int64_t ms, struct summary_dated *dated)
{
    dated->ms = ms;
    buf_truncate(&dated->text, 0);
    struct json_writer json = json_writer_to(&dated->text);
    json_writer_begin_object(&json, NULL, summary_style(summary));
    if (!cell_write_json(date, false, json_writer_add_value(&json, "date")) ||
        !summary_write_key(summary, &json, "key", item))
        return false;
    json_writer_end(&json);
    return !dated->text.failed;
}

/* The attribute with an item's date; NULL for none. A secret date is not shown. */
static const char *summary_dated_by(const struct summary *summary)
{
    const char *name = summary->form.dated_by;
    return name && !cell_is_masked(&summary->form.view, span_text(name)) ? name : NULL;
}

static bool summary_add_date(struct summary *summary, struct json item)
{
    const char *name = summary_dated_by(summary);
    if (!name)
        return true;
    struct json date = item_attribute(item, span_text(name));
    struct instant at = when_read(date);
    if (!at.known) {
        summary->undated++;
        return true;
    }
    bool older = summary->oldest.text.size == 0 || at.ms < summary->oldest.ms;
    bool newer = summary->newest.text.size == 0 || at.ms > summary->newest.ms;
    return (!older || summary_store_date(summary, item, date, at.ms, &summary->oldest)) &&
           (!newer || summary_store_date(summary, item, date, at.ms, &summary->newest));
}

static bool summary_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct summary *summary = (struct summary *)form;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct typed_members members;
    (void)out;
    bool ok = typed_members(item, &arena, &members);
    for (size_t i = 0; ok && i < members.count; i++) {
        struct tally *tally = summary_tally_of(summary, members.list[i].name);
        ok = !summary->arena.failed &&
             (!tally || tally_add(tally, members.list[i].value, &summary->arena));
    }
    ok = ok && (summary->items++ > 0 || summary_store_key(summary, item, &summary->first)) &&
         summary_store_key(summary, item, &summary->last) && summary_add_date(summary, item);
    return ok || record_refuse(item, "", err);
}

static void summary_write_text(struct json_writer *json, const char *name, const struct buf *text)
{
    if (text->size > 0)
        json_writer_add_raw(json, name, buf_span(text));
}

/* The attribute's place among the key attributes; their number for any other attribute. */
static size_t summary_place_of(const struct record_view *view, struct span name)
{
    size_t place = 0;
    while (place < view->first_count && !span_is(name, view->first[place]))
        place++;
    return place;
}

static int summary_by_place(const void *a, const void *b, void *arg)
{
    const struct tally *x = *(struct tally *const *)a, *y = *(struct tally *const *)b;
    size_t place_x = summary_place_of(arg, x->node.key),
           place_y = summary_place_of(arg, y->node.key);
    if (place_x != place_y)
        return place_x < place_y ? -1 : 1;
    return span_compare(x->node.key, y->node.key);
}

static bool summary_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct summary *summary = (struct summary *)form;
    struct json_writer json = json_writer_to(out);
    enum json_style lines = form->view.compact ? JSON_TIGHT : JSON_LINES;
    const char *dated_by = summary_dated_by(summary);
    size_t before = out->size;
    (void)more; /* all at once */
    json_writer_begin_object(&json, NULL, lines);
    json_writer_add_integer(&json, "count", (int64_t)summary->items);
    summary_write_text(&json, "first", &summary->first);
    summary_write_text(&json, "last", &summary->last);
    if (dated_by) {
        json_writer_add_text(&json, "dated_by", dated_by);
        summary_write_text(&json, "oldest", &summary->oldest.text);
        summary_write_text(&json, "newest", &summary->newest.text);
        if (summary->undated > 0)
            json_writer_add_integer(&json, "undated", (int64_t)summary->undated);
    }
    qsort_r(summary->tallies, summary->count, sizeof(*summary->tallies), summary_by_place,
            &form->view);
    json_writer_begin_object(&json, "attributes", lines);
    for (size_t i = 0; i < summary->count; i++)
        tally_write(&json, summary->tallies[i], summary_style(summary));
    json_writer_end(&json);
    if (summary->more_attributes)
        buf_printf(json_writer_add_value(&json, "not_counted"),
                   "\"attributes beyond the first %zu different ones\"", summary->count);
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return form_allows(form, out->size - before, err);
}

const struct form_ops form_summary = {
    sizeof(struct summary), summary_start, summary_add, summary_end,
    summary_clean_up,       summary_memory};
