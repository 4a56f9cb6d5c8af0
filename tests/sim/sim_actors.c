/* The actors of a life: they begin at the times of the plan, and each ends by itself. */
#include "tests/sim/sim_actors.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_end.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_world.h"

/* Each action has pids of its own, so that one that is left out moves no other. */
enum { ACTORS_FIRST_PID = 1000, ACTORS_PIDS = 64 };

/* A program that runs, or has run, on a fiber. */
struct actors_task {
    struct sim_actor actor;
    sim_program_fn *program;         /* NULL: ACTION */
    const struct sim_action *action; /* NULL: PROGRAM */
    char *path;                      /* owned */
    struct sim_fiber *fiber;         /* owned */
    struct actors_task *next;
};

/* Paths that the actors of a life share, so that they meet. */
enum { ACTORS_HOT_PATHS = 4 };

static struct {
    const struct sim_action *actions;
    unsigned count;
    struct actors_task *tasks; /* whose fibers are not freed */
    unsigned unfinished, running, waiting_alone;
    bool is_alone, has_ended;
    char *hot[SIM_PATH_KINDS][ACTORS_HOT_PATHS]; /* owned */
    enum sim_path_kind hot_kinds[SIM_PATH_KINDS][ACTORS_HOT_PATHS];
} actors;

static const char *const actors_names[SIM_ACT_KINDS] = {
    [SIM_ACT_CAT] = "cat",          [SIM_ACT_LS] = "ls",
    [SIM_ACT_LS_LONG] = "ls -l",    [SIM_ACT_GREP] = "grep",
    [SIM_ACT_FIND] = "find",        [SIM_ACT_HEAD] = "head",
    [SIM_ACT_STAT] = "stat",        [SIM_ACT_COMPANION] = "look",
    [SIM_ACT_LINK] = "follow",      [SIM_ACT_PROBE] = "git",
    [SIM_ACT_CONTROL] = "top",      [SIM_ACT_REFRESH] = "refresh",
    [SIM_ACT_TWO_READERS] = "pair", [SIM_ACT_SIGNAL] = "impatient",
    [SIM_ACT_SHRINK] = "shrink",    [SIM_ACT_WRITE] = "writer",
    [SIM_ACT_STORM] = "storm",      [SIM_ACT_RELOAD] = "reload",
    [SIM_ACT_TOUCH] = "touch",      [SIM_ACT_HOLD] = "less",
    [SIM_ACT_TAIL] = "tail",        [SIM_ACT_UNMOUNT] = "umount",
};

static void actors_draw_hot_paths(void)
{
    char path[SIM_PATH_ROOM];
    for (unsigned kind = 0; kind < SIM_PATH_KINDS; kind++)
        for (unsigned i = 0; i < ACTORS_HOT_PATHS; i++) {
            struct sim_dice dice = sim_dice_for("hot path", kind * ACTORS_HOT_PATHS + i);
            actors.hot_kinds[kind][i] = sim_paths_draw(&dice, (enum sim_path_kind)kind, path);
            actors.hot[kind][i] = sim_copy(path);
        }
}

enum sim_path_kind sim_actor_draw_path(struct sim_actor *actor, enum sim_path_kind kind, char *out)
{
    uint32_t at = sim_dice_below(&actor->dice, ACTORS_HOT_PATHS);
    if (sim_dice_chance(&actor->dice, 600)) {
        /* The first ones are drawn more often. */
        at = sim_dice_below(&actor->dice, at + 1);
        snprintf(out, SIM_PATH_ROOM, "%s", actors.hot[kind][at]);
        actor->drawn = actors.hot_kinds[kind][at];
    } else {
        actor->drawn = sim_paths_draw(&actor->dice, kind, out);
    }
    return actor->drawn;
}

bool sim_actor_is_killed(const struct sim_actor *actor)
{
    return actor->process.is_signalled;
}

void sim_actor_kill(struct sim_actor *actor)
{
    if (actor->has_finished || actor->process.is_signalled)
        return;
    sim_tell(actor->name, "is killed");
    sim_causes_note(SIM_FAULT_INTERRUPT, actor->name);
    actor->process.is_signalled = true;
    sim_kernel_signal(&actor->process);
}

bool sim_actor_is_alone(void)
{
    return actors.is_alone;
}

static bool actors_may_share(void *arg)
{
    (void)arg;
    return !actors.is_alone && actors.waiting_alone == 0;
}

static bool actors_may_be_alone(void *arg)
{
    (void)arg;
    return !actors.is_alone && actors.running == 0 && sim_transport_count() == 0;
}

/* An action that checks the laws of sharing runs alone; all others run together. */
static void actors_run_action(struct sim_actor *actor, const struct sim_action *action)
{
    bool wants_alone = action->kind != SIM_ACT_UNMOUNT && sim_dice_chance(&actor->dice, 150);
    actors.waiting_alone += wants_alone;
    sim_fiber_wait(wants_alone ? actors_may_be_alone : actors_may_share, NULL);
    actors.waiting_alone -= wants_alone;
    actors.is_alone = wants_alone;
    actors.running++;
    if (wants_alone)
        sim_sharing_check(actor);
    else
        sim_program_run(actor, action->kind);
    actors.running--;
    actors.is_alone = false;
}

