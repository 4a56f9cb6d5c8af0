/* The "paths" of a table: one pattern each. */
#include "core/map/reader.h"

#include "core/json/json.h"

static struct map_pattern *pattern_of(void *target)
{
    return target;
}

static struct map_kind *find_kind(const struct map_table *table, const char *name)
{
    for (struct map_kind *kind = table->kinds; kind; kind = kind->next)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

static bool add_kind(struct map_reader *reader, struct json value, struct map_pattern *pattern)
{
    const char *name;
    if (!map_read_text(reader, value, "a kind of record", &name))
        return false;
    struct map_kind *kind = find_kind(pattern->table, name);
    if (!kind)
        return map_fail(reader, value, "no kind of record is called \"%s\"; see \"records\" above",
                        name);
    pattern->kinds[pattern->kind_count++] = kind;
    return true;
}

static bool make_room(struct map_reader *reader, struct map_pattern *pattern, size_t count)
{
    pattern->kinds = arena_array(&reader->map->arena, count ? count : 1, sizeof(struct map_kind *));
    return pattern->kinds || error_no_memory(reader->err);
}

static bool read_record(struct map_reader *reader, struct json value, void *target)
{
    struct map_pattern *pattern = pattern_of(target);
    if (pattern->list)
        return map_fail(reader, value,
                        "a path that ends in / is a listing: \"list\", not \"record\"");
    return make_room(reader, pattern, 1) && add_kind(reader, value, pattern);
}

static bool read_list(struct map_reader *reader, struct json value, void *target)
{
    struct map_pattern *pattern = pattern_of(target);
    if (!pattern->list)
        return map_fail(reader, value, "a listing's path ends in /; \"%s\" does not",
                        pattern->path);
    if (!make_room(reader, pattern, json_count(value)))
        return false;
    if (json_string_is(value, SPAN_LITERAL("*"))) {
        pattern->kinds[pattern->kind_count++] = pattern->table->any;
        return true;
    }
    if (json_is(value, JSON_STRING))
        return add_kind(reader, value, pattern);
    if (!json_is(value, JSON_ARRAY) || json_count(value) == 0)
        return map_fail(reader, value, "\"list\" is a kind of record, a list of kinds, or \"*\"");
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        if (!add_kind(reader, each, pattern))
            return false;
    return true;
}

static bool read_index(struct map_reader *reader, struct json value, void *target)
{
    struct map_pattern *pattern = pattern_of(target);
    const char *name;
    if (!map_read_text(reader, value, "\"index\"", &name))
        return false;
    pattern->index = map_find_index(pattern->table, name);
    return pattern->index ||
           map_fail(reader, value, "the table's \"indexes\" have no \"%s\"", name);
}

static const struct {
    const char *word;
    enum cond_op op;
} ops[] = {
    {"=", COND_EQ},
    {"begins_with", COND_BEGINS},
    {"between", COND_BETWEEN},
    {"<", COND_LT},
    {"<=", COND_LE},
    {">", COND_GT},
    {">=", COND_GE},
};

/* A text, or a number where the attribute is one. */
static bool read_operand(struct map_reader *reader, struct json value, struct map_where *where,
                         struct format *out)
{
    if (!json_is(value, JSON_NUMBER))
        return map_read_format(reader, value, "a condition's value", out);
    where->type = VALUE_N;
    const char *wrong = format_parse(&reader->map->arena, json_raw(value), out);
    return !wrong || map_fail(reader, value, "%s", wrong);
}

static bool read_range(struct map_reader *reader, struct json value, struct map_where *where)
{
    if (!json_is(value, JSON_ARRAY) || json_count(value) != 2)
        return map_fail(reader, value, "\"between\" takes two values: [\"{from}\", \"{to}\"]");
    struct json lower = json_first(value);
    return read_operand(reader, lower, where, &where->value) &&
           read_operand(reader, json_next(lower), where, &where->upper);
}

static bool read_operation(struct map_reader *reader, struct json object, struct map_where *where)
{
    struct json name = json_first(object);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (!json_string_is(name, span_text(ops[i].word)) || json_count(object) != 1)
            continue;
        where->op = ops[i].op;
        return where->op == COND_BETWEEN
                   ? read_range(reader, json_next(name), where)
                   : read_operand(reader, json_next(name), where, &where->value);
    }
    return map_fail(reader, object,
                    "a condition is a text or one of =, <, <=, >, >=, begins_with, between");
}

static bool parse_half(struct map_reader *reader, struct json value, struct span text,
                       struct format *out)
{
    const char *wrong = format_parse(&reader->map->arena, text, out);
    if (!wrong && out->count == 0)
        wrong = "a range needs both its ends";
    return !wrong || map_fail(reader, value, "%s", wrong);
}

/* The short forms: "x*" begins with, "x..y" between, anything else equals. */
static bool read_shorthand(struct map_reader *reader, struct json value, struct map_where *where)
{
    const char *text;
    if (!map_read_text(reader, value, "a condition", &text))
        return false;
    struct span whole = span_text(text);
    const char *dots = strstr(text, "..");
    where->op = COND_EQ;
    if (dots) {
        where->op = COND_BETWEEN;
        size_t at = (size_t)(dots - text);
        return parse_half(reader, value, span_of(text, at), &where->value) &&
               parse_half(reader, value, span_from(whole, at + 2), &where->upper);
    }
    if (span_ends(whole, SPAN_LITERAL("*"))) {
        where->op = COND_BEGINS;
        whole.size--;
    }
    return parse_half(reader, value, whole, &where->value);
}

