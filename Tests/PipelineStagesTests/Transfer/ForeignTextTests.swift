import HTTPTypes
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

    @Test("a name that begins with a mark is read out of its quotes")
    func quoted() {
        let names = [
            "attachment; filename=\"\u{301}a; b.txt\"; x=\"y\"": "\u{301}a; b.txt",
            "attachment;\u{301} filename=x": nil, "attachment; filename*=UTF-8''\u{301}x": "\u{301}x",
        ]
        for (field, name) in names { #expect(ContentDisposition.fileName(field) == name, "\(field)") }
    }

    @Test("tags that Swift takes for equal are of two versions")
    func tags() throws {
        let one = try #require(Validator([.eTag: "\"\u{E9}\""]))
        #expect(one.agrees(with: [.eTag: "\"\u{E9}\""]))
        #expect(!one.agrees(with: [.eTag: "\"e\u{301}\""]))
    }

    @Test("a user before a host that begins with a mark is not shown")
    func user() {
        let request = RenderedRequest(
            sent: .get, to: "https://me:pass@\u{301}h/x?\u{301}token=hush", judgedBy: RequestDefinition(captured: ""))
        #expect(!request.line.contains("pass") && !request.line.contains("hush"), "\(request.line)")
    }

    @Test("markup stays text", arguments: ["<", ">", "&", "\""])
    func markup(sign: Unicode.Scalar) {
        let escaped = PartsRequests.escaped("a\(sign)\u{301}b")
        #expect(escaped.unicodeScalars.filter { $0 == sign }.count == (sign == "&" ? 1 : 0), "\(escaped)")
        #expect(escaped.unicodeScalars.contains(";"))
    }
}
