#include "core/map/pattern.h"

#include "core/map/settle.h"

struct job {
    struct arena *arena;
    struct map_pattern *pattern;
    struct error *err;
};

bool pattern_path_has(const struct map_pattern *pattern, const char *param)
{
    size_t size = strlen(param);
    for (const char *at = strchr(pattern->path, '{'); at; at = strchr(at + 1, '{')) {
        if (strncmp(at + 1, param, size) != 0)
            continue;
        const char *end = at + 1 + size;
        if (end[0] == '}' || (end[0] == '*' && end[1] == '}'))
            return true;
    }
    return false;
}

static bool out_of_room(struct job *job)
{
    return job->arena->failed ? error_no_memory(job->err)
                              : error_set(job->err, ERROR_INVALID, "a key has too many parts");
}

static struct map_where *where_on(struct map_pattern *pattern, const char *target)
{
    for (struct map_where *where = pattern->wheres; where; where = where->next)
        if (strcmp(where->target, target) == 0)
            return where;
    return NULL;
}

static bool invalid_key(struct job *job, const struct map_key *key, const struct format *format,
                        const char *missing)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    return error_set(job->err, ERROR_INVALID,
                     "the partition key %s is \"%s\", but the path does not say {%s}",
                     key->attribute, buf_text(&text), missing);
}

static bool add_cond(struct job *job, const struct map_cond *cond)
{
    struct map_pattern *pattern = job->pattern;
    if (pattern->where_count == READ_MAX_CONDS)
        return error_set(job->err, ERROR_INVALID, "too many conditions");
    pattern->where[pattern->where_count++] = *cond;
    return true;
}

static bool add_equality(struct job *job, const struct map_key *key, const struct format *value)
{
    struct map_cond cond = {key->attribute, key->type, COND_EQ, *value, {0}};
    return add_cond(job, &cond);
}

/* A condition on the attribute itself, as the map wrote it. */
static bool add_plain(struct job *job, const struct map_key *key, struct map_where *where)
{
    where->used = true;
    if (where->op == COND_BEGINS && key->type == VALUE_N)
        return error_set(job->err, ERROR_INVALID, "%s is a number: it has no beginning (x*)",
                         key->attribute);
    struct map_cond cond = {key->attribute, key->type, where->op, where->value, where->upper};
    return add_cond(job, &cond);
}

static bool settle_partition_key(struct job *job, const struct map_key *key)
{
    struct map_pattern *pattern = job->pattern;
    struct map_where *where = where_on(pattern, key->attribute);
    if (where && where->op == COND_EQ)
        return add_plain(job, key, where);
    struct known first, other;
    const struct format *format = settle_key_format(pattern, key, pattern->kinds[0]);
    if (!settle_known(job->arena, pattern, format, &first))
        return out_of_room(job);
    if (first.stop)
        return invalid_key(job, key, format, first.stop);
    for (size_t i = 1; i < pattern->kind_count; i++) {
        format = settle_key_format(pattern, key, pattern->kinds[i]);
        if (!settle_known(job->arena, pattern, format, &other))
            return out_of_room(job);
        if (other.stop || !format_equal(&first.text, &other.text))
            return error_set(job->err, ERROR_INVALID,
                             "one listing is one partition, but its kinds differ in %s",
                             key->attribute);
    }
    return add_equality(job, key, &first.text);
}

static bool append_text(struct job *job, struct format *format, const char *text)
{
    struct format_piece piece = {.literal = span_text(text)};
    return settle_append(job->arena, format, &piece) || out_of_room(job);
}

static bool append_format(struct job *job, struct format *to, const struct format *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!settle_append(job->arena, to, &more->pieces[i]))
            return out_of_room(job);
    return true;
}

/* PREFIX followed by VALUE, and by what sorts last when that is in the interval too. */
static bool bound(struct job *job, const struct format *prefix, const struct format *value,
                  bool to_the_end, struct format *out)
{
    *out = (struct format){0};
    return append_format(job, out, prefix) && (!value || append_format(job, out, value)) &&
           (!to_the_end || append_text(job, out, COND_LAST_CHARACTER));
}

/* A range that begins with a prefix takes its end in, which a listing leaves out of what came
 * back. */
static bool ends_before(struct job *job, const struct format *prefix)
{
    return prefix->count == 0 || job->pattern->list ||
           error_set(job->err, ERROR_INVALID,
                     "\"<\" on a part goes with a listing; for one record say \"<=\"");
}

