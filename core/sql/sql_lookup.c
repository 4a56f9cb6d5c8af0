#include "core/sql/sql_lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/item/value.h"
#include "core/sql/sql_filter.h"
#include "core/sql/sql_range.h"
#include "core/sql/sql_target.h"

/* Limits of the service, in bytes. A bound of a range leaves room for a longer last character. */
enum {
    SQL_LOOKUP_PARTITION_BYTES = 2048,
    SQL_LOOKUP_SORT_BYTES = 1024,
    SQL_LOOKUP_BOUND_BYTES = 1020
};

/* The range of each key attribute in items of one case, or of several in one partition. */
struct sql_bound_case {
    struct sql_range ranges[SQL_TARGET_MOST_KEYS];
};

struct sql_binding {
    const struct sql_access *access;
    const struct sql_value *values;
    struct arena *arena;
    struct error *err;
    struct sql_bound_case *groups;
    size_t count;
};

/* A number as texts of keys have it: in digits, with a point only before a fraction. */
static struct span sql_lookup_plain_number(struct span number, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct number_parts parts;
    number_split(number, &parts);
    int last = parts.digit_count > 0 ? (int)parts.digit_count - 1 : 0;
    int first = parts.magnitude < 0 ? parts.magnitude : 0;
    last = last < parts.magnitude ? parts.magnitude : last;
    buf_add_text(&text, parts.is_negative ? "-" : "");
    for (int i = first; i <= last; i++) {
        bool is_digit = i >= 0 && i < (int)parts.digit_count;
        buf_add_text(&text, i == parts.magnitude + 1 ? "." : "");
        buf_add_char(&text, is_digit ? parts.digits[i] : '0');
    }
    arena->failed = arena->failed || text.failed;
    return arena_copy(arena, buf_span(&text));
}

/* Equality of a part that has another type in another key: in texts, numbers are written as the
 * service has them. */
static bool sql_lookup_other_range(struct sql_binding *binding, const struct sql_column *column,
                                   enum value_type type, const struct sql_value *value,
                                   struct sql_range *out)
{
    bool is_bytes = value->type == SQL_BLOB || (value->type == SQL_TEXT && !column->is_number);
    if (type != VALUE_N && is_bytes) {
        *out = sql_range_of_point(type, value->bytes);
        return true;
    }
    if (!sql_range_of_constraint(VALUE_N, SQL_OP_EQ, value, binding->arena, out, binding->err))
        return false;
    if (type == VALUE_N)
        return true;
    sql_range_fit_key(out, SQL_LOOKUP_PARTITION_BYTES, binding->arena);
    if (sql_range_is_point(out))
        *out = sql_range_of_point(type, sql_lookup_plain_number(out->low, binding->arena));
    out->type = type;
    return true;
}

/* The range of the constraints on COLUMN that narrow keys of TYPE. Only equality counts if the
 * column is not compared as that type. */
static bool sql_lookup_column_range(struct sql_binding *binding, size_t column,
                                    enum value_type type, struct sql_range *out)
{
    const struct sql_column *is = &binding->access->columns->items[column];
    bool in_order = type == VALUE_S ? is->is_text : type == VALUE_N ? is->is_number : is->is_binary;
    const struct sql_access *access = binding->access;
    *out = (struct sql_range){.type = type};
    for (size_t i = 0; i < access->constraint_count; i++) {
        struct sql_range range;
        const struct sql_constraint *each = &access->constraints[i];
        if (!access->in_key[i] || each->column != column || (each->op != SQL_OP_EQ && !in_order))
            continue;
        bool read = !in_order
                        ? sql_lookup_other_range(binding, is, type, &binding->values[i], &range)
                        : sql_range_of_constraint(type, each->op, &binding->values[i],
                                                  binding->arena, &range, binding->err);
        if (!read)
            return false;
        *out = sql_range_intersect(out, &range);
    }
    return true;
}

/* Parts. */

/* A part of a key of type S, while the ranges of a format are found. */
struct sql_bound_part {
    const struct format_piece *piece;
    size_t column;
    struct span behind; /* the literal behind it */
};

