/* The operations of DynamoDB that read items: GetItem, BatchGetItem, TransactGetItems, Query, Scan.
 * The rules are those of the AWS documentation. Operations on tables are in sim_descriptions.c. */
#include "tests/sim/sim_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_descriptions.h"
#include "tests/sim/sim_expressions.h"
#include "tests/sim/sim_world.h"

enum {
    SIM_UNIT = 4096,
    SIM_PAGE = 1024 * 1024,
    SIM_BATCH_BYTES = 16 * 1024 * 1024,
    SIM_TRANSACTION_BYTES = 4 * 1024 * 1024,
    SIM_MOST_BATCH = 100,
    SIM_MOST_HASH = 2048,
    SIM_MOST_RANGE = 1024
};

/* A read while it is executed. */
struct sim_table_call {
    const struct sim_json *request;
    const struct sim_mood *mood;
    struct sim_outcome *out;
};

static bool sim_call_check_members(struct sim_table_call *call, const struct sim_json *object,
                                   const char *const *names)
{
    if (object->kind != SIM_JSON_OBJECT)
        return sim_outcome_refuse(call->out, "An object is expected");
    for (size_t i = 0; i < object->count; i++) {
        bool known = false;
        for (const char *const *name = names; !known && *name; name++)
            known = strcmp(*name, object->names[i]) == 0;
        if (!known)
            return sim_outcome_refuse(call->out, "No such member: %s", object->names[i]);
    }
    return true;
}

/* A member that is true or false; absent: false. */
static bool sim_call_flag(struct sim_table_call *call, const struct sim_json *object,
                          const char *name, bool *out)
{
    const struct sim_json *json = sim_json_get(object, name);
    if (json && json->kind != SIM_JSON_TRUE && json->kind != SIM_JSON_FALSE)
        return sim_outcome_refuse(call->out, "%s is no flag", name);
    *out = json && json->kind == SIM_JSON_TRUE;
    return true;
}

/* An integer from LEAST to MOST; absent: *OUT remains. */
static bool sim_call_integer(struct sim_table_call *call, const char *name, int64_t least,
                             int64_t most, int64_t *out)
{
    char *end = NULL;
    const struct sim_json *json = sim_json_get(call->request, name);
    if (!json)
        return true;
    *out = json->kind == SIM_JSON_NUMBER ? strtoll(json->bytes, &end, 10) : 0;
    if (!end || *end || *out < least || *out > most)
        return sim_outcome_refuse(call->out, "%s is not from %lld to %lld", name, (long long)least,
                                  (long long)most);
    return true;
}

static bool sim_call_check_capacity(struct sim_table_call *call)
{
    const struct sim_json *json = sim_json_get(call->request, "ReturnConsumedCapacity");
    const char *text = sim_json_text(call->request, "ReturnConsumedCapacity");
    if (json && (!text || (strcmp(text, "TOTAL") != 0 && strcmp(text, "INDEXES") != 0 &&
                           strcmp(text, "NONE") != 0)))
        return sim_outcome_refuse(call->out, "ReturnConsumedCapacity is no known word");
    return true;
}

/* The table that a request names. NULL: the outcome is an error. */
static struct sim_table *sim_call_table(struct sim_table_call *call, const char *name)
{
    if (!name) {
        sim_outcome_refuse(call->out, "TableName is required");
        return NULL;
    }
    if (strncmp(name, "arn:", 4) != 0) {
        size_t size = strlen(name);
        if (size < 3 || size > 255 ||
            strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
                size) {
            sim_outcome_refuse(call->out, "TableName has a wrong length or character: %s", name);
            return NULL;
        }
    }
    struct sim_table *table = sim_tables_find(name);
    if (!table) {
        call->out->code = "ResourceNotFoundException";
        call->out->message = sim_printf("Requested resource not found");
    }
    return table;
}

static void sim_call_charge(struct sim_table_call *call, const struct sim_table *table, int index,
                            uint64_t half_units)
{
    struct sim_outcome *out = call->out;
    size_t i = 0;
    while (i < out->charge_count &&
           (out->charges[i].table != table || out->charges[i].index != index))
        i++;
    if (i == out->charge_count) {
        if (i == SIM_MOST_CHARGES)
            sim_broken("a request has too many charges");
        out->charges[out->charge_count++] = (struct sim_charge){.table = table, .index = index};
    }
    out->charges[i].half_units += half_units;
    out->half_units += half_units;
}

/* Half units of SIZE bytes; FACTOR: 1 eventual, 2 consistent, 4 in a transaction. */
static uint64_t sim_units_of(size_t size, uint64_t factor)
{
    uint64_t units = (size + SIM_UNIT - 1) / SIM_UNIT;
    return (units ? units : 1) * factor;
}

static void sim_units_write(struct sim_text *out, uint64_t half_units)
{
    sim_text_printf(out, "%llu.%u", (unsigned long long)(half_units / 2), half_units % 2 ? 5U : 0U);
}

/* The units of one table: in all, and of its indexes if the request wants them. */
static void sim_call_write_capacity_of(struct sim_table_call *call, const struct sim_table *table,
                                       bool in_transaction, struct sim_text *out)
{
    const struct sim_outcome *outcome = call->out;
    const char *wanted = sim_json_text(call->request, "ReturnConsumedCapacity");
    uint64_t sum = 0;
    for (size_t i = 0; i < outcome->charge_count; i++)
        sum += outcome->charges[i].table == table ? outcome->charges[i].half_units : 0;
    sim_text_printf(out, "{\"TableName\":\"%s\",\"CapacityUnits\":", table->name);
    sim_units_write(out, sum);
    if (in_transaction) {
        sim_text_puts(out, ",\"ReadCapacityUnits\":");
        sim_units_write(out, sum);
    }
    for (size_t i = 0; strcmp(wanted, "INDEXES") == 0 && i < outcome->charge_count; i++) {
        const struct sim_charge *charge = &outcome->charges[i];
        if (charge->table != table)
            continue;
        const struct sim_index *index = charge->index < 0 ? NULL : &table->indexes[charge->index];
        if (!index)
            sim_text_puts(out, ",\"Table\":{\"CapacityUnits\":");
        else
            sim_text_printf(out, ",\"%sSecondaryIndexes\":{\"%s\":{\"CapacityUnits\":",
                            index->is_local ? "Local" : "Global", index->name);
        sim_units_write(out, charge->half_units);
        sim_text_puts(out, index ? "}}" : "}");
    }
    sim_text_puts(out, "}");
}

