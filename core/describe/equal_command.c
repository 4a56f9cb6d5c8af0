/* Plans as commands. jq recognizes kinds of items by regular expressions, which are made of the
 * map's formats. */
#include "core/describe/equal_command.h"

#include "core/condition/condition.h"
#include "core/condition/jq.h"
#include "core/json/json.h"
#include "core/map/condition_template.h"
#include "core/plan/item_parts.h"

/* Appends TEXT, escaped for a regular expression. */
static void equal_command_add_literal(struct buf *regex, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (memchr("\\^$.|?*+()[]{}", text.data[i], 14))
            buf_add_char(regex, '\\');
        buf_add_char(regex, text.data[i]);
    }
}

/* A part ends at the first occurrence of the literal behind it, the last one at the literal that
 * ends the text. It contains no separator unless it is open. A part that occurs twice has the same
 * value both times. */
static void equal_command_add_part(struct buf *regex, const struct model *table,
                                   const struct map_kind *kind, const struct format *format,
                                   size_t at, struct bindings *seen)
{
    const struct format_piece *piece = &format->pieces[at];
    const struct format_piece *next = at + 1 < format->count ? piece + 1 : NULL;
    bool twice = item_parts_count(table, kind, piece->param) > 1;
    for (size_t i = 0; twice && i < seen->count; i++) {
        if (strcmp(seen->items[i].param, piece->param) == 0) {
            buf_printf(regex, "\\k<g%zu>", i);
            return;
        }
    }
    if (twice) {
        buf_printf(regex, "(?<g%zu>", seen->count);
        bindings_add(seen, piece->param, SPAN_LITERAL(""));
    }
    if (piece->pad > 0) {
        buf_printf(regex, "[0-9]{%u}%s", piece->pad, twice ? ")" : "");
        return;
    }
    static const char *const others[] = {
        [FORMAT_ANY_CASE] = "", [FORMAT_LOWER] = "A-Z", [FORMAT_UPPER] = "a-z"};
    bool last = at + 2 >= format->count;
    bool ahead =
        !last && next->literal.size && (piece->open || next->literal.data[0] != table->separator);
    if (ahead) {
        buf_add_text(regex, "(?:(?!");
        equal_command_add_literal(regex, next->literal);
        buf_add_char(regex, ')');
    }
    if (piece->open && !piece->letters) {
        buf_add_text(regex, "[\\s\\S]");
    } else {
        buf_add_text(regex, "[^");
        if (!piece->open)
            equal_command_add_literal(regex, span_of(&table->separator, 1));
        buf_printf(regex, "%s]", others[piece->letters]);
    }
    buf_add_text(regex, ahead ? ")*" : "*");
    buf_add_text(regex, twice ? ")" : "");
}

static void equal_command_add_format(struct buf *regex, const struct model *table,
                                     const struct map_kind *kind, const struct format *format,
                                     const struct bindings *path, struct bindings *seen)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct span *value =
            piece->param ? bindings_find(path, piece->param) : &piece->literal;
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (value && piece->param)
            format_write_part(piece, *value, &text);
        regex->failed = regex->failed || text.failed;
        if (value)
            equal_command_add_literal(regex, piece->param ? buf_span(&text) : *value);
        else
            equal_command_add_part(regex, table, kind, format, i, seen);
    }
}

/* Appends a jq condition: an item is of KIND, and no part contradicts PATH. Nothing when every item
 * of the query is. */
static void equal_command_write_kind(struct buf *out, const struct plan *plan,
                                     const struct map_kind *kind, const struct bindings *path)
{
    const struct model *table = plan->table;
    CLEAN_UP(buf_clean_up) struct buf value = {0}, regex = {0}, whole = {0};
    struct bindings seen = {0};
    bool together = item_parts_repeat(table, kind, path);
    bool first = true;
    for (size_t i = 0; i < table->key_count; i++) {
        if (!together && item_parts_are_implied(plan->table, plan->query, kind, i, path))
            continue;
        buf_add_text(&value, value.size ? " + \"\\n\" + " : "");
        buf_add_text(&regex, regex.size ? "\\n" : "");
        buf_add_char(&value, '.');
        json_write_ascii(&value, span_text(table->keys[i].attribute));
        buf_printf(&value, ".%s", value_type_name(table->keys[i].type));
        equal_command_add_format(&regex, table, kind, &kind->keys[i], path, &seen);
        if (together && i + 1 < table->key_count)
            continue;
        buf_printf(&whole, "\\A%s\\z", buf_text(&regex));
        buf_printf(out, "%s(%s | test(", first ? "" : " and ", buf_text(&value));
        json_write_ascii(out, buf_span(&whole));
        buf_add_text(out, "))");
        first = false;
        buf_truncate(&value, 0);
        buf_truncate(&regex, 0);
        buf_truncate(&whole, 0);
    }
    out->failed = out->failed || whole.failed || regex.failed || value.failed;
}

