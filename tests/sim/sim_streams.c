#include "tests/sim/sim_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_descriptions.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_world.h"

enum {
    SIM_MOST_OPEN = 4,              /* shards of one stream */
    SIM_MOST_EMPTY = 2,             /* pages in a row, although changes wait */
    SIM_KEPT_MS = 24 * 3600 * 1000, /* a change is in the stream */
    SIM_ITERATOR_MS = 15 * 60 * 1000,
    SIM_MOST_RECORDS = 1000,
    SIM_MOST_BYTES = 1 << 20,
    SIM_MOST_SHARDS = 100, /* of one page */
};

/* A change in a shard. */
struct sim_record {
    const struct sim_change *change;
    uint64_t sequence;
    int64_t at_ms;      /* it was made */
    int64_t visible_ms; /* readers get it from then on; in order within a shard */
};

struct sim_shard {
    char *id;                /* owned */
    int parent;              /* -1: none */
    uint64_t lowest, beyond; /* its digests of keys */
    uint64_t first_sequence, last_sequence;
    int64_t from_ms, until_ms; /* INT64_MAX: it never closes */
    int64_t described_ms;      /* DescribeStream shows it from then on */
    bool is_closed;
    struct sim_record *records; /* owned */
    size_t record_count, room;
    size_t trimmed;       /* records that are gone */
    unsigned empty_pages; /* in a row */
};

struct sim_stream {
    const struct sim_table *table;
    char *arn; /* owned */
    struct sim_dice dice;
    struct sim_shard *shards; /* owned */
    size_t shard_count;
    const struct sim_change *last; /* that is in a shard; NULL: none is */
    uint64_t sequence;
    int64_t restless_ms; /* the longest life of a shard; 0: shards never close */
    struct sim_stream *next;
};

static struct sim_stream *streams;

const char *sim_streams_view(const struct sim_table *table)
{
    static const char *const views[] = {"NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE",
                                        "KEYS_ONLY"};
    uint64_t number = 0;
    for (const char *at = table->name; *at; at++)
        number = number * 31 + (unsigned char)*at;
    struct sim_dice dice = sim_dice_for("view", number);
    return sim_dice_chance(&dice, 600) ? views[0] : views[sim_dice_below(&dice, 4)];
}

void sim_outcome_state(struct sim_outcome *out, const char *code, char *message)
{
    static const char space[] = "com.amazonaws.dynamodb.v20120810#";
    out->code = code;
    out->message = message;
    sim_text_printf(&out->body, "{\"__type\":\"%s%s\",\"message\":", space, code);
    sim_text_json_string(&out->body, message, strlen(message));
    sim_text_puts(&out->body, "}");
}

/* Refuses a request that no right program sends. */
static void sim_streams_refuse(struct sim_outcome *out, const char *message)
{
    sim_outcome_state(out, "ValidationException", sim_copy(message));
    out->is_wrong = true;
}

/* Shards. */

static void sim_streams_add_shard(struct sim_stream *stream, int parent, uint64_t lowest,
                                  uint64_t beyond, int64_t from_ms)
{
    stream->shards = sim_grow(stream->shards, (stream->shard_count + 1) * sizeof *stream->shards);
    struct sim_shard *shard = &stream->shards[stream->shard_count];
    int64_t lasts_ms =
        stream->restless_ms
            ? sim_dice_between(&stream->dice, stream->restless_ms / 8, stream->restless_ms)
            : 0;
    *shard = (struct sim_shard){
        .id = sim_printf("shardId-%020llu-%08x", 1767225600000ULL + stream->shard_count,
                         (unsigned)sim_dice_below(&stream->dice, UINT32_MAX)),
        .parent = parent,
        .lowest = lowest,
        .beyond = beyond,
        .first_sequence = ++stream->sequence,
        .from_ms = from_ms,
        .until_ms = lasts_ms ? from_ms + lasts_ms : INT64_MAX,
        .described_ms = parent >= 0 && sim_dice_chance(&stream->dice, 300)
                            ? from_ms + sim_dice_between(&stream->dice, 1, 3000)
                            : from_ms,
    };
    stream->shard_count++;
}

