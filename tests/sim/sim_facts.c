/* The oracle of the files that show what the service states about a table. */
#include "tests/sim/sim_facts.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

const char *const sim_fact_names[] = {"schema.json",  "ttl.json",    "backups.json",
                                      "exports.json", "stream.json", NULL};

/* Whether two values are the same; of numbers, whether they are equal. */
static bool sim_fact_same(const struct sim_json *a, const struct sim_json *b)
{
    if (!a || !b || a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == SIM_JSON_NUMBER)
        return strcmp(a->bytes, b->bytes) == 0 || strtod(a->bytes, NULL) == strtod(b->bytes, NULL);
    if (a->kind == SIM_JSON_STRING)
        return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
    bool same = true;
    for (size_t i = 0; same && i < a->count; i++)
        same =
            sim_fact_same(&a->members[i], a->names ? sim_json_get(b, a->names[i]) : &b->members[i]);
    return same;
}

/* The whole response of OPERATION for TABLE, without faults. False: it has none. */
static bool sim_fact_answer(const char *operation, const struct sim_table *table,
                            struct sim_json *out)
{
    struct sim_dice dice = sim_dice_for("facts", 0);
    struct sim_mood mood = {.dice = &dice, .describe_more = sim_vectors_describe};
    struct sim_text text = {0};
    struct sim_json request;
    struct sim_outcome outcome;
    if (strcmp(operation, "ListExports") == 0) {
        sim_text_puts(&text, "{\"TableArn\":\"");
        sim_tables_write_arn(&text, table);
        sim_text_puts(&text, "\"}");
    } else {
        sim_text_printf(&text, "{\"TableName\":\"%s\"}", table->name);
    }
    bool ok = sim_json_parse(&request, text.bytes, text.size) &&
              sim_tables_answer(operation, &request, &mood, &outcome) && !outcome.code &&
              sim_json_parse(out, outcome.body.bytes, outcome.body.size);
    sim_json_free(&request);
    sim_outcome_clean_up(&outcome);
    sim_text_free(&text);
    return ok;
}

/* Compares MEMBER of a response with the file, or with the file's member if IS_MEMBER. */
static char *sim_fact_compare(const char *operation, const struct sim_table *table,
                              const char *member, const struct sim_json *file, bool is_member)
{
    struct sim_json answer;
    if (!sim_fact_answer(operation, table, &answer))
        sim_broken("%s of %s has no response", operation, table->name);
    const struct sim_json *stated = sim_json_get(&answer, member);
    const struct sim_json *shown = is_member ? sim_json_get(file, member) : file;
    char *wrong = NULL;
    /* The state of vector indexes changes. */
    bool same = stated && shown && stated->kind == shown->kind && stated->count == shown->count;
    for (size_t i = 0; same && i < stated->count; i++) {
        const char *name = stated->names ? stated->names[i] : "";
        if (strcmp(name, "VectorIndexes") == 0)
            continue;
        same = sim_fact_same(&stated->members[i],
                             stated->names ? sim_json_get(shown, name) : &shown->members[i]);
        if (!same)
            wrong = sim_printf("%s of %s is not what %s states", name, member, operation);
    }
    if (!same && !wrong)
        wrong = sim_printf("%s is not what %s states", member, operation);
    sim_json_free(&answer);
    return wrong;
}

static char *sim_fact_judge_stream(const struct sim_table *table, const struct sim_json *file)
{
    struct sim_text arn = {0};
    sim_tables_write_stream_arn(&arn, table);
    const char *shown = sim_json_text(file, "LatestStreamArn");
    bool ok = table->has_stream ? shown && strcmp(shown, arn.bytes) == 0 &&
                                      sim_json_get(file, "StreamDescription")
                                : !shown && !sim_json_get(file, "StreamDescription");
    sim_text_free(&arn);
    return ok ? NULL : sim_copy("the stream is another one");
}

static char *sim_fact_judge_json(const struct sim_table *table, const char *name,
                                 const struct sim_json *file)
{
    if (strcmp(name, "schema.json") == 0)
        return sim_fact_compare("DescribeTable", table, "Table", file, false);
    if (strcmp(name, "ttl.json") == 0)
        return sim_fact_compare("DescribeTimeToLive", table, "TimeToLiveDescription", file, false);
    if (strcmp(name, "exports.json") == 0)
        return sim_fact_compare("ListExports", table, "ExportSummaries", file, true);
    if (strcmp(name, "stream.json") == 0)
        return sim_fact_judge_stream(table, file);
    if (strcmp(name, "backups.json") != 0)
        return NULL;
    char *wrong = sim_fact_compare("ListBackups", table, "BackupSummaries", file, true);
    return wrong ? wrong
                 : sim_fact_compare("DescribeContinuousBackups", table,
                                    "ContinuousBackupsDescription", file, true);
}

char *sim_fact_judge(const struct sim_table *table, const char *name, const char *bytes,
                     size_t size)
{
    struct sim_json file;
    if (!sim_json_parse(&file, bytes, size))
        return sim_printf("it is no JSON: %.300s", bytes);
    char *wrong = sim_fact_judge_json(table, name, &file);
    sim_json_free(&file);
    return wrong;
}
