#include <sqlite3.h>

// sqlite3_db_config() is variadic, and Swift does not import such functions.
static inline void crumb_reject_double_quoted_strings(sqlite3 *connection) {
#ifdef SQLITE_DBCONFIG_DQS_DDL
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0);
#endif
}