/* The digits before the point of a number that is not negative. */
static struct span sql_lookup_whole_digits(struct span number, struct arena *arena)
{
    struct number_parts parts;
    number_split(number, &parts);
    if (parts.digit_count == 0 || parts.magnitude < 0)
        return SPAN_LITERAL("0");
    size_t size = (size_t)parts.magnitude + 1;
    char *digits = arena_alloc(arena, size);
    for (size_t i = 0; digits && i < size; i++)
        digits[i] = i < parts.digit_count ? parts.digits[i] : '0';
    return digits ? span_of(digits, size) : span_of("", 0);
}

static struct span sql_lookup_pad(struct span digits, unsigned pad, struct arena *arena)
{
    char *text = arena_alloc(arena, pad);
    if (!text)
        return span_of("", 0);
    memset(text, '0', pad);
    memcpy(text + pad - digits.size, digits.data, digits.size);
    return span_of(text, pad);
}

/* The range of a padded part as in the key, for a range of numbers. Keys have no fractions, and no
 * number of more digits. */
static struct sql_range sql_lookup_pad_range(const struct sql_range *numbers, unsigned pad,
                                             struct arena *arena)
{
    static const struct span zero = {"0", 1};
    struct sql_range in = *numbers, out = {.type = VALUE_S};
    sql_range_fit_key(&in, 0, arena);
    bool is_point = sql_range_is_point(&in);
    struct span low = in.has_low && number_compare(in.low, zero) > 0
                          ? sql_lookup_whole_digits(in.low, arena)
                          : zero;
    bool has_high = in.high_end == SQL_HIGH_VALUE;
    struct span high = has_high ? sql_lookup_whole_digits(in.high, arena) : zero;
    if (in.is_empty || low.size > pad || (has_high && number_compare(in.high, zero) < 0) ||
        (is_point && number_compare(in.low, low) != 0))
        out.is_empty = true;
    else if (is_point)
        out = sql_range_of_point(VALUE_S, sql_lookup_pad(low, pad, arena));
    else {
        out.has_low = true;
        out.low = sql_lookup_pad(low, pad, arena);
        out.high_end = has_high && high.size <= pad ? SQL_HIGH_BEGINS : SQL_HIGH_OPEN;
        if (out.high_end == SQL_HIGH_BEGINS)
            out.high = sql_lookup_pad(high, pad, arena);
    }
    return out;
}

/* Whether a key can have the part's VALUE, which is text. */
static bool sql_lookup_admits(const struct sql_binding *binding, const struct sql_bound_part *part,
                              struct span value)
{
    char separator = binding->access->columns->model->separator;
    CLEAN_UP(buf_clean_up) struct buf folded = {0};
    if (!part->piece->open && value.size > 0 && memchr(value.data, separator, value.size))
        return false;
    bool read = format_read_part(part->piece, value, &folded);
    binding->arena->failed = binding->arena->failed || folded.failed;
    return read && span_equal(buf_span(&folded), value);
}

/* The range of a part as in the key, without the text around it. A format that is the attribute
 * excludes no value. */
static bool sql_lookup_part_range(struct sql_binding *binding, const struct sql_bound_part *part,
                                  struct sql_range *out)
{
    bool padded = part->piece->pad > 0;
    *out = (struct sql_range){.type = VALUE_S};
    if (part->column == binding->access->columns->count)
        return true;
    if (!sql_lookup_column_range(binding, part->column, padded ? VALUE_N : VALUE_S, out))
        return false;
    bool is_point = sql_range_is_point(out);
    if (padded)
        *out = sql_lookup_pad_range(out, part->piece->pad, binding->arena);
    else if (is_point && binding->access->columns->items[part->column].role == SQL_PART)
        out->is_empty = !sql_lookup_admits(binding, part, out->low);
    return true;
}

/* Adds the text before the part, and behind it, to RANGE, which is no point. A value sorts before
 * all that it begins. Its key sorts behind theirs if their next byte is below the separator, so an
 * upper end is cut there. */
