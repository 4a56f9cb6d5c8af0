#include "core/draft/access_pattern.h"

#include "core/base/ascii.h"
#include "core/draft/declare.h"
#include "core/map/compile.h"

enum { MAX_PARAMETERS = BINDINGS_MAX, MOST_NAME_BYTES = 100 };

static const char no_memory[] = "out of memory";

/* A path, and the place of its pattern. */
struct pattern_path {
    struct declared_path path; /* first: paths of a table are cast back */
    struct json pattern;
};

/* A pattern while its path is made. */
struct access_pattern {
    struct import_reader *reader;
    struct declared_table *table;
    const struct declared_record *record;
    const struct declared_index *index; /* or NULL */
    struct attribute_parts *names;
    struct json at;
    const char *parameters[MAX_PARAMETERS]; /* the names of their parts, in the pattern's order,
                                             * without those of the filter */
    bool is_bound[MAX_PARAMETERS];          /* the parameter is a part of the key */
    size_t count;
    struct buf filter_steps; /* the steps of the path with the filter's parameters: "/{least}" */
    struct declared_condition *filters;
    struct declared_path *path;
};

static bool access_pattern_leave_out(struct access_pattern *pattern, const char *why,
                                     const char *what)
{
    import_reader_leave_out(pattern->reader, pattern->at, "%s%s%s%s", why, what ? " \"" : "",
                            what ? what : "", what ? "\"" : "");
    return false;
}

static const struct declared_key *access_pattern_sort_keys(const struct access_pattern *pattern,
                                                           size_t *count)
{
    *count = pattern->index ? pattern->index->sort_count : pattern->record->key_count - 1;
    return pattern->index ? pattern->index->sort : pattern->record->keys + 1;
}

/* The index of the parameter NAME; COUNT if absent. */
static size_t access_pattern_find_parameter(const struct access_pattern *pattern, const char *name)
{
    size_t i = 0;
    while (i < pattern->count && strcmp(pattern->parameters[i], name) != 0)
        i++;
    return i;
}

static bool access_pattern_read_parameters(struct access_pattern *pattern)
{
    struct json list = json_member(pattern->at, "parameters");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = import_reader_text(pattern->reader, json_member(each, "name"));
        if (!name)
            return access_pattern_leave_out(pattern, "a parameter has no name", NULL);
        if (json_string_is(json_member(each, "type"), SPAN_LITERAL("entity")))
            return access_pattern_leave_out(pattern,
                                            "a whole entity can't be a parameter of a path:", name);
        if (pattern->count == MAX_PARAMETERS)
            return access_pattern_leave_out(pattern, "it has more parameters than a path", NULL);
        const char *part = attribute_parts_find(pattern->names, span_text(name));
        if (!part)
            return false;
        if (access_pattern_find_parameter(pattern, part) < pattern->count)
            return access_pattern_leave_out(pattern, "two parameters are called", name);
        pattern->parameters[pattern->count++] = part;
    }
    return true;
}

/* Keys. */

/* Binds the first USABLE parameters to parts of FORMAT. Returns the number of pieces, from its
 * begin, whose parts are all bound. */
static size_t access_pattern_bind(struct access_pattern *pattern, const struct format *format,
                                  size_t usable)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *part = format->pieces[i].param;
        size_t found = part ? access_pattern_find_parameter(pattern, part) : 0;
        if (part && found >= usable)
            return i;
        if (part)
            pattern->is_bound[found] = true;
    }
    return format->count;
}

/* The first attribute of the sort key that the parameters do not bind whole: a range condition is
 * on it. */
struct access_range {
    const struct declared_key *key;
    const struct format *format;
    size_t bound; /* pieces */
};