/* Appends conditions for the end of the path's range that the service returns and the path
 * excludes.
 */
static void equal_command_write_exclusions(struct buf *out, const struct plan *plan,
                                           const struct map_kind *kind)
{
    for (size_t i = 0; i < plan->pattern->excluded_count; i++) {
        const struct map_part *part = &plan->pattern->excluded[i];
        CLEAN_UP(buf_clean_up) struct buf end = {0}, value = {0}, same = {0};
        struct bindings path = plan->path;
        if (!format_expand(&part->value, &plan->path, &end) ||
            !model_read_part(plan->table, part->param, buf_span(&end), &value) ||
            !bindings_add(&path, part->param, buf_span(&value)))
            continue;
        equal_command_write_kind(&same, plan, kind, &path);
        out->failed = out->failed || end.failed || value.failed || same.failed;
        if (same.size)
            buf_printf(out, "%s((%s) | not)", out->size ? " and " : "", buf_text(&same));
    }
}

static bool equal_command_has_parts_of(const struct format *format, const struct format *wanted)
{
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].param && format_has(wanted, format->pieces[i].param))
            return true;
    return false;
}

/* Appends a jq condition: an item has KEY, of the index, in the format of ENTRY's names; or, where
 * the names do not contain KEY, in any format. */
static void equal_command_write_index_key(struct buf *out, const struct plan *plan,
                                          const struct map_entry *entry, const struct map_key *key)
{
    CLEAN_UP(buf_clean_up) struct buf regex = {0}, whole = {0};
    struct bindings seen = {0};
    const struct format *format = model_key_format(plan->table, key, entry->kind);
    bool told = format && equal_command_has_parts_of(format, &entry->indexed);
    const char *param = told ? format_whole_param(format) : NULL;
    const struct span *value = param ? bindings_find(&plan->path, param) : NULL;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    if (value && format_expand(format, &plan->path, &whole)) {
        struct span text = operand_copy(&arena, key->type, buf_span(&whole));
        struct cond same = {
            .attribute = span_text(key->attribute), .op = COND_EQ, .value = {key->type, text}};
        jq_write_cond(&same, out);
        out->failed = out->failed || arena.failed || whole.failed;
        return;
    }
    buf_add_text(out, "(.");
    json_write_ascii(out, span_text(key->attribute));
    buf_printf(out, ".%s | . != null", value_type_name(key->type));
    if (told && key->type == VALUE_S) {
        equal_command_add_format(&regex, plan->table, entry->kind, format, &plan->path, &seen);
        buf_printf(&whole, "\\A%s\\z", buf_text(&regex));
        buf_add_text(out, " and test(");
        json_write_ascii(out, buf_span(&whole));
        buf_add_char(out, ')');
        out->failed = out->failed || regex.failed || whole.failed;
    }
    buf_add_char(out, ')');
}

static bool equal_command_is_conditioned(const struct map_pattern *pattern,
                                         const struct map_key *key)
{
    for (size_t i = 0; i < pattern->where_count; i++)
        if (strcmp(pattern->where[i].attribute, key->attribute) == 0)
            return true;
    return false;
}

/* Appends a jq condition: an item has the index's key in the format of ENTRY's names. An item that
 * was read by its own key may have left the index. */
