#include "core/draft/map_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/draft/condition_writer.h"
#include "core/draft/json_layout.h"

/* What is made of one map. */
struct writing {
    struct arena arena; /* owned */
};

static void map_writer_add_text(struct writing *writing, struct json_layout *to, const char *name,
                                const char *text)
{
    if (text)
        json_layout_add_text(&writing->arena, to, name, span_text(text));
}

static void map_writer_add_flag(struct writing *writing, struct json_layout *to, const char *name,
                                bool flag)
{
    json_layout_add_raw(&writing->arena, to, name, flag ? "true" : "false");
}

static void map_writer_add_number(struct writing *writing, struct json_layout *to, const char *name,
                                  int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    json_layout_add_raw(&writing->arena, to, name, text);
}

static void map_writer_add_format(struct writing *writing, struct json_layout *to, const char *name,
                                  const struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    writing->arena.failed = writing->arena.failed || text.failed;
    json_layout_add_text(&writing->arena, to, name, buf_span(&text));
}

static struct json_layout *map_writer_add_object(struct writing *writing, struct json_layout *to,
                                                 const char *name, const char *note)
{
    struct json_layout *object = json_layout_add(&writing->arena, to, name, JSON_LAYOUT_OBJECT);
    if (object)
        object->note = note;
    return object;
}

/* An object whose members have a line each. */
static struct json_layout *map_writer_add_rows(struct writing *writing, struct json_layout *to,
                                               const char *name)
{
    struct json_layout *rows = map_writer_add_object(writing, to, name, NULL);
    if (rows)
        rows->open = rows->aligned = true;
    return rows;
}

static void map_writer_add_texts(struct writing *writing, struct json_layout *to, const char *name,
                                 const char *const *texts, size_t count)
{
    struct json_layout *array = json_layout_add(&writing->arena, to, name, JSON_LAYOUT_ARRAY);
    for (size_t i = 0; array && i < count; i++)
        json_layout_add_text(&writing->arena, array, NULL, span_text(texts[i]));
}

static void map_writer_add_environments(struct writing *writing, struct json_layout *to,
                                        const struct declared_environment *environments)
{
    struct json_layout *rows = map_writer_add_rows(writing, to, "environments");
    for (const struct declared_environment *each = environments; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        map_writer_add_text(writing, row, "prefix", each->prefix);
        map_writer_add_text(writing, row, "profile", each->profile);
        map_writer_add_text(writing, row, "region", each->region);
        map_writer_add_text(writing, row, "endpoint", each->endpoint);
    }
}

static void map_writer_add_records(struct writing *writing, struct json_layout *to,
                                   const struct declared_record *records)
{
    struct json_layout *rows = map_writer_add_rows(writing, to, "records");
    for (const struct declared_record *each = records; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(writing, rows, each->name, each->note);
        for (size_t i = 0; row && i < each->key_count; i++)
            map_writer_add_format(writing, row, each->keys[i].attribute, &each->keys[i].format);
    }
}

/* Whether the attribute's name says its format: "job_id" is short for { "job_id": "{job_id}" }. */
static bool map_writer_is_short(const struct declared_key *key)
{
    CLEAN_UP(buf_clean_up) struct buf format = {0}, own = {0};
    format_write(&key->format, &format);
    buf_printf(&own, "{%s}", key->attribute);
    return !key->by_kind && format_whole_param(&key->format) && !format.failed && !own.failed &&
           span_equal(buf_span(&format), buf_span(&own));
}

static void map_writer_add_key(struct writing *writing, struct json_layout *to,
                               const struct declared_key *key)
{
    if (!key->by_kind) {
        map_writer_add_format(writing, to, key->attribute, &key->format);
        return;
    }
    struct json_layout *kinds = map_writer_add_object(writing, to, key->attribute, NULL);
    for (const struct declared_kind_format *each = key->by_kind; kinds && each; each = each->next)
        map_writer_add_format(writing, kinds, each->kind, &each->format);
}

static void map_writer_add_side(struct writing *writing, struct json_layout *to, const char *name,
                                const struct declared_key *keys, size_t count)
{
    bool all_short = true;
    for (size_t i = 0; i < count; i++)
        all_short = all_short && map_writer_is_short(&keys[i]);
    if (count == 0)
        return;
    if (count == 1 && all_short) {
        map_writer_add_text(writing, to, name, keys[0].attribute);
        return;
    }
    struct json_layout *side = json_layout_add(&writing->arena, to, name,
                                               all_short ? JSON_LAYOUT_ARRAY : JSON_LAYOUT_OBJECT);
    for (size_t i = 0; side && i < count; i++) {
        if (all_short)
            map_writer_add_text(writing, side, NULL, keys[i].attribute);
        else
            map_writer_add_key(writing, side, &keys[i]);
    }
}

