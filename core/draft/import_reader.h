/* Inside the import: what the readers of formats have in common. A reader walks the model and adds
 * tables, records and indexes; what it can't add it leaves out with a note and goes on. Memory that
 * runs out marks the arena FAILED, and import_model tells it: a helper that gives NULL has either
 * noted why, or marked the arena, so that readers just go on. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_READER_H
#define DDBFS_CORE_DRAFT_IMPORT_READER_H

#include "core/draft/imported.h"
#include "core/json/json.h"

/* More than anybody has; without bounds what compares each with each could take for ever. */
enum {
    IMPORT_MAX_MEMBERS = 2000, /* of an object that is searched for each of many others */
    IMPORT_MAX_TABLES = 256,
    IMPORT_MAX_KINDS = 1000,        /* of a table */
    IMPORT_MAX_INDEXES = 50,        /* of a table */
    IMPORT_MAX_VALUES_KNOWN = 1000, /* of a part */
    IMPORT_MAX_NOTES = 500,         /* so many are kept, and one that counts the others */
};

struct import_reader {
    struct arena *arena; /* borrowed, as all here */
    const struct json_doc *doc;
    struct imported *out;
    struct declared_table **next_table;
    struct left_out **next_left_out;
    size_t tables, notes;
    struct json_position last; /* of import_reader_at */
};

/* One format of models: each is a file of its own. */
struct import_format {
    const char *name;      /* "OneTable schema" */
    const char *looks_for; /* by what it is recognised, in words */
    bool (*recognises)(struct json root);
    void (*read)(struct import_reader *reading, struct json root);
};

/* Notes that what stands at AT is left out, and why. */
void import_reader_leave_out(struct import_reader *reading, struct json at, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* Where a value begins: cheap when places are asked for in the order of the file. */
struct finding_at import_reader_at(struct import_reader *reading, struct json at);

/* A string as a C string in the arena; NULL when VALUE is none, is empty, or holds a NUL. */
const char *import_reader_text(struct import_reader *reading, struct json value);

/* A table, whose name at the service is BASE_NAME; IMPORT_NO_TABLE_NAME when the model does not
 * say it. Its directory is called PATH_NAME as far as a name can hold that, and another one each.
 * NULL beyond IMPORT_MAX_TABLES. */
struct declared_table *import_reader_add_table(struct import_reader *reading, struct json at,
                                               const char *path_name, const char *base_name);

/* Takes away the table that was added last. */
void import_reader_drop_table(struct import_reader *reading, struct declared_table *table);

/* A kind of record, without its keys. NULL when there is one of that name, or too many. */
struct declared_record *import_reader_add_record(struct import_reader *reading, struct json at,
                                                 struct declared_table *table, const char *name);

/* The next key attribute of a record, for the caller to fill in; the format is empty yet. */
struct declared_key *import_reader_add_record_key(struct import_reader *reading, struct json at,
                                                  struct declared_record *record,
                                                  const char *attribute);

/* An index, without its keys. NULL when there is one of that name, or too many. */
struct declared_index *import_reader_add_index(struct import_reader *reading, struct json at,
                                               struct declared_table *table, const char *name);
struct declared_index *import_reader_find_index(struct declared_table *table, const char *name);

/* The next attribute of an index's partition key or, with SORT, of its sort key, for the caller
 * to give a format, or formats by kind. NULL when the side has four. */
struct declared_key *import_reader_add_index_key(struct import_reader *reading, struct json at,
                                                 struct declared_index *index, bool sort,
                                                 const char *attribute);

/* How records of KIND write a key of an index. */
void import_reader_add_kind_format(struct import_reader *reading, struct declared_key *key,
                                   const char *kind, const struct format *format);

/* That an attribute is a number, binary, … Said once; the first time counts. */
void import_reader_add_type(struct import_reader *reading, struct declared_table *table,
                            const char *attribute, enum value_type type);
enum value_type import_reader_type_of(const struct declared_table *table, const char *attribute);

/* What an index holds beside keys, from a list of names. */
void import_reader_add_includes(struct import_reader *reading, struct declared_index *index,
                                struct json names);

/* Takes INDEX out of TABLE. */
void import_reader_drop_index(struct declared_table *table, const struct declared_index *index);
/* Says of which TYPE the values of PART are. False if another was said, or memory ran out. */
bool import_reader_add_param_type(struct import_reader *reading, struct declared_table *table,
                                  const char *part, enum value_type type);
/* Values that the part PART is known to have, from a list of texts: beside those that are known of
 * it already. */
void import_reader_add_values(struct import_reader *reading, struct declared_table *table,
                              const char *part, struct json values);

#endif
