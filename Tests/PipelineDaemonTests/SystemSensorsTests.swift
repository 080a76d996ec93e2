import Foundation
import PipelineCore
import PipelineKit
import Testing

/// The machine as it is read from files that a test wrote where `/sys` and `/proc` would be.
@Suite struct SystemSensorsTests {
    /// A root folder with files of these contents, by path.
    private func conditions(
        _ files: [String: String], environment: [String: String] = [:]
    ) async throws -> DeviceConditions {
        let root = FileManager.default.temporaryDirectory.appending(path: "sensors-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, text) in files {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        return await SystemConditions(environment: environment, root: root.path).conditions()
    }

    private static func supply(_ name: String, _ values: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: values.map { ("sys/class/power_supply/\(name)/\($0)", $1 + "\n") })
    }

    private static func laptop(online: String, capacity: String, status: String) -> [String: String] {
        supply("AC", ["type": "Mains", "online": online])
            .merging(supply("BAT0", ["type": "Battery", "capacity": capacity, "status": status])) { $1 }
    }

    @Test("a laptop at the mains, and one on its battery")
    func laptop() async throws {
        let atMains = try await conditions(Self.laptop(online: "1", capacity: "80", status: "Charging"))
        #expect(atMains.hasExternalPower == true && atMains.battery == 0.8)
        let away = try await conditions(Self.laptop(online: "0", capacity: "15", status: "Discharging"))
        #expect(away.hasExternalPower == false && away.battery == 0.15)
    }

    @Test("a machine without a battery has power from outside, whatever hangs on it")
    func desktop() async throws {
        let mouse = Self.supply("hid-mouse", ["type": "Battery", "scope": "Device", "capacity": "3"])
        let machine = try await conditions(mouse)
        #expect(machine.hasExternalPower == true && machine.battery == nil)
    }

    @Test("two batteries count by their mean; without a mains file the status says whether they are used")
    func batteries() async throws {
        let first = Self.supply("BAT0", ["type": "Battery", "capacity": "20", "status": "Discharging"])
        let second = Self.supply("BAT1", ["type": "Battery", "capacity": "60", "status": "Unknown"])
        let machine = try await conditions(first.merging(second) { $1 })
        #expect(machine.hasExternalPower == false && machine.battery == 0.4)
    }

    @Test("where nothing can be read nothing is known")
    func unknown() async throws {
        let machine = try await conditions(["empty": ""])
        #expect(machine.hasExternalPower == nil && machine.battery == nil)
        #expect(machine.isMetered == nil && machine.load == nil && machine.quietHours == nil)
    }

    private static func routes(_ interface: String) -> String {
        """
        Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
        docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
        \(interface)\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0

        """
    }

    @Test("a way out over a mobile network is metered, one over a cable is not, and a person's word counts more")
    func metered() async throws {
        let mobile = ["proc/net/route": Self.routes("wwan0"), "sys/class/net/wwan0/uevent": "DEVTYPE=wwan\n"]
        #expect(try await conditions(mobile).isMetered == true)
        #expect(try await conditions(["proc/net/route": Self.routes("eth0")]).isMetered == false)
        #expect(try await conditions(mobile, environment: ["PIPELINE_METERED": "no"]).isMetered == false)
        #expect(
            try await conditions(
                ["proc/net/route": Self.routes("eth0")], environment: ["PIPELINE_METERED": "yes"]
            ).isMetered == true)
    }

    @Test("the load is the last minute's for each processor")
    func load() async throws {
        let machine = try await conditions(["proc/loadavg": "3.00 1.00 0.50 2/300 4711\n"])
        let processors = Double(ProcessInfo.processInfo.activeProcessorCount)
        #expect(machine.load == 3 / processors)
    }

    @Test(
        "quiet hours come from the environment, and hold over midnight",
        arguments: [
            ("22:00-07:00", 23 * 60, 480), ("22:00-07:00", 60, 360), ("22:00-07:00", 12 * 60, nil),
            ("13:00-14:30", 13 * 60, 90),
        ] as [(String, Int, Int?)])
    func quietHours(text: String, minute: Int, left: Int?) async throws {
        let machine = try await conditions([:], environment: ["PIPELINE_QUIET_HOURS": text])
        #expect(machine.quietHours?.minutesLeft(at: minute) == left)
        #expect((0..<1440).contains(machine.minuteOfDay))
    }

    @Test("quiet hours that can't be read are as good as none")
    func brokenHours() async throws {
        #expect(try await conditions([:], environment: ["PIPELINE_QUIET_HOURS": "at night"]).quietHours == nil)
    }
}
