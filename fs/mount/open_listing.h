/* Listings of directories. One is pinned: what has come stays in its place while anybody has it
 * open, so that offsets stay valid; what has not come is fetched as it is read. Whoever opens the
 * directory while its listing is fresh shares it. docs/internals/life-of-a-listing.md tells more.
 */
#ifndef DDBFS_FS_MOUNT_OPEN_LISTING_H
#define DDBFS_FS_MOUNT_OPEN_LISTING_H

#include "fs/mount/reply.h"

struct open_listing; /* of one directory */
struct listings;     /* all that there are */

/* They count against the mount's budget. NULL when memory ran out. */
struct listings *listings_new(struct mount *mount);
/* Ends them, open or not; who waits in one gets ERROR. NULL is fine. */
void listings_destroy(struct listings *listings, int error);

/* For the task PID. Once for each open_listing_close. NULL when memory ran out. */
struct open_listing *open_listing_open(struct listings *listings, struct node *node, pid_t pid);
void open_listing_close(struct open_listing *listing);

/* Answers a READDIRPLUS, now or when the entries have come. */
void open_listing_read(struct open_listing *listing, fuse_req_t req, size_t size, off_t offset);

/* The node that the latest listing of the directory NODE brought under NAME, and for how long that
 * is good; NULL when it brought none, or too long ago. */
struct node *open_listing_find(const struct node *node, struct span name, int64_t *ttl_left_ms);

/* The same in an outage: what a listing brought that is too old, but not by more than the mount may
 * show then. READ_MS is when it began to be read, on the clock that never jumps. */
struct node *open_listing_find_stale(const struct node *node, struct span name,
                                     int64_t *ttl_left_ms, int64_t *read_ms);

/* The next to open PATH, or any directory below it, gets a fresh listing; where PATH is an entry,
 * its name alone is told from now on. */
void listings_forget(struct listings *listings, struct span path);

/* Whether somebody waits for entries of the directory NODE. */
bool listings_wait_for(const struct listings *listings, const struct node *node);

/* Answers all that wait in any listing with ERROR. */
void listings_fail_readers(struct listings *listings, int error);

#endif
