import PipelineCore
import Synchronization

/// A service as its gate knows it.
struct NamedService: Sendable, Hashable {
    let id: ServiceID
    let name: String
}

/// The services to which redirects led, and which were closed then: before a request is sent that was led there, it is let in
/// there too.
///
/// One process's memory: where nothing is known, the request is sent, and finds out.
final class RedirectedServices: Sendable {
    private static let maximumEntries = 1024
    private let services = Mutex<[String: NamedService]>([:])

    /// The closed service that a request led to; nil for none.
    func service(behind request: String) -> NamedService? { services.withLock { $0[request] } }

    /// Remembers that a request led to a closed service; nil forgets it.
    func remember(_ service: NamedService?, behind request: String) {
        services.withLock { services in
            if service != nil, services.count >= Self.maximumEntries { services = [:] }
            services[request] = service
        }
    }
}
