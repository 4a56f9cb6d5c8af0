/* A statement while it is typed: whether it has ended, and the word at its end. */
#ifndef DDBFS_FS_CLI_SQL_TEXT_H
#define DDBFS_FS_CLI_SQL_TEXT_H

#include "core/base/span.h"

struct sql_text {
    bool is_blank;     /* blanks and comments alone */
    bool is_ended;     /* by a semicolon, with nothing but blanks and comments behind it */
    bool is_in_string; /* it ends within a string or a comment */
    bool has_lines;    /* a line end is part of a string, or ends a comment */
    size_t word;       /* the offset of its last word: a name, with its qualifiers and quotes */
};

struct sql_text sql_text_scan(struct span text);

#endif
