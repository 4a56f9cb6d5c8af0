#include "fs/mount/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/read/fetch.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/usage.h"

/* The RCU of the cheapest request. */
#define LEAST_UNITS 0.5

bool accounts_open(struct mount *mount, const char *file, struct error *err)
{
    const struct options *options = mount->app->options;
    struct clock *clock = loop_clock(mount->app->loop);
    mount->processes = processes_new("/proc", options->max_rcu_per_process > 0);
    mount->limits = limits_new(clock, options->max_rcu, options->max_rcu_per_process,
                               (double)options->max_search_bytes);
    mount->usage = usage_new(clock);
    mount->ledger = ledger_new(mount->app->loop, file, &mount->app->log, err);
    return (mount->processes && mount->limits && mount->usage) ? mount->ledger != NULL
                                                               : error_no_memory(err);
}

void accounts_leave_loop(struct mount *mount)
{
    loop_remove_timer(mount->naming);
    mount->naming = NULL;
    ledger_leave_loop(mount->ledger);
}

void accounts_close(struct mount *mount)
{
    processes_destroy(mount->processes);
    limits_destroy(mount->limits);
    usage_destroy(mount->usage);
    ledger_destroy(mount->ledger);
}

static void account_identify(struct account *account)
{
    if (account->is_identified)
        return;
    account->is_identified = true;
    list_remove(&account->unnamed);
    processes_find(account->mount->processes, account->task, &account->process);
}

void accounts_identify(struct mount *mount)
{
    LIST_EACH_SAFE (struct account, each, &mount->unnamed, unnamed)
        account_identify(each);
}

static void accounts_on_naming_timer(void *arg)
{
    struct mount *mount = arg;
    mount->naming = NULL;
    accounts_identify(mount);
}

void accounts_identify_soon(struct mount *mount)
{
    if (mount->naming || list_is_empty(&mount->unnamed))
        return;
    mount->naming = loop_add_timer(mount->app->loop, 0, accounts_on_naming_timer, mount);
    if (!mount->naming)
        accounts_identify(mount);
}

/* A text of any bytes, as a JSON string that a terminal may show. */
static void account_write_text(struct json_writer *json, const char *name, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, text, "");
    json->out->failed = json->out->failed || safe.failed;
    json_writer_add_string(json, name, buf_span(&safe));
}

void account_write_path(const struct account *account, struct json_writer *json)
{
    account_write_text(json, "path", buf_span(&account->path));
}

/* The operations, in the order in which they are sent. */
static const char *account_operations_of(const struct plan *plan)
{
    bool again = plan->reads_again;
    switch (plan->kind) {
    case PLAN_KEY:
        return "GetItem";
    case PLAN_LIST:
        return again ? "Query, BatchGetItem" : "Query";
    case PLAN_FIND:
    case PLAN_SEARCH:
        return again ? "Query, GetItem" : "Query";
    }
    return "";
}

static void account_write_plan(const struct plan *plan, struct json_writer *json)
{
    CLEAN_UP(buf_clean_up) struct buf pattern = {0}, operations = {0};
    buf_add_text(&operations, account_operations_of(plan));
    buf_add_text(&pattern, plan->table->path_name);
    buf_add_char(&pattern, '/');
    buf_add_text(&pattern, plan->pattern->path);
    json->out->failed = json->out->failed || pattern.failed;
    account_write_text(json, "table", span_text(plan->table_name));
    if (plan->query && plan->query->index)
        account_write_text(json, "index", span_text(plan->query->index));
    account_write_text(json, "pattern", buf_span(&pattern));
    if (plan->search && !(plan->query && plan->query->index))
        account_write_text(json, "index", span_text(plan->search->index));
    if (plan->search)
        buf_printf(&operations, ", SearchVectors%s",
                   plan->found == PLAN_FOUND_ONE   ? ", GetItem"
                   : plan->found == PLAN_FOUND_ALL ? ", BatchGetItem"
                                                   : "");
    json->out->failed = json->out->failed || operations.failed;
    account_write_text(json, "plan", buf_span(&operations));
}

