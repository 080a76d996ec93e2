#define _GNU_SOURCE
#include "CFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#if defined(__linux__) || defined(__APPLE__)
#include <sys/xattr.h>
#endif

int files_sync_file_system(int descriptor) {
#ifdef __linux__
    return syncfs(descriptor);
#else
    (void)descriptor;
    errno = ENOSYS;
    return -1;
#endif
}

int files_exchange(const char *first, const char *second) {
#ifdef __linux__
    return (int)syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, 2);
#else
    (void)first;
    (void)second;
    errno = ENOSYS;
    return -1;
#endif
}

int files_reserve(int descriptor, long long start, long long length) {
#ifdef __linux__
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)start, (off_t)length);
#else
    (void)descriptor;
    (void)start;
    (void)length;
    errno = ENOSYS;
    return -1;
#endif
}

int files_set_attribute(int descriptor, const char *name, const void *value, unsigned long length) {
#if defined(__linux__)
    return fsetxattr(descriptor, name, value, length, 0);
#elif defined(__APPLE__)
    return fsetxattr(descriptor, name, value, length, 0, 0);
#else
    (void)descriptor;
    (void)name;
    (void)value;
    (void)length;
    errno = ENOTSUP;
    return -1;
#endif
}

int files_remove_attribute(int descriptor, const char *name) {
#if defined(__linux__)
    return fremovexattr(descriptor, name);
#elif defined(__APPLE__)
    return fremovexattr(descriptor, name, 0);
#else
    (void)descriptor;
    (void)name;
    errno = ENOTSUP;
    return -1;
#endif
}

long files_attribute(const char *path, const char *name, void *value, unsigned long room) {
#if defined(__linux__)
    return lgetxattr(path, name, value, room);
#elif defined(__APPLE__)
    long length = getxattr(path, name, value, room, 0, XATTR_NOFOLLOW);
    if (length < 0 && errno == ENOATTR) errno = ENODATA;
    return length;
#else
    (void)path;
    (void)name;
    (void)value;
    (void)room;
    errno = ENOTSUP;
    return -1;
#endif
}
