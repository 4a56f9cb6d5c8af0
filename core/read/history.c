#include "core/read/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/read/moments.h"

/* The item at one moment. */
struct history_state {
    bool exists;
    struct buf bytes; /* of its file */
    int64_t ttl_left_ms;
};

struct history {
    const struct tree *tree;
    const struct place *place;
    int64_t *times; /* owned: the newest first */
    size_t count;
    size_t at;    /* the moment of NEWER */
    bool is_one;  /* only the version at the first moment is wanted */
    bool is_read; /* NEWER is */
    bool found;   /* a version was */
    struct history_state newer, older;
    struct place *read;       /* owned: the item at the moment that CALL reads */
    struct tree_call *call;   /* of OLDER, or of the first NEWER */
    struct loop_timer *timer; /* for a report in a later round */
    struct error missing;     /* why the item was not found at the newest moment */
    history_fn *fn;
    void *arg;
};

void history_close(struct history *history)
{
    if (!history)
        return;
    tree_cancel(history->call);
    loop_remove_timer(history->timer);
    place_destroy(history->read);
    buf_clean_up_secret(&history->newer.bytes);
    buf_clean_up_secret(&history->older.bytes);
    free(history->times);
    free(history);
}

static void history_fail(struct history *history, const struct error *err)
{
    struct error copy = *err;
    history->fn(history->arg, NULL, &copy);
}

static void history_fail_without_memory(struct history *history)
{
    struct error why;
    error_no_memory(&why);
    history_fail(history, &why);
}

static bool history_is_change(const struct history *history)
{
    const struct history_state *newer = &history->newer, *older = &history->older;
    return newer->exists != older->exists ||
           (newer->exists && !span_equal(buf_span(&newer->bytes), buf_span(&older->bytes)));
}

/* The end of all moments. */
static void history_report_end(struct history *history)
{
    CLEAN_UP(buf_clean_up) struct buf time = {0};
    struct error why;
    if (history->found) {
        history->fn(history->arg, NULL, NULL);
        return;
    }
    if (history->missing.kind != ERROR_NONE) {
        history_fail(history, &history->missing);
        return;
    }
    instant_write_exact(&time, history->times[0]);
    error_set(&why, ERROR_NOT_FOUND,
              "the item did not change in the window that ends at %s; list the directory to see "
              "the times of its versions",
              buf_text(&time));
    history_fail(history, &why);
}

static void history_report_version(struct history *history)
{
    const struct history_version version = {.moment_ms = history->times[history->at],
                                            .deleted = !history->newer.exists,
                                            .bytes = buf_span(&history->newer.bytes),
                                            .ttl_left_ms = history->newer.ttl_left_ms};
    history->found = true;
    history->fn(history->arg, &version, NULL);
}

static void history_take_file(void *arg, const struct tree_file *file, const struct error *err);

/* Reads the item at the moment NUMBER. */
static void history_read(struct history *history, size_t number)
{
    place_destroy(history->read);
    history->read = place_copy_at(history->place, history->times[number], COMPANION_NONE);
    history->call =
        history->read ? tree_read(history->tree, history->read, history_take_file, history) : NULL;
    if (!history->call)
        history_fail_without_memory(history);
}

/* OLDER is known: reports a version, or goes on to the moment before. */
static void history_compare(struct history *history)
{
    if (history_is_change(history))
        history_report_version(history);
    else
        history_more(history);
}

static void history_compare_last(void *arg)
{
    struct history *history = arg;
    history->timer = NULL;
    history_compare(history);
}

static void history_wait(struct history *history, void (*then)(void *arg))
{
    history->timer = loop_add_timer(history->tree->loop, 0, then, history);
    if (!history->timer)
        history_fail_without_memory(history);
}

/* Without a moment before, an item did not exist. */
static void history_read_older(struct history *history)
{
    if (history->at + 1 < history->count)
        history_read(history, history->at + 1);
    else
        history_wait(history, history_compare_last);
}

/* A table that the files lack at that moment had no item. A recording may not have the item yet. */
static bool history_has_no_item(const struct history *history, const struct error *err)
{
    return err->kind == ERROR_NOT_FOUND || err->kind == ERROR_NO_TABLE ||
           (err->kind == ERROR_NOT_STORED && history->is_read);
}

static void history_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct history *history = arg;
    struct history_state *state = history->is_read ? &history->older : &history->newer;
    history->call = NULL;
    if (err && !history_has_no_item(history, err)) {
        history_fail(history, err);
        return;
    }
    *state = (struct history_state){.exists = file, .ttl_left_ms = MAP_MISSING_TTL_MS};
    if (file) {
        buf_add_span(&state->bytes, file->bytes);
        state->ttl_left_ms = file->ttl_left_ms;
    } else if (!history->is_read) {
        history->missing = *err;
    }
    if (state->bytes.failed) {
        history_fail_without_memory(history);
    } else if (history->is_read) {
        history_compare(history);
    } else {
        history->is_read = true;
        history_read_older(history);
    }
}

static void history_report_end_later(void *arg)
{
    struct history *history = arg;
    history->timer = NULL;
    history_report_end(history);
}

void history_more(struct history *history)
{
    buf_clean_up_secret(&history->newer.bytes);
    history->newer = history->older;
    history->older = (struct history_state){0};
    history->at++;
    if (history->newer.exists)
        history->missing.kind = ERROR_NONE;
    if (history->at < history->count && !history->is_one)
        history_read_older(history);
    else
        history_wait(history, history_report_end_later);
}

static void history_begin(void *arg)
{
    struct history *history = arg;
    history->timer = NULL;
    history_read(history, 0);
}

struct history *history_start(const struct tree *tree, const struct place *place, history_fn *fn,
                              void *arg, struct error *err)
{
    const int64_t *times;
    size_t count;
    if (!moments_list(tree->names.moments, place->environment,
                      place->is_past ? place->at_ms : INT64_MAX, &times, &count, err))
        return NULL;
    struct history *history = calloc(1, sizeof *history);
    if (!history) {
        error_no_memory(err);
        return NULL;
    }
    *history = (struct history){.tree = tree,
                                .place = place,
                                .count = count,
                                .is_one = place->kind == PLACE_VERSION,
                                .fn = fn,
                                .arg = arg};
    history->times = malloc(count * sizeof *times);
    if (history->times) {
        memcpy(history->times, times, count * sizeof *times);
        history->timer = loop_add_timer(tree->loop, 0, history_begin, history);
    }
    if (history->timer)
        return history;
    history_close(history);
    error_no_memory(err);
    return NULL;
}
