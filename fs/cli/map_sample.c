#include "fs/cli/map_sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/draft/infer.h"
#include "core/read/fetch.h"
#include "core/sources.h"
#include "fs/cli/sample_reader.h"

/* Four segments at least show several kinds. A request costs half a unit however few items it
 * returns, so that there are no more segments than each has this many items. */
enum { RECORDS_OF_A_SEGMENT = 25, LEAST_SEGMENTS = 4, MOST_SEGMENTS = 16 };

/* One table, and what was seen of it. */
struct lesson {
    char *name; /* owned */
    const struct declared_table *described;
    struct inference *inference; /* owned */
    struct lesson *next;
};

struct map_sample {
    struct app *app;
    struct peek peek;
    struct lesson *lessons; /* owned */

    /* Of the table that is scanned. */
    struct lesson *scanned;
    size_t items;
    bool is_at_end; /* of the segment whose page came last */
    bool failed;
};

/* One segment of a table, whose pages are requested in turn with those of the others. */
struct segment_scan {
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before the first page */
    bool is_at_end;
};

static void map_sample_report_memory(struct map_sample *learner)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(learner->app, NULL, &why);
}

static struct lesson *map_sample_find_lesson(const struct map_sample *learner, const char *name)
{
    struct lesson *lesson = learner->lessons;
    while (lesson && strcmp(lesson->name, name) != 0)
        lesson = lesson->next;
    return lesson;
}

static bool map_sample_take_item(void *arg, const struct plan *plan, struct json item)
{
    const struct map_sample *learner = arg;
    struct lesson *lesson = map_sample_find_lesson(learner, plan->table_name);
    return !lesson || inference_add(lesson->inference, item);
}

struct map_sample *map_sample_new(struct app *app)
{
    struct map_sample *learner = calloc(1, sizeof *learner);
    if (!learner)
        return NULL;
    learner->app = app;
    learner->peek = (struct peek){
        .app = app, .most = MAP_SAMPLE_RECORDS, .take = map_sample_take_item, .arg = learner};
    return learner;
}

void map_sample_destroy(struct map_sample *learner)
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

bool map_sample_add_table(struct map_sample *learner, const char *name,
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

char *map_sample_table_of(struct map_sample *learner, const char *path)
{
    struct error why;
    struct place *place = app_resolve(learner->app, path, &why);
    char *name = place && fetch_is_needed(place) ? place_table_name(place) : NULL;
    if (place && !fetch_is_needed(place))
        error_set(&why, ERROR_NOT_LISTABLE,
                  "no record is read for this; name one, or a listing: /tables/TABLE/items/KEY/");
    else if (place && !name)
        error_no_memory(&why);
    if (!name)
        app_report_error(learner->app, path, &why);
    place_destroy(place);
    return name;
}

void map_sample_read_path(struct map_sample *learner, const char *path)
{
    unsigned before = learner->peek.records;
    sample_reader_path(&learner->peek, path, true);
    if (learner->peek.records == before && learner->app->status == EXIT_SUCCESS)
        app_note(learner->app, LOG_LEVEL_WARNING, path,
                 "no record was read there, so nothing was learnt of it; is the key right?");
}

static void map_sample_take_items(void *arg, const struct page *page, const struct error *err)
{
    struct map_sample *learner = arg;
    loop_stop(learner->app->loop);
    learner->failed = err != NULL;
    if (err) {
        app_report_error(learner->app, learner->scanned->name, err);
        return;
    }
    learner->is_at_end = !page->more;
    learner->items += page->item_count;
    learner->peek.requests += page->requests;
    source_add_page(&learner->peek.spent, page);
    learner->peek.records += (unsigned)page->item_count;
    for (size_t i = 0; i < page->item_count; i++)
        if (!inference_add(learner->scanned->inference, page->items[i]))
            map_sample_report_memory(learner);
}

static bool map_sample_scan_page(struct map_sample *learner, struct source *source,
                                 struct segment_scan *segment)
{
    if (segment->call)
        source_more(segment->call);
    else if (segment->read && !read_failed(segment->read))
        segment->call = source_start(source, segment->read, NULL, map_sample_take_items, learner);
    if (!segment->call) {
        map_sample_report_memory(learner);
        return false;
    }
    loop_run(learner->app->loop);
    segment->is_at_end = learner->is_at_end;
    return !learner->failed;
}

/* A page of each segment in turn, so that a kind with most of the items does not hide the others;
 * a segment that has ended leaves its pages to the others. */
static void map_sample_scan_segments(struct map_sample *learner, struct source *source,
                                     uint32_t count, struct segment_scan *segments,
                                     uint32_t segment_count)
{
    uint32_t requests = 0, open = segment_count;
    for (uint32_t i = 0; i < segment_count; i++) {
        struct read *read = read_new(READ_SCAN, learner->scanned->name, NULL);
        segments[i].read = read;
        if (!read)
            continue;
        read->segment = i;
        read->segments = segment_count > 1 ? segment_count : 0;
        read->limit = count / segment_count + (i < count % segment_count ? 1 : 0);
    }
    for (uint32_t i = 0; open > 0 && learner->items < count; i = (i + 1) % segment_count) {
        if (segments[i].is_at_end)
            continue;
        if (requests++ == 2 * segment_count || !map_sample_scan_page(learner, source, &segments[i]))
            break;
        open -= segments[i].is_at_end;
    }
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].call)
            source_end(segments[i].call);
        read_destroy(segments[i].read);
    }
}

