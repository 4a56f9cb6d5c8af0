/* The books of the simulated service: exact units. */
#include "tests/sim/sim_bill.h"
#include "tests/sim/sim_world.h"

/* The sum of all units up to a time. */
struct sim_mark {
    int64_t at_ms;
    uint64_t half_units;
};

static struct sim_books all_books;
static struct sim_mark *marks; /* in the order of their times */
static size_t mark_count, mark_room;

static void sim_books_mark(void)
{
    if (mark_count > 0 && marks[mark_count - 1].at_ms == sim_now_ms()) {
        marks[mark_count - 1].half_units = all_books.half_units;
        return;
    }
    if (mark_count == mark_room) {
        mark_room = mark_room ? 2 * mark_room : 256;
        marks = sim_grow(marks, mark_room * sizeof *marks);
    }
    marks[mark_count++] = (struct sim_mark){sim_now_ms(), all_books.half_units};
}

struct sim_bill *sim_books_charge(const struct sim_outcome *outcome, uint64_t search_bytes)
{
    struct sim_bill *bill = sim_alloc(sizeof *bill);
    bill->half_units = outcome->half_units;
    bill->search_bytes = search_bytes;
    all_books.requests++;
    all_books.half_units += bill->half_units;
    if (bill->half_units > all_books.half_units_most)
        all_books.half_units_most = bill->half_units;
    all_books.search_bytes += search_bytes;
    sim_books_mark();
    return bill;
}

void sim_books_refuse(void)
{
    all_books.refused++;
}

void sim_service_note_lost(struct sim_answer *answer)
{
    struct sim_bill *bill = answer->bill;
    if (!bill || bill->is_lost)
        return;
    bill->is_lost = true;
    all_books.lost++;
    all_books.half_units_lost += bill->half_units;
    all_books.search_bytes_lost += bill->search_bytes;
}

struct sim_books sim_service_books(void)
{
    return all_books;
}

uint64_t sim_service_half_units_since(int64_t since_ms)
{
    size_t i = mark_count;
    while (i > 0 && marks[i - 1].at_ms >= since_ms)
        i--;
    return all_books.half_units - (i > 0 ? marks[i - 1].half_units : 0);
}
