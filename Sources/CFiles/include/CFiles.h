// The few C functions that Swift's C library modules hide or cannot import.
#ifndef CFILES_H
#define CFILES_H

#include <stdint.h>
#include <sys/types.h>

// Renames without ever replacing, each path below a directory (or AT_FDCWD): RENAME_NOREPLACE (renameat2(2)),
// RENAME_EXCL on macOS. -1 and errno; EINVAL or ENOSYS if the file system or kernel cannot.
int cfiles_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

// rename(2), under a name that no method hides.
int cfiles_rename(const char *from, const char *to);

// Exchanges two names in one step: RENAME_EXCHANGE (renameat2(2)), RENAME_SWAP on macOS.
int cfiles_rename_exchange(const char *a, const char *b);

// Asks the kernel to begin writing a range of a file to the disk; waits for nothing and
// promises nothing (sync_file_range(2)). Does nothing if there is no such call.
void cfiles_begin_writeback(int descriptor, off_t offset, off_t length);

// Waits until a range of a file is on its way to the disk, and gives up its pages in memory, which
// nobody will read soon (sync_file_range(2), posix_fadvise(2)). Does nothing if there is no such call.
void cfiles_finish_writeback(int descriptor, off_t offset, off_t length);

// Of what writes that go round the page cache must be multiples in address, offset and length.
#define CFILES_UNCACHED_BLOCK 4096

// Lets writes go round the page cache, or not: O_DIRECT on file systems that are known to do it well
// and say that such blocks will do (statx(2), STATX_DIOALIGN, Linux 6.1); F_NOCACHE on macOS.
// 0, or -1 if it is not to be had.
int cfiles_set_uncached(int descriptor, int uncached);

// Finds the first data of a file from an offset on (SEEK_DATA and SEEK_HOLE of lseek(2)); an empty range at the end of
// the file if there is none. Where holes are not known for sure, all is data. 0, or -1 and errno.
int cfiles_find_data(int descriptor, off_t offset, off_t *start, off_t *end);

// Flushes a file to the disk itself: fsync(2), F_FULLFSYNC on macOS.
int cfiles_sync(int descriptor);

// Flushes the whole file system that a file is on (syncfs(2)); -1 with ENOSYS if there is no
// call that waits for it.
int cfiles_sync_file_system(int descriptor);

// The bytes that an unprivileged process may still write to the file system, or -1 and errno.
int64_t cfiles_available_space(int descriptor);

// Whether a path below a directory (or AT_FDCWD), not following a link, is where something is mounted, be it a directory of the same
// file system (statx(2), STATX_ATTR_MOUNT_ROOT): 1 or 0; -1 and errno, ENOSYS if the system
// does not report it.
int cfiles_is_mount_point(int directory, const char *path);

// When a file was made, not following a link (statx(2), STATX_BTIME): nanoseconds since the epoch;
// 0 if the file system does not report it; -1 and errno.
int64_t cfiles_birth_time(const char *path);

// The most arenas out of which threads get memory (mallopt(3)); does nothing where there are none.
void cfiles_limit_arenas(int most);

// Has the C library keep freed memory up to so many bytes an arena (mallopt(3), M_TRIM_THRESHOLD).
void cfiles_keep_freed(int bytes);

// openat(2), which is variadic.
int cfiles_openat(int directory, const char *path, int flags, mode_t mode);

// A pipe whose ends no other program inherits (pipe2(2)): 0, or -1 and errno.
int cfiles_pipe(int *read_end, int *write_end);

// A stream (socketpair(2)) whose ends no other program inherits: 0, or -1 and errno.
int cfiles_stream(int *read_end, int *write_end);

// Sends bytes into a stream, and no SIGPIPE if nobody reads it (send(2)).
ssize_t cfiles_send(int descriptor, const void *bytes, size_t length);

// Whether another process has a record lock (fcntl(2)) in the range: 1, and its id if the
// system reports it, or else 0; 0 if there is none; -1 and errno.
int cfiles_find_lock(int descriptor, off_t start, off_t length, pid_t *holder);

// Takes a shared record lock of the range without waiting: 0, or -1 and errno.
int cfiles_lock_shared(int descriptor, off_t start, off_t length);

// Takes a lock of one byte that belongs to the open file (F_OFD_SETLK of fcntl(2)), without waiting,
// or gives it up: 0, or -1 and errno, ENOSYS if the system has no such lock.
int cfiles_lock_byte(int descriptor, off_t offset);
int cfiles_unlock_byte(int descriptor, off_t offset);

// Sets a file's modification time, nanoseconds since the epoch, not following a link.
int cfiles_set_modification_time(int directory, const char *name, int64_t nanoseconds);
int cfiles_set_descriptor_modification_time(int descriptor, int64_t nanoseconds);

// The arguments with which the program was started, by the C library: Swift reads them from /proc, which may be missing.
int cfiles_argument_count(void);
const char *cfiles_argument(int index);

// The commit that the program was built from; empty if the build did not say: see COMMIT in the Makefile.
const char *cfiles_commit(void);

#endif
