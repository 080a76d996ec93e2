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
            guard let page = StoredPartsPage(answer, checksum: state.checksum?.element) else {
                try await writer.keep()
                throw .failed(attempt.unclear(response, rendered))
            }
            guard let parts = page.parts else {
                throw .definite(requests.failure("the list of parts makes no sense", answer, of: rendered, in: context))
            }
            for part in parts where (1...table.count).contains(part.number) {
                checksums[part.number] = part.checksum ?? checksums[part.number]
                // Without its checksum a part can't be named at the end: it is sent again.
                guard state.checksum == nil || checksums[part.number] != nil else { continue }
                if part.size == table.length(of: part.number) { receipts[part.number] = part.tag }
            }
            // One that stands still, or goes back, would be asked for again forever.
            guard let next = page.next, next > marker else { break }
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
}