/* The member ConsumedCapacity, with a comma in front, if the request wants it. */
static void sim_call_write_capacity(struct sim_table_call *call, const char *comma, bool is_list,
                                    bool in_transaction)
{
    struct sim_text *out = &call->out->body;
    const char *wanted = sim_json_text(call->request, "ReturnConsumedCapacity");
    bool any = false;
    if (!wanted || strcmp(wanted, "NONE") == 0)
        return;
    sim_text_printf(out, "%s\"ConsumedCapacity\":%s", comma, is_list ? "[" : "");
    for (const struct sim_table *table = sim_history_tables(); table; table = table->next) {
        bool is_charged = false;
        for (size_t i = 0; i < call->out->charge_count; i++)
            is_charged = is_charged || call->out->charges[i].table == table;
        if (!is_charged)
            continue;
        sim_text_puts(out, any ? "," : "");
        sim_call_write_capacity_of(call, table, in_transaction, out);
        any = true;
    }
    sim_text_puts(out, is_list ? "]" : "");
}

/* The moment that an eventually consistent read shows: mostly the present one. */
static int64_t sim_call_moment(struct sim_table_call *call, const struct sim_table *table,
                               int index, bool consistent)
{
    bool is_global = index >= 0 && !table->indexes[index].is_local;
    int64_t most = is_global ? table->indexes[index].most_lag_ms / 2 : table->most_lag_ms;
    if (consistent || most == 0 || !sim_dice_chance(call->mood->dice, 300))
        return sim_now_ms();
    return sim_now_ms() - sim_dice_between(call->mood->dice, 0, most);
}

/* Reads attributes as typed JSON. False: the outcome is an error, nothing is to be freed. */
static bool sim_call_read_attributes(struct sim_table_call *call, const struct sim_json *json,
                                     struct sim_attribute **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    if (!json || json->kind != SIM_JSON_OBJECT || json->count == 0)
        return sim_outcome_refuse(call->out, "A key is an object with attributes");
    *out = sim_alloc(json->count * sizeof **out);
    for (size_t i = 0; i < json->count; i++) {
        if (!sim_value_read(&(*out)[i].value, &json->members[i])) {
            sim_attributes_free(*out, *count);
            *out = NULL;
            *count = 0;
            return sim_outcome_refuse(call->out, "Supplied AttributeValue is not valid: %s",
                                      json->names[i]);
        }
        (*out)[i].name = sim_copy(json->names[i]);
        ++*count;
    }
    return true;
}

/* Whether VALUE may be the key attribute NUMBER of KEY. */
static bool sim_call_check_key_value(struct sim_table_call *call, const struct sim_key_schema *key,
                                     unsigned number, const struct sim_value *value)
{
    const char *name = key->names[number];
    size_t most = number < key->hash_count ? SIM_MOST_HASH : SIM_MOST_RANGE;
    if (value->type != key->types[number])
        return sim_outcome_refuse(call->out, "Type mismatch for key %s expected: %s actual: %s",
                                  name, sim_type_name(key->types[number]),
                                  sim_type_name(value->type));
    if (value->size == 0)
        return sim_outcome_refuse(
            call->out, "The AttributeValue for a key attribute cannot contain an empty value: %s",
            name);
    if (value->size > most)
        return sim_outcome_refuse(call->out, "The key attribute %s is longer than %zu bytes", name,
                                  most);
    return true;
}

static const struct sim_value *sim_attribute_of(const struct sim_attribute *attributes,
                                                size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(attributes[i].name, name) == 0)
            return &attributes[i].value;
    }
    return NULL;
}

/* Whether the attributes are a key of the table, and nothing else. */
static bool sim_call_check_key(struct sim_table_call *call, const struct sim_table *table,
                               const struct sim_attribute *attributes, size_t count)
{
    const struct sim_key_schema *key = &table->key;
    unsigned all = key->hash_count + key->range_count;
    for (unsigned i = 0; i < all; i++) {
        const struct sim_value *value = sim_attribute_of(attributes, count, key->names[i]);
        if (!value)
            return sim_outcome_refuse(call->out,
                                      "The provided key element does not match the schema");
        if (!sim_call_check_key_value(call, key, i, value))
            return false;
    }
    if (count != all)
        return sim_outcome_refuse(call->out, "The provided key element does not match the schema");
    return true;
}

/* The version with the key in JSON. *VERSION is NULL if there is no item. */
static bool sim_call_find(struct sim_table_call *call, const struct sim_table *table,
                          const struct sim_json *json, bool consistent,
                          const struct sim_version **version)
{
    struct sim_attribute *key;
    size_t count;
    *version = NULL;
    if (!sim_call_read_attributes(call, json, &key, &count))
        return false;
    bool ok = sim_call_check_key(call, table, key, count);
    if (ok) {
        struct sim_item *item = sim_history_find(table, key, count);
        int64_t at_ms = sim_call_moment(call, table, -1, consistent);
        *version = item ? sim_version_at(item, -1, at_ms) : NULL;
        if (*version && (*version)->is_deleted)
            *version = NULL;
    }
    sim_attributes_free(key, count);
    return ok;
}

static bool sim_call_get_with(struct sim_table_call *call, struct sim_expressions *of)
{
    bool consistent = false;
    const struct sim_version *version;
    size_t first, count;
    const struct sim_json *request = call->request;
    struct sim_table *table = sim_call_table(call, sim_json_text(request, "TableName"));
    if (!table || !sim_call_flag(call, request, "ConsistentRead", &consistent) ||
        !sim_expressions_read_projection(of, request, &first, &count) ||
        !sim_expressions_check_used(of) ||
        !sim_call_find(call, table, sim_json_get(request, "Key"), consistent, &version))
        return false;
    sim_call_charge(call, table, -1,
                    sim_units_of(version ? version->item_size : 0, consistent ? 2 : 1));
    struct sim_text *out = &call->out->body;
    sim_text_puts(out, "{");
    if (version) {
        sim_text_puts(out, "\"Item\":");
        sim_expressions_write_item(of, first, count, version, -1, out);
        call->out->items = 1;
    }
    sim_call_write_capacity(call, version ? "," : "", false, false);
    sim_text_puts(out, "}");
    return true;
}

