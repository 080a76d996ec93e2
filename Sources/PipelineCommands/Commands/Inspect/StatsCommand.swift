import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// `pipeline stats`: how long stages take, what they cost, and how well the estimates held.
struct StatsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show durations, throughput, polls and resumes per job, and how well the estimates held.",
        discussion: "Example: pipeline stats selfie")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The name of a pipeline; all of them when it is left out.", completion: .pipelineNames)
    var pipeline: String?

    @Flag(help: "Write a JSON array.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write how durations are spread, against what was foretold, as a picture ('-': standard output).",
            valueName: "file"),
        completion: .file())
    var svg: String?

    func validate() throws {
        if svg != nil, json { throw ValidationError("--svg and --json exclude each other") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.existingJournal()
        let names: [String] = if let pipeline { [pipeline] } else { try await journal?.pipelines() ?? [] }
        var reports: [(name: String, stages: [StageStatistics], samples: [String: [StageSample]])] = []
        for name in names {
            let samples = try await journal?.samples(of: name, limit: 500) ?? []
            let order = samples.map(\.stage).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let byStage = Dictionary(grouping: samples, by: \.stage)
            let stages = order.compactMap { StageStatistics(stage: $0, samples: byStage[$0] ?? []) }
            if !stages.isEmpty { reports.append((name, stages, byStage)) }
        }
        if let svg {
            let pictures = reports.flatMap { report in
                report.stages.compactMap { stage in
                    Histogram(report.name, stage.stage, report.samples[stage.stage] ?? []).picture
                }
            }
            try PictureFile(pictures).write(to: svg, of: pipeline ?? "any pipeline", console)
            return .succeeded
        }
        let measured = try await journal?.measured() ?? Measurements()
        let polls = Self.polls(measured)
        if json {
            var rows: [JSON] = []
            for report in reports {
                let services = try await Self.services(of: report.name, workspace, journal)
                rows.append(
                    Self.json(report.name, report.stages, Self.cost(report.name, measured), polls.filter(services)))
            }
            console.data(JSON.array(rows).prettyText())
            return .succeeded
        }
        for report in reports {
            let cost = Self.cost(report.name, measured)
            Self.lines(report.name, report.stages, report.samples, cost).forEach { console.data(SafeText.line($0)) }
        }
        var shown = polls
        if let pipeline { shown = shown.filter(try await Self.services(of: pipeline, workspace, journal)) }
        for polls in shown { console.data(SafeText.line(polls.line)) }
        if reports.isEmpty { console.note("no job\(pipeline.map { " of \($0)" } ?? "") has ended yet") }
        return .succeeded
    }

    /// Returns whether polls were sent to a service of the pipeline, as its newest job's document calls it.
    private static func services(
        of pipeline: String, _ workspace: Workspace, _ journal: Workspace.Journal?
    ) async throws -> @Sendable (ServicePolls) -> Bool {
        guard let newest = try await journal?.jobs(JobQuery(pipeline: pipeline, limit: 1)).first,
            let plan = try? await workspace.plan(of: newest.snapshot.record)
        else { return { _ in false } }
        let names = Set(plan.definition.services.map(\.name))
        return { names.contains($0.service) }
    }

    /// The money that the jobs of a pipeline have cost since the journal began; nil while no document says.
    private static func cost(_ name: String, _ measured: Measurements) -> Double? {
        measured.sums[Measurements.Series(.cost, [name])].map { Amount($0.sum).double }
    }

    private static func json(
        _ name: String, _ stages: [StageStatistics], _ cost: Double?, _ polls: [ServicePolls]
    ) -> JSON {
        let rounded = { (value: Double) -> JSON in .number(JSONNumber((value * 1000).rounded() / 1000)) }
        return [
            "pipeline": .string(name), "polls": rounded(stages.reduce(0) { $0 + $1.polls }),
            "resumes": rounded(stages.reduce(0) { $0 + $1.resumes }),
            "cost": cost.map { .number(JSONNumber($0)) } ?? .null, "services": .array(polls.map(\.json)),
            "stages": .array(stages.map(\.json)),
        ]
    }

    private static func lines(
        _ name: String, _ stages: [StageStatistics], _ samples: [String: [StageSample]], _ cost: Double?
    ) -> [String] {
        let resumes = stages.reduce(0) { $0 + $1.resumes }
        let polls = stages.reduce(0) { $0 + $1.polls }
        let spent = cost.map { "; all of them cost \(AmountText.describe($0))" } ?? ""
        let head = "\(name): \(rounded(resumes)) resumes and \(rounded(polls)) polls per job\(spent)"
        return [head]
            + stages.flatMap { stage in
                let chart = DurationChart(durations: (samples[stage.stage] ?? []).map(\.seconds)).line
                return [line(stage)] + (chart.map { ["    \($0)"] } ?? [])
            }
    }

    private static func line(_ stage: StageStatistics) -> String {
        var line =
            "  \(stage.stage): \(stage.count == 1 ? "once" : "\(stage.count) times"), half within \(seconds(stage.p50)), "
        line += "90 % within \(seconds(stage.p90))"
        if let throughput = stage.throughput { line += ", \(RateText.describe(throughput))" }
        if let half = stage.held50, let most = stage.held90 {
            let (half, most) = (PercentageText.describe(half), PercentageText.describe(most))
            line += "; of \(stage.foretold) estimates p50 held in \(half), p90 in \(most)"
        }
        return line
    }

    /// The number of polls that services of a name were sent, by whichever pipeline: one request for many jobs is counted as
    /// one.
    private struct ServicePolls: Sendable {
        let service: String
        let single: Int
        let list: Int

        var line: String {
            "service '\(service)': \(single) polls of one job each, \(list) lists for many jobs, "
                + "by all pipelines with a service of that name"
        }
        var json: JSON {
            [
                "service": .string(service), "polls": .number(JSONNumber(single)),
                "listPolls": .number(JSONNumber(list)), "pipelines": "all",
            ]
        }
    }

    private static func polls(_ measured: Measurements) -> [ServicePolls] {
        var sent: [String: (single: Int, list: Int)] = [:]
        for (series, sum) in measured.sums where series.metric == .polls {
            let isList = series.labels[1] == "list"
            sent[series.labels[0], default: (0, 0)].single += isList ? 0 : Int(sum.sum)
            sent[series.labels[0], default: (0, 0)].list += isList ? Int(sum.sum) : 0
        }
        return sent.sorted { $0.key < $1.key }.map { name, polls in
            ServicePolls(service: name, single: polls.single, list: polls.list)
        }
    }

    private static func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    private static func seconds(_ value: Double) -> String {
        value < 10 ? "\((value * 100).rounded() / 100) s" : DurationText.describe(.seconds(Int(value.rounded())))
    }
}
