#include "tests/worlds/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Chances. */

uint32_t world_draw(struct world_dice *dice, uint32_t below)
{
    uint64_t x = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return below ? (uint32_t)((x ^ x >> 31) % below) : 0;
}

bool world_once_in(struct world_dice *dice, uint32_t n)
{
    return world_draw(dice, n) == 0;
}

/* Texts. */

void world_add(struct world_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int more = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (more < 0)
        abort();
    if (text->size + (size_t)more + 1 > text->room) {
        text->room = 2 * text->room + (size_t)more + 64;
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes)
            abort();
    }
    va_start(list, format);
    vsnprintf(text->bytes + text->size, (size_t)more + 1, format, list);
    va_end(list);
    text->size += (size_t)more;
}

void world_text_free(struct world_text *text)
{
    free(text->bytes);
    *text = (struct world_text){0};
}

void world_add_string(struct world_text *text, const char *string)
{
    world_add(text, "\"");
    for (; *string; string++)
        world_add(text, *string == '"' || *string == '\\' ? "\\%c" : "%c", *string);
    world_add(text, "\"");
}

static void world_copy_name(char out[WORLD_NAME], const char *name)
{
    if (strlen(name) >= WORLD_NAME)
        abort();
    memset(out, 0, WORLD_NAME);
    memcpy(out, name, strlen(name));
}

/* Values. */

static struct world_value world_value_of(char type, const char *text)
{
    struct world_value value = {.type = type};
    if (strlen(text) >= WORLD_VALUE)
        abort();
    memcpy(value.text, text, strlen(text));
    return value;
}

static bool world_equal(const struct world_value *a, const struct world_value *b)
{
    return a->type == b->type && strcmp(a->text, b->text) == 0;
}

const struct world_value *world_find(const struct world_item *item, const char *name)
{
    for (unsigned i = 0; i < item->count; i++)
        if (strcmp(item->attributes[i].name, name) == 0)
            return &item->attributes[i].value;
    return NULL;
}

/* Adds an attribute in its place. False if it has another value. */
static bool world_set(struct world_item *item, const char *name, const struct world_value *value)
{
    const struct world_value *old = world_find(item, name);
    unsigned at = 0;
    if (old)
        return world_equal(old, value);
    if (item->count == WORLD_ATTRIBUTES)
        abort();
    while (at < item->count && strcmp(item->attributes[at].name, name) < 0)
        at++;
    memmove(&item->attributes[at + 1], &item->attributes[at],
            (item->count - at) * sizeof item->attributes[0]);
    item->count++;
    world_copy_name(item->attributes[at].name, name);
    item->attributes[at].value = *value;
    return true;
}

static const char *const world_texts[] = {
    "a",  "b",   "ab",  "a!", "A",  "B",   "a b", "5",   "05",  "42",  "1e1",      "x'y",
    "a%", "a_b", "\"q", "aa", "zz", "$",   "a$b", "END", "é",   "aé",  "~",        "-1",
    "c",  "d",   "e",   "f",  "g",  "100", "7",   "9",   "1.5", "1.0", "COMPLETE", "open",
};
static const char *const world_numbers[] = {
    "0", "5", "-1", "10", "1.5", "42", "100", "7", "12345678901234567890.5", "0.1", "2", "3",
};
static const char *const world_bytes[] = {"a", "ab", "b", "ba", "~~", "a#b", "5"};

static const struct world_value world_documents[] = {
    {.type = 'J', .text = "{\"BOOL\":true}", .shown = "1", .plain = "true"},
    {.type = 'J', .text = "{\"BOOL\":false}", .shown = "0", .plain = "false"},
    {.type = 'J', .text = "{\"NULL\":true}", .shown = "NULL", .plain = "null"},
    {.type = 'J',
     .text = "{\"L\":[{\"S\":\"a\"},{\"N\":\"1\"}]}",
     .shown = "'[\"a\",1]'",
     .plain = "[\"a\",1]"},
    {.type = 'J',
     .text = "{\"M\":{\"a\":{\"N\":\"1.50\"}}}",
     .shown = "'{\"a\":1.50}'",
     .plain = "{\"a\":1.50}"},
    {.type = 'J',
     .text = "{\"SS\":[\"a\",\"b\"]}",
     .shown = "'[\"a\",\"b\"]'",
     .plain = "[\"a\",\"b\"]"},
    {.type = 'J', .text = "{\"NS\":[\"1\",\"2\"]}", .shown = "'[1,2]'", .plain = "[1,2]"},
};

