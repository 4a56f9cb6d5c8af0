#include "core/describe/readme.h"

#include <string.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/describe/route_words.h"
#include "core/describe/window_sets.h"
#include "core/map/companion.h"
#include "core/map/listable.h"
#include "core/name/names.h"
#include "core/read/moments.h"
#include "core/source/table_description.h"
#include "core/source/table_words.h"

/* In DIR@table. */
static const char README_COLUMNS[] =
    "Type the columns: attributes of the items, with a comma between them.\n\n"
    "  cat status,created_at\n"
    "      the listing as a table of these columns, aligned\n\n"
    "Other endings of the same name are @summary (all attributes), @csv:status,created_at\n"
    "(the same columns for a program), @jsonl (whole items, one a line), @sqlite (an SQLite\n"
    "database) and @count. A comma in a name is written %2C.\n";

/* In ENV@at. */
static const char README_TIMES[] =
    "The past, from snapshots. Type a time; the listing has those of the snapshots, the newest\n"
    "first.\n\n"
    "  2026-11-02T06:00:00Z/\n"
    "      the state at that moment, in the same directories as in the present\n\n"
    "Any date or time opens, and so does the beginning of one: 2026-11-02, 2026-11-02T06. The\n"
    "state is that of the newest snapshot or increment not later than the END of that year,\n"
    "month, day, hour, minute or second: 2026-11-02 includes all of that day. Times are UTC,\n"
    "unless they have an offset.\n\n"
    "An increment has the net changes of its window: a value that came and went between two\n"
    "moments is in none of them.\n\n"
    "The @info of an item or a listing names its snapshot. ITEM@history/ has an item's versions.\n";

/* In ITEM@history. */
static const char README_HISTORY[] =
    "The known versions of an item, the newest first. The name of each is the moment of the\n"
    "snapshot or increment in which it first is.\n\n"
    "Each window, from the moment before to that moment, has net changes only: if the item\n"
    "changed several times in a window, the version at its end is known; if it came and went,\n"
    "none. The time of the change itself is not known.\n\n"
    "An empty file is a deletion: the item exists at the moment before, and not at this one.\n"
    "TIME@info and TIME@typed open, too.\n";

/* In ITEM@similar. */
static const char README_SIMILAR[] =
    "The items whose vectors are nearest to this item's own, the nearest first, as the service\n"
    "orders them; the item itself is among them. A name begins with the rank. The directory N/,\n"
    "a number from 1 to 100, has N of them.\n\n"
    "ITEM@similar@jsonl, @csv and @table have the items with @rank, @score and @distance. Of\n"
    "COSINE and EUCLIDEAN the least score is the nearest, of DOT_PRODUCT the greatest.\n"
    "ITEM@similar@info has the scores and the cost, which is in bytes.\n";

/* In by/INDEX of a vector index. */
static void readme_write_vector(const struct place *directory, struct buf *out)
{
    const struct map_vector *vector = directory->route->vector;
    const struct model *table = directory->table;
    buf_printf(out,
               "%s is a vector index of %s: it has the %lu numbers in the attribute %s of each "
               "item,\nand compares them by %s.\n",
               vector->name, table->base_name, (unsigned long)vector->dimensions, vector->attribute,
               vector->distance);
    if (vector->partition)
        buf_printf(out, "A search compares only items with the same %s.\n", vector->partition);
    if (!model_vector_is_ready(vector))
        buf_printf(out, "It is not ready for searches: %s%s.\n", vector->status,
                   vector->is_backfilling ? ", backfilling" : "");
    buf_printf(out,
               "\nIt can't be listed: it has no keys, and answers only the question which items "
               "are nearest to\na vector (SearchVectors). The vector of an item is such a "
               "question:\n\n"
               "  ITEM@similar%s%s/    the 10 items nearest to ITEM\n"
               "  ITEM@similar%s%s/N/  the N nearest, from 1 to 100\n",
               table->vectors->next ? ":" : "", table->vectors->next ? vector->name : "",
               table->vectors->next ? ":" : "", table->vectors->next ? vector->name : "");
}

static void readme_write_pattern(const struct place *directory, const struct route *route,
                                 const struct map_pattern *pattern,
                                 const struct place_options *names, struct window_sets *sets,
                                 struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, words = {0}, window = {0}, order = {0};
    struct cost cost;
    route_words_path(route, &path);
    out->failed = !route_words_cost(directory, route, pattern, names, &cost) || out->failed;
    cost_write(&cost, &words);
    buf_add_text(&words, cost.is_free ? "" : "; ");
    cost_write_most(&cost, &words);
    buf_printf(out, "  %s%s\n      %s\n", buf_text(&path), pattern->list ? "/" : "",
               buf_text(&words));
    out->failed = out->failed || path.failed || words.failed;
    if (!pattern->list)
        return;
    size_t set = window_sets_find(sets, route);
    route_words_window(route, pattern, &window);
    route_words_order(pattern, &order);
    out->failed = out->failed || window.failed || order.failed;
    if (window.size)
        buf_printf(out, "      %s\n", buf_text(&window));
    if (order.size)
        buf_printf(out, "      %s\n", buf_text(&order));
    if (set > 0)
        buf_printf(out, "      windows %zu\n", set);
}

