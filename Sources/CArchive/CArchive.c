#include "CArchive.h"

// Behind our own declarations, which they are compared with.
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

_Static_assert(CARCHIVE_EOF == ARCHIVE_EOF, "ARCHIVE_EOF");
_Static_assert(CARCHIVE_OK == ARCHIVE_OK, "ARCHIVE_OK");
_Static_assert(CARCHIVE_WARN == ARCHIVE_WARN, "ARCHIVE_WARN");
_Static_assert(CARCHIVE_FORMAT_RAW == ARCHIVE_FORMAT_RAW, "ARCHIVE_FORMAT_RAW");
_Static_assert(CARCHIVE_EXTRACT_TIME == ARCHIVE_EXTRACT_TIME, "ARCHIVE_EXTRACT_TIME");
_Static_assert(CARCHIVE_EXTRACT_SECURE_SYMLINKS == ARCHIVE_EXTRACT_SECURE_SYMLINKS, "ARCHIVE_EXTRACT_SECURE_SYMLINKS");
_Static_assert(CARCHIVE_EXTRACT_SECURE_NODOTDOT == ARCHIVE_EXTRACT_SECURE_NODOTDOT, "ARCHIVE_EXTRACT_SECURE_NODOTDOT");

// Both are reached through the variadic syscall(2).
int carchive_sync_file_system(int descriptor) {
#ifdef __linux__
    return (int)syscall(SYS_syncfs, descriptor);
#else
    (void)descriptor;
    errno = ENOSYS;
    return -1;
#endif
}

int carchive_exchange(const char *first, const char *second) {
#ifdef __linux__
    return (int)syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, 2);
#else
    (void)first;
    (void)second;
    errno = ENOSYS;
    return -1;
#endif
}
