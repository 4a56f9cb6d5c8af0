#include "core/draft/map_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/draft/declare.h"
#include "core/draft/json_layout.h"
#include "core/json/json.h"
#include "core/map/condition_members.h"

static void map_writer_add_text(struct arena *arena, struct json_layout *to, const char *name,
                                const char *text)
{
    if (text)
        json_layout_add_text(arena, to, name, span_text(text));
}

static void map_writer_add_flag(struct arena *arena, struct json_layout *to, const char *name,
                                bool flag)
{
    json_layout_add_raw(arena, to, name, flag ? "true" : "false");
}

static void map_writer_add_number(struct arena *arena, struct json_layout *to, const char *name,
                                  int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    json_layout_add_raw(arena, to, name, text);
}

static void map_writer_add_format(struct arena *arena, struct json_layout *to, const char *name,
                                  const struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    arena->failed = arena->failed || text.failed;
    json_layout_add_text(arena, to, name, buf_span(&text));
}

static struct json_layout *map_writer_add_object(struct arena *arena, struct json_layout *to,
                                                 const char *name, const char *note)
{
    struct json_layout *object = json_layout_add(arena, to, name, JSON_LAYOUT_OBJECT);
    if (object)
        object->note = note;
    return object;
}

/* An object whose members have a line each. */
static struct json_layout *map_writer_add_rows(struct arena *arena, struct json_layout *to,
                                               const char *name)
{
    struct json_layout *rows = map_writer_add_object(arena, to, name, NULL);
    if (rows)
        rows->open = rows->aligned = true;
    return rows;
}

static void map_writer_add_texts(struct arena *arena, struct json_layout *to, const char *name,
                                 const char *const *texts, size_t count)
{
    struct json_layout *array = json_layout_add(arena, to, name, JSON_LAYOUT_ARRAY);
    for (size_t i = 0; array && i < count; i++)
        json_layout_add_text(arena, array, NULL, span_text(texts[i]));
}

/* Comments. */

/* Notes that the declaration has already stay. */
static void map_writer_set_note(const char **note, const char *text)
{
    if (!*note)
        *note = text;
}

/* Explains the first path of each sort. */
static void map_writer_comment_paths(struct declared_table *table)
{
    bool items = false, by = false, windows = false;
    for (struct declared_path *path = table->paths; path; path = path->next) {
        struct span text = span_text(path->path);
        if (!items && span_starts(text, SPAN_LITERAL("items/"))) {
            map_writer_set_note(
                &path->note,
                path->list ? "Every item of a partition, by its whole key: one Query, page by "
                             "page. `ls` on an item's name, or `cat`, is one GetItem."
                           : "Every item, by its whole key: one GetItem.");
            items = true;
        } else if (!by && span_starts(text, SPAN_LITERAL("by/"))) {
            map_writer_set_note(
                &path->note,
                "All items of a partition of an index: one Query of the index. Unless the index "
                "projects all attributes, the items are read again from the table.");
            by = true;
        } else if (!windows && path->hidden && (path->wheres || path->ordered)) {
            map_writer_set_note(
                &path->note,
                "Windows on the listing, to be typed: a \"hidden\" path can be opened, but no "
                "listing shows it, so that `grep -r` and `find` read each item once.");
            windows = true;
        }
    }
}

static void map_writer_comment_records(struct declared_record *record)
{
    if (!record || record->next)
        return;
    map_writer_set_note(
        &record->note,
        "One kind of item, whose keys are one part each: {x*} is any text. If keys have several "
        "parts, declare each kind with its parts, for example\n"
        "  \"profile\": { \"PK\": \"USER#{user_id}\", \"SK\": \"PROFILE\" },\n"
        "  \"order\":   { \"PK\": \"USER#{user_id}\", \"SK\": \"ORDER#{date}#{order_id}\" }\n"
        "Then paths can use these parts, and the key condition follows from them:\n"
        "  \"user/{user_id}/orders/\":          { \"list\": \"order\", \"newest\": 100 }\n"
        "  \"user/{user_id}/orders/on/{day}/\": { \"list\": \"order\", \"where\": { \"date\": "
        "\"{day}*\" } }\n"
        "With several kinds, each path names its kind: \"list\" or \"record\".");
}

