#include "core/read/catalog.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/list.h"
#include "core/draft/generic_view.h"
#include "core/map/compile.h"
#include "core/map/map.h"

/* A stale description is used for this long if the request for a new one fails. */
enum { STAND_IN_MS = 2000 };

/* Texts of descriptions are stored up to this size: most have a few KB. */
enum { MOST_TEXT_BYTES = 64 << 10 };

/* A table's description and its model. */
struct catalog_table {
    struct dict_node by_key;
    struct list_node by_use;
    const struct model *model;       /* holds a reference; NULL before the first response */
    struct buf identity;             /* owned: all that MODEL was made of, as a text */
    struct buf text;                 /* the response's text, unless that is large */
    int64_t item_count, size_bytes;  /* as the service reported them */
    int64_t read_ms;                 /* when the request was sent */
    int64_t good_until_ms;           /* the end of its ttl */
    struct catalog_inquiry *inquiry; /* the request that new callers may join; NULL for none */
    char key[];
};

/* A DescribeTable under way. */
struct catalog_inquiry {
    struct catalog *catalog;
    struct catalog_table *of; /* where the response is stored; NULL: only the callers get it */
    const struct map *map;    /* holds a reference */
    struct source *source;    /* holds a reference */
    struct read *read;        /* owned */
    struct source_call *call; /* owned; NULL once the response came */
    int64_t sent_ms;
    struct list waits;
};

/* A caller that waits for an INQUIRY's response, or for TIMER, which reports MODEL or WHY. */
struct models_call {
    struct list_node node; /* of the inquiry */
    struct catalog_inquiry *inquiry;
    struct loop_timer *timer;
    const struct model *model; /* holds a reference */
    struct error why;
    model_provider_fn *fn;
    void *arg;
};

struct catalog {
    struct model_provider models; /* first: a pointer to it is a pointer to this */
    struct catalog_options options;
    struct dict by_key;
    struct list by_use; /* the newest first */
};

static struct catalog *catalog_of(struct model_provider *models)
{
    return (struct catalog *)models;
}

static int64_t catalog_now_ms(const struct catalog *catalog)
{
    return loop_now_ms(catalog->options.loop);
}

/* No caller may be waiting for it. */
static void catalog_free_table(struct catalog *catalog, struct catalog_table *table)
{
    list_remove(&table->by_use);
    dict_remove(&catalog->by_key, &table->by_key);
    model_unref(table->model);
    buf_clean_up(&table->identity);
    buf_clean_up(&table->text);
    free(table);
}

/* The source is part of the key, since environments with the same settings share one. */
static void catalog_write_key(const struct source *source, struct span name, struct buf *out)
{
    source_identity(source, out);
    buf_add_char(out, ' ');
    buf_add_span(out, name);
}

static struct catalog_table *catalog_find_table(struct catalog *catalog,
                                                const struct source *source, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    catalog_write_key(source, name, &key);
    struct dict_node *node = key.failed ? NULL : dict_find(&catalog->by_key, buf_span(&key));
    if (!node)
        return NULL;
    struct catalog_table *found =
        (struct catalog_table *)((char *)node - offsetof(struct catalog_table, by_key));
    list_remove(&found->by_use);
    list_prepend(&catalog->by_use, &found->by_use);
    return found;
}

/* The least recently used make room, except for those with a request under way. */
static struct catalog_table *catalog_add_table(struct catalog *catalog, const struct source *source,
                                               struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    catalog_write_key(source, name, &key);
    struct catalog_table *added = key.failed ? NULL : calloc(1, sizeof *added + key.size);
    if (!added)
        return NULL;
    struct catalog_table *newer;
    for (struct catalog_table *each = LIST_LAST(&catalog->by_use, struct catalog_table, by_use);
         each && catalog->by_key.count >= CATALOG_MOST_TABLES; each = newer) {
        newer = LIST_PREVIOUS(each, struct catalog_table, by_use);
        if (!each->inquiry)
            catalog_free_table(catalog, each);
    }
    memcpy(added->key, key.data, key.size);
    added->by_key.key = span_of(added->key, key.size);
    added->good_until_ms = INT64_MIN;
    dict_add(&catalog->by_key, &added->by_key);
    list_prepend(&catalog->by_use, &added->by_use);
    return added;
}

static bool catalog_is_good(const struct catalog *catalog, const struct catalog_table *table)
{
    return table && table->model && catalog_now_ms(catalog) < table->good_until_ms;
}

