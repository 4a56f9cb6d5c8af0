/* Turns by key; bytes of unfinished responses. */
#include "core/net/admission.h"

#include <stdlib.h>

/* This much must be free before a waiting response goes on, or it would wait again at once. */
enum { INFLOW_ROOM = 1 << 20 };

/* Lives while a turn is in it. */
struct share {
    struct dict_node dict_node; /* first: a node of the dict is a share */
    unsigned members;           /* turns in it, granted or waiting */
    unsigned granted;
    struct list waiting;   /* turns, in their order */
    struct list_node node; /* of the shares with waiting turns */
    char key[];
};

bool shares_init(struct shares *shares, unsigned each, unsigned whole)
{
    *shares = (struct shares){.each = each, .whole = whole};
    return dict_init(&shares->keys);
}

void shares_clean_up(struct shares *shares)
{
    dict_clean_up(&shares->keys);
}

/* A key has at most its own share, and at most as many turns as are still free for all. So each new
 * key finds some, even if the keys before it hang with all of theirs. (With shares of 16 in a whole
 * of 64, the first three that hang have 16 each, the next ones 8, 4, 2, 1 and 1.) */
static bool shares_may_grant(const struct shares *shares, const struct share *share)
{
    return share->granted < shares->each && share->granted < shares->whole - shares->granted;
}

static void shares_grant(struct shares *shares, struct turn *turn)
{
    turn->granted = true;
    turn->share->granted++;
    shares->granted++;
}

/* Removes a waiting turn from its queue. */
static void shares_unqueue(struct turn *turn)
{
    list_remove(&turn->node);
    if (list_is_empty(&turn->share->waiting))
        list_remove(&turn->share->node);
}

bool shares_enter(struct shares *shares, struct turn *turn, const char *key)
{
    size_t size = strlen(key);
    struct dict_node *node = dict_find(&shares->keys, span_of(key, size));
    struct share *share = node ? (struct share *)node : calloc(1, sizeof *share + size + 1);
    if (!share)
        return false;
    if (!node) {
        memcpy(share->key, key, size);
        share->dict_node.key = span_of(share->key, size);
        dict_add(&shares->keys, &share->dict_node);
    }
    *turn = (struct turn){.share = share};
    share->members++;
    bool is_first = list_is_empty(&share->waiting);
    if (is_first && shares_may_grant(shares, share)) {
        shares_grant(shares, turn);
        return true;
    }
    if (is_first)
        list_append(&shares->waiting, &share->node);
    list_append(&share->waiting, &turn->node);
    return true;
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
        shares_unqueue(turn);
    }
    *turn = (struct turn){0};
    if (--share->members == 0) {
        dict_remove(&shares->keys, &share->dict_node);
        free(share);
    }
}

struct turn *shares_next(struct shares *shares)
{
    struct share *share = LIST_FIRST(&shares->waiting, struct share, node);
    while (share && !shares_may_grant(shares, share))
        share = LIST_NEXT(share, struct share, node);
    if (!share)
        return NULL;
    struct turn *turn = LIST_FIRST(&share->waiting, struct turn, node);
    shares_unqueue(turn);
    shares_grant(shares, turn);
    if (list_has(&share->node)) { /* the other shares come before the share's next turn */
        list_remove(&share->node);
        list_append(&shares->waiting, &share->node);
    }
    return turn;
}

void inflow_init(struct inflow *inflow, size_t most)
{
    *inflow = (struct inflow){.most = most};
}

static bool inflow_goes(const struct incoming *incoming)
{
    return incoming->bytes > 0 && !incoming->waits;
}

bool inflow_take(struct inflow *inflow, struct incoming *incoming, size_t size)
{
    inflow->going -= inflow_goes(incoming);
    bool fits = inflow->bytes + size <= inflow->most;
    if (!fits && inflow->going > 0) {
        incoming->waits = true;
        list_append(&inflow->waiting, &incoming->node);
        return false;
    }
    incoming->bytes += size;
    inflow->bytes += size;
    inflow->going += inflow_goes(incoming);
    return true;
}

void inflow_leave(struct inflow *inflow, struct incoming *incoming)
{
    inflow->going -= inflow_goes(incoming);
    inflow->bytes -= incoming->bytes;
    list_remove(&incoming->node);
    *incoming = (struct incoming){0};
}

struct incoming *inflow_next(struct inflow *inflow)
{
    struct incoming *next = LIST_FIRST(&inflow->waiting, struct incoming, node);
    bool has_room = inflow->bytes + INFLOW_ROOM <= inflow->most;
    if (!next || (!has_room && inflow->going > 0))
        return NULL;
    list_remove(&next->node);
    next->waits = false;
    inflow->going += inflow_goes(next);
    return next;
}
