#include "tests/sim/sim_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_os.h"

/* 2026-01-01T00:00:00Z: when each life begins. */
static const int64_t BEGIN_WALL_MS = INT64_C(1767225600000);

/* The boot of the machine was before the life. */
static const int64_t BEGIN_MS = 1000000;

/* A life in which so many turns pass without any time has an endless loop, and one of so many days
 * does not end. */
enum { MOST_TURNS_AT_ONCE = 5 * 1000 * 1000, MOST_DAYS = 60 };

struct sim_settings sim_settings;

static struct {
    int64_t now_ms; /* since the begin */
    int64_t skew_ms;
    uint64_t turns; /* since the clock moved */
    uint64_t all_turns;
    uint64_t digest, digest_more;
    bool has_begun;
    struct sim_dice turns_dice, yield_dice;
} sim_world;

/* Times. */

int64_t sim_now_ms(void)
{
    return sim_world.now_ms;
}

int64_t sim_service_wall_ms(void)
{
    return BEGIN_WALL_MS + sim_world.now_ms;
}

int64_t sim_wall_ms(void)
{
    return sim_service_wall_ms() + sim_world.skew_ms;
}

void sim_set_skew_ms(int64_t skew_ms)
{
    sim_world.skew_ms = skew_ms;
}

static void sim_world_move(int64_t now_ms)
{
    static const int64_t most_ms = INT64_C(86400) * 1000 * MOST_DAYS;
    if (now_ms <= sim_world.now_ms)
        return;
    if (now_ms > most_ms)
        sim_defect("time", "the life takes more than %d days; the first fiber that waits is %s",
                   MOST_DAYS, sim_fiber_first_name() ? sim_fiber_first_name() : "none");
    sim_world.now_ms = now_ms;
    sim_world.turns = 0;
}

void sim_world_skip(int64_t until_ms)
{
    if (sim_fiber_any_is_ready())
        return;
    int64_t wakes_ms = sim_fiber_wakes_ms();
    sim_world_move(wakes_ms < until_ms ? wakes_ms : until_ms);
}

static int64_t sim_world_clock_now(struct clock *clock)
{
    (void)clock;
    return BEGIN_MS + sim_world.now_ms;
}

static int64_t sim_world_clock_wall(struct clock *clock)
{
    (void)clock;
    return sim_wall_ms();
}

/* The loop has nothing that is ready, and no timer before MS from now. */
static void sim_world_clock_skip(struct clock *clock, int64_t ms)
{
    (void)clock;
    sim_world_skip(sim_world.now_ms + ms);
}

/* In the place of the program's own. */
struct clock *clock_system(void)
{
    static struct clock clock = {sim_world_clock_now, sim_world_clock_wall, sim_world_clock_skip};
    return &clock;
}

/* Turns. */

static void sim_world_begin(void)
{
    if (sim_world.has_begun)
        return;
    sim_world.has_begun = true;
    sim_world.turns_dice = sim_dice_for("turns", 0);
    sim_world.yield_dice = sim_dice_for("yields", 0);
}

struct sim_dice *sim_world_turns_dice(void)
{
    sim_world_begin();
    return &sim_world.turns_dice;
}

uint64_t sim_world_turns(void)
{
    return sim_world.all_turns;
}

void sim_world_count_turn(void)
{
    sim_world.all_turns++;
    if (++sim_world.turns > MOST_TURNS_AT_ONCE)
        sim_defect("progress", "%d turns have passed without any time; the first fiber is %s",
                   MOST_TURNS_AT_ONCE, sim_fiber_first_name() ? sim_fiber_first_name() : "none");
}

bool sim_world_wait(sim_ready_fn *ready, void *arg, int64_t until_ms)
{
    if (sim_fiber_current())
        return sim_fiber_wait_until(ready, arg, until_ms);
    while (!ready(arg)) {
        if (sim_world.now_ms >= until_ms)
            return false;
        sim_world_count_turn();
        if (sim_fiber_run_one(sim_world_turns_dice()))
            continue;
        int64_t wakes_ms = sim_fiber_wakes_ms();
        if (wakes_ms == INT64_MAX && until_ms == INT64_MAX)
            sim_defect("progress", "the program waits for something that can't happen");
        sim_world_move(wakes_ms < until_ms ? wakes_ms : until_ms);
    }
    return true;
}

void sim_world_yield(void)
{
    sim_world_begin();
    struct sim_dice *dice = &sim_world.yield_dice;
    if (!sim_dice_chance(dice, 250))
        return;
    if (sim_fiber_current()) {
        sim_fiber_yield();
        return;
    }
    while (sim_fiber_run_thread(dice) && sim_dice_chance(dice, 500))
        sim_world_count_turn();
}

struct sim_dice sim_dice_for(const char *purpose, uint64_t number)
{
    return sim_dice_of(sim_settings.seed, purpose, number);
}

bool sim_is_left_out(unsigned number)
{
    for (unsigned i = 0; i < sim_settings.left_out_count; i++)
        if (sim_settings.left_out[i] == number)
            return true;
    return false;
}

/* The story and its digest. */

static uint64_t sim_world_mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ (digest >> 29);
}

void sim_digest(const void *bytes, uint64_t size)
{
    const unsigned char *at = bytes;
    uint64_t word, a = sim_world_mix(sim_world.digest, size), b = sim_world.digest_more;
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        a = sim_world_mix(a, word);
        b = sim_world_mix(b + word, a);
    }
    for (word = 0; size > 0; size--)
        word = word << 8 | *at++;
    sim_world.digest = sim_world_mix(a, word);
    sim_world.digest_more = sim_world_mix(b + word, sim_world.digest);
}

void sim_world_write_digest(char out[SIM_DIGEST_SIZE])
{
    snprintf(out, SIM_DIGEST_SIZE, "%016llx%016llx", (unsigned long long)sim_world.digest,
             (unsigned long long)sim_world.digest_more);
}

static void sim_print_time(FILE *out)
{
    fprintf(out, "%5lld.%03lld s", (long long)(sim_world.now_ms / 1000),
            (long long)(sim_world.now_ms % 1000));
}

void sim_tell(const char *who, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (size < 0)
        size = 0;
    if ((size_t)size >= sizeof line)
        size = sizeof line - 1;
    sim_digest(&sim_world.now_ms, sizeof sim_world.now_ms);
    sim_digest(who, strlen(who));
    sim_digest(line, (uint64_t)size);
    if (!sim_settings.tells)
        return;
    sim_print_time(stdout);
    printf("  %-10s %s\n", who, line);
}

void sim_defect(const char *oracle, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "DEFECT %s: ", oracle);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    const struct sim_fiber *fiber = sim_fiber_current();
    fprintf(stderr, "\n  at ");
    sim_print_time(stderr);
    fprintf(stderr, ", by %s, in the life of seed %llu\n",
            fiber ? sim_fiber_name(fiber) : "the loop", (unsigned long long)sim_settings.seed);
    fflush(stderr);
    _exit(SIM_EXIT_DEFECT);
}

void sim_broken(const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "BROKEN the simulator: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n  at ");
    sim_print_time(stderr);
    fprintf(stderr, ", in the life of seed %llu\n", (unsigned long long)sim_settings.seed);
    fflush(stderr);
    _exit(SIM_EXIT_BROKEN);
}
