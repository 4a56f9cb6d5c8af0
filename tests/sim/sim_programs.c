/* What programs do in a mount: system calls in the order of cat, ls, grep and others, and the
 * oracles of their results. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_end.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_history.h"
#include "tests/sim/sim_sight.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

enum {
    PROGRAM_MOST_BYTES = 32 << 20, /* of a file that is read */
    PROGRAM_MOST_CALLS = 300,      /* of a walk */
    PROGRAM_MOST_ENTRIES = 20000,  /* of a listing that is read to its end */
    PROGRAM_BATCH = 64,            /* entries of one getdents */
};

static struct sim_life_counts program_counts;
static bool program_has_reloaded;

struct sim_life_counts sim_life_count(void)
{
    return program_counts;
}

/* One system call, from its begin to its result. */
struct program_call {
    struct sim_actor *actor;
    const char *name, *path;
    int64_t from_ms;
};

static struct program_call program_begin(struct sim_actor *actor, const char *name,
                                         const char *path)
{
    return (struct program_call){actor, name, path, sim_now_ms()};
}

/* Whether the mount is to be read by its owner's tools: its bytes differ between two builds. */
static bool program_is_control(const char *path)
{
    return strncmp(path, "/.ddbfs", 7) == 0;
}

/* "A read waits at most three times --timeout." A readdir also waits for look-ups that hold the
 * directory's lock; the deadline of its requests is the kernel's to check. */
static void program_check_duration(const struct program_call *call)
{
    int64_t took_ms = sim_now_ms() - call->from_ms;
    if (strcmp(call->name, "read") == 0 && took_ms > 3 * sim_life_options()->timeout_ms + 1000)
        sim_defect("duration", "%s of %s took %lld ms", call->name, call->path, (long long)took_ms);
}

/* Failures that /.ddbfs/errors reports. */
static bool program_is_reported(ssize_t error)
{
    static const int errors[] = {EACCES,       EAGAIN,      ETIMEDOUT, EHOSTUNREACH,
                                 ECONNREFUSED, EDQUOT,      EPROTO,    ECONNRESET,
                                 EBADMSG,      EKEYEXPIRED, EFBIG,     ENOTUNIQ};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (error == errors[i])
            return true;
    return false;
}

/* Judges a failure; returns whether the call succeeded. RESULT is a negative errno, or the result.
 */
static bool program_end(const struct program_call *call, ssize_t result)
{
    int64_t now_ms = sim_now_ms();
    program_counts.operations++;
    program_counts.cold += now_ms > call->from_ms;
    if (program_is_control(call->path) && result >= 0)
        sim_tell(call->actor->name, "%s %s", call->name, call->path);
    else
        sim_tell(call->actor->name, "%s %s: %s %zd", call->name, call->path,
                 result < 0 ? strerror((int)-result) : "", result);
    program_check_duration(call);
    if (result >= 0)
        return true;
    if (result == -EINTR) {
        if (!sim_actor_is_killed(call->actor))
            sim_defect("interrupt", "%s of %s was interrupted without a signal", call->name,
                       call->path);
        return false;
    }
    /* The newest 8 MB of changes are kept: a reader of large items falls behind. */
    if (result == -ESTALE && sim_life_is_fat() && strstr(call->path, "/changes.jsonl"))
        return false;
    program_counts.failures += program_is_reported(-result);
    sim_oracle_error(call->path, call->name, (int)-result, call->from_ms, now_ms);
    return false;
}

bool sim_program_stat(struct sim_actor *actor, const char *path, struct stat *out)
{
    struct program_call call = program_begin(actor, "stat", path);
    memset(out, 0, sizeof *out);
    if (!program_end(&call, sim_sys_lstat(&actor->process, path, out)))
        return false;
    sim_oracle_stat(path, out, call.from_ms, sim_now_ms());
    return true;
}

static int program_open(struct sim_actor *actor, const char *path)
{
    struct program_call call = program_begin(actor, "open", path);
    int fd = sim_sys_open(&actor->process, path);
    return program_end(&call, fd) ? fd : -1;
}

static void program_close(struct sim_actor *actor, int fd)
{
    int error = sim_sys_close(&actor->process, fd);
    if (error != 0)
        sim_defect("close", "close failed: %s", strerror(-error));
}

/* Appends up to SIZE bytes at the end of BYTES. -1: it failed. 0: the end. */
static ssize_t program_read(struct sim_actor *actor, const char *path, int fd,
                            struct sim_text *bytes, size_t size)
{
    struct program_call call = program_begin(actor, "read", path);
    char *part = sim_alloc(size);
    ssize_t got = sim_sys_pread(&actor->process, fd, part, size, (off_t)bytes->size);
    if (got > (ssize_t)size)
        sim_defect("read", "%zd bytes of %s where %zu were wanted", got, path, size);
    if (got > 0)
        sim_text_add(bytes, part, (size_t)got);
    if (got > 0 && !program_is_control(path))
        sim_digest(part, (uint64_t)got);
    sim_free(part);
    return program_end(&call, got) ? got : -1;
}

