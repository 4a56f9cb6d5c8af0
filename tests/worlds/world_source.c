#include "tests/worlds/world_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dynamo/request_print.h"
#include "core/source/read_words.h"
#include "core/source/table_description.h"

struct world_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct loop_timer *timer;
    const struct world_item *found[WORLD_ITEMS]; /* in their order */
    unsigned count, next;
};

static struct world_source *world_source_of(const struct world_call *call)
{
    return (struct world_source *)call->base.source;
}

static void world_source_refuse(struct world_source *source, const char *what)
{
    if (!source->books.refused[0])
        snprintf(source->books.refused, sizeof source->books.refused, "%s", what);
}

static const struct world_table *world_source_table(const struct world_source *source,
                                                    const char *name)
{
    for (unsigned i = 0; i < source->world->table_count; i++)
        if (strcmp(source->world->tables[i].service, name) == 0)
            return &source->world->tables[i];
    return NULL;
}

static const struct world_index *world_source_index(const struct world_table *table,
                                                    const char *name)
{
    for (unsigned i = 0; name && i < table->index_count; i++)
        if (strcmp(table->indexes[i].name, name) == 0)
            return &table->indexes[i];
    return NULL;
}

/* Conditions, by the rules of DynamoDB. */

static const struct world_value *world_source_get(const struct world_item *item, struct span name)
{
    char text[WORLD_NAME] = "";
    if (name.size >= WORLD_NAME)
        return NULL;
    memcpy(text, name.data, name.size);
    return world_find(item, text);
}

static int world_source_compare_texts(const char *a, const char *b, size_t size)
{
    size_t own = strlen(a), least = own < size ? own : size;
    int order = memcmp(a, b, least);
    return order ? order : (own > size) - (own < size);
}

/* Of values of equal types. */
static int world_source_compare(const struct world_value *a, const struct value *b)
{
    if (b->type != VALUE_N)
        return world_source_compare_texts(a->text, b->bytes.data, b->bytes.size);
    char text[64] = "";
    memcpy(text, b->bytes.data, b->bytes.size < sizeof text - 1 ? b->bytes.size : sizeof text - 1);
    long double x = strtold(a->text, NULL), y = strtold(text, NULL);
    return (x > y) - (x < y);
}

static bool world_source_same_type(const struct world_value *a, const struct value *b)
{
    return (a->type == 'S' && b->type == VALUE_S) || (a->type == 'N' && b->type == VALUE_N) ||
           (a->type == 'B' && b->type == VALUE_B);
}

static bool world_source_equals(const struct world_value *a, const struct value *b)
{
    if (a->type == 'J' && b->type == VALUE_BOOL)
        return strcmp(a->text,
                      span_is(b->bytes, "true") ? "{\"BOOL\":true}" : "{\"BOOL\":false}") == 0;
    if (a->type == 'J' && b->type == VALUE_NULL)
        return strcmp(a->text, "{\"NULL\":true}") == 0;
    return world_source_same_type(a, b) && world_source_compare(a, b) == 0;
}

static bool world_source_begins(const struct world_value *a, const struct value *b)
{
    return world_source_same_type(a, b) && b->type != VALUE_N &&
           strncmp(a->text, b->bytes.data, b->bytes.size) == 0;
}

static bool world_source_test(const struct cond *cond, const struct world_value *value)
{
    bool same = value && world_source_same_type(value, &cond->value);
    switch (cond->op) {
    case COND_EQ:
        return value && world_source_equals(value, &cond->value);
    case COND_NE:
        return !value || !world_source_equals(value, &cond->value);
    case COND_LT:
        return same && world_source_compare(value, &cond->value) < 0;
    case COND_LE:
        return same && world_source_compare(value, &cond->value) <= 0;
    case COND_GT:
        return same && world_source_compare(value, &cond->value) > 0;
    case COND_GE:
        return same && world_source_compare(value, &cond->value) >= 0;
    case COND_BETWEEN:
        return same && world_source_compare(value, &cond->value) >= 0 &&
               world_source_same_type(value, &cond->upper) &&
               world_source_compare(value, &cond->upper) <= 0;
    case COND_BEGINS:
        return value && world_source_begins(value, &cond->value);
    case COND_IN:
        for (size_t i = 0; value && i < cond->list_count; i++)
            if (world_source_equals(value, &cond->list[i]))
                return true;
        return false;
    case COND_EXISTS:
        return value;
    case COND_MISSING:
        return !value;
    default:
        abort(); /* contains: no statement of these tests has it */
    }
}

