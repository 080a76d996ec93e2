public import PipelineCore
import Synchronization

/// A machine that is what a test says.
public final class ScriptedSensors: MachineSensors {
    private let state: Mutex<Surroundings>

    /// By default one with power from outside, a free network and nothing to do.
    public init(_ surroundings: Surroundings = Surroundings(hasExternalPower: true, isMetered: false, load: 0)) {
        state = Mutex(surroundings)
    }

    public func surroundings() async -> Surroundings { state.withLock { $0 } }

    /// From now on it is like this.
    public func set(_ surroundings: Surroundings) { state.withLock { $0 = surroundings } }
}
