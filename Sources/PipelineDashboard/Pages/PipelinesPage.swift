import PipelineCore
import PipelineKit
import PipelinePictures

/// The page of how long the stages of each pipeline take, and how well what was foretold held.
struct PipelinesPage {
    private let view: JobView
    private let page: Page

    init(_ view: JobView, _ page: Page) {
        self.view = view
        self.page = page
    }

    private static let most = 20

    func markup() async throws(JournalFailure) -> Markup {
        let names = try await view.journal.pipelines()
        var sections: [Markup] = []
        for (index, name) in names.prefix(Self.most).enumerated() { sections.append(try await section(name, index)) }
        let rest: Markup =
            names.count > Self.most ? "<p class=\"hint\">and \(names.count - Self.most) more: pipeline stats</p>" : ""
        let content: Markup =
            sections.isEmpty
            ? """
            <section class="empty"><h2>Nothing has ended yet</h2><p>Durations appear here once a job has.</p>\
            <pre><code>pipeline run FILE.json</code></pre></section>
            """ : "\(sections)\(rest)"
        return page.frame("Pipelines", "<div class=\"head\"><h1>Pipelines</h1></div>\(content)")
    }

    private func section(_ name: String, _ index: Int) async throws(JournalFailure) -> Markup {
        let samples = try await view.journal.samples(of: name, limit: 500)
        let order = samples.map(\.stage).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let byStage = Dictionary(grouping: samples, by: \.stage)
        let stages = order.compactMap { StageStatistics(stage: $0, samples: byStage[$0] ?? []) }
        let runs = try await view.journal.runs(of: name, limit: 40)
        let rows = stages.map { stage -> [Markup] in
            let held: Markup =
                stage.held90.map { "\(PercentageText.describe($0))<small>of \(stage.foretold)</small>" } ?? Page.nothing
            return [
                "\(stage.stage)", "\(stage.count)", page.span(stage.p50), page.span(stage.p90), held,
                stage.throughput.map { "\(RateText.describe($0))" } ?? Page.nothing,
                "\((stage.polls * 10).rounded() / 10 == 0 ? "0" : "\((stage.polls * 10).rounded() / 10)")",
            ]
        }
        let resumes = (stages.reduce(0) { $0 + $1.resumes } * 10).rounded() / 10
        let pictures = order.prefix(6).map { stage -> Markup in
            page.figure(Histogram(name, stage, byStage[stage] ?? []).picture)
        }
        let words = resumes == 0 ? "no resumes" : "\(resumes) resumes"
        return """
            <section id="pipeline-\(index)" data-live aria-labelledby="pipeline-\(index)-title" class="pipeline">\
            <div class="head"><h2 id="pipeline-\(index)-title"><a href="\(page.base)/?pipeline=\(PercentEncoding.component(name))">\(name)</a></h2>\
            <p class="runs"><small>last jobs, \(words) each</small>\(Sparkline(runs).svg)</p></div>\
            \(page.table("Stages of \(name)", ["Stage", "Jobs", "Half within", "9 of 10 within", "p90 held", "Throughput", "Polls"], rows, numeric: [1, 2, 3, 4, 5, 6]))\
            <div class="figures">\(Array(pictures))</div></section>
            """
    }
}
