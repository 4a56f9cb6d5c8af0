#include "core/sql/sql_filter.h"

#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/item/value.h"
#include "core/sql/sql_range.h"

/* A filter of the service has at most 4 KB; more constraints would drop hardly more rows. */
enum { SQL_FILTER_MOST_BYTES = 256, SQL_FILTER_MOST_CONSTRAINTS = 8 };

bool sql_filter_accepts(const struct sql_columns *columns, const struct map_index *index,
                        const struct sql_constraint *constraint)
{
    if (!constraint->is_usable || constraint->is_list || constraint->op == SQL_OP_NE ||
        constraint->op == SQL_OP_NOT_NULL || constraint->op == SQL_OP_LIMIT ||
        constraint->op == SQL_OP_OTHER || constraint->op == SQL_OP_IS)
        return false;
    const struct sql_column *column = &columns->items[constraint->column];
    if (column->role != SQL_ATTRIBUTE || column->is_masked)
        return false;
    if (model_is_key(columns->model, column->name))
        return false;
    return !index || (!model_is_index_key(index, column->name) &&
                      model_index_holds(columns->model, index, column->name));
}

/* A condition while it is made: some of its parts. */
struct sql_filter {
    struct arena *arena;
    struct span attribute;
    struct cond *parts;
    size_t count;
};

static void sql_filter_add(struct sql_filter *filter, enum cond_op op, struct value value)
{
    filter->parts[filter->count++] =
        (struct cond){.attribute = filter->attribute, .op = op, .value = value};
}

/* True of attributes of other types. */
static void sql_filter_add_not(struct sql_filter *filter, enum cond_op op, struct value value)
{
    struct cond *child = arena_alloc(filter->arena, sizeof *child);
    if (!child)
        return;
    *child = (struct cond){.attribute = filter->attribute, .op = op, .value = value};
    filter->parts[filter->count++] =
        (struct cond){.op = COND_NOT, .children = child, .child_count = 1};
}

/* The number as the service has it. False unless it is exact, however SQLite compares it. */
static bool sql_filter_read_number(const struct sql_value *value, struct arena *arena,
                                   struct value *out)
{
    static const int64_t most = (int64_t)1 << 53;
    char text[40];
    if (value->type == SQL_INTEGER && (value->integer > most || value->integer < -most))
        return false;
    if (value->type == SQL_INTEGER)
        snprintf(text, sizeof text, "%lld", (long long)value->integer);
    else
        snprintf(text, sizeof text, "%.15g", value->real);
    struct sql_value again = sql_value_of_number(span_text(text));
    *out = (struct value){VALUE_N, arena_copy(arena, span_text(text))};
    return !number_fault(span_text(text)) && sql_value_compare(&again, value) == 0;
}

/* Texts that other values than a text may be equal to: numbers, and JSON of documents and sets. */
static bool sql_filter_is_plain(struct span text)
{
    return text.size > 0 && text.size <= SQL_FILTER_MOST_BYTES && text.data[0] != '{' &&
           text.data[0] != '[' && utf8_valid(text) && !sql_range_is_numeric(text);
}

/* Numbers that are TEXTs in SQLite are greater than any number, so a lower bound drops nothing. */
static void sql_filter_compare_number(struct sql_filter *filter, enum sql_op op,
                                      const struct sql_value *value)
{
    struct value number;
    if (!sql_filter_read_number(value, filter->arena, &number))
        return;
    if (op == SQL_OP_EQ)
        sql_filter_add_not(filter, COND_LT, number);
    if (op == SQL_OP_EQ || op == SQL_OP_LE)
        sql_filter_add_not(filter, COND_GT, number);
    if (op == SQL_OP_LT)
        sql_filter_add_not(filter, COND_GE, number);
}

static void sql_filter_compare_text(struct sql_filter *filter, enum sql_op op, struct value value)
{
    static const enum cond_op opposites[] = {
        [SQL_OP_LT] = COND_GE, [SQL_OP_LE] = COND_GT, [SQL_OP_GT] = COND_LE, [SQL_OP_GE] = COND_LT};
    if (op == SQL_OP_EQ)
        sql_filter_add(filter, COND_EQ, value);
    else
        sql_filter_add_not(filter, opposites[op], value);
}

/* A text that begins alike is in a range; a BLOB or a number may satisfy the pattern, too. */
static void sql_filter_match(struct sql_filter *filter, enum sql_op op,
                             const struct sql_value *value)
{
    struct sql_range range;
    struct span behind;
    if (value->type != SQL_TEXT ||
        !sql_range_of_constraint(VALUE_S, op, value, filter->arena, &range, NULL) ||
        !range.has_low || !utf8_valid(range.low) || range.low.size > SQL_FILTER_MOST_BYTES)
        return;
    sql_filter_add_not(filter, COND_LT, (struct value){VALUE_S, range.low});
    if (sql_range_find_successor(VALUE_S, range.low, filter->arena, &behind))
        sql_filter_add_not(filter, COND_GE, (struct value){VALUE_S, behind});
}

/* Adds the parts for one constraint. The column has no affinity, or its values are of its own type.
 */
static void sql_filter_add_constraint(struct sql_filter *filter, const struct sql_column *column,
                                      enum sql_op op, const struct sql_value *value)
{
    bool is_pattern = op == SQL_OP_LIKE || op == SQL_OP_GLOB || op == SQL_OP_BEGINS;
    sql_filter_add(filter, COND_EXISTS, (struct value){0});
    if (is_pattern)
        sql_filter_match(filter, op, value);
    else if ((value->type == SQL_INTEGER || value->type == SQL_REAL) && !column->is_text)
        sql_filter_compare_number(filter, op, value);
    else if (value->type == SQL_TEXT && sql_filter_is_plain(value->bytes))
        sql_filter_compare_text(filter, op, (struct value){VALUE_S, value->bytes});
    else if (value->type == SQL_BLOB && value->bytes.size > 0 &&
             value->bytes.size <= SQL_FILTER_MOST_BYTES)
        sql_filter_compare_text(filter, op, (struct value){VALUE_B, value->bytes});
}

const struct cond *sql_filter_make(const struct sql_columns *columns,
                                   const struct sql_constraint *const *constraints,
                                   const struct sql_value *const *values, size_t count,
                                   struct arena *arena)
{
    enum { PARTS = 3 }; /* of one constraint, at most */
    count = count < SQL_FILTER_MOST_CONSTRAINTS ? count : SQL_FILTER_MOST_CONSTRAINTS;
    struct cond *all = arena_alloc(arena, sizeof *all);
    struct sql_filter filter = {.arena = arena,
                                .parts = arena_array(arena, count * PARTS, sizeof(struct cond))};
    if (!all || !filter.parts)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct sql_column *column = &columns->items[constraints[i]->column];
        size_t before = filter.count;
        filter.attribute = span_text(column->name);
        sql_filter_add_constraint(&filter, column, constraints[i]->op, values[i]);
        /* The attribute is there, if it is equal to a value. */
        if (filter.count == before + 2 && filter.parts[before + 1].op == COND_EQ)
            filter.parts[before] = filter.parts[--filter.count];
    }
    *all = (struct cond){.op = COND_AND, .children = filter.parts, .child_count = filter.count};
    return filter.count == 0 ? NULL : filter.count == 1 ? filter.parts : all;
}
