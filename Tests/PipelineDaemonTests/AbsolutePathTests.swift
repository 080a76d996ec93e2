import Foundation
import Testing

@testable import PipelineKit

@Suite("Paths that are made absolute")
struct AbsolutePathTests {
    /// `--output ../out` stood in the job as it was written, and meant another folder once the working directory had moved.
    @Test("lead out of a folder also once that has moved")
    func parents() throws {
        let folder = NSTemporaryDirectory() + "absolute-paths-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: "\(folder)/work/inner", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "work/inner")
        let found = try #require(realpath(folder, nil) as UnsafeMutablePointer<CChar>?)
        defer { free(found) }
        let real = String(cString: found)
        #expect(AbsolutePath.of("../out", in: "\(folder)/work") == "\(real)/out")
        #expect(AbsolutePath.of("../../a.obj", in: "\(folder)/work/inner") == "\(real)/a.obj")
        #expect(AbsolutePath.of("../out/", in: "\(folder)/link") == "\(real)/work/out/", "links come before ..")
        #expect(AbsolutePath.of("/..", in: folder) == "/")
    }

    @Test("keep links, and what is not there, as they are written")
    func others() throws {
        let folder = NSTemporaryDirectory() + "absolute-paths-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: "\(folder)/work", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "work")
        #expect(AbsolutePath.of("link/./out//a", in: folder).hasSuffix("/link/out/a"))
        #expect(AbsolutePath.of("gone/../out", in: folder).hasSuffix("/gone/../out"))
        #expect(AbsolutePath.ofPattern("../*.jpg", in: "\(folder)/work").hasSuffix("/work/../*.jpg"))
    }
}
