/// What the machine is like at a moment, as far as it is known.
public struct DeviceConditions: Sendable, Hashable {
    /// Whether power comes from outside; nil when nobody knows.
    public var hasExternalPower: Bool?
    /// How full the battery is, from 0 to 1; nil without one.
    public var battery: Double?
    /// Whether the network costs by the byte; nil when nobody knows.
    public var isMetered: Bool?
    /// Processes that want to run, per processor; nil when nobody knows.
    public var load: Double?
    /// Hours in which a person wants quiet; nil when none are set.
    public var quietHours: QuietHours?
    /// Minutes since midnight where the person lives.
    public var minuteOfDay: Int

    public init(
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
public protocol DeviceConditionsSource: Sendable {
    /// What it is like now; never fails, what can't be read is unknown.
    func surroundings() async -> DeviceConditions
}
