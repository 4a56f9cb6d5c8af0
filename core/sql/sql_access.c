#include "core/sql/sql_access.h"

#include "core/sql/sql_filter.h"
#include "core/sql/sql_target.h"

/* Estimates. A request costs as much as a few rows; a Scan reads everything. */
#define SQL_ACCESS_REQUEST 5.0
#define SQL_ACCESS_NARROW_ROWS 20.0
#define SQL_ACCESS_PARTITION_ROWS 200.0
#define SQL_ACCESS_TABLE_ROWS 1000000.0

/* Ways: the sets of columns that lead to rows. */

struct sql_way {
    size_t columns[SQL_TARGET_MOST_KEYS * FORMAT_MAX_PIECES];
    size_t count;
};

struct sql_ways {
    const struct sql_columns *columns;
    const struct map_index *named;   /* the statement's index, or NULL */
    const struct sql_wanted *wanted; /* NULL: of no statement */
    struct arena arena;              /* of all that is found out on the way */
    struct sql_way *list;
    size_t count;
};

static bool sql_way_has(const struct sql_way *way, size_t column)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->columns[i] == column)
            return true;
    return false;
}

static void sql_way_add(struct sql_way *way, const struct sql_columns *columns, size_t column)
{
    if (column < columns->count && !sql_way_has(way, column))
        way->columns[way->count++] = column;
}

/* Whether values for these columns find rows by INDEX (NULL: the table). */
static bool sql_way_leads(struct sql_ways *ways, const struct sql_way *way,
                          const struct map_index *index)
{
    struct sql_target target;
    struct sql_constraint *constraints = arena_array(&ways->arena, way->count, sizeof *constraints);
    if (!constraints || way->count == 0)
        return false;
    for (size_t i = 0; i < way->count; i++)
        constraints[i] = (struct sql_constraint){way->columns[i], SQL_OP_EQ, true, false};
    struct sql_wanted wanted = {.columns = ways->columns,
                                .index = ways->named,
                                .constraints = constraints,
                                .constraint_count = way->count};
    return sql_target_find(&wanted, index, &ways->arena, &target) && target.case_count > 0;
}

/* Appends the way, unless one that is listed is part of it. */
static void sql_ways_add(struct sql_ways *ways, const struct sql_way *way)
{
    for (size_t i = 0; i < ways->count; i++) {
        size_t shared = 0;
        for (size_t k = 0; k < ways->list[i].count; k++)
            shared += sql_way_has(way, ways->list[i].columns[k]);
        if (shared == ways->list[i].count)
            return;
    }
    struct sql_way *list = arena_array(&ways->arena, ways->count + 1, sizeof *list);
    if (!list)
        return;
    if (ways->count > 0)
        memcpy(list, ways->list, ways->count * sizeof *list);
    list[ways->count++] = *way;
    ways->list = list;
}

static const struct map_key *sql_access_key(const struct model *model,
                                            const struct map_index *index, size_t i)
{
    if (index)
        return model_index_key(index, i);
    return i < model->key_count ? &model->keys[i] : NULL;
}

static size_t sql_access_partition_count(const struct map_index *index)
{
    return index ? index->partition_count : 1;
}

/* Adds the columns of the key attribute to WAY: of its parts in KIND, or of itself. With UNTIL, no
 * more than are needed. Whether they lead to rows then. */
static bool sql_ways_extend(struct sql_ways *ways, struct sql_way *way,
                            const struct map_index *index, const struct map_key *key,
                            const struct map_kind *kind, bool until)
{
    const struct sql_columns *columns = ways->columns;
    const struct format *format = kind ? model_key_format(columns->model, key, kind) : NULL;
    if (!kind)
        sql_way_add(way, columns, sql_columns_find_part(columns, key->attribute));
    for (size_t i = 0; format && i < format->count; i++) {
        if (!format->pieces[i].param)
            continue;
        if (until && sql_way_leads(ways, way, index))
            return true;
        sql_way_add(way, columns, sql_columns_find_part(columns, format->pieces[i].param));
    }
    return sql_way_leads(ways, way, index);
}

