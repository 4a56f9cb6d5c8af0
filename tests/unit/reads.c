/* Reads of a source as a program, so that the same cases run against servers and snapshots.
 * Usage: reads FILE.ddb [AT_MS], or reads URL. A line in is a Read as JSON; a line out is
 * {"items": […], "counted": 0, "names": […], "pages": [3, 1], "position": {…}, "error": "kind"}. A
 * repetition count after AT_MS measures instead: the time of all Reads as often, in nanoseconds a
 * Read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/condition/where.h"
#include "core/item/typed.h"
#include "core/json/writer.h"
#include "core/snapshot/snapshot.h"
#include "core/sources.h"

struct outcome {
    struct source_call *call;
    struct buf items, names, pages;
    struct buf position, description;
    uint64_t counted;
    struct error err;
};

static void outcome_clean_up(struct outcome *outcome)
{
    buf_clean_up(&outcome->items);
    buf_clean_up(&outcome->names);
    buf_clean_up(&outcome->pages);
    buf_clean_up(&outcome->position);
    buf_clean_up(&outcome->description);
}

static void add_element(struct buf *out, struct span json)
{
    buf_add_text(out, out->size ? "," : "");
    buf_add_span(out, json);
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct outcome *outcome = arg;
    if (err) {
        outcome->err = *err;
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        add_element(&outcome->items, json_raw(page->items[i]));
    for (size_t i = 0; i < page->name_count; i++) {
        buf_add_text(&outcome->names, outcome->names.size ? "," : "");
        json_write_string(&outcome->names, page->names[i]);
    }
    outcome->counted += page->counted;
    buf_printf(&outcome->pages, "%s%zu", outcome->pages.size ? "," : "", page->item_count);
    if (json_present(page->position)) {
        buf_truncate(&outcome->position, 0);
        buf_add_span(&outcome->position, json_raw(page->position));
    }
    buf_add_span(&outcome->description, page->description);
    if (page->more)
        source_more(outcome->call);
}

static struct span text_of(struct json value, struct arena *arena)
{
    struct span text = span_text("");
    if (json_present(value) && !typed_text(value, arena, &text))
        abort();
    return text;
}

static void add_where(struct read *read, struct json where)
{
    struct json name = json_first(where), word = json_next(name), value = json_next(word);
    struct cond cond = {.attribute = text_of(name, &read->arena)};
    while (!json_string_is(word, span_text(cond_word(cond.op))))
        cond.op++;
    if (!typed_scalar(value, &read->arena, &cond.value))
        abort();
    if (cond.op == COND_BETWEEN && !typed_scalar(json_next(value), &read->arena, &cond.upper))
        abort();
    read_add_where(read, &cond);
}

static void add_key(struct read *read, struct json object)
{
    struct key key = {0};
    for (struct json name = json_first(object), value; json_present(name);
         name = json_next(value)) {
        struct key_attribute *attribute = &key.attributes[key.count++];
        value = json_next(name);
        attribute->name = text_of(name, &read->arena);
        if (!typed_scalar(value, &read->arena, &attribute->value))
            abort();
    }
    read_add_key(read, &key);
}

static void add_names(struct read *read, struct json names, void (*add)(struct read *, struct span))
{
    for (struct json name = json_first(names); json_present(name); name = json_next(name))
        add(read, text_of(name, &read->arena));
}

static uint32_t number_of(struct json value)
{
    int64_t number = 0;
    json_read_int(value, &number);
    return (uint32_t)number;
}

static struct read *read_of(struct json from)
{
    static const char *const kinds[] = {"items",  "query",   "tables",   "table",
                                        "expiry", "backups", "recovery", "scan"};
    struct arena arena = {0};
    struct json index = json_member(from, "index"), filter = json_member(from, "filter");
    enum read_kind kind = READ_ITEMS;
    while (!json_string_is(json_member(from, "kind"), span_text(kinds[kind])))
        kind++;
    struct span table = text_of(json_member(from, "table"), &arena);
    const char *index_name = arena_text(&arena, text_of(index, &arena));
    struct read *read =
        read_new(kind, arena_text(&arena, table), json_present(index) ? index_name : NULL);
    struct json list = json_member(from, "where");
    for (struct json each = json_first(list); json_present(each); each = json_next(each))
        add_where(read, each);
    list = json_member(from, "keys");
    for (struct json each = json_first(list); json_present(each); each = json_next(each))
        add_key(read, each);
    add_names(read, json_member(from, "attributes"), read_add_attribute);
    add_names(read, json_member(from, "sort"), read_add_sort);
    add_names(read, json_member(from, "own_key"), read_add_own_key);
    if (json_present(filter)) {
        struct cond cond;
        struct error err;
        if (!where_parse(text_of(filter, &arena), &read->arena, &cond, &err))
            abort();
        read_add_filter(read, &cond);
    }
    read->descending = json_is(json_member(from, "descending"), JSON_TRUE);
    read->counts = json_is(json_member(from, "counts"), JSON_TRUE);
    read->consistent = json_is(json_member(from, "consistent"), JSON_TRUE);
    read->limit = number_of(json_member(from, "limit"));
    read->segment = number_of(json_member(from, "segment"));
    read->segments = number_of(json_member(from, "segments"));
    arena_clean_up(&arena);
    if (read_failed(read))
        abort();
    return read;
}

static void print_outcome(const struct outcome *outcome)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json_writer json = json_writer_to(&out);
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    buf_printf(json_writer_add_value(&json, "items"), "[%s]", buf_text(&outcome->items));
    json_writer_add_integer(&json, "counted", (int64_t)outcome->counted);
    buf_printf(json_writer_add_value(&json, "names"), "[%s]", buf_text(&outcome->names));
    buf_printf(json_writer_add_value(&json, "pages"), "[%s]", buf_text(&outcome->pages));
    if (outcome->position.size > 0)
        json_writer_add_raw(&json, "position", buf_span(&outcome->position));
    if (outcome->description.size > 0)
        json_writer_add_raw(&json, "description", buf_span(&outcome->description));
    if (outcome->err.kind) {
        json_writer_add_text(&json, "error", error_word(outcome->err.kind));
        json_writer_add_text(&json, "text", outcome->err.text);
    }
    json_writer_end(&json);
    puts(buf_text(&out));
    fflush(stdout);
}

static void run(struct loop *loop, struct source *source, struct json line, unsigned times)
{
    struct read *read = read_of(line);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned i = 0; i < (times ? times : 1); i++) {
        CLEAN_UP(outcome_clean_up) struct outcome outcome = {0};
        outcome.call = source_start(source, read, NULL, take_page, &outcome);
        if (!outcome.call || !loop_run(loop))
            abort();
        source_end(outcome.call);
        if (!times || outcome.err.kind)
            print_outcome(&outcome);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (times)
        printf("%lld\n",
               ((long long)(to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec) /
                   times);
    fflush(stdout);
    read_destroy(read);
}

static void run_all(struct loop *loop, struct source *source, unsigned times)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        if (!json_parse(&doc, span_of(line, (size_t)size), JSON_STRICT, NULL))
            abort();
        run(loop, source, json_root(&doc), times);
    }
    free(line);
}

static int run_on_server(struct loop *loop, const char *url, unsigned times)
{
    struct error err = {0};
    struct place place = {0};
    struct sources_options options = {.loop = loop,
                                      .deadline_ms = 60000,
                                      .most_items = UINT64_MAX,
                                      .over = {.endpoint_url = url, .region = "us-east-1"},
                                      .user_agent = "reads",
                                      .may_scan = true,
                                      .slow_page_ms = -1};
    struct sources *sources = sources_new(&options);
    struct source *source = sources_for(sources, &place, &err);
    if (!source)
        fprintf(stderr, "%s\n", err.text);
    else
        run_all(loop, source, times);
    sources_destroy(sources);
    return source ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_on_file(struct loop *loop, const char *file, int64_t at_ms, unsigned times)
{
    struct error err = {0};
    struct snapshot_store *store = snapshot_store_open(
        &(struct snapshot_store_options){.loop = loop, .files = &file, .file_count = 1}, &err);
    if (!store) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    struct source *source = snapshot_new(store, at_ms);
    run_all(loop, source, times);
    source_destroy(source);
    snapshot_store_unref(store);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct loop *loop = loop_new(clock_system());
    int64_t at_ms = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
    unsigned times = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (argc < 2)
        return EXIT_FAILURE;
    int status = strncmp(argv[1], "http", 4) == 0
                     ? run_on_server(loop, argv[1], times)
                     : run_on_file(loop, argv[1], at_ms ? at_ms : INT64_MAX, times);
    loop_destroy(loop);
    return status;
}