#define WORLD_PICK(dice, list) (list)[world_draw(dice, sizeof(list) / sizeof((list)[0]))]

static struct world_value world_random_key(struct world_dice *dice, char type)
{
    return type == 'N'   ? world_value_of('N', WORLD_PICK(dice, world_numbers))
           : type == 'B' ? world_value_of('B', WORLD_PICK(dice, world_bytes))
                         : world_value_of('S', WORLD_PICK(dice, world_texts));
}

static struct world_value world_random_value(struct world_dice *dice)
{
    uint32_t chance = world_draw(dice, 10);
    if (chance < 1)
        return WORLD_PICK(dice, world_documents);
    return world_random_key(dice, chance < 6 ? 'S' : chance < 9 ? 'N' : 'B');
}

/* Formats. */

static const char *const world_part_names[] = {"x",      "y",    "z",  "tenant", "doctor",
                                               "status", "when", "g1", "pk",     "s1"};

static void world_add_piece(struct world_format *format, const char *name, bool is_part)
{
    if (format->count == WORLD_PIECES)
        abort();
    world_copy_name(format->pieces[format->count].name, name);
    format->pieces[format->count++].is_part = is_part;
}

static void world_make_own(struct world_format *format, const char *attribute)
{
    *format = (struct world_format){0};
    world_add_piece(format, attribute, true);
}

/* Of the key attribute ATTRIBUTE, of TYPE. */
static void world_make_format(struct world_dice *dice, const char *attribute, char type,
                              struct world_format *out)
{
    static const char *const firsts[] = {"", "", "A#", "B#", "C#", "D#", "E#", "#"};
    static const char *const between[] = {"#", "#", "#", "#X#", "#Y#"};
    unsigned count = world_draw(dice, 4);
    *out = (struct world_format){0};
    if (type == 'B') {
        world_make_own(out, attribute);
        return;
    }
    if (type == 'N') {
        if (world_once_in(dice, 3))
            world_make_own(out, attribute);
        else
            world_add_piece(out, world_once_in(dice, 2) ? "n" : "m", true);
        return;
    }
    if (world_once_in(dice, 5)) {
        world_make_own(out, attribute);
        return;
    }
    const char *first = WORLD_PICK(dice, firsts);
    if (count == 0) {
        world_add_piece(out, first[0] ? first : "META", false);
        return;
    }
    if (first[0])
        world_add_piece(out, first, false);
    for (unsigned i = 0; i < count && out->count + 2 < WORLD_PIECES; i++) {
        if (i > 0)
            world_add_piece(out, WORLD_PICK(dice, between), false);
        world_add_piece(
            out, world_once_in(dice, 6) ? attribute : WORLD_PICK(dice, world_part_names), true);
    }
}

const struct world_value *world_find_part(const struct world_parts *parts, const char *name)
{
    for (unsigned i = 0; i < parts->count; i++)
        if (strcmp(parts->list[i].name, name) == 0)
            return &parts->list[i].value;
    return NULL;
}

static bool world_add_part(struct world_parts *parts, const char *name,
                           const struct world_value *value)
{
    const struct world_value *old = world_find_part(parts, name);
    if (old)
        return world_equal(old, value);
    if (parts->count == WORLD_COLUMNS)
        abort();
    world_copy_name(parts->list[parts->count].name, name);
    parts->list[parts->count++].value = *value;
    return true;
}