static void equal_command_write_index_keys(struct buf *out, const struct plan *plan,
                                           const struct map_entry *entry)
{
    const struct map_key *key;
    for (size_t i = 0; entry->indexed.count > 0 && (key = model_index_key(plan->pattern->index, i));
         i++) {
        const struct format *format = model_key_format(plan->table, key, entry->kind);
        bool told = format && equal_command_has_parts_of(format, &entry->indexed);
        if (model_is_key(plan->table, key->attribute) ||
            (!told && (plan->kind != PLAN_KEY || equal_command_is_conditioned(plan->pattern, key))))
            continue;
        buf_add_text(out, out->size ? " and " : "");
        equal_command_write_index_key(out, plan, entry, key);
    }
}

/* Entry number I of the plan's listing; NULL where the plan is not of an entry. */
static const struct map_entry *equal_command_entry_at(const struct plan *plan, size_t i)
{
    if (plan->entry)
        return plan->kind == PLAN_SEARCH ? NULL : plan->entry;
    return plan->kind_of ? NULL : &plan->pattern->entries[i];
}

static size_t equal_command_kind_count(const struct plan *plan)
{
    return plan->kind_of ? 1 : plan->pattern->entry_count;
}

static const struct map_kind *equal_command_kind_at(const struct plan *plan, size_t i)
{
    return plan->kind_of ? plan->kind_of : plan->pattern->entries[i].kind;
}

/* Adds those of CONDS to the jq condition ALL that the key does not decide. False when the key
 * contradicts one. */
static bool equal_command_add_conds(const struct plan *plan, const struct map_cond *conds,
                                    size_t count, struct buf *all)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct cond cond;
        struct error ignored;
        bool ok = condition_expand(&conds[i], &plan->path, &arena, &cond, &ignored);
        all->failed = all->failed || !ok;
        const struct value *own = NULL; /* the key's */
        for (size_t k = 0; ok && k < plan->key.count; k++)
            if (span_equal(plan->key.attributes[k].name, cond.attribute))
                own = &plan->key.attributes[k].value;
        if (own && !cond_admits(&cond, *own))
            return false;
        if (ok && !own) {
            buf_add_text(all, all->size ? " and " : "");
            jq_write_cond(&cond, all);
        }
    }
    return true;
}

/* Appends a jq condition: an item is of a kind that counts. Nothing when all are. */
static void equal_command_write_kinds(struct buf *out, const struct plan *plan)
{
    CLEAN_UP(buf_clean_up) struct buf any = {0};
    size_t count = equal_command_kind_count(plan);
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf one = {0};
        equal_command_write_kind(&one, plan, equal_command_kind_at(plan, i), &plan->path);
        equal_command_write_exclusions(&one, plan, equal_command_kind_at(plan, i));
        if (equal_command_entry_at(plan, i))
            equal_command_write_index_keys(&one, plan, equal_command_entry_at(plan, i));
        out->failed = out->failed || one.failed;
        if (one.size == 0)
            return;
        buf_printf(&any, "%s%s%s%s", i ? " or " : "", count > 1 ? "(" : "", buf_text(&one),
                   count > 1 ? ")" : "");
    }
    buf_add_span(out, buf_span(&any));
    out->failed = out->failed || any.failed;
}

/* Appends a jq condition: an item is not that of OWN, which has a name of its own. */
static void equal_command_write_not_own(struct buf *out, const struct plan *own)
{
    CLEAN_UP(buf_clean_up) struct buf all = {0};
    for (size_t i = 0; i < own->key.count; i++) {
        struct cond same = {.attribute = own->key.attributes[i].name,
                            .op = COND_EQ,
                            .value = own->key.attributes[i].value};
        buf_add_text(&all, i ? " and " : "");
        jq_write_cond(&same, &all);
    }
    if (equal_command_add_conds(own, own->pattern->filter, own->pattern->filter_count, &all))
        buf_printf(out, "%s((%s) | not)", out->size ? " and " : "", buf_text(&all));
    out->failed = out->failed || all.failed;
}

