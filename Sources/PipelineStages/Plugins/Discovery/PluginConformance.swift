import JSONPath
import PipelineCore
import Subprocess

/// Tries out whether a program keeps the plugin protocol: what `pipeline plugins test PROGRAM` does.
///
/// Nothing that it sends asks the program to do real work: it is asked for its description, given wrong messages, an
/// empty input, a cancellation with nothing to cancel, and a configuration that its own schema refuses.
package struct PluginConformance: Sendable {
    /// One check and how it went.
    package struct Finding: Sendable, Hashable {
        /// The rule that must hold, a sentence.
        package let check: String
        /// The behaviour that was seen instead; nil when it holds.
        package let problem: String?
        /// A way to mend it.
        package let hint: String?

        package var holds: Bool { problem == nil }
    }

    let program: PluginProgram
    private let settings: PluginSettings

    /// - Parameter path: the program, absolute; its file name says which kind it is for.
    package init(path: String, settings: PluginSettings) {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let role = PluginRole.allCases.first { file.hasPrefix($0.prefix) } ?? .stage
        let name = file.hasPrefix(role.prefix) ? String(file.dropFirst(role.prefix.count)) : file
        program = PluginProgram(name: name, path: path, role: role)
        self.settings = settings
    }

    /// All checks, in order; those that make no sense after a failed one are left out.
    package func run() async -> [Finding] {
        var findings = [named]
        guard PluginFolders.isProgram(program.path) else {
            let problem = "\(program.path) is no executable file"
            return findings + [Finding(check: "it can be run", problem: problem, hint: "chmod +x \(program.path)")]
        }
        let end = await inquiry.ask()
        findings.append(described(end))
        guard case .success(let description) = end.result else { return findings }
        findings += [agrees(description), readable(description), endsAfter(end)]
        findings.append(await passesOverUnknownMembers())
        findings.append(
            await survives("an unknown message is answered with 'failed', or ends it", ["type": "x-unknown"]))
        findings.append(await endsWithItsInput())
        findings.append(await hearsTermination())
        if let refused = await refusesWrongConfiguration(description) { findings.append(refused) }
        switch program.role {
        case .stage: findings.append(await answersCancel())
        case .decorator: findings.append(await answersDecorate())
        case .sink: break
        }
        return findings
    }

    private var inquiry: PluginInquiry { PluginInquiry(program: program, settings: settings) }

    // MARK: The description

    private var named: Finding {
        let file = program.path.split(separator: "/").last.map(String.init) ?? ""
        let isNamed = file == program.role.prefix + program.name && PluginFolders.isName(program.name)
        return Finding(
            check: "its file is called \(program.role.prefix)NAME", problem: isNamed ? nil : "it is called \(file)",
            hint: "a name is a word such as \"transcode\"")
    }

    private func described(_ end: ProgramEnd<PluginDescription>) -> Finding {
        finding("it answers 'describe' with a description", end)
    }

    private func agrees(_ description: PluginDescription) -> Finding {
        Finding(
            check: "its kind is that of its file name",
            problem: description.kind == program.name ? nil : "it says '\(description.kind)'",
            hint: "rename the file, or change \"kind\"")
    }

    private func readable(_ description: PluginDescription) -> Finding {
        Finding(
            check: "its schema is understood as a whole",
            problem: description.schema.problems.isEmpty
                ? nil : description.schema.problems.joined(separator: "; "),
            hint: "what is not understood is not checked; use the keywords of the reference")
    }

    private func endsAfter(_ end: ProgramEnd<PluginDescription>) -> Finding {
        let problem: String? =
            if end.hadToBeEnded {
                "it went on after its last message"
            } else if end.status != .exited(0) {
                "it ended with \(end.status.map(Self.words) ?? "nothing")"
            } else { nil }
        return Finding(
            check: "it ends by itself after its last message, with status 0", problem: problem,
            hint: "return from the main function once the last message is written")
    }

    // MARK: Behaviour

    private func passesOverUnknownMembers() async -> Finding {
        var question = PluginInquiry.question.object ?? [:]
        question["x-later"] = ["a": [1, 2, 3]]
        return finding("members that it does not know are passed over", await inquiry.ask(.object(question)))
    }

    /// Whatever it says, it must end, by itself, without a crash.
    private func survives(_ check: String, _ message: JSON) async -> Finding {
        let end = await conversation { channel async throws(PluginFault) in
            try await channel.send(message)
            return try await channel.next().type
        }
        if case .failure(let fault) = end.result {
            if fault.kind == .overdue { return Finding(check: check, problem: "it \(fault.message)", hint: nil) }
            if fault.kind == .nonsense || fault.kind == .flood { return finding(check, end) }
            return Finding(
                check: check, problem: end.wasKilled ? "it crashed: \(end.status.map(Self.words) ?? "")" : nil,
                hint: "answer {\"type\":\"failed\",\"message\":…}")
        }
        if case .success(let type) = end.result, type != "failed" {
            return Finding(check: check, problem: "it answered '\(type)'", hint: nil)
        }
        return Finding(check: check, problem: nil, hint: nil)
    }

    private func endsWithItsInput() async -> Finding {
        let end = await conversation { channel async throws(PluginFault) in
            try await channel.finish()
            return try await channel.line() == nil ? "nothing" : "something"
        }
        let hint = "end when reading gives the end of the input"
        let check = "it ends when its standard input does, and says nothing"
        switch end.result {
        case .success("nothing") where !end.hadToBeEnded: return Finding(check: check, problem: nil, hint: nil)
        case .success("nothing"): return Finding(check: check, problem: "it went on", hint: hint)
        case .success: return Finding(check: check, problem: "it wrote to standard output unasked", hint: hint)
        case .failure(let fault): return Finding(check: check, problem: "it \(fault.message)", hint: hint)
        }
    }

    private func hearsTermination() async -> Finding {
        let began = ContinuousClock.now
        let end = await run.perform(limit: .milliseconds(200), output: settings.limits.output) { channel in
            await Self.result { () async throws(PluginFault) in _ = try await channel.line() }
        }
        let isLate = ContinuousClock.now - began > .milliseconds(200) + settings.limits.grace
        return Finding(
            check: "SIGTERM ends it within \(settings.limits.grace)",
            problem: isLate ? "it went on until SIGKILL (\(end.status.map(Self.words) ?? ""))" : nil,
            hint: "on SIGTERM commit what there is, and end")
    }

    private func refusesWrongConfiguration(_ description: PluginDescription) async -> Finding? {
        let wrong: JSON = ["x-conformance": [1, nil, "wrong"]]
        guard !description.schema.mistakes(in: wrong).isEmpty else { return nil }
        return await survives(
            "a configuration that its schema refuses is answered with 'failed'",
            work(wrong))
    }

    private func answersDecorate() async -> Finding {
        let end = await conversation { channel async throws(PluginFault) in
            try await channel.send(work([:]))
            return try await channel.next().type
        }
        let check = "a request is answered with 'decorated' or 'failed'"
        if case .success(let type) = end.result, type != "decorated", type != "failed" {
            return Finding(check: check, problem: "it answered '\(type)'", hint: nil)
        }
        return finding(check, end)
    }

    private func answersCancel() async -> Finding {
        let end = await conversation { channel async throws(PluginFault) in
            try await channel.send(Self.stageMessage("cancel", [:]))
            return try await channel.next().type
        }
        let check = "a cancellation with nothing to cancel is answered with 'cancelled' or 'failed'"
        if case .success(let type) = end.result, type != "cancelled", type != "failed" {
            return Finding(check: check, problem: "it answered '\(type)'", hint: nil)
        }
        return finding(check, end)
    }

    // MARK: Runs

    private var run: ProgramRun { inquiry.run }

    private func conversation(
        _ talk: @escaping @Sendable (ProgramChannel) async throws(PluginFault) -> String
    ) async -> ProgramEnd<String> {
        await run.perform(limit: settings.limits.describing, output: settings.limits.description) { channel in
            await Self.result { () async throws(PluginFault) in try await talk(channel) }
        }
    }

    private static func result<Value>(
        _ work: () async throws(PluginFault) -> Value
    ) async -> Result<Value, PluginFault> {
        do throws(PluginFault) { return .success(try await work()) } catch { return .failure(error) }
    }

    private func finding<Value>(_ check: String, _ end: ProgramEnd<Value>) -> Finding {
        guard case .failure(let fault) = end.result else { return Finding(check: check, problem: nil, hint: nil) }
        let told = end.explained(fault)
        let log = end.log.lastLines(3) { $0 }.map { "; its log ends with: \($0)" } ?? ""
        return Finding(check: check, problem: "it \(told.message)\(log)", hint: told.hint)
    }

    private static func words(_ status: TerminationStatus) -> String {
        switch status {
        case .exited(let code): "status \(code)"
        case .signaled(let signal): "signal \(signal)"
        }
    }
}
