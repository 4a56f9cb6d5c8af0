/* Files of /proc about the processes of the life. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

/* Bits of SIGKILL and SIGTERM. */
#define SIM_SIGNALS "0000000000004100"

char *sim_proc_read(const char *path)
{
    int pid = 0, end = 0;
    if (sscanf(path, "/proc/%d/%n", &pid, &end) != 1 || end == 0)
        return NULL;
    const struct sim_process *process = sim_kernel_find_process(pid);
    if (!process)
        return NULL;
    if (strcmp(path + end, "comm") == 0)
        return sim_printf("%s\n", process->program);
    if (strcmp(path + end, "stat") == 0)
        return sim_printf("%d (%s) S 1 %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid,
                          process->program, (int)process->group, (int)process->group, 100 + pid);
    if (strcmp(path + end, "status") == 0)
        return sim_printf("Name:\t%s\nTgid:\t%d\nPid:\t%d\nSigPnd:\t0000000000000000\n"
                          "ShdPnd:\t%s\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
                          "SigCgt:\t0000000000000000\nvoluntary_ctxt_switches:\t1\n",
                          process->program, pid, pid,
                          process->is_signalled ? SIM_SIGNALS : "0000000000000000");
    return NULL;
}
