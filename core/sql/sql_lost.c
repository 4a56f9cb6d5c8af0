#include "core/sql/sql_lost.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/ascii.h"
#include "core/item/value.h"

void sql_lost_clean_up(struct sql_lost *lost)
{
    dict_clean_up(&lost->reals);
    arena_clean_up(&lost->arena);
    *lost = (struct sql_lost){0};
}

static struct span sql_lost_key(const double *real)
{
    return span_of((const char *)real, sizeof *real);
}

/* Without its sign: a minus in a statement is an operator. */
static bool sql_lost_add_real(struct sql_lost *lost, double real)
{
    struct {
        struct dict_node node;
        double real;
    } * added;
    real = fabs(real);
    if (!lost->reals.chains && !dict_init(&lost->reals))
        return false;
    if (dict_find(&lost->reals, sql_lost_key(&real)))
        return true;
    added = arena_alloc(&lost->arena, sizeof *added);
    if (!added)
        return false;
    added->real = real;
    added->node = (struct dict_node){.key = sql_lost_key(&added->real)};
    dict_add(&lost->reals, &added->node);
    return true;
}

bool sql_lost_add(struct sql_lost *lost, struct span text)
{
    CLEAN_UP(buf_clean_up_secret) struct buf copy = {0};
    bool begins = text.size > 0 && (ascii_is_digit(text.data[0]) || text.data[0] == '-' ||
                                    text.data[0] == '+' || text.data[0] == '.');
    if (!begins || !number_is(text) || sql_value_of_number(text).type != SQL_TEXT)
        return true;
    buf_add_span(&copy, text);
    return !copy.failed && sql_lost_add_real(lost, strtod(buf_text(&copy), NULL));
}

bool sql_lost_add_statement(struct sql_lost *lost, const char *statement)
{
    CLEAN_UP(buf_clean_up_secret) struct buf number = {0};
    for (const char *at = statement; *at;) {
        char *end = NULL;
        if (ascii_is_digit(*at) || *at == '.')
            strtod(at, &end);
        if (!end || end == at) {
            at++;
            continue;
        }
        buf_truncate(&number, 0);
        buf_add_char(&number, '0');
        buf_add(&number, at, (size_t)(end - at) - (end[-1] == '.'));
        if (number.failed || !sql_lost_add(lost, buf_span(&number)))
            return false;
        at = end;
    }
    return true;
}

bool sql_lost_has(const struct sql_lost *lost, const struct sql_value *value)
{
    double real = fabs(value->type == SQL_INTEGER ? (double)value->integer : value->real);
    return lost->reals.count > 0 && dict_find(&lost->reals, sql_lost_key(&real));
}