/* A condition on the first part that the path does not say becomes one on the whole sort key.
 * An interval that is open on one side still ends with the prefix. A part is compared by its
 * beginning: "to 2026-04-16" includes that day. */
static bool settle_range(struct job *job, const struct map_key *key, const struct known *known,
                         struct map_where *where)
{
    const struct format *prefix = &known->text, *value = &where->value;
    struct map_cond cond = {.attribute = key->attribute, .type = key->type, .op = COND_BETWEEN};
    where->used = true;
    if (key->type != VALUE_S)
        return prefix->count == 0 ? add_plain(job, key, where)
                                  : error_set(job->err, ERROR_INVALID,
                                              "%s is no text: it has no parts", key->attribute);
    if (where->op == COND_LT && !ends_before(job, prefix))
        return false;
    bool ok = true;
    switch (where->op) {
    case COND_EQ: /* settle_known has taken those in */
    case COND_BEGINS:
        cond.op = COND_BEGINS;
        ok = bound(job, prefix, value, false, &cond.value);
        break;
    case COND_BETWEEN:
        ok = bound(job, prefix, value, false, &cond.value) &&
             bound(job, prefix, &where->upper, true, &cond.upper);
        break;
    case COND_LT:
    case COND_LE:
        ok = bound(job, prefix, NULL, false, &cond.value) &&
             bound(job, prefix, value, where->op == COND_LE, &cond.upper);
        break;
    case COND_GT:
    case COND_GE:
        ok = bound(job, prefix, value, where->op == COND_GT, &cond.value) &&
             bound(job, prefix, NULL, true, &cond.upper);
        break;
    default: /* "where" takes no other */
        break;
    }
    if (cond.op == COND_BETWEEN && cond.value.count == 0) {
        cond.op = where->op == COND_LT ? COND_LT : COND_LE;
        cond.value = cond.upper;
    }
    return ok && add_cond(job, &cond);
}

static bool add_prefix(struct job *job, const struct map_key *key, const struct format *prefix)
{
    if (prefix->count == 0)
        return true;
    if (key->type == VALUE_N)
        return error_set(job->err, ERROR_INVALID, "%s is a number: a part of it can't be looked up",
                         key->attribute);
    struct map_cond cond = {key->attribute, key->type, COND_BEGINS, *prefix, {0}};
    return add_cond(job, &cond);
}

/* The prefix that the sort keys of all kinds share. */
static bool settle_several(struct job *job, const struct map_key *key)
{
    struct map_pattern *pattern = job->pattern;
    struct known known;
    struct format common = {0};
    for (size_t i = 0; i < pattern->kind_count; i++) {
        struct format before = common;
        const struct format *format = settle_key_format(pattern, key, pattern->kinds[i]);
        if (!settle_known(job->arena, pattern, format, &known) ||
            !settle_common(job->arena, i ? &before : &known.text, &known.text,
                           pattern->table->separator, &common))
            return out_of_room(job);
    }
    return add_prefix(job, key, &common);
}

/* DONE is set when no further sort attribute can have a condition. */
static bool settle_sort_key(struct job *job, const struct map_key *key, bool *done)
{
    struct map_pattern *pattern = job->pattern;
    struct map_where *where = where_on(pattern, key->attribute);
    struct known known;
    const struct format *format = settle_key_format(pattern, key, pattern->kinds[0]);
    if (!settle_known(job->arena, pattern, format, &known))
        return out_of_room(job);
    *done = true;
    if (pattern->kind_count > 1 && !where)
        return settle_several(job, key);
    bool by_part = known.stop && where_on(pattern, known.stop) == where;
    if (where && !by_part && where->op != COND_EQ)
        return add_plain(job, key, where);
    if (!known.stop) {
        *done = false;
        return add_equality(job, key, &known.text);
    }
    if (where && where->op == COND_EQ) {
        *done = false;
        return add_plain(job, key, where);
    }
    where = where_on(pattern, known.stop);
    return where ? settle_range(job, key, &known, where) : add_prefix(job, key, &known.text);
}

static bool settle_keys(struct job *job, const struct map_key *partition, size_t partition_count,
                        const struct map_key *sort, size_t sort_count)
{
    bool done = false;
    for (size_t i = 0; i < partition_count; i++)
        if (!settle_partition_key(job, &partition[i]))
            return false;
    for (size_t i = 0; i < sort_count && !done; i++)
        if (!settle_sort_key(job, &sort[i], &done))
            return false;
    return true;
}