static struct sim_stream *sim_streams_begin(const struct sim_table *table)
{
    struct sim_text arn = {0};
    uint64_t number = 0;
    struct sim_stream *stream = sim_alloc(sizeof *stream);
    sim_tables_write_stream_arn(&arn, table);
    for (const char *at = table->name; *at; at++)
        number = number * 31 + (unsigned char)*at;
    *stream = (struct sim_stream){
        .table = table, .arn = arn.bytes, .dice = sim_dice_for("stream", number), .next = streams};
    if (sim_dice_chance(&stream->dice, 600))
        stream->restless_ms = sim_dice_between(&stream->dice, 10 * 1000, 300 * 1000);
    uint32_t count = 1 + sim_dice_below(&stream->dice, 3);
    uint64_t each = UINT64_MAX / count;
    for (uint32_t i = 0; i < count; i++)
        sim_streams_add_shard(stream, -1, i * each, i + 1 == count ? UINT64_MAX : (i + 1) * each,
                              0);
    streams = stream;
    return stream;
}

/* Finds the stream by its name; NULL: there is none. */
static struct sim_stream *sim_streams_find(const char *arn)
{
    for (struct sim_stream *each = streams; each; each = each->next)
        if (strcmp(each->arn, arn) == 0)
            return each;
    for (struct sim_table *table = sim_history_tables(); table; table = table->next) {
        bool is_known = !table->has_stream;
        for (struct sim_stream *each = streams; each && !is_known; each = each->next)
            is_known = each->table == table;
        if (!is_known && strcmp(sim_streams_begin(table)->arn, arn) == 0)
            return streams;
    }
    return NULL;
}

static size_t sim_streams_count_open(const struct sim_stream *stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream->shard_count; i++)
        count += !stream->shards[i].is_closed;
    return count;
}

/* Closes the shards whose time is over, and adds their children. */
static void sim_streams_roll(struct sim_stream *stream, int64_t now_ms)
{
    for (size_t i = 0; i < stream->shard_count; i++) {
        struct sim_shard shard = stream->shards[i];
        if (shard.is_closed || shard.until_ms > now_ms)
            continue;
        stream->shards[i].is_closed = true;
        stream->shards[i].last_sequence = ++stream->sequence;
        uint64_t middle = shard.lowest + (shard.beyond - shard.lowest) / 2;
        bool splits = sim_streams_count_open(stream) + 2 <= SIM_MOST_OPEN &&
                      sim_dice_chance(&stream->dice, 500);
        sim_streams_add_shard(stream, (int)i, shard.lowest, splits ? middle : shard.beyond,
                              shard.until_ms);
        if (splits)
            sim_streams_add_shard(stream, (int)i, middle, shard.beyond, shard.until_ms);
    }
}

/* Changes. */

static uint64_t sim_streams_digest(const struct sim_table *table, const struct sim_version *version)
{
    struct sim_text key = {0};
    uint64_t digest = 0xcbf29ce484222325u;
    sim_tables_write_key(&key, version);
    for (size_t i = 0; i < key.size; i++)
        digest = (digest ^ (unsigned char)key.bytes[i]) * 0x100000001b3u;
    sim_text_free(&key);
    (void)table;
    return digest * 0x9e3779b97f4a7c15u;
}

static bool sim_streams_is_there(const struct sim_version *version)
{
    return version && !version->is_deleted;
}

/* A write that changes nothing is in no stream. */
static bool sim_streams_is_change(const struct sim_change *change)
{
    const struct sim_version *before = change->before, *after = change->after;
    if (!sim_streams_is_there(before) || !sim_streams_is_there(after))
        return sim_streams_is_there(before) || sim_streams_is_there(after);
    if (before->attribute_count != after->attribute_count)
        return true;
    for (size_t i = 0; i < before->attribute_count; i++)
        if (strcmp(before->attributes[i].name, after->attributes[i].name) != 0 ||
            !sim_value_equal(&before->attributes[i].value, &after->attributes[i].value))
            return true;
    return false;
}

static void sim_streams_add_record(struct sim_stream *stream, const struct sim_change *change)
{
    uint64_t digest = sim_streams_digest(stream->table, change->after);
    size_t i = 0;
    while (stream->shards[i].is_closed || digest < stream->shards[i].lowest ||
           (digest >= stream->shards[i].beyond && stream->shards[i].beyond != UINT64_MAX))
        i++;
    struct sim_shard *shard = &stream->shards[i];
    int64_t at_ms = change->after->from_ms, visible_ms = at_ms;
    if (sim_dice_chance(&stream->dice, 700))
        visible_ms += sim_dice_between(&stream->dice, 0, 600);
    if (shard->record_count > 0 && shard->records[shard->record_count - 1].visible_ms > visible_ms)
        visible_ms = shard->records[shard->record_count - 1].visible_ms;
    if (shard->record_count == shard->room) {
        shard->room = shard->room ? 2 * shard->room : 64;
        shard->records = sim_grow(shard->records, shard->room * sizeof *shard->records);
    }
    shard->records[shard->record_count++] =
        (struct sim_record){change, ++stream->sequence, at_ms, visible_ms};
}

