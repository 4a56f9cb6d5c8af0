/* Bills, from the question to the line that tells of it. */
#include "fs/mount/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/usage_sums.h"

/* What the cheapest request takes. */
#define LEAST_UNITS 0.5

bool bills_open(struct mount *mount, const char *file, struct error *err)
{
    const struct options *options = mount->app->options;
    struct clock *clock = loop_clock(mount->app->loop);
    mount->processes = processes_new("/proc");
    mount->limits = limits_new(clock, options->max_rcu, options->max_rcu_per_process);
    mount->tally = usage_sums_new(clock);
    mount->ledger = ledger_new(mount->app->loop, file, &mount->app->log, err);
    return (mount->processes && mount->limits && mount->tally) ? mount->ledger != NULL
                                                               : error_no_memory(err);
}

void bills_close(struct mount *mount)
{
    processes_destroy(mount->processes);
    limits_destroy(mount->limits);
    usage_sums_destroy(mount->tally);
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

void bill_write_path(const struct bill *bill, struct buf *out)
{
    buf_add_text(out, "\"path\": ");
    account_write_text(out, buf_span(&bill->path));
}

static void account_write_took(const struct bill *bill, struct buf *out)
{
    bool is_cached = bill->requests == 0 && (bill->error == 0 || bill->error == ENOENT);
    buf_printf(out, ",\"requests\":%u", bill->requests);
    if (bill->failures)
        buf_printf(out, ",\"failed_requests\":%u", bill->failures);
    buf_add_char(out, ',');
    spent_write_json(&bill->spent, "units", out);
    buf_printf(out, ",\"ms\":%lld,\"cached\":%s", (long long)bill_took_ms(bill),
               is_cached ? "true" : "false");
    if (bill->error)
        account_write_member(out, "errno", span_text(strerrorname_np(bill->error)));
}

static void account_write_line(const struct bill *bill, struct buf *out)
{
    struct clock *clock = loop_clock(bill->mount->app->loop);
    int64_t ago_ms = clock->now_ms(clock) - bill->since_ms;
    buf_add_text(out, "{\"time\":\"");
    account_write_time(out, clock->wall_ms(clock) - ago_ms);
    buf_printf(out, "\",\"pid\":%d", (int)bill->asker.id.pid);
    account_write_member(out, "program", span_text(bill->asker.program));
    account_write_member(out, "path", buf_span(&bill->path));
    buf_add_span(out, buf_span(&bill->read));
    account_write_took(bill, out);
    buf_add_text(out, "}\n");
}

/* All that the question took is known. */
static void account_report(struct bill *bill)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct mount *mount = bill->mount;
    bool is_asked = bill->requests > 0, is_answered = !bill->error || bill->error == ENOENT;
    if ((bill->read.size == 0 || bill->is_told) && !is_asked && !bill->error)
        return;
    usage_sums_question(mount->tally, span_text(bill->asker.program),
                        !is_answered ? USAGE_SUMS_FAILED
                        : is_asked   ? USAGE_SUMS_ASKED
                                     : USAGE_SUMS_CACHED);
    account_write_line(bill, &line);
    if (!line.failed)
        ledger_add(mount->ledger, buf_span(&line));
}

static void account_charge_it(struct payer *payer, const struct expense *expense)
{
    struct bill *bill = (struct bill *)payer;
    bill->requests += expense->requests;
    bill->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&bill->spent, &expense->spent);
    account_charge(bill->account, expense->spent.units + expense->expected);
    usage_sums_expense(bill->mount->tally, span_text(bill->asker.program), expense);
}

static double account_left_it(const struct payer *payer)
{
    return account_left(((const struct bill *)payer)->account);
}

static enum payer_word account_set_aside_it(struct payer *payer, double least, double most,
                                            struct payer_turn *turn, struct error *err)
{
    struct bill *bill = (struct bill *)payer;
    enum payer_word word = account_set_aside(bill->account, least, most, turn, err);
    bill->set_aside += word == PAYER_AGREES ? most : 0;
    return word;
}

static void account_give_back(struct payer *payer, double units)
{
    struct bill *bill = (struct bill *)payer;
    account_refund(bill->account, units);
    bill->set_aside -= units;
}

static void account_close_bill(struct bill *bill)
{
    if (bill->is_over)
        return;
    bill->took_ms = bill_took_ms(bill);
    bill->is_over = true;
    *(bill->previous ? &bill->previous->next : &bill->mount->bills) = bill->next;
    if (bill->next)
        bill->next->previous = bill->previous;
    bill->previous = NULL;
    bill->next = NULL;
}

