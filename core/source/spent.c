#include "core/source/spent.h"

#include <stdio.h>

#include "core/base/decimal.h"

void spent_add(struct spent *sum, const struct spent *more)
{
    sum->units += more->units;
    sum->doubted += more->doubted;
}

void spent_write(const struct spent *spent, struct buf *out)
{
    buf_add_text(out, spent->doubted > 0 ? "at most " : "");
    decimal_write(spent->units + spent->doubted, out);
    buf_add_text(out, spent->units + spent->doubted == 1 ? " capacity unit" : " capacity units");
}

void spent_write_members(const struct spent *spent, const char *name, struct json_writer *json)
{
    char most[64];
    bool is_known = spent->units > 0 || spent->doubted <= 0;
    decimal_write_known(is_known ? spent->units : -1, "null", json_writer_add_value(json, name));
    if (spent->doubted <= 0)
        return;
    snprintf(most, sizeof most, "%s_at_most", name);
    decimal_write(spent->units + spent->doubted, json_writer_add_value(json, most));
}

void spent_write_json(const struct spent *spent, const char *name, struct buf *out)
{
    bool is_known = spent->units > 0 || spent->doubted <= 0;
    buf_printf(out, "\"%s\": ", name);
    decimal_write_known(is_known ? spent->units : -1, "null", out);
    if (spent->doubted <= 0)
        return;
    buf_printf(out, ", \"%s_at_most\": ", name);
    decimal_write(spent->units + spent->doubted, out);
}
