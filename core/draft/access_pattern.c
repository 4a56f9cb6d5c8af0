#include "core/draft/access_pattern.h"

#include "core/draft/access_filter.h"
#include "core/map/compile.h"

enum { MAX_PARAMETERS = BINDINGS_MAX };

/* A path, and the pattern that it was made of. */
struct pattern_path {
    struct declared_path path; /* first: paths of a table are cast back */
    struct json pattern;
};

/* A pattern, and the path that is made of it. */
struct maker {
    struct import_reader *reader;
    struct declared_table *table;
    const struct declared_record *record;
    const struct declared_index *index; /* or NULL */
    struct attribute_parts *names;
    struct json pattern;
    const char *parameters[MAX_PARAMETERS]; /* as parts are called, in the pattern's order */
    bool is_bound[MAX_PARAMETERS];          /* a part of a key is what it says */
    size_t count;
    const char *filter_steps; /* of the path, for what its filter compares with */
    struct declared_condition *filters;
    struct declared_path *path;
};

static bool access_pattern_leave_out(struct maker *maker, const char *why, const char *what)
{
    import_reader_leave_out(maker->reader, maker->pattern, "%s%s%s%s", why, what ? " \"" : "",
                            what ? what : "", what ? "\"" : "");
    return false;
}

/* How the records write a key attribute of what is asked; NULL when the index holds none. */
static const struct format *access_pattern_format_of(const struct maker *maker,
                                                     const struct declared_key *key)
{
    for (size_t i = 0; i < maker->record->key_count; i++)
        if (strcmp(maker->record->keys[i].attribute, key->attribute) == 0)
            return &maker->record->keys[i].format;
    if (!key->by_kind)
        return &key->format;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (strcmp(each->kind, maker->record->name) == 0)
            return &each->format;
    return NULL;
}

static const struct declared_key *access_pattern_partition_keys(const struct maker *maker,
                                                                size_t *count)
{
    *count = maker->index ? maker->index->partition_count : 1;
    return maker->index ? maker->index->partition : maker->record->keys;
}

static const struct declared_key *access_pattern_sort_keys(const struct maker *maker, size_t *count)
{
    *count = maker->index ? maker->index->sort_count : maker->record->key_count - 1;
    return maker->index ? maker->index->sort : maker->record->keys + 1;
}

static size_t access_pattern_find_parameter(const struct maker *maker, const char *name)
{
    size_t i = 0;
    while (i < maker->count && strcmp(maker->parameters[i], name) != 0)
        i++;
    return i;
}

/* The name of the pattern, where it has one: what a person looks for in the map. */
static const char *access_pattern_pattern_name(struct maker *maker)
{
    const char *name = import_reader_text(maker->reader, json_member(maker->pattern, "name"));
    if (!name)
        access_pattern_leave_out(maker, "it has no name", NULL);
    return name;
}

static bool access_pattern_read_parameters(struct maker *maker)
{
    struct json list = json_member(maker->pattern, "parameters");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = import_reader_text(maker->reader, json_member(each, "name"));
        if (!name)
            return access_pattern_leave_out(maker, "a parameter has no name", NULL);
        if (json_string_is(json_member(each, "type"), SPAN_LITERAL("entity")))
            return access_pattern_leave_out(maker,
                                            "a whole entity is no parameter of a path:", name);
        if (maker->count == MAX_PARAMETERS)
            return access_pattern_leave_out(maker, "it has more parameters than a path", NULL);
        const char *part = attribute_parts_find(maker->names, span_text(name));
        if (!part)
            return false;
        if (access_pattern_find_parameter(maker, part) < maker->count)
            return access_pattern_leave_out(maker, "two parameters are called", name);
        maker->parameters[maker->count++] = part;
    }
    return true;
}

/* How many pieces of FORMAT the parameters say, from its beginning on; these parameters are bound
 * to it. */
static size_t access_pattern_bind(struct maker *maker, const struct format *format, size_t usable)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *part = format->pieces[i].param;
        size_t found = part ? access_pattern_find_parameter(maker, part) : 0;
        if (part && found >= usable)
            return i;
        if (part)
            maker->is_bound[found] = true;
    }
    return format->count;
}

