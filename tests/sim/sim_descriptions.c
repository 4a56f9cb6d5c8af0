/* The operations of DynamoDB that describe tables: DescribeTable, ListTables, and the like. */
#include "tests/sim/sim_descriptions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_expressions.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_world.h"

enum { SIM_MOST_NAMES = 100, SIM_MOST_BACKUPS = 3 };

void sim_tables_write_arn(struct sim_text *out, const struct sim_table *table)
{
    sim_text_printf(out, "arn:aws:dynamodb:%s:%s:table/%s", SIM_REGION, SIM_ACCOUNT, table->name);
}

void sim_tables_write_stream_arn(struct sim_text *out, const struct sim_table *table)
{
    sim_tables_write_arn(out, table);
    sim_text_puts(out, "/stream/2026-01-01T00:00:00.000");
}

struct sim_table *sim_tables_find(const char *name_or_arn)
{
    static const char start[] = "arn:aws:dynamodb:" SIM_REGION ":" SIM_ACCOUNT ":table/";
    if (strncmp(name_or_arn, start, sizeof start - 1) == 0)
        name_or_arn += sizeof start - 1;
    return sim_history_find_table(name_or_arn);
}

void sim_tables_write_item(struct sim_text *out, const struct sim_version *version)
{
    struct sim_expressions none = {0};
    sim_expressions_write_item(&none, 0, 0, version, -1, out);
}

void sim_tables_write_key(struct sim_text *out, const struct sim_version *version)
{
    const struct sim_key_schema *key = &version->item->table->key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        sim_text_puts(out, i ? "," : "{");
        sim_text_json_string(out, key->names[i], strlen(key->names[i]));
        sim_text_puts(out, ":");
        sim_value_write(out, sim_version_get(version, key->names[i]));
    }
    sim_text_puts(out, "}");
}

/* A number that is always the same for a table, below BELOW. */
static uint32_t sim_table_number(const struct sim_table *table, const char *purpose, uint32_t below)
{
    uint64_t number = 0;
    for (const char *at = table->name; *at; at++)
        number = number * 31 + (unsigned char)*at;
    struct sim_dice dice = sim_dice_for(purpose, number);
    return sim_dice_below(&dice, below);
}

/* Whether the request has these members alone. */
static bool sim_description_check(const struct sim_json *request, const char *const *names,
                                  struct sim_outcome *out)
{
    for (size_t i = 0; i < request->count; i++) {
        bool known = false;
        for (const char *const *name = names; !known && *name; name++)
            known = strcmp(*name, request->names[i]) == 0;
        if (!known)
            return sim_outcome_refuse(out, "No such member: %s", request->names[i]);
    }
    return true;
}

/* The table in MEMBER; NULL: the outcome is an error. */
static struct sim_table *sim_description_table(const struct sim_json *request, const char *member,
                                               struct sim_outcome *out)
{
    const char *const names[] = {member, NULL};
    const char *name = sim_json_text(request, member);
    if (!sim_description_check(request, names, out))
        return NULL;
    if (!name || strlen(name) < 3) {
        sim_outcome_refuse(out, "%s is required", member);
        return NULL;
    }
    struct sim_table *table = sim_tables_find(name);
    if (!table) {
        out->code = "ResourceNotFoundException";
        out->message = sim_printf("Requested resource not found: Table: %s not found", name);
    }
    return table;
}

void sim_description_write_keys(struct sim_text *out, const struct sim_key_schema *key)
{
    sim_text_puts(out, "\"KeySchema\":[");
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        sim_text_puts(out, i ? ",{\"AttributeName\":" : "{\"AttributeName\":");
        sim_text_json_string(out, key->names[i], strlen(key->names[i]));
        sim_text_printf(out, ",\"KeyType\":\"%s\"}", i < key->hash_count ? "HASH" : "RANGE");
    }
    sim_text_puts(out, "]");
}

/* Appends the definitions of KEY's attributes that are not among the COUNT schemas BEFORE it. */
static void sim_description_write_types(struct sim_text *out, const struct sim_table *table,
                                        unsigned number)
{
    const struct sim_key_schema *key = number ? &table->indexes[number - 1].key : &table->key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        bool repeats = false;
        for (unsigned s = 0; s < number; s++) {
            const struct sim_key_schema *other = s ? &table->indexes[s - 1].key : &table->key;
            for (unsigned k = 0; k < other->hash_count + other->range_count; k++)
                repeats = repeats || strcmp(other->names[k], key->names[i]) == 0;
        }
        if (repeats)
            continue;
        sim_text_puts(out, number || i ? ",{\"AttributeName\":" : "{\"AttributeName\":");
        sim_text_json_string(out, key->names[i], strlen(key->names[i]));
        sim_text_printf(out, ",\"AttributeType\":\"%s\"}", sim_type_name(key->types[i]));
    }
}

