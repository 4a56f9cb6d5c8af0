#include "core/live/live_history.h"

#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_MS = 60 * 1000, /* a longer time than a listing takes to read */
    HISTORY_BYTES = 16 << 20,
    ALL_HISTORIES_BYTES = 64 << 20,
};

/* One change: its texts, and what they are. */
struct live_past {
    struct list_node node;
    int64_t at_ms;
    uint64_t hash;
    bool before_known, after_known;
    size_t key_size, keys_size, before_size, after_size; /* 0: absent */
    char texts[];                                        /* in this order */
};

static size_t live_history_size(const struct live_past *past)
{
    return sizeof *past + past->key_size + past->keys_size + past->before_size + past->after_size;
}

static void live_history_count(struct live_history *history, size_t more, size_t less)
{
    history->bytes += more - less;
    if (history->total)
        *history->total += more - less;
    if (history->charge)
        history->charge(history->charge_arg, more, less);
}

/* The table that changes has the shorter history when there is no room for all. */
static bool live_history_is_full(const struct live_history *history)
{
    return history->bytes > HISTORY_BYTES ||
           (history->total && *history->total > ALL_HISTORIES_BYTES && history->bytes > 0);
}

static void live_history_drop(struct live_history *history, struct live_past *past)
{
    size_t size = live_history_size(past);
    live_history_count(history, 0, size);
    list_remove(&past->node);
    explicit_bzero(past, size);
    free(past);
}

/* Drops the oldest change: the history begins behind it. */
static void live_history_shorten(struct live_history *history)
{
    struct live_past *oldest = LIST_FIRST(&history->changes, struct live_past, node);
    history->from_ms = oldest->at_ms + 1;
    live_history_drop(history, oldest);
}

void live_history_restart(struct live_history *history, int64_t now_ms)
{
    LIST_EACH_SAFE (struct live_past, each, &history->changes, node)
        live_history_drop(history, each);
    history->from_ms = now_ms;
}

static char *live_history_copy(char *to, struct span text)
{
    if (text.size)
        memcpy(to, text.data, text.size);
    return to + text.size;
}

void live_history_add(struct live_history *history, const struct live_image *image, int64_t now_ms)
{
    struct span keys = json_raw(image->keys), before = json_raw(image->before),
                after = json_raw(image->after);
    struct live_past *past =
        malloc(sizeof *past + image->key.size + keys.size + before.size + after.size);
    if (!past) {
        live_history_restart(history, now_ms + 1);
        return;
    }
    *past = (struct live_past){.at_ms = now_ms,
                               .hash = image->hash,
                               .before_known = image->before_known,
                               .after_known = image->after_known,
                               .key_size = image->key.size,
                               .keys_size = keys.size,
                               .before_size = before.size,
                               .after_size = after.size};
    char *end = live_history_copy(past->texts, image->key);
    end = live_history_copy(end, keys);
    end = live_history_copy(end, before);
    live_history_copy(end, after);
    list_append(&history->changes, &past->node);
    live_history_count(history, live_history_size(past), 0);
    while (live_history_is_full(history))
        live_history_shorten(history);
    live_history_age(history, now_ms);
}

void live_history_age(struct live_history *history, int64_t now_ms)
{
    while (!list_is_empty(&history->changes) &&
           LIST_FIRST(&history->changes, struct live_past, node)->at_ms < now_ms - HISTORY_MS)
        live_history_shorten(history);
}

/* An image from its texts, and the documents that it points into. */
struct live_parsed {
    struct json_doc docs[3];
    struct live_image image;
};

static void live_history_clean_up(struct live_parsed *parsed)
{
    for (size_t i = 0; i < 3; i++)
        json_clean_up(&parsed->docs[i]);
}

static bool live_history_parse(struct json_doc *doc, struct span text, struct json *out)
{
    *out = (struct json){0};
    if (text.size == 0)
        return true;
    if (!json_parse(doc, text, JSON_STRICT, NULL))
        return false;
    *out = json_root(doc);
    return true;
}

/* A text that can't be parsed, for lack of memory, is not known. */
static void live_history_read(const struct live_past *past, struct live_parsed *out)
{
    const char *at = past->texts;
    struct live_image *image = &out->image;
    *image = (struct live_image){.key = span_of(at, past->key_size),
                                 .hash = past->hash,
                                 .before_known = past->before_known,
                                 .after_known = past->after_known};
    at += past->key_size;
    live_history_parse(&out->docs[0], span_of(at, past->keys_size), &image->keys);
    at += past->keys_size;
    image->before_known &=
        live_history_parse(&out->docs[1], span_of(at, past->before_size), &image->before);
    at += past->before_size;
    image->after_known &=
        live_history_parse(&out->docs[2], span_of(at, past->after_size), &image->after);
}

/* Whether the change may be one that WANTED wants. */
static bool live_history_matches(const struct live_past *past,
                                 const struct live_wanted_past *wanted)
{
    if (wanted->hash)
        return past->hash == *wanted->hash;
    size_t size = past->key_size + past->keys_size + past->before_size + past->after_size;
    return wanted->text.size == 0 || !past->before_known || !past->after_known ||
           memmem(past->texts, size, wanted->text.data, wanted->text.size);
}

/* The first change since SINCE_MS, which is near the end; NULL for none. */
static struct live_past *live_history_find(const struct live_history *history, int64_t since_ms)
{
    struct live_past *found = NULL, *each = LIST_LAST(&history->changes, struct live_past, node);
    for (; each && each->at_ms >= since_ms; each = LIST_PREVIOUS(each, struct live_past, node))
        found = each;
    return found;
}

void live_history_replay(const struct live_history *history, int64_t since_ms,
                         const struct live_wanted_past *wanted,
                         void (*fn)(void *arg, const struct live_image *image), void *arg)
{
    struct live_past *each = live_history_find(history, since_ms);
    for (; each; each = LIST_NEXT(each, struct live_past, node)) {
        CLEAN_UP(live_history_clean_up) struct live_parsed parsed = {0};
        if (!live_history_matches(each, wanted))
            continue;
        live_history_read(each, &parsed);
        fn(arg, &parsed.image);
    }
}
