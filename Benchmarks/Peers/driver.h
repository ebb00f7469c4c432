// What the C drivers share: the clock, the workload's files, and the conversation with the comparison, which is that of
// Sources/DriverSupport/Driver.swift: one repetition for each "run", "headers FILE" for the headers, answers in JSON.
#ifndef CRUMB_BENCH_DRIVER_H
#define CRUMB_BENCH_DRIVER_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAYBE_UNUSED __attribute__((unused)) static

// CPU seconds of the whole process: what else runs on the machine does not count.
MAYBE_UNUSED double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Seconds by the wall, for work that waits for a disk.
MAYBE_UNUSED double wall_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The most memory that was resident at once.
MAYBE_UNUSED long peak_kibibytes(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long peak = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
    }
    if (file) fclose(file);
    return peak;
}

// The number of allocations so far, counted by allocations.c where that is loaded.
MAYBE_UNUSED unsigned long allocation_count(void) {
    static unsigned long (*count)(void);
    if (!count) *(void **)&count = dlsym(RTLD_DEFAULT, "crumb_bench_allocation_count");
    if (!count) {
        fprintf(stderr, "allocations are counted only with the library of allocations.c preloaded\n");
        exit(1);
    }
    return count();
}

// A line "URL TAB FIELD-VALUE", or a URL alone.
typedef struct {
    char *url;
    char *value;
} Line;

typedef struct {
    Line *items;
    size_t count;
} Lines;

// Runs `body` on each line of a file; its texts are good only during the call.
MAYBE_UNUSED void each_line(const char *path, void (*body)(Line line, void *context), void *context) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&text, &capacity, file)) > 0) {
        if (text[length - 1] == '\n') text[length - 1] = 0;
        char *tab = strchr(text, '\t');
        if (tab) *tab = 0;
        body((Line){text, tab ? tab + 1 : NULL}, context);
    }
    free(text);
    fclose(file);
}

MAYBE_UNUSED void keep_line(Line line, void *context) {
    Lines *lines = context;
    // The capacity is the next power of two.
    if ((lines->count & (lines->count - 1)) == 0) {
        lines->items = realloc(lines->items, (lines->count ? 2 * lines->count : 1) * sizeof *lines->items);
    }
    lines->items[lines->count++] = (Line){strdup(line.url), line.value ? strdup(line.value) : NULL};
}

MAYBE_UNUSED Lines all_lines(const char *path) {
    Lines lines = {NULL, 0};
    each_line(path, keep_line, &lines);
    return lines;
}

// The path of a workload's file; free it.
MAYBE_UNUSED char *workload_path(const char *folder, const char *name, long size, const char *extension) {
    char *path = NULL;
    int length = size ? asprintf(&path, "%s/%s-%ld.%s", folder, name, size, extension)
                      : asprintf(&path, "%s/%s.%s", folder, name, extension);
    if (length < 0) exit(1);
    return path;
}

// A thing to measure. `note` says in what the work differs from that of the others, or is NULL; `prepare` does what is
// not measured and returns why it cannot be done, or NULL; `run` prints one measurement; `header` returns the header
// for a URL, to be freed, or NULL.
typedef struct {
    const char *name;
    const char *note;
    const char *(*prepare)(const char *folder, long size);
    void (*run)(void);
    char *(*header)(const char *url);
} Subject;

MAYBE_UNUSED void answer_headers(const Subject *subject, const char *folder, long size, const char *output) {
    Lines urls = all_lines(workload_path(folder, "urls", size, "txt"));
    FILE *file = fopen(output, "w");
    if (!file) {
        perror(output);
        exit(1);
    }
    for (size_t index = 0; index < urls.count; index++) {
        char *header = subject->header(urls.items[index].url);
        fprintf(file, "%s\n", header ? header : "");
        free(header);
    }
    fclose(file);
    printf("{\"headers\":%zu}\n", urls.count);
}

// The main function of a driver: DRIVER SUBJECT FOLDER SIZE.
MAYBE_UNUSED int serve(
    int count, char **arguments, const char *peer, const char *version, const Subject *subjects, size_t subject_count) {
    if (count != 4) {
        fprintf(stderr, "usage: %s SUBJECT FOLDER JAR-SIZE\n", arguments[0]);
        return 1;
    }
    const char *folder = arguments[2];
    long size = atol(arguments[3]);
    for (size_t index = 0; index < subject_count; index++) {
        const Subject *subject = &subjects[index];
        if (strcmp(subject->name, arguments[1])) continue;
        const char *refusal = subject->prepare(folder, size);
        printf("{\"peer\":\"%s\",\"version\":\"%s\"", peer, version);
        if (subject->note) printf(",\"note\":\"%s\"", subject->note);
        if (refusal) printf(",\"skipped\":\"%s\"", refusal);
        printf("}\n");
        fflush(stdout);
        char command[4096];
        while (!refusal && fgets(command, sizeof command, stdin)) {
            command[strcspn(command, "\n")] = 0;
            if (!strncmp(command, "headers ", 8)) answer_headers(subject, folder, size, command + 8);
            else subject->run();
            fflush(stdout);
        }
        return 0;
    }
    printf("{\"peer\":\"%s\",\"version\":\"%s\",\"skipped\":\"has nothing to measure there\"}\n", peer, version);
    return 0;
}
#endif
