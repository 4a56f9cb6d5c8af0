/* The table by which core/read writes the files that describe others: READMEs and @info. */
#ifndef DDBFS_CORE_DESCRIBE_TEXTS_H
#define DDBFS_CORE_DESCRIBE_TEXTS_H

#include "core/read/tree.h"

extern const struct tree_texts describe_texts;

#endif