/* A part ends at the first occurrence of the text behind it, and has no separator in it. */
bool world_match(const struct world_format *format, const struct world_value *value,
                 struct world_parts *parts)
{
    const char *at = value->text;
    if (value->type != 'S')
        return format->count == 1 && format->pieces[0].is_part &&
               world_add_part(parts, format->pieces[0].name, value);
    for (unsigned i = 0; i < format->count; i++) {
        const struct world_piece *piece = &format->pieces[i];
        if (!piece->is_part) {
            size_t size = strlen(piece->name);
            if (strncmp(at, piece->name, size) != 0)
                return false;
            at += size;
            continue;
        }
        const char *end =
            i + 1 < format->count ? strstr(at, format->pieces[i + 1].name) : at + strlen(at);
        if (!end || memchr(at, '#', (size_t)(end - at)))
            return false;
        struct world_value part = {.type = 'S'};
        memcpy(part.text, at, (size_t)(end - at));
        if (!world_add_part(parts, piece->name, &part))
            return false;
        at = end;
    }
    return *at == '\0' && format->count > 0;
}

/* The key value of FORMAT with PARTS, and random values of the others, which PARTS gets. Empty if a
 * part has another type. */
static struct world_value world_expand(struct world_dice *dice, const struct world_format *format,
                                       char type, struct world_parts *parts)
{
    struct world_text text = {0};
    for (unsigned i = 0; i < format->count; i++) {
        const struct world_piece *piece = &format->pieces[i];
        struct world_value value = world_random_key(dice, type);
        if (piece->is_part && !world_find_part(parts, piece->name))
            world_add_part(parts, piece->name, &value);
        world_add(&text, "%s",
                  piece->is_part ? world_find_part(parts, piece->name)->text : piece->name);
    }
    struct world_value value = {.type = type};
    bool fits = text.size < WORLD_VALUE;
    for (unsigned i = 0; i < format->count; i++)
        fits = fits && (!format->pieces[i].is_part ||
                        world_find_part(parts, format->pieces[i].name)->type == type);
    if (fits)
        memcpy(value.text, text.bytes, text.size);
    world_text_free(&text);
    return value;
}

/* Keys and indexes. */

static void world_make_key(struct world_dice *dice, const char *attribute, char type,
                           unsigned kind_count, struct world_key *out)
{
    *out = (struct world_key){.type = type};
    world_copy_name(out->attribute, attribute);
    for (unsigned i = 0; i < kind_count; i++)
        world_make_format(dice, attribute, type, &out->formats[i]);
}

static const struct world_key *world_find_key(const struct world_table *table,
                                              const char *attribute)
{
    for (unsigned i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, attribute) == 0)
            return &table->keys[i];
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++)
            if (strcmp(table->indexes[i].keys[k].attribute, attribute) == 0)
                return &table->indexes[i].keys[k];
    return NULL;
}

