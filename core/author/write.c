#include "core/author/write.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/author/layout.h"
#include "core/author/write_conditions.h"

/* What is made of one map. */
struct writing {
    struct arena arena; /* owned */
};

static void add_text(struct writing *writing, struct layout *to, const char *name, const char *text)
{
    if (text)
        layout_add_text(&writing->arena, to, name, span_text(text));
}

static void add_flag(struct writing *writing, struct layout *to, const char *name, bool flag)
{
    layout_add_raw(&writing->arena, to, name, flag ? "true" : "false");
}

static void add_number(struct writing *writing, struct layout *to, const char *name, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    layout_add_raw(&writing->arena, to, name, text);
}

static void add_format(struct writing *writing, struct layout *to, const char *name,
                       const struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    writing->arena.failed = writing->arena.failed || text.failed;
    layout_add_text(&writing->arena, to, name, buf_span(&text));
}

static struct layout *add_object(struct writing *writing, struct layout *to, const char *name,
                                 const char *note)
{
    struct layout *object = layout_add(&writing->arena, to, name, LAYOUT_OBJECT);
    if (object)
        object->note = note;
    return object;
}

/* An object whose members have a line each. */
static struct layout *add_rows(struct writing *writing, struct layout *to, const char *name)
{
    struct layout *rows = add_object(writing, to, name, NULL);
    if (rows)
        rows->open = rows->aligned = true;
    return rows;
}

static void add_texts(struct writing *writing, struct layout *to, const char *name,
                      const char *const *texts, size_t count)
{
    struct layout *array = layout_add(&writing->arena, to, name, LAYOUT_ARRAY);
    for (size_t i = 0; array && i < count; i++)
        layout_add_text(&writing->arena, array, NULL, span_text(texts[i]));
}

static void add_environments(struct writing *writing, struct layout *to,
                             const struct declared_environment *environments)
{
    struct layout *rows = add_rows(writing, to, "environments");
    for (const struct declared_environment *each = environments; rows && each; each = each->next) {
        struct layout *row = add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        add_text(writing, row, "prefix", each->prefix);
        add_text(writing, row, "profile", each->profile);
        add_text(writing, row, "region", each->region);
        add_text(writing, row, "endpoint", each->endpoint);
    }
}

static void add_records(struct writing *writing, struct layout *to,
                        const struct declared_record *records)
{
    struct layout *rows = add_rows(writing, to, "records");
    for (const struct declared_record *each = records; rows && each; each = each->next) {
        struct layout *row = add_object(writing, rows, each->name, each->note);
        for (size_t i = 0; row && i < each->key_count; i++)
            add_format(writing, row, each->keys[i].attribute, &each->keys[i].format);
    }
}

/* Whether the attribute's name says its format: "job_id" is short for { "job_id": "{job_id}" }. */
static bool is_short(const struct declared_key *key)
{
    CLEAN_UP(buf_clean_up) struct buf format = {0}, own = {0};
    format_write(&key->format, &format);
    buf_printf(&own, "{%s}", key->attribute);
    return !key->by_kind && format_whole_param(&key->format) && !format.failed && !own.failed &&
           span_equal(buf_span(&format), buf_span(&own));
}

static void add_key(struct writing *writing, struct layout *to, const struct declared_key *key)
{
    if (!key->by_kind) {
        add_format(writing, to, key->attribute, &key->format);
        return;
    }
    struct layout *kinds = add_object(writing, to, key->attribute, NULL);
    for (const struct declared_kind_format *each = key->by_kind; kinds && each; each = each->next)
        add_format(writing, kinds, each->kind, &each->format);
}

static void add_side(struct writing *writing, struct layout *to, const char *name,
                     const struct declared_key *keys, size_t count)
{
    bool all_short = true;
    for (size_t i = 0; i < count; i++)
        all_short = all_short && is_short(&keys[i]);
    if (count == 0)
        return;
    if (count == 1 && all_short) {
        add_text(writing, to, name, keys[0].attribute);
        return;
    }
    struct layout *side =
        layout_add(&writing->arena, to, name, all_short ? LAYOUT_ARRAY : LAYOUT_OBJECT);
    for (size_t i = 0; side && i < count; i++) {
        if (all_short)
            add_text(writing, side, NULL, keys[i].attribute);
        else
            add_key(writing, side, &keys[i]);
    }
}

