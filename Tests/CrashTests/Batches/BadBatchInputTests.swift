import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// Mistakes that people make with a batch's input, and what happens while it is read.
@Suite("A batch of bad input")
struct BadBatchInputTests {
    private static let document = """
        { "pipeline": 1, "name": "note",
          "inputs": { "text": { "type": "string", "default": "" } },
          "stages": [ { "id": "w", "kind": "write", "to": "${{ slug(job.item) }}.txt", "text": "${{ inputs.text }}" } ] }
        """

    private static let fileDocument = document.replacingOccurrences(
        of: #""text": { "type": "string", "default": "" }"#, with: #""file": { "type": "file" }"#
    ).replacingOccurrences(of: "inputs.text", with: "inputs.file")

    private func withDocument(
        _ document: String = document, _ body: (Workplace) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            try FileManager.default.createDirectory(
                atPath: workplace.path("in"), withIntermediateDirectories: true)
            try workplace.write("note.json", document)
            try await body(workplace)
        }
    }

    private func run(
        _ workplace: Workplace, each source: String, batch: String = "june", _ more: String...
    ) async throws -> ProgramEnd {
        try await workplace.program.run(
            ["run", "note.json", "--each", source, "--batch", batch, "--output", "out"] + more,
            environment: workplace.environment(), folder: workplace.folder)
    }

    @Test("a pattern that finds nothing begins nothing")
    func emptyPattern() async throws {
        try await withDocument(Self.fileDocument) { workplace in
            let end = try await run(workplace, each: "file=in/*.wav")
            #expect(end.cause == .exited(2) && end.errors.contains("no file matches 'in/*.wav'"), "\(end)")
            #expect(try await workplace.run("show", "june").cause == .exited(64))
        }
    }

    /// `--overwrite` emptied it before a secret was missed, and where it was the table of rows itself.
    @Test("a file of results is replaced only once the batch begins, and is never what that is made from")
    func results() async throws {
        let document = Self.document.replacingOccurrences(of: "${{ inputs.text }}", with: "${{ secrets.KEY }}")
        try await withDocument(document) { workplace in
            let rows = try workplace.write("rows.csv", "text\na\n")
            let kept = try workplace.write("kept.jsonl", "{\"item\":\"old\"}\n")
            func overwrite(_ path: String, key: [String: String] = [:]) async throws -> ProgramEnd {
                try await workplace.program.run(
                    ["run", "note.json", "--each", rows, "--batch", "june", "--results", path, "--overwrite"],
                    environment: workplace.environment(key), folder: workplace.folder)
            }
            let missing = try await overwrite(kept)
            #expect(missing.cause == .exited(2) && missing.errors.contains("KEY is not set"), "\(missing)")
            for (path, message) in [(rows, "reads that file"), (workplace.path("note.json"), "is the document")] {
                let end = try await overwrite(path, key: ["PIPELINE_SECRET_KEY": "sesame-sesame"])
                #expect(end.cause == .exited(2) && end.errors.contains(message), "\(end)")
            }
            #expect(workplace.bytes(kept) == Array("{\"item\":\"old\"}\n".utf8))
            #expect(workplace.bytes(rows) == Array("text\na\n".utf8))
        }
    }

    /// Its last line was cut off, and rows followed on the rest.
    @Test("another file in the place of the batch's results is left alone")
    func foreignResults() async throws {
        try await withDocument { workplace in
            let rows = try workplace.write("rows.csv", "text\na\n")
            #expect(try await run(workplace, each: rows, "--results", "r.jsonl").cause == .exited(0))
            try workplace.write("r.jsonl", "my notes, without an end")
            let end = try await run(workplace, each: rows, "--results", "r.jsonl")
            #expect(end.cause == .exited(2) && end.errors.contains("is not the file that the rows"), "\(end)")
            #expect(workplace.bytes(workplace.path("r.jsonl")) == Array("my notes, without an end".utf8))
        }
    }

    /// The second run would have sent the rows as an item.
    @Test("rows go to no file that a pattern of the same command finds, there or not yet")
    func resultsAmongItems() async throws {
        try await withDocument(Self.fileDocument) { workplace in
            try FileManager.default.createDirectory(
                atPath: workplace.path("in"), withIntermediateDirectories: true)
            try workplace.write("in/a.jsonl", "{}\n")
            for pattern in ["in/*.jsonl", "**/*.jsonl", "{in,out}/rows.*", "\(workplace.folder)/in/"] {
                let end = try await run(workplace, each: "file=\(pattern)", "--results", "in/rows.jsonl")
                #expect(end.cause == .exited(2) && end.errors.contains("in/rows.jsonl: --each"), "\(pattern): \(end)")
                #expect(workplace.bytes(workplace.path("in/rows.jsonl")) == nil)
            }
        }
    }

    /// Rows were known by item and attempt alone: those of the other batch were taken for its own.
    @Test("a batch does not go on with a file of results that another batch has taken")
    func takenResults() async throws {
        try await withDocument { workplace in
            let rows = try workplace.write("rows.csv", "text\na\n")
            #expect(try await run(workplace, each: rows, "--results", "r.jsonl").cause == .exited(0))
            let other = try await run(workplace, each: rows, batch: "july", "--results", "r.jsonl", "--overwrite")
            #expect(other.cause == .exited(0), "\(other)")
            let taken = try #require(workplace.bytes(workplace.path("r.jsonl")))
            try workplace.write("rows.csv", "text\na\nb\n")
            let end = try await run(workplace, each: rows, "--results", "r.jsonl")
            #expect(end.cause == .exited(2) && end.errors.contains("is not the file that the rows"), "\(end)")
            #expect(workplace.bytes(workplace.path("r.jsonl")) == taken)
            let own = try await run(workplace, each: rows, batch: "july", "--results", "r.jsonl")
            let both = try #require(workplace.bytes(workplace.path("r.jsonl")))
            #expect(own.cause == .exited(0) && both.count > taken.count && both.starts(with: taken), "\(own)")
        }
    }

    /// A field of such a column had to be JSON: paths, patterns and folders were bad rows.
    @Test("a field of a table names files as -i does: a path, a pattern, a folder, or several in an array")
    func filesOfTable() async throws {
        let document = """
            { "pipeline": 1, "name": "note", "batch": { "key": "${{ inputs.name }}" },
              "inputs": { "name": { "type": "string" }, "photos": { "type": "files" } },
              "stages": [
                { "id": "w", "kind": "write", "to": "${{ inputs.name }}.json", "json": "${{ inputs.photos }}" }
              ] }
            """
        try await withDocument(document) { workplace in
            let photos = ["1.jpg", "2.jpg", "3.png"].map { workplace.path("in/ph/\($0)") }
            try FileManager.default.createDirectory(
                atPath: workplace.path("in/ph"), withIntermediateDirectories: true)
            for photo in photos { try Data("x".utf8).write(to: URL(filePath: photo)) }
            try workplace.write(
                "in/rows.csv",
                """
                name,photos
                one,ph/1.jpg
                pattern,ph/*.jpg
                folder,ph
                list,"[""ph/3.png"",""ph/1.jpg""]"

                """)
            let end = try await run(workplace, each: "in/rows.csv")
            #expect(end.cause == .exited(0) && end.lines.count == 4, "\(end)")
            for (name, paths) in [
                ("one", [photos[0]]), ("pattern", [photos[0], photos[1]]), ("folder", photos),
                ("list", [photos[2], photos[0]]),
            ] {
                let written = try JSON.parse(workplace.bytes(workplace.path("out/\(name).json")) ?? [])
                #expect(written == .array(paths.map(JSON.string)), "\(name): \(written.text)")
            }
        }
    }

    @Test("ten megabytes in one field are one item's")
    func largeField() async throws {
        try await withDocument { workplace in
            try workplace.write("rows.csv", "text\n" + String(repeating: "x", count: 10_000_000) + "\nsmall\n")
            let end = try await run(workplace, each: "rows.csv")
            #expect(end.cause == .exited(0) && end.lines.count == 2, "\(end.cause) \(end.errors.prefix(2000))")
            let sizes = end.lines.compactMap { workplace.bytes($0)?.count }.sorted()
            #expect(sizes == [5, 10_000_000])
        }
    }

    @Test("bytes that are no UTF-8 are a bad row with its line; the others are done")
    func invalidText() async throws {
        try await withDocument { workplace in
            try workplace.write("rows.csv", Array("text\none\n".utf8) + [0xFF, 0xFE, 0x0A] + Array("three\n".utf8))
            let end = try await run(workplace, each: "rows.csv")
            #expect(end.cause == .exited(1) && end.lines.count == 2, "\(end)")
            #expect(end.errors.contains("rows.csv:3") && end.errors.contains("UTF-8"), "\(end)")
        }
    }

    /// It named 'pipeline retry', which finds no item to begin again.
    @Test("that stops for its bad rows says to mend them and run the same command again")
    func stopsAtRows() async throws {
        let document = Self.document.replacing(
            #""text": { "type": "string", "default": "" }"#, with: #""text": { "type": "number" }"#
        ).replacing("${{ inputs.text }}", with: "n = ${{ inputs.text }}")
        try await withDocument(document) { workplace in
            try workplace.write("rows.csv", "text\nx\ny\nz\n1\n2\n3\n")
            let end = try await run(workplace, each: "rows.csv", "--tolerate", "1", "--at-once", "1")
            #expect(end.cause == .exited(75), "\(end)")
            let advice = "once the rows are mended, run the same command again"
            #expect(end.errors.contains(advice) && !end.errors.contains("pipeline retry"), "\(end)")
            let why = try await workplace.run("why", "june")
            #expect(why.output.contains(advice) && !why.output.contains("pipeline retry"), "\(why)")
            try workplace.write("rows.csv", "text\n7\n8\n9\n1\n2\n3\n")
            let mended = try await run(workplace, each: "rows.csv", "--tolerate", "1", "--at-once", "1")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(try await workplace.show("june")["counts"]?["succeeded"] == 6)
        }
    }

    @Test("a file that is gone when its turn comes is an item that failed")
    func vanished() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write(
                "held.json",
                HeldService.document.replacingOccurrences(
                    of: #""name": { "type": "string" }"#, with: #""name": { "type": "file" }"#
                ).replacingOccurrences(
                    of: #""json": { "name": "${{ inputs.name }}" }"#, with: #""file": "${{ inputs.name }}""#))
            try workplace.write("a.wav", "a")
            try workplace.write("b.wav", "b")
            let program = try workplace.program.start(
                ["run", "held.json", "--each", "name=*.wav", "--batch", "june", "--at-once", "1"],
                environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
            _ = await service.server.requests(atLeast: 2)
            try FileManager.default.removeItem(atPath: workplace.path("b.wav"))
            service.open()
            let end = await program.end
            #expect(end.cause == .exited(1) && end.errors.contains("b.wav"), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["counts"]?["succeeded"] == 1 && shown["counts"]?["failed"] == 1, "\(shown.text)")
            #expect(service.names.count == 1)
        }
    }

    @Test("one file by two names is two items, and the second of two that write one file fails before it begins")
    func twoNames() async throws {
        try await withDocument(Self.fileDocument) { workplace in
            try workplace.write("in/a.wav", "a")
            try FileManager.default.createSymbolicLink(
                atPath: workplace.path("in/b.wav"), withDestinationPath: "a.wav")
            #expect(try await run(workplace, each: "file=in/*").cause == .exited(0))
            #expect(try await workplace.show("june")["counts"]?["succeeded"] == 2)
            try workplace.write(
                "note.json",
                Self.fileDocument.replacingOccurrences(of: "slug(job.item)", with: "stem(inputs.file)"))
            try workplace.write("rows.csv", "file\nin/a.wav\n./in/a.wav\n")
            let end = try await workplace.run(
                "run", "note.json", "--each", "rows.csv", "--batch", "two", "--output", "two")
            #expect(end.cause == .exited(1) && end.lines.count == 1, "\(end)")
            #expect(end.errors.contains("it would write \(workplace.folder)/two/a.txt"), "\(end)")
        }
    }

    @Test("a key of ten thousand characters is a bad row")
    func longKey() async throws {
        try await withDocument { workplace in
            try workplace.write("names.txt", String(repeating: "k", count: 10_000) + "\nshort\n")
            let end = try await shell(
                "exec \"$0\" run note.json --each text=- --batch june --output out < names.txt", workplace
            ).end
            #expect(end.cause == .exited(1) && end.lines.count == 1, "\(end)")
            #expect(end.errors.contains("its key has 10000 bytes, and may have 2400"), "\(end)")
        }
    }

    /// A journal in PostgreSQL can't keep such a path in its index: it ended the whole batch there.
    @Test("a file with a path of 2,400 letters and more is a bad row")
    func longPath() async throws {
        let document = Self.document.replacingOccurrences(of: "slug(job.item)", with: "inputs.text")
        try await withDocument(document) { workplace in
            try workplace.write("names.txt", String(repeating: "k", count: 2_400) + "\nshort\n")
            let end = try await shell(
                "exec \"$0\" run note.json --each text=- --batch june --output out < names.txt", workplace
            ).end
            #expect(end.cause == .exited(1) && end.lines.count == 1, "\(end)")
            #expect(end.errors.contains("it would write a file whose path has 24"), "\(end)")
            #expect(end.errors.contains("bytes, and may have 2400"), "\(end)")
        }
    }

    /// On PostgreSQL, whose texts have none, it ended the whole batch once; both journals take the same rows.
    @Test("a key with a NUL is a bad row")
    func nullInKey() async throws {
        try await withDocument { workplace in
            try workplace.write("names.txt", "good\nthree\0\n")
            let end = try await shell(
                "exec \"$0\" run note.json --each text=- --batch june --output out < names.txt", workplace
            ).end
            #expect(end.cause == .exited(1) && end.lines.count == 1, "\(end)")
            #expect(end.errors.contains("its key holds a NUL"), "\(end)")
        }
    }

    /// Its first rows, or its header, were lost without a word.
    @Test("a named pipe in the place of a file is refused", arguments: ["rows.jsonl", "rows.csv"])
    func namedPipe(name: String) async throws {
        try await withDocument { workplace in
            try #require(mkfifo(workplace.path(name), 0o600) == 0)
            let end = try await run(workplace, each: name)
            #expect(end.cause == .exited(2) && end.errors.contains("\(name) is no regular file"), "\(end)")
        }
    }

    /// A run of a batch that has done two lines of a pipe, whose writer has stopped in the middle of the third: programs
    /// write blocks.
    private func startReading(in workplace: Workplace) async throws -> (program: RunningProgram, writer: Int32) {
        let pipe = workplace.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let writer = open(pipe, O_RDWR)
        let program = try shell(
            "exec \"$0\" run note.json --each text=- --batch june --output out < pipe", workplace)
        _ = write(writer, "one\ntwo\nth", 10)
        #expect(await program.hasWritten("out/two"), "\(program.text)")
        return (program, writer)
    }

    @Test("Ctrl-C while a pipe is read keeps what has come; the same command adds the rest")
    func interruptedReading() async throws {
        try await withDocument { workplace in
            let (program, writer) = try await startReading(in: workplace)
            defer { close(writer) }
            program.signal(SIGINT)
            let end = await program.end
            #expect(end.cause == .exited(75) && end.errors.contains("run the same command again"), "\(end)")
            let shown = try await workplace.run("show", "june")
            #expect(shown.output.contains("run the same command again"), "resume can't read the rest: \(shown)")
            try workplace.write("names.txt", "one\ntwo\nthree\n")
            let again = try await shell(
                "exec \"$0\" run note.json --each text=- --batch june --output out < names.txt", workplace
            ).end
            #expect(again.cause == .exited(0) && again.lines.count == 1, "\(again)")
            #expect(try await workplace.show("june")["counts"]?["succeeded"] == 3)
        }
    }

    @Test("a pipe cut by kill -9 is no whole batch: resume says what it has, the same command adds the rest")
    func cutPipe() async throws {
        try await withDocument { workplace in
            let (program, writer) = try await startReading(in: workplace)
            defer { close(writer) }
            program.signal(SIGKILL)
            _ = await program.end
            for _ in 1...2 {
                let resumed = try await workplace.run("resume", "june")
                #expect(resumed.cause == .exited(75), "\(resumed)")
                #expect(
                    resumed.errors.contains("2 items were read of its standard input before it was cut"), "\(resumed)")
            }
            let shown = try await workplace.show("june")
            #expect(shown["state"] == "suspended" && shown["counts"]?["succeeded"] == 2, "\(shown.text)")
            let why = try await workplace.run("why", "june")
            #expect(why.output.contains("run the same command again"), "\(why)")
            try workplace.write("names.txt", "one\ntwo\nthree\n")
            let again = try await shell(
                "exec \"$0\" run note.json --each text=- --batch june --output out < names.txt", workplace
            ).end
            #expect(again.cause == .exited(0) && again.lines.count == 1, "\(again)")
        }
    }

    @Test("two commands of one batch in one moment do each item once")
    func twice() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            service.open()
            let (rows, names) = HeldService.rows(30)
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", rows)
            let programs = try (1...3).map { _ in
                try workplace.program.start(
                    ["run", "held.json", "--each", "rows.csv", "--batch", "june"],
                    environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
            }
            for program in programs {
                let end = await program.end
                #expect(end.cause == .exited(0), "\(end)")
            }
            #expect(service.names == names.sorted())
            #expect(try await workplace.show("june")["counts"]?["succeeded"] == 30)
        }
    }

    #if os(Linux)
        @Test(
            "a disk that fills while rows are read ends the reading; with room the same command adds the rest",
            .enabled(if: BadDiskTests.canMount, "needs the right to mount a file system"))
        func fullDisk() async throws {
            try await withDocument { workplace in
                try FileManager.default.createDirectory(atPath: workplace.state, withIntermediateDirectories: true)
                try #require(mount("tmpfs", workplace.state, "tmpfs", 0, "size=3m,mode=0700") == 0)
                defer { umount2(workplace.state, Int32(MNT_DETACH)) }
                let rows = (1...20_000).map { "row-\($0)\n" }.joined()
                try workplace.write("rows.csv", "text\n" + rows)
                let full = try await run(workplace, each: "rows.csv", "--detach")
                #expect(full.cause != .exited(0), "\(full)")
                #expect(full.errors.contains("no space left where jobs are kept: \(workplace.state)"), "\(full)")
                #expect(mount("tmpfs", workplace.state, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
                let counts = try await workplace.show("june")["counts"]
                #expect(counts?["running"] == 0 && counts?["failed"] == 0, "\(counts?.text ?? "")")
                try workplace.write("rows.csv", "text\n" + (1...100).map { "row-\($0)\n" }.joined())
                let program = try workplace.program.start(
                    ["run", "note.json", "--each", "rows.csv", "--batch", "june", "--output", "out"],
                    environment: workplace.environment(), folder: workplace.folder)
                #expect(await program.hasWritten("out/"), "\(program.text)")
                program.signal(SIGINT)
                let end = await program.end
                #expect(end.cause == .exited(75), "\(end.cause) \(end.errors)")
                let doctor = try await workplace.run("doctor")
                #expect(doctor.output.contains("journal   whole"), "\(doctor)")
            }
        }
    #endif

    private func shell(_ script: String, _ workplace: Workplace) throws -> RunningProgram {
        try BuiltProgram(path: "/bin/sh").start(
            ["-c", script, workplace.program.path], environment: workplace.environment(), folder: workplace.folder)
    }
}
