import PipelineCore
import PipelineKit
import PipelinePictures

/// The parts that all pages have in common: the frame around them, and how states, times and lengths of time are
/// written.
struct Page: Sendable {
    enum Section: String, CaseIterable {
        case jobs = "Jobs", pipelines = "Pipelines", services = "Services", workers = "Workers"
    }

    let base: String
    let section: Section?
    let now: Timestamp
    let hasActions: Bool
    /// The journal's last change before the page was read.
    let change: Int64
    /// The only job that the page shows.
    let job: JobID?
    let folder: String
    /// The number of times that what should never happen did.
    let mistakes: Int

    var clock: TimeText { TimeText(now: now) }

    func frame(_ title: String, _ content: Markup) -> Markup {
        let links = Section.allCases.map { item -> Markup in
            let path = item == .jobs ? "/" : "/\(item.rawValue.lowercased())"
            let mark: Markup = item == section ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(base)\(path)\"\(mark)>\(item.rawValue)</a></li>"
        }
        let filter = job.map { "&job=\($0.text)" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title) · pipeline</title>\
            <meta name="viewport" content="width=device-width, initial-scale=1">\
            <link rel="stylesheet" href="\(base)/style.css"><link rel="icon" href="\(base)/icon.svg">\
            <script src="\(base)/script.js" defer></script></head>
            <body\(section == nil ? "" : " data-changes=\"\(base)/changes?after=\(Int(change))\(filter)\"" as Markup)>
            <a class="skip" href="#main">Skip to content</a>
            <header class="top"><a class="brand" href="\(base)/"><img src="\(base)/icon.svg" alt="" width="24" height="24">\
            pipeline</a><nav aria-label="Pages"><ul>\(links)</ul></nav>\
            <button type="button" id="live" hidden aria-pressed="false" \
            title="New rows and states come by themselves; press to hold them back">\
            <span class="dot" aria-hidden="true"></span><span class="words">Live</span></button></header>
            <main id="main">\(content)</main>
            \(footer)
            </body></html>

            """
    }

    /// The footer: where the jobs are kept, and the way to what only few need; nothing to those who were not let in.
    private var footer: Markup {
        guard !folder.isEmpty else { return "" }
        let words: Markup =
            mistakes == 0
            ? "Mistakes of the program: none"
            : "<span class=\"state failed\">✗ \(mistakes == 1 ? "1 mistake" : "\(mistakes) mistakes") of the program</span>"
        return "<footer><span>\(folder)</span><a href=\"\(base)/mistakes\">\(words)</a></footer>"
    }

    func failed(_ title: String, _ text: String) -> Markup {
        frame(
            title,
            """
            <section class="empty"><h1>\(title)</h1><p>\(text)</p><p><a href="\(base)/">All jobs</a></p></section>
            """)
    }

    func signedOut(wasLink: Bool = false) -> Markup {
        let reason =
            wasLink ? "This link was opened before, or is older than ten minutes." : "These pages are opened by a link."
        return frame(
            "Sign in",
            """
            <section class="empty"><h1>Sign in</h1><p>\(reason) Type this in a terminal, and it opens a new one:</p>\
            <pre><code>pipeline dashboard</code></pre></section>
            """)
    }

    func signedIn() -> Markup {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>pipeline</title>\
        <meta http-equiv="refresh" content="0;url=\(base)/"><link rel="stylesheet" href="\(base)/style.css"></head>
        <body><main><section class="empty"><h1>You are signed in</h1><p><a href="\(base)/">Go on to your jobs</a></p>\
        </section></main></body></html>

        """
    }
}

// MARK: Words

extension Page {
    /// A state by its mark and its word.
    func state(_ name: String) -> Markup {
        "<span class=\"state \(name)\"><span aria-hidden=\"true\">\(Self.mark(name))</span> \(name)</span>"
    }

    static func mark(_ state: String) -> String {
        switch state {
        case "running": "▶"
        case "waiting": "◔"
        case "suspended": "‖"
        case "unknown": "?"
        case "succeeded": "✓"
        case "failed": "✗"
        case "cancelled": "⊘"
        case "skipped": "↷"
        default: "○"
        }
    }

    /// A moment, said from now, with the exact one on hover.
    func time(_ time: Timestamp) -> Markup {
        let words = time > now ? clock.until(time) : clock.ago(time)
        return "<time datetime=\"\(time.description)\" title=\"\(TimeText.exact(time))\">\(words)</time>"
    }

    /// The time of the day, with the exact one on hover.
    func clockTime(_ time: Timestamp) -> Markup {
        "<time datetime=\"\(time.description)\" title=\"\(TimeText.exact(time))\">\(clock.clock(time))</time>"
    }

    /// A length of time.
    func span(_ seconds: Double?) -> Markup {
        seconds.map { "\(DurationText.rounded($0))" } ?? Self.nothing
    }

    /// A sum of money, in a currency that only the author of the document knows.
    func amount(_ value: Double?) -> Markup { value.map { "\(AmountText.describe($0))" } ?? Self.nothing }

    func bytes(_ count: Int64) -> Markup { count == 0 ? Self.nothing : "\(SizeText.describe(count))" }

    static let nothing: Markup = "<span class=\"nothing\" aria-label=\"none\">–</span>"

    /// A picture, and its numbers below it.
    func figure(_ picture: Picture?) -> Markup {
        guard let picture else { return .empty }
        let head = picture.columns.map { "<th scope=\"col\">\($0)</th>" as Markup }
        let rows = picture.rows.map { row -> Markup in
            "<tr>\(row.map { "<td>\($0)</td>" as Markup })</tr>"
        }
        return """
            <figure><figcaption>\(picture.title)</figcaption>\
            <div class="scroll" tabindex="0" role="group" aria-label="\(picture.title)">\(picture.svg)</div>\
            <details><summary>As numbers</summary><div class="scroll" tabindex="0" role="group" \
            aria-label="\(picture.title), as numbers"><table><thead><tr>\(head)</tr></thead>\
            <tbody>\(rows)</tbody></table></div></details></figure>
            """
    }

    /// A section with a heading; nothing where it has no content.
    func section(_ title: String, _ content: Markup, id: String) -> Markup {
        content.isEmpty
            ? .empty
            : "<section id=\"\(id)\" data-live aria-labelledby=\"\(id)-title\"><h2 id=\"\(id)-title\">\(title)</h2>\(content)</section>"
    }

    /// A table that scrolls within itself where the window is too narrow.
    func table(_ title: String, _ columns: [String], _ rows: [[Markup]], numeric: Set<Int> = []) -> Markup {
        guard !rows.isEmpty else { return .empty }
        let head = columns.enumerated().map { index, name -> Markup in
            "<th scope=\"col\"\(numeric.contains(index) ? " class=\"number\"" : "" as Markup)>\(name)</th>"
        }
        let body = rows.map { row -> Markup in
            let cells = row.enumerated().map { index, cell -> Markup in
                "<td\(numeric.contains(index) ? " class=\"number\"" : "" as Markup)>\(cell)</td>"
            }
            return "<tr>\(cells)</tr>"
        }
        return """
            <div class="scroll" tabindex="0" role="group" aria-label="\(title)"><table><thead><tr>\(head)</tr></thead>\
            <tbody>\(body)</tbody></table></div>
            """
    }
}
