#include "tests/sim/sim_device.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_notify.h"
#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_replies.h"
#include "tests/sim/sim_world.h"

/* Of the unique number of an INTERRUPT, which is otherwise that of its request. */
#define INTERRUPT_BIT UINT64_C(1)

/* Numbers of requests are even. */
enum { UNIQUE_STEP = 2 };

/* How late a reply may be beyond the deadline: turns of the loop take no virtual time, retries of
 * timers do. */
enum { DEADLINE_SLACK_MS = 2000 };

/* ADR 11: a deadly signal behind a harmless one is noticed after at most 50 ms. */
enum { INTERRUPT_MOST_MS = 150 };

/* As the kernel mixes forgets with requests. */
enum { FORGETS_IN_A_ROW = 16, REQUESTS_IN_A_ROW = 8 };

/* Per mille: a read of the device fails for once; a request that has a signal is being read at the
 * same moment; an INTERRUPT overtakes its request, or comes after its reply. */
enum { READ_FAILS = 5, IS_BEING_READ = 200, OVERTAKES = 300, COMES_AFTER = 250 };

/* Per mille: the process of a request has a timer, whose signal it handles. */
enum { HAS_TIMER = 15 };

struct sim_connection sim_connection;

struct sim_forgotten {
    uint64_t node, count;
};

static struct sim_device {
    struct sim_ring pending, held, sent; /* of sim_call.queued */
    struct sim_ring interrupts;          /* of sim_call.interrupted */
    struct sim_dict calls;               /* that have no reply, by unique */
    /* INTERRUPTs for requests that have their reply: numbers alone */
    uint64_t *late;
    size_t late_count, late_room;
    struct sim_forgotten *forgotten;
    size_t forgotten_first, forgotten_count, forgotten_room;
    int forget_turns;
    unsigned background; /* calls that are pending or sent */
    unsigned deadly;     /* calls that must end at once */
    uint64_t unique, requests, replies, notifications;
    struct sim_dice dice;
    bool has_dice;
} sim_device;

static struct sim_dice *sim_device_dice(void)
{
    if (!sim_device.has_dice)
        sim_device.dice = sim_dice_for("device", 0);
    sim_device.has_dice = true;
    return &sim_device.dice;
}

static struct sim_call *sim_call_of(struct sim_ring *link)
{
    return link ? SIM_OF(link, struct sim_call, queued) : NULL;
}

static struct sim_call *sim_call_first(const struct sim_ring *head)
{
    return sim_call_of(sim_ring_next(head, head));
}

void sim_call_add(struct sim_call *call, const void *bytes, size_t size)
{
    if (size > sizeof call->body - call->body_size)
        sim_broken("the body of a request is too long");
    memcpy(call->body + call->body_size, bytes, size);
    call->body_size += size;
}

void sim_call_clean_up(struct sim_call *call)
{
    sim_free(call->reply);
    call->reply = NULL;
}

static void sim_call_tell(const struct sim_call *call)
{
    sim_tell("kernel", "#%llu %s of %llu%s%s for %s",
             (unsigned long long)(call->unique / UNIQUE_STEP), sim_reply_operation(call->opcode),
             (unsigned long long)call->node, call->subject ? " " : "",
             call->subject ? call->subject : "", call->process ? call->process->program : "itself");
}

static void sim_device_release_held(void)
{
    struct sim_call *call;
    while (sim_device.background < sim_connection.most_background &&
           (call = sim_call_first(&sim_device.held))) {
        sim_ring_remove(&call->queued);
        call->state = SIM_CALL_PENDING;
        sim_ring_add(&sim_device.pending, &call->queued);
        sim_device.background++;
    }
}

