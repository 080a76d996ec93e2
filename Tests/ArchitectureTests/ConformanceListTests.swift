import Testing

/// A promise that is written down is one that journals are held against.
@Suite struct ConformanceListTests {
    @Test("each promise of the conformance suite stands in its list")
    func listed() throws {
        let files = try SourceTree.files(of: "JournalConformance")
        let list = try #require(files.first { $0.path.hasSuffix("/JournalConformance.swift") }).code
        var count = 0
        for file in files where file.path.contains("/Promises/") {
            let type = try #require(file.path.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" })
            for line in file.code {
                guard let match = line.prefixMatch(of: /\s{4}static func (\w+)\(_ world/) else { continue }
                count += 1
                #expect(list.contains { $0.contains("\(type).\(match.output.1)(") }, "\(type).\(match.output.1)")
            }
        }
        #expect(count >= 40, "so many were there once")
    }
}
