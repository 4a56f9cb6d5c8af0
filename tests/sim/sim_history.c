/* The truth: tables, their items, all versions of each, and the order of items in tables and
 * indexes. */
#include "tests/sim/sim_history.h"

#include <string.h>

#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

static struct {
    struct sim_table *first, **last;
    uint64_t versions, changes;
} sim_history;

struct sim_table *sim_history_tables(void)
{
    return sim_history.first;
}

struct sim_table *sim_history_find_table(const char *name)
{
    struct sim_table *table = sim_history.first;
    while (table && strcmp(table->name, name) != 0)
        table = table->next;
    return table;
}

struct sim_table *sim_history_add_table(struct sim_table table)
{
    struct sim_table *own = sim_alloc(sizeof *own);
    *own = table;
    own->last = &own->first;
    own->orders = sim_alloc((1 + own->index_count) * sizeof *own->orders);
    for (unsigned i = 0; i <= own->index_count; i++)
        own->orders[i] = (struct sim_order){
            .table = own, .key = i ? &own->indexes[i - 1].key : &own->key, .index = (int)i - 1};
    if (!sim_history.last)
        sim_history.last = &sim_history.first;
    *sim_history.last = own;
    sim_history.last = &own->next;
    return own;
}

static const struct sim_value *sim_attributes_get(const struct sim_attribute *attributes,
                                                  size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(attributes[i].name, name) == 0)
            return &attributes[i].value;
    }
    return NULL;
}

const struct sim_value *sim_version_get(const struct sim_version *version, const char *name)
{
    size_t from = 0, until = version->attribute_count;
    while (from < until) {
        size_t middle = (from + until) / 2;
        int order = strcmp(version->attributes[middle].name, name);
        if (order == 0)
            return &version->attributes[middle].value;
        if (order < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return NULL;
}

/* The values of the key attributes FROM to FROM + COUNT - 1 of KEY. */
static void sim_history_take_key(const struct sim_key_schema *key, unsigned from, unsigned count,
                                 const struct sim_version *version, const struct sim_value **out)
{
    for (unsigned i = 0; i < count; i++)
        out[i] = sim_version_get(version, key->names[from + i]);
}

uint64_t sim_values_digest(const struct sim_value *const *values, size_t count)
{
    uint64_t digest = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ (uint64_t)values[i]->type) * 1099511628211u;
        for (size_t k = 0; k < values[i]->size; k++)
            digest = (digest ^ (unsigned char)values[i]->bytes[k]) * 1099511628211u;
        digest = (digest ^ 0x1F) * 1099511628211u;
    }
    digest ^= digest >> 29;
    digest *= 0xBF58476D1CE4E5B9u;
    return digest ^ digest >> 32;
}

static int sim_values_compare(const struct sim_value *const *a, const struct sim_value *const *b,
                              size_t count)
{
    int order = 0;
    for (size_t i = 0; order == 0 && i < count; i++)
        order = sim_value_compare(a[i], b[i]);
    return order;
}

const struct sim_order *sim_history_order(const struct sim_table *table, int index)
{
    return &table->orders[1 + index];
}