void map_writer_add_comments(struct declared_map *map)
{
    map_writer_set_note(
        &map->note,
        "A first map, made by `ddbfs map`, ready to use and to edit. Comments and a comma after "
        "the last member are allowed.\n"
        "  ddbfs check FILE               compares it with the tables: run it after each change\n"
        "  ddbfs --map FILE explain PATH  shows what a path reads, and what it costs\n"
        "docs/map.md describes each member. Tables that the map does not name are below tables/ of "
        "each environment.");
    if (map->environments)
        map_writer_set_note(
            &map->environments->note,
            "An environment is the first step of each path. A table's name is the environment's "
            "\"prefix\" followed by the table's \"table\". An environment may also have a "
            "\"profile\" and a \"region\".");
    if (!map->tables)
        return;
    map_writer_comment_records(map->tables->records);
    map_writer_comment_paths(map->tables);
}

/* Tables. */

/* One side of an index's key. The short form "job_id" means { "job_id": "{job_id}" }. */
static void map_writer_add_side(struct arena *arena, struct json_layout *to, const char *name,
                                const struct declared_key *keys, size_t count)
{
    bool all_short = true;
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf format = {0}, own = {0};
        format_write(&keys[i].format, &format);
        buf_printf(&own, "{%s}", keys[i].attribute);
        all_short = all_short && !keys[i].by_kind && format_whole_param(&keys[i].format) &&
                    !format.failed && !own.failed && span_equal(buf_span(&format), buf_span(&own));
    }
    if (count == 0)
        return;
    if (count == 1 && all_short) {
        map_writer_add_text(arena, to, name, keys[0].attribute);
        return;
    }
    struct json_layout *side =
        json_layout_add(arena, to, name, all_short ? JSON_LAYOUT_ARRAY : JSON_LAYOUT_OBJECT);
    for (size_t i = 0; side && i < count; i++) {
        const struct declared_kind_format *each = keys[i].by_kind;
        if (all_short)
            map_writer_add_text(arena, side, NULL, keys[i].attribute);
        else if (!each)
            map_writer_add_format(arena, side, keys[i].attribute, &keys[i].format);
        struct json_layout *kinds =
            each ? map_writer_add_object(arena, side, keys[i].attribute, NULL) : NULL;
        for (; kinds && each; each = each->next)
            map_writer_add_format(arena, kinds, each->kind, &each->format);
    }
}

static void map_writer_add_indexes(struct arena *arena, struct json_layout *to,
                                   const struct declared_index *indexes)
{
    static const char *const words[] = {
        [PROJECTS_ALL] = "all", [PROJECTS_SOME] = "some", [PROJECTS_KEYS] = "keys"};
    struct json_layout *rows = indexes ? map_writer_add_rows(arena, to, "indexes") : NULL;
    for (const struct declared_index *each = indexes; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(arena, rows, each->name, each->note);
        if (!row)
            return;
        map_writer_add_side(arena, row, "partition", each->partition, each->partition_count);
        map_writer_add_side(arena, row, "sort", each->sort, each->sort_count);
        if (each->projects == PROJECTS_SOME && each->include_count > 0)
            map_writer_add_texts(arena, row, "projects", each->includes, each->include_count);
        else
            map_writer_add_text(arena, row, "projects", words[each->projects]);
        if (each->local)
            map_writer_add_flag(arena, row, "local", true);
        struct json_layout *holds =
            each->has_holds ? json_layout_add(arena, row, "holds", JSON_LAYOUT_ARRAY) : NULL;
        for (size_t i = 0; holds && i < each->hold_count; i++)
            map_writer_add_text(arena, holds, NULL, each->holds[i].text);
    }
}

static void map_writer_add_params(struct arena *arena, struct json_layout *to,
                                  const struct declared_param *params)
{
    struct json_layout *rows = params ? map_writer_add_rows(arena, to, "params") : NULL;
    for (const struct declared_param *each = params; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(arena, rows, each->name, each->note);
        if (!row)
            return;
        if (each->value_count > 0)
            map_writer_add_texts(arena, row, "values", each->values, each->value_count);
        if (each->only)
            map_writer_add_flag(arena, row, "only", true);
        map_writer_add_text(arena, row, "owner", each->owner);
        map_writer_add_text(arena, row, "match", each->match);
        map_writer_add_text(arena, row, "hint", each->hint);
        if (each->typed)
            map_writer_add_text(arena, row, "type", value_type_name(each->type));
    }
}

/* Conditions of paths. */

/* A number, true, false or null that was read without quotes is written without quotes. Of a range,
 * that may be true of one end only. */
static void map_writer_add_operand(struct arena *arena, struct json_layout *to, const char *name,
                                   bool typed, enum value_type type, const struct format *text)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    format_write(text, &written);
    arena->failed = arena->failed || written.failed;
    struct span bare = buf_span(&written);
    if (typed && type == VALUE_NULL)
        json_layout_add_raw(arena, to, name, "null");
    else if (typed && (json_is_number(bare) || span_is(bare, "true") || span_is(bare, "false")))
        json_layout_add_raw(arena, to, name, buf_text(&written));
    else
        json_layout_add_text(arena, to, name, bare);
}

