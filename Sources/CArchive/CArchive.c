#include "CArchive.h"
#include "CLateLibrary.h"

// Behind our own declarations, which they are compared with where a machine has them.
#if __has_include(<archive_entry.h>)
#include <archive.h>
#include <archive_entry.h>

_Static_assert(CARCHIVE_EOF == ARCHIVE_EOF, "ARCHIVE_EOF");
_Static_assert(CARCHIVE_OK == ARCHIVE_OK, "ARCHIVE_OK");
_Static_assert(CARCHIVE_WARN == ARCHIVE_WARN, "ARCHIVE_WARN");
_Static_assert(CARCHIVE_FILTER_GZIP == ARCHIVE_FILTER_GZIP, "ARCHIVE_FILTER_GZIP");
_Static_assert(CARCHIVE_FILTER_BZIP2 == ARCHIVE_FILTER_BZIP2, "ARCHIVE_FILTER_BZIP2");
_Static_assert(CARCHIVE_FILTER_COMPRESS == ARCHIVE_FILTER_COMPRESS, "ARCHIVE_FILTER_COMPRESS");
_Static_assert(CARCHIVE_FILTER_XZ == ARCHIVE_FILTER_XZ, "ARCHIVE_FILTER_XZ");
_Static_assert(CARCHIVE_FILTER_ZSTD == ARCHIVE_FILTER_ZSTD, "ARCHIVE_FILTER_ZSTD");
_Static_assert(CARCHIVE_FORMAT_RAW == ARCHIVE_FORMAT_RAW, "ARCHIVE_FORMAT_RAW");
_Static_assert(CARCHIVE_FORMAT_ZIP == ARCHIVE_FORMAT_ZIP, "ARCHIVE_FORMAT_ZIP");
_Static_assert(CARCHIVE_EXTRACT_TIME == ARCHIVE_EXTRACT_TIME, "ARCHIVE_EXTRACT_TIME");
_Static_assert(CARCHIVE_EXTRACT_SECURE_SYMLINKS == ARCHIVE_EXTRACT_SECURE_SYMLINKS, "ARCHIVE_EXTRACT_SECURE_SYMLINKS");
_Static_assert(CARCHIVE_EXTRACT_SECURE_NODOTDOT == ARCHIVE_EXTRACT_SECURE_NODOTDOT, "ARCHIVE_EXTRACT_SECURE_NODOTDOT");
#endif

// libarchive is opened by the first archive: it brings libxml2 and with that ICU along, eight libraries and 1.5 MiB.
#ifdef __APPLE__
static const char *const names[] = {"libarchive.2.dylib", "/usr/lib/libarchive.2.dylib", NULL};
#else
static const char *const names[] = {"libarchive.so.13", NULL};
#endif

static struct clate_library library = {names, NULL};

int carchive_open(void) { return clate_open(&library); }

#define FOUND(name) CLATE_FOUND(library, name)

