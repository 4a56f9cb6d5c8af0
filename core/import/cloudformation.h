/* CloudFormation templates in JSON, SAM's among them: the keys and the indexes of their tables. */
#ifndef DDBFS_CORE_IMPORT_CLOUDFORMATION_H
#define DDBFS_CORE_IMPORT_CLOUDFORMATION_H

#include "core/import/reading.h"

extern const struct import_format cloudformation_format;

#endif
