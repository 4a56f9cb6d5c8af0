#include "core/dynamo/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

#include "core/item/item.h"
#include "core/item/typed.h"

/* A page of 1 MB holds no more items of 8 bytes, which two keys and their names take at least. */
enum { FIRST_SLOTS = 64, MOST_REPEATS = 1 << 17 };

static bool repeats_has(const struct repeats_part *part, uint64_t number)
{
    for (size_t at = number; part->capacity; at++) {
        uint64_t found = part->slots[at & (part->capacity - 1)];
        if (found == number || found == 0)
            return found == number;
    }
    return false;
}

/* There must be a free slot. */
static void repeats_store(struct repeats_part *part, uint64_t number)
{
    size_t at = number;
    while (part->slots[at & (part->capacity - 1)])
        at++;
    part->slots[at & (part->capacity - 1)] = number;
    part->count++;
}

/* Half of the slots stay free, so that look-ups are short. */
static bool repeats_grow(struct repeats_part *part)
{
    size_t capacity = part->capacity ? 2 * part->capacity : FIRST_SLOTS;
    struct repeats_part larger = {calloc(capacity, sizeof *larger.slots), capacity, 0};
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < part->capacity; i++)
        if (part->slots[i])
            repeats_store(&larger, part->slots[i]);
    free(part->slots);
    *part = larger;
    return true;
}

bool repeats_add(struct repeats *repeats, struct span identity, bool *again)
{
    struct dict_seed *seed = &repeats->seed;
    if (!seed->a && getrandom(seed, sizeof *seed, 0) != (ssize_t)sizeof *seed)
        *seed = (struct dict_seed){1, 1}; /* does not happen on any supported kernel */
    uint64_t number = dict_hash(repeats->seed, identity);
    number += number == 0;
    *again = repeats_has(&repeats->new, number) || repeats_has(&repeats->old, number);
    if (*again)
        return true;
    if (repeats->new.count == MOST_REPEATS) {
        free(repeats->old.slots);
        repeats->old = repeats->new;
        repeats->new = (struct repeats_part){0};
    }
    if (2 * repeats->new.count == repeats->new.capacity && !repeats_grow(&repeats->new))
        return false;
    repeats_store(&repeats->new, number);
    return true;
}

void repeats_clear(struct repeats *repeats)
{
    if (repeats->new.capacity > FIRST_SLOTS || repeats->old.capacity > 0)
        repeats_clean_up(repeats); /* clearing many slots for each of many short runs is slow */
    if (repeats->new.count > 0)
        memset(repeats->new.slots, 0, repeats->new.capacity * sizeof *repeats->new.slots);
    repeats->new.count = 0;
}

void repeats_clean_up(struct repeats *repeats)
{
    free(repeats->new.slots);
    free(repeats->old.slots);
    *repeats = (struct repeats){0};
}

void verify_clean_up(struct verify *verify)
{
    arena_clean_up(&verify->arena);
    repeats_clean_up(&verify->repeats);
    buf_clean_up(&verify->previous);
    buf_clean_up(&verify->position);
    buf_clean_up(&verify->mark);
}

/* The message has no value of an item: that may be a secret. */
__attribute__((format(printf, 3, 4))) static bool
verify_refuse(const struct verify *verify, struct error *err, const char *format, ...)
{
    const struct sent_request *sent = verify->sent;
    CLEAN_UP(buf_clean_up) struct buf tables = {0};
    char what[240];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (sent->op != DYNAMO_LIST_TABLES)
        read_write_tables(sent->read, ", ", &tables);
    const char *table = buf_text(&tables);
    return error_set(
        err, ERROR_BAD_ANSWER,
        "the response to %s%s%s is wrong: it has %s; check that %s is DynamoDB, and the keys "
        "of the map: ddbfs check",
        dynamo_op_name(sent->op), table[0] ? " of " : "", table, what, sent->endpoint);
}

/* False when ITEM has no valid key attribute NAME, or when memory ran out (ARENA is failed then).
 */
static bool verify_read_key_value(struct json item, struct span name, struct arena *arena,
                                  struct value *out)
{
    return typed_scalar(item_attribute(item, name), arena, out) && out->type <= VALUE_B &&
           out->bytes.size > 0;
}