/* The service counts items every six hours: at the beginning of the life. */
static void sim_description_write_counts(struct sim_text *out, const struct sim_table *table,
                                         int index, const char *size_name)
{
    size_t count = 0, bytes = 0;
    for (const struct sim_item *item = table->first; item; item = item->next) {
        const struct sim_version *version = sim_version_at(item, -1, 0);
        if (!version || !sim_version_is_in(version, sim_history_order(table, index)))
            continue;
        count++;
        bytes += version->item_size;
    }
    sim_text_printf(out, "\"ItemCount\":%zu,\"%s\":%zu", count, size_name, bytes);
}

static void sim_description_write_projection(struct sim_text *out, const struct sim_index *index)
{
    static const char *const words[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    sim_text_printf(out, "\"Projection\":{\"ProjectionType\":\"%s\"", words[index->projection]);
    if (index->projection == SIM_PROJECT_INCLUDE) {
        sim_text_puts(out, ",\"NonKeyAttributes\":[");
        for (unsigned i = 0; i < index->included_count; i++) {
            sim_text_puts(out, i ? "," : "");
            sim_text_json_string(out, index->included[i], strlen(index->included[i]));
        }
        sim_text_puts(out, "]");
    }
    sim_text_puts(out, "}");
}

static const char sim_throughput[] = "\"ProvisionedThroughput\":{\"NumberOfDecreasesToday\":0,"
                                     "\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":0}";

/* The member for all local, or all global indexes; nothing if there are none. */
static void sim_description_write_indexes(struct sim_text *out, const struct sim_table *table,
                                          bool local)
{
    bool any = false;
    for (unsigned i = 0; i < table->index_count; i++) {
        const struct sim_index *index = &table->indexes[i];
        if (index->is_local != local)
            continue;
        if (!any)
            sim_text_printf(out, ",\"%sSecondaryIndexes\":[", local ? "Local" : "Global");
        sim_text_printf(out, "%s{\"IndexName\":\"%s\",", any ? "," : "", index->name);
        sim_description_write_keys(out, &index->key);
        sim_text_puts(out, ",");
        sim_description_write_projection(out, index);
        if (!local)
            sim_text_printf(out, ",\"IndexStatus\":\"ACTIVE\",%s", sim_throughput);
        sim_text_puts(out, ",");
        sim_description_write_counts(out, table, (int)i, "IndexSizeBytes");
        sim_text_puts(out, ",\"IndexArn\":\"");
        sim_tables_write_arn(out, table);
        sim_text_printf(out, "/index/%s\"}", index->name);
        any = true;
    }
    if (any)
        sim_text_puts(out, "]");
}

static bool sim_describe_table(const struct sim_json *request, const struct sim_mood *mood,
                               struct sim_outcome *out)
{
    const struct sim_table *table = sim_description_table(request, "TableName", out);
    struct sim_text *body = &out->body;
    if (!table)
        return false;
    sim_text_puts(body, "{\"Table\":{\"AttributeDefinitions\":[");
    for (unsigned i = 0; i <= table->index_count; i++)
        sim_description_write_types(body, table, i);
    sim_text_printf(body, "],\"TableName\":\"%s\",", table->name);
    sim_description_write_keys(body, &table->key);
    sim_text_printf(body, ",\"TableStatus\":\"ACTIVE\",\"CreationDateTime\":1.7E9,%s,",
                    sim_throughput);
    sim_description_write_counts(body, table, -1, "TableSizeBytes");
    sim_text_puts(body, ",\"TableArn\":\"");
    sim_tables_write_arn(body, table);
    sim_text_printf(body,
                    "\",\"TableId\":\"%08x-0000-4000-8000-000000000000\","
                    "\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"},"
                    "\"DeletionProtectionEnabled\":false",
                    sim_table_number(table, "table id", UINT32_MAX));
    sim_description_write_indexes(body, table, true);
    sim_description_write_indexes(body, table, false);
    if (table->has_stream) {
        sim_text_printf(body,
                        ",\"StreamSpecification\":{\"StreamEnabled\":true,"
                        "\"StreamViewType\":\"%s\"},"
                        "\"LatestStreamLabel\":\"2026-01-01T00:00:00.000\","
                        "\"LatestStreamArn\":\"",
                        sim_streams_view(table));
        sim_tables_write_stream_arn(body, table);
        sim_text_puts(body, "\"");
    }
    if (mood->describe_more)
        mood->describe_more(body, table);
    sim_text_puts(body, "}}");
    return true;
}

