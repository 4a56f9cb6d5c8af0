/* Answers to the kernel. libfuse's own replies are replaced here by ones that take notes. */
#include "fs/mount/reply.h"

#include <errno.h>

#include "tests/unit/check.h"

/* What the last reply was. */
static struct reply {
    int error;
    const char *bytes;
    size_t size;
    struct fuse_entry_param entry;
    int outcome; /* what libfuse returns to who replied */
} last;

int fuse_reply_err(fuse_req_t req, int error)
{
    (void)req;
    last.error = error;
    return last.outcome;
}

int fuse_reply_buf(fuse_req_t req, const char *bytes, size_t size)
{
    (void)req;
    last.bytes = bytes;
    last.size = size;
    return last.outcome;
}

int fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *entry)
{
    (void)req;
    last.entry = *entry;
    return last.outcome;
}

static void every_kind_of_error_has_its_own_errno(void)
{
    static const struct {
        enum error_kind kind;
        int error;
    } wanted[] = {
        {ERROR_NONE, 0},
        {ERROR_NOT_FOUND, ENOENT},
        {ERROR_NOT_LISTABLE, EOPNOTSUPP},
        {ERROR_TOO_LARGE, EFBIG},
        {ERROR_LONG_NAME, ENAMETOOLONG},
        {ERROR_IS_DIRECTORY, EISDIR},
        {ERROR_NOT_DIRECTORY, ENOTDIR},
        {ERROR_LOOP, ELOOP},
        {ERROR_AMBIGUOUS, ENOTUNIQ},
        {ERROR_INVALID, EINVAL},
        {ERROR_DENIED, EACCES},
        {ERROR_EXPIRED, EKEYEXPIRED},
        {ERROR_THROTTLED, EAGAIN},
        {ERROR_TOO_FAST, EDQUOT},
        {ERROR_SPENT, EDQUOT},
        {ERROR_TIMED_OUT, ETIMEDOUT},
        {ERROR_UNREACHABLE, EHOSTUNREACH},
        {ERROR_REFUSED, ECONNREFUSED},
        {ERROR_RESET, ECONNRESET},
        {ERROR_TLS, EPROTO},
        {ERROR_UNTRUSTED, EPROTO},
        {ERROR_NO_TABLE, ENODEV},
        {ERROR_NO_STREAM, ENODEV},
        {ERROR_NOT_STORED, ENODATA},
        {ERROR_REPLACED, ESTALE},
        {ERROR_BAD_ANSWER, EBADMSG},
        {ERROR_SERVICE, EIO},
        {ERROR_INTERRUPTED, EINTR},
        {ERROR_NO_SPACE, ENOSPC},
        {ERROR_NO_DESCRIPTORS, EMFILE},
        {ERROR_NO_MEMORY, ENOMEM},
    };
    CHECK_INT(sizeof wanted / sizeof wanted[0], ERROR_NO_MEMORY + 1);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        CHECK_INT(wanted[i].kind, i);
        CHECK_INT(error_errno(wanted[i].kind), wanted[i].error);
    }
}

static void only_a_proven_miss_is_enoent(void)
{
    for (int kind = 0; kind <= ERROR_NO_MEMORY; kind++)
        CHECK((error_errno((enum error_kind)kind) == ENOENT) == (kind == ERROR_NOT_FOUND));
}

static void a_miss_is_believed_for_what_is_left_of_its_time(void)
{
    struct error missing = {.kind = ERROR_NOT_FOUND, .ttl_left_ms = 1500};
    last = (struct reply){0};
    reply_lookup_error(NULL, &missing);
    CHECK_INT(last.entry.ino, 0);
    CHECK(last.entry.entry_timeout == 1.5);
    CHECK_INT(last.error, 0);
}

static void a_miss_of_unknown_age_is_believed_for_the_least_time(void)
{
    struct error missing = {.kind = ERROR_NOT_FOUND};
    last = (struct reply){0};
    reply_lookup_error(NULL, &missing);
    CHECK(last.entry.entry_timeout == 0.1);
}

