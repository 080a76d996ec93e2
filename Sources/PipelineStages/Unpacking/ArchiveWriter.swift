import CLibrary
import CArchive
import Crypto
import PipelineCore

/// Writes checked entries below one folder, with the digest of each file.
struct ArchiveWriter: ~Copyable {
    /// PATH_MAX is 4096 on Linux, 1024 on macOS; with a slash and the end.
    private static let longestPath = Int(PATH_MAX) - 2

    private let handle: OpaquePointer
    /// The real path of the folder.
    private let folder: String
    private let limits: UnpackLimits
    private var total: Int64 = 0
    /// The entries that were made, or may have been: the folders on the way to an entry count too.
    private(set) var entries = 0
    /// Those of the entry before, with itself if it is one.
    private var folders: ArraySlice<String> = []
    /// Regular files by their path in the folder, in bytes as the file system compares them; the later of two with one
    /// name wins.
    private var written: [[UInt8]: WrittenFile] = [:]

    init(_ folder: String, limits: UnpackLimits) throws(UnpackFailure) {
        guard let handle = archive_write_disk_new() else {
            throw .file(FileFailure(action: "write", path: folder, code: ENOMEM))
        }
        self.handle = handle
        self.folder = folder
        self.limits = limits
        archive_write_disk_set_options(
            handle, Int32(CARCHIVE_EXTRACT_SECURE_SYMLINKS | CARCHIVE_EXTRACT_SECURE_NODOTDOT | CARCHIVE_EXTRACT_TIME))
    }

    deinit { archive_write_free(handle) }