static int sim_names_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all tables, in their order; *COUNT of them. Owned by the caller. */
static const char **sim_names_of_tables(size_t *count)
{
    const char **names = NULL;
    *count = 0;
    for (const struct sim_table *table = sim_history_tables(); table; table = table->next) {
        names = sim_grow(names, (*count + 1) * sizeof *names);
        names[(*count)++] = table->name;
    }
    if (names)
        qsort(names, *count, sizeof *names, sim_names_compare);
    return names;
}

static bool sim_list_tables(const struct sim_json *request, const struct sim_mood *mood,
                            struct sim_outcome *out)
{
    static const char *const members[] = {"ExclusiveStartTableName", "Limit", NULL};
    const char *after = sim_json_text(request, "ExclusiveStartTableName");
    const struct sim_json *limit = sim_json_get(request, "Limit");
    size_t most = limit ? strtoul(limit->bytes ? limit->bytes : "", NULL, 10) : SIM_MOST_NAMES;
    if (!sim_description_check(request, members, out))
        return false;
    if (most == 0 || most > SIM_MOST_NAMES ||
        (sim_json_get(request, "ExclusiveStartTableName") && !after))
        return sim_outcome_refuse(out, "Limit or ExclusiveStartTableName is wrong");
    if (mood->cut_after && mood->cut_after < most)
        most = mood->cut_after;
    size_t count, written = 0, at = 0;
    const char **names = sim_names_of_tables(&count);
    sim_text_puts(&out->body, "{\"TableNames\":[");
    for (; at < count && written < most; at++) {
        if (after && strcmp(names[at], after) <= 0)
            continue;
        sim_text_printf(&out->body, "%s\"%s\"", written++ ? "," : "", names[at]);
    }
    sim_text_puts(&out->body, "]");
    if (written == most)
        sim_text_printf(&out->body, ",\"LastEvaluatedTableName\":\"%s\"", names[at - 1]);
    sim_text_puts(&out->body, "}");
    sim_free(names);
    return true;
}

static bool sim_describe_expiry(const struct sim_json *request, const struct sim_mood *mood,
                                struct sim_outcome *out)
{
    (void)mood;
    const struct sim_table *table = sim_description_table(request, "TableName", out);
    if (!table)
        return false;
    sim_text_printf(&out->body, "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\":\"%s\"",
                    table->has_ttl ? "ENABLED" : "DISABLED");
    if (table->has_ttl) {
        sim_text_puts(&out->body, ",\"AttributeName\":");
        sim_text_json_string(&out->body, table->ttl_attribute, strlen(table->ttl_attribute));
    }
    sim_text_puts(&out->body, "}}");
    return true;
}

static bool sim_describe_recovery(const struct sim_json *request, const struct sim_mood *mood,
                                  struct sim_outcome *out)
{
    (void)mood;
    const struct sim_table *table = sim_description_table(request, "TableName", out);
    if (!table)
        return false;
    sim_text_puts(&out->body, "{\"ContinuousBackupsDescription\":{\"ContinuousBackupsStatus\":"
                              "\"ENABLED\",\"PointInTimeRecoveryDescription\":"
                              "{\"PointInTimeRecoveryStatus\":");
    if (sim_table_number(table, "recovery", 2))
        sim_text_puts(&out->body, "\"ENABLED\",\"RecoveryPeriodInDays\":35,"
                                  "\"EarliestRestorableDateTime\":1.7E9,"
                                  "\"LatestRestorableDateTime\":1.701E9}}}");
    else
        sim_text_puts(&out->body, "\"DISABLED\"}}}");
    return true;
}

/* Appends backup NUMBER of the table. */
static void sim_backup_write_arn(struct sim_text *out, const struct sim_table *table,
                                 unsigned number)
{
    sim_tables_write_arn(out, table);
    sim_text_printf(out, "/backup/0%u700000000000-0000000%u", number + 1, number);
}

