#ifndef __linux__

#include "CFuse.h"

#include <errno.h>

// macFUSE has libfuse 3 with structures of its own: not yet tried.
const char *cfuse_load(void) { return "not on this system"; }
const char *cfuse_said(void) { return ""; }
struct cfuse_session *cfuse_open(const char *options, struct cfuse_calls calls, void *tree) { return NULL; }
int cfuse_mount(struct cfuse_session *session, const char *path) { return -1; }
int cfuse_step(struct cfuse_session *session, int milliseconds) {
    errno = ENOSYS;
    return -1;
}
void cfuse_unmount(struct cfuse_session *session) {}
void cfuse_close(struct cfuse_session *session) {}
void cfuse_reply_error(void *request, int error) {}
void cfuse_reply_entry(void *request, const struct cfuse_node *node) {}
void cfuse_reply_attributes(void *request, const struct cfuse_node *node) {}
void cfuse_reply_target(void *request, const char *target) {}
int cfuse_reply_open(void *request, uint64_t number) { return -1; }
void cfuse_reply_bytes(void *request, const void *bytes, size_t count) {}
void cfuse_reply_space(void *request, uint64_t bytes, uint64_t files) {}
size_t cfuse_add_name(void *request, char *part, size_t count, const char *name, uint64_t inode, uint32_t mode, int64_t next) { return 0; }

#endif
