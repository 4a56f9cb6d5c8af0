#include "core/source/retries.h"

enum { APART_MS = 5 * 60000 };

bool retries_key_by_key(const struct error *err)
{
    return error_is_of_caller(err) || err->kind == ERROR_BAD_ANSWER || err->kind == ERROR_INVALID ||
           (err->kind == ERROR_DENIED && err->authenticated);
}

/* A policy that grants single items, or a server without BatchGetItem, refuses the next batch too.
 */
int64_t retries_apart_ms(const struct error *err)
{
    bool stays = err->kind == ERROR_DENIED || strcmp(err->code, "UnknownOperationException") == 0;
    return stays ? APART_MS : 0;
}

unsigned retries_left(const struct read *read, unsigned attempts, unsigned sent)
{
    return read->once ? 1 : attempts - sent;
}

/* A page that took several requests came from a throttled table. */
bool retries_allow_extra(const struct page *page)
{
    return page->requests <= 1;
}
