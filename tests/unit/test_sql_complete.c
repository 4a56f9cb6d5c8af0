/* Every row that satisfies the constraints is found, and once: random models, items and
 * constraints, compared with a plain test of each row. The values of rows are those of the rules in
 * docs/sql.md, written here a second time. DDBFS_SQL_MODELS: how many models. */
#include <stdlib.h>

#include "core/item/value.h"
#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"
#include "core/sql/sql_lookup.h"
#include "tests/unit/check.h"
#include "tests/unit/random_tables.h"
#include "tests/unit/sample.h"

enum {
    MODELS = 400,
    ITEMS = 24,
    TRIES = 10 * ITEMS,
    QUERIES = 40,
    MOST_COLUMNS = 40,
    MOST_CONSTRAINTS = 16
};

static struct random dice;

static size_t below(size_t limit)
{
    return random_below(&dice, limit);
}

static bool one_of(size_t count)
{
    return below(count) == 0;
}

static const char *pick(const char *const *list, size_t count)
{
    return list[below(count)];
}
#define PICK(list) pick(list, sizeof(list) / sizeof((list)[0]))

/* Models. */

static const char *const params[] = {"x", "y", "z", "w",   "e:lower", "q:03",
                                     "v", "x", "y", "s00", "p00"};

/* Attributes of items that have the names of parts; some are keys of indexes, too. */
static const char *const beside[] = {"x", "y", "z", "w", "v", "e", "q", "n", "s00", "p00", NULL};

/* Adds a part that FORMAT, from BEGIN on, lacks; rarely one that it has. */
static void add_part(struct buf *out, size_t begin, bool last)
{
    const char *param = PICK(params);
    CLEAN_UP(buf_clean_up) struct buf piece = {0};
    buf_printf(&piece, "{%s", param);
    while (strstr(buf_text(out) + begin, buf_text(&piece)) && !one_of(8)) {
        param = PICK(params);
        buf_truncate(&piece, 0);
        buf_printf(&piece, "{%s", param);
    }
    bool open = last && !strchr(param, ':') && one_of(4);
    buf_printf(out, "%s%s}", buf_text(&piece), open ? "*" : "");
}

static void add_format(struct buf *out)
{
    static const char *const firsts[] = {"", "", "A#", "B#", "AB", "#", "A#B#"};
    static const char *const between[] = {"#", "#", "#", "#X#", "!", "##", "$$", "#!"};
    static const char *const lasts[] = {"", "", "", "#", "#END"};
    size_t begin = out->size, count = below(4);
    buf_add_text(out, PICK(firsts));
    for (size_t i = 0; i < count; i++) {
        buf_add_text(out, i ? PICK(between) : "");
        add_part(out, begin, i + 1 == count);
    }
    buf_add_text(out, count ? PICK(lasts) : "C");
}

static bool has_sort, sort_is_number;
static size_t kind_count;

/* The format of a key attribute: of a number it is one part, or a number. */
static void add_typed_format(struct buf *out, bool number)
{
    if (!number)
        add_format(out);
    else
        buf_add_text(out, one_of(4) ? "5" : one_of(2) ? "{v}" : "{n}");
}

static void add_index_key(struct buf *out, const char *attribute, bool number)
{
    buf_printf(out, "\"%s\":", attribute);
    if (one_of(4)) { /* in its own name */
        buf_printf(out, "\"{%s}\"", attribute);
        return;
    }
    if (one_of(2)) {
        buf_add_char(out, '"');
        add_typed_format(out, number);
        buf_add_text(out, "\"");
        return;
    }
    size_t before = out->size;
    for (size_t i = 0; i < kind_count; i++) {
        if (one_of(3) && (i + 1 < kind_count || out->size > before))
            continue;
        buf_printf(out, "%s\"k%zu\":\"", out->size > before ? "," : "{", i);
        add_typed_format(out, number);
        buf_add_char(out, '"');
    }
    buf_add_char(out, '}');
}

/* One or two attributes, or one of the table's key. */
static void add_side(struct buf *out, char side, size_t number, size_t count)
{
    if (one_of(6)) {
        buf_add_text(out, has_sort && one_of(2) ? "\"sk\"" : "\"pk\"");
        return;
    }
    if (one_of(4)) /* the other index's attribute, perhaps in another format */
        number = 0;
    buf_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        char attribute[48];
        bool is_number = side == 's' && one_of(3);
        snprintf(attribute, sizeof attribute, "%c%zu%zu", is_number ? 'n' : side, number, i);
        buf_add_text(out, i ? "," : "");
        add_index_key(out, attribute, is_number);
    }
    buf_add_char(out, '}');
}

/* A list of random kinds. */
static void add_kinds(struct buf *out)
{
    size_t count = 0;
    buf_add_char(out, '[');
    for (size_t i = 0; i < kind_count; i++)
        if (one_of(2))
            buf_printf(out, "%s\"k%zu\"", count++ ? "," : "", i);
    buf_add_char(out, ']');
}

/* What the map states of some parts of its keys, which WRITTEN has. */
static void add_attributes(struct buf *out, struct span written)
{
    size_t count = 0;
    buf_add_text(out, ",\"attributes\":{");
    for (const char *const *name = beside; *name; name++) {
        char part[48];
        snprintf(part, sizeof part, "{%s", *name);
        const char *at = memmem(written.data, written.size, part, strlen(part));
        if (!at || !strchr(":*}", at[strlen(part)]) || !one_of(3))
            continue;
        buf_printf(out, "%s\"%s\":", count++ ? "," : "", *name);
        add_kinds(out);
    }
    buf_add_char(out, '}');
}

static void add_index(struct buf *out, size_t number)
{
    static const char *const projections[] = {"\"all\"", "\"keys\"", "\"some\"", "[\"attr\"]"};
    buf_printf(out, "%s\"i%zu\":{\"projects\":%s,\"partition\":", number ? "," : "", number,
               PICK(projections));
    add_side(out, 'p', number, one_of(5) ? 2 : 1);
    if (!one_of(3)) {
        buf_add_text(out, ",\"sort\":");
        add_side(out, 's', number, one_of(3) ? 2 : 1);
    }
    if (one_of(4)) {
        buf_add_text(out, ",\"holds\":");
        add_kinds(out);
    }
    buf_add_char(out, '}');
}