/* Adds the least set of parts by which KIND (NULL: the attributes themselves) is found by INDEX:
 * those of the partition, and as many behind them as are needed. */
static bool sql_ways_find(struct sql_ways *ways, const struct map_index *index,
                          const struct map_kind *kind)
{
    const struct map_key *key;
    struct sql_way way = {0};
    bool leads = false;
    if (ways->named && ways->named != index)
        return false;
    for (size_t i = 0; (key = sql_access_key(ways->columns->model, index, i)); i++) {
        bool is_sort = i >= sql_access_partition_count(index);
        if (is_sort && leads)
            break;
        leads = sql_ways_extend(ways, &way, index, key, kind, is_sort);
    }
    if (leads)
        sql_ways_add(ways, &way);
    return leads;
}

/* Whether the statement has a condition on a partition attribute of INDEX. */
static bool sql_ways_asks_for(const struct sql_ways *ways, const struct map_index *index)
{
    for (size_t i = 0; ways->wanted && i < index->partition_count; i++) {
        size_t column = sql_columns_find_part(ways->columns, index->partition[i].attribute);
        for (size_t k = 0; k < ways->wanted->constraint_count; k++)
            if (sql_target_needs_value(&ways->wanted->constraints[k]) &&
                ways->wanted->constraints[k].column == column)
                return true;
    }
    return false;
}

/* Whether some listed way finds items of KIND: they have all of its parts. */
static bool sql_ways_reach(const struct sql_ways *ways, const struct map_kind *kind)
{
    const struct sql_columns *columns = ways->columns;
    for (size_t i = 0; i < ways->count; i++) {
        bool reaches = true;
        for (size_t k = 0; reaches && k < ways->list[i].count; k++) {
            size_t at = ways->list[i].columns[k];
            enum sql_origin_place place = sql_columns_origin(columns, at, kind).place;
            reaches = columns->items[at].role == SQL_ATTRIBUTE || place == SQL_FROM_KEY ||
                      place == SQL_FROM_INDEX;
        }
        if (reaches)
            return true;
    }
    return false;
}

/* In the order of the map's paths; then the others; then attributes of keys, for items that no part
 * leads to. */
static void sql_ways_fill(struct sql_ways *ways)
{
    const struct model *model = ways->columns->model;
    for (const struct map_pattern *each = model->patterns; each; each = each->next)
        for (size_t i = 0; i < each->kind_count; i++) {
            const struct map_kind *only = each->kinds[i] == model->any ? NULL : each->kinds[i];
            for (const struct map_kind *kind = only ? only : model->kinds; kind;
                 kind = only ? NULL : kind->next)
                sql_ways_find(ways, each->index, kind);
        }
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        sql_ways_find(ways, NULL, kind);
    for (const struct map_index *index = model->indexes; index; index = index->next) {
        bool leads = false;
        for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
            leads = sql_ways_find(ways, index, kind) || leads;
        if (!leads && sql_ways_asks_for(ways, index))
            sql_ways_find(ways, index, NULL);
    }
    bool all = ways->count > 0;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        all = all && sql_ways_reach(ways, kind);
    if (all)
        return;
    sql_ways_find(ways, NULL, NULL);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        sql_ways_find(ways, index, NULL);
}

static void sql_ways_write(struct sql_ways *ways, struct buf *out)
{
    sql_ways_fill(ways);
    for (size_t i = 0; i < ways->count; i++)
        for (size_t k = 0; k < ways->list[i].count; k++) {
            buf_add_text(out, k ? " and " : i ? "; " : "");
            buf_add_text(out, ways->columns->items[ways->list[i].columns[k]].name);
        }
    out->failed = out->failed || ways->arena.failed;
    arena_discard(&ways->arena);
}

void sql_access_write_ways(const struct sql_columns *columns, struct buf *out)
{
    struct sql_ways ways = {.columns = columns};
    sql_ways_write(&ways, out);
}

