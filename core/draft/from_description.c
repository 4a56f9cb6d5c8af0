#include "core/draft/from_description.h"

#include "core/draft/declare.h"
#include "core/draft/generic_view.h"
#include "core/draft/table_words.h"

/* A key attribute of the table or of an index, and the part that it is in paths. */
struct description_part {
    const char *attribute;
    const char *name;
    enum value_type type;
    struct description_part *next;
};

/* One side of a key. */
struct description_side {
    const struct description_part *parts[KEY_MAX_ATTRIBUTES];
    size_t count;
};

struct describing {
    struct arena *arena;
    struct declared_table *table;
    struct description_part
        *parts;                   /* of the whole table: one name means one attribute everywhere */
    struct description_side base; /* the table's own key */
    const struct table_info *info;
};

static bool description_schema_has(const struct key_schema *keys, const char *attribute)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        if (span_is(keys->partition[i].name, attribute))
            return true;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (span_is(keys->sort[i].name, attribute))
            return true;
    return false;
}

/* What the part of ATTRIBUTE can't be called: as another one, which a condition could mean as well,
 * or as what a name of an entry begins with when it is numbered. */
static bool description_is_taken(const struct describing *describing, const char *name,
                                 struct span attribute)
{
    const struct table_info *info = describing->info;
    for (const struct description_part *part = describing->parts; part; part = part->next)
        if (strcmp(part->name, name) == 0)
            return true;
    bool other = description_schema_has(&info->keys, name);
    for (size_t i = 0; i < info->index_count; i++)
        other = other || description_schema_has(&info->indexes[i].keys, name);
    return (other && !span_is(attribute, name)) || strcmp(name, RANK_PARAM) == 0;
}

/* WANTED, or with a number behind it where that is taken. */
static const char *description_free_name(struct describing *describing, const char *wanted,
                                         struct span attribute)
{
    const char *name = wanted;
    for (unsigned n = 2; name && description_is_taken(describing, name, attribute); n++)
        name = declare_other_name(describing->arena, wanted, "key", n);
    return name;
}

/* The part that ATTRIBUTE is; NULL when memory ran out. */
static const struct description_part *
description_part_of(struct describing *describing, struct span attribute, enum value_type type)
{
    struct description_part **last = &describing->parts;
    for (; *last; last = &(*last)->next)
        if (span_is(attribute, (*last)->attribute))
            return *last;
    struct description_part *part = arena_alloc(describing->arena, sizeof *part);
    const char *wanted = declare_param_name(describing->arena, attribute);
    if (!part || !wanted)
        return NULL;
    part->attribute = arena_text(describing->arena, attribute);
    part->name = description_free_name(describing, wanted, attribute);
    part->type = type;
    if (!part->attribute || !part->name)
        return NULL;
    *last = part;
    if (type != VALUE_S)
        declare_type(describing->arena, describing->table, part->attribute, type);
    return part;
}

static bool description_read_keys(struct describing *describing, const struct key_schema *keys,
                                  struct description_side *partition, struct description_side *sort)
{
    *partition = *sort = (struct description_side){0};
    for (size_t i = 0; i < keys->partition_count; i++)
        partition->parts[partition->count++] =
            description_part_of(describing, keys->partition[i].name, keys->partition[i].type);
    for (size_t i = 0; i < keys->sort_count; i++)
        sort->parts[sort->count++] =
            description_part_of(describing, keys->sort[i].name, keys->sort[i].type);
    return !describing->arena->failed;
}

/* A key that is one part. Of text it is open: nobody knows yet what stands in it. */
static void description_declare_key(struct describing *describing,
                                    const struct description_part *part, struct declared_key *key)
{
    struct format_piece *piece = arena_alloc(describing->arena, sizeof *piece);
    if (!piece)
        return;
    *piece = (struct format_piece){.param = part->name, .open = part->type == VALUE_S};
    *key = (struct declared_key){.attribute = part->attribute, .format = {piece, 1}};
}

static const struct declared_record *description_items(struct describing *describing)
{
    struct declared_record *item = declare_record(describing->arena, describing->table, "item");
    for (size_t i = 0; item && i < describing->base.count; i++)
        description_declare_key(describing, describing->base.parts[i],
                                &item->keys[item->key_count++]);
    return item;
}

static void description_index(struct describing *describing, const struct index_info *info)
{
    struct arena *arena = describing->arena;
    struct description_side partition, sort;
    const char *name = arena_text(arena, info->name);
    struct declared_index *index = name ? declare_index(arena, describing->table, name) : NULL;
    if (!index || !description_read_keys(describing, &info->keys, &partition, &sort))
        return;
    for (size_t i = 0; i < partition.count; i++)
        description_declare_key(describing, partition.parts[i],
                                &index->partition[index->partition_count++]);
    for (size_t i = 0; i < sort.count; i++)
        description_declare_key(describing, sort.parts[i], &index->sort[index->sort_count++]);
    index->local = info->local;
    index->projects = info->projection;
    index->includes = arena_array(arena, info->included_count, sizeof *index->includes);
    for (size_t i = 0; index->includes && i < info->included_count; i++)
        index->includes[index->include_count++] = arena_text(arena, info->included[i]);
}

struct declared_table *describe_table(struct arena *arena, const char *name,
                                      const struct table_info *info)
{
    struct describing describing = {
        .arena = arena, .table = declare_table(arena, name, name), .info = info};
    struct description_side partition, sort;
    if (!describing.table || !description_read_keys(&describing, &info->keys, &partition, &sort))
        return NULL;
    describing.base = (struct description_side){{partition.parts[0]}, 1};
    if (sort.count > 0)
        describing.base.parts[describing.base.count++] = sort.parts[0];
    const struct declared_record *item = description_items(&describing);
    for (size_t i = 0; i < info->index_count && !arena->failed; i++)
        description_index(&describing, &info->indexes[i]);
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    table_words_write_table(&words, info);
    arena->failed = arena->failed || words.failed;
    describing.table->note = arena_text(arena, buf_span(&words));
    if (!arena->failed)
        generic_add_paths(arena, describing.table, item);
    return arena->failed ? NULL : describing.table;
}
