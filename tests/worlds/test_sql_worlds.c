/* SELECTs over random worlds, each compared with SQLite over the rows that the documents promise,
 * and with the bounds that --explain states. A statement that is refused must need a scan, and is
 * answered by one.
 *
 * DDBFS_WORLDS_SEED: the first world (else a fresh one, which is printed); DDBFS_WORLDS: how many
 * (15); DDBFS_WORLDS_SECONDS: for how long instead (120 with DDBFS_LONG=1). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/describe/explain.h"
#include "core/read/catalog.h"
#include "core/read/place.h"
#include "core/source/batching.h"
#include "core/source/scan_limits.h"
#include "core/sql/sql_session.h"
#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"
#include "tests/worlds/world_source.h"
#include "tests/worlds/world_statement.h"

enum { STATEMENTS = 60, MOST_ROWS = 4000 };

/* The product on a world. */
struct bench {
    struct world world;
    struct virtual_clock clock;
    struct loop *loop;
    struct cache *cache;
    const struct map *map;
    struct catalog *catalog;
    struct world_source source;
    struct source *stack; /* owned: SOURCE, or what wraps it */
    struct scan_limits limits;
    struct tree tree, scanning;
    struct sql_session *session, *scans;
    struct world_reference *reference;
    struct world_from froms[WORLD_FROMS];
    unsigned from_count;
};

static struct {
    unsigned worlds, statements, answered, refused, failed, scanned, bounded, loose, unloadable;
} sums;

static struct source *bench_source(void *arg, const struct place *place, struct error *err)
{
    (void)place, (void)err;
    return ((struct bench *)arg)->stack;
}

static const struct source_ops *bench_describe(void *arg, const struct place *place,
                                               struct buf *options)
{
    (void)place, (void)options;
    return ((struct bench *)arg)->source.source.ops;
}

/* Opens BENCH, which has its world. False if the map does not compile. */
static bool bench_open(struct bench *bench, bool batches)
{
    struct error err = {0};
    struct world_text map = {0};
    world_write_map(&bench->world, false, &map);
    bench->map = map_parse("map.json", span_of(map.bytes, map.size), NULL, &err);
    if (getenv("DDBFS_WORLDS_SHOW"))
        printf("# %s\n", map.bytes);
    if (!bench->map && getenv("DDBFS_WORLDS_SHOW"))
        printf("# %s\n", err.text);
    world_text_free(&map);
    if (!bench->map)
        return false;
    virtual_clock_init(&bench->clock, 1776340800000);
    bench->loop = loop_new(&bench->clock.clock);
    bench->cache = cache_new(bench->loop, 1 << 24);
    bench->limits = (struct scan_limits){1000000, 1 << 30};
    world_source_init(&bench->source, bench->loop, &bench->world);
    bench->stack = &bench->source.source;
    if (batches)
        bench->stack = batching_new(&(struct batching_options){
            .source = bench->stack, .loop = bench->loop, .deadline_ms = 10000});
    CHECK(bench->stack);
    bench->catalog = catalog_new(&(struct catalog_options){
        .loop = bench->loop, .source = bench_source, .source_arg = bench});
    CHECK(bench->loop && bench->cache && bench->catalog);
    bench->tree = (struct tree){.map = bench->map,
                                .loop = bench->loop,
                                .cache = bench->cache,
                                .source = bench_source,
                                .source_arg = bench,
                                .describe = bench_describe,
                                .texts = &describe_texts,
                                .models = catalog_models(bench->catalog),
                                .names = {.suffix = ""}};
    bench->scanning = bench->tree;
    bench->scanning.names.scan = &bench->limits;
    bench->session =
        sql_session_new(&(struct sql_options){.tree = &bench->tree, .memory = 1 << 28}, &err);
    bench->scans = sql_session_new(
        &(struct sql_options){.tree = &bench->scanning, .memory = 1 << 28, .may_scan = true}, &err);
    CHECK(bench->session && bench->scans);
    bench->reference = world_reference_new(&bench->world, bench->froms, &bench->from_count);
    return true;
}

static void bench_close(struct bench *bench)
{
    world_reference_free(bench->reference);
    sql_session_destroy(bench->session);
    sql_session_destroy(bench->scans);
    catalog_destroy(bench->catalog);
    cache_destroy(bench->cache);
    source_destroy(bench->stack);
    loop_destroy(bench->loop);
    map_unref(bench->map);
    world_source_clean_up(&bench->source);
}

/* Rows. */

struct result {
    char *rows[MOST_ROWS]; /* owned */
    unsigned count;
    struct error err;
};

static void result_add(void *arg, const char *row)
{
    struct result *result = arg;
    CHECK(result->count < MOST_ROWS);
    result->rows[result->count++] = strdup(row);
}

