import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// The command of a batch given again: while the first runs, with other rows, or for one item.
@Suite("A batch that is run again")
struct RepeatedBatchTests {
    private static let document = """
        { "pipeline": 1, "name": "note", "batch": { "key": "${{ inputs.name }}" },
          "inputs": { "name": { "type": "string" }, "text": { "type": "string", "default": "" } },
          "stages": [ { "id": "w", "kind": "write", "to": "${{ inputs.name }}.txt", "text": "${{ inputs.text }}" } ] }
        """

    private func run(_ workplace: Workplace, _ more: String...) async throws -> ProgramEnd {
        try await workplace.program.run(
            ["run", "note.json", "--each", "rows.csv", "--batch", "june", "--output", "out"] + more,
            environment: workplace.environment(), folder: workplace.folder)
    }

    private func rows(_ end: ProgramEnd) throws -> [JSON] { try end.lines.map { try JSON.parse(Array($0.utf8)) } }

    @Test("while the first runs waits for it, and then does the rows that only it has")
    func joins() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(4).text)
            func start() throws -> RunningProgram {
                try workplace.program.start(
                    ["run", "held.json", "--each", "rows.csv", "--batch", "june"],
                    environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
            }
            let first = try start()
            _ = await service.server.requests(atLeast: 8)
            let (text, names) = HeldService.rows(6)
            try workplace.write("rows.csv", text)
            let second = try start()
            #expect(await second.hasWritten("is running in another process"), "\(second.text)")
            service.open()
            #expect(await first.end.cause == .exited(0))
            let end = await second.end
            #expect(end.cause == .exited(0) && end.errors.contains("june: 6/6 succeeded"), "\(end)")
            #expect(service.names == names.sorted())
        }
    }

    /// The second said how the first had ended, and did not say that none of its own rows was read.
    @Test("goes on with its own rows when the first was killed, and says that it read none when a person stopped that")
    func joinsWhatStopped() async throws {
        for (signal, status) in [(SIGKILL, Int32(0)), (SIGINT, 75)] {
            try await withWorkplace { workplace in
                let service = try HeldService()
                defer { service.server.stop() }
                try workplace.write("held.json", HeldService.document)
                try workplace.write("rows.csv", HeldService.rows(4).text)
                func start() throws -> RunningProgram {
                    try workplace.program.start(
                        ["run", "held.json", "--each", "rows.csv", "--batch", "june"],
                        environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
                }
                let first = try start()
                _ = await service.server.requests(atLeast: 8)
                try workplace.write("rows.csv", HeldService.rows(6).text)
                let second = try start()
                #expect(await second.hasWritten("is running in another process"), "\(second.text)")
                first.signal(signal)
                _ = await first.end
                service.open()
                let end = await second.end
                #expect(end.cause == .exited(status), "\(end)")
                let isRead = end.errors.contains("june: 6/6 succeeded")
                #expect(isRead == (status == 0), "\(end)")
                #expect(end.errors.contains("none of the rows of this command was read") == !isRead, "\(end)")
            }
        }
    }

    @Test("is judged by its own rows: what failed before stays as it is, until a row names it or it is begun again")
    func earlierFailures() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try FileManager.default.createDirectory(
                atPath: workplace.path("out/bad.txt"), withIntermediateDirectories: true)
            func run(_ rows: String) async throws -> ProgramEnd {
                try workplace.write("rows.csv", "name,text\n" + rows)
                return try await self.run(workplace)
            }
            #expect(try await run("a,1\nbad,1\n").cause == .exited(1))
            let second = try await run("c,1\nd,1\n")
            #expect(second.cause == .exited(0), "\(second)")
            #expect(second.errors.contains("june: 3/4 succeeded, 1 failed (before this reading)"), "\(second)")
            #expect(try await workplace.show("june")["state"] == "succeeded")
            #expect(try await run("bad,1\n").cause == .exited(1), "a row names it")
            #expect(try await run("c,1\n").cause == .exited(0))
            #expect(try await workplace.run("retry", "june").cause == .exited(1), "it was begun again")
            #expect(try await run("c,1\n").cause == .exited(0))
            try FileManager.default.removeItem(atPath: workplace.path("out/bad.txt"))
            let mended = try await workplace.run("retry", "june", "--from", "w")
            #expect(mended.cause == .exited(0), "\(mended)")
            let shown = try await workplace.show("june")
            #expect(shown["state"] == "succeeded" && shown["counts"]?["succeeded"] == 4, "\(shown)")
            #expect(try await workplace.run("doctor").output.contains("journal   whole"))
        }
    }

    @Test("with one changed row alone and --changed does that row, and numbers its attempt on; a duplicate stays one")
    func changed() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write("rows.csv", "name,text\na,1\nb,1\na,2\n")
            let first = try await run(workplace, "--results", "results.jsonl")
            #expect(first.cause == .exited(0) && first.lines.count == 2, "\(first)")
            let same = try await run(workplace)
            #expect(same.cause == .exited(0) && !same.errors.contains("other inputs"), "\(same)")
            #expect(same.errors.contains("1 duplicate"), "\(same)")
            try workplace.write("rows.csv", "name,text\na,3\nb,1\na,2\n")
            let second = try await run(workplace, "--changed", "--overwrite")
            #expect(second.cause == .exited(0) && second.lines.count == 1, "\(second)")
            #expect(workplace.bytes(workplace.path("out/a.txt")).map { String(decoding: $0, as: UTF8.self) } == "3")
            try workplace.write("rows.csv", "name,text\na,4\nb,1\na,2\n")
            #expect(try await run(workplace, "--changed", "--overwrite").cause == .exited(0))
            let results = try rows(try await workplace.run("results", "june", "--state", "succeeded"))
            #expect(results.first { $0["item"] == "a" }?["attempt"] == 3, "\(results)")
            let text = String(
                decoding: workplace.bytes(workplace.path("results.jsonl")) ?? [], as: UTF8.self)
            let attempts = try text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
                .filter { $0["item"] == "a" && $0["state"] == "succeeded" }.compactMap { $0["attempt"]?.number?.int }
            #expect(attempts == [1, 2, 3], "\(text)")
        }
    }

    @Test("resume of an item that failed is counted by its batch")
    func resumedItem() async throws {
        try await withWorkplace { workplace in
            let service = try BatchService()
            defer { service.server.stop() }
            try workplace.write("caption.json", BatchService.document)
            try workplace.write("bad-1.wav", "x")
            try workplace.write("bad-2.wav", "x")
            let environment = workplace.environment(["API_URL": service.server.url])
            func run(_ arguments: String...) async throws -> ProgramEnd {
                try await workplace.program.run(arguments, environment: environment, folder: workplace.folder)
            }
            let first = try await run(
                "run", "caption.json", "--each", "file=*.wav", "--batch", "june", "--output", "out")
            #expect(first.cause == .exited(1), "\(first)")
            service.mend()
            #expect(try await run("resume", "june/bad-1.wav").cause == .exited(0))
            #expect(try await workplace.show("june")["counts"]?["failed"] == 1)
            #expect(try await run("resume", "june.2").cause == .exited(0))
            let shown = try await workplace.show("june")
            #expect(shown["counts"]?["succeeded"] == 2 && shown["state"] == "succeeded", "\(shown.text)")
            let results = try rows(try await run("results", "june"))
            #expect(results.allSatisfy { $0["state"] == "succeeded" && $0["error"] == .null }, "\(results)")
            #expect(results.allSatisfy { $0["attempt"] == 2 }, "\(results)")
        }
    }

    @Test("bad rows have a line each, are shown, and give their inputs back")
    func badRows() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write(
                "bad.jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\",\"x\":1}\n{\"name\":\"c\",\"x\":2}\nnothing\n")
            let end = try await workplace.run(
                "run", "note.json", "--each", "bad.jsonl", "--batch", "june", "--output", "out")
            #expect(end.cause == .exited(1) && end.lines.count == 1, "\(end)")
            for line in 2...4 { #expect(end.errors.contains("(bad.jsonl:\(line)): "), "\(end)") }
            let failed = try await workplace.run("results", "june", "--state", "failed", "--inputs")
            #expect(failed.lines == [#"{"name":"b","x":1}"#, #"{"name":"c","x":2}"#], "\(failed)")
            #expect(failed.errors.contains("left out: bad.jsonl:4"), "\(failed)")
            let table = try await workplace.run("results", "june", "--csv", "--inputs")
            #expect(table.cause == .exited(0) && table.lines == ["name,x", "a,", "b,1", "c,2"], "\(table)")
            let shown = try await workplace.run("show", "june/line 4")
            #expect(shown.cause == .exited(0) && shown.output.contains("line      4"), "\(shown)")
            let second = try await workplace.run("show", "june/2", "--json")
            let json = try JSON.parse(Array(second.output.utf8))
            #expect(json["inputs"]?["name"] == "b" && json["line"] == 2 && json["job"] == .null, "\(second)")
            let events = try rows(
                try await workplace.run(
                    "run", "note.json", "--each", "bad.jsonl", "--batch", "july", "--output", "july", "--json"))
            for event in events { OutputSchemaTests.check(event, try OutputSchemaTests.schema("event")) }
            let told = events.filter { $0["type"] == "batch.row" }.compactMap { $0["data"]?["place"]?.string }
            #expect(told == ["bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4"], "\(events.map(\.text))")
            #expect(events.last?["data"]?["failures"]?.array?.isEmpty == false, "\(events.map(\.text))")
        }
    }

    /// Fields came back as texts, which are refused or mean something else in JSON Lines, and paths of `files` stayed
    /// relative to the table.
    @Test("bad rows of a table in another folder come back as values of their types, with absolute paths")
    func badRowsOfTable() async throws {
        let document = """
            { "pipeline": 1, "name": "note", "batch": { "key": "${{ inputs.name }}" },
              "inputs": {
                "name": { "type": "string" }, "file": { "type": "file" }, "n": { "type": "number", "default": 1 },
                "o": { "type": "json", "default": null }, "photos": { "type": "files", "default": [] } },
              "stages": [
                { "id": "w", "kind": "write", "to": "${{ inputs.name }}.json",
                  "json": { "n": "${{ inputs.n }}", "o": "${{ inputs.o }}", "photos": "${{ inputs.photos }}" } }
              ] }
            """
        try await withWorkplace { workplace in
            let folder = workplace.path("rows[1]")
            for name in ["/ph", "/more"] {
                try FileManager.default.createDirectory(
                    atPath: folder + name, withIntermediateDirectories: true)
            }
            try workplace.write("note.json", document)
            try workplace.write("rows[1]/ph/1.jpg", "x")
            try workplace.write(
                "rows[1]/rows.csv",
                """
                name,file,n,o,photos
                a,gone.wav,2,"{""x"":1}",more/*.jpg
                b,gone.wav,two,null,ph
                c,gone.wav,,,

                """)
            let first = try await workplace.run(
                "run", "note.json", "--each", "rows[1]/rows.csv", "--batch", "june", "--output", "out")
            #expect(first.cause == .exited(1) && first.lines.isEmpty, "\(first)")
            let failed = try await workplace.run("results", "june", "--state", "failed", "--inputs")
            let file = JSON.string(folder + "/gone.wav")
            let pattern = JSON.string(workplace.path("rows[[]1]/more/*.jpg"))
            let inputs: [JSON] = [
                ["name": "a", "file": file, "n": 2, "o": ["x": 1], "photos": pattern],
                ["name": "b", "file": file, "n": "two", "o": .null, "photos": .string(folder + "/ph")],
                ["name": "c", "file": file],
            ]
            #expect(try rows(failed) == inputs, "\(failed)")

            for name in ["gone.wav", "more/2.jpg"] { try workplace.write("rows[1]/" + name, "x") }
            try workplace.write("failed.jsonl", failed.output)
            let second = try await workplace.run(
                "run", "note.json", "--each", "failed.jsonl", "--batch", "july", "--output", "july")
            #expect(second.cause == .exited(1) && second.lines.count == 2, "\(second)")
            #expect(second.errors.contains("the input 'n' must be a number, not 'two'"), "\(second)")
            let written = try JSON.parse(workplace.bytes(workplace.path("july/a.json")) ?? [])
            let expected: JSON = ["n": 2, "o": ["x": 1], "photos": [.string(folder + "/more/2.jpg")]]
            #expect(written == expected, "\(written.text)")

            try workplace.write(
                "rows[1]/rows.jsonl", #"{"name":"d","file":"none.wav","photos":["ph/1.jpg","none.jpg"]}"# + "\n")
            let third = try await workplace.run(
                "run", "note.json", "--each", "rows[1]/rows.jsonl", "--batch", "august", "--output", "august")
            #expect(third.cause == .exited(1), "\(third)")
            let photos = try rows(try await workplace.run("results", "august", "--inputs")).first?["photos"]
            #expect(photos == [.string(folder + "/ph/1.jpg"), .string(folder + "/none.jpg")], "\(third)")
        }
    }

    @Test("list --items is as list, knows who waits, and what nobody runs is suspended")
    func items() async throws {
        try await withWorkplace { workplace in
            try workplace.write(
                "note.json",
                Self.document.replacingOccurrences(
                    of: #""kind": "write","#, with: #""kind": "write", "cost": "2","#))
            try workplace.write("rows.csv", "name,text\na,1\n")
            #expect(try await run(workplace).cause == .exited(0))
            let list = try JSON.parse(try await workplace.run("list", "--items", "june", "--json").output)
            let item = try #require(list.array?.first)
            #expect(item["item"] == "a" && item["key"] == "june.1" && item["state"] == "succeeded", "\(list.text)")
            #expect(item["started"]?.string != nil && item["cost"] == 2, "\(list.text)")
            #expect(item["files"]?.array?.first?["bytes"] == 1, "\(list.text)")
            let stats = try JSON.parse(try await workplace.run("stats", "--json").output)
            #expect(stats.array?.first?["cost"] == 2, "\(stats.text)")
            let said = try await workplace.run("stats", "note")
            #expect(said.output.contains("all of them cost 2"), "\(said)")
            let shown = try await workplace.run("show", "june/a")
            #expect(shown.output.contains("cost      2"), "\(shown)")
        }
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write(
                "held.json",
                HeldService.document.replacingOccurrences(of: #""every": "100ms""#, with: #""every": "1h""#))
            try workplace.write("rows.csv", HeldService.rows(2).text)
            let program = try workplace.program.start(
                ["run", "held.json", "--each", "rows.csv", "--batch", "june"],
                environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
            _ = await service.server.requests(atLeast: 2)
            var waiting: [String] = []
            for _ in 0..<200 where waiting.count < 2 {
                waiting = try await workplace.run("list", "--items", "june", "--state", "waiting").lines
            }
            #expect(waiting == ["1  waiting  talk-1", "2  waiting  talk-2"], "\(waiting)")
            program.signal(SIGKILL)
            _ = await program.end
            let left = try await workplace.run("list", "--items", "june", "--state", "suspended")
            #expect(left.lines.count == 2, "\(left)")
            #expect(try await workplace.run("list", "--items", "june", "--state", "running").lines.isEmpty)
        }
    }

    @Test("another batch's file of results is refused, and replaced with --overwrite")
    func otherResults() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write("rows.csv", "name,text\na,1\n")
            try workplace.write("results.jsonl", "{\"item\":\"old\"}\n")
            #expect(try await run(workplace, "--results", "results.jsonl").cause == .exited(2))
            #expect(try await run(workplace, "--results", "results.jsonl", "--overwrite").cause == .exited(0))
            let text = String(
                decoding: workplace.bytes(workplace.path("results.jsonl")) ?? [], as: UTF8.self)
            #expect(text.split(separator: "\n").count == 1 && !text.contains("old"), "\(text)")
        }
    }

    @Test("stops for its money before ten items have succeeded")
    func money() async throws {
        try await withWorkplace { workplace in
            try workplace.write(
                "note.json",
                Self.document.replacingOccurrences(
                    of: #""kind": "write","#, with: #""kind": "write", "cost": "2","#))
            try workplace.write("rows.csv", "name,text\n" + (1...30).map { "n\($0),x\n" }.joined())
            let end = try await run(workplace, "--spend", "10", "--at-once", "1")
            #expect(end.cause == .exited(75) && end.lines.count == 5, "\(end)")
            #expect(try await workplace.show("june")["cost"] == 10)
            let shown = try await workplace.run("show", "june")
            #expect(shown.output.contains("go on with: pipeline resume june --spend MORE"), "\(shown)")
        }
    }

    /// The command waited for itself: the key of an item's job was taken for the batch's own.
    @Test("has one item fail whose job's key another job has, and does the others")
    func takenKey() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write("rows.csv", "name,text\na,1\nb,1\nc,1\n")
            let other = try await workplace.run(
                "run", "note.json", "-i", "name=other", "--output", "out", "--key", "june.2")
            #expect(other.cause == .exited(0), "\(other)")
            let end = try await run(workplace)
            #expect(end.cause == .exited(1) && end.lines.count == 2, "\(end)")
            #expect(end.errors.contains("its job's key 'june.2' belongs to job"), "\(end)")
            let shown = try await workplace.show("june/b")
            #expect(shown["state"] == "failed" && shown["job"] == .null, "no job of another's: \(shown.text)")
            let cancelled = try await workplace.run("cancel", "june/b")
            #expect(cancelled.cause == .exited(0) && cancelled.errors.contains("has ended already"), "\(cancelled)")
            #expect(try await workplace.run("rm", "june.2").cause == .exited(0))
            let retried = try await workplace.run("retry", "june")
            #expect(retried.cause == .exited(0) && retried.lines.count == 1, "\(retried)")
        }
    }

    @Test("with --strict and a bad row has ended as before, when nothing of it is left to do")
    func strictAgain() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write("rows.csv", "name,text\na,1\nb\n")
            #expect(try await run(workplace).cause == .exited(1))
            let why = try await workplace.run("why", "june")
            #expect(why.output.contains("once the rows are mended, run the same command again"), "\(why)")
            #expect(try await run(workplace, "--strict").cause == .exited(2))
            let shown = try await workplace.show("june")
            #expect(shown["state"] == "failed" && shown["cause"] == .null, "\(shown.text)")
        }
    }

    /// Only those that were begun had a row until the batch was taken up again.
    @Test("appends a row for each item to its results file, bad rows and duplicates too, and once")
    func allResults() async throws {
        try await withWorkplace { workplace in
            try workplace.write("note.json", Self.document)
            try workplace.write("rows.csv", "name,text\na,1\nb\na,1\nc,1\n")
            for _ in 1...2 {
                #expect(try await run(workplace, "--results", "results.jsonl").cause == .exited(1))
                let text = String(
                    decoding: workplace.bytes(workplace.path("results.jsonl")) ?? [], as: UTF8.self)
                let rows = try text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
                #expect(
                    rows.compactMap { $0["state"]?.string }.sorted() == [
                        "duplicate", "failed", "succeeded", "succeeded",
                    ], "\(text)")
            }
        }
    }

    @Test("is one line an item in list --items, whatever its key is")
    func lineBreaks() async throws {
        try await withWorkplace { workplace in
            let document = Self.document.replacingOccurrences(of: "${{ inputs.name }}.txt", with: "n.txt")
            try workplace.write("note.json", document)
            try workplace.write("rows.csv", "name,text\n\"a\nb\",1\n")
            #expect(try await run(workplace).cause == .exited(0))
            let items = try await workplace.run("list", "--items", "june")
            #expect(items.lines == [#"1  succeeded  a\u{a}b"#], "\(items)")
        }
    }
}