static void map_writer_add_projection(struct writing *writing, struct json_layout *to,
                                      const struct declared_index *index)
{
    static const char *const words[] = {
        [PROJECTS_ALL] = "all", [PROJECTS_SOME] = "some", [PROJECTS_KEYS] = "keys"};
    if (index->projects == PROJECTS_SOME && index->include_count > 0)
        map_writer_add_texts(writing, to, "projects", index->includes, index->include_count);
    else
        map_writer_add_text(writing, to, "projects", words[index->projects]);
}

static void map_writer_add_indexes(struct writing *writing, struct json_layout *to,
                                   const struct declared_index *indexes)
{
    struct json_layout *rows = indexes ? map_writer_add_rows(writing, to, "indexes") : NULL;
    for (const struct declared_index *each = indexes; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        map_writer_add_side(writing, row, "partition", each->partition, each->partition_count);
        map_writer_add_side(writing, row, "sort", each->sort, each->sort_count);
        map_writer_add_projection(writing, row, each);
        if (each->local)
            map_writer_add_flag(writing, row, "local", true);
    }
}

static void map_writer_add_types(struct writing *writing, struct json_layout *to,
                                 const struct declared_type *types)
{
    struct json_layout *row = types ? map_writer_add_object(writing, to, "types", NULL) : NULL;
    for (const struct declared_type *each = types; row && each; each = each->next)
        map_writer_add_text(writing, row, each->attribute, value_type_name(each->type));
}

static void map_writer_add_params(struct writing *writing, struct json_layout *to,
                                  const struct declared_param *params)
{
    struct json_layout *rows = params ? map_writer_add_rows(writing, to, "params") : NULL;
    for (const struct declared_param *each = params; rows && each; each = each->next) {
        struct json_layout *row = map_writer_add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        if (each->value_count > 0)
            map_writer_add_texts(writing, row, "values", each->values, each->value_count);
        if (each->only)
            map_writer_add_flag(writing, row, "only", true);
        map_writer_add_text(writing, row, "owner", each->owner);
        map_writer_add_text(writing, row, "match", each->match);
        map_writer_add_text(writing, row, "hint", each->hint);
        if (each->typed)
            map_writer_add_text(writing, row, "type", value_type_name(each->type));
    }
}

static void map_writer_add_kinds(struct writing *writing, struct json_layout *to,
                                 const struct declared_path *path)
{
    if (path->kind_count == 1)
        map_writer_add_text(writing, to, path->list ? "list" : "record", path->kinds[0].text);
    if (path->kind_count < 2)
        return;
    struct json_layout *array = json_layout_add(&writing->arena, to, "list", JSON_LAYOUT_ARRAY);
    for (size_t i = 0; array && i < path->kind_count; i++)
        map_writer_add_text(writing, array, NULL, path->kinds[i].text);
}

static void map_writer_add_order(struct writing *writing, struct json_layout *to,
                                 const struct declared_path *path)
{
    const char *word = path->descending ? "newest" : "oldest";
    CLEAN_UP(buf_clean_up) struct buf param = {0};
    if (path->limit_param)
        buf_printf(&param, "{%s}", path->limit_param);
    writing->arena.failed = writing->arena.failed || param.failed;
    if (path->ordered && path->limit_param)
        json_layout_add_text(&writing->arena, to, word, buf_span(&param));
    else if (path->ordered && path->limit == 0)
        map_writer_add_text(writing, to, word, "all");
    else if (path->ordered)
        map_writer_add_number(writing, to, word, path->limit);
}

static void map_writer_add_pick(struct writing *writing, struct json_layout *to,
                                const struct declared_path *path)
{
    struct json_layout *pick =
        path->pick == PICK_NONE ? NULL : map_writer_add_object(writing, to, "pick", NULL);
    if (pick)
        map_writer_add_text(writing, pick, path->pick == PICK_GREATEST ? "greatest" : "least",
                            path->pick_attribute);
}