static void add_model(struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf indexes = {0}, attributes = {0};
    has_sort = !one_of(5);
    sort_is_number = has_sort && one_of(5);
    kind_count = 1 + below(3);
    for (size_t i = 0, count = below(3); i < count; i++)
        add_index(&indexes, i);
    buf_printf(out, "\"table\":\"T\",\"separator\":\"%s\",\"types\":{%s",
               one_of(6)   ? "!"
               : one_of(6) ? "X"
                           : "#",
               sort_is_number ? "\"sk\":\"N\"," : "");
    for (size_t i = 0; i < 4; i++) {
        char name[48];
        snprintf(name, sizeof name, "\"n%zu%zu\"", i / 2, i % 2);
        if (strstr(buf_text(&indexes), name))
            buf_printf(out, "%s:\"N\",", name);
    }
    buf_add_text(out, "},\"records\":{");
    for (size_t i = 0; i < kind_count; i++) {
        buf_printf(out, "%s\"k%zu\":{\"pk\":\"", i ? "," : "", i);
        add_format(out);
        if (has_sort) {
            buf_add_text(out, "\",\"sk\":\"");
            add_typed_format(out, sort_is_number);
        }
        buf_add_text(out, "\"}");
    }
    buf_printf(out, "},\"indexes\":{%s},\"paths\":{}", buf_text(&indexes));
    add_attributes(&attributes, buf_span(out));
    buf_add_span(out, buf_span(&attributes));
}

/* A random one that compiles; NULL for one that does not. */
static const struct model *make_model(struct buf *text)
{
    struct error err = {0};
    add_model(text);
    const struct map *map = sample_table(buf_text(text), &err);
    const struct model *model = map ? model_ref(map->models[0]) : NULL;
    map_unref(map);
    return model;
}

/* Lets random paths read random kinds through random indexes. */
static void add_promises(const struct model *model)
{
    struct model *mine = model->self;
    for (const struct map_index *index = model->indexes; index; index = index->next) {
        for (const struct map_kind *kind = model->kinds; kind; kind = kind->next) {
            struct map_pattern *pattern = arena_alloc(&mine->arena, sizeof *pattern);
            const struct map_kind **kinds = arena_array(&mine->arena, 1, sizeof *kinds);
            CHECK(pattern && kinds);
            if (one_of(2))
                continue;
            kinds[0] = kind;
            *pattern = (struct map_pattern){.path = "p/",
                                            .list = true,
                                            .table = model,
                                            .kinds = kinds,
                                            .kind_count = 1,
                                            .index = index,
                                            .next = mine->patterns};
            mine->patterns = pattern;
        }
    }
}

static bool is_held(const struct map_kind *kind, const struct map_index *index)
{
    for (size_t i = 0; i < index->hold_count; i++)
        if (index->holds[i] == kind)
            return true;
    return false;
}

/* By INDEX; NULL: by any. */
static bool is_promised(const struct model *model, const struct map_kind *kind,
                        const struct map_index *index)
{
    for (const struct map_index *each = model->indexes; each; each = each->next)
        if ((!index || each == index) && is_held(kind, each))
            return true;
    for (const struct map_pattern *each = model->patterns; each; each = each->next)
        if (each->kinds[0] == kind && (!index || each->index == index) && !each->index->has_holds)
            return true;
    return false;
}

static const char *written; /* the model */

/* Items. */

static const char *const texts[] = {
    "",   "a",    "b",     "a!",       "a\"",       "a$",  "a!b", "ab",  "a b", "!",  "A",  "B",
    "AB", "A#",   "a#b",   "#",        "X",         "END", "5",   "05",  "1e1", "%",  "a%", "a_",
    "C",  "\x7f", "a\x7f", "\xc3\xa9", "a\xc3\xa9", "$$",  "$",   "a$b", "\"",  "aa", "a!!"};
static const char *const numbers[] = {
    "0", "5", "-1", "10", "1.5", "42", "100", "999", "7", "50", "12345678901234567890.5", "0.1"};

static const char *part_value(const char *param)
{
    static const char *const folded[] = {"a", "ann", "b", "a!", "", "a\xc3\xa9"};
    static const char *const padded[] = {"0", "5", "42", "999", "10", "7", "100"};
    if (strcmp(param, "e") == 0)
        return PICK(folded);
    if (strcmp(param, "q") == 0)
        return PICK(padded);
    if (strcmp(param, "n") == 0 || (strcmp(param, "v") == 0 && one_of(2)))
        return PICK(numbers);
    return PICK(texts);
}

struct attribute {
    const char *name;
    struct value value;
};

struct item {
    struct attribute attributes[32];
    size_t count;
    struct buf text;
    struct json_doc doc;
    struct sql_row row;
    const struct map_kind *kind; /* NULL: of no declared kind */
    struct bindings parts;       /* of the table's key */
    struct sql_value values[MOST_COLUMNS];
};

static struct item items[ITEMS];
static size_t item_count;

static const struct value *attribute(const struct item *item, const char *name)
{
    for (size_t i = 0; i < item->count; i++)
        if (strcmp(item->attributes[i].name, name) == 0)
            return &item->attributes[i].value;
    return NULL;
}

/* False if it has another value. */
static bool set(struct item *item, const char *name, struct value value)
{
    const struct value *old = attribute(item, name);
    if (old)
        return value_compare(*old, value) == 0;
    CHECK(item->count < sizeof item->attributes / sizeof item->attributes[0]);
    item->attributes[item->count++] = (struct attribute){name, value};
    return true;
}

static void write_item(const struct item *item, const struct model *model,
                       const struct map_index *index, struct buf *out)
{
    buf_add_char(out, '{');
    size_t count = 0;
    for (size_t i = 0; i < item->count; i++) {
        const struct attribute *each = &item->attributes[i];
        if (index && !model_index_holds(model, index, each->name))
            continue;
        buf_printf(out, "%s\"%s\":", count++ ? "," : "", each->name);
        value_write(out, each->value);
    }
    buf_add_char(out, '}');
}

