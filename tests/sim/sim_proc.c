/* The folder /proc, with the processes of the life. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

/* Bits of SIGTERM and SIGKILL. */
#define SIM_SIGNALS "0000000000004100"
#define SIM_NO_SIGNALS "0000000000000000"

struct dirent *sim_real_readdir(DIR *folder) SIM_REAL(readdir64);
int sim_real_closedir(DIR *folder) SIM_REAL(closedir);
int sim_real_dirfd(DIR *folder) SIM_REAL(dirfd);

struct dirent *sim_proc_readdir(DIR *folder) SIM_WRAP(readdir64);
int sim_proc_closedir(DIR *folder) SIM_WRAP(closedir);
int sim_proc_dirfd(DIR *folder) SIM_WRAP(dirfd);

/* /proc itself, which one function at a time reads. */
static struct {
    pid_t last;
    struct dirent entry;
} sim_proc;

static char *sim_proc_stat(const struct sim_process *process)
{
    int pid = process->pid, group = process->group;
    return sim_printf("%d (%s) %c 1 %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid,
                      process->program, process->state ? process->state : 'R', group, group,
                      100 + pid);
}

static char *sim_proc_status(const struct sim_process *process)
{
    int pid = process->pid;
    return sim_printf("Name:\t%s\nTgid:\t%d\nPid:\t%d\nSigPnd:\t" SIM_NO_SIGNALS
                      "\nShdPnd:\t%s\nSigBlk:\t" SIM_NO_SIGNALS "\nSigIgn:\t" SIM_NO_SIGNALS
                      "\nSigCgt:\t" SIM_NO_SIGNALS "\nvoluntary_ctxt_switches:\t%llu\n",
                      process->program, pid, pid,
                      process->is_signalled ? SIM_SIGNALS : SIM_NO_SIGNALS,
                      (unsigned long long)process->switches);
}

char *sim_proc_read(const char *path)
{
    char *name;
    long pid = strtol(path, &name, 10);
    const struct sim_process *process = sim_kernel_find_process((pid_t)pid);
    if (!process)
        return NULL;
    if (strcmp(name, "/comm") == 0)
        return sim_printf("%s\n", process->program);
    if (strcmp(name, "/stat") == 0)
        return sim_proc_stat(process);
    return strcmp(name, "/status") == 0 ? sim_proc_status(process) : NULL;
}

DIR *sim_proc_open_folder(void)
{
    sim_proc.last = 0;
    return (DIR *)(void *)&sim_proc;
}

static bool sim_proc_is(const DIR *folder)
{
    return (const void *)folder == &sim_proc;
}

struct dirent *sim_proc_readdir(DIR *folder)
{
    if (!sim_proc_is(folder))
        return sim_real_readdir(folder);
    const struct sim_process *next = sim_kernel_next_process(sim_proc.last);
    if (!next)
        return NULL;
    sim_proc.last = next->pid;
    snprintf(sim_proc.entry.d_name, sizeof sim_proc.entry.d_name, "%d", (int)next->pid);
    return &sim_proc.entry;
}

int sim_proc_closedir(DIR *folder)
{
    return sim_proc_is(folder) ? 0 : sim_real_closedir(folder);
}

int sim_proc_dirfd(DIR *folder)
{
    return sim_proc_is(folder) ? SIM_PROC_FD : sim_real_dirfd(folder);
}
