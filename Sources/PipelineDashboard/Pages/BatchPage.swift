import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// One document over many inputs: how far it is, what failed, and how fast it goes.
struct BatchPage {
    private let view: JobView
    private let page: Page
    private let job: OwnedJob
    private let batch: BatchRecord

    init(_ view: JobView, _ page: Page, _ job: OwnedJob) {
        self.view = view
        self.page = page
        self.job = job
        batch = job.snapshot.batch ?? BatchRecord(sources: [], folder: "", settings: BatchSettings())
    }

    private var record: JobRecord { job.snapshot.record }

    func markup() async throws(JournalFailure) -> Markup {
        let length = max(1, ((job.snapshot.ended ?? page.now) - record.started).seconds)
        let slot = Self.slot(for: length)
        let ends = try await view.journal.itemEnds(of: record.id, since: record.started, slot: .seconds(slot))
        let failures = try await view.journal.failures(of: record.id, limit: 20)
        let slowest = try await view.journal.slowestItems(of: record.id, limit: 8)
        let closed = ClosedServices(try await view.workspace.closedServices(of: job, in: view.journal), page).markup
        let base = "\(page.base)/batches/\(record.id.text)"
        return page.frame(
            record.key,
            """
            <div class="head"><div><p class="crumb"><a href="\(page.base)/">Jobs</a></p><h1>\(record.key)</h1></div>\
            <div class="actions"><a class="button" href="\(page.base)/?batch=\(record.id.text)">Its jobs</a>\
            <a class="button" href="\(base)/results.csv" download>Results as CSV</a>\
            <a class="button" href="\(base)/results.json" download>as JSON Lines</a>\(buttons)</div></div>\
            \(facts(length))\
            \(page.section("Why it is not going on", why(failures) + closed, id: "why"))\
            \(page.section("Progress", progress + turn, id: "progress"))\
            \(page.section("Rate", page.figure(RateChart(ends, slot: .seconds(slot)).picture), id: "rate"))\
            \(page.section("Failures", self.failures(failures), id: "failures"))\
            \(page.section("Slowest", self.slowest(slowest), id: "slowest"))
            """)
    }