/* Binds the first USABLE parameters to the key. */
static bool access_pattern_bind_key(struct access_pattern *pattern, size_t usable,
                                    struct access_range *range)
{
    const struct declared_index *index = pattern->index;
    const struct declared_key *keys = index ? index->partition : pattern->record->keys;
    size_t count = index ? index->partition_count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct format *format = declare_find_format(pattern->record, &keys[i]);
        if (!format)
            return access_pattern_leave_out(pattern, "the entity has no mapping of the index",
                                            index->name);
        size_t bound = access_pattern_bind(pattern, format, usable);
        if (bound < format->count)
            return access_pattern_leave_out(pattern,
                                            "it has no parameter for the part of the partition key",
                                            format->pieces[bound].param);
    }
    keys = access_pattern_sort_keys(pattern, &count);
    for (size_t i = 0; i < count && !range->key; i++) {
        const struct format *format = declare_find_format(pattern->record, &keys[i]);
        if (!format)
            return access_pattern_leave_out(pattern, "the entity has no mapping of the index",
                                            index->name);
        size_t bound = access_pattern_bind(pattern, format, usable);
        if (bound < format->count)
            *range = (struct access_range){&keys[i], format, bound};
    }
    for (size_t i = 0; i < usable; i++)
        if (!pattern->is_bound[i])
            return access_pattern_leave_out(pattern,
                                            "no part of the key can be bound to the parameter",
                                            pattern->parameters[i]);
    return true;
}

/* The name of a parameter that is compared with a value: if a part of a key has the parameter's
 * name, ENDING is added, because the path would bind that part. */
static const char *access_pattern_name_value(struct access_pattern *pattern, const char *parameter,
                                             const char *ending)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    bool is_part = false;
    size_t count;
    const struct declared_record *record;
    for (record = pattern->table->records; record; record = record->next)
        for (size_t i = 0; i < record->key_count; i++)
            is_part = is_part || format_has(&record->keys[i].format, parameter);
    const struct declared_key *keys = access_pattern_sort_keys(pattern, &count);
    for (size_t i = 0; i < count; i++) {
        const struct format *format = declare_find_format(pattern->record, &keys[i]);
        is_part = is_part || (format && format_has(format, parameter));
    }
    if (!is_part)
        return parameter;
    buf_printf(&name, "%s %s", parameter, ending);
    return attribute_parts_find(pattern->names, buf_span(&name));
}

/* The first COUNT pieces of FORMAT, and PARAMETER, unless it is NULL. */
static struct format access_pattern_make_value(struct access_pattern *pattern,
                                               const struct format *format, size_t count,
                                               const char *parameter)
{
    struct arena *arena = pattern->reader->arena;
    struct format value = {.pieces = arena_array(arena, count + 1, sizeof *value.pieces)};
    for (size_t i = 0; value.pieces && i < count; i++) {
        struct format_piece piece = format->pieces[i];
        piece.open = false;
        value.pieces[value.count++] = piece;
    }
    if (value.pieces && parameter)
        value.pieces[value.count++] = (struct format_piece){.param = parameter};
    return value;
}

/* The service compares whole keys, so that the condition is on the whole key: "between" ends
 * exactly at its upper value. A comparison with the begin of a part is a condition on the part: it
 * reads only items of the kind. In the tool's own code, the parameter of begins_with is the begin
 * of the whole key, if no other parameter is bound to it. */
static bool access_pattern_add_range(struct access_pattern *pattern,
                                     const struct access_range *range, enum cond_op op,
                                     const char *first, const char *second)
{
    struct declared_condition *where = arena_alloc(pattern->reader->arena, sizeof *where);
    if (!where)
        return false;
    bool begins_key = op == COND_BEGINS;
    for (size_t i = 0; i < range->bound; i++)
        begins_key = begins_key && !range->format->pieces[i].param;
    size_t bound = begins_key ? 0 : range->bound;
    where->op = op;
    if (!begins_key && (op == COND_BEGINS || op == COND_GE)) {
        where->target = range->format->pieces[range->bound].param;
        where->value = access_pattern_make_value(pattern, range->format, 0, first);
    } else {
        where->target = range->key->attribute;
        where->whole = true;
        where->value = access_pattern_make_value(pattern, range->format, bound, first);
        where->upper = second ? access_pattern_make_value(pattern, range->format, bound, second)
                              : (struct format){0};
    }
    if (op == COND_LE && range->bound > 0) {
        where->op = COND_BETWEEN;
        where->upper = where->value;
        where->value = access_pattern_make_value(pattern, range->format, range->bound, NULL);
    }
    pattern->path->wheres = where;
    return true;
}

/* The filter ("filter_expression"). */

/* Makes VALUE of the parameter NAME, and takes the parameter from those of the key. Returns NULL,
 * or the reason why no path can have the filter. */
