#include "fs/mount/control.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/base/instant.h"
#include "core/sources.h"
#include "fs/cli/control_path.h"
#include "fs/mount/account.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/metrics.h"
#include "fs/mount/usage.h"

/* Of what is under way, and of those who may read so much alone, so many are told. */
enum { MOST_WAITING = 100, MOST_BUDGETS = 100 };

static void control_write_member(struct buf *out, const char *name, struct span text)
{
    buf_printf(out, "\"%s\": ", name);
    json_write_string(out, text);
}

static void control_write_sum(struct buf *out, const struct usage_sum *sum)
{
    buf_printf(out, "\"requests\": %llu, \"failed_requests\": %llu, ",
               (unsigned long long)sum->requests, (unsigned long long)sum->failures);
    spent_write_json(&sum->spent, "units", out);
}

static void control_write_programs(const struct mount *mount, struct buf *out)
{
    struct usage_program program;
    buf_add_text(out, ",\n  \"programs\": [");
    for (size_t i = 0; usage_program(mount->usage, i, &program); i++) {
        buf_add_text(out, i ? ",\n    {" : "\n    {");
        control_write_member(out, "program", program.name);
        buf_printf(out, ", \"questions\": %llu, \"cached\": %llu, \"failed\": %llu, ",
                   (unsigned long long)program.questions, (unsigned long long)program.cached,
                   (unsigned long long)program.failed);
        control_write_sum(out, &program.sum);
        buf_printf(out, ", \"last_minute\": {\"questions\": %llu, \"cached\": %llu, ",
                   (unsigned long long)program.minute_questions,
                   (unsigned long long)program.minute_cached);
        control_write_sum(out, &program.minute);
        buf_add_text(out, "}}");
    }
    buf_add_text(out, "\n  ]");
}

static void control_write_uses(const struct mount *mount, struct buf *out)
{
    struct usage_use use;
    buf_add_text(out, ",\n  \"uses\": [");
    for (size_t i = 0; usage_use(mount->usage, i, &use); i++) {
        buf_add_text(out, i ? ",\n    {" : "\n    {");
        control_write_member(out, "table", use.table);
        buf_add_text(out, ", ");
        control_write_member(out, "index", use.index);
        buf_add_text(out, ", ");
        control_write_member(out, "pattern", use.pattern);
        buf_add_text(out, ", ");
        control_write_member(out, "program", use.program);
        buf_add_text(out, ", ");
        control_write_sum(out, &use.sum);
        buf_add_char(out, '}');
    }
    buf_add_text(out, "\n  ]");
}

/* Questions that have no answer yet, and listings that are being read; the newest first. */
static void control_write_waiting(const struct mount *mount, struct buf *out)
{
    unsigned count = 0;
    buf_add_text(out, ",\n  \"waiting\": [");
    for (const struct account *account = mount->accounts; account && count < MOST_WAITING;
         account = account->next) {
        buf_printf(out, "%s{\"pid\": %d, ", count++ ? ",\n    " : "\n    ",
                   (int)account->asker.id.pid);
        control_write_member(out, "program", span_text(account->asker.program));
        buf_add_text(out, ", ");
        account_write_path(account, out);
        buf_printf(out, ", \"ms\": %lld, \"requests\": %u, ", (long long)account_took_ms(account),
                   account->requests);
        spent_write_json(&account->spent, "units", out);
        buf_add_char(out, '}');
    }
    buf_add_text(out, "\n  ]");
}

/* Whoever has a limit of his own, and what he has taken of it; who asked last comes first. */
static void control_write_budgets(const struct mount *mount, struct buf *out)
{
    struct limits_group_sum account;
    double most = limits_stats(mount->limits).per_process;
    buf_add_text(out, ",\n  \"budgets\": [");
    for (size_t i = 0; i < MOST_BUDGETS && limits_group_at(mount->limits, i, &account); i++) {
        buf_printf(out, "%s{\"group\": %d, ", i ? ",\n    " : "\n    ", (int)account.group);
        control_write_member(out, "program", span_text(account.program));
        buf_add_text(out, ", \"units\": ");
        decimal_write(account.units, out);
        buf_add_text(out, ", \"left\": ");
        decimal_write(most > account.units ? most - account.units : 0, out);
        buf_printf(out, ", \"refused\": %llu}", (unsigned long long)account.refused);
    }
    buf_add_text(out, "\n  ]");
}