static void fill_bindings(enum value_type type, const struct format *format,
                          struct bindings *bindings)
{
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].param && !bindings_find(bindings, format->pieces[i].param))
            CHECK(bindings_add(
                bindings, format->pieces[i].param,
                span_text(type == VALUE_N ? PICK(numbers) : part_value(format->pieces[i].param))));
}

/* The text of FORMAT with values of BINDINGS, or random ones. */
static struct value expand(struct arena *arena, enum value_type type, const struct format *format,
                           struct bindings *bindings)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    fill_bindings(type, format, bindings);
    format_expand(format, bindings, &text);
    return (struct value){type, arena_copy(arena, buf_span(&text))};
}

/* A random value of a key attribute. */
static struct value random_value(struct arena *arena, enum value_type type,
                                 const struct format *format)
{
    struct bindings bindings = {0};
    if (type == VALUE_N && (!format || one_of(2)))
        return (struct value){type, span_text(PICK(numbers))};
    if (!format || one_of(3))
        return (struct value){type, span_text(PICK(texts))};
    return expand(arena, type, format, &bindings);
}

static bool is_key_value(struct value value)
{
    return value.type == VALUE_N ? json_is_number(value.bytes) : value.bytes.size > 0;
}

/* Sets an attribute of an index as the promises want it: PARTS are those of the item. False if the
 * promise can't be kept, because the parts can't be read back. */
static bool set_promised(struct arena *arena, const struct model *model, struct item *item,
                         const struct map_key *key, const struct map_kind *kind,
                         struct bindings *parts, const bool *left_out)
{
    const struct format *format = model_key_format(model, key, kind);
    struct bindings own = {0};
    for (size_t i = 0; format && i < format->count; i++) {
        const char *param = format->pieces[i].param;
        bool of_table = param && (format_has(&kind->keys[0], param) ||
                                  (model->key_count > 1 && format_has(&kind->keys[1], param)));
        if (param && !of_table && left_out[(unsigned char)param[0]])
            return !attribute(item, key->attribute); /* unless another index has it */
    }
    if (!format)
        return true;
    struct value value = expand(arena, key->type, format, parts);
    if (!is_key_value(value) || !format_match_key(format, value.bytes, model->separator, &own) ||
        !bindings_agree(&own, &own) || !bindings_agree(&own, parts))
        return false;
    return set(item, key->attribute, value);
}

static bool is_promised_elsewhere(const struct model *model, const struct map_kind *kind,
                                  const char *name)
{
    for (const struct map_index *index = model->indexes; index; index = index->next)
        if (model_is_index_key(index, name) && is_promised(model, kind, index))
            return true;
    return false;
}

/* The rules of docs/sql.md for values. */

static bool is_key_name(const struct model *model, const char *name)
{
    bool is_key = model_is_key(model, name);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        is_key = is_key || model_is_index_key(index, name);
    return is_key;
}

static enum value_type key_type(const struct model *model, const char *name)
{
    const struct map_key *key;
    for (size_t i = 0; i < model->key_count; i++)
        if (strcmp(model->keys[i].attribute, name) == 0)
            return model->keys[i].type;
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            if (strcmp(key->attribute, name) == 0)
                return key->type;
    return VALUE_S;
}

/* Whether the table's keys have a part NAME that is not just the attribute of that name. */
static bool is_part_of_table(const struct model *model, const char *name)
{
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < model->key_count; i++) {
            const struct format *format = &kind->keys[i];
            bool is_attribute = strcmp(model->keys[i].attribute, name) == 0 && format->count == 1 &&
                                !format_is_spelled(format->pieces);
            if (format_has(format, name) && !is_attribute)
                return true;
        }
    return false;
}

static bool is_part(const struct model *model, const char *name)
{
    const struct map_key *key;
    if (is_part_of_table(model, name))
        return true;
    for (const struct map_index *index = model->indexes; index && !is_key_name(model, name);
         index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            for (const struct map_kind *kind = model->kinds; kind; kind = kind->next) {
                const struct format *format = model_key_format(model, key, kind);
                if (format && format_has(format, name))
                    return true;
            }
    return false;
}

static bool may_have(const struct model *model, const struct map_kind *kind, const char *name)
{
    for (const struct map_attribute *each = model->attributes; each; each = each->next)
        if (strcmp(each->name, name) == 0) {
            for (size_t i = 0; i < each->kind_count; i++)
                if (each->kinds[i] == kind)
                    return true;
            return false;
        }
    return true;
}

static bool is_stated(const struct model *model, const struct map_kind *kind, const char *name)
{
    for (const struct map_attribute *each = model->attributes; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return may_have(model, kind, name) && !is_key_name(model, name);
    return false;
}

static struct sql_value value_of_part(const struct model *model, const struct binding *part)
{
    const struct format_piece *spelling = model_spelling(model, part->param);
    if (part->type == VALUE_N || (spelling && spelling->pad > 0))
        return sql_value_of_number(part->value);
    return (struct sql_value){.type = SQL_TEXT, .bytes = part->value};
}

static const struct binding *find_part(const struct bindings *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].param, name) == 0)
            return &parts->items[i];
    return NULL;
}

/* The part NAME in the item's keys of indexes; SQL_NULL for none. */
static struct sql_value value_in_indexes(const struct model *model, const struct item *item,
                                         const struct map_kind *kind, const char *name)
{
    const struct map_key *key;
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            const struct value *value = attribute(item, key->attribute);
            const struct format *format = model_key_format(model, key, kind);
            struct bindings own = {0};
            if (model_is_key(model, key->attribute) || !format || !format_has(format, name))
                continue;
            if (!value || value->type != key->type ||
                !format_match_key(format, value->bytes, model->separator, &own) ||
                !bindings_agree(&own, &own))
                return (struct sql_value){.type = SQL_NULL};
            struct binding part = *find_part(&own, name);
            part.type = key->type;
            return value_of_part(model, &part);
        }
    return (struct sql_value){.type = SQL_NULL};
}

