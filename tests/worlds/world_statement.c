#include "tests/worlds/world_statement.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world_maker {
    struct world_statement *out;
    struct world_dice *dice;
    struct world_reference *reference;
    const struct world_from *froms;
    unsigned from_count;
};

#define WORLD_CHOOSE(maker, list)                                                                  \
    (list)[world_draw((maker)->dice, sizeof(list) / sizeof((list)[0]))]

/* Adds words to both texts. */
__attribute__((format(printf, 2, 3))) static void world_say(struct world_maker *maker,
                                                            const char *format, ...)
{
    va_list list;
    char words[1024];
    va_start(list, format);
    if (vsnprintf(words, sizeof words, format, list) >= (int)sizeof words)
        abort();
    va_end(list);
    world_add(&maker->out->text, "%s", words);
    world_add(&maker->out->plain, "%s", words);
}

static void world_say_from(struct world_maker *maker, const struct world_from *from,
                           const char *alias)
{
    world_add(&maker->out->text, "%s as %s", from->name, alias);
    world_add(&maker->out->plain, "%s as %s", from->plain, alias);
}

static const struct world_from *world_choose_from(struct world_maker *maker)
{
    /* the tables of the map are the subject */
    for (unsigned tries = 0; tries < 2; tries++) {
        const struct world_from *from = &maker->froms[world_draw(maker->dice, maker->from_count)];
        if (from->mapped)
            return from;
    }
    return &maker->froms[world_draw(maker->dice, maker->from_count)];
}

static const char *world_choose_column(struct world_maker *maker, const struct world_from *from)
{
    return from->columns[world_draw(maker->dice, from->column_count)];
}

/* A literal: a value that the column has, most often. */
static void world_say_literal(struct world_maker *maker, const struct world_from *from,
                              const char *column)
{
    static const char *const others[] = {"NULL", "'a'",   "5",     "'5'", "'zz'", "1.5",
                                         "''",   "'A#a'", "x'61'", "-1",  "'a%'"};
    struct world_text text = {0};
    if (world_once_in(maker->dice, 7))
        world_add(&text, "%s", WORLD_CHOOSE(maker, others));
    else
        world_reference_draw(maker->reference, from, column,
                             world_draw(maker->dice, from->row_count), &text);
    world_say(maker, "%s", text.bytes);
    world_text_free(&text);
}

static void world_say_value(struct world_maker *maker, const struct world_from *from,
                            const char *column, unsigned row)
{
    struct world_text text = {0};
    world_reference_draw(maker->reference, from, column, row, &text);
    world_say(maker, "%s", text.bytes);
    world_text_free(&text);
}

/* A condition on one column. */
static void world_say_test(struct world_maker *maker, const struct world_from *from,
                           const char *alias)
{
    static const char *const operators[] = {"=",  "=", "=",  "<>", "<",
                                            "<=", ">", ">=", "is", "is not"};
    static const char *const patterns[] = {"a%", "%", "A#%", "%b", "5%", "a_", "B%"};
    const char *column = world_choose_column(maker, from);
    switch (world_draw(maker->dice, 12)) {
    case 0:
        world_say(maker, "%s.\"%s\" is %snull", alias, column,
                  world_once_in(maker->dice, 2) ? "not " : "");
        break;
    case 1:
        world_say(maker, "%s.\"%s\" in (", alias, column);
        for (unsigned i = 0, count = 1 + world_draw(maker->dice, 3); i < count; i++) {
            world_say(maker, i ? ", " : "");
            world_say_literal(maker, from, column);
        }
        world_say(maker, ")");
        break;
    case 2:
        world_say(maker, "%s.\"%s\" between ", alias, column);
        world_say_literal(maker, from, column);
        world_say(maker, " and ");
        world_say_literal(maker, from, column);
        break;
    case 3:
        world_say(maker, "%s.\"%s\" like '%s'", alias, column, WORLD_CHOOSE(maker, patterns));
        break;
    case 4:
        world_say(maker, "typeof(%s.\"%s\") = 'text'", alias, column);
        break;
    case 5:
        world_say(maker, "%s.\"%s\" = %s.\"%s\"", alias, column, alias,
                  world_choose_column(maker, from));
        break;
    case 6:
        world_say(maker, "coalesce(%s.\"%s\", 'a') > ", alias, column);
        world_say_literal(maker, from, column);
        break;
    default:
        world_say(maker, "%s.\"%s\" %s ", alias, column, WORLD_CHOOSE(maker, operators));
        world_say_literal(maker, from, column);
    }
}