static bool access_pattern_bind_partition(struct maker *maker, size_t usable)
{
    size_t count;
    const struct declared_key *keys = access_pattern_partition_keys(maker, &count);
    for (size_t i = 0; i < count; i++) {
        const struct format *format = access_pattern_format_of(maker, &keys[i]);
        if (!format)
            return access_pattern_leave_out(maker, "no mapping says how the entity is in the index",
                                            maker->index->name);
        size_t said = access_pattern_bind(maker, format, usable);
        if (said < format->count)
            return access_pattern_leave_out(
                maker, "its parameters do not say the part of the partition key",
                format->pieces[said].param);
    }
    return true;
}

/* The range that a condition is on: the first attribute of the sort key that the other parameters
 * do not say whole. */
struct range {
    const struct declared_key *key;
    const struct format *format;
    size_t said; /* so many pieces */
};

static bool access_pattern_bind_sort(struct maker *maker, size_t usable, struct range *range)
{
    size_t count;
    const struct declared_key *keys = access_pattern_sort_keys(maker, &count);
    for (size_t i = 0; i < count && !range->key; i++) {
        const struct format *format = access_pattern_format_of(maker, &keys[i]);
        if (!format)
            return access_pattern_leave_out(maker, "no mapping says how the entity is in the index",
                                            maker->index->name);
        size_t said = access_pattern_bind(maker, format, usable);
        if (said < format->count)
            *range = (struct range){&keys[i], format, said};
    }
    for (size_t i = 0; i < usable; i++)
        if (!maker->is_bound[i])
            return access_pattern_leave_out(
                maker, "the key that is asked does not go on with the parameter",
                maker->parameters[i]);
    return true;
}

/* Whether a part of the records' keys, or of the sort key that is asked, is called NAME. */
static bool access_pattern_is_part(const struct maker *maker, const char *name)
{
    const struct declared_record *record;
    size_t count;
    const struct declared_key *keys = access_pattern_sort_keys(maker, &count);
    for (record = maker->table->records; record; record = record->next)
        for (size_t i = 0; i < record->key_count; i++)
            if (format_has(&record->keys[i].format, name))
                return true;
    for (size_t i = 0; i < count; i++) {
        const struct format *format = access_pattern_format_of(maker, &keys[i]);
        if (format && format_has(format, name))
            return true;
    }
    return false;
}

/* What a parameter of a range is called: as in the pattern, unless a part of a key is called so,
 * which it would then say. */
static const char *access_pattern_range_name(struct maker *maker, const char *parameter,
                                             const char *ending)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (!access_pattern_is_part(maker, parameter))
        return parameter;
    buf_printf(&name, "%s %s", parameter, ending);
    return attribute_parts_find(maker->names, buf_span(&name));
}

