/* The oracles of what was read: each compares a result with the history of all items, in the span
 * of time in which it may have been read. The spans are those that docs/semantics.md ("Freshness"),
 * docs/mount.md ("Freshness", "Outages") and docs/live.md state; nothing else excuses a result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_facts.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_oracle.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_sight.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

enum {
    /* "A name is valid for the rest of its ttl (at least 0.1 s)"; an entry is handed over up to 0.1
     * s past its ttl (docs/internals/life-of-a-listing.md). */
    ORACLE_LEAST_TTL_MS = 200,
    /* "Not found" is reused for at most 2 s. */
    ORACLE_ABSENT_TTL_MS = 2000,
    /* The age of a result counts from its response: it may have been read that much earlier. */
    ORACLE_RESPONSE_MS = 300,
    ORACLE_LEFT_KEYS_MS = 2000,
    /* docs/live.md: a change is visible "within about a second"; from a lag of 5 s on the ttl
     * counts, and "none from before the lag". The half second is for the kernel. */
    ORACLE_LIVE_MS = 6000,
    /* A failed lookup may be reused for the repetition of the kernel within a second. */
    ORACLE_FAILURE_MS = 2000,
    /* How long programs hold a file open between two reads. */
    ORACLE_HOLD_MS = 60000,
    ORACLE_MOST_REFRESHES = 64,
    /* How long directories of an old map may be in use: structure is valid for 60 s. */
    ORACLE_RELOAD_MS = 120000,
    /* SIGHUP takes effect when the program's loop has read it and the map. */
    ORACLE_SIGHUP_MS = 2000,
};

static struct {
    struct {
        char *path;            /* owned */
        int64_t at_ms, for_ms; /* reads that begin after FOR_MS show nothing older than AT_MS */
    } refreshes[ORACLE_MOST_REFRESHES];
    unsigned count;
} oracle;

static void sim_oracle_add_refresh(const char *path, int64_t asked_ms, int64_t wait_ms)
{
    unsigned at = oracle.count % ORACLE_MOST_REFRESHES;
    sim_free(oracle.refreshes[at].path);
    oracle.refreshes[at].path = sim_copy(path);
    oracle.refreshes[at].at_ms = asked_ms;
    oracle.refreshes[at].for_ms = sim_now_ms() + wait_ms;
    oracle.count++;
}

void sim_oracle_note_refresh(const char *path, int64_t asked_ms)
{
    sim_oracle_add_refresh(path, asked_ms, 0);
}

/* A kernel without epochs forgets name by name, in directories that are not read just then; what it
 * has not forgotten at the deadline stays (docs/internals/refresh.md). */
void sim_oracle_note_reload(void)
{
    if (sim_kernel_knows_epochs())
        sim_oracle_add_refresh("/", sim_now_ms(), 3 * sim_life_options()->timeout_ms);
}

static bool sim_oracle_is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    while (size && folder[size - 1] == '/')
        size--;
    return strncmp(path, folder, size) == 0 && (path[size] == 0 || path[size] == '/');
}

/* The last refresh of PATH that ended before AT_MS. Names that the kernel makes valid behind it, of
 * a reply that came before, are the kernel's own mistake. */
static int64_t sim_oracle_last_refresh(const char *path, int64_t at_ms)
{
    int64_t last = INT64_MIN, straddled = sim_kernel_straddled_ms();
    for (unsigned i = 0; i < ORACLE_MOST_REFRESHES && i < oracle.count; i++)
        if (oracle.refreshes[i].for_ms < at_ms &&
            (straddled == 0 || oracle.refreshes[i].at_ms > straddled) &&
            oracle.refreshes[i].at_ms > last && sim_oracle_is_below(path, oracle.refreshes[i].path))
            last = oracle.refreshes[i].at_ms;
    return last;
}

/* What was read at FROM_MS or later is at most TTL_MS older, and STALE_MS in an outage; more with
 * --live. */
