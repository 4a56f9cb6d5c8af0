/* Inputs of an import that lie in memory, for fuzz targets. */
#ifndef DDBFS_TESTS_FUZZ_MEMORY_INPUT_H
#define DDBFS_TESTS_FUZZ_MEMORY_INPUT_H

#include "core/base/span.h"
#include "core/import/input.h"

/* A stream that comes in pieces of PIECE bytes. */
struct input *memory_input_new(struct span content, size_t piece);

/* A folder of COUNT files. It is not to be closed. To open a name that leads out of it is a crash.
 */
struct memory_folder {
    struct input_folder base;
    const char *const *names;
    const struct span *contents;
    size_t count;
};
void memory_folder_init(struct memory_folder *folder, const char *const *names,
                        const struct span *contents, size_t count);

#endif
