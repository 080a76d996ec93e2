import PipelineCore
import PipelineHTTP

extension UploadRun {
    private static let mostDoubts = 3

    /// A failure of the try in place of the belief that an upload is gone; nil when that is to be believed.
    ///
    /// A gateway answers 404 too, while the service behind it starts. Where more than a part is at stake the upload is
    /// given up only after that was said some times, or by an answer that shows that it is the service's.
    mutating func doubt(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure? {
        let doubts = checkpoint.doubts ?? 0
        // The tries that are left must do for the new upload.
        let most = min(Self.mostDoubts, context.facts.retry.attempts - 2)
        guard [403, 404].contains(response.status), stake > partSize, doubts < most, !isOwn(response) else {
            return nil
        }
        checkpoint.doubts = doubts + 1
        try await keep()
        let name = requests.name(of: rendered.description.url)
        let step = requests.failure(
            "\(name) answered \(StatusText.describe(response.status)) about the upload",
            requests.answer(of: response), of: rendered,
            hint: "it is asked again before \(SizeText.describe(stake)) are given up", in: context)
        return .failed(
            AttemptFailure(
                step, kind: .answered, retryAfter: response.retryAfter(now: context.now),
                pause: Self.pause(after: doubts)))
    }

    /// How much would be sent again if the upload were gone.
    var stake: Int64 { max(checkpoint.confirmed, min(checkpoint.uncounted, source.size)) }

    /// The growing pauses behind answers that may be others in a minute, for one that came so often before.
    static func pause(after count: Int) -> Duration {
        let pauses: [Duration] = [.seconds(2), .seconds(6), .seconds(20), .seconds(60)]
        return pauses[min(max(0, count), pauses.count - 1)]
    }

    /// Whether an answer shows that the service itself gave it, and nothing in front of it.
    private func isOwn(_ response: HTTPExchangeResponse) -> Bool {
        let marks = ["upload-", "tus-", "x-guploader-", "x-amz-request-id"]
        return response.headers.contains { field in marks.contains { field.name.canonicalName.hasPrefix($0) } }
            || requests.answer(of: response).xmlText("/Error/Code") != nil
    }
}