static struct sql_range sql_lookup_place_range(const struct sql_range *range, struct span before,
                                               struct span behind, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf low = {0}, high = {0};
    struct sql_range out = sql_range_of_prefix(VALUE_S, before);
    size_t cut = 0;
    out.is_empty = range->is_empty;
    while (cut < range->high.size &&
           (range->high_end == SQL_HIGH_BEGINS || behind.size == 0 ||
            (unsigned char)range->high.data[cut] > (unsigned char)behind.data[0]))
        cut++;
    if (range->has_low) {
        buf_add_span(&low, before);
        buf_add_span(&low, range->low);
        out.has_low = true;
        out.low = arena_copy(arena, buf_span(&low));
    }
    if (range->high_end != SQL_HIGH_OPEN) {
        bool is_value = range->high_end == SQL_HIGH_VALUE && cut == range->high.size;
        buf_add_span(&high, before);
        buf_add_span(&high, span_of(range->high.data, cut));
        if (is_value)
            buf_add_span(&high, behind);
        out.high = arena_copy(arena, buf_span(&high));
        out.high_end = is_value && behind.size == 0 ? SQL_HIGH_VALUE : SQL_HIGH_BEGINS;
        if (out.high.size == 0 && out.high_end == SQL_HIGH_BEGINS)
            out.high_end = SQL_HIGH_OPEN;
    }
    arena->failed = arena->failed || low.failed || high.failed;
    return out;
}

static struct sql_bound_part sql_lookup_part(const struct sql_binding *binding,
                                             const struct format *format, size_t i)
{
    const struct sql_columns *columns = binding->access->columns;
    struct sql_bound_part part = {.piece = &format->pieces[i]};
    part.column = sql_columns_find_part(columns, part.piece->param);
    part.behind = i + 1 < format->count ? format->pieces[i + 1].literal : span_of("", 0);
    return part;
}

/* The range of keys of type S that have the format: up to the first part without one value. */
static bool sql_lookup_text_range(struct sql_binding *binding, const struct format *format,
                                  struct sql_range *out)
{
    CLEAN_UP(buf_clean_up) struct buf before = {0};
    for (size_t i = 0; i < format->count; i++) {
        struct sql_range range;
        if (!format->pieces[i].param) {
            buf_add_span(&before, format->pieces[i].literal);
            continue;
        }
        struct sql_bound_part part = sql_lookup_part(binding, format, i);
        if (!sql_lookup_part_range(binding, &part, &range))
            return false;
        if (range.is_empty || !sql_range_is_point(&range)) {
            struct span text = arena_copy(binding->arena, buf_span(&before));
            *out = sql_lookup_place_range(&range, text, part.behind, binding->arena);
            return !binding->arena->failed || error_no_memory(binding->err);
        }
        buf_add_span(&before, range.low);
    }
    *out = sql_range_of_point(VALUE_S, arena_copy(binding->arena, buf_span(&before)));
    return !(binding->arena->failed || before.failed) || error_no_memory(binding->err);
}

static bool sql_lookup_format_range(struct sql_binding *binding, const struct map_key *key,
                                    const struct format *format, struct sql_range *out)
{
    const struct sql_columns *columns = binding->access->columns;
    const char *whole = format_whole_param(format);
    if (key->type == VALUE_S)
        return sql_lookup_text_range(binding, format, out);
    if (!whole) {
        *out = sql_range_of_point(key->type, format_literal(format));
        return true;
    }
    size_t column = sql_columns_find_part(columns, whole);
    *out = (struct sql_range){.type = key->type};
    if (column == columns->count)
        return true;
    if (!sql_lookup_column_range(binding, column, key->type, out))
        return false;
    bool in_order =
        key->type == VALUE_N ? columns->items[column].is_number : columns->items[column].is_binary;
    if (!in_order && !out->is_empty && !sql_range_is_point(out))
        *out = (struct sql_range){.type = key->type};
    return true;
}

/* Whether the format narrows key attribute I. The beginning that all keys of an index share narrows
 * hardly anything, and an item may lack it against its map. */