/* A writer changes an item that PATH shows, or may show. */
static void program_write_near(struct sim_actor *actor, const char *path)
{
    struct sim_node node;
    struct sim_items items = {0};
    if (sim_life_is_frozen())
        return;
    sim_model_resolve(sim_model_now(), path, &node);
    if (node.kind == SIM_NODE_LISTING || node.kind == SIM_NODE_ENTRY || node.kind == SIM_NODE_ITEM)
        items = sim_node_items(&node);
    struct sim_item *item =
        items.count > 0 ? items.items[sim_dice_below(&actor->dice, (uint32_t)items.count)] : NULL;
    if (item && sim_dice_chance(&actor->dice, 300))
        sim_history_write_read(&actor->dice, item);
    else if (item)
        sim_history_write_item(&actor->dice, item);
    sim_free(items.items);
    sim_node_clean_up(&node);
}

/* Reads the rest of FD; false: it failed, or is too large. */
static bool program_read_rest(struct sim_actor *actor, const char *path, int fd,
                              struct sim_text *bytes)
{
    static const size_t sizes[] = {131072, 131072, 65536, 4096, 1000};
    size_t size = sizes[sim_dice_below(&actor->dice, 5)];
    for (;;) {
        ssize_t got = sim_actor_is_killed(actor) ? -1 : program_read(actor, path, fd, bytes, size);
        if (got <= 0)
            return got == 0;
        if (bytes->size > PROGRAM_MOST_BYTES)
            return false;
        if (bytes->size > 16 * size)
            size = 131072;
    }
}

static void program_judge_file(const char *path, const struct sim_text *bytes, int64_t from_ms,
                               int64_t until_ms)
{
    if (program_is_control(path))
        sim_end_check_control(path, bytes->size ? bytes->bytes : "", bytes->size);
    else
        sim_oracle_file(path, bytes->size ? bytes->bytes : "", bytes->size, from_ms, until_ms);
}

/* The whole file is of the version that its name had when it was opened. With PAUSE_MS, a part is
 * read that much later. */
static bool program_cat(struct sim_actor *actor, const char *path, int64_t pause_ms,
                        struct sim_text *bytes)
{
    int64_t from_ms = sim_now_ms(), opened_ms;
    bool is_whole;
    int fd = program_open(actor, path);
    opened_ms = sim_now_ms();
    if (fd < 0)
        return false;
    if (pause_ms > 0 && sim_dice_chance(&actor->dice, 700))
        program_read(actor, path, fd, bytes, 1 + sim_dice_below(&actor->dice, 300));
    if (pause_ms > 0 && sim_dice_chance(&actor->dice, 500))
        program_write_near(actor, path);
    if (pause_ms > 0)
        sim_fiber_sleep_ms(pause_ms);
    is_whole = program_read_rest(actor, path, fd, bytes);
    program_close(actor, fd);
    if (is_whole)
        program_judge_file(path, bytes, from_ms, opened_ms);
    return is_whole;
}

void sim_program_cat(struct sim_actor *actor, const char *path)
{
    struct sim_text bytes = {0};
    program_cat(actor, path, 0, &bytes);
    sim_text_free(&bytes);
}

char *sim_program_read(struct sim_actor *actor, const char *path, size_t *size)
{
    struct sim_text bytes = {0};
    if (!program_cat(actor, path, 0, &bytes)) {
        sim_text_free(&bytes);
        return NULL;
    }
    *size = bytes.size;
    sim_text_add(&bytes, "", 0); /* the NUL of an empty file */
    return bytes.bytes;
}

void sim_names_free(struct sim_names *names)
{
    sim_free(names->entries);
    *names = (struct sim_names){0};
}

static struct sim_entry *program_add_entry(struct sim_names *names)
{
    if (names->count == names->room) {
        names->room = names->room ? 2 * names->room : 32;
        names->entries = sim_grow(names->entries, names->room * sizeof *names->entries);
    }
    return &names->entries[names->count++];
}

static int program_opendir(struct sim_actor *actor, const char *path)
{
    struct program_call call = program_begin(actor, "opendir", path);
    actor->opened_ms = call.from_ms;
    int fd = sim_sys_opendir(&actor->process, path);
    return program_end(&call, fd) ? fd : -1;
}

/* -1: it failed; 0: the end. */
static ssize_t program_getdents(struct sim_actor *actor, const char *path, int fd,
                                struct sim_entry *batch, size_t count)
{
    struct program_call call = program_begin(actor, "readdir", path);
    ssize_t got = sim_sys_getdents(&actor->process, fd, batch, count);
    /* An open listing "ends in its error", an old one (docs/internals/life-of-a-listing.md). */
    if (got < 0)
        call.from_ms = actor->opened_ms;
    return program_end(&call, got) ? got : -1;
}

/* Adds a batch's entries except "." and "..". Returns as program_getdents. */
static ssize_t program_read_names(struct sim_actor *actor, const char *path, int fd,
                                  struct sim_names *out)
{
    static const size_t counts[] = {PROGRAM_BATCH, 20, 5, 1};
    struct sim_entry batch[PROGRAM_BATCH];
    size_t count = counts[sim_dice_below(&actor->dice, 4)];
    ssize_t got = program_getdents(actor, path, fd, batch, count);
    for (ssize_t i = 0; i < got; i++)
        if (strcmp(batch[i].name, ".") != 0 && strcmp(batch[i].name, "..") != 0)
            *program_add_entry(out) = batch[i];
    return got;
}