static struct sql_value value_of_attribute(const struct model *model, const struct item *item,
                                           const char *name)
{
    const struct value *value = attribute(item, name);
    if (!value || (is_key_name(model, name) && value->type != key_type(model, name)))
        return (struct sql_value){.type = SQL_NULL};
    return value->type == VALUE_N ? sql_value_of_number(value->bytes)
                                  : (struct sql_value){.type = SQL_TEXT, .bytes = value->bytes};
}

/* The value of the column NAME: the part where the key has it, else the attribute. PARTS are those
 * of the table's key. */
static struct sql_value column_value(const struct model *model, const struct item *item,
                                     const struct map_kind *kind, const struct bindings *parts,
                                     const char *name)
{
    struct sql_value value = {.type = SQL_NULL};
    if (!is_part(model, name))
        return value_of_attribute(model, item, name);
    if (!kind)
        return value;
    if (find_part(parts, name))
        return value_of_part(model, find_part(parts, name));
    if (!is_key_name(model, name))
        value = value_in_indexes(model, item, kind, name);
    return value.type == SQL_NULL && may_have(model, kind, name)
               ? value_of_attribute(model, item, name)
               : value;
}

/* Whether the item keeps the promises of the map: an index that holds the kind has the item. An
 * index through which a path reads the kind has it if it has all parts of the index's formats. No
 * part of a promised key has another value than its column. */
static bool honours_promises(const struct model *model, const struct item *item,
                             const struct map_kind *kind, const struct bindings *parts)
{
    for (const struct map_index *index = model->indexes; kind && index; index = index->next) {
        const struct map_key *key;
        if (!is_promised(model, kind, index))
            continue;
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            struct bindings own = {0};
            const struct value *value = attribute(item, key->attribute);
            const struct format *format = model_key_format(model, key, kind);
            bool has_all = true;
            if ((!value || value->type != key->type) && is_held(kind, index))
                return false;
            if (!format || model_is_key(model, key->attribute))
                continue;
            if (value && (value->type != key->type ||
                          !format_match_key(format, value->bytes, model->separator, &own) ||
                          !bindings_agree(&own, &own) || !bindings_agree(&own, parts)))
                return false;
            for (size_t k = 0; k < format->count; k++) {
                const char *name = format->pieces[k].param;
                if (!name || find_part(parts, name))
                    continue;
                struct sql_value column = column_value(model, item, kind, parts, name);
                has_all = has_all && column.type != SQL_NULL && !is_stated(model, kind, name);
                if (!value || column.type == SQL_NULL || is_stated(model, kind, name))
                    continue;
                struct binding part = *find_part(&own, name);
                part.type = key->type;
                struct sql_value mine = value_of_part(model, &part);
                if (sql_value_compare(&mine, &column) != 0)
                    return false;
            }
            if (!value && has_all)
                return false;
        }
    }
    return true;
}

static bool set_index_attributes(struct arena *arena, const struct model *model, struct item *item,
                                 const struct map_kind *kind, struct bindings *parts)
{
    bool left_out[256] = {false};
    const struct map_key *key;
    bool promised = kind && is_promised(model, kind, NULL);
    for (size_t i = 'a'; i <= 'z'; i++)
        left_out[i] = one_of(4);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            if (model_is_key(model, key->attribute))
                continue;
            bool here = promised && is_promised(model, kind, index);
            if (!here && is_promised_elsewhere(model, kind, key->attribute))
                continue;
            if (here || (promised && one_of(2))) {
                bool none[256] = {false};
                if (!set_promised(arena, model, item, key, kind, parts,
                                  is_held(kind, index) ? none : left_out))
                    return false;
            } else if (!promised && !one_of(4) && !attribute(item, key->attribute)) {
                const struct format *format =
                    kind && !one_of(6) ? model_key_format(model, key, kind) : &key->format;
                struct value value = random_value(arena, key->type, format);
                if (is_key_value(value))
                    set(item, key->attribute, value);
            }
        }
    return true;
}

static bool make_item(struct arena *arena, const struct model *model, struct item *item)
{
    struct bindings parts = {0};
    const struct map_kind *kind = model->kinds;
    struct key key = {.count = model->key_count};
    for (size_t skip = below(kind_count); skip > 0; skip--)
        kind = kind->next;
    bool undeclared = one_of(8);
    *item = (struct item){0};
    for (size_t i = 0; i < model->key_count; i++) {
        struct value value = undeclared
                                 ? random_value(arena, model->keys[i].type, &kind->keys[i])
                                 : expand(arena, model->keys[i].type, &kind->keys[i], &parts);
        key.attributes[i] = (struct key_attribute){span_text(model->keys[i].attribute), value};
        if (!is_key_value(value) || (value.type == VALUE_N && number_fault(value.bytes)))
            return false;
        set(item, model->keys[i].attribute, value);
    }
    parts = (struct bindings){0};
    kind = item_match_kind(model, &key, &parts);
    struct bindings own = parts;
    if (!set_index_attributes(arena, model, item, kind, &own))
        return false;
    if (one_of(2))
        set(item, "attr", random_value(arena, one_of(2) ? VALUE_N : VALUE_S, NULL));
    for (const char *const *name = beside; *name; name++)
        if (one_of(3) && !attribute(item, *name) && !model_is_key(model, *name)) {
            const struct binding *same = one_of(2) ? find_part(&own, *name) : NULL;
            enum value_type type = one_of(6) ? VALUE_N : VALUE_S;
            struct value value =
                same ? (struct value){VALUE_S, same->value} : random_value(arena, type, NULL);
            if (is_key_value(value) || !is_key_name(model, *name))
                set(item, *name, value);
        }
    if (!honours_promises(model, item, kind, &parts))
        return false;
    item->kind = kind;
    item->parts = parts;
    for (size_t i = 0; i < item_count; i++) { /* keys are unique */
        size_t same = 0;
        for (size_t k = 0; k < model->key_count; k++)
            same += value_compare(items[i].attributes[k].value, item->attributes[k].value) == 0;
        if (same == model->key_count)
            return false;
    }
    return true;
}

