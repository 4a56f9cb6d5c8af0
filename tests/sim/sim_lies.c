/* Responses that are not true, with a right checksum. */
#include "tests/sim/sim_lies.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_world.h"

/* A response that is being changed. */
struct sim_lie {
    const struct sim_json *request, *response;
    struct sim_dice *dice;
    const struct sim_table *table;
    const struct sim_order *order;
};

/* Whether the attribute NAME of VERSION is LIKE. */
static bool sim_lie_is_like(const struct sim_version *version, const char *name,
                            const struct sim_json *like)
{
    struct sim_text text = {0};
    struct sim_json own;
    sim_value_write(&text, sim_version_get(version, name));
    bool same = sim_json_parse(&own, text.bytes, text.size) && sim_json_same(&own, like);
    sim_json_free(&own);
    sim_text_free(&text);
    return same;
}

/* An item of the table that is in the index now, and whose attribute NAME is LIKE, or is not
 * (IS_LIKE); NULL: none. */
static const struct sim_version *sim_lie_find_item(const struct sim_lie *lie, const char *name,
                                                   const struct sim_json *like, bool is_like)
{
    const struct sim_version *found = NULL;
    uint32_t count = 0;
    for (const struct sim_item *item = lie->table->first; item; item = item->next) {
        const struct sim_version *version = item->newest;
        if (!sim_version_is_in(version, lie->order))
            continue;
        if (sim_lie_is_like(version, name, like) == is_like &&
            sim_dice_below(lie->dice, ++count) == 0)
            found = version;
    }
    return found;
}

/* Appends the response with MEMBER replaced by TEXT, and "Count" and "ScannedCount" raised by MORE.
 */
static void sim_lie_write(const struct sim_json *response, const char *member, const char *text,
                          unsigned more, struct sim_text *out)
{
    sim_text_puts(out, "{");
    for (size_t i = 0; i < response->count; i++) {
        const char *name = response->names[i];
        bool is_count = strcmp(name, "Count") == 0 || strcmp(name, "ScannedCount") == 0;
        sim_text_printf(out, "%s\"%s\":", i ? "," : "", name);
        if (strcmp(name, member) == 0)
            sim_text_puts(out, text);
        else if (is_count)
            sim_text_printf(out, "%lu", strtoul(response->members[i].bytes, NULL, 10) + more);
        else
            sim_json_write(out, &response->members[i]);
    }
    sim_text_puts(out, "}");
}

static bool sim_lie_is_key_of(const struct sim_key_schema *key, const char *name)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        if (strcmp(key->names[i], name) == 0)
            return true;
    }
    return false;
}

/* Whether it is a key attribute of the table or of one of its indexes. */
static bool sim_lie_is_key(const struct sim_table *table, const char *name)
{
    bool found = sim_lie_is_key_of(&table->key, name);
    for (unsigned i = 0; !found && i < table->index_count; i++)
        found = sim_lie_is_key_of(&table->indexes[i].key, name);
    return found;
}

/* Appends an item, one of whose values has a form that the service never sends. */
static void sim_lie_write_form(const struct sim_lie *lie, const struct sim_json *item,
                               struct sim_text *out)
{
    uint32_t count = 0;
    static const char *const wrong[] = {"{\"S\":1}",  "{\"N\":\"1x\"}",  "{\"N\":1}", "{}",
                                        "\"text\"",   "{\"B\":\"*\"}",   "null",      "[]",
                                        "{\"M\":[]}", "{\"BOOL\":\"x\"}"};
    /* A key of another type is no lie: the map may be wrong. */
    size_t which = item->count;
    for (size_t i = 0; i < item->count; i++) {
        if (!sim_lie_is_key(lie->table, item->names[i]) && sim_dice_below(lie->dice, ++count) == 0)
            which = i;
    }
    if (which == item->count) {
        sim_text_puts(out, "[]");
        return;
    }
    for (size_t i = 0; i < item->count; i++) {
        sim_text_puts(out, i ? "," : "{");
        sim_text_json_string(out, item->names[i], strlen(item->names[i]));
        sim_text_puts(out, ":");
        if (i == which)
            sim_text_puts(out, wrong[sim_dice_below(lie->dice, sizeof wrong / sizeof *wrong)]);
        else
            sim_json_write(out, &item->members[i]);
    }
    sim_text_puts(out, "}");
}

