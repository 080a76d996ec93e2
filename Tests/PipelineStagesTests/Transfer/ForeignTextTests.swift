import Testing

@testable import PipelineStages

/// To Swift a sign and the mark behind it are one Character; to file systems and parsers the sign stands there alone.
@Suite("Texts of a service whose marks join themselves to signs")
struct ForeignTextTests {
    @Test(
        "no mark that joins itself to a separator hides the way out of an archive",
        arguments: ["../\u{301}../\u{301}x", "a/../\u{301}x", "/\u{301}etc"])
    func joined(name: String) {
        if case .success(let parts) = EntryName.components(name) {
            #expect(parts.allSatisfy { !$0.utf8.contains(UInt8(ascii: "/")) && $0 != ".." }, "\(parts)")
            #expect(!name.unicodeScalars.starts(with: "/".unicodeScalars))
        }
        #expect(EntryName.fault(ofLinkTo: name, depth: 0) != nil || !name.contains(".."), "\(name)")
    }

    @Test("markup stays text", arguments: ["<", ">", "&", "\""])
    func markup(sign: Unicode.Scalar) {
        let escaped = PartsRequests.escaped("a\(sign)\u{301}b")
        #expect(escaped.unicodeScalars.filter { $0 == sign }.count == (sign == "&" ? 1 : 0), "\(escaped)")
        #expect(escaped.unicodeScalars.contains(";"))
    }
}
