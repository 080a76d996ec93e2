import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// The list of jobs: counts by state, filters in the address, pages by the key of their last job.
struct JobsPage {
    /// The filter that the address asks for.
    struct Filter: Sendable {
        var query: JobPageQuery
        /// As it was typed.
        let since: String?
        /// Says which word can't be read: such a filter selects nothing, and never everything.
        let mistake: String?

        init(_ values: FormValues, now: Timestamp) {
            let state = values["state"]
            let phase = state.flatMap { JobPhase(rawValue: $0) }
            query = JobPageQuery(
                phase: phase, pipeline: values["pipeline"],
                batch: values["batch"].map { JobID($0) }, text: values["q"].map { String($0.prefix(200)) },
                before: values["before"].map { JobID($0) })
            since = values["since"]
            var mistake = state.flatMap { word in
                phase == nil
                    ? "‘\(word)’ is no state: \(JobPhase.allCases.map(\.rawValue).joined(separator: ", "))." : nil
            }
            if let text = since {
                if let duration = try? DurationText.parse(text) {
                    query.since = now - duration
                } else if let time = try? Timestamp.parse(text.contains("T") ? text : "\(text)T00:00:00Z") {
                    query.since = time
                } else {
                    mistake = "‘\(text)’ is no time: write 2d, 3h or 2026-11-22."
                }
            }
            self.mistake = mistake
        }

