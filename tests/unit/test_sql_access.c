/* How the rows of a table are found: the access, and the lookups that it becomes with values. */
#include "core/sql/sql_access.h"

#include "core/draft/generic_view.h"
#include "core/map/compile.h"
#include "core/sql/sql_lookup.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"

enum { MOST = 12 };

/* A statement while it is planned. */
static struct {
    struct sql_columns *columns;
    struct arena arena;
    const struct map_index *index;
    struct sql_constraint constraints[MOST];
    struct sql_value values[MOST];
    size_t constraint_count;
    struct sql_order order[MOST];
    size_t order_count;
    bool all_used, may_scan;
    const struct sql_access *access;
} query;

static void begin(struct sql_columns *columns)
{
    arena_clean_up(&query.arena);
    memset(&query, 0, sizeof query);
    query.columns = columns;
}

static void end(void)
{
    sql_columns_destroy(query.columns);
    begin(NULL);
}

/* Forgets the constraints. */
static void again(void)
{
    begin(query.columns);
}

static void open_table(const char *table)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    begin(sql_columns_new(map->models[0], false));
    map_unref(map);
}

static void open_example(const char *table)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    for (size_t i = 0; i < map->model_count; i++)
        if (strcmp(map->models[i]->path_name, table) == 0)
            begin(sql_columns_new(map->models[i], false));
    map_unref(map);
}

static size_t column(const char *name)
{
    CHECK(sql_columns_add(query.columns, span_text(name)));
    return sql_columns_find(query.columns, span_text(name));
}

static struct sql_value text(const char *value)
{
    return (struct sql_value){.type = SQL_TEXT, .bytes = span_text(value)};
}

static struct sql_value integer(int64_t value)
{
    return (struct sql_value){.type = SQL_INTEGER, .integer = value};
}

static struct sql_value real(double value)
{
    return (struct sql_value){.type = SQL_REAL, .real = value};
}

static void with(const char *name, enum sql_op op, struct sql_value value)
{
    query.values[query.constraint_count] = value;
    query.constraints[query.constraint_count++] =
        (struct sql_constraint){op == SQL_OP_LIMIT ? 0 : column(name), op, true, false};
}

static void with_text(const char *name, enum sql_op op, const char *value)
{
    with(name, op, text(value));
}

static void equal(const char *name, const char *value)
{
    with_text(name, SQL_OP_EQ, value);
}

static void order_by(const char *name, bool descending)
{
    query.order[query.order_count++] = (struct sql_order){column(name), descending};
}

static const struct sql_access *find(struct error *err)
{
    bool *used = arena_array(&query.arena, query.columns->count, sizeof *used);
    CHECK(used != NULL);
    for (size_t i = 0; i < query.constraint_count; i++)
        used[query.constraints[i].column] = true;
    for (size_t i = 0; i < query.columns->count; i++)
        used[i] = used[i] || query.all_used;
    struct sql_wanted wanted = {.columns = query.columns,
                                .table = "prod.t",
                                .index = query.index,
                                .constraints = query.constraints,
                                .constraint_count = query.constraint_count,
                                .order = query.order,
                                .order_count = query.order_count,
                                .used = used,
                                .may_scan = query.may_scan};
    query.access = sql_access_find(&wanted, &query.arena, err);
    return query.access;
}