/* The results of ITEM@similar/N have ranks, the nearest first; one that is deleted is left out. */
static void program_check_ranks(const char *path, const struct sim_names *names)
{
    const char *at = strstr(path, "@similar");
    unsigned long most = at[8] == '/' ? strtoul(at + 9, NULL, 10) : 10, before = 0;
    for (size_t i = 0; i < names->count; i++) {
        char *end;
        unsigned long rank = strtoul(names->entries[i].name, &end, 10);
        if (rank <= before || rank > most || *end != '_')
            sim_defect("similar", "%s has %s behind the rank %lu", path, names->entries[i].name,
                       before);
        before = rank;
    }
}

static void program_judge_names(const char *path, const struct sim_names *names)
{
    if (strstr(path, "@similar") && !strchr(strstr(path, "@similar") + 1, '@'))
        program_check_ranks(path, names);
    char **texts = sim_alloc((names->count + 1) * sizeof *texts);
    for (size_t i = 0; i < names->count; i++) {
        texts[i] = names->entries[i].name;
        sim_digest(texts[i], strlen(texts[i]));
    }
    sim_oracle_listing(path, texts, names->count, names->from_ms, names->until_ms);
    sim_free(texts);
}

/* SLOW: a pager that waits for its user. */
static bool program_list(struct sim_actor *actor, const char *path, struct sim_names *out,
                         size_t at_most, bool slow)
{
    ssize_t got = 1;
    int fd;
    *out = (struct sim_names){.from_ms = sim_now_ms()};
    fd = program_opendir(actor, path);
    if (fd < 0)
        return false;
    while (got > 0 && out->count < at_most && !sim_actor_is_killed(actor)) {
        if (slow && sim_dice_chance(&actor->dice, 300))
            sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 1, 15000));
        got = program_read_names(actor, path, fd, out);
    }
    out->until_ms = sim_now_ms();
    out->is_whole = got == 0;
    program_close(actor, fd);
    if (out->is_whole && !program_is_control(path))
        program_judge_names(path, out);
    return got >= 0;
}

bool sim_program_list(struct sim_actor *actor, const char *path, struct sim_names *out,
                      size_t at_most)
{
    return program_list(actor, path, out, at_most, false);
}

static bool program_join(char *out, const char *directory, const char *name)
{
    bool is_root = strcmp(directory, "/") == 0;
    int size = snprintf(out, SIM_PATH_ROOM, "%s/%s", is_root ? "" : directory, name);
    return size > 0 && size < SIM_PATH_ROOM;
}

static void program_ls(struct sim_actor *actor, const char *path)
{
    struct sim_names names;
    program_list(actor, path, &names, PROGRAM_MOST_ENTRIES, sim_dice_chance(&actor->dice, 120));
    sim_names_free(&names);
}

/* An entry has the type that the directory states. */
static void program_stat_entry(struct sim_actor *actor, const char *path,
                               const struct sim_entry *entry)
{
    struct stat stat;
    if (!sim_program_stat(actor, path, &stat))
        return;
    if (entry->type != DT_UNKNOWN && entry->type != IFTODT(stat.st_mode))
        sim_defect("type", "%s has the type %u in its directory, and the mode %o", path,
                   entry->type, stat.st_mode);
}

static void program_ls_long(struct sim_actor *actor, const char *path)
{
    struct sim_names names;
    char child[SIM_PATH_ROOM];
    program_list(actor, path, &names, PROGRAM_MOST_ENTRIES, sim_dice_chance(&actor->dice, 120));
    for (size_t i = 0; i < names.count && i < PROGRAM_MOST_CALLS; i++) {
        if (sim_actor_is_killed(actor))
            break;
        if (program_join(child, path, names.entries[i].name))
            program_stat_entry(actor, child, &names.entries[i]);
    }
    sim_names_free(&names);
}

/* READS: grep -r, which reads all files; otherwise find. */
static void program_walk(struct sim_actor *actor, const char *path, unsigned depth, bool reads,
                         unsigned *budget)
{
    struct sim_names names;
    char *child = sim_alloc(SIM_PATH_ROOM);
    sim_program_list(actor, path, &names, PROGRAM_MOST_ENTRIES);
    for (size_t i = 0; i<names.count && * budget> 0; i++) {
        if (sim_actor_is_killed(actor))
            break;
        if (!program_join(child, path, names.entries[i].name))
            continue;
        (*budget)--;
        if (names.entries[i].type == DT_DIR && depth > 0)
            program_walk(actor, child, depth - 1, reads, budget);
        else if (names.entries[i].type == DT_REG && reads)
            sim_program_cat(actor, child);
        else if (sim_dice_chance(&actor->dice, 200))
            program_stat_entry(actor, child, &names.entries[i]);
    }
    sim_free(child);
    sim_names_free(&names);
}

static void program_insist(struct sim_actor *actor);

static void program_grep(struct sim_actor *actor, const char *path)
{
    bool is_limited = sim_life_options()->max_rcu > 0;
    if (is_limited && sim_dice_chance(&actor->dice, 300)) {
        program_insist(actor);
        return;
    }
    unsigned budget = PROGRAM_MOST_CALLS;
    program_walk(actor, path, 1 + sim_dice_below(&actor->dice, 4), true, &budget);
}

