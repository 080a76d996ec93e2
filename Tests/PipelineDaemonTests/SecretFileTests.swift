import Foundation
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

    @Test("the line end after a secret does not belong to it", arguments: ["\n", "\r\n", ""])
    func credential(end: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try write("TOKEN", "sesame" + end)
        let sources = SecretSources(file: [:], environment: ["CREDENTIALS_DIRECTORY": folder])
        #expect(await sources.secret("TOKEN") == "sesame")
        let command = SecretSources(
            file: [:], environment: [:], command: ["/bin/sh", "-c", "printf 'sesame\(end)'"])
        #expect(await command.secret("TOKEN") == "sesame")
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
