/* The region in which this machine is, where nobody says in which to ask: as for the AWS CLI, the
 * last thing that is looked at. */
#ifndef DDBFS_CORE_AWS_MACHINE_REGION_H
#define DDBFS_CORE_AWS_MACHINE_REGION_H

#include "core/aws/credentials.h"

/* Stands before all others in a chain, since some of them ask services of the region. It has no
 * credentials: it is absent once the settings have a region, which it puts there, and fails with
 * what to do when there is none to be had. NULL when memory ran out. */
struct credentials_provider *machine_region_new(const struct credentials_context *context);

#endif