static bool sql_lookup_is_narrowed(const struct sql_binding *binding, const struct format *format,
                                   size_t i)
{
    const struct sql_access *access = binding->access;
    bool all = !access->target.index || i < access->target.partition_count;
    for (size_t k = 0; format && k < format->count && !all; k++) {
        const char *param = format->pieces[k].param;
        size_t column = param ? sql_columns_find_part(access->columns, param) : 0;
        for (size_t c = 0; param && c < access->constraint_count; c++)
            all = all || (access->in_key[c] && access->constraints[c].column == column);
    }
    return format && all;
}

/* The ranges of the key attributes in items of the case. They end behind the first that is no
 * point. A range that is empty is set in the first attribute. */
static bool sql_lookup_bind_case(struct sql_binding *binding, const struct sql_case *each,
                                 struct sql_bound_case *out)
{
    const struct sql_target *target = &binding->access->target;
    bool goes_on = true;
    *out = (struct sql_bound_case){0};
    for (size_t i = 0; i < target->key_count; i++) {
        const struct map_key *key = target->keys[i];
        size_t own = sql_target_find_own(binding->access->columns, key, each->kind);
        struct sql_range *range = &out->ranges[i], parts = {.type = key->type};
        *range = (struct sql_range){.type = key->type};
        if (!goes_on)
            continue;
        if (own < binding->access->columns->count &&
            !sql_lookup_column_range(binding, own, key->type, range))
            return false;
        if (!sql_range_is_point(range) && sql_lookup_is_narrowed(binding, each->formats[i], i) &&
            !sql_lookup_format_range(binding, key, each->formats[i], &parts))
            return false;
        *range = sql_range_intersect(range, &parts);
        bool is_point = sql_range_is_point(range);
        sql_range_fit_key(range,
                          i < target->partition_count ? SQL_LOOKUP_PARTITION_BYTES
                          : is_point                  ? SQL_LOOKUP_SORT_BYTES
                                                      : SQL_LOOKUP_BOUND_BYTES,
                          binding->arena);
        out->ranges[0].is_empty = out->ranges[0].is_empty || range->is_empty;
        goes_on = is_point;
    }
    return !binding->arena->failed || error_no_memory(binding->err);
}

/* Groups: the cases of one request. */

static bool sql_lookup_same(const struct sql_range *a, const struct sql_range *b)
{
    return value_compare((struct value){a->type, a->low}, (struct value){b->type, b->low}) == 0;
}

static bool sql_lookup_same_points(const struct sql_bound_case *a, const struct sql_bound_case *b,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!sql_lookup_same(&a->ranges[i], &b->ranges[i]))
            return false;
    return true;
}

/* Extends the ranges of sort attributes: the first that differs gets a common range, and those
 * behind it none. */
static void sql_lookup_join(const struct sql_target *target, struct sql_bound_case *to,
                            const struct sql_bound_case *more)
{
    bool goes_on = true;
    for (size_t i = target->partition_count; i < target->key_count; i++) {
        struct sql_range *range = &to->ranges[i];
        const struct sql_range *other = &more->ranges[i];
        bool same =
            sql_range_is_point(range) && sql_range_is_point(other) && sql_lookup_same(range, other);
        *range = goes_on ? sql_range_join(range, other) : (struct sql_range){.type = range->type};
        goes_on = goes_on && same;
    }
}

/* Equal keys are read once, and so is a partition that is queried. */
static void sql_lookup_add_group(struct sql_binding *binding, const struct sql_bound_case *bound)
{
    const struct sql_target *target = &binding->access->target;
    bool by_key = binding->access->kind == SQL_ACCESS_KEYS;
    for (size_t i = 0; i < binding->count; i++) {
        struct sql_bound_case *group = &binding->groups[i];
        if (!sql_lookup_same_points(group, bound,
                                    by_key ? target->key_count : target->partition_count))
            continue;
        if (!by_key)
            sql_lookup_join(target, group, bound);
        return;
    }
    binding->groups[binding->count++] = *bound;
}