/* GetItem: the item of another key, or one that is none. */
static bool sim_lie_of_get(const struct sim_lie *lie, struct sim_text *out)
{
    const struct sim_key_schema *key = &lie->table->key;
    const char *name = key->names[key->hash_count + key->range_count - 1];
    const struct sim_json *wanted = sim_json_get(sim_json_get(lie->request, "Key"), name);
    const struct sim_json *shown = sim_json_get(lie->response, "Item");
    const struct sim_version *other = sim_lie_find_item(lie, name, wanted, false);
    if (!shown)
        return false;
    struct sim_text item = {0};
    if (!other || sim_dice_chance(lie->dice, 300))
        sim_lie_write_form(lie, shown, &item);
    else
        sim_tables_write_item(&item, other);
    sim_lie_write(lie->response, "Item", item.bytes, 0, out);
    sim_text_free(&item);
    return true;
}

/* BatchGetItem: the last item of a table comes twice. */
static bool sim_lie_of_batch(const struct sim_lie *lie, struct sim_text *out)
{
    const struct sim_json *responses = sim_json_get(lie->response, "Responses");
    const struct sim_json *items = responses->count ? &responses->members[0] : NULL;
    if (!items || items->count == 0)
        return false;
    struct sim_text text = {0};
    sim_text_printf(&text, "{\"%s\":[", responses->names[0]);
    for (size_t i = 0; i <= items->count; i++) {
        sim_text_puts(&text, i ? "," : "");
        sim_json_write(&text, &items->members[i < items->count ? i : items->count - 1]);
    }
    sim_text_puts(&text, "]}");
    sim_lie_write(lie->response, "Responses", text.bytes, 0, out);
    sim_text_free(&text);
    return true;
}

enum sim_lie_kind {
    SIM_LIE_TWICE,    /* the last item of the page comes twice */
    SIM_LIE_FOREIGN,  /* an item of another partition */
    SIM_LIE_ORDER,    /* two items in the wrong order */
    SIM_LIE_POSITION, /* the position of another partition, or one that came before */
    SIM_LIE_COUNT,    /* more than there are */
    SIM_LIE_FORM,     /* a value that is none */
    SIM_LIE_KINDS
};

/* Appends the items of a page, with one lie. False: it can't have this one. */
static bool sim_lie_write_items(const struct sim_lie *lie, enum sim_lie_kind kind,
                                const struct sim_json *items, struct sim_text *out)
{
    const struct sim_key_schema *key = lie->order->key;
    size_t count = items->count, first = 0, second = 1;
    const struct sim_version *foreign = NULL;
    if (kind == SIM_LIE_FOREIGN && count)
        foreign = sim_lie_find_item(lie, key->names[0],
                                    sim_json_get(&items->members[0], key->names[0]), false);
    if (kind == SIM_LIE_ORDER && count > 1 && key->range_count) {
        const char *range = key->names[key->hash_count];
        const struct sim_json *one = sim_json_get(&items->members[0], range);
        const struct sim_json *other = sim_json_get(&items->members[1], range);
        first = one && other && !sim_json_same(one, other);
        second = !first;
    }
    if (count == 0 || (kind == SIM_LIE_FOREIGN && !foreign) || (kind == SIM_LIE_ORDER && !first))
        return false;
    sim_text_puts(out, "[");
    for (size_t i = 0; i < count; i++) {
        sim_text_puts(out, i ? "," : "");
        sim_json_write(out, &items->members[i == 0 ? first : i == 1 ? second : i]);
    }
    if (kind != SIM_LIE_ORDER)
        sim_text_puts(out, ",");
    if (kind == SIM_LIE_TWICE)
        sim_json_write(out, &items->members[count - 1]);
    if (kind == SIM_LIE_FOREIGN)
        sim_tables_write_item(out, foreign);
    sim_text_puts(out, "]");
    return true;
}

static void sim_lie_write_key(const struct sim_json *like, const struct sim_version *version,
                              struct sim_text *out)
{
    for (size_t i = 0; i < like->count; i++) {
        sim_text_puts(out, i ? "," : "{");
        sim_text_json_string(out, like->names[i], strlen(like->names[i]));
        sim_text_puts(out, ":");
        sim_value_write(out, sim_version_get(version, like->names[i]));
    }
    sim_text_puts(out, "}");
}

/* Appends a false LastEvaluatedKey: of another item of the partition, behind which items would be
 * left out or come again; of another partition; or the one before. */
