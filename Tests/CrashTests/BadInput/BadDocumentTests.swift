import Foundation
import PipelineTestKit
import Testing

@Suite("A bad document or input is refused before anything is sent")
struct BadDocumentTests {
    /// A document that is wrong, and what must be said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let said: [String]

        var testDescription: String { name }

        init(_ name: String, _ text: String, says said: String...) {
            self.name = name
            self.text = text
            self.said = said
        }

        static let all = [
            Case("no JSON", "hello\n", says: "bad.json:1:1: error: “hello” is no JSON value", "nothing was started"),
            Case("nothing at all", "", says: "bad.json:1:1: error: the text is empty"),
            Case(
                "nested 100,000 deep", String(repeating: "[", count: 100_000),
                says: "bad.json:1:513: error: nested deeper than 512 levels", "hint: flatten the document"),
            Case(
                "objects nested 100,000 deep", String(repeating: #"{"a":"#, count: 100_000),
                says: "error: nested deeper than 512 levels"),
            Case(
                "duplicate keys", #"{ "pipeline": 1, "name": "a", "name": "b" }"#,
                says: "bad.json:1:31: error: the name “name” stands twice in this object", "the first one is at line 1"),
            Case(
                "an unknown key", Documents.put.replacingOccurrences(of: #""protocol""#, with: #""protocl""#),
                says: "bad.json:6:", "protocl", "did you mean 'protocol'?"),
        ]
    }

    @Test("a document is refused with its place and what to do", arguments: Case.all)
    func document(_ bad: Case) async throws {
        try await withWorkplace { workplace in
            try workplace.write("bad.json", bad.text)
            for command in ["run", "validate"] {
                let end = try await workplace.run(command, "bad.json")
                #expect(end.cause == .exited(2), "\(end)")
                let text = command == "run" ? end.errors : end.output + end.errors
                for said in bad.said where command == "run" || !said.contains("nothing was") {
                    #expect(text.contains(said), "\(command): \(end)")
                }
                #expect(text.utf8.count < 4000)
            }
            #expect(!FileManager.default.fileExists(atPath: workplace.state))
        }
    }

    @Test("a mistake at the end of 20 MB is found and shown like any other")
    func largeDocument() async throws {
        try await withWorkplace { workplace in
            let path = try workplace.write("bad.json", #"{ "pipeline": 1, "name": "a", "x-pad": ""#)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            let padding = Data(repeating: UInt8(ascii: "a"), count: 1_000_000)
            for _ in 1...20 { try file.write(contentsOf: padding) }
            try file.write(contentsOf: Data(#"", "stages": [] }"#.utf8))
            try file.close()
            let end = try await workplace.run("run", "bad.json")
            #expect(end.cause == .exited(2), "\(end)")
            #expect(end.errors.contains("bad.json:1:20000054: error: this array must not be empty"), "\(end)")
            #expect(end.errors.contains("at /stages"))
            #expect(end.errors.utf8.count < 4000)
        }
    }

    @Test(
        "an input is refused with its name and what to do",
        arguments: [
            ("file=/nowhere/at-all", "cannot read /nowhere/at-all for the input 'file': no such file or directory"),
            ("file=.", "is not a file"), ("file=/dev/null", "/dev/null is not a file"),
            ("fil=x", "did you mean 'file'?"),
            ("other", "'-i other' has no NAME= before its value"),
        ])
    func input(_ assignment: String, _ said: String) async throws {
        try await withWorkplace { workplace in
            try workplace.write("put.json", Documents.put)
            let end = try await workplace.run(
                "run", "put.json", "-i", assignment, environment: ["SERVER_URL": "http://127.0.0.1:1"])
            #expect(end.cause == .exited(assignment == "other" ? 64 : 2), "\(end)")
            #expect(end.errors.contains(said), "\(end)")
            #expect(end.errors.contains("hint: "))
            #expect(!FileManager.default.fileExists(atPath: workplace.state))
        }
    }

    @Test("a file that the user may not read is refused", .enabled(if: geteuid() != 0, "root may read all"))
    func unreadable() async throws {
        try await withWorkplace { workplace in
            try workplace.write("put.json", Documents.put)
            chmod(try workplace.write("secret.txt", "x"), 0)
            let end = try await workplace.run(
                "run", "put.json", "-i", "file=secret.txt", environment: ["SERVER_URL": "http://127.0.0.1:1"])
            #expect(end.cause == .exited(2), "\(end)")
            #expect(end.errors.contains("permission denied"), "\(end)")
        }
    }

    @Test("commands without a job say what there is", arguments: ["resume", "show", "cancel", "logs"])
    func noJob(_ command: String) async throws {
        try await withWorkplace { workplace in
            let end = try await workplace.run(command, "nothing")
            #expect(end.cause == .exited(64), "\(end)")
            #expect(end.errors.contains("there are no jobs in \(workplace.state)"), "\(end)")
            #expect(!FileManager.default.fileExists(atPath: workplace.state))
        }
    }

    @Test("a key that is used with another document or input is refused, and the first job stays as it is")
    func keyTaken() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write("put.json", Documents.put)
            try workplace.write("a.txt", "a")
            try workplace.write("b.txt", "b")
            func run(_ file: String) async throws -> ProgramEnd {
                try await workplace.run(
                    "run", "put.json", "-i", "file=\(file)", "--key", "k", environment: ["SERVER_URL": server.url])
            }
            #expect(try await run("a.txt").cause == .exited(0))
            #expect(try await run("a.txt").cause == .exited(0))
            #expect(server.requests.count == 1)
            let other = try await run("b.txt")
            #expect(other.cause == .exited(2), "\(other)")
            #expect(other.errors.contains("whose input 'file' differs"), "\(other)")
            try workplace.write("put.json", Documents.put.replacingOccurrences(of: #""/file""#, with: #""/new""#))
            let changed = try await run("a.txt")
            #expect(changed.cause == .exited(2) && server.requests.count == 1, "\(changed)")
            #expect(
                changed.errors.contains(#"/stages/0/request/PUT was "/file", now it is "/new"; choose another --key"#),
                "\(changed)")
            try workplace.write("put.json", "// the same\n" + Documents.put)
            #expect(try await run("a.txt").errors.contains("only comments, the order of members or the layout differ"))
        }
    }
}