static bool sql_lookup_bind_groups(struct sql_binding *binding)
{
    const struct sql_target *target = &binding->access->target;
    binding->groups = arena_array(binding->arena, target->case_count, sizeof *binding->groups);
    if (!binding->groups)
        return error_no_memory(binding->err);
    for (size_t i = 0; i < target->case_count; i++) {
        struct sql_bound_case bound;
        if (!sql_lookup_bind_case(binding, &target->cases[i], &bound))
            return false;
        if (!bound.ranges[0].is_empty)
            sql_lookup_add_group(binding, &bound);
    }
    return true;
}

/* Lookups. */

static void sql_lookup_set_key(const struct sql_target *target, const struct sql_bound_case *group,
                               struct sql_lookup *lookup)
{
    lookup->key.count = target->key_count;
    for (size_t i = 0; i < target->key_count; i++)
        lookup->key.attributes[i] = (struct key_attribute){
            span_text(target->keys[i]->attribute), {group->ranges[i].type, group->ranges[i].low}};
}

/* At most one condition is no equality: the last. */
static void sql_lookup_set_where(const struct sql_target *target,
                                 const struct sql_bound_case *group, struct arena *arena,
                                 struct sql_lookup *lookup)
{
    struct cond *where = arena_array(arena, target->key_count, sizeof *where);
    for (size_t i = 0; where && i < target->key_count; i++) {
        if (!sql_range_write_cond(&group->ranges[i], span_text(target->keys[i]->attribute), arena,
                                  &where[lookup->where_count]))
            break;
        lookup->where_count++;
        if (!sql_range_is_point(&group->ranges[i]))
            break;
    }
    lookup->where = where;
}

static const struct cond *sql_lookup_make_filter(const struct sql_binding *binding)
{
    const struct sql_access *access = binding->access;
    const struct sql_constraint **constraints =
        arena_array(binding->arena, access->constraint_count, sizeof *constraints);
    const struct sql_value **values =
        arena_array(binding->arena, access->constraint_count, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; constraints && values && i < access->constraint_count; i++) {
        if (!access->in_filter[i])
            continue;
        constraints[count] = &access->constraints[i];
        values[count++] = &binding->values[i];
    }
    return sql_filter_make(access->columns, constraints, values, count, binding->arena);
}

static uint32_t sql_lookup_first(const struct sql_binding *binding)
{
    const struct sql_access *access = binding->access;
    if (access->limit == access->constraint_count)
        return 0;
    const struct sql_value *value = &binding->values[access->limit];
    bool is_limit = value->type == SQL_INTEGER && value->integer > 0 && value->integer < UINT32_MAX;
    return is_limit ? (uint32_t)value->integer : 0;
}

/* A value that is NULL satisfies no constraint of a filter. */
static bool sql_lookup_is_void(const struct sql_binding *binding)
{
    const struct sql_access *access = binding->access;
    for (size_t i = 0; i < access->constraint_count; i++)
        if (access->in_filter[i] && access->constraints[i].op <= SQL_OP_BEGINS &&
            binding->values[i].type == SQL_NULL)
            return true;
    return access->kind == SQL_ACCESS_NONE;
}

bool sql_access_bind(const struct sql_access *access, const struct sql_value *values,
                     struct arena *arena, struct sql_lookup **out, size_t *count, struct error *err)
{
    struct sql_binding binding = {access, values, arena, err, NULL, 0};
    bool is_scan = access->kind == SQL_ACCESS_SCAN;
    *out = NULL;
    *count = 0;
    if (sql_lookup_is_void(&binding))
        return true;
    if (!is_scan && !sql_lookup_bind_groups(&binding))
        return false;
    size_t lookups = is_scan ? 1 : binding.count;
    struct sql_lookup *list = arena_array(arena, lookups, sizeof *list);
    const struct cond *filter = sql_lookup_make_filter(&binding);
    for (size_t i = 0; list && i < lookups; i++) {
        list[i] = (struct sql_lookup){.kind = access->kind,
                                      .index = access->target.index,
                                      .filter = filter,
                                      .descending = access->descending,
                                      .first = sql_lookup_first(&binding),
                                      .hydrates = access->hydrates};
        if (access->kind == SQL_ACCESS_KEYS)
            sql_lookup_set_key(&access->target, &binding.groups[i], &list[i]);
        else if (!is_scan)
            sql_lookup_set_where(&access->target, &binding.groups[i], arena, &list[i]);
    }
    if (arena->failed)
        return error_no_memory(err);
    *out = list;
    *count = lookups;
    return true;
}

