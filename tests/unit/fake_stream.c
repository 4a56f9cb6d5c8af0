/* The stream service of tests. */
#include "tests/unit/fake_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dynamo/request_print.h"
#include "core/source/read_words.h"

enum { MINUTE_MS = 60 * 1000, OLD_MS = 5000, MOST_TOLD = 1024 };

struct fake_stream_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct loop_timer *timer;
    size_t next; /* shard of the description's next page */
};

static struct fake_stream *fake_stream_of(const struct fake_stream_call *call)
{
    return (struct fake_stream *)call->base.source;
}

static int64_t fake_stream_wall_ms(const struct fake_stream *fake)
{
    struct clock *clock = loop_clock(fake->loop);
    return clock->wall_ms(clock) + fake->skew_ms;
}

int fake_stream_add_shard(struct fake_stream *fake, int parent)
{
    fake->shards[fake->shard_count] = (struct fake_shard){
        .parent = parent, .shown_ms = loop_now_ms(fake->loop) + fake->children_come_ms};
    return (int)fake->shard_count++;
}

void fake_stream_split(struct fake_stream *fake, int shard)
{
    fake->shards[shard].is_closed = true;
    fake->shards[shard].has_split = true;
    fake_stream_add_shard(fake, shard);
    fake_stream_add_shard(fake, shard);
}

/* The first or the second child of SHARD. */
static int fake_stream_child(const struct fake_stream *fake, int shard, unsigned lot)
{
    int wanted = (int)(lot % 2);
    for (size_t i = 0; i < fake->shard_count; i++)
        if (fake->shards[i].parent == shard && wanted-- == 0)
            return (int)i;
    abort();
}

void fake_stream_write(struct fake_stream *fake, int shard, unsigned key, unsigned version)
{
    for (unsigned lot = key; fake->shards[shard].has_split; lot /= 2)
        shard = fake_stream_child(fake, shard, lot);
    struct fake_shard *to = &fake->shards[shard];
    if (to->is_closed)
        abort();
    to->changes = reallocarray(to->changes, to->count + 1, sizeof *to->changes);
    to->changes[to->count++] =
        (struct fake_change){.key = key, .version = version, .at_ms = fake_stream_wall_ms(fake)};
}

void fake_stream_trim(struct fake_stream *fake, int shard, size_t left)
{
    struct fake_shard *of = &fake->shards[shard];
    of->trimmed = of->count > left ? of->count - left : 0;
}

/* Responses. */

static void fake_stream_set_busy(struct fake_stream *fake, bool busy)
{
    if (fake->busy)
        *fake->busy = busy;
}

static void fake_stream_tell(struct fake_stream_call *call, struct page *page, const char *text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct json items[MOST_TOLD];
    if (!json_parse(&doc, span_text(text), JSON_STRICT, NULL))
        abort();
    struct json root = json_root(&doc), list = json_member(root, "items");
    for (struct json each = json_first(list); json_present(each); each = json_next(each))
        items[page->item_count++] = each;
    page->items = items;
    page->position = json_member(root, "position");
    page->requests = 1;
    page->capacity = -1;
    page->date_ms = fake_stream_wall_ms(fake_stream_of(call)) / 1000 * 1000;
    page->skew_ms = fake_stream_of(call)->states_skew ? fake_stream_of(call)->skew_ms : 0;
    page->request_id = "";
    fake_stream_set_busy(fake_stream_of(call), false);
    call->base.fn(call->base.arg, page, NULL);
}

static void fake_stream_fail(struct fake_stream_call *call, const char *code, enum error_kind kind)
{
    struct error err;
    error_set(&err, kind, "%s of shards of T", code);
    snprintf(err.code, sizeof err.code, "%s", code);
    fake_stream_set_busy(fake_stream_of(call), false);
    call->base.fn(call->base.arg, NULL, &err);
}

static void fake_stream_tell_table(struct fake_stream_call *call)
{
    struct fake_stream *fake = fake_stream_of(call);
    const struct table_info info = {
        .stream_enabled = fake->view && !fake->is_disabled,
        .stream_arn = fake->view ? SPAN_LITERAL("arn:stream") : span_text(""),
        .stream_view = span_text(fake->view),
        .keys = {.partition = {{SPAN_LITERAL("pk"), VALUE_S}}, .partition_count = 1},
        .indexes = fake->indexes,
        .index_count = fake->index_count,
    };
    struct page page = {.table = &info};
    fake->tables++;
    fake_stream_tell(call, &page, "{}");
}