static bool is_index_key(const struct map_index *index, const char *attribute)
{
    for (size_t i = 0; i < index->partition_count; i++)
        if (strcmp(index->partition[i].attribute, attribute) == 0)
            return true;
    for (size_t i = 0; i < index->sort_count; i++)
        if (strcmp(index->sort[i].attribute, attribute) == 0)
            return true;
    return false;
}

/* A path may say the whole partition key of the table while an index is asked: what else the
 * index holds is then filtered out by that key, which every index has. */
static bool filter_by_partition(struct job *job)
{
    struct map_pattern *pattern = job->pattern;
    const struct map_key *key = &pattern->table->keys[0];
    if (!pattern->index || is_index_key(pattern->index, key->attribute))
        return true;
    struct known known;
    if (!settle_known(job->arena, pattern, &pattern->kinds[0]->keys[0], &known))
        return out_of_room(job);
    for (size_t i = 1; i < pattern->kind_count; i++)
        if (!format_equal(&pattern->kinds[0]->keys[0], &pattern->kinds[i]->keys[0]))
            return true;
    if (!known.stop)
        pattern->filter[pattern->filter_count++] =
            (struct map_cond){key->attribute, key->type, COND_EQ, known.text, {0}};
    return true;
}

/* Whether ATTRIBUTE is a key of what is asked, on which the service lets no filter be. */
static bool is_asked_key(const struct map_pattern *pattern, const char *attribute)
{
    if (pattern->index)
        return is_index_key(pattern->index, attribute);
    return map_is_key(pattern->table, attribute);
}

/* Whether what is asked may hold ATTRIBUTE: an index of keys holds those alone, and a filter on
 * anything else would leave all out. */
static bool may_hold(const struct map_pattern *pattern, const char *attribute)
{
    return !pattern->index || pattern->index->projects != PROJECTS_KEYS ||
           is_index_key(pattern->index, attribute) || map_is_key(pattern->table, attribute);
}

static bool check_held(struct job *job, const char *member, const char *attribute)
{
    return may_hold(job->pattern, attribute) ||
           error_set(job->err, ERROR_INVALID,
                     "\"%s\" looks at %s, but index %s holds keys alone, so nothing would answer",
                     member, attribute, job->pattern->index->name);
}

static bool check_filter(struct job *job, const char *attribute)
{
    if (is_asked_key(job->pattern, attribute))
        return error_set(job->err, ERROR_INVALID,
                         "\"filter\" on %s, a key attribute: the service lets only \"where\" look "
                         "at it",
                         attribute);
    return check_held(job, "filter", attribute);
}

static bool settle_filters(struct job *job)
{
    struct map_pattern *pattern = job->pattern;
    if (!filter_by_partition(job))
        return false;
    for (struct map_where *where = pattern->filters; where; where = where->next) {
        if (pattern->filter_count == READ_MAX_CONDS)
            return error_set(job->err, ERROR_INVALID, "too many filters");
        if (!check_filter(job, where->target))
            return false;
        pattern->filter[pattern->filter_count++] =
            (struct map_cond){where->target, where->type, where->op, where->value, where->upper};
    }
    return !pattern->pick || check_held(job, "pick", pattern->pick_attribute);
}

static bool conds_have(const struct map_cond *conds, size_t count, const char *param)
{
    for (size_t i = 0; i < count; i++)
        if (format_has(&conds[i].value, param) || format_has(&conds[i].upper, param))
            return true;
    return false;
}

static bool is_part(const struct map_pattern *pattern, const char *param)
{
    for (size_t k = 0; k < pattern->table->key_count; k++)
        if (format_has(&pattern->kinds[0]->keys[k], param))
            return true;
    return false;
}

static bool check_conds(struct job *job, const struct map_cond *conds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct format *sides[] = {&conds[i].value, &conds[i].upper};
        for (size_t s = 0; s < 2; s++)
            for (size_t p = 0; p < sides[s]->count; p++)
                if (sides[s]->pieces[p].param &&
                    !pattern_path_has(job->pattern, sides[s]->pieces[p].param))
                    return error_set(job->err, ERROR_INVALID,
                                     "the condition on %s uses {%s}, which the path does not have",
                                     conds[i].attribute, sides[s]->pieces[p].param);
    }
    return true;
}

