import ArgumentParser
import Dispatch
import PipelineCore
import PipelineKit
import Synchronization

extension CompletionKind {
    /// Ids of jobs, their own keys, and `last`.
    static let jobs = CompletionKind.custom { words, _, _ in waiting { await CommandWords(words).jobs() } }
    /// The stages of the job that the words name.
    static let stages = CompletionKind.custom { words, _, _ in waiting { await CommandWords(words).stages() } }
    /// `NAME=` of each input of the file that the words name.
    static let inputs = CompletionKind.custom { words, _, _ in waiting { await CommandWords(words).inputs() } }
    /// `NAME=` of each secret input of the job that the words name.
    static let secretInputs = CompletionKind.custom { words, _, _ in
        waiting { await CommandWords(words).secretInputs() }
    }
    /// The names of pipelines of which there are jobs.
    static let pipelineNames = CompletionKind.custom { words, _, _ in waiting { await CommandWords(words).names() } }
    static let pipelines = CompletionKind.file(extensions: ["json"])

    /// Returns what an asynchronous look-up gives: the library asks for completions before any command runs, on the
    /// main thread, and only asynchronous commands may take their time.
    private static func waiting(_ look: @escaping @Sendable () async -> [String]) -> [String] {
        let (found, isDone) = (FoundWords(), DispatchSemaphore(value: 0))
        Task.detached {
            let words = await look()
            found.words.withLock { $0 = words }
            isDone.signal()
        }
        isDone.wait()
        return found.words.withLock { $0 }
    }
}

private final class FoundWords: Sendable {
    let words = Mutex<[String]>([])
}

/// The words of a command line that is being typed; what fits at its end is looked up in the journal and the files.
struct CommandWords {
    private let words: [String]
    private let workspace: Workspace

    init(_ words: [String]) {
        // What was typed, without quotes: `pipeline`, the command, and so on; file names have no other place here.
        self.words = words
        workspace = Workspace(
            settings: Settings(
                stateFolder: Self.value(of: "--state-dir", in: words), secretsFile: nil,
                environment: ProcessEnvironment.all))
    }

    func jobs() async -> [String] {
        let jobs = try? await workspace.existingJournal()?.jobs(JobQuery(limit: 50, isBrief: true))
        let names = (jobs ?? []).flatMap { job in
            let record = job.snapshot.record
            return record.key == record.id.text ? [record.id.text] : [record.key, record.id.text]
        }
        return names.isEmpty ? [] : ["last"] + names
    }

    func names() async -> [String] {
        let jobs = try? await workspace.existingJournal()?.jobs(JobQuery(limit: 500, isBrief: true))
        return Set((jobs ?? []).map(\.snapshot.record.pipeline)).sorted()
    }

    func stages() async -> [String] { await plan()?.definition.stages.map(\.id) ?? [] }

    func secretInputs() async -> [String] {
        await plan()?.definition.inputs.filter(\.isSecret).map { "\($0.name)=" } ?? []
    }

    /// Of the job that the words name.
    private func plan() async -> Plan? {
        guard let journal = try? workspace.existingJournal() else { return nil }
        for word in words.dropFirst(2) where !word.hasPrefix("-") {
            guard let job = try? await JobName(word).find(in: journal) else { continue }
            return try? await workspace.plan(of: job.snapshot.record)
        }
        return nil
    }

    func inputs() async -> [String] {
        for word in words where word.hasSuffix(".json") {
            guard let source = try? JobDraft.source(at: word) else { continue }
            let catalogue = await workspace.catalogue(for: source)
            guard let plan = try? Planner(catalogue: catalogue).plan(source) else { continue }
            return plan.definition.inputs.map { "\($0.name)=" }
        }
        return []
    }

    private static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix("\(option)=") { return String(word.dropFirst(option.count + 1)) }
            if word == option, index + 1 < words.count { return words[index + 1] }
        }
        return nil
    }
}