static void result_clean_up(struct result *result)
{
    for (unsigned i = 0; i < result->count; i++)
        free(result->rows[i]);
    *result = (struct result){0};
}

static int result_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct product_rows {
    struct result *result;
    size_t columns;
};

static bool result_take(void *arg, const struct sql_value *values)
{
    const struct product_rows *rows = arg;
    struct world_text row = {0};
    for (size_t i = 0; i < rows->columns; i++)
        world_cell_add(&row, "nirtb"[values[i].type], values[i].integer, values[i].real,
                       values[i].bytes.data, values[i].bytes.size);
    result_add(rows->result, row.bytes ? row.bytes : "");
    world_text_free(&row);
    return true;
}

/* Runs TEXT; an error is in OUT. */
static void bench_run(struct bench *bench, struct sql_session *session, const char *text,
                      struct result *out)
{
    struct sql_statement *statement = NULL;
    struct span rest;
    struct error why = {0};
    cache_drop(bench->cache);
    bench->source.books = (struct world_books){0};
    bool ok = sql_prepare(session, span_text(text), &statement, &rest, &why) && statement;
    if (ok) {
        struct product_rows rows = {out, sql_statement_columns(statement)};
        ok = sql_statement_run(statement, result_take, &rows, &why);
    }
    if (!ok)
        out->err = why; /* it is filled on the way to a success, too */
    sql_statement_end(statement);
}

/* Bounds. */

struct bounds {
    struct cost cost;
    bool is_open; /* a step is repeated for each value of others, or is a scan */
    bool scans;
};

static bool bounds_add(void *arg, const struct sql_step *step)
{
    struct bounds *bounds = arg;
    const struct plan *plan = step->place ? place_plan(step->place, NULL) : NULL;
    bounds->is_open = bounds->is_open || step->per_row || step->is_scan;
    bounds->scans = bounds->scans || step->is_scan;
    for (uint64_t i = 0; plan && i < (step->lookups ? step->lookups : 1); i++)
        cost_add(&bounds->cost, &plan->cost);
    return true;
}

static bool bench_explain(struct bench *bench, struct sql_session *session, const char *text,
                          struct bounds *out)
{
    struct sql_statement *statement = NULL;
    struct span rest;
    struct error err;
    *out = (struct bounds){0};
    bench->source.books = (struct world_books){0};
    bool ok = sql_prepare(session, span_text(text), &statement, &rest, &err) && statement &&
              sql_statement_explain(statement, bounds_add, out, &err);
    sql_statement_end(statement);
    return ok;
}

/* What of the books the bounds deny; NULL: nothing. */
static const char *bounds_deny(const struct bounds *bounds, const struct world_books *books)
{
    const struct cost *cost = &bounds->cost;
    bool has_pages = cost->pages || cost->passes_over || cost->ties;
    if (bounds->is_open)
        return NULL;
    if (books->scans > 0)
        return "a scan";
    if (!has_pages && !cost->batches && books->requests > cost->requests)
        return "more requests than stated";
    if (books->queries > cost->requests + cost->pages + cost->passes_over)
        return "more queries than stated";
    double most = cost->rcu.most + (has_pages ? books->pages * cost->rcu.page : 0) +
                  (cost->batches ? books->keys * cost->rcu.record : 0);
    return books->units > most + 1e-6 ? "more units than stated" : NULL;
}

/* Statements. */

static bool is_refused(const struct error *err)
{
    return strstr(err->text, " needs one of: ") || strstr(err->text, " needs ");
}

/* Errors that docs/sql.md names: a number where a text is compared, and its like. */
static bool is_documented(const struct error *err)
{
    return strstr(err->text, "write the number as a text") ||
           strstr(err->text, "write cast(") != NULL;
}

static void fail(const struct bench *bench, const struct world_statement *statement,
                 const char *what, const struct result *is, const struct result *should)
{
    printf("# world %llu: %s\n#   %s\n#   as %s\n", (unsigned long long)bench->world.seed, what,
           statement->text.bytes, statement->plain.bytes);
    for (unsigned i = 0; is && i < is->count && i < 12; i++)
        printf("#   is     %s", is->rows[i]);
    for (unsigned i = 0; should && i < should->count && i < 12; i++)
        printf("#   should %s", should->rows[i]);
    sums.failed++;
}

static void compare(const struct bench *bench, const struct world_statement *statement,
                    struct result *is, struct result *should, const char *how)
{
    char what[160];
    bool differs = is->count != should->count;
    if (!statement->is_ordered && is->count > 0)
        qsort(is->rows, is->count, sizeof is->rows[0], result_order);
    if (!statement->is_ordered && should->count > 0)
        qsort(should->rows, should->count, sizeof should->rows[0], result_order);
    for (unsigned i = 0; !differs && i < is->count; i++)
        differs = strcmp(is->rows[i], should->rows[i]) != 0;
    snprintf(what, sizeof what, "%s: %u rows, not %u, or others", how, is->count, should->count);
    if (differs)
        fail(bench, statement, what, is, should);
}