static bool check_params(struct job *job)
{
    struct map_pattern *pattern = job->pattern;
    struct format path;
    const char *wrong = format_parse(job->arena, span_text(pattern->path), &path);
    if (wrong)
        return error_set(job->err, ERROR_INVALID, "%s", wrong);
    for (size_t i = 0; i < path.count; i++) {
        const char *param = path.pieces[i].param;
        if (param && !conds_have(pattern->where, pattern->where_count, param) &&
            !conds_have(pattern->filter, pattern->filter_count, param) && !is_part(pattern, param))
            return error_set(job->err, ERROR_INVALID,
                             "{%s} selects nothing: it is no part of a key and in no condition",
                             param);
    }
    return true;
}

/* An equality on what the path says as well, other than that it is what the path says. */
static bool contradicts_path(const struct map_pattern *pattern, const struct map_where *where)
{
    const struct format *value = &where->value;
    bool same = value->count == 1 && format_has(value, where->target);
    return where->op == COND_EQ && !same && pattern_path_has(pattern, where->target);
}

static bool check_wheres(struct job *job)
{
    struct map_pattern *pattern = job->pattern;
    for (const struct map_where *where = pattern->wheres; where; where = where->next) {
        if (contradicts_path(pattern, where))
            return error_set(job->err, ERROR_INVALID,
                             "\"where\" says what {%s} is, but so does the path; take one away",
                             where->target);
        if (!where->used && !(where->op == COND_EQ && is_part(pattern, where->target)))
            return error_set(job->err, ERROR_INVALID,
                             "\"where\" on %s can't be part of a key condition: only the first "
                             "part that the path does not say can; try \"filter\"",
                             where->target);
    }
    return true;
}

static const char *contradiction(const struct map_pattern *pattern)
{
    if (pattern->consistent && pattern->index)
        return "an index can't be read consistently";
    if (pattern->hydrate != CHOICE_UNSAID && !pattern->index)
        return "\"hydrate\" goes with \"index\"";
    if (pattern->list && pattern->attribute)
        return "a listing has no \"attribute\"; take the path's final / away";
    if (pattern->list && pattern->pick)
        return "a listing has no \"pick\"; take the path's final / away";
    if (!pattern->list && pattern->has_name)
        return "\"name\" goes with a listing, whose path ends in /";
    if (!pattern->list && pattern->limit > 1)
        return "one file is one record: \"newest\" or \"oldest\" 1";
    if (pattern->by_key && (pattern->limit || pattern->pick || pattern->descending))
        return "the path says the whole key, so there is one record and nothing to choose";
    return NULL;
}

static bool is_full_key(const struct map_pattern *pattern)
{
    if (pattern->index || pattern->list || pattern->kind_count != 1)
        return false;
    for (size_t i = 0; i < pattern->where_count; i++)
        if (pattern->where[i].op != COND_EQ)
            return false;
    return pattern->where_count == pattern->table->key_count;
}

static bool settle_conditions(struct job *job)
{
    struct map_pattern *pattern = job->pattern;
    const struct map_table *table = pattern->table;
    const struct map_index *index = pattern->index;
    pattern->where = arena_array(job->arena, READ_MAX_CONDS, sizeof *pattern->where);
    pattern->filter = arena_array(job->arena, READ_MAX_CONDS, sizeof *pattern->filter);
    if (!pattern->where || !pattern->filter)
        return error_no_memory(job->err);
    if (index ? !settle_keys(job, index->partition, index->partition_count, index->sort,
                             index->sort_count)
              : !settle_keys(job, table->keys, 1, table->keys + 1, table->key_count - 1))
        return false;
    return settle_filters(job);
}

bool pattern_settle(struct arena *arena, struct map_pattern *pattern, struct error *err)
{
    struct job job = {arena, pattern, err};
    if (!settle_conditions(&job) || !check_wheres(&job) || !check_params(&job) ||
        !check_conds(&job, pattern->where, pattern->where_count) ||
        !check_conds(&job, pattern->filter, pattern->filter_count))
        return false;
    pattern->by_key = is_full_key(pattern);
    const char *wrong = contradiction(pattern);
    if (wrong)
        return error_set(err, ERROR_INVALID, "%s", wrong);
    return !pattern->list || settle_entries(arena, pattern, err);
}
