#include "core/read/catalog.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/read/described_model.h"

/* For so long a description that is too old stands in for one that could not be had. */
enum { STAND_IN_MS = 2000 };

/* Texts of descriptions are kept up to that size: most have a few KB. */
enum { MOST_TEXT_BYTES = 64 << 10 };

/* What there is to know of one table. */
struct description {
    struct dict_node by_key;
    struct description *newer, *older; /* by their last use */
    struct described_model described;  /* owned; without a model: nobody has been told yet */
    struct buf text;                   /* as the service wrote it, unless that is large */
    int64_t item_count, size_bytes;    /* as it said */
    int64_t read_ms;                   /* when that was asked for */
    int64_t good_until_ms;             /* until when it is believed */
    struct inquiry *inquiry;           /* that those who ask now may join; NULL for none */
    char key[];
};

/* A DescribeTable under way. */
struct inquiry {
    struct catalog *catalog;
    struct description *of;   /* what the answer is for; NULL: for those who wait alone */
    const struct map *map;    /* holds a reference: of the place that was asked for */
    struct source *source;    /* holds a reference */
    struct read *read;        /* owned */
    struct source_call *call; /* owned; NULL once it is answered */
    int64_t asked_ms;
    struct models_call *waits;
};

/* Somebody who waits: for a QUESTION's answer, or to be told what is there already. */
struct models_call {
    struct inquiry *inquiry;
    struct models_call *previous, *next; /* of the inquiry */
    struct loop_timer *timer;            /* to tell MODEL, or WHY */
    const struct model *model;           /* holds a reference */
    struct error why;
    model_provider_fn *fn;
    void *arg;
};

struct catalog {
    struct model_provider models; /* first: a pointer to it is a pointer to this */
    struct catalog_options options;
    struct dict by_key;
    struct description *newest, *oldest;
};

static struct catalog *catalog_of(struct model_provider *models)
{
    return (struct catalog *)models;
}

static int64_t catalog_now_ms(const struct catalog *catalog)
{
    return loop_now_ms(catalog->options.loop);
}

/* What the catalog holds. */

static struct description *catalog_from_link(struct dict_node *link)
{
    return link ? (struct description *)((char *)link - offsetof(struct description, by_key))
                : NULL;
}

static void catalog_unlink_description(struct catalog *catalog, struct description *description)
{
    *(description->newer ? &description->newer->older : &catalog->newest) = description->older;
    *(description->older ? &description->older->newer : &catalog->oldest) = description->newer;
    description->newer = NULL;
    description->older = NULL;
}

static void catalog_link_newest(struct catalog *catalog, struct description *description)
{
    description->older = catalog->newest;
    *(catalog->newest ? &catalog->newest->newer : &catalog->oldest) = description;
    catalog->newest = description;
}

/* Nobody may be waiting for it. */
static void catalog_free_description(struct catalog *catalog, struct description *description)
{
    catalog_unlink_description(catalog, description);
    dict_remove(&catalog->by_key, &description->by_key);
    described_model_clean_up(&description->described);
    buf_clean_up(&description->text);
    free(description);
}

/* Tables are told apart by whom they are asked of: environments with the same settings share a
 * source. */
static void catalog_write_key(const struct source *source, struct span name, struct buf *out)
{
    source_identity(source, out);
    buf_add_char(out, ' ');
    buf_add_span(out, name);
}

static struct description *catalog_find_description(struct catalog *catalog,
                                                    const struct source *source, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    catalog_write_key(source, name, &key);
    struct description *found =
        key.failed ? NULL : catalog_from_link(dict_find(&catalog->by_key, buf_span(&key)));
    if (found) {
        catalog_unlink_description(catalog, found);
        catalog_link_newest(catalog, found);
    }
    return found;
}

/* The least recently used go, but for those that somebody waits for. */
static void catalog_make_room(struct catalog *catalog)
{
    struct description *newer;
    for (struct description *each = catalog->oldest;
         each && catalog->by_key.count >= CATALOG_MOST_TABLES; each = newer) {
        newer = each->newer;
        if (!each->inquiry)
            catalog_free_description(catalog, each);
    }
}

