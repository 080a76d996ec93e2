import Foundation
import Testing

@testable import PipelineJournal

/// A socket's path has room for 107 bytes; state folders have no such limit.
@Suite("The socket on which an owner is woken", .timeLimit(.minutes(1))) struct OwnerSocketTests {
    @Test("is reached by its name, also in a folder whose path is longer than a socket's may be", arguments: [1, 12])
    func isReached(depth: Int) throws {
        let top = NSTemporaryDirectory() + "pipeline-socket-\(UUID().uuidString)"
        let folder = top + String(repeating: "/a folder of some length", count: depth)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: top) }
        let socket = try #require(OwnerSocket(folder: folder, name: "owner.sock"))
        #expect(FileManager.default.fileExists(atPath: folder + "/owner.sock"))
        #expect(OwnerSocket.send("01jd3v5k8w9x0y1z2a3b4c5d6e", folder: folder, name: "owner.sock"))
        #expect(socket.receive() == "01jd3v5k8w9x0y1z2a3b4c5d6e")
        socket.shut()
        #expect(socket.receive() == nil)
        #expect(!OwnerSocket.send("x", folder: folder, name: "owner.sock"))
    }
}
