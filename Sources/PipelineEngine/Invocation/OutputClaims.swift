import PipelineCore
import Synchronization

/// The paths to which the steps of a job have written, so that none replaces what another has brought. Quick, from any
/// thread.
///
/// What was written is known again when the job is taken up: the journal has it. Of a step that failed or begins again
/// nothing is kept: another one may bring what it did not.
final class OutputClaims: Sendable {
    private struct State {
        var writers: [String: StepKey] = [:]
        /// The paths of the steps that have not ended.
        var claimed: [StepKey: Set<String>] = [:]

        mutating func add(_ path: String, _ step: StepKey) {
            writers[path] = step
            claimed[step, default: []].insert(path)
        }
    }

    private let state = Mutex(State())

    /// Takes over what succeeded steps have written.
    func begin(with snapshot: JobSnapshot) {
        let files = snapshot.files.compactMap { file in file.step.map { (path: file.path, step: $0) } }
        state.withLock { state in
            for file in files where snapshot.steps[file.step]?.state.name == .succeeded {
                state.writers[file.path] = file.step
            }
        }
    }

    /// Takes a path for a step, unless another one has written it, or something in it where it is a folder: then that
    /// one is returned.
    func claim(_ path: String, isFolder: Bool, for step: StepKey) -> StepKey? {
        state.withLock { state in
            if let writer = state.writers[path], writer != step { return writer }
            let folder = path + "/"
            if isFolder, let inside = state.writers.first(where: { $1 != step && $0.hasPrefix(folder) }) {
                return inside.value
            }
            state.add(path, step)
            return nil
        }
    }

    /// Keeps that a step has written files.
    func write(_ files: [WrittenFile], by step: StepKey) {
        state.withLock { state in
            for file in files { state.add(file.path, step) }
        }
    }

    /// The step has ended: what it claimed stays its own if it succeeded.
    func end(_ step: StepKey, succeeded: Bool) {
        state.withLock { state in
            let paths = state.claimed.removeValue(forKey: step) ?? []
            if succeeded { return }
            for path in paths where state.writers[path] == step { state.writers[path] = nil }
        }
    }
}
