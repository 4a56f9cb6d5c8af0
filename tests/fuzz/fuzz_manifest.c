/* Fuzzing of the manifests of an export: any two texts, with a NUL between, are an export whose
 * files lie in its folder, or have an error. */
#include <stdint.h>
#include <stdlib.h>

#include "core/import/export_manifest.h"
#include "tests/fuzz/memory_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"manifest-summary.json", "manifest-files.json"};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct error err = {0};
    struct export_manifest manifest;
    struct memory_folder folder;
    struct span text = span_of((const char *)data, size);
    const char *end = size > 0 ? memchr(data, '\0', size) : NULL;
    size_t first = end ? (size_t)(end - text.data) : size;
    struct span contents[] = {span_of(text.data, first), span_from(text, end ? first + 1 : size)};
    memory_folder_init(&folder, names, contents, 2);
    if (!export_manifest_read(&folder.base, &arena, &manifest, &err)) {
        require(err.kind != ERROR_NONE && err.kind != ERROR_NO_MEMORY);
        return 0;
    }
    require(err.kind == ERROR_NONE && manifest.table.size > 0);
    require(!manifest.is_incremental || manifest.from_ms < manifest.at_ms);
    for (size_t i = 0; i < manifest.file_count; i++) {
        const struct export_file *file = &manifest.files[i];
        require(file->item_count >= 0 && file->md5.size > 0);
        input_close(input_folder_open_file(&folder.base, file->name, &err));
    }
    return 0;
}