static void sim_call_enqueue(struct sim_call *call)
{
    sim_device.unique += UNIQUE_STEP;
    sim_device.requests++;
    call->unique = sim_device.unique;
    if (call->process) {
        call->uid = call->process->uid;
        call->gid = call->process->gid;
        call->pid = (uint32_t)call->process->pid;
    }
    sim_dict_add(&sim_device.calls, &call->by_unique, call->unique);
    sim_call_tell(call);
    call->state = call->end ? SIM_CALL_HELD : SIM_CALL_PENDING;
    sim_ring_add(call->end ? &sim_device.held : &sim_device.pending, &call->queued);
    if (call->end)
        sim_device_release_held();
}

static void sim_call_leave_process(struct sim_call *call)
{
    struct sim_call **at = call->process ? &call->process->calls : NULL;
    while (at && *at && *at != call)
        at = &(*at)->next_of_process;
    if (at && *at)
        *at = call->next_of_process;
}

static void sim_device_note_late(uint64_t unique)
{
    if (sim_device.late_count == sim_device.late_room) {
        sim_device.late_room = sim_device.late_room ? sim_device.late_room * 2 : 8;
        sim_device.late = sim_grow(sim_device.late, sim_device.late_room * sizeof(uint64_t));
    }
    sim_device.late[sim_device.late_count++] = unique;
}

/* The call has its reply, or an error instead. */
static void sim_call_finish(struct sim_call *call, int error)
{
    bool was_under_way = call->state != SIM_CALL_HELD;
    bool had_interrupt = call->interrupted.after;
    sim_ring_remove(&call->queued);
    sim_ring_remove(&call->interrupted);
    sim_dict_remove(&sim_device.calls, &call->by_unique);
    if (had_interrupt && sim_dice_chance(sim_device_dice(), COMES_AFTER))
        sim_device_note_late(call->unique);
    if (call->deadly_ms)
        sim_device.deadly--;
    call->error = error;
    call->state = SIM_CALL_FINISHED;
    if (!call->end)
        return;
    if (was_under_way)
        sim_device.background--;
    call->end(call);
    sim_call_clean_up(call);
    sim_free(call);
    sim_device_release_held();
}

static bool sim_call_is_finished(void *arg)
{
    const struct sim_call *call = arg;
    return call->state == SIM_CALL_FINISHED;
}

/* Interrupted: from then on the caller hears deadly signals alone, and none at all once the program
 * has read the request. */
static bool sim_call_is_finished_or_interrupted(void *arg)
{
    const struct sim_call *call = arg;
    return call->is_interrupted || sim_call_is_finished(arg);
}

/* The program has read the INTERRUPT, and its process must die. */
static void sim_call_note_deadly(struct sim_call *call)
{
    bool is_deadly = call->process && call->process->is_signalled && call->interrupt_is_sent;
    if (!is_deadly || call->deadly_ms)
        return;
    call->deadly_ms = sim_now_ms();
    sim_device.deadly++;
}

static void sim_call_interrupt(struct sim_call *call, bool is_deadly)
{
    struct sim_dice *dice = sim_device_dice();
    bool is_first = !call->is_interrupted;
    call->is_interrupted = true;
    if (call->state == SIM_CALL_SENT) {
        if (is_first && !call->interrupted.after)
            sim_ring_add(&sim_device.interrupts, &call->interrupted);
        sim_call_note_deadly(call);
        return;
    }
    if (call->state != SIM_CALL_PENDING)
        return;
    if (is_deadly && !sim_dice_chance(dice, IS_BEING_READ)) {
        sim_tell("kernel", "#%llu is withdrawn: EINTR",
                 (unsigned long long)(call->unique / UNIQUE_STEP));
        sim_call_finish(call, -EINTR);
    } else if (is_first && sim_dice_chance(dice, OVERTAKES)) {
        sim_ring_add(&sim_device.interrupts, &call->interrupted);
    }
}

void sim_device_signal(struct sim_process *process)
{
    process->is_signalled = true;
    sim_tell("kernel", "%s gets a deadly signal", process->program);
    for (struct sim_call *call = process->calls, *next; call; call = next) {
        next = call->next_of_process;
        sim_call_interrupt(call, true);
    }
}