static struct sim_span sim_oracle_span_of(const char *path, const struct sim_node *node,
                                          int64_t ttl_ms, int64_t stale_ms, int64_t from_ms,
                                          int64_t until_ms)
{
    const struct sim_life_options *options = sim_life_options();
    int64_t age = ttl_ms > ORACLE_LEAST_TTL_MS ? ttl_ms : ORACLE_LEAST_TTL_MS;
    if (options->live && ttl_ms > 0 && node->table && node->table->table->has_stream &&
        age < ORACLE_LIVE_MS)
        age = ORACLE_LIVE_MS;
    age += ORACLE_RESPONSE_MS;
    /* Keys that are left are requested again after a delay (docs/internals/retries.md). */
    if (sim_causes_struck(SIM_FAULT_UNPROCESSED, from_ms - age - ORACLE_LEFT_KEYS_MS, until_ms))
        age += ORACLE_LEFT_KEYS_MS;
    int64_t reach = age + 3 * options->timeout_ms;
    if (sim_causes_any(from_ms - reach - options->stale_ms, until_ms)) {
        /* A response may come late, and a request is repeated until --timeout. */
        age = reach + stale_ms;
    }
    struct sim_span span = {from_ms - age, until_ms};
    int64_t refreshed = sim_oracle_last_refresh(path, from_ms);
    if (refreshed > span.from_ms)
        span.from_ms = refreshed;
    /* "A recording shows the responses that were received", since its mount began. */
    if (options->is_replay && !sim_life_is_recording())
        span.from_ms = 1;
    return span;
}

static int64_t sim_oracle_ttl_of(const struct sim_node *node)
{
    return node->pattern ? node->pattern->ttl_ms : 60000;
}

struct sim_span sim_oracle_span_of_result(const char *path, const struct sim_node *node,
                                          int64_t from_ms, int64_t until_ms)
{
    return sim_oracle_span_of(path, node, sim_oracle_ttl_of(node), sim_life_options()->stale_ms,
                              from_ms, until_ms);
}

static bool sim_oracle_is_hidden_by_owner(const struct sim_node *node)
{
    return node->kind == SIM_NODE_CONTROL;
}

/* A description of what an item was in a span, for a report. */
void sim_oracle_tell_item(struct sim_text *out, const struct sim_node *node,
                          const struct sim_item *item, struct sim_span span)
{
    struct sim_sight sight;
    sim_sight_look(&sight, node, item, span);
    for (unsigned i = 0; i < sight.count; i++) {
        const struct sim_view *view = &sight.views[i];
        struct sim_text text = {0};
        if (view->version->is_deleted)
            sim_text_puts(&text, "deleted\n");
        else
            sim_render_line(&text, node->table, NULL, view->version);
        sim_text_printf(out, "\n  version %llu from %lld until %lld%s%s%s%s: %.600s",
                        (unsigned long long)view->version->number,
                        (long long)view->version->from_ms, (long long)view->version->until_ms,
                        view->in_table ? ", table" : "", view->in_index ? ", index" : "",
                        view->admits ? ", admitted" : "",
                        view->base_admits && !view->admits ? ", in the directory" : "", text.bytes);
        if (out->size && out->bytes[out->size - 1] == '\n')
            out->bytes[--out->size] = 0;
        sim_text_free(&text);
    }
}

char *sim_oracle_complain(const struct sim_node *node, const struct sim_item *item,
                          struct sim_span span, char *message)
{
    struct sim_text text = {0};
    sim_text_printf(&text, "%s; reads from %lld until %lld", message, (long long)span.from_ms,
                    (long long)span.until_ms);
    if (item)
        sim_oracle_tell_item(&text, node, item, span);
    sim_free(message);
    return text.bytes;
}

/* One item. */

/* The bytes of a view's file. False: it has none. */
static bool sim_oracle_render(struct sim_text *out, const struct sim_node *node,
                              const struct sim_view *view)
{
    out->size = 0;
    if (node->companion == SIM_COMPANION_TYPED) {
        sim_render_typed(out, node->table, node->pattern, view->version);
        return true;
    }
    if (node->companion == SIM_COMPANION_ATTRIBUTE)
        return sim_render_attribute(out, node->table, view->version, node->attribute);
    return sim_render_item(out, node->table, node->pattern, view->version);
}

static bool sim_oracle_is_exact(const struct sim_node *node)
{
    if (node->companion == SIM_COMPANION_ATTRIBUTE && node->pattern && node->pattern->index >= 0 &&
        !node->pattern->reads_again)
        return false; /* the index may lack the attribute, and a read by the key has it */
    return (node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM) &&
           (node->companion == SIM_COMPANION_NONE || node->companion == SIM_COMPANION_TYPED ||
            node->companion == SIM_COMPANION_ATTRIBUTE);
}

/* The date of an item is its own; the constant of a file without one is not documented. */
static bool sim_oracle_has_date(const struct sim_node *node, const struct sim_version *version,
                                const struct stat *stat)
{
    int64_t date = sim_render_date(node->table, node->pattern, version);
    return date == INT64_MIN || date == INT64_MAX || node->companion != SIM_COMPANION_NONE ||
           stat->st_mtim.tv_sec == date;
}