static bool world_index_names(const struct world_index *index, const char *attribute)
{
    for (unsigned i = 0; i < index->key_count; i++)
        if (strcmp(index->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

/* An attribute of an index; it may be one of the table's key, or of another index. */
static void world_make_index_key(struct world *world, struct world_table *table,
                                 struct world_index *index, bool sorts)
{
    static const char *const partitions[] = {"g1", "g2", "x", "doctor", "status", "tenant"};
    static const char *const sorts_of[] = {"s1", "s2", "y", "when", "n", "status"};
    struct world_dice *dice = &world->dice;
    struct world_key *key = &index->keys[index->key_count];
    const char *attribute;
    do {
        attribute = world_once_in(dice, 5)
                        ? table->keys[world_draw(dice, table->key_count)].attribute
                    : sorts ? WORLD_PICK(dice, sorts_of)
                            : WORLD_PICK(dice, partitions);
    } while (world_index_names(index, attribute));
    const struct world_key *known = world_find_key(table, attribute);
    char type = known                         ? known->type
                : strcmp(attribute, "n") == 0 ? 'N'
                : world_once_in(dice, 12)     ? 'B'
                                              : 'S';
    *key = (struct world_key){.type = type};
    world_copy_name(key->attribute, attribute);
    for (unsigned i = 0; i < table->key_count; i++)
        key->of_table = key->of_table || strcmp(table->keys[i].attribute, attribute) == 0;
    if (known && !key->of_table)
        memcpy(key->formats, known->formats, sizeof key->formats); /* one format in all indexes */
    else if (!key->of_table && world_once_in(dice, 4))
        for (unsigned i = 0; i < table->kind_count; i++)
            world_make_own(&key->formats[i], attribute);
    else if (!key->of_table)
        for (unsigned i = 0, made = 0; i < table->kind_count; i++) {
            if (made + (table->kind_count - i) > 1 && world_once_in(dice, 3))
                continue; /* the kind lacks a format */
            world_make_format(dice, attribute, type, &key->formats[i]);
            made++;
        }
    index->key_count++;
}

static void world_make_index(struct world *world, struct world_table *table)
{
    struct world_dice *dice = &world->dice;
    struct world_index *index = &table->indexes[table->index_count];
    *index = (struct world_index){.projects = "aaks"[world_draw(dice, 4)]};
    snprintf(index->name, sizeof index->name, "i%u", table->index_count);
    index->partition_count = world_once_in(dice, 6) ? 2 : 1;
    for (unsigned i = 0; i < index->partition_count; i++)
        world_make_index_key(world, table, index, false);
    if (!world_once_in(dice, 3))
        world_make_index_key(world, table, index, true);
    for (unsigned i = 0; i < 2; i++)
        world_copy_name(index->included[i], i ? "p" : "doctor");
    table->index_count++;
}

/* Items. */

static const struct world_format *world_key_format(const struct world_table *table, unsigned key,
                                                   int kind)
{
    return &table->keys[key].formats[kind];
}

static bool world_is_kind(const struct world_table *table, const struct world_item *item, int kind,
                          struct world_parts *parts)
{
    *parts = (struct world_parts){0};
    for (unsigned i = 0; i < table->key_count; i++)
        if (!world_match(world_key_format(table, i, kind),
                         world_find(item, table->keys[i].attribute), parts))
            return false;
    return true;
}

/* How many kinds ITEM fits. */
static unsigned world_count_kinds(const struct world_table *table, const struct world_item *item)
{
    unsigned count = 0;
    struct world_parts parts;
    for (unsigned i = 0; i < table->kind_count; i++)
        count += world_is_kind(table, item, (int)i, &parts);
    return count;
}

static bool world_has_key_of(const struct world_table *table, const struct world_item *item)
{
    for (unsigned i = 0; i < table->item_count; i++) {
        bool same = true;
        for (unsigned k = 0; k < table->key_count; k++)
            same = same && world_equal(world_find(item, table->keys[k].attribute),
                                       world_find(&table->items[i], table->keys[k].attribute));
        if (same)
            return true;
    }
    return false;
}

/* Attributes of the indexes, with the parts that the item has already. */
static void world_add_index_attributes(struct world *world, const struct world_table *table,
                                       struct world_item *item, struct world_parts *parts)
{
    struct world_dice *dice = &world->dice;
    bool always = world_once_in(dice, 2);
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++) {
            const struct world_key *key = &table->indexes[i].keys[k];
            const struct world_format *format = item->kind >= 0 && key->formats[item->kind].count
                                                    ? &key->formats[item->kind]
                                                    : NULL;
            bool is_sure = table->is_full && format, fits = is_sure || world->is_tidy;
            if (world_find(item, key->attribute) ||
                (!is_sure && world_once_in(dice, always ? 50 : 4)))
                continue;
            struct world_value value = format && (fits || !world_once_in(dice, 12))
                                           ? world_expand(dice, format, key->type, parts)
                                           : world_random_key(dice, key->type);
            if (!fits && world_once_in(dice, 60)) /* not in the index */
                value = WORLD_PICK(dice, world_documents);
            if ((value.type == 'J' || value.text[0]) && (format || !world_once_in(dice, 2)))
                world_set(item, key->attribute, &value);
        }
}

static bool world_make_item(struct world *world, struct world_table *table)
{
    struct world_dice *dice = &world->dice;
    struct world_item *item = &table->items[table->item_count];
    struct world_parts parts = {0};
    *item = (struct world_item){
        .kind = world_once_in(dice, 12) ? -1 : (int)world_draw(dice, table->kind_count)};
    for (unsigned i = 0; i < table->key_count; i++) {
        const struct world_key *key = &table->keys[i];
        struct world_value value =
            item->kind < 0 ? world_random_key(dice, key->type)
                           : world_expand(dice, &key->formats[item->kind], key->type, &parts);
        if (!value.text[0] || !world_set(item, key->attribute, &value))
            return false;
    }
    if (item->kind < 0)
        parts = (struct world_parts){0};
    else if (!world_is_kind(table, item, item->kind, &parts))
        return false;
    if (world_count_kinds(table, item) != (item->kind >= 0) || world_has_key_of(table, item))
        return false;
    world_add_index_attributes(world, table, item, &parts);
    static const char *const more[] = {"p",      "q",      "x",    "y", "z", "tenant",
                                       "doctor", "status", "when", "n", "m"};
    for (unsigned i = 0; i < sizeof more / sizeof more[0]; i++) {
        const struct world_key *key = world_find_key(table, more[i]);
        struct world_value value = world_random_value(dice);
        if (key && (world->is_tidy || value.type != key->type))
            continue;
        if (world_once_in(dice, 4) && !world_find(item, more[i]))
            world_set(item, more[i], &value);
    }
    table->item_count++;
    return true;
}

bool world_is_in(const struct world_item *item, const struct world_index *index)
{
    for (unsigned i = 0; i < index->key_count; i++) {
        const struct world_value *value = world_find(item, index->keys[i].attribute);
        if (!value || value->type != index->keys[i].type)
            return false;
    }
    return true;
}

bool world_index_has(const struct world_table *table, const struct world_index *index,
                     const char *attribute)
{
    bool is_key = world_index_names(index, attribute);
    for (unsigned i = 0; i < table->key_count; i++)
        is_key = is_key || strcmp(table->keys[i].attribute, attribute) == 0;
    for (unsigned i = 0; index->projects == 's' && i < 2; i++)
        is_key = is_key || strcmp(index->included[i], attribute) == 0;
    return is_key || index->projects == 'a';
}

/* What the map states, which is true of the items. */

static bool world_is_held(const struct world_table *table, const struct world_index *index,
                          int kind)
{
    bool any = false;
    for (unsigned i = 0; i < table->item_count; i++) {
        const struct world_item *item = &table->items[i];
        struct world_parts parts;
        if (item->kind != kind)
            continue;
        any = true;
        if (!world_is_in(item, index))
            return false;
        world_is_kind(table, item, kind, &parts);
        for (unsigned k = 0; k < index->key_count; k++)
            if (!index->keys[k].of_table &&
                (!index->keys[k].formats[kind].count ||
                 !world_match(&index->keys[k].formats[kind],
                              world_find(item, index->keys[k].attribute), &parts)))
                return false;
        /* no part of it may be an attribute with another value */
        for (unsigned k = 0; k < parts.count; k++) {
            struct world_value column = world_column_value(table, true, item, parts.list[k].name);
            if (!world_equal(&column, &parts.list[k].value))
                return false;
        }
    }
    return any;
}

static bool world_format_has(const struct world_format *format, const char *name)
{
    for (unsigned i = 0; i < format->count; i++)
        if (format->pieces[i].is_part && strcmp(format->pieces[i].name, name) == 0)
            return true;
    return false;
}

static bool world_kind_has(const struct world_table *table, int kind, const char *name)
{
    for (unsigned i = 0; i < table->key_count; i++)
        if (world_format_has(&table->keys[i].formats[kind], name))
            return true;
    return false;
}

static void world_state_attributes(struct world_table *table)
{
    struct world_column columns[WORLD_COLUMNS];
    unsigned count = world_columns(table, true, columns);
    for (unsigned i = 0; i < count; i++) {
        struct world_stated *stated = &table->stated[table->stated_count];
        if (!world_is_part_of_table(table, columns[i].name))
            continue;
        *stated = (struct world_stated){0};
        world_copy_name(stated->name, columns[i].name);
        for (unsigned k = 0; k < table->item_count; k++) {
            const struct world_item *item = &table->items[k];
            if (item->kind >= 0 && world_find(item, stated->name) &&
                !world_kind_has(table, item->kind, stated->name))
                stated->kinds[item->kind] = true;
        }
        table->stated_count++;
    }
}

static void world_make_table(struct world *world, unsigned number)
{
    static const char *const partitions[] = {"pk", "pk", "id", "x", "tenant", "doctor"};
    static const char *const sorts[] = {"sk", "sk", "y", "when", "x"};
    struct world_dice *dice = &world->dice;
    struct world_table *table = &world->tables[number];
    *table = (struct world_table){.kind_count = 1 + world_draw(dice, WORLD_KINDS),
                                  .is_full = world_once_in(dice, 2)};
    snprintf(table->name, sizeof table->name, "t%u", number);
    snprintf(table->service, sizeof table->service, "e-T%u", number);
    table->key_count = world_once_in(dice, 5) ? 1 : 2;
    const char *partition = WORLD_PICK(dice, partitions), *sort;
    do
        sort = WORLD_PICK(dice, sorts);
    while (strcmp(sort, partition) == 0);
    bool keyed_by_number = world_once_in(dice, 12), binary = world_once_in(dice, 12);
    world_make_key(dice, partition,
                   binary            ? 'B'
                   : keyed_by_number ? 'N'
                                     : 'S',
                   table->kind_count, &table->keys[0]);
    world_make_key(dice, sort,
                   world_once_in(dice, 5)    ? 'N'
                   : world_once_in(dice, 10) ? 'B'
                                             : 'S',
                   table->kind_count, &table->keys[1]);
    for (unsigned i = 0, count = world_draw(dice, WORLD_INDEXES + 1); i < count; i++)
        world_make_index(world, table);
    for (unsigned tries = 0; tries < 20 * WORLD_ITEMS && table->item_count < WORLD_ITEMS; tries++)
        world_make_item(world, table);
    if (world_once_in(dice, 2))
        world_state_attributes(table);
    for (unsigned i = 0; i < table->index_count; i++) {
        struct world_index *index = &table->indexes[i];
        bool states = world_once_in(dice, 3);
        for (unsigned k = 0; states && k < table->kind_count; k++)
            index->holds[k] = world_is_held(table, index, (int)k);
        index->states_holds = states;
        for (unsigned k = 0; !states && k < table->kind_count; k++)
            index->reads[k] = world_once_in(dice, 2) && world_is_held(table, index, (int)k);
    }
}

void world_make(struct world *world, uint64_t seed, bool tidy)
{
    *world = (struct world){.seed = seed, .is_tidy = tidy, .dice = {seed}};
    world->table_count = 1 + world_draw(&world->dice, WORLD_TABLES);
    for (unsigned i = 0; i < world->table_count; i++)
        world_make_table(world, i);
}

void world_make_partition(struct world *world)
{
    struct world_value partition = world_value_of('S', "a"), other = world_value_of('S', "b");
    struct world_table *table = &world->tables[0];
    *world = (struct world){.table_count = 1};
    *table = (struct world_table){.name = "t0",
                                  .service = "e-T0",
                                  .key_count = 2,
                                  .kind_count = 1,
                                  .item_count = WORLD_ITEMS};
    table->keys[0] = (struct world_key){.attribute = "pk", .type = 'S'};
    table->keys[1] = (struct world_key){.attribute = "sk", .type = 'S'};
    world_make_own(&table->keys[0].formats[0], "pk");
    world_make_own(&table->keys[1].formats[0], "sk");
    for (unsigned i = 0; i < WORLD_ITEMS; i++) {
        struct world_value sort = {.type = 'S'};
        snprintf(sort.text, sizeof sort.text, "%02u", i);
        world_set(&table->items[i], "pk", &partition);
        world_set(&table->items[i], "sk", &sort);
        world_set(&table->items[i], "p", &other);
    }
}

/* The past. */

static void world_change_item(struct world *world, const struct world_table *table,
                              struct world_item *item)
{
    unsigned at = world_draw(&world->dice, item->count);
    const struct world_attribute *attribute = &item->attributes[at];
    if (world_find_key(table, attribute->name))
        return;
    if (world_once_in(&world->dice, 4)) {
        memmove(&item->attributes[at], &item->attributes[at + 1],
                (item->count - at - 1) * sizeof item->attributes[0]);
        item->count--;
        return;
    }
    item->attributes[at].value = world_random_value(&world->dice);
}

void world_age(struct world *world)
{
    for (unsigned i = 0; i < world->table_count; i++) {
        struct world_table *table = &world->tables[i];
        for (unsigned k = table->item_count; k-- > 0;) {
            if (world_once_in(&world->dice, 6)) {
                memmove(&table->items[k], &table->items[k + 1],
                        (table->item_count - k - 1) * sizeof table->items[0]);
                table->item_count--;
            } else if (world_once_in(&world->dice, 3)) {
                world_change_item(world, table, &table->items[k]);
            }
        }
        for (unsigned tries = 0; tries < 30 && table->item_count < WORLD_ITEMS; tries++)
            world_make_item(world, table);
    }
}

const struct world_item *world_find_item(const struct world_table *table,
                                         const struct world_item *like)
{
    for (unsigned i = 0; i < table->item_count; i++) {
        bool same = true;
        for (unsigned k = 0; k < table->key_count; k++)
            same = same && world_equal(world_find(like, table->keys[k].attribute),
                                       world_find(&table->items[i], table->keys[k].attribute));
        if (same)
            return &table->items[i];
    }
    return NULL;
}

void world_take_apart(const struct world_table *table, const struct world_item *item,
                      struct world_parts *out)
{
    *out = (struct world_parts){0};
    if (item->kind >= 0)
        world_is_kind(table, item, item->kind, out);
}

static int world_order_values(const struct world_value *a, const struct world_value *b)
{
    if (a->type != 'N')
        return strcmp(a->text, b->text);
    long double x = strtold(a->text, NULL), y = strtold(b->text, NULL);
    return (x > y) - (x < y);
}

unsigned world_find_listed(const struct world_table *table, const struct world_index *index,
                           const struct world_item *item, const struct world_item *out[WORLD_ITEMS])
{
    unsigned count = 0;
    const struct world_key *keys = index ? index->keys : table->keys;
    unsigned partitions = index ? index->partition_count : 1;
    unsigned key_count = index ? index->key_count : table->key_count;
    for (unsigned i = 0; i < table->item_count; i++) {
        const struct world_item *each = &table->items[i];
        bool is_in = each->kind == item->kind && (!index || world_is_in(each, index));
        for (unsigned k = 0; is_in && k < partitions; k++)
            is_in = world_equal(world_find(each, keys[k].attribute),
                                world_find(item, keys[k].attribute));
        if (!is_in)
            continue;
        unsigned at = count++;
        for (; at > 0; at--) {
            int order = 0;
            for (unsigned k = partitions; !order && k < key_count; k++)
                order = world_order_values(world_find(out[at - 1], keys[k].attribute),
                                           world_find(each, keys[k].attribute));
            if (order <= 0)
                break;
            out[at] = out[at - 1];
        }
        out[at] = each;
    }
    return count;
}

/* Columns. */

bool world_is_part_of_table(const struct world_table *table, const char *name)
{
    for (unsigned i = 0; i < table->key_count; i++)
        for (unsigned k = 0; k < table->kind_count; k++) {
            const struct world_format *format = &table->keys[i].formats[k];
            bool is_attribute = format->count == 1 && strcmp(table->keys[i].attribute, name) == 0;
            if (world_format_has(format, name) && !is_attribute)
                return true;
        }
    return false;
}

static bool world_is_part_of_index(const struct world_table *table, const char *name)
{
    if (world_find_key(table, name))
        return false;
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++)
            for (unsigned kind = 0; kind < table->kind_count; kind++)
                if (!table->indexes[i].keys[k].of_table &&
                    world_format_has(&table->indexes[i].keys[k].formats[kind], name))
                    return true;
    return false;
}

static enum world_affinity world_affinity_of(char type)
{
    return type == 'S' ? WORLD_TEXT : type == 'N' ? WORLD_NUMERIC : WORLD_BARE;
}

static void world_note_column(struct world_column *columns, unsigned *count, const char *name,
                              enum world_affinity affinity)
{
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(columns[i].name, name) == 0) {
            if (columns[i].affinity != affinity)
                columns[i].affinity = WORLD_BARE;
            return;
        }
    if (*count == WORLD_COLUMNS)
        abort();
    world_copy_name(columns[*count].name, name);
    columns[(*count)++].affinity = affinity;
}

