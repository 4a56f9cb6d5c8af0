#include "fs/mount/mount_options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/nearest.h"
#include "core/base/printable.h"

/* What libfuse knows; with an equals sign where it takes a value. */
static const char *const words_of_fuse[] = {
    "allow_other",   "auto_unmount", "debug",       "default_permissions",
    "dirsync",       "symfollow",    "nosymfollow", "norelatime",
    "nostrictatime", "fsname=",      "subtype=",    "blksize=",
    "user=",         "context=",     "fscontext=",  "defcontext=",
    "rootcontext=",
};

/* Without the equals sign. */
static struct span mount_options_name_of(const char *word)
{
    return span_of(word, strcspn(word, "="));
}

static bool mount_options_is_for_fuse(struct span word)
{
    for (size_t i = 0; i < sizeof words_of_fuse / sizeof words_of_fuse[0]; i++) {
        struct span known = span_text(words_of_fuse[i]);
        if (span_equal(word, known) ||
            (span_ends(known, SPAN_LITERAL("=")) && span_starts(word, known)))
            return true;
    }
    return false;
}

/* Words of mount(8) and of fstab that say nothing to a read-only FUSE mount. */
static bool mount_options_is_for_others(struct span word)
{
    static const char *const words[] = {
        "auto",    "noauto",   "defaults",   "user",   "nouser", "users", "owner",
        "group",   "nofail",   "_netdev",    "rw",     "ro",     "suid",  "nosuid",
        "dev",     "nodev",    "exec",       "noexec", "async",  "sync",  "atime",
        "noatime", "relatime", "nodiratime", "silent", "loud",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is(word, words[i]))
            return true;
    return span_starts(word, SPAN_LITERAL("x-")) || span_starts(word, SPAN_LITERAL("comment="));
}

static bool mount_options_report_error(struct span word, const char *why)
{
    fprintf(stderr, "ddbfs: -o %.*s %s\n", (int)word.size, word.data, why);
    return false;
}

static bool mount_options_report_unknown(struct span word)
{
    static const char *const own[] = {"uid", "gid", "umask", "unlistable", "nonempty"};
    CLEAN_UP(buf_clean_up) struct buf why = {0}, safe = {0};
    const char *equals = memchr(word.data, '=', word.size);
    struct nearest nearest =
        nearest_to(equals ? span_of(word.data, (size_t)(equals - word.data)) : word);
    options_offer(&nearest);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        nearest_offer(&nearest, span_text(own[i]));
    for (size_t i = 0; i < sizeof words_of_fuse / sizeof words_of_fuse[0]; i++)
        nearest_offer(&nearest, mount_options_name_of(words_of_fuse[i]));
    if (span_equal(nearest.best, word)) {
        buf_add_text(&why, "needs a value: NAME=VALUE");
    } else {
        buf_add_text(&why, "is no option of a mount");
        nearest_write(&nearest, &why);
        buf_add_text(&why, "; see ddbfs mount --help");
    }
    printable_add(&safe, word, "");
    return mount_options_report_error(buf_span(&safe), buf_text(&why));
}

/* The number behind NAME= in WORD. */
static bool mount_options_read_number(struct span word, struct span name, int base,
                                      unsigned long *out)
{
    char text[16], *end;
    struct span value = span_from(word, name.size);
    if (value.size == 0 || value.size >= sizeof text || value.data[0] < '0' || value.data[0] > '9')
        return mount_options_report_error(word, "is no number");
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    *out = strtoul(text, &end, base);
    return (*end == '\0' && *out < UINT32_MAX) || mount_options_report_error(word, "is no number");
}

static bool mount_options_add_fuse(struct mount_options *mount, struct span word)
{
    buf_printf(&mount->fuse, "%s%.*s", mount->fuse.size ? "," : "", (int)word.size, word.data);
    return !mount->fuse.failed;
}

