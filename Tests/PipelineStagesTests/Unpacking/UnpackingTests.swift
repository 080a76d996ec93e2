import CLibrary
import CArchive
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("Unpacking an archive")
struct UnpackingTests {
    private let folder = TransferFolder()

    private func unpack(
        _ bytes: [UInt8], _ format: UnpackDefinition.Format = .auto, limit: Int64 = 1 << 30,
        entries: Int = 1_000_000
    ) -> Swift.Result<Unpacking.Result, UnpackFailure> {
        let archive = folder.write("archive", bytes)
        var limits = UnpackLimits(bytes: limit)
        limits.entries = entries
        let unpacking = Unpacking(
            archive: archive, format: format, limits: limits, folder: "\(folder.path)/out")
        do throws(UnpackFailure) {
            return .success(try unpacking.perform())
        } catch {
            return .failure(error)
        }
    }

    private func refusal(_ entries: [PackedFile.Entry]) -> String? {
        guard case .failure(.unsafe(_, let reason)) = unpack(PackedFile.bytes(.tar, entries)) else { return nil }
        #expect(folder.names == ["archive"])
        return reason
    }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        lstat("\(folder.path)/out/\(name)", &status)
        return status.st_mode
    }

    @Test("tells two names apart that Swift takes for equal, as the file system does")
    func equivalentNames() throws {
        let (one, two) = ("\u{E9}.txt", "e\u{301}.txt")
        let entries: [PackedFile.Entry] = [
            .file(one, "one"), .file(two, "three"), PackedFile.Entry(name: "link", hardLink: one),
        ]
        let result = try unpack(PackedFile.plainTar(entries)).get()
        #expect(result.files.map(\.bytes) == [5, 3, 3])
        #expect(folder.read("out/link") == Array("one".utf8))
    }

    @Test(
        "gives names as they stand in the archive, composed or not", arguments: [PackedFile.Form.zip, .tar, .tarGzip])
    func namesAsTheyStand(form: PackedFile.Form) throws {
        let (one, two) = ("\u{E9}.txt", "e\u{301}.txt")
        let entries: [PackedFile.Entry] = [.file(one, "one"), .file(two, "three"), .file("o\u{308}/x", "x")]
        let result = try unpack(PackedFile.bytes(form, entries)).get()
        #expect(result.files.map { Array($0.path.utf8) } == [two, "o\u{308}/x", one].map { Array($0.utf8) })
        #expect(result.files.map(\.bytes) == [5, 1, 3])
        #expect(folder.read("out/\(one)") == Array("one".utf8))
        #expect(folder.read("out/\(two)") == Array("three".utf8))
    }

    @Test("refuses a zip with a name that can't be read, instead of leaving the file out")
    func unreadableName() {
        let packed = PackedFile.bytes(.zip, [.file("a", "1"), .file("\u{E9}", "2")]).map { $0 == 0xC3 ? 0xFF : $0 }
        guard case .failure(.damaged(let words)) = unpack(packed) else {
            Issue.record("it was taken")
            return
        }
        #expect(words.contains("name"))
        #expect(folder.names == ["archive"])
    }

    @Test("leads links to names as they stand in the archive")
    func linksAsTheyStand() throws {
        let entries: [PackedFile.Entry] = [
            .file("\u{E9}", "one"), .file("e\u{301}", "three"), .link("symbolic", to: "e\u{301}"),
            PackedFile.Entry(name: "hard", hardLink: "e\u{301}"),
        ]
        _ = try unpack(PackedFile.bytes(.tar, entries)).get()
        #expect(folder.read("out/symbolic") == Array("three".utf8))
        #expect(folder.read("out/hard") == Array("three".utf8))
    }

    @Test(
        "gives all files with their digests, whatever the form",
        arguments: [(PackedFile.Form.zip, "zip"), (.tar, "tar"), (.tarGzip, "tar"), (.zip, "auto"), (.tarGzip, "auto")])
    func whole(form: PackedFile.Form, word: String) throws {
        let entries: [PackedFile.Entry] = [
            .file("model.obj", "v 0 0 0"), .file("textures/größe.png", "png", mode: 0o755), .file("empty", ""),
        ]
        let result = try unpack(PackedFile.bytes(form, entries), try #require(.init(rawValue: word))).get()
        #expect(result.files.map(\.path) == ["empty", "model.obj", "textures/größe.png"])
        #expect(result.files.map(\.bytes) == [0, 7, 3])
        #expect(result.files[1].sha256 == TransferFolder.sha256(Array("v 0 0 0".utf8)))
        #expect(folder.read("out/model.obj") == Array("v 0 0 0".utf8))
        #expect(folder.read("out/textures/größe.png") == Array("png".utf8))
        #expect(mode("textures/größe.png") & 0o777 == 0o755)
        #expect(!result.isSingle)
    }

    @Test("gives a compressed file as one file")
    func single() throws {
        let content = TransferFolder.bytes(3 << 20)
        let packed = PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: content)])
        let result = try unpack(packed, .gz).get()
        #expect(result.isSingle)
        #expect(result.files.map(\.sha256) == [TransferFolder.sha256(content)])
        #expect(folder.read("out/content") == content)
    }

    @Test("unpacks one layer of several, as those between could take any time")
    func layers() throws {
        let inner = PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: TransferFolder.bytes(1000))])
        let outer = PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: inner)])
        for format in [UnpackDefinition.Format.gz, .auto] {
            let result = try unpack(outer, format).get()
            #expect(result.isSingle)
            #expect(folder.read("out/content") == inner)
            FolderTree.remove(folder.path + "/out")
        }
        guard case .failure(.unknownForm(.tar)) = unpack(outer, .tar) else {
            Issue.record("two layers were taken for a tar")
            return
        }
    }

    @Test("takes an archive without entries, and a compressed file without a byte")
    func nothingInside() throws {
        let zip: [UInt8] = [0x50, 0x4b, 0x05, 0x06] + [UInt8](repeating: 0, count: 18)
        for format in [UnpackDefinition.Format.zip, .auto] {
            let result = try unpack(zip, format).get()
            #expect(result.files.isEmpty && !result.isSingle)
            FolderTree.remove(folder.path + "/out")
        }
        let gzip = try #require(Base64Bytes.decode("H4sIAAAAAAAAAwMAAAAAAAAAAAA="))
        for format in [UnpackDefinition.Format.gz, .auto] {
            let result = try unpack(gzip, format).get()
            #expect(result.files.map(\.path) == ["content"] && result.files.map(\.bytes) == [0] && result.isSingle)
            #expect(folder.read("out/content") == [])
            FolderTree.remove(folder.path + "/out")
            for cut in [10, 12, 19] {
                guard case .failure(.damaged) = unpack(Array(gzip.prefix(cut)), format) else {
                    Issue.record("\(format): \(cut) bytes of it were not told as broken")
                    continue
                }
            }
        }
    }

    @Test("takes a name for no compression")
    func misleadingName() throws {
        let tar = PackedFile.plainTar([.file("BZh9.txt", "text")])
        for format in [UnpackDefinition.Format.tar, .auto] {
            #expect(try unpack(tar, format).get().files.map(\.path) == ["BZh9.txt"])
            FolderTree.remove(folder.path + "/out")
        }
    }

    @Test(
        "takes a tar in each compression",
        arguments: ["gzip -c", "bzip2 -c", "xz -c", "zstd -c", "pzstd -q -c", "cat"])
    func compressions(program: String) throws {
        let tar = PackedFile.bytes(.tar, [.file("a/b", "text"), .file("c", "more")])
        folder.write("plain", tar)
        let name = program.prefix { $0 != " " }
        guard access("/usr/bin/\(name)", X_OK) == 0 else { try Test.cancel("needs \(name)") }
        let pipe = try #require(popen("\(program) '\(folder.path)/plain'", "r"))
        var packed: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { packed += buffer[..<count] }
        try #require(pclose(pipe) == 0 && !packed.isEmpty, "\(program)")
        for format in [UnpackDefinition.Format.tar, .auto] {
            #expect(try unpack(packed, format).get().files.map(\.path) == ["a/b", "c"], "\(program)")
            #expect(folder.read("out/a/b") == Array("text".utf8))
            FolderTree.remove(folder.path + "/out")
        }
    }

    // libarchive's filter for it read from nowhere when it was named, and ended the process.
    @Test("takes a tar of compress, packed once")
    func compress() throws {
        let once =
            "H52QaMqwYfMGgMGDCBMqXMiwocOHECMihEHRBg0aIABQ3AgjI0eKHj9yrAFC5MeSMWDIgGEDQEmJMGPKnEkTQJ05dMLI0Qijps+f"
            + "PDmGFAq0qNGjSJPCDDiwoNKnUKNKnUq1qtWrWLNq3cq1q9evYMOKHUu2rNmzaNOqXcu2rVuv"
        let twice =
            "H52QHzpBQqMMVph5BgAFG4RgggouyGCFGnYIwggRhIJEM9BAAwgAULghGDHiiCIPP+SwCiCE3DFJMcAgAxRmAJAkiWCMUcYpyQQg"
            + "nXLQEYYsGoJRpp594pHDEAUFtFBFG4VkkjAGOGCBknYKyiglnZTUUlVtFZZZaropq7Xq2iswwxR1WGKLVbZZaKap6rLMVqstrwA="
        for format in [UnpackDefinition.Format.tar, .auto] {
            #expect(try unpack(#require(Base64Bytes.decode(once)), format).get().files.map(\.path) == ["hello"])
            #expect(folder.read("out/hello") == Array("hello".utf8))
            FolderTree.remove(folder.path + "/out")
            guard case .failure(.damaged) = unpack(try #require(Base64Bytes.decode(twice)), format) else {
                Issue.record("two layers were unpacked")
                return
            }
        }
        // What only begins like it is nothing of the kind.
        guard case .failure(.unknownForm) = unpack([0x1f, 0x9d, 0xff, 0x00], .auto) else {
            Issue.record("two bytes were taken for a compressed file")
            return
        }
    }

    @Test("takes a zip that was compressed once more for a compressed file")
    func compressedZIP() throws {
        let zip = PackedFile.bytes(.zip, [.file("a", "text")])
        let result = try unpack(PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: zip)])).get()
        #expect(result.isSingle)
        #expect(folder.read("out/content") == zip)
    }

    @Test("refuses every way out of the folder, and leaves nothing")
    func escapes() {
        #expect(refusal([.file("a", "x"), .file("../b", "x")])?.contains("'..'") == true)
        #expect(refusal([.file("a/../../b", "x")])?.contains("'..'") == true)
        #expect(refusal([.file("/tmp/b", "x")])?.contains("absolute") == true)
        #expect(refusal([.link("a", to: "/etc/passwd")])?.contains("absolute path") == true)
        #expect(refusal([.link("a", to: "../b")])?.contains("lead out") == true)
        #expect(refusal([.link("d/e/up", to: ".."), .link("f", to: "d/e/up/../..")])?.contains("lead out") == true)
        #expect(
            refusal([.file("d/x", "1"), .link("s", to: "d"), .file("s/y", "2")])?.contains("symbolic link") == true)
        let hard = PackedFile.Entry(name: "h", hardLink: "/etc/passwd")
        #expect(refusal([hard])?.contains("absolute") == true)
        #expect(
            refusal([.link("s", to: "d"), PackedFile.Entry(name: "h", hardLink: "s")])?.contains("no file") == true)
        #expect(refusal([PackedFile.Entry(name: "dev", kind: .device)])?.contains("device") == true)
        #expect(refusal([PackedFile.Entry(name: "pipe", kind: .pipe)])?.contains("device") == true)
        let long = Array(repeating: String(repeating: "a", count: 250), count: 20).joined(separator: "/")
        #expect(refusal([.file(long, "x")])?.contains("too long") == true)
        #expect(refusal([.file("a\u{1B}[2J", "x")])?.contains("control") == true)
    }

    @Test("keeps links that stay inside, and takes away rights that nobody asked for")
    func harmless() throws {
        let entries: [PackedFile.Entry] = [
            .file("lib/a.so.1", "code", mode: 0o4755), .link("lib/a.so", to: "a.so.1"), .link("x/y/z", to: "../../lib"),
            PackedFile.Entry(name: "copy", hardLink: "lib/a.so.1"),
        ]
        let result = try unpack(PackedFile.bytes(.tar, entries)).get()
        #expect(result.files.map(\.path) == ["copy", "lib/a.so.1"])
        #expect(folder.read("out/x/y/z/a.so") == Array("code".utf8))
        #expect(mode("lib/a.so.1") & 0o7777 == 0o755)
    }

    @Test("is found in the order in which it was written, whatever letters its names have")
    func order() throws {
        let entries: [PackedFile.Entry] = [.file("z", "1"), .file("e\u{301}", "2"), .file("\u{E9}", "3")]
        let result = try unpack(PackedFile.plainTar(entries)).get()
        let found = try FolderTree.files(in: folder.path + "/out")
        #expect(found.map(\.sha256) == result.files.map(\.sha256))
        #expect(result.files.map { Array($0.path.utf8).count } == [3, 1, 2])
    }

    @Test("keeps what a hard link leads to, also where the link brings its content once more")
    func filledLinks() throws {
        let text = Array("content".utf8)
        let entries = [
            PackedFile.Entry(name: "a", content: text), PackedFile.Entry(name: "b", content: text, hardLink: "a"),
            PackedFile.Entry(name: "c", content: text),
        ]
        let result = try unpack(PackedFile.plainTar(entries, isExtended: true)).get()
        for name in ["a", "b", "c"] { #expect(folder.read("out/\(name)") == text) }
        #expect(result.files.map(\.sha256) == Array(repeating: TransferFolder.sha256(text), count: 3))
    }

    @Test("counts the folders of a name like entries: few names could make more of them than a disk has room for")
    func folders() {
        let deep = (0..<20).map { number in
            PackedFile.Entry(name: (0..<90).map { "\(number)-\($0)" }.joined(separator: "/"))
        }
        let packed = PackedFile.bytes(.tarGzip, deep)
        guard case .failure(.tooMany(limit: 1000)) = unpack(packed, entries: 1000) else {
            Issue.record("not stopped")
            return
        }
        #expect(folder.names == ["archive"])
        #expect((try? unpack(packed, entries: 1800).get())?.files.count == 20)
    }

    // A member of gzip for each thousand: the archive is made, and read, without ever being whole in memory.
    @Test("takes a million entries and no more, and keeps nothing of an archive that has one more")
    func million() throws {
        func gzipped(_ content: [UInt8]) -> [UInt8] {
            PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: content)])
        }
        // A name that ends so is a folder's: the one that is unpacked into.
        let many = PackedFile.plainTar((1...1000).map { _ in PackedFile.Entry(name: "./") })
        let thousand = gzipped(Array(many.dropLast(1024)))
        let (one, end) = (Array(many.prefix(512)), [UInt8](repeating: 0, count: 1024))
        let full = [[UInt8]](repeating: thousand, count: 1000).flatMap(\.self)
        let result = try unpack(full + gzipped(end)).get()
        #expect(result.files.isEmpty)
        FolderTree.remove(folder.path + "/out")
        guard case .failure(.tooMany(limit: 1_000_000)) = unpack(full + gzipped(one + end)) else {
            Issue.record("an archive of a million entries and one was unpacked")
            return
        }
        #expect(folder.names == ["archive"])
    }

    @Test("counts a folder once that is an entry itself")
    func namedFolders() throws {
        let entries: [PackedFile.Entry] = [
            PackedFile.Entry(name: "a", kind: .folder, mode: 0o755), .file("a/x", "x"),
            PackedFile.Entry(name: "a/b", kind: .folder, mode: 0o755), .file("a/b/y", "y"), .file("a/z", "z"),
        ]
        #expect(try unpack(PackedFile.bytes(.tar, entries), entries: 5).get().files.count == 3)
        FolderTree.remove(folder.path + "/out")
        guard case .failure(.tooMany) = unpack(PackedFile.bytes(.tar, entries), entries: 4) else {
            Issue.record("there are five")
            return
        }
    }

    /// An image of a disk became an empty folder: to libarchive it is a tar archive without entries.
    @Test("takes a file that begins with zeros for a file", arguments: [512, 1024, 65536, 200_000])
    func leadingZeros(count: Int) throws {
        let content = [UInt8](repeating: 0, count: count) + Array("an image".utf8)
        let packed = PackedFile.bytes(.gzip, [PackedFile.Entry(name: "x", content: content)])
        let result = try unpack(packed).get()
        #expect(result.isSingle && result.files.map(\.bytes) == [Int64(content.count)])
        #expect(folder.read("out/content") == content)
        for (bytes, format) in [(packed, UnpackDefinition.Format.tar), (content, .tar), (content, .auto)] {
            FolderTree.remove(folder.path + "/out")
            #expect(unpack(bytes, format) == .failure(.unknownForm(format)))
            #expect(folder.names == ["archive"])
        }
    }

    @Test("takes zeros alone for an empty tar archive where they are no more than a record, else for a file")
    func zerosAlone() throws {
        for (count, isSingle) in [(1024, false), (10240, false), (1 << 20, true)] {
            let content = PackedFile.Entry(name: "x", content: [UInt8](repeating: 0, count: count))
            let result = try unpack(PackedFile.bytes(.gzip, [content])).get()
            #expect(result.isSingle == isSingle && result.files.count == (isSingle ? 1 : 0))
            FolderTree.remove(folder.path + "/out")
        }
    }

    @Test("refuses a path that is a file and a folder", arguments: [PackedFile.Form.zip, .tar])
    func fileAndFolder(form: PackedFile.Form) {
        for entries in [["a", "a/b"], ["a/b", "a"]] {
            let result = unpack(PackedFile.bytes(form, entries.map { .file($0, "x") }))
            guard case .failure(.unsafe(_, let reason)) = result else {
                Issue.record("not refused: \(entries), \(result)")
                continue
            }
            #expect(reason.contains("in the way"))
            #expect(folder.names == ["archive"])
        }
    }

    @Test("stops at the limit, whatever the archive says of its sizes")
    func bombs() {
        let zeros = PackedFile.Entry(name: "x", content: [UInt8](repeating: 0, count: 8 << 20))
        let forms: [(PackedFile.Form, UnpackDefinition.Format)] = [(.zip, .zip), (.tarGzip, .tar), (.gzip, .gz)]
        for (form, format) in forms {
            let result = unpack(PackedFile.bytes(form, [zeros]), format, limit: 1 << 20)
            guard case .failure(.tooLarge(limit: 1_048_576)) = result else {
                Issue.record("not stopped: \(form)")
                return
            }
            #expect(folder.names == ["archive"])
        }
        #expect(UnpackLimits(packed: 10 << 20, maximumSize: nil).bytes == 2000 << 20)
        #expect(UnpackLimits(packed: 100, maximumSize: nil).bytes == 256 << 20)
        #expect(UnpackLimits(packed: .max, maximumSize: nil).bytes == 1 << 40)
        #expect(UnpackLimits(packed: 100, maximumSize: 5).bytes == 5)
    }

    @Test("refuses a zip that is cut in the list of its entries, which a reader of streams does not miss")
    func cutList() throws {
        let packed = PackedFile.bytes(.zip, (0..<40).map { .file("part-\($0)", "text \($0)") })
        // The end itself is 22 bytes; before it stands the list, of some 50 bytes an entry.
        for lost in [1, 21, 22, 23, 300, 2000] {
            let cut = Array(packed.prefix(packed.count - lost))
            for format in [UnpackDefinition.Format.zip, .auto] {
                guard case .failure(.damaged(let words)) = unpack(cut, format) else {
                    Issue.record("taken without its last \(lost) bytes")
                    continue
                }
                #expect(words.contains("cut short"))
                #expect(folder.names == ["archive"])
            }
        }
        let comment = [UInt8](repeating: 0x20, count: 60_000)
        let length = [UInt8(comment.count & 0xff), UInt8(comment.count >> 8)]
        let commented: [UInt8] = Array(packed.prefix(packed.count - 2)) + length + comment
        #expect(try unpack(commented).get().files.count == 40)
    }

    @Test("refuses what is damaged, cut off, or no archive at all", arguments: [PackedFile.Form.zip, .tarGzip, .gzip])
    func damaged(form: PackedFile.Form) {
        let packed = PackedFile.bytes(form, [PackedFile.Entry(name: "x", content: TransferFolder.bytes(1 << 20))])
        guard case .failure(.damaged) = unpack(Array(packed.prefix(packed.count / 2))) else {
            Issue.record("a half archive was taken")
            return
        }
        #expect(folder.names == ["archive"])
        guard case .failure(.unknownForm(.auto)) = unpack(Array("<html>not found</html>".utf8)) else {
            Issue.record("a page was taken for an archive")
            return
        }
    }
}
