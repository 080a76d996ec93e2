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

/// Gives an open file an extended attribute (fsetxattr(2)). Gives 0, or -1 and errno: of a file system without them ENOTSUP.
int files_set_attribute(int descriptor, const char *name, const void *value, unsigned long length);

/// Takes an extended attribute from an open file (fremovexattr(2)). Gives 0, or -1 and errno.
int files_remove_attribute(int descriptor, const char *name);

/// Reads an extended attribute of what stands under a name, which is not followed (lgetxattr(2)). Gives its length, or -1
/// and errno: ENODATA where it has none.
long files_attribute(const char *path, const char *name, void *value, unsigned long room);

#endif