/* Appends the first COUNT pieces of FORMAT, and a parameter. */
static struct format access_pattern_value_of(struct maker *maker, const struct format *format,
                                             size_t count, const char *parameter)
{
    struct arena *arena = maker->reader->arena;
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

/* Whether a parameter says a part of the first COUNT pieces. */
static bool access_pattern_is_stated(const struct format *format, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (format->pieces[i].param)
            return true;
    return false;
}

/* What the service compares is the whole key, so that "between" ends at its end exactly. Where a
 * part is compared by its beginning and that comes to the same, the condition is on the part, which
 * reads no more than the records of its kind. The tool's own repositories give begins_with the
 * parameter as the beginning of the whole key. */
static bool access_pattern_add_range(struct maker *maker, const struct range *range,
                                     enum cond_op op, const char *first, const char *second)
{
    struct declared_condition *where = arena_alloc(maker->reader->arena, sizeof *where);
    if (!where)
        return false;
    bool whole = op == COND_BEGINS && !access_pattern_is_stated(range->format, range->said);
    bool of_part = !whole && (op == COND_BEGINS || op == COND_GE);
    size_t said = whole ? 0 : range->said;
    where->op = op;
    if (of_part) {
        where->target = range->format->pieces[range->said].param;
        where->value = access_pattern_value_of(maker, range->format, 0, first);
    } else {
        where->target = range->key->attribute;
        where->whole = true;
        where->value = access_pattern_value_of(maker, range->format, said, first);
        where->upper = second ? access_pattern_value_of(maker, range->format, said, second)
                              : (struct format){0};
    }
    if (op == COND_LE && range->said > 0) {
        where->op = COND_BETWEEN;
        where->upper = where->value;
        where->value = access_pattern_value_of(maker, range->format, range->said, NULL);
    }
    maker->path->wheres = where;
    return true;
}

/* Whether a path of the table begins with STEP, "books/"; or will: those of the view by whole keys
 * (core/draft/drafted_paths.h). */
static bool access_pattern_is_taken(const struct maker *maker, struct span step)
{
    const struct declared_path *path = maker->table->paths;
    while (path && !span_starts(span_text(path->path), step))
        path = path->next;
    return path || span_is(step, "items/") || span_is(step, "by/");
}

/* The directory that the pattern becomes: its name, which no other path of the table begins with.
 */
static void access_pattern_add_name(struct maker *maker, const char *name, struct buf *out)
{
    for (const char *c = name; *c && out->size < 100; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        buf_add_char(out, plain ? *c : '_');
    }
    size_t stem = out->size;
    bool taken = true;
    for (unsigned number = 2; taken && !out->failed; number++) {
        buf_add_char(out, '/');
        taken = access_pattern_is_taken(maker, buf_span(out));
        buf_truncate(out, taken ? stem : out->size - 1);
        if (taken)
            buf_printf(out, "-%u", number);
    }
}

static void access_pattern_make_path(struct maker *maker, const char *name, const char *low,
                                     const char *high, bool list)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    access_pattern_add_name(maker, name, &text);
    for (size_t i = 0; i < maker->count; i++)
        if (maker->is_bound[i])
            buf_printf(&text, "/{%s}", maker->parameters[i]);
    if (low)
        buf_printf(&text, "/{%s}", low);
    if (high)
        buf_printf(&text, "..{%s}", high);
    buf_add_text(&text, maker->filter_steps ? maker->filter_steps : "");
    if (list)
        buf_add_char(&text, '/');
    maker->reader->arena->failed = maker->reader->arena->failed || text.failed;
    maker->path->path = arena_text(maker->reader->arena, buf_span(&text));
    maker->path->list = list;
}

/* Which records the path gives. A pattern that returns several kinds lists all that have the same
 * partition key. */
static void access_pattern_add_kinds(struct maker *maker, bool several)
{
    struct arena *arena = maker->reader->arena;
    struct declared_path *path = maker->path;
    size_t room = 0, count;
    const struct declared_record *record;
    for (record = maker->table->records; record; record = record->next)
        room++;
    path->kinds = arena_array(arena, room, sizeof *path->kinds);
    if (!path->kinds || room == 1)
        return;
    path->kinds[path->kind_count++].text = maker->record->name;
    const struct declared_key *keys = access_pattern_partition_keys(maker, &count);
    for (record = maker->table->records; several && record; record = record->next) {
        struct maker other = *maker;
        other.record = record;
        const struct declared_key *others = access_pattern_partition_keys(&other, &count);
        const struct format *format = access_pattern_format_of(&other, others);
        if (record != maker->record && count == 1 && format &&
            format_equal(format, access_pattern_format_of(maker, keys)))
            path->kinds[path->kind_count++].text = record->name;
    }
}

static void access_pattern_add_note(struct maker *maker)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    struct json id = json_member(maker->pattern, "pattern_id");
    const char *words =
        import_reader_text(maker->reader, json_member(maker->pattern, "description"));
    buf_add_text(&note, "Access pattern");
    if (json_is(id, JSON_NUMBER)) {
        buf_add_char(&note, ' ');
        buf_add_span(&note, json_raw(id));
    }
    if (words)
        buf_printf(&note, ": %s", words);
    maker->reader->arena->failed = maker->reader->arena->failed || note.failed;
    maker->path->note = arena_text(maker->reader->arena, buf_span(&note));
}

