/* Users who have not mounted: default_permissions and allow_other decide what they may do. */
#include "tests/sim/sim_strangers.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_device.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

enum { STRANGER_USER = 2000, STRANGER_PID = 900000, VISITS_MOST = 6 };

static int sim_stranger_stat(struct sim_process *process, const char *path)
{
    struct stat stat;
    return sim_sys_lstat(process, path, &stat);
}

static int sim_stranger_open(struct sim_process *process, const char *path)
{
    int fd = sim_sys_open(process, path);
    return fd < 0 ? fd : sim_sys_close(process, fd);
}

static int sim_stranger_touch(struct sim_process *process, const char *path)
{
    return sim_sys_write_attempt(process, path, 4);
}

static int sim_stranger_statfs(struct sim_process *process, const char *path)
{
    return sim_sys_statfs(process, path);
}

static int sim_stranger_getxattr(struct sim_process *process, const char *path)
{
    return (int)sim_sys_getxattr(process, path, "security.capability");
}

/* PATH with a last name of 256 bytes or more, which the kernel admits. */
static int sim_stranger_name(struct sim_process *process, const char *path)
{
    char name[1000];
    size_t size = 256 + (size_t)(sim_now_ms() % 700);
    memset(name, 'n', size);
    name[size] = '\0';
    char *whole = sim_printf("%s%s", path, name);
    int error = sim_stranger_stat(process, whole);
    sim_free(whole);
    return error;
}

/* More names below PATH than a path has. */
static int sim_stranger_deep(struct sim_process *process, const char *path)
{
    enum { NAMES = 30, NAME = 200 };
    struct sim_text whole = {0};
    sim_text_puts(&whole, path);
    for (unsigned i = 0; i < NAMES; i++)
        sim_text_printf(&whole, "/%0*u", NAME, i);
    int error = sim_stranger_stat(process, whole.bytes);
    sim_text_free(&whole);
    return error;
}

/* What is tried, and the errors, also of the user who has mounted. Without allow_other all others
 * get EACCES. */
static const struct sim_stranger_try {
    int (*act)(struct sim_process *, const char *);
    const char *path;
    int others, owner;
} sim_stranger_tries[] = {
    {sim_stranger_stat, "/", 0, 0},
    {sim_stranger_open, "/", 0, 0},
    {sim_stranger_stat, "/.ddbfs", 0, 0},
    {sim_stranger_open, "/.ddbfs", EACCES, 0},
    {sim_stranger_stat, "/.ddbfs/stats.json", EACCES, 0},
    {sim_stranger_open, "/.ddbfs/log", EACCES, 0},
    {sim_stranger_stat, "/.ddbfs/refresh/@now", EACCES, ENOENT},
    {sim_stranger_touch, "/", EROFS, EROFS},
    {sim_stranger_statfs, "/", 0, 0},
    {sim_stranger_statfs, "/.ddbfs", 0, 0},
    {sim_stranger_getxattr, "/", EOPNOTSUPP, EOPNOTSUPP},
    {sim_stranger_name, "/", ENAMETOOLONG, ENAMETOOLONG},
    {sim_stranger_name, "/.ddbfs/", EACCES, ENAMETOOLONG},
    {sim_stranger_deep, "/.ddbfs/refresh", EACCES, ENAMETOOLONG},
    {sim_stranger_stat, "/.ddbfs/none", EACCES, ENOENT},
    {sim_stranger_stat, "/.ddbfs/log/below", EACCES, ENOTDIR},
    {sim_stranger_open, "/.ddbfs/refresh", EACCES, 0},
};

/* No request of a user who is not admitted; statfs and a mountpoint's own name need no permission.
 */
static int sim_stranger_expects(const struct sim_process *process,
                                const struct sim_stranger_try *try)
{
    bool is_admitted = sim_connection.allow_other || process->uid == sim_connection.uid;
    bool is_root_alone = strcmp(try->path, "/") == 0;
    bool is_free =
        is_root_alone && (try->act == sim_stranger_touch || try->act == sim_stranger_statfs ||
                          try->act == sim_stranger_getxattr);
    if (!is_admitted && !is_free)
        return EACCES;
    return process->uid == 0 || process->uid == sim_connection.uid ? try->owner : try->others;
}

static void sim_stranger_attempt(struct sim_process *process, unsigned number)
{
    const struct sim_stranger_try *try = &sim_stranger_tries[number];
    if (sim_actor_is_alone()) /* it counts requests, and a refresh causes more */
        return;
    int64_t from_ms = sim_now_ms(), reach_ms = sim_life_options()->timeout_ms;
    int error = -try->act(process, try->path), expected = sim_stranger_expects(process, try);
    bool is_masked = sim_life_options()->umask && process->uid && error == EACCES;
    if (error == expected || is_masked ||
        sim_causes_explain(error, from_ms, sim_now_ms(), reach_ms))
        return;
    sim_defect("permissions", "try %u of the user %u at %s: %s, and not %s", number, process->uid,
               try->path, strerror(error), strerror(expected));
}

static bool sim_stranger_is_done(void *arg)
{
    (void)arg;
    return sim_actors_have_ended() || !sim_connection.is_connected;
}

static void sim_stranger_run(void *arg)
{
    struct sim_dice dice = sim_dice_for("stranger", 0);
    struct sim_process process = {
        .pid = STRANGER_PID, .group = STRANGER_PID, .program = "stranger"};
    unsigned visits = sim_dice_below(&dice, VISITS_MOST);
    (void)arg;
    sim_kernel_add_process(&process);
    for (unsigned i = 0; i < visits; i++) {
        int64_t pause_ms = sim_dice_between(&dice, 0, sim_life_span_ms() / VISITS_MOST);
        uid_t users[] = {STRANGER_USER, 0, sim_connection.uid, sim_connection.uid};
        process.uid = process.gid = users[sim_dice_below(&dice, 4)];
        unsigned number =
            sim_dice_below(&dice, sizeof sim_stranger_tries / sizeof sim_stranger_tries[0]);
        if (sim_fiber_wait_until(sim_stranger_is_done, NULL, sim_now_ms() + pause_ms))
            break;
        if (sim_kernel_is_live())
            sim_stranger_attempt(&process, number);
    }
    sim_kernel_remove_process(&process);
}

void sim_strangers_start(void)
{
    sim_fiber_start("stranger", sim_stranger_run, NULL);
}