/* The number of ITEM's key among those of the Read; the count of keys if it is not among them. */
static size_t verify_find_key(const struct read *read, struct json item, struct arena *arena)
{
    struct key key = {.count = read->keys[0].count};
    for (size_t i = 0; i < key.count; i++)
        if (!verify_read_key_value(item, read->keys[0].attributes[i].name, arena,
                                   &key.attributes[i].value))
            return read->key_count;
    size_t found = 0;
    while (found < read->key_count && key_compare(&read->keys[found], &key) != 0)
        found++;
    return found;
}

static bool verify_left(struct verify *verify, struct json left, struct arena *arena,
                        struct error *err)
{
    const struct read *read = verify->sent->read;
    for (struct json each = json_first(left); json_present(each); each = json_next(each)) {
        size_t key = verify_find_key(read, each, arena);
        if (key == read->key_count || json_count(each) != read->keys[0].count)
            return verify_refuse(verify, err, "unprocessed keys that were not requested");
        if (verify->keys[key] != KEY_ASKED)
            return verify_refuse(verify, err, "unprocessed keys that were processed before");
        verify->keys[key] = KEY_LEFT;
    }
    return true;
}

/* Each item has a key of this request, and none comes twice. The unprocessed keys are keys of this
 * request without an item. All other keys are not found. */
static bool verify_items(struct verify *verify, const struct answer *answer, struct arena *arena,
                         struct error *err)
{
    const struct read *read = verify->sent->read;
    for (size_t i = 0; i < answer->item_count; i++) {
        size_t key = verify_find_key(read, answer->items[i], arena);
        verify->bytes += json_raw(answer->items[i]).size;
        if (key == read->key_count)
            return verify_refuse(verify, err,
                                 "an item that was not requested, or that lacks its key");
        if (verify->keys[key] != KEY_ASKED)
            return verify_refuse(verify, err, "an item that had come before");
        verify->keys[key] = KEY_CAME;
    }
    if (verify->sent->op == DYNAMO_BATCH_GET_ITEM &&
        verify->bytes > answer_limit_of_rounds(verify->sent))
        return verify_refuse(verify, err, "more bytes than its items can have");
    if (!verify_left(verify, answer->resume, arena, err))
        return false;
    for (size_t key = 0; key < read->key_count; key++) {
        if (verify->keys[key] == KEY_ASKED)
            verify->keys[key] = KEY_ABSENT;
        if (verify->keys[key] == KEY_LEFT)
            verify->keys[key] = KEY_ASKED;
    }
    return true;
}

/* Each item has the key of its part. */
static bool verify_together(const struct verify *verify, const struct answer *answer,
                            struct arena *arena, struct error *err)
{
    const struct read *read = verify->sent->read;
    for (size_t i = 0; i < answer->item_count; i++)
        if (json_present(answer->items[i]) &&
            verify_find_key(read->parts[i], answer->items[i], arena) > 0)
            return verify_refuse(verify, err,
                                 "an item that was not requested, or that lacks its key");
    return true;
}

/* Every key condition holds: of the partition, and of the sort key. */
static bool verify_conditions(const struct verify *verify, struct json item, struct arena *arena,
                              struct error *err)
{
    const struct read *read = verify->sent->read;
    for (size_t i = 0; i < read->where_count; i++) {
        const struct cond *cond = &read->where[i];
        struct value value;
        if (!verify_read_key_value(item, cond->attribute, arena, &value))
            return verify_refuse(verify, err, "an item without the key attribute %.*s",
                                 (int)cond->attribute.size, cond->attribute.data);
        if (!cond_admits(cond, value))
            return verify_refuse(verify, err, "an item whose %.*s does not match the request",
                                 (int)cond->attribute.size, cond->attribute.data);
    }
    return true;
}

static bool verify_is_there(void *arg, struct span attribute)
{
    const struct json *item = arg;
    return json_present(item_attribute(*item, attribute));
}

/* The filter holds: a server that ignores filters must not reveal items. The filter of an index may
 * use attributes that the index does not return; it is tested only without them. */
static bool verify_filters(const struct verify *verify, struct json item, struct arena *arena,
                           struct error *err)
{
    const struct read *read = verify->sent->read;
    for (size_t i = 0; i < read->filter_count; i++) {
        const struct cond *cond = &read->filter[i];
        bool judged = !read->index || cond_each_attribute(cond, verify_is_there, &item);
        if (judged && !cond_holds(cond, item, &arena->failed) && !arena->failed)
            return verify_refuse(verify, err, "an item that the filter leaves out");
    }
    return true;
}

