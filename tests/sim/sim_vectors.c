#include "tests/sim/sim_vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_expressions.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_world.h"

enum {
    SIM_LEAST_BYTES = 1024, /* that a search consumes */
    SIM_MOST_TOP = 100,
    SIM_MOST_DIMENSIONS = 8,
    SIM_VECTOR_LAG_MS = 1000,
};

/* The vector indexes of one table. */
struct sim_vectors {
    const struct sim_table *table;
    size_t count;
    struct sim_vector each[SIM_MOST_VECTORS];
    struct sim_vectors *next;
};

static struct sim_vectors *vector_sets;

static const char *const distance_names[] = {"COSINE", "EUCLIDEAN", "DOT_PRODUCT"};

static const struct sim_vectors *sim_vectors_begin(const struct sim_table *table)
{
    uint64_t number = 0;
    for (const char *at = table->name; *at; at++)
        number = number * 31 + (unsigned char)*at;
    struct sim_dice dice = sim_dice_for("vectors", number);
    struct sim_vectors *set = sim_alloc(sizeof *set);
    set->table = table;
    set->count = sim_dice_chance(&dice, 800) ? 0 : sim_dice_chance(&dice, 700) ? 1 : 2;
    unsigned dimensions = 1 + sim_dice_below(&dice, SIM_MOST_DIMENSIONS);
    for (size_t i = 0; i < set->count; i++)
        set->each[i] = (struct sim_vector){
            .table = table,
            .name = sim_printf("%s", i ? "by.meaning" : "similar-items"),
            .attribute = "embedding",
            .dimensions = dimensions,
            .distance = (enum sim_distance)sim_dice_below(&dice, 3),
            .partition = sim_dice_chance(&dice, 300) ? table->key.names[0] : NULL,
            .projects_all = sim_dice_chance(&dice, 300),
            .ready_ms = sim_dice_chance(&dice, 200) ? sim_dice_between(&dice, 1, 60 * 1000) : 0,
        };
    set->next = vector_sets;
    vector_sets = set;
    return set;
}

size_t sim_vectors_of(const struct sim_table *table, const struct sim_vector **out)
{
    const struct sim_vectors *set = vector_sets;
    while (set && set->table != table)
        set = set->next;
    if (!set)
        set = sim_vectors_begin(table);
    if (out)
        *out = set->each;
    return set->count;
}

/* Items. */

static void sim_vectors_draw_number(struct sim_dice *dice, struct sim_value *out)
{
    /* Thousandths, without zeros at their end: canonical digits. */
    int64_t thousandths = sim_dice_between(dice, -1500, 1500);
    bool is_negative = thousandths < 0;
    if (is_negative)
        thousandths = -thousandths;
    char text[32];
    int size = snprintf(text, sizeof text, "%s%lld.%03lld", is_negative && thousandths ? "-" : "",
                        (long long)thousandths / 1000, (long long)thousandths % 1000);
    while (text[size - 1] == '0')
        size--;
    if (text[size - 1] == '.')
        size--;
    text[size] = '\0';
    *out = (struct sim_value){.type = SIM_N, .bytes = sim_copy(text), .size = (size_t)size};
}

bool sim_vectors_draw(struct sim_dice *dice, const struct sim_table *table,
                      struct sim_attribute *out)
{
    const struct sim_vector *vectors;
    size_t count = sim_vectors_of(table, &vectors);
    if (count == 0 || sim_dice_chance(dice, 100))
        return false;
    *out = (struct sim_attribute){.name = sim_copy(vectors[0].attribute)};
    if (sim_dice_chance(dice, 30)) { /* no vector */
        out->value = (struct sim_value){.type = SIM_S, .bytes = sim_copy("none"), .size = 4};
        return true;
    }
    size_t dimensions = vectors[0].dimensions + sim_dice_chance(dice, 30);
    out->value = (struct sim_value){.type = SIM_L,
                                    .members = sim_alloc(dimensions * sizeof *out->value.members),
                                    .member_count = dimensions};
    for (size_t i = 0; i < dimensions; i++)
        sim_vectors_draw_number(dice, &out->value.members[i].value);
    return true;
}

/* DescribeTable. */

void sim_vectors_describe(struct sim_text *out, const struct sim_table *table)
{
    const struct sim_vector *vectors;
    size_t count = sim_vectors_of(table, &vectors);
    for (size_t i = 0; i < count; i++) {
        const struct sim_vector *vector = &vectors[i];
        bool is_ready = vector->ready_ms <= sim_now_ms();
        sim_text_puts(out, i ? ",{\"IndexName\":" : ",\"VectorIndexes\":[{\"IndexName\":");
        sim_text_json_string(out, vector->name, strlen(vector->name));
        sim_text_puts(out, ",\"IndexArn\":\"");
        sim_tables_write_arn(out, table);
        sim_text_printf(out,
                        "/index/%s\",\"IndexStatus\":\"%s\",\"Backfilling\":%s,\"Dimensions\":%u,"
                        "\"DistanceFunction\":\"%s\",\"VectorAttribute\":{\"AttributeName\":\"%s\"}"
                        ",\"Projection\":{\"ProjectionType\":\"%s\"}",
                        vector->name, is_ready ? "ACTIVE" : "CREATING", is_ready ? "false" : "true",
                        vector->dimensions, distance_names[vector->distance], vector->attribute,
                        vector->projects_all ? "ALL" : "KEYS_ONLY");
        if (vector->partition) {
            sim_text_puts(out, ",\"SearchSchema\":[{\"AttributeName\":");
            sim_text_json_string(out, vector->partition, strlen(vector->partition));
            sim_text_puts(out, ",\"SearchSchemaElementType\":\"HASH\"}]");
        }
        sim_text_puts(out, i + 1 == count ? "}]" : "}");
    }
}