static bool sim_call_get(struct sim_table_call *call)
{
    static const char *const names[] = {"TableName",
                                        "Key",
                                        "ConsistentRead",
                                        "ProjectionExpression",
                                        "ExpressionAttributeNames",
                                        "ReturnConsumedCapacity",
                                        NULL};
    struct sim_expressions of = {0};
    bool ok = sim_call_check_members(call, call->request, names) && sim_call_check_capacity(call) &&
              sim_expressions_begin(&of, call->request, call->out) && sim_call_get_with(call, &of);
    sim_expressions_end(&of);
    return ok;
}

/* A key of a batch, in the random order in which the service reads it. */
struct sim_batch_key {
    const struct sim_json *json;
    const struct sim_version *version;
    bool is_processed;
};

/* Checks the keys of one table and finds their versions. */
static bool sim_batch_find(struct sim_table_call *call, const struct sim_table *table,
                           const struct sim_json *keys, bool consistent, struct sim_batch_key *out)
{
    for (size_t i = 0; i < keys->count; i++) {
        size_t at = sim_dice_below(call->mood->dice, (uint32_t)i + 1);
        out[i] = out[at];
        out[at] = (struct sim_batch_key){.json = &keys->members[i]};
        if (!sim_call_find(call, table, &keys->members[i], consistent, &out[at].version))
            return false;
        for (size_t k = 0; k < i; k++) {
            if (sim_json_same(&keys->members[i], &keys->members[k]))
                return sim_outcome_refuse(call->out,
                                          "Provided list of item keys contains duplicates");
        }
    }
    return true;
}

/* The unprocessed keys of one table, with the other members of the request for it. */
static void sim_batch_write_left(const struct sim_json *of, const char *name,
                                 const struct sim_batch_key *keys, size_t count,
                                 struct sim_text *out)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].is_processed)
            continue;
        if (!any) {
            sim_text_puts(out, out->size ? "," : "");
            sim_text_json_string(out, name, strlen(name));
            sim_text_puts(out, ":{\"Keys\":[");
        }
        sim_text_puts(out, any ? "," : "");
        sim_json_write(out, keys[i].json);
        any = true;
    }
    if (!any)
        return;
    sim_text_puts(out, "]");
    for (size_t i = 0; i < of->count; i++) {
        if (strcmp(of->names[i], "Keys") == 0)
            continue;
        sim_text_puts(out, ",");
        sim_text_json_string(out, of->names[i], strlen(of->names[i]));
        sim_text_puts(out, ":");
        sim_json_write(out, &of->members[i]);
    }
    sim_text_puts(out, "}");
}

/* What a batch has read so far. */
struct sim_batch {
    struct sim_text left;
    size_t keys, bytes, unprocessed;
};

/* Reads the keys of one table, as far as the batch has room. */
static bool sim_batch_read(struct sim_table_call *call, struct sim_batch *batch, const char *name,
                           const struct sim_json *of, struct sim_expressions *expressions)
{
    static const char *const names[] = {"Keys", "ConsistentRead", "ProjectionExpression",
                                        "ExpressionAttributeNames", NULL};
    bool consistent = false, any = false;
    size_t first, projected;
    struct sim_batch_key keys[SIM_MOST_BATCH];
    const struct sim_json *list = sim_json_get(of, "Keys");
    struct sim_table *table = sim_call_table(call, name);
    if (!table || !sim_call_check_members(call, of, names) ||
        !sim_expressions_begin(expressions, of, call->out) ||
        !sim_call_flag(call, of, "ConsistentRead", &consistent) ||
        !sim_expressions_read_projection(expressions, of, &first, &projected) ||
        !sim_expressions_check_used(expressions))
        return false;
    batch->keys += list && list->kind == SIM_JSON_ARRAY ? list->count : SIM_MOST_BATCH + 1;
    if (batch->keys > SIM_MOST_BATCH || batch->keys == 0)
        return sim_outcome_refuse(call->out, "A batch has from 1 to 100 keys");
    if (!sim_batch_find(call, table, list, consistent, keys))
        return false;
    struct sim_text *out = &call->out->body;
    sim_text_json_string(out, name, strlen(name));
    sim_text_puts(out, ":[");
    for (size_t i = 0; i < list->count; i++) {
        size_t size = keys[i].version ? keys[i].version->item_size : 0;
        bool is_full = batch->bytes + size > SIM_BATCH_BYTES;
        /* The last keys are left, but the first is always read. */
        bool is_left = batch->unprocessed && (i > 0 || call->out->charge_count) &&
                       i + batch->unprocessed >= list->count;
        if (is_full || is_left)
            continue;
        keys[i].is_processed = true;
        batch->bytes += size;
        sim_call_charge(call, table, -1, sim_units_of(size, consistent ? 2 : 1));
        if (!keys[i].version)
            continue;
        sim_text_puts(out, any ? "," : "");
        sim_expressions_write_item(expressions, first, projected, keys[i].version, -1, out);
        call->out->items++;
        any = true;
    }
    sim_text_puts(out, "]");
    sim_batch_write_left(of, name, keys, list->count, &batch->left);
    return true;
}

static bool sim_call_batch(struct sim_table_call *call)
{
    static const char *const names[] = {"RequestItems", "ReturnConsumedCapacity", NULL};
    const struct sim_json *items = sim_json_get(call->request, "RequestItems");
    struct sim_batch batch = {.unprocessed = call->mood->unprocessed};
    struct sim_text *out = &call->out->body;
    if (!sim_call_check_members(call, call->request, names) || !sim_call_check_capacity(call))
        return false;
    if (!items || items->kind != SIM_JSON_OBJECT || items->count == 0)
        return sim_outcome_refuse(call->out, "RequestItems is required");
    bool ok = true;
    sim_text_puts(out, "{\"Responses\":{");
    for (size_t i = 0; ok && i < items->count; i++) {
        struct sim_expressions of = {0};
        sim_text_puts(out, i ? "," : "");
        ok = sim_batch_read(call, &batch, items->names[i], &items->members[i], &of);
        sim_expressions_end(&of);
    }
    sim_text_printf(out, "},\"UnprocessedKeys\":{%s}", batch.left.bytes ? batch.left.bytes : "");
    sim_call_write_capacity(call, ",", true, false);
    sim_text_puts(out, "}");
    sim_text_free(&batch.left);
    return ok;
}