bool sql_access_keeps_order(const struct sql_access *access, struct sql_row *row,
                            struct sql_row *next, struct error *err)
{
    for (size_t i = 0; next && !access->is_unique && i < access->order_count; i++) {
        struct sql_value a, b;
        if (!sql_row_read(row, access->order[i].column, &a, err) ||
            !sql_row_read(next, access->order[i].column, &b, err))
            return false;
        int order = sql_value_compare(&a, &b);
        if (order != 0)
            return (order < 0) != access->order[i].descending;
    }
    return true;
}

/* The greatest byte that follows the part NAME in FORMAT, if that is more than END. */
static unsigned char sql_lookup_end_in(const struct format *format, const char *name,
                                       unsigned char end)
{
    for (size_t i = 0; format && i + 1 < format->count; i++) {
        const char *param = format->pieces[i].param;
        struct span behind = format->pieces[i + 1].literal;
        if (param && strcmp(param, name) == 0 && behind.size > 0 &&
            (unsigned char)behind.data[0] > end)
            end = (unsigned char)behind.data[0];
    }
    return end;
}

/* The greatest byte that follows the part NAME in a key of MODEL; 0: the part ends all keys. */
static unsigned char sql_lookup_part_end(const struct model *model, const char *name)
{
    unsigned char end = 0;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next) {
        const struct map_key *key;
        for (size_t i = 0; i < model->key_count; i++)
            end = sql_lookup_end_in(&kind->keys[i], name, end);
        for (const struct map_index *index = model->indexes; index; index = index->next)
            for (size_t i = 0; (key = model_index_key(index, i)); i++)
                end = sql_lookup_end_in(model_key_format(model, key, kind), name, end);
    }
    return end;
}

/* Whether VALUE has a byte below END behind its first one: its beginning may sort behind it. */
static bool sql_lookup_has_less(const struct sql_value *value, unsigned char end)
{
    for (size_t i = 1; value->type == SQL_TEXT && i < value->bytes.size; i++)
        if ((unsigned char)value->bytes.data[i] < end)
            return true;
    return false;
}

bool sql_access_prove_order(const struct sql_access *access, struct sql_row *row,
                            struct sql_row *next, enum sql_order_proof *out, struct error *err)
{
    *out = SQL_ORDER_PROVEN;
    for (size_t i = 0; !access->is_unique && i < access->order_count; i++) {
        struct sql_value a, b;
        const struct sql_column *column = &row->columns->items[access->order[i].column];
        unsigned char end = column->role == SQL_PART && !column->is_number
                                ? sql_lookup_part_end(row->columns->model, column->name)
                                : 0;
        if (!sql_row_read(row, access->order[i].column, &a, err) ||
            !sql_row_read(next, access->order[i].column, &b, err))
            return false;
        int order = sql_value_compare(&a, &b);
        if (end > 0 && !access->order[i].descending && sql_lookup_has_less(&a, end)) {
            *out = SQL_ORDER_NEVER;
            return true;
        }
        if (end > 0 && access->order[i].descending && order == 0)
            *out = SQL_ORDER_OPEN;
        if (order != 0)
            break;
    }
    return true;
}

void sql_lookup_write_identity(const struct sql_lookup *lookup, struct buf *out)
{
    buf_printf(out, "%d,%d,%d,%u,%s;", (int)lookup->kind, lookup->descending, lookup->hydrates,
               (unsigned)lookup->first, lookup->index ? lookup->index->name : "");
    for (size_t i = 0; i < lookup->key.count; i++)
        value_write_identity(lookup->key.attributes[i].value, out);
    for (size_t i = 0; i < lookup->where_count; i++)
        cond_write_identity(&lookup->where[i], out);
    if (lookup->filter)
        cond_write_identity(lookup->filter, out);
}