static void check_error(const char *want)
{
    struct error err = {0};
    CHECK(!find(&err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_TEXT(err.text, want);
}

static void check_access(const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    struct error err = {0};
    if (!find(&err))
        CHECK_FAIL("%s", err.text);
    sql_access_write(query.access, &words);
    CHECK_TEXT(buf_text(&words), want);
}

static void write_lookup(const struct sql_lookup *lookup, struct buf *out)
{
    if (lookup->index)
        buf_printf(out, "%s: ", lookup->index->name);
    if (lookup->kind == SQL_ACCESS_SCAN)
        buf_add_text(out, "scan");
    if (lookup->kind == SQL_ACCESS_KEYS)
        key_write_words(&lookup->key, out);
    conds_write_words(lookup->where, lookup->where_count, out);
    if (lookup->filter) {
        buf_add_text(out, " filter ");
        cond_write_words(lookup->filter, out);
    }
    buf_add_text(out, lookup->hydrates ? " hydrated" : "");
    buf_add_text(out, lookup->descending ? " descending" : "");
    if (lookup->first)
        buf_printf(out, " first %u", (unsigned)lookup->first);
}

/* Checks the lookups, one a line. */
static void check_lookups(const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    struct error err = {0};
    struct sql_lookup *lookups;
    size_t count;
    if (!find(&err) ||
        !sql_access_bind(query.access, query.values, &query.arena, &lookups, &count, &err))
        CHECK_FAIL("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        buf_add_text(&words, i ? "\n" : "");
        write_lookup(&lookups[i], &words);
    }
    CHECK_TEXT(buf_text(&words), want);
}

/* Refusals. */

static void refusals_name_the_ways_of_the_examples(void)
{
    open_example("jobs");
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    equal("shop_id", "s");
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    end();
    open_example("index-settings");
    check_error("prod.t needs one of: account; shopify_domain");
    equal("index_name", "s");
    check_error("prod.t needs one of: account; shopify_domain");
    end();
    open_example("shops");
    check_error("prod.t needs one of: domain; system_account_id");
    end();
}

static void an_unusable_constraint_is_no_way(void)
{
    open_example("jobs");
    equal("job_id", "1");
    query.constraints[0].is_usable = false;
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    again();
    with("job_id", SQL_OP_IS, text("1"));
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    again();
    with_text("job_id", SQL_OP_GE, "1");
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    end();
}

static void secrets_are_not_compared(void)
{
    open_example("shops");
    equal("domain", "d");
    equal("api_key", "x");
    check_error("api_key of prod.t is a secret, and its values are masked, so no condition can "
                "compare them; add --show-secrets");
    again();
    equal("domain", "d");
    with("api_key", SQL_OP_NOT_NULL, text(""));
    check_access("by its key (domain)");
    end();
}

/* The examples. */

static void jobs_by_their_key(void)
{
    open_example("jobs");
    equal("platform", "shopify");
    equal("shop_id", "s");
    check_access("by its key (platform, shop_id)");
    check_lookups("pk = \"PLATFORM#shopify#SHOP#s\" and sk begins with \"JOB#\"");
    with_text("created_at", SQL_OP_GE, "2026-04");
    with_text("created_at", SQL_OP_LE, "2026-05");
    check_lookups("pk = \"PLATFORM#shopify#SHOP#s\" and sk between \"JOB#2026-04\" and "
                  "\"JOB#2026-05$\"");
    equal("created_at", "2026-04-16");
    check_lookups("pk = \"PLATFORM#shopify#SHOP#s\" and sk begins with \"JOB#2026-04-16#\"");
    equal("job_id", "j");
    check_access("by its key (platform, shop_id, created_at, job_id)");
    check_lookups("pk = \"PLATFORM#shopify#SHOP#s\" and sk = \"JOB#2026-04-16#j\"");
    CHECK_INT(sql_access_kind_of(query.access), SQL_ACCESS_KEYS);
    CHECK(sql_access_is_unique(query.access));
    end();
}

static void jobs_by_indexes(void)
{
    open_example("jobs");
    equal("job_id", "j");
    check_access("by GSI_JobLookup_v2 (job_id)");
    check_lookups("GSI_JobLookup_v2: job_id = \"j\"");
    query.all_used = true;
    check_lookups("GSI_JobLookup_v2: job_id = \"j\" hydrated");
    with_text("created_at", SQL_OP_LIKE, "2026-04%");
    check_lookups("GSI_JobLookup_v2: job_id = \"j\" and created_at begins with \"2026-04\" "
                  "hydrated");
    again();
    equal("shop_id", "s");
    equal("status", "FAILED");
    check_access("by GSI_JobsByStatus_v2 (shop_id, status)");
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\" and status_created_at begins with "
                  "\"FAILED#\"");
    with_text("created_at", SQL_OP_GT, "2026");
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\" and status_created_at between "
                  "\"FAILED#2026\" and \"FAILED$\"");
    end();
}

static void a_range_of_a_part_proves_that_an_index_has_the_row(void)
{
    open_example("jobs");
    equal("shop_id", "s");
    with_text("status", SQL_OP_GT, "C");
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\" and status_created_at >= \"C\"");
    again();
    equal("shop_id", "s");
    with("status", SQL_OP_NOT_NULL, text(""));
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\"");
    again();
    equal("shop_id", "s");
    with("status_created_at", SQL_OP_NOT_NULL, text(""));
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\"");
    again();
    equal("shop_id", "s");
    with("status", SQL_OP_OTHER, text(""));
    check_error("prod.t needs one of: job_id; platform and shop_id; shop_id and status");
    end();
}

/* Other kinds than "index" have the part index_name, and no path promises that they are in the
 * index by name. */
static void a_sparse_index_is_not_used(void)
{
    open_example("index-settings");
    equal("account", "a");
    check_access("by its key (account)");
    check_lookups("pk = \"a\" and sk begins with \"INDEX#\"");
    equal("index_name", "i");
    check_access("by its key (account, index_name)");
    check_lookups("pk = \"a\" and sk between \"INDEX#i\" and \"INDEX#i#QUERY$\"");
    with_text("profile", SQL_OP_EQ, "p");
    check_lookups("pk = \"a\" and sk = \"INDEX#i#PROFILE#SEARCH#p\"");
    with_text("query", SQL_OP_EQ, "q");
    check_access("no row can match");
    check_lookups("");
    again();
    equal("pk", "a");
    check_lookups("pk = \"a\"");
    again();
    equal("shopify_domain", "d");
    check_lookups("GSI_ShopifyDomain: shopify_domain = \"d\"");
    with_text("index_name", SQL_OP_EQ, "i");
    check_lookups("GSI_ShopifyDomain: shopify_domain = \"d\" and sk between \"INDEX#i\" and "
                  "\"INDEX#i#QUERY$\"");
    end();
}

static void shops(void)
{
    open_example("shops");
    equal("domain", "d");
    check_lookups("pk = \"SHOP#d\" and sk between \"API_KEY\" and \"USER$\"");
    with_text("user_id", SQL_OP_EQ, "u");
    check_lookups("pk = \"SHOP#d\" and sk = \"USER#u\"");
    again();
    equal("system_account_id", "a");
    check_lookups("GSI_SystemAccountId: system_account_id = \"a\"");
    with_text("domain", SQL_OP_EQ, "d");
    CHECK_INT(sql_access_kind_of(query.access), SQL_ACCESS_QUERY);
    end();
}