static const char *access_pattern_filter_value(struct access_pattern *pattern, struct json name,
                                               struct format *value)
{
    struct import_reader *reader = pattern->reader;
    const char *text = import_reader_text(reader, name);
    const char *part = text ? attribute_parts_find(pattern->names, span_text(text)) : NULL;
    size_t at = part ? access_pattern_find_parameter(pattern, part) : pattern->count;
    if (at == pattern->count)
        return "its filter uses a name that is no parameter of the pattern, or uses one twice";
    for (pattern->count--; at < pattern->count; at++)
        pattern->parameters[at] = pattern->parameters[at + 1];
    part = access_pattern_name_value(pattern, part, "filter");
    value->pieces = arena_array(reader->arena, 1, sizeof *value->pieces);
    if (!part || !value->pieces)
        return no_memory;
    value->pieces[value->count++] = (struct format_piece){.param = part};
    struct json each = json_first(json_member(pattern->at, "parameters"));
    while (json_present(each) && !json_string_is(json_member(each, "name"), span_text(text)))
        each = json_next(each);
    struct json type = json_member(each, "type");
    bool number = json_string_is(type, SPAN_LITERAL("integer")) ||
                  json_string_is(type, SPAN_LITERAL("decimal"));
    if ((number || json_string_is(type, SPAN_LITERAL("boolean"))) &&
        !import_reader_add_param_type(reader, pattern->table, part, number ? VALUE_N : VALUE_BOOL))
        return "its filter's parameter is of another type elsewhere in the table";
    return NULL;
}

static bool access_pattern_find_filter_op(struct json condition, enum cond_op *op)
{
    static const struct {
        const char *word;
        enum cond_op op;
    } ops[] = {
        {"=", COND_EQ},
        {"<>", COND_NE},
        {"<", COND_LT},
        {"<=", COND_LE},
        {">", COND_GT},
        {">=", COND_GE},
        {"between", COND_BETWEEN},
        {"in", COND_IN},
        {"begins_with", COND_BEGINS},
        {"contains", COND_CONTAINS},
        {"attribute_exists", COND_EXISTS},
        {"attribute_not_exists", COND_MISSING},
    };
    struct json function = json_member(condition, "function");
    struct json word = json_present(function) ? function : json_member(condition, "operator");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (json_string_is(word, span_text(ops[i].word))) {
            *op = ops[i].op;
            return true;
        }
    return false;
}

static const char *access_pattern_read_filter_condition(struct access_pattern *pattern,
                                                        struct json condition,
                                                        struct declared_condition *out)
{
    struct json params = json_member(condition, "params");
    const char *wrong = NULL;
    out->target = import_reader_text(pattern->reader, json_member(condition, "field"));
    if (!out->target || !access_pattern_find_filter_op(condition, &out->op))
        return "its filter has a condition that a map does not have";
    if (out->op == COND_EXISTS || out->op == COND_MISSING)
        return NULL;
    if (out->op == COND_IN) {
        if (json_count(params) == 0)
            return "its filter's \"in\" has no \"params\"";
        out->list = arena_array(pattern->reader->arena, json_count(params), sizeof *out->list);
        if (!out->list)
            return no_memory;
        for (struct json each = json_first(params); !wrong && json_present(each);
             each = json_next(each)) {
            struct format *value = &out->list[out->list_count++].text;
            wrong = access_pattern_filter_value(pattern, each, value);
            if (!wrong)
                buf_printf(&pattern->filter_steps, "/{%s}", value->pieces[0].param);
        }
        return wrong;
    }
    wrong = access_pattern_filter_value(pattern, json_member(condition, "param"), &out->value);
    if (!wrong && out->op == COND_BETWEEN)
        wrong = access_pattern_filter_value(pattern, json_member(condition, "param2"), &out->upper);
    if (wrong)
        return wrong;
    buf_printf(&pattern->filter_steps, "/{%s}", out->value.pieces[0].param);
    if (out->op == COND_BETWEEN)
        buf_printf(&pattern->filter_steps, "..{%s}", out->upper.pieces[0].param);
    return NULL;
}