static void read_item(const struct sql_columns *columns, struct item *item)
{
    struct error err = {0};
    write_item(item, columns->model, NULL, &item->text);
    CHECK(json_parse(&item->doc, buf_span(&item->text), JSON_STRICT, NULL));
    if (!sql_row_begin(&item->row, columns, json_root(&item->doc), &err))
        CHECK_FAIL("%s: %s", buf_text(&item->text), err.text);
    for (size_t i = 0; i < columns->count; i++) {
        struct sql_value read;
        CHECK(sql_row_read(&item->row, i, &read, &err));
        item->values[i] = i == columns->item ? read
                                             : column_value(columns->model, item, item->kind,
                                                            &item->parts, columns->items[i].name);
        if (sql_value_compare(&read, &item->values[i]) != 0)
            CHECK_FAIL("%s of %s is not by the rules; %s", columns->items[i].name,
                       buf_text(&item->text), written);
    }
}

static void make_items(struct arena *arena, const struct sql_columns *columns)
{
    item_count = 0;
    for (size_t i = 0; i < TRIES && item_count < ITEMS; i++)
        if (make_item(arena, columns->model, &items[item_count])) {
            read_item(columns, &items[item_count]);
            item_count++;
        }
}

static void drop_items(void)
{
    for (size_t i = 0; i < item_count; i++) {
        sql_row_clean_up(&items[i].row);
        json_clean_up(&items[i].doc);
        buf_clean_up(&items[i].text);
    }
    item_count = 0;
}

/* Constraints, as SQLite tests them. */

static struct sql_value text_of(struct arena *arena, const struct sql_value *value)
{
    char text[64];
    if (value->type == SQL_INTEGER)
        snprintf(text, sizeof text, "%lld", (long long)value->integer);
    else if (value->type == SQL_REAL)
        snprintf(text, sizeof text, "%.15g%s", value->real,
                 value->real == (double)(long long)value->real ? ".0" : "");
    else
        return *value;
    return (struct sql_value){.type = SQL_TEXT, .bytes = arena_copy(arena, span_text(text))};
}

static struct sql_value with_affinity(struct arena *arena, const struct sql_column *column,
                                      const struct sql_value *value)
{
    if (column->is_text)
        return text_of(arena, value);
    if (!column->is_number || value->type != SQL_TEXT || !number_is(value->bytes))
        return *value;
    struct sql_value number = sql_value_of_number(value->bytes);
    if (number.type == SQL_TEXT) /* SQLite compares doubles */
        number = (struct sql_value){.type = SQL_REAL,
                                    .real = strtod(arena_text(arena, value->bytes), NULL)};
    return number;
}

static bool matches(enum sql_op op, struct span text, struct span pattern)
{
    if (op == SQL_OP_BEGINS)
        return span_starts(text, pattern);
    if (pattern.size == 0)
        return text.size == 0;
    char c = pattern.data[0];
    struct span rest = span_from(pattern, 1);
    if (c == (op == SQL_OP_LIKE ? '%' : '*')) {
        for (size_t i = 0; i <= text.size; i++)
            if (matches(op, span_from(text, i), rest))
                return true;
        return false;
    }
    bool any = c == (op == SQL_OP_LIKE ? '_' : '?');
    return text.size > 0 && (any || text.data[0] == c) && matches(op, span_from(text, 1), rest);
}

static bool satisfies(struct arena *arena, const struct sql_columns *columns,
                      const struct item *item, const struct sql_constraint *constraint,
                      const struct sql_value *value)
{
    const struct sql_column *column = &columns->items[constraint->column];
    const struct sql_value *mine = &item->values[constraint->column];
    struct sql_value other = with_affinity(arena, column, value);
    struct sql_value one = with_affinity(arena, column, mine);
    int order = sql_value_compare(&one, &other);
    if (constraint->op == SQL_OP_NOT_NULL)
        return mine->type != SQL_NULL;
    if (constraint->op == SQL_OP_IS)
        return order == 0;
    if (constraint->op >= SQL_OP_LIMIT)
        return true;
    if (mine->type == SQL_NULL || other.type == SQL_NULL)
        return false;
    switch (constraint->op) {
    case SQL_OP_EQ:
        return order == 0;
    case SQL_OP_LT:
        return order < 0;
    case SQL_OP_LE:
        return order <= 0;
    case SQL_OP_GT:
        return order > 0;
    case SQL_OP_GE:
        return order >= 0;
    case SQL_OP_NE:
        return order != 0;
    default:
        break;
    }
    struct sql_value text = text_of(arena, mine), pattern = text_of(arena, value);
    return matches(constraint->op, text.bytes, pattern.bytes);
}

/* Queries. */

static struct {
    struct arena arena;
    struct sql_columns *columns;
    struct sql_constraint constraints[MOST_CONSTRAINTS];
    struct sql_value values[MOST_CONSTRAINTS];
    bool is_any[MOST_CONSTRAINTS]; /* an IN list that SQLite tests: any value may be in it */
    size_t count;
    struct sql_order order[2];
    size_t order_count;
    const struct map_index *index;
    bool used[MOST_COLUMNS];
} query;

static struct {
    size_t models, refused, none, keys, queries, indexes, filters, found, ordered, ranges,
        unordered, in_order;
} seen;

static struct sql_value random_constant(void)
{
    switch (below(8)) {
    case 0:
        return (struct sql_value){.type = SQL_INTEGER, .integer = (int64_t)below(120) - 2};
    case 1:
        return (struct sql_value){.type = SQL_REAL, .real = 1.5 * (double)below(7)};
    case 2:
        return (struct sql_value){.type = one_of(2) ? SQL_NULL : SQL_BLOB,
                                  .bytes = SPAN_LITERAL("a")};
    default:
        return (struct sql_value){.type = SQL_TEXT, .bytes = span_text(PICK(texts))};
    }
}

/* A value that a row has is drawn often, or no row would match. */
static struct sql_value random_operand(size_t column, const struct item *model_item)
{
    struct sql_value value = one_of(6) ? random_constant() : model_item->values[column];
    if (value.type == SQL_NULL && !one_of(8))
        return random_constant();
    return value;
}