static void account_write_line(const struct account *account, struct buf *out)
{
    struct clock *clock = loop_clock(account->mount->app->loop);
    int64_t wall_ms = clock->wall_ms(clock) - (clock->now_ms(clock) - account->since_ms);
    bool is_cached = account->requests == 0 && (account->error == 0 || account->error == ENOENT);
    CLEAN_UP(buf_clean_up) struct buf time = {0};
    instant_write(&time, wall_ms); /* "2026-04-16T10:15:00Z", which becomes "…:00.123Z" */
    if (!time.failed)
        buf_truncate(&time, time.size - 1);
    buf_printf(&time, ".%03dZ", (int)(wall_ms % 1000));
    out->failed = out->failed || time.failed;

    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_string(&json, "time", buf_span(&time));
    json_writer_add_integer(&json, "pid", account->process.id.pid);
    account_write_text(&json, "program", span_text(account->process.program));
    account_write_path(account, &json);
    if (account->plan)
        account_write_plan(account->plan, &json);
    json_writer_add_integer(&json, "requests", account->requests);
    if (account->failures)
        json_writer_add_integer(&json, "failed_requests", account->failures);
    spent_write_json(&account->spent, "units", json_writer_add_value(&json, NULL));
    json_writer_add_integer(&json, "ms", account_took_ms(account));
    if (account->is_snapshot)
        json_writer_add_bool(&json, "snapshot", true);
    else
        json_writer_add_bool(&json, "cached", is_cached);
    if (account->error)
        account_write_text(&json, "errno", span_text(strerrorname_np(account->error)));
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

/* The cost is known: adds it to the ledger and to the sums. */
static void account_report(struct account *account)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct mount *mount = account->mount;
    bool is_read = account->plan && !account->is_reported;
    /* A share of another access's request costs, too. */
    bool is_charged = account->requests > 0 || account->spent.units + account->spent.doubted > 0;
    if (!is_read && !is_charged && !account->error)
        return;
    usage_add_request(mount->usage, span_text(account->process.program),
                      account->error && account->error != ENOENT ? USAGE_FAILED
                      : account->requests > 0                    ? USAGE_FROM_SERVICE
                                                                 : USAGE_FROM_MEMORY);
    account_write_line(account, &line);
    if (!line.failed)
        ledger_add(mount->ledger, buf_span(&line));
}

static void account_on_charge(struct payer *payer, const struct expense *expense)
{
    struct account *account = (struct account *)payer;
    account_identify(account);
    account->requests += expense->requests;
    account->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&account->spent, &expense->spent);
    limits_charge(account->group, expense->spent.units + expense->expected);
    if (strcmp(expense->operation, "SearchVectors") == 0)
        limits_charge_search(account->group,
                             expense->spent.search_bytes +
                                 (double)expense->spent.unstated_searches * SEARCH_LEAST_BYTES);
    usage_add_expense(account->mount->usage, span_text(account->process.program), expense);
}

static double account_on_left(const struct payer *payer)
{
    return limits_left(((const struct account *)payer)->group);
}

static enum payer_word account_on_reserve(struct payer *payer, double least, double most,
                                          struct payer_turn *turn, struct error *err)
{
    struct account *account = (struct account *)payer;
    enum payer_word word = limits_reserve(account->group, least, most, turn, err);
    account->reserved += word == PAYER_AGREES ? most : 0;
    return word;
}

static void account_on_refund(struct payer *payer, double units)
{
    struct account *account = (struct account *)payer;
    limits_refund(account->group, units);
    account->reserved -= units;
}

static bool account_on_search(struct payer *payer, struct error *err)
{
    return limits_allow_search(((struct account *)payer)->group, err);
}

static void account_end(struct account *account)
{
    if (account->is_over)
        return;
    account_identify(account);
    account->took_ms = account_took_ms(account);
    account->is_over = true;
    list_remove(&account->node);
}

static struct span account_on_path(const struct payer *payer)
{
    const struct account *account = (const struct account *)payer;
    const struct tree *tree = &account->tree;
    struct span path = buf_span(&account->path);
    return tree->show_secrets || !map_may_reveal(tree->map, path) ? path : span_text("");
}

static void account_on_release(struct payer *payer)
{
    struct account *account = (struct account *)payer;
    account_end(account);
    account_report(account);
    limits_leave(account->group);
    buf_clean_up(&account->path);
    plan_unref(account->plan);
    map_unref(account->tree.map);
    free(account);
}

