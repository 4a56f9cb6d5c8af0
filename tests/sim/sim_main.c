/* The simulator's command line. One life is one child process, so that a crash, a leak or an
 * endless loop is an exit status. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_history.h"
#include "tests/sim/sim_identity.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_memory.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_world.h"

int ddbfs_main(int argc, char **argv);
int sim_real_prctl(int option, ...) SIM_REAL(prctl);
int sim_real_poll(struct pollfd *fds, nfds_t count, int timeout_ms) SIM_REAL(poll);

enum {
    SIM_MOST_LEFT_OUT = 4096,
    SIM_MOST_WORDS = 64,
    SIM_FEW_ACTIONS = 60,
    SIM_MANY_ACTIONS = 600
};

/* Of real time, for one life: a sanitized program on a busy machine must not reach it. */
enum { SIM_DEFAULT_WATCH_S = 120 };

/* The numbers of faults in the plan begin here, those of actions at 1. */
enum { SIM_FIRST_FAULT = 1000000 };

/* Faults go on for a minute after the begin of the last action. */
enum { SIM_AFTERLIFE_MS = 60 * 1000 };

/* The first request to each environment may be repeated for --timeout, and then its credentials. */
enum { SIM_START_MS = 180 * 1000 };

#define SIM_FOLDER "/proc/self/cwd"

struct sim_command {
    unsigned left_out[SIM_MOST_LEFT_OUT];
    unsigned watch_s;
    bool scatters; /* addresses are random, as a test that nothing depends on them */
};

/* The director: begins the actors when the mount is live, and ends it when they have ended. */

static struct {
    bool was_live, has_ended; /* the mount; the program */
} sim_main_mount;

static bool sim_main_is_live(void *arg)
{
    (void)arg;
    return sim_kernel_is_live() || sim_main_mount.has_ended;
}

static bool sim_main_is_over(void *arg)
{
    (void)arg;
    return sim_actors_have_ended();
}

/* For the shrinker. */
static void sim_main_print_plan(unsigned actions, unsigned after_faults)
{
    if (actions > 0)
        printf("plan 1-%u\n", actions);
    if (after_faults > SIM_FIRST_FAULT)
        printf("plan %u-%u\n", SIM_FIRST_FAULT, after_faults - 1);
    fflush(stdout);
}

static void sim_main_direct(void *arg)
{
    unsigned count = 0;
    (void)arg;
    struct sim_action *actions = sim_life_plan(1, &count);
    unsigned after =
        sim_causes_plan(SIM_FIRST_FAULT,
                        count > 0 ? actions[count - 1].at_ms + SIM_AFTERLIFE_MS : SIM_AFTERLIFE_MS);
    sim_main_print_plan(count, after);
    if (!sim_fiber_wait_until(sim_main_is_live, NULL, sim_now_ms() + SIM_START_MS))
        sim_defect("start", "the mount is not live after %d s", SIM_START_MS / 1000);
    if (sim_main_mount.has_ended) {
        sim_free(actions);
        return;
    }
    sim_main_mount.was_live = true;
    sim_tell("mount", "is live");
    sim_memory_set_may_fail(!sim_life_is_recording());
    sim_actors_start(actions, count);
    sim_fiber_wait(sim_main_is_over, NULL);
    sim_memory_set_may_fail(false);
    sim_life_check_end();
    sim_tell("mount", "is unmounted");
    sim_kernel_unmount();
    sim_free(actions);
}

/* The life. */

static void sim_main_write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        sim_broken("%s can't be written: %s", name, strerror(errno));
}

/* Credentials of the environment alone; no other setting of this machine reaches the life. */
static void sim_main_set_environment(void)
{
    static const char *const variables[] = {
        "HOME",          SIM_FOLDER, "TMPDIR", SIM_FOLDER, "PATH",
        "/usr/bin:/bin", "TZ",       "UTC",    "LC_ALL",   "C",
    };
    clearenv();
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i += 2)
        setenv(variables[i], variables[i + 1], 1);
    sim_identity_prepare(SIM_FOLDER);
}

