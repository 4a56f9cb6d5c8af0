/* A table's state in sentences, from the service's description of it. */
#include "core/source/table_words.h"

#include "core/source/table_description.h"
#include "tests/unit/check.h"

#define KEYS                                                                                       \
    "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"               \
    "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]"
#define INDEX(name, members)                                                                       \
    "{\"IndexName\":\"" name "\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]," \
    "\"Projection\":{\"ProjectionType\":\"ALL\"}" members "}"
#define GLOBAL(list) "\"GlobalSecondaryIndexes\":[" list "]"
#define VECTOR(name, members)                                                                      \
    "{\"IndexName\":\"" name "\",\"VectorAttribute\":{\"AttributeName\":\"embedding\"},"           \
    "\"Dimensions\":768,\"DistanceFunction\":\"COSINE\"" members "}"

/* All lines about a table with these MEMBERS. */
static void check_words(const char *members, const char *words)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, out = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    buf_printf(&text, "{" KEYS "%s%s}", members[0] ? "," : "", members);
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    const struct table_info *info = table_description_read(json_root(&doc), &arena);
    CHECK(info);
    table_words_write_indexes(info, &out);
    table_words_write_throughput(info, &out);
    table_words_write_stream(info, &out);
    table_words_write_replicas(info, &out);
    CHECK_TEXT(buf_text(&out), words);
}

static bool is_understood(const char *members)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    buf_printf(&text, "{" KEYS ",%s}", members);
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    return table_description_read(json_root(&doc), &arena);
}

static void what_is_not_stated_has_no_words(void)
{
    check_words("", "");
    check_words("\"Replicas\":[],\"VectorIndexes\":null,\"WarmThroughput\":null", "");
}

static void throughput_is_that_of_the_mode(void)
{
    check_words("\"ProvisionedThroughput\":{\"ReadCapacityUnits\":100,\"WriteCapacityUnits\":50}",
                "Throughput: provisioned, 100 RCU and 50 WCU per second.\n");
    check_words("\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"},"
                "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":7}",
                "Throughput: on demand.\n");
    check_words("\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"},"
                "\"OnDemandThroughput\":{\"MaxReadRequestUnits\":400,\"MaxWriteRequestUnits\":-1},"
                "\"WarmThroughput\":{\"ReadUnitsPerSecond\":12000,\"WriteUnitsPerSecond\":4000,"
                "\"Status\":\"ACTIVE\"}",
                "Throughput: on demand, at most 400 RCU per second (its on-demand maximum); 12000 "
                "RCU and 4000 WCU per second at once (its warm throughput).\n");
}

#define PROVISIONED                                                                                \
    INDEX("a", ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":5,\"WriteCapacityUnits\":6}")
#define WARM INDEX("b", ",\"WarmThroughput\":{\"ReadUnitsPerSecond\":7}")
#define PLAIN INDEX("c", "")
#define LOCAL INDEX("l", "")

static void each_global_index_has_a_throughput_of_its_own(void)
{
    static const char members[] =
        GLOBAL(PROVISIONED "," WARM "," PLAIN) ",\"LocalSecondaryIndexes\":[" LOCAL "]";
    check_words(members,
                "Throughput of index a: 5 RCU and 6 WCU per second.\n"
                "Throughput of index b: 7 RCU per second at once (its warm throughput).\n");
}

#define CREATING INDEX("a", ",\"IndexStatus\":\"CREATING\",\"Backfilling\":true")
#define FILLING INDEX("b", ",\"IndexStatus\":\"ACTIVE\",\"Backfilling\":true")
#define READY INDEX("c", ",\"IndexStatus\":\"ACTIVE\",\"Backfilling\":false")
#define UPDATING INDEX("d", ",\"IndexStatus\":\"UPDATING\"")

static void indexes_that_are_not_ready_are_named(void)
{
    static const char members[] = GLOBAL(CREATING "," FILLING "," READY "," UPDATING);
    check_words(members, "Index a is CREATING, so that queries of it fail.\n"
                         "Index b is being filled (Backfilling), so that it lacks items.\n");
}

#define VECTOR_READY VECTOR("v", ",\"IndexStatus\":\"ACTIVE\"")
#define VECTOR_CREATING VECTOR("w", ",\"IndexStatus\":\"CREATING\"")
#define VECTOR_FILLING VECTOR("x", ",\"IndexStatus\":\"CREATING\",\"Backfilling\":true")

