import PipelineCore
import PipelineHTTP

extension BodySegment {
    /// Makes the digest of these bytes in lower-case hex, for `part.digest(…)`. A stretch of a file is read for it.
    var digester: @Sendable (DigestAlgorithm) throws(StepFailure) -> String {
        { algorithm throws(StepFailure) in
            var digest = algorithm.begin()
            do throws(RequestFailure) {
                try RequestBody.pieces([self]).read { digest.update(bufferPointer: $0) }
            } catch {
                throw StepFailure(error.message)
            }
            return digest.value.hex
        }
    }
}
