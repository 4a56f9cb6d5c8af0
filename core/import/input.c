#include "core/import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_read(struct input *input, struct buf *out, struct error *err)
{
    return input->ops->read(input, out, err);
}

void input_close(struct input *input)
{
    if (!input)
        return;
    char *name = input->name;
    input->ops->close(input);
    free(name);
}

bool input_read_all(struct input *input, size_t most, struct buf *out, struct error *err)
{
    size_t before;
    do {
        before = out->size;
        if (!input_read(input, out, err))
            return false;
        if (out->size > most)
            return error_set(err, ERROR_TOO_LARGE, "%s is larger than %zu bytes", input->name,
                             most);
    } while (out->size > before);
    return true;
}

bool input_parse(const char *name, struct span text, struct json_doc *doc, struct error *err)
{
    struct json_fault fault;
    if (json_parse(doc, text, JSON_STRICT, &fault))
        return true;
    if (strcmp(fault.what, "out of memory") == 0)
        return error_no_memory(err);
    return error_set(err, ERROR_INVALID, "%s is no JSON: %s (byte %zu)", name, fault.what,
                     fault.offset + 1);
}

struct input *input_folder_open_file(struct input_folder *folder, const char *name,
                                     struct error *err)
{
    return folder->ops->open(folder, name, err);
}

void input_folder_close(struct input_folder *folder)
{
    if (!folder)
        return;
    char *name = folder->name;
    folder->ops->close(folder);
    free(name);
}

void input_read_rest(struct input *input, const struct input_watch *watch, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why = {0};
    do
        buf_truncate(&bytes, 0);
    while (input_read(input, &bytes, &why) && bytes.size > 0 &&
           (!watch || watch->waits(watch->arg)));
    if (why.kind)
        *err = why;
}

/* Local files. */

struct file_input {
    struct input base;
    int fd; /* owned, except standard input's */
};

static bool file_input_read(struct input *input, struct buf *out, struct error *err)
{
    struct file_input *file = (struct file_input *)input;
    if (!buf_reserve(out, INPUT_CHUNK))
        return error_no_memory(err);
    ssize_t count = read(file->fd, out->data + out->size, INPUT_CHUNK);
    if (count < 0)
        return error_set(err, ERROR_INVALID, "%s can't be read: %s", input->name, strerror(errno));
    out->size += (size_t)count;
    out->data[out->size] = '\0';
    input->position += (uint64_t)count;
    return true;
}

static void file_input_close(struct input *input)
{
    struct file_input *file = (struct file_input *)input;
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    free(file);
}

static const struct input_ops file_input_ops = {file_input_read, file_input_close};

/* A file of an export is data of others: opening a pipe there must not wait for its writer. */
static bool file_input_start(struct file_input *file, const char *path, bool of_export,
                             struct error *err)
{
    struct stat status;
    bool is_standard = !of_export && strcmp(path, "-") == 0;
    int flags = O_RDONLY | O_CLOEXEC | (of_export ? O_NONBLOCK : 0);
    file->fd = is_standard ? STDIN_FILENO : open(path, flags);
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_INVALID,
                         "%s can't be opened: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return error_set(err, ERROR_IS_DIRECTORY, "%s is a folder%s", path,
                         of_export ? ", and a file of an export; copy the export again" : "");
    if (of_export && !S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID,
                         "%s is a pipe or a device, and no regular file as in an export; "
                         "copy the export again",
                         path);
    file->base.name = strdup(is_standard ? "standard input" : path);
    if (!file->base.name)
        return error_no_memory(err);
    if (S_ISREG(status.st_mode)) {
        file->base.size = (uint64_t)status.st_size;
        file->base.modified_ms =
            (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    }
    return true;
}

static struct input *file_input_new(const char *path, bool of_export, struct error *err)
{
    struct file_input *file = calloc(1, sizeof *file);
    if (!file) {
        error_no_memory(err);
        return NULL;
    }
    *file = (struct file_input){.base.ops = &file_input_ops, .fd = -1};
    if (file_input_start(file, path, of_export, err))
        return &file->base;
    input_close(&file->base);
    return NULL;
}

struct input *input_open(const char *path, struct error *err)
{
    return file_input_new(path, false, err);
}

/* Local folders. */

static struct input *file_folder_open_file(struct input_folder *folder, const char *name,
                                           struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/%s", folder->name, name);
    if (!path.failed)
        return file_input_new(buf_text(&path), true, err);
    error_no_memory(err);
    return NULL;
}

static void file_folder_close(struct input_folder *folder)
{
    free(folder);
}

static const struct input_folder_ops file_folder_ops = {file_folder_open_file, file_folder_close};

struct input_folder *input_folder_open(const char *path, struct error *err)
{
    struct input_folder *folder = calloc(1, sizeof *folder);
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    char *name = strndup(path, size);
    if (folder && name) {
        *folder = (struct input_folder){.ops = &file_folder_ops, .name = name};
        return folder;
    }
    free(folder);
    free(name);
    error_no_memory(err);
    return NULL;
}