/* The short form of a condition: "x", "x*", "x..y". False where it would be read as another
 * condition. */
static bool map_writer_write_short_condition(const struct declared_condition *condition,
                                             struct buf *out)
{
    format_write(&condition->value, out);
    struct span value = buf_span(out);
    bool has_dots = strstr(buf_text(out), "..");
    if (condition->typed || value.size == 0 || has_dots)
        return false;
    if (condition->op == COND_EQ)
        return !span_ends(value, SPAN_LITERAL("*"));
    if (condition->op == COND_BEGINS) {
        buf_add_char(out, '*');
        return true;
    }
    if (condition->op != COND_BETWEEN || span_ends(value, SPAN_LITERAL(".")) ||
        condition->upper.count == 0)
        return false;
    buf_add_text(out, "..");
    format_write(&condition->upper, out);
    return true;
}

/* The operation as a member of TO: "<": 5. */
static void map_writer_add_operation(struct arena *arena, struct json_layout *to,
                                     const struct declared_condition *condition)
{
    const char *word = map_condition_word(condition->op);
    struct json_layout *array;
    switch (condition->op) {
    case COND_EXISTS:
    case COND_MISSING:
        map_writer_add_flag(arena, to, word, condition->op == COND_EXISTS);
        return;
    case COND_BETWEEN:
        array = json_layout_add(arena, to, word, JSON_LAYOUT_ARRAY);
        if (!array)
            return;
        map_writer_add_operand(arena, array, NULL, condition->typed, condition->type,
                               &condition->value);
        map_writer_add_operand(arena, array, NULL, condition->typed, condition->type,
                               &condition->upper);
        return;
    case COND_IN:
        array = json_layout_add(arena, to, word, JSON_LAYOUT_ARRAY);
        for (size_t i = 0; array && i < condition->list_count; i++)
            map_writer_add_operand(arena, array, NULL, condition->list[i].typed,
                                   condition->list[i].type, &condition->list[i].text);
        return;
    default:
        map_writer_add_operand(arena, to, word, condition->typed, condition->type,
                               &condition->value);
    }
}

/* The first condition from LIST on that has CONDITION's target: one target is one member. */
static const struct declared_condition *
map_writer_find_same(const struct declared_condition *list,
                     const struct declared_condition *condition)
{
    while (list && (!list->target || list->whole != condition->whole ||
                    strcmp(list->target, condition->target) != 0))
        list = list->next;
    return list;
}

/* All conditions on one target: the short form, or an object of operations. The name of a key
 * attribute that may also be the name of a part is in single quotes; a quote inside is doubled. */
static void map_writer_add_target(struct arena *arena, struct json_layout *to,
                                  const struct declared_condition *condition)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, target = {0};
    bool alone = !map_writer_find_same(condition->next, condition);
    buf_add_text(&target, condition->whole ? "'" : "");
    for (const char *at = condition->target; *at; at++) {
        buf_add_text(&target, condition->whole && *at == '\'' ? "'" : "");
        buf_add_char(&target, *at);
    }
    buf_add_text(&target, condition->whole ? "'" : "");
    const char *name = declare_text(arena, &target);
    if (alone && map_writer_write_short_condition(condition, &text)) {
        arena->failed = arena->failed || text.failed;
        json_layout_add_text(arena, to, name, buf_span(&text));
        return;
    }
    if (alone && condition->op == COND_EQ && condition->typed) {
        map_writer_add_operand(arena, to, name, true, condition->type, &condition->value);
        return;
    }
    struct json_layout *object = json_layout_add(arena, to, name, JSON_LAYOUT_OBJECT);
    const struct declared_condition *each = object ? condition : NULL;
    for (; each; each = map_writer_find_same(each->next, condition))
        map_writer_add_operation(arena, object, each);
}

/* Each target is one member. "or" and "and" take a list of filters, each a condition COND_AND;
 * "not" takes one filter. */
