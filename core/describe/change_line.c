#include "core/describe/change_line.h"

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/item/difference.h"
#include "core/item/typed.h"
#include "core/json/writer.h"
#include "core/output/cell.h"

/* Between the path and the differences. */
#define CHANGE_LINE_GAP "   "

/* The differences of one change, while they are written. */
struct change_line_list {
    const struct change_line *line;
    struct span secret; /* the masked attribute that was written last */
    size_t count;
    struct buf *out;          /* of text */
    struct json_writer *json; /* of JSON: an array of names */
};

static struct json change_line_after(const struct change_line *line)
{
    return line->is_fetched ? line->fetched : line->change->after;
}

/* Whether the item existed, as the kind of the change says. */
static bool change_line_existed(const struct change *change, bool before)
{
    return change->kind == CHANGE_MODIFY || (change->kind == CHANGE_REMOVE) == before;
}

static bool change_line_is_key(const struct change_line *line, struct span attribute)
{
    for (size_t i = 0; i < line->view.first_count; i++)
        if (span_is(attribute, line->view.first[i]))
            return true;
    return false;
}

static bool change_line_add_values(const struct difference *difference, bool masked,
                                   struct buf *out)
{
    bool was = json_present(difference->before), is = json_present(difference->now);
    if (masked && was && is) {
        buf_add_text(out, RECORD_MASK " (changed)");
        return true;
    }
    if (was && !cell_write_json(difference->before, masked, out))
        return false;
    buf_add_text(out, was && is ? " -> " : "");
    return !is || cell_write_json(difference->now, masked, out);
}

/* A masked attribute is one difference, whatever changed inside. */
static bool change_line_take_difference(void *arg, const struct difference *difference)
{
    static const char *const signs[] = {
        [DIFFERENCE_ADDED] = "+", [DIFFERENCE_REMOVED] = "-", [DIFFERENCE_CHANGED] = ""};
    struct change_line_list *list = arg;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    bool masked = cell_is_masked(&list->line->view, difference->attribute);
    if (change_line_is_key(list->line, difference->attribute) ||
        (masked && span_equal(list->secret, difference->attribute)))
        return true;
    list->secret = masked ? difference->attribute : list->secret;
    struct span name = masked ? difference->attribute : difference->name;
    if (list->json) {
        json_writer_add_string(list->json, NULL, name);
        return true;
    }
    bool inside = masked && !span_equal(difference->name, difference->attribute);
    buf_add_text(&text, list->count++ > 0 ? ", " : CHANGE_LINE_GAP);
    buf_add_text(&text, inside ? "" : signs[difference->kind]);
    buf_add_span(&text, name);
    buf_add_text(&text, ": ");
    if (inside)
        buf_add_text(&text, RECORD_MASK " (changed)");
    else if (!change_line_add_values(difference, masked, &text))
        return false;
    printable_add(list->out, buf_span(&text), "");
    return !text.failed;
}

/* All attributes of the only image, behind WORD. */
static bool change_line_add_image(struct change_line_list *list, struct json item, const char *word)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct typed_members members;
    if (!typed_members(item, &arena, &members))
        return false;
    buf_printf(list->out, "%s%s", CHANGE_LINE_GAP, word);
    for (size_t i = 0; i < members.count; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
        struct span name = members.list[i].name;
        if (change_line_is_key(list->line, name))
            continue;
        buf_add_text(&text, list->count++ > 0 ? ", " : " ");
        buf_add_span(&text, name);
        buf_add_text(&text, ": ");
        if (!cell_write_json(members.list[i].value, cell_is_masked(&list->line->view, name), &text))
            return false;
        printable_add(list->out, buf_span(&text), "");
    }
    return !arena.failed;
}

/* Finds the differences of two images; one may be absent, because the item did not exist. */
static bool change_line_find(struct change_line_list *list, struct json before, struct json after)
{
    CLEAN_UP(json_clean_up) struct json_doc nothing = {0};
    if (!json_parse(&nothing, SPAN_LITERAL("{}"), JSON_STRICT, NULL))
        return false;
    return difference_find(json_present(before) ? before : json_root(&nothing),
                           json_present(after) ? after : json_root(&nothing),
                           change_line_take_difference, list);
}

static bool change_line_add_differences(const struct change_line *line, struct buf *out)
{
    const struct change *change = line->change;
    struct change_line_list list = {.line = line, .out = out};
    struct json before = change->before, after = change_line_after(line);
    bool had = change_line_existed(change, true), has = change_line_existed(change, false);
    bool lacks_before = had && !json_present(before), lacks_after = has && !json_present(after);
    if (line->is_fetched && lacks_after) {
        buf_add_text(out, CHANGE_LINE_GAP "the item does not exist any more");
        return true;
    }
    if (!lacks_before && !lacks_after)
        return change_line_find(&list, before, after);
    if (json_present(after))
        return change_line_add_image(&list, after, "now");
    return !json_present(before) || change_line_add_image(&list, before, "before");
}

