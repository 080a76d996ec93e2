import Synchronization

/// The holder of what answers, once the port is known that it needs.
final class DashboardBox: Sendable {
    private let value = Mutex<Dashboard?>(nil)

    var dashboard: Dashboard? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
