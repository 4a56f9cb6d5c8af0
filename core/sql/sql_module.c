#include "core/sql/sql_module.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "core/item/decimal_sum.h"
#include "core/item/value.h"

enum {
    SQL_MODULE_BEGINS = SQLITE_INDEX_CONSTRAINT_FUNCTION,
    SQL_MODULE_LEAST_HEAP = 1 << 20,
    SQL_MODULE_OTHER_HEAP = 4 << 20,     /* of a recording that is written meanwhile, */
    SQL_MODULE_SNAPSHOT_HEAP = 16 << 20, /* or of snapshots that are read */
};
static const double SQL_MODULE_REFUSED_COST = 1e99; /* any other plan is better */

struct sql_vtab {
    sqlite3_vtab base;
    struct sql_module *module;
    struct sql_table *table;
};

struct sql_cursor {
    sqlite3_vtab_cursor base;
    struct sql_vtab *vtab;
    struct sql_choice *choice;
    struct sql_reader reader;
    struct arena arena;
};

/* Errors. */

static int sql_module_fault(struct sql_module *module, const struct error *err)
{
    if (module->fault.kind == ERROR_NONE)
        module->fault = *err;
    return err->kind == ERROR_NO_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Memory. */

void sql_module_limit_heap(struct sql_module *module)
{
    struct sql_reads *reads = module->reads;
    int64_t used = sqlite3_memory_used() - module->heap_base;
    reads->others = used > 0 ? (uint64_t)used : 0;
    if (reads->options.memory == 0)
        return;
    int64_t left = (int64_t)reads->options.memory - (int64_t)reads->stored;
    if (left < SQL_MODULE_LEAST_HEAP)
        left = SQL_MODULE_LEAST_HEAP;
    bool reads_snapshots = false;
    for (const struct sql_table *each = module->tables; each; each = each->next)
        reads_snapshots = reads_snapshots || each->place->is_snapshot;
    sqlite3_hard_heap_limit64(module->heap_base + left +
                              (reads_snapshots ? SQL_MODULE_SNAPSHOT_HEAP : SQL_MODULE_OTHER_HEAP));
}

/* Virtual tables. */

static int sql_module_connect(sqlite3 *handle, void *arg, int argc, const char *const *argv,
                              sqlite3_vtab **out, char **message)
{
    struct sql_module *module = arg;
    CLEAN_UP(buf_clean_up) struct buf declaration = {0};
    (void)argc, (void)argv, (void)message;
    sql_columns_write_declaration(module->adding->columns, &declaration);
    int code =
        declaration.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(handle, buf_text(&declaration));
    if (code != SQLITE_OK)
        return code;
    struct sql_vtab *vtab = calloc(1, sizeof *vtab);
    if (!vtab)
        return SQLITE_NOMEM;
    vtab->module = module;
    vtab->table = module->adding;
    *out = &vtab->base;
    return SQLITE_OK;
}

/* SQLite takes a module with one function for both as a table of its own name. */
static int sql_module_create(sqlite3 *handle, void *arg, int argc, const char *const *argv,
                             sqlite3_vtab **out, char **message)
{
    return sql_module_connect(handle, arg, argc, argv, out, message);
}

static int sql_module_disconnect(sqlite3_vtab *vtab)
{
    free(vtab);
    return SQLITE_OK;
}

static enum sql_op sql_module_op(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return SQL_OP_EQ;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return SQL_OP_LT;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return SQL_OP_LE;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return SQL_OP_GT;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return SQL_OP_GE;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
        return SQL_OP_LIKE;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
        return SQL_OP_GLOB;
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
        return SQL_OP_NOT_NULL;
    case SQLITE_INDEX_CONSTRAINT_NE:
        return SQL_OP_NE;
    case SQLITE_INDEX_CONSTRAINT_IS:
        return SQL_OP_IS;
    case SQLITE_INDEX_CONSTRAINT_LIMIT:
        return SQL_OP_LIMIT;
    case SQL_MODULE_BEGINS:
        return SQL_OP_BEGINS;
    default:
        return SQL_OP_OTHER;
    }
}