/* Adds the response for one item of a transaction. */
static bool sim_transaction_read(struct sim_table_call *call, const struct sim_json *get,
                                 struct sim_expressions *of, size_t *bytes)
{
    static const char *const names[] = {"TableName", "Key", "ProjectionExpression",
                                        "ExpressionAttributeNames", NULL};
    size_t first, count;
    const struct sim_version *version;
    if (!get)
        return sim_outcome_refuse(call->out, "An item of a transaction is a Get");
    struct sim_table *table = sim_call_table(call, sim_json_text(get, "TableName"));
    if (!table || !sim_call_check_members(call, get, names) ||
        !sim_expressions_begin(of, get, call->out) ||
        !sim_expressions_read_projection(of, get, &first, &count) ||
        !sim_expressions_check_used(of) ||
        !sim_call_find(call, table, sim_json_get(get, "Key"), true, &version))
        return false;
    size_t size = version ? version->item_size : 0;
    *bytes += size;
    sim_call_charge(call, table, -1, sim_units_of(size, 4));
    struct sim_text *out = &call->out->body;
    sim_text_puts(out, "{");
    if (version) {
        sim_text_puts(out, "\"Item\":");
        sim_expressions_write_item(of, first, count, version, -1, out);
        call->out->items++;
    }
    sim_text_puts(out, "}");
    return true;
}

static const struct sim_json *sim_transaction_get(const struct sim_json *item)
{
    const struct sim_json *get = sim_json_get(item, "Get");
    return get && item->count == 1 && get->kind == SIM_JSON_OBJECT ? get : NULL;
}

/* Cancels the transaction: one of its items is being written, or all of them are too large. */
static bool sim_transaction_cancel(struct sim_table_call *call, size_t count, const char *code,
                                   const char *message)
{
    struct sim_outcome *out = call->out;
    size_t hit = sim_dice_below(call->mood->dice, (uint32_t)count);
    struct sim_text list = {0}, reasons = {0};
    for (size_t i = 0; i < count; i++) {
        bool is_hit = i == hit;
        sim_text_printf(&list, "%s%s", i ? ", " : "", is_hit ? code : "None");
        sim_text_printf(&reasons, "%s{\"Code\":\"%s\"", i ? "," : "", is_hit ? code : "None");
        if (is_hit)
            sim_text_printf(&reasons, ",\"Message\":\"%s\"", message);
        sim_text_puts(&reasons, "}");
    }
    out->code = "TransactionCanceledException";
    out->message = sim_printf("Transaction cancelled, please refer cancellation reasons for "
                              "specific reasons [%s]",
                              list.bytes);
    sim_text_free(&out->body);
    sim_text_printf(&out->body,
                    "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"Message\":\"%s\","
                    "\"CancellationReasons\":[%s]}",
                    out->code, out->message, reasons.bytes);
    sim_text_free(&list);
    sim_text_free(&reasons);
    return false;
}

static bool sim_call_transact(struct sim_table_call *call)
{
    static const char *const names[] = {"TransactItems", "ReturnConsumedCapacity", NULL};
    const struct sim_json *items = sim_json_get(call->request, "TransactItems");
    struct sim_text *out = &call->out->body;
    size_t bytes = 0;
    if (!sim_call_check_members(call, call->request, names) || !sim_call_check_capacity(call))
        return false;
    if (!items || items->kind != SIM_JSON_ARRAY || items->count == 0 ||
        items->count > SIM_MOST_BATCH)
        return sim_outcome_refuse(call->out, "A transaction has from 1 to 100 items");
    bool ok = true;
    sim_text_puts(out, "{\"Responses\":[");
    for (size_t i = 0; ok && i < items->count; i++) {
        struct sim_expressions of = {0};
        const struct sim_json *get = sim_transaction_get(&items->members[i]);
        sim_text_puts(out, i ? "," : "");
        ok = sim_transaction_read(call, get, &of, &bytes);
        sim_expressions_end(&of);
    }
    if (!ok)
        return false;
    if (call->mood->is_cancelled)
        return sim_transaction_cancel(call, items->count, "TransactionConflict",
                                      "Transaction is ongoing for the item");
    if (bytes > SIM_TRANSACTION_BYTES)
        return sim_transaction_cancel(call, items->count, "ValidationError",
                                      "Collection of items is larger than 4 MB");
    sim_text_puts(out, "]");
    sim_call_write_capacity(call, ",", true, true);
    sim_text_puts(out, "}");
    return true;
}

/* A Query or a Scan while it is executed. */
struct sim_table_page {
    struct sim_table_call *call;
    struct sim_expressions of;
    const struct sim_table *table;
    const struct sim_order *order;
    int index;
    bool consistent, is_backward, counts;
    bool fetches; /* a local index lacks attributes, which are read from the table */
    int64_t limit, segment, segments;
    int condition, filter;                                /* nodes */
    size_t projected, projection;                         /* how many paths, and the first one */
    const struct sim_term *conditions[2 * SIM_MOST_KEYS]; /* of each key attribute; NULL: none */
    struct sim_attribute *start;                          /* ExclusiveStartKey; owned */
    size_t start_count;
    int64_t at_ms;

    struct sim_text items;
    size_t bytes, scanned, count;
    struct sim_item *seen;              /* one of its items */
    const struct sim_version *last;     /* the page ends behind it; NULL: at the end */
    const struct sim_value *last_range; /* a ghost: instead of its last range attribute */
};

static void sim_page_clean_up(struct sim_table_page *page)
{
    sim_expressions_end(&page->of);
    sim_attributes_free(page->start, page->start_count);
    sim_text_free(&page->items);
}

static const struct sim_value *sim_page_value(const struct sim_table_page *page, int node)
{
    return page->of.nodes[node].kind == SIM_TERM_VALUE ? page->of.nodes[node].value : NULL;
}

