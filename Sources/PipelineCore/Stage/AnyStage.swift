import JSONPath

/// A stage without the type of its checkpoint: what a plan holds and the engine calls.
public struct AnyStage: Sendable {
    /// Calls ``Stage/resume(from:in:)`` with the checkpoint's bytes.
    package let resume: @Sendable ([UInt8]?, any StageHost) async -> Result<StageOutcome<[UInt8]>, StageFailure>
    /// Calls ``Stage/cancel(from:in:)`` likewise.
    package let cancel: @Sendable ([UInt8]?, any StageHost) async -> StageFailure?
    /// Calls ``Stage/preview(in:)``.
    package let preview: @Sendable (PreviewScope) async -> StagePreview
    /// Calls ``Stage/preflight(at:)``.
    package let preflight: @Sendable (JobStart) async -> StepFailure?
    /// Calls ``Stage/target(at:)``.
    package let target: @Sendable (JobStart) -> String?

    /// Finds the checkpoint that is kept in the transaction which starts the step, before the first call of ``resume``;
    /// nil for a stage that has none.
    package let first: (@Sendable (Scope) -> [UInt8]?)?

    /// Returns whether it goes on from a checkpoint without a request made of what other stages gave: with what has a place
    /// at the service, or is there whole. Nil where no checkpoint lets it.
    package let standsAlone: (@Sendable ([UInt8]) -> Bool)?

    /// The work that it leaves to the outside.
    package let work: BackgroundWork
    /// The way in which callbacks for it are verified; nil for one that none wakes.
    package let callback: CallbackDefinition?
    /// True if ``cancel`` ends what it has at the service, a remote job or an upload: the next attempt begins as if there had
    /// been none.
    package let cancelsWork: Bool
    /// True if a callback alone brings its captures: run again for fresh ones it would have the same, for it asks for none.
    package let endsByCallback: Bool
    /// True if its next call settles a submit of which nobody knows whether the service took it.
    package let settlesSubmit: Bool
    /// True unless it is known to write no file.
    package let writesFiles: Bool

    /// Wraps a stage.
    ///
    /// - Parameters:
    ///   - coding: turns the stage's checkpoint into bytes and back; `.json` does for most.
    ///   - work: says what goes on elsewhere while the stage waits, by which a job in the background is woken less often.
    public init<Wrapped: Stage>(
        _ stage: Wrapped, coding: CheckpointCoding<Wrapped.Checkpoint>, work: BackgroundWork = .local
    ) {
        self.init(stage, coding: coding, work: work, callback: nil)
    }

    /// Wraps a stage that callbacks may wake, or that has a first checkpoint.
    ///
    /// - Parameter first: what the stage would commit before anything else, as far as it can be found from what expressions
    ///   may read and from local files: kept with the step's start, it costs no commit of its own. Nothing is sent for
    ///   it. Where it gives nil, ``Stage/resume(from:in:)`` begins without a checkpoint, and meets what is in the way.
    /// - Parameter standsAlone: see there.
    package init<Wrapped: Stage>(
        _ stage: Wrapped, coding: CheckpointCoding<Wrapped.Checkpoint>, work: BackgroundWork = .local,
        callback: CallbackDefinition? = nil, cancelsWork: Bool = false, endsByCallback: Bool = false,
        settlesSubmit: Bool = false, writesFiles: Bool = true,
        first: (@Sendable (Scope) -> Wrapped.Checkpoint?)? = nil,
        standsAlone: (@Sendable (Wrapped.Checkpoint) -> Bool)? = nil
    ) {
        self.work = work
        self.callback = callback
        self.cancelsWork = cancelsWork
        self.endsByCallback = endsByCallback
        self.settlesSubmit = settlesSubmit
        self.writesFiles = writesFiles
        let call = StageCall(stage: stage, coding: coding)
        resume = { bytes, host in await call.resume(bytes, host) }
        cancel = { bytes, host in await call.cancel(bytes, host) }
        preview = { scope in await stage.preview(in: scope) }
        preflight = { start in await stage.preflight(at: start) }
        target = { start in stage.target(at: start) }
        self.first = first.map { first in
            { @Sendable scope in first(scope).flatMap { try? coding.encode($0) } }
        }
        self.standsAlone = standsAlone.map { standsAlone in
            { @Sendable bytes in (try? coding.decode(bytes)).map(standsAlone) ?? false }
        }
    }

    /// Returns the same stage, with something done before each call that goes on with it: for checks of who is called
    /// when.
    package func noting(_ note: @escaping @Sendable (StageFacts) -> Void) -> AnyStage {
        AnyStage(self) { bytes, host in
            note(host.facts)
            return await self.resume(bytes, host)
        }
    }

    private init(
        _ other: AnyStage,
        resume: @escaping @Sendable ([UInt8]?, any StageHost) async -> Result<StageOutcome<[UInt8]>, StageFailure>
    ) {
        self.resume = resume
        cancel = other.cancel
        preview = other.preview
        preflight = other.preflight
        target = other.target
        first = other.first
        standsAlone = other.standsAlone
        work = other.work
        callback = other.callback
        cancelsWork = other.cancelsWork
        endsByCallback = other.endsByCallback
        settlesSubmit = other.settlesSubmit
        writesFiles = other.writesFiles
    }
}

/// The coding by which checkpoints become bytes and come back.
public struct CheckpointCoding<Checkpoint: Sendable>: Sendable {
    /// Makes bytes of a checkpoint.
    public let encode: @Sendable (Checkpoint) throws -> [UInt8]
    /// Makes a checkpoint of bytes, also of those that an earlier version of the stage wrote.
    public let decode: @Sendable ([UInt8]) throws -> Checkpoint

    /// A coding of one's own: for checkpoints that JSON would make too large or too slow.
    public init(
        encode: @escaping @Sendable (Checkpoint) throws -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) throws -> Checkpoint
    ) {
        self.encode = encode
        self.decode = decode
    }
}

private struct StageCall<Wrapped: Stage>: Sendable {
    let stage: Wrapped
    let coding: CheckpointCoding<Wrapped.Checkpoint>

    func resume(_ bytes: [UInt8]?, _ host: any StageHost) async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        do throws(StageFailure) {
            let context = StageContext<Wrapped.Checkpoint>(host: host, encode: coding.encode)
            switch try await stage.resume(from: try checkpoint(bytes, host), in: context) {
            case .finished(let captures): return .success(.finished(captures))
            case .waiting(let checkpoint, let wake, let reason):
                return .success(.waiting(try context.bytes(of: checkpoint), until: wake, reason))
            case .unknown(let checkpoint, let submit):
                return .success(
                    .unknown(
                        try checkpoint.map { value throws(StageFailure) in
                            try context.bytes(of: value)
                        }, submit))
            }
        } catch {
            return .failure(error)
        }
    }

    func cancel(_ bytes: [UInt8]?, _ host: any StageHost) async -> StageFailure? {
        do throws(StageFailure) {
            let context = StageContext<Wrapped.Checkpoint>(host: host, encode: coding.encode)
            try await stage.cancel(from: try checkpoint(bytes, host), in: context)
            return nil
        } catch {
            return error
        }
    }

    private func checkpoint(_ bytes: [UInt8]?, _ host: any StageHost) throws(StageFailure) -> Wrapped.Checkpoint? {
        guard let bytes else { return nil }
        do {
            return try coding.decode(bytes)
        } catch {
            throw .definite(
                StepFailure(
                    "the checkpoint of stage '\(host.facts.step)' can't be read",
                    hint: "it may be of another version of the program; '\(host.facts.restartCommand)' starts it again",
                    place: host.facts.place))
        }
    }
}
