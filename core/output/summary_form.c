/* A summary: how many records there are, the first and the last, the oldest and the newest, and a
 * tally of each attribute. However many records come, it takes no more memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/item/record.h"
#include "core/item/typed.h"
#include "core/output/attribute_tally.h"
#include "core/output/cell.h"
#include "core/output/form_ops.h"

/* A table whose attributes are data of their own has no end of names. */
enum { MOST_ATTRIBUTES = 1000, MOST_NAME_BYTES = 1 << 18 };

/* The record of the least or the greatest date. */
struct dated {
    int64_t ms;
    struct buf text; /* as JSON: its date and its key; empty: there is none */
};

struct summary {
    struct form form;
    uint64_t records, undated;
    struct buf first, last; /* keys, as JSON */
    struct dated oldest, newest;
    struct arena arena; /* tallies, names and values */
    struct dict by_name;
    struct attribute_tally **tallies; /* owned; as many as there may be */
    size_t count, name_bytes;
    bool more_attributes;
};

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

/* The tally of the attribute NAME; NULL when there are too many, or memory ran out. */
static struct attribute_tally *summary_tally_of(struct summary *summary, struct span name)
{
    struct dict_node *known = dict_find(&summary->by_name, name);
    if (known)
        return (struct attribute_tally *)known;
    if (summary->count == MOST_ATTRIBUTES || name.size > MOST_NAME_BYTES - summary->name_bytes) {
        summary->more_attributes = true;
        return NULL;
    }
    struct attribute_tally *tally = arena_alloc(&summary->arena, sizeof *tally);
    struct span copy = arena_copy(&summary->arena, name);
    if (summary->arena.failed)
        return NULL;
    tally->node.key = copy;
    tally->masked = cell_is_masked(&summary->form.view, name);
    dict_add(&summary->by_name, &tally->node);
    summary->name_bytes += name.size;
    return summary->tallies[summary->count++] = tally;
}

static bool summary_add_members(struct summary *summary, const struct typed_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        struct attribute_tally *tally = summary_tally_of(summary, members->list[i].name);
        if (summary->arena.failed ||
            (tally && !attribute_tally_add(tally, members->list[i].value, &summary->arena)))
            return false;
    }
    return true;
}

static const char *summary_blank(const struct summary *summary)
{
    return summary->form.view.compact ? "" : " ";
}

static void summary_write_name(const struct summary *summary, struct span name, struct buf *out)
{
    json_write_string(out, name);
    buf_add_char(out, ':');
    buf_add_text(out, summary_blank(summary));
}

/* Appends the key of ITEM: an object of those of its key attributes that it has. */
static bool summary_write_key(const struct summary *summary, struct json item, struct buf *out)
{
    const struct record_view *view = &summary->form.view;
    bool first = true;
    buf_add_char(out, '{');
    for (size_t i = 0; i < view->first_count; i++) {
        struct span name = span_text(view->first[i]);
        struct json value = item_attribute(item, name);
        if (!json_present(value))
            continue;
        buf_add_text(out, first ? "" : ",");
        buf_add_text(out, first ? "" : summary_blank(summary));
        summary_write_name(summary, name, out);
        if (!cell_write_json(value, cell_is_masked(view, name), out))
            return false;
        first = false;
    }
    buf_add_char(out, '}');
    return !out->failed;
}

static bool summary_note_key(const struct summary *summary, struct json item, struct buf *key)
{
    buf_truncate(key, 0);
    return summary_write_key(summary, item, key);
}

static bool summary_note_date(const struct summary *summary, struct json item, struct json date,
                              int64_t ms, struct dated *dated)
{
    dated->ms = ms;
    buf_truncate(&dated->text, 0);
    buf_add_char(&dated->text, '{');
    summary_write_name(summary, SPAN_LITERAL("date"), &dated->text);
    if (!cell_write_json(date, false, &dated->text))
        return false;
    buf_add_char(&dated->text, ',');
    buf_add_text(&dated->text, summary_blank(summary));
    summary_write_name(summary, SPAN_LITERAL("key"), &dated->text);
    if (!summary_write_key(summary, item, &dated->text))
        return false;
    buf_add_char(&dated->text, '}');
    return !dated->text.failed;
}

/* A date that is a secret is none here. */
static bool summary_dates(const struct summary *summary)
{
    const char *name = summary->form.dated_by;
    return name && !cell_is_masked(&summary->form.view, span_text(name));
}