static void vector_indexes_have_their_readiness(void)
{
    static const char members[] =
        "\"VectorIndexes\":[" VECTOR_READY "," VECTOR_CREATING "," VECTOR_FILLING "]";
    check_words(members,
                "Vector index v: embedding, 768 dimensions, COSINE; ACTIVE; a new index answers "
                "searches some time after that.\n"
                "Vector index w: embedding, 768 dimensions, COSINE; not ready: CREATING: searches "
                "fail until it is ACTIVE.\n"
                "Vector index x: embedding, 768 dimensions, COSINE; not ready: CREATING, "
                "Backfilling: searches fail until it is filled.\n");
}

static void a_stream_has_its_view_and_what_follows_from_it(void)
{
    static const struct {
        const char *view, *words;
    } rows[] = {
        {"NEW_AND_OLD_IMAGES", "each change has the item before and after it"},
        {"NEW_IMAGE", "each change has the item after it, and not the one before"},
        {"OLD_IMAGE", "each change has the item before it, and not the one after"},
        {"KEYS_ONLY", "each change has the key alone; ddbfs tail --fetch reads the item"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf members = {0}, words = {0};
        buf_printf(&members,
                   "\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%s\"},"
                   "\"LatestStreamArn\":\"arn\"",
                   rows[i].view);
        buf_printf(&words, "Stream: enabled, %s: %s. ddbfs tail and --live follow it.\n",
                   rows[i].view, rows[i].words);
        check_words(buf_text(&members), buf_text(&words));
    }
    check_words("\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"ODD\"}",
                "Stream: enabled, ODD. ddbfs tail and --live follow it.\n");
    check_words("\"LatestStreamArn\":\"arn\"",
                "Stream: disabled. Changes from before can be read for 24 hours, with ddbfs "
                "tail.\n");
}

static void replicas_have_their_state_and_consistency(void)
{
    static const char eventual[] = "; their consistency is eventual: also a consistent read may "
                                   "miss recent writes of other regions.\n";
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    buf_printf(&words, "Replicas: eu-west-1 (ACTIVE), us-east-2 (CREATING)%s", eventual);
    check_words("\"Replicas\":[{\"RegionName\":\"eu-west-1\",\"ReplicaStatus\":\"ACTIVE\"},"
                "{\"RegionName\":\"us-east-2\",\"ReplicaStatus\":\"CREATING\"}]",
                buf_text(&words));
    check_words("\"Replicas\":[{\"RegionName\":\"eu-west-1\"}],\"GlobalTableWitnesses\":["
                "{\"RegionName\":\"eu-west-3\",\"WitnessStatus\":\"ACTIVE\"}],"
                "\"MultiRegionConsistency\":\"STRONG\"",
                "Replicas: eu-west-1, eu-west-3 (a witness, without items, ACTIVE); their "
                "consistency is strong: a consistent read sees the writes of all regions.\n");
    check_words("\"Replicas\":[{\"RegionName\":\"a\"}],\"MultiRegionConsistency\":\"ODD\"",
                "Replicas: a; their consistency is ODD.\n");
}

#define ODD INDEX("a", ",\"WarmThroughput\":{\"ReadUnitsPerSecond\":{}}")

static void members_of_another_type_are_not_understood(void)
{
    static const char *const rows[] = {
        "\"TableArn\":7",
        "\"WarmThroughput\":{\"ReadUnitsPerSecond\":\"7\"}",
        "\"OnDemandThroughput\":{\"MaxReadRequestUnits\":1.5}",
        "\"Replicas\":[{\"RegionName\":7}]",
        "\"GlobalTableWitnesses\":[{\"WitnessStatus\":7}]",
        "\"MultiRegionConsistency\":[]",
        "\"LatestStreamArn\":7",
        "\"StreamSpecification\":{\"StreamViewType\":7}",
        "\"VectorIndexes\":[{\"IndexName\":\"v\"}]",
        "\"GlobalSecondaryIndexes\":[" INDEX("a",
                                             ",\"WarmThroughput\":{\"ReadUnitsPerSecond\":{}}") "]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_understood(rows[i]))
            CHECK_FAIL("%s is understood", rows[i]);
}

static const struct check_test tests[] = {
    {"what is not stated has no words", what_is_not_stated_has_no_words},
    {"throughput is that of the mode", throughput_is_that_of_the_mode},
    {"each global index has a throughput of its own",
     each_global_index_has_a_throughput_of_its_own},
    {"indexes that are not ready are named", indexes_that_are_not_ready_are_named},
    {"vector indexes have their readiness", vector_indexes_have_their_readiness},
    {"a stream has its view and what follows from it",
     a_stream_has_its_view_and_what_follows_from_it},
    {"replicas have their state and consistency", replicas_have_their_state_and_consistency},
    {"members of another type are not understood", members_of_another_type_are_not_understood},
};
CHECK_MAIN(tests)
