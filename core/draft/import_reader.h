/* The functions that the readers of all model formats share. A reader walks the model and adds
 * tables, records and indexes. A part of the model that can't be added is left out with a note.
 * When memory runs out, the arena is marked as failed: import_model checks that. A function that
 * returns NULL has either noted the reason or marked the arena, so that a reader can go on. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_READER_H
#define DDBFS_CORE_DRAFT_IMPORT_READER_H

#include "core/draft/imported.h"
#include "core/json/json.h"

/* Larger than any real model. The bounds limit the work of loops that compare each with each. */
enum {
    IMPORT_MAX_MEMBERS = 2000, /* of an object that is searched for each of many others */
    IMPORT_MAX_TABLES = 256,
    IMPORT_MAX_KINDS = 1000,        /* of a table */
    IMPORT_MAX_INDEXES = 50,        /* of a table */
    IMPORT_MAX_SECRETS = 500,       /* of a table */
    IMPORT_MAX_VALUES_KNOWN = 1000, /* of a part */
    IMPORT_MAX_NOTES = 500,         /* further ones are only counted */
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

/* One format of models. */
struct import_format {
    const char *name;      /* "OneTable schema" */
    const char *looks_for; /* the marks by which it is recognized, in words */
    bool (*recognizes)(struct json root);
    void (*read)(struct import_reader *reader, struct json root);
};

/* dynamodb-mcp-server of AWS: a schema.json. */
extern const struct import_format data_model_format;
/* ElectroDB: a schema, or a list of them, or an object of them by name. */
extern const struct import_format electrodb_format;
/* OneTable: a schema. */
extern const struct import_format onetable_format;
/* dynamodb-toolbox: JSON of entities and tables (EntityDTO, TableDTO): one, a list of them, or an
 * object of them by name. Values that functions compute are not in there. */
extern const struct import_format toolbox_format;
/* NoSQL Workbench: a data model. */
extern const struct import_format workbench_format;

/* Notes that the value AT is left out, and why. */
void import_reader_leave_out(struct import_reader *reader, struct json at, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* A string as a C string in the arena; NULL when VALUE is no string, is empty, or holds a NUL. */
const char *import_reader_text(struct import_reader *reader, struct json value);

/* A table. BASE_NAME is its name at the service, IMPORT_NO_TABLE_NAME if the model lacks one. Its
 * directory is PATH_NAME if a name can hold that; each table has another directory. NULL beyond
 * IMPORT_MAX_TABLES. */
struct declared_table *import_reader_add_table(struct import_reader *reader, struct json at,
                                               const char *path_name, const char *base_name);

/* Removes the table that was added last. */
void import_reader_drop_table(struct import_reader *reader, struct declared_table *table);

/* A kind of item, without its keys. NULL when there is one of that name, or too many. */
struct declared_record *import_reader_add_record(struct import_reader *reader, struct json at,
                                                 struct declared_table *table, const char *name);

/* The next key attribute of a kind, whose format the caller sets. */
struct declared_key *import_reader_add_record_key(struct import_reader *reader, struct json at,
                                                  struct declared_record *record,
                                                  const char *attribute);

/* An index, without its keys. NULL when there is one of that name, or too many. */
struct declared_index *import_reader_add_index(struct import_reader *reader, struct json at,
                                               struct declared_table *table, const char *name);
struct declared_index *import_reader_find_index(struct declared_table *table, const char *name);
void import_reader_drop_index(struct declared_table *table, const struct declared_index *index);

/* The next attribute of an index's partition key or, with SORT, of its sort key. The caller sets
 * its format, or its formats by kind. NULL when the key has four attributes. */
struct declared_key *import_reader_add_index_key(struct import_reader *reader, struct json at,
                                                 struct declared_index *index, bool sort,
                                                 const char *attribute);

/* The attributes that an index holds beside keys, from a list of names. */
void import_reader_add_includes(struct import_reader *reader, struct declared_index *index,
                                struct json names);

/* The type of an attribute, unless one is declared already. */
void import_reader_add_type(struct import_reader *reader, struct declared_table *table,
                            const char *attribute, enum value_type type);

/* The type of PART's values. False if another type is declared, or memory ran out. */
bool import_reader_add_param_type(struct import_reader *reader, struct declared_table *table,
                                  const char *part, enum value_type type);
/* Further known values of PART, from a list of texts. */
void import_reader_add_values(struct import_reader *reader, struct declared_table *table,
                              const char *part, struct json values);

/* Declares the attribute NAME, whose model is ATTRIBUTE, as a secret if the model calls it
 * encrypted
 * ("crypt") or "hidden", or if NAME or STORED is named like a secret. STORED is its name in the
 * table. */
void import_reader_add_secret(struct import_reader *reader, struct declared_table *table,
                              struct json name, struct json stored, struct json attribute);
/* The same for all members of ATTRIBUTES, an object by names. The name in the table is the member
 * STORED, if the attribute has one. */
void import_reader_add_secrets(struct import_reader *reader, struct declared_table *table,
                               struct json attributes, const char *stored);
/* When TABLE is complete: adds secrets that indexes hold, drops keys, which paths spell, and notes
 * the reason for the rest. */
void import_reader_finish_secrets(struct arena *arena, struct declared_table *table);

#endif
