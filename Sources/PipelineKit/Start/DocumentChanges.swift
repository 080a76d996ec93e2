import JSONPath
import PipelineCore

/// The changes between a job's document and the same file as it is by now, and whether the job can go on with that: nothing
/// may be what was done under another one, and nothing that may be at a service is sent a second time.
struct DocumentChanges {
    let old: JSON?
    let new: JSON?

    /// The keys of a stage that only tell how what was begun goes on.
    private static let continuing: Set<String> = [
        "callback", "cancel", "concurrency", "continueOnFailure", "cost", "deadline", "expires", "list", "poll",
        "renew", "result", "retry", "stopOnFailure", "tolerate",
    ]
    /// Those that are nothing of what was done.
    private static let apart: Set<String> = [
        "cancel", "concurrency", "continueOnFailure", "deadline", "retry", "stopOnFailure", "tolerate",
    ]
    /// Those of a transfer that was refused: what it has sent, or has, stays. No end of it is on its way.
    private static let ofRefusedTransfer: Set<String> = ["capture", "complete", "verify"]

    init(from old: JSON?, to new: JSON?) { (self.old, self.new) = (old, new) }

    func has(inputCalled name: String) -> Bool { old?["inputs"]?[name] != new?["inputs"]?[name] }

    /// Throws unless what is done of the job would have been done with the document too.
    ///
    /// - Parameters:
    ///   - again: the stages that begin again.
    ///   - resolutions: how the submits that are unknown are reconciled by the time that the job goes on.
    func check(
        _ plan: Plan, for job: JobSnapshot, besides again: Set<String>,
        _ resolutions: [StepKey: Resolution]
    ) throws(StepFailure) {
        let (record, name) = (job.record, job.record.sourceName)
        func refusal(_ what: String) -> StepFailure {
            StepFailure("\(name) \(what)", hint: "'pipeline run \(name)' begins a job with it")
        }
        let title = plan.definition.name
        if title != record.pipeline { throw refusal("is called '\(title)' by now, not '\(record.pipeline)'") }
        if old?["notify"] != new?["notify"] {
            throw refusal("has another \"notify\", and this job keeps the one of before")
        }
        for list in ["stages", "finally"] {
            let (known, named) = (Self.stages(old?[list]), Self.stages(new?[list]))
            if let other = named.keys.filter({ known[$0] == nil }).min() {
                throw refusal("has a stage '\(other)' that this job does not have")
            }
            if let missing = known.keys.filter({ named[$0] == nil }).min() {
                throw refusal("has no stage '\(missing)' any more, which this job has")
            }
            for (id, was) in known.sorted(by: { $0.key < $1.key }) where !again.contains(id) {
                guard let says = named[id], let done = done(of: id, was, otherThan: says, plan, in: job, resolutions)
                else {
                    continue
                }
                let submits = job.submits.contains { $0.key.stage == id && $0.value.phase == .submitted }
                throw StepFailure(
                    "stage '\(id)' \(done.words)",
                    hint: done.hint ?? "let it say what it said, or do all of it again, with all that need it: "
                        + "pipeline retry \(record.id) --changed --from \(id)\(submits ? ", which submits it again" : "")"
                )
            }
        }
    }