/* Makes the filters the alternatives of one COND_OR, which has one child for each. */
static const char *access_pattern_join_filters(struct access_pattern *pattern)
{
    struct arena *arena = pattern->reader->arena;
    struct declared_condition *either = arena_alloc(arena, sizeof *either);
    struct declared_condition **last = either ? &either->children : NULL;
    if (!either)
        return no_memory;
    either->op = COND_OR;
    for (struct declared_condition *each = pattern->filters, *next; each; each = next) {
        struct declared_condition *one = arena_alloc(arena, sizeof *one);
        if (!one)
            return no_memory;
        next = each->next;
        each->next = NULL;
        *one = (struct declared_condition){.op = COND_AND, .children = each};
        *last = one;
        last = &one->next;
    }
    pattern->filters = either;
    return NULL;
}

static bool access_pattern_read_filter(struct access_pattern *pattern)
{
    struct json expression = json_member(pattern->at, "filter_expression");
    if (!json_present(expression) || json_is(expression, JSON_NULL))
        return true;
    struct json conditions = json_member(expression, "conditions");
    struct json joint = json_member(expression, "logical_operator");
    bool either = json_string_is(joint, SPAN_LITERAL("OR"));
    struct declared_condition **last = &pattern->filters;
    const char *wrong = json_count(conditions) ? NULL : "its filter has no \"conditions\"";
    if (json_present(joint) && !either && !json_string_is(joint, SPAN_LITERAL("AND")))
        wrong = "its filter joins its conditions neither by AND nor by OR";
    for (struct json each = json_first(conditions); !wrong && json_present(each);
         each = json_next(each)) {
        *last = arena_alloc(pattern->reader->arena, sizeof **last);
        wrong = *last ? access_pattern_read_filter_condition(pattern, each, *last) : no_memory;
        if (*last)
            last = &(*last)->next;
    }
    if (!wrong && either && json_count(conditions) > 1)
        wrong = access_pattern_join_filters(pattern);
    return !wrong || access_pattern_leave_out(pattern, wrong, NULL);
}

/* The path. */

/* Sets the path. It begins with the pattern's name, and with a number where another path of the
 * table, or one of the generic view, begins like that. */
static void access_pattern_make_path(struct access_pattern *pattern, const char *name,
                                     const char *low, const char *high, bool list)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (const char *c = name; *c && text.size < MOST_NAME_BYTES; c++) {
        bool plain = ascii_is_letter(*c) || ascii_is_digit(*c) || *c == '-' || *c == '_';
        buf_add_char(&text, plain ? *c : '_');
    }
    size_t stem = text.size;
    bool taken = true;
    for (unsigned number = 2; taken && !text.failed; number++) {
        buf_add_char(&text, '/');
        const struct declared_path *path = pattern->table->paths;
        while (path && !span_starts(span_text(path->path), buf_span(&text)))
            path = path->next;
        taken = path || span_is(buf_span(&text), "items/") || span_is(buf_span(&text), "by/");
        buf_truncate(&text, taken ? stem : text.size - 1);
        if (taken)
            buf_printf(&text, "-%u", number);
    }
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->is_bound[i])
            buf_printf(&text, "/{%s}", pattern->parameters[i]);
    if (low)
        buf_printf(&text, "/{%s}", low);
    if (high)
        buf_printf(&text, "..{%s}", high);
    buf_add_span(&text, buf_span(&pattern->filter_steps));
    if (list)
        buf_add_char(&text, '/');
    text.failed = text.failed || pattern->filter_steps.failed;
    pattern->path->path = declare_text(pattern->reader->arena, &text);
    pattern->path->list = list;
}

/* The kinds of the path's items: with SEVERAL, also those with the same format of the partition
 * key. */
static void access_pattern_add_kinds(struct access_pattern *pattern, bool several)
{
    struct declared_path *path = pattern->path;
    const struct declared_record *record;
    size_t room = 0;
    for (record = pattern->table->records; record; record = record->next)
        room++;
    path->kinds = arena_array(pattern->reader->arena, room, sizeof *path->kinds);
    if (!path->kinds || room == 1)
        return;
    path->kinds[path->kind_count++].text = pattern->record->name;
    if (pattern->index && pattern->index->partition_count != 1)
        return;
    const struct declared_key *key =
        pattern->index ? &pattern->index->partition[0] : &pattern->record->keys[0];
    const struct format *own = declare_find_format(pattern->record, key);
    for (record = pattern->table->records; several && record; record = record->next) {
        const struct format *format = declare_find_format(record, key);
        if (record != pattern->record && format && format_equal(format, own))
            path->kinds[path->kind_count++].text = record->name;
    }
}

