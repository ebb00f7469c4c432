// The driver for libsoup 3: soup_cookie_parse, SoupCookieJar, and SoupCookieJarDB on disk.
#include "driver.h"
#include <libsoup/soup.h>
#include <unistd.h>

static Lines lines, urls;
static GUri **origins;
static SoupCookieJar *jar;
static const char *jar_path;
static long base_kibibytes;

static GUri *parsed_url(const char *url) {
    return g_uri_parse(url, SOUP_HTTP_URI_FLAGS, NULL);
}

// The default policy turns away what a third party sets, which it cannot tell here.
static SoupCookieJar *empty_jar(void) {
    SoupCookieJar *empty = soup_cookie_jar_new();
    soup_cookie_jar_set_accept_policy(empty, SOUP_COOKIE_JAR_ACCEPT_ALWAYS);
    return empty;
}

static void set_cookie(Line line, void *context) {
    GUri *url = parsed_url(line.url);
    soup_cookie_jar_set_cookie(context, url, line.value);
    g_uri_unref(url);
}

static char *header(const char *text) {
    GUri *url = parsed_url(text);
    char *result = soup_cookie_jar_get_cookies(jar, url, TRUE);
    g_uri_unref(url);
    return result;
}

static guint jar_count(void) {
    GSList *cookies = soup_cookie_jar_all_cookies(jar);
    guint count = g_slist_length(cookies);
    g_slist_free_full(cookies, (GDestroyNotify)soup_cookie_free);
    return count;
}

static GUri **parsed_urls(Lines from) {
    GUri **parsed = malloc((from.count + 1) * sizeof *parsed);
    for (size_t index = 0; index < from.count; index++) parsed[index] = parsed_url(from.items[index].url);
    return parsed;
}

static const char *prepare_parse(const char *folder, long size) {
    lines = all_lines(workload_path(folder, "lines", 0, "tsv"));
    origins = parsed_urls(lines);
    return NULL;
}

static void run_parse(void) {
    size_t cookies = 0, octets = 0;
    double start = cpu_seconds();
    for (size_t index = 0; index < lines.count; index++) {
        SoupCookie *cookie = soup_cookie_parse(lines.items[index].value, origins[index]);
        if (!cookie) continue;
        cookies++;
        octets += strlen(soup_cookie_get_name(cookie)) + strlen(soup_cookie_get_value(cookie));
        soup_cookie_free(cookie);
    }
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{\"cookies\":%zu,\"octets\":%zu}}\n", cpu_seconds() - start,
           lines.count, cookies, octets);
}

static const char *prepare_store(const char *folder, long size) {
    lines = all_lines(workload_path(folder, "jar", size, "tsv"));
    return NULL;
}

static void run_store(void) {
    // The last repetition's cookies go before the clock starts.
    if (jar) g_object_unref(jar);
    jar = empty_jar();
    double start = cpu_seconds();
    for (size_t index = 0; index < lines.count; index++) set_cookie(lines.items[index], jar);
    double seconds = cpu_seconds() - start;
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{\"cookies\":%u}}\n", seconds, lines.count, jar_count());
}

static const char *prepare_header(const char *folder, long size) {
    jar = empty_jar();
    each_line(workload_path(folder, "jar", size, "tsv"), set_cookie, jar);
    urls = all_lines(workload_path(folder, "urls", size, "txt"));
    return NULL;
}

static void run_header(void) {
    size_t hits = 0, octets = 0;
    double start = cpu_seconds();
    for (size_t index = 0; index < urls.count; index++) {
        char *text = header(urls.items[index].url);
        if (!text) continue;
        hits++;
        octets += strlen(text);
        g_free(text);
    }
    double seconds = cpu_seconds() - start;
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{\"cookies\":%u,\"hits\":%zu,\"octets\":%zu}}\n", seconds,
           urls.count, jar_count(), hits, octets);
}

// libsoup's jar on disk. Its transactions are one cookie each and never wait for the disk; cookies without a lifetime
// stay in memory.
enum { MOST_IMPORTED = 2000 };
static char *database_path;

static const char *prepare_import(const char *folder, long size) {
    lines = all_lines(workload_path(folder, "jar", size, "tsv"));
    if (lines.count > MOST_IMPORTED) lines.count = MOST_IMPORTED;
    if (asprintf(&database_path, "%s/scratch-libsoup.sqlite", folder) < 0) exit(1);
    return NULL;
}

