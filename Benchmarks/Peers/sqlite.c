// The driver for bare SQLite: what C can do on the same table without any cookie logic. Its rows are those that Crumb
// stored, sealed values included, read beforehand; they go into a table of the same definition.
//
// As `sqlite header DATABASE SITE URL` it is the program that `crumb header` is compared with.
#include "driver.h"
#include <sqlite3.h>
#include <unistd.h>

// A sealed value without its form, key id and nonce in front, and without the tag at its end, is as long as the value.
enum { COLUMNS = 18, SEALED_FRONT = 17, SEALED_BACK = 16, MOST_COOKIES = 256, TRANSACTIONS_OF_THE_DISK = 200 };

typedef struct {
    int type, length;
    sqlite3_int64 number;
    char *octets;
} Cell;

typedef struct {
    Cell cells[COLUMNS];
} Row;

static Row *rows;
static size_t row_count;
static Lines requests;
static char *definition, *source_path, *scratch_path;
static sqlite3 *connection;

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(connection));
    exit(1);
}

static sqlite3_stmt *prepared(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void run_once(sqlite3_stmt *statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
}

static char *copied(const void *octets, int length) {
    char *copy = malloc((size_t)length + 1);
    if (length) memcpy(copy, octets, (size_t)length);
    copy[length] = 0;
    return copy;
}

static void close_connection(void) {
    check(sqlite3_close(connection));
    connection = NULL;
}

// Reads the rows and the table's definition out of Crumb's database.
static const char *prepare_rows(const char *folder, long size) {
    source_path = workload_path(folder, "database", size, "sqlite");
    if (access(source_path, R_OK)) return "has no database of Crumb's to take rows from";
    if (asprintf(&scratch_path, "%s/scratch-rows.sqlite", folder) < 0) exit(1);
    check(sqlite3_open_v2(source_path, &connection, SQLITE_OPEN_READWRITE, NULL));
    sqlite3_stmt *statement = prepared("SELECT sql FROM sqlite_schema WHERE name = 'cookie'");
    check(sqlite3_step(statement));
    definition = copied(sqlite3_column_text(statement, 0), sqlite3_column_bytes(statement, 0));
    sqlite3_finalize(statement);
    statement = prepared("SELECT * FROM cookie ORDER BY sequence");
    if (sqlite3_column_count(statement) != COLUMNS) return "knows another table of cookies";
    rows = malloc((size_t)size * sizeof *rows);
    for (; (long)row_count < size && sqlite3_step(statement) == SQLITE_ROW; row_count++) {
        for (int column = 0; column < COLUMNS; column++) {
            Cell *cell = &rows[row_count].cells[column];
            cell->type = sqlite3_column_type(statement, column);
            cell->number = sqlite3_column_int64(statement, column);
            if (cell->type != SQLITE_TEXT && cell->type != SQLITE_BLOB) continue;
            const void *octets = sqlite3_column_blob(statement, column);
            cell->length = sqlite3_column_bytes(statement, column);
            cell->octets = copied(octets, cell->length);
        }
    }
    sqlite3_finalize(statement);
    close_connection();
    return NULL;
}

static void remove_scratch(void) {
    const char *suffixes[] = {"", "-wal", "-shm"};
    for (int index = 0; index < 3; index++) {
        char *path;
        if (asprintf(&path, "%s%s", scratch_path, suffixes[index]) < 0) exit(1);
        unlink(path);
        free(path);
    }
}

static void open_empty(const char *synchronous) {
    remove_scratch();
    check(sqlite3_open(scratch_path, &connection));
    char pragmas[100];
    snprintf(pragmas, sizeof pragmas, "PRAGMA journal_mode = WAL; PRAGMA synchronous = %s", synchronous);
    check(sqlite3_exec(connection, pragmas, NULL, NULL, NULL));
    check(sqlite3_exec(connection, definition, NULL, NULL, NULL));
}

static sqlite3_stmt *prepared_upsert(void) {
    return prepared(
        "INSERT INTO cookie VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        "ON CONFLICT (jar_id, site, domain, path, name, host_only, partition_key) DO UPDATE SET value = excluded.value,"
        "secure = excluded.secure, http_only = excluded.http_only, same_site = excluded.same_site,"
        "expires_at = excluded.expires_at, created_at = excluded.created_at, sequence = excluded.sequence,"
        "last_access_at = excluded.last_access_at, capture_id = excluded.capture_id, source_url = excluded.source_url,"
        "received_at = excluded.received_at");
}

static void upsert(sqlite3_stmt *statement, const Row *row) {
    for (int column = 0; column < COLUMNS; column++) {
        const Cell *cell = &row->cells[column];
        switch (cell->type) {
        case SQLITE_INTEGER: sqlite3_bind_int64(statement, column + 1, cell->number); break;
        case SQLITE_TEXT: sqlite3_bind_text(statement, column + 1, cell->octets, cell->length, SQLITE_STATIC); break;
        case SQLITE_BLOB: sqlite3_bind_blob(statement, column + 1, cell->octets, cell->length, SQLITE_STATIC); break;
        default: sqlite3_bind_null(statement, column + 1);
        }
    }
    run_once(statement);
}

// Inserts `count` rows into an empty table, `each` in a transaction.
static void measure(size_t count, size_t each, const char *synchronous, double (*clock)(void)) {
    open_empty(synchronous);
    sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *commit = prepared("COMMIT"), *insert = prepared_upsert();
    double start = clock();
    for (size_t index = 0; index < count;) {
        run_once(begin);
        for (size_t end = index + each; index < end && index < count; index++) upsert(insert, &rows[index]);
        run_once(commit);
    }
    double seconds = clock() - start;
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(insert);
    close_connection();
    remove_scratch();
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{}}\n", seconds, count);
}

