import HTTPTypes
import JSONPath
import NetworkTasks
import PipelineCore
import PipelineHTTP
import Synchronization

extension UploadRun {
    private typealias Sent = (
        number: Int, rendered: RenderedRequest, result: Result<HTTPExchangeResponse, ExchangeFailure>
    )

    private enum Event: Sendable {
        case changed
        case ended(Sent)
    }

    /// Sends the parts that the service does not have, some at a time; gives the answer to the last.
    mutating func sendMissing(
        _ parts: PartsRequests
    ) async throws(StageFailure) -> (HTTPExchangeResponse, RenderedRequest)? {
        guard let state = checkpoint.parts else { return nil }
        let table = PartTable(total: source.size, size: state.partSize)
        var missing = (1...table.count).filter { state.receipts[$0] == nil }[...]
        let most = try await context.evaluate { scope throws(EvaluationFailure) in
            try parts.definition.parallel.value(in: scope)
        }
        // What is sent first only fills the buffers of a new connection.
        let now = context
        let pace = StreamGauge(
            StreamPace(most: most, width: state.streams ?? 1, skipsFirst: true, now: context.now)
        ) { now.now }
        let gauge = PartGauge(table, present: Set(state.receipts.keys), pace, context)
        var last: (HTTPExchangeResponse, RenderedRequest)?
        var failure: StageFailure?
        // A failure of one part lets the others end: what they sent need not be sent again.
        await withTaskGroup(of: Event.self) { group in
            var running = 0
            func wait() {
                group.addTask {
                    await pace.change()
                    return .changed
                }
            }
            wait()
            while true {
                while failure == nil, running < pace.width, let number = missing.popFirst() {
                    do throws(StageFailure) {
                        let rendered = try await parts.part(number, of: table, state)
                        group.addTask { [requests, context] in
                            let result = await requests.send(rendered, in: context) { gauge.attach(number, to: &$0) }
                            return .ended((number, rendered, result))
                        }
                        running += 1
                    } catch {
                        failure = error
                    }
                }
                guard running > 0, let event = await group.next() else { break }
                guard case .ended(let sent) = event else {
                    checkpoint.parts?.streams = pace.proven
                    if !Task.isCancelled { wait() }
                    continue
                }
                running -= 1
                do throws(StageFailure) {
                    last = (try await take(sent, parts, table), sent.rendered)
                } catch {
                    failure = failure ?? error
                    if Task.isCancelled || !source.isUnchanged { group.cancelAll() }
                }
            }
            group.cancelAll()
        }
        if let failure {
            try await keep()
            throw failure
        }
        try await keep()
        return last
    }

    /// Keeps what the service gave for a part.
    private mutating func take(
        _ sent: Sent, _ parts: PartsRequests, _ table: PartTable
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        guard source.isUnchanged else { throw await endPartsAsChanged(parts) }
        switch sent.result {
        case .failure(let failure):
            if case .sourceChanged = failure.reason { throw await endPartsAsChanged(parts) }
            throw requests.failure(failure, of: sent.rendered, in: context)
        case .success(let response):
            if parts.isStorage, response.status == 404 { throw try await end(.gone, response, sent.rendered) }
            if parts.isStorage, let failure = damaged(response, sent.rendered) { throw failure }
            let answer = try await requests.judge(
                response, of: sent.rendered, in: context, adjust: PartsRequests.adding(sent.number, of: table))
            let receipt = try receipt(answer, sent.rendered, parts)
            checkpoint.parts?.receipts[sent.number] = receipt
            if let checksum = checksum(of: sent.rendered) {
                var known = checkpoint.parts?.checksums ?? [:]
                known[sent.number] = checksum
                checkpoint.parts?.checksums = known
            }
            checkpoint.confirmed += table.length(of: sent.number)
            checkpoint.uncounted += table.length(of: sent.number)
            // One commit for each part, and fewer once there are so many that a commit is long.
            if (checkpoint.parts?.receipts.count ?? 0) <= 256 || isCommitDue { try await commit(countsBytes: true) }
            context.pass(.uploadPart)
            return response
        }
    }

    /// The checksum that a part was sent with; nil for none.
    private func checksum(of rendered: RenderedRequest) -> String? {
        checkpoint.parts?.checksum.flatMap { rendered.description.headers[$0.field] }
    }

    /// A part that was damaged on its way may be sent once more; nil for any other answer.
    private func damaged(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) -> StageFailure? {
        guard response.status == 400 else { return nil }
        let answer = requests.answer(of: response)
        let codes: Set<String> = ["BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"]
        guard let code = Self.text("/Error/Code", in: answer), codes.contains(code) else { return nil }
        let step = requests.failure(
            "a part of the file was damaged on its way to \(requests.name(of: rendered.description.url))", answer,
            of: rendered, hint: "it is sent again", in: context)
        return .failed(TryFailure(step, kind: .answered))
    }

    private func receipt(
        _ answer: Answer, _ rendered: RenderedRequest, _ parts: PartsRequests
    ) throws(StageFailure) -> String {
        guard let definition = parts.definition.part else {
            guard let tag = answer.header("ETag").first, !tag.isEmpty else {
                throw .definite(requests.failure("the answer to a part has no ETag", answer, of: rendered, in: context))
            }
            return tag
        }
        let captures = try requests.captures(definition.capture, from: answer, of: rendered, in: context)
        var bytes: [UInt8] = []
        JSON.object(captures).write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes the parts of a file that is no longer the same.
    mutating func endPartsAsChanged(_ parts: PartsRequests) async -> StageFailure {
        await remove(parts)
        return await endAsChanged()
    }
}

/// How far all parts of an upload have come.
private final class PartGauge: Sendable {
    private struct Sent: Sendable {
        var ofParts: [Int: Int64] = [:]
        var all: Int64 = 0
    }

    private let sent: Mutex<Sent>
    private let total: Int64
    private let pace: StreamGauge
    private let context: StageContext<UploadCheckpoint>

    init(_ table: PartTable, present: Set<Int>, _ pace: StreamGauge, _ context: StageContext<UploadCheckpoint>) {
        let all = present.reduce(0) { $0 + table.length(of: $1) }
        sent = Mutex(Sent(all: all))
        total = table.total
        self.pace = pace
        self.context = context
        pace.begin(at: all)
    }

    /// Lets the exchange of a part report here.
    func attach(_ number: Int, to options: inout ExchangeOptions) {
        options.onProgress = { progress in
            let all = self.sent.withLock { sent in
                sent.all += progress.sent - (sent.ofParts.updateValue(progress.sent, forKey: number) ?? 0)
                return sent.all
            }
            self.pace.note(all)
            self.context.report(.transfer(sent: min(all, self.total), received: 0, total: self.total))
        }
    }
}