/* The kind whose items may have an attribute of the name of COLUMN, a part of other kinds' keys,
 * without a statement of the map; NULL for none. */
static const struct map_kind *sql_access_find_unstated(const struct sql_columns *columns,
                                                       size_t column)
{
    const struct map_kind *kind =
        columns->items[column].role == SQL_PART ? columns->model->kinds : NULL;
    while (kind &&
           (sql_columns_origin(columns, column, kind).place != SQL_FROM_ATTRIBUTE ||
            model_presence(columns->model, kind, columns->items[column].name) != MAP_UNSTATED))
        kind = kind->next;
    return kind;
}

/* Adds to ERR why constraints on parts do not lead to all rows. */
static void sql_access_hint_attributes(const struct sql_wanted *wanted, struct error *err)
{
    for (size_t i = 0; i < wanted->constraint_count; i++) {
        const struct sql_constraint *each = &wanted->constraints[i];
        const struct map_kind *kind = sql_target_needs_value(each)
                                          ? sql_access_find_unstated(wanted->columns, each->column)
                                          : NULL;
        if (!kind)
            continue;
        error_add(err,
                  "; items of the kind %s may have the attribute %s, unless \"attributes\" of the "
                  "map excludes it",
                  kind->name, wanted->columns->items[each->column].name);
        return;
    }
}

static const struct sql_access *sql_access_refuse(const struct sql_wanted *wanted,
                                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct sql_ways ways = {.columns = wanted->columns, .named = wanted->index, .wanted = wanted};
    sql_ways_write(&ways, &text);
    bool several = strstr(buf_text(&text), "; ");
    if (text.failed) {
        error_no_memory(err);
        return NULL;
    }
    error_set(err, ERROR_INVALID, "%s needs %s%s", wanted->table, several ? "one of: " : "",
              text.size > 0 ? buf_text(&text) : "the name of an index, \"table\".\"index\"");
    sql_access_hint_attributes(wanted, err);
    return NULL;
}

/* Accesses. */

static bool sql_access_same_partition(const struct sql_target *target, const struct sql_case *a,
                                      const struct sql_case *b)
{
    for (size_t i = 0; i < target->partition_count; i++)
        if (a->formats[i] != b->formats[i] &&
            (!a->formats[i] || !b->formats[i] || !format_equal(a->formats[i], b->formats[i])))
            return false;
    return true;
}

/* The number of partitions that are read, at most. */
static size_t sql_access_partitions(const struct sql_target *target)
{
    size_t count = 0;
    for (size_t i = 0; i < target->case_count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new =
                is_new && !sql_access_same_partition(target, &target->cases[i], &target->cases[k]);
        count += is_new;
    }
    return count;
}

/* Marks the constraints that narrow the keys. The number of attributes that are fixed in all cases,
 * from the first on. NARROWS is set if a constraint narrows the first of the others. */
static size_t sql_access_note_keys(const struct sql_wanted *wanted, const struct sql_target *target,
                                   bool *in_key, bool *narrows)
{
    size_t fixed = target->key_count;
    for (size_t i = 0; i < target->case_count; i++) {
        size_t own = 0, marked = 0, before = 0;
        while (own < target->key_count &&
               sql_target_fixes(wanted, target, &target->cases[i], own, in_key)) {
            own++;
            before = 0;
            for (size_t k = 0; k < wanted->constraint_count; k++)
                before += in_key[k];
        }
        for (size_t k = 0; k < wanted->constraint_count; k++)
            marked += in_key[k];
        *narrows = *narrows || marked > before;
        fixed = own < fixed ? own : fixed;
    }
    return fixed;
}

