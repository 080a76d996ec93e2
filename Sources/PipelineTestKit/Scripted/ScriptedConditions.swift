package import PipelineCore
import Synchronization

/// A machine that is what a test says.
package final class ScriptedConditions: DeviceConditionsSource {
    private let state: Mutex<DeviceConditions>

    /// By default one with power from outside, a free network and nothing to do.
    package init(_ conditions: DeviceConditions = DeviceConditions(hasExternalPower: true, isMetered: false, load: 0)) {
        state = Mutex(conditions)
    }

    package func conditions() async -> DeviceConditions { state.withLock { $0 } }

    /// From now on it is like this.
    package func set(_ conditions: DeviceConditions) { state.withLock { $0 = conditions } }
}
