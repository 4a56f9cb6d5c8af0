#include "core/source/table_description.h"

#include <math.h>

#include "core/base/ascii.h"
#include "core/base/instant.h"

bool table_name_is_valid(struct span name)
{
    bool ok = name.size >= 3 && name.size <= 255;
    for (size_t i = 0; ok && i < name.size; i++) {
        char c = name.data[i];
        ok = ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '-' || c == '.';
    }
    return ok;
}

/* Copies the unescaped text. False when VALUE is no string. */
static bool table_description_copy(struct arena *arena, struct json value, struct span *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!json_read_string(value, &text))
        return false;
    arena->failed |= text.failed;
    *out = arena_copy(arena, buf_span(&text));
    return true;
}

/* Whether VALUE is absent, or of TYPE. Another type must not pass for an absent member: an index
 * would be missing without an error. */
static bool table_description_is_optional(struct json value, enum json_type type)
{
    return !json_present(value) || json_is(value, JSON_NULL) || json_is(value, type);
}

/* An optional truth value. */
static bool table_description_read_flag(struct json value, bool *out)
{
    *out = json_is(value, JSON_TRUE);
    return *out || table_description_is_optional(value, JSON_FALSE);
}

/* The attribute's type, among the table's AttributeDefinitions. */
static bool table_description_read_type(struct json definitions, struct span name,
                                        enum value_type *out)
{
    struct json each = json_first(definitions);
    while (json_present(each) && !json_string_is(json_member(each, "AttributeName"), name))
        each = json_next(each);
    struct json type = json_member(each, "AttributeType");
    for (int i = VALUE_S; i <= VALUE_B; i++) {
        *out = (enum value_type)i;
        if (json_string_is(type, span_text(value_type_name(*out))))
            return true;
    }
    return false;
}

static bool table_description_read_key_attribute(struct arena *arena, struct json element,
                                                 struct json definitions, struct key_schema *out)
{
    struct json key_type = json_member(element, "KeyType");
    bool hash = json_string_is(key_type, SPAN_LITERAL("HASH"));
    if (!hash && !json_string_is(key_type, SPAN_LITERAL("RANGE")))
        return false;
    size_t *count = hash ? &out->partition_count : &out->sort_count;
    if (*count == KEY_MAX_ATTRIBUTES)
        return false;
    size_t i = (*count)++;
    struct span *name = hash ? &out->partition[i].name : &out->sort[i].name;
    enum value_type *type = hash ? &out->partition[i].type : &out->sort[i].type;
    return table_description_copy(arena, json_member(element, "AttributeName"), name) &&
           (arena->failed || table_description_read_type(definitions, *name, type));
}

static bool table_description_read_schema(struct arena *arena, struct json owner,
                                          struct json definitions, struct key_schema *out)
{
    struct json array = json_member(owner, "KeySchema");
    for (struct json each = json_first(array); json_present(each); each = json_next(each))
        if (!table_description_read_key_attribute(arena, each, definitions, out))
            return false;
    return json_is(array, JSON_ARRAY) && out->partition_count > 0;
}

static bool table_description_read_projection(struct json index, enum projection *out)
{
    static const char *const types[] = {
        [PROJECTS_ALL] = "ALL", [PROJECTS_SOME] = "INCLUDE", [PROJECTS_KEYS] = "KEYS_ONLY"};
    struct json type = json_member(json_member(index, "Projection"), "ProjectionType");
    for (int i = PROJECTS_ALL; i <= PROJECTS_KEYS; i++) {
        *out = (enum projection)i;
        if (json_string_is(type, span_text(types[i])))
            return true;
    }
    return false;
}

static bool table_description_read_included(struct arena *arena, struct json owner,
                                            struct index_info *out)
{
    struct json array = json_member(json_member(owner, "Projection"), "NonKeyAttributes");
    struct span *names = arena_array(arena, json_count(array), sizeof *names);
    out->included = names;
    if (!table_description_is_optional(array, JSON_ARRAY))
        return false;
    if (!names)
        return true;
    for (struct json name = json_first(array); json_present(name); name = json_next(name))
        if (!table_description_copy(arena, name, &names[out->included_count++]))
            return false;
    return true;
}

/* An optional text. */
static bool table_description_read_word(struct arena *arena, struct json value, struct span *out)
{
    *out = span_text("");
    return !json_present(value) || json_is(value, JSON_NULL) ||
           table_description_copy(arena, value, out);
}

/* An optional count. */
static bool table_description_read_count(struct json value, int64_t *out)
{
    *out = -1;
    return !json_present(value) || json_is(value, JSON_NULL) ||
           (json_read_int(value, out) && *out >= 0);
}