/* Whether the index has what COLUMN reads in its items of KIND. */
static bool sql_access_holds(const struct sql_wanted *wanted, const struct map_index *index,
                             size_t column, const struct map_kind *kind)
{
    const struct model *model = wanted->columns->model;
    struct sql_origin origin = sql_columns_origin(wanted->columns, column, kind);
    if (origin.place == SQL_FROM_KEY || origin.place == SQL_FROM_NOWHERE)
        return true;
    if (origin.place == SQL_FROM_INDEX && !model_index_holds(model, index, origin.key->attribute))
        return false;
    bool is_part = origin.place == SQL_FROM_INDEX && !origin.or_attribute;
    const struct map_key *key;
    for (size_t i = 0; !is_part && (key = model_index_key(index, i)); i++)
        is_part = sql_target_is_part_of(model, origin, key, kind) &&
                  sql_target_is_promised(model, kind, index);
    return is_part || model_index_holds(model, index, wanted->columns->items[column].name);
}

/* Whether the index lacks a column that the statement uses. Rows of kinds without a case are
 * dropped, whatever their columns are. */
static bool sql_access_must_hydrate(const struct sql_wanted *wanted, const struct map_index *index,
                                    const struct sql_target *target)
{
    const struct sql_columns *columns = wanted->columns;
    bool all = target->case_count == 0 || !target->cases[0].kind;
    if (!index || index->projects == PROJECTS_ALL)
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        if (!wanted->used[i])
            continue;
        if (columns->items[i].role == SQL_ITEM ||
            (all && !sql_access_holds(wanted, index, i, NULL)))
            return true;
        const struct map_kind *kind = all ? columns->model->kinds : NULL;
        for (; kind; kind = kind->next)
            if (!sql_access_holds(wanted, index, i, kind))
                return true;
        for (size_t k = 0; !all && k < target->case_count; k++)
            if (!sql_access_holds(wanted, index, i, target->cases[k].kind))
                return true;
    }
    return false;
}

/* Whether a path of the map reads one item of the kind through the index by fewer values. */
static bool sql_access_reads_one(const struct sql_target *target, const struct model *model)
{
    for (const struct map_pattern *each = model->patterns; target->index && each;
         each = each->next) {
        if (each->list || each->index != target->index || each->pick != PICK_NONE ||
            each->where_count != target->partition_count)
            continue;
        for (size_t i = 0; target->case_count == 1 && i < each->kind_count; i++)
            if (each->kinds[i] == target->cases[0].kind)
                return true;
    }
    return false;
}

static void sql_access_estimate(const struct sql_wanted *wanted, struct sql_access *access,
                                size_t fixed, bool narrows)
{
    const struct sql_target *target = &access->target;
    double partitions = (double)sql_access_partitions(target), rows = SQL_ACCESS_PARTITION_ROWS;
    if (access->kind == SQL_ACCESS_KEYS) {
        access->rows = (double)target->case_count;
        access->cost = access->rows;
        access->is_unique = target->case_count == 1;
        return;
    }
    if (sql_access_reads_one(target, wanted->columns->model))
        rows = 1;
    else if (fixed == target->key_count)
        rows = 2;
    else if (narrows || fixed > target->partition_count)
        rows = SQL_ACCESS_NARROW_ROWS;
    access->rows = partitions * rows;
    access->cost = partitions * SQL_ACCESS_REQUEST + access->rows;
    if (access->hydrates)
        access->cost += SQL_ACCESS_REQUEST + access->rows;
}

static void sql_access_note_filter(const struct sql_wanted *wanted, struct sql_access *access)
{
    for (size_t i = 0; i < wanted->constraint_count; i++)
        access->in_filter[i] =
            !access->in_key[i] &&
            sql_filter_accepts(wanted->columns, access->target.index, &wanted->constraints[i]);
}

/* Order. */

/* Whether all wanted rows have one value. */
static bool sql_access_is_constant(const struct sql_wanted *wanted, size_t column)
{
    for (size_t i = 0; i < wanted->constraint_count; i++) {
        const struct sql_constraint *each = &wanted->constraints[i];
        if (each->is_usable && each->op == SQL_OP_EQ && !each->is_list && each->column == column)
            return true;
    }
    return false;
}