/* Whether the file of some version that may be seen has SIZE bytes, and, if BYTES, these. */
static bool sim_oracle_is_some_version(const struct sim_node *node, struct sim_span span,
                                       const char *bytes, size_t size, const struct stat *stat)
{
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    bool is_found = false;
    for (size_t i = 0; i < items.count && !is_found; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items.items[i], span);
        if (!sim_sight_may_be(&sight, node))
            continue;
        is_found = sight.has_more;
        for (unsigned v = 0; v < sight.count && !is_found; v++)
            is_found = sim_view_is_shown(&sight.views[v], node) &&
                       sim_oracle_render(&text, node, &sight.views[v]) && text.size == size &&
                       (!bytes || memcmp(text.bytes, bytes, size) == 0) &&
                       (!stat || sim_oracle_has_date(node, sight.views[v].version, stat));
    }
    sim_text_free(&text);
    sim_free(items.items);
    return is_found;
}

/* The files that the path may have. */
static void sim_oracle_tell_files(struct sim_text *out, const struct sim_node *node,
                                  const struct sim_items *items, struct sim_span span)
{
    struct sim_text file = {0};
    unsigned told = 0;
    for (size_t i = 0; i < items->count && told < 4; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items->items[i], span);
        for (unsigned v = 0; v < sight.count && told < 4; v++) {
            if (!sim_sight_may_be(&sight, node) || !sim_view_is_shown(&sight.views[v], node) ||
                !sim_oracle_render(&file, node, &sight.views[v]))
                continue;
            sim_text_printf(out, "\n  may be %zu bytes: %.500s", file.size, file.bytes);
            told++;
        }
    }
    sim_text_free(&file);
}

char *sim_oracle_report_items(const struct sim_node *node, struct sim_span span, char *message)
{
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    sim_text_printf(&text, "%s; reads from %lld until %lld; %zu items", message,
                    (long long)span.from_ms, (long long)span.until_ms, items.count);
    for (size_t i = 0; i < items.count && i < 5; i++)
        sim_oracle_tell_item(&text, node, items.items[i], span);
    sim_oracle_tell_files(&text, node, &items, span);
    sim_free(message);
    sim_free(items.items);
    return text.bytes;
}

static char *sim_oracle_judge_json(const char *bytes, size_t size)
{
    struct sim_json json;
    if (!sim_json_parse(&json, bytes, size))
        return sim_printf("it is no JSON: %.300s", bytes);
    sim_json_free(&json);
    return NULL;
}

static char *sim_oracle_judge_file(const char *path, const struct sim_node *node, const char *bytes,
                                   size_t size, int64_t from_ms, int64_t until_ms)
{
    struct sim_span span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    switch (node->kind) {
    case SIM_NODE_ENTRY:
    case SIM_NODE_ITEM:
        if (node->companion == SIM_COMPANION_INFO)
            return sim_oracle_judge_json(bytes, size);
        if (!sim_oracle_is_exact(node) || sim_oracle_is_some_version(node, span, bytes, size, NULL))
            return NULL;
        return sim_oracle_report_items(
            node, span, sim_printf("no version has these %zu bytes: %.700s", size, bytes));
    case SIM_NODE_LISTING:
        if (node->companion == SIM_COMPANION_JSONL)
            return sim_oracle_judge_lines(node, span, bytes, size);
        if (node->companion == SIM_COMPANION_COUNT)
            return sim_oracle_judge_count(node, span, bytes, size);
        if (node->companion == SIM_COMPANION_INFO)
            return sim_oracle_judge_json(bytes, size);
        return node->companion == SIM_COMPANION_NONE ? sim_copy("a directory was read") : NULL;
    case SIM_NODE_FACT:
        return sim_life_options()->is_snapshot || sim_life_options()->is_replay
                   ? NULL
                   : sim_fact_judge(node->table->table, strrchr(path, '/') + 1, bytes, size);
    case SIM_NODE_README:
    case SIM_NODE_UNKNOWN:
    case SIM_NODE_CONTROL:
        return NULL;
    default:
        return sim_copy("the path has no file");
    }
}

/* Attributes of files. */

