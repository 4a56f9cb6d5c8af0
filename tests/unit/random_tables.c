/* Made-up descriptions of tables for tests. */
#include "tests/unit/random_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/draft/declare.h"
#include "core/draft/generic_view.h"

/* Knuth's MMIX: the same numbers everywhere. */
size_t random_below(struct random *random, size_t limit)
{
    random->state = random->state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(random->state >> 33) % limit;
}

/* Most become the name of another one's part, or of a parameter that paths bring along. */
static const char *const names[] = {
    "pk",    "sk",     "PK",     "SK",           "my.key",   "my_key",        "my key", "my-key",
    "from",  "to",     "prefix", "count",        "key",      "rank",          "items",  "by",
    "from_", "1st",    "_1st",   "größe",        "gr__e",    "gr____e",       "a/b",    "%41",
    "{x}",   "x*",     "a'b",    "or",           "and",      "not",           "size",   "name",
    "#",     "..",     "a,b",    "\x01\x7f",     "key_2",    "key_3",         "rank_2", "*",
    "date",  "status", "tables", "README",       "newest",   "after",         "oldest", "type",
    "~",     "@typed", "a@",     "\xe2\x82\xac", "sort-key", "partition-key", "item",   "'",
    "\"",    "\\",     "//",     "/* */",        "null",     "true",
};
enum { NAMES = sizeof names / sizeof names[0], ATTRIBUTES = 12 };

struct attribute {
    struct span name;
    enum value_type type;
};

struct making {
    struct arena *arena;
    struct random random;
    struct attribute attributes[ATTRIBUTES]; /* of this table; no two of one name */
};

static struct span new_name(struct making *making)
{
    if (random_below(&making->random, 50) == 0) {
        char *longest = arena_alloc(making->arena, 255);
        if (!longest)
            abort();
        memset(longest, 'a' + (int)random_below(&making->random, 2), 255);
        return span_of(longest, 255);
    }
    return span_text(names[random_below(&making->random, NAMES)]);
}

static void choose_attributes(struct making *making)
{
    for (size_t i = 0; i < ATTRIBUTES;) {
        struct attribute *attribute = &making->attributes[i];
        *attribute =
            (struct attribute){new_name(making), (enum value_type)random_below(&making->random, 3)};
        bool is_new = true;
        for (size_t before = 0; before < i; before++)
            is_new = is_new && !span_equal(making->attributes[before].name, attribute->name);
        i += is_new;
    }
}

/* An attribute that KEYS does not have yet, more often one of the first than not: those are the
 * table's own. */
static const struct attribute *choose(struct making *making, const struct key_schema *keys)
{
    for (;;) {
        size_t range = random_below(&making->random, 2) ? 3 : ATTRIBUTES;
        const struct attribute *one = &making->attributes[random_below(&making->random, range)];
        bool is_new = true;
        for (size_t i = 0; i < keys->partition_count; i++)
            is_new = is_new && !span_equal(keys->partition[i].name, one->name);
        for (size_t i = 0; i < keys->sort_count; i++)
            is_new = is_new && !span_equal(keys->sort[i].name, one->name);
        if (is_new)
            return one;
    }
}

static void add_partition(struct key_schema *keys, const struct attribute *attribute)
{
    keys->partition[keys->partition_count].name = attribute->name;
    keys->partition[keys->partition_count++].type = attribute->type;
}

static void add_sort(struct key_schema *keys, const struct attribute *attribute)
{
    keys->sort[keys->sort_count].name = attribute->name;
    keys->sort[keys->sort_count++].type = attribute->type;
}

static void make_index(struct making *making, const struct table_info *info, size_t number,
                       struct index_info *index)
{
    char name[32];
    bool plain = random_below(&making->random, 2);
    size_t partitions = plain ? 1 : 1 + random_below(&making->random, KEY_MAX_ATTRIBUTES);
    size_t sorts = plain ? random_below(&making->random, 2)
                         : random_below(&making->random, KEY_MAX_ATTRIBUTES + 1);
    snprintf(name, sizeof name, "GSI.%zu-x", number);
    *index = (struct index_info){.name = arena_copy(making->arena, span_text(name))};
    if (random_below(&making->random, 20) == 0) {
        char *longest = arena_alloc(making->arena, 255);
        if (!longest)
            abort();
        memset(longest, 'i', 255);
        longest[254] = (char)('a' + number);
        index->name = span_of(longest, 255);
    }
    index->local = plain && info->keys.sort_count > 0 && random_below(&making->random, 3) == 0;
    for (size_t i = 0; i < partitions; i++)
        add_partition(&index->keys,
                      index->local ? &making->attributes[0] : choose(making, &index->keys));
    for (size_t i = 0; i < sorts || (index->local && i == 0); i++)
        add_sort(&index->keys, choose(making, &index->keys));
    index->projection = (enum projection)random_below(&making->random, 3);
    struct span *included = arena_array(making->arena, 3, sizeof *included);
    if (!included)
        abort();
    if (index->projection == PROJECTS_SOME)
        while (index->included_count < 3 && random_below(&making->random, 4))
            included[index->included_count++] = new_name(making);
    index->included = included;
}