/* Appends a jq filter from all items to those that count; nothing when all do. */
static void equal_command_write_sift(struct buf *out, const struct equal_command *command)
{
    CLEAN_UP(buf_clean_up) struct buf all = {0};
    equal_command_write_kinds(&all, command->plan);
    if (all.size && command->own_count) {
        CLEAN_UP(buf_clean_up) struct buf kinds = {0};
        buf_printf(&kinds, "(%s)", buf_text(&all));
        buf_truncate(&all, 0);
        buf_add_span(&all, buf_span(&kinds));
        all.failed = all.failed || kinds.failed;
    }
    for (size_t i = 0; i < command->own_count; i++)
        equal_command_write_not_own(&all, command->own[i]);
    if (all.size)
        jq_write_select(buf_span(&all), out);
    out->failed = out->failed || all.failed;
}

/* Whether the query may return items of the map that do not count: then no number of items is known
 * to be enough. */
static bool equal_command_others_may_come(const struct plan *plan)
{
    const struct model *table = plan->table;
    for (const struct map_kind *other = table->kinds; other; other = other->next) {
        bool wanted = false, overlaps = false;
        for (size_t i = 0; i < equal_command_kind_count(plan); i++) {
            const struct map_kind *kind = equal_command_kind_at(plan, i);
            wanted = wanted || kind == other || kind == table->any;
            bool same = true;
            for (size_t k = 0; k < table->key_count; k++)
                same = same && format_overlaps(&kind->keys[k], &other->keys[k]);
            overlaps = overlaps || same;
        }
        if (!wanted && overlaps)
            return true;
    }
    return false;
}

/* Appends a jq filter from those that count to the one that is the file. */
static void equal_command_write_choice(struct buf *out, const struct plan *plan)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct map_pattern *pattern = plan->pattern;
    if (pattern->pick == PICK_NONE) {
        buf_add_text(out, plan->query->limit == 1
                              ? ".[0] // empty"
                              : "if length > 1 then error(\"several items answer\") "
                                "else .[0] // empty end");
        return;
    }
    json_write_ascii(&name, span_text(pattern->pick_attribute));
    /* Among equals the first one counts, and max_by takes the last. A text and a number can't be
     * compared. */
    jq_write_decimal(out);
    buf_printf(out,
               "if (map(.%s | keys) | unique | length) > 1 then error(\"of several types\") else "
               "%s(.%s.S // (.%s.N | decimal)) // empty end",
               buf_text(&name), pattern->pick == PICK_GREATEST ? "reverse | max_by" : "min_by",
               buf_text(&name), buf_text(&name));
    out->failed = out->failed || name.failed;
}

/* Appends a jq filter from an item to one attribute: scalars bare, others typed. */
static void equal_command_write_bare(struct buf *out, struct span attribute)
{
    buf_add_text(out, " | .");
    json_write_ascii(out, attribute);
    buf_add_text(out, " // empty | .S // .N // .B // (if has(\"BOOL\") then .BOOL elif "
                      "has(\"NULL\") then null else . end)");
}

static void equal_command_write_sort_of(struct buf *out, const char *item, const struct read *query)
{
    for (size_t i = 0; i < query->sort_count; i++) {
        buf_printf(out, "%s%s[", i ? ", " : "[", item);
        json_write_ascii(out, query->sort[i]);
        buf_add_char(out, ']');
    }
    buf_add_text(out, query->sort_count ? "]" : "[]");
}

/* Whether the selection is tested on items that are read again, and not on the query's items. */
static bool equal_command_tests_later(const struct plan *plan)
{
    bool here = plan->parts.late || plan->parts.early.child_count > 0;
    return plan->reads_again && here && (plan->parts.late || plan->query->limit > 0);
}

static void equal_command_write_select(const struct cond *cond, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf condition = {0};
    jq_write_cond(cond, &condition);
    jq_write_select(buf_span(&condition), out);
    out->failed = out->failed || condition.failed;
}

