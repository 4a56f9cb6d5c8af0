/* Terraform's tables: a configuration in its JSON syntax (*.tf.json), what `terraform show -json`
 * prints of a state or a plan, and a state's file. */
#ifndef DDBFS_CORE_IMPORT_TERRAFORM_H
#define DDBFS_CORE_IMPORT_TERRAFORM_H

#include "core/import/reading.h"

extern const struct import_format terraform_format;

#endif
