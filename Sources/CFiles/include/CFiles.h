#ifndef C_FILES_H
#define C_FILES_H

// Calls of Linux on files that Swift can't make: the C library hides them or has none. Elsewhere they fail with ENOSYS.

/// All that was written to the file system of the descriptor is on the disk when it returns (syncfs(2)). Gives 0, or -1
/// and errno.
int files_sync_file_system(int descriptor);

/// The two names change places in one step (renameat2(2), RENAME_EXCHANGE). Gives 0, or -1 and errno.
int files_exchange(const char *first, const char *second);

/// Reserves room on the disk for a stretch of a file whose length stays as it is (fallocate(2), FALLOC_FL_KEEP_SIZE).
/// Gives 0, or -1 and errno.
int files_reserve(int descriptor, long long start, long long length);

#endif