static void readme_write_patterns(const struct place *directory, const struct route *route,
                                  const struct place_options *names, struct window_sets *sets,
                                  struct buf *out)
{
    if (route->list && (route == directory->route || !window_sets_have(sets, route)))
        readme_write_pattern(directory, route, route->list, names, sets, out);
    if (route->file && !route->entry)
        readme_write_pattern(directory, route, route->file, names, sets, out);
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            readme_write_patterns(directory, child, names, sets, out);
}

/* Writes windows, except for those that BASE (or NULL) has as well. */
struct readme_windows {
    const struct route *base;
    struct buf *out;
};

static void readme_write_window(void *arg, const struct route *window, struct span step,
                                struct span shown)
{
    const struct readme_windows *writing = arg;
    struct buf *out = writing->out;
    CLEAN_UP(buf_clean_up) struct buf order = {0};
    if (writing->base && window_sets_include(writing->base, step, shown))
        return;
    route_words_order(window->list, &order);
    buf_printf(out, "    %.*s\n        %.*s\n", (int)step.size, step.data, (int)shown.size,
               shown.data);
    if (order.size)
        buf_printf(out, "        %s\n", buf_text(&order));
    out->failed = out->failed || order.failed;
}

/* Each set of windows once. */
static void readme_write_windows(const struct window_sets *sets, struct buf *out)
{
    if (sets->count > 0)
        buf_add_text(
            out,
            "\nBelow a listing with this mark, windows show a part of it. They open, and no ls\n"
            "shows them. One that shows a number of items is 1 request; another costs as\n"
            "much as the listing, page by page.\n");
    for (size_t i = 0; i < sets->count; i++) {
        size_t base = window_sets_base(sets, i);
        struct readme_windows writing = {base < i ? sets->listings[base] : NULL, out};
        buf_printf(out, "\n  windows %zu", i + 1);
        if (base < i)
            buf_printf(out, ": those of windows %zu, and", base + 1);
        buf_add_char(out, '\n');
        out->failed =
            !window_sets_each(sets->listings[i], readme_write_window, &writing) || out->failed;
    }
}

/* Whether PARAM is a part of a step below ROUTE. */
static bool readme_is_below(const struct route *route, const char *param)
{
    for (const struct route *child = route->children; child; child = child->next)
        if (format_has(&child->segment, param) || readme_is_below(child, param))
            return true;
    return false;
}

static void readme_write_hints(const struct place *place, struct buf *out)
{
    for (const struct map_param *param = place->table->params; param; param = param->next) {
        if (!readme_is_below(place->route, param->name))
            continue;
        if (param->only)
            buf_printf(out, "\nThe map declares all values of {%s}:", param->name);
        else if (param->value_count)
            buf_printf(out,
                       "\nThe map declares values of {%s}, which directories list:", param->name);
        for (size_t i = 0; i < param->value_count; i++) {
            buf_add_text(out, i ? ", " : " ");
            out->failed |= !names_write_attribute(param->values[i], out);
        }
        if (param->value_count)
            buf_add_text(out, ". Other values can be typed, too.\n");
        if (param->hint)
            buf_printf(out, "\n%s\n", param->hint);
    }
}

static void readme_write_unlisted(const struct place *directory, const struct route *child,
                                  const struct place_options *names,
                                  const struct model_provider_description *description,
                                  struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf segment = {0}, name = {0};
    format_write(&child->segment, &segment);
    names_write_placeholder(child, &name);
    out->failed = out->failed || segment.failed || name.failed;
    const char *reason =
        listable_values(directory->table, child)
            ? "lists only the values that the map declares; items may have others."
        : listable_follows_some(child, &directory->bindings) ||
                listable_is_group(child, &directory->bindings)
            ? "lists only the names that follow from entries; there may be others."
        : child == place_key_step(directory)
            ? "can't be listed here: no key leads to all names, and ddbfs does not scan by default."
            : "can't be listed here: no key leads to all names, and ddbfs does not scan.";
    buf_printf(out, "%s %s\n", buf_text(&segment), reason);
    if (names->omit_placeholders)
        buf_add_text(
            out, "The directory has no placeholder for them (unlistable=quiet). Type a name.\n");
    else
        buf_printf(out, "The placeholder %s does not open (EOPNOTSUPP). Type a name.\n",
                   buf_text(&name));
    if (child != place_key_step(directory))
        return;
    buf_add_text(out, "--allow-scan lists them by reading the whole table");
    if (description && description->item_count >= 0)
        buf_printf(out, " (%lld item%s)", (long long)description->item_count,
                   description->item_count == 1 ? "" : "s");
    buf_add_text(out, ".\n");
}