static bool world_source_holds(const struct cond *cond, const struct world_item *item)
{
    bool any = false, all = true;
    for (size_t i = 0; i < cond->child_count; i++) {
        bool holds = world_source_holds(&cond->children[i], item);
        any = any || holds;
        all = all && holds;
    }
    if (cond->op == COND_AND)
        return all;
    if (cond->op == COND_OR)
        return any;
    if (cond->op == COND_NOT)
        return !any;
    if (cond->step_count > 0)
        abort();
    return world_source_test(cond, world_source_get(item, cond->attribute));
}

/* What the service refuses. */

static const struct world_key *world_source_keys(const struct world_table *table,
                                                 const struct world_index *index,
                                                 unsigned *partition_count, unsigned *count)
{
    *partition_count = index ? index->partition_count : 1;
    *count = index ? index->key_count : table->key_count;
    return index ? index->keys : table->keys;
}

static bool world_source_is_type(const struct value *value, char type)
{
    return value->type == (type == 'S'   ? VALUE_S
                           : type == 'N' ? VALUE_N
                                         : VALUE_B) &&
           value->bytes.size > 0;
}

struct world_filter_check {
    const struct world_key *keys;
    unsigned count;
    bool names_key;
};

static bool world_source_check_name(void *arg, struct span attribute)
{
    struct world_filter_check *check = arg;
    for (unsigned i = 0; i < check->count; i++)
        check->names_key = check->names_key || span_is(attribute, check->keys[i].attribute);
    return true;
}

static void world_source_check_query(struct world_source *source, const struct read *read,
                                     const struct world_table *table,
                                     const struct world_index *index)
{
    unsigned partitions, count, equal = 0, ranges = 0;
    const struct world_key *keys = world_source_keys(table, index, &partitions, &count);
    struct world_filter_check check = {keys, count, false};
    for (size_t i = 0; i < read->where_count; i++) {
        const struct cond *cond = &read->where[i];
        unsigned at = 0;
        while (at < count && !span_is(cond->attribute, keys[at].attribute))
            at++;
        if (at == count || !world_source_is_type(&cond->value, keys[at].type) ||
            (cond->op == COND_BETWEEN && !world_source_is_type(&cond->upper, keys[at].type)))
            world_source_refuse(source, "a key condition of another attribute or type");
        equal += at < partitions && cond->op == COND_EQ;
        ranges += at >= partitions && cond->op != COND_EQ;
        if (at < partitions && cond->op != COND_EQ)
            world_source_refuse(source, "a partition key without equality");
        if (cond->op > COND_GE || (cond->op == COND_BEGINS && cond->value.type == VALUE_N))
            world_source_refuse(source, "a key condition of that kind");
    }
    if (equal != partitions || ranges > 1)
        world_source_refuse(source, "incomplete key conditions");
    for (size_t i = 0; i < read->filter_count; i++)
        cond_each_attribute(&read->filter[i], world_source_check_name, &check);
    if (check.names_key)
        world_source_refuse(source, "a filter of a key attribute");
}

/* Finding. */

static bool world_source_all_hold(const struct cond *conds, size_t count,
                                  const struct world_item *item)
{
    for (size_t i = 0; i < count; i++)
        if (!world_source_holds(&conds[i], item))
            return false;
    return true;
}

static bool world_source_has_key(const struct key *key, const struct world_item *item)
{
    for (size_t i = 0; i < key->count; i++) {
        const struct world_value *value = world_source_get(item, key->attributes[i].name);
        if (!value || !world_source_equals(value, &key->attributes[i].value))
            return false;
    }
    return true;
}

static int world_source_order(const struct world_item *a, const struct world_item *b,
                              const struct world_key *keys, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct world_value *x = world_find(a, keys[i].attribute),
                                 *y = world_find(b, keys[i].attribute);
        struct value other = {keys[i].type == 'S'   ? VALUE_S
                              : keys[i].type == 'N' ? VALUE_N
                                                    : VALUE_B,
                              span_text(y->text)};
        int order = world_source_compare(x, &other);
        if (order)
            return order;
    }
    return 0;
}