/* Seconds since 1970, with a fraction; or a text, as version 2 of the AWS CLI prints it. */
static bool table_description_read_date(struct json value, int64_t *out_ms)
{
    double seconds = 0;
    struct span text;
    if (json_plain_string(value, &text)) {
        struct instant instant = instant_parse(text);
        *out_ms = instant.ms;
        return instant.known;
    }
    if (json_present(value) && !json_is(value, JSON_NULL) &&
        (!json_read_double(value, &seconds) || fabs(seconds) > 1e12))
        return false;
    *out_ms = (int64_t)(seconds * 1000);
    return true;
}

/* A table that was never billed on demand has no billing mode, but provisioned units. */
static bool table_description_read_billing(struct arena *arena, struct json table,
                                           struct table_info *info)
{
    struct json mode = json_member(json_member(table, "BillingModeSummary"), "BillingMode");
    struct json units =
        json_member(json_member(table, "ProvisionedThroughput"), "ReadCapacityUnits");
    int64_t count;
    if (!table_description_read_word(arena, mode, &info->billing_mode))
        return false;
    if (info->billing_mode.size == 0 && json_read_int(units, &count) && count > 0)
        info->billing_mode = SPAN_LITERAL("PROVISIONED");
    return true;
}

/* The service leaves out the specification of a stream that is disabled, but not its ARN. */
static bool table_description_read_stream(struct arena *arena, struct json table,
                                          struct table_info *info)
{
    struct json specification = json_member(table, "StreamSpecification");
    return table_description_is_optional(specification, JSON_OBJECT) &&
           table_description_read_flag(json_member(specification, "StreamEnabled"),
                                       &info->stream_enabled) &&
           table_description_read_word(arena, json_member(table, "LatestStreamArn"),
                                       &info->stream_arn) &&
           table_description_read_word(arena, json_member(specification, "StreamViewType"),
                                       &info->stream_view);
}

/* The members READ and WRITE of an optional object. Zero and less are no limit of an on-demand
 * table. */
static bool table_description_read_throughput(struct json object, const char *read,
                                              const char *write, struct throughput *out)
{
    const struct {
        const char *name;
        int64_t *units;
    } members[] = {{read, &out->read}, {write, &out->write}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct json value = json_member(object, members[i].name);
        *members[i].units = -1;
        if (json_present(value) && !json_is(value, JSON_NULL) &&
            !json_read_int(value, members[i].units))
            return false;
        if (*members[i].units < 0)
            *members[i].units = -1;
    }
    return true;
}

/* Of a table or a global index. */
static bool table_description_read_throughputs(struct json owner, struct throughputs *out)
{
    return table_description_read_throughput(json_member(owner, "ProvisionedThroughput"),
                                             "ReadCapacityUnits", "WriteCapacityUnits",
                                             &out->provisioned) &&
           table_description_read_throughput(json_member(owner, "OnDemandThroughput"),
                                             "MaxReadRequestUnits", "MaxWriteRequestUnits",
                                             &out->on_demand) &&
           table_description_read_throughput(json_member(owner, "WarmThroughput"),
                                             "ReadUnitsPerSecond", "WriteUnitsPerSecond",
                                             &out->warm);
}

static bool table_description_read_replicas(struct arena *arena, struct json array,
                                            const char *status, struct replica_info *replicas,
                                            size_t *count)
{
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        struct replica_info *replica = &replicas[(*count)++];
        if (!table_description_read_word(arena, json_member(each, "RegionName"),
                                         &replica->region) ||
            !table_description_read_word(arena, json_member(each, status), &replica->status))
            return false;
    }
    return true;
}

/* A global table, its replicas first. */
static bool table_description_read_global(struct arena *arena, struct json table,
                                          struct table_info *info)
{
    struct json replicas = json_member(table, "Replicas");
    struct json witnesses = json_member(table, "GlobalTableWitnesses");
    struct replica_info *all =
        arena_array(arena, json_count(replicas) + json_count(witnesses), sizeof *all);
    if (!table_description_is_optional(replicas, JSON_ARRAY) ||
        !table_description_is_optional(witnesses, JSON_ARRAY))
        return false;
    if (!all)
        return true;
    info->replicas = all;
    if (!table_description_read_replicas(arena, replicas, "ReplicaStatus", all,
                                         &info->replica_count))
        return false;
    size_t first = info->replica_count;
    if (!table_description_read_replicas(arena, witnesses, "WitnessStatus", all,
                                         &info->replica_count))
        return false;
    for (size_t i = first; i < info->replica_count; i++)
        all[i].is_witness = true;
    return table_description_read_word(arena, json_member(table, "MultiRegionConsistency"),
                                       &info->consistency);
}

