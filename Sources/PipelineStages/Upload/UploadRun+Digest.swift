import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// Whether the bytes that were sent are still those of the file, as far as its digest tells.
    func agreesWithDigest() async throws(StageFailure) -> Bool {
        guard let digest else { return true }
        do throws(FileFailure) {
            return try digest.agrees(with: checkpoint.digest)
        } catch {
            throw .definite(error.stepFailure(place: context.facts.place))
        }
    }

    /// Brings the digest to where a request begins to send.
    func takeUpDigest(for request: UploadRequest) async throws(StageFailure) {
        guard let digest, case .file(let start, _) = request.body else { return }
        do throws(FileFailure) {
            try digest.begin(at: start)
        } catch {
            throw .definite(error.stepFailure(place: context.facts.place))
        }
    }
}