static void a_named_index_is_its_items(void)
{
    open_example("jobs");
    query.index = model_find_index(query.columns->model, "GSI_JobsByStatus_v2");
    check_error("prod.t needs shop_id");
    equal("shop_id", "s");
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\"");
    again();
    query.index = model_find_index(query.columns->model, "GSI_JobLookup_v2");
    equal("platform", "p");
    equal("shop_id", "s");
    check_error("prod.t needs job_id");
    query.may_scan = true;
    check_lookups("GSI_JobLookup_v2: scan");
    end();
}

static void scans_are_the_last_resort(void)
{
    open_example("jobs");
    query.may_scan = true;
    check_access("by a scan");
    check_lookups("scan");
    CHECK(!sql_access_is_ordered(query.access) || query.order_count == 0);
    equal("job_id", "j");
    check_lookups("GSI_JobLookup_v2: job_id = \"j\"");
    end();
}

/* Values. */

static const char *const number_table =
    "\"table\":\"T\",\"types\":{\"n\":\"N\",\"b\":\"B\"},"
    "\"records\":{\"a\":{\"pk\":\"A#{email:lower}\",\"n\":\"{at}\"}},"
    "\"indexes\":{\"i\":{\"partition\":\"b\",\"sort\":{\"s\":\"{score:05}#{tag}\"},"
    "\"projects\":\"all\"}},\"attributes\":{\"score\":[],\"tag\":[]},"
    "\"paths\":{\"{email}/\":{\"list\":\"a\"},"
    "\"i/{b}/\":{\"list\":\"a\",\"index\":\"i\"}}";

static void values_of_numbers(void)
{
    open_table(number_table);
    equal("email", "ann");
    with("at", SQL_OP_EQ, real(0.1));
    check_lookups("pk = \"A#ann\" and n = 0.1");
    query.values[1] = text(" 1e2 ");
    check_lookups("pk = \"A#ann\" and n = 1e2");
    query.values[1] = text("abc");
    check_lookups("");
    query.values[1] = (struct sql_value){.type = SQL_NULL};
    check_lookups("");
    query.values[1] = text("12345678901234567890.5");
    check_lookups("pk = \"A#ann\" and n = 12345678901234567890.5");
    query.values[1] = text("1e400");
    check_lookups("");
    again();
    equal("email", "ann");
    with("at", SQL_OP_GT, text("abc"));
    check_lookups("");
    query.constraints[1].op = SQL_OP_LT;
    check_lookups("pk = \"A#ann\"");
    query.values[1] = integer(7);
    check_lookups("pk = \"A#ann\" and n <= 7");
    query.values[1] = real(1e300);
    check_lookups("pk = \"A#ann\"");
    query.values[1] = real(-1e300);
    check_lookups("");
    query.values[1] = real(-1e-300);
    check_lookups("pk = \"A#ann\" and n <= 0");
    query.values[1] = real(0.1 + 0.2);
    check_lookups("pk = \"A#ann\" and n <= 0.3000000000000001");
    query.constraints[1].op = SQL_OP_GT;
    check_lookups("pk = \"A#ann\" and n >= 0.29999999999999999");
    end();
}

