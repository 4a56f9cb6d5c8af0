#include "core/read/near_miss.h"

#include <ctype.h>

#include "core/base/nearest.h"
#include "core/json/json.h"
#include "core/map/companion.h"
#include "core/map/entry_names.h"

static bool near_miss_is_known(const struct map_param *param, struct span value)
{
    for (size_t i = 0; param && i < param->value_count; i++)
        if (span_equal(param->values[i], value))
            return true;
    return false;
}

/* A misspelt literal step becomes a value. The last step comes first. */
static void near_miss_steps(const struct place *place, struct buf *out)
{
    for (const struct route *step = place->route; step && step->parent; step = step->parent) {
        CLEAN_UP(buf_clean_up) struct buf hint = {0};
        const char *param = format_whole_param(&step->segment);
        const struct span *value = param ? bindings_find(&place->bindings, param) : NULL;
        if (!value || near_miss_is_known(model_find_param(place->table, param), *value))
            continue;
        struct nearest nearest = nearest_to(*value);
        bool escaped = false; /* a literal's own name is a value only if it was escaped */
        for (const struct route *other = step->parent->children; other; other = other->next) {
            if (other->hidden || !format_is_literal(&other->segment))
                continue;
            escaped = escaped || span_equal(format_literal(&other->segment), *value);
            nearest_offer(&nearest, format_literal(&other->segment));
        }
        if (!escaped)
            nearest_write(&nearest, &hint);
        if (hint.size == 0)
            continue;
        json_write_string(out, *value);
        buf_printf(out, " is taken for {%s}%s", param, buf_text(&hint));
        out->failed = out->failed || hint.failed;
        return;
    }
}

static void near_miss_values(const struct place *place, struct buf *out)
{
    for (size_t i = 0; i < place->bindings.count; i++) {
        const struct binding *given = &place->bindings.items[i];
        const struct map_param *param = model_find_param(place->table, given->param);
        struct nearest nearest = nearest_to(given->value);
        CLEAN_UP(buf_clean_up) struct buf known = {0}, hint = {0};
        if (!param || param->value_count == 0 || near_miss_is_known(param, given->value))
            continue;
        for (size_t v = 0; v < param->value_count; v++) {
            nearest_offer(&nearest, param->values[v]);
            buf_add_text(&known, v ? ", " : "");
            json_write_string(&known, param->values[v]);
        }
        json_write_string(out, given->value);
        nearest_write(&nearest, &hint);
        buf_printf(out, " is not one of the values that the map declares for {%s}%s: %s",
                   given->param, buf_text(&hint), buf_text(&known));
        out->failed = out->failed || known.failed || hint.failed;
        return; /* one hint is enough */
    }
}

/* ITEM@status is probably an attribute, and LIST@jsnl a file. */
static void near_miss_ending(const struct place *place, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf hint = {0}, names = {0};
    bool listing = place->kind == PLACE_DIRECTORY;
    if (!listing && place->kind != PLACE_RECORD)
        return;
    const struct format *segment = &place->route->segment;
    const char *param = segment->count ? segment->pieces[segment->count - 1].param : NULL;
    const struct span *bound = param ? bindings_find(&place->bindings, param) : NULL;
    struct span value = bound ? *bound : span_text("");
    size_t at = companion_find_at(value);
    struct span ending = span_from(value, at);
    if (at == 0 || ending.size < 2)
        return;
    /* An @ and a word like an attribute's name, and no end of an address. */
    for (size_t i = 1; i < ending.size; i++)
        if (!isalnum((unsigned char)ending.data[i]) && ending.data[i] != '_')
            return;
    companion_write_hint(listing, ending, &hint);
    companion_write_names(listing, &names);
    if (listing && hint.size == 0)
        return;
    json_write_string(out, ending);
    buf_printf(out, " is taken for a part of the name%s; ", buf_text(&hint));
    if (!listing)
        buf_printf(out, "an attribute is typed @/%.*s, ", (int)ending.size - 1, ending.data + 1);
    buf_printf(out, "companions are %s", buf_text(&names));
    out->failed = out->failed || hint.failed || names.failed;
}

/* A window may test a part of the key with which no name begins, or the beginning of a name may
 * have more than that part. */
static void near_miss_window(const struct place *place, struct buf *out)
{
    const struct map_pattern *list =
        place->kind == PLACE_DIRECTORY || place->kind == PLACE_LIST_FILE ? place->route->list
                                                                         : NULL;
    const char *part = list ? entry_names_tested_part(list) : NULL;
    if (!part || !place->route->parent) /* a lookup of a statement has no names */
        return;
    const struct format *value = &list->where[list->where_count - 1].value;
    const struct format *name = &list->entries[0].name;
    const struct span *typed =
        bindings_find(&place->bindings, value->pieces[value->count - 1].param);
    bool begins = entry_names_begin_with(list, part);
    size_t at = 0; /* of the text behind the part in names */
    while (begins && at + 1 < name->count && !name->pieces[at].param)
        at++;
    struct span behind = at + 1 < name->count ? name->pieces[at + 1].literal : span_text("");
    bool has_more = begins && typed && behind.size > 0 &&
                    memmem(typed->data, typed->size, behind.data, behind.size);
    if (!typed || (begins && !has_more))
        return;
    json_write_string(out, *typed);
    buf_printf(out, " is compared with {%s}, %s", part,
               begins ? "which is only the first part of the names"
                      : "which is not the first part of the names");
}

void near_miss_write(const struct place *place, struct buf *out)
{
    static void (*const doubts[])(const struct place *, struct buf *) = {
        near_miss_steps, near_miss_values, near_miss_ending, near_miss_window};
    size_t size = out->size;
    for (size_t i = 0; i < sizeof doubts / sizeof doubts[0] && out->size == size; i++)
        doubts[i](place, out);
}
