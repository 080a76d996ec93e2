import PipelineCore
import PipelineHTTP

/// The ways in which a download goes wrong, as failures of its stage.
extension DownloadOrder {
    func definite(_ title: String, hint: String? = nil) -> StageFailure {
        .definite(
            StepFailure(
                context.redact(title), hint: hint, service: requests.service?.name, place: context.facts.place))
    }

    func local(_ failure: FileFailure) -> StageFailure {
        .failed(failure.tryFailure(place: context.facts.place))
    }

    func reading<Value>(_ work: () throws(FileFailure) -> Value) throws(StageFailure) -> Value {
        do throws(FileFailure) {
            return try work()
        } catch {
            throw local(error)
        }
    }

    func busy(_ path: String) -> StageFailure {
        .failed(
            AttemptFailure(
                StepFailure(
                    "another download is writing to \(path)",
                    hint: "let it end, or choose another \"to\" for one of them",
                    place: context.facts.place), kind: .answered))
    }

    func noRoom(_ lack: PartFile.LackOfRoom, _ path: String) -> StageFailure {
        .failed(
            AttemptFailure(
                StepFailure(
                    "there is not enough room for \(path): it needs \(SizeText.describe(lack.needed)), and "
                        + "\(SizeText.describe(lack.free)) are free",
                    hint: "make room on that disk, or choose another with --output", place: context.facts.place),
                kind: .silent, pause: FileFailure.pauseForSpace))
    }

    /// An exchange that broke off; what arrived is kept.
    func end(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, of checkpoint: DownloadCheckpoint? = nil,
        at path: String?
    ) -> StageFailure {
        if case .localWrite(let code, let written) = failure.reason {
            let named =
                written.isEmpty ? (path.map { context.partName.path(for: $0, isBegun: true) } ?? "the file") : written
            return local(FileFailure(action: "write", path: named, code: code))
        }
        var rendered = rendered
        rendered.beginsAgain = checkpoint.map { !session(of: $0).asksForRest } ?? false
        return requests.failure(failure, of: rendered, in: context)
    }

    /// An answer that is no file.
    func refusal(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) async -> StageFailure {
        do throws(StageFailure) {
            let answer = try await requests.judge(response, of: rendered, in: context)
            let hint =
                response.status == 202
                ? "it is not ready yet: a 'compute' stage with a poll waits for it, or \"fail\": "
                    + #"[{ "when": "response.status == 202", "message": "not ready", "retry": true }] in the request"#
                : "\"expect\" says which statuses bring a file"
            return .definite(
                requests.failure(
                    "\(requests.name(of: rendered.description.url)) answered \(response.status), which brings no file",
                    answer, of: rendered, hint: hint, in: context))
        } catch {
            return error
        }
    }

    /// An answer that is something else than the file of which a part is held, as a gateway's page is: the part stays.
    func unrelated(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) -> StageFailure {
        let kind = response.headers[.contentType].map { " (\($0))" } ?? ""
        let failure = requests.failure(
            "\(requests.name(of: rendered.description.url)) sent something else\(kind) in the place of the file: of "
                + "another length, and of no version",
            requests.answer(of: response), of: rendered,
            hint: "what had come is kept; if the file at the service has changed, '\(context.facts.restartCommand)' "
                + "fetches it from its beginning",
            in: context)
        return .failed(AttemptFailure(failure, kind: .answered, retryAfter: response.retryAfter(now: context.now)))
    }

    func exists(_ path: String, _ what: String) -> StageFailure {
        let failure = DownloadStage.taken(what, path)
        return definite(failure.title, hint: failure.hint)
    }

    /// Says that a request which may make something, and not only fetch it, will be sent again.
    func warnOfRepetition(after snapshot: DownloadReceiver.Snapshot) async throws(StageFailure) {
        let definition = stage.definition
        guard !definition.isIdempotent, case .received = snapshot.outcome else { return }
        try await context.warn(
            "the response to the \(definition.method.rawValue) broke off: another try sends it again, and the service may do "
                + "the work, and charge for it, once more; a 'request' stage with \"to\" sends it once")
    }
}
