import PipelineTestKit

/// What a run showed, with names for what is another at each run: folders, ports, ids, times.
struct MessageText {
    let text: String

    init(_ end: ProgramEnd, folder: String, server: MessageServer?) {
        let status =
            switch end.cause {
            case .exited(let code): "status \(code)"
            case .killed(let signal): "killed by signal \(signal)"
            case .overdue: "overdue"
            }
        var text = "\(status)\n"
        if !end.output.isEmpty { text += "--- standard output\n\(end.output)" }
        if !end.errors.isEmpty { text += "--- standard error\n\(end.errors)" }
        text = text.replacing(folder, with: "FOLDER")
        if let server {
            for (url, name) in [(server.url, "SERVER"), (server.otherURL, "OTHER")] {
                text = text.replacing(url, with: name).replacing(url.dropFirst("http://".count), with: name)
            }
        }
        text = text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
        text = text.replacing(/\b[0-9a-hjkmnp-tv-z]{26}\b/, with: "JOB")
        text = text.replacing(/\b(localhost|127\.0\.0\.1):\d{4,5}\b/, with: "HOST")
        text = text.replacing(/\(\d+-[0-9a-z]+\)/, with: "(OWNER)")
        text = text.replacing(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/, with: "KEY")
        text = text.replacing(/after \d+ milliseconds/, with: "after MILLISECONDS")
        text = text.replacing(/\b\d+(\.\d+)? s ago\b/, with: "SECONDS ago")
        text = text.replacing(/(ago|,) \(\d\d:\d\d\)/) { "\($0.output.1) (CLOCK)" }
        text = text.replacing(/, after \d+(\.\d+)? s\b/, with: ", after SECONDS")
        self.text = text.replacing(/\bin \d+(\.\d+)? s\b/, with: "in SECONDS")
    }
}