/* A program that reaches the limit of each second: until ls DIR; do sleep 0.3; done. */
static void program_insist(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM];
    for (unsigned rounds = 10 + sim_dice_below(&actor->dice, 60);
         rounds > 0 && !sim_actor_is_killed(actor); rounds--) {
        sim_actor_draw_path(actor, rounds % 2 ? SIM_PATH_LISTING : SIM_PATH_ITEM, path);
        if (sim_dice_chance(&actor->dice, 300))
            sim_program_refresh(actor, path);
        sim_program_look(actor, path);
        sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 0, 300));
    }
}

static void program_find(struct sim_actor *actor, const char *path)
{
    unsigned budget = PROGRAM_MOST_CALLS;
    program_walk(actor, path, 1 + sim_dice_below(&actor->dice, 5), false, &budget);
}

static void program_head(struct sim_actor *actor, const char *path)
{
    struct sim_names names;
    sim_program_list(actor, path, &names, 1 + sim_dice_below(&actor->dice, 3));
    sim_names_free(&names);
}

/* The path that TARGET, relative to the directory of LINK, leads to. */
static bool program_resolve(char *out, const char *link, const char *target)
{
    struct sim_text path = {0};
    const char *last = strrchr(link, '/');
    size_t size;
    sim_text_add(&path, link, (size_t)(last - link));
    while (*target) {
        size_t part = strcspn(target, "/");
        const char *up = path.size ? strrchr(path.bytes, '/') : NULL;
        if (part == 2 && strncmp(target, "..", 2) == 0)
            path.size = up ? (size_t)(up - path.bytes) : 0;
        else if (part > 0 && !(part == 1 && target[0] == '.')) {
            sim_text_puts(&path, "/");
            sim_text_add(&path, target, part);
        }
        if (path.bytes)
            path.bytes[path.size] = '\0';
        target += part + (target[part] == '/');
    }
    size = path.size;
    snprintf(out, SIM_PATH_ROOM, "%s", size ? path.bytes : "/");
    sim_text_free(&path);
    return size < SIM_PATH_ROOM;
}

static void program_follow(struct sim_actor *actor, const char *path, unsigned depth)
{
    char target[SIM_PATH_ROOM], *next = sim_alloc(SIM_PATH_ROOM);
    struct program_call call = program_begin(actor, "readlink", path);
    ssize_t size = sim_sys_readlink(&actor->process, path, target, sizeof target - 1);
    if (program_end(&call, size)) {
        struct stat stat;
        target[size] = '\0';
        sim_digest(target, (uint64_t)size);
        sim_oracle_link(path, target, call.from_ms, sim_now_ms());
        if (depth > 0 && program_resolve(next, path, target) &&
            sim_program_stat(actor, next, &stat) && S_ISREG(stat.st_mode))
            sim_program_cat(actor, next);
    }
    sim_free(next);
}

void sim_program_look(struct sim_actor *actor, const char *path)
{
    struct stat stat;
    if (!sim_program_stat(actor, path, &stat) || sim_actor_is_killed(actor))
        return;
    if (S_ISDIR(stat.st_mode))
        program_ls(actor, path);
    else if (S_ISLNK(stat.st_mode))
        program_follow(actor, path, 1);
    else
        sim_program_cat(actor, path);
}

/* Reads a file without an oracle. Returns a negative errno, or 0. */
static int program_read_plain(struct sim_actor *actor, const char *path, struct sim_text *bytes)
{
    char part[4096];
    ssize_t got = 0;
    int fd = sim_sys_open(&actor->process, path);
    while (fd >= 0 &&
           (got = sim_sys_pread(&actor->process, fd, part, sizeof part, (off_t)bytes->size)) > 0)
        sim_text_add(bytes, part, (size_t)got);
    if (fd >= 0)
        program_close(actor, fd);
    program_counts.operations++;
    sim_tell(actor->name, "reads %s: %zu bytes", path, bytes->size);
    return fd < 0 ? fd : (int)got;
}

/* The only moment of this life's snapshot, under several names, shows each item as the newest state
 * does; earlier there was nothing. */
static void program_look_back(struct sim_actor *actor, const char *path)
{
    static const char *const moments[] = {"2025-12-31T00:00:00Z", "2025-12-31", "2025-12", "2026",
                                          "2025-12-30"};
    unsigned at = sim_dice_below(&actor->dice, 5);
    size_t size = 1 + strcspn(path + 1, "/");
    struct sim_text now = {0}, then = {0};
    char *past = sim_printf("%.*s@at/%s%s", (int)size, path, moments[at], path + size);
    int64_t from_ms = sim_now_ms();
    int error = program_read_plain(actor, path, &now);
    int past_error = program_read_plain(actor, past, &then);
    bool is_equal = error == past_error && now.size == then.size &&
                    (now.size == 0 || memcmp(now.bytes, then.bytes, now.size) == 0);
    /* "Other users may read this mount": nothing below tables/ is shown, whatever its time. */
    bool is_denied = error == -EACCES && past_error == -EACCES;
    bool is_wrong = at == 4 ? past_error != -ENOENT && !is_denied : !is_equal;
    if (is_wrong && !program_has_reloaded && !sim_causes_any(from_ms, sim_now_ms()) &&
        !sim_actor_is_killed(actor))
        sim_defect("past", "%s: %s with %zu bytes, and %s: %s with %zu", path, strerror(-error),
                   now.size, past, strerror(-past_error), then.size);
    sim_text_free(&now);
    sim_text_free(&then);
    sim_free(past);
}

