#define _GNU_SOURCE
// The names of both interposed variants must stay apart: no large-file aliases.
#undef _FILE_OFFSET_BITS
#include "PowerLoss.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -1;
static char folders[4096];
static long stop_at = -1;
static long records = 0;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("POWERLOSS_LOG"), *watched = getenv("POWERLOSS_FOLDERS"), *stop = getenv("POWERLOSS_STOP_AT");
    if (!path || !watched || strlen(watched) >= sizeof folders) return;
    strcpy(folders, watched);
    if (stop) stop_at = atol(stop);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    // Out of the way of programs that close the first few descriptors.
    log_descriptor = descriptor < 0 ? -1 : (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 900);
    if (descriptor >= 0) syscall(SYS_close, descriptor);
}

static int is_watched(const char *path) {
    if (log_descriptor < 0) return 0;
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
    for (const char *folder = folders; *folder;) {
        size_t count = strcspn(folder, ":");
        if (strncmp(path, folder, count) == 0 && (path[count] == '/' || path[count] == 0)) return 1;
        folder += count + (folder[count] == ':');
    }
    return 0;
}

static int path_of_descriptor(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, 4095);
    if (count < 0) return 0;
    path[count] = 0;
    return path[0] == '/';
}

static int absolute(int folder, const char *name, char *path) {
    if (name[0] == '/') return snprintf(path, 4096, "%s", name) < 4096;
    char base[4096];
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of_descriptor(folder, base)) return 0;
    return snprintf(path, 4096, "%s/%s", base, name) < 4096;
}

static void put(const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t done = syscall(SYS_write, log_descriptor, next, count);
        if (done < 0 && errno != EINTR) abort();
        if (done > 0) next += done, count -= (size_t)done;
    }
}

// Called with the lock held.
static void note(
    uint32_t kind, uint64_t inode, int64_t offset, const char *name, size_t name_length, const struct iovec *pieces,
    int piece_count, size_t length
) {
    int code = errno;
    struct { uint32_t kind, name_length; uint64_t inode; int64_t offset; uint64_t length; } head =
        { kind, (uint32_t)name_length, inode, offset, length };
    put(&head, sizeof head);
    put(name, name_length);
    for (int index = 0; index < piece_count && length > 0; index++) {
        size_t count = pieces[index].iov_len < length ? pieces[index].iov_len : length;
        put(pieces[index].iov_base, count);
        length -= count;
    }
    records++;
    if (records == stop_at) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = code;
}

static void note_name(uint32_t kind, const char *name) { note(kind, 0, 0, name, strlen(name), NULL, 0, 0); }

static void note_pair(uint32_t kind, const char *old, const char *new) {
    char names[8200];
    size_t first = strlen(old), second = strlen(new);
    memcpy(names, old, first + 1);
    memcpy(names + first + 1, new, second);
    note(kind, 0, 0, names, first + 1 + second, NULL, 0, 0);
}

// Whether the descriptor is of a watched file; gives its inode.
static int watched_inode(int descriptor, uint64_t *inode, char *path) {
    if (log_descriptor < 0 || descriptor == log_descriptor) return 0;
    int code = errno;
    struct stat status;
    int is = path_of_descriptor(descriptor, path) && is_watched(path) && fstat(descriptor, &status) == 0;
    if (is) *inode = status.st_ino;
    errno = code;
    return is;
}

// MARK: Opening

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[4096];
    int is = log_descriptor >= 0 && (flags & (O_CREAT | O_TRUNC)) && (flags & O_TMPFILE) != O_TMPFILE
        && absolute(folder, name, path) && is_watched(path);
    if (!is) return (int)syscall(SYS_openat, folder, name, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat status;
    int was_there = lstat(path, &status) == 0;
    int descriptor = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0) {
        if (!was_there) note(POWERLOSS_CREATE, status.st_ino, 0, path, strlen(path), NULL, 0, 0);
        else if (flags & O_TRUNC) note(POWERLOSS_TRUNCATE, status.st_ino, 0, "", 0, NULL, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

#define MODE                                                                     \
    mode_t mode = 0;                                                             \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                 \
        va_list list;                                                            \
        va_start(list, flags);                                                   \
        mode = va_arg(list, mode_t);                                             \
        va_end(list);                                                            \
    }

int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags | O_LARGEFILE, mode); }
int __open_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags | O_LARGEFILE, 0); }
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// MARK: Writing

