/* Users who have not mounted: default_permissions and allow_other decide what they may do. */
#include "tests/sim/sim_strangers.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_device.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_world.h"

enum { STRANGER_USER = 2000, STRANGER_PID = 900000, VISITS_MOST = 4 };

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

/* What a stranger tries, and the errors: without allow_other all users but one get EACCES. */
static const struct {
    int (*act)(struct sim_process *, const char *);
    const char *path;
    int others, root;
} sim_stranger_tries[] = {
    {sim_stranger_stat, "/", 0, 0},
    {sim_stranger_open, "/", 0, 0},
    {sim_stranger_stat, "/.ddbfs", 0, 0},
    {sim_stranger_open, "/.ddbfs", EACCES, 0},
    {sim_stranger_stat, "/.ddbfs/stats.json", EACCES, 0},
    {sim_stranger_open, "/.ddbfs/log", EACCES, 0},
    {sim_stranger_stat, "/.ddbfs/refresh/@now", EACCES, ENOENT},
    {sim_stranger_touch, "/", EROFS, EROFS},
};

static void sim_stranger_try(struct sim_process *process, unsigned number)
{
    const char *path = sim_stranger_tries[number].path;
    int64_t from_ms = sim_now_ms(), reach_ms = sim_life_options()->timeout_ms;
    int error = -sim_stranger_tries[number].act(process, path);
    int expected =
        process->uid ? sim_stranger_tries[number].others : sim_stranger_tries[number].root;
    bool is_write = sim_stranger_tries[number].act == sim_stranger_touch;
    if (!sim_connection.allow_other && !(is_write && strcmp(path, "/") == 0))
        expected = EACCES;
    bool is_masked = process->uid && sim_life_options()->umask && error == EACCES;
    if (error == expected || is_masked ||
        sim_causes_explain(error, from_ms, sim_now_ms(), reach_ms))
        return;
    sim_defect("permissions", "try %u of a user %u at %s: %s, and not %s", number, process->uid,
               path, strerror(error), strerror(expected));
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
        process.uid = process.gid = sim_dice_chance(&dice, 700) ? STRANGER_USER : 0;
        unsigned number =
            sim_dice_below(&dice, sizeof sim_stranger_tries / sizeof sim_stranger_tries[0]);
        if (sim_fiber_wait_until(sim_stranger_is_done, NULL, sim_now_ms() + pause_ms))
            break;
        if (sim_kernel_is_live())
            sim_stranger_try(&process, number);
    }
    sim_kernel_remove_process(&process);
}

void sim_strangers_start(void)
{
    sim_fiber_start("stranger", sim_stranger_run, NULL);
}