static void readme_write_key(const struct map_key *keys, size_t count, const char *between,
                             struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s (%s)", i ? ", " : between, keys[i].attribute,
                   value_type_name(keys[i].type));
}

/* The table's state, from the service's own text. A snapshot's table has no state. */
static void readme_write_state(const struct place *directory,
                               const struct model_provider_description *description,
                               struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    if (!description || directory->is_snapshot)
        return;
    if (description->text.size == 0) {
        buf_add_text(out, "Its description is large: schema.json has its throughput, stream and "
                          "replicas.\n");
        return;
    }
    const struct table_info *info =
        json_parse(&doc, description->text, JSON_STRICT, NULL)
            ? table_description_read(json_root(&doc), &arena)
            : NULL; /* the catalog has read the same text: only memory can be missing */
    out->failed = out->failed || arena.failed;
    if (!info)
        return;
    table_words_write_indexes(info, out);
    table_words_write_throughput(info, out);
    table_words_write_stream(info, out);
    table_words_write_replicas(info, out);
}

static void readme_write_table(const struct place *directory,
                               const struct model_provider_description *description,
                               struct buf *out)
{
    const struct model *table = directory->table;
    if (description && description->item_count >= 0 && description->size_bytes >= 0) {
        buf_printf(out, "%s has %lld item%s", directory->table_name,
                   (long long)description->item_count, description->item_count == 1 ? "" : "s");
        /* Local servers report no bytes. */
        if (description->size_bytes > 0 || description->item_count == 0)
            buf_printf(out, " with %lld bytes", (long long)description->size_bytes);
        buf_add_text(out, " (DescribeTable; up to six hours old).\n\n");
    }
    readme_write_key(table->keys, table->key_count, "Its key: ", out);
    buf_add_text(out, ".\n");
    for (const struct map_index *index = table->indexes; index; index = index->next) {
        buf_printf(out, "%s index %s: ", index->local ? "Local" : "Global", index->name);
        readme_write_key(index->partition, index->partition_count, "", out);
        readme_write_key(index->sort, index->sort_count, "; in the order of ", out);
        buf_add_text(out, index->projects == PROJECTS_ALL ? "; holds whole items" : "; holds keys");
        for (size_t i = 0; i < index->include_count; i++)
            buf_printf(out, ", %s", index->includes[i]);
        buf_add_text(out, ".\n");
    }
    readme_write_state(directory, description, out);
    buf_add_text(
        out, "\nFiles beside the items have the service's own JSON:\n\n"
             "  schema.json   the table's description\n      no further request\n"
             "  ttl.json      its time to live; opens, and is not listed\n"
             "      1 request\n"
             "  backups.json  backups, and recovery to a point in time; opens, and is not listed\n"
             "      2 requests\n"
             "  exports.json  exports to S3, of the last 90 days; opens, and is not listed\n"
             "      1 request\n"
             "  stream.json   its stream and the shards; opens, and is not listed\n"
             "      1 request\n\n"
             "changes.jsonl has a line of JSON for each change of an item since it was opened:\n"
             "`tail -f changes.jsonl` in a mount; elsewhere `ddbfs tail` with this directory. The\n"
             "table needs a stream.\n\n");
}

/* Whether items, or listings of them, are at ROUTE or below. */
static bool readme_has_below(const struct route *route, bool listing)
{
    bool here =
        listing ? route->list && !route->list->groups : route->file && !route->file->attribute;
    for (const struct route *child = route->children; !here && child; child = child->next)
        here = readme_has_below(child, listing);
    return here;
}

static void readme_write_companions_of(const struct route *route, bool listing, struct buf *out)
{
    size_t count;
    const struct companion_words *words = companion_words_of(listing, &count);
    if (!readme_has_below(route, listing))
        return;
    buf_printf(out, "\nEach %s has files that open and are not listed. Append to its name:\n\n",
               listing ? "directory that lists items" : "item");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "  %-11s %s\n", words[i].name, words[i].is);
}

/* Of an environment at an earlier time: the moment that it shows. */
static void readme_write_moment(const struct place *directory, const struct place_options *names,
                                struct buf *out)
{
    int64_t moment_ms;
    if (!directory->is_past ||
        !moments_find(names->moments, directory->environment, directory->at_ms, &moment_ms, NULL))
        return;
    buf_printf(out, "The state at %.*s is that of ", (int)directory->at.size, directory->at.data);
    instant_write_exact(out, moment_ms);
    buf_add_text(out, ", or of an earlier moment where a table has no snapshot of that one.\n\n");
}

