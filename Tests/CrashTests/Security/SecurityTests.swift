import Foundation
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("The state folder and the output folder are safe from others, and from servers")
struct SecurityTests {
    @Test("everything in the state folder is the user's alone", arguments: [0o022, 0o000] as [mode_t])
    func modes(_ mask: mode_t) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                // A shell sets the mask: it belongs to the whole process, and the tests share one.
                try workplace.write("selfie.json", try Documents.selfie())
                let shell = BuiltProgram(path: "/bin/sh")
                let command = """
                    umask \(String(mask, radix: 8)); exec "$0" run selfie.json -i "video=$1" --output "$2"
                    """
                let killed = try await shell.run(
                    ["-c", command, workplace.program.path, Documents.video, workplace.output],
                    environment: workplace.environment(
                        service.environment.merging(["PIPELINE_CRASH_AT": "submit.sent"]) { $1 }),
                    folder: workplace.folder)
                #expect(killed.cause == .killed(9), "\(killed)")
                let names = workplace.files(below: workplace.state)
                #expect(names.contains("journal.sqlite") && names.contains("hash.key"))
                try workplace.expectPrivateState()
            }
        }
    }

    /// The background owner wrote results that nobody else could read: a web server, a group, a share.
    @Test(
        "a result of the background has the mode that the user's umask gives it, and the state folder stays closed",
        arguments: [0o022, 0o027, 0o000] as [mode_t])
    func backgroundModes(_ mask: mode_t) async throws {
        try await withBackground { workplace, service, _ in
            try workplace.write("selfie.json", try Documents.selfie())
            let command = """
                umask \(String(mask, radix: 8)); exec "$0" run selfie.json -i "video=$1" --output "$2/new" --detach
                """
            let begun = try await BuiltProgram(path: "/bin/sh").run(
                ["-c", command, workplace.program.path, Documents.video, workplace.output],
                environment: workplace.environment(service.environment), folder: workplace.folder)
            #expect(begun.cause == .exited(0), "\(begun)")
            _ = try await workplace.waitFor(["succeeded", "failed"])
            var (file, folder) = (stat(), stat())
            try #require(lstat(workplace.output + "/new/selfie.obj", &file) == 0)
            try #require(lstat(workplace.output + "/new", &folder) == 0)
            #expect(file.st_mode & 0o777 == 0o666 & ~mask && folder.st_mode & 0o777 == 0o777 & ~mask)
            try workplace.expectPrivateState()
        }
    }

    @Test("a state folder behind a symbolic link is refused, also with a slash at its end", arguments: ["", "/"])
    func linkedState(_ suffix: String) async throws {
        try await withWorkplace { workplace in
            let elsewhere = workplace.path("elsewhere")
            try FileManager.default.createDirectory(
                atPath: elsewhere, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try FileManager.default.createSymbolicLink(atPath: workplace.state, withDestinationPath: elsewhere)
            try workplace.write("put.json", Documents.put)
            try workplace.write("x", "x")
            let end = try await workplace.run(
                "run", "put.json", "-i", "file=x", "--state-dir", workplace.state + suffix,
                environment: ["SERVER_URL": "http://127.0.0.1:1"])
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("is a symbolic link"), "\(end)")
            #expect(workplace.files(below: elsewhere).isEmpty)
        }
    }

    @Test("a journal that is a symbolic link is refused")
    func linkedJournal() async throws {
        try await withWorkplace { workplace in
            try FileManager.default.createDirectory(
                atPath: workplace.state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let victim = try workplace.write("victim", "precious")
            try FileManager.default.createSymbolicLink(
                atPath: workplace.state + "/journal.sqlite", withDestinationPath: victim)
            try workplace.write("put.json", Documents.put)
            try workplace.write("x", "x")
            let end = try await workplace.run(
                "run", "put.json", "-i", "file=x", environment: ["SERVER_URL": "http://127.0.0.1:1"])
            #expect(end.cause == .exited(1), "\(end)")
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        }
    }

    @Test("links that somebody laid in the output folder lead nowhere", arguments: ["selfie.obj", "selfie.obj.part"])
    func linkedOutput(_ name: String) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let victim = try workplace.write("victim", "precious")
                try FileManager.default.createSymbolicLink(
                    atPath: workplace.output + "/" + name, withDestinationPath: victim)
                let end = try await workplace.runSelfie(service)
                #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
                unlink(workplace.output + "/" + name)
                if name == "selfie.obj" {
                    #expect(end.cause == .exited(1), "\(end)")
                    #expect(end.errors.contains(workplace.output + "/selfie.obj"), "\(end)")
                    try await workplace.checkMesh(
                        try await workplace.run("resume", "last", environment: service.environment))
                } else {
                    // Its part had a name of its own.
                    try await workplace.checkMesh(end)
                }
                #expect(service.counters.modelsSubmitted == 1)
            }
        }
    }

    @Test("with --overwrite a link is replaced, not followed")
    func overwrittenLink() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let victim = try workplace.write("victim", "precious")
                try FileManager.default.createSymbolicLink(
                    atPath: workplace.output + "/selfie.obj", withDestinationPath: victim)
                let program = try workplace.startSelfie(service, ["--overwrite"])
                try await workplace.checkMesh(await program.end)
                #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
            }
        }
    }

    @Test("a name that a server chooses stays in the output folder")
    func chosenName() async throws {
        let names = ["../../evil", "/etc/evil", "..", ".hidden", "a\u{1b}[31mb", "x/../../evil"]
        for name in names {
            let server = try LoopbackServer { _ in
                .status(200, headers: [("Content-Disposition", "attachment; filename=\"\(name)\"")], body: "content")
            }
            defer { server.stop() }
            try await withWorkplace { workplace in
                try workplace.write(
                    "fetch.json",
                    Documents.download.replacingOccurrences(of: #""to": "file.bin""#, with: #""to": "./""#))
                let end = try await workplace.run(
                    "run", "fetch.json", "--output", workplace.output, environment: ["SERVER_URL": server.url])
                let files = workplace.files(below: workplace.output)
                #expect(
                    files.allSatisfy { !$0.contains("/") && !$0.hasPrefix(".") && !$0.contains("\u{1b}") }, "\(files)")
                #expect(end.cause != .exited(0) || files.count == 1, "\(name): \(end)")
                #expect(workplace.files(below: workplace.folder).allSatisfy { !$0.hasPrefix("evil") })
            }
        }
    }

    @Test("control characters of a server do not reach the terminal raw")
    func controlCharacters() async throws {
        let nasty = "\u{1b}]0;owned\u{7}\u{1b}[31mred\u{9b}2J\u{202e}evil\u{8}\u{7f}"
        let server = try LoopbackServer { _ in .status(400, headers: [("X-Y", "\u{1b}[2J")], body: nasty) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write("put.json", Documents.put)
            try workplace.write("x", "x")
            var texts: [String] = []
            for arguments in [["run", "put.json", "-i", "file=x"], ["show"], ["logs", "last"], ["list"]] {
                let end = try await workplace.program.run(
                    arguments, environment: workplace.environment(["SERVER_URL": server.url]), folder: workplace.folder)
                texts.append(end.output + end.errors)
            }
            #expect(texts[0].contains("red"), "the answer is shown: \(texts[0].debugDescription)")
            for text in texts {
                let harmful = text.unicodeScalars.filter { scalar in
                    scalar.value < 0x20 && scalar != "\n" && scalar != "\t"
                        || (0x7f..<0xa0).contains(scalar.value) || scalar.value == 0x202e
                }
                #expect(harmful.isEmpty, "\(text.debugDescription)")
            }
        }
    }

    /// The line of the event was redacted, and the failure that the journal keeps was not.
    @Test(
        "a secret that a mistake is worded with stands in no error, in no answer, and not in the journal",
        arguments: ["${{ text(secrets.KEY) }}", "${{ size(secrets.KEY) }}"])
    func secretInFailure(_ value: String) async throws {
        let secret = "sk-live-0123456789abcdef"
        try await withWorkplace { workplace in
            try workplace.write(
                "mistake.json",
                """
                { "pipeline": 1, "name": "mistake",
                  "stages": [ { "id": "w", "kind": "write", "to": "w.json", "json": { "key": "\(value)" } } ] }
                """)
            let end = try await workplace.run(
                "run", "mistake.json", environment: ["PIPELINE_SECRET_KEY": secret])
            #expect(end.cause == .exited(1) && end.errors.contains("‹secret:KEY›"), "\(end)")
            #expect(!(end.output + end.errors).contains(secret), "\(end)")
            for command in ["show", "why", "logs"] {
                let told = try await workplace.run(command, "last")
                #expect(!(told.output + told.errors).contains(secret), "\(told)")
            }
            #expect(workplace.files(below: workplace.state).contains("journal.sqlite"))
            for name in workplace.files(below: workplace.state) {
                // One is a socket.
                guard let bytes = try? Data(contentsOf: URL(filePath: "\(workplace.state)/\(name)")) else { continue }
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
