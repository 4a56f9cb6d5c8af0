#include "core/read/sort_ties.h"

#include "core/item/item.h"
#include "core/item/typed.h"

void sort_ties_clean_up(struct sort_ties *ties)
{
    buf_clean_up_secret(&ties->last);
    buf_clean_up_secret(&ties->next);
}

bool sort_ties_take(struct sort_ties *ties, const struct read *read, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    buf_truncate(&ties->next, 0);
    for (size_t i = 0; i < read->sort_count; i++) {
        struct value value;
        if (typed_scalar(item_attribute(item, read->sort[i]), &arena, &value))
            value_write_identity(value, &ties->next);
        buf_add_char(&ties->next, ',');
    }
    if (arena.failed || ties->next.failed)
        return false;
    if (ties->group > 0 && span_equal(buf_span(&ties->next), buf_span(&ties->last)))
        return true;
    struct buf before = ties->last;
    ties->last = ties->next;
    ties->next = before;
    ties->group++;
    return true;
}
