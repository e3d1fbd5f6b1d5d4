// A file system for SQLite (https://www.sqlite.org/vfs.html) whose only file is bytes that a caller has.
#ifndef CSTORES_H
#define CSTORES_H

#include <stdint.h>

// What the caller does for a database file; all may be called on any thread.
struct cstores_calls {
    // Opens the file with a name: returns what the other calls are given, and the file's size. NULL
    // if there is no such file.
    void *(*open)(const char *name, int64_t *size);
    // Reads so many bytes, all of them within the file: 0, or another number if that failed.
    int (*read)(void *file, void *bytes, int count, int64_t offset);
    // Gives up what open returned.
    void (*close)(void *file);
};

// Registers the file system under a name, until the process ends; once. It opens databases for reading
// only, and informs SQLite that nobody changes them, so that it takes no locks and looks for no journal or
// log. SQLite's temporary files are those of its usual file system. 0, or a result code of SQLite.
int cstores_register(const char *name, struct cstores_calls calls);

// Where in its text SQLite found the last statement's fault, in bytes; -1 if it does not say, as those
// before 3.38 never do.
int cstores_error_offset(void *database);

#endif
