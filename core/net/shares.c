/* Turns by key. */
#include "core/net/shares.h"

#include <stdlib.h>

/* Lives while a turn is in it. */
struct share {
    struct dict_node node; /* first: a node of the dict is a share */
    unsigned members;      /* turns in it, granted or waiting */
    unsigned granted;
    struct turn *first, **end; /* those who wait, in the order they came */
    struct share *next,
        **link; /* among the shares in which somebody waits; NULL when nobody does */
    char key[];
};

bool shares_init(struct shares *shares, unsigned each, unsigned whole)
{
    *shares = (struct shares){.each = each, .whole = whole};
    shares->end = &shares->first;
    return dict_init(&shares->keys);
}

void shares_clean_up(struct shares *shares)
{
    dict_clean_up(&shares->keys);
}

static struct share *shares_find_share(struct shares *shares, const char *key)
{
    size_t size = strlen(key);
    struct dict_node *node = dict_find(&shares->keys, span_of(key, size));
    if (node)
        return (struct share *)node;
    struct share *share = calloc(1, sizeof *share + size + 1);
    if (!share)
        return NULL;
    memcpy(share->key, key, size);
    share->node.key = span_of(share->key, size);
    share->end = &share->first;
    dict_add(&shares->keys, &share->node);
    return share;
}

static void shares_queue(struct shares *shares, struct share *share)
{
    share->next = NULL;
    share->link = shares->end;
    *shares->end = share;
    shares->end = &share->next;
}

static void shares_unqueue(struct shares *shares, struct share *share)
{
    *share->link = share->next;
    *(share->next ? &share->next->link : &shares->end) = share->link;
    share->link = NULL;
}

/* A key has at most its own share, and at most as many turns as are still free for all: so each key
 * that comes finds some, even when those before it hang with all of theirs. (With shares of 16 in a
 * whole of 64, the first three that hang take 16 each, the next ones 8, 4, 2, 1 and 1.) */
static bool shares_may_go(const struct shares *shares, const struct share *share)
{
    return share->granted < shares->each && share->granted < shares->whole - shares->granted;
}

static void shares_grant(struct shares *shares, struct turn *turn)
{
    turn->granted = true;
    turn->share->granted++;
    shares->granted++;
}

bool shares_enter(struct shares *shares, struct turn *turn, const char *key)
{
    struct share *share = shares_find_share(shares, key);
    if (!share)
        return false;
    *turn = (struct turn){.share = share};
    share->members++;
    if (!share->first && shares_may_go(shares, share)) {
        shares_grant(shares, turn);
        return true;
    }
    if (!share->first)
        shares_queue(shares, share);
    turn->link = share->end;
    *share->end = turn;
    share->end = &turn->next;
    return true;
}

/* Takes it from those who wait. */
static void shares_unqueue_it(struct shares *shares, struct turn *turn)
{
    struct share *share = turn->share;
    *turn->link = turn->next;
    *(turn->next ? &turn->next->link : &share->end) = turn->link;
    turn->next = NULL;
    turn->link = NULL;
    if (!share->first)
        shares_unqueue(shares, share);
}

void shares_leave(struct shares *shares, struct turn *turn)
{
    struct share *share = turn->share;
    if (!share)
        return;
    if (turn->granted) {
        share->granted--;
        shares->granted--;
    } else {
        shares_unqueue_it(shares, turn);
    }
    *turn = (struct turn){0};
    if (--share->members == 0) {
        dict_remove(&shares->keys, &share->node);
        free(share);
    }
}

struct turn *shares_next(struct shares *shares)
{
    for (struct share *share = shares->first; share; share = share->next) {
        if (!shares_may_go(shares, share))
            continue;
        struct turn *turn = share->first;
        shares_unqueue_it(shares, turn);
        shares_grant(shares, turn);
        if (share->first) { /* others have their turn before it has another */
            shares_unqueue(shares, share);
            shares_queue(shares, share);
        }
        return turn;
    }
    return NULL;
}