/* Copies the wanted order without columns that have one value. */
static void sql_access_note_order(const struct sql_wanted *wanted, struct arena *arena,
                                  struct sql_access *access)
{
    access->order = arena_array(arena, wanted->order_count, sizeof *access->order);
    for (size_t i = 0; access->order && i < wanted->order_count; i++)
        if (!sql_access_is_constant(wanted, wanted->order[i].column))
            access->order[access->order_count++] = wanted->order[i];
}

/* A place in the wanted order, while keys are compared with it. */
struct sql_order_walk {
    const struct sql_wanted *wanted;
    const struct sql_access *access;
    size_t done;
    bool failed;
};

/* Takes COLUMN, the next one by which the keys are ordered. False at the end of the common order.
 */
static bool sql_access_walk_column(struct sql_order_walk *walk, size_t column)
{
    const struct sql_access *access = walk->access;
    if (walk->done == access->order_count)
        return false;
    if (sql_access_is_constant(walk->wanted, column))
        return true;
    walk->failed = access->order[walk->done].column != column ||
                   access->order[walk->done].descending != access->order[0].descending;
    walk->done += !walk->failed;
    return !walk->failed;
}

/* Formats of several kinds must begin alike, or their keys are mixed in another order. */
static bool sql_access_walk_format(struct sql_order_walk *walk, const struct sql_case *each,
                                   size_t key)
{
    const struct sql_columns *columns = walk->access->columns;
    const struct format *format = each->formats[key];
    for (size_t i = 0; format && i < format->count; i++) {
        const char *param = format->pieces[i].param;
        size_t column = param ? sql_columns_find_part(columns, param) : 0;
        for (size_t k = 0; k < walk->access->target.case_count; k++) {
            const struct format *other = walk->access->target.cases[k].formats[key];
            struct format one = {&format->pieces[i], 1};
            if (!other || i >= other->count ||
                !format_equal(&one, &(struct format){&other->pieces[i], 1}))
                walk->failed = true;
        }
        walk->failed = walk->failed || (param && column == columns->count);
        if (walk->failed || (param && !sql_access_walk_column(walk, column)))
            return false;
    }
    walk->failed = walk->failed || !format;
    return !walk->failed;
}

/* The column that is the key attribute in the items of all cases; COUNT for none. */
static size_t sql_access_find_own(const struct sql_access *access, const struct map_key *key)
{
    size_t own = access->columns->count;
    for (size_t i = 0; i < access->target.case_count; i++) {
        own = sql_target_find_own(access->columns, key, access->target.cases[i].kind);
        if (own == access->columns->count)
            break;
    }
    return own;
}

/* Whether the keys are probably ordered as wanted; sql_access_keeps_order tests it row by row. */
static bool sql_access_follows_order(const struct sql_wanted *wanted,
                                     const struct sql_access *access)
{
    const struct sql_target *target = &access->target;
    struct sql_order_walk walk = {wanted, access, 0, false};
    if (access->order_count == 0 || access->is_unique || access->kind == SQL_ACCESS_NONE)
        return true;
    if (access->kind != SQL_ACCESS_QUERY || sql_access_partitions(target) != 1)
        return false;
    for (size_t i = target->partition_count; i < target->key_count; i++) {
        size_t own = sql_access_find_own(access, target->keys[i]);
        bool by_own =
            walk.done < access->order_count && own < access->columns->count &&
            (access->order[walk.done].column == own || sql_access_is_constant(wanted, own));
        if (walk.done == access->order_count ||
            !(by_own ? sql_access_walk_column(&walk, own)
                     : sql_access_walk_format(&walk, &target->cases[0], i)))
            break;
    }
    /* The table's key has no ties, so columns behind it change nothing. */
    bool all = !target->index && !walk.failed && walk.done > 0;
    return !walk.failed && (walk.done == access->order_count || all);
}

