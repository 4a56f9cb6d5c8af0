#include "core/author/describe.h"

#include <stdio.h>

#include "core/author/declare.h"
#include "core/base/buf.h"
#include "core/map/name.h"

/* A key attribute of the table or of an index, and the part that it is in paths. */
struct part {
    const char *attribute;
    const char *name;
    enum value_type type;
    struct part *next;
};

/* One side of a key. */
struct side {
    const struct part *parts[KEY_MAX_ATTRIBUTES];
    size_t count;
};

struct describing {
    struct arena *arena;
    struct declared_table *table;
    struct part *parts; /* of the whole table: one name means one attribute everywhere */
    struct side base;   /* the table's own key */
};

/* What is no name of a part: a name of an entry begins with {rank} when it is numbered. */
static bool is_taken(const struct describing *describing, const char *name)
{
    for (const struct part *part = describing->parts; part; part = part->next)
        if (strcmp(part->name, name) == 0)
            return true;
    return strcmp(name, RANK_PARAM) == 0;
}

/* WANTED, or with a number behind it where that is taken. */
static const char *free_name(struct describing *describing, const char *wanted)
{
    const char *name = wanted;
    for (unsigned n = 2; name && is_taken(describing, name); n++) {
        CLEAN_UP(buf_clean_up) struct buf numbered = {0};
        buf_printf(&numbered, "%s_%u", wanted, n);
        describing->arena->failed = describing->arena->failed || numbered.failed;
        name = arena_text(describing->arena, buf_span(&numbered));
    }
    return name;
}

/* The part that ATTRIBUTE is; NULL when memory ran out. */
static const struct part *part_of(struct describing *describing, struct span attribute,
                                  enum value_type type)
{
    struct part **last = &describing->parts;
    for (; *last; last = &(*last)->next)
        if (span_is(attribute, (*last)->attribute))
            return *last;
    struct part *part = arena_alloc(describing->arena, sizeof *part);
    const char *wanted = declare_param_name(describing->arena, attribute);
    if (!part || !wanted)
        return NULL;
    part->attribute = arena_text(describing->arena, attribute);
    part->name = free_name(describing, wanted);
    part->type = type;
    if (!part->attribute || !part->name)
        return NULL;
    *last = part;
    if (type != VALUE_S)
        declare_type(describing->arena, describing->table, part->attribute, type);
    return part;
}

static bool read_keys(struct describing *describing, const struct key_schema *keys,
                      struct side *partition, struct side *sort)
{
    *partition = *sort = (struct side){0};
    for (size_t i = 0; i < keys->partition_count; i++)
        partition->parts[partition->count++] =
            part_of(describing, keys->partition[i].name, keys->partition[i].type);
    for (size_t i = 0; i < keys->sort_count; i++)
        sort->parts[sort->count++] = part_of(describing, keys->sort[i].name, keys->sort[i].type);
    return !describing->arena->failed;
}

/* A key that is one part. Of text it is open: nobody knows yet what stands in it. */
static void declare_key(struct describing *describing, const struct part *part,
                        struct declared_key *key)
{
    struct format_piece *piece = arena_alloc(describing->arena, sizeof *piece);
    if (!piece)
        return;
    *piece = (struct format_piece){.param = part->name, .open = part->type == VALUE_S};
    *key = (struct declared_key){.attribute = part->attribute, .format = {piece, 1}};
}

static void add_step(struct buf *path, const struct part *part)
{
    buf_printf(path, "{%s}/", part->name);
}

static struct declared_path *add_path(struct describing *describing, const struct buf *path)
{
    describing->arena->failed = describing->arena->failed || path->failed;
    return declare_path(describing->arena, describing->table, buf_text(path));
}

static void describe_items(struct describing *describing)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct declared_record *item = declare_record(describing->arena, describing->table, "item");
    if (!item)
        return;
    for (size_t i = 0; i < describing->base.count; i++)
        declare_key(describing, describing->base.parts[i], &item->keys[item->key_count++]);
    buf_add_text(&path, "items/");
    add_step(&path, describing->base.parts[0]);
    if (describing->base.count == 1)
        buf_truncate(&path, path.size - 1);
    add_path(describing, &path);
}