static void actors_run_task(void *arg)
{
    struct actors_task *task = arg;
    sim_kernel_add_process(&task->actor.process);
    if (task->action)
        actors_run_action(&task->actor, task->action);
    else
        task->program(&task->actor, task->path);
    sim_kernel_remove_process(&task->actor.process);
    task->actor.has_finished = true;
    actors.unfinished--;
}

/* Frees the fibers of programs that have ended. Their actors remain: others may wait for them. */
static void actors_reap(void)
{
    struct actors_task **link = &actors.tasks;
    while (*link) {
        struct actors_task *task = *link;
        if (!sim_fiber_has_ended(task->fiber)) {
            link = &task->next;
            continue;
        }
        sim_fiber_free(task->fiber);
        *link = task->next;
    }
}

static void actors_init_process(struct sim_process *process, const char *program, pid_t pid,
                                pid_t group)
{
    process->pid = pid;
    process->group = group ? group : pid;
    process->uid = geteuid();
    process->gid = getegid();
    snprintf(process->program, sizeof process->program, "%s", program);
}

static struct actors_task *actors_new_task(const char *program, pid_t pid, pid_t group)
{
    struct actors_task *task = sim_alloc(sizeof *task);
    actors_init_process(&task->actor.process, program, pid, group);
    task->next = actors.tasks;
    actors.tasks = task;
    actors.unfinished++;
    return task;
}

static void actors_start_action(const struct sim_action *action)
{
    /* A script starts one program after another, in one process group. */
    struct sim_dice dice = sim_dice_of(action->seed, "group", 0);
    pid_t group = sim_dice_chance(&dice, 300) ? (pid_t)(1 + sim_dice_below(&dice, 3)) : 0;
    pid_t pid = (pid_t)(ACTORS_FIRST_PID + action->number * ACTORS_PIDS);
    struct actors_task *task = actors_new_task(actors_names[action->kind], pid, group);
    task->action = action;
    task->actor.dice = sim_dice_of(action->seed, "actor", 0);
    snprintf(task->actor.name, sizeof task->actor.name, "%u %s", action->number,
             actors_names[action->kind]);
    task->fiber = sim_fiber_start(task->actor.name, actors_run_task, task);
}

struct sim_actor *sim_actor_spawn(struct sim_actor *parent, sim_program_fn *program,
                                  const char *path)
{
    pid_t pid = parent->process.pid + 1 + (pid_t)parent->children++;
    struct actors_task *task = actors_new_task(parent->process.program, pid, parent->process.group);
    snprintf(task->actor.name, sizeof task->actor.name, "%.20s.%u", parent->name, parent->children);
    task->program = program;
    task->path = sim_copy(path);
    task->actor.dice = sim_dice_of(sim_dice_draw(&parent->dice), "child", 0);
    task->fiber = sim_fiber_start(task->actor.name, actors_run_task, task);
    return &task->actor;
}

/* Its pid is below those of all actions. */
struct sim_actor *sim_actor_new(const char *program)
{
    struct sim_actor *actor = sim_alloc(sizeof *actor);
    actors_init_process(&actor->process, program, ACTORS_FIRST_PID - 1, 0);
    snprintf(actor->name, sizeof actor->name, "%s", program);
    actor->dice = sim_dice_for(program, 0);
    sim_kernel_add_process(&actor->process);
    return actor;
}

void sim_actor_end(struct sim_actor *actor)
{
    sim_kernel_remove_process(&actor->process);
    actor->has_finished = true;
}

static bool actors_child_has_finished(void *arg)
{
    return ((const struct sim_actor *)arg)->has_finished;
}

void sim_actor_wait(struct sim_actor *child)
{
    sim_fiber_wait(actors_child_has_finished, child);
}

static bool actors_all_have_finished(void *arg)
{
    (void)arg;
    return actors.unfinished == 0;
}

/* Starts the actions, each at its time. */
static void actors_direct(void *arg)
{
    (void)arg;
    actors_draw_hot_paths();
    for (unsigned i = 0; i < actors.count; i++) {
        int64_t wait_ms = actors.actions[i].at_ms - sim_now_ms();
        if (sim_is_left_out(actors.actions[i].number))
            continue;
        if (wait_ms > 0)
            sim_fiber_sleep_ms(wait_ms);
        actors_reap();
        actors_start_action(&actors.actions[i]);
    }
    sim_fiber_wait(actors_all_have_finished, NULL);
    actors_reap();
    actors.has_ended = true;
}

void sim_actors_start(const struct sim_action *actions, unsigned count)
{
    actors.actions = actions;
    actors.count = count;
    sim_fiber_start("director", actors_direct, NULL);
    sim_end_start_audit();
}

bool sim_actors_have_ended(void)
{
    return actors.has_ended;
}
