import PipelineTestKit

extension ScriptedAnswer {
    /// Takes each stretch of a body as it comes, then answers: what came before a connection broke is not lost.
    static func stretches(
        of request: ReceivedRequest, from done: Int = 0, take: @escaping @Sendable ([UInt8]) -> Void,
        then answer: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer
    ) -> ScriptedAnswer {
        guard request.contentLength > done else { return ScriptedAnswer([.readBody, .then(answer)]) }
        return ScriptedAnswer([
            .read(min(16 << 10, request.contentLength - Int64(done))),
            .then { part in
                take(Array(part.body[done...]))
                return stretches(of: request, from: part.body.count, take: take, then: answer)
            },
        ])
    }
}