const struct table_info *random_table(struct arena *arena, uint64_t seed)
{
    struct making making = {.arena = arena, .random = {seed}};
    random_below(&making.random, 2);
    struct table_info *info = arena_alloc(arena, sizeof *info);
    size_t count = random_below(&making.random, 7);
    struct index_info *indexes = arena_array(arena, count, sizeof *indexes);
    if (!info || !indexes)
        abort();
    choose_attributes(&making);
    add_partition(&info->keys, &making.attributes[0]);
    if (random_below(&making.random, 4))
        add_sort(&info->keys, &making.attributes[1]);
    for (size_t i = 0; i < count; i++)
        make_index(&making, info, i, &indexes[i]);
    info->indexes = indexes;
    info->index_count = count;
    return info;
}

/* Formats as they are in the wild, and as nobody would write them. Parts are called A to J here. */
static const char *const formats[] = {
    "USER#{A}",
    "USER#{A}#ORDER#{B}",
    "{A}",
    "{A}#{B}",
    "PROFILE",
    "FEATURED",
    "ORDER#{B}",
    "ORDER#{B}#{C}",
    "#{A}",
    "{B}#",
    "{A}Axis{B}",
    "{C*}",
    "STATUS#{D}",
    "a/b%{E}",
    "..{A}",
    "{A}..{B}",
    "{A}*",
    "after:{B}",
    ".hidden",
    "x@typed",
    "{A}#{B}#{C}#{D}#{E}",
    "V0#{F}",
    "S#{F:05}",
    "E#{G:lower}#{F:05}",
    "{G:lower}",
    "{H:upper}#{A}",
    "größe#{G}",
    "{A},{B}",
    "user#{A}",
    "ITEMS#{A}",
    "BY#{B}",
    "#",
    "{I}#X#{J*}",
    "A#{A}#B#{B}#C#{C}#D#{D}#E#{E}#F#{F}#G#{G}#H#{H}#I#{I}",
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const char *const kinds[] = {"user",  "order", "Order",  "item", "other",
                                    "größe", "#",     "newest", "a b",  "prefix"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct format random_format(struct random *random, struct arena *arena,
                                   const struct declared_table *table, const char *attribute)
{
    struct format format;
    for (const struct declared_type *type = table->types; type; type = type->next)
        if (strcmp(type->attribute, attribute) == 0) {
            format_parse(arena, span_text("{A}"), &format);
            format.pieces[0].param = declare_param_name(arena, span_text(attribute));
            return format;
        }
    format_parse_key(arena, span_text(formats[random_below(random, FORMATS)]), &format);
    return format;
}

static void random_side(struct random *random, struct arena *arena, struct declared_table *table,
                        struct declared_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_base = false;
        for (size_t k = 0; k < table->records->key_count; k++)
            is_base = is_base || strcmp(keys[i].attribute, table->records->keys[k].attribute) == 0;
        size_t choice = random_below(random, 3);
        if (is_base || choice == 0)
            continue;
        if (choice == 1) {
            keys[i].format = random_format(random, arena, table, keys[i].attribute);
            continue;
        }
        struct declared_kind_format **last = &keys[i].by_kind;
        for (const struct declared_record *each = table->records; each; each = each->next) {
            if (random_below(random, 3) == 0 && each != table->records)
                continue;
            *last = arena_alloc(arena, sizeof **last);
            if (!*last)
                abort();
            (*last)->kind = each->name;
            (*last)->format = random_format(random, arena, table, keys[i].attribute);
            last = &(*last)->next;
        }
        keys[i].format = (struct format){0};
    }
}

struct declared_table *random_kinds(struct arena *arena, uint64_t seed)
{
    struct random random = {seed ^ 0x5bd1e995};
    struct declared_table *table =
        generic_view_declare_table(arena, "Orders", random_table(arena, seed));
    if (!table)
        abort();
    const struct declared_record described = *table->records;
    size_t count = random_below(&random, 6), first = random_below(&random, KINDS);
    bool keep = random_below(&random, 2) || count == 0;
    table->paths = NULL;
    if (!keep)
        table->records = NULL;
    if (keep)
        table->records->name = "rest";
    for (size_t i = 0; i < count; i++) {
        struct declared_record *record = declare_record(arena, table, kinds[(first + i) % KINDS]);
        if (!record)
            abort();
        for (size_t k = 0; k < described.key_count; k++) {
            const char *attribute = described.keys[k].attribute;
            record->keys[record->key_count++] = (struct declared_key){
                .attribute = attribute, .format = random_format(&random, arena, table, attribute)};
        }
    }
    for (struct declared_index *each = table->indexes; each; each = each->next) {
        random_side(&random, arena, table, each->partition, each->partition_count);
        random_side(&random, arena, table, each->sort, each->sort_count);
    }
    return table;
}