static struct sql_constraint sql_module_constraint(sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *from = &info->aConstraint[i];
    enum sql_op op = sql_module_op(from->op);
    bool has_column = op != SQL_OP_LIMIT && from->op != SQLITE_INDEX_CONSTRAINT_OFFSET;
    struct sql_constraint constraint = {.op = op, .is_usable = from->usable};
    if (!has_column)
        return constraint;
    if (from->iColumn < 0 || strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) {
        constraint.op = SQL_OP_OTHER;
        constraint.is_usable = false;
    }
    constraint.is_list = op == SQL_OP_EQ && sqlite3_vtab_in(info, i, -1);
    constraint.column = from->iColumn < 0 ? 0 : (size_t)from->iColumn;
    return constraint;
}

struct sql_value sql_module_read_value(sqlite3_value *from)
{
    struct sql_value value = {.type = SQL_NULL};
    switch (sqlite3_value_type(from)) {
    case SQLITE_INTEGER:
        value.type = SQL_INTEGER;
        value.integer = sqlite3_value_int64(from);
        break;
    case SQLITE_FLOAT:
        value.type = SQL_REAL;
        value.real = sqlite3_value_double(from);
        break;
    case SQLITE_TEXT:
        value.type = SQL_TEXT;
        value.bytes.data = (const char *)sqlite3_value_text(from);
        value.bytes.size = (size_t)sqlite3_value_bytes(from);
        break;
    case SQLITE_BLOB:
        value.type = SQL_BLOB;
        value.bytes.data = sqlite3_value_blob(from);
        value.bytes.size = (size_t)sqlite3_value_bytes(from);
        break;
    default:
        break;
    }
    if (!value.bytes.data)
        value.bytes = span_of("", 0);
    return value;
}

/* The columns that SQLite may read; all behind the 63rd share a bit. */
static bool sql_module_uses(const sqlite3_index_info *info, size_t column)
{
    return info->colUsed >> (column < 63 ? column : 63) & 1;
}

/* The values that are known now, for explanations. */
static void sql_module_note_values(struct sql_module *module, sqlite3_index_info *info,
                                   struct sql_choice *choice)
{
    choice->is_known = true;
    for (size_t i = 0; i < choice->taken_count; i++) {
        size_t constraint = choice->taken[i];
        struct sql_value *value = &choice->values[constraint];
        sqlite3_value *known = NULL;
        bool has_column = sql_module_op(info->aConstraint[constraint].op) != SQL_OP_LIMIT &&
                          info->aConstraint[constraint].iColumn >= 0;
        const struct sql_column *of =
            has_column ? &choice->table->columns->items[info->aConstraint[constraint].iColumn]
                       : &choice->table->columns->items[choice->table->columns->item];
        choice->texts[constraint] = of->is_text ? of->name : NULL;
        choice->is_list[constraint] = of->is_number && sqlite3_vtab_in(info, (int)constraint, -1);
        module->has_lists = module->has_lists || choice->is_list[constraint];
        if (sqlite3_vtab_rhs_value(info, (int)constraint, &known) == SQLITE_OK && known) {
            choice->is_literal[constraint] = true;
            *value = sql_module_read_value(known);
            value->bytes = arena_copy(&module->arena, value->bytes);
            continue;
        }
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        choice->is_known = false;
        buf_printf(&text, "{%s}", of->name);
        value->type = of->is_number ? SQL_INTEGER : of->is_binary ? SQL_BLOB : SQL_TEXT;
        value->bytes = arena_copy(&module->arena, buf_span(&text));
    }
}

