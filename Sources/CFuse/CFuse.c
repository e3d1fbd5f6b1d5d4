#ifdef __linux__

#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "CFuse.h"
#include "Libfuse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct cfuse_session {
    void *fuse;
    struct cfuse_calls calls;
    void *tree;
    struct buffer buffer;
    int is_mounted;
};

static void look_up(void *request, uint64_t directory, const char *name) {
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.look_up(session->tree, request, directory, name);
}

static void describe(void *request, uint64_t inode, struct file_info *info) {
    (void)info;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.describe(session->tree, request, inode);
}

static void read_link(void *request, uint64_t inode) {
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.read_link(session->tree, request, inode);
}

static void open_file(void *request, uint64_t inode, struct file_info *info) {
    struct cfuse_session *session = fuse.req_userdata(request);
    // The kernel refuses it as well, since the file system is mounted read-only.
    if ((info->flags & O_ACCMODE) != O_RDONLY) {
        fuse.reply_err(request, EROFS);
        return;
    }
    session->calls.open(session->tree, request, inode);
}

static void read_file(void *request, uint64_t inode, size_t count, off_t offset, struct file_info *info) {
    (void)inode;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.read(session->tree, request, info->number, count, offset);
}

static void close_file(void *request, uint64_t inode, struct file_info *info) {
    (void)inode;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.close(session->tree, request, info->number);
}

static void open_directory(void *request, uint64_t inode, struct file_info *info) {
    (void)info;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.open_directory(session->tree, request, inode);
}

static void list(void *request, uint64_t inode, size_t count, off_t offset, struct file_info *info) {
    (void)inode;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.list(session->tree, request, info->number, count, offset);
}

static void close_directory(void *request, uint64_t inode, struct file_info *info) {
    (void)inode;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.close_directory(session->tree, request, info->number);
}

static void tell_space(void *request, uint64_t inode) {
    (void)inode;
    struct cfuse_session *session = fuse.req_userdata(request);
    session->calls.tell_space(session->tree, request);
}

static const struct operations operations = {
    .look_up = look_up,
    .describe = describe,
    .read_link = read_link,
    .open = open_file,
    .read = read_file,
    .close = close_file,
    .open_directory = open_directory,
    .list = list,
    .close_directory = close_directory,
    .tell_space = tell_space,
};

struct cfuse_session *cfuse_open(const char *options, struct cfuse_calls calls, void *tree) {
    struct cfuse_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->calls = calls;
    session->tree = tree;
    libfuse_forget();
    char *text = strdup(options);
    char *values[] = {"grocerydude", "-o", text, NULL};
    struct args args = {.count = 3, .values = values};
    // It copies the values before it changes them (fuse_opt_parse).
    session->fuse = text ? fuse.session_new(&args, &operations, sizeof operations, session) : NULL;
    if (args.is_allocated) {
        for (int i = 0; i < args.count; i++) free(args.values[i]);
        free(args.values);
    }
    free(text);
    if (session->fuse) return session;
    free(session);
    return NULL;
}

int cfuse_mount(struct cfuse_session *session, const char *path) {
    int status = fuse.session_mount(session->fuse, path);
    if (status) return status;
    session->is_mounted = 1;
    // A request that is taken back before it is read would block the reader.
    int descriptor = fuse.session_fd(session->fuse);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    return 0;
}

int cfuse_step(struct cfuse_session *session, int milliseconds) {
    if (fuse.session_exited(session->fuse)) return 0;
    struct pollfd device = {.fd = fuse.session_fd(session->fuse), .events = POLLIN};
    int count = poll(&device, 1, milliseconds);
    if (count < 0) return errno == EINTR ? 1 : -1;
    if (count == 0) return 1;
    // libfuse makes the buffer with the first request, and keeps it.
    int length = fuse.session_receive_buf(session->fuse, &session->buffer);
    if (length == -EINTR || length == -EAGAIN) return 1;
    if (length < 0) {
        errno = -length;
        return -1;
    }
    if (length == 0) return 0;
    fuse.session_process_buf(session->fuse, &session->buffer);
    return 1;
}

void cfuse_unmount(struct cfuse_session *session) {
    if (session->is_mounted) fuse.session_unmount(session->fuse);
    session->is_mounted = 0;
}

void cfuse_close(struct cfuse_session *session) {
    fuse.session_destroy(session->fuse);
    // The buffer stays: versions differ in how it is freed, and one mount is all that a program makes.
    free(session);
}

static struct stat status(const struct cfuse_node *node) {
    struct stat status;
    memset(&status, 0, sizeof status);
    status.st_ino = node->inode;
    status.st_mode = node->mode;
    // For directories that says that their links are not counted.
    status.st_nlink = 1;
    status.st_uid = node->owner;
    status.st_gid = node->group;
    status.st_size = node->size;
    status.st_blksize = 4096;
    status.st_blocks = (node->size + 511) / 512;
    int64_t seconds = node->modified / 1000000000, nanoseconds = node->modified % 1000000000;
    if (nanoseconds < 0) {
        seconds -= 1;
        nanoseconds += 1000000000;
    }
    status.st_mtim.tv_sec = seconds;
    status.st_mtim.tv_nsec = nanoseconds;
    status.st_atim = status.st_ctim = status.st_mtim;
    return status;
}

void cfuse_reply_error(void *request, int error) { fuse.reply_err(request, error); }

void cfuse_reply_entry(void *request, const struct cfuse_node *node) {
    struct entry entry = {
        .inode = node->inode,
        .attributes = status(node),
        .attributes_validity = node->validity,
        .validity = node->validity,
    };
    fuse.reply_entry(request, &entry);
}

void cfuse_reply_attributes(void *request, const struct cfuse_node *node) {
    struct stat attributes = status(node);
    fuse.reply_attr(request, &attributes, node->validity);
}

void cfuse_reply_target(void *request, const char *target) { fuse.reply_readlink(request, target); }

int cfuse_reply_open(void *request, uint64_t number) {
    struct file_info info = {.flags = O_RDONLY, .keep_cache = 1, .number = number};
    return fuse.reply_open(request, &info) ? -1 : 0;
}

void cfuse_reply_bytes(void *request, const void *bytes, size_t count) {
    fuse.reply_buf(request, bytes, count);
}

void cfuse_reply_space(void *request, uint64_t bytes, uint64_t files) {
    struct statvfs space = {
        .f_bsize = 4096,
        .f_frsize = 4096,
        .f_blocks = (bytes + 4095) / 4096,
        .f_files = files,
        .f_namemax = 255,
    };
    fuse.reply_statfs(request, &space);
}

size_t cfuse_add_name(void *request, char *part, size_t count, const char *name, uint64_t inode, uint32_t mode, int64_t next) {
    struct stat status;
    memset(&status, 0, sizeof status);
    status.st_ino = inode;
    status.st_mode = mode;
    return fuse.add_direntry(request, part, count, name, &status, next);
}

#endif