/* How many real descriptors this process has. */
static unsigned sim_main_count_fds(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void sim_main_configure_kernel(void)
{
    const struct sim_life_options *options = sim_life_options();
    const struct sim_mounting mounting = {.uid = SIM_USER,
                                          .gid = SIM_USER,
                                          .allow_other = options->allow_other,
                                          .deadline_ms = 3 * options->timeout_ms};
    sim_kernel_configure(&mounting);
}

static int sim_main_run_program(void)
{
    const char *words[SIM_MOST_WORDS] = {"ddbfs", "mount", "--foreground"};
    int count = 3;
    unsigned own = 0;
    const char *map = sim_paths_draw_map();
    sim_life_prepare(SIM_FOLDER);
    if (map) {
        sim_main_write_file("map.json", map);
        words[count++] = "--map";
        words[count++] = SIM_FOLDER "/map.json";
    }
    const char *const *more = sim_life_words(SIM_FOLDER, &own);
    for (unsigned i = 0; i < own && count < SIM_MOST_WORDS - 2; i++)
        words[count++] = more[i];
    words[count++] = SIM_FOLDER "/mnt";
    words[count] = NULL;
    for (int i = 0; i < count; i++)
        sim_tell("words", "%s", words[i]);
    sim_main_configure_kernel();
    sim_fiber_start("director", sim_main_direct, NULL);
    int status = ddbfs_main(count, (char **)(void *)words);
    sim_main_mount.has_ended = true;
    return status;
}

static bool sim_main_has_no_fiber(void *arg)
{
    (void)arg;
    return sim_fiber_count() == 0;
}

/* Another mount, in a process of its own, makes the recording that this one shows. */
static void sim_main_record(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sim_real_prctl(PR_SET_PDEATHSIG, SIGKILL);
        sim_life_begin_recording();
        _exit(sim_main_run_program() == 0 ? 0 : SIM_EXIT_DEFECT);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        sim_broken("no process for a recording");
    if (status != 0)
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : SIM_EXIT_DEFECT);
}

/* A mount that has not begun: a fault. */
static void sim_main_check_refusal(int status)
{
    sim_tell("mount", "was refused");
    if (status == 0 || !sim_causes_any(0, sim_now_ms()))
        sim_defect("start", "the mount was refused with status %d without a cause", status);
}

/* A recording that lacks a response ends in a failure. */
static bool sim_main_may_fail(void)
{
    return sim_life_options()->records && sim_causes_had(SIM_FAULT_MEMORY);
}

/* What must be true when the program has ended. */
static void sim_main_check_end(int status, unsigned fds_before, int64_t blocks_before)
{
    if (!sim_world_wait(sim_main_has_no_fiber, NULL, sim_now_ms() + INT64_C(3600) * 1000))
        sim_defect("end", "the fiber %s has not ended", sim_fiber_first_name());
    if (!sim_main_mount.was_live)
        sim_main_check_refusal(status);
    else if (status != 0 && !sim_main_may_fail())
        sim_defect("end", "the program's exit status is %d", status);
    if (sim_thread_count() > 0)
        sim_defect("end", "%u threads of the program are left", sim_thread_count());
    if (sim_fd_count() > 0 || sim_main_count_fds() != fds_before)
        sim_defect("end", "%u descriptors are left, and %d real ones", sim_fd_count(),
                   (int)sim_main_count_fds() - (int)fds_before);
    if (sim_transport_count() > 0)
        sim_defect("end", "%zu transfers are left", sim_transport_count());
    if (sim_memory_count() != blocks_before)
        sim_defect("end", "%lld blocks of memory are left",
                   (long long)(sim_memory_count() - blocks_before));
}