/* Items that are like PATH, and its past: the table may have neither. */
static void program_look_beside(struct sim_actor *actor, const char *path)
{
    static const char *const endings[] = {"@similar",       "@similar/3",    "@similar/2",
                                          "@similar@jsonl", "@similar@info", "@similar@count",
                                          "@history",       "@typed",        "@info"};
    char *beside = sim_printf("%s%s", path, endings[sim_dice_below(&actor->dice, 9)]);
    if (strlen(beside) < SIM_PATH_ROOM)
        sim_program_look(actor, beside);
    sim_free(beside);
}

/* The links of an item. */
static void program_follow_links(struct sim_actor *actor, const char *path)
{
    char links[SIM_PATH_ROOM], link[SIM_PATH_ROOM];
    struct sim_names names;
    if (sim_life_options()->is_snapshot && actor->drawn == SIM_PATH_ITEM && !program_has_reloaded &&
        sim_dice_chance(&actor->dice, 500)) {
        program_look_back(actor, path);
        return;
    }
    if (sim_dice_chance(&actor->dice, 600)) {
        program_look_beside(actor, path);
        return;
    }
    if (snprintf(links, sizeof links, "%s@links", path) >= SIM_PATH_ROOM)
        return;
    sim_program_list(actor, links, &names, PROGRAM_MOST_ENTRIES);
    for (size_t i = 0; i < names.count && i < 4 && !sim_actor_is_killed(actor); i++)
        if (program_join(link, links, names.entries[i].name))
            program_follow(actor, link, 1);
    sim_names_free(&names);
}

/* A file that stays open while its item may change: its bytes are of one version. */
static void program_hold(struct sim_actor *actor, const char *path)
{
    struct sim_text bytes = {0};
    program_cat(actor, path, sim_dice_between(&actor->dice, 1, 30000), &bytes);
    sim_text_free(&bytes);
}

/* The map has the paths of items and of directories. */
static bool program_may_lack(const struct sim_actor *actor)
{
    return program_has_reloaded ||
           (actor->drawn != SIM_PATH_ITEM && actor->drawn != SIM_PATH_LISTING &&
            actor->drawn != SIM_PATH_STRUCTURE);
}

bool sim_program_refresh(struct sim_actor *actor, const char *path)
{
    struct stat stat;
    char *control = sim_printf("/.ddbfs/refresh%s/@now", strcmp(path, "/") == 0 ? "" : path);
    int64_t from_ms = sim_now_ms();
    int result = sim_sys_stat(&actor->process, control, &stat);
    bool is_done = result == -ENOENT;
    program_counts.operations++;
    sim_tell(actor->name, "refresh %s: %s", path, strerror(-result));
    sim_free(control);
    if (is_done)
        sim_oracle_note_refresh(path, from_ms);
    else if (result >= 0 || ((result == -ENODATA || result == -EINVAL) && !program_may_lack(actor)))
        sim_defect("refresh", "refresh of %s: %s", path, strerror(-result));
    else if (result != -ENODATA && result != -EINVAL &&
             !sim_causes_any(from_ms, sim_now_ms()) && /* the kernel may refuse to forget */
             !(result == -EINTR && sim_actor_is_killed(actor)) &&
             !(result == -ETIMEDOUT &&
               sim_now_ms() - from_ms >= 3 * sim_life_options()->timeout_ms))
        sim_oracle_error("/.ddbfs/refresh", "refresh", -result, from_ms, sim_now_ms());
    return is_done;
}

/* The directory above PATH. */
static void program_leave(char *path)
{
    char *last = strrchr(path, '/');
    last[last == path] = '\0';
}

/* Reads a path and perhaps what is above it, changes an item that it shows, and reads again: at
 * once, or after a refresh, or when the results are old. */
static void program_edit(struct sim_actor *actor, const char *path)
{
    /* Nothing is certain of what happens within one millisecond. */
    static const int64_t pauses_ms[] = {0, 1, 100, 1500, 3000, 11000, 61000};
    char above[SIM_PATH_ROOM];
    snprintf(above, sizeof above, "%s", path);
    program_leave(above);
    for (unsigned rounds = 1 + sim_dice_below(&actor->dice, 4); rounds; rounds--) {
        const char *each = sim_dice_chance(&actor->dice, 400) ? above : path;
        sim_program_look(actor, each);
        program_write_near(actor, path);
        sim_fiber_sleep_ms(pauses_ms[sim_dice_below(&actor->dice, 7)]);
        if (sim_dice_chance(&actor->dice, 500))
            sim_program_refresh(actor, sim_dice_chance(&actor->dice, 300) ? above : path);
        if (sim_dice_chance(&actor->dice, 700))
            sim_fiber_sleep_ms(1);
        sim_program_look(actor, path);
        if (sim_dice_chance(&actor->dice, 300))
            sim_program_look(actor, above);
    }
}

/* The position of COOKIE in NAMES: entries behind it were read after it. */
static void program_check_again(const char *path, const struct sim_names *names, size_t from,
                                const struct sim_names *again)
{
    for (size_t i = 0; i < again->count && from + i < names->count; i++)
        if (strcmp(again->entries[i].name, names->entries[from + i].name) != 0)
            sim_defect("seekdir", "entry %zu of %s was %s, and is %s after seekdir", from + i, path,
                       names->entries[from + i].name, again->entries[i].name);
}

