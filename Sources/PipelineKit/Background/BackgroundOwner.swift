import CLibrary
package import JSONPath
package import PipelineCore
import PipelineJournal

/// The background owner of a state folder as other processes reach it: over its control socket, started when none
/// listens.
package struct BackgroundOwner: Sendable {
    private let settings: Settings
    private let address: ControlAddress

    package init(settings: Settings) {
        self.settings = settings
        address = ControlAddress(stateFolder: settings.stateFolder, isWorker: settings.journalAddress != nil)
    }

    /// The answer to a request; nil when nobody listens. Throws what the owner refused.
    package func ask(_ request: ControlRequest) throws(StepFailure) -> JSON? {
        guard let descriptor = address.connect() else { return nil }
        var channel = ControlChannel(descriptor: descriptor)
        guard channel.isOfThisUser else {
            throw StepFailure(
                "\(address.path) belongs to another user's process", hint: "name another folder with --state-dir")
        }
        guard channel.send(request.json), let answer = channel.receive() else { return nil }
        if let message = answer["error"]?.string { throw StepFailure(message, hint: answer["hint"]?.string) }
        return answer
    }

    /// Returns the same, after starting an owner when there is none. One that is just ending counts as none.
    package func askStarting(_ request: ControlRequest) throws(StepFailure) -> JSON {
        var failures = 0
        for _ in 0..<3 {
            if let answer = try ask(request) { return answer }
            if try start() { continue }
            failures += 1
            // One may have ended since another was first, which has ended too by now; two have a reason of their own.
            guard failures < 2 else { throw notStarted }
        }
        throw StepFailure("the background owner does not answer", hint: "see \(logPath)")
    }

    /// Throws when no owner listens and none can be started, for want of its program.
    package func checkAvailable() throws(StepFailure) {
        if (try? ask(.status)) != nil { return }
        _ = try Self.program(path: settings.environment["PATH"])
    }

    /// The path of the log that a background owner writes that was started on demand.
    package var logPath: String { "\(settings.stateFolder)/daemon.log" }

    /// Starts the owner in a session of its own, and returns when it listens. When another one is there already, or
    /// comes at this moment, that is as good. False when it ended without a word and no other is there.
    private func start() throws(StepFailure) -> Bool {
        let program = try Self.program(path: settings.environment["PATH"])
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StepFailure("cannot start \(program): \(FileContent.reason)") }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (process, reason) = (spawn(program, ready: ends[1]), FileContent.reason)
        close(ends[1])
        guard process != nil else { throw StepFailure("cannot start \(program): \(reason)") }
        var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard poll(&wait, 1, 20_000) == 1 else { throw notStarted }
        if read(ends[0], &byte, 1) == 1 { return true }
        // It ended without a word: perhaps since another was first.
        return try awaitOther()
    }

    private var notStarted: StepFailure {
        StepFailure("the background owner did not start", hint: lastLogLine ?? "see \(logPath)")
    }

    /// Waits until the process that was first listens, or has ended again, for 20 s at most; false when there is none.
    private func awaitOther() throws(StepFailure) -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        var wasTaken = false
        while (try ask(.status)) == nil {
            guard SQLiteJournal.isTaken(Workspace.backgroundOwner, in: settings.stateFolder) else { return wasTaken }
            guard ContinuousClock.now < end else { return false }
            wasTaken = true
            poll(nil, 0, 20)
        }
        return true
    }

    private var lastLogLine: String? {
        FileContent.text(logPath)?.split(separator: "\n").last.map { "it said: \($0)" }
    }

    private func spawn(_ program: String, ready: Int32) -> pid_t? {
        let words = [program, "--state-dir", settings.stateFolder, "--on-demand"]
        var start = ProgramStart(words, environment: Self.inherited(settings.environment))
        start.errors = (logPath, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW)
        start.descriptor = (ready, Self.readyDescriptor)
        start.hasOwnSession = true
        return start.start()
    }

    /// The descriptor at which a background owner that was started on demand finds the pipe on which it says that it
    /// listens.
    package static let readyDescriptor: Int32 = 3

    /// The environment of the background owner: the starter's, without secrets, which are handed over job by job, and
    /// without what belongs to the starter alone.
    private static func inherited(_ environment: [String: String]) -> [String: String] {
        let own = [
            "PIPELINE_CRASH_AT", "PIPELINE_ASSERT_AT", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
            "PIPELINE_STATE_DIR", "TRACEPARENT",
        ]
        return environment.filter { !$0.key.hasPrefix("PIPELINE_SECRET_") && !own.contains($0.key) }
    }

    /// The background owner's program: NAME-daemon of a program that is called NAME, else `pipeline-daemon`; next to
    /// this program, else in the PATH.
    package static func program(path: String?) throws(StepFailure) -> String {
        let own = ProcessEnvironment.programPath
        let folders =
            (own.map { [AbsolutePath.folder(of: $0)] } ?? []) + (path ?? "").split(separator: ":").map(String.init)
        let name = own.flatMap { $0.split(separator: "/").last }.map { "\($0)-daemon" }
        for name in [name, "pipeline-daemon"].compactMap(\.self) {
            for folder in folders where access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        }
        throw StepFailure(
            "the program pipeline-daemon is not installed",
            hint: "it belongs next to pipeline; 'make install' puts both there")
    }
}
