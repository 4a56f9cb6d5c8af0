#include "tests/sim/sim_dice.h"

/* SplitMix64: each state gives one number, and any state is good. */
static uint64_t sim_dice_mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

struct sim_dice sim_dice_of(uint64_t seed, const char *purpose, uint64_t number)
{
    uint64_t state = sim_dice_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    for (const char *at = purpose; *at; at++)
        state = sim_dice_mix(state ^ (uint64_t)(unsigned char)*at);
    return (struct sim_dice){sim_dice_mix(state ^ (number * UINT64_C(0xd1342543de82ef95)))};
}

uint64_t sim_dice_draw(struct sim_dice *dice)
{
    dice->state += UINT64_C(0x9e3779b97f4a7c15);
    return sim_dice_mix(dice->state);
}

uint32_t sim_dice_below(struct sim_dice *dice, uint32_t below)
{
    return (uint32_t)(((sim_dice_draw(dice) >> 32) * below) >> 32);
}

int64_t sim_dice_between(struct sim_dice *dice, int64_t from, int64_t to)
{
    uint64_t span = (uint64_t)to - (uint64_t)from + 1;
    uint64_t drawn = sim_dice_draw(dice);
    return (int64_t)((uint64_t)from + (span ? drawn % span : drawn));
}

bool sim_dice_chance(struct sim_dice *dice, unsigned per_mille)
{
    return sim_dice_below(dice, 1000) < per_mille;
}