static void run_import(void) {
    unlink(database_path);
    SoupCookieJar *database = soup_cookie_jar_db_new(database_path, FALSE);
    soup_cookie_jar_set_accept_policy(database, SOUP_COOKIE_JAR_ACCEPT_ALWAYS);
    double start = wall_seconds();
    for (size_t index = 0; index < lines.count; index++) set_cookie(lines.items[index], database);
    double seconds = wall_seconds() - start;
    g_object_unref(database);
    unlink(database_path);
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{}}\n", seconds, lines.count);
}

static const char *prepare_memory(const char *folder, long size) {
    jar_path = workload_path(folder, "jar", size, "tsv");
    base_kibibytes = peak_kibibytes();
    return NULL;
}

static void run_memory(void) {
    jar = empty_jar();
    each_line(jar_path, set_cookie, jar);
    // Counting copies all cookies, so the peak is taken before.
    long peak = peak_kibibytes();
    guint cookies = jar_count();
    printf("{\"operations\":%u,\"facts\":{\"peakKibibytes\":%ld,\"baseKibibytes\":%ld,\"cookies\":%u}}\n", cookies, peak,
           base_kibibytes, cookies);
}

static Lines jar_lines;

static const char *prepare_allocations(const char *folder, long size) {
    lines = all_lines(workload_path(folder, "lines", 0, "tsv"));
    jar_lines = all_lines(workload_path(folder, "jar", size, "tsv"));
    urls = all_lines(workload_path(folder, "urls", size, "txt"));
    return NULL;
}

static void run_allocations(void) {
    GUri **line_urls = parsed_urls(lines), **jar_urls = parsed_urls(jar_lines);
    unsigned long start = allocation_count();
    for (size_t index = 0; index < lines.count; index++) {
        SoupCookie *cookie = soup_cookie_parse(lines.items[index].value, line_urls[index]);
        if (cookie) soup_cookie_free(cookie);
    }
    double parse = (double)(allocation_count() - start) / (double)lines.count;

    start = allocation_count();
    GUri **request_urls = parsed_urls(urls);
    double url = (double)(allocation_count() - start - 1) / (double)urls.count;

    double store[2];
    jar = empty_jar();
    for (int round = 0; round < 2; round++) {
        start = allocation_count();
        for (size_t index = 0; index < jar_lines.count; index++) {
            soup_cookie_jar_set_cookie(jar, jar_urls[index], jar_lines.items[index].value);
        }
        store[round] = (double)(allocation_count() - start) / (double)jar_lines.count;
    }

    unsigned long allocations[2] = {0, 0}, count[2] = {0, 0};
    for (size_t index = 0; index < urls.count; index++) {
        start = allocation_count();
        char *text = soup_cookie_jar_get_cookies(jar, request_urls[index], TRUE);
        unsigned long used = allocation_count() - start;
        allocations[text != NULL] += used;
        count[text != NULL]++;
        g_free(text);
    }
    printf("{\"operations\":%zu,\"facts\":{\"parse\":%.3f,\"URL\":%.3f,\"store new\":%.3f,\"replace\":%.3f,"
           "\"header hit\":%.3f,\"header miss\":%.3f}}\n",
           jar_lines.count, parse, url, store[0], store[1], (double)allocations[1] / (double)(count[1] + !count[1]),
           (double)allocations[0] / (double)(count[0] + !count[0]));
}

int main(int count, char **arguments) {
    static const Subject subjects[] = {
        {"parse", NULL, prepare_parse, run_parse, NULL},
        {"store", NULL, prepare_store, run_store, NULL},
        {"header", NULL, prepare_header, run_header, header},
        {"memory", NULL, prepare_memory, run_memory, NULL},
        {"jar-import", NULL, prepare_import, run_import, NULL},
        {"allocations", NULL, prepare_allocations, run_allocations, NULL},
    };
    char version[32];
    snprintf(version, sizeof version, "%u.%u.%u", soup_get_major_version(), soup_get_minor_version(),
             soup_get_micro_version());
    return serve(count, arguments, "libsoup", version, subjects, sizeof subjects / sizeof *subjects);
}