/* A text with a wild card behind its beginning. */
static struct sql_value random_pattern(enum sql_op op, struct sql_value value)
{
    static const char *const ends[] = {"%", "_", "%b", ""};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    value = text_of(&query.arena, &value);
    size_t size = value.bytes.size ? below(value.bytes.size + 1) : 0;
    for (size_t i = 0; i < size && !memchr("*?[", value.bytes.data[i], 3); i++)
        buf_add_char(&text, value.bytes.data[i]);
    const char *end = PICK(ends);
    if (op != SQL_OP_BEGINS)
        for (; *end; end++)
            buf_add_char(&text, op == SQL_OP_LIKE ? *end
                                : *end == '%'     ? '*'
                                : *end == '_'     ? '?'
                                                  : *end);
    return (struct sql_value){.type = SQL_TEXT, .bytes = arena_copy(&query.arena, buf_span(&text))};
}

static void add_constraint(size_t column, enum sql_op op, const struct item *item)
{
    struct sql_value value = random_operand(column, item);
    if (op == SQL_OP_LIKE || op == SQL_OP_GLOB || op == SQL_OP_BEGINS)
        value = random_pattern(op, value);
    query.values[query.count] = value;
    query.constraints[query.count++] = (struct sql_constraint){column, op, !one_of(30), one_of(8)};
}

/* Equality for the partition of the table, or of an index: by parts, or by its attributes. */
static void add_partition(const struct item *item)
{
    const struct sql_columns *columns = query.columns;
    const struct map_index *index = columns->model->indexes;
    while (index && one_of(2))
        index = index->next;
    bool by_parts = !one_of(3);
    for (size_t i = 0; i < (index ? index->partition_count : 1); i++) {
        const struct map_key *key = index ? &index->partition[i] : &columns->model->keys[0];
        const struct format *format = item->row.kind && by_parts
                                          ? model_key_format(columns->model, key, item->row.kind)
                                          : NULL;
        size_t own = sql_columns_find_part(columns, key->attribute);
        if (!format && own < columns->count)
            add_constraint(own, SQL_OP_EQ, item);
        for (size_t k = 0; format && k < format->count && query.count < 4; k++) {
            const char *param = format->pieces[k].param;
            size_t column = param ? sql_columns_find_part(columns, param) : columns->count;
            if (column < columns->count)
                add_constraint(column, SQL_OP_EQ, item);
        }
    }
}

static void make_query(struct sql_columns *columns)
{
    const struct item *item = &items[below(item_count)];
    size_t count = 1 + below(3);
    arena_clean_up(&query.arena);
    query.arena = (struct arena){0};
    query.columns = columns;
    query.count = query.order_count = 0;
    query.index = NULL;
    for (size_t i = 0; i < columns->count; i++)
        query.used[i] = one_of(6);
    if (!one_of(4))
        add_partition(item);
    for (size_t i = 0; i < count; i++) {
        size_t column = below(columns->count);
        if (column == columns->item || (item->values[column].type == SQL_NULL && !one_of(6)))
            continue;
        add_constraint(column, one_of(2) ? SQL_OP_EQ : (enum sql_op)below(SQL_OP_OTHER + 1), item);
        if (query.constraints[query.count - 1].op == SQL_OP_LIMIT)
            query.count--;
        else if (one_of(4)) /* between */
            add_constraint(column, (enum sql_op)(SQL_OP_LT + below(4)), item);
    }
    query.count = query.count < MOST_CONSTRAINTS ? query.count : MOST_CONSTRAINTS;
    for (size_t i = 0; i < query.count; i++)
        query.used[query.constraints[i].column] = true;
    bool descending = one_of(2);
    for (size_t i = below(3); i > 0; i--) {
        query.order[query.order_count] =
            (struct sql_order){below(columns->count), one_of(8) ? !descending : descending};
        query.used[query.order[query.order_count++].column] = true;
    }
    for (const struct map_index *each = columns->model->indexes; each; each = each->next)
        if (one_of(8))
            query.index = each;
}

static void print_query(const struct item *item)
{
    printf("# %s\n", written);
    for (size_t i = 0; i < query.count; i++) {
        const struct sql_value value = text_of(&query.arena, &query.values[i]);
        printf("# %s op %d %s%.*s%s\n", query.columns->items[query.constraints[i].column].name,
               (int)query.constraints[i].op, value.type == SQL_BLOB ? "x" : "<",
               value.type == SQL_NULL ? 0 : (int)value.bytes.size, value.bytes.data,
               query.constraints[i].is_usable ? ">" : "> unusable");
    }
    printf("# index %s, item %s\n", query.index ? query.index->name : "-",
           item ? buf_text(&item->text) : "-");
}

/* Requests, as the service answers them. */

static bool is_in_index(const struct item *item, const struct map_index *index)
{
    const struct map_key *key;
    for (size_t i = 0; index && (key = model_index_key(index, i)); i++) {
        const struct value *value = attribute(item, key->attribute);
        if (!value || value->type != key->type)
            return false;
    }
    return true;
}

static bool attribute_is_held(void *arg, struct span name)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.data);
    return model_index_holds(query.columns->model, arg, text);
}

static bool returns(const struct sql_lookup *lookup, const struct item *item)
{
    bool failed = false;
    struct json json = json_root(&item->doc);
    for (size_t i = 0; i < lookup->key.count; i++) {
        const struct value *value = &item->attributes[i].value;
        if (value_compare(*value, lookup->key.attributes[i].value) != 0)
            return false;
    }
    for (size_t i = 0; i < lookup->where_count; i++)
        if (!cond_holds(&lookup->where[i], json, &failed))
            return false;
    return is_in_index(item, lookup->index) &&
           (!lookup->filter || cond_holds(lookup->filter, json, &failed));
}