static bool sim_lie_write_position(const struct sim_lie *lie, const struct sim_json *position,
                                   struct sim_text *out)
{
    const struct sim_json *start = sim_json_get(lie->request, "ExclusiveStartKey");
    const struct sim_json *items = sim_json_get(lie->response, "Items");
    const char *hash = lie->order->key->names[0];
    /* Where items may be left out by a filter, the position may be behind the last one. */
    bool is_exact = items && items->count && !sim_json_get(lie->request, "FilterExpression");
    bool is_same = is_exact && sim_dice_chance(lie->dice, 600);
    if (start && !is_same) {
        sim_json_write(out, start);
        return true;
    }
    const struct sim_version *other =
        sim_lie_find_item(lie, hash, sim_json_get(position, hash), is_same);
    if (!other)
        return false;
    sim_lie_write_key(position, other, out);
    struct sim_json key;
    bool differs = sim_json_parse(&key, out->bytes, out->size) && !sim_json_same(&key, position);
    sim_json_free(&key);
    return differs;
}

/* One kind of lie for a page of a Query. */
static bool sim_lie_of_page(const struct sim_lie *lie, enum sim_lie_kind kind, struct sim_text *out)
{
    const struct sim_json *items = sim_json_get(lie->response, "Items");
    const struct sim_json *position = sim_json_get(lie->response, "LastEvaluatedKey");
    unsigned long scanned = strtoul(sim_json_get(lie->response, "ScannedCount")->bytes, NULL, 10);
    struct sim_text text = {0};
    bool ok = false;
    if (kind == SIM_LIE_COUNT) {
        sim_text_printf(&text, "%lu", scanned + 1);
        sim_lie_write(lie->response, "Count", text.bytes, 0, out);
        ok = true;
    } else if (kind == SIM_LIE_FORM) {
        ok = items && items->count;
        sim_text_puts(&text, "[");
        for (size_t i = 0; ok && i < items->count; i++) {
            sim_text_puts(&text, i ? "," : "");
            if (i == 0)
                sim_lie_write_form(lie, &items->members[i], &text);
            else
                sim_json_write(&text, &items->members[i]);
        }
        sim_text_puts(&text, "]");
        if (ok)
            sim_lie_write(lie->response, "Items", text.bytes, 0, out);
    } else if (kind == SIM_LIE_POSITION) {
        ok = position && sim_lie_write_position(lie, position, &text);
        if (ok)
            sim_lie_write(lie->response, "LastEvaluatedKey", text.bytes, 0, out);
    } else {
        ok = items && sim_lie_write_items(lie, kind, items, &text);
        if (ok)
            sim_lie_write(lie->response, "Items", text.bytes, kind != SIM_LIE_ORDER, out);
    }
    sim_text_free(&text);
    return ok;
}

static bool sim_lie_of_query(const struct sim_lie *lie, struct sim_text *out)
{
    unsigned first = sim_dice_below(lie->dice, SIM_LIE_KINDS);
    bool ok = false;
    for (unsigned i = 0; !ok && i < SIM_LIE_KINDS; i++)
        ok = sim_lie_of_page(lie, (enum sim_lie_kind)((first + i) % SIM_LIE_KINDS), out);
    return ok;
}

/* DescribeTable: of another table. */
static bool sim_lie_of_table(const struct sim_lie *lie, struct sim_text *out)
{
    struct sim_text table = {0}, name = {0};
    const struct sim_json *stated = sim_json_get(lie->response, "Table");
    sim_text_printf(&name, "\"%sx\"", sim_json_text(stated, "TableName"));
    sim_lie_write(stated, "TableName", name.bytes, 0, &table);
    sim_lie_write(lie->response, "Table", table.bytes, 0, out);
    sim_text_free(&table);
    sim_text_free(&name);
    return true;
}

bool sim_lies_tell(const char *operation, const struct sim_json *request, struct sim_dice *dice,
                   struct sim_text *body)
{
    struct sim_json response;
    struct sim_text out = {0};
    bool is_get = strcmp(operation, "GetItem") == 0, is_query = strcmp(operation, "Query") == 0;
    bool is_batch = strcmp(operation, "BatchGetItem") == 0;
    bool is_table = strcmp(operation, "DescribeTable") == 0;
    if ((!is_get && !is_query && !is_batch && !is_table) ||
        !sim_json_parse(&response, body->bytes, body->size))
        return false;
    const char *name = sim_json_text(request, "TableName");
    const char *index = sim_json_text(request, "IndexName");
    struct sim_lie lie = {.request = request, .response = &response, .dice = dice};
    if (!is_batch) {
        lie.table = sim_tables_find(name);
        lie.order =
            sim_history_order(lie.table, index ? sim_table_find_index(lie.table, index) : -1);
    }
    bool ok = is_get     ? sim_lie_of_get(&lie, &out)
              : is_batch ? sim_lie_of_batch(&lie, &out)
              : is_table ? sim_lie_of_table(&lie, &out)
                         : sim_lie_of_query(&lie, &out);
    sim_json_free(&response);
    if (ok) {
        sim_text_free(body);
        *body = out;
    }
    return ok;
}