/* Goes back to an earlier position: it shows the same entries. */
static bool program_seek_back(struct sim_actor *actor, const char *path, int fd,
                              const struct sim_names *names)
{
    size_t at = sim_dice_below(&actor->dice, (uint32_t)names->count);
    struct sim_names again = {0};
    ssize_t got = sim_sys_seekdir(&actor->process, fd, names->entries[at].cookie);
    if (got < 0)
        sim_defect("seekdir", "seekdir in %s failed: %s", path, strerror((int)-got));
    got = program_read_names(actor, path, fd, &again);
    program_check_again(path, names, at + 1, &again);
    sim_names_free(&again);
    if (got >= 0)
        sim_sys_seekdir(&actor->process, fd, names->entries[names->count - 1].cookie);
    return got >= 0;
}

/* Reads a directory in small parts, with pauses and steps back. */
static void program_read_slowly(struct sim_actor *actor, const char *path)
{
    struct sim_names names = {.from_ms = sim_now_ms()};
    ssize_t got = 1;
    int fd = program_opendir(actor, path);
    if (fd < 0)
        return;
    while (got > 0 && names.count < PROGRAM_MOST_ENTRIES && !sim_actor_is_killed(actor)) {
        got = program_read_names(actor, path, fd, &names);
        if (got > 0 && names.count > 0 && sim_dice_chance(&actor->dice, 200) &&
            !program_seek_back(actor, path, fd, &names))
            got = -1;
        if (sim_dice_chance(&actor->dice, 100))
            sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 1, 500));
        else
            sim_fiber_yield();
    }
    names.until_ms = sim_now_ms();
    if (got == 0)
        program_judge_names(path, &names);
    program_close(actor, fd);
    sim_names_free(&names);
}

static void program_two_readers(struct sim_actor *actor, const char *path)
{
    struct sim_actor *other = sim_actor_spawn(actor, program_read_slowly, path);
    program_read_slowly(actor, path);
    sim_actor_wait(other);
}

static sim_program_fn *program_draw(struct sim_actor *actor)
{
    static sim_program_fn *const programs[] = {sim_program_cat, program_ls,      program_ls_long,
                                               program_grep,    program_head,    program_find,
                                               program_hold,    sim_program_look};
    return programs[sim_dice_below(&actor->dice, 8)];
}

/* A program that gets a signal while it waits. */
static void program_impatient(struct sim_actor *actor, const char *path)
{
    static const int64_t most_ms[] = {1, 20, 200, 5000};
    int64_t patience_ms =
        sim_dice_between(&actor->dice, 0, most_ms[sim_dice_below(&actor->dice, 4)]);
    struct sim_actor *victim = sim_actor_spawn(actor, program_draw(actor), path);
    if (patience_ms > 0)
        sim_fiber_sleep_ms(patience_ms);
    else
        sim_fiber_yield();
    sim_actor_kill(victim);
    sim_actor_wait(victim);
}

/* Many readers of one path, which may be cold. Some may be killed. */
static void program_storm(struct sim_actor *actor, const char *path)
{
    enum { MOST = 24 };
    struct sim_actor *readers[MOST];
    unsigned count = 2 + sim_dice_below(&actor->dice, MOST - 2);
    sim_program_fn *program = program_draw(actor);
    if (sim_dice_chance(&actor->dice, 500))
        sim_program_refresh(actor, path);
    for (unsigned i = 0; i < count; i++)
        readers[i] = sim_actor_spawn(actor, program, path);
    if (sim_dice_chance(&actor->dice, 200)) {
        sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 1, 30));
        for (unsigned i = 0; i < count; i += 2)
            sim_actor_kill(readers[i]);
    }
    for (unsigned i = 0; i < count; i++)
        sim_actor_wait(readers[i]);
}

/* Writes a version of ITEM with an attribute of SIZE bytes more. */
static void program_fatten_item(const struct sim_item *item, size_t size)
{
    static const char name[] = "~bulk"; /* behind all others */
    const struct sim_version *newest = item->newest;
    size_t count = newest->attribute_count;
    struct sim_attribute *attributes;
    if (newest->is_deleted || (count && strcmp(newest->attributes[count - 1].name, name) >= 0))
        return;
    attributes = sim_alloc((count + 1) * sizeof *attributes);
    for (size_t i = 0; i < count; i++) {
        attributes[i].name = sim_copy(newest->attributes[i].name);
        sim_value_copy(&attributes[i].value, &newest->attributes[i].value);
    }
    attributes[count].name = sim_copy(name);
    attributes[count].value.type = SIM_S;
    attributes[count].value.size = size;
    attributes[count].value.bytes = sim_alloc(size + 1);
    memset(attributes[count].value.bytes, 'x', size);
    sim_history_put(item->table, attributes, count + 1, false, false);
}

/* The items of a listing become so large that it has several pages, and no place in a small cache.
 */
static void program_fatten(struct sim_actor *actor, const char *path)
{
    enum { MOST_ITEMS = 40 };
    struct sim_node node;
    struct sim_items items = {0};
    size_t size = (size_t)sim_dice_between(&actor->dice, 20000, 120000);
    sim_model_resolve(sim_model_now(), path, &node);
    if (node.kind == SIM_NODE_LISTING)
        items = sim_node_items(&node);
    for (size_t i = 0; i < items.count && i < MOST_ITEMS; i++)
        program_fatten_item(items.items[i], size);
    sim_tell(actor->name, "%zu items of %s become larger by %zu bytes", items.count, path, size);
    sim_free(items.items);
    sim_node_clean_up(&node);
}

