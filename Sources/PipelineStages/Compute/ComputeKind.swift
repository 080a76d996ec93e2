import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `compute`: submits a remote job, once, and watches it until it ends.
enum ComputeKind {
    static func make(
        network: Indirect<Network>, decorators: DecoratorCatalogue, polls: SharedPolls = SharedPolls()
    ) -> StageKind {
        let fields = ComputeFields(decorators)
        return StageKind(
            name: "compute", summary: "Submits a job to a service and watches it until it ends.", fields: fields.all,
            defaultDeadline: .seconds(7 * 86_400), keepsOwnDeadline: true, keepsSubmit: true
        ) { reading in
            var requests = StageRequests(reading: reading, network: network, decorators: decorators)
            requests.counted = .all
            return fields.stage(reading, requests, polls).map { stage in
                // The end of a stream wakes the stage as a push does.
                let isPushed = stage.callback != nil || stage.polls.contains { $0.events != nil }
                let work = BackgroundWork.remoteJob(submits: reading.reader.has("submit"), isPushed: isPushed)
                return AnyStage(
                    stage, coding: .json, work: work, callback: stage.callback,
                    cancelsWork: stage.cancelRequest != nil, endsByCallback: stage.endsByCallback)
            }
        }
    }
}

/// The table of a compute stage's own fields.
private struct ComputeFields: Sendable {
    let submit: Field<RequestDefinition>
    let poll: Field<[PollDefinition]>
    let cancel: Field<RequestDefinition>
    let capture = Field("capture", FieldType<CaptureSet>.captures(), "Values from the last answer.")
    let callback = CallbackDefinition.field

    init(_ decorators: DecoratorCatalogue) {
        submit = Field(
            "submit", RequestDefinition.type(decorators: decorators, options: .init(allowsOnce: true)),
            "The request that starts the job; without it the stage watches what another one started.")
        poll = Field("poll", PollDefinition.listType(decorators), "Asks how the job is; or a list of such requests.")
        cancel = Field(
            "cancel", RequestDefinition.type(decorators: decorators, options: .init(declaresCaptures: false)),
            "Ends the job at the service when it is cancelled here.")
    }

    var all: [any AnyField] { [submit, poll, cancel, capture, callback] }

    func stage(_ reading: StageReading, _ requests: StageRequests, _ shared: SharedPolls) -> ComputeStage? {
        let reader = reading.reader
        let pushed = reader.optional(callback)
        let submitted = reader.optional(submit)
        let polls = reader.value(poll, default: [])
        let cancelled = reader.optional(cancel)
        let captures = reader.value(capture, default: CaptureSet())
        for request in [submitted, cancelled].compactMap(\.self) + polls.map(\.request)
            + polls.compactMap(\.list?.request)
        {
            requests.check(request, reading.findings)
        }
        // Without a poll a lost answer to the submit may have been the end, or have said where to ask for it.
        if polls.isEmpty {
            reading.declare(
                captures.entries.map { entry in
                    var result = CaptureDeclaration(entry, isSubmitted: true)
                    result.isResult = true
                    return result
                })
        }
        check(reader, polls, pushed)
        check(polls, submitted, reading.findings)
        let isWhole = (submitted != nil || !reader.has("submit")) && (!polls.isEmpty || !reader.has("poll"))
        guard isWhole, submitted != nil || !polls.isEmpty else { return nil }
        return ComputeStage(
            requests: requests, submit: submitted, polls: polls, cancelRequest: cancelled, capture: captures,
            carried: CarriedCaptures(readBy: reading.findings.uses), callback: pushed, shared: shared)
    }

    /// A list tells jobs apart by what their submits gave.
    private func check(_ polls: [PollDefinition], _ submit: RequestDefinition?, _ findings: DiagnosticCollector) {
        guard let list = polls.compactMap(\.list).first, let place = list.request.place else { return }
        let names = submit?.capture.names ?? []
        if names.contains("id") || names.count == 1 { return }
        findings.report(
            place, "the entries of this list can't be told apart: the submit captures nothing called 'id'",
            hint: "add \"capture\": { \"id\": \"$.id\" } to \"submit\"")
    }

    private func check(_ reader: ObjectReader, _ polls: [PollDefinition], _ pushed: CallbackDefinition?) {
        if !reader.has("submit"), !reader.has("poll") {
            reader.findings.report(
                reader.place, "this stage has neither 'submit' nor 'poll'",
                hint: "'submit' starts a job, 'poll' asks how it is")
        }
        if !reader.has("poll"), let pushed, let place = reader.place(of: "callback") {
            if pushed.capture.isEmpty {
                reader.findings.report(
                    place,
                    "a callback only wakes the stage, and without 'poll' there is nothing to ask for the job's end",
                    hint: "add \"poll\"; for a service whose callback is the result, take it with \"capture\" here")
            } else if let place = reader.place(of: "capture") {
                reader.findings.report(
                    place, "'capture' reads the last answer of a poll, and this stage has no 'poll'",
                    hint: "move it into 'callback': { \"capture\": { … } }")
            }
        }
        if !polls.isEmpty, !polls.contains(where: \.knowsSuccess), let place = reader.place(of: "poll") {
            reader.findings.report(
                place, "this poll does not say when the job has succeeded",
                hint: "add \"status\": \"$.state\" and \"succeeded\": [\"done\"], or \"until\": an expression")
        }
    }
}