static void account_release(struct payer *payer)
{
    struct bill *bill = (struct bill *)payer;
    account_close_bill(bill);
    account_report(bill);
    account_leave(bill->account);
    buf_clean_up(&bill->path);
    buf_clean_up(&bill->read);
    free(bill);
}

/* An answer that is whole, but may not be what was meant, says so where failures are told. */
static void account_note(void *arg, enum log_level level, const char *line)
{
    const struct bill *bill = arg;
    struct error why;
    (void)level;
    error_set(&why, ERROR_INVALID, "%s", line);
    journal_error(bill->mount->journal, bill->asker.id.pid, buf_span(&bill->path), 0, &why);
}

struct bill *bill_new(struct mount *mount, pid_t pid, struct span path)
{
    static const struct payer_ops ops = {account_charge_it, account_release, account_left_it,
                                         account_set_aside_it, account_give_back};
    struct bill *bill = calloc(1, sizeof *bill);
    if (!bill)
        return NULL;
    buf_add_span(&bill->path, path);
    if (bill->path.failed) {
        free(bill);
        return NULL;
    }
    bill->payer = (struct payer){&ops, 1};
    bill->mount = mount;
    bill->tree = mount->app->tree;
    bill->tree.payer = &bill->payer;
    bill->log = (struct log){LOG_LEVEL_WARNING, account_note, bill};
    bill->tree.log = &bill->log;
    bill->since_ms = mount_now_ms(mount);
    processes_find(mount->processes, pid, &bill->asker);
    bill->account = account_join(mount->limits, &bill->asker);
    bill->next = mount->bills;
    if (bill->next)
        bill->next->previous = bill;
    mount->bills = bill;
    return bill;
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

void bill_read(struct bill *bill, const struct place *place)
{
    struct error ignored;
    struct plan *plan = place_is_read(place) ? place_plan(place, &ignored) : NULL;
    if (!plan || bill->read.size) {
        plan_unref(plan);
        return;
    }
    CLEAN_UP(buf_clean_up) struct buf pattern = {0};
    buf_printf(&pattern, "%s/%s", plan->table->path_name, plan->pattern->path);
    account_write_member(&bill->read, "table", span_text(plan->table_name));
    if (plan->query && plan->query->index)
        account_write_member(&bill->read, "index", span_text(plan->query->index));
    account_write_member(&bill->read, "pattern", buf_span(&pattern));
    account_write_member(&bill->read, "plan", span_text(account_words_of(plan)));
    plan_unref(plan);
}

void bill_answer(struct bill *bill, int error)
{
    if (bill->is_over)
        return;
    bill->error = error;
    if (error == EDQUOT)
        account_note_refusal(bill->account);
    account_close_bill(bill);
}

void bill_end(struct bill *bill)
{
    if (!bill)
        return;
    bill_answer(bill, EINTR);
    payer_unref(&bill->payer);
}

static void account_begin_anew(struct bill *bill)
{
    bill->since_ms = mount_now_ms(bill->mount);
    bill->requests = 0;
    bill->failures = 0;
    bill->spent = (struct spent){0};
    bill->is_told = false;
}

void bill_pass(struct bill *bill, pid_t pid)
{
    struct process asker;
    struct mount *mount = bill->mount;
    processes_find(mount->processes, pid, &asker);
    if (asker.id.pid == bill->asker.id.pid && asker.id.started == bill->asker.id.started)
        return;
    account_report(bill);
    struct account *account = account_join(mount->limits, &asker);
    account_pass(bill->account, account, bill->set_aside);
    account_leave(bill->account);
    bill->account = account;
    bill->asker = asker;
    account_begin_anew(bill);
}

void bill_refuse(struct bill *bill, int error)
{
    bill->error = error;
    account_note_refusal(bill->account);
    account_report(bill);
    bill->error = 0;
    account_begin_anew(bill);
    bill->is_told = true;
}

/* Where there is something left, whoever asks decides whether it is enough. */
bool bill_may_continue(struct bill *bill, struct error *err)
{
    return account_has(bill->account, LEAST_UNITS, err);
}

bool bill_is_limited_with(struct bill *bill, pid_t pid)
{
    struct process process;
    processes_find(bill->mount->processes, pid, &process);
    struct account *account = account_join(bill->mount->limits, &process);
    account_leave(account);
    return account == bill->account;
}

/* Without memory for it nothing is told. */
void bill_cached(struct mount *mount, pid_t pid, struct span path, const struct place *place)
{
    struct bill *bill = bill_new(mount, pid, path);
    if (!bill)
        return;
    bill_read(bill, place);
    bill_answer(bill, 0);
    bill_end(bill);
}

int64_t bill_took_ms(const struct bill *bill)
{
    return bill->is_over ? bill->took_ms : mount_now_ms(bill->mount) - bill->since_ms;
}