/* A warning about a response that is whole, but may be incomplete or wrong. */
static void account_on_log_line(void *arg, enum log_level level, const char *line)
{
    const struct account *account = arg;
    struct error why;
    (void)level;
    error_set(&why, ERROR_INVALID, "%s", line);
    journal_error(account->mount->journal, account->task, buf_span(&account->path), 0, &why);
}

struct account *account_new(struct mount *mount, pid_t pid, struct span path)
{
    static const struct payer_ops ops = {.charge = account_on_charge,
                                         .release = account_on_release,
                                         .left = account_on_left,
                                         .set_aside = account_on_reserve,
                                         .give_back = account_on_refund,
                                         .allow_search = account_on_search,
                                         .path = account_on_path};
    struct account *account = calloc(1, sizeof *account);
    if (!account)
        return NULL;
    buf_add_span(&account->path, path);
    if (account->path.failed) {
        free(account);
        return NULL;
    }
    account->payer = (struct payer){&ops, 1};
    account->mount = mount;
    account->log = (struct log){LOG_LEVEL_WARNING, account_on_log_line, account};
    account->tree = mount->app->tree;
    account->tree.map = map_ref(account->tree.map); /* SIGHUP may replace it before the end */
    account->tree.payer = &account->payer;
    account->tree.log = &account->log;
    account->since_ms = mount_now_ms(mount);
    account->task = pid;
    list_prepend(&mount->accounts, &account->node);
    list_prepend(&mount->unnamed, &account->unnamed);
    if (limits_stats(mount->limits).per_process > 0)
        account_identify(account);
    account->group = limits_join(mount->limits, &account->process);
    return account;
}

void account_note_read(struct account *account, const struct place *place)
{
    account->is_snapshot = account->is_snapshot || place->is_snapshot;
    struct error ignored;
    if (!account->plan && fetch_is_needed(place))
        account->plan = plan_ref(place_plan(place, &ignored));
}

void account_finish(struct account *account, int error)
{
    if (account->is_over)
        return;
    account->error = error;
    if (error == EDQUOT)
        limits_note_refusal(account->group);
    account_end(account);
}

void account_release(struct account *account)
{
    if (!account)
        return;
    account_finish(account, EINTR);
    payer_unref(&account->payer);
}

static void account_reset_cost(struct account *account)
{
    account->since_ms = mount_now_ms(account->mount);
    account->requests = 0;
    account->failures = 0;
    account->spent = (struct spent){0};
    account->is_reported = false;
}

void account_pass_on(struct account *account, pid_t pid)
{
    struct process process;
    struct mount *mount = account->mount;
    account_identify(account);
    processes_find(mount->processes, pid, &process);
    if (process.id.pid == account->process.id.pid &&
        process.id.started == account->process.id.started)
        return;
    account_report(account);
    struct limits_group *group = limits_join(mount->limits, &process);
    limits_pass(account->group, group, account->reserved);
    limits_leave(account->group);
    account->group = group;
    account->task = pid;
    account->process = process;
    account_reset_cost(account);
}

void account_refuse(struct account *account, int error)
{
    account->error = error;
    limits_note_refusal(account->group);
    account_report(account);
    account->error = 0;
    account_reset_cost(account);
    account->is_reported = true;
}

bool account_may_continue(struct account *account, struct error *err)
{
    return limits_allow(account->group, LEAST_UNITS, err);
}

bool account_shares_limit(struct account *account, pid_t pid)
{
    struct process process;
    processes_find(account->mount->processes, pid, &process);
    struct limits_group *group = limits_join(account->mount->limits, &process);
    limits_leave(group);
    return group == account->group;
}

/* Without memory the request is not counted. */
void account_note_cached(struct mount *mount, pid_t pid, struct span path,
                         const struct place *place)
{
    struct account *account = account_new(mount, pid, path);
    if (!account)
        return;
    account_note_read(account, place);
    place_release_plan(
        place); /* PLACE is a node's or a listing's, whose budget does not count it */
    account_finish(account, 0);
    account_release(account);
}

int64_t account_took_ms(const struct account *account)
{
    return account->is_over ? account->took_ms : mount_now_ms(account->mount) - account->since_ms;
}
