#ifdef __linux__

#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "CFuse.h"
#include "Libfuse.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// If the headers are there, the compiler holds the above to them.
#if __has_include(<fuse3/fuse_lowlevel.h>)
#define FUSE_USE_VERSION 30
#include <fuse3/fuse_lowlevel.h>
#define SAME(ours, our_field, theirs, their_field) \
    _Static_assert(offsetof(struct ours, our_field) == offsetof(struct theirs, their_field), #their_field)
SAME(args, values, fuse_args, argv);
SAME(args, is_allocated, fuse_args, allocated);
SAME(file_info, flags, fuse_file_info, flags);
SAME(file_info, number, fuse_file_info, fh);
SAME(file_info, lock_owner, fuse_file_info, lock_owner);
SAME(file_info, poll_events, fuse_file_info, poll_events);
_Static_assert(sizeof(struct file_info) >= sizeof(struct fuse_file_info), "fuse_file_info");
SAME(entry, attributes, fuse_entry_param, attr);
SAME(entry, attributes_validity, fuse_entry_param, attr_timeout);
SAME(entry, validity, fuse_entry_param, entry_timeout);
_Static_assert(sizeof(struct entry) == sizeof(struct fuse_entry_param), "fuse_entry_param");
_Static_assert(sizeof(struct buffer) >= sizeof(struct fuse_buf), "fuse_buf");
SAME(operations, look_up, fuse_lowlevel_ops, lookup);
SAME(operations, describe, fuse_lowlevel_ops, getattr);
SAME(operations, read_link, fuse_lowlevel_ops, readlink);
SAME(operations, open, fuse_lowlevel_ops, open);
SAME(operations, read, fuse_lowlevel_ops, read);
SAME(operations, close, fuse_lowlevel_ops, release);
SAME(operations, open_directory, fuse_lowlevel_ops, opendir);
SAME(operations, list, fuse_lowlevel_ops, readdir);
SAME(operations, close_directory, fuse_lowlevel_ops, releasedir);
SAME(operations, tell_space, fuse_lowlevel_ops, statfs);
#endif

struct libfuse fuse;

static struct {
    const char *name;
    void *function;
} const wanted[] = {
    {"fuse_session_new", &fuse.session_new},
    {"fuse_session_mount", &fuse.session_mount},
    {"fuse_session_fd", &fuse.session_fd},
    {"fuse_session_exited", &fuse.session_exited},
    {"fuse_session_receive_buf", &fuse.session_receive_buf},
    {"fuse_session_process_buf", &fuse.session_process_buf},
    {"fuse_session_unmount", &fuse.session_unmount},
    {"fuse_session_destroy", &fuse.session_destroy},
    {"fuse_req_userdata", &fuse.req_userdata},
    {"fuse_reply_err", &fuse.reply_err},
    {"fuse_reply_entry", &fuse.reply_entry},
    {"fuse_reply_attr", &fuse.reply_attr},
    {"fuse_reply_readlink", &fuse.reply_readlink},
    {"fuse_reply_open", &fuse.reply_open},
    {"fuse_reply_buf", &fuse.reply_buf},
    {"fuse_reply_statfs", &fuse.reply_statfs},
    {"fuse_add_direntry", &fuse.add_direntry},
};

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static char failure[512];

// libfuse's last message; it is on the terminal only if something fails.
static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;
static char said[512];

static void say(int level, const char *format, va_list arguments) {
    (void)level;
    pthread_mutex_lock(&saying);
    vsnprintf(said, sizeof said, format, arguments);
    said[strcspn(said, "\n")] = 0;
    pthread_mutex_unlock(&saying);
}

const char *cfuse_said(void) {
    static _Thread_local char copy[sizeof said];
    pthread_mutex_lock(&saying);
    memcpy(copy, said, sizeof said);
    pthread_mutex_unlock(&saying);
    return copy;
}

static void load(void) {
    void *library = dlopen("libfuse3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libfuse3.so.3: not found");
        library = dlopen("libfuse3.so.4", RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return;
    failure[0] = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *function = dlsym(library, wanted[i].name);
        if (!function) {
            snprintf(failure, sizeof failure, "libfuse3 has no '%s'", wanted[i].name);
            return;
        }
        memcpy(wanted[i].function, &function, sizeof function);
    }
    // Since 3.7; before that it writes to standard error.
    void (*set_log)(void (*)(int, const char *, va_list));
    void *function = dlsym(library, "fuse_set_log_func");
    memcpy(&set_log, &function, sizeof function);
    if (function) set_log(say);
}

const char *cfuse_load(void) {
    pthread_once(&loading, load);
    return failure[0] ? failure : NULL;
}

void libfuse_forget(void) {
    pthread_mutex_lock(&saying);
    said[0] = 0;
    pthread_mutex_unlock(&saying);
}

#endif