static void any_other_error_is_not_believed_at_all(void)
{
    struct error throttled = {.kind = ERROR_THROTTLED, .ttl_left_ms = 1500};
    last = (struct reply){.entry.ino = 99};
    reply_lookup_error(NULL, &throttled);
    CHECK_INT(last.error, EAGAIN);
    CHECK_INT(last.entry.ino, 99);
}

static struct mount mount = {.uid = 7, .gid = 8, .umask = 0};

static void a_file_is_read_only_and_of_the_mount_s_owner(void)
{
    struct stat stat;
    struct node node = {.ino = 5, .kind = NODE_FILE, .size = 1025};
    reply_fill_stat(&mount, &node, &stat);
    CHECK_INT(stat.st_ino, 5);
    CHECK_INT(stat.st_mode, S_IFREG | 0444);
    CHECK_INT(stat.st_uid, 7);
    CHECK_INT(stat.st_gid, 8);
    CHECK_INT(stat.st_nlink, 1);
    CHECK_INT(stat.st_size, 1025);
    CHECK_INT(stat.st_blocks, 3);
}

static void a_directory_can_be_searched_and_has_one_link(void)
{
    struct stat stat;
    struct node node = {.ino = 5, .kind = NODE_DIRECTORY};
    reply_fill_stat(&mount, &node, &stat);
    CHECK_INT(stat.st_mode, S_IFDIR | 0555);
    CHECK_INT(stat.st_nlink, 1);
}

static void a_secret_is_for_its_owner_alone(void)
{
    struct stat stat;
    struct node node = {.kind = NODE_FILE, .secret = true};
    reply_fill_stat(&mount, &node, &stat);
    CHECK_INT(stat.st_mode, S_IFREG | 0400);
}

static void the_mask_takes_rights_away(void)
{
    struct stat stat;
    struct mount masked = {.umask = 077};
    struct node node = {.kind = NODE_DIRECTORY};
    reply_fill_stat(&masked, &node, &stat);
    CHECK_INT(stat.st_mode, S_IFDIR | 0500);
}

static void dates_keep_their_milliseconds_on_both_sides_of_1970(void)
{
    struct stat stat;
    struct node later = {.dated = true, .mtime_ms = 1234};
    struct node earlier = {.dated = true, .mtime_ms = -1};
    reply_fill_stat(&mount, &later, &stat);
    CHECK_INT(stat.st_mtim.tv_sec, 1);
    CHECK_INT(stat.st_mtim.tv_nsec, 234000000);
    reply_fill_stat(&mount, &earlier, &stat);
    CHECK_INT(stat.st_mtim.tv_sec, -1);
    CHECK_INT(stat.st_mtim.tv_nsec, 999000000);
    earlier.mtime_ms = -2000;
    reply_fill_stat(&mount, &earlier, &stat);
    CHECK_INT(stat.st_mtim.tv_sec, -2);
    CHECK_INT(stat.st_mtim.tv_nsec, 0);
}

static void a_node_without_a_date_has_that_of_the_mount(void)
{
    struct stat stat;
    struct mount started = {.dated_ms = 5678};
    struct node undated = {.kind = NODE_DIRECTORY}, epoch = {.dated = true};
    reply_fill_stat(&started, &undated, &stat);
    CHECK_INT(stat.st_mtim.tv_sec, 5);
    reply_fill_stat(&started, &epoch, &stat);
    CHECK_INT(stat.st_mtim.tv_sec, 0);
}

static void a_name_is_good_for_what_is_left_and_never_for_nothing(void)
{
    struct fuse_entry_param entry;
    struct node node = {.ino = 5, .kind = NODE_FILE};
    reply_fill_entry(&mount, &node, 2500, &entry);
    CHECK(entry.ino == 5 && entry.entry_timeout == 2.5);
    CHECK(entry.attr_timeout > 1e8);
    reply_fill_entry(&mount, &node, 0, &entry);
    CHECK(entry.entry_timeout == 0.1);
    reply_fill_entry(&mount, &node, -5000, &entry);
    CHECK(entry.entry_timeout == 0.1);
}