void sim_device_sleep(struct sim_process *process, bool is_deaf, bool (*ready)(void *), void *arg,
                      const char *what)
{
    if (ready(arg))
        return;
    if (!sim_fiber_current())
        sim_defect("kernel", "the program's loop waits for ever: it %s", what);
    char before = process ? process->state : 0;
    if (process) {
        process->state = is_deaf ? 'D' : 'S';
        process->switches++;
    }
    sim_fiber_wait(ready, arg);
    if (process)
        process->state = before;
}

static bool sim_connection_is_open(void *arg)
{
    const struct sim_process *process = arg;
    return sim_connection.is_initialized || !sim_connection.is_connected ||
           (process && process->is_signalled);
}

int sim_call_wait(struct sim_call *call)
{
    struct sim_process *process = call->process;
    sim_device_sleep(process, true, sim_connection_is_open, process, "waits for FUSE_INIT");
    if (!sim_connection.is_connected)
        return -ENOTCONN;
    if (!sim_connection.is_initialized)
        return -EINTR;
    sim_call_enqueue(call);
    if (process) {
        call->next_of_process = process->calls;
        process->calls = call;
    }
    if (process && process->is_signalled)
        sim_call_interrupt(call, true);
    sim_device_sleep(process, false, sim_call_is_finished_or_interrupted, call,
                     "waits for its own reply");
    sim_device_sleep(process, true, sim_call_is_finished, call, "waits for its own reply");
    sim_call_leave_process(call);
    return call->error;
}

void sim_call_post(const struct sim_call *call)
{
    struct sim_call *copy = sim_alloc(sizeof *copy);
    *copy = *call;
    if (sim_connection.is_connected) {
        sim_call_enqueue(copy);
        return;
    }
    copy->error = -ENOTCONN;
    copy->state = SIM_CALL_FINISHED;
    copy->end(copy);
    sim_free(copy);
}

void sim_device_forget(uint64_t node, uint64_t count)
{
    if (!sim_connection.is_connected || count == 0)
        return;
    if (sim_device.forgotten_count == sim_device.forgotten_room) {
        sim_device.forgotten_room = sim_device.forgotten_room ? sim_device.forgotten_room * 2 : 64;
        sim_device.forgotten = sim_grow(sim_device.forgotten,
                                        sim_device.forgotten_room * sizeof(struct sim_forgotten));
    }
    sim_device.forgotten[sim_device.forgotten_count++] = (struct sim_forgotten){node, count};
}

static size_t sim_device_forgets_left(void)
{
    return sim_device.forgotten_count - sim_device.forgotten_first;
}

void sim_device_abort(int error)
{
    struct sim_call *call;
    if (!sim_connection.is_connected)
        return;
    sim_connection.is_connected = false;
    sim_device.forgotten_first = sim_device.forgotten_count = 0;
    sim_device.late_count = 0;
    sim_connection.most_background = 0;
    while ((call = sim_call_first(&sim_device.pending)) ||
           (call = sim_call_first(&sim_device.held)) || (call = sim_call_first(&sim_device.sent)))
        sim_call_finish(call, error);
}

/* What the program reads. */

static void sim_call_check_time(const struct sim_call *call)
{
    int64_t since_ms = sim_now_ms() - call->sent_ms, most_ms = sim_connection.deadline_ms;
    const char *name = call->subject ? call->subject : sim_numbers_name(call->node);
    if (most_ms && since_ms > most_ms + DEADLINE_SLACK_MS && sim_reply_has_deadline(call))
        sim_defect("kernel", "#%llu %s of %llu (%s) has no reply after %lld ms",
                   (unsigned long long)(call->unique / UNIQUE_STEP),
                   sim_reply_operation(call->opcode), (unsigned long long)call->node, name,
                   (long long)since_ms);
    if (call->deadly_ms && sim_now_ms() - call->deadly_ms > INTERRUPT_MOST_MS)
        sim_defect("kernel", "#%llu %s of %llu (%s) has no reply %lld ms after a deadly signal",
                   (unsigned long long)(call->unique / UNIQUE_STEP),
                   sim_reply_operation(call->opcode), (unsigned long long)call->node, name,
                   (long long)(sim_now_ms() - call->deadly_ms));
}