/* Takes one condition on a key attribute. */
static bool sim_page_take_condition(struct sim_table_page *page, const struct sim_term *node)
{
    struct sim_outcome *out = page->call->out;
    const struct sim_key_schema *key = page->order->key;
    const struct sim_term *path = node->parts[0] < 0 ? NULL : &page->of.nodes[node->parts[0]];
    bool is_known = (node->kind >= SIM_TERM_EQUAL && node->kind <= SIM_TERM_BETWEEN &&
                     node->kind != SIM_TERM_NOT_EQUAL) ||
                    node->kind == SIM_TERM_BEGINS;
    if (!is_known || !path || path->kind != SIM_TERM_PATH || path->step_count != 1)
        return sim_outcome_refuse(out, "Invalid operator used in KeyConditionExpression");
    const char *name = sim_expressions_top(&page->of, path);
    unsigned at = 0;
    while (at < key->hash_count + key->range_count && strcmp(key->names[at], name) != 0)
        at++;
    if (at == key->hash_count + key->range_count)
        return sim_outcome_refuse(out, "Query condition missed key schema element: %s is no key",
                                  name);
    if (page->conditions[at])
        return sim_outcome_refuse(
            out, "KeyConditionExpressions must only contain one condition per key");
    if (at < key->hash_count && node->kind != SIM_TERM_EQUAL)
        return sim_outcome_refuse(out, "Query key condition not supported");
    for (unsigned i = 1; i < 3 && node->parts[i] >= 0; i++) {
        const struct sim_value *value = sim_page_value(page, node->parts[i]);
        if (!value)
            return sim_outcome_refuse(out, "KeyConditionExpressions compare with values only");
        if (!sim_call_check_key_value(page->call, key, at, value))
            return false;
        if (node->kind == SIM_TERM_BEGINS && value->type == SIM_N)
            return sim_outcome_refuse(out, "begins_with takes no number");
    }
    page->conditions[at] = node;
    return true;
}

static bool sim_page_take_conditions(struct sim_table_page *page, int root)
{
    const struct sim_term *node = &page->of.nodes[root];
    if (node->kind != SIM_TERM_AND)
        return sim_page_take_condition(page, node);
    return sim_page_take_conditions(page, node->parts[0]) &&
           sim_page_take_conditions(page, node->parts[1]);
}

/* Each hash attribute is equal to something; range attributes from the left without a gap, and only
 * the last condition may be another one than equality. */
static bool sim_page_check_conditions(struct sim_table_page *page)
{
    const struct sim_key_schema *key = page->order->key;
    struct sim_outcome *out = page->call->out;
    bool ended = false;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_term *node = page->conditions[i];
        if (i < key->hash_count && !node)
            return sim_outcome_refuse(out, "Query condition missed key schema element: %s",
                                      key->names[i]);
        if (node && ended)
            return sim_outcome_refuse(out, "The condition on %s has no equality in front of it",
                                      key->names[i]);
        ended = ended || !node || node->kind != SIM_TERM_EQUAL;
    }
    return true;
}

/* Whether a range value fulfils its condition. */
static bool sim_page_fits(const struct sim_table_page *page, const struct sim_term *node,
                          const struct sim_value *value)
{
    const struct sim_value *low = sim_page_value(page, node->parts[1]);
    if (node->kind == SIM_TERM_BEGINS)
        return value->size >= low->size && memcmp(value->bytes, low->bytes, low->size) == 0;
    int order = sim_value_compare(value, low);
    switch (node->kind) {
    case SIM_TERM_EQUAL:
        return order == 0;
    case SIM_TERM_LESS:
        return order < 0;
    case SIM_TERM_AT_MOST:
        return order <= 0;
    case SIM_TERM_GREATER:
        return order > 0;
    case SIM_TERM_AT_LEAST:
        return order >= 0;
    default:
        return order >= 0 && sim_value_compare(value, sim_page_value(page, node->parts[2])) <= 0;
    }
}

static bool sim_page_range_fits(const struct sim_table_page *page,
                                const struct sim_value *const *range)
{
    const struct sim_key_schema *key = page->order->key;
    bool ok = true;
    for (unsigned i = 0; ok && i < key->range_count; i++) {
        const struct sim_term *node = page->conditions[key->hash_count + i];
        ok = !node || sim_page_fits(page, node, range[i]);
    }
    return ok;
}

static bool sim_schema_names(const struct sim_key_schema *key, const char *name)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        if (strcmp(key->names[i], name) == 0)
            return true;
    }
    return false;
}

static bool sim_page_is_no_key(void *arg, const char *name)
{
    struct sim_table_page *page = arg;
    if (!sim_schema_names(page->order->key, name))
        return true;
    return sim_outcome_refuse(page->call->out,
                              "Filter Expression can only contain non-primary key attributes: "
                              "Primary key attribute: %s",
                              name);
}

/* Reads ExclusiveStartKey: all key attributes of index and table, within the conditions. */
static bool sim_page_read_start(struct sim_table_page *page)
{
    struct sim_outcome *out = page->call->out;
    const struct sim_json *json = sim_json_get(page->call->request, "ExclusiveStartKey");
    const struct sim_key_schema *schemas[2] = {page->order->key, &page->table->key};
    if (!json)
        return true;
    if (!sim_call_read_attributes(page->call, json, &page->start, &page->start_count))
        return false;
    size_t count = 0;
    for (unsigned s = 0; s < (page->index < 0 ? 1 : 2); s++) {
        for (unsigned i = 0; i < schemas[s]->hash_count + schemas[s]->range_count; i++) {
            const char *name = schemas[s]->names[i];
            const struct sim_value *value = sim_attribute_of(page->start, page->start_count, name);
            if (!value)
                return sim_outcome_refuse(out, "The provided starting key is invalid: %s", name);
            if (!sim_call_check_key_value(page->call, schemas[s], i, value))
                return false;
            const struct sim_term *node = s == 0 ? page->conditions[i] : NULL;
            if (node && !sim_page_fits(page, node, value))
                return sim_outcome_refuse(out, "The provided starting key is outside query "
                                               "boundaries based on provided conditions");
            count += s == 0 || !sim_schema_names(schemas[0], name);
        }
    }
    if (count != page->start_count)
        return sim_outcome_refuse(out, "The provided starting key is invalid: too many attributes");
    return true;
}