/* Takes the access's constraints, in their order. The OFFSET is wanted with the LIMIT. */
static void sql_module_take(sqlite3_index_info *info, struct sql_choice *choice)
{
    bool limits = false;
    for (int i = 0; i < info->nConstraint; i++) {
        unsigned char op = info->aConstraint[i].op;
        bool takes = sql_access_takes(choice->access, (size_t)i);
        limits = limits || (takes && op == SQLITE_INDEX_CONSTRAINT_LIMIT);
        if (!takes &&
            !(limits && op == SQLITE_INDEX_CONSTRAINT_OFFSET && info->aConstraint[i].usable)) {
            choice->is_exact = choice->is_exact && op == SQLITE_INDEX_CONSTRAINT_LIMIT;
            continue;
        }
        choice->taken[choice->taken_count++] = (size_t)i;
        info->aConstraintUsage[i].argvIndex = (int)choice->taken_count;
        if (op == SQLITE_INDEX_CONSTRAINT_OFFSET)
            choice->offset = (size_t)i + 1;
        if (op == SQLITE_INDEX_CONSTRAINT_LIMIT)
            choice->limit = (size_t)i + 1;
    }
}

static struct sql_choice *sql_module_add_choice(struct sql_module *module, sqlite3_index_info *info,
                                                struct sql_table *table,
                                                const struct sql_wanted *wanted,
                                                const struct sql_access *access)
{
    struct arena *arena = &module->arena;
    struct sql_choice *choice = arena_alloc(arena, sizeof *choice);
    if (!choice)
        return NULL;
    *choice =
        (struct sql_choice){.next = module->choices,
                            .number = module->choice_count,
                            .table = table,
                            .access = access,
                            .constraint_count = wanted->constraint_count,
                            .is_ordered = wanted->order_count > 0 && sql_access_is_ordered(access),
                            .is_exact = true,
                            .needs_ids = &module->needs_ids};
    size_t count = wanted->constraint_count, columns = wanted->columns->count;
    choice->taken = arena_array(arena, count + 1, sizeof *choice->taken);
    choice->values = arena_array(arena, count + 1, sizeof *choice->values);
    choice->texts = arena_array(arena, count + 1, sizeof *choice->texts);
    choice->is_list = arena_array(arena, count + 1, sizeof *choice->is_list);
    choice->is_literal = arena_array(arena, count + 1, sizeof *choice->is_literal);
    choice->used = arena_array(arena, columns + 1, sizeof *choice->used);
    choice->at_used = arena_array(arena, columns + 1, sizeof *choice->at_used);
    if (arena->failed)
        return NULL;
    for (size_t i = 0; i < columns; i++) {
        choice->at_used[i] = choice->used_count;
        if (wanted->used[i])
            choice->used[choice->used_count++] = i;
    }
    sql_module_take(info, choice);
    sql_module_note_values(module, info, choice);
    module->choice_count++;
    module->choices = choice;
    return arena->failed ? NULL : choice;
}

/* SQLite 3.40 takes a plan that needs no other table for the only such plan, and tries no keys with
 * an IN list then. So a plan that any other is better than needs all usable values, behind the
 * TAKEN ones, and reads none of them. The number of values. */
static size_t sql_module_need_values(sqlite3_index_info *info, const struct sql_wanted *wanted,
                                     size_t taken, bool lists)
{
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *each = &info->aConstraint[i];
        bool is_needed = each->usable && each->op != SQLITE_INDEX_CONSTRAINT_LIMIT &&
                         each->op != SQLITE_INDEX_CONSTRAINT_OFFSET &&
                         (lists || !wanted->constraints[i].is_list) &&
                         info->aConstraintUsage[i].argvIndex == 0;
        taken += is_needed;
        if (is_needed)
            info->aConstraintUsage[i].argvIndex = (int)taken;
    }
    return taken;
}

/* Remembers the reason for the combination with the most usable constraints. */
static int sql_module_refuse(struct sql_module *module, sqlite3_index_info *info,
                             struct sql_table *table, const struct sql_wanted *wanted,
                             const struct error *err)
{
    if (err->kind == ERROR_NO_MEMORY)
        return sql_module_fault(module, err);
    size_t usable = 1 + sql_module_need_values(info, wanted, 0, true);
    if (usable > module->refused_usable) {
        module->refused = *err;
        module->refused_usable = usable;
    }
    struct sql_choice *choice = arena_alloc(&module->arena, sizeof *choice);
    if (!choice)
        return SQLITE_NOMEM;
    *choice = (struct sql_choice){.next = module->choices,
                                  .number = module->choice_count++,
                                  .table = table,
                                  .is_refused = true};
    module->choices = choice;
    info->idxNum = choice->number;
    info->estimatedCost = SQL_MODULE_REFUSED_COST;
    return SQLITE_OK;
}