/* The longest waits come first. */
static void sim_device_check_times(void)
{
    struct sim_ring *head = &sim_device.sent;
    for (struct sim_ring *at = sim_ring_next(head, head); at; at = sim_ring_next(head, at)) {
        const struct sim_call *call = sim_call_of(at);
        if (!sim_device.deadly && sim_now_ms() - call->sent_ms <= sim_connection.deadline_ms)
            return;
        sim_call_check_time(call);
    }
}

bool sim_kernel_device_is_readable(void)
{
    sim_device_check_times();
    return !sim_connection.is_connected || !sim_ring_is_empty(&sim_device.pending) ||
           !sim_ring_is_empty(&sim_device.interrupts) || sim_device.late_count > 0 ||
           sim_device_forgets_left() > 0;
}

static struct sim_forgotten sim_device_take_forget(void)
{
    struct sim_forgotten forgotten = sim_device.forgotten[sim_device.forgotten_first++];
    if (sim_device_forgets_left() == 0)
        sim_device.forgotten_first = sim_device.forgotten_count = 0;
    sim_numbers_forget(forgotten.node, forgotten.count);
    return forgotten;
}

/* Writes HEADER with its size; returns the size. */
static ssize_t sim_device_put_header(void *bytes, struct fuse_in_header header, size_t body)
{
    header.len = (uint32_t)(sizeof header + body);
    memcpy(bytes, &header, sizeof header);
    return (ssize_t)header.len;
}

static ssize_t sim_device_read_forgets(unsigned char *bytes, size_t size)
{
    size_t left = sim_device_forgets_left();
    sim_device.unique += UNIQUE_STEP;
    struct fuse_in_header header = {.opcode = FUSE_FORGET, .unique = sim_device.unique};
    if (left == 1) {
        struct sim_forgotten only = sim_device_take_forget();
        struct fuse_forget_in forget = {only.count};
        header.nodeid = only.node;
        memcpy(bytes + sizeof header, &forget, sizeof forget);
        sim_tell("kernel", "FORGET of %llu", (unsigned long long)only.node);
        return sim_device_put_header(bytes, header, sizeof forget);
    }
    struct fuse_batch_forget_in batch = {0};
    size_t most = (size - sizeof header - sizeof batch) / sizeof(struct fuse_forget_one);
    unsigned char *at = bytes + sizeof header + sizeof batch;
    for (; batch.count < most && batch.count < left; batch.count++) {
        struct sim_forgotten each = sim_device_take_forget();
        struct fuse_forget_one one = {each.node, each.count};
        memcpy(at, &one, sizeof one);
        at += sizeof one;
    }
    header.opcode = FUSE_BATCH_FORGET;
    memcpy(bytes + sizeof header, &batch, sizeof batch);
    sim_tell("kernel", "FORGET of %u nodes", batch.count);
    return sim_device_put_header(bytes, header, (size_t)(at - bytes) - sizeof header);
}

static ssize_t sim_device_put_interrupt(unsigned char *bytes, uint64_t unique)
{
    struct fuse_in_header header = {.opcode = FUSE_INTERRUPT, .unique = unique | INTERRUPT_BIT};
    struct fuse_interrupt_in interrupt = {unique};
    memcpy(bytes + sizeof header, &interrupt, sizeof interrupt);
    sim_tell("kernel", "INTERRUPT of #%llu", (unsigned long long)(unique / UNIQUE_STEP));
    return sim_device_put_header(bytes, header, sizeof interrupt);
}