static void lost_digits_are_an_error(void)
{
    struct error err = {0};
    struct sql_lookup *lookups;
    size_t count;
    open_table(number_table);
    equal("email", "ann");
    with("at", SQL_OP_EQ, real(12345678901234567890.0));
    CHECK(find(&err));
    CHECK(!sql_access_bind(query.access, query.values, &query.arena, &lookups, &count, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_HAS(err.text, "write the number as a text, in single quotes");
    query.values[1] = real(1e38); /* perhaps 99999999999999999999999999999999999999 in a list */
    CHECK(!sql_access_bind(query.access, query.values, &query.arena, &lookups, &count, &err));
    end();
}

static void values_of_texts(void)
{
    open_table("\"table\":\"T\",\"records\":{\"a\":{\"pk\":\"A#{x}\",\"sk\":\"{y}#{z*}\"}},"
               "\"paths\":{\"{x}/\":{\"list\":\"a\"}}");
    with("x", SQL_OP_EQ, integer(5));
    check_lookups("pk = \"A#5\"");
    query.values[0] = real(5);
    check_lookups("pk = \"A#5.0\"");
    query.values[0] = text("a#b"); /* no part holds the separator */
    check_lookups("");
    query.values[0] = text("");
    check_lookups("pk = \"A#\"");
    query.values[0] = (struct sql_value){.type = SQL_BLOB, .bytes = span_text("a")};
    check_lookups("");
    query.values[0] = text("\xff");
    check_lookups("");
    again();
    equal("pk", "A");
    check_lookups("pk = \"A\"");
    query.values[0] = text("");
    check_lookups("");
    char *longest = arena_alloc(&query.arena, 2050);
    memset(longest, 'a', 2049);
    query.values[0] = text(longest);
    check_lookups("");
    end();
}

static void an_attribute_may_hold_the_separator(void)
{
    open_table("\"table\":\"T\",\"records\":{\"a\":{\"pk\":\"{pk}\",\"sk\":\"A#{y}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"d\",\"projects\":\"all\"}},"
               "\"paths\":{\"{pk}/\":{\"list\":\"a\"}}");
    equal("d", "a#b");
    check_lookups("I: d = \"a#b\"");
    again();
    equal("pk", "a#b");
    with_text("y", SQL_OP_EQ, "c");
    check_lookups("pk = \"a#b\" and sk = \"A#c\"");
    query.values[1] = text("c#d");
    check_lookups("");
    end();
}

static void numbers_in_texts(void)
{
    open_table("\"table\":\"T\",\"types\":{\"n\":\"N\"},"
               "\"records\":{\"a\":{\"pk\":\"A#{x}\",\"n\":\"{at}\"}},"
               "\"indexes\":{\"i\":{\"partition\":{\"p\":\"AT#{at}\"},\"projects\":\"all\"}},"
               "\"paths\":{\"i/{at}/\":{\"list\":\"a\",\"index\":\"i\"}}");
    with("at", SQL_OP_EQ, real(5));
    check_lookups("i: p = \"AT#5\"");
    query.values[0] = text("1.50e2");
    check_lookups("i: p = \"AT#150\"");
    query.values[0] = text("-0.0125");
    check_lookups("i: p = \"AT#-0.0125\"");
    query.values[0] = text("12.5");
    check_lookups("i: p = \"AT#12.5\"");
    query.values[0] = integer(0);
    check_lookups("i: p = \"AT#0\"");
    query.values[0] = text("x");
    check_lookups("");
    end();
}

static void spelled_parts(void)
{
    open_table(number_table);
    equal("email", "Ann");
    check_lookups("");
    again();
    with("b", SQL_OP_EQ, text("x"));
    with("score", SQL_OP_EQ, integer(42));
    check_lookups("");
    query.values[0] = (struct sql_value){.type = SQL_BLOB, .bytes = span_text("ab")};
    check_lookups("i: b = {\"B\":\"YWI=\"} and s begins with \"00042#\"");
    query.values[1] = text("42.0");
    check_lookups("i: b = {\"B\":\"YWI=\"} and s begins with \"00042#\"");
    query.values[1] = real(4.5);
    check_lookups("");
    query.values[1] = integer(-1);
    check_lookups("");
    query.values[1] = integer(100000);
    check_lookups("");
    query.values[1] = integer(0);
    check_lookups("i: b = {\"B\":\"YWI=\"} and s begins with \"00000#\"");
    query.constraints[1].op = SQL_OP_GT;
    query.values[1] = real(41.5);
    with("score", SQL_OP_LT, integer(1000000));
    check_lookups("i: b = {\"B\":\"YWI=\"} and s >= \"00041\"");
    query.values[2] = integer(50);
    check_lookups("i: b = {\"B\":\"YWI=\"} and s between \"00041\" and \"00051\"");
    end();
}

/* Ranges. */

static void an_upper_bound_is_cut_below_the_separator(void)
{
    open_table("\"table\":\"T\",\"records\":{\"a\":{\"pk\":\"A#{x}\",\"sk\":\"S#{y}#{z}\"}},"
               "\"paths\":{\"{x}/\":{\"list\":\"a\"}}");
    equal("x", "1");
    with_text("y", SQL_OP_LE, "ab!c");
    check_lookups("pk = \"A#1\" and sk between \"S#\" and \"S#ac\"");
    query.values[1] = text("ab$c");
    check_lookups("pk = \"A#1\" and sk between \"S#\" and \"S#ab$c$\"");
    with_text("y", SQL_OP_GE, "ab!c");
    check_lookups("pk = \"A#1\" and sk between \"S#ab!c\" and \"S#ab$c$\"");
    query.values[2] = text("b");
    check_lookups("");
    again();
    equal("x", "1");
    with_text("y", SQL_OP_GLOB, "a[b]*");
    check_lookups("pk = \"A#1\" and sk begins with \"S#a\"");
    query.constraints[1].op = SQL_OP_BEGINS;
    check_lookups("pk = \"A#1\" and sk begins with \"S#a[b]*\"");
    query.constraints[1].op = SQL_OP_LIKE;
    query.values[1] = text("%x");
    check_lookups("pk = \"A#1\" and sk begins with \"S#\"");
    end();
}

#define FEED(attributes)                                                                           \
    "\"table\":\"T\"," attributes "\"records\":{"                                                  \
    "\"user\":{\"pk\":\"USER#{user}\",\"sk\":\"PROFILE\"},"                                        \
    "\"order\":{\"pk\":\"USER#{user}\",\"sk\":\"ORDER#{at}\"},"                                    \
    "\"flag\":{\"pk\":\"CONFIG\",\"sk\":\"FLAG#{flag}\"},"                                         \
    "\"part\":{\"pk\":\"ORDER#{at}\",\"sk\":\"PART#{part}\"}},"                                    \
    "\"indexes\":{\"gsi1\":{\"partition\":{\"gsi1pk\":{\"order\":\"AT#{at}\",\"flag\":\"FLAG\"}}," \
    "\"sort\":{\"gsi1sk\":{\"order\":\"U#{user}\",\"flag\":\"{flag}\"}},\"projects\":\"all\"}},"   \
    "\"paths\":{\"users/{user}/\":{\"list\":[\"user\",\"order\"]},"                                \
    "\"at/{at}/\":{\"list\":\"order\",\"index\":\"gsi1\"},"                                        \
    "\"flags/\":{\"list\":\"flag\",\"index\":\"gsi1\"}}"

#define NO_ATTRIBUTES "\"attributes\":{\"user\":[],\"at\":[],\"flag\":[],\"part\":[]},"

static void formats_by_kind(void)
{
    open_table(FEED(NO_ATTRIBUTES));
    check_error("prod.t needs one of: user; flag; at and part");
    equal("flag", "f");
    check_lookups("pk = \"CONFIG\" and sk = \"FLAG#f\"");
    again();
    with("flag", SQL_OP_NOT_NULL, text(""));
    check_lookups("pk = \"CONFIG\" and sk begins with \"FLAG#\"");
    again();
    equal("user", "u");
    check_lookups("pk = \"USER#u\" and sk between \"ORDER#\" and \"PROFILE\"");
    equal("at", "a");
    check_lookups("pk = \"USER#u\" and sk = \"ORDER#a\"");
    again();
    equal("at", "a"); /* orders and parts, which are in two places */
    check_error("prod.t needs one of: user; flag; at and part");
    again();
    equal("at", "a");
    equal("part", "p");
    check_lookups("pk = \"ORDER#a\" and sk = \"PART#p\"");
    end();
}

/* An attribute of any kind may have the name of another kind's part. */
static void a_part_alone_does_not_exclude_other_kinds(void)
{
    open_table(FEED(""));
    check_error("prod.t needs one of: user and at; pk; gsi1pk and gsi1sk");
    equal("flag", "f");
    check_error("prod.t needs one of: user and at; pk; gsi1pk and gsi1sk; items of the kind user "
                "may have the attribute flag, unless \"attributes\" of the map excludes it");
    again();
    equal("user", "u");
    equal("at", "a");
    check_lookups("pk = \"USER#u\" and sk between \"ORDER#a\" and \"PROFILE\"\n"
                  "pk = \"CONFIG\" and sk begins with \"FLAG#\"\n"
                  "pk = \"ORDER#a\" and sk begins with \"PART#\"");
    end();
    open_table(FEED("\"attributes\":{\"user\":\"part\",\"at\":[],\"flag\":[\"user\",\"order\"]},"));
    equal("user", "u");
    check_error("prod.t needs one of: user and at; pk; gsi1pk and gsi1sk");
    equal("at", "a");
    check_lookups("pk = \"USER#u\" and sk = \"ORDER#a\"\n"
                  "pk = \"ORDER#a\" and sk begins with \"PART#\"");
    equal("flag", "f");
    check_lookups("pk = \"USER#u\" and sk = \"ORDER#a\"");
    end();
}

/* The table's key, and an index that one kind has in a format of its own. */
static void a_key_attribute_is_no_part_of_an_index(void)
{
    open_table("\"table\":\"T\",\"records\":{"
               "\"task\":{\"tenant\":\"{tenant}\",\"sk\":\"TASK#{task}\"},"
               "\"user\":{\"tenant\":\"{tenant}\",\"sk\":\"USER#{user}\"}},"
               "\"indexes\":{\"i\":{\"partition\":{\"p\":{\"task\":\"{tenant}#{status}\"}},"
               "\"projects\":\"all\"}},"
               "\"paths\":{\"{tenant}/{status}/\":{\"list\":\"task\",\"index\":\"i\"}}");
    equal("tenant", "acme");
    check_lookups("tenant = \"acme\"");
    equal("status", "open"); /* users may have it as an attribute */
    check_lookups("tenant = \"acme\" and sk between \"TASK#\" and \"USER$\"");
    end();
}

/* The kind "post" has the part at, and no format in the index. */
static void the_attribute_of_an_index_is_named_itself(void)
{
    static const char *const table =
        "\"table\":\"T\",\"records\":{"
        "\"post\":{\"pk\":\"P#{who}\",\"sk\":\"POST#{%s}\"},"
        "\"account\":{\"pk\":\"A#{who}\",\"sk\":\"INFO\"}},"
        "\"indexes\":{\"i\":{\"partition\":\"patient\",\"sort\":{\"at\":{\"account\":\"{at_key}\"}}"
        ","
        "\"projects\":\"all\"%s}},\"paths\":{\"{who}/\":{\"list\":\"post\"}}";
    CLEAN_UP(buf_clean_up) struct buf other = {0}, same = {0}, held = {0};
    buf_printf(&other, table, "time", "");
    buf_printf(&same, table, "at", "");
    buf_printf(&held, table, "at", ",\"holds\":\"post\"");
    open_table(buf_text(&other));
    equal("patient", "p");
    check_error("prod.t needs one of: who; patient and at");
    with_text("at", SQL_OP_GE, "2026");
    check_lookups("i: patient = \"p\" and at >= \"2026\"");
    end();
    open_table(buf_text(&same));
    equal("patient", "p");
    check_error("prod.t needs who");
    with_text("at", SQL_OP_GE, "2026"); /* a post without the attribute has the part */
    check_error("prod.t needs who; items of the kind account may have the attribute at, unless "
                "\"attributes\" of the map excludes it");
    end();
    open_table(buf_text(&held));
    equal("patient", "p");
    check_error("prod.t needs one of: who; patient and at");
    with_text("at", SQL_OP_GE, "2026");
    check_lookups("i: patient = \"p\""); /* no format of posts narrows it */
    end();
}

/* SQLite compares the number as a text of 15 digits, because the part's column is a text: this is
 * equal to 0.12345678901234568, which no key of the same digits finds. */
static void a_number_beside_a_text_part_is_no_key_of_the_index(void)
{
    open_table(
        "\"table\":\"T\",\"records\":{"
        "\"post\":{\"pk\":\"P#{who}\",\"sk\":\"POST#{n}\"},"
        "\"account\":{\"pk\":\"A#{owner}\",\"sk\":\"INFO\"}},"
        "\"attributes\":{\"owner\":[]},"
        "\"indexes\":{\"i\":{\"partition\":\"patient\",\"sort\":\"n\",\"projects\":\"all\"}},"
        "\"types\":{\"n\":\"N\"},\"paths\":{\"{who}/\":{\"list\":\"post\"}}");
    query.index = model_find_index(query.columns->model, "i");
    equal("patient", "p");
    equal("owner", "o");
    equal("n", "0.123456789012346");
    check_lookups("i: patient = \"p\"");
    end();
}

/* The column is read from the key of i, which may have another value than that of j: no path
 * promises that i has the item. */
static void a_part_of_another_index_needs_both_promises(void)
{
    static const char *const table =
        "\"table\":\"T\",\"records\":{\"task\":{\"pk\":\"T#{task}\"}},"
        "\"attributes\":{\"state\":[],\"at\":[]},\"indexes\":{"
        "\"i\":{\"partition\":\"region\",\"sort\":{\"s\":\"{state}#{at}\"},\"projects\":\"all\"},"
        "\"j\":{\"partition\":{\"g\":\"{state}\"},\"projects\":\"all\"}},"
        "\"paths\":{%s\"{state}/\":{\"list\":\"task\",\"index\":\"j\"}}";
    CLEAN_UP(buf_clean_up) struct buf one = {0}, both = {0};
    buf_printf(&one, table, "");
    buf_printf(&both, table, "\"in/{region}/\":{\"list\":\"task\",\"index\":\"i\"},");
    open_table(buf_text(&one));
    equal("state", "open");
    check_error("prod.t needs one of: task; region and state");
    end();
    open_table(buf_text(&both));
    equal("state", "open");
    check_lookups("j: g = \"open\"");
    end();
}

static void kinds_in_several_partitions(void)
{
    open_table("\"table\":\"T\",\"records\":{"
               "\"a\":{\"pk\":\"A#{x}\",\"sk\":\"{y}\"},\"b\":{\"pk\":\"B#{x}\",\"sk\":\"{y}\"}},"
               "\"paths\":{\"{x}/\":{\"list\":\"a\"}}");
    equal("x", "1");
    check_lookups("pk = \"A#1\"\npk = \"B#1\"");
    CHECK(sql_access_rows(query.access) > 300);
    equal("y", "2");
    check_lookups("pk = \"A#1\" and sk = \"2\"\npk = \"B#1\" and sk = \"2\"");
    CHECK_INT(sql_access_kind_of(query.access), SQL_ACCESS_KEYS);
    CHECK(!sql_access_is_unique(query.access));
    end();
}

static void tables_without_a_map(void)
{
    struct arena arena = {0};
    struct findings findings = {0};
    struct table_info info = {0};
    struct index_info index = {.name = SPAN_LITERAL("byMail")};
    info.keys.partition[0].name = span_text("customer_id");
    info.keys.sort[0].name = span_text("order_id");
    info.keys.partition_count = info.keys.sort_count = 1;
    index.keys.partition[0].name = span_text("mail");
    index.keys.sort[0].name = span_text("state");
    index.keys.sort[1].name = span_text("day");
    index.keys.partition_count = 1;
    index.keys.sort_count = 2;
    info.indexes = &index;
    info.index_count = 1;
    struct declared_table *table = generic_view_declare_table(&arena, "Orders", &info);
    const struct model *model = table ? compile_table(table, &findings) : NULL;
    CHECK(model != NULL);
    begin(sql_columns_new(model, false));
    model_unref(model);
    findings_clean_up(&findings);
    arena_clean_up(&arena);
    check_error("prod.t needs one of: customer_id; mail and state and day");
    equal("customer_id", "c1");
    with_text("order_id", SQL_OP_GE, "2026-04");
    with_text("order_id", SQL_OP_LE, "2026-05");
    check_lookups("customer_id = \"c1\" and order_id between \"2026-04\" and \"2026-05\"");
    again();
    equal("mail", "m");
    check_error("prod.t needs one of: customer_id; mail and state and day");
    equal("state", "s");
    with_text("day", SQL_OP_LIKE, "2026%");
    check_lookups("byMail: mail = \"m\" and state = \"s\" and day begins with \"2026\"");
    end();
}

/* Filters. */

static void check_filter(enum sql_op op, struct sql_value value, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf all = {0};
    buf_printf(&all, "pk = \"SHOP#d\" and sk between \"API_KEY\" and \"USER$\"%s%s",
               *want ? " filter " : "", want);
    again();
    equal("domain", "d");
    with("state", op, value);
    check_lookups(buf_text(&all));
}

static void filters_drop_what_sqlite_drops(void)
{
    struct sql_value blob = {.type = SQL_BLOB, .bytes = SPAN_LITERAL("ab")};
    open_example("shops");
    check_filter(SQL_OP_EQ, text("open"), "state = \"open\"");
    check_filter(SQL_OP_EQ, text("5"), "state exists"); /* may be equal to a number */
    check_filter(SQL_OP_EQ, text("[1]"), "state exists");
    check_filter(SQL_OP_EQ, text("\xff"), "state exists");
    check_filter(SQL_OP_EQ, text(""), "state exists");
    check_filter(SQL_OP_GT, text("m"), "state exists and not (state <= \"m\")");
    check_filter(SQL_OP_EQ, integer(5), "state exists and not (state < 5) and not (state > 5)");
    check_filter(SQL_OP_LT, integer(5), "state exists and not (state >= 5)");
    check_filter(SQL_OP_LE, real(0.5), "state exists and not (state > 0.5)");
    check_filter(SQL_OP_GT, integer(5), "state exists"); /* any text is greater */
    check_filter(SQL_OP_LT, integer(INT64_MAX), "state exists");
    check_filter(SQL_OP_LT, real(0.1 + 0.2), "state exists");
    check_filter(SQL_OP_EQ, blob, "state = {\"B\":\"YWI=\"}");
    check_filter(SQL_OP_LIKE, text("op%"),
                 "state exists and not (state < \"op\") and not (state >= \"oq\")");
    check_filter(SQL_OP_LIKE, text("%op"), "state exists");
    check_filter(SQL_OP_NE, text("open"), "");
    check_filter(SQL_OP_IS, text("open"), "");
    check_filter(SQL_OP_OTHER, text("open"), "");
    end();
}

static void filters_test_what_the_index_has(void)
{
    open_example("jobs");
    equal("shop_id", "s");
    equal("status", "FAILED");
    equal("done", "yes"); /* the map does not have the attributes of the index */
    check_lookups("GSI_JobsByStatus_v2: shop_id = \"s\" and status_created_at begins with "
                  "\"FAILED#\" hydrated");
    again();
    equal("pk", "p");
    equal("done", "yes");
    check_lookups("pk = \"p\" filter done = \"yes\"");
    query.values[1] = (struct sql_value){.type = SQL_NULL};
    check_lookups("");
    end();
}

/* Order and limit. */

static void order_of_parts(void)
{
    open_example("jobs");
    equal("platform", "p");
    equal("shop_id", "s");
    order_by("created_at", true);
    with("", SQL_OP_LIMIT, integer(10));
    check_lookups("pk = \"PLATFORM#p#SHOP#s\" and sk begins with \"JOB#\" descending first 10");
    CHECK(sql_access_is_ordered(query.access) && sql_access_takes(query.access, 2));
    order_by("job_id", true);
    CHECK(find(NULL) && sql_access_is_ordered(query.access));
    query.order[1].descending = false;
    CHECK(find(NULL) && !sql_access_is_ordered(query.access));
    CHECK(!sql_access_takes(query.access, 2));
    query.order[0] = (struct sql_order){column("shop_id"), false};
    query.order[1] = (struct sql_order){column("created_at"), true};
    CHECK(find(NULL) && sql_access_is_ordered(query.access));
    query.order[1].column = column("job_id");
    CHECK(find(NULL) && !sql_access_is_ordered(query.access));
    query.order[0].column = column("sk");
    CHECK(find(NULL) && sql_access_is_ordered(query.access));
    query.order[0].column = column("done");
    CHECK(find(NULL) && !sql_access_is_ordered(query.access));
    end();
}

static bool keeps_order(const char *a, const char *b)
{
    CLEAN_UP(json_clean_up) struct json_doc one = {0}, other = {0};
    CLEAN_UP(sql_row_clean_up) struct sql_row row = {0}, next = {0};
    struct error err = {0};
    CHECK(json_parse(&one, span_text(a), 0, NULL) && json_parse(&other, span_text(b), 0, NULL));
    CHECK(sql_row_begin(&row, query.columns, json_root(&one), &err));
    CHECK(sql_row_begin(&next, query.columns, json_root(&other), &err));
    CHECK(sql_access_keeps_order(query.access, &row, NULL, &err));
    bool keeps = sql_access_keeps_order(query.access, &row, &next, &err);
    CHECK_INT(err.kind, ERROR_NONE);
    return keeps;
}

#define JOB(created) "{\"pk\":{\"S\":\"PLATFORM#p#SHOP#s\"},\"sk\":{\"S\":\"JOB#" created "#1\"}}"

static void order_is_tested_row_by_row(void)
{
    open_example("jobs");
    equal("platform", "p");
    equal("shop_id", "s");
    order_by("created_at", false);
    CHECK(find(NULL));
    CHECK(keeps_order(JOB("a"), JOB("b")));
    CHECK(keeps_order(JOB("a"), JOB("a")));
    CHECK(!keeps_order(JOB("a!"), JOB("a"))); /* the order of the keys */
    query.order[0].descending = true;
    CHECK(find(NULL));
    CHECK(keeps_order(JOB("a"), JOB("a")));
    CHECK(!keeps_order(JOB("a"), JOB("b")));
    end();
}

static void several_kinds_are_ordered_if_their_keys_begin_alike(void)
{
    open_example("index-settings");
    equal("account", "a");
    with("profile", SQL_OP_NOT_NULL, text(""));
    order_by("index_name", false);
    CHECK(find(NULL) && sql_access_is_ordered(query.access));
    query.constraint_count = 1;
    CHECK(find(NULL) && !sql_access_is_ordered(query.access));
    with("index_name", SQL_OP_NOT_NULL, text(""));
    CHECK(find(NULL) && sql_access_is_ordered(query.access));
    end();
}

/* Costs. */

static double cost_of(const char *a, const char *b, const char *c)
{
    again();
    equal(a, "1");
    if (b)
        equal(b, "1");
    if (c)
        with_text(c, SQL_OP_GT, "1");
    query.all_used = true;
    CHECK(find(NULL));
    return sql_access_cost(query.access);
}

static void cheaper_is_chosen(void)
{
    open_example("jobs");
    double partition = cost_of("platform", "shop_id", NULL);
    double narrow = cost_of("platform", "shop_id", "created_at");
    double hydrated = cost_of("shop_id", "status", NULL);
    double one = cost_of("job_id", NULL, NULL);
    double key = cost_of("pk", "sk", NULL);
    query.may_scan = true;
    query.constraint_count = 0;
    CHECK(find(NULL));
    double scan = sql_access_cost(query.access);
    CHECK(key < one && one < narrow && narrow < hydrated && hydrated < partition);
    CHECK(partition < scan);
    end();
}

static void a_list_is_taken_only_by_keys(void)
{
    open_example("jobs");
    equal("platform", "p");
    equal("shop_id", "s");
    equal("done", "yes");
    query.constraints[2].is_list = true;
    check_lookups("pk = \"PLATFORM#p#SHOP#s\" and sk begins with \"JOB#\"");
    CHECK(!sql_access_takes(query.access, 2));
    query.constraints[2].column = column("created_at");
    CHECK(find(NULL) && sql_access_takes(query.access, 2));
    query.constraints[2].column = column("job_id");
    check_access("by GSI_JobLookup_v2 (job_id)");
    end();
}

static void identities_of_lookups(void)
{
    CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0};
    struct sql_lookup *lookups;
    struct error err = {0};
    size_t count;
    open_table("\"table\":\"T\",\"records\":{"
               "\"a\":{\"pk\":\"A#{x}\",\"sk\":\"{y}\"},\"b\":{\"pk\":\"B#{x}\",\"sk\":\"{y}\"}},"
               "\"paths\":{\"{x}/\":{\"list\":\"a\"}}");
    equal("x", "1");
    CHECK(find(&err));
    CHECK(sql_access_bind(query.access, query.values, &query.arena, &lookups, &count, &err));
    CHECK_INT(count, 2);
    sql_lookup_write_identity(&lookups[0], &a);
    sql_lookup_write_identity(&lookups[0], &b);
    CHECK_SPAN(buf_span(&a), buf_span(&b));
    buf_truncate(&b, 0);
    sql_lookup_write_identity(&lookups[1], &b);
    CHECK(!span_equal(buf_span(&a), buf_span(&b)));
    end();
}

static const struct check_test tests[] = {
    {"refusals_name_the_ways_of_the_examples", refusals_name_the_ways_of_the_examples},
    {"an_unusable_constraint_is_no_way", an_unusable_constraint_is_no_way},
    {"secrets_are_not_compared", secrets_are_not_compared},
    {"jobs_by_their_key", jobs_by_their_key},
    {"jobs_by_indexes", jobs_by_indexes},
    {"a_range_of_a_part_proves_that_an_index_has_the_row",
     a_range_of_a_part_proves_that_an_index_has_the_row},
    {"a_sparse_index_is_not_used", a_sparse_index_is_not_used},
    {"shops", shops},
    {"a_named_index_is_its_items", a_named_index_is_its_items},
    {"scans_are_the_last_resort", scans_are_the_last_resort},
    {"values_of_numbers", values_of_numbers},
    {"lost_digits_are_an_error", lost_digits_are_an_error},
    {"values_of_texts", values_of_texts},
    {"an_attribute_may_hold_the_separator", an_attribute_may_hold_the_separator},
    {"numbers_in_texts", numbers_in_texts},
    {"spelled_parts", spelled_parts},
    {"an_upper_bound_is_cut_below_the_separator", an_upper_bound_is_cut_below_the_separator},
    {"formats_by_kind", formats_by_kind},
    {"a_part_alone_does_not_exclude_other_kinds", a_part_alone_does_not_exclude_other_kinds},
    {"a_key_attribute_is_no_part_of_an_index", a_key_attribute_is_no_part_of_an_index},
    {"the_attribute_of_an_index_is_named_itself", the_attribute_of_an_index_is_named_itself},
    {"a_number_beside_a_text_part_is_no_key_of_the_index",
     a_number_beside_a_text_part_is_no_key_of_the_index},
    {"a_part_of_another_index_needs_both_promises", a_part_of_another_index_needs_both_promises},
    {"kinds_in_several_partitions", kinds_in_several_partitions},
    {"tables_without_a_map", tables_without_a_map},
    {"filters_drop_what_sqlite_drops", filters_drop_what_sqlite_drops},
    {"filters_test_what_the_index_has", filters_test_what_the_index_has},
    {"order_of_parts", order_of_parts},
    {"order_is_tested_row_by_row", order_is_tested_row_by_row},
    {"several_kinds_are_ordered_if_their_keys_begin_alike",
     several_kinds_are_ordered_if_their_keys_begin_alike},
    {"cheaper_is_chosen", cheaper_is_chosen},
    {"a_list_is_taken_only_by_keys", a_list_is_taken_only_by_keys},
    {"identities_of_lookups", identities_of_lookups},
};

CHECK_MAIN(tests)
