// The driver for libcurl's cookie engine. It has no call that gives a header: one exists only within a transfer. So a
// header is what a transfer with cookies costs more than the same transfer without, over a connection that this process
// answers itself; only http URLs, since others would measure TLS.
#include "driver.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static Lines lines, urls;
static char **netscape_lines;
static CURL *with_cookies, *without_cookies;
static const char *jar_path;
static long base_kibibytes;

// What the last request carried.
static char sent_cookies[1 << 16];
static size_t sent_length;

static const char *quadratic = "walks its cookies for each one set";

// A Netscape line says "host-only", which libcurl does not take from a Set-Cookie line outside of a transfer.
static char *netscape_line(Line line) {
    char host[256], *rest = strdup(line.value), *state = NULL, *result = NULL;
    const char *start = strstr(line.url, "://") + 3;
    snprintf(host, sizeof host, "%.*s", (int)strcspn(start, "/"), start);
    char *pair = strtok_r(rest, ";", &state), *equals = strchr(pair, '=');
    const char *domain = host, *path = "/";
    int is_secure = 0, is_http_only = 0, has_domain = 0;
    long expiry = 0;
    *equals = 0;
    for (char *attribute; (attribute = strtok_r(NULL, ";", &state));) {
        attribute += strspn(attribute, " ");
        if (!strncmp(attribute, "Domain=", 7)) {
            has_domain = 1;
            domain = attribute + 7 + (attribute[7] == '.');
        } else if (!strncmp(attribute, "Path=", 5)) path = attribute + 5;
        else if (!strcmp(attribute, "Secure")) is_secure = 1;
        else if (!strcmp(attribute, "HttpOnly")) is_http_only = 1;
        else if (!strncmp(attribute, "Expires=", 8) || !strncmp(attribute, "Max-Age=", 8)) expiry = 1900000000;
    }
    if (asprintf(&result, "%s%s%s\t%s\t%s\t%s\t%ld\t%s\t%s", is_http_only ? "#HttpOnly_" : "", has_domain ? "." : "",
                 domain, has_domain ? "TRUE" : "FALSE", path, is_secure ? "TRUE" : "FALSE", expiry, pair,
                 equals + 1) < 0) {
        exit(1);
    }
    free(rest);
    return result;
}

static void set_cookie(Line line, void *context) {
    char *text = netscape_line(line);
    curl_easy_setopt(context, CURLOPT_COOKIELIST, text);
    free(text);
}

// Where the handles connect to; nothing waits in accept, so a connection stands before it is taken.
static int listener;
static char proxy[64];

static void listen_on_loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        perror("libcurl: loopback");
        exit(1);
    }
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", ntohs(address.sin_port));
}

// Called with the request once it is sent: notes its cookies, takes it off the connection and answers it.
static int answer_request(CURL *handle, curl_infotype type, char *data, size_t size, void *other_end) {
    static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n", field[] = "\r\nCookie: ";
    static char request[1 << 17];
    if (type != CURLINFO_HEADER_OUT) return 0;
    char *found = memmem(data, size, field, sizeof field - 1);
    sent_length = 0;
    if (found) {
        found += sizeof field - 1;
        sent_length = (size_t)((char *)memchr(found, '\r', (size_t)(data + size - found)) - found);
        memcpy(sent_cookies, found, sent_length);
    }
    int *end = other_end;
    if (*end < 0) *end = accept(listener, NULL, NULL);
    if (read(*end, request, sizeof request) <= 0 || write(*end, answer, sizeof answer - 1) <= 0) exit(1);
    return 0;
}

static CURL *new_handle(void) {
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_COOKIEFILE, "");
    return handle;
}

// Through a proxy, all hosts share one connection, which is kept however long the other drivers take.
static void prepare_transfers(CURL *handle) {
    int *other_end = malloc(sizeof *other_end);
    *other_end = -1;
    curl_easy_setopt(handle, CURLOPT_PROXY, proxy);
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "");
    curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, 86400L);
    curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, answer_request);
    curl_easy_setopt(handle, CURLOPT_DEBUGDATA, other_end);
}

static int is_http(const char *url) {
    return !strncmp(url, "http:", 5);
}

static void request(CURL *handle, const char *url) {
    curl_easy_setopt(handle, CURLOPT_URL, url);
    CURLcode code = curl_easy_perform(handle);
    if (code) {
        fprintf(stderr, "%s: %s\n", url, curl_easy_strerror(code));
        exit(1);
    }
}

static char *header(const char *url) {
    if (!is_http(url)) return strdup("-");
    request(with_cookies, url);
    return strndup(sent_cookies, sent_length);
}

static const char *prepare_parse(const char *folder, long size) {
    lines = all_lines(workload_path(folder, "lines", 0, "tsv"));
    for (size_t index = 0; index < lines.count; index++) {
        char *field = NULL;
        if (asprintf(&field, "Set-Cookie: %s", lines.items[index].value) < 0) exit(1);
        lines.items[index].value = field;
    }
    return NULL;
}