static int sql_module_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct sql_vtab *vtab = (struct sql_vtab *)base;
    struct sql_module *module = vtab->module;
    struct sql_table *table = vtab->table;
    struct arena *arena = &module->arena;
    size_t columns = table->columns->count, count = (size_t)info->nConstraint;
    struct sql_constraint *constraints = arena_array(arena, count + 1, sizeof *constraints);
    struct sql_order *order = arena_array(arena, (size_t)info->nOrderBy + 1, sizeof *order);
    bool *used = arena_array(arena, columns + 1, sizeof *used);
    struct error err;
    if (!constraints || !order || !used)
        return SQLITE_NOMEM;
    struct sql_wanted wanted = {.columns = table->columns,
                                .table = table->shown,
                                .index = table->index,
                                .constraints = constraints,
                                .constraint_count = count,
                                .order = order,
                                .used = used,
                                .may_scan = module->may_scan || table->place->is_snapshot};
    for (int i = 0; i < info->nConstraint; i++)
        constraints[i] = sql_module_constraint(info, i);
    for (size_t i = 0; i < columns; i++)
        used[i] = sql_module_uses(info, i);
    bool may_order = !table->is_unordered;
    for (int i = 0; i < info->nOrderBy; i++) {
        may_order = may_order && info->aOrderBy[i].iColumn >= 0;
        order[i] = (struct sql_order){.column = may_order ? (size_t)info->aOrderBy[i].iColumn : 0,
                                      .descending = info->aOrderBy[i].desc};
    }
    wanted.order_count = may_order ? (size_t)info->nOrderBy : 0;
    const struct sql_access *access = sql_access_find(&wanted, arena, &err);
    if (!access)
        return sql_module_refuse(module, info, table, &wanted, &err);
    struct sql_choice *choice = sql_module_add_choice(module, info, table, &wanted, access);
    if (!choice)
        return SQLITE_NOMEM;
    if (sql_access_kind_of(access) == SQL_ACCESS_SCAN)
        sql_module_need_values(info, &wanted, choice->taken_count, false);
    info->idxNum = choice->number;
    info->orderByConsumed = choice->is_ordered;
    info->estimatedCost = sql_access_cost(access);
    info->estimatedRows = (sqlite3_int64)sql_access_rows(access);
    info->idxFlags = sql_access_is_unique(access) ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    return SQLITE_OK;
}

static int sql_module_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    struct sql_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->vtab = (struct sql_vtab *)vtab;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int sql_module_close(sqlite3_vtab_cursor *base)
{
    struct sql_cursor *cursor = (struct sql_cursor *)base;
    sql_reader_clean_up(&cursor->reader);
    arena_clean_up(&cursor->arena);
    free(cursor);
    return SQLITE_OK;
}

struct sql_choice *sql_module_find_choice(const struct sql_module *module, int number)
{
    struct sql_choice *choice = module->choices;
    while (choice && choice->number != number)
        choice = choice->next;
    return choice;
}

/* The LIMIT is that of the rows that SQLite wants, those in front of the OFFSET included. */
static void sql_module_add_offset(const struct sql_choice *choice, struct sql_value *values)
{
    if (!choice->offset)
        return;
    const struct sql_value *offset = &values[choice->offset - 1];
    struct sql_value *limit = &values[choice->limit - 1];
    int64_t sum;
    if (limit->type != SQL_INTEGER || offset->type != SQL_INTEGER || limit->integer < 0)
        return;
    if (offset->integer > 0 && !__builtin_add_overflow(limit->integer, offset->integer, &sum))
        limit->integer = sum;
    else if (offset->integer > 0)
        limit->integer = INT64_MAX;
}

