/* Fuzzing of the documents of AWS's tools: any text is one, or is refused; what is written of one
 * is read again, says the same, and is written the same way; and a change changes one member only.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/aws/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void require_same(const struct document *a, const struct document *b)
{
    static const char *const paths[] = {"a", "accessToken", "a.b", "Credentials.Expiration", "A",
                                        ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int64_t n = 0, m = 0;
        require(same_text(document_text(a, paths[i]), document_text(b, paths[i])));
        require(document_has(a, paths[i]) == document_has(b, paths[i]));
        require(document_number(a, paths[i], &n) == document_number(b, paths[i], &m) && n == m);
    }
}

static struct document *written(const struct document *document, struct buf *out)
{
    document_write(out, document);
    require(!out->failed);
    struct document *again = document_parse(buf_span(out), "it", NULL);
    require(again != NULL);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf once = {0}, twice = {0}, changed = {0};
    struct error err = {0};
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(span_of((const char *)data, size), "it", &err);
    if (!document) {
        require(err.kind == ERROR_BAD_ANSWER && strcmp(err.text, "it is no JSON object") == 0);
        return 0;
    }
    CLEAN_UP(document_clean_up) struct document *again = written(document, &once);
    require_same(document, again);
    CLEAN_UP(document_clean_up) struct document *third = written(again, &twice);
    require_same(document, third);
    require(span_equal(buf_span(&once), buf_span(&twice)));
    require(document_set_text(again, "accessToken", "new"));
    CLEAN_UP(document_clean_up) struct document *other = written(again, &changed);
    require(same_text(document_text(other, "accessToken"), "new"));
    document_remove(other, "accessToken");
    document_remove(third, "accessToken");
    require_same(other, third);
    return 0;
}