/* The position of ExclusiveStartKey. */
static void sim_page_start_position(const struct sim_table_page *page, struct sim_position *out)
{
    const struct sim_key_schema *key = page->order->key, *own = &page->table->key;
    *out = (struct sim_position){0};
    for (unsigned i = 0; i < key->range_count; i++)
        out->range[i] =
            sim_attribute_of(page->start, page->start_count, key->names[key->hash_count + i]);
    for (unsigned i = 0; i < own->hash_count + own->range_count; i++)
        out->own[i] = sim_attribute_of(page->start, page->start_count, own->names[i]);
    out->digest = sim_values_digest(out->own, own->hash_count + own->range_count);
}

/* What Select, the projection and the index allow together. */
static bool sim_page_check_attributes(struct sim_table_page *page)
{
    struct sim_outcome *out = page->call->out;
    const struct sim_json *json = sim_json_get(page->call->request, "Select");
    const char *select = sim_json_text(page->call->request, "Select");
    const struct sim_index *index = page->index < 0 ? NULL : &page->table->indexes[page->index];
    bool lacks = false;
    for (size_t i = 0; i < page->projected; i++) {
        const struct sim_term *path = &page->of.nodes[page->projection + i];
        const char *top = sim_expressions_top(&page->of, path);
        bool has = sim_index_has(page->table, page->index, top);
        lacks = lacks || !has;
        if (!has && !index->is_local)
            return sim_outcome_refuse(out,
                                      "One or more parameter values were invalid: Global "
                                      "secondary index %s does not project [%s]",
                                      index->name, top);
    }
    if (json && !select)
        return sim_outcome_refuse(out, "Select is no text");
    if (!select) {
        page->fetches = lacks;
        return true;
    }
    page->counts = strcmp(select, "COUNT") == 0;
    bool wants_all = strcmp(select, "ALL_ATTRIBUTES") == 0;
    bool wants_some = strcmp(select, "SPECIFIC_ATTRIBUTES") == 0;
    if (!page->counts && !wants_all && !wants_some &&
        (strcmp(select, "ALL_PROJECTED_ATTRIBUTES") != 0 || !index))
        return sim_outcome_refuse(out, "Select is no word that fits: %s", select);
    if (wants_some != (page->projected > 0))
        return sim_outcome_refuse(out, "Cannot specify the ProjectionExpression when choosing %s",
                                  select);
    if (wants_all && index && !index->is_local && index->projection != SIM_PROJECT_ALL)
        return sim_outcome_refuse(out,
                                  "Select type ALL_ATTRIBUTES is not supported for global "
                                  "secondary index %s",
                                  index->name);
    page->fetches = lacks || (wants_all && index && index->projection != SIM_PROJECT_ALL);
    return true;
}

/* Reads what Query and Scan have in common. */
static bool sim_page_begin(struct sim_table_page *page)
{
    struct sim_table_call *call = page->call;
    const struct sim_json *request = call->request;
    const char *index = sim_json_text(request, "IndexName");
    page->table = sim_call_table(call, sim_json_text(request, "TableName"));
    if (!page->table)
        return false;
    page->index = index ? sim_table_find_index(page->table, index) : -1;
    if (sim_json_get(request, "IndexName") && page->index < 0)
        return sim_outcome_refuse(call->out, "The table does not have the specified index: %s",
                                  index ? index : "");
    page->order = sim_history_order(page->table, page->index);
    if (!sim_call_flag(call, request, "ConsistentRead", &page->consistent) ||
        !sim_call_integer(call, "Limit", 1, INT32_MAX, &page->limit) ||
        !sim_expressions_begin(&page->of, request, call->out))
        return false;
    if (page->consistent && page->index >= 0 && !page->table->indexes[page->index].is_local)
        return sim_outcome_refuse(call->out,
                                  "Consistent reads are not supported on global secondary indexes");
    page->at_ms = sim_call_moment(call, page->table, page->index, page->consistent);
    return true;
}

/* Reads the expressions, and checks what depends on them. */
static bool sim_page_read_expressions(struct sim_table_page *page)
{
    const struct sim_json *request = page->call->request;
    if (!sim_expressions_read_condition(&page->of, request, "KeyConditionExpression",
                                        &page->condition) ||
        !sim_expressions_read_condition(&page->of, request, "FilterExpression", &page->filter) ||
        !sim_expressions_read_projection(&page->of, request, &page->projection, &page->projected) ||
        !sim_expressions_check_used(&page->of) || !sim_page_check_attributes(page))
        return false;
    return true;
}

/* The size of the version in the table or the index. */
static size_t sim_page_size_of(const struct sim_table_page *page, const struct sim_version *version)
{
    if (page->index < 0 || page->table->indexes[page->index].projection == SIM_PROJECT_ALL)
        return version->item_size;
    size_t sum = 0;
    for (size_t i = 0; i < version->attribute_count; i++) {
        if (sim_index_has(page->table, page->index, version->attributes[i].name))
            sum += sim_attributes_size(&version->attributes[i], 1);
    }
    return sum;
}

/* Adds a version to the page. False: the page ends behind it. */
static bool sim_page_add_item(struct sim_table_page *page, const struct sim_version *version)
{
    struct sim_table_call *call = page->call;
    int index = page->fetches ? -1 : page->index;
    page->bytes += sim_page_size_of(page, version);
    page->scanned++;
    if (call->mood->was_read && sim_dice_below(call->mood->dice, (uint32_t)page->scanned) == 0)
        page->seen = version->item;
    if (page->fetches)
        sim_call_charge(call, page->table, -1,
                        sim_units_of(version->item_size, page->consistent ? 2 : 1));
    if (sim_expressions_match(&page->of, page->filter, version, index)) {
        if (!page->counts) {
            if (page->count)
                sim_text_puts(&page->items, ",");
            /* Without a projection a local index shows what it has, unless all is wanted. */
            sim_expressions_write_item(&page->of, page->projection, page->projected, version, index,
                                       &page->items);
        }
        page->count++;
    }
    if (page->scanned != (size_t)page->limit && page->scanned != call->mood->cut_after &&
        page->bytes < SIM_PAGE)
        return true;
    page->last = version;
    return false;
}

