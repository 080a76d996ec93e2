import Foundation
import PipelineTestKit

/// One thing that goes wrong: how it is brought about, and what is to be seen of it.
struct MessageCase: Sendable {
    let name: String

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases").path
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

    /// What a run showed.
    struct Seen {
        let text: String
        /// Why the cause could not be had here; nil when it could.
        let skipped: String?
    }

    var expected: String? { try? String(contentsOfFile: path("expected.txt"), encoding: .utf8) }

    func record(_ text: String) throws {
        try text.write(toFile: path("expected.txt"), atomically: true, encoding: .utf8)
    }

    /// Runs the script in a copy of the folder.
    func run() async throws -> Seen {
        let place = FileManager.default.temporaryDirectory.appending(path: "message-\(UUID().uuidString)").path
        try FileManager.default.copyItem(atPath: Self.folder + "/" + name, toPath: place)
        // Some scripts run the program as somebody else.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let server = try MessageServer(script: FileManager.default.contents(atPath: path("server.json")))
        defer { server?.stop() }
        var environment = try Self.environment(in: place)
        environment["SERVER"] = server?.url
        let end = try await BuiltProgram(path: "/bin/sh").run(
            [place + "/command"], environment: environment, folder: place)
        let skipped = end.lines.first { $0.hasPrefix("skip: ") }.map { String($0.dropFirst(6)) }
        return Seen(text: MessageText(end, folder: place, server: server).text, skipped: skipped)
    }

    private static func environment(in place: String) throws -> [String: String] {
        let products = try BuiltProgram.productFolder()
        return BuiltProgram.environment(
            home: place, ["PATH": "\(products):/usr/sbin:/usr/bin:/sbin:/bin", "HELPERS": folder + "/../helpers"])
    }

    private func path(_ file: String) -> String { "\(Self.folder)/\(name)/\(file)" }
}
