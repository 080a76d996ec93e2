import PipelineTestKit
import Testing

@testable import PipelineKit

/// What tells one content of a file from another.
@Suite struct ContentDigestTests {
    private let folder = TemporaryFolder()

    private func digest(of text: String) throws -> String {
        try folder.write("a", text)
        return try DiskFiles.contentDigest(folder.path + "/a", piece: 2)
    }

    @Test("is of the whole file, but of a large one of its size and pieces all over it")
    func pieces() throws {
        // printf 12345678 | sha256sum
        #expect(try digest(of: "12345678") == "ef797c8118f02dfb649607dd5d3f8c7623048c9c063d532cc95c5ed7a898a64f")
        let text = Array("1234567890123456789012")
        let large = try digest(of: String(text))
        // From 0, 6, 13 and 20 on.
        for place in [0, 1, 6, 7, 13, 14, 20, 21] {
            var other = text
            other[place] = "x"
            #expect(try digest(of: String(other)) != large, "\(place)")
        }
        #expect(try digest(of: String(text) + "2") != large)
        var unseen = text
        unseen[3] = "x"
        #expect(try digest(of: String(unseen)) == large)
    }

    @Test("is none of a file that is not there")
    func missing() async {
        #expect(await DiskFiles().contentDigest(ofFileAt: folder.path + "/none") == nil)
    }
}