    /// In the order of their paths.
    var files: [WrittenFile] { written.values.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) } }

    /// Checks an entry and writes it with its content.
    mutating func write(
        _ entry: OpaquePointer, of reader: ArchiveReader, named name: String
    ) throws(UnpackFailure) {
        let components = try Self.components(of: name)
        count(components, isFolder: archive_entry_filetype(entry) == S_IFDIR)
        if entries > limits.entries { throw .tooMany(limit: limits.entries) }
        if Task.isCancelled { throw .stopped }
        // The folder itself, as `tar c .` has it.
        if components.isEmpty { return }
        let path = components.joined(separator: "/")
        // libarchive would change the folder of the whole process for it.
        guard folder.utf8.count + path.utf8.count < Self.longestPath else {
            throw .unsafe(entry: name, reason: "its path is too long")
        }
        try check(entry, name, depth: components.count - 1)
        archive_entry_copy_pathname(entry, "\(folder)/\(path)")
        let isFile = archive_entry_filetype(entry) == S_IFREG && entry.hardLink == nil
        written[Array(path.utf8)] = nil
        if let other = entry.hardLink {
            let target = try Self.components(of: other).joined(separator: "/")
            guard let file = written[Array(target.utf8)] else {
                throw .unsafe(entry: name, reason: "it is a hard link to something that is no file of the archive")
            }
            archive_entry_copy_hardlink(entry, "\(folder)/\(target)")
            // It may bring the content once more: the writer would empty the file that is there for it.
            archive_entry_set_size(entry, 0)
            written[Array(path.utf8)] = WrittenFile(path: path, bytes: file.bytes, sha256: file.sha256)
        }
        try ensure(archive_write_header(handle, entry), path)
        if isFile { try copy(entry, of: reader, path) }
        try ensure(archive_write_finish_entry(handle), path)
    }

    /// Folders get their times once nothing more is written into them.
    func finish() throws(UnpackFailure) { try ensure(archive_write_close(handle), "") }

    /// Counts an entry and the folders that the one before it did not lie in, nor was.
    private mutating func count(_ components: [String], isFolder: Bool) {
        let above = components.dropLast()
        let known = zip(folders, above).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        entries += 1 + above.count - known
        folders = isFolder ? components[...] : above
    }

    private static func components(of name: String) throws(UnpackFailure) -> [String] {
        switch EntryName.components(name) {
        case .success(let components): return components
        case .failure(let reason): throw .unsafe(entry: name, reason: reason.text)
        }
    }

    /// Refuses what is no file, folder or harmless link, and takes away what could give rights.
    private func check(_ entry: OpaquePointer, _ name: String, depth: Int) throws(UnpackFailure) {
        if entry.hardLink == nil {
            switch archive_entry_filetype(entry) {
            case S_IFREG:
                archive_entry_set_perm(entry, archive_entry_perm(entry) & 0o777 | 0o600)
                if archive_entry_size_is_set(entry) != 0, archive_entry_size(entry) > limits.bytes - total {
                    throw .tooLarge(limit: limits.bytes)
                }
            case S_IFDIR: archive_entry_set_perm(entry, archive_entry_perm(entry) & 0o777 | 0o700)
            case S_IFLNK:
                if let fault = EntryName.fault(ofLinkTo: entry.symbolicLink ?? "/", depth: depth) {
                    throw .unsafe(entry: name, reason: fault.text)
                }
            default: throw .unsafe(entry: name, reason: "it is a device, a pipe or a socket")
            }
        }
    }

    private mutating func copy(
        _ entry: OpaquePointer, of reader: ArchiveReader, _ path: String
    ) throws(UnpackFailure) {
        var hasher = SHA256()
        var end: Int64 = 0
        while let (bytes, offset) = try reader.block() {
            if Task.isCancelled { throw .stopped }
            let next = offset + Int64(bytes.count)
            guard offset >= end, next <= limits.bytes - total else { throw .tooLarge(limit: limits.bytes) }
            Self.addZeros(offset - end, to: &hasher)
            hasher.update(bufferPointer: bytes)
            end = next
            let code = archive_write_data_block(handle, bytes.baseAddress, bytes.count, offset)
            // A warning here is content that was not written, or not all of it.
            if code < CARCHIVE_OK { throw failure(path) }
        }
        let size = archive_entry_size_is_set(entry) != 0 ? max(end, Int64(archive_entry_size(entry))) : end
        Self.addZeros(size - end, to: &hasher)
        total += size
        written[Array(path.utf8)] = WrittenFile(path: path, bytes: size, sha256: hasher.finalize().hex)
    }

    /// The holes of a sparse file are zeros.
    private static func addZeros(_ count: Int64, to hasher: inout SHA256) {
        guard count > 0 else { return }
        let zeros = [UInt8](repeating: 0, count: Int(min(count, 64 << 10)))
        var left = count
        while left > 0 {
            hasher.update(data: zeros.prefix(Int(min(left, Int64(zeros.count)))))
            left -= Int64(zeros.count)
        }
    }

    /// Of an entry's header and its end a warning is about times and rights that could not be set, unless it is the
    /// disk's.
    private func ensure(_ code: Int32, _ path: String) throws(UnpackFailure) {
        if code < CARCHIVE_WARN || code < CARCHIVE_OK && Self.diskErrors.contains(archive_errno(handle)) {
            throw failure(path)
        }
    }

    /// The system's errors by which bytes are lost.
    private static let diskErrors: Set<Int32> = [ENOSPC, EDQUOT, EFBIG, EIO, EROFS]

    /// The failure that libarchive has just told of.
    private func failure(_ path: String) -> UnpackFailure {
        let words = archive_error_string(handle).map { String(cString: $0) } ?? ""
        if words.contains("symlink") {
            return .unsafe(entry: path, reason: "leads through a symbolic link of the archive")
        }
        let number = archive_errno(handle)
        // The folder was new: what is in the way came out of the archive.
        if [EEXIST, EISDIR, ENOTDIR, ENOTEMPTY].contains(number) {
            return .unsafe(entry: path, reason: "the path is in the way of another entry's, or the other in its way")
        }
        return .file(FileFailure(action: "unpack", path: "\(folder)/\(path)", code: number > 0 ? number : EIO))
    }
}
