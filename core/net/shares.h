/* Whose turn it is to send: every key (a table and its region, say) has a share of a whole that is
 * bounded, so that one of them that hangs does not take the others' turns. */
#ifndef DDBFS_CORE_NET_SHARES_H
#define DDBFS_CORE_NET_SHARES_H

#include "core/base/dict.h"

/* One who wants a turn: embedded in what it stands for. {0} is in no share. */
struct turn {
    struct share *share; /* NULL while in none */
    bool granted;
    struct turn *next;  /* behind it in the share's queue, while it waits */
    struct turn **link; /* what points to it there */
};

/* Stays where it was initialized. */
struct shares {
    struct dict keys; /* owns the shares */
    unsigned each;    /* how many turns one key has at once, at most */
    unsigned whole;   /* how many all have together */
    unsigned granted;
    struct share *first; /* those in which somebody waits, the next to be asked first */
    struct share **end;
};

/* False when memory ran out. */
bool shares_init(struct shares *shares, unsigned each, unsigned whole);
/* All turns must have left. */
void shares_clean_up(struct shares *shares);

/* Puts TURN, which is in no share, into that of KEY: it is granted at once, or waits. False when
 * memory ran out. */
bool shares_enter(struct shares *shares, struct turn *turn, const char *key);
/* Gives back a turn, or a place in the queue. Fine for one that is in no share. */
void shares_leave(struct shares *shares, struct turn *turn);
/* The next that is granted a turn since others left, one key after the other; NULL when none is. */
struct turn *shares_next(struct shares *shares);

#endif
