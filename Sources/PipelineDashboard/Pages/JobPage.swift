import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// All that is known of one job.
struct JobPage {
    private let view: JobView
    private let page: Page
    private let job: OwnedJob

    /// - Parameter job: whole.
    init(_ view: JobView, _ page: Page, _ job: OwnedJob) {
        self.view = view
        self.page = page
        self.job = job
    }

    private var snapshot: JobSnapshot { job.snapshot }
    private var record: JobRecord { job.snapshot.record }
    /// Of a repeated stage, and of what has no end, that many are shown.
    private static let most = 60

    func markup() async throws(JournalFailure) -> Markup {
        let plan = await view.plan(of: record)
        let steps = snapshot.steps(inOrder: plan.map { ($0.stages + $0.finally).map(\.id) } ?? [])
        let events = try await view.journal.events(of: record.id, after: max(0, snapshot.sequence - 300))
        let exchanges = view.workspace.exchanges.records(of: record.id)
        let medians = try await view.medians(of: record.pipeline, at: page.now)
        let timeline = Timeline(
            steps, from: record.started, now: snapshot.ended ?? page.now, medians: medians)
        let bytes = BytesChart(exchanges, from: record.started)
        let name = record.item?.key ?? (record.key == record.id.text ? record.pipeline : record.key)
        let left = try await view.timeLeft(of: job, at: page.now)
        let closed = try await closedServices()
        return page.frame(
            name,
            """
            <div class="head"><div><p class="crumb"><a href="\(page.base)/">Jobs</a>\(batchLink)</p><h1>\(name)</h1></div>\
            \(buttons)</div>\
            \(facts(left))\
            \(page.section("Why it is not going on", why(plan, events) + closed, id: "why"))\
            \(page.section("What failed", failure, id: "failure"))\
            \(page.section("Stages", graph(plan) + stages(steps, plan, medians), id: "stages"))\
            \(page.section("Time", page.figure(timeline.picture) + page.figure(bytes.picture), id: "time"))\
            \(page.section("Captures", captures(steps, plan), id: "captures"))\
            \(page.section("Files", files, id: "files"))\
            \(page.section("Submits", submits, id: "submits"))\
            \(page.section("Attempts that failed", attempts(events), id: "attempts"))\
            \(page.section("Requests and responses", Self.exchanges(exchanges, page), id: "exchanges"))\
            \(page.section("Events", log(events), id: "events"))
            """)
    }

    private var batchLink: Markup {
        record.item.map { " / <a href=\"\(page.base)/batches/\($0.batch.text)\">its batch</a>" } ?? ""
    }

    /// The forms of what can be done to the job as it stands.
    private var buttons: Markup {
        let actions: [JobAction]
        switch job.phase {
        case .running, .waiting: actions = [.pause, .cancel]
        case .suspended: actions = [.resume, .cancel]
        case .failed: actions = [.retry]
        case .unknown: actions = [.cancel]
        // Of a forEach that let some fail.
        case .succeeded: actions = JobAction.retry.applies(to: job) ? [.retry] : []
        case .cancelled: actions = []
        }
        return Self.form(actions, job: record.id, back: "/jobs/\(record.id.text)", page)
    }

    /// The buttons of one job; nothing where nothing may be done.
    static func form(_ actions: [JobAction], job: JobID, back: String, _ page: Page) -> Markup {
        guard page.hasActions, !actions.isEmpty else { return "" }
        return """
            <form action="\(page.base)/actions" method="post" class="actions" id="actions" data-live>\
            <input type="hidden" name="job" value="\(job.text)">\
            <input type="hidden" name="back" value="\(back)">\(buttons(actions))</form>
            """
    }

    /// - Parameter question: the address that asks before many jobs are cancelled; nil for the buttons of one.
    static func buttons(_ actions: [JobAction], question: String? = nil) -> [Markup] {
        actions.map { action in
            let kind = action == .cancel ? "danger" : "plain"
            let asks: Markup = question.flatMap { action == .cancel ? " formaction=\"\($0)\"" : nil } ?? ""
            return
                "<button class=\"\(kind)\"\(asks) name=\"action\" value=\"\(action.rawValue)\">\(action.rawValue.prefix(1).uppercased() + action.rawValue.dropFirst())</button>"
        }
    }