static void access_pattern_add_path(struct maker *maker)
{
    struct declared_path **last = &maker->table->paths;
    while (*last)
        last = &(*last)->next;
    *last = maker->path;
    maker->table->has_paths = true;
    access_pattern_add_note(maker);
    if (maker->index)
        maker->path->index.text = maker->index->name;
    maker->path->filters = maker->filters;
    maker->path->ttl_ms = -1;
    maker->path->consistent =
        !maker->index && json_is(json_member(maker->pattern, "consistent_read"), JSON_TRUE);
}

/* A read of one record by its whole key. */
static bool access_pattern_make_get(struct maker *maker, const char *name)
{
    struct range rest = {0};
    if (maker->index)
        return access_pattern_leave_out(maker, "GetItem asks no index", NULL);
    if (maker->filters)
        return access_pattern_leave_out(maker, "GetItem has no filter", NULL);
    if (!access_pattern_bind_partition(maker, maker->count) ||
        !access_pattern_bind_sort(maker, maker->count, &rest))
        return false;
    if (rest.key)
        return access_pattern_leave_out(maker, "its parameters do not say the part of the sort key",
                                        rest.format->pieces[rest.said].param);
    access_pattern_make_path(maker, name, NULL, NULL, false);
    access_pattern_add_kinds(maker, false);
    return true;
}

static bool access_pattern_find_condition(struct maker *maker, const char *name, enum cond_op *out)
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
    return access_pattern_leave_out(maker, "there is no range condition", name);
}

static bool access_pattern_make_query(struct maker *maker, const char *name)
{
    struct json range_condition = json_member(maker->pattern, "range_condition");
    struct json returns = json_member(maker->pattern, "return_type");
    const char *condition = import_reader_text(maker->reader, range_condition);
    enum cond_op op = COND_EQ;
    if (condition && !access_pattern_find_condition(maker, condition, &op))
        return false;
    size_t ends = !condition ? 0 : op == COND_BETWEEN ? 2 : 1;
    if (maker->count < ends)
        return access_pattern_leave_out(maker, "it has too few parameters for the range condition",
                                        condition);
    size_t usable = maker->count - ends;
    const char *first = ends ? maker->parameters[usable] : NULL;
    const char *second = ends > 1 ? maker->parameters[usable + 1] : NULL;
    struct range range = {0};
    if (!access_pattern_bind_partition(maker, usable) ||
        !access_pattern_bind_sort(maker, usable, &range))
        return false;
    if (condition && !range.key)
        return access_pattern_leave_out(
            maker, "nothing of the sort key is left for the range condition", condition);
    if (first)
        first = access_pattern_range_name(maker, first, second ? "from" : "range");
    if (second)
        second = access_pattern_range_name(maker, second, "to");
    if (condition && !access_pattern_add_range(maker, &range, op, first, second))
        return false;
    bool several = !condition && json_string_is(returns, SPAN_LITERAL("mixed_data"));
    bool one = json_string_is(returns, SPAN_LITERAL("single_entity")) ||
               (!several && !maker->index && !range.key);
    access_pattern_make_path(maker, name, first, second, !one);
    access_pattern_add_kinds(maker, several);
    return true;
}

/* What else a pattern may say would choose among the records, and so is not passed over. */
static bool access_pattern_is_understood(struct maker *maker)
{
    static const char *const known[] = {
        "pattern_id",      "name",       "description", "operation",       "index_name",
        "range_condition", "parameters", "return_type", "consistent_read", "filter_expression"};
    for (struct json name = json_first(maker->pattern); json_present(name);
         name = json_next(json_next(name))) {
        bool found = json_is(json_next(name), JSON_NULL);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || json_string_is(name, span_text(known[i]));
        const char *text = found ? NULL : import_reader_text(maker->reader, name);
        if (!found)
            return access_pattern_leave_out(
                maker, "it says what no path is made of yet:", text ? text : "");
    }
    return true;
}

