import JSONPath
import PipelineCore
import PipelineHTTP

/// A thing that S3 alone has: a list of the parts that are there.
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
                return try await ending.afterLoss(response, rendered, isEndBegun: state.isCompleting, &writer)
            }
            // Who may send parts need not be allowed to list them. What was confirmed of them is known.
            if [403, 405, 501].contains(response.judgedStatus) { return nil }
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

    /// The texts that a list of parts has at a path; some services call it a response.
    private static func listed(_ path: String, in answer: ServiceResponse) -> [String] {
        let usual = answer.xmlTexts("/ListPartsResult/\(path)")
        return usual.isEmpty ? answer.xmlTexts("/ListPartsResponse/\(path)") : usual
    }
}
