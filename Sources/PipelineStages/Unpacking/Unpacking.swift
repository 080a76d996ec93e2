import CLibrary
import CArchive
import CFiles
import Crypto
import PipelineCore

/// Unpacks one archive into a new folder: all of it, or nothing.
///
/// libarchive's writer is told to follow no symbolic link and no `..`; before it sees an entry its name, its kind and
/// its size have been checked here, and its name is made absolute below the folder.
struct Unpacking {
    /// The result of unpacking.
    struct Result: Sendable, Hashable {
        /// True if it is one file, called ``Unpacking/singleName``, instead of a folder.
        var isSingle = false
        /// Regular files; paths relative to the folder.
        var files: [WrittenFile] = []
    }

    /// The name of what a compressed file holds, in the folder.
    static let singleName = "content"
    /// Of a tar archive, in bytes: `tar` makes records of 10 KiB unless it is told otherwise.
    private static let longestRecord: Int64 = 64 << 10

    let archive: String
    private(set) var format: UnpackDefinition.Format
    /// True if a coding with gzip was taken off the archive when it came: what it held may be all that is left to unpack.
    var isDecoded = false
    let limits: UnpackLimits
    /// The new folder, which must not exist.
    let folder: String

    /// Unpacks; when it throws, the folder is gone again. On return all of it is on the disk.
    func perform() throws(UnpackFailure) -> Result {
        guard carchive_open() != 0 else { throw .noLibrary }
        guard mkdir(folder, 0o777) == 0 else { throw .file(.last("create the folder", folder)) }
        do throws(UnpackFailure) {
            // A symbolic link on the way to the folder is the user's own; the writer would refuse it.
            guard let real = realpath(folder, nil) else { throw .file(.last("read the folder", folder)) }
            defer { free(real) }
            var writer = try ArchiveWriter(String(cString: real), limits: limits)
            let result = try Self.inUTF8 { () throws(UnpackFailure) in try copyDecoded(to: &writer) }
            try sync()
            return result
        } catch {
            FolderTree.remove(folder)
            throw error
        }
    }

    private func copyDecoded(to writer: inout ArchiveWriter) throws(UnpackFailure) -> Result {
        do throws(UnpackFailure) {
            return try copy(to: &writer)
        } catch .unknownForm(.auto) where isDecoded {
            var file = self
            file.format = .gz
            return try file.copy(to: &writer)
        }
    }

    private func copy(to writer: inout ArchiveWriter) throws(UnpackFailure) -> Result {
        if format == .gz || format == .auto, try hasNothing() { return try emptyFile() }
        let reader = try ArchiveReader(archive, format: format)
        var result = try copyEntries(of: reader, to: &writer)
        // To libarchive whatever begins with zeros is a tar archive without entries.
        if writer.entries == 0, !reader.isZIP, try !isEmptyTar() {
            guard format == .auto, reader.isCompressed else { throw .unknownForm(format) }
            result = try copyEntries(of: ArchiveReader(archive, format: format, asFile: true), to: &writer)
        }
        try writer.finish()
        if writer.entries == 0 {
            guard reader.isPacked, format != .auto || reader.isZIP || reader.isCompressed else {
                throw .unknownForm(format)
            }
            if reader.isZIP { try ZIPEnd.check(archive) }
        }
        result.files = writer.files
        return result
    }

    private func copyEntries(
        of reader: ArchiveReader, to writer: inout ArchiveWriter
    ) throws(UnpackFailure) -> Result {
        var result = Result()
        while let entry = try reader.next() {
            guard reader.isPacked || isUnpackedAlready else { throw .unknownForm(format) }
            if reader.isZIP, writer.entries == 0 { try ZIPEnd.check(archive) }
            result.isSingle = reader.isSingle
            guard let name = reader.isSingle ? Self.singleName : entry.entryName else {
                throw .damaged("the name of an entry can't be read")
            }
            try writer.write(entry, of: reader, named: name)
        }
        return result
    }

    /// Returns whether nothing comes out but the zeros with which a tar archive ends (ustar, "pax Interchange Format" of
    /// POSIX.1: two blocks of 512 bytes, made up to a record).
    private func isEmptyTar() throws(UnpackFailure) -> Bool {
        try ArchiveReader(archive, format: format, asFile: true).hasOnlyZeros(atMost: Self.longestRecord)
    }

    /// True if a file that is not compressed is the one that was.
    private var isUnpackedAlready: Bool { isDecoded && format == .gz }

    /// Returns whether what was compressed has no byte.
    private func hasNothing() throws(UnpackFailure) -> Bool {
        var status = stat()
        if isDecoded, stat(archive, &status) == 0, status.st_size == 0 { return true }
        return try GZIPEnd.isEmpty(archive)
    }

    /// What was compressed is a file without a byte: libarchive has no entry for it.
    private func emptyFile() throws(UnpackFailure) -> Result {
        let path = "\(folder)/\(Self.singleName)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .file(.last("write", path)) }
        close(descriptor)
        let file = WrittenFile(path: Self.singleName, bytes: 0, sha256: SHA256().finalize().hex)
        return Result(isSingle: true, files: [file])
    }

    /// libarchive turns names into the character set of the thread's locale, which is often plain ASCII in a service.
    static func inUTF8<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return try work() }
        let former = uselocale(locale)
        defer {
            uselocale(former)
            freelocale(locale)
        }
        return try work()
    }

    private func sync() throws(UnpackFailure) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.last("save", folder)) }
        defer { close(descriptor) }
        if files_sync_file_system(descriptor) == 0 { return }
        guard errno == ENOSYS else { throw .file(.last("save", folder)) }
        do throws(FileFailure) {
            try FolderTree.sync(folder)
        } catch {
            throw .file(error)
        }
    }
}