/* A text is compared with a literal number by its text. With a number column SQLite compares
 * numbers, so that '1' and '1.0' are equal to 1; with any other column, no text is. Keys lead to
 * neither result. SQLite converts the texts of an IN list to REALs. */
static bool sql_cursor_admits_value(const struct sql_cursor *cursor, size_t constraint,
                                    const struct sql_value *value, struct error *err)
{
    const struct sql_module *module = cursor->vtab->module;
    const struct sql_choice *choice = cursor->choice;
    bool is_number = value->type == SQL_INTEGER || value->type == SQL_REAL;
    bool has_cast = module->text && strcasestr(module->text, "cast");
    if (is_number && choice->is_list[constraint] && sql_lost_has(&module->lost, value))
        return error_set(err, ERROR_INVALID,
                         "a number in a list of %s loses digits in SQLite; write the number as a "
                         "text, in single quotes, behind =",
                         choice->table->shown);
    if (!is_number || !choice->texts[constraint] || (choice->is_literal[constraint] && !has_cast))
        return true;
    return error_set(err, ERROR_INVALID,
                     "%s.%s is a text, and is compared with a number; write cast(… as text) around "
                     "the number",
                     choice->table->shown, choice->texts[constraint]);
}

static bool sql_cursor_begin(struct sql_cursor *cursor, sqlite3_value **argv, struct error *err)
{
    struct sql_module *module = cursor->vtab->module;
    struct sql_choice *choice = cursor->choice;
    struct sql_lookup *lookups = NULL;
    size_t count = 0;
    arena_clean_up(&cursor->arena);
    struct sql_value *values =
        arena_array(&cursor->arena, choice->constraint_count + 1, sizeof *values);
    if (!values)
        return error_no_memory(err);
    for (size_t i = 0; i < choice->taken_count; i++)
        values[choice->taken[i]] = sql_module_read_value(argv[i]);
    for (size_t i = 0; i < choice->taken_count; i++)
        if (!sql_cursor_admits_value(cursor, choice->taken[i], &values[choice->taken[i]], err))
            return false;
    sql_module_add_offset(choice, values);
    for (size_t i = 0; i < choice->used_count; i++)
        if (!sql_table_use(choice->table, choice->used[i]))
            return error_no_memory(err);
    sql_module_limit_heap(module);
    if (!sql_access_bind(choice->access, values, &cursor->arena, &lookups, &count, err))
        return false;
    if (count == 0 && choice->is_known) {
        CLEAN_UP(buf_clean_up) struct buf why = {0};
        sql_access_write_void(choice->access, values, &why);
        if (why.failed || !sql_table_note_void(choice->table, buf_span(&why)))
            return error_no_memory(err);
    }
    return sql_reader_begin(&cursor->reader, module->reads, choice, lookups, count, err);
}

static int sql_module_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                             sqlite3_value **argv)
{
    struct sql_cursor *cursor = (struct sql_cursor *)base;
    struct sql_module *module = cursor->vtab->module;
    struct sql_choice *choice = sql_module_find_choice(module, number);
    struct error err = {0};
    (void)argc, (void)text;
    if (choice != cursor->choice)
        sql_reader_clean_up(&cursor->reader);
    cursor->choice = choice;
    bool ok = sql_cursor_begin(cursor, argv, &err);
    arena_clean_up(&cursor->arena);
    if (ok)
        return SQLITE_OK;
    return module->reads->is_full ? SQLITE_ABORT : sql_module_fault(module, &err);
}

static int sql_module_next(sqlite3_vtab_cursor *base)
{
    struct sql_cursor *cursor = (struct sql_cursor *)base;
    struct sql_module *module = cursor->vtab->module;
    struct error err = {0};
    if (sql_reader_next(&cursor->reader, &err))
        return SQLITE_OK;
    return module->reads->is_full ? SQLITE_ABORT : sql_module_fault(module, &err);
}

static int sql_module_eof(sqlite3_vtab_cursor *base)
{
    return ((struct sql_cursor *)base)->reader.is_at_end;
}