/* Advances to the place of ITEM, an item or a position. ORDER compares it with the last one in the
 * order of the query: behind it (> 0), or equal (0). A place before it is an error. Its values are
 * in ARENA or in the response. */
static bool verify_continue_to(struct verify *verify, struct json item, struct arena *arena,
                               int *order, struct error *err)
{
    const struct read *read = verify->sent->read;
    *order = verify->has_last && read->sort_count ? 0 : 1;
    for (size_t i = 0; i < read->sort_count; i++) {
        struct value value;
        if (!verify_read_key_value(item, read->sort[i], arena, &value))
            return verify_refuse(verify, err, "an item without the key attribute %.*s",
                                 (int)read->sort[i].size, read->sort[i].data);
        if (verify->has_last && *order == 0)
            *order = value_compare(value, verify->last[i]) * (read->descending ? -1 : 1);
        verify->last[i] = value;
    }
    verify->has_last = true;
    return *order >= 0 ||
           verify_refuse(verify, err, "items that go backwards in the order of their keys");
}

/* Replaces OUT by the table's own key of ITEM, in one spelling; empty if ITEM lacks it. */
static void verify_write_own_key(const struct read *read, struct json item, struct arena *arena,
                                 struct buf *out)
{
    buf_truncate(out, 0);
    for (size_t i = 0; i < read->own_key_count; i++) {
        struct value value;
        if (!verify_read_key_value(item, read->own_key[i], arena, &value)) {
            buf_truncate(out, 0); /* the reader of the item reports it */
            return;
        }
        value_write_identity(value, out);
    }
}

/* Items of an index that share a sort key (SAME_PLACE: with the one before) come in an unknown
 * order, but each comes once. BEFORE is the item before it in the response; absent at its
 * beginning. */
static bool verify_unlike(struct verify *verify, struct json before, struct json item,
                          bool same_place, struct arena *arena, struct error *err)
{
    const struct read *read = verify->sent->read;
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    bool again = false, ok = true;
    if (!same_place || !read->own_key_count) {
        verify->in_run = false;
        return true;
    }
    if (!verify->in_run) {
        repeats_clear(&verify->repeats);
        if (json_present(before))
            verify_write_own_key(read, before, arena, &verify->previous);
        if (verify->previous.size)
            ok = repeats_add(&verify->repeats, buf_span(&verify->previous), &again);
        verify->in_run = true;
    }
    verify_write_own_key(read, item, arena, &key);
    if (key.size && ok)
        ok = repeats_add(&verify->repeats, buf_span(&key), &again);
    if (!ok || key.failed || verify->previous.failed)
        return error_no_memory(err);
    return !again || verify_refuse(verify, err, "an item that had come before");
}

/* Writes a position in one spelling: equal positions have equal texts. */
static bool verify_write_position(const struct verify *verify, struct json resume,
                                  struct arena *arena, struct buf *out, struct error *err)
{
    struct typed_members members;
    if (json_is(resume, JSON_STRING)) {
        json_read_string(resume, out);
        return true;
    }
    if (!typed_members(resume, arena, &members))
        return verify_refuse(verify, err, "a LastEvaluatedKey that is no key");
    for (size_t i = 0; i < members.count; i++) {
        struct value value;
        if (!verify_read_key_value(resume, members.list[i].name, arena, &value))
            return verify_refuse(verify, err, "a LastEvaluatedKey that is no key");
        buf_printf(out, "%zu:", members.list[i].name.size);
        buf_add_span(out, members.list[i].name);
        value_write_identity(value, out);
    }
    return true;
}

/* A position that comes twice would lead through the same pages without end. */
static bool verify_is_new_position(struct verify *verify, const struct buf *position)
{
    struct span text = buf_span(position);
    bool again = verify->positions > 0 && (span_equal(text, buf_span(&verify->position)) ||
                                           span_equal(text, buf_span(&verify->mark)));
    verify->positions++;
    buf_truncate(&verify->position, 0);
    buf_add_span(&verify->position, text);
    if ((verify->positions & (verify->positions - 1)) == 0) {
        buf_truncate(&verify->mark, 0);
        buf_add_span(&verify->mark, text);
    }
    return !again;
}