static struct description *catalog_add_description(struct catalog *catalog,
                                                   const struct source *source, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    catalog_write_key(source, name, &key);
    struct description *added = key.failed ? NULL : calloc(1, sizeof *added + key.size);
    if (!added)
        return NULL;
    catalog_make_room(catalog);
    memcpy(added->key, key.data, key.size);
    added->by_key.key = span_of(added->key, key.size);
    added->good_until_ms = INT64_MIN;
    dict_add(&catalog->by_key, &added->by_key);
    catalog_link_newest(catalog, added);
    return added;
}

static bool catalog_is_good(const struct catalog *catalog, const struct description *description)
{
    return description && description->described.model &&
           catalog_now_ms(catalog) < description->good_until_ms;
}

static void catalog_store_text(struct description *description, const struct page *page)
{
    description->item_count = page->table->item_count;
    description->size_bytes = page->table->size_bytes;
    buf_clean_up(&description->text);
    description->text = (struct buf){0};
    if (page->description.size <= MOST_TEXT_BYTES)
        buf_add_span(&description->text, page->description);
}

/* The model of what PAGE says, with a reference that is the caller's. NULL with ERR filled. */
static const struct model *catalog_learn(struct inquiry *inquiry, const struct page *page,
                                         struct error *err)
{
    CLEAN_UP(described_model_clean_up) struct described_model alone = {0};
    struct description *description = inquiry->of;
    struct described_model *described = description ? &description->described : &alone;
    if (!described_model_learn(described, inquiry->read->table, page->table, inquiry->map, err))
        return NULL;
    if (description) {
        catalog_store_text(description, page);
        description->read_ms = inquiry->asked_ms;
        description->good_until_ms = inquiry->asked_ms + MAP_STRUCTURE_TTL_MS;
    }
    return model_ref(described->model);
}

/* In an outage what was told before may do for a while. */
static const struct model *catalog_substitute(struct inquiry *inquiry, const struct error *err)
{
    struct description *description = inquiry->of;
    const struct catalog *catalog = inquiry->catalog;
    int64_t most_ms = MAP_STRUCTURE_TTL_MS + catalog->options.stale_ms;
    if (!description || !description->described.model || !error_is_outage(err) ||
        catalog_now_ms(catalog) - description->read_ms >= most_ms)
        return NULL;
    description->good_until_ms = catalog_now_ms(catalog) + STAND_IN_MS;
    return model_ref(description->described.model);
}

/* Asking. */

static void catalog_free_inquiry(struct inquiry *inquiry)
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

static void catalog_join(struct inquiry *inquiry, struct models_call *call)
{
    call->inquiry = inquiry;
    call->next = inquiry->waits;
    if (call->next)
        call->next->previous = call;
    inquiry->waits = call;
}

static void catalog_leave(struct models_call *call)
{
    *(call->previous ? &call->previous->next : &call->inquiry->waits) = call->next;
    if (call->next)
        call->next->previous = call->previous;
}

/* Each may ask, or leave, from within. */
static void catalog_report_all(struct inquiry *inquiry, const struct model *model,
                               const struct error *err)
{
    while (inquiry->waits) {
        struct models_call *first = inquiry->waits;
        struct models_call call = *first;
        catalog_leave(first);
        free(first);
        call.fn(call.arg, model, err);
    }
}

/* A table that is gone takes what was known of it along. */
static void catalog_describe_gone(struct inquiry *inquiry, const struct error *err,
                                  struct error *out)
{
    struct description *description = inquiry->of;
    *out = *err;
    out->kind = ERROR_NOT_FOUND;
    out->ttl_left_ms = MAP_MISSING_TTL_MS;
    if (description) {
        inquiry->of = NULL;
        catalog_free_description(inquiry->catalog, description);
    }
}

static void catalog_take_answer(void *arg, const struct page *page, const struct error *err)
{
    struct inquiry *inquiry = arg;
    struct error why = {0};
    const struct model *model =
        page ? catalog_learn(inquiry, page, &why) : catalog_substitute(inquiry, err);
    if (err && !model) {
        if (err->kind == ERROR_NO_TABLE)
            catalog_describe_gone(inquiry, err, &why);
        else
            why = *err;
    }
    if (inquiry->of)
        inquiry->of->inquiry = NULL; /* who asks from now on does not join this one */
    inquiry->of = NULL;
    source_end(inquiry->call);
    inquiry->call = NULL;
    catalog_report_all(inquiry, model, model ? NULL : &why);
    model_unref(model);
    catalog_free_inquiry(inquiry);
}