/* Appends the key attributes of index and table. */
static void sim_page_write_last(const struct sim_table_page *page, struct sim_text *out)
{
    const struct sim_key_schema *schemas[2] = {page->order->key, &page->table->key};
    const struct sim_key_schema *key = page->order->key;
    bool any = false;
    sim_text_puts(out, "{");
    for (unsigned s = 0; s < (page->index < 0 ? 1 : 2); s++) {
        for (unsigned i = 0; i < schemas[s]->hash_count + schemas[s]->range_count; i++) {
            const char *name = schemas[s]->names[i];
            if (s == 1 && sim_schema_names(key, name))
                continue;
            bool is_ghost = page->last_range &&
                            strcmp(name, key->names[key->hash_count + key->range_count - 1]) == 0;
            sim_text_puts(out, any ? "," : "");
            sim_text_json_string(out, name, strlen(name));
            sim_text_puts(out, ":");
            sim_value_write(out, is_ghost ? page->last_range : sim_version_get(page->last, name));
            any = true;
        }
    }
    sim_text_puts(out, "}");
}

static bool sim_page_finish(struct sim_table_page *page)
{
    struct sim_table_call *call = page->call;
    struct sim_text *out = &call->out->body;
    sim_call_charge(call, page->table, page->index,
                    sim_units_of(page->bytes, page->consistent ? 2 : 1));
    call->out->items = page->counts ? 0 : page->count;
    sim_text_puts(out, "{");
    if (!page->counts) {
        sim_text_puts(out, "\"Items\":[");
        sim_text_add(out, page->items.bytes, page->items.size);
        sim_text_puts(out, "],");
    }
    sim_text_printf(out, "\"Count\":%zu,\"ScannedCount\":%zu", page->count, page->scanned);
    if (page->last) {
        sim_text_puts(out, ",\"LastEvaluatedKey\":");
        sim_page_write_last(page, out);
    }
    sim_call_write_capacity(call, ",", false, false);
    sim_text_puts(out, "}");
    return true;
}

/* A value a little below (or above) VALUE, as of an item that was there a moment ago. False: none.
 */
static bool sim_ghost_value(const struct sim_value *value, bool above, struct sim_value *out)
{
    struct sim_text text = {0};
    unsigned char last = (unsigned char)value->bytes[value->size - 1];
    if (value->type == SIM_N) {
        char *end;
        long number = value->size < 9 ? strtol(value->bytes, &end, 10) : -1;
        if (number < 1 || *end)
            return false;
        sim_text_printf(&text, "%ld.5", above ? number : number - 1);
    } else {
        if (!above && !((last > '1' && last <= '9') || (last > 'a' && last <= 'z')))
            return false;
        sim_text_add(&text, value->bytes, value->size);
        if (!above)
            text.bytes[text.size - 1]--;
        sim_text_puts(&text, above ? "!" : "~");
    }
    *out = (struct sim_value){.type = value->type, .bytes = text.bytes, .size = text.size};
    return true;
}

/* An empty page: it ends in front of VERSION, the first that it would show, at a place that an item
 * has left. False: there is no such legal place behind the last page. */
static bool sim_page_is_ghost(struct sim_table_page *page, const struct sim_version *version,
                              const struct sim_position *start, struct sim_value *ghost)
{
    const struct sim_key_schema *key = page->order->key;
    struct sim_position position;
    if (!page->call->mood->is_empty || key->range_count == 0)
        return false;
    sim_position_of(&position, page->order, version);
    if (!sim_ghost_value(position.range[key->range_count - 1], page->is_backward, ghost))
        return false;
    position.range[key->range_count - 1] = ghost;
    /* A key attribute of the table that is the key's, too, has one value. */
    for (unsigned i = 0; i < 2; i++) {
        if (i < page->table->key.hash_count + page->table->key.range_count &&
            strcmp(page->table->key.names[i], key->names[key->hash_count + key->range_count - 1]) ==
                0)
            position.own[i] = ghost;
    }
    position.digest =
        sim_values_digest(position.own, page->table->key.hash_count + page->table->key.range_count);
    int order = start ? sim_position_compare(page->order, start, &position) : 0;
    bool is_behind = !start || (page->is_backward ? order > 0 : order < 0);
    if (ghost->size <= SIM_MOST_RANGE && is_behind && sim_page_range_fits(page, position.range)) {
        page->last = version;
        page->last_range = ghost;
        return true;
    }
    sim_value_free(ghost);
    return false;
}

/* Reads a partition from ExclusiveStartKey on. */
static void sim_page_read_partition(struct sim_table_page *page,
                                    const struct sim_partition *partition, struct sim_value *ghost)
{
    struct sim_position start;
    size_t at = page->is_backward ? partition->place_count : 0;
    if (page->start) {
        bool found;
        sim_page_start_position(page, &start);
        at = sim_partition_seek(page->order, partition, &start, &found);
        at += found && !page->is_backward;
    }
    bool is_first = true;
    while (page->is_backward ? at > 0 : at < partition->place_count) {
        const struct sim_place *place = partition->places[page->is_backward ? --at : at++];
        const struct sim_version *version = sim_place_version(place, page->order, page->at_ms);
        struct sim_position position;
        if (!version)
            continue;
        sim_position_of(&position, page->order, version);
        if (!sim_page_range_fits(page, position.range))
            continue;
        if (is_first && sim_page_is_ghost(page, version, page->start ? &start : NULL, ghost))
            return;
        is_first = false;
        if (!sim_page_add_item(page, version))
            return;
    }
}