        /// The address of the same list with another state, or from another place on.
        func address(phase: JobPhase?, before: JobID? = nil) -> String {
            let pairs: [(String, String?)] = [
                ("state", phase?.rawValue), ("pipeline", query.pipeline), ("batch", query.batch?.text),
                ("q", query.text), ("since", since), ("before", before?.text),
            ]
            let shown = pairs.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.component($0))" } }
            return shown.isEmpty ? "/" : "/?" + shown.joined(separator: "&")
        }
    }

    private let view: JobView
    private let page: Page
    private let filter: Filter

    init(_ view: JobView, _ page: Page, _ filter: Filter) {
        self.view = view
        self.page = page
        self.filter = filter
    }

    private static let phases: [JobPhase] = [
        .running, .waiting, .suspended, .unknown, .failed, .succeeded, .cancelled,
    ]

    func markup() async throws(JournalFailure) -> Markup {
        var query = filter.query
        query.limit += 1
        let found = filter.mistake == nil ? try await view.journal.page(query) : []
        let jobs = found.prefix(filter.query.limit)
        // A text is looked for in each job: only as far as the page needs.
        let counts =
            filter.query.text == nil && filter.mistake == nil ? try await view.journal.counts(filter.query) : nil
        var rows: [Markup] = []
        for job in jobs { rows.append(try await row(job)) }
        let title = filter.query.batch == nil ? "Jobs" : "Items"
        let more: Markup =
            found.count > jobs.count
            ? link(
                filter.address(phase: filter.query.phase, before: jobs.last?.snapshot.record.id), "Older jobs →", "next"
            )
            : ""
        let newest: Markup =
            filter.query.before == nil ? "" : link(filter.address(phase: filter.query.phase), "← Newest", "first")
        let body: Markup =
            rows.isEmpty
            ? empty(hasJobs: counts.map { $0.values.contains { $0 > 0 } } ?? true)
            : form(table(rows), more, newest, isAll: found.count <= jobs.count)
        return page.frame(
            title,
            """
            <div class="head"><h1>\(title)</h1>\(search)</div>\
            <nav id="states" data-live class="tabs" aria-label="States"><ul>\(tabs(counts))</ul></nav>\(body)
            """)
    }

    private func link(_ address: String, _ text: String, _ kind: String) -> Markup {
        "<a class=\"button\" rel=\"\(kind)\" href=\"\(page.base)\(address)\">\(text)</a>"
    }

    private var search: Markup {
        let query = filter.query
        func hidden(_ name: String, _ value: String?) -> Markup {
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" } ?? ""
        }
        let bad: Markup =
            filter.mistake.map { "<p class=\"hint\" role=\"alert\">\($0)</p>" } ?? ""
        return """
            <form class="search" role="search" action="\(page.base)/" method="get">\
            \(hidden("state", query.phase?.rawValue))\(hidden("pipeline", query.pipeline))\
            \(hidden("batch", query.batch?.text))\
            <label><span>Search</span><input type="search" name="q" value="\(query.text ?? "")" \
            placeholder="key, item, name or error"></label>\
            <label><span>Since</span><input class="short" name="since" value="\(filter.since ?? "")" placeholder="2d"></label>\
            <button type="submit">Show</button></form>\(bad)
            """
    }

    private func tabs(_ counts: [JobPhase: Int]?) -> [Markup] {
        func tab(_ phase: JobPhase?, _ mark: String, _ word: String, _ count: Int?) -> Markup {
            let current: Markup = filter.query.phase == phase ? " aria-current=\"true\"" : ""
            let number: Markup = count.map { "<b>\(Self.number($0))</b>" } ?? ""
            return """
                <li><a class="state \(word)" href="\(page.base)\(filter.address(phase: phase))"\(current)>\
                <span aria-hidden="true">\(mark)</span> \(word) \(number)</a></li>
                """
        }
        let all = tab(nil, "", "all", counts?.values.reduce(0, +))
        return [all]
            + Self.phases.compactMap { phase in
                if counts != nil, counts?[phase] == nil, filter.query.phase != phase { return nil }
                return tab(phase, Page.mark(phase.rawValue), phase.rawValue, counts.map { $0[phase] ?? 0 })
            }
    }

    /// With thin spaces between thousands.
    static func number(_ value: Int) -> String {
        var digits = Array("\(value)".reversed())
        var place = 3
        while place < digits.count {
            digits.insert("\u{202F}", at: place)
            place += 4
        }
        return String(digits.reversed())
    }

    private func table(_ rows: [Markup]) -> Markup {
        let tick: Markup =
            page.hasActions
            ? "<th scope=\"col\"><span class=\"unseen\">Choose</span></th>" : ""
        return """
            <table class="jobs"><caption class="unseen">Jobs, newest first</caption><thead><tr>\(tick)\
            <th scope="col">State</th><th scope="col">Job</th><th scope="col">Started</th>\
            <th scope="col" class="number">Took</th><th scope="col" class="number">Left</th>\
            <th scope="col" class="number">Bytes</th><th scope="col" class="number">Cost</th></tr></thead><tbody id="rows" data-live-rows>\(rows)</tbody></table>
            """
    }

    private func form(_ table: Markup, _ more: Markup, _ newest: Markup, isAll: Bool) -> Markup {
        let pager: Markup =
            more.isEmpty && newest.isEmpty
            ? "" : "<nav class=\"pager\" aria-label=\"Pages of jobs\">\(newest)\(more)</nav>"
        guard page.hasActions else { return "\(table)\(pager)" }
        let query = filter.query
        let pairs: [(String, String?)] = [
            ("state", query.phase?.rawValue), ("pipeline", query.pipeline), ("batch", query.batch?.text),
            ("q", query.text), ("since", filter.since),
            ("back", filter.address(phase: query.phase, before: query.before)),
        ]
        let hidden = pairs.compactMap { name, value -> Markup? in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" }
        }
        let limit = isAll && query.before == nil ? "" : ", up to \(JobActionTargets.limit)"
        let every: Markup = "<label><input type=\"checkbox\" name=\"all\" value=\"1\"> all that match\(limit)</label>"
        return """
            <form action="\(page.base)/actions" method="post">\(hidden)\(table)\
            <div class="actions" role="group" aria-label="With the chosen jobs">\(every)\(JobPage.buttons(JobAction.allCases, question: "\(page.base)/sure"))</div>\
            </form>\(pager)
            """
    }

    private func empty(hasJobs: Bool) -> Markup {
        if filter.query.isUnfiltered, filter.query.before == nil, !hasJobs {
            return """
                <section id="none" data-live class="empty"><h2>No jobs yet</h2><p>Start one, and it appears here by itself:</p>\
                <pre><code>pipeline init selfie
                pipeline run selfie.json -i video=me.mov</code></pre></section>
                """
        }
        return """
            <section id="none" data-live class="empty"><h2>No job matches</h2>\
            <p><a href="\(page.base)/">Show all jobs</a>, or type less into the search.</p></section>
            """
    }

    private func row(_ job: OwnedJob) async throws(JournalFailure) -> Markup {
        let (snapshot, record) = (job.snapshot, job.snapshot.record)
        let left = try await view.timeLeft(of: job, at: page.now)
        let reason: Markup = job.reason(at: page.now).map { "<small>\($0)</small>" } ?? ""
        let tick: Markup =
            page.hasActions
            ? """
            <td class="tick"><input type="checkbox" name="job" value="\(record.id.text)" aria-label="Choose \(name(record))"></td>
            """ : ""
        let took = (snapshot.ended ?? page.now).seconds(since: record.started)
        return """
            <tr id="job-\(record.id.text)">\(tick)<td class="where">\(page.state(job.phase.rawValue))\(reason)</td>\
            <td class="what">\(what(snapshot))</td>\
            <td data-label="started">\(page.time(record.started))</td>\
            <td class="number" data-label="took">\(page.span(took))</td>\
            <td class="number" data-label="left">\(Self.left(left))</td>\
            <td class="number" data-label="bytes">\(moved(job.bytesMoved))</td>\
            <td class="number" data-label="cost">\(page.amount(snapshot.cost ?? snapshot.batch?.cost))</td></tr>
            """
    }

    /// The median, and within what nine of ten are.
    static func left(_ left: JobView.TimeLeft?) -> Markup {
        left.map {
            let half = DurationText.rounded($0.half)
            let most = $0.most.map(DurationText.rounded)
            let rest: Markup = most.map { "<small title=\"9 of 10 end within this time\">≤ \($0)</small>" } ?? ""
            return "<span title=\"half end within this time\">\(half)</span>\(rest)"
        } ?? Page.nothing
    }

    private func moved(_ bytes: BytesMoved) -> Markup {
        let (sent, received) = (bytes.sent, bytes.received)
        if sent == 0, received == 0 { return Page.nothing }
        let parts: [Markup] = [
            sent > 0 ? "<span title=\"sent\">↑ \(SizeText.describe(sent))</span>" : "",
            received > 0 ? "<span title=\"received\">↓ \(SizeText.describe(received))</span>" : "",
        ].filter { !$0.isEmpty }
        return parts.joined(by: " ")
    }

    private func name(_ record: JobRecord) -> String {
        record.item?.key ?? (record.key == record.id.text ? record.pipeline : record.key)
    }

    private func what(_ snapshot: JobSnapshot) -> Markup {
        let record = snapshot.record
        if let batch = snapshot.batch {
            let failed = batch.count(.failed)
            let bad: Markup = failed > 0 ? " <span class=\"state failed\">✗ \(failed)</span>" : ""
            return """
                <a href="\(page.base)/batches/\(record.id.text)">\(record.key)</a>\
                <small>\(record.pipeline) · batch · \(batch.endedCount)/\(batch.itemCount)\(batch.isRead ? "" : "+")\(bad)</small>
                """
        }
        let short = String(record.id.text.prefix(12))
        let detail = name(record) == record.pipeline ? short : "\(record.pipeline) · \(short)"
        return "<a href=\"\(page.base)/jobs/\(record.id.text)\">\(name(record))</a><small>\(detail)</small>"
    }
}
