#include "fs/cli/learner.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/author/infer.h"
#include "core/item/item.h"
#include "core/sources.h"
#include "fs/cli/peek.h"

/* One table, and what was seen of it. */
struct lesson {
    char *name; /* owned */
    const struct declared_table *described;
    struct inference *inference; /* owned */
    struct lesson *next;
};

struct learner {
    struct app *app;
    struct peek peek;
    struct lesson *lessons; /* owned */

    /* Of the table that is scanned. */
    struct lesson *scanned;
    struct arena arena;
    struct key *keys;
    size_t key_count;
    uint32_t most;
};

static void complain_of_memory(struct learner *learner)
{
    struct error why;
    error_no_memory(&why);
    app_complain(learner->app, NULL, &why);
}

static struct lesson *find_lesson(const struct learner *learner, const char *name)
{
    struct lesson *lesson = learner->lessons;
    while (lesson && strcmp(lesson->name, name) != 0)
        lesson = lesson->next;
    return lesson;
}

static bool take_item(void *arg, const struct plan *plan, struct json item)
{
    const struct learner *learner = arg;
    struct lesson *lesson = find_lesson(learner, plan->table_name);
    return !lesson || inference_add(lesson->inference, item);
}

struct learner *learner_new(struct app *app)
{
    struct learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return NULL;
    learner->app = app;
    learner->peek =
        (struct peek){.app = app, .most = LEARNER_RECORDS, .take = take_item, .arg = learner};
    return learner;
}

void learner_destroy(struct learner *learner)
{
    struct lesson *next;
    if (!learner)
        return;
    for (struct lesson *lesson = learner->lessons; lesson; lesson = next) {
        next = lesson->next;
        inference_destroy(lesson->inference);
        free(lesson->name);
        free(lesson);
    }
    free(learner);
}

bool learner_add_table(struct learner *learner, const char *name,
                       const struct declared_table *described)
{
    struct lesson *lesson = calloc(1, sizeof *lesson);
    if (!lesson)
        return false;
    lesson->described = described;
    lesson->name = strdup(name);
    lesson->inference = inference_new(described);
    lesson->next = learner->lessons;
    learner->lessons = lesson;
    return lesson->name && lesson->inference;
}

char *learner_table_of(struct learner *learner, const char *path)
{
    struct error why;
    struct place *place = app_resolve(learner->app, path, &why);
    char *name = place && place_is_read(place) ? place_table_name(place) : NULL;
    if (place && !place_is_read(place))
        error_set(&why, ERROR_NOT_LISTABLE,
                  "no record is read for this; name one, or a listing: /tables/TABLE/items/KEY/");
    else if (place && !name)
        error_no_memory(&why);
    if (!name)
        app_complain(learner->app, path, &why);
    place_destroy(place);
    return name;
}

void learner_read_path(struct learner *learner, const char *path)
{
    unsigned before = learner->peek.records;
    peek_path(&learner->peek, path, true);
    if (learner->peek.records == before && learner->app->status == EXIT_SUCCESS)
        app_note(learner->app, LOG_LEVEL_WARNING, path,
                 "no record was read there, so nothing was learnt of it; is the key right?");
}

static bool read_key(const struct declared_table *table, struct json item, struct arena *arena,
                     struct key *out)
{
    const struct declared_record *record = table->records;
    *out = (struct key){.count = record->key_count};
    for (size_t i = 0; i < record->key_count; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
        struct key_attribute *attribute = &out->attributes[i];
        attribute->name = span_text(record->keys[i].attribute);
        bool read = value_read(item_attribute(item, attribute->name), &bytes, &attribute->value);
        attribute->value.bytes = arena_copy(arena, attribute->value.bytes);
        if (!read || bytes.failed || arena->failed)
            return false;
    }
    return true;
}

