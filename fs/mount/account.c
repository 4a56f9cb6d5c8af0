/* Bills, from the question to the line that tells of it. */
#include "fs/mount/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/read/fetch.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/usage.h"

/* What the cheapest request takes. */
#define LEAST_UNITS 0.5

bool accounts_open(struct mount *mount, const char *file, struct error *err)
{
    const struct options *options = mount->app->options;
    struct clock *clock = loop_clock(mount->app->loop);
    mount->processes = processes_new("/proc");
    mount->limits = limits_new(clock, options->max_rcu, options->max_rcu_per_process);
    mount->usage = usage_new(clock);
    mount->ledger = ledger_new(mount->app->loop, file, &mount->app->log, err);
    return (mount->processes && mount->limits && mount->usage) ? mount->ledger != NULL
                                                               : error_no_memory(err);
}

void accounts_close(struct mount *mount)
{
    processes_destroy(mount->processes);
    limits_destroy(mount->limits);
    usage_destroy(mount->usage);
    ledger_destroy(mount->ledger);
}

/* "2026-04-16T10:15:00.123Z" */
static void account_write_time(struct buf *out, int64_t wall_ms)
{
    instant_write(out, wall_ms);
    if (!out->failed)
        buf_truncate(out, out->size - 1);
    buf_printf(out, ".%03dZ", (int)(wall_ms % 1000));
}

/* A text that may hold anything, as a JSON string that a terminal may show. */
static void account_write_text(struct buf *out, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, text, "");
    out->failed = out->failed || safe.failed;
    json_write_string(out, buf_span(&safe));
}

static void account_write_member(struct buf *out, const char *name, struct span text)
{
    buf_printf(out, ",\"%s\":", name);
    account_write_text(out, text);
}

void account_write_path(const struct account *account, struct buf *out)
{
    buf_add_text(out, "\"path\": ");
    account_write_text(out, buf_span(&account->path));
}

static void account_write_took(const struct account *account, struct buf *out)
{
    bool is_cached = account->requests == 0 && (account->error == 0 || account->error == ENOENT);
    buf_printf(out, ",\"requests\":%u", account->requests);
    if (account->failures)
        buf_printf(out, ",\"failed_requests\":%u", account->failures);
    buf_add_char(out, ',');
    spent_write_json(&account->spent, "units", out);
    buf_printf(out, ",\"ms\":%lld,\"cached\":%s", (long long)account_took_ms(account),
               is_cached ? "true" : "false");
    if (account->error)
        account_write_member(out, "errno", span_text(strerrorname_np(account->error)));
}

static void account_write_line(const struct account *account, struct buf *out)
{
    struct clock *clock = loop_clock(account->mount->app->loop);
    int64_t ago_ms = clock->now_ms(clock) - account->since_ms;
    buf_add_text(out, "{\"time\":\"");
    account_write_time(out, clock->wall_ms(clock) - ago_ms);
    buf_printf(out, "\",\"pid\":%d", (int)account->asker.id.pid);
    account_write_member(out, "program", span_text(account->asker.program));
    account_write_member(out, "path", buf_span(&account->path));
    buf_add_span(out, buf_span(&account->read));
    account_write_took(account, out);
    buf_add_text(out, "}\n");
}

/* All that the question took is known. */
static void account_report(struct account *account)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct mount *mount = account->mount;
    bool is_asked = account->requests > 0,
         is_answered = !account->error || account->error == ENOENT;
    if ((account->read.size == 0 || account->is_told) && !is_asked && !account->error)
        return;
    usage_add_request(mount->usage, span_text(account->asker.program),
                      !is_answered ? USAGE_FAILED
                      : is_asked   ? USAGE_FROM_SERVICE
                                   : USAGE_FROM_MEMORY);
    account_write_line(account, &line);
    if (!line.failed)
        ledger_add(mount->ledger, buf_span(&line));
}

static void account_on_charge(struct payer *payer, const struct expense *expense)
{
    struct account *account = (struct account *)payer;
    account->requests += expense->requests;
    account->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&account->spent, &expense->spent);
    limits_charge(account->group, expense->spent.units + expense->expected);
    usage_add_expense(account->mount->usage, span_text(account->asker.program), expense);
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
    account->set_aside += word == PAYER_AGREES ? most : 0;
    return word;
}

static void account_on_refund(struct payer *payer, double units)
{
    struct account *account = (struct account *)payer;
    limits_refund(account->group, units);
    account->set_aside -= units;
}