/* Of an environment that has snapshots: where its past is. */
static void readme_write_past(const struct place *directory, const struct place_options *names,
                              struct buf *out)
{
    const int64_t *times;
    size_t count;
    if (!directory->environment || directory->is_past || !names->moments ||
        !moments_list(names->moments, directory->environment, INT64_MAX, &times, &count, NULL))
        return;
    buf_printf(
        out, "\n/%.*s" PLACE_TIMES_ENDING "/ has the past, from %zu snapshot%s: the newest is of ",
        (int)directory->environment_name.size, directory->environment_name.data, count,
        count == 1 ? "" : "s");
    instant_write_exact(out, times[0]);
    buf_add_text(out, ".\n");
}

/* Of the root, or of an environment. */
static void readme_write_above_tables(const struct place *directory,
                                      const struct place_options *names, struct buf *out)
{
    const struct map *map = directory->map;
    const struct map_environment *each = directory->environment ? NULL : map->environments;
    readme_write_moment(directory, names, out);
    buf_add_text(out, "Contents:\n\n");
    for (; each; each = each->next) {
        buf_add_text(out, "  ");
        format_write(&each->name, out);
        buf_add_text(out, "/\n      an environment\n");
    }
    for (size_t i = 0; directory->environment && i < map->model_count; i++)
        buf_printf(out, "  %s/\n      the table %s%s; its README has its paths and their costs\n",
                   map->models[i]->path_name, directory->table_prefix, map->models[i]->base_name);
    if (directory->environment && directory->table_prefix[0])
        buf_printf(out,
                   "  " MAP_TABLES_NAME
                   "/\n      tables by their full names; lists those that begin with %s\n",
                   directory->table_prefix);
    else if (directory->environment || !place_hides_tables(directory, names))
        buf_add_text(out, "  " MAP_TABLES_NAME "/\n      all tables, by their full names\n");
    readme_write_past(directory, names, out);
    buf_add_text(
        out, "\nEach directory of a table has a README, listed or not. `ddbfs skill` prints the\n"
             "whole map as one document.\n");
}

static void readme_write_within_table(const struct place *directory,
                                      const struct place_options *names,
                                      const struct model_provider_description *description,
                                      struct buf *out)
{
    struct window_sets sets = {0};
    const struct route *step = NULL;
    while ((step = place_next_unlisted(directory, names, step)))
        readme_write_unlisted(directory, step, names, description, out);
    if (out->size > 0) {
        buf_add_text(out, "In a mount, /.ddbfs/recent has the paths that were opened lately.\n\n");
    } else if (place_scans_snapshot(directory) && place_key_step(directory)) {
        buf_add_text(out, "The partition keys come from the snapshot, page by page, and cost "
                          "nothing.\n\n");
    } else if (names->scan && place_key_step(directory)) {
        buf_printf(out,
                   "The partition keys come from a Scan of the whole table (--allow-scan), which "
                   "reads\nevery item, at most once a minute. A table with more than %llu items "
                   "or\n",
                   (unsigned long long)names->scan->items);
        size_write(names->scan->bytes, out);
        buf_add_text(out, " (--scan-limit) is not scanned: type its keys.\n\n");
    }
    if (directory->table_name && !directory->route->parent)
        readme_write_table(directory, description, out);
    if (directory->is_snapshot && names->moments) {
        buf_add_text(out, "Its items are read from ");
        names->moments->write_origin(names->moments->arg, directory, out);
        buf_add_text(out, ".\n\n");
    }
    buf_printf(out, "Paths of %s%s and their costs:\n\n", directory->table_prefix,
               directory->table->base_name);
    window_sets_collect(&sets, directory->route);
    readme_write_patterns(directory, directory->route, names, &sets, out);
    readme_write_windows(&sets, out);
    out->failed = out->failed || sets.failed;
    readme_write_hints(directory, out);
    readme_write_companions_of(directory->route, true, out);
    readme_write_companions_of(directory->route, false, out);
}

bool readme_write(const struct place *directory, const struct place_options *names,
                  const struct model_provider_description *description, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (directory->companion == COMPANION_HISTORY)
        buf_add_text(&text, README_HISTORY);
    else if (directory->companion == COMPANION_SIMILAR)
        buf_add_text(&text, README_SIMILAR);
    else if (directory->companion != COMPANION_NONE)
        buf_add_text(&text, README_COLUMNS);
    else if (directory->is_past && directory->at.size == 0)
        buf_add_text(&text, README_TIMES);
    else if (!directory->route)
        readme_write_above_tables(directory, names, &text);
    else if (directory->route->vector)
        readme_write_vector(directory, &text);
    else
        readme_write_within_table(directory, names, description, &text);
    printable_add_lines(out, buf_span(&text));
    out->failed = out->failed || text.failed;
    return !out->failed;
}