/* A shard is described some time after its parent's split, and never before its parent. */
static bool fake_stream_shows(const struct fake_stream *fake, const struct fake_shard *shard)
{
    if (fake->hidden && shard == &fake->shards[*fake->hidden])
        return false;
    return shard->parent < 0 || (loop_now_ms(fake->loop) >= shard->shown_ms &&
                                 fake_stream_shows(fake, &fake->shards[shard->parent]));
}

static void fake_stream_tell_shards(struct fake_stream_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, description = {0};
    struct fake_stream *fake = fake_stream_of(call);
    size_t most = fake->shards_a_page ? fake->shards_a_page : 100, end = call->next + most;
    const char *comma = "";
    buf_add_text(&text, "{\"items\":[");
    for (; call->next < fake->shard_count && call->next < end; call->next++) {
        const struct fake_shard *shard = &fake->shards[call->next];
        if (!fake_stream_shows(fake, shard))
            continue;
        buf_printf(&text, "%s{\"ShardId\":\"shard-%zu\"", comma, call->next);
        if (shard->parent >= 0)
            buf_printf(&text, ",\"ParentShardId\":\"shard-%d\"", shard->parent);
        buf_printf(&text, ",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"%s}}",
                   shard->is_closed || fake->states_ends ? ",\"EndingSequenceNumber\":\"9\"" : "");
        comma = ",";
    }
    buf_add_text(&text, "]}");
    buf_printf(&description, "{\"StreamStatus\":\"%s\"",
               fake->is_disabled ? "DISABLED" : "ENABLED");
    if (fake->created_ms)
        buf_printf(&description, ",\"CreationRequestDateTime\":%.3f",
                   (double)fake->created_ms / 1000);
    buf_add_char(&description, '}');
    struct page page = {
        .more = call->next < fake->shard_count,
        .description = buf_span(&description),
    };
    fake->descriptions++;
    fake_stream_tell(call, &page, buf_text(&text));
}

/* The change behind which a sequence number leads; sequence numbers are ten times the number of the
 * change, counted from 1. */
static size_t fake_stream_after(struct span sequence)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)sequence.size, sequence.data);
    return strtoul(text, NULL, 10) / 10;
}

static int fake_stream_shard_of(struct span id)
{
    int shard = -1;
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)id.size, id.data);
    sscanf(text, "shard-%d", &shard);
    return shard;
}

static void fake_stream_tell_iterator(struct fake_stream_call *call)
{
    struct fake_stream *fake = fake_stream_of(call);
    const struct read_stream *at = &call->base.read->stream;
    int number = fake_stream_shard_of(at->shard);
    const struct fake_shard *shard = &fake->shards[number];
    size_t place = at->at == STREAM_OLDEST   ? shard->trimmed
                   : at->at == STREAM_LATEST ? shard->count
                                             : fake_stream_after(at->sequence);
    char text[128];
    fake->iterators++;
    if (place < shard->trimmed) {
        fake_stream_fail(call, "TrimmedDataAccessException", ERROR_NO_STREAM);
        return;
    }
    snprintf(text, sizeof text, "{\"position\":\"%d %zu %lld\"}", number, place,
             (long long)loop_now_ms(fake->loop));
    struct page page = {0};
    fake_stream_tell(call, &page, text);
}

static void fake_stream_write_change(const struct fake_change *change, size_t number,
                                     struct buf *out)
{
    const char *name = change->is_expired || change->version == 0 ? "REMOVE"
                       : change->version == 1                     ? "INSERT"
                                                                  : "MODIFY";
    buf_printf(out,
               "{\"eventName\":\"%s\",\"dynamodb\":{\"ApproximateCreationDateTime\":%lld,\"Keys\":"
               "{\"pk\":{\"S\":\"%u\"}},\"NewImage\":{\"pk\":{\"S\":\"%u\"},\"v\":{\"N\":\"%u\"}},"
               "\"SequenceNumber\":\"%zu\"}",
               name, (long long)(change->at_ms / 1000), change->key, change->key, change->version,
               10 * (number + 1));
    if (change->is_expired)
        buf_add_text(out, ",\"userIdentity\":{\"Type\":\"Service\",\"PrincipalId\":"
                          "\"dynamodb.amazonaws.com\"}");
    buf_add_char(out, '}');
}