/* Attributes that the map declares secret for a table stay secret under the table's own name. False
 * when memory ran out. */
static bool catalog_add_secrets(struct arena *arena, const struct map *map,
                                struct declared_table *table)
{
    size_t most = 0;
    for (size_t i = 0; i < map->model_count; i++)
        most += map->models[i]->secret_count;
    table->secrets = arena_array(arena, most, sizeof *table->secrets);
    if (!table->secrets)
        return false;
    for (size_t i = 0; i < map->model_count; i++) {
        const struct model *model = map->models[i];
        bool same = map_names_table(map, model, span_text(table->base_name));
        for (size_t k = 0; same && k < model->secret_count; k++)
            table->secrets[table->secret_count++] = arena_text(arena, span_text(model->secrets[k]));
    }
    if (table->secret_count > 0) { /* no name of an entry may contain them */
        table->paths = NULL;
        generic_view_add_paths(arena, table, table->records);
    }
    return !arena->failed;
}

static void catalog_write_schema(const struct key_schema *keys, struct buf *out)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        buf_printf(out, "p%d%zu:%.*s", (int)keys->partition[i].type, keys->partition[i].name.size,
                   (int)keys->partition[i].name.size, keys->partition[i].name.data);
    for (size_t i = 0; i < keys->sort_count; i++)
        buf_printf(out, "s%d%zu:%.*s", (int)keys->sort[i].type, keys->sort[i].name.size,
                   (int)keys->sort[i].name.size, keys->sort[i].name.data);
}

/* Writes all that a model is made of, so that equal texts mean equal models. */
static void catalog_write_identity(const struct table_info *info,
                                   const struct declared_table *table, struct buf *out)
{
    catalog_write_schema(&info->keys, out);
    buf_printf(out, "t%zu:%.*s", info->arn.size, (int)info->arn.size, info->arn.data);
    for (size_t i = 0; i < info->index_count; i++) {
        const struct index_info *index = &info->indexes[i];
        buf_printf(out, "i%d%d%zu:%.*s", (int)index->local, (int)index->projection,
                   index->name.size, (int)index->name.size, index->name.data);
        catalog_write_schema(&index->keys, out);
        for (size_t k = 0; k < index->included_count; k++)
            buf_printf(out, "a%zu:%.*s", index->included[k].size, (int)index->included[k].size,
                       index->included[k].data);
    }
    for (size_t i = 0; i < info->vector_count; i++) {
        const struct vector_info *vector = &info->vectors[i];
        const struct span texts[] = {vector->name, vector->attribute, vector->distance,
                                     vector->partition, vector->status};
        buf_printf(out, "v%lld,%d,%d", (long long)vector->dimensions, (int)vector->backfilling,
                   (int)vector->partition_type);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            buf_printf(out, "%zu:%.*s", texts[k].size, (int)texts[k].size, texts[k].data);
    }
    for (size_t i = 0; i < table->secret_count; i++)
        buf_printf(out, "x%zu:%s", strlen(table->secrets[i]), table->secrets[i]);
}

/* The model of the table NAME, with a reference that is the caller's. It is KNOWN (may be NULL)
 * where IDENTITY stays the same; else IDENTITY is replaced. NULL with ERR filled. */
static const struct model *catalog_make_model(const char *name, const struct table_info *info,
                                              const struct map *map, const struct model *known,
                                              struct buf *identity, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf other = {0};
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct declared_table *table = generic_view_declare_table(&arena, name, info);
    if (table && catalog_add_secrets(&arena, map, table))
        catalog_write_identity(info, table, &other);
    if (!table || arena.failed || other.failed) {
        error_no_memory(err);
        return NULL;
    }
    if (known && span_equal(buf_span(&other), buf_span(identity)))
        return model_ref(known);
    const struct model *model = compile_table(table, &findings);
    if (!model && findings.count > 0 && !findings.no_memory)
        error_set(err, ERROR_INVALID, "no paths can be made for the table %s: %s", table->base_name,
                  findings.items[0].text);
    else if (!model)
        error_no_memory(err);
    if (!model)
        return NULL;
    buf_clean_up(identity);
    buf_move(identity, &other);
    return model;
}

