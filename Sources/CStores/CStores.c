#include "CStores.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static struct cstores_calls calls;
static sqlite3_vfs vfs;

// A database file; a temporary file is one of the usual file system in the same space.
struct file {
    sqlite3_file base;
    void *context;
    int64_t size;
};

static sqlite3_vfs *usual(void) { return vfs.pAppData; }

static int close_file(sqlite3_file *base) {
    calls.close(((struct file *)base)->context);
    return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    struct file *file = (struct file *)base;
    int64_t left = offset < file->size ? file->size - offset : 0;
    int there = left < count ? (int)left : count;
    if (there > 0 && calls.read(file->context, bytes, there, offset) != 0) {
        return SQLITE_IOERR_READ;
    }
    if (there == count) return SQLITE_OK;
    // SQLite wants zeros behind the end.
    memset((char *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int refuse_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    (void)file, (void)bytes, (void)count, (void)offset;
    return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((struct file *)base)->size;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *result) {
    (void)file;
    *result = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int operation, void *argument) {
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = refuse_write,
    .xTruncate = refuse_truncate,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *base, int flags, int *given) {
    (void)self;
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return usual()->xOpen(usual(), name, base, flags, given);
    struct file *file = (struct file *)base;
    file->base.pMethods = NULL;
    file->context = name ? calls.open(name, &file->size) : NULL;
    if (!file->context) return SQLITE_CANTOPEN;
    file->base.pMethods = &methods;
    if (given) *given = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *self, const char *name, int syncs) {
    (void)self;
    return usual()->xDelete(usual(), name, syncs);
}

static int access_file(sqlite3_vfs *self, const char *name, int flags, int *result) {
    (void)self, (void)name, (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int full_name(sqlite3_vfs *self, const char *name, int count, char *result) {
    (void)self;
    size_t length = strlen(name);
    if (length >= (size_t)count) return SQLITE_CANTOPEN;
    memcpy(result, name, length + 1);
    return SQLITE_OK;
}

static void *load(sqlite3_vfs *self, const char *name) {
    (void)self, (void)name;
    return NULL;
}

static void load_error(sqlite3_vfs *self, int count, char *message) {
    (void)self;
    sqlite3_snprintf(count, message, "no extensions are loaded");
}

static void (*symbol(sqlite3_vfs *self, void *library, const char *name))(void) {
    (void)self, (void)library, (void)name;
    return NULL;
}

static void unload(sqlite3_vfs *self, void *library) { (void)self, (void)library; }

static int randomness(sqlite3_vfs *self, int count, char *bytes) {
    (void)self;
    return usual()->xRandomness(usual(), count, bytes);
}

static int sleep_for(sqlite3_vfs *self, int microseconds) {
    (void)self;
    return usual()->xSleep(usual(), microseconds);
}

static int current_time(sqlite3_vfs *self, double *days) {
    (void)self;
    return usual()->xCurrentTime(usual(), days);
}

static int last_error(sqlite3_vfs *self, int count, char *message) {
    (void)self, (void)count, (void)message;
    return 0;
}

int cstores_register(const char *name, struct cstores_calls given) {
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    sqlite3_vfs *other = sqlite3_vfs_find(NULL);
    if (!other) return SQLITE_ERROR;
    calls = given;
    vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = other->szOsFile > (int)sizeof(struct file) ? other->szOsFile : (int)sizeof(struct file),
        .mxPathname = other->mxPathname,
        .zName = name,
        .pAppData = other,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_name,
        .xDlOpen = load,
        .xDlError = load_error,
        .xDlSym = symbol,
        .xDlClose = unload,
        .xRandomness = randomness,
        .xSleep = sleep_for,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
    };
    return sqlite3_vfs_register(&vfs, 0);
}

int cstores_error_offset(void *database) {
#if SQLITE_VERSION_NUMBER >= 3038000
    return sqlite3_error_offset(database);
#else
    (void)database;
    return -1;
#endif
}