/* Whether the key RESUME is ITEM's, as far as ITEM has its attributes. */
static bool verify_is_key_of(struct json resume, struct json item, struct arena *arena)
{
    struct typed_members members;
    if (!typed_members(resume, arena, &members))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        struct span name = members.list[i].name;
        struct value at, own;
        if (json_present(item_attribute(item, name)) &&
            !(verify_read_key_value(resume, name, arena, &at) &&
              verify_read_key_value(item, name, arena, &own) && at.type == own.type &&
              value_compare(at, own) == 0))
            return false;
    }
    return true;
}

/* Without a filter the page has every item that was read. A position elsewhere than at the last
 * item would skip items, or read some twice. */
static bool verify_at_last(struct verify *verify, const struct answer *answer, struct arena *arena,
                           struct error *err)
{
    size_t count = answer->item_count;
    if (!json_present(answer->resume) || count == 0 || verify->sent->read->filter_count > 0 ||
        verify_is_key_of(answer->resume, answer->items[count - 1], arena))
        return true;
    return verify_refuse(verify, err, "a LastEvaluatedKey that is not the key of the last item");
}

static bool verify_position(struct verify *verify, struct json resume, struct arena *arena,
                            struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf position = {0};
    if (!verify_write_position(verify, resume, arena, &position, err))
        return false;
    if (!verify_is_new_position(verify, &position))
        return verify_refuse(verify, err, "a position (%s) that came before",
                             verify->sent->op == DYNAMO_LIST_TABLES    ? "LastEvaluatedTableName"
                             : verify->sent->op == DYNAMO_LIST_BACKUPS ? "LastEvaluatedBackupArn"
                             : verify->sent->op == DYNAMO_LIST_EXPORTS ? "NextToken"
                                                                       : "LastEvaluatedKey");
    return !position.failed || error_no_memory(err);
}

/* The items of a partition come in the order of their sort keys, over all pages. No two items of a
 * table have the same one; those of an index may, but none comes twice. The position is at the last
 * item, or behind it when later items were filtered out. */
static bool verify_query(struct verify *verify, const struct answer *answer, struct arena *arena,
                         struct error *err)
{
    const struct read *read = verify->sent->read;
    struct json before = {0};
    int order;
    for (size_t i = 0; i < answer->item_count; i++) {
        struct json item = answer->items[i];
        bool is_first = !verify->has_last;
        if (!verify_conditions(verify, item, arena, err) ||
            !verify_filters(verify, item, arena, err) ||
            !verify_continue_to(verify, item, arena, &order, err))
            return false;
        bool same_place = !is_first && (order == 0 || !read->sort_count);
        if (same_place && !read->index)
            return verify_refuse(verify, err, "two items of the same key");
        if (!verify_unlike(verify, before, item, same_place, arena, err))
            return false;
        before = item;
    }
    if (!json_present(answer->resume))
        return true;
    if (json_present(before))
        verify_write_own_key(read, before, arena, &verify->previous);
    for (size_t i = 0; i < read->where_count; i++) {
        struct value value;
        const struct cond *cond = &read->where[i];
        if (cond->op == COND_EQ &&
            (!verify_read_key_value(answer->resume, cond->attribute, arena, &value) ||
             !cond_admits(cond, value)))
            return verify_refuse(verify, err, "a LastEvaluatedKey of another partition");
    }
    return verify_continue_to(verify, answer->resume, arena, &order, err) &&
           verify_at_last(verify, answer, arena, err) &&
           verify_position(verify, answer->resume, arena, err);
}

/* Items come in no known order; each has the requested part of its key. */
static bool verify_scan(struct verify *verify, const struct answer *answer, struct arena *arena,
                        struct error *err)
{
    const struct read *read = verify->sent->read;
    for (size_t i = 0; i < answer->item_count; i++)
        for (size_t k = 0; k < read->attribute_count; k++) {
            struct span name = read->attributes[k];
            struct value value;
            if (!verify_read_key_value(answer->items[i], name, arena, &value))
                return verify_refuse(verify, err, "an item without the key attribute %.*s",
                                     (int)name.size, name.data);
        }
    return !json_present(answer->resume) || (verify_at_last(verify, answer, arena, err) &&
                                             verify_position(verify, answer->resume, arena, err));
}

/* The results come in the order of their scores, no more than were requested, and no item twice.
 * The index's partition attribute has the requested value, as far as the index returns it. */