/* The model that PAGE describes, with a reference that is the caller's. NULL with ERR filled. */
static const struct model *catalog_store_page(struct catalog_inquiry *inquiry,
                                              const struct page *page, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf unused = {0};
    struct catalog_table *table = inquiry->of;
    const struct model *model =
        catalog_make_model(inquiry->read->table, page->table, inquiry->map,
                           table ? table->model : NULL, table ? &table->identity : &unused, err);
    if (!model || !table)
        return model;
    if (model != table->model) {
        model_unref(table->model);
        table->model = model_ref(model);
    }
    table->item_count = page->table->item_count;
    table->size_bytes = page->table->size_bytes;
    buf_clean_up(&table->text);
    table->text = (struct buf){0};
    if (page->description.size <= MOST_TEXT_BYTES)
        buf_add_span(&table->text, page->description);
    table->read_ms = inquiry->sent_ms;
    table->good_until_ms = inquiry->sent_ms + MAP_STRUCTURE_TTL_MS;
    return model;
}

/* In an outage a stale model may be used for a while. NULL for none. */
static const struct model *catalog_substitute(struct catalog_inquiry *inquiry,
                                              const struct error *err)
{
    struct catalog_table *table = inquiry->of;
    const struct catalog *catalog = inquiry->catalog;
    int64_t most_ms = MAP_STRUCTURE_TTL_MS + catalog->options.stale_ms;
    if (!table || !table->model || !error_is_outage(err) ||
        catalog_now_ms(catalog) - table->read_ms >= most_ms)
        return NULL;
    table->good_until_ms = catalog_now_ms(catalog) + STAND_IN_MS;
    return model_ref(table->model);
}

static void catalog_free_inquiry(struct catalog_inquiry *inquiry)
{
    if (inquiry->of)
        inquiry->of->inquiry = NULL;
    if (inquiry->call)
        source_end(inquiry->call);
    read_destroy(inquiry->read);
    map_unref(inquiry->map);
    source_unref(inquiry->source);
    free(inquiry);
}

/* Reports to each caller that waits. A caller may start or cancel calls from within its FN. */
static void catalog_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct catalog_inquiry *inquiry = arg;
    struct error why = {0};
    const struct model *model =
        page ? catalog_store_page(inquiry, page, &why) : catalog_substitute(inquiry, err);
    if (err && !model)
        why = *err;
    if (err && !model && err->kind == ERROR_NO_TABLE) {
        why.kind = ERROR_NOT_FOUND;
        why.ttl_left_ms = MAP_MISSING_TTL_MS;
        struct catalog_table *gone = inquiry->of;
        inquiry->of = NULL;
        if (gone)
            catalog_free_table(inquiry->catalog, gone);
    }
    if (inquiry->of)
        inquiry->of->inquiry = NULL; /* later callers must not join this one */
    inquiry->of = NULL;
    source_end(inquiry->call);
    inquiry->call = NULL;
    while (!list_is_empty(&inquiry->waits)) {
        struct models_call *first = LIST_FIRST(&inquiry->waits, struct models_call, node);
        struct models_call call = *first;
        list_remove(&first->node);
        free(first);
        call.fn(call.arg, model, model ? NULL : &why);
    }
    model_unref(model);
    catalog_free_inquiry(inquiry);
}

/* Sends a DescribeTable for TABLE. NULL when memory ran out. */
static struct catalog_inquiry *catalog_request(struct catalog *catalog, struct catalog_table *table,
                                               struct source *source, const struct map *map,
                                               struct span name, struct payer *payer)
{
    struct catalog_inquiry *inquiry = calloc(1, sizeof *inquiry);
    if (!inquiry)
        return NULL;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, name);
    *inquiry = (struct catalog_inquiry){.catalog = catalog,
                                        .map = map_ref(map),
                                        .source = source_ref(source),
                                        .sent_ms = catalog_now_ms(catalog),
                                        .of = table};
    inquiry->read = text.failed ? NULL : read_new(READ_TABLE, buf_text(&text), NULL);
    if (inquiry->read)
        inquiry->call = source_start(source, inquiry->read, payer, catalog_take_page, inquiry);
    if (!inquiry->call) {
        catalog_free_inquiry(inquiry);
        return NULL;
    }
    table->inquiry = inquiry;
    return inquiry;
}

static void catalog_report_known(void *arg)
{
    struct models_call call = *(struct models_call *)arg;
    free(arg);
    call.fn(call.arg, call.model, call.model ? NULL : &call.why);
    model_unref(call.model);
}

