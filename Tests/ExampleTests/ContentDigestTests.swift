import PipelineTestKit
import Testing

@testable import PipelineKit

/// What tells one content of a file from another.
@Suite struct ContentDigestTests {
    private let folder = TemporaryFolder()

    private func digest(of text: String) throws -> String {
        try folder.write("a", text)
        return try DiskFiles.contentDigest(folder.path + "/a", half: 4)
    }

    @Test("is of the whole file, but of a very large one of its size and both ends")
    func ends() throws {
        // printf 12345678 | sha256sum
        #expect(try digest(of: "12345678") == "ef797c8118f02dfb649607dd5d3f8c7623048c9c063d532cc95c5ed7a898a64f")
        let large = try digest(of: "1234-5678")
        #expect(large.hasPrefix("9 "))
        #expect(try digest(of: "1234+5678") == large)
        #expect(try digest(of: "1234-5679") != large)
        #expect(try digest(of: "0234-5678") != large)
        #expect(try digest(of: "1234--5678") != large)
    }

    @Test("is none of a file that is not there")
    func missing() async {
        #expect(await DiskFiles().contentDigest(ofFileAt: folder.path + "/none") == nil)
    }
}
