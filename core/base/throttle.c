#include "core/base/throttle.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/printable.h"

void throttle_init(struct throttle *throttle, struct span reason, struct span resource)
{
    printable_copy(throttle->reason, sizeof throttle->reason, reason, PRINTABLE_WORD);
    printable_copy(throttle->resource, sizeof throttle->resource, resource, PRINTABLE_WORD);
}

/* The text between MARK and the next slash; empty without MARK. */
static struct span throttle_name_behind(const struct throttle *throttle, const char *mark)
{
    const char *at = strstr(throttle->resource, mark);
    return at ? span_of(at + strlen(mark), strcspn(at + strlen(mark), "/")) : span_text("");
}

struct span throttle_table(const struct throttle *throttle)
{
    return throttle_name_behind(throttle, ":table/");
}

struct span throttle_index(const struct throttle *throttle)
{
    return throttle_name_behind(throttle, "/index/");
}

/* A limit of a table or an index, for reads or for writes. */
static const struct throttle_limit {
    const char *name; /* the end of a reason */
    const char *of_reads, *of_writes, *behind;
    const char *advice;
} throttle_limits[] = {
    {"ProvisionedThroughputExceeded", "the provisioned read throughput of ",
     "the provisioned write throughput of ", " is used up",
     "read more slowly, or raise its provisioned throughput"},
    {"AccountLimitExceeded", "the account's limit of read throughput is reached by ",
     "the account's limit of write throughput is reached by ", "",
     "read more slowly, or request a higher quota of the account (Service Quotas)"},
    {"KeyRangeThroughputExceeded", "a partition of ", "a partition of ", " is hot",
     "read the items of one partition key more slowly, or fewer at once: a partition serves 3,000 "
     "RCU and 1,000 WCU per second"},
    {"MaxOnDemandThroughputExceeded", "the on-demand maximum throughput for reads is reached by ",
     "the on-demand maximum throughput for writes is reached by ", "",
     "read more slowly, or raise its maximum throughput"},
};

/* The limit that a reason names; NULL for an unknown reason. */
static const struct throttle_limit *throttle_find_limit(const struct throttle *throttle,
                                                        bool *of_index, bool *of_writes)
{
    struct span rest = span_text(throttle->reason);
    *of_index = span_starts(rest, SPAN_LITERAL("Index"));
    if (!*of_index && !span_starts(rest, SPAN_LITERAL("Table")))
        return NULL;
    rest = span_from(rest, strlen("Table"));
    *of_writes = span_starts(rest, SPAN_LITERAL("Write"));
    if (!*of_writes && !span_starts(rest, SPAN_LITERAL("Read")))
        return NULL;
    rest = span_from(rest, strlen(*of_writes ? "Write" : "Read"));
    for (size_t i = 0; i < sizeof throttle_limits / sizeof throttle_limits[0]; i++)
        if (span_is(rest, throttle_limits[i].name))
            return &throttle_limits[i];
    return NULL;
}

/* Appends "index X of table T", as far as the ARN has the names. */
static void throttle_write_resource(const struct throttle *throttle, bool of_index, struct buf *out)
{
    struct span table = throttle_table(throttle), index = throttle_index(throttle);
    if (of_index) {
        buf_add_text(out, index.size ? "index " : "an index");
        buf_add_span(out, index);
        buf_add_text(out, " of ");
    }
    buf_add_text(out, table.size ? "table " : "the table");
    buf_add_span(out, table);
}

bool throttle_is_known(const struct throttle *throttle)
{
    bool of_index, of_writes;
    return throttle_find_limit(throttle, &of_index, &of_writes);
}

void throttle_write_words(const struct throttle *throttle, struct buf *out)
{
    bool of_index, of_writes;
    const struct throttle_limit *limit = throttle_find_limit(throttle, &of_index, &of_writes);
    if (!limit) {
        buf_add_text(out, throttle->reason);
        buf_add_text(out, throttle->resource[0] ? " of " : "");
        buf_add_text(out, throttle->resource);
        return;
    }
    buf_add_text(out, of_writes ? limit->of_writes : limit->of_reads);
    throttle_write_resource(throttle, of_index, out);
    buf_add_text(out, limit->behind);
}

const char *throttle_advice(const struct throttle *throttle)
{
    bool of_index, of_writes;
    const struct throttle_limit *limit = throttle_find_limit(throttle, &of_index, &of_writes);
    return limit ? limit->advice : "try again later, or more slowly";
}

/* Counts. */

struct throttles {
    size_t references;
    size_t count;
    struct throttles_reason {
        struct throttle throttle;
        uint64_t requests;
    } reasons[]; /* with THROTTLES_MOST + 1 of them the last one adds up the others */
};

struct throttles *throttles_ref(struct throttles *throttles)
{
    if (throttles)
        throttles->references++;
    return throttles;
}

void throttles_unref(struct throttles *throttles)
{
    if (throttles && --throttles->references == 0)
        free(throttles);
}

void throttles_clean_up(struct throttles **throttles)
{
    throttles_unref(*throttles);
}

static size_t throttles_size(size_t count)
{
    return sizeof(struct throttles) + count * sizeof(struct throttles_reason);
}

size_t throttles_memory(const struct throttles *throttles)
{
    return throttles ? throttles_size(throttles->count) : 0;
}

/* Makes *SUM one that has no other holder, with room for COUNT reasons. False when memory ran out.
 */
static bool throttles_own(struct throttles **sum, size_t count)
{
    struct throttles *before = *sum;
    if (before && before->references == 1 && count <= before->count)
        return true;
    struct throttles *own = calloc(1, throttles_size(count));
    if (!own)
        return false;
    if (before)
        memcpy(own, before, throttles_memory(before));
    own->references = 1;
    throttles_unref(before);
    *sum = own;
    return true;
}

static bool throttles_is_of(const struct throttles_reason *reason, const struct throttle *throttle)
{
    return strcmp(reason->throttle.reason, throttle->reason) == 0 &&
           strcmp(reason->throttle.resource, throttle->resource) == 0;
}

void throttles_add(struct throttles **sum, const struct throttle *throttle, uint64_t requests)
{
    static const struct throttle others = {.reason = THROTTLES_OTHER};
    size_t i = 0, count = *sum ? (*sum)->count : 0;
    while (i < count && i < THROTTLES_MOST && !throttles_is_of(&(*sum)->reasons[i], throttle))
        i++;
    if (!throttles_own(sum, i < count ? count : i + 1))
        return;
    struct throttles *own = *sum;
    if (i == own->count)
        own->reasons[own->count++].throttle = i < THROTTLES_MOST ? *throttle : others;
    own->reasons[i].requests += requests;
}

void throttles_join(struct throttles **sum, struct throttles *more)
{
    if (!*sum) {
        *sum = throttles_ref(more);
        return;
    }
    for (size_t i = 0; more && i < more->count; i++)
        throttles_add(sum, &more->reasons[i].throttle, more->reasons[i].requests);
}

const struct throttle *throttles_at(const struct throttles *throttles, size_t i, uint64_t *requests)
{
    if (!throttles || i >= throttles->count)
        return NULL;
    *requests = throttles->reasons[i].requests;
    return &throttles->reasons[i].throttle;
}
