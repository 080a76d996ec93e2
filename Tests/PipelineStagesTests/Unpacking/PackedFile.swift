import CLibrary
import CArchive

@testable import PipelineStages

/// Archives as honest and as hostile services make them.
enum PackedFile {
    enum Form { case zip, tar, tarGzip, gzip }

    /// The kinds of entry, as `st_mode` has them.
    enum Kind: UInt32 { case file = 0o100000, folder = 0o040000, link = 0o120000, device = 0o020000, pipe = 0o010000 }

    struct Entry {
        var name: String
        var content: [UInt8] = []
        var kind = Kind.file
        var link: String?
        var hardLink: String?
        var mode: UInt32 = 0o644

        static func file(_ name: String, _ text: String, mode: UInt32 = 0o644) -> Entry {
            Entry(name: name, content: Array(text.utf8), mode: mode)
        }
        static func link(_ name: String, to target: String) -> Entry {
            Entry(name: name, kind: .link, link: target)
        }
    }

    /// The bytes of an archive of the entries.
    static func bytes(_ form: Form, _ entries: [Entry]) -> [UInt8] {
        var template = Array("/tmp/pipeline-archive-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            close(descriptor)
            unlink(path)
        }
        Unpacking.inUTF8 { write(form, entries, to: descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, Int(status.st_size), 0))
        }
    }

    /// A tar as POSIX.1-1988 has it (ustar), of files and hard links: its names are bytes, which nobody normalizes.
    ///
    /// - Parameter isExtended: whether it has a header of POSIX.1-2001 (pax) before it, by which a hard link may bring the
    ///   content once more.
    static func plainTar(_ entries: [Entry], isExtended: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        if isExtended { bytes = Array(plainTar([.file("pax", "19 comment=nothing\n")], kind: "g").dropLast(1024)) }
        return bytes + plainTar(entries, kind: nil)
    }

    private static func plainTar(_ entries: [Entry], kind: String?) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ text: String, at place: Int) {
                header.replaceSubrange(place..<(place + text.utf8.count), with: Array(text.utf8))
            }
            put(entry.name, at: 0)
            put("0000644", at: 100)
            put(String(1 << 33 | entry.content.count, radix: 8).suffix(11).description, at: 124)
            put("00000000000", at: 136)
            put("        ", at: 148)
            put(kind ?? (entry.hardLink == nil ? "0" : "1"), at: 156)
            put(entry.hardLink ?? "", at: 157)
            put("ustar\u{0}00", at: 257)
            put(String(1 << 18 | header.reduce(0) { $0 + Int($1) }, radix: 8).suffix(6) + "\u{0} ", at: 148)
            bytes += header + entry.content
            bytes += [UInt8](repeating: 0, count: -entry.content.count & 511)
        }
        return bytes + [UInt8](repeating: 0, count: 1024)
    }

    private static func write(_ form: Form, _ entries: [Entry], to descriptor: Int32) {
        let writer = archive_write_new()
        defer { archive_write_free(writer) }
        switch form {
        case .zip: archive_write_set_format_zip(writer)
        case .tar, .tarGzip: archive_write_set_format_pax_restricted(writer)
        case .gzip: archive_write_set_format_raw(writer)
        }
        if form == .tarGzip || form == .gzip { archive_write_add_filter_gzip(writer) }
        archive_write_open_fd(writer, descriptor)
        for item in entries {
            let entry = archive_entry_new()
            defer { archive_entry_free(entry) }
            // A name that is set as UTF-8 would be composed.
            archive_entry_copy_pathname(entry, item.name)
            archive_entry_set_filetype(entry, item.kind.rawValue)
            archive_entry_set_perm(entry, item.mode)
            archive_entry_set_size(entry, Int64(item.content.count))
            archive_entry_set_mtime(entry, 1_600_000_000, 0)
            if let link = item.link { archive_entry_set_symlink(entry, link) }
            if let link = item.hardLink { archive_entry_set_hardlink(entry, link) }
            archive_write_header(writer, entry)
            _ = item.content.withUnsafeBytes { archive_write_data(writer, $0.baseAddress, $0.count) }
        }
        archive_write_close(writer)
    }
}