static void program_write(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM];
    unsigned count = 1 + sim_dice_below(&actor->dice, 8);
    if (sim_life_is_fat() && sim_dice_chance(&actor->dice, 300)) {
        sim_actor_draw_path(actor, SIM_PATH_LISTING, path);
        program_fatten(actor, path);
    }
    while (count-- > 0 && !sim_life_is_frozen()) {
        if (sim_dice_chance(&actor->dice, 500)) {
            sim_actor_draw_path(
                actor, sim_dice_chance(&actor->dice, 600) ? SIM_PATH_ITEM : SIM_PATH_LISTING, path);
            program_write_near(actor, path);
        } else {
            sim_history_write_one(&actor->dice);
        }
        if (sim_dice_chance(&actor->dice, 500))
            sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 1, 200));
    }
}

/* An attempt to change something. */
static void program_touch(struct sim_actor *actor, const char *path)
{
    unsigned kind = sim_dice_below(&actor->dice, 16);
    int64_t from_ms = sim_now_ms();
    int result = sim_sys_write_attempt(&actor->process, path, kind);
    program_counts.operations++;
    sim_tell(actor->name, "write %s: %s", path, strerror(-result));
    if (result >= 0)
        sim_defect("read-only", "a write to %s succeeded", path);
    if (result != -EROFS && !(result == -EINTR && sim_actor_is_killed(actor)))
        sim_oracle_error(path, "write", -result, from_ms, sim_now_ms());
}

/* SIGHUP, after the map was edited. */
static void program_reload(struct sim_actor *actor)
{
    const char *text = sim_dice_chance(&actor->dice, 700) ? sim_paths_redraw_map() : NULL;
    if (text)
        sim_life_write_map(text);
    program_has_reloaded = true;
    sim_tell(actor->name, "SIGHUP");
    sim_signal_program(SIGHUP);
    sim_fiber_sleep_ms(1);
    sim_oracle_note_reload();
}

static void program_unmount(struct sim_actor *actor)
{
    sim_tell(actor->name, "unmounts");
    sim_causes_note(SIM_FAULT_UNMOUNT, "");
    sim_kernel_unmount();
}

/* A table with a stream; NULL: there is none. */
static struct sim_table *program_draw_stream(struct sim_actor *actor)
{
    unsigned count = 0, at;
    struct sim_table *table;
    for (table = sim_history_tables(); table; table = table->next)
        count += table->has_stream;
    if (count == 0)
        return NULL;
    at = sim_dice_below(&actor->dice, count);
    for (table = sim_history_tables(); !table->has_stream || at-- > 0; table = table->next)
        ;
    return table;
}

/* A reader of changes.jsonl. */
struct program_follower {
    const struct sim_table *table;
    int64_t opened_ms, read_ms; /* every change from then on is in the file; its last read */
    struct sim_text bytes;
    char **sequences; /* owned, and the texts */
    size_t count;     /* of changes */
    bool has_gap;     /* a line says that others are missing */
};

static void program_take_change(struct program_follower *follower, const char *path,
                                const char *text, size_t size)
{
    struct sim_json line;
    const char *kind, *sequence, *shard;
    if (!sim_json_parse(&line, text, size))
        sim_defect("tail", "a line of %s is no JSON: %.*s", path, (int)size, text);
    kind = sim_json_text(&line, "kind");
    sequence = sim_json_text(&line, "sequence");
    shard = sim_json_text(&line, "shard");
    if (!kind)
        sim_defect("tail", "a line of %s has no kind: %.*s", path, (int)size, text);
    if (strcmp(kind, "gap") == 0 || strcmp(kind, "end") == 0) {
        follower->has_gap = true;
    } else {
        if (!sequence || !shard)
            sim_defect("tail", "a line of %s has no place: %.*s", path, (int)size, text);
        sim_streams_check_line(follower->table, &line);
        follower->sequences =
            sim_grow(follower->sequences, (follower->count + 1) * sizeof *follower->sequences);
        follower->sequences[follower->count++] = sim_printf("%s %s", shard, sequence);
    }
    sim_json_free(&line);
}

static int program_compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Changes that must be in the file when FOLLOWER reads it last: shards are found, and polled,
 * within this time if no request fails. */
enum { PROGRAM_STREAM_MS = 20000 };

static size_t program_count_changes(const struct program_follower *follower)
{
    size_t count = 0;
    for (const struct sim_change *each = follower->table->changes; each; each = each->next)
        count += each->after->from_ms > follower->opened_ms &&
                 each->after->from_ms <= follower->read_ms - PROGRAM_STREAM_MS;
    return count;
}

