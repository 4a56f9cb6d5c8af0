/* Programs beside the loop: what they get, what they leave, and that they end. */
#include "core/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { LONG_MS = 90 * 1000 };

struct scene {
    struct loop *loop;
    struct child *child;
    int ends;
    enum child_outcome outcome;
    int number;
    struct buf output, errors;
};

static void on_end(void *arg, const struct child_end *end)
{
    struct scene *scene = arg;
    scene->child = NULL;
    scene->ends++;
    scene->outcome = end->outcome;
    scene->number = end->number;
    buf_add_span(&scene->output, end->output);
    buf_add_span(&scene->errors, end->errors);
}

static bool ends_in_a_stop(struct span output)
{
    return output.size > 0 && output.data[output.size - 1] == '.';
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.loop = loop_new(clock_system())};
    CHECK(scene->loop);
}

static void scene_clean_up(struct scene *scene)
{
    child_cancel(scene->child);
    loop_destroy(scene->loop);
    buf_clean_up(&scene->output);
    buf_clean_up(&scene->errors);
}

static void start(struct scene *scene, const char *const *argv, int64_t timeout_ms)
{
    buf_truncate(&scene->output, 0);
    buf_truncate(&scene->errors, 0);
    scene->ends = 0;
    scene->child = child_start(scene->loop, argv, timeout_ms, ends_in_a_stop, on_end, scene);
    CHECK(scene->child);
    CHECK_INT(scene->ends, 0);
}

static void run(struct scene *scene, const char *const *argv, int64_t timeout_ms)
{
    start(scene, argv, timeout_ms);
    CHECK(loop_run(scene->loop));
    CHECK_INT(scene->ends, 1);
}

static void run_shell(struct scene *scene, const char *script, int64_t timeout_ms)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    run(scene, argv, timeout_ms);
}

static void check_end(const struct scene *scene, enum child_outcome outcome, int number)
{
    if (scene->outcome != outcome || scene->number != number)
        CHECK_FAIL("outcome %d, number %d: %s", (int)scene->outcome, scene->number,
                   buf_text(&scene->errors));
}

static void what_it_leaves(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    run_shell(&scene, "printf 'o\\0u'; printf err >&2; exit 3", LONG_MS);
    check_end(&scene, CHILD_EXITED, 3);
    CHECK_SPAN(buf_span(&scene.output), SPAN_LITERAL("o\0u"));
    CHECK_TEXT(buf_text(&scene.errors), "err");
    run_shell(&scene, "kill -9 $$", LONG_MS);
    check_end(&scene, CHILD_KILLED, SIGKILL);
    run_shell(&scene, "exec >&- 2>&-; exit 4", LONG_MS);
    check_end(&scene, CHILD_EXITED, 4);
}

/* A process that the program left behind holds both pipes. It waits until the next line is taken.
 */
static void who_holds_its_pipes_is_not_waited_for(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    run_shell(&scene, "sleep 60 & echo $! >&2; printf all.", LONG_MS);
    check_end(&scene, CHILD_EXITED, 0);
    CHECK_TEXT(buf_text(&scene.output), "all.");
    CHECK_INT(kill((pid_t)atoi(buf_text(&scene.errors)), SIGKILL), 0);
    run_shell(&scene, "sleep 60 & echo $! >&2; printf half; exit 3", LONG_MS);
    check_end(&scene, CHILD_EXITED, 3);
    CHECK_INT(kill((pid_t)atoi(buf_text(&scene.errors)), SIGKILL), 0);
    run_shell(&scene,
              "(while kill -0 $$ 2>&-; do :; done; printf y.; exec sleep 60) & echo $! >&2; "
              "printf all",
              LONG_MS);
    check_end(&scene, CHILD_EXITED, 0);
    CHECK_TEXT(buf_text(&scene.output), "ally.");
    CHECK_INT(kill((pid_t)atoi(buf_text(&scene.errors)), SIGKILL), 0);
}

static void what_it_gets(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    const char *const words[] = {"printf", "<%s>", "a b", "", "$HOME", "'\"\\", NULL};
    open_scene(&scene);
    run(&scene, words, LONG_MS);
    CHECK_TEXT(buf_text(&scene.output), "<a b><><$HOME><'\"\\>");
    setenv("CHILD_SEES", "this", 1);
    run_shell(&scene, "printf %s \"$CHILD_SEES\"; cat; printf '%s' end", LONG_MS);
    CHECK_TEXT(buf_text(&scene.output), "thisend");
}

static void programs_that_are_none(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    const char *const missing[] = {"/nowhere/at-all", NULL},
                      *const named[] = {"no-such-thing", NULL}, *const folder[] = {"/", NULL},
                      *const empty[] = {"", NULL};
    open_scene(&scene);
    run(&scene, missing, LONG_MS);
    check_end(&scene, CHILD_NOT_STARTED, ENOENT);
    run(&scene, named, LONG_MS);
    check_end(&scene, CHILD_NOT_STARTED, ENOENT);
    run(&scene, folder, LONG_MS);
    check_end(&scene, CHILD_NOT_STARTED, EACCES);
    run(&scene, empty, LONG_MS);
    check_end(&scene, CHILD_NOT_STARTED, ENOENT);
}

