import PipelineCore
import Synchronization

/// Secrets that a test gives and takes away.
package final class SimulatedSecrets: SecretSource {
    private let values: Mutex<[String: String]>

    package init(_ values: [String: String] = [:]) { self.values = Mutex(values) }

    package func set(_ name: String, _ value: String?) { values.withLock { $0[name] = value } }

    package func secret(_ name: String) async -> String? { values.withLock { $0[name] } }
}
