// libfuse 3 as it is loaded.
#ifndef LIBFUSE_H
#define LIBFUSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

// libfuse's own declarations, as far as they are needed: fuse_opt.h, fuse_common.h and fuse_lowlevel.h of
// libfuse 3.14. They are the same from 3.0 on (libfuse3.so.3) and in 3.17 and later (libfuse3.so.4).

struct args {
    int count;
    char **values;
    int is_allocated;
};

struct file_info {
    int flags;
    unsigned int writepage : 1;
    unsigned int direct_io : 1;
    unsigned int keep_cache : 1;
    unsigned int others : 29;
    unsigned int padding;
    uint64_t number;
    uint64_t lock_owner;
    uint32_t poll_events;
    // Later versions have more.
    uint32_t spare[15];
};

struct entry {
    uint64_t inode;
    uint64_t generation;
    struct stat attributes;
    double attributes_validity;
    double validity;
};

// Filled in by libfuse; later versions have more.
struct buffer {
    size_t size;
    int flags;
    void *bytes;
    uint64_t spare[16];
};

// Those that are NULL are answered with ENOSYS, or as by a file system that has nothing to do there.
struct operations {
    void *init, *destroy;
    void (*look_up)(void *, uint64_t, const char *);
    void *forget;
    void (*describe)(void *, uint64_t, struct file_info *);
    void *setattr;
    void (*read_link)(void *, uint64_t);
    void *mknod, *mkdir, *unlink, *rmdir, *symlink, *rename, *link;
    void (*open)(void *, uint64_t, struct file_info *);
    void (*read)(void *, uint64_t, size_t, off_t, struct file_info *);
    void *write, *flush;
    void (*close)(void *, uint64_t, struct file_info *);
    void *fsync;
    void (*open_directory)(void *, uint64_t, struct file_info *);
    void (*list)(void *, uint64_t, size_t, off_t, struct file_info *);
    void (*close_directory)(void *, uint64_t, struct file_info *);
    void *fsyncdir;
    void (*tell_space)(void *, uint64_t);
};

// libfuse's functions, under their names without 'fuse_'.
struct libfuse {
    void *(*session_new)(struct args *, const struct operations *, size_t, void *);
    int (*session_mount)(void *, const char *);
    int (*session_fd)(void *);
    int (*session_exited)(void *);
    int (*session_receive_buf)(void *, struct buffer *);
    void (*session_process_buf)(void *, const struct buffer *);
    void (*session_unmount)(void *);
    void (*session_destroy)(void *);
    void *(*req_userdata)(void *);
    int (*reply_err)(void *, int);
    int (*reply_entry)(void *, const struct entry *);
    int (*reply_attr)(void *, const struct stat *, double);
    int (*reply_readlink)(void *, const char *);
    int (*reply_open)(void *, const struct file_info *);
    int (*reply_buf)(void *, const char *, size_t);
    int (*reply_statfs)(void *, const struct statvfs *);
    size_t (*add_direntry)(void *, char *, size_t, const char *, const struct stat *, off_t);
};
extern struct libfuse fuse __attribute__((visibility("hidden")));

// Forgets what libfuse said last.
void libfuse_forget(void);

#endif
