/// The state of the machine at a moment, as far as it is known.
package struct DeviceConditions: Sendable, Hashable {
    /// True if power comes from outside; nil when nobody knows.
    package var hasExternalPower: Bool?
    /// The charge of the battery, from 0 to 1; nil without one.
    package var battery: Double?
    /// True if the network costs by the byte; nil when nobody knows.
    package var isMetered: Bool?
    /// Processes that want to run, per processor; nil when nobody knows.
    package var load: Double?
    /// Hours in which a person wants quiet; nil when none are set.
    package var quietHours: QuietHours?
    /// Minutes since midnight where the person lives.
    package var minuteOfDay: Int

    package init(
        hasExternalPower: Bool? = nil, battery: Double? = nil, isMetered: Bool? = nil, load: Double? = nil,
        quietHours: QuietHours? = nil, minuteOfDay: Int = 720
    ) {
        self.hasExternalPower = hasExternalPower
        self.battery = battery
        self.isMetered = isMetered
        self.load = load
        self.quietHours = quietHours
        self.minuteOfDay = minuteOfDay
    }
}

/// Looks at the machine: real in programs, scripted in tests.
package protocol DeviceConditionsSource: Sendable {
    /// Returns what it is like now; never fails, what can't be read is unknown.
    func conditions() async -> DeviceConditions
}