static void access_pattern_add_path(struct access_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    struct json id = json_member(pattern->at, "pattern_id");
    const char *words =
        import_reader_text(pattern->reader, json_member(pattern->at, "description"));
    struct declared_path **last = &pattern->table->paths;
    while (*last)
        last = &(*last)->next;
    *last = pattern->path;
    pattern->table->has_paths = true;
    buf_add_text(&note, "Access pattern");
    if (json_is(id, JSON_NUMBER)) {
        buf_add_char(&note, ' ');
        buf_add_span(&note, json_raw(id));
    }
    if (words)
        buf_printf(&note, ": %s", words);
    pattern->path->note = declare_text(pattern->reader->arena, &note);
    if (pattern->index)
        pattern->path->index.text = pattern->index->name;
    pattern->path->filters = pattern->filters;
    pattern->path->ttl_ms = -1;
    pattern->path->consistent =
        !pattern->index && json_is(json_member(pattern->at, "consistent_read"), JSON_TRUE);
}

/* A read of one item by its whole key. */
static bool access_pattern_make_get(struct access_pattern *pattern, const char *name)
{
    struct access_range rest = {0};
    if (pattern->index)
        return access_pattern_leave_out(pattern, "GetItem can't read an index", NULL);
    if (pattern->filters)
        return access_pattern_leave_out(pattern, "GetItem can't have a filter", NULL);
    if (!access_pattern_bind_key(pattern, pattern->count, &rest))
        return false;
    if (rest.key)
        return access_pattern_leave_out(pattern, "it has no parameter for the part of the sort key",
                                        rest.format->pieces[rest.bound].param);
    access_pattern_make_path(pattern, name, NULL, NULL, false);
    access_pattern_add_kinds(pattern, false);
    return true;
}

static bool access_pattern_find_range_op(struct access_pattern *pattern, const char *name,
                                         enum cond_op *out)
{
    static const struct {
        const char *name;
        enum cond_op op;
    } conditions[] = {{"begins_with", COND_BEGINS},
                      {"between", COND_BETWEEN},
                      {">=", COND_GE},
                      {"<=", COND_LE},
                      {">", COND_GT},
                      {"<", COND_LT}};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        *out = conditions[i].op;
        if (strcmp(conditions[i].name, name) == 0)
            return true;
    }
    return access_pattern_leave_out(pattern, "there is no range condition", name);
}

/* The last parameters are those of the range condition, if there is one. */
static bool access_pattern_make_query(struct access_pattern *pattern, const char *name)
{
    struct json range_condition = json_member(pattern->at, "range_condition");
    struct json returns = json_member(pattern->at, "return_type");
    const char *condition = import_reader_text(pattern->reader, range_condition);
    enum cond_op op = COND_EQ;
    if (condition && !access_pattern_find_range_op(pattern, condition, &op))
        return false;
    size_t ends = !condition ? 0 : op == COND_BETWEEN ? 2 : 1;
    if (pattern->count < ends)
        return access_pattern_leave_out(
            pattern, "it has too few parameters for the range condition", condition);
    size_t usable = pattern->count - ends;
    const char *first = ends ? pattern->parameters[usable] : NULL;
    const char *second = ends > 1 ? pattern->parameters[usable + 1] : NULL;
    struct access_range range = {0};
    if (!access_pattern_bind_key(pattern, usable, &range))
        return false;
    if (condition && !range.key)
        return access_pattern_leave_out(pattern,
                                        "its other parameters bind the whole sort key, so that it "
                                        "can't have the range condition",
                                        condition);
    if (first)
        first = access_pattern_name_value(pattern, first, second ? "from" : "range");
    if (second)
        second = access_pattern_name_value(pattern, second, "to");
    if (condition && !access_pattern_add_range(pattern, &range, op, first, second))
        return false;
    bool several = !condition && json_string_is(returns, SPAN_LITERAL("mixed_data"));
    bool one = json_string_is(returns, SPAN_LITERAL("single_entity")) ||
               (!several && !pattern->index && !range.key);
    access_pattern_make_path(pattern, name, first, second, !one);
    access_pattern_add_kinds(pattern, several);
    return true;
}