/* A part has the affinity of the attributes that have it, if all have the same. */
static void world_note_parts(const struct world_key *key, unsigned kind_count,
                             const struct world_table *table, struct world_column *columns,
                             unsigned *count)
{
    for (unsigned kind = 0; kind < kind_count; kind++)
        for (unsigned i = 0; i < key->formats[kind].count; i++) {
            const struct world_piece *piece = &key->formats[kind].pieces[i];
            if (piece->is_part && (world_is_part_of_table(table, piece->name) ||
                                   world_is_part_of_index(table, piece->name)))
                world_note_column(columns, count, piece->name, world_affinity_of(key->type));
        }
}

unsigned world_columns(const struct world_table *table, bool mapped,
                       struct world_column out[WORLD_COLUMNS])
{
    unsigned count = 0;
    for (unsigned i = 0; mapped && i < table->key_count; i++)
        world_note_parts(&table->keys[i], table->kind_count, table, out, &count);
    for (unsigned i = 0; mapped && i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++)
            if (!table->indexes[i].keys[k].of_table)
                world_note_parts(&table->indexes[i].keys[k], table->kind_count, table, out, &count);
    for (unsigned i = 0; i < table->key_count; i++)
        if (!mapped || !world_is_part_of_table(table, table->keys[i].attribute))
            world_note_column(out, &count, table->keys[i].attribute,
                              world_affinity_of(table->keys[i].type));
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++) {
            const struct world_key *key = &table->indexes[i].keys[k];
            if (!mapped || !world_is_part_of_table(table, key->attribute))
                world_note_column(out, &count, key->attribute, world_affinity_of(key->type));
        }
    return count;
}

