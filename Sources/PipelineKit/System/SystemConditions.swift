import CLibrary
package import PipelineCore

/// Looks at the machine by the files of Linux: power in `/sys/class/power_supply`, load in `/proc/loadavg`, the way
/// out in `/proc/net/route`. What is not there is unknown; a machine without a battery has power from outside.
///
/// `PIPELINE_QUIET_HOURS` (`22:00-07:00`, local time) and `PIPELINE_METERED` (`yes` or `no`) say what no file does.
package struct SystemConditions: DeviceConditionsSource {
    /// The place where `sys` and `proc` stand; another folder in tests.
    private let root: String
    private let environment: [String: String]

    package init(environment: [String: String], root: String = "") {
        self.environment = environment
        self.root = root
    }

    package func conditions() async -> DeviceConditions {
        let power = power
        return DeviceConditions(
            hasExternalPower: power.isExternal, battery: power.level, isMetered: isMetered, load: load,
            quietHours: environment["PIPELINE_QUIET_HOURS"].flatMap { try? QuietHours.parse($0) },
            minuteOfDay: Self.minuteOfDay)
    }

    // MARK: Power

    /// Linux, Documentation/ABI/testing/sysfs-class-power: `type`, `online`, `capacity`, `status`, `scope`.
    private var power: (isExternal: Bool?, level: Double?) {
        let folder = "\(root)/sys/class/power_supply"
        guard let names = Self.names(in: folder) else { return (nil, nil) }
        var levels: [Double] = []
        var isOnline: Bool?
        var isDischarging = false
        for name in names.sorted() {
            let supply = "\(folder)/\(name)"
            // A mouse's battery is not the machine's.
            if text("\(supply)/scope") == "Device" { continue }
            if text("\(supply)/type") == "Battery" {
                guard let capacity = text("\(supply)/capacity").flatMap(Double.init) else { continue }
                levels.append(min(max(capacity / 100, 0), 1))
                if text("\(supply)/status") == "Discharging" { isDischarging = true }
            } else if let online = text("\(supply)/online") {
                isOnline = (isOnline ?? false) || online != "0"
            }
        }
        guard !levels.isEmpty else { return (true, nil) }
        return (isOnline ?? !isDischarging, levels.reduce(0, +) / Double(levels.count))
    }

    // MARK: Network

    /// True if the way out goes over a mobile network; the files know of no other metered ones.
    private var isMetered: Bool? {
        switch environment["PIPELINE_METERED"]?.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: break
        }
        guard let routes = text("\(root)/proc/net/route", limit: 1 << 20) else { return nil }
        let ways = routes.split(separator: "\n").dropFirst().compactMap { line -> String? in
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            // Interface, destination, gateway, flags, …: the default route goes to 0.
            return fields.count > 2 && fields[1] == "00000000" ? String(fields[0]) : nil
        }
        guard !ways.isEmpty else { return nil }
        return ways.contains { name in
            let event = text("\(root)/sys/class/net/\(name)/uevent") ?? ""
            return event.contains("DEVTYPE=wwan") || name.hasPrefix("ww") || name.hasPrefix("ppp")
        }
    }

    // MARK: Load and time

    /// The mean of the last minute, for each processor.
    private var load: Double? {
        guard let first = text("\(root)/proc/loadavg")?.split(separator: " ").first, let load = Double(first) else {
            return nil
        }
        return load / Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    private static var minuteOfDay: Int {
        var now = time(nil)
        var local = tm()
        guard localtime_r(&now, &local) != nil else { return 720 }
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    // MARK: Files

    private func text(_ path: String, limit: Int = 64 << 10) -> String? {
        guard let bytes = FileContent.bytes(path, limit: limit) else { return nil }
        let isSpace: (UInt8) -> Bool = { $0 == 10 || $0 == 32 }
        var content = bytes.drop(while: isSpace)
        while let last = content.last, isSpace(last) { content.removeLast() }
        return String(decoding: content, as: UTF8.self)
    }

    private static func names(in folder: String) -> [String]? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
