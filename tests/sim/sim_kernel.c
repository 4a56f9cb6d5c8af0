#include "tests/sim/sim_kernel.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_files.h"
#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_strangers.h"
#include "tests/sim/sim_walk.h"
#include "tests/sim/sim_world.h"

/* What Linux does without being told otherwise. */
enum { READ_AHEAD = 128 << 10, BACKGROUND = 12, PAGES = 32, PAGES_MOST = 256 };

/* The versions of the protocol between Linux 4.20 and 6.18. */
enum { MINOR_LEAST = 28, MINOR_MOST = 45, MINOR_EXTENDED = 36, MINOR_STATX = 39 };

static struct sim_kernel {
    struct sim_dict processes; /* of struct sim_known_process, by pid */
    struct sim_ring in_order;  /* the same */
    uint32_t minor;
    uint32_t flags;           /* that it offers */
    bool looks_up_one_by_one; /* in each directory, as before 4.7 */
} sim_kernel;

struct sim_known_process {
    struct sim_dict_link link;
    struct sim_ring in_order;
    struct sim_process *process;
};

/* This life's kernel. Epochs come with 6.16; here each version may have them. */
static void sim_kernel_draw(void)
{
    struct sim_dice dice = sim_dice_for("kernel", 0);
    sim_kernel.minor = (uint32_t)sim_dice_between(&dice, MINOR_LEAST, MINOR_MOST);
    sim_kernel.flags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_EXPORT_SUPPORT |
                       FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_FLOCK_LOCKS | FUSE_HAS_IOCTL_DIR |
                       FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
                       FUSE_ASYNC_DIO | FUSE_WRITEBACK_CACHE | FUSE_NO_OPEN_SUPPORT |
                       FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV | FUSE_POSIX_ACL |
                       FUSE_ABORT_ERROR | FUSE_MAX_PAGES | FUSE_NO_OPENDIR_SUPPORT;
    if (!sim_dice_chance(&dice, 150))
        sim_kernel.flags |= FUSE_CACHE_SYMLINKS;
    if (sim_kernel.minor >= MINOR_EXTENDED)
        sim_kernel.flags |= FUSE_INIT_EXT | FUSE_EXPLICIT_INVAL_DATA;
    sim_connection.knows_epochs = sim_dice_chance(&dice, 600);
    sim_connection.knows_statx = sim_kernel.minor >= MINOR_STATX;
    sim_kernel.looks_up_one_by_one = sim_dice_chance(&dice, 60);
    sim_connection.large_readdir = sim_dice_chance(&dice, 500);
    sim_tell("kernel", "speaks FUSE 7.%u, %s epochs", sim_kernel.minor,
             sim_connection.knows_epochs ? "knows" : "does not know");
}

static void sim_kernel_agree(const struct fuse_init_out *init)
{
    uint32_t flags = init->flags & (sim_kernel.flags | FUSE_PARALLEL_DIROPS);
    struct sim_connection *connection = &sim_connection;
    unsigned pages = init->max_readahead / SIM_PAGE;
    connection->minor = init->minor;
    connection->read_ahead_pages = pages < READ_AHEAD / SIM_PAGE ? pages : READ_AHEAD / SIM_PAGE;
    connection->most_pages = PAGES;
    if (flags & FUSE_MAX_PAGES)
        connection->most_pages = init->max_pages < 1            ? 1
                                 : init->max_pages < PAGES_MOST ? init->max_pages
                                                                : PAGES_MOST;
    connection->most_background = init->max_background ? init->max_background : BACKGROUND;
    connection->parallel_dirops = flags & FUSE_PARALLEL_DIROPS && !sim_kernel.looks_up_one_by_one;
    connection->readdirplus = flags & FUSE_DO_READDIRPLUS;
    connection->readdirplus_auto = flags & FUSE_READDIRPLUS_AUTO;
    connection->caches_symlinks = flags & FUSE_CACHE_SYMLINKS;
    connection->auto_inval_data = flags & FUSE_AUTO_INVAL_DATA;
    connection->async_read = flags & FUSE_ASYNC_READ;
    connection->is_initialized = true;
    sim_tell("kernel", "is mounted: read ahead %u pages, %u pages a request",
             connection->read_ahead_pages, connection->most_pages);
}