static struct world_value world_attribute_value(const struct world_table *table,
                                                const struct world_item *item, const char *name)
{
    const struct world_value *value = world_find(item, name);
    const struct world_key *key = world_find_key(table, name);
    return value && (!key || key->type == value->type) ? *value : (struct world_value){0};
}

/* The part NAME in the first key of an index whose format for the item's kind has it. */
static struct world_value world_index_part(const struct world_table *table,
                                           const struct world_item *item, const char *name)
{
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++) {
            const struct world_key *key = &table->indexes[i].keys[k];
            const struct world_format *format = &key->formats[item->kind];
            const struct world_value *value = world_find(item, key->attribute);
            struct world_parts parts = {0};
            if (key->of_table || !world_format_has(format, name))
                continue;
            bool fits = value && value->type == key->type && world_match(format, value, &parts);
            return fits ? *world_find_part(&parts, name) : (struct world_value){0};
        }
    return (struct world_value){0};
}

struct world_value world_column_value(const struct world_table *table, bool mapped,
                                      const struct world_item *item, const char *name)
{
    struct world_value value = {0};
    struct world_parts parts = {0};
    bool of_table = mapped && world_is_part_of_table(table, name);
    bool of_index = mapped && !of_table && world_is_part_of_index(table, name);
    if (!of_table && !of_index)
        return world_attribute_value(table, item, name);
    if (item->kind < 0)
        return value;
    world_is_kind(table, item, item->kind, &parts);
    if (world_find_part(&parts, name))
        return *world_find_part(&parts, name);
    if (!world_find_key(table, name))
        value = world_index_part(table, item, name);
    for (unsigned i = 0; i < table->stated_count; i++)
        if (strcmp(table->stated[i].name, name) == 0 && !table->stated[i].kinds[item->kind])
            return value;
    return value.type ? value : world_attribute_value(table, item, name);
}

/* Runs. */

enum { WORLDS = 15, LONG_SECONDS = 120, MOST_FAILURES = 10 };

static uint64_t world_number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

void world_check_all(void (*check)(uint64_t seed), const unsigned *failed)
{
    uint32_t fresh = 1;
    if (getrandom(&fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh)
        fresh = 1;
    bool is_long = world_number_of("DDBFS_LONG", 0) == 1;
    uint64_t seed = world_number_of("DDBFS_WORLDS_SEED", fresh);
    uint64_t worlds = world_number_of("DDBFS_WORLDS", WORLDS);
    uint64_t seconds = world_number_of("DDBFS_WORLDS_SECONDS", is_long ? LONG_SECONDS : 0);
    time_t until = time(NULL) + (time_t)seconds;
    printf("# DDBFS_WORLDS_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; (seconds ? time(NULL) < until : i < worlds) && *failed < MOST_FAILURES;
         i++)
        check(seed + i);
}
