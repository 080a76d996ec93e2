import CLibrary
import PipelineCore

/// The facts that tell one state of a file from another without reading it.
package struct SourceFingerprint: Codable, Sendable, Hashable {
    var size: Int64
    /// Nanoseconds since 1970.
    var modified: Int64
    var inode: UInt64

    /// The fingerprint that facts about the file are kept with.
    var text: String { "\(size) \(modified / 1_000_000_000).\(modified % 1_000_000_000) \(inode)" }

    /// The fingerprint of the file at a path as facts about it are kept with; nil when it can't be looked at.
    package static func text(ofFileAt path: String) -> String? {
        var status = stat()
        return stat(path, &status) == 0 ? SourceFingerprint(status).text : nil
    }

    /// Size and modification time in seconds of the file at a path; nil when it can't be looked at. Through a file system
    /// that machines share its inode and the parts of a second may be others on each.
    package static func sharedText(ofFileAt path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let found = SourceFingerprint(status)
        return "\(found.size) \(found.modified / 1_000_000_000)"
    }
}

/// One state of a file, told apart from others without reading it, and from those of programs that set its time back.
struct SourceVersion: Sendable, Hashable {
    let fingerprint: SourceFingerprint
    /// The time when anything of the file last changed (ctime), in nanoseconds since 1970: names and rights count as
    /// well.
    let changed: Int64

    /// The file at a path as it is now; nil when it can't be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        fingerprint = SourceFingerprint(status)
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        changed = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// A local file that is sent.
struct SourceFile: Sendable, Hashable {
    var path: String
    var fingerprint: SourceFingerprint

    var size: Int64 { fingerprint.size }

    /// Looks at the file: it must be a regular one that can be read. An empty file is one.
    static func inspect(_ path: String) throws(StepFailure) -> SourceFile {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileFailure.last("read", path).stepFailure(place: nil) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            throw StepFailure(
                "\(path) is a folder, and only files can be uploaded", hint: "pack it into one file before")
        default:
            throw StepFailure(
                "\(path) is not a regular file", hint: "its length must be known: write it to a file before")
        }
        guard access(path, R_OK) == 0 else { throw FileFailure.last("read", path).stepFailure(place: nil) }
        guard status.st_size > 0 || isEmpty(path) else {
            throw StepFailure(
                "\(path) has bytes and says that it has none",
                hint: "its length must be known: write it to a file before")
        }
        return SourceFile(path: path, fingerprint: SourceFingerprint(status))
    }

    /// Returns whether there is nothing to read in a file, as its size says: those of /proc and the like have none.
    private static func isEmpty(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) <= 0
    }

    /// True if another file than the one that was looked at stands there by now. A place where none is, as on a disk
    /// that is away, has no other one: a caller that needs more of its bytes can't read them, and what was sent stays good.
    var hasChanged: Bool {
        var status = stat()
        return stat(path, &status) == 0 && SourceFingerprint(status) != fingerprint
    }
}

extension SourceFingerprint {
    init(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(
            size: Int64(status.st_size), modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec),
            inode: UInt64(status.st_ino))
    }
}