static bool summary_add_date(struct summary *summary, struct json item)
{
    if (!summary_dates(summary))
        return true;
    struct json date = item_attribute(item, span_text(summary->form.dated_by));
    struct instant at = when_read(date);
    if (!at.known) {
        summary->undated++;
        return true;
    }
    bool older = summary->oldest.text.size == 0 || at.ms < summary->oldest.ms;
    bool newer = summary->newest.text.size == 0 || at.ms > summary->newest.ms;
    return (!older || summary_note_date(summary, item, date, at.ms, &summary->oldest)) &&
           (!newer || summary_note_date(summary, item, date, at.ms, &summary->newest));
}

static bool summary_add_item(struct summary *summary, struct json item, struct arena *arena)
{
    struct typed_members members;
    return typed_members(item, arena, &members) && summary_add_members(summary, &members) &&
           (summary->records++ > 0 || summary_note_key(summary, item, &summary->first)) &&
           summary_note_key(summary, item, &summary->last) && summary_add_date(summary, item);
}

static bool summary_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct summary *summary = (struct summary *)form;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    (void)out;
    return summary_add_item(summary, item, &arena) || record_refuse(item, "", err);
}

/* Begins a line of the outer object, or of the one in it. */
static void summary_begin_line(const struct summary *summary, size_t depth, struct buf *out)
{
    if (summary->form.view.compact)
        return;
    buf_add_char(out, '\n');
    buf_add_repeated(out, ' ', depth * 2);
}

static void summary_begin_member(const struct summary *summary, const char *name, struct buf *out)
{
    buf_add_char(out, ',');
    summary_begin_line(summary, 1, out);
    summary_write_name(summary, span_text(name), out);
}

static void summary_write_text(const struct summary *summary, const char *name,
                               const struct buf *text, struct buf *out)
{
    if (text->size == 0)
        return;
    summary_begin_member(summary, name, out);
    buf_add_span(out, buf_span(text));
}

static void summary_write_dates(const struct summary *summary, struct buf *out)
{
    if (!summary_dates(summary))
        return;
    summary_begin_member(summary, "dated_by", out);
    json_write_string(out, span_text(summary->form.dated_by));
    summary_write_text(summary, "oldest", &summary->oldest.text, out);
    summary_write_text(summary, "newest", &summary->newest.text, out);
    if (summary->undated == 0)
        return;
    summary_begin_member(summary, "undated", out);
    buf_printf(out, "%" PRIu64, summary->undated);
}

/* Where the attribute stands among the key attributes; their number when it is none. */
static size_t summary_place_of(const struct record_view *view, struct span name)
{
    size_t place = 0;
    while (place < view->first_count && !span_is(name, view->first[place]))
        place++;
    return place;
}

static int summary_by_place(const void *a, const void *b, void *arg)
{
    const struct attribute_tally *x = *(struct attribute_tally *const *)a,
                                 *y = *(struct attribute_tally *const *)b;
    size_t place_x = summary_place_of(arg, x->node.key),
           place_y = summary_place_of(arg, y->node.key);
    if (place_x != place_y)
        return place_x < place_y ? -1 : 1;
    return span_compare(x->node.key, y->node.key);
}

static void summary_write_attributes(struct summary *summary, struct buf *out)
{
    bool compact = summary->form.view.compact;
    qsort_r(summary->tallies, summary->count, sizeof(*summary->tallies), summary_by_place,
            &summary->form.view);
    summary_begin_member(summary, "attributes", out);
    buf_add_char(out, '{');
    for (size_t i = 0; i < summary->count; i++) {
        buf_add_text(out, i ? "," : "");
        summary_begin_line(summary, 2, out);
        summary_write_name(summary, summary->tallies[i]->node.key, out);
        attribute_tally_write(summary->tallies[i], compact, out);
    }
    if (summary->count > 0)
        summary_begin_line(summary, 1, out);
    buf_add_char(out, '}');
}

static bool summary_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    (void)more; /* all at once */
    struct summary *summary = (struct summary *)form;
    size_t before = out->size;
    buf_add_char(out, '{');
    summary_begin_line(summary, 1, out);
    summary_write_name(summary, SPAN_LITERAL("count"), out);
    buf_printf(out, "%" PRIu64, summary->records);
    summary_write_text(summary, "first", &summary->first, out);
    summary_write_text(summary, "last", &summary->last, out);
    summary_write_dates(summary, out);
    summary_write_attributes(summary, out);
    if (summary->more_attributes) {
        summary_begin_member(summary, "not_counted", out);
        buf_printf(out, "\"attributes beyond the first %zu different ones\"", summary->count);
    }
    summary_begin_line(summary, 0, out);
    buf_add_text(out, "}\n");
    return form_allows(form, out->size - before, err);
}

const struct form_ops form_summary = {
    sizeof(struct summary), summary_start, summary_add, summary_end,
    summary_clean_up,       summary_memory};
