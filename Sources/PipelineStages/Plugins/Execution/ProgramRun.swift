import CLibrary
import Subprocess
import SystemPackage

/// One run of a plugin's program, from its start to the end of its whole process group.
///
/// The program is in a process group of its own. However the conversation ends, nothing of that group is left when
/// the run returns: after a grace comes SIGTERM, after another SIGKILL. A process that left the group (`setsid`) is not
/// waited for; it gets SIGKILL at the end.
struct ProgramRun: Sendable {
    let path: String
    /// The folder that it works in; nil for ours.
    let folder: String?
    let environment: [String: String]
    let settings: PluginSettings
    /// The mark of a step, of whose runs one at a time may be under way: what an owner that was killed has left of
    /// another is ended first. Nil for a run that nothing else stands for.
    var mark: String?

    private var limits: PluginLimits { settings.limits }

    typealias Talk<Value: Sendable> = @Sendable (ProgramChannel) async -> Result<Value, PluginFault>

    /// Starts the program and talks to it. Cancelling the task stops the program by SIGTERM; what it still says within
    /// the grace is heard.
    ///
    /// - Parameters:
    ///   - limit: how long the whole may take; nil when the engine keeps the time.
    ///   - output: bytes of standard output.
    func perform<Value: Sendable>(
        limit: Duration? = nil, output: Int, talk: @escaping Talk<Value>
    ) async -> ProgramEnd<Value> {
        // A program that closes its standard input must not end us; each write reports EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
        settings.programs.begin()
        // On the caller's executor: what comes of the end is under way by then.
        defer { settings.programs.end() }
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let state = ProgramState()
        return await withTaskCancellationHandler {
            // The one shield: a cancelled task could neither hear the program's last words nor see it end.
            await Task { await run(stops, state, limit, output, talk) }.value
        } onCancel: {
            state.stop()
            stop.yield()
        }
    }

    private func run<Value: Sendable>(
        _ stops: AsyncStream<Void>, _ state: ProgramState, _ limit: Duration?, _ output: Int,
        _ talk: @escaping Talk<Value>
    ) async -> ProgramEnd<Value> {
        let log = ProgramLog()
        let descendants = ProgramDescendants(mark: mark)
        if mark != nil, await !descendants.clear(within: limits.grace) {
            return ProgramEnd(
                result: .failure(Self.stillRuns), status: nil, log: log, wasStopped: state.isStopped,
                hadToBeEnded: false)
        }
        defer { descendants.kill() }
        do {
            let result = try await Subprocess.run(
                configuration(descendants), input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                await converse(execution, stops, state, log, limit, output, talk)
            }
            return ProgramEnd(
                result: result.closureResult, status: result.terminationStatus, log: log,
                wasStopped: state.isStopped, hadToBeEnded: state.hadToBeEnded)
        } catch {
            let fault = Self.fault(of: error)
            return ProgramEnd(
                result: .failure(fault), status: nil, log: log, wasStopped: state.isStopped, hadToBeEnded: false)
        }
    }

    private static let stillRuns = PluginFault(
        .notNow, "can't be started now: its last run goes on after SIGKILL",
        hint: "a process that waits for a disk or a network drive ends when that responds; it is tried again")

    /// What runs out for a while (posix_spawn(3), pipe(2), fork(2)) is no mistake of the program's.
    private static func fault(of error: any Error) -> PluginFault {
        if let code = (error as? SubprocessError)?.underlyingError,
            [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .resourceTemporarilyUnavailable].contains(code)
        {
            return PluginFault(
                .notNow, "can't be started now: \(code)",
                hint: "the machine is short of open files, memory or processes (ulimit -n, -u); it is tried again")
        }
        return PluginFault(
            .notStarted, "can't be started: \(error)",
            hint: "it must be executable, and a script's first line must name its interpreter (#!)")
    }

