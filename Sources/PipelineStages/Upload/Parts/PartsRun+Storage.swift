import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// What S3 alone has: a list of the parts that are there, and ends that fail under a 200.
extension PartsRun {
    /// Learns from the list which parts are there. An outcome when the upload is complete, and its response was lost.
    mutating func takeUpListed() async throws(StageFailure) -> StageOutcome<UploadCheckpoint>? {
        let table = table
        var receipts: [Int: String] = [:]
        var checksums = state.checksums ?? [:]
        var marker = 0
        while true {
            let rendered = try await parts.list(state.uploadID ?? "", after: marker)
            let response = try await send(rendered)
            if response.status == 404 {
                return try await afterLoss(response, rendered, isEndBegun: state.isCompleting)
            }
            // Who may send parts need not be allowed to list them. What was confirmed of them is known.
            if [403, 405, 501].contains(response.status) { return nil }
            let answer = try await requests.judge(response, of: rendered, in: context)
            let numbers = Self.listed("Part/PartNumber", in: answer)
            let tags = Self.listed("Part/ETag", in: answer)
            let sizes = Self.listed("Part/Size", in: answer)
            // A page of somebody else's is no empty list: all parts would be sent once more.
            let marks = ["IsTruncated", "UploadId", "PartNumberMarker", "Part/PartNumber"]
            let isList = marks.contains { !Self.listed($0, in: answer).isEmpty }
            guard isList else {
                try await writer.keep()
                throw .failed(attempt.unclear(response, rendered))
            }
            guard numbers.count == tags.count, numbers.count == sizes.count else {
                throw .definite(requests.failure("the list of parts makes no sense", answer, of: rendered, in: context))
            }
            let sums = state.checksum.map { Self.listed("Part/\($0.element)", in: answer) } ?? []
            for (position, text) in numbers.enumerated() {
                guard let number = Int(text), (1...table.count).contains(number) else { continue }
                if sums.count == numbers.count { checksums[number] = sums[position] }
                // Without its checksum a part can't be named at the end: it is sent again.
                guard state.checksum == nil || checksums[number] != nil else { continue }
                if Int64(sizes[position]) == table.length(of: number) { receipts[number] = tags[position] }
            }
            let next = Self.listed("NextPartNumberMarker", in: answer).first.flatMap { Int($0) }
            // One that stands still, or goes back, would be asked for again forever.
            guard Self.listed("IsTruncated", in: answer).first == "true", let next, next > marker else { break }
            marker = next
        }
        // It is there: what is missed next is another end's.
        writer.checkpoint.progress.misses = 0
        state.receipts = receipts
        if state.checksum != nil { state.checksums = checksums }
        writer.checkpoint.progress.confirmed = receipts.keys.reduce(0) { $0 + table.length(of: $1) }
        try await keep()
        return nil
    }

    /// The upload is no longer there: because it was complete, when the object is, else it is made again.
    /// - Parameter isEndBegun: whether an end before this response was begun, which may still be under way.
    mutating func afterLoss(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, isEndBegun: Bool
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint>? {
        if let failure = try await UploadLoss(attempt: attempt).doubt(response, rendered, &writer) { throw failure }
        guard state.isCompleting else { throw try await gone(response, rendered) }
        let look = try await parts.look()
        var object = try await send(look)
        guard state.made(object, of: attempt.source.size, isContested: response.status == 412) else {
            if response.status == 412 { return nil }
            if isEndBegun, let outcome = lookAgain() { return outcome }
            throw try await gone(response, rendered)
        }
        let document =
            "<CompleteMultipartUploadResult><Location>\(PartsRequests.escaped(object.url))</Location>"
            + "<ETag>\(PartsRequests.escaped(object.headers[.eTag] ?? ""))</ETag></CompleteMultipartUploadResult>"
        object.body = Array(document.utf8)
        return try await conclude(requests.answer(of: object), look)
    }

    /// The number of times that the object of an end that was begun is looked for again, over some five minutes. A service
    /// goes on with an end whose client is gone, and putting many parts together may take it minutes
    /// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html).
    private static let mostLooks = 8

    /// Waits for the object; nil once it was looked for so often that the end is to be believed lost.
    private mutating func lookAgain() -> StageOutcome<UploadCheckpoint>? {
        let misses = writer.checkpoint.progress.misses
        guard misses < Self.mostLooks else { return nil }
        writer.checkpoint.progress.misses = misses + 1
        record()
        let reason = WaitReason(.settle, detail: "the service may still put the parts together")
        return .waiting(
            writer.checkpoint, until: .at(context.now + UploadAttempt.pause(after: misses)), reason)
    }

    /// The completion begins its response with 200 before it knows how it ends: an error then stands in the body.
    mutating func hiddenFailure(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure? {
        let answer = requests.answer(of: response)
        let code = answer.xmlText("/Error/Code")
        let isComplete = answer.xmlText("/CompleteMultipartUploadResult/ETag") != nil
        guard code != nil || !isComplete else { return nil }
        if code == "NoSuchUpload" { return try await gone(response, rendered) }
        let name = requests.name(of: rendered.description.url)
        let words = answer.xmlText("/Error/Message") ?? code ?? "no result"
        let step = requests.failure(
            "\(name) answered 200 and could not put the parts together: \(words)", answer, of: rendered, in: context)
        let passing: Set<String> = [
            "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "OperationAborted",
        ]
        let isPassing = code.map { passing.contains($0) } ?? true
        return .failed(AttemptFailure(step, kind: isPassing ? .answered : .definite))
    }

    /// The texts that a list of parts has at a path; some services call it a response.
    private static func listed(_ path: String, in answer: ServiceResponse) -> [String] {
        let usual = answer.xmlTexts("/ListPartsResult/\(path)")
        return usual.isEmpty ? answer.xmlTexts("/ListPartsResponse/\(path)") : usual
    }
}