static void world_say_condition(struct world_maker *maker, const struct world_from *from,
                                const char *alias, unsigned depth)
{
    if (depth < 2 && world_once_in(maker->dice, 3)) {
        const char *word = world_once_in(maker->dice, 2) ? " or " : " and ";
        world_say(maker, "%s(", world_once_in(maker->dice, 5) ? "not " : "");
        world_say_condition(maker, from, alias, depth + 1);
        world_say(maker, "%s", word);
        world_say_condition(maker, from, alias, depth + 1);
        world_say(maker, ")");
        return;
    }
    world_say_test(maker, from, alias);
}

/* The ways to rows. */

struct world_way {
    const struct world_key *keys;
    unsigned partition_count, count;
    bool is_index;
};

static bool world_is_hidden(const struct world_from *from, const char *attribute)
{
    return from->mapped && world_is_part_of_table(from->table, attribute);
}

static bool world_way_is_open(const struct world_from *from, const struct world_way *way)
{
    for (unsigned i = 0; i < (way->is_index ? way->count : way->partition_count); i++)
        if (world_is_hidden(from, way->keys[i].attribute))
            return false;
    return true;
}

static struct world_way world_way_of(const struct world_from *from, const struct world_index *index)
{
    return index ? (struct world_way){index->keys, index->partition_count, index->key_count, true}
                 : (struct world_way){from->table->keys, 1, from->table->key_count, false};
}

/* False if there is no way by attributes: parts hide them. */
static bool world_choose_way(struct world_maker *maker, const struct world_from *from,
                             struct world_way *out)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        unsigned at = world_draw(maker->dice, 1 + from->table->index_count);
        const struct world_index *index = from->index ? from->index
                                          : at        ? &from->table->indexes[at - 1]
                                                      : NULL;
        *out = world_way_of(from, index);
        if (world_way_is_open(from, out))
            return true;
    }
    return false;
}

static void world_say_sort(struct world_maker *maker, const struct world_from *from,
                           const char *alias, const char *column, unsigned row)
{
    static const char *const operators[] = {"=", "<", "<=", ">", ">=", "="};
    switch (world_draw(maker->dice, 5)) {
    case 0:
        world_say(maker, "%s.\"%s\" between ", alias, column);
        world_say_value(maker, from, column, row);
        world_say(maker, " and ");
        world_say_value(maker, from, column, world_draw(maker->dice, from->row_count));
        break;
    case 1:
        world_say(maker, "%s.\"%s\" is not null", alias, column);
        break;
    default:
        world_say(maker, "%s.\"%s\" %s ", alias, column, WORLD_CHOOSE(maker, operators));
        world_say_value(maker, from, column, row);
    }
}

/* Conditions that lead to rows by the attributes of a key. OUTER: the table that gives the values,
 * or NULL. False: there is no such way. */
static bool world_say_keyed(struct world_maker *maker, const struct world_from *from,
                            const char *alias, const struct world_from *outer)
{
    struct world_way way;
    unsigned row = world_draw(maker->dice, from->row_count);
    if (!world_choose_way(maker, from, &way))
        return false;
    for (unsigned i = 0; i < way.count; i++) {
        const char *column = way.keys[i].attribute;
        bool of_partition = i < way.partition_count;
        if (!of_partition && !way.is_index &&
            (world_is_hidden(from, column) || world_once_in(maker->dice, 2)))
            break;
        world_say(maker, i ? " and " : "");
        if (of_partition && outer) {
            world_say(maker, "%s.\"%s\" = a.\"%s\"", alias, column,
                      world_choose_column(maker, outer));
        } else if (of_partition && world_once_in(maker->dice, 6)) {
            world_say(maker, "%s.\"%s\" in (", alias, column);
            world_say_value(maker, from, column, row);
            world_say(maker, ", ");
            world_say_value(maker, from, column, world_draw(maker->dice, from->row_count));
            world_say(maker, ")");
        } else if (of_partition) {
            world_say(maker, "%s.\"%s\" = ", alias, column);
            world_say_value(maker, from, column, row);
        } else {
            world_say_sort(maker, from, alias, column, row);
        }
    }
    return true;
}

static bool world_is_null(struct world_maker *maker, const struct world_from *from,
                          const char *column, unsigned row)
{
    struct world_text text = {0};
    world_reference_draw(maker->reference, from, column, row, &text);
    bool is = strcmp(text.bytes, "NULL") == 0;
    world_text_free(&text);
    return is;
}

/* Equalities of some columns of one row, parts among them: whether that suffices is the product's
 * to decide. */
