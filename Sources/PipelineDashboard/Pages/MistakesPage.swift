import Assertions
import PipelineCore
import PipelineKit
import PipelinePictures

/// The page of what should never happen and did: mistakes of the program itself, for the person who is to report them.
struct MistakesPage {
    private let entries: [AssertionFiles.Entry]
    private let page: Page

    init(_ settings: Settings, _ page: Page) {
        entries = AssertionFiles(settings: settings).entries
        self.page = page
    }

    var markup: Markup {
        let content: Markup =
            entries.isEmpty
            ? """
            <section class="empty"><h2>None</h2><p>What should never happen has not happened. If it does, the step fails as a \
            mistake of the program and not of your service, and stands here.</p></section>
            """
            : """
            <section id="mistakes">\(page.table("Mistakes of the program", ["What", "Times", "Last", "First", "Job", "Place"], entries.map(row), numeric: [1]))\
            <p class="hint">This writes what can be sent to those who mend the program, without secrets and without the names \
            of your folders:</p><pre><code>pipeline doctor --report mistakes.json</code></pre></section>
            """
        return page.frame(
            "Mistakes of the program", "<div class=\"head\"><h1>Mistakes of the program</h1></div>\(content)")
    }

    private func row(_ entry: AssertionFiles.Entry) -> [Markup] {
        let failure = entry.failure
        let step: Markup = failure.step.map { "<small>\($0)</small>" } ?? ""
        let job: Markup =
            failure.job.map { "<a href=\"\(page.base)/jobs/\($0)\">\($0.prefix(12))</a>" } ?? Page.nothing
        return [
            "\(failure.message)\(step)", "\(entry.count)", time(entry.last), time(entry.first), job,
            "<code>\(failure.file):\(failure.line)</code><small>\(entry.version)</small>",
        ]
    }

    private func time(_ text: String) -> Markup {
        (try? Timestamp.parse(text)).map { page.time($0) } ?? "\(text)"
    }
}
