/* The unified diff as a program, for the comparison with diff(1): for each pair of files that is
 * named, what stands in one and not in the other, behind a line with the count of its bytes.
 * Usage: compare [FILE FILE]... */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/unified.h"

static bool read_file(const char *name, struct buf *out)
{
    char bytes[65536];
    FILE *file = fopen(name, "rb");
    size_t got = 0;
    while (file && (got = fread(bytes, 1, sizeof bytes, file)) > 0)
        buf_add(out, bytes, got);
    bool ok = file && !ferror(file) && !out->failed;
    if (file)
        fclose(file);
    return ok;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        CLEAN_UP(buf_clean_up) struct buf from = {0}, to = {0}, out = {0};
        if (!read_file(argv[i], &from) || !read_file(argv[i + 1], &to))
            return EXIT_FAILURE;
        struct unified_text a = {span_text(argv[i]), buf_span(&from)};
        struct unified_text b = {span_text(argv[i + 1]), buf_span(&to)};
        unified_write(&out, &a, &b);
        if (out.failed)
            return EXIT_FAILURE;
        printf("%zu\n", out.size);
        fwrite(buf_text(&out), 1, out.size, stdout);
    }
    return EXIT_SUCCESS;
}
