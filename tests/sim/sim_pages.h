/* The page cache of the simulated kernel. */
#ifndef DDBFS_TESTS_SIM_SIM_PAGES_H
#define DDBFS_TESTS_SIM_SIM_PAGES_H

#include "tests/sim/sim_dentries.h"

/* What a reader of a file has read ahead. */
struct sim_read_ahead {
    uint64_t next;   /* the page that a reader in order wants next */
    uint64_t marker; /* the page that begins the next window early */
    uint64_t end;    /* of the window */
    unsigned pages;  /* its size */
};

/* Reads at most SIZE bytes at OFFSET through the cache; returns how many, or a negative errno. FH
 * is the file's handle. */
ssize_t sim_pages_read(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                       struct sim_read_ahead *ahead, void *bytes, size_t size, uint64_t offset);

/* Drops the pages from number FROM on. Pages that are being read are dropped when they arrive. */
void sim_inode_drop_pages(struct sim_inode *inode, uint64_t from);

/* The program stores bytes in the cache. Waits for pages that are being read. Returns 0 or an
 * errno. */
int sim_pages_store(struct sim_inode *inode, uint64_t offset, const unsigned char *bytes,
                    size_t size);

/* Waits until none of the pages from number FROM on is being read, and drops them. */
void sim_pages_invalidate(struct sim_inode *inode, uint64_t from);

#endif