static void world_say_row(struct world_maker *maker, const struct world_from *from,
                          const char *alias)
{
    unsigned row = world_draw(maker->dice, from->row_count);
    for (unsigned i = 0, count = 1 + world_draw(maker->dice, 4); i < count; i++) {
        const char *column = world_choose_column(maker, from);
        for (unsigned tries = 0; tries < 6 && world_is_null(maker, from, column, row); tries++)
            column = world_choose_column(maker, from);
        world_say(maker, "%s%s.\"%s\" = ", i ? " and " : "", alias, column);
        world_say_value(maker, from, column, row);
    }
}

/* Equalities of all parts of a partition, and perhaps tests of parts of the sort key: whether that
 * suffices depends on the other kinds, and on the promises of the map. */
static void world_say_parts(struct world_maker *maker, const struct world_from *from,
                            const char *alias)
{
    static const char *const patterns[] = {"a%", "5%", "%", "A%"};
    const struct world_table *table = from->table;
    char names[WORLD_COLUMNS][WORLD_NAME];
    unsigned at = world_draw(maker->dice, table->index_count + 1), count;
    const struct world_index *index = at && !from->index ? &table->indexes[at - 1] : from->index;
    unsigned kind = world_draw(maker->dice, table->kind_count);
    unsigned row = world_draw(maker->dice, from->row_count);
    if (!from->mapped || !world_key_names(table, index, kind, false, names, &count) || !count) {
        world_say_row(maker, from, alias);
        return;
    }
    for (unsigned tries = 0; tries < 12 && world_is_null(maker, from, names[0], row); tries++)
        row = world_draw(maker->dice, from->row_count);
    for (unsigned i = 0; i < count; i++) {
        world_say(maker, "%s%s.\"%s\" = ", i ? " and " : "", alias, names[i]);
        world_say_value(maker, from, names[i], row);
    }
    if (!world_key_names(table, index, kind, true, names, &count))
        return;
    for (unsigned i = 0; i < count && !world_once_in(maker->dice, 3); i++) {
        world_say(maker, " and ");
        if (world_once_in(maker->dice, 5))
            world_say(maker, "%s.\"%s\" like '%s'", alias, names[i], WORLD_CHOOSE(maker, patterns));
        else
            world_say_sort(maker, from, alias, names[i], row);
    }
}

static void world_say_where(struct world_maker *maker, const struct world_from *from,
                            const char *alias)
{
    uint32_t chance = world_draw(maker->dice, 10);
    world_say(maker, " where ");
    if (chance < 4 && world_say_keyed(maker, from, alias, NULL)) {
        if (world_once_in(maker->dice, 3)) {
            world_say(maker, " and (");
            world_say_condition(maker, from, alias, 0);
            world_say(maker, ")");
        }
        return;
    }
    maker->out->is_keyed = false;
    if (chance < 8)
        world_say_parts(maker, from, alias);
    else if (chance < 9)
        world_say_row(maker, from, alias);
    else
        world_say_condition(maker, from, alias, 0);
}

/* Statements. */

static void world_say_expression(struct world_maker *maker, const struct world_from *from,
                                 const char *alias)
{
    const char *column = world_choose_column(maker, from);
    switch (world_draw(maker->dice, 8)) {
    case 0:
        world_say(maker, "typeof(%s.\"%s\")", alias, column);
        break;
    case 1:
        world_say(maker, "%s.item", alias);
        break;
    case 2:
        world_say(maker, "%s.item ->> '$.\"%s\"'", alias, column);
        break;
    default:
        world_say(maker, "%s.\"%s\"", alias, column);
    }
}

static void world_say_order(struct world_maker *maker, unsigned columns)
{
    if (world_once_in(maker->dice, 2))
        return;
    world_say(maker, " order by ");
    for (unsigned i = 0; i < columns; i++)
        world_say(maker, "%s%u%s", i ? ", " : "", i + 1,
                  world_once_in(maker->dice, 3) ? " desc" : "");
    if (world_once_in(maker->dice, 2))
        world_say(maker, " limit %u", world_draw(maker->dice, 6));
    maker->out->is_ordered = true;
}

static void world_make_select(struct world_maker *maker)
{
    const struct world_from *from = world_choose_from(maker);
    unsigned columns = 1 + world_draw(maker->dice, 3);
    world_say(maker, "select %s", world_once_in(maker->dice, 5) ? "distinct " : "");
    for (unsigned i = 0; i < columns; i++) {
        world_say(maker, i ? ", " : "");
        world_say_expression(maker, from, "t");
        world_say(maker, " as c%u", i);
    }
    world_say(maker, " from ");
    world_say_from(maker, from, "t");
    world_say_where(maker, from, "t");
    world_say_order(maker, columns);
}