size_t sim_order_seek(const struct sim_order *order, const struct sim_value *const *hash,
                      bool *found)
{
    uint64_t digest = sim_values_digest(hash, order->key->hash_count);
    size_t from = 0, until = order->partition_count;
    *found = false;
    while (from < until) {
        size_t middle = (from + until) / 2;
        const struct sim_partition *partition = order->partitions[middle];
        int compared = (partition->digest > digest) - (partition->digest < digest);
        if (compared == 0) {
            const struct sim_value *own[SIM_MOST_KEYS];
            sim_history_take_key(order->key, 0, order->key->hash_count, partition->like, own);
            compared = sim_values_compare(own, hash, order->key->hash_count);
        }
        if (compared == 0) {
            *found = true;
            return middle;
        }
        if (compared < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

const struct sim_partition *sim_order_find(const struct sim_order *order,
                                           const struct sim_value *const *hash)
{
    bool found;
    size_t at = sim_order_seek(order, hash, &found);
    return found ? order->partitions[at] : NULL;
}

/* The partition of VERSION, which is in the index. */
static struct sim_partition *sim_order_add(struct sim_order *order,
                                           const struct sim_version *version)
{
    const struct sim_value *hash[SIM_MOST_KEYS];
    bool found;
    sim_history_take_key(order->key, 0, order->key->hash_count, version, hash);
    size_t at = sim_order_seek(order, hash, &found);
    if (found)
        return order->partitions[at];
    if (order->partition_count == order->room) {
        order->room = order->room * 2 + 8;
        order->partitions = sim_grow(order->partitions, order->room * sizeof *order->partitions);
    }
    memmove(&order->partitions[at + 1], &order->partitions[at],
            (order->partition_count - at) * sizeof *order->partitions);
    order->partition_count++;
    struct sim_partition *partition = sim_alloc(sizeof *partition);
    *partition = (struct sim_partition){.like = version,
                                        .digest = sim_values_digest(hash, order->key->hash_count)};
    order->partitions[at] = partition;
    return partition;
}

void sim_position_of(struct sim_position *out, const struct sim_order *order,
                     const struct sim_version *version)
{
    const struct sim_key_schema *key = order->key, *own = &order->table->key;
    *out = (struct sim_position){.digest = version->item->digest};
    sim_history_take_key(key, key->hash_count, key->range_count, version, out->range);
    sim_history_take_key(own, 0, own->hash_count + own->range_count, version, out->own);
}

int sim_position_compare(const struct sim_order *order, const struct sim_position *a,
                         const struct sim_position *b)
{
    int compared = sim_values_compare(a->range, b->range, order->key->range_count);
    if (compared == 0)
        compared = (a->digest > b->digest) - (a->digest < b->digest);
    const struct sim_key_schema *own = &order->table->key;
    if (compared == 0)
        compared = sim_values_compare(a->own, b->own, own->hash_count + own->range_count);
    return compared;
}

size_t sim_partition_seek(const struct sim_order *order, const struct sim_partition *partition,
                          const struct sim_position *position, bool *found)
{
    size_t from = 0, until = partition->place_count;
    *found = false;
    while (from < until) {
        size_t middle = (from + until) / 2;
        struct sim_position own;
        sim_position_of(&own, order, partition->places[middle]->like);
        int compared = sim_position_compare(order, &own, position);
        if (compared == 0) {
            *found = true;
            return middle;
        }
        if (compared < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

bool sim_version_is_in(const struct sim_version *version, const struct sim_order *order)
{
    const struct sim_key_schema *key = order->key;
    if (version->is_deleted)
        return false;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_value *value = sim_version_get(version, key->names[i]);
        if (!value || value->type != key->types[i])
            return false;
    }
    return true;
}

/* The place of VERSION, which is in the index. */
static struct sim_place *sim_order_place(struct sim_order *order, const struct sim_version *version)
{
    struct sim_partition *partition = sim_order_add(order, version);
    struct sim_position position;
    bool found;
    sim_position_of(&position, order, version);
    size_t at = sim_partition_seek(order, partition, &position, &found);
    if (found)
        return partition->places[at];
    if (partition->place_count == partition->room) {
        partition->room = partition->room * 2 + 4;
        partition->places =
            sim_grow(partition->places, partition->room * sizeof *partition->places);
    }
    memmove(&partition->places[at + 1], &partition->places[at],
            (partition->place_count - at) * sizeof *partition->places);
    partition->place_count++;
    struct sim_place *place = sim_alloc(sizeof *place);
    *place = (struct sim_place){.item = version->item, .like = version, .partition = partition};
    partition->places[at] = place;
    return place;
}

const struct sim_version *sim_place_version(const struct sim_place *place,
                                            const struct sim_order *order, int64_t at_ms)
{
    unsigned number = (unsigned)(1 + order->index);
    const struct sim_version *newer = NULL;
    const struct sim_version *version = sim_version_at(place->item, order->index, at_ms);
    for (; version; newer = version, version = version->older) {
        if (newer && (number == 0 || newer->gone_ms[number - 1] <= at_ms))
            return NULL;
        if (version->places[number] == place)
            return version;
    }
    return NULL;
}

bool sim_index_has(const struct sim_table *table, int index, const char *attribute)
{
    if (index < 0 || table->indexes[index].projection == SIM_PROJECT_ALL)
        return true;
    const struct sim_index *of = &table->indexes[index];
    for (unsigned i = 0; i < table->key.hash_count + table->key.range_count; i++) {
        if (strcmp(table->key.names[i], attribute) == 0)
            return true;
    }
    for (unsigned i = 0; i < of->key.hash_count + of->key.range_count; i++) {
        if (strcmp(of->key.names[i], attribute) == 0)
            return true;
    }
    for (unsigned i = 0; i < of->included_count; i++) {
        if (strcmp(of->included[i], attribute) == 0)
            return true;
    }
    return false;
}

int sim_table_find_index(const struct sim_table *table, const char *name)
{
    for (unsigned i = 0; i < table->index_count; i++) {
        if (strcmp(table->indexes[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

struct sim_item *sim_history_find(const struct sim_table *table, const struct sim_attribute *like,
                                  size_t count)
{
    const struct sim_key_schema *key = &table->key;
    const struct sim_value *values[2 * SIM_MOST_KEYS];
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        values[i] = sim_attributes_get(like, count, key->names[i]);
        if (!values[i] || values[i]->type != key->types[i])
            return NULL;
    }
    const struct sim_partition *partition = sim_order_find(&table->orders[0], values);
    if (!partition)
        return NULL;
    size_t all = key->hash_count + key->range_count;
    struct sim_position position = {.digest = sim_values_digest(values, all)};
    memcpy(position.own, values, all * sizeof *values);
    if (key->range_count)
        memcpy(position.range, values + key->hash_count, key->range_count * sizeof *values);
    bool found;
    size_t at = sim_partition_seek(&table->orders[0], partition, &position, &found);
    return found ? partition->places[at]->item : NULL;
}

static struct sim_item *sim_history_add_item(struct sim_table *table,
                                             const struct sim_attribute *attributes, size_t count)
{
    const struct sim_key_schema *key = &table->key;
    const struct sim_value *values[2 * SIM_MOST_KEYS];
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        values[i] = sim_attributes_get(attributes, count, key->names[i]);
        if (!values[i] || values[i]->type != key->types[i])
            sim_broken("an item of %s has no key attribute %s", table->name, key->names[i]);
    }
    struct sim_item *item = sim_alloc(sizeof *item);
    *item =
        (struct sim_item){.table = table,
                          .digest = sim_values_digest(values, key->hash_count + key->range_count),
                          .kind = -1};
    *table->last = item;
    table->last = &item->next;
    return item;
}

static void sim_history_sort(struct sim_attribute *attributes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sim_attribute moved = attributes[i];
        size_t k = i;
        for (; k > 0 && strcmp(attributes[k - 1].name, moved.name) > 0; k--)
            attributes[k] = attributes[k - 1];
        attributes[k] = moved;
    }
}

/* Whether the newest version of the item has these very attributes. */
static bool sim_history_is_same(const struct sim_version *newest,
                                const struct sim_attribute *attributes, size_t count,
                                bool is_deleted)
{
    if (!newest)
        return is_deleted;
    if (newest->is_deleted || is_deleted)
        return newest->is_deleted && is_deleted;
    bool ok = newest->attribute_count == count;
    for (size_t i = 0; ok && i < count; i++)
        ok = strcmp(newest->attributes[i].name, attributes[i].name) == 0 &&
             sim_value_equal(&newest->attributes[i].value, &attributes[i].value);
    return ok;
}

/* When the indexes show the version: each soon, rarely at the end of its time; never before an
 * older version. If it moves there, its former place is left a little later, rarely. */
static void sim_history_draw_lags(struct sim_version *version)
{
    const struct sim_table *table = version->item->table;
    const struct sim_version *older = version->older;
    struct sim_dice dice = sim_dice_for("index lag", version->number);
    version->index_ms = sim_alloc((1 + table->index_count) * sizeof *version->index_ms);
    version->gone_ms = sim_alloc((1 + table->index_count) * sizeof *version->gone_ms);
    for (unsigned i = 0; i < table->index_count; i++) {
        const struct sim_index *index = &table->indexes[i];
        /* Half of the time is of changes, half of readers. */
        int64_t most = index->is_local ? 0 : index->most_lag_ms / 2;
        int64_t lag = sim_dice_between(&dice, 0, sim_dice_chance(&dice, 200) ? most : most / 20);
        int64_t stays = sim_dice_chance(&dice, 300) ? sim_dice_between(&dice, 0, most - lag) : 0;
        version->index_ms[i] = version->from_ms + lag;
        if (older && version->index_ms[i] < older->index_ms[i])
            version->index_ms[i] = older->index_ms[i];
        version->gone_ms[i] = version->index_ms[i];
        if (older && version->places[1 + i] && version->gone_ms[i] < version->from_ms + lag + stays)
            version->gone_ms[i] = version->from_ms + lag + stays;
    }
}

static void sim_history_note_change(struct sim_table *table, struct sim_version *version,
                                    bool by_ttl)
{
    struct sim_change *change = sim_alloc(sizeof *change);
    *change = (struct sim_change){.sequence = ++sim_history.changes,
                                  .before = version->older,
                                  .after = version,
                                  .by_ttl = by_ttl};
    if (table->last_change)
        table->last_change->next = change;
    else
        table->changes = change;
    table->last_change = change;
}

struct sim_version *sim_history_put(struct sim_table *table, struct sim_attribute *attributes,
                                    size_t count, bool is_deleted, bool by_ttl)
{
    struct sim_item *item = sim_history_find(table, attributes, count);
    struct sim_version *older = item ? item->newest : NULL;
    sim_history_sort(attributes, count);
    if (sim_history_is_same(older, attributes, count, is_deleted)) {
        sim_attributes_free(attributes, count);
        return older;
    }
    if (!item)
        item = sim_history_add_item(table, attributes, count);
    struct sim_version *version = sim_alloc(sizeof *version);
    *version = (struct sim_version){.item = item,
                                    .number = ++sim_history.versions,
                                    .from_ms = sim_now_ms(),
                                    .until_ms = INT64_MAX,
                                    .is_deleted = is_deleted,
                                    .attributes = attributes,
                                    .attribute_count = count,
                                    .item_size = sim_attributes_size(attributes, count),
                                    .older = older};
    if (older)
        older->until_ms = version->from_ms;
    item->newest = version;
    table->item_count += (size_t)!is_deleted;
    table->item_count -= (size_t)(older && !older->is_deleted);
    version->places = sim_alloc((1 + table->index_count) * sizeof *version->places);
    for (unsigned i = 0; i <= table->index_count; i++) {
        if (sim_version_is_in(version, &table->orders[i]))
            version->places[i] = sim_order_place(&table->orders[i], version);
    }
    sim_history_draw_lags(version);
    sim_history_note_change(table, version, by_ttl);
    return version;
}

const struct sim_version *sim_version_at(const struct sim_item *item, int index, int64_t at_ms)
{
    const struct sim_version *version = item->newest;
    while (version && (index < 0 ? version->from_ms : version->index_ms[index]) > at_ms)
        version = version->older;
    return version;
}