/* False with a note when the pattern has an unknown member: it could select among the items. */
static bool access_pattern_is_known(struct access_pattern *pattern)
{
    static const char *const known[] = {
        "pattern_id",      "name",       "description", "operation",       "index_name",
        "range_condition", "parameters", "return_type", "consistent_read", "filter_expression"};
    for (struct json name = json_first(pattern->at); json_present(name);
         name = json_next(json_next(name))) {
        bool found = json_is(json_next(name), JSON_NULL);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || json_string_is(name, span_text(known[i]));
        const char *text = found ? NULL : import_reader_text(pattern->reader, name);
        if (!found)
            return access_pattern_leave_out(pattern, "paths do not support its member",
                                            text ? text : "");
    }
    return true;
}

void access_pattern_read(struct import_reader *reader, struct declared_table *table,
                         const struct declared_record *record, struct attribute_parts *names,
                         struct json at)
{
    struct access_pattern pattern = {
        .reader = reader, .table = table, .record = record, .names = names, .at = at};
    const char *name = import_reader_text(reader, json_member(at, "name"));
    const char *operation = import_reader_text(reader, json_member(at, "operation"));
    const char *index = import_reader_text(reader, json_member(at, "index_name"));
    bool query = operation && strcmp(operation, "Query") == 0;
    bool get =
        operation && (strcmp(operation, "GetItem") == 0 || strcmp(operation, "BatchGetItem") == 0);
    struct pattern_path *made = arena_alloc(reader->arena, sizeof *made);
    if (!name)
        access_pattern_leave_out(&pattern, "it has no name", NULL);
    if (!name || !made)
        return;
    made->pattern = at;
    pattern.path = &made->path;
    if (index)
        pattern.index = import_reader_find_index(table, index);
    if (!query && !get)
        access_pattern_leave_out(&pattern, "a path reads by key (GetItem, Query), and this is",
                                 operation);
    else if (index && !pattern.index)
        access_pattern_leave_out(&pattern, "there is no index", index);
    else if (access_pattern_is_known(&pattern) && access_pattern_read_parameters(&pattern) &&
             access_pattern_read_filter(&pattern) &&
             (get ? access_pattern_make_get(&pattern, name)
                  : access_pattern_make_query(&pattern, name)))
        access_pattern_add_path(&pattern);
    buf_clean_up(&pattern.filter_steps);
}

/* Whether TABLE compiles; else the first reason, in WHY. */
static bool access_pattern_compiles(struct import_reader *reader,
                                    const struct declared_table *table, struct buf *why)
{
    struct findings findings = {0};
    const struct model *model = compile_table(table, &findings);
    buf_truncate(why, 0);
    reader->arena->failed = reader->arena->failed || findings.no_memory;
    if (!model && findings.count > 0)
        buf_add_text(why, findings.items[0].text);
    findings_clean_up(&findings);
    if (model)
        model_unref(model);
    return model;
}

bool access_pattern_check_paths(struct import_reader *reader, struct declared_table *table,
                                struct json at)
{
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    struct declared_path *path = table->paths, **last = &table->paths;
    if (path && access_pattern_compiles(reader, table, &why))
        return true;
    bool has_paths = table->has_paths;
    table->paths = NULL;
    table->has_paths = true;
    bool whole = access_pattern_compiles(reader, table, &why);
    table->has_paths = has_paths;
    if (!whole)
        import_reader_leave_out(reader, at, "%s", buf_text(&why));
    while (whole && path) { /* each by itself: no two of them share a directory */
        struct declared_path *next = path->next;
        struct declared_path *others = table->paths;
        path->next = NULL;
        table->paths = path;
        bool fits = access_pattern_compiles(reader, table, &why);
        table->paths = others;
        if (fits) {
            *last = path;
            last = &path->next;
        } else {
            import_reader_leave_out(reader, ((struct pattern_path *)path)->pattern, "%s",
                                    buf_text(&why));
        }
        path = next;
    }
    return whole;
}