/* The items of one partition in the order of the sort key, which is total. */
static void world_make_in_order(struct world_maker *maker)
{
    const struct world_from *from = world_choose_from(maker);
    const struct world_key *keys = from->table->keys;
    if (from->index || from->table->key_count < 2 || world_is_hidden(from, keys[0].attribute) ||
        world_is_hidden(from, keys[1].attribute)) {
        world_make_select(maker);
        return;
    }
    world_say(maker, "select t.\"%s\" as c0, ", keys[1].attribute);
    world_say_expression(maker, from, "t");
    world_say(maker, " as c1 from ");
    world_say_from(maker, from, "t");
    world_say(maker, " where t.\"%s\" = ", keys[0].attribute);
    world_say_value(maker, from, keys[0].attribute, world_draw(maker->dice, from->row_count));
    if (world_once_in(maker->dice, 2)) {
        world_say(maker, " and ");
        world_say_test(maker, from, "t");
    }
    world_say(maker, " order by t.\"%s\"%s", keys[1].attribute,
              world_once_in(maker->dice, 2) ? " desc" : "");
    if (!world_once_in(maker->dice, 3))
        world_say(maker, " limit %u offset %u", 1 + world_draw(maker->dice, 4),
                  world_draw(maker->dice, 3));
    maker->out->is_ordered = true;
}

static void world_make_aggregate(struct world_maker *maker)
{
    static const char *const calls[] = {"count(*)", "count", "min",           "max",
                                        "sum",      "total", "count(distinct"};
    const struct world_from *from = world_choose_from(maker);
    bool groups = world_once_in(maker->dice, 2);
    world_say(maker, "select ");
    if (groups)
        world_say(maker, "t.\"%s\" as g, ", world_choose_column(maker, from));
    for (unsigned i = 0, count = 1 + world_draw(maker->dice, 2); i < count; i++) {
        const char *call = WORLD_CHOOSE(maker, calls);
        world_say(maker, i ? ", %s" : "%s", call);
        if (!strchr(call, '*'))
            world_say(maker, "%st.\"%s\")", strchr(call, '(') ? " " : "(",
                      world_choose_column(maker, from));
        world_say(maker, " as c%u", i);
    }
    world_say(maker, " from ");
    world_say_from(maker, from, "t");
    world_say_where(maker, from, "t");
    world_say(maker, groups ? " group by 1" : "");
}

static void world_make_join(struct world_maker *maker)
{
    static const char *const joins[] = {"join", "join", "left join"};
    const struct world_from *outer = world_choose_from(maker), *inner = world_choose_from(maker);
    world_say(maker, "select ");
    world_say_expression(maker, outer, "a");
    world_say(maker, " as c0, ");
    world_say_expression(maker, inner, "b");
    world_say(maker, " as c1 from ");
    world_say_from(maker, outer, "a");
    world_say(maker, " %s ", WORLD_CHOOSE(maker, joins));
    world_say_from(maker, inner, "b");
    world_say(maker, " on ");
    if (!world_say_keyed(maker, inner, "b", outer)) {
        maker->out->is_keyed = false;
        world_say_row(maker, inner, "b");
    }
    world_say_where(maker, outer, "a");
    world_say_order(maker, 2);
}

static void world_make_nested(struct world_maker *maker)
{
    const struct world_from *outer = world_choose_from(maker), *inner = world_choose_from(maker);
    world_say(maker, "select ");
    world_say_expression(maker, outer, "a");
    world_say(maker, " as c0 from ");
    world_say_from(maker, outer, "a");
    world_say_where(maker, outer, "a");
    world_say(maker, " and a.\"%s\" %sin (select b.\"%s\" from ", world_choose_column(maker, outer),
              world_once_in(maker->dice, 4) ? "not " : "", world_choose_column(maker, inner));
    world_say_from(maker, inner, "b");
    world_say_where(maker, inner, "b");
    world_say(maker, ")");
}

void world_statement_make(struct world_statement *out, struct world_dice *dice,
                          struct world_reference *reference, const struct world_from *froms,
                          unsigned from_count)
{
    struct world_maker maker = {out, dice, reference, froms, from_count};
    *out = (struct world_statement){.is_keyed = true};
    switch (world_draw(dice, 9)) {
    case 0:
        world_make_join(&maker);
        break;
    case 1:
        world_make_nested(&maker);
        break;
    case 2:
    case 3:
        world_make_aggregate(&maker);
        break;
    case 4:
        world_make_in_order(&maker);
        break;
    default:
        world_make_select(&maker);
    }
}

void world_statement_free(struct world_statement *statement)
{
    world_text_free(&statement->text);
    world_text_free(&statement->plain);
}