static bool is_wanted(const struct item *item)
{
    for (size_t i = 0; i < query.count; i++)
        if (query.is_any[i] && item->values[query.constraints[i].column].type == SQL_NULL)
            return false;
        else if (query.constraints[i].is_usable && !query.is_any[i] &&
                 !satisfies(&query.arena, query.columns, item, &query.constraints[i],
                            &query.values[i]))
            return false;
    return is_in_index(item, query.index);
}

/* Whether both are queries of one partition. */
static bool share_partition(const struct sql_lookup *a, const struct sql_lookup *b)
{
    size_t count = a->index ? a->index->partition_count : 1;
    if (a->kind != SQL_ACCESS_QUERY || a->index != b->index)
        return false;
    for (size_t i = 0; i < count; i++)
        if (value_compare(a->where[i].value, b->where[i].value) != 0)
            return false;
    return true;
}

/* The service refuses other requests. */
static void check_request(const struct sql_lookup *lookup)
{
    const struct model *model = query.columns->model;
    size_t partitions = lookup->index ? lookup->index->partition_count : 1;
    CHECK(lookup->kind != SQL_ACCESS_KEYS || lookup->key.count == model->key_count);
    CHECK(lookup->kind != SQL_ACCESS_QUERY || lookup->where_count >= partitions);
    for (size_t i = 0; i < lookup->where_count; i++) {
        const struct cond *cond = &lookup->where[i];
        CHECK(cond->op == COND_EQ || (i >= partitions && i + 1 == lookup->where_count));
        CHECK(cond->op <= COND_GE && cond->value.bytes.size > 0);
        CHECK(cond->op != COND_BETWEEN || value_compare(cond->value, cond->upper) <= 0);
        CHECK(cond->value.type != VALUE_N || json_is_number(cond->value.bytes));
    }
    if (lookup->filter && lookup->index)
        CHECK(cond_each_attribute(lookup->filter, attribute_is_held,
                                  (void *)(uintptr_t)lookup->index));
}

/* Without hydration, a wanted item of the index has all used columns, and SQLite drops all others.
 */
static void check_projection(const struct sql_lookup *lookup, const struct item *item)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc;
    struct sql_row row = {0};
    struct error err = {0};
    struct item projected = *item;
    bool wanted = is_wanted(item);
    write_item(item, query.columns->model, lookup->index, &text);
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    CHECK(sql_row_begin(&row, query.columns, json_root(&doc), &err));
    for (size_t i = 0; i < query.columns->count; i++) {
        CHECK(sql_row_read(&row, i, &projected.values[i], &err));
        if (wanted && query.used[i] &&
            sql_value_compare(&projected.values[i], &item->values[i]) != 0) {
            print_query(item);
            CHECK_FAIL("%s is not in %s", query.columns->items[i].name, lookup->index->name);
        }
    }
    if (!wanted && is_wanted(&projected)) {
        print_query(item);
        CHECK_FAIL("an item that is not wanted is returned by %s", lookup->index->name);
    }
    sql_row_clean_up(&row);
}

static void check_item(const struct sql_lookup *lookups, size_t count, const struct item *item)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (returns(&lookups[i], item)) {
            found++;
            if (lookups[i].index && !lookups[i].hydrates)
                check_projection(&lookups[i], item);
        }
    bool wanted = is_wanted(item);
    seen.found += wanted;
    if (found > 1 || (wanted && found == 0)) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        for (size_t i = 0; i < count; i++) {
            buf_printf(&words, "; %s ", lookups[i].index ? lookups[i].index->name : "");
            key_write_words(&lookups[i].key, &words);
            conds_write_words(lookups[i].where, lookups[i].where_count, &words);
            if (lookups[i].filter)
                cond_write_words(lookups[i].filter, &words);
        }
        print_query(item);
        CHECK_FAIL("an item is found %zu times by %zu lookups%s", found, count, buf_text(&words));
    }
}

/* Order. */

static const struct sql_lookup *sorting; /* the lookup whose items are sorted */

/* As the service sorts. */
static int compare_keys(const void *one, const void *other)
{
    const struct item *const *a = one, *const *b = other;
    const struct model *model = query.columns->model;
    for (size_t i = 0; i < 2 * KEY_MAX_ATTRIBUTES; i++) {
        const struct map_key *key = sorting->index         ? model_index_key(sorting->index, i)
                                    : i < model->key_count ? &model->keys[i]
                                                           : NULL;
        int order =
            key ? value_compare(*attribute(*a, key->attribute), *attribute(*b, key->attribute)) : 0;
        if (order != 0)
            return sorting->descending ? -order : order;
    }
    return 0;
}

/* SQLite takes values that are equal to one value for one value, even 10 and '1e1'. */
static bool is_constant(size_t column)
{
    for (size_t i = 0; i < query.count; i++)
        if (query.constraints[i].column == column && query.constraints[i].op == SQL_OP_EQ &&
            query.constraints[i].is_usable && !query.constraints[i].is_list)
            return true;
    return false;
}

static bool is_in_wanted_order(const struct item *a, const struct item *b)
{
    for (size_t i = 0; i < query.order_count; i++) {
        size_t column = query.order[i].column;
        if (is_constant(column))
            continue;
        int order = sql_value_compare(&a->values[column], &b->values[column]);
        if (order != 0)
            return (order < 0) != query.order[i].descending;
    }
    return true;
}

/* The items of the lookup, in its order. False if they fail the test row by row. */
static bool list_items(const struct sql_access *access, const struct sql_lookup *lookup,
                       struct item **list, size_t *count)
{
    struct error err = {0};
    *count = 0;
    for (size_t i = 0; i < item_count; i++)
        if (returns(lookup, &items[i]))
            list[(*count)++] = &items[i];
    sorting = lookup;
    if (*count > 1)
        qsort(list, *count, sizeof list[0], compare_keys);
    for (size_t i = 1; i < *count; i++)
        if (!sql_access_keeps_order(access, &list[i - 1]->row, &list[i]->row, &err)) {
            CHECK_INT(err.kind, ERROR_NONE);
            return false;
        }
    return true;
}

