import PipelineCore
import Testing

@testable import PipelineEngine

@Suite("The places that the steps of a job have written")
struct OutputClaimTests {
    private let claims = OutputClaims()
    private let first = StepKey(stage: "fetch", item: 0)
    private let second = StepKey(stage: "fetch", item: 1)

    @Test("are free for the step that has them, and for no other")
    func claimed() {
        #expect(claims.claim("/a", isFolder: false, for: first) == nil)
        #expect(claims.claim("/a", isFolder: false, for: first) == nil)
        #expect(claims.claim("/a", isFolder: false, for: second) == first)
        claims.end(first, succeeded: true)
        #expect(claims.claim("/a", isFolder: false, for: second) == first)
    }

    /// One stage may bring what another one did not.
    @Test("are free again when the step has failed")
    func failed() {
        _ = claims.claim("/a", isFolder: false, for: first)
        claims.end(first, succeeded: false)
        #expect(claims.claim("/a", isFolder: false, for: second) == nil)
    }

    @Test("are folders as well, with all that stands in them")
    func folders() {
        claims.write([WrittenFile(path: "/model/a.obj", bytes: 1, sha256: nil)], by: first)
        #expect(claims.claim("/model", isFolder: true, for: second) == first)
        #expect(claims.claim("/mod", isFolder: true, for: second) == nil)
        #expect(claims.claim("/model", isFolder: false, for: second) == nil)
    }
}
