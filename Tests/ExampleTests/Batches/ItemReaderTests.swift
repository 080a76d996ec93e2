import Foundation
import JSONPath
import PipelineKit
import Testing

@Suite("Items are read")
struct ItemReaderTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "items-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func rows(of text: [UInt8], separator: Character = ",") throws -> [ItemRow] {
        var rows: [ItemRow] = []
        try withFolder { folder in
            try Data(text).write(to: URL(filePath: folder + "/t.csv"))
            let reader = try TableReader(folder + "/t.csv", separator: separator.asciiValue ?? 0)
            while let row = try reader.next() { rows.append(row) }
        }
        return rows
    }

    private func rows(of text: String, separator: Character = ",") throws -> [ItemRow] {
        try rows(of: Array(text.utf8), separator: separator)
    }

    private func bad(_ row: ItemRow) -> String? {
        guard case .bad(let reason) = row.content else { return nil }
        return reason
    }

    @Test("from a table with quotes, line breaks in fields, doubled quotes and any line ends")
    func table() throws {
        let text = "\u{FEFF}a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n2,\r3,\"\"\n4,last"
        #expect(
            try rows(of: text) == [
                ItemRow(line: 2, content: .fields(["1", "x, \"y\"\nz"])),
                ItemRow(line: 5, content: .fields(["2", ""])), ItemRow(line: 6, content: .fields(["3", ""])),
                ItemRow(line: 7, content: .fields(["4", "last"])),
            ])
        #expect(
            try rows(of: "a\tb\n1,0\t\"2\"\n", separator: "\t") == [ItemRow(line: 2, content: .fields(["1,0", "2"]))])
    }

    @Test("with a bad row told by its line, and the next one read")
    func badRows() throws {
        let bytes = Array("a,b\n1,2,3\n4\nx\"y,5\n\"q\"r,6\n".utf8) + [0xFF, 0x2C, 0x37, 0x0A] + Array("8,9\n".utf8)
        let rows = try rows(of: bytes)
        #expect(rows.map(\.line) == [2, 3, 4, 5, 6, 7])
        #expect(bad(rows[0]) == "it has 3 fields, and the header 2")
        #expect(bad(rows[1]) == "it has 1 fields, and the header 2")
        #expect(bad(rows[2])?.hasPrefix("a quote stands inside a field") == true)
        #expect(bad(rows[3])?.hasPrefix("text follows a closing quote") == true)
        #expect(bad(rows[4]) == "field 1 is not UTF-8 text")
        #expect(rows[5].content == .fields(["8", "9"]))
        let open = try self.rows(of: "a\n\"never\nends\n")
        #expect(open.count == 1 && open[0].line == 2 && bad(open[0]) == "a quote that begins here never ends")
    }

    @Test("not at all with a header that can't be right")
    func headers() throws {
        for (text, part) in [
            ("a,b,a\n", "the column 'a' stands twice"), ("a,,b\n", "column 2 of"), ("", "is empty"),
            ("\"a\n", "a quote that begins here never ends"),
        ] {
            let error = #expect(throws: ItemSourceError.self) { _ = try rows(of: text) }
            #expect(error?.message.contains(part) == true, "\(text)")
        }
    }

    @Test("from the place that an earlier reading reached")
    func place() throws {
        try withFolder { folder in
            try Data("a\n1\n2\n3\n".utf8).write(to: URL(filePath: folder + "/t.csv"))
            let first = try TableReader(folder + "/t.csv", separator: 0x2C)
            _ = try first.next()
            let second = try TableReader(folder + "/t.csv", separator: 0x2C, from: first.place)
            #expect(try second.next() == ItemRow(line: 3, content: .fields(["2"])))
        }
    }

    @Test("from JSON Lines, whose bad lines are bad rows")
    func objects() throws {
        try withFolder { folder in
            let path = folder + "/t.jsonl"
            let lines = [#"{"a": 1}"#, "", "[1]", #"{"a":"#, #"{"a": "ä"}"#, #"{"a": 1, "a": 2}"#]
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
            let reader = try JSONLinesReader(path)
            var rows: [ItemRow] = []
            while let row = try reader.next() { rows.append(row) }
            #expect(rows.map(\.line) == [1, 3, 4, 5, 6])
            #expect(rows[0].content == .members(["a": 1]) && rows[3].content == .members(["a": "ä"]))
            #expect(bad(rows[1])?.hasPrefix("it is no JSON object") == true)
            #expect(bad(rows[2])?.hasPrefix("it is not JSON") == true)
            #expect(bad(rows[4])?.contains("the name “a” stands twice") == true)
        }
    }

    @Test("from lines and from what find -print0 writes, line breaks in names too")
    func values() throws {
        try withFolder { folder in
            let path = folder + "/t"
            try Data("a b\r\n\nc".utf8).write(to: URL(filePath: path))
            let lines = try ValueReader(path, separator: 0x0A)
            #expect(try lines.next() == ItemRow(line: 1, content: .value("a b")))
            #expect(try lines.next() == ItemRow(line: 3, content: .value("c")))
            #expect(try lines.next() == nil)
            try Data("a\nb\u{0}c\u{0}".utf8).write(to: URL(filePath: path))
            let names = try ValueReader(path, separator: 0)
            #expect(try names.next()?.content == .value("a\nb"))
            #expect(try names.next()?.content == .value("c"))
        }
    }

    @Test("from files by patterns: folders of any depth, braces, hidden files only by a dot, folders never")
    func patterns() throws {
        try withFolder { folder in
            for name in ["a.wav", "b.mp3", "c.txt", ".h.wav", "x/d.wav", "x/y/e.wav", ".z/f.wav"] {
                let url = URL(filePath: "\(folder)/\(name)")
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("1".utf8).write(to: url)
            }
            func found(_ pattern: String) throws -> [String] {
                try FilePattern(pattern).files(in: folder).map(\.path)
            }
            #expect(try found("*.wav") == ["a.wav"])
            #expect(try found("**/*.wav") == ["a.wav", "x/d.wav", "x/y/e.wav"])
            #expect(try found("*.{wav,mp3}") == ["a.wav", "b.mp3"])
            #expect(try found("[ab].*") == ["a.wav", "b.mp3"])
            #expect(try found(".*.wav") == [".h.wav"])
            #expect(try found("*") == ["a.wav", "b.mp3", "c.txt"])
            #expect(try found("x/") == ["x/d.wav"])
            #expect(try found(folder + "/x/**") == [folder + "/x/d.wav", folder + "/x/y/e.wav"])
            #expect(try FilePattern("x/**/*.wav").fixedPart == "x/")
            #expect(throws: ItemSourceError.self) { _ = try FilePattern("a{b") }
            let empty = #expect(throws: ItemSourceError.self) { _ = try FileReader("*.flac", in: folder) }
            #expect(empty?.message == "no file matches '*.flac'")
        }
    }

    /// The hint of an unbalanced brace says to write it so, and that was an unbalanced brace as well.
    @Test("from files whose names have braces, which stand for themselves in brackets")
    func bracesInBrackets() throws {
        try withFolder { folder in
            for name in ["a{.wav", "b}.wav", "c{d}.wav", "cd.wav"] { try makeFile(Array(name.utf8), in: folder) }
            func found(_ pattern: String) throws -> [String] { try FilePattern(pattern).files(in: folder).map(\.path) }
            #expect(try found("a[{].wav") == ["a{.wav"])
            #expect(try found("b[}].wav") == ["b}.wav"])
            #expect(try found("c[{]d[}].wav") == ["c{d}.wav"])
            #expect(try found("{a[{],b[}],cd}.wav") == ["a{.wav", "b}.wav", "cd.wav"])
        }
    }

    /// Of two names that look alike one was left out, as were names that are no text and links that lead nowhere.
    @Test("from files whatever they are called: none that matches is left out without a word")
    func oddNames() throws {
        try withFolder { folder in
            for name: [UInt8] in [
                Array("a.wav".utf8), Array("\u{FC}.wav".utf8), Array("u\u{308}.wav".utf8),
                [0x4D, 0xFC] + Array(".wav".utf8),
            ] { try makeFile(name, in: folder) }
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/link.wav", withDestinationPath: "gone")
            let found = try FilePattern("*.wav").files(in: folder)
            #expect(
                found.map { Array($0.path.utf8) }
                    == ["M\\xfc.wav", "a.wav", "link.wav", "u\u{308}.wav", "\u{FC}.wav"].map { Array($0.utf8) })
            #expect(try FilePattern("?.wav").files(in: folder).count == 2, "a letter of two bytes is one")
            #expect(try FilePattern("[ü].wav").files(in: folder).count == 1)
            let reader = try FileReader("*.wav", in: folder)
            #expect(reader.next()?.content == .badName("M\\xfc.wav"))
        }
    }

    private func makeFile(_ name: [UInt8], in folder: String) throws {
        let path = (Array((folder + "/").utf8) + name + [0]).map { CChar(bitPattern: $0) }
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
    }

    /// Such a folder was taken for a file by `*`, and what it holds was left out by `**`.
    @Test("from folders whose names are no text: they are no files, and what they hold is found")
    func oddFolders() throws {
        try withFolder { folder in
            let odd: [UInt8] = [0x4D, 0xFC]
            let path = (Array((folder + "/").utf8) + odd + [0]).map { CChar(bitPattern: $0) }
            try #require(mkdir(path, 0o700) == 0)
            try makeFile(Array("a.wav".utf8), in: folder)
            try makeFile(odd + Array("/b.wav".utf8), in: folder)
            func found(_ pattern: String) throws -> [String] { try FilePattern(pattern).files(in: folder).map(\.path) }
            #expect(try found("*") == ["a.wav"])
            #expect(try found("M*/") == ["M\\xfc/b.wav"])
            #expect(try found("**/*.wav") == ["M\\xfc/b.wav", "a.wav"])
            #expect(FilePattern.files(of: folder).map(\.path) == [folder + "/a.wav"])
            let reader = try FileReader("**", in: folder)
            #expect(reader.next()?.content == .badName("M\\xfc/b.wav"))
            #expect(reader.next()?.content == .value("a.wav"))
        }
    }

    @Test("from what --each says, and from nothing else")
    func sources() throws {
        func source(_ text: String) throws -> ItemSource { try ItemSource(text, inputs: ["video", "n"]) }
        #expect(try source("video=*.mov") == .files(input: "video", pattern: "*.mov"))
        #expect(try source("video=-0") == .values(input: "video", separator: 0))
        #expect(try source("-") == .objects(path: nil))
        #expect(try source("a/b.jsonl") == .objects(path: "a/b.jsonl"))
        #expect(try source("B.CSV") == .table(path: "B.CSV", separator: 0x2C))
        #expect(try source("rows.tsv=-") == .table(path: nil, separator: 0x09))
        for text in ["vido=*.mov", "video=", "readme.md"] {
            #expect(throws: ItemSourceError.self, "\(text)") { _ = try source(text) }
        }
    }
}