/* Rows whose keys pass the test row by row are in the wanted order. */
static void check_order(const struct sql_access *access, const struct sql_lookup *lookups,
                        size_t count)
{
    const struct item *last = NULL;
    if (query.order_count == 0 || !sql_access_is_ordered(access))
        return;
    for (size_t i = 0; i < count; i++) {
        struct item *list[ITEMS];
        size_t found;
        if (!list_items(access, &lookups[i], list, &found)) {
            seen.unordered++;
            return;
        }
        for (size_t k = 0; k < found; k++) {
            if (!is_wanted(list[k]))
                continue;
            if (last && !is_in_wanted_order(last, list[k])) {
                print_query(list[k]);
                CHECK_FAIL("an item is behind %s", buf_text(&last->text));
            }
            seen.in_order += last != NULL;
            last = list[k];
        }
    }
}

static void count_access(const struct sql_access *access, const struct sql_lookup *lookups,
                         size_t count)
{
    enum sql_access_kind kind = sql_access_kind_of(access);
    seen.none += kind == SQL_ACCESS_NONE;
    seen.keys += kind == SQL_ACCESS_KEYS;
    seen.queries += kind == SQL_ACCESS_QUERY;
    seen.ordered +=
        kind == SQL_ACCESS_QUERY && query.order_count > 0 && sql_access_is_ordered(access);
    for (size_t i = 0; i < count; i++) {
        seen.indexes += lookups[i].index != NULL;
        seen.filters += lookups[i].filter != NULL;
        seen.ranges += lookups[i].where_count > 0 &&
                       lookups[i].where[lookups[i].where_count - 1].op == COND_BETWEEN;
    }
}

static void check_query(bool may_scan)
{
    struct error err = {0};
    struct sql_lookup *lookups = NULL;
    size_t count = 0;
    struct sql_wanted wanted = {.columns = query.columns,
                                .table = "t",
                                .index = query.index,
                                .constraints = query.constraints,
                                .constraint_count = query.count,
                                .order = query.order,
                                .order_count = query.order_count,
                                .used = query.used,
                                .may_scan = may_scan};
    const struct sql_access *access = sql_access_find(&wanted, &query.arena, &err);
    if (!access) {
        CHECK_INT(err.kind, ERROR_INVALID);
        CHECK(!may_scan);
        seen.refused++;
        return;
    }
    struct sql_value taken[MOST_CONSTRAINTS] = {0};
    for (size_t i = 0; i < query.count; i++) {
        CHECK(!sql_access_takes(access, i) || query.constraints[i].is_usable);
        query.is_any[i] = !sql_access_takes(access, i) && query.constraints[i].is_usable &&
                          query.constraints[i].is_list && query.constraints[i].op == SQL_OP_EQ;
        if (sql_access_takes(access, i))
            taken[i] = query.values[i];
    }
    if (!sql_access_bind(access, taken, &query.arena, &lookups, &count, &err))
        CHECK_FAIL("%s", err.text);
    count_access(access, lookups, count);
    for (size_t i = 0; i < count; i++) {
        check_request(&lookups[i]);
        for (size_t k = 0; k < i; k++)
            CHECK(!share_partition(&lookups[i], &lookups[k]));
    }
    CHECK(!sql_access_is_unique(access) || count <= 1);
    for (size_t i = 0; i < item_count; i++)
        check_item(lookups, count, &items[i]);
    check_order(access, lookups, count);
}

/* Each set of columns that a refusal names finds rows. */
static void check_ways(struct sql_columns *columns)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    sql_access_write_ways(columns, &text);
    query.count = query.order_count = 0;
    query.index = NULL;
    char *state = NULL;
    for (char *word = strtok_r(text.data, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        size_t size = strlen(word);
        bool ends = word[size - 1] == ';' || !*state;
        if (strcmp(word, "and") == 0)
            continue;
        size_t column = sql_columns_find(columns, span_of(word, size - (word[size - 1] == ';')));
        CHECK(column < columns->count && query.count < MOST_CONSTRAINTS);
        query.values[query.count] = items[0].values[column];
        query.constraints[query.count++] = (struct sql_constraint){column, SQL_OP_EQ, true, false};
        if (!ends)
            continue;
        size_t refused = seen.refused;
        check_query(false);
        CHECK_INT(seen.refused, refused);
        query.count = 0;
    }
}

static void check_model(const struct model *model)
{
    struct arena arena = {0};
    add_promises(model);
    struct sql_columns *columns = sql_columns_new(model, false);
    CHECK(columns && sql_columns_add(columns, span_text("attr")));
    CHECK(columns->count <= MOST_COLUMNS);
    make_items(&arena, columns);
    seen.models++;
    query.columns = columns;
    if (item_count > 0)
        check_ways(columns);
    for (size_t i = 0; item_count > 0 && i < QUERIES; i++) {
        make_query(columns);
        check_query(one_of(4));
    }
    drop_items();
    sql_columns_destroy(columns);
    arena_clean_up(&arena);
}

static void every_row_is_found_once(void)
{
    const char *wanted = getenv("DDBFS_SQL_MODELS"), *first = getenv("DDBFS_SQL_MODEL");
    size_t begin = first ? strtoul(first, NULL, 10) : 1;
    size_t models = wanted ? strtoul(wanted, NULL, 10) : MODELS;
    for (size_t seed = begin; seed < begin + models; seed++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        dice.state = seed;
        below(2);
        const struct model *model = make_model(&text);
        if (!model)
            continue;
        written = buf_text(&text);
        check_model(model);
        model_unref(model);
    }
    arena_clean_up(&query.arena);
    printf(
        "# %zu models; %zu refused, %zu none, %zu keys, %zu queries (%zu lookups of indexes, %zu "
        "ranges, %zu filters, %zu ordered, of which %zu are not in order); %zu rows, %zu in "
        "order\n",
        seen.models, seen.refused, seen.none, seen.keys, seen.queries, seen.indexes, seen.ranges,
        seen.filters, seen.ordered, seen.unordered, seen.found, seen.in_order);
    CHECK(models < MODELS || seen.models > models / 2);
}

static const struct check_test tests[] = {
    {"every_row_is_found_once", every_row_is_found_once},
};

CHECK_MAIN(tests)
