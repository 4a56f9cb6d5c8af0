#include "core/read/fact.h"

static const struct {
    const char *name;
    enum read_kind reads[FACT_MOST_READS];
    size_t count;
} facts[] = {
    [FACT_SCHEMA] = {"schema.json", {READ_TABLE}, 1},
    [FACT_EXPIRY] = {"ttl.json", {READ_EXPIRY}, 1},
    [FACT_BACKUPS] = {"backups.json", {READ_BACKUPS, READ_RECOVERY}, 2},
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

struct read *fact_read(enum fact fact, size_t i, const char *table)
{
    return read_new(facts[fact].reads[i], table, NULL);
}
