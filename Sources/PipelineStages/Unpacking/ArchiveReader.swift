import CArchive

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An archive that libarchive reads, entry by entry, in blocks: memory does not grow with it.
///
/// Used by one caller at a time, who makes and drops it. Only forms and filters that run inside the process are
/// switched on: libarchive would start programs for some others.
final class ArchiveReader {
    private let handle: OpaquePointer
    private let format: UnpackDefinition.Format

    init(_ path: String, format: UnpackDefinition.Format) throws(UnpackFailure) {
        guard let handle = archive_read_new() else {
            throw .file(FileFailure(action: "read", path: path, code: ENOMEM))
        }
        self.handle = handle
        self.format = format
        Self.enable(format, handle)
        guard archive_read_open_filename(handle, path, 128 << 10) >= CARCHIVE_WARN else {
            throw failure
        }
    }

    deinit { archive_read_free(handle) }

    private static func enable(_ format: UnpackDefinition.Format, _ handle: OpaquePointer) {
        if format == .zip || format == .auto { archive_read_support_format_zip(handle) }
        if format == .tar || format == .auto { archive_read_support_format_tar(handle) }
        if format == .gz || format == .auto { archive_read_support_format_raw(handle) }
        if format != .zip { archive_read_support_filter_gzip(handle) }
        guard format == .tar || format == .auto else { return }
        archive_read_support_filter_bzip2(handle)
        archive_read_support_filter_xz(handle)
        archive_read_support_filter_zstd(handle)
        archive_read_support_filter_compress(handle)
    }

    /// The next entry, valid until the one after it; nil behind the last.
    func next() throws(UnpackFailure) -> OpaquePointer? {
        var entry: OpaquePointer?
        let code = archive_read_next_header(handle, &entry)
        if code == CARCHIVE_EOF { return nil }
        guard code == CARCHIVE_OK || code == CARCHIVE_WARN, let entry else { throw failure }
        if archive_entry_is_encrypted(entry) != 0 { throw .encrypted }
        return entry
    }

    /// Known with the first entry.
    var isZIP: Bool { archive_format(handle) & 0xff0000 == CARCHIVE_FORMAT_ZIP }
    /// Whether it is one compressed file instead of a folder of files.
    var isSingle: Bool { archive_format(handle) == CARCHIVE_FORMAT_RAW }
    /// Whether anything is packed about it at all: any bytes are a raw file.
    var isPacked: Bool { !isSingle || archive_filter_count(handle) > 1 }

    /// The next block of the current entry's content and where it belongs; nil behind the last.
    func block() throws(UnpackFailure) -> (bytes: UnsafeRawBufferPointer, offset: Int64)? {
        var bytes: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        let code = archive_read_data_block(handle, &bytes, &count, &offset)
        if code == CARCHIVE_EOF { return nil }
        // A warning here is a wrong checksum.
        guard code == CARCHIVE_OK else { throw failure }
        return (UnsafeRawBufferPointer(start: bytes, count: count), Int64(offset))
    }

    private var failure: UnpackFailure {
        let words = archive_error_string(handle).map { String(cString: $0) } ?? "it is broken"
        if words.lowercased().contains("unrecognized archive format") { return .unknownForm(format) }
        if words.lowercased().contains("encrypt") || words.lowercased().contains("passphrase") { return .encrypted }
        return .damaged(ShownText.excerpt(words))
    }
}

extension OpaquePointer {
    /// Of an entry: its name, by libarchive's own reading of the archive's character set, else its bytes.
    var entryName: String {
        (archive_entry_pathname_utf8(self) ?? archive_entry_pathname(self)).map { String(cString: $0) } ?? ""
    }

    /// Of an entry: what a symbolic link points to.
    var symbolicLink: String? {
        (archive_entry_symlink_utf8(self) ?? archive_entry_symlink(self)).map { String(cString: $0) }
    }

    /// Of an entry: the other name of a file.
    var hardLink: String? {
        (archive_entry_hardlink_utf8(self) ?? archive_entry_hardlink(self)).map { String(cString: $0) }
    }
}