static void run_import(void) {
    measure(row_count, row_count, "NORMAL", wall_seconds);
}

static void run_transactions(void) {
    measure(row_count, 1, "NORMAL", cpu_seconds);
}

// One thread and one row a transaction: as many as there is patience for, since each waits for the disk.
static void run_full(void) {
    measure(row_count < TRANSACTIONS_OF_THE_DISK ? row_count : TRANSACTIONS_OF_THE_DISK, 1, "FULL", wall_seconds);
}

typedef struct {
    int path_length, name_length, value_length;
    sqlite3_int64 created, sequence;
    char *name, *value;
} Found;

static int is_before(const Found *left, const Found *right) {
    if (left->path_length != right->path_length) return left->path_length > right->path_length;
    if (left->created != right->created) return left->created < right->created;
    return left->sequence < right->sequence;
}

static int domain_matches(const char *host, int host_length, const char *domain, int length, int host_only) {
    int more = host_length - length;
    if (more < 0 || memcmp(host + more, domain, (size_t)length)) return 0;
    return more == 0 || (!host_only && host[more - 1] == '.');
}

static int path_matches(const char *path, int path_length, const char *prefix, int length) {
    if (path_length < length || memcmp(path, prefix, (size_t)length)) return 0;
    return path_length == length || prefix[length - 1] == '/' || path[length] == '/';
}