static int sql_module_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct sql_cursor *cursor = (struct sql_cursor *)base;
    const struct sql_choice *choice = cursor->choice;
    size_t at = choice->at_used[column];
    struct error err;
    if (at >= choice->used_count || choice->used[at] != (size_t)column) {
        error_set(&err, ERROR_INVALID, "SQLite reads column %d of %s, which it did not announce",
                  column, choice->table->shown);
        return sql_module_fault(cursor->vtab->module, &err);
    }
    struct sql_module *module = cursor->vtab->module;
    const struct sql_value *value = &cursor->reader.values[at];
    sql_types_note(&module->types, value);
    if (module->has_lists && value->type == SQL_TEXT && !sql_lost_add(&module->lost, value->bytes))
        return SQLITE_NOMEM;
    switch (value->type) {
    case SQL_NULL:
        sqlite3_result_null(context);
        break;
    case SQL_INTEGER:
        sqlite3_result_int64(context, value->integer);
        break;
    case SQL_REAL:
        sqlite3_result_double(context, value->real);
        break;
    case SQL_TEXT:
        sqlite3_result_text64(context, value->bytes.data, value->bytes.size, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        break;
    case SQL_BLOB:
        sqlite3_result_blob64(context, value->bytes.data, value->bytes.size, SQLITE_TRANSIENT);
        break;
    }
    sqlite3_result_subtype(context, value->attribute);
    return SQLITE_OK;
}

static int sql_module_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct sql_cursor *)base)->reader.id;
    return SQLITE_OK;
}

/* Functions. */

enum { SQL_MODULE_JSON = 'J' }; /* the subtype of results of SQLite's functions */

/* The value of an argument, with the type of its attribute if that reached the function. */
static struct sql_value sql_module_read_argument(sqlite3_value *from)
{
    struct sql_value value = sql_module_read_value(from);
    unsigned type = sqlite3_value_subtype(from);
    if (type < SQL_OF_COUNT)
        value.attribute = (enum sql_attribute)type;
    else if (type == SQL_MODULE_JSON && span_starts(value.bytes, SPAN_LITERAL("[")))
        value.attribute = SQL_OF_L;
    else if (type == SQL_MODULE_JSON && span_starts(value.bytes, SPAN_LITERAL("{")))
        value.attribute = SQL_OF_M;
    return value;
}

/* The place behind the literal TEXT, whose opening quote is at AT; NULL if another literal is
 * there. */
static const char *sql_module_skip_literal(const char *at, struct span text)
{
    at++;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'' && *at++ != '\'')
            return NULL;
        if (*at == '\0' || *at++ != text.data[i])
            return NULL;
    }
    return *at == '\'' && at[1] != '\'' ? at + 1 : NULL;
}

/* Whether the statement has the literal TEXT as the last argument of a function. */
static bool sql_module_has_argument(const struct sql_module *module, struct span text)
{
    const char *at = module->text ? strchr(module->text, '\'') : NULL;
    for (; at; at = strchr(at + 1, '\'')) {
        const char *behind = sql_module_skip_literal(at, text);
        if (behind && behind[strspn(behind, " \t\r\n")] == ')')
            return true;
    }
    return false;
}

/* The second argument: a literal text has a type of its own, because no type of it was lost. */
static struct sql_value sql_module_read_wanted(const struct sql_module *module, sqlite3_value *from)
{
    struct sql_value value = sql_module_read_argument(from);
    if (value.type == SQL_TEXT && value.attribute == SQL_OF_NONE &&
        sql_module_has_argument(module, value.bytes))
        value.attribute = SQL_OF_LITERAL;
    return value;
}

typedef bool sql_module_test_fn(const struct sql_types *types, const struct sql_value *in,
                                const struct sql_value *wanted, bool *result, struct error *err);

static void sql_module_test(sqlite3_context *context, sqlite3_value **argv, sql_module_test_fn *fn)
{
    struct sql_module *module = sqlite3_user_data(context);
    struct sql_value in = sql_module_read_argument(argv[0]),
                     wanted = sql_module_read_wanted(module, argv[1]);
    struct error err;
    bool result;
    if (fn(&module->types, &in, &wanted, &result, &err))
        sqlite3_result_int(context, result);
    else
        sqlite3_result_error_code(context, sql_module_fault(module, &err));
}