    private func facts(_ left: JobView.TimeLeft?) -> Markup {
        var facts: [(String, Markup)] = [
            (
                "State",
                "\(page.state(job.phase.rawValue))\(job.reason(at: page.now).map { "<small>\($0)</small>" as Markup })"
            ),
            ("Started", page.time(record.started)),
        ]
        if let ended = snapshot.ended {
            facts.append(("Took", page.span(ended.seconds(since: record.started))))
            facts.append(("Ended", page.time(ended)))
        } else {
            facts.append(("So far", page.span(page.now.seconds(since: record.started))))
        }
        if let left {
            facts.append(
                (
                    "Left",
                    "about \(DurationText.rounded(left.half))\(left.most.map { "<small>9 of 10 within \(DurationText.rounded($0))</small>" as Markup })"
                ))
        }
        facts.append(
            ("Bytes", "↑ \(page.bytes(job.bytesMoved.sent)) &nbsp;↓ \(page.bytes(job.bytesMoved.received))"))
        facts.append(("Resumes", "\(snapshot.steps.values.reduce(0) { $0 + $1.resumes })"))
        if snapshot.cost != nil { facts.append(("Cost", page.amount(snapshot.cost))) }
        let details: [(String, Markup)] = [
            (
                "Pipeline",
                "<a href=\"\(page.base)/?pipeline=\(PercentEncoding.component(record.pipeline))\">\(record.pipeline)</a>"
            ),
            ("Document", "\(record.sourceName)"), ("Job", "<code>\(record.id.text)</code>"),
            ("Owner", job.owner.map { "\($0.text)" } ?? "nobody"),
        ]
        func list(_ pairs: [(String, Markup)]) -> [Markup] {
            pairs.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }
        }
        return """
            <div id="facts" data-live><dl class="facts">\(list(facts))</dl><dl class="facts fine">\(list(details))</dl></div>
            """
    }

    // MARK: Why

    /// Those that a job which has not ended may be held back by.
    private func closedServices() async throws(JournalFailure) -> Markup {
        let isHeld =
            snapshot.ended == nil
            && snapshot.steps.values.contains { step in
                if case .waiting(_, _, let reason) = step.state { return reason.kind == .closed }
                return false
            }
        return isHeld ? ClosedServices(try await view.journal.closedServices(), page).markup : ""
    }

    private func why(_ plan: Plan?, _ events: [JobEvent]) -> Markup {
        guard snapshot.ended == nil else { return "" }
        guard let plan else {
            return "<p class=\"hint\">Its document can't be planned any more: a plugin that it needs may be gone.</p>"
        }
        let held = BlockedSteps(of: snapshot, in: plan, isOwned: job.owner != nil).all.prefix(Self.most)
        let items = held.map { step -> Markup in
            let deferral = job.owner == nil ? nil : events.deferral(of: step.step, in: snapshot, plan, at: page.now)
            let until = deferral?.until ?? step.until
            let pressing = snapshot.pressing(step.step, in: plan)
            let reason = deferral.map { "it is held back: \($0.reason)" } ?? step.reason
            let goes: Markup = until.map { " It goes on \(page.time($0))." } ?? ""
            let must: Markup =
                pressing.map {
                    " <strong>It must act before \(page.time($0.mustActBefore))</strong>, when what it has expires."
                }
                ?? ""
            let tried: Markup = step.tried.map { "<br><small>\($0)</small>" } ?? ""
            let advice: Markup = step.advice.map { "<br>Do: <code>\($0)</code>" } ?? ""
            return "<li><b>\(step.step.description)</b>: \(reason).\(goes)\(must)\(tried)\(advice)</li>"
        }
        let cause: Markup = job.suspension.map { suspended(by: $0, plan, events) } ?? ""
        if items.isEmpty { return cause }
        return "\(cause)<ul class=\"why\">\(items)</ul>"
    }

    private func suspended(by cause: SuspensionCause, _ plan: Plan, _ events: [JobEvent]) -> Markup {
        if snapshot.isQueued { return "<p>The job is suspended: \(OwnedJob.queued).</p>" }
        let said = events.suspensionDetail ?? cause.explanation
        var command = "pipeline resume \(record.id.text)"
        if snapshot.mode == .background { command += " --detach" }
        guard cause == .secret else {
            return "<p>The job is suspended: \(said). Go on with <code>\(command)</code>.</p>"
        }
        // Values of secret inputs are kept nowhere.
        for input in plan.definition.inputs
        where input.isSecret && !record.beginning.defaultedInputs.contains(input.name) {
            command += " -i \(input.name)=…"
        }
        return """
            <p>The job is suspended: \(said). Set its secrets, each as <code>PIPELINE_SECRET_NAME</code> or in a file for \
            <code>--secrets-file</code>, and go on with <code>\(command)</code>.</p>
            """
    }

    private var failure: Markup {
        var found = snapshot.failure.map { [$0] } ?? []
        found += snapshot.toleratedFailures.prefix(20)
        return found.map { Self.failure($0.step.description, $0.failure) }.joined(by: "")
    }

    static func failure(_ step: String, _ failure: StepFailure) -> Markup {
        let hint: Markup = failure.hint.map { "<p>\($0)</p>" } ?? ""
        let request: Markup =
            failure.request.map { "<p><code>\($0)</code>\(failure.status.map { " → \($0)" as Markup })</p>" } ?? ""
        let body: Markup = failure.body.map { $0.isEmpty ? "" : "<pre><code>\($0)</code></pre>" } ?? ""
        let place: Markup = failure.place.map { "<p><small>\($0)</small></p>" } ?? ""
        return
            "<div class=\"failure\"><h3>\(step)</h3><p class=\"title\">\(failure.title)</p>\(hint)\(request)\(body)\(place)</div>"
    }

    // MARK: Stages

    private func graph(_ plan: Plan?) -> Markup {
        guard let plan, plan.stages.count > 1 else { return "" }
        let graph = StageGraphPicture(
            plan.stages.map { stage in
                (stage.id, stage.needs, snapshot.steps[StepKey(stage: stage.id)]?.state.name ?? .pending)
            })
        return "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Graph of stages\">\(graph.svg)</div>"
    }

    private func stages(_ steps: [(StepKey, StepRecord)], _ plan: Plan?, _ medians: [String: Double]) -> Markup {
        let items = Dictionary(grouping: steps.filter { $0.0.item != nil }, by: \.0.stage)
        var rows: [[Markup]] = []
        for (key, step) in steps where key.item == nil {
            rows.append(row(key, step, plan, medians, items: items[key.stage] ?? []))
            let all = items[key.stage] ?? []
            // Of many items those that are worth a look.
            let shown =
                all.count <= 12 ? all[...] : all.filter { !$0.1.state.isEnded || $0.1.state.name == .failed }[...]
            for (key, step) in shown.prefix(Self.most) { rows.append(row(key, step, plan, medians, items: [])) }
        }
        let columns =
            ["Stage", "State", "Took", "Usually", "Attempts", "Bytes"] + (snapshot.cost == nil ? [] : ["Cost"])
        return page.table("Stages", columns, rows, numeric: [2, 3, 4, 5, 6])
    }

    private func row(
        _ key: StepKey, _ step: StepRecord, _ plan: Plan?, _ medians: [String: Double],
        items: [(StepKey, StepRecord)]
    ) -> [Markup] {
        let kind: Markup = plan?.stage(key.stage).map { "<small>\($0.kind)</small>" } ?? ""
        let took = step.started.map { (step.ended ?? page.now).seconds(since: $0) }
        let moved: Markup =
            step.bytesSent + step.bytesReceived == 0
            ? Page.nothing : "↑ \(page.bytes(step.bytesSent)) ↓ \(page.bytes(step.bytesReceived))"
        return [
            key.item == nil ? "\(key.description)\(kind)" : "<span class=\"item\">\(key.description)</span>",
            "\(page.state(step.state.name.rawValue))\(detail(step, items))", page.span(took),
            key.item == nil ? page.span(medians[key.stage]) : "", "\(step.attempts)", moved,
        ] + (snapshot.cost == nil ? [] : [page.amount(step.cost)])
    }

    private func detail(_ step: StepRecord, _ items: [(StepKey, StepRecord)]) -> Markup {
        var parts: [Markup] = []
        if !items.isEmpty {
            let counts = StepState.Name.allCases.compactMap { name -> Markup? in
                let count = items.count { $0.1.state.name == name }
                return count == 0 ? nil : "\(count) \(name.rawValue)"
            }
            parts.append("\(items.count) items: \(counts.joined(by: ", "))")
        }
        switch step.state {
        case .waiting(_, let wake, let reason):
            // Of a job that nobody has nobody keeps the time.
            let time = job.owner == nil ? nil : wake.time
            let until: Markup = time.map { "\(reason.kind.verb) \(page.time($0)): " } ?? ""
            parts.append("\(until)\(reason.detail ?? reason.kind.sentence)")
        case .failed(let failure): parts.append("\(failure.title)")
        case .unknown(_, let submit): parts.append("\(submit.reason)")
        default: break
        }
        if let expires = step.expires { parts.append("good until \(page.clockTime(expires))") }
        return parts.map { "<small>\($0)</small>" }.joined(by: "")
    }

    // MARK: What it made

    /// Secret ones are never shown; without a plan nobody knows which are, and none is.
    private func captures(_ steps: [(StepKey, StepRecord)], _ plan: Plan?) -> Markup {
        var rows: [[Markup]] = []
        let shown = ShownCaptures(of: snapshot.steps, plan: plan)
        for (key, step) in steps where rows.count < 200 {
            for member in shown.captures(of: key, step) where rows.count < 200 {
                let text = member.value.string ?? member.value.text
                rows.append([
                    "\(key.description)", "\(member.name)",
                    "<code>\(text.count > 300 ? text.prefix(300) + "…" : text)</code>",
                ])
            }
        }
        return page.table("Captures", ["Stage", "Name", "Value"], rows)
    }

    private var files: Markup {
        let all = snapshot.orderedFiles
        let rows = all.prefix(200).map { file -> [Markup] in
            [
                "<code>\(file.path)</code>", page.bytes(file.bytes),
                file.sha256.map { "<code class=\"digest\">\($0)</code>" } ?? Page.nothing,
            ]
        }
        return page.table("Files", ["Path", "Size", "SHA-256"], Array(rows), numeric: [1])
    }

    private var submits: Markup {
        let rows = snapshot.submits.sorted { $0.key < $1.key }.prefix(200).map { key, submit -> [Markup] in
            [
                "\(key.description)", "\(Self.phase(of: submit))", "<code>\(submit.key)</code>", "\(submit.sends)",
                submit.lastSent.map { page.time($0) } ?? Page.nothing,
            ]
        }
        return page.table(
            "Submits", ["Stage", "Phase", "Idempotency key", "Sent", "Last sent"], Array(rows), numeric: [3])
    }

    /// Of what was made ready for another attempt that an earlier one went out: nothing else of it stands in the ledger.
    private static func phase(of submit: SubmitRecord) -> String {
        if submit.isBegun || submit.generation < 2 { return submit.phase.rawValue }
        return "not sent; submit \(submit.generation - 1) came before it"
    }

    private func attempts(_ events: [JobEvent]) -> Markup {
        let failed = events.filter { $0.kind == .attemptFailed }.suffix(Self.most).reversed()
        let rows = failed.map { event -> [Markup] in
            let error = event.data["error"].map { StepFailure(json: $0) }
            let request: Markup =
                error?.request.map { "<small>\($0)\(error?.status.map { " → \($0)" as Markup })</small>" } ?? ""
            return [
                page.time(event.time), "\(event.step?.description ?? "")", "\(event.attempt ?? 0)",
                "\(error?.title ?? "")\(request)",
            ]
        }
        return page.table("Attempts that failed", ["When", "Stage", "Attempt", "Error"], Array(rows), numeric: [2])
    }

    // MARK: What was said

    static func exchanges(_ all: [ExchangeRecord], _ page: Page) -> Markup {
        all.suffix(most).reversed().map { record -> Markup in
            let milliseconds = Int(((record.answer?.timings.total ?? 0) * 1000).rounded())
            let status: Markup =
                record.answer.map { answer in
                    let kind = answer.status >= 400 ? "failed" : answer.status >= 300 ? "waiting" : "succeeded"
                    return "<span class=\"state \(kind)\">\(answer.status)</span> <small>\(milliseconds) ms</small>"
                } ?? "<span class=\"state failed\">no response</span>"
            let body: Markup =
                record.answer.map { answer in
                    let fields = answer.headers.map { "\($0.name): \($0.value)\n" as Markup }
                    let text = answer.body.text ?? (answer.body.size == 0 ? "" : "\(answer.body.size) bytes")
                    return
                        "<h4>Response</h4><pre tabindex=\"0\"><code>\(answer.version) \(answer.status)\n\(fields)\n\(String(text.prefix(8192)))</code></pre>"
                } ?? "<p>\(record.failure ?? "The connection broke.")</p>"
            return """
                <details class="exchange" data-name="\(record.started.description) \(record.step.description)"><summary>\(status) <b>\(record.method)</b> <span class="url">\(record.url)</span> \
                <small>\(record.step.description), attempt \(record.attempt), \(page.time(record.started))</small></summary>\
                <h4>As curl</h4><pre tabindex="0"><code>\(CurlLine(record: record).text)</code></pre>\(body)</details>
                """
        }.joined(by: "")
    }

    private func log(_ events: [JobEvent]) -> Markup {
        let rows = events.suffix(Self.most).reversed().map { event -> [Markup] in
            let data = event.data.isEmpty ? "" : JSON.object(event.data).withoutSealed.text
            return [
                page.clockTime(event.time), "\(event.kind.rawValue)", "\(event.step?.description ?? "")",
                "<small>\(data.count > 240 ? data.prefix(240) + "…" : data)</small>",
            ]
        }
        return page.table("Events", ["Time", "Event", "Stage", "Data"], Array(rows))
    }
}