static void world_source_find(struct world_call *call)
{
    struct world_source *source = world_source_of(call);
    const struct read *read = call->base.read;
    const struct world_table *table = world_source_table(source, read->table);
    const struct world_index *index = world_source_index(table, read->index);
    unsigned partitions, key_count;
    const struct world_key *keys = world_source_keys(table, index, &partitions, &key_count);
    for (unsigned i = 0; i < table->item_count; i++) {
        const struct world_item *item = &table->items[i];
        bool wanted = read->kind == READ_SCAN;
        if (index && !world_is_in(item, index))
            continue;
        if (read->kind == READ_QUERY)
            wanted = world_source_all_hold(read->where, read->where_count, item);
        for (size_t k = 0; read->kind == READ_ITEMS && k < read->key_count; k++)
            wanted = wanted || world_source_has_key(&read->keys[k], item);
        if (!wanted)
            continue;
        unsigned at = call->count++;
        for (; read->kind == READ_QUERY && at > 0; at--) {
            int order = world_source_order(call->found[at - 1], item, keys, partitions, key_count);
            if (read->descending ? order >= 0 : order <= 0)
                break;
            call->found[at] = call->found[at - 1];
        }
        call->found[at] = item;
    }
}

/* Pages. */

static bool world_source_wants(const struct read *read, const char *name)
{
    for (size_t i = 0; i < read->attribute_count; i++)
        if (span_is(read->attributes[i], name))
            return true;
    return read->attribute_count == 0;
}

static void world_source_write(const struct read *read, const struct world_table *table,
                               const struct world_index *index, const struct world_item *item,
                               struct world_text *out)
{
    struct world_item shown = {.kind = item->kind};
    for (unsigned i = 0; i < item->count; i++)
        if (world_source_wants(read, item->attributes[i].name))
            shown.attributes[shown.count++] = item->attributes[i];
    world_write_typed(table, &shown, index, out);
}

static void world_source_charge(struct world_call *call, double units)
{
    const struct read *read = call->base.read;
    struct expense expense = {.operation = "World",
                              .table = read->table,
                              .index = read->index ? read->index : "",
                              .pattern = read->pattern,
                              .requests = 1,
                              .end = EXPENSE_ANSWERED,
                              .spent.units = units};
    payer_charge(call->base.payer, &expense);
}

static void world_source_answer_items(struct world_call *call)
{
    struct world_source *source = world_source_of(call);
    const struct read *read = call->base.read;
    const struct world_table *table = world_source_table(source, read->table);
    const struct world_index *index = world_source_index(table, read->index);
    struct world_text text = {0};
    struct json_doc doc = {0};
    struct json items[WORLD_ITEMS];
    size_t bytes = 0, given = 0;
    unsigned most = world_once_in(&source->dice, 3) ? WORLD_ITEMS : world_draw(&source->dice, 6),
             read_count = 0;
    if (read->limit > 0 && most > read->limit)
        most = read->limit;
    if (read->kind == READ_ITEMS)
        most = WORLD_ITEMS;
    world_add(&text, "[");
    for (; call->next < call->count && read_count < most; read_count++) {
        const struct world_item *item = call->found[call->next++];
        size_t before = text.size;
        world_write_typed(table, item, index, &text);
        bytes += text.size - before;
        text.size = before;
        if (!world_source_all_hold(read->filter, read->filter_count, item) || read->counts)
            continue;
        world_add(&text, "%s", given++ > 0 ? "," : "");
        world_source_write(read, table, index, item, &text);
    }
    text.bytes[text.size] = '\0';
    world_add(&text, "]");
    if (!json_parse(&doc, span_of(text.bytes, text.size), JSON_STRICT, NULL))
        abort();
    struct json each = json_first(json_root(&doc));
    for (size_t i = 0; i < given; i++, each = json_next(each))
        items[i] = each;
    double units = read->kind == READ_ITEMS ? 0.5 * (double)read->key_count
                                            : 0.5 * (double)(bytes ? (bytes + 4095) / 4096 : 1);
    struct page page = {.items = items,
                        .item_count = given,
                        .scanned = read_count,
                        .more = call->next < call->count,
                        .requests = 1,
                        .capacity = units,
                        .request_id = "WORLD"};
    source->books.requests++;
    source->books.units += units;
    source->books.pages += read->kind == READ_QUERY;
    source->books.keys += read->kind == READ_ITEMS ? (unsigned)read->key_count : 0;
    world_source_charge(call, units);
    call->base.fn(call->base.arg, &page, NULL);
    json_clean_up(&doc);
    world_text_free(&text);
}

