#include "tests/sim/sim_replies.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_device.h"
#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_world.h"

/* docs/mount.md: the longest time of a name that was not found; names are at most 255 bytes. */
enum { MISSING_MOST_MS = 2000, NAME_BYTES_MOST = 255 };

/* The type of a struct stat in a dirent. */
#define TYPE_OF(mode) (((mode)&S_IFMT) >> 12)

const char *sim_reply_operation(uint32_t opcode)
{
    static const char *const names[] = {
        [FUSE_LOOKUP] = "LOOKUP",
        [FUSE_FORGET] = "FORGET",
        [FUSE_GETATTR] = "GETATTR",
        [FUSE_READLINK] = "READLINK",
        [FUSE_OPEN] = "OPEN",
        [FUSE_READ] = "READ",
        [FUSE_STATFS] = "STATFS",
        [FUSE_RELEASE] = "RELEASE",
        [FUSE_GETXATTR] = "GETXATTR",
        [FUSE_LISTXATTR] = "LISTXATTR",
        [FUSE_FLUSH] = "FLUSH",
        [FUSE_INIT] = "INIT",
        [FUSE_OPENDIR] = "OPENDIR",
        [FUSE_READDIR] = "READDIR",
        [FUSE_ACCESS] = "ACCESS",
        [FUSE_RELEASEDIR] = "RELEASEDIR",
        [FUSE_INTERRUPT] = "INTERRUPT",
        [FUSE_READDIRPLUS] = "READDIRPLUS",
        [52] = "STATX",
    };
    const char *name = opcode < sizeof names / sizeof names[0] ? names[opcode] : NULL;
    return name ? name : "an operation";
}

bool sim_reply_has_deadline(const struct sim_call *call)
{
    /* a companion may read a listing as long as it advances */
    const char *name = call->subject ? call->subject : sim_numbers_name(call->node);
    return !strchr(name, '@');
}

static void sim_reply_check_lookup(const struct sim_call *call)
{
    struct fuse_entry_out entry;
    memcpy(&entry, call->reply, sizeof entry);
    if (entry.entry_valid_nsec >= 1000000000 || entry.attr_valid_nsec >= 1000000000 ||
        entry.entry_valid + entry.entry_valid_nsec == 0)
        sim_defect("kernel", "LOOKUP of %s in %llu is valid for %llu.%09u s", call->subject,
                   (unsigned long long)call->node, (unsigned long long)entry.entry_valid,
                   entry.entry_valid_nsec);
    if (entry.nodeid) {
        sim_numbers_grant(call->node, call->subject, strlen(call->subject), &entry);
        return;
    }
    uint64_t ms = entry.entry_valid * 1000 + entry.entry_valid_nsec / 1000000;
    if (ms > MISSING_MOST_MS)
        sim_defect("kernel", "%s in %llu is not found for %llu ms", call->subject,
                   (unsigned long long)call->node, (unsigned long long)ms);
}

/* Any byte but '/' and NUL; "." and ".." are real ones at the begin alone. */
static void sim_reply_check_name(const struct sim_call *call, const struct fuse_dirent *entry,
                                 const char *name, uint64_t node)
{
    bool is_dot = entry->namelen <= 2 && memcmp(name, "..", entry->namelen) == 0;
    bool is_bad = entry->namelen == 0 || entry->namelen > NAME_BYTES_MOST ||
                  memchr(name, '/', entry->namelen) || memchr(name, '\0', entry->namelen);
    if (is_bad || (is_dot && node))
        sim_defect("kernel", "the directory %llu has the name \"%.*s\" of %u bytes",
                   (unsigned long long)call->node, (int)entry->namelen, name, entry->namelen);
}

static void sim_reply_check_plus(const struct sim_call *call, const struct fuse_dirent *entry,
                                 const char *name, const struct fuse_entry_out *plus)
{
    if (plus->nodeid == 0)
        return;
    if (plus->attr.ino != entry->ino || TYPE_OF(plus->attr.mode) != entry->type)
        sim_defect("kernel", "the entry %.*s of %llu is %llu of type %u, and %llu of mode %o",
                   (int)entry->namelen, name, (unsigned long long)call->node,
                   (unsigned long long)entry->ino, entry->type, (unsigned long long)plus->attr.ino,
                   plus->attr.mode);
    sim_numbers_grant(call->node, name, entry->namelen, plus);
}

static void sim_reply_check_directory(const struct sim_call *call, bool has_attributes)
{
    size_t fixed = has_attributes ? sizeof(struct fuse_entry_out) : 0, at = 0;
    struct fuse_read_in read;
    memcpy(&read, call->body, sizeof read);
    while (call->reply_size - at >= fixed + FUSE_NAME_OFFSET) {
        struct fuse_entry_out plus = {0};
        struct fuse_dirent entry;
        memcpy(&plus, call->reply + at, fixed);
        memcpy(&entry, call->reply + at + fixed, FUSE_NAME_OFFSET);
        const char *name = (const char *)call->reply + at + fixed + FUSE_NAME_OFFSET;
        size_t whole = FUSE_DIRENT_ALIGN(fixed + FUSE_NAME_OFFSET + entry.namelen);
        if (whole > call->reply_size - at)
            break;
        sim_reply_check_name(call, &entry, name, plus.nodeid);
        sim_reply_check_plus(call, &entry, name, &plus);
        if (entry.off == read.offset || entry.off > INT64_MAX)
            sim_defect("kernel", "the entry %.*s of %llu has the cookie %llu", (int)entry.namelen,
                       name, (unsigned long long)call->node, (unsigned long long)entry.off);
        at += whole;
    }
    if (at != call->reply_size)
        sim_defect("kernel", "%zu bytes of %zu of the directory %llu are no entry",
                   call->reply_size - at, call->reply_size, (unsigned long long)call->node);
}

static void sim_reply_check_statfs(const struct sim_call *call)
{
    struct fuse_statfs_out stat;
    memcpy(&stat, call->reply, sizeof stat);
    if (stat.st.namelen != NAME_BYTES_MOST || !stat.st.bsize || !stat.st.blocks)
        sim_defect("kernel", "STATFS has names of %u bytes, and %llu blocks of %u bytes",
                   stat.st.namelen, (unsigned long long)stat.st.blocks, stat.st.bsize);
}

void sim_reply_check(const struct sim_call *call)
{
    struct fuse_attr_out attr;
    struct fuse_read_in read;
    switch (call->opcode) {
    case FUSE_LOOKUP:
        sim_reply_check_lookup(call);
        break;
    case FUSE_GETATTR:
        memcpy(&attr, call->reply, sizeof attr);
        sim_numbers_check_attr(call->node, &attr.attr);
        break;
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
        sim_reply_check_directory(call, call->opcode == FUSE_READDIRPLUS);
        break;
    case FUSE_READ:
        memcpy(&read, call->body, sizeof read);
        sim_numbers_check_read(call->node, read.offset, call->reply, call->reply_size, read.size);
        break;
    case FUSE_READLINK:
        sim_numbers_check_target(call->node, call->reply, call->reply_size);
        break;
    case FUSE_STATFS:
        sim_reply_check_statfs(call);
        break;
    default:
        break;
    }
}