static void change_line_cut(struct buf *out, size_t from, size_t columns)
{
    size_t at = from, last = from;
    for (size_t count = 0; at < out->size; count++) {
        size_t length = utf8_length(span_of(out->data + at, out->size - at));
        if (count == columns) {
            buf_truncate(out, last);
            buf_add_text(out, "…");
            return;
        }
        last = count + 1 < columns ? at + (length ? length : 1) : last;
        at += length ? length : 1;
    }
}

static bool change_line_add_key(const struct change_line *line, struct buf *out)
{
    for (size_t i = 0; i < line->view.first_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        struct span name = span_text(line->view.first[i]);
        buf_printf(&text, "%s%s = ", i > 0 ? " and " : "", line->view.first[i]);
        if (!cell_write_json(item_attribute(line->change->keys, name),
                             cell_is_masked(&line->view, name), &text))
            return false;
        printable_add(out, buf_span(&text), "");
        out->failed = out->failed || text.failed;
    }
    return true;
}

bool change_line_write_text(const struct change_line *line, size_t columns, struct buf *out)
{
    const struct change *change = line->change;
    size_t from = out->size;
    instant_write(out, change->at_ms);
    buf_printf(out, " %s%s%s ", change_word(change->kind), change->is_expired ? " (expired)" : "",
               line->has_left ? " (left)" : "");
    bool ok = true;
    if (line->path.size > 0)
        printable_add(out, line->path, "");
    else
        ok = change_line_add_key(line, out);
    ok = ok && change_line_add_differences(line, out);
    if (!ok || out->failed) {
        buf_truncate(out, from);
        return false;
    }
    if (columns > 1)
        change_line_cut(out, from, columns);
    buf_add_char(out, '\n');
    return !out->failed;
}

/* Nothing if the stream does not have the image. */
static bool change_line_add_item(const struct change_line *line, const char *name, struct json item,
                                 bool existed, struct json_writer *json)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    if (!json_present(item)) {
        if (!existed)
            json_writer_add_null(json, name);
        return true;
    }
    if (!item_write(item, &line->view, &text))
        return false;
    json_writer_add_raw(json, name, span_of(text.data, text.size - 1));
    return true;
}

static bool change_line_add_names(const struct change_line *line, struct json_writer *json)
{
    struct change_line_list list = {.line = line, .json = json};
    struct json before = line->change->before, after = change_line_after(line);
    if (line->change->kind != CHANGE_MODIFY || !json_present(before) || !json_present(after))
        return true;
    json_writer_begin_array(json, "changed", JSON_TIGHT);
    bool ok = change_line_find(&list, before, after);
    json_writer_end(json);
    return ok;
}

static void change_line_add_time(struct json_writer *json, const char *name, int64_t at_ms)
{
    CLEAN_UP(buf_clean_up) struct buf time = {0};
    instant_write(&time, at_ms);
    json_writer_add_string(json, name, buf_span(&time));
    json->out->failed = json->out->failed || time.failed;
}

static void change_line_begin_object(struct json_writer *json, int64_t at_ms, const char *kind)
{
    json_writer_begin_object(json, NULL, JSON_TIGHT);
    change_line_add_time(json, "time", at_ms);
    json_writer_add_text(json, "kind", kind);
}

bool change_line_write_json(const struct change_line *line, struct buf *out)
{
    const struct change *change = line->change;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct json_writer json = json_writer_to(&text);
    bool has = change_line_existed(change, false);
    change_line_begin_object(&json, change->at_ms, change_word(change->kind));
    json_writer_add_bool(&json, "expired", change->is_expired);
    if (line->has_left)
        json_writer_add_bool(&json, "left", true);
    if (line->path.size > 0)
        json_writer_add_string(&json, "path", line->path);
    bool ok = change_line_add_item(line, "keys", change->keys, true, &json) &&
              change_line_add_item(line, "old", change->before, change_line_existed(change, true),
                                   &json) &&
              change_line_add_item(line, "new", change_line_after(line), has && !line->is_fetched,
                                   &json) &&
              change_line_add_names(line, &json);
    if (line->is_fetched)
        json_writer_add_bool(&json, "fetched", true);
    json_writer_add_string(&json, "sequence", change->sequence);
    json_writer_add_string(&json, "shard", change->shard);
    change_line_add_time(&json, "resume", change->resume_ms);
    json_writer_end(&json);
    if (ok)
        json_add_printable(out, buf_span(&text));
    buf_add_text(out, ok ? "\n" : "");
    out->failed = out->failed || text.failed;
    return ok && !out->failed;
}

void change_line_write_event(const char *kind, int64_t at_ms, struct span path, const char *text,
                             struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct json_writer json = json_writer_to(&line);
    change_line_begin_object(&json, at_ms, kind);
    if (path.size > 0)
        json_writer_add_string(&json, "path", path);
    json_writer_add_text(&json, "text", text);
    json_writer_end(&json);
    json_add_printable(out, buf_span(&line));
    buf_add_char(out, '\n');
    out->failed = out->failed || line.failed;
}