/* Scores. Elements are 32-bit floating point numbers. */

static double sim_vectors_element(const struct sim_value *list, size_t i)
{
    return (double)strtof(list->members[i].value.bytes, NULL);
}

static bool sim_vectors_fits(const struct sim_vector *vector, const struct sim_value *list)
{
    bool fits = list && list->type == SIM_L && list->member_count == vector->dimensions;
    for (size_t i = 0; fits && i < list->member_count; i++)
        fits = list->members[i].value.type == SIM_N;
    return fits;
}

bool sim_vectors_score(const struct sim_vector *vector, const struct sim_value *like,
                       const struct sim_version *version, double *score)
{
    const struct sim_value *own = sim_version_get(version, vector->attribute);
    double product = 0, apart = 0, like_size = 0, own_size = 0;
    if (version->is_deleted || !sim_vectors_fits(vector, own) || !sim_vectors_fits(vector, like))
        return false;
    for (size_t i = 0; i < vector->dimensions; i++) {
        double a = sim_vectors_element(like, i), b = sim_vectors_element(own, i);
        product += a * b;
        apart += (a - b) * (a - b);
        like_size += a * a;
        own_size += b * b;
    }
    switch (vector->distance) {
    case SIM_COSINE:
        *score = like_size > 0 && own_size > 0 ? 1 - product / sqrt(like_size * own_size) : 1;
        return true;
    case SIM_EUCLIDEAN:
        *score = sqrt(apart);
        return true;
    case SIM_DOT_PRODUCT:
        *score = product;
        return true;
    }
    return false;
}

/* The search. */

struct sim_found {
    const struct sim_version *version;
    double score;
    size_t number; /* in the table: ties have an order */
    bool is_reverse;
};

static int sim_vectors_compare(const void *left, const void *right)
{
    const struct sim_found *a = left, *b = right;
    int order = (a->score > b->score) - (a->score < b->score);
    if (order != 0)
        return a->is_reverse ? -order : order;
    return (a->number > b->number) - (a->number < b->number);
}

/* The value of a search condition "NAME = VALUE" on the partition; NULL with OUT refused. */
static const struct sim_value *sim_vectors_partition(const struct sim_vector *vector,
                                                     struct sim_expressions *of,
                                                     const struct sim_json *request,
                                                     struct sim_outcome *out)
{
    int root = -1;
    if (!sim_expressions_read_condition(of, request, "SearchConditionExpression", &root))
        return NULL;
    const struct sim_term *node = root >= 0 ? &of->nodes[root] : NULL;
    bool is_right =
        node && node->kind == SIM_TERM_EQUAL && of->nodes[node->parts[0]].kind == SIM_TERM_PATH &&
        of->nodes[node->parts[1]].kind == SIM_TERM_VALUE &&
        strcmp(sim_expressions_top(of, &of->nodes[node->parts[0]]), vector->partition) == 0;
    if (is_right)
        return of->nodes[node->parts[1]].value;
    sim_outcome_refuse(out, "SearchConditionExpression must have an equality condition on %s",
                       vector->partition);
    return NULL;
}

/* Reads the plain array of the request as a list. False: it is none, or has other dimensions. */
static bool sim_vectors_read(const struct sim_vector *vector, const struct sim_json *array,
                             struct sim_value *out)
{
    if (!array || array->kind != SIM_JSON_ARRAY || array->count != vector->dimensions)
        return false;
    *out = (struct sim_value){.type = SIM_L,
                              .members = sim_alloc(array->count * sizeof *out->members),
                              .member_count = array->count};
    for (size_t i = 0; i < array->count; i++) {
        const char *text = sim_json_text(&array->members[i], "N");
        char *end = NULL;
        if (!text || array->members[i].count != 1 || (strtod(text, &end), *end != '\0'))
            return false;
        out->members[i].value =
            (struct sim_value){.type = SIM_N, .bytes = sim_copy(text), .size = strlen(text)};
    }
    return true;
}

static void sim_vectors_free(struct sim_value *list)
{
    sim_attributes_free(list->members, list->member_count);
    *list = (struct sim_value){0};
}

