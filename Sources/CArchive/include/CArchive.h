// What is called of libarchive, declared without its headers.
//
// libarchive's own headers bring the C library's structures along (`struct stat`, `struct timespec`). Swift takes one of
// several modules for their origin and wants it imported by each file that reads a member; which one it takes hangs on
// how files fall into batches. CArchive.c includes both headers where it can, so that the compiler compares them.
#ifndef PIPELINE_CARCHIVE_H
#define PIPELINE_CARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
// As mode_t, time_t and ssize_t are there.
typedef unsigned int carchive_mode;
typedef long carchive_time;
typedef long carchive_count;
#else
#include <sys/types.h>
typedef mode_t carchive_mode;
typedef time_t carchive_time;
typedef ssize_t carchive_count;
#endif

struct archive;
struct archive_entry;

#define CARCHIVE_EOF 1
#define CARCHIVE_OK 0
#define CARCHIVE_WARN (-20)
#define CARCHIVE_FILTER_GZIP 1
#define CARCHIVE_FILTER_BZIP2 2
#define CARCHIVE_FILTER_COMPRESS 3
#define CARCHIVE_FILTER_XZ 6
#define CARCHIVE_FILTER_ZSTD 14
#define CARCHIVE_FORMAT_RAW 0x90000
#define CARCHIVE_FORMAT_ZIP 0x50000
#define CARCHIVE_EXTRACT_TIME 0x0004
#define CARCHIVE_EXTRACT_SECURE_SYMLINKS 0x0100
#define CARCHIVE_EXTRACT_SECURE_NODOTDOT 0x0200

// Opens the library, once a process; 0 where the machine has none: then nothing below may be called.
int carchive_open(void);

// Any archive.
int archive_errno(struct archive *);
const char *archive_error_string(struct archive *);
int archive_filter_count(struct archive *);
int archive_format(struct archive *);

// Reading.
struct archive *archive_read_new(void);
int archive_read_append_filter(struct archive *, int filter);
int archive_read_free(struct archive *);
int archive_read_support_filter_compress(struct archive *);
int archive_read_support_format_raw(struct archive *);
int archive_read_support_format_tar(struct archive *);
int archive_read_support_format_zip(struct archive *);
int archive_read_open_filename(struct archive *, const char *path, size_t block);
int archive_read_next_header(struct archive *, struct archive_entry **);
int archive_read_data_block(struct archive *, const void **bytes, size_t *count, int64_t *offset);

// Writing.
struct archive *archive_write_disk_new(void);
int archive_write_disk_set_options(struct archive *, int flags);
struct archive *archive_write_new(void);
int archive_write_set_format_pax_restricted(struct archive *);
int archive_write_set_format_raw(struct archive *);
int archive_write_set_format_zip(struct archive *);
int archive_write_add_filter_gzip(struct archive *);
int archive_write_open_fd(struct archive *, int descriptor);
int archive_write_header(struct archive *, struct archive_entry *);
carchive_count archive_write_data(struct archive *, const void *bytes, size_t count);
carchive_count archive_write_data_block(struct archive *, const void *bytes, size_t count, int64_t offset);
int archive_write_finish_entry(struct archive *);
int archive_write_close(struct archive *);
int archive_write_free(struct archive *);

// Entries.
struct archive_entry *archive_entry_new(void);
struct archive_entry *archive_entry_new2(struct archive *);
void archive_entry_free(struct archive_entry *);
carchive_mode archive_entry_filetype(struct archive_entry *);
const char *archive_entry_hardlink(struct archive_entry *);
const char *archive_entry_hardlink_utf8(struct archive_entry *);
int archive_entry_is_encrypted(struct archive_entry *);
const char *archive_entry_pathname(struct archive_entry *);
const char *archive_entry_pathname_utf8(struct archive_entry *);
carchive_mode archive_entry_perm(struct archive_entry *);
int64_t archive_entry_size(struct archive_entry *);
int archive_entry_size_is_set(struct archive_entry *);
const char *archive_entry_symlink(struct archive_entry *);
const char *archive_entry_symlink_utf8(struct archive_entry *);
void archive_entry_copy_hardlink(struct archive_entry *, const char *path);
void archive_entry_copy_pathname(struct archive_entry *, const char *path);
void archive_entry_set_filetype(struct archive_entry *, unsigned int type);
void archive_entry_set_hardlink(struct archive_entry *, const char *path);
void archive_entry_set_mtime(struct archive_entry *, carchive_time seconds, long nanoseconds);
void archive_entry_set_perm(struct archive_entry *, carchive_mode permissions);
void archive_entry_set_size(struct archive_entry *, int64_t size);
void archive_entry_set_symlink(struct archive_entry *, const char *path);

#endif
