/* The inode numbers that the program has handed out: what each of them is for ever, how many
 * look-ups of it the program counts, and the bytes that it was seen to have. */
#ifndef DDBFS_TESTS_SIM_SIM_NUMBERS_H
#define DDBFS_TESTS_SIM_SIM_NUMBERS_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reply has an entry NAME of the directory PARENT, which counts as a look-up. */
void sim_numbers_grant(uint64_t parent, const char *name, size_t size,
                       const struct fuse_entry_out *entry);
/* A reply has attributes of a node that the program knows. */
void sim_numbers_check_attr(uint64_t number, const struct fuse_attr *attr);
/* The program has read a FORGET. */
void sim_numbers_forget(uint64_t number, uint64_t count);
/* A request names the node: the program has been told of it, and not yet of its end. */
void sim_numbers_check_use(uint64_t number);
/* BYTES are what the node has at OFFSET. */
void sim_numbers_check_bytes(uint64_t number, uint64_t offset, const void *bytes, size_t size,
                             const char *how);
/* READ of WANTED bytes at OFFSET has brought SIZE bytes: all that there are. */
void sim_numbers_check_read(uint64_t number, uint64_t offset, const void *bytes, size_t size,
                            size_t wanted);
/* The target of a link. */
void sim_numbers_check_target(uint64_t number, const void *bytes, size_t size);
/* The name that it was first found by; "" if unknown. */
const char *sim_numbers_name(uint64_t number);
/* Look-ups that the program counts now, of all nodes but the root. */
uint64_t sim_numbers_lookups(void);

#endif