static char *sim_oracle_judge_mode(const struct sim_node *node, const struct stat *stat)
{
    const struct sim_life_options *options = sim_life_options();
    bool is_item = node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM;
    bool is_directory;
    switch (node->kind) {
    case SIM_NODE_STRUCTURE:
    case SIM_NODE_PLACEHOLDER:
        is_directory = true;
        break;
    case SIM_NODE_LISTING:
        /* LIST@table is a directory, and so is one whose own name ends in "@". */
        if (node->companion == SIM_COMPANION_OTHER || node->companion == SIM_COMPANION_ATTRIBUTES)
            return NULL;
        is_directory = node->companion == SIM_COMPANION_NONE;
        break;
    case SIM_NODE_README:
        is_directory = false;
        break;
    default:
        if (!is_item || node->companion == SIM_COMPANION_OTHER)
            return NULL;
        is_directory = node->companion == SIM_COMPANION_ATTRIBUTES;
    }
    unsigned mode = (is_directory ? 0555 : 0444) & ~options->umask;
    bool is_secret =
        is_item && (node->pattern->attribute || (node->companion == SIM_COMPANION_ATTRIBUTE &&
                                                 sim_is_secret(node->table, node->attribute)));
    if (is_directory ? !S_ISDIR(stat->st_mode) : !S_ISREG(stat->st_mode))
        return sim_printf("its mode is %o", (unsigned)stat->st_mode);
    /* "files 0444, files of a secret 0400". */
    unsigned other = is_secret ? 0400 & ~options->umask : mode;
    if ((stat->st_mode & 07777) != mode && (stat->st_mode & 07777) != other)
        return sim_printf("its mode is %o instead of %o", (unsigned)stat->st_mode & 07777, mode);
    return NULL;
}

static char *sim_oracle_judge_stat(const char *path, const struct sim_node *node,
                                   const struct stat *stat, int64_t from_ms, int64_t until_ms)
{
    char *message = sim_oracle_judge_mode(node, stat);
    if (message)
        return message;
    if (node->kind == SIM_NODE_NONE || node->kind == SIM_NODE_PROBE ||
        node->kind == SIM_NODE_REFUSED || node->kind == SIM_NODE_BELOW_FILE ||
        (node->kind == SIM_NODE_PLACEHOLDER && node->depth))
        return sim_copy("nothing defines this path");
    if (!sim_oracle_is_exact(node))
        return NULL;
    struct sim_span span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    if (sim_oracle_is_some_version(node, span, NULL, (size_t)stat->st_size, stat))
        return NULL;
    return sim_oracle_report_items(node, span,
                                   sim_printf("no version has %lld bytes and the date %lld",
                                              (long long)stat->st_size,
                                              (long long)stat->st_mtim.tv_sec));
}

/* Errors. */

/* A query of an index picks an item, and the read of that item decides (docs/internals/plan.md),
 * even if others would fit. */
static bool sim_oracle_may_pick_another(const struct sim_node *node, const struct sim_items *items,
                                        struct sim_span span)
{
    if (node->kind != SIM_NODE_ITEM || node->pattern->index < 0)
        return false;
    for (size_t i = 0; i < items->count; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items->items[i], span);
        if (sim_sight_may_lack(&sight, node) && sim_sight_may_be_picked(&sight))
            return true;
    }
    return false;
}

/* Whether the path may be proven not found: no item certainly was there all the time. */
static char *sim_oracle_judge_absence(const char *path, const struct sim_node *node,
                                      int64_t from_ms, int64_t until_ms)
{
    int64_t ttl = sim_oracle_ttl_of(node) < ORACLE_ABSENT_TTL_MS ? sim_oracle_ttl_of(node)
                                                                 : ORACLE_ABSENT_TTL_MS;
    struct sim_span span =
        sim_oracle_span_of(path, node, ttl, 0, from_ms, until_ms); /* never stale */
    struct sim_span item_span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    char *message = NULL;
    bool picks = sim_oracle_may_pick_another(node, &items, item_span);
    for (size_t i = 0; i < items.count && !message && !picks; i++) {
        struct sim_sight sight;
        /* "Not found" is reused for 2 s, an item that did not fit for its ttl. */
        sim_sight_look(&sight, node, items.items[i], item_span);
        if (sim_sight_may_refuse(&sight))
            continue;
        sim_sight_look(&sight, node, items.items[i], span);
        if (sim_sight_may_lack(&sight, node))
            continue;
        bool has_file = true; /* in each version */
        for (unsigned v = 0; v < sight.count; v++) {
            if (!sim_view_is_shown(&sight.views[v], node))
                continue;
            if (sim_oracle_is_exact(node))
                has_file = has_file && sim_oracle_render(&text, node, &sight.views[v]);
            if (node->pattern->attribute)
                has_file =
                    has_file && sim_version_get(sight.views[v].version, node->pattern->attribute);
        }
        /* Another item may be the first one. */
        if (node->kind == SIM_NODE_ITEM && node->pattern->is_first && items.count > 1)
            has_file =
                has_file && node->companion != SIM_COMPANION_ATTRIBUTE && !node->pattern->attribute;
        if (has_file)
            message = sim_oracle_complain(node, items.items[i], span,
                                          sim_copy("an item that exists is not found"));
    }
    sim_text_free(&text);
    sim_free(items.items);
    return message;
}

