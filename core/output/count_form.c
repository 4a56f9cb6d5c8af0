/* How many records there are, as a number on a line of its own. */
#include <inttypes.h>

#include "core/output/form.h"
#include "core/output/form_ops.h"

struct count {
    struct form form;
    uint64_t records;
};

static bool count_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    (void)item, (void)out, (void)err;
    ((struct count *)form)->records++;
    return true;
}

static bool count_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    (void)more; /* all at once */
    (void)err;
    buf_printf(out, "%" PRIu64 "\n", ((struct count *)form)->records);
    return true;
}

void form_add_unseen(struct form *form, uint64_t count)
{
    ((struct count *)form)->records += count;
}

const struct form_ops form_count = {sizeof(struct count), NULL, count_add, count_end, NULL, NULL};