/* Appends a jq filter from those that count to those that the selection wants, one by one. */
static void equal_command_write_listed(const struct plan *plan, struct buf *out)
{
    const struct read *query = plan->query;
    const struct selection *selection = plan->selection;
    bool later = equal_command_tests_later(plan);
    bool early = plan->parts.early.child_count > 0 && !later;
    bool limited = selection && (query->limit != selection->limit || query->ties ||
                                 plan->parts.early.child_count > 0 || plan->parts.late);
    uint32_t most = limited && !later ? selection->limit : 0;
    bool more = early || most > 0;
    buf_add_text(out, query->ties && more ? "[" : "");
    if (query->ties) { /* the first N, and those that share the sort key of the last of these */
        unsigned long limit = query->limit;
        buf_printf(out, ".[%lu] as $last | to_entries[] | select(.key < %lu or ", limit - 1, limit);
        equal_command_write_sort_of(out, ".value", query);
        buf_add_text(out, " == ");
        equal_command_write_sort_of(out, "$last", query);
        buf_add_text(out, ") | .value");
    } else if (query->limit)
        buf_printf(out, ".[:%lu]", (unsigned long)query->limit);
    buf_add_text(out, !more ? "" : query->ties ? "] | " : query->limit ? " | " : "");
    if (early)
        equal_command_write_select(&plan->parts.early, out);
    if (most)
        buf_printf(out, "%s.[:%lu]", early ? " | " : "", (unsigned long)most);
    if (more)
        buf_add_text(out, " | .[]");
    else if (!query->ties)
        buf_add_text(out, query->limit ? "[]" : ".[]");
}

/* The plan's query, and the items that count, as keys where these are read again. */
static void equal_command_write_query(const struct equal_command *command, struct buf *out)
{
    const struct plan *plan = command->plan;
    CLEAN_UP(buf_clean_up) struct buf sift = {0}, choose = {0};
    bool keys = (plan->reads_again && plan->kind != PLAN_SEARCH) || command->keys_alone;
    bool counts = !keys && plan->counts;
    bool bare = !keys && !counts && plan->kind == PLAN_FIND && plan->attribute.size > 0;
    equal_command_write_sift(&sift, command);
    buf_add_text(&choose, counts ? "[" : "");
    if (plan->kind == PLAN_FIND)
        equal_command_write_choice(&choose, plan);
    else
        equal_command_write_listed(plan, &choose);
    buf_add_text(&choose, counts ? "] | length" : "");
    for (size_t i = 0; keys && i < plan->table->key_count; i++) {
        buf_add_text(&choose, i ? ", " : " | {");
        json_write_ascii(&choose, span_text(plan->table->keys[i].attribute));
    }
    buf_add_text(&choose, keys ? "}" : "");
    if (bare)
        equal_command_write_bare(&choose, plan->attribute);
    struct source_command how = {
        .options = command->options,
        .sift = sift.size ? buf_text(&sift) : NULL,
        .choose = plan->query->counts ? NULL : buf_text(&choose),
        .flags = keys                                              ? "-ac"
                 : plan->kind == PLAN_FIND && plan->attribute.size ? "-r"
                                                                   : "-c",
        .first_suffice = !equal_command_others_may_come(plan) && command->own_count == 0,
    };
    command->source->write_command(plan->query, &how, out);
    out->failed = out->failed || sift.failed || choose.failed;
}

/* Appends a jq filter for the item of the plan's own key, which may exist, and not (or no longer)
 * fit the path. Nothing when it always fits. */
static void equal_command_write_recheck(const struct plan *plan, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf all = {0};
    const struct map_pattern *pattern = plan->pattern;
    if (plan_excludes(pattern, &plan->path, &plan->path) ||
        !equal_command_add_conds(plan, pattern->where, pattern->where_count, &all) ||
        !equal_command_add_conds(plan, pattern->filter, pattern->filter_count, &all))
        buf_add_text(out, "map(empty)");
    else {
        if (plan->entry)
            equal_command_write_index_keys(&all, plan, plan->entry);
        if (all.size)
            jq_write_select(buf_span(&all), out);
    }
    out->failed = out->failed || all.failed;
}

/* The read by key: KEY is a shell's word, or NULL when the Read has the key. */
static void equal_command_write_get(const struct equal_command *command, const char *key,
                                    struct buf *out)
{
    const struct plan *plan = command->plan;
    CLEAN_UP(buf_clean_up) struct buf sift = {0}, choose = {0};
    struct source_command how = {.options = command->options, .key = key, .flags = "-c"};
    if (plan->kind == PLAN_KEY)
        equal_command_write_recheck(plan, &sift);
    if (equal_command_tests_later(plan))
        equal_command_write_select(plan->selection->filter, &sift);
    if (sift.size)
        how.sift = buf_text(&sift);
    if (plan->kind == PLAN_LIST) {
        how.choose = ".[]";
    } else if (plan->attribute.size || sift.size || plan->search) {
        buf_add_text(&choose, ".[0] // empty");
        if (plan->attribute.size)
            equal_command_write_bare(&choose, plan->attribute);
        how.choose = buf_text(&choose);
        how.flags = plan->attribute.size ? "-r" : "-c";
    }
    command->source->write_command(command->items, &how, out);
    out->failed = out->failed || sift.failed || choose.failed;
}