static void sim_kernel_on_init(struct sim_call *call)
{
    struct fuse_init_out init = {0};
    if (call->error)
        return;
    memcpy(&init, call->reply, call->reply_size < sizeof init ? call->reply_size : sizeof init);
    if (init.major != FUSE_KERNEL_VERSION || init.minor > FUSE_KERNEL_MINOR_VERSION ||
        !(init.flags & FUSE_PARALLEL_DIROPS) || init.flags & FUSE_READDIRPLUS_AUTO ||
        !(init.flags & FUSE_DO_READDIRPLUS))
        sim_defect("kernel", "INIT has the version %u.%u and the flags %x", init.major, init.minor,
                   init.flags);
    sim_kernel_agree(&init);
}

void sim_kernel_configure(const struct sim_mounting *mounting)
{
    sim_connection.uid = mounting->uid;
    sim_connection.gid = mounting->gid;
    sim_connection.allow_other = mounting->allow_other;
    sim_connection.deadline_ms = mounting->deadline_ms;
}

void sim_kernel_mount(void)
{
    struct fuse_init_in init = {.major = FUSE_KERNEL_VERSION, .max_readahead = READ_AHEAD};
    struct sim_call call = {.opcode = FUSE_INIT,
                            .reply_least = FUSE_COMPAT_22_INIT_OUT_SIZE,
                            .reply_most = sizeof(struct fuse_init_out),
                            .end = sim_kernel_on_init};
    sim_kernel_draw();
    sim_connection.is_connected = true;
    sim_connection.most_background = 1;
    sim_connection.attr_version = 1;
    init.minor = sim_kernel.minor;
    init.flags = sim_kernel.flags;
    sim_dentries_begin();
    sim_call_add(&call, &init,
                 init.flags & FUSE_INIT_EXT ? sizeof init : offsetof(struct fuse_init_in, flags2));
    sim_call_post(&call);
    sim_strangers_start();
}

void sim_kernel_unmount(void)
{
    sim_tell("kernel", "is unmounted");
    sim_device_abort(-ENOTCONN);
}

void sim_kernel_device_close(void)
{
    sim_tell("kernel", "the program has closed the device");
    sim_device_abort(-ENOTCONN);
}

bool sim_kernel_knows_epochs(void)
{
    return sim_connection.knows_epochs;
}

int64_t sim_kernel_straddled_ms(void)
{
    return sim_connection.straddled_ms;
}

bool sim_kernel_is_live(void)
{
    return sim_connection.is_connected && sim_connection.is_initialized;
}

void sim_kernel_signal(struct sim_process *process)
{
    sim_device_signal(process);
}

struct sim_kernel_counts sim_kernel_count(void)
{
    struct sim_device_counts device = sim_device_count();
    struct sim_dentries_counts dentries = sim_dentries_count();
    return (struct sim_kernel_counts){.dentries = dentries.dentries,
                                      .inodes = dentries.inodes,
                                      .open_files = sim_files_count(),
                                      .waiting_requests = device.waiting,
                                      .queued_requests = device.queued,
                                      .lookups = dentries.lookups,
                                      .requests = device.requests,
                                      .replies = device.replies,
                                      .notifications = device.notifications};
}

/* Processes. */

static struct sim_known_process *sim_kernel_find_known(pid_t pid)
{
    struct sim_dict_link *link = sim_dict_first(&sim_kernel.processes, (uint64_t)pid);
    return link ? SIM_OF(link, struct sim_known_process, link) : NULL;
}

const struct sim_process *sim_kernel_find_process(pid_t pid)
{
    struct sim_known_process *known = sim_kernel_find_known(pid);
    return known ? known->process : NULL;
}

const struct sim_process *sim_kernel_next_process(pid_t after)
{
    const struct sim_process *next = NULL;
    struct sim_ring *head = &sim_kernel.in_order;
    for (struct sim_ring *at = sim_ring_next(head, head); at; at = sim_ring_next(head, at)) {
        const struct sim_process *each = SIM_OF(at, struct sim_known_process, in_order)->process;
        if (each->pid > after && (!next || each->pid < next->pid))
            next = each;
    }
    return next;
}

void sim_kernel_add_process(struct sim_process *process)
{
    struct sim_known_process *known = sim_alloc(sizeof *known);
    known->process = process;
    sim_ring_add(&sim_kernel.in_order, &known->in_order);
    sim_dict_add(&sim_kernel.processes, &known->link, (uint64_t)process->pid);
}

void sim_kernel_remove_process(struct sim_process *process)
{
    struct sim_known_process *known = sim_kernel_find_known(process->pid);
    if (!known || known->process != process)
        sim_broken("the process %d is not known", (int)process->pid);
    sim_dict_remove(&sim_kernel.processes, &known->link);
    sim_ring_remove(&known->in_order);
    sim_free(known);
}
