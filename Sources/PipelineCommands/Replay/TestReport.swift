import PipelineCore

/// The findings of a test, as TAP, version 14 (https://testanything.org/tap-version-14-specification.html).
struct TestReport {
    private let console: Console
    private var count = 0
    private(set) var hasFailed = false

    init(_ console: Console) {
        self.console = console
        console.data("TAP version 14")
    }

    /// Says how many points there were.
    func finish() { console.data("1..\(count)") }

    /// Tells of each request of a run, what was not sent, and how it ended.
    mutating func add(_ outcome: Replay.Outcome, of recording: Recording) {
        for request in outcome.requests {
            let isRecorded = request.exchange != nil && !request.isRepeated
            var notes = request.differences.isEmpty ? [] : ["- recorded", "+ sent"] + request.differences
            if request.exchange == nil { notes = ["nothing was recorded for it"] }
            if request.isRepeated { notes = ["it was sent before, and recorded once"] }
            let step = request.exchange.map { recording.exchanges[$0].step } ?? ""
            let title = (step.isEmpty ? "" : "\(step): ") + request.title
            point(isRecorded && request.differences.isEmpty, "\(recording.name): \(title)", notes)
        }
        for place in outcome.left {
            let title = recording.exchanges[place].title
            point(false, "\(recording.name): \(title)", ["it was recorded, and was not sent"])
        }
        let failure = outcome.failure.map { [$0] } ?? []
        let isEnd = outcome.end == recording.end
        point(
            isEnd, "\(recording.name): the job ends as recorded, \(recording.end)",
            isEnd ? [] : ["it ended \(outcome.end)"] + failure)
        guard let files = recording.files else { return }
        let differing = Set(files.keys).union(outcome.files.keys).filter { files[$0] != outcome.files[$0] }.sorted()
        point(
            differing.isEmpty, "\(recording.name): it writes what was recorded",
            differing.map { name in
                switch (files[name], outcome.files[name]) {
                case (nil, _): "\(name) was not written when it was recorded"
                case (_, nil): "\(name) was not written"
                default: "\(name) has another content"
                }
            })
    }

    /// Kills the job at each pass of each crash point, resumes it, and tells whether it ends as without.
    mutating func addCrashes(of replay: Replay, _ plain: Replay.Outcome, _ recording: Recording) async {
        for point in CrashPoint.allCases {
            for pass in 0..<min(plain.passes[point] ?? 0, Self.mostPasses) {
                let outcome = await replay.run(crash: Replay.Crash(point: point, pass: pass + 1))
                add(outcome, at: "\(point.rawValue):\(pass + 1)", plain, recording)
            }
        }
    }

    /// Later passes of a point, such as further polls, are like the earlier ones.
    private static let mostPasses = 3

    private mutating func add(
        _ outcome: Replay.Outcome, at place: String, _ plain: Replay.Outcome, _ recording: Recording
    ) {
        let title = "\(recording.name): killed at \(place) and resumed"
        if let stranger = outcome.requests.first(where: { $0.exchange == nil }), outcome.end != plain.end {
            // It asks what became of something, and nobody has asked that when it was recorded.
            return skip(title, "the recording has no response to \(stranger.title)")
        }
        if outcome.end == "unknown" {
            return self.point(true, "\(title): the submit is unknown, and is not sent again", [])
        }
        let isSame = outcome.end == plain.end && outcome.files == plain.files
        self.point(
            isSame, title,
            isSame ? [] : ["it ended \(outcome.end), and \(plain.end) without"] + (outcome.failure.map { [$0] } ?? []))
    }

    private mutating func skip(_ title: String, _ reason: String) {
        count += 1
        console.data("ok \(count) - \(Self.line(title)) # SKIP \(Self.line(reason))")
    }

    private mutating func point(_ isGood: Bool, _ title: String, _ notes: [String]) {
        count += 1
        if !isGood { hasFailed = true }
        console.data("\(isGood ? "ok" : "not ok") \(count) - \(Self.line(title))")
        for note in isGood ? [] : notes { console.data("# \(Self.line(note))") }
    }

    /// One line, in which `#` begins no directive.
    private static func line(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return SafeText.line(line.hasPrefix("-") || line.hasPrefix("+") ? line : line.replacing("#", with: "\\#"))
    }
}