static void sql_module_begins_with(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    sql_module_test(context, argv, sql_functions_begins_with);
}

static void sql_module_contains(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    sql_module_test(context, argv, sql_functions_contains);
}

/* Sums. */

/* The state of sum(), total(), avg() and decimal_sum(). A window also takes values out. */
struct sql_sum {
    struct decimal_sum sum;
    int64_t count;             /* of the values that are not NULL */
    int64_t reals;             /* of these, those that are no INTEGER in SQLite */
    int64_t others;            /* those that are no number */
    int64_t highs, lows, nans; /* infinite REALs, and REALs that are no number */
};

static void sql_sum_take_infinite(struct sql_sum *sum, double real, int sign)
{
    sum->nans += isnan(real) ? sign : 0;
    sum->highs += !isnan(real) && real > 0 ? sign : 0;
    sum->lows += real < 0 ? sign : 0;
}

/* A text counts as the number that it is, with all digits; any other text as SQLite takes it. */
static void sql_sum_take(struct sql_sum *sum, sqlite3_value *from, int sign)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct sql_value value = sql_module_read_value(from);
    bool is_number = value.type == SQL_INTEGER || value.type == SQL_REAL ||
                     (value.type == SQL_TEXT && number_is(value.bytes));
    if (value.type == SQL_NULL)
        return;
    if (is_number && (value.type != SQL_REAL || isfinite(value.real)))
        sql_value_write_number(&value, &text);
    bool added = text.size > 0 && decimal_sum_add(&sum->sum, buf_span(&text), sign);
    sum->count += sign;
    sum->others += is_number ? 0 : sign;
    sum->reals += sqlite3_value_numeric_type(from) != SQLITE_INTEGER ? sign : 0;
    value = (struct sql_value){.type = SQL_REAL, .real = added ? 0 : sqlite3_value_double(from)};
    if (added || value.real == 0)
        return;
    buf_truncate(&text, 0);
    if (isfinite(value.real))
        sql_value_write_number(&value, &text);
    if (!isfinite(value.real) || !decimal_sum_add(&sum->sum, buf_span(&text), sign))
        sql_sum_take_infinite(sum, value.real, sign);
}

static void sql_sum_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct sql_sum *sum = sqlite3_aggregate_context(context, sizeof *sum);
    (void)argc;
    if (sum)
        sql_sum_take(sum, argv[0], 1);
    else
        sqlite3_result_error_nomem(context);
}

static void sql_sum_invert(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct sql_sum *sum = sqlite3_aggregate_context(context, sizeof *sum);
    (void)argc;
    if (sum)
        sql_sum_take(sum, argv[0], -1);
}

/* The REAL that is nearest to the exact sum, or to the exact mean. NaN: SQLite's NULL. */
static double sql_sum_real(const struct sql_sum *sum, bool is_mean)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct decimal_sum copy = sum->sum;
    if (sum->nans > 0 || (sum->highs > 0 && sum->lows > 0))
        return NAN;
    if (sum->highs > 0 || sum->lows > 0)
        return sum->highs > 0 ? INFINITY : -INFINITY;
    if (is_mean)
        decimal_sum_divide(&copy, (uint64_t)sum->count);
    decimal_sum_write(&copy, &text);
    return text.failed ? NAN : strtod(buf_text(&text), NULL);
}