/* The access by one target; NULL if it does not find every wanted row. */
static struct sql_access *sql_access_try(const struct sql_wanted *wanted,
                                         const struct map_index *index, struct arena *arena)
{
    struct sql_access *access = arena_alloc(arena, sizeof *access);
    bool narrows = false;
    if (!access || !sql_target_find(wanted, index, arena, &access->target))
        return NULL;
    access->columns = wanted->columns;
    access->constraint_count = wanted->constraint_count;
    access->in_key = arena_array(arena, wanted->constraint_count, sizeof(bool));
    access->in_filter = arena_array(arena, wanted->constraint_count, sizeof(bool));
    if (!access->in_key || !access->in_filter)
        return NULL;
    size_t fixed = sql_access_note_keys(wanted, &access->target, access->in_key, &narrows);
    bool is_key = !index && fixed == access->target.key_count;
    access->kind = access->target.case_count == 0 ? SQL_ACCESS_NONE
                   : is_key                       ? SQL_ACCESS_KEYS
                                                  : SQL_ACCESS_QUERY;
    access->hydrates = sql_access_must_hydrate(wanted, index, &access->target);
    if (access->kind != SQL_ACCESS_NONE)
        sql_access_estimate(wanted, access, fixed, narrows);
    if (access->kind == SQL_ACCESS_QUERY)
        sql_access_note_filter(wanted, access);
    return access;
}

static struct sql_access *sql_access_scan(const struct sql_wanted *wanted, struct arena *arena)
{
    struct sql_access *access = arena_alloc(arena, sizeof *access);
    const struct sql_target all = {0};
    if (!access)
        return NULL;
    *access = (struct sql_access){.kind = SQL_ACCESS_SCAN,
                                  .columns = wanted->columns,
                                  .target.index = wanted->index,
                                  .constraint_count = wanted->constraint_count,
                                  .hydrates = sql_access_must_hydrate(wanted, wanted->index, &all),
                                  .rows = SQL_ACCESS_TABLE_ROWS,
                                  .cost = 2 * SQL_ACCESS_TABLE_ROWS};
    access->in_key = arena_array(arena, wanted->constraint_count, sizeof(bool));
    access->in_filter = arena_array(arena, wanted->constraint_count, sizeof(bool));
    if (access->in_key && access->in_filter)
        sql_access_note_filter(wanted, access);
    return access;
}

/* Of targets that cost the same, the first: the table before its indexes. */
static struct sql_access *sql_access_choose(const struct sql_wanted *wanted, struct arena *arena)
{
    const struct map_index *index = wanted->columns->model->indexes;
    struct sql_access *best = wanted->index ? NULL : sql_access_try(wanted, NULL, arena);
    for (; index; index = index->next) {
        struct sql_access *other = NULL;
        if (!wanted->index || wanted->index == index)
            other = sql_access_try(wanted, index, arena);
        if (other && (!best || other->cost < best->cost))
            best = other;
    }
    return best || !wanted->may_scan ? best : sql_access_scan(wanted, arena);
}

static bool sql_access_check_masks(const struct sql_wanted *wanted, struct error *err)
{
    for (size_t i = 0; i < wanted->constraint_count; i++) {
        const struct sql_constraint *each = &wanted->constraints[i];
        if (each->op == SQL_OP_LIMIT || each->op == SQL_OP_NOT_NULL ||
            !wanted->columns->items[each->column].is_masked)
            continue;
        return error_set(err, ERROR_INVALID,
                         "%s of %s is a secret, and its values are masked, so no condition can "
                         "compare them; add --show-secrets",
                         wanted->columns->items[each->column].name, wanted->table);
    }
    return true;
}

/* The end of the work on the best access: all that the caller lent is copied. */
static void sql_access_finish(const struct sql_wanted *wanted, struct sql_access *access,
                              struct arena *arena)
{
    size_t count = wanted->constraint_count;
    sql_access_note_order(wanted, arena, access);
    access->is_ordered = sql_access_follows_order(wanted, access);
    access->descending =
        access->is_ordered && access->order_count > 0 && access->order[0].descending;
    access->limit = count;
    access->constraints = arena_array(arena, count, sizeof *access->constraints);
    for (size_t i = 0; access->constraints && i < count; i++) {
        access->constraints[i] = wanted->constraints[i];
        if (wanted->constraints[i].op == SQL_OP_LIMIT && wanted->constraints[i].is_usable &&
            access->kind == SQL_ACCESS_QUERY && access->is_ordered)
            access->limit = i;
    }
}