/* Finds all items of the index; the caller frees the array. */
static struct sim_found *sim_vectors_find(const struct sim_vector *vector,
                                          const struct sim_value *like,
                                          const struct sim_value *partition, struct sim_dice *dice,
                                          size_t *count)
{
    struct sim_found *found = sim_alloc((vector->table->item_count + 1) * sizeof *found);
    size_t room = vector->table->item_count + 1, number = 0;
    int64_t at_ms = sim_now_ms() -
                    (sim_dice_chance(dice, 700) ? 0 : sim_dice_between(dice, 0, SIM_VECTOR_LAG_MS));
    *count = 0;
    for (const struct sim_item *item = vector->table->first; item; item = item->next, number++) {
        const struct sim_version *version = sim_version_at(item, -1, at_ms);
        double score;
        if (!version || !sim_vectors_score(vector, like, version, &score))
            continue;
        const struct sim_value *own =
            partition ? sim_version_get(version, vector->partition) : NULL;
        if (partition && (!own || own->type != partition->type || !sim_value_equal(own, partition)))
            continue;
        if (*count == room) {
            room *= 2;
            found = sim_grow(found, room * sizeof *found);
        }
        found[(*count)++] =
            (struct sim_found){version, score, number, vector->distance == SIM_DOT_PRODUCT};
    }
    qsort(found, *count, sizeof *found, sim_vectors_compare);
    return found;
}

/* Writes the item as the index shows it: whole or its keys, without the vector. */
static void sim_vectors_write(struct sim_text *out, const struct sim_vector *vector,
                              const struct sim_expressions *of, size_t first, size_t count,
                              const struct sim_found *found)
{
    sim_text_puts(out, "{\"Item\":");
    if (count > 0)
        sim_expressions_write_item(of, first, count, found->version, -1, out);
    else
        sim_tables_write_key(out, found->version);
    (void)vector;
    sim_text_printf(out, ",\"Score\":%.17g}", found->score);
}

static void sim_vectors_search(const struct sim_vector *vector, const struct sim_json *request,
                               struct sim_dice *dice, struct sim_outcome *out,
                               uint64_t *search_bytes)
{
    struct sim_expressions of;
    struct sim_value like = {0};
    const struct sim_value *partition = NULL;
    size_t first = 0, count = 0, found_count = 0;
    const struct sim_json *top = sim_json_get(request, "TopK");
    long most = top && top->kind == SIM_JSON_NUMBER ? strtol(top->bytes, NULL, 10) : 0;
    bool ok = sim_expressions_begin(&of, request, out) &&
              sim_expressions_read_projection(&of, request, &first, &count);
    if (ok && vector->partition)
        ok = (partition = sim_vectors_partition(vector, &of, request, out)) != NULL;
    else if (ok && sim_json_get(request, "SearchConditionExpression"))
        ok = sim_outcome_refuse(out, "SearchConditionExpression: the index has no SearchSchema");
    ok = ok && sim_expressions_check_used(&of);
    if (ok && (most < 1 || most > SIM_MOST_TOP))
        ok = sim_outcome_refuse(out, "TopK must be between 1 and 100");
    if (ok && !sim_vectors_read(vector, sim_json_get(request, "SearchVector"), &like))
        ok = sim_outcome_refuse(out, "SearchVector must have %u numbers", vector->dimensions);
    if (ok) {
        struct sim_found *found = sim_vectors_find(vector, &like, partition, dice, &found_count);
        sim_text_puts(&out->body, "{\"SearchResults\":[");
        for (size_t i = 0; i < found_count && i < (size_t)most; i++) {
            sim_text_puts(&out->body, i ? "," : "");
            sim_vectors_write(&out->body, vector, &of, first, count, &found[i]);
            out->items++;
        }
        *search_bytes = SIM_LEAST_BYTES + 18 * vector->dimensions * (1 + out->items);
        sim_text_puts(&out->body, "]");
        if (sim_json_text(request, "ReturnConsumedCapacity"))
            sim_text_printf(&out->body,
                            ",\"ConsumedCapacity\":{\"VectorSearchRequestBytes\":%llu.0}",
                            (unsigned long long)*search_bytes);
        sim_text_puts(&out->body, "}");
        sim_free(found);
    }
    sim_vectors_free(&like);
    sim_expressions_end(&of);
}

void sim_vectors_answer(const struct sim_json *request, struct sim_dice *dice,
                        struct sim_outcome *out, uint64_t *search_bytes)
{
    const char *name = sim_json_text(request, "TableName");
    const char *index = sim_json_text(request, "IndexName");
    const struct sim_table *table = name ? sim_tables_find(name) : NULL;
    const struct sim_vector *vectors;
    *search_bytes = 0;
    if (!table || !index) {
        sim_outcome_state(out, "ResourceNotFoundException",
                          sim_copy("Requested resource not found"));
        return;
    }
    size_t count = sim_vectors_of(table, &vectors);
    for (size_t i = 0; i < count; i++)
        if (strcmp(vectors[i].name, index) == 0 && vectors[i].ready_ms <= sim_now_ms()) {
            sim_vectors_search(&vectors[i], request, dice, out, search_bytes);
            return;
        }
    /* By right: an index that is not ready is refused with this code, too. */
    sim_outcome_state(out, "ValidationException",
                      sim_printf("The table does not have the specified index: %s", index));
}