static bool table_description_read_state(struct arena *arena, struct json table,
                                         struct table_info *info)
{
    return table_description_read_word(arena, json_member(table, "TableStatus"), &info->status) &&
           table_description_read_count(json_member(table, "ItemCount"), &info->item_count) &&
           table_description_read_count(json_member(table, "TableSizeBytes"), &info->size_bytes) &&
           table_description_read_date(json_member(table, "CreationDateTime"), &info->created_ms) &&
           table_description_read_billing(arena, table, info) &&
           table_description_read_word(arena, json_member(table, "TableArn"), &info->arn) &&
           table_description_read_throughputs(table, &info->throughputs) &&
           table_description_read_global(arena, table, info) &&
           table_description_read_stream(arena, table, info);
}

static bool table_description_read_indexes(struct arena *arena, struct json array,
                                           struct json definitions, bool local,
                                           struct index_info *indexes, size_t *count)
{
    if (!table_description_is_optional(array, JSON_ARRAY))
        return false;
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        struct index_info *index = &indexes[(*count)++];
        index->local = local;
        if (!table_description_read_flag(json_member(each, "Backfilling"), &index->backfilling) ||
            !table_description_read_projection(each, &index->projection) ||
            !table_description_copy(arena, json_member(each, "IndexName"), &index->name) ||
            !table_description_read_word(arena, json_member(each, "IndexStatus"), &index->status) ||
            !table_description_read_throughputs(each, &index->throughputs) ||
            !table_description_read_included(arena, each, index) ||
            !table_description_read_schema(arena, each, definitions, &index->keys))
            return false;
    }
    return true;
}

/* The attribute whose value each search must have; empty without one. */
static bool table_description_read_partition(struct arena *arena, struct json vector,
                                             struct json definitions, struct vector_info *out)
{
    struct json schema = json_member(vector, "SearchSchema");
    out->partition = span_text("");
    if (!table_description_is_optional(schema, JSON_ARRAY))
        return false;
    for (struct json each = json_first(schema); json_present(each); each = json_next(each)) {
        if (!json_string_is(json_member(each, "SearchSchemaElementType"), SPAN_LITERAL("HASH")))
            continue;
        if (out->partition.size > 0 ||
            !table_description_copy(arena, json_member(each, "AttributeName"), &out->partition) ||
            !table_description_read_type(definitions, out->partition, &out->partition_type))
            return false;
    }
    return true;
}

static bool table_description_read_vectors(struct arena *arena, struct json array,
                                           struct json definitions, struct table_info *info)
{
    struct vector_info *vectors = arena_array(arena, json_count(array), sizeof *vectors);
    info->vectors = vectors;
    if (!table_description_is_optional(array, JSON_ARRAY))
        return false;
    for (struct json each = json_first(array); vectors && json_present(each);
         each = json_next(each)) {
        struct vector_info *vector = &vectors[info->vector_count++];
        struct json attribute = json_member(each, "VectorAttribute");
        if (!table_description_read_flag(json_member(each, "Backfilling"), &vector->backfilling) ||
            !table_description_copy(arena, json_member(each, "IndexName"), &vector->name) ||
            !table_description_copy(arena, json_member(attribute, "AttributeName"),
                                    &vector->attribute) ||
            !json_read_int(json_member(each, "Dimensions"), &vector->dimensions) ||
            !table_description_copy(arena, json_member(each, "DistanceFunction"),
                                    &vector->distance) ||
            !table_description_read_word(arena, json_member(each, "IndexStatus"),
                                         &vector->status) ||
            !table_description_read_partition(arena, each, definitions, vector))
            return false;
    }
    return true;
}

struct table_info *table_description_read(struct json table, struct arena *arena)
{
    struct json definitions = json_member(table, "AttributeDefinitions");
    struct json global = json_member(table, "GlobalSecondaryIndexes");
    struct json local = json_member(table, "LocalSecondaryIndexes");
    struct table_info *info = arena_alloc(arena, sizeof *info);
    struct index_info *indexes =
        arena_array(arena, json_count(global) + json_count(local), sizeof *indexes);
    if (!info || !indexes)
        return NULL;
    info->indexes = indexes;
    bool ok = table_description_read_schema(arena, table, definitions, &info->keys) &&
              info->keys.partition_count == 1 && info->keys.sort_count <= 1 &&
              table_description_read_indexes(arena, global, definitions, false, indexes,
                                             &info->index_count) &&
              table_description_read_indexes(arena, local, definitions, true, indexes,
                                             &info->index_count) &&
              table_description_read_vectors(arena, json_member(table, "VectorIndexes"),
                                             definitions, info) &&
              table_description_read_state(arena, table, info);
    return ok && !arena->failed ? info : NULL;
}
