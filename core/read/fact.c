#include "core/read/fact.h"

#include "core/json/writer.h"

static const struct {
    const char *name;
    enum read_kind reads[FACT_MOST_READS];
    size_t count;
    const char *frame[FACT_MOST_READS + 1]; /* under the service's own names */
} facts[] = {
    [FACT_SCHEMA] = {"schema.json", {READ_TABLE}, 1, {"", "", "\n"}},
    [FACT_EXPIRY] = {"ttl.json", {READ_EXPIRY}, 1, {"", "", "\n"}},
    [FACT_BACKUPS] = {"backups.json",
                      {READ_BACKUPS, READ_RECOVERY},
                      2,
                      {"{\"BackupSummaries\":[", "],\"ContinuousBackupsDescription\":", "}\n"}},
    [FACT_EXPORTS] = {"exports.json", {READ_EXPORTS}, 1, {"{\"ExportSummaries\":[", "]}", "\n"}},
    [FACT_STREAM] = {"stream.json", {READ_STREAM}, 1, {"", "", "\n"}},
};

const char *fact_name(enum fact fact)
{
    return facts[fact].name;
}

bool fact_find(struct span name, enum fact *out)
{
    for (int i = 0; i < FACTS; i++)
        if (span_is(name, facts[i].name)) {
            *out = (enum fact)i;
            return true;
        }
    return false;
}

size_t fact_read_count(enum fact fact)
{
    return facts[fact].count;
}

struct read *fact_read(enum fact fact, size_t i, const char *table, const char *arn)
{
    struct read *read = read_new(facts[fact].reads[i], table, NULL);
    if (!read || !arn)
        return read;
    read_set_table_arn(read, arn);
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

const char *const *fact_frame(enum fact fact)
{
    return facts[fact].frame;
}

/* Copies the members of OBJECT, all but those of one page of shards. */
static void fact_add_members(struct json object, struct json_writer *json)
{
    struct json value, name = json_first(object);
    for (; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        value = json_next(name);
        if (json_string_is(name, SPAN_LITERAL("Shards")) ||
            json_string_is(name, SPAN_LITERAL("LastEvaluatedShardId")))
            continue;
        json_read_string(name, &text);
        json_writer_add_name(json, buf_span(&text));
        json_writer_add_raw(json, NULL, json_raw(value));
        json->out->failed = json->out->failed || text.failed;
    }
}

static void fact_add_shards(struct json described, struct span shards, struct json_writer *json)
{
    json_writer_begin_object(json, "StreamDescription", JSON_TIGHT);
    fact_add_members(described, json);
    json_writer_begin_array(json, "Shards", JSON_TIGHT);
    if (shards.size > 0)
        json_writer_add_raw(json, NULL, shards);
    json_writer_end(json);
    json_writer_end(json);
}

/* Some servers leave the specification of a stream away that ended. */
bool fact_find_stream(struct span table, struct buf *arn, bool *is_enabled)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, table, JSON_STRICT, NULL))
        return false;
    struct json specification = json_member(json_root(&doc), "StreamSpecification");
    *is_enabled = json_is(json_member(specification, "StreamEnabled"), JSON_TRUE);
    return json_read_string(json_member(json_root(&doc), "LatestStreamArn"), arn) && !arn->failed;
}

/* The members are those of the service's own responses. A table that never had a stream has no
 * such member. */
bool fact_write_stream(struct span table, struct span stream, struct span shards, struct buf *out)
{
    static const char *const members[] = {"StreamSpecification", "LatestStreamArn",
                                          "LatestStreamLabel"};
    CLEAN_UP(json_clean_up) struct json_doc of_table = {0}, of_stream = {0};
    struct json_writer json = json_writer_to(out);
    if (!json_parse(&of_table, table, JSON_STRICT, NULL) ||
        (stream.size > 0 && !json_parse(&of_stream, stream, JSON_STRICT, NULL)))
        return false;
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct json value = json_member(json_root(&of_table), members[i]);
        if (json_present(value))
            json_writer_add_raw(&json, members[i], json_raw(value));
        else if (i == 0)
            json_writer_add_raw(&json, members[i], SPAN_LITERAL("{\"StreamEnabled\":false}"));
    }
    if (stream.size > 0)
        fact_add_shards(json_root(&of_stream), shards, &json);
    json_writer_end(&json);
    return !out->failed;
}