static void check_slice(size_t size, off_t offset, const char *wanted)
{
    struct span bytes = SPAN_LITERAL("0123456789");
    last = (struct reply){0};
    reply_bytes(NULL, bytes, size, offset);
    CHECK_SPAN(span_of(last.bytes, last.size), span_text(wanted));
}

static void bytes_are_given_as_far_as_there_are_any(void)
{
    check_slice(4, 0, "0123");
    check_slice(4, 8, "89");
    check_slice(100, 0, "0123456789");
    check_slice(4, 10, "");
    check_slice(4, 11, "");
    check_slice(0, 3, "");
    check_slice(SIZE_MAX, 9, "9");
}

static void no_offset_leads_out_of_the_bytes(void)
{
    check_slice(4, -1, "");
    check_slice(4, INT64_MIN, "");
    check_slice(4, INT64_MAX, "");
}

static void an_empty_file_has_an_empty_answer(void)
{
    last = (struct reply){.size = 5};
    reply_bytes(NULL, span_text(""), 4096, 0);
    CHECK_INT(last.size, 0);
}

/* The root of no map at all is all the node that this needs. */
static void a_reply_that_fails_is_no_look_up(void)
{
    struct budget budget = {.limit = 100};
    struct nodes *nodes = nodes_new(place_root(NULL), &budget);
    CHECK(nodes);
    mount.nodes = nodes;
    struct node_file file = {.kind = NODE_FILE, .bytes = span_text("x")};
    struct node *node = nodes_file(nodes, nodes_root(nodes), span_text("a"), &file);
    last = (struct reply){.outcome = -ENOENT};
    reply_entry(NULL, &mount, node, 1000);
    nodes_unpin(nodes, node);
    CHECK_INT(nodes_stats(nodes).files, 0);
    node = nodes_file(nodes, nodes_root(nodes), span_text("a"), &file);
    last = (struct reply){.outcome = 0};
    reply_entry(NULL, &mount, node, 1000);
    nodes_unpin(nodes, node);
    CHECK_INT(nodes_stats(nodes).files, 1);
    nodes_destroy(nodes);
    mount.nodes = NULL;
}

static const struct check_test tests[] = {
    {"every_kind_of_error_has_its_own_errno", every_kind_of_error_has_its_own_errno},
    {"only_a_proven_miss_is_enoent", only_a_proven_miss_is_enoent},
    {"a_miss_is_believed_for_what_is_left_of_its_time",
     a_miss_is_believed_for_what_is_left_of_its_time},
    {"a_miss_of_unknown_age_is_believed_for_the_least_time",
     a_miss_of_unknown_age_is_believed_for_the_least_time},
    {"any_other_error_is_not_believed_at_all", any_other_error_is_not_believed_at_all},
    {"a_file_is_read_only_and_of_the_mount_s_owner", a_file_is_read_only_and_of_the_mount_s_owner},
    {"a_directory_can_be_searched_and_has_one_link", a_directory_can_be_searched_and_has_one_link},
    {"a_secret_is_for_its_owner_alone", a_secret_is_for_its_owner_alone},
    {"the_mask_takes_rights_away", the_mask_takes_rights_away},
    {"dates_keep_their_milliseconds_on_both_sides_of_1970",
     dates_keep_their_milliseconds_on_both_sides_of_1970},
    {"a_node_without_a_date_has_that_of_the_mount", a_node_without_a_date_has_that_of_the_mount},
    {"a_name_is_good_for_what_is_left_and_never_for_nothing",
     a_name_is_good_for_what_is_left_and_never_for_nothing},
    {"bytes_are_given_as_far_as_there_are_any", bytes_are_given_as_far_as_there_are_any},
    {"no_offset_leads_out_of_the_bytes", no_offset_leads_out_of_the_bytes},
    {"an_empty_file_has_an_empty_answer", an_empty_file_has_an_empty_answer},
    {"a_reply_that_fails_is_no_look_up", a_reply_that_fails_is_no_look_up},
};

CHECK_MAIN(tests)
