#include "tests/fuzz/memory_input.h"

#include <stdlib.h>
#include <string.h>

struct memory_input {
    struct input base;
    struct span left;
    size_t piece;
};

static bool memory_input_read(struct input *input, struct buf *out, struct error *err)
{
    struct memory_input *memory = (struct memory_input *)input;
    size_t size = memory->left.size < memory->piece ? memory->left.size : memory->piece;
    (void)err;
    if (size == 0)
        return true;
    buf_add(out, memory->left.data, size);
    memory->left = span_from(memory->left, size);
    input->position += size;
    return true;
}

static void memory_input_close(struct input *input)
{
    free(input);
}

struct input *memory_input_new(struct span content, size_t piece)
{
    static const struct input_ops ops = {memory_input_read, memory_input_close};
    struct memory_input *memory = calloc(1, sizeof *memory);
    char *name = strdup("memory");
    if (!memory || !name)
        abort();
    *memory = (struct memory_input){{.ops = &ops, .name = name, .size = content.size},
                                    content,
                                    piece < INPUT_CHUNK ? piece : INPUT_CHUNK};
    return &memory->base;
}

/* Whether NAME stays in its folder: the kernel resolves each step of it. */
static bool memory_name_is_inside(const char *name)
{
    for (const char *step = name; step; step = strchr(step, '/') ? strchr(step, '/') + 1 : NULL)
        if (strcmp(step, "..") == 0 || strncmp(step, "../", 3) == 0)
            return false;
    return name[0] && name[0] != '/';
}

/* No name of a file that an export states leads out of its folder. */
static struct input *memory_folder_open(struct input_folder *base, const char *name,
                                        struct error *err)
{
    struct memory_folder *folder = (struct memory_folder *)base;
    if (!memory_name_is_inside(name))
        abort();
    for (size_t i = 0; i < folder->count; i++)
        if (strcmp(folder->names[i], name) == 0)
            return memory_input_new(folder->contents[i], INPUT_CHUNK);
    error_set(err, ERROR_NOT_FOUND, "%s has no such file", name);
    return NULL;
}

static void memory_folder_close(struct input_folder *folder)
{
    (void)folder;
}

void memory_folder_init(struct memory_folder *folder, const char *const *names,
                        const struct span *contents, size_t count)
{
    static const struct input_folder_ops ops = {memory_folder_open, memory_folder_close};
    static char name[] = "memory";
    *folder = (struct memory_folder){{&ops, name}, names, contents, count};
}
