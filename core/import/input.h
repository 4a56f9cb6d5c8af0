/* Inputs of an import: streams of bytes, and folders of named files. A read waits for its bytes. */
#ifndef DDBFS_CORE_IMPORT_INPUT_H
#define DDBFS_CORE_IMPORT_INPUT_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/json/json.h"

/* A stream that is read once, from its beginning to its end. Embedded, first, in the struct of each
 * kind of input. */
struct input {
    const struct input_ops *ops;
    char *name;          /* owned: the file's name for messages, such as "export/data/x.json.gz" */
    uint64_t size;       /* of the file, as stored; 0: not known */
    uint64_t position;   /* bytes of the file that were read so far, as stored */
    int64_t modified_ms; /* since 1970; 0: not known */
};

/* WAITS is called often while an input waits for its bytes. False: the read fails with
 * ERROR_TIMED_OUT. */
struct input_watch {
    bool (*waits)(void *arg);
    void *arg;
};

enum { INPUT_CHUNK = 1 << 18 }; /* the most that one read appends */

struct input_ops {
    /* Appends the next bytes to OUT, 1 to INPUT_CHUNK, and adds those of the file to POSITION.
     * Appends nothing at the end, and again at each further read. False with ERR filled; then INPUT
     * can only be closed. An error names the file. */
    bool (*read)(struct input *input, struct buf *out, struct error *err);
    /* Frees all but NAME. */
    void (*close)(struct input *input);
};

bool input_read(struct input *input, struct buf *out, struct error *err);
void input_close(struct input *input); /* NULL is fine */

/* Reads INPUT to its end, or until WATCH (may be NULL) returns false, after a part of it was found
 * to be wrong (ERR). A wrong checksum replaces ERR: damage explains the part. */
void input_read_rest(struct input *input, const struct input_watch *watch, struct error *err);

/* Appends all bytes. More than MOST are an error (ERROR_TOO_LARGE). */
bool input_read_all(struct input *input, size_t most, struct buf *out, struct error *err);

/* Parses TEXT, which is called NAME in ERR, as strict JSON. DOC is to be cleaned up in either case.
 */
bool input_parse(const char *name, struct span text, struct json_doc *doc, struct error *err);

/* Opens a local file, or standard input for "-". NULL with ERR filled: ERROR_NOT_FOUND if there is
 * no such file, ERROR_IS_DIRECTORY if it is a folder. */
struct input *input_open(const char *path, struct error *err);

/* A folder whose files have names such as "data/x.json.gz". Embedded, first, in the struct of each
 * kind of folder. */
struct input_folder {
    const struct input_folder_ops *ops;
    char *name; /* owned: for messages, such as "./export" or "s3://bucket/prefix" */
};

struct input_folder_ops {
    /* Opens the file NAME, a relative path without "..". NULL with ERR filled: ERROR_NOT_FOUND if
     * it is proven that there is no such file. */
    struct input *(*open)(struct input_folder *folder, const char *name, struct error *err);
    /* Frees all but NAME. Its inputs have been closed before. */
    void (*close)(struct input_folder *folder);
};

struct input *input_folder_open_file(struct input_folder *folder, const char *name,
                                     struct error *err);
void input_folder_close(struct input_folder *folder); /* NULL is fine */

/* A folder of this machine. NULL with ERR filled. */
struct input_folder *input_folder_open(const char *path, struct error *err);

/* Both take over INNER, also if they fail (NULL with ERR filled). */

/* Decompresses INNER if it begins as a gzip file does; other bytes pass unchanged. A file of
 * several members is the bytes of all. A file that ends within a member, or has other bytes behind
 * the last one, is an error. */
struct input *input_unpack(struct input *inner, struct error *err);

/* The same bytes. At their end their MD5 is compared with BASE64, and a difference is an error. */
struct input *input_verify(struct input *inner, struct span base64, struct error *err);

#endif
