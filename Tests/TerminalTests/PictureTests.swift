import Foundation
import PipelineTestKit
import Testing

/// The pictures of the README are recordings; this says when the program prints something else.
@Suite("Pictures", .timeLimit(.minutes(2))) struct PictureTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let python = "/usr/bin/python3"

    @Test(
        "the pictures show what the program prints; 'make pictures' records them anew",
        .enabled(if: FileManager.default.isExecutableFile(atPath: python), "python3 is not installed"))
    func match() async throws {
        let environment = BuiltProgram.environment([
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
        ])
        let end = try await BuiltProgram(path: Self.python).run(
            [Self.root + "/.scripts/pictures", try BuiltProgram.productFolder(), "--check"], environment: environment,
            folder: NSTemporaryDirectory(), limit: .seconds(100))
        #expect(end.cause == .exited(0), "\(end)")
    }

    @Test("each picture that the README shows is there, for light and for dark, and moves without scripts")
    func areThere() throws {
        let readme = try String(contentsOfFile: Self.root + "/README.md", encoding: .utf8)
        let paths = readme.matches(of: /(?:src|srcset)="([^"]+)"/).map { String($0.output.1) }
        for path in paths { #expect(FileManager.default.fileExists(atPath: "\(Self.root)/\(path)"), "\(path)") }
        // The others are screenshots of pages.
        let moving = paths.filter { $0.hasSuffix(".svg") }
        #expect(moving.count == 2)
        for path in moving {
            let picture = try String(contentsOfFile: "\(Self.root)/\(path)", encoding: .utf8)
            #expect(picture.utf8.count < 100_000 && picture.contains("@keyframes") && !picture.contains("<script"))
        }
    }
}
