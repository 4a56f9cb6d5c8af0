#include "core/read/fact_text.h"

#include <stdlib.h>

/* One of the requests that tell a fact, and what it has brought. */
struct fact_part {
    struct fact_flight *flight;
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before it starts and after it ended */
    struct buf text; /* JSON as the service wrote it; of backups the elements of an array */
};

/* A fact on its way: belongs to the cache's flight, and may outlive who asked it first. */
struct fact_flight {
    enum fact fact;
    struct source *source; /* holds a reference */
    struct payer *payer;   /* holds a reference: of who asked first */
    struct cache_flight *cache_flight;
    struct fact_part parts[FACT_MOST_READS];
    size_t pending; /* requests without an answer */
};

static void fact_text_flight_release(void *arg)
{
    struct fact_flight *flight = arg;
    for (size_t i = 0; i < FACT_MOST_READS; i++) {
        read_destroy(flight->parts[i].read);
        buf_clean_up(&flight->parts[i].text);
    }
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void fact_text_flight_abandon(void *arg)
{
    struct fact_flight *flight = arg;
    for (size_t i = 0; i < FACT_MOST_READS; i++) {
        if (flight->parts[i].call)
            source_end(flight->parts[i].call);
        flight->parts[i].call = NULL;
    }
}

static void fact_text_ref_text(void *data)
{
    struct fact_text *text = data;
    text->references++;
}

static void fact_text_unref_text(void *data)
{
    struct fact_text *text = data;
    if (--text->references == 0)
        free(text);
}

static void fact_text_fail(struct fact_flight *flight, const struct error *err)
{
    struct error copy = *err;
    fact_text_flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

/* The members of both answers, by the service's own names. */
static void fact_text_write_backups(const struct fact_flight *flight, struct buf *out)
{
    buf_add_text(out, "{\"BackupSummaries\":[");
    buf_add_span(out, buf_span(&flight->parts[0].text));
    buf_add_text(out, "],\"ContinuousBackupsDescription\":");
    buf_add_span(out, buf_span(&flight->parts[1].text));
    buf_add_char(out, '}');
}

static struct fact_text *fact_text_make_text(const struct fact_flight *flight)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    if (flight->fact == FACT_BACKUPS)
        fact_text_write_backups(flight, &out);
    else
        buf_add_span(&out, buf_span(&flight->parts[0].text));
    buf_add_char(&out, '\n');
    bool failed = out.failed;
    for (size_t i = 0; i < FACT_MOST_READS; i++)
        failed = failed || flight->parts[i].text.failed;
    struct fact_text *text = failed ? NULL : malloc(sizeof *text + out.size);
    if (!text)
        return NULL;
    *text = (struct fact_text){.references = 1, .size = out.size};
    memcpy(text->bytes, out.data, out.size);
    return text;
}

static void fact_text_land(struct fact_flight *flight)
{
    struct error why;
    struct fact_text *text = fact_text_make_text(flight);
    if (!text) {
        error_no_memory(&why);
        fact_text_fail(flight, &why);
        return;
    }
    struct cache_value value = {text, fact_text_ref_text, fact_text_unref_text,
                                sizeof *text + text->size};
    fact_text_flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
    fact_text_unref_text(text);
}

static void fact_text_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct fact_part *part = arg;
    struct fact_flight *flight = part->flight;
    if (err) {
        fact_text_fail(flight, err);
        return;
    }
    buf_add_span(&part->text, page->description);
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_text(&part->text, part->text.size ? "," : "");
        buf_add_span(&part->text, json_raw(page->items[i]));
    }
    if (page->more)
        source_more(part->call);
    else if (--flight->pending == 0)
        fact_text_land(flight);
}

static bool fact_text_flight_fetch(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct fact_flight *flight = arg;
    flight->cache_flight = cache_flight;
    flight->pending = fact_read_count(flight->fact);
    for (size_t i = 0; i < fact_read_count(flight->fact); i++) {
        struct fact_part *part = &flight->parts[i];
        part->flight = flight;
        part->call =
            source_start(flight->source, part->read, flight->payer, fact_text_take_page, part);
        if (!part->call) {
            fact_text_flight_abandon(flight);
            return error_no_memory(err);
        }
    }
    return true;
}

static struct fact_flight *fact_text_flight_new(enum fact fact, struct source *source,
                                                struct payer *payer, const char *table)
{
    struct fact_flight *flight = calloc(1, sizeof *flight);
    if (!flight)
        return NULL;
    flight->fact = fact;
    flight->source = source_ref(source);
    flight->payer = payer_ref(payer);
    for (size_t i = 0; i < fact_read_count(fact); i++) {
        flight->parts[i].read = fact_read(fact, i, table);
        if (!flight->parts[i].read) {
            fact_text_flight_release(flight);
            return NULL;
        }
    }
    return flight;
}

struct cache_wait *fact_text_start(const struct tree *tree, const struct place *place,
                                   cache_done_fn *fn, void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct source *source = tree->source(tree->source_arg, place, err);
    if (!source)
        return NULL;
    struct fact_flight *flight =
        fact_text_flight_new(place->fact, source, tree->payer, place->table_name);
    struct cache_wait *wait = NULL;
    source_identity(source, &key);
    buf_printf(&key, " %s of %s", fact_name(place->fact), place->table_name);
    if (key.failed && flight)
        fact_text_flight_release(flight);
    else if (flight)
        wait = cache_request(tree->cache,
                             &(struct cache_question){
                                 .key = buf_span(&key),
                                 .max_age_ms = MAP_STRUCTURE_TTL_MS,
                                 .stale_ms = tree->stale_ms,
                                 .fetch = fact_text_flight_fetch,
                                 .abandon = fact_text_flight_abandon,
                                 .fetch_arg = flight,
                                 .release = fact_text_flight_release,
                             },
                             fn, arg);
    if (!wait)
        error_no_memory(err);
    return wait;
}