/* Takes all that has happened in the table up to now. */
static void sim_streams_catch_up(struct sim_stream *stream)
{
    const struct sim_change *next = stream->last ? stream->last->next : stream->table->changes;
    for (; next; next = next->next) {
        sim_streams_roll(stream, next->after->from_ms);
        if (sim_streams_is_change(next))
            sim_streams_add_record(stream, next);
        stream->last = next;
    }
    sim_streams_roll(stream, sim_now_ms());
}

/* Removes the changes that are older than KEPT_MS. */
static void sim_streams_trim(struct sim_stream *stream, int64_t kept_ms)
{
    for (size_t i = 0; i < stream->shard_count; i++) {
        struct sim_shard *shard = &stream->shards[i];
        while (shard->trimmed < shard->record_count &&
               shard->records[shard->trimmed].at_ms < sim_now_ms() - kept_ms)
            shard->trimmed++;
    }
}

/* A fault of the life: the oldest changes are removed early. */
static void sim_streams_trim_early(struct sim_stream *stream, struct sim_dice *dice)
{
    sim_streams_trim(stream, sim_dice_between(dice, 0, 30 * 1000));
}

/* Sequence numbers have 21 digits and more, and are compared as integers. */
static void sim_streams_write_sequence(struct sim_text *out, uint64_t sequence)
{
    sim_text_printf(out, "\"41%020llu\"", (unsigned long long)sequence * 7);
}

static bool sim_streams_read_sequence(const char *text, uint64_t *sequence)
{
    unsigned long long number;
    char *end;
    if (strncmp(text, "41", 2) != 0 || strlen(text) != 22)
        return false;
    number = strtoull(text + 2, &end, 10);
    *sequence = number / 7;
    return *end == '\0' && number % 7 == 0;
}

/* Operations. */

static double sim_streams_seconds(int64_t at_ms)
{
    return (double)((sim_service_wall_ms() - sim_now_ms() + at_ms) / 1000);
}

/* Shards whose changes are all gone are not described, nor are the newest. */
static bool sim_streams_describes(const struct sim_shard *shard)
{
    bool is_gone = shard->is_closed && shard->until_ms < sim_now_ms() - SIM_KEPT_MS;
    return !is_gone && shard->described_ms <= sim_now_ms();
}

/* Readers of the stream may have to wait for a shard. */
static void sim_streams_note_late(const struct sim_stream *stream)
{
    for (size_t i = 0; i < stream->shard_count; i++)
        if (stream->shards[i].described_ms > sim_now_ms()) {
            sim_causes_note(SIM_FAULT_STREAM, "a new shard is not described yet");
            return;
        }
}

