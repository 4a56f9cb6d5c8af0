/* Fuzzing of the import: any text is a model or has an error that names the file; what comes of a
 * model compiles, or is told what is wrong with it. */
#include <stdint.h>
#include <stdlib.h>

#include "core/draft/import.h"
#include "core/map/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char file[] = "fuzz.json";

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void compile(const struct imported *imported)
{
    for (const struct declared_table *each = imported->tables; each; each = each->next) {
        struct findings findings = {0};
        const struct model *model = compile_table(each, &findings);
        require(model || !findings_none(&findings));
        model_unref(model);
        findings_clean_up(&findings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct imported imported;
    struct error err = {0};
    if (import_model(&arena, file, span_of((const char *)data, size), &imported, &err)) {
        require(imported.format && imported.tables);
        compile(&imported);
    } else {
        require(err.kind == ERROR_INVALID && strncmp(err.text, file, strlen(file)) == 0);
    }
    arena_clean_up(&arena);
    return 0;
}