static void world_source_answer_table(struct world_call *call)
{
    struct world_source *source = world_source_of(call);
    const struct read *read = call->base.read;
    const struct world_table *table = world_source_table(source, read->table);
    struct error none;
    struct page page = {
        .requests = 1, .capacity = -1, .request_id = "WORLD", .description = span_text("{}")};
    source->books.descriptions++;
    for (unsigned i = 0; i < source->world->table_count; i++)
        if (table == &source->world->tables[i])
            page.table = source->infos[i];
    error_set(&none, ERROR_NO_TABLE, "there is no table %s", read->table);
    call->base.fn(call->base.arg, page.table ? &page : NULL, page.table ? NULL : &none);
}

static void world_source_answer(void *arg)
{
    struct world_call *call = arg;
    call->timer = NULL;
    if (call->base.read->kind == READ_TABLE)
        world_source_answer_table(call);
    else
        world_source_answer_items(call);
}

static bool world_source_start(struct source_call *base)
{
    struct world_call *call = (struct world_call *)base;
    struct world_source *source = world_source_of(call);
    const struct read *read = base->read;
    const struct world_table *table = world_source_table(source, read->table);
    if (read->kind != READ_ITEMS && read->kind != READ_QUERY && read->kind != READ_SCAN &&
        read->kind != READ_TABLE)
        world_source_refuse(source, "a read of that kind");
    if (!table && read->kind != READ_TABLE)
        abort();
    source->books.queries += read->kind == READ_QUERY;
    source->books.scans += read->kind == READ_SCAN;
    if (read->kind == READ_QUERY)
        world_source_check_query(source, read, table, world_source_index(table, read->index));
    for (size_t i = 0; read->kind == READ_ITEMS && i < read->key_count; i++)
        if (read->keys[i].count != table->key_count)
            world_source_refuse(source, "a key with another number of attributes");
    if (read->kind != READ_TABLE)
        world_source_find(call);
    call->timer = loop_add_timer(source->loop, 1, world_source_answer, call);
    return call->timer;
}

static void world_source_more(struct source_call *base)
{
    struct world_call *call = (struct world_call *)base;
    call->timer = loop_add_timer(world_source_of(call)->loop, 1, world_source_answer, call);
}

static void world_source_end(struct source_call *base)
{
    loop_remove_timer(((struct world_call *)base)->timer);
}

static void world_source_destroy(struct source *source)
{
    (void)source;
}

void world_source_init(struct world_source *source, struct loop *loop, const struct world *world)
{
    static const struct source_ops ops = {.layer = SOURCE_SERVICE,
                                          .call_size = sizeof(struct world_call),
                                          .start = world_source_start,
                                          .more = world_source_more,
                                          .end = world_source_end,
                                          .destroy = world_source_destroy,
                                          .write_words = read_write_words,
                                          .write_command = dynamo_write_command};
    *source = (struct world_source){
        .source = {.ops = &ops}, .loop = loop, .world = world, .dice = {world->seed ^ 0x5eed}};
    for (unsigned i = 0; i < world->table_count; i++) {
        struct world_text text = {0};
        struct json_doc doc = {0};
        world_write_description(&world->tables[i], &text);
        if (!json_parse(&doc, span_of(text.bytes, text.size), JSON_STRICT, NULL))
            abort();
        source->infos[i] = table_description_read(json_root(&doc), &source->arena);
        if (!source->infos[i])
            abort();
        json_clean_up(&doc);
        world_text_free(&text);
    }
}

void world_source_clean_up(struct world_source *source)
{
    arena_clean_up(&source->arena);
}