static void add_projection(struct writing *writing, struct layout *to,
                           const struct declared_index *index)
{
    static const char *const words[] = {
        [PROJECTS_ALL] = "all", [PROJECTS_SOME] = "some", [PROJECTS_KEYS] = "keys"};
    if (index->projects == PROJECTS_SOME && index->include_count > 0)
        add_texts(writing, to, "projects", index->includes, index->include_count);
    else
        add_text(writing, to, "projects", words[index->projects]);
}

static void add_indexes(struct writing *writing, struct layout *to,
                        const struct declared_index *indexes)
{
    struct layout *rows = indexes ? add_rows(writing, to, "indexes") : NULL;
    for (const struct declared_index *each = indexes; rows && each; each = each->next) {
        struct layout *row = add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        add_side(writing, row, "partition", each->partition, each->partition_count);
        add_side(writing, row, "sort", each->sort, each->sort_count);
        add_projection(writing, row, each);
        if (each->local)
            add_flag(writing, row, "local", true);
    }
}

static void add_types(struct writing *writing, struct layout *to, const struct declared_type *types)
{
    struct layout *row = types ? add_object(writing, to, "types", NULL) : NULL;
    for (const struct declared_type *each = types; row && each; each = each->next)
        add_text(writing, row, each->attribute, value_type_name(each->type));
}

static void add_params(struct writing *writing, struct layout *to,
                       const struct declared_param *params)
{
    struct layout *rows = params ? add_rows(writing, to, "params") : NULL;
    for (const struct declared_param *each = params; rows && each; each = each->next) {
        struct layout *row = add_object(writing, rows, each->name, each->note);
        if (!row)
            return;
        if (each->value_count > 0)
            add_texts(writing, row, "values", each->values, each->value_count);
        if (each->only)
            add_flag(writing, row, "only", true);
        add_text(writing, row, "owner", each->owner);
        add_text(writing, row, "match", each->match);
        add_text(writing, row, "hint", each->hint);
        if (each->typed)
            add_text(writing, row, "type", value_type_name(each->type));
    }
}

static void add_kinds(struct writing *writing, struct layout *to, const struct declared_path *path)
{
    if (path->kind_count == 1)
        add_text(writing, to, path->list ? "list" : "record", path->kinds[0].text);
    if (path->kind_count < 2)
        return;
    struct layout *array = layout_add(&writing->arena, to, "list", LAYOUT_ARRAY);
    for (size_t i = 0; array && i < path->kind_count; i++)
        add_text(writing, array, NULL, path->kinds[i].text);
}

static void add_order(struct writing *writing, struct layout *to, const struct declared_path *path)
{
    const char *word = path->descending ? "newest" : "oldest";
    CLEAN_UP(buf_clean_up) struct buf param = {0};
    if (path->limit_param)
        buf_printf(&param, "{%s}", path->limit_param);
    writing->arena.failed = writing->arena.failed || param.failed;
    if (path->ordered && path->limit_param)
        layout_add_text(&writing->arena, to, word, buf_span(&param));
    else if (path->ordered && path->limit == 0)
        add_text(writing, to, word, "all");
    else if (path->ordered)
        add_number(writing, to, word, path->limit);
}

static void add_pick(struct writing *writing, struct layout *to, const struct declared_path *path)
{
    struct layout *pick = path->pick == PICK_NONE ? NULL : add_object(writing, to, "pick", NULL);
    if (pick)
        add_text(writing, pick, path->pick == PICK_GREATEST ? "greatest" : "least",
                 path->pick_attribute);
}