static void map_writer_add_filters(struct arena *arena, struct json_layout *to,
                                   const struct declared_condition *conditions)
{
    for (const struct declared_condition *each = conditions; each; each = each->next) {
        if (each->target) {
            if (map_writer_find_same(conditions, each) == each)
                map_writer_add_target(arena, to, each);
            continue;
        }
        bool one = each->op == COND_NOT;
        struct json_layout *joined = json_layout_add(arena, to, map_condition_word(each->op),
                                                     one ? JSON_LAYOUT_OBJECT : JSON_LAYOUT_ARRAY);
        if (joined && one)
            map_writer_add_filters(arena, joined, each->children);
        const struct declared_condition *child = one ? NULL : each->children;
        for (; joined && child; child = child->next) {
            struct json_layout *filter = json_layout_add(arena, joined, NULL, JSON_LAYOUT_OBJECT);
            if (filter)
                map_writer_add_filters(arena, filter, child->children);
        }
    }
}

/* Adds the member NAME, "where" or "filter", unless there are no CONDITIONS. */
static void map_writer_add_conditions(struct arena *arena, struct json_layout *path,
                                      const char *name, const struct declared_condition *conditions)
{
    struct json_layout *object =
        conditions ? json_layout_add(arena, path, name, JSON_LAYOUT_OBJECT) : NULL;
    if (object)
        map_writer_add_filters(arena, object, conditions);
}

/* Paths and links. */

/* The member NAME: one kind, or a list of kinds. */
static void map_writer_add_kinds(struct arena *arena, struct json_layout *to, const char *name,
                                 const struct declared_name *kinds, size_t count)
{
    if (count == 1)
        map_writer_add_text(arena, to, name, kinds[0].text);
    struct json_layout *array =
        count > 1 ? json_layout_add(arena, to, name, JSON_LAYOUT_ARRAY) : NULL;
    for (size_t i = 0; array && i < count; i++)
        map_writer_add_text(arena, array, NULL, kinds[i].text);
}

static void map_writer_add_order(struct arena *arena, struct json_layout *to,
                                 const struct declared_path *path)
{
    const char *word = path->descending ? "newest" : "oldest";
    CLEAN_UP(buf_clean_up) struct buf param = {0};
    if (path->limit_param)
        buf_printf(&param, "{%s}", path->limit_param);
    arena->failed = arena->failed || param.failed;
    if (path->ordered && path->limit_param)
        json_layout_add_text(arena, to, word, buf_span(&param));
    else if (path->ordered && path->limit == 0)
        map_writer_add_text(arena, to, word, "all");
    else if (path->ordered)
        map_writer_add_number(arena, to, word, path->limit);
}

static void map_writer_add_path(struct arena *arena, struct json_layout *rows,
                                const struct declared_path *path)
{
    struct json_layout *row = map_writer_add_object(arena, rows, path->path, path->note);
    if (!row)
        return;
    map_writer_add_kinds(arena, row, path->list || path->kind_count > 1 ? "list" : "record",
                         path->kinds, path->kind_count);
    map_writer_add_text(arena, row, "index", path->index.text);
    map_writer_add_conditions(arena, row, "where", path->wheres);
    map_writer_add_conditions(arena, row, "filter", path->filters);
    map_writer_add_order(arena, row, path);
    if (path->ties)
        map_writer_add_flag(arena, row, "ties", true);
    if (path->groups)
        map_writer_add_flag(arena, row, "groups", true);
    struct json_layout *pick =
        path->pick == PICK_NONE ? NULL : map_writer_add_object(arena, row, "pick", NULL);
    if (pick)
        map_writer_add_text(arena, pick, path->pick == PICK_GREATEST ? "greatest" : "least",
                            path->pick_attribute);
    map_writer_add_text(arena, row, "attribute", path->attribute);
    if (path->has_name)
        map_writer_add_format(arena, row, "name", &path->name);
    if (path->hydrate != CHOICE_UNSAID)
        map_writer_add_flag(arena, row, "hydrate", path->hydrate == CHOICE_YES);
    if (path->consistent)
        map_writer_add_flag(arena, row, "consistent", true);
    if (path->hidden)
        map_writer_add_flag(arena, row, "hidden", true);
    if (path->ttl_ms >= 0)
        map_writer_add_number(arena, row, "ttl", path->ttl_ms / 1000);
    map_writer_add_text(arena, row, "mtime", path->mtime);
}

static void map_writer_add_link(struct arena *arena, struct json_layout *rows,
                                const struct declared_link *link)
{
    if (link->kind_count == 0 && !link->sources && !link->note) {
        map_writer_add_text(arena, rows, link->name, link->to);
        return;
    }
    struct json_layout *row = map_writer_add_object(arena, rows, link->name, link->note);
    if (!row)
        return;
    map_writer_add_kinds(arena, row, "record", link->kinds, link->kind_count);
    struct json_layout *from =
        link->sources ? map_writer_add_object(arena, row, "from", NULL) : NULL;
    for (const struct declared_link_source *each = link->sources; from && each; each = each->next)
        map_writer_add_format(arena, from, each->from, &each->format);
    map_writer_add_text(arena, row, "to", link->to);
}