static void control_write_stats(const struct mount *mount, struct buf *out)
{
    struct counter numbers[COUNTERS];
    struct source_stats source = sources_stats(mount->app->sources);
    metrics_fill_counters(mount, numbers);
    buf_printf(out, "{\n  \"version\": \"%s\",\n  \"requests\": {", DDBFS_VERSION);
    for (size_t op = 0; op < source.operation_count; op++)
        buf_printf(out, "%s\"%s\": %llu", op ? ", " : "", source.operations[op].name,
                   (unsigned long long)source.operations[op].count);
    buf_add_char(out, '}');
    for (size_t i = 0; i < COUNTERS; i++) {
        buf_printf(out, ",\n  \"%s\": ", numbers[i].name);
        decimal_write(numbers[i].value, out);
    }
    control_write_programs(mount, out);
    control_write_uses(mount, out);
    control_write_waiting(mount, out);
    control_write_budgets(mount, out);
    buf_add_text(out, "\n}\n");
}

static void control_add_option(void *arg, const char *name, const char *value)
{
    struct buf *out = arg;
    buf_add_text(out, span_ends(buf_span(out), SPAN_LITERAL("{")) ? "" : ", ");
    json_write_string(out, span_text(name));
    buf_add_text(out, ": ");
    if (value)
        json_write_string(out, span_text(value));
    else
        buf_add_text(out, "true");
}

/* What commands go by that get a path below the mount, and `ddbfs status`. */
static void control_write_mount(const struct mount *mount, struct buf *out)
{
    const struct app *app = mount->app;
    buf_add_text(out, "{\n  \"map\": ");
    if (map_is_none(app->map))
        buf_add_text(out, "null");
    else
        json_write_string(out, span_text(app->map->file));
    buf_add_text(out, ",\n  \"started\": \"");
    instant_write(out, mount->dated_ms);
    buf_printf(out, "\",\n  \"pid\": %d,\n  \"options\": {", (int)getpid());
    options_each_inherited(app->options, control_add_option, out);
    buf_add_text(out, "}\n}\n");
}

static void control_write_ledger(const struct mount *mount, struct buf *out)
{
    ledger_show(mount->ledger, out);
}

/* The map as it was read, comments and all. */
static void control_write_map(const struct mount *mount, struct buf *out)
{
    buf_add_span(out, span_text(mount->app->map->text));
}

static void control_write_errors(const struct mount *mount, struct buf *out)
{
    journal_show_errors(mount->journal, out);
}

static void control_write_log(const struct mount *mount, struct buf *out)
{
    journal_show_lines(mount->journal, out);
}

static void control_write_recent(const struct mount *mount, struct buf *out)
{
    recent_paths_write(mount->recent, out);
}

const char *const control_names[] = {"errors",   "ledger.jsonl", "log",
                                     "map.json", "metrics",      CONTROL_MOUNT,
                                     "recent",   "stats.json",   NULL};

bool control_write(const struct mount *mount, struct span name, struct buf *out)
{
    static void (*const writers[])(const struct mount *, struct buf *) = {
        control_write_errors, control_write_ledger, control_write_log,    control_write_map,
        metrics_write,        control_write_mount,  control_write_recent, control_write_stats};
    for (size_t i = 0; control_names[i]; i++) {
        if (!span_is(name, control_names[i]))
            continue;
        writers[i](mount, out);
        return true;
    }
    return false;
}

struct path {
    char *bytes; /* owned */
    size_t size;
};

struct recent_paths {
    size_t count;
    struct path paths[RECENT_PATHS_MOST]; /* the newest last */
};

struct recent_paths *recent_paths_new(void)
{
    return calloc(1, sizeof(struct recent_paths));
}

void recent_paths_destroy(struct recent_paths *recent)
{
    if (!recent)
        return;
    for (size_t i = 0; i < recent->count; i++)
        free(recent->paths[i].bytes);
    free(recent);
}

/* Takes out the path at AT, and moves the newer ones up. */
static struct path recent_take_out(struct recent_paths *recent, size_t at)
{
    struct path taken = recent->paths[at];
    recent->count--;
    memmove(&recent->paths[at], &recent->paths[at + 1], (recent->count - at) * sizeof taken);
    return taken;
}

void recent_paths_add(struct recent_paths *recent, struct span path)
{
    struct path added = {NULL, path.size};
    for (size_t i = recent->count; i-- > 0 && !added.bytes;)
        if (span_equal(span_of(recent->paths[i].bytes, recent->paths[i].size), path))
            added = recent_take_out(recent, i);
    if (!added.bytes) {
        added.bytes = malloc(path.size + 1);
        if (!added.bytes)
            return;
        memcpy(added.bytes, path.data, path.size);
        if (recent->count == RECENT_PATHS_MOST)
            free(recent_take_out(recent, 0).bytes);
    }
    recent->paths[recent->count++] = added;
}

void recent_paths_write(const struct recent_paths *recent, struct buf *out)
{
    for (size_t i = recent->count; i-- > 0;) {
        buf_add(out, recent->paths[i].bytes, recent->paths[i].size);
        buf_add_char(out, '\n');
    }
}
