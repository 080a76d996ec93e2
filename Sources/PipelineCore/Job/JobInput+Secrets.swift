/// What an input says in words, without the secrets that are known by then.
///
/// Stages redact what they make of exchanges. What other mistakes are worded with (a path, a time, the sentence of the
/// system) is redacted here, on its one way into a job.
extension JobInput {
    /// Returns the input as a job may keep it.
    func redacted(by redactor: Redactor) -> JobInput {
        switch self {
        case .ended(let key, let end, let notes, let random):
            .ended(key, end.redacted(by: redactor), notes, random: random)
        case .found(let finding): .found(finding.redacted(by: redactor))
        case .broken(let key, let failure): .broken(key, failure.redacted(by: redactor))
        case .created, .takenUp, .advance, .saved, .heard, .authenticates, .delivered, .delaysReset, .inbox, .stop,
            .notify, .secretMissing, .resolved, .removal:
            self
        }
    }
}

extension StepEnd {
    fileprivate func redacted(by redactor: Redactor) -> StepEnd {
        switch self {
        case .failed(let failure): .failed(failure.redacted(by: redactor))
        case .unknown(let checkpoint, let submit):
            .unknown(checkpoint, submit.redacted(by: redactor))
        case .finished, .waiting, .stopped: self
        }
    }
}

extension JobInput.Finding {
    fileprivate func redacted(by redactor: Redactor) -> JobInput.Finding {
        switch self {
        case .preparation(let key, .failed(let failure)): .preparation(key, .failed(failure.redacted(by: redactor)))
        case .items(let key, .failure(let failure)): .items(key, .failure(failure.redacted(by: redactor)))
        case .warnings(let key, let captures, let texts, let cost):
            .warnings(key, captures: captures, texts.map { redactor.redact($0) }, cost: cost)
        case .cancellation(let key, let problem): .cancellation(key, problem: problem.map { redactor.redact($0) })
        case .preparation, .items, .resume, .authentication, .condition, .attended: self
        }
    }
}

extension AttemptFailure {
    fileprivate func redacted(by redactor: Redactor) -> AttemptFailure {
        var result = self
        result.failure = failure.redacted(by: redactor)
        result.openSubmit = openSubmit?.redacted(by: redactor)
        return result
    }
}

extension UnknownSubmit {
    fileprivate func redacted(by redactor: Redactor) -> UnknownSubmit {
        UnknownSubmit(key: key, since: since, reason: redactor.redact(reason))
    }
}

extension StepFailure {
    fileprivate func redacted(by redactor: Redactor) -> StepFailure {
        var result = self
        result.title = redactor.redact(title)
        result.hint = hint.map { redactor.redact($0) }
        result.request = request.map { redactor.redact($0) }
        result.body = body.map { redactor.redact($0) }
        return result
    }
}
