#define _GNU_SOURCE
#include "CFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
int cfiles_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, RENAME_NOREPLACE);
}
int cfiles_rename_exchange(const char *a, const char *b) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}
void cfiles_begin_writeback(int descriptor, off_t offset, off_t length) {
    (void)sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}
void cfiles_finish_writeback(int descriptor, off_t offset, off_t length) {
    (void)sync_file_range(
        descriptor, offset, length,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
}
// Elsewhere it may be refused, ignored, or slower than the page cache (network, FUSE, checksums).
static int writes_directly(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return 0;
    switch ((uint32_t)status.f_type) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: break;
    default: return 0;
    }
#ifdef STATX_DIOALIGN
    struct statx alignment;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &alignment) != 0) return 0;
    uint32_t memory = alignment.stx_dio_mem_align, offset = alignment.stx_dio_offset_align;
    return (alignment.stx_mask & STATX_DIOALIGN) && memory && offset
        && CFILES_UNCACHED_BLOCK % memory == 0 && CFILES_UNCACHED_BLOCK % offset == 0;
#else
    return 0;
#endif
}
int cfiles_set_uncached(int descriptor, int uncached) {
    if (uncached && !writes_directly(descriptor)) return -1;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags == -1) return -1;
    return fcntl(descriptor, F_SETFL, uncached ? flags | O_DIRECT : flags & ~O_DIRECT);
}
int cfiles_is_mount_point(int directory, const char *path) {
    struct statx status;
    if (statx(directory, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) != 0) return -1;
    if (status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    errno = ENOSYS;
    return -1;
}
int64_t cfiles_birth_time(const char *path) {
    struct statx status;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0)
        return errno == ENOSYS ? 0 : -1;
    if (!(status.stx_mask & STATX_BTIME)) return 0;
    return (int64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}
int cfiles_sync(int descriptor) { return fsync(descriptor); }
int cfiles_sync_file_system(int descriptor) { return syncfs(descriptor); }
#else
int cfiles_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
    return renameatx_np(from_directory, from, to_directory, to, RENAME_EXCL);
}
int cfiles_rename_exchange(const char *a, const char *b) {
    return renamex_np(a, b, RENAME_SWAP);
}
void cfiles_begin_writeback(int descriptor, off_t offset, off_t length) {
    (void)descriptor; (void)offset; (void)length;
}
void cfiles_finish_writeback(int descriptor, off_t offset, off_t length) {
    (void)descriptor; (void)offset; (void)length;
}
int cfiles_set_uncached(int descriptor, int uncached) {
    return fcntl(descriptor, F_NOCACHE, uncached);
}
int cfiles_is_mount_point(int directory, const char *path) {
    (void)directory; (void)path;
    errno = ENOSYS;
    return -1;
}
int64_t cfiles_birth_time(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -1;
    return (int64_t)status.st_birthtimespec.tv_sec * 1000000000 + status.st_birthtimespec.tv_nsec;
}
int cfiles_sync(int descriptor) {
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
    return fsync(descriptor);
}
int cfiles_sync_file_system(int descriptor) {
    (void)descriptor;
    errno = ENOSYS;
    return -1;
}
#endif

// OpenZFS reported holes where data had just been written (its issue 15526).
static int has_sure_holes(int descriptor) {
#ifdef __linux__
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 && (uint32_t)status.f_type != 0x2FC12FC1;
#else
    (void)descriptor;
    return 1;
#endif
}
int cfiles_find_data(int descriptor, off_t offset, off_t *start, off_t *end) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    *start = offset < status.st_size ? offset : status.st_size;
    *end = status.st_size;
    if (!has_sure_holes(descriptor)) return 0;
    off_t data = lseek(descriptor, offset, SEEK_DATA);
    if (data == -1 && errno == ENXIO) *start = *end;
    off_t hole = data == -1 ? -1 : lseek(descriptor, data, SEEK_HOLE);
    if (hole == -1) return 0;
    *start = data;
    *end = hole;
    return 0;
}

int cfiles_rename(const char *from, const char *to) { return rename(from, to); }

int64_t cfiles_available_space(int descriptor) {
    struct statvfs status;
    if (fstatvfs(descriptor, &status) != 0) return -1;
    return (int64_t)status.f_bavail * (int64_t)status.f_frsize;
}

int cfiles_openat(int directory, const char *path, int flags, mode_t mode) {
    return openat(directory, path, flags, mode);
}

int cfiles_pipe(int *read_end, int *write_end) {
    int ends[2];
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
#else
    if (pipe(ends) != 0) return -1;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

int cfiles_stream(int *read_end, int *write_end) {
    int ends[2];
#ifdef __linux__
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    int yes = 1;
    (void)setsockopt(ends[1], SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
    (void)shutdown(ends[1], SHUT_RD);
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

ssize_t cfiles_send(int descriptor, const void *bytes, size_t length) {
#ifdef __linux__
    return send(descriptor, bytes, length, MSG_NOSIGNAL);
#else
    return send(descriptor, bytes, length, 0);
#endif
}

static struct flock record_lock(short type, off_t start, off_t length) {
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = length;
    return lock;
}

int cfiles_find_lock(int descriptor, off_t start, off_t length, pid_t *holder) {
    struct flock lock = record_lock(F_WRLCK, start, length);
    if (fcntl(descriptor, F_GETLK, &lock) == -1) return -1;
    if (lock.l_type == F_UNLCK) return 0;
    *holder = lock.l_pid > 0 ? lock.l_pid : 0;
    return 1;
}

int cfiles_lock_shared(int descriptor, off_t start, off_t length) {
    struct flock lock = record_lock(F_RDLCK, start, length);
    return fcntl(descriptor, F_SETLK, &lock);
}

static int set_byte(int descriptor, short type, off_t offset) {
#ifdef F_OFD_SETLK
    struct flock lock = record_lock(type, offset, 1);
    return fcntl(descriptor, F_OFD_SETLK, &lock);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int cfiles_lock_byte(int descriptor, off_t offset) {
    return set_byte(descriptor, F_WRLCK, offset);
}

int cfiles_unlock_byte(int descriptor, off_t offset) {
    return set_byte(descriptor, F_UNLCK, offset);
}

static struct timespec timespec_of(int64_t nanoseconds) {
    int64_t seconds = nanoseconds / 1000000000, rest = nanoseconds % 1000000000;
    if (rest < 0) { seconds -= 1; rest += 1000000000; }
    return (struct timespec){.tv_sec = seconds, .tv_nsec = rest};
}

int cfiles_set_modification_time(int directory, const char *name, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, timespec_of(nanoseconds)};
    return utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
}

int cfiles_set_descriptor_modification_time(int descriptor, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, timespec_of(nanoseconds)};
    return futimens(descriptor, times);
}

void cfiles_limit_arenas(int most) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, most);
#else
    (void)most;
#endif
}

void cfiles_keep_freed(int bytes) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, bytes);
#else
    (void)bytes;
#endif
}

__attribute__((weak)) const char *cfiles_commit(void) { return ""; }

// glibc and dyld call constructors as they call main.
static int argument_count;
static char **arguments;
__attribute__((constructor)) static void keep_arguments(int count, char **all) {
    argument_count = count;
    arguments = all;
}
int cfiles_argument_count(void) { return argument_count; }
const char *cfiles_argument(int index) { return arguments[index]; }