/* The command for the item, or for the listing. */
static void equal_command_write_steps(const struct equal_command *command, struct buf *out)
{
    const struct plan *plan = command->plan;
    if (plan->kind == PLAN_KEY) {
        equal_command_write_get(command, NULL, out);
        return;
    }
    equal_command_write_query(command, out);
    if (plan->kind == PLAN_SEARCH || !plan->reads_again)
        return;
    /* If the query finds nothing, no further request is sent. */
    buf_add_text(out, " | while IFS= read -r key; do ");
    equal_command_write_get(command, "\"$key\"", out);
    buf_add_text(out, "; done");
    if (equal_command_tests_later(plan) && plan->selection->limit > 0)
        buf_printf(out, " | head -n %lu", (unsigned long)plan->selection->limit);
    if (plan->counts)
        buf_add_text(out, " | wc -l");
}

void equal_command_write(const struct equal_command *command, struct buf *out)
{
    const struct plan *plan = command->plan;
    if (!plan->search) {
        equal_command_write_steps(command, out);
        return;
    }
    struct source_command how = {
        .options = command->options, .item = "\"$item\"", .choose = ".[]", .flags = "-c"};
    buf_add_text(out, "item=$(");
    equal_command_write_steps(command, out);
    buf_add_text(out, ") && ");
    command->source->write_command(plan->search, &how, out);
}

/* Appends the jq filter from an element of the responses to the output of COMMAND. */
static void equal_command_write_part(const struct equal_command *command, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf sift = {0};
    equal_command_write_recheck(command->plan, &sift);
    if (sift.size)
        buf_printf(out, "[.Item // empty] | %s | .[0] // empty", buf_text(&sift));
    else
        buf_add_text(out, ".Item // empty");
    if (command->plan->attribute.size)
        equal_command_write_bare(out, command->plan->attribute);
    out->failed = out->failed || sift.failed;
}

/* Appends the assignments of the keys that READ lacks, and fills KEYS, whose texts are in ARENA. */
static void equal_command_write_keys(const struct equal_command *commands, const size_t *part_of,
                                     size_t count, struct arena *arena, const char **keys,
                                     struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct equal_command command = commands[i];
        if (command.plan->kind == PLAN_KEY)
            continue;
        buf_printf(out, "key%zu=$(", i + 1);
        command.keys_alone = true;
        equal_command_write_query(&command, out);
        buf_add_text(out, "); ");
        buf_printf(&name, "\"$key%zu\"", i + 1);
        keys[part_of[i] - 1] = arena_text(arena, buf_span(&name));
        out->failed = out->failed || name.failed;
    }
    out->failed = out->failed || arena->failed;
}

void equal_command_write_together(const struct equal_command *commands, const size_t *part_of,
                                  size_t count, const struct read *read, struct buf *out)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf choose = {0};
    const char *keys[READ_MAX_KEYS] = {NULL};
    bool has_bare = false;
    for (size_t i = 0; i < count; i++)
        if (commands[i].plan->kind == PLAN_SEARCH)
            return;
    equal_command_write_keys(commands, part_of, count, &arena, keys, out);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&choose, "%s(.[%zu] | ", i ? ", " : "", part_of[i] - 1);
        equal_command_write_part(&commands[i], &choose);
        buf_add_char(&choose, ')');
        has_bare = has_bare || commands[i].plan->attribute.size > 0;
    }
    struct source_command how = {.options = commands[0].options,
                                 .keys = keys,
                                 .choose = buf_text(&choose),
                                 .flags = has_bare ? "-rc" : "-c"};
    commands[0].source->write_command(read, &how, out);
    out->failed = out->failed || choose.failed;
}
