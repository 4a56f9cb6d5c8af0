#include "core/base/nearest.h"

/* Hints do not help with longer names, and the distance takes time. */
enum { LONGEST = 64 };

struct nearest nearest_to(struct span wanted)
{
    return (struct nearest){.wanted = wanted};
}

static size_t nearest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be added, dropped, changed or swapped with the next to make B of A
 * (Damerau and Levenshtein). Three rows of their table are enough. */
static size_t nearest_distance(struct span a, struct span b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.size; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            bool same = a.data[i - 1] == b.data[j - 1];
            row[j] = nearest_least(nearest_least(last[j], row[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = nearest_least(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b.size];
}

void nearest_offer(struct nearest *nearest, struct span name)
{
    struct span wanted = nearest->wanted;
    if (wanted.size > LONGEST || name.size > LONGEST || name.size == 0)
        return;
    size_t far = nearest_distance(wanted, name);
    bool slip = far <= (name.size + 2) / 3 && far < wanted.size;
    if (slip && (nearest->best.size == 0 || far < nearest->distance)) {
        nearest->best = name;
        nearest->distance = far;
    }
}

void nearest_write(const struct nearest *nearest, struct buf *out)
{
    if (nearest->best.size > 0)
        buf_printf(out, " (did you mean \"%.*s\"?)", (int)nearest->best.size, nearest->best.data);
}