static void run_parse(void) {
    CURL *handle = NULL;
    double start = cpu_seconds();
    for (size_t index = 0; index < lines.count; index++) {
        // libcurl takes 50 cookies from one response, which is what a handle counts as here.
        if (index % 50 == 0) {
            if (handle) curl_easy_cleanup(handle);
            handle = curl_easy_init();
        }
        curl_easy_setopt(handle, CURLOPT_COOKIELIST, lines.items[index].value);
    }
    curl_easy_cleanup(handle);
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{}}\n", cpu_seconds() - start, lines.count);
}

static const char *prepare_store(const char *folder, long size) {
    if (size > 100000) return quadratic;
    lines = all_lines(workload_path(folder, "jar", size, "tsv"));
    netscape_lines = malloc((lines.count + 1) * sizeof *netscape_lines);
    for (size_t index = 0; index < lines.count; index++) netscape_lines[index] = netscape_line(lines.items[index]);
    return NULL;
}

static void run_store(void) {
    if (with_cookies) curl_easy_cleanup(with_cookies);
    with_cookies = new_handle();
    double start = cpu_seconds();
    for (size_t index = 0; index < lines.count; index++) {
        curl_easy_setopt(with_cookies, CURLOPT_COOKIELIST, netscape_lines[index]);
    }
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{}}\n", cpu_seconds() - start, lines.count);
}

static const char *prepare_header(const char *folder, long size) {
    if (size > 100000) return quadratic;
    with_cookies = new_handle();
    without_cookies = curl_easy_init();
    each_line(workload_path(folder, "jar", size, "tsv"), set_cookie, with_cookies);
    listen_on_loopback();
    prepare_transfers(with_cookies);
    prepare_transfers(without_cookies);
    urls = all_lines(workload_path(folder, "urls", size, "txt"));
    return NULL;
}

static double transfers(CURL *handle, size_t *count) {
    double start = cpu_seconds();
    // Slow enough that a part of them says all.
    for (size_t index = 0; index < urls.count && *count < 5000; index++) {
        if (!is_http(urls.items[index].url)) continue;
        request(handle, urls.items[index].url);
        ++*count;
    }
    return cpu_seconds() - start;
}

static void run_header(void) {
    size_t count = 0, others = 0;
    double seconds = transfers(with_cookies, &count) - transfers(without_cookies, &others);
    printf("{\"seconds\":%.9f,\"operations\":%zu,\"facts\":{}}\n", seconds, count);
}

static const char *prepare_memory(const char *folder, long size) {
    if (size > 100000) return quadratic;
    jar_path = workload_path(folder, "jar", size, "tsv");
    base_kibibytes = peak_kibibytes();
    return NULL;
}

static void run_memory(void) {
    with_cookies = new_handle();
    each_line(jar_path, set_cookie, with_cookies);
    printf("{\"operations\":1,\"facts\":{\"peakKibibytes\":%ld,\"baseKibibytes\":%ld}}\n", peak_kibibytes(),
           base_kibibytes);
}

// An HTTP request to this machine and its answer, a connection for each: what a page's own requests cost at least.
enum { LOOPBACK_REQUESTS = 200 };
static CURL *requester;

static void *answer_connections(void *context) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    char request[4096];
    (void)context;
    for (int connection; (connection = accept(listener, NULL, NULL)) >= 0; close(connection)) {
        if (read(connection, request, sizeof request) > 0 && write(connection, answer, sizeof answer - 1) < 0) break;
    }
    return NULL;
}

static size_t ignore_body(char *data, size_t size, size_t count, void *context) {
    (void)data, (void)context;
    return size * count;
}

static const char *prepare_loopback(const char *folder, long size) {
    pthread_t thread;
    (void)folder, (void)size;
    listen_on_loopback();
    if (pthread_create(&thread, NULL, answer_connections, NULL)) return "cannot start a thread";
    requester = curl_easy_init();
    curl_easy_setopt(requester, CURLOPT_URL, proxy);
    curl_easy_setopt(requester, CURLOPT_PROXY, "");
    curl_easy_setopt(requester, CURLOPT_WRITEFUNCTION, ignore_body);
    return curl_easy_perform(requester) == CURLE_OK ? NULL : "cannot connect to this machine";
}

static void run_loopback(void) {
    double start = wall_seconds();
    for (int index = 0; index < LOOPBACK_REQUESTS; index++) {
        if (curl_easy_perform(requester) != CURLE_OK) exit(1);
    }
    printf("{\"seconds\":%.9f,\"operations\":%d,\"facts\":{}}\n", wall_seconds() - start, LOOPBACK_REQUESTS);
}

int main(int count, char **arguments) {
    static const Subject subjects[] = {
        {"parse", "keeps what it parses and frees it again", prepare_parse, run_parse, NULL},
        {"store", "takes Netscape lines", prepare_store, run_store, NULL},
        {"header", "the difference of two transfers, http only", prepare_header, run_header, header},
        {"memory", NULL, prepare_memory, run_memory, NULL},
        {"loopback-request", NULL, prepare_loopback, run_loopback, NULL},
    };
    curl_global_init(CURL_GLOBAL_ALL);
    return serve(count, arguments, "libcurl", curl_version_info(CURLVERSION_NOW)->version, subjects,
                 sizeof subjects / sizeof *subjects);
}