static void check_statement(struct bench *bench, struct world_statement *statement)
{
    struct result is = {0}, should = {0};
    struct bounds bounds;
    const char *error =
        world_reference_run(bench->reference, statement->plain.bytes, result_add, &should);
    bool explained = bench_explain(bench, bench->session, statement->text.bytes, &bounds);
    if (bench->source.books.requests > 0)
        fail(bench, statement, "--explain has sent requests", NULL, NULL);
    bench_run(bench, bench->session, statement->text.bytes, &is);
    struct world_books books = bench->source.books;
    sums.statements++;
    if (books.refused[0])
        fail(bench, statement, books.refused, NULL, NULL);
    if (is.err.kind == ERROR_NONE && error) {
        fail(bench, statement, error, NULL, NULL);
    } else if (is.err.kind == ERROR_NONE) {
        const char *denied = explained ? bounds_deny(&bounds, &books) : "--explain has failed";
        sums.answered++;
        *(bounds.is_open ? &sums.loose : &sums.bounded) += 1;
        compare(bench, statement, &is, &should, "by keys");
        if (denied)
            fail(bench, statement, denied, NULL, NULL);
    } else if (is_refused(&is.err)) {
        sums.refused++;
        if (statement->is_keyed)
            fail(bench, statement, is.err.text, NULL, NULL);
        if (books.requests > 0)
            fail(bench, statement, "a refused statement has sent requests", NULL, NULL);
        const struct error refusal = is.err;
        result_clean_up(&is);
        bench_run(bench, bench->scans, statement->text.bytes, &is);
        if (is.err.kind == ERROR_NONE && !error)
            compare(bench, statement, &is, &should, "by a scan");
        else if (!error && !is_documented(&is.err))
            fail(bench, statement, is.err.text, NULL, NULL);
        sums.scanned += bench->source.books.scans > 0;
        if (bench_explain(bench, bench->scans, statement->text.bytes, &bounds) && !bounds.scans)
            fail(bench, statement, refusal.text, NULL, NULL); /* it needs no scan */
    } else if (!error && !is_documented(&is.err)) {
        fail(bench, statement, is.err.text, NULL, NULL);
    }
    result_clean_up(&is);
    result_clean_up(&should);
}

static void check_world(uint64_t seed)
{
    static struct bench bench;
    struct world_dice dice = {seed ^ 0x57a7};
    memset(&bench, 0, sizeof bench);
    world_make(&bench.world, seed, false);
    if (!bench_open(&bench, seed % 2)) {
        sums.unloadable++;
        return;
    }
    sums.worlds++;
    for (unsigned i = 0; bench.from_count > 0 && i < STATEMENTS && sums.failed < 10; i++) {
        struct world_statement statement;
        world_statement_make(&statement, &dice, bench.reference, bench.froms, bench.from_count);
        check_statement(&bench, &statement);
        world_statement_free(&statement);
    }
    bench_close(&bench);
}

/* The query under way has a filter, whose results are counted when it ends. */
static void test_a_statement_ends_within_its_query(void)
{
    static struct bench bench;
    struct result rows = {0};
    memset(&bench, 0, sizeof bench);
    world_make_partition(&bench.world);
    CHECK(bench_open(&bench, false));
    bench_run(&bench, bench.session,
              "select sk from e.t0 where pk = 'a' and p = 'b' and sk || 'x' > '05' limit 1", &rows);
    CHECK_INT(rows.err.kind, ERROR_NONE);
    CHECK_INT(rows.count, 1);
    CHECK(bench.source.books.pages < 8);
    result_clean_up(&rows);
    bench_close(&bench);
}

static void test_statements_of_random_worlds(void)
{
    world_check_all(check_world, &sums.failed);
    printf("# %u worlds (%u maps that do not compile), %u statements: %u answered, %u refused, of "
           "which %u "
           "scan; %u with a bound, %u with an open one\n",
           sums.worlds, sums.unloadable, sums.statements, sums.answered, sums.refused, sums.scanned,
           sums.bounded, sums.loose);
    CHECK_INT(sums.failed, 0);
    CHECK(sums.worlds > sums.unloadable && sums.answered > 0);
}

static const struct check_test tests[] = {
    {"a_statement_ends_within_its_query", test_a_statement_ends_within_its_query},
    {"statements_of_random_worlds", test_statements_of_random_worlds},
};
CHECK_MAIN(tests)
