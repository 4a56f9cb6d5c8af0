/* What was booked for one request. */
#ifndef DDBFS_TESTS_SIM_SIM_BILL_H
#define DDBFS_TESTS_SIM_SIM_BILL_H

#include "tests/sim/sim_service.h"
#include "tests/sim/sim_tables.h"

struct sim_bill {
    uint64_t half_units, search_bytes;
    bool is_lost;
};

/* Books a request that was processed. The caller owns the bill. */
struct sim_bill *sim_books_charge(const struct sim_outcome *outcome, uint64_t search_bytes);
/* Books a request that was refused, which consumes nothing. */
void sim_books_refuse(void);

#endif