/* Keys first: a Scan asks for no more than these. One page is all. */
static void take_keys(void *arg, const struct page *page, const struct error *err)
{
    struct learner *learner = arg;
    loop_stop(learner->app->loop);
    if (err) {
        app_complain(learner->app, learner->scanned->name, err);
        return;
    }
    learner->peek.requests += page->requests;
    learner->peek.capacity += page->capacity > 0 ? page->capacity : 0;
    for (size_t i = 0; i < page->item_count && learner->key_count < learner->most; i++)
        learner->key_count += read_key(learner->scanned->described, page->items[i], &learner->arena,
                                       &learner->keys[learner->key_count]);
}

static void take_records(void *arg, const struct page *page, const struct error *err)
{
    struct learner *learner = arg;
    loop_stop(learner->app->loop);
    if (err) {
        app_complain(learner->app, learner->scanned->name, err);
        return;
    }
    learner->peek.requests += page->requests;
    learner->peek.capacity += page->capacity > 0 ? page->capacity : 0;
    for (size_t i = 0; i < page->item_count; i++)
        if (!inference_add(learner->scanned->inference, page->items[i]))
            complain_of_memory(learner);
    learner->peek.records += (unsigned)page->item_count;
}

static void ask(struct learner *learner, struct source *source, struct read *read,
                source_page_fn *fn)
{
    struct source_call *call =
        read && !read_failed(read) ? source_start(source, read, NULL, fn, learner) : NULL;
    if (call) {
        loop_run(learner->app->loop);
        source->ops->end(call);
    } else {
        complain_of_memory(learner);
    }
    read_destroy(read);
}

static void scan_for_keys(struct learner *learner, struct source *source)
{
    struct read *read = read_new(READ_SCAN, learner->scanned->name, NULL);
    const struct declared_record *record = learner->scanned->described->records;
    for (size_t i = 0; read && i < record->key_count; i++)
        read_add_attribute(read, span_text(record->keys[i].attribute));
    if (read)
        read->limit = learner->most;
    ask(learner, source, read, take_keys);
}

static void read_by_keys(struct learner *learner, struct source *source)
{
    for (size_t at = 0; at < learner->key_count;) {
        struct read *read = read_new(READ_ITEMS, learner->scanned->name, NULL);
        for (size_t i = 0; i < READ_MAX_KEYS && at < learner->key_count; i++, at++)
            if (read)
                read_add_key(read, &learner->keys[at]);
        ask(learner, source, read, take_records);
    }
}

void learner_scan(struct learner *learner, const char *name, const struct place *place,
                  uint32_t count)
{
    struct error why;
    struct source *source = sources_for(learner->app->sources, place, &why);
    learner->scanned = find_lesson(learner, name);
    learner->most = count;
    learner->key_count = 0;
    learner->keys = arena_array(&learner->arena, count, sizeof *learner->keys);
    if (!source)
        app_complain(learner->app, name, &why);
    else if (!learner->keys)
        complain_of_memory(learner);
    else if (learner->scanned)
        scan_for_keys(learner, source);
    if (source && learner->keys)
        read_by_keys(learner, source);
    if (learner->key_count == 0 && learner->app->status == EXIT_SUCCESS)
        app_note(learner->app, LOG_LEVEL_WARNING, name,
                 "no record was read there, so nothing was learnt of it; the table may be empty");
    arena_clean_up(&learner->arena);
    learner->keys = NULL;
}

struct declared_table *learner_table(struct learner *learner, const char *name, struct arena *arena)
{
    const struct lesson *lesson = find_lesson(learner, name);
    struct declared_table *table = lesson ? inference_end(lesson->inference, arena) : NULL;
    if (table && inference_count(lesson->inference) > 0 &&
        table->records == lesson->described->records)
        app_note(learner->app, LOG_LEVEL_WARNING, name,
                 "no words were found in the keys that were read, such as USER in \"USER#1\", so "
                 "the map has whole keys; docs/map.md says how formats are written");
    return table;
}

void learner_tell(const struct learner *learner)
{
    const struct peek *peek = &learner->peek;
    fprintf(stderr, "ddbfs: %u record%s read: %u request%s, %.15g capacity unit%s\n", peek->records,
            peek->records == 1 ? " was" : "s were", peek->requests, peek->requests == 1 ? "" : "s",
            peek->capacity, peek->capacity == 1 ? "" : "s");
}
