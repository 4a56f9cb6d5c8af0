#include "core/read/fact.h"

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
