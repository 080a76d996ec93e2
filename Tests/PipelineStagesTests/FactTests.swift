import JSONPath
import PipelineCore
import Testing

/// How what an expression needs of the outside is found out.
@Suite struct FactTests {
    /// The scope of an evaluation held all facts of the job while one more was kept: each time all of them were copied.
    @Test("while a fact is found out nothing shares those that are known")
    func scopes() async throws {
        let host = MemoryStageHost(stage: "a", retry: RetryPolicy())
        host.read { $0.watchesScopes = true }
        let value = try await StageContext<Int>(host: host) { _ in [] }.evaluate { scope throws(EvaluationFailure) in
            guard let first = scope.facts[.size("/a")] else { throw .missing(.size("/a")) }
            guard let second = scope.facts[.size("/b")] else { throw .missing(.size("/b")) }
            return JSON.array([first, second])
        }
        #expect(value == ["fact", "fact"])
        #expect(host.read { $0.sharings } == [false, false])
    }
}
