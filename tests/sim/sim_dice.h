/* The chances of a life. Each purpose has dice of its own, so that an action that is left out moves
 * no other action. */
#ifndef DDBFS_TESTS_SIM_SIM_DICE_H
#define DDBFS_TESTS_SIM_SIM_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_dice {
    uint64_t state;
};

/* The same three arguments give the same dice. */
struct sim_dice sim_dice_of(uint64_t seed, const char *purpose, uint64_t number);

uint64_t sim_dice_draw(struct sim_dice *dice);
/* 0 to BELOW - 1; 0 if BELOW is 0. */
uint32_t sim_dice_below(struct sim_dice *dice, uint32_t below);
/* FROM to TO, both included. */
int64_t sim_dice_between(struct sim_dice *dice, int64_t from, int64_t to);
/* True with the probability PER_MILLE / 1000. */
bool sim_dice_chance(struct sim_dice *dice, unsigned per_mille);

#endif
