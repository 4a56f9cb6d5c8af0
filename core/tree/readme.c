#include "core/tree/readme.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/map/groups.h"
#include "core/map/listable.h"
#include "core/tree/census.h"
#include "core/tree/entries.h"
#include "core/tree/price.h"

/* The path of ROUTE within its table, as the map writes it. */
static void write_path(const struct route *route, struct buf *out)
{
    if (!route->parent)
        return;
    write_path(route->parent, out);
    if (route->parent->parent)
        buf_add_char(out, '/');
    format_write(&route->segment, out);
}

/* What PATTERN costs at ROUTE, below DIRECTORY, whatever is typed for its parameters. False when
 * memory ran out. */
static bool find_cost(const struct place *directory, const struct route *route,
                      const struct map_pattern *pattern, const struct place_options *names,
                      struct cost *out)
{
    CLEAN_UP(price_clean_up) struct price price = {0};
    struct error why = {0};
    struct place *place = place_example(directory, route);
    bool found = place && price_init(&price, place, names, &why);
    place_destroy(place);
    if (found)
        *out = price.cost;
    else /* nothing that could stand in for what is typed suits it */
        cost_of_pattern(pattern, NULL, out);
    out->described = false; /* that is the same for all */
    return place && why.kind != ERROR_NO_MEMORY;
}

/* The parameter of ROUTE's own step that VALUE goes up to; NULL where the step says nothing of it.
 */
static const char *said_last(const struct route *route, const struct format *value)
{
    for (size_t i = value->count; i-- > 0;)
        if (value->pieces[i].param)
            return format_has(&route->segment, value->pieces[i].param) ? value->pieces[i].param
                                                                       : NULL;
    return NULL;
}

static bool ends_with(const struct format *format, struct span literal)
{
    return format->count > 0 && span_ends(format->pieces[format->count - 1].literal, literal);
}

/* Which part of what is in order the step shows by its condition. */
static void write_range(const struct route *route, const struct map_pattern *pattern,
                        struct buf *out)
{
    if (pattern->where_count == 0)
        return;
    const struct map_cond *cond = &pattern->where[pattern->where_count - 1];
    const char *value = said_last(route, &cond->value);
    const char *upper = cond->op == COND_BETWEEN ? said_last(route, &cond->upper) : NULL;
    if (value && cond->op == COND_BEGINS) {
        buf_printf(out, "all that begins with {%s}", value);
        if (ends_with(&route->segment, span_text("*")))
            buf_add_text(out, "; quote the * in a shell");
    } else if (value && upper && strcmp(value, upper) != 0) {
        buf_add_text(out, "both ends included");
        if (ends_with(&cond->upper, span_text(COND_LAST_CHARACTER)))
            buf_printf(out, ", and all that begins with {%s}", upper);
    }
}

/* How many of them: what a listing leaves out is told, as an entry less is no error. */
static void write_limit(const struct route *route, const struct map_pattern *pattern,
                        struct buf *out)
{
    if (pattern->limit == 0)
        return;
    const struct map_cond *cond =
        pattern->where_count ? &pattern->where[pattern->where_count - 1] : NULL;
    const char *behind =
        cond && cond->op == COND_GT && !pattern->descending ? said_last(route, &cond->value) : NULL;
    const char *which = behind ? "next" : pattern->descending ? "last" : "first";
    buf_add_text(out, out->size ? "; " : "");
    if (pattern->limit_param)
        buf_printf(out, "the %s {%s}", which, pattern->limit_param);
    else
        buf_printf(out, "the %s %" PRIu32, which, pattern->limit);
    if (behind)
        buf_printf(out, " behind {%s}", behind);
    if (pattern->ties)
        buf_add_text(out, ", and what shares its key with the last of them");
    if (behind && pattern->index) /* whose names have other keys, too */
        buf_printf(out, "; go on with the %s of the last", cond->attribute);
    else if (behind)
        buf_add_text(out, "; go on with the last name");
}

static void write_window(const struct route *route, const struct map_pattern *pattern,
                         struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf window = {0};
    write_range(route, pattern, &window);
    write_limit(route, pattern, &window);
    out->failed = out->failed || window.failed;
    if (window.size)
        buf_printf(out, "      %s\n", buf_text(&window));
}

static void write_order(const struct map_pattern *pattern, struct buf *out)
{
    if (pattern->entries[0].rank.digits)
        buf_printf(out,
                   "      names begin with their place in it: the %s first, also in a mount's ls\n",
                   pattern->descending ? "newest" : "oldest");
    else if (pattern->descending)
        buf_printf(out,
                   "      newest first; in a mount ls sorts by name: ls -U keeps the order%s\n",
                   pattern->mtime ? ", ls -t sorts by date" : "");
}

static void write_pattern(const struct place *directory, const struct route *route,
                          const struct map_pattern *pattern, const struct place_options *names,
                          struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, words = {0};
    struct cost cost;
    write_path(route, &path);
    out->failed = out->failed || !find_cost(directory, route, pattern, names, &cost);
    cost_write(&cost, &words);
    buf_printf(out, "  %s%s\n      %s\n", buf_text(&path), pattern->list ? "/" : "",
               buf_text(&words));
    if (!pattern->list)
        return;
    write_window(route, pattern, out);
    write_order(pattern, out);
}

static void write_patterns(const struct place *directory, const struct route *route,
                           const struct place_options *names, struct buf *out)
{
    if (route->list)
        write_pattern(directory, route, route->list, names, out);
    if (route->file && !route->entry)
        write_pattern(directory, route, route->file, names, out);
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            write_patterns(directory, child, names, out);
}

