import Foundation
import PipelineCore
import Synchronization
import Testing

@testable import PipelineKit

@Suite("Files of secrets and keys")
struct SecretFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "secret-files-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        return "\(folder)/\(name)"
    }

    @Test("lines may end as those of Windows do", arguments: ["\n", "\r\n"])
    func lineEnds(end: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = ["# mine", "A=1", "", "B=x=y ", "\u{301}C=3", "D=\u{301}4"]
        let secrets = try SecretSources.read(try write("s", lines.joined(separator: end) + end))
        #expect(secrets == ["A": "1", "B": "x=y ", "\u{301}C": "3", "D": "\u{301}4"])
    }

    @Test("a byte order mark before the first line is no part of its name")
    func byteOrderMark() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try SecretSources.read(try write("s", "\u{FEFF}A=1\r\nB=\u{FEFF}2")) == ["A": "1", "B": "\u{FEFF}2"])
        #expect(try SecretSources.read(try write("s", "\u{FEFF}")) == [:])
    }

    @Test("a value in quotes goes over several lines", arguments: ["\n", "\r\n"])
    func quotes(end: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = [
            "KEY=\"-----BEGIN", "a=b", "", "# c", "-----END\"", #"ESCAPED="one\ntwo \"x\" \\n \d""#, "PLAIN=a\"b",
            "EMPTY=\"\"  ",
        ]
        let secrets = try SecretSources.read(try write("s", lines.joined(separator: end) + end))
        #expect(
            secrets == [
                "KEY": "-----BEGIN\na=b\n\n# c\n-----END", "ESCAPED": "one\ntwo \"x\" \\n \\d", "PLAIN": "a\"b",
                "EMPTY": "",
            ])
    }

    @Test(
        "mistakes of quotes are told by their line",
        arguments: [("A=1\nB=\"x\n\ny", ":2: the value in quotes"), ("A=\"x\"y", ":1: something follows the quote")])
    func openQuotes(text: String, message: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try write("s", text)
        let failure = #expect(throws: StepFailure.self) { try SecretSources.read(path) }
        #expect(failure?.title.contains(message) == true)
    }

    @Test(
        "a line in the form of a shell, of the environment, or with spaces is found by the name that it meant",
        arguments: ["export TOKEN", "PIPELINE_SECRET_TOKEN", "export PIPELINE_SECRET_TOKEN", "TOKEN ", " TOKEN"])
    func slips(written: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try write("s", "# mine\nOTHER=1\n\(written)=sesame\n")
        let sources = SecretSources(file: try SecretSources.read(path), path: path, environment: [:])
        #expect(sources.slip(of: "TOKEN") == "\(path):3 has '\(written)=' instead of 'TOKEN='")
        #expect(sources.slip(of: "OTHER") == nil)
        #expect(sources.slip(of: "KEN") == nil)
    }

    @Test("a refresh token that took another's place is found again, and nowhere in the clear")
    func refreshTokens() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = RefreshTokenFiles(folder: folder)
        #expect(store.latest(of: "first", for: "me") == nil)
        store.keep("second", of: "first", for: "me")
        store.keep("third", of: "first", for: "me")
        #expect(RefreshTokenFiles(folder: folder).latest(of: "first", for: "me") == "third")
        #expect(store.latest(of: "first", for: "you") == nil)
        #expect(store.latest(of: "other", for: "me") == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/tokens")
        #expect(names.count == 1)
        let bytes = try Data(contentsOf: URL(filePath: "\(folder)/tokens/\(names[0])"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("third"))
    }

    @Test("the turn to ask with a refresh token is one's at a time, until it is let go")
    func refreshTurns() {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (store, other) = (RefreshTokenFiles(folder: folder), RefreshTokenFiles(folder: folder))
        var turn = store.turn(of: "first", for: "me")
        #expect(turn != nil)
        #expect(other.turn(of: "first", for: "me") == nil)
        #expect(other.turn(of: "first", for: "you") != nil)
        turn = nil
        #expect(other.turn(of: "first", for: "me") != nil)
    }

    @Test("the line end after a secret does not belong to it", arguments: ["\n", "\r\n", ""])
    func credential(end: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try write("TOKEN", "sesame" + end)
        let sources = SecretSources(file: [:], environment: ["CREDENTIALS_DIRECTORY": folder])
        #expect(await sources.secret("TOKEN") == "sesame")
        let variable = SecretSources(file: [:], environment: ["PIPELINE_SECRET_TOKEN": "sesame" + end])
        #expect(await variable.secret("TOKEN") == "sesame")
        let command = SecretSources(
            file: [:], environment: [:], command: ["/bin/sh", "-c", "printf 'sesame\(end)'"])
        #expect(await command.secret("TOKEN") == "sesame")
    }

    /// A job that outlived its token failed: the command was asked once in the life of a process.
    @Test("a command is asked once for a value, and again when that was refused, once for many refusals")
    func refusedOfCommand() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = "echo x >> '\(folder)/asked'; wc -l < '\(folder)/asked' | tr -d ' '"
        let sources = SecretSources(file: [:], environment: [:], command: ["/bin/sh", "-c", script])
        #expect(await sources.secret("TOKEN") == "1")
        #expect(await sources.secret("TOKEN") == "1")
        let values = await withTaskGroup(of: String?.self, returning: [String?].self) { group in
            for _ in 0..<8 { group.addTask { await sources.renewed("TOKEN") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: "2", count: 8))
        #expect(await sources.secret("TOKEN") == "2")

        let quick = try #require(SecretCommand(["/bin/sh", "-c", script], pause: .zero))
        #expect(await quick.secret("TOKEN") == "3")
        #expect(await quick.secret("TOKEN", isRefused: true) == "4")
        #expect(await quick.secret("TOKEN", isRefused: true) == "5")
        #expect(await quick.secret("TOKEN") == "5")
    }

    @Test("a command that fails when it is asked again leaves the value as it is known")
    func failsWhenAskedAgain() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = "test ! -e '\(folder)/locked' && echo sesame"
        let sources = SecretSources(file: [:], environment: [:], command: ["/bin/sh", "-c", script])
        #expect(await sources.secret("TOKEN") == "sesame")
        _ = try write("locked", "")
        #expect(await sources.renewed("TOKEN") == nil)
        #expect(await sources.secret("TOKEN") == "sesame")
    }

    @Test("a value that was handed over and refused gives way to another one that the owner finds")
    func refusedOfHanded() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try write("s", "TOKEN=old")
        let sources = SecretSources(file: try SecretSources.read(path), path: path, environment: [:])
        let renewed = Mutex<[String]>([])
        let delegated = DelegatedSecrets(["TOKEN": "old", "ONLY": "mine"], else: sources) { name in
            renewed.withLock { $0.append(name) }
        }
        #expect(await delegated.renewed("TOKEN") == "old")
        #expect(renewed.withLock { $0 }.isEmpty)
        _ = try write("s", "TOKEN=new")
        #expect(await delegated.secret("TOKEN") == "old")
        #expect(await delegated.renewed("TOKEN") == "new")
        #expect(await delegated.renewed("ONLY") == "mine")
        #expect(renewed.withLock { $0 } == ["TOKEN"])
    }

    @Test("a key is made once, and one that is not whole is refused, not used")
    func hashKey() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // What a process of the same number left that died in the middle.
        let left = "hash.key.\(getpid())"
        _ = try write(left, "half")
        let made = try HashKey(folder: folder)
        #expect(try HashKey(folder: folder).hash([1]) == made.hash([1]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["hash.key", left])
        _ = try write("hash.key", "")
        #expect(throws: (any Error).self) { try HashKey(folder: folder) }
    }
}