static void map_writer_add_path(struct writing *writing, struct json_layout *rows,
                                const struct declared_path *path)
{
    struct json_layout *row = map_writer_add_object(writing, rows, path->path, path->note);
    if (!row)
        return;
    map_writer_add_kinds(writing, row, path);
    map_writer_add_text(writing, row, "index", path->index.text);
    write_where(&writing->arena, row, path->wheres);
    write_filter(&writing->arena, row, path->filters);
    map_writer_add_order(writing, row, path);
    if (path->ties)
        map_writer_add_flag(writing, row, "ties", true);
    if (path->groups)
        map_writer_add_flag(writing, row, "groups", true);
    map_writer_add_pick(writing, row, path);
    map_writer_add_text(writing, row, "attribute", path->attribute);
    if (path->has_name)
        map_writer_add_format(writing, row, "name", &path->name);
    if (path->hydrate != CHOICE_UNSAID)
        map_writer_add_flag(writing, row, "hydrate", path->hydrate == CHOICE_YES);
    if (path->consistent)
        map_writer_add_flag(writing, row, "consistent", true);
    if (path->hidden)
        map_writer_add_flag(writing, row, "hidden", true);
    if (path->ttl_ms >= 0)
        map_writer_add_number(writing, row, "ttl", path->ttl_ms / 1000);
    map_writer_add_text(writing, row, "mtime", path->mtime);
}

static void map_writer_add_link(struct writing *writing, struct json_layout *rows,
                                const struct declared_link *link)
{
    bool is_short = link->kind_count == 0 && !link->sources && !link->note;
    if (is_short)
        map_writer_add_text(writing, rows, link->name, link->to);
    struct json_layout *row =
        is_short ? NULL : map_writer_add_object(writing, rows, link->name, link->note);
    if (!row)
        return;
    if (link->kind_count == 1)
        map_writer_add_text(writing, row, "record", link->kinds[0].text);
    struct json_layout *kinds =
        link->kind_count > 1 ? json_layout_add(&writing->arena, row, "record", JSON_LAYOUT_ARRAY)
                             : NULL;
    for (size_t i = 0; kinds && i < link->kind_count; i++)
        map_writer_add_text(writing, kinds, NULL, link->kinds[i].text);
    struct json_layout *from =
        link->sources ? map_writer_add_object(writing, row, "from", NULL) : NULL;
    for (const struct declared_link_source *each = link->sources; from && each; each = each->next)
        map_writer_add_format(writing, from, each->from, &each->format);
    map_writer_add_text(writing, row, "to", link->to);
}

static void map_writer_add_table(struct writing *writing, struct json_layout *to,
                                 const struct declared_table *table)
{
    struct json_layout *object = map_writer_add_object(writing, to, table->path_name, table->note);
    if (!object)
        return;
    object->open = true;
    map_writer_add_text(writing, object, "table", table->base_name);
    if (table->records)
        map_writer_add_records(writing, object, table->records);
    map_writer_add_indexes(writing, object, table->indexes);
    map_writer_add_types(writing, object, table->types);
    if (table->separator != '#')
        json_layout_add_text(&writing->arena, object, "separator", span_of(&table->separator, 1));
    map_writer_add_params(writing, object, table->params);
    if (table->secret_count > 0)
        map_writer_add_texts(writing, object, "secret", table->secrets, table->secret_count);
    map_writer_add_text(writing, object, "mtime", table->mtime);
    if (table->ttl_ms != MAP_TTL_MS)
        map_writer_add_number(writing, object, "ttl", table->ttl_ms / 1000);
    struct json_layout *links = table->links ? map_writer_add_rows(writing, object, "links") : NULL;
    for (const struct declared_link *each = table->links; links && each; each = each->next)
        map_writer_add_link(writing, links, each);
    struct json_layout *paths =
        table->has_paths ? map_writer_add_rows(writing, object, "paths") : NULL;
    for (const struct declared_path *each = table->paths; paths && each; each = each->next)
        map_writer_add_path(writing, paths, each);
}

static const struct json_layout *map_writer_lay_out(struct writing *writing,
                                                    const struct declared_map *map)
{
    struct json_layout *root = map_writer_add_object(writing, NULL, NULL, map->note);
    if (!root)
        return NULL;
    root->open = root->spaced = true;
    map_writer_add_text(writing, root, "$schema", map->schema);
    map_writer_add_environments(writing, root, map->environments);
    struct json_layout *tables = map_writer_add_object(writing, root, "tables", NULL);
    if (!tables)
        return NULL;
    tables->open = tables->spaced = true;
    for (const struct declared_table *each = map->tables; each; each = each->next)
        map_writer_add_table(writing, tables, each);
    return writing->arena.failed ? NULL : root;
}

void author_write(const struct declared_map *map, struct buf *out)
{
    struct writing writing = {0};
    const struct json_layout *root = map_writer_lay_out(&writing, map);
    if (root)
        json_layout_write(root, out);
    else
        out->failed = true;
    arena_discard(&writing.arena);
}