int archive_errno(struct archive *archive) { return FOUND(archive_errno)(archive); }
const char *archive_error_string(struct archive *archive) { return FOUND(archive_error_string)(archive); }
int archive_filter_count(struct archive *archive) { return FOUND(archive_filter_count)(archive); }
int archive_format(struct archive *archive) { return FOUND(archive_format)(archive); }
struct archive *archive_read_new(void) { return FOUND(archive_read_new)(); }
int archive_read_append_filter(struct archive *archive, int filter) {
    return FOUND(archive_read_append_filter)(archive, filter);
}
int archive_read_free(struct archive *archive) { return FOUND(archive_read_free)(archive); }
int archive_read_support_filter_compress(struct archive *archive) {
    return FOUND(archive_read_support_filter_compress)(archive);
}
int archive_read_support_format_raw(struct archive *archive) { return FOUND(archive_read_support_format_raw)(archive); }
int archive_read_support_format_tar(struct archive *archive) { return FOUND(archive_read_support_format_tar)(archive); }
int archive_read_support_format_zip(struct archive *archive) { return FOUND(archive_read_support_format_zip)(archive); }
int archive_read_open_filename(struct archive *archive, const char *path, size_t block) {
    return FOUND(archive_read_open_filename)(archive, path, block);
}
int archive_read_next_header(struct archive *archive, struct archive_entry **entry) {
    return FOUND(archive_read_next_header)(archive, entry);
}
int archive_read_data_block(struct archive *archive, const void **bytes, size_t *count, int64_t *offset) {
    return FOUND(archive_read_data_block)(archive, bytes, count, offset);
}
struct archive *archive_write_disk_new(void) { return FOUND(archive_write_disk_new)(); }
int archive_write_disk_set_options(struct archive *archive, int flags) {
    return FOUND(archive_write_disk_set_options)(archive, flags);
}
struct archive *archive_write_new(void) { return FOUND(archive_write_new)(); }
int archive_write_set_format_pax_restricted(struct archive *archive) {
    return FOUND(archive_write_set_format_pax_restricted)(archive);
}
int archive_write_set_format_raw(struct archive *archive) { return FOUND(archive_write_set_format_raw)(archive); }
int archive_write_set_format_zip(struct archive *archive) { return FOUND(archive_write_set_format_zip)(archive); }
int archive_write_add_filter_gzip(struct archive *archive) { return FOUND(archive_write_add_filter_gzip)(archive); }
int archive_write_open_fd(struct archive *archive, int descriptor) {
    return FOUND(archive_write_open_fd)(archive, descriptor);
}
int archive_write_header(struct archive *archive, struct archive_entry *entry) {
    return FOUND(archive_write_header)(archive, entry);
}
carchive_count archive_write_data(struct archive *archive, const void *bytes, size_t count) {
    return FOUND(archive_write_data)(archive, bytes, count);
}
carchive_count archive_write_data_block(struct archive *archive, const void *bytes, size_t count, int64_t offset) {
    return FOUND(archive_write_data_block)(archive, bytes, count, offset);
}
int archive_write_finish_entry(struct archive *archive) { return FOUND(archive_write_finish_entry)(archive); }
int archive_write_close(struct archive *archive) { return FOUND(archive_write_close)(archive); }
int archive_write_free(struct archive *archive) { return FOUND(archive_write_free)(archive); }
struct archive_entry *archive_entry_new(void) { return FOUND(archive_entry_new)(); }
struct archive_entry *archive_entry_new2(struct archive *archive) { return FOUND(archive_entry_new2)(archive); }
void archive_entry_free(struct archive_entry *entry) { FOUND(archive_entry_free)(entry); }
carchive_mode archive_entry_filetype(struct archive_entry *entry) { return FOUND(archive_entry_filetype)(entry); }
const char *archive_entry_hardlink(struct archive_entry *entry) { return FOUND(archive_entry_hardlink)(entry); }
const char *archive_entry_hardlink_utf8(struct archive_entry *entry) {
    return FOUND(archive_entry_hardlink_utf8)(entry);
}
int archive_entry_is_encrypted(struct archive_entry *entry) { return FOUND(archive_entry_is_encrypted)(entry); }
const char *archive_entry_pathname(struct archive_entry *entry) { return FOUND(archive_entry_pathname)(entry); }
const char *archive_entry_pathname_utf8(struct archive_entry *entry) {
    return FOUND(archive_entry_pathname_utf8)(entry);
}
carchive_mode archive_entry_perm(struct archive_entry *entry) { return FOUND(archive_entry_perm)(entry); }
int64_t archive_entry_size(struct archive_entry *entry) { return FOUND(archive_entry_size)(entry); }
int archive_entry_size_is_set(struct archive_entry *entry) { return FOUND(archive_entry_size_is_set)(entry); }
const char *archive_entry_symlink(struct archive_entry *entry) { return FOUND(archive_entry_symlink)(entry); }
const char *archive_entry_symlink_utf8(struct archive_entry *entry) { return FOUND(archive_entry_symlink_utf8)(entry); }
void archive_entry_copy_hardlink(struct archive_entry *entry, const char *path) {
    FOUND(archive_entry_copy_hardlink)(entry, path);
}
void archive_entry_copy_pathname(struct archive_entry *entry, const char *path) {
    FOUND(archive_entry_copy_pathname)(entry, path);
}
void archive_entry_set_filetype(struct archive_entry *entry, unsigned int type) {
    FOUND(archive_entry_set_filetype)(entry, type);
}
void archive_entry_set_hardlink(struct archive_entry *entry, const char *path) {
    FOUND(archive_entry_set_hardlink)(entry, path);
}
void archive_entry_set_mtime(struct archive_entry *entry, carchive_time seconds, long nanoseconds) {
    FOUND(archive_entry_set_mtime)(entry, seconds, nanoseconds);
}
void archive_entry_set_perm(struct archive_entry *entry, carchive_mode permissions) {
    FOUND(archive_entry_set_perm)(entry, permissions);
}
void archive_entry_set_size(struct archive_entry *entry, int64_t size) { FOUND(archive_entry_set_size)(entry, size); }
void archive_entry_set_symlink(struct archive_entry *entry, const char *path) {
    FOUND(archive_entry_set_symlink)(entry, path);
}