/* Fills in what CALL reports, or joins it to an inquiry. False when memory ran out. */
static bool catalog_begin(struct catalog *catalog, struct models_call *call,
                          const struct place *place, struct span name, struct payer *payer)
{
    struct source *source = catalog->options.source(catalog->options.source_arg, place, &call->why);
    struct catalog_table *table = source ? catalog_find_table(catalog, source, name) : NULL;
    if (!source || catalog_is_good(catalog, table)) {
        call->model = source ? model_ref(table->model) : NULL;
        call->timer = loop_add_timer(catalog->options.loop, 0, catalog_report_known, call);
        return call->timer;
    }
    if (!table)
        table = catalog_add_table(catalog, source, name);
    if (!table)
        return false;
    struct catalog_inquiry *inquiry =
        table->inquiry ? table->inquiry
                       : catalog_request(catalog, table, source, place->map, name, payer);
    if (!inquiry) {
        if (!table->model)
            catalog_free_table(catalog, table);
        return false;
    }
    call->inquiry = inquiry;
    list_prepend(&inquiry->waits, &call->node);
    return true;
}

static struct models_call *catalog_find(struct model_provider *models, const struct place *place,
                                        struct span name, struct payer *payer,
                                        model_provider_fn *fn, void *arg)
{
    struct models_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->fn = fn;
    call->arg = arg;
    if (catalog_begin(catalog_of(models), call, place, name, payer))
        return call;
    model_unref(call->model);
    free(call);
    return NULL;
}

/* The last caller to leave ends the request. */
static void catalog_cancel(struct models_call *call)
{
    struct catalog_inquiry *inquiry = call->inquiry;
    loop_remove_timer(call->timer);
    model_unref(call->model);
    if (inquiry) {
        list_remove(&call->node);
        if (inquiry->call && list_is_empty(&inquiry->waits))
            catalog_free_inquiry(inquiry);
    }
    free(call);
}

/* The fresh description of the table NAME in PLACE's environment; NULL for none. */
static const struct catalog_table *catalog_find_fresh(struct catalog *catalog,
                                                      const struct place *place, struct span name)
{
    struct error ignored;
    const struct source *source =
        catalog->options.source(catalog->options.source_arg, place, &ignored);
    const struct catalog_table *table = source ? catalog_find_table(catalog, source, name) : NULL;
    return catalog_is_good(catalog, table) ? table : NULL;
}

static const struct model *catalog_known(struct model_provider *models, const struct place *place,
                                         struct span name, int64_t *ttl_left_ms)
{
    struct catalog *catalog = catalog_of(models);
    const struct catalog_table *table = catalog_find_fresh(catalog, place, name);
    if (!table)
        return NULL;
    if (ttl_left_ms)
        *ttl_left_ms = table->good_until_ms - catalog_now_ms(catalog);
    return table->model;
}

static bool catalog_describe(struct model_provider *models, const struct place *place,
                             struct model_provider_description *out)
{
    const struct catalog_table *table =
        catalog_find_fresh(catalog_of(models), place, span_text(place->table_name));
    if (!table)
        return false;
    *out = (struct model_provider_description){buf_span(&table->text), table->item_count,
                                               table->size_bytes};
    return true;
}

struct catalog *catalog_new(const struct catalog_options *options)
{
    static const struct model_provider_ops catalog_ops = {catalog_known, catalog_find,
                                                          catalog_cancel, catalog_describe};
    struct catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return NULL;
    catalog->models.ops = &catalog_ops;
    catalog->options = *options;
    if (dict_init(&catalog->by_key))
        return catalog;
    free(catalog);
    return NULL;
}

void catalog_destroy(struct catalog *catalog)
{
    if (!catalog)
        return;
    while (!list_is_empty(&catalog->by_use))
        catalog_free_table(catalog, LIST_FIRST(&catalog->by_use, struct catalog_table, by_use));
    dict_clean_up(&catalog->by_key);
    free(catalog);
}

struct model_provider *catalog_models(struct catalog *catalog)
{
    return &catalog->models;
}

void catalog_forget(struct catalog *catalog)
{
    if (!catalog)
        return;
    LIST_EACH (struct catalog_table, each, &catalog->by_use, by_use) {
        each->good_until_ms = INT64_MIN;
        if (each->inquiry)
            each->inquiry->of = NULL; /* its response may be older than this call */
        each->inquiry = NULL;
    }
}