static char *sim_oracle_judge_not_found(const char *path, const struct sim_node *node,
                                        int64_t from_ms, int64_t until_ms)
{
    switch (node->kind) {
    case SIM_NODE_ENTRY:
    case SIM_NODE_ITEM:
        /* No document says whether bare values have companions. */
        if (node->companion == SIM_COMPANION_OTHER ||
            (node->companion != SIM_COMPANION_NONE && node->pattern->attribute) ||
            (node->companion == SIM_COMPANION_ATTRIBUTE && !sim_oracle_is_exact(node)))
            return NULL;
        return sim_oracle_judge_absence(path, node, from_ms, until_ms);
    case SIM_NODE_LISTING:
        if (node->companion != SIM_COMPANION_NONE &&
            (node->companion == SIM_COMPANION_OTHER || node->pattern->is_groups ||
             node->companion == SIM_COMPANION_TYPED ||
             node->companion == SIM_COMPANION_ATTRIBUTES ||
             node->companion == SIM_COMPANION_ATTRIBUTE))
            return NULL;
        return sim_copy("a directory of the map is not found");
    case SIM_NODE_STRUCTURE:
        return node->companion == SIM_COMPANION_NONE
                   ? sim_copy("a directory of the map is not found")
                   : NULL;
    case SIM_NODE_README:
        return sim_copy("a README is not found");
    case SIM_NODE_PLACEHOLDER:
        return node->companion == SIM_COMPANION_NONE ? sim_copy("a placeholder is not found")
                                                     : NULL;
    default:
        return NULL;
    }
}

/* Whether the part NAME is a whole number or binary key, and VALUE is no number. */
static bool sim_oracle_is_no_number(const struct sim_model_table *table, const char *name,
                                    struct sim_slice value)
{
    for (unsigned k = 0; k < table->kind_count; k++)
        for (unsigned i = 0; i < table->kinds[k].key_count; i++) {
            const struct sim_piece *piece = &table->kinds[k].keys[i].format.pieces[0];
            if (!piece->is_bytes || strcmp(piece->text, name) != 0)
                continue;
            struct sim_text number = {0};
            bool is_number = sim_number_write(&number, value.bytes, value.size);
            sim_text_free(&number);
            if (!is_number)
                return true;
        }
    return false;
}

/* docs/map.md, "Conditions": values that can't be compared; docs/errors.md, "invalid". */
static bool sim_oracle_may_be_refused(const struct sim_node *node)
{
    if (node->kind == SIM_NODE_REFUSED || node->kind == SIM_NODE_UNKNOWN)
        return true;
    for (unsigned i = 0; i < node->path.count; i++) {
        struct sim_slice value = node->path.parts[i].value;
        if (value.size == 0 || sim_text_count_utf8(value.bytes, value.size) == SIZE_MAX ||
            (node->table && sim_oracle_is_no_number(node->table, node->path.parts[i].name, value)))
            return true;
        for (size_t c = 0; c < value.size; c++)
            if (strchr("# !\"", value.bytes[c]))
                return true;
    }
    return node->pattern &&
           (node->pattern->where == SIM_WHERE_BETWEEN || node->pattern->limit_part);
}

/* The number of items that a query of the path reads at most. */
static size_t sim_oracle_count_read(const struct sim_node *node)
{
    struct sim_node folder = *node;
    folder.kind = SIM_NODE_LISTING;
    if (node->kind == SIM_NODE_ENTRY)
        folder.path.count = node->base_count;
    struct sim_items items = sim_node_items(&folder);
    sim_free(items.items);
    return items.count;
}

static bool sim_oracle_is_directory(const struct sim_node *node)
{
    return node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_LISTING ||
           node->kind == SIM_NODE_PLACEHOLDER || node->companion == SIM_COMPANION_ATTRIBUTES;
}

static bool sim_oracle_has_long_step(const char *path)
{
    for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/')
        if (strcspn(at, "/") > 255)
            return true;
    return false;
}