static void map_writer_add_attributes(struct arena *arena, struct json_layout *to,
                                      const struct declared_attribute *attributes)
{
    struct json_layout *rows = attributes ? map_writer_add_rows(arena, to, "attributes") : NULL;
    for (const struct declared_attribute *each = attributes; rows && each; each = each->next) {
        struct json_layout *row = json_layout_add(arena, rows, each->name, JSON_LAYOUT_ARRAY);
        if (row)
            row->note = each->note;
        for (size_t i = 0; row && i < each->kind_count; i++)
            map_writer_add_text(arena, row, NULL, each->kinds[i].text);
    }
}

static void map_writer_add_table(struct arena *arena, struct json_layout *to,
                                 const struct declared_table *table)
{
    struct json_layout *object = map_writer_add_object(arena, to, table->path_name, table->note);
    if (!object)
        return;
    object->open = true;
    map_writer_add_text(arena, object, "table", table->base_name);
    struct json_layout *records =
        table->records ? map_writer_add_rows(arena, object, "records") : NULL;
    const struct declared_record *record = records ? table->records : NULL;
    for (; record; record = record->next) {
        struct json_layout *row = map_writer_add_object(arena, records, record->name, record->note);
        for (size_t i = 0; row && i < record->key_count; i++)
            map_writer_add_format(arena, row, record->keys[i].attribute, &record->keys[i].format);
    }
    map_writer_add_indexes(arena, object, table->indexes);
    struct json_layout *types =
        table->types ? map_writer_add_object(arena, object, "types", NULL) : NULL;
    for (const struct declared_type *each = table->types; types && each; each = each->next)
        map_writer_add_text(arena, types, each->attribute, value_type_name(each->type));
    map_writer_add_attributes(arena, object, table->attributes);
    if (table->separator != '#')
        json_layout_add_text(arena, object, "separator", span_of(&table->separator, 1));
    map_writer_add_params(arena, object, table->params);
    if (table->secret_count > 0)
        map_writer_add_texts(arena, object, "secret", table->secrets, table->secret_count);
    map_writer_add_text(arena, object, "mtime", table->mtime);
    if (table->ttl_ms != MAP_TTL_MS)
        map_writer_add_number(arena, object, "ttl", table->ttl_ms / 1000);
    struct json_layout *links = table->links ? map_writer_add_rows(arena, object, "links") : NULL;
    for (const struct declared_link *each = table->links; links && each; each = each->next)
        map_writer_add_link(arena, links, each);
    struct json_layout *paths =
        table->has_paths ? map_writer_add_rows(arena, object, "paths") : NULL;
    for (const struct declared_path *each = table->paths; paths && each; each = each->next)
        map_writer_add_path(arena, paths, each);
}

static struct json_layout *map_writer_lay_out(struct arena *arena, const struct declared_map *map)
{
    struct json_layout *root = map_writer_add_object(arena, NULL, NULL, map->note);
    if (!root)
        return NULL;
    root->open = root->spaced = true;
    map_writer_add_text(arena, root, "$schema", map->schema);
    struct json_layout *rows = map_writer_add_rows(arena, root, "environments");
    const struct declared_environment *each = rows ? map->environments : NULL;
    for (; each; each = each->next) {
        struct json_layout *row = map_writer_add_object(arena, rows, each->name, each->note);
        if (!row)
            return NULL;
        map_writer_add_text(arena, row, "prefix", each->prefix);
        map_writer_add_text(arena, row, "profile", each->profile);
        map_writer_add_text(arena, row, "region", each->region);
        map_writer_add_text(arena, row, "endpoint", each->endpoint);
        map_writer_add_text(arena, row, "snapshot", each->snapshot);
        map_writer_add_text(arena, row, "snapshots", each->snapshots);
        if (each->live)
            map_writer_add_flag(arena, row, "live", true);
    }
    struct json_layout *tables = map_writer_add_object(arena, root, "tables", NULL);
    if (!tables)
        return NULL;
    tables->open = tables->spaced = true;
    for (const struct declared_table *table = map->tables; table; table = table->next)
        map_writer_add_table(arena, tables, table);
    return root;
}

void map_writer_write(const struct declared_map *map, struct buf *out)
{
    struct arena arena = {0};
    const struct json_layout *root = map_writer_lay_out(&arena, map);
    if (arena.failed)
        out->failed = true;
    else
        json_layout_write(root, out);
    arena_discard(&arena);
}
