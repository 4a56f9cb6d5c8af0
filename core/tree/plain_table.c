#include "core/tree/plain_table.h"

static void add_type(struct arena *arena, struct declared_table *table, const char *attribute,
                     enum value_type type)
{
    struct declared_type *added = arena_alloc(arena, sizeof *added);
    if (!added)
        return;
    *added = (struct declared_type){.attribute = attribute, .type = type, .next = table->types};
    table->types = added;
}

static void add_key(struct arena *arena, struct declared_table *table,
                    struct declared_record *record, const char *part, struct span attribute,
                    enum value_type type)
{
    struct format_piece *piece = arena_alloc(arena, sizeof *piece);
    char *name = arena_text(arena, attribute);
    if (!piece || !name)
        return;
    *piece = (struct format_piece){.param = part, .open = true};
    record->keys[record->key_count++] =
        (struct declared_key){.attribute = name, .format = {piece, 1}};
    add_type(arena, table, name, type);
}

static void add_path(struct arena *arena, struct declared_table *table, const char *path, bool list)
{
    struct declared_path *added = arena_alloc(arena, sizeof *added);
    if (!added)
        return;
    *added = (struct declared_path){.path = path, .list = list, .ttl_ms = -1, .next = table->paths};
    table->paths = added;
}

struct declared_table *plain_table(struct arena *arena, const char *name,
                                   const struct table_info *info)
{
    const struct key_schema *keys = &info->keys;
    struct declared_table *table = arena_alloc(arena, sizeof *table);
    struct declared_record *record = arena_alloc(arena, sizeof *record);
    char *own_name = arena_text(arena, span_text(name));
    if (!table || !record || !own_name)
        return NULL;
    *table = (struct declared_table){
        .path_name = own_name,
        .base_name = own_name,
        .separator = '#',
        .records = record,
        .has_paths = true,
        .ttl_ms = MAP_TTL_MS,
    };
    record->name = "item";
    add_key(arena, table, record, "pk", keys->partition[0].name, keys->partition[0].type);
    if (keys->sort_count)
        add_key(arena, table, record, "sk", keys->sort[0].name, keys->sort[0].type);
    if (keys->sort_count)
        add_path(arena, table, "items/{pk}/{sk}", false);
    add_path(arena, table, keys->sort_count ? "items/{pk}/" : "items/{pk}", keys->sort_count);
    return arena->failed ? NULL : table;
}
