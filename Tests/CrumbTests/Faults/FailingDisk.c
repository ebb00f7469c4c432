/* Stands before the C library of a program (LD_PRELOAD) and has the Nth change to files below a folder fail.
 *
 * FAULT_FOLDER  the folder
 * FAULT_AT      which change fails, counted from 1
 * FAULT_ERROR   with which errno; 0 kills the process instead, where it is a write after half of it was written
 * FAULT_STAYS   1 where every later change fails too
 * FAULT_MARK    a file that is made when it comes to the Nth change
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long changes;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int is_below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_ours(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* 1 where this change is to fail, with errno set. */
static int fails(void) {
    long at = number("FAULT_AT"), now = atomic_fetch_add(&changes, 1) + 1;
    if (now == at) {
        const char *mark = getenv("FAULT_MARK");
        int made = mark ? open(mark, O_WRONLY | O_CREAT, 0600) : -1;
        if (made >= 0) close(made);
    }
    if (now != at && !(now > at && number("FAULT_STAYS"))) return 0;
    errno = (int)number("FAULT_ERROR");
    return 1;
}

/* What a change that fails comes to. */
static int failure(void) {
    if (errno == 0) kill(getpid(), SIGKILL);
    return -1;
}

#define NEXT(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
    ssize_t (*next)(int, const void *, size_t) = NEXT(ssize_t, "write", int, const void *, size_t);
    if (!is_ours(descriptor) || !fails()) return next(descriptor, bytes, count);
    if (errno == 0) {
        next(descriptor, bytes, count / 2);
        errno = 0;
    }
    return failure();
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t place) {
    ssize_t (*next)(int, const void *, size_t, off64_t) =
        NEXT(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    if (!is_ours(descriptor) || !fails()) return next(descriptor, bytes, count, place);
    if (errno == 0) {
        next(descriptor, bytes, count / 2, place);
        errno = 0;
    }
    return failure();
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
    return pwrite64(descriptor, bytes, count, place);
}

int ftruncate64(int descriptor, off64_t size) {
    if (is_ours(descriptor) && fails()) return failure();
    return NEXT(int, "ftruncate64", int, off64_t)(descriptor, size);
}

int ftruncate(int descriptor, off_t size) {
    return ftruncate64(descriptor, size);
}

int fsync(int descriptor) {
    if (is_ours(descriptor) && fails()) return failure();
    return NEXT(int, "fsync", int)(descriptor);
}

int fdatasync(int descriptor) {
    if (is_ours(descriptor) && fails()) return failure();
    return NEXT(int, "fdatasync", int)(descriptor);
}

int unlink(const char *path) {
    if (is_below(path) && fails()) return failure();
    return NEXT(int, "unlink", const char *)(path);
}
