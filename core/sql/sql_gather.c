#include "core/sql/sql_gather.h"

#include <stdlib.h>

#include "core/read/fetch.h"

enum { SQL_GATHER_AT_ONCE = 1000 };

struct sql_gathered {
    struct list_node node; /* of WAITING or READING */
    struct sql_gather *gather;
    struct sql_table *table; /* borrowed, as KEY is */
    const struct key *key;
    struct place *place; /* owned; NULL before it starts, as FETCH is */
    struct fetch *fetch;
    sql_gather_fn *fn;
    void *arg;
    size_t number;
};

static void sql_gather_free(struct sql_gathered *each)
{
    list_remove(&each->node);
    fetch_cancel(each->fetch);
    place_destroy(each->place);
    free(each);
}

void sql_gather_clear(struct sql_gather *gather)
{
    LIST_EACH_SAFE (struct sql_gathered, each, &gather->waiting, node)
        sql_gather_free(each);
    LIST_EACH_SAFE (struct sql_gathered, each, &gather->reading, node)
        sql_gather_free(each);
    gather->reading_count = 0;
}

bool sql_gather_add(struct sql_gather *gather, struct sql_table *table, const struct key *key,
                    sql_gather_fn *fn, void *arg, size_t number)
{
    struct sql_gathered *added = calloc(1, sizeof *added);
    if (!added)
        return false;
    added->gather = gather;
    added->table = table;
    added->key = key;
    added->fn = fn;
    added->arg = arg;
    added->number = number;
    list_append(&gather->waiting, &added->node);
    return true;
}

/* "Not found" is a result. An item that is older than its ttl comes in an outage alone, where the
 * user allowed it. */
static void sql_gather_take(void *arg, struct record *record, const struct tree_found *found,
                            int64_t ttl_left_ms, const struct error *err)
{
    struct sql_gathered *each = arg;
    struct sql_gather *gather = each->gather;
    struct sql_gathered copy = *each;
    (void)found, (void)ttl_left_ms;
    each->fetch = NULL;
    gather->reading_count--;
    sql_gather_free(each);
    if (err && record)
        log_line(gather->tree->log, LOG_LEVEL_WARNING, "an item is older than its ttl: %s",
                 err->text);
    if (!record && err->kind != ERROR_NOT_FOUND)
        copy.fn(copy.arg, copy.number, (struct json){0}, err);
    else
        copy.fn(copy.arg, copy.number, record ? record_item(record) : (struct json){0}, NULL);
}

static bool sql_gather_start_one(struct sql_gather *gather, struct sql_gathered *each,
                                 struct error *err)
{
    const struct sql_lookup lookup = {.kind = SQL_ACCESS_KEYS, .key = *each->key};
    each->place = sql_table_find(each->table, &lookup, 0, err);
    if (!each->place)
        return false;
    each->fetch = fetch_start(gather->tree, each->place, sql_gather_take, each);
    if (!each->fetch)
        return error_no_memory(err);
    list_remove(&each->node);
    list_append(&gather->reading, &each->node);
    gather->reading_count++;
    return true;
}

bool sql_gather_start(struct sql_gather *gather, struct error *err)
{
    while (!list_is_empty(&gather->waiting) && gather->reading_count < SQL_GATHER_AT_ONCE) {
        struct sql_gathered *first = LIST_FIRST(&gather->waiting, struct sql_gathered, node);
        if (!sql_gather_start_one(gather, first, err))
            return false;
    }
    return true;
}