static bool read_condition(struct map_reader *reader, const char *name, struct json at,
                           struct json value, void *target)
{
    struct map_where **last = target;
    struct map_where *where = arena_alloc(&reader->map->arena, sizeof *where);
    if (!where)
        return error_no_memory(reader->err);
    where->target = name;
    where->line = map_line(reader, at);
    while (*last)
        last = &(*last)->next;
    *last = where;
    if (json_is(value, JSON_OBJECT))
        return read_operation(reader, value, where);
    if (json_is(value, JSON_NUMBER))
        return read_operand(reader, value, where, &where->value);
    return read_shorthand(reader, value, where);
}

static bool read_where(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"where\"", read_condition, &pattern_of(target)->wheres);
}

static bool read_filter(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"filter\"", read_condition, &pattern_of(target)->filters);
}

static bool read_limit(struct map_reader *reader, struct json value, struct map_pattern *pattern,
                       bool descending)
{
    int64_t limit = 0;
    const char *word = descending ? "newest" : "oldest";
    bool all = json_string_is(value, SPAN_LITERAL("all"));
    if (!all && (!json_read_int(value, &limit) || limit < 1 || limit > 1000000))
        return map_fail(reader, value, "\"%s\" is a number from 1 to 1000000, or \"all\"", word);
    if (pattern->ordered)
        return map_fail(reader, value, "\"newest\" and \"oldest\" exclude each other");
    pattern->ordered = true;
    pattern->limit = (uint32_t)limit;
    pattern->descending = descending;
    return true;
}

static bool read_newest(struct map_reader *reader, struct json value, void *target)
{
    return read_limit(reader, value, target, true);
}

static bool read_oldest(struct map_reader *reader, struct json value, void *target)
{
    return read_limit(reader, value, target, false);
}

static bool read_greatest(struct map_reader *reader, struct json value, void *target)
{
    struct map_pattern *pattern = pattern_of(target);
    pattern->pick = PICK_GREATEST;
    return map_read_text(reader, value, "\"greatest\"", &pattern->pick_attribute);
}

static bool read_least(struct map_reader *reader, struct json value, void *target)
{
    struct map_pattern *pattern = pattern_of(target);
    pattern->pick = PICK_LEAST;
    return map_read_text(reader, value, "\"least\"", &pattern->pick_attribute);
}

static bool read_pick(struct map_reader *reader, struct json value, void *target)
{
    static const struct map_member members[] = {
        {"greatest", read_greatest},
        {"least", read_least},
        {0},
    };
    if (json_count(value) != 1)
        return map_fail(reader, value,
                        "\"pick\" says which one: { \"greatest\": \"last_updated\" }");
    return map_read_members(reader, value, "\"pick\"", members, target);
}

static bool read_attribute(struct map_reader *reader, struct json value, void *target)
{
    return map_read_text(reader, value, "\"attribute\"", &pattern_of(target)->attribute);
}

static bool read_name(struct map_reader *reader, struct json value, void *target)
{
    pattern_of(target)->has_name = true;
    return map_read_format(reader, value, "\"name\"", &pattern_of(target)->name);
}

static bool read_hydrate(struct map_reader *reader, struct json value, void *target)
{
    bool yes;
    if (!map_read_flag(reader, value, "\"hydrate\"", &yes))
        return false;
    pattern_of(target)->hydrate = yes ? CHOICE_YES : CHOICE_NO;
    return true;
}

static bool read_consistent(struct map_reader *reader, struct json value, void *target)
{
    return map_read_flag(reader, value, "\"consistent\"", &pattern_of(target)->consistent);
}

static bool read_pattern_ttl(struct map_reader *reader, struct json value, void *target)
{
    return map_read_ttl(reader, value, &pattern_of(target)->ttl_ms);
}

static bool read_mtime(struct map_reader *reader, struct json value, void *target)
{
    return map_read_text(reader, value, "\"mtime\"", &pattern_of(target)->mtime);
}

static bool default_kind(struct map_reader *reader, struct json at, struct map_pattern *pattern)
{
    const struct map_table *table = pattern->table;
    if (pattern->kind_count > 0)
        return true;
    if (table->kinds->next)
        return map_fail(reader, at, "say which kind: \"%s\" of one of the table's \"records\"",
                        pattern->list ? "list" : "record");
    if (!make_room(reader, pattern, 1))
        return false;
    pattern->kinds[pattern->kind_count++] = table->kinds;
    return true;
}

static bool read_pattern(struct map_reader *reader, const char *path, struct json at,
                         struct json value, void *target)
{
    static const struct map_member members[] = {
        {"record", read_record},   {"list", read_list},       {"index", read_index},
        {"where", read_where},     {"filter", read_filter},   {"newest", read_newest},
        {"oldest", read_oldest},   {"pick", read_pick},       {"attribute", read_attribute},
        {"name", read_name},       {"hydrate", read_hydrate}, {"consistent", read_consistent},
        {"ttl", read_pattern_ttl}, {"mtime", read_mtime},     {0},
    };
    struct map_table *table = target;
    struct map_pattern **last = &table->patterns;
    struct map_pattern *pattern = arena_alloc(&reader->map->arena, sizeof *pattern);
    if (!pattern)
        return error_no_memory(reader->err);
    *pattern = (struct map_pattern){
        .path = path,
        .line = map_line(reader, at),
        .list = span_ends(span_text(path), SPAN_LITERAL("/")),
        .table = table,
        .ttl_ms = table->ttl_ms,
        .mtime = table->mtime,
    };
    while (*last)
        last = &(*last)->next;
    *last = pattern;
    return map_read_members(reader, value, "a path", members, pattern) &&
           default_kind(reader, at, pattern);
}

bool map_read_paths(struct map_reader *reader, struct json value, void *table)
{
    return map_read_each(reader, value, "\"paths\"", read_pattern, table);
}
