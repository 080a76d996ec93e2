// libarchive, and two system calls that finishing an unpacked folder needs and that Swift cannot call: both are reached
// through the variadic syscall(2).
#ifndef PIPELINE_CARCHIVE_SHIM_H
#define PIPELINE_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

// All that was written to the file system of the descriptor is on the disk when it returns (syncfs(2)).
static inline int carchive_sync_file_system(int descriptor) {
#ifdef __linux__
    return (int)syscall(SYS_syncfs, descriptor);
#else
    (void)descriptor;
    errno = ENOSYS;
    return -1;
#endif
}

// The two names change places in one step (renameat2(2), RENAME_EXCHANGE).
static inline int carchive_exchange(const char *first, const char *second) {
#ifdef __linux__
    return (int)syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, 2);
#else
    (void)first;
    (void)second;
    errno = ENOSYS;
    return -1;
#endif
}

#endif