/* Whether ERROR is one that the documents state for the path, without any fault. */
static bool sim_oracle_is_documented(const char *path, const struct sim_node *node, int error,
                                     int64_t from_ms, int64_t until_ms)
{
    const struct sim_life_options *options = sim_life_options();
    bool is_item = node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM;
    bool is_query = node->pattern && (node->kind == SIM_NODE_LISTING ||
                                      node->kind == SIM_NODE_ITEM || node->pattern->index >= 0);
    switch (error) {
    case EOPNOTSUPP:
        return node->kind == SIM_NODE_PLACEHOLDER ||
               (node->kind == SIM_NODE_ITEM && !node->pattern->kinds);
    case ENOTDIR:
        return !sim_oracle_is_directory(node) || node->companion != SIM_COMPANION_NONE;
    case EISDIR:
        return sim_oracle_is_directory(node);
    case EINVAL:
        return sim_oracle_may_be_refused(node) || node->companion == SIM_COMPANION_OTHER;
    case ENOTUNIQ:
        /* A directory reads the files that the map declares in it. */
        return node->kind == SIM_NODE_STRUCTURE ||
               (node->kind == SIM_NODE_ITEM && !node->pattern->is_first &&
                (node->companion == SIM_COMPANION_OTHER || sim_oracle_count_read(node) > 1));
    case ENAMETOOLONG:
        /* "A directory that is named after an entry cannot have a shortened name." */
        return sim_oracle_has_long_step(path) ||
               (node->kind == SIM_NODE_LISTING && node->pattern->is_groups);
    case EFBIG:
        /* The shards of stream.json are entries, too. The rows of @csv before the columns are known
         * have at most 256 KB. */
        return ((node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_FACT) &&
                options->max_entries < 1000000) ||
               node->companion == SIM_COMPANION_OTHER ||
               (node->companion == SIM_COMPANION_ATTRIBUTES && options->max_entries < 100) ||
               (is_query && sim_oracle_count_read(node) > options->max_entries) ||
               (node->companion != SIM_COMPANION_NONE &&
                (options->no_spool || options->spool_bytes || options->show_secrets)) ||
               options->allow_scan;
    case ENOSPC:
        return node->companion != SIM_COMPANION_NONE && options->spool_bytes;
    case EAGAIN:
        return node->companion != SIM_COMPANION_NONE && options->cache_bytes < 64 << 20;
    case EDQUOT:
        return options->max_rcu > 0 || options->max_rcu_per_process > 0;
    case EACCES:
        return sim_oracle_is_hidden_by_owner(node) ||
               (options->allow_other && !options->show_secrets &&
                (strstr(path, "/tables") || (is_item && node->pattern->attribute)));
    case ESTALE: {
        /* Without memory the bytes are not kept. */
        if (node->kind == SIM_NODE_CONTROL)
            return sim_causes_any(from_ms - ORACLE_HOLD_MS, until_ms);
        /* The bytes were dropped, and the item has changed, or left the map, since. */
        const struct sim_model *before = sim_model_now()->older;
        if (before && before->until_ms >= from_ms - ORACLE_HOLD_MS)
            return true;
        /* READMEs and facts change with the description of their table. */
        if (!is_item)
            return node->companion != SIM_COMPANION_NONE || node->kind == SIM_NODE_UNKNOWN ||
                   node->kind == SIM_NODE_README || node->kind == SIM_NODE_FACT;
        struct sim_span span =
            sim_oracle_span_of_result(path, node, from_ms - ORACLE_HOLD_MS, until_ms);
        struct sim_items items = sim_node_items(node);
        bool has_changed = false;
        for (size_t i = 0; i < items.count && !has_changed; i++) {
            struct sim_sight sight;
            sim_sight_look(&sight, node, items.items[i], span);
            has_changed = sight.count > 1 || sim_sight_may_lack(&sight, node);
        }
        sim_free(items.items);
        return has_changed || node->companion == SIM_COMPANION_INFO;
    }
    default:
        return false;
    }
}

static char *sim_oracle_judge_error(const char *path, const struct sim_node *node, int error,
                                    int64_t from_ms, int64_t until_ms)
{
    if (error == ENOENT && sim_oracle_is_below(path, "/.ddbfs"))
        return NULL;
    if (error == ENOENT)
        return sim_oracle_judge_not_found(path, node, from_ms, until_ms);
    if (sim_oracle_is_documented(path, node, error, from_ms, until_ms))
        return NULL;
    return sim_copy("it has no cause");
}

typedef char *judge_fn(const struct sim_model *model, const struct sim_node *node, void *arg);

static bool sim_oracle_is_of_map(const struct sim_node *node)
{
    return node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_LISTING ||
           node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM ||
           node->kind == SIM_NODE_PLACEHOLDER;
}

/* Whether a result may be of MODEL, which a reload has replaced. "A directory that the map no
 * longer has keeps its old place" (docs/internals/immutable-inodes.md); IS_LACKED: the present map
 * has no such path. */