static struct inquiry *catalog_request(struct catalog *catalog, struct description *description,
                                       struct source *source, const struct map *map,
                                       struct span name, struct payer *payer)
{
    struct inquiry *inquiry = calloc(1, sizeof *inquiry);
    if (!inquiry)
        return NULL;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, name);
    *inquiry = (struct inquiry){.catalog = catalog,
                                .map = map_ref(map),
                                .source = source_ref(source),
                                .asked_ms = catalog_now_ms(catalog),
                                .of = description};
    inquiry->read = text.failed ? NULL : read_new(READ_TABLE, buf_text(&text), NULL);
    if (inquiry->read)
        inquiry->call = source_start(source, inquiry->read, payer, catalog_take_answer, inquiry);
    if (!inquiry->call) {
        catalog_free_inquiry(inquiry);
        return NULL;
    }
    description->inquiry = inquiry;
    return inquiry;
}

static void catalog_report_known(void *arg)
{
    struct models_call call = *(struct models_call *)arg;
    free(arg);
    call.fn(call.arg, call.model, call.model ? NULL : &call.why);
    model_unref(call.model);
}

/* Finds out what CALL is to be told, or whose answer it waits for. False when memory ran out. */
static bool catalog_begin(struct catalog *catalog, struct models_call *call,
                          const struct place *place, struct span name, struct payer *payer)
{
    struct source *source = catalog->options.source(catalog->options.source_arg, place, &call->why);
    struct description *description =
        source ? catalog_find_description(catalog, source, name) : NULL;
    if (!source || catalog_is_good(catalog, description)) {
        call->model = source ? model_ref(description->described.model) : NULL;
        call->timer = loop_add_timer(catalog->options.loop, 0, catalog_report_known, call);
        return call->timer;
    }
    if (!description)
        description = catalog_add_description(catalog, source, name);
    if (!description)
        return false;
    struct inquiry *inquiry = description->inquiry ? description->inquiry
                                                   : catalog_request(catalog, description, source,
                                                                     place->map, name, payer);
    if (inquiry)
        catalog_join(inquiry, call);
    else if (!description->described.model)
        catalog_free_description(catalog, description);
    return inquiry;
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

/* The last to leave breaks the question off. */
static void catalog_cancel(struct models_call *call)
{
    struct inquiry *inquiry = call->inquiry;
    loop_remove_timer(call->timer);
    model_unref(call->model);
    if (inquiry) {
        catalog_leave(call);
        if (inquiry->call && !inquiry->waits)
            catalog_free_inquiry(inquiry);
    }
    free(call);
}

static const struct model *catalog_known(struct model_provider *models, const struct place *place,
                                         struct span name, int64_t *ttl_left_ms)
{
    struct error ignored;
    struct catalog *catalog = catalog_of(models);
    const struct source *source =
        catalog->options.source(catalog->options.source_arg, place, &ignored);
    const struct description *description =
        source ? catalog_find_description(catalog, source, name) : NULL;
    if (!catalog_is_good(catalog, description))
        return NULL;
    if (ttl_left_ms)
        *ttl_left_ms = description->good_until_ms - catalog_now_ms(catalog);
    return description->described.model;
}

static bool catalog_reported(struct model_provider *models, const struct place *place,
                             struct model_provider_told *out)
{
    struct error ignored;
    struct catalog *catalog = catalog_of(models);
    const struct source *source =
        catalog->options.source(catalog->options.source_arg, place, &ignored);
    const struct description *description =
        source ? catalog_find_description(catalog, source, span_text(place->table_name)) : NULL;
    if (!catalog_is_good(catalog, description))
        return false;
    *out = (struct model_provider_told){buf_span(&description->text), description->item_count,
                                        description->size_bytes};
    return true;
}

struct catalog *catalog_new(const struct catalog_options *options)
{
    static const struct model_provider_ops catalog_ops = {catalog_known, catalog_find,
                                                          catalog_cancel, catalog_reported};
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
    while (catalog->newest)
        catalog_free_description(catalog, catalog->newest);
    dict_clean_up(&catalog->by_key);
    free(catalog);
}

struct model_provider *catalog_models(struct catalog *catalog)
{
    return &catalog->models;
}

void catalog_forget(struct catalog *catalog)
{
    for (struct description *each = catalog ? catalog->newest : NULL; each; each = each->older) {
        each->good_until_ms = INT64_MIN;
        if (each->inquiry)
            each->inquiry->of = NULL; /* its answer may be older than this */
        each->inquiry = NULL;
    }
}
