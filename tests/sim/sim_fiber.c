#include "tests/sim/sim_fiber.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "tests/sim/sim_dice.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

#ifdef SIM_HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#include <ucontext.h>
#endif

/* A page below each stack can't be touched, so that an overflow is a crash. */
enum { STACK_BYTES = 512 * 1024, GUARD_BYTES = 4096 };

enum sim_fiber_state { SIM_RUNNABLE, SIM_WAITING, SIM_SLEEPING, SIM_RUNNING, SIM_ENDED };

struct sim_fiber {
    const char *name; /* borrowed */
    sim_fiber_fn *fn;
    void *arg;
    uint64_t number; /* the order of the starts */
    bool is_thread;
    enum sim_fiber_state state;
    unsigned at; /* its place in the list of its state */
    sim_ready_fn *ready;
    void *ready_arg;
    int64_t wakes_ms;
    char *stack; /* owned; NULL before the first turn and after the last */
#ifdef __x86_64__
    void *top; /* where its registers are */
#else
    ucontext_t context;
#endif
    void *fake_stack; /* of the address sanitizer */
};

struct sim_fiber_list {
    struct sim_fiber **fibers; /* owned */
    unsigned count, room;
};

/* Fibers by state. SLEEPING is a heap by time; the others have no order. */
static struct {
    struct sim_fiber *current;
    struct sim_fiber_list runnable, waiting, sleeping, threads;
    unsigned count;
    uint64_t started;
    char **stacks; /* free ones; owned */
    unsigned stack_count, stack_room;
    void *loop_fake_stack;
    const void *loop_stack;
    size_t loop_stack_size;
#ifdef __x86_64__
    void *loop_top;
#else
    ucontext_t loop_context;
#endif
} sim_fibers;

/* Lists. */

static void sim_fiber_list_put(struct sim_fiber_list *list, unsigned at, struct sim_fiber *fiber)
{
    list->fibers[at] = fiber;
    fiber->at = at;
}

static void sim_fiber_list_add(struct sim_fiber_list *list, struct sim_fiber *fiber)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->fibers = sim_grow(list->fibers, list->room * sizeof *list->fibers);
    }
    sim_fiber_list_put(list, list->count++, fiber);
}

static void sim_fiber_list_remove(struct sim_fiber_list *list, const struct sim_fiber *fiber)
{
    struct sim_fiber *last = list->fibers[--list->count];
    if (last != fiber)
        sim_fiber_list_put(list, fiber->at, last);
}

static bool sim_fiber_is_before(const struct sim_fiber *a, const struct sim_fiber *b)
{
    return a->wakes_ms != b->wakes_ms ? a->wakes_ms < b->wakes_ms : a->number < b->number;
}

static void sim_fiber_heap_add(struct sim_fiber *fiber)
{
    struct sim_fiber_list *heap = &sim_fibers.sleeping;
    sim_fiber_list_add(heap, fiber);
    unsigned at = fiber->at;
    for (; at > 0 && sim_fiber_is_before(fiber, heap->fibers[(at - 1) / 2]); at = (at - 1) / 2)
        sim_fiber_list_put(heap, at, heap->fibers[(at - 1) / 2]);
    sim_fiber_list_put(heap, at, fiber);
}

static struct sim_fiber *sim_fiber_heap_take(void)
{
    struct sim_fiber_list *heap = &sim_fibers.sleeping;
    struct sim_fiber *first = heap->fibers[0], *last = heap->fibers[--heap->count];
    unsigned at = 0;
    while (2 * at + 1 < heap->count) {
        unsigned child = 2 * at + 1;
        if (child + 1 < heap->count &&
            sim_fiber_is_before(heap->fibers[child + 1], heap->fibers[child]))
            child++;
        if (!sim_fiber_is_before(heap->fibers[child], last))
            break;
        sim_fiber_list_put(heap, at, heap->fibers[child]);
        at = child;
    }
    if (heap->count > 0)
        sim_fiber_list_put(heap, at, last);
    return first;
}

/* Stacks. */

