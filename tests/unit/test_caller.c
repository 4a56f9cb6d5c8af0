/* Who asks: what /proc tells of a task. */
#include "fs/mount/process.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "tests/unit/check.h"

/* A /proc of one's own. */
static char folder[] = "/tmp/ddbfs-proc-XXXXXX";

static void write_file(pid_t pid, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%d", folder, (int)pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%d/%s", folder, (int)pid, name);
    FILE *file = fopen(path, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void write_task(pid_t task, pid_t process, pid_t group, unsigned started, const char *name)
{
    char text[256];
    snprintf(text, sizeof text,
             "%d (%s) S 1 %d 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %u 9 9 9 9\n", (int)task, name,
             (int)group, started);
    write_file(task, "stat", text);
    snprintf(text, sizeof text, "Name:\t%s\nTgid:\t%d\nPid:\t%d\n", "x", (int)process, (int)task);
    write_file(task, "status", text);
}

static struct processes *open_folder(void)
{
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK(mkdtemp(folder));
    return processes_new(folder, true);
}

static void close_folder(struct processes *processes)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    processes_destroy(processes);
}

static struct process find(struct processes *processes, pid_t task)
{
    struct process found;
    processes_find(processes, task, &found);
    return found;
}

static void this_process_is_found(void)
{
    struct processes *processes = processes_new("/proc", true);
    prctl(PR_SET_NAME, "me myself");
    struct process me = find(processes, getpid());
    CHECK_INT(me.id.pid, getpid());
    CHECK(me.id.started > 0);
    CHECK_TEXT(me.program, "me%20myself");
    CHECK_INT(me.group.pid, getpgrp());
    processes_destroy(processes);
}

static void *tell_task(void *arg)
{
    struct processes *processes = processes_new("/proc", true);
    prctl(PR_SET_NAME, "worker");
    processes_find(processes, (pid_t)syscall(SYS_gettid), arg);
    processes_destroy(processes);
    return NULL;
}

static void a_thread_is_its_process(void)
{
    struct process found;
    pthread_t thread;
    prctl(PR_SET_NAME, "whole");
    CHECK_INT(pthread_create(&thread, NULL, tell_task, &found), 0);
    pthread_join(thread, NULL);
    CHECK_INT(found.id.pid, getpid());
    CHECK_TEXT(found.program, "whole");
}

static void a_process_that_is_gone_is_unknown(void)
{
    struct processes *processes = processes_new("/proc", true);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    struct process gone = find(processes, child);
    CHECK_INT(gone.id.pid, child);
    CHECK_INT(gone.id.started, 0);
    CHECK_TEXT(gone.program, PROCESS_UNKNOWN);
    processes_destroy(processes);
}

static void a_process_of_another_namespace_is_unknown(void)
{
    struct processes *processes = processes_new("/proc", true);
    struct process other = find(processes, 0);
    CHECK_INT(other.id.pid, 0);
    CHECK_TEXT(other.program, PROCESS_UNKNOWN);
    processes_destroy(processes);
}

/* Without groups, the name comes from a file that stays open from the second time on. */
static void a_name_is_current_without_groups(void)
{
    static const char *const names[] = {"first", "second", "third", "fourth"};
    struct processes *processes = processes_new("/proc", false);
    uint64_t started = find(processes, getpid()).id.started;
    CHECK(started > 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        prctl(PR_SET_NAME, names[i]);
        struct process me = find(processes, getpid());
        CHECK_TEXT(me.program, names[i]);
        CHECK(me.id.pid == getpid() && me.id.started == started);
        CHECK_INT(me.group.pid, 0);
    }
    processes_destroy(processes);
}

/* More than have open files. */
static void processes_that_have_ended_are_unknown_without_groups(void)
{
    pid_t children[PROCESSES_OPEN + 4];
    size_t count = sizeof children / sizeof children[0];
    struct processes *processes = processes_new("/proc", false);
    for (size_t i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pause();
            _exit(0);
        }
    }
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < count; i++)
            CHECK_INT(find(processes, children[i]).id.pid, children[i]);
    for (size_t i = 0; i < count; i++) {
        CHECK(find(processes, children[i]).id.started > 0);
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
        CHECK_INT(find(processes, children[i]).id.started, 0);
    }
    processes_destroy(processes);
}

static void *find_thread_twice(void *arg)
{
    struct processes *processes = processes_new("/proc", false);
    prctl(PR_SET_NAME, "worker");
    for (int i = 0; i < 3; i++)
        processes_find(processes, (pid_t)syscall(SYS_gettid), arg);
    processes_destroy(processes);
    return NULL;
}

static void a_thread_is_its_process_without_groups(void)
{
    struct process found;
    pthread_t thread;
    prctl(PR_SET_NAME, "whole");
    CHECK_INT(pthread_create(&thread, NULL, find_thread_twice, &found), 0);
    pthread_join(thread, NULL);
    CHECK_INT(found.id.pid, getpid());
    CHECK_TEXT(found.program, "whole");
}