static void sql_sum_return(sqlite3_context *context, struct span text)
{
    struct sql_value value = sql_value_of_number(text);
    if (value.type == SQL_INTEGER)
        sqlite3_result_int64(context, value.integer);
    else if (value.type == SQL_REAL)
        sqlite3_result_double(context, value.real);
    else
        sqlite3_result_text64(context, text.data, text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* sum(): an INTEGER of INTEGERs, else the nearest REAL. */
static void sql_sum_value(sqlite3_context *context)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct sql_sum *sum = sqlite3_aggregate_context(context, 0);
    if (!sum || sum->count == 0)
        return;
    if (sum->reals > 0) {
        sqlite3_result_double(context, sql_sum_real(sum, false));
        return;
    }
    decimal_sum_write(&sum->sum, &text);
    if (text.failed)
        sqlite3_result_error_nomem(context);
    else if (sql_value_of_number(buf_span(&text)).type == SQL_INTEGER)
        sql_sum_return(context, buf_span(&text));
    else
        sqlite3_result_error(context,
                             "the sum has more digits than an INTEGER; write decimal_sum()", -1);
}

static void sql_sum_total(sqlite3_context *context)
{
    const struct sql_sum *sum = sqlite3_aggregate_context(context, 0);
    sqlite3_result_double(context, sum ? sql_sum_real(sum, false) : 0);
}

static void sql_sum_mean(sqlite3_context *context)
{
    const struct sql_sum *sum = sqlite3_aggregate_context(context, 0);
    if (sum && sum->count > 0)
        sqlite3_result_double(context, sql_sum_real(sum, true));
}

/* decimal_sum(): as an attribute of type N, with all digits. */
static void sql_sum_decimal(sqlite3_context *context)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct sql_sum *sum = sqlite3_aggregate_context(context, 0);
    if (!sum || sum->count == 0)
        return;
    decimal_sum_write(&sum->sum, &text);
    if (text.failed)
        sqlite3_result_error_nomem(context);
    else if (sum->others > 0 || sum->nans > 0 || sum->highs > 0 || sum->lows > 0)
        sqlite3_result_error(context,
                             "decimal_sum() has a value that is no number; leave it out: "
                             "filter (where …)",
                             -1);
    else
        sql_sum_return(context, buf_span(&text));
}

static bool sql_module_register_sums(sqlite3 *handle)
{
    static const struct {
        const char *name;
        void (*value)(sqlite3_context *context);
    } rows[] = {{"sum", sql_sum_value},
                {"total", sql_sum_total},
                {"avg", sql_sum_mean},
                {"decimal_sum", sql_sum_decimal}};
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    bool ok = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok = ok && sqlite3_create_window_function(handle, rows[i].name, 1, flags, NULL,
                                                  sql_sum_step, rows[i].value, rows[i].value,
                                                  sql_sum_invert, NULL) == SQLITE_OK;
    return ok;
}

/* SQLite passes begins_with(column, …) to xBestIndex. */
static int sql_module_find_function(sqlite3_vtab *vtab, int argc, const char *name,
                                    void (**fn)(sqlite3_context *, int, sqlite3_value **),
                                    void **arg)
{
    if (argc != 2 || sqlite3_stricmp(name, "begins_with") != 0)
        return 0;
    *fn = sql_module_begins_with;
    *arg = ((struct sql_vtab *)vtab)->module;
    return SQL_MODULE_BEGINS;
}

static const sqlite3_module sql_module_methods = {
    .xCreate = sql_module_create,
    .xConnect = sql_module_connect,
    .xBestIndex = sql_module_best_index,
    .xDisconnect = sql_module_disconnect,
    .xDestroy = sql_module_disconnect,
    .xOpen = sql_module_open,
    .xClose = sql_module_close,
    .xFilter = sql_module_filter,
    .xNext = sql_module_next,
    .xEof = sql_module_eof,
    .xColumn = sql_module_column,
    .xRowid = sql_module_rowid,
    .xFindFunction = sql_module_find_function,
};

bool sql_module_register(struct sql_module *module, sqlite3 *handle)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | SQLITE_SUBTYPE;
    return sqlite3_create_module(handle, "ddbfs", &sql_module_methods, module) == SQLITE_OK &&
           sql_module_register_sums(handle) &&
           sqlite3_create_function(handle, "begins_with", 2, flags, module, sql_module_begins_with,
                                   NULL, NULL) == SQLITE_OK &&
           sqlite3_create_function(handle, "contains", 2, flags, module, sql_module_contains, NULL,
                                   NULL) == SQLITE_OK;
}