static bool sim_oracle_may_be_of(const struct sim_model *model, bool is_lacked, int64_t from_ms)
{
    /* A map that can't be read is refused, and the old one stays. */
    if (sim_causes_any(model->until_ms, model->until_ms + ORACLE_SIGHUP_MS))
        return true;
    return from_ms < model->until_ms + (is_lacked ? ORACLE_RELOAD_MS : ORACLE_SIGHUP_MS);
}

static void sim_oracle_judge(const char *oracle_name, const char *path, int64_t from_ms,
                             judge_fn *fn, void *arg)
{
    char *message = NULL;
    bool is_lacked = false;
    for (const struct sim_model *model = sim_model_now(); model; model = model->older) {
        struct sim_node node;
        if (model->until_ms != INT64_MAX && !sim_oracle_may_be_of(model, is_lacked, from_ms))
            break;
        sim_model_resolve(model, path, &node);
        char *own = fn(model, &node, arg);
        is_lacked = is_lacked || !sim_oracle_is_of_map(&node);
        sim_node_clean_up(&node);
        if (!own) {
            sim_free(message);
            return;
        }
        if (!message)
            message = own;
        else
            sim_free(own);
    }
    sim_defect(oracle_name, "%s: %s", path, message);
}

struct reading {
    const char *path, *bytes, *operation;
    size_t size;
    char *const *names;
    size_t count;
    const struct stat *stat;
    int error;
    int64_t from_ms, until_ms;
};

static char *sim_oracle_judge_reading(const struct sim_model *model, const struct sim_node *node,
                                      void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_file(of->path, node, of->bytes, of->size, of->from_ms, of->until_ms);
}

static char *sim_oracle_judge_names(const struct sim_model *model, const struct sim_node *node,
                                    void *arg)
{
    const struct reading *of = arg;
    return sim_oracle_judge_listing(model, of->path, node, of->names, of->count, of->from_ms,
                                    of->until_ms);
}

static char *sim_oracle_judge_attributes_of(const struct sim_model *model,
                                            const struct sim_node *node, void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_stat(of->path, node, of->stat, of->from_ms, of->until_ms);
}

static char *sim_oracle_judge_failure(const struct sim_model *model, const struct sim_node *node,
                                      void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_error(of->path, node, of->error, of->from_ms, of->until_ms);
}

void sim_oracle_file(const char *path, const char *bytes, size_t size, int64_t from_ms,
                     int64_t until_ms)
{
    struct reading reading = {
        .path = path, .bytes = bytes, .size = size, .from_ms = from_ms, .until_ms = until_ms};
    sim_oracle_judge("file", path, from_ms, sim_oracle_judge_reading, &reading);
}

void sim_oracle_listing(const char *path, char *const *names, size_t count, int64_t from_ms,
                        int64_t until_ms)
{
    struct reading reading = {
        .path = path, .names = names, .count = count, .from_ms = from_ms, .until_ms = until_ms};
    if (count > sim_life_options()->max_entries)
        sim_defect("limits", "%s has %zu entries, with --max-entries %u", path, count,
                   sim_life_options()->max_entries);
    sim_oracle_judge("listing", path, from_ms, sim_oracle_judge_names, &reading);
}

void sim_oracle_stat(const char *path, const struct stat *stat, int64_t from_ms, int64_t until_ms)
{
    struct reading reading = {.path = path, .stat = stat, .from_ms = from_ms, .until_ms = until_ms};
    sim_oracle_judge("stat", path, from_ms, sim_oracle_judge_attributes_of, &reading);
}

/* ITEM@similar is ENODEV without a vector index that is ready and finds something, EINVAL if the
 * item has no vector that suits it, ENOENT if it does not exist, and ENOTUNIQ if the path means
 * several. */
static bool sim_oracle_is_similar_refusal(const char *path, int error)
{
    return strstr(path, "@similar") && (error == ENODEV || error == EINVAL || error == ENOENT ||
                                        error == ENOTDIR || error == ENOTUNIQ);
}

void sim_oracle_error(const char *path, const char *operation, int error, int64_t from_ms,
                      int64_t until_ms)
{
    struct reading reading = {.path = path,
                              .operation = operation,
                              .error = error,
                              .from_ms = from_ms,
                              .until_ms = until_ms};
    if (error == EROFS && strcmp(operation, "write") == 0)
        return;
    if (sim_oracle_is_similar_refusal(path, error))
        return;
    /* A recording lacks what was not read. */
    /* "The newest response counts, an error too": of the recorded mount, whose causes are not known
     * here. */
    if (error != ENOENT && sim_life_options()->is_replay && !sim_life_is_recording())
        return;
    if (error != ENOENT &&
        sim_causes_explain(error, from_ms, until_ms,
                           3 * sim_life_options()->timeout_ms + ORACLE_FAILURE_MS))
        return;
    char *name = sim_printf("error: %s of %s", strerror(error), operation);
    sim_oracle_judge(name, path, from_ms, sim_oracle_judge_failure, &reading);
    sim_free(name);
}