static bool sim_call_query_with(struct sim_table_call *call, struct sim_table_page *page)
{
    bool forward = true;
    if (!sim_page_begin(page) ||
        !sim_call_flag(call, call->request, "ScanIndexForward", &forward) ||
        !sim_page_read_expressions(page))
        return false;
    page->is_backward = sim_json_get(call->request, "ScanIndexForward") && !forward;
    if (page->condition < 0)
        return sim_outcome_refuse(call->out, "Either the KeyConditions or KeyConditionExpression "
                                             "parameter must be specified in the request");
    if (!sim_page_take_conditions(page, page->condition) || !sim_page_check_conditions(page) ||
        !sim_expressions_each_path(&page->of, page->filter, sim_page_is_no_key, page) ||
        !sim_page_read_start(page))
        return false;
    const struct sim_value *hash[SIM_MOST_KEYS];
    for (unsigned i = 0; i < page->order->key->hash_count; i++)
        hash[i] = sim_page_value(page, page->conditions[i]->parts[1]);
    const struct sim_partition *partition = sim_order_find(page->order, hash);
    struct sim_value ghost = {0};
    if (partition)
        sim_page_read_partition(page, partition, &ghost);
    bool ok = sim_page_finish(page);
    sim_value_free(&ghost);
    if (ok && page->seen && page->index >= 0)
        call->mood->was_read(call->mood->dice, page->seen);
    return ok;
}

static bool sim_call_query(struct sim_table_call *call)
{
    static const char *const names[] = {"TableName",
                                        "IndexName",
                                        "Select",
                                        "Limit",
                                        "ConsistentRead",
                                        "ScanIndexForward",
                                        "ExclusiveStartKey",
                                        "ReturnConsumedCapacity",
                                        "ProjectionExpression",
                                        "FilterExpression",
                                        "KeyConditionExpression",
                                        "ExpressionAttributeNames",
                                        "ExpressionAttributeValues",
                                        NULL};
    struct sim_table_page page = {.call = call, .limit = INT32_MAX, .condition = -1, .filter = -1};
    bool ok = sim_call_check_members(call, call->request, names) && sim_call_check_capacity(call) &&
              sim_call_query_with(call, &page);
    sim_page_clean_up(&page);
    return ok;
}

/* Reads the partitions of the segment from ExclusiveStartKey on. */
static void sim_page_scan(struct sim_table_page *page)
{
    const struct sim_order *order = page->order;
    struct sim_attribute *start = page->start;
    struct sim_value ghost = {0};
    size_t at = 0;
    if (start) {
        const struct sim_value *hash[SIM_MOST_KEYS];
        bool found;
        for (unsigned i = 0; i < order->key->hash_count; i++)
            hash[i] = sim_attribute_of(start, page->start_count, order->key->names[i]);
        at = sim_order_seek(order, hash, &found);
        if (!found)
            page->start = NULL;
    }
    for (; at < order->partition_count && !page->last; at++) {
        const struct sim_partition *partition = order->partitions[at];
        if (page->segments == 0 ||
            partition->digest % (uint64_t)page->segments == (uint64_t)page->segment)
            sim_page_read_partition(page, partition, &ghost);
        page->start = NULL;
    }
    page->start = start;
    page->last_range = NULL; /* a Scan has no ghost */
}

static bool sim_call_scan_with(struct sim_table_call *call, struct sim_table_page *page)
{
    page->segment = -1;
    if (!sim_page_begin(page) || !sim_page_read_expressions(page) ||
        !sim_call_integer(call, "TotalSegments", 1, 1000000, &page->segments) ||
        !sim_call_integer(call, "Segment", 0, page->segments - 1, &page->segment) ||
        !sim_page_read_start(page))
        return false;
    if ((page->segment >= 0) != (page->segments > 0))
        return sim_outcome_refuse(call->out, "Segment and TotalSegments belong together");
    sim_page_scan(page);
    return sim_page_finish(page);
}

static bool sim_call_scan(struct sim_table_call *call)
{
    static const char *const names[] = {"TableName",
                                        "IndexName",
                                        "Select",
                                        "Limit",
                                        "ConsistentRead",
                                        "ExclusiveStartKey",
                                        "ReturnConsumedCapacity",
                                        "ProjectionExpression",
                                        "FilterExpression",
                                        "ExpressionAttributeNames",
                                        "ExpressionAttributeValues",
                                        "Segment",
                                        "TotalSegments",
                                        NULL};
    struct sim_mood mood = *call->mood;
    mood.is_empty = false; /* its order is not that of keys */
    struct sim_table_call own = {.request = call->request, .mood = &mood, .out = call->out};
    struct sim_table_page page = {.call = &own, .limit = INT32_MAX, .condition = -1, .filter = -1};
    if (!call->mood->may_scan)
        return sim_outcome_refuse(call->out, "A Scan of a mount without --allow-scan");
    bool ok = sim_call_check_members(&own, own.request, names) && sim_call_check_capacity(&own) &&
              sim_call_scan_with(&own, &page);
    sim_page_clean_up(&page);
    return ok;
}

/* Writes the body of an error, unless it has one. */
static void sim_call_write_error(struct sim_outcome *out)
{
    bool has_body = strcmp(out->code, "TransactionCanceledException") == 0;
    out->charge_count = 0;
    out->half_units = 0;
    out->items = 0;
    if (has_body)
        return;
    bool is_validation = strcmp(out->code, "ValidationException") == 0;
    sim_text_free(&out->body);
    sim_text_printf(&out->body, "{\"__type\":\"%s#%s\",\"message\":",
                    is_validation ? "com.amazon.coral.validate"
                                  : "com.amazonaws.dynamodb.v20120810",
                    out->code);
    sim_text_json_string(&out->body, out->message, strlen(out->message));
    sim_text_puts(&out->body, "}");
}

bool sim_tables_answer(const char *operation, const struct sim_json *request,
                       const struct sim_mood *mood, struct sim_outcome *out)
{
    static const struct {
        const char *name;
        bool (*fn)(struct sim_table_call *call);
    } operations[] = {{"GetItem", sim_call_get},
                      {"BatchGetItem", sim_call_batch},
                      {"TransactGetItems", sim_call_transact},
                      {"Query", sim_call_query},
                      {"Scan", sim_call_scan}};
    struct sim_table_call call = {.request = request, .mood = mood, .out = out};
    *out = (struct sim_outcome){0};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, operation) != 0)
            continue;
        if (!operations[i].fn(&call))
            sim_call_write_error(out);
        return true;
    }
    if (!sim_descriptions_answer(operation, request, mood, out))
        return false;
    if (out->code)
        sim_call_write_error(out);
    return true;
}

void sim_outcome_clean_up(struct sim_outcome *outcome)
{
    sim_free(outcome->message);
    sim_text_free(&outcome->body);
    *outcome = (struct sim_outcome){0};
}
