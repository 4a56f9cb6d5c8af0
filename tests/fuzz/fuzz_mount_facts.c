/* Fuzzing of a mount's mount.json: any text is understood or refused; an option of the command line
 * stays, and an option that is not inherited is not set. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fs/cli/mount_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct options options;
    bool is_mapped = false;
    options_init(&options);
    require(options_set(&options, SPAN_LITERAL("profile"), "own") == OPTIONS_SET);
    if (!mount_facts_apply(span_of((const char *)data, size), &options, &arena, &is_mapped))
        return 0;
    size_t length = options.map_folder ? strlen(options.map_folder) : 0;
    for (unsigned i = 0; i < options.snapshot_count; i++)
        length += strlen(options.snapshots[i]);
    require(!options.record && !options.ledger && strcmp(options.profile, "own") == 0);
    require(length <= size && (is_mapped || !options.map_folder) && !arena.failed);
    return 0;
}
