public import PipelineCore
import Synchronization

/// Secrets that a test gives and takes away.
public final class SimulatedSecrets: SecretSource {
    private let values: Mutex<[String: String]>

    public init(_ values: [String: String] = [:]) { self.values = Mutex(values) }

    public func set(_ name: String, _ value: String?) { values.withLock { $0[name] = value } }

    public func secret(_ name: String) async -> String? { values.withLock { $0[name] } }
}
