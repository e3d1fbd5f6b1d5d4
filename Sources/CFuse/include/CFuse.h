// Read-only file systems through libfuse 3 (https://libfuse.github.io/doxygen/fuse__lowlevel_8h.html), which is
// loaded when it is needed: the program is built and runs without it.
#ifndef CFUSE_H
#define CFUSE_H

#include <stddef.h>
#include <stdint.h>

// A file, a directory or a symbolic link.
struct cfuse_node {
    // Never that of another one; 1 is the root.
    uint64_t inode;
    // Type and permissions, as in stat(2).
    uint32_t mode;
    uint32_t owner;
    uint32_t group;
    int64_t size;
    // Nanoseconds since 1970-01-01 UTC.
    int64_t modified;
    // For how many seconds the kernel may rely on it, and on its name.
    double validity;
};

// What the file system does. Each call is made on the thread of cfuse_step, and gets what cfuse_open was given
// and a request, which is to be replied to once, on any thread.
struct cfuse_calls {
    void (*look_up)(void *tree, void *request, uint64_t directory, const char *name);
    void (*describe)(void *tree, void *request, uint64_t inode);
    void (*read_link)(void *tree, void *request, uint64_t inode);
    void (*open)(void *tree, void *request, uint64_t inode);
    void (*read)(void *tree, void *request, uint64_t file, size_t count, int64_t offset);
    void (*close)(void *tree, void *request, uint64_t file);
    void (*open_directory)(void *tree, void *request, uint64_t inode);
    void (*list)(void *tree, void *request, uint64_t listing, size_t count, int64_t offset);
    void (*close_directory)(void *tree, void *request, uint64_t listing);
    void (*tell_space)(void *tree, void *request);
};

struct cfuse_session;

// Loads libfuse, once: NULL, or why it cannot be used (dlerror(3)).
const char *cfuse_load(void);

// What libfuse said last; empty if it said nothing.
const char *cfuse_said(void);

// Begins a session with mount options, as of mount(8): NULL if that failed.
struct cfuse_session *cfuse_open(const char *options, struct cfuse_calls calls, void *tree);

// Mounts it: 0, or another number if that failed.
int cfuse_mount(struct cfuse_session *session, const char *path);

// Waits for a request, at most so many milliseconds, and has it handled: 1; 0 if it is no longer mounted; -1 and
// errno.
int cfuse_step(struct cfuse_session *session, int milliseconds);

// Unmounts it, if it still is; then nothing is asked any more.
void cfuse_unmount(struct cfuse_session *session);

// Ends a session, to which no reply is to come any more.
void cfuse_close(struct cfuse_session *session);

// Replies. An error is a number of errno(3).
void cfuse_reply_error(void *request, int error);
void cfuse_reply_entry(void *request, const struct cfuse_node *node);
void cfuse_reply_attributes(void *request, const struct cfuse_node *node);
void cfuse_reply_target(void *request, const char *target);
// A file or a listing was opened, and has this number from now on; the kernel may keep what it read of it.
// 0, or -1 if whoever opened it is gone: nobody will close it.
int cfuse_reply_open(void *request, uint64_t number);
void cfuse_reply_bytes(void *request, const void *bytes, size_t count);
void cfuse_reply_space(void *request, uint64_t bytes, uint64_t files);

// Adds a name to a part of a listing: the bytes that it takes, more than there are if it does not fit.
// 'next' is the offset of what comes after it.
size_t cfuse_add_name(void *request, char *part, size_t count, const char *name, uint64_t inode, uint32_t mode, int64_t next);

#endif