/* No change comes twice, and none is missing. */
static void program_check_changes(struct program_follower *follower, const char *path)
{
    const char *at = follower->bytes.bytes, *end;
    size_t least;
    for (; at && (end = strchr(at, '\n')) != NULL; at = end + 1)
        program_take_change(follower, path, at, (size_t)(end - at));
    if (follower->count > 0)
        qsort(follower->sequences, follower->count, sizeof *follower->sequences,
              program_compare_texts);
    for (size_t i = 1; i < follower->count; i++)
        if (strcmp(follower->sequences[i - 1], follower->sequences[i]) == 0)
            sim_defect("tail", "%s has the change %s twice", path, follower->sequences[i]);
    least = program_count_changes(follower);
    if (follower->count < least && !follower->has_gap &&
        !sim_causes_any(follower->opened_ms, follower->read_ms))
        sim_defect("tail", "%s has %zu changes, and %zu were made until %lld ms", path,
                   follower->count, least, (long long)follower->read_ms - PROGRAM_STREAM_MS);
    for (size_t i = 0; i < follower->count; i++)
        sim_free(follower->sequences[i]);
    sim_free(follower->sequences);
}

static void program_tail(struct sim_actor *actor, const struct sim_table *table)
{
    struct program_follower follower = {.table = table};
    unsigned polls = 1 + sim_dice_below(&actor->dice, 60);
    char *path = sim_printf("/tables/%s/changes.jsonl", table->name);
    int fd = program_open(actor, path);
    follower.opened_ms = follower.read_ms = sim_now_ms();
    while (fd >= 0 && polls-- > 0 && !sim_actor_is_killed(actor)) {
        ssize_t got = program_read(actor, path, fd, &follower.bytes, 65536);
        if (got < 0)
            break;
        follower.read_ms = sim_now_ms();
        if (got == 0)
            sim_fiber_sleep_ms(1000);
    }
    if (fd >= 0)
        program_close(actor, fd);
    program_check_changes(&follower, path);
    sim_text_free(&follower.bytes);
    sim_free(path);
}

/* The kind of path that an action needs. */
static enum sim_path_kind program_draw_kind(struct sim_actor *actor, enum sim_action_kind kind)
{
    uint32_t at = sim_dice_below(&actor->dice, 100);
    switch (kind) {
    case SIM_ACT_CAT:
    case SIM_ACT_HOLD:
        return at < 80 ? SIM_PATH_ITEM : at < 92 ? SIM_PATH_COMPANION : SIM_PATH_ABSENT;
    case SIM_ACT_LS:
    case SIM_ACT_GREP:
    case SIM_ACT_FIND:
        return at < 70 ? SIM_PATH_LISTING : SIM_PATH_STRUCTURE;
    case SIM_ACT_LS_LONG:
    case SIM_ACT_HEAD:
    case SIM_ACT_TWO_READERS:
        return at < 90 ? SIM_PATH_LISTING : SIM_PATH_STRUCTURE;
    case SIM_ACT_COMPANION:
        return SIM_PATH_COMPANION;
    case SIM_ACT_LINK:
        return SIM_PATH_ITEM;
    case SIM_ACT_PROBE:
        return SIM_PATH_PROBE;
    case SIM_ACT_CONTROL:
        return SIM_PATH_CONTROL;
    case SIM_ACT_REFRESH:
        return at < 40 ? SIM_PATH_ITEM : at < 70 ? SIM_PATH_LISTING : SIM_PATH_STRUCTURE;
    default:
        return (enum sim_path_kind)sim_dice_below(&actor->dice, SIM_PATH_PROBE);
    }
}

/* Kinds of actions that do one thing to one path. */
static sim_program_fn *const program_of[SIM_ACT_KINDS] = {
    [SIM_ACT_CAT] = sim_program_cat,
    [SIM_ACT_LS] = program_ls,
    [SIM_ACT_LS_LONG] = program_ls_long,
    [SIM_ACT_GREP] = program_grep,
    [SIM_ACT_FIND] = program_find,
    [SIM_ACT_HEAD] = program_head,
    [SIM_ACT_STAT] = sim_program_look,
    [SIM_ACT_COMPANION] = sim_program_look,
    [SIM_ACT_LINK] = program_follow_links,
    [SIM_ACT_PROBE] = sim_program_look,
    [SIM_ACT_CONTROL] = sim_program_look,
    [SIM_ACT_REFRESH] = program_edit,
    [SIM_ACT_TWO_READERS] = program_two_readers,
    [SIM_ACT_SIGNAL] = program_impatient,
    [SIM_ACT_STORM] = program_storm,
    [SIM_ACT_TOUCH] = program_touch,
    [SIM_ACT_HOLD] = program_hold,
};

void sim_program_run(struct sim_actor *actor, enum sim_action_kind kind)
{
    char path[SIM_PATH_ROOM];
    program_counts.actions++;
    if (program_of[kind]) {
        sim_actor_draw_path(actor, program_draw_kind(actor, kind), path);
        program_of[kind](actor, path);
    } else if (kind == SIM_ACT_TAIL) {
        const struct sim_table *table = program_draw_stream(actor);
        if (table)
            program_tail(actor, table);
    } else if (kind == SIM_ACT_SHRINK) {
        sim_kernel_shrink(sim_dice_chance(&actor->dice, 300)
                              ? 1000
                              : (unsigned)sim_dice_between(&actor->dice, 50, 900));
    } else if (kind == SIM_ACT_WRITE) {
        program_write(actor);
    } else if (kind == SIM_ACT_RELOAD) {
        program_reload(actor);
    } else if (kind == SIM_ACT_UNMOUNT) {
        program_unmount(actor);
    }
}
