import ArgumentParser
import Foundation
import JSONPath
import PipelineCore
import PipelineStages

/// Measures what one resume of a stage that is a program costs above starting the program.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Resume a program's stage; print the cost above starting the process.")

    @Option(help: "Resumes.") var runs = 200
    @Option(help: "An empty folder for the program.") var folder: String

    func run() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let program = "\(folder)/pipeline-stage-quick"
        try Self.program.write(toFile: program, atomically: true, encoding: .utf8)
        chmod(program, 0o755)
        try #"{"type":"resume"}"#.appending("\n").write(
            toFile: "\(folder)/message", atomically: true, encoding: .utf8)
        let stage = try await stage()
        let host = QuietHost(folder: folder)
        var bare: [Double] = []
        var whole: [Double] = []
        // In turns, so that what else the machine does falls on both.
        for _ in 0..<runs {
            bare.append(Measured.run("\(program) <\(folder)/message").wall)
            let began = ContinuousClock.now
            guard case .success(.finished) = await stage.resume(nil, host) else {
                throw BenchFailure(end: "the stage did not finish")
            }
            whole.append((ContinuousClock.now - began) / .seconds(1))
        }
        let (least, cost) = (bare.median * 1000, whole.median * 1000)
        print(
            "\(runs) resumes of a program: \(text(cost)) ms each, \(text(least)) ms of it to start the process; "
                + "\(text(cost - least)) ms above that")
    }

    private func stage() async throws -> AnyStage {
        let source = SourceText(
            name: "bench.json",
            text: #"{ "pipeline": 1, "name": "bench", "stages": [ { "id": "a", "kind": "quick" } ] }"#)
        let host = PluginHost(folders: PluginFolders([folder]), settings: PluginSettings(environment: [:]))
        var catalogue = Catalogue(kinds: []) { _, _ in }
        for kind in await host.plugins(namedIn: source).stages { catalogue.register(kind) }
        return try Planner(catalogue: catalogue).plan(source).stages[0].stage
    }

    private static let program = """
        #!/bin/sh
        read -r message
        case $message in
        *describe*) echo '{"type":"description","protocol":1,"kind":"quick","version":"1"}' ;;
        *) echo '{"type":"finished"}' ;;
        esac

        """
}

/// A host that keeps nothing.
private struct QuietHost: StageHost {
    let facts: StageFacts
    let now = Timestamp(milliseconds: 0)
    let isOwner = true

    init(folder: String) {
        facts = StageFacts(
            job: JobID(at: Timestamp(milliseconds: 0), random: (0, 0)),
            submitName: SubmitName(jobKey: "bench", step: StepKey(stage: "a")),
            pipeline: "bench", attempt: 1, started: Timestamp(milliseconds: 0), deadline: nil,
            folders: JobFolders(document: folder, output: folder), overwrites: false, retry: RetryPolicy(), place: "")
    }

    func scope() async throws(StageFailure) -> Scope { Scope() }
    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON { .null }
    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {}
    func submitRecord() async -> SubmitRecord? { nil }
    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {}
    func commit(file: WrittenFile) async throws(StageFailure) {}
    func report(_ progress: StageProgress) {}
    func pass(_ point: CrashPoint) {}
    func digest(_ bytes: [UInt8]) -> String { "" }
    func redact(_ text: String) -> String { text }
    func pushes() async -> Int { 0 }
    func callbackCaptures() async -> JSONObject? { nil }
    func ended(at time: Timestamp) {}
    func measure(_ measured: Measurements) {}
    var services: any ServiceGate { OpenServices() }
    func conclude(with response: JSON) {}
    func noteServed() {}
    func warn(_ message: String) async throws(StageFailure) {}
    func count(_ moved: BytesMoved) {}
    func mustAct(before time: Timestamp?) {}
    func record(_ exchange: ExchangeRecord) {}
    func authenticates() {}
    func conceal(_ secret: String, as name: String) {}
    func renewSecrets(since used: [String: String]) async -> Bool { false }
}