static char *sim_fiber_new_stack(void)
{
    if (sim_fibers.stack_count > 0)
        return sim_fibers.stacks[--sim_fibers.stack_count];
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0)
        sim_broken("no memory for the stack of a fiber");
    return stack;
}

static void sim_fiber_free_stack(char *stack)
{
    if (sim_fibers.stack_count == sim_fibers.stack_room) {
        sim_fibers.stack_room = sim_fibers.stack_room ? 2 * sim_fibers.stack_room : 64;
        sim_fibers.stacks =
            sim_grow(sim_fibers.stacks, sim_fibers.stack_room * sizeof *sim_fibers.stacks);
    }
    sim_fibers.stacks[sim_fibers.stack_count++] = stack;
}

/* Switches. Only the loop's thread resumes a fiber, and a fiber only returns to it. */

static void sim_fiber_main(void);

#ifdef __x86_64__
/* Stores the registers that a function must preserve, and goes on where TOP was stored. */
void sim_fiber_switch(void **top, void *to);
__asm__(".text\n"
        ".globl sim_fiber_switch\n"
        ".type sim_fiber_switch, @function\n"
        "sim_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size sim_fiber_switch, . - sim_fiber_switch\n");

/* As the first switch finds it: six registers, the function, and no caller above it. */
static void sim_fiber_prepare(struct sim_fiber *fiber)
{
    void **top = (void **)(void *)(fiber->stack + STACK_BYTES);
    void (*entry)(void) = sim_fiber_main;
    *--top = NULL;
    *--top = *(void **)&entry;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    fiber->top = top;
}

static void sim_fiber_enter(struct sim_fiber *fiber)
{
    sim_fiber_switch(&sim_fibers.loop_top, fiber->top);
}

static void sim_fiber_leave(struct sim_fiber *fiber)
{
    sim_fiber_switch(&fiber->top, sim_fibers.loop_top);
}
#else
static void sim_fiber_prepare(struct sim_fiber *fiber)
{
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack + GUARD_BYTES;
    fiber->context.uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
    makecontext(&fiber->context, sim_fiber_main, 0);
}

static void sim_fiber_enter(struct sim_fiber *fiber)
{
    swapcontext(&sim_fibers.loop_context, &fiber->context);
}

static void sim_fiber_leave(struct sim_fiber *fiber)
{
    swapcontext(&fiber->context, &sim_fibers.loop_context);
}
#endif

/* What the address sanitizer must hear before a switch, and after it. */

static void sim_fiber_announce(struct sim_fiber *to)
{
#ifdef SIM_HAS_ASAN
    __sanitizer_start_switch_fiber(&sim_fibers.loop_fake_stack, to->stack + GUARD_BYTES,
                                   STACK_BYTES - GUARD_BYTES);
#else
    (void)to;
#endif
}

static void sim_fiber_announce_loop(struct sim_fiber *from)
{
#ifdef SIM_HAS_ASAN
    __sanitizer_start_switch_fiber(from->state == SIM_ENDED ? NULL : &from->fake_stack,
                                   sim_fibers.loop_stack, sim_fibers.loop_stack_size);
#else
    (void)from;
#endif
}

static void sim_fiber_arrive(struct sim_fiber *fiber)
{
#ifdef SIM_HAS_ASAN
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &sim_fibers.loop_stack,
                                    &sim_fibers.loop_stack_size);
#else
    (void)fiber;
#endif
}

static void sim_fiber_arrive_loop(void)
{
#ifdef SIM_HAS_ASAN
    __sanitizer_finish_switch_fiber(sim_fibers.loop_fake_stack, NULL, NULL);
#endif
}

static void sim_fiber_main(void)
{
    struct sim_fiber *fiber = sim_fibers.current;
    sim_fiber_arrive(fiber);
    fiber->fn(fiber->arg);
    fiber->state = SIM_ENDED;
    sim_fiber_announce_loop(fiber);
    sim_fiber_leave(fiber);
    __builtin_unreachable();
}

