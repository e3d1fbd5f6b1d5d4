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

/* Has each connection get the memory of its cache page by page, and not that of twenty pages at once
   (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigpagecache); SQLITE_MISUSE if SQLite
   has begun to work. */
static inline int csqlite_cache_single_pages(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

/* Has the last connection leave the log as it is when it closes
   (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose). */
static inline int csqlite_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* Has SQLite go on with the parts of a schema that it can parse. With a defensive connection this lets nobody write
   the schema (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigwritableschema). */
static inline int csqlite_tolerate_schema(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, (int *)0);
}

/* Has a connection take all in a database for data that anybody may have written
   (https://www.sqlite.org/security.html): its schema calls no function that does more than to compute, nothing
   writes into it past SQLite, no other database is attached, and the cells of a page are checked as it is read.

   A connection that runs the application's triggers lets these write into full-text indexes, which SQLite may call
   unsafe. Before 3.41 it calls its JSON functions so, too, and tables with such columns could not be read. What may
   only be called directly, such as load_extension(), no schema can call in either case.

   A schema may have "texts" in double quotes, as most applications' connections accept them
   (https://www.sqlite.org/quirks.html#dblquote). */
static inline int csqlite_distrust(sqlite3 *database, int runs_triggers) {
    int code;
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10000);
    sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
    code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (!code && !runs_triggers && sqlite3_libversion_number() >= 3041000)
        code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    if (!code) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 1, (int *)0);
    if (!code) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 1, (int *)0);
    if (!code) code = sqlite3_exec(database, "PRAGMA cell_size_check = ON", 0, 0, 0);
    return code;
}

/* How many references are broken that the open transaction has to mend; 0 if none is known
   (https://www.sqlite.org/c3ref/c_dbstatus_options.html#sqlitedbstatusdeferredfks). */
static inline int csqlite_broken_references(sqlite3 *database) {
    int count = 0, most = 0;
    sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &most, 0);
    return count;
}
