/* Listings of directories. An entry that has arrived keeps its place while the directory is open,
 * so that offsets stay valid; later entries are requested as they are read. An opener of the
 * directory shares its listing while that is fresh. docs/internals/life-of-a-listing.md. */
#ifndef DDBFS_FS_MOUNT_OPEN_LISTING_H
#define DDBFS_FS_MOUNT_OPEN_LISTING_H

#include "fs/mount/reply.h"

struct open_listing; /* of one directory */
struct listings;     /* all of them */

/* Their memory is part of the mount's budget. NULL when memory ran out. */
struct listings *listings_new(struct mount *mount);
/* Ends all listings, open or not; their readers get ERROR. NULL is fine. */
void listings_destroy(struct listings *listings, int error);

/* Replies to an OPENDIR of NODE: with the first page, or at once if INFO's flags are not those of
 * opendir. The reply is INFO with the listing
 * as its handle, once for each open_listing_close; or the error in which the listing has ended
 * before its first page. */
void open_listing_open(struct listings *listings, struct node *node, fuse_req_t req,
                       const struct fuse_file_info *info);
void open_listing_close(struct open_listing *listing);

/* Replies to a READDIRPLUS, now or when the entries have come. */
void open_listing_read(struct open_listing *listing, fuse_req_t req, size_t size, off_t offset);

/* The node NAME of the latest listing of the directory NODE, and the rest of its TTL; NULL without
 * one, or past its TTL. */
struct node *open_listing_find(const struct node *node, struct span name, int64_t *ttl_left_ms);

/* The same in an outage, for entries past their TTL, within the time that the mount may use them.
 * READ_MS is when their listing was requested, on the monotonic clock. */
struct node *open_listing_find_stale(const struct node *node, struct span name,
                                     int64_t *ttl_left_ms, int64_t *read_ms);

/* The next opener of PATH, or of a directory below it, gets a fresh listing. If PATH is an entry,
 * listings have its name only from now on. */
void listings_forget(struct listings *listings, struct span path);

/* Whether a readdir waits for entries of the directory NODE: the kernel holds it meanwhile. */
bool listings_wait_for(const struct listings *listings, const struct node *node);

/* Fails all readers that wait in any listing with ERROR. */
void listings_fail_readers(struct listings *listings, int error);

#endif
