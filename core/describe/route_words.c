#include "core/describe/route_words.h"

#include <inttypes.h>
#include <string.h>

#include "core/describe/price.h"
#include "core/draft/attribute_clues.h"
#include "core/map/entry_names.h"

void route_words_path(const struct route *route, struct buf *out)
{
    if (!route->parent)
        return;
    route_words_path(route->parent, out);
    if (route->parent->parent)
        buf_add_char(out, '/');
    format_write(&route->segment, out);
}

bool route_words_cost(const struct place *directory, const struct route *route,
                      const struct map_pattern *pattern, const struct place_options *names,
                      struct cost *out)
{
    CLEAN_UP(price_clean_up) struct price price = {0};
    struct error why = {0};
    struct place *place = place_example(directory, route);
    bool found = place && price_init(&price, place, names, &why);
    if (found)
        *out = price.cost;
    if (found && pattern->limit_param &&
        !price.cost.is_free) { /* the example's number is a small one */
        struct cost widest;
        cost_of_pattern(pattern, NULL, pattern->limit, &widest);
        out->rcu.most += widest.rcu.most - price.plan->cost.rcu.most;
    }
    if (!found) /* no example values fit the path */
        cost_of_pattern(pattern, NULL, pattern->limit, out);
    if (directory->is_snapshot)
        *out = (struct cost){.is_free = true};
    out->described = false; /* the same for all paths */
    bool known = place && why.kind != ERROR_NO_MEMORY;
    place_destroy(place);
    return known;
}

/* The parameter of ROUTE's own step at the end of VALUE; NULL for none. */
static const char *route_words_stated_last(const struct route *route, const struct format *value)
{
    for (size_t i = value->count; i-- > 0;)
        if (value->pieces[i].param)
            return format_has(&route->segment, value->pieces[i].param) ? value->pieces[i].param
                                                                       : NULL;
    return NULL;
}

static bool route_words_ends_with(const struct format *format, struct span literal)
{
    return format->count > 0 && span_ends(format->pieces[format->count - 1].literal, literal);
}

/* The range of the sort order that the step's condition selects. */
static void route_words_write_range(const struct route *route, const struct map_pattern *pattern,
                                    struct buf *out)
{
    if (pattern->where_count == 0)
        return;
    const struct map_cond *cond = &pattern->where[pattern->where_count - 1];
    const char *value = route_words_stated_last(route, &cond->value);
    const char *upper =
        cond->op == COND_BETWEEN ? route_words_stated_last(route, &cond->upper) : NULL;
    bool open = cond->value.count > 0 && cond->value.pieces[cond->value.count - 1].param;
    const char *part = entry_names_tested_part(pattern);
    bool hidden = part && !entry_names_begin_with(pattern, part);
    if (value && cond->op == COND_BEGINS && open) { /* no separator ends the typed value */
        if (hidden)
            buf_printf(out, "all whose {%s} begins with {%s}", part, value);
        else
            buf_printf(out, "all that begins with {%s}", value);
        if (route_words_ends_with(&route->segment, span_text("*")))
            buf_add_text(out, "; quote the * in a shell");
    } else if (value && upper && strcmp(value, upper) != 0) {
        if (hidden)
            buf_printf(out, "by {%s}, ", part);
        buf_add_text(out, "both ends included");
        if (route_words_ends_with(&cond->upper, span_text(COND_LAST_CHARACTER)))
            buf_printf(out, ", and all that begins with {%s}", upper);
    }
}

/* Whether the path of PATTERN, or the pattern itself, has the part PARAM. */
static bool route_words_is_stated(const struct map_pattern *pattern, const char *param)
{
    size_t size = strlen(param);
    for (const char *at = pattern->path; (at = strchr(at, '{')); at++)
        if (strncmp(at + 1, param, size) == 0 && strchr("}*:", at[1 + size]))
            return true;
    for (size_t i = 0; i < pattern->stated_count; i++)
        if (strcmp(pattern->stated[i].param, param) == 0)
            return true;
    return false;
}

/* The first part of KEY that the path does not have; NULL for none. */
static const char *route_words_first_open(const struct map_pattern *pattern,
                                          const struct map_key *key)
{
    const struct map_kind *kind = pattern->entries[0].kind;
    const struct format *format =
        pattern->index ? model_key_format(pattern->table, key, kind) : &kind->keys[1];
    for (size_t i = 0; format && i < format->count; i++)
        if (format->pieces[i].param && !route_words_is_stated(pattern, format->pieces[i].param))
            return format->pieces[i].param;
    return NULL;
}

/* The part that orders the items of PATTERN's listing; NULL for none. */
static const char *route_words_order_part(const struct map_pattern *pattern)
{
    const struct map_index *index = pattern->index;
    const char *param = NULL;
    size_t count = index ? index->sort_count : pattern->table->key_count - 1;
    for (size_t i = 0; i < count && !param; i++)
        param = route_words_first_open(pattern, index ? &index->sort[i] : &pattern->table->keys[1]);
    return param;
}

/* A limit is always written, since a listing with fewer entries is no error. */
static void route_words_write_limit(const struct route *route, const struct map_pattern *pattern,
                                    struct buf *out)
{
    if (pattern->limit == 0)
        return;
    const struct map_cond *cond =
        pattern->where_count ? &pattern->where[pattern->where_count - 1] : NULL;
    const char *behind = cond && cond->op == COND_GT && !pattern->descending
                             ? route_words_stated_last(route, &cond->value)
                             : NULL;
    const char *which = behind ? "next" : pattern->descending ? "last" : "first";
    buf_add_text(out, out->size ? "; " : "");
    if (pattern->limit_param)
        buf_printf(out, "the %s {%s}", which, pattern->limit_param);
    else
        buf_printf(out, "the %s %" PRIu32, which, pattern->limit);
    const char *part = route_words_order_part(pattern);
    if (part && !entry_names_begin_with(pattern, part))
        buf_printf(out, " by {%s}", part);
    if (behind)
        buf_printf(out, " behind {%s}", behind);
    if (pattern->ties)
        buf_add_text(out, ", and those with the same key as the last");
    if (behind && pattern->index) /* its names contain other keys, too */
        buf_add_text(out, "; continue with the index's sort key of the last");
    else if (behind)
        buf_add_text(out, "; continue with the last name");
}

void route_words_window(const struct route *route, const struct map_pattern *pattern,
                        struct buf *out)
{
    route_words_write_range(route, pattern, out);
    route_words_write_limit(route, pattern, out);
}

bool route_words_is_dated(const struct map_pattern *pattern)
{
    const char *param = route_words_order_part(pattern);
    return param && (clue_names_a_date(span_text(param)) ||
                     (pattern->mtime && strcmp(pattern->mtime, param) == 0));
}

void route_words_order(const struct map_pattern *pattern, struct buf *out)
{
    if (pattern->entries[0].rank.digits)
        buf_printf(out, "names begin with their rank: the %s first, also for ls in a mount",
                   !route_words_is_dated(pattern) ? pattern->descending ? "last key" : "first key"
                   : pattern->descending          ? "newest"
                                                  : "oldest");
    else if (pattern->descending)
        buf_printf(out, "%s first; in a mount ls sorts by name: ls -U keeps the order%s",
                   route_words_is_dated(pattern) ? "newest" : "last key",
                   pattern->mtime ? ", ls -t sorts by date" : "");
}
