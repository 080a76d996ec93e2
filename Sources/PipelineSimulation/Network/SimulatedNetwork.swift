import PipelineCore
import Synchronization

/// The network between simulated processes and services: its weather.
package final class SimulatedNetwork: Sendable {
    private struct State {
        var weather = NetworkWeather.calm
        var isDown = false
        var lastExchange: UInt64 = 0
    }

    package let simulation: Simulation
    private let state = Mutex(State())

    package init(_ simulation: Simulation) { self.simulation = simulation }

    package var weather: NetworkWeather {
        get { state.withLock { $0.weather } }
        set { state.withLock { $0.weather = newValue } }
    }

    /// True if there is no network at all: every connection is refused.
    package var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    func nextExchange() -> UInt64 {
        state.withLock { state in
            state.lastExchange += 1
            return state.lastExchange
        }
    }

    /// Chooses what befalls an exchange; `mayRepeat` says that a request which arrives twice does no harm.
    func chooseFault(mayRepeat: Bool) -> NetworkFault? {
        let (weather, isDown) = state.withLock { ($0.weather, $0.isDown) }
        if isDown { return .refused }
        let random = simulation.randomness
        guard !weather.faults.isEmpty, random.chance(weather.faultChance) else { return nil }
        let fault = random.element(of: weather.faults)
        return fault == .duplicated && !mayRepeat ? nil : fault
    }

    /// The time that a request or answer is under way.
    func latency(_ fault: NetworkFault?) -> Duration {
        let slowest = weather.slowest
        return simulation.randomness.milliseconds(fault == .slow ? 500...max(501, slowest) : 1...40)
    }
}
