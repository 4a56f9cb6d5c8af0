#include "core/draft/inferred_fit.h"

static size_t inferred_fit_literal_bytes(const struct declared_record *record)
{
    size_t bytes = 0;
    for (size_t i = 0; i < record->key_count; i++)
        bytes += format_literal_bytes(&record->keys[i].format);
    return bytes;
}

/* By its form alone: that a part says the same where it stands twice is seen to afterwards. */
static bool inferred_fit_fits(const struct inferring *inferring,
                              const struct declared_record *record, size_t row)
{
    for (size_t i = 0; i < record->key_count; i++) {
        struct bindings parts = {0};
        const struct sampled_item_attribute *key =
            sampled_item_find(inferring->specimens[row], span_text(record->keys[i].attribute));
        if (!key || (key->tag == TYPED_S && !format_match_key(&record->keys[i].format, key->value,
                                                              inferring->separator, &parts)))
            return false;
    }
    return true;
}

/* The kind that says most of what fits, as when records are read; NULL: none does. TIE: another one
 * says as much. */
static struct inferred_kind *inferred_fit_kind_of(const struct inferring *inferring, size_t row,
                                                  bool *tie)
{
    struct inferred_kind *best = NULL;
    size_t most = 0;
    *tie = false;
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        size_t bytes = inferred_fit_literal_bytes(kind->record);
        if ((best && bytes < most) || !inferred_fit_fits(inferring, kind->record, row))
            continue;
        *tie = best && bytes == most;
        best = kind;
        most = bytes;
    }
    return best;
}

bool inferred_fit_drop_unsure(struct inferring *inferring)
{
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next)
        kind->count = 0;
    for (size_t row = 0; row < inferring->count; row++) {
        bool tie;
        struct inferred_kind *kind = inferred_fit_kind_of(inferring, row, &tie);
        if (tie) {
            inference_drop_kind(inferring, kind);
            return true;
        }
        if (kind)
            kind->rows[kind->count++] = row;
    }
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        if (kind->count == 0) {
            inference_drop_kind(inferring, kind);
            return true;
        }
    }
    return false;
}