// The offset of a write without one is where the descriptor stands after it, less what was written.
static ssize_t written(int descriptor, const struct iovec *pieces, int count, int64_t offset, int has_offset) {
    char path[4096];
    uint64_t inode;
    if (!watched_inode(descriptor, &inode, path)) {
        return has_offset ? syscall(SYS_pwritev, descriptor, pieces, count, offset, 0)
                          : syscall(SYS_writev, descriptor, pieces, count);
    }
    pthread_mutex_lock(&lock);
    ssize_t done = has_offset ? syscall(SYS_pwritev, descriptor, pieces, count, offset, 0)
                              : syscall(SYS_writev, descriptor, pieces, count);
    if (done > 0) {
        int64_t from = has_offset ? offset : lseek(descriptor, 0, SEEK_CUR) - done;
        note(POWERLOSS_WRITE, inode, from, "", 0, pieces, count, (size_t)done);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    struct iovec piece = { (void *)bytes, count };
    char path[4096];
    uint64_t inode;
    // Pipes and sockets take the call as it is.
    if (!watched_inode(descriptor, &inode, path)) return syscall(SYS_write, descriptor, bytes, count);
    return written(descriptor, &piece, 1, 0, 0);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    struct iovec piece = { (void *)bytes, count };
    return written(descriptor, &piece, 1, offset, 1);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    struct iovec piece = { (void *)bytes, count };
    return written(descriptor, &piece, 1, offset, 1);
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count) { return written(descriptor, pieces, count, 0, 0); }
ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    return written(descriptor, pieces, count, offset, 1);
}
ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t offset) {
    return written(descriptor, pieces, count, offset, 1);
}

static int truncated(int descriptor, int64_t length) {
    char path[4096];
    uint64_t inode;
    if (!watched_inode(descriptor, &inode, path)) return (int)syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_ftruncate, descriptor, length);
    if (result == 0) note(POWERLOSS_TRUNCATE, inode, length, "", 0, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int descriptor, off_t length) { return truncated(descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return truncated(descriptor, length); }

// Only the length counts: what was allocated reads as zeros, as after a truncation to more.
static int allocated(int descriptor, int mode, int64_t offset, int64_t length) {
    char path[4096];
    uint64_t inode;
    if (!watched_inode(descriptor, &inode, path)) return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
    pthread_mutex_lock(&lock);
    struct stat before, after;
    int known = fstat(descriptor, &before) == 0;
    int result = (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
    if (result == 0 && known && fstat(descriptor, &after) == 0 && after.st_size != before.st_size) {
        note(POWERLOSS_TRUNCATE, inode, after.st_size, "", 0, NULL, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) { return allocated(descriptor, mode, offset, length); }
int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return allocated(descriptor, mode, offset, length);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocated(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return allocated(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

// Not recorded, so not offered: the callers fall back to reading and writing.
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t count, unsigned flags) {
    char path[4096];
    uint64_t inode;
    if (watched_inode(to, &inode, path)) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
}

// MARK: Durability

static int synced(int descriptor, long call) {
    char path[4096];
    uint64_t inode;
    if (!watched_inode(descriptor, &inode, path)) return (int)syscall(call, descriptor);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, descriptor);
    if (result == 0) note(POWERLOSS_SYNC, inode, 0, path, strlen(path), NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int descriptor) { return synced(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synced(descriptor, SYS_fdatasync); }

// MARK: Names

static int renamed(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    char from[4096], to[4096];
    int is = log_descriptor >= 0 && absolute(old_folder, old, from) && absolute(new_folder, new, to) && is_watched(to);
    if (!is) return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
    if (result == 0) note_pair(POWERLOSS_RENAME, from, to);
    pthread_mutex_unlock(&lock);
    return result;
}

int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int old_folder, const char *old, int new_folder, const char *new) {
    return renamed(old_folder, old, new_folder, new, 0);
}
int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    return renamed(old_folder, old, new_folder, new, flags);
}

static int linked(int old_folder, const char *old, int new_folder, const char *new, int flags) {
    char from[4096], to[4096];
    int is = log_descriptor >= 0 && absolute(old_folder, old, from) && absolute(new_folder, new, to) && is_watched(to);
    if (!is) return (int)syscall(SYS_linkat, old_folder, old, new_folder, new, flags);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_linkat, old_folder, old, new_folder, new, flags);
    if (result == 0) note_pair(POWERLOSS_LINK, from, to);
    pthread_mutex_unlock(&lock);
    return result;
}

int link(const char *old, const char *new) { return linked(AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags) {
    return linked(old_folder, old, new_folder, new, flags);
}

static int unlinked(int folder, const char *name, int flags) {
    char path[4096];
    int is = log_descriptor >= 0 && absolute(folder, name, path) && is_watched(path);
    if (!is) return (int)syscall(SYS_unlinkat, folder, name, flags);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_unlinkat, folder, name, flags);
    if (result == 0) note_name(POWERLOSS_UNLINK, path);
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *name) { return unlinked(AT_FDCWD, name, 0); }
int unlinkat(int folder, const char *name, int flags) { return unlinked(folder, name, flags); }
int rmdir(const char *name) { return unlinked(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) {
    int result = unlinked(AT_FDCWD, name, 0);
    return result == 0 || errno != EISDIR ? result : unlinked(AT_FDCWD, name, AT_REMOVEDIR);
}

static int made(int folder, const char *name, mode_t mode) {
    char path[4096];
    int is = log_descriptor >= 0 && absolute(folder, name, path) && is_watched(path);
    if (!is) return (int)syscall(SYS_mkdirat, folder, name, mode);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_mkdirat, folder, name, mode);
    if (result == 0) note_name(POWERLOSS_FOLDER, path);
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *name, mode_t mode) { return made(AT_FDCWD, name, mode); }
int mkdirat(int folder, const char *name, mode_t mode) { return made(folder, name, mode); }

#endif