static void add_path(struct writing *writing, struct layout *rows, const struct declared_path *path)
{
    struct layout *row = add_object(writing, rows, path->path, path->note);
    if (!row)
        return;
    add_kinds(writing, row, path);
    add_text(writing, row, "index", path->index.text);
    write_where(&writing->arena, row, path->wheres);
    write_filter(&writing->arena, row, path->filters);
    add_order(writing, row, path);
    if (path->ties)
        add_flag(writing, row, "ties", true);
    if (path->groups)
        add_flag(writing, row, "groups", true);
    add_pick(writing, row, path);
    add_text(writing, row, "attribute", path->attribute);
    if (path->has_name)
        add_format(writing, row, "name", &path->name);
    if (path->hydrate != CHOICE_UNSAID)
        add_flag(writing, row, "hydrate", path->hydrate == CHOICE_YES);
    if (path->consistent)
        add_flag(writing, row, "consistent", true);
    if (path->hidden)
        add_flag(writing, row, "hidden", true);
    if (path->ttl_ms >= 0)
        add_number(writing, row, "ttl", path->ttl_ms / 1000);
    add_text(writing, row, "mtime", path->mtime);
}

static void add_link(struct writing *writing, struct layout *rows, const struct declared_link *link)
{
    bool is_short = link->kind_count == 0 && !link->sources && !link->note;
    if (is_short)
        add_text(writing, rows, link->name, link->to);
    struct layout *row = is_short ? NULL : add_object(writing, rows, link->name, link->note);
    if (!row)
        return;
    if (link->kind_count == 1)
        add_text(writing, row, "record", link->kinds[0].text);
    struct layout *kinds =
        link->kind_count > 1 ? layout_add(&writing->arena, row, "record", LAYOUT_ARRAY) : NULL;
    for (size_t i = 0; kinds && i < link->kind_count; i++)
        add_text(writing, kinds, NULL, link->kinds[i].text);
    struct layout *from = link->sources ? add_object(writing, row, "from", NULL) : NULL;
    for (const struct declared_link_source *each = link->sources; from && each; each = each->next)
        add_format(writing, from, each->from, &each->format);
    add_text(writing, row, "to", link->to);
}

static void add_table(struct writing *writing, struct layout *to,
                      const struct declared_table *table)
{
    struct layout *object = add_object(writing, to, table->path_name, table->note);
    if (!object)
        return;
    object->open = true;
    add_text(writing, object, "table", table->base_name);
    if (table->records)
        add_records(writing, object, table->records);
    add_indexes(writing, object, table->indexes);
    add_types(writing, object, table->types);
    if (table->separator != '#')
        layout_add_text(&writing->arena, object, "separator", span_of(&table->separator, 1));
    add_params(writing, object, table->params);
    if (table->secret_count > 0)
        add_texts(writing, object, "secret", table->secrets, table->secret_count);
    add_text(writing, object, "mtime", table->mtime);
    if (table->ttl_ms != MAP_TTL_MS)
        add_number(writing, object, "ttl", table->ttl_ms / 1000);
    struct layout *links = table->links ? add_rows(writing, object, "links") : NULL;
    for (const struct declared_link *each = table->links; links && each; each = each->next)
        add_link(writing, links, each);
    struct layout *paths = table->has_paths ? add_rows(writing, object, "paths") : NULL;
    for (const struct declared_path *each = table->paths; paths && each; each = each->next)
        add_path(writing, paths, each);
}

static const struct layout *lay_out(struct writing *writing, const struct declared_map *map)
{
    struct layout *root = add_object(writing, NULL, NULL, map->note);
    if (!root)
        return NULL;
    root->open = root->spaced = true;
    add_text(writing, root, "$schema", map->schema);
    add_environments(writing, root, map->environments);
    struct layout *tables = add_object(writing, root, "tables", NULL);
    if (!tables)
        return NULL;
    tables->open = tables->spaced = true;
    for (const struct declared_table *each = map->tables; each; each = each->next)
        add_table(writing, tables, each);
    return writing->arena.failed ? NULL : root;
}

void author_write(const struct declared_map *map, struct buf *out)
{
    struct writing writing = {0};
    const struct layout *root = lay_out(&writing, map);
    if (root)
        layout_write(root, out);
    else
        out->failed = true;
    arena_discard(&writing.arena);
}
