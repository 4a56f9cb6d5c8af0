/* Open files and directories of the simulated kernel. */
#ifndef DDBFS_TESTS_SIM_SIM_FILES_H
#define DDBFS_TESTS_SIM_SIM_FILES_H

#include "tests/sim/sim_pages.h"

struct sim_file {
    struct sim_dentry *dentry; /* used */
    uint64_t fh;
    bool is_directory;
    bool has_handle; /* the program has opened it, and gets a RELEASE */
    int number;
    unsigned uses; /* the descriptor, and calls */
    uint64_t position;
    struct sim_lock position_lock;
    struct sim_read_ahead ahead;
    struct sim_dict seen, seen_names; /* entries, by cookie and by name */
};

/* NULL: not open. */
struct sim_file *sim_file_find(int number);
void sim_file_release(struct sim_file *file);
/* The descriptor is closed; the file lives as long as it is used. */
void sim_file_forget_number(struct sim_file *file);
/* For requests that may name a handle; NULL: there is none. */
const uint64_t *sim_file_handle(const struct sim_file *file);

/* Returns 0 or a negative errno. WANTS_DIRECTORY: O_DIRECTORY is set. */
int sim_file_open(struct sim_process *process, struct sim_dentry *dentry, bool wants_directory,
                  int *number);
/* The last step of a close in its process. */
void sim_file_flush(struct sim_process *process, struct sim_file *file);

/* At most COUNT entries from the position on, by one request for SIZE bytes. */
ssize_t sim_file_read_entries(struct sim_process *process, struct sim_file *file,
                              struct sim_entry *out, size_t count, size_t size);

size_t sim_files_count(void);

#endif
