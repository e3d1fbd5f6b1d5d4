#include <sqlite3.h>

/* The methods of SQLite's own handle of a file (https://www.sqlite.org/c3ref/io_methods.html), as
   functions: GRDB brings a module of its own for the same header, and Swift takes the members of a
   structure from one of the two only. */

static inline int csqlite_is_open(const sqlite3_file *file) { return file->pMethods != 0; }

static inline int csqlite_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return file->pMethods->xRead ? file->pMethods->xRead(file, bytes, count, offset) : SQLITE_IOERR;
}

static inline int csqlite_size(sqlite3_file *file, sqlite3_int64 *size) {
    return file->pMethods->xFileSize ? file->pMethods->xFileSize(file, size) : SQLITE_IOERR;
}

/* Maps the first region of the shared index, if there is one; never makes it longer. */
static inline int csqlite_map_index(sqlite3_file *file, int length, void **region) {
    void volatile *mapped = 0;
    int code;
    if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return SQLITE_IOERR;
    code = file->pMethods->xShmMap(file, 0, length, 0, &mapped);
    if (mapped && file->pMethods->xShmBarrier) file->pMethods->xShmBarrier(file);
    *region = (void *)mapped;
    return code;
}

/* Swift calls no function of variable arguments: turns triggers on or off
   (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenabletrigger). */
static inline int csqlite_enable_triggers(sqlite3 *database, int enabled) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled, (int *)0);
}

/* Has the last connection leave the log as it is when it closes
   (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose). */
static inline int csqlite_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* How many references are broken that the open transaction has to mend; 0 if none is known
   (https://www.sqlite.org/c3ref/c_dbstatus_options.html#sqlitedbstatusdeferredfks). */
static inline int csqlite_broken_references(sqlite3 *database) {
    int count = 0, most = 0;
    sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &most, 0);
    return count;
}
