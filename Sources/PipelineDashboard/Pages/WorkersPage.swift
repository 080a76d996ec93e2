import PipelineCore
import PipelineEngine
import PipelineKit
import PipelinePictures

/// The page of who has which jobs, and how the budget of background resumes stands.
struct WorkersPage {
    private let view: JobView
    private let page: Page

    init(_ view: JobView, _ page: Page) {
        self.view = view
        self.page = page
    }

    func markup() async throws(JournalFailure) -> Markup {
        let owners = try await view.journal.owners().filter { $0.isAlive || $0.jobs > 0 }
        let rows = owners.sorted {
            ($0.isAlive ? 0 : 1, -$0.jobs, $0.owner.text) < ($1.isAlive ? 0 : 1, -$1.jobs, $1.owner.text)
        }
        .map { owner -> [Markup] in
            let state: Markup =
                owner.isAlive
                ? "<span class=\"state succeeded\"><span aria-hidden=\"true\">●</span> alive</span>"
                : "<span class=\"state failed\"><span aria-hidden=\"true\">○</span> gone</span><small>jobs in the background are taken up by themselves, others by <code>pipeline resume</code></small>"
            let words: Markup = owner.owner.text == "daemon" ? "<small>the background owner</small>" : ""
            return ["<code>\(owner.owner.text)</code>\(words)", state, "\(JobsPage.number(owner.jobs))"]
        }
        let owned: Markup =
            rows.isEmpty
            ? """
            <div class="empty"><p>No process owns a job at this moment. One begins with:</p>\
            <pre><code>pipeline daemon</code></pre></div>
            """
            : page.table("Processes that own jobs", ["Process", "State", "Jobs"], rows, numeric: [2])
        return page.frame(
            "Workers",
            """
            <div class="head"><h1>Workers</h1></div>\(page.section("Processes", owned, id: "processes"))\
            \(page.section("Budget of background resumes", try await budget(), id: "budget"))
            """)
    }

    private func budget() async throws(JournalFailure) -> Markup {
        let records = try await view.journal.resumes(since: page.now - ResumeRateLimiter.reach, of: nil)
        let ledger = ResumeLedger(records: records)
        var rows = [row(ledger.usage(of: nil, under: nil, at: page.now))]
        for pipeline in ledger.knownPipelines.prefix(50) {
            let newest = try await view.journal.page(JobPageQuery(pipeline: pipeline, limit: 1)).first
            var budget = ResumeBudget(.limited(.standard), in: Scope())
            if let newest, let plan = await view.plan(of: newest.snapshot.record) {
                budget = ResumeBudget(plan.definition.background.budget, in: newest.snapshot.documentScope())
            }
            rows.append(row(ledger.usage(of: pipeline, under: budget, at: page.now)))
        }
        return page.table(
            "Budget of background resumes", ["For", "Resumes", "Allowed", "Next one delayed by", "Room again"], rows,
            numeric: [1, 2, 3])
    }

    private func row(_ usage: ResumeUsage) -> [Markup] {
        let allowed = usage.budget.allowance.map { "\($0) in \(DurationText.describe(usage.budget.window))" }
        return [
            usage.pipeline.map { "\($0)" } ?? "<b>this machine</b>", "\(usage.used)", "\(allowed ?? "unlimited")",
            usage.nextDelay > .zero ? "\(DurationText.describe(usage.nextDelay))" : Page.nothing,
            usage.replenishesAt.map { page.time($0) } ?? Page.nothing,
        ]
    }
}