/* An option of ddbfs, as on the command line but for the dashes. */
static bool mount_options_set_own(struct mount_options *mount, struct options *options,
                                  struct span word, bool *known)
{
    const char *equals = memchr(word.data, '=', word.size);
    struct span name = equals ? span_of(word.data, (size_t)(equals - word.data)) : word;
    struct span value = equals ? span_from(word, name.size + 1) : span_text("");
    char *text = strndup(value.data, value.size);
    if (!text)
        return false;
    enum options_outcome outcome = options_set(options, name, equals ? text : NULL);
    *known = outcome != OPTIONS_UNKNOWN;
    if (outcome == OPTIONS_SET)
        buf_add(&mount->texts, &text, sizeof text); /* kept: the options point to it */
    else
        free(text);
    if (outcome == OPTIONS_WRONG && !equals)
        return mount_options_report_error(word, "needs a value: NAME=VALUE");
    return outcome != OPTIONS_WRONG ||
           mount_options_report_error(word, "has a value that it can't have");
}

static bool mount_options_is_about_modes(struct span word)
{
    return span_starts(word, SPAN_LITERAL("uid=")) || span_starts(word, SPAN_LITERAL("gid=")) ||
           span_starts(word, SPAN_LITERAL("umask="));
}

/* Whose files are, and what others may do with them. */
static bool mount_options_take_modes(struct mount_options *mount, struct span word)
{
    struct span uid = SPAN_LITERAL("uid="), gid = SPAN_LITERAL("gid="),
                umask = SPAN_LITERAL("umask=");
    bool is_uid = span_starts(word, uid), is_gid = span_starts(word, gid);
    unsigned long number;
    if (!mount_options_read_number(word,
                                   is_uid   ? uid
                                   : is_gid ? gid
                                            : umask,
                                   is_uid || is_gid ? 10 : 8, &number))
        return false;
    if (is_uid)
        mount->uid = (uid_t)number;
    else if (is_gid)
        mount->gid = (gid_t)number;
    else
        mount->umask = (mode_t)number & 0777;
    return true;
}

static bool mount_options_take_word(struct mount_options *mount, struct options *options,
                                    struct span word)
{
    bool own = false;
    if (word.size == 0 || mount_options_is_for_others(word))
        return true;
    if (span_is(word, "unlistable=quiet"))
        return mount->unlistable_quiet = true;
    if (span_is(word, "nonempty"))
        return mount->nonempty = true;
    if (mount_options_is_about_modes(word))
        return mount_options_take_modes(mount, word);
    if (span_starts(word, SPAN_LITERAL("max_read=")))
        return mount_options_report_error(
            word, "does not go with ddbfs"); /* libfuse would end at the greeting */
    /* ddbfs refresh and umount know its mounts by their type; with blkdev it is fuseblk's. */
    if ((span_starts(word, SPAN_LITERAL("subtype=")) && !span_is(word, "subtype=ddbfs")) ||
        span_is(word, "blkdev"))
        return mount_options_report_error(
            word, "does not go with ddbfs, whose mounts are known by their type");
    /* libfuse keeps it by looking at who asks; what the kernel has cached it gives to everybody. */
    if (span_is(word, "allow_root"))
        return mount_options_report_error(
            word, "would let in everybody, not only root; take allow_other if that is "
                  "meant");
    if (!mount_options_set_own(mount, options, word, &own))
        return false;
    if (own)
        return true;
    if (!mount_options_is_for_fuse(word))
        return mount_options_report_unknown(word);
    mount->allow_other = mount->allow_other || span_is(word, "allow_other");
    return mount_options_add_fuse(mount, word);
}

bool mount_options_init(struct mount_options *mount, struct options *options)
{
    *mount = (struct mount_options){.uid = getuid(), .gid = getgid()};
    for (unsigned i = 0; i < options->fuse_option_count; i++) {
        struct span rest = span_text(options->fuse_options[i]);
        while (rest.size > 0) {
            const char *comma = memchr(rest.data, ',', rest.size);
            struct span word = comma ? span_of(rest.data, (size_t)(comma - rest.data)) : rest;
            if (!mount_options_take_word(mount, options, word))
                return false;
            rest = span_from(rest, word.size + (comma ? 1 : 0));
        }
    }
    return true;
}

void mount_options_clean_up(struct mount_options *mount)
{
    char *text;
    for (size_t at = 0; at < mount->texts.size; at += sizeof text) {
        memcpy(&text, mount->texts.data + at, sizeof text);
        free(text);
    }
    buf_clean_up(&mount->texts);
    buf_clean_up(&mount->fuse);
}