/* errno belongs to a thread, and so to a fiber. */
static void sim_fiber_resume(struct sim_fiber *fiber)
{
    int error = errno;
    if (!fiber->stack) {
        fiber->stack = sim_fiber_new_stack();
        sim_fiber_prepare(fiber);
    }
    fiber->state = SIM_RUNNING;
    sim_fibers.current = fiber;
    sim_fiber_announce(fiber);
    sim_fiber_enter(fiber);
    sim_fiber_arrive_loop();
    sim_fibers.current = NULL;
    if (fiber->state == SIM_ENDED) {
#ifdef SIM_HAS_ASAN
        __asan_unpoison_memory_region(fiber->stack + GUARD_BYTES, STACK_BYTES - GUARD_BYTES);
#endif
        sim_fiber_free_stack(fiber->stack);
        fiber->stack = NULL;
        if (fiber->is_thread)
            for (unsigned i = 0; i < sim_fibers.threads.count; i++)
                if (sim_fibers.threads.fibers[i] == fiber)
                    sim_fibers.threads.fibers[i] =
                        sim_fibers.threads.fibers[--sim_fibers.threads.count];
        sim_fibers.count--;
    }
    errno = error;
}

static void sim_fiber_pause(enum sim_fiber_state state)
{
    struct sim_fiber *fiber = sim_fibers.current;
    int error = errno;
    if (!fiber)
        sim_broken("the loop's own thread waits as a fiber");
    fiber->state = state;
    if (state == SIM_RUNNABLE)
        sim_fiber_list_add(&sim_fibers.runnable, fiber);
    else if (state == SIM_WAITING)
        sim_fiber_list_add(&sim_fibers.waiting, fiber);
    else
        sim_fiber_heap_add(fiber);
    sim_fiber_announce_loop(fiber);
    sim_fiber_leave(fiber);
    sim_fiber_arrive(fiber);
    errno = error;
}

/* Fibers. */

struct sim_fiber *sim_fiber_start(const char *name, sim_fiber_fn *fn, void *arg)
{
    struct sim_fiber *fiber = sim_alloc(sizeof *fiber);
    fiber->name = name;
    fiber->fn = fn;
    fiber->arg = arg;
    fiber->number = ++sim_fibers.started;
    fiber->state = SIM_RUNNABLE;
    sim_fibers.count++;
    sim_fiber_list_add(&sim_fibers.runnable, fiber);
    return fiber;
}

struct sim_fiber *sim_fiber_start_thread(const char *name, sim_fiber_fn *fn, void *arg)
{
    struct sim_fiber *fiber = sim_fiber_start(name, fn, arg);
    unsigned at = fiber->at;
    fiber->is_thread = true;
    sim_fiber_list_add(&sim_fibers.threads, fiber);
    fiber->at = at; /* of the list of its state */
    return fiber;
}

struct sim_fiber *sim_fiber_current(void)
{
    return sim_fibers.current;
}

const char *sim_fiber_name(const struct sim_fiber *fiber)
{
    return fiber->name;
}

bool sim_fiber_has_ended(const struct sim_fiber *fiber)
{
    return fiber->state == SIM_ENDED;
}

void sim_fiber_free(struct sim_fiber *fiber)
{
    if (fiber && fiber->state != SIM_ENDED)
        sim_broken("the fiber %s is freed before its end", fiber->name);
    sim_free(fiber);
}

void sim_fiber_wait(sim_ready_fn *ready, void *arg)
{
    sim_fiber_wait_until(ready, arg, INT64_MAX);
}

bool sim_fiber_wait_until(sim_ready_fn *ready, void *arg, int64_t until_ms)
{
    struct sim_fiber *fiber = sim_fibers.current;
    if (ready(arg))
        return true;
    if (until_ms <= sim_now_ms())
        return false;
    if (!fiber)
        sim_broken("the loop's own thread waits as a fiber");
    fiber->ready = ready;
    fiber->ready_arg = arg;
    fiber->wakes_ms = until_ms;
    sim_fiber_pause(SIM_WAITING);
    return ready(arg);
}

