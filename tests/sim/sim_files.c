#include "tests/sim/sim_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_world.h"

enum { FIRST_NUMBER = 3, LARGE_FILE = 0100000 };

static struct sim_files {
    struct sim_file **all; /* by number */
    size_t room, count;
} sim_files;

/* An entry that the directory had at a cookie: as long as it is open, it has the same there. */
struct sim_seen_entry {
    struct sim_dict_link by_cookie, by_name;
    uint64_t cookie, next;
    char *name; /* owned */
};

struct sim_file *sim_file_find(int number)
{
    return number >= 0 && (size_t)number < sim_files.room ? sim_files.all[number] : NULL;
}

const uint64_t *sim_file_handle(const struct sim_file *file)
{
    return file->has_handle && !file->is_directory ? &file->fh : NULL;
}

static void sim_file_take_number(struct sim_file *file)
{
    size_t number = FIRST_NUMBER;
    while (number < sim_files.room && sim_files.all[number])
        number++;
    if (number >= sim_files.room) {
        size_t room = sim_files.room ? sim_files.room * 2 : 64;
        sim_files.all = sim_grow(sim_files.all, room * sizeof(struct sim_file *));
        memset(sim_files.all + sim_files.room, 0,
               (room - sim_files.room) * sizeof(struct sim_file *));
        sim_files.room = room;
    }
    sim_files.all[number] = file;
    sim_files.count++;
    file->number = (int)number;
}

void sim_file_forget_number(struct sim_file *file)
{
    sim_files.all[file->number] = NULL;
    sim_files.count--;
}

size_t sim_files_count(void)
{
    return sim_files.count;
}

static void sim_file_forget_entries(struct sim_file *file)
{
    for (size_t i = 0; i < file->seen.room; i++)
        for (struct sim_dict_link *link = file->seen.buckets[i], *next; link; link = next) {
            struct sim_seen_entry *entry = SIM_OF(link, struct sim_seen_entry, by_cookie);
            next = link->next;
            sim_free(entry->name);
            sim_free(entry);
        }
    sim_dict_free(&file->seen);
    sim_dict_free(&file->seen_names);
}

static void sim_file_on_released(struct sim_call *call)
{
    sim_inode_release(call->arg);
}

/* The program's handle ends without a process; the inode lives until the reply. */
static void sim_file_send_release(const struct sim_file *file)
{
    struct fuse_release_in release = {.fh = file->fh};
    struct sim_call call = {.opcode = file->is_directory ? FUSE_RELEASEDIR : FUSE_RELEASE,
                            .node = file->dentry->inode->number,
                            .end = sim_file_on_released,
                            .arg = file->dentry->inode};
    sim_call_add(&call, &release, sizeof release);
    sim_inode_use(file->dentry->inode);
    sim_call_post(&call);
}

void sim_file_release(struct sim_file *file)
{
    if (--file->uses > 0)
        return;
    if (file->has_handle)
        sim_file_send_release(file);
    sim_file_forget_entries(file);
    sim_dentry_release(file->dentry);
    sim_free(file);
}

/* Whether the program opens files or directories; ENOSYS is remembered. */
static int sim_file_send_open(struct sim_process *process, struct sim_file *file,
                              bool wants_directory)
{
    bool *is_absent = file->is_directory ? &sim_connection.no_opendir : &sim_connection.no_open;
    struct fuse_open_in wanted = {.flags =
                                      O_RDONLY | LARGE_FILE | (wants_directory ? O_DIRECTORY : 0)};
    struct fuse_open_out opened = {0};
    struct sim_call call = {.opcode = file->is_directory ? FUSE_OPENDIR : FUSE_OPEN,
                            .node = file->dentry->inode->number,
                            .process = process,
                            .reply_least = sizeof opened,
                            .reply_most = sizeof opened};
    if (*is_absent)
        return 0;
    sim_call_add(&call, &wanted, sizeof wanted);
    int error = sim_call_wait(&call);
    if (!error) {
        memcpy(&opened, call.reply, sizeof opened);
        file->fh = opened.fh;
        file->has_handle = true;
        if (opened.open_flags & FOPEN_DIRECT_IO)
            sim_broken("files that are not cached are not part of the simulated kernel");
        if (!file->is_directory && !(opened.open_flags & FOPEN_KEEP_CACHE))
            sim_inode_drop_pages(file->dentry->inode, 0);
    }
    sim_call_clean_up(&call);
    *is_absent = error == -ENOSYS || *is_absent;
    return error == -ENOSYS ? 0 : error;
}

int sim_file_open(struct sim_process *process, struct sim_dentry *dentry, bool wants_directory,
                  int *number)
{
    struct sim_file *file = sim_alloc(sizeof *file);
    file->dentry = dentry;
    file->uses = 1;
    file->is_directory = S_ISDIR(dentry->inode->attr.mode);
    sim_dentry_use(dentry);
    int error = sim_file_send_open(process, file, wants_directory);
    if (error) {
        sim_file_release(file);
        return error;
    }
    sim_file_take_number(file);
    *number = file->number;
    return 0;
}

void sim_file_flush(struct sim_process *process, struct sim_file *file)
{
    struct fuse_flush_in flush = {.fh = file->fh};
    struct sim_call call = {
        .opcode = FUSE_FLUSH, .node = file->dentry->inode->number, .process = process};
    if (file->is_directory || sim_connection.no_flush || file->dentry->inode->is_bad)
        return;
    sim_call_add(&call, &flush, sizeof flush);
    sim_connection.no_flush = sim_call_wait(&call) == -ENOSYS || sim_connection.no_flush;
    sim_call_clean_up(&call);
}