static void no_descriptor_of_ours(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    int leaky = fcntl(STDIN_FILENO, F_DUPFD, 50);
    run_shell(&scene, "cd /proc/$$/fd && ls -d 0 1 2 50 | tr -d '\\n'", LONG_MS);
    close(leaky);
    CHECK_INT(leaky, 50);
    CHECK_TEXT(buf_text(&scene.output), "012");
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* A daemon has blocked them all, and ignores some. */
static void signals_as_for_any_program(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    sigset_t all, before;
    open_scene(&scene);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    signal(SIGPIPE, SIG_IGN);
    run_shell(&scene, "kill -TERM $$", LONG_MS);
    sigprocmask(SIG_SETMASK, &before, NULL);
    check_end(&scene, CHILD_KILLED, SIGTERM);
    run_shell(&scene, "kill -PIPE $$", LONG_MS);
    signal(SIGPIPE, SIG_DFL);
    check_end(&scene, CHILD_KILLED, SIGPIPE);
}

/* Then the kernel forgets how they ended, and what they print has to do. */
static void where_children_are_ignored(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    signal(SIGCHLD, SIG_IGN);
    run_shell(&scene, "echo out; exit 3", LONG_MS);
    signal(SIGCHLD, SIG_DFL);
    CHECK_INT(scene.outcome, CHILD_EXITED);
    CHECK_TEXT(buf_text(&scene.output), "out\n");
}

/* Whether no process has this number, or one that is dead though its parent has not waited for it.
 */
static bool has_ended(pid_t pid)
{
    char path[64], line[512] = "";
    if (kill(pid, 0) != 0)
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return end && strncmp(end, ") Z", 3) == 0;
}

static void check_gone(const char *number)
{
    struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    pid_t pid = (pid_t)atoi(number);
    CHECK(pid > 1);
    for (int i = 0; i < LONG_MS / 10 && !has_ended(pid); i++)
        nanosleep(&pause, NULL);
    CHECK(has_ended(pid));
}

/* Runs SCRIPT, which prints a number and goes on for ever, past a deadline that leaves it the time
 * to print; a busy machine needs more than an idle one. */
static void run_past_a_deadline(struct scene *scene, const char *script)
{
    for (int64_t timeout_ms = 250; timeout_ms <= LONG_MS; timeout_ms *= 2) {
        run_shell(scene, script, timeout_ms);
        check_end(scene, CHILD_TOO_LONG, 0);
        if (scene->output.size > 0)
            return;
    }
}

static void one_that_takes_too_long(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    run_past_a_deadline(&scene, "echo $$; exec sleep 1000");
    check_gone(buf_text(&scene.output));
}

static void its_group_goes_with_it(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0) { /* where it has no group of its own */
        close(terminal);
        return;
    }
    open_scene(&scene);
    run_past_a_deadline(&scene, "sleep 1000 & echo $!; wait");
    check_gone(buf_text(&scene.output));
}

static void one_that_prints_too_much(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    run_shell(&scene, "exec yes", LONG_MS);
    check_end(&scene, CHILD_TOO_MUCH, 0);
    CHECK_INT(scene.output.size, CHILD_MAX_OUTPUT);
    run_shell(&scene, "head -c 5000000 /dev/zero >&2; echo out", LONG_MS);
    check_end(&scene, CHILD_EXITED, 0);
    CHECK_TEXT(buf_text(&scene.output), "out\n");
    CHECK_INT(scene.errors.size, CHILD_MAX_ERRORS);
    run_shell(&scene, "head -c 1048576 /dev/zero", LONG_MS);
    check_end(&scene, CHILD_EXITED, 0);
}

static void stop(void *loop)
{
    loop_stop(loop);
}

/* A thread closes its descriptors when its child is gone. */
static void wait_until_alone(void)
{
    struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    struct stat tasks = {0};
    for (int i = 0; i < LONG_MS / 10; i++) {
        CHECK_INT(stat("/proc/self/task", &tasks), 0);
        if (tasks.st_nlink == 2 + 1)
            return;
        nanosleep(&pause, NULL);
    }
    CHECK_FAIL("%d threads after %d ms", (int)tasks.st_nlink - 2, (int)LONG_MS);
}

/* Others go on while one sleeps, and one that is called off leaves nothing. */
static void called_off(void)
{
    CLEAN_UP(scene_clean_up) struct scene sleeper, other;
    const char *const argv[] = {"sleep", "1000", NULL};
    open_scene(&other);
    wait_until_alone();
    int before = descriptors();
    open_scene(&sleeper);
    start(&sleeper, argv, LONG_MS);
    run_shell(&other, "echo quick", LONG_MS);
    CHECK_TEXT(buf_text(&other.output), "quick\n");
    for (int i = 0; i < 20; i++) {
        child_cancel(sleeper.child);
        start(&sleeper, argv, LONG_MS);
        CHECK(loop_add_timer(sleeper.loop, i, stop, sleeper.loop));
        CHECK(loop_run(sleeper.loop));
    }
    child_cancel(sleeper.child);
    sleeper.child = NULL;
    CHECK_INT(sleeper.ends, 0);
    wait_until_alone();
    CHECK_INT(descriptors(), before + 1);
}

static const struct check_test tests[] = {
    {"what it leaves", what_it_leaves},
    {"who holds its pipes is not waited for", who_holds_its_pipes_is_not_waited_for},
    {"what it gets", what_it_gets},
    {"programs that are none", programs_that_are_none},
    {"no descriptor of ours", no_descriptor_of_ours},
    {"signals as for any program", signals_as_for_any_program},
    {"where children are ignored", where_children_are_ignored},
    {"one that takes too long", one_that_takes_too_long},
    {"its group goes with it", its_group_goes_with_it},
    {"one that prints too much", one_that_prints_too_much},
    {"called off", called_off},
};
CHECK_MAIN(tests)