static void sim_main_print_result(void)
{
    char digest[SIM_DIGEST_SIZE];
    struct sim_life_counts counts = sim_life_count();
    struct sim_books books = sim_service_books();
    struct sim_kernel_counts kernel = sim_kernel_count();
    sim_digest(&counts, sizeof counts);
    sim_digest(&books, sizeof books);
    sim_world_write_digest(digest);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    long cpu_ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                  (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    printf("life seed=%llu digest=%s actions=%llu operations=%llu cold=%llu sent=%llu "
           "requests=%llu turns=%llu "
           "virtual_s=%lld cpu_ms=%ld\n",
           (unsigned long long)sim_settings.seed, digest, (unsigned long long)counts.actions,
           (unsigned long long)counts.operations, (unsigned long long)counts.cold,
           (unsigned long long)books.requests, (unsigned long long)kernel.requests,
           (unsigned long long)sim_world_turns(), (long long)(sim_now_ms() / 1000), cpu_ms);
    fflush(stdout);
}

static void sim_main_live(void)
{
    if (mkdir("mnt", 0755) != 0)
        sim_broken("mnt can't be made: %s", strerror(errno));
    sim_main_set_environment();
    unsigned fds_before = sim_main_count_fds();
    sim_history_draw();
    int64_t blocks_before = sim_memory_count();
    if (sim_life_options()->is_replay)
        sim_main_record();
    int status = sim_main_run_program();
    sim_main_check_end(status, fds_before, blocks_before);
    sim_main_print_result();
}

/* The parent. */

static int sim_main_remove_one(const char *path, const struct stat *found, int kind,
                               struct FTW *walk)
{
    (void)found;
    (void)kind;
    (void)walk;
    return remove(path);
}

/* Waits for the child, which pidfd becomes readable for; kills one that hangs. */
static int sim_main_watch(pid_t child, unsigned watch_s)
{
    int status = 0, fd = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd over = {.fd = fd, .events = POLLIN};
    int ready = sim_real_poll(&over, 1, (int)watch_s * 1000);
    if (ready == 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    close(fd);
    if (ready == 0) {
        fprintf(stderr, "DEFECT watchdog: the life of seed %llu hangs: %u s\n",
                (unsigned long long)sim_settings.seed, watch_s);
        return SIM_EXIT_DEFECT;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFEXITED(status) && code != 0 && code != SIM_EXIT_DEFECT && code != SIM_EXIT_BROKEN)
        fprintf(stderr, "DEFECT exit: the life of seed %llu ended with status %d\n",
                (unsigned long long)sim_settings.seed, code);
    if (WIFEXITED(status))
        return code;
    fprintf(stderr, "DEFECT crash: the life of seed %llu died of signal %d\n",
            (unsigned long long)sim_settings.seed, WTERMSIG(status));
    return SIM_EXIT_DEFECT;
}

static int sim_main_run(const struct sim_command *command)
{
    char memory[] = "/dev/shm/ddbfs-sim.XXXXXX", disk[] = "/tmp/ddbfs-sim.XXXXXX";
    const char *folder = mkdtemp(memory) ? memory : mkdtemp(disk);
    if (!folder) {
        perror("sim: /tmp");
        return SIM_EXIT_BROKEN;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sim_real_prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir(folder) != 0)
            sim_broken("%s can't be entered", folder);
        sim_main_live();
        exit(0); /* the leak sanitizer has its turn */
    }
    int status = sim_main_watch(child, command->watch_s);
    nftw(folder, sim_main_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}

static void sim_main_leave_out(struct sim_command *command, const char *list)
{
    char *end;
    while (*list) {
        unsigned long number = strtoul(list, &end, 10);
        if (end == list || sim_settings.left_out_count == SIM_MOST_LEFT_OUT) {
            fprintf(stderr, "sim: --leave-out takes numbers with commas\n");
            exit(2);
        }
        command->left_out[sim_settings.left_out_count++] = (unsigned)number;
        list = *end == ',' ? end + 1 : end;
    }
    sim_settings.left_out = command->left_out;
}

/* Most lives are short, because a short one is easier to understand; some find what takes time. */
static unsigned sim_main_draw_actions(void)
{
    struct sim_dice dice = sim_dice_for("length", 0);
    uint32_t kind = sim_dice_below(&dice, 30);
    return kind == 0  ? SIM_MANY_ACTIONS
           : kind < 5 ? (unsigned)sim_dice_between(&dice, 1, INT64_C(4) * SIM_FEW_ACTIONS)
                      : SIM_FEW_ACTIONS;
}

static void sim_main_parse(struct sim_command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"actions", required_argument, NULL, 'a'},
        {"leave-out", required_argument, NULL, 'l'},
        {"watch", required_argument, NULL, 'w'},
        {"tell", no_argument, NULL, 't'},
        {"scatter", no_argument, NULL, 'r'},
        {0},
    };
    int option;
    command->watch_s = SIM_DEFAULT_WATCH_S;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (option == 's')
            sim_settings.seed = strtoull(optarg, NULL, 10);
        else if (option == 'a')
            sim_settings.actions = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'w')
            command->watch_s = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'l')
            sim_main_leave_out(command, optarg);
        else if (option == 't')
            sim_settings.tells = true;
        else if (option == 'r')
            command->scatters = true;
        else
            exit(2);
    if (sim_settings.actions == 0)
        sim_settings.actions = sim_main_draw_actions();
    optind = 1; /* the program parses its own words */
}

/* Other addresses would move what a debugger shows. */
static void sim_main_fix_addresses(char **argv)
{
    int now = personality(0xffffffff);
    if (!(now & ADDR_NO_RANDOMIZE) && personality((unsigned)now | ADDR_NO_RANDOMIZE) != -1)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    static struct sim_command command;
    sim_main_parse(&command, argc, argv);
    if (!command.scatters)
        sim_main_fix_addresses(argv);
    return sim_main_run(&command);
}
