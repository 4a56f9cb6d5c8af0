#include "fs/mount/polls.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/sources.h"
#include "fs/mount/account.h"
#include "fs/mount/journal.h"

enum { LINE_EACH_MS = 60 * 1000 };

struct polls {
    struct payer payer; /* first: a pointer to it is a pointer to this */
    struct mount *mount;
    struct log log;
    struct account *account;  /* owned; of the line that is written next; NULL: no poll was sent */
    struct loop_timer *timer; /* of that line */
    bool has_left;            /* the loop ends */
};

static void polls_end_account(struct polls *polls)
{
    loop_remove_timer(polls->timer);
    account_release(polls->account);
    polls->account = NULL;
    polls->timer = NULL;
}

static void polls_on_line(void *arg)
{
    struct polls *polls = arg;
    polls->timer = NULL;
    polls_end_account(polls);
}

/* The account is over at once, so that it is no access that waits; it is charged until its line is
 * written. Without a timer the line is written at the end of the mount. */
static void polls_begin_account(struct polls *polls)
{
    polls->account = account_new(polls->mount, getpid(), SPAN_LITERAL("(streams)"));
    if (!polls->account)
        return;
    account_finish(polls->account, 0);
    polls->timer = loop_add_timer(polls->mount->app->loop, LINE_EACH_MS, polls_on_line, polls);
}

static void polls_charge(struct payer *payer, const struct expense *expense)
{
    struct polls *polls = (struct polls *)payer;
    if (!polls->account && !polls->has_left)
        polls_begin_account(polls);
    if (polls->account)
        payer_charge(&polls->account->payer, expense);
}

static void polls_release(struct payer *payer)
{
    free(payer);
}

static const struct payer_ops polls_ops = {.charge = polls_charge, .release = polls_release};

/* A stream that is late or lost is among the errors of the mount, too. */
static void polls_on_log_line(void *arg, enum log_level level, const char *line)
{
    const struct mount *mount = ((const struct polls *)arg)->mount;
    struct error why;
    log_line(&mount->app->log, level, "%s", line);
    if (level > LOG_LEVEL_WARNING || !mount->journal)
        return;
    error_set(&why, ERROR_NO_STREAM, "%s", line);
    journal_error(mount->journal, getpid(), SPAN_LITERAL("(streams)"), 0, &why);
}

static void polls_charge_cache(void *arg, size_t more, size_t less)
{
    cache_charge(((struct mount *)arg)->app->cache, more, less);
}

struct polls *polls_new(struct mount *mount)
{
    const struct options *options = mount->app->options;
    struct polls *polls = calloc(1, sizeof *polls);
    if (!polls)
        return NULL;
    polls->payer = (struct payer){.ops = &polls_ops, .references = 1};
    polls->mount = mount;
    polls->log = (struct log){LOG_LEVEL_INFO, polls_on_log_line, polls};
    sources_follow(mount->app->sources,
                   &(struct sources_following){.all = options->live,
                                               .most_bytes = (size_t)options->cache_bytes / 4,
                                               .charge = polls_charge_cache,
                                               .charge_arg = mount,
                                               .payer = &polls->payer,
                                               .log = &polls->log});
    return polls;
}

void polls_leave_loop(struct polls *polls)
{
    if (!polls)
        return;
    polls->has_left = true;
    polls_end_account(polls);
}

void polls_destroy(struct polls *polls)
{
    if (polls)
        payer_unref(&polls->payer);
}