static bool verify_found(struct verify *verify, const struct answer *answer, struct arena *arena,
                         struct error *err)
{
    const struct read *read = verify->sent->read;
    double before = 0;
    if (answer->item_count > read->limit)
        return verify_refuse(verify, err, "%zu results, and %lu were requested", answer->item_count,
                             (unsigned long)read->limit);
    for (size_t i = 0; i < answer->item_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0};
        struct json item = json_member(answer->items[i], "Item");
        double score;
        bool again = false;
        struct value value;
        if (!json_read_double(json_member(answer->items[i], "Score"), &score))
            return verify_refuse(verify, err, "a score that is no number");
        if (i > 0 && (read->descending ? score > before : score < before))
            return verify_refuse(verify, err, "scores that are not in order");
        before = score;
        verify_write_own_key(read, item, arena, &key);
        if (key.size == 0 && !key.failed && !arena->failed)
            return verify_refuse(verify, err, "a result without its key");
        if (key.failed || !repeats_add(&verify->repeats, buf_span(&key), &again))
            return error_no_memory(err);
        if (again)
            return verify_refuse(verify, err, "an item that had come before");
        for (size_t k = 0; k < read->where_count; k++)
            if (verify_read_key_value(item, read->where[k].attribute, arena, &value) &&
                !cond_admits(&read->where[k], value))
                return verify_refuse(verify, err, "an item whose %.*s does not match the request",
                                     (int)read->where[k].attribute.size,
                                     read->where[k].attribute.data);
    }
    return true;
}

/* An account has 10,000 tables at most, and a page 100 names. */
enum { MOST_PAGES_OF_NAMES = 1000 };

/* Names go forward from page to page, and end. The order of capital and small letters is not
 * documented. */
static bool verify_names(struct verify *verify, const struct answer *answer, struct arena *arena,
                         struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf last = {0};
    struct json resume = answer->resume;
    buf_add_span(&last, buf_span(&verify->position));
    if (!json_present(resume))
        return true;
    if (!verify_position(verify, resume, arena, err))
        return false;
    if (verify->positions > MOST_PAGES_OF_NAMES)
        return verify_refuse(verify, err, "more than %d pages of names, which no account has",
                             MOST_PAGES_OF_NAMES);
    const char *from = buf_text(&last), *to = buf_text(&verify->position);
    if (strcmp(to, from) <= 0 && strcasecmp(to, from) <= 0)
        return verify_refuse(verify, err, "a LastEvaluatedTableName that goes backwards");
    return !last.failed || error_no_memory(err);
}

/* Copies the last sort key out of its response. */
static void verify_store_last(struct verify *verify)
{
    struct arena kept = {0};
    for (size_t i = 0; verify->has_last && i < verify->sent->read->sort_count; i++)
        verify->last[i].bytes = arena_copy(&kept, verify->last[i].bytes);
    arena_clean_up(&verify->arena);
    verify->arena = kept;
}

bool verify_answer(struct verify *verify, const struct answer *answer, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    bool ok = true;
    switch (verify->sent->op) {
    case DYNAMO_GET_ITEM:
    case DYNAMO_BATCH_GET_ITEM:
        ok = verify_items(verify, answer, &arena, err);
        break;
    case DYNAMO_TRANSACT_GET_ITEMS:
        ok = verify_together(verify, answer, &arena, err);
        break;
    case DYNAMO_QUERY:
        ok = verify_query(verify, answer, &arena, err);
        verify_store_last(verify);
        break;
    case DYNAMO_SCAN:
        ok = verify_scan(verify, answer, &arena, err);
        break;
    case DYNAMO_SEARCH_VECTORS:
        ok = verify_found(verify, answer, &arena, err);
        break;
    case DYNAMO_LIST_TABLES:
        ok = verify_names(verify, answer, &arena, err);
        break;
    case DYNAMO_LIST_BACKUPS:
    case DYNAMO_LIST_EXPORTS:
    case DYNAMO_DESCRIBE_STREAM:
        ok = !json_present(answer->resume) || verify_position(verify, answer->resume, &arena, err);
        break;
    case DYNAMO_DESCRIBE_TABLE:
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
    case DYNAMO_GET_SHARD_ITERATOR:
    case DYNAMO_GET_RECORDS:
        break;
    }
    if (arena.failed || verify->arena.failed || verify->position.failed || verify->mark.failed ||
        verify->previous.failed)
        return error_no_memory(err);
    return ok;
}
