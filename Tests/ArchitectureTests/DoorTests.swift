import Foundation
import Testing

@Suite("The door of a target")
struct DoorTests {
    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources").path

    /// The targets in Swift that others are built of: no programs, and no C.
    private static let targets: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: sources)) ?? []).filter { name in
            let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(name)")) ?? []
            return name.first?.isUppercase == true && files.contains { $0.hasSuffix(".swift") }
        }.sorted()

    @Test(
        "is a file that says what it is for, who may call it, and what it must not know",
        arguments: targets)
    func door(target: String) throws {
        let text = try String(contentsOfFile: "\(Self.sources)/\(target)/About.swift", encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("//") })
        for mark in ["// Is for: ", "// May be called by: ", "// Must not know: "] {
            #expect(lines.contains { $0.hasPrefix(mark) && $0.count > mark.count + 10 }, "\(mark)")
        }
    }

    @Test("is there for each of them")
    func all() { #expect(Self.targets.count >= 14) }
}