static const char *access_pattern_name_filter(void *context, const char *parameter)
{
    return access_pattern_range_name(context, parameter, "filter");
}

/* Takes the parameters that the filter uses from those that say a key. */
static bool access_pattern_read_filter(struct maker *maker)
{
    struct json expression = json_member(maker->pattern, "filter_expression");
    if (!json_present(expression) || json_is(expression, JSON_NULL))
        return true;
    CLEAN_UP(buf_clean_up) struct buf steps = {0};
    struct access_filter filter = {.reader = maker->reader,
                                   .table = maker->table,
                                   .names = maker->names,
                                   .declared = json_member(maker->pattern, "parameters"),
                                   .name = access_pattern_name_filter,
                                   .context = maker,
                                   .parameters = maker->parameters,
                                   .count = &maker->count};
    const char *wrong = access_filter_read(&filter, expression);
    steps = filter.steps;
    maker->filters = filter.conditions;
    maker->filter_steps = arena_text(maker->reader->arena, buf_span(&steps));
    maker->reader->arena->failed = maker->reader->arena->failed || steps.failed;
    return !wrong || access_pattern_leave_out(maker, wrong, NULL);
}

void access_pattern_read(struct import_reader *reader, struct declared_table *table,
                         const struct declared_record *record, struct attribute_parts *names,
                         struct json pattern)
{
    struct maker maker = {
        .reader = reader, .table = table, .record = record, .names = names, .pattern = pattern};
    const char *name = access_pattern_pattern_name(&maker);
    const char *operation = import_reader_text(reader, json_member(pattern, "operation"));
    const char *index = import_reader_text(reader, json_member(pattern, "index_name"));
    bool query = operation && strcmp(operation, "Query") == 0;
    bool get =
        operation && (strcmp(operation, "GetItem") == 0 || strcmp(operation, "BatchGetItem") == 0);
    struct pattern_path *made = arena_alloc(reader->arena, sizeof *made);
    if (!name || !made)
        return;
    made->pattern = pattern;
    maker.path = &made->path;
    if (index)
        maker.index = import_reader_find_index(table, index);
    if (!query && !get)
        access_pattern_leave_out(&maker, "a path reads by key (GetItem, Query), and this is",
                                 operation);
    else if (index && !maker.index)
        access_pattern_leave_out(&maker, "there is no index", index);
    else if (access_pattern_is_understood(&maker) && access_pattern_read_parameters(&maker) &&
             access_pattern_read_filter(&maker) &&
             (get ? access_pattern_make_get(&maker, name)
                  : access_pattern_make_query(&maker, name)))
        access_pattern_add_path(&maker);
}

/* Whether TABLE compiles; else why not, in WHY. */
static bool access_pattern_compiles(struct import_reader *reader,
                                    const struct declared_table *table, struct buf *why)
{
    struct findings findings = {0};
    const struct model *model = compile_table(table, &findings);
    reader->arena->failed = reader->arena->failed || findings.no_memory;
    if (!model && findings.count > 0)
        buf_add_text(why, findings.items[0].text);
    findings_clean_up(&findings);
    if (model)
        model_unref(model);
    return model;
}

bool access_patterns_try(struct import_reader *reader, struct declared_table *table, struct json at)
{
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    struct declared_path *path = table->paths, **last = &table->paths;
    if (path && access_pattern_compiles(reader, table, &why))
        return true;
    bool has_paths = table->has_paths;
    table->paths = NULL;
    table->has_paths = true;
    buf_truncate(&why, 0);
    bool whole = access_pattern_compiles(reader, table, &why);
    table->has_paths = has_paths;
    if (!whole)
        import_reader_leave_out(reader, at, "%s", buf_text(&why));
    while (whole && path) { /* each by itself: no two of them share a directory */
        struct declared_path *next = path->next;
        struct declared_path *others = table->paths;
        buf_truncate(&why, 0);
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