static bool sim_list_backups(const struct sim_json *request, const struct sim_mood *mood,
                             struct sim_outcome *out)
{
    static const char *const members[] = {
        "TableName",           "BackupType",          "Limit", "ExclusiveStartBackupArn",
        "TimeRangeLowerBound", "TimeRangeUpperBound", NULL};
    const char *name = sim_json_text(request, "TableName");
    const char *after = sim_json_text(request, "ExclusiveStartBackupArn");
    const struct sim_table *table = name ? sim_tables_find(name) : NULL;
    if (!sim_description_check(request, members, out))
        return false;
    unsigned count = table ? sim_table_number(table, "backups", SIM_MOST_BACKUPS + 1) : 0;
    struct sim_text arn = {0};
    unsigned written = 0, i = 0;
    bool skips = after != NULL;
    sim_text_puts(&out->body, "{\"BackupSummaries\":[");
    for (; i < count && !(mood->cut_after && written == mood->cut_after); i++) {
        sim_text_free(&arn);
        sim_backup_write_arn(&arn, table, i);
        bool is_start = after && strcmp(after, arn.bytes) == 0;
        if (!skips)
            sim_text_printf(&out->body,
                            "%s{\"TableName\":\"%s\",\"BackupArn\":\"%s\",\"BackupName\":"
                            "\"backup-%u\",\"BackupCreationDateTime\":1.7E9,\"BackupStatus\":"
                            "\"AVAILABLE\",\"BackupType\":\"USER\",\"BackupSizeBytes\":%u}",
                            written++ ? "," : "", table->name, arn.bytes, i, 1000 + i);
        skips = skips && !is_start;
    }
    sim_text_puts(&out->body, "]");
    if (i < count)
        sim_text_printf(&out->body, ",\"LastEvaluatedBackupArn\":\"%s\"", arn.bytes);
    sim_text_puts(&out->body, "}");
    sim_text_free(&arn);
    return true;
}

static bool sim_list_exports(const struct sim_json *request, const struct sim_mood *mood,
                             struct sim_outcome *out)
{
    static const char *const members[] = {"TableArn", "MaxResults", "NextToken", NULL};
    const char *arn = sim_json_text(request, "TableArn");
    const char *token = sim_json_text(request, "NextToken");
    if (!sim_description_check(request, members, out))
        return false;
    if (arn && strncmp(arn, "arn:aws:dynamodb:", 17) != 0)
        return sim_outcome_refuse(out, "TableArn is no ARN: %s", arn);
    const struct sim_table *table = arn ? sim_tables_find(arn) : NULL;
    unsigned count = table ? sim_table_number(table, "exports", 3) : 0;
    unsigned first = token ? (unsigned)strtoul(token, NULL, 10) : 0;
    unsigned until = mood->cut_after && first + mood->cut_after < count
                         ? first + (unsigned)mood->cut_after
                         : count;
    sim_text_puts(&out->body, "{\"ExportSummaries\":[");
    for (unsigned i = first; i < until; i++) {
        sim_text_puts(&out->body, i > first ? ",{\"ExportArn\":\"" : "{\"ExportArn\":\"");
        sim_tables_write_arn(&out->body, table);
        sim_text_printf(&out->body,
                        "/export/0170000000000%u-0000000%u\",\"ExportStatus\":\"COMPLETED\","
                        "\"ExportType\":\"FULL_EXPORT\"}",
                        i, i);
    }
    sim_text_puts(&out->body, "]");
    if (until < count)
        sim_text_printf(&out->body, ",\"NextToken\":\"%u\"", until);
    sim_text_puts(&out->body, "}");
    return true;
}

bool sim_descriptions_answer(const char *operation, const struct sim_json *request,
                             const struct sim_mood *mood, struct sim_outcome *out)
{
    static const struct {
        const char *name;
        bool (*fn)(const struct sim_json *request, const struct sim_mood *mood,
                   struct sim_outcome *out);
    } operations[] = {{"DescribeTable", sim_describe_table},
                      {"ListTables", sim_list_tables},
                      {"DescribeTimeToLive", sim_describe_expiry},
                      {"DescribeContinuousBackups", sim_describe_recovery},
                      {"ListBackups", sim_list_backups},
                      {"ListExports", sim_list_exports}};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, operation) == 0) {
            operations[i].fn(request, mood, out);
            return true;
        }
    }
    return false;
}