    private func configuration(_ descendants: ProgramDescendants) -> Subprocess.Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        let marked = environment.merging([ProgramDescendants.variable: descendants.mark]) { $1 }
        let variables = marked.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value) } }
        return Subprocess.Configuration(
            executable: .path(FilePath(path)), environment: .custom(Dictionary(variables) { first, _ in first }),
            workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    }

    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    private func converse<Value: Sendable>(
        _ execution: Running, _ stops: AsyncStream<Void>, _ state: ProgramState, _ log: ProgramLog,
        _ limit: Duration?, _ output: Int, _ talk: @escaping Talk<Value>
    ) async -> Result<Value, PluginFault> {
        let group = execution.processIdentifier.value
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await keep(execution, in: log, state, group) }
            tasks.addTask {
                for await _ in stops { return await end(execution, waitingFirst: nil) }
            }
            if let limit {
                tasks.addTask {
                    do { try await Task.sleep(for: limit) } catch { return }
                    state.fail(PluginFault(.overdue, "did not answer within \(limit)"))
                    await end(execution, waitingFirst: nil)
                }
            }
            let channel = ProgramChannel(
                writer: execution.standardInputWriter, output: execution.standardOutput.makeAsyncIterator(),
                limits: limits, outputLimit: output, state: state, kill: { Self.kill(group) })
            let result = await talk(channel)
            try? await execution.standardInputWriter.finish()
            let patience = patience(after: result)
            let began = ContinuousClock.now
            await end(execution, waitingFirst: patience)
            if let patience, ContinuousClock.now - began >= patience { state.endedByUs() }
            Self.kill(group)
            tasks.cancelAll()
            return result
        }
    }

    /// Returns how long the program may take to end by itself: none when it floods or talks nonsense.
    private func patience<Value>(after result: Result<Value, PluginFault>) -> Duration? {
        switch result {
        case .success: limits.grace
        case .failure(let fault): fault.kind == .ended || fault.kind == .deaf ? min(limits.grace, .seconds(1)) : nil
        }
    }

    /// Ends the process group; returns when its first process has ended. Signal 0 only waits.
    private func end(_ execution: Running, waitingFirst patience: Duration?) async {
        var steps: [TeardownStep] = []
        if let patience {
            steps.append(
                .send(signal: Signal(rawValue: 0), toProcessGroup: true, allowedDurationToNextStep: patience))
        }
        steps.append(.send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: limits.grace))
        await execution.teardown(using: steps)
    }

    private func keep(_ execution: Running, in log: ProgramLog, _ state: ProgramState, _ group: pid_t) async {
        var buffers = execution.standardError.makeAsyncIterator()
        while let buffer = try? await buffers.next() {
            let count = buffer.withUnsafeBytes { log.append($0) }
            guard count <= limits.output else {
                state.fail(PluginFault(.flood, "wrote more than \(limits.output) bytes to standard error"))
                return Self.kill(group)
            }
        }
    }

    /// The group's number stays ours until its first process has been reaped, which is after the conversation.
    private static func kill(_ group: pid_t) {
        _ = CLibrary.kill(-group, SIGKILL)
    }
}

/// The way in which a run of a program ended.
struct ProgramEnd<Value: Sendable>: Sendable {
    /// The result of the conversation, or the fault in it.
    let result: Result<Value, PluginFault>
    /// Nil when it was not started.
    let status: TerminationStatus?
    let log: ProgramLog
    let wasStopped: Bool
    /// True if it went on after the conversation, until a signal of ours.
    let hadToBeEnded: Bool

    /// The fault with what the end of the process adds to it.
    func explained(_ fault: PluginFault) -> PluginFault {
        guard fault.kind == .ended || fault.kind == .deaf else { return fault }
        if hadToBeEnded {
            return fault.kind == .deaf
                ? fault
                : PluginFault(.ended, "closed its standard output without saying how its work ended, and went on")
        }
        switch status {
        case .exited(0)?, nil:
            return fault.kind == .deaf
                ? fault : PluginFault(.ended, "ended without saying how its work ended")
        case .exited(let code)?: return PluginFault(fault.kind, "ended with status \(code) in the middle of its work")
        case .signaled(let signal)?:
            return PluginFault(fault.kind, "was ended by signal \(signal) in the middle of its work")
        }
    }

    /// True if a signal ended it that we did not send: memory ran out, or it crashed; another attempt may help.
    var wasKilled: Bool {
        if case .signaled? = status { !hadToBeEnded && !wasStopped } else { false }
    }
}