static ssize_t sim_device_read_interrupt(unsigned char *bytes)
{
    struct sim_ring *link = sim_ring_next(&sim_device.interrupts, &sim_device.interrupts);
    if (!link)
        return sim_device_put_interrupt(bytes, sim_device.late[--sim_device.late_count]);
    struct sim_call *call = SIM_OF(link, struct sim_call, interrupted);
    sim_ring_remove(link);
    call->interrupt_is_sent = true;
    sim_call_note_deadly(call);
    return sim_device_put_interrupt(bytes, call->unique);
}

static ssize_t sim_device_read_call(unsigned char *bytes)
{
    struct sim_call *call = sim_call_first(&sim_device.pending);
    struct fuse_in_header header = {.opcode = call->opcode,
                                    .unique = call->unique,
                                    .nodeid = call->node,
                                    .uid = call->uid,
                                    .gid = call->gid,
                                    .pid = call->pid};
    if (call->node)
        sim_numbers_check_use(call->node);
    memcpy(bytes + sizeof header, call->body, call->body_size);
    sim_ring_remove(&call->queued);
    sim_ring_add(&sim_device.sent, &call->queued);
    call->state = SIM_CALL_SENT;
    call->sent_ms = sim_now_ms();
    if (call->is_interrupted && !call->interrupt_is_sent && !call->interrupted.after)
        sim_ring_add(&sim_device.interrupts, &call->interrupted);
    else if (!call->end && sim_dice_chance(sim_device_dice(), HAS_TIMER))
        sim_call_interrupt(call, false);
    return sim_device_put_header(bytes, header, call->body_size);
}

/* Whether it is the turn of a forget. */
static bool sim_device_forgets_now(void)
{
    if (sim_device_forgets_left() == 0)
        return false;
    if (sim_ring_is_empty(&sim_device.pending) || sim_device.forget_turns-- > 0)
        return true;
    if (sim_device.forget_turns <= -REQUESTS_IN_A_ROW)
        sim_device.forget_turns = FORGETS_IN_A_ROW;
    return false;
}

ssize_t sim_kernel_device_read(void *bytes, size_t size)
{
    int error = 0;
    if (!sim_connection.is_connected)
        error = ENODEV;
    else if (size < FUSE_MIN_READ_BUFFER)
        error = EINVAL;
    else if (!sim_kernel_device_is_readable())
        error = EAGAIN;
    else if (sim_connection.is_initialized && sim_dice_chance(sim_device_dice(), READ_FAILS))
        error = sim_dice_chance(sim_device_dice(), 500) ? EINTR : EAGAIN;
    if (error) {
        errno = error;
        return -1;
    }
    if (!sim_ring_is_empty(&sim_device.interrupts) || sim_device.late_count > 0)
        return sim_device_read_interrupt(bytes);
    if (sim_device_forgets_now())
        return sim_device_read_forgets(bytes, size);
    return sim_device_read_call(bytes);
}

/* What the program writes. */

static struct sim_call *sim_device_find(uint64_t unique)
{
    struct sim_dict_link *link = sim_dict_first(&sim_device.calls, unique);
    struct sim_call *call = link ? SIM_OF(link, struct sim_call, by_unique) : NULL;
    return call && call->state == SIM_CALL_SENT ? call : NULL;
}

/* Only EAGAIN says something: the program has not found the request, and wants to be told again. */
static int sim_device_end_interrupt(const struct fuse_out_header *header)
{
    struct sim_dict_link *link = sim_dict_first(&sim_device.calls, header->unique & ~INTERRUPT_BIT);
    struct sim_call *call = link ? SIM_OF(link, struct sim_call, by_unique) : NULL;
    if (header->len != sizeof *header)
        sim_defect("kernel", "a reply to INTERRUPT has %u bytes", header->len);
    if (!call) /* it has had its reply */
        return ENOENT;
    if (header->error == -EAGAIN && !call->interrupted.after)
        sim_ring_add(&sim_device.interrupts, &call->interrupted);
    return 0;
}