/* Entries. */

static struct sim_seen_entry *sim_file_seen_name(const struct sim_file *file, uint64_t hash,
                                                 const char *name, size_t size)
{
    struct sim_dict_link *link = sim_dict_first(&file->seen_names, hash);
    for (; link; link = sim_dict_next(link)) {
        struct sim_seen_entry *entry = SIM_OF(link, struct sim_seen_entry, by_name);
        if (strlen(entry->name) == size && memcmp(entry->name, name, size) == 0)
            return entry;
    }
    return NULL;
}

/* An open directory has each name once, and each cookie leads to the same entry again. */
static void sim_file_check_entry(struct sim_file *file, uint64_t cookie,
                                 const struct fuse_dirent *dirent, const char *name)
{
    uint64_t hash = sim_dict_hash(0, name, dirent->namelen);
    struct sim_dict_link *link = sim_dict_first(&file->seen, cookie);
    struct sim_seen_entry *known = link ? SIM_OF(link, struct sim_seen_entry, by_cookie) : NULL;
    const struct sim_seen_entry *twin = sim_file_seen_name(file, hash, name, dirent->namelen);
    if (known && (known != twin || known->next != dirent->off))
        sim_defect("kernel", "at the cookie %llu the directory %llu had %s, and has %.*s",
                   (unsigned long long)cookie, (unsigned long long)file->dentry->inode->number,
                   known->name, (int)dirent->namelen, name);
    if (!known && twin)
        sim_defect("kernel", "the directory %llu has %s twice",
                   (unsigned long long)file->dentry->inode->number, twin->name);
    if (known)
        return;
    known = sim_alloc(sizeof *known);
    known->cookie = cookie;
    known->next = dirent->off;
    known->name = sim_printf("%.*s", (int)dirent->namelen, name);
    sim_dict_add(&file->seen, &known->by_cookie, cookie);
    sim_dict_add(&file->seen_names, &known->by_name, hash);
}

static void sim_entry_fill(struct sim_entry *out, const struct fuse_dirent *dirent,
                           const char *name)
{
    size_t size = dirent->namelen < sizeof out->name ? dirent->namelen : sizeof out->name - 1;
    memcpy(out->name, name, size);
    out->name[size] = '\0';
    out->ino = dirent->ino;
    out->type = dirent->type;
    out->cookie = (int64_t)dirent->off;
}

static bool sim_entry_is_dot(const struct fuse_dirent *dirent, const char *name)
{
    return dirent->namelen <= 2 && memcmp(name, "..", dirent->namelen) == 0;
}

/* All entries of a reply are linked, also those that do not fit into the program's buffer. A
 * waiting link may let others run, so the reply is the caller's. */
static size_t sim_file_take_entries(struct sim_process *process, struct sim_file *file,
                                    const struct sim_call *call, uint64_t version,
                                    struct sim_entry *out, size_t count)
{
    bool is_plus = call->opcode == FUSE_READDIRPLUS;
    size_t fixed = is_plus ? sizeof(struct fuse_entry_out) : 0, at = 0, taken = 0;
    uint64_t cookie = file->position;
    while (call->reply_size - at >= fixed + FUSE_NAME_OFFSET) {
        struct fuse_entry_out plus = {0};
        struct fuse_dirent dirent;
        memcpy(&plus, call->reply + at, fixed);
        memcpy(&dirent, call->reply + at + fixed, FUSE_NAME_OFFSET);
        const char *name = (const char *)call->reply + at + fixed + FUSE_NAME_OFFSET;
        sim_file_check_entry(file, cookie, &dirent, name);
        cookie = dirent.off;
        if (taken < count) {
            sim_entry_fill(&out[taken++], &dirent, name);
            file->position = dirent.off;
        }
        at += FUSE_DIRENT_ALIGN(fixed + FUSE_NAME_OFFSET + dirent.namelen);
        if (call->reply_epoch != sim_connection.epoch)
            sim_connection.straddled_ms = sim_now_ms();
        if (plus.nodeid && !sim_entry_is_dot(&dirent, name))
            sim_dentries_link(process, file->dentry, name, dirent.namelen, &plus, version);
    }
    return taken;
}

static uint32_t sim_file_reply_size(size_t size)
{
    size_t most = (size_t)sim_connection.most_pages * SIM_PAGE;
    if (!sim_connection.large_readdir || size < SIM_PAGE)
        return SIM_PAGE;
    return (uint32_t)(size < most ? size : most);
}

ssize_t sim_file_read_entries(struct sim_process *process, struct sim_file *file,
                              struct sim_entry *out, size_t count, size_t size)
{
    struct sim_inode *inode = file->dentry->inode;
    bool is_plus =
        sim_connection.readdirplus && (!sim_connection.readdirplus_auto || file->position == 0);
    struct fuse_read_in read = {
        .fh = file->fh, .offset = file->position, .size = sim_file_reply_size(size)};
    struct sim_call call = {.opcode = is_plus ? FUSE_READDIRPLUS : FUSE_READDIR,
                            .node = inode->number,
                            .process = process,
                            .reply_most = read.size};
    uint64_t version = sim_connection.attr_version;
    sim_call_add(&call, &read, sizeof read);
    if (!sim_connection.parallel_dirops)
        sim_lock_take(&inode->one_by_one, true, process, "waits for another look-up");
    int error = sim_call_wait(&call);
    if (!sim_connection.parallel_dirops)
        sim_lock_release(&inode->one_by_one);
    ssize_t got =
        error ? error : (ssize_t)sim_file_take_entries(process, file, &call, version, out, count);
    sim_call_clean_up(&call);
    return got;
}
