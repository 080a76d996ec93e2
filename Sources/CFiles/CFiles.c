#define _GNU_SOURCE
#include "CFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
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