/* Whether the path of an index says the part: it has all of the partition key, and all of the sort
 * key but its last attribute. */
static bool is_said(const struct part *part, const struct side *partition, const struct side *sort)
{
    for (size_t i = 0; i < partition->count; i++)
        if (partition->parts[i] == part)
            return true;
    for (size_t i = 0; i + 1 < sort->count; i++)
        if (sort->parts[i] == part)
            return true;
    return false;
}

/* How an entry of an index's listing is named: by what of the table's key the path does not say. */
static void name_entries(struct describing *describing, const struct side *partition,
                         const struct side *sort, struct declared_path *path)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    size_t count = 0;
    for (size_t i = 0; i < describing->base.count; i++) {
        const struct part *part = describing->base.parts[i];
        if (!is_said(part, partition, sort))
            buf_printf(&name, "%s{%s}", count++ ? "," : "", part->name);
    }
    describing->arena->failed = describing->arena->failed || name.failed;
    if (count < 2)
        return; /* the name that it would have had anyway */
    path->has_name = true;
    path->name = declare_format(describing->arena, buf_text(&name));
}

/* NAME as a step of a path: it can be longer than names are, and then it is cut. */
static void add_index_step(struct describing *describing, struct span name, struct buf *path)
{
    size_t room = NAME_LIMIT - 8, begin = path->size, number = 1;
    CLEAN_UP(buf_clean_up) struct buf step = {0};
    struct span shown = name.size > NAME_LIMIT ? span_of(name.data, room) : name;
    for (size_t i = 0; i < shown.size; i++) {
        char c = shown.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        buf_add_char(&step, plain ? c : '_');
    }
    bool free = false;
    while (!free && !step.failed && !path->failed) {
        buf_truncate(path, begin);
        buf_add_span(path, buf_span(&step));
        if (number++ > 1)
            buf_printf(path, "_%zu", number - 1);
        buf_add_char(path, '/');
        free = true;
        for (const struct declared_path *each = describing->table->paths; each; each = each->next)
            free = free && !span_starts(span_text(each->path), buf_span(path));
    }
    path->failed = path->failed || step.failed;
}

static void describe_index(struct describing *describing, const struct index_info *info)
{
    struct side partition, sort;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const char *name = arena_text(describing->arena, info->name);
    struct declared_index *index =
        name ? declare_index(describing->arena, describing->table, name) : NULL;
    if (!index || !read_keys(describing, &info->keys, &partition, &sort))
        return;
    for (size_t i = 0; i < partition.count; i++)
        declare_key(describing, partition.parts[i], &index->partition[index->partition_count++]);
    for (size_t i = 0; i < sort.count; i++)
        declare_key(describing, sort.parts[i], &index->sort[index->sort_count++]);
    index->local = info->local;
    index->projects = info->projection;
    index->includes = arena_array(describing->arena, info->included_count, sizeof *index->includes);
    for (size_t i = 0; index->includes && i < info->included_count; i++)
        index->includes[index->include_count++] = arena_text(describing->arena, info->included[i]);

    buf_add_text(&path, "by/");
    add_index_step(describing, info->name, &path);
    for (size_t i = 0; i < partition.count; i++)
        add_step(&path, partition.parts[i]);
    for (size_t i = 0; i + 1 < sort.count; i++)
        add_step(&path, sort.parts[i]);
    struct declared_path *listing = add_path(describing, &path);
    if (!listing)
        return;
    listing->index.text = index->name;
    name_entries(describing, &partition, &sort, listing);
}

struct declared_table *describe_table(struct arena *arena, const char *name,
                                      const struct table_info *info)
{
    struct describing describing = {.arena = arena, .table = declare_table(arena, name, name)};
    struct side partition, sort;
    if (!describing.table || !read_keys(&describing, &info->keys, &partition, &sort))
        return NULL;
    describing.base = (struct side){{partition.parts[0]}, 1};
    if (sort.count > 0)
        describing.base.parts[describing.base.count++] = sort.parts[0];
    describe_items(&describing);
    for (size_t i = 0; i < info->index_count && !arena->failed; i++)
        describe_index(&describing, &info->indexes[i]);
    return arena->failed ? NULL : describing.table;
}