/* PATH, whose last step TARGET replaces, without "." and "..". */
static char *sim_oracle_follow(const char *path, const char *target)
{
    struct sim_text out = {0};
    sim_text_add(&out, path, (size_t)(strrchr(path, '/') - path));
    while (*target) {
        size_t size = strcspn(target, "/");
        if (size == 2 && memcmp(target, "..", 2) == 0) {
            while (out.size && out.bytes[--out.size] != '/')
                continue;
            out.bytes[out.size] = 0;
        } else if (size && !(size == 1 && *target == '.')) {
            sim_text_puts(&out, "/");
            sim_text_add(&out, target, size);
        }
        target += size;
        target += *target == '/';
    }
    return out.bytes;
}

/* Where the map's link of the item leads; NULL: the model does not know. */
static char *sim_oracle_expect_target(const struct sim_model *model, const struct sim_node *node,
                                      const struct sim_bindings *parts)
{
    const struct sim_model_table *table = node->table;
    const struct sim_pattern *pattern = &table->patterns[table->link_pattern];
    struct sim_text out = {0};
    bool is_known = true;
    sim_text_printf(&out, "/%s/%s", model->environment, table->directory);
    for (unsigned i = 0; i < pattern->step_count && is_known; i++) {
        sim_text_puts(&out, "/");
        is_known = sim_step_write(&out, &pattern->steps[i], parts);
    }
    if (is_known)
        return out.bytes;
    sim_text_free(&out);
    return NULL;
}

static char *sim_oracle_judge_target(const struct sim_model *model, const struct sim_node *node,
                                     void *arg)
{
    const struct reading *of = arg;
    const char *name = strrchr(of->path, '/') + 1;
    if ((node->kind != SIM_NODE_ENTRY && node->kind != SIM_NODE_ITEM) || node->table->is_generic ||
        !node->table->link || strcmp(name, node->table->link) != 0 || !strstr(of->path, "@links/"))
        return NULL;
    struct sim_items items = sim_node_items(node);
    struct sim_span span = sim_oracle_span_of_result(of->path, node, of->from_ms, of->until_ms);
    char *actual = sim_oracle_follow(of->path, of->bytes), *message = NULL;
    for (size_t i = 0; i < items.count && !message; i++) {
        struct sim_sight sight;
        struct sim_bindings none = {0}, parts;
        sim_sight_look(&sight, node, items.items[i], span);
        struct sim_pattern any = {.index = -1, .kinds = 1u << node->table->link_kind};
        for (unsigned v = 0; v < sight.count && items.count == 1 && !message; v++) {
            if (sim_pattern_takes_apart(node->table, &any, ~0u, &none, sight.views[v].version,
                                        &parts) != SIM_FIT_YES)
                continue;
            char *expected = sim_oracle_expect_target(model, node, &parts);
            if (expected && strcmp(expected, actual) != 0)
                message = sim_printf("it leads to %s instead of %s", actual, expected);
            sim_free(expected);
        }
    }
    sim_free(actual);
    sim_free(items.items);
    return message;
}

void sim_oracle_link(const char *path, const char *target, int64_t from_ms, int64_t until_ms)
{
    struct reading reading = {
        .path = path, .bytes = target, .from_ms = from_ms, .until_ms = until_ms};
    if (target[0] == '/' || !*target)
        sim_defect("link", "%s leads to %s, which is not relative", path, target);
    sim_oracle_judge("link", path, from_ms, sim_oracle_judge_target, &reading);
}

int64_t sim_paths_ttl_ms(const char *path)
{
    struct sim_node node;
    sim_model_resolve(sim_model_now(), path, &node);
    int64_t ttl_ms = node.pattern ? node.pattern->ttl_ms : 0;
    sim_node_clean_up(&node);
    return ttl_ms;
}

bool sim_paths_is_item(const char *path, const char *name)
{
    struct sim_node node;
    char *child = sim_printf("%s/%s", path, name);
    sim_model_resolve(sim_model_now(), child, &node);
    bool is_item = node.kind == SIM_NODE_ENTRY && node.companion == SIM_COMPANION_NONE;
    sim_node_clean_up(&node);
    sim_free(child);
    return is_item;
}