static void fake_stream_tell_changes(struct fake_stream_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct fake_stream *fake = fake_stream_of(call);
    int number = 0;
    size_t place = 0, most = fake->page_size ? fake->page_size : 1000;
    long long made_ms = 0;
    char iterator[64];
    struct span in = call->base.read->stream.iterator;
    snprintf(iterator, sizeof iterator, "%.*s", (int)in.size, in.data);
    sscanf(iterator, "%d %zu %lld", &number, &place, &made_ms);
    struct fake_shard *shard = &fake->shards[number];
    int64_t now_ms = loop_now_ms(fake->loop);
    fake->polls++;
    if (fake->polls_fail) {
        fake_stream_fail(call, fake->polls_fail, ERROR_NO_STREAM);
        return;
    }
    if (now_ms - made_ms > (fake->iterator_ms ? fake->iterator_ms : 15 * MINUTE_MS)) {
        fake_stream_fail(call, "ExpiredIteratorException", ERROR_NO_STREAM);
        return;
    }
    if (place < shard->trimmed) {
        fake_stream_fail(call, "TrimmedDataAccessException", ERROR_NO_STREAM);
        return;
    }
    bool is_old =
        place < shard->count && shard->changes[place].at_ms < fake_stream_wall_ms(fake) - OLD_MS;
    if (fake->empty_each && is_old && ++shard->old_polls % fake->empty_each == 0)
        most = 0;
    fake->seed = fake->seed * 6364136223846793005u + 1442695040888963407u;
    if ((unsigned)(fake->seed >> 33) % 100 < fake->empty_percent)
        most = 0;
    size_t end = place + most < shard->count ? place + most : shard->count;
    buf_add_text(&text, "{\"items\":[");
    for (size_t i = place; i < end; i++) {
        buf_add_text(&text, i > place ? "," : "");
        fake_stream_write_change(&shard->changes[i], i, &text);
    }
    buf_add_char(&text, ']');
    if (!shard->is_closed || end < shard->count)
        buf_printf(&text, ",\"position\":\"%d %zu %lld\"", number, end, (long long)now_ms);
    buf_add_char(&text, '}');
    struct page page = {0};
    fake_stream_tell(call, &page, buf_text(&text));
}

static void fake_stream_answer(void *arg)
{
    struct fake_stream_call *call = arg;
    struct fake_stream *fake = fake_stream_of(call);
    call->timer = NULL;
    fake->responses++;
    if (fake->error.kind && (fake->down || fake->responses == fake->fail_at)) {
        call->base.fn(call->base.arg, NULL, &fake->error);
        return;
    }
    fake_stream_set_busy(fake, true);
    if (call->base.read->kind == READ_TABLE)
        fake_stream_tell_table(call);
    else if (call->base.read->kind == READ_STREAM)
        fake_stream_tell_shards(call);
    else if (call->base.read->kind == READ_ITERATOR)
        fake_stream_tell_iterator(call);
    else
        fake_stream_tell_changes(call);
}

/* The source. */

static bool fake_stream_start(struct source_call *base)
{
    struct fake_stream_call *call = (struct fake_stream_call *)base;
    struct fake_stream *fake = fake_stream_of(call);
    call->timer = loop_add_timer(fake->loop, fake->delay_ms, fake_stream_answer, call);
    return call->timer;
}

static void fake_stream_more(struct source_call *base)
{
    struct fake_stream *fake = fake_stream_of((struct fake_stream_call *)base);
    fake_stream_set_busy(fake, true);
    fake_stream_start(base);
    fake_stream_set_busy(fake, false);
}

static void fake_stream_end(struct source_call *base)
{
    loop_remove_timer(((struct fake_stream_call *)base)->timer);
}

static void fake_stream_destroy(struct source *source)
{
    (void)source;
}

static void fake_stream_add_stats(const struct source *source, struct source_stats *sum)
{
    (void)source, (void)sum;
}

void fake_stream_init(struct fake_stream *fake, struct loop *loop)
{
    static const struct source_ops ops = {
        .layer = SOURCE_SERVICE,
        .call_size = sizeof(struct fake_stream_call),
        .start = fake_stream_start,
        .more = fake_stream_more,
        .end = fake_stream_end,
        .destroy = fake_stream_destroy,
        .add_stats = fake_stream_add_stats,
        .write_words = read_write_words,
        .write_command = dynamo_write_command,
    };
    *fake = (struct fake_stream){
        .source = {.ops = &ops}, .loop = loop, .view = "NEW_AND_OLD_IMAGES", .delay_ms = 5};
}

void fake_stream_clean_up(struct fake_stream *fake)
{
    for (size_t i = 0; i < fake->shard_count; i++)
        free(fake->shards[i].changes);
}