static void account_close_bill(struct account *account)
{
    if (account->is_over)
        return;
    account->took_ms = account_took_ms(account);
    account->is_over = true;
    *(account->previous ? &account->previous->next : &account->mount->accounts) = account->next;
    if (account->next)
        account->next->previous = account->previous;
    account->previous = NULL;
    account->next = NULL;
}

static void account_on_release(struct payer *payer)
{
    struct account *account = (struct account *)payer;
    account_close_bill(account);
    account_report(account);
    limits_leave(account->group);
    buf_clean_up(&account->path);
    buf_clean_up(&account->read);
    free(account);
}

/* An answer that is whole, but may not be what was meant, says so where failures are told. */
static void account_note(void *arg, enum log_level level, const char *line)
{
    const struct account *account = arg;
    struct error why;
    (void)level;
    error_set(&why, ERROR_INVALID, "%s", line);
    journal_error(account->mount->journal, account->asker.id.pid, buf_span(&account->path), 0,
                  &why);
}

struct account *account_new(struct mount *mount, pid_t pid, struct span path)
{
    static const struct payer_ops ops = {account_on_charge, account_on_release, account_on_left,
                                         account_on_reserve, account_on_refund};
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
    account->tree = mount->app->tree;
    account->tree.payer = &account->payer;
    account->log = (struct log){LOG_LEVEL_WARNING, account_note, account};
    account->tree.log = &account->log;
    account->since_ms = mount_now_ms(mount);
    processes_find(mount->processes, pid, &account->asker);
    account->group = limits_join(mount->limits, &account->asker);
    account->next = mount->accounts;
    if (account->next)
        account->next->previous = account;
    mount->accounts = account;
    return account;
}

/* The operations, in the order in which they are sent. */
static const char *account_words_of(const struct plan *plan)
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

void account_note_read(struct account *account, const struct place *place)
{
    struct error ignored;
    const struct plan *plan = fetch_is_needed(place) ? place_plan(place, &ignored) : NULL;
    if (!plan || account->read.size)
        return;
    CLEAN_UP(buf_clean_up) struct buf pattern = {0};
    buf_printf(&pattern, "%s/%s", plan->table->path_name, plan->pattern->path);
    account_write_member(&account->read, "table", span_text(plan->table_name));
    if (plan->query && plan->query->index)
        account_write_member(&account->read, "index", span_text(plan->query->index));
    account_write_member(&account->read, "pattern", buf_span(&pattern));
    account_write_member(&account->read, "plan", span_text(account_words_of(plan)));
}

void account_finish(struct account *account, int error)
{
    if (account->is_over)
        return;
    account->error = error;
    if (error == EDQUOT)
        limits_note_refusal(account->group);
    account_close_bill(account);
}

void account_release(struct account *account)
{
    if (!account)
        return;
    account_finish(account, EINTR);
    payer_unref(&account->payer);
}

static void account_begin_anew(struct account *account)
{
    account->since_ms = mount_now_ms(account->mount);
    account->requests = 0;
    account->failures = 0;
    account->spent = (struct spent){0};
    account->is_told = false;
}

void account_pass_on(struct account *account, pid_t pid)
{
    struct process asker;
    struct mount *mount = account->mount;
    processes_find(mount->processes, pid, &asker);
    if (asker.id.pid == account->asker.id.pid && asker.id.started == account->asker.id.started)
        return;
    account_report(account);
    struct limits_group *group = limits_join(mount->limits, &asker);
    limits_pass(account->group, group, account->set_aside);
    limits_leave(account->group);
    account->group = group;
    account->asker = asker;
    account_begin_anew(account);
}

void account_refuse(struct account *account, int error)
{
    account->error = error;
    limits_note_refusal(account->group);
    account_report(account);
    account->error = 0;
    account_begin_anew(account);
    account->is_told = true;
}

/* Where there is something left, whoever asks decides whether it is enough. */
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

/* Without memory for it nothing is told. */
void account_note_cached(struct mount *mount, pid_t pid, struct span path,
                         const struct place *place)
{
    struct account *account = account_new(mount, pid, path);
    if (!account)
        return;
    account_note_read(account, place);
    account_finish(account, 0);
    account_release(account);
}

int64_t account_took_ms(const struct account *account)
{
    return account->is_over ? account->took_ms : mount_now_ms(account->mount) - account->since_ms;
}