uint32_t map_sample_segments(uint32_t count)
{
    uint32_t segments = count / RECORDS_OF_A_SEGMENT;
    if (segments > MOST_SEGMENTS)
        return MOST_SEGMENTS;
    if (segments >= LEAST_SEGMENTS)
        return segments;
    return count < LEAST_SEGMENTS ? count : LEAST_SEGMENTS;
}

size_t map_sample_most(uint32_t count)
{
    size_t segments = map_sample_segments(count);
    return count - 1 + (count + segments - 1) / segments;
}

void map_sample_scan(struct map_sample *learner, const char *name, const struct place *place,
                     uint32_t count)
{
    struct error why;
    struct segment_scan segments[MOST_SEGMENTS] = {0};
    struct source *source = source_ref(sources_for(learner->app->sources, place, &why));
    learner->scanned = map_sample_find_lesson(learner, name);
    learner->items = 0;
    learner->failed = false;
    if (!source)
        app_report_error(learner->app, name, &why);
    else if (learner->scanned)
        map_sample_scan_segments(learner, source, count, segments, map_sample_segments(count));
    source_unref(source);
    if (learner->items == 0 && learner->app->status == EXIT_SUCCESS)
        app_note(learner->app, LOG_LEVEL_WARNING, name,
                 "no record was read there, so nothing was learnt of it; the table may be empty");
}

struct declared_table *map_sample_table(struct map_sample *learner, const char *name,
                                        struct arena *arena)
{
    const struct lesson *lesson = map_sample_find_lesson(learner, name);
    struct declared_table *table = lesson ? inference_end(lesson->inference, arena) : NULL;
    if (table && inference_count(lesson->inference) > 0 &&
        table->records == lesson->described->records)
        app_note(learner->app, LOG_LEVEL_WARNING, name,
                 "no words were found in the keys that were read, such as USER in \"USER#1\", so "
                 "the map has whole keys; docs/map.md says how formats are written");
    return table;
}

void map_sample_report(const struct map_sample *learner)
{
    const struct peek *peek = &learner->peek;
    CLEAN_UP(buf_clean_up) struct buf spent = {0};
    spent_write(&peek->spent, &spent);
    fprintf(stderr, "ddbfs: %u record%s read: %u request%s, %s\n", peek->records,
            peek->records == 1 ? " was" : "s were", peek->requests, peek->requests == 1 ? "" : "s",
            buf_text(&spent));
}