/* A script of which both programs are, and a job of a shell's. */
static void a_group_is_told_by_its_leader(void)
{
    struct processes *processes = open_folder();
    write_task(30, 30, 30, 300, "script");
    write_task(40, 40, 30, 400, "grep");
    write_task(41, 41, 41, 500, "cat");
    struct process grep = find(processes, 40), cat = find(processes, 41);
    CHECK(grep.group.pid == 30 && grep.group.started == 300);
    CHECK_TEXT(grep.group_program, "script");
    CHECK(cat.group.pid == 41 && cat.group.started == 500);
    write_task(41, 41, 30, 500, "cat"); /* a shell may tell its group late */
    CHECK_INT(find(processes, 41).group.pid, 30);
    close_folder(processes);
}

static void a_group_outlives_its_leader(void)
{
    struct processes *processes = open_folder();
    write_task(40, 40, 30, 400, "grep");
    struct process grep = find(processes, 40);
    CHECK(grep.group.pid == 30 && grep.group.started == 0);
    CHECK_TEXT(grep.group_program, "grep");
    close_folder(processes);
}

static void who_is_not_seen_is_a_group_of_its_own(void)
{
    struct processes *processes = open_folder();
    struct process hidden = find(processes, 77);
    CHECK(hidden.group.pid == 77 && hidden.group.started == 0);
    CHECK_TEXT(hidden.group_program, PROCESS_UNKNOWN);
    CHECK_INT(find(processes, 0).group.pid, 0);
    close_folder(processes);
}

static void a_number_that_is_used_again_is_another_process(void)
{
    struct processes *processes = open_folder();
    write_task(60, 60, 1, 100, "cat");
    CHECK_TEXT(find(processes, 60).program, "cat");
    write_task(60, 60, 1, 700, "ls");
    struct process again = find(processes, 60);
    CHECK_TEXT(again.program, "ls");
    CHECK_INT(again.id.started, 700);
    close_folder(processes);
}

static void exec_changes_the_program(void)
{
    struct processes *processes = open_folder();
    write_task(60, 60, 1, 100, "sh");
    CHECK_TEXT(find(processes, 60).program, "sh");
    write_task(60, 60, 1, 100, "cat");
    CHECK_TEXT(find(processes, 60).program, "cat");
    close_folder(processes);
}

static void names_are_printable(void)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"a) S 9 (b", "a)%20S%209%20(b"},
        {"x\ny\x1b[2J", "x%0Ay%1B[2J"},
        {"\xff\"q\\", "%FF\"q\\"},
        {"", PROCESS_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct processes *processes = open_folder();
        write_task(70, 70, 1, 5, cases[i].name);
        CHECK_TEXT(find(processes, 70).program, cases[i].want);
        close_folder(processes);
    }
}

static void what_is_no_stat_is_unknown(void)
{
    static const char *const texts[] = {"",           "70", "70 (cat",
                                        "70 (cat) S", ")(", "70 (cat) S 1 2 3"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct processes *processes = open_folder();
        write_file(70, "stat", texts[i]);
        CHECK_TEXT(find(processes, 70).program, PROCESS_UNKNOWN);
        close_folder(processes);
    }
}

/* Those that were found longest ago are forgotten, and looked at again. */
static void many_processes_are_told_apart(void)
{
    struct processes *processes = open_folder();
    for (pid_t pid = 1000; pid < 1000 + PROCESSES_MOST + 50; pid++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", (int)pid);
        write_task(pid, pid, 1, (unsigned)pid, name);
        CHECK_TEXT(find(processes, pid).program, name);
    }
    CHECK_TEXT(find(processes, 1000).program, "p1000");
    close_folder(processes);
}

static const struct check_test tests[] = {
    {"this process is found", this_process_is_found},
    {"a thread is its process", a_thread_is_its_process},
    {"a process that is gone is unknown", a_process_that_is_gone_is_unknown},
    {"a process of another namespace is unknown", a_process_of_another_namespace_is_unknown},
    {"a name is current without groups", a_name_is_current_without_groups},
    {"processes that have ended are unknown without groups",
     processes_that_have_ended_are_unknown_without_groups},
    {"a thread is its process without groups", a_thread_is_its_process_without_groups},
    {"a group is told by its leader", a_group_is_told_by_its_leader},
    {"a group outlives its leader", a_group_outlives_its_leader},
    {"who is not seen is a group of its own", who_is_not_seen_is_a_group_of_its_own},
    {"a number that is used again is another process",
     a_number_that_is_used_again_is_another_process},
    {"exec changes the program", exec_changes_the_program},
    {"names are printable", names_are_printable},
    {"what is no stat is unknown", what_is_no_stat_is_unknown},
    {"many processes are told apart", many_processes_are_told_apart},
};

CHECK_MAIN(tests)