// Appends to `output`, which is long enough, what a request to the URL carries; returns its length.
static size_t look_up(sqlite3_stmt *select, const char *site, const char *url, sqlite3_int64 now, char *output) {
    static Found found[MOST_COOKIES];
    static char octets[1 << 20];
    int count = 0, is_secure = !strncmp(url, "https:", 6);
    const char *host = url + (is_secure ? 8 : 7), *path = strchr(host, '/');
    int host_length = (int)(path - host), path_length = (int)strcspn(path, "?");
    char *free_octets = octets, *end = output;
    sqlite3_bind_blob(select, 1, site, (int)strlen(site), SQLITE_STATIC);
    while (sqlite3_step(select) == SQLITE_ROW && count < MOST_COOKIES) {
        int length = sqlite3_column_bytes(select, 1);
        if (!domain_matches(host, host_length, sqlite3_column_blob(select, 0), sqlite3_column_bytes(select, 0),
                            sqlite3_column_int(select, 3)) ||
            !path_matches(path, path_length, sqlite3_column_blob(select, 1), length) ||
            (sqlite3_column_int(select, 5) && !is_secure) ||
            (sqlite3_column_type(select, 6) != SQLITE_NULL && sqlite3_column_int64(select, 6) < now)) {
            continue;
        }
        Found cookie = {length, sqlite3_column_bytes(select, 2), sqlite3_column_bytes(select, 4), 0, 0, NULL, NULL};
        cookie.created = sqlite3_column_int64(select, 7);
        cookie.sequence = sqlite3_column_int64(select, 8);
        cookie.name = memcpy(free_octets, sqlite3_column_blob(select, 2), (size_t)cookie.name_length);
        free_octets += cookie.name_length;
        cookie.value = memcpy(free_octets, sqlite3_column_blob(select, 4), (size_t)cookie.value_length);
        free_octets += cookie.value_length;
        int place = count++;
        for (; place > 0 && is_before(&cookie, &found[place - 1]); place--) found[place] = found[place - 1];
        found[place] = cookie;
    }
    check(sqlite3_reset(select));
    for (int index = 0; index < count; index++) {
        if (index) end = mempcpy(end, "; ", 2);
        end = mempcpy(end, found[index].name, (size_t)found[index].name_length);
        *end++ = '=';
        end = mempcpy(end, found[index].value + SEALED_FRONT,
                      (size_t)(found[index].value_length - SEALED_FRONT - SEALED_BACK));
    }
    return (size_t)(end - output);
}

static sqlite3_stmt *prepared_select(void) {
    return prepared(
        "SELECT domain, path, name, host_only, value, secure, expires_at, created_at, sequence FROM cookie "
        "WHERE jar_id = 1 AND site = ?");
}

static sqlite3_int64 present(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (sqlite3_int64)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static const char *prepare_first(const char *folder, long size) {
    source_path = workload_path(folder, "database", size, "sqlite");
    if (access(source_path, R_OK)) return "has no database of Crumb's to look into";
    requests = all_lines(workload_path(folder, "first", size, "tsv"));
    return NULL;
}

static void run_first(void) {
    static char output[1 << 20];
    size_t hits = 0, octets = 0;
    check(sqlite3_open_v2(source_path, &connection, SQLITE_OPEN_READWRITE, NULL));
    double start = cpu_seconds();
    sqlite3_stmt *select = prepared_select();
    for (size_t index = 0; index < requests.count; index++) {
        size_t length = look_up(select, requests.items[index].value, requests.items[index].url, present(), output);
        hits += length > 0;
        octets += length;
    }
    double seconds = cpu_seconds() - start;
    sqlite3_finalize(select);
    close_connection();
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{\"hits\":%zu,\"octets\":%zu}}\n", seconds, requests.count,
           hits, octets);
}

static int print_header(const char *path, const char *site, const char *url) {
    static char output[1 << 20];
    check(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL));
    size_t length = look_up(prepared_select(), site, url, present(), output);
    fputs("Cookie: ", stdout);
    fwrite(output, 1, length, stdout);
    fputs("\n", stdout);
    fflush(stdout);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 5 && !strcmp(arguments[1], "header")) return print_header(arguments[2], arguments[3], arguments[4]);
    static const Subject subjects[] = {
        {"jar-import", NULL, prepare_rows, run_import, NULL},
        {"jar-transactions", NULL, prepare_rows, run_transactions, NULL},
        {"jar-full", NULL, prepare_rows, run_full, NULL},
        {"jar-header-first", NULL, prepare_first, run_first, NULL},
    };
    return serve(count, arguments, "SQLite", sqlite3_libversion(), subjects, sizeof subjects / sizeof *subjects);
}