static void sim_streams_write_shard(struct sim_text *out, const struct sim_stream *stream,
                                    const struct sim_shard *shard)
{
    sim_text_printf(
        out, "{\"ShardId\":\"%s\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":", shard->id);
    sim_streams_write_sequence(out, shard->first_sequence);
    if (shard->is_closed) {
        sim_text_puts(out, ",\"EndingSequenceNumber\":");
        sim_streams_write_sequence(out, shard->last_sequence);
    }
    sim_text_puts(out, "}");
    if (shard->parent >= 0)
        sim_text_printf(out, ",\"ParentShardId\":\"%s\"", stream->shards[shard->parent].id);
    sim_text_puts(out, "}");
}

static void sim_streams_describe(struct sim_stream *stream, const struct sim_json *request,
                                 struct sim_dice *dice, struct sim_outcome *out)
{
    struct sim_text *body = &out->body;
    const char *after = sim_json_text(request, "ExclusiveStartShardId");
    const char *last = NULL;
    bool has_begun = !after;
    sim_streams_note_late(stream);
    if (stream->shard_count > sim_life_options()->max_entries)
        sim_causes_note(SIM_FAULT_STREAM, "the stream has more shards than --max-entries");
    size_t most = sim_causes_strike(SIM_FAULT_SHORT_PAGE, "DescribeStream")
                      ? (size_t)sim_dice_between(dice, 1, 3)
                      : SIM_MOST_SHARDS;
    sim_text_printf(body, "{\"StreamDescription\":{\"StreamArn\":\"%s\",\"StreamLabel\":\"%s\",",
                    stream->arn, strrchr(stream->arn, '/') + 1);
    sim_text_printf(body,
                    "\"StreamStatus\":\"ENABLED\",\"StreamViewType\":\"%s\",\"TableName\":\"%s\","
                    "\"CreationRequestDateTime\":%.3f,",
                    sim_streams_view(stream->table), stream->table->name, sim_streams_seconds(0));
    sim_description_write_keys(body, &stream->table->key);
    sim_text_puts(body, ",\"Shards\":[");
    for (size_t i = 0; i < stream->shard_count; i++) {
        const struct sim_shard *shard = &stream->shards[i];
        if (has_begun && sim_streams_describes(shard)) {
            if (out->items == most)
                break;
            sim_text_puts(body, out->items++ ? "," : "");
            sim_streams_write_shard(body, stream, shard);
            last = shard->id;
        }
        has_begun = has_begun || strcmp(shard->id, after) == 0;
        if (i + 1 == stream->shard_count)
            last = NULL; /* all were described */
    }
    sim_text_puts(body, "]");
    if (last)
        sim_text_printf(body, ",\"LastEvaluatedShardId\":\"%s\"", last);
    sim_text_puts(body, "}}");
}

/* A place in a shard: the number of the next record. */
static void sim_streams_write_iterator(struct sim_text *out, const struct sim_stream *stream,
                                       size_t shard, size_t next)
{
    sim_text_printf(out, "\"%s|1|%zu.%zu.%lld.AAAAAAAAAAFsimulated+/==\"", stream->arn, shard, next,
                    (long long)sim_now_ms());
}

static size_t sim_streams_first_behind(const struct sim_shard *shard, uint64_t sequence)
{
    size_t i = 0;
    while (i < shard->record_count && shard->records[i].sequence <= sequence)
        i++;
    return i;
}

static void sim_streams_place(struct sim_stream *stream, const struct sim_json *request,
                              struct sim_dice *dice, struct sim_outcome *out)
{
    const char *id = sim_json_text(request, "ShardId");
    const char *type = sim_json_text(request, "ShardIteratorType");
    const char *number = sim_json_text(request, "SequenceNumber");
    uint64_t sequence = 0;
    size_t i = 0, next;
    bool is_behind = type && strcmp(type, "AFTER_SEQUENCE_NUMBER") == 0;
    bool is_at = type && strcmp(type, "AT_SEQUENCE_NUMBER") == 0;
    while (i < stream->shard_count && (!id || strcmp(stream->shards[i].id, id) != 0))
        i++;
    if (!type || !id || (is_behind || is_at) != (number != NULL) ||
        (number && !sim_streams_read_sequence(number, &sequence))) {
        sim_streams_refuse(out, "Invalid request: a member of the iterator is missing or invalid");
        return;
    }
    if (i == stream->shard_count || !sim_streams_describes(&stream->shards[i])) {
        sim_outcome_state(out, "ResourceNotFoundException",
                          sim_printf("Requested resource not found: Shard: %s in Stream: %s not "
                                     "found",
                                     id, stream->arn));
        return;
    }
    struct sim_shard *shard = &stream->shards[i];
    if (sim_causes_strike(SIM_FAULT_STREAM, "the oldest changes are removed early"))
        sim_streams_trim_early(stream, dice);
    if (is_behind || is_at) {
        next = sim_streams_first_behind(shard, is_at ? sequence - 1 : sequence);
        if (next < shard->trimmed) {
            sim_outcome_state(out, "TrimmedDataAccessException",
                              sim_printf("The operation attempted to read past the oldest stream "
                                         "record in a shard: %s",
                                         number));
            return;
        }
    } else if (strcmp(type, "TRIM_HORIZON") == 0) {
        next = shard->trimmed;
    } else if (strcmp(type, "LATEST") == 0) {
        for (next = shard->record_count;
             next > shard->trimmed && shard->records[next - 1].visible_ms > sim_now_ms(); next--)
            continue;
    } else {
        sim_streams_refuse(out, "Invalid ShardIteratorType");
        return;
    }
    sim_text_puts(&out->body, "{\"ShardIterator\":");
    sim_streams_write_iterator(&out->body, stream, i, next);
    sim_text_puts(&out->body, "}");
}

static void sim_streams_write_image(struct sim_text *out, const char *name,
                                    const struct sim_version *version)
{
    sim_text_printf(out, ",\"%s\":", name);
    sim_tables_write_item(out, version);
}

static void sim_streams_write_record(struct sim_text *out, const struct sim_stream *stream,
                                     const struct sim_record *record)
{
    const struct sim_version *before = record->change->before, *after = record->change->after;
    const char *view = sim_streams_view(stream->table);
    bool has_new = strncmp(view, "NEW", 3) == 0, has_old = strstr(view, "OLD") != NULL;
    bool was = sim_streams_is_there(before), is = sim_streams_is_there(after);
    sim_text_printf(out,
                    "{\"awsRegion\":\"" SIM_REGION
                    "\",\"eventID\":\"%032llx\",\"eventName\":\"%s\","
                    "\"eventSource\":\"aws:dynamodb\",\"eventVersion\":\"1.1\",\"dynamodb\":{"
                    "\"ApproximateCreationDateTime\":%.0f,\"Keys\":",
                    (unsigned long long)(record->sequence * 0x9e3779b97f4a7c15u),
                    !was  ? "INSERT"
                    : !is ? "REMOVE"
                          : "MODIFY",
                    sim_streams_seconds(record->at_ms));
    sim_tables_write_key(out, after);
    if (is && has_new)
        sim_streams_write_image(out, "NewImage", after);
    if (was && has_old)
        sim_streams_write_image(out, "OldImage", before);
    sim_text_puts(out, ",\"SequenceNumber\":");
    sim_streams_write_sequence(out, record->sequence);
    sim_text_printf(out, ",\"SizeBytes\":%zu,\"StreamViewType\":\"%s\"}",
                    (is ? after : before)->item_size, view);
    if (record->change->by_ttl)
        sim_text_puts(out, ",\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":"
                           "\"Service\"}");
    sim_text_puts(out, "}");
}

/* How many records a page may have now. */
static size_t sim_streams_draw_page(struct sim_shard *shard, size_t waiting, struct sim_dice *dice)
{
    if (waiting > 0 && shard->empty_pages < SIM_MOST_EMPTY && sim_dice_chance(dice, 100)) {
        shard->empty_pages++;
        return 0;
    }
    shard->empty_pages = 0;
    if (waiting > 1 && sim_dice_chance(dice, 150))
        return (size_t)sim_dice_between(dice, 1, (int64_t)waiting);
    return waiting < SIM_MOST_RECORDS ? waiting : SIM_MOST_RECORDS;
}

static void sim_streams_read(struct sim_stream *stream, size_t number, size_t next,
                             int64_t issued_ms, struct sim_dice *dice, struct sim_outcome *out)
{
    struct sim_shard *shard = &stream->shards[number];
    size_t end = shard->record_count;
    if (sim_now_ms() - issued_ms > SIM_ITERATOR_MS ||
        sim_causes_strike(SIM_FAULT_STREAM, "an iterator expires early")) {
        sim_outcome_state(out, "ExpiredIteratorException",
                          sim_copy("Shard iterator has expired. Shard iterators expire 15 minutes "
                                   "after they are retrieved."));
        return;
    }
    if (next < shard->trimmed) {
        sim_outcome_state(out, "TrimmedDataAccessException",
                          sim_copy("The operation attempted to read past the oldest stream record "
                                   "in a shard."));
        return;
    }
    while (end > next && shard->records[end - 1].visible_ms > sim_now_ms())
        end--;
    if (end > next && next > shard->trimmed &&
        sim_causes_strike(SIM_FAULT_STREAM, "a change comes again"))
        next--;
    size_t count = sim_streams_draw_page(shard, end - next, dice);
    sim_text_puts(&out->body, "{\"Records\":[");
    while (out->items < count && out->body.size < SIM_MOST_BYTES) {
        sim_text_puts(&out->body, out->items ? "," : "");
        sim_streams_write_record(&out->body, stream, &shard->records[next + out->items++]);
    }
    sim_text_puts(&out->body, "]");
    next += out->items;
    if (!shard->is_closed || next < shard->record_count) {
        sim_text_puts(&out->body, ",\"NextShardIterator\":");
        sim_streams_write_iterator(&out->body, stream, number, next);
    }
    sim_text_puts(&out->body, "}");
}

/* Reads what sim_streams_write_iterator has written. */
static void sim_streams_read_at(const char *iterator, struct sim_dice *dice,
                                struct sim_outcome *out)
{
    const char *bar = iterator ? strchr(iterator, '|') : NULL;
    char *arn = bar ? sim_printf("%.*s", (int)(bar - iterator), iterator) : NULL;
    struct sim_stream *stream = arn ? sim_streams_find(arn) : NULL;
    size_t shard = 0, next = 0;
    long long issued_ms = 0;
    sim_free(arn);
    if (!stream || sscanf(bar, "|1|%zu.%zu.%lld.", &shard, &next, &issued_ms) != 3 ||
        shard >= stream->shard_count || next > stream->shards[shard].record_count) {
        sim_streams_refuse(out, "Invalid ShardIterator");
        return;
    }
    sim_streams_catch_up(stream);
    sim_streams_trim(stream, SIM_KEPT_MS);
    sim_streams_read(stream, shard, next, issued_ms, dice, out);
}

bool sim_streams_answer(const char *operation, const struct sim_json *request,
                        struct sim_dice *dice, struct sim_outcome *out)
{
    bool describes = strcmp(operation, "DescribeStream") == 0;
    if (strcmp(operation, "GetRecords") == 0) {
        sim_streams_read_at(sim_json_text(request, "ShardIterator"), dice, out);
        return true;
    }
    if (!describes && strcmp(operation, "GetShardIterator") != 0)
        return false;
    const char *arn = sim_json_text(request, "StreamArn");
    struct sim_stream *stream = arn ? sim_streams_find(arn) : NULL;
    if (!stream) {
        sim_outcome_state(
            out, "ResourceNotFoundException",
            sim_printf("Requested resource not found: Stream: %s not found", arn ? arn : ""));
        return true;
    }
    sim_streams_catch_up(stream);
    sim_streams_trim(stream, SIM_KEPT_MS);
    if (describes)
        sim_streams_describe(stream, request, dice, out);
    else
        sim_streams_place(stream, request, dice, out);
    return true;
}

/* The oracle of lines. */

static bool sim_streams_is_plain(const struct sim_json *json, const struct sim_value *value);

static bool sim_streams_is_text(const struct sim_json *json, const char *bytes, size_t size)
{
    return json->kind == SIM_JSON_STRING && json->size == size &&
           memcmp(json->bytes, bytes, size) == 0;
}

/* A set is an array in some order. */
static bool sim_streams_is_set(const struct sim_json *json, const struct sim_value *set)
{
    if (json->kind != SIM_JSON_ARRAY || json->count != set->member_count)
        return false;
    for (size_t i = 0; i < set->member_count; i++) {
        size_t k = 0;
        while (k < json->count && !sim_streams_is_plain(&json->members[k], &set->members[i].value))
            k++;
        if (k == json->count)
            return false;
    }
    return true;
}

static bool sim_streams_is_map(const struct sim_json *json, const struct sim_attribute *members,
                               size_t count)
{
    bool is = json->kind == SIM_JSON_OBJECT && json->count == count;
    for (size_t i = 0; is && i < count; i++) {
        const struct sim_json *own = sim_json_get(json, members[i].name);
        is = own && sim_streams_is_plain(own, &members[i].value);
    }
    return is;
}

/* Whether JSON shows VALUE as a file does. A masked value shows nothing. */
static bool sim_streams_is_plain(const struct sim_json *json, const struct sim_value *value)
{
    static const char mask[] = "********";
    struct sim_text coded = {0};
    bool is = false;
    if (sim_streams_is_text(json, mask, sizeof mask - 1))
        return true;
    switch (value->type) {
    case SIM_S:
        return sim_streams_is_text(json, value->bytes, value->size);
    case SIM_N:
        return json->kind == SIM_JSON_NUMBER && strcmp(json->bytes, value->bytes) == 0;
    case SIM_B:
        sim_text_base64(&coded, value->bytes, value->size);
        is = sim_streams_is_text(json, coded.bytes ? coded.bytes : "", coded.size);
        sim_text_free(&coded);
        return is;
    case SIM_BOOL:
        return json->kind == (strcmp(value->bytes, "true") == 0 ? SIM_JSON_TRUE : SIM_JSON_FALSE);
    case SIM_NULL:
        return json->kind == SIM_JSON_NULL;
    case SIM_M:
        return sim_streams_is_map(json, value->members, value->member_count);
    case SIM_L:
        is = json->kind == SIM_JSON_ARRAY && json->count == value->member_count;
        for (size_t i = 0; is && i < json->count; i++)
            is = sim_streams_is_plain(&json->members[i], &value->members[i].value);
        return is;
    case SIM_SS:
    case SIM_NS:
    case SIM_BS:
        return sim_streams_is_set(json, value);
    }
    return false;
}

/* Null if the item did not exist; absent if the stream does not have the image. */
static bool sim_streams_shows_image(const struct sim_json *json, const struct sim_version *version,
                                    bool has_image)
{
    if (!sim_streams_is_there(version))
        return json && json->kind == SIM_JSON_NULL;
    if (!has_image)
        return !json;
    return json && sim_streams_is_map(json, version->attributes, version->attribute_count);
}

static bool sim_streams_shows_key(const struct sim_table *table, const struct sim_json *json,
                                  const struct sim_version *version)
{
    unsigned count = table->key.hash_count + table->key.range_count;
    bool is = json && json->kind == SIM_JSON_OBJECT && json->count == count;
    for (unsigned i = 0; is && i < count; i++) {
        const struct sim_json *own = sim_json_get(json, table->key.names[i]);
        const struct sim_value *value = sim_version_get(version, table->key.names[i]);
        is = own && value && sim_streams_is_plain(own, value);
    }
    return is;
}

/* What the line has wrong about RECORD; NULL: nothing. */
static const char *sim_streams_find_fault(const struct sim_stream *stream,
                                          const struct sim_record *record,
                                          const struct sim_json *line)
{
    const struct sim_version *before = record->change->before, *after = record->change->after;
    const char *view = sim_streams_view(stream->table), *time = sim_json_text(line, "time");
    bool has_new = strncmp(view, "NEW", 3) == 0, has_old = strstr(view, "OLD") != NULL;
    bool was = sim_streams_is_there(before), is = sim_streams_is_there(after);
    const struct sim_json *expired = sim_json_get(line, "expired");
    const struct sim_json *changed = sim_json_get(line, "changed");
    time_t seconds = (time_t)sim_streams_seconds(record->at_ms);
    char wanted[32];
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S", &parts);
    if (strcmp(sim_json_text(line, "kind"), !was ? "INSERT" : !is ? "REMOVE" : "MODIFY") != 0)
        return "kind";
    if (!time || strncmp(time, wanted, strlen(wanted)) != 0)
        return "time";
    if (!expired || (expired->kind == SIM_JSON_TRUE) != record->change->by_ttl)
        return "expired";
    if (!sim_streams_shows_key(stream->table, sim_json_get(line, "keys"), after))
        return "keys";
    if (!sim_streams_shows_image(sim_json_get(line, "old"), before, has_old))
        return "old";
    if (!sim_streams_shows_image(sim_json_get(line, "new"), after, has_new))
        return "new";
    if (was && is && has_old && has_new ? !changed || changed->count == 0 : changed != NULL)
        return "changed";
    return sim_json_get(line, "left") ? "left" : NULL;
}

void sim_streams_check_line(const struct sim_table *table, const struct sim_json *line)
{
    const struct sim_stream *stream = streams;
    const char *shard = sim_json_text(line, "shard");
    uint64_t sequence = 0;
    while (stream && stream->table != table)
        stream = stream->next;
    if (!stream || !sim_streams_read_sequence(sim_json_text(line, "sequence"), &sequence))
        sim_defect("tail", "changes of %s have a place that its stream has not", table->name);
    for (size_t i = 0; i < stream->shard_count; i++)
        for (size_t k = 0; k < stream->shards[i].record_count; k++) {
            const struct sim_record *record = &stream->shards[i].records[k];
            if (record->sequence != sequence || strcmp(stream->shards[i].id, shard) != 0)
                continue;
            const char *fault = sim_streams_find_fault(stream, record, line);
            if (fault)
                sim_defect("tail", "the change %s of %s has another \"%s\"",
                           sim_json_text(line, "sequence"), table->name, fault);
            return;
        }
    sim_defect("tail", "%s has no change %s in shard %s", table->name,
               sim_json_text(line, "sequence"), shard);
}
