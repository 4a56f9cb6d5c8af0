#include "core/source/payer.h"

#include <math.h>
#include <stdio.h>

#include "core/base/quantity.h"

void spent_add(struct spent *sum, const struct spent *more)
{
    sum->units += more->units;
    sum->doubted += more->doubted;
    sum->search_bytes += more->search_bytes;
    sum->unstated_searches += more->unstated_searches;
}

void spent_write(const struct spent *spent, struct buf *out)
{
    buf_add_text(out, spent->doubted > 0 ? "at most " : "");
    decimal_write(spent->units + spent->doubted, out);
    buf_add_text(out, " RCU");
    if (spent->search_bytes > 0) {
        buf_add_text(out, ", ");
        decimal_write(spent->search_bytes, out);
        buf_add_text(out, " search bytes");
    }
    if (spent->unstated_searches > 0)
        buf_printf(out, ", and %llu search%s of unknown size",
                   (unsigned long long)spent->unstated_searches,
                   spent->unstated_searches == 1 ? "" : "es");
}

void spent_write_members(const struct spent *spent, const char *name, struct json_writer *json)
{
    char most[64];
    bool is_known = spent->units > 0 || spent->doubted <= 0;
    decimal_write_known(is_known ? spent->units : -1, "null", json_writer_add_value(json, name));
    if (spent->doubted > 0) {
        snprintf(most, sizeof most, "%s_at_most", name);
        decimal_write(spent->units + spent->doubted, json_writer_add_value(json, most));
    }
    if (spent->search_bytes > 0)
        decimal_write(spent->search_bytes, json_writer_add_value(json, "search_bytes"));
    if (spent->unstated_searches > 0)
        json_writer_add_integer(json, "unstated_searches", (int64_t)spent->unstated_searches);
}

void spent_write_json(const struct spent *spent, const char *name, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf object = {0};
    struct json_writer json = json_writer_to(&object);
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    spent_write_members(spent, name, &json);
    if (object.failed)
        out->failed = true;
    else
        buf_add_span(out, span_from(buf_span(&object), 1));
}

struct payer *payer_ref(struct payer *payer)
{
    if (payer)
        payer->references++;
    return payer;
}

void payer_unref(struct payer *payer)
{
    if (payer && --payer->references == 0)
        payer->ops->release(payer);
}

void payer_charge(struct payer *payer, const struct expense *expense)
{
    if (payer)
        payer->ops->charge(payer, expense);
}

double payer_left(const struct payer *payer)
{
    return payer && payer->ops->left ? payer->ops->left(payer) : INFINITY;
}

enum payer_word payer_set_aside(struct payer *payer, double least, double most,
                                struct payer_turn *turn, struct error *err)
{
    return payer && payer->ops->set_aside ? payer->ops->set_aside(payer, least, most, turn, err)
                                          : PAYER_AGREES;
}

void payer_refund(struct payer *payer, double units)
{
    if (payer && payer->ops->give_back && units > 0)
        payer->ops->give_back(payer, units);
}

bool payer_allows_search(struct payer *payer, struct error *err)
{
    return !payer || !payer->ops->allow_search || payer->ops->allow_search(payer, err);
}

struct span payer_path(const struct payer *payer)
{
    return payer && payer->ops->path ? payer->ops->path(payer) : span_text("");
}