    private static func stages(_ list: JSON?) -> [String: JSONObject] {
        let stages = (list?.array ?? []).compactMap(\.object)
        return Dictionary(stages.map { ($0["id"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns what is done of a stage that it would not have done as it is by now, and what to do where that is not to begin
    /// it again; nil for nothing.
    private func done(
        of stage: String, _ was: JSONObject, otherThan says: JSONObject, _ plan: Plan, in job: JobSnapshot,
        _ resolutions: [StepKey: Resolution]
    ) -> (words: String, hint: String?)? {
        let other = "and says something else by now"
        let steps = job.steps.filter { $0.key.stage == stage }
        let changed = Self.keysChanged(from: was, to: says)
        let submits = steps.keys.compactMap { key -> SubmitRecord? in
            guard var submit = job.submits[key] else { return nil }
            if case .found = resolutions[key] { submit.phase = .submitted }
            return submit
        }
        // A time that was wrong was kept nowhere.
        let hasExpiry = steps.values.contains { $0.expires != nil }
        if !changed.isSubset(of: hasExpiry ? Self.apart : Self.apart.union(["expires"])) {
            let items = steps.filter { $0.key.item != nil && $0.value.state.name == .succeeded }.count
            if items > 0 { return ("has done \(items) of its items, \(other)", nil) }
            if steps.values.contains(where: { $0.state.name == .succeeded }) { return ("has succeeded, \(other)", nil) }
            if steps.values.contains(where: { $0.state.name == .skipped }) { return ("was skipped, \(other)", nil) }
        }
        if steps.values.allSatisfy(\.state.isFinished) { return nil }
        let context = hasOtherContext(was)
        if changed.isEmpty, !context { return nil }
        if submits.contains(where: \.isOpen) {
            // What is looked for again may be looked for otherwise; what may be sent again under its key is the same.
            let hasLookUp = UnknownSubmits.hasLookUp(was) && UnknownSubmits.hasLookUp(says)
            let isLookedUp = steps.allSatisfy { key, step in
                if case .lookUp = resolutions[key] { return true }
                // What failed is looked for before it is sent again.
                return job.submits[key]?.isOpen != true || hasLookUp && step.state.name == .failed
            }
            if isLookedUp, !context, Self.changesLookUpAlone(changed, from: was, to: says) { return nil }
            // Of one that was given up there is nothing to find out: it begins again as a whole, or stays.
            let isUnknown = steps.values.contains { $0.state.name == .unknown }
            let command = isUnknown ? "retry \(job.record.id) --changed" : "resume \(job.record.id)"
            let hint = "let it say what it said, and find out: pipeline \(command)"
            return (
                "has a submit of which nobody knows whether it arrived, and it, or its service, is another by now",
                job.wasGivenUp ? nil : hint
            )
        }
        if Self.keepsNothing(was, steps, plan.stage(stage)) { return nil }
        if job.submitsAgain(stage) {
            if asksAgain(was, says), !(plan.stage(stage).map(job.remoteJobsGivenUp) ?? [:]).isEmpty {
                return nil
            }
            return ("would be submitted again: its remote job was said to have failed, or to be gone", nil)
        }
        var allowed = Self.continuing
        if submits.contains(where: { $0.phase == .submitted }) {
            // What is taken out of its responses sends nothing, and is not had yet.
            allowed.insert("capture")
            for request in ["submit", "complete"] where was[request]?.isSame(as: says[request], but: "capture") == true
            {
                allowed.insert(request)
            }
        } else if ["compute", "request", "write", "wait"].contains(was["kind"]?.string), was["kind"] == says["kind"] {
            // What was refused is sent as it is by then.
            return nil
        } else {
            guard steps.values.contains(where: { $0.attempts > 0 && $0.hasMoved }) else { return nil }
            if steps.values.allSatisfy({ $0.state.name == .failed }) { allowed.formUnion(Self.ofRefusedTransfer) }
        }
        if context { return ("has begun, and its service, or \"with\" of the document, is another by now", nil) }
        return changed.isSubset(of: allowed) ? nil : ("has begun, \(other)", nil)
    }
}

extension DocumentChanges {
    /// Returns whether what the requests of a stage are made of besides itself is another.
    private func hasOtherContext(_ was: JSONObject) -> Bool {
        old?["with"] != new?["with"]
            || was["service"]?.string.map { old?["services"]?[$0] != new?["services"]?[$0] } == true
    }

    /// Returns whether a stage is an upload whose first request was refused, be it the only one: nothing of it is at the
    /// service, and it is sent as it is by then.
    private static func keepsNothing(
        _ was: JSONObject, _ steps: [StepKey: StepRecord], _ stage: PlannedStage?
    ) -> Bool {
        guard was["kind"]?.string == "upload", let standsAlone = stage?.stage.standsAlone else { return false }
        return steps.values.allSatisfy { step in
            guard case .failed(let failure) = step.state else { return false }
            return (failure.status ?? 0) >= 400 && step.checkpoint.map(standsAlone) != true
        }
    }

    /// Returns whether all that is new of a stage is how its submit is looked for, what is taken out of what is found, and what
    /// only tells how it goes on.
    private static func changesLookUpAlone(
        _ changed: Set<String>, from was: JSONObject, to says: JSONObject
    ) -> Bool {
        let requests = ["submit", "request"]
        return changed.isSubset(of: continuing.union(requests + ["capture"]))
            && requests.allSatisfy { name in
                let (old, new) = (was[name]?.object ?? [:], says[name]?.object ?? [:])
                let once = keysChanged(from: old["once"]?.object ?? [:], to: new["once"]?.object ?? [:])
                return keysChanged(from: old, to: new).isSubset(of: ["capture", "once"])
                    && once.isSubset(of: ["match", "missing", "name", "ours", "settle"])
            }
    }

    /// How a submit ends of which nobody knows changes nothing of what was sent.
    private static func keysChanged(from was: JSONObject, to says: JSONObject) -> Set<String> {
        let ending = "onUnknown"
        func said(_ value: JSON?) -> JSON? {
            guard var request = value?.object, request[ending] != nil else { return value }
            request[ending] = nil
            return .object(request)
        }
        return Set(was.names + says.names).filter { $0 != ending && said(was[$0]) != said(says[$0]) }
    }

    /// Returns whether another poll is all that is new of a stage, with what only tells how it goes on.
    private func asksAgain(_ was: JSONObject, _ says: JSONObject) -> Bool {
        let changed = Self.keysChanged(from: was, to: says)
        return !hasOtherContext(was) && changed.contains("poll") && changed.isSubset(of: Self.continuing)
    }

    /// The submits of remote jobs that were given up by what a poll said which is another by now, as they were before that.
    ///
    /// - Parameter again: the stages that begin again.
    func remoteJobsAskedAgain(
        of job: JobSnapshot, _ plan: Plan, besides again: Set<String>
    ) -> [StepKey: SubmitRecord] {
        var found: [StepKey: SubmitRecord] = [:]
        for list in ["stages", "finally"] {
            let named = Self.stages(new?[list])
            for (id, was) in Self.stages(old?[list]) where !again.contains(id) {
                guard let says = named[id], asksAgain(was, says), let stage = plan.stage(id)
                else {
                    continue
                }
                found.merge(job.remoteJobsGivenUp(of: stage)) { first, _ in first }
            }
        }
        return found
    }
}

extension StepRecord {
    /// True once bytes have gone, or while it is under way: something of it may be at a service or in a file.
    fileprivate var hasMoved: Bool {
        bytesSent + bytesReceived > 0 || [.running, .waiting, .unknown].contains(state.name)
    }
}

extension StepState {
    /// True if nothing of it goes on.
    fileprivate var isFinished: Bool { name == .succeeded || name == .skipped }
}

extension JSON {
    fileprivate func isSame(as other: JSON?, but name: String) -> Bool {
        guard var own = object, var other = other?.object else { return false }
        (own[name], other[name]) = (nil, nil)
        return own == other
    }
}