static int sim_device_take_reply(const struct fuse_out_header *header, const unsigned char *body,
                                 size_t size)
{
    if (header->unique & INTERRUPT_BIT)
        return sim_device_end_interrupt(header);
    struct sim_call *call = sim_device_find(header->unique);
    if (!call)
        sim_defect("kernel", "a reply to #%llu, which waits for none",
                   (unsigned long long)(header->unique / UNIQUE_STEP));
    const char *operation = sim_reply_operation(call->opcode);
    if (header->error > 0 || header->error <= -512)
        sim_defect("kernel", "%s of %llu has the error %d", operation,
                   (unsigned long long)call->node, header->error);
    if (header->error ? size > 0 : size < call->reply_least || size > call->reply_most)
        sim_defect("kernel", "%s of %llu has a reply of %zu bytes, error %d", operation,
                   (unsigned long long)call->node, size, header->error);
    if (header->error == -EINTR &&
        (call->end || !call->process || !call->is_interrupted || !call->process->is_signalled))
        sim_defect("kernel", "%s of %llu has EINTR without a deadly signal", operation,
                   (unsigned long long)call->node);
    if (header->error == -ESTALE && (call->opcode == FUSE_GETATTR || call->opcode == FUSE_READLINK))
        sim_defect("kernel", "%s of %llu (%s) has ESTALE, but was not forgotten", operation,
                   (unsigned long long)call->node, sim_numbers_name(call->node));
    sim_device.replies++;
    if (size > 0) {
        call->reply = sim_alloc(size);
        memcpy(call->reply, body, size);
    }
    call->reply_size = size;
    call->reply_epoch = sim_connection.epoch;
    sim_tell("kernel", "#%llu %s: %d, %zu bytes", (unsigned long long)(call->unique / UNIQUE_STEP),
             operation, -header->error, size);
    if (!header->error)
        sim_reply_check(call);
    sim_call_finish(call, header->error);
    return 0;
}

static int sim_device_take(const unsigned char *bytes, size_t size)
{
    struct fuse_out_header header;
    if (size < sizeof header)
        sim_defect("kernel", "a reply of %zu bytes", size);
    memcpy(&header, bytes, sizeof header);
    if (header.len != size)
        sim_defect("kernel", "a reply of %zu bytes has the size %u", size, header.len);
    if (!header.unique) {
        sim_device.notifications++;
        return sim_notify(header.error, bytes + sizeof header, size - sizeof header);
    }
    return sim_connection.is_connected
               ? sim_device_take_reply(&header, bytes + sizeof header, size - sizeof header)
               : ENOENT;
}

/* The parts are copied: a notification may wait, and its bytes are its caller's. */
ssize_t sim_kernel_device_writev(const struct iovec *parts, int count)
{
    size_t size = 0, at = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    unsigned char *bytes = sim_alloc(size + 1);
    for (int i = 0; i < count; at += parts[i++].iov_len)
        memcpy(bytes + at, parts[i].iov_base, parts[i].iov_len);
    int error = sim_device_take(bytes, size);
    sim_free(bytes);
    if (!error)
        return (ssize_t)size;
    errno = error;
    return -1;
}

uint64_t sim_device_count_requests(void)
{
    return sim_device.requests;
}

struct sim_device_counts sim_device_count(void)
{
    struct sim_device_counts counts = {.waiting = sim_device.calls.count,
                                       .requests = sim_device.requests,
                                       .replies = sim_device.replies,
                                       .notifications = sim_device.notifications};
    const struct sim_ring *rings[] = {&sim_device.pending, &sim_device.held};
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
        for (struct sim_ring *at = sim_ring_next(rings[i], rings[i]); at;
             at = sim_ring_next(rings[i], at))
            counts.queued++;
    counts.queued += sim_device_forgets_left();
    return counts;
}