void sim_fiber_sleep_ms(int64_t ms)
{
    if (ms <= 0) {
        sim_fiber_yield();
        return;
    }
    if (sim_fibers.current)
        sim_fibers.current->wakes_ms = sim_now_ms() + ms;
    sim_fiber_pause(SIM_SLEEPING);
}

void sim_fiber_yield(void)
{
    sim_fiber_pause(SIM_RUNNABLE);
}

/* The scheduler's side. */

static bool sim_fiber_can_run(const struct sim_fiber *fiber)
{
    return fiber->state == SIM_RUNNABLE ||
           (fiber->state == SIM_WAITING &&
            (fiber->wakes_ms <= sim_now_ms() || fiber->ready(fiber->ready_arg)));
}

static void sim_fiber_wake_sleepers(void)
{
    struct sim_fiber_list *heap = &sim_fibers.sleeping;
    while (heap->count > 0 && heap->fibers[0]->wakes_ms <= sim_now_ms()) {
        struct sim_fiber *fiber = sim_fiber_heap_take();
        fiber->state = SIM_RUNNABLE;
        sim_fiber_list_add(&sim_fibers.runnable, fiber);
    }
}

static void sim_fiber_give_turn(struct sim_fiber *fiber)
{
    sim_fiber_list_remove(fiber->state == SIM_RUNNABLE ? &sim_fibers.runnable : &sim_fibers.waiting,
                          fiber);
    sim_fiber_resume(fiber);
}

/* The first that can run, from a random place on: no list of them is made. */
bool sim_fiber_run_one(struct sim_dice *dice)
{
    sim_fiber_wake_sleepers();
    unsigned runnable = sim_fibers.runnable.count;
    unsigned count = runnable + sim_fibers.waiting.count;
    unsigned from = sim_dice_below(dice, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned at = from + i < count ? from + i : from + i - count;
        struct sim_fiber *fiber = at < runnable ? sim_fibers.runnable.fibers[at]
                                                : sim_fibers.waiting.fibers[at - runnable];
        if (sim_fiber_can_run(fiber)) {
            sim_fiber_give_turn(fiber);
            return true;
        }
    }
    return false;
}

bool sim_fiber_run_thread(struct sim_dice *dice)
{
    unsigned count = sim_fibers.threads.count, from = sim_dice_below(dice, count);
    for (unsigned i = 0; i < count; i++) {
        struct sim_fiber *fiber = sim_fibers.threads.fibers[(from + i) % count];
        if (sim_fiber_can_run(fiber)) {
            sim_fiber_give_turn(fiber);
            return true;
        }
    }
    return false;
}

bool sim_fiber_any_is_ready(void)
{
    sim_fiber_wake_sleepers();
    if (sim_fibers.runnable.count > 0)
        return true;
    for (unsigned i = 0; i < sim_fibers.waiting.count; i++)
        if (sim_fiber_can_run(sim_fibers.waiting.fibers[i]))
            return true;
    return false;
}

int64_t sim_fiber_wakes_ms(void)
{
    int64_t wakes_ms = INT64_MAX;
    if (sim_fibers.sleeping.count > 0)
        wakes_ms = sim_fibers.sleeping.fibers[0]->wakes_ms;
    for (unsigned i = 0; i < sim_fibers.waiting.count; i++)
        if (sim_fibers.waiting.fibers[i]->wakes_ms < wakes_ms)
            wakes_ms = sim_fibers.waiting.fibers[i]->wakes_ms;
    return wakes_ms;
}

unsigned sim_fiber_count(void)
{
    return sim_fibers.count;
}

const char *sim_fiber_first_name(void)
{
    const struct sim_fiber *first = NULL;
    const struct sim_fiber_list *lists[] = {&sim_fibers.runnable, &sim_fibers.waiting,
                                            &sim_fibers.sleeping};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < lists[i]->count; j++)
            if (!first || lists[i]->fibers[j]->number < first->number)
                first = lists[i]->fibers[j];
    return first ? first->name : NULL;
}