/* Whether PARAM is asked for somewhere below ROUTE. */
static bool is_below(const struct route *route, const char *param)
{
    for (const struct route *child = route->children; child; child = child->next)
        if (format_has(&child->segment, param) || is_below(child, param))
            return true;
    return false;
}

static void write_hints(const struct place *place, struct buf *out)
{
    for (const struct map_param *param = place->table->params; param; param = param->next) {
        if (!is_below(place->route, param->name))
            continue;
        if (param->only)
            buf_printf(out, "\nOf {%s} there are, by the map, only:", param->name);
        else if (param->value_count)
            buf_printf(out, "\nOf {%s} the map knows, and directories list:", param->name);
        for (size_t i = 0; i < param->value_count; i++) {
            buf_add_text(out, i ? ", " : " ");
            buf_add_span(out, param->values[i]);
        }
        if (param->value_count)
            buf_add_text(out, ". Another value may be typed all the same.\n");
        if (param->hint)
            buf_printf(out, "\n%s\n", param->hint);
    }
}

/* By which option a table's own keys would be listed, and what that reads. */
static void write_scan_option(const struct models_told *told, struct buf *out)
{
    buf_add_text(out, "--allow-scan lists them by reading the whole table");
    if (told && told->item_count >= 0)
        buf_printf(out, " (%lld item%s)", (long long)told->item_count,
                   told->item_count == 1 ? "" : "s");
    buf_add_text(out, ".\n");
}

static void write_unlisted(const struct place *directory, const struct route *child,
                           const struct models_told *told, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&child->segment, &segment);
    const char *reason =
        listable_values(directory->table, child)
            ? "is listed as far as the map knows its values; records may have others."
        : listable_follows_some(child, &directory->bindings) ||
                groups_show(child, &directory->bindings)
            ? "is listed as far as entries lead to it; there may be others."
        : child == census_step(directory)
            ? "can't be listed here: no key leads to all of them, and this never scans unasked."
            : "can't be listed here: no key leads to all of them, and this never scans.";
    buf_printf(out,
               "%s %s\n"
               "So what is shown ends in an error (EOPNOTSUPP). Type the name.\n",
               buf_text(&segment), reason);
    if (child == census_step(directory))
        write_scan_option(told, out);
    buf_add_text(out, "In a mount, /.ddbfs/recent has the paths that were opened lately.\n\n");
}

static void write_scanned(const struct scan_limits *limits, struct buf *out)
{
    buf_printf(out,
               "The partition keys are listed by a Scan of the whole table (--allow-scan), which\n"
               "reads every item, at most once a minute. Of a table of more than %llu items or\n",
               (unsigned long long)limits->items);
    census_write_size(limits->bytes, out);
    buf_add_text(out, " (--scan-limit) they are not listed, and have to be typed.\n\n");
}

/* How many, of how much: counts of the service's, which it renews every six hours or so. */
static void write_counts(const struct place *directory, const struct models_told *told,
                         struct buf *out)
{
    if (!told || told->item_count < 0 || told->size_bytes < 0)
        return;
    buf_printf(out, "%s has %lld item%s", directory->table_name, (long long)told->item_count,
               told->item_count == 1 ? "" : "s");
    if (told->size_bytes > 0 || told->item_count == 0) /* local servers count no bytes */
        buf_printf(out, " of %lld bytes together", (long long)told->size_bytes);
    buf_add_text(out, ", as DescribeTable says; its counts are up to\nsix hours old.\n\n");
}

static void write_key(const struct map_key *keys, size_t count, const char *between,
                      struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s (%s)", i ? ", " : between, keys[i].attribute,
                   value_type_name(keys[i].type));
}

static void write_projection(const struct map_index *index, struct buf *out)
{
    if (index->projects == PROJECTS_ALL)
        buf_add_text(out, "; holds whole items");
    else
        buf_add_text(out, "; holds keys");
    for (size_t i = 0; i < index->include_count; i++)
        buf_printf(out, ", %s", index->includes[i]);
}

/* Keys and indexes in words, and what stands beside the items. */
static void write_table(const struct place *directory, const struct models_told *told,
                        struct buf *out)
{
    const struct model *table = directory->table;
    write_counts(directory, told, out);
    write_key(table->keys, table->key_count, "Its key: ", out);
    buf_add_text(out, ".\n");
    for (const struct map_index *index = table->indexes; index; index = index->next) {
        buf_printf(out, "%s index %s: ", index->local ? "Local" : "Global", index->name);
        write_key(index->partition, index->partition_count, "", out);
        write_key(index->sort, index->sort_count, "; in the order of ", out);
        write_projection(index, out);
        buf_add_text(out, ".\n");
    }
    buf_add_text(out,
                 "\nBeside the items stand, in the service's own words:\n\n"
                 "  schema.json   its description\n      no request more\n"
                 "  ttl.json      by what its items expire; opens, and is not listed\n"
                 "      1 request\n"
                 "  backups.json  on demand, and to a point in time; opens, and is not listed\n"
                 "      2 requests\n\n");
}

bool readme_write(const struct place *directory, const struct place_options *names,
                  const struct models_told *told, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct route *unlisted = entries_unlisted(directory, names);
    if (unlisted)
        write_unlisted(directory, unlisted, told, &text);
    else if (names->scan && census_step(directory))
        write_scanned(names->scan, &text);
    if (directory->table_name && !directory->route->parent)
        write_table(directory, told, &text);
    buf_printf(&text, "Paths of %s%s, and what each costs:\n\n", directory->table_prefix,
               directory->table->base_name);
    write_patterns(directory, directory->route, names, &text);
    write_hints(directory, &text);
    printable_add_lines(out, buf_span(&text));
    out->failed = out->failed || text.failed;
    return !out->failed;
}