    /// Round, and so long that the whole fits into the columns of the picture.
    private static func slot(for seconds: Double) -> Double {
        let lengths: [Double] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172_800, 604_800,
        ]
        return lengths.first { seconds / $0 < Double(RateChart.columns) } ?? seconds / Double(RateChart.columns)
    }

    private func facts(_ length: Double) -> Markup {
        let (ended, all) = (batch.endedCount, batch.itemCount)
        var facts: [(String, Markup)] = [
            (
                "State",
                "\(page.state(job.phase.rawValue))\(job.reason(at: page.now).map { "<small>\($0)</small>" as Markup })"
            ),
            (
                "Ended",
                "\(JobsPage.number(ended)) of \(JobsPage.number(all))\(batch.isRead ? "" : ", and more to be read")"
            ),
            ("Started", page.time(record.started)),
        ]
        if ended > 0 {
            let hourly = Double(ended) / length * 3600
            let rate = hourly >= 10 ? JobsPage.number(Int(hourly)) : "\((hourly * 10).rounded() / 10)"
            facts.append(("Rate", "\(rate) an hour"))
        }
        if job.snapshot.ended == nil, all > ended, let rate = job.itemRate(at: page.now) {
            facts.append(("Left", "about \(DurationText.rounded(Double(all - ended) / rate))"))
        }
        let (sent, received) = (batch.moved.sent, batch.moved.received)
        if sent + received > 0 {
            facts.append(("Bytes", "↑ \(page.bytes(sent)) &nbsp;↓ \(page.bytes(received))"))
        }
        if let spend = batch.settings.spend {
            facts.append(("Cost", "\(page.amount(batch.cost ?? 0))<small>of \(page.amount(spend))</small>"))
        } else if let cost = batch.cost {
            facts.append(("Cost", page.amount(cost)))
        }
        if let end = job.snapshot.ended { facts.append(("Took", page.span(end.seconds(since: record.started)))) }
        let list = facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" as Markup }
        return "<div id=\"facts\" data-live><dl class=\"facts\">\(list)</dl></div>"
    }

    /// The buttons for what can be done to the batch as it stands; what failed is begun again by itself or with the
    /// rest.
    private var buttons: Markup {
        var actions: [JobAction] = job.owner == nil && JobAction.retry.applies(to: job) ? [.retry] : []
        switch job.phase {
        case .running, .waiting: actions += [.pause, .cancel]
        case .suspended, .unknown: actions += [.resume, .cancel]
        case .failed, .succeeded, .cancelled: break
        }
        return JobPage.form(actions, job: record.id, back: "/batches/\(record.id.text)", page)
    }

    private func why(_ failures: [FailureGroup]) -> Markup {
        let cause: Markup = job.suspensionText.map { "<p>It is suspended: \($0).</p>" } ?? ""
        let command = job.phase == .unknown ? nil : job.batchAdvice(after: failures)
        let advice: Markup = command.map { "<p>Do: <code>\($0)</code></p>" } ?? ""
        return "\(cause)\(unknown)\(advice)"
    }

    /// The items that wait for a person: nothing else lets them go on.
    private var unknown: Markup {
        let count = batch.count(.unknown)
        guard count > 0 else { return "" }
        let items = count == 1 ? "1 item" : "\(JobsPage.number(count)) items"
        return """
            <p><a href="\(page.base)/?batch=\(record.id.text)&amp;state=unknown">\(items)</a>: it is not known whether the \
            submit arrived. <code>pipeline why \(record.key)</code> says what to do about each.</p>
            """
    }

    private var turn: Markup {
        let (running, pending) = (batch.underWayCount, batch.pendingCount)
        guard job.owner != nil, pending > 0 else { return "" }
        return """
            <p>\(JobsPage.number(pending)) items wait for their turn: \(running) are at work, of at most \
            \(batch.settings.atOnce).</p>
            """
    }

    private static let order: [ItemRecord.State] = [
        .succeeded, .failed, .cancelled, .unknown, .suspended, .running, .waiting, .pending, .duplicate,
    ]

    private var progress: Markup {
        let all = max(1, batch.itemCount)
        var x = 0.0
        var bars = Markup.empty
        for state in Self.order where state != .duplicate && batch.count(state) > 0 {
            let width = Double(batch.count(state)) / Double(all) * 720
            bars += """
                <rect class="bar \(state.rawValue)" x="\(x)" y="0" width="\(max(1.5, width - 1))" height="18">\
                <title>\(batch.count(state)) \(state.rawValue)</title></rect>
                """
            x += width
        }
        let counts = Self.order.filter { batch.count($0) > 0 }.map { state -> Markup in
            let words: Markup = "\(page.state(state.rawValue)) <b>\(JobsPage.number(batch.count(state)))</b>"
            return "<li>\(words)</li>"
        }
        return """
            <svg class="picture stack" viewBox="0 0 720 18" preserveAspectRatio="none" role="img" \
            aria-label="\(batch.endedCount) of \(batch.itemCount) items have ended">\(bars)</svg>\
            <ul class="legend">\(counts)</ul>
            """
    }

    private func failures(_ groups: [FailureGroup]) -> Markup {
        page.table(
            "Failures in groups", ["How many", "Stage", "What", "For example"],
            groups.map { group in
                let code: Markup = group.status == nil ? "" : "<b>\(group.code)</b> "
                return [
                    "\(JobsPage.number(group.count))", "\(group.stage ?? "before its job began")",
                    "\(code)\(group.message)",
                    "<a href=\"\(page.base)/?batch=\(record.id.text)&amp;q=\(PercentEncoding.component(group.example))\">\(group.example)</a><small>pipeline show \(CurlLine.quoted("\(record.key)/\(group.example)"))</small>",
                ]
            }, numeric: [0])
    }

    private func slowest(_ items: [ItemRecord]) -> Markup {
        page.table(
            "The slowest items", ["Item", "State", "Took"],
            items.map { item in
                let name: Markup =
                    item.job.map { "<a href=\"\(page.base)/jobs/\($0.text)\">\(item.key)</a>" } ?? "\(item.key)"
                return [name, page.state(item.state.rawValue), page.span(item.seconds)]
            }, numeric: [2])
    }

    /// One row an item, as they are read: memory does not grow with their number.
    func results(isCSV: Bool) -> DashboardResponse {
        let rows = ResultParts(view.journal, record, isCSV: isCSV)
        let name = "results.\(isCSV ? "csv" : "jsonl")"
        return DashboardResponse(
            type: isCSV ? "text/csv; charset=utf-8" : "application/jsonl",
            body: .stream(AsyncThrowingStream(unfolding: { try await rows.next() })),
            headers: [("Content-Disposition", "attachment; filename=\"\(name)\"")])
    }
}

/// The results of a batch, some hundred rows at a time.
private actor ResultParts {
    private let journal: Workspace.Journal
    private let batch: JobID
    private let isCSV: Bool
    /// The names of the document's results.
    private let names: [String]
    /// The number of the last item that was given; nil before the header line.
    private var last: Int?

    init(_ journal: Workspace.Journal, _ record: JobRecord, isCSV: Bool) {
        (self.journal, batch, self.isCSV) = (journal, record.id, isCSV)
        names = ResultRow.names(in: record)
    }

    /// A journal that can't be read cuts the download.
    func next() async throws(JournalFailure) -> [UInt8]? {
        if isCSV, last == nil {
            last = 0
            return Array((ResultRow.line(ResultRow.columns + names) + "\r\n").utf8)
        }
        let items = try await journal.items(of: batch, in: nil, after: last ?? 0, limit: 500)
        guard let end = items.last else { return nil }
        last = end.number
        return items.flatMap { item in
            let row = ResultRow(item, names: names)
            return Array((isCSV ? row.csv + "\r\n" : row.json.text + "\n").utf8)
        }
    }
}
