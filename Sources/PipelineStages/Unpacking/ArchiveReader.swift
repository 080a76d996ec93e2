import CLibrary
import CArchive

/// An archive that libarchive reads, entry by entry, in blocks: memory does not grow with it.
///
/// Used by one caller at a time, who makes and drops it. Only forms and filters that run inside the process are
/// switched on: libarchive would start programs for some others. What was compressed several times over is unpacked
/// once: the layers between cost time that no limit on what comes out can bound.
final class ArchiveReader {
    private let handle: OpaquePointer
    private let format: UnpackDefinition.Format
    /// True if its first bytes are those of a compressed file.
    let isCompressed: Bool

    /// - Parameter asFile: whether what comes out is taken for one file, whatever it looks like.
    init(_ path: String, format: UnpackDefinition.Format, asFile: Bool = false) throws(UnpackFailure) {
        guard let handle = archive_read_new() else {
            throw .file(FileFailure(action: "read", path: path, code: ENOMEM))
        }
        self.handle = handle
        self.format = format
        let filter = try Self.filter(of: path, format)
        isCompressed = filter != nil
        Self.enable(asFile ? .gz : format, isCompressed: isCompressed, handle)
        if let filter, Self.add(filter, handle) < CARCHIVE_WARN { throw failure }
        Self.keepNames(handle)
        guard archive_read_open_filename(handle, path, 128 << 10) >= CARCHIVE_WARN else {
            throw failure
        }
        // Its own end of the chain counts too.
        if archive_filter_count(handle) > 2 { throw .damaged("it was compressed more than once") }
    }

    deinit { archive_read_free(handle) }

    /// A zip that was compressed once more is a compressed file: what is missing at its end could not be told.
    private static func enable(_ format: UnpackDefinition.Format, isCompressed: Bool, _ handle: OpaquePointer) {
        if format == .zip || format == .auto && !isCompressed { archive_read_support_format_zip(handle) }
        if format == .tar || format == .auto { archive_read_support_format_tar(handle) }
        if format == .gz || format == .auto { archive_read_support_format_raw(handle) }
    }

    /// Has libarchive give names as they stand in the archive: two that look alike may be two files.
    ///
    /// libarchive composes letters and marks of names that it reads as UTF-8 (pax, zip), and of names that it gives out as
    /// UTF-8 it does not. It has one converter for each pair of character sets of an archive, which is made when it is
    /// first needed: in a locale of UTF-8 (``Unpacking/inUTF8(_:)``) both are one, and here it is made for the second.
    private static func keepNames(_ handle: OpaquePointer) {
        guard let entry = archive_entry_new2(handle) else { return }
        archive_entry_copy_pathname(entry, "name")
        _ = archive_entry_pathname_utf8(entry)
        archive_entry_free(entry)
    }

    /// The filter of compress reads as soon as it is made, and has nothing to read from before the file is open: it may
    /// only be offered, and is then taken as often as it fits.
    private static func add(_ filter: Int32, _ handle: OpaquePointer) -> Int32 {
        filter == CARCHIVE_FILTER_COMPRESS
            ? archive_read_support_filter_compress(handle) : archive_read_append_filter(handle, filter)
    }

    /// Returns what a file of the form is compressed with, as its first bytes say; nil for nothing.
    private static func filter(of path: String, _ format: UnpackDefinition.Format) throws(UnpackFailure) -> Int32? {
        guard format != .zip else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.last("read", path)) }
        defer { close(descriptor) }
        var start: [UInt8] = []
        do throws(FileFailure) {
            _ = try FileDigest.read(descriptor, path, 0..<10) { start += $0 }
        } catch {
            throw .file(error)
        }
        let filter = marks.first { start.starts(with: $0.bytes) && start.dropFirst(4).starts(with: $0.behind) }?.filter
        return format == .gz && filter != CARCHIVE_FILTER_GZIP ? nil : filter
    }

    /// With what compressed files begin, and what stands behind the fourth byte. A tar begins with a name, which may be
    /// `BZh9`: a block of bzip2 or its end follows there. Before zstd there may be a frame that is skipped, as pzstd has it
    /// (RFC 8878, section 3.1.2).
    private static let marks: [(bytes: [UInt8], behind: [UInt8], filter: Int32)] =
        [
            ([0x1f, 0x8b], [], CARCHIVE_FILTER_GZIP), ([0x1f, 0x9d], [], CARCHIVE_FILTER_COMPRESS),
            (Array("BZh".utf8), [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], CARCHIVE_FILTER_BZIP2),
            (Array("BZh".utf8), [0x17, 0x72, 0x45, 0x38, 0x50, 0x90], CARCHIVE_FILTER_BZIP2),
            ([0xfd, 0x37, 0x7a, 0x58], [0x5a, 0x00], CARCHIVE_FILTER_XZ),
            ([0x28, 0xb5, 0x2f, 0xfd], [], CARCHIVE_FILTER_ZSTD),
        ] + (0x50...0x5f).map { ([$0, 0x2a, 0x4d, 0x18], [], CARCHIVE_FILTER_ZSTD) }

    /// The next entry, valid until the one after it; nil after the last.
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
    /// True if it is one compressed file instead of a folder of files.
    var isSingle: Bool { archive_format(handle) == CARCHIVE_FORMAT_RAW }
    /// True if anything is packed about it at all: any bytes are a raw file.
    var isPacked: Bool { !isSingle || archive_filter_count(handle) > 1 }

    /// The next block of the current entry's content and where it belongs; nil after the last.
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

    /// Returns whether all that is left is at most so many zeros.
    func hasOnlyZeros(atMost most: Int64) throws(UnpackFailure) -> Bool {
        while try next() != nil {
            while let (bytes, offset) = try block() {
                if offset + Int64(bytes.count) > most || bytes.contains(where: { $0 != 0 }) { return false }
            }
        }
        return true
    }

    private var failure: UnpackFailure {
        let words = archive_error_string(handle).map { String(cString: $0) } ?? "it is broken"
        if words.lowercased().contains("unrecognized archive format") {
            // Any bytes that come out of a compressed file are a file: of this one nothing does.
            return isCompressed && format != .tar ? .damaged("it was cut short") : .unknownForm(format)
        }
        if words.lowercased().contains("encrypt") || words.lowercased().contains("passphrase") { return .encrypted }
        return .damaged(ShownText.excerpt(words))
    }
}

extension OpaquePointer {
    /// Of an entry: its name, by libarchive's own reading of the archive's character set, else its bytes; nil if it has
    /// neither, for a name in a zip that is not of the character set that it is said to be of.
    var entryName: String? {
        (archive_entry_pathname_utf8(self) ?? archive_entry_pathname(self)).map { String(cString: $0) }
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