const struct sql_access *sql_access_find(const struct sql_wanted *wanted, struct arena *arena,
                                         struct error *err)
{
    if (!sql_access_check_masks(wanted, err))
        return NULL;
    struct sql_access *access = sql_access_choose(wanted, arena);
    if (access)
        sql_access_finish(wanted, access, arena);
    if (arena->failed) {
        error_no_memory(err);
        return NULL;
    }
    return access ? access : sql_access_refuse(wanted, err);
}

enum sql_access_kind sql_access_kind_of(const struct sql_access *access)
{
    return access->kind;
}

bool sql_access_takes(const struct sql_access *access, size_t constraint)
{
    return access->in_key[constraint] || access->in_filter[constraint] ||
           access->limit == constraint;
}

bool sql_access_is_ordered(const struct sql_access *access)
{
    return access->is_ordered;
}

double sql_access_cost(const struct sql_access *access)
{
    return access->cost;
}

double sql_access_rows(const struct sql_access *access)
{
    return access->rows;
}

bool sql_access_is_unique(const struct sql_access *access)
{
    return access->is_unique;
}

/* Words. */

static void sql_access_write_columns(const struct sql_access *access, bool in_key, struct buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < access->constraint_count; i++) {
        const struct sql_constraint *each = &access->constraints[i];
        bool is_new = in_key ? access->in_key[i] : sql_target_needs_value(each);
        for (size_t k = 0; k < i && is_new; k++)
            is_new =
                access->constraints[k].column != each->column ||
                !(in_key ? access->in_key[k] : sql_target_needs_value(&access->constraints[k]));
        if (!is_new)
            continue;
        buf_add_text(out, count++ ? " and " : "");
        buf_add_text(out, access->columns->items[each->column].name);
    }
}

void sql_access_write_void(const struct sql_access *access, const struct sql_value *values,
                           struct buf *out)
{
    for (size_t i = 0; access->kind != SQL_ACCESS_NONE && i < access->constraint_count; i++)
        if (sql_access_takes(access, i) && access->constraints[i].op <= SQL_OP_BEGINS &&
            values[i].type == SQL_NULL) {
            buf_printf(out, "%s is compared with NULL, and no value is equal to that",
                       access->columns->items[access->constraints[i].column].name);
            return;
        }
    buf_add_text(out, access->kind == SQL_ACCESS_NONE
                          ? "by the map, items of no kind have a value of "
                          : "no key can have these values of ");
    sql_access_write_columns(access, access->kind != SQL_ACCESS_NONE, out);
}

void sql_access_write(const struct sql_access *access, struct buf *out)
{
    size_t count = 0;
    if (access->kind == SQL_ACCESS_NONE) {
        buf_add_text(out, "no row can match");
        return;
    }
    if (access->kind == SQL_ACCESS_SCAN)
        buf_add_text(out, "by a scan");
    if (access->kind == SQL_ACCESS_SCAN && access->target.index)
        buf_printf(out, " of %s", access->target.index->name);
    if (access->kind != SQL_ACCESS_SCAN)
        buf_printf(out, "by %s", access->target.index ? access->target.index->name : "its key");
    for (size_t i = 0; i < access->constraint_count; i++) {
        bool is_new = access->in_key[i];
        for (size_t k = 0; k < i; k++)
            is_new = is_new && !(access->in_key[k] &&
                                 access->constraints[k].column == access->constraints[i].column);
        if (!is_new)
            continue;
        buf_add_text(out, count++ ? ", " : " (");
        buf_add_text(out, access->columns->items[access->constraints[i].column].name);
    }
    buf_add_text(out, count ? ")" : "");
}
